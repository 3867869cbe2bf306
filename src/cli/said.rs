//! Messages with words of the command line: none of these begins a line of its own, or hides a part of it.

use dp_assay::error::{visible, visible_lines};

/// A message as it is printed. The words of the command line in it, and the values after an equals sign, stand on one line.
pub fn message(text: &str) -> String {
    with_words(text, std::env::args_os().map(|word| word.to_string_lossy().into_owned()))
}

/// Whether the command line has characters that cannot be seen.
pub fn has_invisible_words() -> bool {
    std::env::args_os().any(|word| is_changed(&word.to_string_lossy()))
}

fn is_changed(word: &str) -> bool {
    visible(word) != word
}

fn with_words(text: &str, words: impl Iterator<Item = String>) -> String {
    let said = words.filter(|word| is_changed(word)).fold(text.to_string(), |said, word| {
        let value = word.split_once('=').map_or("", |(_, value)| value);
        // The parser of options leaves out colours, and with them those of a word.
        let bare = |text: &str| anstream::adapter::strip_str(text).to_string();
        [(bare(&word), &*word), (word.clone(), &*word), (bare(value), value), (value.to_string(), value)]
            .iter()
            .filter(|(word, _)| is_changed(word))
            .fold(said, |said, (word, whole)| said.replace(word, &visible(whole)))
    });
    visible_lines(&said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_command_line_stand_on_one_line() {
        let said = |text: &str, words: &[&str]| with_words(text, words.iter().map(ToString::to_string));
        assert_eq!(said("a\nb: no\nmore", &["assay", "a\nb"]), "a\\nb: no\nmore");
        assert_eq!(said("'a\nb' is no number", &["--digits=a\nb"]), "'a\\nb' is no number");
        assert_eq!(said("one\ntwo\u{1b}", &["one", "--x="]), "one\ntwo\\u{1b}");
        // As the parser of options prints it.
        assert_eq!(said("unexpected a\nb.csv", &["a\nb\u{1b}[31m.csv"]), "unexpected a\\nb\\u{1b}[31m.csv");
    }
}
