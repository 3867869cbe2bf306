//! How much noise could be spared? The least that keeps a promise, and where it would be less private.

use anyhow::Result;
use dp_assay::numeric::{Certainty, Enclosure};

use super::super::{
    ask::Question,
    parts::{Parts, chart, marked, table, wider},
    store::Store,
};
use crate::cli::{
    calibrate::{self, Goal, Row},
    report::{
        answers::{Spared, common_factor},
        assumed, charts,
        tables::{self, Table},
        words,
    },
};

/// The least noise of each level.
pub fn calibrate(store: &Store, question: &Question) -> Result<Parts> {
    let args: calibrate::Args = question.args()?;
    let known = store.subject(question.subject(), &args.subject)?;
    let subject = &known.subject.until(&question.stop);
    // All levels composed are looked at when the slider rests.
    let (asked, found) = args.find_with(subject, !question.is_moving)?;
    let answer = args.object(subject, &asked, &found)?;
    let compared = asked.of_whole(subject)?;
    let common_factor = match (&asked.goal, &compared) {
        (Goal::Compared(_), Some(compared)) if !subject.levels.is_empty() && !question.is_moving => {
            Some(common_factor(subject, &asked.delta, compared)?)
        }
        _ => None,
    };
    let together = found.together.as_ref().map(|together| together.in_words(6).trim_end().to_string());
    let parts = found.rows.into_iter().map(|row| (row.name.clone(), Some(row))).collect();
    let spared = Spared { parts, common_factor, compared };
    let drawn = charts::noise(&spared).map(|figure| {
        chart(
            &figure,
            "spared",
            "The noise of each level, as it is and as little as keeps the epsilon that it is compared with",
            "The noise as it is (squares), and the least that keeps the epsilon that it is compared with (circles).",
        )
    });
    let mut said = words::what_could_be_spared(&spared);
    if question.is_moving && !subject.levels.is_empty() {
        said.push("If all levels are taken together: computed when the slider rests.".to_string());
    }
    let noise = tables::of_noise(&spared, asked.digits);
    let tables = [table(&noise)].into_iter().chain(crossings(spared.rows())).collect();
    Ok(Parts {
        records: calibrate::records(&answer),
        answer,
        said,
        charts: drawn.into_iter().collect::<Result<_>>()?,
        tables,
        notes: together
            .into_iter()
            .chain(wider(spared.rows().map(|row| (row.name.as_str(), row.epsilon.met))))
            .collect(),
        assumed: assumed::of_noise(&asked.delta),
        ..Parts::default()
    })
}

/// Between which deltas the least noise is as private as zCDP says of the noise as it is; where it is not, in red.
fn crossings<'r>(rows: impl Iterator<Item = &'r Row>) -> Option<serde_json::Value> {
    let mut red = Vec::new();
    let mut cells = Vec::new();
    for (row, stretch) in rows.flat_map(|row| row.stretches.iter().flatten().map(move |stretch| (row, stretch))) {
        let ends = [stretch.deltas.0.shown(6), stretch.deltas.1.shown(6)];
        let answer = match stretch.within {
            Certainty::Yes => "at least as private",
            Certainty::No => "less private",
            // Where a row ends and the next begins the curves cross: a row for that place alone says nothing more.
            Certainty::Undecided if ends[0] == ends[1] => continue,
            Certainty::Undecided => "too close to tell",
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
    let table = Table {
        caption: "The least noise beside the zCDP (Bun-Steinke) curve of the noise as it is, at every delta from 1e-40 to 1. The curves cross \
                  where one row ends and the next begins. Rows in red: less private than that curve there."
            .to_string(),
        heading: vec!["", "the least noise is", "from delta", "to delta", "from epsilon", "to epsilon"],
        rows: cells,
        has_whole: false,
    };
    (!table.rows.is_empty()).then(|| marked(&table, &red))
}
