//! Estimates of both kinds of noisy counts, those of `assay estimate` and of `assay nmf estimate`: their request, and the sizes of the errors of
//! a rehearsal.

use std::path::PathBuf;

use anyhow::{Result, bail};
use dp_assay::{
    csv_reader::Reading,
    topdown::{estimation::Request, nmf::truth::ErrorRow},
};

use super::{arguments::first_given, multiline, page::Page};

/// The request: counts, and units or areas.
#[derive(clap::Args)]
pub struct RequestArgs {
    /// "all" queries, or such as "votingage * hispanic"
    ///
    /// All queries of the release, or marginals of its attributes (default: total).
    #[arg(long, value_name = "all|NAME", num_args = 1..)]
    pub queries: Vec<String>,
    /// Recodes of your own for --queries and --whole
    ///
    /// A TOML file of them, each with name, attribute and groups as in a release file.
    #[arg(long, value_name = "FILE.toml", conflicts_with = "variables")]
    pub recodes: Option<PathBuf>,
    /// The levels to estimate [default: all but the last]
    #[arg(long, value_name = "LEVEL", num_args = 1..)]
    pub level: Vec<String>,
    /// Sums over sets of blocks, a CSV of area and block
    ///
    /// Blocks by spine codes or GEOIDs; with a hierarchy of your own the columns of its levels. Or a block assignment file of the Census
    /// Bureau. A column weight gives the part of the block in the area, from 0 to 1. Blocks without housing units and group quarters count as
    /// zero.
    #[arg(long, value_name = "FILE", conflicts_with = "tabulation")]
    pub areas: Option<PathBuf>,
    /// In a rehearsal: the true counts, to print the errors
    ///
    /// In the form that `assay measure` reads. The errors are printed by level and query.
    #[arg(long, value_name = "FILE")]
    pub truth: Option<PathBuf>,
    /// With --truth: allow line breaks inside quotes
    ///
    /// Such a cell can hide rows, so check the number of rows.
    #[arg(long, requires = "truth")]
    multiline: bool,
}

impl RequestArgs {
    /// Whether anything is requested, which --spine does not write by default.
    pub fn is_given(&self) -> bool {
        let named = !self.queries.is_empty() || !self.level.is_empty();
        named || self.areas.is_some() || self.truth.is_some() || self.recodes.is_some()
    }

    /// An option of these that was given, if any.
    pub fn given(&self) -> Option<&'static str> {
        first_given([
            ("--queries", !self.queries.is_empty()),
            ("--recodes", self.recodes.is_some()),
            ("--level", !self.level.is_empty()),
            ("--areas", self.areas.is_some()),
            ("--truth", self.truth.is_some()),
        ])
    }

    /// The request for a spine on which `assay measure` drew.
    pub fn of_spine(&self) -> Request {
        Request {
            queries: self.queries.clone(),
            recodes: self.recodes.clone(),
            levels: self.level.clone(),
            areas: self.areas.clone(),
            truth: self.truth.clone(),
            reading: self.reading(),
        }
    }

    /// How the true counts are read.
    pub fn reading(&self) -> Reading {
        multiline::reading(self.multiline)
    }

    /// An error for levels beside areas.
    pub fn check_level(&self) -> Result<()> {
        if !self.level.is_empty() && self.areas.is_some() {
            bail!("--level: with --areas the estimates are of the areas of the file: leave out --level");
        }
        Ok(())
    }
}

/// The cells of a row.
fn cells(row: &ErrorRow) -> Vec<String> {
    let errors = &row.errors;
    let percent = |share: Option<f64>| share.map_or("-".to_string(), |share| format!("{:.1} %", 100.0 * share));
    let [absolute, bias] = [errors.absolute, errors.signed].map(|sum| format!("{:.3}", row.mean(sum)));
    let deviation = row.deviation().map_or("-".to_string(), |number| format!("{number:.3}"));
    let (relative, coverage) = (percent(row.relative()), percent(row.coverage()));
    let counts = errors.counts.to_string();
    vec![row.level.clone(), row.query.clone(), counts, absolute, relative, bias, deviation, coverage]
}

/// The table of errors.
pub fn put_errors(page: &mut Page, rows: &[ErrorRow]) {
    let cells = rows.iter().map(cells);
    page.table(&["level", "query", "counts", "mean error", "relative", "bias", "std_dev", "in margin"], cells);
    page.text("\n");
}
