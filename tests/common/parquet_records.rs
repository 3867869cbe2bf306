//! Text records converted to Parquet.

use std::{fs::File, path::Path, sync::Arc};

use parquet::{
    data_type::{ByteArray, ByteArrayType},
    file::{properties::WriterProperties, writer::SerializedFileWriter},
    schema::parser::parse_message_type,
};

/// Writes text rows with headings as Parquet, `group` rows to a row group. Columns are sorted by name and mixed with others, and in every
/// other one Null is a null value.
pub fn write(path: &Path, text: &str, group: usize) {
    let mut lines = text.lines();
    let headings: Vec<&str> = lines.next().unwrap().split('|').collect();
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split('|').collect()).collect();
    let mut order: Vec<usize> = (0..headings.len()).collect();
    order.sort_by_key(|column| headings[*column]);
    let nullable = |column: usize| column.is_multiple_of(2);
    let columns: String = order
        .iter()
        .map(|&column| {
            let kind = if nullable(column) { "optional" } else { "required" };
            format!("required int32 other_{column}; {kind} binary {} (UTF8); ", headings[column])
        })
        .collect();
    let schema = parse_message_type(&format!("message records {{ {columns} }}")).unwrap();
    let properties = WriterProperties::builder().build();
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties)).unwrap();
    for rows in rows.chunks(group) {
        let mut out = writer.next_row_group().unwrap();
        for &column in &order {
            let mut other = out.next_column().unwrap().unwrap();
            other.typed::<parquet::data_type::Int32Type>().write_batch(&vec![7; rows.len()], None, None).unwrap();
            other.close().unwrap();
            let is_there = |value: &&str| !nullable(column) || *value != "Null";
            let values: Vec<&str> = rows.iter().map(|row| row[column]).collect();
            let there: Vec<i16> = values.iter().map(|value| i16::from(is_there(value))).collect();
            let values: Vec<ByteArray> = values.into_iter().filter(is_there).map(ByteArray::from).collect();
            let mut own = out.next_column().unwrap().unwrap();
            own.typed::<ByteArrayType>().write_batch(&values, nullable(column).then_some(&there[..]), None).unwrap();
            own.close().unwrap();
        }
        out.close().unwrap();
    }
    writer.close().unwrap();
}
