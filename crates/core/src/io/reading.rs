//! Files are read with a limit: a device or a pipe may have no end.

use std::{
    fs::File,
    io::{ErrorKind, Read},
    path::Path,
};

use crate::error::{Error, Result};

/// The largest size of a file that is read as a whole, such as releases, plans, ledgers and configurations: 64 MB.
pub const MOST_BYTES: u64 = 64 << 20;

fn wrong(path: &Path, why: impl ToString) -> Error {
    Error::File { path: path.to_path_buf(), why: why.to_string() }
}

/// Opens a file to read; refuses a folder.
pub fn open(path: &Path) -> Result<File> {
    let file = File::open(path).map_err(|why| match why.kind() {
        ErrorKind::NotFound => wrong(path, "no such file"),
        _ => wrong(path, why),
    })?;
    if file.metadata().map_err(|why| wrong(path, why))?.is_dir() {
        return Err(wrong(path, "is a folder: expected a file"));
    }
    Ok(file)
}

/// All bytes of a file of at most `most` bytes.
pub fn read_at_most(path: &Path, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(|why| wrong(path, why))?;
    if bytes.len() as u64 > most {
        return Err(wrong(path, format!("is larger than {most} bytes, which is the most that is read of such a file")));
    }
    Ok(bytes)
}

/// The text of a file that is read as a whole, of at most [`MOST_BYTES`].
pub fn read_text(path: &Path) -> Result<String> {
    let bytes = read_at_most(path, MOST_BYTES)?;
    String::from_utf8(bytes).map_err(|_| wrong(path, "is not text in UTF-8"))
}

/// The text of a file, or `None` if there is no such file.
pub fn read_text_if_there(path: &Path) -> Result<Option<String>> {
    match path.try_exists() {
        Ok(false) => Ok(None),
        _ => read_text(path).map(Some),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn endless_files_and_folders_are_refused_by_name() {
        let said = |path: &str| read_text(Path::new(path)).unwrap_err().to_string();
        assert!(said("/dev/zero").contains("/dev/zero: is larger than 67108864 bytes"));
        assert!(said("/").contains("is a folder"));
        assert!(said("/no/such/file").contains("no such file"));
        assert!(read_text_if_there(Path::new("/no/such/file")).unwrap().is_none());
        let folder = std::env::temp_dir().join(format!("assay-reading-{}", std::process::id()));
        std::fs::write(&folder, [b'a', 0xff]).unwrap();
        let why = read_text(&folder).unwrap_err().to_string();
        std::fs::remove_file(&folder).unwrap();
        assert!(why.contains("UTF-8"), "{why}");
    }
}
