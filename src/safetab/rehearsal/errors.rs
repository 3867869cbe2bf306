//! Error statistics: sums, and the frequency of each absolute error.

use std::collections::BTreeMap;

use rug::Rational;

use crate::{error::Result, numeric::Enclosure, safetab::tabulate::levels::CountNoise};

/// Absolute errors below this are counted in a vector, others in a map.
const NEAR: u64 = 1 << 12;
/// An observation with a smaller probability than this is evidence that a stated property does not hold.
const IMPLAUSIBLE: f64 = 1e-9;
/// Digits of certified probabilities.
const DIGITS: u32 = 12;

/// Errors of counts: the published or measured count minus the truth.
#[derive(Clone, Debug, Default)]
pub struct Errors {
    count: u64,
    sum: i128,
    squares: u128,
    near: Vec<u64>,
    far: BTreeMap<u64, u64>,
}

impl Errors {
    /// Adds an error.
    pub fn add(&mut self, error: i128) {
        let size = error.unsigned_abs();
        self.count += 1;
        self.sum = self.sum.saturating_add(error);
        self.squares = self.squares.saturating_add(size.saturating_mul(size));
        let size = u64::try_from(size).unwrap_or(u64::MAX);
        if size < NEAR {
            let place = size as usize;
            if place >= self.near.len() {
                self.near.resize(place + 1, 0);
            }
            self.near[place] += 1;
        } else {
            *self.far.entry(size).or_insert(0) += 1;
        }
    }

    /// The number of errors.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The frequency of each absolute error, ascending.
    fn sizes(&self) -> impl Iterator<Item = (u64, u64)> {
        let near = (0..).zip(self.near.iter().copied()).filter(|(_, count)| *count > 0);
        near.chain(self.far.iter().map(|(size, count)| (*size, *count)))
    }

    /// The number of errors of at most `margin` in absolute value.
    pub fn within(&self, margin: i64) -> u64 {
        let margin = u64::try_from(margin).unwrap_or(0);
        self.sizes().take_while(|(size, _)| *size <= margin).map(|(_, count)| count).sum()
    }

    /// The mean, which estimates the bias: an approximation; `None` if there are no errors.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The standard error of the mean, if errors are independent.
    pub fn standard_error(&self) -> Option<f64> {
        let mean = self.mean()?;
        let n = self.count as f64;
        (self.count > 1).then(|| ((self.squares as f64 / n - mean * mean).max(0.0) / (n - 1.0)).sqrt())
    }

    /// The mean of the absolute errors.
    pub fn mean_absolute(&self) -> Option<f64> {
        let sum: f64 = self.sizes().map(|(size, count)| size as f64 * count as f64).sum();
        (self.count > 0).then(|| sum / self.count as f64)
    }

    /// The root of the mean squared error.
    pub fn root_mean_square(&self) -> Option<f64> {
        (self.count > 0).then(|| (self.squares as f64 / self.count as f64).sqrt())
    }

    /// The 95 % quantile of the absolute errors, with linear interpolation at the index 0.95 (n - 1), counted from 0, as in the bureau's
    /// margin of error.
    pub fn quantile_95(&self) -> Option<f64> {
        let last = self.count.checked_sub(1)?;
        let place = 0.95 * last as f64;
        let below = self.at(place.floor() as u64)?;
        let above = self.at((place.floor() as u64 + 1).min(last))?;
        Some(below + (place - place.floor()) * (above - below))
    }

    /// The absolute error at an index in ascending order.
    fn at(&self, place: u64) -> Option<f64> {
        let mut before = 0;
        for (size, count) in self.sizes() {
            before += count;
            if place < before {
                return Some(size as f64);
            }
        }
        None
    }
}

/// A stated margin of error for a kind of count, and the observed errors.
#[derive(Clone, Debug)]
pub struct StatedMargin {
    /// The kind of count, such as `cell`.
    pub of: String,
    /// The smallest m with `P[|S| <= m]` >= 95 %, S the noise of the count, proven from both sides.
    pub margin: i64,
    /// `P[|S| <= m]`, certified.
    pub coverage: Enclosure,
    /// The errors before suppression and replacement.
    pub errors: Errors,
}

impl StatedMargin {
    /// The margin for a sum of `copies` cells with this noise.
    pub(super) fn new(of: String, noise: &CountNoise, copies: u32, errors: Errors) -> Result<StatedMargin> {
        let noise = noise.cell_noise()?;
        let margin = noise.margin(copies, &Rational::from((19, 20)))?;
        Ok(StatedMargin { of, margin, coverage: noise.coverage(copies, margin, DIGITS)?, errors })
    }

    /// The number of errors within the margin.
    pub fn covered(&self) -> u64 {
        self.errors.within(self.margin)
    }

    /// Whether the observation agrees with the certified coverage. If not, the probability of at most this many errors within the margin would have
    /// been below 10^-9.
    pub fn holds(&self) -> bool {
        chance_of_at_most(self.covered(), self.errors.count(), self.coverage.lower().to_f64()) >= IMPLAUSIBLE
    }
}

/// Upper bound on the probability of at most `seen` successes among n independent ones of probability at least p: 1 if `seen` is p n or
/// more, else exp(-n D), with D the divergence of seen / n from p (Chernoff; Hoeffding 1963, Theorem 1).
fn chance_of_at_most(seen: u64, n: u64, p: f64) -> f64 {
    if n == 0 || seen as f64 >= p * n as f64 {
        return 1.0;
    }
    libm::exp(-(n as f64) * divergence(seen as f64 / n as f64, p))
}

/// q ln(q / p) + (1 - q) ln((1 - q) / (1 - p)).
fn divergence(q: f64, p: f64) -> f64 {
    let term = |a: f64, b: f64| if a == 0.0 { 0.0 } else { a * libm::log(a / b) };
    term(q, p) + term(1.0 - q, 1.0 - p)
}

/// The suppression of groups of one size.
#[derive(Clone, Debug)]
pub struct SuppressedSize {
    /// The true count of the group.
    pub size: u64,
    /// The number of groups of that size in all trials.
    pub groups: u64,
    /// The number of suppressed groups among them, before coterminous groups are filled in.
    pub suppressed: u64,
    /// The certified probability that such a group is suppressed.
    pub probability: Enclosure,
}

impl SuppressedSize {
    /// The probability for a group with two stages: the noisy total of stage 1 is below the first threshold and that of stage 2 does not
    /// exceed the suppression threshold. For a group with a total only, the probability of the latter.
    pub(super) fn new(
        (size, groups, suppressed): (u64, u64, u64),
        published: &CountNoise,
        threshold: i64,
        stage_1: Option<(&CountNoise, i64)>,
    ) -> Result<SuppressedSize> {
        // P[n + X <= T] = P[X >= n - T], because the noise is symmetric.
        let at_most = |noise: &CountNoise, threshold: i64| {
            noise.cell_noise()?.survival((size as i64).saturating_sub(threshold), DIGITS)
        };
        let mut probability = at_most(published, threshold)?;
        if let Some((noise, first)) = stage_1 {
            probability = probability.mul(&at_most(noise, first.saturating_sub(1))?);
        }
        Ok(SuppressedSize { size, groups, suppressed, probability: probability.clamp(0.0, 1.0) })
    }

    /// Whether the observation agrees with the probability, by the criterion of [`StatedMargin::holds`] on both sides.
    pub fn holds(&self) -> bool {
        let (lower, upper) = (self.probability.lower().to_f64(), self.probability.upper().to_f64());
        let few = chance_of_at_most(self.suppressed, self.groups, lower);
        let many = chance_of_at_most(self.groups - self.suppressed, self.groups, 1.0 - upper);
        few.min(many) >= IMPLAUSIBLE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{loss::law::Law, noise::Streams, numeric::rational::parse};

    fn noise(sigma2: &str) -> CountNoise {
        CountNoise { law: Law::DiscreteGaussian { sigma2: parse(sigma2).unwrap() }, margin: 0 }
    }

    fn errors(all: &[i128]) -> Errors {
        let mut errors = Errors::default();
        all.iter().for_each(|error| errors.add(*error));
        errors
    }

    #[test]
    fn the_quantile_agrees_with_the_bureaus_vector() {
        let truth = [1, 1, 1, 1, 0, 0, 0, 0];
        let noisy = [2, 3, 4, 5, 6, -7, 8, 9];
        let found = errors(&std::array::from_fn::<i128, 8, _>(|k| noisy[k] - truth[k]));
        assert!((found.quantile_95().unwrap() - 8.65).abs() < 1e-12);
        assert_eq!(errors(&[-5]).quantile_95(), Some(5.0));
        assert_eq!(errors(&[]).quantile_95(), None);
    }

    #[test]
    fn sums_agree_with_their_definition() {
        let all = [3, -1, 0, 5000, -7, 1 << 70];
        let found = errors(&all);
        let n = all.len() as f64;
        assert_eq!(found.mean(), Some(all.iter().sum::<i128>() as f64 / n));
        assert_eq!((found.within(0), found.within(7), found.within(5000), found.count()), (1, 4, 5, 6));
        let few = errors(&[3, -1, 0, 2]);
        assert_eq!((few.mean_absolute(), few.root_mean_square()), (Some(1.5), Some(3.5_f64.sqrt())));
        // The sample variance is 10/3; divided by 4.
        assert!((few.standard_error().unwrap() - (10.0_f64 / 3.0 / 4.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn a_margin_with_too_little_coverage_is_found() {
        let mut drawn = vec![0; 200_000];
        Streams::with_insecure_seed(11).fill(&noise("40").sampler().unwrap(), &mut drawn);
        let of = |stated: &str| {
            let all: Vec<i128> = drawn.iter().map(|x| i128::from(*x)).collect();
            StatedMargin::new("cell".to_string(), &noise(stated), 1, errors(&all)).unwrap()
        };
        assert!(of("40").holds() && of("45").holds());
        // Noise with a variance 15 % larger than stated.
        assert!(!of("34").holds());
        let own = of("40");
        let share = own.covered() as f64 / own.errors.count() as f64;
        assert!((share - own.coverage.lower().to_f64()).abs() < 0.003, "{share}");
    }

    #[test]
    fn the_bound_of_chernoff_is_above_the_binomial_tail() {
        // P[Bin(20, 0.95) <= k] summed term by term.
        let choose = |k: u64| (0..k).fold(1.0, |c, i| c * (20 - i) as f64 / (i + 1) as f64);
        for seen in 0..19 {
            let tail: f64 =
                (0..=seen).map(|k| choose(k) * 0.95_f64.powi(k as i32) * 0.05_f64.powi(20 - k as i32)).sum();
            let bound = chance_of_at_most(seen, 20, 0.95);
            // Every tail is at least its bound divided by sqrt(8 n q (1 - q)) (Ash, Information Theory, Lemma 4.7.2).
            let q = seen as f64 / 20.0;
            let most = if seen == 0 { tail * (1.0 + 1e-9) } else { tail * (160.0 * q * (1.0 - q)).sqrt() };
            assert!(tail <= bound * (1.0 + 1e-9) && bound <= most, "{seen}: {tail} {bound}");
        }
        assert_eq!(chance_of_at_most(19, 20, 0.95), 1.0);
    }
}
