//! A published value as data: the printed text, how to read it, and its recomputation.

use rug::Rational;
use serde_json::{Map, Value};

use super::{
    account_claims::AccountClaim, claims::Claim, printed::Stated, registry::Kind, unit::Unit, verdict::Verdict,
};
use crate::{error::Error, numeric::Enclosure};

/// The published values of one paper.
#[derive(Clone, Debug, Default)]
pub struct Paper {
    /// Its key on the command line.
    pub paper: String,
    /// Its title.
    pub title: String,
    /// Its values, in the order of the paper.
    pub values: Vec<Published>,
    /// The file from which it was read; the key of a bundled paper.
    pub file: String,
    /// Whether it is bundled.
    pub is_bundled: bool,
    /// The bundled paper whose settings the kind `safetab` takes; its own if absent.
    pub settings: Option<String>,
    /// The releases that its values name: bundled ones, and files as paths from the working directory.
    pub releases: Vec<String>,
}

/// One printed value, as a claim.
#[derive(Clone, Debug)]
pub struct Published {
    /// A key that is unique within the paper.
    pub id: String,
    /// The place in the paper: section, table or figure.
    pub place: String,
    /// The text as printed.
    pub printed: String,
    /// The meaning of the text.
    pub stated: Stated,
    /// The number of significant digits printed; none for a fraction or a statement.
    pub digits: u32,
    /// The kind of number, and how to read it.
    pub unit: Unit,
    /// The computation of the value.
    pub compute: Compute,
    /// The remarks of the file on it, which decide how a difference is judged.
    pub remarks: Remarks,
    /// The line of the file at which the value begins.
    pub line: usize,
}

/// The remarks on a value.
#[derive(Clone, Debug, Default)]
pub struct Remarks {
    /// A remark for the reader.
    pub note: Option<String>,
    /// The reason why the printed value is wrong, for a row that is known to differ.
    pub erratum: Option<String>,
    /// The fault that the value shows, a key that several values can share; the value's own if it is absent.
    pub fault: Option<String>,
    /// What the text is where it is not simply wrong.
    pub fault_kind: Option<Verdict>,
    /// What the text does not say and the test chose, such as a margin or a tolerance: such a test disproves nothing.
    pub chosen: Option<String>,
    /// Whether the file from which the release was built has the value, so that agreement is no evidence.
    pub is_circular: bool,
    /// Whether the source of the printed value prints every number of the computation as well, so that a difference is a contradiction of
    /// the source with itself.
    pub same_source: bool,
    /// Another computation that gives the printed value or comes close to it: presumably what the paper computed
    /// instead.
    pub printed_by: Option<Compute>,
    /// Other readings of the printed text: if one of them agrees and the plain one does not, the row agrees as read.
    pub readings: Vec<Beside>,
    /// Other numbers that the remarks mention; they do not affect the verdict.
    pub beside: Vec<Beside>,
}

/// Another computation with its description.
#[derive(Clone, Debug)]
pub struct Beside {
    /// The description.
    pub words: String,
    /// The computation.
    pub compute: Compute,
}

impl Published {
    /// The text as printed, with the qualifier of its unit; a fraction with its decimal beside it.
    pub fn shown(&self) -> String {
        const DIGITS: usize = 10;
        let words = match (&self.stated, self.unit) {
            (Stated::NotPrinted, _) => return self.printed.clone(),
            (_, Unit::Bound) => ("<= ", ""),
            (_, Unit::Least | Unit::LeastPercent) => (">= ", ""),
            (_, Unit::About) => ("about ", ""),
            (_, Unit::Truncated) => ("", " (truncated)"),
            (_, Unit::RoundedUpAtDigit) => ("", " (rounded up)"),
            _ => ("", ""),
        };
        // A text that contains the qualifier is shown unchanged.
        let says_it = !self.printed.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
            || self.printed.ends_with(|c: char| !c.is_ascii_digit() && c != '%');
        let (before, after) = if says_it { ("", "") } else { words };
        match self.fraction() {
            Some(value) => {
                let decimal = Enclosure::rational(&value, 200).shown(DIGITS);
                format!("{before}{}{after} = {decimal}", self.printed)
            }
            None => format!("{before}{}{after}", self.printed),
        }
    }

    /// The number, if it is printed as a fraction whose decimal is not obvious.
    pub fn fraction(&self) -> Option<Rational> {
        let value = self.stated.number().filter(|_| self.printed.contains('/'))?;
        (*value.denom() != 1).then_some(value)
    }

    /// The computation: the kind, and everything that it depends on, by name.
    pub fn asked(&self) -> Map<String, Value> {
        self.compute.asked()
    }

    /// The computation in a line.
    pub fn asked_in_words(&self) -> String {
        let word = |(name, value): (&String, &Value)| {
            let text = plain(value);
            if matches!(name.as_str(), "kind" | "release" | "level" | "neighbors") {
                text
            } else {
                format!("{name} = {text}")
            }
        };
        self.asked().iter().map(word).collect::<Vec<_>>().join("; ")
    }

    /// An error of its computation, with its position in the file.
    pub(super) fn refuse(&self, paper: &Paper, error: &Error) -> Error {
        let why = format!("the value {:?}: {error}", self.id);
        Error::DataFile { file: paper.file.clone(), line: self.line, column: 0, why }
    }
}

/// A value of JSON as it is read.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join(", "),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| format!("{name} = {}", plain(value))).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

/// The recomputation of a value.
#[derive(Clone, Debug)]
pub enum Compute {
    /// The privacy account of a release or of counts.
    Account(AccountClaim),
    /// A claim of another kind.
    Claim(&'static Kind, Claim),
}

impl Compute {
    /// The computation: the kind, and everything that it depends on, by name.
    pub fn asked(&self) -> Map<String, Value> {
        match self {
            Compute::Account(claim) => claim.asked(),
            Compute::Claim(kind, claim) => kind.asked(claim),
        }
    }

    /// Whether it is a claim of this kind.
    pub(super) fn is_of(&self, name: &str) -> bool {
        matches!(self, Compute::Claim(kind, _) if kind.name == name)
    }
}
