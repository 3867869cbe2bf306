//! Outputs of a program, one run per line, of data with a record and without it: numbers or words, in one column or several.

use std::{
    collections::HashMap,
    io::{BufRead, BufReader},
    path::Path,
};

use super::read::decompressed;
use crate::{
    error::{Error, Result, shown},
    io::reading,
};

/// The least number of runs of a file whose order is looked at, and of different numbers.
const MANY: usize = 50;
/// A line has at most this number of bytes.
const LONGEST: u64 = 1 << 20;

/// One column of both files.
#[derive(Clone, Debug)]
pub enum Column {
    /// Where every output is a number.
    Numbers([Vec<f64>; 2]),
    /// Elsewhere.
    Words(Words),
}

/// Outputs that are words.
#[derive(Clone, Debug)]
pub struct Words {
    /// All of them, each once.
    pub words: Vec<String>,
    /// The place of each output among them.
    pub at: [Vec<u32>; 2],
}

/// The runs of data with a record and of data without it.
#[derive(Clone, Debug)]
pub struct Runs {
    /// Each with its name; the whole line comes last where there are several.
    pub columns: Vec<(String, Column)>,
    /// How many there are of each.
    pub counts: [usize; 2],
}

impl Runs {
    /// Reads both files, in the order in which they were made.
    pub fn read(with: &Path, without: &Path) -> Result<Runs> {
        Runs::of([lines(with)?, lines(without)?], [&shown(with), &shown(without)])
    }

    /// The same from lines.
    pub(super) fn of(mut lines: [Vec<String>; 2], names: [&str; 2]) -> Result<Runs> {
        let heading = heading(&lines);
        if heading.is_some() {
            lines.iter_mut().for_each(|lines| drop(lines.remove(0)));
        }
        for (lines, name) in lines.iter().zip(names) {
            if lines.len() < 2 {
                let why =
                    format!("{} runs are too few: one half of them chooses an event, the other tests it", lines.len());
                return Err(Error::File { path: name.into(), why });
            }
        }
        let mut columns: Vec<(String, Column)> = Vec::new();
        let width = width(&lines);
        for at in 0..width {
            let of = |lines: &Vec<String>| lines.iter().map(|line| field(line, at, width).to_string()).collect();
            let name = match (&heading, width) {
                (_, 1) => "output".to_string(),
                (Some(names), _) => field(names, at, width).to_string(),
                (None, _) => format!("column {}", at + 1),
            };
            columns.push((name, Column::of(lines.each_ref().map(of))));
        }
        for (name, column) in &columns {
            column.check_order(name, names)?;
        }
        if width > 1 {
            columns.push(("the whole output".to_string(), Column::words(lines.clone())));
        }
        Ok(Runs { columns, counts: lines.each_ref().map(Vec::len) })
    }
}

impl Column {
    fn of(fields: [Vec<String>; 2]) -> Column {
        let number = |text: &String| text.parse::<f64>().ok().filter(|number| number.is_finite());
        let numbers = fields.each_ref().map(|fields| fields.iter().map(number).collect::<Option<Vec<f64>>>());
        match numbers {
            [Some(with), Some(without)] => Column::Numbers([with, without]),
            _ => Column::words(fields),
        }
    }

    fn words(fields: [Vec<String>; 2]) -> Column {
        let (mut words, mut places) = (Vec::new(), HashMap::new());
        let mut place = |word: String| -> u32 {
            *places.entry(word).or_insert_with_key(|word| {
                words.push(word.clone());
                (words.len() - 1) as u32
            })
        };
        let at = fields.map(|fields| fields.into_iter().map(&mut place).collect());
        Column::Words(Words { words, at })
    }

    /// Runs in the order of their outputs are not independent of their places, by which they are divided.
    fn check_order(&self, name: &str, files: [&str; 2]) -> Result<()> {
        let Column::Numbers(both) = self else { return Ok(()) };
        for (numbers, file) in both.iter().zip(files) {
            let falls = numbers.windows(2).filter(|pair| pair[0] > pair[1]).count();
            let rises = numbers.windows(2).filter(|pair| pair[0] < pair[1]).count();
            if numbers.len() >= MANY && falls.min(rises) == 0 && falls.max(rises) >= MANY / 2 {
                let why = format!("the runs are sorted by {name}: expected them in the order in which they were made");
                return Err(Error::File { path: file.into(), why });
            }
        }
        Ok(())
    }
}

/// The lines of a file, which may be compressed by gzip and begin with a byte order mark.
fn lines(path: &Path) -> Result<Vec<String>> {
    let name = shown(path);
    let wrong = |why: String| Error::File { path: name.clone().into(), why };
    let mut input = BufReader::new(decompressed(reading::open(path)?, &name)?);
    let mut found = Vec::new();
    loop {
        let mut line = Vec::new();
        let read = std::io::Read::take(&mut input, LONGEST)
            .read_until(b'\n', &mut line)
            .map_err(|why| wrong(why.to_string()))?;
        if read == 0 {
            return Ok(found);
        }
        let number = found.len() + 1;
        let refuse = |why: &str| Error::DataFile { file: name.clone(), line: number, column: 1, why: why.to_string() };
        if read as u64 == LONGEST {
            return Err(refuse("is longer than a mebibyte: expected one output per line"));
        }
        let text = String::from_utf8(line).map_err(|_| refuse("is not UTF-8"))?;
        let text = if number == 1 { text.strip_prefix('\u{feff}').unwrap_or(&text) } else { &text };
        let text = text.trim_end_matches(['\n', '\r']).trim();
        if text.is_empty() {
            return Err(refuse("is empty: expected one output per line"));
        }
        found.push(text.to_string());
    }
}

/// The number of columns: as many as every line has fields; one where lines differ, or where quotes may hide a comma.
fn width(lines: &[Vec<String>; 2]) -> usize {
    let mut all = lines.iter().flatten();
    let fields = |line: &String| line.split(',').count();
    let first = all.next().map_or(1, fields);
    if lines.iter().flatten().any(|line| line.contains('"')) || all.any(|line| fields(line) != first) {
        1
    } else {
        first
    }
}

/// The field of a line at this place, of this number.
fn field(line: &str, at: usize, width: usize) -> &str {
    if width == 1 { line } else { line.split(',').nth(at).unwrap_or_default().trim() }
}

/// The first line of both files, if it is the same, and a column has a word there and numbers in all other lines.
fn heading(lines: &[Vec<String>; 2]) -> Option<String> {
    let [with, without] = lines.each_ref().map(|lines| lines.split_first());
    let ((first, with), (second, without)) = (with?, without?);
    let width = width(lines);
    let is_number = |line: &String, at: usize| field(line, at, width).parse::<f64>().is_ok();
    let names = |at: usize| !is_number(first, at) && with.iter().chain(without).all(|line| is_number(line, at));
    (first == second && !(with.is_empty() || without.is_empty()) && (0..width).any(names)).then(|| first.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(with: &str, without: &str) -> Result<Runs> {
        let lines = |text: &str| text.lines().map(String::from).collect();
        Runs::of([lines(with), lines(without)], ["with.txt", "without.txt"])
    }

    #[test]
    fn columns_are_numbers_where_every_output_is_one() {
        let runs = of("x,kind\n1,a\n2.5,b\n-1e3,a", "x,kind\n0,b\n7,c").unwrap();
        assert_eq!(runs.counts, [3, 2]);
        let names: Vec<&str> = runs.columns.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["x", "kind", "the whole output"]);
        assert!(matches!(&runs.columns[0].1, Column::Numbers([with, _]) if with == &[1.0, 2.5, -1000.0]));
        assert!(
            matches!(&runs.columns[1].1, Column::Words(Words { words, at }) if words == &["a", "b", "c"] && at[1] == [1, 2])
        );
        // NaN is a word, as is a line with another number of commas.
        for (with, without) in [("1\nNaN", "2\n3"), ("1,2\n3", "1\n2"), ("\"a,b\"\nc", "d\ne")] {
            let runs = of(with, without).unwrap();
            assert!(runs.columns.len() == 1 && matches!(runs.columns[0].1, Column::Words(_)), "{with}");
        }
        // Words alone have no heading.
        assert_eq!(of("yes\nno\nyes", "yes\nno").unwrap().counts, [3, 2]);
    }

    #[test]
    fn few_and_sorted_runs_are_refused() {
        assert!(of("1", "2\n3").unwrap_err().to_string().contains("too few"));
        let sorted: String = (0..60).map(|x| format!("{x}\n")).collect();
        let drawn: String = (0..60).map(|x| format!("{}\n", x * 37 % 60)).collect();
        assert!(of(&drawn, &sorted).unwrap_err().to_string().contains("sorted"));
        assert!(of(&drawn, &drawn).is_ok() && of(&"1\n".repeat(99), &"0\n".repeat(99)).is_ok());
    }
}
