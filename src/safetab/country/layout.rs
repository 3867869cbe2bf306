//! The form of the tables of a release: their files, their separator and their columns.

use std::path::{Component, Path};

use toml::Spanned;

use super::{
    attributes::{self, Attribute},
    file::{AttributeForm, ColumnForm, OutputForm},
    geography_rules::Part,
    names,
    tables::TableSet,
};
use crate::{
    error::{Result, unknown},
    io::toml_reader::TomlReader,
};

/// Columns of the tables of a release that no attribute may be named after.
const COLUMNS: [&str; 6] = ["level", "region", "grouping", "group", "table", "count"];
/// The text for a part of the country in the name of a file.
const PART: &str = "{part}";
/// The files of a release that are no tables.
const OTHERS: [&str; 2] = ["certificate.json", "certificate.md"];

/// The form of the tables of a release.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub separator: u8,
    pub totals: Vec<Column>,
    pub cells: Vec<Column>,
    /// The attributes, by their places in [`TableSet::by`], over which the cells of a table are also summed.
    pub sums_over: Vec<usize>,
    /// The files of totals and of cells of each part.
    pub files: Vec<[String; 2]>,
}

/// A column with its heading.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub heading: String,
    pub shown: Shown,
}

/// The content of a column. Attributes are named by their places in [`TableSet::by`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    Level,
    Region,
    Grouping,
    Group,
    Table,
    Count,
    /// The text of the cell.
    Attribute(usize),
    /// The first number of the cell.
    First(usize),
    /// The last number of the cell.
    Last(usize),
}

/// Refuses an attribute that is named after a column of the tables.
pub(super) fn check_names(reader: &TomlReader, forms: &[AttributeForm]) -> Result<()> {
    match forms.iter().find(|form| COLUMNS.contains(&form.name.get_ref().as_str())) {
        None => Ok(()),
        Some(form) => {
            let why = format!("the tables of a release have a column {:?} already", form.name.get_ref());
            Err(reader.refuse(form.name.span().start, why))
        }
    }
}

impl Layout {
    pub(super) fn new(
        reader: &TomlReader,
        form: Option<&OutputForm>,
        of: (&[Attribute], &TableSet),
        parts: &[Part],
    ) -> Result<Layout> {
        let Some(form) = form else { return Ok(Layout::usual(of, parts)) };
        let separator = form.separator.as_ref().map_or(Ok(b','), |text| separator(reader, text))?;
        let totals = columns(reader, &form.totals.columns, "totals", of)?;
        let cells = columns(reader, &form.cells.columns, "cells", of)?;
        let sums_over = form.cells.sums_over.as_ref();
        let sums_over = sums_over.map_or(Ok(Vec::new()), |list| sums_over_of(reader, list, of))?;
        let files = files(reader, (&form.totals.file, &form.cells.file), parts)?;
        Ok(Layout { separator, totals, cells, sums_over, files })
    }

    /// The form without a section `[output]`.
    fn usual((attributes, tables): (&[Attribute], &TableSet), parts: &[Part]) -> Layout {
        let column = |shown: Shown| Column { heading: heading(shown, attributes, tables), shown };
        let group = [Shown::Level, Shown::Region, Shown::Grouping, Shown::Group];
        let by = (0..tables.by.len()).map(Shown::Attribute);
        let of_cells = group.into_iter().chain([Shown::Table]).chain(by).chain([Shown::Count]);
        let file = |name: &str, part: &Part| match parts.len() {
            1 => format!("{name}.csv"),
            _ => format!("{name}-{}.csv", part.file),
        };
        Layout {
            separator: b',',
            totals: group.into_iter().chain([Shown::Count]).map(column).collect(),
            cells: of_cells.map(column).collect(),
            sums_over: Vec::new(),
            files: parts.iter().map(|part| ["totals", "cells"].map(|name| file(name, part))).collect(),
        }
    }

    /// Whether rows name the level of their region.
    pub(super) fn shows_level(&self) -> bool {
        [&self.totals, &self.cells].iter().all(|own| own.iter().any(|column| column.shown == Shown::Level))
    }

    /// Whether rows name the grouping of their group.
    pub(super) fn shows_grouping(&self) -> bool {
        [&self.totals, &self.cells].iter().all(|own| own.iter().any(|column| column.shown == Shown::Grouping))
    }
}

fn heading(shown: Shown, attributes: &[Attribute], tables: &TableSet) -> String {
    let name = match shown {
        Shown::Level => COLUMNS[0],
        Shown::Region => COLUMNS[1],
        Shown::Grouping => COLUMNS[2],
        Shown::Group => COLUMNS[3],
        Shown::Table => COLUMNS[4],
        Shown::Count => COLUMNS[5],
        Shown::Attribute(place) | Shown::First(place) | Shown::Last(place) => &attributes[tables.by[place]].name,
    };
    name.to_string()
}

fn separator(reader: &TomlReader, text: &Spanned<String>) -> Result<u8> {
    match text.get_ref().as_bytes() {
        [one] if b",;|\t".contains(one) => Ok(*one),
        _ => {
            let why = format!("the separator is {:?}: a comma, a semicolon, a bar or a tab", text.get_ref());
            Err(reader.refuse(text.span().start, why))
        }
    }
}

/// The columns of a table of a release.
fn columns(
    reader: &TomlReader,
    forms: &Spanned<Vec<ColumnForm>>,
    table: &str,
    of: (&[Attribute], &TableSet),
) -> Result<Vec<Column>> {
    let refused = |why: String| Err(reader.refuse(forms.span().start, format!("the columns of {table}: {why}")));
    reader.no_duplicates(forms.get_ref().iter().map(|form| &form.heading), "heading")?;
    let all: Vec<Column> = forms.get_ref().iter().map(|form| column(reader, form, of)).collect::<Result<_>>()?;
    let number = |shown: Shown| all.iter().filter(|column| column.shown == shown).count();
    if number(Shown::Region) == 0 || number(Shown::Group) == 0 || number(Shown::Count) != 1 {
        return refused("show region, group and once count".to_string());
    }
    let is_of_cell = |column: &&Column| {
        matches!(column.shown, Shown::Table | Shown::Attribute(_) | Shown::First(_) | Shown::Last(_))
    };
    if table == "totals"
        && let Some(column) = all.iter().find(is_of_cell)
    {
        return refused(format!("{:?} shows a cell, and a total has none", column.heading));
    }
    let is_shown = |place: &usize| {
        [Shown::Attribute(*place), Shown::First(*place), Shown::Last(*place)].iter().any(|shown| number(*shown) > 0)
    };
    if table == "cells"
        && let Some(hidden) = (0..of.1.by.len()).find(|place| !is_shown(place))
    {
        return refused(format!("cells are of {:?}, so show it", of.0[of.1.by[hidden]].name));
    }
    Ok(all)
}

fn column(reader: &TomlReader, form: &ColumnForm, (attributes, tables): (&[Attribute], &TableSet)) -> Result<Column> {
    let (name, at) = (form.show.get_ref().as_str(), form.show.span().start);
    let heading = names::name(reader, &form.heading, "heading")?;
    let end = form.end.as_ref().map(|end| (end.get_ref().as_str(), end.span().start));
    let fixed = [Shown::Level, Shown::Region, Shown::Grouping, Shown::Group, Shown::Table, Shown::Count];
    if let Some(place) = COLUMNS.iter().position(|known| *known == name) {
        return match end {
            None => Ok(Column { heading, shown: fixed[place] }),
            Some((_, at)) => Err(reader.refuse(at, format!("{name:?} is no attribute with numbers: leave end out"))),
        };
    }
    let known = || tables.by.iter().map(|attribute| attributes[*attribute].name.as_str());
    let Some(place) = known().position(|known| known == name) else {
        let all = COLUMNS.into_iter().chain(known());
        return Err(reader.refuse(at, unknown("content of a column", name, "there are", all)));
    };
    let is_number = attributes[tables.by[place]].range().is_some();
    let shown = match end {
        None => Shown::Attribute(place),
        Some(("first", _)) if is_number => Shown::First(place),
        Some(("last", _)) if is_number => Shown::Last(place),
        Some((_, at)) => {
            let why = format!("end is \"first\" or \"last\" and for attributes with numbers; {name:?} ");
            let what = if is_number { "has numbers" } else { "has codes" };
            return Err(reader.refuse(at, why + what));
        }
    };
    Ok(Column { heading, shown })
}

/// The attributes of sums, by their places. They are the last ones of every table that has them, so that the cells of a sum are neighbors.
fn sums_over_of(
    reader: &TomlReader,
    list: &Spanned<Vec<Spanned<String>>>,
    (attributes, tables): (&[Attribute], &TableSet),
) -> Result<Vec<usize>> {
    let mut all = Vec::new();
    for name in list.get_ref() {
        let attribute = attributes::find(reader, attributes, name.get_ref(), name.span().start)?;
        let Some(place) = tables.by.iter().position(|own| *own == attribute) else {
            return Err(reader.refuse(name.span().start, format!("no table is by {:?}", name.get_ref())));
        };
        all.push(place);
    }
    let is_summed = |attribute: &usize| all.iter().any(|place| tables.by[*place] == *attribute);
    for table in &tables.tables {
        if table.attributes.iter().skip_while(|own| !is_summed(own)).any(|own| !is_summed(own)) {
            let why = format!("the table {:?} has another attribute after one of these: name these last", table.name);
            return Err(reader.refuse(list.span().start, why));
        }
    }
    Ok(all)
}

/// The files of totals and cells of each part: below the folder of a release, none twice or in the place of another.
fn files(
    reader: &TomlReader,
    (totals, cells): (&Spanned<String>, &Spanned<String>),
    parts: &[Part],
) -> Result<Vec<[String; 2]>> {
    let mut known: Vec<String> = OTHERS.map(str::to_string).to_vec();
    let mut all = Vec::new();
    for part in parts {
        let mut file = |form: &Spanned<String>| {
            let name = form.get_ref().replace(PART, &part.file);
            let path = Path::new(&name);
            let wrong = |why: &str| Err(reader.refuse(form.span().start, format!("the file {name:?} {why}")));
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte);
            if name.is_empty() || name.ends_with('/') || !name.bytes().all(is_plain) {
                return wrong("needs a name of letters, digits, points and hyphens, with / between folders");
            }
            if !path
                .components()
                .all(|part| matches!(part, Component::Normal(name) if !name.as_encoded_bytes().starts_with(b".")))
            {
                return wrong("is not in the folder of the release, or hidden");
            }
            let clashes = |other: &String| path.starts_with(other) || Path::new(other).starts_with(path);
            if known.iter().any(clashes) {
                return wrong("is in the place of another one: with several parts a name has {part}");
            }
            known.push(name.clone());
            Ok(name)
        };
        all.push([file(totals)?, file(cells)?]);
    }
    Ok(all)
}
