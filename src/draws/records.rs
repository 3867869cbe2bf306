//! The log beside the confidential records: all draws from them, into any folder.
//!
//! A release has its own log beside its folder, and a second folder has another one. Only a place that both draws see
//! can show that the same records were drawn from before. It is beside the records: `NAME.draws` for the file or folder
//! `NAME`, readable by its owner only. It holds no hash of the records, which would identify them; it covers any
//! file or folder of that name. A file with a corrected record is about the same people, and their budgets still add up. To put
//! records of other people under the same name, move the log away together with the old records.

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

/// The log of the draws from some records.
pub(super) struct RecordsLog {
    path: PathBuf,
    draws: Vec<DrawOfRecords>,
    /// Whether the last line was cut off by a crash.
    is_torn: bool,
}

impl RecordsLog {
    /// The log beside a file or a folder of records; `None` for anything else, such as a pipe.
    pub(super) fn beside(records: &Path) -> Result<Option<Self>> {
        if !records.is_file() && !records.is_dir() {
            return Ok(None);
        }
        // Two names of the same records lead to one log.
        let real = fs::canonicalize(records).map_err(|why| file_error(records, why))?;
        let (Some(parent), Some(name)) = (real.parent(), real.file_name()) else { return Ok(None) };
        let mut name = name.to_os_string();
        name.push(".draws");
        RecordsLog::read(parent.join(name)).map(Some)
    }

    fn read(path: PathBuf) -> Result<Self> {
        let text = match fs::read_to_string(&path) {
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => String::new(),
            read => read.map_err(|why| file_error(&path, why))?,
        };
        let is_torn = !text.is_empty() && !text.ends_with('\n');
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let draw = |(number, line): (usize, &str)| {
            serde_json::from_str(line).map_err(|why| Error::DataFile {
                file: path.display().to_string(),
                line: number + 1,
                column: 0,
                why: format!("is not a draw ({why}): the log of what was drawn of these records must not be edited"),
            })
        };
        let draws = whole.lines().enumerate().map(draw).collect::<Result<_>>()?;
        Ok(RecordsLog { path, draws, is_torn })
    }

    /// The path of the log.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The draws that a release's own log lacks: those into other folders, and those whose log was removed.
    pub(super) fn others(&self, own: &Path, known: &[(u64, u64)]) -> Vec<&DrawOfRecords> {
        let is_known = |draw: &&DrawOfRecords| draw.log == own && known.contains(&(draw.draw, draw.unix_time));
        self.draws.iter().filter(|draw| !is_known(draw)).collect()
    }

    /// Whether the log has a draw.
    pub(super) fn has(&self, log: &Path, draw: u64, unix_time: u64) -> bool {
        self.draws.iter().any(|known| known.log == log && (known.draw, known.unix_time) == (draw, unix_time))
    }

    /// Whether the log, or its folder, can be written: the folder of the records may be read-only.
    pub(super) fn can_be_written(&self) -> bool {
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
    pub(super) fn append(&mut self, draw: DrawOfRecords) -> Result<()> {
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

impl DrawOfRecords {
    /// The draw as one that has spent its budget.
    pub(super) fn earlier(&self) -> EarlierDraw {
        EarlierDraw { intent: self.intent.clone(), elsewhere: true }
    }
}
