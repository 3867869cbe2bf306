//! The same queries with the budget divided differently among the levels.

use rug::{Integer, Rational, ops::Pow};

use super::{Neighbors, Release};
use crate::{
    error::{Error, Result},
    numeric::rational,
};

impl Release {
    /// A factor on the budget of each level, from a weight above 0 for each: the weights themselves, or with `keep_total` scaled
    /// so that the total budget of all levels stays the same, that is divided by sum of weight times rho over sum of rho.
    pub fn budget_factors(&self, weights: &[Rational], keep_total: bool) -> Result<Vec<Rational>> {
        if weights.len() != self.levels.len() {
            let (given, levels) = (weights.len(), self.levels.len());
            return Err(Error::conflict(format!("{given} weights for {levels} levels: give one for each level")));
        }
        if let Some(wrong) = weights.iter().find(|weight| **weight <= 0) {
            return Err(Error::out_of_range("weight", rational::display(wrong), "a weight above 0"));
        }
        let sum = self.levels.iter().fold(Rational::new(), |sum, level| sum + &level.rho);
        let weighted = self.levels.iter().zip(weights);
        let weighted = weighted.fold(Rational::new(), |sum, (level, weight)| sum + Rational::from(&level.rho * weight));
        let scale = if keep_total && weighted > 0 { sum / weighted } else { Rational::from(1) };
        Ok(weights.iter().map(|weight| Rational::from(weight * &scale)).collect())
    }

    /// The sigma2 of every query, in the order of [`Release::query_targets`], if the budget of each level is multiplied by its
    /// factor, rounded down to `digits` significant digits or one more: no level spends more. All sigma2 of a level are divided by the
    /// same number, so their ratios stay as simple as they were, and an account of them stays quick.
    pub fn sigma2_with_budgets_times(&self, factors: &[Rational], digits: u32) -> Result<Vec<Rational>> {
        let factors = factors.iter().map(|factor| rounded_down(factor, digits));
        let queries = self.levels.iter().zip(factors).flat_map(|(level, factor)| {
            level.queries.iter().map(move |query| Ok(Rational::from(query.sigma2()? / &factor)))
        });
        queries.collect()
    }

    /// The release with this noise under a neighbor relation, renamed: `[name, title, source]`.
    pub fn with_budgets_times(
        &self,
        factors: &[Rational],
        digits: u32,
        neighbors: Neighbors,
        about: [&str; 3],
    ) -> Result<Release> {
        let sigma2 = self.sigma2_with_budgets_times(factors, digits)?;
        self.with_sigma2(&sigma2, neighbors, about)
    }
}

/// A positive number rounded down to `digits` significant digits, or one more.
fn rounded_down(value: &Rational, digits: u32) -> Rational {
    // With n and d bits in the numerator and the denominator the number is above 2^(n - 1) / 2^d, and below 40 times that power of ten.
    let bits = f64::from(value.numer().significant_bits()) - 1.0 - f64::from(value.denom().significant_bits());
    let power = (bits * std::f64::consts::LOG10_2).floor() as i64 + 1 - i64::from(digits);
    let ten = Rational::from(Integer::from(10).pow(power.unsigned_abs() as u32));
    let unit = if power < 0 { ten.recip() } else { ten };
    Rational::from(value / &unit).floor() * unit
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::Account;

    #[test]
    fn a_moved_budget_is_never_exceeded_and_hardly_missed() {
        let release = Release::find("su-su-wang-2025").unwrap();
        let mut weights = vec![Rational::from(1); release.levels.len()];
        weights[1] = Rational::from((3, 2));
        let factors = release.budget_factors(&weights, true).unwrap();
        let about = ["moved", "moved", "a test"];
        let moved = |factors: &[Rational]| {
            let sigma2 = release.sigma2_with_budgets_times(factors, 6).unwrap();
            release.with_sigma2(&sigma2, release.neighbors, about).unwrap()
        };
        let kept = moved(&factors);
        assert!(
            kept.rho <= release.rho && kept.rho.clone() * 1001_u32 > release.rho.clone() * 1000_u32,
            "{}",
            kept.rho
        );
        for ((after, before), factor) in kept.levels.iter().zip(&release.levels).zip(&factors) {
            assert!(after.rho <= Rational::from(&before.rho * factor), "{}", after.name);
        }
        assert_eq!(factors[1], Rational::from(&factors[0] * 3_u32) / 2_u32);
        // Without keeping the total, the other levels stay as they are.
        let alone = moved(&release.budget_factors(&weights, false).unwrap());
        assert_eq!(alone.levels[0].queries[0].sigma2().unwrap(), release.levels[0].queries[0].sigma2().unwrap());
        assert!(alone.rho > release.rho);
        let all = alone.composition(&[] as &[&str], None).unwrap();
        assert_eq!(Account::rho(&all), alone.rho);
    }

    /// For any budgets every path spends all of them: a dropped level's budget goes to the next kept level above.
    #[test]
    fn moved_budgets_are_spent_on_every_block_path() {
        let release = Release::find("pl94-persons-us").unwrap();
        let mut weights = vec![Rational::from(1); release.levels.len()];
        weights[3] = Rational::from((5, 2));
        let factors = release.budget_factors(&weights, true).unwrap();
        let moved = release.with_budgets_times(&factors, 6, release.neighbors, ["m", "m", "a test"]).unwrap();
        let paths = moved.path_compositions().unwrap();
        assert_eq!(paths.len(), 16);
        for path in &paths {
            // One record enters half of the counts that a changed one moves.
            assert_eq!(**path.rho(), Rational::from(&moved.rho / 2_u32));
        }
        // The path that drops nothing is half of the composition of all levels.
        let all = moved.composition(&[] as &[&str], None).unwrap();
        let none = moved.paths.as_ref().unwrap().dropped.iter().position(Vec::is_empty).unwrap();
        assert_eq!(paths[none].for_changed_records().unwrap().loss(), all.loss());
        let again = Release::parse(&moved.to_toml(), "written").unwrap();
        assert_eq!(again.path_compositions().unwrap(), paths);
    }

    #[test]
    fn a_factor_keeps_its_leading_digits_and_never_grows() {
        for text in ["1", "0.8795123456789", "1/3", "9999999", "1e-40", "123456789e30", "7"] {
            let value = rational::parse(text).unwrap();
            let rounded = rounded_down(&value, 6);
            assert!(rounded <= value && rounded.clone() * 100_001_u32 > value.clone() * 100_000_u32, "{text}");
            assert_eq!(rounded_down(&rounded, 8), rounded, "{text}");
        }
        assert_eq!(rounded_down(&Rational::from(1), 6), 1);
        // The sigma2 of a level stay in their ratios.
        let release = Release::find("pl94-persons-us").unwrap();
        let factors = vec![Rational::from((1, 7)); release.levels.len()];
        let moved = release.sigma2_with_budgets_times(&factors, 6).unwrap();
        let before: Vec<&Rational> = release.levels[2].queries.iter().map(|query| query.sigma2().unwrap()).collect();
        let first = release.levels[..2].iter().map(|level| level.queries.len()).sum::<usize>();
        for (after, before_one) in moved[first..].iter().zip(&before) {
            assert_eq!(Rational::from(after / &moved[first]), Rational::from(*before_one / before[0]));
        }
    }

    #[test]
    fn weights_are_one_for_each_level_and_positive() {
        let release = Release::find("su-su-wang-2025").unwrap();
        assert!(release.budget_factors(&[Rational::from(1)], true).is_err());
        let mut weights = vec![Rational::from(1); release.levels.len()];
        weights[2] = Rational::new();
        assert!(release.budget_factors(&weights, true).unwrap_err().to_string().contains("above 0"));
    }
}
