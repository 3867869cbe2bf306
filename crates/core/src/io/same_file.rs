//! Recognizes the confidential file of an earlier run, without storing anything that could confirm a guess of its content.
//!
//! A plain hash of a file of small counts reveals them: a reader of the hash can try all likely counts. A random key and
//! the hash of the key with the file's hash are stored instead, in a file that only its owner may read. It has to be stored where its
//! surroundings are as confidential as the file itself: with the key a guess can be confirmed as before.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    error::{Error, Result},
    io::files::{Over, Readers, file_error, write_for},
    io::provenance,
    reading,
};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    key: [u8; 32],
    /// SHA-256 of the key and the hash of the file.
    keyed: [u8; 32],
}

impl Kept {
    fn new(hash: &str) -> Result<Kept> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(|error| Error::Randomness { why: error.to_string() })?;
        Ok(Kept { key, keyed: keyed(&key, hash) })
    }
}

fn keyed(key: &[u8; 32], hash: &str) -> [u8; 32] {
    Sha256::new().chain_update(b"a confidential file").chain_update(key).chain_update(hash).finalize().into()
}

/// Records the identity of this file in `kept`; refuses it if another one was recorded there.
pub fn check(kept: &Path, file: &Path) -> Result<()> {
    let hash = provenance::sha256(file)?;
    let text = serde_json::to_string(&Kept::new(&hash)?).map_err(|why| file_error(kept, why))?;
    let write = write_for(kept, Over::Refuse, Readers::Owner, |out| {
        out.write_all(text.as_bytes()).map_err(|why| file_error(kept, why))
    });
    match write {
        Err(Error::Exists { .. }) => {}
        written => return written,
    }
    let bytes = reading::read_at_most(kept, reading::MOST_BYTES)?;
    let known: Kept = serde_json::from_slice(&bytes)
        .map_err(|_| file_error(kept, "holds no key: remove the folder, and start again"))?;
    if keyed(&known.key, &hash) != known.keyed {
        return Err(file_error(
            file,
            "is not the file with which this work was begun: restore it, or use another folder",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn another_file_is_refused_and_nothing_kept_follows_from_the_file_alone() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("counts"), "count\n3\n").unwrap();
        fs::write(at("others"), "count\n4\n").unwrap();
        check(&at("one"), &at("counts")).unwrap();
        check(&at("one"), &at("counts")).unwrap();
        let said = check(&at("one"), &at("others")).unwrap_err().to_string();
        assert!(said.contains("is not the file with which this work was begun"), "{said}");
        // The same file a second time: nothing that is stored is the same.
        check(&at("two"), &at("counts")).unwrap();
        let kept = |name: &str| serde_json::from_slice::<Kept>(&fs::read(at(name)).unwrap()).unwrap();
        let (one, two) = (kept("one"), kept("two"));
        assert!(one.key != two.key && one.keyed != two.keyed);
        #[cfg(unix)]
        assert_eq!(
            std::os::unix::fs::PermissionsExt::mode(&fs::metadata(at("one")).unwrap().permissions()) & 0o777,
            0o600
        );
        fs::write(at("one"), "{}").unwrap();
        assert!(check(&at("one"), &at("counts")).unwrap_err().to_string().contains("holds no key"));
    }
}
