//! A page in Markdown: paragraphs whose lines are kept, and tables.

use super::{Piece, Table};

/// The whole page.
pub(super) fn page(pieces: &[Piece]) -> String {
    let parts: Vec<String> = (pieces.iter())
        .map(|piece| match piece {
            Piece::Text(text) => paragraphs(text),
            Piece::Table(written) => table(written),
        })
        .filter(|part| !part.is_empty())
        .collect();
    parts.join("\n")
}

/// Words: a line that is followed by another ends with a backslash, which keeps the break.
fn paragraphs(text: &str) -> String {
    let mut out = String::new();
    let mut lines = text.trim_matches('\n').lines().peekable();
    while let Some(line) = lines.next() {
        out += &escaped(line.trim());
        let goes_on = !line.trim().is_empty() && lines.peek().is_some_and(|next| !next.trim().is_empty());
        out += if goes_on { "\\\n" } else { "\n" };
    }
    if out.trim().is_empty() { String::new() } else { out }
}

fn table(table: &Table) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| escaped(cell.trim())).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rule = (0..table.heading.len()).map(|column| if (table.right)(column) { "---:" } else { "---" });
    let rule = format!("| {} |\n", rule.collect::<Vec<_>>().join(" | "));
    line(&table.heading) + &rule + &table.rows.iter().map(|row| line(row)).collect::<String>()
}

/// A backslash before every character that markup would read.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '\\' | '|' | '*' | '_' | '`' | '<' | '>' | '[' | ']' | '#' | '~') {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_tables_survive_markup() {
        let expected = "a \\* b\\_c: 5 %\\\n2nd line\n\n\
                        |  | delta | lower by |\n| --- | ---: | ---: |\n\
                        | x \\| y | 1.5e-11 | 8.50 % |\n| R&D | \\<= 2 | - |\n\nThe end.\n";
        assert_eq!(page(&super::super::tests::pieces()), expected);
    }
}
