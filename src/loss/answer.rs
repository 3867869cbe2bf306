//! The answer to a question, whatever the question was: a value, how it was certified, and whether the asked width was met.

use std::fmt;

use rug::{Float, Rational};

use super::{
    atoms::{Listed, Listing},
    limit::Limit,
};
use crate::{
    error::{Error, Result},
    numeric::{Enclosure, rational},
};

/// Two members of a family, the smaller index first, or twice the same index.
pub type Pair = (usize, usize);

/// A certified value.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The enclosure: the truth lies between its ends.
    pub value: Enclosure,
    /// How it was certified.
    pub method: Method,
    /// Whether the asked relative width was met. The enclosure is valid either way.
    pub met: bool,
}

/// How a value was certified.
#[derive(Clone, Debug)]
pub enum Method {
    /// Without computation, for this reason.
    Immediate(&'static str),
    /// By the trapezoid rule on a contour.
    Contour(ContourProof),
    /// By the closed form for continuous Gaussian noise.
    ClosedForm,
    /// By lists of the atoms of the law.
    Atoms(Listing),
    /// By a list of the losses of some groups and the profile of the rest.
    Split(Splitting),
    /// By a contour of the sum with a little continuous noise, and the losses for which that makes a difference.
    Smoothed(Smoothing),
    /// Of a sum in which groups of nearly the same step are taken as one, so many times.
    Merged {
        /// How many groups are gone.
        merges: usize,
        /// How that sum was certified.
        method: Box<Method>,
    },
    /// The largest over a family, attained by `pair` as far as the enclosures tell.
    Worst {
        /// The members that attain it.
        pair: Pair,
        /// How many pairs may attain it.
        contenders: usize,
        /// How its value was certified.
        method: Box<Method>,
    },
    /// A trade-off function between two knots of a lattice, or on the chord between them.
    Knots,
    /// A trade-off function from supporting lines of the privacy profile.
    Lines,
}

/// How a contour certified a number: everything that `assay explain` prints.
#[derive(Clone, Debug)]
pub struct ContourProof {
    /// Re s on the contour.
    pub contour: f64,
    /// Whether the contour ran left of the pole at zero, so that one minus the answer was computed.
    pub complement: bool,
    /// Nodes of the full period on a lattice; `None` on the line.
    pub period_nodes: Option<i64>,
    /// Why the kernel on the line was taken where a lattice exists.
    pub lattice_refused: Option<String>,
    /// The height Im s up to which the sieve accounts for every window; beyond it only the kernel's 1/|s|^2 is used.
    pub swept_height: f64,
    /// Nodes that were evaluated.
    pub evaluated_nodes: i64,
    /// Side lobes that survived the sieve and were integrated.
    pub side_lobes: usize,
    /// Bits of the mantissas.
    pub bits: u32,
    /// Upper bound for what the trapezoid rule adds.
    pub alias_error: Float,
    /// Upper bound for the nodes that were left out.
    pub truncation_error: Float,
    /// Width of the enclosure of the sum itself: the roundings.
    pub rounding_error: Float,
}

/// How a list of coarse losses and the profile of the rest certified a number.
#[derive(Clone, Debug)]
pub struct Splitting {
    /// The tilt c.
    pub tilt: Rational,
    /// How many losses of the coarse groups were listed.
    pub losses: usize,
    /// At how many of them the rest was asked about.
    pub asked: usize,
    /// The tilted mass that is stored nowhere: at most.
    pub missing: Float,
}

impl Splitting {
    /// The method in a line.
    pub fn method(&self) -> String {
        let Splitting { tilt, losses, asked, .. } = self;
        let tilt = rational::display(tilt);
        format!("a list of {losses} losses tilted by {tilt}, times the profile of all finer noise at {asked} of them")
    }
}

/// How continuous noise that is added and taken away again certified a number.
#[derive(Clone, Debug)]
pub struct Smoothing {
    /// The scale of the noise is 2^-scale: it spends 2^-(2 scale + 1).
    pub scale: i32,
    /// For how many losses it was taken away one by one.
    pub points: usize,
    /// How the sum with the noise was certified.
    pub contour: ContourProof,
}

impl fmt::Display for Smoothing {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let Smoothing { scale, points, contour } = self;
        write!(
            out,
            "{contour}, with continuous noise of scale 2^-{scale}, which {points} losses near epsilon do without"
        )
    }
}

impl Answer {
    /// A value that needed no computation.
    pub(crate) fn immediate(value: Enclosure, reason: &'static str) -> Self {
        Answer { value, method: Method::Immediate(reason), met: true }
    }

    /// Exactly zero, because no loss is large enough.
    pub(crate) fn no_loss_as_large() -> Self {
        Answer::immediate(Enclosure::double(0.0, 32), "no loss is as large")
    }

    /// "met", or "wider than asked": whether the enclosure has the width that was asked for.
    pub fn status(&self) -> &'static str {
        if self.met { "met" } else { "wider than asked" }
    }

    /// The members at which the largest of a family is attained, as far as the enclosures tell.
    pub fn pair(&self) -> Option<Pair> {
        match &self.method {
            Method::Worst { pair, .. } => Some(*pair),
            Method::Immediate(_)
            | Method::Contour(_)
            | Method::Atoms(_)
            | Method::Split(_)
            | Method::Smoothed(_)
            | Method::Merged { .. }
            | Method::ClosedForm
            | Method::Knots
            | Method::Lines => None,
        }
    }

    /// The same answer cut to `[floor, ceiling]`, for a truth that is known to lie there.
    pub(crate) fn clamp(self, floor: f64, ceiling: f64) -> Self {
        Answer { value: self.value.clamp(floor, ceiling), ..self }
    }
}

/// What was listed without any list was known at once.
impl From<Listed> for Answer {
    fn from(listed: Listed) -> Answer {
        let method =
            listed.listing.map_or(Method::Immediate("no loss is as large, or the error is 0 or 1"), Method::Atoms);
        Answer { value: listed.value, method, met: listed.met }
    }
}

impl Method {
    /// The name of the engine, or of the closed form, that certified the value. For the largest over a family: of the engine of the pair that attains it.
    pub fn engine(&self) -> &'static str {
        match self {
            Method::Immediate(_) => "bound",
            Method::Contour(_) => "contour",
            Method::ClosedForm => "closed form",
            Method::Atoms(_) => "enumeration",
            Method::Split(_) => "conditioning",
            Method::Smoothed(_) => "smoothing",
            Method::Merged { .. } => "common-step reduction",
            Method::Worst { method, .. } => method.engine(),
            Method::Knots => "knots",
            Method::Lines => "supporting lines",
        }
    }

    /// The proof by a contour, if there is one.
    pub fn contour(&self) -> Option<&ContourProof> {
        match self {
            Method::Contour(proof) => Some(proof),
            Method::Worst { method, .. } => method.contour(),
            Method::Immediate(_)
            | Method::Atoms(_)
            | Method::Split(_)
            | Method::Smoothed(_)
            // That is one of another sum.
            | Method::Merged { .. }
            | Method::ClosedForm
            | Method::Knots
            | Method::Lines => None,
        }
    }
}

impl ContourProof {
    /// Whether the roundings alone are below 10^-digits of the upper end, for deciding what to try next.
    pub(crate) fn rounds_below(&self, value: &Enclosure, digits: u32) -> bool {
        let share = Float::with_val(53, &self.rounding_error / value.upper());
        share.log10() <= -f64::from(digits)
    }
}

/// The method in a line.
impl fmt::Display for Method {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Method::Immediate(reason) => out.write_str(reason),
            Method::Contour(proof) => proof.fmt(out),
            Method::Atoms(listing) => out.write_str(&listing.method()),
            Method::Split(splitting) => out.write_str(&splitting.method()),
            Method::Smoothed(smoothing) => smoothing.fmt(out),
            Method::Worst { method, .. } => method.fmt(out),
            Method::Merged { merges, method } => {
                let groups = if *merges == 1 { "two groups" } else { "groups" };
                write!(out, "{method}, {groups} of nearly the same step taken as one")
            }
            Method::ClosedForm => out.write_str("closed form of continuous Gaussian noise"),
            Method::Knots => out.write_str("knots of the lattice of losses"),
            Method::Lines => out.write_str("supporting lines of the privacy profile"),
        }
    }
}

impl fmt::Display for ContourProof {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let (c, nodes, lobes, bits) = (self.contour, self.evaluated_nodes, self.side_lobes, self.bits);
        match self.period_nodes {
            Some(period) => write!(
                out,
                "lattice contour at Re s = {c}, {nodes} nodes and {lobes} side lobes of a period of {period}, {bits} bits"
            ),
            None => write!(
                out,
                "line contour at Re s = {c}, {nodes} nodes and {lobes} side lobes up to height {:.3e}, {bits} bits",
                self.swept_height
            ),
        }
    }
}

/// What `ask` tells to so many digits. Where that is hardly anything, no engine of so many digits serves, but one of fewer may: half as many are asked
/// for, and half of these, until they are told (`is_told`) or the time is over.
pub(crate) fn as_precise_as_possible(
    digits: u32,
    limit: Limit,
    is_told: impl Fn(&Answer, u32) -> bool,
    ask: impl Fn(u32) -> Result<Answer>,
) -> Result<Answer> {
    const FEWEST: u32 = 5;
    let mut best = ask(digits);
    let mut fewer = digits / 2;
    let is_enough = |best: &Result<Answer>, fewer| match best {
        Ok(answer) => answer.met || is_told(answer, fewer),
        Err(error) => !error.is_beyond_reach(),
    };
    while fewer >= FEWEST && !is_enough(&best, fewer) && !limit.is_over() {
        best = both(best, ask(fewer), digits).map(|best| Answer { met: best.value.is_tight(digits), ..best });
        fewer /= 2;
    }
    best
}

/// What two answers to one question have in common.
pub(crate) fn both(first: Result<Answer>, second: Result<Answer>, digits: u32) -> Result<Answer> {
    let (first, second) = match (first, second) {
        (Ok(first), Ok(second)) => (first, second),
        // What excludes itself, or is not wanted any more, is not mended by another engine.
        (Err(error @ (Error::Contradiction { .. } | Error::Stopped)), _)
        | (_, Err(error @ (Error::Contradiction { .. } | Error::Stopped))) => return Err(error),
        (Ok(answer), Err(_)) | (Err(_), Ok(answer)) => return Ok(answer),
        (Err(error), Err(_)) => return Err(error),
    };
    let value = first.value.meet(&second.value).ok_or(Error::Contradiction { what: "a certified value" })?;
    let width = |answer: &Answer| Float::with_val(64, answer.value.upper() - answer.value.lower());
    let method = if width(&second) < width(&first) { second.method } else { first.method };
    Ok(Answer { met: value.is_tight(digits), value, method })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is hardly told to many digits, or not at all, is told to half as many; what is wrong stays wrong; and none is asked for when the time is
    /// over.
    #[test]
    fn more_digits_are_told_to_as_many_as_fewer_are() {
        let answer = |width: f64, digits| {
            let value = Enclosure::new(Float::with_val(64, 1), Float::with_val(64, 1.0 + width));
            Answer { met: value.is_tight(digits), value, method: Method::Immediate("a test") }
        };
        let is_told = |answer: &Answer, digits| answer.value.is_tight(digits);
        // Up to ten digits are told.
        let ask = |digits| Ok(answer(if digits > 10 { 0.5 } else { 1e-11 }, digits));
        let of = |digits| as_precise_as_possible(digits, Limit::NONE, is_told, ask).unwrap();
        assert!(of(10).met && !of(40).met && of(40).value.is_tight(10) && of(12).value.is_tight(6));
        let refused = |digits| if digits > 10 { Err(Error::OutOfTime) } else { ask(digits) };
        let known = as_precise_as_possible(20, Limit::NONE, is_told, refused).unwrap();
        assert!(known.value.is_tight(10) && !known.met);
        let wrong = |_| -> Result<Answer> { Err(Error::NoLattice) };
        assert!(matches!(as_precise_as_possible(20, Limit::NONE, is_told, wrong), Err(Error::NoLattice)));
        // Two that exclude each other are an error.
        let other =
            |digits| if digits > 10 { Ok(answer(0.5, digits)) } else { Err(Error::Contradiction { what: "it" }) };
        assert!(matches!(as_precise_as_possible(20, Limit::NONE, is_told, other), Err(Error::Contradiction { .. })));
        let late = || as_precise_as_possible(40, Limit::NONE, is_told, ask).unwrap();
        assert!(!crate::loss::limit::tests::after(0, late).0.value.is_tight(10));
    }
}
