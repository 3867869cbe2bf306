//! YAML as a tree in which every part knows its place: one document of maps, lists and scalars with a bound on size and depth.
//!
//! Everything that can make a small file large or ambiguous is refused with its line: anchors and aliases, tags, keys that occur twice, keys
//! that are no plain text, merge keys, and a second document.

use std::path::Path;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use super::{files::file_error, reading::read_at_most};
use crate::error::{Error, Result};

/// Limit on the size of a file, in bytes.
const MOST_BYTES: u64 = 1 << 20;
/// Limit on the depth of maps and lists within each other.
const MOST_DEPTH: usize = 16;
/// Limit on the number of keys and values.
const MOST_PARTS: usize = 20_000;

/// A place in a file, both counted from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub line: usize,
    pub column: usize,
}

/// A value and its place.
#[derive(Clone, Debug)]
pub struct Tree {
    pub at: Place,
    pub value: Value,
}

/// The value at a place.
#[derive(Clone, Debug)]
pub enum Value {
    /// A scalar, as text.
    Scalar(Scalar),
    /// A list.
    List(Vec<Tree>),
    /// A map, in the order of the file.
    Map(Vec<(Key, Tree)>),
}

/// A key of a map.
#[derive(Clone, Debug)]
pub struct Key {
    pub at: Place,
    pub name: String,
}

/// A scalar: its text, and how it is written.
#[derive(Clone, Debug)]
pub struct Scalar {
    pub text: String,
    /// Whether it has neither quotes nor a block sign: then `5` is a number and `~` is nothing.
    pub is_plain: bool,
    /// Whether it is folded (`>`), which turns its line breaks into spaces.
    pub is_folded: bool,
    /// The line of its first line of text, if each line of text is a line of the file.
    pub first_line: Option<usize>,
}

impl Scalar {
    /// Its kind by the rules of the YAML core schema, for messages.
    pub fn kind(&self) -> Kind {
        if !self.is_plain {
            return Kind::Text;
        }
        match self.text.as_str() {
            "" | "~" | "null" | "Null" | "NULL" => Kind::Nothing,
            "true" | "True" | "TRUE" | "false" | "False" | "FALSE" => Kind::Flag,
            text if is_number(text) => Kind::Number,
            _ => Kind::Text,
        }
    }
}

/// The kind of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Nothing,
    Flag,
    Number,
    Text,
}

impl Kind {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Kind::Nothing => "nothing",
            Kind::Flag => "true or false",
            Kind::Number => "a number",
            Kind::Text => "a text",
        }
    }
}

/// Whether YAML takes a plain text for a number: decimals, other bases, infinities.
fn is_number(text: &str) -> bool {
    let bare = text.strip_prefix(['-', '+']).unwrap_or(text);
    if [".inf", ".Inf", ".INF"].contains(&bare) || [".nan", ".NaN", ".NAN"].contains(&text) {
        return true;
    }
    for (prefix, base) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            return !digits.is_empty() && digits.chars().all(|c| c.is_digit(base));
        }
    }
    let (mantissa, exponent) = match bare.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['-', '+']).unwrap_or(exponent))),
        None => (bare, None),
    };
    let digits = mantissa.chars().filter(char::is_ascii_digit).count();
    let is_mantissa =
        digits > 0 && mantissa.chars().all(|c| c.is_ascii_digit() || c == '.') && mantissa.matches('.').count() <= 1;
    is_mantissa && exponent.is_none_or(|exponent| !exponent.is_empty() && exponent.bytes().all(|b| b.is_ascii_digit()))
}

/// Reads a file that must be one YAML document.
pub fn read_file(path: &Path) -> Result<Tree> {
    let bytes = read_at_most(path, MOST_BYTES)?;
    let text = String::from_utf8(bytes).map_err(|_| file_error(path, "is not UTF-8 text: expected a YAML file"))?;
    read(&crate::error::shown(path), &text)
}

/// Reads a text; `file` names it in messages.
pub fn read(file: &str, text: &str) -> Result<Tree> {
    let mut reader = Reader { file, parser: Parser::new_from_str(text), parts: 0 };
    match reader.next()? {
        (Event::StreamStart, _) => {}
        (_, span) => return Err(reader.refuse(place(&span), "is no YAML")),
    }
    match reader.next()? {
        (Event::DocumentStart(_), _) => {}
        (_, span) => return Err(reader.refuse(place(&span), "holds nothing: expected a map of fields")),
    }
    let (event, span) = reader.next()?;
    let tree = reader.tree(event, span, 0)?;
    loop {
        match reader.next()? {
            (Event::DocumentEnd, _) => {}
            (Event::StreamEnd, _) => return Ok(tree),
            (_, span) => return Err(reader.refuse(place(&span), "a second document begins here: expected one")),
        }
    }
}

/// An error about a place of a file.
pub fn refuse_at(file: &str, at: Place, why: impl Into<String>) -> Error {
    Error::DataFile { file: file.to_string(), line: at.line, column: at.column, why: why.into() }
}

fn place(span: &Span) -> Place {
    Place { line: span.start.line(), column: span.start.col() + 1 }
}

struct Reader<'a> {
    file: &'a str,
    parser: Parser<'a, saphyr_parser::StrInput<'a>>,
    parts: usize,
}

impl<'a> Reader<'a> {
    fn refuse(&self, at: Place, why: &str) -> Error {
        refuse_at(self.file, at, why)
    }

    fn next(&mut self) -> Result<(Event<'a>, Span)> {
        match self.parser.next_event() {
            None => Err(refuse_at(self.file, Place { line: 0, column: 0 }, "ends before its document does")),
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => {
                let at = Place { line: error.marker().line(), column: error.marker().col() + 1 };
                Err(self.refuse(at, &format!("is no YAML: {}", error.info())))
            }
        }
    }

    /// The tree that begins with an event. The depth of the recursion is bounded by [`MOST_DEPTH`].
    fn tree(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Tree> {
        let at = place(&span);
        if depth > MOST_DEPTH {
            return Err(self.refuse(at, &format!("maps and lists are more than {MOST_DEPTH} deep within each other")));
        }
        self.parts += 1;
        if self.parts > MOST_PARTS {
            return Err(self.refuse(at, &format!("more than {MOST_PARTS} keys and values")));
        }
        let (anchor, has_tag) = match &event {
            Event::Scalar(_, _, anchor, tag) | Event::SequenceStart(anchor, tag) | Event::MappingStart(anchor, tag) => {
                (*anchor, tag.is_some())
            }
            Event::Alias(_) => return Err(self.refuse(at, "an alias (*name) is not accepted: write the value itself")),
            _ => (0, false),
        };
        if anchor != 0 {
            return Err(self.refuse(at, "an anchor (&name) is not accepted: write the value itself where it is needed"));
        }
        if has_tag {
            return Err(self.refuse(at, "a tag (!name) is not accepted: write the value without it"));
        }
        let value = match event {
            Event::Scalar(text, style, _, _) => Value::Scalar(scalar(&text, style, &span)),
            Event::SequenceStart(..) => Value::List(self.list(depth)?),
            Event::MappingStart(..) => Value::Map(self.map(depth)?),
            _ => return Err(self.refuse(at, "expected a value")),
        };
        Ok(Tree { at, value })
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Tree>> {
        let mut list = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(list),
                (event, span) => list.push(self.tree(event, span, depth + 1)?),
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Vec<(Key, Tree)>> {
        let mut map: Vec<(Key, Tree)> = Vec::new();
        loop {
            let key = match self.next()? {
                (Event::MappingEnd, _) => return Ok(map),
                (event, span) => self.tree(event, span, depth + 1)?,
            };
            let Value::Scalar(Scalar { text: name, .. }) = key.value else {
                return Err(self.refuse(key.at, "a key must be a text, and not a map or a list"));
            };
            if name == "<<" {
                return Err(self.refuse(key.at, "a merge key (<<) is not accepted: write the fields themselves"));
            }
            if let Some((first, _)) = map.iter().find(|(known, _)| known.name == name) {
                let why = format!("the key {name:?} occurs twice: first in line {}", first.at.line);
                return Err(self.refuse(key.at, &why));
            }
            let (event, span) = self.next()?;
            let value = self.tree(event, span, depth + 1)?;
            map.push((Key { at: key.at, name }, value));
        }
    }
}

fn scalar(text: &str, style: ScalarStyle, span: &Span) -> Scalar {
    let line = span.start.line();
    let first_line = match style {
        // The span of a block begins with its text, after the line of its sign.
        ScalarStyle::Literal => Some(line),
        ScalarStyle::Plain | ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted if !text.contains('\n') => {
            Some(line)
        }
        _ => None,
    };
    let (is_plain, is_folded) = (style == ScalarStyle::Plain, style == ScalarStyle::Folded);
    Scalar { text: text.to_string(), is_plain, is_folded, first_line }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> String {
        read("f.yaml", text).unwrap_err().to_string()
    }

    #[test]
    fn places_and_kinds_are_those_of_the_file() {
        let tree = read("f", "a: 5\nb:\n  - 'x'\n  - ~\nc: |\n  one\n  two\nd: 1.5e-7\n").unwrap();
        let Value::Map(map) = tree.value else { panic!("a map") };
        let places: Vec<(usize, usize)> = map.iter().map(|(_, value)| (value.at.line, value.at.column)).collect();
        assert_eq!(places[0], (1, 4));
        let kind = |tree: &Tree| match &tree.value {
            Value::Scalar(scalar) => scalar.kind(),
            _ => panic!("a scalar"),
        };
        let Value::List(list) = &map[1].1.value else { panic!("a list") };
        assert_eq!((kind(&list[0]), kind(&list[1]), list[0].at.line), (Kind::Text, Kind::Nothing, 3));
        let Value::Scalar(block) = &map[2].1.value else { panic!("a block") };
        assert_eq!((block.text.as_str(), block.first_line), ("one\ntwo\n", Some(6)));
        assert_eq!(kind(&map[3].1), Kind::Number);
        for number in ["-1", "+2.5", ".5", "5.", "1e9", "0x1f", ".inf", "-.inf", ".nan"] {
            assert!(is_number(number), "{number}");
        }
        for text in ["", "1.2.3", "e5", "1e", "0x", "a1", "2020-01-01", "--1"] {
            assert!(!is_number(text), "{text}");
        }
    }

    #[test]
    fn what_can_grow_or_be_read_in_two_ways_is_refused_with_its_line() {
        for (text, line, part) in [
            ("a: &x [1, 2]\nb: *x\n", 1, "anchor"),
            ("a: 1\nb: *x\n", 2, ""),
            ("a: 1\nb: 2\na: 3\n", 3, "occurs twice: first in line 1"),
            ("a: !!str 5\n", 1, "tag"),
            ("a: 1\n<<: {b: 2}\n", 2, "merge key"),
            ("a: 1\n---\nb: 2\n", 2, ""),
            ("? [1, 2]\n: 3\n", 1, "a key must be a text"),
            ("a: [1, 2\n", 0, "is no YAML"),
            ("a: 'x\n", 0, "is no YAML"),
            ("a:\n\t- 1\n", 0, "is no YAML"),
            ("", 0, "nothing"),
        ] {
            let message = said(text);
            assert!(message.contains(part), "{text:?}: {message}");
            assert!(line == 0 || message.contains(&format!("line {line}")), "{text:?}: {message}");
        }
    }

    #[test]
    fn depth_and_size_have_a_limit() {
        let nested = |depth: usize| said(&format!("a: {}{}", "[".repeat(depth), "]".repeat(depth)));
        assert!(nested(30).contains("deep"));
        // The parser has a limit of its own.
        assert!(nested(500).contains("line 1") && nested(500).contains("limit"));
        assert!(said(&"[".repeat(100_000)).contains("f.yaml"));
        let many = (0..30_000).map(|k| format!("k{k}: 1\n")).collect::<String>();
        assert!(said(&many[..200_000]).contains("more than"));
    }
}
