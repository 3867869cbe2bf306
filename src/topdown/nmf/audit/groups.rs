//! The pure noise of a folder, by level, query and law: tallies of draws and of pairs of draws.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use rug::Rational;

use super::zeros::ZeroCounts;
use crate::{
    audit::{Audited, Pairs, Tally, repeats::Rows},
    error::Result,
    law::Law,
    topdown::{
        gls::problem::{Free, Problem},
        nmf::{
            budgets::Budgets,
            folder::{NmfFile, of_part},
            names::Names,
            observe::{Observer, PartSeen, UnitSeen},
            rows,
            units::{Meanings, RootConstraints},
        },
    },
};

/// The source of draws of pure noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Counts of cells that constraints make zero.
    Zeros,
    /// Sums of a query's counts, minus an exact total.
    Totals,
    /// Counts that must agree with each other: children with their parent.
    Consistency,
}

impl Kind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Zeros => "zeros",
            Kind::Totals => "totals",
            Kind::Consistency => "consistency",
        }
    }
}

/// The place of draws of one law: level, query, number of levels whose shares their units carry, and kind.
pub(super) type Place = (usize, usize, usize, Kind);

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

/// Draws of the first child of a unit: their counts and values.
type Child = Vec<(u32, i64)>;

/// The pure noise of a folder while it is read.
pub(super) struct Groups<'a> {
    names: &'a Names,
    budgets: &'a Budgets,
    key: [u64; 2],
    pub(super) of: BTreeMap<Place, Group>,
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
    /// Levels and queries whose laws are too wide, or sums of too many draws, to be computed, with the number of draws.
    pub(super) untested: BTreeMap<(usize, usize), u64>,
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
            untested: BTreeMap::new(),
        }
    }

    /// The law of the sum of some counts of a query; `None` if it takes too long, or the noise is too wide.
    fn law(&mut self, level: usize, carried: usize, query: usize, copies: usize) -> Option<Arc<Audited>> {
        let sigma2 = self.budgets.sigma2(level, carried, query);
        if let Some(known) = self.laws.get(&(sigma2.clone(), copies)) {
            return known.clone();
        }
        let single = Audited::of(&Law::DiscreteGaussian { sigma2: sigma2.clone() });
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
        let found = self.zeros.as_mut().map_or_else(|| [].into(), |zeros| zeros.of(&names.queries(level)[query], free));
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
                *self.untested.entry((seen.level, query)).or_default() += draws.len() as u64;
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
            let noise = sum_minus(&seen.unit.counts[start..start + query.counts()], total);
            match self.group((seen.level, number, seen.carried, Kind::Totals), query.counts()) {
                Some(group) => group.add(0, &[noise]),
                None => *self.untested.entry((seen.level, number)).or_default() += 1,
            }
        }
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
        self.level = usize::MAX;
        self.children.clear();
        self.lists.clear();
        self.totals = (0..part.units.codes.len()).map(|level| exact_totals(part, level)).collect::<Result<_>>()?;
        Ok(())
    }

    fn see(&mut self, seen: &UnitSeen) {
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
    }
}

/// The sum of whole counts minus a total. A difference beyond 64 bits, which no law reaches, becomes the largest or smallest number.
fn sum_minus(counts: &[f64], total: i64) -> i64 {
    // Counts are below 2^50 and fewer than 2^64: their sum is below 2^114.
    let sum: i128 = counts.iter().map(|count| *count as i128).sum();
    (sum - i128::from(total)).clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
}

/// The exact totals of the units of a level: constraints that give the sum of all cells.
fn exact_totals(part: &PartSeen, level: usize) -> Result<HashMap<usize, i64>> {
    let (names, codes) = (part.names, &part.units.codes[level]);
    let files: Vec<&NmfFile> = of_part(&part.folder.levels[part.first + level].constraints, &part.units.part).collect();
    let (mut found, mut meanings, mut near) = (HashMap::new(), Meanings::default(), 0);
    for file in files {
        rows::read(&file.path, &names.constraint_columns(), |row| {
            let meaning = meanings.of(names, row).map_err(|why| rows::refuse(&file.path, row, &why))?;
            let is_total = meanings.known[meaning].constraint.is_total();
            let unit = if is_total { codes.find(row.geocode, near) } else { None };
            if let (Some(unit), [total]) = (unit, row.values) {
                near = unit + 1;
                found.insert(unit, *total);
            }
            Ok(())
        })?;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_any_counts_do_not_wrap() {
        assert_eq!(sum_minus(&[3.0, -5.0, 11.0], 7), 2);
        let most = (1_u64 << 50) as f64;
        assert_eq!(sum_minus(&[most; 4096], 5), (1 << 62) - 5);
        assert_eq!(sum_minus(&vec![most; 20_000], 0), i64::MAX);
        assert_eq!(sum_minus(&vec![-most; 20_000], 0), i64::MIN);
    }
}
