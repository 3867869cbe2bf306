//! Files beside a specification that it names: lists of codes, and of groups.

use std::{
    collections::HashSet,
    path::{Component, Path, PathBuf},
};

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

    /// Opens a table with a header. It is read more than once, so it must be a file, and no pipe.
    pub(super) fn open(&self, name: &Spanned<String>) -> Result<CsvTable> {
        let path = self.path(name)?;
        if path.exists() && !path.is_file() {
            let why = format!("{} is no file: give a table in CSV", crate::error::shown(&path));
            return Err(self.reader.refuse(name.span().start, why));
        }
        CsvTable::open(&path)
    }

    /// The cells of a column: not empty, and each once.
    pub(super) fn column(&self, form: &ColumnOfFile) -> Result<Vec<String>> {
        let mut table = self.open(&form.file)?;
        let column = table.column(&[form.column.get_ref()])?;
        let (mut seen, mut all) = (HashSet::new(), Vec::new());
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

#[cfg(test)]
mod tests {
    use super::super::specification::CountrySpecification;

    #[test]
    fn a_table_beside_a_specification_is_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().join("spec.toml").display().to_string();
        let said = || CountrySpecification::parse(CountrySpecification::template(), &name).unwrap_err().to_string();
        let path = folder.path().join("race-and-ethnicity-codes.txt");
        assert!(said().contains("race-and-ethnicity-codes.txt"), "{}", said());
        std::fs::create_dir(&path).unwrap();
        assert!(said().contains("spec.toml, line ") && said().contains("is no file"), "{}", said());
        #[cfg(unix)]
        {
            std::fs::remove_dir(&path).unwrap();
            assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
            assert!(said().contains("spec.toml, line ") && said().contains("is no file"), "{}", said());
        }
        std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir(&path)).unwrap();
        std::fs::write(&path, "RACE_ETH_CODE|NAME\n1000|a\n1000|b\n").unwrap();
        assert!(said().contains("line 3") && said().contains("occurs twice"), "{}", said());
    }
}
