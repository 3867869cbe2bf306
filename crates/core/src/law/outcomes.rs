//! One direction of a pair that is not symmetric: the losses of one hypothesis against the other, with their probabilities under it.
//!
//! # What is rounded
//!
//! Let L = ln p / q be the loss under the first hypothesis P, given that it is finite. For epsilon >= 0 the profile of a composition is
//! `(1 - s) + s E[(1 - exp(epsilon - L_1 - L_2 - ..))_+]`, s the probability that all losses are finite ([`infinite`](crate::loss::infinite)), and that
//! expectation rises with each loss. So losses are rounded to multiples of 2^-BITS, up for an upper bound and down for a lower one, while the
//! probabilities stay: the bound holds in every composition. No symmetry is needed, and exp(-L) need not have the mean 1: it has not where one
//! hypothesis has outcomes of its own.
//!
//! # Its rho
//!
//! Let s_P, s_Q be the probabilities of the outcomes that both hypotheses can have, and k = ln s_P / s_Q. Restricted to these, both are laws with the
//! loss L - k, of at most l in size, and so E[exp(x (L - k))] <= exp((l^2 / 2) (x + x^2)) for x >= 0 (Bun & Steinke 2016, Proposition 1.4). With k+ = max(k, 0)
//!
//! ```text
//! E[exp(x L)] <= exp(rho (x + x^2)),    rho = l^2 / 2 + k+.
//! ```
//!
//! A loss that is rounded up is larger by at most 2^-BITS, which k+ has in addition.

use std::{cmp::Ordering, collections::BTreeMap};

use rug::{Float, Integer, Rational, float::Round};

use super::{
    facts::Facts,
    finite::{Finite, Infinite, Mass},
    responses::{BITS, Rounding, multiple_of_ln},
};
use crate::numeric::Enclosure;

/// One direction of a pair, with losses rounded to multiples of 2^-BITS.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Outcomes {
    /// Each loss as a multiple, from the largest down, with its probability given that the loss is finite. They add up to one.
    masses: Vec<(Integer, Rational)>,
    /// The probability of outcomes that the other hypothesis cannot have.
    infinite: Rational,
    rho: Rational,
}

impl PartialOrd for Outcomes {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Outcomes {
    fn cmp(&self, other: &Self) -> Ordering {
        self.masses.cmp(&other.masses).then_with(|| self.infinite.cmp(&other.infinite))
    }
}

/// ln of a ratio above zero as a multiple of 2^-BITS, rounded.
fn rounded_ln(ratio: &Rational, rounding: Rounding) -> Integer {
    if *ratio >= 1 {
        return multiple_of_ln(ratio, rounding);
    }
    let opposite = match rounding {
        Rounding::Down => Rounding::Up,
        Rounding::Up => Rounding::Down,
    };
    -multiple_of_ln(&Rational::from(ratio.recip_ref()), opposite)
}

/// Where every loss is zero, one unit to the side of the bound: a sum has no place for a term of no loss.
fn moved_from_zero(masses: &mut [(Integer, Rational)], rounding: Rounding) {
    if let [(multiple, _)] = masses
        && *multiple == 0
    {
        *multiple += if rounding == Rounding::Up { 1 } else { -1 };
    }
}

/// The least multiple of 2^-bits that is at least x, and the largest that is at most x.
fn ceiling(x: &Float, bits: u32) -> Integer {
    let scaled = Float::with_val(x.prec(), x << bits);
    scaled.to_integer_round(Round::Up).map_or_else(Integer::new, |(whole, _)| whole)
}

fn floor(x: &Float, bits: u32) -> Integer {
    let scaled = Float::with_val(x.prec(), x << bits);
    scaled.to_integer_round(Round::Down).map_or_else(Integer::new, |(whole, _)| whole)
}

impl Outcomes {
    /// The losses of these ratios, each with its probability under the first hypothesis, beside outcomes that only the first or only the second can have;
    /// rounded.
    pub(super) fn new(ratios: &BTreeMap<Rational, Rational>, infinite: &[Rational; 2], rounding: Rounding) -> Self {
        let [own, others] = infinite.each_ref().map(|infinite| Rational::from(1 - infinite));
        let mut masses: BTreeMap<Integer, Rational> = BTreeMap::new();
        for (ratio, p) in ratios {
            *masses.entry(rounded_ln(ratio, rounding)).or_default() += Rational::from(p / &own);
        }
        let mut masses: Vec<(Integer, Rational)> = masses.into_iter().rev().collect();
        moved_from_zero(&mut masses, rounding);
        let unit = || Rational::from(1) >> BITS;
        let (least, most) = match own == others || own == 0 || others == 0 {
            true => (Rational::new(), Rational::new()),
            false => {
                let of = |rounding| Rational::from(rounded_ln(&Rational::from(&own / &others), rounding)) >> BITS;
                (of(Rounding::Down), of(Rounding::Up))
            }
        };
        // The ends of L - k, each with the unit by which its loss may have been rounded.
        let loss = |end: Option<&(Integer, Rational)>| {
            end.map_or_else(Rational::new, |(multiple, _)| Rational::from(multiple) >> BITS)
        };
        let top = (loss(masses.first()) - least + unit()).abs();
        let bottom = (loss(masses.last()) - &most - unit()).abs();
        let size = top.max(bottom);
        let rho = size.square() / 2_u32 + most.max(Rational::new()) + unit();
        Outcomes { masses, infinite: infinite[0].clone(), rho }
    }

    /// The law of losses from the largest down, each with its probability, beside this probability of an infinite one. What all of them leave of one belongs to the last. Tails are
    /// rounded to multiples of 2^-bits and losses to those of 2^-BITS: a sum of such losses is above, or below, that of the enclosed ones in distribution.
    pub(super) fn of_tails(
        losses: &[(Enclosure, Enclosure)],
        infinite: &Enclosure,
        rounding: Rounding,
        bits: u32,
    ) -> Self {
        let whole = Integer::from(1) << bits;
        // At most one, and never zero where that would bound nothing.
        let rounded = |tail: &Enclosure| match rounding {
            Rounding::Up => ceiling(tail.upper(), bits).max(Integer::new()).min(whole.clone()),
            Rounding::Down => floor(tail.lower(), bits).max(Integer::new()).min(whole.clone()),
        };
        let never = rounded(infinite);
        if never == whole {
            return Outcomes { masses: Vec::new(), infinite: Rational::from(1), rho: Rational::new() };
        }
        let (mut tail, mut before) = (infinite.clone(), never.clone());
        let finite = Rational::from(&whole - &never);
        let mut masses: BTreeMap<Integer, Rational> = BTreeMap::new();
        for (k, (loss, mass)) in losses.iter().enumerate() {
            tail = tail.add(mass);
            let until = if k + 1 == losses.len() { whole.clone() } else { rounded(&tail).max(before.clone()) };
            let own = Integer::from(&until - &before);
            before = until;
            if own > 0 {
                let multiple = match rounding {
                    Rounding::Up => ceiling(loss.upper(), BITS),
                    Rounding::Down => floor(loss.lower(), BITS),
                };
                *masses.entry(multiple).or_default() += Rational::from(own) / &finite;
            }
        }
        let masses: Vec<(Integer, Rational)> = masses.into_iter().rev().collect();
        Outcomes::of_masses(masses, Rational::from(never) / Rational::from(whole), rounding)
    }

    /// From masses that add up to one. With k = -ln E[exp(-L)] the losses L - k are those of a pair of laws: see the head of this file.
    fn of_masses(mut masses: Vec<(Integer, Rational)>, infinite: Rational, rounding: Rounding) -> Self {
        moved_from_zero(&mut masses, rounding);
        const PRECISION: u32 = 256;
        let loss = |multiple: &Integer| Rational::from(multiple) >> BITS;
        let zero = Enclosure::double(0.0, PRECISION);
        let opposite = |(multiple, mass): &(Integer, Rational)| {
            Enclosure::rational(&-loss(multiple), PRECISION).exp().mul(&Enclosure::rational(mass, PRECISION))
        };
        let center = masses.iter().map(opposite).fold(zero, |sum, one| sum.add(&one)).ln().negate();
        let (least, most) = center.lower_rational().zip(center.upper_rational()).unwrap_or_default();
        let end = |end: Option<&(Integer, Rational)>| end.map_or_else(Rational::new, |(multiple, _)| loss(multiple));
        let [top, bottom] = [end(masses.first()) - least, end(masses.last()) - &most].map(Rational::abs);
        let rho = top.max(bottom).square() / 2_u32 + most.max(Rational::new());
        Outcomes { masses, infinite, rho }
    }

    /// Upper bound on how much larger its losses are than those of another, one by one; `None` where masses differ, or some loss is smaller.
    pub(crate) fn raised_from(&self, lower: &Outcomes) -> Option<Rational> {
        let is_same = self.infinite == lower.infinite && self.masses.len() == lower.masses.len();
        let mut most = Integer::new();
        for ((own, p), (other, q)) in self.masses.iter().zip(&lower.masses).take_while(|_| is_same) {
            let by = Integer::from(own - other);
            if p != q || by < 0 {
                return None;
            }
            most = most.max(by);
        }
        is_same.then(|| Rational::from(most) >> BITS)
    }

    /// The multiples of the losses with their probabilities given that the loss is finite, and the probability of an infinite loss.
    pub(super) fn parts(&self) -> (&[(Integer, Rational)], &Rational) {
        (&self.masses, &self.infinite)
    }
}

impl<'a> Facts<'a> for &'a Outcomes {
    fn names(&self) -> [&'static str; 2] {
        ["one direction of a pair of hypotheses", "outcomes"]
    }

    fn is_guarantee(&self) -> bool {
        true
    }

    fn is_symmetric(&self) -> bool {
        false
    }

    fn is_listed(&self) -> bool {
        true
    }

    fn is_bounded(&self) -> bool {
        true
    }

    /// Where no outcome is common to both: a loss of zero is moved to the side of the bound, see `new`.
    fn has_no_finite_loss(&self, _: u64) -> bool {
        self.masses.is_empty()
    }

    /// It may be below zero, where the other hypothesis has outcomes of its own.
    fn largest_loss(&self, _: u64) -> Option<Rational> {
        self.masses.first().map(|(multiple, _)| Rational::from(multiple) >> BITS)
    }

    fn has_exact_rho(&self) -> bool {
        false
    }

    fn rho(&self, _: u64) -> Rational {
        self.rho.clone()
    }

    fn weight(&self, _: u64) -> Rational {
        Rational::from(1) >> BITS
    }

    fn losses(&self, _: u64) -> Option<u64> {
        Some(self.masses.len() as u64)
    }

    fn has_infinite_loss(&self) -> bool {
        self.infinite > 0
    }

    fn most_shift(&self) -> u64 {
        1
    }

    fn finite(&self, _: u64) -> Option<Finite> {
        Some(Finite {
            largest: self.largest_loss(1).unwrap_or_default(),
            step: Rational::from(1) >> BITS,
            masses: self.masses.iter().map(|(_, mass)| Mass::exactly(mass.clone())).collect(),
            places: Some(self.masses.iter().map(|(multiple, _)| multiple.clone()).collect()),
            infinite: Infinite::Exactly(self.infinite.clone()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    /// E[exp(x L)] against rho, also where losses are rounded up and where one hypothesis has outcomes of its own.
    #[test]
    fn moments_are_within_rho() {
        for outcomes in [
            &[("3", "3/4"), ("1/2", "1/4")][..],
            &[("1/2", "1/8"), ("2/3", "3/8")],
            &[("1000", "9/10"), ("1/9", "1/10")],
        ] {
            let ratios: BTreeMap<Rational, Rational> =
                outcomes.iter().map(|(ratio, p)| (parse(ratio).unwrap(), parse(p).unwrap())).collect();
            let finite: Rational = ratios.values().sum();
            let others: Rational = ratios.iter().map(|(ratio, p)| Rational::from(p / ratio)).sum();
            assert!(others <= 1);
            let infinite = [1 - finite, 1 - others];
            let law = Outcomes::new(&ratios, &infinite, Rounding::Up);
            let one = (&law).finite(1).unwrap();
            for x in ["1/100", "1/2", "3", "40"] {
                let x = parse(x).unwrap();
                let most = &law.rho * (Rational::from(&x) + x.clone().square());
                assert!(one.ln_mgf(&x, 200).upper() <= Enclosure::rational(&most, 200).lower(), "{outcomes:?} {x}");
            }
        }
    }
}
