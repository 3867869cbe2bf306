//! An upper bound by central moments, for samples that are rare.
//!
//! Under the noise Q the likelihood ratio r of all steps has the mean 1, and with X = r - 1
//!
//! ```text
//! delta(eps) = E[(X - a)_+],             a = exp(eps) - 1,     where a record was removed,
//! delta(eps) = exp(eps) E[(-X - b)_+],   b = 1 - exp(-eps),    where it was added.
//! ```
//!
//! For both signs and every a >= 0
//!
//! ```text
//! E[(X - a)_+] <= (sqrt(M_2 + a^2) - a) / 2             (|X - a| has at most the mean sqrt(E[(X - a)^2]), and X the mean 0),
//! E[(X - a)_+] <= M_p (p - 1)^(p - 1) / (p^p a^(p - 1))  for even p (x - a is at most that multiple of x^p).
//! ```
//!
//! The central moments M_p = E[X^p] follow from those of integer order, with the rho of noise without sampling beside:
//!
//! ```text
//! E[r^k] = exp(rho k (k - 1)) prod over steps of sum over j of C(k, j) (1 - g)^(k - j) g^j exp(j (j - 1) / (2 s2)).
//! ```
//!
//! Where every step adds little, a contour has to resolve losses that are far smaller than the tilt that the bounds by single moments need; here their size does not
//! matter.

use rug::{Float, Rational, float::Round};

use super::Phase;
use crate::{
    loss::parameter::Delta,
    numeric::{Certainty, Enclosure, enclosure},
};

/// The orders p.
const ORDERS: [u32; 6] = [2, 4, 6, 8, 10, 12];
/// Bits of the result, and the most that cancellation may take beside them.
const BITS: u32 = 64;
const MOST_BITS: f64 = 4096.0;
/// Where the variance of r is larger, other bounds are as good.
const MOST_VARIANCE: f64 = 1.0;
/// With more phases the moments would take long.
const MOST_PHASES: usize = 2000;

/// The central moments of the likelihood ratio, of the orders that were computed.
#[derive(Clone, Debug)]
pub(super) struct CentralMoments {
    moments: Vec<(u32, Enclosure)>,
}

impl CentralMoments {
    /// The central moments of these phases, and of continuous Gaussian noise of this rho. Of no order where samples are not rare.
    pub(super) fn of_phases(phases: &[Phase], rho: &Rational) -> Self {
        let none = CentralMoments { moments: Vec::new() };
        let variance = libm::expm1(2.0 * rho.to_f64() + phases.iter().map(ln_of_square_approx).sum::<f64>());
        let is_rare = variance > 0.0 && variance <= MOST_VARIANCE && phases.len() <= MOST_PHASES;
        if !is_rare {
            return none;
        }
        let last = ORDERS[ORDERS.len() - 1];
        // Terms of about 2^p cancel down to the variance to the power p / 2.
        let cancelled = f64::from(last) * (2.0 - libm::log2(variance) / 2.0);
        if cancelled > MOST_BITS {
            return none;
        }
        let bits = BITS + 64 + cancelled.ceil() as u32;
        let raw: Vec<Enclosure> = (0..=last).map(|k| moment(phases, rho, k, bits)).collect();
        let of_order = |p: u32| {
            let mut sum = Enclosure::double(0.0, bits);
            for (k, raw) in (0..=p).zip(&raw) {
                let sign = if (p - k).is_multiple_of(2) { 1 } else { -1 };
                let weight = Rational::from(rug::Integer::from(p).binomial(k)) * sign;
                sum = sum.add(&raw.mul(&Enclosure::rational(&weight, bits)));
            }
            (p, sum)
        };
        let moments = ORDERS.iter().map(|p| of_order(*p));
        CentralMoments { moments: moments.filter(|(_, moment)| moment.upper().is_finite()).collect() }
    }

    /// Upper bound on delta(epsilon) of both directions; `None` where samples are not rare.
    pub(super) fn delta_above(&self, epsilon: &Rational) -> Option<Float> {
        let epsilon = Enclosure::rational(epsilon, 2 * BITS);
        let of = |from: &Enclosure| self.moments.iter().map(|(p, moment)| excess(*p, moment, from)).reduce(least);
        let remove = of(&epsilon.exp_m1())?;
        let add = of(&epsilon.clone().negate().exp_m1().negate())?;
        let add = Enclosure::new(add.clone(), add).mul(&epsilon.exp());
        Some(enclosure::larger(&remove, add.upper()))
    }

    /// An epsilon below 1 at which delta is proven to be at most this one, nearly the least for which it follows; `None` if there is none.
    pub(super) fn epsilon_above(&self, delta: &Delta) -> Option<f64> {
        const LEAST: f64 = 1e-18;
        const HALVINGS: u32 = 60;
        let holds = |epsilon: f64| {
            let above = Rational::from_f64(epsilon).and_then(|epsilon| self.delta_above(&epsilon));
            above.is_some_and(|above| Enclosure::new(above.clone(), above).at_most(delta) == Certainty::Yes)
        };
        if holds(0.0) {
            return Some(0.0);
        }
        if !holds(1.0) {
            return None;
        }
        let (mut low, mut high) = (libm::log(LEAST), 0.0);
        let mut found = 1.0;
        for _ in 0..HALVINGS {
            let middle: f64 = (low + high) / 2.0;
            let epsilon = libm::exp(middle);
            if holds(epsilon) { (high, found) = (middle, epsilon) } else { low = middle }
        }
        Some(found)
    }
}

fn least(a: Float, b: Float) -> Float {
    enclosure::smaller(&a, &b)
}

/// Upper bound on E[(X - a)_+] by the central moment of order p, for a >= 0.
fn excess(p: u32, moment: &Enclosure, a: &Enclosure) -> Float {
    let number = |x: u32| Enclosure::rational(&Rational::from(x), 2 * BITS);
    let bound = if p == 2 {
        // (sqrt(M + a^2) - a) / 2 = M / (2 (sqrt(M + a^2) + a))
        moment.div(&moment.add(&a.mul(a)).sqrt().add(a).mul(&number(2)))
    } else {
        // (M / p) ((p - 1) / (p a))^(p - 1)
        let ratio = number(p - 1).div(&number(p).mul(a));
        (1..p).fold(moment.div(&number(p)), |product, _| product.mul(&ratio))
    };
    let upper = Float::with_val_round(BITS, bound.upper(), Round::Up).0;
    if upper.is_nan() { Float::with_val(BITS, 1) } else { upper }
}

/// E[r^k] of all steps.
fn moment(phases: &[Phase], rho: &Rational, k: u32, bits: u32) -> Enclosure {
    let real = |x: &Rational| Enclosure::rational(x, bits);
    let pairs = Rational::from(u64::from(k) * u64::from(k.saturating_sub(1)));
    let beside = real(&(pairs * rho)).exp();
    phases.iter().fold(beside, |product, phase| {
        let rest = Rational::from(1 - &phase.rate);
        let mut one = Enclosure::double(0.0, bits);
        for j in 0..=k {
            let weight =
                Rational::from(rug::Integer::from(k).binomial(j)) * power(&rest, k - j) * power(&phase.rate, j);
            let pairs = Rational::from(u64::from(j) * u64::from(j.saturating_sub(1)));
            let exponent = pairs / Rational::from(&phase.sigma2 * 2_u32);
            one = one.add(&real(&weight).mul(&real(&exponent).exp()));
        }
        product.mul(&one.ln().mul(&real(&Rational::from(phase.steps))).exp())
    })
}

fn power(x: &Rational, k: u32) -> Rational {
    rug::ops::Pow::pow(x.clone(), k)
}

/// ln E[r^2] of all steps of a phase, 1 + g^2 (exp(1 / s2) - 1) for one, in doubles.
fn ln_of_square_approx(phase: &Phase) -> f64 {
    let (rate, s2) = (phase.rate.to_f64(), phase.sigma2.to_f64());
    phase.steps as f64 * libm::log1p(rate * rate * libm::expm1(s2.recip()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        loss::{
            sampled::{Direction, SampledSum, Side},
            stop::Stop,
        },
        numeric::rational::parse,
    };

    fn phase(rate: &str, sigma2: &str, steps: u64) -> Phase {
        Phase { rate: parse(rate).unwrap(), sigma2: parse(sigma2).unwrap(), steps, group: 1 }
    }

    /// Never below what a contour or the closed form of one step encloses, and for rare samples at most twice that within a few deviations.
    #[test]
    fn no_delta_exceeds_the_bound() {
        for (rate, sigma2, steps, rho) in
            [("0.01", "4", 100, "0"), ("0.001", "1", 1, "0"), ("0.001", "1", 300, "1/1000"), ("1/3", "16", 1, "0")]
        {
            let (phase, rho) = (phase(rate, sigma2, steps), parse(rho).unwrap());
            let moments = CentralMoments::of_phases(std::slice::from_ref(&phase), &rho);
            let deviation = moments.moments[0].1.upper().to_f64().sqrt();
            let sum = SampledSum::new([phase], rho);
            for times in [0.0, 0.3, 1.0, 3.0] {
                let epsilon = Rational::from_f64(deviation * times).unwrap();
                let above = moments.delta_above(&epsilon).unwrap();
                for direction in [Direction::Remove, Direction::Add] {
                    let value = sum.hockey_stick(direction, Side::Delta, &epsilon, 8, &Stop::default()).unwrap().value;
                    assert!(*value.lower() <= above, "{rate} {sigma2} {times}: {value} {above}");
                }
                assert!(times > 1.0 || above.to_f64() <= deviation / 2.0 + 1e-12, "{above}");
            }
        }
    }

    /// E[(r - 1)^2] = prod (1 + g^2 (exp(1 / s2) - 1)) - 1, of very rare samples too.
    #[test]
    fn the_variance_has_its_digits() {
        let moments = CentralMoments::of_phases(&[phase("1e-6", "1", 1000)], &Rational::new());
        let variance = libm::expm1(1000.0 * libm::log1p(1e-12 * libm::expm1(1.0)));
        assert!((moments.moments[0].1.approximate() / variance - 1.0).abs() < 1e-10);
        // (M - 4 delta^2) / (4 delta) is the a at which the bound by the variance is delta.
        let (delta, a) = (1e-5, (variance - 4e-10) / 4e-5);
        let epsilon = moments.epsilon_above(&Delta::new(parse("1e-5").unwrap()).unwrap()).unwrap();
        assert!((epsilon / libm::log1p(a) - 1.0).abs() < 1e-3, "{epsilon} {a} {delta}");
        assert_eq!(moments.epsilon_above(&Delta::new(parse("1e-4").unwrap()).unwrap()), Some(0.0));
    }
}
