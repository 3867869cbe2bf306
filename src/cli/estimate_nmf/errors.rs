//! `--truth`: the sizes of the errors of a rehearsal.

use dp_assay::topdown::nmf::truth::ErrorRow;

use crate::cli::page::Page;

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
    let cells = rows.iter().map(cells).collect();
    page.table(&["level", "query", "counts", "mean error", "relative", "bias", "std_dev", "in margin"], cells);
    page.text("\n");
}
