//! The seconds of single steps of smoothing: for `scripts/measure/measure-costs`.

use std::{f64::consts::LN_10, hint::black_box};

use super::*;
use crate::loss::{engine::session::Session, limit::Limit, question::Question, timed::least_per_step};

impl Smoothed {
    /// A node of the contour with noise for each group, a step of the search for points, and a point; `None` where a request has no points.
    pub(in crate::loss) fn seconds_of_steps(&self, epsilon: &Rational, digits: u32) -> Option<[f64; 3]> {
        let stop = Stop::default();
        let answer = self.hockey_stick(epsilon, digits, &Session::single(Limit::NONE, &stop)).ok()??;
        let k = i32::try_from(answer.proof.count("scale_exponent")?).ok()?;
        let contours = self.contours(k).ok()?;
        let question = Question::hockey_stick(contours.sum(), epsilon);
        let (question, _) = contours.of_shorter_period(question, digits + MORE_DIGITS);
        let choice = contours.choose_on_line(question, digits + MORE_DIGITS).ok()?;
        let factors = choice.nodes() as f64 * self.sum.groups().len() as f64;
        let of_contour = || contours.hockey_stick(choice.clone(), digits + MORE_DIGITS);
        let per_factor = least_per_step(|| of_contour().map_or(f64::NAN, |_| factors));
        let ln_answer = answer.value.ln().approximate();
        let steps = self.steps(epsilon, k, digits, ln_answer)?;
        let count = steps();
        let per_step = least_per_step(&steps);
        let correction = || self.correction(epsilon, k, digits, ln_answer, &stop).ok().flatten();
        let points = correction().map(|(_, points)| points).filter(|points| *points > 0)? as f64;
        let with_steps = least_per_step(|| correction().map_or(f64::NAN, |_| points));
        let per_point = (with_steps - per_step * count / points) / (1.0 + f64::from(digits) / 40.0);
        Some([per_factor, per_step, per_point])
    }

    /// The search for the points of a correction, which counts its steps.
    fn steps(&self, epsilon: &Rational, k: i32, digits: u32, ln_answer: f64) -> Option<impl Fn() -> f64> {
        let (parts, s, bits) = (self.parts(digits)?, 2f64.powi(-k), precision::bits(digits, 64));
        let ln_error = ln_answer - f64::from(digits + MORE_DIGITS) * LN_10;
        let bounds = self.bounds(&parts, epsilon, s, ln_error, bits);
        let listed = self.list(&parts, &bounds.c, bounds.cut, bits, digits)?;
        let close = Close::new(&parts.rungs(&bounds.c), &tilt::exact(bounds.width), bounds.energy)?;
        let rho = parts.rho();
        let targets: Vec<Rational> =
            listed.losses.iter().map(|atom| Rational::from(epsilon - &atom.loss) - &rho).collect();
        Some(move || {
            let mut count = 0;
            for target in &targets {
                let searched = close.each(target, &mut count, &Stop::default(), &mut |multiples| {
                    black_box(multiples);
                });
                if searched.is_err() {
                    return f64::NAN;
                }
            }
            count as f64
        })
    }
}
