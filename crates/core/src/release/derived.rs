//! The same release with other noise, or several times.

use rug::Rational;

use super::{GeoLevel, Release};
use crate::{
    account::Counts,
    error::{Error, Result},
    numeric::rational,
};

impl Release {
    /// This release with all noise multiplied by `factor`, for accounting: variances times the factor, parameters of the discrete
    /// Laplace divided by it. It no longer has a histogram.
    pub fn with_noise_times(&self, factor: &Rational) -> Result<Release> {
        let mut release = self.derived(format!("{}, all noise times {}", self.name, rational::display(factor)))?;
        release.scale_levels(|_| Some(factor.clone()))?;
        Ok(release)
    }

    /// Multiplies the noise of levels by factors and sets their rho to that of the new noise. Published figures are removed.
    pub(crate) fn scale_levels(&mut self, factor: impl Fn(&str) -> Option<Rational>) -> Result<()> {
        for level in &mut self.levels {
            if let Some(factor) = factor(&level.name) {
                scale(level, &factor)?;
            }
        }
        self.rho = self.levels.iter().fold(Rational::new(), |sum, level| sum + &level.rho);
        self.published.clear();
        self.sha256 = None;
        Ok(())
    }

    /// This release, released `times` times, each time with noise of its own, for accounting. It no longer has a histogram.
    pub fn repeated(&self, times: u64) -> Result<Release> {
        if times == 0 {
            return Err(Error::out_of_range("times", 0, "1 or more"));
        }
        let mut release = self.derived(format!("{}, {times} times", self.name))?;
        for level in &mut release.levels {
            level.rho *= times;
            level.queries.iter_mut().for_each(|query| query.times = query.times.saturating_mul(times));
        }
        release.rho *= times;
        Ok(release)
    }

    /// A copy with another name, without the histogram of its queries.
    fn derived(&self, name: String) -> Result<Release> {
        if self.budget_only {
            return Err(Error::BudgetOnly { release: self.name.clone() });
        }
        // Published figures are about the original noise, once.
        Ok(Release { name, exact_total: None, schema: None, published: Vec::new(), sha256: None, ..self.clone() })
    }
}

/// Multiplies the noise of one level.
fn scale(level: &mut GeoLevel, factor: &Rational) -> Result<()> {
    for query in &mut level.queries {
        query.law = Counts::new(query.law.clone(), 1, query.shift)?.with_noise_times(factor)?.law;
        query.rho /= query.law.rho_divisor(factor);
    }
    let divisors: Vec<Rational> = level.queries.iter().map(|query| query.law.rho_divisor(factor)).collect();
    level.rho = match divisors.first() {
        Some(one) if divisors.iter().all(|other| other == one) => Rational::from(&level.rho / one),
        _ => GeoLevel::spent(&level.queries),
    };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::Account;

    #[test]
    fn derived_releases_spend_what_their_noise_spends_on_every_path() {
        for release in Release::bundled().unwrap().iter().filter(|release| !release.budget_only) {
            let (thrice, half) = (release.repeated(3).unwrap(), Rational::from((1, 2)));
            assert_eq!(thrice.rho, Rational::from(&release.rho * 3_u32), "{}", release.name);
            let paths = release.path_compositions().unwrap();
            for (own, path) in thrice.path_compositions().unwrap().iter().zip(&paths) {
                assert_eq!(own.counts(), path.repeated(3).unwrap().counts(), "{}", release.name);
            }
            let quieter = release.with_noise_times(&half).unwrap();
            for (own, path) in quieter.path_compositions().unwrap().iter().zip(&paths) {
                assert_eq!(own.counts(), path.with_noise_times(&half).unwrap().counts(), "{}", release.name);
            }
            let (all, no_level) = (quieter.composition(&[] as &[&str], None).unwrap(), &[] as &[&str]);
            let scaled = release.composition(no_level, None).unwrap().with_noise_times(&half).unwrap();
            assert_eq!(all.counts(), scaled.counts());
            assert_eq!(**all.rho(), quieter.rho);
            for derived in [thrice, quieter] {
                let again = Release::parse(&derived.to_toml(), "f").unwrap();
                assert_eq!((again.name, again.rho), (derived.name, derived.rho));
            }
        }
        assert!(matches!(
            Release::parse(include_str!(concat!(env!("ASSAY_FILES"), "/tests/common/budget-only.toml")), "f")
                .unwrap()
                .repeated(2),
            Err(Error::BudgetOnly { .. })
        ));
        let release = Release::find("su-su-wang-2025").unwrap();
        assert!(release.repeated(0).is_err());
        assert!(release.with_noise_times(&Rational::new()).is_err());
    }
}
