//! YAML as it is written here: fields in order, texts in double quotes or as blocks of lines. Every reader reads it in one way, with any text.

use std::fmt::Write;

/// A document that is being written.
#[derive(Default)]
pub(super) struct Yaml {
    out: String,
}

impl Yaml {
    pub(super) fn into_text(self) -> String {
        self.out
    }

    /// A comment, on a line of its own.
    pub(super) fn comment(&mut self, depth: usize, text: &str) {
        self.line(depth, &format!("# {}", one_line(text)));
    }

    /// A map whose fields follow, one step deeper.
    pub(super) fn map(&mut self, depth: usize, name: &str) {
        self.line(depth, &format!("{name}:"));
    }

    /// A field with a value that needs no quotes: a number, or a word of the registry's schema.
    pub(super) fn plain(&mut self, depth: usize, name: &str, value: &str) {
        self.line(depth, &format!("{name}: {value}"));
    }

    /// A field with a text on one line.
    pub(super) fn text(&mut self, depth: usize, name: &str, value: &str) {
        self.line(depth, &format!("{name}: {}", quoted(value)));
    }

    /// A field with a list of texts.
    pub(super) fn texts(&mut self, depth: usize, name: &str, values: &[&str]) {
        self.map(depth, name);
        for value in values {
            self.line(depth + 1, &format!("- {}", quoted(value)));
        }
    }

    /// A field with a text of several lines, kept as they are; each line must begin with a letter or be indented below one that does.
    pub(super) fn block(&mut self, depth: usize, name: &str, lines: &[String]) {
        self.line(depth, &format!("{name}: |"));
        for line in lines {
            self.line(depth + 1, &one_line(line));
        }
    }

    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.out, "{:indent$}{text}", "", indent = 2 * depth);
    }
}

/// Text on one line: other white space and signs that YAML does not allow become spaces.
pub(super) fn one_line(text: &str) -> String {
    text.chars().map(|c| if is_shown(c) { c } else { ' ' }).collect::<String>().trim_end().to_string()
}

/// Whether YAML allows a character in a line of text, and every reader takes it for the same one.
fn is_shown(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// A text in double quotes, with escapes for all that cannot stand in a line.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if is_shown(c) => out.push(c),
            c => {
                let _ = write!(out, "\\U{:08X}", u32::from(c));
            }
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_and_stay_on_their_line() {
        assert_eq!(
            quoted("a \"b\" \\ c\nd\u{7}\u{2028}: # ü"),
            "\"a \\\"b\\\" \\\\ c\\nd\\U00000007\\U00002028: # ü\""
        );
        assert_eq!(one_line("a\nb\t\u{85}c  "), "a b  c");
        let mut yaml = Yaml::default();
        yaml.map(0, "a");
        yaml.text(1, "b", "c: d");
        yaml.block(1, "e", &["First:".to_string(), "  - one\n".to_string()]);
        yaml.texts(1, "f", &["x"]);
        yaml.comment(0, "not\nanother line");
        assert_eq!(
            yaml.into_text(),
            "a:\n  b: \"c: d\"\n  e: |\n    First:\n      - one\n  f:\n    - \"x\"\n# not another line\n"
        );
    }
}
