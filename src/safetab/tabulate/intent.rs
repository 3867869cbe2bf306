//! One draw for one budget: what a run leaves on disk before it draws noise, and what a later run makes of it.
//!
//! Beside the folder of the release stand, by its name: `NAME.log`, a line of JSON for every event, forced to the disk and
//! kept; `.NAME.part`, a folder that only its owner may enter, with all that is unfinished, locked by the run that works in
//! it; and, from before the first noise until the release is complete, `NAME.key`, readable by its owner only.
//!
//! The key is what the noise follows from. As long as a release is not complete somebody may have seen a part of it, so to
//! draw afresh would spend the budget a second time: the same counts with other noise. A run that is resumed takes the key
//! again and reproduces the noise bit by bit, for the same inputs only: the key file holds a keyed hash of the persons'
//! files as well, for the same noise on other counts would give their difference away. Who reads the key and the release
//! knows the counts, as who reads the persons' files does; so the key is as secret as they are, and is overwritten and
//! removed when the release is complete. (Overwriting is all that a program can do: a file system that keeps old blocks, and
//! a backup, may hold it still. Keep the folder where the confidential data may lie.)

use std::{
    fs::{self, File, OpenOptions},
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    error::{Error, Result},
    files::file_error,
    noise::Streams,
};

/// What to do about a draw that was begun and not completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfinished {
    /// Nothing: the run is refused.
    Refuse,
    /// The same noise again, for the same inputs.
    Resume,
    /// Count its budget as spent and draw afresh.
    Discard,
}

/// What a draw is for: everything that determines the release but the persons and the noise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    /// The version of the program: another one may draw in another order.
    pub version: String,
    /// SHA-256 of each public input, by its role.
    pub inputs: Vec<(String, String)>,
    /// The budget of a pass, in words.
    pub budget: Vec<(String, String)>,
    /// The seed, where it is not the operating system's.
    pub insecure_seed: Option<u64>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum Event {
    /// Noise is about to be drawn.
    Intent { draw: u64, unix_time: u64, intent: Intent },
    /// The draw is repeated bit by bit.
    Resumed { draw: u64, unix_time: u64 },
    /// The draw is given up; its budget counts as spent.
    Discarded { draw: u64, unix_time: u64 },
    /// The release of the draw is complete.
    Released { draw: u64, unix_time: u64 },
}

/// What the key file holds.
#[derive(Serialize, Deserialize)]
struct Secret {
    key: [u8; 32],
    /// SHA-256 of the key and the hash of the persons' files.
    persons: [u8; 32],
}

/// A place for a release that no other run works at.
pub struct Place {
    out: PathBuf,
    folder: PathBuf,
    log: PathBuf,
    key: PathBuf,
    part: PathBuf,
    /// Held as long as the run lives.
    _lock: File,
    events: Vec<Event>,
}

/// How a place was found.
pub enum Found {
    /// Free for a run.
    Free(Place),
    /// Its release is complete; only the end of the record was missing, and was added.
    Complete,
}

/// The draw that a run makes.
pub struct Draw {
    /// Its number, from 1.
    pub number: u64,
    /// Draws before it, which somebody may have seen: each has spent its budget as well.
    pub earlier: u64,
    /// The noise.
    pub streams: Streams,
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

impl Place {
    /// Takes the place for a release, or says why it is not free.
    pub fn take(out: &Path, unfinished: Unfinished) -> Result<Found> {
        let wrong = |path: &Path| {
            let path = path.to_path_buf();
            move |why: std::io::Error| file_error(&path, why)
        };
        let full = std::path::absolute(out).map_err(wrong(out))?;
        let (Some(name), Some(folder)) = (full.file_name().and_then(|name| name.to_str()), full.parent()) else {
            return Err(file_error(out, "is no name for a new folder: give one in UTF-8"));
        };
        let beside = |name: String| folder.join(name);
        let (log, key) = (beside(format!("{name}.log")), beside(format!("{name}.key")));
        let part = beside(format!(".{name}.part"));
        private_folder(&part).map_err(wrong(out))?;
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(part.join("lock"));
        let lock = lock.map_err(wrong(&part))?;
        if !try_lock(&lock).map_err(wrong(&part))? {
            return Err(file_error(
                out,
                "another run is at work on this release: wait for it, or choose another folder",
            ));
        }
        for entry in fs::read_dir(&part).map_err(wrong(&part))?.flatten() {
            let path = entry.path();
            let removed = match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                true => fs::remove_dir_all(&path),
                false if entry.file_name() == "lock" => Ok(()),
                false => fs::remove_file(&path),
            };
            removed.map_err(wrong(&path))?;
        }
        let events = read_log(&log)?;
        let folder = folder.to_path_buf();
        let mut place = Place { out: out.to_path_buf(), folder, log, key, part, _lock: lock, events };
        let open = place.open();
        if open.is_none() {
            // What a run left that ended between its last two steps.
            place.destroy_key()?;
        }
        if fs::symlink_metadata(&place.out).is_ok() {
            if open.is_some_and(|(draw, _)| place.holds_release_of(draw)) {
                place.complete()?;
                if unfinished == Unfinished::Resume {
                    return Ok(Found::Complete);
                }
            }
            let why =
                "is there already: a release is never overwritten; choose another folder (whose budget is spent anew)";
            return Err(file_error(out, why));
        }
        match (open, unfinished) {
            (Some((draw, _)), Unfinished::Refuse) => Err(file_error(
                &place.log,
                format!(
                    "draw {draw} was begun and its release is not complete. --resume repeats it bit by bit, for the same \
                     inputs; --discard gives it up, counts its budget as spent, and draws afresh"
                ),
            )),
            (None, Unfinished::Refuse) if place.draws() > 0 => Err(file_error(
                &place.log,
                "tells of a release that was completed here: its budget is spent. --discard spends it once more, for a draw \
                 afresh",
            )),
            (None, Unfinished::Resume) => Err(file_error(
                &place.log,
                "tells of no draw that was begun and not completed: there is nothing to resume",
            )),
            _ => Ok(Found::Free(place)),
        }
    }

    /// Where unfinished files go.
    pub fn part(&self) -> &Path {
        &self.part
    }

    /// Where the files of the release go until it is complete.
    pub fn release(&self) -> PathBuf {
        self.part.join("release")
    }

    /// The draw that was begun and neither completed nor discarded.
    fn open(&self) -> Option<(u64, &Intent)> {
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

    /// Whether the folder of the release is that of this draw.
    fn holds_release_of(&self, draw: u64) -> bool {
        let certificate = fs::read(self.out.join("certificate.json")).ok();
        let value = certificate.and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok());
        value.is_some_and(|value| value["draw"] == draw && fs::metadata(&self.key).is_ok())
    }

    /// Writes down what is about to be drawn, and only then returns the source of noise. `persons` is the hash of the
    /// persons' files.
    pub fn draw(&mut self, intent: &Intent, persons: &[u8; 32], unfinished: Unfinished) -> Result<Draw> {
        if unfinished == Unfinished::Resume {
            return self.draw_again(intent, persons);
        }
        if let Some((draw, _)) = self.open() {
            self.append(Event::Discarded { draw, unix_time: now() })?;
        }
        // A key without an intent: the run ended before it drew anything.
        self.destroy_key()?;
        let mut key = [0; 32];
        match intent.insecure_seed {
            Some(seed) => key[..8].copy_from_slice(&seed.to_le_bytes()),
            None => getrandom::fill(&mut key).map_err(|error| Error::Randomness { why: error.to_string() })?,
        }
        let wrong = |why: std::io::Error| file_error(&self.key, why);
        let secret = serde_json::to_vec(&Secret { key, persons: keyed(&key, persons) });
        let secret = secret.map_err(|why| file_error(&self.key, why))?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&self.key).map_err(wrong)?;
        file.write_all(&secret).and_then(|()| file.sync_all()).map_err(wrong)?;
        self.sync_folder();
        let number = 1 + self.draws();
        self.append(Event::Intent { draw: number, unix_time: now(), intent: intent.clone() })?;
        let streams = streams(key, intent.insecure_seed);
        Ok(Draw { number, earlier: number - 1, streams })
    }

    fn draw_again(&mut self, intent: &Intent, persons: &[u8; 32]) -> Result<Draw> {
        let refused = |path: &Path, why: &str| Err(file_error(path, why));
        let Some((number, begun)) = self.open() else {
            return refused(&self.log, "tells of no draw that was begun and not completed");
        };
        for ((role, now), (_, then)) in intent.inputs.iter().zip(&begun.inputs) {
            if now != then {
                let why = format!(
                    "draw {number} was begun with another {role} (SHA-256 {then}, now {now}): restore it, or --discard the draw"
                );
                return refused(&self.log, &why);
            }
        }
        if intent != begun {
            let why = format!(
                "draw {number} was begun with version {}, insecure seed {:?} and other inputs or budgets than now (version \
                 {}, insecure seed {:?}): restore them, or --discard the draw",
                begun.version, begun.insecure_seed, intent.version, intent.insecure_seed
            );
            return refused(&self.log, &why);
        }
        let secret = fs::read(&self.key)
            .map_err(|why| file_error(&self.key, format!("{why}; without the key only --discard is left")))?;
        let secret: Secret = serde_json::from_slice(&secret)
            .map_err(|_| file_error(&self.key, "holds no key; without it only --discard is left"))?;
        if keyed(&secret.key, persons) != secret.persons {
            let why = "the persons' files are not those that the draw was begun with: the same noise on other counts would give \
                       their difference away; restore them, or --discard the draw";
            return refused(&self.key, why);
        }
        self.append(Event::Resumed { draw: number, unix_time: now() })?;
        Ok(Draw { number, earlier: number - 1, streams: streams(secret.key, intent.insecure_seed) })
    }

    fn draws(&self) -> u64 {
        self.events.iter().filter(|event| matches!(event, Event::Intent { .. })).count() as u64
    }

    /// Gives the folder with the release its name, writes down that it is complete, and destroys the key.
    pub fn publish(mut self) -> Result<()> {
        let release = self.release();
        sync_folders(&release).map_err(|why| file_error(&release, why))?;
        fs::rename(&release, &self.out).map_err(|why| file_error(&self.out, why))?;
        self.sync_folder();
        self.complete()
    }

    fn complete(&mut self) -> Result<()> {
        if let Some((draw, _)) = self.open() {
            self.append(Event::Released { draw, unix_time: now() })?;
        }
        self.destroy_key()
    }

    /// Overwrites the key, and removes it.
    fn destroy_key(&self) -> Result<()> {
        let wrong = |why: std::io::Error| file_error(&self.key, why);
        let length = match fs::metadata(&self.key) {
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            found => found.map_err(wrong)?.len(),
        };
        let mut file = OpenOptions::new().write(true).open(&self.key).map_err(wrong)?;
        file.write_all(&vec![b' '; length as usize]).and_then(|()| file.sync_all()).map_err(wrong)?;
        fs::remove_file(&self.key).map_err(wrong)?;
        self.sync_folder();
        Ok(())
    }

    fn append(&mut self, event: Event) -> Result<()> {
        let wrong = |why: std::io::Error| file_error(&self.log, why);
        let mut line = serde_json::to_string(&event).map_err(|why| file_error(&self.log, why))?;
        line.push('\n');
        let mut file =
            OpenOptions::new().create(true).read(true).write(true).truncate(false).open(&self.log).map_err(wrong)?;
        // A line without an end is what a crash left of an event that never was.
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(wrong)?;
        let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1) as u64;
        file.set_len(whole).and_then(|()| file.seek(SeekFrom::Start(whole)).map(drop)).map_err(wrong)?;
        file.write_all(line.as_bytes()).and_then(|()| file.sync_all()).map_err(wrong)?;
        self.sync_folder();
        self.events.push(event);
        Ok(())
    }

    /// A name is on the disk once its folder is; not every system can be asked.
    fn sync_folder(&self) {
        if let Ok(folder) = File::open(&self.folder) {
            let _ = folder.sync_all();
        }
    }
}

/// What is unfinished is removed, whatever happened. The log and the key stay.
impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.part);
    }
}

fn streams(key: [u8; 32], insecure_seed: Option<u64>) -> Streams {
    insecure_seed.map_or_else(|| Streams::with_key(key), Streams::with_insecure_seed)
}

fn keyed(key: &[u8; 32], persons: &[u8; 32]) -> [u8; 32] {
    Sha256::new().chain_update(b"persons of a draw").chain_update(key).chain_update(persons).finalize().into()
}

fn read_log(path: &Path) -> Result<Vec<Event>> {
    let text = match fs::read_to_string(path) {
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read.map_err(|why| file_error(path, why))?,
    };
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let event = |(number, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|why| Error::DataFile {
            file: path.display().to_string(),
            line: number + 1,
            column: 0,
            why: format!("is no event of a run ({why}): the record of what was drawn must not be edited"),
        })
    };
    whole.lines().enumerate().map(event).collect()
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
    // One that a killed run left, and not a link to some other place.
    if !fs::symlink_metadata(path)?.is_dir() {
        return Err(std::io::Error::other(format!("{} is not a folder: remove it", path.display())));
    }
    #[cfg(unix)]
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
    Ok(())
}

/// Locks a file for as long as it is open. Whether it was free.
#[allow(clippy::incompatible_msrv)] // The feature needs a newer Rust than the rest of the package.
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
    // Not every system can be asked.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}
