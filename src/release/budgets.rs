//! The same queries with the budget moved among the levels.

use rug::{Integer, Rational, ops::Pow};

use super::Release;
use crate::{
    error::{Error, Result},
    numeric::rational,
};

impl Release {
    /// A factor on the budget of each level, from a weight above 0 for each: the weights themselves, or with `keep_total` scaled
    /// so that all levels together spend what they spend now, sum of weight times rho over sum of rho.
    pub fn budget_factors(&self, weights: &[Rational], keep_total: bool) -> Result<Vec<Rational>> {
        if weights.len() != self.levels.len() {
            let expected = format!("one for each of the {} levels", self.levels.len());
            return Err(Error::out_of_range("the number of weights", weights.len(), &expected));
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

    /// The sigma2 of every query, in the order of [`Release::query_targets`], where the budget of each level is multiplied by its
    /// factor: divided by that factor, and rounded up to a multiple of 10^-decimals, so that no level spends more.
    pub fn sigma2_with_budgets_times(&self, factors: &[Rational], decimals: u32) -> Result<Vec<Rational>> {
        let grid = Integer::from(10).pow(decimals);
        let levels = self.levels.iter().zip(factors);
        let queries = levels.flat_map(|(level, factor)| level.queries.iter().map(move |query| (query, factor)));
        let scaled = |sigma2: &Rational, factor: &Rational| match *factor == 1 {
            // What is not moved stays as it is, on the grid or not.
            true => sigma2.clone(),
            false => (Rational::from(sigma2 / factor) * &grid).ceil() / &grid,
        };
        queries.map(|(query, factor)| Ok(scaled(query.sigma2()?, factor))).collect()
    }
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
            let sigma2 = release.sigma2_with_budgets_times(factors, 4).unwrap();
            release.with_sigma2(&sigma2, release.neighbors, about)
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

    #[test]
    fn weights_are_one_for_each_level_and_positive() {
        let release = Release::find("su-su-wang-2025").unwrap();
        assert!(release.budget_factors(&[Rational::from(1)], true).is_err());
        let mut weights = vec![Rational::from(1); release.levels.len()];
        weights[2] = Rational::new();
        assert!(release.budget_factors(&weights, true).unwrap_err().to_string().contains("above 0"));
    }
}
