//! The sentences of a Statement: each is borne by certificates of the folder, or says that it has none.
//!
//! The checkers have the same sentences, and read the file [`SAID`] of a folder: `SENTENCES` in `proofs/check.py` and `proofs/check.html`. A sentence that is borne has the numbers
//! of a proven claim in one of these forms, word for word; any other one begins with [`WITHOUT`], or is quoted as the ledger's.

use super::number::Number;
use crate::error::visible;

/// The file with the Statement, a sentence a line.
pub(super) const SAID: &str = "statement.txt";

/// The beginning of a sentence that no certificate bears.
const WITHOUT: &str = "Without a certificate: ";

/// A sentence that the certificate of this number bears, if it has one.
pub(super) fn borne(number: &Number, sentence: String) -> String {
    match number.certificate {
        Ok(_) => sentence,
        Err(_) => unborne(&sentence),
    }
}

/// A sentence that no certificate bears.
pub(super) fn unborne(sentence: &str) -> String {
    format!("{WITHOUT}{}", on_one_line(sentence))
}

/// A ledger's own words, as its words: whatever they state is no statement of the memo.
pub(super) fn quoted(words: &str) -> String {
    format!("The ledger says: \"{}\"", quotable(words))
}

/// Words that stand between quotation marks, on one line.
pub(super) fn quotable(words: &str) -> String {
    on_one_line(words).replace('"', "'")
}

fn on_one_line(words: &str) -> String {
    visible(&words.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The least epsilon of `what` ("everything described in the inputs is"), with the ends of a number.
pub(super) fn least_epsilon(what: &str, more: &str, delta: &str, ends: &str) -> String {
    format!(
        "At delta = {delta}, the least epsilon for which {what} (epsilon, delta)-differentially private {more}is {ends}."
    )
}

/// The definition with the upper end of epsilon.
pub(super) fn definition(upper: &str, delta: &str) -> String {
    format!(
        "In words: take two data sets that are neighbors, and any set of outputs. If its probability under one of them is p, then under the other it is at most p \
         times exp({upper}), plus {delta}."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_others_are_one_line_and_quoted() {
        assert_eq!(quoted(" At\ndelta \"0\"\n"), "The ledger says: \"At delta '0'\"");
        assert_eq!(unborne("By RDP,\n1"), "Without a certificate: By RDP, 1");
        assert_eq!(quoted("\u{202e}0\u{7}"), "The ledger says: \"\\u{202e}0\\u{7}\"");
    }
}
