//! Reading published values: the TOML form and its rules. [`published_csv`] has the form of a table.
//!
//! | field | meaning |
//! | --- | --- |
//! | `paper`, `title` | a key for the file, and its subject, in a line |
//! | `release` | the default release for values that name neither a release nor counts; for a bundled paper the one of its name |
//! | `settings` | the bundled paper whose settings the kind `safetab` takes, `"safetab-2021"` or `"safetab-p-2024"`; a bundled paper takes its own |
//! | `[[value]]` `id`, `place` | a key that is unique in the file, and the place of the printed value |
//! | `decimal` | `"comma"` if the document prints decimal commas |
//! | `printed` | the text as printed, of a form that [`printed`] reads; `true` for a statement, or `not printed` |
//! | `unit` | how to read it: [`Unit`] |
//! | `compute` | its recomputation: the `kind`, and the fields of that kind |
//! | `circular` | `true` if the file from which the release was built has the value |
//! | `same-source` | `true` if the source of the value prints every number of the computation as well |
//! | `note`, `erratum` | a remark; the reason why a printed value known to be wrong is wrong |
//! | `fault` | the fault that the value shows: values with the same key show one fault, which is counted once |
//! | `fault-kind` | with an `erratum`: `"misprint"`, `"hypothesis-missing"`, or `"not-of-the-stated-model"` with a `printed_by` that gives the text |
//! | `chosen` | what the text does not say and the test chose, as a margin or a tolerance: it disproves nothing |
//! | `printed_by` | another computation that gives the printed value |
//! | `readings` | other readings of the printed text, each `{ as = "words", compute = {..} }`: a row that agrees only under one of them is counted separately |
//! | `beside` | other numbers that the remarks mention, of the same form |

use std::{collections::BTreeSet, path::Path, sync::Arc};

use serde_json::{Map, Value, json};
use toml::Spanned;

use super::{
    account_claims::{self, KINDS, Releases},
    fit, own_inputs,
    printed::{self, DecimalMark, Printed},
    published_csv::{self, Parts},
    published_value::{Beside, Compute, Paper, Published, Remarks},
    registry,
    safetab::settings::PrintedSettings,
    unit::Unit,
    verdict::Verdict,
};
use crate::{
    error::{Error, Result, unknown},
    io::files::file_error,
    io::toml_node::{Fields, Node, to_value},
    io::toml_reader::TomlReader,
    release::{Release, bundled_text},
};

/// Limit on the size of a file, in bytes.
const MOST_BYTES: u64 = 16 << 20;

/// Limit on the number of printed digits of a value.
const MOST_DIGITS: u32 = 250;

/// Fields of kinds beside [`KINDS`] that are exact numbers, kept as the text of their digits.
const EXACT_FIELDS: &[&str] = &["rho", "rhos", "prior", "delta", "epsilon", "sigma2", "s", "total", "level", "query"];

/// All kinds of computation.
pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|kind| kind.name).chain(registry::KINDS.iter().map(|kind| kind.name))
}

/// Reads a bundled paper from its text.
pub(super) fn bundled(text: &str, key: &str) -> Result<Paper> {
    parse(text, key, true)
}

/// Reads published values from the file of this path: CSV if its name ends in `.csv`, otherwise TOML.
pub(super) fn read(path: &str) -> Result<Paper> {
    let wrong = |why: String| file_error(Path::new(path), why);
    let bytes = crate::io::reading::read_at_most(Path::new(path), MOST_BYTES)?;
    let is_csv = Path::new(path).extension().is_some_and(|end| end.eq_ignore_ascii_case("csv"));
    let form = if is_csv { "CSV" } else { "TOML" };
    let text = String::from_utf8(bytes).map_err(|_| wrong(format!("is not UTF-8 text: expected a {form} file")))?;
    if !is_csv {
        return parse(&text, path, false);
    }
    paper_of(&TomlReader::new(path, &text), published_csv::read(&text, path)?, path, false)
}

fn parse(text: &str, file: &str, is_bundled: bool) -> Result<Paper> {
    let reader = TomlReader::new(file, text);
    let head = reader.toml()?;
    paper_of(&reader, head, file, is_bundled)
}

/// Reads the values below a head. All errors in the values are reported together.
fn paper_of(reader: &TomlReader, head: Parts, file: &str, is_bundled: bool) -> Result<Paper> {
    if head.paper.get_ref().trim().is_empty() {
        return Err(reader.refuse(head.paper.span().start, "paper: must not be empty: a key such as \"my-release\""));
    }
    if head.values.is_empty() {
        return Err(reader.refuse_file("at least one value is needed; `assay verify --new FILE` writes an example"));
    }
    let folder = if is_bundled { Path::new("") } else { Path::new(file).parent().unwrap_or(Path::new("")) };
    let mut releases = Releases::in_folder(folder.to_path_buf());
    let own = match &head.release {
        Some(name) => {
            let found = releases.find(name.get_ref());
            Some(found.map_err(|error| reader.refuse(name.span().start, format!("release: {error}")))?)
        }
        None if is_bundled && bundled_text(head.paper.get_ref()).is_some() => {
            Some(releases.find(head.paper.get_ref())?)
        }
        None => None,
    };
    let decimal = head.decimal.as_ref().map(|name| decimal_mark(reader, name)).transpose()?.unwrap_or_default();
    let settings = head.settings.as_ref().map(|name| settings(reader, name)).transpose()?;
    let values = ValueReader::new(reader, releases);
    let values = ValueReader { own, decimal, is_bundled, settings: settings.clone(), ..values };
    let (values, releases) = values.read(&head.values)?;
    Ok(Paper {
        paper: head.paper.into_inner(),
        title: head.title,
        values,
        file: file.to_string(),
        is_bundled,
        settings,
        releases: releases.into_names(),
    })
}

/// The paper whose settings the kind `safetab` takes.
fn settings(reader: &TomlReader, name: &Spanned<String>) -> Result<String> {
    let found = PrintedSettings::of_paper(name.get_ref());
    found.map_err(|error| reader.refuse(name.span().start, format!("settings: {error}")))?;
    Ok(name.get_ref().clone())
}

/// The values of a table of another file that comes with the program: a deployment.
pub(crate) fn bundled_values<'a>(
    reader: &'a TomlReader<'a>,
    nodes: &'a [Spanned<Node>],
    releases: Releases,
) -> Result<(Vec<Published>, Releases)> {
    ValueReader::new(reader, releases).read(nodes)
}

fn decimal_mark(reader: &TomlReader, name: &Spanned<String>) -> Result<DecimalMark> {
    match name.get_ref().as_str() {
        "point" => Ok(DecimalMark::Point),
        "comma" => Ok(DecimalMark::Comma),
        other => {
            let why = format!("decimal: {other:?} is no decimal mark: expected \"point\" or \"comma\"");
            Err(reader.refuse(name.span().start, why))
        }
    }
}

/// The context shared by the values of a file, and the errors found.
struct ValueReader<'a> {
    reader: &'a TomlReader<'a>,
    own: Option<Arc<Release>>,
    releases: Releases,
    is_bundled: bool,
    decimal: DecimalMark,
    settings: Option<String>,
    ids: BTreeSet<String>,
    wrong: Vec<Error>,
}

impl<'a> ValueReader<'a> {
    /// A reader of values that come with the program, in a file without a release of its own.
    fn new(reader: &'a TomlReader<'a>, releases: Releases) -> Self {
        let (is_bundled, decimal, ids, wrong) = (true, DecimalMark::Point, BTreeSet::new(), Vec::new());
        ValueReader { reader, own: None, releases, is_bundled, decimal, settings: None, ids, wrong }
    }

    /// The values of a list of tables, and the releases known then. All errors are reported together.
    fn read(mut self, nodes: &'a [Spanned<Node>]) -> Result<(Vec<Published>, Releases)> {
        let read = nodes.iter().filter_map(|node| self.value(node)).collect();
        Error::of_all(self.wrong)?;
        Ok((read, self.releases))
    }

    /// The result if it was read; an error is recorded.
    fn keep<T>(&mut self, read: Result<T>) -> Option<T> {
        read.map_err(|error| self.wrong.push(error)).ok()
    }

    /// A required text.
    fn needed(&mut self, fields: &mut Fields<'a>, name: &'static str, example: &str) -> Option<Spanned<String>> {
        self.keep(fields.text(name).and_then(|text| text.ok_or_else(|| fields.missing(name, example))))
    }

    /// Reads a value; `None` if it has any error.
    fn value(&mut self, node: &'a Spanned<Node>) -> Option<Published> {
        let before = self.wrong.len();
        let mut fields = self.keep(Fields::new(self.reader, node, "value"))?;
        let id = self.needed(&mut fields, "id", "\"table-1-total\"");
        let id = id.and_then(|id| {
            let id = self.new_id(id);
            self.keep(id)
        });
        let place = self.needed(&mut fields, "place", "\"Table 1\"");
        let printed = self.keep(fields.node("printed").ok_or_else(|| fields.missing("printed", "\"10.13\"")));
        let unit_name = self.needed(&mut fields, "unit", "\"nats\"");
        let unit = unit_name.as_ref().and_then(|name| self.keep(self.one_of(("unit", "unit"), name, Unit::ALL)));
        let compute =
            fields.node("compute").ok_or_else(|| fields.missing("compute", "{ kind = \"epsilon\", delta = 1e-10 }"));
        let compute = self.keep(compute).and_then(|node| {
            let compute = self.compute(node, "compute");
            self.keep(compute)
        });
        if let (Some(unit), Some(Compute::Account(claim)), Some(name)) = (unit, &compute, &unit_name) {
            let fits = fit::check(claim, unit, name.get_ref());
            self.keep(fits.map_err(|why| self.reader.refuse(name.span().start, why)));
        }
        let understood = printed.zip(unit);
        let understood = understood.and_then(|(node, unit)| self.keep(self.printed(node, unit, compute.as_ref())));
        let remarks = self.remarks(&mut fields);
        if self.wrong.len() == before {
            self.keep(fields.finish());
        }
        if self.wrong.len() > before {
            return None;
        }
        let (printed, Printed { stated, digits, .. }) = understood?;
        Some(Published {
            id: id?,
            place: place?.into_inner(),
            printed,
            stated,
            digits,
            unit: unit?,
            compute: compute?,
            remarks,
            line: self.reader.line(node.span().start),
        })
    }

    /// An id that no other value has.
    fn new_id(&mut self, id: Spanned<String>) -> Result<String> {
        let at = id.span().start;
        let id = id.into_inner();
        if id.trim().is_empty() {
            return Err(self.reader.refuse(at, "id: must not be empty: a key such as \"table-1-total\""));
        }
        if !self.ids.insert(id.clone()) {
            return Err(self.reader.refuse(at, format!("the id {id:?} occurs twice")));
        }
        Ok(id)
    }

    /// The optional fields of a value.
    fn remarks(&mut self, fields: &mut Fields<'a>) -> Remarks {
        let text = |text: Option<Spanned<String>>| text.map(Spanned::into_inner);
        let [note, erratum] = ["note", "erratum"].map(|name| self.keep(fields.text(name).map(text)).flatten());
        let [fault, chosen] = ["fault", "chosen"].map(|name| self.keep(self.said(fields, name)).flatten());
        let kind = self.keep(fields.text("fault-kind")).flatten();
        let [is_circular, same_source] =
            ["circular", "same-source"].map(|name| self.keep(fields.flag(name)).unwrap_or_default());
        let printed_by = fields.node("printed_by").map(|node| self.compute(node, "printed_by")).transpose();
        let printed_by = self.keep(printed_by).flatten();
        let given = (erratum.is_some(), printed_by.is_some());
        let fault_kind = kind.and_then(|name| self.keep(self.fault_kind(&name, given)));
        let [readings, beside] = ["readings", "beside"].map(|name| {
            let found = self.beside(fields, name);
            self.keep(found).unwrap_or_default()
        });
        Remarks { note, erratum, fault, fault_kind, chosen, is_circular, same_source, printed_by, readings, beside }
    }

    /// An optional text that must not be empty.
    fn said(&self, fields: &mut Fields<'a>, name: &'static str) -> Result<Option<String>> {
        match fields.text(name)? {
            Some(text) if text.get_ref().trim().is_empty() => {
                Err(self.reader.refuse(text.span().start, format!("{name}: must not be empty: leave it out")))
            }
            text => Ok(text.map(Spanned::into_inner)),
        }
    }

    /// What a text is where it is not simply wrong: it needs its reason, and a figure its own computation.
    fn fault_kind(&self, name: &Spanned<String>, (has_erratum, has_printed_by): (bool, bool)) -> Result<Verdict> {
        let refuse = |why: &str| self.reader.refuse(name.span().start, format!("fault-kind: {why}"));
        match self.one_of(("fault-kind", "kind of fault"), name, &Verdict::OF_EXPLAINED_FAULTS)? {
            _ if !has_erratum => Err(refuse("needs an erratum: the reason, in words")),
            Verdict::NotOfTheStatedModel if !has_printed_by => {
                Err(refuse("needs printed_by: the computation of which the text is right"))
            }
            kind => Ok(kind),
        }
    }

    /// Other computations, each with its description.
    fn beside(&mut self, fields: &mut Fields<'a>, what: &'static str) -> Result<Vec<Beside>> {
        let mut all = Vec::new();
        for node in fields.parts_or_none(what)? {
            let mut one = Fields::new(self.reader, node, what)?;
            let words = one.text("as")?.ok_or_else(|| one.missing("as", "\"the total of the table\""))?;
            if words.get_ref().trim().is_empty() {
                let why = format!("{what}: as: must not be empty: what is computed, in words");
                return Err(self.reader.refuse(words.span().start, why));
            }
            let compute = one.node("compute").ok_or_else(|| one.missing("compute", "{ kind = \"rho\" }"))?;
            let compute = self.compute(compute, &format!("{what}: compute"))?;
            one.finish()?;
            all.push(Beside { words: words.into_inner(), compute });
        }
        Ok(all)
    }

    /// The value of a name; `what` is the kind of thing that it names.
    fn one_of<T: Copy>(
        &self,
        (field, what): (&str, &str),
        name: &Spanned<String>,
        all: &[(&'static str, T)],
    ) -> Result<T> {
        let found = all.iter().find(|(known, _)| known == name.get_ref()).map(|(_, value)| *value);
        found.ok_or_else(|| {
            let why = unknown(what, name.get_ref(), "there are", all.iter().map(|(known, _)| *known));
            self.reader.refuse(name.span().start, format!("{field}: {why}"))
        })
    }

    /// The text as printed, and its meaning.
    fn printed(&self, node: &Spanned<Node>, unit: Unit, compute: Option<&Compute>) -> Result<(String, Printed)> {
        let refuse = |why: String| self.reader.refuse(node.span().start, format!("printed: {why}"));
        let (text, mark) = match node.get_ref() {
            Node::Text(text) => (text.trim().to_string(), self.decimal),
            // A plain number of TOML has a point, whichever mark the document uses.
            Node::Whole | Node::Decimal => (self.reader.plain_text(node.span()), DecimalMark::Point),
            Node::Flag(flag) => (flag.to_string(), self.decimal),
            Node::List(_) | Node::Table(_) => {
                let why = "must be the number as it is printed, as \"10.13\", true for a statement, or \"not printed\"";
                return Err(refuse(why.to_string()));
            }
        };
        let mut printed = printed::read(&text, unit, mark).map_err(refuse)?;
        if printed.digits > MOST_DIGITS {
            return Err(refuse(format!("has more than {MOST_DIGITS} digits")));
        }
        if let Some(compute) = compute.filter(|_| printed.is_percent)
            && !fit::is_in_percent(compute, unit)
        {
            if !fit::is_probability(compute, unit) {
                return Err(refuse(format!(
                    "{text:?} is a percentage, and what is computed is neither that nor a probability"
                )));
            }
            printed = printed.divided_by_100();
        }
        Ok((text, printed))
    }

    fn compute(&mut self, node: &'a Spanned<Node>, what: &str) -> Result<Compute> {
        let mut fields = Fields::new(self.reader, node, what)?;
        let kind = fields.text("kind")?.ok_or_else(|| fields.missing("kind", "\"epsilon\""))?;
        fields.rename(format!("{what} of kind {:?}", kind.get_ref()));
        if let Some(claim) = account_claims::read(kind.get_ref(), fields, self.own.as_ref(), &mut self.releases)? {
            return Ok(Compute::Account(claim));
        }
        let Some(of) = registry::KINDS.iter().find(|known| known.name == kind.get_ref()) else {
            let why = format!("{what}: {}", unknown("kind", kind.get_ref(), "there are", kinds()));
            return Err(self.reader.refuse(kind.span().start, why));
        };
        let refuse =
            |why: String| self.reader.refuse(node.span().start, format!("{what} of kind {:?}: {why}", of.name));
        let mut given = Map::new();
        if let Value::Object(fields) = json!(to_value(self.reader, node, EXACT_FIELDS)?) {
            given = fields;
        }
        if let (Some(Value::String(release)), "paths") = (given.get_mut("release"), of.name) {
            self.releases.find(release).map_err(|error| refuse(error.to_string()))?;
            *release = self.releases.place(release);
        }
        let claim = of.read(given).map_err(refuse)?;
        if of.name == "safetab" && !self.is_bundled && self.settings.is_none() {
            let needed = "settings = \"safetab-2021\" or \"safetab-p-2024\" before the values";
            return Err(refuse(format!("takes the settings of a paper: {needed}")));
        }
        if !self.is_bundled {
            own_inputs::check(&of.asked(&claim)).map_err(refuse)?;
        }
        Ok(Compute::Claim(of, claim))
    }
}
