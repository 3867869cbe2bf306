//! Consistency of constraints: sums over children, zeros that every unit must have, and lower bounds against upper
//! ones.

use std::collections::{BTreeMap, HashMap};

use crate::{
    error::{Error, Result},
    topdown::nmf::{
        folder::{NmfFolder, of_part},
        names::{Constraint, Names, Sign},
        rows,
        units::{Meanings, PartUnits},
    },
};

/// Sums over the units below, by constraint and the code of the unit.
type Sums = HashMap<(String, Vec<u8>), Vec<i64>>;

/// The rows of a unit read so far.
#[derive(Default)]
struct UnitRows {
    /// The number of the root's zeros.
    zeros: usize,
    /// Bounds without their counterpart so far, by the number of their meaning.
    bounds: Vec<(usize, Vec<i64>)>,
}

/// Whether the values of children add up to a unit's: true of bounds and of published tables.
fn adds_up(constraint: &Constraint) -> bool {
    constraint.is_own() && (constraint.sign != Sign::Equal || constraint.is_table())
}

/// Reads the constraints of a part and checks them. Bounds and tables are sums over blocks, so those of a unit must be
/// the sums of its children's, except in states, where the maker of the files sharpened bounds; a difference means that
/// a unit is missing. `zeros` are the names of the root's equalities that make cells zero: every unit must have them
/// (reading the units checks their values). And no lower bound may exceed an upper one.
pub(super) fn check_part(
    folder: &NmfFolder,
    names: &Names,
    units: &PartUnits,
    first: usize,
    zeros: &[String],
) -> Result<()> {
    let mut below: Option<Sums> = None;
    for level in (0..units.codes.len()).rev() {
        let (mut above, mut found) = (Sums::new(), HashMap::<Vec<u8>, UnitRows>::new());
        let width = level.checked_sub(1).map(|above| units.codes[above].width());
        let mut meanings = Meanings::default();
        for file in of_part(&folder.levels[first + level].constraints, &units.part) {
            rows::read(&file.path, &names.constraint_columns(), |row| {
                if !row.geocode.starts_with(units.part.as_bytes()) {
                    return Ok(());
                }
                let wrong = |why: String| rows::refuse(&file.path, row, &why);
                let meaning = meanings.meaning(names, row).map_err(wrong)?;
                let constraint = &meanings.known[meaning].constraint;
                let unit = found.entry(row.geocode.to_vec()).or_default();
                if zeros.contains(&constraint.name) {
                    unit.zeros += 1;
                    return Ok(());
                }
                unit.take(meaning, &meanings, row.values).map_err(wrong)?;
                if !adds_up(constraint) {
                    return Ok(());
                }
                let key = (constraint.name.clone(), row.geocode.to_vec());
                let sums =
                    below.as_ref().filter(|_| level > 0 || constraint.is_table()).and_then(|sums| sums.get(&key));
                if let Some(sums) = sums.filter(|sums| **sums != row.values) {
                    let children = &names.levels[first + level + 1];
                    let values = difference(row.values, sums);
                    return Err(wrong(format!("{values} over its units of {children}: one of these may be missing")));
                }
                if let Some(width) = width {
                    let key = (constraint.name.clone(), row.geocode[..width].to_vec());
                    add(above.entry(key).or_insert_with(|| vec![0; row.values.len()]), row.values);
                }
                Ok(())
            })?;
        }
        let short = found.iter().filter(|(_, unit)| unit.zeros != zeros.len()).min_by_key(|(code, _)| *code);
        if let Some((code, unit)) = short {
            return Err(Error::conflict(format!(
                "{} {} has {} equalities that make cells zero, and the root has {}, which every unit must have: {}",
                names.levels[first + level],
                String::from_utf8_lossy(code),
                unit.zeros,
                zeros.len(),
                zeros.join(", ")
            )));
        }
        below = Some(above);
    }
    Ok(())
}

impl UnitRows {
    /// Compares a bound with its counterpart, if that was read before.
    fn take(&mut self, meaning: usize, meanings: &Meanings, values: &[i64]) -> std::result::Result<(), String> {
        let constraint = |meaning: usize| &meanings.known[meaning].constraint;
        let own = constraint(meaning);
        if own.sign == Sign::Equal || !own.is_own() {
            return Ok(());
        }
        let other = |known: &(usize, Vec<i64>)| constraint(known.0).is_counterpart(own);
        let Some(at) = self.bounds.iter().position(other) else {
            self.bounds.push((meaning, values.to_vec()));
            return Ok(());
        };
        let (other, others) = self.bounds.swap_remove(at);
        let (lower, upper) = if own.sign == Sign::AtLeast { (values, &others[..]) } else { (&others[..], values) };
        match lower.iter().zip(upper).position(|(lower, upper)| lower > upper) {
            None => Ok(()),
            Some(at) => {
                let name = &constraint(other).name;
                Err(format!("contradicts {name}: count {at} is at least {} and at most {}", lower[at], upper[at]))
            }
        }
    }
}

fn add(sums: &mut [i64], values: &[i64]) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum = sum.saturating_add(*value));
}

/// The first difference between values and sums, in words.
fn difference(values: &[i64], sums: &[i64]) -> String {
    let at = values.iter().zip(sums).position(|(value, sum)| value != sum).unwrap_or(0);
    format!("value {at} is {}, and the sum {}", values[at], sums[at])
}

/// The bounds of the nation are the sums of those of the parts of states. If they are not, the folder lacks states, and
/// the nation's counts include others.
pub fn check_nation(folder: &NmfFolder, names: &Names) -> Result<()> {
    let sums = |level: usize| {
        let mut sums: BTreeMap<(String, bool), Vec<i64>> = BTreeMap::new();
        let mut meanings = Meanings::default();
        for file in &folder.levels[level].constraints {
            rows::read(&file.path, &names.constraint_columns(), |row| {
                let meaning = meanings.meaning(names, row).map_err(|why| rows::refuse(&file.path, row, &why))?;
                let constraint = &meanings.known[meaning].constraint;
                if constraint.is_own() && constraint.sign != Sign::Equal {
                    let key = (constraint.name.clone(), constraint.sign == Sign::AtMost);
                    add(sums.entry(key).or_insert_with(|| vec![0; row.values.len()]), row.values);
                }
                Ok(())
            })?;
        }
        Ok::<_, Error>(sums)
    };
    let (nation, states) = (sums(0)?, sums(1)?);
    for ((name, at_most), own) in &nation {
        if let Some(sum) = states.get(&(name.clone(), *at_most)).filter(|sum| *sum != own) {
            return Err(Error::conflict(format!(
                "the bounds {name} of the nation are {own:?}, and their sums over the {} parts of states in the folder are {sum:?}: states \
                 are missing, or have to be estimated each for itself",
                folder.parts().len()
            )));
        }
    }
    Ok(())
}
