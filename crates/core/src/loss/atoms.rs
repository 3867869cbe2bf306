//! Enumeration: the losses of a sum with their masses. It serves where groups are few or losses bounded, where the characteristic function that a
//! contour integrates does not decay.
//!
//! # The sum
//!
//! A group of n equal copies has its loss on a lattice, so its law is a list of masses: one convolution power (`terms`, `masses`). The groups are
//! divided into two halves, and each half into two columns (`plan`); all sums of a half are enumerated once and sorted by exact keys, which are
//! integers on the common lattice (`key`, `column`). With P(a) the masses of the first half and b the losses of the second,
//!
//! ```text
//! delta(eps) = E[(1 - exp(eps - L))_+] = sum over a of P(a) D(eps - a),
//! D(y)       = sum over b > y of P(b) (1 - exp(y - b)),
//! ```
//!
//! and while a runs up, eps - a runs down: one pass over both lists (`lists`). Four groups of 500 losses are 500,000 steps, not 500^4. The suffix D
//! is not the difference of two sums. From b_j to b_(j - 1) it grows by `B_j (1 - exp(-(b_j - b_(j - 1))))` with `B_j = sum over k >= j of P(b_k)
//! exp(b_j - b_k)`, so every added term is non-negative, and nothing cancels however close eps is to a loss. Probabilities of tails are the same pass
//! with suffix sums, and the trade-off function is a search for the loss at which such a tail passes alpha (`knot`).
//!
//! # The cut
//!
//! All masses are those of the law tilted by c, proportional to P[L = l] exp(c l), with c chosen so that this law has its masses at the threshold of
//! the request (`tilt`). The losses that matter for delta = 1e-300 are then as likely as those that matter for 1e-3, and lists are cut where tilted
//! masses are negligible. No bound for a tail is needed to prove that: stored masses are lower bounds in fixed point, the true tilted masses sum to
//! 1, and so 1 minus the sum of the stored masses is exactly the truncated mass, by cutting and by rounding (`masses`).
//!
//! # The proof
//!
//! An answer is enclosed by three errors, each counted where it arises:
//!
//! - stored masses fall short of the true ones by a known total m, which adds at most m s M(c) exp(-c z) to an upper
//!   end (`tilted` has the inequality and s);
//! - sums and products of non-negative numbers are truncated, and their relative errors add up (`wide` has the rules,
//!   `lists` the counts);
//! - M(c) is enclosed by intervals.
//!
//! The engine computes with more bits until the requested precision is reached. Comparisons of losses are exact.
//!
//! # The merge
//!
//! Groups whose common lattice holds fewer losses than their product are convolved into one list first. Tilts lie on a grid, so that the requests of
//! a curve share their tables; a table depends only on the sum, its place on the grid and the digits. So does every answer: earlier
//! requests do not change it.
//!
//! # Limits
//!
//! Where losses come in clusters far apart (noise of sigma2 below about 1/100 beside other groups) and the threshold lies in a gap between them, no
//! single tilt puts masses there; the lists are then cut at smaller and smaller masses until the requested precision is reached or they would take
//! too long, and the answer is a valid but wide enclosure. Long lists are refused by their predicted cost.

pub(super) mod coarse;
mod column;
mod cost;
mod key;
mod knot;
mod lists;
mod masses;
mod plan;
mod table;
mod terms;
pub(super) mod tilt;
mod tilted;
mod wide;

use std::sync::{Arc, OnceLock};

use rug::{Float, Rational};

pub use self::cost::{Cost, Query};
use self::{
    table::Table,
    tilt::{Outline, Plan, SMALLER},
    tilted::Side,
};
use super::{engine::machine, memo::Memo, sum::LossSum};
use crate::{
    error::{Error, Result},
    numeric::{Enclosure, rational},
};

/// The parameters of an enumeration.
#[derive(Clone, Debug)]
pub struct Listing {
    /// The tilt c.
    pub tilt: Rational,
    /// The number of losses of each half of the groups.
    pub lengths: (usize, usize),
    /// Bits of the mantissas.
    pub bits: u32,
    /// Upper bound on the truncated tilted mass.
    pub missing: Float,
}

impl Listing {
    /// The lists in one line.
    pub fn method(&self) -> String {
        let (first, second) = self.lengths;
        format!("lists of {first} and {second} losses tilted by {}, {} bits", rational::display(&self.tilt), self.bits)
    }
}

/// An answer with its proof.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The enclosure of the answer.
    pub value: Enclosure,
    /// Whether the requested relative width was reached; the enclosure is valid either way.
    pub met: bool,
    /// The parameters of the enumeration; `None` where no list was needed.
    pub listing: Option<Listing>,
}

/// A sum of privacy losses with the tables that answer requests about it.
pub struct Atoms {
    sum: LossSum,
    outline: Outline,
    most_bytes: f64,
    tables: Memo<Place, Arc<Slot>>,
    /// The costs of tables and of passes over them, by the bits of the number of passes: the same few places are requested repeatedly.
    costs: Memo<(Place, u64), Cost>,
}

/// The key of a table: the tilt, and the bits at which its masses are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Place {
    /// The bits of the tilt.
    tilt: u64,
    cut: u32,
    /// The number of words of the mantissas of sums.
    words: u32,
}

impl Place {
    fn new(tilt: f64, cut: u32, words: u32) -> Self {
        // Zero has two signs.
        Place { tilt: (tilt + 0.0).to_bits(), cut, words }
    }

    fn tilt(self) -> f64 {
        f64::from_bits(self.tilt)
    }
}

impl std::fmt::Debug for Atoms {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Atoms").field("groups", &self.sum.groups()).finish_non_exhaustive()
    }
}

/// A table that is made once, by the first request for it: others wait, as two of the same would take twice the memory.
struct Slot {
    table: OnceLock<Result<Arc<dyn Table>>>,
    /// Its predicted bytes.
    predicted: usize,
}

impl Slot {
    /// How many bytes it holds, or will hold as predicted.
    fn bytes(&self) -> usize {
        self.table.get().map_or(self.predicted, |made| made.as_ref().map_or(0, |table| table.bytes()))
    }
}

/// Bits of a table beyond those of the requested digits: for the distance of its tilt from the best one, for the ratio of a tail to its bound, and
/// for the rounding errors.
const SPARE_BITS: u32 = 26;
/// The largest number of attempts with more and more bits.
const ATTEMPTS: u32 = 7;

impl Atoms {
    /// The most memory that tables take together, by default.
    pub const MOST_BYTES: f64 = 300e6;

    /// Prepares a sum. Refused where a term is continuous.
    pub fn new(sum: &LossSum) -> Result<Self> {
        Self::within(sum, Self::MOST_BYTES)
    }

    /// Prepares a sum whose tables may take `most_bytes` of memory; requests that need more are refused.
    pub fn within(sum: &LossSum, most_bytes: f64) -> Result<Self> {
        if sum.step().is_none() {
            return Err(Error::NoLattice);
        }
        let outline = Outline::new(sum.groups());
        let tables = Memo::default().weighing_at_most(most_bytes as usize, |slot: &Arc<Slot>| slot.bytes());
        Ok(Atoms { sum: sum.clone(), outline, most_bytes, tables, costs: Memo::default() })
    }

    /// E[(1 - exp(epsilon - L))_+], the hockey-stick divergence of order exp(epsilon), for any real epsilon.
    ///
    /// The relative width is at most 10^-digits unless `met` is false. Where the answer is close to 1, that holds of its complement as well.
    pub fn hockey_stick(&self, epsilon: &Rational, digits: u32) -> Result<Listed> {
        self.hockey_stick_within(epsilon, (digits, machine::MOST_OF_ENUMERATION))
    }

    /// The same by tables that are predicted to take no longer than this many seconds each.
    fn hockey_stick_within(&self, epsilon: &Rational, asked: (u32, f64)) -> Result<Listed> {
        // A bounded loss is never above its largest value.
        if self.largest().is_some_and(|largest| epsilon >= largest) {
            return Ok(exactly(0.0));
        }
        match self.outline.hockey_plan(&self.sum, epsilon) {
            Plan::Direct(c) => self.answer(c, asked, |table| Some(table.hockey_stick(epsilon))),
            // 1 - delta = E[min(1, exp(eps - L))] = P[L <= eps] + exp(eps) Q[L > eps]
            Plan::Complement(c) => self.one_minus_answer(c, asked, |table| Some(table.complement(epsilon))),
        }
    }

    /// ln of the hockey-stick divergence to about 13 digits, for searches, by tables that are predicted to take no longer than this many seconds
    /// each; `None` where the lists resolve fewer than half of them, as in a gap between clusters of losses.
    pub fn ln_hockey_stick_approx(&self, epsilon: &Rational, most_seconds: f64) -> Result<Option<f64>> {
        const DIGITS: u32 = 13;
        let value = self.hockey_stick_within(epsilon, (DIGITS, most_seconds))?.value;
        let ln = |end: &Float| Float::with_val(64, end.ln_ref()).to_f64();
        Ok((*value.upper() == 0 || value.is_tight(DIGITS / 2)).then(|| ln(value.upper())))
    }

    /// P[L >= z].
    pub fn upper_tail(&self, z: &Rational, digits: u32) -> Result<Listed> {
        self.probability(z, Side::Upper, digits)
    }

    /// E[exp(-L); L >= z] = Q[L >= z], the probability of the tail under the other law of the pair.
    pub fn tilted_tail(&self, z: &Rational, digits: u32) -> Result<Listed> {
        self.check_symmetric()?;
        // -L is under Q what L is under P: Q[L >= z] = P[L <= -z], the losses below the next one after -z.
        self.probability(&self.sum.above(&Rational::from(-z)), Side::Lower, digits)
    }

    /// f(alpha), the smallest type II error of a test of P against Q at type I error alpha, for 0 <= alpha <= 1.
    pub fn tradeoff(&self, alpha: &Rational, digits: u32) -> Result<Listed> {
        if *alpha < 0 || *alpha > 1 {
            return Err(Error::out_of_range("alpha", rational::display(alpha), "a type I error from 0 to 1"));
        }
        self.check_symmetric()?;
        // Every outcome is possible under both laws: a test that never errs in one way always errs in the other.
        if *alpha == 0 || *alpha == 1 {
            return Ok(exactly(if *alpha == 0 { 1.0 } else { 0.0 }));
        }
        self.answer(self.tradeoff_tilt(alpha), (digits, machine::MOST_OF_ENUMERATION), |table| table.tradeoff(alpha))
    }

    /// Trade-off functions and tails under Q are those of a symmetric pair. Hockey sticks need no symmetry: they are expectations under P alone.
    fn check_symmetric(&self) -> Result<()> {
        match self.sum.is_symmetric() {
            true => Ok(()),
            false => Err(Error::unsuitable("a tail under the other hypothesis, of one direction of a pair")),
        }
    }

    /// The predicted cost of a request, from the lengths of its lists alone; nothing is enumerated. A request that must be repeated with finer masses
    /// costs more than this.
    pub fn cost(&self, query: &Query, digits: u32) -> Cost {
        self.cost_at(self.first_place(query, digits), query.passes())
    }

    fn first_place(&self, query: &Query, digits: u32) -> Place {
        let cut = first_cut(digits);
        Place::new(self.tilt(query), cut, table::mantissa_words(cut))
    }

    /// The first lists that a request needs: the bits of their tilt, and those at which masses are cut.
    pub(super) fn place_of(&self, query: &Query, digits: u32) -> (u64, u32) {
        let place = self.first_place(query, digits);
        (place.tilt, place.cut)
    }

    /// Whether its lists fit into the memory that they may take.
    pub(super) fn holds(&self, cost: &Cost) -> bool {
        cost.bytes <= self.most_bytes
    }

    /// The cost of a table and of a request of this number of passes over it, predicted once.
    fn cost_at(&self, place: Place, passes: f64) -> Cost {
        self.costs.get_or_make((place, passes.to_bits()), |(place, _)| {
            cost::of_lists(&self.sum, &self.outline, place.tilt(), place.cut, place.words, passes)
        })
    }

    /// How many bytes the tables hold; those that are being made, as predicted.
    pub fn memory(&self) -> usize {
        self.tables.weight()
    }

    /// The largest loss where no term is Gaussian.
    fn largest(&self) -> Option<&Rational> {
        (*self.sum.rho() == 0).then(|| self.sum.offset())
    }

    fn tilt(&self, query: &Query) -> f64 {
        match query {
            Query::HockeyStick(epsilon) => self.outline.hockey_plan(&self.sum, epsilon).tilt(),
            Query::UpperTail(z) => self.side_plan(z, Side::Upper).tilt(),
            Query::TiltedTail(z) => self.side_plan(&Rational::from(-z), Side::Lower).tilt(),
            Query::Tradeoff(alpha) => self.tradeoff_tilt(alpha),
        }
    }

    /// The requested side of z, or the complement of the other side where that is surely smaller.
    fn side_plan(&self, z: &Rational, side: Side) -> Plan {
        // The losses adjacent to z: the last below it, and the first that is not.
        let at_most = self.sum.at_most(z);
        let (last, first) = if at_most == *z { (self.last_below(z), at_most) } else { (at_most, self.sum.above(z)) };
        let (last, first) = (last.to_f64(), first.to_f64());
        let (upper, lower) = (self.outline.upper_tail(first), self.outline.lower_tail(last));
        let (own, other, edge) = match side {
            Side::Upper => (upper, lower, last),
            Side::Lower => (lower, upper, first),
        };
        if self.outline.ln_bound(other, edge) < SMALLER { Plan::Complement(other) } else { Plan::Direct(own) }
    }

    /// The lattice value before one of them.
    fn last_below(&self, z: &Rational) -> Rational {
        self.sum.step().map_or_else(|| z.clone(), |step| Rational::from(z - step))
    }

    fn tradeoff_tilt(&self, alpha: &Rational) -> f64 {
        let ln = |x: &Rational| Enclosure::rational(x, 64).ln().approximate();
        self.outline.tradeoff(ln(alpha), ln(&Rational::from(1 - alpha)))
    }

    fn probability(&self, z: &Rational, side: Side, digits: u32) -> Result<Listed> {
        let other = match side {
            Side::Upper => Side::Lower,
            Side::Lower => Side::Upper,
        };
        let asked = (digits, machine::MOST_OF_ENUMERATION);
        match self.side_plan(z, side) {
            Plan::Direct(c) => self.answer(c, asked, |table| Some(table.tail(z, side))),
            Plan::Complement(c) => self.one_minus_answer(c, asked, |table| Some(table.tail(z, other))),
        }
    }

    /// The complement of a number, both to this number of digits: where the result is small after all, as just below a loss, its first digits cancel.
    fn one_minus_answer(
        &self,
        tilt: f64,
        (digits, most_seconds): (u32, f64),
        ask: impl Fn(&dyn Table) -> Option<Enclosure>,
    ) -> Result<Listed> {
        const MOST_LOST: f64 = 400.0;
        let complement_to = |asked| -> Result<Listed> {
            let rest = self.answer(tilt, (asked, most_seconds), &ask)?;
            let value = one_minus(&rest.value);
            Ok(Listed { met: rest.value.is_tight(digits) && value.is_tight(digits), value, ..rest })
        };
        let first = complement_to(digits)?;
        let lost = -Float::with_val(64, first.value.upper().log10_ref()).to_f64();
        if first.met || lost.is_nan() || !(1.0..MOST_LOST).contains(&lost) {
            return Ok(first);
        }
        Ok(Error::unless_fatal(complement_to(digits + lost as u32 + 1))?.unwrap_or(first))
    }

    /// Evaluates tables with more and more bits until the requested precision is reached.
    fn answer(
        &self,
        tilt: f64,
        (digits, most_seconds): (u32, f64),
        ask: impl Fn(&dyn Table) -> Option<Enclosure>,
    ) -> Result<Listed> {
        let mut cut = first_cut(digits);
        let mut words = table::mantissa_words(cut);
        let mut best: Option<Listed> = None;
        for _ in 0..ATTEMPTS {
            let table = match (self.table(Place::new(tilt, cut, words), most_seconds), best.take()) {
                (Ok(table), best_so_far) => {
                    best = best_so_far;
                    table
                }
                (Err(_), Some(best)) => return Ok(best),
                (Err(error), None) => return Err(error),
            };
            let whole = || Enclosure::double(0.0, 64).hull(&Enclosure::double(1.0, 64));
            let value = ask(table.as_ref()).unwrap_or_else(whole);
            let met = value.is_tight(digits);
            let (before, after) =
                (best.as_ref().map(|best| wider_bits(&best.value, digits)), wider_bits(&value, digits));
            // Where finer masses did not help, the rounding errors of the sums remain.
            if before.is_some_and(|before| after.is_finite() && after > before - 8.0) {
                words = table::mantissa_words(cut).clamp(words, table::MOST_WORDS);
            }
            cut = next_cut(cut, after);
            let listing = Listing {
                tilt: table.tilt().clone(),
                lengths: table.lengths(),
                bits: table.bits(),
                missing: table.missing().clone(),
            };
            best = Some(Listed { value, met, listing: Some(listing) });
            if met {
                break;
            }
        }
        best.ok_or(Error::EmptyComposition)
    }

    /// The table of a place, made if need be and if it is predicted to take no longer than this many seconds. The oldest tables are dropped.
    fn table(&self, place: Place, most_seconds: f64) -> Result<Arc<dyn Table>> {
        let cost = self.cost_at(place, 1.0);
        // Not the opposite comparison, which would accept a NaN.
        if !(self.holds(&cost) && cost.seconds <= most_seconds) {
            let needed = format!("{:.1e} bytes and {:.1e} seconds", cost.bytes, cost.seconds);
            let most = format!("{:.1e} bytes and {most_seconds} seconds", self.most_bytes);
            return Err(Error::TooLong { what: "the lists of losses", needed, most });
        }
        // The room for it is kept free from now on.
        let slot = || Slot { table: OnceLock::new(), predicted: cost.bytes as usize };
        let slot = self.tables.get_or_make(place, |_| Arc::new(slot()));
        let build = || table::build(&self.sum, place.tilt(), place.cut, place.words).map(Arc::from);
        slot.table.get_or_init(build).clone()
    }
}

/// The predicted cost of a request to a sum, before anything is enumerated; infinite where the sum cannot be enumerated.
pub fn cost(sum: &LossSum, query: &Query, digits: u32) -> Cost {
    Atoms::new(sum).map_or(Cost::IMPOSSIBLE, |atoms| atoms.cost(query, digits))
}

/// The cut of the first table for this number of digits.
pub(super) fn first_cut(digits: u32) -> u32 {
    (f64::from(digits) * std::f64::consts::LOG2_10).ceil() as u32 + SPARE_BITS
}

/// The number of bits by which an enclosure is wider than 10^-digits of its lower end; infinite where that is zero.
fn wider_bits(value: &Enclosure, digits: u32) -> f64 {
    bits_above(&Float::with_val(64, value.upper() - value.lower()), value, digits)
}

/// The number of bits by which an error is above 10^-digits of the lower end; infinite where that is zero.
pub(super) fn bits_above(error: &Float, value: &Enclosure, digits: u32) -> f64 {
    if *value.lower() <= 0 {
        return f64::INFINITY;
    }
    Float::with_val(64, error / value.lower()).log2().to_f64() + f64::from(digits) * std::f64::consts::LOG2_10
}

/// The cut after an answer that was this many bits wider than requested, in steps that many requests share.
fn next_cut(cut: u32, wider: f64) -> u32 {
    const STEP: u32 = 32;
    const MOST: f64 = 1e5;
    if wider.is_infinite() {
        // No mass is kept where the answer is.
        return cut.saturating_mul(3);
    }
    cut.saturating_add(((wider + 8.0).clamp(1.0, MOST) as u32).next_multiple_of(STEP))
}

fn exactly(value: f64) -> Listed {
    Listed { value: Enclosure::double(value, 64), met: true, listing: None }
}

/// The complement of a number, with enough bits to keep its digits.
pub(super) fn one_minus(rest: &Enclosure) -> Enclosure {
    let small = rest.upper().get_exp().map_or(0, |exponent| (-exponent).clamp(0, 100_000) as u32);
    let bits = rest.lower().prec() + small + 8;
    Enclosure::double(1.0, bits).sub(rest).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests;
