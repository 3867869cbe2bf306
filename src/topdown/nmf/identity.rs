//! The identity of saved work: everything on which estimates depend, as a description with a version.
//!
//! Work in a folder is continued only for the same request, program, states and files. True counts are confidential: the
//! description only states whether there are any, because a hash of them would confirm a correct guess.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

/// The version of the form of a description. Work under another one is not continued.
const FORMAT: u64 = 2;

/// A request for estimates, besides the files of noisy counts and the true counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RequestIdentity {
    /// SHA-256 of the release as a file.
    pub release: String,
    /// The constraints that are kept: none, totals or all.
    pub constraints: &'static str,
    /// Given exact totals, by the number of the state.
    pub totals: BTreeMap<u32, i64>,
    /// The queries; none for the tables of P.L. 94-171.
    pub queries: Option<Vec<String>>,
    /// The numbers of the levels.
    pub levels: Vec<usize>,
    /// SHA-256 of the file of areas.
    pub areas: Option<String>,
    /// The numbers of leading digits of tabulation units.
    pub tabulation: Vec<u32>,
    /// Whole counts, with the queries that are settled first.
    pub whole: Option<Vec<String>>,
    /// Whether there are true counts.
    pub truth: bool,
    /// Whether files may be missing.
    pub incomplete: bool,
    /// Whether counts that do not fit each other are used.
    pub despite_misfit: bool,
}

/// The identity of saved work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Identity {
    format: u64,
    program: String,
    states: Vec<u32>,
    /// The files of noisy counts and constraints, with their sizes.
    files: BTreeMap<String, u64>,
    request: RequestIdentity,
}

impl Identity {
    /// The work of this program on a request, for these states and files.
    pub(super) fn new(request: RequestIdentity, states: Vec<u32>, files: BTreeMap<String, u64>) -> Identity {
        let program = format!("assay {}", env!("CARGO_PKG_VERSION"));
        Identity { format: FORMAT, program, states, files, request }
    }

    /// The text of its description.
    pub(super) fn to_text(&self) -> String {
        // Plain numbers and text can always be serialized.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }

    /// Compares with the description of work that was begun; an error is the reason why it is not continued.
    pub(super) fn check(&self, begun: &str) -> Result<(), String> {
        let begun: Value = serde_json::from_str(begun).map_err(
            |_| "does not describe any work, or is damaged: use another folder, or remove this one and start again",
        )?;
        let program = begun["program"].as_str().unwrap_or("another program");
        match begun["format"].as_u64() {
            Some(FORMAT) => {}
            Some(other) => {
                return Err(format!(
                    "the folder has work of {program} whose description has format {other}, and this program continues format \
                     {FORMAT}: finish it with that program, or use another folder"
                ));
            }
            None => {
                return Err(format!(
                    "the folder has work that {program} began before descriptions had a format: it cannot be compared with this \
                     job; finish it with that program, or use another folder"
                ));
            }
        }
        let own: Value = serde_json::from_str(&self.to_text()).unwrap_or_default();
        let differs = differences(&own, &begun);
        match differs.is_empty() {
            true => Ok(()),
            false => Err(format!(
                "the folder has the work of another job: other files or another question, by {}",
                differs.join(", ")
            )),
        }
    }
}

/// The names of the fields in which two descriptions differ, in words.
fn differences(own: &Value, begun: &Value) -> Vec<String> {
    let mut names = Vec::new();
    for (place, own, begun) in [("", own, begun), ("request", &own["request"], &begun["request"])] {
        let keys = |value: &Value| value.as_object().map_or_else(Vec::new, |object| object.keys().cloned().collect());
        let (ours, theirs): (Vec<String>, Vec<String>) = (keys(own), keys(begun));
        let others = theirs.iter().filter(|key| !ours.contains(key));
        for key in ours.iter().chain(others).filter(|key| !(place.is_empty() && *key == "request")) {
            if own.get(key) != begun.get(key) {
                names.push(key.replace('_', " "));
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    type Change = (&'static str, fn(&mut RequestIdentity));

    fn identity(change: impl FnOnce(&mut RequestIdentity)) -> Identity {
        let mut request = RequestIdentity {
            release: "ab".to_string(),
            constraints: "all",
            totals: BTreeMap::from([(9, 895)]),
            queries: Some(vec!["total".to_string()]),
            levels: vec![0, 1],
            areas: None,
            tabulation: vec![],
            whole: None,
            truth: false,
            incomplete: false,
            despite_misfit: false,
        };
        change(&mut request);
        Identity::new(request, vec![9, 44], BTreeMap::from([("State.parquet/a".to_string(), 7)]))
    }

    #[test]
    fn every_field_of_a_request_decides_and_is_named() {
        let begun = identity(|_| {}).to_text();
        assert_eq!(identity(|_| {}).check(&begun), Ok(()));
        let changes: [Change; 11] = [
            ("release", |request| request.release = "cd".to_string()),
            ("constraints", |request| request.constraints = "none"),
            ("totals", |request| request.totals = BTreeMap::from([(9, 896)])),
            ("queries", |request| request.queries = None),
            ("levels", |request| request.levels = vec![1]),
            ("areas", |request| request.areas = Some("ef".to_string())),
            ("tabulation", |request| request.tabulation = vec![2]),
            ("whole", |request| request.whole = Some(vec![])),
            ("truth", |request| request.truth = true),
            ("incomplete", |request| request.incomplete = true),
            ("despite misfit", |request| request.despite_misfit = true),
        ];
        for (name, change) in changes {
            let why = identity(change).check(&begun).unwrap_err();
            assert!(why.contains("another job") && why.ends_with(&format!("by {name}")), "{why}");
        }
        // Every field is in the list above.
        let fields = serde_json::to_value(identity(|_| {})).unwrap()["request"].as_object().unwrap().len();
        assert_eq!(fields, changes.len());
        for (from, to, name) in
            [("895", "895,\"44\":1", "totals"), ("/a\":7", "/a\":8", "files"), ("9,44", "9", "states")]
        {
            let why = identity(|_| {}).check(&begun.replacen(from, to, 1)).unwrap_err();
            assert!(why.ends_with(&format!("by {name}")), "{why}");
        }
        let why = identity(|_| {}).check(&begun.replacen("{", "{\"new\":1,", 1)).unwrap_err();
        assert!(why.ends_with("by new"), "{why}");
    }

    #[test]
    fn work_of_other_forms_is_refused_with_the_reason() {
        // As 0.2.0 wrote it before descriptions had a format.
        let before = include_str!("../../../tests/earlier/job-0.2.0.json");
        let why = identity(|_| {}).check(before).unwrap_err();
        assert!(why.contains("work that assay 0.2.0 began before descriptions had a format"), "{why}");
        let later = identity(|_| {}).to_text().replacen("\"format\":2", "\"format\":3", 1);
        assert!(identity(|_| {}).check(&later).unwrap_err().contains("has format 3"));
        let cut = &later[..later.len() / 2];
        assert!(identity(|_| {}).check(cut).unwrap_err().contains("damaged"));
    }
}
