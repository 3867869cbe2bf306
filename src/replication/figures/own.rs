//! Parameters that replace those of a paper in its figures: a release, numbers, the user's own counts.

use std::path::PathBuf;

use rug::{Float, Integer, Rational, ops::Pow};

use crate::{
    account::Delta,
    error::{Error, Result},
    numeric::rational,
    release::Release,
};

/// The replacements for the paper's parameters; absent ones stay the paper's.
#[derive(Clone, Debug, Default)]
pub struct Own {
    /// A release.
    pub release: Option<Release>,
    /// Levels of the release; all if none is named.
    pub levels: Vec<String>,
    /// Deltas.
    pub deltas: Vec<Delta>,
    /// Privacy budgets.
    pub rhos: Vec<Rational>,
    /// Prior probabilities.
    pub priors: Vec<Rational>,
    /// The number of other groups.
    pub others: Option<u64>,
    /// True counts of the group above.
    pub uppers: Vec<i64>,
    /// Target margins of error.
    pub margins: Vec<u32>,
    /// Variance proxies.
    pub sigma2: Vec<Rational>,
    /// Numbers of counts, or of copies.
    pub copies: Vec<u64>,
    /// The first value of the horizontal axis.
    pub from: Option<Rational>,
    /// The last value of the horizontal axis.
    pub to: Option<Rational>,
    /// The number of points of a curve.
    pub points: Option<u32>,
    /// A file of counts by block.
    pub counts: Option<PathBuf>,
    /// The columns of that file.
    pub columns: Vec<String>,
}

/// A parameter of [`Own`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// A release.
    Release,
    /// Levels.
    Level,
    /// Deltas.
    Delta,
    /// Privacy budgets.
    Rho,
    /// Prior probabilities.
    Prior,
    /// The number of other groups.
    Others,
    /// True counts above.
    Upper,
    /// Margins of error.
    Margin,
    /// Variance proxies.
    Sigma2,
    /// Numbers of counts.
    Copies,
    /// Both ends of the horizontal axis.
    Range,
    /// The number of points.
    Points,
    /// A file of counts and its columns.
    Counts,
}

/// A parameter, its name, and whether it is given.
type Row = (Parameter, &'static str, fn(&Own) -> bool);

/// All of them.
const ALL: [Row; 13] = [
    (Parameter::Release, "release", |own| own.release.is_some()),
    (Parameter::Level, "level", |own| !own.levels.is_empty()),
    (Parameter::Delta, "delta", |own| !own.deltas.is_empty()),
    (Parameter::Rho, "rho", |own| !own.rhos.is_empty()),
    (Parameter::Prior, "prior", |own| !own.priors.is_empty()),
    (Parameter::Others, "others", |own| own.others.is_some()),
    (Parameter::Upper, "upper", |own| !own.uppers.is_empty()),
    (Parameter::Margin, "margin", |own| !own.margins.is_empty()),
    (Parameter::Sigma2, "sigma2", |own| !own.sigma2.is_empty()),
    (Parameter::Copies, "copies", |own| !own.copies.is_empty()),
    (Parameter::Range, "from and to", |own| own.from.is_some() || own.to.is_some()),
    (Parameter::Points, "points", |own| own.points.is_some()),
    (Parameter::Counts, "counts", |own| own.counts.is_some() || !own.columns.is_empty()),
];

impl Parameter {
    /// Its name in messages and lists.
    pub fn name(self) -> &'static str {
        ALL.iter().find(|(parameter, ..)| *parameter == self).map_or("", |(_, name, _)| name)
    }
}

/// The maximum number of points of a curve.
const MOST_POINTS: u32 = 10_000;

impl Own {
    /// The given parameters.
    pub fn given(&self) -> Vec<Parameter> {
        ALL.iter().filter(|(_, _, is_given)| is_given(self)).map(|(parameter, ..)| *parameter).collect()
    }

    /// Whether the horizontal axis is given, or its number of points.
    pub(super) fn has_axis(&self) -> bool {
        self.from.is_some() || self.to.is_some() || self.points.is_some()
    }

    /// Refuses parameters that a figure does not accept.
    pub(super) fn check(&self, figure: &str, takes: &[Parameter]) -> Result<()> {
        let Some(other) = self.given().into_iter().find(|given| !takes.contains(given)) else { return Ok(()) };
        let names: Vec<&str> = takes.iter().map(|parameter| parameter.name()).collect();
        let takes = match names.as_slice() {
            [] => "it is drawn as its paper has it".to_string(),
            names => format!("it takes {}", names.join(", ")),
        };
        Err(Error::unsuitable(format!("{figure} does not take {}: {takes}", other.name())))
    }

    /// The given value of a figure that accepts only one; several values are refused.
    pub(super) fn one<'o, T>(name: &str, given: &'o [T]) -> Result<Option<&'o T>> {
        match given {
            [] => Ok(None),
            [one] => Ok(Some(one)),
            several => {
                let given = several.len();
                Err(Error::conflict(format!("{name} is given {given} times, and this figure is drawn for one")))
            }
        }
    }

    /// Points of the horizontal axis, equally spaced: by default with the figure's own ends and number.
    pub(super) fn grid(&self, from: &Rational, to: &Rational, points: u32) -> Result<Vec<Rational>> {
        let (from, to, points) = self.ends(from, to, points)?;
        Ok(grid(&from, &to, points))
    }

    /// The same with equal ratios, rounded to five digits.
    pub(super) fn log_grid(&self, from: &Rational, to: &Rational, points: u32) -> Result<Vec<Rational>> {
        let (from, to, points) = self.ends(from, to, points)?;
        if from <= 0 {
            return Err(Error::out_of_range("from", rational::display(&from), "more than 0: the axis is logarithmic"));
        }
        let (a, b) = (log10_approx(&from), log10_approx(&to));
        let value = |k: u32| decimal(a + (b - a) * f64::from(k) / f64::from(points - 1));
        let inner = (1..points - 1).map(value).filter(|value| *value > from && *value < to);
        Ok(std::iter::once(from.clone()).chain(inner).chain([to.clone()]).collect())
    }

    /// Integers of the horizontal axis.
    pub(super) fn whole(&self, from: i64, to: i64) -> Result<Vec<Rational>> {
        let (from, to, points) = self.ends(&Rational::from(from), &Rational::from(to), 2)?;
        let end = |name: &str, end: &Rational| {
            let whole = if end.is_integer() { end.numer().to_i64().filter(|end| end.abs() <= 1 << 40) } else { None };
            whole.ok_or_else(|| Error::out_of_range(name, rational::display(end), "a whole number up to 2^40"))
        };
        let (first, last) = (end("from", &from)?, end("to", &to)?);
        let step = match self.points {
            Some(_) => ((last - first) / i64::from(points - 1)).max(1),
            None => 1,
        };
        if (last - first) / step >= i64::from(MOST_POINTS) {
            return Err(Error::out_of_range("to", last, &format!("a range of at most {MOST_POINTS} whole numbers")));
        }
        Ok((0..=(last - first) / step).map(|k| Rational::from(first + k * step)).collect())
    }

    /// Both ends of the horizontal axis and the number of points: by default the figure's own.
    pub(super) fn ends(&self, from: &Rational, to: &Rational, points: u32) -> Result<(Rational, Rational, u32)> {
        let (from, to) = (self.from.as_ref().unwrap_or(from), self.to.as_ref().unwrap_or(to));
        if from >= to {
            let (from, to) = (rational::display(from), rational::display(to));
            return Err(Error::conflict(format!("from = {from} must be smaller than to = {to}")));
        }
        let points = self.points.unwrap_or(points);
        if !(2..=MOST_POINTS).contains(&points) {
            return Err(Error::out_of_range("points", points, &format!("2 to {MOST_POINTS}")));
        }
        Ok((from.clone(), to.clone(), points))
    }
}

fn log10_approx(value: &Rational) -> f64 {
    Float::with_val(64, value).log10().to_f64()
}

/// 10^exponent, rounded to five digits.
fn decimal(exponent: f64) -> Rational {
    let whole = exponent.floor();
    let mantissa = (libm::pow(10_f64, exponent - whole) * 1e4).round() as i64;
    let power = whole as i64 - 4;
    let scale = Integer::from(10).pow(power.unsigned_abs().min(1 << 20) as u32);
    if power < 0 { Rational::from((mantissa, scale)) } else { Rational::from(mantissa) * scale }
}

/// `points` equally spaced exact numbers from `from` to `to`.
fn grid(from: &Rational, to: &Rational, points: u32) -> Vec<Rational> {
    let step = Rational::from(to - from) / (points - 1);
    (0..points).map(|k| Rational::from(&step * k) + from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(from: &str, to: &str, points: u32) -> Own {
        let number = |text: &str| Some(rational::parse(text).unwrap());
        Own { from: number(from), to: number(to), points: Some(points), ..Own::default() }
    }

    #[test]
    fn grids_have_both_ends_and_their_points() {
        let one = Rational::from(1);
        assert_eq!(own("0", "1", 5).grid(&one, &one, 3).unwrap()[1], Rational::from((1, 4)));
        let log = own("1e-400", "1e-2", 200).log_grid(&one, &one, 3).unwrap();
        assert_eq!((log.len(), log[0].clone(), log[199].clone()), (200, "1e-400".parse_exact(), "0.01".parse_exact()));
        assert!(log.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(own("-2", "8", 6).whole(0, 1).unwrap().len(), 6);
        assert!(own("0", "1", 5).log_grid(&one, &one, 3).is_err() && own("2", "1", 5).grid(&one, &one, 3).is_err());
        assert!(own("0.5", "2", 5).whole(0, 1).is_err() && own("0", "1", 1).grid(&one, &one, 3).is_err());
    }

    trait Exact {
        fn parse_exact(&self) -> Rational;
    }
    impl Exact for str {
        fn parse_exact(&self) -> Rational {
            rational::parse(self).unwrap()
        }
    }

    #[test]
    fn parameters_that_a_figure_does_not_accept_are_refused_by_name() {
        let given = Own { others: Some(3), ..Own::default() };
        assert!(given.check("f", &[Parameter::Others]).is_ok() && Own::default().check("f", &[]).is_ok());
        let message = given.check("f", &[Parameter::Rho, Parameter::Points]).unwrap_err().to_string();
        assert!(message.contains("others") && message.contains("rho, points"), "{message}");
        assert_eq!((Own::one::<u8>("x", &[]).unwrap(), Own::one("x", &[5]).unwrap()), (None, Some(&5)));
        assert!(Own::one("delta", &[1, 2]).unwrap_err().to_string().contains("delta is given 2 times"));
        assert!(given.check("f", &[]).unwrap_err().to_string().contains("as its paper has it"));
    }
}
