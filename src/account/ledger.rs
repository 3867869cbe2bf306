//! The composition of several releases about the same people.
//!
//! Each release lists what one record enters on each of its paths ([`WorstPath`]); a release without paths has one path. It is not known
//! which path of one release a record takes together with which path of another, so all combinations are considered. The worst combination
//! is an upper bound on the true one.
//!
//! When a record changes, it leaves some counts and enters others, so everything that one record enters counts twice. This is exact for a
//! release with the same neighbor relation. For a release whose guarantee is about adding or removing one record it is the conservative
//! conversion: a changed record is one removed and one added, and in the worst case the two move different counts.

use rug::Rational;

use super::{
    Composition,
    compared::{Compared, Conversion},
    conversions,
    paths::WorstPath,
    profile::Account,
};
use crate::{
    error::{Error, Result},
    loss::{
        answer::Answer,
        family::Units,
        parameter::{Delta, Rho},
    },
    numeric::Enclosure,
};

/// The largest number of combinations of paths.
const MOST_COMBINATIONS: usize = 5_000;
/// The largest number of combinations of block paths and all mixes of groups that is composed.
const MOST_WITH_MIXES: usize = 200;

/// A release in a ledger.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// What one record enters on each path, or by each mix of its groups; empty if only the budget is known.
    pub paths: Vec<Composition>,
    /// The mixes in words, where the ways are mixes of groups; empty where they are block paths.
    pub mixes: Vec<String>,
    /// Its zCDP rho under the ledger's relation.
    pub rho: Rho,
}

/// Releases about the same people under one neighbor relation.
#[derive(Clone, Debug)]
pub struct Ledger {
    entries: Vec<Entry>,
    units: Units,
}

/// The privacy of one entry, or of all together.
#[derive(Clone, Debug)]
pub struct Balance {
    /// The zCDP rho.
    pub rho: Rho,
    /// The exact epsilon; `None` if only the budget is known.
    pub epsilon: Option<Answer>,
    /// The epsilon that rho implies by the best order.
    pub zcdp_epsilon: Enclosure,
    /// The account that the exact epsilon is compared with: pure DP if every loss is bounded and its epsilon is at most that of rho by the
    /// best order; else that.
    pub compared: Compared,
    /// Of releases composed: those of which one mix of groups is composed, the one that is worst for the release alone, and that
    /// mix in words. About a record of another mix the epsilon does not speak.
    pub of_mixes: Vec<(String, String)>,
}

impl Ledger {
    /// A ledger of at least one release. An error without releases, or for more than 5000 combinations of their paths.
    pub fn new(entries: Vec<Entry>, units: Units) -> Result<Self> {
        if entries.is_empty() {
            return Err(Error::EmptyComposition);
        }
        // Where all mixes would be too many, at most the two that a changed record leaves and enters.
        let ways = |entry: &Entry| if entry.mixes.is_empty() { entry.paths.len().max(1) } else { 2 };
        let combinations = entries.iter().fold(1_usize, |all, entry| all.saturating_mul(ways(entry)));
        if combinations > MOST_COMBINATIONS {
            let expected = format!("at most {MOST_COMBINATIONS} combinations of the paths of all releases");
            return Err(Error::out_of_range("the number of combinations of paths", combinations, &expected));
        }
        Ok(Ledger { entries, units })
    }

    /// The releases.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Each release alone, in order.
    pub fn each(&self, delta: &Delta, digits: u32) -> Result<Vec<Balance>> {
        self.entries
            .iter()
            .map(|entry| self.balance(entry.paths.clone(), entry.rho.clone().into(), delta, digits))
            .collect()
    }

    /// The exact composition of all releases whose counts are known: the worst over all block paths and mixes of groups. If these
    /// combinations are too many, the mix that is worst for a release alone represents that release.
    pub fn composed(&self, delta: &Delta, digits: u32) -> Result<Balance> {
        let known = || self.entries.iter().filter(|entry| !entry.paths.is_empty());
        let (mut all, mut of_mixes): (Vec<Composition>, _) = (Vec::new(), Vec::new());
        let every = known().fold(1_usize, |all, entry| all.saturating_mul(entry.paths.len()));
        for entry in known() {
            let worst_alone = if every > MOST_WITH_MIXES { self.worst_mix(entry, delta)? } else { None };
            let ways = match worst_alone {
                None => entry.paths.clone(),
                Some((ways, mix)) => {
                    of_mixes.push((entry.name.clone(), mix));
                    ways
                }
            };
            all = match all.is_empty() {
                true => ways,
                false => {
                    (all.iter()).flat_map(|before| ways.iter().map(|way| before.compose(way))).collect::<Result<_>>()?
                }
            };
        }
        let rho = known().fold(Rational::new(), |sum, entry| sum + &*entry.rho);
        Ok(Balance { of_mixes, ..self.balance(all, rho, delta, digits)? })
    }

    /// Everything composed, if one record enters each release in one way only, so that there is nothing to take the worst of; `None` otherwise, and if
    /// of some release only the budget is known.
    pub fn single(&self) -> Result<Option<Composition>> {
        let mut all: Option<Composition> = None;
        for entry in &self.entries {
            let [only] = &entry.paths[..] else { return Ok(None) };
            all = Some(match all {
                None => only.clone(),
                Some(before) => before.compose(only)?,
            });
        }
        all.map(|all| WorstPath::new(vec![all], self.units)?.composition((0, 0))).transpose()
    }

    /// The mix of an entry, or the pair of them, that decides its own epsilon, and its words; `None` for an entry without mixes.
    fn worst_mix(&self, entry: &Entry, delta: &Delta) -> Result<Option<(Vec<Composition>, String)>> {
        const DIGITS: u32 = 8;
        if entry.mixes.is_empty() {
            return Ok(None);
        }
        let answer = WorstPath::new(entry.paths.clone(), self.units)?.epsilon(delta, DIGITS)?;
        let (p, q) = answer.pair().unwrap_or_default();
        let (way, words) = (|at: usize| entry.paths.get(at).cloned(), |at: usize| entry.mixes.get(at).cloned());
        let places = if p == q || self.units == Units::Single { vec![p] } else { vec![p, q] };
        let words: Vec<String> = places.iter().filter_map(|place| words(*place)).collect();
        Ok(Some((places.iter().filter_map(|place| way(*place)).collect(), words.join(" and "))))
    }

    /// The zCDP rho of all releases, whether or not their counts are known, and the epsilon that it implies by the best order: an upper
    /// bound.
    pub fn total(&self, delta: &Delta, digits: u32) -> Result<Balance> {
        let rho = self.entries.iter().fold(Rational::new(), |sum, entry| sum + &*entry.rho);
        self.balance(Vec::new(), rho, delta, digits)
    }

    fn balance(&self, paths: Vec<Composition>, rho: Rational, delta: &Delta, digits: u32) -> Result<Balance> {
        let rho = Rho::new(rho)?;
        let zcdp_epsilon = match paths.first().and_then(Account::infinite_loss) {
            None => conversions::zcdp_epsilon_optimal(&rho, delta)?.epsilon,
            Some(_) => Conversion::BestOrder
                .epsilon(&WorstPath::new(paths.clone(), self.units)?, delta, digits)?
                .ok_or(Error::Unbounded { what: "the epsilon that rho gives at this delta" })?,
        };
        let by_rho = Compared { by: Conversion::BestOrder, epsilon: zcdp_epsilon.clone(), published: None };
        if paths.is_empty() {
            return Ok(Balance { rho, epsilon: None, zcdp_epsilon, compared: by_rho, of_mixes: Vec::new() });
        }
        let is_bounded = paths.iter().all(|path| path.pure_epsilon().is_some());
        let worst = WorstPath::new(paths, self.units)?;
        let pure = if is_bounded { Conversion::Pure.epsilon(&worst, delta, digits)? } else { None };
        let compared = match pure {
            Some(epsilon) if epsilon.upper() <= zcdp_epsilon.upper() => {
                Compared { by: Conversion::Pure, epsilon, published: None }
            }
            _ => by_rho,
        };
        let epsilon = Some(worst.epsilon(delta, digits)?);
        Ok(Balance { rho, epsilon, zcdp_epsilon, compared, of_mixes: Vec::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, paths: &[&[&str]]) -> Entry {
        let composition = |path: &&[&str]| Composition::new(path.iter().map(|counts| counts.parse().unwrap())).unwrap();
        let paths: Vec<Composition> = paths.iter().map(composition).collect();
        let rho = Rational::from(&**paths[0].rho() * 2_u32).try_into().unwrap();
        Entry { name: name.to_string(), rho, paths, mixes: Vec::new() }
    }

    #[test]
    fn a_ledger_is_the_worst_combination_of_paths() {
        let delta: Delta = "1e-8".parse().unwrap();
        // Both paths of the first spend 1/2.
        let entries = vec![entry("a", &[&["5x5"], &["2x2"]]), entry("b", &[&["40/3x7"]]), entry("c", &[&["2.5x1"]])];
        let ledger = Ledger::new(entries, Units::Pairs).unwrap();
        let composed = ledger.composed(&delta, 10).unwrap();
        let of = |counts: &[&str]| {
            let all = Composition::new(counts.iter().map(|counts| counts.parse().unwrap())).unwrap();
            assert_eq!(*all.rho(), composed.rho);
            all.epsilon(&delta, 12).unwrap().value
        };
        let rest = ["40/3x14", "2.5x2"];
        let pairs = [["5x10", "5x0"], ["5x5", "2x2"], ["2x4", "5x0"]]
            .map(|pair| of(&pair.into_iter().filter(|counts| !counts.ends_with("x0")).chain(rest).collect::<Vec<_>>()));
        let largest = pairs[1..].iter().fold(pairs[0].clone(), |largest, pair| largest.max(pair));
        let epsilon = composed.epsilon.unwrap();
        assert!(epsilon.met && epsilon.value.overlaps(&largest), "{epsilon:?} {largest:?}");
        for (balance, entry) in ledger.each(&delta, 10).unwrap().iter().zip(ledger.entries()) {
            assert_eq!(balance.rho, entry.rho);
            let alone = &balance.epsilon.as_ref().unwrap().value;
            assert!(alone.upper() < epsilon.value.lower() && alone.upper() <= balance.zcdp_epsilon.upper());
        }
    }

    #[test]
    fn a_release_with_only_a_known_budget_enters_the_bound_alone() {
        let delta: Delta = "1e-8".parse().unwrap();
        let unknown = Entry { name: "u".to_string(), paths: Vec::new(), mixes: Vec::new(), rho: "1".parse().unwrap() };
        let ledger = Ledger::new(vec![entry("a", &[&["5x5"]]), unknown], Units::Pairs).unwrap();
        assert_eq!(ledger.composed(&delta, 8).unwrap().rho, 1);
        let total = ledger.total(&delta, 8).unwrap();
        assert!(total.rho == 2 && total.epsilon.is_none());
        assert!(Ledger::new(Vec::new(), Units::Pairs).is_err());
    }
}
