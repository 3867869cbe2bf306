//! Statements about the noise of one count: tails by the formula, intervals, Renyi divergences of the geometric
//! mechanism.

use rug::Rational;

use super::{
    renyi::{Renyi, divergence},
    settings::PrintedSettings,
};
use crate::{
    error::Result,
    numeric::Enclosure,
    replication::verdict::Computed,
    safetab::cell_noise::{CellNoise, NoiseKind},
};

pub(super) const BITS: u32 = 200;
const DIGITS: u32 = 20;

pub(super) fn real(value: &Rational) -> Enclosure {
    Enclosure::rational(value, BITS)
}

/// Noise with this variance proxy: a budget of 1 / (2 sigma2).
pub(super) fn gaussian(sigma2: &Rational) -> Result<CellNoise> {
    CellNoise::new(NoiseKind::DiscreteGaussian, &Rational::from(sigma2 * 2_u32).recip())
}

/// Whether `P[X >= m]` of the discrete Gaussian is at most `P[X >= m - 1]` of the continuous one, for all these
/// variance proxies and m from 1 to `most`.
pub(super) fn below_continuous(sigma2: &[Rational], most: i64) -> Result<Computed> {
    let cases = sigma2.iter().flat_map(|sigma2| (1..=most).map(move |m| (sigma2, m)));
    Computed::all_hold(cases.map(|(sigma2, m)| {
        let width = real(&Rational::from(sigma2 * 2_u32)).sqrt();
        let continuous = real(&Rational::from(m - 1)).div(&width).erfc().times_power_of_two(-1);
        Ok(gaussian(sigma2)?.survival(m, DIGITS)?.below(&continuous))
    }))
}

/// Whether `P[X > y]` of the geometric mechanism is exp(-y / b) / (1 + exp(1 / b)) for y from 0 to `most`, in exact
/// fractions if q = exp(-1 / b) is a fraction: the mass at x is (1 - q) / (1 + q) q^|x|.
pub(super) fn tail_by_formula(ratios: &[Rational], most: u32) -> bool {
    ratios.iter().all(|q| {
        let zero = Rational::from(1 - q) / Rational::from(q + 1_u32);
        // Half of the mass outside zero, minus the masses from 1 to y.
        let mut tail = Rational::from(1 - &zero) / 2_u32;
        let mut power = Rational::from(1);
        (0..=most).all(|y| {
            if y > 0 {
                power *= q;
                tail -= Rational::from(&zero * &power);
            }
            tail == &power / (Rational::from(1) + Rational::from(q.recip_ref()))
        })
    })
}

/// The probability of an interval of `margin` on both sides of `center`.
pub(super) fn interval(noise: &CellNoise, center: i64, margin: i64) -> Result<Enclosure> {
    Ok(noise.survival(center - margin, DIGITS)?.sub(&noise.survival(center + margin + 1, DIGITS)?).clamp(0.0, 1.0))
}

/// Whether the Renyi divergence of the geometric mechanism is at most epsilon^2 / 2 times the order, for all of these.
pub(super) fn half_square(epsilons: &[Rational], orders: &[Rational]) -> Result<Computed> {
    let pairs = epsilons.iter().flat_map(|epsilon| orders.iter().map(move |order| (epsilon, order)));
    Computed::all_hold(pairs.map(|(epsilon, order)| {
        let bound = epsilon.clone().square() * order / 2_u32;
        Ok(divergence(Renyi::Exact, order, epsilon).at_most(&bound))
    }))
}

/// The rho of all levels of the geometric mechanism, where a count with parameter epsilon contributes epsilon^2 / 2.
pub(super) fn rho_by_squares(settings: &PrintedSettings) -> Result<Rational> {
    let rest = Rational::from(1 - &settings.gamma);
    // The larger of a group published by its total and one published in two stages.
    let share = (settings.gamma.clone().square() + rest.square()).max(Rational::from(1));
    let s = Rational::from(settings.stability);
    let levels = settings.geometric()?;
    Ok(levels
        .iter()
        .fold(Rational::new(), |sum, (budget, _)| sum + Rational::from(budget / &s).square() * &share * &s / 2_u32))
}

/// Whether the bias of a published total falls with the size of its group, from 0 to `times` the threshold, and stays
/// above zero.
pub(super) fn bias_falls(settings: &PrintedSettings, rho: &Rational, times: u64) -> Result<Computed> {
    let rule = settings.suppression(rho)?;
    let most = rule.threshold().unsigned_abs().saturating_mul(times);
    let biases = (0..=most).map(|n| rule.bias(n, DIGITS)).collect::<Result<Vec<_>>>()?;
    let falls = biases.windows(2).map(|pair| Ok(pair[1].below(&pair[0])));
    let zero = Enclosure::double(0.0, BITS);
    Computed::all_hold(falls.chain(biases.last().map(|last| Ok(zero.below(last)))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Certainty;

    #[test]
    fn statements_about_tails_hold() {
        let holds = |computed: Result<Computed>| matches!(computed.unwrap(), Computed::Statement(Certainty::Yes));
        assert!(holds(below_continuous(&[Rational::from((1, 3)), Rational::from(50)], 4)));
        assert!(tail_by_formula(&[Rational::from((1, 2)), Rational::from((9, 10))], 30));
        let noise = gaussian(&Rational::from(9)).unwrap();
        assert!(interval(&noise, 0, 6).unwrap().approximate() > 0.95);
        assert!(interval(&noise, 30, 6).unwrap().approximate() < 1e-10);
        // At small epsilon the divergence is just below the bound.
        assert!(holds(half_square(&[Rational::from((1, 100)), Rational::from(1)], &[Rational::from(2)])));
    }
}
