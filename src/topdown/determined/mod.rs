//! Which queries of which units the noisy counts of a release determine, known before any noise is drawn: the rank of the
//! whole design, with all levels, recodes and bypassed units.
//!
//! Least squares has an estimate of a query of a unit if and only if each of its counts is a linear combination of all
//! expected noisy counts. In the [sectors](super::gls::basis) this is a question about small matrices of zeros and ones,
//! which `walk` answers for all units at once, in exact fractions. A total that is known exactly adds nothing to a unit with
//! noisy counts, because each of its queries determines its total.
//!
//! | file | content |
//! | --- | --- |
//! | `space` | spaces of linear functions, in exact fractions |
//! | `walk` | the spaces that are known of each unit of a tree, and covariances in them |
//! | [`totals`] | the certified variances of totals |

mod space;
pub mod totals;
mod walk;

use std::collections::HashMap;

use rug::Rational;
use serde_json::{Value, json};

use self::walk::{Belief, walk};
use super::{
    gls::{
        basis::{Basis, Part},
        problem::Problem,
    },
    measure::MeasurementPlan,
    nmf::names::parts_of,
};
use crate::{
    error::{Error, Result},
    release::{Release, schema::Schema},
    spine::{bypass::Spine, plan::BuiltSpine},
};

/// The queries that are measured at each level of a spine.
#[derive(Clone, Debug)]
pub struct Design<'a> {
    spine: &'a Spine,
    schema: &'a Schema,
    /// The names of the queries of each level.
    queries: Vec<Vec<String>>,
}

/// A query that the noisy counts do not determine in some units of a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undetermined {
    /// The level.
    pub level: usize,
    /// The query.
    pub query: String,
    /// The number of units in which it is not determined.
    pub units: usize,
    /// The first of them.
    pub first: usize,
    /// Whether one of them carries no share of the budget, so that its own level does not measure it.
    pub is_without_share: bool,
    /// The levels that determine it, if the query is measured there as well.
    pub remedy: Vec<usize>,
}

/// One of the histograms of a release: its attributes, and its queries of each level.
struct Histogram<'a> {
    schema: &'a Schema,
    sizes: Vec<usize>,
    levels: Vec<Vec<Vec<Part>>>,
}

impl<'a> Design<'a> {
    /// The queries that a plan measures.
    pub fn of_plan(plan: &'a MeasurementPlan, schema: &'a Schema) -> Design<'a> {
        let names = |level: &Vec<super::measure::PlannedQuery>| {
            level.iter().map(|query| query.group.name.clone()).collect::<Vec<_>>()
        };
        Design { spine: plan.spine(), schema, queries: plan.levels().iter().map(names).collect() }
    }

    /// The queries of a release, with this schema, on a spine of as many levels.
    pub fn of_release(spine: &'a Spine, release: &Release, schema: &'a Schema) -> Design<'a> {
        let names = |level: &crate::release::GeoLevel| level.queries.iter().map(|query| query.name.clone()).collect();
        Design { spine, schema, queries: release.levels.iter().map(names).collect() }
    }

    /// The queries of each level, as requests for their estimates in the units of that level.
    pub fn own(&self) -> Vec<(usize, String)> {
        let of_level = |(level, queries): (usize, &Vec<String>)| {
            queries.iter().map(|query| (level, query.clone())).collect::<Vec<_>>()
        };
        self.queries.iter().enumerate().flat_map(of_level).collect()
    }

    /// All its queries at every level.
    pub fn all(&self) -> Vec<(usize, String)> {
        let mut names: Vec<&String> = Vec::new();
        for name in self.queries.iter().flatten() {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let levels = 0..self.queries.len();
        names.into_iter().flat_map(|name| levels.clone().map(move |level| (level, name.clone()))).collect()
    }

    /// The requests, each a level and a query, that the noisy counts do not determine in every unit of the level.
    pub fn undetermined(&self, requests: &[(usize, String)]) -> Result<Vec<Undetermined>> {
        let mut found = Vec::new();
        for (at, open) in self.open(requests)?.into_iter().enumerate() {
            let Some(first) = open.iter().position(|open| *open) else { continue };
            let (level, query) = requests[at].clone();
            let is_without_share = (0..open.len()).any(|unit| open[unit] && self.spine.carried(level, unit) == 0);
            let units = open.iter().filter(|open| **open).count();
            let remedy = self.remedy(level, &query, &open)?;
            found.push(Undetermined { level, query, units, first, is_without_share, remedy });
        }
        Ok(found)
    }

    /// The levels at which measuring a query determines it in all units of this level: one level, the next below or else
    /// above; or the levels whose units measure for those in which it is open; or all.
    fn remedy(&self, level: usize, query: &str, open: &[bool]) -> Result<Vec<usize>> {
        let levels = self.queries.len();
        let is_new = |at: &usize| !self.queries[*at].iter().any(|own| own == query);
        let single = (level..levels).chain((0..level).rev()).filter(is_new).map(|at| vec![at]);
        let measuring = self.measuring(level, open).into_iter().filter(is_new).collect();
        for at in single.chain([measuring]) {
            let mut with = self.clone();
            at.iter().for_each(|at| with.queries[*at].push(query.to_string()));
            let open = with.open(&[(level, query.to_string())])?;
            if !open.iter().flatten().any(|open| *open) {
                return Ok(at);
            }
        }
        Ok((0..levels).filter(is_new).collect())
    }

    /// The levels of the units with a share of which these units of a level are parts or which they are, the next above each.
    fn measuring(&self, level: usize, open: &[bool]) -> Vec<usize> {
        let tree = &self.spine.tree;
        let parents: Vec<Vec<u32>> = (1..=level).map(|below| tree.parents(below)).collect();
        let mut found = vec![false; level + 1];
        for unit in (0..open.len()).filter(|unit| open[*unit]) {
            let (mut at, mut unit) = (level, unit);
            while at > 0 && self.spine.carried(at, unit) == 0 {
                unit = parents[at - 1][unit] as usize;
                at -= 1;
            }
            found[at] = true;
        }
        (0..=level).filter(|at| found[*at]).collect()
    }

    /// The queries of which there is no estimate from files in the Bureau's layout: those that the queries of the lowest level alone do not determine.
    pub fn undetermined_from_below(&self) -> Result<Vec<String>> {
        let Some(last) = self.queries.len().checked_sub(1) else { return Ok(Vec::new()) };
        let beside = self.schema.beside.as_ref().map(|beside| &beside.schema);
        let mut open = Vec::new();
        for (schema, is_beside) in [(Some(self.schema), false), (beside, true)] {
            let Some(schema) = schema else { continue };
            let is_of = |name: &str| self.schema.asks_beside(name).is_some() == is_beside;
            let histogram = Histogram::new(schema, &self.queries, &is_of)?;
            let apart = vec![Part::Total; histogram.sizes.len()];
            for name in self.queries.iter().flatten().filter(|name| is_of(name)) {
                if open.contains(name) {
                    continue;
                }
                let problem =
                    Problem::for_answers(&histogram.sizes, &histogram.levels, &[parts_of(schema, name)?], &apart)?;
                if !problem.is_level_determined(last) {
                    open.push(name.clone());
                }
            }
        }
        Ok(open)
    }

    /// For each request, whether the query is not determined, by unit of its level.
    fn open(&self, requests: &[(usize, String)]) -> Result<Vec<Vec<bool>>> {
        let tree = &self.spine.tree;
        let mut open: Vec<Vec<bool>> = requests.iter().map(|(level, _)| vec![false; tree.units(*level)]).collect();
        let beside = self.schema.beside.as_ref().map(|beside| &beside.schema);
        for (schema, is_beside) in [(Some(self.schema), false), (beside, true)] {
            let Some(schema) = schema else { continue };
            let is_of = |name: &str| self.schema.asks_beside(name).is_some() == is_beside;
            let own: Vec<usize> = (0..requests.len()).filter(|at| is_of(&requests[*at].1)).collect();
            if own.is_empty() {
                continue;
            }
            let histogram = Histogram::new(schema, &self.queries, &is_of)?;
            histogram.mark(self.spine, requests, &own, &mut open)?;
        }
        Ok(open)
    }
}

impl<'a> Histogram<'a> {
    fn new(schema: &'a Schema, queries: &[Vec<String>], is_of: &dyn Fn(&str) -> bool) -> Result<Histogram<'a>> {
        let level = |names: &Vec<String>| {
            names.iter().filter(|name| is_of(name)).map(|name| parts_of(schema, name)).collect::<Result<Vec<_>>>()
        };
        Ok(Histogram {
            schema,
            sizes: schema.attributes.iter().map(|attribute| attribute.values.len()).collect(),
            levels: queries.iter().map(level).collect::<Result<_>>()?,
        })
    }

    /// Whether every level measures every cell: then a unit with a share determines all of its histogram, and the question is
    /// that of a single number.
    fn is_detailed(&self) -> bool {
        let detailed =
            |parts: &Vec<Part>| parts.iter().zip(&self.sizes).all(|(part, size)| part.groups(*size) == *size);
        self.levels.iter().all(|queries| queries.iter().any(detailed))
    }

    /// Marks the units in which the requests of these numbers are open.
    fn mark(&self, spine: &Spine, requests: &[(usize, String)], own: &[usize], open: &mut [Vec<bool>]) -> Result<()> {
        let level_of = |at: usize| requests[own[at]].0;
        if self.is_detailed() {
            let one = vec![vec![0]];
            let (measured, asked) = (vec![one.clone(); self.levels.len()], vec![one; own.len()]);
            for (at, marks) in own.iter().zip(open_in_sector(spine, 1, &measured, &asked, &level_of)) {
                open[*at] = marks;
            }
            return Ok(());
        }
        let parts = own.iter().map(|at| parts_of(self.schema, &requests[*at].1)).collect::<Result<Vec<_>>>()?;
        let queries = self.levels.iter().flatten().chain(&parts).map(Vec::as_slice);
        let apart = vec![Part::Total; self.sizes.len()];
        let basis = Basis::new(&self.sizes, queries, &apart, Some(&parts))?;
        let rows: Vec<usize> = basis.rows().collect();
        // Sectors in which all queries count the same sums.
        let mut known: HashMap<(usize, Sums, Sums), Vec<Vec<bool>>> = HashMap::new();
        for (sector, rows) in rows.into_iter().enumerate() {
            let sums = |queries: &[Vec<Part>]| -> Vec<Vec<Vec<usize>>> {
                let own = |parts: &Vec<Part>| basis.sums(sector, parts).into_iter().map(|(rows, _)| rows).collect();
                queries.iter().map(own).collect()
            };
            let measured: Vec<Vec<Vec<usize>>> = self.levels.iter().map(|level| sums(level).concat()).collect();
            let asked = sums(&parts);
            let key = (rows, measured, asked);
            if !known.contains_key(&key) {
                let value = open_in_sector(spine, rows, &key.1, &key.2, &level_of);
                known.insert(key.clone(), value);
            }
            for (at, marks) in own.iter().zip(&known[&key]) {
                open[*at].iter_mut().zip(marks).for_each(|(open, mark)| *open |= mark);
            }
        }
        Ok(())
    }
}

/// By level or query: the sums that are counted, each by its rows.
type Sums = Vec<Vec<Vec<usize>>>;

/// The function that sums these rows.
fn function(rows: usize, of: &[usize]) -> Vec<Rational> {
    (0..rows).map(|row| Rational::from(u32::from(of.contains(&row)))).collect()
}

/// For each request, by unit of its level, whether some of its sums is not determined in a sector with this number of rows.
fn open_in_sector(
    spine: &Spine,
    rows: usize,
    measured: &Sums,
    asked: &Sums,
    level_of: &dyn Fn(usize) -> usize,
) -> Vec<Vec<bool>> {
    let belief = |level: usize, carried: usize| {
        let sums = if carried > 0 { &measured[level][..] } else { &[] };
        Belief::of_counts(rows, &sums.iter().map(|own| (function(rows, own), ())).collect::<Vec<_>>())
    };
    // Only whether a unit is measured matters.
    let carried = |level: usize, unit: usize| spine.carried(level, unit).min(1);
    let known = walk::<()>(&spine.tree, rows, &carried, &belief, true);
    let of = |(at, sums): (usize, &Vec<Vec<usize>>)| {
        let functions: Vec<Vec<Rational>> = sums.iter().map(|own| function(rows, own)).collect();
        let mut of_final: HashMap<u32, bool> = HashMap::new();
        let mut is_open = |number: &u32| {
            let space = &known.finals[*number as usize].space;
            *of_final.entry(*number).or_insert_with(|| functions.iter().any(|function| !space.contains(function)))
        };
        known.final_of[level_of(at)].iter().map(&mut is_open).collect()
    };
    asked.iter().enumerate().map(of).collect()
}

/// The queries of the release of a spine's plan that its noisy counts will not determine at some level; none if the plan
/// names no release with attributes.
pub fn on_built(built: &BuiltSpine) -> Result<Vec<Undetermined>> {
    let Some((release, schema)) = built.release.as_ref().and_then(|own| Some((own, own.schema.as_ref()?))) else {
        return Ok(Vec::new());
    };
    if release.budget_only {
        return Ok(Vec::new());
    }
    let design = Design::of_release(&built.spine, release, schema);
    design.undetermined(&design.all())
}

impl Undetermined {
    /// In words: what is not determined, and what would determine it. `unit` names a unit of a level.
    pub fn described(&self, levels: &[String], unit: &dyn Fn(usize, usize) -> String) -> String {
        let (name, query) = (&levels[self.level], &self.query);
        let first = unit(self.level, self.first);
        let whose = match self.units {
            // The root of a hierarchy of one's own has no name.
            1 if first.is_empty() => name.clone(),
            1 => format!("{name} {first:?}"),
            units => format!("{units} units of {name}, the first {first:?}"),
        };
        let why = if self.is_without_share { ", where some units carry no share of the budget" } else { "" };
        let at: Vec<&str> = self.remedy.iter().map(|level| levels[*level].as_str()).collect();
        let at = match &at[..] {
            [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
            one => one.concat(),
        };
        format!("the noisy counts do not determine {query:?} of {whose}{why}: measure {query:?} at {at} as well")
    }

    /// As JSON.
    pub fn to_json(&self, levels: &[String], unit: &dyn Fn(usize, usize) -> String) -> Value {
        json!({
            "level": levels[self.level],
            "query": self.query,
            "units": self.units,
            "first": unit(self.level, self.first),
            "determined_by_measuring_at": self.remedy.iter().map(|level| &levels[*level]).collect::<Vec<_>>(),
        })
    }
}

/// The refusal of requests that are not determined; `Ok` if there is none.
pub fn refuse(open: &[Undetermined], levels: &[String], unit: &dyn Fn(usize, usize) -> String) -> Result<()> {
    let said: Vec<String> = open.iter().take(4).map(|open| open.described(levels, unit)).collect();
    let more = if open.len() > 4 { format!("; and {} more", open.len() - 4) } else { String::new() };
    if open.is_empty() { Ok(()) } else { Err(Error::unsuitable(format!("{}{more}", said.join("; ")))) }
}
