//! Files of estimates: CSV, Parquet, and the form of the Bureau's own estimates; and how two of them differ.

use std::{
    collections::HashMap,
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
};

use parquet::{
    basic::Compression,
    data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type},
    file::{properties::WriterProperties, writer::SerializedFileWriter},
    schema::{parser::parse_message_type, types::Type},
};

use super::{
    answers::{Answer, Answers, QUANTILE, Subject},
    survey::{Survey, Take},
};
use crate::{
    error::{Error, Result},
    files::{file_error, write_whole},
    spine::csv_table::{CsvTable, quoted},
};

/// How estimates are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// CSV: `level,geocode,geoid,query,cell,estimate,variance,std_dev,margin_95`, or `area` in place of the first three.
    Csv,
    /// The same columns as Parquet.
    Parquet,
    /// `geocode|query|estimate|std_dev|query_description`, as the Bureau's own estimates.
    Bureau,
    /// CSV of whole counts, those that are not zero: `level,geocode,geoid,query,cell,count`.
    Whole,
}

/// Writes the answers of a survey, whole or not at all; says how many rows there are. `run` gives the answers, and `see` sees them, too.
pub fn write(
    survey: &Survey,
    form: Form,
    with_areas: bool,
    path: &Path,
    mut see: impl FnMut(&Subject, &[Answer]),
    run: &mut Run,
) -> Result<u64> {
    write_whole(path, |out| match form {
        Form::Parquet => write_parquet(survey, with_areas, path, out, &mut see, run),
        Form::Csv | Form::Bureau | Form::Whole => write_text(survey, form, with_areas, path, out, &mut see, run),
    })
}

/// Hands on all answers, in order.
pub type Run<'r> = dyn FnMut(&mut Take) -> Result<()> + 'r;

type See<'s> = dyn FnMut(&Subject, &[Answer]) + 's;

fn write_text(
    survey: &Survey,
    form: Form,
    with_areas: bool,
    path: &Path,
    out: &mut dyn Write,
    see: &mut See,
    run: &mut Run,
) -> Result<u64> {
    let wrong = |why: std::io::Error| file_error(path, why);
    writeln!(out, "{}", heading(survey, form, with_areas)).map_err(wrong)?;
    let mut rows = 0;
    run(&mut |subject, answers| {
        see(&subject, &answers);
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
        // As other programs read it: what is written beside the file says where the noise can be subtracted.
        (Form::Bureau, _) => format!("geocode|query|{ESTIMATE}|std_dev|query_description"),
        (Form::Whole, _) => format!("level,geocode,geoid,query,cell,{}", marked(survey, "count")),
        (_, true) => format!("area,query,cell,{estimate},variance,std_dev,margin_95"),
        (_, false) => format!("level,geocode,geoid,query,cell,{estimate},variance,std_dev,margin_95"),
    }
}

/// The rows of a unit or area in a form of text, and how many they are.
fn rows_text(survey: &Survey, form: Form, subject: &Subject, answers: &[Answer]) -> (String, u64) {
    let names: Vec<String> = survey.answers.names().iter().map(|name| quoted(name)).collect();
    let is_written = |estimate: &&f64| form != Form::Whole || **estimate != 0.0;
    let rows = answers.iter().map(|answer| answer.estimates.iter().filter(is_written).count() as u64).sum();
    let text = match form {
        Form::Whole => whole_rows(&survey.names.levels, &names, subject, answers),
        Form::Bureau => bureau_rows(&survey.answers, subject, answers),
        Form::Csv | Form::Parquet => csv_rows(&survey.names.levels, &names, subject, answers),
    };
    (text, rows)
}

/// The heading of the estimates, which says where their noise can be subtracted.
fn estimate_heading(survey: &Survey) -> String {
    marked(survey, ESTIMATE)
}

fn marked(survey: &Survey, name: &str) -> String {
    survey.insecure_seed.map_or_else(|| name.to_string(), |seed| format!("{name} (insecure seed {seed})"))
}

const ESTIMATE: &str = "estimate";

fn about(levels: &[String], subject: &Subject) -> String {
    match subject {
        Subject::Unit { level, code, geoid } => format!("{},{code},{geoid}", quoted(&levels[*level])),
        Subject::Area(name) => quoted(name),
    }
}

fn whole_rows(levels: &[String], names: &[String], subject: &Subject, answers: &[Answer]) -> String {
    use std::fmt::Write as _;
    let first = about(levels, subject);
    let mut text = String::new();
    for answer in answers {
        for (cell, count) in answer.estimates.iter().enumerate().filter(|(_, count)| **count != 0.0) {
            let _ = writeln!(text, "{first},{},{cell},{count}", names[answer.query]);
        }
    }
    text
}

fn csv_rows(levels: &[String], names: &[String], subject: &Subject, answers: &[Answer]) -> String {
    let first = about(levels, subject);
    answer_rows(&first, names, answers)
}

/// Rows of CSV: what is answered for, the query, the cell, estimate, variance, standard deviation and margin.
pub(in crate::topdown) fn answer_rows(first: &str, names: &[String], answers: &[Answer]) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    for answer in answers {
        let name = &names[answer.query];
        for (cell, (estimate, variance)) in answer.estimates.iter().zip(&answer.variances).enumerate() {
            let deviation = variance.sqrt();
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{first},{name},{cell},{estimate},{variance},{deviation},{}", deviation * QUANTILE);
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

/// So many rows make a row group.
const GROUP: usize = 1 << 18;

/// Rows of a Parquet file that are not written yet.
#[derive(Default)]
struct Group {
    texts: [Vec<ByteArray>; 4],
    cells: Vec<i32>,
    numbers: [Vec<f64>; 4],
}

fn write_parquet(
    survey: &Survey,
    with_areas: bool,
    path: &Path,
    out: &mut (dyn Write + Send),
    see: &mut See,
    run: &mut Run,
) -> Result<u64> {
    let wrong = |why: parquet::errors::ParquetError| file_error(path, why);
    let subject = if with_areas { &["area"][..] } else { &["level", "geocode", "geoid"] };
    let texts: String =
        subject.iter().chain(&["query"]).map(|name| format!("required binary {name} (UTF8); ")).collect();
    let numbers = [ESTIMATE, "variance", "std_dev", "margin_95"].map(|name| format!("required double {name}; "));
    let message = format!("message estimates {{ {texts} required int32 cell; {} }}", numbers.concat());
    let schema = parse_message_type(&message).and_then(|schema| renamed(&schema, &estimate_heading(survey)));
    let schema = Arc::new(schema.map_err(wrong)?);
    let properties = Arc::new(WriterProperties::builder().set_compression(Compression::SNAPPY).build());
    let mut writer = SerializedFileWriter::new(out, schema, properties).map_err(wrong)?;
    let names: Vec<ByteArray> = survey.answers.names().iter().map(|name| ByteArray::from(*name)).collect();
    let (mut group, mut rows) = (Group::default(), 0);
    let count = subject.len();
    run(&mut |subject, answers| {
        see(&subject, &answers);
        let about: Vec<ByteArray> = match &subject {
            Subject::Unit { level, code, geoid } => {
                [&survey.names.levels[*level], code, geoid].map(|text| ByteArray::from(text.as_str())).to_vec()
            }
            Subject::Area(name) => vec![ByteArray::from(name.as_str())],
        };
        for answer in &answers {
            for (cell, (estimate, variance)) in answer.estimates.iter().zip(&answer.variances).enumerate() {
                for (to, text) in group.texts.iter_mut().zip(about.iter().chain([&names[answer.query]])) {
                    to.push(text.clone());
                }
                group.cells.push(cell as i32);
                let deviation = variance.sqrt();
                let numbers = [*estimate, *variance, deviation, deviation * QUANTILE];
                group.numbers.iter_mut().zip(numbers).for_each(|(to, number)| to.push(number));
                rows += 1;
            }
        }
        if group.cells.len() >= GROUP {
            put_group(&mut writer, &std::mem::take(&mut group), count + 1).map_err(wrong)?;
        }
        Ok(())
    })?;
    put_group(&mut writer, &group, count + 1).map_err(wrong)?;
    writer.close().map_err(wrong)?;
    Ok(rows)
}

/// The schema with another name of the estimates; the notation of schemas has no blanks in names.
fn renamed(schema: &Type, estimate: &str) -> std::result::Result<Type, parquet::errors::ParquetError> {
    let field = |field: &Arc<Type>| match field.name() == ESTIMATE {
        true => Type::primitive_type_builder(estimate, field.get_physical_type())
            .with_repetition(field.get_basic_info().repetition())
            .build()
            .map(Arc::new),
        false => Ok(field.clone()),
    };
    let fields = schema.get_fields().iter().map(field).collect::<std::result::Result<Vec<_>, _>>()?;
    Type::group_type_builder(schema.name()).with_fields(fields).build()
}

fn put_group<W: Write + Send>(
    writer: &mut SerializedFileWriter<W>,
    group: &Group,
    texts: usize,
) -> std::result::Result<(), parquet::errors::ParquetError> {
    let mut rows = writer.next_row_group()?;
    for column in &group.texts[..texts] {
        put_column::<ByteArrayType, W>(&mut rows, column)?;
    }
    put_column::<Int32Type, W>(&mut rows, &group.cells)?;
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

/// Reads published counts by what they are of: a CSV with the columns `geoid` (or `geocode`, `area`) and `count`.
pub fn read_published(path: &Path) -> Result<HashMap<String, f64>> {
    let mut table = CsvTable::open(path)?;
    let (of, count) = (table.column(&["geoid", "geocode", "area"])?, table.column(&["count"])?);
    let mut known = HashMap::new();
    while table.next()? {
        let name = table.name(of)?.to_string();
        let number = table.whole(count, 1 << 50)? as f64;
        if known.insert(name, number).is_some() {
            return Err(table.refuse(of + 1, &format!("{:?} occurs twice", table.shown(of))));
        }
    }
    Ok(known)
}

/// How two files of estimates differ, over the rows that both have.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// How many rows both have.
    pub rows: usize,
    /// How many rows only the first has, and only the second.
    pub alone: (usize, usize),
    /// Rows that both say are exact but have different numbers.
    pub different_exact: usize,
    /// (a - b) / standard deviation of b, ascending, where that is not zero.
    pub scores: Vec<f64>,
    /// The standard deviation of a over that of b, ascending, where that is not zero.
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

/// Compares two files of estimates in any of the forms of text.
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
        let expected = "files with rows for the same areas and queries";
        return Err(Error::out_of_range("the rows that both files have", 0, expected));
    }
    found.scores.sort_by(f64::total_cmp);
    found.ratios.sort_by(f64::total_cmp);
    Ok(found)
}

/// The rows of a file: a key of unit or area, query and cell, with estimate and standard deviation. `each` says whether the key
/// is new.
fn read_estimates(path: &Path, mut each: impl FnMut(String, (f64, f64)) -> bool) -> Result<()> {
    let path: PathBuf = path.to_path_buf();
    let mut table = CsvTable::open(&path)?;
    let of = table.column(&["geocode", "area"])?;
    let query = table.column(&["query"])?;
    let estimate = match table.find_start("estimate (insecure seed ") {
        Some(at) => at,
        None => table.column(&[ESTIMATE])?,
    };
    let deviation = table.column(&["std_dev"])?;
    let (level, cell) = (table.find(&["level"]), table.find(&["cell"]));
    while table.next()? {
        let both = (table.double(estimate)?, table.double(deviation)?);
        if both.1 < 0.0 {
            return Err(table.refuse(deviation + 1, "a standard deviation below 0"));
        }
        let parts = [level, Some(of), Some(query), cell];
        let key: Vec<&str> = parts.iter().flatten().map(|at| table.text(*at)).collect::<Result<_>>()?;
        if !each(key.join(" "), both) {
            return Err(table.refuse(0, &format!("the row of {} occurs twice", key.join(" "))));
        }
    }
    Ok(())
}
