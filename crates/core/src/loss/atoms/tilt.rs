//! The tilt: the exponential weight that moves the masses to the threshold of a request. Searched in doubles, rounded to a grid.
//!
//! The law of L tilted by c has masses proportional to P[L = l] exp(c l). For a threshold x, the value of a request is M(c) exp(-c x) times an
//! expectation of a number in [0, 1] under that law, so the best tilt makes ln M(c) - c x smallest (with the hockey stick's own factor, below). Any
//! tilt in the range of the request is sound: the choice here only determines how many masses must be kept.
//!
//! Tilts are rounded to a grid of about four standard deviations of L, so that requests close to one another share their lists, and so that the lists
//! depend on the request alone.

use std::f64::consts::PI;

use rug::Rational;

use super::super::{law::Group, sum::LossSum};
pub(super) use crate::law::Cumulants;
use crate::{
    law::InDoubles,
    numeric::{halving::bisect, rational},
};

/// The tilt for a request, and whether the list computes the number itself or its complement.
#[derive(Clone, Copy, Debug)]
pub(in crate::loss) enum Plan {
    Direct(f64),
    Complement(f64),
}

/// ln of a probability that is clearly below one half.
pub(super) const SMALLER: f64 = -2.0;

impl Plan {
    pub(in crate::loss) fn tilt(self) -> f64 {
        match self {
            Plan::Direct(c) | Plan::Complement(c) => c,
        }
    }
}

/// A sum in doubles.
#[derive(Clone, Debug)]
pub(in crate::loss) struct Outline {
    groups: Vec<GroupOutline>,
    /// The spacing of tilts, a power of two.
    spacing: f64,
    /// Beyond this tilt a bounded sum is at its largest loss, as far as doubles resolve.
    largest_tilt: f64,
}

#[derive(Clone, Debug)]
enum GroupOutline {
    Gaussian {
        sigma2: f64,
        shift: f64,
        copies: f64,
        sizes: Sizes,
    },
    Continuous {
        rho: f64,
    },
    /// Finitely many losses of one copy.
    Finite {
        one: InDoubles,
        copies: f64,
    },
}

/// 2 exp(-2 pi^2 sigma2 k^2) for k = 1, 2, 3, zero where that is below 1e-30: the coefficients of theta.
type Sizes = [f64; 3];

impl GroupOutline {
    fn new(group: &Group) -> Self {
        let copies = group.copies as f64;
        if let Some(finite) = group.law.finite(group.shift) {
            return GroupOutline::Finite { one: finite.in_doubles(), copies };
        }
        let Some(sigma2) = group.law.discrete_sigma2() else {
            return GroupOutline::Continuous { rho: group.rho().to_f64() };
        };
        let (sigma2, shift) = (sigma2.to_f64(), group.shift as f64);
        let size = |k: f64| Some(2.0 * libm::exp(-2.0 * PI * PI * sigma2 * k * k)).filter(|size| *size > 1e-30);
        let sizes = [1.0, 2.0, 3.0].map(|k| size(k).unwrap_or(0.0));
        GroupOutline::Gaussian { sigma2, shift, copies, sizes }
    }

    fn at(&self, c: f64) -> Cumulants {
        match self {
            GroupOutline::Gaussian { sigma2, shift, copies, sizes } => {
                gaussian(*sigma2, *shift, sizes, c).times(*copies)
            }
            GroupOutline::Continuous { rho } => continuous(*rho, c),
            GroupOutline::Finite { one, copies } => one.cumulants(c).times(*copies),
        }
    }

    /// The largest size of a group's loss; zero where it has none.
    fn size(&self) -> f64 {
        match self {
            GroupOutline::Gaussian { .. } | GroupOutline::Continuous { .. } => 0.0,
            GroupOutline::Finite { one, copies } => copies * one.size(),
        }
    }

    /// The approximate largest variance of a group's loss under any tilt.
    fn largest_variance(&self) -> f64 {
        match self {
            // Halfway between two integers a small Gaussian is a fair coin.
            GroupOutline::Gaussian { sigma2, shift, copies, .. } => {
                copies * (shift / sigma2).powi(2) * sigma2.max(0.25)
            }
            GroupOutline::Continuous { rho } => 2.0 * rho,
            GroupOutline::Finite { one, copies } => copies * one.size().powi(2),
        }
    }
}

/// One discrete Gaussian term: rho (c + c^2) + ln theta(c shift) - ln theta(0), by the side of Jacobi's identity that
/// is short.
fn gaussian(sigma2: f64, shift: f64, sizes: &Sizes, c: f64) -> Cumulants {
    let (rho, weight, m) = (shift * shift / (2.0 * sigma2), shift / sigma2, c * shift);
    if sigma2 >= 0.4 && sizes[0] == 0.0 {
        return continuous(rho, c);
    }
    if sigma2 >= 0.4 {
        let theta = |m: f64| {
            let mut sums = [1.0, 0.0, 0.0];
            for (k, &size) in [1.0, 2.0, 3.0].iter().zip(sizes).filter(|(_, size)| **size > 0.0) {
                let turn = 2.0 * PI * k;
                sums[0] += size * libm::cos(turn * m);
                sums[1] -= size * turn * libm::sin(turn * m);
                sums[2] -= size * turn * turn * libm::cos(turn * m);
            }
            sums
        };
        let [value, first, second] = theta(m - m.floor());
        let slope = first / value;
        return Cumulants {
            ln_mgf: rho * (c + c * c) + libm::log(value) - libm::log(theta(0.0)[0]),
            mean: rho * (1.0 + 2.0 * c) + shift * slope,
            variance: 2.0 * rho + shift * shift * (second / value - slope * slope),
        };
    }
    let moments = |distance: f64| {
        let mut sums = [0.0; 3];
        for k in -7_i32..=7 {
            let k = f64::from(k);
            let mass = libm::exp(-(k * k - 2.0 * k * distance) / (2.0 * sigma2));
            sums = [sums[0] + mass, sums[1] + mass * k, sums[2] + mass * k * k];
        }
        sums
    };
    let distance = m - m.round();
    let [mass, first, second] = moments(distance);
    let mean = first / mass;
    Cumulants {
        ln_mgf: rho * (c + c * c) - distance * distance / (2.0 * sigma2) + libm::log(mass) - libm::log(moments(0.0)[0]),
        mean: rho + weight * (m.round() + mean),
        variance: weight * weight * (second / mass - mean * mean),
    }
}

/// Continuous Gaussian noise of this rho.
fn continuous(rho: f64, c: f64) -> Cumulants {
    Cumulants { ln_mgf: rho * (c + c * c), mean: rho * (1.0 + 2.0 * c), variance: 2.0 * rho }
}

impl Outline {
    pub(in crate::loss) fn new(groups: &[Group]) -> Self {
        let groups: Vec<GroupOutline> = groups.iter().map(GroupOutline::new).collect();
        let variance: f64 = groups.iter().map(GroupOutline::largest_variance).sum();
        let spacing = libm::exp2(libm::log2(4.0 / variance.sqrt()).floor().clamp(-900.0, 900.0));
        // Losses that are closer than this share of all of them are one loss to a tilt: a steeper one, which leaves the largest alone, would exceed the range of the tables.
        const CLOSE: f64 = 1.0 / 524_288.0;
        let close = CLOSE * groups.iter().map(GroupOutline::size).sum::<f64>();
        let bounded = |group: &GroupOutline| match group {
            GroupOutline::Gaussian { .. } | GroupOutline::Continuous { .. } => f64::INFINITY,
            GroupOutline::Finite { .. } if group.size() < close => 0.0,
            GroupOutline::Finite { one, copies } => (60.0 + libm::log(*copies)) / one.least_step().max(close),
        };
        let largest_tilt = groups.iter().map(bounded).fold(0.0, f64::max).min(1e280);
        Outline { groups, spacing, largest_tilt }
    }

    /// The plan for a hockey stick of this sum at epsilon: the number itself, or its complement where that is surely the smaller of the two.
    pub(in crate::loss) fn hockey_plan(&self, sum: &LossSum, epsilon: &Rational) -> Plan {
        let first = sum.above(epsilon).to_f64();
        let (epsilon, last) = (epsilon.to_f64(), sum.at_most(epsilon).to_f64());
        if epsilon < self.at(0.0).mean {
            let c = self.complement(epsilon, last, first);
            if self.ln_bound(c, last) < SMALLER {
                return Plan::Complement(c);
            }
        }
        Plan::Direct(self.hockey_stick(epsilon, first))
    }

    pub(super) fn at(&self, c: f64) -> Cumulants {
        self.groups.iter().map(|group| group.at(c)).fold(Cumulants::default(), Cumulants::plus)
    }

    /// The mean of the loss under a tilt.
    pub(in crate::loss) fn mean(&self, c: f64) -> f64 {
        self.at(c).mean
    }

    /// The standard deviation of the loss under a tilt.
    pub(in crate::loss) fn deviation(&self, c: f64) -> f64 {
        self.at(c).variance.sqrt()
    }

    /// The variance of the loss of one group under a tilt.
    pub(super) fn variance(&self, group: usize, c: f64) -> f64 {
        self.groups[group].at(c).variance
    }

    /// The tilt at which an increasing function of it, beyond `from` in the direction of `sign`, passes a target.
    fn solve(&self, from: f64, sign: f64, passed: impl Fn(f64) -> bool) -> f64 {
        let at = |ln: f64| from + sign * libm::exp(ln);
        at(bisect([-600.0, libm::log(self.largest_tilt)], 70, |ln| !passed(at(ln)))[1])
    }

    /// The nearest tilt of the grid.
    fn rounded(&self, c: f64) -> f64 {
        self.spacing * (c / self.spacing).round()
    }

    /// c >= 0 for a hockey stick at epsilon, where `first` is the first loss above it. With d = l - epsilon the summand
    /// exp(-c d) (1 - exp(-d)) is largest at d = ln(1 + 1 / c), or at the first loss where that is beyond; the derivative
    /// of the logarithm of the bound is increasing.
    pub(super) fn hockey_stick(&self, epsilon: f64, first: f64) -> f64 {
        let c = self.solve(0.0, 1.0, |c| self.at(c).mean >= first.max(epsilon + libm::log1p(1.0 / c)));
        // Where all losses are small, a tilt of zero would lose the factor 1 / c.
        if self.spacing >= 1.0 { self.rounded(c).max(self.spacing) } else { self.rounded(c) }
    }

    /// c >= 0 for the probability of all losses from `first` on.
    pub(super) fn upper_tail(&self, first: f64) -> f64 {
        self.rounded(self.solve(0.0, 1.0, |c| self.at(c).mean >= first)).max(0.0)
    }

    /// c <= 0 for the probability of all losses up to `last`.
    pub(super) fn lower_tail(&self, last: f64) -> f64 {
        self.rounded(self.solve(0.0, -1.0, |c| self.at(c).mean <= last)).min(0.0)
    }

    /// -1 <= c <= 0 for the complement of a hockey stick at epsilon, between the losses `last` and `first` on either side of it: for the larger of
    /// exp(-c last) and exp(epsilon - (c + 1) first).
    pub(super) fn complement(&self, epsilon: f64, last: f64, first: f64) -> f64 {
        let equal = if first > last { (epsilon - first) / (first - last) } else { 0.0 };
        let (below, above) = (self.lower_tail(last), self.lower_tail(first));
        let c = if below >= equal {
            below
        } else if above <= equal {
            above
        } else {
            self.rounded(equal)
        };
        c.clamp(-1.0, 0.0)
    }

    /// ln of the bound M(c) exp(-c x).
    pub(super) fn ln_bound(&self, c: f64, x: f64) -> f64 {
        self.at(c).ln_mgf - c * x
    }

    /// The tilt at which the trade-off function passes a type I error. ln Q[L >= l] is about ln M(c) - (c + 1) l with l
    /// the mean at c; it falls from 0 at c = -1, and for Q[L < l] it does in the other direction.
    pub(super) fn tradeoff(&self, ln_alpha: f64, ln_rest: f64) -> f64 {
        let (sign, target) = if ln_alpha <= ln_rest { (1.0, ln_alpha) } else { (-1.0, ln_rest) };
        self.rounded(self.solve(-1.0, sign, |c| {
            let at = self.at(c);
            at.ln_mgf - (c + 1.0) * at.mean <= target
        }))
    }
}

/// The exact value of a tilt.
pub(in crate::loss) fn exact(c: f64) -> Rational {
    // Tilts are rounded to a grid of doubles, and are finite.
    rational::from_f64(c).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::testing::sum;

    #[test]
    fn cumulants_are_those_of_the_sum_and_their_derivatives() {
        for groups in [
            vec!["5x10", "0.02x2@3"],
            vec!["0.39x3@2", "0.41x3@2", "discrete-laplace:0.3x5@4"],
            vec!["discrete-laplace:1", "discrete-laplace:0.001x7@30"],
        ] {
            let sum = sum(&groups);
            let outline = Outline::new(sum.groups());
            for c in [-3.2, -1.0, -0.4, 0.0, 0.3, 7.7] {
                let at = outline.at(c);
                let exact = sum.ln_mgf(&exact(c), 120).approximate();
                assert!((at.ln_mgf - exact).abs() < 1e-9 * (1.0 + exact.abs()), "{c}: {at:?} {exact}");
                let step = 1e-5;
                let (before, after) = (outline.at(c - step), outline.at(c + step));
                let slope = (after.ln_mgf - before.ln_mgf) / (2.0 * step);
                let curvature = (after.mean - before.mean) / (2.0 * step);
                let scale = outline.at(0.0).variance + at.variance + at.mean.abs();
                assert!((slope - at.mean).abs() < 1e-4 * scale, "{c}: {at:?} {slope}");
                assert!((curvature - at.variance).abs() < 1e-3 * scale, "{c}: {at:?} {curvature}");
            }
        }
    }

    #[test]
    fn tilts_stay_in_the_range_of_their_request_and_meet_the_threshold() {
        let outline = Outline::new(sum(&["5x10", "3x4", "discrete-laplace:0.2x2@2"]).groups());
        for x in [-40.0, -1.0, 0.0, 0.5, 3.0, 50.0] {
            let (hockey, upper, lower) = (outline.hockey_stick(x, x), outline.upper_tail(x), outline.lower_tail(x));
            assert!(hockey >= 0.0 && upper >= 0.0 && lower <= 0.0);
            assert!((-1.0..=0.0).contains(&outline.complement(x, x - 0.01, x + 0.01)));
            let sd = outline.at(0.0).variance.sqrt();
            let nearest = if x < outline.at(0.0).mean { lower } else { upper };
            assert!((outline.at(nearest).mean - x).abs() < 3.0 * sd, "{x}");
        }
    }
}
