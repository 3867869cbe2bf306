//! What moments of the losses alone tell of a hockey stick: that it is next to one, or below every float.

use rug::{Float, Rational};

use super::{LN_LEAST, SumEvaluator};
use crate::{
    error::{Error, Result},
    loss::{
        answer::{Answer, Method},
        question::{Kernel, Question},
        search::ContourSearch,
    },
    numeric::{Enclosure, precision, rational, twofold},
};

impl SumEvaluator {
    /// To how many digits one minus an answer next to one has to be told for many digits of the answer, from the bound by moments; `None` where
    /// that says little, or the digits are few.
    pub(in crate::loss::evaluator) fn digits_of_rest(&self, epsilon: &Rational, digits: u32) -> Result<Option<u32>> {
        const LEAST: u32 = 8;
        const WORTH: u32 = 4;
        if digits <= twofold::ball::MOST_DIGITS || self.is_gaussian() || *epsilon >= self.mean_and_deviation_approx().0
        {
            return Ok(None);
        }
        let bound = self.by_moments(&Question::hockey_stick(self.sum(), epsilon), digits)?.value;
        if bound.is_tight(digits) {
            return Ok(None);
        }
        let rest = Float::with_val(64, 1_u32 - bound.lower());
        let spared = -rest.log10().to_f64().clamp(-f64::from(digits), 0.0) as u32;
        Ok((spared >= WORTH).then(|| (digits - spared.min(digits) + 1).max(LEAST)))
    }

    /// What an answer has in common with the bound by moments: min(1, exp(eps - l)) <= exp(c (l - eps)) for -1 <= c <= 0, so that
    /// 1 - delta <= M(c) exp(-c eps). Next to one that is all there is to say.
    pub(super) fn narrowed_by_moments(&self, answer: Answer, question: Question, digits: u32) -> Result<Answer> {
        if *answer.value.upper() < 0.5 {
            return Ok(answer);
        }
        let epsilon = question.threshold.clone();
        let bits = precision::bits(digits, 64);
        let rest = Question { kernel: Kernel::Complement, ..question };
        let c = rational::from_f64(self.contours.search(&rest).saddle_point().clamp(-1.0, 0.0))?;
        let ln_rest = self.sum().ln_mgf(&c, bits).sub(&Enclosure::rational(&(c * epsilon), bits));
        let rest = Enclosure::double(0.0, bits).hull(&ln_rest.exp());
        let bound = Enclosure::double(1.0, bits).sub(&rest);
        let value = answer.value.meet(&bound).ok_or(Error::Contradiction { what: "a certified value" })?;
        Ok(Answer { met: value.is_tight(digits), value, ..answer })
    }

    /// That bound alone, where epsilon is so far below all that is likely that it should tell all digits; `None` where it does not.
    pub(super) fn is_one_but_for_few(&self, question: &Question, digits: u32) -> Result<Option<Answer>> {
        const LIKELY: f64 = 0.9;
        let (mean, deviation) = self.mean_and_deviation_approx();
        let far = LIKELY * (2.0 * f64::from(digits) * std::f64::consts::LN_10).sqrt() * deviation;
        if question.threshold.to_f64() > mean - far {
            return Ok(None);
        }
        Ok(Some(self.by_moments(question, digits)?).filter(|answer| answer.met))
    }

    /// The bound by moments alone.
    pub(super) fn by_moments(&self, question: &Question, digits: u32) -> Result<Answer> {
        let value = Enclosure::double(0.0, 64).hull(&Enclosure::double(1.0, 64));
        let method = Method::Immediate("one minus delta is bounded by a moment of the loss");
        self.narrowed_by_moments(Answer { value, method, met: false }, question.clone(), digits)
    }

    /// The same, or that bound alone if it is all that is needed.
    pub(super) fn narrowed(&self, answer: Result<Answer>, question: &Question, digits: u32) -> Result<Answer> {
        match answer {
            Ok(answer) => self.narrowed_by_moments(answer, question.clone(), digits),
            Err(error @ (Error::Contradiction { .. } | Error::Stopped)) => Err(error),
            Err(error) => {
                let bound = self.by_moments(question, digits)?;
                if bound.met { Ok(bound) } else { Err(error) }
            }
        }
    }

    /// Where epsilon is far below rho: for -1 <= x <= 0, min(1, exp(eps - l)) <= exp(x (l - eps)) and M(x) <= exp(rho (x + x^2)), so that
    /// one minus delta is at most exp(-(rho - eps)^2 / (4 rho)), by x = (eps - rho) / (2 rho). `None` where that is not far below
    /// all that anybody asks about, or where losses are bounded, of which this rho knows nothing.
    pub(super) fn is_nearly_one(&self, epsilon: &Rational, digits: u32) -> Option<Answer> {
        const ENOUGH: f64 = 1e8;
        let rho = self.sum().rho();
        if epsilon >= rho || self.sum().offset() != rho {
            return None;
        }
        let exponent = Rational::from(rho - epsilon).square() / Rational::from(rho * 4_u32);
        let least = f64::from(digits) * 3.0;
        if exponent.to_f64() < ENOUGH.max(least) {
            return None;
        }
        let bits = precision::bits(digits, 64);
        let rest = Enclosure::double(-ENOUGH.max(least), bits).exp();
        let value = Enclosure::double(1.0, bits).sub(&Enclosure::double(0.0, bits).hull(&rest));
        Some(Answer::immediate(value, "one minus delta is below exp(-10^8), by rho"))
    }

    /// Where delta is below every float: (1 - exp(eps - l))_+ <= exp(c (l - eps)) for c >= 0, so that delta <= M(c) exp(-c eps). `None`
    /// where the saddle point does not tell so.
    pub(super) fn is_below_floats(&self, epsilon: &Rational, search: &ContourSearch) -> Option<Answer> {
        let is_estimated = search.ln_estimate() < LN_LEAST;
        let c = Rational::from_f64(search.saddle_point().max(0.0)).filter(|_| is_estimated)?;
        let bound = self.sum().ln_mgf(&c, 64).sub(&Enclosure::rational(&(c * epsilon), 64));
        let is_below = *bound.upper() < LN_LEAST;
        is_below.then(|| {
            let value = Enclosure::double(0.0, 64).hull(&bound.exp());
            let method = Method::Immediate("delta is below every floating-point number, by a moment of the loss");
            Answer { met: false, value, method }
        })
    }
}
