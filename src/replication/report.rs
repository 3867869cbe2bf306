//! results/REPORT.md: what agrees, what differs and why, one section per paper.
//!
//! It gives the command, its inputs, the program and the time; without commit and date the same inputs give the same
//! bytes.

use std::path::Path;

use super::{
    faults::{self, Fault},
    figures,
    pipeline::Pipeline,
    published::{Paper, Published},
    verdict::{Computed, Verdict},
    verify::{Row, printed, tally, tally_in_words},
};
use crate::{
    document::{Block, Table, below, list, markdown, text},
    error::Result,
    io::files::write_text,
    io::provenance::{COMMIT, Content, Provenance, VERSION, command_line},
    numeric::{Enclosure, rational},
};

/// A paper with the verdicts on its values, and the result of its own method, if that was run.
pub struct Section<'a> {
    /// The paper.
    pub paper: &'a Paper,
    /// A row for each of its values.
    pub rows: Vec<Row>,
    /// Section A.6 of Su, Su & Wang, carried out.
    pub pipeline: Option<Pipeline>,
}

/// The run that a report describes.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The command, and its inputs.
    pub provenance: &'a Provenance,
    /// Whether commit and date are omitted, so that the same inputs give the same bytes.
    pub is_reproducible: bool,
}

/// The whole report, as Markdown.
pub fn markdown(sections: &[Section], run: Run) -> String {
    let mut out = vec![Block::Heading(1, "Published values, recomputed".to_string()), of_run(run), text(LEGEND)];
    if sections.len() > 1 {
        out.extend(overview(sections));
    }
    for section in sections {
        let summary = text(format!("{}: {}", code(&section.paper.paper), summary(&section.rows)));
        out.extend(below(2, line(&section.paper.title), vec![summary]));
        out.extend(fault_list(section));
        out.extend(differences(&section.rows));
        out.extend(missing(&section.rows));
        out.extend(section.pipeline.iter().flat_map(pipeline_text));
        for (heading, verdict) in [
            ("What agrees", Verdict::Agrees),
            ("What agrees because the release was built from it", Verdict::Circular),
            ("What no document prints", Verdict::NotPrinted),
        ] {
            out.extend(below(3, heading, rows_of(&section.rows, verdict)));
        }
        if section.paper.is_bundled {
            out.extend(figure_list(&section.paper.paper));
        }
    }
    markdown::of_markdown(&out)
}

/// What the verdicts mean.
const LEGEND: &str = "Every computed value is proven: an enclosure of which the digits shown are certain. *agrees*: all of it lies in what the\n\
         printed text stands for, such as the numbers that round to its digits, or the printed bound or statement holds.\n\
         *agrees-as-read*: so it does by another reading of what is printed, which is stated, and not by the plain one.\n\
         *holds-to-digits*: a printed bound is missed, by less than its last digit: the number rounds to it.\n\
         *misprint*: a slip, as a transpose, a sign or an index; what is meant is plain. *hypothesis-missing*: it holds under a\n\
         hypothesis that the text leaves out. *not-of-the-stated-model*: a text about a figure, right of the figure as it was\n\
         computed, and false of the model that the text states. *differs*: a printed number is another one than the computed.\n\
         *disproved*: a printed bound or statement that was meant is proven wrong, with the text's own unrounded inputs and to\n\
         its own digits. What the test chose and the text does not say, as a margin or a tolerance, is named, and disproves\n\
         nothing. Several values can show one fault; it is counted once, and named by its key. *undecided*: the enclosure\n\
         is too wide to tell. *needs-data*: it rests on data that are not at hand. *circular*: it agrees, and the printed\n\
         value is the source of the bundled release, so that this says only that the release was read rightly.\n\
         *not-printed*: no document prints the value; it is not counted among the values.";

/// The command, the program, the time and the inputs of the report.
fn of_run(Run { provenance, is_reproducible }: Run) -> Block {
    let mut rows = vec![["command", &code(&command_line(&provenance.command_line))].map(String::from)];
    let commit = if is_reproducible { String::new() } else { format!(", commit {COMMIT}") };
    rows.push(["program".to_string(), format!("assay {VERSION}{commit}")]);
    if let Some(date) = provenance.date.as_ref().filter(|_| !is_reproducible) {
        rows.push(["date".to_string(), date.clone()]);
    }
    for input in &provenance.inputs {
        let content = match &input.content {
            Content::Sha256(sha256) => format!("SHA-256 `{sha256}`"),
            Content::Confidential => "confidential, not hashed".to_string(),
            Content::NotHashed => "not hashed".to_string(),
        };
        rows.push(["input".to_string(), format!("{}, {content}", code(&input.name))]);
    }
    table_of(&["", ""], rows)
}

/// A table of text.
fn table_of<const N: usize>(heading: &[&str; N], rows: impl IntoIterator<Item = [String; N]>) -> Block {
    let rows = rows.into_iter().map(|row| row.map(|cell| line(&cell)).to_vec());
    Block::Table(Table::numbers("", heading, rows.collect()).of_words())
}

/// Text for a cell or a line of Markdown.
fn line(text: &str) -> String {
    let text = text.replace('|', "\\|");
    text.split(['\n', '\r']).collect::<Vec<_>>().join(" ")
}

/// Text as code.
fn code(text: &str) -> String {
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

/// Writes files of a report, each a name and its text, into a folder, which is created if it does not exist.
pub fn write(folder: &Path, files: &[(&str, &str)]) -> Result<()> {
    files.iter().try_for_each(|(name, text)| write_text(&folder.join(name), text))
}

/// The columns of the summary.
const COLUMNS: [&str; 16] = [
    "paper",
    "values",
    "agree",
    "as read",
    "to digits",
    "misprints",
    "hypothesis missing",
    "not of model",
    "differ",
    "disproved",
    "undecided",
    "need data",
    "circular",
    "not printed",
    "unexplained",
    "faults",
];

/// A summary row for each paper, below the names of the columns; totals last. Faults that two papers share count once in the total.
pub fn summary_table(sections: &[Section]) -> Vec<[String; 16]> {
    let counts = |rows: &[Row], faults: usize| -> [usize; 15] {
        let of_verdicts = tally(rows);
        std::array::from_fn(|column| match column {
            0 => printed(rows),
            13 => rows.iter().filter(|row| row.is_unexplained()).count(),
            14 => faults,
            verdict => of_verdicts[verdict - 1].1,
        })
    };
    let mut all = [0; 15];
    let mut table = vec![COLUMNS.map(String::from)];
    let line = |name: &str, counts: [usize; 15]| {
        std::array::from_fn(|column| if column == 0 { name.to_string() } else { counts[column - 1].to_string() })
    };
    for section in sections {
        let counts = counts(&section.rows, faults(std::slice::from_ref(section)).len());
        all.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        table.push(line(&section.paper.paper, counts));
    }
    all[14] = faults(sections).len();
    table.push(line("all", all));
    table
}

/// The distinct faults of papers.
pub fn faults(sections: &[Section]) -> Vec<Fault> {
    faults::of_papers(sections.iter().map(|section| (section.paper.paper.as_str(), &section.rows[..])))
}

/// For each verdict that is a fault its values and its distinct faults, in words.
pub fn faults_in_words(sections: &[Section]) -> Vec<String> {
    let rows: Vec<&Row> = sections.iter().flat_map(|section| &section.rows).collect();
    faults::in_words(&rows, &faults(sections))
}

fn overview(sections: &[Section]) -> Vec<Block> {
    let faults = list(faults_in_words(sections));
    let about = text("Values and distinct faults, each fault with its gravest verdict:");
    let about = if faults.is_empty() { faults } else { [vec![about], faults].concat() };
    [vec![table_of(&COLUMNS, summary_table(sections).into_iter().skip(1))], about].concat()
}

/// The faults of a paper that several values show.
fn fault_list(section: &Section) -> Vec<Block> {
    let all = faults(std::slice::from_ref(section));
    let several = all.iter().filter(|fault| fault.values.len() > 1);
    let one = |fault: &Fault| {
        let ids: Vec<&str> = fault.values.iter().filter_map(|value| Some(value.rsplit_once('/')?.1)).collect();
        format!("{}, {} values: {}", code(&fault.key), ids.len(), line(&ids.join(", ")))
    };
    let found = list(several.map(one));
    if found.is_empty() {
        return found;
    }
    let count = if all.len() == 1 { "1 distinct fault".to_string() } else { format!("{} distinct faults", all.len()) };
    [vec![text(format!("{count}. Those that several values show:"))], found].concat()
}

fn summary(rows: &[Row]) -> String {
    let values = printed(rows);
    format!("{values} value{}: {}.", if values == 1 { "" } else { "s" }, tally_in_words(rows))
}

fn differences(rows: &[Row]) -> Vec<Block> {
    let is_difference = |row: &&Row| match row.verdict {
        Verdict::AgreesAsRead | Verdict::Undecided => true,
        verdict => verdict.is_fault(),
    };
    let said = |row: &Row| {
        let text = format!(
            "**{}** ({}): printed {}, computed {}, {}. {} What was computed: {}.",
            row.published.id,
            row.published.place,
            row.published.shown(),
            row.shown(),
            row.verdict.word(),
            [vec![why(row)], row.sentences()].concat().join(" ").trim(),
            row.published.asked_in_words(),
        );
        text.replace(['\n', '\r'], " ")
    };
    below(3, "What differs, and why", list(rows.iter().filter(is_difference).map(said)))
}

/// The reason why a row differs, in words; a difference explained by a reading needs none.
fn why(row: &Row) -> String {
    let unknown = if row.is_unexplained() { "Not explained." } else { "" };
    row.published.remarks.erratum.clone().unwrap_or_else(|| unknown.to_string())
}

fn missing(rows: &[Row]) -> Vec<Block> {
    let missing = rows.iter().filter_map(|row| match &row.computed {
        Computed::NeedsData(needed) => Some(format!(
            "{} ({}): printed {}; needs {needed}.",
            row.published.id,
            row.published.place,
            row.published.shown()
        )),
        _ => None,
    });
    below(3, "What needs data", list(missing))
}

/// A table of the rows with this verdict, and their notes below it.
fn rows_of(rows: &[Row], verdict: Verdict) -> Vec<Block> {
    let mut table = Vec::new();
    let mut notes = Vec::new();
    for row in rows.iter().filter(|row| row.verdict == verdict) {
        let Published { id, place, .. } = &row.published;
        let asked = row.published.asked_in_words();
        table.push([id.clone(), place.clone(), asked, row.published.shown(), row.shown()]);
        let said: Vec<String> = row.published.remarks.note.iter().cloned().chain(row.sentences()).collect();
        if !said.is_empty() {
            notes.push(format!("{}: {}", line(id), line(&said.join(" "))));
        }
    }
    if table.is_empty() {
        return Vec::new();
    }
    let notes = if notes.is_empty() { Vec::new() } else { vec![text("Notes:"), Block::List(notes)] };
    [vec![table_of(&["value", "where", "what was computed", "printed", "computed"], table)], notes].concat()
}

fn figure_list(paper: &str) -> Vec<Block> {
    let items = figures::items();
    let items = items
        .iter()
        .filter(|item| item.paper == paper)
        .map(|item| format!("[{0}]({paper}/{0}.svg) ([numbers]({paper}/{0}.csv)): {1}", item.name, item.about));
    below(3, "Tables and figures", list(items))
}

/// An enclosure in words, short enough for a line.
fn shown(value: &Enclosure) -> String {
    value.to_string()
}

/// The rows of the pipeline: a label, and its value.
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
        push("nodes of the contour", part.contour.proof.count("evaluated_nodes").unwrap_or_default().to_string());
    }
    rows.push(["delta by the rule, both terms".to_string(), shown(&pipeline.delta)]);
    rows.push(["delta by the contour".to_string(), pipeline.contour_delta.value.shown(24)]);
    rows
}

fn pipeline_text(pipeline: &Pipeline) -> Vec<Block> {
    let about = format!(
        "At epsilon = {} with {} nodes for the first term and {} for the second (the paper: 10000001). The characteristic function is that of the discrete\n\
         Gaussians themselves, (A.3), so the paper's E0 for replacing masses by densities does not arise. The second term,\n\
         which the paper leaves out as beyond double precision, needs more bits and nothing else; its upper end is chosen\n\
         shorter, and so is its reach, where the sieve of D.3 ends: E3 grows with the seventh power of both.",
        rational::display(&pipeline.epsilon),
        pipeline.panels + 1,
        pipeline.second_panels + 1,
    );
    let rows = table_of(&["what", "value"], pipeline_rows(pipeline));
    below(3, "The pipeline of Section A.6", vec![text(about), rows])
}
