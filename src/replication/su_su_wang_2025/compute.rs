//! Values that only Su, Su & Wang (2025) define, recomputed.

use rug::{Float, Rational};

use super::{
    budget::{
        RESIDUAL_DIGITS, approximation_by_residuals, approximation_of_groups, beyond_six_times, sieved_by, sieved_from,
    },
    claims::SuSuWangClaim,
    curves,
    rule::{Sum, groups, threshold},
    simulated,
};
use crate::{
    account::{Account, Composition, Counts, conversions::zcdp_epsilon},
    error::{Error, Result},
    noise::{DiscreteGaussian, published_error::absolute_error},
    numeric::{Certainty, Enclosure, parallel, rational::parse},
    release::Release,
    replication::{
        boole::Boole,
        closed_forms::{SumOfCopies, two_fold_total_as_printed},
        residual::{self, Residual, approximation},
        verdict::{Computed, percent_below},
    },
};

/// Bits of the bounds here.
const BITS: u32 = 120;
const DIGITS: u32 = 12;

/// Recomputes a value by the paper's own method.
pub(in crate::replication) fn compute(sum: &Sum, what: &SuSuWangClaim) -> Result<Computed> {
    let release = sum.release;
    let value = match what {
        SuSuWangClaim::ResidualSupremum { sigma2, copies } => Residual::new(&parse(sigma2)?, *copies, DIGITS)?.supremum,
        SuSuWangClaim::ResidualBound { sigma2, copies } => Residual::new(&parse(sigma2)?, *copies, DIGITS)?.bound(),
        SuSuWangClaim::ResidualOmega { sigma2, copies, index } => {
            omega(Residual::new(&parse(sigma2)?, *copies, DIGITS)?, *index)?
        }
        SuSuWangClaim::ApproximationHolds { delta, as_printed } => {
            return approximation_holds(release, &parse(delta)?, *as_printed);
        }
        SuSuWangClaim::TwoFoldTotal { sigma2 } => two_fold_total_as_printed(&parse(sigma2)?, 30)?,
        SuSuWangClaim::SumExponent { sigma2, copies } => sum_exponent(parse(sigma2)?, *copies)?,
        SuSuWangClaim::SquaredErrorReduction { level, reduced } => {
            let (noise, less) = both(release, level, reduced)?;
            percent_below(&less.variance(DIGITS + 5), &noise.variance(DIGITS + 5))
        }
        SuSuWangClaim::AbsoluteErrorReduction { level, reduced } => {
            let (noise, less) = both(release, level, reduced)?;
            percent_below(&absolute_error(&less, DIGITS + 5), &absolute_error(&noise, DIGITS + 5))
        }
        SuSuWangClaim::NeedsData { needed } => return Ok(Computed::NeedsData(needed.clone())),
        SuSuWangClaim::GainGrows { level, deltas, percent } => {
            let composition = release.composition(&[level], None)?;
            return grows(deltas.iter().map(|delta| gain(&composition, &parse(delta)?, *percent)));
        }
        SuSuWangClaim::GainGrowsWithCounts { sigma2, counts, delta, percent } => {
            return grows(counts.iter().map(|count| {
                let counts = Counts::discrete_gaussian(parse(sigma2)?, *count, 1)?;
                gain(&Composition::new([counts])?, &parse(delta)?, *percent)
            }));
        }
        SuSuWangClaim::BudgetE0 { decimals } => approximation_of_groups(release, *decimals)?,
        SuSuWangClaim::BudgetE1 { epsilon, largest } => {
            beyond_six_times(release, &parse(epsilon)?, *largest == Some(true))?
        }
        SuSuWangClaim::BudgetE2 { epsilon } => {
            let boole = sum.first_term(&parse(epsilon)?, 40)?;
            Enclosure::new(Float::new(BITS), boole.budget()?.truncation)
        }
        SuSuWangClaim::BudgetE3 { epsilon, panels } => {
            let bound = sum.first_term(&parse(epsilon)?, *panels)?.budget()?.discretisation;
            Enclosure::new(bound.clone(), bound)
        }
        SuSuWangClaim::Moment { order } => sum.first_term(&Rational::from(20), 40)?.moment(*order),
        SuSuWangClaim::SixthDerivative { epsilon } => sum.first_term(&parse(epsilon)?, 40)?.sixth_derivative(),
        SuSuWangClaim::SievedFrom { from, level } => return sieved_from(sum, parse(from)?, &parse(level)?),
        SuSuWangClaim::SievedBy { level_of, from, to, level } => {
            return sieved_by(sum, level_of, &parse(from)?, &parse(to)?, &parse(level)?);
        }
        SuSuWangClaim::OwnWithin { from, to } => return curves::own_within(release, (from, to)),
        SuSuWangClaim::ReducedWithin { reduced, from, to } => {
            return curves::reduced_within(release, reduced, (from, to));
        }
        SuSuWangClaim::ReducedBeyond { reduced, from, to } => {
            return curves::reduced_beyond(release, reduced, (from, to));
        }
        SuSuWangClaim::ReducedCrossing { level, reduced, near } => {
            curves::crossing_of_reduced(release, level, reduced, near)?
        }
        SuSuWangClaim::ScaledCrosses { level, percent, from, to } => {
            return curves::scaled_crosses(release, level, percent, (from, to));
        }
        SuSuWangClaim::WholeScaledWithin { percent, from, to } => {
            return curves::whole_scaled_within(release, percent, (from, to));
        }
        SuSuWangClaim::DrawsOfDeviation { level, reduced, printed, absolute } => {
            let (noise, less) = both(release, level, reduced)?;
            simulated::draws_of_deviation([&noise, &less], &parse(printed)?, *absolute)?
        }
        SuSuWangClaim::ResidualPart { sigma2, copies, index } => {
            residual::part_of_omega_2(&parse(sigma2)?, *copies, *index, RESIDUAL_DIGITS)?
        }
        SuSuWangClaim::ResidualIntegral { sigma2, copies } => {
            residual::omega_5(&parse(sigma2)?, *copies, RESIDUAL_DIGITS)?
        }
        SuSuWangClaim::Exponential { x } => Enclosure::rational(&parse(x)?, BITS).exp(),
        SuSuWangClaim::SecondTermLimit { delta, epsilon } => {
            Enclosure::rational(&parse(delta)?, BITS).div(&Enclosure::rational(&parse(epsilon)?, BITS).exp())
        }
        SuSuWangClaim::Reciprocal { x } => Enclosure::rational(&parse(x)?, BITS).recip(),
        SuSuWangClaim::PercentBelow { value, whole } => {
            percent_below(&Enclosure::rational(&parse(value)?, BITS), &Enclosure::rational(&parse(whole)?, BITS))
        }
        SuSuWangClaim::BudgetWindows { decimals } => approximation_by_residuals(release, *decimals)?,
        SuSuWangClaim::BudgetTotal { epsilon, panels, decimals } => {
            let epsilon = parse(epsilon)?;
            let rule = sum.first_term(&epsilon, *panels)?.budget()?;
            let all = approximation_of_groups(release, *decimals)?.add(&beyond_six_times(release, &epsilon, false)?);
            all.add(&end(rule.truncation)).add(&end(rule.discretisation))
        }
        SuSuWangClaim::SumTotal { first, last, panels } => {
            let rule = Boole::new(sum.terms.clone(), (*first, *last), Rational::from((1, 100)), *panels)?.budget()?;
            let all = approximation_of_groups(release, None)?.add(&end(rule.beyond));
            all.add(&end(rule.truncation)).add(&end(rule.discretisation))
        }
        SuSuWangClaim::KernelTerms { epsilon } => {
            Enclosure::rational(&(threshold(release, &parse(epsilon)?, false) * 5_u32), BITS)
        }
        SuSuWangClaim::SixthDerivativeSum { epsilon } => {
            sum.first_term(&parse(epsilon)?, 40)?.sixth_derivative().mul(&Enclosure::pi(BITS))
        }
        SuSuWangClaim::MeasureExcess {} => measure_excess(release)?,
        SuSuWangClaim::Share { group } => Enclosure::rational(&(group_of(release, *group)?.2 * 100_u32), BITS),
        SuSuWangClaim::GroupCopies { group } => {
            let copies = match group {
                Some(group) => group_of(release, *group)?.1,
                None => groups(release)?.iter().map(|group| group.1).sum(),
            };
            Enclosure::rational(&copies.into(), BITS)
        }
        SuSuWangClaim::SharesTotal {} => {
            let total =
                groups(release)?.iter().fold(Rational::new(), |sum, group| sum + Rational::from(&group.2 * group.1));
            Enclosure::rational(&total, BITS)
        }
        SuSuWangClaim::TwoSidedTail { sigma2, copies, widths } => two_sided_tail(parse(sigma2)?, *copies, *widths)?,
    };
    Ok(Computed::Value(value))
}

/// A bound as a number.
fn end(bound: Float) -> Enclosure {
    Enclosure::new(bound.clone(), bound)
}

/// A group of Table 3: its variance proxy, number of counts and share. The paper lists the groups in the order of Table
/// 1.
fn group_of(release: &Release, group: usize) -> Result<(Rational, u64, Rational)> {
    let groups = groups(release)?;
    let expected = format!("one of the groups 1 to {}", groups.len());
    let found = group.checked_sub(1).and_then(|place| groups.get(place)).cloned();
    found.ok_or_else(|| Error::out_of_range("group", group, &expected))
}

/// The largest excess over 1 of a group's measure of all integers. By Poisson summation it is twice the sum over k >= 1
/// of exp(-2 pi^2 n sigma2 k^2), whose later terms are at most the first times its geometric series.
fn measure_excess(release: &Release) -> Result<Enclosure> {
    let two_pi_squared = Enclosure::pi(BITS).mul(&Enclosure::pi(BITS)).mul(&Enclosure::double(-2.0, BITS));
    let (one, two) = (Enclosure::double(1.0, BITS), Enclosure::double(2.0, BITS));
    let excess = |(sigma2, copies, _): &(Rational, u64, Rational)| {
        let first = two_pi_squared.mul(&Enclosure::rational(&Rational::from(sigma2 * *copies), BITS)).exp();
        let least = first.mul(&two);
        least.hull(&least.div(&one.sub(&first)))
    };
    let all = groups(release)?.iter().map(excess).reduce(|most, one| most.max(&one));
    all.ok_or_else(|| Error::missing("the release has no group of counts"))
}

/// One of the three parts of Appendix C's bound.
fn omega(residual: Residual, index: u8) -> Result<Enclosure> {
    match index {
        1 => Ok(residual.omega_1),
        2 => Ok(residual.omega_2),
        3 => Ok(residual.omega_3),
        _ => Err(Error::out_of_range("index", index, "1, 2 or 3")),
    }
}

/// The difference between the zCDP epsilon and the exact one, in percent or in nats.
fn gain(composition: &Composition, delta: &Rational, percent: bool) -> Result<Enclosure> {
    let epsilon = composition.epsilon(delta, DIGITS)?.value;
    let bound = zcdp_epsilon(composition.rho(), &delta.try_into()?, DIGITS);
    Ok(if percent { percent_below(&epsilon, &bound) } else { bound.sub(&epsilon) })
}

/// Whether each number is below the next.
fn grows(values: impl Iterator<Item = Result<Enclosure>>) -> Result<Computed> {
    let values: Vec<Enclosure> = values.collect::<Result<_>>()?;
    Computed::all_hold(values.windows(2).map(|pair| Ok(pair[0].below(&pair[1]))))
}

/// The noise of a level, and the reduced noise.
fn both(release: &Release, level: &str, reduced: &str) -> Result<(DiscreteGaussian, DiscreteGaussian)> {
    let own = release.level(level)?.queries[0].sigma2()?.clone();
    Ok((DiscreteGaussian::new(own)?, DiscreteGaussian::new(parse(reduced)?)?))
}

/// The ratio of the masses at n and 0 by (A.5) as printed, divided by the true ratio.
fn sum_exponent(sigma2: Rational, copies: u64) -> Result<Enclosure> {
    let n = copies as i64;
    let sum = SumOfCopies::new(sigma2.clone(), copies, 30)?;
    let printed = Enclosure::rational(&(-Rational::from(n * n) / (sigma2 * 2_u32)), BITS).exp();
    Ok(printed.div(&sum.mass(n).div(&sum.mass(0))))
}

/// `P[|S| > w B]` = 2 `P[S > w B]` of the sum of copies.
fn two_sided_tail(sigma2: Rational, copies: u64, widths: u32) -> Result<Enclosure> {
    let sum = SumOfCopies::new(sigma2.clone(), copies, 20)?;
    let square = sigma2 * copies * Rational::from(widths).square();
    let reach = square.floor().into_numer_denom().0.sqrt();
    let expected = "a multiple of the standard deviation within 2^63";
    let reach = reach.to_i64().ok_or_else(|| Error::out_of_range("widths", widths, expected))?;
    Ok(sum.above(reach).mul(&Enclosure::double(2.0, BITS)))
}

/// Whether (A.8) holds: |delta - approximation| <= the error, at every level, at the epsilon of the given delta.
fn approximation_holds(release: &Release, delta: &Rational, as_printed: bool) -> Result<Computed> {
    let verdicts = parallel::try_map(&release.levels, |level| {
        let composition = release.composition(&[&level.name], None)?;
        let (sigma2, copies) = (level.queries[0].sigma2()?.clone(), composition.counts().iter().map(|c| c.count).sum());
        let near = composition.epsilon(delta, DIGITS)?.value.approximate();
        let epsilon = Rational::from_f64(near).ok_or_else(|| {
            Error::unsuitable(format!("the level {} has no finite epsilon at this delta", level.name))
        })?;
        let bound = residual::bound(&sigma2, copies, RESIDUAL_DIGITS)?;
        let by_a8 = approximation(&sigma2, copies, &epsilon, &bound)?;
        let value = if as_printed { &by_a8.value_as_printed } else { &by_a8.value };
        let truth = composition.delta(&epsilon, 90)?.value;
        let difference = truth.sub(value);
        let size = difference.max(&difference.clone().negate());
        Ok(match (size.upper() <= by_a8.error.lower(), size.lower() > by_a8.error.upper()) {
            (true, _) => Certainty::Yes,
            (_, true) => Certainty::No,
            _ => Certainty::Undecided,
        })
    })?;
    Computed::all_hold(verdicts.into_iter().map(Ok))
}
