//! Noise on columns of a Parquet file; the other columns are copied as they are encoded.
//!
//! What the file says of the noisy columns is made anew: minimum, maximum, page indices and filters of the input are those of the true
//! counts, and are left out.

use std::{fs::File, io::Write, path::Path, sync::Arc};

use parquet::{
    basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical},
    column::{reader::ColumnReader, writer::ColumnCloseResult},
    data_type::{DataType, Int32Type, Int64Type},
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
    column::{marked, no_column},
};
use crate::{
    error::{Error, Result},
    files::file_error,
    foreign::guarded,
};

/// Whether a file is read as Parquet: by its name.
pub(super) fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("parquet"))
}

/// A Parquet file that noise is added to.
pub(super) struct ParquetNoise<'a> {
    name: &'a Path,
    /// The same file, for bytes that are copied.
    bytes: File,
    reader: SerializedFileReader<File>,
    columns: &'a [String],
    /// For each column of the file its place among those with counts.
    noisy: Vec<Option<usize>>,
}

impl<'a> ParquetNoise<'a> {
    /// Opens a file whose columns of these names are whole numbers with a sign.
    pub(super) fn open(name: &'a Path, columns: &'a [String]) -> Result<Self> {
        let file = File::open(name).map_err(|why| file_error(name, why))?;
        let bytes = file.try_clone().map_err(|why| file_error(name, why))?;
        let reader = guarded(|| SerializedFileReader::new(file)).map_err(|why| refused(name, why))?;
        let reader = reader.map_err(|why| broken(name, &why))?;
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        let paths: Vec<String> = schema.columns().iter().map(|column| column.path().string()).collect();
        let noisy: Vec<Option<usize>> =
            paths.iter().map(|path| columns.iter().position(|column| column == path)).collect();
        for column in columns {
            if !paths.contains(column) {
                return Err(refused(name, no_column(column, paths.iter().map(String::as_str))));
            }
        }
        for (descriptor, _) in schema.columns().iter().zip(&noisy).filter(|(_, noisy)| noisy.is_some()) {
            let primitive = descriptor.self_type();
            if descriptor.max_rep_level() > 0 || descriptor.max_def_level() > 1 || descriptor.path().parts().len() > 1 {
                return Err(refused(name, format!("column {:?} is a list or part of a group", primitive.name())));
            }
            check_type(primitive).map_err(|why| refused(name, format!("column {:?} {why}", primitive.name())))?;
        }
        Ok(ParquetNoise { name, bytes, reader, columns, noisy })
    }

    /// Adds independent noise to every count of the columns and writes the file to `out`. Returns the number of rows. `progress` is
    /// told how many rows are done, and of how many.
    pub(super) fn run(
        &self,
        streams: &mut Streams,
        sampler: &Sampler,
        out: &mut (dyn Write + Send),
        out_name: &Path,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<u64> {
        let wrong = |why: ParquetError| file_error(out_name, why);
        let about = self.reader.metadata().file_metadata();
        let rows = about.num_rows().unsigned_abs();
        let seed = streams.insecure_seed();
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            // Columns that are copied bring no index of their pages, and a file has one for all columns or for none.
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true)
            .set_key_value_metadata(kept(about.key_value_metadata(), seed.is_some()))
            .build();
        let mut writer = SerializedFileWriter::new(out, self.schema(seed)?, Arc::new(properties)).map_err(wrong)?;
        let mut done = 0;
        for (number, group) in self.reader.metadata().row_groups().iter().enumerate() {
            let mut to = writer.next_row_group().map_err(wrong)?;
            for (at, noisy) in self.noisy.iter().enumerate() {
                match noisy {
                    None => self.copy(group, at, &mut to).map_err(wrong)?,
                    Some(_) => {
                        let (mut counts, definitions) = self.counts(number, at)?;
                        let column = group.column(at).column_descr().name();
                        let place = |row: usize| format!("column {column:?}, row {}", done as usize + row + 1);
                        streams.add_noise(sampler, &mut counts).map_err(|error| match error {
                            Error::Overflow { position, .. } => self.too_large(&place(position), 64),
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
        Ok(rows)
    }

    /// The schema of what is written: under an insecure seed the names of the noisy columns say so.
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

    /// Copies a column of a row group as it is encoded.
    fn copy<W: Write + Send>(
        &self,
        group: &RowGroupMetaData,
        at: usize,
        to: &mut SerializedRowGroupWriter<'_, W>,
    ) -> std::result::Result<(), ParquetError> {
        let metadata = group.column(at).clone();
        let close = ColumnCloseResult {
            bytes_written: metadata.compressed_size().unsigned_abs(),
            rows_written: group.num_rows().unsigned_abs(),
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        to.append_column(&self.bytes, close)
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

    /// Writes a column of noisy counts in the type that it had.
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

    fn too_large(&self, place: &str, bits: u32) -> Error {
        let why = format!("{place}: with noise added the count leaves the range of {bits}-bit integers");
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

/// Refuses columns that are no whole numbers with a sign, of 32 or 64 bits: noise makes some counts negative.
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

/// What the file says of itself, without the schemas of other programs where columns were renamed.
fn kept(all: Option<&Vec<KeyValue>>, is_renamed: bool) -> Option<Vec<KeyValue>> {
    const SCHEMAS: [&str; 3] = ["ARROW:schema", "pandas", "org.apache.spark.sql.parquet.row.metadata"];
    let is_kept = |pair: &&KeyValue| !is_renamed || !SCHEMAS.contains(&pair.key.as_str());
    all.map(|all| all.iter().filter(is_kept).cloned().collect())
}

fn refused(name: &Path, why: String) -> Error {
    Error::DataFile { file: name.display().to_string(), line: 0, column: 0, why }
}

fn broken(name: &Path, why: &ParquetError) -> Error {
    refused(name, why.to_string().trim_start_matches("Parquet error: ").to_string())
}

#[cfg(test)]
mod tests {
    use parquet::{
        data_type::{ByteArray, ByteArrayType},
        record::RowAccessor,
        schema::parser::parse_message_type,
    };

    use super::*;
    use crate::numeric::rational::parse;

    /// Two row groups of three rows: a name, a count of 64 bits, an optional one of 32.
    fn example(path: &Path, unsigned: bool, with_null: bool) {
        let other = if unsigned { "optional int32 few (UINT_32);" } else { "optional int32 few;" };
        let message = format!("message table {{ required binary name (UTF8); required int64 count; {other} }}");
        let schema = Arc::new(parse_message_type(&message).unwrap());
        let mut writer = SerializedFileWriter::new(File::create(path).unwrap(), schema, Arc::default()).unwrap();
        for group in 0..2 {
            let mut rows = writer.next_row_group().unwrap();
            let names: Vec<ByteArray> = (0..3).map(|row| ByteArray::from(format!("{group}{row}").as_str())).collect();
            write::<ByteArrayType, _>(&mut rows, &names, &[]).unwrap();
            write::<Int64Type, _>(&mut rows, &[1_000_000 * (group + 1), 20, 30], &[]).unwrap();
            let definitions = if with_null { [1, 0, 1] } else { [1, 1, 1] };
            let few: &[i32] = if with_null { &[7, 9] } else { &[7, 8, 9] };
            write::<Int32Type, _>(&mut rows, few, &definitions).unwrap();
            rows.close().unwrap();
        }
        writer.close().unwrap();
    }

    fn run(path: &Path, columns: &[&str], epsilon: &str, streams: &mut Streams) -> Result<Vec<u8>> {
        let sampler = Sampler::discrete_laplace(parse(epsilon).unwrap()).unwrap();
        let columns: Vec<String> = columns.iter().map(ToString::to_string).collect();
        let mut out = Vec::new();
        let rows =
            ParquetNoise::open(path, &columns)?.run(streams, &sampler, &mut out, Path::new("out"), &mut |_, _| {})?;
        assert_eq!(rows, 6);
        Ok(out)
    }

    fn rows(path: &Path) -> Vec<(String, i64, i64)> {
        let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
        let all = reader.get_row_iter(None).unwrap().map(|row| row.unwrap());
        all.map(|row| {
            (row.get_string(0).unwrap().clone(), row.get_long(1).unwrap(), i64::from(row.get_int(2).unwrap()))
        })
        .collect()
    }

    #[test]
    fn noisy_columns_are_written_anew_and_the_others_are_copied() {
        let folder = tempfile::tempdir().unwrap();
        let (input, output) = (folder.path().join("in.parquet"), folder.path().join("out.parquet"));
        example(&input, false, false);
        // Noise that is zero for all practical purposes.
        let out = run(&input, &["few", "count"], "100", &mut Streams::from_system().unwrap()).unwrap();
        std::fs::write(&output, out).unwrap();
        assert_eq!(rows(&input), rows(&output));
        assert_eq!((rows(&output)[3].0.as_str(), rows(&output)[3].1), ("10", 2_000_000));
        // The true extremes are gone with the noise that hides them.
        let out = run(&input, &["count"], "1/1000", &mut Streams::with_insecure_seed(7)).unwrap();
        std::fs::write(&output, out).unwrap();
        let reader = SerializedFileReader::new(File::open(&output).unwrap()).unwrap();
        let names: Vec<&str> =
            reader.metadata().file_metadata().schema().get_fields().iter().map(|f| f.name()).collect();
        assert_eq!(names, ["name", "count (insecure seed 7)", "few"]);
        let noisy = rows(&output);
        for (group, part) in noisy.chunks(3).enumerate() {
            let said = reader.metadata().row_group(group).column(1).statistics().unwrap().clone();
            let parquet::file::statistics::Statistics::Int64(said) = said else { panic!("not of 64 bits") };
            let most = part.iter().map(|row| row.1).max();
            assert_eq!(said.max_opt().copied(), most);
            assert_ne!(most, Some(1_000_000 * (group as i64 + 1)));
        }
        assert!(noisy.iter().zip(rows(&input)).all(|(noisy, given)| (&noisy.0, noisy.2) == (&given.0, given.2)));
        let again = run(&input, &["count"], "1/1000", &mut Streams::with_insecure_seed(7)).unwrap();
        assert_eq!(std::fs::read(&output).unwrap(), again);
    }

    #[test]
    fn what_cannot_hold_noisy_counts_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("in.parquet");
        let refused = |columns: &[&str], epsilon: &str| {
            run(&path, columns, epsilon, &mut Streams::with_insecure_seed(1)).unwrap_err().to_string()
        };
        example(&path, true, false);
        assert!(refused(&["few"], "1").contains("signed"), "{}", refused(&["few"], "1"));
        assert!(refused(&["name"], "1").contains("BYTE_ARRAY"));
        assert!(refused(&["counts"], "1").contains("did you mean \"count\""));
        example(&path, false, true);
        assert!(refused(&["few"], "1").contains("row 2 of row group 0, is null"));
        example(&path, false, false);
        assert!(refused(&["few"], "1e-9").contains("32-bit"), "{}", refused(&["few"], "1e-9"));
        std::fs::write(&path, "no parquet").unwrap();
        assert!(refused(&["count"], "1").contains("in.parquet"));
    }
}
