//! The answer to a request: a value, how it was certified, and whether the requested precision was reached.

use std::fmt;

use rug::{Float, Rational};

use super::{atoms::Listed, infinite::InfiniteLoss, limit::Limit};
use crate::{
    error::{Error, Result},
    numeric::{Enclosure, clock},
};

/// Two members of a family, the smaller index first, or the same index twice.
pub type Pair = (usize, usize);

/// A certified value.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The enclosure: the truth lies between its ends.
    pub value: Enclosure,
    /// How it was certified.
    pub proof: Proof,
    /// Whether the requested relative width was met. The enclosure is valid either way.
    pub met: bool,
}

/// How a value was certified: the engine, and the numbers of its proof.
#[derive(Clone, Debug)]
pub struct Proof {
    engine: &'static str,
    summary: String,
    fields: Vec<Field>,
    pair: Option<Pair>,
}

/// A number or a reason of a proof.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name in JSON.
    pub name: &'static str,
    /// A label for people.
    pub label: &'static str,
    /// The number.
    pub value: Quantity,
}

/// An entry of a proof.
#[derive(Clone, Debug)]
pub enum Quantity {
    /// A number of things.
    Count(u64),
    /// An exact number.
    Exact(Rational),
    /// A parameter of the computation, exactly this double.
    Double(f64),
    /// An upper bound on an error.
    UpperBound(Float),
    /// A reason.
    Words(String),
    /// The proof of a number that this one was derived from.
    Of(Box<Proof>),
}

impl Proof {
    /// By an engine, in one line.
    pub fn new(engine: &'static str, summary: impl Into<String>) -> Self {
        Proof { engine, summary: summary.into(), fields: Vec::new(), pair: None }
    }

    /// By an inequality alone, for this reason.
    pub fn bound(reason: impl Into<String>) -> Self {
        Proof::new("bound", reason)
    }

    /// By the closed form for continuous Gaussian noise.
    pub(crate) fn closed_form() -> Self {
        Proof::new("closed form", "closed form of continuous Gaussian noise")
    }

    /// The proof of a trade-off function between two knots of a lattice, or on the chord between them.
    pub(crate) fn knots() -> Self {
        Proof::new("knots", "knots of the lattice of losses")
    }

    /// The proof of a trade-off function from supporting lines of the privacy profile.
    pub(crate) fn lines() -> Self {
        Proof::new("supporting lines", "supporting lines of the privacy profile")
    }

    /// The same with one more number.
    pub(crate) fn with(mut self, name: &'static str, label: &'static str, value: Quantity) -> Self {
        self.fields.push(Field { name, label, value });
        self
    }

    /// By an engine that derived it from a number of another sum, which has this proof.
    pub(crate) fn derived(engine: &'static str, summary: String, of: Proof) -> Self {
        Proof::new(engine, summary).with("derived_from", "derived from another sum", Quantity::Of(Box::new(of)))
    }

    /// Of the largest over a family, with the pair that attains it as far as the enclosures show, and the number of pairs that may attain it.
    pub(crate) fn of_pair(self, pair: Pair, contenders: usize) -> Self {
        let proof = Proof { pair: Some(pair), ..self };
        proof.with("contenders", "pairs of paths that may attain the largest value", Quantity::Count(contenders as u64))
    }

    /// The engine, closed form or bound that certified the value.
    pub fn engine(&self) -> &'static str {
        self.engine
    }

    /// The numbers of the proof.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The number of this name.
    pub fn field(&self, name: &str) -> Option<&Quantity> {
        self.fields.iter().find(|field| field.name == name).map(|field| &field.value)
    }

    /// The count of this name.
    pub fn count(&self, name: &str) -> Option<u64> {
        match self.field(name)? {
            Quantity::Count(count) => Some(*count),
            _ => None,
        }
    }
}

impl Proof {
    /// The same, which stands for one of two sums with the truth between.
    fn of_two(self) -> Self {
        let what = "losses on no common lattice are rounded to multiples of 2^-96, up and down: the truth lies between both answers, and this is the proof of one";
        let rounding = Quantity::Words(what.to_string());
        self.with("rounding", "losses", rounding)
    }
}

/// The proof in one line.
impl fmt::Display for Proof {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(&self.summary)
    }
}

/// How a contour certified a number: all that `assay explain` prints.
#[derive(Clone, Debug)]
pub struct ContourProof {
    /// Re s on the contour.
    pub contour: f64,
    /// Whether the contour ran left of the pole at zero, so that the complement was computed.
    pub complement: bool,
    /// Nodes of the full period on a lattice; `None` for an unbounded contour.
    pub period_nodes: Option<i64>,
    /// Why an unbounded contour was taken where a lattice exists.
    pub lattice_refused: Option<String>,
    /// The height Im s up to which the sieve accounts for every window; beyond it only the kernel's 1/|s|^2 is used.
    pub swept_height: f64,
    /// Nodes that were evaluated.
    pub evaluated_nodes: i64,
    /// Side lobes that survived the sieve and were integrated.
    pub side_lobes: usize,
    /// Bits of the mantissas.
    pub bits: u32,
    /// Upper bound on the aliasing error of the trapezoid rule.
    pub alias_error: Float,
    /// Upper bound on the truncation error: the sum over the nodes that were not evaluated.
    pub truncation_error: Float,
    /// Width of the enclosure of the sum itself: the rounding errors.
    pub rounding_error: Float,
}

/// The numbers of a contour, by name.
impl From<ContourProof> for Proof {
    fn from(contour: ContourProof) -> Proof {
        let count = |number: i64| Quantity::Count(u64::try_from(number).unwrap_or_default());
        let proof = Proof::new("contour", contour.to_string())
            .with("contour", "Re s on the contour", Quantity::Double(contour.contour))
            .with("evaluated_nodes", "nodes that were evaluated", count(contour.evaluated_nodes))
            .with("side_lobes", "side lobes that survived the sieve", Quantity::Count(contour.side_lobes as u64))
            .with("bits", "bits of the mantissas", Quantity::Count(contour.bits.into()))
            .with(
                "swept_height",
                "height up to which the sieve accounts for every window",
                Quantity::Double(contour.swept_height),
            )
            .with(
                "alias_error",
                "upper bound on what the trapezoid rule adds",
                Quantity::UpperBound(contour.alias_error),
            )
            .with(
                "truncation_error",
                "upper bound on the nodes that were left out",
                Quantity::UpperBound(contour.truncation_error),
            )
            .with("rounding_error", "width of the sum itself", Quantity::UpperBound(contour.rounding_error));
        let proof = match contour.period_nodes {
            Some(nodes) => proof.with("period_nodes", "nodes of the full period", count(nodes)),
            None => proof,
        };
        let proof = match contour.lattice_refused {
            Some(why) => proof.with(
                "lattice_refused",
                "why the contour is unbounded where a lattice exists",
                Quantity::Words(why),
            ),
            None => proof,
        };
        match contour.complement {
            true => proof.with(
                "complement",
                "the contour runs left of the pole at 0",
                Quantity::Words("the complement of delta".to_string()),
            ),
            false => proof,
        }
    }
}

impl Answer {
    /// A value that required no computation.
    pub fn immediate(value: Enclosure, reason: &'static str) -> Self {
        Answer { value, proof: Proof::bound(reason), met: true }
    }

    /// The delta of all losses, where this is that of the finite ones.
    pub(crate) fn with_infinite_loss(self, infinite: &InfiniteLoss, digits: u32) -> Self {
        let value = infinite.delta(&self.value, digits);
        Answer { met: value.is_tight(digits), value, ..self }
    }

    /// Exactly zero, because no loss is large enough.
    pub(crate) fn no_loss_as_large() -> Self {
        Answer::immediate(Enclosure::double(0.0, 32), "no loss is as large")
    }

    /// Whether the enclosure has the requested precision: see [`status`].
    pub fn status(&self) -> &'static str {
        status(self.met)
    }

    /// The members at which the largest of a family is attained, as far as the enclosures show.
    pub fn pair(&self) -> Option<Pair> {
        self.proof.pair
    }

    /// The same answer cut to `[floor, ceiling]`, for a truth that is known to lie there.
    pub(crate) fn clamp(self, floor: f64, ceiling: f64) -> Self {
        Answer { value: self.value.clamp(floor, ceiling), ..self }
    }
}

/// An enumeration that needed no lists is a value known by an inequality.
impl From<Listed> for Answer {
    fn from(listed: Listed) -> Answer {
        let proof = match listed.listing {
            None => Proof::bound("no loss is as large, or the error is 0 or 1"),
            Some(listing) => Proof::new("enumeration", listing.method())
                .with("tilt", "tilt of the law that is enumerated", Quantity::Exact(listing.tilt))
                .with(
                    "first_losses",
                    "losses of the first half of the groups",
                    Quantity::Count(listing.lengths.0 as u64),
                )
                .with("second_losses", "losses of the second half", Quantity::Count(listing.lengths.1 as u64))
                .with("bits", "bits of the mantissas", Quantity::Count(listing.bits.into()))
                .with(
                    "truncated_mass",
                    "upper bound on the tilted mass that is not stored",
                    Quantity::UpperBound(listing.missing),
                ),
        };
        Answer { value: listed.value, proof, met: listed.met }
    }
}

impl ContourProof {
    /// Whether the rounding errors alone are below 10^-digits of the upper end, to decide what to try next.
    pub(crate) fn rounds_below(&self, value: &Enclosure, digits: u32) -> bool {
        let share = Float::with_val(53, &self.rounding_error / value.upper());
        share.log10() <= -f64::from(digits)
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

/// The result of `ask` at this number of digits. If that has hardly any correct digit, no engine serves so high a precision, but one may serve a
/// lower one: `ask` is called with half the digits, and half of these, until `is_reached` accepts the answer or the limit of effort is reached.
pub(crate) fn as_precise_as_possible(
    digits: u32,
    limit: Limit,
    is_reached: impl Fn(&Answer, u32) -> bool,
    ask: impl Fn(u32) -> Result<Answer>,
) -> Result<Answer> {
    const FEWEST: u32 = 5;
    let mut best = ask(digits);
    let mut fewer = digits / 2;
    let is_enough = |best: &Result<Answer>, fewer| match best {
        Ok(answer) => answer.met || is_reached(answer, fewer),
        Err(error) => !error.is_beyond_reach(),
    };
    while fewer >= FEWEST && !is_enough(&best, fewer) && !limit.is_over() {
        best = both(best, ask(fewer), digits).map(|best| Answer { met: best.value.is_tight(digits), ..best });
        fewer /= 2;
    }
    best
}

/// A number between two others, of which enclosures are known: the proof of the upper one, and by how little they differ.
pub(crate) fn between(lower: Answer, upper: Answer, digits: u32) -> Result<Answer> {
    if lower.value.lower() > upper.value.upper() {
        return Err(Error::Contradiction { what: "a number between two others (whose order is the opposite)" });
    }
    let value = lower.value.hull(&upper.value);
    Ok(Answer { met: value.is_tight(digits) || *value.upper() == 0, value, proof: upper.proof.of_two() })
}

/// The larger of two numbers, with the proof of the one whose upper end is larger.
pub(crate) fn larger(first: Answer, second: Answer, digits: u32) -> Answer {
    let value = first.value.max(&second.value);
    let proof = if first.value.upper() >= second.value.upper() { first.proof } else { second.proof };
    Answer { met: value.is_tight(digits) || *value.upper() == 0, value, proof }
}

/// The smaller of two numbers, with the proof of the one whose lower end is smaller.
pub(crate) fn smaller(first: Answer, second: Answer, digits: u32) -> Answer {
    let value = first.value.min(&second.value);
    let proof = if first.value.lower() <= second.value.lower() { first.proof } else { second.proof };
    Answer { met: value.is_tight(digits) || *value.upper() == 0, value, proof }
}

/// The intersection of two enclosures of one number.
pub(crate) fn both(first: Result<Answer>, second: Result<Answer>, digits: u32) -> Result<Answer> {
    let (first, second) = match (first, second) {
        (Ok(first), Ok(second)) => (first, second),
        // A contradiction, or a computation that was stopped, is not repaired by another engine.
        (Err(error @ (Error::Contradiction { .. } | Error::Stopped)), _)
        | (_, Err(error @ (Error::Contradiction { .. } | Error::Stopped))) => return Err(error),
        (Ok(answer), Err(_)) | (Err(_), Ok(answer)) => return Ok(answer),
        (Err(error), Err(_)) => return Err(error),
    };
    let value = first.value.meet(&second.value).ok_or(Error::Contradiction { what: "a certified value" })?;
    let width = |answer: &Answer| Float::with_val(64, answer.value.upper() - answer.value.lower());
    let proof = if width(&second) < width(&first) { second.proof } else { first.proof };
    Ok(Answer { met: value.is_tight(digits), value, proof })
}

/// "met" where the requested precision was reached; else "wider", or "stopped" where the [clock of last resort](clock) ended an answer of this process.
pub fn status(met: bool) -> &'static str {
    match met {
        true => "met",
        false if clock::has_stopped() => "stopped",
        false => "wider",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An answer with hardly any correct digit, or none, is computed again with half the digits; an error stays an error; and nothing is computed
    /// once the limit is reached.
    #[test]
    fn a_request_for_more_digits_reaches_those_of_fewer() {
        let answer = |width: f64, digits| {
            let value = Enclosure::new(Float::with_val(64, 1), Float::with_val(64, 1.0 + width));
            Answer { met: value.is_tight(digits), value, proof: Proof::bound("a test") }
        };
        let is_reached = |answer: &Answer, digits| answer.value.is_tight(digits);
        // Up to ten digits can be reached.
        let ask = |digits| Ok(answer(if digits > 10 { 0.5 } else { 1e-11 }, digits));
        let of = |digits| as_precise_as_possible(digits, Limit::NONE, is_reached, ask).unwrap();
        assert!(of(10).met && !of(40).met && of(40).value.is_tight(10) && of(12).value.is_tight(6));
        let refused = |digits| if digits > 10 { Err(Error::OutOfTime) } else { ask(digits) };
        let known = as_precise_as_possible(20, Limit::NONE, is_reached, refused).unwrap();
        assert!(known.value.is_tight(10) && !known.met);
        let wrong = |_| -> Result<Answer> { Err(Error::NoLattice) };
        assert!(matches!(as_precise_as_possible(20, Limit::NONE, is_reached, wrong), Err(Error::NoLattice)));
        // Two enclosures that exclude each other are an error.
        let other =
            |digits| if digits > 10 { Ok(answer(0.5, digits)) } else { Err(Error::Contradiction { what: "it" }) };
        assert!(matches!(as_precise_as_possible(20, Limit::NONE, is_reached, other), Err(Error::Contradiction { .. })));
        let late = || as_precise_as_possible(40, Limit::NONE, is_reached, ask).unwrap();
        assert!(!crate::loss::limit::tests::after(0, late).0.value.is_tight(10));
    }
}
