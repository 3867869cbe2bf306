//! The mean information in a few counts: a sum over their outputs, of which no term is negative, so that it keeps its digits however small.
//!
//! With X_i the noise of count i of this rho_i, g_i its masses, and w = w_0 exp(-sum of rho_i (2 X_i + 1)), all averages are of the form
//!
//! ```text
//! F(w_0) = E[w / (1 + w)]:   1 - marginal = F((1 - p) / p),   marginal = F(exp(2 sum of rho_i) p / (1 - p)),
//! ```
//!
//! the second because -X_i has the law of X_i. For g_i exp(-rho_i (2 x + 1)) = exp(-rho_i (x + 1)^2) / Z_i the factors d_i = exp(-rho_i (2 X_i + 1))
//! have mean one, so by Jensen E[min(1, v d_i)] <= min(1, v) for every v.
//!
//! # What is left out
//!
//! Let the counts be in falling order of rho, and U_i = E[min(1, w)] over the counts before i. As w / (1 + w) <= min(1, w), the outputs of count i
//! beyond its reach add at most T_i U_i, T_i the larger of P[|X_i| > reach] and E[d_i; |X_i| > reach].
//!
//! # Strides
//!
//! The sum over every k-th output of a count of much noise, times k, differs from that over all by Fourier coefficients of the summand at real x
//! (Poisson). On Im x = +-a with a <= pi sigma2 / 2, exp(-rho 2 i a) has an angle of at most pi / 2, so |w / (1 + w)| <= min(1, |w|), and a Gaussian
//! of complex argument grows by exp(a^2 / (2 sigma2)). With r = exp(a^2 / (2 sigma2) - 2 pi a / k) both rules err by at most
//! 2 r / (1 - r) min(1, v), v all of w but d_i: together by e_i = 4 r / (1 - r). The best a is 2 pi sigma2 / k from k = 4 on, pi sigma2 / 2 before. Counts are
//! replaced one after the other, the last one first; weights of those replaced add up to at most 1 + e_i, with d_i or without.

use rug::{Float, Rational};

use super::{exp, plus_at_most, plus_or_minus};
use crate::{loss::theta, numeric::Enclosure};

/// Most outputs of all counts together.
const MOST_TERMS: f64 = 400_000.0;

/// One count.
struct Axis {
    /// The distance of neighboring outputs: one in `stride` is summed.
    stride: i64,
    /// Times the stride, k g(k x) for x from -last to last.
    weights: Vec<Enclosure>,
    /// exp(-rho (2 k x + 1)) for the same x.
    factors: Vec<Enclosure>,
    /// Upper bounds on T and e.
    beyond: Enclosure,
    alias: Enclosure,
}

/// F(w_0) to a relative width of 10^-digits; `None` where the outputs are too many.
pub(super) fn average(rhos: &[Rational], w: &Enclosure, digits: u32) -> Option<Enclosure> {
    const MOST_TRIES: u32 = 6;
    let mut sorted: Vec<&Rational> = rhos.iter().collect();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let mut nats = f64::from(digits) * std::f64::consts::LN_10 + 5.0;
    for _ in 0..MOST_TRIES {
        let plan = plan(&sorted, nats);
        if plan.iter().map(|(_, last)| (2 * last + 1) as f64).product::<f64>() > MOST_TERMS {
            return None;
        }
        let bits = (nats / std::f64::consts::LN_2) as u32 + 40;
        let axes: Vec<Axis> = sorted.iter().zip(plan).map(|(rho, plan)| Axis::new(rho, plan, bits)).collect();
        let value = within(&axes, w, bits);
        if value.is_tight(digits) {
            return Some(value);
        }
        nats *= 1.5;
    }
    None
}

/// A stride for each count, and the last output in strides: so that errors are about exp(-nats) of F. These choices need no proof.
fn plan(sorted: &[&Rational], nats: f64) -> Vec<(i64, i64)> {
    let approx: Vec<f64> = sorted.iter().map(|rho| rho.to_f64()).collect();
    let one = |(place, rho): (usize, &f64)| {
        // F is at least about exp(-rho) of that over the counts before, for each count from here on.
        let nats = nats + approx[place..].iter().sum::<f64>();
        let widest = (1.0 / rho * std::f64::consts::PI.powi(2) / nats).sqrt().floor();
        let fits = |stride: i64| strip(stride).to_f64() * std::f64::consts::PI.powi(2) / (2.0 * rho) >= nats;
        let stride = if widest >= 4.0 { widest as i64 } else { (2..=3).rev().find(|k| fits(*k)).unwrap_or(1) };
        let last = ((nats / rho).sqrt() + 1.0) / stride as f64;
        (stride, last.ceil() as i64)
    };
    approx.iter().enumerate().map(one).collect()
}

/// By how many pi^2 sigma2 the exponent of r is below zero: 1 / k - 1 / 8, or 2 / k^2 from k = 4 on.
fn strip(stride: i64) -> Rational {
    let inverse = Rational::from((1, stride));
    if stride < 4 { inverse - Rational::from((1, 8)) } else { inverse.square() * 2_u32 }
}

impl Axis {
    fn new(rho: &Rational, (stride, last): (i64, i64), bits: u32) -> Axis {
        let sigma2 = Rational::from(1) / Rational::from(rho * 2_u32);
        let short = |x: f64| Enclosure::double(x, 64);
        let scale = Enclosure::double(stride as f64, bits).div(&theta::gaussian_sum(&sigma2, bits));
        let x = |x: i64| Rational::from(x) * stride;
        let weights: Vec<Enclosure> = (0..=last).map(|at| exp(&-(x(at).square() * rho), bits).mul(&scale)).collect();
        let factors = (-last..=last).map(|at| exp(&-((x(at) * 2_u32 + 1_u32) * rho), bits)).collect();
        // The first outputs beyond are y + 1 and more from zero, and y and more from -1. Squares grow by 2 k y a stride at least, on both sides.
        let y = x(last + 1) - 1_u32;
        let first = exp(&-(Rational::from(y.square_ref()) * rho), 64).mul(&scale);
        let ratio = exp(&-(y * rho * 2_u32 * stride), 64);
        let beyond = first.mul(&short(2.0)).div(&short(1.0).sub(&ratio));
        let alias = if stride == 1 {
            short(0.0)
        } else {
            let pi = Enclosure::pi(64);
            let r = pi.mul(&pi).mul(&Enclosure::rational(&(strip(stride) * &sigma2), 64)).negate().exp();
            r.mul(&short(4.0)).div(&short(1.0).sub(&r))
        };
        let weights = (-last..=last).map(|at| weights[at.unsigned_abs() as usize].clone()).collect();
        Axis { stride, weights, factors, beyond, alias }
    }

    fn each(&self) -> impl Iterator<Item = (&Enclosure, &Enclosure)> {
        self.weights.iter().zip(&self.factors)
    }
}

/// F(w_0) with all errors.
fn within(axes: &[Axis], w: &Enclosure, bits: u32) -> Enclosure {
    let one = Enclosure::double(1.0, bits);
    let share = |w: &Enclosure| w.div(&one.add(w));
    let sum = total(axes, w, &one, &share);
    // U of the counts so far that have no stride; those come first, as their rho is larger.
    let all = Enclosure::double(1.0, 64);
    let mut before = smaller_than_one(w);
    let (mut left_out, mut aliases) = (Enclosure::double(0.0, 64), Enclosure::double(0.0, 64));
    let plain = axes.iter().take_while(|axis| axis.stride == 1).count();
    for (place, axis) in axes.iter().enumerate() {
        left_out = left_out.add(&axis.beyond.mul(&before));
        aliases = aliases.add(&axis.alias.mul(&before));
        // Of the last count it is not needed.
        if place + 1 < axes.len() && place < plain {
            before = total(&axes[..=place], w, &all, &smaller_than_one).add(&left_out);
        }
    }
    let grown = axes.iter().fold(all.clone(), |grown, axis| grown.mul(&all.add(&axis.alias)));
    let sum = plus_at_most(&sum, &left_out.mul(&grown));
    plus_or_minus(&sum, &aliases.mul(&grown)).clamp(0.0, 1.0)
}

/// Upper bound on min(1, w), as an enclosure of it.
fn smaller_than_one(w: &Enclosure) -> Enclosure {
    let one = |end: &Float| {
        if *end < 1 { Float::with_val_round(64, end, rug::float::Round::Up).0 } else { Float::with_val(64, 1) }
    };
    Enclosure::new(
        Float::with_val_round(64, w.lower(), rug::float::Round::Down).0.min(&Float::with_val(64, 1)),
        one(w.upper()),
    )
}

/// The sum of weights times a function of w over all outputs within reach.
fn total(axes: &[Axis], w: &Enclosure, weight: &Enclosure, of: &impl Fn(&Enclosure) -> Enclosure) -> Enclosure {
    let Some((axis, rest)) = axes.split_first() else { return of(w).mul(weight) };
    let zero = Enclosure::double(0.0, weight.lower().prec());
    axis.each().fold(zero, |sum, (own, factor)| sum.add(&total(rest, &w.mul(factor), &weight.mul(own), of)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        numeric::rational::parse,
        risk::{marginal::marginal_by_integral, odds},
    };

    fn rhos(text: &str) -> Vec<Rational> {
        text.split(',').map(|rho| parse(rho).unwrap()).collect()
    }

    fn against(prior: &str) -> Enclosure {
        Enclosure::rational(&Rational::from(odds(&parse(prior).unwrap()).recip_ref()), 400)
    }

    /// With and without strides, against Mellin's integral in long numbers.
    #[test]
    fn averages_over_outputs_are_those_of_the_integral() {
        for (rho, prior) in [
            ("1/2,1/4", "1/3"),
            ("1/5,1/2,1", "1/1000"),
            ("3,1/3", "999/1000"),
            ("8,7", "1/2"),
            ("1/30,1/40", "1/7"),
            ("1/100,1/60", "0.999999"),
            ("1e-4,1/50", "1/100"),
            ("2,1e-3,1e-5", "1/9"),
        ] {
            let rhos = rhos(rho);
            let missing = average(&rhos, &against(prior), 14).unwrap();
            let integral =
                Enclosure::double(1.0, 200).sub(&marginal_by_integral(&parse(prior).unwrap(), &rhos, 1, 200));
            assert!(missing.is_tight(14) && missing.overlaps(&integral), "{rho} {prior}: {missing:?} {integral:?}");
        }
    }

    /// Too short a reach and too long strides make averages wide, and not false.
    #[test]
    fn what_is_left_out_is_bounded() {
        for (rho, prior) in [("1/2,1/4", "1/3"), ("4,1/5", "0.99"), ("1/20,1/30", "1/2"), ("1/90,1/90", "0.9")] {
            let sorted = rhos(rho);
            let truth = average(&sorted, &against(prior), 20).unwrap();
            for nats in [0.5, 1.0, 2.0, 4.0, 8.0] {
                let refs: Vec<&Rational> = sorted.iter().collect();
                let axes: Vec<Axis> =
                    refs.iter().zip(plan(&refs, nats)).map(|(rho, plan)| Axis::new(rho, plan, 100)).collect();
                let value = within(&axes, &against(prior), 100);
                assert!(value.overlaps(&truth), "{rho} {nats}: {value:?} {truth:?}");
            }
            for strides in [[(2, 3), (3, 2)], [(5, 9), (7, 9)], [(1, 1), (4, 20)], [(20, 2), (20, 2)]] {
                let axes: Vec<Axis> = sorted.iter().zip(strides).map(|(rho, plan)| Axis::new(rho, plan, 100)).collect();
                let value = within(&axes, &against(prior), 100);
                assert!(value.overlaps(&truth), "{rho} {strides:?}: {value:?} {truth:?}");
            }
        }
    }

    /// Averages far below every double, and more outputs than are summed over.
    #[test]
    fn tiny_averages_keep_their_digits_and_many_outputs_are_refused() {
        let tiny = average(&rhos("1000,1000,1000"), &against("1/100"), 12).unwrap();
        // One of three counts is one below zero, which leaves w = 99 exp(-1000): 3 exp(-1000) of it. Or two are: 3 exp(-2000) of it, and w is large.
        let ln = tiny.ln().approximate();
        assert!(tiny.is_tight(12) && (ln + 2000.0 - 300.0_f64.ln()).abs() < 1e-9, "{ln}");
        assert!(average(&rhos("0.2,0.2,0.2,0.2,0.2,0.2"), &against("1/2"), 12).is_none());
    }
}
