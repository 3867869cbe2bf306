//! Reading a TOML file: every refusal names the file, the line and the column.

use std::fmt;

use rug::{Integer, Rational};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, Visitor},
};
use toml::Spanned;

use crate::{
    error::{Error, Result, unknown},
    numeric::rational,
};

/// A number of a TOML file, exact: a decimal or a whole number as written, or a quoted decimal or fraction.
///
/// Only the text is kept. A plain number is read again from its digits in the file, so that 0.1 is one tenth and not the
/// nearest double.
#[derive(Debug)]
pub enum Exact {
    /// A quoted number.
    Quoted(String),
    /// A plain number, to be read from the file.
    Plain,
}

impl<'de> Deserialize<'de> for Exact {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(ExactVisitor)
    }
}

struct ExactVisitor;

impl Visitor<'_> for ExactVisitor {
    type Value = Exact;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("a number, as 5, 0.25 or 1e-11, or a fraction in quotes, as \"104/4099\"")
    }

    fn visit_str<E>(self, text: &str) -> std::result::Result<Exact, E> {
        Ok(Exact::Quoted(text.to_string()))
    }

    fn visit_i64<E>(self, _: i64) -> std::result::Result<Exact, E> {
        Ok(Exact::Plain)
    }

    fn visit_u64<E>(self, _: u64) -> std::result::Result<Exact, E> {
        Ok(Exact::Plain)
    }

    fn visit_i128<E>(self, _: i128) -> std::result::Result<Exact, E> {
        Ok(Exact::Plain)
    }

    fn visit_u128<E>(self, _: u128) -> std::result::Result<Exact, E> {
        Ok(Exact::Plain)
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> std::result::Result<Exact, E> {
        // The double is used only to detect inf and nan, which have no digits.
        if value.is_finite() { Ok(Exact::Plain) } else { Err(E::custom("the number must be finite")) }
    }
}

/// A TOML file that is being read: its name, for messages, and its text.
pub struct TomlReader<'a> {
    file: &'a str,
    text: &'a str,
}

impl<'a> TomlReader<'a> {
    /// A reader of `text`; `file` names it in messages.
    pub fn new(file: &'a str, text: &'a str) -> Self {
        TomlReader { file, text }
    }

    /// The name of the file.
    #[cfg(feature = "mechanisms")]
    pub fn file(&self) -> &'a str {
        self.file
    }

    /// The text as TOML of the form that `T` describes.
    pub fn toml<T: DeserializeOwned>(&self) -> Result<T> {
        toml::from_str(self.text).map_err(|error| {
            let why = with_near_name(&error.message().replace('\n', " "));
            match error.span() {
                Some(span) => self.refuse(span.start, self.in_own_words(&span, why)),
                None => self.refuse_file(why),
            }
        })
    }

    /// The TOML library's error about a file that is no TOML, in terms of what was found and what is allowed.
    fn in_own_words(&self, span: &std::ops::Range<usize>, why: String) -> String {
        let line = self.text.get(span.start..).and_then(|rest| rest.lines().next()).unwrap_or_default().trim();
        let clip = |text: &str| text.chars().take(40).collect::<String>();
        if why.contains("invalid boolean") || why.contains("must be quoted") {
            let word = clip(line.split([',', '#', ']', '}']).next().unwrap_or_default().trim());
            return format!(
                "{word:?} is no value: expected a number, a text in quotes, true or false, a list [...] or a table {{ ... }}"
            );
        }
        if why.contains("key with no value") {
            return format!(
                "{:?} is neither a comment, nor a [table], nor NAME = VALUE",
                clip(self.line_at(span.start))
            );
        }
        why
    }

    /// The line of a place in the text.
    fn line_at(&self, at: usize) -> &'a str {
        let start = self.text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
        self.text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default().trim()
    }

    /// An error about the place at byte `at` of the text.
    pub fn refuse(&self, at: usize, why: impl Into<String>) -> Error {
        let Some(before) = self.text.get(..at) else { return self.refuse_file(why) };
        let last_line = before.rsplit('\n').next().unwrap_or("");
        let (line, column) = (before.matches('\n').count() + 1, last_line.chars().count() + 1);
        Error::DataFile { file: self.file.to_string(), line, column, why: why.into() }
    }

    /// The line of byte `at` of the text, counted from one; zero beyond its end.
    #[cfg(feature = "mechanisms")]
    pub fn line(&self, at: usize) -> usize {
        self.text.get(..at).map_or(0, |before| before.matches('\n').count() + 1)
    }

    /// An error about the file as a whole.
    pub fn refuse_file(&self, why: impl Into<String>) -> Error {
        Error::DataFile { file: self.file.to_string(), line: 0, column: 0, why: why.into() }
    }

    /// An exact number.
    pub fn number(&self, field: &Spanned<Exact>) -> Result<Rational> {
        let read = match field.get_ref() {
            Exact::Quoted(text) => rational::parse(text),
            Exact::Plain => plain(self.text.get(field.span()).unwrap_or_default()),
        };
        read.map_err(|error| self.refuse(field.span().start, error.to_string()))
    }

    /// A number as written: the quoted text, or the digits.
    pub(crate) fn text(&self, field: &Spanned<Exact>) -> String {
        match field.get_ref() {
            Exact::Quoted(text) => text.trim().to_string(),
            Exact::Plain => self.text.get(field.span()).unwrap_or_default().trim().replace('_', ""),
        }
    }

    /// The digits of a plain number as written in the file.
    #[cfg(feature = "mechanisms")]
    pub fn plain_text(&self, span: std::ops::Range<usize>) -> String {
        self.text.get(span).unwrap_or_default().trim().replace('_', "")
    }

    /// An exact number above 0; `what` names it in messages.
    pub fn positive(&self, field: &Spanned<Exact>, what: &str) -> Result<Rational> {
        let value = self.number(field)?;
        if value <= 0 {
            return Err(self.refuse(field.span().start, format!("{what} must be above 0")));
        }
        Ok(value)
    }

    /// A whole number of at least `least`; `what` names it in messages.
    pub fn whole(&self, field: &Spanned<Exact>, least: u64, what: &str) -> Result<u64> {
        let value = self.number(field)?;
        let whole = value.is_integer().then(|| value.numer().to_u64()).flatten().filter(|whole| *whole >= least);
        whole.ok_or_else(|| {
            let why = format!("{what} must be a whole number, at least {least}, and not {}", rational::display(&value));
            self.refuse(field.span().start, why)
        })
    }

    /// The same with a default for a missing number.
    pub fn whole_or(&self, field: Option<&Spanned<Exact>>, least: u64, default: u64, what: &str) -> Result<u64> {
        field.map_or(Ok(default), |field| self.whole(field, least, what))
    }

    /// Refuses a name that occurs twice; `what` is the kind of thing that it names.
    pub fn no_duplicates<'s>(&self, names: impl Iterator<Item = &'s Spanned<String>>, what: &str) -> Result<()> {
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

/// The message of the TOML library, which quotes an unknown name and then the known ones, with the name that was
/// probably meant.
pub fn with_near_name(why: &str) -> String {
    if !why.starts_with("unknown ") {
        return why.to_string();
    }
    let mut quoted = why.split('`').skip(1).step_by(2);
    let kind = why.split(' ').nth(1).unwrap_or_default();
    match quoted.next() {
        Some(name) if kind == "field" => unknown(kind, name, "it may have", quoted),
        Some(name) => unknown("name", name, "there are", quoted),
        None => why.to_string(),
    }
}

/// A plain number of TOML from its text: `_` may separate digits, and whole numbers may have another base.
fn plain(text: &str) -> Result<Rational> {
    let digits = text.trim().replace('_', "");
    for (prefix, base) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(whole) = digits.strip_prefix(prefix).and_then(|whole| Integer::parse_radix(whole, base).ok()) {
            return Ok(Rational::from(Integer::from(whole)));
        }
    }
    rational::parse(&digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Form {
        names: Vec<Spanned<String>>,
        number: Spanned<Exact>,
    }

    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Strict {
        #[serde(rename = "names")]
        _names: Vec<String>,
        #[serde(rename = "number")]
        _number: i64,
    }

    #[derive(serde::Deserialize)]
    struct Numbers {
        numbers: Vec<Spanned<Exact>>,
    }

    #[test]
    fn plain_numbers_are_read_from_their_digits() {
        let text = "\u{feff}# é\nnumbers = [0.1, 1e-11, 100, -2.50, +3, 1_000.5, 0xff, 0b101, 12345678901234567890,                     '104/4099', \"0.30\", 0.1000000000000000055511151231257827]\n";
        let reader = TomlReader::new("numbers.toml", text);
        let form: Numbers = reader.toml().unwrap();
        let read: Vec<String> = form.numbers.iter().map(|number| reader.number(number).unwrap().to_string()).collect();
        let last = "1000000000000000055511151231257827/10000000000000000000000000000000000";
        assert_eq!(
            read,
            [
                "1/10",
                "1/100000000000",
                "100",
                "-5/2",
                "3",
                "2001/2",
                "255",
                "5",
                "12345678901234567890",
                "104/4099",
                "3/10",
                last
            ]
        );
        for wrong in ["inf", "nan", "true", "[1]", "'x'", "2020-01-01"] {
            let text = format!("numbers = [1, {wrong}]\n");
            let reader = TomlReader::new("numbers.toml", &text);
            let read = reader.toml::<Numbers>().and_then(|form| reader.number(&form.numbers[1]));
            let message = read.unwrap_err().to_string();
            assert!(message.contains("line 1, column 15"), "{wrong}: {message}");
        }
    }

    #[test]
    fn whole_numbers_are_whole() {
        let reader = TomlReader::new("f", "numbers = [3, '3', 3.0, 30e-1, 0, 0.5, -1, 1e30]");
        let form: Numbers = reader.toml().unwrap();
        let (right, wrong) = form.numbers.split_at(4);
        assert!(right.iter().all(|number| reader.whole(number, 1, "count").unwrap() == 3));
        for number in wrong {
            let message = reader.whole(number, 1, "count").unwrap_err().to_string();
            assert!(message.contains("count must be a whole number, at least 1, and not "), "{message}");
        }
        assert_eq!(reader.whole_or(None, 1, 7, "count").unwrap(), 7);
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
        let unknown = TomlReader::new("form.toml", "names = []\nnumbr = 1\n").toml::<Strict>().err().unwrap();
        assert!(message(unknown).contains("unknown field \"numbr\", did you mean \"number\"? It may have "));
        for (text, said) in [
            ("number = twelve # a dozen\n", "line 1, column 10: \"twelve\" is no value: expected a number"),
            ("names = []\nPNG and more\n", "\"PNG and more\" is neither a comment"),
        ] {
            let wrong = message(TomlReader::new("form.toml", text).toml::<Form>().err().unwrap());
            assert!(wrong.contains(said), "{wrong}");
        }
        let unfinished = TomlReader::new("form.toml", "names = [\n").toml::<Form>();
        assert!(message(unfinished.err().unwrap()).starts_with("form.toml, line "));
    }
}
