//! Published values as a table: CSV whose columns are the fields of the TOML form.
//!
//! `id`, `place`, `printed`, `unit`, `circular`, `note`, `erratum`, `fault`, `fault-kind` and `chosen` are fields of a value; every other column is a
//! field of its `compute`, so `kind` is required. An empty cell is an absent field; in a cell of `compute` a bar
//! separates the elements of a list. The head of the TOML form becomes lines that begin with `#`, as
//! `# decimal = "comma"`; the defaults of `paper` and `title` are the name of the file. If the header has no comma, a
//! semicolon or a tab separates cells.

use std::{collections::BTreeMap, ops::Range, path::Path};

use serde::Deserialize;
use toml::Spanned;

use crate::{
    error::{Error, Result},
    io::toml_node::{Node, Table},
    io::toml_reader::TomlReader,
};

/// The parts of a file, each with its position in the text.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Parts {
    pub paper: Spanned<String>,
    pub title: String,
    pub release: Option<Spanned<String>>,
    pub decimal: Option<Spanned<String>>,
    pub settings: Option<Spanned<String>>,
    #[serde(rename = "value", default)]
    pub values: Vec<Spanned<Node>>,
}

/// The columns of a value itself.
const OF_VALUE: &[&str] =
    &["id", "place", "printed", "unit", "circular", "note", "erratum", "fault", "fault-kind", "chosen"];

/// The kinds whose fields are parsed as numbers and words instead of the text of their digits.
const TYPED_KINDS: &[&str] = &["risk", "paths", "variance-deficit", "safetab", "spine"];

/// Splits a file into its parts.
pub(super) fn read(text: &str, file: &str) -> Result<Parts> {
    let reader = TomlReader::new(file, text);
    let (head, start) = head(&reader, text, file)?;
    let rows = Scanner::new(&reader, text, start)?.rows()?;
    let Some((header, rows)) = rows.split_first() else {
        return Err(reader.refuse_file("has no header: expected columns such as id, place, printed, unit, kind"));
    };
    check_header(&reader, header)?;
    let mut wrong = Vec::new();
    let mut values = Vec::new();
    for row in rows {
        match value(&reader, header, row) {
            Ok(value) => values.push(value),
            Err(error) => wrong.push(error),
        }
    }
    Error::of_all(wrong)?;
    Ok(Parts { values, ..head })
}

/// The fields of the first lines, and the start of the table; the name of the file stands for `paper` and `title`. Other comments are skipped.
fn head(reader: &TomlReader, text: &str, file: &str) -> Result<(Parts, usize)> {
    let mut start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    // Blanks keep every byte at its place, so that errors name lines and columns of the file.
    let mut toml = " ".repeat(start);
    let mut absent = vec!["paper", "title"];
    for line in text.get(start..).unwrap_or_default().split_inclusive('\n') {
        if !line.starts_with('#') && !line.trim().is_empty() {
            break;
        }
        let said = line.trim_start_matches('#').trim_start();
        let names = |name: &&str| said.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with('='));
        if let Some(name) = ["paper", "title", "release", "decimal", "settings"].into_iter().find(names) {
            absent.retain(|other| *other != name);
            toml += &line.replacen('#', " ", 1);
        } else {
            toml.extend(line.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        }
        start += line.len();
    }
    let stem = Path::new(file).file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let stem = toml::Value::String(stem).to_string();
    toml.extend(absent.into_iter().map(|name| format!("\n{name} = {stem}")));
    let head = TomlReader::new(file, &toml).toml()?;
    if start >= text.len() {
        return Err(reader.refuse_file("has no table: expected columns such as id, place, printed, unit, kind"));
    }
    Ok((head, start))
}

fn check_header(reader: &TomlReader, header: &[Cell]) -> Result<()> {
    for (index, cell) in header.iter().enumerate() {
        if cell.text.is_empty() {
            return Err(reader.refuse(cell.at.start, "a column without a name"));
        }
        if header[..index].iter().any(|other| other.text == cell.text) {
            return Err(reader.refuse(cell.at.start, format!("the column {:?} occurs twice", cell.text)));
        }
    }
    Ok(())
}

/// A row as the table of a value.
fn value(reader: &TomlReader, header: &[Cell], row: &[Cell]) -> Result<Spanned<Node>> {
    let at = row.first().map_or(0..0, |cell| cell.at.clone());
    if row.len() != header.len() {
        let why = format!("the row has {} cells, and the header {}", row.len(), header.len());
        return Err(reader.refuse(at.start, why));
    }
    let kind = header.iter().zip(row).find(|(column, _)| column.text == "kind").map(|(_, cell)| cell.text.as_str());
    let is_typed = kind.is_some_and(|kind| TYPED_KINDS.contains(&kind));
    let (mut own, mut compute): (Table, Table) = (BTreeMap::new(), BTreeMap::new());
    for (column, cell) in header.iter().zip(row).filter(|(_, cell)| !cell.text.is_empty()) {
        let key = Spanned::new(column.at.clone(), column.text.clone());
        if OF_VALUE.contains(&column.text.as_str()) {
            let node = if column.text == "circular" { flag(&cell.text) } else { None };
            own.insert(key, Spanned::new(cell.at.clone(), node.unwrap_or_else(|| Node::Text(cell.text.clone()))));
        } else {
            compute.insert(key, argument(cell, is_typed));
        }
    }
    if !compute.is_empty() {
        own.insert(Spanned::new(at.clone(), "compute".to_string()), Spanned::new(at.clone(), Node::Table(compute)));
    }
    Ok(Spanned::new(at, Node::Table(own)))
}

fn flag(text: &str) -> Option<Node> {
    match text {
        "true" => Some(Node::Flag(true)),
        "false" => Some(Node::Flag(false)),
        _ => None,
    }
}

/// A cell of `compute`: a text, or a list if bars separate it.
fn argument(cell: &Cell, is_typed: bool) -> Spanned<Node> {
    let part = |text: &str| {
        let is_whole = text.strip_prefix('-').unwrap_or(text).bytes().all(|byte| byte.is_ascii_digit());
        let typed = match is_typed {
            // It is read again from its position in the file, so only an unchanged cell.
            true if is_whole && !text.is_empty() && text == cell.text => Some(Node::Whole),
            true => flag(text),
            false => None,
        };
        Spanned::new(cell.at.clone(), typed.unwrap_or_else(|| Node::Text(text.to_string())))
    };
    if !cell.text.contains('|') {
        return part(&cell.text);
    }
    let parts = cell.text.split('|').map(|text| part(text.trim())).collect();
    Spanned::new(cell.at.clone(), Node::List(parts))
}

/// A cell without its quotes and surrounding blanks, and its position in the text.
#[derive(Clone, Debug)]
struct Cell {
    text: String,
    at: Range<usize>,
}

/// Scans the cells of CSV, each with its position.
struct Scanner<'t> {
    reader: &'t TomlReader<'t>,
    text: &'t str,
    at: usize,
    separator: char,
}

impl<'t> Scanner<'t> {
    fn new(reader: &'t TomlReader<'t>, text: &'t str, start: usize) -> Result<Self> {
        let table = text.as_bytes().get(start..).unwrap_or_default();
        let is_return = |at: &usize| table[*at] == b'\r' && table.get(at + 1) != Some(&b'\n');
        if let Some(at) = (0..table.len()).find(is_return) {
            let why = "a carriage return without a line feed: lines end in LF or CRLF";
            return Err(reader.refuse(start + at, why));
        }
        let header = text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
        let separator = [',', ';', '\t'].into_iter().find(|separator| header.contains(*separator));
        let why = "is no CSV header: expected columns such as id,place,printed,unit,kind";
        let separator = separator.ok_or_else(|| reader.refuse(start, format!("{header:.60?} {why}")))?;
        Ok(Scanner { reader, text, at: start, separator })
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at..).and_then(|rest| rest.chars().next())
    }

    /// All non-empty rows.
    fn rows(mut self) -> Result<Vec<Vec<Cell>>> {
        let mut rows = Vec::new();
        while self.peek().is_some() {
            let row = self.row()?;
            if row.len() > 1 || row.iter().any(|cell| !cell.text.is_empty()) {
                rows.push(row);
            }
        }
        Ok(rows)
    }

    fn row(&mut self) -> Result<Vec<Cell>> {
        let mut row = Vec::new();
        loop {
            row.push(self.cell()?);
            match self.peek() {
                Some(c) if c == self.separator => self.at += c.len_utf8(),
                Some(c) => {
                    self.at += c.len_utf8();
                    return Ok(row);
                }
                None => return Ok(row),
            }
        }
    }

    /// A cell, up to the separator or the end of the line.
    fn cell(&mut self) -> Result<Cell> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let blanks = rest.len() - rest.trim_start_matches(' ').len();
        if rest.get(blanks..).is_some_and(|rest| rest.starts_with('"')) {
            self.at += blanks + 1;
            return self.quoted();
        }
        let length = rest.find([self.separator, '\n']).unwrap_or(rest.len());
        let whole = rest.get(..length).unwrap_or_default();
        let text = whole.trim();
        let start = self.at + (whole.len() - whole.trim_start().len());
        self.at += length;
        if let Some(quote) = text.find('"') {
            return Err(self
                .reader
                .refuse(start + quote, "a quote inside a cell: put the whole cell in quotes, and double it"));
        }
        Ok(Cell { text: text.to_string(), at: start..start + text.len() })
    }

    /// The remainder of a cell whose opening quote was read.
    fn quoted(&mut self) -> Result<Cell> {
        let start = self.at;
        let mut text = String::new();
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            // A line break inside quotes would hide rows.
            let Some(length) = rest.find(['"', '\n']).filter(|at| rest.as_bytes().get(*at) == Some(&b'"')) else {
                let why = "a quote that does not end on its line";
                return Err(self.reader.refuse(start.saturating_sub(1), why));
            };
            text += rest.get(..length).unwrap_or_default();
            self.at += length + 1;
            if self.peek() != Some('"') {
                break;
            }
            text.push('"');
            self.at += 1;
        }
        let at = start..self.at - 1;
        while matches!(self.peek(), Some(' ' | '\r')) {
            self.at += 1;
        }
        match self.peek() {
            Some(c) if c != self.separator && c != '\n' => {
                Err(self.reader.refuse(self.at, "text after the end of a quote"))
            }
            _ => Ok(Cell { text: text.trim().to_string(), at }),
        }
    }
}
