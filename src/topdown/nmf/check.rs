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
    fit::{FitPlan, FitReport, Stand, Tally},
    folder::NmfFolder,
    names::Names,
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
    let mut missing = Missing::of_folder(&folder, release)?;
    keep_states(&mut folder, states)?;
    missing.keep(|state| states.is_empty() || states.contains(&state));
    // The counts of the nation include all states.
    let is_whole = missing.is_complete() && states.is_empty();
    let root = RootConstraints::read(&folder, names)?;
    // Nothing is answered: the problem only compares the partitions that constraints distinguish.
    let problem = Problem::for_answers(&names.sizes, &[], &[], &root.zeros.apart)?;
    let asked = Asked { zeros: Some(&root.zeros), bounds: false };
    observer.open(&problem, &root);
    let first = root.first;
    let plans = histograms.plans();
    let context = Context { folder: &folder, histograms: &histograms, plans: &plans, root: &root, is_whole };
    let mut seen = Seen::new(&names.levels, plans.len());
    let prefix = context.read_nation(&mut seen, observer)?;
    let parts = folder.parts();
    for part in &parts {
        let units = PartUnits::read(&folder, names, &problem, first, part, asked)?;
        constraints::check_part(&folder, names, &units, first, &root.structural)?;
        observer.begin(&PartSeen { folder: &folder, names, units: &units, first })?;
        let (carried, fits) = histograms.of_part(&folder, &units, first, (&plans, observer))?;
        seen.add_fits(fits);
        seen.add_units((names, first), &units, &carried);
        let paths = Paths::new(&units, &prefix, &carried);
        paths::check(&paths, (&folder, names, histograms.budgets()), &units)?;
        add_dropped(&paths, &mut seen.dropped);
    }
    context.compare_sums(&mut seen, &parts)?;
    let Seen { levels, dropped, tallies, .. } = seen;
    let paths: Vec<(Vec<usize>, u64)> = dropped.into_iter().collect();
    let files = folder.levels.iter().map(|level| level.queries.len() + level.constraints.len()).sum();
    Ok(NmfReport {
        product: folder.path.display().to_string(),
        files: (files, folder.bytes()),
        parts,
        levels,
        release: with_paths(release, &paths),
        paths,
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

/// The levels, paths and residuals of the parts of states that are read so far.
struct Seen {
    levels: Vec<LevelReport>,
    /// The paths by the levels that they drop, each with its number of blocks.
    dropped: BTreeMap<Vec<usize>, u64>,
    /// The residuals of each histogram.
    tallies: Vec<Tally>,
    /// For each histogram the sums that represent each part, in the order of the parts.
    stands: Vec<Vec<Stand>>,
}

impl Seen {
    fn new(levels: &[String], histograms: usize) -> Seen {
        let named = |name: &String| LevelReport { name: name.clone(), ..LevelReport::default() };
        Seen {
            levels: levels.iter().map(named).collect(),
            dropped: BTreeMap::new(),
            tallies: vec![Tally::default(); histograms],
            stands: vec![Vec::new(); histograms],
        }
    }

    /// Adds the residuals and the sums of a part, one for each histogram.
    fn add_fits(&mut self, fits: Vec<(Tally, Stand)>) {
        for (number, (tally, stand)) in fits.into_iter().enumerate() {
            self.tallies[number].join(&tally);
            self.stands[number].push(stand);
        }
    }

    /// Adds the units of a part, with the number of levels that each of them carries.
    fn add_units(&mut self, (names, first): (&Names, usize), units: &PartUnits, carried: &[Vec<u8>]) {
        for (level, carried) in carried.iter().enumerate() {
            self.levels[first + level].width = units.codes[level].width();
            self.levels[first + level].add(carried, names.all_counts(first + level));
        }
    }
}

/// A folder that is checked against its release.
struct Context<'a> {
    folder: &'a NmfFolder,
    histograms: &'a Histograms,
    plans: &'a [FitPlan],
    root: &'a RootConstraints,
    /// Whether the counts of the nation are those of the parts that are read.
    is_whole: bool,
}

impl Context<'_> {
    /// Reads the counts of the nation, if it has files; the number of levels that each unit above the parts of states carries.
    fn read_nation(&self, seen: &mut Seen, observer: &mut dyn Observer) -> Result<Vec<u8>> {
        if !self.root.is_nation {
            // It is only known that no unit below carries the nation's share.
            return Ok(vec![1; self.root.first]);
        }
        let names = self.histograms.names();
        if self.is_whole {
            check_nation(self.folder, names)?;
        }
        let carried = self.histograms.of_nation(self.folder, observer)?;
        seen.levels[0].add(&[carried], names.all_counts(0));
        Ok(vec![carried])
    }

    /// Compares the sums of the parts with the noisy counts of the nation, and with the exact totals of the nation and of states.
    fn compare_sums(&self, seen: &mut Seen, parts: &[String]) -> Result<()> {
        let wholes: Vec<Stand> = seen.stands.iter().map(|of| Stand::sum(of.iter())).collect();
        if self.root.is_nation && self.is_whole {
            self.histograms.fit_nation(self.folder, self.plans, &wholes, &mut seen.tallies)?;
        }
        if self.histograms.are_two() {
            return Ok(());
        }
        // The total of a root that is a state is one of its own files, so that it is compared once.
        if let Some(total) = self.root.total.filter(|_| self.is_whole && self.root.is_nation) {
            seen.tallies[0].exact_total(&self.plans[0], 0, "", &wholes[0], total);
        }
        let mut states: BTreeMap<u32, Vec<String>> = BTreeMap::new();
        parts.iter().for_each(|part| states.entry(state_of(part)).or_default().push(part.clone()));
        let first = self.root.first;
        for (state, total) in totals::of_files(self.folder, self.histograms.names(), first, &states)? {
            let own = parts.iter().zip(&seen.stands[0]).filter(|(part, _)| state_of(part) == state);
            let whole = Stand::sum(own.map(|(_, stand)| stand));
            seen.tallies[0].exact_total(&self.plans[0], first, &format!("{state:02}"), &whole, total);
        }
        Ok(())
    }
}

/// The release with the paths that occur in the files.
fn with_paths(release: &Release, paths: &[(Vec<usize>, u64)]) -> Release {
    let note = "The paths that occur in the noisy measurement files.".to_string();
    let dropped = paths.iter().map(|(dropped, _)| dropped.clone()).collect();
    Release { paths: Some(release::Paths { note, dropped }), ..release.clone() }
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
