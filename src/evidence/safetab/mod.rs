//! Published values about SafeTab, recomputed; and the settings of its papers.

pub mod renyi;
pub mod settings;

use rug::{Integer, Rational, ops::Pow};
use serde::Deserialize;

use self::{
    renyi::{Groups, Renyi},
    settings::{Budgets, Settings},
};
use super::verify::Computed;
use crate::{
    account::{Composition, conversions},
    error::{Error, Result},
    numeric::{Certainty, Enclosure, rational::parse},
    safetab::{
        cell::{CellNoise, Mechanism},
        postprocess::{Suppression, Table},
        tuning::{self, Level, formulas, least_budget},
    },
};

const BITS: u32 = 200;
const DIGITS: u32 = 12;

/// What recomputes a value about SafeTab. Budgets and probabilities are text: exact numbers. A `rho` or an `epsilon` is
/// the total of a level; gamma, stability and delta are those of the paper's settings.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "of", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SafeTab {
    /// A sum of exact numbers.
    Sum {
        /// The numbers.
        terms: Vec<String>,
    },
    /// The budget of a level by the papers' formula for its margin.
    FormulaBudget {
        /// The noise.
        mechanism: Noise,
        /// The margin.
        moe: u32,
        /// Which part of it.
        part: Part,
    },
    /// The same with stability / gamma in place of stability / (1 - gamma).
    TextBudget {
        /// The margin.
        moe: u32,
    },
    /// A part of a rounded total: 1.96^2 / 2 in place of 1.92 for Gaussian noise.
    RoundedBudget {
        /// The noise.
        mechanism: Noise,
        /// The margin.
        moe: u32,
        /// Decimals of the total.
        decimals: u32,
        /// Whether the total is cut and not rounded.
        #[serde(default)]
        cut: bool,
        /// Which part of it.
        part: Part,
    },
    /// A part of a given total, times the number of records that differ.
    Share {
        /// The total.
        total: String,
        /// Which part of it.
        part: Part,
        /// 1, or 2 for bounded neighbors.
        records: u32,
    },
    /// The least budget of a level, of so many decimals, whose exact margin is at most a target.
    LeastBudget {
        /// The noise.
        mechanism: Noise,
        /// The margin.
        moe: u32,
        /// Decimals of the total.
        decimals: u32,
    },
    /// The exact margin of a count of a level.
    Margin {
        /// The noise.
        mechanism: Noise,
        /// The total budget.
        budget: String,
        /// Which count.
        count: Count,
    },
    /// The exact margin of the geometric mechanism with a scale b = 1 / epsilon.
    MarginOfScale {
        /// b.
        scale: String,
    },
    /// What a margin covers, in percent.
    Coverage {
        /// The noise.
        mechanism: Noise,
        /// The total budget.
        budget: String,
        /// Which count.
        count: Count,
        /// The margin; that by formula where absent.
        moe: Option<i64>,
    },
    /// What a margin covers, in percent, with the budget that the formula gives for it.
    FormulaCoverage {
        /// The noise.
        mechanism: Noise,
        /// The margin.
        moe: u32,
    },
    /// rho + 2 sqrt(rho ln(1 / delta)) of all levels.
    Analytic {},
    /// The conversion of rho at the best order of the paper's grid.
    Experimental {},
    /// The conversion of the geometric mechanism's Renyi divergences at the best order of the paper's grid.
    GeometricRenyi {
        /// Which divergence.
        renyi: Renyi,
        /// What groups a person can be in.
        groups: Groups,
        /// Another stability.
        stability: Option<u32>,
    },
    /// Whether the divergence of Lemma 8 is at least the true one.
    LemmaHolds {
        /// The order.
        order: String,
        /// The epsilon of a count.
        epsilon: String,
    },
    /// The exact epsilon of all levels.
    Exact {
        /// The noise.
        mechanism: Noise,
        /// Which budgets.
        budgets: Budgets,
        /// What groups a person can be in.
        groups: Groups,
    },
    /// By how many percent the second is below the first.
    Gain {
        /// The first.
        first: Box<SafeTab>,
        /// The second.
        second: Box<SafeTab>,
    },
    /// By how many percent the noise of a count is less with another stability, at the same budget.
    NoiseGain {
        /// The race codes before.
        from: u32,
        /// The race codes after.
        to: u32,
    },
    /// The stability for a number of race codes.
    Stability {
        /// The race codes.
        race_codes: u32,
    },
    /// The threshold of suppression.
    Threshold {
        /// The rho of the level.
        rho: String,
    },
    /// How likely an empty group is suppressed, in percent.
    Suppressed {
        /// The rho of the level.
        rho: String,
        /// Whether counts below the threshold are suppressed, and not those equal to it.
        below: bool,
    },
    /// Whether groups of the same size over the threshold are alike at two budgets.
    Alike {
        /// The rho of both levels.
        rhos: [String; 2],
        /// The size over the threshold.
        fraction: String,
        /// In their bias over the threshold, else in the probability of suppression.
        bias: bool,
    },
    /// Whether formula (13) is the bias, to a share of it.
    BiasFormula {
        /// The rho of the level.
        rho: String,
        /// How many people.
        size: u64,
        /// The share.
        within: String,
    },
    /// How many counts a table prints, or how many bins of age it has.
    Counts {
        /// The table.
        table: TableName,
        /// Bins of age, else all counts.
        ages: bool,
    },
    /// Whether bins of age as printed cover every age once, and are those that are tabulated.
    Ages {
        /// The table.
        table: TableName,
        /// The bins.
        bins: Vec<String>,
    },
}

/// A mechanism, as data.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Noise {
    /// The discrete Gaussian.
    DiscreteGaussian,
    /// The two-sided geometric.
    Geometric,
}

impl From<Noise> for Mechanism {
    fn from(noise: Noise) -> Mechanism {
        match noise {
            Noise::DiscreteGaussian => Mechanism::DiscreteGaussian,
            Noise::Geometric => Mechanism::Geometric,
        }
    }
}

/// Which part of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// All of it.
    Total,
    /// That of step 2.
    Step2,
}

/// Which count of a level.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Count {
    /// The total of a group that gets nothing else.
    TotalOnly,
    /// A cell of step 2.
    Step2,
}

/// A table of the data product.
#[derive(Clone, Copy, Debug, Deserialize)]
pub enum TableName {
    /// Total population.
    T01001,
    /// Sex by 4 ages.
    T02001,
    /// Sex by 9 ages.
    T02002,
    /// Sex by 23 ages.
    T02003,
}

impl TableName {
    fn table(self) -> Table {
        match self {
            TableName::T01001 => Table::Total,
            TableName::T02001 => Table::SexAge4,
            TableName::T02002 => Table::SexAge9,
            TableName::T02003 => Table::SexAge23,
        }
    }
}

/// Recomputes a value of a paper.
pub(super) fn compute(paper: &str, what: &SafeTab) -> Result<Computed> {
    let settings = Settings::of(paper)?;
    match what {
        SafeTab::LemmaHolds { order, epsilon } => {
            Ok(Computed::Statement(renyi::lemma_holds(&parse(order)?, &parse(epsilon)?)))
        }
        SafeTab::Alike { rhos, fraction, bias } => alike(&settings, rhos, &parse(fraction)?, *bias),
        SafeTab::BiasFormula { rho, size, within } => {
            let rule = settings.suppression(&parse(rho)?)?;
            let truth = rule.bias(*size, DIGITS)?;
            let Some(formula) = rule.bias_by_formula(*size, DIGITS)? else {
                return Ok(Computed::Statement(Certainty::Undecided));
            };
            let error = formula.sub(&truth).div(&truth);
            let error = error.max(&error.clone().negate());
            Ok(Computed::Statement(error.at_most(&parse(within)?)))
        }
        SafeTab::Ages { table, bins } => {
            let right = first_ages(bins).is_some_and(|first| first == table.table().ages());
            Ok(Computed::Statement(if right { Certainty::Yes } else { Certainty::No }))
        }
        _ => Ok(Computed::Value(value(&settings, what)?)),
    }
}

fn value(settings: &Settings, what: &SafeTab) -> Result<Enclosure> {
    let exact = |value: &Rational| Enclosure::rational(value, BITS);
    let whole = |value: u64| Enclosure::rational(&Rational::from(value), BITS);
    let percent = |value: Enclosure| value.mul(&Enclosure::double(100.0, BITS));
    let part_of = |part: Part| match part {
        Part::Total => Rational::from(1),
        Part::Step2 => Rational::from(1 - &settings.gamma),
    };
    Ok(match what {
        SafeTab::Sum { terms } => {
            let sum = terms.iter().try_fold(Rational::new(), |sum, term| Ok::<_, Error>(sum + parse(term)?))?;
            exact(&sum)
        }
        SafeTab::FormulaBudget { mechanism, moe, part } => {
            let total = formulas::budget((*mechanism).into(), *moe, &settings.gamma, settings.stability)?;
            total.mul(&exact(&part_of(*part)))
        }
        SafeTab::TextBudget { moe } => {
            let inverted = Rational::from(1 - &settings.gamma);
            formulas::budget(Mechanism::DiscreteGaussian, *moe, &inverted, settings.stability)?
        }
        SafeTab::RoundedBudget { mechanism, moe, decimals, cut, part } => {
            let total = settings.rounded(*mechanism, *moe, *decimals, *cut)?;
            exact(&(total * part_of(*part)))
        }
        SafeTab::Share { total, part, records } => exact(&(parse(total)? * part_of(*part) * *records)),
        SafeTab::LeastBudget { mechanism, moe, decimals } => {
            let (gamma, stability) = (&settings.gamma, settings.stability);
            exact(&least_budget((*mechanism).into(), *moe, gamma, stability, *decimals)?.value)
        }
        SafeTab::Margin { mechanism, budget, count } => {
            let noise = settings.noise(*mechanism, parse(budget)?, *count)?;
            whole(noise.margin(1, &tuning::margin_level())?.unsigned_abs())
        }
        SafeTab::MarginOfScale { scale } => {
            let noise = CellNoise::new(Mechanism::Geometric, &parse(scale)?.recip())?;
            whole(noise.margin(1, &tuning::margin_level())?.unsigned_abs())
        }
        SafeTab::Coverage { mechanism, budget, count, moe } => {
            let noise = settings.noise(*mechanism, parse(budget)?, *count)?;
            let moe = moe.map_or_else(|| formulas::margin(&noise), Ok)?;
            percent(noise.coverage(1, moe, DIGITS)?)
        }
        SafeTab::FormulaCoverage { mechanism, moe } => percent(settings.formula_coverage(*mechanism, *moe)?),
        SafeTab::Analytic {} => conversions::zcdp_epsilon(&settings.total_rho(), &settings.delta, DIGITS),
        SafeTab::Experimental {} => renyi::of_rho(&settings.total_rho(), &settings.delta),
        SafeTab::GeometricRenyi { renyi, groups, stability } => {
            renyi::of_geometric(settings, *renyi, *groups, *stability)?
        }
        SafeTab::Exact { mechanism, budgets, groups } => exact_epsilon(settings, *mechanism, *budgets, *groups)?,
        SafeTab::Gain { first, second } => {
            let (first, second) = (value(settings, first)?, value(settings, second)?);
            percent(Enclosure::double(1.0, BITS).sub(&second.div(&first)))
        }
        SafeTab::NoiseGain { from, to } => {
            let ratio = Rational::from((tuning::stability(*to)?, tuning::stability(*from)?));
            percent(Enclosure::double(1.0, BITS).sub(&exact(&ratio).sqrt()))
        }
        SafeTab::Stability { race_codes } => whole(tuning::stability(*race_codes)?.into()),
        SafeTab::Threshold { rho } => whole(settings.suppression(&parse(rho)?)?.threshold().unsigned_abs()),
        SafeTab::Suppressed { rho, below } => {
            let rule = settings.suppression(&parse(rho)?)?;
            let chance = if *below { rule.probability_below(0, DIGITS)? } else { rule.probability(0, DIGITS)? };
            percent(chance)
        }
        SafeTab::Counts { table, ages } => match ages {
            true => whole(table.table().ages().len() as u64),
            false => whole(table.table().printed_counts().into()),
        },
        SafeTab::LemmaHolds { .. } | SafeTab::Alike { .. } | SafeTab::BiasFormula { .. } | SafeTab::Ages { .. } => {
            let expected = "a value, not a statement";
            return Err(Error::out_of_range("what recomputes a value", "a statement", expected));
        }
    })
}

impl Settings {
    /// The noise of a count of a level.
    fn noise(&self, mechanism: Noise, budget: Rational, count: Count) -> Result<CellNoise> {
        let level = Level::new("", mechanism.into(), budget, self.gamma.clone(), self.stability)?;
        match count {
            Count::TotalOnly => level.total_only_noise(),
            Count::Step2 => level.stage_noises().map(|[_, noise]| noise),
        }
    }

    /// The suppression of the totals of a level.
    pub(in crate::evidence) fn suppression(&self, rho: &Rational) -> Result<Suppression> {
        Suppression::new(self.noise(Noise::DiscreteGaussian, rho.clone(), Count::Step2)?, self.chance.clone())
    }

    /// A total of a level, rounded or cut.
    fn rounded(&self, mechanism: Noise, moe: u32, decimals: u32, cut: bool) -> Result<Rational> {
        let power = Rational::from(Integer::from(10).pow(decimals));
        let total = match mechanism {
            Noise::DiscreteGaussian if !cut => {
                return formulas::rounded_budget(moe, &self.gamma, self.stability, decimals);
            }
            other => formulas::budget(other.into(), moe, &self.gamma, self.stability)?,
        };
        // Both ends of the enclosure become the same multiple of the last decimal, or it cannot be told which it is.
        let at = |end: &rug::Float| {
            let scaled = end.to_rational().unwrap_or_default() * &power;
            if cut { scaled.floor() } else { scaled.round() }
        };
        let (lower, upper) = (at(total.lower()), at(total.upper()));
        if lower != upper {
            let expected = "a formula that is not within 10^-50 of where rounding turns";
            return Err(Error::out_of_range("moe", moe, expected));
        }
        Ok(lower / power)
    }

    /// What a margin covers with the cell's budget by formula: between the coverages at the ends of its enclosure, since
    /// more budget covers more.
    pub(in crate::evidence) fn formula_coverage(&self, mechanism: Noise, moe: u32) -> Result<Enclosure> {
        let total = formulas::budget(mechanism.into(), moe, &self.gamma, self.stability)?;
        let at = |end: &rug::Float| -> Result<Enclosure> {
            let noise = self.noise(mechanism, end.to_rational().unwrap_or_default(), Count::Step2)?;
            noise.coverage(1, i64::from(moe), DIGITS)
        };
        Ok(at(total.lower())?.hull(&at(total.upper())?))
    }
}

/// The exact epsilon of a person whose groups are all in two stages, or by their totals only where they can be: for
/// geometric noise this is the largest over all mixes ([`tuning::spent`]).
pub(in crate::evidence) fn exact_epsilon(
    settings: &Settings,
    mechanism: Noise,
    budgets: Budgets,
    groups: Groups,
) -> Result<Enclosure> {
    let mut counts = Vec::new();
    for (level, total_only) in settings.levels(mechanism.into(), budgets)? {
        let all = u64::from(level.stability());
        let own = if groups.total_only(total_only) { all } else { 0 };
        counts.extend(level.counts(own, all - own)?);
    }
    Ok(Composition::new(counts)?.epsilon(&settings.delta, 8)?.value)
}

fn alike(settings: &Settings, rhos: &[String; 2], fraction: &Rational, bias: bool) -> Result<Computed> {
    let mut values = Vec::new();
    for rho in rhos {
        let rule = settings.suppression(&parse(rho)?)?;
        let threshold = Rational::from(rule.threshold());
        let (size, rest) = Rational::from(&threshold * fraction).into_numer_denom();
        let Some(size) = size.to_u64().filter(|_| rest == 1) else {
            let expected = "a share of both thresholds that is a whole number of people";
            return Err(Error::out_of_range("fraction", fraction, expected));
        };
        values.push(match bias {
            true => rule.bias(size, DIGITS)?.div(&Enclosure::rational(&threshold, BITS)),
            false => rule.probability(size, DIGITS)?,
        });
    }
    let same = if values[0].overlaps(&values[1]) { Certainty::Undecided } else { Certainty::No };
    Ok(Computed::Statement(same))
}

/// The first ages of bins as they are printed, where they follow each other from 0 on and the last has no end.
fn first_ages(bins: &[String]) -> Option<Vec<u8>> {
    let mut firsts = Vec::new();
    let mut next = Some(0_u8);
    for bin in bins {
        let words: Vec<&str> = bin.split_whitespace().collect();
        let age = |word: &str| word.parse::<u8>().ok();
        let (first, after) = match words[..] {
            ["Under", end, "years"] => (0, Some(age(end)?)),
            [first, "years", "and", "over"] => (age(first)?, None),
            [first, "to" | "and", last, "years"] => (age(first)?, age(last)?.checked_add(1)),
            [only, "years"] => (age(only)?, age(only)?.checked_add(1)),
            _ => return None,
        };
        if next != Some(first) {
            return None;
        }
        firsts.push(first);
        next = after;
    }
    next.is_none().then_some(firsts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_read_and_gaps_are_seen() {
        let read = |bins: &[&str]| first_ages(&bins.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(
            read(&["Under 18 years", "18 and 19 years", "20 years", "21 years and over"]).unwrap(),
            [0, 18, 20, 21]
        );
        for wrong in [
            &["Under 18 years", "19 years and over"][..],
            &["Under 18 years", "18 to 44 years"],
            &["5 to 9 years", "10 years and over"],
            &["Under 18 years", "18 or more"],
            &[],
        ] {
            assert!(read(wrong).is_none(), "{wrong:?}");
        }
    }

    #[test]
    fn a_share_that_is_no_whole_number_is_refused() {
        let settings = Settings::of("safetab-p-2024").unwrap();
        let rhos = ["0.008".to_string(), "0.159".to_string()];
        assert!(alike(&settings, &rhos, &parse("1/2").unwrap(), false).is_err());
        assert!(matches!(alike(&settings, &rhos, &parse("1").unwrap(), true), Ok(Computed::Statement(Certainty::No))));
    }
}
