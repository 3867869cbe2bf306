//! `--csv` and `--svg`: the same answer as rows and as a drawing.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use dp_assay::chart::Figure;

use super::{invocation, page::Page, subject::Format};

/// How an answer that can be drawn is written besides.
#[derive(clap::Args)]
pub struct Drawn {
    /// Comma-separated values, as --format csv
    #[arg(long, conflicts_with_all = ["json", "format"])]
    pub csv: bool,
    /// Also draw the answer as SVG
    #[arg(long, value_name = "FILE.svg")]
    pub svg: Option<PathBuf>,
}

impl Drawn {
    /// An empty page of the form that was asked for.
    pub fn page(&self, format: &Format) -> Page {
        format.page_or_csv(self.csv)
    }

    /// The first option that asks for a series, where one does.
    pub fn flag(&self) -> Option<&'static str> {
        if self.csv { Some("--csv") } else { self.svg.as_ref().map(|_| "--svg") }
    }

    /// Draws and writes the figure with its provenance beside it, where one was asked for.
    pub fn write(&self, figure: impl FnOnce() -> Figure) -> Result<()> {
        self.svg.as_ref().map_or(Ok(()), |path| write(path, &figure()))
    }
}

/// Writes what `--svg` asks for, with its provenance beside it.
pub fn write(path: &Path, figure: &Figure) -> Result<()> {
    figure.write_svg(path).context("--svg")?;
    invocation::provenance()?.write_beside(path).context("--svg")
}
