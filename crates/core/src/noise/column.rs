//! Noise on columns of a CSV file; every other byte of the file stays as it is.

use std::{borrow::Cow, io::Read, path::Path};

use super::{Sampler, Streams};
use crate::{
    error::{Error, Result},
    io::csv_reader::{Rows, ambiguity, no_column},
};

/// Counts, and bytes of text, that are held in memory at a time.
const MOST_COUNTS: usize = 1 << 19;
const MOST_TEXT: usize = 1 << 24;

/// A CSV file to which noise is added.
pub(super) struct CsvNoise<'a> {
    /// Its name, for messages.
    pub(super) name: &'a Path,
    /// The columns of counts, by their headings.
    pub(super) columns: &'a [String],
    /// Its size in bytes; 0 if it is not known.
    pub(super) bytes: u64,
    /// Whether a cell in quotes may hold line breaks, which can hide rows.
    pub(super) line_breaks: bool,
}

impl CsvNoise<'_> {
    /// Adds independent noise to every count of the columns of a CSV with a header, and writes the table to `out`. Returns the
    /// number of rows. `progress` receives the number of processed bytes, and the total.
    ///
    /// All bytes except those of the columns' cells are copied as they are, including quotes and line ends. Under an insecure
    /// seed the columns' headings say so. A cell that is no integer, a row with missing or surplus cells, and a sum
    /// that exceeds 64 bits are errors that name the line and the column.
    pub(super) fn run(
        &self,
        streams: &mut Streams,
        sampler: &Sampler,
        input: &mut dyn Read,
        out: &mut dyn FnMut(&[u8]) -> Result<()>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<u64> {
        let mut table = Table::open(Rows::open(input, self.name, self.line_breaks)?, self.columns)?;
        out(&table.heading(streams.insecure_seed()))?;
        let mut rows = 0;
        while let Some(mut part) = table.read_rows()? {
            rows += part.counts[0].len() as u64;
            for (column, counts) in part.counts.iter_mut().enumerate() {
                streams.add_noise(sampler, counts).map_err(|error| match error {
                    // The number in the cell may be confidential: only its place is named.
                    Error::Overflow { position, .. } => {
                        let why = "the count with noise added exceeds the range of 64-bit integers".to_string();
                        table.rows.refused(part.lines[position], table.indices[column] + 1, why)
                    }
                    Error::NoAnswer { position, answers, .. } => {
                        let why = format!(
                            "the number is no answer: the {answers} answers are the numbers from 0 to {}",
                            answers - 1
                        );
                        table.rows.refused(part.lines[position], table.indices[column] + 1, why)
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
            progress(table.rows.bytes(), self.bytes);
        }
        Ok(rows)
    }
}

/// A CSV file after its heading was read.
struct Table<'a, R> {
    rows: Rows<R>,
    columns: &'a [String],
    /// The index of each column, and the columns in the order of the file.
    indices: Vec<usize>,
    in_order: Vec<usize>,
}

/// Rows of text without the cells of the columns.
#[derive(Default)]
struct Part {
    text: Vec<u8>,
    /// The place of each count in the text, row by row in the order of the file.
    places: Vec<usize>,
    /// The counts, column by column.
    counts: Vec<Vec<i64>>,
    /// The line of each row's first count.
    lines: Vec<usize>,
}

impl<'a, R: Read> Table<'a, R> {
    fn open(rows: Rows<R>, columns: &'a [String]) -> Result<Self> {
        let index = |column: &String| {
            let at = rows.header().iter().position(|name| name == column);
            at.ok_or_else(|| rows.refused(rows.header_line(), 0, no_column(&[column.as_str()], rows.header())))
        };
        let indices: Vec<usize> = columns.iter().map(index).collect::<Result<_>>()?;
        let mut in_order: Vec<usize> = (0..columns.len()).collect();
        in_order.sort_unstable_by_key(|column| indices[*column]);
        Ok(Table { rows, columns, indices, in_order })
    }

    /// The bytes of the header line.
    fn heading(&self, insecure_seed: Option<u64>) -> Vec<u8> {
        let (raw, mut line, mut from) = (self.rows.raw(), Vec::new(), 0);
        for &column in self.in_order.iter().filter(|_| insecure_seed.is_some()) {
            let (begin, end) = self.rows.place(self.indices[column]);
            line.extend(&raw[from..begin]);
            line.extend(quoted(&marked(&self.columns[column], insecure_seed), self.rows.separator()).as_bytes());
            from = end;
        }
        line.extend(&raw[from..]);
        line
    }

    /// The next rows, as many as are in memory at a time.
    fn read_rows(&mut self) -> Result<Option<Part>> {
        let mut part = Part { counts: vec![Vec::new(); self.columns.len()], ..Part::default() };
        while self.rows.next()? {
            let (raw, mut from) = (self.rows.raw(), 0);
            for &column in &self.in_order {
                let at = self.indices[column];
                let text = self.rows.cell(at);
                let count =
                    integer(text).ok_or_else(|| self.rows.refused_at(at, no_integer(&self.columns[column], text)))?;
                part.counts[column].push(count);
                let (begin, end) = self.rows.place(at);
                part.text.extend(&raw[from..begin]);
                part.places.push(part.text.len());
                from = end;
            }
            part.text.extend(&raw[from..]);
            part.lines.push(self.rows.line_of(self.indices[self.in_order[0]]));
            if part.places.len() >= MOST_COUNTS || part.text.len() >= MOST_TEXT {
                return Ok(Some(part));
            }
        }
        // The bytes after the last row are blank, but they are copied.
        part.text.extend(self.rows.raw());
        Ok(if part.text.is_empty() && part.places.is_empty() { None } else { Some(part) })
    }
}

fn integer(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.trim().parse().ok()
}

/// Why a cell is refused. Its text may be confidential, and is not shown.
fn no_integer(column: &str, text: &[u8]) -> String {
    if text.trim_ascii().is_empty() {
        return format!("the cell of column {column:?} is empty: a count such as 120 is needed in every row");
    }
    let hint = match ambiguity(text.trim_ascii()) {
        "" => ": a count such as 120 is needed",
        hint => hint,
    };
    format!("the cell of column {column:?} is no integer of 64 bits{hint}")
}

/// The heading of a column, marked if the noise can be subtracted.
pub(super) fn marked(column: &str, insecure_seed: Option<u64>) -> Cow<'_, str> {
    match insecure_seed {
        Some(seed) => Cow::from(format!("{column} (insecure seed {seed})")),
        None => Cow::from(column),
    }
}

/// A cell's text as CSV.
fn quoted(text: &str, separator: u8) -> Cow<'_, str> {
    if text.bytes().any(|byte| byte == separator || matches!(byte, b'"' | b'\r' | b'\n')) {
        return Cow::from(format!("\"{}\"", text.replace('"', "\"\"")));
    }
    Cow::from(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    /// Passes the file through noise that is zero for all practical purposes: P[X != 0] < 10^-40.
    fn through(text: &[u8], columns: &str) -> Result<Vec<u8>> {
        let sampler = Sampler::discrete_laplace(parse("100").unwrap()).unwrap();
        let columns: Vec<String> = columns.split('+').map(String::from).collect();
        let table =
            CsvNoise { name: Path::new("in.csv"), columns: &columns, bytes: text.len() as u64, line_breaks: true };
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
            "a;\"count\";b\r\n\"1,5\";3;y\r\n",
            "sep=;\r\ncount;a\r\n7; x \r\n\r\n",
            "\u{feff}a\tcount\nx\t1",
            "a|count\n1, 2|7\n",
        ] {
            let out = through(text.as_bytes(), "count").unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), text, "{text:?}");
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
            ("a,b\n1,2\n", "line 1", "the header has a, b"),
            ("count,count\n1,2\n", "line 1, column 2", "second"),
            ("a,count\n1,2\n3,x\n", "line 3, column 2", "no integer"),
            ("a,counts\n1,2\n", "line 1", "did you mean \"counts\""),
            ("a,count\r\n1,2\r\n3,\r\n", "line 3, column 2", "empty"),
            ("a,count\n\"1\n\n\",2\n3,2.5\n", "line 5, column 2", "no integer"),
            ("a,count,b\n1,2,3\n1,2\n", "line 3", "2 cells"),
            ("a,count\n1,2,3\n", "line 2", "more than 2"),
            ("a,count\n1,99999999999999999999\n", "line 2, column 2", "64 bits"),
            ("count\n1_000\n", "line 2, column 1", "no integer"),
            ("a,count\nx,\"1,234\"\n", "line 2, column 2", "separator of thousands"),
            ("count,place\n5,\"Smith\n6000,Jones\n7000,Hill\n", "line 2, column 2", "never closed"),
            ("count,size\n5,\"6\"\"\n6000,7\n7000,8\n", "line 2, column 2", "never closed"),
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
        let table = CsvNoise { name: Path::new("in.csv"), columns: &columns, bytes: 0, line_breaks: false };
        let text = format!("x,count,more\n{rows}");
        let mut streams = Streams::with_insecure_seed(1);
        let error = table.run(&mut streams, &sampler, &mut text.as_bytes(), &mut |_| Ok(()), &mut |_, _| {});
        let error = error.unwrap_err();
        assert!(matches!(&error, Error::DataFile { line: 2..=101, column: 2, .. }), "{error}");
    }
}
