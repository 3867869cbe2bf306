//! Control totals: sums that the counts must agree with, before any noise is drawn.
//!
//! The total is the number of records that were checked. The sums by class are those of the texts of codes, which were counted before any
//! join. The sums by county and by cell are requested separately, also without a join: a cluster that loses a part of its work repeats it.

use std::collections::HashMap;

use super::{queries::Tally, record_files::changed};
use crate::{
    error::{Error, Result},
    safetab::schema::Geography,
};

/// Sums of the counts by each of their keys.
#[derive(Default)]
pub(super) struct ControlTotals {
    /// By class, from the texts of codes.
    codes: Vec<i64>,
    /// By class, county and cell, from the counts.
    classes: Vec<i64>,
    counties: HashMap<i32, i64>,
    cells: HashMap<i32, i64>,
    counted: i64,
}

/// The counties of blocks and of atoms: 0 where no pass is run, because those atoms span many counties.
pub(super) struct Counties {
    of_atom: Vec<i32>,
    of_code: HashMap<i32, i32>,
}

impl Counties {
    /// The county of each atom, from the atom of each block; and of each code.
    pub(super) fn new(geography: &Geography, atoms: &[u32]) -> Self {
        let mut own = Counties { of_atom: Vec::new(), of_code: HashMap::new() };
        own.of_atom.resize(atoms.iter().max().map_or(0, |&last| last as usize + 1), 0);
        for ((block, geoid), &atom) in (0..).zip(geography.geoids()).zip(atoms) {
            let code = (geoid / 10_000_000_000) as i32;
            let county = if geography.pass(block).is_some() { code } else { 0 };
            own.of_atom[atom as usize] = county;
            own.of_code.insert(code, county);
        }
        own
    }
}

fn add(sums: &mut Vec<i64>, place: i32, n: i64) -> Result<()> {
    let place = usize::try_from(place).map_err(|_| changed("a class is negative"))?;
    if sums.len() <= place {
        sums.resize(place + 1, 0);
    }
    sums[place] += n;
    Ok(())
}

impl ControlTotals {
    /// Adds texts of codes: the class of each, and its number of records.
    pub(super) fn add_codes(&mut self, classes: &[i32], counts: &[i64]) -> Result<()> {
        classes.iter().zip(counts).try_for_each(|(class, n)| add(&mut self.codes, *class, *n))
    }

    /// Adds a count.
    pub(super) fn add_count(&mut self, counties: &Counties, count: Tally) -> Result<()> {
        let county = usize::try_from(count.atom).ok().and_then(|atom| counties.of_atom.get(atom));
        let county = *county.ok_or_else(|| changed("a record has an atom of no block"))?;
        add(&mut self.classes, count.class, count.n)?;
        *self.counties.entry(county).or_default() += count.n;
        *self.cells.entry(count.cell).or_default() += count.n;
        self.counted += count.n;
        match count.n > 0 {
            true => Ok(()),
            false => Err(changed("a count is not positive")),
        }
    }

    /// An error if the counts do not add up to the checked records, by class and in total.
    pub(super) fn check(&self, expected: u64) -> Result<()> {
        let ControlTotals { codes, classes, counted, .. } = self;
        if u64::try_from(*counted) != Ok(expected) {
            return Err(changed(&format!("{expected} records were checked and {counted} counted")));
        }
        let at = |sums: &[i64], class: usize| sums.get(class).copied().unwrap_or(0);
        let differ =
            (0..codes.len().max(classes.len())).filter(|&class| at(codes, class) != at(classes, class)).count();
        refuse(differ, "classes of codes")
    }

    /// An error if the counts do not add up to those of counties and cells, which were counted separately: rows of the code of a county, a
    /// cell and the number of records with both.
    pub(super) fn check_marginals(&self, counties: &Counties, rows: &[(i32, i32, i64)]) -> Result<()> {
        let (mut by_county, mut by_cell) = (HashMap::new(), HashMap::new());
        for (code, cell, n) in rows {
            let county = counties.of_code.get(code).ok_or_else(|| changed("a record has a county of no block"))?;
            *by_county.entry(*county).or_default() += n;
            *by_cell.entry(*cell).or_default() += n;
        }
        refuse(differing(&self.counties, &by_county), "counties")?;
        refuse(differing(&self.cells, &by_cell), "cells")
    }
}

/// The number of keys with different sums.
fn differing(sums: &HashMap<i32, i64>, others: &HashMap<i32, i64>) -> usize {
    let missing = others.keys().filter(|key| !sums.contains_key(key)).count();
    missing + sums.iter().filter(|(key, n)| others.get(key) != Some(n)).count()
}

fn refuse(differ: usize, what: &str) -> Result<()> {
    let why = format!(
        "two ways of counting disagree about {differ} {what}: the files of records changed while they were counted, or a part of the \
         count was lost or done twice; count again"
    );
    if differ == 0 { Ok(()) } else { Err(Error::Engine { why }) }
}
