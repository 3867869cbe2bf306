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
    numeric::{Enclosure, rational::parse},
    replication::{
        gibbs::{GibbsConstraint, GibbsSampler},
        verdict::Computed,
    },
    risk::{
        decision::{Decision, TrueCounts},
        hierarchical::{Hierarchy, Upper},
        others::{MassTable, OtherGroups, SumLaw},
        postprocess::Postprocessed,
        single::Attack,
    },
};

const DIGITS: u32 = 10;
/// The sampler's limit over all outputs is enclosed to about 2^-15.
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
        RiskClaim::TwoLevels { rhos, others, noisy, x2 } => two_levels_posterior(rhos, *others, *noisy, *x2)?,
        RiskClaim::SamplerLimit { rhos, others, noisy, x2 } => sampler_limit(rhos, *others, *noisy, *x2)?,
        RiskClaim::Decision { rhos, others, truth: [x1, x2], upper, part } => {
            let attack = two_levels(rhos, *others, *upper)?;
            let Decision { correct, gained, lost, .. } =
                attack.correct_decision(TrueCounts { x1: *x1, x2: *x2 }, DIGITS)?;
            part_of(*part, correct, gained, lost)
        }
        RiskClaim::SamplerDecision { rhos, others, x2, part } => {
            let decision = sampler(rhos, *others)?.limit_decision(*x2, SAMPLER_SHARE)?;
            part_of(*part, decision.correct, decision.gained, decision.lost)
        }
        RiskClaim::DecisionGains { rhos, others, truth } => return decision_gains(rhos, *others, *truth),
        RiskClaim::Region { rhos, others, truth, x2, y1 } => region(rhos, *others, *truth, *x2, *y1)?,
        RiskClaim::VarianceDeficit { s } => DiscreteGaussian::new(parse(s)?)?.variance_deficit(DIGITS),
        RiskClaim::PostprocessingLowers { rho, others, most } => return postprocessing_lowers(rho, *others, *most),
    };
    Ok(Computed::Value(value))
}

/// The posterior probability of `X_1 = 1`, or of a value of X_2, after x_1, x_2 and y_1 as released.
fn two_levels_posterior(rhos: &[String; 2], others: u64, noisy: [i64; 3], x2: Option<i64>) -> Result<Enclosure> {
    let [x1, above, beside] = noisy;
    let posterior = two_levels(rhos, others, UpperPrior::Uniform)?.posterior(&[x1, above], &[beside], DIGITS)?;
    let Some(x2) = x2 else { return Ok(posterior.present) };
    let found = posterior.upper.into_iter().find(|(count, _)| *count == x2);
    let expected = "a value of X2 with a probability above 10^-12";
    found.map(|(_, share)| share).ok_or_else(|| Error::out_of_range("x2", x2, expected))
}

/// The same in the limit of the sampler.
fn sampler_limit(rhos: &[String; 2], others: u64, noisy: [i64; 3], x2: Option<usize>) -> Result<Enclosure> {
    let limit = sampler(rhos, others)?.limit(noisy, DIGITS)?;
    let Some(x2) = x2 else { return Ok(limit.present) };
    let share = limit.upper.get(x2).cloned();
    share.ok_or_else(|| Error::out_of_range("x2", x2, "a value that the sampler draws"))
}

/// Whether the decision with two levels is right more often than with the lowest alone.
fn decision_gains(rhos: &[String; 2], others: u64, [x1, x2]: [i64; 2]) -> Result<Computed> {
    let attack = two_levels(rhos, others, UpperPrior::Uniform)?;
    let with = attack.correct_decision(TrueCounts { x1, x2 }, DIGITS)?.correct;
    let without = single(&rhos[0], "1/2")?.correct_decision(DIGITS)?;
    Ok(Computed::Statement(without.below(&with)))
}

/// The probability that the noisy x_2 and y_1 lie in a rectangle.
fn region(rhos: &[String; 2], others: u64, [x1, x2]: [i64; 2], above: [i64; 2], beside: [i64; 2]) -> Result<Enclosure> {
    let [rho1, rho2] = [parse(&rhos[0])?, parse(&rhos[1])?];
    let upper = MassTable::of_one(&rho2, 80)?.between(above[0] - x2, above[1] - x2);
    let y_true = x2 - x1;
    let others = OtherGroups::new(rho1, others, SumLaw::Exact)?.table(80)?;
    Ok(upper.mul(&others.between(beside[0] - y_true, beside[1] - y_true)))
}

/// Whether the marginal posterior after post-processing is below the one before, for every published count.
fn postprocessing_lowers(rho: &str, others: u64, most: i64) -> Result<Computed> {
    let before = single(rho, "1/2")?.marginal(DIGITS)?;
    let attack = Postprocessed::new(half(), parse(rho)?, others, 1)?;
    Computed::all_hold((1..=most).map(|published| Ok(attack.marginal(published, 8)?.below(&before))))
}
