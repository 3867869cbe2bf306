//! The tables T03001 to T04002 in the bureau's format: fields separated by `|`, one file of each for every pass.

use std::path::Path;

use super::{
    household_counts::HouseholdBatch,
    household_levels::HouseholdLevel,
    output::{TableFile, number},
};
use crate::{error::Result, numeric::parallel, safetab::household_tables::HouseholdTopic, safetab::schema::Pass};

/// The number of groups whose rows one thread formats at a time.
const PART: usize = 1 << 11;

/// The tables of a pass while they are written.
pub struct HouseholdTables {
    /// Indexed by topic and detail, with their names.
    tables: Vec<(&'static str, TableFile)>,
}

/// The index of the first table of a topic among all tables.
fn first(topic: HouseholdTopic) -> usize {
    HouseholdTopic::ALL[..topic as usize].iter().map(|before| before.tables().len()).sum()
}

impl HouseholdTables {
    /// Empty tables with their headings, which show an insecure seed.
    pub fn create(folder: &Path, pass: Pass, insecure_seed: Option<u64>) -> Result<Self> {
        let mut tables = Vec::new();
        for topic in HouseholdTopic::ALL {
            let columns = format!("REGION_ID|REGION_TYPE|ITERATION_CODE|{}_DATA_CELL|COUNT", topic.name());
            for table in topic.tables() {
                let folder = folder.join(topic.name().to_lowercase()).join(table.name);
                tables.push((table.name, TableFile::create(&folder, pass, &columns, insecure_seed)?));
            }
        }
        Ok(HouseholdTables { tables })
    }

    /// Writes the groups of a batch.
    pub fn write(&mut self, plan: &HouseholdLevel, batch: &HouseholdBatch) -> Result<()> {
        let numbers: Vec<usize> = (0..batch.groups.len()).collect();
        let parts = parallel::try_map(&numbers.chunks(PART).collect::<Vec<_>>(), |part| {
            let mut rows = vec![(Vec::new(), 0); self.tables.len()];
            for &group in *part {
                put(plan, batch, group, &mut rows)?;
            }
            Ok(rows)
        })?;
        for rows in parts {
            for ((_, table), (text, count)) in self.tables.iter_mut().zip(rows) {
                table.write(&text, count)?;
            }
        }
        Ok(())
    }

    /// Syncs all tables to the disk, and returns the number of rows of each.
    pub fn finish(self) -> Result<Vec<(&'static str, u64)>> {
        self.tables.into_iter().map(|(name, table)| Ok((name, table.finish()?))).collect()
    }
}

/// Appends the rows of a group to those of its tables.
fn put(plan: &HouseholdLevel, batch: &HouseholdBatch, group: usize, rows: &mut [(Vec<u8>, u64)]) -> Result<()> {
    let selected = &batch.groups[group];
    for topic in HouseholdTopic::ALL {
        let Some(measured) = batch.measured(topic, group) else { continue };
        let detail = usize::from(selected.detail[topic as usize]);
        let table = &topic.tables()[detail];
        let mut counts = Vec::with_capacity(table.printed.len());
        topic.printed(table, measured, &mut counts)?;
        let (text, written) = &mut rows[first(topic) + detail];
        for (cell, count) in table.printed.iter().zip(&counts) {
            text.extend_from_slice(plan.regions[selected.region as usize].as_bytes());
            text.push(b'|');
            text.extend_from_slice(plan.region_type.name().as_bytes());
            text.push(b'|');
            number(text, i128::from(plan.iterations[selected.iteration as usize].iteration.number()), 4);
            text.push(b'|');
            number(text, i128::from(*cell), 1);
            text.push(b'|');
            number(text, i128::from(*count), 1);
            text.push(b'\n');
        }
        *written += counts.len() as u64;
    }
    Ok(())
}
