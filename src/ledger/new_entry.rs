//! The text of an entry that is to be added.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

use super::{
    entry::{self, Kind, LedgerEntry},
    file::LedgerFile,
    form::RawEntries,
    request::Addition,
};
use crate::{
    error::{Error, Result},
    io::{files::file_error, toml_reader::TomlReader},
    release::bundled_text,
    topdown::measurement_files::MANIFEST,
};

/// An error about the new entry, which stands in no file yet.
pub(super) fn without_place(error: Error, release: &str) -> Error {
    match error {
        Error::DataFile { why, .. } => Error::conflict(format!("{release}: {why}")),
        other => other,
    }
}

/// The entry as it will stand in the ledger, and its name.
pub(super) fn entry_text(
    ledger: &str,
    file: &LedgerFile,
    place: usize,
    addition: &Addition,
) -> Result<(String, String)> {
    let (kind, source) = kind_of(&addition.release);
    let source = match bundled_text(&source) {
        Some(_) => source,
        None => relative(kind, Path::new(&source), Path::new(ledger))?,
    };
    let quoted = |text: &str| toml::Value::String(text.to_string()).to_string();
    let population = &file.populations[place];
    let mut text = format!("[[entry]]\npopulation = {}\n", quoted(&population.name));
    // The description is read once more when the entry is entered; here for its name and its hash.
    let described = format!("{text}{} = {}\n", kind.key(), quoted(&source));
    let reader = TomlReader::new(ledger, &described);
    let raw: RawEntries = reader.toml()?;
    let Some(raw) = raw.entries.first() else { return Err(Error::EmptyComposition) };
    let entry: LedgerEntry =
        entry::read(&reader, raw, None).map_err(|error| without_place(error, &addition.release))?;
    let own = addition.name.clone().unwrap_or_else(|| free_name(&entry.name, population.names()));
    text += &format!("name = {}\n{} = {}\n", quoted(&own), kind.key(), quoted(&source));
    // The text of a bundled release may change with the program: what counts is its account.
    match (bundled_text(&source), &entry.sha256) {
        (Some(_), _) => {
            let account = population.account_of_one(&entry).map_err(|error| without_place(error, &addition.release))?;
            text += &format!("account = {}\n", quoted(&account.hash));
        }
        (None, Some(sha256)) => text += &format!("sha256 = {}\n", quoted(sha256)),
        (None, None) => {}
    }
    if addition.times != 1 {
        text += &format!("times = {}\n", addition.times);
    }
    if let Some((partition, part)) = &addition.part {
        text += &format!("partition = {}\npart = {}\n", quoted(partition), quoted(part));
    }
    Ok((text, own))
}

/// A name that no other entry has: the name itself, or with a number.
fn free_name<'a>(name: &str, others: impl Iterator<Item = &'a str> + Clone) -> String {
    let is_free = |name: &str| !others.clone().any(|other| other == name);
    if is_free(name) {
        return name.to_string();
    }
    (2_u64..).map(|number| format!("{name} ({number})")).find(|name| is_free(name)).unwrap_or_default()
}

/// The kind of description at a path, and its path.
pub(super) fn kind_of(release: &str) -> (Kind, String) {
    let path = Path::new(release);
    let holds = |file: &str| path.is_dir() && path.join(file).is_file();
    let is_json = path.extension().is_some_and(|end| end == "json");
    let is_named = |name: &str| path.file_name().is_some_and(|own| own == name);
    let kind = match () {
        _ if bundled_text(release).is_some() => Kind::Release,
        _ if is_named("measurements.json") || holds("measurements.json") => Kind::Measurements,
        _ if is_json || holds("certificate.json") => Kind::SafeTab,
        _ => Kind::Release,
    };
    (kind, release.to_string())
}

/// The file of that kind of description at a path: itself, or the one in a folder.
pub(super) fn file_in(kind: Kind, path: &Path) -> PathBuf {
    match kind {
        Kind::SafeTab => entry::within(path, entry::CERTIFICATE).0,
        Kind::Measurements => entry::within(path, MANIFEST).0,
        Kind::Release => path.to_path_buf(),
    }
}

/// A path as seen from the folder of the ledger.
fn relative(kind: Kind, path: &Path, ledger: &Path) -> Result<String> {
    // A name that is no file is reported as it was given.
    let Ok(real) = fs::canonicalize(path) else { return Ok(path.display().to_string()) };
    let folder = ledger.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = fs::canonicalize(folder).map_err(|why| file_error(folder, why))?;
    let folder: Vec<Component> = folder.components().collect();
    let own: Vec<Component> = real.components().collect();
    let shared = folder.iter().zip(&own).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n(Component::ParentDir, folder.len() - shared);
    let relative: PathBuf = up.chain(own[shared..].iter().copied()).collect();
    let shown = relative.to_str().ok_or_else(|| file_error(path, "is not a name in UTF-8, as a ledger holds them"))?;
    // A plain word could be a bundled release.
    let is_path = kind != Kind::Release || shown.contains(['/', '\\']) || shown.ends_with(".toml");
    Ok(if is_path { shown.to_string() } else { format!("./{shown}") })
}
