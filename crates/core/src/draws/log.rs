//! The log of draws: a line of JSON for every event, synced to disk and kept.

use std::{
    fs::OpenOptions,
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, Result},
    io::files::{file_error, sync_folder_of},
};

/// The intent of a draw: everything that determines the release except the confidential records and the noise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrawIntent {
    /// The version of the program: another version may draw in another order.
    pub version: String,
    /// SHA-256 of each public input, by its role.
    pub inputs: Vec<(String, String)>,
    /// The budgets as exact fractions, by the names of the parts that they are spent on.
    pub budget: Vec<(String, String)>,
    /// The unit of the budgets: `rho` or `pure_epsilon`; empty in logs of versions that did not record it.
    #[serde(default)]
    pub unit: String,
    /// The relation of neighbors that the budgets are about: its name in releases, or [`OF_HOUSEHOLDS`]; empty in logs of versions that did not record it.
    #[serde(default)]
    pub relation: String,
    /// A hash of the definition of the parts: equal only where every record is in the part of the same name. Empty if
    /// it is not known.
    #[serde(default)]
    pub parts: String,
    /// The seed, if the key is not the operating system's.
    pub insecure_seed: Option<u64>,
}

/// The relation of draws from records of persons, by its name in releases: a record is added or removed.
pub const ADD_REMOVE: &str = "add-remove";
/// The relation of draws from household records: a household is added or removed, and not a person.
pub const OF_HOUSEHOLDS: &str = "household add-remove";

impl DrawIntent {
    /// The unit and the relation of the budgets; `None` if they are not known.
    pub(super) fn kind(&self) -> Option<(&str, &str)> {
        // Versions that did not record the relation tabulated under add-remove only, and measured under either.
        let has = |start: &str| self.inputs.iter().any(|(role, _)| role.starts_with(start));
        let relation = match self.relation.as_str() {
            "" if has("spine") => return None,
            "" if has("totals ") => OF_HOUSEHOLDS,
            "" => ADD_REMOVE,
            named => named,
        };
        (!self.unit.is_empty()).then_some((&self.unit, relation))
    }

    /// Whether a draw with this intent repeats one that was begun, maybe by a version that recorded less.
    pub(super) fn repeats(&self, begun: &DrawIntent) -> bool {
        let mut expected = self.clone();
        if begun.relation.is_empty() {
            (expected.relation, expected.parts) = (String::new(), begun.parts.clone());
        }
        expected == *begun
    }

    /// An intent of which only the budget matters.
    #[cfg(test)]
    pub(super) fn of_budget((unit, relation): (&str, &str), budget: Vec<(String, String)>) -> DrawIntent {
        DrawIntent {
            version: String::new(),
            inputs: Vec::new(),
            budget,
            unit: unit.to_string(),
            relation: relation.to_string(),
            parts: String::new(),
            insecure_seed: None,
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum Event {
    /// Noise is about to be drawn.
    Intent { draw: u64, unix_time: u64, intent: DrawIntent },
    /// The draw is repeated bit by bit.
    Resumed { draw: u64, unix_time: u64 },
    /// The draw is abandoned; its budget counts as spent.
    Discarded { draw: u64, unix_time: u64 },
    /// The release of the draw is complete.
    Released { draw: u64, unix_time: u64 },
}

/// The log of one release.
pub(super) struct DrawLog {
    path: PathBuf,
    events: Vec<Event>,
}

impl DrawLog {
    /// Reads a log; one that does not exist has no events.
    pub(super) fn read(path: PathBuf) -> Result<Self> {
        let text = crate::io::reading::read_text_if_there(&path)?.unwrap_or_default();
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        let event = |(number, line): (usize, &str)| {
            serde_json::from_str(line).map_err(|why| Error::DataFile {
                file: crate::error::shown(&path),
                line: number + 1,
                column: 0,
                why: format!("is not an event of a run ({why}): the log of what was drawn must not be edited"),
            })
        };
        let events = whole.split_terminator('\n').enumerate().map(event).collect::<Result<_>>()?;
        Ok(DrawLog { path, events })
    }

    /// The path of the log.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The draw that was started and neither completed nor discarded.
    pub(super) fn open(&self) -> Option<(u64, &DrawIntent)> {
        let mut open = None;
        for event in &self.events {
            match event {
                Event::Intent { draw, intent, .. } => open = Some((*draw, intent)),
                Event::Resumed { .. } => {}
                Event::Discarded { .. } | Event::Released { .. } => open = None,
            }
        }
        open
    }

    /// The number of draws that were started.
    pub(super) fn draws(&self) -> u64 {
        self.begun().count() as u64
    }

    /// The draws that were started: number, time, and intent.
    pub(super) fn begun(&self) -> impl Iterator<Item = (u64, u64, &DrawIntent)> {
        self.events.iter().filter_map(|event| match event {
            Event::Intent { draw, unix_time, intent } => Some((*draw, *unix_time, intent)),
            Event::Resumed { .. } | Event::Discarded { .. } | Event::Released { .. } => None,
        })
    }

    /// Logs that noise is about to be drawn.
    pub(super) fn intend(&mut self, draw: u64, unix_time: u64, intent: DrawIntent) -> Result<()> {
        self.append(Event::Intent { draw, unix_time, intent })
    }

    /// Logs that a draw is repeated.
    pub(super) fn resumed(&mut self, draw: u64) -> Result<()> {
        self.append(Event::Resumed { draw, unix_time: now() })
    }

    /// Logs that a draw is abandoned.
    pub(super) fn discarded(&mut self, draw: u64) -> Result<()> {
        self.append(Event::Discarded { draw, unix_time: now() })
    }

    /// Logs that the release of a draw is complete.
    pub(super) fn released(&mut self, draw: u64) -> Result<()> {
        self.append(Event::Released { draw, unix_time: now() })
    }

    fn append(&mut self, event: Event) -> Result<()> {
        let wrong = |why: std::io::Error| file_error(&self.path, why);
        let mut line = serde_json::to_string(&event).map_err(|why| file_error(&self.path, why))?;
        line.push('\n');
        let mut file =
            OpenOptions::new().create(true).read(true).write(true).truncate(false).open(&self.path).map_err(wrong)?;
        // A last line without a line end is an event that a crash interrupted.
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(wrong)?;
        let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1) as u64;
        file.set_len(whole).and_then(|()| file.seek(SeekFrom::Start(whole)).map(drop)).map_err(wrong)?;
        file.write_all(line.as_bytes()).and_then(|()| file.sync_all()).map_err(wrong)?;
        sync_folder_of(&self.path);
        self.events.push(event);
        Ok(())
    }
}

pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
