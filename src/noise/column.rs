//! Noise on columns of a CSV file; every other byte of the file stays as it is.

use std::{
    borrow::Cow,
    io::{BufRead, BufReader, Read},
    mem,
    path::Path,
};

use csv_core::ReadFieldResult;

use super::{Sampler, Streams};
use crate::{
    error::{Error, Result, did_you_mean},
    files::file_error,
};

/// Counts, and bytes of text, that are held in memory at a time.
const MOST_COUNTS: usize = 1 << 19;
const MOST_TEXT: usize = 1 << 24;

/// A CSV file that noise is added to.
pub(super) struct CsvNoise<'a> {
    /// Its name, for messages.
    pub(super) name: &'a Path,
    /// The columns of counts, by their headings.
    pub(super) columns: &'a [String],
    /// How many bytes it has; 0 where that is not known.
    pub(super) bytes: u64,
}

impl CsvNoise<'_> {
    /// Adds independent noise to every count of the columns of a CSV with a header, and writes the table to `out`. Returns the
    /// number of rows. `progress` is told how many bytes are done, and of how many.
    ///
    /// All bytes but those of the columns' cells are copied as they are, quotes and line ends included. Under an insecure
    /// seed the columns' headings say so. A cell that is no integer, a row with missing or surplus cells, and a sum
    /// beyond 64 bits are errors that name the line and the column.
    pub(super) fn run(
        &self,
        streams: &mut Streams,
        sampler: &Sampler,
        input: &mut dyn Read,
        out: &mut dyn FnMut(&[u8]) -> Result<()>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<u64> {
        let mut table = Table::open(BufReader::with_capacity(1 << 16, input), self.name, self.columns)?;
        out(&table.heading(streams.insecure_seed()))?;
        let mut rows = 0;
        while let Some(mut part) = table.read_rows()? {
            rows += part.counts[0].len() as u64;
            for (column, counts) in part.counts.iter_mut().enumerate() {
                streams.add_noise(sampler, counts).map_err(|error| match error {
                    Error::Overflow { position, count } => {
                        let why = format!("{count} with noise added leaves the range of 64-bit integers");
                        table.wrong(column, part.lines[position], why)
                    }
                    other => other,
                })?;
            }
            let mut from = 0;
            for (cell, &place) in part.places.iter().enumerate() {
                let (row, column) = (cell / table.in_order.len(), table.in_order[cell % table.in_order.len()]);
                out(&part.text[from..place])?;
                out(part.counts[column][row].to_string().as_bytes())?;
                from = place;
            }
            out(&part.text[from..])?;
            progress(table.cells.bytes, self.bytes);
        }
        Ok(rows)
    }
}

/// A CSV file whose heading was read.
struct Table<'a, R> {
    cells: Cells<R>,
    name: &'a Path,
    columns: &'a [String],
    /// The index of each column, and the columns in the order of the file.
    indices: Vec<usize>,
    in_order: Vec<usize>,
    /// The number of columns of the file.
    width: usize,
    heading: Rows,
}

/// Rows of text without the cells of the columns.
#[derive(Default)]
struct Rows {
    text: Vec<u8>,
    /// Where in the text each count belongs, row by row in the order of the file.
    places: Vec<usize>,
    /// The counts, column by column.
    counts: Vec<Vec<i64>>,
    /// The line of each row's first count.
    lines: Vec<usize>,
}

impl<'a, R: BufRead> Table<'a, R> {
    fn open(input: R, name: &'a Path, columns: &'a [String]) -> Result<Self> {
        let mut cells = Cells::new(input);
        let mut heading = Rows::default();
        let mut names: Vec<String> = Vec::new();
        while let Some(cell) = cells.next().map_err(|why| file_error(name, why))? {
            let found = String::from_utf8_lossy(&cells.text).into_owned();
            if columns.contains(&found) {
                if names.contains(&found) {
                    return Err(wrong(name, cell.line, names.len() + 1, format!("a second column named {found:?}")));
                }
                cells.raw_around(&cell, &mut heading);
            } else {
                heading.text.extend(&cells.raw);
            }
            names.push(found);
            if cell.ends_record {
                break;
            }
        }
        if names.is_empty() {
            return Err(wrong(
                name,
                0,
                0,
                "is empty: a header line with the names of the columns is needed".to_string(),
            ));
        }
        let index = |column: &String| {
            let at = names.iter().position(|name| name == column);
            at.ok_or_else(|| wrong(name, 1, 0, no_column(column, names.iter().map(String::as_str))))
        };
        let indices: Vec<usize> = columns.iter().map(index).collect::<Result<_>>()?;
        let mut in_order: Vec<usize> = (0..columns.len()).collect();
        in_order.sort_unstable_by_key(|column| indices[*column]);
        Ok(Table { cells, name, columns, indices, in_order, width: names.len(), heading })
    }

    /// The bytes of the header line.
    fn heading(&self, insecure_seed: Option<u64>) -> Vec<u8> {
        let mut line = Vec::new();
        let mut from = 0;
        for (&place, &column) in self.heading.places.iter().zip(&self.in_order) {
            line.extend(&self.heading.text[from..place]);
            line.extend(quoted(&marked(&self.columns[column], insecure_seed)).as_bytes());
            from = place;
        }
        line.extend(&self.heading.text[from..]);
        line
    }

    fn wrong(&self, column: usize, line: usize, why: String) -> Error {
        wrong(self.name, line, self.indices[column] + 1, why)
    }

    /// The next rows, as many as are held in memory at a time.
    fn read_rows(&mut self) -> Result<Option<Rows>> {
        let mut rows = Rows { counts: vec![Vec::new(); self.columns.len()], ..Rows::default() };
        let (mut at, mut next) = (0, 0);
        while let Some(cell) = self.cells.next().map_err(|why| file_error(self.name, why))? {
            let column = self.in_order.get(next).copied().filter(|column| self.indices[*column] == at);
            if let Some(column) = column {
                let text = String::from_utf8_lossy(&self.cells.text);
                let parsed = text.trim().parse();
                let count = parsed.map_err(|_| self.wrong(column, cell.line, self.no_integer(column, &text)))?;
                rows.counts[column].push(count);
                if next == 0 {
                    rows.lines.push(cell.line);
                }
                self.cells.raw_around(&cell, &mut rows);
                next += 1;
            } else {
                rows.text.extend(&self.cells.raw);
            }
            at += 1;
            if at > self.width || (cell.ends_record && at < self.width) {
                let why = format!("the row has {} cells where the header has {}", more(at, self.width), self.width);
                return Err(wrong(self.name, cell.line, at, why));
            }
            if cell.ends_record {
                (at, next) = (0, 0);
                if rows.places.len() >= MOST_COUNTS || rows.text.len() >= MOST_TEXT {
                    return Ok(Some(rows));
                }
            }
        }
        // What follows the last row is blank, but it is copied.
        rows.text.extend(mem::take(&mut self.cells.raw));
        Ok(if rows.text.is_empty() && rows.places.is_empty() { None } else { Some(rows) })
    }

    fn no_integer(&self, column: usize, text: &str) -> String {
        let column = &self.columns[column];
        if text.trim().is_empty() {
            return format!("the cell of column {column:?} is empty: a count such as 120 is needed in every row");
        }
        let shown: String = text.chars().take(40).collect();
        format!("{shown:?} in column {column:?} is no integer of 64 bits: a count such as 120 is needed")
    }
}

/// What to say of a column that is not there.
pub(super) fn no_column<'a>(column: &str, names: impl Iterator<Item = &'a str> + Clone) -> String {
    const SHOWN: usize = 20;
    let known: Vec<String> = names.clone().take(SHOWN).map(|name| format!("{name:?}")).collect();
    let rest = if names.clone().count() > SHOWN { ", ..." } else { "" };
    format!("no column named {column:?}{}: there are {}{rest}", did_you_mean(column, names), known.join(", "))
}

/// The heading of a column, which says where the noise can be subtracted.
pub(super) fn marked(column: &str, insecure_seed: Option<u64>) -> Cow<'_, str> {
    match insecure_seed {
        Some(seed) => Cow::from(format!("{column} (insecure seed {seed})")),
        None => Cow::from(column),
    }
}

fn more(at: usize, width: usize) -> String {
    if at > width { format!("more than {width}") } else { at.to_string() }
}

fn wrong(name: &Path, line: usize, column: usize, why: String) -> Error {
    Error::DataFile { file: name.display().to_string(), line, column, why }
}

/// A cell's text as CSV.
fn quoted(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\r', '\n']) {
        return Cow::from(format!("\"{}\"", text.replace('"', "\"\"")));
    }
    Cow::from(text)
}

/// What was read last: `raw` in [`Cells`] is its bytes with the delimiter, `text` what they say.
struct Cell {
    line: usize,
    /// Whether a record begins with it, and whether one ends.
    begins_record: bool,
    ends_record: bool,
}

/// The cells of a CSV file, each with its bytes as they stand in the file.
struct Cells<R> {
    input: R,
    reader: csv_core::Reader,
    raw: Vec<u8>,
    text: Vec<u8>,
    begins_record: bool,
    /// Line ends before the next cell.
    lines: usize,
    /// Bytes that were read.
    bytes: u64,
}

impl<R: BufRead> Cells<R> {
    fn new(input: R) -> Self {
        let (raw, text) = (Vec::new(), Vec::new());
        Cells { input, reader: csv_core::Reader::new(), raw, text, begins_record: true, lines: 0, bytes: 0 }
    }

    /// Reads the next cell. After the last one `raw` holds what followed it.
    fn next(&mut self) -> std::io::Result<Option<Cell>> {
        self.raw.clear();
        self.text.clear();
        let mut piece = [0; 256];
        loop {
            let bytes = self.input.fill_buf()?;
            let (result, read, written) = self.reader.read_field(bytes, &mut piece);
            self.raw.extend(&bytes[..read]);
            self.text.extend(&piece[..written]);
            self.input.consume(read);
            self.bytes += read as u64;
            match result {
                ReadFieldResult::InputEmpty | ReadFieldResult::OutputFull => {}
                ReadFieldResult::End => return Ok(None),
                ReadFieldResult::Field { record_end } => {
                    let begins_record = mem::replace(&mut self.begins_record, record_end);
                    let line = 1 + self.lines + line_ends(&self.raw[..self.lead(begins_record)]);
                    self.lines += line_ends(&self.raw);
                    return Ok(Some(Cell { line, begins_record, ends_record: record_end }));
                }
            }
        }
    }

    /// How many bytes stand before the cell: a byte order mark, and the line ends that the previous record left.
    fn lead(&self, begins_record: bool) -> usize {
        let mark = if self.lines == 0 && self.raw.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let ends = self.raw[mark..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        if begins_record { mark + ends } else { 0 }
    }

    /// Adds what stands around the cell to the text of the rows, and its place between.
    fn raw_around(&self, cell: &Cell, rows: &mut Rows) {
        let before = self.lead(cell.begins_record);
        let rest = &self.raw[before..];
        // The delimiter, or the line end, of which CSV readers take one byte; there is none at the end of the file.
        let delimited = !cell.ends_record || matches!(rest.last(), Some(b'\r' | b'\n'));
        rows.text.extend(&self.raw[..before]);
        rows.places.push(rows.text.len());
        rows.text.extend(&rest[rest.len() - usize::from(delimited && !rest.is_empty())..]);
    }
}

fn line_ends(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    /// Runs the file through noise that is zero for all practical purposes: P[X != 0] < 10^-40.
    fn through(text: &[u8], columns: &str) -> Result<Vec<u8>> {
        let sampler = Sampler::discrete_laplace(parse("100").unwrap()).unwrap();
        let columns: Vec<String> = columns.split('+').map(String::from).collect();
        let table = CsvNoise { name: Path::new("in.csv"), columns: &columns, bytes: text.len() as u64 };
        let (mut out, mut read) = (Vec::new(), 0);
        let mut put = |bytes: &[u8]| {
            out.extend(bytes);
            Ok(())
        };
        let mut streams = Streams::from_system().unwrap();
        table.run(&mut streams, &sampler, &mut &*text, &mut put, &mut |done, of| {
            assert!(done > read && of == text.len() as u64);
            read = done;
        })?;
        Ok(out)
    }

    #[test]
    fn all_other_bytes_stay_as_they_are() {
        for text in [
            "count\n1\n-2\n",
            "count,a\r\n1,x\r\n-2,\"y, \"\"z\"\"\"\r\n",
            "a,count\n\"line\nbreak\",7\n,0",
            "\u{feff}count,b\n\n\n3,4\n\n",
            "a,count,b\n  spaced ,3,\n\"\",4,é\n",
            "a,\"count\",b\nx,3,y",
            "count\n",
            "count",
            "a,count\r1,2\r",
        ] {
            let out = through(text.as_bytes(), "count").unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), text.replace("\"count\"", "count"), "{text:?}");
        }
        assert_eq!(through(b"a,count\n\xff\xfe, 5 \n", "count").unwrap(), b"a,count\n\xff\xfe,5\n");
        assert_eq!(through(b"\"a,b\",c\n\"7\",1\n", "a,b").unwrap(), b"\"a,b\",c\n7,1\n");
        for columns in ["a+c", "c+a"] {
            let text = b"a,b,c\n1,x,2\n3,\"y\",4\n";
            assert_eq!(through(text, columns).unwrap(), text);
        }
    }

    #[test]
    fn errors_name_the_line_and_the_column() {
        for (text, at, why) in [
            ("", "in.csv:", "empty"),
            ("a,b\n1,2\n", "line 1", "\"a\", \"b\""),
            ("count,count\n1,2\n", "line 1, column 2", "second"),
            ("a,count\n1,2\n3,x\n", "line 3, column 2", "\"x\""),
            ("a,counts\n1,2\n", "line 1", "did you mean \"counts\""),
            ("a,count\r\n1,2\r\n3,\r\n", "line 3, column 2", "empty"),
            ("a,count\n\"1\n\n\",2\n3,2.5\n", "line 5, column 2", "2.5"),
            ("a,count,b\n1,2,3\n1,2\n", "line 3", "2 cells"),
            ("a,count\n1,2,3\n", "line 2", "more than 2"),
            ("a,count\n1,99999999999999999999\n", "line 2, column 2", "64 bits"),
            ("count\n1_000\n", "line 2, column 1", "1_000"),
        ] {
            let message = through(text.as_bytes(), "count").unwrap_err().to_string();
            assert!(message.contains(at) && message.contains(why), "{text:?}: {message}");
        }
    }

    #[test]
    fn overflow_names_the_line() {
        let rows: String = (0..100).map(|_| format!("a,{},1\n", i64::MAX)).collect();
        let sampler = Sampler::discrete_gaussian(parse("5").unwrap()).unwrap();
        let columns = ["more", "count"].map(String::from);
        let table = CsvNoise { name: Path::new("in.csv"), columns: &columns, bytes: 0 };
        let text = format!("x,count,more\n{rows}");
        let mut streams = Streams::with_insecure_seed(1);
        let error = table.run(&mut streams, &sampler, &mut text.as_bytes(), &mut |_| Ok(()), &mut |_, _| {});
        let error = error.unwrap_err();
        assert!(matches!(&error, Error::DataFile { line: 2..=101, column: 2, .. }), "{error}");
    }
}
