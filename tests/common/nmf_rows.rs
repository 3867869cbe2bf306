//! Files of noisy measurements, row by row, in the Bureau's form.

// Each test uses only a part.
#![allow(dead_code)]

use std::{fs, path::Path, sync::Arc};

use dp_assay::{
    noise::DiscreteGaussian,
    release::schema::{Kept, Schema},
};
use parquet::{
    basic::Compression,
    data_type::{ByteArray, ByteArrayType, DataType, FloatType, Int32Type, Int64Type},
    file::{
        properties::WriterProperties,
        writer::{SerializedFileWriter, SerializedRowGroupWriter},
    },
    schema::parser::parse_message_type,
};
use rug::Rational;

/// A row of a query (`sign` empty) or a constraint.
pub struct Row {
    pub code: String,
    pub name: String,
    pub sign: &'static str,
    pub axes: Vec<String>,
    pub shape: Vec<i32>,
    pub values: Vec<i32>,
    pub variance: f32,
}

impl Row {
    /// The answer to a query whose description of the attributes is `described`.
    pub fn query(code: &str, query: &str, described: (Vec<String>, Vec<i32>), values: Vec<i32>, variance: f32) -> Row {
        let (axes, shape) = described;
        Row { code: code.to_string(), name: format!("{query}_dpq"), sign: "", axes, shape, values, variance }
    }

    /// A constraint.
    pub fn constraint(
        code: &str,
        name: &str,
        sign: &'static str,
        axes: &[&str],
        shape: &[i32],
        values: Vec<i32>,
    ) -> Row {
        Row {
            code: code.to_string(),
            name: format!("{name}_con"),
            sign,
            axes: axes.iter().map(ToString::to_string).collect(),
            shape: shape.to_vec(),
            values,
            variance: 0.0,
        }
    }
}

/// How a query groups each attribute, and the number of groups.
pub fn described(schema: &Schema, name: &str) -> (Vec<String>, Vec<i32>) {
    let each = schema.keeps(name).unwrap().into_iter().zip(&schema.attributes);
    each.map(|(kept, attribute)| match kept {
        None => ("*".to_string(), 1),
        Some(Kept::Whole) => ("detailed".to_string(), attribute.values.len() as i32),
        Some(Kept::Recode(recode)) => (schema.recodes[recode].name.clone(), schema.recodes[recode].groups.len() as i32),
    })
    .unzip()
}

/// The variance of discrete Gaussian noise, as stored in files.
pub fn variance(sigma2: &Rational) -> f32 {
    DiscreteGaussian::new(sigma2.clone()).unwrap().variance(12).approximate() as f32
}

/// How the values of a file are stored.
pub enum Stored {
    /// As integers of 32 bits.
    Plain,
    /// As integers of 64 bits with this logical type, multiplied by a factor.
    Wide(&'static str, i64),
}

/// Writes a file with these rows and attribute names; creates its folder.
pub fn write(path: &Path, axes: &[&str], rows: &[Row]) {
    write_as(path, axes, rows, &Stored::Plain, Compression::UNCOMPRESSED);
}

/// The rows of a file with these attribute names.
pub fn read(path: &Path, axes: &[&str]) -> Vec<Row> {
    let names: Vec<String> = axes.iter().map(ToString::to_string).collect();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let mut rows = Vec::new();
    dp_assay::topdown::nmf::rows::read(path, &names, |row| {
        rows.push(Row {
            code: text(row.geocode),
            name: text(row.name),
            sign: match row.sign {
                b"=" => "=",
                b"<=" => "<=",
                b">=" => ">=",
                _ => "",
            },
            axes: row.axes.iter().map(|axis| text(axis.data())).collect(),
            shape: row.shape.iter().map(|groups| *groups as i32).collect(),
            values: row.values.iter().map(|value| *value as i32).collect(),
            variance: row.variance as f32,
        });
        Ok(())
    })
    .unwrap();
    rows
}

/// Modifies the rows of a file.
pub fn change(path: &Path, axes: &[&str], mut change: impl FnMut(&mut Row)) {
    let mut rows = read(path, axes);
    rows.iter_mut().for_each(&mut change);
    write(path, axes, &rows);
}

/// The same as `write` with another type or another codec.
pub fn write_as(path: &Path, axes: &[&str], rows: &[Row], stored: &Stored, codec: Compression) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let texts: String = ["geocode", "query_name", "sign"]
        .iter()
        .chain(axes)
        .map(|name| format!("optional binary {name} (UTF8); "))
        .collect();
    let list = |name: &str, element: &str| {
        format!("optional group {name} (LIST) {{ repeated group list {{ optional {element}; }} }} ")
    };
    let element = match stored {
        Stored::Plain => "int32 element".to_string(),
        Stored::Wide(logical, _) => format!("int64 element {logical}"),
    };
    let (shape, value) = (list("query_shape", "int32 element"), list("value", &element));
    let message = format!("message nmf {{ {texts}{shape}{value}optional float variance; }}");
    let schema = Arc::new(parse_message_type(&message).unwrap());
    let properties = Arc::new(WriterProperties::builder().set_compression(codec).build());
    let mut writer = SerializedFileWriter::new(fs::File::create(path).unwrap(), schema, properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let there = vec![1_i16; rows.len()];
    let mut text = |of: &dyn Fn(&Row) -> &str| {
        let values: Vec<ByteArray> = rows.iter().map(|row| ByteArray::from(of(row))).collect();
        put::<ByteArrayType>(&mut group, &values, &there, None);
    };
    text(&|row| &row.code);
    text(&|row| &row.name);
    text(&|row| row.sign);
    (0..axes.len()).for_each(|axis| text(&|row| &row.axes[axis]));
    let lists: [fn(&Row) -> &Vec<i32>; 2] = [|row| &row.shape, |row| &row.values];
    for (at, of) in lists.into_iter().enumerate() {
        let values: Vec<i32> = rows.iter().flat_map(|row| of(row).iter().copied()).collect();
        let repetitions: Vec<i16> =
            rows.iter().flat_map(|row| (0..of(row).len()).map(|at| i16::from(at > 0))).collect();
        let definitions = vec![3; values.len()];
        match stored {
            Stored::Wide(_, factor) if at == 1 => {
                let values: Vec<i64> = values.iter().map(|value| i64::from(*value) * factor).collect();
                put::<Int64Type>(&mut group, &values, &definitions, Some(&repetitions));
            }
            _ => put::<Int32Type>(&mut group, &values, &definitions, Some(&repetitions)),
        }
    }
    let variances: Vec<f32> = rows.iter().map(|row| row.variance).collect();
    put::<FloatType>(&mut group, &variances, &there, None);
    group.close().unwrap();
    writer.close().unwrap();
}

fn put<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, fs::File>,
    values: &[T::T],
    definitions: &[i16],
    repetitions: Option<&[i16]>,
) {
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(values, Some(definitions), repetitions).unwrap();
    column.close().unwrap();
}
