//! A release as a TOML file, from which the same release is read again.

use std::fmt::Write;

use rug::Rational;

use super::{Changed, GeoLevel, Query, Release, published, schema::Schema};
use crate::{
    error::{Error, Result},
    loss::law::Law,
    numeric::rational,
};

impl Release {
    /// The TOML file of this release: every query with its noise, so that no budget has to add up. Read again, it has the same
    /// queries, noise, budget, paths and histogram.
    pub fn to_toml(&self) -> String {
        let mut out = String::new();
        for (key, value) in [("name", &self.name), ("title", &self.title), ("source", &self.source)] {
            line(&mut out, key, &quoted(value));
        }
        line(&mut out, "neighbors", &quoted(self.neighbors.name()));
        if self.levels.iter().flat_map(|level| &level.queries).any(|query| query.changed == Changed::AsGiven) {
            line(&mut out, "counts_as_given", "true");
        }
        if self.budget_only {
            line(&mut out, "budget_only", "true");
        }
        self.exact_total.iter().for_each(|name| line(&mut out, "exact_total", &quoted(name)));
        line(&mut out, "# spent in all: rho", &number(&self.rho));
        for published in &self.published {
            out += "\n[[published]]\n";
            published::lines(published, quoted).iter().for_each(|(key, value)| line(&mut out, key, value));
        }
        if let Some(schema) = &self.schema {
            put_schema(&mut out, schema, None);
            schema.beside.iter().for_each(|beside| put_schema(&mut out, &beside.schema, Some(&beside.name)));
        }
        for mix in &self.mixes {
            out += "\n[[mix]]\n";
            line(&mut out, "name", &quoted(&mix.name));
            line(&mut out, "levels", &list(mix.levels.iter().map(|level| &self.levels[*level].name)));
            line(&mut out, "groups", &mix.groups.to_string());
            line(&mut out, "kind", &quoted(&mix.kind));
            line(&mut out, "most", &mix.most.to_string());
        }
        self.levels.iter().for_each(|level| put_level(&mut out, level));
        if let Some(paths) = &self.paths {
            let names = |levels: &[usize]| list(levels.iter().map(|level| &self.levels[*level].name));
            let mut droppable: Vec<usize> = paths.dropped.iter().flatten().copied().collect();
            droppable.sort_unstable();
            droppable.dedup();
            out += "\n[paths]\n";
            line(&mut out, "note", &quoted(&paths.note));
            line(&mut out, "droppable", &names(&droppable));
            let sets: Vec<String> = paths.dropped.iter().map(|dropped| format!("  {},\n", names(dropped))).collect();
            line(&mut out, "dropped", &format!("[\n{}]", sets.concat()));
        }
        out
    }
}

impl Release {
    /// The same, read from its file: an error for noise that no release file can describe, such as a table of masses.
    pub(super) fn read_again(&self) -> Result<Release> {
        let unwritable =
            |why: String| Error::unsuitable(format!("this noise cannot be written as a release file: {why}"));
        let read = Release::parse(&self.to_toml(), "the file").map_err(|error| unwritable(error.to_string()))?;
        let laws = |release: &Release| -> Vec<Law> {
            release.levels.iter().flat_map(|level| &level.queries).map(|query| query.law.clone()).collect()
        };
        // A law without a form in files would be read as another one.
        if laws(&read) == laws(self) { Ok(read) } else { Err(unwritable("it reads as other noise".to_string())) }
    }
}

#[cfg(feature = "mechanisms")]
impl Release {
    /// Writes [`Release::to_toml`] to a file, atomically; missing folders are created.
    pub fn write(&self, path: &std::path::Path) -> crate::error::Result<()> {
        crate::io::files::write_text(path, &self.to_toml())
    }
}

fn line(out: &mut String, key: &str, value: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{key} = {value}");
}

/// A string in which everything that is special in TOML is escaped.
pub(super) fn quoted(text: &str) -> String {
    toml::Value::String(text.to_string()).to_string()
}

fn list<'a>(names: impl Iterator<Item = &'a String>) -> String {
    format!("[{}]", names.map(|name| quoted(name)).collect::<Vec<_>>().join(", "))
}

/// A number exactly if its decimal ends, otherwise as a fraction in quotes.
fn number(value: &Rational) -> String {
    let text = rational::display(value);
    if text.contains('/') { quoted(&text) } else { text }
}

fn put_level(out: &mut String, level: &GeoLevel) {
    *out += "\n[[level]]\n";
    line(out, "name", &quoted(&level.name));
    level.queries.iter().for_each(|query| put_query(out, query));
}

fn put_query(out: &mut String, query: &Query) {
    *out += "[[level.query]]\n";
    line(out, "name", &quoted(&query.name));
    let law = &query.law;
    if law.key() != Law::DEFAULT_KEY {
        line(out, "law", &quoted(law.key()));
    }
    line(out, law.parameter_name(), &number(law.parameter()));
    for (name, value) in law.other_parameters() {
        line(out, name, &number(&value));
    }
    let shift = if query.free_rows { "rows" } else { "sensitivity" };
    for (key, value) in [("times", query.times), ("cells", query.cells), (shift, query.shift)] {
        if value != 1 || key == "rows" {
            line(out, key, &value.to_string());
        }
    }
    query.kind.iter().for_each(|kind| line(out, "kind", &quoted(kind)));
    match query.changed {
        // The whole file states that counts are as given.
        Changed::Twice | Changed::AsGiven | Changed::Guaranteed => {}
        Changed::Never => line(out, "moves", "0"),
    }
}

fn put_schema(out: &mut String, schema: &Schema, histogram: Option<&str>) {
    for attribute in &schema.attributes {
        *out += "\n[[attribute]]\n";
        line(out, "name", &quoted(&attribute.name));
        let numbered = attribute.values.iter().enumerate().all(|(position, value)| *value == position.to_string());
        match numbered {
            true => line(out, "size", &attribute.values.len().to_string()),
            false => line(out, "values", &list(attribute.values.iter())),
        }
        histogram.iter().for_each(|name| line(out, "histogram", &quoted(name)));
    }
    for recode in &schema.recodes {
        let attribute = &schema.attributes[recode.attribute];
        let members = |group: usize| {
            let of_group = attribute.values.iter().zip(&recode.group_of).filter(move |(_, of)| **of as usize == group);
            list(of_group.map(|(value, _)| value))
        };
        *out += "\n[[recode]]\n";
        line(out, "name", &quoted(&recode.name));
        line(out, "attribute", &quoted(&attribute.name));
        let groups: Vec<String> = (0..recode.groups.len()).map(members).collect();
        line(out, "groups", &format!("[{}]", groups.join(", ")));
    }
    for selection in &schema.selections {
        let attribute = &schema.attributes[selection.attribute];
        let selected = attribute.values.iter().zip(&selection.selected).filter(|(_, selected)| **selected);
        *out += "\n[[selection]]\n";
        line(out, "name", &quoted(&selection.name));
        line(out, "attribute", &quoted(&attribute.name));
        line(out, "values", &list(selected.map(|(value, _)| value)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bundled_release_is_read_again_as_it_was() {
        for release in Release::bundled().unwrap() {
            let again = Release::parse(&release.to_toml(), "written").unwrap();
            assert_eq!((&again.name, &again.title, &again.source), (&release.name, &release.title, &release.source));
            assert_eq!((&again.rho, again.neighbors), (&release.rho, release.neighbors));
            assert_eq!(again.mixes, release.mixes);
            assert_eq!(again.published, release.published);
            assert_eq!((again.budget_only, &again.exact_total), (release.budget_only, &release.exact_total));
            assert_eq!(
                again.paths.map(|paths| (paths.note, paths.dropped)),
                release.paths.map(|paths| (paths.note, paths.dropped)),
                "{}",
                release.name
            );
            for (level, own) in again.levels.iter().zip(&release.levels) {
                assert_eq!((&level.name, &level.rho), (&own.name, &own.rho));
                for (query, own) in level.queries.iter().zip(&own.queries) {
                    assert_eq!((&query.name, &query.law, query.times), (&own.name, &own.law, own.times));
                    assert_eq!((query.cells, query.shift, query.changed), (own.cells, own.shift, own.changed));
                }
            }
            assert_eq!(again.levels.len(), release.levels.len());
            let (schema, own) = (again.schema.unwrap_or_default(), release.schema.unwrap_or_default());
            assert_eq!((&schema.attributes, &schema.selections), (&own.attributes, &own.selections));
            assert_eq!(schema.beside, own.beside);
            for (recode, own) in schema.recodes.iter().zip(&own.recodes) {
                // A group is named by its values, here in the order of the attribute.
                assert_eq!(
                    (&recode.name, recode.attribute, &recode.group_of),
                    (&own.name, own.attribute, &own.group_of)
                );
            }
        }
    }

    #[test]
    fn names_and_numbers_that_need_care_survive() {
        let text = "name = 'a \"b\" \\ c'\ntitle = 'é'\nsource = '''two\nlines'''\nneighbors = 'add-remove'\n\
                    [[level]]\nname = '[x]'\n[[level.query]]\nname = 'q = \"1\"'\nlaw = 'discrete-laplace'\n\
                    epsilon = '1/3'\nsensitivity = 2\n[[level.query]]\nname = 'g'\nlaw = 'gaussian'\nsigma2 = 1e-5\n\
                    times = 7\ncells = 3\n";
        let release = Release::parse(text, "f").unwrap();
        let again = Release::parse(&release.to_toml(), "written").unwrap();
        assert_eq!((&again.name, &again.source), (&release.name, &release.source));
        assert_eq!(again.levels[0].name, "[x]");
        let parts = |release: &Release| release.composition(&[] as &[&str], None).unwrap().counts().to_vec();
        assert_eq!(parts(&again), parts(&release));
    }
}
