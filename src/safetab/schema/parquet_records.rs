//! Records in Parquet: columns of text, possibly among others, read row group by row group.

use std::{fs::File, path::Path};

use parquet::{
    basic::{ConvertedType, LogicalType, Type},
    column::reader::{ColumnReaderImpl, get_typed_column_reader},
    data_type::{ByteArray, ByteArrayType},
    errors::ParquetError,
    file::reader::{FileReader, SerializedFileReader},
    schema::types::ColumnDescriptor,
};

use super::validation::Rule;
use crate::io::foreign::{check_levels, guarded};

/// The text of a null field in a text file.
const NULL: &[u8] = b"Null";

/// Whether a file is Parquet: its name ends with `.parquet`.
pub(in crate::safetab) fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "parquet")
}

/// The reason why a file is not read: the rule, the value found and what would be correct.
pub(super) struct Refused {
    pub rule: Rule,
    pub found: String,
    pub expected: String,
}

impl Refused {
    fn unreadable(why: impl ToString) -> Refused {
        let found = why.to_string();
        let found = found.trim_start_matches("Parquet error: ").trim_start_matches("External: ").to_string();
        Refused {
            rule: Rule::Unreadable,
            found,
            expected: "a whole file of Parquet, as it is or compressed by Snappy, Zstandard, gzip, LZ4 or Brotli"
                .to_string(),
        }
    }
}

/// The result of the decoder, which panics on some damaged files.
fn decoded<T>(read: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, Refused> {
    guarded(read).map_err(Refused::unreadable)?.map_err(Refused::unreadable)
}

/// A file with the required columns of text.
pub(super) struct ParquetRecords {
    reader: SerializedFileReader<File>,
    /// The index of each required column, and whether it may be null.
    columns: Vec<(usize, bool)>,
}

impl ParquetRecords {
    /// Opens a file; every heading must be the name of one of its columns.
    pub fn open(path: &Path, headings: &[&str]) -> Result<ParquetRecords, Refused> {
        let file = File::open(path).map_err(Refused::unreadable)?;
        let reader = decoded(|| SerializedFileReader::new(file))?;
        let schema = reader.metadata().file_metadata().schema_descr();
        let place = |name: &&str| {
            let found = (0..schema.num_columns()).find(|at| schema.column(*at).path().parts() == [name.to_string()]);
            let expected = format!("the columns {} as text, since codes may begin with 0", headings.join(", "));
            let refuse = |found| Refused { rule: Rule::Headings, found, expected };
            let at = match found {
                None => return Err(refuse(format!("no column {name}"))),
                Some(at) => at,
            };
            let column = schema.column(at);
            if !is_text(&column) {
                return Err(refuse(format!("column {name} of type {}", described(&column))));
            }
            Ok((at, column.max_def_level() > 0))
        };
        let columns = headings.iter().map(place).collect::<Result<_, _>>()?;
        Ok(ParquetRecords { reader, columns })
    }

    /// The number of rows of each group.
    pub fn groups(&self) -> Vec<u64> {
        self.reader.metadata().row_groups().iter().map(|group| group.num_rows().max(0) as u64).collect()
    }

    /// The rows of a group.
    pub fn group(&self, number: usize) -> Result<Rows, Refused> {
        let open = |(place, nullable): &(usize, bool)| {
            let group = self.reader.get_row_group(number)?;
            let reader = get_typed_column_reader(group.get_column_reader(*place)?);
            Ok(Column { reader, nullable: *nullable, values: Vec::new(), definitions: Vec::new() })
        };
        let columns = decoded(|| self.columns.iter().map(open).collect::<Result<_, ParquetError>>())?;
        let left = self.reader.metadata().row_group(number).num_rows().max(0) as u64;
        Ok(Rows { columns, left })
    }
}

fn is_text(column: &ColumnDescriptor) -> bool {
    let is_string =
        column.logical_type_ref() == Some(&LogicalType::String) || column.converted_type() == ConvertedType::UTF8;
    column.physical_type() == Type::BYTE_ARRAY && column.max_rep_level() == 0 && is_string
}

fn described(column: &ColumnDescriptor) -> String {
    match (column.converted_type(), column.physical_type()) {
        (ConvertedType::NONE, physical) => physical.to_string(),
        (converted, physical) => format!("{physical} ({converted})"),
    }
}

struct Column {
    reader: ColumnReaderImpl<ByteArrayType>,
    nullable: bool,
    values: Vec<ByteArray>,
    definitions: Vec<i16>,
}

impl Column {
    /// Reads the next rows; returns their number.
    fn read(&mut self, rows: usize) -> Result<usize, ParquetError> {
        self.values.clear();
        self.definitions.clear();
        let definitions = self.nullable.then_some(&mut self.definitions);
        let (records, _, _) = self.reader.read_records(rows, definitions, None, &mut self.values)?;
        check_levels(&self.definitions, 1)?;
        Ok(records)
    }
}

/// The rows of a group, read in batches.
pub(super) struct Rows {
    columns: Vec<Column>,
    left: u64,
}

impl Rows {
    /// Whether all rows were read.
    pub fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// Calls `see` with the fields of the next rows, at most `most`; returns their number.
    pub fn next(&mut self, most: usize, mut see: impl FnMut(&[&[u8]])) -> Result<usize, Refused> {
        let rows = most.min(usize::try_from(self.left).unwrap_or(usize::MAX));
        for column in &mut self.columns {
            let read = decoded(|| column.read(rows))?;
            let there = if column.nullable { column.definitions.len() } else { column.values.len() };
            if read != rows || there != rows {
                return Err(Refused::unreadable(format!(
                    "a column ends {} rows early",
                    self.left - read.min(rows) as u64
                )));
            }
        }
        let mut next = vec![0; self.columns.len()];
        let mut fields: Vec<&[u8]> = Vec::with_capacity(self.columns.len());
        for row in 0..rows {
            fields.clear();
            for (column, next) in self.columns.iter().zip(&mut next) {
                let is_null = column.nullable && column.definitions[row] == 0;
                let value = if is_null { None } else { column.values.get(*next) };
                *next += usize::from(!is_null);
                fields.push(value.map_or(NULL, ByteArray::data));
            }
            see(&fields);
        }
        self.left -= rows as u64;
        Ok(rows)
    }
}
