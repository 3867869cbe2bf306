//! Noise on one column of a CSV file; every other byte of the file stays as it is.

use std::{
    borrow::Cow,
    fs::{self, File},
    io::{BufRead, BufReader},
    mem,
    path::Path,
};

use csv_core::ReadFieldResult;

use super::{Sampler, Streams};
use crate::{
    error::{Error, Result},
    files::{file_error, write_whole},
};

/// Rows, and bytes of text, that are held in memory at a time.
const MOST_ROWS: usize = 1 << 19;
const MOST_TEXT: usize = 1 << 24;

impl Streams {
    /// Adds independent noise to every count of a column of a CSV file with a header and writes the table to another
    /// file: whole, or not at all. Returns the number of rows.
    ///
    /// All bytes but those of the column's cells are copied as they are, quotes and line ends included. Under an insecure
    /// seed the column's heading says so. A cell that is no integer, a row with missing or surplus cells, and a sum
    /// beyond 64 bits are errors that name the line and the column.
    pub fn add_noise_to_column(&mut self, sampler: &Sampler, input: &Path, column: &str, output: &Path) -> Result<u64> {
        let file = File::open(input).map_err(|why| file_error(input, why))?;
        if let (Ok(from), Ok(to)) = (fs::canonicalize(input), fs::canonicalize(output))
            && from == to
        {
            return Err(file_error(output, "is the input itself, which is not overwritten: give another output"));
        }
        let mut table = Table::open(BufReader::with_capacity(1 << 16, file), input, column)?;
        write_whole(output, |out| {
            let mut put = |bytes: &[u8]| out.write_all(bytes).map_err(|why| file_error(output, why));
            put(&table.heading(self.insecure_seed()))?;
            let mut rows = 0;
            while let Some(mut rest) = table.read_rows()? {
                rows += rest.counts.len() as u64;
                self.add_noise(sampler, &mut rest.counts).map_err(|error| match error {
                    Error::Overflow { position, count } => {
                        let why = format!("{count} with noise added leaves the range of 64-bit integers");
                        table.wrong(rest.lines[position], why)
                    }
                    other => other,
                })?;
                let mut from = 0;
                for (&place, count) in rest.places.iter().zip(&rest.counts) {
                    put(&rest.text[from..place])?;
                    put(count.to_string().as_bytes())?;
                    from = place;
                }
                put(&rest.text[from..])?;
            }
            Ok(rows)
        })
    }
}

/// A CSV file whose heading was read.
struct Table<'a> {
    cells: Cells<BufReader<File>>,
    name: &'a Path,
    column: &'a str,
    /// The index of the column and the number of columns.
    index: usize,
    width: usize,
    heading: Rows,
}

/// Rows of text without the cells of the column.
#[derive(Default)]
struct Rows {
    text: Vec<u8>,
    /// Where in the text each count belongs.
    places: Vec<usize>,
    counts: Vec<i64>,
    lines: Vec<usize>,
}

impl<'a> Table<'a> {
    fn open(input: BufReader<File>, name: &'a Path, column: &'a str) -> Result<Self> {
        let mut cells = Cells::new(input);
        let mut heading = Rows::default();
        let mut names: Vec<String> = Vec::new();
        while let Some(cell) = cells.next().map_err(|why| file_error(name, why))? {
            let found = String::from_utf8_lossy(&cells.text).into_owned();
            if found == column {
                if !heading.places.is_empty() {
                    return Err(wrong(name, cell.line, names.len() + 1, format!("a second column named {column:?}")));
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
        let width = names.len();
        let Some(index) = names.iter().position(|name| name == column) else {
            let known: Vec<String> = names.iter().take(20).map(|name| format!("{name:?}")).collect();
            let rest = if width > 20 { ", ..." } else { "" };
            return Err(wrong(name, 1, 0, format!("no column named {column:?}: there are {}{rest}", known.join(", "))));
        };
        Ok(Table { cells, name, column, index, width, heading })
    }

    /// The bytes of the header line.
    fn heading(&self, insecure_seed: Option<u64>) -> Vec<u8> {
        let name = match insecure_seed {
            Some(seed) => Cow::from(format!("{} (insecure seed {seed})", self.column)),
            None => Cow::from(self.column),
        };
        let (before, after) = self.heading.text.split_at(self.heading.places.first().copied().unwrap_or(0));
        [before, quoted(&name).as_bytes(), after].concat()
    }

    fn wrong(&self, line: usize, why: String) -> Error {
        wrong(self.name, line, self.index + 1, why)
    }

    /// The next rows, as many as are held in memory at a time.
    fn read_rows(&mut self) -> Result<Option<Rows>> {
        let mut rows = Rows::default();
        let mut at = 0;
        while let Some(cell) = self.cells.next().map_err(|why| file_error(self.name, why))? {
            if at == self.index {
                let text = String::from_utf8_lossy(&self.cells.text);
                let count = text.trim().parse().map_err(|_| self.wrong(cell.line, self.no_integer(&text)))?;
                rows.counts.push(count);
                rows.lines.push(cell.line);
                self.cells.raw_around(&cell, &mut rows);
            } else {
                rows.text.extend(&self.cells.raw);
            }
            at += 1;
            if at > self.width || (cell.ends_record && at < self.width) {
                let why = format!("the row has {} cells where the header has {}", more(at, self.width), self.width);
                return Err(wrong(self.name, cell.line, at, why));
            }
            if cell.ends_record {
                at = 0;
                if rows.counts.len() >= MOST_ROWS || rows.text.len() >= MOST_TEXT {
                    return Ok(Some(rows));
                }
            }
        }
        // What follows the last row is blank, but it is copied.
        rows.text.extend(mem::take(&mut self.cells.raw));
        Ok(if rows.text.is_empty() && rows.counts.is_empty() { None } else { Some(rows) })
    }

    fn no_integer(&self, text: &str) -> String {
        let column = self.column;
        if text.trim().is_empty() {
            return format!("the cell of column {column:?} is empty: a count such as 120 is needed in every row");
        }
        let shown: String = text.chars().take(40).collect();
        format!("{shown:?} in column {column:?} is no integer of 64 bits: a count such as 120 is needed")
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
}

impl<R: BufRead> Cells<R> {
    fn new(input: R) -> Self {
        let (raw, text) = (Vec::new(), Vec::new());
        Cells { input, reader: csv_core::Reader::new(), raw, text, begins_record: true, lines: 0 }
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
    fn through(text: &[u8], column: &str) -> Result<Vec<u8>> {
        let sampler = Sampler::discrete_laplace(parse("100").unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (input, output) = (folder.path().join("in.csv"), folder.path().join("out.csv"));
        fs::write(&input, text).unwrap();
        let outcome = Streams::from_system().unwrap().add_noise_to_column(&sampler, &input, column, &output);
        assert_eq!(output.exists(), outcome.is_ok());
        outcome.map(|_| fs::read(&output).unwrap())
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
    }

    #[test]
    fn errors_name_the_line_and_the_column() {
        for (text, at, why) in [
            ("", "in.csv:", "empty"),
            ("a,b\n1,2\n", "line 1", "\"a\", \"b\""),
            ("count,count\n1,2\n", "line 1, column 2", "second"),
            ("a,count\n1,2\n3,x\n", "line 3, column 2", "\"x\""),
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
        let rows: String = (0..100).map(|_| format!("a,{}\n", i64::MAX)).collect();
        let sampler = Sampler::discrete_gaussian(parse("5").unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (input, output) = (folder.path().join("in.csv"), folder.path().join("out.csv"));
        fs::write(&input, format!("x,count\n{rows}")).unwrap();
        let mut streams = Streams::with_insecure_seed(1);
        let error = streams.add_noise_to_column(&sampler, &input, "count", &output).unwrap_err();
        assert!(matches!(&error, Error::DataFile { line: 2..=101, column: 2, .. }), "{error}");
        assert!(!output.exists());
        let error = streams.add_noise_to_column(&sampler, &input, "count", &input).unwrap_err().to_string();
        assert!(error.contains("input itself"), "{error}");
    }
}
