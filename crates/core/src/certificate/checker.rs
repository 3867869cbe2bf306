//! The checker as a file: an installed program has no folder `proofs`.

use std::path::Path;

use crate::{
    error::Result,
    io::files::{self, file_error},
    io::reading::read_at_most,
};

/// The text of `proofs/check.py`, which proves certificates again: plain Python, one file.
pub const CHECKER: &str = include_str!(concat!(env!("ASSAY_FILES"), "/proofs/check.py"));

/// The text of `proofs/check.html`, the same for a browser: one file, no network.
pub const CHECKER_PAGE: &str = include_str!(concat!(env!("ASSAY_FILES"), "/proofs/check.html"));

/// The beginning of a checker of any version.
const START: &str = "#!/usr/bin/env python3\n\"\"\"Checks certificates of `assay prove`: python3 ";

/// Refuses a path at which a file exists that is not a checker.
pub fn may_hold_checker(path: &Path) -> Result<()> {
    if !path.try_exists().map_err(|why| file_error(path, why))? {
        return Ok(());
    }
    let is_checker =
        path.is_file() && read_at_most(path, 1 << 20).is_ok_and(|bytes| bytes.starts_with(START.as_bytes()));
    match is_checker {
        true => Ok(()),
        false => Err(file_error(path, "is there and is no checker of certificates: name another file")),
    }
}

/// Writes the checker to a file atomically; an older checker is replaced.
pub fn write_checker(path: &Path) -> Result<()> {
    may_hold_checker(path)?;
    files::write_text(path, CHECKER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checker_is_replaced_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("check.py");
        write_checker(&path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), CHECKER);
        assert!(CHECKER.starts_with(START));
        // The first lines of versions before 0.3.0, which did not ask for -I.
        let older = format!("{START}check.py FILE... (--help lists the options)\n\nPlain Python\n\"\"\"\n");
        std::fs::write(&path, older).unwrap();
        write_checker(&path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), CHECKER);
        std::fs::write(&path, "print('mine')\n").unwrap();
        let message = write_checker(&path).unwrap_err().to_string();
        assert!(message.contains("no checker"), "{message}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "print('mine')\n");
        assert!(may_hold_checker(folder.path()).is_err());
    }
}
