//! Results are written whole or not at all, and folders on the way are made.

use std::{fs, path::Path};

use crate::{
    error::Result,
    files::{file_error, write_whole},
};

/// Writes a file so that an interruption leaves the old one or the new one.
pub fn atomically(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|why| file_error(folder, format!("cannot make the folder: {why}")))?;
    }
    write_whole(path, |out| out.write_all(text.as_bytes()).map_err(|why| file_error(path, why)))
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
