//! The walk of `proofs/rocq/Certificate.v`, repeated in the same integers, except for the exponentials, which are doubles: so a file states
//! only what its computation can prove.

use rug::{Integer, Rational};

use super::{
    laws::{Hints, Noise, laplace_masses},
    number::{Number, unprovable},
    rows::{BITS, INFINITE_BITS, TOP, in_window, on_circle},
};
use crate::{error::Result, law::Group, numeric::rational};

/// Rows and tables are in units of one of this.
const WHOLE: f64 = (1_u64 << BITS) as f64;
/// The largest number of products of a walk: Rocq takes about a third of a microsecond for each, four milliseconds for an exponential of 125 bits,
/// and a microsecond to compare an output with a place.
const MOST_PRODUCTS: f64 = 1e9;
const EXPONENTIAL: f64 = 1.2e4;
const COMPARISON: f64 = 3.0;
/// The largest number of entries of a row.
const LONGEST_ROW: f64 = 2e5;
/// Deviations of the loss in a period, and of the noise on each side of a window: the truncated mass is below 10^-6 of delta.
const PERIOD: f64 = 5.5;
const WINDOW: f64 = 6.0;
/// The lengths of a row over which the tilted gain falls: of a circle, where it comes around once, and of a window, of which it has a half.
const FALL: f64 = 20.0;
const FALL_BELOW: f64 = 32.0;
/// Of the discrete Laplace mass beyond either true value, the part of exp(-REACH) is left out.
const REACH: f64 = 21.0;
/// The fraction of half a step of the lattice in which norms are written.
const NORM_UNIT: u32 = 1 << 20;
/// The relative distance between the exponentials here and those of the file.
pub(super) const MARGIN: f64 = 1e-7;

/// The end of a statement about delta that a walk proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// delta(epsilon) <= delta, by rows on a circle, rounded up.
    Above,
    /// delta(epsilon) > delta, by rows in a window, rounded down.
    Below,
}

/// Equal counts: the exact parameters, and the window of places whose tilted masses are in the table.
#[derive(Clone, Debug, PartialEq)]
struct Counts {
    noise: Noise,
    shift: u64,
    copies: u64,
    /// The loss of one count moves by `step * h` when its place moves by one.
    step: Integer,
    left: i64,
    width: usize,
    /// The outputs from -reach to reach are summed for the normalizing sum.
    reach: i64,
    /// By how many steps of the lattice the window of a row moves down with each count.
    moves: i64,
    /// The logarithm of the unit of the tilted masses, in units of c^2 h / (2 NORM_UNIT). Gaussian masses have their own unit.
    norm: Integer,
}

/// The exact lattice of a composition, and the hints of one end.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Walk {
    counts: Vec<Counts>,
    h: Rational,
    /// The loss of index 0: rho of Gaussian counts, the largest loss of Laplace counts.
    offset: Rational,
    /// Of this rho.
    rho: Rational,
    tilt: Rational,
    period: usize,
    side: Side,
}

/// c^2 h / 2 in the fraction in which norms are written.
fn norm_unit(tilt: &Rational, h: &Rational) -> Rational {
    Rational::from(tilt * tilt) * h / (2 * NORM_UNIT)
}

/// One group with its exact losses.
struct Term<'a> {
    group: &'a Group,
    noise: Noise,
    /// The change of the loss with the place.
    weight: Rational,
    /// The loss at place 0.
    base: Rational,
}

impl Term<'_> {
    /// Mean and variance of the loss of all copies, tilted by `c`.
    fn tilted_loss(&self, c: f64) -> (f64, f64) {
        let (place, variance) = self.noise.tilted_place(self.group.shift, c);
        let (weight, copies) = (self.weight.to_f64(), self.group.copies as f64);
        (copies * (self.base.to_f64() - weight * place), copies * weight * weight * variance)
    }
}

impl Walk {
    pub(super) fn new(path: &[&Group], epsilon: &Rational, side: Side) -> Result<Walk> {
        let too_fine = || {
            unprovable("would take too long here: the lattice of the losses is too fine, or its numbers are too long")
        };
        Walk::if_short(path, epsilon, side)?.ok_or_else(too_fine)
    }

    /// The lattice of the losses is too fine for a walk.
    pub(super) fn is_too_long(path: &[&Group], epsilon: &Rational) -> Result<bool> {
        Ok(Walk::if_short(path, epsilon, Side::Above)?.is_none()
            || Walk::if_short(path, epsilon, Side::Below)?.is_none())
    }

    /// The walk, unless it would take too long.
    fn if_short(path: &[&Group], epsilon: &Rational, side: Side) -> Result<Option<Walk>> {
        let mut terms = Vec::new();
        for &group in path.iter().filter(|group| group.shift > 0 && group.copies > 0) {
            let noise = Noise::of_group(group)?;
            if matches!(noise, Noise::Laplace { .. }) && group.shift as f64 >= LONGEST_ROW {
                return Ok(None);
            }
            let (weight, base) = noise.losses(group.shift);
            terms.push(Term { group, noise, weight, base });
        }
        let h = terms.iter().map(|term| term.weight.clone()).reduce(|h, weight| rational::gcd(&h, &weight));
        let h = h.ok_or_else(|| unprovable("need a count that changes"))?;
        let sum = |part: &dyn Fn(&Term) -> bool| -> Rational {
            terms.iter().filter(|&term| part(term)).map(|term| Rational::from(&term.base * term.group.copies)).sum()
        };
        let offset = sum(&|_| true);
        let rho = sum(&|term| matches!(term.noise, Noise::Gaussian { .. }));
        let tilt = saddle(&terms, epsilon.to_f64());
        let c = tilt.to_f64();
        let deviation = terms.iter().map(|term| term.tilted_loss(c).1).sum::<f64>().sqrt();
        let fall = if side == Side::Above { FALL } else { FALL_BELOW };
        let drift = if side == Side::Above { 0.0 } else { drift(&terms, &h, c) };
        let period = ((PERIOD * deviation).max(fall / c) / h.to_f64()).ceil() + 2.0 * drift.ceil();
        if period.is_nan() || period >= LONGEST_ROW {
            return Ok(None);
        }
        let (mut counts, mut products, mut exponentials) = (Vec::new(), 0.0, 0.0);
        for term in terms {
            let Some(one) = Counts::new(&term, &h, &tilt) else { return Ok(None) };
            products += one.width as f64 * period * one.copies as f64;
            exponentials += one.width as f64 + 2.0 * one.reach as f64;
            if let Noise::Bounded(bounded) = &one.noise {
                let listed = bounded.exponentials(one.shift);
                exponentials += listed;
                products += COMPARISON * listed * one.width as f64;
            }
            counts.push(one);
        }
        let walk = Walk { counts, h, offset, rho, tilt, period: (period as usize).max(2), side };
        products += EXPONENTIAL * exponentials * walk.exponential(epsilon);
        Ok((products < MOST_PRODUCTS).then_some(walk))
    }

    pub(super) fn tilt(&self) -> f64 {
        self.tilt.to_f64()
    }

    /// The index of the smallest loss that is at least epsilon: ceil((epsilon - offset) / h).
    fn first_index(&self, epsilon: &Rational) -> Integer {
        (Rational::from(epsilon - &self.offset) / &self.h).ceil().numer().clone()
    }

    /// The exponent of the last factor, exp(-y): c h lo - c^2 rho, less the other norms.
    fn last_exponent(&self, epsilon: &Rational) -> f64 {
        let reach = Rational::from(&self.h * self.first_index(epsilon));
        let others: Integer = self.counts.iter().map(|counts| Integer::from(&counts.norm * counts.copies)).sum();
        let norms = self.norm_of(&others) + Rational::from(&self.tilt * &self.tilt) * &self.rho;
        (&self.tilt * reach - norms).to_f64()
    }

    /// A logarithm that is written as this number of units.
    fn norm_of(&self, units: &Integer) -> Rational {
        norm_unit(&self.tilt, &self.h) * units
    }

    /// Squarings and bits of the exponentials: their relative error is y^2 / 2^(squarings + 1) at exp(-y). Infinite losses need more bits.
    fn precision(&self, epsilon: &Rational, is_infinite: bool) -> (u32, u32) {
        let largest = self.last_exponent(epsilon).abs().max(WINDOW * WINDOW);
        let squarings = libm::log2(largest * largest / 2e-7).ceil().max(28.0);
        let least = if is_infinite { f64::from(INFINITE_BITS) } else { 80.0 };
        (squarings as u32, (squarings + largest / std::f64::consts::LN_2 + 40.0).ceil().max(least) as u32)
    }

    /// The work of an exponential, in units of that in most files: it grows with the squarings, and with the square of the bits.
    fn exponential(&self, epsilon: &Rational) -> f64 {
        let (squarings, bits) = self.precision(epsilon, false);
        (f64::from(squarings) / 33.0 * (f64::from(bits) / 125.0).powi(2)).max(1.0)
    }

    /// The steps before the first index where the first row of a window begins.
    fn before(&self) -> usize {
        self.period / 2
    }

    /// The certificate's fields for Rocq: groups, and all numbers but those of the claim. Its delta may be that of the finite losses.
    pub(super) fn text(&self, epsilon: &Rational, [epsilon_text, delta_text]: [&str; 2], is_infinite: bool) -> String {
        let groups: Vec<String> = self.counts.iter().map(Counts::text).collect();
        let pair = |value: &Rational| format!("({}) ({})", value.numer(), value.denom());
        let (squarings, bits) = self.precision(epsilon, is_infinite);
        let what = if is_infinite { "delta of the finite losses" } else { "delta" };
        format!(
            "Certificate\n  [{}]%Z\n  {epsilon_text} (* epsilon *)\n  {delta_text} (* {what} *)\n  \
             {} (* step of the lattice of losses *)\n  {} (* tilt *)\n  \
             {} ({}) {bits} {squarings} (* period, first index, bits, squarings *).\n",
            groups.join(";\n   "),
            pair(&self.h),
            pair(&self.tilt),
            self.period,
            self.first_index(epsilon),
        )
    }

    /// The computation that has to answer true, for a certificate of this name; where losses may be infinite, for this delta of all losses.
    pub(super) fn computation(&self, name: &str, delta: Option<&Rational>) -> String {
        let (infinite, delta) = match delta {
            Some(delta) => ("_infinite", format!(" {}", Number::new(delta).fields())),
            None => ("", String::new()),
        };
        match self.side {
            Side::Above => format!("certified{infinite} {name}{delta}"),
            Side::Below => format!("certified_below{infinite} {name} {}{delta}", self.hints_below().join(" ")),
        }
    }

    /// Whether there are guarantees among the counts.
    pub(super) fn has_responses(&self) -> bool {
        self.counts.iter().any(|counts| matches!(counts.noise, Noise::Response { .. }))
    }

    /// Whether there is noise on finitely many integers among them.
    pub(super) fn has_bounded(&self) -> bool {
        self.counts.iter().any(|counts| matches!(counts.noise, Noise::Bounded(_)))
    }

    /// The hints of a lower end, besides the certificate.
    pub(super) fn hints_below(&self) -> [String; 2] {
        let moves: Vec<String> = self.counts.iter().map(|counts| counts.moves.to_string()).collect();
        [self.before().to_string(), format!("[{}]%Z", moves.join("; "))]
    }

    /// The list of counts for Rocq.
    pub(super) fn counts_text(&self, indent: usize) -> String {
        let laws: Vec<String> = self.counts.iter().map(Counts::law_text).collect();
        laws.join(&format!("\n{}++ ", " ".repeat(indent)))
    }

    /// ln of the bound that the walk gives for delta(epsilon); nothing if numbers get too large for it, or too small.
    pub(super) fn ln_delta(&self, epsilon: &Rational) -> Option<f64> {
        let mut row = self.first_row(epsilon);
        let mut start = self.first_index(epsilon) - Integer::from(self.before());
        for counts in self.counts.iter().rev() {
            let (table, tail) = self.table(counts);
            if table.iter().chain([&tail]).sum::<u64>() > TOP {
                return None;
            }
            for _ in 0..counts.copies {
                if row.iter().any(|&entry| entry > TOP) {
                    return None;
                }
                row = self.next(counts, &table, tail, &row);
                start -= counts.moves;
            }
        }
        let entry = match self.side {
            Side::Above => row[self.place(-self.first_index(epsilon))],
            Side::Below => *row.get(Integer::from(-&start).to_usize()?)?,
        };
        (entry > 0).then(|| libm::log(entry as f64 / WHOLE) - self.last_exponent(epsilon))
    }

    /// The place of an index in a row, which is periodic.
    fn place(&self, index: Integer) -> usize {
        // Below the period, which is a usize itself.
        index.modulo(&Integer::from(self.period)).to_usize().unwrap_or_default()
    }

    /// The gain (1 - exp(epsilon - loss)) exp(-c loss) from the first index on: with the aliases a period later, or after the zeros before.
    fn first_row(&self, epsilon: &Rational) -> Vec<u64> {
        let (h, a) = (self.h.to_f64(), Rational::from(&self.h * &self.tilt).to_f64());
        let loss = Rational::from(&self.h * self.first_index(epsilon)) + &self.offset;
        let theta = (loss - epsilon).to_f64();
        let gain = |d: usize| -libm::exp(-a * d as f64) * libm::expm1(-(theta + h * d as f64));
        match self.side {
            Side::Above => {
                let alias = (libm::exp(-a * self.period as f64) * WHOLE).floor() as u64 + 1;
                (0..self.period).map(|d| (gain(d) * WHOLE).floor() as u64 + 1 + alias).collect()
            }
            Side::Below => {
                let before = self.before();
                (0..self.period)
                    .map(|i| i.checked_sub(before).map_or(0, |d| (gain(d) * WHOLE).floor() as u64))
                    .collect()
            }
        }
    }

    /// The tilted masses of a count on its window, and the mass outside, rounded up; or rounded down.
    fn table(&self, counts: &Counts) -> (Vec<u64>, u64) {
        let up = u64::from(self.side == Side::Above);
        let unit = |mass: f64| (mass * WHOLE).floor() as u64 + up;
        let (c, ln_unit) = (self.tilt.to_f64(), self.norm_of(&counts.norm).to_f64());
        match &counts.noise {
            Noise::Response { epsilon: parameter, .. } | Noise::Laplace { parameter } => {
                // Of the noise itself the outputs within the reach.
                let kept = match (&counts.noise, self.side) {
                    (Noise::Laplace { .. }, Side::Below) => {
                        -libm::expm1(-parameter.to_f64() * (counts.reach + 1) as f64)
                    }
                    _ => 1.0,
                };
                let masses = laplace_masses(parameter.to_f64(), counts.shift, c);
                (masses.into_iter().map(|mass| unit(mass * kept * libm::exp(-ln_unit))).collect(), 0)
            }
            Noise::Bounded(bounded) => (bounded.table(counts.shift, c, ln_unit, unit), 0),
            Noise::Gaussian { sigma2 } => {
                let (sigma2, t) = (sigma2.to_f64(), self.tilt.to_f64() * counts.shift as f64);
                let mass: f64 =
                    (-counts.reach..=counts.reach).map(|x| libm::exp(-(x as f64).powi(2) / (2.0 * sigma2))).sum();
                let weight = |x: f64| libm::exp(-(x + t).powi(2) / (2.0 * sigma2)) / mass;
                let (before, after) = (counts.left as f64 - 1.0, counts.left as f64 + counts.width as f64);
                let end = |x: f64| {
                    let ratio = libm::exp(-(2.0 * (x + t).abs() + 1.0) / (2.0 * sigma2));
                    unit(weight(x) / (1.0 - ratio))
                };
                let window = (0..counts.width).map(|i| unit(weight((counts.left + i as i64) as f64))).collect();
                (window, if self.side == Side::Above { end(before) + end(after) } else { 0 })
            }
        }
    }

    /// A row with one more count.
    fn next(&self, counts: &Counts, table: &[u64], tail: u64, row: &[u64]) -> Vec<u64> {
        let moved = |i: usize| -Integer::from(&counts.step * (counts.left + i as i64));
        match self.side {
            Side::Above => on_circle(row, table, tail, |i| self.place(moved(i))),
            Side::Below => in_window(row, table, |i| (moved(i) - counts.moves).to_i64()),
        }
    }
}

impl Counts {
    fn new(term: &Term, h: &Rational, tilt: &Rational) -> Option<Counts> {
        let Group { shift, copies, .. } = *term.group;
        let c = tilt.to_f64();
        let step = Rational::from(&term.weight / h).numer().clone();
        let (left, right, reach) = match &term.noise {
            Noise::Gaussian { sigma2 } => {
                let (sigma, middle) = (sigma2.to_f64().sqrt(), -c * shift as f64);
                let window = ((middle - WINDOW * sigma - 1.0).floor(), (middle + WINDOW * sigma + 1.0).ceil());
                (window.0, window.1, (8.0 * sigma).ceil() + 1.0)
            }
            Noise::Laplace { parameter } => (0.0, shift as f64, (REACH / parameter.to_f64()).ceil()),
            Noise::Response { .. } => (0.0, 1.0, 0.0),
            Noise::Bounded(bounded) => {
                let (first, last) = bounded.places(shift);
                (first as f64, last as f64, 0.0)
            }
        };
        // So that the masses add up to one, or a little less.
        let norm = match term.noise.ln_total(shift, c) {
            Some(total) => (rational::from_f64(total).ok()? / norm_unit(tilt, h)).ceil().numer().clone(),
            None => Integer::new(),
        };
        // All far below 2^53, or too many.
        if !(left.abs() < 1e9 && right < 1e9 && reach < 1e9) {
            return None;
        }
        let moves = -(step.to_f64() * term.noise.tilted_place(shift, c).0).round();
        (moves.abs() < 1e15).then_some(Counts {
            noise: term.noise.clone(),
            shift,
            copies,
            step,
            left: left as i64,
            width: (right - left + 1.0) as usize,
            reach: reach as i64,
            moves: moves as i64,
            norm,
        })
    }

    /// The group for Rocq.
    fn text(&self) -> String {
        let Counts { step, norm, left, width, reach, .. } = self;
        let hints = Hints { step, norm, left: *left, width: *width, reach: *reach };
        self.noise.group_text([self.shift, self.copies], &hints)
    }

    /// The counts themselves for Rocq.
    fn law_text(&self) -> String {
        self.noise.law_text([self.shift, self.copies])
    }
}

/// By how many steps counts other than Gaussian ones move a row out of its window, which moves by a whole number of steps with each.
fn drift(terms: &[Term], h: &Rational, c: f64) -> f64 {
    let one = |term: &Term| {
        let steps = Rational::from(&term.weight / h).to_f64() * term.noise.tilted_place(term.group.shift, c).0;
        term.group.copies as f64 * (steps - steps.round()).abs()
    };
    terms.iter().filter(|term| !matches!(term.noise, Noise::Gaussian { .. })).map(one).sum()
}

/// The tilt c > 0 at which the mean loss is epsilon + 1 / c + 1 / (c + 1), to three digits after the point.
fn saddle(terms: &[Term], epsilon: f64) -> Rational {
    let mean = |c: f64| terms.iter().map(|term| term.tilted_loss(c).0).sum::<f64>();
    let (mut low, mut high) = (1e-3_f64, 1e5_f64);
    for _ in 0..100 {
        let c = (low * high).sqrt();
        if mean(c) > epsilon + 1.0 / c + 1.0 / (c + 1.0) { high = c } else { low = c }
    }
    Rational::from(((low * 1000.0).round().max(1.0) as u64, 1000_u32))
}
