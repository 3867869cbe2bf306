//! A country's specification: the whole file, checked before anything else is read.

use std::{fmt, path::Path};

use rug::Rational;
use toml::Spanned;

use super::{
    attributes::{self, Attribute},
    file::{CountryFile, EntryForm, LevelForm, Texts},
    groupings::Grouping,
    tables::TableSet,
};
use crate::{
    error::{Error, Result, unknown},
    io::{reading::read_at_most, toml_reader::TomlReader},
    safetab::schema::Privacy,
};

/// The longest file that is read, in bytes.
const LONGEST: u64 = 10_000_000;
/// Columns of the tables of a release that no attribute may be named after.
pub(super) const COLUMNS: [&str; 6] = ["level", "region", "grouping", "group", "table", "count"];
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
    pub(super) area: String,
    pub(super) levels: Vec<RegionLevel>,
    pub(super) tables: TableSet,
    pub(super) entries: Vec<Entry>,
}

/// A level of the geography.
#[derive(Clone, Debug)]
pub(super) struct RegionLevel {
    pub name: String,
    /// The column of the geography file; `None` for the whole country.
    pub column: Option<String>,
    /// The level whose regions contain those of this one.
    pub within: Option<usize>,
    /// Whether an area may be in no region.
    pub partial: bool,
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
    /// The least probability with which a published total of an empty group is suppressed.
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

    /// The same, and also the text.
    pub fn read_with_text(path: &Path) -> Result<(CountrySpecification, String)> {
        let file = path.display().to_string();
        let text = String::from_utf8(read_at_most(path, LONGEST)?).map_err(|_| Error::DataFile {
            file: file.clone(),
            line: 0,
            column: 0,
            why: "is no text in UTF-8".to_string(),
        })?;
        Ok((CountrySpecification::parse(&text, &file)?, text))
    }

    /// Checks a text; `file` names it in messages.
    pub fn parse(text: &str, file: &str) -> Result<CountrySpecification> {
        let reader = TomlReader::new(file, text);
        let form: CountryFile = reader.toml()?;
        let attributes = Attribute::all(&reader, &form.attributes)?;
        for form in &form.attributes {
            if COLUMNS.contains(&form.name.get_ref().as_str()) {
                let why = format!("the tables of a release have a column {:?} already", form.name.get_ref());
                return Err(reader.refuse(form.name.span().start, why));
            }
        }
        let area = attributes::name(&reader, &form.geography.area, "column of areas")?;
        if let Some(own) = attributes.iter().find(|own| own.columns.contains(&area)) {
            let why = format!("the column {area:?} is one of the attribute {:?}", own.name);
            return Err(reader.refuse(form.geography.area.span().start, why));
        }
        let levels = levels(&reader, &form.geography.levels)?;
        let tables = TableSet::new(&reader, &form.tables, &attributes)?;
        reader.no_duplicates(form.groupings.iter().map(|form| &form.name), "grouping")?;
        let groupings: Vec<Grouping> =
            (form.groupings.iter()).map(|form| Grouping::new(&reader, form, &attributes)).collect::<Result<_>>()?;
        let mut specification = CountrySpecification {
            title: attributes::name(&reader, &form.title, "title")?,
            privacy: privacy(&reader, &form.privacy)?,
            gamma: form
                .stage_1_fraction
                .as_ref()
                .map(|gamma| probability(&reader, gamma, "stage_1_fraction"))
                .transpose()?,
            allow_negative_counts: form.allow_negative_counts,
            groupings,
            attributes,
            area,
            levels,
            tables,
            entries: Vec::new(),
        };
        specification.entries = specification.read_entries(&reader, &form.entries)?;
        specification.check_mixes().map_err(|why| reader.refuse_file(why))?;
        if let (None, Some(entry)) =
            (&specification.gamma, specification.entries.iter().find(|own| own.has_two_stages()))
        {
            let why = "the share of stage 1 is missing: stage_1_fraction = 0.1 at the top of the file";
            return Err(reader.refuse(entry.budget_at.start, why));
        }
        Ok(specification)
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
        let levels = self.levels.iter().map(|level| level.name.as_str());
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
        attributes::names(reader, names, "table")?;
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
        format!("{}, {}", self.levels[entry.level].name, self.groupings[entry.grouping].name)
    }

    /// The names of the tables, in the order of the file.
    pub(in crate::safetab) fn table_names(&self) -> Vec<String> {
        self.tables.tables.iter().map(|table| table.name.clone()).collect()
    }

    /// The attributes that rules of groupings use, ascending.
    pub(super) fn grouped_by(&self) -> Vec<usize> {
        let conditions = self.groupings.iter().flat_map(|own| &own.groups).flat_map(|group| &group.conditions);
        let mut used: Vec<usize> = conditions.map(|condition| condition.attribute).collect();
        used.sort_unstable();
        used.dedup();
        used
    }
}

fn levels(reader: &TomlReader, forms: &[LevelForm]) -> Result<Vec<RegionLevel>> {
    if forms.is_empty() {
        return Err(reader.refuse_file("no [[geography.level]]: give at least one level of the geography"));
    }
    reader.no_duplicates(forms.iter().map(|form| &form.name), "level")?;
    reader.no_duplicates(forms.iter().filter_map(|form| form.column.as_ref()), "column of the geography")?;
    let mut all: Vec<RegionLevel> = Vec::new();
    for form in forms {
        let name = attributes::name(reader, &form.name, "level")?;
        let column = form.column.as_ref().map(|column| attributes::name(reader, column, "column")).transpose()?;
        let within = match &form.within {
            None => None,
            Some(above) => {
                Some(place_of(reader, "level before this one", above, all.iter().map(|level| level.name.as_str()))?)
            }
        };
        if column.is_none() && (within.is_some() || form.partial) {
            let why = format!(
                "the level {name:?} has no column, so it is the whole country: it is in no other level, and not partial"
            );
            return Err(reader.refuse(form.name.span().start, why));
        }
        all.push(RegionLevel { name, column, within, partial: form.partial });
    }
    Ok(all)
}

/// The place of a name among the known ones; `what` is the kind of thing that it names.
fn place_of<'a>(
    reader: &TomlReader,
    what: &str,
    name: &Spanned<String>,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Result<usize> {
    let found = known.clone().position(|known| known == name.get_ref());
    found.ok_or_else(|| reader.refuse(name.span().start, unknown(what, name.get_ref(), "there are", known)))
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
