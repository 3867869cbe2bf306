//! The releases and ledgers that come with the program, and files of the same form.

use std::path::Path;

use crate::{
    error::{Error, Result},
    io::reading::read_text,
};

/// Pairs each name with the text of its file in data/releases.
macro_rules! bundled {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!(env!("ASSAY_FILES"), "/data/releases/", $name, ".toml")))),*]
    };
}

/// The bundled releases, from data/releases.
pub(super) const BUNDLED: &[(&str, &str)] = bundled![
    "pl94-persons-us",
    "pl94-persons-pr",
    "pl94-units-us",
    "pl94-units-pr",
    "dhc-persons-us",
    "dhc-persons-pr",
    "dhc-units-us",
    "dhc-units-pr",
    "dhc-demo-persons-us",
    "dhc-demo-persons-pr",
    "dhc-demo-units-us",
    "dhc-demo-units-pr",
    "ddhca-us",
    "ddhca-pr",
    "ddhcb-us",
    "ddhcb-pr",
    "sdhc-us",
    "sdhc-pr",
    "demo-2010-persons-us",
    "demo-2010-households-us",
    "su-su-wang-2025",
];

/// The bundled ledgers, from data/ledgers.
#[doc(hidden)]
pub const LEDGERS: &[(&str, &str)] =
    &[("us-2020-persons", include_str!(concat!(env!("ASSAY_FILES"), "/data/ledgers/us-2020-persons.toml")))];

/// The text of the bundled release or ledger of this name.
#[cfg_attr(not(feature = "mechanisms"), allow(dead_code, reason = "used by the readers of the feature mechanisms"))]
pub fn bundled_text(name: &str) -> Option<&'static str> {
    BUNDLED.iter().chain(LEDGERS).find(|(known, _)| *known == name).map(|(_, text)| *text)
}

pub(super) const NO_FILE: &str = "no such file";

/// A name in a file as seen from the working directory: a bundled name unchanged, a path relative to the folder of the file that names it.
#[doc(hidden)]
pub fn place_beside(name: &str, naming: &Path) -> String {
    let beside = naming.parent().unwrap_or(Path::new("")).join(name);
    let is_path = name.contains(['/', '\\']) || name.ends_with(".toml") || beside.exists();
    if bundled_text(name).is_none() && is_path { beside.display().to_string() } else { name.to_string() }
}

/// Whether a bundled release covers blocks of a state: those whose names end in `-us` cover the states and the District of Columbia,
/// those in `-pr` Puerto Rico. Others, and files, may cover any state.
#[cfg(feature = "mechanisms")]
#[doc(hidden)]
pub fn covers_state(name: &str, state: u64) -> bool {
    match bundled_text(name) {
        Some(_) if name.ends_with("-us") => state <= 56,
        Some(_) if name.ends_with("-pr") => state == 72,
        _ => true,
    }
}

/// The text of a bundled file, or of the one at a path.
#[doc(hidden)]
pub fn find_text(name_or_path: &str, bundled: &[(&str, &str)], kind: &'static str) -> Result<String> {
    if let Some((_, text)) = bundled.iter().find(|(name, _)| *name == name_or_path) {
        return Ok(text.to_string());
    }
    let path = Path::new(name_or_path);
    let is_path = name_or_path.contains(['/', '\\']) || path.extension().is_some_and(|end| end == "toml");
    if !path.exists() && is_path {
        return Err(Error::File { path: path.to_path_buf(), why: NO_FILE.to_string() });
    }
    if !path.exists() {
        let has = "there is no file of this name, and bundled are";
        return Err(Error::unknown(kind, name_or_path, has, bundled.iter().map(|(name, _)| *name)));
    }
    read_text(path)
}
