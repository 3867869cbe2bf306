//! Perturbation tables of the cell-key method: row i is the law of the published value where the true count is i.
//!
//! # The pairs
//!
//! A record moves a count from i to i + k, for an i and a k up to the shift that depend on the data. So a count is protected as badly as the least private pair of
//! rows (i, i + k). The last rows, a period of them, are repeated for all larger counts, moved along with these: a count has the noise of the one that is a period
//! smaller. By default the period is one, so that the last row is that of every larger count. Where i is beyond the last row, the pair is that of i less a multiple of the
//! period, moved along: the pairs of all i that have a row are all pairs. Which of them matter, and the one that bounds all of them, is in
//! [`changes`](super::changes).

#[cfg(feature = "mechanisms")]
pub(super) mod keys;
#[cfg(feature = "mechanisms")]
mod layouts;

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

/// The name in files and options.
pub(super) const KEY: &str = "p-table";
/// The most pairs of rows that are compared, of random rounding.
const MOST_PAIRS: usize = 500;
/// The same of random rounding.
pub(super) const ROUNDING: &str = "random-rounding";

/// The largest count that has a row of its own, and the largest published value.
const MOST_ROW: u64 = 100_000;
/// The largest shift of an account.
const MOST_SHIFT: u64 = 1000;

/// A perturbation table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PerturbationTable {
    /// Its name, for texts.
    name: String,
    /// Its name, and its period if that is not one.
    label: String,
    /// A row for each of the counts 0, 1, ...: the probability of each published value, above zero. They add up to one.
    rows: Vec<BTreeMap<u64, Rational>>,
    /// The number of the last rows that are repeated for larger counts.
    period: u64,
    /// Whether its file has no row of the count 0, which is then published as it is.
    is_zero_added: bool,
    /// The base of random rounding; `None` for tables by their rows.
    base: Option<Rational>,
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
        let key = |table: &Self| (table.period, table.is_reversed, table.changes, table.label.clone());
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
        let (name, label) = (name.to_string(), name.to_string());
        let (is_zero_added, base, is_reversed, changes) = (false, None, false, Changes::Exactly);
        Ok(PerturbationTable { name, label, rows, period: 1, is_zero_added, base, is_reversed, changes })
    }

    /// The same where the last `period` rows are repeated for all larger counts, moved along with them. An error unless it has as many rows.
    pub fn with_period(self, period: u64) -> Result<Self> {
        let most = self.rows.len() as u64 - u64::from(self.is_zero_added);
        if !(1..=most).contains(&period) {
            let expected = format!("from 1 to {most}, the number of the rows of {}", self.name);
            return Err(Error::out_of_range("period", period, &expected));
        }
        let label = if period == 1 { self.name.clone() } else { format!("{} of period {period}", self.name) };
        Ok(PerturbationTable { label, period, ..self })
    }

    /// The same, made by random rounding to this base.
    pub(super) fn of_base(self, base: u64) -> Self {
        PerturbationTable { base: Some(Rational::from(base)), ..self }
    }

    /// The base of random rounding; `None` for tables by their rows.
    pub fn base(&self) -> Option<&Rational> {
        self.base.as_ref()
    }

    /// The number of the last rows that are repeated for larger counts.
    pub fn period(&self) -> u64 {
        self.period
    }

    /// Its rows for counts that are larger than the last, as a sentence; and that of the count 0, if its file has none.
    pub fn about_rows(&self) -> String {
        let (last, from) = (self.rows.len() - 1, self.rows.len() as u64 - self.period);
        let repeated = match self.period {
            1 => "The last row of a perturbation table stands for all larger counts, moved along with them: their noise is the same.".to_string(),
            _ => format!(
                "The rows {from} to {last} of {} are repeated for all larger counts, moved along with them: their noise is the same.",
                self.name
            ),
        };
        let zero = format!(" {} has no row of the count 0: it is taken to be published as 0.", self.name);
        if self.is_zero_added { repeated + &zero } else { repeated }
    }

    /// Whether the two directions are exchanged.
    pub(crate) fn is_reversed(&self) -> bool {
        self.is_reversed
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

    /// The row of a count, and by how much it is moved along: a multiple of the period.
    fn row(&self, i: u64) -> (&BTreeMap<u64, Rational>, u64) {
        let beyond = (i + 1).saturating_sub(self.rows.len() as u64);
        let moved = beyond.div_ceil(self.period) * self.period;
        (&self.rows[(i - moved) as usize], moved)
    }

    /// The probability of a published value where the count is i.
    fn probability(&self, i: u64, j: u64) -> Rational {
        let (row, moved) = self.row(i);
        j.checked_sub(moved).and_then(|j| row.get(&j)).cloned().unwrap_or_default()
    }

    /// The published values of a count.
    fn values(&self, i: u64) -> impl Iterator<Item = u64> {
        let (row, moved) = self.row(i);
        row.keys().map(move |j| j + moved)
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

    /// The pairs of rows that some choice of rows may need, under their names, each with the number of records that it takes and both counts.
    pub(super) fn alternatives(&self, shift: u64) -> Result<Vec<(u64, [u64; 2], Pair)>> {
        let named = |Change { at: [i, with], records, pair }: Change<[u64; 2]>| {
            let name = format!("{}, counts {i} and {with}", self.name);
            Ok((records, [i, with], Pair::of_likelihoods(&name, pair)?))
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
        (0..self.rows.len() as u64).flat_map(pairs).try_for_each(|pair| pair.check(&self.name))?;
        let choices = self.undominated(shift).len();
        if self.base.is_some() && choices > MOST_PAIRS {
            let expected = format!("at most {MOST_PAIRS} pairs: give a smaller base or change");
            return Err(Error::out_of_range(
                &format!("{}: the number of pairs of rows to compare", self.name),
                choices,
                &expected,
            ));
        }
        Ok(())
    }
}

impl<'a> Facts<'a> for &'a PerturbationTable {
    fn names(&self) -> [&'static str; 2] {
        if self.base.is_some() { ["random rounding", ROUNDING] } else { ["cell-key", KEY] }
    }

    fn label(&self) -> Option<&'a str> {
        self.base.is_none().then_some(&self.label)
    }

    fn parameter(&self) -> (&'static str, &'a Rational) {
        self.base.as_ref().map_or(("scale", Rational::ONE), |base| ("base", base))
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

    /// Rows of the counts 0 to 4, of which the last three are repeated: each larger count has the row of the count three below, moved by three.
    #[test]
    fn the_last_rows_are_repeated() {
        let halves = [(0, [0, 1]), (1, [0, 3]), (2, [2, 3]), (3, [1, 5]), (4, [4, 6])];
        let entries: Vec<_> = halves.iter().flat_map(|(i, values)| values.map(|j| (*i, j, "1/2"))).collect();
        let own = table(&entries).unwrap();
        let published = |table: &PerturbationTable, i| table.values(i).collect::<Vec<_>>();
        let three = own.clone().with_period(3).unwrap();
        for (i, expected) in [(4, [4, 6]), (5, [5, 6]), (6, [4, 8]), (7, [7, 9]), (8, [8, 9]), (10, [10, 12])] {
            assert_eq!(published(&three, i), expected, "{i}");
            assert_eq!(published(&three, i + 3_000_000), expected.map(|j| j + 3_000_000), "{i}");
        }
        assert_eq!(published(&own, 6), [6, 8]);
        // Over one whole period beyond the last row each pair is one of those that begin in a row.
        for (period, shift) in [(1, 1), (1, 2), (2, 1), (3, 1), (3, 2), (3, 7), (5, 4)] {
            let table = own.clone().with_period(period).unwrap();
            let envelope = table.envelope(shift).best_tests();
            for i in 0..25 {
                assert!(is_above(&envelope, &table.pair(i, shift).best_tests()), "{period} {shift} {i}");
            }
        }
        // Rows 4 and 5 have the value 6 in common where the period is three, and 5 has none of 4 where it is one.
        assert_eq!(*three.pair(4, 1).infinite(), parse("1/2").unwrap());
        assert_eq!(*own.pair(4, 1).infinite(), 1);
        for period in [0, 6] {
            let error = own.clone().with_period(period).unwrap_err().to_string();
            assert!(error.contains("from 1 to 5"), "{error}");
        }
    }
}
