//! The tables T1 and T2 in the bureau's format: fields separated by `|`, one file of each for every pass.
//!
//! T1 has the total of every group that is not suppressed. T2 has the cells of the groups with ages, and their sums for both sexes with age
//! `*`. The total of a group with ages is the sum of its noisy cells, so both tables agree; these sums are post-processing, which costs no
//! privacy.

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use super::{
    coterminous::{Coterminous, Published},
    levels::TabulatedLevel,
    two_stage::{GroupBatch, StagedLevel},
    workload::bounds,
};
use crate::{
    error::{Error, Result},
    io::files::file_error,
    numeric::parallel,
    safetab::{
        schema::{Pass, RegionType},
        tables::PublishedTable,
    },
};

/// The number of groups whose rows one thread formats at a time.
const PART: usize = 1 << 11;

/// The two tables of a pass while they are written.
pub struct ReleaseTables {
    totals: TableFile,
    cells: TableFile,
    coterminous: Coterminous,
    /// The types of region, highest summary level first.
    types: Vec<RegionType>,
    /// Their entities; empty for a type that was not begun yet.
    regions: Vec<Vec<String>>,
    suppressed: u64,
}

/// Rows of one table as text.
#[derive(Default)]
struct Rows {
    totals: Vec<u8>,
    cells: Vec<u8>,
    count: [u64; 2],
}

/// A table while it is written.
pub(in crate::safetab) struct TableFile {
    path: PathBuf,
    out: BufWriter<File>,
    rows: u64,
}

/// The numbers of rows and groups written for a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// The number of rows of T1.
    pub totals: u64,
    /// The number of rows of T2.
    pub cells: u64,
    /// The number of groups omitted because of a small noisy total, before coterminous groups are filled in.
    pub suppressed: u64,
    /// The number of groups that publish the counts of a coterminous one.
    pub coterminous: u64,
}

impl ReleaseTables {
    /// Two empty tables with their headings, which show an insecure seed. The types of region must have the highest summary level first.
    pub fn create(
        folder: &Path,
        pass: Pass,
        types: &[RegionType],
        coterminous: Coterminous,
        insecure_seed: Option<u64>,
    ) -> Result<Self> {
        let table = |name: &str, columns: &str| TableFile::create(&folder.join(name), pass, columns, insecure_seed);
        Ok(ReleaseTables {
            totals: table("t1", "REGION_ID|REGION_TYPE|ITERATION_CODE|COUNT")?,
            cells: table("t2", "REGION_ID|REGION_TYPE|ITERATION_CODE|AGESTART|AGEEND|SEX|COUNT")?,
            coterminous,
            types: types.to_vec(),
            regions: vec![Vec::new(); types.len()],
            suppressed: 0,
        })
    }

    /// Writes the groups of a batch.
    pub fn write(&mut self, plan: &TabulatedLevel, piece: &GroupBatch) -> Result<()> {
        let place = self.types.iter().position(|&known| known == plan.region_type).ok_or_else(|| {
            Error::fault(format!("the pass does not tabulate the type of region {}", plan.region_type))
        })?;
        if self.regions[place].is_empty() {
            self.regions[place].clone_from(&plan.regions);
        }
        let width = plan.iterations.len() as u64;
        let group = |number: usize| {
            let key = piece.first + number as u64;
            ((key / width) as usize, plan.iterations[(key % width) as usize])
        };
        self.suppressed += piece.tables.iter().filter(|table| table.is_none()).count() as u64;
        let numbers: Vec<usize> = (0..piece.tables.len()).collect();
        let coterminous = &self.coterminous;
        let parts = parallel::map(&numbers.chunks(PART).collect::<Vec<_>>(), |part| {
            let mut rows = Rows::default();
            for &number in *part {
                let (region, iteration) = group(number);
                if let Some(table) = piece.tables[number]
                    && !coterminous.holds((place, region as u32))
                {
                    let region = &plan.regions[region];
                    rows.put(region, plan.region_type, iteration.iteration.number(), table, piece.counts(number));
                }
            }
            rows
        });
        for rows in &parts {
            self.take(rows)?;
        }
        if self.coterminous.is_empty() {
            return Ok(());
        }
        let mut rows = Rows::default();
        for number in numbers {
            let (region, iteration) = group(number);
            let entity = (place, region as u32);
            if !self.coterminous.holds(entity) {
                continue;
            }
            let margin = plan.margin(iteration.detailed_only);
            let own =
                piece.tables[number].map(|table| Published { table, counts: piece.counts(number).to_vec(), margin });
            let iteration = iteration.iteration.number();
            for ((place, region), published) in self.coterminous.publish(entity, iteration.into(), own) {
                let region = &self.regions[place][region as usize];
                rows.put(region, self.types[place], iteration, published.table, &published.counts);
            }
        }
        self.take(&rows)
    }

    fn take(&mut self, rows: &Rows) -> Result<()> {
        self.totals.write(&rows.totals, rows.count[0])?;
        self.cells.write(&rows.cells, rows.count[1])
    }

    /// Syncs both tables to the disk.
    pub fn finish(self) -> Result<Written> {
        let (suppressed, coterminous) = (self.suppressed, self.coterminous.replaced());
        Ok(Written { totals: self.totals.finish()?, cells: self.cells.finish()?, suppressed, coterminous })
    }
}

impl TableFile {
    /// A table with its headings, whose mark shows an insecure seed.
    pub(in crate::safetab) fn create(
        folder: &Path,
        pass: Pass,
        columns: &str,
        insecure_seed: Option<u64>,
    ) -> Result<Self> {
        let file = match pass {
            Pass::UnitedStates => "us.csv",
            Pass::PuertoRico => "pr.csv",
        };
        let mark = insecure_seed.map_or_else(String::new, |seed| format!(" (INSECURE seed {seed})"));
        let heading = format!("{columns}{mark}\n");
        let path = folder.join(file);
        std::fs::create_dir_all(folder).map_err(|why| file_error(folder, why))?;
        let out = File::create(&path).map_err(|why| file_error(&path, why))?;
        let mut table = TableFile { path, out: BufWriter::with_capacity(1 << 20, out), rows: 0 };
        table.write(heading.as_bytes(), 0)?;
        Ok(table)
    }

    /// Appends rows.
    pub(in crate::safetab) fn write(&mut self, text: &[u8], rows: u64) -> Result<()> {
        self.rows += rows;
        self.out.write_all(text).map_err(|why| file_error(&self.path, why))
    }

    /// Syncs the table to the disk, and returns its number of rows.
    pub(in crate::safetab) fn finish(self) -> Result<u64> {
        let wrong = |why: std::io::Error| file_error(&self.path, why);
        let file = self.out.into_inner().map_err(|error| wrong(error.into_error()))?;
        file.sync_all().map_err(wrong)?;
        Ok(self.rows)
    }
}

impl Rows {
    fn put(&mut self, region: &str, region_type: RegionType, iteration: u16, table: PublishedTable, counts: &[i64]) {
        let mut head = Vec::with_capacity(40);
        head.extend_from_slice(region.as_bytes());
        head.push(b'|');
        head.extend_from_slice(region_type.name().as_bytes());
        head.push(b'|');
        number(&mut head, i128::from(iteration), 4);
        head.push(b'|');
        // Sums of 64-bit counts need more bits.
        let sum = |counts: &[i64]| -> i128 { counts.iter().map(|&count| i128::from(count)).sum() };
        self.totals.extend_from_slice(&head);
        number(&mut self.totals, sum(counts), 1);
        self.totals.push(b'\n');
        self.count[0] += 1;
        let bins = table.ages().len();
        if bins == 0 {
            return;
        }
        for (sex, counts) in (1..).zip(counts.chunks_exact(bins)) {
            for (bin, &count) in counts.iter().enumerate() {
                let (first, last) = bounds(table, bin);
                self.cells.extend_from_slice(&head);
                number(&mut self.cells, i128::from(first), 1);
                self.cells.push(b'|');
                number(&mut self.cells, i128::from(last), 1);
                self.cells.push(b'|');
                number(&mut self.cells, sex, 1);
                self.cells.push(b'|');
                number(&mut self.cells, i128::from(count), 1);
                self.cells.push(b'\n');
            }
            self.cells.extend_from_slice(&head);
            self.cells.extend_from_slice(b"*|*|");
            number(&mut self.cells, sex, 1);
            self.cells.push(b'|');
            number(&mut self.cells, sum(counts), 1);
            self.cells.push(b'\n');
        }
        self.count[1] += counts.len() as u64 + 2;
    }
}

/// Appends a number in decimal, padded with zeros to `least` digits.
pub(in crate::safetab) fn number(out: &mut Vec<u8>, value: i128, least: usize) {
    let mut digits = [b'0'; 40];
    let mut at = digits.len();
    let mut wide = value.unsigned_abs();
    while wide > u128::from(u64::MAX) {
        at -= 1;
        digits[at] += (wide % 10) as u8;
        wide /= 10;
    }
    // Nearly every count fits into 64 bits, whose divisions are faster.
    let mut rest = wide as u64;
    while rest > 0 {
        at -= 1;
        digits[at] += (rest % 10) as u8;
        rest /= 10;
    }
    if value < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at.min(digits.len() - least)..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_agree_with_the_standard_library() {
        for value in [0, 1, -1, 9, 10, -10, 1234, i64::MAX.into(), i64::MIN.into(), i128::from(i64::MIN) * 46, 1 << 80]
        {
            for least in [1, 4] {
                let mut out = Vec::new();
                number(&mut out, value, least);
                let sign = if value < 0 { "-" } else { "" };
                assert_eq!(String::from_utf8(out).unwrap(), format!("{sign}{:0least$}", value.unsigned_abs()));
            }
        }
    }

    #[test]
    fn rows_are_in_the_bureaus_format() {
        let mut rows = Rows::default();
        rows.put("01123", RegionType::County, 12, PublishedTable::Total, &[-3]);
        rows.put("1", RegionType::Usa, 1280, PublishedTable::SexAge4, &[1, 2, 3, 4, 5, 6, 7, -8]);
        assert_eq!(String::from_utf8(rows.totals).unwrap(), "01123|COUNTY|0012|-3\n1|USA|1280|20\n");
        let cells = "0|17|1|1\n18|44|1|2\n45|64|1|3\n65|115|1|4\n*|*|1|10\n0|17|2|5\n18|44|2|6\n45|64|2|7\n65|115|2|-8\n*|*|2|10\n";
        let expected: String = cells.lines().map(|row| format!("1|USA|1280|{row}\n")).collect();
        assert_eq!(String::from_utf8(rows.cells).unwrap(), expected);
        assert_eq!(rows.count, [2, 10]);
    }
}
