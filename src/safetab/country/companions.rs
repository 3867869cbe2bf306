//! Files beside a specification that it names: lists of codes, and of groups.

use std::path::{Component, Path, PathBuf};

use toml::Spanned;

use super::{
    file::{ColumnOfFile, CountryFile},
    names,
};
use crate::{
    error::Result,
    io::{csv_reader::CsvTable, toml_reader::TomlReader},
};

/// The folder of a specification, from which the files are read that it names.
pub(super) struct Companions<'a> {
    pub(super) reader: &'a TomlReader<'a>,
    folder: PathBuf,
}

impl<'a> Companions<'a> {
    /// The files beside the specification of a reader.
    pub(super) fn new(reader: &'a TomlReader<'a>) -> Self {
        let folder = Path::new(reader.file()).parent().map_or_else(PathBuf::new, Path::to_path_buf);
        Companions { reader, folder }
    }

    /// The path of a file, which must be in the folder or below it.
    fn path(&self, name: &Spanned<String>) -> Result<PathBuf> {
        let given = Path::new(name.get_ref());
        let is_below = given.components().all(|part| matches!(part, Component::Normal(_)));
        match is_below && given.file_name().is_some() {
            true => Ok(self.folder.join(given)),
            false => {
                let why = format!("{:?} is no file in the folder of the specification", name.get_ref());
                Err(self.reader.refuse(name.span().start, why))
            }
        }
    }

    /// Opens a table with a header.
    pub(super) fn open(&self, name: &Spanned<String>) -> Result<CsvTable> {
        CsvTable::open(&self.path(name)?)
    }

    /// The cells of a column with the line of each: not empty, and each once.
    pub(super) fn column(&self, form: &ColumnOfFile) -> Result<Vec<String>> {
        let mut table = self.open(&form.file)?;
        let column = table.column(&[form.column.get_ref()])?;
        let (mut seen, mut all) = (std::collections::HashSet::new(), Vec::new());
        while table.next()? {
            let cell = table.name(column)?.to_string();
            if let Err(why) = names::check_name(&cell) {
                return Err(table.refuse(column + 1, &format!("the code {cell:?} {why}")));
            }
            if !seen.insert(cell.clone()) {
                return Err(table.refuse(column + 1, &format!("the code {cell:?} occurs twice")));
            }
            all.push(cell);
        }
        Ok(all)
    }

    /// All files that a specification names, each once, by name and path.
    pub(super) fn all(&self, form: &CountryFile) -> Result<Vec<(String, PathBuf)>> {
        let codes = form.attributes.iter().filter_map(|own| Some(&own.codes_from.as_ref()?.get_ref().file));
        let groups = form.groupings.iter().flat_map(|own| &own.tables).flat_map(|own| [&own.file, &own.members.file]);
        let mut all: Vec<(String, PathBuf)> = Vec::new();
        for name in codes.chain(groups) {
            if !all.iter().any(|(known, _)| known == name.get_ref()) {
                all.push((name.get_ref().clone(), self.path(name)?));
            }
        }
        Ok(all)
    }
}
