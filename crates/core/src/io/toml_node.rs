//! TOML whose form depends on its content: read as a tree in which every part knows its place, then field by field.

use std::{collections::BTreeMap, fmt, str::FromStr};

use rug::Rational;
use serde::{
    Deserialize, Deserializer,
    de::{Error as _, MapAccess, SeqAccess, Visitor},
};
use toml::{Spanned, Value};

use crate::{
    error::{Error, Result, clip, nearest, unknown},
    io::toml_reader::{Exact, TomlReader},
};

/// A table, by its keys.
pub type Table = BTreeMap<Spanned<String>, Spanned<Node>>;

/// A value of a TOML file. The digits of a plain number are only in the file.
#[derive(Clone, Debug)]
pub enum Node {
    /// A quoted text.
    Text(String),
    /// A plain whole number.
    Whole,
    /// Another plain number.
    Decimal,
    /// `true` or `false`.
    Flag(bool),
    /// A list.
    List(Vec<Spanned<Node>>),
    /// A table.
    Table(Table),
}

impl Node {
    /// Its kind, for messages.
    fn name(&self) -> &'static str {
        match self {
            Node::Text(_) => "a text",
            Node::Whole | Node::Decimal => "a number",
            Node::Flag(_) => "true or false",
            Node::List(_) => "a list",
            Node::Table(_) => "a table",
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("a text, a number, a list or a table")
    }

    fn visit_str<E>(self, text: &str) -> std::result::Result<Node, E> {
        Ok(Node::Text(text.to_string()))
    }

    fn visit_bool<E>(self, flag: bool) -> std::result::Result<Node, E> {
        Ok(Node::Flag(flag))
    }

    fn visit_i64<E>(self, _: i64) -> std::result::Result<Node, E> {
        Ok(Node::Whole)
    }

    fn visit_u64<E>(self, _: u64) -> std::result::Result<Node, E> {
        Ok(Node::Whole)
    }

    fn visit_i128<E>(self, _: i128) -> std::result::Result<Node, E> {
        Ok(Node::Whole)
    }

    fn visit_u128<E>(self, _: u128) -> std::result::Result<Node, E> {
        Ok(Node::Whole)
    }

    fn visit_f64<E>(self, _: f64) -> std::result::Result<Node, E> {
        Ok(Node::Decimal)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<Node, A::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = list.next_element()? {
            nodes.push(node);
        }
        Ok(Node::List(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Node, A::Error> {
        let mut table = Table::new();
        // The TOML library passes a date as a table whose key does not occur in the file.
        let no_key = |_| A::Error::custom("expected a text, a number, a list or a table, and not a date");
        while let Some(key) = map.next_key::<Spanned<String>>().map_err(no_key)? {
            table.insert(key, map.next_value()?);
        }
        Ok(Node::Table(table))
    }
}

/// The fields of a table that are still to be read. The fields that were read are the known ones.
pub struct Fields<'a> {
    reader: &'a TomlReader<'a>,
    what: String,
    at: usize,
    left: BTreeMap<&'a Spanned<String>, &'a Spanned<Node>>,
    known: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    /// The fields of a node that must be a table; `what` names it in messages.
    pub fn new(reader: &'a TomlReader<'a>, node: &'a Spanned<Node>, what: &str) -> Result<Self> {
        let at = node.span().start;
        match node.get_ref() {
            Node::Table(table) => {
                let left = table.iter().collect();
                Ok(Fields { reader, what: what.to_string(), at, left, known: Vec::new() })
            }
            other => {
                let why = format!("{what} must be a table, as {{ kind = \"epsilon\", ... }}, and not {}", other.name());
                Err(reader.refuse(at, why))
            }
        }
    }

    /// The file of the table.
    pub fn reader(&self) -> &'a TomlReader<'a> {
        self.reader
    }

    /// The new name of the table in messages.
    pub fn rename(&mut self, what: String) {
        self.what = what;
    }

    /// An error about the table as a whole.
    pub fn refuse(&self, why: impl fmt::Display) -> Error {
        self.reader.refuse(self.at, format!("{}: {why}", self.what))
    }

    /// An error about one of its fields.
    pub fn refuse_field<T>(&self, name: &str, field: &Spanned<T>, why: impl fmt::Display) -> Error {
        self.reader.refuse(field.span().start, format!("{name}: {why}"))
    }

    fn take(&mut self, name: &'static str) -> Option<&'a Spanned<Node>> {
        self.known.push(name);
        let key = self.left.keys().copied().find(|key| key.get_ref() == name)?;
        self.left.remove(key)
    }

    /// A field as a node.
    pub fn node(&mut self, name: &'static str) -> Option<&'a Spanned<Node>> {
        self.take(name)
    }

    /// `true` or `false`; false if it is not given.
    pub fn flag(&mut self, name: &'static str) -> Result<bool> {
        let Some(node) = self.take(name) else { return Ok(false) };
        match node.get_ref() {
            Node::Flag(flag) => Ok(*flag),
            other => Err(self.refuse_field(name, node, format!("must be true or false, and not {}", other.name()))),
        }
    }

    /// A text in quotes.
    pub fn text(&mut self, name: &'static str) -> Result<Option<Spanned<String>>> {
        self.take(name).map(|node| self.text_of(name, node)).transpose()
    }

    fn text_of(&self, name: &str, node: &Spanned<Node>) -> Result<Spanned<String>> {
        match node.get_ref() {
            Node::Text(text) => Ok(Spanned::new(node.span(), text.clone())),
            other => Err(self.refuse_field(name, node, format!("must be a text in quotes, and not {}", other.name()))),
        }
    }

    /// The parts of a list, or the single value in its place.
    fn parts(&mut self, name: &'static str) -> Result<Vec<&'a Spanned<Node>>> {
        let Some(node) = self.take(name) else { return Ok(Vec::new()) };
        match node.get_ref() {
            Node::List(list) if list.is_empty() => Err(self.refuse_field(name, node, "must not be an empty list")),
            Node::List(list) => Ok(list.iter().collect()),
            _ => Ok(vec![node]),
        }
    }

    /// The parts of a list, which may be empty or not given.
    pub fn parts_or_none(&mut self, name: &'static str) -> Result<Vec<&'a Spanned<Node>>> {
        let Some(node) = self.take(name) else { return Ok(Vec::new()) };
        match node.get_ref() {
            Node::List(list) => Ok(list.iter().collect()),
            other => Err(self.refuse_field(name, node, format!("must be a list, and not {}", other.name()))),
        }
    }

    /// Texts in a list, or one alone.
    pub fn texts(&mut self, name: &'static str) -> Result<Vec<Spanned<String>>> {
        let parts = self.parts(name)?;
        parts.into_iter().map(|node| self.text_of(name, node)).collect()
    }

    /// Texts or plain numbers, as written, in a list or one alone: each converted by `read`.
    pub fn read_each<T>(&mut self, name: &'static str, read: impl Fn(&str) -> Result<T>) -> Result<Vec<T>> {
        let parts = self.parts(name)?;
        parts.into_iter().map(|node| self.read(name, node, &read)).collect()
    }

    fn read<T>(&self, name: &str, node: &Spanned<Node>, read: impl Fn(&str) -> Result<T>) -> Result<T> {
        let text = match node.get_ref() {
            Node::Text(text) => text.clone(),
            Node::Whole | Node::Decimal => self.reader.plain_text(node.span()),
            other => return Err(self.refuse_field(name, node, format!("must be a number, and not {}", other.name()))),
        };
        read(&text).map_err(|error| self.refuse_field(name, node, error))
    }

    /// A quantity with a range, such as a delta.
    pub fn quantity<Q: FromStr<Err = Error>>(&mut self, name: &'static str) -> Result<Option<Q>> {
        self.take(name).map(|node| self.read(name, node, str::parse)).transpose()
    }

    /// The same for a required field.
    pub fn needed<Q: FromStr<Err = Error>>(&mut self, name: &'static str) -> Result<Q> {
        let quantity = self.quantity(name)?;
        quantity.ok_or_else(|| self.missing(name, example(name)))
    }

    /// An error about a missing field, and about one that was probably meant to be it.
    pub fn missing(&self, name: &'static str, example: &str) -> Error {
        let left: Vec<&str> = self.left.keys().map(|key| key.get_ref().as_str()).collect();
        let near = nearest(name, &left).first().map_or_else(String::new, |near| format!(" (in place of {near:?})"));
        self.refuse(format!("{name} is missing{near}, as in {name} = {example}"))
    }

    /// An exact number for which `holds`; `expected` says so in words.
    pub fn number(
        &mut self,
        name: &'static str,
        expected: &str,
        holds: fn(&Rational) -> bool,
    ) -> Result<Option<Rational>> {
        let check = |text: &str| {
            let value = crate::numeric::rational::parse(text)?;
            if holds(&value) { Ok(value) } else { Err(Error::out_of_range(name, clip(text), expected)) }
        };
        self.take(name).map(|node| self.read(name, node, check)).transpose()
    }

    /// A whole number of at least 1; 1 if it is not given.
    pub fn times(&mut self, name: &'static str) -> Result<u64> {
        let Some(node) = self.take(name) else { return Ok(1) };
        let exact = match node.get_ref() {
            Node::Text(text) => Exact::Quoted(text.clone()),
            Node::Whole | Node::Decimal => Exact::Plain,
            other => return Err(self.refuse_field(name, node, format!("must be a number, and not {}", other.name()))),
        };
        self.reader.whole(&Spanned::new(node.span(), exact), 1, name)
    }

    /// Refuses unknown fields.
    pub fn finish(self) -> Result<()> {
        let Some(key) = self.left.keys().next() else { return Ok(()) };
        let (name, known) = (key.get_ref(), self.known);
        let why = format!("{}: {}", self.what, unknown("field", name, "it may have", known.iter().copied()));
        Err(self.reader.refuse(key.span().start, why))
    }
}

/// An example of a value of a field.
fn example(name: &str) -> &'static str {
    match name {
        "delta" => "\"1e-10\"",
        "epsilon" => "\"10\"",
        "kind" => "\"epsilon\"",
        _ => "\"0.5\"",
    }
}

/// The node as a value of the TOML library. Whole numbers stay numbers except in the fields `texts`; all others become the
/// text of their digits.
pub fn to_value(reader: &TomlReader, node: &Spanned<Node>, texts: &[&str]) -> Result<Value> {
    value_of(reader, node, texts, false)
}

fn value_of(reader: &TomlReader, node: &Spanned<Node>, texts: &[&str], is_text: bool) -> Result<Value> {
    let inner = |node: &Spanned<Node>, is_text| value_of(reader, node, texts, is_text);
    Ok(match node.get_ref() {
        Node::Whole if is_text => Value::String(reader.plain_text(node.span())),
        Node::Text(text) => Value::String(text.clone()),
        Node::Flag(flag) => Value::Boolean(*flag),
        Node::Decimal => Value::String(reader.plain_text(node.span())),
        Node::Whole => {
            let exact = reader.number(&Spanned::new(node.span(), Exact::Plain))?;
            match exact.numer().to_i64() {
                Some(small) => Value::Integer(small),
                None => Value::String(exact.to_string()),
            }
        }
        Node::List(list) => Value::Array(list.iter().map(|node| inner(node, is_text)).collect::<Result<_>>()?),
        Node::Table(table) => {
            let entry = |(key, node): (&Spanned<String>, &Spanned<Node>)| {
                Ok((key.get_ref().clone(), inner(node, texts.contains(&key.get_ref().as_str()))?))
            };
            Value::Table(table.iter().map(entry).collect::<Result<_>>()?)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::Delta;

    #[derive(Deserialize)]
    struct File {
        compute: Spanned<Node>,
    }

    fn message<T: fmt::Debug>(text: &str, read: impl Fn(&mut Fields) -> Result<T>) -> std::result::Result<T, String> {
        let reader = TomlReader::new("f", text);
        let file: File = reader.toml().map_err(|error| error.to_string())?;
        let read = || {
            let mut fields = Fields::new(&reader, &file.compute, "compute")?;
            let value = read(&mut fields)?;
            fields.finish().map(|()| value)
        };
        read().map_err(|error| error.to_string())
    }

    #[test]
    fn fields_are_read_from_their_digits_and_refused_at_their_place() {
        let delta = |fields: &mut Fields| fields.needed::<Delta>("delta").map(|delta| delta.to_string());
        for right in ["delta = 0.10", "delta = '0.1'", "delta = \"1/10\"", "delta = 1e-1"] {
            assert_eq!(message(&format!("compute = {{ {right} }}"), delta).as_deref(), Ok("0.1"), "{right}");
        }
        for (wrong, said) in [
            ("compute = { delta = 2 }", "f, line 1, column 21: delta: delta = 2 is out of range"),
            ("compute = { delta = inf }", "f, line 1, column 21: delta: \"inf\" is not a number"),
            ("compute = { delta = true }", "delta: must be a number, and not true or false"),
            ("compute = { delta = [0.1] }", "delta: must be a number, and not a list"),
            (
                "compute = { delta = 2020-01-01 }",
                "f, line 1, column 21: expected a text, a number, a list or a table, and not a date",
            ),
            ("compute = { }", "f, line 1, column 11: compute: delta is missing, as in delta = \"1e-10\""),
            ("compute = { delte = 5 }", "delta is missing (in place of \"delte\"), as in"),
            ("compute = 5", "compute must be a table"),
            (
                "[compute]\ndelta = 0.1\ndelte = 5",
                "f, line 3, column 1: compute: unknown field \"delte\", did you mean \"delta\"?",
            ),
        ] {
            let message = message(wrong, delta).unwrap_err();
            assert!(message.contains(said), "{wrong}: {message}");
        }
    }

    #[test]
    fn lists_may_be_one_thing_alone() {
        let names = |fields: &mut Fields| {
            Ok(fields.texts("names")?.into_iter().map(Spanned::into_inner).collect::<Vec<String>>())
        };
        assert_eq!(message("compute = { names = 'a' }", names), Ok(vec!["a".to_string()]));
        assert_eq!(message("compute = { names = ['a', 'b'] }", names).unwrap().len(), 2);
        assert!(message("compute = { names = [] }", names).unwrap_err().contains("empty list"));
        assert!(message("compute = { names = ['a', 5] }", names).unwrap_err().contains("column 27"));
        let times = |fields: &mut Fields| fields.times("group");
        assert_eq!(message("compute = { group = 3 }", times), Ok(3));
        assert!(message("compute = { group = 0.5 }", times).unwrap_err().contains("whole number"));
    }
}
