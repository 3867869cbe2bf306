//! The files of records at a path, and their hash.

use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

use crate::{
    error::Result,
    io::files::file_error,
    safetab::schema::{lines::is_text, parquet_records::is_parquet},
};
#[cfg(feature = "cluster")]
use crate::{
    io::files::create_private,
    safetab::schema::lines::{is_compressed, open_text},
};

/// Files of records; all are checked before any is counted.
#[derive(Clone, Debug, Default)]
pub struct RecordFiles {
    /// Rows of fields separated by `|` below a line of headings.
    pub text: Vec<PathBuf>,
    /// Parquet with the same columns, as text.
    pub parquet: Vec<PathBuf>,
}

impl RecordFiles {
    /// A file, or all files `*.txt`, `*.csv` and `*.parquet` of a folder in the order of their names.
    pub fn find(path: &Path) -> Result<Self> {
        if !path.is_dir() {
            let files = vec![path.to_path_buf()];
            return Ok(match is_parquet(path) {
                true => RecordFiles { parquet: files, ..RecordFiles::default() },
                false => RecordFiles { text: files, ..RecordFiles::default() },
            });
        }
        let wrong = |why: std::io::Error| file_error(path, why);
        let mut files = RecordFiles::default();
        for entry in fs::read_dir(path).map_err(wrong)? {
            let path = entry.map_err(wrong)?.path();
            match path.is_file() {
                true if is_parquet(&path) => files.parquet.push(path),
                true if is_text(&path) => files.text.push(path),
                _ => {}
            }
        }
        files.text.sort();
        files.parquet.sort();
        if files.text.is_empty() && files.parquet.is_empty() {
            return Err(file_error(path, "has no file of records: *.txt, *.csv or *.parquet"));
        }
        Ok(files)
    }

    /// All files, text first.
    pub(in crate::safetab) fn all(&self) -> impl Iterator<Item = &PathBuf> {
        self.text.iter().chain(&self.parquet)
    }

    /// The same files for a reader of plain text: compressed files are decompressed into a folder, readable by their owner only.
    #[cfg(feature = "cluster")]
    pub(super) fn decompressed(&self, folder: &Path) -> Result<RecordFiles> {
        let mut files = self.clone();
        for (number, path) in files.text.iter_mut().enumerate().filter(|(_, path)| is_compressed(path)) {
            let mut input = open_text(path).map_err(|why| file_error(path, why))?;
            let plain = folder.join(format!("decompressed-{number}.txt"));
            let mut out = create_private(&plain)?;
            std::io::copy(&mut input, &mut out).map_err(|why| file_error(path, why))?;
            std::io::Write::flush(&mut out).map_err(|why| file_error(&plain, why))?;
            *path = plain;
        }
        Ok(files)
    }

    /// SHA-256 of all files, one after the other, with their lengths. Calls `progress` with the number of bytes done and the total.
    pub fn hash(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<[u8; 32]> {
        let of = self.all().filter_map(|path| fs::metadata(path).ok()).map(|found| found.len()).sum();
        let mut hasher = Sha256::new();
        let mut done = 0;
        for path in self.all() {
            let length = hash_file(path, &mut hasher, &mut |more| {
                done += more;
                progress(done, of);
            })?;
            hasher.update(length.to_le_bytes());
        }
        Ok(hasher.finalize().into())
    }
}

/// The error for records that differ from those checked when they are read again.
#[cfg(feature = "cluster")]
pub(super) fn changed(how: &str) -> crate::error::Error {
    let why = format!(
        "{how}: the files of records changed after they were checked; leave them as they are while they are tabulated"
    );
    crate::error::Error::Engine { why }
}

/// Adds the bytes of a file to a hash, and returns their number.
pub(super) fn hash_file(path: &Path, hasher: &mut Sha256, progress: &mut dyn FnMut(u64)) -> Result<u64> {
    let wrong = |why: std::io::Error| file_error(path, why);
    let mut file = File::open(path).map_err(wrong)?;
    let mut bytes = vec![0; 1 << 20];
    let mut length = 0;
    loop {
        match file.read(&mut bytes).map_err(wrong)? {
            0 => return Ok(length),
            read => {
                hasher.update(&bytes[..read]);
                length += read as u64;
                progress(read as u64);
            }
        }
    }
}
