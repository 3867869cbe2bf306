//! Custom hierarchies: regions, districts and municipalities, for example, or hospitals and wards. A CSV has a column
//! for each level and a line for each unit of the lowest level. Units keep their names from the file.
//!
//! Two units are the same if their ids and the ids of all units above them are equal: ward 1 of one hospital is not
//! ward 1 of another. If an id occurs under different parents, units of that level are shown with the ids above them,
//! `north/1`.

use std::{borrow::Cow, collections::HashMap, path::Path};

use super::{csv_table::CsvTable, geoids::Geoids, hierarchy::Tree};
use crate::error::{Error, Result};

/// The ids of the units of a spine.
#[derive(Clone, Debug)]
pub enum UnitIds {
    /// GEOIDs of the census.
    Census(Geoids),
    /// Ids of a custom hierarchy.
    Own(OwnIds),
}

impl UnitIds {
    /// The id of a unit in files.
    pub fn unit(&self, level: usize, unit: usize) -> Cow<'_, str> {
        match self {
            UnitIds::Census(geoids) => Cow::Owned(geoids.unit(level, unit)),
            UnitIds::Own(ids) => ids.unit(level, unit),
        }
    }

    /// The heading of a column of ids.
    pub fn heading(&self) -> &'static str {
        match self {
            UnitIds::Census(_) => "geoid",
            UnitIds::Own(_) => "id",
        }
    }

    /// The GEOIDs of the blocks in tree order; empty for a custom hierarchy.
    pub fn geoids(&self) -> &[u64] {
        match self {
            UnitIds::Census(geoids) => geoids.blocks(),
            UnitIds::Own(_) => &[],
        }
    }
}

/// The ids of the units of a tree, as in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnIds {
    ids: Vec<Vec<String>>,
    /// The parents of the units of each level below the root.
    parents: Vec<Vec<u32>>,
    /// The levels in which an id occurs under different parents.
    needs_path: Vec<bool>,
}

impl OwnIds {
    /// The ids of all units of a tree, level by level; that of the root may be empty.
    pub(super) fn new(tree: &Tree, ids: Vec<Vec<String>>) -> OwnIds {
        let parents =
            (0..tree.levels()).map(|level| if level == 0 { Vec::new() } else { tree.parents(level) }).collect();
        let mut own = OwnIds { needs_path: vec![false; ids.len()], ids, parents };
        for level in 2..own.ids.len() {
            let mut first: HashMap<&str, usize> = HashMap::new();
            let differs = own.ids[level].iter().enumerate().any(|(unit, id)| {
                let known = *first.entry(id).or_insert(unit);
                known != unit && own.path(level, known) != own.path(level, unit)
            });
            own.needs_path[level] = differs;
        }
        own
    }

    /// The id of a unit in the file.
    pub fn raw(&self, level: usize, unit: usize) -> &str {
        &self.ids[level][unit]
    }

    /// The ids from the level below the root down to a unit.
    pub fn path(&self, level: usize, unit: usize) -> Vec<&str> {
        let mut path = vec![""; level];
        let mut at = unit;
        for above in (1..=level).rev() {
            path[above - 1] = self.raw(above, at);
            at = self.parents[above][at] as usize;
        }
        path
    }

    fn unit(&self, level: usize, unit: usize) -> Cow<'_, str> {
        match self.needs_path[level] {
            true => Cow::Owned(self.path(level, unit).join("/")),
            false => Cow::Borrowed(self.raw(level, unit)),
        }
    }

    /// The first two units of the lowest level with the same path, if any.
    pub(super) fn doubled(&self) -> Option<(usize, usize)> {
        let last = self.ids.len() - 1;
        let mut first: HashMap<Vec<&str>, usize> = HashMap::new();
        (0..self.ids[last].len()).find_map(|unit| {
            let known = *first.entry(self.path(last, unit)).or_insert(unit);
            (known != unit).then_some((known, unit))
        })
    }
}

/// A hierarchy as read from a file, before bypassing.
#[derive(Clone, Debug)]
pub struct Hierarchy {
    /// Its tree.
    pub tree: Tree,
    ids: Vec<Vec<String>>,
}

/// The units of one level while a file is read: numbered in the order of appearance, by parent and id.
#[derive(Default)]
struct LevelUnits {
    numbers: HashMap<(u32, String), u32>,
    ids: Vec<String>,
    /// The unit of each line.
    of_line: Vec<u32>,
}

impl LevelUnits {
    fn push(&mut self, parent: u32, id: &str) -> u32 {
        let ids = &mut self.ids;
        let number = *self.numbers.entry((parent, id.to_string())).or_insert_with(|| {
            ids.push(id.to_string());
            ids.len() as u32 - 1
        });
        self.of_line.push(number);
        number
    }
}

impl Hierarchy {
    /// Reads a CSV with a column for each of these levels and a line for each unit of the lowest one. The first level
    /// is the root: its column may be omitted. Other columns are ignored. Units keep the order of the file.
    pub fn read(path: &Path, levels: &[String]) -> Result<Hierarchy> {
        let mut table = CsvTable::open(path)?;
        let mut columns = vec![table.find(&[&levels[0]])];
        for level in &levels[1..] {
            columns.push(Some(table.column(&[level])?));
        }
        let mut units: Vec<LevelUnits> = levels.iter().map(|_| LevelUnits::default()).collect();
        let last = levels.len() - 1;
        while table.next()? {
            let mut parent = 0;
            for ((column, units), name) in columns.iter().zip(&mut units).zip(levels) {
                parent = units.push(parent, column.map_or(Ok(""), |at| id(&table, at, name))?);
            }
            let at = columns[0].filter(|_| units[0].ids.len() > 1);
            if let Some(at) = at {
                let why = format!("the second {:?} beside {:?}: the root is one", units[0].ids[1], units[0].ids[0]);
                return Err(table.refuse(at + 1, &why));
            }
            if units[last].ids.len() < units[last].of_line.len() {
                let unit = format!("{} {:?}", levels[last], units[last].ids[parent as usize]);
                let at = columns[last].map_or(0, |at| at + 1);
                return Err(table.refuse(at, &format!("the {unit} occurs twice: a line for each is expected")));
            }
            if units[last].of_line.len() > u32::MAX as usize {
                return Err(table.refuse(0, "more than 4 billion lines"));
            }
        }
        if units[last].of_line.is_empty() {
            let why = format!("the file has no unit: a header and a line for each {} are needed", levels[last]);
            return Err(table.refuse(0, &why));
        }
        Ok(Hierarchy::of_units(units))
    }

    fn of_units(units: Vec<LevelUnits>) -> Hierarchy {
        let levels = units.len();
        let of = |row: u32| units.iter().map(move |level| level.of_line[row as usize]);
        let mut order: Vec<u32> = (0..units[0].of_line.len() as u32).collect();
        order.sort_by(|a, b| of(*a).cmp(of(*b)));
        let first_difference = |a: u32, b: u32| of(a).zip(of(b)).position(|(a, b)| a != b).unwrap_or(levels - 1);
        let tree = Tree::over(order, levels, first_difference);
        // Units were numbered in the order of appearance, so the units of a level in tree order need a look-up of their
        // numbers.
        let ids = (0..levels).map(|level| {
            let unit = |unit: usize| {
                let place = if level + 1 == levels { unit } else { tree.blocks(level, unit).start };
                let row = tree.order()[place] as usize;
                units[level].ids[units[level].of_line[row] as usize].clone()
            };
            (0..tree.units(level)).map(unit).collect()
        });
        let ids = ids.collect();
        Hierarchy { tree, ids }
    }

    /// The ids of the units of a tree derived from this one by splitting units: each has the id of the unit that it is
    /// a part of.
    pub(super) fn ids_on(&self, tree: &Tree) -> OwnIds {
        let last = self.ids.len() - 1;
        let of_level = |level: usize| {
            let (mut unit_before, mut ids) = (0, Vec::with_capacity(tree.units(level)));
            for unit in 0..tree.units(level) {
                if level == last {
                    ids.push(self.ids[level][unit].clone());
                    continue;
                }
                let place = tree.blocks(level, unit).start;
                while self.tree.blocks(level, unit_before).end <= place {
                    unit_before += 1;
                }
                ids.push(self.ids[level][unit_before].clone());
            }
            ids
        };
        OwnIds::new(tree, (0..=last).map(of_level).collect())
    }
}

/// The id in a cell.
fn id<'t>(table: &'t CsvTable, at: usize, level: &str) -> Result<&'t str> {
    let refuse = |why: String| -> Error { table.refuse(at + 1, &why) };
    let id = table.text(at)?;
    if id.is_empty() || id.chars().any(char::is_control) {
        let why = format!(
            "{:?} is no id of a {level}: where there is none, repeat the id above; a unit with one child is bypassed, and takes \
             no budget",
            table.shown(at)
        );
        return Err(refuse(why));
    }
    Ok(id)
}
