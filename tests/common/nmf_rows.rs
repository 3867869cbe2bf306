//! Files of noisy measurements, row by row, as the Bureau's have them.

// Each test takes what it needs.
#![allow(dead_code)]

use std::{fs, path::Path, sync::Arc};

use dp_assay::{
    noise::DiscreteGaussian,
    release::schema::{Kept, Schema},
};
use parquet::{
    data_type::{ByteArray, ByteArrayType, DataType, FloatType, Int32Type},
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
    /// The answer to a query whose treatment of the attributes is `described`.
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

/// How a query treats each attribute, and how many groups that makes.
pub fn described(schema: &Schema, name: &str) -> (Vec<String>, Vec<i32>) {
    let each = schema.keeps(name).unwrap().into_iter().zip(&schema.attributes);
    each.map(|(kept, attribute)| match kept {
        None => ("*".to_string(), 1),
        Some(Kept::Whole) => ("detailed".to_string(), attribute.values.len() as i32),
        Some(Kept::Recode(recode)) => (schema.recodes[recode].name.clone(), schema.recodes[recode].groups.len() as i32),
    })
    .unzip()
}

/// The variance of discrete Gaussian noise, as files have it.
pub fn variance(sigma2: &Rational) -> f32 {
    DiscreteGaussian::new(sigma2.clone()).unwrap().variance(12).approximate() as f32
}

/// Writes a file with these rows, whose attributes have these names; the folder is made.
pub fn write(path: &Path, axes: &[&str], rows: &[Row]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let texts: String = ["geocode", "query_name", "sign"]
        .iter()
        .chain(axes)
        .map(|name| format!("optional binary {name} (UTF8); "))
        .collect();
    let list =
        |name: &str| format!("optional group {name} (LIST) {{ repeated group list {{ optional int32 element; }} }} ");
    let message = format!("message nmf {{ {texts}{}{}optional float variance; }}", list("query_shape"), list("value"));
    let schema = Arc::new(parse_message_type(&message).unwrap());
    let properties = Arc::new(WriterProperties::builder().build());
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
    for of in lists {
        let values: Vec<i32> = rows.iter().flat_map(|row| of(row).iter().copied()).collect();
        let repetitions: Vec<i16> =
            rows.iter().flat_map(|row| (0..of(row).len()).map(|at| i16::from(at > 0))).collect();
        put::<Int32Type>(&mut group, &values, &vec![3; values.len()], Some(&repetitions));
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
