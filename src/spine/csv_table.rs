//! CSV tables that identify blocks: which columns hold the GEOIDs, and how they are read.

use super::codes;
use crate::error::Result;
pub(crate) use crate::io::csv_reader::CsvTable;

/// The accepted headings of the GEOID of a block.
pub(crate) const BLOCK_NAMES: [&str; 5] = ["block", "BLOCKID", "GEOID", "GEOID20", "GEOID10"];
/// The headings and digits of the four columns that hold the GEOID of a block in a GRF-C (Geographic Reference File,
/// Codes).
const GRF_C: [(&str, usize); 4] = [("TABBLKST", 2), ("TABBLKCOU", 3), ("TABTRACTCE", 6), ("TABBLK", 4)];
/// The GEOID of a block: state 2, county 3, tract 6, block 4 digits.
const GEOID_DIGITS: usize = 15;

/// A field of CSV, in quotes if it needs them.
pub(crate) fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_string() }
}

/// The columns that hold the GEOIDs of blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BlockColumns {
    /// In one column.
    One(usize),
    /// In four columns: state, county, tract and block.
    Four([usize; 4]),
}

impl BlockColumns {
    /// The column that error messages point at.
    pub(crate) fn first(self) -> usize {
        match self {
            BlockColumns::One(at) => at,
            BlockColumns::Four(columns) => columns[3],
        }
    }
}

/// A table whose rows are blocks.
pub(crate) trait BlockTable {
    /// The GEOID of a block: its 15 digits, with the prefix of data.census.gov (`1000000US440010001001001`), or in the form of NHGIS
    /// (`G44000100001001001`).
    fn geoid(&self, at: usize) -> Result<u64>;

    /// Whether it is a GRF-C.
    fn is_grf_c(&self) -> bool;

    /// Where the GEOIDs are: under the usual headings, or in the four columns of a GRF-C.
    fn block_columns(&self) -> Result<BlockColumns>;

    /// The GEOID of the block of a row.
    fn block(&self, at: BlockColumns) -> Result<u64>;
}

impl BlockTable for CsvTable {
    fn geoid(&self, at: usize) -> Result<u64> {
        let text = self.cell(at);
        if text.len() == GEOID_DIGITS && text.iter().all(u8::is_ascii_digit) {
            return Ok(text.iter().fold(0, |value, digit| value * 10 + u64::from(digit - b'0')));
        }
        let shown = self.shown(at);
        let digits = codes::digits(&shown).unwrap_or_default();
        if digits.len() == GEOID_DIGITS {
            return Ok(digits.bytes().fold(0, |value, digit| value * 10 + u64::from(digit - b'0')));
        }
        let likely = codes::with_zero(&digits, GEOID_DIGITS)
            .map_or_else(String::new, |likely| format!(": its leading zero is missing, {likely} is likely"));
        let why = format!(
            "{shown:?} is no GEOID of a block: 15 digits are needed (state 2, county 3, tract 6, block 4); it has {}{likely}",
            text.len()
        );
        Err(self.refuse(at + 1, &why))
    }

    fn is_grf_c(&self) -> bool {
        GRF_C.iter().all(|(name, _)| self.find(&[name]).is_some())
    }

    fn block_columns(&self) -> Result<BlockColumns> {
        if self.find(&BLOCK_NAMES).is_some() || !self.is_grf_c() {
            return self.column(&BLOCK_NAMES).map(BlockColumns::One);
        }
        let mut columns = [0; 4];
        for (column, (name, _)) in columns.iter_mut().zip(GRF_C) {
            *column = self.column(&[name])?;
        }
        Ok(BlockColumns::Four(columns))
    }

    fn block(&self, at: BlockColumns) -> Result<u64> {
        let columns = match at {
            BlockColumns::One(at) => return self.geoid(at),
            BlockColumns::Four(columns) => columns,
        };
        let mut geoid = 0;
        for (at, (name, digits)) in columns.into_iter().zip(GRF_C) {
            let text = self.cell(at);
            if text.len() != digits || !text.iter().all(u8::is_ascii_digit) {
                let why = format!("{:?} is no {name}: {digits} digits are needed", self.shown(at));
                return Err(self.refuse(at + 1, &why));
            }
            geoid = text.iter().fold(geoid, |value, digit| value * 10 + u64::from(digit - b'0'));
        }
        Ok(geoid)
    }
}
