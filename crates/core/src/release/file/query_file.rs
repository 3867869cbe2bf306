//! The fields of a query in a file: texts, and numbers by their names. The parameters of laws are those of the table of laws.

use std::{collections::BTreeMap, fmt, sync::LazyLock};

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, Visitor},
};
use toml::Spanned;

use crate::{io::toml_reader::Exact, loss::law::Law};

/// The fields that are numbers and parameters of no law.
const NUMBERS: [&str; 8] = ["proportion", "rho", "times", "cells", "sensitivity", "rows", "moves", NOISE_MULTIPLIER];
/// The square root of sigma2 of steps of DP-SGD.
pub(super) const NOISE_MULTIPLIER: &str = "noise_multiplier";
/// Another name of `sensitivity`.
const SHIFT: &str = "shift";

/// The parameters of all laws, by their names.
static PARAMETERS: LazyLock<Vec<&'static str>> = LazyLock::new(Law::parameter_names);

/// All fields, for messages.
static FIELDS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let texts = ["name", "law", "kind"];
    texts.into_iter().chain(PARAMETERS.iter().copied()).chain(NUMBERS).chain([SHIFT]).collect()
});

/// A query as it is written.
pub(super) struct QueryFile {
    pub name: Spanned<String>,
    pub law: Option<Spanned<String>>,
    pub kind: Option<Spanned<String>>,
    numbers: BTreeMap<&'static str, Spanned<Exact>>,
}

impl QueryFile {
    /// A number by the name of its field.
    pub fn number(&self, name: &str) -> Option<&Spanned<Exact>> {
        self.numbers.get(name)
    }

    /// The parameters of laws that are given, by their names.
    pub fn parameters(&self) -> impl Iterator<Item = (&'static str, &Spanned<Exact>)> {
        PARAMETERS.iter().filter_map(|name| Some((*name, self.number(name)?)))
    }
}

/// The name of a field.
enum Field {
    Name,
    Law,
    Kind,
    Number(&'static str),
}

impl<'de> Deserialize<'de> for Field {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_identifier(FieldVisitor)
    }
}

struct FieldVisitor;

impl Visitor<'_> for FieldVisitor {
    type Value = Field;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("the name of a field")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Field, E> {
        let fields: &'static [&'static str] = FIELDS.as_slice();
        match fields.iter().find(|known| **known == text) {
            None => Err(E::unknown_field(text, fields)),
            Some(&"name") => Ok(Field::Name),
            Some(&"law") => Ok(Field::Law),
            Some(&"kind") => Ok(Field::Kind),
            Some(&SHIFT) => Ok(Field::Number("sensitivity")),
            Some(number) => Ok(Field::Number(number)),
        }
    }
}

impl<'de> Deserialize<'de> for QueryFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct("QueryFile", FIELDS.as_slice(), QueryVisitor)
    }
}

struct QueryVisitor;

impl<'de> Visitor<'de> for QueryVisitor {
    type Value = QueryFile;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("a table, as { name = \"total\", sigma2 = 5 }")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<QueryFile, A::Error> {
        let (mut name, mut law, mut kind, mut numbers) = (None, None, None, BTreeMap::new());
        while let Some(field) = map.next_key()? {
            match field {
                Field::Name => name = Some(map.next_value()?),
                Field::Law => law = Some(map.next_value()?),
                Field::Kind => kind = Some(map.next_value()?),
                // The two names of one field.
                Field::Number(number) => {
                    if numbers.insert(number, map.next_value()?).is_some() {
                        return Err(A::Error::duplicate_field(number));
                    }
                }
            }
        }
        Ok(QueryFile { name: name.ok_or_else(|| A::Error::missing_field("name"))?, law, kind, numbers })
    }
}
