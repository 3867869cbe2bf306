//! `assay deployments`: published privacy parameters of real deployments, judged, and entries of the public registry.

mod document;
mod found;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::ValueEnum;
use dp_assay::{
    account::Delta,
    chart::Drawing,
    deployments::{self, Snapshot, View, bundled, figure, judge, origin, registry},
    provenance::{Content, Input, sha256_of_text},
};

use self::found::{Found, object};
use super::{
    arguments::quantity,
    exit::Exit,
    invocation, output,
    page::{FormOrFiles, Page},
    progress,
};

/// Published privacy parameters of real deployments, judged: what was printed, what follows, and all on one scale
///
/// Each deployment has its printed figures, the same figures recomputed from the other printed facts, and its place on one scale: epsilon at
/// the same delta, and how often of a hundred decisions an adversary with prior 1/2 is right at most. Verdicts: agrees, differs,
/// contradicts-itself, entry-contradicts-itself, disproved, not-enough-said. Each says who printed the figures: the curator, a paper, or an
/// entry of the registry, which its own authors draft.
///
/// --from judges entries of the public Deployments Registry from their YAML: every parameter is compared with the figures of the texts, and
/// every printed total, calculation and conversion is recomputed. What the registry's schema does not allow is refused with its line.
///
/// Exit status 1 if a printed figure is disproved or contradicts another one of its source.
#[derive(clap::Args)]
pub struct Args {
    /// Deployments to show figure by figure; if none is named, all in a table
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// An entry of the Deployments Registry, or a folder of entries, in place of the bundled deployments
    #[arg(long = "from", value_name = "DIR|FILE.yaml", conflicts_with = "names")]
    entries: Option<PathBuf>,
    /// The delta of the common scale, 0 < delta < 1
    #[arg(long, value_name = "DELTA", default_value = "1e-5", allow_hyphen_values = true)]
    delta: String,
    /// Write deployments.html, deployments.csv and deployments.svg into this folder as well
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Without the commit of the program: the same inputs give the same bytes
    #[arg(long, requires = "out")]
    reproducible: bool,
    /// One JSON object, as --format json
    #[arg(long)]
    json: bool,
    /// The form of the answer [default: table]; or html, a page with all figures and a chart
    #[arg(long, value_name = "table|csv|json|md|latex|html", value_parser = FormOrFiles::<Document>::parse)]
    format: Option<FormOrFiles<Document>>,
}

/// The form of the answer that is a page of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Document {
    /// A page of HTML that loads nothing
    Html,
}

/// The digits of exact epsilons.
const DIGITS: u32 = 8;

pub fn run(args: &Args) -> Result<Exit> {
    let found = find(args)?;
    let document = FormOrFiles::files(args.format.as_ref());
    let mut page = Page::new(FormOrFiles::form(args.format.as_ref(), args.json, false)?).with_digits(DIGITS);
    if let Some(folder) = &args.out {
        write(&found, folder, args.reproducible)?;
    }
    match document {
        Some(Document::Html) => output::text(&document::page(&found, false)?)?,
        None => {
            page.object(found.object());
            page.records(found.views.iter().map(object));
            page.provenance(found.provenance.clone());
            let is_one = found.views.len() == 1 || !args.names.is_empty();
            if is_one {
                found.put_each(&mut page)
            } else {
                found.put_table(&mut page)
            }
            page.print()?;
        }
    }
    let is_wrong = found.views.iter().any(|view| view.verdict.is_wrong());
    Ok(if is_wrong { Exit::No } else { Exit::Done })
}

fn find(args: &Args) -> Result<Found> {
    let delta: Delta = quantity("--delta", &args.delta)?;
    let mut provenance = invocation::provenance()?;
    let views = match &args.entries {
        Some(path) => {
            progress::stage("entries of the registry");
            let judged = registry::judge_all(path, &delta, DIGITS).context("--from")?;
            judged.iter().map(View::from).collect()
        }
        None => {
            progress::stage("deployments");
            let named = deployments::find(&args.names)?;
            let files = bundled::FILES.iter().chain([&origin::SNAPSHOT_FILE]);
            provenance.inputs.extend(files.map(|(name, text)| Input {
                name: (*name).to_string(),
                content: Content::Sha256(sha256_of_text(text)),
            }));
            judge::judge_all(named, &delta, DIGITS)?.iter().map(View::from).collect()
        }
    };
    Ok(Found { views, delta, provenance, is_of_registry: args.entries.is_some(), snapshot: Snapshot::bundled()? })
}

/// Writes the page, the numbers and the chart.
fn write(found: &Found, folder: &Path, is_reproducible: bool) -> Result<()> {
    let html = document::page(found, is_reproducible)?;
    let drawing = Drawing { figure: found.chart(), sheet: figure::sheet(&found.rows()) };
    dp_assay::chart::write_page(&folder.join("deployments.html"), &html).context("--out")?;
    drawing.write(folder, "deployments").context("--out")?;
    Ok(())
}
