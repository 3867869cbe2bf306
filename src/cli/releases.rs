//! `assay releases`: the bundled releases.

use anyhow::Result;
use dp_assay::{numeric::Enclosure, release::Release};
use serde_json::json;

use super::{
    Exit,
    output::{self, exact},
};

/// The bundled releases
#[derive(clap::Args)]
pub struct Args {
    /// One JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<Exit> {
    let releases = Release::bundled()?;
    if args.json {
        let list: Vec<_> = (releases.iter())
            .map(|release| {
                let levels: Vec<_> = (release.levels.iter())
                    .map(|level| json!({ "name": level.name, "rho": exact(&level.rho), "rho_exact": level.rho.to_string() }))
                    .collect();
                json!({
                    "name": release.name,
                    "title": release.title,
                    "source": release.source,
                    "neighbors": release.neighbors.name(),
                    "rho": exact(&release.rho),
                    "rho_exact": release.rho.to_string(),
                    "levels": levels,
                })
            })
            .collect();
        output::json(&json!({ "releases": list }))?;
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> = (releases.iter())
        .map(|release| {
            vec![
                release.name.clone(),
                Enclosure::rational(&release.rho, 64).shown(8),
                release.neighbors.name().to_string(),
                release.levels.len().to_string(),
                release.title.clone(),
            ]
        })
        .collect();
    output::table(&["name", "rho", "neighbors", "levels", "title"], &rows)?;
    for release in &releases {
        let levels: Vec<&str> = release.levels.iter().map(|level| level.name.as_str()).collect();
        output::text(&format!("\n{}\n  levels: {}\n  source: {}\n", release.name, levels.join(", "), release.source))?;
    }
    Ok(Exit::Done)
}
