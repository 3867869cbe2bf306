//! The origin of a certificate: labels, of which nothing is proven.

use serde_json::{Value, json};

use crate::{
    error::{Error, Result},
    io::provenance::{COMMIT, VERSION},
    release::subject::Resolved,
};

const PROGRAM: &str = "assay";
/// The longest label, in characters.
const LONGEST: usize = 99;

/// The program that wrote a certificate, and its release file. Labels: a checker prints them and proves nothing about them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The version of this program.
    pub version: String,
    /// The commit from which it was built. `None` if that is unknown, and if the bytes must not change with the commit.
    pub commit: Option<String>,
    /// The SHA-256 of the release file from which the claim was made. `None` if the counts were given one by one.
    pub release_sha256: Option<String>,
}

impl Source {
    /// This program, and the release file of a subject.
    pub(super) fn of_subject(subject: &Resolved) -> Source {
        Source {
            version: VERSION.to_string(),
            commit: (COMMIT != "unknown").then(|| COMMIT.to_string()),
            release_sha256: subject.release_sha256().map(String::from),
        }
    }

    /// The labels as in a certificate.
    pub fn json(&self) -> Value {
        json!({
            "program": PROGRAM,
            "version": self.version,
            "commit": self.commit,
            "release_sha256": self.release_sha256,
        })
    }

    /// Refuses an object of another form: exactly these keys, each a line of text, or null if a label is optional.
    pub(super) fn check(value: &Value) -> Result<()> {
        let names = ["commit", "program", "release_sha256", "version"];
        let fields = value.as_object().filter(|fields| fields.len() == names.len());
        for name in names {
            let field = fields.and_then(|fields| fields.get(name));
            let Some(field) = field else {
                let expected = format!("an object with the keys {}", names.join(", "));
                return Err(Error::malformed("source", value, &expected));
            };
            let is_optional = matches!(name, "commit" | "release_sha256");
            let is_hash = name != "release_sha256"
                || field.as_str().is_none_or(|text| text.len() == 64 && text.bytes().all(is_hex_digit));
            let is_line =
                |text: &str| (1..=LONGEST).contains(&text.chars().count()) && !text.chars().any(char::is_control);
            if !is_hash || !(field.as_str().is_some_and(is_line) || is_optional && field.is_null()) {
                let expected =
                    if name == "release_sha256" { "64 hexadecimal digits, or null" } else { "a line of text" };
                return Err(Error::malformed(name, field, expected));
            }
        }
        Ok(())
    }
}

fn is_hex_digit(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::{Release, bundled_text, subject::Subject};

    #[test]
    fn the_hash_is_that_of_the_release_file_and_of_nothing_else() {
        let named = |name: &str| Subject { release: Some(Release::find(name).unwrap()), ..Subject::default() };
        let source = Source::of_subject(&named("su-su-wang-2025").resolve().unwrap());
        let text = bundled_text("su-su-wang-2025").unwrap();
        assert_eq!(source.release_sha256, Some(crate::io::provenance::sha256_of_text(text)));
        let counts = Subject { singles: vec!["5x10".parse().unwrap()], ..Subject::default() };
        assert_eq!(Source::of_subject(&counts.resolve().unwrap()).release_sha256, None);
        // Other noise than that of the file.
        let scaled = named("su-su-wang-2025").with_noise_times(&2.into()).unwrap().resolve().unwrap();
        assert_eq!(Source::of_subject(&scaled).release_sha256, None);
        let scaled = named("su-su-wang-2025").resolve().unwrap().with_noise_times(&2.into()).unwrap();
        assert_eq!(Source::of_subject(&scaled).release_sha256, None);
    }

    #[test]
    fn labels_of_another_form_are_refused() {
        let good = json!({ "commit": null, "program": "assay", "release_sha256": null, "version": "0.2.0" });
        assert!(Source::check(&good).is_ok());
        for (name, wrong) in [
            ("commit", json!("")),
            ("commit", json!("a\nb")),
            ("commit", json!("x".repeat(100))),
            ("program", Value::Null),
            ("version", json!(2)),
            ("release_sha256", json!("0".repeat(63))),
            ("release_sha256", json!("A".repeat(64))),
            ("more", json!("x")),
        ] {
            let mut source = good.clone();
            source[name] = wrong;
            assert!(Source::check(&source).is_err(), "{source}");
        }
        assert!(Source::check(&json!({ "commit": null })).is_err());
        assert!(Source::check(&Value::Null).is_err());
    }
}
