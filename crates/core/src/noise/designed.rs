//! Perturbation tables with the largest entropy for a variance and a bound, as the R package ptable designs them.
//!
//! Each count i has a row of its own: of all laws on the allowed published values j, |j - i| <= bound, with mean i and at most that variance, the one with the largest entropy. Its
//! probabilities are in proportion to exp(a v + b v^2) of v = j - i, with b <= 0 (Giessing 2016; Fraser & Wooton 2006). A count of 0 stays, and values from 1 to `blocked` are
//! never published. The search for a and b is in doubles and proves nothing: the table has whole shares of a denominator, and everything that is said of it is computed from these.

use rug::Rational;

use crate::{
    error::{Error, Result},
    law::PerturbationTable,
    numeric::rational,
};

/// The largest bound, and the largest value that is blocked.
const MOST: u64 = 100;
/// Halvings of an interval in a search.
const HALVINGS: usize = 100;

/// The aims of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Design {
    /// The largest variance of the noise of each count.
    pub variance: Rational,
    /// The largest absolute value of the noise.
    pub bound: u64,
    /// Values from 1 to this one are never published.
    pub blocked: u64,
    /// Probabilities are multiples of one over this number.
    pub denominator: u64,
}

/// A row of a designed table.
#[derive(Clone, Debug, PartialEq)]
pub struct DesignedRow {
    /// The true count.
    pub count: u64,
    /// Each published value with its share of the denominator, above zero.
    pub shares: Vec<(u64, u64)>,
    /// The mean of the noise, exactly.
    pub mean: Rational,
    /// The mean of its square, exactly.
    pub variance: Rational,
    /// The entropy in bits, approximately.
    pub entropy_approx: f64,
}

impl Design {
    /// The largest variance of noise within a bound that is not blocked anywhere: that of equal probabilities.
    pub fn most_variance(bound: u64) -> Rational {
        Rational::from((bound * (bound + 1), 3))
    }

    /// The rows of the counts 0, 1, ... up to the first whose noise is that of all larger counts. An error where a count cannot keep the variance.
    pub fn rows(&self) -> Result<Vec<DesignedRow>> {
        let range = |what: &str, value: u64, least: u64| match (least..=MOST).contains(&value) {
            true => Ok(()),
            false => Err(Error::out_of_range(what, value, &format!("from {least} to {MOST}"))),
        };
        range("bound", self.bound, 1)?;
        range("blocked", self.blocked, 0)?;
        if self.variance <= 0 {
            return Err(Error::out_of_range("variance", rational::display(&self.variance), "a number above 0"));
        }
        let last = if self.blocked == 0 { self.bound } else { self.bound + self.blocked + 1 };
        (0..=last).map(|count| self.row(count)).collect()
    }

    /// The same as a table with a name. The last row is that of all larger counts.
    pub fn table(&self, name: &str) -> Result<PerturbationTable> {
        let rows = self.rows()?;
        let of = |row: DesignedRow| {
            let shares = row.shares.into_iter();
            shares.map(move |(value, share)| (row.count, value, Rational::from((share, self.denominator))))
        };
        PerturbationTable::new(name, rows.into_iter().flat_map(of))
    }

    fn row(&self, count: u64) -> Result<DesignedRow> {
        if count == 0 {
            return Ok(self.of_shares(0, vec![(0, self.denominator)]));
        }
        let values: Vec<u64> = (count.saturating_sub(self.bound)..=count + self.bound)
            .filter(|value| !(1..=self.blocked).contains(value))
            .collect();
        let noise: Vec<i64> = values.iter().map(|value| *value as i64 - count as i64).collect();
        // The least variance of mean zero is that of the two values next to zero.
        let below = noise.iter().copied().filter(|v| *v <= 0).max();
        let above = noise.iter().copied().filter(|v| *v >= 0).min();
        let refused = |why: String| Err(Error::unsuitable(format!("the count {count} {why}")));
        let (Some(below), Some(above)) = (below, above) else {
            return refused(format!(
                "cannot be published without bias within {} of itself, where no value from 1 to {} is allowed: give a larger bound, or block fewer values",
                self.bound, self.blocked
            ));
        };
        let least = (below * above).unsigned_abs();
        if self.variance < least {
            return refused(format!(
                "needs a variance of at least {least}, because its published values next to it are {} and {}: {} is less",
                count.saturating_add_signed(below),
                count.saturating_add_signed(above),
                rational::display(&self.variance)
            ));
        }
        let probabilities = match self.variance == least && least > 0 {
            true => (noise.iter())
                .map(|v| match *v {
                    v if v == below => above as f64 / (above - below) as f64,
                    v if v == above => -below as f64 / (above - below) as f64,
                    _ => 0.0,
                })
                .collect(),
            false => largest_entropy(&noise, self.variance.to_f64()),
        };
        let shares = whole_shares(&probabilities, self.denominator);
        Ok(self.of_shares(count, values.into_iter().zip(shares).filter(|(_, share)| *share > 0).collect()))
    }

    fn of_shares(&self, count: u64, shares: Vec<(u64, u64)>) -> DesignedRow {
        let moment = |power: u32| -> Rational {
            let of = |(value, share): &(u64, u64)| {
                let noise = rug::Integer::from(*value as i64 - count as i64);
                Rational::from(rug::ops::Pow::pow(noise, power) * *share)
            };
            shares.iter().map(of).sum::<Rational>() / self.denominator
        };
        let p = |share: u64| share as f64 / self.denominator as f64;
        let entropy: f64 = shares.iter().map(|(_, share)| -p(*share) * libm::log2(p(*share))).sum();
        // Of a single value it is zero, without a sign.
        let entropy_approx = entropy + 0.0;
        DesignedRow { count, mean: moment(1), variance: moment(2), entropy_approx, shares }
    }
}

/// Probabilities in proportion to exp(a v + b v^2).
fn tilted(noise: &[i64], a: f64, b: f64) -> Vec<f64> {
    let exponents: Vec<f64> = noise.iter().map(|v| a * *v as f64 + b * (*v * *v) as f64).collect();
    let most = exponents.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = exponents.iter().map(|exponent| libm::exp(exponent - most)).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

fn moment(noise: &[i64], probabilities: &[f64], power: i32) -> f64 {
    noise.iter().zip(probabilities).map(|(v, p)| (*v as f64).powi(power) * p).sum()
}

/// The law of mean zero, whose mean rises with a.
fn unbiased(noise: &[i64], b: f64) -> Vec<f64> {
    let reach = noise.iter().map(|v| v.abs()).max().unwrap_or(1) as f64;
    let (mut low, mut high) = (-(60.0 + 2.0 * reach * b.abs()), 60.0 + 2.0 * reach * b.abs());
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        if moment(noise, &tilted(noise, middle, b), 1) > 0.0 { high = middle } else { low = middle }
    }
    tilted(noise, low, b)
}

/// The law of mean zero and at most this variance with the largest entropy. Its variance rises with b.
fn largest_entropy(noise: &[i64], variance: f64) -> Vec<f64> {
    let free = unbiased(noise, 0.0);
    if moment(noise, &free, 2) <= variance {
        return free;
    }
    let (mut low, mut high) = (-700.0, 0.0);
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        if moment(noise, &unbiased(noise, middle), 2) > variance { high = middle } else { low = middle }
    }
    unbiased(noise, low)
}

/// Whole shares of a denominator that add up to it, each less than one from its probability.
fn whole_shares(probabilities: &[f64], denominator: u64) -> Vec<u64> {
    let exact: Vec<f64> = probabilities.iter().map(|p| p * denominator as f64).collect();
    let mut shares: Vec<u64> = exact.iter().map(|share| share.floor() as u64).collect();
    let mut order: Vec<usize> = (0..exact.len()).collect();
    order.sort_by(|a, b| (exact[*b] - exact[*b].floor()).total_cmp(&(exact[*a] - exact[*a].floor())));
    let missing = denominator.saturating_sub(shares.iter().sum());
    order.iter().cycle().take(missing as usize).for_each(|at| shares[*at] += 1);
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    fn design(variance: &str, bound: u64, blocked: u64) -> Design {
        Design { variance: rational::parse(variance).unwrap(), bound, blocked, denominator: 100_000_000 }
    }

    /// Every row keeps its aims, and no law near it that keeps them has a larger entropy: moves that leave sum, mean and variance as they are lower it.
    #[test]
    fn rows_keep_their_aims_with_the_largest_entropy() {
        for (variance, bound, blocked) in [("2", 5, 2), ("3", 5, 2), ("1.05", 2, 1), ("0.5", 4, 0), ("2", 3, 0)] {
            let design = design(variance, bound, blocked);
            let rows = design.rows().unwrap();
            for row in &rows {
                assert_eq!(row.shares.iter().map(|(_, share)| share).sum::<u64>(), design.denominator);
                let near = |value: &Rational, aim: f64| (value.to_f64() - aim).abs() < 1e-6;
                assert!(near(&row.mean, 0.0), "{row:?}");
                assert!(row.variance.to_f64() < design.variance.to_f64() + 1e-6, "{row:?}");
                let allowed = |j: u64| j.abs_diff(row.count) <= bound && !(1..=blocked).contains(&j);
                assert!(row.shares.iter().all(|(j, _)| allowed(*j)), "{row:?}");
                // Third differences of a row do not change its sum, mean and variance.
                let p = |j: u64| row.shares.iter().find(|(own, _)| *own == j).map_or(0.0, |(_, share)| *share as f64);
                for j in row.count.saturating_sub(bound)..=row.count + bound {
                    let four = [(j, 1.0), (j + 1, -3.0), (j + 2, 3.0), (j + 3, -1.0)];
                    let share = |at: u64| p(at) / design.denominator as f64;
                    if four.iter().all(|(at, _)| share(*at) > 1e-4) {
                        // The derivative of the entropy along the move is zero.
                        let slope: f64 = four.iter().map(|(at, move_by)| move_by * libm::log(share(*at))).sum();
                        assert!(slope.abs() < 1e-2, "{slope} {row:?}");
                    }
                }
            }
            assert_eq!(rows.len() as u64, if blocked == 0 { bound + 1 } else { bound + blocked + 2 });
            assert!(design.table("designed").is_ok());
        }
        // Known by hand: 1 is published as 0 or 3.
        let rows = design("2", 5, 2).rows().unwrap();
        assert_eq!(rows[1].shares, [(0, 66_666_667), (3, 33_333_333)]);
        for (design, expected) in [
            (design("1.9", 5, 2), "the count 1 needs a variance of at least 2"),
            (design("2", 2, 5), "the count 1 cannot be published without bias"),
            (design("0", 2, 0), "a number above 0"),
            (design("2", 0, 0), "from 1 to 100"),
        ] {
            let error = design.rows().unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
