//! Files and folders that are written atomically.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{BufWriter, Write},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::error::{Error, Result};

/// The temporary files and folders of this process. A signal reaches the process and no value in it, so a handler can find
/// them only here; no answer depends on it.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all unfinished files and folders, for a program that has to terminate. While the returned value is held, no file is
/// begun or finished: end the program before dropping it.
pub fn remove_unfinished() -> impl Sized {
    let held = unfinished();
    for path in held.iter() {
        if !path.is_dir() {
            // A file that cannot be removed stays, under a name that marks it as unfinished.
            let _ = fs::remove_file(path);
            continue;
        }
        // Under another name, so that threads at work in the folder cannot add files.
        let mut gone = path.as_os_str().to_owned();
        gone.push(".gone.part");
        let _ = fs::rename(path, &gone).and_then(|()| fs::remove_dir_all(&gone));
    }
    held
}

/// A temporary file or folder in the list; its lock protects every change of it.
#[derive(Debug)]
pub(crate) struct Unfinished(PathBuf);

impl Unfinished {
    /// Creates it and lists it, both or neither.
    pub(crate) fn make<T, E>(
        make: impl FnOnce() -> std::result::Result<T, E>,
        path: impl FnOnce(&T) -> PathBuf,
    ) -> std::result::Result<(Self, T), E> {
        let mut all = unfinished();
        let made = make()?;
        let path = path(&made);
        all.insert(path.clone());
        Ok((Unfinished(path), made))
    }

    /// Moves finished content out of a folder. The folder stays in the list.
    pub(crate) fn take_out<T>(&self, rename: impl FnOnce() -> Result<T>) -> Result<T> {
        let _all = unfinished();
        rename()
    }

    /// Gives it its final name, and removes it from the list.
    pub(crate) fn finish<T>(self, rename: impl FnOnce() -> Result<T>) -> Result<T> {
        let mut all = unfinished();
        let renamed = rename()?;
        all.remove(&self.0);
        drop(all);
        Ok(renamed)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        unfinished().remove(&self.0);
    }
}

/// A new file that only its owner may read.
pub fn create_private(path: &Path) -> Result<BufWriter<File>> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(|file| BufWriter::with_capacity(1 << 20, file)).map_err(|why| file_error(path, why))
}

/// The error of a file that cannot be used.
pub fn file_error(path: &Path, why: impl ToString) -> Error {
    Error::File { path: path.to_path_buf(), why: why.to_string() }
}

/// Writes a file beside `path`, forces it to the disk and renames it to `path`: readers see the old file or the whole new
/// one. If `write` fails, the disk is full, or the program is killed, `path` is as it was.
pub fn write_whole<T>(path: &Path, write: impl FnOnce(&mut (dyn Write + Send)) -> Result<T>) -> Result<T> {
    write_over(path, Over::Replace, write)
}

/// How to treat an existing file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// The new file replaces it.
    Replace,
    /// It stays: its existence is an error.
    Refuse,
}

/// The error of a file that exists and must not.
fn exists(path: &Path) -> Error {
    Error::Exists { path: path.to_path_buf() }
}

/// Refuses a path at which a file exists.
pub(crate) fn check_new(path: &Path) -> Result<()> {
    if path.is_file() { Err(exists(path)) } else { Ok(()) }
}

/// The readers of a complete file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Those who may read other new files of the folder, or the existing file.
    Usual,
    /// Only its owner: its content is confidential.
    Owner,
}

/// Writes a file as [`write_whole`] does; an existing one is replaced or refused.
pub(crate) fn write_over<T>(
    path: &Path,
    over: Over,
    write: impl FnOnce(&mut (dyn Write + Send)) -> Result<T>,
) -> Result<T> {
    write_for(path, over, Readers::Usual, write)
}

/// Writes a text into a new file; an existing file is an error.
pub fn write_new(path: &Path, text: &str) -> Result<()> {
    write_over(path, Over::Refuse, |out| out.write_all(text.as_bytes()).map_err(|why| file_error(path, why)))
}

/// Writes a file as `write_over` does, for these readers.
pub fn write_for<T>(
    path: &Path,
    over: Over,
    readers: Readers,
    write: impl FnOnce(&mut (dyn Write + Send)) -> Result<T>,
) -> Result<T> {
    let mut file = NewFile::create(path)?;
    let answer = write(&mut file.out)?;
    file.publish(over, readers)?;
    Ok(answer)
}

/// A file that is being written beside its path.
struct NewFile<'a> {
    path: &'a Path,
    /// The path with links followed, so that a link stays a link.
    target: PathBuf,
    folder: PathBuf,
    existing: Option<fs::Metadata>,
    // Dropped in this order: the file is in the list until it is gone.
    out: BufWriter<tempfile::NamedTempFile>,
    mark: Unfinished,
}

impl<'a> NewFile<'a> {
    fn create(path: &'a Path) -> Result<Self> {
        let wrong = |why: std::io::Error| file_error(path, why);
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
        // Until it is complete only its owner may read it.
        let unfinished = || part().tempfile_in(&folder);
        let (mark, file) = Unfinished::make(unfinished, |file| file.path().to_path_buf()).map_err(wrong)?;
        Ok(NewFile { path, target, folder, existing, out: BufWriter::with_capacity(1 << 20, file), mark })
    }

    /// Forces it to the disk and gives it its name.
    fn publish(self, over: Over, readers: Readers) -> Result<()> {
        let wrong = |why: std::io::Error| file_error(self.path, why);
        let file = self.out.into_inner().map_err(|error| wrong(error.into_error()))?;
        let permissions = match (readers, self.existing) {
            // With the permissions of its creation: it is renamed, so those of a replaced file are lost.
            (Readers::Owner, _) => None,
            (Readers::Usual, Some(existing)) => Some(existing.permissions()),
            (Readers::Usual, None) => usual_permissions(&self.folder, false).map_err(wrong)?,
        };
        if let Some(permissions) = permissions {
            file.as_file().set_permissions(permissions).map_err(wrong)?;
        }
        file.as_file().sync_all().map_err(wrong)?;
        self.mark.finish(|| match over {
            Over::Replace => file.persist(&self.target).map_err(|error| wrong(error.error)),
            Over::Refuse => file.persist_noclobber(&self.target).map_err(|error| match error.error.kind() {
                std::io::ErrorKind::AlreadyExists => exists(self.path),
                _ => wrong(error.error),
            }),
        })?;
        sync_folder(&self.folder);
        Ok(())
    }
}

/// The names of unfinished files and folders. Only their owner may read them.
fn part<'a>() -> tempfile::Builder<'a, 'a> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".assay-").suffix(".part");
    builder
}

/// The same for folders.
fn private_part<'a>() -> tempfile::Builder<'a, 'a> {
    #[allow(unused_mut)]
    let mut builder = part();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder
}

/// The default permissions of a new file or folder in a folder, by the mask of the user and the rules of the folder: those of a probe,
/// which is removed. `None` if the system has none.
#[cfg(unix)]
fn usual_permissions(folder: &Path, of_folder: bool) -> std::io::Result<Option<fs::Permissions>> {
    use std::os::unix::fs::PermissionsExt;
    let mut builder = part();
    if of_folder {
        builder.permissions(fs::Permissions::from_mode(0o777));
        let (_mark, probe) = Unfinished::make(|| builder.tempdir_in(folder), |probe| probe.path().to_path_buf())?;
        return Ok(Some(fs::metadata(probe.path())?.permissions()));
    }
    builder.permissions(fs::Permissions::from_mode(0o666));
    let (_mark, probe) = Unfinished::make(|| builder.tempfile_in(folder), |probe| probe.path().to_path_buf())?;
    Ok(Some(probe.as_file().metadata()?.permissions()))
}

#[cfg(not(unix))]
fn usual_permissions(_: &Path, _: bool) -> std::io::Result<Option<fs::Permissions>> {
    Ok(None)
}

/// Writes a text as [`write_whole`] does; missing folders are created.
pub fn write_text(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|why| file_error(folder, format!("cannot make the folder: {why}")))?;
    }
    write_whole(path, |out| out.write_all(text.as_bytes()).map_err(|why| file_error(path, why)))
}

/// Creates a folder and the folders above it, if they are missing.
pub fn make_folder(path: &Path, readers: Readers) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    if readers == Readers::Owner {
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    }
    #[cfg(not(unix))]
    let _ = readers;
    builder.create(path).map_err(|why| file_error(path, why))
}

/// Fills a folder beside `path` and renames it to `path`: readers see no folder, an empty one, or the complete new one. A
/// folder that is not empty is refused: its files are neither mixed with the new ones nor replaced.
pub fn fill_folder<T>(path: &Path, fill: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
    check_free(path)?;
    fill_beside(path, false, fill, |filled| rename_folder(filled, path))
}

/// Fills a folder as [`fill_folder`] does, which only its owner may enter: its content is confidential.
pub fn fill_private_folder<T>(path: &Path, fill: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
    check_free(path)?;
    fill_beside(path, true, fill, |filled| rename_folder(filled, path))
}

/// Fills a folder beside `path`, and moves its files into `path` when all are written: a full disk leaves `path` as it was. Other
/// files in `path` stay. The file `last` is removed first and written last: while it is missing, the folder is incomplete.
pub fn replace_in_folder<T>(path: &Path, last: &str, fill: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
    if check_free(path).is_ok() {
        return fill_folder(path, fill);
    }
    let wrong = |why: std::io::Error| file_error(path, why);
    if !path.is_dir() {
        return Err(file_error(path, "is not a folder: give one, or one that does not exist"));
    }
    fill_beside(path, false, fill, |filled| {
        let mut names = Vec::new();
        for entry in fs::read_dir(filled).map_err(wrong)? {
            names.push(entry.map_err(wrong)?.file_name());
        }
        names.sort_by_key(|name| name == last);
        match fs::remove_file(path.join(last)) {
            Err(why) if why.kind() != std::io::ErrorKind::NotFound => return Err(file_error(&path.join(last), why)),
            _ => sync_folder(path),
        }
        for name in names {
            fs::rename(filled.join(&name), path.join(&name)).map_err(|why| file_error(&path.join(&name), why))?;
        }
        sync_folder(path);
        Ok(())
    })
}

/// Fills a new folder beside `path`, and passes it to `place`; if either fails, it is removed with its content.
fn fill_beside<T>(
    path: &Path,
    is_private: bool,
    fill: impl FnOnce(&Path) -> Result<T>,
    place: impl FnOnce(&Path) -> Result<()>,
) -> Result<T> {
    let NewFolder { parent, mark, folder } = NewFolder::create(path)?;
    let answer = fill(folder.path())?;
    if !is_private {
        let wrong = |why: std::io::Error| file_error(path, why);
        if let Some(permissions) = usual_permissions(&parent, true).map_err(wrong)? {
            fs::set_permissions(folder.path(), permissions).map_err(wrong)?;
        }
    }
    mark.finish(|| place(folder.path()))?;
    sync_folder(&parent);
    Ok(answer)
}

/// A folder that is being filled beside its path.
struct NewFolder {
    parent: PathBuf,
    mark: Unfinished,
    folder: tempfile::TempDir,
}

impl NewFolder {
    fn create(path: &Path) -> Result<Self> {
        let wrong = |why: std::io::Error| file_error(path, why);
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
            _ => PathBuf::from("."),
        };
        fs::create_dir_all(&parent).map_err(wrong)?;
        // Until it is complete only its owner may enter it.
        let unfinished = || private_part().tempdir_in(&parent);
        let (mark, folder) = Unfinished::make(unfinished, |folder| folder.path().to_path_buf()).map_err(wrong)?;
        Ok(NewFolder { parent, mark, folder })
    }
}

fn rename_folder(filled: &Path, path: &Path) -> Result<()> {
    // An empty folder at the path would prevent the renaming on some systems.
    let _ = fs::remove_dir(path);
    fs::rename(filled, path).map_err(|why| file_error(path, why))
}

/// Forces the names in a folder to the disk; not every system supports it.
pub(crate) fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

/// Forces the name of a file to the disk.
pub fn sync_folder_of(path: &Path) {
    if let Some(folder) = path.parent() {
        sync_folder(folder);
    }
}

/// Refuses a path at which anything exists except an empty folder.
pub fn check_free(path: &Path) -> Result<()> {
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

    #[test]
    fn files_in_a_folder_are_replaced_together_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("spine");
        let put = |text: &'static str, fail: bool| {
            replace_in_folder(&path, "about", |inner| {
                for name in ["about", "rows"] {
                    fs::write(inner.join(name), text).unwrap();
                }
                if fail { Err(file_error(inner, "on purpose")) } else { Ok(()) }
            })
        };
        let read = |name: &str| fs::read_to_string(path.join(name)).unwrap();
        assert!(put("half", true).is_err() && !path.exists());
        put("first", false).unwrap();
        fs::write(path.join("own"), "mine").unwrap();
        assert!(put("half", true).is_err());
        assert_eq!((read("about"), read("rows")), ("first".to_string(), "first".to_string()));
        put("second", false).unwrap();
        assert_eq!((read("about"), read("rows"), read("own")), ("second".into(), "second".into(), "mine".into()));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_must_be_new_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let put = |over, text: &'static str| {
            write_over(&path, over, |out| out.write_all(text.as_bytes()).map_err(|why| file_error(&path, why)))
        };
        put(Over::Refuse, "one").unwrap();
        assert!(check_new(&path).is_err());
        assert!(put(Over::Refuse, "two").unwrap_err().to_string().contains("is there already"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        put(Over::Replace, "two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn unfinished_files_are_private_and_finished_ones_have_the_usual_permissions() {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let folder = tempfile::tempdir().unwrap();
        let (file, within) = (folder.path().join("file"), folder.path().join("within"));
        let unfinished = |inner: &Path| {
            let all = fs::read_dir(inner).unwrap().map(|entry| entry.unwrap().path());
            all.filter(|path| path.to_string_lossy().ends_with(".part")).map(|path| mode(&path)).collect::<Vec<_>>()
        };
        write_whole(&file, |_| {
            assert_eq!(unfinished(folder.path()), [0o600]);
            Ok(())
        })
        .unwrap();
        fill_folder(&within, |_| {
            assert_eq!(unfinished(folder.path()), [0o700]);
            Ok(())
        })
        .unwrap();
        let private = folder.path().join("private");
        fill_private_folder(&private, |_| Ok(())).unwrap();
        assert_eq!(mode(&private), 0o700);
        let (usual, usual_folder) = (folder.path().join("usual"), folder.path().join("usual_folder"));
        fs::write(&usual, "").unwrap();
        fs::create_dir(&usual_folder).unwrap();
        assert_eq!((mode(&file), mode(&within)), (mode(&usual), mode(&usual_folder)));
        // A replaced file keeps its permissions.
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        write_whole(&file, |_| Ok(())).unwrap();
        assert_eq!(mode(&file), 0o640);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 5);
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
