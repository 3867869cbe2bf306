//! The numbers of a report: those of `assay epsilon`, `risk bound`, `calibrate` and `curve` for one subject.

use anyhow::{Context, Result};
use dp_assay::{
    account::{
        Account, Answer, Composition, Delta, conversions,
        promise::{self, GridOf, Promise},
    },
    chart::lines::tradeoff_of_profile,
    numeric::Enclosure,
    risk::bound::{self, Bound},
};
use rayon::prelude::*;
use rug::{Integer, Rational, ops::Pow};

use super::super::{curve::grid, progress, subject::Resolved};

/// What is asked of a subject.
pub struct Asked {
    /// Where epsilon is meant.
    pub delta: Delta,
    /// What an adversary believes beforehand.
    pub prior: Rational,
    /// Relative widths of 10^-digits.
    pub digits: u32,
}

/// Everything that a report shows.
pub struct Answers {
    /// Each level; empty where there is only the whole.
    pub levels: Vec<Line>,
    /// Everything composed.
    pub total: Line,
    /// The pair of block paths that decides epsilon of the whole, in words.
    pub pair: Option<String>,
    /// The factor on all noise with which the whole keeps its published epsilon, where that is not what one line says already.
    pub common_factor: Option<Rational>,
    /// The profiles, for drawing.
    pub drawn: Drawn,
}

/// A level, or everything composed.
pub struct Line {
    pub name: String,
    pub rho: Rational,
    pub epsilon: Answer,
    /// Epsilon by zCDP (Bun-Steinke).
    pub zcdp: Enclosure,
    pub bound: Bound,
    /// The least noise; none where there is no Gaussian noise, and for several levels composed.
    pub noise: Option<Noise>,
}

/// The noise of one level as it is, and the least that keeps the published epsilon.
pub struct Noise {
    /// The smallest sigma2 as it is.
    pub sigma2: Rational,
    /// The same calibrated.
    pub calibrated: Rational,
    /// Calibrated over as it is, of every sigma2.
    pub factor: Rational,
    /// Whether there are other sigma2, scaled by the same factor.
    pub has_others: bool,
    /// Epsilon with the calibrated noise.
    pub epsilon: Answer,
    /// The epsilon to keep.
    pub target: Enclosure,
}

/// Points for drawing, approximations all.
pub struct Drawn {
    /// (epsilon, delta), exactly.
    pub exact: Vec<(f64, f64)>,
    /// (epsilon, delta) by zCDP.
    pub zcdp: Vec<(f64, f64)>,
    /// (alpha, beta) of the trade-off function.
    pub tradeoff: Vec<(f64, f64)>,
}

/// Decimals of a calibrated sigma2, and of a common factor: what `assay calibrate` takes where none are asked for.
pub const DECIMALS: u32 = 2;
pub const FACTOR_DECIMALS: u32 = 4;

impl Asked {
    pub fn of(&self, subject: &Resolved) -> Result<Answers> {
        let has_levels = !subject.levels.is_empty();
        let total_name = if has_levels { "all composed" } else { "composition" };
        progress::stage("each level");
        let levels: Vec<Line> =
            (subject.levels.par_iter()).map(|(name, part)| self.level(name, part)).collect::<Result<_>>()?;
        progress::stage("all composed");
        let noise = if has_levels { None } else { self.noise(total_name, &subject.total)? };
        let total = self.line(total_name, &subject.whole, &subject.total, noise)?;
        let common_factor = if has_levels { self.common_factor(subject)? } else { None };
        progress::stage("drawing");
        let drawn = drawn(subject, &total.zcdp)?;
        Ok(Answers { levels, pair: subject.deciding_pair(&total.epsilon), total, common_factor, drawn })
    }

    fn level(&self, name: &str, part: &Composition) -> Result<Line> {
        self.line(name, part, part, self.noise(name, part)?)
    }

    /// `whole` is what the rho of tables is that of.
    fn line(&self, name: &str, account: &impl Account, whole: &Composition, noise: Option<Noise>) -> Result<Line> {
        Ok(Line {
            name: name.to_string(),
            rho: whole.rho().clone().into(),
            epsilon: account.epsilon(&self.delta, self.digits)?,
            zcdp: conversions::zcdp_epsilon(whole.rho(), &self.delta, self.digits),
            bound: bound::bound(account, &self.prior, &self.delta, self.digits)?,
            noise,
        })
    }

    fn promise(&self) -> Promise {
        Promise::ZcdpEpsilon { delta: self.delta.clone() }
    }

    fn noise(&self, name: &str, part: &Composition) -> Result<Option<Noise>> {
        if promise::variances(part).is_err() {
            return Ok(None);
        }
        let promise = self.promise();
        let grid = (GridOf::SmallestSigma2, DECIMALS);
        let found = promise::calibrate(part, part, &promise, grid).with_context(|| name.to_string())?;
        let Some(sigma2) = found.variances.first().cloned() else { return Ok(None) };
        Ok(Some(Noise {
            calibrated: Rational::from(&sigma2 * &found.factor),
            has_others: found.variances.len() > 1,
            epsilon: found.account.epsilon(&self.delta, self.digits)?,
            target: promise.target(part, &self.delta),
            factor: found.factor,
            sigma2,
        }))
    }

    fn common_factor(&self, subject: &Resolved) -> Result<Option<Rational>> {
        if promise::variances(&subject.total).is_err() {
            return Ok(None);
        }
        let grid = (GridOf::Factor, FACTOR_DECIMALS);
        Ok(Some(promise::calibrate(&subject.whole, &subject.total, &self.promise(), grid)?.factor))
    }
}

impl Answers {
    /// The levels, and the whole last.
    pub fn lines(&self) -> impl Iterator<Item = &Line> {
        self.levels.iter().chain([&self.total])
    }
}

/// 100 (1 - factor): how much less noise, in percent.
pub fn reduction(factor: &Rational) -> Rational {
    Rational::from(1 - factor) * 100_u32
}

/// The profile of the whole from 0 to the epsilon that zCDP gives, and the trade-off function that follows from it.
fn drawn(subject: &Resolved, zcdp: &Enclosure) -> Result<Drawn> {
    const DIGITS: u32 = 6;
    const POINTS: u32 = 61;
    // Lines whose slope is above exp(8) are hardly told from the axis: below it they lie closer.
    const STEEP: u32 = 8;
    const LINES: u32 = 33;
    let end = two_digits_above(zcdp.approximate());
    let curve = subject.whole.curve(&grid(&Rational::new(), &end, POINTS), DIGITS)?;
    let steep = subject.whole.curve(&grid(&Rational::new(), &end.min(STEEP.into()), LINES), DIGITS)?;
    let exact = |curve: &[dp_assay::account::Point]| -> Vec<(f64, f64)> {
        curve.iter().map(|point| (point.epsilon.to_f64(), point.delta.value.approximate())).collect()
    };
    let zcdp = curve.iter().map(|point| (point.epsilon.to_f64(), point.zcdp_delta.approximate())).collect();
    let (exact, mut lines) = (exact(&curve), exact(&steep));
    let steepest = lines.last().map_or(0.0, |point| point.0);
    lines.extend(exact.iter().filter(|point| point.0 > steepest));
    Ok(Drawn { tradeoff: tradeoff_of_profile(&lines), exact, zcdp })
}

/// The next number of two digits; 1 where there is none.
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
