//! Population groups by rules over the attributes of a person.

use toml::Spanned;

pub use super::rules::{Group, RecordValues};
use super::{
    attributes::{self, Attribute, value_of},
    companions::Companions,
    file::{GroupForm, GroupingForm, Texts},
    group_tables, names,
    rules::Condition,
    stability::{self, Stability},
};
use crate::{
    error::{Error, Result},
    io::toml_reader::TomlReader,
};

/// The largest number of groups of a grouping.
const MOST_GROUPS: usize = 100_000;
/// The largest stability that a specification may state.
const MOST_STATED: u64 = 1_000_000;
/// The number of groups named in a message.
const SHOWN: usize = 5;

/// A set of population groups that are tabulated together.
#[derive(Clone, Debug)]
pub struct Grouping {
    /// Its name.
    pub name: String,
    /// Its groups, in the order of the file, or of the codes of an attribute; those of tables in ascending order of their codes.
    pub groups: Vec<Group>,
    /// Upper bound on the number of its groups that a record can be in, to which noise is scaled: derived from the rules, or a stated one
    /// that is not below.
    pub stability: u32,
    /// By attribute and value, the groups whose first condition has the value in its list, ascending.
    with_value: Vec<Vec<Vec<u32>>>,
}

impl Grouping {
    pub(super) fn new(beside: &Companions, form: &GroupingForm, all: &[Attribute]) -> Result<Grouping> {
        let reader = beside.reader;
        let (name, at) = (names::name(reader, &form.name, "grouping")?, form.name.span().start);
        let groups = match (&form.each, form.groups.is_empty(), form.tables.is_empty()) {
            (Some(each), true, true) => groups_of_each(reader, each, all)?,
            (None, false, true) => {
                reader.no_duplicates(form.groups.iter().map(|group| &group.code), "group")?;
                form.groups.iter().map(|group| Group::of_form(reader, group, all)).collect::<Result<_>>()?
            }
            (None, true, false) => group_tables::groups(beside, &form.tables, all)?,
            _ => {
                let why = format!(
                    "the grouping {name:?} needs one of each = \"ATTRIBUTE\", [[grouping.group]] and [[grouping.from]]"
                );
                return Err(reader.refuse(at, why));
            }
        };
        if groups.is_empty() {
            return Err(reader.refuse(at, format!("the grouping {name:?} has no group: none meets the conditions")));
        }
        if groups.len() > MOST_GROUPS {
            return Err(reader.refuse(at, format!("{} groups, and at most {MOST_GROUPS} are allowed", groups.len())));
        }
        let columns: Vec<usize> = all.iter().map(|attribute| attribute.columns.len()).collect();
        let Stability { most, example } = stability::of_groups(&groups, &columns);
        if let Some(at_most) = &form.at_most {
            let allowed = reader.whole(at_most, 1, "at_most")?;
            if u64::from(most) > allowed {
                let why = too_many(&name, most, &groups, &example, "at_most");
                return Err(reader.refuse(at_most.span().start, why));
            }
        }
        let stability = match &form.stability {
            None => most,
            Some(stated) => match reader.whole(stated, 1, "stability")? {
                enough if enough >= u64::from(most) && enough <= MOST_STATED => enough as u32,
                enough if enough > MOST_STATED => {
                    return Err(reader.refuse(stated.span().start, format!("stability must be at most {MOST_STATED}")));
                }
                _ => {
                    return Err(
                        reader.refuse(stated.span().start, too_many(&name, most, &groups, &example, "stability"))
                    );
                }
            },
        };
        Ok(Grouping::of_groups(name, groups, stability))
    }

    /// A grouping of groups, each with one condition or more; the stability is an upper bound on the number of groups of a record.
    pub(super) fn of_groups(name: String, groups: Vec<Group>, stability: u32) -> Grouping {
        let mut with_value: Vec<Vec<Vec<u32>>> = Vec::new();
        for (place, group) in (0..).zip(&groups) {
            let Some(Condition { attribute, listed, .. }) = group.conditions.first() else { continue };
            if with_value.len() <= *attribute {
                with_value.resize(attribute + 1, Vec::new());
            }
            let of_attribute = &mut with_value[*attribute];
            of_attribute.resize(listed.len(), Vec::new());
            listed.iter().zip(of_attribute).filter(|(listed, _)| **listed).for_each(|(_, own)| own.push(place));
        }
        Grouping { name, groups, stability, with_value }
    }

    /// The groups of a record, ascending. An error if there are more than the stability, for which the noise would not protect.
    pub fn groups_of(&self, values: &RecordValues) -> Result<Vec<u32>> {
        // A condition that holds has at least one of the record's values in its list.
        let of_value = |(own, values): (&Vec<Vec<u32>>, &Vec<u32>)| {
            values
                .iter()
                .flat_map(|value| own.get(*value as usize).into_iter().flatten().copied())
                .collect::<Vec<u32>>()
        };
        let mut found: Vec<u32> = self.with_value.iter().zip(values).flat_map(of_value).collect();
        found.sort_unstable();
        found.dedup();
        found.retain(|place| self.groups[*place as usize].conditions.iter().all(|condition| condition.holds(values)));
        match found.len() > self.stability as usize {
            true => {
                let what = "more groups of a record than the stability that was derived from the rules";
                Err(Error::fault(format!("{}: {what}", self.name)))
            }
            false => Ok(found),
        }
    }
}

/// The message for a stability above the number in a field.
fn too_many(name: &str, most: u32, groups: &[Group], example: &[usize], field: &str) -> String {
    let named: Vec<&str> = example.iter().take(SHOWN).map(|group| groups[*group].code.as_str()).collect();
    let more = if example.len() > SHOWN { ", ..." } else { "" };
    let found = match named.is_empty() {
        true => {
            format!(
                "a person may be in up to {most} groups of {name:?}, by a bound, as its rules have too many combinations to try all"
            )
        }
        false => {
            format!("a person can be in {most} groups of {name:?} by its rules, for example {}{more}", named.join(", "))
        }
    };
    format!("{found}: {field} must be at least {most}, or the rules narrower")
}

/// A group for each code of an attribute: the persons who have it.
fn groups_of_each(reader: &TomlReader, each: &Spanned<String>, all: &[Attribute]) -> Result<Vec<Group>> {
    let at = each.span().start;
    let attribute = attributes::find(reader, all, each.get_ref(), at)?;
    let Some(codes) = all[attribute].codes() else {
        return Err(reader.refuse(at, "is a number, and groups are made of codes: give an attribute with codes"));
    };
    let group = |(place, code): (usize, &String)| {
        let mut listed = vec![false; codes.len()];
        listed[place] = true;
        Group { code: code.clone(), total_only: false, conditions: vec![Condition { attribute, only: false, listed }] }
    };
    Ok(codes.iter().enumerate().map(group).collect())
}

impl Group {
    fn of_form(reader: &TomlReader, form: &GroupForm, all: &[Attribute]) -> Result<Group> {
        let code = names::name(reader, &form.code, "group")?;
        let rules = form.any.iter().map(|rule| (false, rule)).chain(form.only.iter().map(|rule| (true, rule)));
        let conditions: Vec<Condition> =
            rules.map(|(only, (name, codes))| condition(reader, only, (name, codes), all)).collect::<Result<_>>()?;
        if conditions.is_empty() {
            let why = format!("the group {code:?} has no rule: give any = {{ ATTRIBUTE = [...] }} or only = {{ ... }}");
            return Err(reader.refuse(form.code.span().start, why));
        }
        Ok(Group { code, total_only: form.total_only, conditions })
    }
}

fn condition(
    reader: &TomlReader,
    only: bool,
    (name, codes): (&str, &Spanned<Texts>),
    all: &[Attribute],
) -> Result<Condition> {
    let at = codes.span().start;
    let attribute = attributes::find(reader, all, name, at)?;
    let of = &all[attribute];
    if codes.get_ref().is_empty() {
        return Err(
            reader.refuse(at, format!("the list of codes of {name:?} is empty: no person would be in the group"))
        );
    }
    reader.no_duplicates(codes.get_ref().iter(), "code")?;
    let mut listed = vec![false; of.count()];
    for code in codes.get_ref() {
        listed[value_of(reader, of, code)? as usize] = true;
    }
    Ok(Condition { attribute, only, listed })
}
