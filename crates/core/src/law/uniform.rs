//! Losses that are uniform on an interval once they are tilted: continuous Laplace noise, and mechanisms of bounded range.
//!
//! Between -x and x the loss l has a density proportional to exp(l / 2). With continuous Laplace noise the loss is x or -x with some probability besides. Both pairs
//! are symmetric. With w(l) the probability that the size of the loss is at least l, up to the same factor for a loss and its opposite
//! ([`responses`](super::responses)),
//!
//! ```text
//! E[exp(s L)] = ((1 + s) exp(s x) + s exp(-(1 + s) x)) / (1 + 2 s),                 w(l) = 1 - exp(-x / 2) sinh(l / 2)         with the atoms at both ends,
//! E[exp(s L)] = (exp(s x) - exp(-(1 + s) x)) / ((1 + 2 s) (1 - exp(-x))),           w(l) = 1 - sinh(l / 2) / sinh(x / 2)       without.
//! ```
//!
//! Sums of such losses have a profile in closed form ([`uniform`](crate::loss)). Where a sum needs finitely many losses, those here are rounded to the parts of a
//! grid, up and down.

use rug::Rational;

use crate::numeric::Enclosure;

/// The losses of one count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Uniform {
    /// The largest loss x, above zero.
    pub(crate) largest: Rational,
    /// Whether the losses x and -x have probabilities of their own, as with continuous Laplace noise.
    pub(crate) has_ends: bool,
}

impl Uniform {
    /// Encloses w(l), for 0 <= l <= x.
    pub(super) fn at_least(&self, loss: &Rational, bits: u32) -> Enclosure {
        let half = |loss: &Rational| Enclosure::rational(&Rational::from(loss / 2_u32), bits);
        let twice_sinh = |loss: &Rational| half(loss).exp().sub(&half(loss).negate().exp());
        let share = match self.has_ends {
            true => twice_sinh(loss).mul(&half(&self.largest).negate().exp()).times_power_of_two(-1),
            false => twice_sinh(loss).div(&twice_sinh(&self.largest)),
        };
        Enclosure::double(1.0, bits).sub(&share)
    }
}
