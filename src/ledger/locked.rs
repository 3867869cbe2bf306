//! The lock of a ledger, by which additions wait for each other.

use std::{
    fs::{self, File},
    path::Path,
};

use crate::{error::Result, io::files::file_error};

/// The ledger, locked until the answer is dropped. It is replaced as a whole, so the lock has to be that of the file that has its name.
pub(super) fn locked(path: &Path) -> Result<File> {
    let wrong = |why: std::io::Error| file_error(path, why);
    loop {
        let file = crate::io::reading::open(path)?;
        let metadata = file.metadata().map_err(wrong)?;
        if !metadata.is_file() {
            return Err(file_error(path, "is a device or a pipe: a ledger to which releases are added is a file"));
        }
        if names(&metadata) > 1 {
            let why = "has several names (hard links), each of which would have a log of its own: keep one, or use symbolic links";
            return Err(file_error(path, why));
        }
        file.lock().map_err(wrong)?;
        if is_same(&file, path).map_err(wrong)? {
            return Ok(file);
        }
    }
}

/// The number of hard links of a file.
#[cfg(unix)]
fn names(metadata: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(metadata)
}

#[cfg(not(unix))]
fn names(_: &fs::Metadata) -> u64 {
    1
}

#[cfg(unix)]
fn is_same(file: &File, path: &Path) -> std::io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let id = |of: fs::Metadata| (of.dev(), of.ino());
    Ok(id(file.metadata()?) == id(fs::metadata(path)?))
}

/// Elsewhere a file that is open is not replaced.
#[cfg(not(unix))]
fn is_same(_: &File, _: &Path) -> std::io::Result<bool> {
    Ok(true)
}
