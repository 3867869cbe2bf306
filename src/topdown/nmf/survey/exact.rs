//! Exact totals that contradict each other or the constraints of the files, found before any count is estimated.
//!
//! The counts are those of the blocks in the same areas of a state, whole and never negative; where all constraints are kept, also at least and
//! at most what the bounds of their blocks say. The blocks outside of all these areas are one more count of each state.

use std::collections::{BTreeMap, HashMap};

use rug::Integer;

use super::{opened::Survey, settings::AreaSource};
use crate::{
    error::{Error, Result},
    spine::codes::geoid_of,
    topdown::nmf::{
        areas::Areas,
        complete::shortened,
        exact::{Contradiction, Count, System},
        folder::of_part,
        rows,
        units::{Constraints, Meanings},
    },
};

/// An exact total.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Exact {
    Area(u32),
    State(u32),
    Nation,
}

/// What the bounds of a block say of its total.
#[derive(Clone, Copy, Debug, Default)]
struct BlockBounds {
    lower: i64,
    upper: Option<i64>,
}

impl BlockBounds {
    fn keep(&mut self, (lower, upper): (i64, Option<i64>)) {
        self.lower = self.lower.max(lower);
        self.upper = [self.upper, upper].into_iter().flatten().min();
    }
}

impl Survey {
    /// Refuses exact totals of areas that no whole counts have: together, with the exact totals of states and the nation, and with the bounds of
    /// the blocks.
    pub(super) fn check_exact_totals(&self) -> Result<()> {
        let AreaSource::Given(areas) = &self.settings.areas else { return Ok(()) };
        if areas.totals().next().is_none() {
            return Ok(());
        }
        let (known, system) = self.exact_system(areas)?;
        system
            .contradiction()
            .map_or(Ok(()), |why| Err(Explained { areas, known: &known, system: &system }.refuse(&why)))
    }

    fn exact_system(&self, areas: &Areas) -> Result<(Vec<Exact>, System)> {
        let mut totals: BTreeMap<Exact, i64> = areas.totals().map(|(area, total)| (Exact::Area(area), total)).collect();
        let of_states = self.states.keys().filter_map(|state| Some((Exact::State(*state), self.total_of(*state)?)));
        totals.extend(of_states);
        let kept = self.uses_nation && self.settings.constraints != Constraints::None;
        totals.extend(self.root.total.filter(|_| kept).map(|total| (Exact::Nation, total)));
        let place: HashMap<Exact, usize> = totals.keys().enumerate().map(|(at, exact)| (*exact, at)).collect();
        let mut counts: BTreeMap<Vec<usize>, (Integer, Option<Integer>)> = BTreeMap::new();
        for state in self.states.keys() {
            for (geoid, bounds) in self.bounds_of_blocks(*state)? {
                let shares = areas.of_block.get(&geoid).into_iter().flatten().filter(|share| share.weight > 0.0);
                let own = shares.map(|share| Exact::Area(share.area)).chain([Exact::State(*state), Exact::Nation]);
                let mut of: Vec<usize> = own.filter_map(|exact| place.get(&exact).copied()).collect();
                of.sort_unstable();
                let count = counts.entry(of).or_insert_with(|| (Integer::new(), Some(Integer::new())));
                count.0 += bounds.lower;
                count.1 = count.1.take().zip(bounds.upper).map(|(sum, own)| sum + own);
            }
        }
        let count = |(of, (lower, upper))| Count { of, lower, upper };
        let system = System {
            totals: totals.values().map(|total| Integer::from(*total)).collect(),
            counts: counts.into_iter().map(count).filter(|count| !count.of.is_empty()).collect(),
        };
        Ok((totals.into_keys().collect(), system))
    }

    /// The blocks of a state in the files, with the bounds of their totals.
    fn bounds_of_blocks(&self, state: u32) -> Result<BTreeMap<u64, BlockBounds>> {
        let mut blocks: BTreeMap<u64, BlockBounds> = BTreeMap::new();
        let with_bounds = self.settings.constraints == Constraints::All;
        let columns = if with_bounds { self.names.constraint_columns() } else { Vec::new() };
        let last = self.folder.levels.len() - 1;
        let mut meanings = Meanings::default();
        for part in &self.states[&state] {
            for file in of_part(&self.folder.levels[last].constraints, part) {
                rows::read(&file.path, &columns, |row| {
                    let own = row.geocode.starts_with(part.as_bytes()).then(|| geoid_of(row.geocode));
                    let Some(geoid) = own.flatten() else { return Ok(()) };
                    let block = blocks.entry(geoid).or_default();
                    if with_bounds {
                        let meaning =
                            meanings.meaning(&self.names, row).map_err(|why| rows::refuse(&file.path, row, &why))?;
                        block.keep(meanings.known[meaning].constraint.bounds_of_total(row.values));
                    }
                    Ok(())
                })?;
            }
        }
        Ok(blocks)
    }
}

/// A contradiction, with what names its totals.
struct Explained<'t> {
    areas: &'t Areas,
    known: &'t [Exact],
    system: &'t System,
}

impl Explained<'_> {
    fn name(&self, total: usize) -> String {
        match self.known[total] {
            Exact::Area(area) => format!("{:?}", self.areas.names[area as usize]),
            Exact::State(state) => format!("the state {state:02}"),
            Exact::Nation => "the nation".to_string(),
        }
    }

    /// Terms with these signs, as a sum.
    fn sum(&self, terms: &[(usize, Integer)], positive: bool) -> (String, Integer) {
        let own = terms.iter().filter(|(_, times)| (*times > 0) == positive);
        let (mut names, mut sum) = (Vec::new(), Integer::new());
        for (total, times) in own {
            let times = times.clone().abs();
            let name = self.name(*total);
            names.push(if times == 1 { name } else { format!("{times} x {name}") });
            sum += times * &self.system.totals[*total];
        }
        (names.join(" + "), sum)
    }

    /// The refusal, at the line of the first area that it is about.
    fn refuse(&self, why: &Contradiction) -> Error {
        let (terms, said): (&[_], String) = match why {
            Contradiction::Below { terms, least, .. } => (terms, self.below(terms, least)),
            Contradiction::Fraction { terms, sum, divisor } => {
                let ((more, _), (less, _)) = (self.sum(terms, true), self.sum(terms, false));
                let less = if less.is_empty() { String::new() } else { format!(" - ({less})") };
                let said = format!("{more}{less} is {sum}, but has each block a multiple of {divisor} times");
                (terms, format!("and those of others exclude whole counts, because {said}"))
            }
            Contradiction::NoWholeCounts => {
                (&[], "and those of others exclude each other: no whole counts of blocks have all of them".to_string())
            }
        };
        let said = format!("{said}: they contradict each other");
        match (self.first_area(terms), terms.first()) {
            (Some(area), _) => self.areas.refuse_total(area, &said),
            (None, Some((total, _))) => Error::conflict(format!("the exact total of {} {said}", self.name(*total))),
            (None, None) => match self.areas.totals().next() {
                Some((area, _)) => self.areas.refuse_total(area, &said),
                None => Error::conflict(format!("the exact totals of areas {said}")),
            },
        }
    }

    /// The first area whose total is taken positively, or else negatively.
    fn first_area(&self, terms: &[(usize, Integer)]) -> Option<u32> {
        let area = |(total, _): &(usize, Integer)| match self.known[*total] {
            Exact::Area(area) => Some(area),
            Exact::State(_) | Exact::Nation => None,
        };
        let of_sign = |positive: bool| terms.iter().filter(move |(_, times)| (*times > 0) == positive).find_map(area);
        of_sign(true).or_else(|| of_sign(false))
    }

    /// The words for a combination below the least that its counts leave.
    fn below(&self, terms: &[(usize, Integer)], least: &Integer) -> String {
        let ((more, has), (less, other)) = (self.sum(terms, true), self.sum(terms, false));
        let are = |names: &str| if names.contains(" + ") { "have" } else { "has" };
        let by = "by the constraints of the files";
        let own = |all: &Integer| format!("is given as {all}");
        match (more.is_empty(), less.is_empty()) {
            (_, true) if terms.len() == 1 => format!("{}, and is at least {least} {by}", own(&has)),
            (_, true) => format!("and those of others are too small: {more} have {has}, and at least {least} {by}"),
            (true, _) if terms.len() == 1 => {
                format!("{}, and is at most {} {by}", own(&other), Integer::from(-least))
            }
            (true, _) => {
                format!(
                    "and those of others are too large: {less} have {other}, and at most {} {by}",
                    Integer::from(-least)
                )
            }
            _ if *least == 0 && self.is_of_one_area(terms) => {
                let names: Vec<String> =
                    terms.iter().filter(|(_, times)| *times < 0).map(|(total, _)| self.name(*total)).collect();
                let verb = if names.len() == 1 { "has" } else { "have" };
                format!("{}, and {} inside it {verb} {other}", own(&has), shortened(&names))
            }
            _ => {
                let than = match least.cmp0() {
                    std::cmp::Ordering::Equal => {
                        "though no block is in the second more often than in the first".to_string()
                    }
                    std::cmp::Ordering::Greater => format!("and {by} the first {} at least {least} more", are(&more)),
                    std::cmp::Ordering::Less => {
                        format!("and {by} the first {} at most {} less", are(&more), Integer::from(-least))
                    }
                };
                format!(
                    "and those of others differ: {more} {} {has}, and {less} {} {other}, {than}",
                    are(&more),
                    are(&less)
                )
            }
        }
    }

    /// Whether one term is taken positively, an area, and each once: the others are inside it, without a block in common.
    fn is_of_one_area(&self, terms: &[(usize, Integer)]) -> bool {
        let mut positive = terms.iter().filter(|(_, times)| *times > 0);
        let first = positive.next().is_some_and(|(total, _)| matches!(self.known[*total], Exact::Area(_)));
        first && positive.next().is_none() && terms.iter().all(|(_, times)| times.clone().abs() == 1)
    }
}
