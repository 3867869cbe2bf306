//! `--format`: an answer as aligned text, CSV, JSON, Markdown or LaTeX.
//!
//! A command fills a [`Page`] from top to bottom, in reading order, and gives it the JSON object and the records of the same
//! answer. [`Page::print`] decides once which of them is printed.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use dp_assay::{
    account::Answer,
    chart::Sheet,
    document::{
        Block, Table,
        fields::{self, Fields},
        latex, markdown,
    },
    error::{shown, visible_lines},
    provenance::Provenance,
    release::Release,
};
use serde_json::{Map, Value};

use super::{exit::Exit, invocation, output, terminal::Layout, wrap::broken};

/// The form of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// Aligned text, for people
    #[default]
    Table,
    /// Comma-separated values with all digits, a line for each row
    Csv,
    /// One JSON object with all digits
    Json,
    /// Tables in Markdown
    Md,
    /// Tables in LaTeX, for \input
    Latex,
}

/// The arguments of a command with a choice of forms.
#[derive(clap::Args)]
pub struct FormArgs {
    /// One JSON object, as --format json
    #[arg(long)]
    json: bool,
    /// The form of the answer [default: table]
    #[arg(
        long,
        value_enum,
        value_name = "table|csv|json|md|latex",
        hide_possible_values = true,
        conflicts_with = "json"
    )]
    format: Option<Form>,
}

impl FormArgs {
    /// The requested form.
    pub fn form(&self) -> Form {
        match (self.json, self.format) {
            (true, _) => Form::Json,
            (false, format) => format.unwrap_or_default(),
        }
    }

    /// Whether a form was requested.
    pub fn is_given(&self) -> bool {
        self.json || self.format.is_some()
    }

    /// The requested form, if a command has `--csv` as well.
    pub fn form_or_csv(&self, csv: bool) -> Form {
        if csv { Form::Csv } else { self.form() }
    }

    /// An empty page of that form.
    pub fn page(&self) -> Page {
        Page::new(self.form())
    }
}

/// `--format` of a command that also writes files of noisy counts or estimates: a form of the answer, or of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormOrFiles<T> {
    /// The form of the answer.
    Answer(Form),
    /// The form of the files.
    Files(T),
}

impl<T: ValueEnum> FormOrFiles<T> {
    /// Reads a name; a name of both kinds means the form of the answer.
    pub fn parse(text: &str) -> std::result::Result<Self, String> {
        let names = || Form::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let own = || T::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let expected = || {
            let mut all: Vec<String> = names().chain(own()).map(|value| value.get_name().to_string()).collect();
            all.dedup();
            format!("expected one of {}", all.join(", "))
        };
        let answer = Form::from_str(text, false).map(FormOrFiles::Answer);
        answer.or_else(|_| T::from_str(text, false).map(FormOrFiles::Files)).map_err(|_| expected())
    }

    /// The form of the answer.
    pub fn form(format: Option<&Self>, json: bool, csv: bool) -> Result<Form> {
        match (json, csv, format) {
            (true, _, Some(FormOrFiles::Answer(_))) | (_, true, Some(FormOrFiles::Answer(_))) => {
                bail!("--format beside --json or --csv: they request different forms")
            }
            (true, _, _) => Ok(Form::Json),
            (_, true, _) => Ok(Form::Csv),
            (_, _, Some(FormOrFiles::Answer(form))) => Ok(*form),
            _ => Ok(Form::Table),
        }
    }

    /// The form of the files, if it was named.
    pub fn files(format: Option<&Self>) -> Option<&T> {
        match format {
            Some(FormOrFiles::Files(files)) => Some(files),
            _ => None,
        }
    }
}

/// An answer in all its forms.
pub struct Page {
    form: Form,
    provenance: Option<Provenance>,
    pieces: Vec<Block>,
    object: Value,
    records: Vec<Value>,
    /// A file for the rows as well, and its rows if they are others.
    file: Option<(PathBuf, Option<Vec<Value>>)>,
    /// The option that names the file.
    file_option: &'static str,
    /// The number of requested digits, if it is known.
    requested: Option<u32>,
}

/// The most digits that a table shows.
pub const MOST_SHOWN: u32 = 40;

impl Page {
    /// An empty page.
    pub fn new(form: Form) -> Page {
        Page {
            form,
            provenance: None,
            pieces: Vec::new(),
            object: Value::Null,
            records: Vec::new(),
            file: None,
            file_option: "--csv",
            requested: None,
        }
    }

    /// This page for an answer with this number of digits, of which tables may show fewer.
    pub fn with_digits(self, digits: u32) -> Page {
        Page { requested: Some(digits), ..self }
    }

    /// This page, whose rows are written to a CSV file as well, with its provenance beside it.
    pub fn with_file(self, path: &Path) -> Page {
        Page { file: Some((path.to_path_buf(), None)), ..self }
    }

    /// This page, whose rows are written to a file that another option names.
    pub fn with_file_of(self, option: &'static str, path: &Path) -> Page {
        Page { file_option: option, ..self.with_file(path) }
    }

    /// Other rows for that file: the points of curves.
    pub fn points(&mut self, points: Vec<Value>) {
        if let Some((_, rows)) = &mut self.file {
            *rows = Some(points);
        }
    }

    /// Text. CSV leaves it out; LaTeX has it as comments.
    pub fn text(&mut self, text: impl Into<String>) {
        let text = text.into();
        match self.pieces.last_mut() {
            Some(Block::Lines(before)) => *before += &text,
            _ => self.pieces.push(Block::Lines(text)),
        }
    }

    /// Sentences, a line each, after an empty line; nothing if there are none.
    pub fn lines(&mut self, lines: &[String]) {
        if !lines.is_empty() {
            self.text(format!("\n{}\n", lines.join("\n")));
        }
    }

    /// A line of its own, if there is a note; after a table with an empty line between.
    pub fn note(&mut self, note: Option<String>) {
        let between = if matches!(self.pieces.last(), Some(Block::Table(_))) { "\n" } else { "" };
        note.iter().for_each(|note| self.text(format!("{between}{note}\n")));
    }

    /// A table of numbers: all but its first column are set right.
    pub fn table<S: ToString>(&mut self, heading: &[S], rows: impl IntoIterator<Item = Vec<String>>) {
        self.push(Table::numbers("", heading, rows.into_iter().collect()));
    }

    /// A table of numbers, where the first two columns name the row.
    pub fn table_of_pairs<S: ToString>(&mut self, heading: &[S], rows: impl IntoIterator<Item = Vec<String>>) {
        self.push(Table::numbers("", heading, rows.into_iter().collect()).with_words(0..2));
    }

    /// A table of text: every column is set left.
    pub fn columns<S: ToString>(&mut self, heading: &[S], rows: impl IntoIterator<Item = Vec<String>>) {
        self.push(Table::numbers("", heading, rows.into_iter().collect()).of_words());
    }

    /// Rows of fields, of which there is one at least: a record each, and a table of numbers.
    pub fn rows(&mut self, rows: &[Fields]) {
        self.records(rows.iter().map(Fields::object));
        self.push(fields::table(rows));
    }

    /// A table.
    pub fn push(&mut self, table: Table) {
        self.pieces.push(Block::Table(table));
    }

    /// Parts of a document, an empty line between them.
    pub fn blocks(&mut self, blocks: Vec<Block>) {
        for (at, block) in blocks.into_iter().enumerate() {
            self.text(if at > 0 { "\n" } else { "" });
            match block {
                Block::Table(table) => self.push(table),
                words => self.text(words.plain()),
            }
        }
    }

    /// A table of rows of which there is one at least, where the first two columns name the row.
    pub fn push_pairs(&mut self, rows: impl Iterator<Item = Fields>) {
        self.push(fields::table(&rows.collect::<Vec<_>>()).with_words(0..2));
    }

    /// Rows of fields, as [`Page::rows`], whose columns are all text.
    pub fn rows_of_words(&mut self, rows: &[Fields]) {
        self.records(rows.iter().map(Fields::object));
        self.push(fields::table(rows).of_words());
    }

    /// The answer as one JSON object.
    pub fn object(&mut self, object: impl Into<Value>) {
        self.object = object.into();
    }

    /// The provenance of the answer, if it is more than the command line.
    pub fn provenance(&mut self, provenance: Provenance) {
        self.provenance = Some(provenance);
    }

    /// The rows of the answer with all digits, for CSV: objects, whose inner objects become columns of their own, as
    /// `epsilon_lower` and `epsilon_upper`. Without records CSV has the tables of the text.
    pub fn records(&mut self, records: impl IntoIterator<Item = Value>) {
        self.records.extend(records);
    }

    /// Names the answers below the requested precision, if there are any.
    pub fn say_wider<'a>(&mut self, answers: impl IntoIterator<Item = (&'a str, &'a Answer)>) {
        let wider: Vec<&str> = answers.into_iter().filter(|(_, answer)| !answer.met).map(|(name, _)| name).collect();
        match wider.len() {
            0 => {}
            1..=5 => {
                self.text(format!("\nBelow the requested precision: {}. --json gives both ends.\n", wider.join(", ")))
            }
            many => self
                .text(format!("\nBelow the requested precision: {many} of the rows above. --json gives both ends.\n")),
        }
    }

    /// An answer of one record: the object.
    pub fn answer(&mut self, object: impl Into<Value>) {
        self.object = object.into();
        self.records.push(self.object.clone());
    }

    /// Writes a release to the file of `--out`, with its provenance beside it, and says so.
    pub fn release(&mut self, path: &Path, release: &Release) -> Result<()> {
        release.write(path).context("--out")?;
        invocation::provenance()?.write_beside(path).context("--out")?;
        self.text(format!("written as a release to {}\n", shown(path)));
        Ok(())
    }

    /// Writes the page; the command is done.
    pub fn done(self) -> Result<Exit> {
        self.answered(true)
    }

    /// Writes the page; the exit status is that of the answer.
    pub fn answered(self, is_yes: bool) -> Result<Exit> {
        self.print()?;
        Ok(if is_yes { Exit::Done } else { Exit::No })
    }

    /// Words of others in text and tables for readers: nothing in them is invisible. Data keep them as they are.
    fn make_visible(&mut self) {
        if !matches!(self.form, Form::Json | Form::Csv) {
            self.pieces = self.pieces.iter().map(|piece| piece.with_words(&visible_lines)).collect();
        }
    }

    /// Writes the page to standard output in its form.
    pub fn print(mut self) -> Result<()> {
        if let Some(digits) = self.requested.filter(|digits| *digits > MOST_SHOWN) {
            self.text(format!(
                "\nTables show at most {MOST_SHOWN} digits; --json has all {digits} that were requested.\n"
            ));
        }
        if let Some((path, points)) = &self.file {
            let sheet = match points.as_ref().unwrap_or(&self.records) {
                records if records.is_empty() => {
                    self.pieces.iter().find_map(Block::table).map_or_else(|| Sheet::new([""; 0]), sheet)
                }
                records => flat(records),
            };
            sheet.write(path).context(self.file_option)?;
            invocation::provenance()?.write_beside(path).context(self.file_option)?;
        }
        self.make_visible();
        match self.form {
            Form::Json => match &self.provenance {
                Some(provenance) => output::json_of(&self.object, provenance),
                None => output::json(&self.object),
            },
            Form::Csv => self.print_csv(),
            Form::Md => output::text(&markdown::blocks(&self.pieces)),
            Form::Latex => output::text(&latex::blocks(&self.pieces)),
            Form::Table => {
                let layout = Layout::of_stdout();
                self.pieces.iter().try_for_each(|piece| match piece.table() {
                    None => output::text(&broken(&piece.plain(), layout.text_width())),
                    Some(table) => output::aligned(table, layout),
                })
            }
        }
    }

    fn print_csv(self) -> Result<()> {
        if !self.records.is_empty() {
            return output::text(&csv_text(&self.records));
        }
        let tables: Vec<String> = self.pieces.iter().filter_map(Block::table).map(|table| sheet(table).csv()).collect();
        output::text(&tables.join("\n"))
    }
}

fn sheet(table: &Table) -> Sheet {
    Sheet::new(&table.heading).with_rows(table.rows.clone())
}

/// The parts of a page that is drawn elsewhere.
#[cfg(feature = "explore")]
pub struct Shown {
    /// The answer as one object.
    pub object: Value,
    /// Its rows with all digits.
    pub records: Vec<Value>,
    /// The tables, each with the text before it.
    pub tables: Vec<(String, Table)>,
    /// The text after the last table.
    pub rest: String,
}

#[cfg(feature = "explore")]
impl Page {
    /// The parts of the page.
    pub fn into_shown(self) -> Shown {
        let (mut tables, mut text) = (Vec::new(), String::new());
        for piece in self.pieces {
            match piece {
                Block::Table(table) => tables.push((std::mem::take(&mut text), table)),
                words => text += &words.plain(),
            }
        }
        Shown { object: self.object, records: self.records, tables, rest: text }
    }
}

/// Records as CSV.
pub fn csv_text(records: &[Value]) -> String {
    flat(records).csv()
}

/// A record of cells in columns, as they are.
pub fn words<C: ToString>(columns: &[C], row: &[String]) -> Value {
    let words = columns.iter().zip(row).map(|(column, cell)| (column.to_string(), Value::from(cell.as_str())));
    words.collect::<Map<String, Value>>().into()
}

/// A record of cells in columns, with the status of the row last.
pub fn record<C: ToString>(columns: &[C], row: &[String], status: &str) -> Value {
    let mut record = words(columns, row);
    record["status"] = status.into();
    record
}

/// Records as a table: a column for each key, in the order of first occurrence; a missing key
/// gives an empty cell.
fn flat(records: &[Value]) -> Sheet {
    let records: Vec<Map<String, Value>> = records.iter().map(|record| flat_record(record, "")).collect();
    let mut header: Vec<String> = Vec::new();
    let mut known: BTreeSet<&str> = BTreeSet::new();
    for key in records.iter().flat_map(Map::keys) {
        if known.insert(key) {
            header.push(key.clone());
        }
    }
    let cell = |value: Option<&Value>| match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    let rows = records.iter().map(|record| header.iter().map(|key| cell(record.get(key))).collect()).collect();
    Sheet::new(header).with_rows(rows)
}

/// Keys of inner objects are joined to those of the outer one by `_`; lists stay JSON.
fn flat_record(record: &Value, before: &str) -> Map<String, Value> {
    let mut flat = Map::new();
    for (key, value) in record.as_object().into_iter().flatten() {
        let key = if before.is_empty() { key.clone() } else { format!("{before}_{key}") };
        match value {
            Value::Object(_) => flat.extend(flat_record(value, &key)),
            _ => {
                flat.insert(key, value.clone());
            }
        }
    }
    flat
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn records_are_flattened_under_all_their_keys() {
        let records = [
            json!({ "name": "a, b", "epsilon": { "lower": 1.5, "upper": 2 }, "met": true }),
            json!({ "name": "c", "level": null, "more": { "inner": { "deep": "x" } }, "list": [1, 2] }),
        ];
        assert_eq!(
            csv_text(&records),
            "name,epsilon_lower,epsilon_upper,met,level,more_inner_deep,list\n\"a, b\",1.5,2,true,,,\nc,,,,,x,\"[1,2]\"\n"
        );
    }

    #[test]
    fn the_form_is_the_one_asked_for() {
        let form = |json, format, csv| FormArgs { json, format }.form_or_csv(csv);
        assert_eq!(form(false, None, false), Form::Table);
        assert_eq!(form(true, None, false), Form::Json);
        assert_eq!(form(false, Some(Form::Md), false), Form::Md);
        assert_eq!(form(false, None, true), Form::Csv);
    }
}
