//! A deployment judged: every printed figure recomputed, the mechanism on the common scale, the verdict and its reasons.

use super::{file::Deployment, scale::OnScale, verdict::Verdict};
use crate::{
    account::Delta,
    error::Result,
    replication::{
        verdict::Verdict as OfRow,
        verify::{self, Row},
    },
};

/// A judged deployment.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The deployment.
    pub deployment: Deployment,
    /// Its printed figures, each recomputed.
    pub rows: Vec<Row>,
    /// The common scale; `None` if nothing is known of the mechanism.
    pub scale: Option<OnScale>,
    /// The verdict.
    pub verdict: Verdict,
    /// Its reasons, a sentence each.
    pub reasons: Vec<String>,
}

/// Judges deployments, one after the other: each answer has all cores for itself, and its limit of effort is its own.
pub fn judge_all(deployments: Vec<Deployment>, delta: &Delta, digits: u32) -> Result<Vec<Judged>> {
    deployments.into_iter().map(|deployment| judge(deployment, delta, digits)).collect()
}

/// Judges a deployment.
pub fn judge(deployment: Deployment, delta: &Delta, digits: u32) -> Result<Judged> {
    let rows = verify::verify(&deployment.paper)?;
    let scale = deployment.basis.as_ref().map(|basis| basis.at(delta, digits)).transpose()?;
    let verdict = verdict(&rows, !deployment.contradictions.is_empty());
    let reasons = reasons(&deployment, &rows, verdict);
    Ok(Judged { deployment, rows, scale, verdict, reasons })
}

/// The worst of the verdicts on the rows; a difference within one source is a contradiction.
fn verdict(rows: &[Row], has_contradictions: bool) -> Verdict {
    let of_row = |row: &Row| match (row.verdict, row.published.same_source) {
        (OfRow::Disproved, _) => Some(Verdict::Disproved),
        (OfRow::Differs, true) => Some(Verdict::ContradictsItself),
        (OfRow::Differs | OfRow::HypothesisMissing | OfRow::NotOfTheStatedModel, _) => Some(Verdict::Differs),
        (OfRow::Agrees | OfRow::AgreesAsRead | OfRow::HoldsToDigits, _) => Some(Verdict::Agrees),
        (OfRow::Misprint | OfRow::Undecided | OfRow::NeedsData | OfRow::Circular | OfRow::NotPrinted, _) => None,
    };
    let of_words = has_contradictions.then_some(Verdict::ContradictsItself);
    rows.iter().filter_map(of_row).chain(of_words).min().unwrap_or(Verdict::NotEnoughSaid)
}

fn reasons(deployment: &Deployment, rows: &[Row], verdict: Verdict) -> Vec<String> {
    let is_same = |row: &&Row| matches!(row.verdict, OfRow::Agrees | OfRow::AgreesAsRead);
    let mut reasons: Vec<String> = rows.iter().filter(|row| is_wrong(row)).map(sentence).collect();
    reasons.extend(deployment.contradictions.iter().cloned());
    let agreeing = rows.iter().filter(is_same).count();
    match (agreeing, verdict) {
        (0, Verdict::NotEnoughSaid) => reasons.push("No printed figure follows from the others.".to_string()),
        (0, _) => {}
        (1, _) => reasons.push("One printed figure follows from the others.".to_string()),
        (many, _) => reasons.push(format!("{many} printed figures follow from the others.")),
    }
    reasons
}

fn is_wrong(row: &Row) -> bool {
    match row.verdict {
        OfRow::Undecided => true,
        verdict => verdict.is_fault(),
    }
}

/// The printed figure, the computed one, and the argument.
fn sentence(row: &Row) -> String {
    let Row { published, verdict, .. } = row;
    let word = match (verdict, published.same_source) {
        (OfRow::Differs, true) => "contradicts itself",
        (verdict, _) => verdict.word(),
    };
    let argument = published.erratum.as_ref().map_or_else(String::new, |why| format!(" {why}"));
    format!("{}: printed {}, computed {}: {word}.{argument}", published.place, published.shown(), row.shown())
}
