//! Files and folders that are written whole or not at all.

use std::{
    fs::{self, File},
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use crate::error::{Error, Result};

/// The error of a file that cannot be used.
pub(crate) fn file_error(path: &Path, why: impl ToString) -> Error {
    Error::File { path: path.to_path_buf(), why: why.to_string() }
}

/// Writes a file beside `path`, forces it to the disk and renames it to `path`: readers see the old file or the whole new
/// one. If `write` fails, the disk is full, or the program is killed, `path` is as it was.
pub(crate) fn write_whole<T>(path: &Path, write: impl FnOnce(&mut (dyn Write + Send)) -> Result<T>) -> Result<T> {
    let wrong = |why: std::io::Error| file_error(path, why);
    // A link is followed, so that it stays a link.
    let (target, existing) = match fs::metadata(path) {
        Ok(existing) if existing.is_file() => (fs::canonicalize(path).map_err(wrong)?, Some(existing)),
        Ok(existing) if existing.is_dir() => return Err(file_error(path, "is a folder: give the name of a file")),
        Ok(_) => return Err(file_error(path, "is a device or a pipe: give the name of a file")),
        Err(_) => (path.to_path_buf(), None),
    };
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => PathBuf::from("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".assay-").suffix(".part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As for any new file, the user's mask applies.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let file = builder.tempfile_in(&folder).map_err(wrong)?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    let answer = write(&mut out)?;
    let file = out.into_inner().map_err(|error| wrong(error.into_error()))?;
    if let Some(existing) = existing {
        file.as_file().set_permissions(existing.permissions()).map_err(wrong)?;
    }
    file.as_file().sync_all().map_err(wrong)?;
    file.persist(&target).map_err(|error| wrong(error.error))?;
    sync_folder(&folder);
    Ok(answer)
}

/// Writes a text as [`write_whole`] does; folders on the way are made.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|why| file_error(folder, format!("cannot make the folder: {why}")))?;
    }
    write_whole(path, |out| out.write_all(text.as_bytes()).map_err(|why| file_error(path, why)))
}

/// Fills a folder beside `path` and renames it to `path`: readers see no folder, an empty one, or the whole new one. A
/// folder that holds anything is refused: its files are neither mixed with the new ones nor replaced.
pub(crate) fn fill_folder<T>(path: &Path, fill: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
    let wrong = |why: std::io::Error| file_error(path, why);
    check_free(path)?;
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    };
    fs::create_dir_all(&parent).map_err(wrong)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".assay-").suffix(".part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o777));
    }
    let folder = builder.tempdir_in(&parent).map_err(wrong)?;
    let answer = fill(folder.path())?;
    // An empty folder in the way would stop the renaming on some systems.
    let _ = fs::remove_dir(path);
    fs::rename(folder.path(), path).map_err(wrong)?;
    // Its temporary name is gone, so there is nothing to remove.
    let _ = folder.keep();
    sync_folder(&parent);
    Ok(answer)
}

/// Forces the names in a folder to the disk; not every system supports it.
pub(crate) fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

/// Forces the name of a file to the disk.
#[cfg(feature = "tabulate")]
pub(crate) fn sync_folder_of(path: &Path) {
    if let Some(folder) = path.parent() {
        sync_folder(folder);
    }
}

/// Refuses a path at which anything exists except an empty folder.
pub(crate) fn check_free(path: &Path) -> Result<()> {
    match fs::read_dir(path).map(|mut entries| entries.next().is_some()) {
        Ok(true) => Err(file_error(path, "is a folder that holds files: give one that is empty or does not exist")),
        Err(_) if path.exists() => Err(file_error(path, "is not a folder: give one that is empty or does not exist")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_what_was_there_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let put = |text: &'static str, fail: bool| {
            write_whole(&path, |out| {
                out.write_all(text.as_bytes()).unwrap();
                if fail { Err(file_error(&path, "on purpose")) } else { Ok(text.len()) }
            })
        };
        assert!(put("half", true).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        assert_eq!(put("whole", false).unwrap(), 5);
        assert!(put("half", true).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(write_whole(folder.path(), |_| Ok(())).is_err());
        assert!(write_whole(&folder.path().join("no/such"), |_| Ok(())).is_err());
    }

    #[test]
    fn a_text_is_replaced_whole_and_its_folders_are_made() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/file.txt");
        write_text(&path, "one").unwrap();
        write_text(&path, "two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        // A folder has the name of the file.
        assert!(write_text(&folder.path().join("deep"), "three").unwrap_err().to_string().contains("deep"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_is_whole_or_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/out");
        let put = |name: &'static str, fail: bool| {
            fill_folder(&path, |inner| {
                fs::write(inner.join(name), name).unwrap();
                if fail { Err(file_error(inner, "on purpose")) } else { Ok(()) }
            })
        };
        assert!(put("half", true).is_err() && !path.exists());
        fs::create_dir(&path).unwrap();
        put("whole", false).unwrap();
        assert!(put("more", false).unwrap_err().to_string().contains("holds files"));
        let there = |path: &Path| fs::read_dir(path).unwrap().count();
        assert_eq!((there(&path), there(path.parent().unwrap())), (1, 1));
        assert!(fill_folder(&path.join("whole"), |_| Ok(())).unwrap_err().to_string().contains("not a folder"));
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_links_and_devices_stay_devices() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write_whole(&link, |out| out.write_all(b"new").map_err(|why| file_error(&link, why))).unwrap();
        assert_eq!(fs::read_to_string(&real).unwrap(), "new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        let message = write_whole(Path::new("/dev/null"), |_| Ok(())).unwrap_err().to_string();
        assert!(message.contains("device"), "{message}");
    }
}
