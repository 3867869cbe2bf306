//! `assay epsilon`: the exact epsilon at a delta, for every level and for all together.

use anyhow::{Context, Result};
use dp_assay::account::{
    Composition, Epsilon,
    conversions::{self, GaussianProfile},
    profile::check_delta,
};
use dp_assay::numeric::Enclosure;
use rayon::prelude::*;
use rug::Rational;
use serde_json::{Value, json};

use super::{
    Answer, number,
    output::{self, exact, exact_text},
    subject::{Format, Subject},
};

/// The exact epsilon at a delta, beside what zCDP implies
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    subject: Subject,
    /// The delta at which epsilon is asked for, 0 < delta < 1
    #[arg(long, value_name = "DELTA", allow_hyphen_values = true)]
    delta: String,
    #[command(flatten)]
    format: Format,
}

/// One line of the answer.
struct Line {
    name: String,
    rho: Rational,
    epsilon: Enclosure,
    zcdp: Enclosure,
    gdp: Enclosure,
    met: bool,
    method: String,
}

impl Line {
    fn of(name: &str, composition: &Composition, delta: &Rational, digits: u32) -> Result<Line> {
        Line::with(name, composition, composition.epsilon(delta, digits)?, delta, digits)
    }

    fn with(name: &str, composition: &Composition, epsilon: Epsilon, delta: &Rational, digits: u32) -> Result<Line> {
        let method =
            epsilon.certificate.map_or_else(|| "delta(0) is below delta already".to_string(), |how| how.method());
        Ok(Line {
            name: name.to_string(),
            rho: composition.rho().clone(),
            zcdp: conversions::zcdp_epsilon(composition.rho(), delta, digits),
            gdp: GaussianProfile::new(composition.rho().clone()).epsilon(delta, digits)?,
            epsilon: epsilon.value,
            met: epsilon.met,
            method,
        })
    }

    fn json(&self) -> Value {
        json!({
            "epsilon": self.epsilon.to_json(),
            "rho": exact(&self.rho),
            "rho_exact": self.rho.to_string(),
            "zcdp_epsilon": self.zcdp.to_json(),
            "gdp_epsilon": self.gdp.to_json(),
            "method": self.method,
            "status": output::status(self.met),
        })
    }

    fn row(&self, digits: usize) -> Vec<String> {
        let rho = Enclosure::rational(&self.rho, 64);
        vec![
            self.name.clone(),
            rho.shown(6),
            self.epsilon.shown(digits),
            self.zcdp.shown(6),
            output::percent_below(&self.epsilon, &self.zcdp),
        ]
    }
}

pub fn run(args: &Args) -> Result<Answer> {
    let delta = number("--delta", &args.delta)?;
    check_delta(&delta).context("--delta")?;
    let subject = args.subject.resolve()?;
    let total_name = if subject.levels.is_empty() { "composition" } else { "all composed" };
    let digits = args.format.digits;
    let level = |(name, part): &(String, Composition)| Line::of(name, part, &delta, digits);
    let whole = || -> Result<(Line, Option<String>)> {
        let worst = subject.epsilon(&delta, digits)?;
        Ok((Line::with(total_name, &subject.total, worst.value, &delta, digits)?, worst.pair))
    };
    let (levels, whole) = rayon::join(|| subject.levels.par_iter().map(level).collect::<Result<Vec<Line>>>(), whole);
    let (levels, (total, pair)) = (levels?, whole?);
    if args.format.json {
        let mut object = total.json();
        object["delta"] = exact(&delta);
        object["neighbors"] = json!(subject.neighbors.name());
        if let Some(pair) = pair {
            object["worst_pair"] = json!(pair);
        }
        output::add_levels(&mut object, levels.iter().map(|line| (line.name.as_str(), line.json())));
        output::json(&object)?;
        return Ok(Answer::Done);
    }
    output::text(&format!(
        "{}\n{} neighbors, delta = {}\n\n",
        subject.title,
        subject.neighbors.name(),
        exact_text(&delta)
    ))?;
    let shown = digits.min(40) as usize;
    let lines: Vec<&Line> = levels.iter().chain([&total]).collect();
    let rows: Vec<Vec<String>> = lines.iter().map(|line| line.row(shown)).collect();
    output::table(&["", "rho", "epsilon", "by zCDP", "lower by"], &rows)?;
    if let Some(pair) = pair {
        output::text(&format!("\nThe whole is that of {pair}.\n"))?;
    }
    output::text(
        "\nepsilon is certified: the truth differs from what is shown by at most one unit in the last digit.\n\
         by zCDP: zCDP (Bun-Steinke), rho + 2 sqrt(rho ln(1/delta)), as the Census Bureau published.\n",
    )?;
    if lines.iter().any(|line| !line.met) {
        output::text("Some enclosures are wider than asked; --json gives both ends.\n")?;
    }
    Ok(Answer::Done)
}
