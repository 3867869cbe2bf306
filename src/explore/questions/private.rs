//! How private? Epsilon at a delta, the profile, and the trade-off function.

use anyhow::Result;
use dp_assay::account::compared::Against;
use serde_json::{Value, json};

use super::super::{
    ask::Question,
    exports::{of_subject, text},
    parts::{Parts, chart, table, wider},
    store::Store,
};
use crate::cli::{
    epsilon,
    report::{assumed, charts, tables, words},
    subject::decided,
};

/// Epsilon of each level and of everything.
pub fn epsilon(store: &Store, question: &Question) -> Result<Parts> {
    let args: epsilon::Args = question.args()?;
    let known = store.subject(question.subject(), &args.subject)?;
    let subject = &known.subject.until(&question.stop);
    let (delta, found) = args.find(subject, !question.is_moving)?;
    let decided = decided(found.decided()).into_iter().chain(subject.note());
    let wider = wider(found.lines().map(|line| (line.name.as_str(), line.epsilon.met)));
    Ok(Parts {
        answer: found.object(subject, &delta),
        records: found.records(),
        said: words::how_private(&delta, subject, &found),
        tables: vec![table(&tables::of_epsilon(&delta, &found, subject.may_be_more_private().is_some()))],
        notes: decided.chain(wider).collect(),
        assumed: assumed::of_epsilon(&delta, &found),
        exports: of_subject(
            question,
            &args.subject.described_with(&|name| store.release(name))?,
            &format!(
                "release.epsilon({}, digits={})",
                text(question.value("delta").unwrap_or_default()),
                args.digits()
            ),
        ),
        ..Parts::default()
    })
}

/// The charts beside epsilon. They are drawn from cached points, so that only the line of delta moves.
pub fn drawing(store: &Store, question: &Question) -> Result<Parts> {
    let args: epsilon::Args = question.args()?;
    let known = store.subject(question.subject(), &args.subject)?;
    let drawn = known.drawn(&question.stop)?;
    let delta = args.delta()?;
    let by = known.subject.compared(Against::Usual, &delta, 6)?.by;
    let profile = chart(
        &charts::profile(&delta, &drawn, &known.subject.whole, by)?,
        "profile",
        &format!("The privacy profile: delta over epsilon, exact and by {}", by.name()),
        &words::about_profile("The privacy profile.", &drawn),
    )?;
    let tradeoff = chart(
        &charts::tradeoff(&drawn),
        "tradeoff",
        "The trade-off function: the smallest type II error over the type I error",
        "The trade-off curve: how often a test that distinguishes two neighbors must err in one way, given how often it errs in the other. The \
         nearer to the dotted line, the nearer to guessing.",
    )?;
    let points = |(name, points): (&str, &Vec<(f64, f64)>)| -> Vec<Value> {
        points.iter().map(|(x, y)| json!({ "curve": name, "x": x, "y": y })).collect()
    };
    let beside = format!("delta over epsilon by {}", by.name());
    let curves = [
        ("exact delta over epsilon", &drawn.exact),
        (beside.as_str(), &drawn.beside(&known.subject.whole, by)?),
        ("type II over type I error", &drawn.tradeoff),
    ];
    Ok(Parts {
        charts: vec![profile, tradeoff],
        records: curves.into_iter().flat_map(points).collect(),
        ..Parts::default()
    })
}
