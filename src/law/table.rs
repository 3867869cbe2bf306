//! Noise by its masses: any finite table of integers and their probabilities, symmetric about some point.
//!
//! A count that moves by the shift moves the table with it. An output at x of one neighbor is the noise x - shift of the other: the loss is ln f(x) / f(x -
//! shift) where both are possible, and infinite where the other is not. Reflection about the middle of both tables exchanges the neighbors, so the pair is
//! symmetric. Losses are logarithms of rationals, which lie on no lattice: see [`responses`](super::responses).

use std::{cmp::Ordering, collections::BTreeMap};
#[cfg(feature = "mechanisms")]
use std::{collections::HashSet, path::Path};

use rug::Rational;

use super::{
    facts::{Facts, Range},
    finite::Finite,
    responses::{Responses, Rounding},
};
use crate::{
    error::{Error, Result},
    numeric::{Enclosure, rational},
};

#[cfg(feature = "mechanisms")]
use crate::io::csv_reader::{CsvTable, Reading};

/// The name in files and options.
pub(super) const KEY: &str = "table";

/// The largest number of values of a table, and the largest absolute value.
pub(super) const MOST_VALUES: usize = 100_000;
const MOST_VALUE: i64 = 1_000_000_000_000;
/// The largest number of likelihood ratios: their logarithms are enumerated.
const MOST_RATIOS: usize = 2000;

/// A finite table of noise.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NoiseTable {
    /// Its name, for texts.
    name: String,
    /// The probability of each value, above zero, in increasing order of values. They add up to one.
    masses: BTreeMap<i64, Rational>,
    /// One, because there is no parameter that scales it.
    one: Rational,
}

impl PartialOrd for NoiseTable {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for NoiseTable {
    fn cmp(&self, other: &Self) -> Ordering {
        self.masses.cmp(&other.masses).then_with(|| self.name.cmp(&other.name))
    }
}

impl NoiseTable {
    /// The table of these values and probabilities. Values of probability zero are left out. An error for a value that occurs twice, a probability that is
    /// negative, probabilities that do not add up to exactly one, or a table that is not symmetric.
    pub fn new(name: &str, rows: impl IntoIterator<Item = (i64, Rational)>) -> Result<Self> {
        let table = |why: String| Error::unsuitable(format!("{name}: {why}"));
        let mut masses: BTreeMap<i64, Rational> = BTreeMap::new();
        for (value, mass) in rows {
            if value.abs() > MOST_VALUE {
                return Err(table(format!("the value {value} is beyond 10^12")));
            }
            if !(0..=1).contains(&mass) {
                return Err(table(format!(
                    "the mass {} of the value {value} is no probability",
                    rational::display(&mass)
                )));
            }
            if masses.insert(value, mass).is_some() {
                return Err(table(format!("the value {value} occurs twice")));
            }
            if masses.len() > MOST_VALUES {
                return Err(table(format!("it has more than {MOST_VALUES} values")));
            }
        }
        let sum: Rational = masses.values().sum();
        if sum != 1 {
            let apart = Enclosure::rational(&Rational::from(&sum - 1_u32).abs(), 64).shown(6);
            let side = if sum > 1 { "more" } else { "less" };
            return Err(table(format!(
                "its masses add up to {}, which is {apart} {side} than 1: they must add up to exactly 1, as fractions such as 1/3 can",
                rational::display(&sum)
            )));
        }
        masses.retain(|_, mass| *mass > 0);
        let (Some((first, _)), Some((last, _))) = (masses.first_key_value(), masses.last_key_value()) else {
            return Err(table("it has no value".to_string()));
        };
        let twice_middle = first + last;
        if let Some((value, mass)) =
            masses.iter().find(|(value, mass)| masses.get(&(twice_middle - **value)) != Some(mass))
        {
            let partner = twice_middle - value;
            return Err(table(format!(
                "it is not symmetric: the value {value} has the mass {}, and its mirror image {partner} has {}; tables that are not symmetric are not accounted for yet",
                rational::display(mass),
                rational::display(masses.get(&partner).unwrap_or(&Rational::new()))
            )));
        }
        Ok(NoiseTable { name: name.to_string(), masses, one: Rational::from(1) })
    }

    #[cfg(feature = "mechanisms")]
    /// Reads a CSV file with the columns `value`, an integer, and `mass`, an exact number such as `1/3` or `0.25`. With `normalize` masses are divided by their
    /// sum. An error for other values, with their line, and as in [`NoiseTable::new`].
    pub fn read(path: &Path, normalize: bool) -> Result<Self> {
        let mut file = CsvTable::read(path, Reading::default())?;
        let (value_at, mass_at) = (file.column(&["value"])?, file.column(&["mass"])?);
        let mut rows: Vec<(i64, Rational)> = Vec::new();
        let mut seen: HashSet<i64> = HashSet::new();
        while file.next()? {
            let value = file.text(value_at)?.trim().parse::<i64>();
            let Ok(value) = value else {
                return Err(file.refuse(value_at, "expected an integer, as in -3"));
            };
            let mass =
                rational::parse(file.text(mass_at)?).map_err(|error| file.refuse(mass_at, &error.to_string()))?;
            if mass < 0 || mass > 1 && !normalize {
                return Err(file.refuse(mass_at, "expected a probability from 0 to 1"));
            }
            if !seen.insert(value) {
                return Err(file.refuse(value_at, "the value occurs in an earlier line as well"));
            }
            if rows.len() == MOST_VALUES {
                return Err(file.refuse(value_at, &format!("a table has at most {MOST_VALUES} values")));
            }
            rows.push((value, mass));
        }
        let sum: Rational = rows.iter().map(|(_, mass)| mass).sum();
        if normalize && sum > 0 {
            rows.iter_mut().for_each(|(_, mass)| *mass /= &sum);
        }
        NoiseTable::new(&path.display().to_string(), rows)
    }

    /// The values with their probabilities, in increasing order.
    pub fn masses(&self) -> impl Iterator<Item = (i64, &Rational)> {
        self.masses.iter().map(|(value, mass)| (*value, mass))
    }

    /// The likelihood ratios f(x) / f(x - shift) of at least one, each with the probability of it or its inverse given that the loss is finite; and the
    /// probability that it is not.
    fn ratios(&self, shift: u64) -> (Vec<(Rational, Rational)>, Rational) {
        let mut ratios: BTreeMap<Rational, Rational> = BTreeMap::new();
        let mut finite = Rational::new();
        for (value, mass) in &self.masses {
            let moved = i64::try_from(shift).ok().and_then(|shift| value.checked_sub(shift));
            let Some(other) = moved.and_then(|moved| self.masses.get(&moved)) else { continue };
            let ratio = Rational::from(mass / other);
            let ratio = if ratio < 1 { ratio.recip() } else { ratio };
            *ratios.entry(ratio).or_default() += mass;
            finite += mass;
        }
        let infinite = Rational::from(1 - &finite);
        (ratios.into_iter().map(|(ratio, mass)| (ratio, mass / &finite)).collect(), infinite)
    }

    /// The pair of a count that moves by `shift`, rounded to losses on a lattice.
    pub(crate) fn rounded(&self, shift: u64, rounding: Rounding) -> Responses {
        let (ratios, infinite) = self.ratios(shift);
        Responses::new(&ratios, infinite, rounding)
    }

    /// An error where neighbors share no output at this shift, or have too many different losses.
    pub(crate) fn check_shift(&self, shift: u64) -> Result<()> {
        let (ratios, _) = self.ratios(shift);
        if ratios.is_empty() {
            return Err(Error::unsuitable(format!(
                "two counts that differ by {shift} have no output in common with this table: delta is 1 at every epsilon"
            )));
        }
        if ratios.len() > MOST_RATIOS {
            let expected = format!("at most {MOST_RATIOS} different likelihood ratios of at least 1");
            return Err(Error::out_of_range("the number of likelihood ratios of a table", ratios.len(), &expected));
        }
        Ok(())
    }
}

impl<'a> Facts<'a> for &'a NoiseTable {
    fn name(&self) -> &'static str {
        "tabulated"
    }

    fn label(&self) -> Option<&'a str> {
        Some(&self.name)
    }

    fn key(&self) -> &'static str {
        KEY
    }

    fn parameter(&self) -> (&'static str, &'a Rational) {
        ("scale", &self.one)
    }

    fn has_infinite_loss(&self) -> bool {
        true
    }

    fn is_bounded(&self) -> bool {
        true
    }

    fn check(&self) -> Result<()> {
        Ok(())
    }

    fn most_shift(&self) -> u64 {
        2 * MOST_VALUE as u64
    }

    fn parameter_times(&self, _: &Rational) -> Rational {
        self.one.clone()
    }

    fn factors(&self) -> Range {
        Range { least: self.one.clone(), most: self.one.clone() }
    }

    fn rho_divisor(&self, _: &Rational) -> Rational {
        self.one.clone()
    }

    /// Those of the pair that is at most as private.
    fn finite(&self, shift: u64) -> Option<Finite> {
        (&self.rounded(shift, Rounding::Up)).finite(1)
    }

    /// 1 / variance.
    fn precision_approx(&self) -> Rational {
        let mean: Rational = self.masses.iter().map(|(value, mass)| Rational::from(mass * *value)).sum();
        let square = |value: i64| Rational::from(value).square();
        let variance = self.masses.iter().map(|(value, mass)| square(*value) * mass).sum::<Rational>() - mean.square();
        if variance > 0 { variance.recip() } else { self.one.clone() }
    }
}
