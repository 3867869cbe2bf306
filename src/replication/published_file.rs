//! Reading published values: the TOML form and its rules.
//!
//! | field | meaning |
//! | --- | --- |
//! | `paper`, `title` | a key for the file, and what it is about, in a line |
//! | `release` | the release that is meant where a value names neither one nor counts; of a bundled paper the one of its name |
//! | `[[value]]` `id`, `place` | a key that is unique in the file, and where the value is printed |
//! | `printed` | the number as printed, digit by digit, or `true` for a statement |
//! | `unit` | how it is to be read: [`Unit`] |
//! | `compute` | what recomputes it: its `kind`, and the fields of that kind |
//! | `note`, `erratum` | a remark; why the printed value is wrong, for one that is known to be |
//! | `printed_by` | another computation, which gives the printed value |
//! | `readings` | other readings of what is printed, each `{ as = "words", compute = {..} }`: a row that agrees only as one of them is counted apart |
//! | `beside` | other numbers that the remarks speak of, of the same form |

use std::{fs::File, io::Read, path::Path, sync::Arc};

use serde::Deserialize;
use toml::Spanned;

use super::{
    account_claims::{self, AccountClaim, KINDS, Measure, Releases},
    published_value::{Beside, Compute, Paper, Published, Unit},
};
use crate::{
    error::{Error, Result, did_you_mean},
    files::file_error,
    numeric::rational,
    release::Release,
    toml_node::{Fields, Node, to_value},
    toml_reader::{TomlReader, with_near_name},
};

/// Files are read up to this size, in bytes.
const MOST_BYTES: u64 = 16 << 20;

/// At most so many printed digits are held against a value.
const MOST_DIGITS: u32 = 250;

/// Kinds beside [`KINDS`] that ask nothing of one paper alone.
const OTHER_KINDS: &[&str] = &["risk", "paths", "variance-deficit"];

/// Fields of those that are exact numbers, kept as the text of their digits.
const EXACT_FIELDS: &[&str] = &["rho", "rhos", "prior", "delta", "epsilon", "sigma2", "s", "total", "level", "query"];

/// The kinds of computation that a file of one's own may ask for.
pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|(name, _)| *name).chain(OTHER_KINDS.iter().copied())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPaper {
    paper: Spanned<String>,
    title: String,
    release: Option<Spanned<String>>,
    #[serde(rename = "value", default)]
    values: Vec<Spanned<RawValue>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawValue {
    id: Spanned<String>,
    place: String,
    printed: Spanned<Node>,
    unit: Spanned<String>,
    compute: Spanned<Node>,
    note: Option<String>,
    erratum: Option<String>,
    printed_by: Option<Spanned<Node>>,
    #[serde(default)]
    readings: Vec<RawBeside>,
    #[serde(default)]
    beside: Vec<RawBeside>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawBeside {
    #[serde(rename = "as")]
    words: Spanned<String>,
    compute: Spanned<Node>,
}

/// Reads a bundled paper from its text.
pub(super) fn bundled(text: &str, key: &str) -> Result<Paper> {
    parse(text, key, true)
}

/// Reads published values from the file of this path.
pub(super) fn read(path: &str) -> Result<Paper> {
    let wrong = |why: String| file_error(Path::new(path), why);
    let file = File::open(path).map_err(|why| wrong(why.to_string()))?;
    let mut bytes = Vec::new();
    // A device has no end.
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|why| wrong(why.to_string()))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(wrong(format!("is larger than {MOST_BYTES} bytes: published values are a short TOML file")));
    }
    let text = String::from_utf8(bytes).map_err(|_| wrong("is not UTF-8 text: expected a TOML file".to_string()))?;
    parse(&text, path, false)
}

fn parse(text: &str, file: &str, is_bundled: bool) -> Result<Paper> {
    let reader = TomlReader::new(file, text);
    let raw: RawPaper = reader.toml()?;
    if raw.paper.get_ref().trim().is_empty() {
        return Err(reader.refuse(raw.paper.span().start, "paper: must not be empty: a key such as \"my-release\""));
    }
    if raw.values.is_empty() {
        return Err(reader.refuse_file("at least one [[value]] is needed; `assay verify --new FILE` writes an example"));
    }
    reader.no_duplicates(raw.values.iter().map(|value| &value.get_ref().id), "id")?;
    let folder = if is_bundled { Path::new("") } else { Path::new(file).parent().unwrap_or(Path::new("")) };
    let mut releases = Releases::in_folder(folder.to_path_buf());
    let own = match &raw.release {
        Some(name) => {
            let found = releases.find(name.get_ref());
            Some(found.map_err(|error| reader.refuse(name.span().start, format!("release: {error}")))?)
        }
        None if is_bundled => Release::find(raw.paper.get_ref()).ok().map(Arc::new),
        None => None,
    };
    let mut values = ValueReader { reader: &reader, own, releases, is_bundled };
    let read: Vec<Published> = raw.values.iter().map(|raw| values.value(raw)).collect::<Result<_>>()?;
    Ok(Paper {
        paper: raw.paper.into_inner(),
        title: raw.title,
        values: read,
        file: file.to_string(),
        is_bundled,
        releases: values.releases.into_names(),
    })
}

/// An error about the printed text.
fn refuse_printed(reader: &TomlReader, node: &Spanned<Node>, why: String) -> Error {
    reader.refuse(node.span().start, format!("printed: {why}"))
}

/// What the values of a file have in common.
struct ValueReader<'a> {
    reader: &'a TomlReader<'a>,
    own: Option<Arc<Release>>,
    releases: Releases,
    is_bundled: bool,
}

impl ValueReader<'_> {
    fn value(&mut self, raw: &Spanned<RawValue>) -> Result<Published> {
        let (at, raw) = (raw.span().start, raw.get_ref());
        if raw.id.get_ref().trim().is_empty() {
            return Err(self
                .reader
                .refuse(raw.id.span().start, "id: must not be empty: a key such as \"table-1-total\""));
        }
        let unit = self.unit(&raw.unit)?;
        let compute = self.compute(&raw.compute, "compute")?;
        if let Compute::Account(claim) = &compute {
            self.check_unit(claim, unit, &raw.unit)?;
        }
        let printed_by = raw.printed_by.as_ref().map(|node| self.compute(node, "printed_by")).transpose()?;
        let value = Published {
            id: raw.id.get_ref().clone(),
            place: raw.place.clone(),
            printed: self.printed(&raw.printed)?,
            unit,
            compute,
            note: raw.note.clone(),
            erratum: raw.erratum.clone(),
            printed_by,
            readings: self.beside(&raw.readings, "readings")?,
            beside: self.beside(&raw.beside, "beside")?,
            line: self.reader.line(at),
        };
        self.check_printed(&value).map_err(|why| refuse_printed(self.reader, &raw.printed, why))?;
        Ok(value)
    }

    /// Other computations, each with its words.
    fn beside(&mut self, all: &[RawBeside], what: &str) -> Result<Vec<Beside>> {
        let one = |raw: &RawBeside| {
            if raw.words.get_ref().trim().is_empty() {
                let why = format!("{what}: as: must not be empty: what is computed, in words");
                return Err(self.reader.refuse(raw.words.span().start, why));
            }
            let compute = self.compute(&raw.compute, &format!("{what}: compute"))?;
            Ok(Beside { words: raw.words.get_ref().clone(), compute })
        };
        all.iter().map(one).collect()
    }

    fn unit(&self, name: &Spanned<String>) -> Result<Unit> {
        let known = || Unit::ALL.iter().map(|(known, _)| *known);
        let unit = Unit::ALL.iter().find(|(known, _)| known == name.get_ref()).map(|(_, unit)| *unit);
        unit.ok_or_else(|| {
            let near = did_you_mean(name.get_ref(), known());
            let why = format!(
                "unit: no unit {:?}{near}: there are {}",
                name.get_ref(),
                known().collect::<Vec<_>>().join(", ")
            );
            self.reader.refuse(name.span().start, why)
        })
    }

    /// The text as printed.
    fn printed(&self, node: &Spanned<Node>) -> Result<String> {
        match node.get_ref() {
            Node::Text(text) => Ok(text.trim().to_string()),
            Node::Whole | Node::Decimal => Ok(self.reader.plain_text(node.span())),
            Node::Flag(flag) => Ok(flag.to_string()),
            Node::List(_) | Node::Table(_) => {
                let why = "must be the number as it is printed, as \"10.13\", or true for a statement";
                Err(refuse_printed(self.reader, node, why.to_string()))
            }
        }
    }

    /// Why the printed text cannot be read in the unit of the value, if it cannot.
    fn check_printed(&self, value: &Published) -> std::result::Result<(), String> {
        if value.unit == Unit::Claim {
            let why = || format!("{:?}: the unit claim is for a statement, which is printed = true", value.printed);
            return if value.printed == "true" { Ok(()) } else { Err(why()) };
        }
        rational::parse(&value.printed).map_err(|error| error.to_string())?;
        if value.unit.is_rounded() && value.printed.contains('/') {
            let why = "a fraction has no last digit to round to: give the decimal as printed, or the unit sum or bound";
            return Err(why.to_string());
        }
        if value.significant_digits() > MOST_DIGITS {
            return Err(format!("has more than {MOST_DIGITS} digits"));
        }
        Ok(())
    }

    /// Refuses a unit in which the answer of a question cannot be read.
    fn check_unit(&self, claim: &AccountClaim, unit: Unit, at: &Spanned<String>) -> Result<()> {
        let measure = claim.question.measure();
        let is_right = match unit {
            Unit::Nats => measure == Measure::Nats,
            Unit::Rho => measure == Measure::Rho,
            Unit::Sigma2 => measure == Measure::Sigma2,
            Unit::Probability => measure == Measure::Probability,
            Unit::Percent | Unit::LeastPercent => matches!(measure, Measure::Percent | Measure::Probability),
            Unit::Ratio => false,
            Unit::Sum => claim.question.is_exact(),
            Unit::Bound | Unit::Least | Unit::RoundedUp => measure != Measure::Statement,
            Unit::Claim => measure == Measure::Statement,
        };
        if is_right {
            return Ok(());
        }
        let expected = match measure {
            Measure::Nats => "an epsilon: nats, bound, least or rounded-up",
            Measure::Rho => "a rho: rho, sum, bound, least or rounded-up",
            Measure::Sigma2 => "a variance proxy: sigma2, bound, least or rounded-up",
            Measure::Probability => "a probability: probability, percent, bound, least or least-percent",
            Measure::Percent => "a percentage: percent, bound, least or least-percent",
            Measure::Statement => "a statement: claim",
        };
        let exact = if claim.question.is_exact() { "; sum for one that is printed exactly" } else { "" };
        let why = format!("unit: {:?} does not fit: what is computed is {expected}{exact}", at.get_ref());
        Err(self.reader.refuse(at.span().start, why))
    }

    fn compute(&mut self, node: &Spanned<Node>, what: &str) -> Result<Compute> {
        let mut fields = Fields::new(self.reader, node, what)?;
        let kind = fields.text("kind")?.ok_or_else(|| fields.missing("kind", "\"epsilon\""))?;
        fields.rename(format!("{what} of kind {:?}", kind.get_ref()));
        if let Some(claim) = account_claims::read(kind.get_ref(), fields, self.own.as_ref(), &mut self.releases)? {
            return Ok(Compute::Account(claim));
        }
        if !self.is_bundled && !OTHER_KINDS.contains(&kind.get_ref().as_str()) {
            let near = did_you_mean(kind.get_ref(), kinds());
            let all = kinds().collect::<Vec<_>>().join(", ");
            let why = format!("{what}: no kind {:?}{near}: there are {all}", kind.get_ref());
            return Err(self.reader.refuse(kind.span().start, why));
        }
        let refuse =
            |why: &str| self.reader.refuse(node.span().start, format!("{what} of kind {:?}: {why}", kind.get_ref()));
        let read = Compute::deserialize(to_value(self.reader, node, EXACT_FIELDS)?);
        match read.map_err(|error| refuse(&with_near_name(error.message())))? {
            Compute::Paths { release, value } => {
                self.releases.find(&release).map_err(|error| refuse(&error.to_string()))?;
                Ok(Compute::Paths { release: self.releases.place(&release), value })
            }
            other => Ok(other),
        }
    }
}
