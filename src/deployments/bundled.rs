//! The deployments that come with the program, from data/deployments.

use super::{
    file::{self, Deployment},
    scale::Basis,
};
use crate::error::{Error, Result};

macro_rules! bundled {
    ($($name:literal),* $(,)?) => {
        &[$((concat!("data/deployments/", $name, ".toml"), include_str!(concat!("../../data/deployments/", $name, ".toml")))),*]
    };
}

/// The files, each with its text.
pub const FILES: &[(&str, &str)] =
    bundled!["census", "google", "apple", "microsoft", "wikimedia", "linkedin-meta", "others"];

/// The named deployments, or all if none is named, in the order of the files.
pub fn find(names: &[String]) -> Result<Vec<Deployment>> {
    let mut all = Vec::new();
    for (name, text) in FILES {
        all.extend(file::parse(name, text)?);
    }
    for name in names {
        if !all.iter().any(|deployment| deployment.name == *name) {
            let known = all.iter().map(|deployment| deployment.name.as_str());
            return Err(Error::unknown("deployment", name, "there are", known));
        }
    }
    all.retain(|deployment| names.is_empty() || names.contains(&deployment.name));
    Ok(all)
}

/// The deployment that composes this bundled release with others about the same records, and the names of these.
pub fn together_with(release: &str) -> Result<Option<(Deployment, Vec<String>)>> {
    for deployment in find(&[])? {
        let Some(Basis::Together(releases)) = &deployment.basis else { continue };
        if releases.iter().any(|one| one.name == release) {
            let others = releases.iter().map(|one| one.name.clone()).filter(|name| name != release).collect();
            return Ok(Some((deployment, others)));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_unknown_ones_are_refused() {
        let all = find(&[]).unwrap();
        let mut names: Vec<&str> = all.iter().map(|deployment| deployment.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all.len());
        assert_eq!(find(&[all[3].name.clone()]).unwrap().len(), 1);
        assert!(find(&["nosuch".to_string()]).unwrap_err().to_string().contains("deployment"));
    }
}
