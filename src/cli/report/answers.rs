//! The numbers of a report: those of `assay epsilon`, `risk bound`, `calibrate` and `curve` for one subject.

use anyhow::{Context, Error, Result};
use dp_assay::{
    account::{
        Account, Answer, Delta, Epsilon, Whole,
        compared::{Against, Compared, Conversion, pure_epsilon},
        promise::{self, Grid, GridOf, Promise},
    },
    chart::lines::tradeoff_of_profile,
    deployments::{Yardstick, yardstick::Unit},
    noise::Margin,
    numeric::{Enclosure, parallel},
    release::subject::{Part, QueryPart},
    sheet,
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
    /// The epsilon at that delta that is required, if one is.
    pub required: Option<Epsilon>,
    /// The unit of a record.
    pub about: Unit,
    /// Relative widths of 10^-digits.
    pub digits: u32,
}

/// All numbers of a report.
pub struct Answers {
    /// How private?
    pub private: Section<Private>,
    /// The published deployments beside which that epsilon is.
    pub yardstick: Section<Yardstick>,
    /// What does an adversary learn?
    pub learned: bound::Found,
    /// The margin of error of one count of each query.
    pub margins: Section<Vec<(QueryPart, Margin)>>,
    /// How much noise could be spared?
    pub spared: Section<Spared>,
}

impl Answers {
    /// The sections that do not apply.
    pub fn left_out(&self) -> Vec<&LeftOut> {
        let all = [
            self.private.as_ref().err(),
            self.yardstick.as_ref().err(),
            self.margins.as_ref().err(),
            self.spared.as_ref().err(),
        ];
        all.into_iter().flatten().collect()
    }
}

/// The numbers of a section, or why it does not apply.
pub type Section<T> = std::result::Result<T, LeftOut>;

/// The section of epsilon.
pub const PRIVATE: &str = "How private?";
/// The section of the published deployments.
pub const YARDSTICK: &str = "How does that compare with published deployments?";
/// The section of the margins of error.
pub const ACCURATE: &str = "How accurate are the noisy counts?";
/// The section of the noise that could be smaller.
pub const SPARED: &str = "How much noise could be spared?";

/// A section that does not apply, and the reason, a sentence.
#[derive(Clone, Debug)]
pub struct LeftOut {
    pub section: &'static str,
    pub reason: String,
}

impl LeftOut {
    fn new(section: &'static str, reason: impl Into<String>) -> LeftOut {
        LeftOut { section, reason: reason.into() }
    }

    /// A section whose question has no answer for this mechanism. Every error that is no answer is returned.
    fn because(section: &'static str, error: Error) -> Result<LeftOut> {
        let known = error.chain().find_map(|cause| cause.downcast_ref::<dp_assay::Error>());
        let Some(reason) = known.filter(|known| !known.is_fatal()).map(ToString::to_string) else { return Err(error) };
        let mut letters = reason.chars();
        let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
        Ok(LeftOut::new(section, format!("{first}{}.", letters.as_str())))
    }

    /// The section and the reason.
    pub fn sentence(&self) -> String {
        format!("Left out: {} {}", self.section, self.reason)
    }
}

/// Epsilon, and the profiles.
pub struct Private {
    pub found: epsilon::Found,
    /// The profiles, for drawing.
    pub drawn: Drawn,
}

/// The least noise, of each level alone and of all together.
pub struct Spared {
    /// Levels under their names, or the whole if there are no levels; no row if no smaller noise is on the grid.
    pub parts: Vec<(String, Option<Row>)>,
    /// The factor on all noise with which the whole meets its target, unless a row states it already.
    pub common_factor: Option<Rational>,
    /// The number with which the whole is compared; `None` where an epsilon is required.
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
    pub fn answers(&self, subject: &Resolved) -> Result<Answers> {
        let private = self.private(subject)?;
        progress::stage("published deployments");
        let yardstick = self.yardstick(subject, &private)?;
        let learned = bound::Request {
            prior: self.prior.clone(),
            delta: self.delta.clone(),
            digits: self.digits,
            with_exceeded: false,
        };
        let learned = bound::find(subject, &learned)?;
        let margins = margins(subject)?;
        let spared = self.spared(subject, &private)?;
        Ok(Answers { private, yardstick, learned, margins, spared })
    }

    fn private(&self, subject: &Resolved) -> Result<Section<Private>> {
        let request = epsilon::Request { delta: &self.delta, digits: self.digits, for_records: false };
        let found = match epsilon::find(subject, request) {
            Ok(found) => found,
            Err(error) if has_no_epsilon(&error) => return LeftOut::because(PRIVATE, error).map(Err),
            Err(error) => return Err(error),
        };
        progress::stage("drawing the curves");
        let drawn = Drawn::of_subject(subject, &found.total.compared.epsilon)?;
        Ok(Ok(Private { found, drawn }))
    }

    fn yardstick(&self, subject: &Resolved, private: &Section<Private>) -> Result<Section<Yardstick>> {
        let left_out = |reason: &str| Ok(Err(LeftOut::new(YARDSTICK, reason)));
        if private.is_err() {
            return left_out("There is no epsilon to compare.");
        }
        if subject.group > 1 {
            return left_out("The epsilon is that of a group of records, and published ones are those of one.");
        }
        Ok(Ok(Yardstick::at(&self.delta, self.about)?))
    }

    /// The noise that could be spared at a published or required epsilon.
    fn spared(&self, subject: &Resolved, private: &Section<Private>) -> Result<Section<Spared>> {
        let left_out = |reason: &str| Ok(Err(LeftOut::new(SPARED, reason)));
        if subject.part_word == "release" {
            return left_out("The releases of a ledger are published: their noise is what it was.");
        }
        let Ok(private) = private else { return left_out("There is no epsilon at which noise could be spared.") };
        let found = match &self.required {
            Some(required) => self.spared_at(subject, required),
            None => self.spared_as_published(subject, &private.found),
        };
        match found {
            Ok(found) if found.parts.is_empty() && found.common_factor.is_none() => left_out(
                "It has no published epsilon at this delta, and none is required: --epsilon gives a required one.",
            ),
            Ok(found) => Ok(Ok(found)),
            Err(error) => LeftOut::because(SPARED, error).map(Err),
        }
    }

    /// The noise that the whole could spare at a required epsilon.
    fn spared_at(&self, subject: &Resolved, required: &Epsilon) -> Result<Spared> {
        let promise = Promise::Epsilon { delta: self.delta.clone(), epsilon: required.clone() };
        let whole = subject.as_part(whole_name(subject));
        if !subject.levels.is_empty() || calibrate::grid_of_part(&whole)? == GridOf::Factor {
            let factor = factor_for(subject, &promise)?;
            return Ok(Spared { parts: Vec::new(), common_factor: Some(factor), compared: None });
        }
        let row = self.least_noise(subject, &whole, Goal::Promise(promise))?;
        Ok(Spared { parts: vec![(whole.name.clone(), Some(row))], common_factor: None, compared: None })
    }

    /// The same at the epsilon of the account by which it was published, of each level and of the whole for which one was.
    fn spared_as_published(&self, subject: &Resolved, private: &epsilon::Found) -> Result<Spared> {
        let is_published = |name: &str| {
            let of_line = |line: &epsilon::Line| line.name == name && line.compared.published.is_some();
            private.lines().any(of_line)
        };
        let parts = subject.parts_or(whole_name(subject));
        let parts: Vec<&Part> = parts.iter().filter(|part| is_published(&part.name)).collect();
        let steps = progress::Steps::of_stage("least noise of each level", parts.len() as u64);
        let counted = |one: &&Part| -> Result<(String, Option<Row>)> {
            let row = self.least_noise(subject, one, Goal::Compared(Against::Published));
            steps.step();
            // Only noise with a sigma2 has a row.
            Ok((one.name.clone(), Some(row?).filter(|row| !row.variances.is_empty())))
        };
        let parts = parallel::try_map_any(&parts, counted)?;
        let compared = Some(private.total.compared.clone()).filter(|compared| compared.published.is_some());
        let common_factor = match &compared {
            Some(compared) if !subject.levels.is_empty() => {
                progress::stage("least factor on all noise");
                Some(common_factor(subject, &self.delta, compared)?)
            }
            _ => None,
        };
        Ok(Spared { parts, common_factor, compared })
    }

    fn least_noise(&self, subject: &Resolved, part: &Part, goal: Goal) -> Result<Row> {
        let request = calibrate::Request {
            goal,
            delta: Some(self.delta.clone()),
            unit: subject.unit(),
            digits: self.digits,
            crossings: false,
            curves: false,
        };
        let row =
            || request.row(part, request.of_part(part)?, calibrate::grid_with(calibrate::grid_of_part(part)?, None));
        row().with_context(|| part.name.clone())
    }
}

/// Whether an error says that no epsilon is finite at the delta.
fn has_no_epsilon(error: &Error) -> bool {
    let is_infinite = |cause: &dp_assay::Error| matches!(cause, dp_assay::Error::InfiniteLoss { .. });
    error.chain().any(|cause| cause.downcast_ref().is_some_and(is_infinite))
}

/// The margin of each query, unless none is known.
fn margins(subject: &Resolved) -> Result<Section<Vec<(QueryPart, Margin)>>> {
    let margins: Vec<_> = subject.queries.iter().cloned().zip(sheet::margins(&subject.queries)?).collect();
    if margins.iter().any(|(_, margin)| matches!(margin, Margin::Known(_))) {
        return Ok(Ok(margins));
    }
    let mut why: Vec<&str> = Vec::new();
    for (_, margin) in &margins {
        if let Margin::Unknown(reason) = margin
            && !why.contains(reason)
        {
            why.push(reason);
        }
    }
    let reason = match why.is_empty() {
        true => "No query is declared.".to_string(),
        false => format!("The noise has no margin of error that is known: {}.", why.join("; ")),
    };
    Ok(Err(LeftOut::new(ACCURATE, reason)))
}

/// The factor on all noise with which the whole meets the epsilon of its comparison.
pub fn common_factor(subject: &Resolved, delta: &Delta, compared: &Compared) -> Result<Rational> {
    factor_for(subject, &Promise::known(delta.clone(), &compared.epsilon))
}

fn factor_for(subject: &Resolved, promise: &Promise) -> Result<Rational> {
    let grid = Grid::factor(FACTOR_DECIMALS);
    Ok(promise::calibrate_worst(&subject.whole, &subject.noise()?, promise, grid)?.factor)
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
    pub fn of_subject(subject: &Resolved, most: &Enclosure) -> Result<Drawn> {
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
            // Where an enclosure is wide, its upper end: in favour of the adversary.
            let delta = |delta: &Answer| if delta.met { delta.value.approximate() } else { delta.value.doubles().1 };
            curve.iter().map(|point| (point.epsilon.to_f64(), delta(&point.delta))).collect()
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
    let place = libm::log10(value).floor() as i32 - 1;
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
