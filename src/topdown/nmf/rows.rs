//! The rows of a file of noisy measurements, read column by column in batches.
//!
//! Columns are found by name. Integers may have 32 or 64 bits or be integral decimals, `sign` may be missing or null,
//! and unknown columns are ignored. The logical type gives the meaning of a column: timestamps are not counts.

use std::{fs::File, ops::Range, path::Path};

use parquet::{
    basic::Type as PhysicalType,
    column::reader::{ColumnReader, ColumnReaderImpl},
    data_type::{ByteArray, DataType},
    errors::ParquetError,
    file::{
        metadata::RowGroupMetaData,
        reader::{FileReader, RowGroupReader, SerializedFileReader},
    },
    schema::types::{ColumnDescriptor, SchemaDescPtr},
};

use super::types::{self, Stored};
use crate::{
    error::{Error, Result},
    io::files::file_error,
    io::foreign::{check_levels, guarded},
};

/// The number of rows decoded together, or as many as have about this number of counts: one row of the DHC may have a
/// million.
const BATCH: usize = 256;
const BATCH_VALUES: usize = 1 << 18;

/// A row of a file.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// The spine code of the unit; empty for the nation.
    pub geocode: &'a [u8],
    /// The name of the query or constraint.
    pub name: &'a [u8],
    /// `=`, `<=` or `>=`; empty if there is none.
    pub sign: &'a [u8],
    /// The action on each attribute, in the order of the schema.
    pub axes: &'a [ByteArray],
    /// The number of groups of each attribute.
    pub shape: &'a [i64],
    /// The counts, the last attribute fastest.
    pub values: &'a [i64],
    /// The variance of each count.
    pub variance: f64,
    /// The row group, from 0.
    pub group: usize,
    /// The row in the row group, from 0.
    pub row: usize,
}

impl Row<'_> {
    /// Refuses bytes that are not UTF-8: they are keys, and different invalid bytes would be shown as the same
    /// character and become equal.
    fn check_text(&self, path: &Path) -> Result<()> {
        let axes = self.axes.iter().map(ByteArray::data);
        let mut texts = [self.geocode, self.name, self.sign].into_iter().chain(axes);
        match texts.find(|text| std::str::from_utf8(text).is_err()) {
            None => Ok(()),
            Some(text) => {
                let shown = text.escape_ascii().to_string();
                Err(refuse(path, self, &format!("\"{shown}\" is not UTF-8: geocodes, names and signs are")))
            }
        }
    }
}

/// An error with the position of a row.
pub fn refuse(path: &Path, row: &Row, why: &str) -> Error {
    let place = format!("row group {}, row {}", row.group, row.row);
    let unit = match row.geocode {
        b"" => String::new(),
        code => format!(", geocode {}", String::from_utf8_lossy(code)),
    };
    Error::DataFile {
        file: crate::error::shown(path),
        line: 0,
        column: 0,
        why: format!("{place}{unit}, {}: {why}", String::from_utf8_lossy(row.name)),
    }
}

fn broken(path: &Path, group: Option<usize>, why: impl ToString) -> Error {
    let place = group.map_or_else(String::new, |group| format!("row group {group}: "));
    let why = format!("{place}{}", why.to_string().trim_start_matches("Parquet error: "));
    Error::DataFile { file: crate::error::shown(path), line: 0, column: 0, why }
}

/// A column of one row group.
struct Column<T: DataType> {
    reader: ColumnReaderImpl<T>,
    most_definition: i16,
    is_list: bool,
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
    read: Vec<T::T>,
}

impl<T: DataType> Column<T> {
    fn new(reader: ColumnReader, descriptor: &ColumnDescriptor) -> Option<Column<T>> {
        Some(Column {
            reader: T::get_column_reader(reader)?,
            most_definition: descriptor.max_def_level(),
            is_list: descriptor.max_rep_level() > 0,
            definitions: Vec::new(),
            repetitions: Vec::new(),
            read: Vec::new(),
        })
    }

    /// Reads the next rows; returns their number.
    fn next(&mut self, rows: usize) -> std::result::Result<usize, ParquetError> {
        self.definitions.clear();
        self.repetitions.clear();
        self.read.clear();
        let (definitions, repetitions) = (&mut self.definitions, &mut self.repetitions);
        let (records, _, _) = self.reader.read_records(rows, Some(definitions), Some(repetitions), &mut self.read)?;
        check_levels(definitions, self.most_definition)?;
        check_levels(repetitions, i16::from(self.is_list))?;
        Ok(records)
    }

    /// One value per row, `missing` for null.
    fn scalars<V>(&self, rows: usize, missing: V, value: impl Fn(&T::T) -> V, to: &mut Vec<V>)
    where
        V: Clone,
    {
        to.clear();
        if self.most_definition == 0 {
            to.extend(self.read.iter().take(rows).map(value));
            return;
        }
        let mut read = self.read.iter();
        for definition in &self.definitions {
            let there = if *definition == self.most_definition { read.next().map(&value) } else { None };
            to.push(there.unwrap_or_else(|| missing.clone()));
        }
    }

    /// The values of lists, one list after the other, and the end of each.
    fn lists(
        &self,
        value: impl Fn(&T::T) -> Option<i64>,
        to: &mut Vec<i64>,
        ends: &mut Vec<usize>,
    ) -> std::result::Result<(), Element> {
        to.clear();
        ends.clear();
        let mut read = self.read.iter();
        let mut open = false;
        for (definition, repetition) in self.definitions.iter().zip(&self.repetitions) {
            if *repetition == 0 {
                if open {
                    ends.push(to.len());
                }
                open = true;
            }
            if *definition == self.most_definition {
                to.push(value(read.next().ok_or(Element::Missing)?).ok_or(Element::NotWhole)?);
            } else if *repetition > 0 || *definition + 1 == self.most_definition {
                // A null element; an empty or missing list has a lower level.
                return Err(Element::Missing);
            }
        }
        if open {
            ends.push(to.len());
        }
        Ok(())
    }
}

/// The fault of an element of a list.
#[derive(Clone, Copy, Debug)]
enum Element {
    /// It is null.
    Missing,
    /// It is not an integer of 64 bits.
    NotWhole,
}

/// A column of integers in lists, or of numbers.
enum Numbers {
    Narrow(Stored, Column<parquet::data_type::Int32Type>),
    Wide(Stored, Column<parquet::data_type::Int64Type>),
    Bytes(Stored, Column<parquet::data_type::ByteArrayType>),
    Fixed(Stored, Column<parquet::data_type::FixedLenByteArrayType>),
    Float(Column<parquet::data_type::FloatType>),
    Double(Column<parquet::data_type::DoubleType>),
}

type Text = Column<parquet::data_type::ByteArrayType>;

/// The columns of a row group that are read.
struct Columns {
    /// geocode, query_name, sign (if present), axes.
    texts: Vec<(usize, Text)>,
    shape: Numbers,
    values: Numbers,
    variance: Option<Numbers>,
}

/// Reads all rows of a file with attributes of these names. `each` must copy what it keeps of a row.
pub fn read(path: &Path, axes: &[String], mut each: impl FnMut(&Row) -> Result<()>) -> Result<()> {
    let file = File::open(path).map_err(|why| file_error(path, why))?;
    let reader = guarded(|| SerializedFileReader::new(file)).map_err(|why| broken(path, None, why))?;
    let reader = reader.map_err(|why| broken(path, None, why))?;
    for group in 0..reader.num_row_groups() {
        let about = reader.metadata().row_group(group);
        let rows = about.num_rows().max(0) as usize;
        let values = about.columns().iter().map(|column| column.num_values().max(0) as usize).max().unwrap_or(0);
        let some = (BATCH_VALUES / (values / rows.max(1)).max(1)).clamp(1, BATCH);
        let columns = guarded(|| Columns::open(path, &reader, group, axes));
        let columns = columns.map_err(|why| broken(path, Some(group), why))??;
        columns.read(path, group, (rows, some), axes.len(), &mut each)?;
    }
    Ok(())
}

/// A row group whose columns are opened.
struct Opening<'a> {
    path: &'a Path,
    group: usize,
    metadata: &'a RowGroupMetaData,
    columns: Box<dyn RowGroupReader + 'a>,
    schema: SchemaDescPtr,
}

impl<'a> Opening<'a> {
    fn new(path: &'a Path, reader: &'a SerializedFileReader<File>, group: usize) -> Result<Opening<'a>> {
        let columns = reader.get_row_group(group).map_err(|why| broken(path, Some(group), why))?;
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        Ok(Opening { path, group, metadata: reader.metadata().row_group(group), columns, schema })
    }

    /// The place of a column.
    fn find(&self, name: &str) -> Option<usize> {
        let root = |column: &ColumnDescriptor| column.path().parts().first().is_some_and(|root| root == name);
        self.schema.columns().iter().position(|column| root(column))
    }

    /// A column of lists, or of one value a row.
    fn column(&self, name: &str, list: bool) -> Result<(ColumnReader, &ColumnDescriptor)> {
        let at = self.find(name).ok_or_else(|| {
            let fields = self.schema.root_schema().get_fields();
            let names: Vec<&str> = fields.iter().map(|field| field.name()).collect();
            self.refuse(format!("no column {name}: the file has {}", names.join(", ")))
        })?;
        let descriptor = &*self.schema.columns()[at];
        if (descriptor.max_rep_level() > 0) != list || descriptor.max_rep_level() > 1 {
            let expected = if list { "a list of whole numbers" } else { "one value a row" };
            return Err(self.refuse(format!("the column {name} is not {expected}")));
        }
        let about = self.metadata.column(at);
        let start = about.dictionary_page_offset().unwrap_or(about.data_page_offset());
        if start < 0 || about.compressed_size() < 0 {
            let why = format!("the column {name} has no place in the file");
            return Err(broken(self.path, Some(self.group), why));
        }
        let column = self.columns.get_column_reader(at).map_err(|why| broken(self.path, Some(self.group), why))?;
        Ok((column, descriptor))
    }

    /// A column of text.
    fn text(&self, name: &str) -> Result<Text> {
        let (column, descriptor) = self.column(name, false)?;
        let found = descriptor.physical_type();
        let opened = Column::new(column, descriptor).ok_or_else(|| self.wrong_type(name, found, "text"))?;
        types::beside_text(descriptor).map_or(Ok(opened), |what| Err(self.wrong_meaning(name, what, "text")))
    }

    /// A column of lists of integers, or of numbers.
    fn numbers(&self, name: &str, list: bool) -> Result<Numbers> {
        let (column, descriptor) = self.column(name, list)?;
        let expected = if list { "whole numbers" } else { "a float or a double" };
        let found = descriptor.physical_type();
        let opened = match found {
            PhysicalType::FLOAT | PhysicalType::DOUBLE if list => None,
            PhysicalType::FLOAT | PhysicalType::DOUBLE => {
                if let Some(what) = types::beside_floats(descriptor) {
                    return Err(self.wrong_meaning(name, what, expected));
                }
                match found {
                    PhysicalType::FLOAT => Column::new(column, descriptor).map(Numbers::Float),
                    _ => Column::new(column, descriptor).map(Numbers::Double),
                }
            }
            _ => {
                let stored = Stored::of_column(descriptor).map_err(|what| self.wrong_meaning(name, what, expected))?;
                Numbers::stored(stored, list, column, descriptor)
            }
        };
        let expected = if list { "32 or 64-bit integers, or decimals" } else { expected };
        opened.ok_or_else(|| self.wrong_type(name, found, expected))
    }

    fn refuse(&self, why: String) -> Error {
        broken(self.path, None, why)
    }

    fn wrong_type(&self, name: &str, found: PhysicalType, expected: &str) -> Error {
        self.refuse(format!("the column {name} has the type {found}: expected {expected}"))
    }

    fn wrong_meaning(&self, name: &str, what: String, expected: &str) -> Error {
        self.refuse(format!("the column {name} holds {what}: expected {expected}"))
    }
}

impl Numbers {
    /// A column of integers or decimals; `None` for another type, and for integers where no list is read.
    fn stored(stored: Stored, list: bool, column: ColumnReader, descriptor: &ColumnDescriptor) -> Option<Numbers> {
        let is_read = stored.is_decimal() || list;
        match descriptor.physical_type() {
            PhysicalType::INT32 if is_read => Column::new(column, descriptor).map(|own| Numbers::Narrow(stored, own)),
            PhysicalType::INT64 if is_read => Column::new(column, descriptor).map(|own| Numbers::Wide(stored, own)),
            PhysicalType::BYTE_ARRAY if stored.is_decimal() => {
                Column::new(column, descriptor).map(|own| Numbers::Bytes(stored, own))
            }
            PhysicalType::FIXED_LEN_BYTE_ARRAY if stored.is_decimal() => {
                Column::new(column, descriptor).map(|own| Numbers::Fixed(stored, own))
            }
            _ => None,
        }
    }
}

impl Columns {
    fn open(path: &Path, reader: &SerializedFileReader<File>, group: usize, axes: &[String]) -> Result<Columns> {
        let columns = Opening::new(path, reader, group)?;
        let mut texts = vec![(0, columns.text("geocode")?), (1, columns.text("query_name")?)];
        if columns.find("sign").is_some_and(|at| !types::is_untyped(&columns.schema.columns()[at])) {
            texts.push((2, columns.text("sign")?));
        }
        for (at, axis) in axes.iter().enumerate() {
            texts.push((3 + at, columns.text(axis)?));
        }
        let variance = columns.find("variance").map(|_| columns.numbers("variance", false)).transpose()?;
        let (shape, values) = (columns.numbers("query_shape", true)?, columns.numbers("value", true)?);
        Ok(Columns { texts, shape, values, variance })
    }

    fn read(
        mut self,
        path: &Path,
        group: usize,
        (rows, at_a_time): (usize, usize),
        axes: usize,
        each: &mut impl FnMut(&Row) -> Result<()>,
    ) -> Result<()> {
        let mut texts: Vec<Vec<ByteArray>> = vec![Vec::new(); 3 + axes];
        let mut treated: Vec<ByteArray> = Vec::new();
        let (mut shapes, mut shape_ends, mut values, mut value_ends) = (vec![], vec![], vec![], vec![]);
        let mut variances: Vec<f64> = Vec::new();
        let mut done = 0;
        while done < rows {
            let some = at_a_time.min(rows - done);
            for (place, column) in &mut self.texts {
                column.rows(path, group, some)?;
                column.scalars(some, ByteArray::from(""), Clone::clone, &mut texts[*place]);
            }
            self.shape.lists(path, group, "query_shape", some, &mut shapes, &mut shape_ends)?;
            self.values.lists(path, group, "value", some, &mut values, &mut value_ends)?;
            match &mut self.variance {
                Some(column) => column.scalars(path, group, some, &mut variances)?,
                None => variances.resize(some, f64::NAN),
            }
            treated.clear();
            for row in 0..some {
                treated.extend(texts[3..].iter().map(|axis| axis[row].clone()));
            }
            let range = |ends: &[usize], row: usize| -> Range<usize> {
                row.checked_sub(1).map_or(0, |before| ends[before])..ends[row]
            };
            for row in 0..some {
                let row = Row {
                    geocode: texts[0][row].data(),
                    name: texts[1][row].data(),
                    sign: texts[2].get(row).map_or(&[], ByteArray::data),
                    axes: &treated[row * axes..(row + 1) * axes],
                    shape: &shapes[range(&shape_ends, row)],
                    values: &values[range(&value_ends, row)],
                    variance: variances[row],
                    group,
                    row: done + row,
                };
                row.check_text(path)?;
                each(&row)?;
            }
            done += some;
        }
        Ok(())
    }
}

impl<T: DataType> Column<T> {
    /// Reads the next rows; their number must be `rows`.
    fn rows(&mut self, path: &Path, group: usize, rows: usize) -> Result<()> {
        let found = guarded(|| self.next(rows)).map_err(|why| broken(path, Some(group), why))?;
        let found = found.map_err(|why| broken(path, Some(group), why))?;
        let levels = if self.most_definition > 0 { self.definitions.len() } else { self.read.len() };
        if found != rows || (!self.is_list && levels != rows) {
            return Err(broken(path, Some(group), format!("a column ends early: {found} rows where {rows} are left")));
        }
        Ok(())
    }
}

impl Numbers {
    fn lists(
        &mut self,
        path: &Path,
        group: usize,
        name: &str,
        rows: usize,
        to: &mut Vec<i64>,
        ends: &mut Vec<usize>,
    ) -> Result<()> {
        let whole = match self {
            Numbers::Narrow(stored, column) => {
                column.rows(path, group, rows)?;
                column.lists(|value| stored.narrow(*value), to, ends)
            }
            Numbers::Wide(stored, column) => {
                column.rows(path, group, rows)?;
                column.lists(|value| stored.wide(*value), to, ends)
            }
            Numbers::Bytes(stored, column) => {
                column.rows(path, group, rows)?;
                column.lists(|value| stored.bytes(value.data()), to, ends)
            }
            Numbers::Fixed(stored, column) => {
                column.rows(path, group, rows)?;
                column.lists(|value| stored.bytes(value.data()), to, ends)
            }
            Numbers::Float(_) | Numbers::Double(_) => Err(Element::NotWhole),
        };
        match whole {
            Ok(()) if ends.len() == rows => Ok(()),
            Err(Element::NotWhole) => {
                let why = format!("the column {name} has an element that is no whole number of 64 bits");
                Err(broken(path, Some(group), why))
            }
            Ok(()) | Err(Element::Missing) => {
                Err(broken(path, Some(group), format!("the column {name} has an element without a value")))
            }
        }
    }

    fn scalars(&mut self, path: &Path, group: usize, rows: usize, to: &mut Vec<f64>) -> Result<()> {
        match self {
            Numbers::Float(column) => {
                column.rows(path, group, rows)?;
                column.scalars(rows, f64::NAN, |value| f64::from(*value), to);
            }
            Numbers::Double(column) => {
                column.rows(path, group, rows)?;
                column.scalars(rows, f64::NAN, |value| *value, to);
            }
            Numbers::Narrow(stored, column) => {
                column.rows(path, group, rows)?;
                column.scalars(rows, f64::NAN, |value| stored.approximate(i128::from(*value)), to);
            }
            Numbers::Wide(stored, column) => {
                column.rows(path, group, rows)?;
                column.scalars(rows, f64::NAN, |value| stored.approximate(i128::from(*value)), to);
            }
            Numbers::Bytes(stored, column) => {
                column.rows(path, group, rows)?;
                column.scalars(rows, f64::NAN, |value| stored.approximate_bytes(value.data()), to);
            }
            Numbers::Fixed(stored, column) => {
                column.rows(path, group, rows)?;
                column.scalars(rows, f64::NAN, |value| stored.approximate_bytes(value.data()), to);
            }
        }
        Ok(())
    }
}
