//! The numbers of a report: those of `assay epsilon`, `risk bound`, `calibrate` and `curve` for one subject.

use anyhow::{Context, Result};
use dp_assay::{
    account::{
        Account, Delta, Whole,
        compared::{Against, Compared, Conversion, pure_epsilon},
        promise::{self, GridOf, Promise},
    },
    chart::lines::tradeoff_of_profile,
    numeric::{Enclosure, parallel},
    release::subject::Part,
};
use rug::{Integer, Rational, ops::Pow};

use super::super::{
    calibrate::{self, FACTOR_DECIMALS, Goal, Row},
    curve::grid,
    epsilon, progress,
    risk::bound,
    subject::{Resolved, whole_name},
};

/// The request about a subject.
pub struct Request {
    /// The delta of the epsilons.
    pub delta: Delta,
    /// The prior of the adversary.
    pub prior: Rational,
    /// Relative widths of 10^-digits.
    pub digits: u32,
}

/// All numbers of a report.
pub struct Answers {
    /// How private?
    pub private: epsilon::Found,
    /// What does an adversary learn?
    pub learned: bound::Found,
    /// How much noise could be spared? Or why that does not apply.
    pub spared: std::result::Result<Spared, LeftOut>,
    /// The profiles, for drawing.
    pub drawn: Drawn,
}

/// The section of the noise that could be smaller.
pub const SPARED: &str = "How much noise could be spared?";

/// The reason why a section does not apply.
pub struct LeftOut(pub &'static str);

impl LeftOut {
    /// The section and the reason.
    pub fn sentence(&self) -> String {
        format!("Left out: {} {}", SPARED, self.0)
    }
}

/// The least noise, of each level alone and of all together.
pub struct Spared {
    /// Each level under its name, or the whole if there are no levels; no row if no smaller noise is on the grid.
    pub parts: Vec<(String, Option<Row>)>,
    /// The factor on all noise with which the whole meets its target, unless a row states it already.
    pub common_factor: Option<Rational>,
    /// The number with which the whole is compared.
    pub compared: Option<Compared>,
}

/// Points for drawing; all are approximations.
pub struct Drawn {
    /// (epsilon, delta), exactly.
    pub exact: Vec<(f64, f64)>,
    /// The largest loss, if losses are bounded: from there on delta is 0.
    pub ends_at: Option<f64>,
    /// (alpha, beta) of the trade-off function.
    pub tradeoff: Vec<(f64, f64)>,
}

impl Request {
    pub fn of(&self, subject: &Resolved) -> Result<Answers> {
        let private =
            epsilon::find(subject, epsilon::Request { delta: &self.delta, digits: self.digits, for_records: false })?;
        let learned = bound::Request {
            prior: self.prior.clone(),
            delta: self.delta.clone(),
            digits: self.digits,
            with_exceeded: false,
        };
        let learned = bound::find(subject, &learned)?;
        let spared = match subject.part_word {
            "release" => Err(LeftOut("The releases of a ledger are published: their noise is what it was.")),
            _ => Ok(self.spared(subject)?),
        };
        progress::stage("drawing the curves");
        let drawn = Drawn::of(subject, &private.total.compared.epsilon)?;
        Ok(Answers { private, learned, spared, drawn })
    }

    /// The noise that could be spared while epsilon stays at its target.
    pub fn spared(&self, subject: &Resolved) -> Result<Spared> {
        let has_levels = !subject.levels.is_empty();
        let parts = subject.parts_or(whole_name(subject));
        let steps = progress::Steps::of_stage("least noise of each level", parts.len() as u64);
        let counted = |one: &Part| {
            let part = self.least_noise(one).map(|least| (one.name.clone(), least));
            steps.step();
            part
        };
        let parts = parallel::try_map_any(&parts, counted)?;
        progress::stage("least factor on all noise");
        let compared = subject.compared(Against::Usual, &self.delta, self.digits)?;
        let common_factor = if has_levels { Some(common_factor(subject, &self.delta, &compared)?) } else { None };
        Ok(Spared { parts, common_factor, compared: Some(compared) })
    }

    fn least_noise(&self, part: &Part) -> Result<Option<Row>> {
        let request = calibrate::Request {
            goal: Goal::Compared(Against::Usual),
            delta: Some(self.delta.clone()),
            digits: self.digits,
            crossings: false,
            curves: false,
        };
        let row =
            || request.row(part, request.of_part(part)?, calibrate::grid_with(calibrate::grid_of_part(part)?, None));
        Ok(Some(row().with_context(|| part.name.clone())?).filter(|row| !row.variances.is_empty()))
    }
}

/// The factor on all noise with which the whole meets the epsilon of its comparison.
pub fn common_factor(subject: &Resolved, delta: &Delta, compared: &Compared) -> Result<Rational> {
    let promise = Promise::known(delta.clone(), &compared.epsilon);
    let grid = (GridOf::Factor, FACTOR_DECIMALS);
    Ok(promise::calibrate(&subject.whole, &subject.noise()?, &promise, grid)?.factor)
}

impl Spared {
    /// The rows with noise that could be smaller.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.parts.iter().filter_map(|(_, row)| row.as_ref())
    }
}

/// 100 (1 - factor): how much less noise, in percent.
pub fn reduction(factor: &Rational) -> Rational {
    Rational::from(1 - factor) * 100_u32
}

impl Drawn {
    /// The profile of the whole from 0 to an epsilon, and the trade-off function that follows from it.
    pub fn of(subject: &Resolved, most: &Enclosure) -> Result<Drawn> {
        const DIGITS: u32 = 6;
        const POINTS: u32 = 61;
        // Lines whose slope is above exp(8) can hardly be distinguished from the axis: below it they lie closer.
        const STEEP: u32 = 8;
        const LINES: u32 = 33;
        let end = two_digits_above(most.approximate());
        let mut points = grid(&Rational::new(), &end, POINTS);
        let largest = pure_epsilon(&subject.whole)?;
        if let Some(largest) = &largest {
            // Near the largest loss delta falls to 0: points lie closer and closer to it.
            points.retain(|epsilon| epsilon < largest);
            points.extend((2..=12).map(|k| largest - Rational::from(largest / Integer::from(10).pow(k))));
            points.sort();
            points.dedup();
        }
        let curve = subject.whole.curve(&points, DIGITS)?;
        let steep = subject.whole.curve(&grid(&Rational::new(), &end.min(STEEP.into()), LINES), DIGITS)?;
        let exact = |curve: &[dp_assay::account::Point]| -> Vec<(f64, f64)> {
            curve.iter().map(|point| (point.epsilon.to_f64(), point.delta.value.approximate())).collect()
        };
        let (exact, mut lines) = (exact(&curve), exact(&steep));
        let steepest = lines.last().map_or(0.0, |point| point.0);
        lines.extend(exact.iter().filter(|point| point.0 > steepest));
        let ends_at = largest.map(|largest| largest.to_f64());
        Ok(Drawn { tradeoff: tradeoff_of_profile(&lines), exact, ends_at })
    }

    /// (epsilon, delta) by a conversion, over the same epsilons.
    pub fn beside(&self, account: &Whole, by: Conversion) -> Result<Vec<(f64, f64)>> {
        let point = |(epsilon, _): &(f64, f64)| Ok((*epsilon, by.delta_approx(account, *epsilon)?));
        parallel::try_map_any(&self.exact, point)
    }
}

/// The next number of two digits; 1 if there is none.
fn two_digits_above(value: f64) -> Rational {
    if !value.is_finite() || value <= 0.0 {
        return Rational::from(1);
    }
    let place = value.log10().floor() as i32 - 1;
    let unit = Rational::from(Integer::from(10).pow(place.unsigned_abs()));
    let unit = if place < 0 { unit.recip() } else { unit };
    let units = (value / 10_f64.powi(place)).ceil();
    Rational::from_f64(units).unwrap_or_else(|| Rational::from(1)) * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_a_number_of_two_digits() {
        let shown = |value| dp_assay::numeric::rational::display(&two_digits_above(value));
        assert_eq!([21.98, 0.0531, 7.0, 4812.0, 0.0, f64::INFINITY].map(shown), ["22", "0.054", "7", "4900", "1", "1"]);
    }
}
