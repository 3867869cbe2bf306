//! Published values as data: `data/published/*.toml` and files of the same form or CSV, a row for each printed number.

use std::path::Path;

use rug::Rational;

use super::{bundled::PAPERS, published_file};
pub use super::{
    published_value::{Beside, Compute, Paper, Published, Remarks},
    unit::Unit,
};
use crate::{
    error::{Error, Result},
    io::files::{file_error, write_new},
};

/// The published values of the named papers and files, or of all papers if none is named: the papers in their own
/// order, then the files in the order of their names.
pub fn papers(names: &[String]) -> Result<Vec<Paper>> {
    let is_bundled = |name: &&String| PAPERS.iter().any(|(key, _)| key == name);
    let mut papers: Vec<Paper> = (PAPERS.iter())
        .filter(|(key, _)| names.is_empty() || names.iter().any(|name| name == key))
        .map(|(key, text)| published_file::bundled(text, key))
        .collect::<Result<_>>()?;
    for (index, name) in names.iter().enumerate() {
        if is_bundled(&name) || names[..index].contains(name) {
            continue;
        }
        let paper = published_file::read(&existing(name)?)?;
        if let Some(other) = papers.iter().find(|other| other.paper == paper.paper) {
            let why =
                format!("paper = {:?} is the key of {} as well: give each a key of its own", paper.paper, other.file);
            return Err(Error::DataFile { file: name.clone(), line: 0, column: 0, why });
        }
        papers.push(paper);
    }
    Ok(papers)
}

/// The text of a bundled paper's file.
pub fn bundled_text(key: &str) -> Option<&'static str> {
    PAPERS.iter().find(|(known, _)| *known == key).map(|(_, text)| *text)
}

/// A number as a bundled paper prints it, by the id of its row.
pub(super) fn printed(paper: &str, id: &str) -> Result<Rational> {
    let of_paper = papers(&[paper.to_string()])?.remove(0);
    match of_paper.values.iter().find(|value| value.id == id).and_then(|value| value.stated.number()) {
        Some(number) => Ok(number),
        None => {
            Err(Error::NeedsData { what: id.to_string(), needed: format!("a row {id} in data/published/{paper}.toml") })
        }
    }
}

/// The kinds of computation allowed in users' files, by the names in `kind`.
pub fn kinds() -> impl Iterator<Item = &'static str> {
    published_file::kinds()
}

/// The path of an existing file of published values; otherwise an error.
fn existing(name: &str) -> Result<String> {
    let path = Path::new(name);
    if path.exists() {
        return Ok(name.to_string());
    }
    if name.contains(['/', '\\']) || path.extension().is_some_and(|end| end == "toml" || end == "csv") {
        return Err(file_error(path, "no such file"));
    }
    let has = "there is no file of this name, and the published values are bundled of";
    Err(Error::unknown("paper", name, has, PAPERS.iter().map(|(key, _)| *key)))
}

/// A template for users' own published values: every field with a comment, and rows that agree.
pub fn template() -> &'static str {
    include_str!("../../data/templates/published.toml")
}

/// Writes the [`template`] as a new file; an existing file is not overwritten.
pub fn write_template(path: &Path) -> Result<()> {
    write_new(path, template())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bundled_papers_are_read_and_their_rows_are_unique() {
        for paper in papers(&[]).unwrap() {
            let mut ids: Vec<&str> = paper.values.iter().map(|value| value.id.as_str()).collect();
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), paper.values.len(), "{}", paper.paper);
        }
        assert!(papers(&["nosuch".to_string()]).is_err());
    }
}
