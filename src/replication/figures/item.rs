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
    /// Its subject.
    pub about: &'static str,
    /// The parameters of [`Own`] that it accepts.
    pub takes: &'static [Parameter],
    pub(super) draw: fn(&Sources) -> Result<Drawing>,
}

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
