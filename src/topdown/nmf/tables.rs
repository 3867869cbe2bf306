//! Files of estimates: CSV, Parquet, and the form of the Bureau's own estimates; and the comparison of two of them.

mod comparison;
mod published;

use std::{io::Write, path::Path, sync::Arc};

use parquet::{
    basic::{Compression, LogicalType, Repetition, Type as Physical},
    data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type},
    file::{properties::WriterProperties, writer::SerializedFileWriter},
    schema::types::Type,
};

use comparison::ESTIMATE;
pub use comparison::{Comparison, compare, quantile};
pub(super) use published::GEOIDS;
pub use published::Published;

use super::{
    answers::{Answer, Answers, QUANTILE, Subject},
    survey::{Survey, Take},
};
use crate::{
    error::Result,
    io::files::{file_error, write_whole},
    spine::csv_table::quoted,
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
