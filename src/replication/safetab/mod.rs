//! Published values about SafeTab, recomputed; and the settings of its papers.

pub mod claims;
pub mod renyi;
pub mod settings;

use rug::{Integer, Rational, ops::Pow};

pub use self::claims::SafeTab;
use self::{
    claims::{Count, Noise, Part},
    renyi::Groups,
    settings::{Budgets, Settings},
};
use super::verify::Computed;
use crate::{
    account::{Composition, conversions},
    error::{Error, Result},
    numeric::{Certainty, Enclosure, rational::parse},
    safetab::{
        cell_noise::{CellNoise, NoiseKind},
        suppression::Suppression,
        tuning::{self, GroupLevel, formulas, least_budget},
    },
};

const BITS: u32 = 200;
const DIGITS: u32 = 12;

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
            formulas::budget(NoiseKind::DiscreteGaussian, *moe, &inverted, settings.stability)?
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
            let noise = CellNoise::new(NoiseKind::Geometric, &parse(scale)?.recip())?;
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
        let level = GroupLevel::new("", mechanism.into(), budget, self.gamma.clone(), self.stability)?;
        match count {
            Count::TotalOnly => level.total_only_noise(),
            Count::Step2 => level.stage_noises().map(|[_, noise]| noise),
        }
    }

    /// The suppression of the totals of a level.
    pub(in crate::replication) fn suppression(&self, rho: &Rational) -> Result<Suppression> {
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
    pub(in crate::replication) fn formula_coverage(&self, mechanism: Noise, moe: u32) -> Result<Enclosure> {
        let total = formulas::budget(mechanism.into(), moe, &self.gamma, self.stability)?;
        let at = |end: &rug::Float| -> Result<Enclosure> {
            let noise = self.noise(mechanism, end.to_rational().unwrap_or_default(), Count::Step2)?;
            noise.coverage(1, i64::from(moe), DIGITS)
        };
        Ok(at(total.lower())?.hull(&at(total.upper())?))
    }
}

/// The exact epsilon of a person whose groups are all in two stages, or by their totals only where they can be: for
/// geometric noise this is the largest over all mixes ([`tuning::epsilons`]).
pub(in crate::replication) fn exact_epsilon(
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
