//! A deployment judged: every printed figure recomputed, the mechanism on the common scale, the verdict and its reasons.

use super::{epsilons, file::Deployment, origin::PrintedBy, scale::OnScale, verdict::Verdict};
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
    /// Remarks that accuse nothing, a sentence each: slips outside of the privacy parameters, and differences that presume what the source does not state.
    pub slips: Vec<String>,
}

/// Judges deployments, one after the other: each answer has all cores for itself, and its limit of effort is its own.
pub fn judge_all(deployments: Vec<Deployment>, delta: &Delta, digits: u32) -> Result<Vec<Judged>> {
    deployments.into_iter().map(|deployment| judge(deployment, delta, digits)).collect()
}

/// Judges a deployment.
pub fn judge(deployment: Deployment, delta: &Delta, digits: u32) -> Result<Judged> {
    let rows = verify::verify(&deployment.paper)?;
    let scale = deployment.basis.as_ref().map(|basis| basis.at(delta, digits)).transpose()?;
    let scale = match (epsilons::composed(&deployment.name, delta), scale) {
        (Some(composed), Some(scale)) => Some(composed.beside(scale)),
        (composed, scale) => composed.or(scale),
    };
    let verdict = verdict(&rows, &deployment);
    let reasons = reasons(&deployment, &rows, verdict);
    let slips = rows.iter().filter(|row| row.verdict == OfRow::Misprint).map(sentence);
    let slips = slips.chain(rows.iter().filter_map(|row| presumed(row, &deployment))).collect();
    Ok(Judged { deployment, rows, scale, verdict, reasons, slips })
}

/// The worst of the verdicts on the rows; a difference within one source is a contradiction. A figure that could not be decided agrees with
/// nothing, so that beside it no deployment agrees.
fn verdict(rows: &[Row], deployment: &Deployment) -> Verdict {
    let contradiction = match deployment.printed_by {
        PrintedBy::Registry => Verdict::EntryContradictsItself,
        PrintedBy::Curator | PrintedBy::Paper | PrintedBy::SecondHand => Verdict::ContradictsItself,
    };
    let of_row = |row: &Row| match (row.verdict, row.published.remarks.same_source) {
        (OfRow::Disproved, _) => Some(Verdict::Disproved),
        (OfRow::Differs, true) => Some(contradiction),
        (OfRow::Differs | OfRow::HypothesisMissing | OfRow::NotOfTheStatedModel, false) => Some(Verdict::Differs),
        (OfRow::HypothesisMissing | OfRow::NotOfTheStatedModel, true) => Some(contradiction),
        (OfRow::Agrees | OfRow::AgreesAsRead | OfRow::HoldsToDigits, _) => Some(Verdict::Agrees),
        // A slip outside of the privacy parameters is a remark.
        (OfRow::Misprint | OfRow::Undecided | OfRow::NeedsData | OfRow::Circular | OfRow::NotPrinted, _) => None,
    };
    let stated = rows.iter().filter(|row| presumed(row, deployment).is_none());
    let worst = stated.filter_map(of_row).min().unwrap_or(Verdict::NotEnoughSaid);
    let is_open = rows.iter().any(|row| row.verdict == OfRow::Undecided);
    if is_open && worst == Verdict::Agrees { Verdict::NotEnoughSaid } else { worst }
}

fn reasons(deployment: &Deployment, rows: &[Row], verdict: Verdict) -> Vec<String> {
    let is_same = |row: &&Row| matches!(row.verdict, OfRow::Agrees | OfRow::AgreesAsRead | OfRow::HoldsToDigits);
    let accuses = |row: &&Row| is_wrong(row) && presumed(row, deployment).is_none();
    let mut reasons: Vec<String> = rows.iter().filter(accuses).map(sentence).collect();
    let agreeing = rows.iter().filter(is_same).count();
    if agreeing == 0 && verdict == Verdict::NotEnoughSaid {
        reasons.push("No printed figure can be recomputed: what would be needed is not published.".to_string());
    }
    reasons.extend(agreeing_in_words(agreeing));
    reasons
}

/// A sentence about the figures that agree; none if there are none.
pub(super) fn agreeing_in_words(figures: usize) -> Option<String> {
    match figures {
        0 => None,
        1 => Some("One printed figure can be recomputed, and is as printed.".to_string()),
        many => Some(format!("{many} printed figures can be recomputed, and are as printed.")),
    }
}

fn is_wrong(row: &Row) -> bool {
    match row.verdict {
        OfRow::Undecided => true,
        OfRow::Misprint => false,
        verdict => verdict.is_fault(),
    }
}

/// The remark about a figure that differs only if something holds that the source does not state.
fn presumed(row: &Row, deployment: &Deployment) -> Option<String> {
    let mut presumed = deployment.presumes.iter().filter_map(|one| one.split_once(": "));
    let (_, what) = presumed.find(|(id, _)| *id == row.published.id)?;
    let Row { published, .. } = row;
    row.verdict.is_fault().then(|| {
        let (place, printed, computed) = (&published.place, published.shown(), row.shown());
        format!("{place}: printed {printed}, and {computed} if {what}. That is not stated, so this accuses nothing.")
    })
}

/// The printed figure, the computed one, and the argument.
fn sentence(row: &Row) -> String {
    let Row { published, verdict, .. } = row;
    let word = match (verdict, published.remarks.same_source) {
        (OfRow::Differs, true) => "contradicts itself",
        (OfRow::Misprint, _) => "a slip outside of the privacy parameters",
        (verdict, _) => verdict.word(),
    };
    let argument = published.remarks.erratum.as_ref().map_or_else(String::new, |why| format!(" {why}"));
    format!("{}: printed {}, computed {}: {word}.{argument}", published.place, published.shown(), row.shown())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deployments::file;

    const HEAD: &str = "[[deployment]]\nname = 'a'\ntitle = 't'\ncurator = 'c'\nunit = 'u'\nper = 'once'\nneighbors = 'n'\n\
                        mechanism = 'm'\nsource = 's'\ngroup = 'person'\n";

    /// A row of each verdict, printed by a curator, and the same by the registry.
    #[test]
    fn each_verdict_on_a_row_gives_that_of_the_deployment() {
        let value = |printed: &str, unit: &str, compute: &str, more: &str| {
            format!(
                "[[deployment.value]]\nid = 'x'\nplace = 'p'\nprinted = '{printed}'\nunit = '{unit}'\ncompute = {{ {compute} }}\n\
                 erratum = 'why'\n{more}"
            )
        };
        let five = "kind = 'formula', formula = '5'";
        for (row, of_curator, of_entry) in [
            (value("5", "sum", five, ""), Verdict::Agrees, Verdict::Agrees),
            (value("4.9", "bound", "kind = 'formula', formula = '4.91'", ""), Verdict::Agrees, Verdict::Agrees),
            (value("4", "sum", five, ""), Verdict::Differs, Verdict::Differs),
            (
                value("4", "sum", five, "same-source = true\n"),
                Verdict::ContradictsItself,
                Verdict::EntryContradictsItself,
            ),
            (value("4", "bound", five, ""), Verdict::Disproved, Verdict::Disproved),
            // A slip outside of the parameters is a remark.
            (
                value("4", "sum", five, "same-source = true\nfault-kind = 'misprint'\n"),
                Verdict::NotEnoughSaid,
                Verdict::NotEnoughSaid,
            ),
            // What could not be decided agrees with nothing.
            (
                value("0.9", "bound", "kind = 'epsilon', pure = '1', delta = 1e-6", ""),
                Verdict::NotEnoughSaid,
                Verdict::NotEnoughSaid,
            ),
        ] {
            for (who, expected) in [("curator", of_curator), ("registry", of_entry)] {
                let text = format!("{HEAD}printed-by = '{who}'\n{row}");
                let deployment = file::parse("f", &text).unwrap().remove(0);
                let judged = judge(deployment, &"1e-5".parse().unwrap(), 8).unwrap();
                assert_eq!(judged.verdict, expected, "{who}: {row}");
                assert_eq!(judged.slips.len(), usize::from(row.contains("misprint")), "{row}");
            }
        }
        // A difference that presumes what the source does not state is a remark, and accuses nothing.
        let presumes = format!("{HEAD}printed-by = 'registry'\npresumes = ['x: the noise is Gaussian']\n");
        let text = presumes + &value("4", "sum", five, "same-source = true\n");
        let judged_so = judge(file::parse("f", &text).unwrap().remove(0), &"1e-5".parse().unwrap(), 8).unwrap();
        assert_eq!((judged_so.verdict, judged_so.slips.len()), (Verdict::NotEnoughSaid, 1));
        assert!(judged_so.slips[0].contains("if the noise is Gaussian"), "{}", judged_so.slips[0]);
        // An undecided figure beside one that agrees.
        let both = value("5", "sum", five, "")
            + &value("0.9", "bound", "kind = 'epsilon', pure = '1', delta = 1e-6", "").replace("'x'", "'y'");
        let text = format!("{HEAD}printed-by = 'curator'\n{both}");
        let judged = judge(file::parse("f", &text).unwrap().remove(0), &"1e-5".parse().unwrap(), 8).unwrap();
        assert_eq!(judged.verdict, Verdict::NotEnoughSaid);
    }
}
