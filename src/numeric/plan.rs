//! The choice of a contour: its real part, its spacing, how far it goes and which windows survive beyond.
//!
//! Everything here is searched in doubles. None of it needs a proof: every real part, spacing and height gives a true
//! enclosure, because [`contour`](super::contour) bounds what each choice leaves out. A bad choice costs time only.

use std::f64::consts::PI;

use super::{
    contour::{Kernel, Question},
    sieve::{self, Wave},
    sum::GaussianSum,
    theta,
};
use crate::error::{Error, Result};

/// How many nodes a sum may have before the question is refused.
const MOST_NODES: i64 = 2_000_000;

/// The contour and the nodes on it.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The real part, a dyadic number of few bits.
    pub c: f64,
    /// The number of nodes of the full period, odd. The spacing is 2 pi / (h nodes).
    pub nodes: i64,
    /// Ranges of nodes j >= 0 that are summed, both ends included; the first starts at 0. Negative nodes are their
    /// conjugates.
    pub lobes: Vec<(i64, i64)>,
    /// Where the bound for the term below c, and for the one above, is taken.
    pub below: f64,
    pub above: f64,
    /// All nodes left out have |product of the factors| <= exp(-cut); infinite where none is left out.
    pub cut: f64,
}

impl Plan {
    /// How many nodes are summed.
    pub(crate) fn evaluated(&self) -> i64 {
        self.lobes.iter().map(|(from, to)| to - from + 1).sum()
    }
}

/// What the plan needs to know of the sum and the question, in doubles.
pub(crate) struct Sketch<'a> {
    sum: &'a GaussianSum,
    kernel: Kernel,
    rho: f64,
    step: f64,
    /// The threshold z of the question.
    at: f64,
    /// The first lattice value that counts.
    first: f64,
    /// first - threshold, in (0, h].
    gap: f64,
}

impl<'a> Sketch<'a> {
    pub(crate) fn new(sum: &'a GaussianSum, question: &Question) -> Self {
        Sketch {
            sum,
            kernel: question.kernel,
            rho: sum.rho().to_f64(),
            step: sum.step().to_f64(),
            at: question.threshold.to_f64(),
            first: question.first.to_f64(),
            gap: question.gap.to_f64(),
        }
    }

    /// The saddle point of M(s) kappa(s) on the real axis, thetas neglected: the root of an increasing function in
    /// the strip in which the kernel converges.
    fn saddle(&self) -> f64 {
        let (low, high) = self.kernel.strip();
        let slope = |c: f64| {
            let poles = match self.kernel {
                Kernel::HockeyStick | Kernel::Complement => 1.0 / c + 1.0 / (c + 1.0),
                Kernel::UpperTail => 1.0 / c,
                Kernel::TiltedTail => 1.0 / (c + 1.0),
            };
            self.rho * (1.0 + 2.0 * c) - self.at - poles
        };
        let mut left = low;
        let mut right = if high.is_finite() { high } else { low + 1.0 };
        while high.is_infinite() && slope(right) < 0.0 && right < 1e300 {
            right = low + (right - low) * 2.0;
        }
        for _ in 0..80 {
            let middle = left + (right - left) / 2.0;
            if slope(middle) < 0.0 {
                left = middle;
            } else {
                right = middle;
            }
        }
        let c = few_bits(right);
        if self.kernel == Kernel::Complement {
            c.clamp(-0.9999, -0.0001)
        } else {
            c.max(low + f64::MIN_POSITIVE.sqrt())
        }
    }

    /// ln M(c), with the thetas.
    fn ln_mgf(&self, c: f64) -> f64 {
        let thetas: f64 = self.sum.groups().iter().map(|group| theta::ln_factor_on_axis(group, c)).sum();
        self.rho * (c + c * c) + thetas
    }

    /// ln of |kappa(c)| / h.
    fn ln_kernel(&self, c: f64) -> f64 {
        let h = self.step;
        let bracket = match self.kernel {
            Kernel::HockeyStick | Kernel::Complement => {
                let numerator = -(-self.gap).exp_m1() - (-self.gap - c * h).exp() * (self.gap - h).exp_m1();
                numerator / ((-c * h).exp_m1() * (-(c + 1.0) * h).exp_m1())
            }
            Kernel::UpperTail => -1.0 / (-c * h).exp_m1(),
            Kernel::TiltedTail => -1.0 / (-(c + 1.0) * h).exp_m1(),
        };
        bracket.abs().ln() - c * self.first - self.extra()
    }

    /// The tilted tail carries a factor exp(-first) from exp(-L).
    fn extra(&self) -> f64 {
        if self.kernel == Kernel::TiltedTail { self.first } else { 0.0 }
    }

    /// ln of the answer by the saddle point method.
    pub(crate) fn ln_estimate(&self) -> f64 {
        self.ln_answer(self.saddle())
    }

    /// ln of the answer by the saddle point method at c, thetas included in the size of M but not in its curvature.
    fn ln_answer(&self, c: f64) -> f64 {
        let poles = match self.kernel {
            Kernel::HockeyStick | Kernel::Complement => c.powi(-2) + (c + 1.0).powi(-2),
            Kernel::UpperTail => c.powi(-2),
            Kernel::TiltedTail => (c + 1.0).powi(-2),
        };
        // (1 / 2 pi) integral of M kappa = M kappa / sqrt(2 pi curvature); on a coarse lattice at most one period.
        let width = (1.0 / (2.0 * PI * (2.0 * self.rho + poles)).sqrt()).min(1.0 / self.step);
        self.ln_mgf(c) + self.ln_kernel(c) + self.step.ln() + width.ln()
    }

    /// ln of the bound for the terms that the trapezoid rule adds on one side, with the point x at which it is taken:
    /// M(x) <= exp(rho (x + x^2)), so the sum over k >= 1 is at most
    /// exp(rho (x + x^2) - x z) / (exp(period |x - c|) - 1).
    fn ln_alias(&self, x: f64, c: f64, period: f64) -> f64 {
        let power = period * (x - c).abs();
        let denominator = if power > 30.0 { power } else { power.exp_m1().ln() };
        self.rho * (x + x * x) - x * self.at - self.extra() - denominator
    }

    /// The best points for both bounds: the stationary ones, kept in the strip and away from c.
    fn alias_points(&self, c: f64, period: f64) -> (f64, f64) {
        let (low, high) = self.kernel.closed_strip();
        let stationary = |sign: f64| (self.at + sign * period - self.rho) / (2.0 * self.rho);
        let below = stationary(-1.0).max(low).min(c - (1.0 / period).min((c - low) / 2.0));
        let above = stationary(1.0).min(high).max(c + (1.0 / period).min((high - c) / 2.0));
        (below, above)
    }

    fn ln_aliases(&self, c: f64, period: f64) -> f64 {
        let (below, above) = self.alias_points(c, period);
        let (p, q) = (self.ln_alias(below, c, period), self.ln_alias(above, c, period));
        p.max(q) + (-(p - q).abs()).exp().ln_1p()
    }

    /// A plan whose errors are about exp(ln_share) of the answer; `ln_answer` is the answer where it is known better
    /// than by the saddle point method.
    pub(crate) fn plan(&self, ln_share: f64, ln_answer: Option<f64>) -> Result<Plan> {
        let c = self.saddle();
        let target = ln_answer.unwrap_or_else(|| self.ln_answer(c)) + ln_share;
        let unsweepable =
            |needed: String, budget: String| Error::Unsweepable { step: format!("{:.3e}", self.step), needed, budget };
        // The shortest period whose aliases are below the target.
        let mut long = self.step;
        while self.ln_aliases(c, long) > target && long < 1e300 {
            long *= 2.0;
        }
        let mut short = long / 2.0;
        for _ in 0..12 {
            let middle = (short + long) / 2.0;
            if self.ln_aliases(c, middle) > target {
                short = middle;
            } else {
                long = middle;
            }
        }
        let nodes = (long / self.step).ceil();
        if !nodes.is_finite() || nodes >= 2f64.powi(61) {
            return Err(unsweepable(format!("a period of {nodes:.1e} steps"), "2e18".to_string()));
        }
        let nodes = (nodes as i64) | 1;
        let period = nodes as f64 * self.step;
        let (below, above) = self.alias_points(c, period);
        // The nodes left out add at most exp(rho (c + c^2)) kappa(c) / h exp(-cut).
        let cut = (self.rho * (c + c * c) + self.ln_kernel(c) - target).max(1.0);
        let spacing = 2.0 * PI / period;
        let last = (nodes - 1) / 2;
        let reach = ((cut / self.rho).sqrt() / spacing).ceil().max(1.0);
        if reach * 1.25 + 16.0 >= last as f64 {
            if last > MOST_NODES {
                return Err(unsweepable(format!("{last} nodes"), format!("{MOST_NODES} nodes")));
            }
            return Ok(Plan { c, nodes, lobes: vec![(0, last)], below, above, cut: f64::INFINITY });
        }
        let reach = reach as i64;
        let waves: Vec<Wave> = (self.sum.groups().iter())
            .map(|group| Wave {
                sigma2: group.sigma2.to_f64(),
                weight: group.weight().to_f64(),
                copies: group.copies as f64,
            })
            .collect();
        let half_period = PI / self.step * (1.0 + 1e-12);
        let survivors = sieve::survivors(&waves, reach as f64 * spacing, half_period, cut, 2.0 * spacing)
            .map_err(|_| unsweepable("more windows".to_string(), format!("{} windows", sieve::BUDGET)))?;
        let mut lobes = vec![(0, reach)];
        for (from, to) in survivors {
            // More nodes on each side than the interval holds, for the roundings of its ends and of the quotients.
            let margin = 1.0 + to / spacing * 2f64.powi(-48);
            let from = ((from / spacing - margin).floor() as i64).max(lobes[lobes.len() - 1].1 + 1);
            let to = ((to / spacing + margin).ceil() as i64).min(last);
            if from <= to {
                lobes.push((from, to));
            }
        }
        let plan = Plan { c, nodes, lobes, below, above, cut };
        let evaluated = plan.evaluated();
        if evaluated > MOST_NODES {
            return Err(unsweepable(format!("{evaluated} nodes"), format!("{MOST_NODES} nodes")));
        }
        Ok(plan)
    }
}

/// The number rounded to a mantissa of 12 bits: exact products with it stay short.
fn few_bits(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & !((1_u64 << 40) - 1))
}
