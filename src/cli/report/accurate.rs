//! The margins of error of a report: words, a table and records.

use dp_assay::{document::Table, noise::Margin, numeric::Enclosure, release::subject::QueryPart};
use serde_json::{Value, json};

/// Digits of a margin that is no integer.
const DIGITS: usize = 6;

/// The least and the largest margin, and what they are about.
pub fn said(margins: &[(QueryPart, Margin)]) -> Vec<String> {
    let mut known: Vec<(&QueryPart, &Margin, &Enclosure)> = Vec::new();
    for (query, margin) in margins {
        if let Margin::Known(value) = margin {
            known.push((query, margin, value));
        }
    }
    let by = |a: &&(&QueryPart, &Margin, &Enclosure), b: &&(&QueryPart, &Margin, &Enclosure)| {
        a.2.upper().total_cmp(b.2.upper())
    };
    let (Some(least), Some(most)) = (known.iter().min_by(by), known.iter().max_by(by)) else { return Vec::new() };
    let shown = |one: &(&QueryPart, &Margin, &Enclosure)| one.1.shown(DIGITS);
    let within = match shown(least) == shown(most) {
        true => format!("{} of the true one.", shown(most)),
        false => format!(
            "a margin of the true one. The smallest margin is {} ({}), the largest {} ({}).",
            shown(least),
            least.0.place(),
            shown(most),
            most.0.place()
        ),
    };
    // Of some noise no margin is known: the sentence is about the rest.
    let without: Vec<String> = margins
        .iter()
        .filter(|(_, margin)| matches!(margin, Margin::Unknown(_)))
        .map(|(query, _)| query.place())
        .collect();
    let except = match &without[..] {
        [] => String::new(),
        [one] => format!(" (no margin is known of {one})"),
        more => format!(" (no margin is known of {} other mechanisms, {} among them)", more.len(), more[0]),
    };
    vec![
        format!("In at least 95 of 100 draws of the noise a noisy count{except} is within {within}"),
        "These are the noisy counts themselves. A published table that is computed from several of them, rounded or adjusted has other errors."
            .to_string(),
    ]
}

/// A row for each query.
pub fn table(margins: &[(QueryPart, Margin)]) -> Table {
    let row =
        |(query, margin): &(QueryPart, Margin)| vec![query.place(), margin.shown(DIGITS), query.counts.law.to_string()];
    let caption = "The margin of error of a noisy count at 95 %: exact for integer noise, otherwise rounded up.";
    Table::numbers(caption, &["", "margin, 95 %", "noise"], margins.iter().map(row).collect())
}

/// The assumptions.
pub fn assumed(margins: &[(QueryPart, Margin)]) -> Vec<String> {
    let mut assumed = vec![
        "The margin is the least m for which the noise is between -m and m with a probability of 0.95 or more, by its declared law.".to_string(),
        "The noise alone is included: errors of the collection are not.".to_string(),
    ];
    for (query, margin) in margins {
        if let Margin::Unknown(why) = margin {
            let sentence = format!("{}: no margin is known, because {why}.", query.counts.law.in_words());
            if !assumed.contains(&sentence) {
                assumed.push(sentence);
            }
        }
    }
    assumed
}

/// A record for each query.
pub fn records(margins: &[(QueryPart, Margin)]) -> Vec<Value> {
    let record = |(query, margin): &(QueryPart, Margin)| {
        json!({
            "level": query.level,
            "query": query.name,
            "noise": query.counts.law.to_string(),
            "margin_95": match margin {
                Margin::Known(value) => value.to_json(),
                Margin::Unknown(_) => Value::Null,
            },
        })
    };
    margins.iter().map(record).collect()
}
