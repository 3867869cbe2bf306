//! What only Su, Su & Wang (2025) compute: the residual of Theorem A.11, the error budget of Section A.6, and the
//! statements of their appendices.

use rayon::prelude::*;
use rug::{Integer, Rational, ops::Pow};

use super::{
    boole::{Boole, Term},
    closed_forms::{SumOfCopies, two_fold_total_as_printed},
    published::OwnMethod,
    residual::{self, Residual, approximation, density},
    verify::Computed,
};
use crate::{
    account::{Composition, Counts, conversions::zcdp_epsilon},
    error::{Error, Result},
    noise::{DiscreteGaussian, published_error::absolute_error},
    numeric::{
        Certainty, Enclosure,
        rational::{self, parse},
    },
    release::Release,
};

/// Bits of the bounds here.
const BITS: u32 = 120;
const DIGITS: u32 = 12;
/// Residuals enter error budgets to so many decimal places.
const RESIDUAL_DIGITS: u32 = 130;

/// Recomputes a row by the paper's own method.
pub(crate) fn compute(release: &Release, what: &OwnMethod) -> Result<Computed> {
    let value = match what {
        OwnMethod::ResidualSupremum { sigma2, copies } => Residual::new(&parse(sigma2)?, *copies, DIGITS)?.supremum,
        OwnMethod::ResidualBound { sigma2, copies } => Residual::new(&parse(sigma2)?, *copies, DIGITS)?.bound(),
        OwnMethod::ResidualOmega { sigma2, copies, index } => {
            let residual = Residual::new(&parse(sigma2)?, *copies, DIGITS)?;
            match index {
                1 => residual.omega_1,
                2 => residual.omega_2,
                _ => residual.omega_3,
            }
        }
        OwnMethod::ApproximationHolds { delta, as_printed } => {
            return approximation_holds(release, &parse(delta)?, *as_printed);
        }
        OwnMethod::TwoFoldTotal { sigma2 } => two_fold_total_as_printed(&parse(sigma2)?, 30)?,
        OwnMethod::SumExponent { sigma2, copies } => {
            let (sigma2, n) = (parse(sigma2)?, *copies as i64);
            let sum = SumOfCopies::new(sigma2.clone(), *copies, 30)?;
            let printed = Enclosure::rational(&(-Rational::from(n * n) / (sigma2 * 2_u32)), BITS).exp();
            printed.div(&sum.mass(n).div(&sum.mass(0)))
        }
        OwnMethod::SquaredErrorReduction { level, reduced } => {
            let (noise, less) = both(release, level, reduced)?;
            percent_below(&less.variance(DIGITS + 5), &noise.variance(DIGITS + 5))
        }
        OwnMethod::AbsoluteErrorReduction { level, reduced } => {
            let (noise, less) = both(release, level, reduced)?;
            percent_below(&absolute_error(&less, DIGITS + 5), &absolute_error(&noise, DIGITS + 5))
        }
        OwnMethod::NeedsData { needed } => return Ok(Computed::NeedsData(needed.clone())),
        OwnMethod::EpsilonAtReduction { level, percent, delta } => {
            let factor = Rational::from(1) - parse(percent)? / 100_u32;
            let counts: Result<Vec<Counts>> = (release.composition(&[level], None)?.counts().iter())
                .map(|counts| counts.with_noise_times(&factor))
                .collect();
            Composition::new(counts?)?.epsilon(&parse(delta)?, DIGITS)?.value
        }
        OwnMethod::GainGrows { level, deltas, percent } => {
            let composition = release.composition(&[level], None)?;
            let gains = deltas.iter().map(|delta| gain(&composition, &parse(delta)?, *percent));
            return Ok(grows(&gains.collect::<Result<Vec<_>>>()?));
        }
        OwnMethod::GainGrowsWithCounts { sigma2, counts, delta, percent } => {
            let gains = counts.iter().map(|count| {
                let counts = Counts::discrete_gaussian(parse(sigma2)?, *count, 1)?;
                gain(&Composition::new([counts])?, &parse(delta)?, *percent)
            });
            return Ok(grows(&gains.collect::<Result<Vec<_>>>()?));
        }
        OwnMethod::BudgetE0 { decimals } => approximation_of_groups(release, *decimals)?,
        OwnMethod::BudgetE1 { epsilon, largest } => {
            let parts = beyond_six_times(release, &parse(epsilon)?)?;
            let nought = Enclosure::double(0.0, BITS);
            parts.iter().fold(nought, |sum, part| if *largest == Some(true) { sum.max(part) } else { sum.add(part) })
        }
        OwnMethod::BudgetE2 { epsilon } => {
            let boole = first_term(release, &parse(epsilon)?, 40)?;
            Enclosure::new(rug::Float::new(BITS), boole.budget()?.truncation)
        }
        OwnMethod::BudgetE3 { epsilon, panels } => {
            let bound = first_term(release, &parse(epsilon)?, *panels)?.budget()?.discretisation;
            Enclosure::new(bound.clone(), bound)
        }
        OwnMethod::Moment { order } => first_term(release, &Rational::from(20), 40)?.moment(*order),
        OwnMethod::SixthDerivative { epsilon } => first_term(release, &parse(epsilon)?, 40)?.sixth_derivative(),
        OwnMethod::SievedFrom { from, level } => {
            let mut boole = first_term(release, &Rational::from(20), 40)?;
            boole = boole.with_reach(parse(from)?)?;
            let left = boole.sieve(&parse(level)?);
            let nothing = left.last().is_some_and(|sieved| sieved.left.is_empty());
            return Ok(Computed::Statement(if nothing { Certainty::Yes } else { Certainty::Undecided }));
        }
        OwnMethod::SievedBy { level_of, from, to, level } => {
            return sieved_by(release, level_of, &parse(from)?, &parse(to)?, &parse(level)?);
        }
        OwnMethod::TwoSidedTail { sigma2, copies, widths } => {
            // P[|S| > w B] = 2 P[S > w B]
            let (sigma2, sum) = (parse(sigma2)?, SumOfCopies::new(parse(sigma2)?, *copies, 20)?);
            let square = Rational::from(&sigma2 * *copies) * Rational::from(*widths).square();
            let reach = square.floor().into_numer_denom().0.sqrt();
            sum.above(reach.to_i64().unwrap_or(0)).mul(&Enclosure::double(2.0, BITS))
        }
    };
    Ok(Computed::Value(value))
}

fn percent_below(value: &Enclosure, whole: &Enclosure) -> Enclosure {
    Enclosure::double(1.0, BITS).sub(&value.div(whole)).mul(&Enclosure::double(100.0, BITS))
}

/// By how much the exact epsilon is below that of zCDP.
fn gain(composition: &Composition, delta: &Rational, percent: bool) -> Result<Enclosure> {
    let epsilon = composition.epsilon(delta, DIGITS)?.value;
    let bound = zcdp_epsilon(composition.rho(), delta, DIGITS);
    Ok(if percent { percent_below(&epsilon, &bound) } else { bound.sub(&epsilon) })
}

/// Whether each number is below the next.
fn grows(values: &[Enclosure]) -> Computed {
    let steps: Vec<Certainty> = values.windows(2).map(|pair| pair[0].below(&pair[1])).collect();
    Computed::Statement(if steps.contains(&Certainty::No) {
        Certainty::No
    } else if steps.contains(&Certainty::Undecided) {
        Certainty::Undecided
    } else {
        Certainty::Yes
    })
}

/// The noise of a level, and the reduced one.
fn both(release: &Release, level: &str, reduced: &str) -> Result<(DiscreteGaussian, DiscreteGaussian)> {
    let own = release.level(level)?.queries[0].sigma2.clone();
    Ok((DiscreteGaussian::new(own)?, DiscreteGaussian::new(parse(reduced)?)?))
}

/// The groups of the paper's sum: sigma2 of one count, the number of counts, and the share of the budget; levels of
/// equal shares are one group, as in Table 3.
pub(crate) fn groups(release: &Release) -> Result<Vec<(Rational, u64, Rational)>> {
    let total = release.rho.clone();
    let mut groups: Vec<(Rational, u64, Rational)> = Vec::new();
    for level in &release.levels {
        let count: u64 = level.queries.iter().map(|query| query.times * query.cells).sum();
        let sigma2 = level.queries[0].sigma2.clone();
        match groups.iter_mut().find(|group| group.0 == sigma2) {
            Some(group) => group.1 += count,
            None => groups.push((sigma2, count, Rational::from(&level.rho / &total))),
        }
    }
    Ok(groups)
}

/// The paper's L, by which the shares become integers.
const L: u32 = 1000;

/// The terms a_i L of the paper's sum.
fn terms(release: &Release) -> Result<Vec<Term>> {
    (groups(release)?.into_par_iter())
        .map(|(sigma2, copies, share)| {
            let weight = Rational::from(&share * L);
            let weight = (weight.denom() == &1).then(|| weight.numer().to_u64()).flatten().ok_or_else(|| {
                let expected = "shares of the budget that are multiples of 1/1000, as in Table 3 of the paper";
                Error::out_of_range("a share of the budget", rational::display(&share), expected)
            })?;
            let moments = moments(&sigma2, copies)?;
            Ok(Term { weight, sigma2, copies, moments })
        })
        .collect()
}

/// E|S|^j for j = 1 to 6.
fn moments(sigma2: &Rational, copies: u64) -> Result<[Enclosure; 6]> {
    let sum = SumOfCopies::new(sigma2.clone(), copies, DIGITS)?;
    let deviation = (sigma2.to_f64() * copies as f64).sqrt();
    let reach = (16.0 * deviation).ceil() as i64;
    let masses: Vec<Enclosure> = (1..=reach).map(|y| sum.mass(y)).collect();
    Ok([1_u32, 2, 3, 4, 5, 6].map(|order| {
        let power = |y: i64| Enclosure::rational(&Rational::from(Integer::from(y).pow(order)), BITS);
        let sum =
            masses.iter().zip(1..).fold(Enclosure::double(0.0, BITS), |sum, (mass, y)| sum.add(&mass.mul(&power(y))));
        // P[S = y] <= exp(-y^2 / (2 B^2)), and g(y) = y^j exp(-y^2 / (2 B^2)) has a logarithmic derivative of at most
        // -(y / B^2) (1 - 6 / 256) from Y = 16 B on, so the sum beyond Y is at most g(Y + 1) (1 + B).
        let next = Rational::from(reach + 1);
        let exponent = -next.square() / (Rational::from(sigma2 * copies) * 2_u32);
        let slack = Enclosure::double(2.0 + deviation, BITS);
        let rest = power(reach + 1).mul(&Enclosure::rational(&exponent, BITS + 16).exp()).mul(&slack);
        sum.add(&Enclosure::double(0.0, BITS).hull(&rest)).mul(&Enclosure::double(2.0, BITS))
    }))
}

/// t_epsilon L = (n / 2) (epsilon / rho -+ 1) L with n = 10.
fn threshold(release: &Release, epsilon: &Rational, second: bool) -> Rational {
    let ratio = Rational::from(epsilon / &release.rho);
    (if second { ratio + 1_u32 } else { ratio - 1_u32 }) * (5 * L)
}

fn whole_above(x: &Rational) -> i64 {
    Rational::from(x.floor_ref()).numer().to_i64().unwrap_or(i64::MAX / 4) + 1
}

/// The first term of (A.9) by the paper's rule, with its upper end at six times the threshold and its reach 1/100.
pub(crate) fn first_term(release: &Release, epsilon: &Rational, panels: u64) -> Result<Boole> {
    let t = threshold(release, epsilon, false);
    let last = Rational::from(&t * 6_u32).ceil().numer().to_i64().unwrap_or(i64::MAX / 4);
    Boole::new(terms(release)?, (whole_above(&t), last), Rational::from((1, 100)), panels)
}

/// The second term of (A.9) by the same rule, with its upper end where exp(epsilon) times the tail beyond it is below
/// 10^-30: the bound of the rule grows with the seventh power of that end.
pub(crate) fn second_term(release: &Release, epsilon: &Rational, panels: u64) -> Result<Boole> {
    let t = threshold(release, epsilon, true);
    let terms = terms(release)?;
    let spread: f64 =
        (terms.iter()).map(|term| (term.weight as f64).powi(2) * term.copies as f64 * term.sigma2.to_f64()).sum();
    let last = (2.0 * spread * (30.0 * std::f64::consts::LN_10 + epsilon.to_f64())).sqrt().ceil() as i64;
    let first = whole_above(&t);
    Boole::new(terms, (first, last.max(first)), Rational::from((1, 100)), panels)
}

/// Whether (A.8) holds: |delta - approximation| <= the error, at every level, at the epsilon of the given delta.
fn approximation_holds(release: &Release, delta: &Rational, as_printed: bool) -> Result<Computed> {
    let verdicts: Vec<Certainty> = (release.levels.par_iter())
        .map(|level| {
            let composition = release.composition(&[&level.name], None)?;
            let (sigma2, copies) =
                (level.queries[0].sigma2.clone(), composition.counts().iter().map(|c| c.count).sum());
            let epsilon = rational::from_f64(composition.epsilon(delta, DIGITS)?.value.approximate());
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
    let worst = if verdicts.contains(&Certainty::No) {
        Certainty::No
    } else if verdicts.contains(&Certainty::Undecided) {
        Certainty::Undecided
    } else {
        Certainty::Yes
    };
    Ok(Computed::Statement(worst))
}

/// E^(0)_0 + E^(0)_1 + E^(0)_2 of Proposition A.12 with Appendix C's residuals; sigma2 rounded to so many decimals.
fn approximation_of_groups(release: &Release, decimals: Option<u32>) -> Result<Enclosure> {
    let mut groups = groups(release)?;
    if let Some(decimals) = decimals {
        let scale = Integer::from(10).pow(decimals);
        groups.iter_mut().for_each(|group| group.0 = Rational::from(&group.0 * &scale).round() / &scale);
    }
    let number = |value: f64| Enclosure::double(value, BITS);
    let root = |square: Rational| Enclosure::rational(&square, BITS).sqrt();
    let width = |group: &(Rational, u64, Rational)| root(Rational::from(&group.0 * group.1));
    let residuals: Vec<Enclosure> = (groups.par_iter())
        .map(|(sigma2, copies, _)| residual::bound(sigma2, *copies, RESIDUAL_DIGITS))
        .collect::<Result<_>>()?;
    // c_j <= 1 / (sqrt(2 pi) B_j) + r_j and b_j <= 1 / (sqrt(2 pi) B_j)
    let two_pi = Enclosure::pi(BITS).mul(&number(2.0)).sqrt();
    let flat: Vec<Enclosure> = groups.iter().map(|group| two_pi.mul(&width(group)).recip()).collect();
    let windows = groups.iter().fold(number(1.0), |product, group| product.mul(&number(24.0)).mul(&width(group)));
    let mut sum = number(0.0);
    for (i, residual) in residuals.iter().enumerate() {
        let mut product = residual.clone();
        for (j, flat) in flat.iter().enumerate().filter(|(j, _)| *j != i) {
            product = product.mul(&if j < i { flat.add(&residuals[j]) } else { flat.clone() });
        }
        sum = sum.add(&product);
    }
    let tails = number(-72.0).exp().mul(&number(2.0 * groups.len() as f64));
    Ok(windows.mul(&sum).add(&tails))
}

/// nu(X_i > 6 t_epsilon / (k a_i)) for every group; E^(1) is their sum.
fn beyond_six_times(release: &Release, epsilon: &Rational) -> Result<Vec<Enclosure>> {
    let groups = groups(release)?;
    let t = threshold(release, epsilon, false) / L;
    let mut parts = Vec::new();
    for (sigma2, copies, share) in &groups {
        let mut sum = Enclosure::double(0.0, BITS);
        let from = Rational::from(&t * 6_u32) / (Rational::from(share * groups.len() as u64));
        let from = whole_above(&from);
        let first = density(sigma2, *copies, from, 30);
        for x in from.. {
            let mass = density(sigma2, *copies, x, 30);
            sum = sum.add(&mass);
            // Later masses fall faster than from this one to the next, and by the ratio exp(-x / B^2).
            let fall = Rational::from(-x) / Rational::from(sigma2 * *copies);
            let ratio = Enclosure::rational(&fall, BITS).exp();
            let rest = mass.mul(&ratio).div(&Enclosure::double(1.0, BITS).sub(&ratio));
            // In floats whose exponents do not underflow.
            if rest.upper().get_exp() < first.lower().get_exp().map(|exponent| exponent - 50) {
                parts.push(sum.add(&Enclosure::double(0.0, BITS).hull(&rest)));
                break;
            }
        }
    }
    Ok(parts)
}

/// Whether the factor of one level alone is below `level` on the whole of [from, to]: D.3, interval by interval.
fn sieved_by(release: &Release, name: &str, from: &Rational, to: &Rational, level: &Rational) -> Result<Computed> {
    let sigma2 = release.level(name)?.queries[0].sigma2.clone();
    let own: Vec<Term> = terms(release)?.into_iter().filter(|term| term.sigma2 == sigma2).collect();
    // A reach within [0, 3 / weight] is asked for by the rule only, not by the sieve.
    let boole = Boole::new(own, (0, 1), Rational::from((1, 100_000)), 4)?;
    let left = boole.sieve_between(from, to, level);
    let nothing = left.last().is_some_and(|sieved| sieved.left.is_empty());
    Ok(Computed::Statement(if nothing { Certainty::Yes } else { Certainty::Undecided }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Section A.7: alpha(zeta) and beta(zeta) of all levels by Boole's rule, against the certified knots.
    #[test]
    fn the_rule_gives_the_errors_of_a_test_on_all_levels() {
        let release = Release::find("su-su-wang-2025").unwrap();
        let whole = release.composition(&[] as &[&str], None).unwrap();
        let terms = terms(&release).unwrap();
        for zeta in ["2.3405", "6.5"] {
            let zeta = parse(zeta).unwrap();
            // The paper's zeta is that of sum a_i X; in nats it is 2 rho / n times that.
            let knot = whole.knot_at(&(Rational::from(&zeta * whole.rho()) / 5_u32), 20).unwrap();
            let scaled = Rational::from(&zeta * L);
            // P[Y > zeta L], and P[Y <= zeta L - n L] = P[Y >= n L - zeta L].
            let rest = (Rational::from(10 * L) - &scaled).ceil();
            let (alpha, beta) = (whole_above(&scaled), rest.numer().to_i64().unwrap());
            for (first, truth) in [(alpha, &knot.alpha), (beta, &knot.beta)] {
                let rule = Boole::new(terms.clone(), (first, 60_000), Rational::from((1, 100)), 60_000).unwrap();
                let sums: Vec<Enclosure> = (0..rule.chunks()).map(|chunk| rule.chunk(chunk)).collect();
                let sum = rule.sum(&sums);
                assert!(rule.upper_tail(&sum, &rule.budget().unwrap()).overlaps(truth));
                assert!((sum.approximate() / truth.approximate() - 1.0).abs() < 1e-10, "{zeta}");
            }
        }
    }

    #[test]
    fn groups_of_equal_shares_are_one() {
        let groups = groups(&Release::find("su-su-wang-2025").unwrap()).unwrap();
        assert_eq!(groups.len(), 7);
        assert_eq!(groups.iter().map(|group| group.1).sum::<u64>(), 80);
        let shares = groups.iter().fold(Rational::new(), |sum, group| sum + Rational::from(&group.2 * group.1));
        assert_eq!(shares, 10);
    }
}
