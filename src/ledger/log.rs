//! The log of a ledger: a line of JSON for every entry that the odometer added, only ever appended to.
//!
//! The log of `FILE` is `FILE.log`. Each line holds the SHA-256 of the line before it, and each added entry of the ledger that of its own line. So a line that is
//! changed, moved or removed is noticed, as long as the ledger or a later line is kept; the hash of the last line, kept elsewhere, shows that nothing was cut off
//! from both files.
//!
//! A line also holds the relation of its population, the rules of the partitions of its entries, and the hashes of the entries that were written by hand, so
//! that a change of these is noticed.
//!
//! The log is written first: once its line is on the disk, the entry counts, whether or not the ledger has it yet. The ledger is then replaced as a whole. A
//! last line without a line end was never added.

use std::{
    fs::{self, OpenOptions},
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, Result},
    io::{
        files::{file_error, sync_folder_of},
        provenance::sha256_of_text,
        reading::read_text_if_there,
    },
};

/// The hash before the first line.
const NOTHING: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// A line of the log: an entry that was added, or one that was added and never published.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogLine {
    /// Its number, from 1.
    pub number: u64,
    /// When it was added.
    pub date: String,
    /// The version of the program.
    pub version: String,
    /// The population.
    pub population: String,
    /// The name of the entry.
    pub name: String,
    /// The entry as it stands in the ledger.
    pub entry: String,
    /// An upper bound on the epsilon of everything with this entry.
    pub epsilon: String,
    /// Whether that is the epsilon of the exact composition, or follows from the sum of all rho.
    pub is_composed: bool,
    /// The promise that it was compared with.
    pub promise: String,
    /// The delta of both.
    pub delta: String,
    /// Whether the sum of rho decided, so that noise may follow from earlier results; missing in lines of versions that did not write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adaptive: Option<bool>,
    /// Whether the promise was that of the ledger, which binds it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_ledger: bool,
    /// A lower bound on the epsilon of everything with this entry; empty in lines of versions that did not write it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub at_least: String,
    /// The neighbor relation of the population; empty in lines of versions that did not write it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub neighbors: String,
    /// The other entries of the population that no line added, each with the hash of its account.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_hand: Vec<(String, String)>,
    /// The partitions of which its entries are about one part, each with its rule.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partitions: Vec<(String, String)>,
    /// The number of the line whose entry was never published, by this line; `None` for an addition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withdraws: Option<u64>,
    /// Whether, for a withdrawn entry, no noise was drawn for the entry, so that it spent nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub never_drawn: bool,
    /// Why lines before this one need not hold any more: relations, entries by hand and epsilons are compared from here on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// The hash of the line before.
    pub previous: String,
}

impl LogLine {
    /// Its text, without a line end.
    fn text(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|why| Error::Fault { what: format!("a line of a log: {why}") })
    }
}

/// The log of a ledger, read and checked.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    /// The name of the file, for messages.
    pub(super) file: String,
    /// Its lines, each with its hash.
    pub(super) lines: Vec<(LogLine, String)>,
}

/// The log of the ledger in this file: the same for all symbolic links to it. A ledger with hard links gets no additions.
pub fn log_path(ledger: &Path) -> PathBuf {
    let real = fs::canonicalize(ledger).unwrap_or_else(|_| ledger.to_path_buf());
    let mut name = real.into_os_string();
    name.push(".log");
    PathBuf::from(name)
}

impl Log {
    /// The log at a path; without lines if there is none.
    pub(super) fn read(path: &Path) -> Result<Log> {
        let text = read_text_if_there(path)?.unwrap_or_default();
        Log::parse(&text, &crate::error::shown(path))
    }

    /// Reads the text of a log and checks the hashes of its lines.
    pub(super) fn parse(text: &str, file: &str) -> Result<Log> {
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        let mut log = Log { file: file.to_string(), lines: Vec::new() };
        // An empty last line is a change as well, and so is another form of line ends.
        for (place, text) in whole.split_terminator('\n').enumerate() {
            let refuse = |why: String| Error::DataFile { file: file.to_string(), line: place + 1, column: 0, why };
            let line: LogLine = serde_json::from_str(text)
                .map_err(|why| refuse(format!("is no entry that was added ({why}): the log must not be edited")))?;
            if line.previous != log.head() || line.number != place as u64 + 1 {
                let why = "does not follow the line before it, whose hash it has to hold: a line was changed, added or removed, and the log must not be edited";
                return Err(refuse(why.to_string()));
            }
            log.lines.push((line, sha256_of_text(text)));
        }
        Ok(log)
    }

    /// The lines of a population that bind the account, from the last one that gives a reason.
    pub(super) fn binding<'a>(lines: &'a [(LogLine, String)], population: &str) -> Vec<&'a LogLine> {
        Log::from_last(lines, population, |line| line.because.is_some())
    }

    /// The lines of a population whose epsilon binds the account, from the last one whose reason is about less: a withdrawal of noise that may have
    /// been drawn takes nothing away.
    pub(super) fn binding_epsilon<'a>(lines: &'a [(LogLine, String)], population: &str) -> Vec<&'a LogLine> {
        let is_less = |line: &LogLine| line.because.is_some() && (line.withdraws.is_none() || line.never_drawn);
        Log::from_last(lines, population, is_less)
    }

    fn from_last<'a>(
        lines: &'a [(LogLine, String)],
        population: &str,
        is_first: impl Fn(&LogLine) -> bool,
    ) -> Vec<&'a LogLine> {
        let own: Vec<&LogLine> =
            lines.iter().map(|(line, _)| line).filter(|line| line.population == population).collect();
        let first = own.iter().rposition(|line| is_first(line)).unwrap_or(0);
        own[first..].to_vec()
    }

    /// The lines that added an entry, each with its hash.
    pub(super) fn additions(&self) -> impl DoubleEndedIterator<Item = &(LogLine, String)> {
        self.lines.iter().filter(|(line, _)| line.withdraws.is_none())
    }

    /// The hash of the last line.
    pub(super) fn head(&self) -> &str {
        self.lines.last().map_or(NOTHING, |(_, hash)| hash)
    }

    /// The place of the line of this hash among the additions.
    pub(super) fn place(&self, hash: &str) -> Option<usize> {
        self.additions().position(|(_, own)| own == hash)
    }

    /// Appends a line and forces it to the disk; returns its hash. The ledger is locked meanwhile.
    pub(super) fn append(path: &Path, line: &LogLine) -> Result<String> {
        let wrong = |why: std::io::Error| file_error(path, why);
        let text = line.text()?;
        let mut options = OpenOptions::new();
        options.create(true).read(true).write(true).truncate(false);
        let mut file = options.open(path).map_err(wrong)?;
        let mut before = Vec::new();
        file.read_to_end(&mut before).map_err(wrong)?;
        // A last line without a line end is an entry that was never added: a crash interrupted it.
        let whole = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1) as u64;
        file.set_len(whole).and_then(|()| file.seek(SeekFrom::Start(whole)).map(drop)).map_err(wrong)?;
        if let Err(why) = file.write_all(format!("{text}\n").as_bytes()).and_then(|()| file.sync_all()) {
            // What was written is no addition. If it cannot be removed, it counts as one, which is on the safe side.
            let _ = file.set_len(whole);
            return Err(wrong(why));
        }
        sync_folder_of(path);
        Ok(sha256_of_text(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(number: u64, previous: &str) -> LogLine {
        LogLine {
            number,
            date: "2026-01-01 00:00:00 UTC".to_string(),
            version: "0".to_string(),
            population: "p".to_string(),
            name: format!("entry {number}"),
            entry: "[[entry]]\n".to_string(),
            epsilon: "1".to_string(),
            is_composed: true,
            promise: "2".to_string(),
            delta: "1/100".to_string(),
            adaptive: None,
            of_ledger: false,
            at_least: String::new(),
            neighbors: String::new(),
            by_hand: Vec::new(),
            partitions: Vec::new(),
            withdraws: None,
            never_drawn: false,
            because: None,
            previous: previous.to_string(),
        }
    }

    #[test]
    fn every_change_of_a_line_before_the_last_is_noticed_and_a_torn_line_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("l.toml.log");
        assert!(Log::read(&path).unwrap().lines.is_empty());
        for number in 1..=3 {
            let log = Log::read(&path).unwrap();
            // What a crash left of another line.
            fs::write(&path, format!("{}{{\"number\":9", fs::read_to_string(&path).unwrap_or_default())).unwrap();
            assert_eq!(Log::read(&path).unwrap().lines, log.lines);
            let hash = Log::append(&path, &line(number, log.head())).unwrap();
            assert_eq!(Log::read(&path).unwrap().head(), hash);
        }
        let text = fs::read_to_string(&path).unwrap();
        let refused = |text: &str| match Log::parse(text, "f") {
            Err(Error::DataFile { line, .. }) => line,
            other => panic!("{other:?}"),
        };
        assert_eq!(Log::parse(&text, "f").unwrap().lines.len(), 3);
        let lines: Vec<&str> = text.lines().collect();
        for (changed, at) in [
            (text.replacen("\"promise\":\"2\"", "\"promise\":\"9\"", 1), 2),
            (format!("{}\n{}\n", lines[0], lines[2]), 2),
            (format!("{}\n{}\n{}\n", lines[1], lines[0], lines[2]), 1),
            (format!("{}\n{}\n{}\n", lines[0], lines[1].replace("entry 2", "entry 5"), lines[2]), 3),
            (format!("{}\n\n{}\n{}\n", lines[0], lines[1], lines[2]), 2),
            (format!("{}\n{}\n", lines[0], lines[0]), 2),
            (text.replacen("\"delta\"", "\"dleta\"", 1), 1),
            (format!("{text}\n"), 4),
            (format!("\n{text}"), 1),
            (text.replace('\n', "\r\n"), 2),
            (text.replacen('}', "} ", 1), 2),
        ] {
            assert_eq!(refused(&changed), at, "{changed}");
        }
    }
}
