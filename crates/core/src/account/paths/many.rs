//! The worst of more ways of a record than can be composed: at least that of some ways, at most a bound for all.

use std::sync::Arc;

use rug::{Float, Rational};

use crate::{
    account::{
        Composition, Counts,
        profile::Account,
        supporting::{TRADEOFF, line},
        tradeoff,
    },
    error::{Error, Result},
    loss::{
        answer::{Answer, Proof},
        evaluator::Evaluator,
        infinite::InfiniteLoss,
        parameter::{Epsilon, Rho},
        upper::UpperProfile,
    },
    numeric::{Enclosure, enclosure, precision, rational},
};

/// The privacy of releases through which more ways lead than can be composed. Lower ends are those of some ways; upper ends hold for all.
#[derive(Clone, Debug)]
pub struct ManyWays<A> {
    /// Some of the ways.
    some: A,
    /// An upper bound on the profile of every way.
    bound: Arc<dyn UpperProfile>,
    /// The largest rho of all ways.
    rho: Rho,
    /// The name of each release of which one mix of groups is among those ways, and the mix in words.
    mixes: Vec<(String, String)>,
}

impl<A: Account> ManyWays<A> {
    /// Some ways, and what bounds all. Refuses ways with outputs that only one of two neighbors can have, or whose pair is not symmetric.
    pub(in crate::account) fn new(
        some: A,
        bound: Arc<dyn UpperProfile>,
        rho: Rho,
        mixes: Vec<(String, String)>,
    ) -> Result<ManyWays<A>> {
        if some.infinite_loss().is_some() || some.single().is_some_and(|one| !one.is_symmetric()) {
            return Err(Error::unsuitable(
                "the mixes of groups are too many to be composed, beside noise whose pair of neighbors is not symmetric or has outputs that only one of them can have",
            ));
        }
        Ok(ManyWays { some, bound, rho, mixes })
    }

    /// Some of the ways, whose privacy loss is at least as small as that of the worst.
    pub fn some(&self) -> &A {
        &self.some
    }

    /// The name of each release of which one mix of groups is among those ways, and the mix in words.
    pub fn mixes(&self) -> &[(String, String)] {
        &self.mixes
    }

    /// The epsilon in doubles, positive or negative, of the line that is highest at alpha. Its height rises and falls once, as it is concave in its slope.
    fn highest_line(&self, alpha: &Rational) -> Result<Rational> {
        const STEPS: u32 = 100;
        let (at, rest) = (alpha.to_f64(), Rational::from(1 - alpha).to_f64());
        let delta = |epsilon: f64| rational::from_f64(epsilon).map(|epsilon| libm::exp(self.bound.ln_approx(&epsilon)));
        let height = |epsilon: f64| -> Result<f64> {
            let delta = delta(epsilon.abs())?;
            Ok(match epsilon >= 0.0 {
                true => libm::exp(epsilon).mul_add(-at, 1.0 - delta),
                false => libm::exp(epsilon) * (rest - delta),
            })
        };
        // Beyond it delta is below 10^-300.
        let reach = self.rho.to_f64() + 60.0 * self.rho.to_f64().sqrt();
        let (mut low, mut high) = (-reach, reach);
        for _ in 0..STEPS {
            let third = (high - low) / 3.0;
            let (left, right) = (low + third, high - third);
            if height(left)? < height(right)? { low = left } else { high = right }
        }
        rational::from_f64(f64::midpoint(low, high))
    }
}

impl<A: Account> Account for ManyWays<A> {
    fn rho(&self) -> Rho {
        self.rho.clone()
    }

    fn infinite_loss(&self) -> Option<InfiniteLoss> {
        None
    }

    fn evaluator(&self) -> Evaluator {
        Evaluator::Between(Box::new([self.some.evaluator(), Evaluator::AtMost(Arc::clone(&self.bound))]))
    }

    /// Every line 1 - delta(eps) - exp(eps) alpha, and its mirror image, with a bound on every delta is below the trade-off function of every way, and the least of all is at
    /// most that of some.
    fn tradeoff_by(&self, evaluator: &Evaluator, alpha: &Rational, digits: u32) -> Result<Answer> {
        let Evaluator::Between(both) = evaluator else { return Err(tradeoff::of_another_account()) };
        if let Some(known) = tradeoff::at_ends(alpha, digits) {
            return Ok(known);
        }
        let some = self.some.tradeoff_by(&both[0], alpha, digits)?;
        let epsilon = self.highest_line(alpha)?;
        let delta = self.bound.hockey_stick(&epsilon.clone().abs())?;
        let lower = line(&delta, &epsilon, alpha, precision::bits(digits, 64));
        let lower = enclosure::larger(&Float::new(64), lower.lower());
        if lower > *some.value.upper() {
            return Err(Error::Contradiction { what: TRADEOFF });
        }
        let value = Enclosure::new(lower, some.value.upper().clone());
        Ok(Answer { met: value.is_tight(digits), value, proof: Proof::bound(self.bound.proof()) })
    }

    fn with_noise_times(&self, _: &Rational) -> Result<Self> {
        Err(Error::unsuitable(
            "the noise of releases whose mixes of groups are too many to be composed is not multiplied",
        ))
    }

    /// Continuous Gaussian noise of the largest rho has the moments exp(rho (s + s^2)), which none of the ways exceeds.
    fn extremes(&self) -> Result<Vec<Composition>> {
        let sigma2 = Rational::from(self.rho.recip_ref()) / 2_u32;
        Ok(vec![Composition::new([Counts::gaussian(sigma2, 1, 1)?])?])
    }

    fn representative(&self, epsilon: &Epsilon) -> Result<Composition> {
        self.some.representative(epsilon)
    }
}
