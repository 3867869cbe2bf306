//! Outputs of a program, one run per line, of data with a record and without it: numbers or words, in one column or several.
//!
//! The lines at even places from the third on test events; all others choose them. Headings, columns and their kinds are read from those that choose alone, so that the event is
//! a fixed set of outputs for the lines that test it: an output of another form is not in it.

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
/// The name of the whole line where it has several columns.
const WHOLE: &str = "the whole output";
/// The fewest lines: a heading, one that chooses and one that tests.
const FEWEST: usize = 3;
/// A line has at most this number of bytes.
const LONGEST: u64 = 1 << 20;

/// One column of the runs that choose events, of both files.
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
    /// The columns of the runs that choose, each with its name; the whole line comes last where there are several.
    pub columns: Vec<(String, Column)>,
    /// The number of all runs of each.
    pub counts: [usize; 2],
    /// The lines of the runs that test.
    tested: [Vec<String>; 2],
    /// The number of columns.
    width: usize,
}

impl Runs {
    /// Reads both files, in the order in which they were made.
    pub fn read(with: &Path, without: &Path) -> Result<Runs> {
        Runs::of_lines([lines(with)?, lines(without)?], [&shown(with), &shown(without)])
    }

    /// The same from lines.
    pub(super) fn of_lines(lines: [Vec<String>; 2], names: [&str; 2]) -> Result<Runs> {
        for (lines, name) in lines.iter().zip(names) {
            if lines.len() < FEWEST {
                let why = format!("{} lines are too few: some choose an event, others test it", lines.len());
                return Err(Error::File { path: name.into(), why });
            }
        }
        let is_testing = |at: usize| at >= 2 && at.is_multiple_of(2);
        let part = |is_wanted: bool| {
            lines.each_ref().map(|lines| -> Vec<String> {
                let all = lines.iter().enumerate().filter(|(at, _)| is_testing(*at) == is_wanted);
                all.map(|(_, line)| line.clone()).collect()
            })
        };
        let (mut choosing, tested) = (part(false), part(true));
        let width = width(&choosing);
        let heading = heading(&choosing, width);
        let counts = lines.each_ref().map(|lines| lines.len() - usize::from(heading.is_some()));
        if heading.is_some() {
            choosing.iter_mut().for_each(|lines| drop(lines.remove(0)));
        }
        let mut columns: Vec<(String, Column)> = Vec::new();
        for at in 0..width {
            let of = |lines: &Vec<String>| lines.iter().map(|line| field(line, at, width).to_string()).collect();
            let own =
                heading.as_ref().map(|names| field(names, at, width)).filter(|own| !own.is_empty() && *own != WHOLE);
            let is_taken = |own: &str| columns.iter().any(|(other, _)| other == own);
            let name = match own {
                _ if width == 1 => "output".to_string(),
                Some(own) if !is_taken(own) => own.to_string(),
                _ => format!("column {}", at + 1),
            };
            columns.push((name, Column::of_fields(choosing.each_ref().map(of))));
        }
        // A refusal may depend on all runs: it states nothing of the program.
        for (at, (name, column)) in columns.iter().enumerate() {
            if let Column::Numbers(_) = column {
                let skipped = usize::from(heading.is_some());
                let all = lines.each_ref().map(|lines| -> Vec<f64> {
                    lines[skipped..].iter().filter_map(|line| number(field(line, at, width))).collect()
                });
                check_order(&all, name, names)?;
            }
        }
        if width > 1 {
            columns.push((WHOLE.to_string(), Column::words(choosing)));
        }
        Ok(Runs { columns, counts, tested, width })
    }

    /// How many runs test an event, of each file.
    pub fn testing(&self) -> [usize; 2] {
        self.tested.each_ref().map(Vec::len)
    }

    /// The outputs of the runs that test, in the column at this place of both files; the whole line after the last.
    pub(super) fn tested(&self, column: usize) -> [impl Iterator<Item = &str>; 2] {
        let width = if column < self.width { self.width } else { 1 };
        self.tested.each_ref().map(|lines| lines.iter().map(move |line| field(line, column, width)))
    }
}

/// An output that is a number.
pub(super) fn number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| number.is_finite())
}

/// Runs in the order of their outputs are not independent of their places, by which they are divided.
fn check_order(both: &[Vec<f64>; 2], name: &str, files: [&str; 2]) -> Result<()> {
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

impl Column {
    fn of_fields(fields: [Vec<String>; 2]) -> Column {
        let numbers =
            fields.each_ref().map(|fields| fields.iter().map(|text| number(text)).collect::<Option<Vec<f64>>>());
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
fn heading(choosing: &[Vec<String>; 2], width: usize) -> Option<String> {
    let [with, without] = choosing.each_ref().map(|lines| lines.split_first());
    let ((first, with), (second, without)) = (with?, without?);
    let is_number = |line: &String, at: usize| number(field(line, at, width)).is_some();
    let names = |at: usize| !is_number(first, at) && with.iter().chain(without).all(|line| is_number(line, at));
    (first == second && !(with.is_empty() || without.is_empty()) && (0..width).any(names)).then(|| first.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(with: &str, without: &str) -> Result<Runs> {
        let lines = |text: &str| text.lines().map(String::from).collect();
        Runs::of_lines([lines(with), lines(without)], ["with.txt", "without.txt"])
    }

    /// By the lines that choose alone: the first, the second, the fourth, and so on.
    #[test]
    fn columns_are_numbers_where_every_output_that_chooses_is_one() {
        let runs = self::runs("x,kind\n1,a\n2.5,b\n-1e3,a", "x,kind\n0,b\n7,c\n8,d").unwrap();
        assert_eq!((runs.counts, runs.testing()), ([3, 3], [1, 1]));
        let names: Vec<&str> = runs.columns.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["x", "kind", "the whole output"]);
        assert!(matches!(&runs.columns[0].1, Column::Numbers([with, _]) if with == &[1.0, -1000.0]));
        assert!(
            matches!(&runs.columns[1].1, Column::Words(Words { words, at }) if words == &["a", "b", "d"] && at[1] == [1, 2])
        );
        let [with, without] = runs.tested(1);
        assert_eq!((with.collect::<Vec<_>>(), without.collect::<Vec<_>>()), (vec!["b"], vec!["c"]));
        // NaN is a word, as is a line with another number of commas.
        for (with, without) in [("1\nNaN\n1", "2\n3\n3"), ("1,2\n3\n1", "1\n2\n3"), ("\"a,b\"\nc\nc", "d\ne\ne")] {
            let runs = self::runs(with, without).unwrap();
            assert!(runs.columns.len() == 1 && matches!(runs.columns[0].1, Column::Words(_)), "{with}");
        }
        // What tests an event decides no form.
        for other in ["NaN", "a,b", "\"", "yes"] {
            let runs = self::runs(&format!("1\n2\n{other}\n4"), "1\n2\n3\n4").unwrap();
            assert!(runs.columns.len() == 1 && matches!(runs.columns[0].1, Column::Numbers(_)), "{other}");
        }
        // Words alone have no heading.
        assert_eq!(self::runs("yes\nno\nyes", "yes\nno\nno").unwrap().counts, [3, 3]);
    }

    #[test]
    fn few_and_sorted_runs_are_refused() {
        assert!(self::runs("1\n2", "2\n3\n4").unwrap_err().to_string().contains("too few"));
        let sorted: String = (0..60).map(|x| format!("{x}\n")).collect();
        let drawn: String = (0..60).map(|x| format!("{}\n", x * 37 % 60)).collect();
        assert!(self::runs(&drawn, &sorted).unwrap_err().to_string().contains("sorted"));
        assert!(self::runs(&drawn, &drawn).is_ok() && self::runs(&"1\n".repeat(99), &"0\n".repeat(99)).is_ok());
    }
}
