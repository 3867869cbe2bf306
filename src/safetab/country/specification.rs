//! A country's specification: the whole file, checked before anything else is read.

use std::{
    collections::{BTreeSet, HashSet},
    fmt,
    path::{Path, PathBuf},
};

use rug::Rational;
use toml::Spanned;

use super::{
    attributes::{self, Attribute},
    companions::Companions,
    file::{CountryFile, EntryForm, Texts},
    geography_rules::{GeographyRules, place_of},
    groupings::Grouping,
    layout::{self, Layout},
    names,
    tables::TableSet,
};
use crate::{
    error::{Error, Result},
    io::{files::write_new, reading::read_at_most, toml_reader::TomlReader},
    safetab::schema::Privacy,
};

/// The longest file that is read, in bytes.
const LONGEST: u64 = 10_000_000;
/// The largest number of counts of a region.
const MOST_COUNTS: usize = 1 << 26;
/// The largest number of mixes of groups of a person that the account is of.
const MOST_MIXES: usize = 1000;
/// The range of budgets with noise that can be drawn.
const LEAST_BUDGET: (u64, u64) = (1, 1_000_000_000_000);
const MOST_BUDGET: u64 = 1_000_000_000;

/// A country's specification.
#[derive(Clone, Debug)]
pub struct CountrySpecification {
    /// Its title.
    pub title: String,
    /// The guarantee: the unit of budgets, and the noise.
    pub privacy: Privacy,
    /// The share of stage 1 in a budget, between 0 and 1; `None` if no entry has two stages.
    pub gamma: Option<Rational>,
    /// Whether negative counts are published.
    pub allow_negative_counts: bool,
    /// The groupings.
    pub groupings: Vec<Grouping>,
    pub(super) attributes: Vec<Attribute>,
    pub(super) geography: GeographyRules,
    pub(super) tables: TableSet,
    pub(super) entries: Vec<Entry>,
    pub(super) layout: Layout,
    /// The attributes that rules of groupings use, ascending.
    pub(super) grouped_by: Vec<usize>,
    /// The files that it names, by name and path.
    pub(super) companions: Vec<(String, PathBuf)>,
}

/// One tabulation: a level of the geography and a grouping.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub level: usize,
    pub grouping: usize,
    pub budget: Rational,
    /// The place of the budget in the file.
    pub budget_at: std::ops::Range<usize>,
    /// The tables, from the coarsest.
    pub tables: Vec<usize>,
    /// The noisy totals from which a group gets the second table, the third and so on.
    pub thresholds: Vec<i64>,
    /// The least probability with which an empty group is suppressed if its total alone is published.
    pub suppress_empty: Option<Rational>,
}

impl Entry {
    /// Whether a noisy total chooses between tables.
    pub(super) fn has_two_stages(&self) -> bool {
        self.tables.len() > 1
    }
}

impl CountrySpecification {
    /// Reads and checks a file. An error names the line and the column.
    pub fn read(path: &Path) -> Result<CountrySpecification> {
        Ok(CountrySpecification::read_with_text(path)?.0)
    }

    /// Reads and checks a file, and returns its text as well.
    pub fn read_with_text(path: &Path) -> Result<(CountrySpecification, String)> {
        let file = crate::error::shown(path);
        let text = String::from_utf8(read_at_most(path, LONGEST)?).map_err(|_| Error::DataFile {
            file: file.clone(),
            line: 0,
            column: 0,
            why: "is no text in UTF-8".to_string(),
        })?;
        Ok((CountrySpecification::parse(&text, &file)?, text))
    }

    /// The Bureau's own program for persons as a specification, to start one from: every part with a comment. It names the Bureau's files
    /// of codes and of iterations, which are read from the folder that it is in.
    pub fn template() -> &'static str {
        include_str!("../../../data/templates/safetab-p.toml")
    }

    /// Writes the [`template`](CountrySpecification::template) into a new file; an existing file is an error.
    pub fn write_template(path: &Path) -> Result<()> {
        write_new(path, CountrySpecification::template())
    }

    /// Checks a text; `file` names it in messages, and is in the folder of the files that the text names.
    pub fn parse(text: &str, file: &str) -> Result<CountrySpecification> {
        let reader = TomlReader::new(file, text);
        let form: CountryFile = reader.toml()?;
        let beside = Companions::new(&reader);
        let attributes = Attribute::all(&beside, &form.attributes)?;
        layout::check_names(&reader, &form.attributes)?;
        let geography = GeographyRules::new(&reader, &form.geography, &attributes)?;
        let tables = TableSet::new(&reader, &form.tables, &attributes)?;
        reader.no_duplicates(form.groupings.iter().map(|form| &form.name), "grouping")?;
        let groupings: Vec<Grouping> =
            (form.groupings.iter()).map(|form| Grouping::new(&beside, form, &attributes)).collect::<Result<_>>()?;
        let layout = Layout::new(&reader, form.output.as_ref(), (&attributes, &tables), &geography.parts)?;
        let gamma = form.stage_1_fraction.as_ref();
        let mut specification = CountrySpecification {
            title: names::name(&reader, &form.title, "title")?,
            privacy: privacy(&reader, &form.privacy)?,
            gamma: gamma.map(|gamma| probability(&reader, gamma, "stage_1_fraction")).transpose()?,
            allow_negative_counts: form.allow_negative_counts,
            grouped_by: grouped_by(&groupings),
            groupings,
            attributes,
            geography,
            tables,
            entries: Vec::new(),
            layout,
            companions: beside.all(&form)?,
        };
        specification.entries = specification.read_entries(&reader, &form.entries)?;
        specification.check_mixes().map_err(|why| reader.refuse_file(why))?;
        if let (None, Some(entry)) =
            (&specification.gamma, specification.entries.iter().find(|own| own.has_two_stages()))
        {
            let why = "the share of stage 1 is missing: stage_1_fraction = 0.1 at the top of the file";
            return Err(reader.refuse(entry.budget_at.start, why));
        }
        if let Some(output) = &form.output {
            specification.check_columns().map_err(|why| reader.refuse(output.totals.columns.span().start, why))?;
        }
        Ok(specification)
    }

    /// Refuses columns of the output by which groups are not distinguished.
    fn check_columns(&self) -> std::result::Result<(), String> {
        for (place, entry) in self.entries.iter().enumerate() {
            let part = self.geography.levels[entry.level].part;
            for other in &self.entries[..place] {
                let same_file = self.geography.levels[other.level].part == part;
                if same_file && other.level != entry.level && !self.layout.shows_level() {
                    return Err("a file has several levels: show level, too".to_string());
                }
                let codes = |entry: &Entry| self.groupings[entry.grouping].groups.iter().map(|group| &group.code);
                if other.level == entry.level && !self.layout.shows_grouping() {
                    let known: HashSet<&String> = codes(other).collect();
                    if let Some(code) = codes(entry).find(|code| known.contains(code)) {
                        let (one, two) = (self.entry_name(other), self.entry_name(entry));
                        return Err(format!("{one} and {two} both have the group {code:?}: show grouping, too"));
                    }
                }
            }
        }
        Ok(())
    }

    fn read_entries(&self, reader: &TomlReader, forms: &[EntryForm]) -> Result<Vec<Entry>> {
        if forms.is_empty() {
            return Err(
                reader.refuse_file("no [[tabulate]]: give each level and grouping that is tabulated, with its budget")
            );
        }
        let entries: Vec<Entry> = forms.iter().map(|form| self.entry(reader, form)).collect::<Result<_>>()?;
        for (place, entry) in entries.iter().enumerate() {
            if entries[..place].iter().any(|known| (known.level, known.grouping) == (entry.level, entry.grouping)) {
                let why = format!("{} is tabulated twice: once for a level and a grouping", self.entry_name(entry));
                return Err(reader.refuse(forms[place].level.span().start, why));
            }
        }
        Ok(entries)
    }

    fn entry(&self, reader: &TomlReader, form: &EntryForm) -> Result<Entry> {
        let levels = self.geography.levels.iter().map(|level| level.name.as_str());
        let level = place_of(reader, "level", &form.level, levels)?;
        let groupings = self.groupings.iter().map(|grouping| grouping.name.as_str());
        let grouping = place_of(reader, "grouping", &form.grouping, groupings)?;
        let at = form.level.span().start;
        let budget = reader.number(&form.budget)?;
        if budget < Rational::from(LEAST_BUDGET) || budget > MOST_BUDGET {
            return Err(reader.refuse(
                form.budget.span().start,
                "the budget must be from 1e-12 to 1e9; leave out what is not tabulated",
            ));
        }
        let tables = self.entry_tables(reader, form.tables.as_ref())?;
        let thresholds = match (&form.thresholds, tables.len()) {
            (Some(thresholds), _) => attributes::ascending(reader, thresholds, "a threshold")?,
            (None, 1) => Vec::new(),
            (None, tables) => {
                let why = format!("thresholds are missing: {} of them choose between {tables} tables", tables - 1);
                return Err(reader.refuse(at, why));
            }
        };
        if thresholds.len() + 1 != tables.len() {
            let at = form.thresholds.as_ref().map_or(at, |list| list.span().start);
            let why = format!(
                "{} tables need {} thresholds, one for each table after the first, and not {}",
                tables.len(),
                tables.len() - 1,
                thresholds.len()
            );
            return Err(reader.refuse(at, why));
        }
        let suppress_empty = form.suppress_empty.as_ref();
        let suppress_empty = suppress_empty.map(|chance| probability(reader, chance, "suppress_empty")).transpose()?;
        let entry =
            Entry { level, grouping, budget, budget_at: form.budget.span(), tables, thresholds, suppress_empty };
        self.check_entry(&entry).map_err(|why| reader.refuse(at, why))?;
        Ok(entry)
    }

    fn entry_tables(&self, reader: &TomlReader, names: Option<&Spanned<Texts>>) -> Result<Vec<usize>> {
        let Some(names) = names else { return Ok((0..self.tables.tables.len()).collect()) };
        names::names(reader, names, "table")?;
        let known = || self.tables.tables.iter().map(|table| table.name.as_str());
        names.get_ref().iter().map(|name| place_of(reader, "table", name, known())).collect()
    }

    /// Refuses tables of an entry that its grouping does not allow, and a total that is not the first of them.
    fn check_entry(&self, entry: &Entry) -> std::result::Result<(), String> {
        let first = &self.tables.tables[entry.tables[0]];
        let grouping = &self.groupings[entry.grouping];
        let name = self.entry_name(entry);
        if !first.is_total && grouping.groups.iter().any(|group| group.total_only) {
            return Err(format!(
                "{name} has groups of which only the total is published, and its first table is {:?}: begin with a table without by",
                first.name
            ));
        }
        if !first.is_total && entry.suppress_empty.is_some() {
            return Err(format!(
                "{name} suppresses totals, and its first table {:?} is not one: begin with a table without by",
                first.name
            ));
        }
        if let Some(other) =
            entry.tables[1..].iter().map(|table| &self.tables.tables[*table]).find(|other| other.is_total)
        {
            return Err(format!("{name}: the table {:?} is a total, so it comes first", other.name));
        }
        match grouping.groups.len().checked_mul(self.tables.cells()) {
            Some(counts) if counts <= MOST_COUNTS => Ok(()),
            _ => Err(format!("{name}: the groups of a region have more than {MOST_COUNTS} finest cells")),
        }
    }

    /// The account is of every mix of groups with a total only and other groups that a person can be in: they must not be too many.
    fn check_mixes(&self) -> std::result::Result<(), String> {
        let number = |(place, grouping): (usize, &Grouping)| {
            let is_staged = self.entries.iter().any(|entry| entry.grouping == place && entry.has_two_stages());
            let only = grouping.groups.iter().filter(|group| group.total_only).count();
            if is_staged { 1 + only.min(grouping.stability as usize) } else { 1 }
        };
        let all = self.groupings.iter().enumerate().map(number).fold(1, usize::saturating_mul);
        match all > MOST_MIXES {
            true => Err(format!(
                "a person can be in {all} mixes of groups with total_only and others, and at most {MOST_MIXES} are allowed: use total_only in fewer groupings"
            )),
            false => Ok(()),
        }
    }

    /// The name of an entry: `PROVINCE, language`.
    pub(super) fn entry_name(&self, entry: &Entry) -> String {
        format!("{}, {}", self.geography.levels[entry.level].name, self.groupings[entry.grouping].name)
    }

    /// The names of the tables, in the order of the file.
    pub(in crate::safetab) fn table_names(&self) -> Vec<String> {
        self.tables.tables.iter().map(|table| table.name.clone()).collect()
    }
}

/// The attributes that rules of groupings use, ascending.
fn grouped_by(groupings: &[Grouping]) -> Vec<usize> {
    let conditions = groupings.iter().flat_map(|own| &own.groups).flat_map(|group| &group.conditions);
    conditions.map(|condition| condition.attribute).collect::<BTreeSet<usize>>().into_iter().collect()
}

fn privacy(reader: &TomlReader, name: &Spanned<String>) -> Result<Privacy> {
    match name.get_ref().as_str() {
        "zcdp" => Ok(Privacy::ZeroConcentrated),
        "puredp" => Ok(Privacy::Pure),
        other => {
            let why = format!("privacy is {other:?}: \"zcdp\", with budgets rho, or \"puredp\", with budgets epsilon");
            Err(reader.refuse(name.span().start, why))
        }
    }
}

/// A number above 0 and below 1.
fn probability(reader: &TomlReader, number: &Spanned<crate::io::toml_reader::Exact>, what: &str) -> Result<Rational> {
    let value = reader.number(number)?;
    match value > 0 && value < 1 {
        true => Ok(value),
        false => Err(reader.refuse(number.span().start, format!("{what} must be above 0 and below 1"))),
    }
}

impl fmt::Display for CountrySpecification {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{}", self.title)
    }
}
