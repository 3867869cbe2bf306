//! Reading a TOML file: every refusal names the file, the line and the column.

use rug::Rational;
use serde::de::DeserializeOwned;
use toml::Spanned;

use crate::{
    error::{Error, Result},
    numeric::rational,
};

/// A TOML file that is being read: its name, for messages, and its text.
pub(crate) struct TomlReader<'a> {
    file: &'a str,
    text: &'a str,
}

impl<'a> TomlReader<'a> {
    /// A reader of `text`; `file` names it in messages.
    pub(crate) fn new(file: &'a str, text: &'a str) -> Self {
        TomlReader { file, text }
    }

    /// The text as TOML of the form that `T` describes.
    pub(crate) fn toml<T: DeserializeOwned>(&self) -> Result<T> {
        toml::from_str(self.text).map_err(|error| {
            let why = error.message().replace('\n', " ");
            match error.span() {
                Some(span) => self.refuse(span.start, why),
                None => self.refuse_file(why),
            }
        })
    }

    /// An error about the place that is `at` bytes into the text.
    pub(crate) fn refuse(&self, at: usize, why: impl Into<String>) -> Error {
        let Some(before) = self.text.get(..at) else { return self.refuse_file(why) };
        let last_line = before.rsplit('\n').next().unwrap_or("");
        let (line, column) = (before.matches('\n').count() + 1, last_line.chars().count() + 1);
        Error::DataFile { file: self.file.to_string(), line, column, why: why.into() }
    }

    /// An error about the file as a whole.
    pub(crate) fn refuse_file(&self, why: impl Into<String>) -> Error {
        Error::DataFile { file: self.file.to_string(), line: 0, column: 0, why: why.into() }
    }

    /// An exact number.
    pub(crate) fn number(&self, text: &Spanned<String>) -> Result<Rational> {
        rational::parse(text.get_ref()).map_err(|error| self.refuse(text.span().start, error.to_string()))
    }

    /// An exact number above 0; `what` names it in messages.
    pub(crate) fn positive(&self, text: &Spanned<String>, what: &str) -> Result<Rational> {
        let value = self.number(text)?;
        if value <= 0 {
            return Err(self.refuse(text.span().start, format!("{what} must be above 0")));
        }
        Ok(value)
    }

    /// Refuses a name that occurs twice; `what` says what it names.
    pub(crate) fn no_duplicates<'s>(&self, names: impl Iterator<Item = &'s Spanned<String>>, what: &str) -> Result<()> {
        let mut seen: Vec<&str> = Vec::new();
        for name in names {
            if seen.contains(&name.get_ref().as_str()) {
                return Err(self.refuse(name.span().start, format!("the {what} {:?} occurs twice", name.get_ref())));
            }
            seen.push(name.get_ref());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Form {
        names: Vec<Spanned<String>>,
        number: Spanned<String>,
    }

    #[test]
    fn refusals_name_the_file_the_line_and_the_column() {
        let text = "names = ['é', 'b']\nnumber = '-2'\n";
        let reader = TomlReader::new("form.toml", text);
        let form: Form = reader.toml().unwrap();
        assert_eq!(reader.number(&form.number).unwrap(), -2);
        let message = |error: Error| error.to_string();
        assert_eq!(
            message(reader.positive(&form.number, "the number").unwrap_err()),
            "form.toml, line 2, column 10: the number must be above 0"
        );
        assert!(reader.no_duplicates(form.names.iter(), "name").is_ok());
        let twice = form.names.iter().chain(&form.names[1..]);
        // Columns count characters, not bytes.
        assert_eq!(
            message(reader.no_duplicates(twice, "name").unwrap_err()),
            "form.toml, line 1, column 15: the name \"b\" occurs twice"
        );
        assert_eq!(message(reader.refuse_file("is wrong")), "form.toml: is wrong");
        assert_eq!(message(reader.refuse(usize::MAX, "is wrong")), "form.toml: is wrong");
        let unfinished = TomlReader::new("form.toml", "names = [\n").toml::<Form>();
        assert!(message(unfinished.err().unwrap()).starts_with("form.toml, line "));
    }
}
