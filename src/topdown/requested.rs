//! The queries and levels of an estimation, from their names.

use crate::{error::Result, release::Release};

/// The requested queries, each once; "all" stands for those of the release, and none for the total.
pub(super) fn queries(given: &[String], release: &Release) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    // Of two histograms those of the first: each is estimated separately.
    let is_first = |name: &String| release.schema.as_ref().is_none_or(|schema| schema.asks_beside(name).is_none());
    let of_release = || {
        let names = release.levels.iter().flat_map(|level| &level.queries).map(|query| query.name.clone());
        names.filter(is_first)
    };
    let given = given.iter().flat_map(|name| match name.as_str() {
        "all" => of_release().collect(),
        _ => vec![name.clone()],
    });
    for name in given {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() { vec!["total".to_string()] } else { names }
}

/// The numbers of the requested levels in the release; without names all but the last.
pub(super) fn levels(given: &[String], release: &Release) -> Result<Vec<usize>> {
    if given.is_empty() {
        return Ok((0..release.levels.len() - 1).collect());
    }
    let find = |name: &String| {
        release.level(name)?;
        Ok(release.levels.iter().position(|level| level.name == *name).unwrap_or(0))
    };
    given.iter().map(find).collect()
}
