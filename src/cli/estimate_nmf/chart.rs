//! `--svg`: a chart of estimates with their margins.

use std::collections::HashSet;

use anyhow::{Context, Result};
use dp_assay::{
    chart::{
        Figure,
        estimates::{self, Interval},
    },
    topdown::{
        level_variances::margin_95_approx,
        nmf::{
            answers::{Answer, Subject},
            tables::Published,
        },
    },
};

/// The content of a chart.
pub struct ChartRows {
    published: Option<Published>,
    /// All names of units and areas that were seen, if there are published counts.
    names: HashSet<String>,
    /// The depth of the unit, or the length of the name of an area, and its mark.
    rows: Vec<(usize, Interval)>,
}

impl ChartRows {
    /// Empty, with these published counts.
    pub fn new(published: Option<Published>) -> ChartRows {
        ChartRows { published, names: HashSet::new(), rows: Vec::new() }
    }

    /// A note on published counts that belong to none of the units and areas.
    pub fn unmatched(&self) -> dp_assay::Result<Option<String>> {
        let held = |published: &Published| published.held_against(self.names.iter().map(String::as_str));
        self.published.as_ref().map(held).transpose().map(Option::flatten)
    }

    /// Adds the answers about a unit or area.
    pub fn see(&mut self, subject: &Subject, answers: &[Answer]) {
        let first = |answer: &Answer| Some((*answer.estimates.first()?, *answer.variances.first()?));
        let Some((estimate, variance)) = answers.first().and_then(first) else { return };
        let (depth, names) = match subject {
            Subject::Unit { level, code, geoid } => (*level, vec![code, geoid]),
            // Tabulation units of a lower level have longer names.
            Subject::Area(name) => {
                (if name.bytes().all(|byte| byte.is_ascii_digit()) { name.len() } else { 0 }, vec![name])
            }
        };
        let published = self.published.as_ref().and_then(|all| names.iter().find_map(|name| all.of(name)));
        if self.published.is_some() {
            self.names.extend(names.iter().filter(|name| !name.is_empty()).map(|name| (*name).clone()));
        }
        let name = names[0].clone();
        let margin = margin_95_approx(variance);
        self.rows.push((depth, Interval { name, estimate, margin, published }));
    }

    /// The figure of the deepest units, or of all areas.
    pub fn figure(self, query: &str) -> Result<Figure> {
        let deepest = self.rows.iter().map(|(depth, _)| *depth).max().context("--svg: nothing was estimated")?;
        let rows: Vec<Interval> =
            self.rows.into_iter().filter(|(depth, _)| *depth == deepest).map(|(_, row)| row).collect();
        let title = format!("Estimates with margins at 95 %: {query}, first count");
        Ok(estimates::intervals(&title, &rows))
    }
}
