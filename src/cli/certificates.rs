//! `assay verify --certificates`: the claims of certificates beside this program's own answers.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use dp_assay::{
    certificate::{Claim, Question},
    numeric::{enclosure::Certainty, rational},
};
use serde_json::{Value, json};

use super::{
    Exit,
    output::exact,
    page::Page,
    prove::{given_in_json, given_in_words},
};

/// A certificate of the folder, and what was found of its two ends.
struct Row {
    file: PathBuf,
    claim: Claim,
    ends: (Certainty, Certainty),
}

/// Every file of JSON in the folder: its bytes, its seal, and both ends of its claim by this program's own enclosures.
pub fn verify(folder: &Path, mut page: Page) -> Result<Exit> {
    let rows = files(folder)?.into_iter().map(row).collect::<Result<Vec<Row>>>()?;
    if rows.is_empty() {
        bail!("--certificates {}: no file in it ends in .json", folder.display());
    }
    page.object(json!({ "certificates": rows.iter().map(in_json).collect::<Value>() }));
    page.records(rows.iter().map(in_json));
    page.columns(&["certificate", "claim", "seal", "recomputed"], rows.iter().map(cells).collect());
    page.text(
        "\nRecomputed is what this program's own enclosures of delta say of both ends. The proof is another program's: \
         python3 proofs/check.py FILE...\n",
    );
    page.print()?;
    let agrees = rows.iter().all(|row| row.ends == (Certainty::Yes, Certainty::Yes));
    Ok(if agrees { Exit::Done } else { Exit::No })
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let shown = || format!("--certificates {}", folder.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(shown)? {
        let path = entry.with_context(shown)?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn row(file: PathBuf) -> Result<Row> {
    let claim = Claim::read(&file)?;
    let ends = claim.recompute().with_context(|| file.display().to_string())?;
    Ok(Row { file, claim, ends })
}

fn cells(row: &Row) -> Vec<String> {
    let (lower, upper) = (rational::display(&row.claim.ends.lower), rational::display(&row.claim.ends.upper));
    let at = given_in_words(&row.claim);
    let claim = match &row.claim.question {
        Question::Scale { .. } => format!("noise times {upper} is enough, {lower} is not, at {at}"),
        question => format!("{lower} <= {} <= {upper} at {at}", question.about()),
    };
    let name = row.file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    vec![name, claim, "whole".to_string(), verdict(row.ends).to_string()]
}

fn in_json(row: &Row) -> Value {
    let Claim { subject, question, ends, .. } = &row.claim;
    let mut object = json!({ "file": row.file, "subject": subject });
    object[question.about()] = json!({ "lower": exact(&ends.lower), "upper": exact(&ends.upper) });
    for (name, given) in question.given() {
        object[name] = given_in_json(&given);
    }
    object["seal"] = json!("whole");
    object["recomputed"] = json!(verdict(row.ends));
    object
}

fn verdict(ends: (Certainty, Certainty)) -> &'static str {
    match ends {
        (Certainty::Yes, Certainty::Yes) => "both ends hold",
        (Certainty::No, _) => "the lower end is wrong",
        (_, Certainty::No) => "the upper end is wrong",
        (Certainty::Undecided, _) | (_, Certainty::Undecided) => "undecided",
    }
}
