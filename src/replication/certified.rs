//! Rows of published values as certificates: proofs of a row's computed value that another program can check.

use rug::Rational;
use serde_json::Value;

use super::{
    account_claims::{About, AccountClaim, Question as Asked},
    accounts, block_paths,
    claims::Claim,
    published::{self, Compute, Published},
};
use crate::{
    account::{
        Composition, Counts, Epsilon,
        promise::{Grid, Promise},
    },
    certificate::{Certificate, Question},
    error::{Error, Result},
    numeric::rational,
    release::{
        Neighbors, Release,
        subject::{Resolved, Subject},
    },
};

/// The certificate of the value from which a row is computed. Certified are: an epsilon (exact, by zCDP, by the best
/// order or of continuous noise), a delta, a point of the trade-off function, the least factor on all noise at which
/// epsilon is at most the zCDP epsilon, or a posterior of one noisy count. `row` is the paper or its file, a slash, and
/// the row's id.
///
/// Rows that are computed from something else are refused with the reason. A conversion, as to percent, is not
/// certified.
pub fn certificate(row: &str, digits: u32) -> Result<Certificate> {
    let expected = "PAPER/ID, a paper or a file of published values, and the id of one of them";
    let (paper, id) = row.rsplit_once('/').ok_or_else(|| Error::malformed("the row", row, expected))?;
    let papers = published::papers(&[paper.to_string()])?;
    let values = || papers.iter().flat_map(|paper| &paper.values);
    let Some(value) = values().find(|value| value.id == id) else {
        let has = format!("`assay verify {paper}` lists them; {paper} has");
        return Err(Error::unknown("value", id, &has, values().map(|value| value.id.as_str())));
    };
    of_value(value, digits)
}

/// Whether a row has a certificate.
pub fn has_certificate(value: &Published) -> bool {
    match &value.compute {
        Compute::Account(claim) => asked(claim).is_some(),
        Compute::Claim(_, claim) if value.compute.is_of("paths") => matches!(claim.name(), "delta" | "largest-delta"),
        Compute::Claim(_, claim) if value.compute.is_of("risk") => about_risk(claim).is_ok_and(|found| found.is_some()),
        Compute::Claim(..) => false,
    }
}

/// The property to prove.
enum Provable {
    Question(Question),
    /// Both ends of the factor that keeps the promise.
    Promise(Promise),
}

fn asked(claim: &AccountClaim) -> Option<Provable> {
    Some(match &claim.question {
        Asked::Epsilon(delta) | Asked::EpsilonReduction(delta) | Asked::Posterior(_, delta) => {
            Provable::Question(Question::Epsilon { delta: delta.clone() })
        }
        Asked::Delta(epsilon) => Provable::Question(Question::Delta { epsilon: epsilon.clone() }),
        Asked::Advantage => Provable::Question(Question::Delta { epsilon: Epsilon::new(Rational::new()).ok()? }),
        Asked::Tradeoff(alpha) => Provable::Question(Question::Beta { alpha: alpha.clone() }),
        Asked::MatchedSigma2(delta) | Asked::NoiseReduction(delta) | Asked::OverallReduction(delta) => {
            Provable::Promise(Promise::ZcdpEpsilon { delta: delta.clone() })
        }
        Asked::ZcdpEpsilon(delta) => Provable::Question(Question::Zcdp { delta: delta.clone() }),
        Asked::OptimalOrderEpsilon(delta) => Provable::Question(Question::Orders { delta: delta.clone() }),
        Asked::GdpEpsilon(delta) => Provable::Question(Question::Epsilon { delta: delta.clone() }),
        Asked::GdpDelta(epsilon) => Provable::Question(Question::Delta { epsilon: epsilon.clone() }),
        Asked::CorrectDecision(prior) if *prior == Rational::from((1, 2)) => {
            Provable::Question(Question::Delta { epsilon: Epsilon::new(Rational::new()).ok()? })
        }
        Asked::Rho
        | Asked::ZcdpDelta(_)
        | Asked::RenyiEpsilon(_)
        | Asked::PureEpsilon
        | Asked::Sigma2
        | Asked::BelowZcdp(_)
        | Asked::OverallReductionOneTerm(..)
        | Asked::CorrectDecision(_) => return None,
    })
}

pub(crate) fn of_value(value: &Published, digits: u32) -> Result<Certificate> {
    let (subject, provable) = match &value.compute {
        Compute::Account(claim @ AccountClaim { question, about, .. }) if is_of_rho(question) => {
            let continuous = matches!(question, Asked::GdpEpsilon(_) | Asked::GdpDelta(_));
            (if continuous { continuous_count(&accounts::rho(about)?.into())? } else { of_rho(about)? }, asked(claim))
        }
        Compute::Account(claim) => (claim.about.subject().resolve()?, asked(claim)),
        Compute::Claim(_, claim) if value.compute.is_of("paths") => about_paths(claim)?,
        Compute::Claim(_, claim) if value.compute.is_of("risk") => {
            let (subject, question) = about_risk(claim)?.ok_or_else(|| refused(value))?;
            (subject, Some(Provable::Question(question)))
        }
        Compute::Claim(..) => return Err(refused(value)),
    };
    match provable.ok_or_else(|| refused(value))? {
        Provable::Question(question) => Certificate::prove(&subject, &question, digits),
        Provable::Promise(promise) => Certificate::calibrated(&subject, &promise, Grid::factor(digits)),
    }
}

fn about_paths(what: &Claim) -> Result<(Resolved, Option<Provable>)> {
    let name = what.beside().get("release").and_then(Value::as_str).unwrap_or_default();
    let release = Release::find(name)?;
    let delta = |epsilon: Epsilon| Some(Provable::Question(Question::Delta { epsilon }));
    Ok(match what.name() {
        "delta" => {
            let (pair, epsilon): ([usize; 2], _) = what.inputs(["pair", "epsilon"])?;
            let title = format!("{}: paths {} and {}", release.name, pair[0], pair[1]);
            let composition = block_paths::of_pair(&release, pair)?;
            let pair = Resolved::of_composition(title, release.neighbors, composition);
            (pair.made_from(release.sha256.clone()), delta(epsilon))
        }
        name => {
            let epsilon =
                if name == "largest-delta" { what.inputs::<(Option<Epsilon>,), 1>(["epsilon"])?.0 } else { None };
            (Subject { release: Some(release), ..Subject::default() }.resolve()?, epsilon.and_then(delta))
        }
    })
}

/// Whether a certificate is about a rho alone.
fn is_of_rho(question: &Asked) -> bool {
    matches!(
        question,
        Asked::ZcdpEpsilon(_) | Asked::OptimalOrderEpsilon(_) | Asked::GdpEpsilon(_) | Asked::GdpDelta(_)
    )
}

/// All counts composed, on the path that omits nothing; if only a rho is known, one count with it.
fn of_rho(about: &About) -> Result<Resolved> {
    let rho = accounts::rho(about)?;
    match about.subject().resolve() {
        Ok(known) if *known.total.rho() == rho => {
            let sha256 = known.release_sha256().map(String::from);
            Ok(Resolved::of_composition(known.title, known.neighbors, known.total).made_from(sha256))
        }
        _ => {
            let release = about.release_alone().filter(|_| about.rho.is_none()).transpose()?;
            Ok(one_count(&rho)?.made_from(release.and_then(|release| release.sha256)))
        }
    }
}

/// A count that one person changes by one, with discrete Gaussian noise of this rho.
fn one_count(rho: &Rational) -> Result<Resolved> {
    let count = Counts::discrete_gaussian(Rational::from(1) / Rational::from(rho * 2_u32), 1, 1)?;
    let title = format!("one count of rho = {}", rational::display(rho));
    Ok(Resolved::of_composition(title, Neighbors::AddRemove, Composition::new([count])?))
}

/// A count that one person changes by one, with continuous Gaussian noise of this rho.
fn continuous_count(rho: &Rational) -> Result<Resolved> {
    let count = Counts::gaussian(Rational::from(1) / Rational::from(rho * 2_u32), 1, 1)?;
    let title = format!("one count of rho = {}, continuous noise", rational::display(rho));
    Ok(Resolved::of_composition(title, Neighbors::AddRemove, Composition::new([count])?))
}

/// The certified property of a value about risk: the posterior after one noisy count or the average over all, also
/// divided by the prior; the delta at 0, which with even odds gives a correct decision with probability (1 + delta) /
/// 2; an epsilon by zCDP.
fn about_risk(what: &Claim) -> Result<Option<(Resolved, Question)>> {
    let (rho, question): (Rational, Question) = match what.name() {
        "posterior" | "ratio" => {
            let (rho, prior, noisy) = what.inputs(["rho", "prior", "noisy"])?;
            (rho, Question::Posterior { prior, noisy: vec![noisy] })
        }
        "marginal" | "marginal-ratio" => {
            let (rho, prior) = what.inputs(["rho", "prior"])?;
            (rho, Question::Marginal { prior })
        }
        "correct" => {
            let (rho, prior): (_, Rational) = what.inputs(["rho", "prior"])?;
            if prior != Rational::from((1, 2)) {
                return Ok(None);
            }
            (rho, Question::Delta { epsilon: Epsilon::new(Rational::new())? })
        }
        "zcdp-epsilon" => {
            let (rho, delta) = what.inputs(["rho", "delta"])?;
            (rho, Question::Zcdp { delta })
        }
        _ => return Ok(None),
    };
    Ok(Some((one_count(&rho)?, question)))
}

fn refused(value: &Published) -> Error {
    Error::Unprovable {
        why: format!(
            "the value {:?} is computed from neither an epsilon, a delta, a point of the trade-off function, a calibration nor a \
             posterior of one noisy count",
            value.id
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_epsilon_and_of_noise_have_certificates_and_others_do_not() {
        let papers = published::papers(&["su-su-wang-2025".to_string()]).unwrap();
        let with: Vec<&str> =
            papers[0].values.iter().filter(|value| has_certificate(value)).map(|value| value.id.as_str()).collect();
        assert!(with.len() >= 20, "{with:?}");
        let certificate = certificate(&format!("su-su-wang-2025/{}", with[0]), 6).unwrap();
        assert!(certificate.text().contains("\"about\":"));
        let without = papers[0].values.iter().find(|value| !has_certificate(value)).unwrap();
        for (row, said) in [
            (format!("su-su-wang-2025/{}", without.id), "computed from neither"),
            ("su-su-wang-2025/no-such-row".to_string(), "unknown value \"no-such-row\""),
            ("su-su-wang-2025".to_string(), "PAPER/ID"),
        ] {
            let message = super::certificate(&row, 6).unwrap_err().to_string();
            assert!(message.contains(said), "{message}");
        }
    }
}
