//! Integers of any program: one per line, as a stream of any length. It may be compressed by gzip, begin with a byte order mark, and have a heading.

use std::{
    io::{BufRead, BufReader, Cursor, Read},
    path::Path,
};

use crate::{
    error::{Error, Result},
    io::reading,
};

const BUFFER: usize = 1 << 16;
/// The byte order mark of UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";
/// The most bytes of a heading.
const HEADING: u64 = 256;
/// Words for a number that is missing or infinite: a draw like this is no heading.
const NO_NUMBERS: [&str; 11] =
    ["na", "n/a", "nan", "null", "none", "nil", "inf", "infinity", "true", "false", "missing"];
/// At most this number of integers are passed on together.
const BATCH: usize = 1 << 12;

/// The part of a line that was read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Nothing but blanks.
    Start,
    /// A sign.
    Sign,
    /// A sign and digits.
    Digits,
    /// The integer, and a blank or a carriage return after it.
    After,
}

/// A line as far as it was read.
struct Line {
    place: Place,
    negative: bool,
    /// The magnitude, negated: -2^63 has no positive counterpart.
    value: i64,
    number: usize,
    column: usize,
}

impl Line {
    fn new(number: usize) -> Line {
        Line { place: Place::Start, negative: false, value: 0, number, column: 0 }
    }

    fn refuse(&self, name: &str, why: &str) -> Error {
        let file = name.to_string();
        Error::DataFile { file, line: self.number, column: self.column.max(1), why: why.to_string() }
    }

    /// The next byte of the line; a message if it does not fit.
    fn next(&mut self, byte: u8) -> std::result::Result<(), &'static str> {
        const EXPECTED: &str = "expected one integer per line, as -3, and nothing else";
        const BEYOND: &str = "the integer is beyond 64 bits";
        self.column += 1;
        self.place = match (self.place, byte) {
            (Place::Start, b' ' | b'\t') => Place::Start,
            (Place::Start, b'+' | b'-') => {
                self.negative = byte == b'-';
                Place::Sign
            }
            (Place::Start | Place::Sign | Place::Digits, b'0'..=b'9') => {
                let value = self.value.checked_mul(10).and_then(|value| value.checked_sub(i64::from(byte - b'0')));
                self.value = value.ok_or(BEYOND)?;
                Place::Digits
            }
            (Place::Digits | Place::After, b' ' | b'\t' | b'\r') => Place::After,
            _ => return Err(EXPECTED),
        };
        Ok(())
    }

    fn end(&self) -> std::result::Result<i64, &'static str> {
        match (self.place, self.negative) {
            (Place::Digits | Place::After, true) => Ok(self.value),
            (Place::Digits | Place::After, false) => self.value.checked_neg().ok_or("the integer is beyond 64 bits"),
            (Place::Start | Place::Sign, _) => Err("has no integer: expected one per line, as -3"),
        }
    }
}

/// Whether a first line is the heading of the integers: it begins with a letter, is the name of one column, and no word for a number.
fn is_heading(line: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(line) else { return false };
    let text = text.trim();
    let text = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    text.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && !text.contains([',', ';', '\t', '"'])
        && !text.chars().any(char::is_control)
        && !NO_NUMBERS.contains(&text.to_lowercase().as_str())
}

/// The text of an input, which may be compressed by gzip.
#[cfg(feature = "mechanisms")]
pub(super) fn decompressed<R: Read>(input: R, name: &str) -> Result<impl Read> {
    Ok(crate::io::csv_reader::plain(input, 0, Path::new(name))?.input)
}

/// The text of an input: gzip is read with the feature `mechanisms`.
#[cfg(not(feature = "mechanisms"))]
pub(super) fn decompressed<R: Read>(input: R, _: &str) -> Result<R> {
    Ok(input)
}

/// Reads integers, one per line, and passes them on in order; returns their number. `name` names the input in messages. A first line that is the name of a
/// column is left out.
pub fn integers(input: impl Read, name: &str, mut each: impl FnMut(&[i64])) -> Result<u64> {
    let wrong = |why: std::io::Error| Error::File { path: name.into(), why: why.to_string() };
    let mut input = BufReader::with_capacity(BUFFER, decompressed(input, name)?);
    let mut first = Vec::new();
    (&mut input).take(HEADING).read_until(b'\n', &mut first).map_err(wrong)?;
    let begun = first.strip_prefix(MARK).unwrap_or(&first);
    let has_heading = (first.ends_with(b"\n") || (first.len() as u64) < HEADING) && is_heading(begun);
    let begun = if has_heading { Vec::new() } else { begun.to_vec() };
    let mut input = Cursor::new(begun).chain(input);
    let mut buffer = vec![0; BUFFER];
    let mut batch = Vec::with_capacity(BATCH);
    let (mut line, mut total) = (Line::new(1 + usize::from(has_heading)), 0_u64);
    loop {
        let read = match input.read(&mut buffer) {
            Ok(read) => read,
            Err(why) if why.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(why) => return Err(wrong(why)),
        };
        let is_end = read == 0;
        // A last line without a line break ends with the input.
        let last: &[u8] = if is_end && line.column > 0 { b"\n" } else { b"" };
        for byte in buffer[..read].iter().chain(last) {
            if *byte != b'\n' {
                line.next(*byte).map_err(|why| line.refuse(name, why))?;
                continue;
            }
            batch.push(line.end().map_err(|why| line.refuse(name, why))?);
            line = Line::new(line.number + 1);
            if batch.len() == BATCH {
                total += batch.len() as u64;
                each(&batch);
                batch.clear();
            }
        }
        if is_end {
            total += batch.len() as u64;
            each(&batch);
            return Ok(total);
        }
    }
}

/// Reads integers from a file, one per line, and passes them on in order; returns their number.
pub fn file(path: &Path, each: impl FnMut(&[i64])) -> Result<u64> {
    integers(reading::open(path)?, &crate::error::shown(path), each)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> std::result::Result<Vec<i64>, String> {
        let mut found = Vec::new();
        let many =
            integers(text, "draws.txt", |batch| found.extend_from_slice(batch)).map_err(|why| why.to_string())?;
        assert_eq!(many, found.len() as u64);
        Ok(found)
    }

    #[test]
    fn integers_are_read_in_every_usual_form() {
        assert_eq!(read(b"1\n-2\r\n +3\t\n007\n-0").unwrap(), [1, -2, 3, 7, 0]);
        assert_eq!(read(b"9223372036854775807\n-9223372036854775808\n").unwrap(), [i64::MAX, i64::MIN]);
        assert_eq!(read(b"").unwrap(), [0_i64; 0]);
        let many: String = (0..100_000).map(|x| format!("{}\n", x % 77 - 30)).collect();
        assert_eq!(read(many.as_bytes()).unwrap(), (0..100_000).map(|x| x % 77 - 30).collect::<Vec<i64>>());
    }

    #[cfg(feature = "mechanisms")]
    #[test]
    fn a_mark_a_heading_and_gzip_are_read() {
        use std::io::Write;
        for text in
            [&b"noise\n1\n-2\n"[..], b"\xef\xbb\xbf1\n-2\n", b"\xef\xbb\xbf \"the noise\"\r\n1\r\n-2", b"_x\n1\n-2\n"]
        {
            assert_eq!(read(text).unwrap(), [1, -2]);
            let mut zipped = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            zipped.write_all(text).unwrap();
            let zipped = zipped.finish().unwrap();
            assert_eq!(read(&zipped).unwrap(), [1, -2]);
            let cut = read(&zipped[..zipped.len() - 6]).unwrap_err();
            assert!(cut.contains("truncated") && cut.contains("draws.txt"), "{cut}");
        }
        assert_eq!(read(b"noise\n").unwrap(), [0_i64; 0]);
        // The line of an error counts the heading.
        assert!(read(b"noise\n1\nx\n").unwrap_err().contains("line 3, column 1"));
        let utf16 = read(b"\xff\xfe1\0\n\0").unwrap_err();
        assert!(utf16.contains("UTF-16") && utf16.contains("draws.txt"), "{utf16}");
    }

    #[test]
    fn all_else_is_refused_with_its_place() {
        for (text, place, why) in [
            (&b"1\n2.0\n"[..], "line 2, column 2", "one integer"),
            (b"1\n\n2\n", "line 2, column 1", "no integer"),
            (b"noise\nnoise\n1\n", "line 2, column 1", "one integer"),
            (b"noise,more\n1\n", "line 1, column 1", "one integer"),
            (b"NaN\n1\n", "line 1, column 1", "one integer"),
            (b"2.0\n1\n", "line 1, column 2", "one integer"),
            (b"1 2\n", "line 1, column 3", "one integer"),
            (b"-\n", "line 1", "no integer"),
            (b"1e5\n", "line 1, column 2", "one integer"),
            (b"9223372036854775808\n", "line 1", "64 bits"),
            (b"99999999999999999999999\n", "line 1, column 19", "64 bits"),
            (b"1\n\xff\n", "line 2, column 1", "one integer"),
            (b"3\0\n", "line 1, column 2", "one integer"),
        ] {
            let message = read(text).unwrap_err();
            assert!(message.contains(place) && message.contains(why) && message.contains("draws.txt"), "{message}");
        }
    }
}
