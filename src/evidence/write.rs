//! Files that are there whole or not at all.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::Path,
};

use crate::error::{Error, Result};

/// Writes a file: beside its place first, to the disk, and then by its name, so that an interruption leaves the old file
/// or the new one. Folders on the way are made.
pub fn atomically(path: &Path, text: &str) -> Result<()> {
    let refuse = |error: io::Error| Error::File { path: path.to_path_buf(), why: error.to_string() };
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    fs::create_dir_all(folder)
        .map_err(|error| Error::File { path: folder.to_path_buf(), why: format!("cannot make the folder: {error}") })?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let beside = folder.join(format!(".{name}.{}.part", std::process::id()));
    let write = || -> io::Result<()> {
        let mut file = File::create(&beside)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, path)
    };
    write().map_err(|error| {
        // What could not be put in place is not left lying about; the first error is the one to tell.
        let _ = fs::remove_file(&beside);
        refuse(error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_left_beside_it() {
        let folder = std::env::temp_dir().join(format!("dp-assay-write-{}", std::process::id()));
        let path = folder.join("deep/file.txt");
        atomically(&path, "one").unwrap();
        atomically(&path, "two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        // A folder stands where the file should.
        assert!(atomically(&folder.join("deep"), "three").unwrap_err().to_string().contains("deep"));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }
}
