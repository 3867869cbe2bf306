//! Everything in a population as a mechanism, for the answers that other mechanisms have: risk, curves, a report.

use rug::Rational;

use super::{entry::LedgerEntry, file::LedgerFile, population::Population};
use crate::{
    account::{Counts, Delta, Whole, ledger::Ledger},
    error::{Error, Result},
    release::{
        Neighbors, is_guarantee,
        subject::{Resolved, Together},
    },
};

/// Where mixes of groups are too many to be composed, the one that is worst for a release alone is that at this delta.
const AT_DELTA: (u64, u64) = (1, 10_000_000_000);

impl LedgerFile {
    /// The population of this name, or the only one. An error for an unknown name, and for none where there are several.
    pub fn population(&self, name: Option<&str>) -> Result<&Population> {
        let place = self.place_of(name).map_err(Error::conflict)?;
        Ok(&self.populations[place])
    }

    /// All releases of a population as one mechanism, whose parts are the releases, each alone. An error where there is no single account of all.
    pub fn resolved(&self, population: &Population) -> Result<Resolved> {
        if population.entries.is_empty() {
            let why = format!("nothing was entered for {} in the ledger {}", population.name, self.name);
            return Err(Error::missing(why));
        }
        let ledger = population.ledger()?;
        let whole = ledger.whole_or_bound(&Delta::new(Rational::from(AT_DELTA))?)?;
        let of_too_many = matches!(whole, Whole::ManyWays(_))
            .then_some("the mixes of groups are too many to be composed, and the account is a bound for all of them");
        let (mut parts, mut counts) = (Vec::new(), Vec::new());
        for (entry, of) in ledger.entries().iter().zip(&population.entries) {
            let alone = Ledger::new(vec![entry.clone()], ledger.units())?;
            parts.push((of.shown(), alone.whole()?));
            counts.extend(counts_of(&alone).into_iter().map(|own| (of.shown(), own)));
        }
        let count = parts.len();
        let releases = if count == 1 { "1 release".to_string() } else { format!("{count} releases composed") };
        let together = Together {
            title: format!("{}: {}, {releases}", self.name, population.name),
            neighbors: population.neighbors,
            whole,
            parts,
            counts,
            may_be_more_private: population.may_be_more_private(&ledger).or(of_too_many),
            conditions: population.conditions(),
        };
        together.resolved()
    }
}

impl Population {
    /// Why the releases of a ledger of this population may be more private than their account, in words; `None` if the account is that of the declared mechanisms.
    pub fn may_be_more_private(&self, ledger: &Ledger) -> Option<&'static str> {
        let is_twice = |count: Option<u64>| count == Some(2);
        if self.neighbors == Neighbors::Bounded
            && self.entries.iter().any(|entry| self.converts(entry) || is_twice(entry.times_each_count(self.neighbors)))
        {
            return Some(
                "counts that a changed record may leave and enter are counted twice, also where it does neither",
            );
        }
        if self.entries.iter().any(LedgerEntry::has_free_rows) {
            return Some(
                "rows that a record moves into cells of any choice are accounted for as if all were in one cell of every query",
            );
        }
        if counts_of(ledger).iter().any(|counts| is_guarantee(&counts.law)) {
            return Some(
                "some of the noise is known by a guarantee alone, which a mechanism with less loss has as well",
            );
        }
        let several = ledger.entries().iter().filter(|entry| entry.paths.len() > 1).count();
        (several > 1)
            .then_some("it is not known which way through one release a record takes together with which of another")
    }
}

/// Every noise of the releases once.
fn counts_of(ledger: &Ledger) -> Vec<Counts> {
    let mut kept: Vec<Counts> = Vec::new();
    for counts in ledger.entries().iter().flat_map(|entry| &entry.paths).flat_map(|path| path.counts()) {
        if !kept.contains(counts) {
            kept.push(counts.clone());
        }
    }
    kept
}
