//! A table or figure of a paper that can be drawn again.

use std::{
    fmt::Display,
    path::{Path, PathBuf},
};

use super::own::{Own, Parameter};
use crate::{
    chart::{
        Axis, Figure, Ink, Panel, Series, Sheet,
        drawing::{self, Drawing},
    },
    error::Result,
};

/// A table or figure of a paper.
#[derive(Clone, Copy, Debug)]
pub struct Item {
    /// The paper, as the command line names it.
    pub paper: &'static str,
    /// The table or figure, as `figure-2`.
    pub name: &'static str,
    /// Its subject.
    pub about: &'static str,
    /// The parameters of [`Own`] that it accepts.
    pub takes: &'static [Parameter],
    pub(super) draw: fn(&Sources) -> Result<Drawing>,
}

/// A table or figure without its paper: its name, its subject, the parameters that it accepts, and its drawing.
pub(super) type ItemRow = (&'static str, &'static str, &'static [Parameter], fn(&Sources) -> Result<Drawing>);

/// The folder of public data that are not bundled, and parameters that replace the paper's own.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// A folder that holds `geography/rhode-island/ri_2010_block.csv` or the file itself.
    pub facts: Option<PathBuf>,
    /// Parameters that replace the paper's own.
    pub own: Own,
}

impl Item {
    /// Computes and draws it. Parameters that it does not accept are refused.
    pub fn draw(&self, sources: &Sources) -> Result<Drawing> {
        sources.own.check(&format!("{}/{}", self.paper, self.name), self.takes)?;
        (self.draw)(sources)
    }

    /// The files of this item in a folder of results: CSV and SVG.
    pub fn files(&self, results: &Path) -> [PathBuf; 2] {
        drawing::files(&results.join(self.paper), self.name)
    }

    /// Computes, draws and writes both files into a folder of results.
    #[cfg(feature = "charts")]
    pub fn write(&self, sources: &Sources, results: &Path) -> Result<[PathBuf; 2]> {
        self.draw(sources)?.write(&results.join(self.paper), self.name)
    }
}

/// A drawing of parts, each rows of the table and a panel, with at most `most` panels in a row.
pub(super) fn of_parts(mut sheet: Sheet, title: String, most: usize, parts: Vec<(Vec<Vec<String>>, Panel)>) -> Drawing {
    let (rows, panels): (Vec<_>, Vec<Panel>) = parts.into_iter().unzip();
    rows.into_iter().flatten().for_each(|row| sheet.push(row));
    Drawing { sheet, figure: Figure { title, columns: panels.len().clamp(1, most), panels } }
}

/// A panel of budgets, a row for each level: those of a name, and the least that have the margins.
pub(super) fn budgets_panel<N: Display>(
    [title, label, least_name]: [&str; 3],
    names: &[N],
    (name, budgets): (&str, Vec<f64>),
    least: Vec<f64>,
) -> Panel {
    let all = || budgets.iter().chain(&least).copied();
    let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    Panel {
        title: title.to_string(),
        x: Axis::log(label, low * 0.7, high * 1.4),
        y: Axis::names(names),
        series: vec![Series::of_rows(name, Ink::Vermillion, budgets), Series::of_rows(least_name, Ink::Blue, least)],
    }
}
