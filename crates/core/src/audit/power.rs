//! The deviations that a number of draws shows: the power of each test against planted faults, approximately.
//!
//! A fault is another law for the draws, or another order. The rejecting p-values are the proven ones; where they begin is found by the normal
//! approximation of the statistic, so all numbers here are approximations: they say what to expect of an audit, and decide nothing.

use super::battery::{Audited, Linear};
use crate::numeric::normal::{lower_approx, upper_quantile_approx};

/// A fault of a sampler.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// The parameter is larger by this share: of a Gaussian sigma2, of a Laplace law the scale.
    Parameter(f64),
    /// Draws of the continuous law are rounded to integers.
    Rounded,
    /// Draws beyond this number of standard deviations never occur.
    Cut(f64),
    /// Even numbers are more probable by this share.
    Even(f64),
    /// Each draw is moved by this number of standard deviations, on average.
    Shift(f64),
    /// Every draw is positive or zero.
    Positive,
    /// Negative draws were replaced by zero, as in counts that were made non-negative.
    Clipped,
    /// Neighbors have this correlation.
    Correlated(f64),
}

/// The power of a number of draws against a fault.
#[derive(Clone, Debug, PartialEq)]
pub struct Power {
    /// The fault.
    pub fault: Fault,
    /// The test with the largest power.
    pub test: &'static str,
    /// The probability that the test rejects.
    pub power: f64,
}

/// The level at which one test rejects in the first step of Holm's correction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// The false alarm rate of all tests together.
    pub rate: f64,
    /// The number of tests.
    pub tests: u64,
}

impl Level {
    /// ln of the level of one side of one test with this number of cells.
    fn ln(self, cells: u64) -> f64 {
        libm::log(self.rate / (self.tests.max(1) as f64 * cells.max(1) as f64 * 2.0))
    }

    /// The distance in standard deviations from which a Chernoff bound rejects.
    fn chernoff(self) -> f64 {
        (-2.0 * self.ln(1)).sqrt()
    }

    /// Where an exact test of this number of cells rejects: ln of the level, and in standard deviations.
    fn exact(self, cells: u64) -> (f64, f64) {
        (self.ln(cells), upper_quantile_approx(self.ln(cells)))
    }
}

impl Fault {
    /// The fault in words.
    pub fn words(self, law: &Audited) -> String {
        let named = law.named.as_ref();
        let is_laplace = named.is_some_and(|law| law.sigma2().is_none());
        let parameter = if is_laplace { "scale" } else { "sigma2" };
        match self {
            Fault::Parameter(share) => {
                format!("{parameter} {} by {}", if share < 0.0 { "smaller" } else { "larger" }, percent(share.abs()))
            }
            Fault::Rounded => "the continuous law, rounded".to_string(),
            Fault::Cut(at) => format!("no draws beyond {at:.2} standard deviations"),
            Fault::Even(share) => format!("even numbers more probable by {}", percent(share)),
            Fault::Shift(share) => format!("mean off by {share:.2e} standard deviations"),
            Fault::Positive => "every draw positive".to_string(),
            Fault::Clipped => "negative draws replaced by zero".to_string(),
            Fault::Correlated(share) => format!("correlation of neighbors {share:.2e}"),
        }
    }

    /// The masses of the faulty law at 0, 1, ... and at 0, -1, ...; `None` for a fault of the order.
    fn masses(self, law: &Audited) -> Option<Masses> {
        let (declared, spread) = (&law.law, law.law.variance_approx().sqrt());
        let reach = declared.reach();
        let of = |mass: &dyn Fn(i64) -> f64| Masses::new(reach, mass);
        Some(match self {
            Fault::Parameter(share) => {
                let exponent = super::declared::scaled_law(law.named.as_ref()?, 1.0 + share)?.exponent()?;
                let (slope, curvature) = (exponent.slope.to_f64(), exponent.curvature.to_f64());
                of(&|x| {
                    let m = x.unsigned_abs() as f64;
                    libm::exp(-(slope * m + curvature * m * (m - 1.0) / 2.0))
                })
            }
            Fault::Rounded => {
                let named = law.named.as_ref()?;
                match named.sigma2() {
                    Some(sigma2) => {
                        let scale = 1.0 / sigma2.to_f64().sqrt();
                        of(&|x| {
                            let x = x.unsigned_abs() as f64;
                            lower_approx((0.5 - x) * scale) - lower_approx((-0.5 - x) * scale)
                        })
                    }
                    None => {
                        let rate = named.parameter().to_f64();
                        of(&|x| match x.unsigned_abs() as f64 {
                            0.0 => 1.0 - libm::exp(-rate / 2.0),
                            x => libm::exp(-rate * x) * libm::sinh(rate / 2.0),
                        })
                    }
                }
            }
            Fault::Cut(at) => {
                of(&|x| if x.unsigned_abs() as f64 > at * spread { 0.0 } else { declared.mass_approx(x) })
            }
            Fault::Even(share) => of(&|x| declared.mass_approx(x) * if x % 2 == 0 { 1.0 + share } else { 1.0 }),
            Fault::Shift(share) => {
                // A share of the draws is one too large.
                let moved = share * spread;
                of(&|x| (1.0 - moved) * declared.mass_approx(x) + moved * declared.mass_approx(x - 1))
            }
            Fault::Positive => of(&|x| match x {
                0 => declared.mass_approx(0),
                1.. => 2.0 * declared.mass_approx(x),
                _ => 0.0,
            }),
            Fault::Clipped => of(&|x| match x {
                0 => (1.0 + declared.mass_approx(0)) / 2.0,
                1.. => declared.mass_approx(x),
                _ => 0.0,
            }),
            Fault::Correlated(_) => return None,
        })
    }

    /// The masses from -reach to reach of a fault of the law.
    #[cfg(test)]
    pub(super) fn masses_for_tests(self, law: &Audited) -> Vec<f64> {
        self.masses(law).unwrap().masses
    }

    /// The largest power of any test with this number of draws, approximately.
    pub fn power_approx(self, law: &Audited, draws: u64, level: Level) -> Power {
        Prepared::new(self, law, level).power(draws)
    }
}

/// A fault whose effect on every statistic is known, for any number of draws.
struct Prepared<'a> {
    fault: Fault,
    law: &'a Audited,
    level: Level,
    /// By statistic: the shift of the mean of its scores, and their standard deviations under both laws.
    linear: Vec<(&'static str, f64, f64, f64)>,
    /// The probabilities of even numbers under both laws; of draws besides zero, and of positive ones among these.
    even: (f64, f64),
    signed: (f64, f64),
    /// The masses of the bins.
    bins: Vec<f64>,
    /// The probability of each magnitude and beyond.
    tails: Vec<f64>,
    /// The probability of draws that never occur.
    never: f64,
}

impl<'a> Prepared<'a> {
    fn new(fault: Fault, law: &'a Audited, level: Level) -> Prepared<'a> {
        let mut own = Prepared {
            fault,
            law,
            level,
            linear: Vec::new(),
            even: (0.0, 0.0),
            signed: (0.0, 0.5),
            bins: Vec::new(),
            tails: Vec::new(),
            never: 0.0,
        };
        let Some(masses) = fault.masses(law) else { return own };
        let reach = law.law.reach();
        own.bins = law.bins.masses_of(reach, |x| masses.at(x));
        own.linear = law.linear().into_iter().map(|of| linear(law, of, &own.bins)).collect();
        own.even = (law.law.even().approximate(), masses.sum(|x| x % 2 == 0));
        let signed = masses.sum(|x| x != 0);
        own.signed = (signed, masses.sum(|x| x > 0) / signed);
        own.tails = vec![0.0; reach as usize + 2];
        for m in (0..=reach).rev() {
            let both = if m == 0 { masses.at(0) } else { masses.at(m) + masses.at(-m) };
            own.tails[m as usize] = own.tails[m as usize + 1] + both;
        }
        if let Fault::Cut(at) = fault {
            own.never = law.law.tail_approx((at * law.law.variance_approx().sqrt()) as i64 + 1);
        }
        own
    }

    fn power(&self, draws: u64) -> Power {
        let (test, z) = self.most_powerful(draws);
        Power { fault: self.fault, test, power: lower_approx(z) }
    }

    /// The test with the largest power, and the z below which the normal law has its power; infinite for one and none.
    fn most_powerful(&self, draws: u64) -> (&'static str, f64) {
        let (n, level) = (draws as f64, self.level);
        if let Fault::Correlated(share) = self.fault {
            return ("lag 1", share.abs() * n.sqrt() - level.chernoff());
        }
        let mut best = ("none", f64::NEG_INFINITY);
        let mut see = |test: &'static str, z: f64| {
            if z > best.1 {
                best = (test, z);
            }
        };
        for (name, shift, null, other) in &self.linear {
            see(name, (shift.abs() * n.sqrt() - level.chernoff() * null) / other);
        }
        let one = level.exact(1);
        see("parity", binomial_power(n, self.even.0, self.even.1, one));
        see("sign", binomial_power(n * self.signed.0, 0.5, self.signed.1, one));
        let thresholds = self.law.thresholds(draws);
        let each = level.exact(thresholds.len() as u64);
        for m in &thresholds {
            let (null, other) = (self.law.law.tail_approx(*m), self.tails.get(*m as usize).copied().unwrap_or(0.0));
            see("tails", binomial_power(n, null, other, each));
        }
        // None of n draws beyond: (1 - q)^n at most the level.
        if self.never > 0.0 && n * libm::log1p(-self.never) <= level.ln(1) {
            see("largest", f64::INFINITY);
        }
        let approx = self.law.bins.approx();
        let cells = approx.iter().filter(|mass| n * **mass >= 5.0).count() as u64;
        let each = level.exact(cells);
        for (null, other) in approx.iter().zip(&self.bins).filter(|(null, _)| n * **null >= 5.0) {
            see("masses", binomial_power(n, *null, *other, each));
        }
        best
    }
}

/// The least number of draws, to about one percent, with which a fault is found with this probability; `None` beyond 10^15.
pub fn draws_approx(law: &Audited, fault: Fault, power: f64, tests: Level) -> Option<u64> {
    let prepared = Prepared::new(fault, law, tests);
    let reaches = |draws: f64| prepared.power(draws as u64).power >= power;
    let (mut below, mut at) = (1.0, 2.0);
    while !reaches(at) {
        (below, at) = (at, at * 2.0);
        if at > 1e15 {
            return None;
        }
    }
    while at / below > 1.01 {
        let middle: f64 = f64::sqrt(below * at);
        if reaches(middle) { at = middle } else { below = middle }
    }
    Some(at.ceil() as u64)
}

/// A kind of faults of any size, from a small to a large one.
pub type Sized = (fn(f64) -> Fault, f64, f64);

/// The kinds of faults that have a size: those of a law, with the size from which to which it is searched.
pub const SIZED: [Sized; 6] = [
    (|size| Fault::Parameter(size), 1e-8, 1.0),
    (|size| Fault::Parameter(-size), 1e-8, 0.9),
    (Fault::Even, 1e-8, 1.0),
    (Fault::Shift, 1e-8, 1.0),
    (Fault::Correlated, 1e-8, 1.0),
    // Cuts closer to zero are larger faults.
    (|size| Fault::Cut(1.0 / size), 1.0 / 12.0, 1.0),
];

/// The smallest fault of a kind that this number of draws shows with this probability, to about one percent.
pub fn smallest_approx(law: &Audited, kind: &Sized, power: f64, draws: u64, tests: Level) -> Option<Power> {
    let (fault, least, most) = *kind;
    let found = |size: f64| fault(size).power_approx(law, draws, tests);
    if found(most).power < power {
        return None;
    }
    let (mut below, mut at) = (least, most);
    if found(least).power >= power {
        return Some(found(least));
    }
    while at / below > 1.005 {
        let middle = f64::sqrt(below * at);
        if found(middle).power >= power { at = middle } else { below = middle }
    }
    Some(found(at))
}

/// Masses on the integers from -reach to reach, which add up to one.
struct Masses {
    reach: i64,
    masses: Vec<f64>,
}

impl Masses {
    fn new(reach: i64, mass: &dyn Fn(i64) -> f64) -> Masses {
        let masses: Vec<f64> = (-reach..=reach).map(mass).collect();
        let total: f64 = masses.iter().sum();
        Masses { reach, masses: masses.into_iter().map(|mass| mass / total).collect() }
    }

    fn at(&self, x: i64) -> f64 {
        self.masses[(x + self.reach) as usize]
    }

    fn sum(&self, which: impl Fn(i64) -> bool) -> f64 {
        (-self.reach..=self.reach).filter(|x| which(*x)).map(|x| self.at(x)).sum()
    }
}

/// The shift of the mean of a statistic's scores, and their standard deviations under the declared law and another one.
fn linear(law: &Audited, of: &Linear, other: &[f64]) -> (&'static str, f64, f64, f64) {
    let scores = law.bins.scores(of.score);
    let moments = |masses: &[f64]| {
        let mean: f64 = masses.iter().zip(&scores).map(|(mass, score)| mass * *score as f64).sum();
        let square = |(mass, score): (&f64, &i64)| mass * (*score as f64 - mean).powi(2);
        (mean, masses.iter().zip(&scores).map(square).sum::<f64>().sqrt())
    };
    let ((mean, spread), (other, its)) = (moments(law.bins.approx()), moments(other));
    (of.name, other - mean, spread, its)
}

/// The z below which the normal law has the power of an exact test of a share, infinite for one and none; `ln` and `z` say where the
/// test rejects.
fn binomial_power(n: f64, null: f64, other: f64, (ln, z): (f64, f64)) -> f64 {
    let spread = |p: f64| (n * p * (1.0 - p)).sqrt();
    let shift = n * (other - null).abs();
    if n * null < 50.0 || n * (1.0 - null) < 50.0 {
        // Few events: none at all, or far more than the level allows (Chernoff bound of a Poisson count).
        let mean = n * null;
        if other < null {
            return if other == 0.0 && -mean <= ln { f64::INFINITY } else { f64::NEG_INFINITY };
        }
        let mut k = mean.max(1.0);
        while k - mean - k * libm::log(k / mean) > ln && k < 1e4 {
            k += 1.0;
        }
        return (n * other - k) / (n * other).sqrt();
    }
    (shift - z * spread(null)) / spread(other).max(1e-9)
}

/// A share in percent, with three digits.
pub fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    let decimals = (2.0 - libm::log10(percent.abs().max(1e-12)).floor()).clamp(0.0, 12.0) as usize;
    format!("{percent:.decimals$} %")
}
