//! The units of a part of a state, and their constraints.

mod codes;
mod level;
mod root;

use std::collections::HashMap;

use super::{
    folder::{NmfFile, NmfFolder, no_units, of_part},
    names::Names,
};
use crate::{
    error::{Error, Result},
    spine::hierarchy::Tree,
    topdown::{
        gls::problem::{Free, Problem},
        whole::family::{Bound, BoundGroups},
    },
};

pub use codes::{Asked, Geocodes};
pub(super) use level::Meanings;
use level::read_level;
pub use root::{RootConstraints, Zeros};

/// The use of the files' constraints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constraints {
    /// They are ignored.
    None,
    /// The exact totals of the root and of states.
    Totals,
    /// These and every zero.
    All,
}

impl Constraints {
    /// Their name.
    pub fn name(self) -> &'static str {
        match self {
            Constraints::None => "none",
            Constraints::Totals => "totals",
            Constraints::All => "all",
        }
    }
}

/// A part of a state: its units, level by level from the part itself.
#[derive(Debug)]
pub struct PartUnits {
    /// Its three digits.
    pub part: String,
    /// The codes of each level.
    pub codes: Vec<Geocodes>,
    /// The hierarchy of the units.
    pub tree: Tree,
    /// For each level and unit, the set of cells that may be above zero, by its number in `frees`.
    pub free: Vec<Vec<u32>>,
    /// The sets of cells that occur.
    pub frees: Vec<Free>,
    /// The groups of the bounds, if requested and present in the files.
    pub bound_groups: Option<BoundGroups>,
    /// For each level and unit its bounds; empty if `bound_groups` is `None`.
    pub bounds: Vec<Vec<Vec<Bound>>>,
}

impl PartUnits {
    /// Reads the constraints of a part, whose level is `first` among those of the release. Requested zeros make cells
    /// zero, in their unit and in everything below it.
    pub fn read(
        folder: &NmfFolder,
        names: &Names,
        problem: &Problem,
        first: usize,
        part: &str,
        asked: Asked,
    ) -> Result<PartUnits> {
        let mut levels = Vec::new();
        let mut bound_groups = None;
        for level in &folder.levels[first..] {
            let files: Vec<&NmfFile> = of_part(&level.constraints, part).collect();
            levels.push(read_level(&files, &level.name, (names, problem), part, asked, &mut bound_groups)?);
        }
        if let Some(at) = levels.iter().position(|level| level.codes.is_empty()) {
            return Err(no_units(folder, first + at, part));
        }
        if levels[0].codes.len() != 1 {
            let (level, units) = (&names.levels[first], levels[0].codes.len());
            return Err(Error::conflict(format!(
                "the level {level} has {units} units in the part {part}: a part has one"
            )));
        }
        let starts = (1..levels.len())
            .map(|at| children(&levels[at - 1].codes, &levels[at].codes, &names.levels[first + at - 1..]))
            .collect::<Result<Vec<_>>>()?;
        let blocks = levels[levels.len() - 1].codes.len();
        let tree = Tree::from_parts(starts, (0..blocks as u32).collect());
        let (mut codes, mut own, mut bounds) = (Vec::new(), Vec::new(), Vec::new());
        for level in levels {
            codes.push(level.codes);
            own.push(level.free);
            bounds.push(level.bounds);
        }
        let (free, frees) = pushed(&tree, own);
        Ok(PartUnits { part: part.to_string(), codes, tree, free, frees, bound_groups, bounds })
    }

    /// Whether a block's GEOID is of the state of this part.
    pub fn has_state(&self, geoid: u64) -> bool {
        self.part[1..].parse() == Ok(geoid / 10_u64.pow(13))
    }

    /// The bounds of a unit; empty if there are none.
    pub fn bounds_of(&self, level: usize, unit: usize) -> &[Bound] {
        match self.bound_groups {
            Some(_) => &self.bounds[level][unit],
            None => &[],
        }
    }

    /// The code of a unit.
    pub fn code(&self, level: usize, unit: usize) -> String {
        String::from_utf8_lossy(self.codes[level].get(unit)).to_string()
    }
}

/// The start of the children of each unit; refuses units without parents and parents without children.
fn children(above: &Geocodes, below: &Geocodes, names: &[String]) -> Result<Vec<u32>> {
    let shown = |code: &[u8]| String::from_utf8_lossy(code).to_string();
    if above.width >= below.width {
        return Err(Error::conflict(format!(
            "the geocodes of {} have {} digits, and must have more than the {} of {}, whose codes they begin with",
            names[1], below.width, above.width, names[0]
        )));
    }
    let mut starts = vec![0_u32];
    let mut parent = 0;
    for unit in 0..below.len() {
        let code = below.get(unit);
        while parent < above.len() && above.get(parent) < &code[..above.width] {
            check_children(above, parent, starts[parent], unit as u32, names)?;
            starts.push(unit as u32);
            parent += 1;
        }
        if parent == above.len() || above.get(parent) != &code[..above.width] {
            return Err(Error::missing(format!(
                "the {} {} lies in the {} {}, which is not in the files",
                names[1],
                shown(code),
                names[0],
                shown(&code[..above.width])
            )));
        }
    }
    while parent < above.len() {
        check_children(above, parent, starts[parent], below.len() as u32, names)?;
        starts.push(below.len() as u32);
        parent += 1;
    }
    Ok(starts)
}

fn check_children(above: &Geocodes, parent: usize, start: u32, end: u32, names: &[String]) -> Result<()> {
    if start < end {
        return Ok(());
    }
    let code = String::from_utf8_lossy(above.get(parent)).to_string();
    Err(Error::missing(format!("the {} {code} has no unit of the level {} in the files", names[0], names[1])))
}

/// Cells that are zero above are zero below, and cells that are zero in all children are zero above: for each unit the
/// number of its set, and the sets.
fn pushed(tree: &Tree, mut own: Vec<Vec<Free>>) -> (Vec<Vec<u32>>, Vec<Free>) {
    for level in 0..own.len() - 1 {
        let (above, below) = own.split_at_mut(level + 1);
        for (unit, free) in above[level].iter().enumerate() {
            below[0][tree.children(level, unit)].iter_mut().for_each(|child| child.intersect(free));
        }
    }
    for level in (0..own.len() - 1).rev() {
        let (above, below) = own.split_at_mut(level + 1);
        for (unit, free) in above[level].iter_mut().enumerate() {
            let mut union = free.none();
            below[0][tree.children(level, unit)].iter().for_each(|child| union.unite(child));
            *free = union;
        }
    }
    let mut numbers: HashMap<Free, u32> = HashMap::new();
    let mut frees = Vec::new();
    let mut number = |free: Free| {
        *numbers.entry(free).or_insert_with_key(|free| {
            frees.push(free.clone());
            frees.len() as u32 - 1
        })
    };
    let free = own.into_iter().map(|level| level.into_iter().map(&mut number).collect()).collect();
    (free, frees)
}
