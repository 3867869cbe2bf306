//! The interface for SQL queries over records and small tables.

use std::{fs::File, path::Path, sync::Arc};

use arrow::{
    array::{ArrayRef, Int32Array},
    compute::{CastOptions, cast_with_options},
    datatypes::{DataType, Field, Schema},
    error::ArrowError,
    record_batch::RecordBatch,
};
use parquet::{arrow::ArrowWriter, errors::ParquetError};

use super::record_files::RecordFiles;
use crate::{
    error::{Error, Result},
    io::files::file_error,
};

/// A system that counts by SQL.
pub trait Counter {
    /// Its folder for files of tables, which it can read.
    fn folder(&self) -> &Path;

    /// Creates the table `records` from all files, with the columns of the headings, every field as text.
    fn read_records(&self, files: &RecordFiles, headings: &[&str]) -> Result<()>;

    /// Creates a small table of columns.
    fn make_table(&self, name: &str, columns: Vec<(&str, ArrayRef)>) -> Result<()>;

    /// Creates a small table of columns of integers.
    fn make_integers(&self, name: &str, columns: &[(&str, Vec<i32>)]) -> Result<()> {
        let columns = columns.iter().map(|(name, values)| {
            let values: ArrayRef = Arc::new(Int32Array::from(values.clone()));
            (*name, values)
        });
        self.make_table(name, columns.collect())
    }

    /// Creates a table from a Parquet file in its folder.
    fn read_table(&self, name: &str, file: &Path) -> Result<()>;

    /// Runs a query and calls `see` with each batch of the result.
    fn answer(&self, sql: &str, see: &mut dyn FnMut(RecordBatch) -> Result<()>) -> Result<()>;
}

/// Creates a table, as a file, from the result of a query: `complete` makes the columns of the table from each batch.
pub fn keep_answer(
    counter: &dyn Counter,
    name: &str,
    columns: &[(&str, DataType)],
    sql: &str,
    complete: &mut dyn FnMut(RecordBatch) -> Result<Vec<ArrayRef>>,
) -> Result<()> {
    let fields = columns.iter().map(|(name, kind)| Field::new(*name, kind.clone(), false));
    let file = counter.folder().join(format!("{name}.parquet"));
    write_table(&file, Schema::new(fields.collect::<Vec<Field>>()), |write| {
        counter.answer(sql, &mut |batch| write(complete(batch)?))
    })?;
    counter.read_table(name, &file)
}

/// Writes a table as a Parquet file: `fill` gets a callback that writes a batch of columns.
pub(super) fn write_table(
    file: &Path,
    schema: Schema,
    fill: impl FnOnce(&mut dyn FnMut(Vec<ArrayRef>) -> Result<()>) -> Result<()>,
) -> Result<()> {
    let failed = |why: ParquetError| file_error(file, why);
    let schema = Arc::new(schema);
    let out = File::create(file).map_err(|why| file_error(file, why))?;
    let mut out = ArrowWriter::try_new(out, schema.clone(), None).map_err(failed)?;
    fill(&mut |columns| {
        out.write(&RecordBatch::try_new(schema.clone(), columns).map_err(wrong_batch)?).map_err(failed)
    })?;
    out.close().map_err(failed)?;
    Ok(())
}

/// A column of a result, converted to this type.
pub(super) fn column(batch: &RecordBatch, place: usize, kind: &DataType) -> Result<ArrayRef> {
    let column = batch.columns().get(place);
    let column = column.ok_or_else(|| Error::Engine { why: format!("an answer has no column {}", place + 1) })?;
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(column, kind, &strict).map_err(wrong_batch)
}

fn wrong_batch(why: ArrowError) -> Error {
    Error::Engine { why: why.to_string() }
}
