//! The composition of several releases about the same people.
//!
//! Each release lists what one record enters on each of its paths ([`WorstPath`]); a release without paths has one path. It is not known
//! which path of one release a record takes together with which path of another, so all combinations are considered. The worst combination
//! is an upper bound on the true one.
//!
//! When a record changes, it leaves some counts and enters others, so everything that one record enters counts twice. This is exact for a
//! release with the same neighbor relation. For a release whose guarantee is about adding or removing one record it is the conservative
//! conversion: a changed record is one removed and one added, and in the worst case the two move different counts.
//!
//! # Partitions
//!
//! A partition is a rule by which each record lies in exactly one part, decided by that record alone: the day of a trip, the region of a home. An
//! entry about one part uses the records of that part and no others, with noise independent of all other noise.
//!
//! *One record more or less.* Let x lie in part a. The records of every other part are the same for both neighbors, so, given all earlier outputs, the outputs
//! about these parts have the same law for both, and their loss is 0. The pair of neighbors is that of the entries about a, composed with the entries about all
//! records. Whoever publishes does not know a: delta(epsilon) of everything is the maximum over a, and over one part of each partition where there are
//! several. So a partition adds ways in which a record enters the counts, just as block paths do, and nothing else: no sum over parts.
//!
//! *One record changed.* The old record lies in part a and the new one in part b, and a change may choose both: TWO parts change if a and b differ. Part a
//! loses a record, which leaves the counts of a way p of part a; part b gains one, which enters those of a way q of part b. The pair is that of p composed with q,
//! and the account is the maximum over all pairs of ways, of the same part or not ([`Units::Pairs`]). The maximum over changes within one part
//! would be too small: coarse Laplace noise of one part and Gaussian noise of another together can be worse than either twice (a test below has the numbers). A guarantee about
//! changed records says nothing about a part that loses or gains one, so an entry that is known for a change as a whole ([`Entry::is_change`]) is refused in a part.
//!
//! A way whose counts another way has as well is left out: to publish fewer counts is post-processing of publishing more, so its delta is at most that of the
//! other at every epsilon, alone or composed with anything.

mod changed;
mod gaussian;
mod worst;

use std::collections::{BTreeMap, BTreeSet};

use rug::Rational;

use self::worst::{beside, classes, has_delta, is_bounded, larger, largest, together, within, zcdp_epsilon};
use super::{
    Composition, Counts,
    compared::{Compared, Conversion},
    paths::{MOST_PAIRS, Whole, WorstPath},
    profile::Account,
};
use crate::{
    error::{Error, Result},
    loss::{
        answer::Answer,
        family::Units,
        infinite::InfiniteLoss,
        parameter::{Delta, Epsilon, Rho},
    },
    numeric::{Certainty, Enclosure},
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
    /// The counts that one record changes on each path, or by each mix of its groups; empty if only the budget is known.
    pub paths: Vec<Composition>,
    /// The mixes in words, where the ways are mixes of groups; empty where they are block paths.
    pub mixes: Vec<String>,
    /// Whether the only path is what a change of one record changes in all, and not what a record enters: counts as given, or a guarantee.
    pub is_change: bool,
    /// Its zCDP rho under the ledger's relation.
    pub rho: Rho,
    /// The part of a partition that it is about; `None` if it is about all records.
    pub part: Option<Part>,
}

impl Entry {
    /// Everything of it that decides the account, as a text: its ways in a fixed order, with the masses of tables, pairs and cell keys, and neither
    /// names nor comments. The hash of this text is what ledgers and logs hold.
    pub fn accounted(&self) -> String {
        format!("account 2\n{}", self.accounted_by(Counts::accounted))
    }

    /// The text whose hash ledgers and logs of versions up to 0.2.0 hold: of tables, pairs and cell keys it has the names, and not the masses.
    pub fn accounted_before(&self) -> String {
        self.accounted_by(|counts| format!("{counts}{}", if counts.free_rows { " rows" } else { "" }))
    }

    /// Whether rho is a formula of the parameters of its noise, and no upper bound on logarithms.
    fn has_exact_rho(&self) -> bool {
        self.paths.iter().all(Composition::has_exact_rho)
    }

    fn accounted_by(&self, count: impl Fn(&Counts) -> String) -> String {
        let way = |path: &Composition| {
            let mut counts: Vec<String> = path.counts().iter().map(&count).collect();
            counts.sort();
            counts.join(", ")
        };
        let ways: BTreeSet<String> = self.paths.iter().map(way).collect();
        let part = self.part.as_ref().map(|part| (&part.partition, &part.part));
        let ways: String = ways.into_iter().map(|way| format!("{way}\n")).collect();
        format!("rho {}, change {}, part {part:?}\n{ways}", *self.rho, self.is_change)
    }
}

/// A part of a partition: a rule by which each record lies in exactly one part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The name of the partition.
    pub partition: String,
    /// The name of the part.
    pub part: String,
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
    /// Whether that is a formula of the parameters of all noise, and no upper bound on logarithms.
    pub has_exact_rho: bool,
    /// Outputs that only one of two neighbors can have, where there are some: of the account in which they are most probable.
    pub infinite_loss: Option<InfiniteLoss>,
    /// The exact epsilon; `None` if only the budget is known.
    pub epsilon: Option<Answer>,
    /// The epsilon that rho implies by the best order.
    pub zcdp_epsilon: Enclosure,
    /// The account that the exact epsilon is compared with: pure DP if every loss is bounded and its epsilon is at most that of rho by the
    /// best order; else that.
    pub compared: Compared,
    /// The composed releases of which one mix of groups is composed, the one that is worst for the release alone, and that
    /// mix in words. The lower end of epsilon is of these mixes; the upper end bounds every combination of mixes.
    pub of_mixes: Vec<(String, String)>,
}

/// An upper bound on the epsilon of everything in a ledger.
#[derive(Clone, Debug)]
pub struct Spent {
    /// The certified enclosure whose upper end is the bound.
    pub epsilon: Enclosure,
    /// Whether it is that of the composition. Otherwise it follows from the sum of all rho, because of some entry only the budget is known.
    pub is_composed: bool,
    /// The sum of all rho.
    pub rho: Rho,
    /// The epsilon that this sum implies.
    pub zcdp_epsilon: Enclosure,
    /// The smaller of that and of the sum of the epsilons of pure guarantees, where every entry has one: the union of two filters ([`Ledger::adaptive_epsilon`]).
    pub adaptive_epsilon: Enclosure,
    /// That sum of the epsilons of pure guarantees, exactly: no epsilon of everything is larger.
    pub pure_epsilon: Option<Rational>,
}

/// All ways in which a record enters the entries whose counts are known, and the mixes of groups that stand for others.
type Ways = (Vec<Composition>, Vec<(String, String)>);

impl Ledger {
    /// A ledger of at least one release; with [`Units::Pairs`] a record changes, and leaves one way and enters another. An error without releases, for more than 5000
    /// combinations of their paths, and for what is known for a change as a whole where one part of a partition may lose a record and another gain one.
    pub fn new(entries: Vec<Entry>, units: Units) -> Result<Self> {
        if entries.is_empty() {
            return Err(Error::EmptyComposition);
        }
        for entry in entries.iter().filter(|entry| entry.is_change) {
            if units == Units::Single || entry.part.is_some() || entry.paths.len() > 1 {
                let why = format!(
                    "{}: counts as given, or a guarantee, for bounded neighbors: a record that moves to another part changes the number of records of both, about which they say \
                     nothing; give it for add-remove, or without a partition, block paths and mixes",
                    entry.name
                );
                return Err(Error::unsuitable(why));
            }
        }
        let ledger = Ledger { entries, units };
        // Where all mixes would be too many, at most the two that a changed record leaves and enters.
        let combinations =
            ledger.combinations(|entry| if entry.mixes.is_empty() { entry.paths.len().max(1) } else { 2 });
        if combinations > MOST_COMBINATIONS {
            let expected = format!("at most {MOST_COMBINATIONS} combinations of the paths of all releases");
            return Err(Error::out_of_range("the number of combinations of paths", combinations, &expected));
        }
        Ok(ledger)
    }

    /// The releases.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Whether a record is one more or less, or changes.
    pub fn units(&self) -> Units {
        self.units
    }

    /// Whether some output is possible for one of two neighbors only, which rho leaves out.
    pub fn has_infinite_loss(&self) -> bool {
        self.entries.iter().flat_map(|entry| &entry.paths).any(|path| path.infinite_loss().is_some())
    }

    /// The number of combinations of ways: products of what composes, and sums over the parts of a partition.
    fn combinations(&self, ways: impl Fn(&Entry) -> usize) -> usize {
        let product = |entries: &[&Entry]| entries.iter().fold(1_usize, |all, entry| all.saturating_mul(ways(entry)));
        let of_partition =
            |parts: &Vec<Vec<&Entry>>| parts.iter().fold(0_usize, |sum, part| sum.saturating_add(product(part)));
        let standing = product(&self.standing());
        self.partitions().iter().map(of_partition).fold(standing, usize::saturating_mul)
    }

    /// The entries about all records.
    fn standing(&self) -> Vec<&Entry> {
        self.entries.iter().filter(|entry| entry.part.is_none()).collect()
    }

    /// The entries about each part of each partition.
    fn partitions(&self) -> Vec<Vec<Vec<&Entry>>> {
        let mut partitions: BTreeMap<&str, BTreeMap<&str, Vec<&Entry>>> = BTreeMap::new();
        for entry in &self.entries {
            if let Some(Part { partition, part }) = &entry.part {
                partitions.entry(partition).or_default().entry(part).or_default().push(entry);
            }
        }
        partitions.into_values().map(|parts| parts.into_values().collect()).collect()
    }

    /// Whether the rho of every entry is a formula of the parameters of its noise.
    fn has_exact_rho(&self) -> bool {
        self.entries.iter().all(Entry::has_exact_rho)
    }

    /// Each release alone, in order.
    pub fn each(&self, delta: &Delta, digits: u32) -> Result<Vec<Balance>> {
        let of = |entry: &Entry| {
            let (ways, change) = match (&entry.paths[..], entry.is_change) {
                ([change], true) => (Vec::new(), Some(change.clone())),
                (ways, _) => (ways.to_vec(), None),
            };
            self.balance(self.accounts(ways, change)?, (entry.rho.clone(), entry.has_exact_rho()), delta, digits)
        };
        self.entries.iter().map(of).collect()
    }

    /// The exact composition of all releases whose counts are known: the worst over all block paths, mixes of groups and parts of partitions. If these
    /// combinations are too many, the lower end of epsilon is that of the mix that is worst for each release alone. Another combination of mixes may be worse, so the upper end is
    /// a bound for all: close to the lower end for Gaussian noise (`gaussian.rs`), elsewhere what rho implies.
    pub fn composed(&self, delta: &Delta, digits: u32) -> Result<Balance> {
        if self.entries.iter().all(|entry| entry.paths.is_empty()) {
            return self.total(delta, digits);
        }
        let (ways, of_mixes) = self.ways(delta)?;
        let accounts = self.accounts(ways, self.change()?)?;
        let rho = (self.rho_of(|entry| !entry.paths.is_empty())?, self.has_exact_rho());
        let balance = self.balance(accounts, rho, delta, digits)?;
        if of_mixes.is_empty() {
            Ok(balance)
        } else {
            self.of_all_mixes(Balance { of_mixes, ..balance }, delta, digits)
        }
    }

    /// The balance of one combination of mixes, with upper ends that hold for all.
    fn of_all_mixes(&self, one: Balance, delta: &Delta, digits: u32) -> Result<Balance> {
        // A largest loss of these mixes is none of others.
        let compared = Compared { by: Conversion::BestOrder, epsilon: one.zcdp_epsilon.clone(), published: None };
        let epsilon = match one.epsilon {
            Some(answer) => {
                let bound = self.most_of_all_mixes(&answer.value, &one.zcdp_epsilon, delta)?;
                let value =
                    Enclosure::new(answer.value.lower().clone(), bound.upper().clone().max(answer.value.upper()));
                Some(Answer { met: answer.met && value.is_tight(digits), value, ..answer })
            }
            None => None,
        };
        Ok(Balance { epsilon, compared, ..one })
    }

    /// The ways of the releases whose counts are known.
    fn known(&self) -> gaussian::Releases<'_> {
        fn ways<'l>(entries: &[&'l Entry], is_change: bool) -> Vec<&'l [Composition]> {
            let known = entries.iter().filter(|entry| !entry.paths.is_empty() && entry.is_change == is_change);
            known.map(|entry| &entry.paths[..]).collect()
        }
        let partitions = self.partitions();
        let of_parts = |parts: &Vec<Vec<_>>| parts.iter().map(|part| ways(part, false)).collect();
        gaussian::Releases {
            sides: if self.units == Units::Pairs { 2 } else { 1 },
            standing: ways(&self.standing(), false),
            partitions: partitions.iter().map(of_parts).collect(),
            change: ways(&self.standing(), true),
        }
    }

    /// An upper bound on the epsilon of every combination of mixes, of which one has an epsilon found: for Gaussian noise, else what rho implies.
    fn most_of_all_mixes(&self, found: &Enclosure, by_rho: &Enclosure, delta: &Delta) -> Result<Enclosure> {
        let combinations = gaussian::Combinations::of_releases(&self.known());
        let own = combinations.map(|all| all.epsilon(delta, found.lower().to_f64())).transpose()?.flatten();
        Ok(own.map_or_else(|| by_rho.clone(), |own| own.min(by_rho)))
    }

    /// An upper bound on the epsilon of everything: the exact composition if every release has one, otherwise what the sum of all rho implies.
    pub fn spent(&self, delta: &Delta, digits: u32) -> Result<Spent> {
        let total = self.total(delta, digits)?;
        let is_known = self.entries.iter().all(|entry| !entry.paths.is_empty());
        let composed = if is_known { Some(self.composed(delta, digits)?) } else { None };
        let exact = composed.and_then(|all| all.epsilon);
        let (rho, zcdp_epsilon) = (total.rho, total.zcdp_epsilon);
        let adaptive_epsilon = self.beside_pure(zcdp_epsilon.clone());
        let (epsilon, is_composed) = exact.map_or_else(|| (zcdp_epsilon.clone(), false), |answer| (answer.value, true));
        let pure_epsilon = self.pure_epsilon();
        Ok(Spent { epsilon, is_composed, rho, zcdp_epsilon, adaptive_epsilon, pure_epsilon })
    }

    /// The epsilon that decides where the noise of a release may follow from earlier results: the smaller of what the sum of rho implies and, where every entry is pure, the
    /// sum of their epsilons.
    ///
    /// # Why the union of both is a filter, at the same delta
    ///
    /// Let everything be accepted as long as the sum of rho is at most R, which implies epsilon at delta, or all entries are pure and their epsilons add up to at most epsilon. Take two
    /// neighbors, and let L be the privacy loss at the end. What was accepted at the end is of one of two kinds:
    ///
    /// - pure, with a sum of at most epsilon: each step has a loss of at most its epsilon, whatever came before, so L <= epsilon, and (1 - exp(epsilon - L))+ = 0;
    /// - otherwise the sum of rho is at most R. Sums only grow, so it was at most R at every step, and on these outcomes L is the loss L' of the process that is stopped before its sum exceeds R.
    ///   That is a filter (Whitehouse, Ramdas, Rogers & Wu 2023): E[(1 - exp(epsilon - L'))+] <= delta.
    ///
    /// So E[(1 - exp(epsilon - L))+] is at most that expectation of L' on the outcomes of the second kind, hence at most delta: nothing is paid for having two.
    ///
    /// Beside noise without a bound a pure guarantee counts by its rho, epsilon^2 / 2 (Bun & Steinke 2016, Proposition 1.4). A sum of pure epsilons and of the epsilon of the other entries' rho is no
    /// filter where results choose how much of each there is: the epsilon of a rho holds for one rho fixed in advance, and not for all of them at once.
    pub fn adaptive_epsilon(&self, delta: &Delta, digits: u32) -> Result<Enclosure> {
        Ok(self.beside_pure(self.total(delta, digits)?.zcdp_epsilon))
    }

    /// Whether that is at most an epsilon; of a sum of pure epsilons exactly.
    pub fn adaptive_keeps(&self, epsilon: &Epsilon, delta: &Delta, digits: u32) -> Result<Certainty> {
        if self.pure_epsilon().is_some_and(|sum| sum <= **epsilon) {
            return Ok(Certainty::Yes);
        }
        self.rho_keeps(epsilon, delta, digits)
    }

    /// Whether the epsilon that the sum of all rho implies is at most an epsilon.
    pub fn rho_keeps(&self, epsilon: &Epsilon, delta: &Delta, digits: u32) -> Result<Certainty> {
        let by_rho = self.total(delta, digits)?.zcdp_epsilon;
        Ok(match () {
            () if *by_rho.upper() <= **epsilon => Certainty::Yes,
            () if *by_rho.lower() > **epsilon => Certainty::No,
            () => Certainty::Undecided,
        })
    }

    /// An error where a release has outputs that only one of two neighbors can have: no filter by rho is proven with them.
    pub fn check_filter(&self) -> Result<()> {
        match self.has_infinite_loss() {
            true => Err(Error::unsuitable(
                "a release has outputs that only one of two neighbors can have: the sum of rho is proven for noise chosen by earlier results only without such",
            )),
            false => Ok(()),
        }
    }

    /// The smaller of an epsilon and the sum of pure ones.
    fn beside_pure(&self, by_rho: Enclosure) -> Enclosure {
        const BITS: u32 = 160;
        match self.pure_epsilon() {
            Some(pure) => by_rho.min(&Enclosure::rational(&pure, BITS)),
            None => by_rho,
        }
    }

    /// The sum of the pure epsilons of all entries, each in its worst way, and of each partition that of the part that spends most; `None` if one has none.
    fn pure_epsilon(&self) -> Option<Rational> {
        let of_entry = |entry: &Entry| {
            let ways = entry.paths.iter().map(Composition::pure_epsilon).collect::<Option<Vec<_>>>()?;
            // A changed record leaves the counts of one way and enters those of another: twice the worst.
            let times = if self.units == Units::Pairs && !entry.is_change { 2_u32 } else { 1 };
            Some(ways.into_iter().max()? * times)
        };
        let sum = |entries: &[&Entry]| entries.iter().map(|entry| of_entry(entry)).sum::<Option<Rational>>();
        let standing = sum(&self.standing())?;
        self.partitions().iter().try_fold(standing, |all, parts| {
            let parts = parts.iter().map(|part| sum(part)).collect::<Option<Vec<_>>>()?;
            Some(all + parts.into_iter().max().unwrap_or_default())
        })
    }

    /// Whether everything has delta(epsilon) <= delta; not decided where of some release only the budget is known, or where the mixes of groups are too many and epsilon lies between the
    /// bound for all and that of one.
    pub fn keeps(&self, epsilon: &Epsilon, delta: &Delta) -> Result<Certainty> {
        if self.entries.iter().any(|entry| entry.paths.is_empty()) {
            return Ok(Certainty::Undecided);
        }
        let (ways, of_mixes) = self.ways(delta)?;
        let mut all = Certainty::Yes;
        if !of_mixes.is_empty() {
            const DIGITS: u32 = 8;
            let composed = self.composed(delta, DIGITS)?.epsilon;
            let is_kept = composed.is_some_and(|answer| *answer.value.upper() <= **epsilon);
            if is_kept {
                return Ok(Certainty::Yes);
            }
            all = Certainty::Undecided;
        }
        for account in self.accounts(ways, self.change()?)? {
            match has_delta(&account, epsilon, delta)? {
                Certainty::Yes => {}
                Certainty::No => return Ok(Certainty::No),
                Certainty::Undecided => all = Certainty::Undecided,
            }
        }
        Ok(all)
    }

    /// Everything composed, if one record enters each release in one way only, so that there is nothing to take the worst of; `None` otherwise, and if
    /// of some release only the budget is known.
    pub fn single(&self) -> Result<Option<Composition>> {
        if self.entries.iter().any(|entry| entry.paths.len() != 1) {
            return Ok(None);
        }
        let ways = self.all_ways(|entry| Ok(entry.paths.clone()))?;
        match &self.accounts(ways, self.change()?)?[..] {
            [Whole::Composition(only)] => Ok(Some(only.clone())),
            [Whole::WorstPath(worst)] if worst.count() == 1 => worst.composition((0, 0)).map(Some),
            _ => Ok(None),
        }
    }

    /// The counts that differ when one record changes, in the entries for which these are known; `None` if there are no such entries.
    fn change(&self) -> Result<Option<Composition>> {
        let counts = self.entries.iter().filter(|entry| entry.is_change).flat_map(|entry| &entry.paths);
        let counts: Vec<_> = counts.flat_map(|path| path.each_counts().cloned()).collect();
        if counts.is_empty() { Ok(None) } else { Composition::new(counts).map(Some) }
    }

    /// All ways in which a record enters what is known of all entries but those that are known for a change as a whole.
    fn ways(&self, delta: &Delta) -> Result<Ways> {
        let every = self.combinations(|entry| entry.paths.len().max(1));
        let mut of_mixes = Vec::new();
        let ways = self.all_ways(|entry| {
            let worst_alone = if every > MOST_WITH_MIXES { self.worst_mix(entry, delta)? } else { None };
            Ok(match worst_alone {
                None => entry.paths.clone(),
                Some((ways, mix)) => {
                    if entry.paths.iter().any(|path| path.infinite_loss().is_some()) {
                        let why = format!(
                            "the mixes of groups of {} are too many to be composed, and have outputs that only one of two neighbors can have",
                            entry.name
                        );
                        return Err(Error::unsuitable(why));
                    }
                    of_mixes.push((entry.name.clone(), mix));
                    ways
                }
            })
        })?;
        Ok((ways, of_mixes))
    }

    /// The same, with `of` the ways of an entry: products of what composes, and of each partition the union over its parts.
    fn all_ways(&self, mut of: impl FnMut(&Entry) -> Result<Vec<Composition>>) -> Result<Vec<Composition>> {
        let mut product = |entries: &[&Entry]| {
            let mut all = Vec::new();
            for entry in entries.iter().filter(|entry| !entry.is_change && !entry.paths.is_empty()) {
                all = together(all, &of(entry)?)?;
            }
            Ok::<_, Error>(all)
        };
        let mut all = product(&self.standing())?;
        for parts in self.partitions() {
            let mut ways = Vec::new();
            for part in &parts {
                ways.extend(product(part)?);
            }
            all = together(all, &largest(ways))?;
        }
        Ok(all)
    }

    /// The accounts of which everything is the worst: of the ways of a record, single or in pairs, with what a change changes as a whole.
    fn accounts(&self, ways: Vec<Composition>, change: Option<Composition>) -> Result<Vec<Whole>> {
        match (self.units, change) {
            (_, None) if ways.is_empty() => Ok(Vec::new()),
            (Units::Single, None) => classes(ways),
            (Units::Pairs, None) => Ok(vec![Whole::WorstPath(WorstPath::new(ways, Units::Pairs)?)]),
            (_, Some(change)) if ways.is_empty() => classes(vec![change]),
            (_, Some(change)) => {
                let ways = largest(ways);
                if self.units == Units::Pairs
                    && let Some(worst) = beside(&ways, &change)?
                {
                    return Ok(vec![Whole::WorstPath(worst)]);
                }
                let pairs = ways.len() * (ways.len() + 1) / 2;
                if pairs > MOST_PAIRS {
                    let expected = format!(
                        "at most {MOST_PAIRS} beside a guarantee or counts as given for bounded neighbors, unless all noise of the paths is Gaussian and of one rho: each pair is evaluated separately"
                    );
                    return Err(Error::out_of_range("the number of pairs of paths", pairs, &expected));
                }
                let mut all = Vec::new();
                for (place, p) in ways.iter().enumerate() {
                    for q in &ways[place..] {
                        all.push(p.compose(q)?.compose(&change)?);
                    }
                }
                classes(all)
            }
        }
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
        let rho = self.rho_of(|_| true)?;
        // Beside the rho of all finite losses, the probability of infinite ones.
        let accounts = match self.has_infinite_loss() {
            true => self.accounts(self.ways(delta)?.0, self.change()?)?,
            false => Vec::new(),
        };
        let zcdp_epsilon = zcdp_epsilon(&accounts, &rho, delta, digits)?;
        let compared = Compared { by: Conversion::BestOrder, epsilon: zcdp_epsilon.clone(), published: None };
        let (has_exact_rho, infinite_loss) = (self.has_exact_rho(), most_probable(&accounts, digits));
        Ok(Balance { rho, has_exact_rho, infinite_loss, epsilon: None, zcdp_epsilon, compared, of_mixes: Vec::new() })
    }

    /// The rho of some entries together: of each partition that of the part that spends most. A changed record that leaves a part of rho a and enters one of rho b spends
    /// a / 2 + b / 2, which is at most the larger of both.
    fn rho_of(&self, keep: impl Fn(&Entry) -> bool) -> Result<Rho> {
        let sum = |entries: &[&Entry]| {
            let kept = entries.iter().filter(|entry| keep(entry));
            kept.fold(Rational::new(), |sum, entry| sum + &*entry.rho)
        };
        let largest = |parts: &Vec<Vec<&Entry>>| parts.iter().map(|part| sum(part)).max().unwrap_or_default();
        Rho::new(self.partitions().iter().fold(sum(&self.standing()), |all, parts| all + largest(parts)))
    }

    /// The worst of some accounts, together of this rho; without any only the budget is known.
    fn balance(
        &self,
        accounts: Vec<Whole>,
        (rho, has_exact_rho): (Rho, bool),
        delta: &Delta,
        digits: u32,
    ) -> Result<Balance> {
        let zcdp_epsilon = zcdp_epsilon(&accounts, &rho, delta, digits)?;
        let by_rho = match renyi_of_samples(&accounts, delta, digits)? {
            Some(epsilon) if epsilon.upper() < zcdp_epsilon.upper() => {
                Compared { by: Conversion::Renyi, epsilon, published: None }
            }
            _ => Compared { by: Conversion::BestOrder, epsilon: zcdp_epsilon.clone(), published: None },
        };
        let (mut worst, mut pure): (Option<Answer>, Option<Enclosure>) = (None, None);
        let is_bounded = accounts.iter().all(is_bounded);
        for account in &accounts {
            let own = if is_bounded { Conversion::Pure.epsilon(account, delta, digits)? } else { None };
            pure = match (pure, own) {
                (Some(before), Some(own)) => Some(before.max(&own)),
                (before, own) => before.or(own),
            };
            // The smallest epsilon at which all are at most delta is the largest of theirs, because each delta decreases.
            let answer = match account.epsilon(delta, digits) {
                // An infinite epsilon breaks every promise; the other sums have their answers.
                Err(Error::InfiniteLoss { .. }) => Answer::immediate(
                    Enclosure::double(f64::INFINITY, 64),
                    "outputs of infinite loss alone are as probable as delta",
                ),
                answer => answer?,
            };
            worst = Some(match worst {
                None => answer,
                Some(before) => larger(before, answer),
            });
        }
        let worst = worst.map(|answer| within(answer, pure.iter().chain([&zcdp_epsilon]))).transpose()?;
        let compared = match pure {
            Some(epsilon) if epsilon.upper() <= by_rho.epsilon.upper() => {
                Compared { by: Conversion::Pure, epsilon, published: None }
            }
            _ => by_rho,
        };
        let infinite_loss = most_probable(&accounts, digits);
        Ok(Balance { rho, has_exact_rho, infinite_loss, epsilon: worst, zcdp_epsilon, compared, of_mixes: Vec::new() })
    }
}

/// The largest epsilon by the exact Renyi divergences, where noise is sampled: rho ignores the sampling, so no account by it is a comparison.
fn renyi_of_samples(accounts: &[Whole], delta: &Delta, digits: u32) -> Result<Option<Enclosure>> {
    let is_sampled = |account: &Whole| Ok(account.extremes()?.iter().any(Composition::is_sampled));
    let has_samples = accounts.iter().map(is_sampled).collect::<Result<Vec<bool>>>()?.contains(&true);
    if !has_samples {
        return Ok(None);
    }
    let mut largest: Option<Enclosure> = None;
    for account in accounts {
        let Some(own) = Conversion::Renyi.epsilon(account, delta, digits)? else { return Ok(None) };
        largest = Some(largest.map_or(own.clone(), |before| before.max(&own)));
    }
    Ok(largest)
}

/// The outputs of infinite loss of the account in which they are most probable.
fn most_probable(accounts: &[Whole], digits: u32) -> Option<InfiniteLoss> {
    let found = accounts.iter().filter_map(Account::infinite_loss);
    found
        .map(|loss| (loss.mass(digits), loss))
        .max_by(|(one, _), (other, _)| {
            // Enclosures have ends that are numbers.
            one.upper().partial_cmp(other.upper()).unwrap_or(std::cmp::Ordering::Equal)
        })
        .map(|(_, loss)| loss)
}

#[cfg(test)]
mod tests;
