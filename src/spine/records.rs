//! The privacy of all noisy counts on a spine, by the records that can change on it.
//!
//! A record that is added enters one count of every query on its path. A changed record moves from one place to another, or stays. The units
//! that hold both places, from the root down, hold the record before and after the change: a query of theirs with several counts loses the
//! record in one count and gains it in another, and one with a single count, the unit's total, does not change. Below these units the record
//! leaves every query on the path of the first place, and enters every query on the path of the second.
//!
//! So the counts that change are those of both paths without the single counts of the units that are shared. The fewer units are shared, the
//! more counts change, and publishing fewer counts is post-processing of publishing more. So for each pair of kinds of paths the pair of
//! places that shares the fewest levels decides: [`Spine::partings`].
//!
//! The account is exact if records of every kind exist: places do, and two records that differ in all queries with several counts exist if
//! the schema allows them (`Schema::changes_all`). Otherwise it is an upper bound, which says why.

use std::collections::HashMap;

use serde_json::Value;

use super::bypass::{PathKind, Spine};
use crate::{
    account::{
        Account, Composition, Counts, Delta,
        paths::{MOST_PAIRS, WorstPath},
    },
    error::{Error, Result},
    loss::family::Units,
    numeric::Enclosure,
    release::{Changed, Neighbors, Query, Release, schema::Schema},
};

/// The largest number of kinds of paths whose pairs of places are found.
const MOST_KINDS: usize = 64;

/// The reason where a query may have a single count.
const UNKNOWN: &str = "the release does not say how many counts each query has, and a query with a single count does not change where the record stays in its unit";
/// The reason where a query has a single count, and the places are not known.
const SINGLE: &str = "a query with a single count does not change where the record stays in its unit";
/// The reason where a record is of one of two histograms.
const TWO_HISTOGRAMS: &str = "a record is in one of the two histograms, and is counted as if it were in both";
/// The reason where no two records differ in all queries.
const ALIKE: &str = "no two records were found that differ in all queries at once";
/// The reason where there are too many pairs.
const MANY: &str = "there are too many pairs of paths to find the units that both records of each share";

/// The counts that a record changes at one level of one kind of path.
#[derive(Clone, Debug, Default)]
pub struct LevelCounts {
    /// Those of queries with several counts.
    pub several: Vec<Counts>,
    /// Those of queries with a single count, which a record that stays in its unit does not change.
    pub single: Vec<Counts>,
}

/// A pair of kinds of paths, and the number of levels whose units two places of these kinds share, at the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parting {
    /// The numbers of the kinds, ascending.
    pub kinds: [usize; 2],
    /// The number of shared levels, from the root.
    pub shared: usize,
}

impl Spine {
    /// For each pair of kinds of paths the fewest levels that two places of these kinds share; a place shares all of them with itself. `None`
    /// if there are too many kinds.
    pub fn partings(&self) -> Result<Option<Vec<Parting>>> {
        let kinds = self.paths()?;
        if kinds.len() > MOST_KINDS {
            return Ok(None);
        }
        let number: HashMap<u64, usize> = kinds.iter().map(PathKind::code).zip(0..).collect();
        // Of each unit of a level the kinds of the paths through it.
        let of_place = |code: &u64| number.get(code).map_or(0, |kind| 1_u64 << kind);
        let mut through: Vec<u64> = self.path_codes().iter().map(of_place).collect();
        let (levels, count) = (self.tree.levels(), kinds.len());
        let mut fewest: Vec<Vec<Option<usize>>> = vec![vec![None; count]; count];
        (0..count).for_each(|kind| fewest[kind][kind] = Some(levels));
        for level in (0..levels - 1).rev() {
            let mut beside = vec![0_u64; count];
            let mut above = Vec::with_capacity(self.tree.units(level));
            for unit in 0..self.tree.units(level) {
                let mut seen = 0;
                for child in self.tree.children(level, unit) {
                    each_bit(through[child]).for_each(|kind| beside[kind] |= seen);
                    seen |= through[child];
                }
                above.push(seen);
            }
            for (one, beside) in beside.iter().enumerate() {
                for other in each_bit(*beside) {
                    fewest[one.min(other)][one.max(other)] = Some(level + 1);
                }
            }
            through = above;
        }
        let partings = fewest.iter().enumerate().flat_map(|(one, others)| {
            let parting = move |(other, shared): (usize, &Option<usize>)| {
                shared.map(|shared| Parting { kinds: [one, other], shared })
            };
            others.iter().enumerate().filter_map(parting)
        });
        Ok(Some(partings.collect()))
    }
}

fn each_bit(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(bit)
    })
}

/// The privacy of all noisy counts on a spine.
#[derive(Clone, Debug)]
pub struct RecordAccount {
    /// The ways in which a record changes the counts; `None` if no count changes.
    worst: Option<WorstPath>,
    /// The kinds of paths of each way, by its number in answers; in order if they are those of the answer itself.
    kinds: Option<Vec<Vec<usize>>>,
    /// Why the account is an upper bound; `None` if it is exact.
    reason: Option<&'static str>,
}

/// The epsilon of all noisy counts on a spine.
#[derive(Clone, Debug)]
pub struct RecordEpsilon {
    /// The epsilon of the account; where there is a reason only its upper end is proven of the noisy counts.
    pub value: Enclosure,
    /// The kinds of the path of the record with that epsilon, or of both paths of the pair.
    pub kinds: Vec<usize>,
    /// Why it is an upper bound; `None` if it is exact.
    pub reason: Option<&'static str>,
}

impl RecordEpsilon {
    /// An epsilon in JSON: of an upper bound only the upper end.
    pub fn json(value: &Enclosure, reason: Option<&str>) -> Value {
        let mut json = value.to_json();
        if let (Value::Object(ends), true) = (&mut json, reason.is_some()) {
            ends.insert("lower".to_string(), Value::Null);
        }
        json
    }
}

impl RecordAccount {
    /// The account of the counts of each level on each kind of path; `reason` says why no record may change all of them.
    pub fn new(
        spine: &Spine,
        neighbors: Neighbors,
        paths: &[Vec<LevelCounts>],
        reason: Option<&'static str>,
    ) -> Result<RecordAccount> {
        let whole = |path: &Vec<LevelCounts>| {
            Composition::new(path.iter().flat_map(|level| level.several.iter().chain(&level.single)).cloned())
        };
        let all = |units, reason| {
            let worst = WorstPath::new(paths.iter().map(whole).collect::<Result<_>>()?, units)?;
            Ok(RecordAccount { worst: Some(worst), kinds: None, reason })
        };
        if neighbors == Neighbors::AddRemove {
            return all(Units::Single, reason.filter(|why| *why == TWO_HISTOGRAMS));
        }
        if paths.iter().flatten().all(|level| level.single.is_empty()) {
            return all(Units::Pairs, reason);
        }
        let Some(partings) = spine.partings()?.filter(|all| all.len() <= MOST_PAIRS) else {
            return all(Units::Pairs, reason.or(Some(MANY)));
        };
        let (mut ways, mut kinds) = (Vec::new(), Vec::new());
        for Parting { kinds: [one, other], shared } in partings {
            let side = |kind: usize| {
                paths[kind].iter().enumerate().flat_map(move |(level, counts)| {
                    let single = if level < shared { &[] } else { &counts.single[..] };
                    counts.several.iter().chain(single).cloned()
                })
            };
            let changed: Vec<Counts> = side(one).chain(side(other)).collect();
            if !changed.is_empty() {
                ways.push(Composition::new(changed)?);
                kinds.push(vec![one, other]);
            }
        }
        let worst = if ways.is_empty() { None } else { Some(WorstPath::new(ways, Units::Single)?) };
        Ok(RecordAccount { worst, kinds: Some(kinds), reason })
    }

    /// The account of a release that is drawn on a spine, with its paths in the order of the spine's.
    pub fn of_release(spine: &Spine, release: &Release) -> Result<RecordAccount> {
        if release.budget_only {
            return Err(Error::BudgetOnly { release: release.name.clone() });
        }
        let widths = Widths::of_release(release);
        let of_path = |kind: PathKind| {
            let mut levels = vec![LevelCounts::default(); release.levels.len()];
            for (level, query, counts) in release.path_counts_by_query(&kind.dropped)? {
                let own = &mut levels[level];
                if widths.is_single(query) { &mut own.single } else { &mut own.several }.extend(counts);
            }
            Ok(levels)
        };
        let paths = spine.paths()?.into_iter().map(of_path).collect::<Result<Vec<_>>>()?;
        RecordAccount::new(spine, release.neighbors, &paths, widths.reason(release)?)
    }

    /// The epsilon at delta, with the records that have it.
    pub fn epsilon(&self, delta: &Delta, digits: u32) -> Result<RecordEpsilon> {
        let Some(worst) = &self.worst else {
            return Ok(RecordEpsilon { value: Enclosure::double(0.0, 64), kinds: Vec::new(), reason: None });
        };
        let answer = worst.epsilon(delta, digits)?;
        let (one, other) = answer.pair().unwrap_or_default();
        let kinds = match &self.kinds {
            Some(kinds) => kinds.get(one).cloned().unwrap_or_default(),
            None if worst.in_pairs() => vec![one, other],
            None => vec![one],
        };
        Ok(RecordEpsilon { value: answer.value, kinds, reason: self.reason })
    }

    /// Whether no count changes.
    pub fn is_still(&self) -> bool {
        self.worst.is_none()
    }
}

/// The numbers of counts of the queries of a release, by the schema.
struct Widths {
    /// `None` for a query that the schema does not determine.
    by_name: HashMap<String, Option<usize>>,
}

impl Widths {
    fn of_release(release: &Release) -> Widths {
        let width = |query: &Query| {
            let is_plain = query.cells == 1 && !query.free_rows && query.changed == Changed::Twice;
            let schema = release.schema.as_ref().filter(|_| is_plain)?;
            schema.group(&query.name).ok().map(|group| group.counts())
        };
        let queries = release.levels.iter().flat_map(|level| &level.queries);
        Widths { by_name: queries.map(|query| (query.name.clone(), width(query))).collect() }
    }

    fn is_single(&self, query: &Query) -> bool {
        self.by_name.get(&query.name).copied().flatten() == Some(1)
    }

    /// Why no record may change all counts.
    fn reason(&self, release: &Release) -> Result<Option<&'static str>> {
        match &release.schema {
            Some(schema) if self.by_name.values().all(Option::is_some) => {
                reason_of(schema, self.by_name.keys().map(String::as_str))
            }
            _ if release.neighbors == Neighbors::AddRemove => Ok(None),
            _ => Ok(Some(UNKNOWN)),
        }
    }
}

/// Why the account of a release by its paths in full is an upper bound, if the places are not known; `None` if it is exact.
pub fn reason_without_places(release: &Release) -> Result<Option<&'static str>> {
    let widths = Widths::of_release(release);
    let mut queries = release.levels.iter().flat_map(|level| &level.queries);
    let is_single = release.neighbors == Neighbors::Bounded && queries.any(|query| widths.is_single(query));
    Ok(if is_single { Some(SINGLE) } else { widths.reason(release)? })
}

/// Why no two records may change all counts of these queries with several counts; `None` if two do.
pub(crate) fn reason_of<'q>(schema: &Schema, queries: impl Iterator<Item = &'q str>) -> Result<Option<&'static str>> {
    if schema.beside.is_some() {
        return Ok(Some(TWO_HISTOGRAMS));
    }
    Ok((!schema.changes_all(queries)?).then_some(ALIKE))
}
