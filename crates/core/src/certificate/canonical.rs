//! The bytes of a certificate: one line of JSON with sorted keys and no spaces, sealed with the SHA-256 of the other keys.

use std::fmt::Write;

use serde_json::Value;
use sha2::{Digest, Sha256};

/// The name and version of the format.
pub(super) const FORMAT: &str = "assay 4";
/// The previous version, which is still read: it has no source and no reserved keys.
pub(super) const OLD_FORMAT: &str = "assay 3";

/// The canonical text of a value.
pub(super) fn text(value: &Value) -> String {
    let mut sorted = value.clone();
    sorted.sort_all_objects();
    format!("{sorted}\n")
}

/// The SHA-256 of the canonical text of a certificate without its key `sha256`, in hexadecimal.
pub(super) fn seal(whole: &Value) -> String {
    let mut content = whole.clone();
    if let Some(fields) = content.as_object_mut() {
        fields.remove("sha256");
    }
    let digest = Sha256::digest(text(&content).as_bytes());
    digest.iter().fold(String::new(), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_are_sorted_at_every_depth_and_the_seal_is_of_the_rest() {
        let value = json!({"b": [{"d": 1, "c": "\u{1}\"é"}], "a": null, "sha256": "x"});
        assert_eq!(text(&value), "{\"a\":null,\"b\":[{\"c\":\"\\u0001\\\"é\",\"d\":1}],\"sha256\":\"x\"}\n");
        let other = json!({"a": null, "b": [{"c": "\u{1}\"é", "d": 1}]});
        assert_eq!(seal(&value), seal(&other));
        assert_ne!(seal(&value), seal(&json!({"a": null, "b": []})));
        // Of `{}` and an end of line.
        assert_eq!(seal(&json!({})), "ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356");
    }
}
