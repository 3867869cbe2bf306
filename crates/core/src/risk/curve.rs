//! The risk from the best test of each type I error: its power, the posterior of a record that it reports, and that relative to the prior.
//!
//! An adversary with prior q reports the target as present on an event S with Q(S) = alpha: of records that are absent, a share alpha is reported. Of those that
//! are present it reports P(S) <= 1 - f(alpha), with f the trade-off function. The probability that a reported record is present is
//!
//! posterior(alpha) = q w / (q w + (1 - q) alpha), w = 1 - f(alpha),
//!
//! which rises with w, so the best test attains it and no test of this type I error exceeds it. The relative risk is posterior(alpha) / q.
//!
//! Where the pair of neighbors is not symmetric, f is that of the law without the record against that with it; where one of two values of a record is decided,
//! either can be the first, and f is the smaller of both directions.

use rug::{Rational, ops::Pow};

use super::{check_prior, odds};
use crate::{
    account::{Account, Answer},
    error::{Error, Result},
    law::Direction,
    loss::evaluator::Evaluator,
    numeric::{Enclosure, precision::bits, rational},
    release::Neighbors,
};

/// The risk from the best test of one type I error.
#[derive(Clone, Debug)]
pub struct RiskPoint {
    /// The type I error: the share of absent records that are reported.
    pub alpha: Rational,
    /// The type II error of the best test, f(alpha).
    pub beta: Answer,
    /// The largest share of present records that a test can report, 1 - f(alpha).
    pub power: Enclosure,
    /// The largest probability that a reported record is present.
    pub posterior: Enclosure,
    /// The posterior divided by the prior.
    pub relative_risk: Enclosure,
}

/// The risk at a type I error above 0 and at most 1, for a prior above 0 and below 1.
pub fn point(
    account: &impl Account,
    prior: &Rational,
    neighbors: Neighbors,
    alpha: &Rational,
    digits: u32,
) -> Result<RiskPoint> {
    point_by(account, &account.evaluator(), prior, neighbors, alpha, digits)
}

/// The risk at a type I error by an evaluator of this account, which is faster from the second request on.
pub fn point_by(
    account: &impl Account,
    evaluator: &Evaluator,
    prior: &Rational,
    neighbors: Neighbors,
    alpha: &Rational,
    digits: u32,
) -> Result<RiskPoint> {
    check_prior(prior)?;
    if *alpha <= 0 || *alpha > 1 {
        let expected = "above 0 and at most 1: a test that never reports an absent record has no posterior to compute";
        return Err(Error::out_of_range("alpha", rational::display(alpha), expected));
    }
    let of_presence = match neighbors {
        Neighbors::AddRemove => account.tradeoff_of_direction_by(evaluator, Direction::Remove, alpha, digits)?,
        Neighbors::Bounded => None,
    };
    let beta = of_presence.map_or_else(|| account.tradeoff_by(evaluator, alpha, digits), Ok)?;
    let bits = bits(digits, 64).max(beta.value.lower().prec());
    let real = |value: &Rational| Enclosure::rational(value, bits);
    let one = Enclosure::double(1.0, bits);
    // Every test can guess, so w >= alpha > 0.
    let power = one.sub(&beta.value).clamp(0.0, 1.0).max(&real(alpha));
    // odds(q) w / alpha, whose share posterior = odds / (1 + odds) rises with it.
    let reported = real(&(odds(prior) / alpha)).mul(&power);
    let posterior = one.add(&reported.recip()).recip();
    let relative_risk = posterior.div(&real(prior));
    Ok(RiskPoint { alpha: alpha.clone(), beta, power, posterior, relative_risk })
}

/// Type I errors from `from` to 1 in equal steps of their logarithm, rounded to three digits, each once and in increasing order.
pub fn alphas(from: &Rational, points: u32) -> Result<Vec<Rational>> {
    let least = Rational::from((1, rug::Integer::from(10).pow(DECADES)));
    if *from < least || *from >= 1 {
        return Err(Error::out_of_range("from", rational::display(from), "a type I error from 1e-300 and below 1"));
    }
    let low = Enclosure::rational(from, 64).ln().approximate();
    let last = f64::from(points.saturating_sub(1).max(1));
    let mut found = vec![from.clone()];
    for step in 1..points.saturating_sub(1) {
        let rounded = rational::parse(&format!("{:.2e}", libm::exp(low * (1.0 - f64::from(step) / last))))?;
        if found.last().is_some_and(|before| *before < rounded) && rounded < 1 {
            found.push(rounded);
        }
    }
    found.push(Rational::from(1));
    Ok(found)
}

/// The least type I error of a curve is 10^-DECADES.
const DECADES: u32 = 300;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        account::{Composition, Counts},
        risk::bound::most_correct,
    };

    fn number(text: &str) -> Rational {
        rational::parse(text).unwrap()
    }

    /// A randomized answer, true with probability 3/4: up to alpha = 1/4 the best test has w = 3 alpha, so the posterior at prior 1/2 is 3/4.
    #[test]
    fn the_posterior_of_a_randomized_answer_is_that_of_its_answer() {
        let account = Composition::new([Counts::parse("randomized-response", "1.09861228866811").unwrap()]).unwrap();
        for (prior, alpha, posterior) in
            [("1/2", "0.25", "0.75"), ("1/2", "0.01", "0.75"), ("0.1", "0.1", "0.25"), ("1/2", "1", "0.5")]
        {
            let point = point(&account, &number(prior), Neighbors::AddRemove, &number(alpha), 10).unwrap();
            let error = Rational::from(&number(posterior) - &point.posterior.upper_rational().unwrap()).abs();
            assert!(error < number("1e-9"), "{prior} {alpha}: {}", point.posterior);
            let relative = point.relative_risk.approximate();
            assert!((relative - (number(posterior) / number(prior)).to_f64()).abs() < 1e-9);
        }
    }

    /// Continuous Gaussian noise: w = Phi(Phi^-1(alpha) + mu), here with mu = 1 and alpha = 0.0227501 or about Phi(-2), so that w is about Phi(-1).
    #[test]
    fn the_power_against_gaussian_noise_is_that_of_a_shifted_normal() {
        let account = Composition::new([Counts::parse("gaussian", "1").unwrap()]).unwrap();
        let point = point(&account, &number("0.01"), Neighbors::AddRemove, &number("0.02275013194817921"), 12).unwrap();
        assert!((point.power.approximate() - 0.158_655_253_931_457_05).abs() < 1e-12);
        let truth =
            0.01 * 0.158_655_253_931_457_05 / (0.01 * 0.158_655_253_931_457_05 + 0.99 * 0.022_750_131_948_179_21);
        assert!((point.posterior.approximate() - truth).abs() < 1e-12);
    }

    /// No test that reports has a larger probability of a correct decision than the best adversary has.
    #[test]
    fn the_points_agree_with_the_largest_probability_of_a_correct_decision() {
        let account = Composition::new([Counts::parse("discrete-gaussian", "3x2").unwrap()]).unwrap();
        let (prior, mut best) = (number("0.4"), 0.0_f64);
        let correct = most_correct(&account, &prior, Neighbors::AddRemove, 8).unwrap().value;
        let mut before = f64::INFINITY;
        for alpha in alphas(&number("1e-3"), 60).unwrap() {
            let point = point(&account, &prior, Neighbors::AddRemove, &alpha, 8).unwrap();
            let decided = 0.4 * point.power.approximate() + 0.6 * (1.0 - alpha.to_f64());
            best = best.max(decided);
            assert!(decided <= correct.upper().to_f64() + 1e-9);
            // f is convex with f(1) = 0, so w / alpha falls.
            assert!(point.posterior.lower().to_f64() <= before + 1e-9);
            before = point.posterior.upper().to_f64();
        }
        assert!(best > correct.lower().to_f64() - 2e-3, "{best} {correct}");
    }

    #[test]
    fn the_grid_rises_to_one_and_refuses_what_is_no_error() {
        let grid = alphas(&number("1e-6"), 61).unwrap();
        assert!(grid.len() == 61 && grid.windows(2).all(|pair| pair[0] < pair[1]) && grid[60] == 1);
        assert_eq!(alphas(&number("1e-6"), 2).unwrap(), [number("1e-6"), Rational::from(1)]);
        assert!(alphas(&number("0"), 9).is_err() && alphas(&number("1"), 9).is_err());
        let account = Composition::new([Counts::parse("gaussian", "1").unwrap()]).unwrap();
        for (prior, alpha) in [("0", "0.1"), ("1", "0.1"), ("0.5", "0"), ("0.5", "1.1")] {
            assert!(point(&account, &number(prior), Neighbors::AddRemove, &number(alpha), 6).is_err());
        }
    }
}
