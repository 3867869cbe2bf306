//! Files of estimates: CSV, Parquet, and the form of the Bureau's own estimates; and the comparison of two of them.

use std::{
    collections::HashMap,
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
};

use parquet::{
    basic::{Compression, LogicalType, Repetition, Type as Physical},
    data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type},
    file::{properties::WriterProperties, writer::SerializedFileWriter},
    schema::types::Type,
};

use super::{
    answers::{Answer, Answers, QUANTILE, Subject},
    codes::confidence::Confidence,
    matched::Keys,
    survey::{Survey, Take},
    totals::refuse_others,
};
use crate::{
    error::{Error, Result},
    io::files::{file_error, write_whole},
    spine::{
        codes,
        csv_table::{CsvTable, quoted},
    },
};

/// The form of a file of estimates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// CSV: `level,geocode,geoid,part,query,cell`, a column for each attribute or recode that the queries keep, and
    /// `estimate,variance,std_dev,margin_95`; `area` replaces the first four.
    Csv,
    /// The same columns as Parquet.
    Parquet,
    /// `geocode|query|estimate|std_dev|query_description`, as in the Bureau's own estimates.
    Bureau,
    /// CSV of nonzero integer counts: the columns of `Csv` with `count` and `margin_95_of_unbiased_estimate` instead of the last four.
    Whole,
}

/// Writes the answers of a survey, whole or not at all; returns the number of rows. `run` gives the answers.
pub fn write(survey: &Survey, form: Form, with_areas: bool, path: &Path, run: &mut Run) -> Result<u64> {
    write_whole(path, |out| match form {
        Form::Parquet => write_parquet(survey, with_areas, path, out, run),
        Form::Csv | Form::Bureau | Form::Whole => write_text(survey, form, with_areas, path, out, run),
    })
}

/// Passes on all answers, in order.
pub type Run<'r> = dyn FnMut(&mut Take) -> Result<()> + 'r;

fn write_text(
    survey: &Survey,
    form: Form,
    with_areas: bool,
    path: &Path,
    out: &mut dyn Write,
    run: &mut Run,
) -> Result<u64> {
    let wrong = |why: std::io::Error| file_error(path, why);
    writeln!(out, "{}", heading(survey, form, with_areas)).map_err(wrong)?;
    let mut rows = 0;
    run(&mut |subject, answers| {
        let (text, own) = rows_text(survey, form, &subject, &answers);
        rows += own;
        out.write_all(text.as_bytes()).map_err(wrong)
    })?;
    Ok(rows)
}

/// The first line of a file of estimates.
fn heading(survey: &Survey, form: Form, with_areas: bool) -> String {
    let estimate = estimate_heading(survey);
    match (form, with_areas) {
        // In the form that other programs read; the description beside the file says if the noise can be subtracted.
        (Form::Bureau, _) => format!("geocode|query|{ESTIMATE}|std_dev|query_description"),
        (Form::Whole, _) => {
            let kinds = kinds_heading(&survey.answers);
            format!("{UNIT},query,cell,{kinds}{},{OF_UNBIASED}", marked(survey, "count"))
        }
        (Form::Csv | Form::Parquet, with_areas) => {
            let subject = if with_areas { "area" } else { UNIT };
            let kinds = kinds_heading(&survey.answers);
            format!("{subject},query,cell,{kinds}{estimate},variance,std_dev,margin_95")
        }
    }
}

/// The columns that identify the unit of a row.
const UNIT: &str = "level,geocode,geoid,part";

/// The column beside integer counts: the margin of the unbiased estimate of the same count, because an integer count has no known margin.
const OF_UNBIASED: &str = "margin_95_of_unbiased_estimate";

/// All other columns of files of estimates; an attribute with such a name gets another heading.
const COLUMNS: [&str; 15] = [
    "level",
    "geocode",
    "geoid",
    "part",
    "unit",
    "id",
    "area",
    "query",
    "cell",
    "estimate",
    "count",
    "variance",
    "std_dev",
    "margin_95",
    OF_UNBIASED,
];

/// The headings of the columns of attributes and recodes.
fn kind_headings(answers: &Answers) -> Vec<String> {
    let heading = |name: &String| match COLUMNS.contains(&name.as_str()) {
        true => format!("{name} (attribute)"),
        false => name.clone(),
    };
    answers.kinds().iter().map(heading).collect()
}

/// The same as text, each followed by a comma.
pub(in crate::topdown) fn kinds_heading(answers: &Answers) -> String {
    kind_headings(answers).iter().map(|name| quoted(name) + ",").collect()
}

/// The labels of a cell, each followed by a comma.
fn put_labels(to: &mut String, answers: &Answers, query: usize, cell: usize) {
    for kind in 0..answers.kinds().len() {
        to.push_str(&quoted(answers.label(query, kind, cell)));
        to.push(',');
    }
}

/// The rows of a unit or area in a text form, and their number.
fn rows_text(survey: &Survey, form: Form, subject: &Subject, answers: &[Answer]) -> (String, u64) {
    let names: Vec<String> = survey.answers.names().iter().map(|name| quoted(name)).collect();
    let is_written = |estimate: &&f64| form != Form::Whole || **estimate != 0.0;
    let rows = answers.iter().map(|answer| answer.estimates.iter().filter(is_written).count() as u64).sum();
    let text = match form {
        Form::Whole => whole_rows(survey, &names, subject, answers),
        Form::Bureau => bureau_rows(&survey.answers, subject, answers),
        Form::Csv | Form::Parquet => answer_rows(&about(survey, subject), &survey.answers, &names, answers),
    };
    (text, rows)
}

/// The heading of the estimates, which says if their noise can be subtracted, and if the counts do not fit each other.
fn estimate_heading(survey: &Survey) -> String {
    marked(survey, ESTIMATE)
}

/// A heading that says so.
pub(super) fn marked(survey: &Survey, name: &str) -> String {
    let seed = survey.insecure_seed.map(|seed| format!("insecure seed {seed}"));
    let misfit = survey.misfit().map(|bound| format!("misfit: p below {bound}"));
    let marks: Vec<String> = seed.into_iter().chain(misfit).collect();
    if marks.is_empty() { name.to_string() } else { format!("{name} ({})", marks.join("; ")) }
}

const ESTIMATE: &str = "estimate";

fn about(survey: &Survey, subject: &Subject) -> String {
    match subject {
        Subject::Unit { level, code, geoid } => {
            format!("{},{code},{geoid},{}", quoted(&survey.names.levels[*level]), survey.part_of(code))
        }
        Subject::Area(name) => quoted(name),
    }
}

fn whole_rows(survey: &Survey, names: &[String], subject: &Subject, answers: &[Answer]) -> String {
    use std::fmt::Write as _;
    let first = about(survey, subject);
    let mut text = String::new();
    for answer in answers {
        for (cell, count) in answer.estimates.iter().enumerate().filter(|(_, count)| **count != 0.0) {
            let _ = write!(text, "{first},{},{cell},", names[answer.query]);
            put_labels(&mut text, &survey.answers, answer.query, cell);
            let margin = answer.unbiased_variances.get(cell).map(|variance| variance.sqrt() * QUANTILE);
            let _ = writeln!(text, "{count},{}", margin.map_or_else(String::new, |margin| margin.to_string()));
        }
    }
    text
}

/// Rows of CSV: the subject, the query, the cell and its labels, estimate, variance, standard deviation and margin.
pub(in crate::topdown) fn answer_rows(first: &str, asked: &Answers, names: &[String], answers: &[Answer]) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    for answer in answers {
        let name = &names[answer.query];
        for (cell, (estimate, variance)) in answer.estimates.iter().zip(&answer.variances).enumerate() {
            let deviation = variance.sqrt();
            // Writing to a string cannot fail.
            let _ = write!(text, "{first},{name},{cell},");
            put_labels(&mut text, asked, answer.query, cell);
            let _ = writeln!(text, "{estimate},{variance},{deviation},{}", deviation * QUANTILE);
        }
    }
    text
}

fn bureau_rows(asked: &Answers, subject: &Subject, answers: &[Answer]) -> String {
    use std::fmt::Write as _;
    let code = match subject {
        Subject::Unit { geoid, .. } => geoid,
        Subject::Area(name) => name,
    };
    let names = asked.names();
    let mut text = String::new();
    for answer in answers {
        let (name, about) = (names[answer.query], asked.description(answer.query));
        for (estimate, variance) in answer.estimates.iter().zip(&answer.variances) {
            let _ = writeln!(text, "{code}|{name}|{estimate}|{}|{about}", variance.sqrt());
        }
    }
    text
}

/// The number of rows of a row group.
const GROUP: usize = 1 << 18;

/// Rows of a Parquet file that are not written yet.
#[derive(Default)]
struct Group {
    /// The columns of the subject, and the query.
    texts: Vec<Vec<ByteArray>>,
    cells: Vec<i32>,
    /// The labels of each cell.
    kinds: Vec<Vec<ByteArray>>,
    numbers: [Vec<f64>; 4],
}

impl Group {
    fn new(texts: usize, kinds: usize) -> Group {
        Group { texts: vec![Vec::new(); texts], kinds: vec![Vec::new(); kinds], ..Group::default() }
    }
}

fn write_parquet(
    survey: &Survey,
    with_areas: bool,
    path: &Path,
    out: &mut (dyn Write + Send),
    run: &mut Run,
) -> Result<u64> {
    let wrong = |why: parquet::errors::ParquetError| file_error(path, why);
    let subject: Vec<&str> = if with_areas { vec!["area"] } else { UNIT.split(',').collect() };
    let kinds = kind_headings(&survey.answers);
    let schema = Arc::new(parquet_schema(&subject, &kinds, &estimate_heading(survey)).map_err(wrong)?);
    let properties = Arc::new(WriterProperties::builder().set_compression(Compression::SNAPPY).build());
    let mut writer = SerializedFileWriter::new(out, schema, properties).map_err(wrong)?;
    let names: Vec<ByteArray> = survey.answers.names().iter().map(|name| ByteArray::from(*name)).collect();
    let (texts, kinds) = (subject.len() + 1, kinds.len());
    let (mut group, mut rows) = (Group::new(texts, kinds), 0);
    run(&mut |subject, answers| {
        let about: Vec<ByteArray> = match &subject {
            Subject::Unit { level, code, geoid } => {
                let of_unit = [survey.names.levels[*level].as_str(), code, geoid, survey.part_of(code)];
                of_unit.map(ByteArray::from).to_vec()
            }
            Subject::Area(name) => vec![ByteArray::from(name.as_str())],
        };
        for answer in &answers {
            for (cell, (estimate, variance)) in answer.estimates.iter().zip(&answer.variances).enumerate() {
                for (to, text) in group.texts.iter_mut().zip(about.iter().chain([&names[answer.query]])) {
                    to.push(text.clone());
                }
                group.cells.push(cell as i32);
                for (kind, to) in group.kinds.iter_mut().enumerate() {
                    to.push(ByteArray::from(survey.answers.label(answer.query, kind, cell)));
                }
                let deviation = variance.sqrt();
                let numbers = [*estimate, *variance, deviation, deviation * QUANTILE];
                group.numbers.iter_mut().zip(numbers).for_each(|(to, number)| to.push(number));
                rows += 1;
            }
        }
        if group.cells.len() >= GROUP {
            let full = std::mem::replace(&mut group, Group::new(texts, kinds));
            put_group(&mut writer, &full).map_err(wrong)?;
        }
        Ok(())
    })?;
    put_group(&mut writer, &group).map_err(wrong)?;
    writer.close().map_err(wrong)?;
    Ok(rows)
}

fn parquet_schema(
    subject: &[&str],
    kinds: &[String],
    estimate: &str,
) -> std::result::Result<Type, parquet::errors::ParquetError> {
    let field = |name: &str, physical: Physical, logical: Option<LogicalType>| {
        let field = Type::primitive_type_builder(name, physical).with_repetition(Repetition::REQUIRED);
        field.with_logical_type(logical).build().map(Arc::new)
    };
    let text = |name: &str| field(name, Physical::BYTE_ARRAY, Some(LogicalType::String));
    let mut fields =
        subject.iter().chain(&["query"]).map(|name| text(name)).collect::<std::result::Result<Vec<_>, _>>()?;
    fields.push(field("cell", Physical::INT32, None)?);
    for kind in kinds {
        fields.push(text(kind)?);
    }
    for number in [estimate, "variance", "std_dev", "margin_95"] {
        fields.push(field(number, Physical::DOUBLE, None)?);
    }
    Type::group_type_builder("estimates").with_fields(fields).build()
}

fn put_group<W: Write + Send>(
    writer: &mut SerializedFileWriter<W>,
    group: &Group,
) -> std::result::Result<(), parquet::errors::ParquetError> {
    let mut rows = writer.next_row_group()?;
    for column in &group.texts {
        put_column::<ByteArrayType, W>(&mut rows, column)?;
    }
    put_column::<Int32Type, W>(&mut rows, &group.cells)?;
    for column in &group.kinds {
        put_column::<ByteArrayType, W>(&mut rows, column)?;
    }
    for column in &group.numbers {
        put_column::<DoubleType, W>(&mut rows, column)?;
    }
    rows.close()?;
    Ok(())
}

fn put_column<T: DataType, W: Write + Send>(
    rows: &mut parquet::file::writer::SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
) -> std::result::Result<(), parquet::errors::ParquetError> {
    if let Some(mut column) = rows.next_column()? {
        column.typed::<T>().write_batch(values, None, None)?;
        column.close()?;
    }
    Ok(())
}

/// Published counts, by the code of their subject.
#[derive(Clone, Debug, Default)]
pub struct Published {
    /// The counts, each with its line.
    counts: HashMap<String, (f64, u64)>,
    file: String,
    /// The code as written in the file, if it differs.
    written: HashMap<String, String>,
}

/// The accepted headings of GEOIDs.
pub(super) const GEOIDS: [&str; 4] = ["geoid", "GEOID", "GEOID20", "GEOID10"];

impl Published {
    /// Reads a CSV with the columns `geoid` (or `geocode`, `area`) and `count`. GEOIDs may have the prefix of
    /// data.census.gov, or the form of NHGIS.
    pub fn read(path: &Path) -> Result<Published> {
        let mut table = CsvTable::open(path)?;
        let named = table.find(&["geocode"]).or(table.find(&["area"]));
        let of = table.find(&GEOIDS).or(named).map_or_else(|| table.column(&["geoid", "geocode", "area"]), Ok)?;
        let count = table.column(&["count"])?;
        let heading = table.headings()[of].clone();
        refuse_others(&table, &[&heading, "count"])?;
        let mut published = Published { file: table.file.clone(), ..Published::default() };
        while table.next()? {
            let written = table.text(of)?.to_string();
            if written.is_empty() {
                return Err(table.refuse(of + 1, "no code: a line is about a unit or area"));
            }
            let number = table.whole(count, 1 << 50)? as f64;
            let name = codes::digits(&written).unwrap_or_else(|| written.clone());
            if published.counts.insert(name.clone(), (number, table.line())).is_some() {
                return Err(table.refuse(of + 1, &format!("{written:?} occurs twice")));
            }
            if written != name {
                published.written.insert(name, written);
            }
        }
        Ok(published)
    }

    /// The number of lines: one for each unit or area.
    pub fn lines(&self) -> usize {
        self.counts.len()
    }

    /// The published count of a unit or area.
    pub fn of(&self, name: &str) -> Option<f64> {
        self.counts.get(name).map(|(count, _)| *count)
    }

    /// The message about counts that belong to none of the given units or areas. A code without its leading zero is
    /// refused.
    pub fn held_against<'a>(&self, names: impl Iterator<Item = &'a str>) -> Result<Option<String>> {
        let known: std::collections::HashSet<&str> = names.collect();
        let written = |name: &String| self.written.get(name).unwrap_or(name).clone();
        let mut keys = Keys { file: self.file.clone(), all: self.counts.len(), ..Keys::default() };
        let mut lost: Vec<(&String, u64)> = self
            .counts
            .iter()
            .filter(|(name, _)| !known.contains(name.as_str()))
            .map(|(n, (_, at))| (n, *at))
            .collect();
        lost.sort_by_key(|(_, line)| *line);
        for (name, line) in lost {
            let likely = format!("0{name}");
            if known.contains(likely.as_str()) {
                let why = format!("{:?} lacks its leading zero: {likely} is likely", written(name));
                return Err(Error::DataFile { file: self.file.clone(), line: line as usize, column: 0, why });
            }
            keys.lost.push((line, written(name)));
        }
        keys.judged("published counts", "belong to no unit or area that was estimated")
    }
}

/// The differences between two files of estimates, over the rows that both have.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The number of rows that both have.
    pub rows: usize,
    /// The number of rows that only the first has, and of those that only the second has.
    pub alone: (usize, usize),
    /// Rows that both files declare exact but with different numbers.
    pub different_exact: usize,
    /// (a - b) / standard deviation of b, ascending, if that is not zero.
    pub scores: Vec<f64>,
    /// The standard deviation of a over that of b, ascending, if that is not zero.
    pub ratios: Vec<f64>,
    /// The row with the largest difference in standard deviations: its key, both estimates.
    pub largest: Option<(String, f64, f64)>,
}

/// The quantile of ascending numbers, by linear interpolation; `None` if there are none.
pub fn quantile(ascending: &[f64], level: f64) -> Option<f64> {
    let place = level * ascending.len().checked_sub(1)? as f64;
    let (low, high) = (place.floor() as usize, place.ceil() as usize);
    Some(ascending[low] + (ascending[high] - ascending[low]) * (place - place.floor()))
}

/// Compares two files of estimates in any of the text forms.
pub fn compare(first: &Path, second: &Path) -> Result<Comparison> {
    let mut known: HashMap<String, (f64, f64)> = HashMap::new();
    read_estimates(second, |key, own| known.insert(key, own).is_none())?;
    let total = known.len();
    let mut found = Comparison {
        rows: 0,
        alone: (0, 0),
        different_exact: 0,
        scores: Vec::new(),
        ratios: Vec::new(),
        largest: None,
    };
    let mut most = -1.0;
    let mut seen = std::collections::HashSet::new();
    read_estimates(first, |key, (estimate, deviation)| {
        if !seen.insert(key.clone()) {
            return false;
        }
        let Some((other, other_deviation)) = known.get(&key).copied() else {
            found.alone.0 += 1;
            return true;
        };
        found.rows += 1;
        if other_deviation == 0.0 {
            found.different_exact += usize::from((estimate - other).abs() > 1e-6 * other.abs().max(1.0));
            return true;
        }
        let score = (estimate - other) / other_deviation;
        found.scores.push(score);
        found.ratios.push(deviation / other_deviation);
        if score.abs() > most {
            most = score.abs();
            found.largest = Some((key, estimate, other));
        }
        true
    })?;
    found.alone.1 = total - found.rows;
    if found.rows == 0 {
        let why = format!("no row of the same area, query and cell as in {}", second.display());
        return Err(file_error(first, why));
    }
    found.scores.sort_by(f64::total_cmp);
    found.ratios.sort_by(f64::total_cmp);
    Ok(found)
}

/// The rows of a file, or of all files of a folder in the form of the Bureau's own estimates
/// (`us/Tract/State=44/County=003/.../part-*.csv`, with a header in each, and empty files of other names beside them).
/// A row has a key of unit or area, query and cell, with estimate and standard deviation. `each` returns whether the
/// key is new.
fn read_estimates(path: &Path, mut each: impl FnMut(String, (f64, f64)) -> bool) -> Result<()> {
    if !path.is_dir() {
        return read_file(path, &mut each);
    }
    let mut files = Vec::new();
    collect(path, &mut files)?;
    if files.is_empty() {
        return Err(file_error(path, "no file of estimates in the folder: expected part-*.csv in it or below it"));
    }
    files.iter().try_for_each(|file| read_file(file, &mut each))
}

/// The files of estimates in a folder and its subfolders, by name. Names that begin with `_` or a dot are skipped.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let wrong = |why: std::io::Error| file_error(folder, why);
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(wrong)? {
        entries.push(entry.map_err(wrong)?.path());
    }
    entries.sort();
    for entry in entries {
        let name = entry.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_estimates = name.ends_with(".csv") || (name.starts_with("part-") && !name.contains('.'));
        match entry.is_dir() {
            _ if name.starts_with(['_', '.']) => {}
            true => collect(&entry, files)?,
            false if is_estimates => files.push(entry),
            false => {
                let why = "is no file of estimates: expected part-*.csv, beside what begins with _ or a dot";
                return Err(file_error(&entry, why));
            }
        }
    }
    Ok(())
}

fn read_file(path: &Path, each: &mut impl FnMut(String, (f64, f64)) -> bool) -> Result<()> {
    let mut table = CsvTable::open(path)?;
    if table.find(&["variable"]).is_some() {
        return read_variables(&mut table, each);
    }
    let of = table.column(&["geocode", "area"])?;
    let query = table.column(&["query"])?;
    let estimate = match table.find_start("estimate (") {
        Some(at) => at,
        None => table.column(&[ESTIMATE])?,
    };
    let deviation = table.column(&["std_dev"])?;
    let key = [table.find(&["level"]), Some(of), Some(query), table.find(&["cell"])];
    read_rows(&mut table, &key, estimate, (deviation, 1.0), each)
}

/// Estimates of census variables, in long form: the standard deviation follows from the first margin.
fn read_variables(table: &mut CsvTable, each: &mut impl FnMut(String, (f64, f64)) -> bool) -> Result<()> {
    let (of, variable) = (table.column(&["GEOID"])?, table.column(&["variable"])?);
    let estimate = match table.find_start("estimate (") {
        Some(at) => at,
        None => table.column(&[ESTIMATE])?,
    };
    let margin = table.find_start("moe_").map_or_else(|| table.column(&["moe_95"]), Ok)?;
    let level: Confidence = table.headings()[margin].trim_start_matches("moe_").parse()?;
    let key = [table.find(&["level"]), Some(of), table.find(&["geocode"]), Some(variable)];
    read_rows(table, &key, estimate, (margin, level.quantile()), each)
}

/// Rows with these columns as key, the column of the estimate, and that of a number of standard deviations.
fn read_rows(
    table: &mut CsvTable,
    key: &[Option<usize>],
    estimate: usize,
    (deviation, number): (usize, f64),
    each: &mut impl FnMut(String, (f64, f64)) -> bool,
) -> Result<()> {
    while table.next()? {
        let both = (table.double(estimate)?, table.double(deviation)? / number);
        if both.1 < 0.0 {
            return Err(table.refuse(deviation + 1, "a standard deviation below 0"));
        }
        let key = key.iter().flatten().map(|at| table.text(*at)).collect::<Result<Vec<_>>>()?.join(" ");
        if !each(key.clone(), both) {
            return Err(table.refuse(0, &format!("the row of {key} occurs twice")));
        }
    }
    Ok(())
}
