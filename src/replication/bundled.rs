//! TOML files that are compiled into the program.

use rug::Rational;
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, Error as _},
};

use crate::{
    error::{Error, Result},
    numeric::rational::parse,
};

/// The papers whose values are bundled.
pub(super) const PAPERS: &[(&str, &str)] = &[
    ("su-su-wang-2025", include_str!("../../data/published/su-su-wang-2025.toml")),
    ("census-2020", include_str!("../../data/published/census-2020.toml")),
    ("kazan-reiter-2023", include_str!("../../data/published/kazan-reiter-2023.toml")),
    ("safetab-2021", include_str!("../../data/published/safetab-2021.toml")),
    ("safetab-p-2024", include_str!("../../data/published/safetab-p-2024.toml")),
    ("spines-2024", include_str!("../../data/published/spines-2024.toml")),
    ("sieve-quadrature-2026", include_str!("../../data/published/sieve-quadrature-2026.toml")),
];

/// Reads a bundled file; errors name it and the line.
pub(crate) fn read<T: DeserializeOwned>(name: &str, text: &str) -> Result<T> {
    toml::from_str(text).map_err(|error| Error::DataFile {
        file: name.to_string(),
        line: error.span().and_then(|span| text.get(..span.start)).map_or(0, |s| s.matches('\n').count() + 1),
        column: 0,
        why: error.message().to_string(),
    })
}

/// An exact number, from its text.
pub(super) fn exact<'de, D: Deserializer<'de>>(text: D) -> std::result::Result<Rational, D::Error> {
    parse(&String::deserialize(text)?).map_err(D::Error::custom)
}

/// An exact number that may be left out.
pub(super) fn exact_or_none<'de, D: Deserializer<'de>>(text: D) -> std::result::Result<Option<Rational>, D::Error> {
    exact(text).map(Some)
}

/// Exact numbers, from their texts.
pub(super) fn exact_each<'de, D: Deserializer<'de>>(texts: D) -> std::result::Result<Vec<Rational>, D::Error> {
    let texts = Vec::<String>::deserialize(texts)?;
    texts.iter().map(|text| parse(text).map_err(D::Error::custom)).collect()
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
