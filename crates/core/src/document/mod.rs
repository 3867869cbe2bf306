//! Texts for people: headings, paragraphs, lists and tables, and one renderer for each form. Answers, memos, sheets, reports, certificates of
//! tabulations and REPORT.md are built from them.
//!
//! | file | content |
//! | --- | --- |
//! | [`fields`] | answers as lists of fields: objects, records and tables |
//! | [`html`] | pages of HTML that load nothing and run nothing |
//! | [`markdown`] | Markdown |
//! | [`latex`] | LaTeX, for \input |

pub mod fields;
pub mod html;
pub mod latex;
pub mod markdown;

use crate::{
    error::visible,
    io::provenance::{COMMIT, Content, Input, VERSION, command_line},
};

/// A text in sections.
#[derive(Clone, Debug)]
pub struct Document {
    /// The title.
    pub title: String,
    /// Lines below the title.
    pub about: Vec<String>,
    /// The sections, in reading order.
    pub sections: Vec<Section>,
}

impl Document {
    /// The document in which nothing of the words of others is invisible: each text is on one line.
    fn all_visible(&self) -> Document {
        let on_one_line = |text: &str| visible(&text.replace(['\n', '\r', '\t'], " "));
        let section = |section: &Section| Section {
            heading: section.heading,
            blocks: section.blocks.iter().map(|block| block.with_words(&on_one_line)).collect(),
        };
        Document {
            title: on_one_line(&self.title),
            about: self.about.iter().map(|line| on_one_line(line)).collect(),
            sections: self.sections.iter().map(section).collect(),
        }
    }
}

/// A section.
#[derive(Clone, Debug)]
pub struct Section {
    /// The heading.
    pub heading: &'static str,
    /// The content.
    pub blocks: Vec<Block>,
}

/// A part of a text.
#[derive(Clone, Debug)]
pub enum Block {
    /// A heading, of level 1 or lower.
    Heading(usize, String),
    /// A paragraph.
    Text(String),
    /// A paragraph that is set off.
    Strong(String),
    /// Lines that stay lines.
    Lines(String),
    /// A list.
    List(Vec<String>),
    /// A table.
    Table(Table),
    /// Lines for a shell.
    Commands(Vec<String>),
    /// Fields to be filled in by hand.
    Fields(Vec<&'static str>),
}

impl Block {
    /// The table, if it is one.
    pub fn table(&self) -> Option<&Table> {
        match self {
            Block::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The block with `of` every text in it.
    pub fn with_words(&self, of: &dyn Fn(&str) -> String) -> Block {
        let all = |texts: &[String]| texts.iter().map(|text| of(text)).collect();
        match self {
            Block::Heading(level, text) => Block::Heading(*level, of(text)),
            Block::Text(text) => Block::Text(of(text)),
            Block::Strong(text) => Block::Strong(of(text)),
            Block::Lines(lines) => Block::Lines(lines.split('\n').map(of).collect::<Vec<_>>().join("\n")),
            Block::List(items) => Block::List(all(items)),
            Block::Commands(lines) => Block::Commands(all(lines)),
            Block::Fields(fields) => Block::Fields(fields.clone()),
            Block::Table(table) => Block::Table(Table {
                caption: of(&table.caption),
                heading: all(&table.heading),
                rows: table.rows.iter().map(|row| all(row)).collect(),
                ..table.clone()
            }),
        }
    }

    /// The words of all others, as lines of plain text.
    pub fn plain(&self) -> String {
        match self {
            Block::Heading(_, text) | Block::Text(text) | Block::Strong(text) => format!("{text}\n"),
            Block::Lines(lines) => lines.clone(),
            Block::List(items) => items.iter().map(|item| format!("- {item}\n")).collect(),
            Block::Commands(lines) => format!("{}\n", lines.join("\n")),
            Block::Fields(fields) => format!("{}\n", fields.join("\n")),
            Block::Table(_) => String::new(),
        }
    }
}

/// A table whose first column names its rows.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// The caption; empty if the table has none.
    pub caption: String,
    /// A heading for each column.
    pub heading: Vec<String>,
    /// The cells.
    pub rows: Vec<Vec<String>>,
    /// The columns of text; the others are numbers, which stand on the right.
    pub words: Vec<usize>,
    /// The rows that are set off, as that of all others together.
    pub strong: Vec<usize>,
}

impl Table {
    /// A table of numbers: only its first column is text.
    pub fn numbers<S: ToString>(caption: impl Into<String>, heading: &[S], rows: Vec<Vec<String>>) -> Table {
        let heading = heading.iter().map(ToString::to_string).collect();
        Table { caption: caption.into(), heading, rows, words: vec![0], strong: Vec::new() }
    }

    /// The table with these columns of text.
    pub fn with_words(self, words: impl IntoIterator<Item = usize>) -> Table {
        Table { words: words.into_iter().collect(), ..self }
    }

    /// The table with all columns of text.
    pub fn of_words(self) -> Table {
        let columns = self.heading.len();
        self.with_words(0..columns)
    }

    /// The table, whose last row is set off if it is that of all others together.
    pub fn with_whole(self, has_whole: bool) -> Table {
        let last = self.rows.len().checked_sub(1).filter(|_| has_whole);
        Table { strong: last.into_iter().collect(), ..self }
    }

    /// Whether a column is set right.
    pub fn is_right(&self, column: usize) -> bool {
        !self.words.contains(&column)
    }
}

/// A paragraph.
pub fn text(text: impl Into<String>) -> Block {
    Block::Text(text.into())
}

/// A heading and what is below it; nothing if that is nothing.
pub fn below(level: usize, heading: impl Into<String>, blocks: Vec<Block>) -> Vec<Block> {
    if blocks.is_empty() { blocks } else { [vec![Block::Heading(level, heading.into())], blocks].concat() }
}

/// A list; nothing if it has no item.
pub fn list(items: impl IntoIterator<Item = String>) -> Vec<Block> {
    let items: Vec<String> = items.into_iter().collect();
    if items.is_empty() { Vec::new() } else { vec![Block::List(items)] }
}

/// A table; `words` are its columns of text.
pub fn table(caption: impl Into<String>, heading: &[&str], rows: Vec<Vec<String>>, words: &[usize]) -> Block {
    Block::Table(Table::numbers(caption, heading, rows).with_words(words.iter().copied()))
}

/// A section.
pub fn section(heading: &'static str, blocks: Vec<Block>) -> Section {
    Section { heading, blocks }
}

/// The program, the command and the inputs of a document, as rows of two cells.
pub fn origin<'i>(command: &[String], inputs: impl Iterator<Item = &'i Input>) -> Vec<Vec<String>> {
    let input = |input: &Input| match &input.content {
        Content::Sha256(sha256) => format!("{}, SHA-256 {sha256}", input.name),
        Content::Confidential => format!("{}, confidential and not hashed", input.name),
        Content::NotHashed => format!("{}, not hashed", input.name),
    };
    let program = [("program", format!("assay {VERSION}, commit {COMMIT}")), ("command", command_line(command))];
    let rows = program.into_iter().chain(inputs.map(|one| ("input", input(one))));
    rows.map(|(name, content)| vec![name.to_string(), content]).collect()
}
