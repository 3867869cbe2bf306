//! Lower bound on the weighted error of every allocation, by weak duality.

use rug::{Float, Rational};

use super::{QueryTarget, check, most_tried};
use crate::{
    account::conversions::GaussianProfile,
    error::{Error, Result},
    loss::parameter::{Delta, Epsilon, Rho},
    numeric::{Certainty, Enclosure, halving::bisect, parallel, rational},
};

/// Lower bound on the weighted error of every allocation that keeps the promise within the bounds of the targets: no allocation is better
/// than one that was found by more than its distance from this number. Never below 0, which is the trivial bound.
///
/// Data processing: continuous noise N(0, t) on top of N_Z(0, s) reveals no more. With v = s t / (s + t) and q = exp(-2 pi^2 v)
/// the sum has the density of N(0, s + t) times (1 + 2 sum_k q^(k^2) cos(..)) / (1 + 2 sum_k exp(-2 pi^2 s k^2)) by Poisson
/// summation, which lies in [(1 - 2 S) / (1 + 2 S), 1 + 2 S] for S = q / (1 - q^3) >= sum_k q^(k^2). One v for all queries gives
/// s + t = s^2 / (s - v). With N counts in all, lo and hi these ends to the power N, every set of outcomes has probability
/// at least lo times, or at most hi times, the Gaussian one, so
///
/// delta(epsilon) >= lo delta_G(epsilon + ln(hi / lo); rho_v),  rho_v = sum_i m_i (s_i - v) / (2 s_i^2),
///
/// with m_i = n_i mu_i^2 for n_i counts that each move by the integer mu_i, which moves the cosines' argument and not their
/// bounds, and delta_G the profile of Gaussian noise, increasing in rho. An R with lo delta_G(..; R) > delta thus bounds rho_v of every
/// allocation that keeps the promise. For every lambda >= 0 the weighted error is then at least
/// sum_i min over s of (w_i s + lambda m_i (s - v) / (2 s^2)) - lambda R, less what `E[X^2]` is below sigma2.
pub fn least_possible(targets: &[QueryTarget], epsilon: &Epsilon, delta: &Delta) -> Result<Rational> {
    check(targets)?;
    let least = targets.iter().map(|target| &target.least).min().cloned().unwrap_or_default();
    // Every v up to half of the least sigma2 gives a valid bound; the largest is kept.
    let half = Rational::from(&least / 2_u32).min(Rational::from(2));
    let bound = |percent: &u32| bound_with(targets, epsilon, delta, &(&half * Rational::from((*percent, 100))));
    let bounds = parallel::try_map(&[100, 85, 70, 60, 50, 42, 35, 28, 22], bound)?;
    Ok(bounds.into_iter().fold(Rational::new(), Rational::max))
}

const BITS: u32 = 128;

/// An upper bound as a fraction. A tiny number is replaced by 2^-400, which is above it: its own fraction could have any number of bits.
fn upper(value: &Enclosure) -> Result<Rational> {
    let tiny = Float::with_val(BITS, Float::i_exp(1, -400));
    if *value.upper() > 0 && *value.upper() < tiny {
        return Ok(Rational::from(1) >> 400_u32);
    }
    value.upper_rational().ok_or(Error::Unbounded { what: "the least possible error" })
}

/// The bound for one v.
fn bound_with(targets: &[QueryTarget], epsilon: &Epsilon, delta: &Delta, v: &Rational) -> Result<Rational> {
    let (one, two) = (Enclosure::double(1.0, BITS), Enclosure::double(2.0, BITS));
    let pi = Enclosure::pi(BITS);
    let q_of = |s: &Rational| two.mul(&pi).mul(&pi).mul(&Enclosure::rational(s, BITS)).negate().exp();
    let q = q_of(v);
    let twice = two.mul(&q.div(&one.sub(&q.mul(&q).mul(&q))));
    let total: u64 = targets.iter().fold(0_u64, |sum, target| sum.saturating_add(target.count));
    let copies = Enclosure::rational(&Rational::from(total), BITS);
    if *twice.upper() >= 1 {
        return Ok(Rational::new());
    }
    let (ln_high, ln_low) =
        (one.add(&twice).ln().mul(&copies), one.sub(&twice).div(&one.add(&twice)).ln().mul(&copies));
    let moved = upper(&Enclosure::rational(epsilon, BITS).add(&ln_high).sub(&ln_low))?;
    let reached = upper(&Enclosure::rational(delta, BITS).mul(&ln_low.negate().exp()))?;
    if reached >= 1 {
        return Ok(Rational::new());
    }
    // R just above the root in doubles, proven to exceed the allowed delta.
    let excess = |rho: f64| -> Result<Enclosure> {
        Ok(GaussianProfile::new(Rho::new(rational::from_f64(rho)?)?).delta(&moved, 12))
    };
    let (mut low, mut high) = (-40.0, 40.0);
    for _ in 0..90 {
        let middle: f64 = (low + high) / 2.0;
        if excess(libm::exp(middle))?.at_most(&reached) == Certainty::Yes { low = middle } else { high = middle }
    }
    let mut most_rho = None;
    for more in [1e-11, 1e-9, 1e-6, 1e-3] {
        let rho = libm::exp(high) * (1.0 + more);
        if excess(rho)?.at_most(&reached) == Certainty::No {
            most_rho = Some(rho);
            break;
        }
    }
    let Some(most_rho) = most_rho else { return Ok(Rational::new()) };
    let lambda = rational::from_f64(multiplier(targets, v.to_f64(), most_rho))?;
    let mut sum = -(&lambda * rational::from_f64(most_rho)?);
    for target in targets {
        sum += least_term(target, v, &lambda)?;
        // sigma2 - E[X^2] <= 8 pi^2 sigma2^2 sum_k k^2 q^(k^2) <= 8 pi^2 sigma2^2 q (1 + q) / (1 - q)^3 with q = exp(-2 pi^2 sigma2), which
        // decreases in sigma2 from 1/pi^2 on. Below, E[X^2] >= 0 bounds the deficit by sigma2.
        let s = Enclosure::rational(&target.least, BITS);
        let q = q_of(&target.least);
        let rest = one.sub(&q);
        let series = q.mul(&one.add(&q)).div(&rest.mul(&rest).mul(&rest));
        let deficit = Enclosure::double(8.0, BITS).mul(&pi).mul(&pi).mul(&s).mul(&s).mul(&series);
        let deficit = if target.least < Rational::from((11, 100)) { Rational::from(1) } else { upper(&deficit)? };
        sum -= deficit * &target.weight;
    }
    Ok(sum)
}

/// The root s >= 3 v of w = lambda m (s - 2 v) / (2 s^3), in doubles; 3 v where the left side is larger everywhere.
fn root(weight: f64, lambda_m: f64, v: f64) -> f64 {
    let falls = |s: f64| weight * 2.0 * s * s * s < lambda_m * (s - 2.0 * v);
    libm::exp(bisect([libm::log(3.0 * v), 70.0], 120, |ln| falls(libm::exp(ln)))[0])
}

/// A lambda at which the minimizers spend the whole budget, in doubles: nearly the best one.
fn multiplier(targets: &[QueryTarget], v: f64, rho: f64) -> f64 {
    let spent = |lambda: f64| -> f64 {
        let term = |target: &QueryTarget| {
            let (m, least) = (target.moved().to_f64(), target.least.to_f64());
            let s = root(target.weight.to_f64(), lambda * m, v).max(least).min(most_tried(target).to_f64());
            m * (s - v) / (2.0 * s * s)
        };
        targets.iter().map(term).sum()
    };
    libm::exp(bisect([-60.0, 90.0], 70, |ln| spent(libm::exp(ln)) > rho)[0])
}

/// Lower bound on w s + lambda m (s - v) / (2 s^2) over least <= s <= most, for 2 v <= least; it is exact except for the width of the
/// bracket.
///
/// The second term decreases from 2 v on. Up to 3 v it is concave, so the minimum of that part is at an end. Beyond 3 v it is convex: the
/// minimum is at an end, or in every bracket of the sign change of the derivative, and there it is at least the sum of the smaller value of
/// each term.
fn least_term(target: &QueryTarget, v: &Rational, lambda: &Rational) -> Result<Rational> {
    let lambda_m = lambda * target.moved();
    let second = |s: &Rational| (&lambda_m * Rational::from(s - v)) / (Rational::from(s * s) * 2_u32);
    let term = |s: &Rational| Rational::from(&target.weight * s) + second(s);
    let slope = |s: &Rational| {
        let cube = Rational::from(s * s) * s * 2_u32;
        &target.weight - (&lambda_m * (s - Rational::from(v * 2_u32))) / cube
    };
    let turn = Rational::from(v * 3_u32);
    // Without a greatest sigma2 there is no last point.
    let (first, last) = (target.least.clone().max(turn.clone()), target.most.as_ref());
    let end_of_concave = last.map_or_else(|| first.clone(), |last| first.clone().min(last.clone()));
    let concave = (target.least < turn).then(|| term(&target.least).min(term(&end_of_concave)));
    let convex = if let Some(last) = last.filter(|last| first >= **last) {
        term(last)
    } else if slope(&first) >= 0 {
        term(&first)
    } else if let Some(last) = last.filter(|last| slope(last) <= 0) {
        term(last)
    } else {
        let at = root(target.weight.to_f64(), lambda_m.to_f64(), v.to_f64());
        let mut bound = Rational::new();
        for width in [1e-12, 1e-9, 1e-6, 1e-3] {
            let a = rational::from_f64(at * (1.0 - width))?.max(first.clone());
            let b = rational::from_f64(at * (1.0 + width))?;
            if slope(&a) <= 0 && slope(&b) >= 0 {
                bound = Rational::from(&target.weight * &a) + second(&b);
                break;
            }
        }
        bound
    };
    Ok(concave.map_or_else(|| convex.clone(), |concave| concave.min(convex.clone())))
}
