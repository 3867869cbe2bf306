//! `assay ledger --show`: what a ledger holds, without an account of it.

use anyhow::Result;
use dp_assay::{
    document::fields::Fields,
    ledger::{LedgerEntry, LedgerFile, Partition, Population},
};
use serde_json::{Value, json};

use super::withdrawn;
use crate::cli::{exit::Exit, output::exact, page::Page};

/// How often an entry was published, and its part, where that is not once and about all records.
pub fn place(entry: &LedgerEntry) -> Fields {
    Fields::new()
        .with_some("times", (entry.times != 1).then_some(entry.times))
        .with_some("partition", entry.part.as_ref().map(|part| &part.partition))
        .with_some("part", entry.part.as_ref().map(|part| &part.part))
        .with_some("condition", entry.condition.as_ref())
}

pub fn run(ledger: &LedgerFile, mut page: Page) -> Result<Exit> {
    let records = |population: &Population| {
        let named = |one: &LedgerEntry| Fields::from(entry(one)).with("population", &population.name).object();
        population.entries.iter().map(named).collect::<Vec<Value>>()
    };
    page.object(object(ledger));
    page.records(ledger.populations.iter().flat_map(records));
    page.text(format!("{}: {}\n\n{}\n\n", ledger.name, ledger.title, ledger.rule.trim()));
    put_promise(&mut page, ledger);
    for population in &ledger.populations {
        page.text(format!("{}, {} neighbors\n", population.name, population.neighbors.name()));
        if population.entries.is_empty() {
            page.text("  Nothing was entered.\n");
        } else {
            page.table(&["  entry", "times", "part", "described by", "known"], population.entries.iter().map(row));
        }
        for condition in population.conditions_of_entries() {
            page.text(format!("  {condition}\n"));
        }
        put_withdrawn(&mut page, population);
        page.text("\n");
    }
    for Partition { name, rule, parts } in &ledger.partitions {
        let parts = parts.as_ref().map_or(String::new(), |parts| format!(" Its parts are {}.", parts.join(", ")));
        page.text(format!("Partition {name}: {}{parts}\n", rule.trim()));
    }
    put_log(&mut page, ledger);
    page.done()
}

/// The additions of a ledger, from its log.
fn put_log(page: &mut Page, ledger: &LedgerFile) {
    if let Some((_, head)) = ledger.log.last() {
        let lines = ledger.log.iter().map(|(line, _)| {
            vec![
                line.number.to_string(),
                line.date.clone(),
                line.population.clone(),
                if line.withdraws.is_some() { format!("{}, withdrawn", line.name) } else { line.name.clone() },
                line.epsilon.clone(),
                line.promise.clone(),
                line.delta.clone(),
            ]
        });
        page.text("Added, with the epsilon of everything then, at most:\n");
        page.table(&["line", "date", "population", "entry", "epsilon", "promise", "delta"], lines);
        for (line, _) in &ledger.log {
            if let Some(because) = &line.because {
                page.text(format!("The reason of line {}: {because}\n", line.number));
            }
        }
        page.text(format!("The last line of the log has the SHA-256 {head}\n"));
    }
    if ledger.pending > 0 {
        page.text(format!(
            "The last {} of these are in the log only: an addition was interrupted. They count, and the next addition completes the ledger.\n",
            ledger.pending
        ));
    }
}

/// The promise of a ledger, and what it covers.
pub fn put_promise(page: &mut Page, ledger: &LedgerFile) {
    if let Some(promise) = &ledger.promise {
        page.text(format!(
            "Promise: a release is added only if everything in its population then has epsilon at most {} at delta = {}; adaptive = {}. {}\n\n",
            promise.epsilon,
            promise.delta,
            promise.is_adaptive,
            promise.basis().covers()
        ));
    }
}

/// The promise of a ledger in JSON.
pub fn promise(ledger: &LedgerFile) -> Value {
    ledger.promise.as_ref().map_or(Value::Null, |promise| {
        json!({ "epsilon": exact(&promise.epsilon), "delta": exact(&promise.delta), "adaptive": promise.is_adaptive })
    })
}

/// The entries that were never published.
pub fn put_withdrawn(page: &mut Page, population: &Population) {
    let drawn = population.entries.iter().map(|entry| (entry, false));
    for (entry, never_drawn) in drawn.chain(population.never_drawn.iter().map(|entry| (entry, true))) {
        if let Some(because) = &entry.withdrawn {
            let spending = withdrawn::spending(never_drawn);
            page.text(format!("  {} was never published: {because}. {spending}\n", entry.name));
        }
    }
}

fn row(entry: &LedgerEntry) -> Vec<String> {
    let part = entry.part.as_ref().map_or("all records".to_string(), |of| format!("{} {}", of.partition, of.part));
    vec![
        format!("  {}", entry.name),
        entry.times.to_string(),
        part,
        format!("{} {}", entry.kind.key(), entry.place),
        if entry.is_budget_only() { "budget" } else { "counts" }.to_string(),
    ]
}

fn entry(entry: &LedgerEntry) -> Value {
    json!({
        "name": entry.name,
        "kind": entry.kind.key(),
        "described_by": entry.place,
        "sha256": entry.sha256,
        "neighbors": entry.neighbors().name(),
        "times": entry.times,
        "partition": entry.part.as_ref().map(|part| &part.partition),
        "part": entry.part.as_ref().map(|part| &part.part),
        "budget_only": entry.is_budget_only(),
        "condition": entry.condition,
        "log": entry.log,
        "withdrawn": entry.withdrawn,
    })
}

fn object(ledger: &LedgerFile) -> Value {
    let populations = ledger.populations.iter().map(|population| {
        let entries: Vec<Value> = population.entries.iter().map(entry).collect();
        let never_drawn: Vec<Value> = population.never_drawn.iter().map(entry).collect();
        json!({ "name": population.name, "neighbors": population.neighbors.name(), "entries": entries, "never_drawn": never_drawn })
    });
    let partitions = ledger.partitions.iter();
    let partitions = partitions.map(|one| json!({ "name": one.name, "rule": one.rule, "parts": one.parts }));
    let lines = ledger.log.iter().map(|(line, hash)| {
        json!({
            "number": line.number,
            "date": line.date,
            "population": line.population,
            "name": line.name,
            "epsilon": line.epsilon,
            "promise": line.promise,
            "delta": line.delta,
            "adaptive": line.adaptive,
            "withdraws": line.withdraws,
            "because": line.because,
            "sha256": hash,
        })
    });
    json!({
        "ledger": ledger.name,
        "title": ledger.title,
        "rule": ledger.rule,
        "promise": promise(ledger),
        "populations": populations.collect::<Vec<_>>(),
        "partitions": partitions.collect::<Vec<_>>(),
        "log": lines.collect::<Vec<_>>(),
        "pending": ledger.pending,
    })
}
