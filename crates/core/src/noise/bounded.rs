//! The distribution of noise on finitely many integers: truncated laws, and tables of masses.

use std::cmp::Ordering;

use rug::Rational;

use super::{discrete_gaussian::GUARD, folded::FoldedLaw, quantile::quantile};
use crate::{
    error::{Error, Result},
    law::Exponent,
    numeric::{Enclosure, precision, rational},
};

/// Masses, tails, quantiles and moments of noise on finitely many integers.
///
/// ```
/// # use dp_assay_core as dp_assay;
/// use dp_assay::{law::Law, noise::Distribution, numeric::rational::parse};
/// let law = Law::TruncatedLaplace { epsilon: parse("1/2")?, bound: 3 };
/// let noise = Distribution::of_law(&law)?;
/// assert_eq!(noise.quantile(&parse("0.975")?)?, 3);
/// assert_eq!(noise.mass(4, 10).approximate(), 0.0);
/// # Ok::<(), dp_assay::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct BoundedNoise(Form);

#[derive(Clone, Debug)]
enum Form {
    /// Symmetric on -bound, ..., bound.
    Truncated { law: FoldedLaw, bound: u64 },
    /// Values in increasing order with probabilities that add up to one.
    Listed(Vec<(i64, Rational)>),
}

impl BoundedNoise {
    /// That with an exponent on -bound, ..., bound.
    pub(super) fn truncated(exponent: Exponent, bound: u64) -> Self {
        BoundedNoise(Form::Truncated { law: FoldedLaw::new(exponent, Some(bound)), bound })
    }

    /// That of a list.
    pub(super) fn listed(rows: Vec<(i64, Rational)>) -> Self {
        BoundedNoise(Form::Listed(rows))
    }

    /// `P[X = x]`, to a relative width of 10^-digits.
    pub fn mass(&self, x: i64, digits: u32) -> Enclosure {
        let bits = precision::bits(digits, GUARD);
        match &self.0 {
            Form::Truncated { bound, .. } if x.unsigned_abs() > *bound => Enclosure::double(0.0, bits),
            Form::Truncated { law, .. } => law.weight(x.unsigned_abs(), bits).div(&total(law, bits)),
            Form::Listed(_) => self.listed_sum(bits, |value| value == x),
        }
    }

    /// `P[X <= x]`, to a relative width of 10^-digits.
    pub fn cdf(&self, x: i64, digits: u32) -> Enclosure {
        match &self.0 {
            Form::Truncated { .. } => self.survival(x.saturating_neg(), digits),
            Form::Listed(_) => self.listed_sum(precision::bits(digits, GUARD), |value| value <= x),
        }
    }

    /// `P[X >= x]`, to a relative width of 10^-digits.
    pub fn survival(&self, x: i64, digits: u32) -> Enclosure {
        let bits = precision::bits(digits, GUARD);
        match &self.0 {
            Form::Truncated { law, bound } => match x.cmp(&0) {
                // 1 - P[X >= 1 - x], which is at most 1/2, so that no digits cancel.
                Ordering::Less | Ordering::Equal => {
                    Enclosure::double(1.0, bits).sub(&upper_tail(law, *bound, 1 - i128::from(x), bits))
                }
                Ordering::Greater => upper_tail(law, *bound, i128::from(x), bits),
            },
            Form::Listed(_) => self.listed_sum(bits, |value| value >= x),
        }
    }

    /// The sum of the listed probabilities of some values.
    fn listed_sum(&self, bits: u32, takes: impl Fn(i64) -> bool) -> Enclosure {
        let Form::Listed(rows) = &self.0 else { return Enclosure::double(0.0, bits) };
        let sum: Rational = rows.iter().filter(|(value, _)| takes(*value)).map(|(_, mass)| mass).sum();
        Enclosure::rational(&sum, bits)
    }

    /// The smallest integer x with `P[X <= x]` >= p, proven. For 0 < p < 1.
    pub fn quantile(&self, p: &Rational) -> Result<i64> {
        match &self.0 {
            Form::Truncated { bound, .. } => quantile(p, *bound as f64 + 1.0, |x, digits| Ok(self.survival(x, digits))),
            Form::Listed(rows) => {
                if *p <= 0 || *p >= 1 {
                    return Err(Error::out_of_range(
                        "the probability of a quantile",
                        rational::display(p),
                        "0 < p < 1",
                    ));
                }
                let mut sum = Rational::new();
                let reached = rows.iter().find(|(_, mass)| {
                    sum += mass;
                    sum >= *p
                });
                // The probabilities add up to one, which is above p.
                Ok(reached.or(rows.last()).map_or(0, |(value, _)| *value))
            }
        }
    }

    /// `E[X]`, exactly.
    pub fn mean(&self) -> Rational {
        match &self.0 {
            Form::Truncated { .. } => Rational::new(),
            Form::Listed(rows) => rows.iter().map(|(value, mass)| Rational::from(mass * *value)).sum(),
        }
    }

    /// `Var[X]`, to a relative width of 10^-digits.
    pub fn variance(&self, digits: u32) -> Enclosure {
        let bits = precision::bits(digits, GUARD);
        match &self.0 {
            Form::Truncated { law, .. } => {
                // 2 w(1) (the sum of (j + 1)^2 w(1 + j) / w(1)) / total: nothing is subtracted.
                let squares = law.beyond(1).moment(bits, |j| (j + 1).saturating_mul(j + 1));
                law.weight(1, bits).mul(&squares).times_power_of_two(1).div(&total(law, bits))
            }
            Form::Listed(rows) => {
                let mean = self.mean();
                let square = |value: i64| (Rational::from(value) - &mean).square();
                Enclosure::rational(&rows.iter().map(|(value, mass)| square(*value) * mass).sum::<Rational>(), bits)
            }
        }
    }
}

/// The sum of all weights: that of zero once, and of every other magnitude with both signs.
fn total(law: &FoldedLaw, bits: u32) -> Enclosure {
    law.moment(bits, |_| 1).times_power_of_two(1).sub(&Enclosure::double(1.0, bits))
}

/// `P[X >= x]` for x >= 1.
fn upper_tail(law: &FoldedLaw, bound: u64, x: i128, bits: u32) -> Enclosure {
    match u64::try_from(x) {
        Ok(x) if x <= bound => law.weight(x, bits).mul(&law.beyond(x).moment(bits, |_| 1)).div(&total(law, bits)),
        _ => Enclosure::double(0.0, bits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        law::{Law, Shape},
        numeric::{Certainty, rational::parse},
    };

    /// Exactly, from the weights as enclosures.
    fn weights(law: &Law) -> Vec<(i64, Enclosure)> {
        let Shape::Exponential { exponent: Exponent { slope, curvature }, bound: Some(bound) } = law.shape().unwrap()
        else {
            panic!("{law} is not truncated");
        };
        let weight = |x: i64| {
            let m = x.unsigned_abs();
            let exponent = Rational::from(&slope * m) + Rational::from(&curvature * (m * m.saturating_sub(1))) / 2_u32;
            Enclosure::rational(&-exponent, 400).exp()
        };
        (-(bound as i64)..=bound as i64).map(|x| (x, weight(x))).collect()
    }

    #[test]
    fn truncated_noise_is_the_sum_of_its_weights() {
        for law in [
            Law::TruncatedLaplace { epsilon: parse("1/2").unwrap(), bound: 7 },
            Law::TruncatedLaplace { epsilon: parse("100").unwrap(), bound: 3 },
            Law::TruncatedLaplace { epsilon: parse("1/1000000").unwrap(), bound: 1 },
            Law::TruncatedGaussian { sigma2: parse("5").unwrap(), bound: 30 },
            Law::TruncatedGaussian { sigma2: parse("1000000").unwrap(), bound: 12 },
        ] {
            let Shape::Exponential { exponent, bound: Some(bound) } = law.shape().unwrap() else { panic!("{law}") };
            let (noise, weights) = (BoundedNoise::truncated(exponent, bound), weights(&law));
            let zero = || Enclosure::double(0.0, 400);
            let sum = |takes: &dyn Fn(i64) -> bool| {
                weights.iter().filter(|(x, _)| takes(*x)).fold(zero(), |sum, (_, weight)| sum.add(weight))
            };
            let all = sum(&|_| true);
            let mut square = zero();
            for (x, weight) in &weights {
                square = square.add(&weight.mul(&Enclosure::rational(&Rational::from(x * x), 400)));
                for (ours, theirs) in [
                    (noise.mass(*x, 20), weight.clone()),
                    (noise.survival(*x, 20), sum(&|y| y >= *x)),
                    (noise.cdf(*x, 20), sum(&|y| y <= *x)),
                ] {
                    let truth = theirs.div(&all);
                    assert!(ours.lower() <= truth.upper() && truth.lower() <= ours.upper(), "{law} {x}");
                    assert!(ours.is_tight(20), "{law} {x} {ours:?}");
                }
            }
            let (ours, truth) = (noise.variance(20), square.div(&all));
            assert!(ours.overlaps(&truth) && ours.is_tight(20), "{law}");
            for outside in [bound as i64 + 1, i64::MAX, i64::MIN] {
                assert!(noise.mass(outside, 9).at_most(&Rational::new()) == Certainty::Yes, "{outside}");
            }
            assert!(noise.survival(i64::MIN, 9).contains(&Rational::from(1)));
            for p in ["1e-9", "0.025", "0.5", "0.975"] {
                let (p, q) = (parse(p).unwrap(), noise.quantile(&parse(p).unwrap()).unwrap());
                assert!(*noise.cdf(q, 25).upper() >= p && *noise.cdf(q - 1, 25).lower() < p, "{law} {p}");
            }
        }
    }

    #[test]
    fn a_list_is_exact() {
        let rows = [(-2, "1/10"), (0, "3/5"), (7, "3/10")].map(|(value, mass)| (value, parse(mass).unwrap()));
        let noise = BoundedNoise::listed(rows.to_vec());
        assert_eq!(noise.mean(), parse("19/10").unwrap());
        assert!(
            noise.variance(12).contains(&(parse("0.4").unwrap() + parse("14.7").unwrap() - parse("3.61").unwrap()))
        );
        for (p, value) in [("1/20", -2), ("1/10", -2), ("0.1000001", 0), ("7/10", 0), ("0.975", 7)] {
            assert_eq!(noise.quantile(&parse(p).unwrap()).unwrap(), value, "{p}");
        }
        assert!(noise.quantile(&Rational::from(1)).is_err());
        assert!(
            noise.survival(0, 12).contains(&parse("9/10").unwrap())
                && noise.cdf(-1, 12).contains(&parse("1/10").unwrap())
        );
        assert!(noise.mass(1, 12).contains(&Rational::new()));
    }
}
