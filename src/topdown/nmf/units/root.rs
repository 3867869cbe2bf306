//! The root's constraints: its exact total, and the values that zeros distinguish at the root and below.

use std::collections::{BTreeMap, HashSet};

use crate::{
    error::Result,
    io::files::file_error,
    topdown::{
        gls::{
            basis::Part,
            problem::{Free, Problem},
        },
        nmf::{
            folder::NmfFolder,
            names::{Constraint, Names, Sign},
            rows,
        },
    },
};

/// The root's constraints: its exact total if there is one, and its zeros.
#[derive(Clone, Debug)]
pub struct RootConstraints {
    /// Whether the root is the nation, above all states.
    pub is_nation: bool,
    /// The level of the parts of states among those of the release: below the nation, even if its files are missing.
    pub first: usize,
    /// The exact total.
    pub total: Option<i64>,
    /// The zeros, with the partition that they distinguish.
    pub zeros: Zeros,
    /// Its equalities that make cells zero, also in every unit.
    pub structural: Vec<String>,
    /// Equalities that least squares does not use.
    pub unused: Vec<String>,
    /// Constraints that are not understood: of two histograms, or of groups without known values.
    pub unread: Vec<String>,
}

/// The values that constraints that can make cells zero distinguish, and the cells that are zero everywhere.
///
/// Those of the DHC require that householders are not below fifteen and children not above ninety: 32 rows, each about
/// one relationship and a range of ages. Relationships that are zero at the same ages need not be distinguished, nor
/// ages that are zero for the same relationships.
#[derive(Clone, Debug)]
pub struct Zeros {
    /// By attribute, the distinguished groups of values.
    pub apart: Vec<Part>,
    /// Sets of cells, a set of values for each attribute, that are zero in the root and therefore in all units.
    everywhere: Vec<Cells>,
}

/// A set of values of each attribute.
type Cells = Vec<Vec<bool>>;

/// Maximum number of combinations of values examined for zeros everywhere.
const MOST_COMBINATIONS: usize = 1 << 20;

impl Zeros {
    /// No zeros, over this number of attributes.
    pub fn none(attributes: usize) -> Zeros {
        Zeros { apart: vec![Part::Total; attributes], everywhere: Vec::new() }
    }

    /// `everywhere` are sets of cells that are zero in all units, `elsewhere` constraints that make cells zero in some of them.
    fn new(names: &Names, everywhere: Vec<Cells>, elsewhere: &[Constraint]) -> Zeros {
        let mut zeros = Zeros::none(names.axes.len());
        let Some(alike) = alike(&names.sizes, &everywhere) else {
            // Too many combinations to find values that are zero together: each set is distinguished.
            for cells in &everywhere {
                let parts = cells.iter().map(|own| Part::of_keys(own.iter()));
                zeros.apart.iter_mut().zip(parts).for_each(|(apart, part)| *apart = apart.common(&part));
            }
            return zeros.split(names, elsewhere, everywhere);
        };
        zeros.apart = alike;
        zeros.split(names, elsewhere, everywhere)
    }

    fn split(mut self, names: &Names, constraints: &[Constraint], everywhere: Vec<Cells>) -> Zeros {
        for constraint in constraints {
            for (axis, (apart, size)) in self.apart.iter_mut().zip(&names.sizes).enumerate() {
                *apart = apart.common(&constraint.partition(axis, *size));
            }
        }
        self.everywhere = everywhere;
        self
    }

    /// The number of cells that are zero everywhere.
    pub fn cells(&self, problem: &Problem) -> usize {
        let (free, sizes) = (self.free(problem), problem.point_cells());
        sizes.iter().enumerate().filter(|(point, _)| !free.has(*point)).map(|(_, cells)| cells).sum()
    }

    /// The points that are not zero everywhere.
    pub fn free(&self, problem: &Problem) -> Free {
        let mut free = problem.all_free();
        let first: Vec<Vec<usize>> = problem.first_values();
        for (point, values) in first.iter().enumerate() {
            let holds = |cells: &Cells| cells.iter().zip(values).all(|(own, value)| own[*value]);
            if self.everywhere.iter().any(holds) {
                free.remove(point);
            }
        }
        free
    }
}

/// For each attribute, its values grouped by the combinations of the other attributes with which they lie in the union
/// of some sets of cells; `None` if there are too many combinations.
fn alike(sizes: &[usize], sets: &[Cells]) -> Option<Vec<Part>> {
    // Attributes of which each set has all values play no role.
    let is_about = |axis: &usize| sets.iter().any(|cells| !cells[*axis].iter().all(|own| *own));
    let axes: Vec<usize> = (0..sizes.len()).filter(is_about).collect();
    let combinations = axes.iter().try_fold(1_usize, |all, axis| all.checked_mul(sizes[*axis]))?;
    if combinations > MOST_COMBINATIONS {
        return None;
    }
    let values = |combination: usize| {
        let mut rest = combination;
        let value = |axis: &usize| {
            let value = rest % sizes[*axis];
            rest /= sizes[*axis];
            (*axis, value)
        };
        axes.iter().map(value).collect::<Vec<_>>()
    };
    let is_zero = |combination: usize| {
        let values = values(combination);
        sets.iter().any(|cells| values.iter().all(|(axis, value)| cells[*axis][*value]))
    };
    let zero: Vec<bool> = (0..combinations).map(is_zero).collect();
    let mut parts = vec![Part::Total; sizes.len()];
    let mut inner = 1;
    for axis in axes {
        let size = sizes[axis];
        let slice = |value: usize| {
            let of = |at: &usize| at / inner % size == value;
            (0..combinations).filter(of).map(|at| zero[at]).collect::<Vec<bool>>()
        };
        parts[axis] = Part::of_keys((0..size).map(slice));
        inner *= size;
    }
    Some(parts)
}

/// The constraints in the files of the root that are read so far.
#[derive(Default)]
struct RootRows {
    /// The codes of the units.
    codes: HashSet<Vec<u8>>,
    /// The last exact total.
    total: Option<i64>,
    /// Equalities that make cells zero by their names, with the codes of their units.
    structural: BTreeMap<String, (Constraint, HashSet<Vec<u8>>)>,
    /// Other constraints that can make cells zero.
    others: Vec<Constraint>,
    unused: Vec<String>,
    unread: Vec<String>,
}

impl RootRows {
    /// Adds a row; an error with the reason where it contradicts those before it.
    fn add(&mut self, row: &rows::Row, names: &Names) -> std::result::Result<(), String> {
        let constraint = names.constraint(row)?;
        self.codes.insert(row.geocode.to_vec());
        if let Some(own) = names.exact_total(&constraint, row.values) {
            if self.total.replace(own).is_some_and(|other| other != own) && row.geocode.is_empty() {
                return Err("adds up to another total than a constraint of the root before it".to_string());
            }
            if constraint.is_table() {
                add_once(&mut self.unused, constraint.name);
            }
        } else if constraint.can_be_zero() && constraint.sign == Sign::Equal && row.values == [0] {
            let name = constraint.name.clone();
            let (known, of) = self.structural.entry(name).or_insert_with(|| (constraint.clone(), HashSet::new()));
            if *known != constraint {
                return Err("is about other cells than the constraint of this name before it".to_string());
            }
            of.insert(row.geocode.to_vec());
        } else if constraint.can_be_zero() {
            add_once(&mut self.others, constraint);
        } else if constraint.is_unread() {
            add_once(&mut self.unread, constraint.name);
        } else if constraint.is_own() && constraint.sign == Sign::Equal {
            add_once(&mut self.unused, constraint.name);
        }
        Ok(())
    }
}

fn add_once<T: PartialEq>(to: &mut Vec<T>, one: T) {
    if !to.contains(&one) {
        to.push(one);
    }
}

impl RootConstraints {
    /// Reads the constraints of the root.
    pub fn read(folder: &NmfFolder, names: &Names) -> Result<RootConstraints> {
        let at = usize::from(folder.lacks_root());
        let mut found = RootRows::default();
        for file in &folder.levels[at].constraints {
            rows::read(&file.path, &names.constraint_columns(), |row| {
                found.add(row, names).map_err(|why| rows::refuse(&file.path, row, &why))
            })?;
        }
        let RootRows { codes, mut total, structural, mut others, unused, unread } = found;
        let is_nation = codes.contains(&b""[..]);
        if at == 1 && codes.iter().any(|code| code.len() != 3) {
            let (root, level) = (&names.levels[0], &names.levels[1]);
            let why = format!("no folder {root}.parquet, and the units of {level} are no parts of states");
            return Err(file_error(&folder.path, why));
        }
        if codes.is_empty() || (is_nation && codes.len() > 1) {
            let level = &folder.levels[at];
            let why = format!("{} units in the Constraint files of the root {}", codes.len(), level.name);
            return Err(file_error(&folder.path.join(format!("{}.parquet", level.name)), why));
        }
        if codes.len() > 1 {
            // Several states without a nation: no total applies to all of them.
            total = None;
        }
        let (everywhere, elsewhere): (Vec<_>, Vec<_>) =
            structural.into_values().partition(|(_, of)| of.len() == codes.len());
        let structural = everywhere.iter().map(|(constraint, _)| constraint.name.clone()).collect();
        let cells = |(constraint, _): (Constraint, _)| {
            let own = |(axis, size): (usize, &usize)| {
                (0..*size).map(|value| constraint.selects(0, axis, value)).collect::<Vec<bool>>()
            };
            names.sizes.iter().enumerate().map(own).collect::<Cells>()
        };
        others.extend(elsewhere.into_iter().map(|(constraint, _)| constraint));
        let zeros = Zeros::new(names, everywhere.into_iter().map(cells).collect(), &others);
        let first = at.max(usize::from(is_nation));
        Ok(RootConstraints { is_nation, first, total, zeros, structural, unused, unread })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_are_zero_together_are_not_distinguished() {
        // Of 4 x 5: the first two values below 2, the third above 3; the third attribute plays no role.
        let set = |first: &[usize], second: std::ops::Range<usize>| -> Cells {
            vec![
                (0..4).map(|value| first.contains(&value)).collect(),
                (0..5).map(|value| second.contains(&value)).collect(),
                vec![true; 3],
            ]
        };
        let sets = [set(&[0], 0..2), set(&[1], 0..2), set(&[2], 4..5)];
        let parts = alike(&[4, 5, 3], &sets).unwrap();
        assert_eq!(parts[0], Part::Groups(vec![0, 0, 1, 2]));
        assert_eq!(parts[1], Part::Groups(vec![0, 0, 1, 1, 2]));
        assert_eq!(parts[2], Part::Total);
        let huge = vec![(0..1025).map(|at| at == 0).collect(), (0..1025).map(|at| at == 0).collect()];
        assert_eq!(alike(&[1025, 1025], &[huge]), None);
    }
}
