//! Names and codes of a specification.

use toml::Spanned;

use super::file::Texts;
use crate::{error::Result, io::toml_reader::TomlReader};

/// The longest name or code, in bytes.
const LONGEST: usize = 100;

/// A name or a code: not empty, without blanks around it or control characters. `what` is the kind of thing that it names.
pub(super) fn name(reader: &TomlReader, text: &Spanned<String>, what: &str) -> Result<String> {
    let given = text.get_ref();
    let wrong = |why: String| reader.refuse(text.span().start, format!("the {what} {given:?} {why}"));
    check_name(given).map(|()| given.clone()).map_err(wrong)
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

/// Why a text is no name or code, if it is none.
pub(super) fn check_name(text: &str) -> std::result::Result<(), String> {
    match text {
        "" => Err("is empty: give it at least one character".to_string()),
        "*" => Err("stands for a sum in the tables: choose another one".to_string()),
        long if long.len() > LONGEST => Err(format!("is longer than {LONGEST} bytes")),
        other if other.trim() != other || other.chars().any(char::is_control) => {
            Err("has blanks around it or control characters, which no cell of a table has".to_string())
        }
        _ => Ok(()),
    }
}
