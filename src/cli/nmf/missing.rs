//! The parts that a folder of noisy measurement files lacks.

use dp_assay::topdown::nmf::check::NmfReport;
use serde_json::{Value, json};

/// The parts that are missing, in words; empty if none is.
pub fn missing_in_words(report: &NmfReport) -> String {
    match (report.missing.described(), report.missing.nation) {
        (Some(parts), true) => format!("{parts}, nor is the nation\n"),
        (Some(parts), false) => format!("{parts}: the nation is not compared with its states\n"),
        (None, true) => "the nation is not in the folder\n".to_string(),
        (None, false) => String::new(),
    }
}

/// The parts that are missing, in JSON.
pub fn missing_json(report: &NmfReport) -> Value {
    json!({
        "nation": report.missing.nation,
        "states": report.missing.states.iter().map(|state| format!("{state:02}")).collect::<Value>(),
        "parts": report.missing.halves,
    })
}

/// For which files they are taken, where nothing in the folder decides that.
pub fn assumed_in_words(report: &NmfReport) -> String {
    report.missing.taken_for_2020().map_or_else(String::new, |said| said + "\n")
}
