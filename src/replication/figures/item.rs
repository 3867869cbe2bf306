//! A table or figure of a paper that can be drawn again.

use std::path::{Path, PathBuf};

use super::own::{Own, Parameter};
use crate::{
    chart::drawing::{self, Drawing},
    error::Result,
};

/// A table or figure of a paper.
#[derive(Clone, Copy, Debug)]
pub struct Item {
    /// The paper, as the command line names it.
    pub paper: &'static str,
    /// The table or figure, as `figure-2`.
    pub name: &'static str,
    /// What it shows.
    pub about: &'static str,
    /// What of [`Own`] it can be drawn for.
    pub takes: &'static [Parameter],
    pub(super) draw: fn(&Sources) -> Result<Drawing>,
}

/// Where public data is that is not bundled, and what is given in place of the paper's own.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// A folder that holds `geography/rhode-island/ri_2010_block.csv` or the file itself.
    pub facts: Option<PathBuf>,
    /// What is given in place of the paper's own.
    pub own: Own,
}

impl Item {
    /// Computes and draws it. What is given and is not among what it takes is refused.
    pub fn draw(&self, sources: &Sources) -> Result<Drawing> {
        sources.own.check(&format!("{}/{}", self.paper, self.name), self.takes)?;
        (self.draw)(sources)
    }

    /// The files of this item below a folder of results: CSV and SVG.
    pub fn files(&self, results: &Path) -> [PathBuf; 2] {
        drawing::files(&results.join(self.paper), self.name)
    }

    /// Computes, draws and writes both files below a folder of results.
    #[cfg(feature = "charts")]
    pub fn write(&self, sources: &Sources, results: &Path) -> Result<[PathBuf; 2]> {
        self.draw(sources)?.write(&results.join(self.paper), self.name)
    }
}
