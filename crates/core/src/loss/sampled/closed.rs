//! One sampled step, no sampling, and losses that end before epsilon: no integral is needed.

use rug::{Float, Rational, ops::Pow};

use super::{Direction, Phase, phase::Ratio, sum::SampledSum};
use crate::{
    loss::gaussian,
    numeric::{Enclosure, halving::bisect, precision, rational},
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
    // An added record has losses below n ln(1 / (1 - g)), a group K times these: none is as large from there on.
    if direction == Direction::Add {
        let left = sum.phases.iter().fold(real(epsilon), |left, phase| {
            let steps = Rational::from(phase.steps) * phase.group;
            left.add(&one.sub(&real(&phase.rate)).ln().mul(&real(&steps)))
        });
        if *left.lower() >= 0 {
            return Some(Enclosure::double(0.0, bits));
        }
    }
    let [phase] = &sum.phases[..] else { return None };
    if phase.steps != 1 {
        return None;
    }
    if phase.group > 1 {
        return of_group(phase, direction, epsilon, bits);
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

/// One step of a group. The ratio r rises with the output, so that the best event is a threshold x with r(x) = exp(eps), or the outputs below one with r(x) = exp(-eps).
///
/// Every threshold bounds from below. With r(a) <= exp(eps) <= r(b) the best one is between a and b, so that its value is at most M(x > a) - exp(eps) Q(x > b).
fn of_group(phase: &Phase, direction: Direction, epsilon: &Rational, bits: u32) -> Option<Enclosure> {
    let real = |x: &Rational| Enclosure::rational(x, bits);
    let (exp, s2) = (real(epsilon).exp(), phase.sigma2.to_f64());
    let order = direction.pick([epsilon.to_f64(), -epsilon.to_f64()]);
    let ratio = Ratio::new(phase);
    // u = (x - 1/2) / s2
    let is_low = |x: f64| ratio.ln((x - 0.5) / s2) < order;
    let reach = 60.0 * s2.sqrt() + 2.0 * s2 * epsilon.to_f64() + phase.turns();
    let [low, high] = bisect([-reach, reach], 80, is_low);
    let slack = 1e-13 * (1.0 + low.abs());
    let [a, b] = [low - slack, high + slack].map(rational::from_f64);
    let (a, b) = (a.ok()?, b.ok()?);
    // The bracket holds the place, by enclosures of r.
    let target = real(&direction.pick([epsilon.clone(), Rational::from(-epsilon)])).exp();
    let at = |x: &Rational| phase.ratio(&real(&((x - Rational::from((1, 2))) / &phase.sigma2)), bits);
    if *at(&a).upper() > *target.lower() || *at(&b).lower() < *target.upper() {
        return None;
    }
    // P[N(0, s2) > x]
    let width = real(&Rational::from(&phase.sigma2 * 2_u32)).sqrt();
    let above = |x: &Rational| real(x).div(&width).erfc().times_power_of_two(-1);
    let side = |x: Rational| direction.pick([above(&x), above(&-x)]);
    // The mixture: with the probability of each number of records that are in the sample.
    let mixture = |x: &Rational| {
        let (rate, rest) = (&phase.rate, Rational::from(1 - &phase.rate));
        let mut weight = Rational::from((&rest).pow(phase.group));
        let mut sum = Enclosure::double(0.0, bits);
        for j in 0..=phase.group {
            sum = sum.add(&real(&weight).mul(&side(Rational::from(x - j))));
            weight *= Rational::from((phase.group - j, j + 1)) * Rational::from(rate / &rest);
        }
        sum
    };
    let noise = |x: &Rational| side(x.clone());
    let (most, least) = match direction {
        Direction::Remove => (mixture(&a).sub(&exp.mul(&noise(&b))), mixture(&a).sub(&exp.mul(&noise(&a)))),
        // Events below a threshold: the larger one has the larger probability.
        Direction::Add => (noise(&b).sub(&exp.mul(&mixture(&a))), noise(&a).sub(&exp.mul(&mixture(&a)))),
    };
    Some(Enclosure::new(least.lower().clone(), most.upper().clone()).clamp(0.0, 1.0))
}
