//! Any mechanism of bounded range, such as the exponential mechanism and the noisy maximum with Gumbel noise (Durfee & Rogers 2019; Dong, Durfee & Rogers 2020).
//!
//! A mechanism has the range epsilon if the losses of any two outputs differ by at most epsilon. The exponential mechanism with weights exp(epsilon u / (2 d)), d
//! the sensitivity of the utility u, has the range epsilon; so it has with weights exp(epsilon u / d), if a record changes all utilities in one direction.
//!
//! # The dominating pair
//!
//! Such a mechanism is dominated, at each epsilon', by a pair of two outputs with the losses t and t - epsilon, for some t from 0 to epsilon (Dong, Durfee & Rogers
//! 2020). The first output has the probability (1 - exp(t - epsilon)) / (1 - exp(-epsilon)), and exp(-t) times as much under the other hypothesis, so that
//!
//! ```text
//! delta_t(e) = (1 - exp(t - epsilon)) (1 - exp(e - t)) / (1 - exp(-epsilon)),    largest at t = (e + epsilon) / 2,
//! delta(e)   = (1 - exp((e - epsilon) / 2))^2 / (1 - exp(-epsilon)).
//! ```
//!
//! This is the profile of a pair: P[L > e] = delta - delta' = (1 - exp((e - epsilon) / 2)) / (1 - exp(-epsilon)), a density proportional to exp(l / 2) between -epsilon and
//! epsilon ([`uniform`](super::uniform)). It dominates every mechanism of that range and so bounds every composition, adaptive or not (Zhu, Dong & Wang
//! 2022). One mechanism attains it at each e; a composition need not.
//!
//! # Its rho
//!
//! E[exp(s L)] = f((s + 1/2) epsilon) / f(epsilon / 2) with f(y) = sinh(y) / y, whose logarithm is concave in y^2 with slope 1/6 at zero. So the pair has rho = epsilon^2 /
//! 6. (A mechanism of that range has epsilon^2 / 8 by Cesar & Rogers 2021, which is less than its dominating pair has.)

use rug::Rational;

use super::{
    facts::{Facts, Growth, Range},
    finite::Finite,
    guarantee,
    responses::{Responses, Rounding},
    uniform::Uniform,
};
use crate::error::Result;

/// The name in files and options.
pub(super) const KEY: &str = "exponential";

/// The largest group that leaves or enters together: k people have k times the range of one.
const MOST_SHIFT: u64 = 1000;

pub(super) struct BoundedRange<'a> {
    pub epsilon: &'a Rational,
}

impl BoundedRange<'_> {
    fn losses(&self, shift: u64) -> Uniform {
        Uniform { largest: Rational::from(self.epsilon * shift), has_ends: false }
    }
}

impl<'a> Facts<'a> for BoundedRange<'a> {
    fn names(&self) -> [&'static str; 2] {
        ["bounded range", KEY]
    }

    fn parameter(&self) -> (&'static str, &'a Rational) {
        ("epsilon", self.epsilon)
    }

    fn is_guarantee(&self) -> bool {
        true
    }

    fn check(&self) -> Result<()> {
        guarantee::check_epsilon(self.epsilon, "epsilon of a bounded range")
    }

    fn most_shift(&self) -> u64 {
        MOST_SHIFT
    }

    fn growth(&self) -> Option<(Growth, Range)> {
        guarantee::growth()
    }

    fn largest_loss(&self, shift: u64) -> Option<Rational> {
        Some(self.losses(shift).largest)
    }

    fn rho(&self, shift: u64) -> Rational {
        self.losses(shift).largest.square() / 6_u32
    }

    /// Those of a pair that is at most as private.
    fn finite(&self, shift: u64) -> Option<Finite> {
        (&Responses::of_uniform(&self.losses(shift), Rounding::Up)).finite(1)
    }

    fn uniform(&self, shift: u64) -> Option<Uniform> {
        Some(self.losses(shift))
    }

    fn precision_approx(&self) -> Rational {
        self.epsilon.clone().square()
    }
}
