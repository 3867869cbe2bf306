//! Entries that were added and never published: a line of the log says so, with its reason.
//!
//! Noise that was drawn may have been seen, so what the entry spent stays. If no noise was drawn, nothing of the records entered any output: the entry spent nothing
//! and leaves the account. Its text stays in the ledger, and its line in the log.

use std::path::{Path, PathBuf};

use super::{
    entry::Kind,
    file::LedgerFile,
    locked::locked,
    log::{Log, LogLine, log_path},
};
use crate::{
    error::{Error, Result, unknown},
    io::reading::read_text,
    release::bundled_text,
};

/// An entry that was never published.
#[derive(Clone, Debug)]
pub struct Withdrawal {
    /// The population; `None` for the only one.
    pub population: Option<String>,
    /// The name of the entry.
    pub name: String,
    /// Why it was never published.
    pub because: String,
    /// Whether no noise was drawn for it.
    pub never_drawn: bool,
}

/// A line of the log about an entry that was never published.
#[derive(Clone, Debug)]
pub struct Withdrawn {
    /// The name of the ledger.
    pub ledger: String,
    /// The population of the entry.
    pub population: String,
    /// The number of the line.
    pub line: u64,
    /// Its SHA-256.
    pub sha256: String,
    /// The log.
    pub log: PathBuf,
}

impl LedgerFile {
    /// Marks the entry that a line withdraws, if it withdraws one; without a draw it spent nothing, and leaves the account.
    pub(super) fn withdraw(&mut self, line: &LogLine, lines: &[(LogLine, String)]) -> std::result::Result<(), String> {
        let Some(withdrawn) = line.withdraws else { return Ok(()) };
        let hash = lines.iter().find(|(other, _)| other.number == withdrawn).map(|(_, hash)| hash);
        let population = self.populations.iter_mut().find(|population| population.name == line.population);
        let entries = population.map(|population| (&mut population.entries, &mut population.never_drawn));
        let found = entries.and_then(|(entries, never_drawn)| {
            let place = entries.iter().position(|entry| entry.log.is_some() && entry.log.as_ref() == hash)?;
            Some((place, entries, never_drawn))
        });
        let Some((place, entries, never_drawn)) = found else {
            return Err(format!(
                "line {} of the log withdraws line {withdrawn}, which added no entry of {}",
                line.number, line.population
            ));
        };
        entries[place].withdrawn = line.because.clone();
        if line.never_drawn {
            never_drawn.push(entries.remove(place));
        }
        Ok(())
    }
}

/// Marks an entry that the odometer added as never published.
pub fn withdraw(ledger: &str, withdrawal: &Withdrawal) -> Result<Withdrawn> {
    if bundled_text(ledger).is_some() {
        return Err(Error::conflict(format!("{ledger} is bundled: nothing of it is withdrawn")));
    }
    if withdrawal.because.trim().is_empty() {
        return Err(Error::malformed("the reason", &withdrawal.because, "words"));
    }
    let path = Path::new(ledger);
    let _lock = locked(path)?;
    let (text, log) = (read_text(path)?, Log::read(&log_path(path))?);
    let file = LedgerFile::with_log(&text, ledger, log.clone())?;
    let place = file.place_of(withdrawal.population.as_deref()).map_err(Error::conflict)?;
    let number = line_of(&file, place, withdrawal, &log)?;
    let (line, at) = (line(&file, place, withdrawal, number, &log)?, log_path(path));
    let sha256 = Log::append(&at, &line)?;
    let population = file.populations[place].name.clone();
    Ok(Withdrawn { ledger: file.name, population, line: line.number, sha256, log: at })
}

/// The number of the line that added the entry; an error where the entry cannot be withdrawn.
fn line_of(file: &LedgerFile, place: usize, withdrawal: &Withdrawal, log: &Log) -> Result<u64> {
    let (population, name) = (&file.populations[place], &withdrawal.name);
    let Some(entry) = population.entries.iter().find(|entry| entry.name == *name) else {
        if population.never_drawn.iter().any(|entry| entry.name == *name) {
            return Err(Error::conflict(format!("the entry {name:?} was withdrawn before")));
        }
        let names = population.entries.iter().map(|entry| entry.name.as_str());
        return Err(Error::conflict(unknown("entry", name, &format!("the population {} has", population.name), names)));
    };
    if entry.withdrawn.is_some() {
        return Err(Error::conflict(format!("the entry {name:?} was withdrawn before")));
    }
    if withdrawal.never_drawn && entry.kind != Kind::Release {
        let why =
            format!("noise was drawn for the entry {name:?}, which {} describes: what it spent stays", entry.place);
        return Err(Error::conflict(why));
    }
    let line = log.lines.iter().find(|(_, hash)| entry.log.as_ref() == Some(hash));
    line.map(|(line, _)| line.number).ok_or_else(|| {
        Error::conflict(format!(
            "the entry {name:?} was written by hand, and no line of the log added it: take it out of the ledger, and give the reason with the next addition"
        ))
    })
}

/// The line of the log, which binds what the line before it bound.
fn line(file: &LedgerFile, place: usize, withdrawal: &Withdrawal, withdraws: u64, log: &Log) -> Result<LogLine> {
    let promise = &file.promise;
    let of_promise = |text: &dyn Fn(&super::LedgerPromise) -> String| promise.as_ref().map(text).unwrap_or_default();
    Ok(LogLine {
        name: withdrawal.name.clone(),
        promise: of_promise(&|promise| promise.epsilon.to_string()),
        delta: of_promise(&|promise| promise.delta.to_string()),
        adaptive: promise.as_ref().map(|promise| promise.is_adaptive),
        of_ledger: promise.is_some(),
        withdraws: Some(withdraws),
        never_drawn: withdrawal.never_drawn,
        because: Some(withdrawal.because.clone()),
        ..file.next_line(place, log)?
    })
}
