//! A second enclosure of every certified value, by means that share no code with the engines: if both exclude each other, one of them is
//! wrong, and that is an error instead of an answer.
//!
//! It has few digits, and none where little is known, but it always holds. Two ways are taken, and what they have in common counts.
//!
//! # Moments
//!
//! `ln M(s)`, M(s) = E[exp(s L)] under P, is enclosed at real s by closed forms in doubles (`Moments`). With
//! g(l) = (1 - exp(eps - l))_+, and P_c the law tilted by exp(c l) / M(c),
//!
//! ```text
//! delta <= M(c) exp(-c eps) c^c / (c + 1)^(c + 1)                            for c > 0, the largest value of g(l) exp(-c (l - eps)),
//! 1 - delta = E[min(1, exp(eps - L))] <= M(c) exp(-c eps)                    for -1 <= c <= 0,
//! delta >= M(c) P_c[a <= L <= b] min(g(a) exp(-c a), g(b) exp(-c b))         for eps < a <= b,
//! P_c[L > b] <= M(c + t) exp(-t b) / M(c),  P_c[L < a] <= M(c - t) exp(t a) / M(c),
//! ```
//!
//! where the third holds because ln g(l) - c l is concave in l. The same with min(0, eps - l) - c l, which is concave too, bounds 1 - delta
//! from below.
//!
//! # Comparison with continuous noise
//!
//! Where all noise is Gaussian, discrete or not, a discrete Gaussian is nearly a continuous one. Let s be its sigma2, 0 < v < s,
//! q = exp(-2 pi^2 v), and x = 2 q / (1 - q^3), so that |2 sum_k q^(k^2) cos(..)| <= x.
//!
//! - Added to N_Z(0, s), continuous noise N(0, t) with v = s t / (s + t) gives a density between (1 - x) / (1 + x) and 1 + x times that of
//!   N(0, s + t), s + t = s^2 / (s - v), by Poisson summation. Data processing: the sum reveals no more than N_Z(0, s).
//! - N(0, s - v), rounded to the integer z with probability proportional to exp(-(z - y)^2 / (2 v)) from y, has masses between (1 - x) / (1 + x)
//!   and 1 + x times those of N_Z(0, s), up or down: N_Z(0, s) reveals little more than N(0, s - v).
//!
//! Both commute with integer shifts. With N counts in all, A = ((1 - x) / (1 + x))^N, B = (1 + x)^N and the profile delta_G and the trade-off
//! function f_G of Gaussian differential privacy, of which delta_G rises with rho and f_G falls,
//!
//! ```text
//! A delta_G(eps + ln(B / A); rho_low)  <= delta(eps) <= B delta_G(eps - ln(B / A); rho_high)
//! A f_G(alpha / A; rho_high)           <= f(alpha)   <= B f_G(alpha / B; rho_low)
//! rho_low = sum_i m_i (s_i - v) / (2 s_i^2),   rho_high = sum_i m_i / (2 (s_i - v)),   m_i = n_i mu_i^2,
//! ```
//!
//! because (A p - exp(eps) B q)_+ integrates to A times the hockey stick of order exp(eps) B / A.
//!
//! # Doubles
//!
//! Sums, products, exp, ln, exp_m1 and ln_1p of doubles are taken to err by less than a relative 2^-50, and every bound is widened by 10^-12 of
//! the sizes of all that was added up for it, a thousand roundings, or by 2 10^-14 for the logarithm of one count, which has a few dozen. A bound that
//! is not a number says nothing.

use std::f64::consts::PI;

use rug::{Float, Rational, float::Round};

use super::{
    law::{Group, Law},
    sum::LossSum,
};
use crate::{
    error::{Error, Result},
    numeric::Enclosure,
};

/// What every bound is widened by, relative to the sizes of its terms.
const WIDENING: f64 = 1e-12;

/// The same for the logarithm of one count, of a few dozen roundings, which many copies multiply.
const OF_ONE_COUNT: f64 = 2e-14;

/// A number in doubles between two others.
#[derive(Clone, Copy, Debug)]
struct Between {
    lower: f64,
    upper: f64,
}

impl Between {
    /// Encloses the exponential, cut to [0, 1].
    fn exp(self) -> Enclosure {
        let upper = if self.upper.is_nan() { 0.0 } else { self.upper.min(0.0) };
        Enclosure::new(exp_down(if self.lower.is_nan() { f64::NEG_INFINITY } else { self.lower }), exp_up(upper))
    }
}

/// The second way to enclose a sum's hockey sticks and trade-off function.
#[derive(Clone, Debug)]
pub(crate) struct Second {
    moments: Moments,
    continuous: Option<Comparison>,
}

/// What a second enclosure was found by.
#[derive(Clone, Debug)]
pub struct SecondEnclosure {
    /// The enclosure; from 0 to 1 where nothing is known.
    pub value: Enclosure,
    /// By which means, in words.
    pub by: &'static str,
}

impl SecondEnclosure {
    /// Refuses a certified value that it excludes.
    pub(crate) fn confirms(&self, value: &Enclosure, what: &'static str) -> Result<()> {
        if self.value.overlaps(value) { Ok(()) } else { Err(Error::Contradiction { what }) }
    }
}

impl Second {
    pub(crate) fn new(sum: &LossSum) -> Self {
        Second { moments: Moments::new(sum), continuous: Comparison::new(sum) }
    }

    /// That of the sum of two independent losses.
    pub(crate) fn and(&self, other: &Self) -> Self {
        let continuous = self.continuous.as_ref().zip(other.continuous.as_ref()).map(|(one, other)| one.and(other));
        Second { moments: self.moments.and(&other.moments), continuous }
    }

    /// Encloses E[(1 - exp(epsilon - L))_+] for epsilon >= 0.
    pub(crate) fn hockey_stick(&self, epsilon: &Rational) -> Result<SecondEnclosure> {
        let epsilon = epsilon.to_f64();
        self.by(|continuous| continuous.hockey_stick(epsilon), || self.moments.hockey_stick(epsilon))
    }

    /// Encloses f(alpha) for 0 < alpha < 1.
    pub(crate) fn tradeoff(&self, alpha: &Rational) -> Result<SecondEnclosure> {
        let trivial = Float::with_val_round(64, &Rational::from(1 - alpha), Round::Up).0;
        let trivial = Enclosure::new(Float::new(64), trivial);
        let alpha = alpha.to_f64();
        let moments = || {
            let moments = self.moments.tradeoff(alpha);
            moments.meet(&trivial).unwrap_or(moments)
        };
        self.by(|continuous| continuous.tradeoff(alpha), moments)
    }

    /// The comparison where it can be made and says enough, else what it has in common with moments.
    fn by(&self, compare: impl Fn(&Comparison) -> Between, moments: impl Fn() -> Enclosure) -> Result<SecondEnclosure> {
        /// Nats between both ends.
        const ENOUGH: f64 = 3.0;
        let of_moments = |value| SecondEnclosure { value, by: "moments of the loss" };
        let Some(continuous) = &self.continuous else { return Ok(of_moments(moments())) };
        let ln = compare(continuous);
        let compared = ln.exp();
        if ln.upper - ln.lower <= ENOUGH {
            return Ok(SecondEnclosure { value: compared, by: "comparison with continuous Gaussian noise" });
        }
        let what = "the moments of a loss, which a comparison with continuous noise excludes";
        let value = compared.meet(&moments()).ok_or(Error::Contradiction { what })?;
        Ok(SecondEnclosure { value, by: "comparison with continuous Gaussian noise, and moments of the loss" })
    }
}

// ---- moments ------------------------------------------------------------------------------------------------------

/// Closed forms of ln E[exp(s L)] at real s.
#[derive(Clone, Debug)]
struct Moments {
    /// sum n mu^2 / (2 sigma2) over all Gaussian groups.
    rho: f64,
    /// Upper bound on what theta functions of large noise take from the logarithm: sum n ln((1 + x) / (1 - x)).
    ripple: f64,
    /// Discrete Gaussians of small noise, whose theta functions are summed.
    small: Vec<Terms>,
    laplace: Vec<Terms>,
    /// The largest loss, where losses are bounded.
    largest: Option<f64>,
}

/// A group in doubles: its sigma2 or epsilon.
#[derive(Clone, Copy, Debug)]
struct Terms {
    parameter: f64,
    shift: f64,
    copies: f64,
}

/// From this sigma2 on the theta function is bounded, below it is summed: 2 exp(-2 pi^2 / 2) = 0.0001.
const SUMMED_BELOW: f64 = 0.5;

impl Moments {
    fn new(sum: &LossSum) -> Self {
        let (mut rho, mut ripple, mut small, mut laplace) = (0.0, 0.0, Vec::new(), Vec::new());
        for Group { law, shift, copies } in sum.groups() {
            let terms = |parameter: &Rational| Terms {
                parameter: parameter.to_f64(),
                shift: *shift as f64,
                copies: *copies as f64,
            };
            let of_gaussian = |terms: Terms| terms.copies * terms.shift * terms.shift / (2.0 * terms.parameter);
            match law {
                Law::Gaussian { sigma2 } => rho += of_gaussian(terms(sigma2)),
                Law::DiscreteGaussian { sigma2 } => {
                    let terms = terms(sigma2);
                    rho += of_gaussian(terms);
                    if terms.parameter < SUMMED_BELOW {
                        small.push(terms);
                    } else {
                        // ln((1 + x) / (1 - x)) <= 2 x / (1 - x)
                        let x = theta_bound(terms.parameter);
                        ripple += terms.copies * 2.0 * x / (1.0 - x);
                    }
                }
                Law::DiscreteLaplace { epsilon } => laplace.push(terms(epsilon)),
            }
        }
        let largest = laplace.iter().map(|terms| terms.copies * terms.shift * terms.parameter).sum::<f64>();
        let largest = (rho == 0.0).then_some(largest * (1.0 + WIDENING));
        Moments { rho, ripple, small, laplace, largest }
    }

    fn and(&self, other: &Self) -> Self {
        let both = |a: &[Terms], b: &[Terms]| [a, b].concat();
        Moments {
            rho: self.rho + other.rho,
            ripple: self.ripple + other.ripple,
            small: both(&self.small, &other.small),
            laplace: both(&self.laplace, &other.laplace),
            largest: self.largest.zip(other.largest).map(|(one, other)| one + other),
        }
    }

    /// ln E[exp(s L)].
    fn ln_mgf(&self, s: f64) -> Between {
        let mut middle = self.rho * (s + s * s);
        let mut off = WIDENING * self.rho * (s.abs() + s * s);
        let small = self.small.iter().map(|terms| (terms.copies, ln_theta(terms, s)));
        for (copies, (ln, size)) in small.chain(self.laplace.iter().map(|terms| (terms.copies, ln_laplace(terms, s)))) {
            middle += copies * ln;
            off += copies * OF_ONE_COUNT * size;
        }
        let off = off + WIDENING * middle.abs() + f64::MIN_POSITIVE;
        Between { lower: middle - self.ripple * (1.0 + WIDENING) - off, upper: middle + off }
    }

    fn middle(&self, s: f64) -> f64 {
        let Between { lower, upper } = self.ln_mgf(s);
        (lower + upper) / 2.0
    }

    fn hockey_stick(&self, epsilon: f64) -> Enclosure {
        /// From there on one minus delta says less than delta.
        const SMALL: f64 = -2.0;
        let ln_upper = self.ln_upper(epsilon);
        let delta = Between { lower: self.ln_lower(epsilon, Functional::Delta), upper: ln_upper }.exp();
        if ln_upper < SMALL {
            return delta;
        }
        let rest_upper = self.ln_upper_of_complement(epsilon);
        let rest = Between { lower: self.ln_lower(epsilon, Functional::Complement), upper: rest_upper }.exp();
        // 1 - (1 - delta), rounded outward.
        let one_minus = Enclosure::new(
            Float::with_val_round(64, 1_u32 - rest.upper(), Round::Down).0,
            Float::with_val_round(64, 1_u32 - rest.lower(), Round::Up).0,
        );
        delta.meet(&one_minus).unwrap_or(delta)
    }

    /// Upper bound on ln delta.
    fn ln_upper(&self, epsilon: f64) -> f64 {
        if self.largest.is_some_and(|largest| epsilon > largest) {
            return f64::NEG_INFINITY;
        }
        let at = |ln_c: f64| {
            let c = ln_c.exp();
            let kernel = -c * (1.0 / c).ln_1p() - c.ln_1p();
            let upper = self.ln_mgf(c).upper - c * epsilon + kernel;
            upper + WIDENING * (c * epsilon.abs() + kernel.abs())
        };
        least(at, (-25.0, 25.0))
    }

    /// Upper bound on ln(1 - delta).
    fn ln_upper_of_complement(&self, epsilon: f64) -> f64 {
        let at = |c: f64| self.ln_mgf(c).upper - c * epsilon + WIDENING * (c * epsilon).abs();
        let least = least(at, (-1.0, 0.0)).min(0.0);
        if least.is_nan() { 0.0 } else { least }
    }

    /// Lower bound on ln of delta or of one minus delta, minus infinity if nothing is found.
    fn ln_lower(&self, epsilon: f64, functional: Functional) -> f64 {
        let tilts: Vec<f64> = match functional {
            Functional::Complement => vec![-1.0, -0.5, 0.0],
            Functional::Delta => {
                // The least tilt whose window lies above epsilon by about what the kernel's slope needs, and some more around it.
                let is_above = |c: f64| self.window(c, 2.0).is_some_and(|(a, _, _)| a > epsilon + 0.5 / (1.0 + c));
                let (mut low, mut high) = (-12.0_f64, 25.0_f64);
                for _ in 0..16 {
                    let middle = (low + high) / 2.0;
                    if is_above(middle.exp()) { high = middle } else { low = middle }
                }
                vec![0.0, high.exp(), 1.3 * high.exp(), 2.0 * high.exp()]
            }
        };
        let windows = tilts.into_iter().flat_map(|c| [1.2, 2.5].map(|kappa| (c, kappa)));
        let bounds = windows.filter_map(|(c, kappa)| {
            let (a, b, ln_probability) = self.window(c, kappa)?;
            let ln_kernel = |l: f64| match functional {
                Functional::Delta if l <= epsilon => f64::NEG_INFINITY,
                Functional::Delta => (-(epsilon - l).exp_m1()).ln(),
                Functional::Complement => (epsilon - l).min(0.0),
            };
            // l - epsilon is off by a little of either, and with it the kernel next to epsilon.
            let a = a - WIDENING * (a.abs() + epsilon.abs());
            let end = |l: f64| ln_kernel(l) - c * l - WIDENING * (1.0 + (c * l).abs() + epsilon.abs());
            Some(self.ln_mgf(c).lower + ln_probability + end(a).min(end(b)))
        });
        bounds.filter(|bound| !bound.is_nan()).fold(f64::NEG_INFINITY, f64::max)
    }

    /// An interval [a, b] with a lower bound on ln of its probability under the law tilted by c, which leaves out about exp(-kappa) on each side.
    fn window(&self, c: f64, kappa: f64) -> Option<(f64, f64, f64)> {
        let center = self.ln_mgf(c);
        let mean_of = |t: f64| {
            let (after, before) = (self.middle(c + t), self.middle(c - t));
            let middle = (center.lower + center.upper) / 2.0;
            ((after - before) / (2.0 * t), ((after - middle) - (middle - before)) / (t * t))
        };
        // How far to go from c for the best Chernoff bounds: sqrt(2 kappa) over the deviation there, from a first guess.
        let scale =
            self.rho.sqrt() + self.laplace.iter().map(|one| one.copies.sqrt() * one.shift * one.parameter).sum::<f64>();
        let mut t = 1.0 / scale;
        for _ in 0..3 {
            let (_, variance) = mean_of(t);
            let next = (2.0 * kappa / variance).sqrt();
            t = if next.is_finite() && next > 0.0 { next.min(1e6 * t) } else { t };
        }
        let after = self.ln_mgf(c + t).upper;
        let mut b = (after - center.lower + kappa) / t;
        // As far as zero on the other side, too: next to the largest loss the law tilted by c has hardly any deviation.
        let left = [t, c].into_iter().filter(|u| *u > 0.0).map(|u| {
            let before = self.ln_mgf(c - u).upper;
            ((center.lower - before - kappa) / u, before, u)
        });
        let (a, before, u) = left.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
        let widened = |x: f64| WIDENING * (1.0 + x.abs());
        let mut left_out = (before - center.lower + u * a + widened(u * a) + widened(before)).exp();
        match self.largest {
            // No loss is larger.
            Some(largest) if b >= largest => b = largest,
            _ => left_out += (after - center.lower - t * b + widened(t * b) + widened(after)).exp(),
        }
        let probability = 1.0 - left_out * (1.0 + WIDENING);
        (a <= b && probability > 0.0).then(|| (a, b, probability.ln() - WIDENING))
    }

    fn tradeoff(&self, alpha: f64) -> Enclosure {
        // Lower bounds by lines: f(alpha) >= 1 - delta(eps) - exp(eps) alpha, and >= exp(-eps) (1 - delta(eps) - alpha), for every eps >= 0.
        let lines = [0.9, 0.5, 0.2, 0.05, 0.01, 1e-4].map(|share: f64| (share / alpha).ln().max(0.0));
        let other = [0.0, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0].map(|part| part * (self.rho.max(1.0)));
        let mut lower = 0.0_f64;
        for epsilon in lines.into_iter().chain(other) {
            let rest = 1.0 - self.ln_upper(epsilon).min(0.0).exp() * (1.0 + 1e-9) - 1e-15;
            let (steep, flat) =
                (rest - epsilon.exp() * alpha * (1.0 + 1e-9), (-epsilon).exp() * (rest - alpha) * (1.0 - 1e-9));
            lower = lower.max(steep).max(flat);
        }
        // An upper bound by a test that rejects above z: Q[L > z] <= M(c) exp(-(c + 1) z) for c >= -1, and P[L <= z] <= M(-u) exp(u z).
        let ln_alpha = alpha.ln() - 1e-9 - 1e-12 * alpha.ln().abs();
        let ln_size = |z: f64| {
            let at = |ln_next: f64| {
                let next = ln_next.exp();
                self.ln_mgf(next - 1.0).upper - next * z + WIDENING * (next * z).abs()
            };
            least(at, (-20.0, 20.0))
        };
        let reach = 4.0 * (self.rho + self.rho.sqrt() * (1.0 - ln_alpha).sqrt() + self.largest.unwrap_or(0.0))
            + self.laplace.iter().map(|one| one.copies * one.shift * one.parameter).sum::<f64>();
        let (mut low, mut high) = (-reach, reach);
        for _ in 0..30 {
            let middle = (low + high) / 2.0;
            if ln_size(middle) <= ln_alpha { high = middle } else { low = middle }
        }
        // Kept as a logarithm: it may be far below every double.
        let mut ln_upper = 0.0;
        if ln_size(high) <= ln_alpha {
            let at = |ln_u: f64| {
                let u = ln_u.exp();
                self.ln_mgf(-u).upper + u * high + WIDENING * (u * high).abs()
            };
            ln_upper = least(at, (-20.0, 20.0)) + 1e-9;
        }
        let upper = Between { lower: f64::NEG_INFINITY, upper: ln_upper }.exp();
        let lower = Float::with_val(64, if lower.is_nan() { 0.0 } else { lower.clamp(0.0, 1.0) });
        Enclosure::new(lower, upper.upper().clone())
    }
}

/// Which of two expectations is bounded from below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Functional {
    Delta,
    Complement,
}

/// The smallest value that a golden-section search finds in a range: any value of a bound is a bound.
fn least(bound: impl Fn(f64) -> f64, (mut low, mut high): (f64, f64)) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let (mut x, mut y) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
    let (mut of_x, mut of_y) = (bound(x), bound(y));
    let mut found = f64::INFINITY;
    for _ in 0..36 {
        // `min` takes the number where the other one is a NaN.
        found = found.min(of_x).min(of_y);
        if of_x <= of_y || of_y.is_nan() {
            (high, y, of_y) = (y, x, of_x);
            x = high - GOLDEN * (high - low);
            of_x = bound(x);
        } else {
            (low, x, of_x) = (x, y, of_y);
            y = low + GOLDEN * (high - low);
            of_y = bound(y);
        }
    }
    found
}

/// Upper bound on |2 sum_k q^(k^2) cos(..)| for q = exp(-2 pi^2 v): 2 q / (1 - q^3).
fn theta_bound(v: f64) -> f64 {
    let q = (-2.0 * PI * PI * v).exp() * (1.0 + 1e-9) + f64::MIN_POSITIVE;
    2.0 * q / (1.0 - q * q * q) * (1.0 + 1e-9)
}

/// ln of sum_x exp(-(x - m)^2 / (2 sigma2)) over the same at m = 0, with m = s shift, and the size of what it was computed from. Terms nine steps
/// from the nearest integer are below exp(-72) for sigma2 < 1/2. A change of m by d changes the logarithm by at most d / sigma2, which pays for
/// the rounding of m.
fn ln_theta(terms: &Terms, s: f64) -> (f64, f64) {
    let m = s * terms.shift;
    let (away, half) = (m - m.round(), 0.5 / terms.parameter);
    let sum = |away: f64| (-8..=8).map(|x| (-half * (f64::from(x * x) - 2.0 * f64::from(x) * away)).exp()).sum::<f64>();
    let ln = -half * away * away + sum(away).ln() - sum(0.0).ln();
    (ln, 1.0 + ln.abs() + 4.0 * half * (1.0 + m.abs()))
}

/// ln E[exp(s L)] of one discrete Laplace count, and the size of what it was computed from: with a = epsilon (1 + 2 s) the sum over the losses
/// epsilon (shift - 2 x) is exp(s epsilon shift) (1 + (1 - q) (exp(-a) + ... + exp(-a (shift - 1))) + exp(-a shift)) / (1 + q), a geometric series.
fn ln_laplace(terms: &Terms, s: f64) -> (f64, f64) {
    let Terms { parameter: epsilon, shift, .. } = *terms;
    let a = epsilon * (1.0 + 2.0 * s);
    // Relative to the larger end, the series is the same from both ends.
    let peak = (-a * shift).max(0.0);
    let series = if a == 0.0 { shift - 1.0 } else { -(-a.abs() * (shift - 1.0)).exp_m1() / a.abs().exp_m1() };
    let ends = 1.0 + (-a.abs() * shift).exp();
    let ln = (ends - (-epsilon).exp_m1() * series).ln() - (-epsilon).exp().ln_1p();
    (s * epsilon * shift + peak + ln, 1.0 + ln.abs() + epsilon * shift * (1.0 + 4.0 * s.abs()))
}

/// Upper bound on exp(x).
fn exp_up(x: f64) -> Float {
    if x == f64::NEG_INFINITY { Float::new(64) } else { Enclosure::double(x, 64).exp().upper().clone() }
}

/// Lower bound on exp(x).
fn exp_down(x: f64) -> Float {
    if x == f64::NEG_INFINITY { Float::new(64) } else { Enclosure::double(x, 64).exp().lower().clone() }
}

// ---- comparison ---------------------------------------------------------------------------------------------------

/// The Gaussian groups of a sum that has no others.
#[derive(Clone, Debug)]
struct Comparison {
    /// (m_i, s_i) of the discrete groups.
    discrete: Vec<(f64, f64)>,
    /// sum of m_i / (2 s_i) over the continuous ones.
    continuous: f64,
    /// How many counts have discrete noise, and the least sigma2 of these.
    copies: f64,
    least: f64,
}

/// How far the two laws may differ, and the two rhos.
#[derive(Clone, Copy, Debug)]
struct Apart {
    /// Upper bounds on ln B and -ln A.
    ln_above: f64,
    ln_below: f64,
    rho_low: f64,
    rho_high: f64,
}

impl Comparison {
    /// `None` where there is other noise, or discrete noise too small to be compared.
    fn new(sum: &LossSum) -> Option<Self> {
        const LEAST_SIGMA2: f64 = 0.4;
        let mut all = Comparison { discrete: vec![], continuous: 0.0, copies: 0.0, least: f64::INFINITY };
        for Group { law, shift, copies } in sum.groups() {
            let moved = *copies as f64 * (*shift as f64).powi(2);
            match law {
                Law::DiscreteLaplace { .. } => return None,
                Law::Gaussian { sigma2 } => all.continuous += moved / (2.0 * sigma2.to_f64()),
                Law::DiscreteGaussian { sigma2 } => {
                    let sigma2 = sigma2.to_f64();
                    all.discrete.push((moved, sigma2));
                    all.copies += *copies as f64;
                    all.least = all.least.min(sigma2);
                }
            }
        }
        (!all.discrete.is_empty() && all.least >= LEAST_SIGMA2).then_some(all)
    }

    fn and(&self, other: &Self) -> Self {
        Comparison {
            discrete: [&self.discrete[..], &other.discrete].concat(),
            continuous: self.continuous + other.continuous,
            copies: self.copies + other.copies,
            least: self.least.min(other.least),
        }
    }

    fn rho(&self) -> f64 {
        self.discrete.iter().map(|(m, s)| m / (2.0 * s)).sum::<f64>() + self.continuous
    }

    /// The laws for a v that makes their difference matter little to a tail that falls by exp(-slope) a nat.
    fn apart(&self, slope: f64) -> Apart {
        const MATTERS: f64 = 0.005;
        let wanted = (4.0 * self.copies * (1.0 + slope.max(0.0)) / MATTERS).ln() / (2.0 * PI * PI);
        let v = wanted.min(self.least / 2.0);
        let x = theta_bound(v);
        let widened = |x: f64| x * (1.0 + WIDENING);
        let low = self.discrete.iter().map(|(m, s)| m * (s - v) / (2.0 * s * s)).sum::<f64>() + self.continuous;
        let high = self.discrete.iter().map(|(m, s)| m / (2.0 * (s - v))).sum::<f64>() + self.continuous;
        Apart {
            // ln(1 + x) <= x, ln((1 + x) / (1 - x)) <= 2 x / (1 - x).
            ln_above: widened(self.copies * x),
            ln_below: widened(self.copies * 2.0 * x / (1.0 - x)),
            rho_low: low * (1.0 - WIDENING),
            rho_high: widened(high),
        }
    }

    /// ln delta.
    fn hockey_stick(&self, epsilon: f64) -> Between {
        let rho = self.rho();
        let Apart { ln_above, ln_below, rho_low, rho_high } = self.apart((epsilon - rho) / (2.0 * rho));
        let moved = (ln_above + ln_below) * (1.0 + WIDENING);
        let off = WIDENING * (epsilon + moved);
        Between {
            lower: profile(rho_low, epsilon + moved + off).lower.ln() - ln_below,
            upper: profile(rho_high, epsilon - moved - off).upper.ln() + ln_above,
        }
    }

    /// ln f.
    fn tradeoff(&self, alpha: f64) -> Between {
        let rho = self.rho();
        let Apart { ln_above, ln_below, rho_low, rho_high } = self.apart((alpha.ln().abs() / rho).sqrt());
        // f_G(a) = P[N <= z - mu] with P[N > z] = a: z at or below that of alpha / A, at or above that of alpha / B.
        let ln_alpha = alpha.ln();
        let off = 1e-9 * (1.0 + ln_alpha.abs());
        let at_most = quantile(ln_alpha + ln_below + off, true);
        let at_least = quantile(ln_alpha - ln_above - off, false);
        let f = |z: f64, rho: f64| {
            let mu = (2.0 * rho).sqrt();
            (ln_upper_tail(mu - z), WIDENING * (1.0 + (mu.abs() + z.abs()).powi(2)))
        };
        let (low, off_low) = f(at_most, rho_high);
        let (high, off_high) = f(at_least, rho_low);
        Between { lower: low - off_low - ln_below, upper: high + off_high + ln_above }
    }
}

/// The privacy profile of Gaussian noise of this rho at any epsilon: with x = (epsilon -+ rho) / sqrt(2 rho), phi the normal density and
/// R(x) = P[N > x] / phi(x), it is phi(x_1) (R(x_1) - R(x_2)), because exp(epsilon) phi(x_2) = phi(x_1).
fn profile(rho: f64, epsilon: f64) -> Between {
    let width = (2.0 * rho).sqrt();
    let (near, far) = ((epsilon - rho) / width, (epsilon + rho) / width);
    let density = (-near * near / 2.0).exp() / (2.0 * PI).sqrt();
    let tail = |x: f64| if x >= 0.0 { density * mills(x) } else { 1.0 - density * mills(-x) };
    // Left of -rho the second term is exp(epsilon) less its own complement.
    let second = if far >= 0.0 { density * mills(far) } else { epsilon.exp() - density * mills(-far) };
    let value = tail(near) - second;
    // The exponent is off by a little of its size, and the terms by a little of theirs.
    let off = (1.0 + near * near) * 1e-12 * (tail(near).abs() + second.abs() + density);
    Between { lower: (value - off).max(0.0), upper: (value + off + f64::MIN_POSITIVE).min(1.0) }
}

/// P[N > x] / phi(x) for x >= 0, to a relative 10^-13 or so: near zero sqrt(pi / 2) exp(x^2 / 2) - sum of x^(2 k + 1) / (2 k + 1)!!, further out the
/// continued fraction 1 / (x + 1 / (x + 2 / (x + 3 / ...))), from its end.
fn mills(x: f64) -> f64 {
    const NEAR: f64 = 2.5;
    if x < NEAR {
        let (mut term, mut sum) = (x, x);
        for k in 1..60 {
            term *= x * x / f64::from(2 * k + 1);
            sum += term;
        }
        return (PI / 2.0).sqrt() * (x * x / 2.0).exp() - sum;
    }
    (1..=120).rev().fold(x, |fraction, k| x + f64::from(k) / fraction).recip()
}

/// ln P[N > x].
fn ln_upper_tail(x: f64) -> f64 {
    if x >= 0.0 {
        mills(x).ln() - x * x / 2.0 - (2.0 * PI).ln() / 2.0
    } else {
        (-(-x * x / 2.0).exp() * mills(-x) / (2.0 * PI).sqrt()).ln_1p()
    }
}

/// The x of ln P[N > x] = ln_size up to halving, rounded to the side that is asked for; infinite where there is none.
fn quantile(ln_size: f64, down: bool) -> f64 {
    if ln_size >= 0.0 {
        return f64::NEG_INFINITY;
    }
    let (mut low, mut high) = (-40.0, 2.0 + (-2.0 * ln_size).sqrt());
    for _ in 0..50 {
        let middle = (low + high) / 2.0;
        if ln_upper_tail(middle) > ln_size { low = middle } else { high = middle }
    }
    if down { low } else { high }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        loss::gaussian,
        numeric::rational::{self, parse},
    };

    fn group(law: &str, shift: u64, copies: u64) -> Group {
        let (kind, parameter) = law.split_once(' ').unwrap();
        let parameter = parse(parameter).unwrap();
        let law = match kind {
            "laplace" => Law::DiscreteLaplace { epsilon: parameter },
            "continuous" => Law::Gaussian { sigma2: parameter },
            _ => Law::DiscreteGaussian { sigma2: parameter },
        };
        Group { law, shift, copies }
    }

    fn sums() -> Vec<Vec<Group>> {
        vec![
            vec![group("gaussian 5", 1, 10)],
            vec![group("gaussian 500/73", 1, 10), group("gaussian 2500/137", 2, 6)],
            vec![group("gaussian 500", 1, 1000), group("continuous 3", 1, 2)],
            vec![group("gaussian 1/5", 1, 3)],
            vec![group("gaussian 1/20", 2, 1), group("gaussian 7", 1, 5)],
            vec![group("laplace 1/2", 2, 3)],
            vec![group("laplace 1", 1, 1), group("laplace 1/3", 1, 1)],
            vec![group("laplace 1/10", 3, 40), group("gaussian 9", 1, 4)],
            vec![group("continuous 4", 1, 1)],
        ]
    }

    /// Closed forms of the moment generating function against those in balls, at tilts of both signs.
    #[test]
    fn moments_are_those_of_the_loss() {
        for groups in sums() {
            let sum = LossSum::new(groups.clone()).unwrap();
            let moments = Moments::new(&sum);
            for s in [-7.25, -1.0, -0.5, -0.3, 0.0, 0.001, 0.5, 1.0, 3.7, 40.0] {
                let Between { lower, upper } = moments.ln_mgf(s);
                let truth = sum.ln_mgf(&rational::from_f64(s).unwrap(), 120);
                assert!(Float::with_val(120, lower) <= *truth.upper() && *truth.lower() <= upper, "{groups:?} {s}");
                assert!(upper - lower < 0.03 * (1.0 + upper.abs()), "{groups:?} {s}: {lower} {upper}");
            }
        }
    }

    /// The second enclosure holds what the engines certify, and says something.
    #[test]
    fn both_enclosures_overlap() {
        for groups in sums() {
            let sum = LossSum::new(groups.clone()).unwrap();
            let (second, evaluator) = (Second::new(&sum), sum.evaluator());
            let mut known = 0;
            for epsilon in ["0", "0.4", "1.3", "2.9", "8", "20"] {
                let epsilon = parse(epsilon).unwrap();
                let first = evaluator.hockey_stick(&epsilon, 10).unwrap().value;
                let value = second.hockey_stick(&epsilon).unwrap().value;
                assert!(value.overlaps(&first), "{groups:?} {epsilon}: {value:?} {first:?}");
                known += usize::from(*value.lower() > 0 && (*value.upper() < 1 || *first.lower() > 0.5));
            }
            assert!(known >= 2, "{groups:?}: {known}");
        }
    }

    /// The closed forms in doubles against those in intervals: a profile on both sides of rho and of zero, and tails.
    #[test]
    fn closed_forms_in_doubles_hold_those_in_intervals() {
        for rho in [1e-6, 0.01, 1.0, 7.0, 300.0, 1e6] {
            for place in [-3.0, -0.5, 0.0, 0.3, 1.0, 4.0, 20.0] {
                let epsilon: f64 = rho + place * (2.0_f64 * rho).sqrt();
                let exact = |x: f64| rational::from_f64(x).unwrap();
                let truth = gaussian::hockey_stick(&exact(rho), &exact(epsilon), 15);
                let Between { lower, upper } = profile(rho, epsilon);
                assert!(*truth.upper() >= lower && *truth.lower() <= upper, "{rho} {epsilon}: {truth} {lower} {upper}");
                assert!(rho < 0.01 || upper < 1e-60 || upper / lower < 1.0 + 1e-6, "{rho} {epsilon}: {lower} {upper}");
            }
        }
        for x in [-9.0, -2.6, -2.4, -1e-9, 0.0, 0.7, 2.4999, 2.5, 6.0, 35.0, 1e4] {
            let root = Enclosure::double(2.0, 120).sqrt();
            let truth =
                Enclosure::double(x, 120).div(&root).erfc().div(&Enclosure::double(2.0, 120)).ln().approximate();
            assert!((ln_upper_tail(x) - truth).abs() <= 1e-13 * (1.0 + truth.abs()), "{x}: {truth}");
        }
        let ln = 0.05_f64.ln();
        let (below, above) = (quantile(ln, true), quantile(ln, false));
        assert!(below <= 1.644_853_626_951_472_8 && 1.644_853_626_951_472 <= above && above - below < 1e-9);
    }

    /// Where all noise is Gaussian and not small, a comparison gives delta to a percent or so.
    #[test]
    fn a_comparison_is_sharp() {
        for (groups, epsilon, share) in [
            (vec![group("gaussian 500", 1, 80)], "1.1", 0.05),
            (vec![group("gaussian 60", 1, 40), group("gaussian 3000", 1, 40)], "1.1", 0.3),
            (vec![group("gaussian 1000000", 3, 5), group("continuous 100000", 2, 1)], "0.02", 0.05),
        ] {
            let sum = LossSum::new(groups.clone()).unwrap();
            let second = Second::new(&sum).hockey_stick(&parse(epsilon).unwrap()).unwrap();
            let (lower, upper) = second.value.doubles();
            assert!(lower > 0.0 && upper / lower < 1.0 + share, "{groups:?}: {lower} {upper}");
            let first = sum.evaluator().hockey_stick(&parse(epsilon).unwrap(), 10).unwrap();
            assert!(second.value.overlaps(&first.value));
        }
    }

    /// The trade-off function, by enumeration through the engine of atoms and by what a second enclosure says.
    #[test]
    fn trade_off_functions_overlap() {
        for groups in sums() {
            let sum = LossSum::new(groups.clone()).unwrap();
            let second = Second::new(&sum);
            let evaluator = sum.evaluator();
            for alpha in ["1e-9", "0.001", "0.05", "0.4", "0.9"] {
                let alpha = parse(alpha).unwrap();
                let Some(first) = evaluator.tradeoff(&alpha, 10, false).unwrap() else { continue };
                let value = second.tradeoff(&alpha).unwrap().value;
                assert!(value.overlaps(&first.value), "{groups:?} {alpha}: {value:?} {first:?}");
            }
        }
    }

    /// A type II error below every double: that of one count of epsilon 1000 at alpha = 1/2.
    #[test]
    fn what_is_below_every_double_is_not_zero() {
        let sum = LossSum::new([group("laplace 1000", 1, 1)]).unwrap();
        let alpha = parse("1/2").unwrap();
        let first = sum.evaluator().tradeoff(&alpha, 12, false).unwrap().unwrap().value;
        let second = Second::new(&sum).tradeoff(&alpha).unwrap().value;
        assert!(*first.lower() > 0 && second.overlaps(&first), "{first} {second}");
    }

    /// The false values that once were certified are excluded, and their true ones are not.
    #[test]
    fn false_values_are_excluded() {
        let tiny = ["0.0012345678901234567", "0.0023456789012345671", "0.0034567890123456789"];
        let cases = [
            (
                tiny.map(|sigma2| group(&format!("gaussian {sigma2}"), 1, 1)).to_vec(),
                "760.8008",
                "0.864666356207062",
                "3.4551e-12",
            ),
            (
                vec![group("laplace 1", 1, 1), group("laplace 0.3333333333333333333333333333", 1, 1)],
                "1.333332",
                "5.67856884213364e-7",
                "2.9461e-10",
            ),
        ];
        for (groups, epsilon, truth, wrong) in cases {
            let sum = LossSum::new(groups).unwrap();
            let epsilon = parse(epsilon).unwrap();
            let second = Second::new(&sum).hockey_stick(&epsilon).unwrap();
            let at = |text: &str| Enclosure::rational(&parse(text).unwrap(), 40);
            assert!(second.value.overlaps(&at(truth)) && !second.value.overlaps(&at(wrong)), "{:?}", second.value);
            assert!(second.confirms(&at(wrong), "a test").is_err());
            let first = sum.evaluator().hockey_stick(&epsilon, 12).unwrap();
            assert!(first.met && first.value.overlaps(&Enclosure::rational(&parse(truth).unwrap(), 46)), "{first:?}");
        }
    }

    /// Extreme parameters say little, but nothing false, and never a NaN.
    #[test]
    fn extremes_say_nothing_false() {
        for groups in [
            vec![group("gaussian 1/10000", 1000, 1_000_000_000_000)],
            vec![group("gaussian 1000000000000000000", 1, 1)],
            vec![group("laplace 1/1000000000", 1000, 1_000_000_000)],
            vec![group("laplace 1000000", 1000, 1000), group("gaussian 1/1000000", 1, 5)],
            vec![group("laplace 1000", 1, 1)],
            vec![group("gaussian 0.29", 1, 1_000_000_000_000)],
        ] {
            let sum = LossSum::new(groups.clone()).unwrap();
            let second = Second::new(&sum);
            for epsilon in ["0", "1e-300", "1", "1e9", "1724140000000", "1e300"] {
                let value = second.hockey_stick(&parse(epsilon).unwrap()).unwrap().value;
                assert!(
                    *value.lower() >= 0 && value.lower() <= value.upper() && *value.upper() <= 1,
                    "{groups:?} {epsilon}: {value:?}"
                );
            }
            for alpha in ["1e-400", "1e-9", "0.5", "0.999999999999999999999"] {
                let value = second.tradeoff(&parse(alpha).unwrap()).unwrap().value;
                assert!(
                    *value.lower() >= 0 && value.lower() <= value.upper() && *value.upper() <= 1,
                    "{groups:?} {alpha}: {value:?}"
                );
            }
        }
    }
}
