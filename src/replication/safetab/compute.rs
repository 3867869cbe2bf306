//! Values about SafeTab, recomputed.

use crate::account::Delta;
use rug::Rational;

use super::{
    claims::{BiasBy, BudgetPart, SafetabClaim, TableName},
    levels::exact_epsilon,
    renyi,
    settings::PrintedSettings,
    statements, tails,
};
use crate::{
    account::conversions,
    error::{Error, Result},
    numeric::{Certainty, Enclosure, rational::parse},
    replication::verdict::{Computed, percent_below},
    safetab::{
        cell_noise::{CellNoise, NoiseKind},
        tuning::{self, formulas, least_budget},
    },
};

const BITS: u32 = 200;
const DIGITS: u32 = 12;

fn exact(value: &Rational) -> Enclosure {
    Enclosure::rational(value, BITS)
}

fn whole(value: u64) -> Enclosure {
    exact(&Rational::from(value))
}

fn percent(value: Enclosure) -> Enclosure {
    value.mul(&Enclosure::double(100.0, BITS))
}

/// The share of a part in a level's budget.
fn share_of(settings: &PrintedSettings, part: BudgetPart) -> Rational {
    match part {
        BudgetPart::Total => Rational::from(1),
        BudgetPart::Step2 => Rational::from(1 - &settings.gamma),
    }
}

/// The exact margin of error of a count.
fn margin(noise: &CellNoise) -> Result<Enclosure> {
    Ok(whole(noise.margin(1, &tuning::margin_level())?.unsigned_abs()))
}

/// Recomputes a value of a paper.
pub(in crate::replication) fn compute(paper: &str, what: &SafetabClaim) -> Result<Computed> {
    compute_with(&PrintedSettings::of(paper)?, what)
}

fn compute_with(settings: &PrintedSettings, what: &SafetabClaim) -> Result<Computed> {
    let (gamma, stability) = (&settings.gamma, settings.stability);
    let value = match what {
        SafetabClaim::Sum { terms } => {
            let sum = terms.iter().try_fold(Rational::new(), |sum, term| Ok::<_, Error>(sum + parse(term)?))?;
            exact(&sum)
        }
        SafetabClaim::FormulaBudget { mechanism, moe, part } => {
            formulas::budget((*mechanism).into(), *moe, gamma, stability)?.mul(&exact(&share_of(settings, *part)))
        }
        SafetabClaim::TextBudget { moe } => {
            formulas::budget(NoiseKind::DiscreteGaussian, *moe, &Rational::from(1 - gamma), stability)?
        }
        SafetabClaim::RoundedBudget { mechanism, moe, decimals, cut, part } => {
            exact(&(settings.rounded((*mechanism).into(), *moe, *decimals, *cut)? * share_of(settings, *part)))
        }
        SafetabClaim::Share { total, part, records } => exact(&(parse(total)? * share_of(settings, *part) * *records)),
        SafetabClaim::LeastBudget { mechanism, moe, decimals } => {
            exact(&least_budget((*mechanism).into(), *moe, gamma, stability, *decimals)?.value)
        }
        SafetabClaim::Margin { mechanism, budget, count } => {
            margin(&settings.noise((*mechanism).into(), parse(budget)?, *count)?)?
        }
        SafetabClaim::MarginOfScale { scale } => {
            margin(&CellNoise::new(NoiseKind::Geometric, &parse(scale)?.recip())?)?
        }
        SafetabClaim::Coverage { mechanism, budget, target, count, moe } => {
            percent(settings.coverage((*mechanism).into(), (budget.as_deref(), *target), *count, *moe)?)
        }
        SafetabClaim::FormulaCoverage { mechanism, moe } => {
            percent(settings.formula_coverage((*mechanism).into(), *moe)?)
        }
        SafetabClaim::Analytic {} => {
            conversions::zcdp_epsilon(&settings.total_rho().try_into()?, &Delta::try_from(&settings.delta)?, DIGITS)
        }
        SafetabClaim::Experimental {} => renyi::of_rho(&settings.total_rho(), &settings.delta),
        SafetabClaim::GeometricRenyi { renyi, groups, stability } => {
            renyi::of_geometric(settings, *renyi, *groups, *stability)?
        }
        SafetabClaim::LemmaHolds { order, epsilon } => {
            return Ok(Computed::Statement(renyi::lemma_holds(&parse(order)?, &parse(epsilon)?)));
        }
        SafetabClaim::Exact { mechanism, budgets, groups } => {
            exact_epsilon(settings, (*mechanism).into(), *budgets, *groups)?
        }
        SafetabClaim::Gain { first, second } => gain(settings, first, second)?,
        SafetabClaim::NoiseGain { from, to } => noise_gain(*from, *to)?,
        SafetabClaim::Stability { race_codes } => whole(tuning::stability(*race_codes)?.into()),
        SafetabClaim::Threshold { rho } => whole(settings.suppression(&parse(rho)?)?.threshold().unsigned_abs()),
        SafetabClaim::Suppressed { rho, below } => suppressed(settings, &parse(rho)?, *below)?,
        SafetabClaim::Alike { rhos, fraction, bias } => return alike(settings, rhos, &parse(fraction)?, *bias),
        SafetabClaim::BiasFormula { rho, size, discrete } => {
            return bias_formula(settings, &parse(rho)?, *size, *discrete);
        }
        SafetabClaim::Bias { rho, size, by } => bias(settings, &parse(rho)?, *size, *by)?,
        SafetabClaim::TotalOnlyLevels {} => {
            whole(settings.planned.iter().filter(|level| level.total_only).count() as u64)
        }
        SafetabClaim::Levels {} => whole(settings.planned.len() as u64),
        SafetabClaim::BelowContinuous { sigma2, most } => return tails::below_continuous(&numbers(sigma2)?, *most),
        SafetabClaim::TailByFormula { ratios, most } => {
            return Ok(Computed::holds(tails::tail_by_formula(&numbers(ratios)?, *most)));
        }
        SafetabClaim::Interval { mechanism, budget, count, center } => {
            let noise = settings.noise((*mechanism).into(), parse(budget)?, *count)?;
            percent(tails::interval(&noise, *center, formulas::margin(&noise)?)?)
        }
        SafetabClaim::HalfSquare { epsilons, orders } => {
            return tails::half_square(&numbers(epsilons)?, &numbers(orders)?);
        }
        SafetabClaim::GeometricZcdp {} => renyi::of_rho(&tails::rho_by_squares(settings)?, &settings.delta),
        SafetabClaim::BiasFalls { rho, times } => return tails::bias_falls(settings, &parse(rho)?, *times),
        SafetabClaim::DivergencesAdd { epsilons, orders } => {
            return statements::divergences_add(&numbers(epsilons)?, &numbers(orders)?);
        }
        SafetabClaim::TheoremTwo { order } => {
            return Ok(Computed::Statement(statements::theorem_2(settings, &parse(order)?)?));
        }
        SafetabClaim::Equations5And6 { taus, orders, delta } => {
            return statements::equations_5_and_6(&numbers(taus)?, &numbers(orders)?, &parse(delta)?);
        }
        SafetabClaim::SimpleIsLooser { rhos, deltas } => {
            return statements::simple_is_looser(&numbers(rhos)?, &numbers(deltas)?);
        }
        SafetabClaim::NoPureEpsilon { rhos, epsilons } => {
            return Ok(Computed::holds(statements::has_no_pure_epsilon(&numbers(rhos)?, &numbers(epsilons)?)));
        }
        SafetabClaim::Lemma13 { ratios, most } => {
            return Ok(Computed::holds(statements::lemma_13(&numbers(ratios)?, *most)));
        }
        SafetabClaim::MassesSumToOne { ratios, most } => {
            return Ok(Computed::holds(statements::masses_sum_to_one(&numbers(ratios)?, *most)));
        }
        SafetabClaim::SingleOutputsSuffice { sigma2, epsilon, delta } => {
            return statements::single_outputs_suffice(&parse(sigma2)?, &parse(epsilon)?, &parse(delta)?);
        }
        SafetabClaim::NoiseGrowth { sensitivity, of_variance } => statements::noise_growth(*sensitivity, *of_variance)?,
        SafetabClaim::OneQueryCosts { parts, mechanism } => {
            return Ok(Computed::holds(statements::one_query_costs(parts, (*mechanism).into())?));
        }
        SafetabClaim::Spent { mechanism, groups, changed } => {
            statements::spent(settings, (*mechanism).into(), *groups, *changed)?
        }
        SafetabClaim::OfGroup { total_only, both } => statements::of_group(settings, *total_only, *both)?,
        SafetabClaim::EmptyIsUnlikely { levels, within } => {
            let level = |(rho, threshold): &(String, i64)| Ok((parse(rho)?, *threshold));
            let levels = levels.iter().map(level).collect::<Result<Vec<_>>>()?;
            return statements::empty_is_unlikely(settings, &levels, &parse(within)?);
        }
        SafetabClaim::MarginFalls { budgets } => {
            return Ok(Computed::holds(statements::margin_falls(settings, &numbers(budgets)?)?));
        }
        SafetabClaim::Lemma3 { parts, most } => return Ok(Computed::holds(statements::lemma_3(*parts, *most))),
        SafetabClaim::ProcessingAddsNothing { parts, most } => {
            return Ok(Computed::holds(statements::processing_adds_nothing(*parts, *most)));
        }
        SafetabClaim::NeedsData { needed } => return Ok(Computed::NeedsData(needed.clone())),
        SafetabClaim::Counts { table, ages: true } => whole(table.table().ages().len() as u64),
        SafetabClaim::Counts { table, ages: false } => whole(table.table().printed_counts().into()),
        SafetabClaim::Ages { table, bins } => return Ok(ages(*table, bins)),
    };
    Ok(Computed::Value(value))
}

fn numbers(texts: &[String]) -> Result<Vec<Rational>> {
    texts.iter().map(|text| parse(text)).collect()
}

/// The difference between the first and the second value, in percent of the first.
fn gain(settings: &PrintedSettings, first: &SafetabClaim, second: &SafetabClaim) -> Result<Enclosure> {
    let value = |what| compute_with(settings, what).and_then(Computed::into_value);
    Ok(percent_below(&value(second)?, &value(first)?))
}

/// The reduction of the noise of a count with the stability of another number of race codes, in percent.
fn noise_gain(from: u32, to: u32) -> Result<Enclosure> {
    let ratio = Rational::from((tuning::stability(to)?, tuning::stability(from)?));
    Ok(percent(Enclosure::double(1.0, BITS).sub(&exact(&ratio).sqrt())))
}

/// The probability that an empty group is suppressed, in percent.
fn suppressed(settings: &PrintedSettings, rho: &Rational, below: bool) -> Result<Enclosure> {
    let rule = settings.suppression(rho)?;
    Ok(percent(if below { rule.probability_below(0, DIGITS)? } else { rule.probability(0, DIGITS)? }))
}

/// The bias of a group of this size, or formula (13) for it: sigma2 times the density at T - n over the tail beyond it.
fn bias(settings: &PrintedSettings, rho: &Rational, size: u64, by: BiasBy) -> Result<Enclosure> {
    let rule = settings.suppression(rho)?;
    let unsuitable = || Error::unsuitable("formula (13) is about discrete Gaussian noise");
    match by {
        BiasBy::Exact => rule.bias(size, DIGITS),
        BiasBy::Continuous => rule.bias_by_formula(size, DIGITS)?.ok_or_else(unsuitable),
        BiasBy::Discrete => {
            let CellNoise::Gaussian(noise) = rule.noise() else { return Err(unsuitable()) };
            let sigma2 = exact(noise.sigma2());
            let size = i64::try_from(size).map_err(|_| Error::out_of_range("size", size, "at most 9e18 people"))?;
            let at = rule.threshold().saturating_sub(size);
            let tail = |from| rule.noise().survival(from, 2 * DIGITS);
            let beyond = tail(at.saturating_add(1))?;
            Ok(sigma2.mul(&tail(at)?.sub(&beyond)).div(&beyond))
        }
    }
}

/// Whether formula (13) is the bias of a group of this size. Only a difference can be proven.
fn bias_formula(settings: &PrintedSettings, rho: &Rational, size: u64, discrete: bool) -> Result<Computed> {
    let by = if discrete { BiasBy::Discrete } else { BiasBy::Continuous };
    let (truth, formula) = (bias(settings, rho, size, BiasBy::Exact)?, bias(settings, rho, size, by)?);
    Ok(Computed::Statement(if truth.overlaps(&formula) { Certainty::Undecided } else { Certainty::No }))
}

/// Whether the printed age bins are the tabulated ones.
fn ages(table: TableName, bins: &[String]) -> Computed {
    Computed::holds(first_ages(bins).is_some_and(|first| first == table.table().ages()))
}

/// Whether two groups whose size is the same share of the threshold are treated the same. Only a difference can be
/// proven.
fn alike(settings: &PrintedSettings, rhos: &[String; 2], fraction: &Rational, bias: bool) -> Result<Computed> {
    let mut values = Vec::new();
    for rho in rhos {
        let rule = settings.suppression(&parse(rho)?)?;
        let threshold = Rational::from(rule.threshold());
        let (size, rest) = Rational::from(&threshold * fraction).into_numer_denom();
        let Some(size) = size.to_u64().filter(|_| rest == 1) else {
            let why = format!("the share {fraction} of the threshold {threshold} is not a whole number of people");
            return Err(Error::unsuitable(why));
        };
        values.push(match bias {
            true => rule.bias(size, DIGITS)?.div(&Enclosure::rational(&threshold, BITS)),
            false => rule.probability(size, DIGITS)?,
        });
    }
    let same = if values[0].overlaps(&values[1]) { Certainty::Undecided } else { Certainty::No };
    Ok(Computed::Statement(same))
}

/// The first ages of printed bins; `None` unless they cover every age once, from 0 on.
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
    fn bins_are_read_and_gaps_are_detected() {
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
    fn a_share_that_is_not_an_integer_number_of_people_is_refused() {
        let settings = PrintedSettings::of("safetab-p-2024").unwrap();
        let rhos = ["0.008".to_string(), "0.159".to_string()];
        assert!(alike(&settings, &rhos, &parse("1/2").unwrap(), false).is_err());
        assert!(matches!(alike(&settings, &rhos, &parse("1").unwrap(), true), Ok(Computed::Statement(Certainty::No))));
    }
}
