//! `assay verify`: every published value recomputed, a row each.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use dp_assay::{
    document::fields::Fields,
    numeric::parallel,
    numeric::rational::parse,
    provenance::{self, Content, Input, Provenance},
    release::Release,
    replication::{
        faults::Fault,
        pipeline::{self, Pipeline, RuleOptions},
        published::{self, Paper},
        report::{self, Run, Section},
        verdict::{Bounded, Computed, Verdict},
        verify::{self, Row},
    },
};
use serde_json::{Value, json};

use super::{
    arguments::first_given,
    certificates,
    exit::Exit,
    invocation, output,
    page::{FormArgs, Page, csv_text},
    progress,
};

/// Recompute every published value: agrees, differs, disproved, ...
///
/// A row for each value of the papers and files named; if none is named, all papers are recomputed and summarized, a line for each.
/// Exit status 1 if a value differs, is disproved or undecided without a recorded erratum.
///
/// A file has published values of your own, a TOML table `[[value]]` each: id, place, printed (the text as printed), unit and
/// compute, as { kind = "epsilon", release = "NAME or FILE", level = "NAME", delta = 1e-10 } or { kind = "delta", discrete-gaussian =
/// "5x10@1", epsilon = 10 }. --new writes one to start from. A CSV file has a row for each value, and the same fields as columns.
///
/// Printed forms: 10.13, 1.2e-7, 1.2 x 10^-7, 14.2 %, 104/4099, < 5, <= 5, > 5, >= 5, about 4, ~4, 3.8-4.0, 3.9 +- 0.1,
/// 3.59 (truncated), 2.18 (rounded up), true, not printed; 3,90 if the file says decimal = "comma".
///
/// Verdicts: agrees, agrees-as-read, holds-to-digits, misprint, hypothesis-missing, not-of-the-stated-model, differs, disproved,
/// undecided, needs-data, circular, not-printed. Values that show the same fault name it, and it is counted once.
///
/// Kinds: epsilon, delta, tradeoff, rho, zcdp-epsilon, zcdp-delta, optimal-order-epsilon, renyi-epsilon, gdp-epsilon, gdp-delta,
/// pure-epsilon, sigma2, epsilon-reduction, below-zcdp, matched-sigma2, noise-reduction, overall-reduction,
/// overall-reduction-one-term, correct-decision, advantage, posterior, formula, risk, paths, variance-deficit. And the methods of the
/// papers, whose rows can be run again with other inputs: safetab, spine, own.
///
/// Units: nats, rho, probability, percent, sigma2, ratio (rounded to the printed digits), sum (exact), bound, least, least-percent,
/// rounded-up, rounded-up-at-digit, truncated, about, claim. The guide, docs/guide/published-values.md, explains each of them.
#[derive(clap::Args)]
pub struct Args {
    /// The papers, or files of the same form, to show value by value; a summary of all papers if none is named
    #[arg(value_name = "PAPER|FILE.toml|FILE.csv")]
    papers: Vec<String>,
    /// Write a commented file of published values to start your own from; an existing file is not overwritten
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["papers", "full", "nodes", "state", "out", "reproducible", "certificates", "json", "format"]
    )]
    new: Option<PathBuf>,
    /// Run the papers' own methods at their full size: for su-su-wang-2025 Boole's rule on 10^7 + 1 nodes
    #[arg(long)]
    full: bool,
    /// The nodes of that rule instead: one more than a multiple of four
    #[arg(long, value_name = "N", conflicts_with = "full")]
    nodes: Option<u64>,
    /// A folder for finished work, so that an interrupted run continues where it stopped; with --full the default is
    /// assay-state
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// Write REPORT.md, REPORT.csv and REPORT.json into this folder as well: the verdicts, the computations, and the command,
    /// version, commit, date and SHA-256 of all inputs
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// REPORT.md alone, without commit and date: the same inputs give the same bytes
    #[arg(long, requires = "out")]
    reproducible: bool,
    /// The certificates of a folder instead: the seal of each, and both ends of its claim by this program's own enclosures
    #[arg(long, value_name = "DIR", conflicts_with_all = ["papers", "full", "nodes", "state", "out", "reproducible"])]
    certificates: Option<PathBuf>,
    #[command(flatten)]
    form: FormArgs,
}

/// The paper that has a method of its own, and the id of the epsilon at which that is run.
const OWN_METHOD: (&str, &str) = ("su-su-wang-2025", "section-a.6-bureau-total");

pub fn run(args: &Args) -> Result<Exit> {
    if let Some(folder) = &args.certificates {
        return certificates::verify(folder, args.form.page());
    }
    if let Some(file) = &args.new {
        published::write_template(file).context("--new")?;
        let file = dp_assay::error::shown(file);
        output::text(&format!("{file}: published values to start from; `assay verify {file}` recomputes them\n"))?;
        return Ok(Exit::Done);
    }
    let papers = published::papers(&args.papers)?;
    check_own_method(args, &papers)?;
    let options = options(args)?;
    if let Some(folder) = &args.out {
        std::fs::create_dir_all(folder).with_context(|| format!("--out {}", dp_assay::error::shown(folder)))?;
    }
    let mut sections: Vec<Section> = Vec::new();
    let values = papers.iter().map(|paper| paper.values.len() as u64).sum();
    progress::stage("published values");
    let steps = progress::Steps::new(values);
    let verified = parallel::map(&papers, |paper| verify::verify_with(paper, &|| steps.step()));
    progress::stage("the papers' own methods, nodes");
    for (paper, rows) in papers.iter().zip(verified) {
        let rows = rows?;
        let own = match paper.values.iter().find(|value| value.id == OWN_METHOD.1) {
            Some(value) if paper.is_bundled && paper.paper == OWN_METHOD.0 => {
                let release = Release::find(&paper.paper)?;
                Some(pipeline::run(&release, &parse(&value.printed)?, &options, &progress::at)?)
            }
            _ => None,
        };
        sections.push(Section { paper, rows, pipeline: own });
    }
    let mut page = args.form.page();
    let provenance = provenance_of(&papers)?;
    page.provenance(provenance.clone());
    let object = json!({
        "papers": sections.iter().map(section_json).collect::<Value>(),
        "distinct_faults": report::faults(&sections).len(),
    });
    page.object(object.clone());
    if args.papers.is_empty() {
        put_summary(&mut page, &sections);
    } else {
        page.records(sections.iter().flat_map(records));
        sections.iter().for_each(|section| put(&mut page, section));
    }
    page.print()?;
    if let Some(folder) = &args.out {
        write(args, folder, &sections, &object, &provenance)?;
    }
    let unexplained = sections.iter().flat_map(|section| &section.rows).any(Row::is_unexplained);
    Ok(if unexplained { Exit::No } else { Exit::Done })
}

/// An error if an option of the papers' own methods is given, and no paper has one.
fn check_own_method(args: &Args, papers: &[Paper]) -> Result<()> {
    let (paper, _) = OWN_METHOD;
    let given = [("--full", args.full), ("--nodes", args.nodes.is_some()), ("--state", args.state.is_some())];
    match first_given(given) {
        Some(option) if !papers.iter().any(|known| known.is_bundled && known.paper == paper) => {
            bail!("{option}: only the bundled paper {paper} has a method of its own: name it, or leave the option out")
        }
        _ => Ok(()),
    }
}

fn options(args: &Args) -> Result<RuleOptions> {
    let (panels, second_panels) = match args.nodes {
        Some(nodes) if nodes >= 5 && nodes % 4 == 1 => (nodes - 1, nodes - 1),
        Some(nodes) => bail!("--nodes {nodes}: Boole's rule needs one node more than a multiple of four, as 1000001"),
        None if args.full => (pipeline::PAPER_PANELS, pipeline::PAPER_PANELS),
        None => (pipeline::PANELS, pipeline::SECOND_PANELS),
    };
    let state = args.state.clone().or_else(|| args.full.then(|| PathBuf::from("assay-state")));
    if let Some(folder) = &state {
        std::fs::create_dir_all(folder).with_context(|| format!("--state {}", dp_assay::error::shown(folder)))?;
    }
    Ok(RuleOptions { panels, second_panels, state })
}

/// Writes the report and, unless it has to be reproducible, all rows as CSV and JSON.
fn write(args: &Args, folder: &Path, sections: &[Section], object: &Value, provenance: &Provenance) -> Result<()> {
    let run = Run { provenance, is_reproducible: args.reproducible };
    let markdown = report::markdown(sections, run);
    if args.reproducible {
        return Ok(report::write(folder, &[("REPORT.md", &markdown)])?);
    }
    let csv = csv_text(&sections.iter().flat_map(records).collect::<Vec<_>>());
    let json = format!("{:#}\n", output::with_provenance(object, provenance));
    report::write(folder, &[("REPORT.md", &markdown), ("REPORT.csv", &csv), ("REPORT.json", &json)])?;
    Ok(provenance.write_beside(&folder.join("REPORT.csv"))?)
}

/// The command, the time, and the inputs: the files of published values and the releases that they name, bundled or not.
fn provenance_of(papers: &[Paper]) -> Result<Provenance> {
    let mut provenance = invocation::provenance()?;
    provenance.date = Some(provenance::now());
    for paper in papers {
        let own = match published::bundled_text(&paper.paper).filter(|_| paper.is_bundled) {
            Some(text) => Input {
                name: format!("data/published/{}.toml", paper.paper),
                content: Content::Sha256(provenance::sha256_of_text(text)),
            },
            None => invocation::public_input(&paper.file)?,
        };
        let releases = paper.releases.iter().map(|name| invocation::public_input(name));
        for input in std::iter::once(Ok(own)).chain(releases) {
            let input = input?;
            if !provenance.inputs.iter().any(|known| known.name == input.name) {
                provenance.inputs.push(input);
            }
        }
    }
    Ok(provenance)
}

fn section_json(section: &Section) -> Value {
    let summary = verify::tally(&section.rows).into_iter();
    let printed = verify::printed(&section.rows);
    json!({
        "paper": section.paper.paper,
        "title": section.paper.title,
        "rows": section.rows.iter().map(|row| row_json(&section.paper.paper, row)).collect::<Value>(),
        "pipeline": section.pipeline.as_ref().map(pipeline_json),
        "values": printed,
        "summary": summary.map(|(verdict, count)| (verdict.word().to_string(), json!(count))).collect::<Value>(),
        "faults": report::faults(std::slice::from_ref(section)).iter().map(fault_json).collect::<Value>(),
    })
}

fn fault_json(fault: &Fault) -> Value {
    json!({ "fault": fault.key, "verdict": fault.verdict.word(), "values": fault.values })
}

fn pipeline_json(own: &Pipeline) -> Value {
    let part = |part: &pipeline::TailByRule| {
        json!({
            "first": part.range.0,
            "last": part.range.1,
            "sum": part.sum.to_json(),
            "e1": output::json_number(&output::bound(&part.budget.beyond)),
            "e2": output::json_number(&output::bound(&part.budget.truncation)),
            "e3": output::json_number(&output::bound(&part.budget.discretisation)),
            "value": part.value.to_json(),
            "contour": part.contour.value.to_json(),
            "contour_nodes": part.contour.proof.count("evaluated_nodes"),
        })
    };
    json!({
        "epsilon": output::exact(&own.epsilon),
        "nodes": own.panels + 1,
        "second_term_nodes": own.second_panels + 1,
        "first_term": part(&own.first),
        "second_term": part(&own.second),
        "delta": own.delta.to_json(),
        "contour_delta": own.contour_delta.value.to_json(),
    })
}

fn put_pipeline(page: &mut Page, own: &Pipeline) {
    let (epsilon, nodes) = (output::exact_text(&own.epsilon), own.panels + 1);
    let second = own.second_panels + 1;
    page.text(format!(
        "\nSection A.6 by its own rule, at epsilon = {epsilon} with {nodes} nodes, {second} for the second term:\n\n"
    ));
    let rows: Vec<Vec<String>> = report::pipeline_rows(own).into_iter().map(Vec::from).collect();
    page.columns(&["what", "value"], rows);
    let (rule, contour) = (own.times.0.as_secs_f64(), own.times.1.as_secs_f64());
    page.text(format!("\nthe rule took {rule:.1} s for two sums, the contour {:.1} ms for all three\n", contour * 1e3));
}

/// A record for each value of a paper.
fn records(section: &Section) -> impl Iterator<Item = Value> {
    let paper = &section.paper.paper;
    section.rows.iter().map(move |row| Fields::new().with("paper", paper).and(row_json(paper, row)).object())
}

fn row_json(paper: &str, row: &Row) -> Value {
    let shown = |computed: &Computed| match computed {
        Computed::Value(value) => value.to_json(),
        Computed::Bounded(Bounded::OfAccount { value, .. }) => value.to_json(),
        Computed::Bounded(bounded) => bounded.possible().to_json(),
        Computed::Statement(_) => json!(computed.shown(1)),
        Computed::NeedsData(_) => Value::Null,
    };
    json!({
        "id": row.published.id,
        "place": row.published.place,
        "published": row.published.printed,
        "computed": shown(&row.computed),
        "verdict": row.verdict.word(),
        "unit": row.published.unit.name(),
        "computed_is": row.computed.is(),
        "difference": row.difference(),
        "compute": row.published.asked(),
        "note": row.published.remarks.note,
        "erratum": row.published.remarks.erratum,
        "fault": row.fault(paper),
        "chosen": row.published.remarks.chosen,
        "printed_by": row.printed_by.as_ref().map(shown),
        "readings": (row.published.remarks.readings.iter().zip(&row.readings))
            .map(|(reading, (value, verdict))| {
                json!({ "as": reading.words, "computed": shown(value), "verdict": verdict.word() })
            })
            .collect::<Value>(),
        "beside": (row.published.remarks.beside.iter().zip(&row.beside))
            .map(|(beside, value)| json!({ "as": beside.words, "computed": shown(value) }))
            .collect::<Value>(),
    })
}

/// The columns of the summary, each the sum of some columns of the report's. *slips* are misprints, missing hypotheses and texts about
/// figures that are not of the stated model.
const SUMMARY: [(&str, &[&str]); 10] = [
    ("paper", &["paper"]),
    ("values", &["values"]),
    ("agree", &["agree"]),
    ("as read", &["as read"]),
    ("digits", &["to digits"]),
    ("slips", &["misprints", "hypothesis missing", "not of model"]),
    ("differ", &["differ", "undecided"]),
    ("disproved", &["disproved"]),
    ("need data", &["need data"]),
    ("circular", &["circular"]),
];

/// The rows of the summary.
fn summary_rows(sections: &[Section]) -> Vec<Vec<String>> {
    let [head, rows @ ..] = &report::summary_table(sections)[..] else { return Vec::new() };
    let cell = |row: &[String], names: &[&str]| {
        let own = head.iter().zip(row).filter(|(name, _)| names.contains(&name.as_str())).map(|(_, cell)| cell);
        match (names, own.clone().next()) {
            (&["paper"], Some(name)) => name.clone(),
            _ => own.filter_map(|cell| cell.parse::<usize>().ok()).sum::<usize>().to_string(),
        }
    };
    rows.iter().map(|row| SUMMARY.iter().map(|(_, names)| cell(row, names)).collect()).collect()
}

/// A line for each paper, and every value whose difference is not explained.
fn put_summary(page: &mut Page, sections: &[Section]) {
    page.table(&SUMMARY.map(|(name, _)| name.to_string()), summary_rows(sections));
    let faults = report::faults_in_words(sections);
    if !faults.is_empty() {
        page.text(format!("\nValues and distinct faults:\n  {}\n", faults.join("\n  ")));
    }
    let not_printed = sections.iter().map(|section| section.rows.len() - verify::printed(&section.rows)).sum::<usize>();
    if not_printed > 0 {
        page.text(format!("\n{not_printed} more are computed that no document prints; they are not counted.\n"));
    }
    let unexplained: Vec<(&Section, &Row)> = (sections.iter())
        .flat_map(|section| section.rows.iter().map(move |row| (section, row)))
        .filter(|(_, row)| row.is_unexplained())
        .collect();
    for (section, row) in &unexplained {
        page.text(format!(
            "\n{}, {} ({}): printed {}, computed {}: {}, without an explanation\n",
            section.paper.paper,
            row.published.id,
            row.published.place,
            row.published.printed,
            row.computed.shown(8),
            row.verdict.word(),
        ));
    }
    if unexplained.is_empty() {
        page.text(
            "\nEvery value that differs or is disproved has its reason recorded, with the number that proves it.\n",
        );
    }
    page.text("`assay verify PAPER` shows it value by value; `--out results` writes REPORT.md.\n");
}

fn put(page: &mut Page, section: &Section) {
    page.text(format!("{}\n\n", section.paper.title));
    let rows = &section.rows;
    let cells: Vec<Vec<String>> = (rows.iter())
        .map(|row| vec![row.published.id.clone(), row.published.shown(), row.shown(), row.verdict.word().to_string()])
        .collect();
    page.table(&["value", "published", "computed", "verdict"], cells);
    for row in rows {
        let needed = match &row.computed {
            Computed::NeedsData(needed) => Some(needed.clone()),
            _ => None,
        };
        let erratum = if row.verdict == Verdict::Agrees { "erratum, although it agrees," } else { "erratum" };
        let remarks =
            [("note", &row.published.remarks.note), ("needed", &needed), (erratum, &row.published.remarks.erratum)];
        for (kind, remark) in remarks {
            if let Some(remark) = remark {
                let text = format!("\n{kind} on {} ({}): {remark}\n", row.published.id, row.published.place);
                page.text(text);
            }
        }
        let mut sentences = row.sentences();
        if !sentences.is_empty()
            && [&row.published.remarks.note, &row.published.remarks.erratum].iter().all(|text| text.is_none())
        {
            sentences[0] = format!("\non {} ({}): {}", row.published.id, row.published.place, sentences[0]);
        }
        sentences.into_iter().for_each(|sentence| page.text(format!("{sentence}\n")));
    }
    let unexplained = rows.iter().filter(|row| row.is_unexplained()).count();
    let values = verify::printed(rows);
    page.text(format!(
        "\n{values} value{}: {}; {unexplained} without an explanation\n",
        if values == 1 { "" } else { "s" },
        verify::tally_in_words(rows)
    ));
    let own = std::slice::from_ref(section);
    let faulty = rows.iter().filter(|row| row.verdict.is_fault()).count();
    if report::faults(own).len() < faulty {
        page.text(format!("Values and distinct faults: {}\n", report::faults_in_words(own).join("; ")));
    }
    if let Some(own) = &section.pipeline {
        put_pipeline(page, own);
    }
}
