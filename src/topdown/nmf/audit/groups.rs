//! The pure noise of a folder, by level, query and law: tallies of draws and of pairs of draws.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use rug::Rational;

use super::{
    source::{Kind, Source},
    sums::{self, PartSums, StateSum, Wide},
    zeros::ZeroCounts,
};
use crate::{
    audit::{Audited, Pairs, Tally, repeats::Rows},
    error::Result,
    law::Law,
    topdown::{
        gls::problem::{Free, Problem},
        nmf::{
            budgets::Budgets,
            complete::state_of,
            names::Names,
            noise::{NO_NOISE, Noise},
            observe::{Observer, PartSeen, UnitSeen},
            units::RootConstraints,
        },
    },
};

/// The place of draws of one law: level, query, number of levels whose shares their units carry, and kind.
type Place = (usize, usize, usize, Kind);

/// The draws of one law.
pub(super) struct Group {
    pub(super) law: Arc<Audited>,
    pub(super) tally: Tally,
    /// Neighbors in a row; the same counts of units one after the other, and of parents and children; of the query before; and a
    /// count of another query that is not zero.
    pub(super) pairs: [Pairs; PAIRS.len()],
    pub(super) rows: Rows,
    /// The draws of the unit before, and the list of their counts.
    last: Option<(usize, Vec<i64>)>,
}

/// The kinds of pairs.
pub(super) const PAIRS: [&str; 5] =
    ["neighbors in a row", "neighboring units", "parent and child", "other query", "other count"];
const IN_ROW: usize = 0;
const UNITS: usize = 1;
const PARENT: usize = 2;
const QUERY: usize = 3;
const OTHER: usize = 4;

/// The draws of the first child of each unit that are kept for its parent.
const FIRST: usize = 16;

impl Group {
    fn new(law: Arc<Audited>, key: [u64; 2]) -> Group {
        let (tally, rows) = (Tally::new(law.law.reach()), Rows::new(&law.law, key));
        Group { law, tally, pairs: [Pairs::default(); PAIRS.len()], rows, last: None }
    }

    /// Adds the draws of a unit, from the counts of a list with this number.
    fn add(&mut self, list: usize, draws: &[i64]) {
        draws.iter().for_each(|x| self.tally.add(*x));
        draws.windows(2).for_each(|pair| self.pairs[IN_ROW].add(pair[0], pair[1]));
        if let Some((_, last)) = self.last.as_ref().filter(|(of, _)| *of == list) {
            last.iter().zip(draws).for_each(|(x, y)| self.pairs[UNITS].add(*x, *y));
        }
        self.rows.add(draws.iter().copied());
        let (of, last) = self.last.get_or_insert_with(|| (list, Vec::new()));
        *of = list;
        last.clear();
        last.extend_from_slice(draws);
    }
}

/// The pure noise that was found: draws of enumerated laws, and wide sums.
pub(super) struct Found {
    pub(super) single: Vec<(Source, Group)>,
    pub(super) wide: Vec<(Source, Wide)>,
}

/// Draws of the first child of a unit: their counts and values.
type Child = Vec<(u32, i64)>;

/// The pure noise of a folder while it is read.
pub(super) struct Groups<'a> {
    names: &'a Names,
    budgets: &'a Budgets,
    key: [u64; 2],
    of: BTreeMap<Place, Group>,
    laws: HashMap<(Rational, usize), Option<Arc<Audited>>>,
    zeros: Option<ZeroCounts>,
    /// The free points and the exact total of the nation.
    nation: Option<(Free, Option<i64>)>,
    /// By level, query and the number of a set of free points of the part: the list of zero counts.
    lists: HashMap<(usize, usize, u32), Arc<[u32]>>,
    /// By level and query: the start of its counts among those of a unit, and the number of its name.
    starts: Vec<Vec<(usize, usize)>>,
    /// By level of the part, the exact totals of its units.
    totals: Vec<HashMap<usize, i64>>,
    first: usize,
    /// By the name of a query and the unit above, the draws of its first child; those of the level being read and of the one below.
    children: HashMap<(usize, usize), Child>,
    below: HashMap<(usize, usize), Child>,
    level: usize,
    parents: Vec<u32>,
    /// Draws and sums whose laws are too wide to be enumerated.
    wide: BTreeMap<Place, Wide>,
    /// Sums over states, by query and the numbers of carried levels of their parts.
    states: BTreeMap<(usize, Vec<usize>), Group>,
    /// The sums of the parts of states.
    parts: Vec<PartSums>,
    part: String,
}

/// The number of the set of free points of the nation.
const NATION: u32 = u32::MAX;

impl<'a> Groups<'a> {
    pub(super) fn new(names: &'a Names, budgets: &'a Budgets, key: [u64; 2]) -> Groups<'a> {
        let mut known: Vec<&str> = Vec::new();
        let mut starts = Vec::new();
        for level in 0..names.levels.len() {
            let (mut own, mut start) = (Vec::new(), 0);
            for query in names.queries(level) {
                let number = known.iter().position(|name| *name == query.name).unwrap_or_else(|| {
                    known.push(&query.name);
                    known.len() - 1
                });
                own.push((start, number));
                start += query.counts();
            }
            starts.push(own);
        }
        Groups {
            names,
            budgets,
            key,
            of: BTreeMap::new(),
            laws: HashMap::new(),
            zeros: None,
            nation: None,
            lists: HashMap::new(),
            starts,
            totals: Vec::new(),
            first: 0,
            children: HashMap::new(),
            below: HashMap::new(),
            level: usize::MAX,
            parents: Vec::new(),
            wide: BTreeMap::new(),
            states: BTreeMap::new(),
            parts: Vec::new(),
            part: String::new(),
        }
    }

    /// The law of the sum of some counts of a query; `None` if it takes too long, or the noise is too wide.
    fn law(&mut self, level: usize, carried: usize, query: usize, copies: usize) -> Option<Arc<Audited>> {
        let sigma2 = self.budgets.sigma2(level, carried, query);
        if let Some(known) = self.laws.get(&(sigma2.clone(), copies)) {
            return known.clone();
        }
        let single = Audited::of_law(&Law::DiscreteGaussian { sigma2: sigma2.clone() });
        let found = match (single, copies) {
            (Ok(single), 1) => Some(single),
            (Ok(single), copies) => {
                u32::try_from(copies).ok().and_then(|copies| single.law.times(copies)).map(Audited::of_sum)
            }
            // The noise is too wide.
            (Err(_), _) => None,
        };
        let found = found.map(Arc::new);
        self.laws.insert((sigma2.clone(), copies), found.clone());
        found
    }

    /// The noise of a sum of some counts of a query.
    fn noise(&self, (level, query, carried, _): Place, copies: usize) -> Noise {
        self.budgets.noise(level, carried)[query].times(copies as f64)
    }

    /// The level of the parts of states.
    pub(super) fn first(&self) -> usize {
        self.first
    }

    /// Adds the sums over states with exact totals; returns those whose totals are not used. `is_whole` says whether this number of parts is
    /// all of a state.
    pub(super) fn add_states(
        &mut self,
        totals: &BTreeMap<u32, i64>,
        is_whole: impl Fn(u32, usize) -> bool,
    ) -> Vec<u32> {
        let (found, unused) = sums::of_states(&self.parts, totals, state_of, is_whole);
        found.iter().for_each(|own| self.add_state(own));
        unused
    }

    /// Adds the sum of a query over the parts of a state.
    fn add_state(&mut self, own: &StateSum) {
        let (level, query) = (self.first, own.query);
        let copies = self.names.queries(level)[query].counts();
        let laws = own.carried.iter().map(|carried| self.law(level, *carried, query, copies));
        let laws: Option<Vec<Arc<Audited>>> = laws.collect();
        let joined = laws.and_then(|laws| {
            let mut laws = laws.into_iter();
            let first = laws.next()?;
            laws.try_fold(first, |sum, law| Some(Arc::new(Audited::of_sum(sum.law.plus(&law.law)?))))
        });
        match joined {
            Some(law) => {
                let place = (query, own.carried.clone());
                let key = self.key;
                self.states.entry(place).or_insert_with(|| Group::new(law, key)).add(0, &[own.noise]);
            }
            None => {
                let place = |carried: &usize| (level, query, *carried, Kind::StateTotals);
                let noise = own.carried.iter().map(|carried| self.noise(place(carried), copies));
                let noise = noise.fold(NO_NOISE, Noise::plus);
                self.wide.entry(place(&0)).or_default().add(own.noise, noise);
            }
        }
    }

    /// All that was found, by level, query, law and kind.
    pub(super) fn found(self) -> Found {
        let (names, budgets) = (self.names, self.budgets);
        let source = |(level, query, carried, kind): Place| Source {
            level: names.levels[level].clone(),
            query: names.queries(level)[query].name.clone(),
            carried,
            kind,
            sigma2: (carried > 0).then(|| budgets.sigma2(level, carried, query).clone()),
            shown: None,
            interval: None,
            masses: Vec::new(),
        };
        let first = self.first;
        let states = self.states.into_iter().map(|((query, _), group)| ((first, query, 0, Kind::StateTotals), group));
        Found {
            single: self.of.into_iter().chain(states).map(|(place, group)| (source(place), group)).collect(),
            wide: self.wide.into_iter().map(|(place, wide)| (source(place), wide)).collect(),
        }
    }

    fn group(&mut self, place: Place, copies: usize) -> Option<&mut Group> {
        if !self.of.contains_key(&place) {
            let (level, query, carried, _) = place;
            let law = self.law(level, carried, query, copies)?;
            self.of.insert(place, Group::new(law, self.key));
        }
        self.of.get_mut(&place)
    }

    /// The counts of a query that are noise alone.
    fn list(&mut self, level: usize, query: usize, (number, free): (u32, &Free)) -> Arc<[u32]> {
        if let Some(known) = self.lists.get(&(level, query, number)) {
            return known.clone();
        }
        let names = self.names;
        let found =
            self.zeros.as_mut().map_or_else(|| [].into(), |zeros| zeros.counts(&names.queries(level)[query], free));
        self.lists.insert((level, query, number), found.clone());
        found
    }

    /// The zeros of a unit: query by query its counts that are noise alone.
    fn see_zeros(&mut self, seen: &UnitSeen, free: (u32, &Free)) {
        let (queries, own) = (self.names.queries(seen.level).len(), seen.unit.unit);
        let mut before: Option<Vec<i64>> = None;
        for query in 0..queries {
            let counts = self.list(seen.level, query, free);
            if counts.is_empty() {
                continue;
            }
            let (start, name) = self.starts[seen.level][query];
            let draws: Vec<i64> = counts.iter().map(|count| seen.unit.counts[start + *count as usize] as i64).collect();
            let other = self.other_count(seen, query, free);
            let child = self.below.remove(&(name, own));
            let place = (seen.level, query, seen.carried, Kind::Zeros);
            if self.group(place, 1).is_none() {
                let noise = self.noise(place, 1);
                let wide = self.wide.entry(place).or_default();
                draws.iter().for_each(|x| wide.add(*x, noise));
                continue;
            }
            let Some(group) = self.of.get_mut(&place) else { continue };
            group.add(free.0 as usize, &draws);
            for (at, value) in child.into_iter().flatten() {
                if let Ok(place) = counts.binary_search(&at) {
                    group.pairs[PARENT].add(draws[place], value);
                }
            }
            if let Some(before) = &before {
                before.iter().zip(&draws).for_each(|(x, y)| group.pairs[QUERY].add(*x, *y));
            }
            if let Some(other) = other {
                draws.iter().take(FIRST).for_each(|x| group.pairs[OTHER].add(*x, other));
            }
            if let Some(parent) = self.parents.get(own) {
                let kept = || counts.iter().copied().zip(draws.iter().copied()).take(FIRST).collect();
                self.children.entry((name, *parent as usize)).or_insert_with(kept);
            }
            before = Some(draws);
        }
    }

    /// A count of another query that is not zero by constraints: the first of the query with the fewest counts.
    fn other_count(&mut self, seen: &UnitSeen, query: usize, free: (u32, &Free)) -> Option<i64> {
        let queries = self.names.queries(seen.level);
        let other = (0..queries.len()).filter(|at| *at != query).min_by_key(|at| queries[*at].counts())?;
        let zero = self.list(seen.level, other, free);
        let first = (0..queries[other].counts()).find(|count| zero.binary_search(&(*count as u32)).is_err())?;
        Some(seen.unit.counts[self.starts[seen.level][other].0 + first] as i64)
    }

    /// The sums of a unit's counts, query by query, minus its exact total.
    fn see_total(&mut self, seen: &UnitSeen, total: i64) {
        let names = self.names;
        for (number, query) in names.queries(seen.level).iter().enumerate() {
            let start = self.starts[seen.level][number].0;
            let noise = sums::minus(sums::sum(&seen.unit.counts[start..start + query.counts()]), total);
            let place = (seen.level, number, seen.carried, Kind::Totals);
            match self.group(place, query.counts()) {
                Some(group) => group.add(0, &[noise]),
                None => {
                    let law = self.noise(place, query.counts());
                    self.wide.entry(place).or_default().add(noise, law);
                }
            }
        }
    }

    /// Keeps the sums of a part of a state.
    fn keep_part(&mut self, seen: &UnitSeen, has_total: bool) {
        let queries = self.names.queries(seen.level).iter().zip(&self.starts[seen.level]);
        let sums = queries.map(|(query, (start, _))| sums::sum(&seen.unit.counts[*start..start + query.counts()]));
        let sums = sums.collect();
        self.parts.push(PartSums { part: self.part.clone(), carried: seen.carried, sums, has_total });
    }

    fn enter(&mut self, seen: &UnitSeen) {
        // Levels without any counts lie between: their units are not those above.
        let is_next = self.level == seen.level + 1;
        let children = std::mem::take(&mut self.children);
        self.below = if is_next { children } else { HashMap::new() };
        self.level = seen.level;
        self.parents = match seen.units {
            Some(units) if seen.level > self.first => units.tree.parents(seen.level - self.first),
            _ => Vec::new(),
        };
        self.of.values_mut().for_each(|group| group.last = None);
    }
}

impl Observer for Groups<'_> {
    fn open(&mut self, problem: &Problem, root: &RootConstraints) {
        self.zeros = Some(ZeroCounts::new(problem, &self.names.sizes));
        self.nation = Some((root.zeros.free(problem), root.total));
    }

    fn begin(&mut self, part: &PartSeen) -> Result<()> {
        self.first = part.first;
        self.part.clone_from(&part.units.part);
        self.level = usize::MAX;
        self.children.clear();
        self.lists.clear();
        self.totals =
            (0..part.units.codes.len()).map(|level| sums::exact_totals(part, level)).collect::<Result<_>>()?;
        Ok(())
    }

    fn observe(&mut self, seen: &UnitSeen) {
        if self.level != seen.level {
            self.enter(seen);
        }
        let total = match seen.units {
            Some(units) => {
                let level = seen.level - self.first;
                let number = units.free[level][seen.unit.unit];
                self.see_zeros(seen, (number, &units.frees[number as usize]));
                self.totals[level].get(&seen.unit.unit).copied()
            }
            None => {
                let Some((free, total)) = self.nation.take() else { return };
                self.see_zeros(seen, (NATION, &free));
                self.nation = Some((free, total));
                total
            }
        };
        if let Some(total) = total {
            self.see_total(seen, total);
        }
        if seen.units.is_some() && seen.level == self.first {
            self.keep_part(seen, total.is_some());
        }
    }
}
