//! A file of values under a header, separated by commas or bars, read row by row; messages name the line and the column.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    path::Path,
};

use csv::ByteRecord;

use crate::{
    error::{Error, Result, did_you_mean},
    files::file_error,
};

/// The headings under which a file may hold the GEOID of a block.
pub(crate) const BLOCK_NAMES: [&str; 4] = ["block", "BLOCKID", "GEOID", "GEOID20"];
/// The headings of a GRF-C (Geographic Reference File, Codes), which has the GEOID of a block in four columns, and their digits.
const GRF_C: [(&str, usize); 4] = [("TABBLKST", 2), ("TABBLKCOU", 3), ("TABTRACTCE", 6), ("TABBLK", 4)];
/// The GEOID of a block: state 2, county 3, tract 6, block 4 digits.
const GEOID_DIGITS: usize = 15;

/// A field of CSV, in quotes where it needs them.
pub(crate) fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_string() }
}

/// Where a file has the GEOIDs of blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BlockColumns {
    /// In one column.
    One(usize),
    /// In those of state, county, tract and block.
    Four([usize; 4]),
}

impl BlockColumns {
    /// The column that a message points at.
    pub(crate) fn first(self) -> usize {
        match self {
            BlockColumns::One(at) => at,
            BlockColumns::Four(columns) => columns[3],
        }
    }
}

/// A file of values under a header, separated by commas or bars, row by row.
pub(crate) struct CsvTable {
    pub(crate) file: String,
    header: ByteRecord,
    record: ByteRecord,
    reader: csv::Reader<Box<dyn Read>>,
}

impl CsvTable {
    pub(crate) fn open(path: &Path) -> Result<CsvTable> {
        let file = File::open(path).map_err(|why| file_error(path, why))?;
        let mut bytes = BufReader::with_capacity(1 << 20, file);
        let head = bytes.fill_buf().map_err(|why| file_error(path, why))?;
        let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let delimiter = if line.contains(&b'|') { b'|' } else { b',' };
        let mark: &[u8] = b"\xef\xbb\xbf";
        let skip = if head.starts_with(mark) { mark.len() } else { 0 };
        bytes.consume(skip);
        let reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(Box::new(bytes) as Box<dyn Read>);
        let (header, record) = (ByteRecord::new(), ByteRecord::new());
        let mut table = CsvTable { file: path.display().to_string(), header, record, reader };
        table.header = table.reader.byte_headers().cloned().map_err(|why| broken(&table.file, &why))?;
        Ok(table)
    }

    pub(crate) fn find(&self, names: &[&str]) -> Option<usize> {
        self.header.iter().position(|heading| names.iter().any(|name| name.as_bytes() == heading.trim_ascii()))
    }

    /// The column whose heading begins so.
    pub(crate) fn find_start(&self, start: &str) -> Option<usize> {
        self.header.iter().position(|heading| heading.trim_ascii().starts_with(start.as_bytes()))
    }

    pub(crate) fn column(&self, names: &[&str]) -> Result<usize> {
        let headings: Vec<_> = self.header.iter().map(String::from_utf8_lossy).collect();
        let near = did_you_mean(names[0], headings.iter().map(|heading| heading.trim()));
        let why = || format!("no column {}{near}: the header has to name it", names.join(" or "));
        self.find(names).ok_or_else(|| Error::DataFile { file: self.file.clone(), line: 1, column: 0, why: why() })
    }

    pub(crate) fn next(&mut self) -> Result<bool> {
        self.reader.read_byte_record(&mut self.record).map_err(|why| broken(&self.file, &why))
    }

    pub(crate) fn line(&self) -> u64 {
        self.record.position().map_or(0, csv::Position::line)
    }

    /// A cell of the row, without blanks around it; empty where the row has none.
    pub(crate) fn cell(&self, at: usize) -> &[u8] {
        self.record.get(at).unwrap_or_default().trim_ascii()
    }

    /// How many cells the row has.
    pub(crate) fn width(&self) -> usize {
        self.record.len()
    }

    /// A cell that holds a whole number, at most `most`.
    pub(crate) fn whole(&self, at: usize, most: u64) -> Result<u64> {
        let text = std::str::from_utf8(self.cell(at)).ok();
        let digits = text.filter(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()));
        digits
            .and_then(|text| text.parse().ok())
            .filter(|value| *value <= most)
            .ok_or_else(|| self.refuse(at + 1, &format!("{:?} is no whole number from 0 to {most}", self.shown(at))))
    }

    /// A cell for a message: its beginning.
    pub(crate) fn shown(&self, at: usize) -> String {
        String::from_utf8_lossy(self.cell(at)).chars().take(40).collect()
    }

    pub(crate) fn geoid(&self, at: usize) -> Result<u64> {
        let text = self.cell(at);
        if text.len() == GEOID_DIGITS && text.iter().all(u8::is_ascii_digit) {
            return Ok(text.iter().fold(0, |value, digit| value * 10 + u64::from(digit - b'0')));
        }
        let shown = self.shown(at);
        Err(self.refuse(
            at + 1,
            &format!(
                "{shown:?} is no GEOID of a block: 15 digits are needed (state 2, county 3, tract 6, block 4); it has {}",
                text.len()
            ),
        ))
    }

    /// Whether it is a GRF-C.
    pub(crate) fn is_grf_c(&self) -> bool {
        GRF_C.iter().all(|(name, _)| self.find(&[name]).is_some())
    }

    /// Where the GEOIDs are: under the usual headings, or in the four columns of a GRF-C.
    pub(crate) fn block_columns(&self) -> Result<BlockColumns> {
        if self.find(&BLOCK_NAMES).is_some() || !self.is_grf_c() {
            return self.column(&BLOCK_NAMES).map(BlockColumns::One);
        }
        let mut columns = [0; 4];
        for (column, (name, _)) in columns.iter_mut().zip(GRF_C) {
            *column = self.column(&[name])?;
        }
        Ok(BlockColumns::Four(columns))
    }

    /// The GEOID of the block of a row.
    pub(crate) fn block(&self, at: BlockColumns) -> Result<u64> {
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

    pub(crate) fn refuse(&self, column: usize, why: &str) -> Error {
        Error::DataFile { file: self.file.clone(), line: self.line() as usize, column, why: why.to_string() }
    }
}

fn broken(file: &str, why: &csv::Error) -> Error {
    let line = why.position().map_or(0, |position| position.line() as usize);
    let why = match why.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{len} fields, but the header has {expected_len}")
        }
        _ => why.to_string(),
    };
    Error::DataFile { file: file.to_string(), line, column: 0, why }
}
