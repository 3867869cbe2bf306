//! Noise on columns of a table: a CSV or Parquet file, or a stream of CSV.

use std::{
    fs,
    io::{Read, Seek, SeekFrom, Write},
    path::Path,
};

use flate2::{Compression, write::GzEncoder};

pub use super::table_options::{TableDone, TableOptions};
use super::{Sampler, Streams, column::CsvNoise, parquet_columns};
use crate::{
    error::{Error, Result},
    io::csv_reader::{self, Text},
    io::files::{Over, check_new, file_error, write_over},
};

/// The source of a table with true counts.
pub enum TableSource<'a> {
    /// A file: Parquet if its name ends so, otherwise CSV, which may be compressed by gzip.
    File(&'a Path),
    /// CSV from elsewhere, with a name for messages.
    Stream(&'a mut dyn Read, &'a Path),
}

/// The destination of the table with noise, written atomically. CSV is compressed by gzip if the name of the file ends in `.gz`.
pub enum TableSink<'a> {
    /// A file that must not exist: a second draw spends the budget again.
    New(&'a Path),
    /// A file; an existing one is replaced.
    Replace(&'a Path),
    /// Elsewhere, with a name for messages; nothing is written before all rows have their noise.
    Stream(&'a mut dyn Write, &'a Path),
}

impl TableSink<'_> {
    /// Refuses a destination that could not be written, before any noise is drawn.
    pub(super) fn check(&self, source: &TableSource) -> Result<()> {
        let (TableSink::New(path) | TableSink::Replace(path)) = self else { return Ok(()) };
        if let TableSource::File(input) = source
            && let (Ok(from), Ok(to)) = (fs::canonicalize(input), fs::canonicalize(path))
            && from == to
        {
            return Err(file_error(path, "is the input itself, which is not overwritten: give another output"));
        }
        match self {
            TableSink::New(path) => check_new(path),
            _ => Ok(()),
        }
    }

    /// Writes in the way of [`TableSink`].
    pub(super) fn write(
        self,
        write: impl FnOnce(&mut (dyn Write + Send), &Path) -> Result<TableDone>,
    ) -> Result<TableDone> {
        match self {
            TableSink::New(path) => write_over(path, Over::Refuse, |out| write(out, path)),
            TableSink::Replace(path) => write_over(path, Over::Replace, |out| write(out, path)),
            TableSink::Stream(stream, name) => {
                let wrong = |why: std::io::Error| file_error(name, why);
                let mut held = tempfile::tempfile().map_err(wrong)?;
                let mut buffered = std::io::BufWriter::with_capacity(1 << 20, &mut held);
                let done = write(&mut buffered, name)?;
                buffered.flush().map_err(wrong)?;
                drop(buffered);
                held.seek(SeekFrom::Start(0)).map_err(wrong)?;
                match std::io::copy(&mut held, stream).and_then(|_| stream.flush()) {
                    // A reader that closes the pipe early is no error.
                    Err(why) if why.kind() != std::io::ErrorKind::BrokenPipe => Err(wrong(why)),
                    _ => Ok(done),
                }
            }
        }
    }
}

impl Streams {
    /// Adds independent noise to every count of some columns of a table with a header. `progress` receives the processed amount, and
    /// the total (0 if it is not known).
    ///
    /// Everything else stays as it is: the other bytes of a CSV, the values of the other columns of a Parquet file; the latter's metadata
    /// are left out unless requested. Under an insecure seed the columns' names say so. A cell that is no integer and a sum
    /// that exceeds the column's type are errors that name the place.
    pub fn add_noise_to_columns(
        &mut self,
        sampler: &Sampler,
        source: TableSource,
        columns: &[String],
        sink: TableSink,
        options: TableOptions,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<TableDone> {
        check_columns(columns)?;
        sink.check(&source)?;
        match source {
            TableSource::File(path) if parquet_columns::is_parquet(path) => {
                let table = parquet_columns::ParquetNoise::open(path, columns, options)?;
                sink.write(|out, name| table.run(self, sampler, out, name, progress))
            }
            TableSource::File(path) => {
                let Text { mut input, bytes } = csv_reader::open(path)?;
                let table = CsvNoise { name: path, columns, bytes, line_breaks: options.line_breaks };
                sink.write(|out, name| write_csv(&table, self, sampler, &mut input, (out, name), progress))
            }
            TableSource::Stream(stream, name) => {
                let Text { mut input, bytes } = csv_reader::plain(stream, 0, name)?;
                let table = CsvNoise { name, columns, bytes, line_breaks: options.line_breaks };
                sink.write(|out, name| write_csv(&table, self, sampler, &mut input, (out, name), progress))
            }
        }
    }
}

/// Writes a CSV with noise, compressed if its name ends in `.gz`.
fn write_csv(
    table: &CsvNoise,
    streams: &mut Streams,
    sampler: &Sampler,
    input: &mut dyn Read,
    (out, name): (&mut (dyn Write + Send), &Path),
    progress: &mut dyn FnMut(u64, u64),
) -> Result<TableDone> {
    let rows = write_compressed(out, name, |put| table.run(streams, sampler, input, put, progress))?;
    Ok(TableDone { rows, ..TableDone::default() })
}

/// Writes text, compressed if its name ends in `.gz`.
pub(super) fn write_compressed<T>(
    out: &mut (dyn Write + Send),
    name: &Path,
    write: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<()>) -> Result<T>,
) -> Result<T> {
    let wrong = |why: std::io::Error| file_error(name, why);
    if !is_gzip(name) {
        return write(&mut |bytes| out.write_all(bytes).map_err(wrong));
    }
    // Its header names neither a file nor a time.
    let mut gzip = GzEncoder::new(out, Compression::default());
    let written = write(&mut |bytes| gzip.write_all(bytes).map_err(wrong))?;
    gzip.finish().map_err(wrong)?;
    Ok(written)
}

/// Whether a table is written compressed: by its name.
fn is_gzip(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("gz"))
}

fn check_columns(columns: &[String]) -> Result<()> {
    let twice = columns.iter().enumerate().find(|(at, column)| columns[..*at].contains(column));
    match twice {
        Some((_, column)) => Err(Error::conflict(format!("the column {column:?} is named twice: name each once"))),
        None if columns.is_empty() => Err(Error::missing("no column is named: name at least one")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    #[test]
    fn a_table_is_written_once_and_its_columns_are_named_once() {
        let sampler = Sampler::discrete_gaussian(parse("5").unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (input, output) = (folder.path().join("in.csv"), folder.path().join("out.csv"));
        fs::write(&input, "x,count\n1,2\n").unwrap();
        let mut streams = Streams::with_insecure_seed(1);
        let mut add = |columns: &[&str], sink: TableSink| {
            let columns: Vec<String> = columns.iter().map(ToString::to_string).collect();
            streams.add_noise_to_columns(
                &sampler,
                TableSource::File(&input),
                &columns,
                sink,
                TableOptions::default(),
                &mut |_, _| {},
            )
        };
        let message = |outcome: Result<TableDone>| outcome.unwrap_err().to_string();
        assert!(message(add(&["count"], TableSink::Replace(&input))).contains("input itself"));
        assert!(message(add(&["count", "count"], TableSink::New(&output))).contains("twice"));
        assert!(message(add(&[], TableSink::New(&output))).contains("at least one"));
        assert!(!output.exists());
        assert_eq!(add(&["count"], TableSink::New(&output)).unwrap().rows, 1);
        let first = fs::read(&output).unwrap();
        assert!(message(add(&["count"], TableSink::New(&output))).contains("is there already"));
        assert_eq!(fs::read(&output).unwrap(), first);
        add(&["x", "count"], TableSink::Replace(&output)).unwrap();
        let text = fs::read_to_string(&output).unwrap();
        assert!(text.starts_with("x (insecure seed 1),count (insecure seed 1)\n"), "{text}");
    }

    #[test]
    fn a_stream_gets_all_rows_or_none() {
        let sampler = Sampler::discrete_laplace(parse("100").unwrap()).unwrap();
        let columns = ["count".to_string()];
        let run = |text: &str| {
            let mut out = Vec::new();
            let source = &mut text.as_bytes();
            let (source, sink) =
                (TableSource::Stream(source, Path::new("in")), TableSink::Stream(&mut out, Path::new("out")));
            let mut streams = Streams::from_system().unwrap();
            let rows =
                streams.add_noise_to_columns(&sampler, source, &columns, sink, TableOptions::default(), &mut |_, _| {});
            (rows.map(|done| done.rows), out)
        };
        let (rows, out) = run("count\n3\n4\n");
        assert_eq!((rows.unwrap(), &out[..]), (2, &b"count\n3\n4\n"[..]));
        let (rows, out) = run("count\n3\nx\n");
        assert!(rows.unwrap_err().to_string().contains("line 3") && out.is_empty());
    }
}
