//! The constraints of a level of a part, row by row: the units, and their zero cells and bounds.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

use super::codes::{Asked, Geocodes, LevelUnits};
use crate::{
    error::{Error, Result},
    topdown::{
        gls::problem::{Free, Problem},
        nmf::{
            folder::NmfFile,
            names::{Constraint, Names, Sign},
            rows,
        },
        whole::family::{Bound, BoundGroups},
    },
};

/// Reads the constraints of a level.
pub(super) fn read_level(
    files: &[&NmfFile],
    level: &str,
    (names, problem): (&Names, &Problem),
    part: &str,
    asked: Asked,
    bound_groups: &mut Option<BoundGroups>,
) -> Result<LevelUnits> {
    // Cells that are zero at the root are zero below it.
    let all_free = asked.zeros.map_or_else(|| problem.all_free(), |zeros| zeros.free(problem));
    let mut bounds: Vec<Vec<Bound>> = Vec::new();
    let mut codes: Vec<Vec<u8>> = Vec::new();
    let mut free: Vec<Free> = Vec::new();
    let mut known: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut seen: HashSet<(usize, usize)> = HashSet::new();
    let mut constraints = Meanings::default();
    let mut last = usize::MAX;
    for file in files {
        rows::read(&file.path, &names.constraint_columns(), |row| {
            if !row.geocode.starts_with(part.as_bytes()) {
                if file.part.is_some() {
                    let why = format!("lies in a folder of the part {part}, whose codes begin with it");
                    return Err(rows::refuse(&file.path, row, &why));
                }
                return Ok(());
            }
            let meaning = constraints.meaning(names, row).map_err(|why| rows::refuse(&file.path, row, &why))?;
            // The rows of a unit are usually consecutive.
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
            if asked.zeros.is_some() {
                apply_zeros(&file.path, row, constraint, problem, &mut free[last])?;
                if asked.bounds {
                    apply_bounds(&file.path, row, constraint, problem, bound_groups, &mut bounds[last])?;
                }
            }
            Ok(())
        })?;
    }
    // A unit without a row of bounds has only the bound 0.
    let count = bound_groups.as_ref().map_or(0, |groups| groups.count);
    bounds.iter_mut().for_each(|own| own.resize(count, (0, None)));
    in_order(level, &codes, &free, bounds)
}

/// The units of a level in the order of their codes, all of which have the same number of digits.
fn in_order(level: &str, codes: &[Vec<u8>], free: &[Free], mut bounds: Vec<Vec<Bound>>) -> Result<LevelUnits> {
    let mut order: Vec<usize> = (0..codes.len()).collect();
    order.sort_by(|a, b| codes[*a].cmp(&codes[*b]));
    let width = codes.first().map_or(0, Vec::len);
    if let Some(odd) = codes.iter().find(|code| code.len() != width || !code.iter().all(u8::is_ascii_digit)) {
        let given = String::from_utf8_lossy(odd).to_string();
        let expected = format!("digits, {width} as in the first of its level");
        return Err(Error::malformed(&format!("a geocode of {level}"), given, &expected));
    }
    let text = order.iter().flat_map(|at| codes[*at].iter().copied()).collect();
    let free = order.iter().map(|at| free[*at].clone()).collect();
    let bounds = order.iter().map(|at| std::mem::take(&mut bounds[*at])).collect();
    Ok(LevelUnits { codes: Geocodes { width, text }, free, bounds })
}

/// Makes the zero cells of a row zero.
fn apply_zeros(
    path: &Path,
    row: &rows::Row,
    constraint: &Constraint,
    problem: &Problem,
    free: &mut Free,
) -> Result<()> {
    if !constraint.can_be_zero() {
        return Ok(());
    }
    for (count, value) in row.values.iter().enumerate() {
        if *value < 0 || (*value > 0 && constraint.sign == Sign::Equal) {
            return Err(rows::refuse(path, row, &format!("the value {value}: expected 0 or, for a bound, more")));
        }
        if *value == 0 {
            let (points, cut) = problem.points_with(|axis, value| constraint.selects(count, axis, value));
            if cut.into_iter().any(|point| free.has(point)) {
                let why = "makes cells zero that no constraint of the root distinguishes from others";
                return Err(rows::refuse(path, row, why));
            }
            points.into_iter().for_each(|point| free.remove(point));
        }
    }
    Ok(())
}

/// Adds bounds on sums of cells. All must have the same groups, except those that only require non-negativity.
fn apply_bounds(
    path: &Path,
    row: &rows::Row,
    constraint: &Constraint,
    problem: &Problem,
    groups: &mut Option<BoundGroups>,
    bounds: &mut Vec<Bound>,
) -> Result<()> {
    let at_least = constraint.sign == Sign::AtLeast;
    if !constraint.is_own()
        || constraint.sign == Sign::Equal
        || (at_least && row.values.iter().all(|value| *value <= 0))
    {
        return Ok(());
    }
    let all = problem.points_with(|_, _| true).0.len();
    let mut of_point = vec![u32::MAX; all];
    for count in 0..row.values.len() {
        let (points, cut) = problem.points_with(|axis, value| constraint.selects(count, axis, value));
        if !cut.is_empty() {
            let why = "is a bound of cells that no constraint of the root distinguishes from others";
            return Err(rows::refuse(path, row, why));
        }
        points.into_iter().for_each(|point| of_point[point] = count as u32);
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

/// The distinct constraints, each parsed once.
#[derive(Default)]
pub(in crate::topdown::nmf) struct Meanings {
    pub(in crate::topdown::nmf) known: Vec<Meaning>,
    next: usize,
}

pub(in crate::topdown::nmf) struct Meaning {
    name: Vec<u8>,
    sign: Vec<u8>,
    axes: Vec<parquet::data_type::ByteArray>,
    shape: Vec<i64>,
    pub(in crate::topdown::nmf) constraint: Constraint,
}

impl Meanings {
    /// The number of the constraint of a row.
    pub(in crate::topdown::nmf) fn meaning(
        &mut self,
        names: &Names,
        row: &rows::Row,
    ) -> std::result::Result<usize, String> {
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
