//! The key that determines the noise of a draw: a file that only its owner can read, until the release is complete.
//!
//! Beside the key the file holds a keyed hash of the confidential files: the same noise on other counts would reveal
//! the difference between them, so a draw is repeated for the same records only. The key and the release together
//! reveal the counts. So the key is as secret as the confidential files, and it is overwritten and removed when the
//! release is complete. (A program can only overwrite it: a file system that keeps old blocks, or a backup, may still
//! hold it. Keep the folder in a place that may hold the confidential data.)

use std::{
    fs::{self, OpenOptions},
    io::Write,
    path::PathBuf,
};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    error::{Error, Result},
    io::files::{file_error, sync_folder_of},
};

/// The content of the key file.
#[derive(Serialize, Deserialize)]
struct Secret {
    key: [u8; 32],
    /// SHA-256 of the key and the hash of the confidential files.
    #[serde(rename = "persons")]
    records: [u8; 32],
}

/// The path of the key, with or without a key.
pub(super) struct KeyFile {
    path: PathBuf,
}

impl KeyFile {
    /// The key file with this path.
    pub(super) fn at(path: PathBuf) -> Self {
        KeyFile { path }
    }

    /// Whether the key file exists.
    pub(super) fn exists(&self) -> bool {
        fs::metadata(&self.path).is_ok()
    }

    /// Writes a key and forces it to the disk. `records` is the hash of the confidential files.
    pub(super) fn write(&self, key: &[u8; 32], records: &[u8; 32]) -> Result<()> {
        let wrong = |why: std::io::Error| file_error(&self.path, why);
        let secret = serde_json::to_vec(&Secret { key: *key, records: keyed(key, records) });
        let secret = secret.map_err(|why| file_error(&self.path, why))?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&self.path).map_err(wrong)?;
        file.write_all(&secret).and_then(|()| file.sync_all()).map_err(wrong)?;
        sync_folder_of(&self.path);
        Ok(())
    }

    /// The key, if it was written for the same confidential files.
    pub(super) fn read(&self, records: &[u8; 32]) -> Result<[u8; 32]> {
        let secret = fs::read(&self.path)
            .map_err(|why| self.refused(format!("{why}; without the key the draw can only be discarded")))?;
        let secret: Secret = serde_json::from_slice(&secret)
            .map_err(|_| self.refused("holds no key; without it the draw can only be discarded".to_string()))?;
        if keyed(&secret.key, records) != secret.records {
            let why = "the confidential files are not those that the draw was begun with: the same noise on other counts would \
                       reveal the difference between them; restore them, or discard the draw";
            return Err(self.refused(why.to_string()));
        }
        Ok(secret.key)
    }

    /// The error of a draw that cannot be repeated.
    fn refused(&self, why: String) -> Error {
        Error::Draw { path: self.path.clone(), why }
    }

    /// Overwrites the key, if there is one, and removes it.
    pub(super) fn destroy(&self) -> Result<()> {
        let wrong = |why: std::io::Error| file_error(&self.path, why);
        let length = match fs::metadata(&self.path) {
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            found => found.map_err(wrong)?.len(),
        };
        let mut file = OpenOptions::new().write(true).open(&self.path).map_err(wrong)?;
        file.write_all(&vec![b' '; length as usize]).and_then(|()| file.sync_all()).map_err(wrong)?;
        fs::remove_file(&self.path).map_err(wrong)?;
        sync_folder_of(&self.path);
        Ok(())
    }
}

fn keyed(key: &[u8; 32], records: &[u8; 32]) -> [u8; 32] {
    Sha256::new().chain_update(b"persons of a draw").chain_update(key).chain_update(records).finalize().into()
}
