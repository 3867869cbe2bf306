//! The text of a memo: sections of paragraphs, lists, tables and commands, for any form.

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

/// A section.
#[derive(Clone, Debug)]
pub struct Section {
    /// The heading.
    pub heading: &'static str,
    /// The content.
    pub blocks: Vec<Block>,
}

/// A part of a section.
#[derive(Clone, Debug)]
pub enum Block {
    /// A paragraph.
    Text(String),
    /// A list.
    List(Vec<String>),
    /// A table.
    Table(Table),
    /// Lines for a shell.
    Commands(Vec<String>),
    /// Fields to be filled in by hand.
    Fields(Vec<&'static str>),
}

/// A table whose first column names its rows.
#[derive(Clone, Debug)]
pub struct Table {
    /// The caption.
    pub caption: String,
    /// A heading for each column.
    pub heading: Vec<&'static str>,
    /// The cells.
    pub rows: Vec<Vec<String>>,
    /// The columns of text; the others are numbers, which stand on the right.
    pub words: Vec<usize>,
}
