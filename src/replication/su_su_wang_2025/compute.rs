//! What only Su, Su & Wang (2025) define, recomputed.

use rayon::prelude::*;
use rug::{Float, Rational};

use super::{
    budget::{RESIDUAL_DIGITS, approximation_of_groups, beyond_six_times, sieved_by, sieved_from},
    claims::SuSuWangClaim,
    rule::first_term,
};
use crate::{
    account::{Account, Composition, Counts, conversions::zcdp_epsilon},
    error::{Error, Result},
    noise::{DiscreteGaussian, published_error::absolute_error},
    numeric::{Certainty, Enclosure, rational::parse},
    release::Release,
    replication::{
        accounts,
        closed_forms::{SumOfCopies, two_fold_total_as_printed},
        residual::{self, Residual, approximation},
        verdict::{Computed, percent_below},
    },
};

/// Bits of the bounds here.
const BITS: u32 = 120;
const DIGITS: u32 = 12;

/// Recomputes a value by the paper's own method.
pub(in crate::replication) fn compute(release: &Release, what: &SuSuWangClaim) -> Result<Computed> {
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
        SuSuWangClaim::EpsilonAtReduction { level, percent, delta } => {
            let factor = Rational::from(1) - parse(percent)? / 100_u32;
            let reduced = accounts::scaled(&release.composition(&[level], None)?, &factor)?;
            reduced.epsilon(&parse(delta)?, DIGITS)?.value
        }
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
            let boole = first_term(release, &parse(epsilon)?, 40)?;
            Enclosure::new(Float::new(BITS), boole.budget()?.truncation)
        }
        SuSuWangClaim::BudgetE3 { epsilon, panels } => {
            let bound = first_term(release, &parse(epsilon)?, *panels)?.budget()?.discretisation;
            Enclosure::new(bound.clone(), bound)
        }
        SuSuWangClaim::Moment { order } => first_term(release, &Rational::from(20), 40)?.moment(*order),
        SuSuWangClaim::SixthDerivative { epsilon } => first_term(release, &parse(epsilon)?, 40)?.sixth_derivative(),
        SuSuWangClaim::SievedFrom { from, level } => return sieved_from(release, parse(from)?, &parse(level)?),
        SuSuWangClaim::SievedBy { level_of, from, to, level } => {
            return sieved_by(release, level_of, &parse(from)?, &parse(to)?, &parse(level)?);
        }
        SuSuWangClaim::TwoSidedTail { sigma2, copies, widths } => two_sided_tail(parse(sigma2)?, *copies, *widths)?,
    };
    Ok(Computed::Value(value))
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

/// By how much the exact epsilon is below the zCDP one, in percent or in nats.
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

/// The noise of a level, and the reduced one.
fn both(release: &Release, level: &str, reduced: &str) -> Result<(DiscreteGaussian, DiscreteGaussian)> {
    let own = release.level(level)?.queries[0].sigma2()?.clone();
    Ok((DiscreteGaussian::new(own)?, DiscreteGaussian::new(parse(reduced)?)?))
}

/// The ratio of the masses at n and 0 by (A.5) as printed, over the true ratio.
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
    let verdicts: Vec<Certainty> = (release.levels.par_iter())
        .map(|level| {
            let composition = release.composition(&[&level.name], None)?;
            let (sigma2, copies) =
                (level.queries[0].sigma2()?.clone(), composition.counts().iter().map(|c| c.count).sum());
            let near = composition.epsilon(delta, DIGITS)?.value.approximate();
            let epsilon = Rational::from_f64(near)
                .ok_or_else(|| Error::out_of_range("epsilon", near, "a level with a finite epsilon at this delta"))?;
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
        })
        .collect::<Result<_>>()?;
    Computed::all_hold(verdicts.into_iter().map(Ok))
}
