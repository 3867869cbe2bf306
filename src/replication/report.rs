//! results/REPORT.md: what agrees, what differs and why, a section per paper.
//!
//! The report holds no times and no paths: the same program writes the same bytes.

use std::path::Path;

use super::{
    figures,
    pipeline::Pipeline,
    published::Paper,
    verdict::{Computed, Verdict},
    verify::{Row, tally},
};
use crate::{
    error::Result,
    files::write_text,
    numeric::{Enclosure, rational},
};

/// A paper with the verdicts on its values, and what its own method gives, if that was run.
pub struct Section<'a> {
    /// The paper.
    pub paper: &'a Paper,
    /// A row for each of its values.
    pub rows: Vec<Row>,
    /// Section A.6 of Su, Su & Wang, carried out.
    pub pipeline: Option<Pipeline>,
}

/// The whole report, as Markdown.
pub fn markdown(sections: &[Section]) -> String {
    let mut out = String::from("# Published values, recomputed\n\n");
    out += &format!(
        "Written by `assay verify --out results`, version {}. Every computed value is proven: an enclosure of which the\n\
         digits shown are certain. *agrees*: all of it rounds to the printed digits, or the printed bound or statement\n\
         holds. *agrees-as-read*: so it does by another reading of what is printed, which is stated, and not by the plain\n\
         one. *differs*: none of it does. *disproved*: the printed bound or statement is proven wrong. *needs-data*:\n\
         it rests on data that are not at hand.\n",
        env!("CARGO_PKG_VERSION")
    );
    if sections.len() > 1 {
        out += &overview(sections);
    }
    for section in sections {
        out += &format!("\n## {}\n\n`{}`: ", section.paper.title, section.paper.paper);
        out += &summary(&section.rows);
        out += &differences(&section.rows);
        out += &missing(&section.rows);
        if let Some(pipeline) = &section.pipeline {
            out += &pipeline_text(pipeline);
        }
        out += &agreements(&section.rows);
        if section.paper.is_bundled {
            out += &figure_list(&section.paper.paper);
        }
    }
    out
}

/// Writes `REPORT.md` into a folder, which is made if it does not exist.
pub fn write(folder: &Path, sections: &[Section]) -> Result<()> {
    write_text(&folder.join("REPORT.md"), &markdown(sections))
}

/// What each paper comes to, a row each, below the names of the columns; the sums last.
pub fn summary_table(sections: &[Section]) -> Vec<[String; 9]> {
    let counts = |rows: &[Row]| -> [usize; 8] {
        let [agree, as_read, differ, disproved, undecided, needing] = tally(rows).map(|(_, count)| count);
        let unexplained = rows.iter().filter(|row| row.is_unexplained()).count();
        [rows.len(), agree, as_read, differ, disproved, undecided, needing, unexplained]
    };
    let mut all = [0; 8];
    let mut table = vec![
        ["paper", "values", "agree", "as read", "differ", "disproved", "undecided", "need data", "unexplained"]
            .map(String::from),
    ];
    let line = |name: &str, counts: [usize; 8]| {
        std::array::from_fn(|column| if column == 0 { name.to_string() } else { counts[column - 1].to_string() })
    };
    for section in sections {
        let counts = counts(&section.rows);
        all.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        table.push(line(&section.paper.paper, counts));
    }
    table.push(line("all", all));
    table
}

fn overview(sections: &[Section]) -> String {
    let mut out = String::from("\n");
    for (index, row) in summary_table(sections).iter().enumerate() {
        out += &format!("| {} |\n", row.join(" | "));
        if index == 0 {
            out += &format!("|{}\n", " --- |".repeat(row.len()));
        }
    }
    out
}

fn summary(rows: &[Row]) -> String {
    let counts: Vec<String> = (tally(rows).iter())
        .filter(|(_, count)| *count > 0)
        .map(|(verdict, count)| format!("{count} {}", verdict.word()))
        .collect();
    format!("{} values: {}.\n", rows.len(), counts.join(", "))
}

fn differences(rows: &[Row]) -> String {
    let differing: Vec<&Row> =
        rows.iter().filter(|row| !matches!(row.verdict, Verdict::Agrees | Verdict::NeedsData)).collect();
    if differing.is_empty() {
        return String::new();
    }
    let mut out = String::from("\n### What differs, and why\n\n");
    for row in differing {
        out += &format!(
            "- **{}** ({}): printed {}, computed {}, {}. {}\n",
            row.published.id,
            row.published.place,
            row.published.shown(),
            row.shown(),
            row.verdict.word(),
            [vec![why(row)], row.sentences()].concat().join(" ").trim(),
        );
    }
    out
}

/// Why a row differs, in words; what a reading explains needs none.
fn why(row: &Row) -> String {
    let unknown = if row.is_unexplained() { "Not explained." } else { "" };
    row.published.erratum.clone().unwrap_or_else(|| unknown.to_string())
}

fn missing(rows: &[Row]) -> String {
    let missing = rows.iter().filter_map(|row| match &row.computed {
        Computed::NeedsData(needed) => Some(format!(
            "- {} ({}): printed {}; needs {needed}.\n",
            row.published.id,
            row.published.place,
            row.published.shown()
        )),
        _ => None,
    });
    let list: String = missing.collect();
    if list.is_empty() { list } else { format!("\n### What needs data\n\n{list}") }
}

fn agreements(rows: &[Row]) -> String {
    let mut out =
        String::from("\n### What agrees\n\n| value | where | printed | computed |\n| --- | --- | --- | --- |\n");
    let mut notes = String::new();
    for row in rows.iter().filter(|row| row.verdict == Verdict::Agrees) {
        let cells = [&row.published.id, &row.published.place, &row.published.shown(), &row.shown()];
        out += &format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|")).join(" | "));
        let said: Vec<String> = row.published.note.iter().cloned().chain(row.sentences()).collect();
        if !said.is_empty() {
            notes += &format!("- {}: {}\n", row.published.id, said.join(" "));
        }
    }
    if notes.is_empty() { out } else { format!("{out}\nNotes:\n\n{notes}") }
}

fn figure_list(paper: &str) -> String {
    let items: Vec<String> = (figures::items().iter())
        .filter(|item| item.paper == paper)
        .map(|item| {
            format!(
                "- [{}]({paper}/{}.svg) ([numbers]({paper}/{}.csv)): {}\n",
                item.name, item.name, item.name, item.about
            )
        })
        .collect();
    if items.is_empty() { String::new() } else { format!("\n### Tables and figures\n\n{}", items.concat()) }
}

/// An enclosure in words that fit a line.
fn shown(value: &Enclosure) -> String {
    let (lower, upper) = value.decimals();
    format!("[{}, {}]", lower.unwrap_or_else(|| "-inf".to_string()), upper.unwrap_or_else(|| "inf".to_string()))
}

/// The rows of the pipeline: what it is, and its value.
pub fn pipeline_rows(pipeline: &Pipeline) -> Vec<[String; 2]> {
    let bound = |value: &rug::Float| Enclosure::new(value.clone(), value.clone()).shown(3);
    let mut rows = Vec::new();
    for (name, part) in [("first term", &pipeline.first), ("second term's probability", &pipeline.second)] {
        let mut push = |what: &str, value: String| rows.push([format!("{name}: {what}"), value]);
        push("values summed", format!("{} to {}", part.range.0, part.range.1));
        push("Boole's sum", part.sum.shown(24));
        push("E1, beyond the last value", bound(&part.budget.beyond));
        push("E2, beyond the reach of t", bound(&part.budget.truncation));
        push("E3, the rule on its nodes", bound(&part.budget.discretisation));
        push("so it lies in", shown(&part.value));
        push("by the contour", part.contour.value.shown(24));
        push(
            "nodes of the contour",
            part.contour.method.contour().map_or(0, |proof| proof.evaluated_nodes).to_string(),
        );
    }
    rows.push(["delta by the rule, both terms".to_string(), shown(&pipeline.delta)]);
    rows.push(["delta by the contour".to_string(), pipeline.contour_delta.value.shown(24)]);
    rows
}

fn pipeline_text(pipeline: &Pipeline) -> String {
    let mut out = format!(
        "\n### The pipeline of Section A.6\n\n\
         At epsilon = {} with {} nodes for the first term and {} for the second (the paper: 10000001). The characteristic function is that of the discrete\n\
         Gaussians themselves, (A.3), so the paper's E0 for replacing masses by densities does not arise. The second term,\n\
         which the paper leaves out as beyond double precision, needs more bits and nothing else; its upper end is chosen\n\
         shorter, and so is its reach, where the sieve of D.3 ends: E3 grows with the seventh power of both.\n\n\
         | what | value |\n| --- | --- |\n",
        rational::display(&pipeline.epsilon),
        pipeline.panels + 1,
        pipeline.second_panels + 1,
    );
    for [what, value] in pipeline_rows(pipeline) {
        out += &format!("| {what} | {value} |\n");
    }
    out
}
