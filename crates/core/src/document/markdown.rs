//! Documents as Markdown.

use super::{Block, Document, Table};

/// A document with its title and sections.
pub fn document(document: &Document) -> String {
    let document = &document.all_visible();
    let mut blocks = vec![Block::Heading(1, document.title.clone())];
    blocks.extend(document.about.iter().cloned().map(Block::Text));
    let mut parts = vec![self::blocks(&blocks)];
    for section in &document.sections {
        parts.extend([format!("## {}\n", section.heading), self::blocks(&section.blocks)]);
    }
    join(parts.into_iter())
}

/// Parts of a text, an empty line between them.
pub fn blocks(blocks: &[Block]) -> String {
    join(blocks.iter().map(|block| match block {
        Block::Lines(lines) => paragraphs(lines),
        block => written(block, escaped),
    }))
}

/// The parts of a text that is Markdown, an empty line between them.
pub fn of_markdown(blocks: &[Block]) -> String {
    join(blocks.iter().map(|block| written(block, str::to_string)))
}

fn join(parts: impl Iterator<Item = String>) -> String {
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

fn written(block: &Block, text: fn(&str) -> String) -> String {
    match block {
        Block::Heading(level, heading) => format!("{} {}\n", "#".repeat(*level), text(heading)),
        Block::Text(words) => format!("{}\n", text(words)),
        Block::Strong(words) => format!("**{}**\n", text(words)),
        Block::Lines(lines) => lines.clone(),
        Block::List(items) => items.iter().map(|item| format!("- {}\n", text(item))).collect(),
        Block::Table(table) => self::table(table, text),
        Block::Commands(lines) => format!("```sh\n{}\n```\n", lines.join("\n")),
        Block::Fields(fields) => {
            let rows = fields.iter().map(|field| vec![field.to_string(), String::new()]);
            self::table(&Table::numbers("", &["", ""], rows.collect()).of_words(), text)
        }
    }
}

/// Lines that stay lines: one that is followed by another ends with a backslash, which keeps the break.
fn paragraphs(text: &str) -> String {
    let mut out = String::new();
    let mut lines = text.trim_matches('\n').lines().map(escaped).peekable();
    while let Some(line) = lines.next() {
        let goes_on = !line.is_empty() && lines.peek().is_some_and(|next| !next.is_empty());
        out += &line;
        out += if goes_on { "\\\n" } else { "\n" };
    }
    if out.trim().is_empty() { String::new() } else { out }
}

/// A table below its caption; the names of rows that are set off are bold.
fn table(table: &Table, text: fn(&str) -> String) -> String {
    let line = |cells: &[String]| -> String {
        let cells = cells.iter().map(|cell| if cell.is_empty() { " |".to_string() } else { format!(" {cell} |") });
        format!("|{}\n", cells.collect::<String>())
    };
    let rule = (0..table.heading.len()).map(|column| if table.is_right(column) { "---:" } else { "---" }.to_string());
    let heading = table.heading.iter().map(|cell| text(cell));
    let row = |(at, cells): (usize, &Vec<String>)| {
        let bold = |column: usize| if column == 0 && table.strong.contains(&at) { "**" } else { "" };
        let cell = |(column, cell): (usize, &String)| format!("{1}{0}{1}", text(cell), bold(column));
        line(&cells.iter().enumerate().map(cell).collect::<Vec<_>>())
    };
    let caption = if table.caption.is_empty() { String::new() } else { format!("{}\n\n", text(&table.caption)) };
    let head = line(&heading.collect::<Vec<_>>()) + &line(&rule.collect::<Vec<_>>());
    caption + &head + &table.rows.iter().enumerate().map(row).collect::<String>()
}

/// Text on one line, in which nothing is markup: a backslash before every character that is special.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.trim().chars() {
        match letter {
            '\n' | '\r' | '\t' => out.push(' '),
            '\\' | '|' | '*' | '_' | '`' | '<' | '>' | '[' | ']' | '#' | '~' | '&' => out.extend(['\\', letter]),
            _ => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Text, numbers that need care, and names that are special in markup.
    pub(in crate::document) fn parts() -> Vec<Block> {
        let row = |cells: [&str; 3]| cells.map(String::from).to_vec();
        let rows = vec![row(["x | y", "1.5e-11", "8.50 %"]), row(["R&D", "<= 2", "-"])];
        vec![
            Block::Lines("a * b_c: 5 %\n2nd line\n\n".to_string()),
            crate::document::table("", &["", "delta", "lower by"], rows, &[0]),
            Block::Lines("\nThe end.\n".to_string()),
        ]
    }

    #[test]
    fn words_and_tables_survive_markup() {
        let expected = "a \\* b\\_c: 5 %\\\n2nd line\n\n\
                        | | delta | lower by |\n| --- | ---: | ---: |\n\
                        | x \\| y | 1.5e-11 | 8.50 % |\n| R\\&D | \\<= 2 | - |\n\nThe end.\n";
        assert_eq!(blocks(&parts()), expected);
    }

    #[test]
    fn nothing_in_a_text_is_markup() {
        assert_eq!(escaped("a|b <i>\n*c* [d](e) `f` &\\"), "a\\|b \\<i\\> \\*c\\* \\[d\\](e) \\`f\\` \\&\\\\");
        let named = Document { title: "a\n# b\u{202e}".to_string(), about: Vec::new(), sections: Vec::new() };
        assert_eq!(document(&named), "# a \\# b\\\\u{202e}\n");
        assert_eq!(blocks(&[Block::Fields(vec!["Name"])]), "| | |\n| --- | --- |\n| Name | |\n");
    }
}
