//! The noise of a sum over d other groups: d independent draws of N_Z(0, 1 / (2 rho)), added.

use rug::{Float, Rational};

use super::{check_rho, exp};
use crate::{
    error::{Error, Result},
    loss::{
        convolve::Masses,
        law::{Group, Law},
        sum::LossSum,
        theta,
    },
    numeric::{Enclosure, rational},
};

/// Limit on the number of bits in all masses of a table.
const MOST_TABLE_BITS: f64 = 6e7;

/// The law used for the noise of the sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SumLaw {
    /// The d-fold convolution itself.
    Exact,
    /// One discrete Gaussian N_Z(0, d / (2 rho)), as (3.7) approximates it.
    OneGaussian,
}

/// The noise of the sum over `count` groups, each with N_Z(0, 1 / (2 rho)).
#[derive(Clone, Debug)]
pub struct OtherGroups {
    rho: Rational,
    count: u64,
    sum: SumLaw,
}

/// The masses at consecutive integers, with total error about 2^-bits.
///
/// The probability of every set of integers lies between the sum of its stored masses and that sum plus `slack`.
#[derive(Clone, Debug)]
pub struct MassTable {
    first: i64,
    masses: Vec<Enclosure>,
    /// Prefix sums of the stored masses, the empty one first.
    sums: Vec<Enclosure>,
    slack: Float,
}

impl OtherGroups {
    /// The noise of `count` groups; a sum over none has no noise.
    pub fn new(rho: Rational, count: u64, sum: SumLaw) -> Result<Self> {
        const MOST: u64 = 1_000_000_000;
        check_rho(&rho)?;
        if count > MOST {
            return Err(Error::out_of_range("the number of other groups", count, "0 to 10^9"));
        }
        Ok(OtherGroups { rho, count, sum })
    }

    /// The number of groups.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The variance proxy d / (2 rho) of the sum: an upper bound on its variance.
    pub fn sigma2(&self) -> Rational {
        Rational::from(self.count) / Rational::from(&self.rho * 2_u32)
    }

    /// If the law is one discrete Gaussian: r with masses proportional to exp(-r y^2).
    pub(super) fn as_one(&self) -> Option<Rational> {
        let one = self.count == 1 || (self.count > 1 && self.sum == SumLaw::OneGaussian);
        one.then(|| &self.rho / Rational::from(self.count))
    }

    /// The masses, to a slack of about 2^-bits.
    pub fn table(&self, bits: u32) -> Result<MassTable> {
        let spread = (2.0 * self.sigma2().to_f64() * f64::from(bits) * std::f64::consts::LN_2).sqrt() + 1.0;
        if 2.0 * spread * f64::from(bits) > MOST_TABLE_BITS {
            return Err(Error::out_of_range(
                "the size of the table of noise of the other groups",
                format!("{:.1e} bits", 2.0 * spread * f64::from(bits)),
                &format!(
                    "at most {MOST_TABLE_BITS:.1e} bits: use fewer groups, a larger rho, or outputs that are less improbable"
                ),
            ));
        }
        if self.count == 0 {
            let one = vec![Enclosure::double(1.0, 64)];
            return Ok(MassTable::new(0, one, Float::new(64), bits));
        }
        if let Some(rate) = self.as_one() {
            return Ok(one_gaussian(&rate, bits));
        }
        let law = Law::DiscreteGaussian { sigma2: Rational::from(1) / Rational::from(&self.rho * 2_u32) };
        let sum = LossSum::new([Group { law, shift: 1, copies: self.count }])?;
        // Each of the d roundings costs up to the span of the table in units of the last bit.
        let guard = libm::log2(spread * self.count as f64).ceil() as u32 + 2;
        let (first, masses, slack) = Masses::new(&sum, bits + guard)?.listed();
        Ok(MassTable::new(first, masses, slack, bits + guard))
    }
}

/// The error of (3.7): the total variation distance between the exact sum and one discrete Gaussian, to about `digits`
/// digits. It is the largest difference between the two laws in the probability of any event.
pub fn error_of_one_gaussian(rho: &Rational, count: u64, digits: u32) -> Result<Enclosure> {
    const MOST_BITS: u32 = 4096;
    let exact = OtherGroups::new(rho.clone(), count, SumLaw::Exact)?;
    let one = OtherGroups::new(rho.clone(), count, SumLaw::OneGaussian)?;
    let mut bits = 128;
    let mut best: Option<Enclosure> = None;
    loop {
        let (a, b) = match (exact.table(bits), one.table(bits), best) {
            (Ok(a), Ok(b), _) => (a, b),
            // The next precision needs more bits than a table can hold.
            (Err(_), _, Some(best)) | (_, Err(_), Some(best)) => return Ok(best),
            (Err(error), _, None) | (_, Err(error), None) => return Err(error),
        };
        let (first, last) = (a.first.min(b.first), a.last().max(b.last()));
        let mut sum = Enclosure::double(0.0, bits + 32);
        for y in first..=last {
            let difference = a.stored(y).sub(&b.stored(y));
            sum = sum.add(&difference.max(&difference.clone().negate()));
        }
        // The stored masses are off by at most both slacks together.
        let slack = Float::with_val_round(64, &a.slack + &b.slack, rug::float::Round::Up).0;
        let slack = Enclosure::new(slack.clone(), slack);
        let twice = super::plus_or_minus(&sum, &slack);
        let value = twice.mul(&Enclosure::double(0.5, bits)).clamp(0.0, 1.0);
        if value.is_tight(digits) || bits >= MOST_BITS || exact.as_one().is_some() {
            return Ok(value);
        }
        best = Some(value);
        bits *= 2;
    }
}

/// Both tails beyond y >= 0 weigh at most exp(-rate y^2): the sum over x > y is below the integral from y on, which is
/// at most half of exp(-rate y^2) times sqrt(pi / rate), and the normalizing sum is above that root.
fn one_gaussian(rate: &Rational, bits: u32) -> MassTable {
    let sigma2 = Rational::from(1) / Rational::from(rate * 2_u32);
    let reach = (f64::from(bits) * std::f64::consts::LN_2 / rate.to_f64()).sqrt().ceil() as i64 + 1;
    let inverse = theta::gaussian_sum(&sigma2, bits + 16).recip();
    let half: Vec<Enclosure> =
        (0..=reach).map(|y| exp(&-(Rational::from(y).square() * rate), bits + 16).mul(&inverse)).collect();
    let masses = half.iter().skip(1).rev().chain(half.iter()).cloned().collect();
    let slack = exp(&-(Rational::from(reach).square() * rate), 64).upper().clone();
    MassTable::new(-reach, masses, slack, bits + 16)
}

impl MassTable {
    fn new(first: i64, masses: Vec<Enclosure>, slack: Float, bits: u32) -> Self {
        let mut sums = vec![Enclosure::double(0.0, bits + 32)];
        for mass in &masses {
            sums.extend(sums.last().map(|sum| sum.add(mass)));
        }
        MassTable { first, masses, sums, slack }
    }

    /// The masses of one discrete Gaussian N_Z(0, 1 / (2 rho)).
    pub fn of_one(rho: &Rational, bits: u32) -> Result<Self> {
        OtherGroups::new(rho.clone(), 1, SumLaw::Exact)?.table(bits)
    }

    /// The first integer with a stored mass.
    pub fn first(&self) -> i64 {
        self.first
    }

    /// The last integer with a stored mass.
    pub fn last(&self) -> i64 {
        self.first + self.masses.len() as i64 - 1
    }

    /// Upper bound on the mass that is not stored.
    pub fn slack(&self) -> Enclosure {
        Enclosure::new(Float::new(self.slack.prec()), self.slack.clone())
    }

    /// The stored mass at y, zero outside the table.
    pub fn stored(&self, y: i64) -> Enclosure {
        let index = usize::try_from(y.saturating_sub(self.first)).ok();
        index.and_then(|index| self.masses.get(index)).cloned().unwrap_or_else(|| Enclosure::double(0.0, 64))
    }

    /// The stored masses from `from` to `to`, both included.
    pub fn stored_between(&self, from: i64, to: i64) -> Enclosure {
        if to < from {
            return Enclosure::double(0.0, 64);
        }
        let count = self.masses.len() as i64;
        let index = |y: i64| y.saturating_sub(self.first).clamp(0, count) as usize;
        self.sums[index(to.saturating_add(1))].sub(&self.sums[index(from)]).clamp(0.0, 1.0)
    }

    /// `P[Y = y]`.
    pub fn mass(&self, y: i64) -> Enclosure {
        self.stored(y).add(&self.slack())
    }

    /// `P[from <= Y <= to]`.
    pub fn between(&self, from: i64, to: i64) -> Enclosure {
        self.stored_between(from, to).add(&self.slack()).clamp(0.0, 1.0)
    }
}

/// Refuses counts so large that sums of them could overflow a signed machine word.
pub(super) fn check_count(what: &str, value: i64) -> Result<()> {
    const MOST: i64 = 1_000_000_000_000_000;
    if value.abs() > MOST {
        return Err(Error::out_of_range(what, rational::display(&Rational::from(value)), "a count up to 10^15"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{loss::testing::sum, numeric::rational::parse};

    #[test]
    fn the_convolution_agrees_with_the_contour() {
        let rho = parse("0.099").unwrap();
        let table = OtherGroups::new(rho.clone(), 27, SumLaw::Exact).unwrap().table(120).unwrap();
        let sigma2 = Rational::from(1) / Rational::from(&rho * 2_u32);
        let sum = sum(&[format!("{sigma2}x27")]);
        for y in [-40_i64, -3, 0, 1, 25, 60] {
            let z = Rational::from(y) / &sigma2 + sum.rho();
            let tail = sum.evaluator().upper_tail(&z, 20).unwrap().value;
            let other = table.between(y, i64::MAX);
            assert!(tail.overlaps(&other) && other.is_tight(18), "{y}: {tail:?} {other:?}");
        }
        assert!(table.between(i64::MIN, i64::MAX).contains(&Rational::from(1)));
    }

    #[test]
    fn one_gaussian_is_close_but_not_equal() {
        // Five counts at rho = 1 are the worst of the paper's Figure 9. By convolution in doubles, masses at -30..=30:
        let law = |rate: f64| -> Vec<f64> {
            let weights = (-30_i32..=30).map(|x| (-rate * f64::from(x * x)).exp());
            let total: f64 = weights.clone().sum();
            weights.map(|weight| weight / total).collect()
        };
        let convolved = (1..5).fold(law(1.0), |sum, _| {
            let one = law(1.0);
            let at =
                |y: usize| (0..=60).filter_map(|x| sum.get((y + 30).checked_sub(x)?).map(|mass| mass * one[x])).sum();
            (0..=60).map(at).collect()
        });
        let distance: f64 = convolved.iter().zip(law(0.2)).map(|(a, b)| (a - b).abs() / 2.0).sum();
        let error = error_of_one_gaussian(&Rational::from(1), 5, 6).unwrap();
        assert!(error.is_tight(6) && (error.approximate() - distance).abs() < 1e-9, "{error:?} {distance}");
        let error = error_of_one_gaussian(&parse("0.099").unwrap(), 27, 3).unwrap();
        assert!(error.is_tight(3) && *error.upper() < 1e-40, "{error:?}");
        let alone = error_of_one_gaussian(&Rational::from(1), 1, 3).unwrap();
        assert!(*alone.lower() == 0);
    }

    #[test]
    fn no_other_groups_have_no_noise() {
        let table = OtherGroups::new(Rational::from(1), 0, SumLaw::Exact).unwrap().table(64).unwrap();
        assert_eq!((table.first(), table.last()), (0, 0));
        assert!(table.mass(0).contains(&Rational::from(1)) && *table.mass(1).upper() == 0);
    }
}
