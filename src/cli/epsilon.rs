//! `assay epsilon`: the exact epsilon at a delta, for every level and for all together.

use anyhow::Result;
use dp_assay::{
    account::{
        Account, Answer, Composition, Delta,
        conversions::{self, GaussianProfile},
    },
    numeric::Enclosure,
};
use rayon::prelude::*;
use rug::Rational;
use serde_json::{Value, json};

use super::{
    Exit,
    output::{self, exact, exact_text},
    quantity,
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
    epsilon: Answer,
    zcdp: Enclosure,
    gdp: Enclosure,
}

impl Line {
    fn of(name: &str, composition: &Composition, epsilon: Answer, delta: &Delta, digits: u32) -> Result<Line> {
        Ok(Line {
            name: name.to_string(),
            rho: composition.rho().clone().into(),
            zcdp: conversions::zcdp_epsilon(composition.rho(), delta, digits),
            gdp: GaussianProfile::new(composition.rho().clone()).epsilon(delta, digits)?,
            epsilon,
        })
    }

    fn json(&self) -> Value {
        json!({
            "epsilon": self.epsilon.value.to_json(),
            "rho": exact(&self.rho),
            "rho_exact": self.rho.to_string(),
            "zcdp_epsilon": self.zcdp.to_json(),
            "gdp_epsilon": self.gdp.to_json(),
            "method": self.epsilon.method.to_string(),
            "status": self.epsilon.status(),
        })
    }

    fn row(&self, digits: usize) -> Vec<String> {
        let rho = Enclosure::rational(&self.rho, 64);
        vec![
            self.name.clone(),
            rho.shown(6),
            self.epsilon.value.shown(digits),
            self.zcdp.shown(6),
            output::percent_below(&self.epsilon.value, &self.zcdp),
        ]
    }
}

pub fn run(args: &Args) -> Result<Exit> {
    let delta: Delta = quantity("--delta", &args.delta)?;
    let subject = args.subject.resolve()?;
    let total_name = if subject.levels.is_empty() { "composition" } else { "all composed" };
    let digits = args.format.digits;
    let level =
        |(name, part): &(String, Composition)| Line::of(name, part, part.epsilon(&delta, digits)?, &delta, digits);
    let whole = || -> Result<(Line, Option<String>)> {
        let epsilon = subject.whole.epsilon(&delta, digits)?;
        let pair = subject.deciding_pair(&epsilon);
        Ok((Line::of(total_name, &subject.total, epsilon, &delta, digits)?, pair))
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
        return Ok(Exit::Done);
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
    output::say_wider(lines.iter().map(|line| (line.name.as_str(), &line.epsilon)))?;
    // An enclosure that is wider than asked may be shown by its middle.
    let certified = if lines.iter().all(|line| line.epsilon.met) {
        "epsilon is certified: the truth differs from what is shown by at most one unit in the last digit.\n"
    } else {
        "epsilon is certified: between both ends, which --json gives.\n"
    };
    output::text(&format!(
        "\n{certified}by zCDP: zCDP (Bun-Steinke), rho + 2 sqrt(rho ln(1/delta)), as the Census Bureau published.\n"
    ))?;
    Ok(Exit::Done)
}
