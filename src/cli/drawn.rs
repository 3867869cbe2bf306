//! `--csv` and `--svg`: the same answer as rows and as a drawing, optionally in files beside the answer.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use dp_assay::chart::Figure;

use super::{
    invocation,
    page::{Form, Page},
    subject::Format,
};

/// The default number of points of a curve. Both ends are among them, and the step between is a short decimal.
const POINTS: u32 = 201;
/// A table shows one of this number of points.
const EVERY: u32 = 10;

/// The points of a curve, and those of them that a table shows.
pub struct Points {
    /// The number of computed points.
    pub count: u32,
    /// One of this number of points is shown; none if 0.
    every: u32,
    /// Whether more points are computed if all are written.
    has_more: bool,
}

impl Points {
    /// All of them, in a table as well.
    pub fn all(count: usize) -> Points {
        Points { count: count as u32, every: 1, has_more: false }
    }

    /// Puts the shown rows on a page, and says where the others are.
    pub fn put(&self, page: &mut Page, heading: &[&str], rows: impl Iterator<Item = Vec<String>>, drawn: &Drawn) {
        let name = |path: &Option<PathBuf>| path.as_ref().map_or_else(String::new, |path| path.display().to_string());
        match self.every {
            0 => page.text(format!(
                "{} points are drawn in {}; --csv FILE.csv writes their values.\n",
                self.count,
                name(&drawn.svg)
            )),
            every => {
                let rows = rows.step_by(every as usize).collect::<Vec<_>>();
                let shown = rows.len();
                page.table(heading, rows);
                match (&drawn.csv, self.has_more) {
                    (_, true) => page.text(format!(
                        "\n{shown} of {POINTS} points: --csv and --json give all, --points N gives others.\n"
                    )),
                    (Some(file), false) if every > 1 => {
                        page.text(format!("\n{shown} of {} points; {} has all.\n", self.count, name(file)));
                    }
                    _ => {}
                }
            }
        }
    }
}

/// Options for other forms of an answer that can be drawn.
#[derive(clap::Args)]
pub struct Drawn {
    /// Comma-separated values, as --format csv; with a file, the points of --svg are written to it and the answer is printed as usual
    #[arg(long, value_name = "FILE.csv", num_args = 0..=1)]
    pub csv: Option<Option<PathBuf>>,
    /// Also draw the answer as SVG
    #[arg(long, value_name = "FILE.svg")]
    pub svg: Option<PathBuf>,
}

impl Drawn {
    /// An empty page of the requested form. If there is a file, its records are written to it when the page is printed.
    pub fn page(&self, format: &Format) -> Result<Page> {
        match &self.csv {
            None => Ok(format.page()),
            Some(Some(path)) => Ok(format.page().with_file(path)),
            Some(None) if format.is_given() => {
                bail!("--csv without a file beside --json or --format: they request different forms")
            }
            Some(None) => Ok(format.page_or_csv(true)),
        }
    }

    /// The number of points of a curve: the requested ones, all in the table. By default a table, which people read, has every tenth, and only
    /// these are computed if nothing else is written. With a drawing there is no table.
    pub fn points(&self, requested: Option<u32>, format: &Format) -> Points {
        let is_table = matches!(format.form(), Form::Table | Form::Md | Form::Latex) && self.csv != Some(None);
        let every = if self.svg.is_some() { 0 } else { 1 };
        match requested {
            Some(count) => Points { count, every, has_more: false },
            None if every == 0 || !is_table => Points { count: POINTS, every, has_more: false },
            None if self.csv.is_some() => Points { count: POINTS, every: EVERY, has_more: false },
            None => Points { count: (POINTS - 1) / EVERY + 1, every, has_more: true },
        }
    }

    /// Whether the points of curves are requested; they are not computed otherwise.
    pub fn wants_points(&self) -> bool {
        self.svg.is_some() || matches!(self.csv, Some(Some(_)))
    }

    /// The first option that requests a series, if any.
    pub fn flag(&self) -> Option<&'static str> {
        if self.csv.is_some() { Some("--csv") } else { self.svg.as_ref().map(|_| "--svg") }
    }

    /// Draws and writes the figure with its provenance beside it, if requested.
    pub fn write(&self, figure: impl FnOnce() -> Figure) -> Result<()> {
        self.try_write(|| Ok(figure()))
    }

    /// Draws and writes a figure whose points are computed, if requested.
    pub fn try_write(&self, figure: impl FnOnce() -> dp_assay::Result<Figure>) -> Result<()> {
        self.svg.as_ref().map_or(Ok(()), |path| write(path, &figure()?))
    }
}

/// Writes the file of `--svg`, with its provenance beside it.
pub fn write(path: &Path, figure: &Figure) -> Result<()> {
    figure.write_svg(path).context("--svg")?;
    invocation::provenance()?.write_beside(path).context("--svg")
}
