//! The release of a job: a name or a path as a caller gives it, or a release in memory.

use std::path::Path;

use super::{Release, bundled::bundled_text};
use crate::{
    error::Result,
    io::provenance::{Content, Input, sha256_of_text},
};

/// The release of a job.
#[derive(Clone, Debug)]
pub enum ReleaseInput {
    /// The name of a bundled release, or the path of a file.
    Named(String),
    /// A release in memory.
    Given(Box<Release>),
}

impl ReleaseInput {
    /// Reads it.
    pub fn read(&self) -> Result<Release> {
        match self {
            ReleaseInput::Named(name) => Release::find(name),
            ReleaseInput::Given(release) => Ok((**release).clone()),
        }
    }

    /// Its record in a provenance: the hash is that of the file, or of the text that [`Release::to_toml`] writes.
    pub fn input(&self) -> Result<Input> {
        match self {
            ReleaseInput::Named(name) => public_input(name),
            ReleaseInput::Given(release) => {
                let content = Content::Sha256(sha256_of_text(&release.to_toml()));
                Ok(Input { name: release.name.clone(), content })
            }
        }
    }
}

/// The record of a public input: a bundled release or ledger by its name, otherwise a file or folder.
pub fn public_input(name: &str) -> Result<Input> {
    match bundled_text(name) {
        Some(text) => Ok(Input { name: name.to_string(), content: Content::Sha256(sha256_of_text(text)) }),
        None => Input::public(Path::new(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_recorded_by_the_hash_of_its_text() {
        let named = ReleaseInput::Named("su-su-wang-2025".to_string());
        let release = named.read().unwrap();
        let given = ReleaseInput::Given(Box::new(release.clone()));
        assert_eq!(named.input().unwrap().name, given.input().unwrap().name);
        let file = format!("{}/data/releases/su-su-wang-2025.toml", env!("ASSAY_FILES"));
        let of_file = ReleaseInput::Named(file).input().unwrap();
        assert_eq!(named.input().unwrap().content, of_file.content);
        let written = sha256_of_text(&release.to_toml());
        assert_eq!(given.input().unwrap().sha256(), Some(written.as_str()));
        assert_eq!(ReleaseInput::Named("nosuch".to_string()).input().unwrap().content, Content::NotHashed);
    }
}
