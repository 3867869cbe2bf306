//! One attribute: the values that queries and constraints distinguish, and the action of a query on the remaining
//! subspaces.
//!
//! Values that no recode and no constraint distinguishes form a *cell*. Cells of equal size are exchangeable if each
//! recode has all of them in one group or each alone in a group of its own, and constraints treat them alike.
//! Exchangeable cells form a *class*: the single years of age below three, for example. R^d is then the sum of
//!
//! - the even functions: constant on all values of a class, one coordinate for each class;
//! - for each class of several cells the functions that are constant on its cells and sum to zero over them: *between*;
//! - the functions that sum to zero on every cell: *within*, separately for values that constraints distinguish.
//!
//! With m cells of g values in a class, A'A of a group sum A is
//!
//! - on even functions a matrix over the classes, with sqrt(m g m' g') for two classes in one group and g for a class
//!   whose cells are alone in their groups;
//! - between the cells of a class g if these are alone in their groups, otherwise 0;
//! - within cells 0.
//!
//! The identity is 1 on all of them, and the total is one group of all values.

use std::{collections::HashMap, hash::Hash};

use super::number::Number;

/// The action of a query on an attribute.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// It sums over all values.
    Total,
    /// It keeps every value.
    Whole,
    /// It keeps groups of values: the group of each value, numbered from 0.
    Groups(Vec<u32>),
}

impl Part {
    /// The partition into values with equal keys, numbered in the order of appearance of the keys.
    pub fn of_keys<K: Hash + Eq>(keys: impl ExactSizeIterator<Item = K>) -> Part {
        let size = keys.len();
        let mut numbers = HashMap::new();
        let group_of = numbered(&mut numbers, keys);
        match numbers.len() {
            0 | 1 => Part::Total,
            many if many == size => Part::Whole,
            _ => Part::Groups(group_of),
        }
    }

    /// The number of groups, over an attribute of `size` values.
    pub fn groups(&self, size: usize) -> usize {
        match self {
            Part::Total => 1,
            Part::Whole => size,
            Part::Groups(group_of) => group_of.iter().max().map_or(0, |most| *most as usize + 1),
        }
    }

    /// The group of a value.
    pub fn group_of(&self, value: usize) -> usize {
        match self {
            Part::Total => 0,
            Part::Whole => value,
            Part::Groups(group_of) => group_of[value] as usize,
        }
    }

    /// This partition, with its groups numbered in the order of appearance.
    pub fn in_order(&self) -> Part {
        match self {
            Part::Total | Part::Whole => self.clone(),
            Part::Groups(group_of) => Part::of_keys(group_of.iter()),
        }
    }

    /// The common refinement of both partitions.
    pub fn common(&self, other: &Part) -> Part {
        match (self, other) {
            (Part::Whole, _) | (_, Part::Whole) => Part::Whole,
            (Part::Total, other) | (other, Part::Total) => other.clone(),
            (Part::Groups(a), Part::Groups(b)) => Part::Groups(numbered(&mut HashMap::new(), a.iter().zip(b))),
        }
    }
}

/// Numbers keys in the order of appearance.
fn numbered<K: Hash + Eq>(numbers: &mut HashMap<K, u32>, keys: impl Iterator<Item = K>) -> Vec<u32> {
    keys.map(|key| {
        let next = numbers.len() as u32;
        *numbers.entry(key).or_insert(next)
    })
    .collect()
}

/// Exchangeable cells.
#[derive(Clone, Debug)]
pub(super) struct Class {
    /// The cells.
    pub(super) cells: Vec<u32>,
    /// The number of values of each cell: g.
    pub(super) size: usize,
    /// The group, of those that constraints distinguish, that contains all its values.
    pub(super) point: u32,
}

impl Class {
    /// The number of values: m g.
    pub(super) fn values(&self) -> f64 {
        (self.cells.len() * self.size) as f64
    }
}

/// A subspace of the functions of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Constant on all values of a class.
    Even,
    /// Differences within cells of a group that constraints distinguish.
    Within(u32),
    /// Differences between the cells of a class.
    Between(u32),
}

/// An attribute with its cells and classes.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    /// The values of each cell, ascending.
    pub(super) cells: Vec<Vec<u32>>,
    /// The cell of each value.
    pub(super) cell_of: Vec<u32>,
    /// The classes of cells.
    pub(super) classes: Vec<Class>,
    /// The class of each cell.
    pub(super) class_of: Vec<u32>,
    /// The subspaces, even functions first.
    pub(super) kinds: Vec<Kind>,
    /// The partition that constraints distinguish.
    pub(super) apart: Part,
    /// The number of its groups.
    pub(super) points: usize,
}

impl Axis {
    /// An attribute of `size` values, with the parts of all queries; constraints distinguish the groups of `apart`.
    pub(super) fn new<'a>(size: usize, parts: impl Iterator<Item = &'a Part>, apart: &Part) -> Axis {
        let mut recodes: Vec<&Part> = Vec::new();
        for part in parts.filter(|part| matches!(part, Part::Groups(_))) {
            if !recodes.contains(&part) {
                recodes.push(part);
            }
        }
        let key = |value: usize| {
            let own = recodes.iter().map(|part| part.group_of(value) as u32);
            own.chain([apart.group_of(value) as u32]).collect::<Vec<u32>>()
        };
        let mut numbers = HashMap::new();
        let cell_of = numbered(&mut numbers, (0..size).map(key));
        let mut cells = vec![Vec::new(); numbers.len()];
        (0..).zip(&cell_of).for_each(|(value, cell)| cells[*cell as usize].push(value));
        // The number of cells in each group of each recode.
        let mut members: Vec<Vec<u32>> = recodes.iter().map(|part| vec![0; part.groups(size)]).collect();
        for cell in &cells {
            for (part, members) in recodes.iter().zip(&mut members) {
                members[part.group_of(cell[0] as usize)] += 1;
            }
        }
        let place = |cell: &Vec<u32>| {
            let first = cell[0] as usize;
            let own = recodes.iter().zip(&members).map(|(part, members)| {
                let group = part.group_of(first);
                (members[group] > 1).then_some(group)
            });
            (cell.len(), apart.group_of(first), own.collect::<Vec<_>>())
        };
        let mut numbers = HashMap::new();
        let class_of = numbered(&mut numbers, cells.iter().map(place));
        let empty = Class { cells: Vec::new(), size: 0, point: 0 };
        let mut classes = vec![empty; numbers.len()];
        for (number, (cell, class)) in (0..).zip(cells.iter().zip(&class_of)) {
            let class = &mut classes[*class as usize];
            class.cells.push(number);
            (class.size, class.point) = (cell.len(), apart.group_of(cell[0] as usize) as u32);
        }
        let kinds = kinds(&classes);
        Axis { cells, cell_of, classes, class_of, kinds, points: apart.groups(size), apart: apart.clone() }
    }

    /// The number of values.
    pub(super) fn size(&self) -> usize {
        self.cell_of.len()
    }

    /// The number of coordinates of a subspace.
    pub(super) fn dimension(&self, kind: Kind) -> usize {
        match kind {
            Kind::Even => self.classes.len(),
            Kind::Within(point) => {
                let own = self.classes.iter().filter(|class| class.point == point);
                own.map(|class| class.cells.len() * (class.size - 1)).sum()
            }
            Kind::Between(class) => self.classes[class as usize].cells.len() - 1,
        }
    }

    /// The group that constraints distinguish which contains the functions of a subspace; for even ones, that of a
    /// class.
    pub(super) fn point(&self, kind: Kind, class: usize) -> u32 {
        match kind {
            Kind::Even => self.classes[class].point,
            Kind::Within(point) => point,
            Kind::Between(class) => self.classes[class as usize].point,
        }
    }

    /// Whether each cell of a class is alone in its group.
    pub(super) fn is_alone(&self, part: &Part, class: &Class) -> bool {
        match part {
            Part::Total => false,
            Part::Whole => true,
            Part::Groups(_) => {
                let group = |cell: &u32| part.group_of(self.cells[*cell as usize][0] as usize);
                class.cells.len() > 1 && group(&class.cells[0]) != group(&class.cells[1])
            }
        }
    }

    /// The factor by which A'A acts on a subspace other than that of even functions.
    pub(super) fn scalar(&self, part: &Part, kind: Kind) -> f64 {
        match (part, kind) {
            (Part::Whole, _) | (_, Kind::Even) => 1.0,
            (_, Kind::Within(_)) => 0.0,
            (_, Kind::Between(class)) => {
                let class = &self.classes[class as usize];
                if self.is_alone(part, class) { class.size as f64 } else { 0.0 }
            }
        }
    }

    /// The block of a class: even functions of two classes can share a count of the query if and only if their numbers
    /// are equal.
    pub(super) fn block(&self, part: &Part, class: usize) -> usize {
        match part {
            Part::Total => 0,
            Part::Whole => class,
            Part::Groups(_) => {
                let first = self.classes[class].cells[0] as usize;
                // A class whose cells are alone is the only one in the group of its first cell.
                part.group_of(self.cells[first][0] as usize)
            }
        }
    }

    /// The number of counts of the query that the sum over the values of a class is divided among.
    pub(super) fn shares(&self, part: &Part, class: usize) -> u64 {
        let class = &self.classes[class];
        match part {
            Part::Whole => (class.cells.len() * class.size) as u64,
            _ if self.is_alone(part, class) => class.cells.len() as u64,
            _ => 1,
        }
    }

    /// A'A on the even functions, row by row.
    pub(super) fn even<N: Number>(&self, part: &Part) -> Vec<N> {
        let many = self.classes.len();
        let entry = |at: usize| {
            let (row, column) = (at / many, at % many);
            match part {
                Part::Whole => N::of(f64::from(u8::from(row == column))),
                _ if self.block(part, row) != self.block(part, column) => N::of(0.0),
                _ if self.is_alone(part, &self.classes[row]) => N::of(self.classes[row].size as f64),
                _ => N::of(self.classes[row].values() * self.classes[column].values()).root(),
            }
        };
        (0..many * many).map(entry).collect()
    }
}

/// The subspaces with coordinates.
fn kinds(classes: &[Class]) -> Vec<Kind> {
    let mut points: Vec<u32> = classes.iter().filter(|class| class.size > 1).map(|class| class.point).collect();
    points.sort_unstable();
    points.dedup();
    let between = (0..).zip(classes).filter(|(_, class)| class.cells.len() > 1);
    let between = between.map(|(number, _)| Kind::Between(number));
    std::iter::once(Kind::Even).chain(points.into_iter().map(Kind::Within)).chain(between).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exchangeable_cells_form_one_class() {
        // Single years below 5, where one partition groups 0-1 and 2-4, and two groups of three years each.
        let fine = Part::Groups(vec![0, 1, 2, 3, 4, 5, 5, 5, 6, 6, 6]);
        let coarse = Part::Groups(vec![0, 0, 1, 1, 1, 2, 2, 2, 2, 2, 2]);
        let axis = Axis::new(11, [&fine, &coarse, &fine, &Part::Whole].into_iter(), &Part::Total);
        assert_eq!(axis.cells.len(), 7);
        let classes: Vec<(usize, usize)> = axis.classes.iter().map(|class| (class.cells.len(), class.size)).collect();
        assert_eq!(classes, [(2, 1), (3, 1), (2, 3)]);
        assert_eq!(axis.kinds, [Kind::Even, Kind::Within(0), Kind::Between(0), Kind::Between(1), Kind::Between(2)]);
        let dimensions: Vec<usize> = axis.kinds.iter().map(|kind| axis.dimension(*kind)).collect();
        assert_eq!(dimensions, [3, 4, 1, 2, 1]);
        assert_eq!(dimensions.iter().sum::<usize>(), 11);
        assert_eq!(axis.scalar(&fine, Kind::Between(2)), 3.0);
        assert_eq!(axis.scalar(&coarse, Kind::Between(2)), 0.0);
        assert_eq!(axis.even::<f64>(&fine), [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 3.0]);
        assert_eq!(axis.even::<f64>(&coarse), [2.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 6.0]);
        // Values that constraints distinguish are not exchangeable.
        let apart = Part::Groups(vec![0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
        let axis = Axis::new(11, [&fine, &coarse].into_iter(), &apart);
        let classes: Vec<usize> = axis.classes.iter().map(|class| class.cells.len()).collect();
        assert_eq!((classes, axis.points), (vec![1, 1, 3, 2], 2));
    }

    #[test]
    fn partitions_are_made_from_keys_and_joined() {
        assert_eq!(Part::of_keys([3, 3].into_iter()), Part::Total);
        assert_eq!(Part::of_keys([3, 1].into_iter()), Part::Whole);
        let (a, b) = (Part::of_keys([3, 1, 1].into_iter()), Part::of_keys([0, 0, 1].into_iter()));
        assert_eq!(a, Part::Groups(vec![0, 1, 1]));
        assert_eq!(a.common(&b), Part::Groups(vec![0, 1, 2]));
        assert_eq!((a.common(&Part::Total), a.common(&Part::Whole)), (a.clone(), Part::Whole));
        assert_eq!(Part::Groups(vec![2, 0, 2, 1]).in_order(), Part::Groups(vec![0, 1, 0, 2]));
        assert_eq!(Part::Groups(vec![1, 0]).in_order(), Part::Whole);
    }
}
