//! The validation report: every broken rule of the input, with the first violations of each kind in full and all of them counted.

use std::fmt;

use crate::error::{Error, Result};

/// The default number of violations of each kind to keep.
const KEEP: usize = 10;
/// The longest value shown.
const SHOWN: usize = 40;

/// The kind of rule that was broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Rule {
    /// The file cannot be opened or read.
    Unreadable,
    /// Bytes that are not UTF-8.
    Encoding,
    /// A line longer than any that the schema allows.
    LongLine,
    /// Wrong headings.
    Headings,
    /// A row with the wrong number of fields.
    Fields,
    /// A file without rows, or without rows that are tabulated.
    Empty,
    /// Text that is not JSON.
    Syntax,
    /// A required key that is missing.
    MissingKey,
    /// An unknown key.
    UnknownKey,
    /// A value outside its range or form.
    Value,
    /// Numbers that decrease but must not.
    Order,
    /// Values that contradict one another.
    Contradiction,
    /// A code that the specification does not have.
    UnknownCode,
    /// A race code after a Null.
    AfterNull,
    /// A block that is not in the geography.
    UnknownBlock,
    /// An area that is not in the geography of a country.
    UnknownArea,
    /// A unit that is not in the unit file of the state.
    UnknownUnit,
    /// A line of fixed width with the wrong length.
    LineLength,
    /// A region that is not in the geography.
    UnknownRegion,
    /// A duplicate row or key.
    Duplicate,
    /// Counts that are not the sum of others.
    Sum,
    /// Cells that do not belong to a table.
    Cells,
    /// A missing group.
    MissingGroup,
    /// A group that must not exist.
    UnexpectedGroup,
    /// An iteration to which no code belongs.
    NoCode,
    /// A code with two iterations of one kind, level and granularity.
    Hierarchy,
}

impl Rule {
    /// The rule in words.
    fn name(self) -> &'static str {
        match self {
            Rule::Unreadable => "cannot be read",
            Rule::Encoding => "not UTF-8",
            Rule::LongLine => "line too long",
            Rule::Headings => "wrong headings",
            Rule::Fields => "wrong number of fields",
            Rule::Empty => "nothing to tabulate",
            Rule::Syntax => "not JSON",
            Rule::MissingKey => "key missing",
            Rule::UnknownKey => "unknown key",
            Rule::Value => "value not allowed",
            Rule::Order => "out of order",
            Rule::Contradiction => "contradicts other values",
            Rule::UnknownCode => "unknown code",
            Rule::AfterNull => "code after a Null",
            Rule::UnknownBlock => "unknown block",
            Rule::UnknownArea => "unknown area",
            Rule::UnknownUnit => "unknown unit",
            Rule::LineLength => "wrong length of a line",
            Rule::UnknownRegion => "unknown region",
            Rule::Duplicate => "given twice",
            Rule::Sum => "not the sum of its parts",
            Rule::Cells => "cells of no table",
            Rule::MissingGroup => "group missing",
            Rule::UnexpectedGroup => "group that should not be there",
            Rule::NoCode => "iteration without a code",
            Rule::Hierarchy => "code in two iterations of one kind",
        }
    }
}

/// One violation of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The file.
    pub file: String,
    /// The line, counted from one; zero if the rule concerns the whole file.
    pub line: u64,
    /// The column, counted from one: of the field in a file of rows, of the character in JSON; zero if there is none.
    pub column: u32,
    /// The heading or key of the field; empty if there is none.
    pub field: String,
    /// The rule.
    pub rule: Rule,
    /// The value, clipped. It may be confidential: it is for the curator only.
    pub value: String,
    /// The allowed values.
    pub allowed: String,
}

/// The place of a violation.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::safetab) struct Location<'a> {
    pub file: &'a str,
    pub line: u64,
    pub column: u32,
    pub field: &'a str,
}

/// Every rule that the input breaks. It is for the curator only: it quotes confidential records, so neither the report nor its length may
/// be part of a release.
///
/// The first violations of each kind (a rule, a file and a field) are kept, the others are counted.
#[derive(Clone, Debug)]
pub struct ValidationReport {
    keep: usize,
    kinds: Vec<SameRule>,
}

#[derive(Clone, Debug)]
struct SameRule {
    count: u64,
    /// Never empty.
    kept: Vec<Violation>,
}

impl Default for ValidationReport {
    fn default() -> Self {
        ValidationReport::keeping(KEEP)
    }
}

impl ValidationReport {
    /// An empty report that will keep the first ten violations of each kind.
    pub fn new() -> Self {
        ValidationReport::default()
    }

    /// An empty report that will keep the first `keep` violations of each kind, at least one.
    pub fn keeping(keep: usize) -> Self {
        ValidationReport { keep: keep.max(1), kinds: Vec::new() }
    }

    /// An empty report that keeps as many violations of each kind as this one.
    pub(in crate::safetab) fn empty_copy(&self) -> ValidationReport {
        ValidationReport::keeping(self.keep)
    }

    /// Whether no rule is broken.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// The number of violations.
    pub fn count(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.count).sum()
    }

    /// The number of violations of a rule.
    pub fn count_of(&self, rule: Rule) -> u64 {
        self.kinds.iter().filter(|kind| kind.kept[0].rule == rule).map(|kind| kind.count).sum()
    }

    /// The violations that were kept, kind by kind, in the order in which they were found.
    pub fn iter(&self) -> impl Iterator<Item = &Violation> {
        self.kinds.iter().flat_map(|kind| &kind.kept)
    }

    /// An error with the whole report if any rule is broken.
    pub fn into_result(self) -> Result<()> {
        if self.is_empty() { Ok(()) } else { Err(Error::Input { report: self.to_string().trim_end().to_string() }) }
    }

    /// Adds a violation.
    pub(in crate::safetab) fn add(&mut self, at: Location, rule: Rule, value: impl AsRef<[u8]>, allowed: &str) {
        let same = |kind: &SameRule| {
            let first = &kind.kept[0];
            first.rule == rule && first.field == at.field && first.file == at.file
        };
        // The latest kinds are those of the current file.
        let kind = self.kinds.iter().rposition(same);
        if let Some(kind) = kind.map(|kind| &mut self.kinds[kind]) {
            kind.count += 1;
            if kind.kept.len() >= self.keep {
                return;
            }
        }
        let violation = Violation {
            file: at.file.to_string(),
            line: at.line,
            column: at.column,
            field: at.field.to_string(),
            rule,
            value: shown(value.as_ref()),
            allowed: allowed.to_string(),
        };
        match kind {
            Some(kind) => self.kinds[kind].kept.push(violation),
            None => self.kinds.push(SameRule { count: 1, kept: vec![violation] }),
        }
    }

    /// Sets the column of every violation to that of its field in another form of the file.
    pub(in crate::safetab) fn place_columns(&mut self, column_of: impl Fn(&str) -> u32) {
        for violation in self.kinds.iter_mut().flat_map(|kind| &mut kind.kept) {
            violation.column = column_of(&violation.field);
        }
    }

    /// Appends the report on a later part of the input, which begins after `lines` lines.
    pub(in crate::safetab) fn append(&mut self, later: ValidationReport, lines: u64) {
        for kind in later.kinds {
            let first = &kind.kept[0];
            let same = |kind: &SameRule| {
                let known = &kind.kept[0];
                known.rule == first.rule && known.field == first.field && known.file == first.file
            };
            let place = self.kinds.iter().rposition(same);
            let moved = kind.kept.into_iter().map(|violation| Violation { line: violation.line + lines, ..violation });
            match place {
                Some(place) => {
                    let known = &mut self.kinds[place];
                    known.count += kind.count;
                    known.kept.extend(moved.take(self.keep.saturating_sub(known.kept.len())));
                }
                None => self.kinds.push(SameRule { count: kind.count, kept: moved.take(self.keep).collect() }),
            }
        }
    }
}

/// Text without control characters, clipped.
fn shown(value: &[u8]) -> String {
    let text = String::from_utf8_lossy(&value[..value.len().min(8 * SHOWN)]);
    let mut clipped: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if text.chars().count() > SHOWN || value.len() > 8 * SHOWN {
        clipped += "...";
    }
    clipped
}

impl fmt::Display for ValidationReport {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        for kind in &self.kinds {
            let first = &kind.kept[0];
            match first.field.as_str() {
                "" => write!(out, "{}: {}", first.file, first.rule.name())?,
                field => write!(out, "{}, {field}: {}", first.file, first.rule.name())?,
            }
            match (kind.count, kind.kept.len()) {
                (1, _) => writeln!(out)?,
                (count, kept) if kept as u64 == count => writeln!(out, ", {count} times")?,
                (count, kept) => writeln!(out, ", {count} times, of which the first {kept}")?,
            }
            for violation in &kind.kept {
                write!(out, "  ")?;
                if violation.line > 0 {
                    write!(out, "line {}, ", violation.line)?;
                }
                if violation.column > 0 {
                    write!(out, "column {}, ", violation.column)?;
                }
                // What cannot be read is said by the system, and is no value.
                match violation.rule {
                    Rule::Unreadable => writeln!(out, "{} (expected {})", violation.value, violation.allowed)?,
                    _ => writeln!(out, "\"{}\"; allowed: {}", violation.value, violation.allowed)?,
                }
            }
        }
        Ok(())
    }
}
