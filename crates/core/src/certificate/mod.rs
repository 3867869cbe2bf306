//! Certificates: a certified number with the hints from which another program proves it again, without a search.
//!
//! A certificate has a claim, exact to the last digit, about an epsilon, a delta, a point of the trade-off function, a
//! calibration, a formula of rho, a decision or a posterior; and hints: contours, their nodes to evaluate, and the groups that
//! make all others small; or, if there are few outcomes, those to enumerate. `proofs/check.py` proves the claim with its
//! own arithmetic and believes no hint; `proofs/README.md` has the format and the theorems (A) to (P).
//!
//! ```
//! # use dp_assay_core as dp_assay;
//! use dp_assay::{certificate::{Certificate, Question}, release::subject::Subject};
//! let subject = Subject { singles: vec!["5x10".parse()?], ..Subject::default() }.resolve()?;
//! let certificate = Certificate::prove(&subject, &Question::Epsilon { delta: "1e-11".parse()? }, 8)?;
//! assert!(certificate.text().starts_with("{\"certificate\":\"assay 4\",\"claim\":{"));
//! # Ok::<(), dp_assay::Error>(())
//! ```
//!
//! | file | content |
//! | --- | --- |
//! | `mod.rs` | certificates, and claims from certified answers |
//! | [`claim`] | the claim: paths of groups, and both ends of a number |
//! | `ends` | the ends of a claim: short decimals outside of a certified enclosure |
//! | `question` | the quantity of a claim, with its conditions |
//! | `decisions` | claims of one direction or of both: decisions, and posteriors of events |
//! | `outputs` | posteriors of outputs, by the delta of one epsilon |
//! | `direction` | delta of one direction, or the larger of both |
//! | [`hints`] | how to find bounds of delta |
//! | `parts` | the units that are proven together, and how |
//! | `points` | the three lines that enclose a point of the trade-off function |
//! | `search` | the search for a contour, in doubles: a bad one only makes a check fail |
//! | `cover` | the nodes to evaluate, and the groups that make the others small |
//! | `atoms` | the outcomes to enumerate, if a unit has few |
//! | [`rocq`] | both ends as a formal proof |
//! | `formulas` | proofs without nodes: epsilon by the best order, the marginal posterior |
//! | `limits` | the limits of the checkers on a certificate as a whole |
//! | `canonical` | the bytes, and their seal |
//! | `checker` | the checker itself, as a file for users of an installed program |
//! | `source` | the program, and the release file from which a claim was made |
//! | `terms` | the groups of a composition as the format has them, and why other laws have no certificate |
//! | `named` | the counts and the file that the subject of a memo's certificate names |
//! | `read`, `recompute` | a claim read from a file, and this program's own answer for it |

mod atoms;
mod canonical;
mod checker;
pub mod claim;
mod cover;
mod decisions;
mod direction;
mod ends;
mod formulas;
pub mod hints;
mod limits;
mod named;
mod outputs;
mod parts;
mod points;
mod question;
mod read;
mod recompute;
pub mod rocq;
mod search;
mod source;
mod terms;

use std::path::Path;

use rug::Rational;
use serde_json::{Value, json};

pub use checker::{CHECKER, CHECKER_PAGE, may_hold_checker, write_checker};
pub use claim::{Claim, Ends, Given, Question, Target, name_of_direction};
#[doc(hidden)]
pub use decisions::value_of;
pub use hints::{Hints, Proof};
pub use rocq::FormalClaim;
pub use source::Source;

use crate::{
    account::{
        Account, Delta, Epsilon, Whole, conversions,
        promise::{self, Grid, Promise},
    },
    error::{Error, Result},
    io::files,
    law::Direction,
    loss::law::Group,
    numeric::{Enclosure, precision},
    release::subject::Resolved,
    risk,
};
use claim::Paths;
use ends::{MORE, Outward, check_exponent};
use parts::Aim;
use points::{Function, Points};

/// A claim with the hints that prove its two ends.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// The claim.
    pub claim: Claim,
    /// For the lower end, about one unit; empty if it is zero.
    pub lower: Vec<Hints>,
    /// For the upper end, about all units.
    pub upper: Vec<Hints>,
    /// The values of epsilon whose lines enclose a point of a trade-off function, three orders less one around the best, or the epsilon whose delta bounds a posterior of outputs.
    pub points: Option<Vec<Rational>>,
    /// The program that wrote it, and the release file: labels.
    pub source: Source,
}

impl Certificate {
    /// Finds a claim of relative width at most 10^-digits about a subject, and the hints that prove it. A point of a trade-off
    /// function may be wider if three lines do not enclose it better.
    ///
    /// Refused are claims that have no such certificate yet: continuous noise beside noise on the integers, a delta of zero, and compositions for which a checker would
    /// have to visit too many windows, nodes or outcomes. For a calibration use [`Certificate::calibrated`].
    pub fn prove(subject: &Resolved, question: &Question, digits: u32) -> Result<Certificate> {
        Self::prove_of(subject, question, None, digits)
    }

    /// Finds a claim about one direction: delta of its first data set against the other, tests of the other against it, and priors of it. Of both without one.
    ///
    /// Refused is a direction for claims that have none, and for bounded neighbors.
    pub fn prove_of(
        subject: &Resolved,
        question: &Question,
        direction: Option<Direction>,
        digits: u32,
    ) -> Result<Certificate> {
        match question {
            Question::Epsilon { .. } if direction.is_some() => {
                let why =
                    "an epsilon of one direction is not searched for: certify delta at an epsilon, or both directions";
                Err(Error::Unprovable { why: why.to_string() })
            }
            Question::Epsilon { delta } => {
                let answer = subject.whole.epsilon(delta, digits + MORE)?;
                let ends = Outward::new(&answer.value, digits)?;
                Self::of_profile(subject, (question, direction), ends, digits)
            }
            Question::Delta { epsilon } => {
                let answer = decisions::certified_delta(&subject.whole, direction, epsilon, digits + MORE)?;
                let mut ends = Outward::new(&answer.value, digits)?;
                if ends.upper == 0 {
                    return Err(Error::Unprovable { why: NO_DELTA.to_string() });
                }
                // A difference of probabilities.
                ends.upper = ends.upper.min(Rational::from(1));
                Self::of_profile(subject, (question, direction), ends, digits)
            }
            Question::Beta { alpha } => Self::of_tradeoff(subject, alpha, direction, digits),
            Question::Decision { prior } => {
                Self::of_found(subject, decisions::of_decision(subject, prior, direction, digits)?)
            }
            Question::Events { prior, probability } => {
                Self::of_found(subject, decisions::of_events(subject, (prior, probability), direction, digits)?)
            }
            Question::Outputs { prior, probability } => {
                let asked = outputs::Asked { prior, probability, direction };
                let outputs::Found { claim, upper, epsilon } = outputs::of_outputs(subject, asked, digits)?;
                let (lower, points) = (Vec::new(), Some(vec![epsilon]));
                Certificate { claim, lower, upper, points, source: Source::of_subject(subject) }
                    .within_the_checkers_limit()
            }
            other => Self::of_both(subject, other, direction, digits),
        }
    }

    /// Claims that have no direction.
    fn of_both(
        subject: &Resolved,
        question: &Question,
        direction: Option<Direction>,
        digits: u32,
    ) -> Result<Certificate> {
        if direction.is_some() {
            let why = format!("a claim about {} has no direction", question.about());
            return Err(Error::Unprovable { why });
        }
        match question {
            Question::Zcdp { delta } => {
                let value = conversions::zcdp_epsilon(&subject.whole.rho_of_all()?, delta, digits + MORE);
                Self::of_formula(subject, question, &value, digits)
            }
            Question::Orders { delta } => {
                let (ends, points) = formulas::orders(&subject.whole.rho_of_all()?, delta, digits)?;
                let claim = Claim::new(subject, question.clone(), ends)?;
                Self::of_found(
                    subject,
                    decisions::Found { claim, lower: Vec::new(), upper: Vec::new(), points: Some(points.into()) },
                )
            }
            Question::Marginal { prior } => {
                let paths = Paths::of_whole(&subject.whole)?;
                let value = formulas::marginal(&paths, prior, digits + MORE)?;
                let Outward { lower, upper, room } = Outward::new(&value, digits)?;
                let claim = Claim::new(subject, question.clone(), Ends { lower, upper })?;
                let upper = vec![formulas::losses(&paths, room.to_f64() / 8.0)?];
                Self::of_found(subject, decisions::Found { claim, lower: Vec::new(), upper, points: None })
            }
            Question::Posterior { prior, noisy } => {
                let value = posterior(&Paths::of_whole(&subject.whole)?, prior, noisy, digits + MORE)?;
                Self::of_formula(subject, question, &value, digits)
            }
            Question::Scale { .. } => Err(Error::unsuitable("a calibration is certified by Certificate::calibrated")),
            other => Err(Error::fault(format!("a claim about {} has a direction, or both", other.about()))),
        }
    }

    /// A claim that a checker computes without hints.
    fn of_formula(subject: &Resolved, question: &Question, value: &Enclosure, digits: u32) -> Result<Certificate> {
        let Outward { lower, upper, .. } = Outward::new(value, digits)?;
        let claim = Claim::new(subject, question.clone(), Ends { lower, upper })?;
        Self::of_found(subject, decisions::Found { claim, lower: Vec::new(), upper: Vec::new(), points: None })
    }

    /// epsilon or delta: one value of the profile for each end.
    fn of_profile(
        subject: &Resolved,
        (question, direction): (&Question, Option<Direction>),
        outward: Outward,
        digits: u32,
    ) -> Result<Certificate> {
        let whole = &subject.whole;
        let Outward { lower, upper, room } = outward;
        let ends = Ends { lower: lower.clone(), upper: upper.clone() };
        let claim = Claim::new(subject, question.clone(), ends)?.in_direction(direction)?;
        let evaluator = whole.evaluator();
        let ln_delta = |epsilon: &Rational| direction::ln_delta_of(&evaluator, direction, epsilon);
        // For each end, the epsilon of the profile, and the share of its delta that the errors may take.
        let aim = |end: &Rational| -> Result<(Rational, f64, f64)> {
            let (at, room) = match question {
                Question::Epsilon { delta } if *end == 0 => (end.clone(), libm::log(delta.to_f64()) - ln_delta(end)?),
                Question::Epsilon { delta } => {
                    let room = match slope(ln_delta, end)? {
                        Slope::Falls(slope) => slope * room.to_f64(),
                        Slope::IsFlat => below_delta(
                            &decisions::certified_delta(whole, direction, &Epsilon::new(end.clone())?, digits + FLAT)?
                                .value,
                            delta,
                        )?,
                    };
                    (end.clone(), room)
                }
                Question::Delta { epsilon } => (Rational::clone(epsilon), Rational::from(&room / end).to_f64()),
                other => {
                    return Err(Error::fault(format!(
                        "hints were requested for {}, and only epsilon and delta have any",
                        other.about()
                    )));
                }
            };
            let ln = ln_delta(&at)?;
            Ok((at, ln, ln + libm::log(room / 8.0)))
        };
        let (epsilon, ln_delta_there, ln_error) = aim(&upper)?;
        let hints = parts::all(&claim.paths, Aim { epsilon: &epsilon, ln_delta: ln_delta_there, ln_error })?;
        let mut certificate =
            Certificate { claim, lower: Vec::new(), upper: hints, points: None, source: Source::of_subject(subject) };
        if lower > 0 {
            let (epsilon, ln_delta, ln_error) = aim(&lower)?;
            let aim = Aim { epsilon: &epsilon, ln_delta, ln_error };
            certificate.lower = vec![parts::lower_hints(&certificate.claim.paths, whole, aim, digits)?];
        }
        certificate.within_the_checkers_limit()
    }

    /// beta at alpha, by three values of the profile.
    fn of_tradeoff(
        subject: &Resolved,
        alpha: &Rational,
        direction: Option<Direction>,
        digits: u32,
    ) -> Result<Certificate> {
        let function = Function { whole: &subject.whole, direction, alpha, is_of_one: direction.is_some() };
        let Points { epsilons, value, room } = Points::around(&function, digits)?;
        let outward = Outward::new(&value, digits)?;
        // A test that looks at nothing has this error.
        let ends = Ends { lower: outward.lower, upper: outward.upper.min(Rational::from(1 - alpha)) };
        let claim = Claim::new(subject, Question::Beta { alpha: alpha.clone() }, ends)?.in_direction(direction)?;
        let error = room.min(outward.room.to_f64()) / 16.0;
        Self::of_found(subject, decisions::proven_at(&function, claim, epsilons, error, digits)?)
    }

    fn of_found(subject: &Resolved, found: decisions::Found) -> Result<Certificate> {
        let decisions::Found { claim, lower, upper, points } = found;
        Certificate { claim, lower, upper, points, source: Source::of_subject(subject) }.within_the_checkers_limit()
    }

    /// The least common factor of a grid on all noise that meets a target, with the next smaller one, which does not.
    ///
    /// Refused is what [`Certificate::prove`] refuses, a target curve, and a grid that starts with the answer.
    pub fn calibrated(subject: &Resolved, promise: &Promise, grid: Grid) -> Result<Certificate> {
        let found = promise::calibrate_worst(&subject.whole, &subject.total, promise, grid)?;
        Self::of_scale(subject, (promise, grid), found.before, found.factor)
    }

    /// The claim that the upper factor is enough for a target, and the lower one is not.
    fn of_scale(
        subject: &Resolved,
        (promise, grid): (&Promise, Grid),
        lower: Option<Rational>,
        upper: Rational,
    ) -> Result<Certificate> {
        let why = |why: &str| Error::Unprovable { why: why.to_string() };
        let (delta, target) = match promise {
            Promise::Epsilon { delta, epsilon } => (delta.clone(), Target::Epsilon(epsilon.clone())),
            Promise::ZcdpEpsilon { delta } => (delta.clone(), Target::Zcdp),
            Promise::Known { .. } => {
                return Err(why(
                    "an epsilon that is known only within an enclosure: name the epsilon, or the one of zCDP",
                ));
            }
            Promise::OneWay { .. } => {
                return Err(why("a probability of a correct decision is about one direction"));
            }
            Promise::Outputs { .. } => {
                return Err(why("a posterior of outputs is not one statement about delta"));
            }
            Promise::Tradeoff { .. } => {
                return Err(why("a target of the trade-off function is not one statement about delta"));
            }
            Promise::ZcdpCurve { .. } => {
                return Err(why("a target at every delta of a range is not two statements about delta"));
            }
        };
        // Both ends of the epsilon, as short decimals.
        let (least, most) = match &target {
            Target::Epsilon(epsilon) => (Rational::clone(epsilon), Rational::clone(epsilon)),
            Target::Zcdp => {
                subject.whole.rho_of_all()?;
                let epsilon = promise.target(&subject.whole, &delta);
                let epsilon = epsilon.ok_or_else(|| why("the target is no epsilon"))?;
                let Outward { lower, upper, .. } = Outward::new(&epsilon, 25)?;
                (lower, upper)
            }
        };
        let lower = lower.ok_or_else(|| why("the grid has no smaller noise that could be proven not to be enough"))?;
        let question = Question::Scale { delta: delta.clone(), target, grid };
        let claim = Claim::new(subject, question, Ends { lower: lower.clone(), upper: upper.clone() })?;
        if !claim.fits_grid() {
            return Err(why("the smallest sigma2, whose grid it is, is on none of the paths"));
        }
        let aimed = |factor: &Rational, at: &Rational| -> Result<(Whole, f64, f64)> {
            let whole = subject.whole.with_noise_times(factor)?;
            let ln = whole.evaluator().ln_hockey_stick_approx(at)?;
            // The distance of delta from the target, of which the errors may be a part.
            let gap = (libm::log(delta.to_f64()) - ln).abs().min(0.5);
            Ok((whole, ln, ln + libm::log(gap / 8.0)))
        };
        let (whole, ln_delta, ln_error) = aimed(&upper, &least)?;
        let upper = parts::all(&Paths::of_whole(&whole)?, Aim { epsilon: &least, ln_delta, ln_error })?;
        let (whole, ln_delta, ln_error) = aimed(&lower, &most)?;
        let aim = Aim { epsilon: &most, ln_delta, ln_error };
        let lower = vec![parts::lower_hints(&Paths::of_whole(&whole)?, &whole, aim, 8)?];
        Certificate { claim, lower, upper, points: None, source: Source::of_subject(subject) }
            .within_the_checkers_limit()
    }

    /// The canonical text, sealed with its SHA-256.
    pub fn text(&self) -> String {
        let hints = |all: &[Hints]| -> Value { all.iter().map(Hints::json).collect() };
        let points = self.points.as_ref().map(|points| points.iter().map(claim::fraction).collect::<Value>());
        let mut whole = json!({
            "certificate": canonical::FORMAT,
            "claim": self.claim.json(),
            "proofs": { "lower": hints(&self.lower), "points": points, "upper": hints(&self.upper) },
            "source": self.source.json(),
        });
        whole["sha256"] = json!(canonical::seal(&whole));
        canonical::text(&whole)
    }

    /// Writes the canonical text to a file, atomically.
    pub fn write(&self, path: &Path) -> Result<()> {
        files::write_text(path, &self.text())
    }
}

/// The posterior probability of the record: an output of Gaussian counts whose noisy sum is n has the loss n weight - offset.
fn posterior(paths: &Paths, prior: &Rational, noisy: &[i64], digits: u32) -> Result<Enclosure> {
    let why = |why: &str| Error::Unprovable { why: why.to_string() };
    let [path] = &paths.groups[..] else { return Err(why("a posterior is about one path")) };
    if path.iter().any(|group| group.law.discrete_sigma2().is_none()) {
        return Err(why("a posterior is about discrete Gaussian counts"));
    }
    if noisy.len() != path.len() {
        return Err(Error::conflict(format!(
            "{} noisy sums for {} groups of counts: one is needed for each",
            noisy.len(),
            path.len()
        )));
    }
    let loss = |(group, n): (&Group, &i64)| group.weight() * *n - group.rho();
    let evidence: Rational = path.iter().zip(noisy).map(loss).sum();
    check_exponent(&evidence)?;
    Ok(risk::posterior(prior, &evidence, precision::bits(digits, 24)))
}

/// Digits beyond those of a claim where a profile is flat.
const FLAT: u32 = 20;
/// Below this slope a profile is taken as flat: the room of a proof is then found from delta itself.
const LEAST_SLOPE: f64 = 1e-6;

/// How a profile goes on.
enum Slope {
    /// Approximately -d ln(delta) / d epsilon, in doubles.
    Falls(f64),
    /// It hardly falls: what is left of delta are outputs of infinite loss.
    IsFlat,
}

/// The share of delta by which a flat profile is below it, of which the errors of a proof may be a part. An error where it is not below.
fn below_delta(value: &Enclosure, delta: &Delta) -> Result<f64> {
    let gap = value.upper_rational().map(|upper| &**delta - upper).filter(|gap| *gap > 0);
    let share = gap.map(|gap| (gap / &**delta).to_f64());
    share.filter(|share| *share > LEAST_SHARE).ok_or_else(|| Error::Unprovable { why: AT_MASS.to_string() })
}

/// The least share of delta that the sums of a checker resolve.
const LEAST_SHARE: f64 = 1e-25;

/// How ln(delta) falls at an epsilon; an error where it does not, on either side.
fn slope(ln_delta: impl Fn(&Rational) -> Result<f64>, epsilon: &Rational) -> Result<Slope> {
    let here = ln_delta(epsilon)?;
    let nudge = Rational::from(epsilon / 1000_u32) + Rational::from((1, 1_000_000));
    let further = Rational::from(epsilon + &nudge);
    let beyond = (here - ln_delta(&further)?) / nudge.to_f64();
    if beyond.is_finite() {
        return Ok(if beyond > LEAST_SLOPE { Slope::Falls(beyond) } else { Slope::IsFlat });
    }
    // Beyond the largest of bounded losses delta is zero, and has no logarithm. A smaller epsilon has one, unless delta is zero here as well.
    let back = nudge.min(Rational::from(epsilon / 2_u32));
    let before = (ln_delta(&Rational::from(epsilon - &back))? - here) / back.to_f64();
    match before.is_finite() && before > 0.0 {
        true => Ok(Slope::Falls(before)),
        false => Err(Error::Unprovable { why: NO_SLOPE.to_string() }),
    }
}

const NO_DELTA: &str =
    "delta is zero, because no loss is larger than epsilon; certificates are about a delta above zero";
const NO_SLOPE: &str = "no finite loss is larger than this epsilon; certificates are about a delta above that of the outputs of infinite loss, and above zero";
const AT_MASS: &str = "delta is the probability of the outputs of infinite loss, or hardly above it: the sums of a checker are rounded up and prove a larger delta alone";
