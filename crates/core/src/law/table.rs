//! Noise by its masses: any finite table of integers and their probabilities.
//!
//! A count that moves by the shift moves the table with it. An output at x of one neighbor is the noise x - shift of the other: the loss is ln f(x - shift) /
//! f(x) where both are possible, and infinite where the other is not. Where the table is symmetric about some point, reflection about the middle of both
//! tables exchanges the neighbors, and the pair is symmetric; else its first hypothesis is that of the count with the record, which is higher by the
//! shift. The reflected table has the two directions exchanged, since f(s - y) / f(-y) is the inverse ratio at s - y. Losses are logarithms of rationals, which
//! lie on no lattice: see [`responses`](super::responses) and [`outcomes`](super::outcomes).

use std::{cmp::Ordering, collections::BTreeMap};
#[cfg(feature = "mechanisms")]
use std::{collections::HashSet, path::Path};

use rug::Rational;

use super::{
    changes::{Change, Changes, envelope, largest_rho, undominated},
    facts::Facts,
    finite::Finite,
    likelihoods::{Likelihoods, MOST_VALUES, check_sum},
    pair::Pair,
    responses::Rounding,
    shape::Shape,
};
use crate::{
    error::{Error, Result},
    numeric::rational,
};

#[cfg(feature = "mechanisms")]
use crate::io::csv_reader::{CsvTable, Reading};

/// The name in files and options.
pub(super) const KEY: &str = "table";

/// The largest absolute value.
const MOST_VALUE: i64 = 1_000_000_000_000;

/// A finite table of noise.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NoiseTable {
    /// Its name, for texts.
    name: String,
    /// The probability of each value, above zero, in increasing order of values. They add up to one.
    masses: BTreeMap<i64, Rational>,
    /// By how much a record changes a count: by exactly the shift, which is the worst, where smaller changes need not be compared.
    changes: Changes,
}

impl PartialOrd for NoiseTable {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for NoiseTable {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |table: &Self| (table.changes, table.name.clone());
        self.masses.cmp(&other.masses).then_with(|| key(self).cmp(&key(other)))
    }
}

impl NoiseTable {
    /// The table of these values and probabilities. Values of probability zero are left out. An error for a value that occurs twice, a probability that is
    /// negative, or probabilities that do not add up to exactly one.
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
        check_sum(name, "its masses", masses.values())?;
        masses.retain(|_, mass| *mass > 0);
        Ok(NoiseTable { name: name.to_string(), masses, changes: Changes::Exactly })
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
        NoiseTable::new(&crate::error::shown(path), rows)
    }

    /// Its name, for texts.
    pub fn title(&self) -> &str {
        &self.name
    }

    /// The values with their probabilities, in increasing order.
    pub fn masses(&self) -> impl Iterator<Item = (i64, &Rational)> {
        self.masses.iter().map(|(value, mass)| (*value, mass))
    }

    /// The same for these changes of a count by up to `shift`. Smaller ones are not compared where the largest is the worst in every composition: of a table that is
    /// log-concave, and where it leaves no output in common. An error where there are too many to compare.
    pub(crate) fn with_changes(&self, changes: Changes, shift: u64) -> Result<Self> {
        let with = |changes| NoiseTable { changes, ..self.clone() };
        let ends = self.masses.first_key_value().zip(self.masses.last_key_value());
        let span = ends.map_or(0, |((first, _), (last, _))| last.abs_diff(*first));
        let is_of_one = matches!(changes, Changes::UpTo { one } if one >= shift);
        if changes == Changes::Exactly || self.is_log_concave() || is_of_one && shift > span {
            return Ok(with(Changes::Exactly));
        }
        changes.check(&self.name, shift, self.masses.len())?;
        let with = with(changes);
        match &with.undominated(shift)[..] {
            [Change { at, .. }] if *at == shift => Ok(NoiseTable { changes: Changes::Exactly, ..with }),
            _ => Ok(with),
        }
    }

    /// By how much a record changes a count.
    pub(crate) fn changes(&self) -> Changes {
        self.changes
    }

    /// The pairs of all changes that some choice may need.
    fn undominated(&self, shift: u64) -> Vec<Change<u64>> {
        let of = |(at, records)| Change { at, records, pair: self.likelihoods_of(at) };
        undominated(self.changes.up_to(shift).map(of))
    }

    /// The same under their names, each with the number of records that it takes; `None` where a count has one pair.
    pub(super) fn alternatives(&self, shift: u64) -> Result<Option<Vec<(u64, Pair)>>> {
        let named = |Change { at, records, pair }| {
            Ok((records, Pair::of_likelihoods(&format!("{}, a change by {at}", self.name), pair)?))
        };
        let all = |()| self.undominated(shift).into_iter().map(named).collect();
        (self.changes != Changes::Exactly).then_some(()).map(all).transpose()
    }

    /// The likelihood ratios of a count that changes by the shift, or of a pair that is at most as private as those of all its changes.
    pub(super) fn likelihoods(&self, shift: u64) -> Likelihoods {
        match self.changes {
            Changes::Exactly => self.likelihoods_of(shift),
            Changes::UpTo { .. } => envelope(&self.undominated(shift)),
        }
    }

    /// The likelihood ratios of a count that moves by `shift`: f(x - shift) with the record against f(x) without it.
    fn likelihoods_of(&self, shift: u64) -> Likelihoods {
        let shift = i64::try_from(shift).unwrap_or(i64::MAX);
        let at = |value: Option<i64>| value.and_then(|value| self.masses.get(&value)).cloned();
        let own = self.masses.iter().map(|(value, p)| (p.clone(), at(value.checked_add(shift)).unwrap_or_default()));
        // Outcomes that only the other count can have.
        let is_own = |value: &i64| value.checked_sub(shift).is_some_and(|value| self.masses.contains_key(&value));
        let others = self.masses.iter().filter(|(value, _)| !is_own(value));
        Likelihoods::of_outcomes(own.chain(others.map(|(_, q)| (Rational::new(), q.clone()))))
    }

    /// Whether the table is symmetric about some point.
    pub fn is_mirrored(&self) -> bool {
        self.masses.iter().zip(self.masses.iter().rev()).all(|((low, own), (high, other))| {
            let ends = self.masses.first_key_value().zip(self.masses.last_key_value());
            own == other && ends.is_some_and(|((first, _), (last, _))| low + high == first + last)
        })
    }

    /// Whether it is log-concave: m(k)^2 >= m(k - 1) m(k + 1), without gaps. Then a larger change is never less private.
    pub fn is_log_concave(&self) -> bool {
        let masses: Vec<(i64, &Rational)> = self.masses().collect();
        let has_gap = masses.windows(2).any(|two| two[1].0 - two[0].0 != 1);
        let is_concave = |three: &[(i64, &Rational)]| {
            Rational::from(three[1].1 * three[1].1) >= Rational::from(three[0].1 * three[2].1)
        };
        !has_gap && masses.windows(3).all(is_concave)
    }

    /// The table of the negative of the noise: its pairs have the two directions exchanged.
    pub(crate) fn reflected(&self) -> Self {
        let masses = self.masses.iter().map(|(value, mass)| (-value, mass.clone())).collect();
        NoiseTable { name: self.name.clone(), masses, changes: self.changes }
    }

    /// An error where neighbors have too many different losses.
    pub(crate) fn check_shift(&self, shift: u64) -> Result<()> {
        self.likelihoods(shift).check(&self.name)
    }
}

impl<'a> Facts<'a> for &'a NoiseTable {
    fn names(&self) -> [&'static str; 2] {
        ["tabulated", KEY]
    }

    fn label(&self) -> Option<&'a str> {
        Some(&self.name)
    }

    fn has_infinite_loss(&self) -> bool {
        true
    }

    fn is_bounded(&self) -> bool {
        true
    }

    fn most_shift(&self) -> u64 {
        2 * MOST_VALUE as u64
    }

    /// Whether each of two neighbors is to the other as the other is to it: the noise is symmetric, and a count has one pair.
    fn is_symmetric(&self) -> bool {
        self.changes == Changes::Exactly && self.is_mirrored()
    }

    fn largest_loss(&self, shift: u64) -> Option<Rational> {
        match self.is_symmetric() {
            true => self.finite(shift).map(|finite| finite.largest),
            false => self.likelihoods(shift).largest_loss(),
        }
    }

    fn has_exact_rho(&self) -> bool {
        false
    }

    fn rho(&self, shift: u64) -> Rational {
        match self.is_symmetric() {
            true => self.largest_loss(shift).unwrap_or_default().square() / 2_u32,
            false => largest_rho(&self.undominated(shift)),
        }
    }

    /// Those of a pair that is at most as private, where a record is removed.
    fn finite(&self, shift: u64) -> Option<Finite> {
        let likelihoods = self.likelihoods(shift);
        match self.is_symmetric() {
            true => (&likelihoods.responses(Rounding::Up)).finite(1),
            false => (&likelihoods.outcomes(Rounding::Up)).finite(1),
        }
    }

    fn shape(&self) -> Option<Shape> {
        Some(Shape::Listed(self.masses().map(|(value, mass)| (value, mass.clone())).collect()))
    }

    /// 1 / variance.
    fn precision_approx(&self) -> Rational {
        let mean: Rational = self.masses.iter().map(|(value, mass)| Rational::from(mass * *value)).sum();
        let square = |value: i64| Rational::from(value).square();
        let variance = self.masses.iter().map(|(value, mass)| square(*value) * mass).sum::<Rational>() - mean.square();
        if variance > 0 { variance.recip() } else { Rational::from(1) }
    }
}
