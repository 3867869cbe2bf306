//! `assay ledger --withdraw`: an entry that was added and never published.

use anyhow::Result;
use dp_assay::ledger::withdrawal::{self, Withdrawal, Withdrawn};
use serde_json::json;

use crate::cli::{exit::Exit, subject::Format};

pub fn run(ledger: &str, withdrawal: &Withdrawal, format: &Format) -> Result<Exit> {
    let Withdrawn { ledger, population, line, sha256, log } = withdrawal::withdraw(ledger, withdrawal)?;
    let Withdrawal { name, because, never_drawn, .. } = withdrawal;
    let mut page = format.page();
    let answer = json!({
        "ledger": ledger,
        "population": population,
        "name": name,
        "because": because,
        "never_drawn": never_drawn,
        "log": { "file": log.display().to_string(), "line": line, "sha256": sha256 },
    });
    page.answer(answer);
    page.text(format!(
        "{name} of {population} in the ledger {ledger} was never published: {because}\n{}\nLine {line} of {} has the SHA-256 {sha256}\n",
        spending(*never_drawn),
        dp_assay::error::shown(&log)
    ));
    page.done()
}

/// What becomes of the spending of an entry that was never published.
pub fn spending(never_drawn: bool) -> &'static str {
    match never_drawn {
        true => "Its curator states that its noise was not drawn: it leaves the account.",
        false => "Its noise may have been drawn and seen: what it spent stays.",
    }
}
