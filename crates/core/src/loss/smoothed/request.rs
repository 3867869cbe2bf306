//! Requests: the scale of the noise, the contour of the smoothed sum, and the correction.

use rug::{Float, Rational};

use super::{
    close::TooMany,
    parts::Fine,
    state::{MORE_DIGITS, Prediction, Smoothed},
};
use crate::{
    error::Result,
    loss::{
        answer::{Answer, Proof, Quantity},
        engine::{machine, session::Session, smoothing},
        question::Question,
        stop::Stop,
    },
    numeric::{Enclosure, enclosure},
};

impl Smoothed {
    /// The predicted seconds of a hockey stick; `None` where it would take too long, or no group is fine.
    pub(in crate::loss) fn seconds(&self, epsilon: &Rational, digits: u32) -> Option<f64> {
        self.scale(self.eighths(epsilon), digits).map(|prediction| prediction.seconds)
    }

    /// The tilt of an epsilon in eighths where losses spread more under it, else zero: few scales are chosen.
    fn eighths(&self, epsilon: &Rational) -> i64 {
        const WIDER: f64 = 1.1;
        let tilt = self.outline.hockey_plan(&self.sum, epsilon).tilt();
        let is_wider = self.outline.deviation(tilt) > WIDER * self.outline.deviation(0.0);
        if is_wider { (8.0 * tilt).round() as i64 } else { 0 }
    }

    /// The scale with the lowest cost: it depends on the sum, the tilt and the digits alone.
    fn scale(&self, eighths: i64, digits: u32) -> Option<Prediction> {
        self.scales.get_or_make((eighths, digits), |_| {
            let parts = self.parts(digits).filter(|parts| !parts.fine.is_empty())?;
            let coarsest = parts.fine.iter().map(Fine::deviation).fold(0.0, f64::max);
            let from = 6 - libm::log2(coarsest).floor() as i32;
            let tilt = eighths as f64 / 8.0;
            let costs = (from.max(1)..from + 120).map(|k| self.predict(&parts, k, tilt, digits));
            let affordable = costs.filter(|prediction| prediction.seconds <= machine::MOST_OF_ANY);
            affordable.min_by(|a, b| a.seconds.total_cmp(&b.seconds))
        })
    }

    /// The same for an epsilon, with a smaller scale where c s is not small: else C would not be small beside delta, and digits would cancel.
    fn scale_at(&self, epsilon: &Rational, digits: u32) -> Option<Prediction> {
        const SMALL: f64 = 16.0;
        let eighths = self.eighths(epsilon);
        let prediction = self.scale(eighths, digits)?;
        let needed = libm::log2(SMALL * self.outline.hockey_plan(&self.sum, epsilon).tilt().abs()).ceil();
        if needed <= f64::from(prediction.k) {
            return Some(prediction);
        }
        let parts = self.parts(digits)?;
        let prediction = || self.predict(&parts, needed as i32, eighths as f64 / 8.0, digits);
        (needed < 500.0).then(prediction).filter(|prediction| prediction.seconds <= machine::MOST_OF_ANY)
    }

    /// E[(1 - exp(epsilon - L))_+] for epsilon >= 0; `None` where it would take too long.
    pub(in crate::loss) fn hockey_stick(
        &self,
        epsilon: &Rational,
        digits: u32,
        session: &Session,
    ) -> Result<Option<Answer>> {
        let Some(prediction) = self.scale_at(epsilon, digits) else { return Ok(None) };
        let k = prediction.k;
        let contours = self.contours(k)?;
        let question = Question::hockey_stick(contours.sum(), epsilon);
        let (question, period) = contours.of_shorter_period(question, digits + MORE_DIGITS);
        // A sweep of this many nodes would stop early.
        if prediction.nodes(period) > 2.0 * self.most_nodes() as f64 {
            return Ok(None);
        }
        let choice = contours.choose_on_line(question, digits + MORE_DIGITS)?;
        // Far more nodes than predicted.
        let of_nodes = choice.nodes() as f64 * machine::PER_SMOOTHED_FACTOR * self.sum.groups().len() as f64;
        if of_nodes > 6.0 * prediction.seconds + 0.1 || contours.leaves_too_much(&choice, digits + MORE_DIGITS) {
            return Ok(None);
        }
        let smooth = match session.first(&contours, Some(k), &choice, digits + MORE_DIGITS)? {
            Some(answer) => answer,
            None => contours.hockey_stick(choice, digits + MORE_DIGITS)?,
        };
        self.without_noise(smooth, epsilon, k, digits, session.stop())
    }

    /// The same by a contour that the session holds of a request close to this one; `None` where there is none.
    pub(in crate::loss) fn by_session(&self, epsilon: &Rational, digits: u32, session: &Session) -> Option<Answer> {
        let k = session.of_noise()?;
        let smooth = session.hockey_stick(&*self.contours(k).ok()?, Some(k), epsilon, digits + MORE_DIGITS)?;
        self.without_noise(smooth, epsilon, k, digits, session.stop()).ok()?.filter(|answer| answer.met)
    }

    /// The answer from that with continuous noise of scale 2^-k.
    fn without_noise(
        &self,
        smooth: Answer,
        epsilon: &Rational,
        k: i32,
        digits: u32,
        stop: &Stop,
    ) -> Result<Option<Answer>> {
        stop.check()?;
        let bits = smooth.value.lower().prec().max(smooth.value.upper().prec());
        let rest = Enclosure::double(1.0, bits).sub(&smooth.value);
        let smaller = enclosure::smaller(smooth.value.lower(), rest.lower());
        if !smooth.met || smaller <= 0 {
            return Ok(None);
        }
        let ln_answer = Float::with_val(64, smaller.ln_ref()).to_f64();
        let correction = match self.correction(epsilon, k, digits, ln_answer, stop) {
            Ok(found) => found,
            Err(TooMany) => {
                stop.check()?;
                return Ok(None);
            }
        };
        let Some((correction, points)) = correction else { return Ok(None) };
        // Bits enough for the complement.
        let correction = Enclosure::double(0.0, bits).add(&correction);
        let value = smooth.value.sub(&correction).clamp(0.0, 1.0);
        let summary = format!(
            "{}, with continuous noise of scale 2^-{k}, which {points} losses near epsilon do without",
            smooth.proof
        );
        // The noise spends 2^-(2 k + 1).
        let proof = Proof::derived(smoothing::NAME, summary, smooth.proof)
            .with("scale_exponent", "k of the noise of scale 2^-k", Quantity::Count(k.unsigned_abs().into()))
            .with("points", "losses for which the noise was taken away one by one", Quantity::Count(points as u64));
        Ok(Some(Answer { met: value.is_tight(digits), value, proof }))
    }
}
