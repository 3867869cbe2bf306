//! Noise on finitely many integers, by `proofs/rocq/Bounded.v`: truncated noise, and randomized response with several answers. All outputs that
//! both neighbors can have are listed.

use std::collections::BTreeMap;

use rug::Rational;

use super::number::{equal_counts, quotient, unprovable};
use crate::{error::Result, law::Law};

/// The largest number of outputs: Rocq takes three exponentials for each, and compares each with each place.
const MOST_OUTPUTS: u64 = 10_000;
/// The squarings of the exponentials that are the fewest: their relative error is y^2 / 2^(squarings + 1) at exp(-y).
const SQUARINGS: i32 = 28;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bounded {
    kind: Kind,
    /// The variance proxy of Gaussian noise, else epsilon.
    parameter: Rational,
    /// The largest noise, or the number of answers.
    bound: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Gaussian,
    Laplace,
    Answers,
}

impl Bounded {
    /// The law, if it is one of these. Refused are too many outputs, and a shift beyond all common ones.
    pub(super) fn of_law(law: &Law, shift: u64) -> Result<Option<Bounded>> {
        let (kind, parameter, bound) = match law {
            Law::TruncatedGaussian { sigma2, bound } => (Kind::Gaussian, sigma2, *bound),
            Law::TruncatedLaplace { epsilon, bound } => (Kind::Laplace, epsilon, *bound),
            Law::RandomizedResponse { epsilon, answers } => (Kind::Answers, epsilon, *answers),
            _ => return Ok(None),
        };
        let outputs = if kind == Kind::Answers { bound } else { 2 * bound + 1 };
        if outputs > MOST_OUTPUTS {
            return Err(unprovable(&format!(
                "list all outputs of bounded noise and all answers, up to {MOST_OUTPUTS}; these are {outputs}"
            )));
        }
        if kind != Kind::Answers && shift > 2 * bound {
            return Err(unprovable(
                "need an output that both neighbors can have: without one delta is 1 at every epsilon",
            ));
        }
        Ok(Some(Bounded { kind, parameter: parameter.clone(), bound }))
    }

    /// The change of the loss with the place, and the loss at place 0.
    pub(super) fn losses(&self, shift: u64) -> (Rational, Rational) {
        match self.kind {
            Kind::Gaussian => {
                let weight = Rational::from(shift) / &self.parameter;
                (weight.clone(), weight * shift / 2_u32)
            }
            Kind::Laplace => (Rational::from(&self.parameter * 2_u32), Rational::from(&self.parameter * shift)),
            Kind::Answers => (self.parameter.clone(), self.parameter.clone()),
        }
    }

    /// The outputs that both neighbors can have.
    fn outputs(&self, shift: u64) -> std::ops::RangeInclusive<i64> {
        let bound = self.bound as i64;
        match self.kind {
            Kind::Answers => 0..=bound - 1,
            _ => shift as i64 - bound..=bound,
        }
    }

    /// -ln of the weight of an output.
    fn energy(&self, x: i64) -> f64 {
        let parameter = self.parameter.to_f64();
        match self.kind {
            Kind::Gaussian => (x as f64).powi(2) / (2.0 * parameter),
            Kind::Laplace => parameter * x.abs() as f64,
            Kind::Answers => parameter * f64::from(u8::from(x != 0)),
        }
    }

    fn place(&self, x: i64, shift: u64) -> i64 {
        match (self.kind, x) {
            (Kind::Gaussian, _) => x,
            (Kind::Laplace, _) => x.clamp(0, shift as i64),
            (Kind::Answers, 0) => 0,
            (Kind::Answers, 1) => 2,
            (Kind::Answers, _) => 1,
        }
    }

    /// The first and the last place.
    pub(super) fn places(&self, shift: u64) -> (i64, i64) {
        let outputs = self.outputs(shift);
        match self.kind {
            Kind::Answers => (0, 2),
            _ => (self.place(*outputs.start(), shift), self.place(*outputs.end(), shift)),
        }
    }

    /// Each output's place and the logarithm of its tilted mass.
    pub(super) fn tilted(&self, shift: u64, c: f64) -> Vec<(i64, f64)> {
        let slope = c * self.losses(shift).0.to_f64();
        let ln_sum = libm::log(self.outputs(shift).map(|x| libm::exp(-self.energy(x))).sum::<f64>());
        let ln_mass = |x: i64| -self.energy(x) - slope * self.place(x, shift) as f64 - ln_sum;
        self.outputs(shift).map(|x| (self.place(x, shift), ln_mass(x))).collect()
    }

    /// The tilted masses by place, in units of exp(`ln_unit`), each rounded by `unit`.
    pub(super) fn table(&self, shift: u64, c: f64, ln_unit: f64, unit: impl Fn(f64) -> u64) -> Vec<u64> {
        let mut table = BTreeMap::new();
        for (place, ln_mass) in self.tilted(shift, c) {
            *table.entry(place).or_insert(0) += unit(libm::exp(ln_mass - ln_unit));
        }
        let (first, last) = self.places(shift);
        (first..=last).map(|place| table.get(&place).copied().unwrap_or(0)).collect()
    }

    /// The number of exponentials of a file.
    pub(super) fn exponentials(&self, shift: u64) -> f64 {
        3.0 * self.outputs(shift).count() as f64
    }

    /// Whether there is an output that the other neighbor cannot have.
    pub(super) fn has_infinite_loss(&self) -> bool {
        self.kind != Kind::Answers
    }

    /// Bounds of the probability of one, as a file computes it.
    pub(super) fn infinite(&self, shift: u64) -> [f64; 2] {
        if !self.has_infinite_loss() {
            return [0.0; 2];
        }
        let bound = self.bound as i64;
        let weight = |x: i64| libm::exp(-self.energy(x));
        let all: f64 = (-bound..=bound).map(weight).sum();
        let error = |x: i64| 1e-9 + self.energy(x).powi(2) / 2_f64.powi(SQUARINGS);
        let lost = |sign: f64| -> f64 {
            (-bound..*self.outputs(shift).start()).map(|x| weight(x) * (1.0 + sign * error(x))).sum::<f64>() / all
        };
        [(lost(-1.0) * (1.0 - 1e-9)).max(0.0), lost(1.0) * (1.0 + 1e-9)]
    }

    /// The group for Rocq, of `copies` counts.
    pub(super) fn group_text(&self, shift: u64, copies: u64, hints: &str) -> String {
        let Bounded { kind, parameter, bound } = self;
        let (num, den, (first, last)) = (parameter.numer(), parameter.denom(), self.places(shift));
        let width = last - first + 1;
        match kind {
            Kind::Gaussian => format!("TruncatedGroup {num} {den} {bound} {shift} {copies} {hints} ({first}) {width}"),
            Kind::Laplace => {
                format!("TruncatedLaplaceGroup {num} {den} {bound} {shift} {copies} {hints} ({first}) {width}")
            }
            Kind::Answers => format!("AnswersGroup {num} {den} {bound} {copies} {hints}"),
        }
    }

    /// The counts for Rocq.
    pub(super) fn law_text(&self, shift: u64, copies: u64) -> String {
        let (parameter, bound) = (quotient(&self.parameter), self.bound);
        let count = match self.kind {
            Kind::Gaussian => format!("TruncatedGaussian {parameter} {bound} {shift}"),
            Kind::Laplace => format!("TruncatedLaplace {parameter} {bound} {shift}"),
            Kind::Answers => format!("Answers {parameter} {bound}"),
        };
        equal_counts(&count, copies)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::testing::group;

    fn bounded(text: &str) -> Result<Option<Bounded>> {
        let group = group(text);
        Bounded::of_law(&group.law, group.shift)
    }

    #[test]
    fn masses_and_losses_are_those_of_the_law() {
        for text in [
            "truncated-gaussian:4:7",
            "truncated-gaussian:4:7@3",
            "truncated-laplace:1/3:9@2",
            "truncated-laplace:1/3:2@3",
            "randomized-response:1/2:5",
            "randomized-response:1/2:3",
        ] {
            let one = bounded(text).unwrap().unwrap();
            let shift = group(text).shift;
            let finite = group(text).law.finite(shift).unwrap();
            let (weight, base) = one.losses(shift);
            let largest = base - &weight * Rational::from(one.places(shift).0);
            assert_eq!((weight, largest), (finite.step.clone(), finite.largest.clone()), "{text}");
            let table = one.table(shift, 0.0, 0.0, |mass| (mass * 1e12).round() as u64);
            let total: u64 = table.iter().sum();
            assert!(total.abs_diff(1_000_000_000_000) < 100, "{text}");
            assert_eq!(table.len(), finite.masses.len(), "{text}");
            let [low, high] = one.infinite(shift);
            let mass = finite.infinite_mass(200).approximate();
            assert!(low <= mass && mass <= high && high - low <= 1e-5 * high, "{text}: {low} {mass} {high}");
        }
        assert_eq!(bounded("5").unwrap(), None);
    }

    #[test]
    fn too_many_outputs_and_no_common_one_are_refused() {
        for (text, said) in [
            ("truncated-gaussian:4:5000", "these are 10001"),
            ("randomized-response:1:1000000", "these are 1000000"),
            ("truncated-laplace:1:2@5", "both neighbors can have"),
        ] {
            let message = bounded(text).unwrap_err().to_string();
            assert!(message.contains(said), "{message}");
        }
    }
}
