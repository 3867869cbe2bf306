//! The rows of a CSV file, each with its original bytes. The reader is a strict state machine with four states; the documentation of the
//! module above has the rules.

use std::{
    collections::HashSet,
    io::{self, Read},
    path::Path,
};

use super::dialect::{declared, separator_of};
use crate::{
    error::{Error, Result},
    io::files::file_error,
};

/// The longest row, and the largest number of columns.
const LONGEST: usize = 1 << 24;
const MOST_COLUMNS: usize = 1 << 16;
/// The number of bytes that are read at a time.
const PIECE: usize = 1 << 17;
const MARK: &[u8] = b"\xef\xbb\xbf";

/// A cell of the current row.
#[derive(Clone, Copy, Debug)]
struct Cell {
    /// Its bytes in the row, quotes included.
    from: usize,
    to: usize,
    /// The place of its text without doubled quotes among the texts, if it has any.
    single: Option<(usize, usize)>,
    is_quoted: bool,
    line: usize,
}

/// The line ends of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineEnds {
    /// A line feed, possibly after a carriage return.
    Feed,
    /// A carriage return only.
    Return,
}

/// The end of a cell.
enum End {
    Separator,
    /// A line end of one or two bytes.
    Line(usize),
    File,
}

/// The rows of a CSV file below its header.
pub(crate) struct Rows<R> {
    input: R,
    file: String,
    line_breaks: bool,
    separator: u8,
    /// The bytes that end an unquoted cell, or are not allowed in it.
    stops: [bool; 256],
    header: Vec<String>,
    header_line: usize,
    buffer: Vec<u8>,
    /// The begin of the current row in the buffer, with the blank lines before it; and the end of the bytes read.
    begin: usize,
    length: usize,
    filled: usize,
    at_end: bool,
    ends: Option<LineEnds>,
    /// The line of the next byte to examine.
    line: usize,
    cells: Vec<Cell>,
    texts: Vec<u8>,
    /// The place of an open quote.
    opened: Option<(usize, usize)>,
    bytes: u64,
}

impl<R: Read> Rows<R> {
    /// Reads the header, which is then available from [`Rows::raw`] and [`Rows::cell`] like a row. `line_breaks`: whether a quoted cell may
    /// contain line breaks.
    pub(crate) fn open(input: R, name: &Path, line_breaks: bool) -> Result<Rows<R>> {
        let mut rows = Rows {
            input,
            file: crate::error::shown(name),
            line_breaks,
            separator: b',',
            stops: stops(b','),
            header: Vec::new(),
            header_line: 1,
            buffer: vec![0; PIECE],
            begin: 0,
            length: 0,
            filled: 0,
            at_end: false,
            ends: None,
            line: 1,
            cells: Vec::new(),
            texts: Vec::new(),
            opened: None,
            bytes: 0,
        };
        let start = rows.find_separator()?;
        if !rows.next_from(start)? {
            let why = "is empty: a header line with the names of the columns is needed";
            return Err(rows.refused(0, 0, why.to_string()));
        }
        rows.read_header()?;
        Ok(rows)
    }

    /// Finds the separator and the begin of the header: after a byte order mark, blank lines and a line such as `sep=;`.
    fn find_separator(&mut self) -> Result<usize> {
        while self.filled < MARK.len() && self.more()? {}
        let mark = if self.buffer[..self.filled].starts_with(MARK) { MARK.len() } else { 0 };
        let start = self.blank_lines(mark)?;
        let end = self.line_from(start)?;
        let after = match declared(&self.buffer[start..end]) {
            None => {
                let separator = separator_of(&self.buffer[start..end]);
                self.separate_by(separator.map_err(|why| self.refused(self.line, 0, why))?);
                return Ok(start);
            }
            Some(separator) => {
                self.separate_by(separator.map_err(|why| self.refused(self.line, 0, why))?);
                end
            }
        };
        // The blank lines after it belong to it.
        Ok(after)
    }

    fn separate_by(&mut self, separator: u8) {
        self.separator = separator;
        self.stops = stops(separator);
    }

    /// The end of the line that begins at `start`, before its line end; line breaks inside quotes do not end it.
    fn line_from(&mut self, start: usize) -> Result<usize> {
        let (mut at, mut in_quotes) = (start, false);
        while let Some(byte) = self.byte(at)? {
            match byte {
                b'"' => in_quotes = !in_quotes,
                b'\r' | b'\n' if !in_quotes || !self.line_breaks => break,
                _ => {}
            }
            at += 1;
        }
        Ok(at)
    }

    fn read_header(&mut self) -> Result<()> {
        let mut header: Vec<String> = Vec::with_capacity(self.cells.len());
        let mut seen = HashSet::new();
        for at in 0..self.cells.len() {
            let heading = self.text(at)?.trim().to_string();
            if !heading.is_empty() && !seen.insert(heading.clone()) {
                let why = format!("a second column named {heading:?}: each heading occurs once");
                return Err(self.refused_at(at, why));
            }
            header.push(heading);
        }
        self.header_line = self.line_of(0);
        self.header = header;
        Ok(())
    }

    /// The headings, trimmed of blanks.
    pub(crate) fn header(&self) -> &[String] {
        &self.header
    }

    /// The line of the header.
    pub(crate) fn header_line(&self) -> usize {
        self.header_line
    }

    /// The separator.
    pub(crate) fn separator(&self) -> u8 {
        self.separator
    }

    /// The number of bytes of text read so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads the next row. After the last one, [`Rows::raw`] contains the blank lines that follow.
    pub(crate) fn next(&mut self) -> Result<bool> {
        self.begin += self.length;
        if !self.next_from(0)? {
            return Ok(false);
        }
        if self.cells.len() < self.header.len() {
            let why = format!("the row has {} cells where the header has {}", self.cells.len(), self.header.len());
            return Err(self.refused(self.cells[0].line, self.cells.len(), why));
        }
        Ok(true)
    }

    /// The bytes of the row with the blank lines before it and its line end.
    pub(crate) fn raw(&self) -> &[u8] {
        &self.buffer[self.begin..self.begin + self.length]
    }

    /// The place of a cell in [`Rows::raw`], including quotes.
    pub(crate) fn place(&self, at: usize) -> (usize, usize) {
        self.cells.get(at).map_or((0, 0), |cell| (cell.from, cell.to))
    }

    /// The text of a cell; empty if the row does not have it.
    pub(crate) fn cell(&self, at: usize) -> &[u8] {
        let Some(cell) = self.cells.get(at) else { return &[] };
        match (cell.single, cell.is_quoted) {
            (Some((from, to)), _) => &self.texts[from..to],
            (None, true) => &self.raw()[cell.from + 1..cell.to - 1],
            (None, false) => &self.raw()[cell.from..cell.to],
        }
    }

    /// The text of a cell, as a key.
    pub(crate) fn text(&self, at: usize) -> Result<&str> {
        std::str::from_utf8(self.cell(at)).map_err(|_| {
            let shown: String = String::from_utf8_lossy(self.cell(at)).chars().take(40).collect();
            self.refused_at(at, format!("{shown:?} is not in UTF-8: save the file as UTF-8 (in Excel, \"CSV UTF-8\")"))
        })
    }

    /// The line on which a cell begins; the line of the row if there is no such cell.
    pub(crate) fn line_of(&self, at: usize) -> usize {
        self.cells.get(at).or_else(|| self.cells.first()).map_or(self.line, |cell| cell.line)
    }

    /// An error about a cell.
    pub(crate) fn refused_at(&self, at: usize, why: String) -> Error {
        self.refused(self.line_of(at), at + 1, why)
    }

    /// An error about a place: line and column from one, or 0.
    pub(crate) fn refused(&self, line: usize, column: usize, why: String) -> Error {
        Error::DataFile { file: self.file.clone(), line, column, why }
    }

    /// Reads the row whose blank lines begin at `start`, relative to the begin of the row.
    fn next_from(&mut self, start: usize) -> Result<bool> {
        self.length = 0;
        self.cells.clear();
        self.texts.clear();
        let mut at = self.blank_lines(start)?;
        if self.byte(at)?.is_none() {
            self.length = at;
            return Ok(false);
        }
        loop {
            let end = match self.byte(at)? {
                Some(b'"') => self.quoted_cell(&mut at)?,
                _ => self.bare_cell(&mut at)?,
            };
            match end {
                End::Separator => at += 1,
                End::Line(bytes) => {
                    at += bytes;
                    self.line += 1;
                    break;
                }
                End::File => break,
            }
        }
        self.length = at;
        Ok(true)
    }

    /// Skips blank lines; returns the place after them.
    fn blank_lines(&mut self, start: usize) -> Result<usize> {
        let mut at = start;
        while let Some(b'\r' | b'\n') = self.byte(at)? {
            at += self.line_end(at)?;
            self.line += 1;
        }
        Ok(at)
    }

    /// The number of bytes of the line end at a place. An error if it differs from earlier line ends.
    fn line_end(&mut self, at: usize) -> Result<usize> {
        let is_return = self.byte(at)? == Some(b'\r');
        let (ends, bytes) = match is_return {
            true if self.byte(at + 1)? == Some(b'\n') => (LineEnds::Feed, 2),
            true => (LineEnds::Return, 1),
            false => (LineEnds::Feed, 1),
        };
        if *self.ends.get_or_insert(ends) != ends {
            let why = "a carriage return without a line feed: lines end in LF or CRLF, or all of them in CR";
            return Err(self.refused(self.line, self.cells.len(), why.to_string()));
        }
        Ok(bytes)
    }

    fn bare_cell(&mut self, at: &mut usize) -> Result<End> {
        let (from, line) = (*at, self.line);
        loop {
            let rest = &self.buffer[self.begin + *at..self.filled];
            let Some(found) = rest.iter().position(|byte| self.stops[usize::from(*byte)]) else {
                *at += rest.len();
                if self.more()? {
                    continue;
                }
                self.push(from, *at, line, false)?;
                return Ok(End::File);
            };
            let byte = rest[found];
            *at += found;
            match byte {
                b'"' => {
                    let why = "a quote inside a cell that is not in quotes: put the whole cell in quotes, and write a quote in it \
                               twice";
                    return Err(self.refused(line, self.cells.len() + 1, why.to_string()));
                }
                0 => return Err(self.nul()),
                _ => self.push(from, *at, line, false)?,
            }
            return self.end(*at);
        }
    }

    /// The separator or line end at a place, where one of them must be.
    fn end(&mut self, at: usize) -> Result<End> {
        match self.byte(at)? {
            None => Ok(End::File),
            Some(b'\r' | b'\n') => Ok(End::Line(self.line_end(at)?)),
            Some(_) => Ok(End::Separator),
        }
    }

    fn quoted_cell(&mut self, at: &mut usize) -> Result<End> {
        let (from, line) = (*at, self.line);
        self.opened = Some((line, self.cells.len() + 1));
        let mut has_doubled = false;
        *at += 1;
        loop {
            let rest = &self.buffer[self.begin + *at..self.filled];
            let Some(found) = rest.iter().position(|byte| matches!(byte, b'"' | b'\r' | b'\n' | 0)) else {
                *at += rest.len();
                if self.more()? {
                    continue;
                }
                return Err(self.never_closed());
            };
            let byte = rest[found];
            *at += found + 1;
            match byte {
                b'"' if self.byte(*at)? == Some(b'"') => {
                    has_doubled = true;
                    *at += 1;
                }
                b'"' => break,
                0 => return Err(self.nul()),
                _ if !self.line_breaks => return Err(self.never_closed()),
                // The two bytes of CRLF are one line end.
                b'\r' if self.byte(*at)? == Some(b'\n') => {}
                _ => self.line += 1,
            }
        }
        self.opened = None;
        match self.byte(*at)? {
            None | Some(b'\r' | b'\n') => {}
            Some(byte) if byte == self.separator => {}
            Some(_) => {
                let why = "something follows a closing quote: a separator or the end of the line is needed; a quote inside of quotes \
                           is written twice";
                return Err(self.refused(self.line, self.cells.len() + 1, why.to_string()));
            }
        }
        self.push(from, *at, line, true)?;
        if has_doubled {
            self.keep_single();
        }
        self.end(*at)
    }

    /// Keeps the text of the last cell with doubled quotes replaced by single ones.
    fn keep_single(&mut self) {
        let Some(cell) = self.cells.last_mut() else { return };
        let begin = self.texts.len();
        let mut was_quote = false;
        for byte in &self.buffer[self.begin + cell.from + 1..self.begin + cell.to - 1] {
            was_quote = *byte == b'"' && !was_quote;
            if !was_quote {
                self.texts.push(*byte);
            }
        }
        cell.single = Some((begin, self.texts.len()));
    }

    fn push(&mut self, from: usize, to: usize, line: usize, is_quoted: bool) -> Result<()> {
        self.cells.push(Cell { from, to, single: None, is_quoted, line });
        let most = if self.header.is_empty() { MOST_COLUMNS } else { self.header.len() };
        if self.cells.len() > most {
            let why = match self.header.is_empty() {
                true => format!("more than {MOST_COLUMNS} columns"),
                false => format!("the row has more than {most} cells where the header has {most}"),
            };
            return Err(self.refused(line, self.cells.len(), why));
        }
        Ok(())
    }

    fn nul(&self) -> Error {
        let why = "a NUL byte: the file is damaged, or no text";
        self.refused(self.line, self.cells.len() + 1, why.to_string())
    }

    /// The error for a quote that is open where it must not be.
    fn never_closed(&self) -> Error {
        let (line, column) = self.opened.unwrap_or((self.line, 0));
        if !self.line_breaks {
            return Error::OpenQuote { file: self.file.clone(), line, column };
        }
        let why = "the quote that opens here is never closed: close it, and write a quote inside of quotes twice";
        self.refused(line, column, why.to_string())
    }

    /// The byte at a place relative to the begin of the row.
    fn byte(&mut self, at: usize) -> Result<Option<u8>> {
        while self.begin + at >= self.filled {
            if !self.more()? {
                return Ok(None);
            }
        }
        Ok(Some(self.buffer[self.begin + at]))
    }

    /// Reads more bytes; false at the end.
    fn more(&mut self) -> Result<bool> {
        if self.at_end {
            return Ok(false);
        }
        self.buffer.copy_within(self.begin..self.filled, 0);
        self.filled -= self.begin;
        self.begin = 0;
        if self.filled == self.buffer.len() {
            if self.filled >= LONGEST {
                return Err(match self.opened {
                    Some(_) => self.never_closed(),
                    None => self.refused(self.line, 0, format!("a row of more than {} MiB", LONGEST >> 20)),
                });
            }
            self.buffer.resize(2 * self.filled, 0);
        }
        let read = loop {
            match self.input.read(&mut self.buffer[self.filled..]) {
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                other => break other.map_err(|why| file_error(Path::new(&self.file), why))?,
            }
        };
        self.at_end = read == 0;
        self.filled += read;
        self.bytes += read as u64;
        Ok(read > 0)
    }
}

/// The bytes that stop the reading of an unquoted cell.
fn stops(separator: u8) -> [bool; 256] {
    std::array::from_fn(|byte| byte == usize::from(separator) || matches!(byte as u8, b'"' | b'\r' | b'\n' | 0))
}
