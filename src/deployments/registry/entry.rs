//! An entry of the Deployments Registry, read from its YAML by the registry's schema. Anything that the schema does not allow is refused
//! with its line.

use std::path::{Path, PathBuf};

use super::{
    schema::{self, Form},
    text::Figure,
};
use crate::{
    error::{Error, Result, unknown},
    io::{
        date::Date,
        files::file_error,
        yaml_tree::{self, Key, Kind, Place, Scalar, Tree, Value, refuse_at},
    },
    numeric::rational,
};

/// An entry: its file and all its scalars.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The file.
    pub file: String,
    fields: Vec<Read>,
}

/// A text or number of an entry.
#[derive(Clone, Debug)]
pub(super) struct Read {
    /// The path of its field, as `deployment.basic.name`.
    pub(super) path: &'static str,
    pub(super) at: Place,
    pub(super) scalar: Scalar,
}

impl Read {
    /// The field's own name.
    pub(super) fn name(&self) -> &'static str {
        self.path.rsplit('.').next().unwrap_or(self.path)
    }
}

/// A privacy parameter of an entry.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    pub(super) figure: Figure,
    pub(super) line: usize,
}

impl Entry {
    /// Reads the entries of a file, or of all files of a folder whose names end in `.yaml` or `.yml`. All errors are reported together.
    pub fn read_all(path: &Path) -> Result<Vec<Entry>> {
        let files = if path.is_dir() { files_of(path)? } else { vec![path.to_path_buf()] };
        let (mut entries, mut wrong) = (Vec::new(), Vec::new());
        for file in files {
            let read = yaml_tree::read_file(&file).and_then(|tree| Entry::of_tree(&crate::error::shown(&file), &tree));
            match read {
                Ok(entry) => entries.push(entry),
                Err(error) => wrong.push(error),
            }
        }
        Error::of_all(wrong)?;
        Ok(entries)
    }

    /// Reads an entry from a text; `file` names it in messages.
    pub fn parse(file: &str, text: &str) -> Result<Entry> {
        Entry::of_tree(file, &yaml_tree::read(file, text)?)
    }

    fn of_tree(file: &str, tree: &Tree) -> Result<Entry> {
        let mut reader = Reader { file, fields: Vec::new(), wrong: Vec::new() };
        reader.map("", tree);
        Error::of_all(reader.wrong)?;
        let entry = Entry { file: file.to_string(), fields: reader.fields };
        ["epsilon", "delta", "rho"].iter().try_for_each(|name| entry.parameter(name).map(|_| ()))?;
        Ok(entry)
    }

    /// All scalars, in the order of the file.
    pub(super) fn all(&self) -> &[Read] {
        &self.fields
    }

    /// The field of this name.
    pub(super) fn field(&self, name: &str) -> Option<&Read> {
        self.fields.iter().find(|read| read.name() == name)
    }

    /// The text of the field of this name; nothing where it is empty.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.field(name).map(|read| read.scalar.text.trim()).filter(|text| !text.is_empty())
    }

    /// A privacy parameter; `None` if it is not given or is a formula. An error outside of its range.
    pub(super) fn parameter(&self, name: &str) -> Result<Option<Parameter>> {
        let Some(read) = self.field(name) else { return Ok(None) };
        let text = read.scalar.text.trim().to_string();
        let number = rational::parse(&text).ok().filter(|_| !text.contains('/'));
        let value = match (number, read.scalar.kind()) {
            (Some(value), _) => value,
            (None, Kind::Text) if name == "delta" => return Ok(None),
            (None, _) => {
                let why = format!("{name}: {text:?} is not a decimal number, such as 4.0 or 1e-7");
                return Err(refuse_at(&self.file, read.at, why));
            }
        };
        let (holds, expected) = match name {
            "delta" => ((0..1).contains(&value), "0 <= delta < 1"),
            _ => (value > 0 && value <= 1_000_000, "a positive number of at most 1000000"),
        };
        if !holds {
            let why = format!("{name}: {text} is out of range: expected {expected}");
            return Err(refuse_at(&self.file, read.at, why));
        }
        let half = rational::unit_of_last_digit(&text) / 2_u32;
        Ok(Some(Parameter { figure: Figure { text, value, half }, line: read.at.line }))
    }
}

/// The YAML files of a folder in the order of their names; at least one.
fn files_of(folder: &Path) -> Result<Vec<PathBuf>> {
    let wrong = |why: String| file_error(folder, why);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|why| wrong(why.to_string()))? {
        let path = entry.map_err(|why| wrong(why.to_string()))?.path();
        let is_yaml = path.extension().is_some_and(|end| end == "yaml" || end == "yml");
        if is_yaml && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(wrong("has no file whose name ends in .yaml: expected the entries of the registry".to_string()));
    }
    Ok(files)
}

struct Reader<'a> {
    file: &'a str,
    fields: Vec<Read>,
    wrong: Vec<Error>,
}

impl Reader<'_> {
    fn refuse(&mut self, at: Place, path: &str, why: &str) {
        let what = if path.is_empty() { String::new() } else { format!("{path}: ") };
        self.wrong.push(refuse_at(self.file, at, format!("{what}{why}")));
    }

    /// Reads a map whose path is in the schema.
    fn map(&mut self, path: &str, tree: &Tree) {
        let Value::Map(map) = &tree.value else {
            return self.refuse(tree.at, path, &format!("must be a map of fields, and not {}", kind(tree)));
        };
        for (key, value) in map {
            self.member(path, key, value);
        }
        for (name, field) in schema::names_below(path).filter(|(_, field)| field.is_needed) {
            if !map.iter().any(|(key, _)| key.name == name) {
                self.refuse(tree.at, path, &format!("the field {} is missing", field.path));
            }
        }
    }

    fn member(&mut self, parent: &str, key: &Key, tree: &Tree) {
        let path = if parent.is_empty() { key.name.clone() } else { format!("{parent}.{}", key.name) };
        let Some(field) = schema::field(&path) else {
            let known = schema::names_below(parent).map(|(name, _)| name);
            return self.refuse(key.at, parent, &unknown("field", &key.name, "the registry's schema has", known));
        };
        match (field.form, &tree.value) {
            (Form::Map, _) => self.map(&path, tree),
            (Form::Texts, Value::List(list)) if !list.is_empty() => {
                for one in list {
                    match &one.value {
                        Value::Scalar(scalar) if scalar.kind() == Kind::Text => self.keep(field.path, one.at, scalar),
                        _ => self.refuse(one.at, &path, &format!("must be a list of texts, and not of {}", kind(one))),
                    }
                }
            }
            (_, Value::Scalar(scalar)) => match fits(field.form, scalar) {
                Ok(()) => self.keep(field.path, tree.at, scalar),
                Err(why) => self.refuse(tree.at, &path, &why),
            },
            (Form::Texts, _) => self.refuse(tree.at, &path, "must be a list of at least one text"),
            _ => self.refuse(tree.at, &path, &format!("must be a text or a number, and not {}", kind(tree))),
        }
    }

    fn keep(&mut self, path: &'static str, at: Place, scalar: &Scalar) {
        self.fields.push(Read { path, at, scalar: scalar.clone() });
    }
}

fn kind(tree: &Tree) -> &'static str {
    match &tree.value {
        Value::Scalar(scalar) => scalar.kind().words(),
        Value::List(_) => "a list",
        Value::Map(_) => "a map",
    }
}

/// Whether a scalar has the form of its field; otherwise why not.
fn fits(form: Form, scalar: &Scalar) -> std::result::Result<(), String> {
    let (kind, text) = (scalar.kind(), scalar.text.as_str());
    let is_date = text.parse::<Date>().is_ok();
    let expected = |expected: &str| Err(format!("must be {expected}, and not {}", kind.words()));
    if scalar.is_folded {
        return Err(
            "must not be folded text (>), whose line breaks are lost and with them its Markdown: write |".to_string()
        );
    }
    match form {
        Form::Text if kind != Kind::Text => expected("a text"),
        Form::Number if kind != Kind::Number => expected("a number without quotes"),
        Form::NumberOrText if !matches!(kind, Kind::Text | Kind::Number) => expected("a number or a text"),
        Form::Tier if !(kind == Kind::Number && ["1", "2", "3"].contains(&text)) => {
            Err(format!("must be 1, 2 or 3, and not {text:?}"))
        }
        // Without quotes, readers of YAML 1.1 take it for a date and not for a text.
        Form::Date if scalar.is_plain && is_date => Err(format!("must be in quotes: \"{text}\"")),
        Form::Date if !is_date => Err(format!("must be a date in the form YYYY-MM-DD, and not {text:?}")),
        Form::OneOf(known) if !known.contains(&text) => {
            Err(unknown("value", text, "the registry's schema has", known.iter().copied()))
        }
        Form::Map | Form::Texts => expected("a map or a list"),
        _ => Ok(()),
    }
}
