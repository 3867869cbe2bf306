//! The effect of noise on a regression: the slope of y on a share of counts, from the true counts and from published ones
//! (Su, Su & Wang, Section 3.4.2, equation (3.1)).
//!
//! Everything here is a simulation in doubles: approximations, with exact noise.

use super::{Sampler, Streams};
use crate::error::{Error, Result};

/// Data of a regression, row by row: y, and counts by category, of which one category's share of the row's sum is the
/// regressor.
#[derive(Clone, Debug, Default)]
pub struct ShareRegression {
    /// The dependent variable of every row.
    pub y: Vec<f64>,
    /// The true counts of every row, the same number of categories in each.
    pub counts: Vec<Vec<u64>>,
    /// The category whose share is the regressor.
    pub category: usize,
}

/// The slopes of all trials, approximately.
#[derive(Clone, Debug)]
pub struct SlopeTrials {
    /// The slope from the true counts.
    pub slope: f64,
    /// The slope of each trial, from counts max(0, true + noise).
    pub slopes: Vec<f64>,
    /// The number of rows, of all trials together, that were left out because none of their counts was above zero.
    pub left_out: u64,
}

impl SlopeTrials {
    /// The mean of |slope of a trial - slope| over the trials: (3.1).
    pub fn mean_absolute_error(&self) -> f64 {
        let sum: f64 = self.slopes.iter().map(|slope| (slope - self.slope).abs()).sum();
        sum / self.slopes.len() as f64
    }

    /// The standard error of that mean: the standard deviation of |slope of a trial - slope| over the root of the number of trials.
    /// `None` for a single trial, from which it cannot be estimated.
    pub fn standard_error(&self) -> Option<f64> {
        let (n, mean) = (self.slopes.len() as f64, self.mean_absolute_error());
        let squares: f64 = self.slopes.iter().map(|slope| ((slope - self.slope).abs() - mean).powi(2)).sum();
        (self.slopes.len() > 1).then(|| (squares / (n - 1.0) / n).sqrt())
    }
}

impl ShareRegression {
    /// The slope of the least-squares line of y on the share, `None` if the shares do not vary; and the number of rows without a count
    /// above zero.
    fn slope(&self, counts: impl Iterator<Item = Vec<f64>>) -> (Option<f64>, u64) {
        let mut points = Vec::with_capacity(self.y.len());
        for (y, counts) in self.y.iter().zip(counts) {
            let sum: f64 = counts.iter().sum();
            if sum > 0.0 {
                points.push((counts[self.category] / sum, *y));
            }
        }
        let n = points.len() as f64;
        let left_out = (self.y.len() - points.len()) as u64;
        let (x_mean, y_mean) = points.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x / n, b + y / n));
        let (xx, xy) = (points.iter())
            .fold((0.0, 0.0), |(xx, xy), (x, y)| (xx + (x - x_mean).powi(2), xy + (x - x_mean) * (y - y_mean)));
        ((xx > 0.0).then(|| xy / xx).filter(|slope| slope.is_finite()), left_out)
    }

    /// Publishes all counts `trials` times with noise, clamped at zero, and fits the slope each time.
    pub fn simulate(&self, sampler: &Sampler, trials: u64, streams: &mut Streams) -> Result<SlopeTrials> {
        self.simulate_with(sampler, trials, streams, &mut || {})
    }

    /// The trials of `simulate`; `done` is called after each trial.
    pub fn simulate_with(
        &self,
        sampler: &Sampler,
        trials: u64,
        streams: &mut Streams,
        done: &mut dyn FnMut(),
    ) -> Result<SlopeTrials> {
        let refuse = |what: &str| {
            Error::unsuitable(format!("{what}: at least two rows with counts and different shares are needed"))
        };
        let (slope, _) = self.slope(self.counts.iter().map(|row| row.iter().map(|count| *count as f64).collect()));
        let slope = slope.ok_or_else(|| refuse("all equal"))?;
        let width = self.counts.first().map_or(0, Vec::len);
        let (mut slopes, mut left_out) = (Vec::new(), 0);
        let mut noise = vec![0_i64; width * self.counts.len()];
        for _ in 0..trials {
            streams.fill(sampler, &mut noise);
            let published = |(row, noise): (&Vec<u64>, &[i64])| -> Vec<f64> {
                row.iter().zip(noise).map(|(count, noise)| (*count as f64 + *noise as f64).max(0.0)).collect()
            };
            let (fit, out) = self.slope(self.counts.iter().zip(noise.chunks(width)).map(published));
            slopes.push(fit.ok_or_else(|| refuse("all equal once noise is added"))?);
            left_out += out;
            done();
        }
        Ok(SlopeTrials { slope, slopes, left_out })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    fn line() -> ShareRegression {
        // y = 3 + 5 x exactly, with x = k / 100.
        let counts: Vec<Vec<u64>> = (1..90).map(|k| vec![100 * (100 - k), 100 * k]).collect();
        ShareRegression { y: (1..90).map(|k| 3.0 + 5.0 * f64::from(k) / 100.0).collect(), counts, category: 1 }
    }

    #[test]
    fn the_slope_of_a_line_is_found_and_noise_moves_it_as_the_delta_method_predicts() {
        let sampler = Sampler::discrete_gaussian(parse("400").unwrap()).unwrap();
        let found = line().simulate(&sampler, 400, &mut Streams::with_insecure_seed(1)).unwrap();
        assert!((found.slope - 5.0).abs() < 1e-9);
        // x moves by e = ((1 - x) e1 - x e0) / 10000 of variance 400 ((1 - x)^2 + x^2) / 10^8; the slope by
        // -5 sum (x - mean) e / sum (x - mean)^2 to first order, which is nearly normal: E|.| = sqrt(2 / pi) sd.
        let xs: Vec<f64> = (1..90).map(|k| f64::from(k) / 100.0).collect();
        let mean = xs.iter().sum::<f64>() / 89.0;
        let xx: f64 = xs.iter().map(|x| (x - mean).powi(2)).sum();
        let var: f64 = xs.iter().map(|x| (x - mean).powi(2) * 4e-6 * ((1.0 - x).powi(2) + x * x)).sum();
        let expected = (2.0 / std::f64::consts::PI).sqrt() * 5.0 * var.sqrt() / xx;
        // 400 trials: the mean of |.| has relative deviation 0.76 / 20 = 0.038, so 0.2 is more than five of them.
        assert!(
            (found.mean_absolute_error() / expected - 1.0).abs() < 0.2,
            "{} {expected}",
            found.mean_absolute_error()
        );
        // E|.|^2 is the variance, so that of |.| is (1 - 2 / pi) var.
        let spread = (1.0 - 2.0 / std::f64::consts::PI).sqrt() * 5.0 * var.sqrt() / xx / 20.0;
        assert!((found.standard_error().unwrap() / spread - 1.0).abs() < 0.2, "{:?} {spread}", found.standard_error());
        let single = line().simulate(&sampler, 1, &mut Streams::with_insecure_seed(1)).unwrap();
        assert_eq!(single.standard_error(), None);
        let again = line().simulate(&sampler, 400, &mut Streams::with_insecure_seed(1)).unwrap();
        assert_eq!(found.slopes, again.slopes);
    }

    #[test]
    fn shares_that_do_not_vary_are_refused() {
        let sampler = Sampler::discrete_gaussian(parse("1").unwrap()).unwrap();
        let flat = ShareRegression { y: vec![1.0, 2.0], counts: vec![vec![1, 1], vec![2, 2]], category: 0 };
        assert!(flat.simulate(&sampler, 1, &mut Streams::with_insecure_seed(1)).is_err());
        assert!(ShareRegression::default().simulate(&sampler, 1, &mut Streams::with_insecure_seed(1)).is_err());
    }
}
