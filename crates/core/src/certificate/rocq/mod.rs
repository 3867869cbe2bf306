//! A claim as a file for Rocq, the proof assistant: `proofs/rocq` has the definitions and the soundness proof of its computation, the file
//! has one composition with hints for each end.
//!
//! The computation walks over lattice points in fixed point with 30 bits (`proofs/rocq/Certificate.v`). `walk` repeats it in the same
//! integers, so that the file states what its computation can prove: the ends of the claim, with fewer digits.

mod bounded;
mod end;
mod fine;
mod infinite;
mod laws;
mod number;
mod point;
mod rows;
mod statement;
mod walk;

use std::path::Path;

use rug::Rational;

use super::{
    claim::{Claim, Ends, Paths, Question, Target},
    ends::{MORE, Outward},
    points::{Function, Points},
    terms::as_given,
};
use crate::{
    account::{
        Account, Whole,
        promise::{self, Grid, Promise},
    },
    error::Result,
    io::files,
    law::Group,
    numeric::rational,
    release::subject::Resolved,
};
use end::{DELTA_DIGITS, End};
use fine::{Fine, FineEnds};
use laws::Noise;
use number::unprovable;
use point::Point;
use statement::Statement;
use walk::{Side, Walk};

/// The fields of groups.
const GROUPS: &str =
    "Group: num den move copies, then step left width reach. LaplaceGroup: num den move copies, then step norm reach.";
const RESPONSES: &str = "ResponseGroup: num den copies, then step norm. BoxGroup: num den, probability of an infinite loss, copies, then step norm.";
const BOUNDED: &str = "TruncatedGroup, TruncatedLaplaceGroup: num den bound move copies, then step norm left width. AnswersGroup: num den answers copies, then step norm.";
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
    /// Two statements about delta on a coarser lattice.
    FineEnds { statement: Statement, ends: Box<FineEnds> },
    /// A point of the trade-off function.
    Point(Box<Point>),
}

/// The number to prove, and where it is.
struct Request {
    question: Question,
    ends: Ends,
    /// Of a point of a trade-off function: three values of epsilon.
    lines: Option<[Rational; 3]>,
}

impl Formal {
    fn ends(statement: Statement, above: End, below: End) -> Formal {
        Formal::Ends { statement, above: Box::new(above), below: Box::new(below) }
    }

    /// The factor of the upper end on all noise is enough, and that of the lower end is not.
    fn of_scale(path: &[&Group], ends: &Ends, epsilon: &Rational, delta: &Rational) -> Result<Formal> {
        let scaled = |factor: &Rational| -> Vec<Group> {
            path.iter().map(|&group| Group { law: group.law.times(factor), ..group.clone() }).collect()
        };
        let (enough, less) = (scaled(&ends.upper), scaled(&ends.lower));
        let (enough, less) = (all(&enough), all(&less));
        if Walk::is_too_long(&enough, epsilon)? || Walk::is_too_long(&less, epsilon)? {
            let ends = FineEnds::of_scale([&enough, &less], epsilon, delta)?;
            return Ok(Formal::FineEnds { statement: Statement::Scale, ends: Box::new(ends) });
        }
        let close = || unprovable("need a larger step between the two factors: 30 bits do not separate these");
        let enough = End::new(&enough, epsilon, delta, Side::Above)?.ok_or_else(close)?;
        let less = End::new(&less, epsilon, delta, Side::Below)?.ok_or_else(close)?;
        Ok(Formal::ends(Statement::Scale, enough, less))
    }

    /// The claim of one composition.
    fn of_one(path: &[&Group], claim: &Request) -> Result<Formal> {
        Ok(match &claim.question {
            Question::Epsilon { delta } if Walk::is_too_long(path, &claim.ends.upper)? => {
                Formal::Fine(Box::new(Fine::new(&[path.to_vec()], delta, &claim.ends.upper)?))
            }
            Question::Epsilon { delta } => {
                let above = End::of_epsilon(path, delta, &claim.ends.upper, Side::Above)?;
                let below = End::of_epsilon(path, delta, &claim.ends.lower, Side::Below)?;
                Formal::ends(Statement::Epsilon, above, below)
            }
            Question::Delta { epsilon } if Walk::is_too_long(path, epsilon)? => {
                let ends = FineEnds::new(path, [epsilon, &claim.ends.upper], DELTA_DIGITS, 1)?;
                Formal::FineEnds { statement: Statement::Delta, ends: Box::new(ends) }
            }
            Question::Delta { epsilon } => {
                let above = End::of_delta(path, epsilon, Side::Above, DELTA_DIGITS)?;
                let below = End::of_delta(path, epsilon, Side::Below, DELTA_DIGITS)?;
                if above.delta >= 1 {
                    return Err(unprovable("show no delta below one here"));
                }
                Formal::ends(Statement::Delta, above, below)
            }
            Question::Scale { delta, target: Target::Epsilon(epsilon), .. } => {
                Formal::of_scale(path, &claim.ends, epsilon, delta)?
            }
            Question::Scale { .. } => {
                return Err(unprovable("of calibrations are about a given epsilon, and that of zCDP is irrational"));
            }
            Question::Beta { alpha } => {
                let [_, middle, _] = claim.lines.as_ref().ok_or_else(|| unprovable("need the point's lines"))?;
                Formal::Point(Box::new(Point::new(path, alpha, middle)?))
            }
            Question::Zcdp { .. }
            | Question::Orders { .. }
            | Question::Marginal { .. }
            | Question::Decision { .. }
            | Question::Events { .. }
            | Question::Outputs { .. }
            | Question::Posterior { .. } => {
                return Err(unprovable(
                    "are about epsilon, delta, calibrations and trade-off points, not yet about formulas, decisions and posteriors",
                ));
            }
        })
    }
}

impl FormalClaim {
    /// The claim of a certificate, with fewer digits: as many as 30 bits can prove. `lines`: those of a point of a trade-off function.
    ///
    /// Refused are claims about continuous noise; on a lattice that is too fine, counts that are not discrete Gaussian; of several paths all but the smallest epsilon.
    pub fn new(claim: &Claim, lines: Option<&[Rational; 3]>) -> Result<FormalClaim> {
        if claim.direction.is_some() {
            return Err(unprovable("are about both directions, and this claim is about one"));
        }
        let units: Vec<Vec<&Group>> =
            claim.paths.units().iter().map(|unit| claim.paths.given_of_unit(unit).collect()).collect();
        // Of a certificate that was read the guarantees themselves are not known.
        let known = |unit: &Vec<&Group>| {
            1 - infinite::of_guarantees(unit).unwrap_or_else(|| Rational::from(1)) == claim.paths.infinite
        };
        if !units.iter().all(known) {
            return Err(unprovable(
                "need each guarantee with its delta, and not the probability of all infinite losses",
            ));
        }
        let request = Request { question: claim.question.clone(), ends: claim.ends.clone(), lines: lines.cloned() };
        FormalClaim::titled(claim.subject.clone(), &units, &request)
    }

    /// A claim of its own, also about laws that certificates do not have: of epsilon, delta or a trade-off point.
    ///
    /// Refused as by [`FormalClaim::new`], with ends within a relative distance of 10^-digits in place of a certificate's.
    pub fn prove(subject: &Resolved, question: &Question, digits: u32) -> Result<FormalClaim> {
        let units = units_of(subject)?;
        let mut lines = None;
        let value = match question {
            Question::Epsilon { delta } => subject.whole.epsilon(delta, digits + MORE)?.value,
            Question::Delta { epsilon } => subject.whole.delta(epsilon, digits + MORE)?.value,
            Question::Beta { alpha } => {
                let function = Function { whole: &subject.whole, direction: None, alpha, is_of_one: false };
                let points = Points::around(&function, digits)?;
                lines = Some(points.epsilons);
                points.value
            }
            other => {
                return Err(unprovable(&format!(
                    "are about epsilon, delta, calibrations and trade-off points, and not about {}",
                    other.about()
                )));
            }
        };
        let Outward { lower, upper, .. } = Outward::new(&value, digits)?;
        let request = Request { question: question.clone(), ends: Ends { lower, upper }, lines };
        FormalClaim::of_units(subject, &units, &request)
    }

    /// The least common factor of a grid on all noise that meets a target, with the next smaller one, which does not.
    pub fn calibrated(subject: &Resolved, promise: &Promise, grid: Grid) -> Result<FormalClaim> {
        let Promise::Epsilon { delta, epsilon } = promise else {
            return Err(unprovable("of calibrations are about a given epsilon, and that of zCDP is irrational"));
        };
        let units = units_of(subject)?;
        let found = promise::calibrate_worst(&subject.whole, &subject.total, promise, grid)?;
        let lower = found.before.ok_or_else(|| unprovable("need a grid with smaller noise, which is not enough"))?;
        let question = Question::Scale { delta: delta.clone(), target: Target::Epsilon(epsilon.clone()), grid };
        let request = Request { question, ends: Ends { lower, upper: found.factor }, lines: None };
        FormalClaim::of_units(subject, &units, &request)
    }

    fn of_units(subject: &Resolved, units: &[Vec<Group>], request: &Request) -> Result<FormalClaim> {
        let units: Vec<Vec<&Group>> = units.iter().map(|unit| all(unit)).collect();
        FormalClaim::titled(subject.title.clone(), &units, request)
    }

    fn titled(title: String, units: &[Vec<&Group>], request: &Request) -> Result<FormalClaim> {
        let proof = match (units, &request.question) {
            (_, Question::Epsilon { .. }) if request.ends.lower == 0 => {
                return Err(unprovable("are about a smallest epsilon above zero"));
            }
            ([path], _) => Formal::of_one(path, request)?,
            (_, Question::Epsilon { delta }) => Formal::Fine(Box::new(Fine::new(units, delta, &request.ends.upper)?)),
            _ => return Err(unprovable("are about one composition, and of the worst of many about epsilon only")),
        };
        Ok(FormalClaim { title, proof })
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
            Formal::Point(point) => {
                ("Tradeoff Point", if point.walk().is_some() { GROUPS } else { CELLS }, point.text())
            }
            Formal::Ends { statement, above, below } => {
                let module = if above.is_infinite() { "Private Infinite" } else { "Private Below" };
                (module, GROUPS, statement.text(above, below))
            }
            Formal::Fine(fine) => (fine.modules(), CELLS, fine.text()),
            Formal::FineEnds { statement, ends } => ("Private Fine", CELLS, statement.fine_text(ends)),
        };
        let (response, hints) = match self.has_responses() {
            true => (" Response", format!("{hints}\n   {RESPONSES}")),
            false => ("", hints.to_string()),
        };
        let (bounded, hints) = match self.has_bounded() {
            true => (" Bounded", format!("{hints}\n   {BOUNDED}")),
            false => ("", hints),
        };
        format!(
            "(** {}\n\n    Written by `assay prove --rocq`. Checked by computing with integers, see Certificate.v of proofs/rocq. *)\n\n\
             From Coq Require Import Reals ZArith List.\n\
             From DpAssay Require Import HockeyStick Laplace{response}{bounded} Certificate {module}.\nImport ListNotations.\n\n\
             (* {hints} *)\n{body}",
            title.trim(),
        )
    }

    /// Whether there are guarantees among the counts.
    fn has_responses(&self) -> bool {
        self.walk().is_some_and(Walk::has_responses)
    }

    /// Whether there is noise on finitely many integers among them.
    fn has_bounded(&self) -> bool {
        self.walk().is_some_and(Walk::has_bounded)
    }

    fn walk(&self) -> Option<&Walk> {
        match &self.proof {
            Formal::Point(point) => point.walk(),
            Formal::Ends { above, .. } => Some(&above.walk),
            Formal::Fine(_) | Formal::FineEnds { .. } => None,
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
            Formal::Ends { statement: Statement::Epsilon, above, below } => {
                format!("{} <= epsilon({}) <= {}", show(&below.epsilon), show(&above.delta), show(&above.epsilon))
            }
            Formal::Ends { statement, above, below } => {
                statement.about_delta([&above.epsilon, &below.delta, &above.delta])
            }
            Formal::FineEnds { statement, ends } => statement.about_delta([&ends.epsilon, &ends.lower, &ends.upper]),
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
            Formal::FineEnds { ends, .. } => {
                vec![("epsilon", [&ends.epsilon, &ends.epsilon]), ("delta", [&ends.lower, &ends.upper])]
            }
            Formal::Ends { above, below, .. } => {
                vec![("epsilon", [&below.epsilon, &above.epsilon]), ("delta", [&below.delta, &above.delta])]
            }
        }
    }
}

/// The counts of each unit. Other laws are refused before anything is computed.
fn units_of(subject: &Resolved) -> Result<Vec<Vec<Group>>> {
    let units: Vec<Vec<Group>> = match &subject.whole {
        Whole::Composition(one) => vec![as_given(one)],
        Whole::WorstPath(_) | Whole::ManyWays(_) => {
            let paths = Paths::of_whole(&subject.whole)?;
            paths.units().iter().map(|unit| paths.given_of_unit(unit).cloned().collect()).collect()
        }
    };
    units.iter().flatten().try_for_each(|group| Noise::of_group(group).map(drop))?;
    Ok(units)
}

fn all(groups: &[Group]) -> Vec<&Group> {
    groups.iter().collect()
}

#[cfg(test)]
mod tests {
    use super::{number::Number, *};
    use crate::{account::Counts, release::subject::Subject};

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
    fn guarantees_and_bounded_noise_are_enclosed_closely() {
        use crate::account::{Account, Epsilon};
        use crate::loss::testing::groups;
        for (texts, epsilon) in [
            (&["pure:1/10x60"][..], "3"),
            (&["pure:1/100x300"], "1/2"),
            (&["approximate:1/2:1/10000000x10"], "4"),
            (&["5x10", "discrete-laplace:1/10x5", "pure:3/10x5", "approximate:1/2:1/1000x2"], "3"),
            (&["approximate:1:1/10x3"], "1"),
            (&["discrete-laplace:1/10x300"], "9"),
            (&["truncated-gaussian:4:9x5"], "1/2"),
            (&["truncated-gaussian:4:3@2", "5x3"], "1"),
            (&["truncated-laplace:1/3:20x4@2", "randomized-response:1/2:4x5"], "2"),
            (&["truncated-laplace:1:3@5"], "1/2"),
            (&["randomized-response:1:30x3"], "3/2"),
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
