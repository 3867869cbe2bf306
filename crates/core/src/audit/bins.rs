//! Intervals of integers of equal width around zero, with the masses of the declared law; and whole-numbered scores on them.

use rug::Float;

use super::{declared::Declared, tally::Tally};
use crate::numeric::Enclosure;

/// Bins per standard deviation, for laws that are wider than this number of integers.
const PER_DEVIATION: f64 = 24.0;
/// Draws beyond the last bin have about this probability.
const BEYOND: f64 = 1e-17;
/// One standard deviation in units of scores.
const UNIT: f64 = 65_536.0;
/// Scores are cut here.
const MOST_SCORE: f64 = 1e15;
/// A law whose draws are nearly all zero has scores as if it had this standard deviation.
const LEAST_DEVIATION: f64 = 0.05;

/// Bin k has the integers from k w - h to k w + h, with w = 2 h + 1; the first and the last have all beyond.
#[derive(Clone, Debug)]
pub struct Bins {
    half: i64,
    last: i64,
    std_dev: f64,
    /// Upper bounds on the masses, and approximations.
    upper: Vec<Float>,
    approx: Vec<f64>,
}

impl Bins {
    /// The bins of a law.
    pub fn new(law: &Declared) -> Bins {
        let std_dev = law.variance_approx().sqrt().max(LEAST_DEVIATION);
        let half = ((std_dev / PER_DEVIATION) as i64) / 2;
        let width = 2 * half + 1;
        let far = (1..=law.reach()).find(|m| law.tail_approx(*m) < BEYOND).unwrap_or(law.reach() + 1);
        let last = far / width + 1;
        let mut bins = Bins { half, last, std_dev, upper: Vec::new(), approx: Vec::new() };
        for k in -last..=last {
            let mass = bins.mass(law, k);
            bins.upper.push(mass.upper().clone());
            bins.approx.push(mass.approximate());
        }
        bins
    }

    /// Upper bounds on the masses.
    pub fn upper(&self) -> &[Float] {
        &self.upper
    }

    /// Approximations of the masses.
    pub fn approx(&self) -> &[f64] {
        &self.approx
    }

    /// The number of the last bin; the first is its negative.
    pub fn last(&self) -> i64 {
        self.last
    }

    /// The mass of bin k.
    pub fn mass(&self, law: &Declared, k: i64) -> Enclosure {
        let (from, to) = self.ends(k.abs());
        if k.abs() < self.last { law.between(from, to) } else { law.tail(from).times_power_of_two(-1) }
    }

    /// The masses of another law in these bins: upper bounds, and approximations.
    pub fn of_law(&self, law: &Declared) -> (Vec<Float>, Vec<f64>) {
        (-self.last..=self.last)
            .map(|k| self.mass(law, k))
            .map(|mass| (mass.upper().clone(), mass.approximate()))
            .unzip()
    }

    /// Bin k in words.
    pub fn words(&self, k: i64) -> String {
        let (from, to) = self.ends(k);
        match k {
            _ if k == -self.last => format!("at most {to}"),
            _ if k == self.last => format!("at least {from}"),
            _ if from == to => from.to_string(),
            _ => format!("{from} to {to}"),
        }
    }

    /// The middle of bin k.
    pub fn middle(&self, k: i64) -> i64 {
        k * (2 * self.half + 1)
    }

    /// The number of integers in a bin between the first and the last.
    pub fn width(&self) -> i64 {
        2 * self.half + 1
    }

    /// The first and the last integer of bin k, without those beyond.
    fn ends(&self, k: i64) -> (i64, i64) {
        let middle = k * (2 * self.half + 1);
        (middle - self.half, middle + self.half)
    }

    /// The last integer of the last bin, without those beyond.
    pub fn end(&self) -> i64 {
        self.ends(self.last).1
    }

    /// The number of draws in each bin.
    pub fn counts(&self, tally: &Tally) -> Vec<u64> {
        let count = |k: i64| {
            let (from, to) = self.ends(k);
            match k {
                _ if k == -self.last => tally.side(-to, false),
                _ if k == self.last => tally.side(from, true),
                _ => tally.between(from, to),
            }
        };
        (-self.last..=self.last).map(count).collect()
    }

    /// The masses of another law in these bins, by its mass at each integer: approximations.
    pub fn masses_of(&self, reach: i64, mass: impl Fn(i64) -> f64) -> Vec<f64> {
        let mut masses = vec![0.0; self.approx.len()];
        for x in -reach..=reach {
            let k = (x + self.half).div_euclid(2 * self.half + 1).clamp(-self.last, self.last);
            masses[(k + self.last) as usize] += mass(x);
        }
        masses
    }

    /// Scores of the bins: a function of the distance from zero in standard deviations, rounded to whole numbers.
    pub fn scores(&self, score: impl Fn(f64) -> f64) -> Vec<i64> {
        let width = (2 * self.half + 1) as f64;
        let scaled = |k: i64| score(k as f64 * width / self.std_dev) * UNIT;
        (-self.last..=self.last).map(|k| scaled(k).round().clamp(-MOST_SCORE, MOST_SCORE) as i64).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::testing::law;

    #[test]
    fn bins_hold_every_integer_once() {
        for sigma2 in ["0.02", "5", "7963.26", "1e6"] {
            let law = Declared::of_law(&law(sigma2)).unwrap();
            let bins = Bins::new(&law);
            let total: f64 = bins.approx().iter().sum();
            assert!(
                (total - 1.0).abs() < 1e-12 && bins.approx().len() < 600,
                "{sigma2} {total} {}",
                bins.approx().len()
            );
            assert!(bins.upper().iter().zip(bins.approx()).all(|(upper, approx)| *upper >= approx * (1.0 - 1e-12)));
            let mut tally = Tally::new(law.reach());
            let values = [0, 1, -1, 40, -40, law.reach(), -law.reach(), law.reach() + 5, i64::MIN, i64::MAX];
            values.into_iter().for_each(|x| tally.add(x));
            assert_eq!(bins.counts(&tally).iter().sum::<u64>(), values.len() as u64, "{sigma2}");
            let own = bins.masses_of(law.reach(), |x| law.mass_approx(x));
            assert!(own.iter().zip(bins.approx()).all(|(a, b)| (a - b).abs() < 1e-12));
            let scores = bins.scores(|z| z);
            assert!(scores.windows(2).all(|pair| pair[0] < pair[1]) && scores[0] == -scores[scores.len() - 1]);
        }
    }
}
