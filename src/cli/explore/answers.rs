//! The answer of a command, with its words, charts and tables. The numbers come from the functions of that command, and nothing is
//! computed here.

use anyhow::Result;
use dp_assay::{account::promise::Promise, chart::Figure};
use serde_json::{Value, json};

use super::super::{
    calibrate, epsilon, output,
    page::csv_text,
    report::{
        answers::{self, Spared},
        assumed, charts,
        tables::{self, Table},
        words,
    },
    risk::bound,
};
use super::{ask::Question, store::Store};

/// An answer in all its forms.
#[derive(Default)]
struct Page {
    /// What `--json` prints, but for the provenance.
    answer: Value,
    /// What `--format csv` prints.
    records: Vec<Value>,
    said: Vec<String>,
    charts: Vec<Value>,
    tables: Vec<Value>,
    notes: Vec<String>,
    assumed: Vec<String>,
}

/// Answers a question.
pub fn answer(store: &Store, question: &Question) -> Result<Value> {
    let page = match question.name {
        "epsilon" => how_private(store, question)?,
        "drawing" => drawing(store, question)?,
        "bound" => what_is_learned(store, question)?,
        _ => what_could_be_spared(store, question)?,
    };
    Ok(json!({
        "question": question.name,
        "command": question.command_line(),
        "answer": page.answer,
        // With all digits, for whom JSON numbers are doubles.
        "json": (!page.answer.is_null()).then(|| format!("{:#}\n", page.answer)),
        "csv": csv_text(&page.records)?,
        "said": page.said,
        "charts": page.charts,
        "tables": page.tables,
        "notes": page.notes,
        "assumed": page.assumed,
    }))
}

fn how_private(store: &Store, question: &Question) -> Result<Page> {
    let args: epsilon::Args = question.args()?;
    let known = store.subject(question.subject(), &args.subject)?;
    let subject = &known.subject;
    let (delta, found) = args.find(subject, !question.is_moving)?;
    let pair = found.pair.iter().map(|pair| format!("The whole is that of {pair}."));
    let wider = wider(found.lines().map(|line| (line.name.as_str(), line.epsilon.met)));
    Ok(Page {
        answer: found.object(subject, &delta),
        records: found.records(),
        said: words::how_private(&delta, &found),
        tables: vec![table(&tables::of_epsilon(&delta, &found))],
        notes: pair.chain(wider).collect(),
        assumed: assumed::of_epsilon(&delta),
        ..Page::default()
    })
}

/// The charts beside epsilon. They are drawn from points that are remembered, so that only the line of delta moves.
fn drawing(store: &Store, question: &Question) -> Result<Page> {
    let args: epsilon::Args = question.args()?;
    let known = store.subject(question.subject(), &args.subject)?;
    let drawn = known.drawn()?;
    let profile = chart(
        &charts::profile(&args.delta()?, &drawn),
        "profile",
        "The privacy profile: delta over epsilon, exact and by zCDP",
        "The privacy profile. Every delta has its epsilon; lower and further left is more private. Where a curve meets the dotted line it has the \
         epsilon of the table.",
    )?;
    let tradeoff = chart(
        &charts::tradeoff(&drawn),
        "tradeoff",
        "The trade-off function: the smallest type II error over the type I error",
        "The trade-off curve: how often a test that tries to tell two neighbors apart must err in one way, given how often it errs in the other. The \
         nearer to the dotted line, the nearer to guessing.",
    )?;
    let points = |(name, points): (&str, &Vec<(f64, f64)>)| -> Vec<Value> {
        points.iter().map(|(x, y)| json!({ "curve": name, "x": x, "y": y })).collect()
    };
    let curves = [
        ("exact delta over epsilon", &drawn.exact),
        ("zCDP delta over epsilon", &drawn.zcdp),
        ("type II over type I error", &drawn.tradeoff),
    ];
    Ok(Page {
        charts: vec![profile, tradeoff],
        records: curves.into_iter().flat_map(points).collect(),
        ..Page::default()
    })
}

fn what_is_learned(store: &Store, question: &Question) -> Result<Page> {
    let args: bound::Args = question.args()?;
    let known = store.subject(question.subject(), &args.subject)?;
    let subject = &known.subject;
    let (asked, found) = args.find(subject)?;
    let drawn = chart(
        &charts::right_decisions(&asked.prior, &found),
        "learned",
        "How many of 100 decisions of an adversary are right at most, by level",
        "How many of 100 decisions are right at most. The circle is exact: some adversary gets there, and none beyond. The square is what zCDP \
         allows.",
    )?;
    Ok(Page {
        answer: found.object(subject, &asked),
        records: found.records(),
        said: words::what_is_learned(&asked.prior, subject.neighbors, &found),
        charts: vec![drawn],
        tables: vec![table(&tables::of_bound(&asked.prior, &found))],
        notes: wider(found.lines().map(|line| (line.name.as_str(), line.bound.correct.met))).into_iter().collect(),
        assumed: assumed::of_bound(&asked.prior),
    })
}

fn what_could_be_spared(store: &Store, question: &Question) -> Result<Page> {
    let args: calibrate::Args = question.args()?;
    let known = store.subject(question.subject(), &args.subject)?;
    let subject = &known.subject;
    let (asked, found) = args.find(subject)?;
    let answer = args.object(subject, &asked, &found)?;
    let common_factor = match &asked.promise {
        Promise::ZcdpEpsilon { .. } if !subject.levels.is_empty() => answers::common_factor(subject, &asked.promise)?,
        _ => None,
    };
    let parts = found.rows.into_iter().map(|row| (row.name.clone(), Some(row))).collect();
    let spared = Spared { parts, common_factor };
    let drawn = charts::noise(&spared).map(|figure| {
        chart(
            &figure,
            "spared",
            "The noise of each level, as it is and as little as keeps epsilon by zCDP",
            "The noise as it is (squares), and the least that keeps the epsilon that zCDP gives (circles).",
        )
    });
    Ok(Page {
        records: calibrate::records(&answer),
        answer,
        said: words::what_could_be_spared(&spared),
        charts: drawn.into_iter().collect::<Result<_>>()?,
        tables: vec![table(&tables::of_noise(&spared, asked.digits))],
        notes: wider(spared.rows().map(|row| (row.name.as_str(), row.epsilon.met))).into_iter().collect(),
        assumed: assumed::of_noise(&asked.delta),
    })
}

fn chart(figure: &Figure, name: &str, label: &str, caption: &str) -> Result<Value> {
    let svg = figure.svg_element(&format!("chart-{name}"), label)?;
    Ok(json!({ "name": name, "label": label, "caption": caption, "svg": svg }))
}

fn table(table: &Table) -> Value {
    json!({ "caption": table.caption, "heading": table.heading, "rows": table.rows, "has_whole": table.has_whole })
}

/// Says which answers are wider than asked, if any are.
fn wider<'n>(lines: impl Iterator<Item = (&'n str, bool)>) -> Option<String> {
    let names: Vec<&str> = lines.filter(|(_, met)| !met).map(|(name, _)| name).collect();
    (!names.is_empty()).then(|| format!("{}: {}. Both ends are valid.", output::status(false), names.join(", ")))
}
