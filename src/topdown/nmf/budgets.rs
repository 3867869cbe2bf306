//! The variances that the noise of a release can have.

use rug::Rational;

use super::{names::Names, noise::Noise};
use crate::{
    error::{Error, Result},
    noise::DiscreteGaussian,
    release::Release,
    topdown::gls::pass::UnitCounts,
};

/// The variances of a release: by level and by the number of levels whose shares a unit carries.
#[derive(Clone, Debug)]
pub struct Budgets {
    /// For each level and run, the least and largest float that a variance may have, query by query.
    known: Vec<Vec<Vec<(f32, f32)>>>,
    /// For each level and run, the noise of each query.
    noise: Vec<Vec<Vec<Noise>>>,
    /// For each level and run, the exact parameter of each query.
    sigma2: Vec<Vec<Vec<Rational>>>,
    shares: Vec<Rational>,
}

/// Upper bound on the relative error of two roundings to floats: of the variance in a file, and of the ends computed
/// here.
const ROUNDING: f64 = 2e-7;

impl Budgets {
    /// The variances of the queries of a release that are read.
    pub fn new(release: &Release, names: &Names) -> Result<Budgets> {
        let shares: Vec<Rational> =
            release.levels.iter().map(|level| Rational::from(&level.rho / &release.rho)).collect();
        let (mut known, mut noise, mut parameters) = (Vec::new(), Vec::new(), Vec::new());
        for (at, level) in release.levels.iter().take(names.levels.len()).enumerate() {
            let (mut ends, mut laws, mut exact) = (Vec::new(), Vec::new(), Vec::new());
            for run in 1..=release.levels.len() - at {
                let share: Rational = shares[at..at + run].iter().sum();
                let factor = Rational::from(&shares[at] / &share);
                let of_query = names.queries(at).iter().map(|asked| {
                    let sigma2 = Rational::from(level.queries[asked.number].sigma2()? * &factor);
                    // A float above the exact parameter: rounding moves it by less than one part in 2^52.
                    let proxy = sigma2.to_f64() * (1.0 + 4.0 * f64::EPSILON);
                    let (lower, upper) = DiscreteGaussian::new(sigma2.clone())?.variance(12).doubles();
                    let ends = ((lower * (1.0 - ROUNDING)) as f32, (upper * (1.0 + ROUNDING)) as f32);
                    Ok(((ends, Noise { variance: lower.midpoint(upper), proxy }), sigma2))
                });
                let (own, own_exact): (Vec<_>, Vec<_>) = of_query.collect::<Result<Vec<_>>>()?.into_iter().unzip();
                let (own_ends, own_laws) = own.into_iter().unzip();
                ends.push(own_ends);
                laws.push(own_laws);
                exact.push(own_exact);
            }
            known.push(ends);
            noise.push(laws);
            parameters.push(exact);
        }
        Ok(Budgets { known, noise, sigma2: parameters, shares })
    }

    /// The noise of each query of a unit that carries the shares of `carried` levels.
    pub fn noise(&self, level: usize, carried: usize) -> &[Noise] {
        &self.noise[level][carried - 1]
    }

    /// The largest ratio of a parameter to its variance: a weighted sum of counts with the variance v has at most this times v
    /// as the parameter that bounds its tails.
    pub fn proxy_ratio(&self) -> f64 {
        let all = self.noise.iter().flatten().flatten();
        all.map(|noise| noise.proxy / noise.variance).fold(1.0, f64::max)
    }

    /// The exact parameter sigma2 of the noise of a query of a unit that carries the shares of `carried` levels.
    pub fn sigma2(&self, level: usize, carried: usize, query: usize) -> &Rational {
        &self.sigma2[level][carried - 1][query]
    }

    /// The number of levels whose shares a unit carries if its queries have these variances. `Err` with the number of the
    /// first query that does not fit the best run: the one that fits the most queries before it.
    fn carried(&self, level: usize, variances: &[f32]) -> std::result::Result<usize, usize> {
        let fits = |run: &Vec<(f32, f32)>, query: usize| {
            let (lower, upper) = run[query];
            (lower..=upper).contains(&variances[query])
        };
        let runs = &self.known[level];
        let whole = runs.iter().position(|run| (0..variances.len()).all(|query| fits(run, query)));
        whole.map(|run| run + 1).ok_or_else(|| {
            let nearest = runs.iter().map(|run| (0..variances.len()).find(|query| !fits(run, *query)).unwrap_or(0));
            nearest.max().unwrap_or(0)
        })
    }

    /// The variances that a query may have, by run, for a message.
    fn shown(&self, level: usize, query: usize) -> String {
        let runs = self.known[level].iter().map(|run| f64::from(run[query].0).midpoint(f64::from(run[query].1)));
        runs.map(|variance| format!("{variance:.6}")).collect::<Vec<_>>().join(", ")
    }

    /// The number of levels whose shares a unit carries; refuses a unit whose variances fit no run. `code` is its code.
    pub fn carried_by(
        &self,
        names: &Names,
        level: usize,
        unit: &UnitCounts,
        code: impl FnOnce() -> String,
    ) -> Result<usize> {
        self.carried(level, &unit.variances).map_err(|at| {
            let query = &names.queries(level)[at].name;
            Error::conflict(format!(
                "the variance of {query} of the {} {:?} is {}, and the release has, for the unit's own level or with the levels below it, {}",
                names.levels[level],
                code(),
                unit.variances[at],
                self.shown(level, at)
            ))
        })
    }

    /// The sum of the shares of a run.
    pub fn share(&self, level: usize, carried: usize) -> Rational {
        self.shares[level..level + carried].iter().sum()
    }
}
