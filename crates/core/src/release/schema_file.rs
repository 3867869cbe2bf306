//! The TOML form of a histogram: `[[attribute]]`, `[[recode]]` and `[[selection]]` of a release.

use serde::Deserialize;
use toml::Spanned;

use super::schema::{Attribute, Beside, MOST_CELLS, Recode, Schema, Selection};
use crate::{
    error::{Result, unknown},
    io::toml_reader::TomlReader,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AttributeFile {
    name: Spanned<String>,
    values: Option<Vec<Spanned<String>>>,
    size: Option<u32>,
    histogram: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecodeFile {
    name: Spanned<String>,
    attribute: Spanned<String>,
    groups: Vec<Vec<Spanned<String>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SelectionFile {
    name: Spanned<String>,
    attribute: Spanned<String>,
    values: Vec<Spanned<String>>,
}

/// The histogram of a release; `None` if it names no attribute.
pub(super) fn schema(
    reader: &TomlReader,
    attributes: &[AttributeFile],
    recodes: &[RecodeFile],
    selections: &[SelectionFile],
) -> Result<Option<Schema>> {
    let of_selections = selections.iter().map(|selection| &selection.name);
    let names = || attributes.iter().map(|attribute| &attribute.name).chain(recodes.iter().map(|recode| &recode.name));
    reader.no_duplicates(names().chain(of_selections), "attribute, recode or selection")?;
    check_names(reader, names())?;
    let (mut first, mut beside) = (Schema::default(), None::<Beside>);
    for raw in attributes {
        let own = match &raw.histogram {
            None => &mut first,
            Some(name) => beside_of(reader, name, &mut beside)?,
        };
        let attribute = attribute(reader, raw, own.cells())?;
        own.attributes.push(attribute);
    }
    if let Some(raw) = attributes.first().filter(|_| first.attributes.is_empty()) {
        let why = "a histogram beside the first one, and no first: an attribute without histogram is missing";
        return Err(reader.refuse(raw.name.span().start, why));
    }
    for raw in recodes {
        let own = histogram_of(&raw.attribute, &mut first, &mut beside);
        let recode = recode(reader, raw, own)?;
        own.recodes.push(recode);
    }
    for raw in selections {
        let own = histogram_of(&raw.attribute, &mut first, &mut beside);
        let selection = selection(reader, raw, own)?;
        own.selections.push(selection);
    }
    first.beside = beside.map(Box::new);
    Ok((!attributes.is_empty()).then_some(first))
}

/// Refuses names of attributes and recodes that have a meaning in queries.
fn check_names<'n>(reader: &TomlReader, mut names: impl Iterator<Item = &'n Spanned<String>>) -> Result<()> {
    let taken = |name: &str| name.is_empty() || name == "total" || name == "detailed" || name.contains('*');
    let Some(name) = names.find(|name| taken(name.get_ref().trim())) else { return Ok(()) };
    let why = format!("{:?} cannot be a name: total, detailed and * have a meaning in queries", name.get_ref());
    Err(reader.refuse(name.span().start, why))
}

/// Adds the recodes of another file to a histogram.
pub(super) fn add_recodes(reader: &TomlReader, recodes: &[RecodeFile], schema: &mut Schema) -> Result<()> {
    let names = || recodes.iter().map(|recode| &recode.name);
    reader.no_duplicates(names(), "recode")?;
    check_names(reader, names())?;
    let known: Vec<String> = schema.names().map(String::from).collect();
    if let Some(name) = names().find(|name| known.contains(name.get_ref())) {
        let why = format!(
            "the release has an attribute, recode or selection {:?} already: it cannot occur twice",
            name.get_ref()
        );
        return Err(reader.refuse(name.span().start, why));
    }
    let mut beside = schema.beside.take().map(|beside| *beside);
    for raw in recodes {
        let own = histogram_of(&raw.attribute, schema, &mut beside);
        let recode = recode(reader, raw, own)?;
        own.recodes.push(recode);
    }
    schema.beside = beside.map(Box::new);
    Ok(())
}

/// The second histogram, by its name.
fn beside_of<'s>(
    reader: &TomlReader,
    name: &Spanned<String>,
    beside: &'s mut Option<Beside>,
) -> Result<&'s mut Schema> {
    let new = || Beside { name: name.get_ref().clone(), schema: Schema::default() };
    let beside = beside.get_or_insert_with(new);
    if beside.name != *name.get_ref() || name.get_ref().trim().is_empty() {
        let why = format!("the histogram {:?}: expected the name of one histogram beside the first", name.get_ref());
        return Err(reader.refuse(name.span().start, why));
    }
    Ok(&mut beside.schema)
}

/// The histogram of an attribute: the first one, unless it belongs to the second.
fn histogram_of<'s>(
    attribute: &Spanned<String>,
    first: &'s mut Schema,
    beside: &'s mut Option<Beside>,
) -> &'s mut Schema {
    let has = |beside: &&mut Beside| beside.schema.attributes.iter().any(|own| own.name == *attribute.get_ref());
    match beside.as_mut().filter(has) {
        Some(beside) => &mut beside.schema,
        None => first,
    }
}

/// An attribute of a histogram that has `cells` cells without it.
fn attribute(reader: &TomlReader, raw: &AttributeFile, cells: usize) -> Result<Attribute> {
    let at = raw.name.span().start;
    let values: Vec<String> = match (&raw.values, raw.size) {
        (Some(values), None) => {
            reader.no_duplicates(values.iter(), "value")?;
            values.iter().map(|value| value.get_ref().clone()).collect()
        }
        (None, Some(size)) if (size as usize) <= MOST_CELLS => (0..size).map(|value| value.to_string()).collect(),
        _ => {
            let why = format!("an attribute needs either values or a size of at most {MOST_CELLS}");
            return Err(reader.refuse(at, why));
        }
    };
    if values.is_empty() || cells.saturating_mul(values.len()) > MOST_CELLS {
        let why = format!("an attribute needs a value, and the histogram at most {MOST_CELLS} cells");
        return Err(reader.refuse(at, why));
    }
    Ok(Attribute { name: raw.name.get_ref().clone(), values })
}

/// A recode of an attribute of the schema.
fn recode(reader: &TomlReader, raw: &RecodeFile, schema: &Schema) -> Result<Recode> {
    let (name, attribute) = (raw.attribute.get_ref(), known_attribute(reader, &raw.attribute, schema)?);
    let values = &schema.attributes[attribute].values;
    if raw.groups.iter().any(Vec::is_empty) {
        return Err(reader.refuse(raw.name.span().start, "a group of a recode is empty: it has at least one value"));
    }
    let mut group_of = vec![u32::MAX; values.len()];
    for (group, members) in raw.groups.iter().enumerate() {
        for member in members {
            let value = values.iter().position(|value| value == member.get_ref());
            let free = value.filter(|value| group_of[*value] == u32::MAX).ok_or_else(|| {
                let why = format!("{:?} is not a value of {name:?} that no other group has", member.get_ref());
                reader.refuse(member.span().start, why)
            })?;
            group_of[free] = group as u32;
        }
    }
    if let Some(left) = group_of.iter().position(|group| *group == u32::MAX) {
        let why = format!("the value {:?} of {name:?} is in no group: each has to be in one", values[left]);
        return Err(reader.refuse(raw.name.span().start, why));
    }
    let joined = |members: &Vec<Spanned<String>>| {
        members.iter().map(|member| member.get_ref().as_str()).collect::<Vec<_>>().join("+")
    };
    let groups = raw.groups.iter().map(joined).collect();
    Ok(Recode { name: raw.name.get_ref().clone(), attribute, group_of, groups })
}

fn known_attribute(reader: &TomlReader, name: &Spanned<String>, schema: &Schema) -> Result<usize> {
    schema.attributes.iter().position(|attribute| attribute.name == *name.get_ref()).ok_or_else(|| {
        let known = schema.attributes.iter().map(|attribute| attribute.name.as_str());
        reader.refuse(name.span().start, unknown("attribute", name.get_ref(), "there are", known))
    })
}

/// A selection of values of an attribute of the schema.
fn selection(reader: &TomlReader, raw: &SelectionFile, schema: &Schema) -> Result<Selection> {
    let attribute = known_attribute(reader, &raw.attribute, schema)?;
    let values = &schema.attributes[attribute].values;
    reader.no_duplicates(raw.values.iter(), "value")?;
    let mut selected = vec![false; values.len()];
    for member in &raw.values {
        let value = values.iter().position(|value| value == member.get_ref()).ok_or_else(|| {
            let why = format!("{:?} is not a value of {:?}", member.get_ref(), raw.attribute.get_ref());
            reader.refuse(member.span().start, why)
        })?;
        selected[value] = true;
    }
    Ok(Selection { name: raw.name.get_ref().clone(), attribute, selected })
}
