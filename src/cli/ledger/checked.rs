//! `assay ledger --check`: whether releases would keep the promise, without entering them.

use anyhow::{Context, Result};
use dp_assay::{
    account::Delta,
    document::fields::{Fields, said},
    ledger::{
        LeastNoise,
        odometer::{self, Basis, Decision},
    },
};
use serde_json::{Value, json};

use super::added::{AdditionArgs, DIGITS, spent};
use crate::cli::{
    exit::Exit,
    output::{exact, exact_text},
    progress,
    subject::Format,
};

pub fn run(ledger: &str, delta: Option<Delta>, args: &AdditionArgs, format: &Format) -> Result<Exit> {
    let additions: Vec<_> = args.candidates().iter().map(|release| args.addition(release)).collect();
    let request = args.request(delta, format.digits)?;
    progress::stage("epsilon with each candidate");
    let decisions = odometer::check(ledger, &additions, &request)?;
    let first = decisions.first().context("--check names no release")?;
    let mut page = format.page();
    let candidates: Vec<Fields> = decisions.iter().map(candidate).collect();
    page.object(object(first, &candidates));
    page.text(heading(first));
    page.rows(&candidates);
    page.text(notes(&decisions));
    page.answered(decisions.iter().all(|decision| decision.is_kept))
}

fn heading(first: &Decision) -> String {
    let Decision { ledger, population, limit, .. } = first;
    let (promise, delta) = (exact_text(&limit.epsilon), exact_text(&limit.delta));
    let whose = if limit.is_of_ledger { "the promise of the ledger" } else { "the promise" };
    format!("{ledger}, {population}: {whose} is epsilon at most {promise} at delta = {delta}. Nothing is entered.\n\n")
}

/// The number that keeps the promise.
fn shown(least: &LeastNoise) -> String {
    match &least.value {
        Some(value) => format!("{} = {}", least.number, exact_text(value)),
        None => "none found".to_string(),
    }
}

fn notes(decisions: &[Decision]) -> String {
    let Some(first) = decisions.first() else { return String::new() };
    let (limit, them) = (&first.limit, if decisions.len() == 1 { "it" } else { "them" });
    let mut text = match &first.before {
        Some(before) => format!("\nWithout {them} epsilon is at most {}.\n", limit.upper_text(before, false, DIGITS)),
        None => "\nNothing was entered before.\n".to_string(),
    };
    if decisions.len() > 1 {
        text += "Each candidate stands alone beside what was entered, and not together with the others.\n";
    }
    let mut conditions: Vec<&String> = decisions.iter().flat_map(|decision| &decision.conditions).collect();
    conditions.dedup();
    for condition in conditions {
        text += &format!("{condition}\n");
    }
    for decision in decisions {
        if let Some(least) = &decision.least_noise {
            text += &format!("{}: {}.\n", decision.name, of_least_noise(least));
        }
    }
    if decisions.iter().any(|decision| {
        decision.least_noise.as_ref().is_some_and(|least| least.value.is_some() && least.may_keep_beyond)
    }) {
        text += "Of discrete Gaussian noise, and of noise with a bound, numbers still further may keep it as well.\n";
    }
    format!("{text}{}\n", limit.basis.covers())
}

/// What is known of the number.
fn of_least_noise(least: &LeastNoise) -> String {
    let LeastNoise { number, present, value, not_enough, breaks, is_spent, decimals, .. } = least;
    let Some(value) = value else {
        return match (is_spent, breaks) {
            (true, _) => format!("what was spent before breaks the promise by this account, whatever {number} is"),
            (_, true) => format!("no {number} of up to {decimals} decimals keeps the promise by this account"),
            _ => format!("no {number} was found with which the promise is kept"),
        };
    };
    let kept = format!(
        "with {number} = {} in place of {} everything keeps the promise",
        exact_text(value),
        exact_text(present)
    );
    match not_enough {
        Some(other) if *breaks => format!("{kept}, and with {} it does not by this account", exact_text(other)),
        Some(other) => format!("{kept}; of {} it is not known", exact_text(other)),
        None => format!("{kept}; the range of numbers ends there"),
    }
}

fn candidate(decision: &Decision) -> Fields {
    let least = decision.least_noise.as_ref();
    let of_least = least.map(|least| {
        json!({
            "number": least.number,
            "present": exact(&least.present),
            "found": least.value.as_ref().map(exact),
            "not_enough": least.not_enough.as_ref().map(exact),
            // An account that is only an upper bound proves no absence.
            "proven": least.breaks && least.may_be_more_private.is_none(),
            "may_be_more_private": least.may_be_more_private,
        })
    });
    let at_most = decision.limit.upper_text(&decision.after, decision.is_kept, DIGITS);
    let kept = if decision.is_kept { "kept" } else { "not kept" };
    spent(&decision.limit, &decision.after)
        .shown("name", "candidate", &decision.name)
        .cell("epsilon of everything, at most", at_most)
        .shown("fits", "promise", said(decision.is_kept, kept))
        .with("conditions", &decision.conditions)
        .shown("least_noise", "least noise", said(of_least, least.map_or_else(|| "-".to_string(), shown)))
}

fn object(first: &Decision, candidates: &[Fields]) -> Value {
    let limit = &first.limit;
    json!({
        "ledger": first.ledger,
        "population": first.population,
        "promise": exact(&limit.epsilon),
        "delta": exact(&limit.delta),
        "adaptive": limit.basis == Basis::SumOfRho,
        "before": first.before.as_ref().map(|before| spent(limit, before)),
        "candidates": candidates,
    })
}
