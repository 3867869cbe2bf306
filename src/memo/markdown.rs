//! A memo as Markdown.

use super::document::{Block, Document, Table};

/// The whole memo.
pub fn text(document: &Document) -> String {
    let mut out = format!("# {}\n", line(&document.title));
    for about in &document.about {
        out += &format!("\n{}\n", line(about));
    }
    for section in &document.sections {
        out += &format!("\n## {}\n", section.heading);
        for block in &section.blocks {
            out += "\n";
            out += &block_text(block);
        }
    }
    out
}

fn block_text(block: &Block) -> String {
    match block {
        Block::Text(text) => format!("{}\n", line(text)),
        Block::List(items) => items.iter().map(|item| format!("- {}\n", line(item))).collect(),
        Block::Table(table) => table_text(table),
        Block::Commands(lines) => format!("```sh\n{}\n```\n", lines.join("\n")),
        Block::Fields(fields) => {
            let row = |field: &&str| format!("| {field} | |\n");
            format!("| | |\n| --- | --- |\n{}", fields.iter().map(row).collect::<String>())
        }
    }
}

fn table_text(table: &Table) -> String {
    let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut out = format!("{}\n\n", line(&table.caption));
    out += &row(table.heading.iter().map(ToString::to_string).collect());
    let side = |column| if table.words.contains(&column) { "---" } else { "---:" }.to_string();
    out += &row((0..table.heading.len()).map(side).collect());
    out.extend(table.rows.iter().map(|cells| row(cells.iter().map(|cell| line(cell)).collect())));
    out
}

/// Text on one line, in which nothing is markup.
fn line(text: &str) -> String {
    let mut out = String::new();
    for letter in text.trim().chars() {
        match letter {
            '\n' | '\r' | '\t' => out.push(' '),
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '\\' | '`' | '*' | '[' | ']' | '|' | '#' => out.extend(['\\', letter]),
            _ => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_markup() {
        assert_eq!(line("a|b <i>\n*c* [d](e) `f` &\\"), "a\\|b &lt;i> \\*c\\* \\[d\\](e) \\`f\\` &amp;\\\\");
    }
}
