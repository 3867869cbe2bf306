//! `assay risk bound`: what no adversary can exceed.

use std::sync::OnceLock;

use anyhow::{Context, Result};
use dp_assay::{
    account::{Composition, profile::check_delta},
    numeric::{Enclosure, rational},
    risk::bound::{self, Bound, Exceeded, Profile},
};
use rayon::prelude::*;
use rug::Rational;
use serde_json::{Value, json};

use super::super::{
    Answer, number,
    output::{self, exact, exact_text},
    subject::{Format, Resolved, Subject, in_words},
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

/// The whole of a subject, with its worst pair of block paths: the one of the first point of the profile that is asked
/// for, which decides the probability of a correct decision.
struct Whole<'a> {
    subject: &'a Resolved,
    pair: OnceLock<String>,
}

impl Profile for Whole<'_> {
    fn delta(&self, epsilon: &Rational, digits: u32) -> dp_assay::Result<Enclosure> {
        match &self.subject.worst {
            Some((worst, release)) => {
                let answer = worst.delta(epsilon, digits)?;
                self.pair.get_or_init(|| in_words(release, answer.pair, worst));
                Ok(answer.value)
            }
            None => Profile::delta(&self.subject.total, epsilon, digits),
        }
    }

    fn epsilon(&self, delta: &Rational, digits: u32) -> dp_assay::Result<Enclosure> {
        match &self.subject.worst {
            Some((worst, _)) => Ok(worst.epsilon(delta, digits)?.0.value),
            None => Profile::epsilon(&self.subject.total, delta, digits),
        }
    }

    fn rho(&self) -> Rational {
        self.subject.worst.as_ref().map_or_else(|| self.subject.total.rho().clone(), |(worst, _)| worst.rho().clone())
    }
}

/// A part of the subject with its bounds.
struct Line {
    name: String,
    bound: Bound,
    exceeded: Exceeded,
    prior: Rational,
    met: bool,
}

impl Line {
    fn of(
        name: &str,
        profile: &impl Profile,
        losses: Option<&Composition>,
        prior: &Rational,
        delta: &Rational,
        digits: u32,
    ) -> Result<Line> {
        let bound = bound::bound(profile, prior, delta, digits)?;
        let exceeded = bound::exceeded_epsilon(profile, losses, delta, &bound.epsilon)?;
        let met = bound.correct.is_tight(digits);
        Ok(Line { name: name.to_string(), bound, exceeded, prior: prior.clone(), met })
    }

    /// The posterior that is exceeded with probability at most delta.
    fn exceeded(&self) -> Enclosure {
        let end = self.exceeded.epsilon.clone();
        bound::posterior_at(&self.prior, &Enclosure::new(end.clone(), end))
    }

    fn json(&self) -> Value {
        let Bound { correct, correct_by_epsilon, correct_by_zcdp, advantage, advantage_by_zcdp, .. } = &self.bound;
        json!({
            "correct_decision_upper": correct.to_json(),
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
            "status": output::status(self.met),
        })
    }
}

pub fn run(args: &Args) -> Result<Answer> {
    let prior = prior(&args.prior)?;
    let delta = number("--delta", &args.delta)?;
    check_delta(&delta).context("--delta")?;
    let subject = args.subject.resolve()?;
    let digits = args.format.digits;
    let total_name = if subject.levels.is_empty() { "composition" } else { "all composed" };
    let level = |(name, part): &(String, Composition)| Line::of(name, part, Some(part), &prior, &delta, digits);
    let profile = Whole { subject: &subject, pair: OnceLock::new() };
    let whole = || {
        let losses = subject.worst.is_none().then_some(&subject.total);
        Line::of(total_name, &profile, losses, &prior, &delta, digits)
    };
    let (levels, total) = rayon::join(|| subject.levels.par_iter().map(level).collect::<Result<Vec<Line>>>(), whole);
    let (levels, total) = (levels?, total?);
    if args.format.json {
        let mut object = total.json();
        object["prior"] = exact(&prior);
        object["delta"] = exact(&delta);
        object["neighbors"] = json!(subject.neighbors.name());
        if let Some(pair) = profile.pair.get() {
            object["worst_pair"] = json!(pair);
        }
        output::add_levels(&mut object, levels.iter().map(|line| (line.name.as_str(), line.json())));
        output::json(&object)?;
        return Ok(Answer::Done);
    }
    output::text(&format!(
        "{}\n{} neighbors, prior = {}, delta = {}\n\n",
        subject.title,
        subject.neighbors.name(),
        rational::display(&prior),
        exact_text(&delta)
    ))?;
    let rows: Vec<Vec<String>> = levels.iter().chain([&total]).map(table_row).collect();
    output::table(&["", "correct", "by zCDP", "advantage", "by zCDP", "posterior", "by zCDP", "exceeded"], &rows)?;
    if let Some(pair) = profile.pair.get() {
        output::text(&format!("\nThe whole is that of the worst pair of block paths: {pair}.\n"))?;
    }
    output::text(
        "\ncorrect: the largest probability with which any adversary decides rightly, exactly.\n\
         advantage: the total variation distance of the outputs with and without.\n\
         posterior: the largest posterior probability but for outputs of mass delta, from epsilon at delta.\n\
         exceeded: the posterior that is exceeded with probability at most delta, rounded up.\n\
         by zCDP: the same from zCDP (Bun-Steinke), rho + 2 sqrt(rho ln(1/delta)), in place of the exact epsilon.\n",
    )?;
    if !total.met {
        output::text("Some enclosures are wider than asked; --json gives both ends.\n")?;
    }
    Ok(Answer::Done)
}

fn table_row(line: &Line) -> Vec<String> {
    let bound = &line.bound;
    vec![
        line.name.clone(),
        bound.correct.shown(6),
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
    if *missing.upper() < 1e-4 { format!("1 - {}", missing.shown(2)) } else { value.shown(6) }
}
