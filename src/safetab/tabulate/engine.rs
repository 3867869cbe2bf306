//! The counting, by an embedded query engine in SQL.
//!
//! 1. Every distinct text of race and ethnicity codes is mapped once to the iterations that it belongs to; texts with the
//!    same iterations are of one class. Blocks with the same regions are of one atom.
//! 2. Persons are joined with blocks, codes and ages and counted by (atom, class, cell). What is counted is written to a
//!    temporary file, by far smaller than the records.
//! 3. For each population group level these counts are joined with the regions of the atoms and the iterations of the
//!    classes and added up by (region, iteration, cell), in ascending order.
//!
//! In a join the small table is held in memory and the records go by; codes that are too many for that are sorted, and
//! groups and sorted runs beyond the memory limit are spilled to disk. Beside the limit there are the lists of iterations,
//! some hundred bytes for each class. Sums of integers do not depend on the order of records, threads or files. All of it is
//! plain SQL over tables, as a cluster runs it.

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::Arc,
};

use datafusion::{
    arrow::{
        array::{Array, ArrayRef, AsArray, Int32Array, Int64Array, ListArray, StringArray, UInt32Array},
        buffer::OffsetBuffer,
        compute::{cast, take_record_batch},
        datatypes::{DataType, Field, Int32Type, Int64Type, Schema},
        error::ArrowError,
        record_batch::RecordBatch,
    },
    datasource::MemTable,
    error::DataFusionError,
    execution::{
        disk_manager::{DiskManagerBuilder, DiskManagerMode},
        memory_pool::FairSpillPool,
        runtime_env::RuntimeEnvBuilder,
    },
    parquet::{arrow::ArrowWriter, errors::ParquetError},
    prelude::{CsvReadOptions, DataFrame, ParquetReadOptions, SessionConfig, SessionContext},
};
use futures::StreamExt;
use tokio::runtime::{Builder, Runtime};

use crate::{
    error::{Error, Result},
    files::file_error,
    safetab::schema::HEADINGS,
};

/// Bytes that grouping and sorting may hold before they spill.
const MEMORY: usize = 1 << 30;
/// Threads at most: sorting codes takes some 10 MiB of the memory for each, whatever the number of records.
const THREADS: usize = 32;
/// Rows of a piece of a table in memory.
const PIECE: u32 = 8192;
/// Bytes that a hash table holds beside each text.
const HASHED: usize = 64;
/// A byte that no checked file holds: fields are never quoted.
const NO_QUOTE: u8 = 1;

/// An embedded query engine with tables of its own.
pub struct Engine {
    runtime: Runtime,
    context: SessionContext,
    folder: PathBuf,
    memory: usize,
}

/// Persons as files: all checked before they are counted.
#[derive(Clone, Debug, Default)]
pub struct PersonFiles {
    /// Rows of fields parted by `|` under a line of headings.
    pub text: Vec<PathBuf>,
    /// Parquet with the same columns, as text.
    pub parquet: Vec<PathBuf>,
}

/// Records that are read again are not those that were checked.
pub fn changed(how: &str) -> Error {
    let why = format!(
        "{how}: the files of persons changed after they were checked; leave them as they are while they are tabulated"
    );
    Error::Engine { why }
}

fn wrong(error: DataFusionError) -> Error {
    Error::Engine { why: error.strip_backtrace() }
}

impl Engine {
    /// An engine that spills to a folder.
    pub fn new(folder: &Path) -> Result<Self> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Engine::with_limits(folder, MEMORY, threads.min(THREADS))
    }

    fn with_limits(folder: &Path, memory: usize, threads: usize) -> Result<Self> {
        let spills = folder.join("spills");
        std::fs::create_dir(&spills).map_err(|why| file_error(&spills, why))?;
        let disk = DiskManagerBuilder::default().with_mode(DiskManagerMode::Directories(vec![spills]));
        let environment = RuntimeEnvBuilder::new()
            .with_disk_manager_builder(disk)
            .with_memory_pool(Arc::new(FairSpillPool::new(memory)))
            .build_arc()
            .map_err(wrong)?;
        let config = SessionConfig::new()
            .with_target_partitions(threads)
            // What merging sorted runs takes is set aside for each thread.
            .with_sort_spill_reservation_bytes(memory / threads / 32)
            // The left side of a join is held in memory, once for all threads, and the other side goes by. The engine does
            // not know how many records there are, so the questions say which is which.
            .with_repartition_joins(false)
            .set_bool("datafusion.optimizer.join_reordering", false)
            // Views keep all the text that they were cut from, and are counted with it.
            .set_bool("datafusion.execution.parquet.schema_force_view_types", false);
        let runtime = Builder::new_multi_thread().worker_threads(threads).build();
        let runtime = runtime.map_err(|why| Error::Engine { why: why.to_string() })?;
        let context = SessionContext::new_with_config_rt(config, environment);
        Ok(Engine { runtime, context, folder: folder.to_path_buf(), memory })
    }

    /// Makes the records of all files the table `persons`, every field as text.
    pub fn read_persons(&self, files: &PersonFiles) -> Result<()> {
        let schema = Schema::new(HEADINGS.map(|name| Field::new(name, DataType::Utf8, true)).to_vec());
        let text = CsvReadOptions::new().schema(&schema).delimiter(b'|').quote(NO_QUOTE).file_extension("");
        let read = async {
            let mut persons: Option<DataFrame> = None;
            if !files.text.is_empty() {
                persons = Some(self.context.read_csv(addresses(&files.text)?, text).await.map_err(wrong)?);
            }
            for file in &files.parquet {
                let table = self.read_parquet(file).await?;
                persons = Some(match persons {
                    None => table,
                    Some(others) => others.union(table).map_err(wrong)?,
                });
            }
            let persons = persons.ok_or_else(|| Error::Engine { why: "there is no file of persons".to_string() })?;
            self.context.register_table("persons", persons.into_view()).map_err(wrong)?;
            Ok(())
        };
        self.runtime.block_on(read)
    }

    /// A file of persons as text, with the columns in their order.
    async fn read_parquet(&self, file: &Path) -> Result<DataFrame> {
        let refused = |why: String| file_error(file, why);
        let options = ParquetReadOptions::default().file_extension("");
        let table = self.context.read_parquet(addresses(&[file.to_path_buf()])?, options).await;
        let table = table.map_err(|why| refused(why.strip_backtrace()))?;
        for name in HEADINGS {
            let found = table.schema().fields().iter().find(|field| field.name() == name);
            let Some(field) = found else {
                return Err(refused(format!("has no column {name}: needed are {}", HEADINGS.join(", "))));
            };
            let text = [DataType::Utf8, DataType::LargeUtf8, DataType::Utf8View];
            let is_text = match field.data_type() {
                DataType::Dictionary(_, value) => text.contains(value),
                other => text.contains(other),
            };
            if !is_text {
                let found = field.data_type();
                let why = format!("column {name} is of type {found}: needed is text, since codes may begin with 0");
                return Err(refused(why));
            }
        }
        let text = |name: &str| {
            table.parse_sql_expr(&format!("coalesce(CAST(\"{name}\" AS VARCHAR), 'Null') AS \"{name}\"")).map_err(wrong)
        };
        let expressions = HEADINGS.iter().map(|name| text(name)).collect::<Result<Vec<_>>>()?;
        table.select(expressions).map_err(wrong)
    }

    /// Shows every record of a Parquet file to `see`, in order: its number from 1, and its fields.
    pub fn each_record(&self, file: &Path, see: &mut dyn FnMut(u64, &[&[u8]])) -> Result<()> {
        let table = self.runtime.block_on(self.read_parquet(file))?;
        let mut number = 0;
        self.each_batch(table, &mut |batch| {
            let columns: Vec<ArrayRef> = batch
                .columns()
                .iter()
                .map(|column| cast(column, &DataType::Utf8))
                .collect::<std::result::Result<_, _>>()
                .map_err(|why| file_error(file, why))?;
            let columns: Vec<&StringArray> = columns.iter().map(|column| column.as_string::<i32>()).collect();
            let mut fields: Vec<&[u8]> = Vec::with_capacity(columns.len());
            for row in 0..batch.num_rows() {
                number += 1;
                fields.clear();
                fields.extend(columns.iter().map(|column| column.value(row).as_bytes()));
                see(number, &fields);
            }
            Ok(())
        })
    }

    /// Makes a table of columns of integers.
    pub fn register(&self, name: &str, columns: &[(&str, Vec<i32>)]) -> Result<()> {
        let columns = columns.iter().map(|(name, values)| {
            let values: ArrayRef = Arc::new(Int32Array::from(values.clone()));
            (*name, values)
        });
        self.register_batch(name, columns.collect())
    }

    /// Makes a table of the blocks and the atom of each.
    pub fn register_blocks(&self, geoids: &[u64], atoms: Vec<i32>) -> Result<()> {
        let geoids: ArrayRef = Arc::new(geoids.iter().map(|&geoid| geoid as i64).collect::<Int64Array>());
        self.register_batch("blocks", vec![("block", geoids), ("atom", Arc::new(Int32Array::from(atoms)))])
    }

    /// Makes a table of the iterations of each class.
    pub fn register_lists(&self, name: &str, lists: Vec<(i32, &[i32])>) -> Result<()> {
        let classes: ArrayRef = Arc::new(Int32Array::from_iter_values(lists.iter().map(|(class, _)| *class)));
        let lengths = OffsetBuffer::from_lengths(lists.iter().map(|(_, list)| list.len()));
        let values = Int32Array::from_iter_values(lists.iter().flat_map(|(_, list)| *list).copied());
        let field = Arc::new(Field::new_list_field(DataType::Int32, false));
        let lists = ListArray::try_new(field, lengths, Arc::new(values), None);
        let lists = lists.map_err(|why| Error::Engine { why: why.to_string() })?;
        self.register_batch(name, vec![("class", classes), ("iterations", Arc::new(lists))])
    }

    fn register_batch(&self, name: &str, columns: Vec<(&str, ArrayRef)>) -> Result<()> {
        let failed = |why: ArrowError| Error::Engine { why: why.to_string() };
        let batch = RecordBatch::try_from_iter(columns).map_err(failed)?;
        // In pieces, so that threads share it; copied, since the memory of a slice is counted as that of the whole.
        let piece = |from: u32| {
            let end = (batch.num_rows() as u32).min(from + PIECE);
            take_record_batch(&batch, &UInt32Array::from_iter_values(from..end)).map_err(failed)
        };
        let pieces = (0..batch.num_rows() as u32).step_by(PIECE as usize).map(piece).collect::<Result<_>>()?;
        let table = MemTable::try_new(batch.schema(), vec![pieces]).map_err(wrong)?;
        self.context.register_table(name, Arc::new(table)).map_err(wrong)?;
        Ok(())
    }

    /// Makes the table `classes` of the distinct texts of codes of all persons: the first `races` race codes, then the
    /// ethnicity code. `class_of` says the classes of a batch of texts.
    pub fn classify_codes(&self, races: u32, class_of: &mut dyn FnMut(&[&str]) -> Result<Vec<i32>>) -> Result<()> {
        let columns = [("codes", DataType::Utf8), ("class", DataType::Int32)];
        let mut bytes = 0;
        let sql = format!("SELECT DISTINCT {} AS codes FROM persons", codes(races));
        self.save("classes", &columns, &sql, &mut |columns| {
            let texts: Vec<&str> = columns[0].as_string::<i32>().iter().flatten().collect();
            bytes += texts.iter().map(|text| text.len() + HASHED).sum::<usize>();
            columns.push(Arc::new(Int32Array::from(class_of(&texts)?)));
            Ok(())
        })?;
        if bytes > self.memory / 4 {
            // A hash table of them all would not fit. Sorting spills.
            self.sql("SET datafusion.optimizer.repartition_joins = true")?;
            self.sql("SET datafusion.optimizer.prefer_hash_join = false")?;
        }
        Ok(())
    }

    /// Counts persons by atom, class and cell, from the tables `persons`, `blocks`, `classes` and `ages` (`key` is twice
    /// the age and the sex), into the table `tallies`. Returns how many persons were counted.
    pub fn count_persons(&self, races: u32) -> Result<i64> {
        let columns =
            [("atom", DataType::Int32), ("class", DataType::Int32), ("cell", DataType::Int32), ("n", DataType::Int64)];
        let mut counted = 0;
        self.save("tallies", &columns, &tally(races), &mut |columns| {
            if columns.iter().any(|column| column.null_count() > 0) {
                return Err(changed("a record has codes, a block or an age that none had"));
            }
            counted += columns[3].as_primitive::<Int64Type>().iter().flatten().sum::<i64>();
            Ok(())
        })?;
        Ok(counted)
    }

    /// Makes a table, kept in a file, of the answer to a question, with columns that `complete` adds to each batch.
    fn save(
        &self,
        name: &str,
        columns: &[(&str, DataType)],
        sql: &str,
        complete: &mut dyn FnMut(&mut Vec<ArrayRef>) -> Result<()>,
    ) -> Result<()> {
        let file = self.folder.join(format!("{name}.parquet"));
        let failed = |why: ParquetError| file_error(&file, why);
        let wrong_batch = |why: ArrowError| Error::Engine { why: why.to_string() };
        let fields = columns.iter().map(|(name, kind)| Field::new(*name, kind.clone(), false));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<Field>>()));
        let out = File::create(&file).map_err(|why| file_error(&file, why))?;
        // The engine's own writer gets no memory where groups that could be spilled have taken it all.
        let mut out = ArrowWriter::try_new(out, schema.clone(), None).map_err(failed)?;
        self.each_batch(self.sql(sql)?, &mut |batch| {
            let answered = batch.columns().iter().zip(columns);
            let answered = answered.map(|(column, (_, kind))| cast(column, kind).map_err(wrong_batch));
            let mut columns = answered.collect::<Result<Vec<ArrayRef>>>()?;
            complete(&mut columns)?;
            out.write(&RecordBatch::try_new(schema.clone(), columns).map_err(wrong_batch)?).map_err(failed)
        })?;
        out.close().map_err(failed)?;
        let address = address(&file)?;
        let read = self.context.register_parquet(name, &address, ParquetReadOptions::default());
        self.runtime.block_on(read).map_err(wrong)
    }

    /// The counts of a population group level: `see` gets the region, the iteration, the cell and the count of all that
    /// are not zero, in ascending order. `regions` is the table of an atom's region, `iterations` of a class's list of
    /// iterations.
    pub fn each_count(
        &self,
        regions: &str,
        iterations: &str,
        see: &mut dyn FnMut(u32, u32, usize, i64) -> Result<()>,
    ) -> Result<()> {
        let sql = sum_up(regions, iterations);
        self.each_batch(self.sql(&sql)?, &mut |batch| {
            let [regions, iterations, cells] = [0, 1, 2].map(|column| batch.column(column).as_primitive::<Int32Type>());
            let counts = batch.column(3).as_primitive::<Int64Type>();
            for row in 0..batch.num_rows() {
                see(
                    regions.value(row) as u32,
                    iterations.value(row) as u32,
                    cells.value(row) as usize,
                    counts.value(row),
                )?;
            }
            Ok(())
        })
    }

    fn sql(&self, sql: &str) -> Result<DataFrame> {
        self.runtime.block_on(self.context.sql(sql)).map_err(wrong)
    }

    fn each_batch(&self, frame: DataFrame, see: &mut dyn FnMut(RecordBatch) -> Result<()>) -> Result<()> {
        let mut stream = self.runtime.block_on(frame.execute_stream()).map_err(wrong)?;
        while let Some(batch) = self.runtime.block_on(stream.next()) {
            see(batch.map_err(wrong)?)?;
        }
        Ok(())
    }
}

/// Persons by atom, class and cell; every record is kept, whether it has them or not. The left side of a join is the one
/// that is held in memory, and the engine puts outer joins in no other order.
fn tally(races: u32) -> String {
    format!(
        "SELECT atom, class, cell, count(*) AS n FROM \
         ages RIGHT JOIN (classes RIGHT JOIN (blocks RIGHT JOIN \
         (SELECT CAST(\"TABBLKST\" || \"TABBLKCOU\" || \"TABTRACTCE\" || \"TABBLK\" AS BIGINT) AS block, {} AS codes, \
          CAST(\"QAGE\" AS INT) * 2 + CAST(\"QSEX\" AS INT) AS key FROM persons) AS record \
         ON blocks.block = record.block) ON classes.codes = record.codes) ON ages.key = record.key \
         GROUP BY atom, class, cell",
        codes(races)
    )
}

/// Tallies by region, iteration and cell.
fn sum_up(regions: &str, iterations: &str) -> String {
    format!(
        "SELECT region, iteration, cell, CAST(sum(n) AS BIGINT) AS n FROM \
             (SELECT region, unnest(iterations) AS iteration, cell, n FROM \
              {iterations} JOIN \
              (SELECT region, class, cell, sum(n) AS n FROM {regions} JOIN tallies ON {regions}.atom = tallies.atom \
               GROUP BY region, class, cell) AS tally \
              ON {iterations}.class = tally.class) \
             GROUP BY region, iteration, cell ORDER BY region, iteration, cell"
    )
}

/// The text of a record's codes. Race codes have four digits and nulls none, so it can be parted again.
fn codes(races: u32) -> String {
    let columns = (1..=races).map(|number| format!("\"QRACE{number}\""));
    columns.chain(["\"QSPAN\"".to_string()]).collect::<Vec<String>>().join(" || ")
}

fn addresses(files: &[PathBuf]) -> Result<Vec<String>> {
    files.iter().map(|file| address(file)).collect()
}

/// A file's URL: every byte but those of plain names is escaped, or a name could be taken for a pattern.
fn address(file: &Path) -> Result<String> {
    let full = std::path::absolute(file).map_err(|why| file_error(file, why))?;
    let text = full.to_str().ok_or_else(|| file_error(file, "the name is not in UTF-8: rename it"))?;
    let escape = |byte: u8| match byte {
        b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    Ok(format!("file://{}", text.bytes().map(escape).collect::<String>()))
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, fmt::Write};

    use datafusion::arrow::util::pretty::pretty_format_batches;

    use super::*;

    const RECORDS: u64 = 120_000;

    /// The i-th record: codes, of which there are `texts` different ones, block, age and sex.
    fn record(i: u64, texts: u64) -> (String, u64, u64, u64) {
        let mixed = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ mixed >> 31).wrapping_mul(0x94d0_49bb_1331_11eb) >> 20;
        let (codes, mixed) = (mixed % texts, mixed / texts);
        let codes = format!("{:04}{:04}", 1000 + codes % 9000, 2000 + codes / 9000);
        (codes, mixed % 7, mixed / 7 % 116, 1 + mixed / 812 % 2)
    }

    fn class_of(codes: &str) -> i32 {
        codes.bytes().fold(7, |sum: i32, byte| (sum * 31 + i32::from(byte)) % 10_007)
    }

    fn write_persons(file: &Path, texts: u64) {
        let mut text = HEADINGS.join("|") + "\n";
        for i in 0..RECORDS {
            let (codes, block, age, sex) = record(i, texts);
            let (race, ethnicity) = codes.split_at(4);
            writeln!(text, "{age}|{sex}|1|44|001|000100|100{block}|01|{race}{}|{ethnicity}", "|Null".repeat(7))
                .unwrap();
        }
        std::fs::write(file, text).unwrap();
    }

    /// The counts of the level with every block its own region, and every class its own iteration and one in common.
    fn counts(engine: &Engine, persons: &Path) -> Vec<(u32, u32, usize, i64)> {
        engine.read_persons(&PersonFiles { text: vec![persons.to_path_buf()], parquet: Vec::new() }).unwrap();
        let blocks: Vec<u64> = (0..7).map(|block| 440_010_001_001_000 + block).collect();
        engine.register_blocks(&blocks, (0..7).collect()).unwrap();
        let (keys, cells) = (0..=232).map(|key| (key, key / 10)).unzip();
        engine.register("ages", &[("key", keys), ("cell", cells)]).unwrap();
        engine.classify_codes(1, &mut |texts| Ok(texts.iter().map(|text| class_of(text)).collect())).unwrap();
        assert_eq!(engine.count_persons(1).unwrap(), RECORDS as i64);
        engine.register("regions", &[("atom", (0..7).collect()), ("region", (10..17).collect())]).unwrap();
        let lists: Vec<[i32; 2]> = (0..10_007).map(|class| [class, 20_000]).collect();
        engine.register_lists("iterations", (0..).zip(lists.iter().map(|list| &list[..])).collect()).unwrap();
        let mut seen = Vec::new();
        let mut see = |region, iteration, cell, count| {
            seen.push((region, iteration, cell, count));
            Ok(())
        };
        engine.each_count("regions", "iterations", &mut see).unwrap();
        seen
    }

    fn expected(texts: u64) -> Vec<(u32, u32, usize, i64)> {
        let mut counts = BTreeMap::new();
        for i in 0..RECORDS {
            let (codes, block, age, sex) = record(i, texts);
            for iteration in [class_of(&codes) as u32, 20_000] {
                *counts.entry((10 + block as u32, iteration, (age * 2 + sex) as usize / 10)).or_insert(0) += 1;
            }
        }
        counts.into_iter().map(|((region, iteration, cell), n)| (region, iteration, cell, n)).collect()
    }

    /// What the engine did to count the persons, as it says.
    fn explanation(engine: &Engine, sql: &str) -> String {
        let mut batches = Vec::new();
        let mut see = |batch| {
            batches.push(batch);
            Ok(())
        };
        engine.each_batch(engine.sql(&format!("EXPLAIN ANALYZE {sql}")).unwrap(), &mut see).unwrap();
        pretty_format_batches(&batches).unwrap().to_string()
    }

    #[test]
    fn what_exceeds_the_memory_is_spilled_and_counted_all_the_same() {
        // Many different codes in little memory are sorted, and groups are spilled. A table of all records would take more
        // than the 8 MiB of the last case.
        for (texts, memory, spills) in [(400_000, MEMORY, false), (400_000, 24 << 20, true), (90, 8 << 20, false)] {
            let folder = tempfile::tempdir().unwrap();
            let persons = folder.path().join("persons");
            write_persons(&persons, texts);
            let engine = Engine::with_limits(folder.path(), memory, 2).unwrap();
            assert!(counts(&engine, &persons) == expected(texts), "{texts} texts in {memory} bytes");
            let plan = explanation(&engine, &tally(1));
            let spilled = plan.split("spill_count=").skip(1).any(|rest| !rest.starts_with('0'));
            assert_eq!((spilled, plan.contains("SortMergeJoin")), (spills, spills), "{plan}");
        }
    }
}
