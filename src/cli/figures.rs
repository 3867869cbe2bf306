//! `assay figures`: published tables and figures drawn again, as CSV and SVG.

use std::{env, path::PathBuf};

use anyhow::Result;
use dp_assay::{
    Error,
    replication::figures::{self, Item, Sources},
};
use rayon::prelude::*;
use serde_json::{Value, json};

use super::{
    Exit,
    page::{FormArgs, Page},
    progress,
};

/// Draw published tables and figures again: CSV and SVG
///
/// What was written is listed for the papers and figures named; if none is named, all are drawn and summarized.
#[derive(clap::Args)]
pub struct Args {
    /// Papers or figures, as su-su-wang-2025 or su-su-wang-2025/figure-2; all if none is named
    #[arg(value_name = "PAPER[/FIGURE]")]
    names: Vec<String>,
    /// The folder to write below
    #[arg(long, value_name = "DIR", default_value = "results")]
    out: PathBuf,
    /// The folder of public data that is not bundled; else $ASSAY_FACTS. Figures that need it are skipped without it
    #[arg(long, value_name = "DIR")]
    facts: Option<PathBuf>,
    /// List the figures and write nothing
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    form: FormArgs,
}

pub fn run(args: &Args) -> Result<Exit> {
    let items = figures::find(&args.names)?;
    if args.list {
        return list(args, &items);
    }
    let facts =
        args.facts.clone().or_else(|| env::var_os("ASSAY_FACTS").filter(|path| !path.is_empty()).map(Into::into));
    let sources = Sources { facts };
    progress::stage("drawing");
    let steps = progress::Steps::new(items.len() as u64);
    let draw = |item: &Item| {
        let files = item.write(&sources, &args.out);
        steps.step();
        files
    };
    let outcomes: Vec<_> = items.par_iter().map(draw).collect();
    let mut rows = Vec::new();
    for (item, outcome) in items.iter().zip(outcomes) {
        let name = format!("{}/{}", item.paper, item.name);
        let outcome = match outcome {
            Ok(files) => Outcome::Written(files.map(|file| file.display().to_string())),
            // Missing data is an error only for a figure that was asked for by name.
            Err(Error::NeedsData { what, needed }) => {
                let needed = format!("{needed}: name their folder by --facts or ASSAY_FACTS");
                if args.names.contains(&name) {
                    return Err(Error::NeedsData { what, needed }.into());
                }
                Outcome::NeedsData(needed)
            }
            Err(error) => return Err(error.into()),
        };
        rows.push((name, item, outcome));
    }
    let objects = rows.iter().map(|(name, item, outcome)| match outcome {
        Outcome::Written(files) => json!({ "name": name, "about": item.about, "files": files }),
        Outcome::NeedsData(needed) => json!({ "name": name, "about": item.about, "needs_data": needed }),
    });
    let mut page = args.form.page();
    page.object(json!({ "figures": objects.collect::<Value>() }));
    if args.names.is_empty() {
        put_summary(&mut page, args, &rows);
    } else {
        let cells = rows.into_iter().map(|(name, item, outcome)| match outcome {
            Outcome::Written([csv, _]) => vec![name, csv, item.about.to_string()],
            Outcome::NeedsData(needed) => vec![name, "needs-data".to_string(), needed],
        });
        page.columns(&["name", "written (an SVG beside it)", "what it shows"], cells.collect());
    }
    page.print()?;
    Ok(Exit::Done)
}

/// What became of a figure.
enum Outcome {
    /// The CSV and the SVG file.
    Written([String; 2]),
    /// Nothing, because these data are missing.
    NeedsData(String),
}

/// A line for each paper, and one for each figure that could not be drawn.
fn put_summary(page: &mut Page, args: &Args, rows: &[(String, &Item, Outcome)]) {
    let cells: Vec<Vec<String>> = (rows.chunk_by(|one, next| one.1.paper == next.1.paper))
        .map(|paper| {
            let written = paper.iter().filter(|row| matches!(row.2, Outcome::Written(_))).count();
            vec![paper[0].1.paper.to_string(), written.to_string(), (paper.len() - written).to_string()]
        })
        .collect();
    page.table(&["paper", "drawn", "need data"], cells);
    for (name, _, outcome) in rows {
        if let Outcome::NeedsData(needed) = outcome {
            page.text(format!("\n{name} needs {needed}\n"));
        }
    }
    page.text(format!(
        "\nin {}, each as CSV with an SVG beside it; `assay figures --list` says what they show\n",
        args.out.display()
    ));
}

fn list(args: &Args, items: &[Item]) -> Result<Exit> {
    let list: Value =
        items.iter().map(|i| json!({ "name": format!("{}/{}", i.paper, i.name), "about": i.about })).collect();
    let rows = items.iter().map(|item| vec![format!("{}/{}", item.paper, item.name), item.about.to_string()]);
    let mut page = args.form.page();
    page.object(json!({ "figures": list }));
    page.columns(&["name", "what it shows"], rows.collect());
    page.print()?;
    Ok(Exit::Done)
}
