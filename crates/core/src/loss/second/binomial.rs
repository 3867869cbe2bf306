//! Poisson-sampled Gaussian noise: a bound on both directions by moments of integer order.
//!
//! With r the ratio of the mixture to the noise of one step, an integer p >= 2 has
//!
//! ```text
//! E[r^p] = sum over k of C(p, k) (1 - g)^(p - k) g^k exp(k (k - 1) / (2 s2)),
//! ```
//!
//! the moment of a removed record; that of an added one is not larger (Mironov, Talwar & Zhang 2019, Section 3). From it, with s = p - 1,
//!
//! ```text
//! delta(eps) <= E[exp(s L)] exp(-s eps) s^s / (s + 1)^(s + 1)        (Canonne, Kamath & Steinke 2020, Proposition 12).
//! ```

use rug::{Float, Rational};

use crate::{
    loss::{sampled::phase::Phase, uniform::UniformSum},
    numeric::Enclosure,
};

const BITS: u32 = 96;
/// The orders that are tried.
const ORDERS: [u32; 22] = [2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 50, 64, 80, 100, 128, 180, 256, 400, 600];

/// Upper bound on the hockey stick at epsilon of phases of sampled noise, beside continuous Gaussian noise of this rho and other noise.
pub(in crate::loss) fn hockey_stick_above(
    phases: &[Phase],
    rho: &Rational,
    beside: Option<&UniformSum>,
    epsilon: &Rational,
) -> Float {
    let near = |order: &u32| {
        let steps = phases.iter().map(|phase| phase.steps as f64 * ln_moment_approx(phase, *order)).sum::<f64>();
        let (s, p) = (f64::from(order - 1), f64::from(*order));
        let others = beside.map_or(0.0, |beside| beside.ln_mgf_approx(s));
        steps + others + rho.to_f64() * s * p + s * libm::log(s) - p * libm::log(p) - s * epsilon.to_f64()
    };
    let best = ORDERS.iter().min_by(|a, b| near(a).total_cmp(&near(b))).copied().unwrap_or(2);
    let number = |x: u32| Enclosure::rational(&Rational::from(x), BITS);
    let (s, p) = (number(best - 1), number(best));
    let exponents = rho * Rational::from(best) * (best - 1) - epsilon * Rational::from(best - 1);
    let others = |beside: &UniformSum| beside.ln_mgf(&Rational::from(best - 1), BITS);
    let others = beside.map_or_else(|| Enclosure::double(0.0, BITS), others);
    let constant = s.mul(&s.ln()).sub(&p.mul(&p.ln())).add(&Enclosure::rational(&exponents, BITS)).add(&others);
    let ln = phases.iter().fold(constant, |ln, phase| {
        ln.add(&ln_moment(phase, best).mul(&Enclosure::rational(&Rational::from(phase.steps), BITS)))
    });
    let value = ln.exp();
    // A bound that is no number says nothing.
    if value.upper().is_nan() { Float::with_val(BITS, 1) } else { value.upper().clone().min(&Float::with_val(BITS, 1)) }
}

/// ln E[r^p].
fn ln_moment(phase: &Phase, p: u32) -> Enclosure {
    let (rate, rest) = (&phase.rate, Rational::from(1 - &phase.rate));
    let ratio = Enclosure::rational(&Rational::from(rate / &rest), BITS);
    let real = |x: &Rational| Enclosure::rational(x, BITS);
    // C(p, k) (1 - g)^(p - k) g^k, from each k to the next.
    let mut weight = real(&rest).ln().mul(&real(&Rational::from(p))).exp();
    let mut sum = Enclosure::double(0.0, BITS);
    for k in 0..=p {
        let exponent =
            Rational::from(u64::from(k) * u64::from(k.saturating_sub(1))) / Rational::from(&phase.sigma2 * 2_u32);
        sum = sum.add(&weight.mul(&real(&exponent).exp()));
        weight = weight.mul(&ratio).mul(&real(&Rational::from((p - k, k + 1))));
    }
    sum.ln()
}

/// The same in doubles.
fn ln_moment_approx(phase: &Phase, p: u32) -> f64 {
    let (g, s2) = (phase.rate.to_f64(), phase.sigma2.to_f64());
    let mut ln_weight = f64::from(p) * libm::log1p(-g);
    let ln_ratio = libm::log(g) - libm::log1p(-g);
    let mut ln_sum = f64::NEG_INFINITY;
    for k in 0..=p {
        let term = ln_weight + f64::from(k) * (f64::from(k) - 1.0) / (2.0 * s2);
        let (most, least) = (ln_sum.max(term), ln_sum.min(term));
        ln_sum = most + libm::log1p(libm::exp(least - most));
        ln_weight += ln_ratio + libm::log(f64::from(p - k) / f64::from(k + 1));
    }
    ln_sum
}
