//! The losses of one sampled step in doubles, from which a search takes moments. They prove nothing.

use super::{Phase, phase::Ratio};

/// The most nodes of an integral in doubles.
pub(super) const MOST_POINTS: f64 = 1e5;
/// The distance of nodes in standardized outputs.
const STEP: f64 = 0.1;

/// The losses of one step at equidistant outputs of the noise, in doubles: for searches.
#[derive(Clone, Debug)]
pub(super) struct Table {
    phase: Phase,
    sigma2: f64,
    rate: f64,
    /// How far it reaches to either side.
    left: f64,
    right: f64,
    /// ln of the density and of the ratio.
    points: Vec<(f64, f64)>,
}

impl Table {
    /// Wide enough for moments of moderate order.
    pub(super) fn new(phase: &Phase) -> Table {
        const RIGHT: f64 = 300.0;
        const LEFT: f64 = 25.0;
        Table::reaching(phase, LEFT, RIGHT)
    }

    fn reaching(phase: &Phase, left: f64, right: f64) -> Table {
        let (sigma2, rate, ratio) = (phase.sigma2.to_f64(), phase.rate.to_f64(), Ratio::new(phase));
        let mu = sigma2.sqrt().recip();
        let point = |k: i64| {
            let x = k as f64 * STEP;
            (-x * x / 2.0, ratio.ln(mu * x - mu * mu / 2.0))
        };
        let (first, last) = (-(left / STEP).ceil() as i64, (right / STEP).ceil() as i64);
        Table { phase: phase.clone(), sigma2, rate, left, right, points: (first..=last).map(point).collect() }
    }

    /// ln F(p), by the trapezoid rule on the real line.
    pub(super) fn ln_moment(&self, p: f64) -> f64 {
        let (s2, g, turns) = (self.sigma2, self.rate, self.phase.turns());
        let mu = s2.sqrt().recip();
        // Large positive powers move the mass to the right by up to p mu; large negative ones to where r hardly changes.
        let negative = (-p).max(0.0);
        let left = 13.0 + negative.min(negative * turns * g * mu).min(libm::log1p(negative) / mu);
        let right = 13.0 + p.max(0.0) * turns * mu;
        if left <= self.left && right <= self.right {
            return self.ln_moment_between(p, left, right);
        }
        let points = (left + right) / STEP;
        if points.is_nan() || points > MOST_POINTS {
            // The one term of the binomial sum that matters; for p < 0 an upper bound.
            return if p > 0.0 {
                let p = p * turns;
                (p * libm::log(g) + p * (p - 1.0) / (2.0 * s2)).max(0.0)
            } else {
                p * turns * libm::log1p(-g)
            };
        }
        Table::reaching(&self.phase, left, right).ln_moment_between(p, left, right)
    }

    fn ln_moment_between(&self, p: f64, left: f64, right: f64) -> f64 {
        let density = STEP / std::f64::consts::TAU.sqrt();
        let first = (((self.left - left) / STEP) as usize).min(self.points.len());
        let last = self.points.len() - (((self.right - right) / STEP) as usize).min(self.points.len() - first);
        let points = &self.points[first..last];
        let most = points.iter().map(|(gauss, ln_r)| gauss + p * ln_r).fold(f64::NEG_INFINITY, f64::max);
        // F(p) - 1 has the digits of a small difference; where a power is large, F is not close to 1.
        if most < 1.0 {
            let less_one = |(gauss, ln_r): &(f64, f64)| {
                let power = p * ln_r;
                if power < 30.0 { libm::exp(*gauss) * libm::expm1(power) } else { libm::exp(gauss + power) }
            };
            let less_one: f64 = density * points.iter().map(less_one).sum::<f64>();
            if less_one > -0.5 {
                return libm::log1p(less_one);
            }
        }
        most + libm::log(density * points.iter().map(|(gauss, ln_r)| libm::exp(gauss + p * ln_r - most)).sum::<f64>())
    }
}

/// Mean and variance of the loss of one step where a record was removed, in doubles.
pub(super) fn mean_and_variance(phase: &Phase) -> (f64, f64) {
    let ratio = Ratio::new(phase);
    let mu = phase.sigma2.to_f64().sqrt().recip();
    let density = STEP / std::f64::consts::TAU.sqrt();
    let last = ((13.0 + phase.turns() * mu) / STEP).ceil().min(2e5) as i64;
    let (mut mean, mut square) = (0.0, 0.0);
    for x in (-130..=last).map(|k| STEP * k as f64) {
        let loss = mu * x - mu * mu / 2.0;
        let ln_ratio = ratio.ln(loss);
        let mass = density * libm::exp(-x * x / 2.0 + ln_ratio);
        mean += mass * ln_ratio;
        square += mass * ln_ratio * ln_ratio;
    }
    (mean.max(0.0), (square - mean * mean).max(f64::MIN_POSITIVE))
}
