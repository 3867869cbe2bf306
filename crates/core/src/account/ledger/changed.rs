//! A ledger as one account, and the same ledger with another entry or with other noise.

use std::sync::Arc;

use rug::Rational;

use super::{Entry, Ledger, MOST_WITH_MIXES, gaussian};
use crate::{
    account::{Composition, Counts, Rho, Whole, paths::ManyWays},
    error::{Error, Result},
    law::Law,
    loss::{family::Units, parameter::Delta},
};

impl Entry {
    /// What one record changes in all, as it is given for two neighbors: where records change (`is_bounded`) the whole change, else what one record enters.
    pub fn of_change(name: &str, whole: &Whole, is_bounded: bool) -> Result<Entry> {
        let Whole::Composition(composition) = whole else {
            let why = format!(
                "{name}: block paths and mixes of groups are composed with a ledger as an entry: check the release with the ledger"
            );
            return Err(Error::unsuitable(why));
        };
        let (name, paths, rho) = (name.to_string(), vec![composition.clone()], composition.rho().clone());
        Ok(Entry { name, paths, mixes: Vec::new(), is_change: is_bounded, rho, part: None })
    }
}

impl Ledger {
    /// Everything composed as one account. An error where of some release only the budget is known, where mixes of groups are too many, and where the ways of a record
    /// differ in outputs that only one of two neighbors can have, or are not symmetric.
    pub fn whole(&self) -> Result<Whole> {
        let unknown = self.entries.iter().filter(|entry| entry.paths.is_empty()).map(|entry| entry.name.as_str());
        let unknown: Vec<&str> = unknown.collect();
        if !unknown.is_empty() {
            let why = format!(
                "of {} only the budget is known, which has no exact account with the other releases",
                unknown.join(", ")
            );
            return Err(Error::unsuitable(why));
        }
        let ways = self.combinations(|entry| entry.paths.len());
        if let Some(entry) =
            self.entries.iter().find(|entry| !entry.mixes.is_empty()).filter(|_| ways > MOST_WITH_MIXES)
        {
            let why =
                format!("the mixes of groups of {} are too many to be composed with the other releases", entry.name);
            return Err(Error::unsuitable(why));
        }
        let ways = self.all_ways(|entry| Ok(entry.paths.clone()))?;
        single_account(self.accounts(ways, self.change()?)?)
    }

    /// Everything composed as one account, and where mixes of groups are too many to be composed, between the mix that is worst for each release alone at delta, and a bound for all of them.
    pub fn whole_or_bound(&self, delta: &Delta) -> Result<Whole> {
        let has_budget_alone = self.entries.iter().any(|entry| entry.paths.is_empty());
        if has_budget_alone || self.combinations(|entry| entry.paths.len()) <= MOST_WITH_MIXES {
            return self.whole();
        }
        let (ways, of_mixes) = self.ways(delta)?;
        let some = single_account(self.accounts(ways, self.change()?)?)?;
        if of_mixes.is_empty() {
            return Ok(some);
        }
        let rho = self.rho_of(|_| true)?;
        let bound = gaussian::OfAll::new(&self.known(), rho.clone());
        Ok(Whole::ManyWays(Box::new(ManyWays::new(some, Arc::new(bound), rho, of_mixes)?)))
    }

    /// This ledger with one more release.
    pub fn with(&self, entry: Entry) -> Result<Ledger> {
        Ledger::new(self.entries.iter().cloned().chain([entry]).collect(), self.units)
    }

    /// The law of all noise of the last release; `None` if it has several, or only its budget is known.
    pub fn law_of_last(&self) -> Option<Law> {
        let mut laws = self.entries.last()?.paths.iter().flat_map(Composition::counts).map(|counts| &counts.law);
        let first = laws.next()?;
        laws.all(|law| law == first).then(|| first.clone())
    }

    /// This ledger, where all noise of the last release has another law. An error where that is out of range.
    pub fn with_law_of_last(&self, law: &Law) -> Result<Ledger> {
        let mut entries = self.entries.clone();
        if let Some(last) = entries.last_mut() {
            let with = |path: &Composition| {
                let counts: Result<Vec<Counts>> =
                    path.counts().iter().map(|counts| counts.with_law(law.clone())).collect();
                Composition::new(counts?)
            };
            last.paths = last.paths.iter().map(with).collect::<Result<_>>()?;
            let largest = last.paths.iter().map(Composition::rho).max().ok_or(Error::EmptyComposition)?;
            // A changed record leaves one way and enters another.
            let sides = if self.units == Units::Pairs && !last.is_change { 2_u32 } else { 1 };
            last.rho = Rho::new(Rational::from(&**largest * sides))?;
        }
        Ledger::new(entries, self.units)
    }
}

/// The account, where there is one.
fn single_account(mut accounts: Vec<Whole>) -> Result<Whole> {
    match (accounts.pop(), accounts.is_empty()) {
        (Some(only), true) => Ok(only),
        (None, _) => Err(Error::EmptyComposition),
        (Some(_), false) => Err(Error::unsuitable(
            "the ways of a record through these releases differ in outputs that only one of two neighbors can have, or are not symmetric: they are no single account",
        )),
    }
}
