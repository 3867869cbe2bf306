//! `--truth`: the sizes of the errors of a rehearsal.

use dp_assay::topdown::nmf::{
    answers::Answers,
    truth::{ErrorTable, Errors},
};
use serde_json::{Value, json};

use crate::cli::page::Page;

/// The errors of a query at a level.
pub struct ErrorRow {
    level: String,
    query: String,
    errors: Errors,
}

impl ErrorRow {
    fn mean(&self, sum: f64) -> f64 {
        sum / self.errors.counts as f64
    }

    /// The mean absolute error over the mean true count; `None` if all are zero.
    fn relative(&self) -> Option<f64> {
        (self.errors.truth > 0.0).then(|| self.errors.absolute / self.errors.truth)
    }

    /// The mean standard deviation; `None` for whole counts.
    fn deviation(&self) -> Option<f64> {
        let counts = self.errors.with_variance;
        (counts > 0).then(|| self.errors.deviations / counts as f64)
    }

    /// The share of margins that contain the truth; `None` if constraints fix everything.
    fn coverage(&self) -> Option<f64> {
        let (all, hold) = self.errors.with_margin;
        (all > 0).then(|| hold as f64 / all as f64)
    }

    fn cells(&self) -> Vec<String> {
        let errors = &self.errors;
        let percent = |share: Option<f64>| share.map_or("-".to_string(), |share| format!("{:.1} %", 100.0 * share));
        let [absolute, bias] = [errors.absolute, errors.signed].map(|sum| format!("{:.3}", self.mean(sum)));
        let deviation = self.deviation().map_or("-".to_string(), |number| format!("{number:.3}"));
        let (relative, coverage) = (percent(self.relative()), percent(self.coverage()));
        let counts = errors.counts.to_string();
        vec![self.level.clone(), self.query.clone(), counts, absolute, relative, bias, deviation, coverage]
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        json!({
            "level": self.level,
            "query": self.query,
            "counts": self.errors.counts,
            "mean_absolute_error": self.mean(self.errors.absolute),
            "relative_error": self.relative(),
            "bias": self.mean(self.errors.signed),
            "mean_std_dev": self.deviation(),
            "coverage_95": self.coverage(),
            "wrong_exact": self.errors.wrong_exact,
        })
    }
}

/// The table of errors.
pub fn put_errors(page: &mut Page, rows: &[ErrorRow]) {
    let cells = rows.iter().map(ErrorRow::cells).collect();
    page.table(&["level", "query", "counts", "mean error", "relative", "bias", "std_dev", "in margin"], cells);
    page.text("\n");
}

/// The errors by level and query.
pub fn error_rows(levels: &[String], answers: &Answers, table: &ErrorTable) -> Vec<ErrorRow> {
    let names = answers.names();
    let row = |((level, query), errors): (&(Option<usize>, usize), &Errors)| ErrorRow {
        level: level.map_or("area".to_string(), |level| levels[level].clone()),
        query: names[*query].to_string(),
        errors: *errors,
    };
    table.rows.iter().map(row).collect()
}
