//! Hockey sticks and trade-off functions from moments.
//!
//! With g(l) = (1 - exp(eps - l))_+, P_c the law tilted by exp(c l) / M(c), and Q the other law of the pair, E_Q[g(L)] = E[exp(-L) g(L)],
//!
//! ```text
//! delta <= M(c) exp(-c eps) c^c / (c + 1)^(c + 1)                            for c > 0, the largest value of g(l) exp(-c (l - eps)),
//! 1 - delta = E[min(1, exp(eps - L))] <= M(c) exp(-c eps)                    for -1 <= c <= 0,
//! delta >= M(c) P_c[a <= L <= b] min(g(a) exp(-c a), g(b) exp(-c b))         for eps < a <= b,
//! P_c[L > b] <= M(c + t) exp(-t b) / M(c),  P_c[L < a] <= M(c - t) exp(t a) / M(c),
//! ```
//!
//! where the third holds because ln g(l) - c l is concave in l. The same with min(0, eps - l) - c l, which is concave too, bounds 1 - delta
//! from below. Lines and a test bound the trade-off function:
//!
//! ```text
//! f(alpha) >= 1 - delta(eps) - exp(eps) alpha,   f(alpha) >= exp(-eps) (1 - delta(eps) - alpha)             for eps >= 0,
//! f(alpha) <= P[L <= z] <= M(-u) exp(u z)    where Q[L > z] <= M(c) exp(-(c + 1) z) <= alpha                for u > 0, c >= -1.
//! ```

use rug::{Float, float::Round};

use super::{
    INNER,
    between::{Between, WIDENING, least},
    moments::Moments,
};
use crate::{error::Result, numeric::Enclosure};

/// Which of two expectations is bounded from below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Functional {
    Delta,
    Complement,
}

/// An interval of losses, and a lower bound on ln of its probability under a tilted law.
pub(super) struct Window {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) ln_probability: f64,
}

impl Moments {
    pub(super) fn hockey_stick(&self, epsilon: f64) -> Result<Enclosure> {
        /// Below this, 1 - delta gives less precision than delta.
        const SMALL: f64 = -2.0;
        let ln_upper = self.ln_upper(epsilon);
        let delta = Between { lower: self.ln_lower(epsilon, Functional::Delta), upper: ln_upper }.exp();
        if ln_upper < SMALL {
            return Ok(delta);
        }
        let rest_upper = self.ln_upper_of_complement(epsilon);
        let rest = Between { lower: self.ln_lower(epsilon, Functional::Complement), upper: rest_upper }.exp();
        // 1 - (1 - delta), rounded outward.
        let one_minus = Enclosure::new(
            Float::with_val_round(64, 1_u32 - rest.upper(), Round::Down).0,
            Float::with_val_round(64, 1_u32 - rest.lower(), Round::Up).0,
        );
        delta.meet(&one_minus).ok_or(INNER)
    }

    /// Upper bound on ln delta.
    fn ln_upper(&self, epsilon: f64) -> f64 {
        if self.largest.is_some_and(|largest| epsilon > largest) {
            return f64::NEG_INFINITY;
        }
        let at = |ln_c: f64| {
            let c = libm::exp(ln_c);
            // ln of c^c / (c + 1)^(c + 1), both terms negative.
            let kernel = -c * libm::log1p(1.0 / c) - libm::log1p(c);
            // Where c eps overflows, its widening does as well, and the sum is not a number.
            self.ln_mgf(c).upper - c * epsilon + kernel + WIDENING * (c * epsilon - kernel)
        };
        least(at, (-25.0, 25.0))
    }

    /// Upper bound on ln(1 - delta).
    fn ln_upper_of_complement(&self, epsilon: f64) -> f64 {
        // The search stays within (-1, 0).
        let at = |c: f64| self.ln_mgf(c).upper - c * epsilon - WIDENING * c * epsilon;
        least(at, (-1.0, 0.0)).min(0.0)
    }

    /// Lower bound on ln of delta or of 1 - delta, minus infinity if none is found.
    fn ln_lower(&self, epsilon: f64, functional: Functional) -> f64 {
        let tilts = match functional {
            Functional::Complement => vec![-1.0, -0.5, 0.0],
            Functional::Delta => {
                let high = self.tilt_above(epsilon);
                vec![0.0, high, 1.3 * high, 2.0 * high]
            }
        };
        let bound = |(c, kappa): (f64, f64)| {
            let Window { from, to, ln_probability } = self.window(c, kappa)?;
            let end = |l: f64| {
                // l and epsilon are off by 2^-50 of either: a kernel that falls or rises by as much is below the true one.
                let off = WIDENING * (l.abs() + epsilon.abs());
                let ln_kernel = match functional {
                    Functional::Delta if l - off <= epsilon => f64::NEG_INFINITY,
                    Functional::Delta => libm::log(-libm::expm1(epsilon - (l - off))),
                    Functional::Complement => (epsilon - l - off).min(0.0),
                };
                ln_kernel - c * l - WIDENING * (1.0 + (c * l).abs() + ln_kernel.abs())
            };
            Some(self.ln_mgf(c).lower + ln_probability + end(from).min(end(to)))
        };
        let windows = tilts.into_iter().flat_map(|c| [(c, 1.2), (c, 2.5)]);
        windows.filter_map(bound).filter(|bound| !bound.is_nan()).fold(f64::NEG_INFINITY, f64::max)
    }

    /// About the least tilt whose window lies above epsilon by as much as the slope of g needs.
    fn tilt_above(&self, epsilon: f64) -> f64 {
        const HALVINGS: u32 = 12;
        let is_above = |c: f64| self.window(c, 2.0).is_some_and(|window| window.from > epsilon + 0.5 / (1.0 + c));
        let (mut low, mut high) = (-12.0_f64, 25.0_f64);
        for _ in 0..HALVINGS {
            let middle = (low + high) / 2.0;
            if is_above(libm::exp(middle)) { high = middle } else { low = middle }
        }
        libm::exp(high)
    }

    /// An interval that leaves out about exp(-kappa) on each side, of the law tilted by c.
    pub(super) fn window(&self, c: f64, kappa: f64) -> Option<Window> {
        let center = self.ln_mgf(c);
        let middle = (center.lower + center.upper) / 2.0;
        // How far to go from c for the best Chernoff bounds: sqrt(2 kappa) over the deviation there, from a first guess.
        let mut far = 1.0 / self.scale();
        for _ in 0..3 {
            let variance = ((self.middle(c + far) - middle) - (middle - self.middle(c - far))) / (far * far);
            let next = (2.0 * kappa / variance).sqrt();
            far = if next.is_finite() && next > 0.0 { next.min(1e6 * far) } else { far };
        }
        // The tilts as they are evaluated: the difference of two doubles is off by 2^-53 of it, c + t by 2^-53 of c.
        let above = c + far;
        let t = above - c;
        let after = self.ln_mgf(above).upper;
        let mut to = (after - center.lower + kappa) / t;
        // As far as zero on the other side, too: next to the largest loss the law tilted by c has hardly any deviation.
        let left = [c - far, 0.0].into_iter().filter(|below| *below < c).map(|below| {
            let (before, u) = (self.ln_mgf(below).upper, c - below);
            ((center.lower - before - kappa) / u, before, u)
        });
        let (from, before, u) = left.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
        let widened = |x: f64| WIDENING * (1.0 + x.abs());
        let mut left_out = libm::exp(before - center.lower + u * from + widened(u * from) + widened(before));
        match self.largest {
            // No loss is larger.
            Some(largest) if to >= largest => to = largest,
            _ => left_out += libm::exp(after - center.lower - t * to + widened(t * to) + widened(after)),
        }
        // One difference, which is rounded to within 2^-53 of it.
        let probability = 1.0 - left_out * (1.0 + WIDENING);
        (from <= to && probability > 0.0).then(|| Window {
            from,
            to,
            ln_probability: libm::log(probability) - WIDENING,
        })
    }

    /// Encloses f(alpha), alpha = exp(ln_alpha).
    pub(super) fn tradeoff(&self, ln_alpha: f64) -> Result<Enclosure> {
        let lower = self.highest_line(ln_alpha).clamp(0.0, 1.0);
        let upper = Between { lower: f64::NEG_INFINITY, upper: self.ln_of_test(ln_alpha) }.exp();
        Ok(Enclosure::new(Float::with_val(64, lower), upper.upper().clone()))
    }

    /// Lower bound on f(alpha) by lines.
    fn highest_line(&self, ln_alpha: f64) -> f64 {
        /// Relative, of which the roundings below take a little, as exponents are below 1000 where they matter.
        const OFF: f64 = 1e-9;
        let steep = [0.9, 0.5, 0.2, 0.05, 0.01, 1e-4].map(|share: f64| (libm::log(share) - ln_alpha).max(0.0));
        let flat = [0.0, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0].map(|part| part * (self.rho.max(1.0)));
        let mut lower = 0.0_f64;
        for epsilon in steep.into_iter().chain(flat) {
            let rest = 1.0 - libm::exp(self.ln_upper(epsilon).min(0.0)) * (1.0 + OFF) - 1e-15;
            let exponent = epsilon + ln_alpha;
            let of_alpha = libm::exp(exponent + WIDENING * (epsilon + ln_alpha.abs())) * (1.0 + OFF);
            let steep = rest - of_alpha;
            let flat = libm::exp(-epsilon) * (rest - libm::exp(ln_alpha) * (1.0 + OFF)) * (1.0 - OFF);
            // A NaN is passed over.
            lower = lower.max(steep).max(flat);
        }
        lower
    }

    /// Upper bound on ln f(alpha) by a test that rejects above a loss.
    fn ln_of_test(&self, ln_alpha: f64) -> f64 {
        const OFF: f64 = 1e-9;
        const HALVINGS: u32 = 24;
        let ln_alpha = ln_alpha - OFF - WIDENING * ln_alpha.abs();
        let ln_size = |z: f64| {
            let at = |ln_next: f64| {
                // c + 1 of the tilt as it is evaluated: c is rounded beside 1.
                let c = libm::exp(ln_next) - 1.0;
                let next = c + 1.0;
                self.ln_mgf(c).upper - next * z + WIDENING * (next * z).abs()
            };
            least(at, (-20.0, 20.0))
        };
        let reach = 4.0 * (self.rho + self.rho.sqrt() * (1.0 - ln_alpha).sqrt() + self.largest.unwrap_or(0.0))
            + self.largest_bounded();
        let (mut low, mut high) = (-reach, reach);
        for _ in 0..HALVINGS {
            let middle = (low + high) / 2.0;
            if ln_size(middle) <= ln_alpha { high = middle } else { low = middle }
        }
        // Not where it is not a number.
        let is_small = ln_size(high) <= ln_alpha;
        if !is_small {
            return 0.0;
        }
        let at = |ln_u: f64| {
            let u = libm::exp(ln_u);
            self.ln_mgf(-u).upper + u * high + WIDENING * (u * high).abs()
        };
        // Kept as a logarithm: it may be far below every double.
        least(at, (-20.0, 20.0)) + OFF
    }
}
