//! How much noise could be spared? The least noise that meets a target, and where it would be less private.

use anyhow::Result;
use dp_assay::{
    document::Table,
    numeric::{Certainty, Enclosure},
};

use super::super::{
    ask::Question,
    exports::{of_subject, text},
    parts::{Parts, chart, marked, table, wider},
    store::Store,
};
use crate::cli::{
    calibrate::{self, Goal, Row},
    report::{
        answers::{Spared, common_factor},
        assumed, charts, tables, words,
    },
};

/// The least noise of each level.
pub fn calibrate(store: &Store, question: &Question) -> Result<Parts> {
    let args: calibrate::Args = question.args()?;
    let known = store.subject(question.subject(), &args.subject)?;
    let subject = &known.subject.until(&question.stop);
    // All levels are composed only when the slider rests.
    let (request, found) = args.find_with(subject, !question.is_moving)?;
    let answer = args.object(subject, &request, &found)?;
    let compared = request.of_whole(subject)?;
    let common_factor = match (&request.goal, &compared) {
        (Goal::Compared(_), Some(compared)) if !subject.levels.is_empty() && !question.is_moving => {
            request.delta.as_ref().map(|delta| common_factor(subject, delta, compared)).transpose()?
        }
        _ => None,
    };
    let together = found.together.as_ref().map(|together| together.in_words(&request.goal, 6).trim_end().to_string());
    let parts = found.rows.into_iter().map(|row| (row.name.clone(), Some(row))).collect();
    let spared = Spared { parts, common_factor, compared };
    let drawn = charts::noise(&spared).map(|figure| {
        chart(
            &figure,
            "spared",
            "The present noise of each level, and the least with the epsilon of its comparison",
            "The present noise (squares), and the least with the epsilon of its comparison (circles).",
        )
    });
    let is_bound = subject.may_be_more_private().is_some();
    let mut said = words::what_could_be_spared(&spared, is_bound);
    if question.is_moving && !subject.levels.is_empty() {
        said.push("If all levels are taken together: computed when the slider rests.".to_string());
    }
    let noise = tables::of_noise(&spared, request.digits, is_bound);
    let tables = [table(&noise)].into_iter().chain(crossings(spared.rows())).collect();
    Ok(Parts {
        records: calibrate::records(&answer),
        answer,
        said,
        charts: drawn.into_iter().collect::<Result<_>>()?,
        tables,
        notes: together
            .into_iter()
            .chain(wider(spared.rows().map(|row| (row.name.as_str(), row.reached.met))))
            .collect(),
        assumed: match &request.delta {
            Some(delta) if spared.rows().next().is_some() => assumed::of_noise(delta),
            _ => Vec::new(),
        },
        exports: of_subject(question, &args.subject.described_with(&|name| store.release(name))?, &cell(question)),
        ..Parts::default()
    })
}

/// The expression with the least sigma2 of each level in a notebook.
fn cell(question: &Question) -> String {
    let given = |(name, key): (&str, &str)| question.value(name).map(|value| format!(", {key}={}", text(value)));
    let target: String = [("epsilon", "epsilon"), ("match", "match")].into_iter().filter_map(given).collect();
    let digits = question.value("digits").map_or(String::new(), |digits| format!(", digits={digits}"));
    let delta = text(question.value("delta").unwrap_or_default());
    format!(
        "levels = release.levels or {{\"composition\": release}}\n\
         {{name: level.calibrate({delta}{target}{digits})[\"calibrated_sigma2\"] for name, level in levels.items()}}"
    )
}

/// The deltas between which the least noise is as private as zCDP states for the present noise; others in red.
fn crossings<'r>(rows: impl Iterator<Item = &'r Row>) -> Option<serde_json::Value> {
    let mut red = Vec::new();
    let mut cells = Vec::new();
    for (row, stretch) in rows.flat_map(|row| row.stretches.iter().flatten().map(move |stretch| (row, stretch))) {
        let ends = [stretch.deltas.0.shown(6), stretch.deltas.1.shown(6)];
        let answer = match stretch.within {
            Certainty::Yes => "at least as private",
            Certainty::No => "less private",
            // The curves cross where a row ends and the next begins: a row for that place alone adds nothing.
            Certainty::Undecided if ends[0] == ends[1] => continue,
            Certainty::Undecided => "too close to decide",
        };
        if stretch.within == Certainty::No {
            red.push(cells.len());
        }
        let epsilon = |value| Enclosure::rational(value, 64).shown(6);
        cells.push(vec![
            row.name.clone(),
            answer.to_string(),
            ends[0].clone(),
            ends[1].clone(),
            epsilon(&stretch.epsilons.1),
            epsilon(&stretch.epsilons.0),
        ]);
    }
    let caption = "The least noise compared with the zCDP (Bun-Steinke) curve of the present noise, at every delta from 1e-40 to 1. The curves cross \
                   where one row ends and the next begins. Rows in red: less private than that curve there.";
    let heading = ["", "the least noise is", "from delta", "to delta", "from epsilon", "to epsilon"];
    let table = Table::numbers(caption, &heading, cells);
    (!table.rows.is_empty()).then(|| marked(&table, &red))
}
