//! `assay figures`: published tables and figures drawn again, as CSV and SVG.

use std::{
    env,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use dp_assay::{
    Error,
    document::fields::{self, Fields, said},
    release::Release,
    replication::figures::{self, Item, Own, Sources},
};
use rug::Rational;
use serde_json::{Value, json};

use super::{
    arguments::{number, quantity},
    exit::Exit,
    page::{FormArgs, Page},
    progress,
};

/// Draw published tables and figures again: CSV and SVG
///
/// Lists the files written. Without arguments, draws everything and prints a summary.
///
/// A figure that is named is drawn for your own release and parameters if they are given; --list has the parameters of each.
#[derive(clap::Args)]
pub struct Args {
    /// Papers or figures, as su-su-wang-2025 or su-su-wang-2025/figure-2; all if none is named
    #[arg(value_name = "PAPER[/FIGURE]")]
    names: Vec<String>,
    /// Output folder [default: results]; required when you set parameters
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The folder of public data that is not bundled [default: $ASSAY_FACTS]. Figures that need it are skipped without it
    #[arg(long, value_name = "DIR")]
    facts: Option<PathBuf>,
    /// List the figures and write nothing
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    own: OwnArgs,
    #[command(flatten)]
    form: FormArgs,
}

/// The parameters of a figure, in place of the paper's own.
#[derive(clap::Args)]
#[command(next_help_heading = "A figure of your own")]
struct OwnArgs {
    /// A bundled release or a TOML file of the same form
    #[arg(long, value_name = "NAME|FILE")]
    release: Option<String>,
    /// Only this geolevel of it (repeatable)
    #[arg(long, value_name = "NAME")]
    level: Vec<String>,
    /// The delta of epsilons, or at which noise is matched (repeatable)
    #[arg(long, value_name = "DELTA", allow_hyphen_values = true)]
    delta: Vec<String>,
    /// The rho of each level, lowest first (repeatable, or separated by commas)
    #[arg(long, value_name = "RHO", value_delimiter = ',', allow_hyphen_values = true)]
    rho: Vec<String>,
    /// The prior probability of the adversary (repeatable)
    #[arg(long, value_name = "P", value_delimiter = ',', allow_hyphen_values = true)]
    prior: Vec<String>,
    /// The number of other groups besides the target's
    #[arg(long, value_name = "D")]
    others: Option<u64>,
    /// The true or assumed count of the higher level (repeatable)
    #[arg(long, value_name = "X2", value_delimiter = ',')]
    upper: Vec<i64>,
    /// The target margin of error of a cell, at 95 % (repeatable)
    #[arg(long, value_name = "M", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    margin: Vec<u32>,
    /// The variance proxy of the noise (repeatable); for figures 6 and 8 the present one, and that of less noise
    #[arg(long, value_name = "SIGMA2", value_delimiter = ',', allow_hyphen_values = true)]
    sigma2: Vec<String>,
    /// The number of counts (repeatable); of blocks for spines-2024/figure-2
    #[arg(long, value_name = "N", value_delimiter = ',')]
    copies: Vec<u64>,
    /// The first value of the horizontal axis
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    from: Option<String>,
    /// The last value of the horizontal axis
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    to: Option<String>,
    /// The number of points of a curve
    #[arg(long, value_name = "N")]
    points: Option<u32>,
    /// A CSV file of counts: a column GEOID, the 15 digits of a block, and columns of whole numbers; for spines, blocks with
    /// their entities as `assay spine --blocks` reads them
    #[arg(long, value_name = "FILE.csv")]
    counts: Option<PathBuf>,
    /// The columns to draw [default: those of the paper, pop and so on]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', requires = "counts")]
    columns: Vec<String>,
}

impl OwnArgs {
    fn read(&self) -> Result<Own> {
        let numbers = |name: &str, texts: &[String]| {
            texts.iter().map(|text| number(name, text)).collect::<Result<Vec<Rational>>>()
        };
        let end = |name: &str, text: &Option<String>| text.as_ref().map(|text| number(name, text)).transpose();
        Ok(Own {
            release: self.release.as_ref().map(|name| Release::find(name).context("--release")).transpose()?,
            levels: self.level.clone(),
            deltas: self.delta.iter().map(|text| quantity("--delta", text)).collect::<Result<_>>()?,
            rhos: numbers("--rho", &self.rho)?,
            priors: numbers("--prior", &self.prior)?,
            others: self.others,
            uppers: self.upper.clone(),
            margins: self.margin.clone(),
            sigma2: numbers("--sigma2", &self.sigma2)?,
            copies: self.copies.clone(),
            from: end("--from", &self.from)?,
            to: end("--to", &self.to)?,
            points: self.points,
            counts: self.counts.clone(),
            columns: self.columns.clone(),
        })
    }
}

pub fn run(args: &Args) -> Result<Exit> {
    let items = figures::find(&args.names)?;
    if args.list {
        return list(args, &items);
    }
    let own = args.own.read()?;
    let is_own = !own.given().is_empty();
    if is_own && !args.names.iter().any(|name| name.contains('/')) {
        bail!("name the figure to draw for your own parameters, as su-su-wang-2025/figure-7; --list has all");
    }
    if is_own && args.out.is_none() {
        bail!("--out: name a folder for a figure of your own, so that the paper's in results stays");
    }
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from("results"));
    let rows = draw(args, &items, own, &out)?;
    let objects = rows.iter().map(|(name, item, outcome)| match outcome {
        Outcome::Written(files, about) => json!({ "name": name, "about": about, "files": files }),
        Outcome::NeedsData(needed) => json!({ "name": name, "about": item.about, "needs_data": needed }),
    });
    let mut page = args.form.page();
    page.object(json!({ "figures": objects.collect::<Value>() }));
    if args.names.is_empty() {
        put_summary(&mut page, &out, &rows);
    } else {
        let cells = rows.into_iter().map(|(name, _, outcome)| match outcome {
            Outcome::Written([csv, _], about) => vec![name, csv, about],
            Outcome::NeedsData(needed) => vec![name, "needs-data".to_string(), needed],
        });
        page.columns(&["name", "CSV, with an SVG beside it", "what it shows"], cells);
    }
    page.done()
}

/// Draws figures into a folder, with their tables.
fn draw<'a>(args: &Args, items: &'a [Item], own: Own, out: &Path) -> Result<Vec<(String, &'a Item, Outcome)>> {
    let is_own = !own.given().is_empty();
    let facts =
        args.facts.clone().or_else(|| env::var_os("ASSAY_FACTS").filter(|path| !path.is_empty()).map(Into::into));
    let sources = Sources { facts, own };
    progress::stage("tables and figures");
    let steps = progress::Steps::new(items.len() as u64);
    // The description: that of the paper in its words, a figure of the user's own by its title.
    let one = |item: &Item| -> dp_assay::Result<([PathBuf; 2], String)> {
        let drawing = item.draw(&sources);
        steps.step();
        let drawing = drawing?;
        let about = if is_own { drawing.figure.title.clone() } else { item.about.to_string() };
        Ok((drawing.write(&out.join(item.paper), item.name)?, about))
    };
    // One after the other, because each uses all cores, and the memory is that of one.
    let outcomes: Vec<_> = items.iter().map(one).collect();
    let mut rows = Vec::new();
    for (item, outcome) in items.iter().zip(outcomes) {
        let name = format!("{}/{}", item.paper, item.name);
        let outcome = match outcome {
            Ok((files, about)) => Outcome::Written(files.map(|file| file.display().to_string()), about),
            // Missing data are an error only for a figure that was requested by name.
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
    Ok(rows)
}

/// The outcome of a figure.
enum Outcome {
    /// The CSV and the SVG file, and a description.
    Written([String; 2], String),
    /// Nothing, because these data are missing.
    NeedsData(String),
}

/// A line for each paper, and one for each figure that could not be drawn.
fn put_summary(page: &mut Page, out: &Path, rows: &[(String, &Item, Outcome)]) {
    let cells: Vec<Vec<String>> = (rows.chunk_by(|one, next| one.1.paper == next.1.paper))
        .map(|paper| {
            let written = paper.iter().filter(|row| matches!(row.2, Outcome::Written(..))).count();
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
        "\nin {}, each as CSV with an SVG beside it; `assay figures --list` describes them\n",
        dp_assay::error::shown(out)
    ));
}

fn list(args: &Args, items: &[Item]) -> Result<Exit> {
    let takes = |item: &Item| item.takes.iter().map(|parameter| parameter.name()).collect::<Vec<_>>();
    let row = |item: &Item| {
        Fields::new()
            .shown("name", "name", format!("{}/{}", item.paper, item.name))
            .shown("about", "what it shows", item.about)
            .shown("takes", "takes", said(takes(item), takes(item).join(", ")))
    };
    let rows: Vec<Fields> = items.iter().map(row).collect();
    let mut page = args.form.page();
    page.object(json!({ "figures": rows }));
    page.push(fields::table(&rows).of_words());
    page.done()
}
