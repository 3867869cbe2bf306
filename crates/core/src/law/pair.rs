//! Two hypotheses by the probabilities of finitely many outcomes: any mechanism whose outputs for two neighbors are known.
//!
//! The outcomes need no names and no order: only their likelihood ratios matter ([`likelihoods`](super::likelihoods)). A pair need not be symmetric: the first
//! hypothesis against the second is one direction, in which a record is removed, and the second against the first the other.

use std::cmp::Ordering;
#[cfg(feature = "mechanisms")]
use std::path::Path;

use rug::Rational;

use super::{
    facts::Facts,
    finite::Finite,
    likelihoods::{Direction, Likelihoods, MOST_VALUES, check_sum},
    responses::Rounding,
};
use crate::{
    error::{Error, Result},
    numeric::rational,
};

#[cfg(feature = "mechanisms")]
use crate::io::csv_reader::{CsvTable, Reading};

/// The name in files and options.
pub(super) const KEY: &str = "pair";

/// Two hypotheses with finitely many outcomes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pair {
    /// Its name, for texts.
    name: String,
    likelihoods: Likelihoods,
    is_symmetric: bool,
}

impl PartialOrd for Pair {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Pair {
    fn cmp(&self, other: &Self) -> Ordering {
        self.likelihoods.cmp(&other.likelihoods).then_with(|| self.name.cmp(&other.name))
    }
}

impl Pair {
    /// The pair of these outcomes, each with its probability under the first and the second hypothesis. An error for a probability that is not from 0 to 1,
    /// probabilities that do not add up to exactly one, hypotheses without a common outcome, or too many likelihood ratios.
    pub fn new(name: &str, outcomes: impl IntoIterator<Item = (Rational, Rational)>) -> Result<Self> {
        let mut kept = Vec::new();
        for (at, (p, q)) in outcomes.into_iter().enumerate() {
            for (probability, which) in [(&p, "first"), (&q, "second")] {
                if !(0..=1).contains(probability) {
                    let shown = rational::display(probability);
                    let what = format!("{name}: the probability of outcome {} under the {which} hypothesis", at + 1);
                    return Err(Error::out_of_range(&what, shown, "a probability from 0 to 1"));
                }
            }
            if kept.len() == MOST_VALUES {
                let expected = format!("at most {MOST_VALUES} outcomes");
                return Err(Error::out_of_range(&format!("{name}: the number of outcomes"), "more", &expected));
            }
            if p > 0 || q > 0 {
                kept.push((p, q));
            }
        }
        check_sum(name, "p", kept.iter().map(|(p, _)| p))?;
        check_sum(name, "q", kept.iter().map(|(_, q)| q))?;
        Pair::of_likelihoods(name, Likelihoods::of_outcomes(kept))
    }

    /// The pair of these likelihood ratios; an error where there are none, or too many.
    pub(super) fn of_likelihoods(name: &str, likelihoods: Likelihoods) -> Result<Self> {
        likelihoods.check(name)?;
        // A symmetric law needs a finite loss other than zero.
        let is_symmetric = likelihoods.is_symmetric() && !likelihoods.is_trivial();
        Ok(Pair { name: name.to_string(), likelihoods, is_symmetric })
    }

    #[cfg(feature = "mechanisms")]
    /// Reads a CSV file with the columns `p` and `q`: in each line the exact probabilities of one outcome, such as `1/3` or `0.25`, with the record and without it. With
    /// `normalize` each column is divided by its sum. An error for other values, with their line, and as in [`Pair::new`].
    pub fn read(path: &Path, normalize: bool) -> Result<Self> {
        let mut file = CsvTable::read(path, Reading::default())?;
        let at = [file.column(&["p"])?, file.column(&["q"])?];
        let mut rows: Vec<(Rational, Rational)> = Vec::new();
        while file.next()? {
            let number = |column| {
                let number = rational::parse(file.text(column)?);
                let number = number.map_err(|error| file.refuse(column, &error.to_string()))?;
                if number < 0 || number > 1 && !normalize {
                    return Err(file.refuse(column, "expected a probability from 0 to 1"));
                }
                Ok(number)
            };
            let row = (number(at[0])?, number(at[1])?);
            if rows.len() == MOST_VALUES {
                return Err(file.refuse(at[0], &format!("a pair has at most {MOST_VALUES} outcomes")));
            }
            rows.push(row);
        }
        if normalize {
            let sums: [Rational; 2] = [rows.iter().map(|(p, _)| p).sum(), rows.iter().map(|(_, q)| q).sum()];
            if sums.iter().all(|sum| *sum > 0) {
                rows.iter_mut().for_each(|(p, q)| {
                    *p /= &sums[0];
                    *q /= &sums[1];
                });
            }
        }
        Pair::new(&crate::error::shown(path), rows)
    }

    /// Its name, for texts.
    pub fn title(&self) -> &str {
        &self.name
    }

    /// Its outcomes with their probabilities under the first and the second hypothesis; those of one likelihood ratio are one.
    pub fn outcomes(&self) -> Vec<(Rational, Rational)> {
        self.likelihoods.outcomes_of_both()
    }

    /// Its likelihood ratios.
    pub(super) fn likelihoods(&self) -> &Likelihoods {
        &self.likelihoods
    }
}

impl<'a> Facts<'a> for &'a Pair {
    fn names(&self) -> [&'static str; 2] {
        ["pair of hypotheses", KEY]
    }

    fn label(&self) -> Option<&'a str> {
        Some(&self.name)
    }

    fn is_guarantee(&self) -> bool {
        true
    }

    fn is_symmetric(&self) -> bool {
        self.is_symmetric
    }

    fn has_infinite_loss(&self) -> bool {
        Direction::ALL.into_iter().any(|direction| *self.likelihoods.towards(direction).infinite() > 0)
    }

    fn is_bounded(&self) -> bool {
        true
    }

    fn most_shift(&self) -> u64 {
        1
    }

    fn largest_loss(&self, shift: u64) -> Option<Rational> {
        if self.is_symmetric {
            self.finite(shift).map(|finite| finite.largest)
        } else {
            self.likelihoods.largest_loss()
        }
    }

    fn has_exact_rho(&self) -> bool {
        false
    }

    fn rho(&self, shift: u64) -> Rational {
        if self.is_symmetric {
            self.largest_loss(shift).unwrap_or_default().square() / 2_u32
        } else {
            self.likelihoods.rho()
        }
    }

    /// Those of a pair that is at most as private, where a record is removed.
    fn finite(&self, _: u64) -> Option<Finite> {
        match self.is_symmetric {
            true => (&self.likelihoods.responses(Rounding::Up)).finite(1),
            false => (&self.likelihoods.outcomes(Rounding::Up)).finite(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    fn pair(outcomes: &[(&str, &str)]) -> Result<Pair> {
        Pair::new("pair.csv", outcomes.iter().map(|(p, q)| (parse(p).unwrap(), parse(q).unwrap())))
    }

    #[test]
    fn probabilities_are_checked() {
        assert!(pair(&[("1/2", "1/3"), ("1/2", "2/3"), ("0", "0")]).is_ok());
        // Without a common outcome every loss is infinite.
        assert!(pair(&[("1", "0"), ("0", "1")]).is_ok());
        for outcomes in
            [&[][..], &[("1/2", "1/3"), ("1/2", "1/3")], &[("1/2", "1"), ("1/3", "0")], &[("3/2", "1"), ("-1/2", "0")]]
        {
            assert!(pair(outcomes).is_err(), "{outcomes:?}");
        }
    }
}
