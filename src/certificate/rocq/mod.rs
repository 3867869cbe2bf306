//! A claim as a file for Rocq, the proof assistant: `proofs/rocq` has the definitions and the soundness proof of its computation, the file
//! has one composition with hints for each end.
//!
//! The computation walks over lattice points in fixed point with 30 bits (`proofs/rocq/Certificate.v`). `walk` repeats it in the same
//! integers, so that the file states what its computation can prove: the ends of the claim, with fewer digits.

mod end;
mod fine;
mod infinite;
mod number;
mod point;
mod rows;
mod walk;

use std::path::Path;

use rug::Rational;

use super::{
    claim::{Claim, Question, Target},
    ends::{round_down, round_up},
};
use crate::{error::Result, io::files, law::Group, numeric::rational};
use end::{DELTA_DIGITS, End};
use fine::Fine;
use number::{Number, unprovable};
use point::Point;
use walk::{MARGIN, Side, Walk};

/// The most and the fewest significant digits of an end.
const DIGITS: std::ops::Range<u32> = 3..9;

/// The fields of groups.
const GROUPS: &str =
    "Group: num den move copies, then step left width reach. LaplaceGroup: num den move copies, then step reach.";
const RESPONSES: &str = "ResponseGroup: num den copies, then step norm. BoxGroup: num den, probability of an infinite loss, copies, then step norm.";
const CELLS: &str = "CellGroup: kind num den move copies, then the step of the lattice, norm, first output, outputs, left, width, reach.";

/// A claim with the hints that prove it, for compositions of counts with noise on the integers.
#[derive(Clone, Debug, PartialEq)]
pub struct FormalClaim {
    title: String,
    proof: Formal,
}

/// The claim of a file, with its hints.
#[derive(Clone, Debug, PartialEq)]
enum Formal {
    /// Two statements about delta.
    Ends {
        statement: Statement,
        /// delta(epsilon) <= delta.
        above: Box<End>,
        /// delta(epsilon) > delta.
        below: Box<End>,
    },
    /// A smallest epsilon on a coarser lattice, also of the worst of many compositions.
    Fine(Box<Fine>),
    /// A point of the trade-off function.
    Point(Box<Point>),
}

/// The meaning of two statements about delta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Statement {
    /// The smallest epsilon at a delta.
    Epsilon,
    /// delta at an epsilon.
    Delta,
    /// Noise that is enough for an epsilon at a delta, and less noise that is not.
    Scale,
}

impl Formal {
    /// The claim of one composition.
    fn of_one(path: &[&Group], claim: &Claim, lines: Option<&[Rational; 3]>) -> Result<Formal> {
        let ends = |statement: Statement, above: End, below: End| Formal::Ends {
            statement,
            above: Box::new(above),
            below: Box::new(below),
        };
        let is_infinite = infinite::kept(path).is_some();
        Ok(match &claim.question {
            Question::Epsilon { delta } if Walk::is_too_long(path, &claim.ends.upper)? => {
                Formal::Fine(Box::new(Fine::new(&[path.to_vec()], delta, &claim.ends.upper)?))
            }
            Question::Epsilon { delta } => {
                let (above, below) = epsilon_ends(path, delta, claim)?;
                ends(Statement::Epsilon, above, below)
            }
            Question::Delta { epsilon } => {
                let above = End::of_delta(path, epsilon, Side::Above, DELTA_DIGITS)?;
                let below = End::of_delta(path, epsilon, Side::Below, DELTA_DIGITS)?;
                if above.delta >= 1 {
                    return Err(unprovable("show no delta below one here"));
                }
                ends(Statement::Delta, above, below)
            }
            Question::Scale { .. } | Question::Beta { .. } if is_infinite => {
                return Err(unprovable(
                    "of calibrations and of trade-off points are about losses that are finite, and a guarantee with a delta has others",
                ));
            }
            Question::Scale { delta, target, .. } => {
                let Target::Epsilon(epsilon) = target else {
                    return Err(unprovable(
                        "of calibrations are about a given epsilon, and that of zCDP is irrational",
                    ));
                };
                let scaled = |factor: &Rational| -> Vec<Group> {
                    path.iter().map(|&group| Group { law: group.law.times(factor), ..group.clone() }).collect()
                };
                let close = || unprovable("need a larger step between the two factors: 30 bits do not separate these");
                let enough =
                    End::new(&all(&scaled(&claim.ends.upper)), epsilon, delta, Side::Above)?.ok_or_else(close)?;
                let less =
                    End::new(&all(&scaled(&claim.ends.lower)), epsilon, delta, Side::Below)?.ok_or_else(close)?;
                ends(Statement::Scale, enough, less)
            }
            Question::Beta { alpha } => {
                let [_, middle, _] = lines.ok_or_else(|| unprovable("need the point's lines"))?;
                Formal::Point(Box::new(Point::new(path, alpha, middle)?))
            }
            Question::Zcdp { .. }
            | Question::Orders { .. }
            | Question::Marginal { .. }
            | Question::Posterior { .. } => {
                return Err(unprovable(
                    "are about epsilon, delta, calibrations and trade-off points, not yet about formulas",
                ));
            }
        })
    }
}

impl FormalClaim {
    /// The claim of a certificate, with fewer digits: as many as 30 bits can prove. `lines`: those of a point of a trade-off function.
    ///
    /// Refused are claims about continuous noise; on a lattice that is too fine, and of several paths, all but the smallest epsilon.
    pub fn new(claim: &Claim, lines: Option<&[Rational; 3]>) -> Result<FormalClaim> {
        let units: Vec<Vec<&Group>> =
            claim.paths.units().iter().map(|unit| claim.paths.given_of_unit(unit).collect()).collect();
        // Of a certificate that was read the guarantees themselves are not known.
        let known =
            |unit: &Vec<&Group>| 1 - infinite::kept(unit).unwrap_or_else(|| Rational::from(1)) == claim.paths.infinite;
        if !units.iter().all(known) {
            return Err(unprovable(
                "need each guarantee with its delta, and not the probability of all infinite losses",
            ));
        }
        let proof = match (&units[..], &claim.question) {
            (_, Question::Epsilon { .. }) if claim.ends.lower == 0 => {
                return Err(unprovable("are about a smallest epsilon above zero"));
            }
            ([path], _) => Formal::of_one(path, claim, lines)?,
            (_, Question::Epsilon { delta }) => Formal::Fine(Box::new(Fine::new(&units, delta, &claim.ends.upper)?)),
            _ => return Err(unprovable("are about one composition, and of the worst of many about epsilon only")),
        };
        Ok(FormalClaim { title: claim.subject.clone(), proof })
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        // A title must not close or open a comment, or a string in one.
        let title: String = self
            .title
            .chars()
            .map(|c| if c.is_alphanumeric() || " .,:;&@/+=%-".contains(c) { c } else { ' ' })
            .collect();
        let (module, hints, body) = match &self.proof {
            Formal::Point(point) => ("Tradeoff Point", GROUPS, point.text()),
            Formal::Ends { statement, above, below } => {
                let module = if above.is_infinite() { "Private Infinite" } else { "Private Below" };
                (module, GROUPS, ends_text(*statement, above, below))
            }
            Formal::Fine(fine) => (fine.modules(), CELLS, fine.text()),
        };
        let (response, hints) = match self.has_responses() {
            true => (" Response", format!("{hints}\n   {RESPONSES}")),
            false => ("", hints.to_string()),
        };
        format!(
            "(** {}\n\n    Written by `assay prove --rocq`. Checked by computing with integers, see Certificate.v of proofs/rocq. *)\n\n\
             From Coq Require Import Reals ZArith List.\n\
             From DpAssay Require Import HockeyStick Laplace{response} Certificate {module}.\nImport ListNotations.\n\n\
             (* {hints} *)\n{body}",
            title.trim(),
        )
    }

    /// Whether there are guarantees among the counts.
    fn has_responses(&self) -> bool {
        match &self.proof {
            Formal::Point(point) => point.walk().has_responses(),
            Formal::Ends { above, .. } => above.walk.has_responses(),
            Formal::Fine(_) => false,
        }
    }

    /// Writes the text to a file, atomically.
    pub fn write(&self, path: &Path) -> Result<()> {
        files::write_text(path, &self.text())
    }

    /// The claim in words.
    pub fn in_words(&self) -> String {
        let show = rational::display;
        match &self.proof {
            Formal::Point(point) => {
                format!("{} <= beta({}) <= {}", show(&point.lower), show(&point.alpha), show(&point.upper))
            }
            Formal::Fine(fine) => {
                format!("{} <= epsilon({}) <= {}", show(&fine.lower), show(&fine.delta), show(&fine.upper))
            }
            Formal::Ends { statement, above, below } => {
                let (epsilon, delta) = (show(&above.epsilon), show(&above.delta));
                match statement {
                    Statement::Epsilon => format!("{} <= epsilon({delta}) <= {epsilon}", show(&below.epsilon)),
                    Statement::Delta => format!("{} < delta({epsilon}) <= {delta}", show(&below.delta)),
                    Statement::Scale => {
                        format!("delta({epsilon}) <= {delta} with this noise, and not with the next smaller")
                    }
                }
            }
        }
    }

    /// The numbers of the theorem by name, each with a lower and an upper end, equal where it is given.
    pub fn numbers(&self) -> Vec<(&'static str, [&Rational; 2])> {
        match &self.proof {
            Formal::Point(point) => {
                vec![("alpha", [&point.alpha, &point.alpha]), ("beta", [&point.lower, &point.upper])]
            }
            Formal::Fine(fine) => {
                vec![("epsilon", [&fine.lower, &fine.upper]), ("delta", [&fine.delta, &fine.delta])]
            }
            Formal::Ends { above, below, .. } => {
                vec![("epsilon", [&below.epsilon, &above.epsilon]), ("delta", [&below.delta, &above.delta])]
            }
        }
    }
}

fn all(groups: &[Group]) -> Vec<&Group> {
    groups.iter().collect()
}

/// Two certificates, their computations and the theorem.
fn ends_text(statement: Statement, above: &End, below: &End) -> String {
    let counts = above.walk.counts_text(5);
    let number = |value: &Rational| Number::new(value).to_string();
    let equal = |many: usize| vec!["eq_refl"; many].join(" ");
    let (epsilon, delta) = (number(&above.epsilon), number(&above.delta));
    let holes = |many: usize| vec!["_"; many].join(" ");
    // With infinite losses the computations have the theorem's delta, which is not that of the certificates.
    let (of_epsilon, of_delta) = if above.is_infinite() { ((8, 7), (10, 6)) } else { ((6, 8), (6, 6)) };
    let theorem = match statement {
        Statement::Epsilon => format!(
            "Theorem epsilon_is_between :\n  smallest_epsilon\n    ({counts})\n    {delta} {} {epsilon}.\n\
             Proof. exact (epsilon_is_between above below {} above_holds below_holds {}). Qed.\n",
            number(&below.epsilon),
            holes(of_epsilon.0),
            equal(of_epsilon.1),
        ),
        Statement::Delta => format!(
            "Theorem delta_is_between :\n  {}\n  < delta\n    ({counts})\n    {epsilon}\n  <= {delta}.\n\
             Proof. exact (delta_is_between above below {} above_holds below_holds {}). Qed.\n",
            number(&below.delta),
            holes(of_delta.0),
            equal(of_delta.1),
        ),
        Statement::Scale => format!(
            "Theorem noise_is_enough :\n  private\n    ({counts})\n    {epsilon} {delta}\n  /\\ ~ private\n    ({})\n    {epsilon} {delta}.\n\
             Proof. exact (noise_is_enough above below _ _ _ _ _ _ above_holds below_holds {}). Qed.\n",
            below.walk.counts_text(5),
            equal(6),
        ),
    };
    format!(
        "{}{}{}{}Open Scope R_scope.\n\n{theorem}",
        above.definition("above"),
        below.definition("below"),
        above.lemma("above"),
        below.lemma("below"),
    )
}

/// Both ends of the smallest epsilon, as close to the certified ones as the rounding of the rows allows.
fn epsilon_ends(path: &[&Group], delta: &Rational, claim: &Claim) -> Result<(End, End)> {
    let (lower, upper) = (&claim.ends.lower, &claim.ends.upper);
    Ok((epsilon_end(path, delta, upper, Side::Above)?, epsilon_end(path, delta, lower, Side::Below)?))
}

fn epsilon_end(path: &[&Group], delta: &Rational, certified: &Rational, side: Side) -> Result<End> {
    let finite = infinite::kept(path).map(|kept| infinite::of_finite(delta, &kept, side)).transpose()?;
    let few = || unprovable("have three digits at least, and 30 bits do not show as many here");
    // There the bound misses delta by a little; ln(delta) falls by about the tilt in one unit of epsilon.
    let walk = Walk::new(path, certified, side)?;
    let missing = (walk.ln_delta(certified).ok_or_else(few)? - finite.as_ref().unwrap_or(delta).to_f64().ln()).abs()
        + 2.0 * MARGIN;
    let step = 1.2 * missing / walk.tilt();
    let away = rational::from_f64(step)?;
    let magnitude = certified.to_f64().log10().floor() - step.log10().floor() + 1.0;
    let most = if magnitude < f64::from(DIGITS.end) { magnitude as u32 } else { DIGITS.end };
    for digits in (DIGITS.start..=most).rev() {
        let epsilon = match side {
            Side::Above => round_up(&Rational::from(certified + &away), digits),
            Side::Below => round_down(&Rational::from(certified - &away).max(Rational::new()), digits),
        };
        if let Some(end) = End::new(path, &epsilon, delta, side)? {
            return Ok(end);
        }
    }
    Err(few())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        account::Counts,
        release::subject::{Resolved, Subject},
    };

    fn subject(gaussian: &[&str], laplace: &[&str]) -> Resolved {
        let gaussian = gaussian.iter().map(|text| text.parse::<Counts>().unwrap());
        let laplace = laplace.iter().map(|text| Counts::parse_discrete_laplace(text).unwrap());
        Subject { singles: gaussian.chain(laplace).collect(), ..Subject::default() }.resolve().unwrap()
    }

    fn path(gaussian: &[&str], laplace: &[&str]) -> Vec<Group> {
        let crate::account::Whole::Composition(one) = subject(gaussian, laplace).whole else {
            panic!("one composition")
        };
        one.loss().groups().to_vec()
    }

    #[test]
    fn the_walks_enclose_delta_closely() {
        use crate::account::{Account, Epsilon};
        let cases: [(&[&str], &[&str], &str); 8] = [
            (&["5x10"], &[], "10"),
            (&["5x10"], &[], "0"),
            (&["3@3", "7x2"], &[], "2"),
            (&["0.3x4"], &[], "12"),
            (&["5x10"], &[], "40"),
            (&[], &["0.3x10"], "1"),
            (&[], &["1/2x4@3"], "2"),
            (&["5x10"], &["0.3x10", "0.1@2"], "4"),
        ];
        for (gaussian, laplace, epsilon) in cases {
            let epsilon = rational::parse(epsilon).unwrap();
            let whole = subject(gaussian, laplace).whole;
            let path = path(gaussian, laplace);
            let exact = whole.delta(Epsilon::new(epsilon.clone()).unwrap(), 12).unwrap().value;
            let exact = exact.lower_rational().unwrap().to_f64().ln();
            let bound = |side: Side| Walk::new(&all(&path), &epsilon, side).unwrap().ln_delta(&epsilon).unwrap();
            let (above, below) = (bound(Side::Above), bound(Side::Below));
            let message = format!("{gaussian:?} {laplace:?} {epsilon}: {below} {exact} {above}");
            assert!(above >= exact && above - exact < 5e-5, "{message}");
            assert!(below <= exact && exact - below < 5e-5, "{message}");
        }
    }

    #[test]
    fn guarantees_are_enclosed_closely() {
        use crate::account::{Account, Epsilon};
        use crate::loss::testing::groups;
        for (texts, epsilon) in [
            (&["pure:1/10x60"][..], "3"),
            (&["pure:1/100x300"], "1/2"),
            (&["approximate:1/2:1/10000000x10"], "4"),
            (&["5x10", "discrete-laplace:1/10x5", "pure:3/10x5", "approximate:1/2:1/1000x2"], "3"),
            (&["approximate:1:1/10x3"], "1"),
        ] {
            let path = groups(texts);
            let singles = path.iter().map(|group| Counts::new(group.law.clone(), group.copies, group.shift).unwrap());
            let whole = Subject { singles: singles.collect(), ..Subject::default() }.resolve().unwrap().whole;
            let epsilon = rational::parse(epsilon).unwrap();
            let exact = whole.delta(Epsilon::new(epsilon.clone()).unwrap(), 12).unwrap().value;
            let (lower, upper) = (exact.lower_rational().unwrap(), exact.upper_rational().unwrap());
            let [above, below] =
                [Side::Above, Side::Below].map(|side| End::of_delta(&all(&path), &epsilon, side, 9).unwrap().delta);
            let message = format!("{texts:?} {epsilon}: {below} {lower} {upper} {above}");
            assert!(below <= lower && upper <= above, "{message}");
            assert!(Rational::from(&above - &below) < upper / 10_000_u32, "{message}");
        }
    }

    #[test]
    fn guarantees_that_are_not_known_are_refused() {
        use crate::{account::Epsilon, certificate::claim::Ends, loss::testing::groups};
        let singles = groups(&["approximate:1/2:1/1000x2"]).into_iter();
        let singles = singles.map(|group| Counts::new(group.law, group.copies, group.shift).unwrap()).collect();
        let subject = Subject { singles, ..Subject::default() }.resolve().unwrap();
        let question = Question::Delta { epsilon: Epsilon::new(Rational::from((1, 2))).unwrap() };
        let ends = Ends { lower: Rational::new(), upper: Rational::from(1) };
        let mut claim = Claim::new(&subject, question, ends).unwrap();
        let text = FormalClaim::new(&claim, None).unwrap().text();
        assert!(text.contains("(repeat (Box (1 / 2) (1 / 1000)) 2)"), "{text}");
        claim.paths.given = claim.paths.groups.clone();
        let message = FormalClaim::new(&claim, None).unwrap_err().to_string();
        assert!(message.contains("each guarantee with its delta"), "{message}");
    }

    #[test]
    fn numbers_are_read_by_rocq_as_the_same_quotients() {
        for (text, shown, fields) in [
            ("1e-11", "1e-11", "(1) (100000000000)"),
            ("10.125418", "10.125418", "(10125418) (1000000)"),
            ("10", "10.0", "(100) (10)"),
            ("0", "0.0", "(0) (10)"),
            ("0.0033685", "0.0033685", "(33685) (10000000)"),
            ("0.000033685", "33685e-9", "(33685) (1000000000)"),
            ("1/3", "(1 / 3)", "(1) (3)"),
        ] {
            let number = Number::new(&rational::parse(text).unwrap());
            assert_eq!((number.to_string().as_str(), number.fields().as_str()), (shown, fields), "{text}");
        }
    }

    #[test]
    fn a_title_cannot_leave_its_comment() {
        let one = Rational::from(1);
        let path = path(&["5"], &[]);
        let [above, below] =
            [Side::Above, Side::Below].map(|side| Box::new(End::of_delta(&all(&path), &one, side, 6).unwrap()));
        let title = "*) Axiom a : False. (* \"\n".to_string();
        let text = FormalClaim { title, proof: Formal::Ends { statement: Statement::Delta, above, below } }.text();
        assert_eq!(text.lines().next().unwrap(), "(** Axiom a : False.");
    }
}
