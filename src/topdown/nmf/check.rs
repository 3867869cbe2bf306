//! Checks whether a folder of noisy measurements fits its release, and what privacy budget it spent.
//!
//! For each count the files hold the variance of its noise as a float: the variance of the law that was drawn from, not
//! its parameter sigma2. A unit that replaced bypassed units has the shares of the levels below it besides its own, so
//! its variances are those of one of a few runs of levels. A unit passes if the variances of all its queries belong to
//! one run; a path passes if its runs divide the budget exactly. Then every path is one of the release's, and the
//! privacy of the publication follows from the paths that occur.
//!
//! For a download of some states the check covers the files present and reports the missing ones. Whether the counts of
//! children fit those of their parents is checked by [`fit`](super::fit).

mod carried;
mod constraints;

use std::collections::BTreeMap;

use super::{
    complete::{Missing, state_of},
    fit::{FitReport, Stand, Tally},
    folder::NmfFolder,
    observe::{Blind, Observer, PartSeen},
    paths::{self, Paths},
    totals,
    units::{Asked, PartUnits, RootConstraints},
};
use crate::{
    error::{Error, Result},
    io::files::file_error,
    release::{self, Release},
    topdown::gls::problem::Problem,
};

use carried::Histograms;
pub use constraints::check_nation;

/// The result of a check.
#[derive(Clone, Debug)]
pub struct NmfReport {
    /// The folder of the product.
    pub product: String,
    /// The number of files, and their bytes.
    pub files: (usize, u64),
    /// The parts of states in the folder.
    pub parts: Vec<String>,
    /// The levels.
    pub levels: Vec<LevelReport>,
    /// The paths from the root to blocks that occur, by the levels that they drop, each with its number of blocks.
    pub paths: Vec<(Vec<usize>, u64)>,
    /// The release with these paths.
    pub release: Release,
    /// Equalities of the root that least squares does not use.
    pub unused: Vec<String>,
    /// Constraints of the root that are not understood: of two histograms, or of groups without known values.
    pub unread: Vec<String>,
    /// Equalities that make cells zero in every unit.
    pub zeros: Vec<String>,
    /// The number of cells of a histogram that these make zero.
    pub zero_cells: usize,
    /// The parts of states that the folder lacks.
    pub missing: Missing,
    /// The fit of the counts of each histogram.
    pub fit: Vec<FitReport>,
}

impl NmfReport {
    /// Whether the counts fit each other, and no state lacks its other part.
    pub fn is_sound(&self) -> bool {
        self.missing.halves.is_empty() && !self.fit.iter().any(FitReport::is_misfit)
    }
}

/// The result for a level.
#[derive(Clone, Debug, Default)]
pub struct LevelReport {
    /// Its name.
    pub name: String,
    /// The number of units.
    pub units: u64,
    /// The number of units with noisy counts.
    pub measured: u64,
    /// The number of noisy counts.
    pub counts: u64,
    /// The number of digits of a geocode.
    pub width: usize,
    /// The number of units, by the number of levels whose shares they carry.
    pub carried: BTreeMap<usize, u64>,
}

impl LevelReport {
    /// Adds units with these numbers of carried levels, each with `counts` counts if it has any.
    fn add(&mut self, carried: &[u8], counts: usize) {
        self.units += carried.len() as u64;
        for run in carried.iter().filter(|run| **run > 0) {
            self.measured += 1;
            self.counts += counts as u64;
            *self.carried.entry(usize::from(*run)).or_default() += 1;
        }
    }
}

/// Reads the whole folder, and refuses files that do not fit.
pub fn check(folder: &std::path::Path, release: &Release) -> Result<NmfReport> {
    observed(folder, release, &[], &mut Blind)
}

/// Reads the files of some states, or of all if none is named, and passes on every unit; refuses files that do not fit.
pub fn observed(
    folder: &std::path::Path,
    release: &Release,
    states: &[u32],
    observer: &mut dyn Observer,
) -> Result<NmfReport> {
    if release.budget_only {
        return Err(Error::BudgetOnly { release: release.name.clone() });
    }
    let histograms = Histograms::new(release)?;
    let names = histograms.names();
    let mut folder = NmfFolder::open(folder, &names.levels)?;
    keep_states(&mut folder, states)?;
    let missing = Missing::of(&folder, release)?;
    // The counts of the nation include all states.
    let is_whole = missing.is_complete() && states.is_empty();
    let root = RootConstraints::read(&folder, names)?;
    // Nothing is answered: the problem only compares the partitions that constraints distinguish.
    let problem = Problem::for_answers(&names.sizes, &[], &[], &root.zeros.apart)?;
    let asked = Asked { zeros: Some(&root.zeros), bounds: false };
    observer.open(&problem, &root);
    let first = root.first;
    let named = |name: &String| LevelReport { name: name.clone(), ..LevelReport::default() };
    let mut levels: Vec<LevelReport> = names.levels.iter().map(named).collect();
    let mut dropped: BTreeMap<Vec<usize>, u64> = BTreeMap::new();
    let plans = histograms.plans();
    let mut tallies = vec![Tally::default(); plans.len()];
    let mut stands: Vec<Vec<Stand>> = vec![Vec::new(); plans.len()];
    // Without files of the nation it is only known that no unit below carries the nation's share.
    let mut prefix = vec![1; first];
    if root.is_nation {
        if is_whole {
            check_nation(&folder, names)?;
        }
        let carried = histograms.of_nation(&folder, observer)?;
        levels[0].add(&[carried], names.all_counts(0));
        prefix = vec![carried];
    }
    let parts = folder.parts();
    for part in &parts {
        let units = PartUnits::read(&folder, names, &problem, first, part, asked)?;
        constraints::check_part(&folder, names, &units, first, &root.structural)?;
        observer.begin(&PartSeen { folder: &folder, names, units: &units, first })?;
        let (carried, fits) = histograms.of_part(&folder, &units, first, (&plans, observer))?;
        for (number, (tally, stand)) in fits.into_iter().enumerate() {
            tallies[number].join(&tally);
            stands[number].push(stand);
        }
        for (level, carried) in carried.iter().enumerate() {
            levels[first + level].width = units.codes[level].width();
            levels[first + level].add(carried, names.all_counts(first + level));
        }
        let paths = Paths::new(&units, &prefix, &carried);
        paths::check(&paths, (&folder, names, histograms.budgets()), &units)?;
        add_dropped(&paths, &mut dropped);
    }
    let wholes: Vec<Stand> = stands.iter().map(|of| Stand::sum(of.iter())).collect();
    if root.is_nation && is_whole {
        histograms.fit_nation(&folder, &plans, &wholes, &mut tallies)?;
    }
    if !histograms.are_two() {
        if let Some(total) = root.total.filter(|_| is_whole) {
            tallies[0].exact_total(&plans[0], 0, "", &wholes[0], total);
        }
        let mut states: BTreeMap<u32, Vec<String>> = BTreeMap::new();
        parts.iter().for_each(|part| states.entry(state_of(part)).or_default().push(part.clone()));
        for (state, total) in totals::of_files(&folder, names, first, &states)? {
            let own = parts.iter().zip(&stands[0]).filter(|(part, _)| state_of(part) == state);
            let whole = Stand::sum(own.map(|(_, stand)| stand));
            tallies[0].exact_total(&plans[0], first, &format!("{state:02}"), &whole, total);
        }
    }
    let paths: Vec<(Vec<usize>, u64)> = dropped.into_iter().collect();
    let note = "The paths that occur in the noisy measurement files.".to_string();
    let of_files = release::Paths { note, dropped: paths.iter().map(|(dropped, _)| dropped.clone()).collect() };
    let files = folder.levels.iter().map(|level| level.queries.len() + level.constraints.len()).sum();
    Ok(NmfReport {
        product: folder.path.display().to_string(),
        files: (files, folder.bytes()),
        parts,
        levels,
        paths,
        release: Release { paths: Some(of_files), ..release.clone() },
        unused: root.unused,
        unread: root.unread,
        zero_cells: root.zeros.cells(&problem),
        zeros: root.structural,
        missing,
        fit: histograms.reports(&plans, &tallies),
    })
}

/// Leaves only the files of some states, and those outside any state; all if no state is named.
pub(super) fn keep_states(folder: &mut NmfFolder, states: &[u32]) -> Result<()> {
    if states.is_empty() {
        return Ok(());
    }
    let there: Vec<u32> = folder.parts().iter().map(|part| state_of(part)).collect();
    if let Some(lost) = states.iter().find(|state| !there.contains(state)) {
        return Err(file_error(&folder.path, format!("the state {lost:02} is not in the folder")));
    }
    let is_kept = |part: &Option<String>| part.as_ref().is_none_or(|part| states.contains(&state_of(part)));
    for level in &mut folder.levels {
        level.queries.retain(|file| is_kept(&file.part));
        level.constraints.retain(|file| is_kept(&file.part));
    }
    Ok(())
}

/// Counts the units of the lowest level by the levels that their paths drop.
fn add_dropped(paths: &Paths, dropped: &mut BTreeMap<Vec<usize>, u64>) {
    let mut units = vec![0_u64; paths.known.len()];
    paths.of_unit.iter().for_each(|number| units[*number as usize] += 1);
    for (path, units) in paths.known.iter().zip(units) {
        let levels = path.iter().enumerate().filter(|(_, run)| **run == 0).map(|(at, _)| at);
        *dropped.entry(levels.collect()).or_default() += units;
    }
}
