//! Tables in place of noisy measurement files: they hold no pure noise, and the refusal says why.

use std::path::Path;

use crate::error::{Error, Result};

/// Refuses a file, and a folder without levels that has tables. A folder without either is left to the reader of files.
pub(super) fn refuse(path: &Path, levels: &[String]) -> Result<()> {
    if path.is_file() || is_of_tables(path, levels) {
        return Err(Error::unsuitable(format!(
            "{}: is no folder of noisy measurement files. Published tables and whole counts cannot be audited: they were changed after the noise. Zeros \
             by constraints are exactly zero, totals are exact, children sum to their parents and no count is negative, so that no difference in them is \
             a draw of the declared noise; what is left of the noise depends on the confidential counts",
            crate::error::shown(path)
        )));
    }
    Ok(())
}

/// Whether a folder has tables and no level, neither itself nor one folder below.
fn is_of_tables(path: &Path, levels: &[String]) -> bool {
    let entries = |path: &Path| std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_level = |folder: &Path| levels.iter().any(|level| folder.join(format!("{level}.parquet")).is_dir());
    if is_level(path) || entries(path).any(|entry| is_level(&entry)) {
        return false;
    }
    const TABLES: [&str; 6] = ["csv", "gz", "parquet", "tsv", "txt", "zip"];
    let is_table =
        |path: &Path| path.is_file() && path.extension().is_some_and(|end| TABLES.iter().any(|table| end == *table));
    entries(path).any(|entry| is_table(&entry))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_refused_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let levels = ["US".to_string(), "State".to_string()];
        let (product, tables) = (folder.path().join("product"), folder.path().join("tables"));
        std::fs::create_dir_all(product.join("State.parquet")).unwrap();
        std::fs::create_dir_all(&tables).unwrap();
        std::fs::write(folder.path().join("notes.txt"), "").unwrap();
        assert!(refuse(&product, &levels).is_ok() && refuse(folder.path(), &levels).is_ok());
        assert!(refuse(&tables, &levels).is_ok());
        let table = tables.join("whole.csv");
        std::fs::write(&table, "level,geoid\n").unwrap();
        for path in [&tables, &table] {
            let message = refuse(path, &levels).unwrap_err().to_string();
            assert!(message.contains("changed after the noise"), "{message}");
        }
    }
}
