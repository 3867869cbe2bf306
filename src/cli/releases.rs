//! `assay releases`: the bundled releases, and files to start one's own from.

use anyhow::{Context, Result};
use dp_assay::{document::fields::Fields, numeric::Enclosure, release::Release};
use serde_json::{Value, json};

use super::{
    exit::Exit,
    output::{self, exact},
    page::FormArgs,
};

/// The bundled releases, or a file to start your own from
#[derive(clap::Args)]
pub struct Args {
    /// Print a bundled release as its TOML file, with all comments
    #[arg(long, value_name = "NAME", conflicts_with_all = ["new", "json", "format"])]
    show: Option<String>,
    /// Print a commented file to start a release of your own from
    #[arg(long, conflicts_with_all = ["json", "format"])]
    new: bool,
    #[command(flatten)]
    form: FormArgs,
}

pub fn run(args: &Args) -> Result<Exit> {
    if args.new {
        output::text(Release::template())?;
        return Ok(Exit::Done);
    }
    if let Some(name) = &args.show {
        let text = Release::text(name).context("--show")?;
        // A file of the user's own is shown only if it is a release.
        Release::parse(&text, name).context("--show")?;
        output::text(&text)?;
        return Ok(Exit::Done);
    }
    let releases = Release::bundled()?;
    let mut page = args.form.page();
    page.object(json!({ "releases": releases.iter().map(object).collect::<Vec<_>>() }));
    let row = |release: &Release| {
        Fields::from(object(release))
            .cell("name", &release.name)
            .cell("rho", Enclosure::rational(&release.rho, 64).shown(8))
            .cell("neighbors", release.neighbors.name())
            .shown("levels", "levels", release.levels.len())
            .cell("title", &release.title)
            .with("published", release.published.len())
    };
    page.rows(&releases.iter().map(row).collect::<Vec<_>>());
    for release in &releases {
        let levels: Vec<&str> = release.levels.iter().map(|level| level.name.as_str()).collect();
        let about = format!("\n{}\n  levels: {}\n  source: {}\n", release.name, levels.join(", "), release.source);
        page.text(about);
    }
    page.done()
}

fn object(release: &Release) -> Value {
    let levels: Vec<_> = (release.levels.iter())
        .map(|level| json!({ "name": level.name, "rho": exact(&level.rho), "rho_exact": level.rho.to_string() }))
        .collect();
    let published: Vec<_> = (release.published.iter())
        .map(|published| {
            let figure = &published.figure;
            json!({
                "epsilon": figure.printed,
                "delta": figure.delta.as_ref().map(|delta| exact(delta)),
                "by": figure.by.key(),
                "levels": published.levels,
                "source": figure.source,
            })
        })
        .collect();
    json!({
        "name": release.name,
        "title": release.title,
        "source": release.source,
        "neighbors": release.neighbors.name(),
        "rho": exact(&release.rho),
        "rho_exact": release.rho.to_string(),
        "levels": levels,
        "published": published,
    })
}
