//! `--svg`: a chart of estimates with their margins.

use anyhow::{Context, Result};
use dp_assay::{
    chart::{
        Figure,
        estimates::{self, Interval},
    },
    topdown::{
        level_variances::margin_95_approx,
        nmf::answers::{Answer, Subject},
    },
};

/// The content of a chart.
#[derive(Default)]
pub struct ChartRows {
    /// The depth of the unit, or the length of the name of an area, and its mark.
    rows: Vec<(usize, Interval)>,
}

impl ChartRows {
    /// Adds the answers about a unit or area, with its published count.
    pub fn add(&mut self, subject: &Subject, answers: &[Answer], published: Option<f64>) {
        let first = |answer: &Answer| Some((*answer.estimates.first()?, *answer.variances.first()?));
        let Some((estimate, variance)) = answers.first().and_then(first) else { return };
        let (depth, name) = match subject {
            Subject::Unit { level, code, .. } => (*level, code),
            // Tabulation units of a lower level have longer names.
            Subject::Area(name) => (if name.bytes().all(|byte| byte.is_ascii_digit()) { name.len() } else { 0 }, name),
        };
        let margin = margin_95_approx(variance);
        self.rows.push((depth, Interval { name: name.clone(), estimate, margin, published }));
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
