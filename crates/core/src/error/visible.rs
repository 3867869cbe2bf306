//! Words of others on one line: names of files, titles, and labels in messages, titles and memos.

use std::path::Path;

/// A name or a label as it is printed: line breaks, control characters, characters that turn the direction of writing, and all others that cannot be seen stand as
/// escapes. So no name begins a line of its own, and none hides a part of it.
///
/// ```
/// # use dp_assay_core as dp_assay;
/// assert_eq!(dp_assay::error::visible("noise.csv\nepsilon = 0"), "noise.csv\\nepsilon = 0");
/// assert_eq!(dp_assay::error::visible("\u{202e}vsc.\u{1b}"), "\\u{202e}vsc.\\u{1b}");
/// assert_eq!(dp_assay::error::visible("Zürich's \"C:\\data\".csv"), "Zürich's \"C:\\data\".csv");
/// ```
pub fn visible(text: &str) -> String {
    let is_plain = |byte: u8| byte == b' ' || byte.is_ascii_graphic();
    match text.bytes().all(is_plain) {
        true => text.to_string(),
        false => text.chars().map(visible_letter).collect(),
    }
}

/// A path as it is printed.
pub fn shown(path: &Path) -> String {
    visible(&path.to_string_lossy())
}

/// Text of more lines as it is printed: its line breaks are meant, and all other characters that cannot be seen stand as escapes.
pub fn visible_lines(text: &str) -> String {
    text.split('\n').map(visible).collect::<Vec<_>>().join("\n")
}

fn visible_letter(letter: char) -> String {
    // Of a whole text an accent after a letter is no escape, as it would be alone.
    match letter {
        '\'' | '"' | '\\' => letter.to_string(),
        letter => format!("x{letter}").escape_debug().skip(1).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_an_escape() {
        for (text, printed) in [
            ("a b", "a b"),
            ("a\r\nb\tc", "a\\r\\nb\\tc"),
            ("\u{7}\u{1b}[31m\u{7f}", "\\u{7}\\u{1b}[31m\\u{7f}"),
            ("\u{200b}\u{2028}\u{2066}\u{feff}\u{85}\u{a0}", "\\u{200b}\\u{2028}\\u{2066}\\u{feff}\\u{85}\\u{a0}"),
            // Letters with their own accents, and scripts that are written from the right, stay.
            ("Ze\u{301}ro \u{5d0}\u{5d1} \u{4eba}", "Ze\u{301}ro \u{5d0}\u{5d1} \u{4eba}"),
        ] {
            assert_eq!(visible(text), printed);
            assert_eq!(visible(printed), printed, "escapes are printed as they are");
        }
        assert_eq!(shown(Path::new("a/b\n.csv")), "a/b\\n.csv");
        assert_eq!(visible_lines("one\ntwo\u{1b}\n"), "one\ntwo\\u{1b}\n");
    }
}
