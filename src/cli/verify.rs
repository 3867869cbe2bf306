//! `assay verify`: every published value recomputed, a row each.

use anyhow::Result;
use dp_assay::evidence::{
    published::{self, Unit},
    verify::{self, Computed, Row},
};
use serde_json::{Value, json};

use super::{Answer, output};

/// Recompute every published value: agrees, differs, disproved or undecided
///
/// Exit status 1 where a value differs without a recorded erratum.
#[derive(clap::Args)]
pub struct Args {
    /// The papers; all where none is named
    #[arg(value_name = "PAPER")]
    papers: Vec<String>,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<Answer> {
    let papers = published::papers(&args.papers)?;
    let mut objects: Vec<Value> = Vec::new();
    let mut answer = Answer::Done;
    for paper in &papers {
        let rows = verify::verify(paper)?;
        if rows.iter().any(Row::is_unexplained) {
            answer = Answer::No;
        }
        if args.json {
            objects.push(json!({
                "paper": paper.paper,
                "title": paper.title,
                "rows": rows.iter().map(row_json).collect::<Value>(),
                "summary": verify::tally(&rows).iter().map(|(verdict, count)| (verdict.word().to_string(), json!(count))).collect::<Value>(),
            }));
        } else {
            print(&paper.title, &rows)?;
        }
    }
    if args.json {
        output::json(&json!({ "papers": objects }))?;
    }
    Ok(answer)
}

fn row_json(row: &Row) -> Value {
    let shown = |computed: &Computed| match computed {
        Computed::Value(value) => value.to_json(),
        Computed::Statement(_) => json!(computed.shown(1)),
    };
    json!({
        "id": row.published.id,
        "place": row.published.place,
        "published": row.published.printed,
        "computed": shown(&row.computed),
        "verdict": row.verdict.word(),
        "note": row.published.note,
        "erratum": row.published.erratum,
        "printed_by": row.printed_by.as_ref().map(shown),
    })
}

fn print(title: &str, rows: &[Row]) -> Result<()> {
    output::text(&format!("{title}\n\n"))?;
    let cells: Vec<Vec<String>> = (rows.iter())
        .map(|row| {
            let bound = if row.published.unit == Unit::Bound { "<= " } else { "" };
            vec![
                row.published.id.clone(),
                format!("{bound}{}", row.published.printed),
                row.computed.shown(8),
                row.verdict.word().to_string(),
            ]
        })
        .collect();
    output::table(&["value", "published", "computed", "verdict"], &cells)?;
    for row in rows {
        let remarks = [("note", &row.published.note), ("erratum", &row.published.erratum)];
        for (kind, remark) in remarks {
            if let Some(remark) = remark {
                output::text(&format!("\n{kind} on {} ({}): {remark}\n", row.published.id, row.published.place))?;
            }
        }
        if let Some(printed_by) = &row.printed_by {
            output::text(&format!("That computation gives {}.\n", printed_by.shown(8)))?;
        }
    }
    let counts: Vec<String> =
        verify::tally(rows).iter().map(|(verdict, count)| format!("{count} {}", verdict.word())).collect();
    let unexplained = rows.iter().filter(|row| row.is_unexplained()).count();
    output::text(&format!("\n{} values: {}; {unexplained} without an explanation\n", rows.len(), counts.join(", ")))
}
