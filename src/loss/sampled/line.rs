//! The integral of phi(w) r(w)^p along a line Im w = theta, by the trapezoid rule, with its error.
//!
//! The error of the rule with step d is at most 2 B / (exp(2 pi a / d) - 1), where B bounds the integral of the modulus on both lines Im w = theta +- a,
//! and the integrand is analytic between them: theta + a < pi. Both need tau = 0 or theta >= a, so that arg r >= 0 on the lower edge. On these lines
//!
//! ```text
//! |phi(w)| = exp((Im w)^2 s2 / 2) phi(v),     |r(w)|^p <= cos((theta + a) / 2)^min(p, 0) r(v)^p,     E[r^p] <= J(p),
//! J(p) = 1 - g + g exp(p (p - 1) / (2 s2)) for p <= 0 and p >= 1 (x^p is convex), 1 between (it is concave, and E[r] = 1).
//! ```
//!
//! The same bound serves the integral of the modulus along Im w = theta: there |r|^p = (r(w + i theta) r(w - i theta))^(p / 2) and exp(-tau arg r) are analytic in
//! w, and the real part of the continued arg r is the mean of two values of arg r on lines 0 <= Im <= theta + a, so that it is not negative.

use rug::Rational;

use super::{
    Phase,
    arithmetic::{Arithmetic, Precision, exact, exp, im},
};
use crate::{
    error::Result,
    numeric::{Enclosure, field::Real, rational, upper_bound::UpperBound},
};

/// Bits of error bounds.
const BITS: u32 = 64;

/// Nodes v = step k, from <= k <= to, on the line Im w = theta.
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
        (self.to - self.from + 1) as f64
    }

    /// A grid whose errors are about exp(ln_target): chosen in doubles, and bounded by [`Grid::ln_error`] later.
    pub(super) fn choose(phase: &Phase, p: f64, theta: f64, half_width: f64, ln_target: f64) -> Grid {
        let (s2, g) = (phase.sigma2.to_f64(), phase.rate.to_f64());
        let jensen = if (0.0..1.0).contains(&p) {
            0.0
        } else {
            let (a, b) = ((-g).ln_1p(), g.ln() + p * (p - 1.0) / (2.0 * s2));
            a.max(b) + (-(a - b).abs()).exp().ln_1p()
        };
        let edge = theta + half_width;
        let ln_b = edge * edge * s2 / 2.0 + p.min(0.0) * (edge / 2.0).cos().ln() + jensen;
        let step = std::f64::consts::TAU * half_width / (ln_b - ln_target + 1.5).max(3.0);
        let (ahead, growth) = match p > 0.0 {
            true => (p / s2, 0.0),
            false => (0.0, p * ((-g).ln_1p() + (theta / 2.0).cos().ln())),
        };
        let reach = theta * theta * s2 / 2.0 - ln_target + 3.0;
        let left = (2.0 * (reach + growth).max(1.0) / s2).sqrt();
        let right = ahead + (2.0 * (reach + growth + (p * p - p).max(0.0) / (2.0 * s2) * f64::from(p > 0.0)).max(1.0) / s2).sqrt();
        // Steps of few bits, so that nodes are short numbers.
        let step = f64::from(step as f32);
        Grid { theta, half_width, step, from: -(left / step).ceil() as i64, to: (right / step).ceil() as i64 }
    }

    /// Upper bound on ln of the error of the trapezoid rule and of the nodes left out, relative to N = exp(ln_norm).
    pub(super) fn ln_error(&self, phase: &Phase, p: &Rational, ln_norm: f64) -> Result<f64> {
        let real = |x: &Rational| Enclosure::rational(x, BITS);
        let double = |x: f64| Enclosure::double(x, BITS);
        let (one, half) = (double(1.0), double(0.5));
        let (s2, rate) = (real(&phase.sigma2), real(&phase.rate));
        let norm = double(ln_norm).negate().exp();
        let theta = double(self.theta);
        let is_negative = *p < 0;
        // B: see the head of this file.
        let edge = theta.add(&double(self.half_width));
        let ln_cos = |angle: &Enclosure| edge_cos(angle).ln();
        let mut ln_b = edge.mul(&edge).mul(&s2).mul(&half);
        if is_negative {
            ln_b = ln_b.add(&real(p).mul(&ln_cos(&edge.mul(&half))));
        }
        let outside = is_negative || *p > 1;
        let jensen = match outside {
            true => one.sub(&rate).add(&rate.mul(&real(&(Rational::from(p - 1_u32) * p)).mul(&half).div(&s2).exp())),
            false => one.clone(),
        };
        let periods = Enclosure::pi(BITS).mul(&double(2.0 * self.half_width)).div(&double(self.step));
        let rule = UpperBound::exp(&ln_b.add(&jensen.ln()))
            .mul(&UpperBound::of_geometric(&periods))
            .mul(&UpperBound::of(&double(2.0)));
        // Beyond the last nodes the terms are below exp(u(v)) with u(v) = (theta^2 - v^2) s2 / 2 + growth, and fall geometrically.
        let growth = match is_negative {
            // r >= 1 - g, and |r| >= cos(theta / 2) r.
            true => real(p).mul(&one.sub(&rate).ln().add(&ln_cos(&theta.mul(&half)))),
            false => double(0.0),
        };
        let tail = |first: i64, slope: &Enclosure| -> Result<UpperBound> {
            let v = real(&(rational::from_f64(self.step)? * Rational::from(first)));
            let size = v.max(&v.clone().negate());
            // r <= max(1, exp(v - 1 / (2 s2))), and growth in v at most the slope.
            let above = v.sub(&half.div(&s2)).max(&double(0.0)).mul(slope);
            let u = theta.mul(&theta).sub(&v.mul(&v)).mul(&s2).mul(&half).add(&growth).add(&above);
            // u(v + d) - u(v) <= -v d s2 + slope d
            let falls = size.mul(&s2).sub(slope).mul(&double(self.step));
            // sum of q^k = 1 + 1 / (1 / q - 1)
            let series = UpperBound::of(&one).add(&UpperBound::of_geometric(&falls));
            Ok(UpperBound::exp(&u).mul(&series))
        };
        let slope = if *p > 0 { real(p) } else { double(0.0) };
        let tails = tail(self.to + 1, &slope)?.add(&tail(self.from - 1, &double(0.0))?);
        let density = double(self.step).mul(&s2.div(&Enclosure::pi(BITS).mul(&double(2.0))).sqrt());
        let all = rule.add(&tails.mul(&UpperBound::of(&density))).mul(&UpperBound::of(&norm)).into_float();
        Ok(Enclosure::new(all.clone(), all).ln_above())
    }

    /// The nodes for r^p.
    pub(super) fn nodes<F: Arithmetic>(
        &self,
        phase: &Phase,
        p: &Rational,
        ln_norm: f64,
        precision: Precision<F>,
        bits: u32,
    ) -> Result<Vec<Node<F>>> {
        let number = |x: &Rational| F::Real::rational(x, precision);
        let real = |x: &Rational| Enclosure::rational(x, bits);
        let s2 = real(&phase.sigma2);
        // ln (d sqrt(s2 / (2 pi)) / N)
        let density = s2.div(&Enclosure::pi(bits).mul(&Enclosure::double(2.0, bits))).sqrt();
        let constant = density.mul(&Enclosure::double(self.step, bits)).ln().sub(&Enclosure::double(ln_norm, bits));
        let constant = F::new(F::real(&constant, precision), exact(0.0, precision));
        // g exp(v + i theta - 1 / (2 s2))
        let ln_first = real(&phase.rate).ln().sub(&Enclosure::double(0.5, bits).div(&s2));
        let ln_first = F::real(&ln_first, precision);
        let turn = F::cis(&exact(self.theta, precision));
        let rest = F::new(number(&(Rational::from(1) - &phase.rate)), exact(0.0, precision));
        let (step, theta) = (rational::from_f64(self.step)?, rational::from_f64(self.theta)?);
        let power = number(p);
        let half = Rational::from(&phase.sigma2 / 2_u32);
        let node = |k: i64| {
            let v = Rational::from(&step * k);
            let size = ln_first.add(&number(&v)).exp();
            let ln_r = rest.add(&turn.scale(&size)).ln(precision);
            // -(v + i theta)^2 s2 / 2
            let re = (Rational::from(theta.square_ref()) - Rational::from(v.square_ref())) * &half;
            let angle = Rational::from(&v * &theta) * &phase.sigma2;
            let gauss = F::new(number(&re), number(&-angle));
            Node { ln_weight: constant.add(&gauss).add(&ln_r.scale(&power)), ln_r }
        };
        Ok((self.from..=self.to).map(node).collect())
    }

    /// Upper bound on the integral of the modulus of phi r^(p + i tau) for tau = height and beyond, relative to N; at theta = 0 and height 0 on the moment
    /// F(p) itself.
    pub(super) fn modulus<F: Arithmetic>(
        &self,
        phase: &Phase,
        p: &Rational,
        ln_norm: f64,
        height: f64,
        precision: Precision<F>,
        bits: u32,
    ) -> Result<UpperBound> {
        let error = Enclosure::double(self.ln_error(phase, p, ln_norm)?, BITS);
        let height: F::Real = exact(height, precision);
        let zero: F::Real = exact(0.0, precision);
        let sum = self.nodes::<F>(phase, p, ln_norm, precision, bits)?.iter().fold(zero, |sum, node| {
            let less = im(&node.ln_r, precision).mul(&height).neg();
            sum.add(&node.ln_weight.re().add(&less).exp())
        });
        Ok(UpperBound::of(&F::enclosure(&sum)).add(&UpperBound::exp(&error)))
    }
}

/// The cosine of an angle between 0 and pi / 2, at least zero.
fn edge_cos(angle: &Enclosure) -> Enclosure {
    angle.cos().clamp(0.0, 1.0)
}

/// exp(ln_weight) and exp(i h ln r): the value of a node at tau = 0, and its factor from one height to the next.
pub(super) fn start_and_factor<F: Arithmetic>(node: &Node<F>, first: f64, h: f64, precision: Precision<F>) -> (F, F) {
    let turned = |height: f64| {
        let height: F::Real = exact(height, precision);
        F::new(im(&node.ln_r, precision).mul(&height).neg(), node.ln_r.re().mul(&height))
    };
    let at_first = node.ln_weight.add(&turned(first));
    (exp(&at_first, precision), exp(&turned(h), precision))
}
