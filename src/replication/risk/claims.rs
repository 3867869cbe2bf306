//! Claims about disclosure risk: Kazan & Reiter (2023).

use rug::Rational;
use serde::Deserialize;

use super::settings::settings;
use crate::{
    account::{Delta, Rho, conversions},
    error::{Error, Result},
    noise::DiscreteGaussian,
    numeric::{Certainty, Enclosure, parallel},
    replication::{
        claims::{Basis, Shared, claims, plain_inputs},
        gibbs::{GibbsConstraint, GibbsSampler},
        verdict::Computed,
    },
    risk::{
        decision::{NoisyOutput, TrueCounts},
        hierarchical::{Hierarchy, Upper},
        others::{MassTable, OtherGroups, SumLaw},
        postprocess::Postprocessed,
        single::Attack,
    },
};

const DIGITS: u32 = 10;
/// The sampler's limit over all outputs is enclosed to an absolute width of about 2^-15.
const SAMPLER_SHARE: u32 = 15;

claims! {
    /// The claims. A rho is that of a count or of both levels, a noisy count is less the known count, and `sampler` stands for the limit of the
    /// sampler that draws `X_1` without the constraint, in place of the stated model with prior 1/2.
    // The product of a total, the share of a level and the share of a query.
    "query-rho" (total: Rational, level: Rational, query: Rational) => Rational::from(total * level) * query;
    // rho + 2 sqrt(rho ln(1 / delta)).
    "zcdp-epsilon" (rho: Rho, delta: Delta) => conversions::zcdp_epsilon(rho, delta, DIGITS);
    // The product of the numbers of values of some variables.
    "cells" (values: Vec<u64>) => values.iter().fold(Rational::from(1), |product, count| product * count);
    // The sum of the counts of the histogram among the settings.
    "histogram-total" () => settings()?.histogram.iter().map(|cell| cell.count).sum::<u64>();
    // The probability of a noisy count, if the target is in the group or not.
    "output" (rho, noisy, present) => single(rho, &half())?.probability(&[*noisy], *present, DIGITS)?;
    // The posterior probability (3.1), and divided by the prior (3.2).
    "posterior" (rho, prior, noisy) => single(rho, prior)?.posterior(&[*noisy], DIGITS)?;
    "ratio" (rho, prior, noisy) => single(rho, prior)?.risk(&[*noisy], DIGITS)?;
    // The marginal posterior (3.3), and divided by the prior (3.4).
    "marginal" (rho, prior) => single(rho, prior)?.marginal(DIGITS)?;
    "marginal-ratio" (rho, prior) => {
        let attack = single(rho, prior)?;
        attack.per_prior(&attack.marginal(DIGITS)?)
    };
    // The probability of a correct decision (3.6).
    "correct" (rho, prior) => single(rho, prior)?.correct_decision(DIGITS)?;
    // The posterior probability from x_1, x_2 and y_1 as released, uniform above: of `X_1 = 1`, if `absent` of `X_1 = 0`, or of one value of X_2.
    "two-levels" (rhos, others, noisy, x2, absent: Option<bool>) => {
        let present = two_levels_posterior(rhos, *others, *noisy, *x2)?;
        if *absent == Some(true) { Enclosure::double(1.0, 100).sub(&present) } else { present }
    };
    // The same probability by the sampler.
    "sampler-limit" (rhos, others, noisy, x2) => sampler_limit(rhos, *others, *noisy, *x2)?;
    // The decision over all outputs, with the true x_1 and x_2 and a prior of X_2: the requested probability.
    "decision" (rhos, others, truth, upper, part) from |basis| decision(rhos, *others, *truth, *upper) =>
        part_of(*part, basis)?;
    // The decision by the sampler, over all outputs with `X_1 = 1` and the true x_2.
    "sampler-decision" (rhos, others, x2, part) from |basis| decision_by_sampler(rhos, *others, *x2) =>
        part_of(*part, basis)?;
    // Whether the decision from two levels is correct more often than the decision from the lowest level alone.
    "decision-gains" (rhos: Rhos, others: u64, truth: [i64; 2], sampler: Option<bool>) from |basis| match sampler {
        Some(true) => decision_by_sampler(rhos, *others, truth[1]),
        _ => decision(rhos, *others, *truth, UpperPrior::Uniform),
    } => single(&rhos[0], &half())?.correct_decision(DIGITS)?.below(&part_of(DecisionPart::Correct, basis)?);
    // The probability that the noisy x_2 and y_1 lie in a rectangle, with the true x_1 and x_2.
    "region" (rhos, others, truth, x2, y1) => region(rhos, *others, *truth, *x2, *y1)?;
    // s minus the variance of the discrete Gaussian with variance proxy s.
    "variance-deficit" (s: Rational) => DiscreteGaussian::new(s.clone())?.variance_deficit(DIGITS);
    // Whether post-processing lowers the marginal posterior, for every published count up to `most`; whether it then comes closer to the one before
    // with every published count.
    "postprocessing-lowers" (rho, others, most) => postprocessing_lowers(rho, *others, *most)?;
    "postprocessing-closer" (rho, others, most) => postprocessing_closer(rho, *others, *most)?;
    // The least noisy count at which the adversary with one count decides for the target.
    "threshold" (rho, prior) => Rational::from(single(rho, prior)?.threshold()?);
    // Whether the posterior is above the prior at a noisy count and below it at the count before. The posterior grows with the noisy count, so this
    // determines its side of the prior at every count.
    "prior-between" (rho, priors: Vec<_>, noisy) => prior_between(rho, priors, *noisy)?;
    // Whether the marginal posterior grows with rho, along a grid of rho.
    "marginal-grows" (priors: Vec<_>, from, step, count) => marginal_grows(priors, from, step, *count)?;
    // Whether the decision from two levels is for the target from one noisy count on and against it up to another, as from the lowest level
    // alone, for all outputs in a rectangle.
    "decision-unchanged" (rhos, others, above, below, x2, y1, sampler) =>
        decision_unchanged(&thresholds(rhos, *others, *x2, *y1, *sampler)?, *above, *below)?;
    // Whether the probabilities of a correct decision for several true x2 differ by at most `within`, at each given rho of the level above.
    "decisions-similar" (rho, above: Vec<_>, others, uppers: Vec<_>, within, sampler) =>
        decisions_similar(rho, above, *others, uppers, within, *sampler)?;
    // Whether the decision is correct more often at one true x2 than at each of several others.
    "decision-largest" (rhos, others, x2, than: Vec<_>, sampler) =>
        decision_largest(rhos, *others, *x2, than, *sampler)?;
    // Whether, for all priors, the marginal posterior grows with the number of levels of the settings, or grows most at the second level.
    "levels-gain" (most_at_second: bool) from |basis| levels() => levels_gain(basis, *most_at_second)?;
    // The distance of a printed percentage from the sampler's limit, in standard deviations of independent draws.
    "sampler-deviations" (rhos, others, noisy, x2, printed: Rational, draws: u32) => {
        let share = sampler_limit(rhos, *others, *noisy, Some(*x2))?;
        let one = Enclosure::double(1.0, 100);
        let deviation = share.mul(&one.sub(&share)).div(&Enclosure::double(f64::from(*draws), 100)).sqrt();
        let off = Enclosure::rational(&Rational::from(printed / 100_u32), 100).sub(&share);
        off.max(&off.clone().negate()).div(&deviation)
    };
    "needs-data" (needed: String) => Computed::NeedsData(needed.clone());
}

/// The rho of two levels.
type Rhos = [Rational; 2];

/// The prior of X_2.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum UpperPrior {
    Uniform,
    UpTo(i64),
    Point(i64),
}

/// The requested probability of a decision: that it is correct; that it is when the decision from the lowest level alone is wrong; that it is wrong
/// when that decision is correct; the gain minus the loss.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum DecisionPart {
    Correct,
    Gained,
    Lost,
    Net,
}

plain_inputs!(UpperPrior, DecisionPart);

fn half() -> Rational {
    Rational::from((1, 2))
}

fn single(rho: &Rational, prior: &Rational) -> Result<Attack> {
    Attack::new(prior.clone(), vec![rho.clone()])
}

fn two_levels(rhos: &Rhos, others: u64, upper: UpperPrior) -> Result<Hierarchy> {
    let upper = match upper {
        UpperPrior::Uniform => Upper::Uniform,
        UpperPrior::UpTo(most) => Upper::UpTo(most),
        UpperPrior::Point(point) => Upper::Point(point),
    };
    Hierarchy::new(half(), rhos.to_vec(), vec![others], upper)
}

fn sampler(rhos: &Rhos, others: u64) -> GibbsSampler {
    GibbsSampler { prior: half(), rhos: rhos.clone(), others, constraint: GibbsConstraint::LeftOut }
}

/// The decision from two levels over all outputs: [`part_of`] takes it.
fn decision(rhos: &Rhos, others: u64, truth: [i64; 2], upper: UpperPrior) -> Shared {
    let (key, rhos) = (format!("decision {rhos:?} {others} {truth:?} {upper:?}"), rhos.clone());
    let compute = move || {
        let truth = TrueCounts { x1: truth[0], x2: truth[1] };
        let found = two_levels(&rhos, others, upper)?.correct_decision(truth, DIGITS)?;
        Ok(vec![vec![found.correct, found.gained, found.lost]])
    };
    Shared { key, compute: Box::new(compute) }
}

/// The same by the limit of the sampler.
fn decision_by_sampler(rhos: &Rhos, others: u64, x2: i64) -> Shared {
    let (key, rhos) = (format!("sampler {rhos:?} {others} {x2}"), rhos.clone());
    let compute = move || {
        let found = sampler(&rhos, others).limit_decision(x2, SAMPLER_SHARE)?;
        Ok(vec![vec![found.correct, found.gained, found.lost]])
    };
    Shared { key, compute: Box::new(compute) }
}

fn part_of(part: DecisionPart, basis: &Basis) -> Result<Enclosure> {
    let [correct, gained, lost] = basis.first().map_or(&[][..], Vec::as_slice) else {
        return Err(Error::fault("a decision without its three probabilities"));
    };
    Ok(match part {
        DecisionPart::Correct => correct.clone(),
        DecisionPart::Gained => gained.clone(),
        DecisionPart::Lost => lost.clone(),
        DecisionPart::Net => gained.sub(lost),
    })
}

/// The posterior probability of `X_1 = 1`, or of a value of X_2, given the released x_1, x_2 and y_1.
fn two_levels_posterior(rhos: &Rhos, others: u64, noisy: [i64; 3], x2: Option<i64>) -> Result<Enclosure> {
    let [x1, above, beside] = noisy;
    let posterior = two_levels(rhos, others, UpperPrior::Uniform)?.posterior(&[x1, above], &[beside], DIGITS)?;
    let Some(x2) = x2 else { return Ok(posterior.present) };
    let found = posterior.upper.into_iter().find(|(count, _)| *count == x2);
    let why = || Error::unsuitable(format!("x2 = {x2} has a probability of less than 10^-12"));
    found.map(|(_, share)| share).ok_or_else(why)
}

/// The same for the limit of the sampler.
fn sampler_limit(rhos: &Rhos, others: u64, noisy: [i64; 3], x2: Option<usize>) -> Result<Enclosure> {
    let limit = sampler(rhos, others).limit(noisy, DIGITS)?;
    let Some(x2) = x2 else { return Ok(limit.present) };
    let share = limit.upper.get(x2).cloned();
    share.ok_or_else(|| {
        Error::out_of_range("x2", x2, &format!("0 to {}, the values that the sampler draws", limit.upper.len() - 1))
    })
}

/// The probability that the noisy x_2 and y_1 lie in a rectangle.
fn region(rhos: &Rhos, others: u64, [x1, x2]: [i64; 2], above: [i64; 2], beside: [i64; 2]) -> Result<Enclosure> {
    let upper = MassTable::of_one(&rhos[1], 80)?.between(above[0] - x2, above[1] - x2);
    let y_true = x2 - x1;
    let others = OtherGroups::new(rhos[0].clone(), others, SumLaw::Exact)?.table(80)?;
    Ok(upper.mul(&others.between(beside[0] - y_true, beside[1] - y_true)))
}

/// Whether post-processing lowers the marginal posterior, for every published count.
fn postprocessing_lowers(rho: &Rational, others: u64, most: i64) -> Result<Computed> {
    let before = single(rho, &half())?.marginal(DIGITS)?;
    let attack = Postprocessed::new(half(), rho.clone(), others, 1)?;
    Computed::all_hold((1..=most).map(|published| Ok(attack.marginal(published, 8)?.below(&before))))
}

/// Whether the marginal posterior comes closer to the one before post-processing with every published count.
fn postprocessing_closer(rho: &Rational, others: u64, most: i64) -> Result<Computed> {
    let before = single(rho, &half())?.marginal(DIGITS)?;
    let attack = Postprocessed::new(half(), rho.clone(), others, 1)?;
    let distance = |published| -> Result<Enclosure> {
        let off = attack.marginal(published, DIGITS)?.sub(&before);
        Ok(off.max(&off.clone().negate()))
    };
    let distances = parallel::try_map(&(1..=most).collect::<Vec<i64>>(), |&published| distance(published))?;
    Computed::all_hold(distances.windows(2).map(|pair| Ok(pair[1].below(&pair[0]))))
}

/// Whether the posterior crosses the prior between a noisy count and the one before.
fn prior_between(rho: &Rational, priors: &[Rational], noisy: i64) -> Result<Computed> {
    let parts = priors.iter().flat_map(|prior| [(prior, noisy, true), (prior, noisy - 1, false)]);
    Computed::all_hold(parts.map(|(prior, noisy, is_above)| {
        let posterior = single(rho, prior)?.posterior(&[noisy], DIGITS)?;
        let prior = Enclosure::rational(prior, 100);
        Ok(if is_above { prior.below(&posterior) } else { posterior.below(&prior) })
    }))
}

/// Whether the marginal posterior grows along equidistant rho.
fn marginal_grows(priors: &[Rational], from: &Rational, step: &Rational, count: u32) -> Result<Computed> {
    let mut parts = Vec::new();
    for prior in priors {
        let at = |k: u32| single(&(Rational::from(step * k) + from), prior)?.marginal(8);
        let values = parallel::try_map(&(0..count).collect::<Vec<u32>>(), |&k| at(k))?;
        parts.extend(values.windows(2).map(|pair| Ok(pair[0].below(&pair[1]))));
    }
    Computed::all_hold(parts)
}

/// The least noisy count at which the decision is for the target, for all outputs of a rectangle.
fn thresholds(
    rhos: &Rhos,
    others: u64,
    x2: [i64; 2],
    y1: [i64; 2],
    by_sampler: Option<bool>,
) -> Result<Vec<(i64, i64)>> {
    let outputs = (x2[0]..=x2[1]).flat_map(|x2| (y1[0]..=y1[1]).map(move |y1| NoisyOutput { x2, y1 }));
    let outputs: Vec<NoisyOutput> = outputs.collect();
    match by_sampler {
        Some(true) => sampler(rhos, others).thresholds(&outputs),
        _ => two_levels(rhos, others, UpperPrior::Uniform)?.thresholds(&outputs),
    }
}

/// Whether all thresholds, each a range, are above `below` and at most `above`.
fn decision_unchanged(thresholds: &[(i64, i64)], above: i64, below: i64) -> Result<Computed> {
    Computed::all_hold(thresholds.iter().map(|(low, high)| {
        Ok(match () {
            () if *high <= above && *low > below => Certainty::Yes,
            () if *low > above || *high <= below => Certainty::No,
            () => Certainty::Undecided,
        })
    }))
}

/// The probability of a correct decision at a true x2, by the stated model or by the limit of the sampler.
fn right_at(rhos: &Rhos, others: u64, x2: i64, by_sampler: Option<bool>) -> Result<Enclosure> {
    if by_sampler == Some(true) {
        return Ok(sampler(rhos, others).limit_decision(x2, SAMPLER_SHARE)?.correct);
    }
    let attack = two_levels(rhos, others, UpperPrior::Uniform)?;
    Ok(attack.correct_decision(TrueCounts { x1: 1, x2 }, 6)?.correct)
}

/// Whether the probabilities at any two of the true x2 differ by at most `within`, at each rho of the level above.
fn decisions_similar(
    rho: &Rational,
    above: &[Rational],
    others: u64,
    uppers: &[i64],
    within: &Rational,
    by_sampler: Option<bool>,
) -> Result<Computed> {
    let within = Enclosure::rational(within, 100);
    let mut parts = Vec::new();
    for rho2 in above {
        let rhos = [rho.clone(), rho2.clone()];
        let right = |x2: &i64| right_at(&rhos, others, *x2, by_sampler);
        let values = uppers.iter().map(right).collect::<Result<Vec<Enclosure>>>()?;
        for (k, one) in values.iter().enumerate() {
            for other in &values[..k] {
                let off = one.sub(other);
                parts.push(Ok(off.max(&off.clone().negate()).below(&within)));
            }
        }
    }
    Computed::all_hold(parts)
}

/// Whether the decision is correct more often at one true x2 than at each of several others.
fn decision_largest(rhos: &Rhos, others: u64, x2: i64, than: &[i64], by_sampler: Option<bool>) -> Result<Computed> {
    let own = right_at(rhos, others, x2, by_sampler)?;
    Computed::all_hold(than.iter().map(|other| Ok(right_at(rhos, others, *other, by_sampler)?.below(&own))))
}

/// The marginal posteriors after the first levels of the settings, for each prior.
fn levels() -> Shared {
    let compute = || {
        let settings = settings()?;
        let of_prior = |prior: &Rational| {
            let level = |count: usize| Attack::new(prior.clone(), settings.rhos[..count].to_vec())?.marginal(6);
            parallel::try_map_indices(settings.rhos.len(), |index| level(index + 1))
        };
        settings.priors.iter().map(of_prior).collect()
    };
    Shared { key: "levels".to_string(), compute: Box::new(compute) }
}

/// Whether the marginal posterior grows with each level of the settings, or grows most at the second.
fn levels_gain(levels: &Basis, most_at_second: bool) -> Result<Computed> {
    let mut parts = Vec::new();
    for values in levels {
        let gains: Vec<Enclosure> = values.windows(2).map(|pair| pair[1].sub(&pair[0])).collect();
        let zero = Enclosure::double(0.0, 60);
        match gains.split_first() {
            Some((first, later)) if most_at_second => parts.extend(later.iter().map(|gain| Ok(gain.below(first)))),
            _ => parts.extend(gains.iter().map(|gain| Ok(zero.below(gain)))),
        }
    }
    Computed::all_hold(parts)
}
