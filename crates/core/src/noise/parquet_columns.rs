//! Noise on columns of a Parquet file; the values of the other columns are copied.
//!
//! All columns are encoded again from their values, so nothing else of the file is passed on: no minimum, maximum, page index or filter of
//! the true counts, no dictionary entry without a row, no bytes between pages. Key-value metadata are left out too, unless
//! requested.

use std::{fs::File, io::Write, path::Path, sync::Arc};

use parquet::{
    basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical},
    column::reader::{ColumnReader, ColumnReaderImpl},
    data_type::{
        BoolType, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type, Int64Type,
        Int96Type,
    },
    errors::ParquetError,
    file::{
        metadata::{KeyValue, RowGroupMetaData},
        properties::{EnabledStatistics, WriterProperties},
        reader::{FileReader, SerializedFileReader},
        writer::{SerializedFileWriter, SerializedRowGroupWriter},
    },
    schema::types::{Type, TypePtr},
};

use super::{
    Sampler, Streams,
    column::marked,
    table_options::{TableDone, TableOptions},
};
use crate::{
    error::{Error, Result},
    io::csv_reader::no_column,
    io::files::file_error,
    io::foreign::{check_levels, guarded},
};

/// Whether a file is read as Parquet: by its name.
pub(super) fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("parquet"))
}

/// A Parquet file to which noise is added.
pub(super) struct ParquetNoise<'a> {
    name: &'a Path,
    reader: SerializedFileReader<File>,
    columns: &'a [String],
    /// For each column of the file its index among those with counts.
    noisy: Vec<Option<usize>>,
    keep_metadata: bool,
}

/// The number of records of a copied column that are in memory at a time.
const BATCH: usize = 1 << 16;

impl<'a> ParquetNoise<'a> {
    /// Opens a file in which the columns of these names are signed integers.
    pub(super) fn open(name: &'a Path, columns: &'a [String], options: TableOptions) -> Result<Self> {
        let file = File::open(name).map_err(|why| file_error(name, why))?;
        let reader = guarded(|| SerializedFileReader::new(file)).map_err(|why| refused(name, why))?;
        let reader = reader.map_err(|why| broken(name, &why))?;
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        let paths: Vec<String> = schema.columns().iter().map(|column| column.path().string()).collect();
        check_names(schema.root_schema()).map_err(|why| refused(name, why))?;
        let noisy: Vec<Option<usize>> =
            paths.iter().map(|path| columns.iter().position(|column| column == path)).collect();
        for column in columns {
            if !paths.contains(column) {
                return Err(refused(name, no_column(&[column.as_str()], &paths)));
            }
        }
        for (descriptor, _) in schema.columns().iter().zip(&noisy).filter(|(_, noisy)| noisy.is_some()) {
            let primitive = descriptor.self_type();
            if descriptor.max_rep_level() > 0 || descriptor.max_def_level() > 1 || descriptor.path().parts().len() > 1 {
                return Err(refused(name, format!("column {:?} is a list or part of a group", primitive.name())));
            }
            check_type(primitive).map_err(|why| refused(name, format!("column {:?} {why}", primitive.name())))?;
        }
        Ok(ParquetNoise { name, reader, columns, noisy, keep_metadata: options.keep_metadata })
    }

    /// Adds independent noise to every count of the columns and writes the file to `out`. `progress` receives the number of processed rows,
    /// and the total.
    pub(super) fn run(
        &self,
        streams: &mut Streams,
        sampler: &Sampler,
        out: &mut (dyn Write + Send),
        out_name: &Path,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<TableDone> {
        let wrong = |why: ParquetError| file_error(out_name, why);
        let about = self.reader.metadata().file_metadata();
        let rows = about.num_rows().unsigned_abs();
        let seed = streams.insecure_seed();
        let all = about.key_value_metadata().map_or(&[][..], Vec::as_slice);
        let (kept, dropped): (Vec<&KeyValue>, Vec<&KeyValue>) =
            all.iter().partition(|pair| self.keep_metadata && is_kept(&pair.key, seed.is_some()));
        let keys = |pairs: &[&KeyValue]| pairs.iter().map(|pair| pair.key.clone()).collect();
        let done_to_metadata = (keys(&kept), keys(&dropped));
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_key_value_metadata((!kept.is_empty()).then(|| kept.into_iter().cloned().collect()))
            .build();
        let mut writer = SerializedFileWriter::new(out, self.schema(seed)?, Arc::new(properties)).map_err(wrong)?;
        let mut done = 0;
        for (number, group) in self.reader.metadata().row_groups().iter().enumerate() {
            let mut to = writer.next_row_group().map_err(wrong)?;
            for (at, noisy) in self.noisy.iter().enumerate() {
                match noisy {
                    None => self.copy(number, at, &mut to, out_name)?,
                    Some(_) => {
                        let (mut counts, definitions) = self.counts(number, at)?;
                        let column = group.column(at).column_descr().name();
                        let place = |row: usize| format!("column {column:?}, row {}", done as usize + row + 1);
                        streams.add_noise(sampler, &mut counts).map_err(|error| match error {
                            Error::Overflow { position, .. } => self.too_large(&place(position), 64),
                            Error::NoAnswer { position, answers, .. } => self.no_answer(&place(position), answers),
                            other => other,
                        })?;
                        self.put(group, at, &counts, &definitions, &mut to, out_name, &place)?;
                    }
                }
            }
            to.close().map_err(wrong)?;
            done += group.num_rows().unsigned_abs();
            progress(done, rows);
        }
        writer.close().map_err(wrong)?;
        let (kept_metadata, dropped_metadata) = done_to_metadata;
        Ok(TableDone { rows, kept_metadata, dropped_metadata })
    }

    /// The schema of the output: under an insecure seed the names of the noisy columns say so.
    fn schema(&self, insecure_seed: Option<u64>) -> Result<TypePtr> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        if insecure_seed.is_none() {
            return Ok(schema.root_schema_ptr());
        }
        let renamed = |field: &TypePtr| -> std::result::Result<TypePtr, ParquetError> {
            if !field.is_primitive() || !self.columns.iter().any(|column| column == field.name()) {
                return Ok(field.clone());
            }
            let info = field.get_basic_info();
            let named = Type::primitive_type_builder(&marked(field.name(), insecure_seed), field.get_physical_type())
                .with_repetition(info.repetition())
                .with_converted_type(info.converted_type())
                .with_logical_type(info.logical_type_ref().cloned())
                .with_id(info.has_id().then(|| info.id()))
                .build()?;
            Ok(Arc::new(named))
        };
        let fields = schema.root_schema().get_fields().iter().map(renamed).collect::<std::result::Result<Vec<_>, _>>();
        let root = fields.and_then(|fields| Type::group_type_builder(schema.name()).with_fields(fields).build());
        root.map(Arc::new).map_err(|why| broken(self.name, &why))
    }

    /// Copies the values of a column of a row group.
    fn copy<W: Write + Send>(
        &self,
        group: usize,
        at: usize,
        to: &mut SerializedRowGroupWriter<'_, W>,
        out_name: &Path,
    ) -> Result<()> {
        let rows = guarded(|| self.reader.get_row_group(group)).map_err(|why| refused(self.name, why))?;
        let rows = rows.map_err(|why| broken(self.name, &why))?;
        let reader = guarded(|| rows.get_column_reader(at)).map_err(|why| refused(self.name, why))?;
        let expected = rows.metadata().num_rows().unsigned_abs();
        let copied = match reader.map_err(|why| broken(self.name, &why))? {
            ColumnReader::BoolColumnReader(reader) => self.recode::<BoolType, W>(reader, at, to, out_name),
            ColumnReader::Int32ColumnReader(reader) => self.recode::<Int32Type, W>(reader, at, to, out_name),
            ColumnReader::Int64ColumnReader(reader) => self.recode::<Int64Type, W>(reader, at, to, out_name),
            ColumnReader::Int96ColumnReader(reader) => self.recode::<Int96Type, W>(reader, at, to, out_name),
            ColumnReader::FloatColumnReader(reader) => self.recode::<FloatType, W>(reader, at, to, out_name),
            ColumnReader::DoubleColumnReader(reader) => self.recode::<DoubleType, W>(reader, at, to, out_name),
            ColumnReader::ByteArrayColumnReader(reader) => self.recode::<ByteArrayType, W>(reader, at, to, out_name),
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                self.recode::<FixedLenByteArrayType, W>(reader, at, to, out_name)
            }
        }?;
        if copied != expected {
            let column = rows.metadata().column(at).column_descr().name().to_string();
            let why = format!("column {column:?} has {copied} values in a row group of {expected} rows");
            return Err(refused(self.name, why));
        }
        Ok(())
    }

    /// Reads the values of a column and writes them; returns the number of records.
    fn recode<T: DataType, W: Write + Send>(
        &self,
        mut from: ColumnReaderImpl<T>,
        at: usize,
        to: &mut SerializedRowGroupWriter<'_, W>,
        out_name: &Path,
    ) -> Result<u64> {
        let wrong = |why: ParquetError| file_error(out_name, why);
        let Some(mut column) = to.next_column().map_err(wrong)? else { return Ok(0) };
        let descriptor = self.reader.metadata().file_metadata().schema_descr().column(at);
        let (mut values, mut definitions, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
        let mut copied = 0;
        loop {
            values.clear();
            definitions.clear();
            repetitions.clear();
            let read = || from.read_records(BATCH, Some(&mut definitions), Some(&mut repetitions), &mut values);
            let read = guarded(read).map_err(|why| refused(self.name, why))?;
            let (records, ..) = read.map_err(|why| broken(self.name, &why))?;
            if records == 0 {
                break;
            }
            copied += records as u64;
            let levels = check_levels(&definitions, descriptor.max_def_level());
            levels
                .and_then(|()| check_levels(&repetitions, descriptor.max_rep_level()))
                .map_err(|why| broken(self.name, &why))?;
            let levels = |levels: &Vec<i16>| !levels.is_empty();
            let (definitions, repetitions) = (
                levels(&definitions).then_some(definitions.as_slice()),
                levels(&repetitions).then_some(repetitions.as_slice()),
            );
            column.typed::<T>().write_batch(&values, definitions, repetitions).map_err(wrong)?;
        }
        column.close().map_err(wrong)?;
        Ok(copied)
    }

    /// The counts of a column of a row group, and its definition levels, all of which are those of a value.
    fn counts(&self, group: usize, at: usize) -> Result<(Vec<i64>, Vec<i16>)> {
        guarded(|| self.decoded(group, at)).map_err(|why| refused(self.name, why))?
    }

    fn decoded(&self, group: usize, at: usize) -> Result<(Vec<i64>, Vec<i16>)> {
        let wrong = |why: ParquetError| broken(self.name, &why);
        let rows = self.reader.get_row_group(group).map_err(wrong)?;
        let descriptor = rows.metadata().column(at).column_descr_ptr();
        let (counts, definitions) = match rows.get_column_reader(at).map_err(wrong)? {
            ColumnReader::Int32ColumnReader(mut reader) => {
                let (mut read, mut definitions) = (Vec::new(), Vec::new());
                reader.read_records(usize::MAX, Some(&mut definitions), None, &mut read).map_err(wrong)?;
                (read.into_iter().map(i64::from).collect(), definitions)
            }
            ColumnReader::Int64ColumnReader(mut reader) => {
                let (mut read, mut definitions) = (Vec::new(), Vec::new());
                reader.read_records(usize::MAX, Some(&mut definitions), None, &mut read).map_err(wrong)?;
                (read, definitions)
            }
            _ => return Err(refused(self.name, "is not what its schema says".to_string())),
        };
        check_levels(&definitions, descriptor.max_def_level()).map_err(wrong)?;
        if let Some(row) = definitions.iter().position(|level| *level < descriptor.max_def_level()) {
            let column = descriptor.name();
            let why = format!(
                "column {column:?}, row {} of row group {group}, is null: a count such as 120 is needed in every row",
                row + 1
            );
            return Err(refused(self.name, why));
        }
        let expected = rows.metadata().num_rows();
        if counts.len() as i64 != expected {
            return Err(refused(self.name, format!("{} values in a row group of {expected} rows", counts.len())));
        }
        Ok((counts, definitions))
    }

    /// Writes a column of noisy counts in its original type.
    #[allow(clippy::too_many_arguments)]
    fn put<W: Write + Send>(
        &self,
        group: &RowGroupMetaData,
        at: usize,
        counts: &[i64],
        definitions: &[i16],
        to: &mut SerializedRowGroupWriter<'_, W>,
        out_name: &Path,
        place: &dyn Fn(usize) -> String,
    ) -> Result<()> {
        let wrong = |why: ParquetError| file_error(out_name, why);
        if group.column(at).column_type() == Physical::INT64 {
            return write::<Int64Type, W>(to, counts, definitions).map_err(wrong);
        }
        let narrow = |(row, count): (usize, &i64)| i32::try_from(*count).map_err(|_| self.too_large(&place(row), 32));
        let counts = counts.iter().enumerate().map(narrow).collect::<Result<Vec<i32>>>()?;
        write::<Int32Type, W>(to, &counts, definitions).map_err(wrong)
    }

    fn no_answer(&self, place: &str, answers: u64) -> Error {
        let why = format!("{place}: no answer: the {answers} answers are the numbers from 0 to {}", answers - 1);
        refused(self.name, why)
    }

    fn too_large(&self, place: &str, bits: u32) -> Error {
        let why = format!("{place}: with noise added the count exceeds the range of {bits}-bit integers");
        refused(self.name, why)
    }
}

fn write<T: DataType, W: Write + Send>(
    to: &mut SerializedRowGroupWriter<'_, W>,
    counts: &[T::T],
    definitions: &[i16],
) -> std::result::Result<(), ParquetError> {
    if let Some(mut column) = to.next_column()? {
        let definitions = (!definitions.is_empty()).then_some(definitions);
        column.typed::<T>().write_batch(counts, definitions, None)?;
        column.close()?;
    }
    Ok(())
}

/// Refuses columns that are not signed integers of 32 or 64 bits: noise makes some counts negative.
fn check_type(primitive: &Type) -> std::result::Result<(), String> {
    let needed = "a column of signed integers of 32 or 64 bits is needed";
    if !matches!(primitive.get_physical_type(), Physical::INT32 | Physical::INT64) {
        return Err(format!("has the type {}: {needed}", primitive.get_physical_type()));
    }
    let info = primitive.get_basic_info();
    if info.has_repetition() && info.repetition() == Repetition::REPEATED {
        return Err(format!("is a list: {needed}"));
    }
    match info.logical_type_ref() {
        None => {}
        Some(LogicalType::Integer(integer)) if integer.is_signed && integer.bit_width >= 32 => return Ok(()),
        Some(other) => return Err(format!("holds {other:?}: {needed}")),
    }
    match info.converted_type() {
        ConvertedType::NONE | ConvertedType::INT_32 | ConvertedType::INT_64 => Ok(()),
        other => Err(format!("holds {other}: {needed}")),
    }
}

/// Refuses two columns of one name, as in CSV: noise on both would be reported as noise on one.
fn check_names(root: &Type) -> std::result::Result<(), String> {
    let fields = root.get_fields();
    let twice =
        (fields.iter().enumerate()).find(|(at, field)| fields[..*at].iter().any(|other| other.name() == field.name()));
    twice.map_or(Ok(()), |(at, field)| {
        Err(format!("column {}: a second column named {:?}: each name occurs once", at + 1, field.name()))
    })
}

/// Whether metadata that are to be kept are copied: schemas of other programs are not if columns were renamed.
fn is_kept(key: &str, is_renamed: bool) -> bool {
    const SCHEMAS: [&str; 3] = ["ARROW:schema", "pandas", "org.apache.spark.sql.parquet.row.metadata"];
    !is_renamed || !SCHEMAS.contains(&key)
}

fn refused(name: &Path, why: String) -> Error {
    Error::DataFile { file: crate::error::shown(name), line: 0, column: 0, why }
}

fn broken(name: &Path, why: &ParquetError) -> Error {
    refused(name, why.to_string().trim_start_matches("Parquet error: ").to_string())
}

#[cfg(test)]
mod tests;
