//! Exact totals of states, which are published without noise.

use std::{collections::BTreeMap, path::Path};

use crate::{error::Result, spine::csv_table::CsvTable};

/// Reads a CSV with the columns `state` (its two digits) and `total`.
pub fn read(path: &Path) -> Result<BTreeMap<u32, i64>> {
    let mut table = CsvTable::open(path)?;
    let (state, total) = (table.column(&["state"])?, table.column(&["total"])?);
    let mut totals = BTreeMap::new();
    while table.next()? {
        let number = table.whole(state, 99)? as u32;
        let people = table.whole(total, 1 << 50)? as i64;
        if totals.insert(number, people).is_some() {
            return Err(table.refuse(state + 1, &format!("the state {number:02} occurs twice")));
        }
    }
    Ok(totals)
}
