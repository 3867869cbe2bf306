//! Figures 6 and 8: the error of published counts, exactly, over real block counts.
//!
//! The paper uses the counts of Pennsylvania. These figures use those of Rhode Island (2010 Census, by block), from a
//! file of public data in a folder that the caller names, or those of the user's own file. Nothing is simulated: the
//! expected errors are sums over the noise.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use rug::Rational;

use super::inputs::Case;
use crate::{
    chart::{
        Axis, Drawing, Figure, Ink, Panel, Series, Sheet,
        drawing::{ends, exact},
    },
    error::{Error, Result},
    io::csv_reader::{CsvTable, Reading},
    noise::{
        DiscreteGaussian,
        published_error::{ClampedErrors, ExpectedErrors},
    },
    numeric::Enclosure,
    replication::{
        figures::{Own, Sources},
        verdict::percent_below,
    },
    spine::csv_table::BlockTable,
};

const FILE: &str = "ri_2010_block.csv";
const PLACES: [&str; 3] = ["geography/rhode-island", "rhode-island", ""];
const DIGITS: u32 = 12;
const BITS: u32 = 120;

/// The number of units with each count.
type Histogram = BTreeMap<u64, u64>;

/// The block file: the given one, or the one in the folder of public data; and a name for its counts.
fn block_file(sources: &Sources, what: &str) -> Result<(PathBuf, String)> {
    let named = |path: &Path| (path.to_path_buf(), path.file_name().unwrap_or_default().to_string_lossy().into_owned());
    if let Some(counts) = &sources.own.counts {
        return Ok(named(counts));
    }
    let needed = |why: &str| Error::NeedsData {
        what: what.to_string(),
        needed: format!("{FILE}, the 2010 block counts of Rhode Island{why}, or a file of counts of your own"),
    };
    let folder = sources.facts.as_ref().ok_or_else(|| needed(""))?;
    if folder.is_file() {
        return Ok(named(folder));
    }
    let candidates = PLACES.map(|place| folder.join(place).join(FILE));
    let found = candidates.into_iter().find(|path| path.is_file());
    let found = found.ok_or_else(|| needed(&format!(" (not found below {})", crate::error::shown(folder))))?;
    Ok((found, "Rhode Island 2010".to_string()))
}

/// The counts of a column by geographic unit; units are prefixes of the block's code with the given length.
struct Blocks {
    codes: Vec<String>,
    columns: BTreeMap<String, Vec<u64>>,
}

impl Blocks {
    fn read(path: &Path, names: &[&str]) -> Result<Self> {
        let mut table = CsvTable::read(path, Reading::default())?;
        let code = table.column(&["GEOID"])?;
        let places: Vec<(String, usize)> =
            names.iter().map(|name| Ok((name.to_string(), table.column(&[name])?))).collect::<Result<_>>()?;
        let mut blocks = Blocks { codes: Vec::new(), columns: BTreeMap::new() };
        while table.next()? {
            blocks.codes.push(format!("{:015}", table.geoid(code)?));
            for (name, place) in &places {
                blocks.columns.entry(name.clone()).or_default().push(table.whole(*place, (1 << 40) - 1)?);
            }
        }
        if blocks.codes.is_empty() {
            return Err(table.refuse(0, "no block: expected a line for each"));
        }
        Ok(blocks)
    }

    fn histogram(&self, column: &str, digits: usize) -> Histogram {
        let mut units: BTreeMap<&str, u64> = BTreeMap::new();
        for (code, count) in self.codes.iter().zip(&self.columns[column]) {
            *units.entry(&code[..digits]).or_default() += count;
        }
        units.into_values().fold(Histogram::new(), |mut all, count| {
            *all.entry(count).or_default() += 1;
            all
        })
    }
}

/// The mean over all units of the expected errors of counts clamped at zero.
fn mean(cut: &ClampedErrors, units: &Histogram) -> ExpectedErrors {
    let number = |value: u64| Enclosure::rational(&Rational::from(value), BITS);
    let all = number(units.values().sum());
    let average = |error: &dyn Fn(&ExpectedErrors) -> Enclosure| {
        let sum =
            units.iter().fold(number(0), |sum, (count, times)| sum.add(&error(cut.at(*count)).mul(&number(*times))));
        sum.div(&all)
    };
    ExpectedErrors {
        squared: average(&|errors| errors.squared.clone()),
        absolute: average(&|errors| errors.absolute.clone()),
    }
}

/// A row of a figure: its label, the errors under the Bureau's noise and under the reduced noise.
struct Pair {
    bureau: Enclosure,
    reduced: Enclosure,
}

impl Pair {
    fn cells(&self) -> Vec<String> {
        [&self.bureau, &self.reduced, &percent_below(&self.reduced, &self.bureau)].map(ends).concat()
    }
}

fn panel(case: &Case, title: &str, label: &str, names: &[&str], pairs: &[Pair], range: (f64, f64)) -> Panel {
    let is_bureau = case.own.release.is_none() && case.own.sigma2.is_empty();
    let before = if is_bureau { "the Bureau's noise" } else { "noise as it is" };
    let after = if case.own.sigma2.is_empty() { case.reduced_name() } else { "reduced noise".to_string() };
    Panel {
        title: title.to_string(),
        x: Axis::log(label, range.0, range.1),
        y: Axis::names(names),
        series: vec![
            Series::of_rows(before, Ink::Vermillion, pairs.iter().map(|pair| pair.bureau.approximate())),
            Series::of_rows(&after, Ink::Blue, pairs.iter().map(|pair| pair.reduced.approximate())),
        ],
    }
}

/// The noise of a level and the reduced noise that Table 1 prints for it. For another release: the noise of the level's
/// first query, which represents all its counts, and the same noise reduced until the exact epsilon of the level equals
/// that of zCDP.
fn cuts(case: &Case, level: &str) -> Result<[ClampedErrors; 2]> {
    let sigma2 = match case.own.sigma2.as_slice() {
        [before, after] => [before.clone(), after.clone()],
        [] => {
            let query = case.release.level(level)?.queries.first();
            let own =
                query.ok_or_else(|| Error::missing(format!("the level {level:?} has no query")))?.sigma2()?.clone();
            let (_, reduced) = case.reduced(level)?;
            let least = Case::least_sigma2(&case.level(level)?).unwrap_or_else(|| own.clone());
            let after = Rational::from(&own * &reduced) / least;
            [own, after]
        }
        other => {
            let needed = "this figure takes two: of the noise as it is, and of the reduced noise";
            return Err(Error::conflict(format!("sigma2 is given {} times: {needed}", other.len())));
        }
    };
    let [own, reduced] = sigma2.map(DiscreteGaussian::new);
    Ok([own?, reduced?].map(|noise| ClampedErrors::new(&noise, DIGITS + 4)))
}

/// The level of a release whose noise a kind of unit has: the first of these names.
fn geolevel(case: &Case, names: &[&str]) -> Result<String> {
    let found = names.iter().find(|name| case.release.levels.iter().any(|level| level.name == **name));
    let known = || case.release.levels.iter().map(|level| level.name.as_str()).collect::<Vec<_>>().join(", ");
    let needed = || format!("this figure needs a level called {}", names.join(" or "));
    let why = || format!("{}; the release {} has {}", needed(), case.release.name, known());
    found.map(ToString::to_string).ok_or_else(|| Error::missing(why()))
}

/// The possible names of a level; a release has the first that matches.
const TRACT: &[&str] = &["Tract Subset", "Tract_Subset", "Tract"];

/// Figure 6: the mean squared and absolute error of total population at four levels, clamped at zero and not.
pub fn figure_6(sources: &Sources) -> Result<Drawing> {
    let case = Case::of_sources(sources)?;
    let (file, called) = block_file(sources, "figure-6")?;
    let column = Own::one("columns", &case.own.columns)?.map_or("pop", String::as_str);
    let blocks = Blocks::read(&file, &[column])?;
    // The level, the number of digits of its code, and the geolevels whose noise it may have.
    let levels: [(&str, usize, &[&str]); 4] =
        [("State", 2, &["State"]), ("County", 5, &["County"]), ("Tract", 11, TRACT), ("Block", 15, &["Block"])];
    let mut sheet = Sheet::of_columns("measure processing level units bureau± reduced± percent±");
    let names = levels.map(|level| level.0);
    let mut rows: Vec<(usize, Vec<ExpectedErrors>, Vec<ExpectedErrors>)> = Vec::new();
    for (_, digits, geolevels) in levels {
        let units = blocks.histogram(column, digits);
        let cuts = cuts(&case, &geolevel(&case, geolevels)?)?;
        let plain = cuts.iter().map(ClampedErrors::unclamped).collect();
        let cut = cuts.iter().map(|cut| mean(cut, &units)).collect();
        rows.push((units.values().sum::<u64>() as usize, plain, cut));
    }
    let mut panels = Vec::new();
    for (measure, label) in [("MSE", "mean squared error (people²)"), ("MAE", "mean absolute error (people)")] {
        let panels_of = (0..2).map(|k| {
            let pairs: Vec<Pair> = (rows.iter())
                .map(|(_, plain, cut)| {
                    let errors = if k == 0 { plain } else { cut };
                    let value = |errors: &ExpectedErrors| {
                        if measure == "MSE" { errors.squared.clone() } else { errors.absolute.clone() }
                    };
                    Pair { bureau: value(&errors[0]), reduced: value(&errors[1]) }
                })
                .collect();
            (["as published", "cut at zero"][k], pairs)
        });
        let both: Vec<(&str, Vec<Pair>)> = panels_of.collect();
        let range = range(both.iter().flat_map(|(_, pairs)| pairs));
        for (processing, pairs) in &both {
            for ((name, row), pair) in names.iter().zip(&rows).zip(pairs) {
                let head = vec![measure.to_string(), processing.to_string(), name.to_string(), row.0.to_string()];
                sheet.push([head, pair.cells()].concat());
            }
            panels.push(panel(&case, &format!("{measure}, {processing}"), label, &names, pairs, range));
        }
    }
    let absent = if called == "Rhode Island 2010" { " (the paper's Pennsylvania is not at hand)" } else { "" };
    let counts = if column == "pop" { "total population" } else { column };
    let title = format!("Expected error of {counts}, {called}{absent}, with the noise of {}", noise_in_words(&case));
    Ok(Drawing { sheet, figure: Figure { title, columns: 2, panels } })
}

/// The counts of the paper, by their columns in the file.
const QUERIES: [(&str, &str); 9] = [
    ("pop", "Total"),
    ("pop_white", "White"),
    ("pop_black", "Black"),
    ("pop_hisp", "Hispanic"),
    ("pop_aian", "AI/AN"),
    ("pop_asian", "Asian"),
    ("pop_nhpi", "NH/PI"),
    ("pop_other", "Other"),
    ("pop_two", "Two or more"),
];

/// Figure 8: the mean squared error of nine counts at block level, clamped at zero.
pub fn figure_8(sources: &Sources) -> Result<Drawing> {
    let case = Case::of_sources(sources)?;
    let (file, called) = block_file(sources, "figure-8")?;
    let queries: Vec<(&str, &str)> = match case.own.columns.is_empty() {
        true => QUERIES.to_vec(),
        false => case.own.columns.iter().map(|column| (column.as_str(), column.as_str())).collect(),
    };
    let columns: Vec<&str> = queries.iter().map(|query| query.0).collect();
    let blocks = Blocks::read(&file, &columns)?;
    let cuts = cuts(&case, &geolevel(&case, &["Block"])?)?;
    let mut sheet = Sheet::of_columns("count blocks people bureau± reduced± percent±");
    let mut pairs = Vec::new();
    for (column, name) in &queries {
        let units = blocks.histogram(column, 15);
        let [bureau, reduced] = [0, 1].map(|k| mean(&cuts[k], &units).squared);
        let pair = Pair { bureau, reduced };
        let people: u64 = units.iter().map(|(count, times)| count * times).sum();
        let number = units.values().sum::<u64>();
        sheet.push([vec![name.to_string(), exact(&Rational::from(number)), people.to_string()], pair.cells()].concat());
        pairs.push(pair);
    }
    let names: Vec<&str> = queries.iter().map(|query| query.1).collect();
    let label = "mean squared error (people²)";
    let (low, high) = range(pairs.iter());
    let mut panel = panel(&case, "", label, &names, &pairs, (low, high));
    panel.x = Axis::linear(label, low * 0.95, high * 0.95);
    let title = format!(
        "Expected squared error of {} block counts cut at zero, {called}, with the noise of {}",
        queries.len(),
        noise_in_words(&case)
    );
    Ok(Drawing { sheet, figure: Figure { title, columns: 1, panels: vec![panel] } })
}

/// The source of the noise, in a title.
fn noise_in_words(case: &Case) -> String {
    match case.own.sigma2.as_slice() {
        [before, after] => format!("σ² = {} and {}", exact(before), exact(after)),
        _ => case.title(),
    }
}

/// Ends of a logarithmic axis that contains all errors.
fn range<'a>(pairs: impl Iterator<Item = &'a Pair>) -> (f64, f64) {
    let values = pairs.flat_map(|pair| [pair.bureau.approximate(), pair.reduced.approximate()]);
    let (low, high) = values.fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    (low * 0.8, high * 1.25)
}
