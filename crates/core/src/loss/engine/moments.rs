//! Bounds by a moment of the loss alone: that a hockey stick is close to 1, or below every floating-point number.

use std::sync::Arc;

use rug::{Float, Rational};

use super::{
    Cost, Engine, Tolerance,
    request::{Prepared, Request},
    session::Session,
};
use crate::{
    error::{Error, Result},
    loss::{
        answer::{Answer, Proof},
        atoms::tilt::Outline,
        contour::Contours,
        question::{Kernel, Question},
        search::ContourSearch,
        sum::LossSum,
    },
    numeric::{Enclosure, precision, rational, twofold},
};

/// Below ln of the smallest positive float of MPFR, 2^-(2^30), which is -744,261,117.9.
pub(crate) const LN_LEAST: f64 = -744_262_000.0;

/// Mean and standard deviation of L under P, in doubles: for searches. Under Q the mean is its negative.
pub(crate) fn mean_and_deviation_approx(sum: &LossSum) -> (f64, f64) {
    let outline = Outline::new(sum.groups());
    (outline.mean(0.0), outline.deviation(0.0))
}

/// The moment of a sum whose exponent a contour search finds.
#[derive(Debug)]
pub(crate) struct Moments {
    contours: Arc<Contours>,
}

impl Moments {
    pub(crate) fn new(contours: &Arc<Contours>) -> Self {
        Moments { contours: Arc::clone(contours) }
    }

    fn sum(&self) -> &LossSum {
        self.contours.sum()
    }

    /// The digits to which the complement of an answer close to 1 has to be known for the digits of the answer; `None` where the bound says
    /// little, or the digits are few.
    pub(crate) fn digits_of_complement(&self, epsilon: &Rational, digits: u32) -> Result<Option<u32>> {
        const LEAST: u32 = 8;
        const WORTH: u32 = 4;
        if digits <= twofold::ball::MOST_DIGITS
            || self.sum().is_continuous()
            || *epsilon >= mean_and_deviation_approx(self.sum()).0
        {
            return Ok(None);
        }
        let bound = self.bound(&Question::hockey_stick(self.sum(), epsilon), digits)?.value;
        if bound.is_tight(digits) {
            return Ok(None);
        }
        let complement = Float::with_val(64, 1_u32 - bound.lower());
        let spared = -complement.log10().to_f64().clamp(-f64::from(digits), 0.0) as u32;
        Ok((spared >= WORTH).then(|| (digits - spared.min(digits) + 1).max(LEAST)))
    }

    /// The intersection of an answer with the bound by moments: min(1, exp(eps - l)) <= exp(c (l - eps)) for -1 <= c <= 0, so that
    /// 1 - delta <= M(c) exp(-c eps).
    fn narrowed_answer(&self, answer: Answer, question: &Question, digits: u32) -> Result<Answer> {
        if *answer.value.upper() < 0.5 {
            return Ok(answer);
        }
        let epsilon = question.threshold.clone();
        let bits = precision::bits(digits, 64);
        let complement = Question { kernel: Kernel::Complement, ..question.clone() };
        let c = rational::from_f64(self.contours.search(&complement).saddle_point().clamp(-1.0, 0.0))?;
        let ln_complement = self.sum().ln_mgf(&c, bits).sub(&Enclosure::rational(&(c * epsilon), bits));
        let complement = Enclosure::double(0.0, bits).hull(&ln_complement.exp());
        let bound = Enclosure::double(1.0, bits).sub(&complement);
        let value = answer.value.meet(&bound).ok_or(Error::Contradiction { what: "a certified value" })?;
        Ok(Answer { met: value.is_tight(digits), value, ..answer })
    }

    /// The bound by moments alone.
    fn bound(&self, question: &Question, digits: u32) -> Result<Answer> {
        let value = Enclosure::double(0.0, 64).hull(&Enclosure::double(1.0, 64));
        let proof = Proof::bound("the complement of delta is bounded by a moment of the loss");
        self.narrowed_answer(Answer { value, proof, met: false }, question, digits)
    }

    /// The intersection of an answer to a hockey stick with the bound; that bound alone where there is no answer, if it is all that is needed.
    pub(crate) fn narrowed(&self, answer: Result<Answer>, request: &Prepared) -> Result<Answer> {
        let digits = request.digits();
        match answer {
            _ if request.epsilon().is_none() => answer,
            Ok(answer) => self.narrowed_answer(answer, &request.question, digits),
            Err(error) if error.is_fatal() => Err(error),
            Err(error) => {
                let bound = self.bound(&request.question, digits)?;
                if bound.met { Ok(bound) } else { Err(error) }
            }
        }
    }

    /// Whether epsilon is so far below all likely losses that the bound should have all digits.
    fn is_likely(&self, epsilon: &Rational, digits: u32) -> bool {
        const LIKELY: f64 = 0.9;
        let (mean, deviation) = mean_and_deviation_approx(self.sum());
        let far = LIKELY * (2.0 * f64::from(digits) * std::f64::consts::LN_10).sqrt() * deviation;
        epsilon.to_f64() <= mean - far
    }
}

impl Engine for Moments {
    fn name(&self) -> &'static str {
        "moments"
    }

    /// Nothing where the complement does not matter and all digits are likely.
    fn cost(&self, request: &Prepared, _: &Session, _: f64) -> Cost {
        let is_likely = || request.epsilon().is_some_and(|epsilon| self.is_likely(epsilon, request.digits()));
        if !request.goal().complement && !request.period().is_short() && is_likely() {
            Cost::NOTHING
        } else {
            Cost::NotServed
        }
    }

    fn enclose(&self, request: &Prepared, _: &Session) -> Result<Answer> {
        self.bound(&request.question, request.digits())
    }

    fn approximate(&self, request: &Prepared, _: &Session, tolerance: Tolerance) -> Result<Option<f64>> {
        if !request.epsilon().is_some_and(|epsilon| self.is_likely(epsilon, request.digits())) {
            return Ok(None);
        }
        let bound = self.bound(&request.question, request.digits())?;
        let serves = bound.met && 1_u32 - bound.value.lower().clone() <= tolerance.negligible;
        Ok(serves.then(|| bound.value.ln().approximate()))
    }
}

/// Where epsilon is far below rho: for -1 <= x <= 0, min(1, exp(eps - l)) <= exp(x (l - eps)) and M(x) <= exp(rho (x + x^2)), so that the
/// complement of delta is at most exp(-(rho - eps)^2 / (4 rho)), by x = (eps - rho) / (2 rho). `None` where that is not far below all relevant
/// values, or where losses are bounded, which this rho does not describe.
pub(crate) fn nearly_one(sum: &LossSum, request: &Request) -> Option<Answer> {
    const ENOUGH: f64 = 1e8;
    let (epsilon, digits, rho) = (&request.at, request.goal.digits, sum.rho());
    if epsilon >= rho || sum.has_bounded_group() {
        return None;
    }
    let exponent = Rational::from(rho - epsilon).square() / Rational::from(rho * 4_u32);
    let least = f64::from(digits) * 3.0;
    if exponent.to_f64() < ENOUGH.max(least) {
        return None;
    }
    let bits = precision::bits(digits, 64);
    let complement = Enclosure::double(-ENOUGH.max(least), bits).exp();
    let value = Enclosure::double(1.0, bits).sub(&Enclosure::double(0.0, bits).hull(&complement));
    Some(Answer::immediate(value, "the complement of delta is below exp(-10^8), by rho"))
}

/// Where delta is below every float: (1 - exp(eps - l))_+ <= exp(c (l - eps)) for c >= 0, so that delta <= M(c) exp(-c eps). `None` where the
/// saddle point does not prove it.
pub(crate) fn below_floats(sum: &LossSum, epsilon: &Rational, search: &ContourSearch) -> Option<Answer> {
    let is_estimated = search.ln_estimate() < LN_LEAST;
    let c = Rational::from_f64(search.saddle_point().max(0.0)).filter(|_| is_estimated)?;
    let bound = sum.ln_mgf(&c, 64).sub(&Enclosure::rational(&(c * epsilon), 64));
    let is_below = *bound.upper() < LN_LEAST;
    is_below.then(|| {
        let value = Enclosure::double(0.0, 64).hull(&bound.exp());
        let proof = Proof::bound("delta is below every floating-point number, by a moment of the loss");
        Answer { met: false, value, proof }
    })
}
