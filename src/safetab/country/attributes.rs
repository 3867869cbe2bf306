//! Attributes of a person, and the values that they may have.

use std::collections::HashMap;

use toml::Spanned;

use super::{
    companions::Companions,
    file::{AttributeForm, Numbers},
    names::{self, names},
};
use crate::{
    error::{Error, Result},
    io::toml_reader::TomlReader,
};

/// The largest number of values of an attribute, and of its columns.
const MOST_VALUES: u64 = 10_000;
const MOST_COLUMNS: usize = 16;

/// An attribute of a person.
#[derive(Clone, Debug)]
pub(in crate::safetab) struct Attribute {
    /// Its name.
    pub name: String,
    /// The columns of the records that it is read from. With more than one a person may have several values: one, then any number of
    /// others, then empty cells.
    pub columns: Vec<String>,
    /// The text of a column after the first without a value, beside an empty cell.
    none: Option<String>,
    values: Values,
}

#[derive(Clone, Debug)]
enum Values {
    Codes { all: Vec<String>, place: HashMap<Vec<u8>, u32> },
    Numbers { least: u32, most: u32 },
}

impl Attribute {
    /// All attributes of a file.
    pub(super) fn all(beside: &Companions, forms: &[AttributeForm]) -> Result<Vec<Attribute>> {
        let reader = beside.reader;
        reader.no_duplicates(forms.iter().map(|form| &form.name), "attribute")?;
        let all: Vec<Attribute> = forms.iter().map(|form| Attribute::new(beside, form)).collect::<Result<_>>()?;
        let columns =
            forms.iter().flat_map(|form| form.column.iter().chain(form.columns.iter().flat_map(|all| all.get_ref())));
        reader.no_duplicates(columns, "column")?;
        if all.is_empty() {
            return Err(reader.refuse_file("no [[attribute]]: give those that groups and tables are made of"));
        }
        Ok(all)
    }

    fn new(beside: &Companions, form: &AttributeForm) -> Result<Attribute> {
        let (reader, at) = (beside.reader, form.name.span().start);
        let name = names::name(reader, &form.name, "attribute")?;
        let columns = match (&form.column, &form.columns) {
            (Some(column), None) => vec![names::name(reader, column, "column")?],
            (None, Some(columns)) => names(reader, columns, "column")?,
            _ => return Err(reader.refuse(at, format!("the attribute {name:?} needs either column or columns"))),
        };
        if columns.len() > MOST_COLUMNS {
            return Err(reader.refuse(at, format!("the attribute {name:?} has more than {MOST_COLUMNS} columns")));
        }
        let values = match (&form.codes, &form.codes_from, &form.numbers) {
            (Some(codes), None, None) => Values::codes(reader, names(reader, codes, "code")?, codes.span().start)?,
            (None, Some(from), None) => Values::codes(reader, beside.column(from.get_ref())?, from.span().start)?,
            (None, None, Some(range)) if columns.len() == 1 => Values::numbers(reader, range)?,
            (None, None, Some(_)) => {
                let why = format!("the attribute {name:?} is a number, so a person has one: give it one column");
                return Err(reader.refuse(at, why));
            }
            _ => {
                let why =
                    format!("the attribute {name:?} needs either codes or numbers; codes_from reads codes from a file");
                return Err(reader.refuse(at, why));
            }
        };
        let none = form.none.as_ref().map(|none| names::name(reader, none, "text without a value")).transpose()?;
        let attribute = Attribute { name, columns, none, values };
        if let (Some(none), Some(form)) = (&attribute.none, &form.none) {
            let why = match (attribute.columns.len(), attribute.find(none.as_bytes())) {
                (1, _) => "the attribute has one column, so every person has a value: leave none out".to_string(),
                (_, Some(_)) => format!("{none:?} is a code of the attribute, so it cannot stand for no value"),
                (_, None) => return Ok(attribute),
            };
            return Err(reader.refuse(form.span().start, why));
        }
        Ok(attribute)
    }

    /// Whether a cell of a column after the first has no value.
    pub(super) fn is_none(&self, cell: &[u8]) -> bool {
        cell.is_empty() || self.none.as_ref().is_some_and(|none| none.as_bytes() == cell)
    }

    /// A column without a value in words.
    pub(super) fn none_in_words(&self) -> String {
        self.none.as_ref().map_or("an empty cell".to_string(), |none| format!("{none:?} or an empty cell"))
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
    fn codes(reader: &TomlReader, all: Vec<String>, at: usize) -> Result<Values> {
        if all.is_empty() || all.len() as u64 > MOST_VALUES {
            let why = format!("{} codes, and 1 to {MOST_VALUES} are allowed", all.len());
            return Err(reader.refuse(at, why));
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
