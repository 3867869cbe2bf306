//! The geography as a specification states it: the columns of its file, the parts of the country, and the levels of regions.

use toml::Spanned;

use super::{
    attributes::Attribute,
    file::{GeographyForm, LandForm, LevelForm, PartForm, Texts},
    names,
};
use crate::{
    error::{Result, unknown},
    io::toml_reader::TomlReader,
};

/// The largest number of columns that together are one code.
const MOST_COLUMNS: usize = 16;
/// The name of the only part of a country that is not divided.
const ALL_AREAS: &str = "All areas";

/// The rules of a geography file.
#[derive(Clone, Debug)]
pub(super) struct GeographyRules {
    /// The columns whose cells together are the code of an area, in records and in the geography.
    pub area: Vec<String>,
    /// Whether regions of different levels that are made of the same areas publish the same counts.
    pub same_places: bool,
    /// Columns that distinguish areas without land; the first that the file has is used.
    pub land: Vec<LandColumn>,
    /// The parts of the country, one or more.
    pub parts: Vec<Part>,
    /// The levels, one or more.
    pub levels: Vec<RegionLevel>,
}

/// A column that distinguishes areas without land.
#[derive(Clone, Debug)]
pub(super) struct LandColumn {
    pub column: String,
    /// The texts of areas without land.
    pub water: Vec<String>,
}

/// A part of the country, with levels and budgets of its own. An area is in at most one; records of an area in none are not tabulated.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub name: String,
    /// Its text in the names of files.
    pub file: String,
    /// The column of the geography file and its texts in this part; `None` for the whole country.
    pub chosen: Option<(String, Vec<String>)>,
}

/// A level of the geography.
#[derive(Clone, Debug)]
pub(super) struct RegionLevel {
    pub name: String,
    /// The columns whose cells together are the code of a region; none if the whole part of the country is the region.
    pub columns: Vec<String>,
    /// The level whose regions contain those of this one.
    pub within: Option<usize>,
    /// Whether an area may be in no region.
    pub partial: bool,
    /// The text of the last column for no region, beside an empty cell.
    pub none: Option<String>,
    /// The code of the region, if there are no columns.
    pub region: String,
    /// Its part of the country.
    pub part: usize,
}

impl GeographyRules {
    pub(super) fn new(reader: &TomlReader, form: &GeographyForm, of: &[Attribute]) -> Result<GeographyRules> {
        let at = form.area.as_ref().map(|area| area.span()).or(form.area_columns.as_ref().map(Spanned::span));
        let area = columns(reader, (form.area.as_ref(), form.area_columns.as_ref()), "column of areas")?;
        let at = at.map_or(0, |span| span.start);
        if area.is_empty() {
            return Err(
                reader.refuse_file("[geography] needs either area = \"COLUMN\" or area_columns = [\"COLUMN\", ...]")
            );
        }
        for own in of {
            if let Some(column) = own.columns.iter().find(|column| area.contains(column)) {
                return Err(reader.refuse(at, format!("the column {column:?} is one of the attribute {:?}", own.name)));
            }
        }
        let parts = parts(reader, &form.parts)?;
        let levels = levels(reader, &form.levels, (&form.parts, &parts))?;
        let land = form.land.iter().map(|form| land(reader, form)).collect::<Result<_>>()?;
        if let (false, Some(land)) = (form.same_places, form.land.first()) {
            let why = "land decides which regions are the same places: add same_places = true, or leave it out";
            return Err(reader.refuse(land.column.span().start, why));
        }
        Ok(GeographyRules { area, same_places: form.same_places, land, parts, levels })
    }
}

/// One column or several.
fn columns(
    reader: &TomlReader,
    (one, several): (Option<&Spanned<String>>, Option<&Spanned<Texts>>),
    what: &str,
) -> Result<Vec<String>> {
    match (one, several) {
        (Some(one), None) => Ok(vec![names::name(reader, one, what)?]),
        (None, Some(several)) => match names::names(reader, several, what)? {
            many if many.len() > MOST_COLUMNS => {
                Err(reader.refuse(several.span().start, format!("more than {MOST_COLUMNS} columns")))
            }
            few => Ok(few),
        },
        (None, None) => Ok(Vec::new()),
        (Some(one), Some(_)) => {
            Err(reader.refuse(one.span().start, format!("give one {what}, or a list of columns, and not both")))
        }
    }
}

fn land(reader: &TomlReader, form: &LandForm) -> Result<LandColumn> {
    let column = names::name(reader, &form.column, "column of land")?;
    Ok(LandColumn { column, water: names::names(reader, &form.water, "text of an area without land")? })
}

fn parts(reader: &TomlReader, forms: &[PartForm]) -> Result<Vec<Part>> {
    if forms.is_empty() {
        return Ok(vec![Part { name: ALL_AREAS.to_string(), file: "all".to_string(), chosen: None }]);
    }
    reader.no_duplicates(forms.iter().map(|form| &form.name), "part")?;
    reader.no_duplicates(forms.iter().map(|form| form.file.as_ref().unwrap_or(&form.name)), "part of a file name")?;
    let part = |form: &PartForm| {
        let name = names::name(reader, &form.name, "part")?;
        let file = form.file.as_ref().map_or(Ok(name.clone()), |file| names::name(reader, file, "file name"))?;
        let column = names::name(reader, &form.column, "column of a part")?;
        Ok(Part { name, file, chosen: Some((column, names::names(reader, &form.codes, "code of a part")?)) })
    };
    forms.iter().map(part).collect()
}

fn levels(
    reader: &TomlReader,
    forms: &[LevelForm],
    (part_forms, parts): (&[PartForm], &[Part]),
) -> Result<Vec<RegionLevel>> {
    if forms.is_empty() {
        return Err(reader.refuse_file("no [[geography.level]]: give at least one level of the geography"));
    }
    reader.no_duplicates(forms.iter().map(|form| &form.name), "level")?;
    let mut all: Vec<RegionLevel> = Vec::new();
    for form in forms {
        let part = match (&form.part, part_forms.is_empty()) {
            (None, true) => 0,
            (Some(part), _) => place_of(reader, "part", part, parts.iter().map(|part| part.name.as_str()))?,
            (None, false) => {
                let why = format!("the level {:?} needs part = \"NAME\", since there are parts", form.name.get_ref());
                return Err(reader.refuse(form.name.span().start, why));
            }
        };
        let level = level(reader, form, part, &all)?;
        if all.iter().any(|known| (&known.columns, known.part) == (&level.columns, part)) && !level.columns.is_empty() {
            let why = format!("the column of the geography {:?} occurs twice", level.columns.join("+"));
            return Err(reader.refuse(form.name.span().start, why));
        }
        all.push(level);
    }
    Ok(all)
}

fn level(reader: &TomlReader, form: &LevelForm, part: usize, above: &[RegionLevel]) -> Result<RegionLevel> {
    let name = names::name(reader, &form.name, "level")?;
    let refused = |why: String| Err(reader.refuse(form.name.span().start, format!("the level {name:?} {why}")));
    let columns = columns(reader, (form.column.as_ref(), form.columns.as_ref()), "column")?;
    let within = form
        .within
        .as_ref()
        .map(|upper| place_of(reader, "level before this one", upper, above.iter().map(|level| level.name.as_str())));
    let within = within.transpose()?;
    if within.is_some_and(|upper| above[upper].part != part) {
        return refused("is within a level of another part".to_string());
    }
    if columns.is_empty() && (within.is_some() || form.partial) {
        return refused(
            "has no column, so it is the whole country: it is in no other level, and not partial".to_string(),
        );
    }
    if form.none.is_some() && !form.partial {
        return refused("has a text for no region, so add partial = true".to_string());
    }
    if form.region.is_some() && !columns.is_empty() {
        return refused("has a column with the codes of its regions: leave region out".to_string());
    }
    let text =
        |field: &Option<Spanned<String>>, what| field.as_ref().map(|text| names::name(reader, text, what)).transpose();
    let none = text(&form.none, "text for no region")?;
    let region = text(&form.region, "region")?.unwrap_or_else(|| name.clone());
    Ok(RegionLevel { name, columns, within, partial: form.partial, none, region, part })
}

/// The place of a name among the known ones; `what` is the kind of thing that it names.
pub(super) fn place_of<'a>(
    reader: &TomlReader,
    what: &str,
    name: &Spanned<String>,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Result<usize> {
    let found = known.clone().position(|known| known == name.get_ref());
    found.ok_or_else(|| reader.refuse(name.span().start, unknown(what, name.get_ref(), "there are", known)))
}
