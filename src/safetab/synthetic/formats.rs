//! The formats of synthetic records, by the name of the file: text, text compressed by gzip (`.gz`), and Parquet (`.parquet`).

use std::{io::Write, path::Path, sync::Arc};

use flate2::{Compression as Level, write::GzEncoder};
use parquet::{
    basic::Compression,
    data_type::{ByteArray, ByteArrayType},
    errors::ParquetError,
    file::{properties::WriterProperties, writer::SerializedFileWriter},
    schema::parser::parse_message_type,
};

use crate::{
    error::Result,
    io::files::{file_error, write_whole},
};

/// A callback for parts of whole lines.
pub(super) type Give<'a> = &'a mut dyn FnMut(&[Vec<u8>]) -> Result<()>;

/// Writes the lines that `fill` provides, below their headings, completely or not at all.
pub(super) fn write_lines(path: &Path, headings: &[&str], fill: impl FnOnce(Give) -> Result<()>) -> Result<()> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    write_whole(path, |out| match extension {
        Some("parquet") => write_parquet(path, out, headings, fill),
        Some("gz") => {
            let mut packed = GzEncoder::new(out, Level::fast());
            write_text(path, &mut packed, headings, fill)?;
            packed.finish().map(drop).map_err(|why| file_error(path, why))
        }
        _ => write_text(path, out, headings, fill),
    })
}

fn write_text(
    path: &Path,
    out: &mut dyn Write,
    headings: &[&str],
    fill: impl FnOnce(Give) -> Result<()>,
) -> Result<()> {
    writeln!(out, "{}", headings.join("|")).map_err(|why| file_error(path, why))?;
    fill(&mut |parts| parts.iter().try_for_each(|part| out.write_all(part)).map_err(|why| file_error(path, why)))
}

/// Every column is text, because codes may begin with 0.
fn write_parquet(
    path: &Path,
    out: &mut (dyn Write + Send),
    headings: &[&str],
    fill: impl FnOnce(Give) -> Result<()>,
) -> Result<()> {
    let wrong = |why: ParquetError| file_error(path, why);
    let columns: String = headings.iter().map(|name| format!("required binary {name} (UTF8); ")).collect();
    let schema = parse_message_type(&format!("message records {{ {columns}}}")).map_err(wrong)?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut file = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties)).map_err(wrong)?;
    fill(&mut |parts| put_rows(&mut file, parts, headings.len()).map_err(wrong))?;
    file.close().map(drop).map_err(wrong)
}

/// Writes lines with this number of fields as a row group.
fn put_rows<W: Write + Send>(
    file: &mut SerializedFileWriter<W>,
    parts: &[Vec<u8>],
    columns: usize,
) -> std::result::Result<(), ParquetError> {
    let mut rows = file.next_row_group()?;
    // The end of each field: a bar or the end of its line.
    let ends: Vec<Vec<usize>> = parts.iter().map(|part| memchr::memchr2_iter(b'|', b'\n', part).collect()).collect();
    let parts: Vec<ByteArray> = parts.iter().map(|part| ByteArray::from(part.clone())).collect();
    let mut values = Vec::new();
    for column in 0..columns {
        values.clear();
        for (part, ends) in parts.iter().zip(&ends) {
            values.extend((column..ends.len()).step_by(columns).map(|place| {
                let from = if place == 0 { 0 } else { ends[place - 1] + 1 };
                part.slice(from, ends[place] - from)
            }));
        }
        let mut writer = rows.next_column()?.ok_or_else(|| ParquetError::General("too few columns".to_string()))?;
        writer.typed::<ByteArrayType>().write_batch(&values, None, None)?;
        writer.close()?;
    }
    rows.close().map(drop)
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Read};

    use flate2::read::MultiGzDecoder;
    use parquet::{
        file::reader::{FileReader, SerializedFileReader},
        record::RowAccessor,
    };

    use super::*;

    /// Three parts with fields of different lengths, and an empty one.
    fn fill(give: Give) -> Result<()> {
        for group in 0..3 {
            let lines = |part: usize| -> Vec<u8> {
                (0..50 * part)
                    .flat_map(|line| format!("{group}|{}|x{}\n", "7".repeat(line % 5), line * part).into_bytes())
                    .collect()
            };
            give(&[lines(1), lines(0), lines(2)])?;
        }
        Ok(())
    }

    #[test]
    fn every_format_holds_the_same_records() {
        let folder = tempfile::tempdir().unwrap();
        let [text, packed, parquet] = ["r.txt", "r.txt.gz", "r.parquet"].map(|name| folder.path().join(name));
        for path in [&text, &packed, &parquet] {
            write_lines(path, &["A", "B", "C"], fill).unwrap();
        }
        let expected = fs::read_to_string(text).unwrap();
        assert_eq!(expected.lines().count(), 1 + 3 * 150);
        let mut unpacked = String::new();
        MultiGzDecoder::new(fs::File::open(packed).unwrap()).read_to_string(&mut unpacked).unwrap();
        assert_eq!(unpacked, expected);
        let reader = SerializedFileReader::new(fs::File::open(parquet).unwrap()).unwrap();
        assert_eq!(reader.num_row_groups(), 3);
        let mut rows = "A|B|C\n".to_string();
        for row in reader.get_row_iter(None).unwrap() {
            let row = row.unwrap();
            let fields: Vec<&str> = (0..3).map(|column| row.get_string(column).unwrap().as_str()).collect();
            rows += &(fields.join("|") + "\n");
        }
        assert_eq!(rows, expected);
    }
}
