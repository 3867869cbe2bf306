//! The files of a folder of noisy measurements.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use crate::{
    error::{Error, Result},
    io::files::file_error,
};

/// The file that describes a draw, in products of `assay measure`.
pub const MANIFEST: &str = "nmf.json";

/// A product: the files of all its levels.
#[derive(Clone, Debug)]
pub struct NmfFolder {
    /// The folder of the product.
    pub path: PathBuf,
    /// The levels, in the order of the release.
    pub levels: Vec<LevelFiles>,
}

/// The content of `nmf.json` in a product that `assay measure` drew.
#[derive(Clone, Debug, Default, serde::Deserialize)]
pub struct Declared {
    /// Whether the file exists.
    #[serde(skip)]
    pub is_there: bool,
    /// The seed of the noise, if it was given.
    pub insecure_seed: Option<u64>,
    /// The parts of states in the product.
    pub parts: Option<Vec<String>>,
}

/// The files of a level.
#[derive(Clone, Debug)]
pub struct LevelFiles {
    /// Its name.
    pub name: String,
    /// Noisy counts.
    pub queries: Vec<NmfFile>,
    /// Constraints.
    pub constraints: Vec<NmfFile>,
}

/// A Parquet file.
#[derive(Clone, Debug)]
pub struct NmfFile {
    /// Its path.
    pub path: PathBuf,
    /// The part of a state from its folder `State=`, in three digits; `None` outside such folders.
    pub part: Option<String>,
}

impl NmfFolder {
    /// Finds the files of a release with these levels, or of those from the root down to the lowest level present.
    /// `folder` is the product or contains one.
    pub fn open_from_root(folder: &Path, levels: &[String]) -> Result<NmfFolder> {
        let path = product(folder, levels)?;
        let is_there = |name: &&String| path.join(format!("{name}.parquet")).is_dir();
        let lowest = levels.iter().rposition(|name| is_there(&name)).unwrap_or(0);
        NmfFolder::open(folder, &levels[..=lowest])
    }

    /// Finds the files of a release with these levels: `folder` is the product or contains one.
    pub fn open(folder: &Path, levels: &[String]) -> Result<NmfFolder> {
        let path = product(folder, levels)?;
        // A download of some states often lacks the nation above them.
        let lacks_root = levels.len() > 1
            && !path.join(format!("{}.parquet", levels[0])).is_dir()
            && path.join(format!("{}.parquet", levels[1])).is_dir();
        let found = levels.iter().enumerate().map(|(at, name)| {
            let folder = path.join(format!("{name}.parquet"));
            if at == 0 && lacks_root {
                return Ok(LevelFiles { name: name.clone(), queries: Vec::new(), constraints: Vec::new() });
            }
            if !folder.is_dir() {
                let why = format!("no folder {name}.parquet: the release has the levels {}", levels.join(", "));
                return Err(file_error(&path, why));
            }
            let kind = |kind: &str| {
                let mut files = Vec::new();
                let folder = folder.join(kind);
                if folder.is_dir() {
                    collect(&folder, None, &mut files)?;
                }
                Ok::<_, Error>(files)
            };
            let level = LevelFiles { name: name.clone(), queries: kind("DPQuery")?, constraints: kind("Constraint")? };
            if level.constraints.is_empty() {
                let why = "no Parquet file in Constraint: only constraints list all units, the bypassed ones too";
                return Err(file_error(&folder, why));
            }
            Ok(level)
        });
        let found = found.collect::<Result<Vec<_>>>()?;
        for entry in entries(&path)? {
            let name = entry.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_string();
            let level = name.strip_suffix(".parquet");
            if level.is_some_and(|level| entry.is_dir() && !levels.iter().any(|known| known == level)) {
                let why = format!("is no level of the release, which has {}", levels.join(", "));
                return Err(file_error(&entry, why));
            }
        }
        Ok(NmfFolder { path, levels: found })
    }

    /// Whether the first level, the nation, is not in the folder.
    pub fn lacks_root(&self) -> bool {
        self.levels[0].constraints.is_empty()
    }

    /// The description beside the files of a product of `assay measure`; empty for the Bureau's.
    pub fn declared(&self) -> Result<Declared> {
        let path = self.path.join(MANIFEST);
        let Some(text) = crate::io::reading::read_text_if_there(&path)? else { return Ok(Declared::default()) };
        let declared: Declared = serde_json::from_str(&text).map_err(|why| file_error(&path, why))?;
        let wrong = declared.parts.iter().flatten().find(|part| part_number(part).is_none() || part.len() != 3);
        match wrong {
            Some(part) => {
                Err(file_error(&path, format!("parts has {part:?}: expected parts of states in three digits, as 044")))
            }
            None => Ok(Declared { is_there: true, ..declared }),
        }
    }

    /// The first few names in the folder of a level that are not read, because they are not Parquet files where such
    /// are expected. Unfinished downloads are among them.
    pub fn passed_over(&self, level: usize) -> Vec<String> {
        let folder = self.path.join(format!("{}.parquet", self.levels[level].name));
        let mut found = Vec::new();
        let known = |path: &Path| ["DPQuery", "Constraint"].iter().any(|kind| path.ends_with(kind));
        let mut open = entries(&folder).unwrap_or_default();
        let beside: Vec<PathBuf> = open.iter().filter(|path| !known(path)).cloned().collect();
        open.retain(|path| known(path));
        found.extend(beside);
        while let Some(path) = open.pop() {
            match path.is_dir() {
                true => open.extend(entries(&path).unwrap_or_default()),
                false if path.extension().is_none_or(|end| end != "parquet") => found.push(path),
                false => {}
            }
        }
        found.sort();
        let shown = found.iter().map(|path| path.strip_prefix(&self.path).unwrap_or(path).display().to_string());
        shown.take(3).collect()
    }

    /// The parts of states named by any file, in order.
    pub fn parts(&self) -> Vec<String> {
        let files = self.levels.iter().flat_map(|level| level.constraints.iter().chain(&level.queries));
        files.filter_map(|file| file.part.clone()).collect::<BTreeSet<String>>().into_iter().collect()
    }

    /// The number of bytes of all files.
    pub fn bytes(&self) -> u64 {
        self.bytes_of(|_| true)
    }

    /// The number of bytes of the files of a part of a state.
    pub fn bytes_of_part(&self, part: &str) -> u64 {
        self.bytes_of(|own| own == Some(part))
    }

    fn bytes_of(&self, is_asked: impl Fn(Option<&str>) -> bool) -> u64 {
        let files = self.levels.iter().flat_map(|level| level.constraints.iter().chain(&level.queries));
        let asked = files.filter(|file| is_asked(file.part.as_deref()));
        asked.filter_map(|file| fs::metadata(&file.path).ok()).map(|data| data.len()).sum()
    }
}

/// The files of a part among those of a level: its own, and those outside any part.
pub fn of_part<'a>(files: &'a [NmfFile], part: &'a str) -> impl Iterator<Item = &'a NmfFile> {
    files.iter().filter(move |file| file.part.as_deref().is_none_or(|own| own == part))
}

/// The folder of the product: this one, or the only one in it.
fn product(folder: &Path, levels: &[String]) -> Result<PathBuf> {
    let is_product = |folder: &Path| levels.iter().any(|level| folder.join(format!("{level}.parquet")).is_dir());
    if is_product(folder) {
        return Ok(folder.to_path_buf());
    }
    let inside: Vec<PathBuf> = entries(folder)?.into_iter().filter(|entry| is_product(entry)).collect();
    match &inside[..] {
        [only] => Ok(only.clone()),
        [] => {
            let first = levels.first().map_or("", String::as_str);
            Err(file_error(folder, format!("no noisy measurement files: expected {first}.parquet/Constraint in it")))
        }
        several => {
            let names: Vec<String> = several.iter().map(|path| path.display().to_string()).collect();
            Err(file_error(folder, format!("holds several products: give one of {}", names.join(", "))))
        }
    }
}

/// The entries of a folder, by name; without those that start with `_` or a dot.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let wrong = |why: std::io::Error| file_error(folder, why);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(wrong)? {
        let path = entry.map_err(wrong)?.path();
        let hidden = path.file_name().and_then(|name| name.to_str()).is_none_or(|name| name.starts_with(['_', '.']));
        if !hidden {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn collect(folder: &Path, part: Option<&str>, files: &mut Vec<NmfFile>) -> Result<()> {
    for path in entries(folder)? {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() {
            let own = match name.strip_prefix("State=") {
                Some(text) => Some(part_code(&path, text)?),
                None => part.map(String::from),
            };
            collect(&path, own.as_deref(), files)?;
        } else if name.ends_with(".parquet") {
            files.push(NmfFile { path: path.clone(), part: part.map(String::from) });
        }
    }
    Ok(())
}

/// The three digits of a part: some tools turn 050 into 50.
fn part_code(path: &Path, text: &str) -> Result<String> {
    let number = part_number(text)
        .ok_or_else(|| file_error(path, "expected a part of a state in three digits, as State=044"))?;
    Ok(format!("{number:03}"))
}

fn part_number(text: &str) -> Option<u32> {
    let digits = text.len() <= 3 && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse::<u32>().ok().filter(|number| digits && *number < 200)
}

/// A level of a part without units: its file of constraints is missing or empty.
pub(super) fn no_units(folder: &NmfFolder, level: usize, part: &str) -> Error {
    let name = &folder.levels[level].name;
    let beside = match folder.passed_over(level) {
        names if names.is_empty() => String::new(),
        names => format!("; not read: {}", names.join(", ")),
    };
    let why =
        format!("no units of the part {part} in {name}.parquet/Constraint: is State={part} missing there?{beside}");
    file_error(&folder.path, why)
}
