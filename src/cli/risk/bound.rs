//! `assay risk bound`: what no adversary can exceed.

use anyhow::Result;
use dp_assay::{
    account::{Account, Composition, Delta},
    numeric::{Enclosure, rational},
    risk::bound::{self, Bound, Exceeded},
};
use rayon::prelude::*;
use rug::Rational;
use serde_json::{Value, json};

use super::super::{
    Exit,
    output::{self, exact, exact_text},
    quantity,
    subject::{Format, Subject},
};
use super::prior;

/// What no adversary can exceed, whatever they know besides, beside what the zCDP epsilon suggests
///
/// The adversary decides whether one person's record is in the data (or which of two records it is), believing the first
/// with probability P beforehand.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    subject: Subject,
    /// The prior probability, 0 < P < 1
    #[arg(long, value_name = "P", allow_hyphen_values = true)]
    prior: String,
    /// The probability of outputs for which the posterior is not bounded
    #[arg(long, value_name = "DELTA", default_value = "1e-10", allow_hyphen_values = true)]
    delta: String,
    #[command(flatten)]
    format: Format,
}

/// A part of the subject with its bounds.
struct Line {
    name: String,
    bound: Bound,
    exceeded: Exceeded,
    prior: Rational,
}

impl Line {
    fn of(
        name: &str,
        account: &impl Account,
        losses: Option<&Composition>,
        prior: &Rational,
        delta: &Delta,
        digits: u32,
    ) -> Result<Line> {
        let bound = bound::bound(account, prior, delta, digits)?;
        let exceeded = bound::exceeded_epsilon(account, losses, delta, &bound.epsilon)?;
        Ok(Line { name: name.to_string(), bound, exceeded, prior: prior.clone() })
    }

    /// The posterior that is exceeded with probability at most delta.
    fn exceeded(&self) -> Enclosure {
        let end = self.exceeded.epsilon.clone();
        bound::posterior_at(&self.prior, &Enclosure::new(end.clone(), end))
    }

    fn json(&self) -> Value {
        let Bound { correct, correct_by_epsilon, correct_by_zcdp, advantage, advantage_by_zcdp, .. } = &self.bound;
        json!({
            "correct_decision_upper": correct.value.to_json(),
            "posterior_upper": self.bound.posterior.to_json(),
            "advantage": advantage.to_json(),
            "posterior_exceeded": self.exceeded().to_json(),
            "posterior_exceeded_by": if self.exceeded.by_tail { "tail of the privacy loss" } else { "privacy profile or zCDP" },
            "epsilon": self.bound.epsilon.to_json(),
            "correct_decision_by_epsilon": correct_by_epsilon.to_json(),
            "zcdp": {
                "epsilon": self.bound.zcdp_epsilon.to_json(),
                "correct_decision_upper": correct_by_zcdp.to_json(),
                "posterior_upper": self.bound.posterior_by_zcdp.to_json(),
                "advantage": advantage_by_zcdp.to_json(),
            },
            "status": correct.status(),
        })
    }
}

pub fn run(args: &Args) -> Result<Exit> {
    let prior = prior(&args.prior)?;
    let delta: Delta = quantity("--delta", &args.delta)?;
    let subject = args.subject.resolve()?;
    let digits = args.format.digits;
    let total_name = if subject.levels.is_empty() { "composition" } else { "all composed" };
    let level = |(name, part): &(String, Composition)| Line::of(name, part, Some(part), &prior, &delta, digits);
    let whole = || {
        let losses = subject.worst().is_none().then_some(&subject.total);
        Line::of(total_name, &subject.whole, losses, &prior, &delta, digits)
    };
    let (levels, total) = rayon::join(|| subject.levels.par_iter().map(level).collect::<Result<Vec<Line>>>(), whole);
    let (levels, total) = (levels?, total?);
    let pair = subject.deciding_pair(&total.bound.correct);
    let mut page = args.format.page();
    let mut object = total.json();
    object["prior"] = exact(&prior);
    object["delta"] = exact(&delta);
    object["neighbors"] = json!(subject.neighbors.name());
    if let Some(pair) = &pair {
        object["worst_pair"] = json!(pair);
    }
    output::add_levels(&mut object, levels.iter().map(|line| (line.name.as_str(), line.json())));
    page.object(object);
    page.records(levels.iter().chain([&total]).map(|line| output::named(&line.name, line.json())));
    page.text(format!(
        "{}\n{} neighbors, prior = {}, delta = {}\n\n",
        subject.title,
        subject.neighbors.name(),
        rational::display(&prior),
        exact_text(&delta)
    ));
    let rows: Vec<Vec<String>> = levels.iter().chain([&total]).map(table_row).collect();
    page.table(&["", "correct", "zCDP", "advantage", "zCDP", "posterior", "zCDP", "exceeded"], rows);
    if let Some(pair) = &pair {
        page.text(format!("\nThe whole is that of the worst pair of block paths: {pair}.\n"));
    }
    page.text(
        "\ncorrect: the largest probability with which any adversary decides rightly, exactly.\n\
         advantage: the total variation distance of the outputs with and without.\n\
         posterior: the largest posterior probability but for outputs of mass delta, from epsilon at delta.\n\
         exceeded: the posterior that is exceeded with probability at most delta, rounded up.\n\
         zCDP: the same from zCDP (Bun-Steinke), rho + 2 sqrt(rho ln(1/delta)), in place of the exact epsilon.\n",
    );
    page.say_wider(levels.iter().chain([&total]).map(|line| (line.name.as_str(), &line.bound.correct)));
    page.print()?;
    Ok(Exit::Done)
}

fn table_row(line: &Line) -> Vec<String> {
    let bound = &line.bound;
    vec![
        line.name.clone(),
        bound.correct.value.shown(6),
        bound.correct_by_zcdp.shown(6),
        bound.advantage.shown(6),
        bound.advantage_by_zcdp.shown(6),
        near_one(&bound.posterior),
        near_one(&bound.posterior_by_zcdp),
        near_one(&line.exceeded()),
    ]
}

/// A probability near one with two digits of what is missing.
fn near_one(value: &Enclosure) -> String {
    let missing = Enclosure::double(1.0, value.lower().prec()).sub(value);
    if *missing.upper() >= 1e-4 {
        return value.shown(6);
    }
    let missing = missing.shown(2);
    // The same digits with an exponent, which takes less room.
    format!("1 - {}", missing.parse::<f64>().map_or(missing, |digits| format!("{digits:e}")))
}
