//! A table of numbers and the figure drawn from them, written as CSV and SVG side by side.

use std::path::{Path, PathBuf};

use rug::{Rational, float::Round};

use super::figure::Figure;
use crate::numeric::{Enclosure, decimal::decimal, rational};
#[cfg(feature = "charts")]
use crate::{error::Result, io::files::write_text};

/// The numbers and the figure drawn from them.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// The numbers.
    pub sheet: Sheet,
    /// The figure.
    pub figure: Figure,
}

/// A table of numbers as text, for CSV.
#[derive(Clone, Debug)]
pub struct Sheet {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

#[cfg(feature = "charts")]
impl Figure {
    /// Writes the figure as an SVG file, whole or not at all; missing folders are created.
    pub fn write_svg(&self, path: &Path) -> Result<()> {
        write_text(path, &self.svg()?)
    }
}

#[cfg(feature = "charts")]
impl Sheet {
    /// Writes the table as a CSV file, whole or not at all; missing folders are created.
    pub fn write(&self, path: &Path) -> Result<()> {
        write_text(path, &self.csv())
    }
}

#[cfg(feature = "charts")]
impl Drawing {
    /// Writes `NAME.csv` and `NAME.svg` into a folder, which is created if it does not exist, and returns both paths.
    pub fn write(&self, folder: &Path, name: &str) -> Result<[PathBuf; 2]> {
        let files = files(folder, name);
        write_text(&files[0], &self.sheet.csv())?;
        write_text(&files[1], &self.figure.svg()?)?;
        Ok(files)
    }
}

/// The CSV and SVG files of a drawing of this name in a folder.
pub fn files(folder: &Path, name: &str) -> [PathBuf; 2] {
    ["csv", "svg"].map(|kind| folder.join(format!("{name}.{kind}")))
}

impl Sheet {
    /// An empty table with these columns.
    pub fn new<S: ToString>(header: impl IntoIterator<Item = S>) -> Self {
        Sheet { header: header.into_iter().map(|name| name.to_string()).collect(), rows: Vec::new() }
    }

    /// An empty table with these columns, with spaces between them; `NAME±` stands for `NAME_lower` and `NAME_upper`.
    pub fn of_columns(columns: &str) -> Self {
        let both = |name: &str| match name.strip_suffix('±') {
            Some(name) => vec![format!("{name}_lower"), format!("{name}_upper")],
            None => vec![name.to_string()],
        };
        Sheet::new(columns.split_whitespace().flat_map(both))
    }

    /// The table with these rows, each with one cell per column.
    pub fn with_rows(self, rows: Vec<Vec<String>>) -> Self {
        Sheet { rows, ..self }
    }

    /// Adds a row with one cell per column.
    pub fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    /// The table as CSV.
    pub fn csv(&self) -> String {
        let cell = |text: &String| match text.contains([',', '"', '\n', '\r']) {
            true => format!("\"{}\"", text.replace('"', "\"\"")),
            false => text.clone(),
        };
        // A line without a character would be no row.
        let line = |row: &Vec<String>| match row.as_slice() {
            [only] if only.is_empty() => "\"\"\n".to_string(),
            cells => cells.iter().map(cell).collect::<Vec<_>>().join(",") + "\n",
        };
        std::iter::once(&self.header).chain(&self.rows).map(line).collect()
    }
}

/// Both ends of an enclosure as cells: at most 16 digits, the lower end rounded down and the upper end up.
pub fn ends(value: &Enclosure) -> [String; 2] {
    const MOST: usize = 16;
    let digits = (value.agreed_digits(MOST) + 3).min(MOST);
    let end = |end, round, infinite: &str| decimal(end, digits, round).unwrap_or_else(|| infinite.to_string());
    [end(value.lower(), Round::Down, "-inf"), end(value.upper(), Round::Up, "inf")]
}

/// An exact number as a cell.
pub fn exact(value: &Rational) -> String {
    rational::display(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_with_commas_are_quoted() {
        assert_eq!(Sheet::of_columns("x y± z").csv(), "x,y_lower,y_upper,z\n");
        let mut sheet = Sheet::of_columns("a b");
        sheet.push(vec!["one, two".to_string(), "say \"x\"".to_string()]);
        assert_eq!(sheet.csv(), "a,b\n\"one, two\",\"say \"\"x\"\"\"\n");
    }
}
