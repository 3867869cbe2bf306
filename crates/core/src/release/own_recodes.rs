//! Recodes of a user's own, in a file beside a release: they group the answers of queries, and are no part of what was released.
//!
//! The file has the tables `[[recode]]` of a release file, each with `name`, `attribute` and `groups`, and nothing else.

use std::path::Path;

use serde::Deserialize;

use super::{Release, schema::Schema, schema_file};
use crate::{
    error::{Error, Result},
    io::{reading::read_text, toml_reader::TomlReader},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecodesFile {
    #[serde(default, rename = "recode")]
    recodes: Vec<schema_file::RecodeFile>,
}

impl Release {
    /// The release with the recodes of a file in its histogram. Its noise, and its own queries, are as before.
    pub fn with_recodes(&self, path: &Path) -> Result<Release> {
        let text = read_text(path)?;
        let file = crate::error::shown(path);
        let reader = TomlReader::new(&file, &text);
        let raw: RecodesFile = reader.toml()?;
        if raw.recodes.is_empty() {
            return Err(reader.refuse_file("no [[recode]]: each has a name, an attribute and groups of its values"));
        }
        let Some(schema) = &self.schema else {
            return Err(Error::unsuitable(format!(
                "the release {} has no attributes, so that there is nothing to recode",
                self.name
            )));
        };
        let mut schema: Schema = schema.clone();
        schema_file::add_recodes(&reader, &raw.recodes, &mut schema)?;
        Ok(Release { schema: Some(schema), sha256: None, ..self.clone() })
    }
}

#[cfg(all(test, feature = "mechanisms"))]
mod tests {
    use super::*;

    fn with(text: &str) -> std::result::Result<Release, String> {
        let file = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Release::find("pl94-persons-us").unwrap().with_recodes(file.path()).map_err(|why| why.to_string())
    }

    #[test]
    fn a_recode_of_a_file_is_that_of_a_release_file() {
        let recode =
            "[[recode]]\nname = \"origin\"\nattribute = \"hispanic\"\ngroups = [[\"hispanic\"], [\"not-hispanic\"]]\n";
        let own = with(recode).unwrap();
        let release = Release::find("pl94-persons-us").unwrap();
        let written = Release::parse(&format!("{}\n{recode}", release.to_toml()), "own.toml").unwrap();
        assert_eq!(own.schema, written.schema);
        assert_eq!(own.to_toml(), written.to_toml());
    }

    #[test]
    fn recodes_that_are_not_understood_are_refused_with_their_line() {
        let own = |name: &str, attribute: &str, groups: &str| {
            format!("[[recode]]\nname = \"{name}\"\nattribute = \"{attribute}\"\ngroups = {groups}\n")
        };
        let both = "[[\"hispanic\"], [\"not-hispanic\"]]";
        for (text, line, says) in [
            (own("hispanic", "hispanic", both), "line 2", "twice"),
            (own("hhinstlevels", "hispanic", both), "line 2", "twice"),
            (own("x", "hispanic", both) + &own("x", "hispanic", both), "line 6", "twice"),
            (own("total", "hispanic", both), "line 2", "have a meaning"),
            (own("a * b", "hispanic", both), "line 2", "have a meaning"),
            (own(" ", "hispanic", both), "line 2", "have a meaning"),
            (own("x", "race", both), "line 3", "cenrace"),
            (own("x", "hispanic", "[[\"hispanic\"]]"), "line 2", "\"not-hispanic\" of \"hispanic\" is in no group"),
            (
                own("x", "hispanic", "[[\"hispanic\"], [\"hispanic\", \"not-hispanic\"]]"),
                "line 4",
                "no other group has",
            ),
            (own("x", "hispanic", "[[\"hispanic\"], [\"not-hispanic\"], []]"), "line 2", "empty"),
            (own("x", "hispanic", "[]"), "line 2", "in no group"),
            (own("x", "hispanic", "3"), "line 4", "expected a sequence"),
            (own("x", "hispanic", both) + "labels = []\n", "line 5", "labels"),
            ("name = \"x\"\n".to_string(), "line 1", "name"),
            (String::new(), "", "no [[recode]]"),
            ("[[recode]\n".to_string(), "line 1", ""),
        ] {
            let why = with(&text).unwrap_err();
            assert!(why.contains(line) && why.contains(says), "{text}\n{line} {says}: {why}");
        }
        let bare = Release::find("su-su-wang-2025").unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), own("x", "hispanic", both)).unwrap();
        if bare.schema.is_none() {
            assert!(bare.with_recodes(file.path()).unwrap_err().to_string().contains("no attributes"));
        }
    }
}
