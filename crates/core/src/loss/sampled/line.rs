//! The integral of phi(w) r(w)^p along a line Im w = theta, by the trapezoid rule, with its error.
//!
//! Nodes are equidistant in u = v - 1 / (2 s2), where r = 1 - g + g exp(u) does not depend on the noise, so that phases of one rate and of nearly equal noise share
//! them: with the density exp(-u^2 s2 / 2 - u / 2 - 1 / (8 s2)) of each.
//!
//! The error of the rule with step d is at most 2 B / (exp(2 pi a / d) - 1), where B bounds the integral of the modulus on both lines Im w = theta +- a,
//! and the integrand is analytic between them: theta + a < pi. Both need tau = 0 or theta >= a, so that arg r >= 0 on the lower edge. On these lines
//!
//! ```text
//! |phi(w)| = exp((Im w)^2 s2 / 2) phi(v),     |r(w)|^p <= cos((theta + a) / 2)^min(p, 0) r(v)^p,     E[r^p] <= J(p),
//! J(p) = (1 - g)^p for p <= 0 (r >= 1 - g),
//! J(p) = 1 between 0 and 1 (x^p is concave, and E[r] = 1),
//! J(p) = E[r^m]^(m + 1 - p) E[r^(m + 1)]^(p - m) for p >= 1 and the integer m below it (ln E[r^p] is convex in p), with the binomial sum
//!        E[r^m] = sum over k of C(m, k) (1 - g)^(m - k) g^k exp(k (k - 1) / (2 s2)),
//! J(p) = 1 - g + g exp(p (p - 1) / (2 s2)) for both signs (x^p is convex): for p < 0 if it is less, and for large p.
//! ```
//!
//! The same bound serves the integral of the modulus along Im w = theta: there |r|^p = (r(w + i theta) r(w - i theta))^(p / 2) and exp(-tau arg r) are analytic in
//! w, and the real part of the continued arg r is the mean of two values of arg r on lines 0 <= Im <= theta + a, so that it is not negative.

use rug::{Float, Rational, float::Round};

use super::{
    Phase, Strand,
    arithmetic::{Arithmetic, Precision, exact, exp, im},
    phase::Ratio,
    table::Table,
};
use crate::{
    error::{Error, Result},
    numeric::{Enclosure, field::Real, rational, twofold::ComplexTwofold, upper_bound::UpperBound},
};

/// Bits of error bounds.
const BITS: u32 = 64;
/// The most nodes of a line.
const MOST_NODES: f64 = 1e5;

/// Nodes u = step k, from <= k <= to, on the line Im w = theta.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    pub(super) theta: f64,
    pub(super) half_width: f64,
    pub(super) step: f64,
    pub(super) from: i64,
    pub(super) to: i64,
}

/// A node: ln of its weight phi(w) r(w)^p d / N, and ln r(w).
#[derive(Clone, Debug)]
pub(super) struct Node<F> {
    pub(super) ln_weight: F,
    pub(super) ln_r: F,
}

impl Grid {
    /// How many nodes.
    pub(super) fn len(&self) -> f64 {
        // In doubles: the ends of a grid that is far too long are those of the integers.
        self.to as f64 - self.from as f64 + 1.0
    }

    /// A grid whose errors are about exp(ln_relative) times the moment, whose logarithm is about `ln_moment`, where it is bounded nearly as closely.
    pub(super) fn choose(strand: &Strand, p: f64, ln_moment: f64, strip: [f64; 2], ln_relative: f64) -> Grid {
        Grid::choose_by(strand, p, ln_moment.max(0.0) + 0.7, strip, ln_moment + ln_relative)
    }

    /// A grid whose errors are about exp(ln_target), where ln of the moment is bounded by `ln_above`: chosen in doubles, and bounded by [`Grid::ln_error`]
    /// later.
    fn choose_by(strand: &Strand, p: f64, ln_above: f64, [theta, half_width]: [f64; 2], ln_target: f64) -> Grid {
        let (s2, most, g) = (strand.least.sigma2.to_f64(), strand.most.to_f64(), strand.rate().to_f64());
        let (edge, turns, ratio) = (theta + half_width, strand.least.turns(), Ratio::new(&strand.least));
        let ln_b = edge * edge * most / 2.0 + p.min(0.0) * libm::log(libm::cos(turns * edge / 2.0)) + ln_above;
        let step = std::f64::consts::TAU * half_width / (ln_b - ln_target + 1.5).max(3.0);
        let growth = p.min(0.0) * (turns * libm::log1p(-g) + libm::log(libm::cos(turns * theta / 2.0)));
        let reach = theta * theta * most / 2.0 - ln_target + 3.0;
        let left = (2.0 * (reach + growth).max(1.0) / s2).sqrt();
        let mut right = left;
        if p > 0.0 {
            // From the far end inwards, while the terms stay negligible.
            let ln_term = |from: f64, to: f64| reach - from * from * s2 / 2.0 + p * ratio.ln(to - 1.0 / (2.0 * s2));
            right = far_end(p * turns, s2).max(left);
            while right > 1e-3 * left && ln_term(right / GROWTH, right) < -6.0 {
                right /= GROWTH;
            }
        }
        // Steps of few bits, so that nodes are short numbers.
        let step = f64::from(step as f32);
        let (from, to) = (-left - 1.0 / (2.0 * s2), right - 1.0 / (2.0 * most));
        Grid { theta, half_width, step, from: (from / step).floor() as i64, to: (to / step).ceil() as i64 }
    }

    /// Upper bound on ln of the error of the trapezoid rule and of the nodes left out, relative to N = exp(ln_norm). `ln_above` is an upper bound on ln F(p).
    /// of all members of the strand.
    pub(super) fn ln_error(&self, strand: &Strand, p: &Rational, ln_norm: f64, ln_above: f64) -> Result<f64> {
        let real = |x: &Rational| Enclosure::rational(x, BITS);
        let double = |x: f64| Enclosure::double(x, BITS);
        let (one, half) = (double(1.0), double(0.5));
        let (s2, rate) = (strand.sigma2(BITS), real(strand.rate()));
        // Arguments of r are at most K times those of the line: there is no zero between both edges.
        let turns = strand.least.turns();
        if turns * (self.theta + self.half_width) > 3.1 {
            return Err(Error::NotFinite { value: self.theta });
        }
        let (group, half_turns) = (double(turns), double(turns / 2.0));
        let norm = double(ln_norm).negate().exp();
        let theta = double(self.theta);
        let is_negative = *p < 0;
        // B: see the head of this file.
        let edge = theta.add(&double(self.half_width));
        let ln_cos = |angle: &Enclosure| edge_cos(angle).ln();
        let mut ln_b = edge.mul(&edge).mul(&s2).mul(&half);
        if is_negative {
            ln_b = ln_b.add(&real(p).mul(&ln_cos(&edge.mul(&half_turns))));
        }
        let periods = Enclosure::pi(BITS).mul(&double(2.0 * self.half_width)).div(&double(self.step));
        let rule = UpperBound::exp(&ln_b.add(&double(ln_above)))
            .mul(&UpperBound::of_geometric(&periods))
            .mul(&UpperBound::of_enclosure(&double(2.0)));
        // Beyond the last nodes the terms are below exp(u(v)) with u(v) = (theta^2 - v^2) s2 / 2 + growth, and fall geometrically.
        let growth = match is_negative {
            // r >= (1 - g)^K, and |r| >= cos(K theta / 2) r.
            true => real(p).mul(&one.sub(&rate).ln().mul(&group).add(&ln_cos(&theta.mul(&half_turns)))),
            false => double(0.0),
        };
        let tail = |first: i64, slope: &Enclosure| -> Result<UpperBound> {
            let u = real(&(rational::from_f64(self.step)? * Rational::from(first)));
            let v = u.add(&half.div(&s2));
            let size = v.max(&v.clone().negate());
            // r <= max(1, exp(K (v - 1 / (2 s2)))), and growth in v at most the slope.
            let above = u.max(&double(0.0)).mul(slope);
            let u = theta.mul(&theta).sub(&v.mul(&v)).mul(&s2).mul(&half).add(&growth).add(&above);
            // u(v + d) - u(v) <= -v d s2 + slope d
            let falls = size.mul(&s2).sub(slope).mul(&double(self.step));
            // sum of q^k = 1 + 1 / (1 / q - 1)
            let series = UpperBound::of_enclosure(&one).add(&UpperBound::of_geometric(&falls));
            Ok(UpperBound::exp(&u).mul(&series))
        };
        let mut tails = tail(self.from - 1, &double(0.0))?;
        if *p > 0 {
            let (between, last) = self.right_tail(strand, p)?;
            tails = tails.add(&between).add(&tail(last, &real(p).mul(&group))?);
        } else {
            tails = tails.add(&tail(self.to + 1, &double(0.0))?);
        }
        let density = double(self.step).mul(&s2.div(&Enclosure::pi(BITS).mul(&double(2.0))).sqrt());
        let all = rule
            .add(&tails.mul(&UpperBound::of_enclosure(&density)))
            .mul(&UpperBound::of_enclosure(&norm))
            .into_float();
        Ok(Enclosure::new(all.clone(), all).ln_above())
    }

    /// For p > 0: upper bound on the terms to the right of the last node, up to a node from which they fall geometrically; and that node.
    fn right_tail(&self, strand: &Strand, p: &Rational) -> Result<(UpperBound, i64)> {
        let real = |x: &Rational| Enclosure::rational(x, BITS);
        let half = Enclosure::double(0.5, BITS);
        let s2 = strand.sigma2(BITS);
        let theta = Enclosure::double(self.theta, BITS);
        let far = far_end(p.to_f64() * strand.least.turns(), strand.least.sigma2.to_f64());
        let far = (far / self.step).ceil();
        if far.is_nan() || far > MOST_FAR {
            return Err(Error::NotFinite { value: far });
        }
        let (mut sum, mut first, last) =
            (UpperBound::of_enclosure(&Enclosure::double(0.0, BITS)), self.to + 1, far as i64);
        while first < last {
            // Farther from the mean by this factor.
            let mean = 0.5 / (strand.most.to_f64() * self.step);
            let next = (((first as f64 + mean) * GROWTH - mean).ceil() as i64).clamp(first + 1, last);
            let at = |k: i64| Ok::<Enclosure, Error>(real(&(rational::from_f64(self.step)? * Rational::from(k))));
            let (low, high) = (at(first)?.add(&half.div(&s2)), at(next)?);
            // Of the nodes from `first` up to `next` each is at most exp((theta^2 - low^2) s2 / 2) r(high)^p, because r increases.
            let ln_r = strand.least.ratio(&high, BITS).ln();
            let u = theta.mul(&theta).sub(&low.mul(&low)).mul(&s2).mul(&half).add(&ln_r.mul(&real(p)));
            let count = Enclosure::rational(&Rational::from(next - first), BITS);
            sum = sum.add(&UpperBound::exp(&u).mul(&UpperBound::of_enclosure(&count)));
            first = next;
        }
        Ok((sum, first))
    }

    /// The nodes for r^p of one phase.
    pub(super) fn nodes<F: Arithmetic>(
        &self,
        phase: &Phase,
        p: &Rational,
        ln_norm: f64,
        precision: Precision<F>,
        bits: u32,
    ) -> Result<Vec<Node<F>>> {
        if self.len().is_nan() || self.len() > MOST_NODES {
            return Err(Error::NotFinite { value: self.len() });
        }
        let number = |x: &Rational| F::Real::rational(x, precision);
        let real = |x: &Rational| Enclosure::rational(x, bits);
        let s2 = real(&phase.sigma2);
        // ln (d sqrt(s2 / (2 pi)) exp(-1 / (8 s2)) / N)
        let density = s2.div(&Enclosure::pi(bits).mul(&Enclosure::double(2.0, bits))).sqrt();
        let constant = density.mul(&Enclosure::double(self.step, bits)).ln().sub(&Enclosure::double(ln_norm, bits));
        let constant = constant.sub(&real(&(phase.sigma2.clone().recip() / 8_u32)));
        let constant = F::new(F::real(&constant, precision), exact(0.0, precision));
        // g exp(u + i theta)
        let ln_first = F::real(&real(&phase.rate).ln(), precision);
        let turn = F::cis(&exact(self.theta, precision));
        let rest = F::new(number(&(Rational::from(1) - &phase.rate)), exact(0.0, precision));
        let of_real = |c: &Enclosure| F::new(F::real(c, precision), exact(0.0, precision));
        let coefficients: Vec<F> = phase.coefficients(bits).iter().map(of_real).collect();
        let of_group = |u: &Rational| {
            let z = turn.scale(&number(u).exp());
            let none = F::new(exact(0.0, precision), exact(0.0, precision));
            coefficients.iter().rev().fold(none, |sum, c| sum.mul(&z).add(c))
        };
        let (step, theta) = (rational::from_f64(self.step)?, rational::from_f64(self.theta)?);
        let power = number(p);
        let half = Rational::from(&phase.sigma2 / 2_u32);
        let node = |k: i64| {
            let u = Rational::from(&step * k);
            let r = match phase.group {
                1 => rest.add(&turn.scale(&ln_first.add(&number(&u)).exp())),
                _ => of_group(&u),
            };
            let ln_r = r.ln(precision);
            // -(u + i theta)^2 s2 / 2 - (u + i theta) / 2
            let re = (Rational::from(theta.square_ref()) - Rational::from(u.square_ref())) * &half
                - Rational::from(&u / 2_u32);
            let angle = Rational::from(&u * &theta) * &phase.sigma2 + Rational::from(&theta / 2_u32);
            let gauss = F::new(number(&re), number(&-angle));
            Node { ln_weight: constant.add(&gauss).add(&ln_r.scale(&power)), ln_r }
        };
        Ok((self.from..=self.to).map(node).collect())
    }

    /// For each node the weight of noise of more variance, relative to that of this phase.
    pub(super) fn ratios<F: Arithmetic>(
        &self,
        phase: &Phase,
        sigma2: &Rational,
        precision: Precision<F>,
        bits: u32,
    ) -> Result<Vec<F>> {
        let (more, constant) = more_noise(phase, sigma2, bits);
        let constant = F::real(&constant, precision);
        let (step, theta) = (rational::from_f64(self.step)?, rational::from_f64(self.theta)?);
        let number = |x: &Rational| F::Real::rational(x, precision);
        let first = Rational::from(&step * self.from);
        let re = (Rational::from(theta.square_ref()) - Rational::from(first.square_ref())) * &more / 2_u32;
        let angle = Rational::from(&first * &theta) * &more;
        let mut ratio = exp(&F::new(constant.add(&number(&re)), number(&-angle)), precision);
        // From u to u + d: times exp(-d u m - d^2 m / 2 - i d theta m), which itself changes by exp(-d^2 m), for m = s2' - s2.
        let square = Rational::from(step.square_ref()) * &more;
        let re = Rational::from(&first * &step) * &more + Rational::from(&square / 2_u32);
        let angle = Rational::from(&step * &theta) * &more;
        let mut factor = exp(&F::new(number(&-re), number(&-angle)), precision);
        let fall = number(&-square).exp();
        let mut ratios = Vec::new();
        for _ in self.from..=self.to {
            ratios.push(ratio.clone());
            ratio = ratio.mul(&factor);
            factor = factor.scale(&fall);
        }
        Ok(ratios)
    }

    /// The same on the line Im w = 0.
    fn real_ratios<F: Arithmetic>(
        &self,
        phase: &Phase,
        sigma2: &Rational,
        precision: Precision<F>,
        bits: u32,
    ) -> Result<Vec<F::Real>> {
        let (more, constant) = more_noise(phase, sigma2, bits);
        let step = rational::from_f64(self.step)?;
        let number = |x: &Rational| F::Real::rational(x, precision);
        let first = Rational::from(&step * self.from);
        let square = Rational::from(step.square_ref()) * &more;
        let mut ratio = F::real(&constant, precision).add(&number(&(-first.clone().square() * &more / 2_u32))).exp();
        let mut factor = number(&-(first * &step * &more + Rational::from(&square / 2_u32))).exp();
        let fall = number(&-square).exp();
        let mut ratios = Vec::new();
        for _ in self.from..=self.to {
            ratios.push(ratio.clone());
            ratio = ratio.mul(&factor);
            factor = factor.mul(&fall);
        }
        Ok(ratios)
    }

    /// F(p) of each member of a strand, relative to N, on the line Im w = 0.
    pub(super) fn moments<F: Arithmetic>(
        &self,
        strand: &Strand,
        p: &Rational,
        [ln_norm, ln_above]: [f64; 2],
        precision: Precision<F>,
        bits: u32,
    ) -> Result<Vec<Enclosure>> {
        let nodes = self.nodes::<F>(&strand.least, p, ln_norm, precision, bits)?;
        let weights: Vec<F::Real> = nodes.iter().map(|node| node.ln_weight.re().exp()).collect();
        let error =
            UpperBound::exp(&Enclosure::double(self.ln_error(strand, p, ln_norm, ln_above)?, BITS)).into_float();
        let zero = || exact::<F::Real>(0.0, precision);
        let of = |(sigma2, _): &(Rational, u64)| -> Result<Enclosure> {
            let sum = match *sigma2 == strand.least.sigma2 {
                true => weights.iter().fold(zero(), |sum, weight| sum.add(weight)),
                false => {
                    let ratios = self.real_ratios::<F>(&strand.least, sigma2, precision, bits)?;
                    weights.iter().zip(ratios).fold(zero(), |sum, (weight, ratio)| sum.add(&weight.mul(&ratio)))
                }
            };
            // |F / N - sum| <= error
            Ok(F::enclosure(&sum).add(&Enclosure::new(Float::with_val(BITS, -&error), error.clone())))
        };
        strand.members.iter().map(of).collect()
    }

    /// For each member of a strand an upper bound on the integral of the modulus of phi r^(p + i tau) for tau = height and beyond, relative to N.
    pub(super) fn moduli(
        &self,
        strand: &Strand,
        p: &Rational,
        [ln_norm, ln_above]: [f64; 2],
        height: f64,
    ) -> Result<Vec<UpperBound>> {
        if self.len().is_nan() || self.len() > MOST_NODES {
            return Err(Error::NotFinite { value: self.len() });
        }
        let error = UpperBound::exp(&Enclosure::double(self.ln_error(strand, p, ln_norm, ln_above)?, BITS));
        // The parts of r are not negative.
        if strand.least.turns() * self.theta > 1.57 {
            return Err(Error::NotFinite { value: self.theta });
        }
        let ratio = Ratio::new(&strand.least);
        let (g, rest, p) = (strand.rate().to_f64(), Rational::from(1 - strand.rate()).to_f64(), p.to_f64());
        let (sin, cos) = libm::sincos(self.theta);
        // Of each node: u, and the logarithm of what all members have in common, with the sizes of its terms.
        let common = |k: i64| {
            let u = self.step * k as f64;
            if strand.least.group > 1 {
                let (ln_r, arg) = ratio.polar(u, self.theta);
                let sizes = (p.abs() + height) * ratio.sizes(u);
                return (u, p * ln_r - height * arg - u / 2.0, sizes + u.abs());
            }
            let b = g * libm::exp(u);
            // r = 1 - g + b cos + i b sin, whose parts are not negative: theta is below pi / 2.
            let (re, im) = (rest + b * cos, b * sin);
            let ln_r = if b < 1e150 { libm::log(re * re + im * im) / 2.0 } else { libm::log(g) + u };
            let arg = libm::atan2(im, re);
            (u, p * ln_r - height * arg - u / 2.0, (p * ln_r).abs() + p.abs() + height * arg + u.abs())
        };
        let common: Vec<(f64, f64, f64)> = (self.from..=self.to).map(common).collect();
        let of = |(sigma2, _): &(Rational, u64)| {
            let s2 = sigma2.to_f64();
            let constant = libm::log(self.step) + libm::log(s2 / std::f64::consts::TAU) / 2.0 - ln_norm;
            let sizes = constant.abs() + ln_norm.abs() + 1.0 / (8.0 * s2) + 10.0;
            let sum = common.iter().fold(0.0, |sum, (u, exponent, size)| {
                let gauss = (self.theta * self.theta - u * u) * s2 / 2.0;
                let all = constant - 1.0 / (8.0 * s2) + gauss + exponent;
                // Every term has a few roundings and elementary functions of doubles, and b the relative error of exp(u): each below (1 + |u|) 2^-48 of the sizes.
                let size = (sizes + (u * u + 10.0) * s2 + size) * (1.0 + u.abs());
                sum + libm::exp(all + size * 2_f64.powi(-48))
            });
            // The sum of non-negative numbers, and their underflows.
            let sum = sum * (1.0 + 1e-9) + f64::MIN_POSITIVE * self.len();
            UpperBound::of_enclosure(&Enclosure::double(sum, BITS)).add(&error)
        };
        Ok(strand.members.iter().map(of).collect())
    }
}

/// s2' - s2, and ln(sqrt(s2' / s2) exp(-1 / (8 s2') + 1 / (8 s2))): with exp(-(u + i theta)^2 (s2' - s2) / 2) the ratio of both densities.
fn more_noise(phase: &Phase, sigma2: &Rational, bits: u32) -> (Rational, Enclosure) {
    let real = |x: &Rational| Enclosure::rational(x, bits);
    let inverse = Rational::from(phase.sigma2.recip_ref()) - Rational::from(sigma2.recip_ref());
    let root = real(&Rational::from(sigma2 / &phase.sigma2)).ln().mul(&Enclosure::double(0.5, bits));
    (Rational::from(sigma2 - &phase.sigma2), root.add(&real(&(inverse / 8_u32))))
}

/// The factor from one place to the next where a tail is bounded piece by piece.
const GROWTH: f64 = 1.05;
/// The most nodes of such a tail.
const MOST_FAR: f64 = 1e12;
/// Up to this order moments are bounded by binomial sums.
const MOST_BINOMIAL: f64 = 2000.0;

/// From where on exp(p v - v^2 s2 / 2) is negligible: below exp(-800).
fn far_end(p: f64, s2: f64) -> f64 {
    // p v - v^2 s2 / 2 = -(v - 2 p / s2) v s2 / 2
    2.0 * p / s2 + 40.0 / s2.sqrt()
}

/// Upper bound on ln F(p): the integral along the real line where it is within reach, otherwise J(p).
pub(super) fn ln_moment_above(phase: &Phase, table: &Table, p: &Rational) -> Result<f64> {
    let ln_jensen = ln_jensen(phase, p).upper().to_f64_round(Round::Up);
    let (near, ln_norm) = (p.to_f64(), table.ln_moment(p.to_f64()));
    let ln_relative = -libm::log(phase.steps as f64) - 5.0;
    let strand = Strand::of_phase(phase);
    let grid = Grid::choose_by(&strand, near, ln_jensen, [0.0, half_width(phase, near)], ln_norm + ln_relative);
    let moment = match grid.moments::<ComplexTwofold>(&strand, p, [ln_norm, ln_jensen], (), MOMENT_BITS) {
        Err(error) if error.is_beyond_reach() => return Ok(ln_jensen),
        moments => moments?,
    };
    let ln = moment[0].ln().add(&Enclosure::double(ln_norm, MOMENT_BITS)).upper().to_f64_round(Round::Up);
    // Both are upper bounds; the minimum ignores one that is no number.
    Ok(ln.min(ln_jensen))
}

/// Upper bound on ln E[r^p]: J(p) of the head of this file.
fn ln_jensen(phase: &Phase, p: &Rational) -> Enclosure {
    // x^p is convex for these p, and less so for the group than for a pair that is at most as private.
    let phase = &phase.dominating();
    let real = |x: &Rational| Enclosure::rational(x, BITS);
    let (one, rate) = (Enclosure::double(1.0, BITS), real(&phase.rate));
    if *p >= 0 && *p <= 1 {
        return Enclosure::double(0.0, BITS);
    }
    if *p > 1 && p.to_f64() < MOST_BINOMIAL {
        let below = p.clone().floor();
        let share = real(&Rational::from(p - &below));
        let [low, high] = ln_moments_of_integers(phase, below.to_f64() as u32);
        return low.mul(&one.sub(&share)).add(&high.mul(&share));
    }
    let exponent = Rational::from(p - 1_u32) * p / Rational::from(&phase.sigma2 * 2_u32);
    let jensen = one.sub(&rate).add(&rate.mul(&real(&exponent).exp())).ln();
    if *p > 0 {
        return jensen;
    }
    let of_least = one.sub(&rate).ln().mul(&real(p));
    // Both are upper bounds; one that is no number is not taken.
    if *of_least.upper() < *jensen.upper() || jensen.upper().is_nan() { of_least } else { jensen }
}

/// ln E[r^m] of an integer m >= 1 and the next, by the binomial sum.
fn ln_moments_of_integers(phase: &Phase, m: u32) -> [Enclosure; 2] {
    let real = |x: &Rational| Enclosure::rational(x, BITS);
    let rest = Rational::from(1 - &phase.rate);
    let ratio = real(&Rational::from(&phase.rate / &rest));
    let growth = real(&phase.sigma2.clone().recip()).exp();
    [m, m + 1].map(|m| {
        let mut sum = Enclosure::double(0.0, BITS);
        // C(m, k) (1 - g)^(m - k) g^k exp(k (k - 1) / (2 s2)) from each k to the next; exp(k / s2).
        let mut term = real(&rest).ln().mul(&real(&Rational::from(m))).exp();
        let mut power = Enclosure::double(1.0, BITS);
        for k in 0..=m {
            sum = sum.add(&term);
            term = term.mul(&ratio).mul(&power).mul(&real(&Rational::from((m - k, k + 1))));
            power = power.mul(&growth);
        }
        sum.ln()
    })
}

/// The half width of the strip that serves the moment of order p: the wider the fewer nodes, until the bound of the integrand grows on its edges.
pub(super) fn half_width(phase: &Phase, p: f64) -> f64 {
    let of_negative = if p < 0.0 { (160.0 / -p).sqrt() } else { f64::INFINITY };
    1.4_f64.min((20.0 / phase.sigma2.to_f64()).sqrt()).min(of_negative) / phase.turns()
}

/// Bits of moments.
pub(super) const MOMENT_BITS: u32 = 128;

/// The sum of ln F(p) over all steps of a strand, to about 25 digits of each F(p).
pub(super) fn ln_moment(strand: &Strand, table: &Table, p: &Rational) -> Result<Enclosure> {
    const LN_SMALL: f64 = -60.0;
    let (near, phase) = (p.to_f64(), &strand.least);
    let ln_norm = table.ln_moment(near);
    let grid = Grid::choose(strand, near, ln_norm, [0.0, half_width(phase, near)], LN_SMALL);
    let ln_above = ln_moment_above(phase, table, p)?;
    let moments = grid.moments::<ComplexTwofold>(strand, p, [ln_norm, ln_above], (), MOMENT_BITS)?;
    let all = moments.iter().zip(&strand.members).fold(Enclosure::double(0.0, MOMENT_BITS), |sum, (moment, member)| {
        let one = moment.ln().add(&Enclosure::double(ln_norm, MOMENT_BITS));
        sum.add(&one.mul(&Enclosure::rational(&Rational::from(member.1), MOMENT_BITS)))
    });
    Ok(all)
}

/// The cosine of an angle between 0 and pi / 2, at least zero.
fn edge_cos(angle: &Enclosure) -> Enclosure {
    angle.cos().clamp(0.0, 1.0)
}

/// exp(i h ln r): the factor of a node from one height to the next.
pub(super) fn factor<F: Arithmetic>(node: &Node<F>, h: f64, precision: Precision<F>) -> F {
    let height: F::Real = exact(h, precision);
    let turned = F::new(im(&node.ln_r, precision).mul(&height).neg(), node.ln_r.re().mul(&height));
    exp(&turned, precision)
}
