//! SafeTab: margins, sizes, suppression and privacy of two-stage counts, as in `assay tune`.

use anyhow::{Context, Result};
use dp_assay::chart::{Axis, Figure, Ink, Panel, Series};
use serde_json::Value;

use super::super::{
    ask::Question,
    parts::{Parts, chart, tables_of},
    store::Store,
};
use crate::cli::{
    page::{Page, Shown},
    tune::{self, config},
};

/// The options, with a stop.
fn of_question(question: &Question) -> Result<tune::Args> {
    let mut args: tune::Args = question.args()?;
    args.stop = question.stop.clone();
    Ok(args)
}

/// One level of population groups.
pub fn level(question: &Question) -> Result<Parts> {
    let args = of_question(question)?;
    let shown = args.level()?.into_shown();
    let answer = &shown.object;
    let number = |key: &str| answer[key].to_string();
    let epsilon = in_short(&answer["epsilon"]["upper"]);
    let said = vec![
        format!(
            "A cell of a detailed table is off by at most {} in 95 of 100 cases, and the total that chooses the table by {}. A person's epsilon is at most {epsilon}.",
            number("moe_stage2"),
            number("moe_stage1"),
        ),
        format!(
            "Totals up to {} are suppressed, of groups that get no detailed table. Groups of {} or more are published in at least 95 of 100 cases.",
            number("suppression_threshold"),
            number("published_from")
        ),
    ];
    let charts = match answer["published_from"].as_u64() {
        Some(from) if !question.is_moving => vec![suppression(question, from)?],
        _ => Vec::new(),
    };
    Ok(of_page(shown, said, charts))
}

/// The probability that a group whose total alone is published is suppressed, by its size.
fn suppression(question: &Question, published_from: u64) -> Result<Value> {
    const POINTS: u64 = 16;
    let step = (published_from * 3 / 2).div_ceil(POINTS).max(1);
    let sizes: Vec<String> = (0..=POINTS).map(|k| (k * step).to_string()).collect();
    let args: tune::Args = question.args_with(&[format!("--sizes={}", sizes.join(","))])?;
    let answer = args.level()?.into_shown().object;
    let rows = answer["suppression"].as_array().map(Vec::as_slice).unwrap_or_default();
    let point = |row: &Value| Some((double(&row["size"])?, 100.0 * double(&row["probability"]["upper"])?));
    let points: Vec<(f64, f64)> = rows.iter().filter_map(point).collect();
    let end = points.iter().map(|point| point.0).fold(1.0, f64::max);
    let panel = Panel {
        title: String::new(),
        x: Axis::linear("people in the group", 0.0, end),
        y: Axis::linear("suppressed, in 100", 0.0, 100.0),
        series: vec![Series::line("suppressed", Ink::Blue, points)],
    };
    chart(
        &Figure { title: String::new(), panels: vec![panel], columns: 1 },
        "suppression",
        "How often a group without a detailed table is suppressed, by its size",
        "Of 100 such groups of that size, the number that is not published.",
    )
}

/// All levels of a plan.
pub fn plan(question: &Question) -> Result<Parts> {
    let args = of_question(question)?;
    let (name, text) = question.file.as_ref().context("file: expected a plan")?;
    let shown = args.plan(text, name)?.into_shown();
    let total = &shown.object["total"];
    let said = vec![
        format!("All levels together have an epsilon of at most {}.", in_short(&total["epsilon"]["upper"])),
        format!(
            "By zCDP (Bun-Steinke) it would be {}. The tables have the margins of each level, and which groups are suppressed.",
            in_short(&total["zcdp_epsilon"]["upper"])
        ),
    ];
    let charts = margins(&shown.object)?.into_iter().collect();
    Ok(of_page(shown, said, charts))
}

/// The margins of each level of a plan.
fn margins(answer: &Value) -> Result<Option<Value>> {
    let levels = answer["levels"].as_array().map(Vec::as_slice).unwrap_or_default();
    let places = |key: &str| -> Vec<(f64, f64)> {
        let place = |(at, level): (usize, &Value)| Some((double(&level[key])?.max(1.0), at as f64));
        levels.iter().enumerate().filter_map(place).collect()
    };
    let (total, cell) = (places("moe_stage1"), places("moe_stage2"));
    let most = total.iter().chain(&cell).map(|point| point.0).fold(1.0, f64::max);
    let names = levels.iter().map(|level| level["name"].as_str().unwrap_or_default());
    let panel = Panel {
        title: String::new(),
        x: Axis::log("margin of error, 95 %", 1.0, libm::pow(10_f64, libm::log10(most).ceil().max(1.0))),
        y: Axis::names(names),
        series: vec![
            Series::dots("the total that chooses the table", Ink::Vermillion, total),
            Series::dots("a cell of the table", Ink::Blue, cell),
        ],
    };
    let figure = Figure { title: String::new(), panels: vec![panel], columns: 1 };
    let drawn = chart(
        &figure,
        "plan-margins",
        "The margins of error of each level of the plan",
        "Margins of error by level: squares for the total that chooses the table, circles for a cell of it.",
    );
    if levels.is_empty() { Ok(None) } else { drawn.map(Some) }
}

/// A config.json of the Bureau, and the same with other budgets.
pub fn config(store: &Store, question: &Question) -> Result<Parts> {
    let spec = store
        .spec()
        .context("a config.json needs the four files of the specification: start the page with --spec DIR")?;
    let args: tune::Args = question.args_with(&[format!("--spec={}", spec.display())])?;
    let (name, text) = question.file.as_ref().context("file: expected a config.json")?;
    let page: Page = args.page();
    let (page, changed) = config::of_text(text, name, spec, args.changes(), (&args.delta()?, &question.stop), page)?;
    let shown = page.into_shown();
    let said = vec![format!(
        "The whole run has an epsilon of at most {} for a record added or removed, and of at most {} for one changed.",
        in_short(&shown.object["epsilon"]["upper"]),
        in_short(&shown.object["bounded"]["epsilon"]["upper"])
    )];
    let mut words = question.words().to_vec();
    words.insert(1, format!("--spec={}", spec.display()));
    Ok(Parts {
        command: Some(question.command_line_of(&words)),
        file: Some(("config.json".to_string(), changed)),
        ..of_page(shown, said, Vec::new())
    })
}

/// A page of the command, preceded by sentences.
fn of_page(shown: Shown, said: Vec<String>, charts: Vec<Value>) -> Parts {
    let (tables, before) = tables_of(shown.tables);
    let rest = shown.rest.lines().filter(|line| !line.trim().is_empty()).map(String::from);
    Parts {
        answer: shown.object,
        records: shown.records,
        said,
        charts,
        tables,
        notes: before.into_iter().chain(rest).collect(),
        assumed: vec![
            "Margins are exact: the smallest that covers 95 of 100 cases. Formulas of the papers stand beside them."
                .to_string(),
            "A person is in as many groups of a level as the stability says, and in every level.".to_string(),
            "Zeros and small totals are suppressed by the noisy total, not by the true one.".to_string(),
        ],
        ..Parts::default()
    }
}

fn double(value: &Value) -> Option<f64> {
    value.to_string().parse().ok()
}

/// A number to six digits, for a sentence.
fn in_short(value: &Value) -> String {
    double(value).map_or_else(
        || "more than was computed".to_string(),
        |value| dp_assay::numeric::Enclosure::double(value, 53).shown(6),
    )
}
