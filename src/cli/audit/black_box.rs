//! `assay audit --with FILE --without FILE`: what the outputs of any program prove about its epsilon.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use dp_assay::{
    account::{Account, Composition, Counts, Delta},
    audit::{
        black_box::{Bounds, Event, Found, Seen},
        runs::Runs,
    },
    numeric::{Enclosure, notation::Notation},
};
use rug::{Float, Rational, float::Round};
use serde_json::{Value, json};

use crate::cli::{
    arguments::number,
    exit::Exit,
    output::{exact, exact_text, json_number},
    page::{FormArgs, Page},
};

/// The outputs of a program with a record and without it.
#[derive(clap::Args)]
pub struct BlackBox {
    /// Outputs of any program on data with a record, one run per line: numbers or words, columns separated by commas
    #[arg(long, value_name = "FILE", requires = "without")]
    with: Option<PathBuf>,
    /// Outputs of the same program on the data without that record
    #[arg(long, value_name = "FILE", requires = "with", conflicts_with_all = ["draws", "power", "svg"])]
    without: Option<PathBuf>,
    /// A claim about the program, as 1:1e-6; exit 1 if the runs refute it (repeatable)
    #[arg(long, value_name = "EPSILON:DELTA", requires = "with", conflicts_with_all = ["draws", "power", "svg"])]
    claim: Vec<String>,
    /// A delta at which epsilon is bounded from below (repeatable) [default: those of the claims, or 0]
    #[arg(long, value_name = "DELTA", requires = "with", conflicts_with_all = ["draws", "power", "svg"])]
    delta: Vec<String>,
    /// Upper bound on the probability that some bound, or some refutation, is false [default: 0.05]
    #[arg(long, value_name = "RATE", requires = "with", conflicts_with_all = ["draws", "power", "svg"])]
    errors: Option<String>,
}

impl BlackBox {
    /// Both files, if they were given.
    pub fn files(&self) -> Option<(&PathBuf, &PathBuf)> {
        self.with.as_ref().zip(self.without.as_ref())
    }

    /// Answers for them; `law` is what the program declares, if that is known.
    pub fn run(&self, law: Option<&str>, form: &FormArgs) -> Result<Exit> {
        let (with, without) = self.files().context("--with FILE --without FILE: both files are needed")?;
        let claims = self.claim.iter().map(|text| claim(text)).collect::<Result<Vec<(Rational, Rational)>>>()?;
        let errors = errors(self.errors.as_deref().unwrap_or("0.05"))?;
        let mut deltas = self.delta.iter().map(|text| delta("--delta", text)).collect::<Result<Vec<Rational>>>()?;
        if deltas.is_empty() {
            deltas = claims.iter().map(|(_, delta)| delta.clone()).collect();
        }
        if deltas.is_empty() {
            deltas.push(Rational::new());
        }
        deltas.sort();
        deltas.dedup();
        let exact = law.map(declared).transpose()?;
        let runs = Runs::read(with, without)?;
        let bounds = Bounds::of_runs(&runs, &deltas, &claims, &errors)?;
        let mut page = form.page();
        put(&mut page, &runs, &bounds, &errors, exact.as_ref())?;
        page.answered(!bounds.claims.iter().any(|claim| claim.is_refuted))
    }
}

fn delta(name: &str, text: &str) -> Result<Rational> {
    let delta = number(name, text)?;
    if !(0..1).contains(&delta) {
        bail!("{name} {text}: a delta is from 0 to below 1");
    }
    Ok(delta)
}

fn errors(text: &str) -> Result<Rational> {
    let rate = number("--errors", text)?;
    if rate <= 0 || rate >= 1 {
        bail!("--errors {text} is out of range: expected a number above 0 and below 1, as 0.05");
    }
    Ok(rate)
}

/// A claim as EPSILON:DELTA, or EPSILON alone for a delta of zero.
fn claim(text: &str) -> Result<(Rational, Rational)> {
    let (epsilon, of_delta) = text.split_once(':').unwrap_or((text, "0"));
    let name = format!("--claim {text}");
    let epsilon = number(&name, epsilon)?;
    if !(0..=10_000).contains(&epsilon) {
        bail!("{name}: epsilon is from 0 to 10000");
    }
    Ok((epsilon, delta(&name, of_delta)?))
}

/// The account of the law that the program declares.
fn declared(text: &str) -> Result<Composition> {
    let expected = || format!("--law {text:?}: expected LAW:PARAMETERS[xCOUNT][@SHIFT], as discrete-laplace:1x2");
    let (key, parameters) = text.split_once(':').with_context(expected)?;
    let counts = Counts::read(key, parameters, false).with_context(expected)?;
    Composition::new([counts]).with_context(expected)
}

/// The exact epsilon of a declared law at a delta; `None` where there is none.
fn exact_epsilon(law: &Composition, delta: &Rational) -> Option<Enclosure> {
    const DIGITS: u32 = 12;
    if *delta == 0 {
        return law.pure_epsilon().map(|epsilon| Enclosure::rational(&epsilon, 128));
    }
    let delta: Delta = delta.clone().try_into().ok()?;
    law.epsilon(delta, DIGITS).ok().map(|answer| answer.value)
}

/// A lower bound as text, rounded down.
fn lower(value: &Float) -> String {
    if value.is_zero() {
        "0".to_string()
    } else {
        Enclosure::new(value.clone(), value.clone()).lower_in(Notation::General, 6)
    }
}

/// The nearest double on the safe side, as text of few digits.
fn probability(value: &Rational, round: Round) -> String {
    let value = Float::with_val_round(53, value, round).0;
    let both = Enclosure::new(value.clone(), value.clone());
    match round {
        _ if value.is_zero() => "0".to_string(),
        Round::Up => both.upper_in(Notation::General, 6),
        _ => both.lower_in(Notation::General, 6),
    }
}

/// The number of values of an event that are named in words.
const MOST_WORDS: usize = 5;

fn put(page: &mut Page, runs: &Runs, bounds: &Bounds, errors: &Rational, law: Option<&Composition>) -> Result<()> {
    let ([with, without], testing) = (runs.counts, runs.testing());
    page.text(format!(
        "{with} runs with the record, {without} without it; every other run chose the events, {} and {} test them\n\n",
        testing[0], testing[1]
    ));
    let share = |seen: &Seen| format!("{} of {}", seen.hits, seen.runs);
    let exact_of = |found: &Found| law.map(|law| exact_epsilon(law, &found.delta));
    let row = |found: &Found| {
        let mut row = vec![exact_text(&found.delta), lower(&found.epsilon_lower)];
        if let Some(exact) = exact_of(found) {
            row.push(exact.map_or("none".to_string(), |value| value.upper_in(Notation::General, 6)));
        }
        row.extend([found.event.in_words(MOST_WORDS), share(&found.with), share(&found.without)]);
        row
    };
    let mut heading = vec!["delta", "epsilon at least", "event", "with", "without"];
    if law.is_some() {
        heading.insert(2, "of the declared law");
    }
    page.columns(&heading, bounds.found.iter().map(row));
    page.text(in_words(bounds, errors));
    put_json(page, runs, bounds, errors, law);
    Ok(())
}

/// The errors of the tests, the condition of all bounds, and the claims.
fn in_words(bounds: &Bounds, errors: &Rational) -> String {
    let rate = exact_text(errors);
    let mut text = String::from("\n");
    let mut named: Vec<&Event> = Vec::new();
    for found in &bounds.found {
        if named.contains(&&found.event) {
            continue;
        }
        named.push(&found.event);
        text += &format!(
            "The test that reports {} has a type I error of at most {} and a type II error of at most {}.\n",
            found.event.in_words(MOST_WORDS),
            probability(&found.without_upper, Round::Up),
            probability(&Rational::from(1 - &found.with_lower), Round::Up),
        );
    }
    text += &format!(
        "All of these bounds hold but with probability {rate} at most (exact binomial bounds), if the runs are independent and both data sets differ in the record alone.\n"
    );
    for claim in &bounds.claims {
        let said = if claim.is_refuted { "is refuted" } else { "is not refuted, which proves nothing about it" };
        text += &format!("The claim ({}, {}) {said}.\n", exact_text(&claim.epsilon), exact_text(&claim.delta));
    }
    if !bounds.claims.is_empty() {
        text += &format!("A true claim is refuted with probability {rate} at most, over all claims (Holm).\n");
    }
    text
}

/// The bounds as records, and as one object.
fn put_json(page: &mut Page, runs: &Runs, bounds: &Bounds, errors: &Rational, law: Option<&Composition>) {
    let [with, without] = runs.counts;
    let of_seen = |seen: &Seen, name: &str, bound: String| json!({ "count": seen.hits, "runs": seen.runs, name: json_number(&bound) });
    let event = |found: &Found| {
        json!({
            "delta": exact(&found.delta),
            "epsilon_lower": json_number(&lower(&found.epsilon_lower)),
            "declared": law.map(|law| exact_epsilon(law, &found.delta)),
            "event": found.event.in_words(usize::MAX),
            "with": of_seen(&found.with, "probability_lower", probability(&found.with_lower, Round::Down)),
            "without": of_seen(&found.without, "probability_upper", probability(&found.without_upper, Round::Up)),
        })
    };
    let events: Vec<Value> = bounds.found.iter().map(event).collect();
    page.records(events.clone());
    let first = &bounds.found[0];
    page.object(json!({
        "epsilon_lower": json_number(&lower(&first.epsilon_lower)),
        "delta": exact(&first.delta),
        "errors": exact(errors),
        "runs": { "with": with, "without": without },
        "events": events,
        "claims": bounds.claims.iter().map(|claim| {
            json!({ "epsilon": exact(&claim.epsilon), "delta": exact(&claim.delta), "refuted": claim.is_refuted })
        }).collect::<Value>(),
        "refuted": bounds.claims.iter().any(|claim| claim.is_refuted),
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use dp_assay::numeric::rational;

    #[test]
    fn claims_and_rates_are_read_or_refused() {
        assert_eq!(claim("1/2:1e-6").unwrap(), (Rational::from((1, 2)), rational::parse("1e-6").unwrap()));
        assert_eq!(claim("3").unwrap(), (Rational::from(3), Rational::new()));
        for text in ["", "x", "1:", "1:1", "-1", "1:-0.1", "1:2:3", "1e9"] {
            assert!(claim(text).is_err(), "{text}");
        }
        assert!(errors("0").is_err() && errors("1").is_err() && errors("0.2").is_ok());
    }
}
