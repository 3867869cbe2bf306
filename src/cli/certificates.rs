//! `assay verify --certificates`: the claims of certificates compared with this program's own answers.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use dp_assay::{
    certificate::{Claim, Question},
    document::fields::Fields,
    error::{shown, visible},
    numeric::{enclosure::Certainty, rational},
};
use serde_json::{Value, json};

use super::{
    exit::Exit,
    page::Page,
    prove::{given_in_words, of_claim},
};

/// A file of the folder, and the result of its check.
struct Row {
    file: PathBuf,
    found: Found,
}

/// The kinds of JSON files.
enum Found {
    /// A certificate, and whether its two ends hold.
    Certificate(Box<Claim>, (Certainty, Certainty)),
    /// A certificate that cannot be relied on, and the reason.
    Broken(String),
    /// Another file.
    NoCertificate,
}

/// Every JSON file of the folder: its bytes, its seal, and both ends of its claim by this program's own enclosures.
pub fn verify(folder: &Path, mut page: Page) -> Result<Exit> {
    let rows: Vec<Row> = files(folder)?.into_iter().map(row).collect();
    if rows.is_empty() {
        bail!("--certificates {}: no file in it ends in .json", shown(folder));
    }
    if rows.iter().all(|row| matches!(row.found, Found::NoCertificate)) {
        bail!("--certificates {}: none of its {} JSON files is a certificate", shown(folder), rows.len());
    }
    page.object(json!({ "certificates": rows.iter().map(in_json).collect::<Value>() }));
    page.records(rows.iter().map(in_json));
    page.columns(&["certificate", "claim", "seal", "recomputed"], rows.iter().map(cells));
    page.text(
        "\nThe column recomputed compares both ends with this program's own enclosures of delta. Another program has the proof: \
         python3 -I proofs/check.py FILE...\n",
    );
    let holds = |row: &Row| match &row.found {
        Found::Certificate(_, ends) => *ends == (Certainty::Yes, Certainty::Yes),
        Found::Broken(_) => false,
        Found::NoCertificate => true,
    };
    page.answered(rows.iter().all(holds))
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let named = || format!("--certificates {}", shown(folder));
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(named)? {
        let path = entry.with_context(named)?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn row(file: PathBuf) -> Row {
    let read = || -> Result<Found> {
        let claim = Claim::read(&file)?;
        let ends = claim.recompute()?;
        Ok(Found::Certificate(Box::new(claim), ends))
    };
    let found = match Claim::is_said_by(&file) {
        true => read().unwrap_or_else(|error| Found::Broken(format!("{error:#}"))),
        false => Found::NoCertificate,
    };
    Row { file, found }
}

fn cells(row: &Row) -> Vec<String> {
    let name = visible(&row.file.file_stem().unwrap_or_default().to_string_lossy());
    let words = |claim: &str, seal: &str, verdict: &str| vec![name.clone(), claim.into(), seal.into(), verdict.into()];
    match &row.found {
        Found::NoCertificate => words("no certificate", "-", "-"),
        Found::Broken(why) => words(why, "refused", "refused"),
        Found::Certificate(claim, ends) => {
            let (lower, upper) = (rational::display(&claim.ends.lower), rational::display(&claim.ends.upper));
            let at = given_in_words(claim);
            let said = match &claim.question {
                Question::Scale { .. } => format!("noise times {upper} is enough, {lower} is not, at {at}"),
                question => format!("{lower} <= {} <= {upper} at {at}", question.about()),
            };
            words(&said, "whole", verdict(*ends))
        }
    }
}

fn in_json(row: &Row) -> Value {
    let (claim, ends) = match &row.found {
        Found::NoCertificate => {
            return json!({ "file": shown(&row.file), "seal": null, "recomputed": "no certificate" });
        }
        Found::Broken(why) => {
            return json!({ "file": shown(&row.file), "seal": "refused", "recomputed": "refused", "why": why });
        }
        Found::Certificate(claim, ends) => (claim, ends),
    };
    Fields::new()
        .with("file", shown(&row.file))
        .with("subject", &claim.subject)
        .and(of_claim(claim.question.about(), claim))
        .with("seal", "whole")
        .with("recomputed", verdict(*ends))
        .into()
}

fn verdict(ends: (Certainty, Certainty)) -> &'static str {
    match ends {
        (Certainty::Yes, Certainty::Yes) => "both ends hold",
        (Certainty::No, _) => "the lower end is wrong",
        (_, Certainty::No) => "the upper end is wrong",
        (Certainty::Undecided, _) | (_, Certainty::Undecided) => "undecided",
    }
}
