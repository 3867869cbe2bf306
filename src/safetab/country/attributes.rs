//! Attributes of a person, and the values that they may have.

use std::collections::HashMap;

use toml::Spanned;

use super::file::{AttributeForm, Numbers, Texts};
use crate::{
    error::{Error, Result},
    io::toml_reader::TomlReader,
};

/// The largest number of values of an attribute, and of its columns.
const MOST_VALUES: u64 = 10_000;
const MOST_COLUMNS: usize = 16;
/// The longest name or code, in bytes.
const LONGEST: usize = 100;

/// An attribute of a person.
#[derive(Clone, Debug)]
pub(in crate::safetab) struct Attribute {
    /// Its name.
    pub name: String,
    /// The columns of the records that it is read from. With more than one a person may have several values: one, then any number of
    /// others, then empty cells.
    pub columns: Vec<String>,
    values: Values,
}

#[derive(Clone, Debug)]
enum Values {
    Codes { all: Vec<String>, place: HashMap<Vec<u8>, u32> },
    Numbers { least: u32, most: u32 },
}

/// A name or a code: not empty, without blanks around it or control characters. `what` is the kind of thing that it names.
pub(super) fn name(reader: &TomlReader, text: &Spanned<String>, what: &str) -> Result<String> {
    let given = text.get_ref();
    let wrong = |why: &str| Err(reader.refuse(text.span().start, format!("the {what} {given:?} {why}")));
    match given.as_str() {
        "" => wrong("is empty: give it at least one character"),
        "*" => wrong("stands for a sum in the tables: choose another one"),
        long if long.len() > LONGEST => wrong(&format!("is longer than {LONGEST} bytes")),
        other if other.trim() != other || other.chars().any(char::is_control) => {
            wrong("has blanks around it or control characters, which no cell of a table has")
        }
        other => Ok(other.to_string()),
    }
}

/// Names or codes, each once and at least one; `what` is the kind of thing that they name.
pub(super) fn names(reader: &TomlReader, texts: &Spanned<Texts>, what: &str) -> Result<Vec<String>> {
    let all = texts.get_ref();
    if all.is_empty() {
        return Err(reader.refuse(texts.span().start, format!("the list is empty: give at least one {what}")));
    }
    reader.no_duplicates(all.iter(), what)?;
    all.iter().map(|text| name(reader, text, what)).collect()
}

impl Attribute {
    /// All attributes of a file.
    pub(super) fn all(reader: &TomlReader, forms: &[AttributeForm]) -> Result<Vec<Attribute>> {
        reader.no_duplicates(forms.iter().map(|form| &form.name), "attribute")?;
        let all: Vec<Attribute> = forms.iter().map(|form| Attribute::new(reader, form)).collect::<Result<_>>()?;
        let columns =
            forms.iter().flat_map(|form| form.column.iter().chain(form.columns.iter().flat_map(|all| all.get_ref())));
        reader.no_duplicates(columns, "column")?;
        if all.is_empty() {
            return Err(reader.refuse_file("no [[attribute]]: give those that groups and tables are made of"));
        }
        Ok(all)
    }

    fn new(reader: &TomlReader, form: &AttributeForm) -> Result<Attribute> {
        let at = form.name.span().start;
        let name = name(reader, &form.name, "attribute")?;
        let columns = match (&form.column, &form.columns) {
            (Some(column), None) => vec![self::name(reader, column, "column")?],
            (None, Some(columns)) => names(reader, columns, "column")?,
            _ => return Err(reader.refuse(at, format!("the attribute {name:?} needs either column or columns"))),
        };
        if columns.len() > MOST_COLUMNS {
            return Err(reader.refuse(at, format!("the attribute {name:?} has more than {MOST_COLUMNS} columns")));
        }
        let values = match (&form.codes, &form.numbers) {
            (Some(codes), None) => Values::codes(reader, codes)?,
            (None, Some(range)) if columns.len() == 1 => Values::numbers(reader, range)?,
            (None, Some(_)) => {
                let why = format!("the attribute {name:?} is a number, so a person has one: give it one column");
                return Err(reader.refuse(at, why));
            }
            _ => return Err(reader.refuse(at, format!("the attribute {name:?} needs either codes or numbers"))),
        };
        Ok(Attribute { name, columns, values })
    }

    /// The number of values.
    pub(super) fn count(&self) -> usize {
        match &self.values {
            Values::Codes { all, .. } => all.len(),
            Values::Numbers { least, most } => (most - least) as usize + 1,
        }
    }

    /// The codes; `None` for numbers.
    pub(super) fn codes(&self) -> Option<&[String]> {
        match &self.values {
            Values::Codes { all, .. } => Some(all),
            Values::Numbers { .. } => None,
        }
    }

    /// The range of numbers; `None` for codes.
    pub(super) fn range(&self) -> Option<(u32, u32)> {
        match self.values {
            Values::Codes { .. } => None,
            Values::Numbers { least, most } => Some((least, most)),
        }
    }

    /// The index of the value in a cell.
    pub(super) fn find(&self, cell: &[u8]) -> Option<u32> {
        match &self.values {
            Values::Codes { place, .. } => place.get(cell).copied(),
            Values::Numbers { least, most } => {
                let is_number = !cell.is_empty() && cell.len() < 10 && cell.iter().all(u8::is_ascii_digit);
                let number = std::str::from_utf8(cell).ok().filter(|_| is_number)?.parse::<u32>().ok()?;
                (*least..=*most).contains(&number).then(|| number - least)
            }
        }
    }

    /// The text of a value.
    pub(super) fn text(&self, value: u32) -> String {
        match &self.values {
            Values::Codes { all, .. } => all[value as usize].clone(),
            Values::Numbers { least, .. } => (least + value).to_string(),
        }
    }

    /// The allowed values in words.
    pub(super) fn allowed(&self) -> String {
        match &self.values {
            Values::Codes { all, .. } if all.len() == 1 => format!("the code of {}", self.name),
            Values::Codes { all, .. } => format!("one of the {} codes of {}", all.len(), self.name),
            Values::Numbers { least, most } => format!("a whole number from {least} to {most}"),
        }
    }
}

impl Values {
    fn codes(reader: &TomlReader, codes: &Spanned<Texts>) -> Result<Values> {
        let all = names(reader, codes, "code")?;
        if all.len() as u64 > MOST_VALUES {
            let why = format!("{} codes, and at most {MOST_VALUES} are allowed", all.len());
            return Err(reader.refuse(codes.span().start, why));
        }
        let place = (0..).zip(&all).map(|(place, code)| (code.as_bytes().to_vec(), place)).collect();
        Ok(Values::Codes { all, place })
    }

    fn numbers(reader: &TomlReader, range: &Numbers) -> Result<Values> {
        let refused = |why: &str| -> Error { reader.refuse(range.span().start, why) };
        let [least, most] = &range.get_ref()[..] else {
            return Err(refused("numbers must be the least and the greatest one, as [0, 115]"));
        };
        let [least, most] = [least, most].map(|number| reader.whole(number, 0, "an end of numbers"));
        let (least, most) = (least?, most?);
        if most < least || most - least >= MOST_VALUES || most > 999_999_999 {
            return Err(refused(&format!("numbers must ascend, and be at most {MOST_VALUES} of up to nine digits")));
        }
        Ok(Values::Numbers { least: least as u32, most: most as u32 })
    }
}

/// The index of the attribute with a name; an error names the known ones.
pub(super) fn find(reader: &TomlReader, attributes: &[Attribute], name: &str, at: usize) -> Result<usize> {
    let known = || attributes.iter().map(|attribute| attribute.name.as_str());
    known()
        .position(|known| known == name)
        .ok_or_else(|| reader.refuse(at, crate::error::unknown("attribute", name, "there are", known())))
}

/// The value of an attribute with a code.
pub(super) fn value_of(reader: &TomlReader, of: &Attribute, code: &Spanned<String>) -> Result<u32> {
    let at = code.span().start;
    let Some(codes) = of.codes() else {
        let why = format!("{} is a number, and rules and cells list codes", of.name);
        return Err(reader.refuse(at, why));
    };
    of.find(code.get_ref().as_bytes()).ok_or_else(|| {
        let known = codes.iter().take(20).map(String::as_str);
        reader.refuse(at, crate::error::unknown(&format!("code of {}", of.name), code.get_ref(), "there are", known))
    })
}

/// Whole numbers from 0 that do not descend.
pub(super) fn ascending(reader: &TomlReader, list: &Numbers, what: &str) -> Result<Vec<i64>> {
    let mut all: Vec<i64> = Vec::new();
    for number in list.get_ref() {
        let value = reader.whole(number, 0, what)?;
        let value = i64::try_from(value).ok().filter(|value| all.last().is_none_or(|last| last <= value));
        let Some(value) = value else {
            return Err(reader
                .refuse(number.span().start, format!("{what} must be a whole number not below the one before it")));
        };
        all.push(value);
    }
    Ok(all)
}
