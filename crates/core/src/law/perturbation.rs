//! Perturbation tables of the cell-key method: row i is the law of the published value where the true count is i.
//!
//! # The pairs
//!
//! A record moves a count from i to i + k, for an i and a k up to the shift that depend on the data. So a count is protected as badly as the least private pair of
//! rows (i, i + k). The last row is also that of every larger count, moved along with it: the noise of larger counts is the same. Which pairs matter, and the one
//! that bounds all of them, is in [`changes`](super::changes).

#[cfg(feature = "mechanisms")]
use std::path::Path;
use std::{cmp::Ordering, collections::BTreeMap};

use rug::Rational;

use super::{
    changes::{Change, Changes, envelope, largest_rho, undominated},
    facts::Facts,
    finite::Finite,
    likelihoods::{Likelihoods, MOST_VALUES},
    pair::Pair,
    responses::Rounding,
};
use crate::{
    error::{Error, Result},
    numeric::{Enclosure, rational},
};

#[cfg(feature = "mechanisms")]
use crate::io::csv_reader::{CsvTable, Reading};

/// The name in files and options.
pub(super) const KEY: &str = "p-table";

/// The largest count that has a row of its own, and the largest published value.
const MOST_ROW: u64 = 100_000;
/// The largest shift of an account.
const MOST_SHIFT: u64 = 1000;

/// A perturbation table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PerturbationTable {
    /// Its name, for texts.
    name: String,
    /// A row for each of the counts 0, 1, ...: the probability of each published value, above zero. They add up to one.
    rows: Vec<BTreeMap<u64, Rational>>,
    /// Whether the two directions are exchanged.
    is_reversed: bool,
    /// By how much a record changes a count.
    changes: Changes,
}

impl PartialOrd for PerturbationTable {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for PerturbationTable {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |table: &Self| (table.is_reversed, table.changes, table.name.clone());
        self.rows.cmp(&other.rows).then_with(|| key(self).cmp(&key(other)))
    }
}

impl PerturbationTable {
    /// The table of these true counts, published values and probabilities; those of probability zero are left out. An error unless every count from 0 to the
    /// last has probabilities that add up to exactly one, each published value once.
    pub fn new(name: &str, entries: impl IntoIterator<Item = (u64, u64, Rational)>) -> Result<Self> {
        let table = |why: String| Error::unsuitable(format!("{name}: {why}"));
        let mut rows: BTreeMap<u64, BTreeMap<u64, Rational>> = BTreeMap::new();
        let mut entered = 0;
        for (i, j, p) in entries {
            if i.max(j) > MOST_ROW {
                return Err(table(format!("the value {} is beyond {MOST_ROW}", i.max(j))));
            }
            if !(0..=1).contains(&p) {
                return Err(table(format!(
                    "the probability {} of {j} for the count {i} is none",
                    rational::display(&p)
                )));
            }
            if rows.entry(i).or_default().insert(j, p).is_some() {
                return Err(table(format!("the published value {j} occurs twice for the count {i}")));
            }
            entered += 1;
            if entered > MOST_VALUES {
                return Err(table(format!("it has more than {MOST_VALUES} entries")));
            }
        }
        if rows.is_empty() {
            return Err(table("it has no row".to_string()));
        }
        for (expected, (i, row)) in (0..).zip(&rows) {
            if expected != *i {
                return Err(table(format!(
                    "the count {expected} has no row: every count from 0 to the last needs one"
                )));
            }
            let sum: Rational = row.values().sum();
            if sum != 1 {
                let apart = Enclosure::rational(&Rational::from(&sum - 1_u32).abs(), 64).shown(6);
                let side = if sum > 1 { "more" } else { "less" };
                return Err(table(format!(
                    "the probabilities of the count {i} add up to {}, which is {apart} {side} than 1: probabilities must add up to exactly 1, as fractions such as 1/3 can",
                    rational::display(&sum)
                )));
            }
        }
        let rows = rows.into_values().map(|row| row.into_iter().filter(|(_, p)| *p > 0).collect()).collect();
        Ok(PerturbationTable { name: name.to_string(), rows, is_reversed: false, changes: Changes::Exactly })
    }

    /// Whether the two directions are exchanged.
    pub(super) fn is_reversed(&self) -> bool {
        self.is_reversed
    }

    #[cfg(feature = "mechanisms")]
    /// Reads a CSV file with the columns `i`, the true count, `j`, the published value, and `p`, its exact probability; the exports of the R package ptable
    /// for tau-Argus and SAS are read as they are, where a further column `v` has to be j - i. With `normalize` the probabilities of each count are
    /// divided by their sum. An error for other values, with their line, and as in [`PerturbationTable::new`].
    pub fn read(path: &Path, normalize: bool) -> Result<Self> {
        let mut file = CsvTable::read(path, Reading::default())?;
        let at = [file.column(&["i"])?, file.column(&["j"])?, file.column(&["p"])?];
        let (difference, kind) = (file.find(&["v"]), file.find(&["type"]));
        let mut entries: BTreeMap<(u64, u64), Rational> = BTreeMap::new();
        while file.next()? {
            let whole = |column| {
                let value = file.text(column)?.trim().parse::<u64>().ok().filter(|value| *value <= MOST_ROW);
                value.ok_or_else(|| file.refuse(column, "expected a whole number from 0 to 100000"))
            };
            let (i, j) = (whole(at[0])?, whole(at[1])?);
            let p =
                rational::parse(file.text(at[2])?.trim()).map_err(|error| file.refuse(at[2], &error.to_string()))?;
            if p < 0 || p > 1 && !normalize {
                return Err(file.refuse(at[2], "expected a probability from 0 to 1"));
            }
            if let Some(column) = difference
                && file.text(column)?.trim().parse::<i64>().ok() != Some(j as i64 - i as i64)
            {
                return Err(file.refuse(column, "expected the difference j - i of the published value and the count"));
            }
            if let Some(column) = kind
                && !matches!(file.text(column)?.trim(), "all" | "")
            {
                return Err(file.refuse(
                    column,
                    "a table for even or odd numbers of contributors is one for magnitudes, and not for counts",
                ));
            }
            if entries.len() == MOST_VALUES {
                return Err(file.refuse(at[0], &format!("a perturbation table has at most {MOST_VALUES} entries")));
            }
            if entries.insert((i, j), p).is_some() {
                return Err(file.refuse(at[1], "the published value occurs in an earlier line of this count as well"));
            }
        }
        if normalize {
            let mut sums: BTreeMap<u64, Rational> = BTreeMap::new();
            entries.iter().for_each(|((i, _), p)| *sums.entry(*i).or_default() += p);
            for ((i, _), p) in &mut entries {
                if let Some(sum) = sums.get(i).filter(|sum| **sum > 0) {
                    *p /= sum;
                }
            }
        }
        PerturbationTable::new(&crate::error::shown(path), entries.into_iter().map(|((i, j), p)| (i, j, p)))
    }

    /// Its name, for texts.
    pub fn title(&self) -> &str {
        &self.name
    }

    /// The true counts, published values and probabilities above zero, in increasing order.
    pub fn entries(&self) -> impl Iterator<Item = (u64, u64, &Rational)> {
        (0..).zip(&self.rows).flat_map(|(i, row)| row.iter().map(move |(j, p)| (i, *j, p)))
    }

    /// The same with the two directions exchanged: that of a count which a changed record enters, beside one that it leaves.
    pub(crate) fn reversed(&self) -> Self {
        PerturbationTable { is_reversed: !self.is_reversed, ..self.clone() }
    }

    /// The same for these changes of a count.
    pub(crate) fn with_changes(&self, changes: Changes) -> Self {
        PerturbationTable { changes, ..self.clone() }
    }

    /// The probability of a published value where the count is i.
    fn probability(&self, i: u64, j: u64) -> Rational {
        let last = self.rows.len() as u64 - 1;
        let moved = i.saturating_sub(last);
        let of_row = j.checked_sub(moved).and_then(|j| self.rows[i.min(last) as usize].get(&j));
        of_row.cloned().unwrap_or_default()
    }

    /// The published values of a count.
    fn values(&self, i: u64) -> impl Iterator<Item = u64> {
        let last = self.rows.len() as u64 - 1;
        let moved = i.saturating_sub(last);
        self.rows[i.min(last) as usize].keys().map(move |j| j + moved)
    }

    /// The pair of the counts i + shift, with the record, and i.
    fn pair(&self, i: u64, shift: u64) -> Likelihoods {
        let with = i + shift;
        let own = self.values(with).map(|j| (self.probability(with, j), self.probability(i, j)));
        let others = self.values(i).filter(|j| self.probability(with, *j) == 0);
        let others = others.map(|j| (Rational::new(), self.probability(i, j)));
        let likelihoods = Likelihoods::of_outcomes(own.chain(others));
        if self.is_reversed { likelihoods.reversed() } else { likelihoods }
    }

    /// The pairs of rows that some choice of rows may need, each with the least counts that have it.
    fn undominated(&self, shift: u64) -> Vec<Change<[u64; 2]>> {
        let of_row = |i: u64| {
            let of = move |(change, records)| Change { at: [i, i + change], records, pair: self.pair(i, change) };
            self.changes.up_to(shift).map(of)
        };
        undominated((0..self.rows.len() as u64).flat_map(of_row))
    }

    /// The pairs of rows that some choice of rows may need, under their names, each with the number of records that it takes.
    pub(super) fn alternatives(&self, shift: u64) -> Result<Vec<(u64, Pair)>> {
        let named = |Change { at: [i, with], records, pair }: Change<[u64; 2]>| {
            Ok((records, Pair::of_likelihoods(&format!("{}, counts {i} and {with}", self.name), pair)?))
        };
        self.undominated(shift).into_iter().map(named).collect()
    }

    /// The pair that is at most as private as every pair of rows, in every composition.
    pub(super) fn envelope(&self, shift: u64) -> Likelihoods {
        envelope(&self.undominated(shift))
    }

    /// An error where two counts have too many different losses.
    pub(crate) fn check_shift(&self, shift: u64) -> Result<()> {
        self.changes.check(&self.name, shift, self.entries().count())?;
        let pairs = |i: u64| self.changes.up_to(shift).map(move |(change, _)| self.pair(i, change));
        (0..self.rows.len() as u64).flat_map(pairs).try_for_each(|pair| pair.check(&self.name))
    }
}

impl<'a> Facts<'a> for &'a PerturbationTable {
    fn names(&self) -> [&'static str; 2] {
        ["cell-key", KEY]
    }

    fn label(&self) -> Option<&'a str> {
        Some(&self.name)
    }

    /// Never: which rows count depends on the data.
    fn is_symmetric(&self) -> bool {
        false
    }

    fn has_infinite_loss(&self) -> bool {
        true
    }

    fn is_bounded(&self) -> bool {
        true
    }

    fn most_shift(&self) -> u64 {
        MOST_SHIFT
    }

    fn largest_loss(&self, shift: u64) -> Option<Rational> {
        self.envelope(shift).largest_loss()
    }

    fn has_exact_rho(&self) -> bool {
        false
    }

    fn rho(&self, shift: u64) -> Rational {
        largest_rho(&self.undominated(shift))
    }

    /// Those of the dominating pair, where a record is removed.
    fn finite(&self, shift: u64) -> Option<Finite> {
        (&self.envelope(shift).outcomes(Rounding::Up)).finite(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{law::changes::is_above, numeric::rational::parse};

    fn table(entries: &[(u64, u64, &str)]) -> Result<PerturbationTable> {
        PerturbationTable::new("p.csv", entries.iter().map(|(i, j, p)| (*i, *j, parse(p).unwrap())))
    }

    #[test]
    fn rows_are_checked() {
        let good = [(0, 0, "1"), (1, 0, "1/2"), (1, 2, "1/2"), (2, 1, "1/4"), (2, 2, "1/2"), (2, 3, "1/4")];
        assert!(table(&good).is_ok());
        for (bad, expected) in [
            (&good[1..], "the count 0 has no row"),
            (&[(0, 0, "1"), (2, 2, "1")], "the count 1 has no row"),
            (&[(0, 0, "1"), (0, 0, "0")], "occurs twice"),
            (&[(0, 0, "1"), (1, 0, "1/3"), (1, 1, "1/3")], "the count 1 add up to 2/3"),
            (&[(0, 0, "3/2"), (0, 1, "-1/2")], "is none"),
            (&[], "no row"),
        ] {
            let error = table(bad).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    /// The last row goes on for larger counts, and the envelope is above every pair.
    #[test]
    fn the_envelope_is_above_every_row() {
        let table = table(&[
            (0, 0, "1"),
            (1, 0, "1/2"),
            (1, 1, "1/4"),
            (1, 2, "1/4"),
            (2, 1, "1/4"),
            (2, 2, "1/2"),
            (2, 3, "1/4"),
        ])
        .unwrap();
        assert_eq!(table.probability(7, 8), parse("1/4").unwrap());
        for shift in [1, 2] {
            let envelope = table.envelope(shift).best_tests();
            for i in 0..5 {
                assert!(is_above(&envelope, &table.pair(i, shift).best_tests()), "{shift} {i}");
            }
            assert!(table.undominated(shift).len() < 4);
        }
        // Where a count of zero is never changed, a published value above zero proves a record.
        let pairs = table.undominated(1);
        assert_eq!(*pairs[0].pair.infinite(), parse("1/2").unwrap());
    }
}
