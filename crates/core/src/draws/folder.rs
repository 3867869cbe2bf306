//! The files that a run creates before it draws noise, and their use by a later run.
//!
//! Three paths beside the folder of the release are derived from its name. `NAME.log` is the log of draws. `.NAME.part`
//! is a folder for unfinished files that only its owner may enter; the run that works in it holds a lock. `NAME.key` is
//! the key of the noise, which exists from before the first noise until the release is complete.
//!
//! While a release is not complete somebody may have seen a part of it, so a fresh draw would spend the budget a second
//! time: the same counts with other noise. A resumed run reads the key again and reproduces the noise bit by bit, for
//! the same inputs only.

use std::{
    fs::{self, File, OpenOptions},
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

use super::{
    EarlierDraw, UnfinishedDraw,
    key::KeyFile,
    log::{self, DrawIntent, DrawLog},
    records::{DrawOfRecords, RecordsLog},
};
use crate::{
    error::{Error, Result},
    io::files::{Unfinished, check_free, file_error, sync_folder, sync_folder_of},
    io::provenance::sha256,
    noise::Streams,
};

/// The folder of a release and the files beside it, locked by this run against other runs.
pub struct ReleaseFolder {
    out: PathBuf,
    /// The file of a release that gives the number of its draw.
    manifest: &'static str,
    part: PathBuf,
    log: DrawLog,
    key: KeyFile,
    /// The logs beside the records; `None` for records without a path, and for noise from a given seed.
    records: Option<RecordsLog>,
    /// Held as long as the run lives.
    _lock: File,
    /// Removes the unfinished files if a signal ends the run.
    unfinished: Unfinished,
}

/// The result of taking a release folder.
pub enum Taken {
    /// The folder is free for a run.
    Free(Box<ReleaseFolder>),
    /// The release is complete; only the last entry of its log was missing, and was added.
    Complete,
}

/// The draw that a run makes.
pub struct Draw {
    /// Its number, from 1.
    pub number: u64,
    /// Earlier draws, here and of the same records elsewhere, which somebody may have seen: each has spent its budget
    /// as well.
    pub earlier: Vec<EarlierDraw>,
    /// The reason why the log beside the records lacks this draw, if it could not be written.
    pub unlogged: Option<String>,
    /// The noise.
    pub streams: Streams,
}

/// The error of a draw that cannot be started or repeated.
fn draw_error(path: &Path, why: impl ToString) -> Error {
    Error::Draw { path: path.to_path_buf(), why: why.to_string() }
}

impl ReleaseFolder {
    /// Takes the folder of a release, or says why it is not free. `manifest` is the JSON file of such releases whose
    /// key `draw` is the number of the draw. `records` are the confidential records, whose log is searched for draws
    /// into other folders. It is `None` for noise from a given seed, which protects nobody and spends no budget.
    pub fn take(
        out: &Path,
        manifest: &'static str,
        records: Option<&Path>,
        unfinished: UnfinishedDraw,
    ) -> Result<Taken> {
        let mut folder = ReleaseFolder::lock(out, manifest)?;
        folder.records = records.map(RecordsLog::beside).transpose()?.flatten();
        let open = folder.log.open().map(|(draw, _)| draw);
        if open.is_none() {
            // A run that ended between its last two steps left its key behind.
            folder.key.destroy()?;
        }
        if fs::symlink_metadata(&folder.out).is_ok() && check_free(&folder.out).is_err() {
            return folder.check_complete(out, open, unfinished);
        }
        let log = folder.log.path();
        match (open, unfinished) {
            (Some(draw), UnfinishedDraw::Refuse) => Err(draw_error(
                log,
                format!(
                    "draw {draw} was begun and its release is not complete: repeat it bit by bit, for the same inputs, or \
                     discard it"
                ),
            )),
            (None, UnfinishedDraw::Refuse) if folder.log.draws() > 0 => Err(draw_error(
                log,
                "a release was completed here: its budget is spent, and a new draw spends it once more",
            )),
            (None, UnfinishedDraw::Resume) => {
                Err(draw_error(log, "no draw was begun and not completed: there is nothing to resume"))
            }
            (_, UnfinishedDraw::Refuse) => folder.unless_drawn_elsewhere(),
            (_, UnfinishedDraw::Resume | UnfinishedDraw::Discard) => Ok(Taken::Free(Box::new(folder))),
        }
    }

    /// Refuses if the same records were drawn from before into another folder.
    fn unless_drawn_elsewhere(self) -> Result<Taken> {
        let known = self.known();
        let others = self.records.as_ref().map(|log| log.others(self.log.path(), &known)).unwrap_or_default();
        let Some((log, last)) = others.last() else { return Ok(Taken::Free(Box::new(self))) };
        let spent =
            last.intent.budget.iter().map(|(name, budget)| format!("{name}: {budget}")).collect::<Vec<_>>().join(", ");
        let why = format!(
            "these records were drawn from before, {} in all; the last draw, number {} by {}, had the budget {spent}. A new draw spends its \
             budget once more. If the records are those of other people, move this log away with the old ones",
            if others.len() == 1 { "once".to_string() } else { format!("{} times", others.len()) },
            last.draw,
            crate::error::shown(&last.log),
        );
        Err(draw_error(log, why))
    }

    /// The draws of the release's own log: number and time.
    fn known(&self) -> Vec<(u64, u64)> {
        self.log.begun().map(|(draw, time, _)| (draw, time)).collect()
    }

    /// The draws before a draw of this number, here and elsewhere.
    fn earlier(&self, number: u64) -> Vec<EarlierDraw> {
        let here = self.log.begun().filter(|(draw, ..)| *draw < number);
        let here = here.map(|(_, _, intent)| EarlierDraw { intent: intent.clone(), elsewhere: false });
        let known = self.known();
        let others = self.records.iter().flat_map(|log| log.others(self.log.path(), &known));
        here.chain(others.map(|(_, draw)| draw.earlier())).collect()
    }

    /// Locks the folder for unfinished files, empties it, and reads the log.
    fn lock(out: &Path, manifest: &'static str) -> Result<ReleaseFolder> {
        let wrong = |path: &Path| {
            let path = path.to_path_buf();
            move |why: std::io::Error| file_error(&path, why)
        };
        let full = std::path::absolute(out).map_err(wrong(out))?;
        let (Some(name), Some(parent)) = (full.file_name().and_then(|name| name.to_str()), full.parent()) else {
            return Err(file_error(out, "cannot name a new folder: give a name in UTF-8"));
        };
        let beside = |name: String| parent.join(name);
        let (log, key) = (beside(format!("{name}.log")), beside(format!("{name}.key")));
        let part = beside(format!(".{name}.part"));
        // The signal handler must know the folder if the run ends here, and must not remove the folder of another run.
        let lock = || {
            private_folder(&part).map_err(wrong(out))?;
            let lock = OpenOptions::new().create(true).truncate(false).write(true).open(part.join("lock"));
            let lock = lock.map_err(wrong(&part))?;
            match try_lock(&lock).map_err(wrong(&part))? {
                true => Ok(lock),
                false => Err(file_error(
                    out,
                    "another run is at work on this release: wait for it, or choose another folder",
                )),
            }
        };
        let (unfinished, lock) = Unfinished::make(lock, |_| part.clone())?;
        for entry in fs::read_dir(&part).map_err(wrong(&part))?.flatten() {
            let path = entry.path();
            let removed = match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                true => fs::remove_dir_all(&path),
                false if entry.file_name() == "lock" => Ok(()),
                false => fs::remove_file(&path),
            };
            removed.map_err(wrong(&path))?;
        }
        let log = DrawLog::read(log)?;
        Ok(ReleaseFolder {
            out: out.to_path_buf(),
            manifest,
            part,
            log,
            key: KeyFile::at(key),
            records: None,
            _lock: lock,
            unfinished,
        })
    }

    /// Handles a path that exists already. If it is the release of the open draw, the draw is completed; in any case
    /// the path is not free.
    fn check_complete(mut self, out: &Path, open: Option<u64>, unfinished: UnfinishedDraw) -> Result<Taken> {
        if open.is_some_and(|draw| self.holds_release_of(draw)) {
            self.complete()?;
            if unfinished == UnfinishedDraw::Resume {
                return Ok(Taken::Complete);
            }
        }
        let why = "is there already: a release is never overwritten, and a draw into another folder spends its budget once more";
        Err(file_error(out, why))
    }

    /// The folder of the unfinished files.
    pub fn part(&self) -> &Path {
        &self.part
    }

    /// The folder of the release until it is complete.
    pub fn release(&self) -> PathBuf {
        self.part.join("release")
    }

    /// Whether the folder of the release is that of this draw.
    fn holds_release_of(&self, draw: u64) -> bool {
        let manifest =
            crate::io::reading::read_at_most(&self.out.join(self.manifest), crate::io::reading::MOST_BYTES).ok();
        let value = manifest.and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok());
        value.is_some_and(|value| value["draw"] == draw && self.key.exists())
    }

    /// Logs the draw, and only then returns the source of noise. `records` is the hash of the confidential files.
    pub fn draw(&mut self, intent: &DrawIntent, records: &[u8; 32], unfinished: UnfinishedDraw) -> Result<Draw> {
        if unfinished == UnfinishedDraw::Resume {
            return self.draw_again(intent, records);
        }
        if let Some((draw, _)) = self.log.open() {
            self.log.discarded(draw)?;
        }
        // A key without an intent: the run ended before it drew anything.
        self.key.destroy()?;
        let mut key = [0; 32];
        match intent.insecure_seed {
            Some(seed) => key[..8].copy_from_slice(&seed.to_le_bytes()),
            None => getrandom::fill(&mut key).map_err(|error| Error::Randomness { why: error.to_string() })?,
        }
        self.key.write(&key, records)?;
        let (number, unix_time) = (1 + self.log.draws(), log::now());
        let earlier = self.earlier(number);
        self.log.intend(number, unix_time, intent.clone())?;
        let unlogged = self.log_beside_records(number, unix_time, intent)?;
        Ok(Draw { number, earlier, unlogged, streams: streams(key, intent.insecure_seed) })
    }

    /// Logs a draw beside the records. Returns the reason if it cannot be logged, or not for every name of the records.
    fn log_beside_records(&mut self, draw: u64, unix_time: u64, intent: &DrawIntent) -> Result<Option<String>> {
        let log = self.log.path().to_path_buf();
        let Some(records) = &mut self.records else { return Ok(None) };
        records.append(&DrawOfRecords { log, draw, unix_time, intent: intent.clone() })
    }

    fn draw_again(&mut self, intent: &DrawIntent, records: &[u8; 32]) -> Result<Draw> {
        let refused = |why: &str| Err(draw_error(self.log.path(), why));
        let Some((number, begun)) = self.log.open() else {
            return refused("no draw was begun and not completed");
        };
        for ((role, now), (_, then)) in intent.inputs.iter().zip(&begun.inputs) {
            if now != then {
                return refused(&format!(
                    "draw {number} was begun with another {role} (SHA-256 {then}, now {now}): restore it, or discard the draw"
                ));
            }
        }
        if !intent.repeats(begun) {
            return refused(&format!(
                "draw {number} was begun with version {}, insecure seed {:?} and other inputs or budgets than now (version \
                 {}, insecure seed {:?}): restore them, or discard the draw",
                begun.version, begun.insecure_seed, intent.version, intent.insecure_seed
            ));
        }
        let key = self.key.read(records)?;
        self.log.resumed(number)?;
        let earlier = self.earlier(number);
        // The run may have ended between the writes to its two logs.
        let time = self.log.begun().find(|(draw, ..)| *draw == number).map_or(0, |(_, time, _)| time);
        let unlogged = self.log_beside_records(number, time, intent)?;
        Ok(Draw { number, earlier, unlogged, streams: streams(key, intent.insecure_seed) })
    }

    /// Renames the folder of the release to its final name, logs that it is complete, and destroys the key.
    pub fn publish(mut self) -> Result<()> {
        let release = self.release();
        sync_folders(&release).map_err(|why| file_error(&release, why))?;
        // On some systems an empty folder at the target would block the renaming.
        let _ = fs::remove_dir(&self.out);
        let rename = || fs::rename(&release, &self.out).map_err(|why| file_error(&self.out, why));
        self.unfinished.take_out(rename)?;
        sync_folder_of(self.log.path());
        self.complete()
    }

    fn complete(&mut self) -> Result<()> {
        if let Some((draw, _)) = self.log.open() {
            self.log.released(draw)?;
        }
        self.key.destroy()
    }
}

/// Removes the unfinished files in every case. The log and the key stay.
impl Drop for ReleaseFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.part);
    }
}

/// A hash of confidential files, for the key file alone: of a file or a folder. Input that can be read only once has no
/// hash that another run could repeat.
pub fn confidential_hash(path: &Path) -> Result<[u8; 32]> {
    if path.is_file() || path.is_dir() {
        return Ok(Sha256::digest(sha256(path)?).into());
    }
    let mut once = [0; 32];
    getrandom::fill(&mut once).map_err(|error| Error::Randomness { why: error.to_string() })?;
    Ok(once)
}

fn streams(key: [u8; 32], insecure_seed: Option<u64>) -> Streams {
    insecure_seed.map_or_else(|| Streams::with_key(key), Streams::with_insecure_seed)
}

/// A folder that only its owner may enter.
fn private_folder(path: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        Err(why) if why.kind() == std::io::ErrorKind::AlreadyExists => {}
        created => return created,
    }
    // It may be the folder of a run that was killed, but not a link to another place.
    if !fs::symlink_metadata(path)?.is_dir() {
        return Err(std::io::Error::other(format!("{} is not a folder: remove it", crate::error::shown(path))));
    }
    #[cfg(unix)]
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
    Ok(())
}

/// Locks a file for as long as it is open. Returns whether it was free.
fn try_lock(file: &File) -> std::io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(fs::TryLockError::WouldBlock) => Ok(false),
        Err(fs::TryLockError::Error(why)) => Err(why),
    }
}

fn sync_folders(folder: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_folders(&entry.path())?;
        }
    }
    sync_folder(folder);
    Ok(())
}
