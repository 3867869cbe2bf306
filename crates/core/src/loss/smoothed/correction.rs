//! The correction C: the terms of the losses close to eps, and bounds on all others.

use std::sync::atomic::AtomicU64;

use rayon::prelude::*;
use rug::{Float, Integer, Rational, float::Round};

use super::{
    close::{Close, TooMany},
    parts::{Distances, Parts},
    profile::Profile,
    state::{MORE_DIGITS, MOST_MORE_DIGITS, SPARE_NATS, Smoothed},
    tails::{beyond_energy, energy_beyond, exp_of_minus},
};
use crate::{
    loss::{
        atoms::{
            coarse::{self, exact_exponent},
            tilt,
        },
        stop::Stop,
    },
    numeric::{Enclosure, precision},
};

/// One processor sums this many points.
const PART: usize = 64;

/// A point near eps.
struct Near {
    /// The index of the enumerated loss.
    listed: usize,
    multiples: Vec<i64>,
    /// eps - l, in the units of its enumerated loss.
    distance: Integer,
    /// Upper bound on ln of its term, without the factor of all points.
    ln_most: f64,
}

/// The bounds of a correction, chosen in doubles.
struct Bounds {
    c: Rational,
    /// ln M(c) exp(-c eps)
    ln_scale: Enclosure,
    width: f64,
    energy: f64,
    cut: u32,
}

impl Smoothed {
    /// The bounds for an error of exp(ln_error) in all.
    fn bounds(&self, parts: &Parts, epsilon: &Rational, s: f64, ln_error: f64, bits: u32) -> Bounds {
        let tilt = self.outline.hockey_plan(&self.sum, epsilon).tilt();
        let c = tilt::exact(tilt);
        let ln_scale = self.sum.ln_mgf(&c, bits).sub(&exact_exponent(&Rational::from(&c * epsilon), bits));
        let size = tilt.abs();
        let needed = (ln_scale.approximate() + libm::log(0.63 * s) - ln_error + SPARE_NATS).max(1.0);
        // x^2 / (2 s^2) - |c| x >= needed + |c| s^2 / 2 for x = W - s^2 / 2.
        let x = size * s * s + s * (size * size * s * s + 2.0 * needed + size * s * s).sqrt();
        let width = (x + s * s / 2.0) * (1.0 + 1e-9);
        let needed = needed + size * width;
        let energy = energy_beyond(parts.fine.len(), needed);
        let cut = (needed / std::f64::consts::LN_2).clamp(8.0, 1e6) as u32 + 2;
        Bounds { c, ln_scale, width, energy, cut }
    }

    /// Upper bound on the terms of all points that are not considered, `missing` being the truncated mass of the enumerated losses.
    fn left_out(parts: &Parts, bounds: &Bounds, s: f64, missing: &Float) -> Enclosure {
        const BITS: u32 = 96;
        let real = |x: f64| Enclosure::double(x, BITS);
        let (width, c) = (real(bounds.width), Enclosure::rational(&bounds.c, BITS));
        let size = if bounds.c < 0 { c.negate() } else { c };
        let mean = real(s * s / 2.0);
        let beyond = width.sub(&mean).div(&real(s));
        let far = beyond.mul(&beyond).div(&real(2.0)).negate().exp();
        let outside = beyond_energy(parts.fine.len(), bounds.energy, BITS);
        let missing = Enclosure::new(Float::new(64), missing.clone());
        let share = far.add(&outside).add(&missing);
        share.mul(&real(0.63).mul(&real(s))).mul(&bounds.ln_scale.add(&size.mul(&width)).exp())
    }

    /// C, to an error of about 10^-digits of exp(ln_answer), and the number of points summed; `None` where numbers would not fit.
    pub(super) fn correction(
        &self,
        epsilon: &Rational,
        k: i32,
        digits: u32,
        ln_answer: f64,
        stop: &Stop,
    ) -> std::result::Result<Option<(Enclosure, usize)>, TooMany> {
        let Some(parts) = self.parts(digits) else { return Ok(None) };
        let (s, bits) = (2f64.powi(-k), precision::bits(digits, 64));
        let ln_error = ln_answer - f64::from(digits + MORE_DIGITS) * std::f64::consts::LN_10;
        let bounds = self.bounds(&parts, epsilon, s, ln_error, bits);
        let Some(listed) = self.list(&parts, &bounds.c, bounds.cut, bits, digits) else { return Ok(None) };
        let rungs = parts.rungs(&bounds.c);
        let width = tilt::exact(bounds.width);
        let Some(close) = Close::new(&rungs, &width, bounds.energy) else { return Ok(None) };
        let rho = parts.rho();
        let looked_at = AtomicU64::new(0);
        let of_listed = |(index, (atom, ln_mass)): (usize, (&coarse::Atom, &f64))| {
            let target = Rational::from(epsilon - &atom.loss) - &rho;
            let of = Distances::new(&parts.fine, &target);
            let mut near: Vec<Near> = Vec::new();
            close.each_within(&target, &looked_at, stop, &mut |multiples| {
                let distance = of.distance(&multiples);
                let ln_most = ln_mass + ln_most(&close, &multiples, of.approximate(&distance), s);
                near.push(Near { listed: index, multiples, distance, ln_most });
            })?;
            Ok((of, near))
        };
        let found = listed.losses.par_iter().zip(&listed.ln_masses).enumerate().map(of_listed);
        let (distances, near): (Vec<Distances>, Vec<Vec<Near>>) =
            found.collect::<std::result::Result<Vec<_>, TooMany>>()?.into_iter().unzip();
        let near = near.into_iter().flatten().collect();
        let left_out = Self::left_out(&parts, &bounds, s, &listed.missing);
        let profile = self.profile(k, digits + MOST_MORE_DIGITS + 2);
        let (sum, asked) = self.summed(near, &listed.losses, &distances, &parts, &profile, ln_error, digits, stop)?;
        let upper = Float::with_val_round(bits, sum.upper() + left_out.upper(), Round::Up).0;
        Ok(Some((Enclosure::new(sum.lower().clone(), upper), asked)))
    }

    /// The terms of the points: those that matter are computed, the largest first; the others are bounded.
    #[expect(clippy::too_many_arguments, reason = "one step of `correction`")]
    fn summed(
        &self,
        mut near: Vec<Near>,
        listed: &[coarse::Atom],
        distances: &[Distances],
        parts: &Parts,
        profile: &Profile,
        ln_error: f64,
        digits: u32,
        stop: &Stop,
    ) -> std::result::Result<(Enclosure, usize), TooMany> {
        let bits = precision::bits(digits, 64);
        let factor = parts.normaliser(bits);
        let ln_factor = factor.ln_above();
        near.par_sort_by(|a, b| b.ln_most.total_cmp(&a.ln_most));
        let ln_share = ln_error - SPARE_NATS - ln_factor;
        // Upper bounds on the sum of all terms from each one on, in units of exp(ln_share); the millionth that `most` adds below covers the
        // rounding errors of logarithms and sums.
        let mut after = vec![0.0_f64; near.len() + 1];
        for (at, point) in near.iter().enumerate().rev() {
            after[at] = (after[at + 1] + libm::exp(point.ln_most - ln_share)) * (1.0 + 1e-12);
        }
        let asked = after.partition_point(|rest| *rest > 1.0);
        let zero = || Enclosure::double(0.0, bits);
        let value = |point: &Near| {
            // The digits of this term above the error.
            let wanted =
                ((point.ln_most - ln_share) / std::f64::consts::LN_10).clamp(2.0, f64::from(digits + MOST_MORE_DIGITS));
            let wanted = wanted.ceil() as u32 + 2;
            let distance = distances[point.listed].exact(&point.distance);
            let value = profile.at(&distance.clone().abs(), wanted);
            let mut exponent = parts.energy(&point.multiples);
            // w = exp(eps - l) above eps.
            if distance < 0 {
                exponent -= &distance;
            }
            let mass = exp_of_minus(&exponent, wanted).mul(&listed[point.listed].p).mul(&value);
            parts.rippled(mass, point.multiples.iter().map(|&x| i128::from(x)))
        };
        // In parts of a fixed number of points, so that the rounding does not depend on the machine.
        let of_part = |points: &[Near]| {
            if stop.is_set() {
                return Err(TooMany);
            }
            Ok(points.iter().fold(zero(), |sum, point| sum.add(&value(point))))
        };
        let sums: Vec<Enclosure> =
            near[..asked].par_chunks(PART).map(of_part).collect::<std::result::Result<_, _>>()?;
        let sum = sums.iter().fold(zero(), |sum, part| sum.add(part));
        let most = after[asked] * parts.most_rippled() * (1.0 + 1e-6);
        let others = Enclosure::double(ln_share, 64).exp().mul(&Enclosure::double(most, 64));
        let others = Enclosure::new(Float::new(64), others.upper().clone());
        Ok((sum.add(&others).mul(&factor).mul(&parts.one(bits)), asked))
    }
}

/// Upper bound on ln of exp(-x_1^2 / (2 v_1) - ...) w D for a point, without its enumerated mass; the last terms cover the rounding errors, also of
/// variances and distances that are rounded to doubles.
fn ln_most(close: &Close, multiples: &[i64], distance: f64, s: f64) -> f64 {
    let squares: f64 =
        close.variances().zip(multiples).map(|(variance, &x)| (x as f64).powi(2) / (2.0 * variance)).sum();
    let beyond = (distance.abs() * (1.0 - 1e-12) - s * s / 2.0).max(0.0) / s;
    let ln_profile = libm::log(0.63 * s) - beyond * beyond / 2.0 + distance.min(0.0);
    ln_profile - squares + 1e-12 * (squares + ln_profile.abs()) + 1e-12
}

#[cfg(test)]
mod measured;
