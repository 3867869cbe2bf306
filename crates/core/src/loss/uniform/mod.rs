//! Sums with losses that are uniform once they are tilted: continuous Laplace noise and mechanisms of bounded range, beside continuous Gaussian noise and beside
//! losses that can be enumerated.
//!
//! # Closed form
//!
//! The moments of one such loss are a combination of exp(s x) and exp(-(1 + s) x) over 1 + 2 s (see [`law`](crate::law)). The power of N of them expands into
//! finitely many exponentials times rational functions of s, so that the integral of M(s) exp(-s eps) / (s (s + 1)) along Re s > 0 is a sum of residues at 0, -1 and
//! -1/2 (`residues`). The terms cancel, at most to one part in 2^N over delta, and are computed with that many more bits.
//!
//! # Other losses
//!
//! Losses A on the integers or of finitely many values are enumerated, and delta(eps) = sum over a of P[A = a] D(eps - a), D the closed form, which holds for
//! negative arguments too. The stored masses are lower bounds that fall short by m in total, under the law tilted by c >= 0; with k = c^c / (c + 1)^(c + 1) this
//! adds at most m k M(c) exp(-c eps), because D(y) <= k M_B(c) exp(-c y).
//!
//! # Many counts, and continuous Gaussian noise
//!
//! There the integrand falls along the line, and the integral is taken by the trapezoid rule (`contour`).

mod contour;
mod residues;
mod sum;

use rug::{Float, Rational};

use super::{
    answer::{self, Answer, Proof, Quantity},
    atoms::{
        coarse::{self, Coarse},
        tilt::Outline,
    },
    engine::machine,
    limit::Limit,
    stop::Stop,
    sum::LossSum,
};
use crate::{
    error::{Error, Result},
    numeric::{
        Enclosure,
        effort::{self, Effort},
        precision,
        upper_bound::UpperBound,
    },
};
pub(in crate::loss) use sum::Part;
pub(crate) use sum::UniformSum;
use sum::{BITS, List};

/// The largest number of other losses that are enumerated.
const MOST_LOSSES: f64 = 2e4;
/// Up to this number of products the closed form is quicker than any contour, and beyond the other it takes too long.
const FEW_PRODUCTS: f64 = 1e5;
const MOST_PRODUCTS: f64 = 5e5;
/// How often an answer is made again with more bits.
const ATTEMPTS: u32 = 3;

impl UniformSum {
    /// E[(1 - exp(epsilon - L))_+], given that all losses are finite.
    pub(crate) fn hockey_stick(&self, epsilon: &Rational, digits: u32, stop: &Stop) -> Result<Answer> {
        self.answer(epsilon, digits, contour::MOST_FACTORS, stop)
    }

    /// Its logarithm in doubles, where a contour takes long to a few digits.
    pub(crate) fn ln_hockey_stick_approx(&self, epsilon: &Rational, stop: &Stop) -> Result<f64> {
        const DIGITS: u32 = 14;
        const SHARE: f64 = 0.05;
        let value = self.answer(epsilon, DIGITS, SHARE * contour::MOST_FACTORS, stop)?.value;
        let middle = Float::with_val(value.lower().prec(), value.lower() + value.upper()) / 2_u32;
        Ok(if middle > 0 { Enclosure::new(middle.clone(), middle).ln().approximate() } else { f64::NEG_INFINITY })
    }

    /// The same by a contour of at most this number of factors.
    fn answer(&self, epsilon: &Rational, digits: u32, most: f64, stop: &Stop) -> Result<Answer> {
        if self.largest_loss().is_some_and(|largest| *epsilon >= largest) {
            return Ok(Answer::no_loss_as_large());
        }
        let place = contour::Place::of_sum(self, epsilon.to_f64());
        let limit = Limit::of_digits(digits);
        let mut best: Option<Answer> = None;
        // A contour that does not reach the precision is not made longer.
        let (mut more, mut ends) = (0, false);
        for _ in 0..ATTEMPTS {
            stop.check()?;
            let list = self.list(&place, epsilon, digits + 1 + more)?;
            let by_residues = || self.by_residues(&list, &place, epsilon, digits, more);
            let products = if self.rho > 0 { f64::INFINITY } else { self.products(&list) };
            let answer = if products <= FEW_PRODUCTS {
                by_residues()
            } else {
                let contour = contour::Contour::new(self, &list, &place, epsilon, (digits + more, most))?;
                ends |= !contour.reaches() && products > MOST_PRODUCTS;
                if contour.reaches() || products > MOST_PRODUCTS {
                    contour.enclose(digits, more, stop)
                } else {
                    by_residues()
                }
            };
            best = Some(match best {
                Some(best) => answer::both(Ok(best), answer, digits)?,
                None => answer?,
            });
            if best.as_ref().is_some_and(|best| best.met) || ends || limit.is_over() {
                break;
            }
            more += 3 + digits / 4;
        }
        best.ok_or(Error::OutOfTime)
    }

    /// The number of products of the closed form.
    fn products(&self, list: &List) -> f64 {
        let terms = self.parts.iter().map(|part| part.copies as f64 + 1.0).product::<f64>();
        terms * list.losses.len() as f64 * self.count() as f64
    }

    /// By the closed form, with bits for the terms that cancel and for delta.
    fn by_residues(
        &self,
        list: &List,
        place: &contour::Place,
        epsilon: &Rational,
        digits: u32,
        more: u32,
    ) -> Result<Answer> {
        effort::spend(Effort::of_steps(self.products(list), machine::PER_UNIFORM_PRODUCT));
        let small = (-place.ln_estimate / std::f64::consts::LN_2).clamp(0.0, 1e6) as u32;
        let bits = precision::bits(digits + 3 * more, 64) + 2 * self.count() as u32 + small;
        let value = residues::enclose(self, &list.losses, epsilon, bits);
        let truncated = list.truncated.clone().into_float();
        // The truncated masses can only add to the sum.
        let upper = Float::with_val_round(bits, value.upper() + &truncated, rug::float::Round::Up).0;
        let value = Enclosure::new(value.lower().clone(), upper).clamp(0.0, 1.0);
        let proof = Proof::new("residues", "closed form: residues of the moment generating function")
            .with("losses", "other losses that were enumerated", Quantity::Count(list.losses.len() as u64))
            .with("bits", "bits of the mantissas", Quantity::Count(bits.into()))
            .with(
                "truncation_error",
                "upper bound on the other losses that were left out",
                Quantity::UpperBound(truncated),
            );
        Ok(Answer { met: value.is_tight(digits), value, proof })
    }

    /// The other losses, enumerated so that those left out are about 10^-digits of the answer.
    fn list(&self, place: &contour::Place, epsilon: &Rational, digits: u32) -> Result<List> {
        const GUARD: u32 = 24;
        let bits = precision::bits(digits, 64);
        let Some(others) = &self.others else {
            let one = Enclosure::double(1.0, bits);
            return Ok(List {
                losses: vec![(Rational::new(), one)],
                truncated: UpperBound::of_enclosure(&Enclosure::double(0.0, BITS)),
            });
        };
        let c = place.exact()?;
        let cut = (f64::from(digits) * std::f64::consts::LOG2_10) as u32 + GUARD;
        let (losses, missing) = listed(others, &c, cut, bits)?;
        // m k M(c) exp(-c eps)
        let next = Rational::from(&c + 1_u32);
        let power = |x: &Rational| Enclosure::rational(x, BITS).ln().mul(&Enclosure::rational(x, BITS));
        let factor = UpperBound::exp(&power(&c).sub(&power(&next)));
        Ok(List { losses, truncated: missing.mul(&factor).mul(&self.psi(&c, epsilon)) })
    }
}

/// Losses with lower bounds on their probabilities, and an upper bound on what these lack in total, under the law tilted by c.
pub(in crate::loss) fn listed(
    others: &LossSum,
    c: &Rational,
    cut: u32,
    bits: u32,
) -> Result<(Vec<(Rational, Enclosure)>, UpperBound)> {
    let predicted = predicted(others, c.to_f64(), cut);
    if predicted.is_nan() || predicted > MOST_LOSSES {
        let (needed, most) = (format!("{predicted:.1e} losses"), format!("{MOST_LOSSES:.0e}"));
        return Err(Error::TooLong { what: "the losses to list beside Laplace noise or bounded range", needed, most });
    }
    let coarse = Coarse::new(others, c, cut)?;
    let losses = coarse.losses(c, bits).into_iter().map(|atom| (atom.loss, atom.p)).collect();
    Ok((losses, UpperBound::of_enclosure(&Enclosure::new(Float::new(BITS), coarse.missing))))
}

/// The number of losses that are listed, approximately.
pub(in crate::loss) fn predicted(others: &LossSum, c: f64, cut: u32) -> f64 {
    coarse::predicted(others, &Outline::new(others.groups()), c, cut)
}
