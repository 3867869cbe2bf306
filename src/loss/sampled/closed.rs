//! One sampled step, no sampling, and losses that end before epsilon: no integral is needed.

use rug::{Float, Rational};

use super::{Direction, sum::SampledSum};
use crate::{
    loss::gaussian,
    numeric::{Enclosure, precision},
};

/// The hockey stick where it has a closed form.
///
/// With one step, P(S) - exp(eps) Q(S) of the mixture M = (1 - g) Q + g P is a multiple of that of the Gaussian pair, at another order:
///
/// ```text
/// M(S) - exp(eps) Q(S) = g (P(S) - exp(e) Q(S)),               exp(e) = 1 + (exp(eps) - 1) / g,
/// Q(S) - exp(eps) M(S) = u (Q(S) - exp(e) P(S)),   u = 1 - exp(eps) (1 - g),   exp(e) = exp(eps) g / u,   and not above 0 where u <= 0.
/// ```
pub(super) fn hockey_stick(
    sum: &SampledSum,
    direction: Direction,
    epsilon: &Rational,
    digits: u32,
) -> Option<Enclosure> {
    let bits = precision::bits(digits, 128);
    let (one, real) = (Enclosure::double(1.0, bits), |x: &Rational| Enclosure::rational(x, bits));
    if sum.phases.is_empty() {
        return Some(gaussian::hockey_stick(&sum.rho, epsilon, digits));
    }
    if sum.rho != 0 {
        return None;
    }
    // An added record has losses below n ln(1 / (1 - g)): none is as large from there on.
    if direction == Direction::Add {
        let left = sum.phases.iter().fold(real(epsilon), |left, phase| {
            left.add(&one.sub(&real(&phase.rate)).ln().mul(&real(&Rational::from(phase.steps))))
        });
        if *left.lower() >= 0 {
            return Some(Enclosure::double(0.0, bits));
        }
    }
    let [phase] = &sum.phases[..] else { return None };
    if phase.steps != 1 {
        return None;
    }
    let rate = real(&phase.rate);
    let rho = Rational::from(2 * &phase.sigma2).recip();
    let exp = real(epsilon).exp();
    let (factor, order) = match direction {
        Direction::Remove => (rate.clone(), real(epsilon).exp_m1().div(&rate).add(&one)),
        Direction::Add => {
            // 1 - exp(eps) (1 - g) = g - (exp(eps) - 1) (1 - g)
            let factor = rate.sub(&real(epsilon).exp_m1().mul(&one.sub(&rate)));
            if *factor.lower() <= 0 {
                return None;
            }
            (factor.clone(), exp.mul(&rate).div(&factor))
        }
    };
    // exp(e) >= 1; the profile falls in e, so the ends of e enclose it.
    let order = order.ln();
    let end = |x: &Float| x.to_rational().map(|x| x.max(Rational::new()));
    let (low, high) = (end(order.lower())?, end(order.upper())?);
    let at = |order: &Rational| gaussian::hockey_stick(&rho, order, digits + 3);
    Some(factor.mul(&at(&high).hull(&at(&low))).clamp(0.0, 1.0))
}
