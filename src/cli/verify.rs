//! `assay verify`: every published value recomputed, a row each.

use std::{
    io::{self, IsTerminal, Write},
    path::PathBuf,
};

use anyhow::{Context, Result, bail};
use dp_assay::{
    evidence::{
        pipeline::{self, Options, Pipeline},
        published::{self, Unit},
        report::{self, Section},
        verify::{self, Computed, Row},
        write,
    },
    numeric::rational::parse,
    release::Release,
};
use serde_json::{Value, json};

use super::{Answer, output};

/// Recompute every published value: agrees, differs, disproved, undecided or needs-data
///
/// Exit status 1 where a value differs without a recorded erratum.
#[derive(clap::Args)]
pub struct Args {
    /// The papers; all where none is named
    #[arg(value_name = "PAPER")]
    papers: Vec<String>,
    /// Run the papers' own methods at their full size: for su-su-wang-2025 Boole's rule on 10^7 + 1 nodes
    #[arg(long)]
    full: bool,
    /// The nodes of that rule instead: one more than a multiple of four
    #[arg(long, value_name = "N", conflicts_with = "full")]
    nodes: Option<u64>,
    /// A folder that remembers what is done, so that an interrupted run goes on where it stopped; with --full it is
    /// assay-state unless said otherwise
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// Write REPORT.md into this folder as well
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// The paper that has a method of its own, and the id of the epsilon at which it is run.
const OWN_METHOD: (&str, &str) = ("su-su-wang-2025", "section-a.6-bureau-total");

pub fn run(args: &Args) -> Result<Answer> {
    let options = options(args)?;
    if let Some(folder) = &args.out {
        std::fs::create_dir_all(folder).with_context(|| format!("--out {}", folder.display()))?;
    }
    let papers = published::papers(&args.papers)?;
    let mut objects: Vec<Value> = Vec::new();
    let mut answer = Answer::Done;
    let mut results: Vec<(Vec<Row>, Option<Pipeline>)> = Vec::new();
    for paper in &papers {
        let rows = verify::verify(paper)?;
        let own = match paper.values.iter().find(|value| value.id == OWN_METHOD.1) {
            Some(value) if paper.paper == OWN_METHOD.0 => {
                let release = Release::find(&paper.paper)?;
                Some(pipeline::run(&release, &parse(&value.printed)?, &options, &progress)?)
            }
            _ => None,
        };
        if rows.iter().any(Row::is_unexplained) {
            answer = Answer::No;
        }
        if args.json {
            objects.push(json!({
                "paper": paper.paper,
                "title": paper.title,
                "rows": rows.iter().map(row_json).collect::<Value>(),
                "pipeline": own.as_ref().map(pipeline_json),
                "summary": verify::tally(&rows).iter().map(|(verdict, count)| (verdict.word().to_string(), json!(count))).collect::<Value>(),
            }));
        } else {
            print(&paper.title, &rows)?;
            if let Some(own) = &own {
                print_pipeline(own)?;
            }
        }
        results.push((rows, own));
    }
    if args.json {
        output::json(&json!({ "papers": objects }))?;
    }
    if let Some(folder) = &args.out {
        let sections: Vec<Section> = (papers.iter().zip(&results))
            .map(|(paper, (rows, own))| Section { paper, rows, pipeline: own.as_ref() })
            .collect();
        write::atomically(&folder.join("REPORT.md"), &report::markdown(&sections))?;
    }
    Ok(answer)
}

fn options(args: &Args) -> Result<Options> {
    let panels = match args.nodes {
        Some(nodes) if nodes >= 5 && nodes % 4 == 1 => nodes - 1,
        Some(nodes) => bail!("--nodes {nodes}: Boole's rule needs one node more than a multiple of four, as 1000001"),
        None if args.full => pipeline::PAPER_PANELS,
        None => pipeline::PANELS,
    };
    let state = args.state.clone().or_else(|| args.full.then(|| PathBuf::from("assay-state")));
    if let Some(folder) = &state {
        std::fs::create_dir_all(folder).with_context(|| format!("--state {}", folder.display()))?;
    }
    Ok(Options { panels, state })
}

/// A bar on standard error, where that is a terminal.
fn progress(done: u64, all: u64) {
    let mut out = io::stderr();
    if !out.is_terminal() {
        return;
    }
    let filled = (done * 40 / all.max(1)) as usize;
    let bar = format!("\r[{}{}] {:>3} %", "#".repeat(filled), " ".repeat(40 - filled), done * 100 / all.max(1));
    // Standard error may be closed; then nobody watches.
    let _ = out.write_all(if done == all { format!("\r{}\r", " ".repeat(50)) } else { bar }.as_bytes());
}

fn pipeline_json(own: &Pipeline) -> Value {
    let part = |part: &pipeline::Part| {
        json!({
            "first": part.range.0,
            "last": part.range.1,
            "sum": part.sum.to_json(),
            "e1": output::json_number(&output::bound(&part.budget.beyond)),
            "e2": output::json_number(&output::bound(&part.budget.truncation)),
            "e3": output::json_number(&output::bound(&part.budget.discretisation)),
            "value": part.value.to_json(),
            "contour": part.contour.value.to_json(),
            "contour_nodes": part.contour.certificate.evaluated_nodes,
        })
    };
    json!({
        "epsilon": output::exact(&own.epsilon),
        "nodes": own.panels + 1,
        "first_term": part(&own.first),
        "second_term": part(&own.second),
        "delta": own.delta.to_json(),
        "contour_delta": own.contour_delta.value.to_json(),
    })
}

fn print_pipeline(own: &Pipeline) -> Result<()> {
    let (epsilon, nodes) = (output::exact_text(&own.epsilon), own.panels + 1);
    output::text(&format!("\nSection A.6 by its own rule, at epsilon = {epsilon} with {nodes} nodes:\n\n"))?;
    let rows: Vec<Vec<String>> = report::pipeline_rows(own).into_iter().map(Vec::from).collect();
    output::columns(&["what", "value"], &rows)?;
    let (rule, contour) = (own.times.0.as_secs_f64(), own.times.1.as_secs_f64());
    output::text(&format!(
        "\nthe rule took {rule:.1} s for two sums, the contour {:.1} ms for all three\n",
        contour * 1e3
    ))
}

fn row_json(row: &Row) -> Value {
    let shown = |computed: &Computed| match computed {
        Computed::Value(value) => value.to_json(),
        Computed::Statement(_) => json!(computed.shown(1)),
        Computed::NeedsData(_) => Value::Null,
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
                row.shown(),
                row.verdict.word().to_string(),
            ]
        })
        .collect();
    output::table(&["value", "published", "computed", "verdict"], &cells)?;
    for row in rows {
        let needed = match &row.computed {
            Computed::NeedsData(needed) => Some(needed.clone()),
            _ => None,
        };
        let remarks = [("note", &row.published.note), ("needed", &needed), ("erratum", &row.published.erratum)];
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
