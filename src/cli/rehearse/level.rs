//! Facts of a level that the page and its charts say.

use dp_assay::safetab::rehearsal::{RehearsedLevel, StatedMargin, Stratum};

/// The name of a level.
pub fn name(level: &RehearsedLevel) -> String {
    level.name.clone()
}

/// The stated margin of a cell of a level.
pub fn of_cells(level: &RehearsedLevel) -> Option<&StatedMargin> {
    level.margins.iter().find(|stated| stated.of.ends_with("cell") || stated.of == "cell or total")
}

/// The number of counts that a level published, and of those within their margins.
pub fn published(level: &RehearsedLevel) -> (u64, u64) {
    let tables = || level.strata.iter().flat_map(|stratum| &stratum.tables);
    (tables().map(|table| table.errors.count()).sum(), tables().map(|table| table.covered).sum())
}

/// A part of a whole, in percent; `None` if the whole is zero.
pub fn percent(part: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| 100.0 * part as f64 / of as f64)
}

/// The sizes of a range in words.
pub fn sizes(stratum: &Stratum) -> String {
    match stratum.sizes() {
        (from, Some(to)) => format!("{from} to {to}"),
        (from, None) => format!("{from} and more"),
    }
}
