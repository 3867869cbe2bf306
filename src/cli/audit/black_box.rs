//! `assay audit --with FILE --without FILE`: what the outputs of any program prove about its epsilon.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use dp_assay::{
    account::{Account, Composition, Counts, Delta},
    audit::{
        black_box::{Bounds, Event, Found, Seen},
        refutation::{Plan, Power},
        runs::Runs,
    },
    chart::{self, Figure},
    numeric::{Enclosure, notation::Notation},
};
use rug::{Float, Rational, float::Round};
use serde_json::{Value, json};

use crate::cli::{
    arguments::{count, number},
    drawn,
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
    #[arg(long, value_name = "FILE", requires = "with", conflicts_with_all = ["draws", "power"])]
    without: Option<PathBuf>,
    /// A claim about the program, as 1:1e-6; exit 1 if the runs refute it (repeatable). With --power how probably --draws N runs of each refute it, if --law is what the program does
    #[arg(long, value_name = "EPSILON:DELTA")]
    claim: Vec<String>,
    /// A delta at which epsilon is bounded from below (repeatable) [default: those of the claims, or 0]
    #[arg(long, value_name = "DELTA", requires = "with", conflicts_with_all = ["draws", "power"])]
    delta: Vec<String>,
    /// Upper bound on the probability that some bound, or some refutation, is false [default: 0.05]
    #[arg(long, value_name = "RATE")]
    errors: Option<String>,
}

impl BlackBox {
    /// Both files, if they were given.
    pub fn files(&self) -> Option<(&PathBuf, &PathBuf)> {
        self.with.as_ref().zip(self.without.as_ref())
    }

    /// Whether claims were given, which only outputs can refute.
    pub fn has_claims(&self) -> bool {
        !self.claim.is_empty()
    }

    /// Whether a rate of errors was given, which only claims and bounds have.
    pub fn has_errors(&self) -> bool {
        self.errors.is_some()
    }

    fn claims(&self) -> Result<Vec<(Rational, Rational)>> {
        self.claim.iter().map(|text| claim(text)).collect()
    }

    fn rate(&self) -> Result<Rational> {
        errors(self.errors.as_deref().unwrap_or("0.05"))
    }

    /// How probably this number of runs refutes each claim, if the program does what `law` says.
    pub fn run_power(&self, runs: &str, law: &str, form: &FormArgs) -> Result<Exit> {
        let (claims, errors) = (self.claims()?, self.rate()?);
        let declared = declared(law)?;
        let runs = count(runs).map_err(anyhow::Error::msg).context("--draws beside --power")?;
        let level = Rational::from(&errors / (2 * claims.len() as u64));
        let evaluator = declared.evaluator();
        let mut tradeoff = |alpha: &Rational| Ok(declared.tradeoff_by(&evaluator, alpha, POWER_DIGITS)?.value);
        let mut planned = Vec::new();
        for (epsilon, delta) in claims {
            let exceeds = declared.delta(epsilon.clone(), POWER_DIGITS)?.value;
            let plan = Plan { epsilon, delta, level: level.clone() };
            // A true claim is refuted by mistake alone.
            let is_true = *exceeds.upper() <= plan.delta;
            let power = if is_true { None } else { Some(plan.power(runs, &mut tradeoff).context("--draws")?) };
            let enough = if is_true { None } else { plan.enough(0.9, &mut tradeoff)? };
            planned.push(Planned { plan, power, enough });
        }
        let mut page = form.page();
        put_power(&mut page, &planned, runs, law, &errors, &declared);
        page.done()
    }

    /// Answers for them; `law` is what the program declares, if that is known.
    pub fn run(&self, law: Option<&str>, svg: Option<&Path>, form: &FormArgs) -> Result<Exit> {
        let (with, without) = self.files().context("--with FILE --without FILE: both files are needed")?;
        let (claims, errors) = (self.claims()?, self.rate()?);
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
        if let Some(path) = svg {
            drawn::write(path, &figure(&bounds, exact.as_ref())?)?;
        }
        page.answered(!bounds.claims.iter().any(|claim| claim.is_refuted))
    }
}

/// The digits of the errors of a law's tests in a statement of power.
const POWER_DIGITS: u32 = 8;

/// A claim, and what runs of a law will show of it; `None` where the law keeps it.
struct Planned {
    plan: Plan,
    power: Option<Power>,
    enough: Option<u64>,
}

fn put_power(page: &mut Page, planned: &[Planned], runs: u64, law: &str, errors: &Rational, declared: &Composition) {
    let rate = exact_text(errors);
    page.text(format!("{runs} runs with the record and {runs} without it, of {law}; errors {rate}\n\n"));
    let shown = |value: &Float, round| probability(&value.to_rational().unwrap_or_default(), round);
    let lower = |power: &Power| probability(&Rational::from_f64(power.lower).unwrap_or_default(), Round::Down);
    let row = |planned: &Planned| {
        let Planned { plan, power, enough } = planned;
        let epsilon = exact_epsilon(declared, &plan.delta).map_or("none".to_string(), |own| own.shown(6));
        let mut row = vec![format!("({}, {})", exact_text(&plan.epsilon), exact_text(&plan.delta)), epsilon];
        row.extend(match power {
            None => vec!["-".to_string(), "-".to_string(), format!("at most {rate}"), "-".to_string()],
            Some(power) => vec![
                probability(&power.tested.alpha, Round::Up),
                shown(power.tested.beta.upper(), Round::Up),
                format!("at least {}", lower(power)),
                enough.map_or("more than 1e9".to_string(), |runs| runs.to_string()),
            ],
        });
        row
    };
    let heading =
        ["claim", "epsilon of the law", "type I error", "type II error", "refuted with probability", "enough for 90 %"];
    page.columns(&heading, planned.iter().map(row));
    let mut text = String::new();
    if planned.iter().any(|planned| planned.power.is_some()) {
        text += "\nThe law breaks these claims: the probabilities are proven for an event of these errors, which the runs that choose have to find.\n";
    }
    if planned.iter().any(|planned| planned.power.is_none()) {
        text += &format!("\nA claim that the law keeps is refuted with probability {rate} at most.\n");
    }
    page.text(text);
    let records: Vec<Value> = planned
        .iter()
        .map(|Planned { plan, power, enough }| {
            json!({
                "epsilon": exact(&plan.epsilon),
                "delta": exact(&plan.delta),
                "declared": exact_epsilon(declared, &plan.delta),
                "type_i_error": power.as_ref().map(|power| json_number(&probability(&power.tested.alpha, Round::Up))),
                "type_ii_error": power.as_ref().map(|power| json_number(&shown(power.tested.beta.upper(), Round::Up))),
                "power_lower": power.as_ref().map(|power| json_number(&lower(power))),
                "runs_for_90_percent": enough,
            })
        })
        .collect();
    page.records(records.clone());
    page.object(json!({ "law": law, "runs": runs, "errors": exact(errors), "claims": records }));
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

/// The bounds, the claims and the declared law as trade-off functions.
fn figure(bounds: &Bounds, law: Option<&Composition>) -> Result<Figure> {
    const POINTS: u32 = 100;
    let exact = match law {
        None => Vec::new(),
        Some(law) => {
            let evaluator = law.evaluator();
            let point = |at: u32| {
                let alpha = Rational::from((at, POINTS));
                let beta = law.tradeoff_by(&evaluator, &alpha, POWER_DIGITS)?.value.approximate();
                Ok((alpha.to_f64(), beta))
            };
            (0..=POINTS).map(point).collect::<dp_assay::Result<Vec<_>>>()?
        }
    };
    let point = |found: &Found| (found.without_upper.to_f64(), Rational::from(1 - &found.with_lower).to_f64());
    let claims = bounds.claims.iter().map(|claim| {
        let refuted = if claim.is_refuted { ", refuted" } else { "" };
        let name = format!("claim ({}, {}){refuted}", exact_text(&claim.epsilon), exact_text(&claim.delta));
        (name, claim.epsilon.to_f64(), claim.delta.to_f64())
    });
    let points: Vec<(f64, f64)> = bounds.found.iter().map(point).collect();
    Ok(chart::audit::outputs("Bounds from outputs", &claims.collect::<Vec<_>>(), &points, exact))
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
