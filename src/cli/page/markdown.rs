//! A page in Markdown: paragraphs that keep their lines, and tables.

use super::piece::{Piece, Table};

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

/// Text: a line that is followed by another ends with a backslash, which keeps the break.
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

/// A backslash before every character that is special in Markdown.
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

/// The text and tables of a page in Markdown, without the marks of headings and of emphasis.
pub(super) fn pieces(text: &str) -> Vec<Piece> {
    let is_row = |line: &&str| line.starts_with('|');
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().replace("**", "")).collect()
    };
    let mut pieces = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if !is_row(&line) {
            let words = line.trim_start_matches('#').trim_start().replace("**", "");
            pieces.push(Piece::Text(words + "\n"));
            continue;
        }
        let rule = lines.next_if(is_row).unwrap_or_default();
        let rows = std::iter::from_fn(|| lines.next_if(is_row).map(cells)).collect();
        let right: fn(usize) -> bool = if rule.contains("-:") { |column| column > 0 } else { |_| false };
        pieces.push(Piece::Table(Table { heading: cells(line), rows, right }));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_in_markdown_is_read_as_words_and_tables() {
        let text =
            "# A title\n\n**Bold**: 2 * 3.\n\n| | rho |\n| --- | ---: |\n| all | 2.56 |\n| one | |\n\nThe end.\n";
        let read = pieces(text);
        let tables: Vec<&Table> = (read.iter())
            .filter_map(|piece| match piece {
                Piece::Table(table) => Some(table),
                Piece::Text(_) => None,
            })
            .collect();
        assert_eq!(tables.len(), 1);
        assert_eq!(tables[0].heading, ["", "rho"]);
        assert_eq!(tables[0].rows, [["all", "2.56"], ["one", ""]]);
        assert!((tables[0].right)(1) && !(tables[0].right)(0));
        let words: String = (read.iter())
            .map(|piece| match piece {
                Piece::Text(text) => text.as_str(),
                Piece::Table(_) => "",
            })
            .collect();
        assert_eq!(words, "A title\n\nBold: 2 * 3.\n\n\nThe end.\n");
    }

    #[test]
    fn words_and_tables_survive_markup() {
        let expected = "a \\* b\\_c: 5 %\\\n2nd line\n\n\
                        |  | delta | lower by |\n| --- | ---: | ---: |\n\
                        | x \\| y | 1.5e-11 | 8.50 % |\n| R&D | \\<= 2 | - |\n\nThe end.\n";
        assert_eq!(page(&super::super::tests::pieces()), expected);
    }
}
