//! The public Deployments Registry: its entries, read from YAML, and judged by the figures that they print.
//!
//! | file | content |
//! | --- | --- |
//! | `schema` | the fields of an entry, and their forms |
//! | [`entry`] | an entry, read by the schema; anything that it does not allow is refused with its line |
//! | `text` | figures in texts: numbers, labelled quantities, calculations, lists |
//! | `equations` | the equations between figures, and what each needs before it accuses |
//! | [`rules`] | the figures of an entry compared with each other |

pub mod entry;
mod equations;
pub mod rules;
mod schema;
mod text;

use std::path::Path;

use rug::Rational;

pub use self::{entry::Entry, rules::Finding};
use super::{
    file::Headline,
    scale::{Basis, OnScale, PurePart},
    verdict::Verdict,
};
use crate::{
    account::{Delta, Rho},
    error::Result,
};

/// A judged entry.
#[derive(Clone, Debug)]
pub struct JudgedEntry {
    /// The entry.
    pub entry: Entry,
    /// Its parameters as written.
    pub printed: Headline,
    /// The findings of the rules, in the order of the file.
    pub findings: Vec<Finding>,
    /// Slips outside of the privacy parameters, which are remarks.
    pub slips: Vec<Finding>,
    /// The common scale; `None` without parameters that are numbers.
    pub scale: Option<OnScale>,
    /// The verdict: the worst of the findings.
    pub verdict: Verdict,
    /// The facts that a proof would need and the entry lacks.
    pub missing: Vec<String>,
}

/// Reads and judges the entries of a file or of a folder.
pub fn judge_all(path: &Path, delta: &Delta, digits: u32) -> Result<Vec<JudgedEntry>> {
    Entry::read_all(path)?.into_iter().map(|entry| judge(entry, delta, digits)).collect()
}

/// Judges an entry.
pub fn judge(entry: Entry, delta: &Delta, digits: u32) -> Result<JudgedEntry> {
    let (slips, mut findings): (Vec<Finding>, _) = rules::check(&entry)?.into_iter().partition(Finding::is_slip);
    // What an entry contradicts is itself: no document of its curator was read.
    for finding in findings.iter_mut().filter(|finding| finding.verdict == Verdict::ContradictsItself) {
        finding.verdict = Verdict::EntryContradictsItself;
    }
    let verdict = findings.iter().map(|finding| finding.verdict).min().unwrap_or(Verdict::NotEnoughSaid);
    let text = |name: &str| entry.text(name).map(str::to_string);
    let printed = Headline { epsilon: text("epsilon"), delta: text("delta"), rho: text("rho") };
    let scales = bases(&entry)?.iter().map(|basis| basis.at(delta, digits)).collect::<Result<Vec<_>>>()?;
    let scale = scales.into_iter().reduce(OnScale::beside);
    let missing = missing(&entry)?;
    Ok(JudgedEntry { entry, printed, findings, slips, scale, verdict, missing })
}

/// The mechanism as far as the parameters describe it: by its rho, and by the pair that is printed beside it, both of which hold. They do not give the law of
/// its noise, so no account is exact.
fn bases(entry: &Entry) -> Result<Vec<Basis>> {
    let value = |name: &str| -> Result<Option<Rational>> { Ok(entry.parameter(name)?.map(|found| found.figure.value)) };
    let (epsilon, delta, rho) = (value("epsilon")?, value("delta")?, value("rho")?);
    let delta = delta.filter(|delta| *delta > 0).map(Delta::new).transpose()?;
    let has_formula = entry.text("delta").is_some() && delta.is_none();
    let by_rho = rho.map(|rho| Rho::new(rho).map(Basis::Zcdp)).transpose()?;
    let by_epsilon = match (epsilon, delta) {
        (Some(epsilon), Some(delta)) => Some(Basis::Approximate { epsilon, delta }),
        // Beside a rho an epsilon without a delta is no pure one.
        (Some(epsilon), None) if by_rho.is_none() && !has_formula && epsilon <= 10_000 => {
            Some(Basis::Pure(vec![PurePart { epsilon, count: 1 }]))
        }
        _ => None,
    };
    Ok(by_rho.into_iter().chain(by_epsilon).collect())
}

/// Whether the mechanisms are stated with the parameter of their noise and the change of their counts.
fn has_scales(entry: &Entry) -> bool {
    let text = entry.text("mechanisms").unwrap_or_default().to_lowercase();
    let has_parameter = ["sigma2 = ", "sigma = ", "scale = ", "epsilon = "].iter().any(|name| text.contains(name));
    has_parameter && (text.contains("changed by ") || text.contains("sensitivity = "))
}

/// The facts that a proof of the parameters would need and the entry lacks.
fn missing(entry: &Entry) -> Result<Vec<String>> {
    let mut missing = Vec::new();
    let has = |name: &str| entry.text(name).is_some();
    let is_number = |name: &str| entry.parameter(name).map(|found| found.is_some());
    let needed: &[&str] = match entry.text("variant_name") {
        Some("Pure DP") => &["epsilon"],
        Some("Approximate DP") => &["epsilon", "delta"],
        Some("Zero-concentrated DP") => &["rho"],
        Some("Renyi DP" | "Custom") => &[],
        Some(_) | None => {
            missing.push("variant_name: the variant of differential privacy".to_string());
            &["epsilon"]
        }
    };
    for name in needed {
        match (has(name), is_number(name)?) {
            (false, _) => missing.push(format!("{name}: the parameter of its variant")),
            (true, false) => missing.push(format!("{name}: a number, and not a formula")),
            (true, true) => {}
        }
    }
    if !has("privacy_unit") {
        missing.push("privacy_unit: whose data neighbors differ in".to_string());
    }
    if !has("privacy_unit_details") {
        missing.push("privacy_unit_details: the neighbor relation".to_string());
    }
    let unit = entry.text("privacy_unit").unwrap_or_default().to_lowercase();
    let has_time = ["day", "month", "week", "year", "hour", "quarter", "trip"].iter().any(|time| unit.contains(time));
    if entry.text("release_type") == Some("Many releases") && !has_time {
        missing.push("a bound over time: there are many releases, and the unit names no time".to_string());
    }
    if !has("composition") {
        missing.push("composition: the parts of the parameters".to_string());
    }
    if !has_scales(entry) {
        missing.push("the scale of the noise of each statistic, and by how much one unit changes it".to_string());
    }
    Ok(missing)
}
