//! The paths from the top of a part to its lowest units: the number of levels whose shares each unit on them carries,
//! and whether every share is carried once. A level whose share nobody carries has no noisy counts there: a file is
//! missing.

use std::collections::HashMap;

use rug::Rational;

use super::{
    budgets::Budgets,
    complete::shortened,
    folder::{NmfFolder, of_part},
    names::Names,
    units::PartUnits,
};
use crate::{error::Result, io::files::file_error};

/// The paths of a part.
#[derive(Debug, Default)]
pub(super) struct Paths {
    /// The paths that occur: for each level from the root, the number of levels whose shares the unit carries.
    pub(super) known: Vec<Vec<u8>>,
    /// The path of each unit of the lowest level, by its number in `known`.
    pub(super) of_unit: Vec<u32>,
}

impl Paths {
    /// The paths of units with these numbers of carried levels, level by level; `prefix` has those of the levels above
    /// the part.
    pub(super) fn new(units: &PartUnits, prefix: &[u8], carried: &[Vec<u8>]) -> Paths {
        let mut known = vec![prefix.to_vec()];
        let mut of_unit: Vec<u32> = vec![0];
        for (level, carried) in carried.iter().enumerate() {
            let parents = if level == 0 { vec![0] } else { units.tree.parents(level) };
            let (mut next, mut numbers) = (Vec::new(), HashMap::<(u32, u8), u32>::new());
            let own = carried.iter().zip(&parents).map(|(run, parent)| {
                let above = of_unit[*parent as usize];
                *numbers.entry((above, *run)).or_insert_with(|| {
                    next.push([&known[above as usize][..], &[*run]].concat());
                    next.len() as u32 - 1
                })
            });
            of_unit = own.collect();
            known = next;
        }
        Paths { known, of_unit }
    }
}

/// A fault of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// These levels have no noisy counts, and no unit above carries their shares.
    Missing(Vec<usize>),
    /// A level has counts whose share a unit above carries, too.
    Twice(usize),
}

/// The fault of a path on which not every level's share is carried once.
pub(super) fn fault(path: &[u8]) -> Option<Fault> {
    let (mut next, mut missing) = (0, Vec::new());
    for (level, run) in path.iter().enumerate() {
        match (level < next, *run) {
            (true, 0) => {}
            (true, _) => return Some(Fault::Twice(level)),
            (false, 0) => {
                missing.push(level);
                next = level + 1;
            }
            (false, run) => next = level + usize::from(run),
        }
    }
    (!missing.is_empty()).then_some(Fault::Missing(missing))
}

/// Refuses the first path on which a share is not carried exactly once, with the unit below it and the missing files.
pub(super) fn check(
    paths: &Paths,
    (folder, names, budgets): (&NmfFolder, &Names, &Budgets),
    units: &PartUnits,
) -> Result<()> {
    let faults: Vec<Option<Fault>> = paths.known.iter().map(|path| fault(path)).collect();
    let at = paths.of_unit.iter().position(|number| faults[*number as usize].is_some());
    let Some((unit, fault)) = at.and_then(|unit| Some((unit, faults[paths.of_unit[unit] as usize].as_ref()?))) else {
        return Ok(());
    };
    let path = &paths.known[paths.of_unit[unit] as usize];
    let last = units.codes.len() - 1;
    let sum = |sum: Rational, (level, run): (usize, &u8)| sum + budgets.share(level, usize::from(*run));
    let share = path.iter().enumerate().fold(Rational::new(), sum);
    let name = |level: &usize| names.levels[*level].clone();
    let below = format!("above the {} {}", names.levels[path.len() - 1], units.code(last, unit));
    let why = match fault {
        Fault::Missing(levels) => {
            let named: Vec<String> = levels.iter().map(name).collect();
            let have = if named.len() == 1 { "has" } else { "have" };
            let files = missing_files(folder, levels, &units.part);
            let files = if files.is_empty() { " Is a file missing?".to_string() } else { format!(" {files}") };
            format!(
                "{below} only {share} of the budget is found: {} {have} no noisy counts.{files}",
                named.join(" and ")
            )
        }
        Fault::Twice(level) => {
            let level = &names.levels[*level];
            format!(
                "{below} more than the budget is found: {level} has noisy counts whose share a unit above it carries"
            )
        }
    };
    Err(file_error(&folder.path, why))
}

/// The missing files of noisy counts, and the files in their place.
fn missing_files(folder: &NmfFolder, levels: &[usize], part: &str) -> String {
    let without = |level: &&usize| of_part(&folder.levels[**level].queries, part).next().is_none();
    let without: Vec<&usize> = levels.iter().filter(without).collect();
    let named: Vec<String> = without.iter().map(|level| place(folder, **level, part)).collect();
    let beside: Vec<String> = without.iter().flat_map(|level| folder.passed_over(**level)).collect();
    match (&named[..], &beside[..]) {
        ([], _) => String::new(),
        (_, []) => format!("No Parquet file in {}.", shortened(&named)),
        _ => format!("No Parquet file in {}; not read: {}.", shortened(&named), shortened(&beside)),
    }
}

fn place(folder: &NmfFolder, level: usize, part: &str) -> String {
    format!("{}.parquet/DPQuery/State={part}", folder.levels[level].name)
}

/// Units below which a level has no noisy counts although nobody carries its share.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Short {
    /// The level.
    pub level: String,
    /// The part of a state.
    pub part: String,
    /// The number of units of the lowest level below.
    pub units: u64,
}

/// The faults of the paths of a part, by level.
pub(super) fn shorts(paths: &Paths, names: &Names, units: &PartUnits) -> Vec<Short> {
    let mut of_path = vec![0_u64; paths.known.len()];
    paths.of_unit.iter().for_each(|number| of_path[*number as usize] += 1);
    let mut of_level = vec![0_u64; names.levels.len()];
    for (path, many) in paths.known.iter().zip(of_path) {
        if let Some(Fault::Missing(levels)) = fault(path) {
            levels.into_iter().for_each(|level| of_level[level] += many);
        }
    }
    let short = |(level, units_below): (usize, u64)| {
        let (level, part) = (names.levels[level].clone(), units.part.clone());
        (units_below > 0).then_some(Short { level, part, units: units_below })
    };
    of_level.into_iter().enumerate().filter_map(short).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_share_is_carried_once_or_the_level_is_named() {
        assert_eq!(fault(&[1, 1, 1, 1]), None);
        assert_eq!(fault(&[1, 3, 0, 0]), None);
        assert_eq!(fault(&[1, 1, 0, 1]), Some(Fault::Missing(vec![2])));
        assert_eq!(fault(&[0, 1, 0, 0]), Some(Fault::Missing(vec![0, 2, 3])));
        assert_eq!(fault(&[1, 2, 1, 1]), Some(Fault::Twice(2)));
        // A folder that ends above the lowest level: the last unit carries levels that are not present.
        assert_eq!(fault(&[1, 4]), None);
    }
}
