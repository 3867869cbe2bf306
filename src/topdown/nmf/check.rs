//! Whether a folder of noisy measurements fits its release, and what it spent.
//!
//! The files hold the variance of the noise on each count, the variance of the law that was drawn from and not its parameter
//! sigma2, as a float. A unit that was bypassed into has the shares of the levels below it besides its own, so that its
//! variances are those of one of a few runs of levels. A unit passes if the variances of all its queries are those of one
//! run; a path passes if the runs on it share out the budget exactly. Then every path is one of the release's, and the
//! privacy of what was published follows from the paths that occur.

mod carried;
mod constraints;

use std::collections::{BTreeMap, BTreeSet};

use rug::Rational;

use super::{
    budgets::Budgets,
    folder::NmfFolder,
    names::Names,
    units::{Asked, PartUnits, RootConstraints},
};
use crate::{
    error::{Error, Result},
    release::{Paths, Release},
    topdown::gls::problem::Problem,
};

use carried::Histograms;
pub use constraints::check_nation;

/// What a folder has.
#[derive(Clone, Debug)]
pub struct NmfReport {
    /// The folder of the product.
    pub product: String,
    /// How many files and bytes.
    pub files: (usize, u64),
    /// The parts of states.
    pub parts: Vec<String>,
    /// The levels.
    pub levels: Vec<LevelReport>,
    /// The paths from the root to blocks that occur, by the levels that they drop, with how many blocks have each.
    pub paths: Vec<(Vec<usize>, u64)>,
    /// The release with these paths.
    pub release: Release,
    /// Equalities of the root that least squares does not use.
    pub unused: Vec<String>,
    /// Constraints of the root that are not understood: of two histograms, or of groups that have no known values.
    pub unread: Vec<String>,
    /// Equalities that make cells zero in every unit.
    pub zeros: Vec<String>,
    /// How many cells of a histogram these make zero.
    pub zero_cells: usize,
}

/// What a level has.
#[derive(Clone, Debug, Default)]
pub struct LevelReport {
    /// Its name.
    pub name: String,
    /// How many units.
    pub units: u64,
    /// How many of these have noisy counts.
    pub measured: u64,
    /// How many noisy counts there are.
    pub counts: u64,
    /// How many digits a geocode has.
    pub width: usize,
    /// How many units carry the shares of so many levels.
    pub carried: BTreeMap<usize, u64>,
}

impl LevelReport {
    /// Takes units in that carry the shares of so many levels, each with so many counts where it has any.
    fn add(&mut self, carried: &[u8], counts: usize) {
        self.units += carried.len() as u64;
        for run in carried.iter().filter(|run| **run > 0) {
            self.measured += 1;
            self.counts += counts as u64;
            *self.carried.entry(usize::from(*run)).or_default() += 1;
        }
    }
}

/// Reads everything, and refuses what does not fit.
pub fn check(folder: &std::path::Path, release: &Release) -> Result<NmfReport> {
    if release.budget_only {
        return Err(Error::BudgetOnly { release: release.name.clone() });
    }
    let histograms = Histograms::new(release)?;
    let names = histograms.names();
    let folder = NmfFolder::open(folder, &names.levels)?;
    let root = RootConstraints::read(&folder, names)?;
    // Nothing is answered: what constraints tell apart is held against each other.
    let problem = Problem::for_answers(&names.sizes, &[], &[], &root.zeros.apart)?;
    let asked = Asked { zeros: Some(&root.zeros), bounds: false };
    let first = usize::from(root.is_nation);
    let named = |name: &String| LevelReport { name: name.clone(), ..LevelReport::default() };
    let mut levels: Vec<LevelReport> = names.levels.iter().map(named).collect();
    let mut paths: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
    let mut prefix = Vec::new();
    if root.is_nation {
        check_nation(&folder, names)?;
        let carried = histograms.of_nation(&folder)?;
        levels[0].add(&[carried], names.all_counts(0));
        prefix.push(carried);
    }
    let parts = folder.parts();
    for part in &parts {
        let units = PartUnits::read(&folder, names, &problem, first, part, asked)?;
        constraints::check_part(&folder, names, &units, first, &root.structural)?;
        let carried = histograms.of_part(&folder, &units, first)?;
        for (level, carried) in carried.iter().enumerate() {
            levels[first + level].width = units.codes[level].width();
            levels[first + level].add(carried, names.all_counts(first + level));
        }
        add_paths(histograms.budgets(), names, &units, &prefix, &carried, &mut paths)?;
    }
    let dropped = |path: &Vec<u8>| path.iter().enumerate().filter(|(_, run)| **run == 0).map(|(at, _)| at).collect();
    let paths: Vec<(Vec<usize>, u64)> = paths.iter().map(|(path, blocks)| (dropped(path), *blocks)).collect();
    let note = "The paths that occur in the noisy measurement files.".to_string();
    let of_files = Paths { note, dropped: paths.iter().map(|(dropped, _)| dropped.clone()).collect() };
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
    })
}

/// The paths to the blocks of a part, each checked: runs that neither overlap nor leave a level out.
fn add_paths(
    budgets: &Budgets,
    names: &Names,
    units: &PartUnits,
    prefix: &[u8],
    carried: &[Vec<u8>],
    paths: &mut BTreeMap<Vec<u8>, u64>,
) -> Result<()> {
    let mut above: Vec<Vec<u8>> = vec![prefix.to_vec()];
    for (level, carried) in carried.iter().enumerate() {
        let mut own = Vec::with_capacity(carried.len());
        let parents = if level == 0 { vec![0] } else { units.tree.parents(level) };
        for (run, parent) in carried.iter().zip(&parents) {
            own.push([&above[*parent as usize][..], &[*run]].concat());
        }
        above = own;
    }
    let mut known: BTreeSet<Vec<u8>> = BTreeSet::new();
    for (block, path) in above.into_iter().enumerate() {
        if !known.contains(&path) {
            let share = path
                .iter()
                .enumerate()
                .fold(Rational::new(), |sum, (level, run)| sum + budgets.share(level, usize::from(*run)));
            let mut next = 0;
            let runs = path.iter().enumerate().all(|(level, run)| {
                let fits = (level < next) == (*run == 0);
                next = next.max(level + usize::from(*run));
                fits
            });
            if share != 1 || !runs {
                let code = units.code(carried.len() - 1, block);
                let run = |(level, run): (usize, &u8)| format!("{} {run}", names.levels[level]);
                let shown: Vec<String> = path.iter().enumerate().map(run).collect();
                let given = format!("{share} of the budget ({})", shown.join(", "));
                let expected = "exactly 1: each level's share carried once, by its unit or by one above it";
                return Err(Error::out_of_range(&format!("the path to the block {code}"), given, expected));
            }
            known.insert(path.clone());
        }
        *paths.entry(path).or_default() += 1;
    }
    Ok(())
}
