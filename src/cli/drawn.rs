//! `--csv` and `--svg`: the same answer as rows and as a drawing, in files if they are wanted beside the answer.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use dp_assay::chart::Figure;

use super::{invocation, page::Page, subject::Format};

/// How an answer that can be drawn is written besides.
#[derive(clap::Args)]
pub struct Drawn {
    /// Comma-separated values, as --format csv; with a file, what is drawn by --svg is written there beside the answer
    #[arg(long, value_name = "FILE.csv", num_args = 0..=1)]
    pub csv: Option<Option<PathBuf>>,
    /// Also draw the answer as SVG
    #[arg(long, value_name = "FILE.svg")]
    pub svg: Option<PathBuf>,
}

impl Drawn {
    /// An empty page of the form that was asked for. Where a file is, its records are written there when it is printed.
    pub fn page(&self, format: &Format) -> Result<Page> {
        match &self.csv {
            None => Ok(format.page()),
            Some(Some(path)) => Ok(format.page().with_file(path)),
            Some(None) if format.is_given() => {
                bail!("--csv without a file beside --json or --format: one of them says how the answer is written")
            }
            Some(None) => Ok(format.page_or_csv(true)),
        }
    }

    /// Whether the points of curves are wanted, which are not computed otherwise.
    pub fn wants_points(&self) -> bool {
        self.svg.is_some() || matches!(self.csv, Some(Some(_)))
    }

    /// The first option that asks for a series, where one does.
    pub fn flag(&self) -> Option<&'static str> {
        if self.csv.is_some() { Some("--csv") } else { self.svg.as_ref().map(|_| "--svg") }
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
