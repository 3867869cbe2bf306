use parquet::{
    data_type::{ByteArray, ByteArrayType},
    record::RowAccessor,
    schema::parser::parse_message_type,
};

use super::*;
use crate::numeric::rational::parse;

/// Two row groups of three rows: a name, a count of 64 bits, an optional one of 32.
fn example(path: &Path, unsigned: bool, with_null: bool) {
    let other = if unsigned { "optional int32 few (UINT_32);" } else { "optional int32 few;" };
    let message = format!("message table {{ required binary name (UTF8); required int64 count; {other} }}");
    let schema = Arc::new(parse_message_type(&message).unwrap());
    let mut writer = SerializedFileWriter::new(File::create(path).unwrap(), schema, Arc::default()).unwrap();
    for group in 0..2 {
        let mut rows = writer.next_row_group().unwrap();
        let names: Vec<ByteArray> = (0..3).map(|row| ByteArray::from(format!("{group}{row}").as_str())).collect();
        write::<ByteArrayType, _>(&mut rows, &names, &[]).unwrap();
        write::<Int64Type, _>(&mut rows, &[1_000_000 * (group + 1), 20, 30], &[]).unwrap();
        let definitions = if with_null { [1, 0, 1] } else { [1, 1, 1] };
        let few: &[i32] = if with_null { &[7, 9] } else { &[7, 8, 9] };
        write::<Int32Type, _>(&mut rows, few, &definitions).unwrap();
        rows.close().unwrap();
    }
    writer.close().unwrap();
}

fn run(path: &Path, columns: &[&str], epsilon: &str, streams: &mut Streams) -> Result<Vec<u8>> {
    let sampler = Sampler::discrete_laplace(parse(epsilon).unwrap()).unwrap();
    let columns: Vec<String> = columns.iter().map(ToString::to_string).collect();
    let mut out = Vec::new();
    let table = ParquetNoise::open(path, &columns, TableOptions::default())?;
    let done = table.run(streams, &sampler, &mut out, Path::new("out"), &mut |_, _| {})?;
    assert_eq!(done.rows, 6);
    Ok(out)
}

fn rows(path: &Path) -> Vec<(String, i64, i64)> {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let all = reader.get_row_iter(None).unwrap().map(|row| row.unwrap());
    all.map(|row| (row.get_string(0).unwrap().clone(), row.get_long(1).unwrap(), i64::from(row.get_int(2).unwrap())))
        .collect()
}

#[test]
fn noisy_columns_are_written_anew_and_the_others_are_copied() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in.parquet"), folder.path().join("out.parquet"));
    example(&input, false, false);
    // Noise that is zero for all practical purposes.
    let out = run(&input, &["few", "count"], "100", &mut Streams::from_system().unwrap()).unwrap();
    std::fs::write(&output, out).unwrap();
    assert_eq!(rows(&input), rows(&output));
    assert_eq!((rows(&output)[3].0.as_str(), rows(&output)[3].1), ("10", 2_000_000));
    // The true extremes are not in the output.
    let out = run(&input, &["count"], "1/1000", &mut Streams::with_insecure_seed(7)).unwrap();
    std::fs::write(&output, out).unwrap();
    let reader = SerializedFileReader::new(File::open(&output).unwrap()).unwrap();
    let names: Vec<&str> = reader.metadata().file_metadata().schema().get_fields().iter().map(|f| f.name()).collect();
    assert_eq!(names, ["name", "count (insecure seed 7)", "few"]);
    let noisy = rows(&output);
    for (group, part) in noisy.chunks(3).enumerate() {
        let said = reader.metadata().row_group(group).column(1).statistics().unwrap().clone();
        let parquet::file::statistics::Statistics::Int64(said) = said else { panic!("not of 64 bits") };
        let most = part.iter().map(|row| row.1).max();
        assert_eq!(said.max_opt().copied(), most);
        assert_ne!(most, Some(1_000_000 * (group as i64 + 1)));
    }
    assert!(noisy.iter().zip(rows(&input)).all(|(noisy, given)| (&noisy.0, noisy.2) == (&given.0, given.2)));
    let again = run(&input, &["count"], "1/1000", &mut Streams::with_insecure_seed(7)).unwrap();
    assert_eq!(std::fs::read(&output).unwrap(), again);
}

/// A file of these columns with metadata, as other programs write it.
fn write_with(path: &Path, message: &str, columns: impl Fn(&mut SerializedRowGroupWriter<'_, File>)) {
    let pair = |key: &str| KeyValue::new(key.to_string(), Some("true_total: 1000050".to_string()));
    let all = ["pandas", "PANDAS_ATTRS", "geo", "ARROW:schema"].map(pair).to_vec();
    let properties = WriterProperties::builder().set_key_value_metadata(Some(all)).build();
    let schema = Arc::new(parse_message_type(message).unwrap());
    let mut writer = SerializedFileWriter::new(File::create(path).unwrap(), schema, Arc::new(properties)).unwrap();
    let mut rows = writer.next_row_group().unwrap();
    columns(&mut rows);
    rows.close().unwrap();
    writer.close().unwrap();
}

fn noisy(path: &Path, keep_metadata: bool, seed: Option<u64>) -> Result<(TableDone, Vec<u8>)> {
    let sampler = Sampler::discrete_laplace(parse("1/1000").unwrap()).unwrap();
    let columns = ["count".to_string()];
    let mut streams = seed.map_or_else(|| Streams::from_system().unwrap(), Streams::with_insecure_seed);
    let (mut out, options) = (Vec::new(), TableOptions { keep_metadata, ..TableOptions::default() });
    let table = ParquetNoise::open(path, &columns, options)?;
    let done = table.run(&mut streams, &sampler, &mut out, Path::new("out"), &mut |_, _| {})?;
    Ok((done, out))
}

#[test]
fn metadata_are_left_out_unless_they_are_requested() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.parquet");
    write_with(&path, "message t { required int64 count; }", |rows| {
        write::<Int64Type, _>(rows, &[1_000_000, 20, 30], &[]).unwrap();
    });
    let has = |out: &[u8], text: &[u8]| out.windows(text.len()).any(|window| window == text);
    let (done, out) = noisy(&path, false, None).unwrap();
    assert!(!has(&out, b"true_total") && !has(&out, b"PANDAS_ATTRS"));
    assert_eq!((done.kept_metadata.len(), &done.dropped_metadata[1][..]), (0, "PANDAS_ATTRS"));
    let (done, out) = noisy(&path, true, None).unwrap();
    assert!(has(&out, b"true_total"));
    assert_eq!((done.kept_metadata.len(), done.dropped_metadata.len()), (4, 0));
    // Schemas of other programs do not fit renamed columns.
    let (done, _) = noisy(&path, true, Some(1)).unwrap();
    assert_eq!(done.kept_metadata, ["PANDAS_ATTRS", "geo"]);
}

#[test]
fn only_values_are_copied() {
    let folder = tempfile::tempdir().unwrap();
    let (path, output) = (folder.path().join("in.parquet"), folder.path().join("out.parquet"));
    let message = "message t { optional group a (LIST) { repeated group list { optional int32 element; } }
        optional binary name (UTF8); required int64 count; required fixed_len_byte_array(3) code; required boolean flag;
        optional double share; }";
    write_with(&path, message, |rows| {
        let mut column = rows.next_column().unwrap().unwrap();
        // [1, null], [], null.
        column.typed::<Int32Type>().write_batch(&[1], Some(&[3, 2, 1, 0]), Some(&[0, 1, 0, 0])).unwrap();
        column.close().unwrap();
        write::<ByteArrayType, _>(rows, &[ByteArray::from("x"), ByteArray::from("y")], &[1, 0, 1]).unwrap();
        write::<Int64Type, _>(rows, &[1_000_000, 20, 30], &[]).unwrap();
        let codes = ["001", "002", "003"].map(|code| ByteArray::from(code).into());
        write::<FixedLenByteArrayType, _>(rows, &codes, &[]).unwrap();
        write::<BoolType, _>(rows, &[true, false, true], &[]).unwrap();
        write::<DoubleType, _>(rows, &[0.5], &[0, 1, 0]).unwrap();
    });
    std::fs::write(&output, noisy(&path, false, None).unwrap().1).unwrap();
    let rows = |path: &Path| {
        let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
        let all = reader.get_row_iter(None).unwrap().map(|row| row.unwrap());
        all.map(|row| {
            let cells = row.get_column_iter().filter(|(name, _)| *name != "count");
            cells.map(|(name, cell)| format!("{name}={cell}")).collect::<Vec<_>>()
        })
        .collect::<Vec<_>>()
    };
    assert_eq!(rows(&path), rows(&output));
    assert_eq!(rows(&output)[0], ["a=[1, null]", "name=\"x\"", "code=[48, 48, 49]", "flag=true", "share=null"]);
}

#[test]
fn two_columns_of_one_name_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.parquet");
    for message in
        ["required int64 count; required int64 count;", "required int64 x; required int64 count; required int64 x;"]
    {
        write_with(&path, &format!("message t {{ {message} }}"), |rows| {
            for _ in message.matches(';') {
                write::<Int64Type, _>(rows, &[1, 2], &[]).unwrap();
            }
        });
        let said = noisy(&path, false, None).unwrap_err().to_string();
        assert!(said.contains("a second column named"), "{said}");
    }
}

#[test]
fn columns_that_cannot_hold_noisy_counts_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.parquet");
    let refused = |columns: &[&str], epsilon: &str| {
        run(&path, columns, epsilon, &mut Streams::with_insecure_seed(1)).unwrap_err().to_string()
    };
    example(&path, true, false);
    assert!(refused(&["few"], "1").contains("signed"), "{}", refused(&["few"], "1"));
    assert!(refused(&["name"], "1").contains("BYTE_ARRAY"));
    assert!(refused(&["counts"], "1").contains("did you mean \"count\""));
    example(&path, false, true);
    assert!(refused(&["few"], "1").contains("row 2 of row group 0, is null"));
    example(&path, false, false);
    assert!(refused(&["few"], "1e-9").contains("32-bit"), "{}", refused(&["few"], "1e-9"));
    std::fs::write(&path, "no parquet").unwrap();
    assert!(refused(&["count"], "1").contains("in.parquet"));
}
