//! An answer in all its forms: the numbers of the command, words, charts and tables.

use anyhow::Result;
use dp_assay::{chart::Figure, document::Table};
use serde_json::{Value, json};

use super::{ask::Question, exports::Export};
use crate::cli::{output, page::csv_text};

/// The parts of an answer.
#[derive(Default)]
pub struct Parts {
    /// The output of `--json`, without the provenance.
    pub answer: Value,
    /// The output of `--format csv`.
    pub records: Vec<Value>,
    /// Sentences, the first of them the answer.
    pub said: Vec<String>,
    pub charts: Vec<Value>,
    pub tables: Vec<Value>,
    pub notes: Vec<String>,
    pub assumed: Vec<String>,
    /// A file that the commands read: its name and its text.
    pub file: Option<(String, String)>,
    /// The command line for the same numbers, if it differs from that of the request.
    pub command: Option<String>,
    /// The same numbers elsewhere, besides that command line.
    pub exports: Vec<Export>,
}

impl Parts {
    /// The answer as the page reads it.
    pub fn into_json(self, question: &Question) -> Result<Value> {
        let command = self.command.unwrap_or_else(|| question.command_line());
        // A drawing has no numbers of its own, and rows of a folder come from no command.
        let is_printed = !self.answer.is_null() && !command.is_empty();
        let of_command = is_printed.then(|| Export::command(&command, "The same numbers on the command line"));
        let exports = of_command.iter().chain(&self.exports).map(Export::json).collect::<Vec<_>>();
        Ok(json!({
            "question": question.name,
            "command": command,
            "exports": exports,
            // With all digits, for readers whose JSON numbers are doubles.
            "json": (!self.answer.is_null()).then(|| format!("{:#}\n", self.answer)),
            "answer": self.answer,
            "csv": csv_text(&self.records),
            "said": self.said,
            "charts": self.charts,
            "tables": self.tables,
            "notes": self.notes,
            "assumed": self.assumed,
            "file": self.file.map(|(name, text)| json!({ "name": name, "text": text })),
        }))
    }
}

/// A drawing, named by `label`.
pub fn chart(figure: &Figure, name: &str, label: &str, caption: &str) -> Result<Value> {
    let svg = figure.svg_element(&format!("chart-{name}"), label)?;
    Ok(json!({ "name": name, "label": label, "caption": caption, "svg": svg }))
}

/// A table.
pub fn table(table: &Table) -> Value {
    marked(table, &[])
}

/// A table with some red rows.
pub fn marked(Table { caption, heading, rows, strong, .. }: &Table, red: &[usize]) -> Value {
    json!({ "caption": caption, "heading": heading, "rows": rows, "has_whole": !strong.is_empty(), "red": red })
}

/// The tables of a command's page: the last line before each is its caption; the text before that line is returned.
pub fn tables_of(shown: Vec<(String, Table)>) -> (Vec<Value>, Vec<String>) {
    let (mut tables, mut said) = (Vec::new(), Vec::new());
    for (before, mut one) in shown {
        let mut lines: Vec<&str> = before.lines().filter(|line| !line.trim().is_empty()).collect();
        one.caption = lines.pop().unwrap_or_default().to_string();
        said.extend(lines.into_iter().map(String::from));
        tables.push(table(&one));
    }
    (tables, said)
}

/// Names the answers below the requested precision, if there are any.
pub fn wider<'n>(lines: impl Iterator<Item = (&'n str, bool)>) -> Option<String> {
    let names: Vec<&str> = lines.filter(|(_, met)| !met).map(|(name, _)| name).collect();
    (!names.is_empty()).then(|| format!("{}: {}. Both ends are valid.", output::status(false), names.join(", ")))
}
