//! The noisy counts of the units of a part, assembled from the rows of its files.
//!
//! In the published files the rows of a unit are consecutive, but nothing guarantees it: incomplete units are kept
//! until they are complete. A unit has counts of all queries of its level or of none.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use super::{
    budgets::Budgets,
    fit::{FitPlan, Walk},
    folder::{NmfFile, NmfFolder, of_part},
    meter::Phase,
    names::Names,
    noise::Noise,
    rows::{self, Row},
    units::{Geocodes, PartUnits},
};
use crate::{
    error::{Error, Result},
    topdown::gls::pass::{Measurements, UnitCounts},
};

/// Approximate number of numbers in a batch.
const BATCH: usize = 1 << 18;

/// The noisy counts of a part of a state.
pub struct PartCounts<'a> {
    /// The files.
    pub folder: &'a NmfFolder,
    /// The queries.
    pub names: &'a Names,
    /// The units.
    pub units: &'a PartUnits,
    /// The level of the part among those of the release.
    pub first: usize,
    /// The variances of the release; others are refused.
    pub budgets: &'a Budgets,
    /// Counts the units read, if requested.
    pub seen: Option<Phase<'a>>,
    /// Records data about units read from the lowest level upwards, if requested.
    pub watch: Option<Mutex<Watch<'a>>>,
}

/// Recorded data about the units of a part: the number of levels whose shares each carries, and the fit of their
/// counts.
pub struct Watch<'a> {
    /// By level of the part and unit; 0 for units without counts.
    pub carried: Vec<Vec<u8>>,
    /// The residuals, if requested.
    pub walk: Option<Walk<'a>>,
}

impl<'a> Watch<'a> {
    /// No units yet; with a plan, residuals are computed.
    pub fn new(plan: Option<&'a FitPlan>, units: &'a PartUnits, first: usize) -> Watch<'a> {
        let carried = units.codes.iter().map(|codes| vec![0; codes.len()]).collect();
        Watch { carried, walk: plan.map(|plan| Walk::new(plan, units, first)) }
    }

    fn observe(&mut self, level: usize, unit: &UnitCounts, carried: usize, noise: &[Noise]) {
        // The number of levels fits in a byte.
        self.carried[level][unit.unit] = carried as u8;
        if let Some(walk) = &mut self.walk {
            walk.observe(level, unit, noise);
        }
    }
}

impl Measurements for PartCounts<'_> {
    fn read(&self, level: usize, take: &mut dyn FnMut(Vec<UnitCounts>) -> Result<()>) -> Result<()> {
        let files: Vec<&NmfFile> = of_part(&self.folder.levels[self.first + level].queries, &self.units.part).collect();
        let codes = &self.units.codes[level];
        let mut last: (Arc<[f32]>, usize) = (Arc::new([]), 0);
        read_units(&files, self.names, self.first + level, codes, self.units.part.as_bytes(), &mut |units| {
            let mut watch = self.watch.as_ref().map(|watch| watch.lock().unwrap_or_else(PoisonError::into_inner));
            for unit in &units {
                // Units with the same measurements share their variances, and most follow a unit with the same ones.
                if !Arc::ptr_eq(&last.0, &unit.variances) {
                    let code = || self.units.code(level, unit.unit);
                    let carried = self.budgets.carried_by(self.names, self.first + level, unit, code)?;
                    last = (unit.variances.clone(), carried);
                }
                if let Some(watch) = &mut watch {
                    watch.observe(level, unit, last.1, self.budgets.noise(self.first + level, last.1));
                }
            }
            drop(watch);
            if let Some(seen) = &self.seen {
                seen.observe(units.len());
            }
            take(units)
        })
    }

    fn name(&self, level: usize, unit: usize) -> String {
        format!("{} {}", self.names.levels[self.first + level], self.units.code(level, unit))
    }
}

/// The noisy counts of the nation.
pub struct NationCounts<'a> {
    /// The files.
    pub folder: &'a NmfFolder,
    /// The queries.
    pub names: &'a Names,
    /// The variances of the release.
    pub budgets: &'a Budgets,
}

impl NationCounts<'_> {
    /// The nation's counts, and the number of levels whose shares it carries, if it has any.
    pub fn read(&self) -> Result<Option<(UnitCounts, usize)>> {
        let files: Vec<&NmfFile> = self.folder.levels[0].queries.iter().collect();
        let mut found = None;
        read_units(&files, self.names, 0, &Geocodes::nation(), b"", &mut |units| {
            if let Some(unit) = units.into_iter().next() {
                let carried = self.budgets.carried_by(self.names, 0, &unit, String::new)?;
                found = Some((unit, carried));
            }
            Ok(())
        })?;
        Ok(found)
    }
}

/// A unit whose rows are incomplete so far.
struct Partial {
    seen: u64,
    variances: Vec<f32>,
    counts: Vec<f64>,
}

/// Passes on the units of some files, each when all its queries were read.
pub(super) fn read_units(
    files: &[&NmfFile],
    names: &Names,
    level: usize,
    codes: &Geocodes,
    prefix: &[u8],
    take: &mut dyn FnMut(Vec<UnitCounts>) -> Result<()>,
) -> Result<()> {
    read_histograms(files, &[names], level, codes, prefix, &mut |_, units| take(units))
}

/// The same for several histograms whose rows are in one file, which is read once: each unit is passed on once per
/// histogram, with the number of the histogram.
pub(super) fn read_histograms(
    files: &[&NmfFile],
    histograms: &[&Names],
    level: usize,
    codes: &Geocodes,
    prefix: &[u8],
    take: &mut dyn FnMut(usize, Vec<UnitCounts>) -> Result<()>,
) -> Result<()> {
    let mut coming = histograms.iter().map(|names| Coming::new(names, level, codes)).collect::<Result<Vec<_>>>()?;
    // The columns of the first histogram; for the second one no columns are read.
    let columns = histograms.first().map_or(&[][..], |names| names.columns());
    for file in files {
        rows::read(&file.path, columns, |row| {
            if !row.geocode.starts_with(prefix) {
                return match file.part {
                    Some(_) => Err(rows::refuse(&file.path, row, "lies in the folder of another part of a state")),
                    None => Ok(()),
                };
            }
            (coming.iter_mut().enumerate())
                .try_for_each(|(number, own)| own.observe(file, row, &mut |units| take(number, units)))
        })?;
    }
    coming.into_iter().enumerate().try_for_each(|(number, own)| own.end(&mut |units| take(number, units)))
}

/// The units of a histogram while their rows are read.
struct Coming<'a> {
    codes: &'a Geocodes,
    matcher: Matcher<'a>,
    /// The start of the counts of each query, and the number of all counts.
    starts: Vec<usize>,
    /// A bit for each query.
    all: u64,
    per_batch: usize,
    pending: HashMap<usize, Partial>,
    done: Vec<bool>,
    batch: Vec<UnitCounts>,
    current: Option<(usize, Partial)>,
    last_variances: Arc<[f32]>,
}

impl<'a> Coming<'a> {
    fn new(names: &'a Names, level: usize, codes: &'a Geocodes) -> Result<Coming<'a>> {
        let queries = names.queries(level);
        let mut starts = vec![0];
        queries.iter().for_each(|query| starts.push(starts[starts.len() - 1] + query.counts()));
        let total = starts[queries.len()];
        let all = if queries.len() >= 64 { u64::MAX } else { (1 << queries.len()) - 1 };
        if queries.len() > 64 {
            return Err(Error::out_of_range("the number of queries of a level", queries.len(), "at most 64"));
        }
        // Units of the DHC take 15 MB each: at most one per core.
        let per_batch = (BATCH / total.max(1)).clamp(rayon::current_num_threads().min(8), 4096);
        Ok(Coming {
            codes,
            matcher: Matcher { names, level, known: Vec::new(), next: 0 },
            starts,
            all,
            per_batch,
            pending: HashMap::new(),
            done: vec![false; codes.len()],
            batch: Vec::with_capacity(per_batch),
            current: None,
            last_variances: Arc::new([]),
        })
    }

    /// Adds a row; a row of another histogram is skipped.
    fn observe(
        &mut self,
        file: &NmfFile,
        row: &Row,
        take: &mut dyn FnMut(Vec<UnitCounts>) -> Result<()>,
    ) -> Result<()> {
        let wrong = |why: &str| rows::refuse(&file.path, row, why);
        let Some(at) = self.matcher.query(row).map_err(|why| wrong(&why))? else { return Ok(()) };
        let queries = self.matcher.names.queries(self.matcher.level);
        let (codes, all) = (self.codes, self.all);
        let near = self.current.as_ref().map_or(0, |(unit, partial)| unit + usize::from(partial.seen == all));
        if self.current.as_ref().is_none_or(|(unit, _)| codes.get(*unit) != row.geocode) {
            let unit = codes.find(row.geocode, near.min(codes.len()));
            let unit = unit.or_else(|| codes.find(row.geocode, near + 1));
            let unit = unit.ok_or_else(|| wrong("the Constraint files of its level do not have the geocode"))?;
            if self.done[unit] {
                return Err(wrong("the geocode occurs twice: all its queries were there before"));
            }
            if let Some((other, partial)) = self.current.take() {
                self.pending.insert(other, partial);
            }
            let counts = self.starts[queries.len()];
            let new = || Partial { seen: 0, variances: vec![0.0; queries.len()], counts: vec![0.0; counts] };
            self.current = Some((unit, self.pending.remove(&unit).unwrap_or_else(new)));
        }
        let Some((unit, partial)) = &mut self.current else { return Ok(()) };
        if partial.seen >> at & 1 == 1 {
            return Err(wrong("occurs twice: a unit answers a query once"));
        }
        if row.values.len() != queries[at].counts() {
            return Err(wrong(&format!("{} values: expected {}", row.values.len(), queries[at].counts())));
        }
        let variance = row.variance as f32;
        if !(variance > 0.0 && variance.is_finite()) {
            return Err(wrong(&format!("the variance {}: expected a number above 0", row.variance)));
        }
        partial.seen |= 1 << at;
        partial.variances[at] = variance;
        for (to, value) in partial.counts[self.starts[at]..self.starts[at + 1]].iter_mut().zip(row.values) {
            if value.unsigned_abs() > 1 << 50 {
                return Err(wrong(&format!("the count {value} is beyond 2^50")));
            }
            *to = *value as f64;
        }
        if partial.seen == all {
            self.done[*unit] = true;
            if *self.last_variances != *partial.variances {
                self.last_variances = partial.variances.as_slice().into();
            }
            let counts = std::mem::take(&mut partial.counts);
            self.batch.push(UnitCounts { unit: *unit, variances: self.last_variances.clone(), counts });
            self.current = None;
            if self.batch.len() == self.per_batch {
                take(std::mem::replace(&mut self.batch, Vec::with_capacity(self.per_batch)))?;
            }
        }
        Ok(())
    }

    /// Passes on the remaining units; refuses a unit that lacks queries.
    fn end(mut self, take: &mut dyn FnMut(Vec<UnitCounts>) -> Result<()>) -> Result<()> {
        self.pending.extend(self.current);
        if let Some((unit, partial)) = self.pending.iter().min_by_key(|(unit, _)| **unit) {
            let Matcher { names, level, .. } = self.matcher;
            let lacks: Vec<&str> = (names.queries(level).iter().enumerate())
                .filter(|(at, _)| partial.seen >> at & 1 == 0)
                .map(|(_, query)| query.name.as_str())
                .collect();
            let code = String::from_utf8_lossy(self.codes.get(*unit)).to_string();
            return Err(Error::missing(format!(
                "the {} {code} has noisy counts of some queries, and none of {}: a unit has those of all queries or of none",
                names.levels[level],
                lacks.join(", ")
            )));
        }
        if self.batch.is_empty() { Ok(()) } else { take(self.batch) }
    }
}

/// Finds the query of a row; a query seen before is recognized by its bytes.
struct Matcher<'a> {
    names: &'a Names,
    level: usize,
    known: Vec<Known>,
    next: usize,
}

struct Known {
    query: Option<usize>,
    name: Vec<u8>,
    axes: Vec<parquet::data_type::ByteArray>,
    shape: Vec<i64>,
}

impl Matcher<'_> {
    fn query(&mut self, row: &Row) -> std::result::Result<Option<usize>, String> {
        let is = |known: &Known| known.name == row.name && known.axes == row.axes && known.shape == row.shape;
        let guess = self.known.get(self.next).is_some_and(is).then_some(self.next);
        let at = match guess.or_else(|| self.known.iter().position(is)) {
            Some(at) => at,
            None => {
                let query = self.names.query(self.level, row)?;
                let (name, axes, shape) = (row.name.to_vec(), row.axes.to_vec(), row.shape.to_vec());
                self.known.push(Known { query, name, axes, shape });
                self.known.len() - 1
            }
        };
        self.next = (at + 1) % self.known.len();
        Ok(self.known[at].query)
    }
}
