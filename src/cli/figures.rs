//! `assay figures`: published tables and figures drawn again, as CSV and SVG.

use std::{env, path::PathBuf};

use anyhow::Result;
use dp_assay::{
    Error,
    evidence::figures::{self, Item, Sources},
};
use rayon::prelude::*;
use serde_json::{Value, json};

use super::{Answer, output};

/// Draw published tables and figures again: CSV and SVG
#[derive(clap::Args)]
pub struct Args {
    /// Papers or figures, as su-su-wang-2025 or su-su-wang-2025/figure-2; all where none is named
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
    /// One JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<Answer> {
    let items = figures::find(&args.names)?;
    if args.list {
        return list(args, &items);
    }
    let facts =
        args.facts.clone().or_else(|| env::var_os("ASSAY_FACTS").filter(|path| !path.is_empty()).map(Into::into));
    let sources = Sources { facts };
    let outcomes: Vec<_> = items.par_iter().map(|item| item.write(&sources, &args.out)).collect();
    let mut rows = Vec::new();
    let mut objects: Vec<Value> = Vec::new();
    for (item, outcome) in items.iter().zip(outcomes) {
        let name = format!("{}/{}", item.paper, item.name);
        match outcome {
            Ok(files) => {
                let files = files.map(|file| file.display().to_string());
                objects.push(json!({ "name": name, "about": item.about, "files": files }));
                rows.push(vec![name, files[0].clone(), item.about.to_string()]);
            }
            // Data that is missing is an error only for what was asked by name.
            Err(Error::NeedsData { needed, .. }) if !args.names.contains(&name) => {
                objects.push(json!({ "name": name, "about": item.about, "needs_data": needed }));
                rows.push(vec![name, "needs-data".to_string(), needed]);
            }
            Err(error) => return Err(error.into()),
        }
    }
    if args.json {
        output::json(&json!({ "figures": objects }))?;
    } else {
        output::columns(&["name", "written (an SVG beside it)", "what it shows"], &rows)?;
    }
    Ok(Answer::Done)
}

fn list(args: &Args, items: &[Item]) -> Result<Answer> {
    if args.json {
        let list: Value =
            items.iter().map(|i| json!({ "name": format!("{}/{}", i.paper, i.name), "about": i.about })).collect();
        output::json(&json!({ "figures": list }))?;
    } else {
        let rows: Vec<Vec<String>> =
            items.iter().map(|item| vec![format!("{}/{}", item.paper, item.name), item.about.to_string()]).collect();
        output::columns(&["name", "what it shows"], &rows)?;
    }
    Ok(Answer::Done)
}
