//! Public data that are not bundled: the folder in `ASSAY_FACTS`, or `shared/facts` beside the repository.

// Each test uses only a part.
#![allow(dead_code)]

use std::path::{Path, PathBuf};

/// A folder of the facts; `None`, with a note, if it does not exist.
pub fn folder(name: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/facts");
    let folder = std::env::var_os("ASSAY_FACTS").map_or_else(beside, PathBuf::from).join(name);
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: {} is not there", folder.display());
    None
}
