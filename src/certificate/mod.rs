//! Certificates: a certified epsilon or delta with all that another program needs to prove it again, without a search.
//!
//! A certificate has a claim, exact to the last digit, and hints: a contour, how many nodes, which of them to evaluate, and
//! which groups make all others small. `proofs/check.py` proves the claim from its own arithmetic and believes no hint; the
//! format and its theorems are in `proofs/README.md`, where (A) to (F) are stated.
//!
//! ```
//! use dp_assay::{certificate::{Certificate, Question}, release::subject::Subject};
//! let subject = Subject { singles: vec!["5x10".parse()?], ..Subject::default() }.resolve()?;
//! let certificate = Certificate::prove(&subject, &Question::Epsilon { delta: "1e-11".parse()? }, 8)?;
//! assert!(certificate.text().starts_with("{\"certificate\":\"assay 1\",\"claim\":{"));
//! # Ok::<(), dp_assay::Error>(())
//! ```
//!
//! | file | question |
//! | --- | --- |
//! | `mod.rs` | what a certificate is, and how a claim is made of a certified answer |
//! | [`claim`] | what is claimed: paths of groups, and both ends of a number |
//! | [`hints`] | where to look, for one value of epsilon |
//! | `search` | the search for hints, in doubles: a bad one only makes a check fail |
//! | `cover` | which nodes have to be evaluated, and which groups make the others small |
//! | [`rocq`] | the upper end as a formal proof |
//! | `canonical` | the bytes, and their seal |
//! | `read` | a claim read from a file, and this program's own answer to it |

mod canonical;
pub mod claim;
mod cover;
mod ends;
pub mod hints;
mod read;
pub mod rocq;
mod search;

use std::path::Path;

use rug::Rational;
use serde_json::{Value, json};

pub use claim::{Claim, Ends, Question};
pub use hints::{Hints, Kernel};
pub use rocq::FormalClaim;

use crate::{
    account::{Account, Epsilon},
    error::{Error, Result},
    files,
    release::subject::Resolved,
};
use ends::Outward;
use search::Search;

/// A claim with the hints that prove its two ends.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// What is claimed.
    pub claim: Claim,
    /// For the lower end; `None` where it is zero.
    pub lower: Option<Hints>,
    /// For the upper end.
    pub upper: Hints,
}

impl Certificate {
    /// Finds a claim of relative width at most 10^-digits about a subject, and the hints that prove it.
    ///
    /// Refused is what has no such certificate yet: continuous noise, a delta of zero, and compositions for which a checker would
    /// have to look at too many windows or nodes.
    pub fn prove(subject: &Resolved, question: &Question, digits: u32) -> Result<Certificate> {
        let whole = &subject.whole;
        // What the ends leave beside the truth is what the bounds of the checker may add.
        const MORE: u32 = 4;
        let answer = match question {
            Question::Epsilon { delta } => whole.epsilon(delta, digits + MORE)?,
            Question::Delta { epsilon } => whole.delta(epsilon, digits + MORE)?,
        };
        let outward = Outward::new(&answer.value, digits)?;
        if question_is_zero(question, &outward) {
            return Err(Error::Unprovable { why: NO_DELTA.to_string() });
        }
        let claim = Claim::new(subject, question, Ends { lower: outward.lower.clone(), upper: outward.upper.clone() })?;
        let evaluator = whole.evaluator();
        let ln_delta = |epsilon: &Rational| evaluator.ln_hockey_stick_approx(epsilon);
        let search = Search::new(&claim);
        // At each end, how much of delta the errors may be.
        let room = |end: &Rational| -> Result<f64> {
            Ok(match question {
                Question::Epsilon { delta } if *end == 0 => (**delta).to_f64().ln() - ln_delta(end)?,
                Question::Epsilon { .. } => slope(ln_delta, end)? * outward.room.to_f64(),
                Question::Delta { .. } => Rational::from(&outward.room / end).to_f64(),
            })
        };
        let hints = |end: &Rational, unit: Option<Vec<usize>>| -> Result<Hints> {
            let epsilon = match question {
                Question::Epsilon { .. } => end,
                Question::Delta { epsilon } => epsilon,
            };
            search.hints(epsilon, ln_delta(epsilon)?, (room(end)? / 8.0).ln(), unit)
        };
        let upper = hints(&outward.upper, None)?;
        let lower = if outward.lower == 0 {
            None
        } else {
            let at = match question {
                Question::Epsilon { .. } => Epsilon::new(outward.lower.clone())?,
                Question::Delta { epsilon } => epsilon.clone(),
            };
            let unit = match subject.worst() {
                None => None,
                Some(_) => claim.unit_of(subject, whole.delta(&at, digits + MORE)?.pair()),
            };
            Some(hints(&outward.lower, unit)?)
        };
        Ok(Certificate { claim, lower, upper })
    }

    /// The canonical text, sealed with its SHA-256.
    pub fn text(&self) -> String {
        let mut whole = json!({
            "certificate": canonical::FORMAT,
            "claim": self.claim.json(),
            "proofs": {
                "lower": self.lower.as_ref().map_or(Value::Null, |hints| hints.json()),
                "upper": self.upper.json(),
            },
        });
        whole["sha256"] = json!(canonical::seal(&whole));
        canonical::text(&whole)
    }

    /// Writes the canonical text to a file, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<()> {
        files::write_text(path, &self.text())
    }
}

/// A delta of zero: no trapezoid rule proves it.
fn question_is_zero(question: &Question, outward: &Outward) -> bool {
    matches!(question, Question::Delta { .. }) && outward.upper == 0
}

/// About -d ln(delta) / d epsilon, in doubles.
fn slope(ln_delta: impl Fn(&Rational) -> Result<f64>, epsilon: &Rational) -> Result<f64> {
    let nudge = Rational::from(epsilon / 1000_u32) + Rational::from((1, 1_000_000));
    let further = Rational::from(epsilon + &nudge);
    let slope = (ln_delta(epsilon)? - ln_delta(&further)?) / nudge.to_f64();
    // Beyond the largest of bounded losses delta is zero.
    if slope.is_finite() && slope > 0.0 { Ok(slope) } else { Err(Error::Unprovable { why: NO_SLOPE.to_string() }) }
}

const NO_DELTA: &str =
    "delta is zero, because no loss is larger than epsilon; certificates are about a delta above zero";
const NO_SLOPE: &str =
    "no loss is larger than this epsilon, so that delta is zero beyond it; certificates are about a delta above zero";
