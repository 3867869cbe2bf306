//! Published values as data: `data/published/*.toml`, a row for each printed number.

use serde::Deserialize;

use super::{block_paths::PathValue, risk::Risk, safetab::SafeTab, spine::Claim};
use crate::{
    error::{Error, Result},
    toml_reader::TomlReader,
};

/// The papers whose values are bundled.
const PAPERS: &[(&str, &str)] = &[
    ("su-su-wang-2025", include_str!("../../data/published/su-su-wang-2025.toml")),
    ("census-2020", include_str!("../../data/published/census-2020.toml")),
    ("kazan-reiter-2023", include_str!("../../data/published/kazan-reiter-2023.toml")),
    ("safetab-2021", include_str!("../../data/published/safetab-2021.toml")),
    ("safetab-p-2024", include_str!("../../data/published/safetab-p-2024.toml")),
    ("spines-2024", include_str!("../../data/published/spines-2024.toml")),
    ("sieve-quadrature-2026", include_str!("../../data/published/sieve-quadrature-2026.toml")),
];

/// The published values of one paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// Its key, as the command line names it.
    pub paper: String,
    /// Its title.
    pub title: String,
    /// Its values, in the order of the paper.
    #[serde(rename = "value")]
    pub values: Vec<Published>,
}

/// One printed value, as a claim.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// A key that is unique within the paper.
    pub id: String,
    /// Where it stands: section, table or figure.
    pub place: String,
    /// The text as printed.
    pub printed: String,
    /// What the number is, and how it is to be read.
    pub unit: Unit,
    /// What computes it.
    pub compute: Compute,
    /// A remark for the reader.
    pub note: Option<String>,
    /// Why the printed value is wrong, for a row that is known to differ.
    pub erratum: Option<String>,
    /// Another computation, which gives the printed value or comes close to it: what was done instead.
    pub printed_by: Option<Compute>,
}

impl Published {
    /// How many significant digits are printed; none for a fraction or a statement.
    pub fn significant_digits(&self) -> u32 {
        let mantissa = self.printed.split(['e', 'E']).next().unwrap_or_default();
        let numeric = mantissa.chars().all(|c| c.is_ascii_digit() || c == '.');
        let digits = mantissa.trim_start_matches(['0', '.']).chars().filter(char::is_ascii_digit).count();
        if numeric { digits as u32 } else { 0 }
    }
}

/// How a printed text is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// A privacy parameter in nats, rounded to the printed digits.
    Nats,
    /// A percentage, rounded to the printed digits.
    Percent,
    /// A variance proxy, rounded to the printed digits.
    Sigma2,
    /// A share of a privacy budget, rounded to the printed digits.
    Rho,
    /// A probability, rounded to the printed digits.
    Probability,
    /// A ratio of probabilities, rounded to the printed digits.
    Ratio,
    /// A sum of budgets or a whole number, exact.
    Sum,
    /// An exact number at or above the true value, by less than 10^-5.
    RoundedUp,
    /// An upper bound: the true value must not exceed it.
    Bound,
    /// A lower bound in percent: the true value must not be below it.
    LeastPercent,
    /// A statement that holds or not.
    Claim,
}

/// What recomputes a value; where no release is named, the one that bears the paper's name is meant.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Compute {
    /// The exact epsilon of a level, or of all.
    Epsilon {
        /// The geolevel; all levels together where absent.
        level: Option<String>,
        /// The delta.
        delta: String,
    },
    /// epsilon = rho + 2 sqrt(rho ln(1 / delta)) of a level, or of all.
    ZcdpEpsilon {
        /// The geolevel; all levels together where absent.
        level: Option<String>,
        /// The delta.
        delta: String,
    },
    /// By how many percent the exact epsilon is below the zCDP one.
    EpsilonReduction {
        /// The geolevel.
        level: String,
        /// The delta.
        delta: String,
    },
    /// Whether the exact epsilon is below the zCDP one at every listed delta, for each level and for all together.
    BelowZcdp {
        /// The deltas.
        deltas: Vec<String>,
    },
    /// The variance proxy of a level.
    Sigma2 {
        /// The geolevel.
        level: String,
    },
    /// The variance proxy at which the exact epsilon of a level meets the zCDP epsilon of its own noise.
    MatchedSigma2 {
        /// The geolevel.
        level: String,
        /// The delta at which both meet.
        delta: String,
    },
    /// By how many percent that is below the level's own.
    NoiseReduction {
        /// The geolevel.
        level: String,
        /// The delta at which both meet.
        delta: String,
    },
    /// By how many percent all variances can fall until the exact epsilon of all levels meets the zCDP one.
    OverallReduction {
        /// The delta at which both meet.
        delta: String,
    },
    /// The same with `P[L > epsilon]` in place of delta(epsilon): the bound that drops the second term.
    OverallReductionOneTerm {
        /// The delta at which both meet.
        delta: String,
        /// Another epsilon to meet.
        target: Option<String>,
    },
    /// The epsilon that the rho of some levels and queries of a release implies by the optimal order (Canonne, Kamath &
    /// Steinke 2020, Corollary 13).
    OptimalOrderEpsilon {
        /// The release.
        release: String,
        /// Only these levels; all where absent.
        levels: Option<Vec<String>>,
        /// Only these queries; all where absent.
        queries: Option<Vec<String>>,
        /// The delta.
        delta: String,
    },
    /// epsilon = rho + 2 sqrt(rho ln(1 / delta)) of a whole release.
    ReleaseZcdpEpsilon {
        /// The release.
        release: String,
        /// The delta.
        delta: String,
    },
    /// The rho of a release.
    ReleaseRho {
        /// The release.
        release: String,
    },
    /// By a method of the paper itself; only Su, Su & Wang have any.
    Own {
        /// Which.
        method: OwnMethod,
    },
    /// A value about disclosure risk.
    Risk(Risk),
    /// A statement about geographic spines.
    Spine(Claim),
    /// A value about the block paths of a release.
    Paths {
        /// The release.
        release: String,
        /// Which.
        value: PathValue,
    },
    /// A value about SafeTab.
    Safetab(SafeTab),
    /// sigma2 - Var of the discrete Gaussian.
    VarianceDeficit {
        /// The variance proxy.
        sigma2: String,
    },
}

/// What only Su, Su & Wang define: their residual, their error budget, and statements of their appendices.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum OwnMethod {
    /// sup over y of the residual of Theorem A.11.
    ResidualSupremum {
        /// The variance proxy.
        sigma2: String,
        /// The number of copies.
        copies: u64,
    },
    /// Appendix C's bound for it.
    ResidualBound {
        /// The variance proxy.
        sigma2: String,
        /// The number of copies.
        copies: u64,
    },
    /// One of the three parts of that bound.
    ResidualOmega {
        /// The variance proxy.
        sigma2: String,
        /// The number of copies.
        copies: u64,
        /// 1, 2 or 3.
        index: u8,
    },
    /// Whether (A.8) holds at every level, at the exact epsilon of a delta.
    ApproximationHolds {
        /// The delta.
        delta: String,
        /// With the sums cut where (A.8) prints, instead of where Theorem A.11 does.
        as_printed: bool,
    },
    /// What the masses of Theorem A.8 add up to with the coefficients as printed.
    TwoFoldTotal {
        /// The variance proxy.
        sigma2: String,
    },
    /// The ratio of the masses at n and 0 by (A.5) as printed, over the true ratio.
    SumExponent {
        /// The variance proxy.
        sigma2: String,
        /// The number of copies n.
        copies: u64,
    },
    /// By how many percent the expected squared error of a level's counts falls with less noise.
    SquaredErrorReduction {
        /// The geolevel.
        level: String,
        /// The reduced variance proxy.
        reduced: String,
    },
    /// The same of the expected absolute error.
    AbsoluteErrorReduction {
        /// The geolevel.
        level: String,
        /// The reduced variance proxy.
        reduced: String,
    },
    /// A value that needs data which are not at hand.
    NeedsData {
        /// Which.
        needed: String,
    },
    /// The exact epsilon of a level with its noise reduced by a percentage.
    EpsilonAtReduction {
        /// The geolevel.
        level: String,
        /// The percentage.
        percent: String,
        /// The delta.
        delta: String,
    },
    /// Whether what the exact epsilon of a level is below the zCDP one grows with delta, along these.
    GainGrows {
        /// The geolevel.
        level: String,
        /// The deltas, increasing.
        deltas: Vec<String>,
        /// In percent, else in nats.
        percent: bool,
    },
    /// Whether the same grows with the number of counts of one noise, along these.
    GainGrowsWithCounts {
        /// The variance proxy.
        sigma2: String,
        /// The numbers of counts, increasing.
        counts: Vec<u64>,
        /// The delta.
        delta: String,
        /// In percent, else in nats.
        percent: bool,
    },
    /// The error of replacing all masses by densities, Proposition A.12.
    BudgetE0 {
        /// The decimals to which the variance proxies are rounded; exact where absent.
        decimals: Option<u32>,
    },
    /// The measure beyond six times the threshold, Proposition A.13.
    BudgetE1 {
        /// The epsilon behind the threshold.
        epsilon: String,
        /// Only the largest group's part, instead of the sum.
        largest: Option<bool>,
    },
    /// The bound for the integral beyond 1/100, Fact A.14.
    BudgetE2 {
        /// The epsilon behind the threshold.
        epsilon: String,
    },
    /// The bound for Boole's rule, Fact A.15.
    BudgetE3 {
        /// The epsilon behind the threshold.
        epsilon: String,
        /// The panels.
        panels: u64,
    },
    /// The bound for an absolute moment of the sum, D.4.
    Moment {
        /// Its order, 1 to 6.
        order: u32,
    },
    /// The bound for the sixth derivative, D.4.
    SixthDerivative {
        /// The epsilon behind the threshold.
        epsilon: String,
    },
    /// Whether the characteristic function is below a level from some t to pi.
    SievedFrom {
        /// The t.
        from: String,
        /// The level.
        level: String,
    },
    /// Whether the factor of one geolevel alone is below a level on an interval.
    SievedBy {
        /// The geolevel.
        level_of: String,
        /// The lower end.
        from: String,
        /// The upper end.
        to: String,
        /// The level.
        level: String,
    },
    /// `P[|S| > w B]` of the sum of copies.
    TwoSidedTail {
        /// The variance proxy.
        sigma2: String,
        /// The number of copies.
        copies: u64,
        /// The w.
        widths: u32,
    },
}

/// The published values of the named papers, or of all.
pub fn papers(names: &[String]) -> Result<Vec<Paper>> {
    if let Some(unknown) = names.iter().find(|name| !PAPERS.iter().any(|(key, _)| key == name)) {
        let known = PAPERS.iter().map(|(key, _)| *key).collect::<Vec<_>>().join(", ");
        return Err(Error::UnknownPaper { name: unknown.clone(), known });
    }
    (PAPERS.iter())
        .filter(|(key, _)| names.is_empty() || names.iter().any(|name| name == key))
        .map(|(key, text)| TomlReader::new(key, text).toml())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bundled_papers_are_read_and_their_rows_are_unique() {
        for paper in papers(&[]).unwrap() {
            let mut ids: Vec<&str> = paper.values.iter().map(|value| value.id.as_str()).collect();
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), paper.values.len(), "{}", paper.paper);
        }
        assert!(papers(&["nosuch".to_string()]).is_err());
    }
}
