//! The posterior probability averaged over all outputs of one count or of several.

use rug::Rational;

use super::{exp, odds, plus_at_most, plus_or_minus, posterior};
use crate::{loss::theta, numeric::Enclosure};

/// sum over x in Z of g(x) / (1 + exp(-rho (2 x + 1)) (1 - p) / p), with g the mass of N_Z(0, sigma2), computed from
/// every `stride`-th term. Error: the summand F at complex x has a Gaussian factor and a second one of modulus at most
/// 1 for |Im x| <= pi sigma2 / 2, since exp(-rho (2 x + 1)) has a real part >= 0 there.
pub(super) fn marginal_of_one(prior: &Rational, rho: &Rational, bits: u32) -> Enclosure {
    use std::f64::consts::{LN_2, PI};
    let sigma2 = Rational::from(1) / Rational::from(rho * 2_u32);
    let sigma = sigma2.to_f64().sqrt();
    let per_sigma = ((f64::from(bits) * LN_2 + 8.0) / (2.0 * PI * PI)).sqrt();
    let stride = if sigma >= 4.0 * per_sigma { (sigma / per_sigma).floor() as i64 } else { 1 };
    let last = (sigma * (2.0 * f64::from(bits) * LN_2).sqrt() / stride as f64).ceil() as i64 + 1;
    let mut sum = Enclosure::double(0.0, bits + 16);
    for k in -last..=last {
        let x = Rational::from(k) * stride;
        let exponent = -Rational::from(x.square_ref()) * rho;
        let evidence = (x * 2_u32 + 1_u32) * rho;
        sum = sum.add(&exp(&exponent, bits + 16).mul(&posterior(prior, &evidence, bits + 16)));
    }
    let scale = Enclosure::double(stride as f64, bits + 16).div(&theta::gaussian_sum(&sigma2, bits + 16));
    let value = sum.mul(&scale);
    // Truncation error: stride exp(-(stride k)^2 / (2 sigma2)) is at most the integral over the step before, and the
    // integral from y on is at most sigma sqrt(pi / 2) exp(-y^2 / (2 sigma2)). Divided by the normalizing sum, which is
    // at least sigma sqrt(2 pi), both sides contribute at most exp(-(stride last)^2 / (2 sigma2)).
    let reach = Rational::from(last) * stride;
    let left_out = exp(&-(reach.square() * rho), 64);
    let value = plus_at_most(&value, &left_out);
    if stride == 1 {
        return value;
    }
    // Discretization error: both sums are trapezoidal rules for one integral. On Im x = +-a the integral of |F| is at
    // most exp(a^2 / (2 sigma2)). With a = 2 pi sigma2 / k <= pi sigma2 / 2 for k >= 4 the rule with step k errs by at
    // most 2 exp(a^2 / (2 sigma2)) / (exp(2 pi a / k) - 1) <= 2.01 exp(-2 pi^2 sigma2 / k^2). The rule with step 1,
    // with a = pi sigma2 / 2, errs by less.
    let ratio = &sigma2 / (Rational::from(stride) * stride);
    let exponent = Enclosure::pi(64).mul(&Enclosure::pi(64)).mul(&Enclosure::rational(&(ratio * 2_u32), 64));
    plus_or_minus(&value, &exponent.negate().exp().mul(&Enclosure::double(5.0, 64)))
}

/// The marginal posterior of several counts, by Mellin's integral of the logistic function.
///
/// 1 / (1 + u) = (1 / 2 pi i) times the integral of u^(-s) pi / sin(pi s) over Re s = 1/2. With u = exp(L + c),
/// c = ln(p / (1 - p)), s = 1/2 + i t and the average over L,
///
/// 1 - marginal = exp(-c / 2) times the integral over t > 0 of m(t) cos(c t) / cosh(pi t),
///
/// where m(t) = E[exp((-1/2 + i t) L)] is a product over the counts. It is real, because the two laws of the pair
/// mirror each other. Each count has noise of variance proxy 1 / (2 rate) and changes by `shift` = d, so that it spends rho =
/// d^2 rate.
pub(super) fn marginal_by_integral(prior: &Rational, rates: &[Rational], shift: u64, bits: u32) -> Enclosure {
    use std::f64::consts::{LN_2, PI};
    let total = rates.iter().fold(Rational::new(), |sum, rate| sum + rate) * Rational::from(shift).square();
    let c = Enclosure::rational(&odds(prior), bits + 32).ln();
    let size = c.approximate().abs();
    let work = bits + (size * 1.5).min(1e6) as u32 + 32;
    let c = Enclosure::rational(&odds(prior), work + 16).ln();
    // Discretization and truncation errors below 2^-bits: the strip has half-width 9/20.
    let nats = f64::from(bits) * LN_2 + 4.0;
    let inverse_step = ((nats + 1.0 + size) / (2.0 * PI * 0.45)).ceil();
    let step = Rational::from((1, (inverse_step as u64).max(2)));
    let nodes = ((nats + size / 2.0) / PI * inverse_step).ceil() as i64 + 1;
    let factors: Vec<Factor> = rates.iter().map(|rate| Factor::new(rate, shift, work)).collect();
    let pi = Enclosure::pi(work + 16);
    let one = Enclosure::double(1.0, work);
    let mut sum = Enclosure::double(0.5, work);
    for factor in &factors {
        sum = sum.mul(&factor.at(&Rational::new(), work));
    }
    for node in 1..=nodes {
        let t = Rational::from(&step * node);
        let real = Enclosure::rational(&t, work + 16);
        let decay = pi.mul(&real).negate().exp();
        // 1 / cosh(x) = 2 exp(-x) / (1 + exp(-2 x)).
        let kernel = decay.mul(&Enclosure::double(2.0, work)).div(&one.add(&decay.mul(&decay)));
        let term = kernel.mul(&c.mul(&real).cos());
        sum = sum.add(&factors.iter().fold(term, |term, factor| term.mul(&factor.at(&t, work))));
    }
    let short = |x: &Rational| Enclosure::rational(x, 64);
    let step_short = short(&step);
    let integral = sum.mul(&Enclosure::rational(&step, work));
    // Truncation error: |m(t)| <= m(0) <= exp(-rho / 4), and 2 exp(-pi t) decreases, so its sum is at most its integral
    // from the last node.
    let level = short(&-(total.clone() / 4_u32)).exp();
    let end = Enclosure::pi(64).mul(&short(&Rational::from(&step * nodes))).negate().exp();
    let left_out = level.mul(&end);
    // Discretization error. On Im t = +-b, b = 9/20: |m| <= M(-1/2 + b) <= exp(rho (b^2 - 1/4)), |exp(i c t)| <=
    // exp(|c| b), and |cosh(pi t)| >= cos(pi b) cosh(pi Re t), whose inverse integrates to 1 / cos(pi b) < 6.4. The
    // integral over the half line is half of that over the line, and the rule errs by at most the sum of both sides
    // over exp(2 pi b / h) - 1.
    let b = Rational::from((9, 20));
    let growth = short(&((Rational::from(b.square_ref()) - Rational::from((1, 4))) * &total)).exp();
    let tilt = short(&b).mul(&Enclosure::double(size + 1e-6 * size, 64)).exp();
    let period = Enclosure::pi(64).mul(&short(&(b * 2_u32))).div(&step_short).exp_m1();
    let alias = growth.mul(&tilt).mul(&Enclosure::double(6.4, 64)).div(&period);
    let integral = plus_or_minus(&plus_or_minus(&integral, &left_out), &alias);
    let tilt = c.div(&Enclosure::double(-2.0, work)).exp();
    Enclosure::double(1.0, work).sub(&tilt.mul(&integral))
}

/// E[exp((-1/2 + i t) L)] of one count, for real t and L = d rate (2 x + d). With y = x + d / 2, which is in Z or in Z +
/// 1/2, and Z the normalizing sum,
///
/// ```text
/// exp(-rho / 4) sum_y exp(-rate y^2) cos(2 rate d t y) / Z          direct
///   = exp(-rho / 4) sum_k (-1)^(d k) exp(-(rate d t - pi k)^2 / rate) / sum_k exp(-pi^2 k^2 / rate)      images
/// ```
struct Factor {
    rate: Rational,
    shift: u64,
    scale: Enclosure,
    direct: Option<Vec<Enclosure>>,
}

impl Factor {
    fn new(rate: &Rational, shift: u64, bits: u32) -> Self {
        let (rate, level) = (rate.clone(), exp(&-(Rational::from(shift).square() * rate / 4_u32), bits));
        if rate < 1 {
            let pi = Enclosure::pi(bits + 8);
            let exponent = pi.mul(&pi).div(&Enclosure::rational(&rate, bits + 8));
            return Factor { scale: level.div(&theta::theta3(&exponent, bits)), rate, shift, direct: None };
        }
        let sigma2 = Rational::from(1) / Rational::from(&rate * 2_u32);
        // Terms y and -y are equal: sum those of y >= 0 twice, and y = 0 with half its weight. Each truncated term is
        // below 2^-bits, and they fall by a factor exp(-2) at least.
        let last = (f64::from(bits + 8) / rate.to_f64()).sqrt().ceil() as i64 + 2;
        let weight = |n: i64| match Self::twice_y(shift, n) {
            0 => Enclosure::double(0.5, bits),
            twice => exp(&-(Rational::from((twice, 2)).square() * &rate), bits),
        };
        let weights = (0..=last).map(weight).collect();
        let scale = level.mul(&Enclosure::double(2.0, bits)).div(&theta::gaussian_sum(&sigma2, bits));
        Factor { rate, shift, scale, direct: Some(weights) }
    }

    /// 2 y of term n >= 0: even for an even shift, odd for an odd one.
    fn twice_y(shift: u64, n: i64) -> i64 {
        2 * n + i64::from(shift % 2 == 1)
    }

    fn at(&self, t: &Rational, bits: u32) -> Enclosure {
        let angle = Rational::from(&self.rate * t) * self.shift;
        let error = Enclosure::double(1.0, 64).times_power_of_two(-i64::from(bits));
        let sum = match &self.direct {
            Some(weights) => {
                let terms = (0..).zip(weights).map(|(n, weight): (i64, &Enclosure)| {
                    let turn = Rational::from(&angle * Self::twice_y(self.shift, n));
                    let size = libm::log2(turn.to_f64().abs()).max(0.0) as u32;
                    Enclosure::rational(&turn, bits + size).cos().mul(weight)
                });
                let sum = terms.fold(Enclosure::double(0.0, bits), |sum, term| sum.add(&term));
                // exp(-rate (last + 1)^2) / (1 - exp(-2)) < 2^-bits.
                plus_or_minus(&sum, &error)
            }
            None => {
                let nearest = (angle.to_f64() / std::f64::consts::PI).round() as i64;
                let size = (nearest.unsigned_abs() + 2).ilog2();
                let pi = Enclosure::pi(bits + 16 + 2 * size);
                let real = Enclosure::rational(&angle, bits + 16 + 2 * size);
                let inverse = Enclosure::rational(&(Rational::from(-1) / &self.rate), bits + 16 + 2 * size);
                // Further terms are pi apart: (pi (r + 1/2))^2 / rate >= bits ln 2 + 1 for the first truncated one.
                let reach = ((f64::from(bits) + 2.0) * self.rate.to_f64() * 0.07).sqrt().ceil() as i64 + 1;
                let mut sum = Enclosure::double(0.0, bits);
                for k in nearest - reach..=nearest + reach {
                    let distance = real.sub(&pi.mul(&Enclosure::double(k as f64, bits)));
                    let term = distance.mul(&distance).mul(&inverse).exp();
                    sum = if k % 2 == 0 || self.shift.is_multiple_of(2) { sum.add(&term) } else { sum.sub(&term) };
                }
                // Four times the first truncated term bounds both sides.
                plus_or_minus(&sum, &error)
            }
        };
        sum.mul(&self.scale)
    }
}
