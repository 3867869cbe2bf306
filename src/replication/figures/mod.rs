//! Published tables and figures drawn again: a CSV with every number, both ends of it where it is certified, and an SVG
//! beside it. One file per paper.

mod kazan_reiter_2023;
mod safetab_2021;
mod safetab_p_2024;
mod sieve_quadrature_2026;
pub mod spines_2024;
mod su_su_wang_2025;

use std::path::{Path, PathBuf};

use rug::{Rational, float::Round};

use super::write;
use crate::{
    chart::svg::{Figure, Ink, Series},
    error::{Error, Result},
    numeric::{Enclosure, enclosure::decimal, rational},
};

/// A table or figure of a paper.
#[derive(Clone, Copy, Debug)]
pub struct Item {
    /// The paper, as the command line names it.
    pub paper: &'static str,
    /// The table or figure, as `figure-2`.
    pub name: &'static str,
    /// What it shows.
    pub about: &'static str,
    draw: fn(&Sources) -> Result<Drawing>,
}

/// Where public data lies that is not bundled.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// A folder that holds `geography/rhode-island/ri_2010_block.csv` or the file itself.
    pub facts: Option<PathBuf>,
}

/// What is written: the numbers and their picture.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// The numbers.
    pub sheet: Sheet,
    /// Their picture.
    pub figure: Figure,
}

/// A table of numbers as text, for CSV.
#[derive(Clone, Debug)]
pub struct Sheet {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// All tables and figures, paper by paper.
pub fn items() -> Vec<Item> {
    [
        su_su_wang_2025::ITEMS,
        kazan_reiter_2023::ITEMS,
        safetab_2021::ITEMS,
        safetab_p_2024::ITEMS,
        spines_2024::ITEMS,
        sieve_quadrature_2026::ITEMS,
    ]
    .concat()
}

/// The items of the given names, `PAPER` or `PAPER/FIGURE`; all where none is named.
pub fn find(names: &[String]) -> Result<Vec<Item>> {
    let all = items();
    let matches = |item: &Item, name: &str| match name.split_once('/') {
        Some((paper, figure)) => item.paper == paper && item.name == figure,
        None => item.paper == name,
    };
    if let Some(unknown) = names.iter().find(|name| !all.iter().any(|item| matches(item, name))) {
        let known: Vec<String> = all.iter().map(|item| format!("{}/{}", item.paper, item.name)).collect();
        return Err(Error::UnknownFigure { name: unknown.clone(), known: known.join(", ") });
    }
    Ok(all.into_iter().filter(|item| names.is_empty() || names.iter().any(|name| matches(item, name))).collect())
}

impl Item {
    /// Computes and draws it.
    pub fn draw(&self, sources: &Sources) -> Result<Drawing> {
        (self.draw)(sources)
    }

    /// The files of this item below a folder of results: CSV and SVG.
    pub fn files(&self, results: &Path) -> [PathBuf; 2] {
        ["csv", "svg"].map(|kind| results.join(self.paper).join(format!("{}.{kind}", self.name)))
    }

    /// Computes, draws and writes both files below a folder of results.
    pub fn write(&self, sources: &Sources, results: &Path) -> Result<[PathBuf; 2]> {
        let drawing = self.draw(sources)?;
        let files = self.files(results);
        write::atomically(&files[0], &drawing.sheet.csv())?;
        write::atomically(&files[1], &drawing.figure.svg()?)?;
        Ok(files)
    }
}

impl Drawing {
    /// Writes `NAME.csv` and `NAME.svg` into a folder.
    pub fn write(&self, folder: &Path, name: &str) -> Result<()> {
        write::atomically(&folder.join(format!("{name}.csv")), &self.sheet.csv())?;
        write::atomically(&folder.join(format!("{name}.svg")), &self.figure.svg()?)
    }
}

impl Sheet {
    fn new<S: ToString>(header: impl IntoIterator<Item = S>) -> Self {
        Sheet { header: header.into_iter().map(|name| name.to_string()).collect(), rows: Vec::new() }
    }

    fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    /// The table as CSV.
    pub fn csv(&self) -> String {
        let cell = |text: &String| match text.contains([',', '"', '\n']) {
            true => format!("\"{}\"", text.replace('"', "\"\"")),
            false => text.clone(),
        };
        let line = |row: &Vec<String>| row.iter().map(cell).collect::<Vec<_>>().join(",") + "\n";
        std::iter::once(&self.header).chain(&self.rows).map(line).collect()
    }
}

// ---- what the drawings of all papers need -----------------------------------------------------------------------------

/// Both ends of an enclosure as cells: at most 16 digits, the lower rounded down and the upper up.
fn ends(value: &Enclosure) -> [String; 2] {
    const MOST: usize = 16;
    let digits = (value.agreed_digits(MOST) + 3).min(MOST);
    let end = |end, round, infinite: &str| decimal(end, digits, round).unwrap_or_else(|| infinite.to_string());
    [end(value.lower(), Round::Down, "-inf"), end(value.upper(), Round::Up, "inf")]
}

/// `points` equidistant exact numbers from `from` to `to`.
fn grid(from: &Rational, to: &Rational, points: u32) -> Vec<Rational> {
    let step = Rational::from(to - from) / (points - 1);
    (0..points).map(|k| Rational::from(&step * k) + from).collect()
}

/// An exact number as a cell.
fn exact(value: &Rational) -> String {
    rational::display(value)
}

fn line(name: &str, ink: Ink, points: Vec<(f64, f64)>) -> Series {
    Series { name: name.to_string(), ink, joined: true, points }
}

fn dots(name: &str, ink: Ink, points: Vec<(f64, f64)>) -> Series {
    Series { name: name.to_string(), ink, joined: false, points }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_found_by_paper_or_name_and_others_are_refused() {
        let find = |name: &str| super::find(&[name.to_string()]);
        let papers = ["su-su-wang-2025", "kazan-reiter-2023", "safetab-2021", "safetab-p-2024", "spines-2024"];
        let papers = [&papers[..], &["sieve-quadrature-2026"]].concat();
        let papers: Vec<usize> = papers.into_iter().map(|paper| find(paper).unwrap().len()).collect();
        assert_eq!(papers.iter().sum::<usize>(), super::find(&[]).unwrap().len());
        assert_eq!(find("su-su-wang-2025/table-3").unwrap().len(), 1);
        for name in ["nosuch", "su-su-wang-2025/figure-99", "su-su-wang-2025/", "/figure-2", ""] {
            let message = find(name).unwrap_err().to_string();
            assert!(message.contains("su-su-wang-2025/figure-2"), "{message}");
        }
    }

    #[test]
    fn cells_with_commas_are_quoted() {
        let mut sheet = Sheet::new(["a", "b"]);
        sheet.push(vec!["one, two".to_string(), "say \"x\"".to_string()]);
        assert_eq!(sheet.csv(), "a,b\n\"one, two\",\"say \"\"x\"\"\"\n");
    }
}
