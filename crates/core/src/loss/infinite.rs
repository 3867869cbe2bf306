//! Infinite losses: outcomes that only one of two neighbors can have.
//!
//! # The reduction
//!
//! Let d_j be the probability of such outcomes of count j, the same under both neighbors because every pair here is symmetric, and s = prod (1 - d_j)
//! that of no such outcome at all. Given that there is none, the losses are those of the pairs restricted to common outcomes: both hypotheses are divided
//! by the same 1 - d_j, so no loss changes, and the restricted pairs are symmetric again. No test loses by rejecting at every outcome that
//! the null hypothesis cannot have. So, with the profile delta' and the trade-off function f' of the losses that are finite,
//!
//! ```text
//! delta(eps) = (1 - s) + s delta'(eps),      f(alpha) = s f'(alpha / s)  for alpha <= s, and 0 beyond.
//! ```
//!
//! Both are exact, and hold for the largest over a family whose members share s. Hence delta(eps) <= delta where delta'(eps) <= (delta - (1 - s)) / s; no
//! epsilon has a delta below 1 - s; and at delta = 1 - s it is the largest loss that is finite, where delta' becomes zero. Where neighbors have no outcome
//! in common, s = 0: delta is one at every epsilon, and f is zero.

use rug::{Float, Integer, Rational};

use super::law::Group;
use crate::{
    error::{Error, Result},
    law::parameter::Delta,
    numeric::{Enclosure, precision},
};

/// The probability of outcomes that only one of two neighbors can have, of a composition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InfiniteLoss {
    /// The groups that have such outcomes.
    groups: Vec<Group>,
    /// Those of a pair that is at least as private, where the pair itself is known between two: the probability is between that of both.
    fewer: Option<Vec<Group>>,
    /// How often the composition of these groups is composed with itself.
    times: u64,
}

/// The delta at which the profile of the finite losses is to be inverted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// This one, exactly.
    At(Delta),
    /// A number between these two.
    Between { least: Delta, most: Delta },
    /// Zero: epsilon is the largest finite loss.
    Zero,
}

/// Exact probabilities with more bits than this are enclosed instead.
const MOST_BITS: u64 = 1 << 16;
/// Bits up to which delta is compared with the mass.
const MOST_PRECISION: u32 = 4096;

impl InfiniteLoss {
    /// The infinite loss of these groups; `None` where every loss is finite.
    pub(crate) fn of_groups(groups: &[Group]) -> Option<Self> {
        let has = |group: &&Group| group.law.has_infinite_loss();
        let groups: Vec<Group> = groups.iter().filter(has).cloned().collect();
        (!groups.is_empty()).then_some(InfiniteLoss { groups, fewer: None, times: 1 })
    }

    /// The same, known to be at least as probable as these.
    pub(crate) fn or_fewer(self, fewer: Option<Self>) -> Self {
        match fewer {
            Some(fewer) if fewer.groups != self.groups => InfiniteLoss { fewer: Some(fewer.groups), ..self },
            _ => self,
        }
    }

    /// The fewest that they may be.
    pub(crate) fn fewest(self) -> Self {
        match self.fewer {
            Some(groups) => InfiniteLoss { groups, fewer: None, ..self },
            None => self,
        }
    }

    /// That of the composition with itself.
    pub(crate) fn twice(&self) -> Self {
        InfiniteLoss { times: self.times * 2, ..self.clone() }
    }

    /// The same of the pair itself, where it is known between two.
    fn shares_of_all(&self, bits: u32) -> (Enclosure, Enclosure) {
        let (survival, mass) = self.shares(bits);
        match &self.fewer {
            None => (survival, mass),
            Some(groups) => {
                let fewer = InfiniteLoss { groups: groups.clone(), fewer: None, times: self.times };
                let (other_survival, other_mass) = fewer.shares(bits);
                (survival.hull(&other_survival), mass.hull(&other_mass))
            }
        }
    }

    /// Encloses the probability that every loss is finite, and that of its complement, both with a relative error of about 2^-bits.
    fn shares(&self, bits: u32) -> (Enclosure, Enclosure) {
        // ln(1 - d) of a small d has its digits; of a d close to 1 it has as many as 1 - d.
        let mut more = bits + 64;
        loop {
            let mut ln = Enclosure::double(0.0, more);
            for group in &self.groups {
                let Some(mass) = group.law.finite(group.shift).map(|one| one.infinite_mass(more)) else { continue };
                // A probability of at least one is one: neighbors have no outcome in common.
                if *mass.lower() >= 1 {
                    return (Enclosure::double(0.0, bits), Enclosure::double(1.0, bits));
                }
                let copies = Enclosure::rational(&(Rational::from(group.copies) * self.times), more);
                ln = ln.add(&mass.negate().ln_1p().mul(&copies));
            }
            let (survival, mass) = (ln.exp(), ln.exp_m1().negate());
            let width = Float::with_val(64, mass.upper() - mass.lower());
            if width <= Float::with_val(64, mass.lower() >> bits) || more >= 2 * MOST_PRECISION {
                return (survival.clamp(0.0, 1.0), mass.clamp(0.0, 1.0));
            }
            more *= 2;
        }
    }

    /// Encloses the probability of an infinite loss, to a relative width of 10^-digits or less.
    pub fn mass(&self, digits: u32) -> Enclosure {
        self.shares_of_all(precision::bits(digits, 16)).1
    }

    /// The probability that every loss is finite, if it is known exactly and is not too long a number.
    fn exact_survival(&self) -> Option<Rational> {
        let mut bits: u64 = 0;
        let mut survival = Rational::from(1);
        for group in &self.groups {
            let mass = group.law.finite(group.shift)?.exact_infinite_mass()?;
            let one: Rational = 1 - mass;
            if one == 0 {
                return Some(one);
            }
            let copies = group.copies.checked_mul(self.times)?;
            bits = bits.checked_add(copies.checked_mul(u64::from(one.denom().significant_bits()))?)?;
            if bits > MOST_BITS {
                return None;
            }
            let power = |number: &Integer| rug::ops::Pow::pow(number.clone(), copies as u32);
            survival *= Rational::from((power(one.numer()), power(one.denom())));
        }
        Some(survival)
    }

    /// delta(eps) from that of the finite losses.
    pub(crate) fn delta(&self, finite: &Enclosure, digits: u32) -> Enclosure {
        let bits = precision::bits(digits, 64).max(finite.lower().prec());
        let (survival, mass) = self.shares(bits);
        mass.add(&survival.mul(finite)).clamp(0.0, 1.0)
    }

    /// The same for ln delta, in doubles.
    pub(crate) fn ln_approx(&self, ln_finite: f64) -> f64 {
        const BITS: u32 = 60;
        let (survival, mass) = self.shares(BITS);
        let (ln_mass, ln_survival) = (mass.ln().approximate(), survival.ln().approximate());
        let (high, low) = (ln_mass.max(ln_survival + ln_finite), ln_mass.min(ln_survival + ln_finite));
        high + libm::log1p(libm::exp(low - high))
    }

    /// The delta of the finite losses at which delta is this one. An error if no epsilon has so small a delta.
    pub(crate) fn target(&self, delta: &Delta, digits: u32) -> Result<Target> {
        if let Some(survival) = self.exact_survival() {
            if survival == 0 {
                return Err(self.too_small(delta));
            }
            let finite = Rational::from(1) - (Rational::from(1) - &**delta) / survival;
            return match Delta::try_from(&finite) {
                Ok(finite) => Ok(Target::At(finite)),
                Err(_) if finite == 0 => Ok(Target::Zero),
                Err(_) => Err(self.too_small(delta)),
            };
        }
        let mut bits = precision::bits(digits, 64);
        while bits <= MOST_PRECISION {
            let (survival, mass) = self.shares(bits);
            let left = Enclosure::rational(delta, bits).sub(&mass);
            // Before a survival that no float holds is divided by.
            if *left.upper() < 0 {
                return Err(self.too_small(delta));
            }
            let finite = left.div(&survival);
            let is_narrow = *finite.lower() > 0 && finite.is_tight(digits + 3);
            if let (true, Some(least), Some(most)) = (is_narrow, finite.lower_rational(), finite.upper_rational()) {
                return Ok(Target::Between { least: least.try_into()?, most: most.try_into()? });
            }
            bits *= 2;
        }
        let apart = "a delta further from the probability of an infinite loss has an epsilon".to_string();
        Err(Error::Undecided { what: "delta".to_string(), value: delta.to_string(), apart })
    }

    /// The error of a delta at which no epsilon is finite.
    pub(crate) fn too_small(&self, delta: &Delta) -> Error {
        let (survival, mass) = self.shares_of_all(precision::bits(12, 64));
        // Close to 1 the complement has the digits.
        let mass = match mass.shown(7) {
            one if one == "1" && *survival.upper() > 0 => format!("1 - {}", survival.upper_text(2)),
            mass => mass,
        };
        Error::InfiniteLoss { mass, delta: delta.to_string() }
    }

    /// The type I error of the test of the finite losses alone, alpha / s, between two numbers; `None` where some test never errs the other way.
    pub(crate) fn alpha(&self, alpha: &Rational, digits: u32) -> Option<[Rational; 2]> {
        if let Some(survival) = self.exact_survival() {
            if survival == 0 {
                return None;
            }
            let finite = alpha / survival;
            return (finite < 1).then(|| [finite.clone(), finite]);
        }
        let (survival, _) = self.shares(precision::bits(digits, 64));
        if *survival.upper() == 0 {
            return None;
        }
        let finite = Enclosure::rational(alpha, survival.lower().prec()).div(&survival);
        let (least, most) = (finite.lower_rational()?, finite.upper_rational()?);
        (least < 1).then(|| [least.max(Rational::new()), most.min(Rational::from(1))])
    }

    /// f(alpha) from that of the finite losses at alpha / s.
    pub(crate) fn tradeoff(&self, finite: &Enclosure, digits: u32) -> Enclosure {
        let bits = precision::bits(digits, 64).max(finite.lower().prec());
        self.shares_of_all(bits).0.mul(finite).clamp(0.0, 1.0)
    }
}
