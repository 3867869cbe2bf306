//! Enumeration of the losses of a few groups, for conditioning, where another evaluator computes the profile of the remaining groups: see
//! [`split`](super::super::split).

use rug::{Float, Integer, Rational, float::Round, integer::Order};

use super::{
    cost,
    masses::{Fineness, TiltedMasses},
    plan::{self, Part},
    terms,
    tilt::Outline,
};
use crate::{
    error::{Error, Result},
    loss::{law::Group, sum::LossSum},
    numeric::Enclosure,
};

/// An enumeration has at most this many losses as predicted, and at most `MOST_FOR_SURE` in any case.
pub(in crate::loss) const MOST_LOSSES: f64 = 1e5;
const MOST_FOR_SURE: f64 = 2e6;

/// All losses of a sum that matter at a tilt c, with lower bounds on their tilted masses.
#[derive(Debug)]
pub(in crate::loss) struct Coarse {
    /// Encloses ln E[exp(c L)].
    pub(in crate::loss) ln_mgf: Enclosure,
    /// Upper bound on the truncated mass: 1 minus the sum of all stored tilted masses.
    pub(in crate::loss) missing: Float,
    parts: Vec<TiltedMasses>,
}

/// A loss of the sum, and its stored mass: under P, and under Q, which is exp(-loss) times as much.
#[derive(Debug)]
pub(in crate::loss) struct Atom {
    pub(in crate::loss) loss: Rational,
    pub(in crate::loss) p: Enclosure,
    pub(in crate::loss) q: Enclosure,
}

/// The predicted number of losses in an enumeration at a tilt, with masses cut at 2^-cut; infinite where a group has too many.
pub(in crate::loss) fn predicted(sum: &LossSum, outline: &Outline, tilt: f64, cut: u32) -> f64 {
    merged(sum, outline, tilt, cut).map_or(f64::INFINITY, |(parts, _)| parts.iter().map(|part| part.length).product())
}

/// The approximate distance from the smallest of these losses to the largest; infinite where a group has too many.
pub(in crate::loss) fn span(sum: &LossSum, outline: &Outline, tilt: f64, cut: u32) -> f64 {
    let of_group = |(k, group): (usize, &Group)| {
        if group.law.is_listed() {
            return 2.0 * group.size().to_f64();
        }
        let length = cost::length(group, outline.variance(k, tilt), tilt, f64::from(cut));
        length.map_or(f64::INFINITY, |length| length * group.weight().to_f64())
    };
    sum.groups().iter().enumerate().map(of_group).sum()
}

/// The predicted seconds for the masses of such an enumeration.
pub(in crate::loss) fn seconds(sum: &LossSum, outline: &Outline, tilt: f64, cut: u32) -> f64 {
    let words = Fineness::of_sum(sum, cut).words as f64;
    let of_groups = sum.groups().iter().enumerate().map(|(k, group)| {
        let length = cost::length(group, outline.variance(k, tilt), tilt, f64::from(cut)).unwrap_or(f64::INFINITY);
        cost::work(group, length, cut, words)
    });
    let of_mergers =
        merged(sum, outline, tilt, cut).map_or(f64::INFINITY, |(_, merged)| merged * cost::OF_MERGER * words);
    (of_groups.sum::<f64>() + of_mergers) * 1e-9
}

/// The lists of such a sum, merged where that makes fewer losses; `None` where a group has too many.
fn merged(sum: &LossSum, outline: &Outline, tilt: f64, cut: u32) -> Option<(Vec<Part>, f64)> {
    let part = |(k, group): (usize, &Group)| {
        let length = cost::length(group, outline.variance(k, tilt), tilt, f64::from(cut))?;
        Some(Part { groups: vec![k], step: group.weight(), length, is_listed: group.law.is_listed() })
    };
    sum.groups().iter().enumerate().map(part).collect::<Option<Vec<_>>>().map(plan::merge_all)
}

impl Coarse {
    /// The losses of a sum tilted by c, with a truncated tilted mass of about 2^-cut.
    pub(in crate::loss) fn new(sum: &LossSum, c: &Rational, cut: u32) -> Result<Self> {
        // None where the one finite loss of all others is zero.
        let groups = sum.groups().len().max(1) as u32;
        let fineness = Fineness::of_sum(sum, cut + groups.ilog2() + 3);
        let of_group = |group| terms::of_group(group, c, fineness);
        let single: Vec<TiltedMasses> = sum.groups().iter().map(of_group).collect::<Result<_>>()?;
        let (plan, _) = plan::merge_all(single.iter().enumerate().map(|(k, masses)| masses.part(k)).collect());
        let parts: Vec<TiltedMasses> =
            plan.iter().map(|part| TiltedMasses::joined(&single, &part.groups, fineness)).collect::<Result<_>>()?;
        let length = parts.iter().map(|part| part.len() as f64).product::<f64>();
        if length > MOST_FOR_SURE {
            let (needed, most) = (format!("{length:.1e} places"), format!("{MOST_FOR_SURE:.0e}"));
            return Err(Error::TooLong { what: "the losses to list", needed, most });
        }
        let zero = Enclosure::double(0.0, 64);
        Ok(Coarse {
            ln_mgf: parts.iter().fold(zero, |sum, part| sum.add(&part.ln_mgf)),
            // The tilted law of the sum is the product of those of the parts: 1 - prod (1 - m_i) <= sum m_i, rounded up.
            missing: parts.iter().fold(Float::new(64), |sum, part| {
                let missing = part.missing();
                Float::with_val_round(64, &sum + &missing, Round::Up).0
            }),
            parts,
        })
    }

    /// The losses of each group, with their stored masses in this number of bits.
    pub(in crate::loss) fn of_groups(&self, c: &Rational, bits: u32) -> Vec<Vec<Atom>> {
        let of_part = |part: &TiltedMasses| {
            let (units, exponent) = part.units();
            let loss = |k: &Integer| Rational::from(&part.step * k) + &part.origin;
            // M(c) exp(-c l), and exp(-l).
            let weights = Powers::new(|k, bits| scaled(&part.ln_mgf, &(c * loss(k)), bits), c, part, bits);
            let falling = Powers::new(|k, bits| exact_exponent(&-loss(k), bits).exp(), &Rational::from(1), part, bits);
            units
                .zip(weights.zip(falling))
                .zip(part.places())
                .filter(|((words, _), _)| words.iter().any(|&word| word != 0))
                .map(|((words, (weight, falling)), k)| {
                    let mass = Rational::from(Integer::from_digits(words, Order::Lsf));
                    let mass = Enclosure::rational(&mass, bits).times_power_of_two(-exponent);
                    let p = weight.mul(&mass);
                    let q = p.mul(&falling);
                    Atom { loss: loss(&k), p, q }
                })
                .collect()
        };
        self.parts.iter().map(of_part).collect()
    }

    /// Every loss of the sum, once for each way in which it arises.
    pub(in crate::loss) fn losses(&self, c: &Rational, bits: u32) -> Vec<Atom> {
        let mut all = vec![Atom::none(bits)];
        for single in self.of_groups(c, bits) {
            all = all.iter().flat_map(|atom| single.iter().map(move |next| atom.and(next))).collect();
        }
        all
    }
}

impl Atom {
    /// The one loss of no groups.
    pub(in crate::loss) fn none(bits: u32) -> Self {
        let one = || Enclosure::double(1.0, bits);
        Atom { loss: Rational::new(), p: one(), q: one() }
    }

    /// The sum with a loss of other groups.
    pub(in crate::loss) fn and(&self, other: &Atom) -> Self {
        Atom { loss: Rational::from(&self.loss + &other.loss), p: self.p.mul(&other.p), q: self.q.mul(&other.q) }
    }
}

/// A factor times exp(-x l) at each loss l of a part in turn: by one product from the one before, and computed directly from time to time; always
/// where losses are not evenly spaced.
struct Powers<'p, F> {
    anew: F,
    /// exp(-x step).
    ratio: Enclosure,
    bits: u32,
    places: Box<dyn Iterator<Item = Integer> + 'p>,
    longest_run: u32,
    /// The number of products since the last direct computation.
    run: u32,
    current: Enclosure,
}

impl<'p, F: Fn(&Integer, u32) -> Enclosure> Powers<'p, F> {
    /// Each product adds a few units of the last place to the width: the spare bits hold this number of them.
    const RUN: u32 = 64;
    const SPARE_BITS: u32 = 10;

    fn new(anew: F, x: &Rational, part: &'p TiltedMasses, bits: u32) -> Self {
        let bits = bits + Self::SPARE_BITS;
        let ratio = exact_exponent(&-Rational::from(x * &part.step), bits).exp();
        let longest_run = if part.listed.is_some() { 1 } else { Self::RUN };
        let current = Enclosure::double(0.0, bits);
        Powers { anew, ratio, bits, places: part.places(), longest_run, run: 0, current }
    }
}

impl<F: Fn(&Integer, u32) -> Enclosure> Iterator for Powers<'_, F> {
    type Item = Enclosure;

    fn next(&mut self) -> Option<Enclosure> {
        let place = self.places.next()?;
        self.current = if self.run == 0 { (self.anew)(&place, self.bits) } else { self.current.mul(&self.ratio) };
        self.run = (self.run + 1) % self.longest_run;
        Some(self.current.clone())
    }
}

/// An exponent with this number of bits after its point.
pub(in crate::loss) fn exact_exponent(exponent: &Rational, bits: u32) -> Enclosure {
    let size = libm::log2(exponent.to_f64().abs().max(1.0)).clamp(0.0, 2000.0) as u32 + 1;
    Enclosure::rational(exponent, bits + size)
}

/// Encloses exp(ln M - exponent).
pub(in crate::loss) fn scaled(ln_mgf: &Enclosure, exponent: &Rational, bits: u32) -> Enclosure {
    ln_mgf.sub(&exact_exponent(exponent, bits)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{loss::testing::sum, numeric::rational::parse};

    /// Every mass with its share of the truncated mass contains the mass that convolution on the common lattice gives.
    #[test]
    fn losses_are_those_of_the_convolved_law() {
        let number = |text: &str| parse(text).unwrap();
        let sum = sum(&["1/3x3@2", "discrete-laplace:1x2@2"]);
        let c = number("3/4");
        let coarse = Coarse::new(&sum, &c, 90).unwrap();
        assert!(coarse.missing > 0 && coarse.missing < Float::with_val(64, 1) >> 88);
        let bits = 200;
        let losses = coarse.losses(&c, bits);
        let zero = Enclosure::double(0.0, bits);
        let total = losses.iter().fold(zero, |sum, atom| {
            let tilted = exact_exponent(&Rational::from(&c * &atom.loss), bits).sub(&coarse.ln_mgf).exp();
            sum.add(&atom.p.mul(&tilted))
        });
        // The total and the truncated mass add up to 1.
        let missing = Enclosure::new(Float::new(bits), coarse.missing.clone());
        assert!(total.add(&missing).contains(&Rational::from(1)) && total.is_tight(30), "{total:?}");
        assert!(coarse.ln_mgf.overlaps(&sum.ln_mgf(&c, 160)));
        // Under Q the losses are the negatives: tilted by -1 - c, the enumeration has the same masses in reverse order.
        let mirrored = Coarse::new(&sum, &(-1 - c.clone()), 90).unwrap().losses(&(-1 - c), bits);
        let mass = |list: &[Atom], at: &Rational, under_p: bool| -> f64 {
            let same = list.iter().filter(|atom| atom.loss == *at);
            same.map(|atom| if under_p { atom.p.approximate() } else { atom.q.approximate() }).sum()
        };
        for atom in &losses {
            let (own, other) = (mass(&losses, &atom.loss, true), mass(&mirrored, &Rational::from(-&atom.loss), false));
            assert!((own - other).abs() < 1e-9 * own || own < 1e-20, "{}: {own} {other}", atom.loss);
        }
    }
}
