//! Values about disclosure risk, recomputed.

use rug::Rational;

use super::{
    claims::{DecisionPart, RiskClaim, UpperPrior},
    settings::settings,
};
use crate::{
    account::conversions,
    error::{Error, Result},
    noise::DiscreteGaussian,
    numeric::{Certainty, Enclosure, parallel, rational::parse},
    replication::{
        gibbs::{GibbsConstraint, GibbsSampler, LimitDecision},
        verdict::Computed,
    },
    risk::{
        decision::{Decision, NoisyOutput, TrueCounts},
        hierarchical::{Hierarchy, Upper},
        others::{MassTable, OtherGroups, SumLaw},
        postprocess::Postprocessed,
        single::Attack,
    },
};

const DIGITS: u32 = 10;
/// The sampler's limit over all outputs is enclosed to an absolute width of about 2^-15.
const SAMPLER_SHARE: u32 = 15;

fn half() -> Rational {
    Rational::from((1, 2))
}

fn pair(rhos: &[String; 2]) -> Result<Vec<Rational>> {
    rhos.iter().map(|rho| parse(rho)).collect()
}

fn single(rho: &str, prior: &str) -> Result<Attack> {
    Attack::new(parse(prior)?, vec![parse(rho)?])
}

fn two_levels(rhos: &[String; 2], others: u64, upper: UpperPrior) -> Result<Hierarchy> {
    let upper = match upper {
        UpperPrior::Uniform => Upper::Uniform,
        UpperPrior::UpTo(most) => Upper::UpTo(most),
        UpperPrior::Point(point) => Upper::Point(point),
    };
    Hierarchy::new(half(), pair(rhos)?, vec![others], upper)
}

fn sampler(rhos: &[String; 2], others: u64) -> Result<GibbsSampler> {
    let rhos = [parse(&rhos[0])?, parse(&rhos[1])?];
    Ok(GibbsSampler { prior: half(), rhos, others, constraint: GibbsConstraint::LeftOut })
}

/// A basis from which several values are computed.
#[derive(Clone, Debug)]
pub(in crate::replication) enum Basis {
    /// The decision from two levels over all outputs.
    Decision(Decision),
    /// The same by the limit of the sampler.
    Sampler(LimitDecision),
    /// For each prior of the settings, the marginal posteriors after one level, after two, and so on.
    Levels(Vec<Vec<Enclosure>>),
}

/// The name of the basis of a value, if other values share it.
pub(in crate::replication) fn basis_of(what: &RiskClaim) -> Option<String> {
    let decision = |rhos, others, truth, upper| Some(format!("decision {rhos:?} {others} {truth:?} {upper:?}"));
    match what {
        RiskClaim::Decision { rhos, others, truth, upper, .. } => decision(rhos, others, truth, *upper),
        RiskClaim::DecisionGains { rhos, others, truth, sampler: Some(true) } => {
            Some(format!("sampler {rhos:?} {others} {}", truth[1]))
        }
        RiskClaim::DecisionGains { rhos, others, truth, .. } => decision(rhos, others, truth, UpperPrior::Uniform),
        RiskClaim::SamplerDecision { rhos, others, x2, .. } => Some(format!("sampler {rhos:?} {others} {x2}")),
        RiskClaim::LevelsGain { .. } => Some("levels".to_string()),
        _ => None,
    }
}

/// The basis of a value, if [`basis_of`] names one.
pub(in crate::replication) fn basis(what: &RiskClaim) -> Result<Basis> {
    let decision = |rhos, others, [x1, x2]: [i64; 2], upper| -> Result<Basis> {
        Ok(Basis::Decision(two_levels(rhos, others, upper)?.correct_decision(TrueCounts { x1, x2 }, DIGITS)?))
    };
    match what {
        RiskClaim::Decision { rhos, others, truth, upper, .. } => decision(rhos, *others, *truth, *upper),
        RiskClaim::DecisionGains { rhos, others, truth, sampler: Some(true) } => {
            Ok(Basis::Sampler(sampler(rhos, *others)?.limit_decision(truth[1], SAMPLER_SHARE)?))
        }
        RiskClaim::DecisionGains { rhos, others, truth, .. } => decision(rhos, *others, *truth, UpperPrior::Uniform),
        RiskClaim::SamplerDecision { rhos, others, x2, .. } => {
            Ok(Basis::Sampler(sampler(rhos, *others)?.limit_decision(*x2, SAMPLER_SHARE)?))
        }
        RiskClaim::LevelsGain { .. } => levels(),
        other => Err(Error::fault(format!(
            "{other:?} was computed in common with other values, and only decisions and levels are"
        ))),
    }
}

/// A value from its basis.
pub(in crate::replication) fn by_basis(what: &RiskClaim, basis: &Basis) -> Result<Computed> {
    match (what, basis) {
        (RiskClaim::Decision { part, .. }, Basis::Decision(Decision { correct, gained, lost, .. })) => {
            Ok(Computed::Value(part_of(*part, correct.clone(), gained.clone(), lost.clone())))
        }
        (RiskClaim::SamplerDecision { part, .. }, Basis::Sampler(LimitDecision { correct, gained, lost })) => {
            Ok(Computed::Value(part_of(*part, correct.clone(), gained.clone(), lost.clone())))
        }
        (
            RiskClaim::DecisionGains { rhos, .. },
            Basis::Decision(Decision { correct, .. }) | Basis::Sampler(LimitDecision { correct, .. }),
        ) => {
            let without = single(&rhos[0], "1/2")?.correct_decision(DIGITS)?;
            Ok(Computed::Statement(without.below(correct)))
        }
        (RiskClaim::LevelsGain { most_at_second }, Basis::Levels(levels)) => levels_gain(levels, *most_at_second),
        (other, _) => compute(other),
    }
}

fn part_of(part: DecisionPart, correct: Enclosure, gained: Enclosure, lost: Enclosure) -> Enclosure {
    match part {
        DecisionPart::Correct => correct,
        DecisionPart::Gained => gained,
        DecisionPart::Lost => lost,
        DecisionPart::Net => gained.sub(&lost),
    }
}

/// Recomputes a value.
pub(in crate::replication) fn compute(what: &RiskClaim) -> Result<Computed> {
    let exact = |value: &Rational| Enclosure::rational(value, 100);
    let value = match what {
        RiskClaim::QueryRho { total, level, query } => exact(&(parse(total)? * parse(level)? * parse(query)?)),
        RiskClaim::ZcdpEpsilon { rho, delta } => conversions::zcdp_epsilon(&rho.parse()?, &delta.parse()?, DIGITS),
        RiskClaim::Cells { values } => exact(&values.iter().fold(Rational::from(1), |product, count| product * count)),
        RiskClaim::HistogramTotal {} => {
            let total: u64 = settings()?.histogram.iter().map(|cell| cell.count).sum();
            exact(&Rational::from(total))
        }
        RiskClaim::Output { rho, noisy, present } => single(rho, "1/2")?.probability(&[*noisy], *present, DIGITS)?,
        RiskClaim::Posterior { rho, prior, noisy } => single(rho, prior)?.posterior(&[*noisy], DIGITS)?,
        RiskClaim::Ratio { rho, prior, noisy } => single(rho, prior)?.risk(&[*noisy], DIGITS)?,
        RiskClaim::Marginal { rho, prior } => single(rho, prior)?.marginal(DIGITS)?,
        RiskClaim::MarginalRatio { rho, prior } => {
            let attack = single(rho, prior)?;
            attack.per_prior(&attack.marginal(DIGITS)?)
        }
        RiskClaim::Correct { rho, prior } => single(rho, prior)?.correct_decision(DIGITS)?,
        RiskClaim::TwoLevels { rhos, others, noisy, x2, absent } => {
            let present = two_levels_posterior(rhos, *others, *noisy, *x2)?;
            if *absent == Some(true) { Enclosure::double(1.0, 100).sub(&present) } else { present }
        }
        RiskClaim::SamplerLimit { rhos, others, noisy, x2 } => sampler_limit(rhos, *others, *noisy, *x2)?,
        RiskClaim::Decision { .. }
        | RiskClaim::SamplerDecision { .. }
        | RiskClaim::DecisionGains { .. }
        | RiskClaim::LevelsGain { .. } => {
            return by_basis(what, &basis(what)?);
        }
        RiskClaim::Region { rhos, others, truth, x2, y1 } => region(rhos, *others, *truth, *x2, *y1)?,
        RiskClaim::VarianceDeficit { s } => DiscreteGaussian::new(parse(s)?)?.variance_deficit(DIGITS),
        RiskClaim::PostprocessingLowers { rho, others, most } => return postprocessing_lowers(rho, *others, *most),
        RiskClaim::PostprocessingCloser { rho, others, most } => return postprocessing_closer(rho, *others, *most),
        RiskClaim::Threshold { rho, prior } => exact(&single(rho, prior)?.threshold()?.into()),
        RiskClaim::PriorBetween { rho, priors, noisy } => return prior_between(rho, priors, *noisy),
        RiskClaim::MarginalGrows { priors, from, step, count } => return marginal_grows(priors, from, step, *count),
        RiskClaim::DecisionUnchanged { rhos, others, above, below, x2, y1, sampler: by_sampler } => {
            let outputs = (x2[0]..=x2[1]).flat_map(|x2| (y1[0]..=y1[1]).map(move |y1| NoisyOutput { x2, y1 }));
            let outputs: Vec<NoisyOutput> = outputs.collect();
            let thresholds = match by_sampler {
                Some(true) => sampler(rhos, *others)?.thresholds(&outputs)?,
                _ => two_levels(rhos, *others, UpperPrior::Uniform)?.thresholds(&outputs)?,
            };
            return decision_unchanged(&thresholds, *above, *below);
        }
        RiskClaim::DecisionsSimilar { rho, above, others, uppers, within, sampler } => {
            return decisions_similar(rho, above, *others, uppers, &parse(within)?, *sampler == Some(true));
        }
        RiskClaim::DecisionLargest { rhos, others, x2, than, sampler } => {
            return decision_largest(rhos, *others, *x2, than, *sampler == Some(true));
        }
        RiskClaim::SamplerDeviations { rhos, others, noisy, x2, printed, draws } => {
            let share = sampler_limit(rhos, *others, *noisy, Some(*x2))?;
            let one = Enclosure::double(1.0, 100);
            let deviation = share.mul(&one.sub(&share)).div(&Enclosure::double(f64::from(*draws), 100)).sqrt();
            let off = exact(&(parse(printed)? / 100_u32)).sub(&share);
            off.max(&off.clone().negate()).div(&deviation)
        }
        RiskClaim::NeedsData { needed } => return Ok(Computed::NeedsData(needed.clone())),
    };
    Ok(Computed::Value(value))
}

/// The posterior probability of `X_1 = 1`, or of a value of X_2, given the released x_1, x_2 and y_1.
fn two_levels_posterior(rhos: &[String; 2], others: u64, noisy: [i64; 3], x2: Option<i64>) -> Result<Enclosure> {
    let [x1, above, beside] = noisy;
    let posterior = two_levels(rhos, others, UpperPrior::Uniform)?.posterior(&[x1, above], &[beside], DIGITS)?;
    let Some(x2) = x2 else { return Ok(posterior.present) };
    let found = posterior.upper.into_iter().find(|(count, _)| *count == x2);
    let why = || Error::unsuitable(format!("x2 = {x2} has a probability of less than 10^-12"));
    found.map(|(_, share)| share).ok_or_else(why)
}

/// The same for the limit of the sampler.
fn sampler_limit(rhos: &[String; 2], others: u64, noisy: [i64; 3], x2: Option<usize>) -> Result<Enclosure> {
    let limit = sampler(rhos, others)?.limit(noisy, DIGITS)?;
    let Some(x2) = x2 else { return Ok(limit.present) };
    let share = limit.upper.get(x2).cloned();
    share.ok_or_else(|| {
        Error::out_of_range("x2", x2, &format!("0 to {}, the values that the sampler draws", limit.upper.len() - 1))
    })
}

/// The probability that the noisy x_2 and y_1 lie in a rectangle.
fn region(rhos: &[String; 2], others: u64, [x1, x2]: [i64; 2], above: [i64; 2], beside: [i64; 2]) -> Result<Enclosure> {
    let [rho1, rho2] = [parse(&rhos[0])?, parse(&rhos[1])?];
    let upper = MassTable::of_one(&rho2, 80)?.between(above[0] - x2, above[1] - x2);
    let y_true = x2 - x1;
    let others = OtherGroups::new(rho1, others, SumLaw::Exact)?.table(80)?;
    Ok(upper.mul(&others.between(beside[0] - y_true, beside[1] - y_true)))
}

/// Whether post-processing lowers the marginal posterior, for every published count.
fn postprocessing_lowers(rho: &str, others: u64, most: i64) -> Result<Computed> {
    let before = single(rho, "1/2")?.marginal(DIGITS)?;
    let attack = Postprocessed::new(half(), parse(rho)?, others, 1)?;
    Computed::all_hold((1..=most).map(|published| Ok(attack.marginal(published, 8)?.below(&before))))
}

/// Whether the marginal posterior comes closer to the one before post-processing with every published count.
fn postprocessing_closer(rho: &str, others: u64, most: i64) -> Result<Computed> {
    let before = single(rho, "1/2")?.marginal(DIGITS)?;
    let attack = Postprocessed::new(half(), parse(rho)?, others, 1)?;
    let distance = |published| -> Result<Enclosure> {
        let off = attack.marginal(published, DIGITS)?.sub(&before);
        Ok(off.max(&off.clone().negate()))
    };
    let distances = parallel::try_map(&(1..=most).collect::<Vec<i64>>(), |&published| distance(published))?;
    Computed::all_hold(distances.windows(2).map(|pair| Ok(pair[1].below(&pair[0]))))
}

/// Whether the posterior crosses the prior between a noisy count and the one before.
fn prior_between(rho: &str, priors: &[String], noisy: i64) -> Result<Computed> {
    let parts = priors.iter().flat_map(|prior| [(prior, noisy, true), (prior, noisy - 1, false)]);
    Computed::all_hold(parts.map(|(prior, noisy, is_above)| {
        let (prior, posterior) = (parse(prior)?, single(rho, prior)?.posterior(&[noisy], DIGITS)?);
        let prior = Enclosure::rational(&prior, 100);
        Ok(if is_above { prior.below(&posterior) } else { posterior.below(&prior) })
    }))
}

/// Whether the marginal posterior grows along equidistant rho.
fn marginal_grows(priors: &[String], from: &str, step: &str, count: u32) -> Result<Computed> {
    let (from, step) = (parse(from)?, parse(step)?);
    let mut parts = Vec::new();
    for prior in priors {
        let at = |k: u32| -> Result<Enclosure> {
            Attack::new(parse(prior)?, vec![Rational::from(&step * k) + &from])?.marginal(8)
        };
        let values = parallel::try_map(&(0..count).collect::<Vec<u32>>(), |&k| at(k))?;
        parts.extend(values.windows(2).map(|pair| Ok(pair[0].below(&pair[1]))));
    }
    Computed::all_hold(parts)
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
fn right_at(rhos: &[String; 2], others: u64, x2: i64, by_sampler: bool) -> Result<Enclosure> {
    if by_sampler {
        return Ok(sampler(rhos, others)?.limit_decision(x2, SAMPLER_SHARE)?.correct);
    }
    let attack = two_levels(rhos, others, UpperPrior::Uniform)?;
    Ok(attack.correct_decision(TrueCounts { x1: 1, x2 }, 6)?.correct)
}

/// Whether the probabilities at any two of the true x2 differ by at most `within`, at each rho of the level above.
fn decisions_similar(
    rho: &str,
    above: &[String],
    others: u64,
    uppers: &[i64],
    within: &Rational,
    by_sampler: bool,
) -> Result<Computed> {
    let within = Enclosure::rational(within, 100);
    let mut parts = Vec::new();
    for rho2 in above {
        let rhos = [rho.to_string(), rho2.clone()];
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
fn decision_largest(rhos: &[String; 2], others: u64, x2: i64, than: &[i64], by_sampler: bool) -> Result<Computed> {
    let own = right_at(rhos, others, x2, by_sampler)?;
    Computed::all_hold(than.iter().map(|other| Ok(right_at(rhos, others, *other, by_sampler)?.below(&own))))
}

/// The marginal posteriors after the first levels of the settings, for each prior.
fn levels() -> Result<Basis> {
    let settings = settings()?.curves()?;
    let of_prior = |prior: &Rational| {
        let level = |count: usize| Attack::new(prior.clone(), settings.rhos[..count].to_vec())?.marginal(6);
        parallel::try_map_indices(settings.rhos.len(), |index| level(index + 1))
    };
    Ok(Basis::Levels(settings.priors.iter().map(of_prior).collect::<Result<_>>()?))
}

/// Whether the marginal posterior grows with each level of the settings, or grows most at the second.
fn levels_gain(levels: &[Vec<Enclosure>], most_at_second: bool) -> Result<Computed> {
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
