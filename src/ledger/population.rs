//! The entries of a population as an account.

use rug::Rational;

use super::{
    entry::{LedgerEntry, Spent},
    promise::LedgerPromise,
};
use crate::{
    account::{
        Composition, Rho,
        conditions::SAMPLES,
        ledger::{Entry, Ledger},
    },
    error::{Error, Result},
    io::provenance::sha256_of_text,
    loss::family::Units,
    release::{Changed, Neighbors, Release},
};

/// Records of one kind and what one of them enters.
#[derive(Clone, Debug)]
pub struct Population {
    /// The kind of the records.
    pub name: String,
    /// The relation of the account.
    pub neighbors: Neighbors,
    /// The counts that one of them changes.
    pub entries: Vec<LedgerEntry>,
    /// Entries that were added, never published, and for which no noise was drawn: they spent nothing.
    pub never_drawn: Vec<LedgerEntry>,
    /// The promise of the ledger, where it is one for noise that may follow from results: the account of the entries is then one for other noise.
    pub(super) adaptive: Option<LedgerPromise>,
}

/// The hash of what an entry accounts for, in the form that is written and in that of versions up to 0.2.0, which is read as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Accounted {
    /// With the masses of tables, pairs and cell keys.
    pub(super) hash: String,
    before: String,
}

impl Accounted {
    fn of_entry(entry: &Entry) -> Self {
        let (hash, before) = (sha256_of_text(&entry.accounted()), sha256_of_text(&entry.accounted_before()));
        Accounted { hash, before }
    }

    /// Whether a ledger or a log that holds this hash means the same account.
    pub(super) fn is(&self, stated: &str) -> bool {
        self.hash == stated || self.before == stated
    }
}

/// The counts that one record changes: each of several ways, the mixes in words, and whether the only way is the whole change of a changed record.
type Ways = (Vec<Composition>, Vec<String>, bool);

/// The condition of an account beside a promise for noise that may follow from results.
const FIXED: &str = "This account is of noise that was fixed before any result was seen.";

impl Population {
    /// Records of one kind and what one of them enters.
    pub fn new(name: String, neighbors: Neighbors, entries: Vec<LedgerEntry>) -> Self {
        Population { name, neighbors, entries, never_drawn: Vec::new(), adaptive: None }
    }

    /// The account of the population; an error if nothing was entered.
    pub fn ledger(&self) -> Result<Ledger> {
        let entries = self.entries.iter().map(|entry| self.entry(entry)).collect::<Result<_>>()?;
        let units = if self.neighbors == Neighbors::Bounded { Units::Pairs } else { Units::Single };
        Ledger::new(entries, units)
    }

    /// The conditions of what its entries spend, a sentence for each; none holds of the account where it does not hold of every entry.
    pub fn conditions_of_entries(&self) -> Vec<String> {
        let own = self.entries.iter().filter_map(LedgerEntry::conditional);
        let releases = self.entries.iter().filter_map(LedgerEntry::release).flat_map(|release| &release.levels);
        let is_sampled = releases.flat_map(|level| &level.queries).any(|query| query.law.is_sampled());
        own.chain(is_sampled.then(|| SAMPLES.to_string())).collect()
    }

    /// The conditions of the account of all entries: also that of a ledger whose noise may follow from results.
    pub fn conditions(&self) -> Vec<String> {
        let of_promise = self.adaptive.as_ref().map(|LedgerPromise { epsilon, delta, .. }| {
            format!(
                "{FIXED} Where the noise of a release, or whether there is one, followed from earlier results, \
                 the promise of the ledger holds: epsilon at most {epsilon} at delta = {delta}."
            )
        });
        self.conditions_of_entries().into_iter().chain(of_promise).collect()
    }

    /// The same of everything entered with a mechanism that the promise does not cover.
    pub fn conditions_without_promise(&self) -> Vec<String> {
        let fixed = self.adaptive.as_ref().map(|_| FIXED.to_string());
        self.conditions_of_entries().into_iter().chain(fixed).collect()
    }

    /// The names of all entries.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.entries.iter().chain(&self.never_drawn).map(|entry| entry.name.as_str())
    }

    /// Whether the guarantee of an entry is about another relation than the population's.
    pub fn converts(&self, entry: &LedgerEntry) -> bool {
        entry.neighbors() != self.neighbors
    }

    /// By what the rho of a budget is multiplied where it is about one record more or less and a record changes, which is one less and one more. Of the
    /// program's own measurements the counts are known: none falls where a record enters, and each has Gaussian noise of its own, so the two add. Of rho
    /// alone, two steps cost 2^2 times as much (Bun & Steinke 2016, Proposition 1.9).
    fn factor_of_budget(&self, entry: &LedgerEntry) -> u32 {
        match (self.converts(entry), self.multiplies_rho_alone(entry)) {
            (false, _) => 1,
            (true, true) => 4,
            (true, false) => 2,
        }
    }

    /// Whether nothing but the rho of a release about one record more or less is known, where a record changes.
    pub fn multiplies_rho_alone(&self, entry: &LedgerEntry) -> bool {
        self.converts(entry) && entry.release().is_some_and(|release| release.budget_only)
    }

    /// The counts that one record changes in an entry.
    pub(super) fn entry(&self, entry: &LedgerEntry) -> Result<Entry> {
        let (name, part) = (entry.name.clone(), entry.part.clone());
        let budget = match &entry.spent {
            Spent::Budget { rho, .. } => Some(rho),
            Spent::Release(release) => Some(&release.rho).filter(|_| release.budget_only),
            Spent::Ways { .. } => None,
        };
        if let Some(rho) = budget {
            let rho = Rho::new(Rational::from(rho * self.factor_of_budget(entry)) * entry.times)?;
            return Ok(Entry { name, paths: Vec::new(), mixes: Vec::new(), is_change: false, rho, part });
        }
        if entry.release().is_some_and(|release| self.leaves_as_it_is(release)) {
            let why = format!(
                "{name}: no count of it moves (moves = 0): a changed record leaves it as it is, so that it adds nothing to the account. Leave the entry out: the account of the others is exact"
            );
            return Err(Error::unsuitable(why));
        }
        let (paths, mixes, is_change) = match &entry.spent {
            Spent::Release(release) => self.ways(release)?,
            Spent::Ways { ways, .. } => (ways.clone(), Vec::new(), false),
            Spent::Budget { .. } => (Vec::new(), Vec::new(), false),
        };
        let repeated = |path: Composition| if entry.times == 1 { Ok(path) } else { path.repeated(entry.times) };
        let paths: Vec<Composition> = paths.into_iter().map(repeated).collect::<Result<_>>()?;
        if self.neighbors == Neighbors::Bounded && paths.iter().any(Composition::is_sampled) {
            let why = format!("{name}: Poisson samples are accounted for under neighbors = \"add-remove\" only");
            return Err(Error::unsuitable(why));
        }
        let largest = paths.iter().map(Composition::rho).max().ok_or(Error::EmptyComposition)?;
        // A changed record leaves one way and enters another.
        let sides = if self.neighbors == Neighbors::Bounded && !is_change { 2_u32 } else { 1 };
        let rho = Rho::new(Rational::from(&**largest * sides))?;
        Ok(Entry { name, paths, mixes, is_change, rho, part })
    }

    /// Whether no count of a release changes where a record does.
    fn leaves_as_it_is(&self, release: &Release) -> bool {
        let mut queries = release.levels.iter().flat_map(|level| &level.queries);
        queries.all(|query| query.changed.times(self.neighbors).is_ok_and(|times| times == 0))
    }

    /// The hashes of what one publication of an entry about all records spends.
    pub(super) fn account_of_one(&self, entry: &LedgerEntry) -> Result<Accounted> {
        let once = LedgerEntry { times: 1, part: None, ..entry.clone() };
        Ok(Accounted::of_entry(&self.entry(&once)?))
    }

    /// The entries that no line of the log added, each with the hashes of its account.
    pub(super) fn by_hand(&self) -> Result<Vec<(String, Accounted)>> {
        let own = self.entries.iter().filter(|entry| entry.log.is_none());
        own.map(|entry| Ok((entry.name.clone(), Accounted::of_entry(&self.entry(entry)?)))).collect()
    }

    /// The counts that a record enters, in each of several ways or in one; one side of a change under bounded neighbors, if its counts have sides.
    fn ways(&self, release: &Release) -> Result<Ways> {
        let queries = || release.levels.iter().flat_map(|level| &level.queries);
        let is_whole = |changed: Changed| matches!(changed, Changed::AsGiven | Changed::Guaranteed);
        let is_change = self.neighbors == Neighbors::Bounded && queries().any(|query| is_whole(query.changed));
        if is_change && (release.paths.is_some() || !release.mixes.is_empty()) {
            let expected = "a population without counts_as_given: its counts have no side that a record leaves or enters, as block paths and \
                            mixes of groups need it";
            return Err(Error::malformed("the release", &release.name, expected));
        }
        if release.paths.is_some() {
            return Ok((release.path_compositions()?, Vec::new(), false));
        }
        let all = release.places(&[] as &[&str])?;
        if !release.mixes.is_empty() {
            let (words, ways) = release.mixes_at(&all, self.neighbors)?.into_iter().unzip();
            return Ok((ways, words, false));
        }
        let neighbors = self.neighbors;
        let times = move |changed: Changed| match is_change {
            true => changed.times(neighbors),
            // A guarantee about a record more or less is on the only side that there is.
            false if changed == Changed::Guaranteed => Ok(1),
            false => changed.times_a_side(neighbors),
        };
        Ok((vec![release.composition_times(&all, neighbors, &times)?], Vec::new(), is_change))
    }
}
