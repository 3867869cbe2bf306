//! A table in CSV, row by row: its headings, and cells as text, integers and decimals.

use std::{
    io::Read,
    path::{Path, PathBuf},
};

use super::{rows::Rows, source};
use crate::error::{Error, Result, unknown};

/// The largest number of headings in a message.
const SHOWN: usize = 20;

/// Choices for reading a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Whether a quoted cell may contain line breaks. In confidential input such a cell may hide rows.
    pub line_breaks: bool,
    /// Whether numbers have a decimal comma.
    pub decimal_comma: bool,
    /// Whether cells are confidential: messages name their place and never quote them.
    pub is_confidential: bool,
}

impl Reading {
    /// The choices for public files: line breaks in quotes are allowed.
    pub const PUBLIC: Reading = Reading { line_breaks: true, decimal_comma: false, is_confidential: false };
}

/// A table below a header, read row by row; messages name the file, the line and the column.
pub struct CsvTable {
    #[doc(hidden)]
    pub file: String,
    rows: Rows<Box<dyn Read + Send>>,
    reading: Reading,
}

impl CsvTable {
    /// Opens a public file, which may be compressed by gzip. An error if it is not text, or its header is wrong.
    pub fn open(path: &Path) -> Result<CsvTable> {
        CsvTable::read(path, Reading::PUBLIC)
    }

    /// Opens a file, which may be compressed by gzip. An error if it is not text, or its header is wrong.
    pub fn read(path: &Path, reading: Reading) -> Result<CsvTable> {
        CsvTable::new(Box::new(source::open(path)?.input), path, reading)
    }

    /// A table from a text, with a name for messages. An error if its header is wrong.
    pub fn of_text(text: &str, name: &str) -> Result<CsvTable> {
        let bytes = std::io::Cursor::new(text.as_bytes().to_vec());
        CsvTable::new(Box::new(bytes), &PathBuf::from(name), Reading::PUBLIC)
    }

    fn new(input: Box<dyn Read + Send>, name: &Path, reading: Reading) -> Result<CsvTable> {
        let rows = Rows::open(input, name, reading.line_breaks)?;
        Ok(CsvTable { file: crate::error::shown(name), rows, reading })
    }

    /// The headings, trimmed of blanks.
    pub fn headings(&self) -> &[String] {
        self.rows.header()
    }

    /// The first column with one of these headings, counted from zero.
    #[doc(hidden)]
    pub fn find(&self, names: &[&str]) -> Option<usize> {
        self.headings().iter().position(|heading| names.iter().any(|name| name == heading))
    }

    /// The first column whose heading begins with `start`.
    #[doc(hidden)]
    pub fn find_start(&self, start: &str) -> Option<usize> {
        self.headings().iter().position(|heading| heading.starts_with(start))
    }

    /// The column with one of these headings, counted from zero. An error if there is none, or more than one.
    pub fn column(&self, names: &[&str]) -> Result<usize> {
        let mut found = (0..self.headings().len()).filter(|at| names.contains(&self.headings()[*at].as_str()));
        match (found.next(), found.next()) {
            (Some(at), None) => Ok(at),
            (Some(at), Some(other)) => {
                let why = format!(
                    "the header has {:?} and {:?}, and either could be meant: give a file with one of them",
                    self.headings()[at],
                    self.headings()[other]
                );
                Err(self.rows.refused(self.rows.header_line(), other + 1, why))
            }
            (None, _) => Err(self.rows.refused(self.rows.header_line(), 0, no_column(names, self.headings()))),
        }
    }

    /// Reads the next row, which must have as many cells as the header; false at the end. An error for a malformed row.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<bool> {
        self.rows.next()
    }

    /// The line on which the row begins, counted from one.
    pub fn line(&self) -> u64 {
        self.rows.line_of(0) as u64
    }

    /// A cell of the row, trimmed of blanks.
    pub fn cell(&self, at: usize) -> &[u8] {
        self.rows.cell(at).trim_ascii()
    }

    /// A cell of the row as a key: UTF-8 text, trimmed of blanks. An error for other bytes.
    pub fn text(&self, at: usize) -> Result<&str> {
        self.rows.text(at).map(str::trim)
    }

    /// A cell of the row as a name; an error if it is empty.
    pub fn name(&self, at: usize) -> Result<&str> {
        match self.text(at)? {
            "" => Err(self
                .refuse(at + 1, &format!("the cell of column {:?} is empty: a name is needed", self.headings()[at]))),
            name => Ok(name),
        }
    }

    /// The number of cells of a row.
    #[doc(hidden)]
    pub fn width(&self) -> usize {
        self.headings().len()
    }

    /// A cell with an integer of at most `most`. Anything else is an error.
    pub fn whole(&self, at: usize, most: u64) -> Result<u64> {
        let text = std::str::from_utf8(self.cell(at)).ok();
        let digits = text.filter(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()));
        digits.and_then(|text| text.parse().ok()).filter(|value| *value <= most).ok_or_else(|| {
            let ambiguous = ambiguity(self.cell(at));
            self.refuse(at + 1, &format!("{} is no whole number from 0 to {most}{ambiguous}", self.quoted(at)))
        })
    }

    /// A cell with a decimal number, as a double. A comma is an error unless it is declared as the decimal sign; then a point is an error.
    pub fn double(&self, at: usize) -> Result<f64> {
        let text = std::str::from_utf8(self.cell(at)).unwrap_or_default();
        let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.,eE".contains(&byte));
        let pointed = match self.reading.decimal_comma {
            true if text.contains('.') => None,
            true => Some(text.replacen(',', ".", 1)),
            false => Some(text.to_string()),
        };
        let value = pointed.filter(|_| is_plain).and_then(|text| text.parse().ok());
        value.filter(|value: &f64| value.is_finite()).ok_or_else(|| {
            let hint = match self.reading.decimal_comma {
                true => ": digits with at most one comma are needed, as in 1234,5",
                false => ambiguity(self.cell(at)),
            };
            self.refuse(at + 1, &format!("{} is no number{hint}", self.quoted(at)))
        })
    }

    /// The beginning of a cell, for a message.
    pub fn shown(&self, at: usize) -> String {
        String::from_utf8_lossy(self.cell(at)).chars().take(40).collect()
    }

    /// The beginning of a cell in quotes; of a confidential file no more than that it is the cell.
    pub fn quoted(&self, at: usize) -> String {
        if self.reading.is_confidential { "the cell".to_string() } else { format!("{:?}", self.shown(at)) }
    }

    /// An error about the row and one of its columns, counted from one; 0 for the row as a whole.
    pub fn refuse(&self, column: usize, why: &str) -> Error {
        self.rows.refused(self.rows.line_of(column.saturating_sub(1)), column, why.to_string())
    }
}

/// The message for a number with a comma.
pub(crate) fn ambiguity(text: &[u8]) -> &'static str {
    let is_number =
        text.iter().any(u8::is_ascii_digit) && text.iter().all(|byte| byte.is_ascii_digit() || b"+-.,".contains(byte));
    if is_number && text.contains(&b',') {
        ": its comma may be a decimal sign or a separator of thousands; write it with a point, and thousands without a sign"
    } else {
        ""
    }
}

/// The message for a missing column. A first line of numbers is no header, and may hold counts.
pub(crate) fn no_column(names: &[&str], headings: &[String]) -> String {
    if headings.iter().any(|heading| heading.trim().parse::<f64>().is_ok()) {
        return format!(
            "no column {}: the first line holds numbers, and a header with names is needed",
            names.join(" or ")
        );
    }
    if let [name] = names {
        return unknown("column", name, "the header has", headings.iter().map(String::as_str));
    }
    let known: Vec<String> = headings.iter().take(SHOWN).map(|name| format!("{name:?}")).collect();
    let rest = if headings.len() > SHOWN { ", ..." } else { "" };
    format!("no column {}: the header has {}{rest}", names.join(" or "), known.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(bytes: &[u8], reading: Reading) -> Result<CsvTable> {
        CsvTable::new(Box::new(std::io::Cursor::new(bytes.to_vec())), Path::new("in.csv"), reading)
    }

    /// All rows as text, or the error message.
    fn read(bytes: &[u8], line_breaks: bool) -> std::result::Result<Vec<Vec<String>>, String> {
        let reading = Reading { line_breaks, ..Reading::default() };
        let mut table = table(bytes, reading).map_err(|why| why.to_string())?;
        let mut rows = vec![table.headings().to_vec()];
        while table.next().map_err(|why| why.to_string())? {
            let cell = |at| table.text(at).map(String::from).map_err(|why| why.to_string());
            rows.push((0..table.width()).map(cell).collect::<std::result::Result<_, _>>()?);
        }
        Ok(rows)
    }

    #[test]
    fn well_formed_files_are_read() {
        let plain = vec![vec!["a", "b"], vec!["1", "x"], vec!["2", "y"]];
        for text in [
            "a,b\n1,x\n2,y\n",
            "a,b\n1,x\n2,y",
            "a;b\r\n1;x\r\n2;y\r\n",
            "a\tb\n1\tx\n\n2\ty\n\n",
            "a|b\r1|x\r2|y\r",
            "\u{feff}a,b\n1,x\n2,y\n",
            "sep=;\r\na;b\r\n1;x\r\n2;y\r\n",
            "sep=,\n\n\"a\",b\n1,\"x\"\n\"2\",y\n",
            "\u{feff}\"sep=|\"\na|b\n1|x\n2|y\n",
            "\n\na , b\n 1 ,x \n2,y\n",
        ] {
            assert_eq!(read(text.as_bytes(), false).unwrap(), plain, "{text:?}");
        }
        let rows = read(b"a,b\n\"x, \"\"y\"\"\",\"\"\n\"\"\"\",\"p\"\n,\n", false).unwrap();
        assert_eq!(rows[1..], [["x, \"y\"", ""], ["\"", "p"], ["", ""]]);
        assert_eq!(read(b"a,b\n\"1\r\n2\",3\n", true).unwrap()[1], ["1\r\n2", "3"]);
        assert_eq!(read(b"a,,\n1,,\n", false).unwrap()[1], ["1", "", ""]);
    }

    #[test]
    fn malformed_files_are_errors_with_their_place() {
        for (text, line_breaks, at, why) in [
            (
                &b"count,place\n5,\"Smith\n6000,Jones\n7000,Hill\n"[..],
                false,
                "line 2, column 2",
                "not closed on its line",
            ),
            (b"count,place\n5,\"Smith\n6000,Jones\n7000,Hill\n", true, "line 2, column 2", "never closed"),
            (b"count,place\n1,a\n5,\"Smith\n6000,Jones\"\n", false, "line 3, column 2", "not closed on its line"),
            (b"count,size\n5,\"6\"\"\n6000,7\n7000,8\n", true, "line 2, column 2", "never closed"),
            (b"a,b\n1,\"6\" x\n", false, "line 2, column 2", "follows a closing quote"),
            (b"a,b\n1,\"6\\\"x\"\n", false, "line 2, column 2", "follows a closing quote"),
            (b"a,b\n\"x\ny\"z,1\n", true, "line 3, column 1", "follows a closing quote"),
            (b"a,b\n1,6\"\n", false, "line 2, column 2", "not in quotes"),
            (b"a,b\n1, \"6\"\n", false, "line 2, column 2", "not in quotes"),
            (b"a,b\n1\n", false, "line 2, column 1", "1 cells"),
            (b"a,b\n1,2\n1,2,3\n", false, "line 3, column 3", "more than 2"),
            (b"a,b\n\n1,2\n1\n", false, "line 4, column 1", "1 cells"),
            (b"a,b,a\n", false, "line 1, column 3", "second column named \"a\""),
            (b"a,b\n1,\0\n", false, "line 2, column 2", "NUL"),
            (b"a,b\n1,\"\0\"\n", false, "line 2, column 2", "NUL"),
            (b"a\r\n1\r2\r\n", false, "line 2", "carriage return"),
            (b"a\r1\n", false, "line 2", "carriage return"),
            (b"a;b,c\n", false, "line 1", "a semicolon and a comma"),
            (b"sep=:\na:b\n", false, "line 1", "':'"),
            (b"\xc5,b\n", false, "line 1, column 1", "UTF-8"),
            (b"a,b\n1,\xc5s\n", false, "line 2, column 2", "UTF-8"),
            (b"", false, "in.csv", "is empty"),
            (b"\xef\xbb\xbf\r\n\r\n", false, "in.csv", "is empty"),
            (b"\"a\nb\"\n", false, "line 1, column 1", "not closed"),
        ] {
            let message = read(text, line_breaks).unwrap_err();
            assert!(message.contains(at) && message.contains(why), "{:?}: {message}", String::from_utf8_lossy(text));
        }
        let long = [&b"a\n"[..], &vec![b'x'; (1 << 24) + 10]].concat();
        assert!(read(&long, false).unwrap_err().contains("16 MiB"));
        let long = [&b"a\n\""[..], &vec![b'x'; (1 << 24) + 10]].concat();
        assert!(read(&long, true).unwrap_err().contains("never closed"));
    }

    #[test]
    fn commas_in_numbers_are_read_where_they_are_declared() {
        let double = |text: &str, decimal_comma: bool| {
            let text = format!("a;b\n{text};x\n");
            let mut table = table(text.as_bytes(), Reading { decimal_comma, ..Reading::default() }).unwrap();
            table.next().unwrap();
            table.double(0).map_err(|why| why.to_string())
        };
        assert_eq!(double("1,5", true), Ok(1.5));
        assert_eq!(double("-1234", true), Ok(-1234.0));
        assert_eq!(double("1.5e3", false), Ok(1500.0));
        assert!(double("1,234", false).unwrap_err().contains("separator of thousands"));
        for (text, comma) in [("1.5", true), ("1,2,3", true), ("inf", false), ("", false), ("x", true)] {
            assert!(double(text, comma).is_err(), "{text}");
        }
        let mut table = table(b"a;b\n1,234;x\n", Reading::default()).unwrap();
        table.next().unwrap();
        assert!(table.whole(0, 9999).unwrap_err().to_string().contains("thousands"));
    }

    #[test]
    fn columns_are_found_once_or_refused() {
        let table = table(b"GEOID10,GEOID20,x\n", Reading::default()).unwrap();
        assert_eq!((table.column(&["x"]).unwrap(), table.find(&["y"]), table.find_start("GEO")), (2, None, Some(0)));
        let message = table.column(&["GEOID10", "GEOID20"]).unwrap_err().to_string();
        assert!(message.contains("either could be meant"), "{message}");
        let message = table.column(&["GEOID1"]).unwrap_err().to_string();
        assert!(message.contains("did you mean") && message.contains("The header has GEOID10"), "{message}");
    }
}
