//! The units of a part of a state, and what constraints say of them.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

use super::{
    folder::{NmfFile, NmfFolder, of_part},
    names::{Constraint, Names},
    rows,
};
use crate::{
    error::{Error, Result},
    files::file_error,
    spine::hierarchy::Tree,
    topdown::{
        gls::problem::{Free, Problem},
        whole::family::{Bound, BoundGroups},
    },
};

/// Spine codes of one width, ascending.
#[derive(Clone, Debug, Default)]
pub struct Geocodes {
    width: usize,
    text: Vec<u8>,
}

impl Geocodes {
    /// The empty code of the nation.
    pub(super) fn nation() -> Geocodes {
        Geocodes { width: 0, text: vec![0] }
    }

    /// How many digits each has.
    pub fn width(&self) -> usize {
        self.width
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.text.len().checked_div(self.width).unwrap_or_else(|| usize::from(!self.text.is_empty()))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A code.
    pub fn get(&self, unit: usize) -> &[u8] {
        &self.text[unit * self.width..(unit + 1) * self.width]
    }

    /// The unit of a code; `near` is where it is looked for first.
    pub fn find(&self, code: &[u8], near: usize) -> Option<usize> {
        if code.len() != self.width {
            return None;
        }
        if near < self.len() && self.get(near) == code {
            return Some(near);
        }
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.get(middle).cmp(code) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }
}

/// What the constraints of the files are used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constraints {
    /// Nothing.
    None,
    /// The exact totals of the root and of states.
    Totals,
    /// These and every zero.
    All,
}

/// A part of a state: its units, level by level from the part itself.
#[derive(Debug)]
pub struct PartUnits {
    /// Its three digits.
    pub part: String,
    /// The codes of each level.
    pub codes: Vec<Geocodes>,
    /// Who lies in whom.
    pub tree: Tree,
    /// For each level and unit which cells may be above zero, by its number in `frees`.
    pub free: Vec<Vec<u32>>,
    /// The sets of cells that occur.
    pub frees: Vec<Free>,
    /// What bounds are about, where they are asked for and the files have any.
    pub bound_groups: Option<BoundGroups>,
    /// For each level and unit its bounds; none where `bound_groups` is none.
    pub bounds: Vec<Vec<Vec<Bound>>>,
}

/// What is read of constraints besides units.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked {
    /// The attributes that zeros are about, as bits; no zeros if `None`.
    pub zeros: Option<u32>,
    /// Whether bounds are kept too.
    pub bounds: bool,
}

/// What the constraints of a level say of its units, as they are read.
struct LevelUnits {
    codes: Geocodes,
    free: Vec<Free>,
    bounds: Vec<Vec<Bound>>,
}

impl PartUnits {
    /// Reads the constraints of a part, whose level is `first` among those of the release. Zeros that are asked for make cells
    /// zero, here and in everything below.
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
        for (at, level) in levels.iter().enumerate() {
            if level.codes.is_empty() {
                let expected = format!("units of the part {part} in Constraint");
                return Err(Error::out_of_range(
                    &format!("the level {}", names.levels[first + at]),
                    "empty",
                    &expected,
                ));
            }
        }
        if levels[0].codes.len() != 1 {
            let given = format!("{} units of the part {part}", levels[0].codes.len());
            return Err(Error::out_of_range(&format!("the level {}", names.levels[first]), given, "one"));
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

    /// The bounds of a unit; none where there are none.
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

/// Where the children of each unit start; refuses units without parents and parents without children.
fn children(above: &Geocodes, below: &Geocodes, names: &[String]) -> Result<Vec<u32>> {
    let shown = |code: &[u8]| String::from_utf8_lossy(code).to_string();
    if above.width >= below.width {
        let given = format!("geocodes of {} digits", below.width);
        let expected = format!("more than the {} of {}, whose codes they begin with", above.width, names[0]);
        return Err(Error::out_of_range(&format!("the level {}", names[1]), given, &expected));
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
            let expected =
                format!("a unit {} in the level {}, which it lies in", shown(&code[..above.width]), names[0]);
            return Err(Error::out_of_range(&format!("a geocode of {}", names[1]), shown(code), &expected));
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
    let expected = format!("units of the level {} whose codes begin with it", names[1]);
    Err(Error::out_of_range(&format!("a geocode of {}", names[0]), code, &expected))
}

/// What is zero above is zero below, and what is zero in all children is zero above: for each unit the number of its set,
/// and the sets.
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

/// The constraints of a level of a part.
fn read_level(
    files: &[&NmfFile],
    level: &str,
    (names, problem): (&Names, &Problem),
    part: &str,
    asked: Asked,
    bound_groups: &mut Option<BoundGroups>,
) -> Result<LevelUnits> {
    let all_free = problem.all_free();
    let mut bounds: Vec<Vec<Bound>> = Vec::new();
    let mut codes: Vec<Vec<u8>> = Vec::new();
    let mut free: Vec<Free> = Vec::new();
    let mut known: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut seen: HashSet<(usize, usize)> = HashSet::new();
    let mut constraints = Meanings::default();
    let mut last = usize::MAX;
    for file in files {
        rows::read(&file.path, &names.axes, |row| {
            if !row.geocode.starts_with(part.as_bytes()) {
                if file.part.is_some() {
                    let why = format!("lies in a folder of the part {part}, whose codes begin with it");
                    return Err(rows::refuse(&file.path, row, &why));
                }
                return Ok(());
            }
            let meaning = constraints.of(names, row).map_err(|why| rows::refuse(&file.path, row, &why))?;
            // Rows of one unit stand together, as a rule.
            if codes.get(last).is_none_or(|code| code != row.geocode) {
                last = *known.entry(row.geocode.to_vec()).or_insert_with(|| {
                    codes.push(row.geocode.to_vec());
                    free.push(all_free.clone());
                    bounds.push(Vec::new());
                    codes.len() - 1
                });
            }
            if !seen.insert((last, meaning)) {
                return Err(rows::refuse(&file.path, row, "occurs twice: each constraint of a unit is listed once"));
            }
            let constraint = &constraints.known[meaning].constraint;
            if let Some(single) = asked.zeros {
                apply_zeros(&file.path, row, constraint, problem, single, &mut free[last])?;
                if asked.bounds {
                    apply_bounds(&file.path, row, constraint, (problem, single), bound_groups, &mut bounds[last])?;
                }
            }
            Ok(())
        })?;
    }
    let mut order: Vec<usize> = (0..codes.len()).collect();
    order.sort_by(|a, b| codes[*a].cmp(&codes[*b]));
    let width = codes.first().map_or(0, Vec::len);
    if let Some(odd) = codes.iter().find(|code| code.len() != width || !code.iter().all(u8::is_ascii_digit)) {
        let given = String::from_utf8_lossy(odd).to_string();
        let expected = format!("digits, {width} as in the first of its level");
        return Err(Error::out_of_range(&format!("a geocode of {level}"), given, &expected));
    }
    let text = order.iter().flat_map(|at| codes[*at].iter().copied()).collect();
    let free = order.iter().map(|at| free[*at].clone()).collect();
    let count = bound_groups.as_ref().map_or(0, |groups| groups.count);
    // A unit without a row of bounds has none but zero.
    bounds.iter_mut().for_each(|own| own.resize(count, (0, None)));
    let bounds = order.iter().map(|at| std::mem::take(&mut bounds[*at])).collect();
    Ok(LevelUnits { codes: Geocodes { width, text }, free, bounds })
}

/// Makes the cells zero that a row says are. `single` are the attributes that the sectors tell apart, as bits.
fn apply_zeros(
    path: &Path,
    row: &rows::Row,
    constraint: &Constraint,
    problem: &Problem,
    single: u32,
    free: &mut Free,
) -> Result<()> {
    if !constraint.can_be_zero() {
        return Ok(());
    }
    for (count, value) in row.values.iter().enumerate() {
        if *value < 0 || (*value > 0 && constraint.sign == super::names::Sign::Equal) {
            return Err(rows::refuse(path, row, &format!("the value {value}: expected 0 or, for a bound, more")));
        }
        if *value == 0 {
            if constraint.axes() & !single != 0 {
                let why = "makes cells zero by an attribute that no constraint of the root is about";
                return Err(rows::refuse(path, row, why));
            }
            let points = problem.points_with(|axis, value| constraint.selects(count, axis, value));
            points.into_iter().for_each(|point| free.remove(point));
        }
    }
    Ok(())
}

/// Takes in bounds of sums of cells. All of them have to be about the same groups, but for those that say no more than that nothing
/// is below zero.
fn apply_bounds(
    path: &Path,
    row: &rows::Row,
    constraint: &Constraint,
    (problem, single): (&Problem, u32),
    groups: &mut Option<BoundGroups>,
    bounds: &mut Vec<Bound>,
) -> Result<()> {
    let at_least = constraint.sign == super::names::Sign::AtLeast;
    if constraint.sign == super::names::Sign::Equal || (at_least && row.values.iter().all(|value| *value <= 0)) {
        return Ok(());
    }
    if constraint.axes() & !single != 0 {
        let why = "is a bound by an attribute that no constraint of the root is about";
        return Err(rows::refuse(path, row, why));
    }
    let points = problem.points_with(|_, _| true).len();
    let mut of_point = vec![u32::MAX; points];
    for count in 0..row.values.len() {
        for point in problem.points_with(|axis, value| constraint.selects(count, axis, value)) {
            of_point[point] = count as u32;
        }
    }
    let own = BoundGroups { of_point, count: row.values.len() };
    if own.of_point.contains(&u32::MAX) || groups.as_ref().is_some_and(|known| *known != own) {
        let why = "is a bound of other groups than those before it: whole counts keep bounds of one kind of groups";
        return Err(rows::refuse(path, row, why));
    }
    *groups = Some(own);
    bounds.resize(row.values.len(), (0, None));
    for (bound, value) in bounds.iter_mut().zip(row.values) {
        match at_least {
            true => bound.0 = bound.0.max(*value),
            false => bound.1 = Some(bound.1.map_or(*value, |upper| upper.min(*value))),
        }
    }
    Ok(())
}

/// The constraints that occur, each understood once.
#[derive(Default)]
pub(super) struct Meanings {
    pub(super) known: Vec<Meaning>,
    next: usize,
}

pub(super) struct Meaning {
    name: Vec<u8>,
    sign: Vec<u8>,
    axes: Vec<parquet::data_type::ByteArray>,
    shape: Vec<i64>,
    pub(super) constraint: Constraint,
}

impl Meanings {
    /// The number of the constraint of a row.
    pub(super) fn of(&mut self, names: &Names, row: &rows::Row) -> std::result::Result<usize, String> {
        let is = |known: &Meaning| {
            known.name == row.name && known.sign == row.sign && known.axes == row.axes && known.shape == row.shape
        };
        let guess = self.known.get(self.next).is_some_and(is).then_some(self.next);
        let found = guess.or_else(|| self.known.iter().position(is));
        let at = match found {
            Some(at) if row.values.len() as i64 == row.shape.iter().product::<i64>() => at,
            _ => {
                let constraint = names.constraint(row)?;
                let (name, sign) = (row.name.to_vec(), row.sign.to_vec());
                let (axes, shape) = (row.axes.to_vec(), row.shape.to_vec());
                self.known.push(Meaning { name, sign, axes, shape, constraint });
                self.known.len() - 1
            }
        };
        self.next = at + 1;
        Ok(at)
    }
}

/// The root's constraints: its code, its exact total if there is one, and the attributes that zeros are about, as bits.
#[derive(Clone, Debug)]
pub struct RootConstraints {
    /// Whether the root is the nation, above all states.
    pub is_nation: bool,
    /// The exact total.
    pub total: Option<i64>,
    /// Attributes that constraints which can make cells zero tell apart.
    pub axes: u32,
    /// Equalities that least squares does not use.
    pub unused: Vec<String>,
}

impl RootConstraints {
    /// Reads them.
    pub fn read(folder: &NmfFolder, names: &Names) -> Result<RootConstraints> {
        let mut root = RootConstraints { is_nation: false, total: None, axes: 0, unused: Vec::new() };
        let mut codes: HashSet<Vec<u8>> = HashSet::new();
        for file in &folder.levels[0].constraints {
            rows::read(&file.path, &names.axes, |row| {
                let wrong = |why: &str| rows::refuse(&file.path, row, why);
                let constraint = names.constraint(row).map_err(|why| wrong(&why))?;
                codes.insert(row.geocode.to_vec());
                if constraint.is_total() {
                    root.total = row.values.first().copied();
                } else if constraint.can_be_zero() {
                    root.axes |= constraint.axes();
                } else if constraint.sign == super::names::Sign::Equal && !root.unused.contains(&constraint.name) {
                    root.unused.push(constraint.name);
                }
                Ok(())
            })?;
        }
        root.is_nation = codes.contains(&b""[..]);
        if codes.is_empty() || (root.is_nation && codes.len() > 1) {
            let level = &folder.levels[0];
            let why = format!("{} units in the Constraint files of the root {}", codes.len(), level.name);
            return Err(file_error(&folder.path.join(format!("{}.parquet", level.name)), why));
        }
        if codes.len() > 1 {
            // Several states without a nation: no total binds them all.
            root.total = None;
        }
        Ok(root)
    }
}
