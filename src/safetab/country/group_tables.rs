//! Population groups from two tables: one with a row for each group, and one with a row for each group and each code of its rule.

use std::collections::{BTreeMap, HashMap};

use toml::Spanned;

use super::{
    attributes::{self, Attribute},
    companions::Companions,
    file::{GroupTableForm, Texts},
    names,
    rules::{Condition, Group},
};
use crate::{error::Result, io::csv_reader::CsvTable};

/// A group while its codes are read.
struct Chosen {
    total_only: bool,
    listed: Vec<bool>,
}

/// The groups of all tables of a grouping, in ascending order of their codes.
pub(super) fn groups(beside: &Companions, forms: &[GroupTableForm], all: &[Attribute]) -> Result<Vec<Group>> {
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    for form in forms {
        for group in of_table(beside, form, all)? {
            if let Some(known) = groups.insert(group.code.clone(), group) {
                let why =
                    format!("{:?} has the group {:?}, which another table has, too", form.file.get_ref(), known.code);
                return Err(beside.reader.refuse(form.file.span().start, why));
            }
        }
    }
    Ok(groups.into_values().collect())
}

fn of_table(beside: &Companions, form: &GroupTableForm, all: &[Attribute]) -> Result<Vec<Group>> {
    let (only, name) = match (&form.any, &form.only) {
        (Some(name), None) => (false, name),
        (None, Some(name)) => (true, name),
        _ => {
            let why = "groups from a file have one rule: give either any = \"ATTRIBUTE\" or only = \"ATTRIBUTE\"";
            return Err(beside.reader.refuse(form.file.span().start, why));
        }
    };
    let attribute = attributes::find(beside.reader, all, name.get_ref(), name.span().start)?;
    if all[attribute].codes().is_none() {
        let why = format!("{} is a number, and rules list codes", all[attribute].name);
        return Err(beside.reader.refuse(name.span().start, why));
    }
    let mut chosen = choose(beside, form, all[attribute].count())?;
    read_members(beside, form, &all[attribute], &mut chosen)?;
    let group = |(code, Chosen { total_only, listed }): (String, Chosen)| match listed.contains(&true) {
        true => Ok(Group { code, total_only, conditions: vec![Condition { attribute, only, listed }] }),
        false => {
            let file = form.members.file.get_ref();
            let why = format!("the group {code:?} has no code in {file:?}: no person would be in it");
            Err(beside.reader.refuse(form.members.file.span().start, why))
        }
    };
    chosen.into_iter().map(group).collect()
}

/// The groups that meet the conditions, without their codes.
fn choose(beside: &Companions, form: &GroupTableForm, values: usize) -> Result<BTreeMap<String, Chosen>> {
    let mut table = beside.open(&form.file)?;
    let code = table.column(&[form.code.get_ref()])?;
    let chosen_by = Filter::new(beside, &form.chosen, &table)?;
    let total_only_by = Filter::new(beside, &form.total_only, &table)?;
    let (mut lines, mut chosen) = (HashMap::new(), BTreeMap::new());
    while table.next()? {
        let group = table.name(code)?.to_string();
        if let Err(why) = names::check_name(&group) {
            return Err(table.refuse(code + 1, &format!("the group {group:?} {why}")));
        }
        if let Some(line) = lines.insert(group.clone(), table.line()) {
            return Err(table.refuse(code + 1, &format!("the group {group:?} is in line {line}, too")));
        }
        if chosen_by.holds(&table)? {
            let total_only = !form.total_only.is_empty() && total_only_by.holds(&table)?;
            chosen.insert(group, Chosen { total_only, listed: vec![false; values] });
        }
    }
    Ok(chosen)
}

/// Reads the codes of the groups. Rows of other groups are another table's.
fn read_members(
    beside: &Companions,
    form: &GroupTableForm,
    of: &Attribute,
    chosen: &mut BTreeMap<String, Chosen>,
) -> Result<()> {
    let mut table = beside.open(&form.members.file)?;
    let [group, code] = [&form.members.group, &form.members.code].map(|name| table.column(&[name.get_ref()]));
    let (group, code) = (group?, code?);
    while table.next()? {
        let Some(own) = chosen.get_mut(table.text(group)?) else { continue };
        let Some(value) = of.find(table.cell(code)) else {
            let why = format!("{:?} is no code of {}", table.shown(code), of.name);
            return Err(table.refuse(code + 1, &why));
        };
        if std::mem::replace(&mut own.listed[value as usize], true) {
            return Err(table.refuse(code + 1, &format!("the group has the code {:?} already", table.shown(code))));
        }
    }
    Ok(())
}

/// Columns of a table with their allowed texts.
struct Filter(Vec<(usize, Vec<String>)>);

impl Filter {
    fn new(beside: &Companions, form: &BTreeMap<String, Spanned<Texts>>, table: &CsvTable) -> Result<Filter> {
        let condition = |(name, texts): (&String, &Spanned<Texts>)| {
            if texts.get_ref().is_empty() {
                let why = format!("the list of texts of {name:?} is empty: no group would have one of them");
                return Err(beside.reader.refuse(texts.span().start, why));
            }
            Ok((table.column(&[name])?, texts.get_ref().iter().map(|text| text.get_ref().clone()).collect()))
        };
        form.iter().map(condition).collect::<Result<_>>().map(Filter)
    }

    /// Whether the row has one of the texts in every column.
    fn holds(&self, table: &CsvTable) -> Result<bool> {
        for (column, texts) in &self.0 {
            let cell = table.text(*column)?;
            if !texts.iter().any(|text| text == cell) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
