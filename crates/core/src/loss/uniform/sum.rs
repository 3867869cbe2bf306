//! The sums, and their moments.

use rug::Rational;

use crate::{
    error::Result,
    law::{Direction, Rounding, Uniform},
    loss::{law::Group, sum::LossSum},
    numeric::{Enclosure, rational, upper_bound::UpperBound},
};

/// Bits of error bounds.
pub(super) const BITS: u32 = 64;

/// Equal counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::loss) struct Part {
    pub(in crate::loss) one: Uniform,
    pub(in crate::loss) copies: u64,
}

/// A sum with such losses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UniformSum {
    pub(in crate::loss) parts: Vec<Part>,
    /// Of continuous Gaussian noise.
    pub(super) rho: Rational,
    /// All other losses, given that they are finite.
    pub(in crate::loss) others: Option<LossSum>,
}

impl Part {
    /// ln E[exp(c L)] of all copies in doubles, for c >= 0.
    pub(in crate::loss) fn ln_mgf_approx(&self, c: f64) -> f64 {
        let x = self.one.largest.to_f64();
        let falling = libm::exp(-(1.0 + 2.0 * c) * x);
        let share = match self.one.has_ends {
            true => (1.0 + c + c * falling) / (1.0 + 2.0 * c),
            false => (-libm::expm1(-(1.0 + 2.0 * c) * x)) / ((1.0 + 2.0 * c) * -libm::expm1(-x)),
        };
        self.copies as f64 * (c * x + libm::log(share))
    }

    /// Encloses the same for c >= 0.
    pub(in crate::loss) fn ln_mgf(&self, c: &Rational, bits: u32) -> Enclosure {
        let real = |x: &Rational| Enclosure::rational(x, bits);
        let twice = Rational::from(c * 2_u32) + 1_u32;
        let falling = Rational::from(&twice * &self.one.largest);
        let share = match self.one.has_ends {
            true => {
                real(&Rational::from(c + 1_u32)).add(&real(c).mul(&real(&falling).negate().exp())).div(&real(&twice))
            }
            false => {
                let of = |x: &Rational| real(x).negate().exp_m1().negate();
                of(&falling).div(&real(&twice).mul(&of(&self.one.largest)))
            }
        };
        let one = real(&Rational::from(c * &self.one.largest)).add(&share.ln());
        one.mul(&real(&Rational::from(self.copies)))
    }
}

impl UniformSum {
    /// The losses of one direction of these terms, those on no lattice rounded; `None` where no term has such losses.
    pub(crate) fn of_terms(terms: &[Group], rounding: Rounding, direction: Direction) -> Result<Option<Self>> {
        let sum = Self::collected(terms, rounding, direction)?;
        Ok(if sum.parts.is_empty() { None } else { Some(sum) })
    }

    /// The same, also where no term has such losses.
    pub(crate) fn collected(terms: &[Group], rounding: Rounding, direction: Direction) -> Result<Self> {
        let (mut parts, mut rho, mut others) = (Vec::<Part>::new(), Rational::new(), Vec::new());
        for term in terms {
            if let Some(one) = term.law.uniform(term.shift) {
                match parts.iter_mut().find(|part| part.one == one) {
                    Some(part) => part.copies = part.copies.saturating_add(term.copies),
                    None => parts.push(Part { one, copies: term.copies }),
                }
            } else if term.law.is_continuous() && term.law.sigma2().is_some() {
                rho += term.zcdp();
            } else if !term.law.has_no_finite_loss(term.shift) {
                let rounded = term.law.rounded(term.shift, rounding, direction);
                others.push(rounded.map_or(term.clone(), |law| Group { law, shift: 1, copies: term.copies }));
            }
        }
        parts.sort_by(|a, b| (&a.one.largest, a.one.has_ends).cmp(&(&b.one.largest, b.one.has_ends)));
        let others = if others.is_empty() { None } else { Some(LossSum::new(others)?) };
        Ok(UniformSum { parts, rho, others })
    }

    /// Whether every loss is zero.
    pub(crate) fn is_zero(&self) -> bool {
        self.parts.is_empty() && self.rho == 0 && self.others.is_none()
    }

    /// The number of such losses.
    pub(super) fn count(&self) -> u64 {
        self.parts.iter().fold(0, |sum, part| sum.saturating_add(part.copies))
    }

    /// The largest loss; `None` where losses are unbounded.
    pub(crate) fn largest_loss(&self) -> Option<Rational> {
        let others = self.others.as_ref().map_or(Rational::new(), |others| others.offset().clone());
        let is_bounded = self.rho == 0 && self.others.as_ref().is_none_or(|others| *others.rho() == 0);
        let own = self.parts.iter().map(|part| Rational::from(&part.one.largest * part.copies));
        is_bounded.then(|| own.fold(others, |sum, loss| sum + loss))
    }

    /// Encloses ln E[exp(c L)] for c >= 0.
    pub(crate) fn ln_mgf(&self, c: &Rational, bits: u32) -> Enclosure {
        let gaussian = (c + c.clone().square()) * &self.rho;
        let own = self.parts.iter().map(|part| part.ln_mgf(c, bits));
        let sum = own.fold(Enclosure::rational(&gaussian, bits), |sum, one| sum.add(&one));
        self.others.as_ref().map_or(sum.clone(), |others| sum.add(&others.ln_mgf(c, bits)))
    }

    /// The same in doubles, to a few digits.
    pub(crate) fn ln_mgf_approx(&self, c: f64) -> f64 {
        let own: f64 = self.parts.iter().map(|part| part.ln_mgf_approx(c)).sum();
        let others = self.others.as_ref().map_or(0.0, |others| others.ln_mgf_approx(c));
        own + others + self.rho.to_f64() * (c + c * c)
    }

    /// Mean and standard deviation in doubles, for searches.
    pub(crate) fn mean_and_deviation_approx(&self) -> (f64, f64) {
        let size: f64 = self.parts.iter().map(|part| part.one.largest.to_f64()).fold(0.0, f64::max);
        let step = 1e-3 / (1.0 + size);
        let [zero, one, two] = [0.0, step, 2.0 * step].map(|c| self.ln_mgf_approx(c));
        let variance = ((two - one) - (one - zero)) / (step * step);
        (((one - zero) / step - variance * step / 2.0).max(0.0), variance.max(f64::MIN_POSITIVE).sqrt())
    }

    /// Upper bound on M(c) exp(-c epsilon).
    pub(super) fn psi(&self, c: &Rational, epsilon: &Rational) -> UpperBound {
        let exponent = self.ln_mgf(c, BITS).sub(&Enclosure::rational(&Rational::from(c * epsilon), BITS));
        UpperBound::exp(&exponent)
    }
}

/// Other losses with lower bounds on their probabilities.
pub(super) struct List {
    pub(super) losses: Vec<(Rational, Enclosure)>,
    /// Upper bound on what the truncated masses add to the answer.
    pub(super) truncated: UpperBound,
}

/// A double as a rational.
pub(super) fn exact(x: f64) -> Result<Rational> {
    rational::from_f64(x)
}
