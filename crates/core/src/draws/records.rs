//! The logs beside the confidential records: all draws from them, into any folder.
//!
//! A release has its own log beside its folder, and a second folder has another one. Only a place that both draws see
//! can show that the same records were drawn from before. It is beside the records: `NAME.draws` for the file or folder
//! `NAME`, readable by its owner only. It holds no hash of the records, which would identify them; it covers any
//! file or folder of that name. A file with a corrected record is about the same people, and their budgets still add up. To put
//! records of other people under the same name, move the log away together with the old records.
//!
//! Records have more than one name: a folder and the files in it, and links. Symbolic links are followed, and a draw from
//! a folder is logged beside the targets of its links, too. A draw reads the logs of the folder above a file, of the files
//! in a folder, and of hard links in the same folder. Records may also be renamed: a draw reads the logs beside it whose
//! records are gone. A hard link in another folder cannot be found; its existence is reported.

use std::{
    fs::{self, OpenOptions},
    io::{Read, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{EarlierDraw, log::DrawIntent};
use crate::{
    error::{Error, Result},
    io::files::{file_error, sync_folder_of},
};

/// A draw from the records: the path of its own log, its number there, and its intent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DrawOfRecords {
    /// The log of the release.
    pub(super) log: PathBuf,
    /// Its number in that log.
    pub(super) draw: u64,
    /// The time when it was started.
    pub(super) unix_time: u64,
    /// Its intent.
    pub(super) intent: DrawIntent,
}

/// The logs of the draws from some records.
pub(super) struct RecordsLog {
    /// The logs that get a line for a draw: that of the file or folder, then those of the targets of links in the folder.
    own: Vec<LogFile>,
    /// The logs of other names of these records, or of a part of them.
    related: Vec<LogFile>,
    /// The reason why draws may be in no log that is found.
    hidden: Option<String>,
}

impl RecordsLog {
    /// The logs beside a file or a folder of records; `None` for anything else, such as a pipe.
    pub(super) fn beside(records: &Path) -> Result<Option<Self>> {
        if !records.is_file() && !records.is_dir() {
            return Ok(None);
        }
        // Symbolic links of the same records lead to one log.
        let real = real(records)?;
        let Some(parent) = real.parent().filter(|_| real.file_name().is_some()) else { return Ok(None) };
        let mut own = vec![real.clone()];
        let mut related = Vec::new();
        let mut hidden = None;
        if real.is_dir() {
            // A file that was drawn from and is not there now may be in these records under another name.
            related.extend(logged_in(&real)?);
            for entry in entries(&real)?.into_iter().filter(|entry| entry.is_file()) {
                let target = self::real(&entry)?;
                let (others, reason) = other_names(&target)?;
                hidden = hidden.or(reason);
                if target.parent() != Some(&real) {
                    related.extend(others);
                    own.push(target);
                }
            }
        } else {
            (related, hidden) = other_names(&real)?;
            related.push(parent.to_path_buf());
        }
        // Records that were drawn from and are not there now may have been renamed to these.
        match logged_in(parent) {
            Ok(logged) => related.extend(logged.into_iter().filter(|name| !name.exists())),
            Err(_) => {
                hidden = hidden.or(Some("is the only one that is read, as its folder cannot be listed".to_string()))
            }
        }
        related.retain(|name| !own.contains(name));
        related.sort();
        related.dedup();
        let read = |names: Vec<PathBuf>| names.iter().map(|name| LogFile::read(log_of(name))).collect::<Result<_>>();
        Ok(Some(RecordsLog { own: read(own)?, related: read(related)?, hidden }))
    }

    /// The draws that a release's own log lacks, each with the log that has it: those into other folders, and those whose
    /// log was removed.
    pub(super) fn others(&self, own: &Path, known: &[(u64, u64)]) -> Vec<(&Path, &DrawOfRecords)> {
        let is_known = |draw: &DrawOfRecords| draw.log == own && known.contains(&(draw.draw, draw.unix_time));
        let mut found: Vec<(&Path, &DrawOfRecords)> = Vec::new();
        for log in self.own.iter().chain(&self.related) {
            for draw in log.draws.iter().filter(|draw| !is_known(draw)) {
                // A draw from a folder may be in several logs.
                if !found.iter().any(|(_, other)| other.is(draw)) {
                    found.push((&log.path, draw));
                }
            }
        }
        found
    }

    /// Logs a draw that is about to be made, in each of the logs that lacks it. Refuses if another draw was logged
    /// meanwhile. Returns the reason why a draw may not be noticed: a log that cannot be written, or a hidden name.
    pub(super) fn append(&mut self, draw: &DrawOfRecords) -> Result<Option<String>> {
        let mut reason = self.hidden.clone();
        for log in &mut self.own {
            if log.draws.iter().any(|known| known.is(draw)) {
                continue;
            }
            if log.can_be_written() {
                log.append(draw.clone())?;
            } else {
                reason = Some(format!("{}: cannot be written", crate::error::shown(&log.path)));
            }
        }
        Ok(reason)
    }
}

/// The log beside one file or folder.
struct LogFile {
    path: PathBuf,
    draws: Vec<DrawOfRecords>,
    /// Whether the last line was cut off by a crash.
    is_torn: bool,
}

impl LogFile {
    fn read(path: PathBuf) -> Result<Self> {
        let text = match fs::read_to_string(&path) {
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => String::new(),
            read => read.map_err(|why| file_error(&path, why))?,
        };
        let is_torn = !text.is_empty() && !text.ends_with('\n');
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        let draw = |(number, line): (usize, &str)| {
            serde_json::from_str(line).map_err(|why| Error::DataFile {
                file: crate::error::shown(&path),
                line: number + 1,
                column: 0,
                why: format!("is not a draw ({why}): the log of what was drawn of these records must not be edited"),
            })
        };
        let draws = whole.split_terminator('\n').enumerate().map(draw).collect::<Result<_>>()?;
        Ok(LogFile { path, draws, is_torn })
    }

    /// Whether the log, or its folder, can be written: the folder of the records may be read-only.
    fn can_be_written(&self) -> bool {
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.open(&self.path) {
            Ok(_) => true,
            Err(why) => {
                !matches!(why.kind(), std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem)
            }
        }
    }

    /// Logs a draw that is about to be made. Refuses if another draw was logged meanwhile.
    fn append(&mut self, draw: DrawOfRecords) -> Result<()> {
        let wrong = |why: std::io::Error| file_error(&self.path, why);
        let mut options = OpenOptions::new();
        options.create(true).read(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&self.path).map_err(wrong)?;
        file.lock().map_err(wrong)?;
        let mut now = String::new();
        file.read_to_string(&mut now).map_err(wrong)?;
        if now.matches('\n').count() != self.draws.len() {
            let why = "another draw of the same records was begun meanwhile: its budget is spent as well; start again";
            return Err(Error::Draw { path: self.path.clone(), why: why.to_string() });
        }
        let line = serde_json::to_string(&draw).map_err(|why| file_error(&self.path, why))?;
        if self.is_torn {
            // A line that a crash cut off is not a draw: no noise is drawn before its line is on the disk.
            let whole = now.rfind('\n').map_or(0, |end| end + 1) as u64;
            file.set_len(whole).map_err(wrong)?;
        }
        file.write_all(format!("{line}\n").as_bytes()).and_then(|()| file.sync_all()).map_err(wrong)?;
        sync_folder_of(&self.path);
        self.draws.push(draw);
        Ok(())
    }
}

/// The path of a log beside a file or a folder.
fn log_of(records: &Path) -> PathBuf {
    let mut name = records.as_os_str().to_os_string();
    name.push(SUFFIX);
    PathBuf::from(name)
}

/// The ending of the names of logs.
const SUFFIX: &str = ".draws";

fn real(path: &Path) -> Result<PathBuf> {
    fs::canonicalize(path).map_err(|why| file_error(path, why))
}

/// The paths in a folder.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let wrong = |why: std::io::Error| file_error(folder, why);
    fs::read_dir(folder).map_err(wrong)?.map(|entry| Ok(entry.map_err(wrong)?.path())).collect()
}

/// The names in a folder that a log is beside, whether or not they are there.
fn logged_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let named = |path: PathBuf| Some(path.with_file_name(path.file_name()?.to_str()?.strip_suffix(SUFFIX)?));
    Ok(entries(folder)?.into_iter().filter_map(named).collect())
}

/// The hard links of a file that are in its folder and have a log, and the reason if it has names elsewhere.
#[cfg(unix)]
fn other_names(file: &Path) -> Result<(Vec<PathBuf>, Option<String>)> {
    use std::os::unix::fs::MetadataExt;
    let found = fs::metadata(file).map_err(|why| file_error(file, why))?;
    if found.nlink() < 2 {
        return Ok((Vec::new(), None));
    }
    let folder = file.parent().unwrap_or(file);
    let is_same = |path: &PathBuf| {
        fs::symlink_metadata(path).is_ok_and(|other| (other.dev(), other.ino()) == (found.dev(), found.ino()))
    };
    let here: Vec<PathBuf> = entries(folder)?.into_iter().filter(is_same).collect();
    let hidden = (here.len() as u64) < found.nlink();
    let reason = format!(
        "covers only names in one folder, and {} is a hard link of a file in another",
        crate::error::shown(file)
    );
    Ok((here, hidden.then_some(reason)))
}

#[cfg(not(unix))]
fn other_names(_: &Path) -> Result<(Vec<PathBuf>, Option<String>)> {
    Ok((Vec::new(), None))
}

impl DrawOfRecords {
    /// Whether both lines are about the same draw.
    fn is(&self, other: &DrawOfRecords) -> bool {
        (&self.log, self.draw, self.unix_time) == (&other.log, other.draw, other.unix_time)
    }

    /// The draw as one that has spent its budget.
    pub(super) fn earlier(&self) -> EarlierDraw {
        EarlierDraw { intent: self.intent.clone(), elsewhere: true }
    }
}
