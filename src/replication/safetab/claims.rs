//! Claims about SafeTab.

use rug::Rational;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    levels::exact_epsilon,
    renyi::{self, Renyi},
    settings::{Budgets, CountKind, PersonGroups, PrintedSettings},
    statements,
    tails::{self, BITS, real},
};
use crate::{
    account::{Delta, conversions},
    error::{Error, Result},
    numeric::{Certainty, Enclosure},
    replication::{
        claims::{Claim, Context, Flag, Input, Read, claims, plain_inputs},
        verdict::{Computed, percent_below},
    },
    safetab::{
        cell_noise::{CellNoise, NoiseKind},
        tables::PublishedTable,
        tuning::{self, formulas, least_budget},
    },
};

const DIGITS: u32 = 12;

claims! {
    /// The claims. Budgets and probabilities are exact numbers. A `rho` or an `epsilon` is the total of a level; gamma, stability and delta are those of
    /// the paper's settings.
    // A sum of exact numbers.
    "sum" (terms: Vec<Rational>) => terms.iter().fold(Rational::new(), |sum, term| sum + term);
    // The budget of a level by the papers' formula for its margin.
    "formula-budget" (mechanism, moe, part) [of] =>
        formulas::budget(*mechanism, *moe, &of.gamma, of.stability)?.mul(&real(&share_of(of, *part)));
    // The same with stability / gamma instead of stability / (1 - gamma).
    "text-budget" (moe) [of] =>
        formulas::budget(NoiseKind::DiscreteGaussian, *moe, &Rational::from(1 - &of.gamma), of.stability)?;
    // A part of a total, rounded or, if `cut`, truncated, with 1.96^2 / 2 instead of 1.92 for Gaussian noise.
    "rounded-budget" (mechanism, moe, decimals, cut: Flag, part) [of] =>
        of.rounded(*mechanism, *moe, *decimals, cut.0)? * share_of(of, *part);
    // A part of a given total, times the number of records that differ: 1, or 2 for bounded neighbors.
    "share" (total: Rational, part, records: u32) [of] => share_of(of, *part) * total * *records;
    // The least budget of a level, rounded to `decimals`, whose exact margin is at most a target.
    "least-budget" (mechanism, moe, decimals) [of] =>
        least_budget(*mechanism, *moe, &of.gamma, of.stability, *decimals)?.value;
    // The exact margin of a count of a level, or of the geometric mechanism with a scale b = 1 / epsilon.
    "margin" (mechanism, budget: Rational, count) [of] => margin(&of.noise(*mechanism, budget.clone(), *count)?)?;
    "margin-of-scale" (scale: Rational) => margin(&CellNoise::new(NoiseKind::Geometric, &scale.clone().recip())?)?;
    // The coverage of a margin, in percent: the margin that is given or that of the papers' formula, the budget that is given or that of the formula
    // for a target, not rounded.
    "coverage" (mechanism, budget: Option<_>, target, count, moe) [of] =>
        percent(of.coverage(*mechanism, (budget.as_ref(), *target), *count, *moe)?);
    // The coverage of a margin, in percent, with its budget by the formula.
    "formula-coverage" (mechanism, moe) [of] => percent(of.formula_coverage(*mechanism, *moe)?);
    // rho + 2 sqrt(rho ln(1 / delta)) of all levels.
    "analytic" () [of] =>
        conversions::zcdp_epsilon(&of.total_rho().try_into()?, &Delta::try_from(&of.delta)?, DIGITS);
    // The conversion of rho at the best order of the paper's grid; that of the geometric mechanism's Renyi divergences, also with another stability;
    // that of epsilon^2 / 2 for each count of the geometric mechanism.
    "experimental" () [of] => renyi::of_rho(&of.total_rho(), &of.delta);
    "geometric-renyi" (renyi, groups, stability) [of] => renyi::of_geometric(of, *renyi, *groups, *stability)?;
    "geometric-zcdp" () [of] => renyi::of_rho(&tails::rho_by_squares(of)?, &of.delta);
    // Whether the divergence of Lemma 8 is an upper bound on the true one, at an order and the epsilon of a count.
    "lemma-holds" (order, epsilon) => renyi::lemma_holds(order, epsilon);
    // The exact epsilon of all levels.
    "exact" (mechanism, budgets, groups) [of] => exact_epsilon(of, *mechanism, *budgets, *groups)?;
    // The difference between the first and the second value, in percent of the first.
    "gain" (first: Claim, second: Claim) with given =>
        percent_below(&second.compute(given)?.into_value()?, &first.compute(given)?.into_value()?);
    // The reduction of the noise of a count with the stability of another number of race codes, at the same budget, in percent.
    "noise-gain" (from, to) => {
        let ratio = Rational::from((tuning::stability(*to)?, tuning::stability(*from)?));
        percent(Enclosure::double(1.0, BITS).sub(&real(&ratio).sqrt()))
    };
    // The stability for a number of race codes.
    "stability" (race_codes) => u64::from(tuning::stability(*race_codes)?);
    // The threshold of suppression of a level.
    "threshold" (rho) [of] => of.suppression(rho)?.threshold().unsigned_abs();
    // The probability that an empty group is suppressed, in percent; with `below`, if suppression does not apply to counts equal to the threshold.
    "suppressed" (rho, below) [of] => {
        let rule = of.suppression(rho)?;
        percent(if *below { rule.probability_below(0, DIGITS)? } else { rule.probability(0, DIGITS)? })
    };
    // Whether groups whose size is the same share of the threshold are treated the same at two budgets: their bias as a share of the threshold, or
    // their probability of suppression.
    "alike" (rhos, fraction, bias) [of] => alike(of, rhos, fraction, *bias)?;
    // Whether formula (13) is the bias; phi and Phi are the masses of the noise itself or those of the continuous normal distribution.
    "bias-formula" (rho, size, discrete) [of] => bias_formula(of, rho, *size, *discrete)?;
    // The bias of a published total of this many people, or formula (13) for it.
    "bias" (rho, size, by) [of] => bias(of, rho, *size, *by)?;
    // Whether the bias falls with the size of a group, up to a multiple of the threshold, and stays above zero.
    "bias-falls" (rho, times) [of] => tails::bias_falls(of, rho, *times)?;
    // The number of levels of the paper, and of those with groups of which only the total is published.
    "levels" () [of] => of.planned.len() as u64;
    "total-only-levels" () [of] => of.planned.iter().filter(|level| level.total_only).count() as u64;
    // Whether each tail of the discrete Gaussian is at most that of the continuous one starting one integer before (Proposition 1), up to `most`.
    "below-continuous" (sigma2: Vec<_>, most) => tails::below_continuous(sigma2, *most)?;
    // Whether `P[X > y]` of the geometric mechanism is exp(-y / b) / (1 + exp(1 / b)), for values of exp(-1 / b) and y up to `most`.
    "tail-by-formula" (ratios: Vec<_>, most) => tails::tail_by_formula(ratios, *most);
    // The probability that the noise of a level is within the formula's margin of a number, in percent.
    "interval" (mechanism, budget: Rational, count, center) [of] => {
        let noise = of.noise(*mechanism, budget.clone(), *count)?;
        percent(tails::interval(&noise, *center, formulas::margin(&noise)?)?)
    };
    // Whether the geometric mechanism's Renyi divergences are at most epsilon^2 / 2 times the order, which is above 1; whether those of independent
    // counts add up.
    "half-square" (epsilons: Vec<_>, orders: Vec<_>) => tails::half_square(epsilons, orders)?;
    "divergences-add" (epsilons: Vec<_>, orders: Vec<_>) => statements::divergences_add(epsilons, orders)?;
    // Whether `SafeTab[Geometric]` with the printed totals satisfies Theorem 2 at an order.
    "theorem-two" (order) [of] => statements::theorem_2(of, order)?;
    // Whether equation (5) gives delta at the epsilon of equation (6).
    "equations-5-and-6" (taus: Vec<_>, orders: Vec<_>, delta) => statements::equations_5_and_6(taus, orders, delta)?;
    // Whether rho + sqrt(4 rho ln(1 / delta)) is above the conversion at the best order.
    "simple-is-looser" (rhos: Vec<_>, deltas: Vec<_>) => statements::simple_is_looser(rhos, deltas)?;
    // Whether the loss of the discrete Gaussian exceeds each epsilon at some output.
    "no-pure-epsilon" (rhos: Vec<_>, epsilons: Vec<_>) => statements::has_no_pure_epsilon(rhos, epsilons);
    // Whether tails of the geometric mechanism are within the bounds of Lemma 13 and (34), from minus `most` to `most`.
    "lemma-13" (ratios: Vec<_>, most) => statements::lemma_13(ratios, *most);
    // Whether the masses of the geometric mechanism sum to 1, those beyond `most` in closed form.
    "masses-sum-to-one" (ratios: Vec<_>, most) => statements::masses_sum_to_one(ratios, *most);
    // Whether a condition on each single output makes a count with this noise private.
    "single-outputs-suffice" (sigma2, epsilon, delta) => statements::single_outputs_suffice(sigma2, epsilon, delta)?;
    // The factor by which the noise of a count grows with its sensitivity, at the same rho: of the variance proxy or of the scale sigma.
    "noise-growth" (sensitivity, of_variance) => statements::noise_growth(*sensitivity, *of_variance)?;
    // Whether one query with the summed sensitivity takes more budget than all queries composed; for geometric noise, whether it takes the same.
    "one-query-costs" (parts: Vec<_>, mechanism) => statements::one_query_costs(parts, *mechanism)?;
    // The budget that all counts of a person spend with the printed totals, if the person is added or changed.
    "spent" (mechanism, groups, changed: Flag) [of] => statements::spent(of, *mechanism, *groups, changed.0)?;
    // The rho of one group divided by its budget, if one record is added and one is removed: one of them or both in the group.
    "of-group" (total_only, both) [of] => statements::of_group(of, *total_only, *both)?;
    // Whether an empty group is unlikely to reach the threshold of sex by age, from the total rho and the threshold of each kind of level.
    "empty-is-unlikely" (levels: Vec<_>, within) [of] => statements::empty_is_unlikely(of, levels, within)?;
    // Whether margins of error fall with the budget.
    "margin-falls" (budgets: Vec<_>) [of] => statements::margin_falls(of, budgets)?;
    // Lemma 3 (2024), and whether the divergence does not grow if outputs are merged, for probabilities that are multiples of 1 / `parts`.
    "lemma-3" (parts, most) => statements::lemma_3(*parts, *most);
    "processing-adds-nothing" (parts, most) => statements::processing_adds_nothing(*parts, *most);
    // The number of counts in a table, or the number of its age bins.
    "counts" (table: PublishedTable, ages) =>
        if *ages { table.ages().len() as u64 } else { table.printed_counts().into() };
    // Whether the printed age bins cover every age once, and are the tabulated ones.
    "ages" (table: PublishedTable, bins: Vec<_>) => first_ages(bins).is_some_and(|first| first == table.ages());
    "needs-data" (needed: String) => Computed::NeedsData(needed.clone());
}

/// A computation of a bias: the mean of the noise itself beyond the threshold, or formula (13) with the continuous normal distribution or with the
/// masses of the discrete Gaussian noise.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum BiasBy {
    Exact,
    Continuous,
    Discrete,
}

/// A part of a budget: all of it, or that of step 2.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum BudgetPart {
    Total,
    Step2,
}

plain_inputs!(BiasBy, BudgetPart, Budgets, CountKind, PersonGroups, Renyi);

/// A value of the same kind.
impl Input for Claim {
    fn read(value: &mut Value) -> Read<Self> {
        let Value::Object(fields) = value.take() else {
            return Err("must be a claim, as { of = \"exact\", ... }".into());
        };
        let claim = Claim::read(CLAIMS, "of", fields, Map::new())?;
        *value = Value::Object(claim.fields().clone());
        Ok(claim)
    }
}

/// The settings of the paper.
fn context(with: &Context) -> Result<PrintedSettings> {
    PrintedSettings::of_paper(with.settings)
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
fn margin(noise: &CellNoise) -> Result<u64> {
    Ok(noise.margin(1, &tuning::margin_level())?.unsigned_abs())
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
            let sigma2 = real(noise.sigma2());
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

/// Whether two groups whose size is the same share of the threshold are treated the same. Only a difference can be
/// proven.
fn alike(settings: &PrintedSettings, rhos: &[Rational; 2], fraction: &Rational, bias: bool) -> Result<Computed> {
    let mut values = Vec::new();
    for rho in rhos {
        let rule = settings.suppression(rho)?;
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
    use crate::numeric::rational::parse;

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
        let settings = PrintedSettings::of_paper("safetab-p-2024").unwrap();
        let rhos = ["0.008", "0.159"].map(|rho| parse(rho).unwrap());
        assert!(alike(&settings, &rhos, &parse("1/2").unwrap(), false).is_err());
        assert!(matches!(alike(&settings, &rhos, &parse("1").unwrap(), true), Ok(Computed::Statement(Certainty::No))));
    }
}
