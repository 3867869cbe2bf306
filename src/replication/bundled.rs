//! TOML files that are compiled into the program.

use serde::de::DeserializeOwned;

use crate::error::{Error, Result};

/// Reads a bundled file; errors name it and the line.
pub(super) fn read<T: DeserializeOwned>(name: &str, text: &str) -> Result<T> {
    toml::from_str(text).map_err(|error| Error::DataFile {
        file: name.to_string(),
        line: error.span().and_then(|span| text.get(..span.start)).map_or(0, |s| s.matches('\n').count() + 1),
        column: 0,
        why: error.message().to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_file_and_the_line() {
        #[derive(Debug, serde::Deserialize)]
        struct File {
            #[serde(rename = "number")]
            _number: u32,
        }
        let message = read::<File>("some-file", "# a comment\nnumber = \"x\"\n").unwrap_err().to_string();
        assert!(message.contains("some-file, line 2"), "{message}");
    }
}
