//! The trade-off function: the smallest type II error of any test of P against Q at a given type I error.
//!
//! With Q the null hypothesis, the best tests reject where the privacy loss L = ln dP/dQ is large. On a lattice of
//! losses f is linear between the knots
//!
//! `(alpha, beta) = (Q[L > l], P[L <= l])`, l on the lattice,
//!
//! with slope -exp(l) from `Q[L > l]` to `Q[L >= l]`. The pair is symmetric, so `P[L <= l] = Q[L >= -l]`, and both
//! coordinates are tails of one kind ([`GaussianSum::tilted_tail`](crate::numeric::sum::GaussianSum::tilted_tail)),
//! accurate to relative precision however small.

use rayon::prelude::*;
use rug::Rational;

use super::Composition;
use crate::{
    error::{Error, Result},
    numeric::{Enclosure, rational},
};

/// A knot of the trade-off function.
#[derive(Clone, Debug)]
pub struct Knot {
    /// The lattice loss l behind it, in nats: the test that rejects for L > l.
    pub loss: Rational,
    /// Its type I error `Q[L > l]`.
    pub alpha: Enclosure,
    /// Its type II error `P[L <= l]`.
    pub beta: Enclosure,
}

impl Composition {
    /// The knot of the test that rejects for losses above `loss`, which is rounded down to the lattice.
    pub fn knot(&self, loss: &Rational, digits: u32) -> Result<Knot> {
        let loss = self.loss().at_most(loss);
        let alpha = self.loss().tilted_tail(&self.loss().above(&loss), digits)?.value;
        let beta = self.loss().tilted_tail(&Rational::from(-&loss), digits)?.value;
        Ok(Knot { loss, alpha, beta })
    }

    /// f(alpha), the smallest type II error at type I error alpha, for 0 <= alpha <= 1 (Su, Su & Wang, Section A.7).
    ///
    /// The relative width is about 10^-digits between knots and may be larger next to one, where f is a small
    /// difference.
    pub fn tradeoff(&self, alpha: &Rational, digits: u32) -> Result<Enclosure> {
        if *alpha < 0 || *alpha > 1 {
            return Err(Error::out_of_range("alpha", rational::display(alpha), "a type I error from 0 to 1"));
        }
        let bits = (f64::from(digits) * 3.33) as u32 + 64;
        // Both laws charge every outcome: a test that never errs in one way errs always in the other.
        if *alpha == 0 || *alpha == 1 {
            return Ok(Enclosure::rational(&Rational::from(1 - alpha), bits));
        }
        let near = self.loss_at(alpha)?;
        let target = Enclosure::rational(alpha, bits);
        // Widen [low, high] until alpha is proven to lie in [Q[L > high], Q[L >= low]]; one step is the rule.
        let mut reach = Rational::new();
        for _ in 0..60 {
            let below = Rational::from(&near - &reach) - self.loss().step();
            let low = self.knot(&below, digits)?;
            let high = self.knot(&Rational::from(&near + &reach), digits)?;
            if high.alpha.upper() <= target.lower() && target.upper() <= low.alpha.lower() {
                return Ok(between(&low, &high, &self.loss().above(&low.loss), &target));
            }
            reach = if reach == 0 { self.loss().step().clone() } else { reach * 2_u32 };
        }
        // Not placed within 2^60 steps: the trivial bounds 0 <= f <= 1 - alpha.
        Ok(Enclosure::double(0.0, bits).hull(&Enclosure::rational(&Rational::from(1 - alpha), bits)))
    }

    /// The trade-off function at the given type I errors, on all cores.
    pub fn tradeoff_curve(&self, alphas: &[Rational], digits: u32) -> Result<Vec<Enclosure>> {
        alphas.par_iter().map(|alpha| self.tradeoff(alpha, digits)).collect()
    }

    /// A lattice loss l with Q[L > l] <= alpha < Q[L >= l], found in doubles: right but for the closest calls.
    fn loss_at(&self, alpha: &Rational) -> Result<Rational> {
        let ln_alpha = Enclosure::rational(alpha, 64).ln().approximate();
        let rho = self.rho().to_f64();
        // Under Q the loss has mean -rho and is sub-Gaussian of variance proxy 2 rho.
        let spread = (4.0 * rho * (-ln_alpha.min(-1.0) + 50.0)).sqrt();
        let (mut low, mut high) =
            (-rho - spread - self.loss().step().to_f64(), -rho + spread + self.loss().step().to_f64());
        for _ in 0..70 {
            let middle = low + (high - low) / 2.0;
            let next = self.loss().above(&rational::from_f64(middle));
            if self.loss().ln_tilted_tail_approx(&next)? <= ln_alpha {
                high = middle;
            } else {
                low = middle;
            }
            if high - low < self.loss().step().to_f64() / 64.0 {
                break;
            }
        }
        // The smallest lattice point l with Q[L > l] <= alpha is at most `high` and above `low`.
        let candidate = self.loss().at_most(&rational::from_f64(high));
        let before = Rational::from(&candidate - self.loss().step());
        let falls_short = self.loss().ln_tilted_tail_approx(&candidate)? > ln_alpha;
        Ok(if falls_short { candidate } else { before })
    }
}

/// Encloses f at alpha in [high.alpha, low.alpha]. Every line of slope -exp(l) through the knots of the lattice point
/// l supports the convex f from below; the chord of the two knots bounds it from above. When the knots are
/// neighbors, line and chord are one.
fn between(low: &Knot, high: &Knot, first: &Rational, alpha: &Enclosure) -> Enclosure {
    let bits = alpha.lower().prec();
    // From the lower right knot: beta_low + exp(l) (alpha_low - alpha), a sum of two non-negative numbers.
    let slope = Enclosure::rational(first, bits).exp();
    let rise = low.alpha.sub(alpha).clamp(0.0, 1.0);
    let line = low.beta.add(&slope.mul(&rise));
    if first >= &high.loss {
        // And from the upper left knot, which is better on its side; both contain f.
        let fall = alpha.sub(&high.alpha).clamp(0.0, 1.0);
        let other = high.beta.sub(&slope.mul(&fall));
        return Enclosure::new(line.lower().clone().max(other.lower()), line.upper().clone().min(other.upper()))
            .clamp(0.0, 1.0);
    }
    let slope_high = Enclosure::rational(&high.loss, bits).exp();
    let other = high.beta.sub(&slope_high.mul(&alpha.sub(&high.alpha)));
    let share = alpha.sub(&high.alpha).div(&low.alpha.sub(&high.alpha));
    let chord = high.beta.sub(&share.mul(&high.beta.sub(&low.beta)));
    Enclosure::new(line.lower().clone().max(other.lower()), chord.upper().clone()).clamp(0.0, 1.0)
}
