//! `assay schema`: the histogram of a release, and its queries.

use anyhow::Result;
use dp_assay::release::{
    Release,
    schema::{Attribute, Schema},
};
use serde_json::{Value, json};

use super::{
    exit::Exit,
    page::{FormArgs, Page},
};

/// The attributes of a release and their values, and the number of counts of each query
///
/// Without attributes a release can be accounted for, but `assay measure` cannot draw noise for it.
#[derive(clap::Args)]
pub struct Args {
    /// A bundled release (`assay releases` lists them) or a TOML file of the same form
    #[arg(value_name = "NAME|FILE")]
    release: String,
    #[command(flatten)]
    form: FormArgs,
}

pub fn run(args: &Args) -> Result<Exit> {
    let release = Release::find(&args.release)?;
    let mut page = args.form.page();
    let schema = release.schema.clone().unwrap_or_default();
    let queries = queries(&release);
    put_data(&mut page, &release, &schema, &queries);
    page.text(format!("{}: {}\n", release.name, release.title));
    if release.schema.is_none() {
        page.text("The file names no attributes, so the histogram of the queries is not known.\n\n");
    } else {
        page.text(format!("{} cells, the last attribute fastest\n\n", schema.cells()));
        put_schema(&mut page, &schema);
        if let Some(beside) = &schema.beside {
            let cells = beside.schema.cells();
            page.text(format!("\nA second histogram beside it, {}: {cells} cells\n\n", beside.name));
            put_schema(&mut page, &beside.schema);
        }
        page.text("\n");
    }
    put_queries(&mut page, &queries);
    page.done()
}

/// A query, the levels that have it, and the number of its counts.
type Request = (String, Vec<String>, Option<usize>);

/// Each query once, the levels that have it, and the number of its counts; `None` if the schema lacks its attributes.
fn queries(release: &Release) -> Vec<Request> {
    let mut queries: Vec<Request> = Vec::new();
    for level in &release.levels {
        for query in &level.queries {
            match queries.iter_mut().find(|known| known.0 == query.name) {
                Some(known) => known.1.push(level.name.clone()),
                None => {
                    // Without attributes the word total would mean one count, which the file does not state.
                    let group = release.schema.as_ref().and_then(|schema| schema.group(&query.name).ok());
                    let counts = group.map(|group| group.counts());
                    queries.push((query.name.clone(), vec![level.name.clone()], counts));
                }
            }
        }
    }
    queries
}

fn put_data(page: &mut Page, release: &Release, schema: &Schema, queries: &[Request]) {
    let mut all = parts(schema);
    schema.beside.iter().for_each(|beside| all.extend(parts(&beside.schema)));
    let request =
        queries.iter().map(|(name, levels, counts)| json!({ "name": name, "levels": levels, "counts": counts }));
    page.object(json!({
        "release": release.name,
        "cells": release.schema.as_ref().map(Schema::cells),
        "cells_beside": schema.beside.as_ref().map(|beside| beside.schema.cells()),
        "schema": all,
        "queries": request.collect::<Vec<_>>(),
    }));
    page.records(all);
}

/// Attributes, recodes and selections of a histogram.
fn parts(schema: &Schema) -> Vec<Value> {
    let attributes = schema.attributes.iter().map(|attribute| {
        json!({ "kind": "attribute", "name": attribute.name, "of": attribute.name, "values": attribute.values })
    });
    let recodes = schema.recodes.iter().map(|recode| {
        let groups: Vec<Vec<&String>> = (0..recode.groups.len())
            .map(|group| members(&schema.attributes[recode.attribute], |value| recode.group_of[value] == group as u32))
            .collect();
        let of = &schema.attributes[recode.attribute].name;
        json!({ "kind": "recode", "name": recode.name, "of": of, "values": groups })
    });
    let selections = schema.selections.iter().map(|selection| {
        let of = &schema.attributes[selection.attribute];
        let values = members(of, |value| selection.selected[value]);
        json!({ "kind": "selection", "name": selection.name, "of": of.name, "values": values })
    });
    attributes.chain(recodes).chain(selections).collect()
}

/// The chosen values of an attribute.
fn members(attribute: &Attribute, chosen: impl Fn(usize) -> bool) -> Vec<&String> {
    attribute.values.iter().enumerate().filter(|(value, _)| chosen(*value)).map(|(_, name)| name).collect()
}

fn put_schema(page: &mut Page, schema: &Schema) {
    let attribute = |attribute: &Attribute| {
        vec![attribute.name.clone(), attribute.values.len().to_string(), listed(&attribute.values)]
    };
    page.columns(&["attribute", "values", "which"], schema.attributes.iter().map(attribute));
    if !schema.recodes.is_empty() {
        page.text("\n");
        let rows = schema.recodes.iter().map(|recode| {
            let of = &schema.attributes[recode.attribute].name;
            vec![recode.name.clone(), of.clone(), recode.groups.len().to_string(), listed(&recode.groups)]
        });
        page.columns(&["recode", "of", "groups", "which"], rows);
    }
    if !schema.selections.is_empty() {
        page.text("\n");
        let rows = schema.selections.iter().map(|selection| {
            let of = &schema.attributes[selection.attribute];
            let values: Vec<String> = members(of, |value| selection.selected[value]).into_iter().cloned().collect();
            vec![selection.name.clone(), of.name.clone(), values.len().to_string(), listed(&values)]
        });
        page.columns(&["selection", "of", "values", "which"], rows);
    }
}

fn put_queries(page: &mut Page, queries: &[Request]) {
    let rows = queries.iter().map(|(name, levels, counts)| {
        let counts = counts.map_or_else(|| "-".to_string(), |counts| counts.to_string());
        vec![name.clone(), counts, levels.join(", ")]
    });
    page.columns(&["query", "counts", "levels"], rows);
}

/// The names in a line of at most 60 characters; --json has all of them.
fn listed(names: &[String]) -> String {
    const WIDEST: usize = 60;
    let whole = names.join(", ");
    let numbered = names.len() > 3 && names.iter().enumerate().all(|(place, name)| *name == place.to_string());
    if numbered {
        return format!("0 to {}", names.len() - 1);
    }
    if whole.chars().count() <= WIDEST {
        return whole;
    }
    let last = names.last().map_or("", String::as_str);
    let mut shown = String::new();
    for name in names {
        if shown.chars().count() + name.chars().count() + last.chars().count() + 8 > WIDEST {
            break;
        }
        shown += name;
        shown += ", ";
    }
    format!("{shown}..., {last}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_cut_in_the_middle() {
        let names = |range: std::ops::Range<u32>| range.map(|k| format!("value {k}")).collect::<Vec<_>>();
        assert_eq!(listed(&names(1..4)), "value 1, value 2, value 3");
        let long = listed(&names(1..100));
        assert!(long.starts_with("value 1, ") && long.ends_with(", ..., value 99") && long.len() <= 64, "{long}");
        let numbers: Vec<String> = (0..116).map(|k| k.to_string()).collect();
        assert_eq!(listed(&numbers), "0 to 115");
    }
}
