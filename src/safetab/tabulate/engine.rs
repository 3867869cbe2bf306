//! The counting, by an embedded query engine in SQL.
//!
//! 1. Every distinct text of race and ethnicity codes is mapped once to the iterations that it belongs to; texts with the
//!    same iterations are of one class. Blocks with the same regions are of one atom.
//! 2. Persons are joined with blocks, codes and ages and counted by (atom, class, cell). What is counted is written to a
//!    temporary file, by far smaller than the records.
//! 3. For each population group level these counts are joined with the regions of the atoms and the iterations of the
//!    classes and added up by (region, iteration, cell), in ascending order.
//!
//! Joined tables are public or as small as the specification; groups beyond the memory limit are spilled to disk. Sums of
//! integers do not depend on the order of records, threads or files. All of it is plain SQL over tables, as a cluster runs
//! it.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use datafusion::{
    arrow::{
        array::{ArrayRef, AsArray, Int32Array, Int64Array, StringArray},
        compute::cast,
        datatypes::{DataType, Field, Int32Type, Int64Type, Schema},
        record_batch::RecordBatch,
    },
    dataframe::DataFrameWriteOptions,
    datasource::MemTable,
    error::DataFusionError,
    execution::{
        disk_manager::{DiskManagerBuilder, DiskManagerMode},
        memory_pool::FairSpillPool,
        runtime_env::RuntimeEnvBuilder,
    },
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
/// A byte that no checked file holds: fields are never quoted.
const NO_QUOTE: u8 = 1;

/// An embedded query engine with tables of its own.
pub struct Engine {
    runtime: Runtime,
    context: SessionContext,
    folder: PathBuf,
}

/// Persons as files: all checked before they are counted.
#[derive(Clone, Debug, Default)]
pub struct PersonFiles {
    /// Rows of fields parted by `|` under a line of headings.
    pub text: Vec<PathBuf>,
    /// Parquet with the same columns, as text.
    pub parquet: Vec<PathBuf>,
}

fn wrong(error: DataFusionError) -> Error {
    Error::Engine { why: error.strip_backtrace() }
}

impl Engine {
    /// An engine that spills to a folder.
    pub fn new(folder: &Path) -> Result<Self> {
        let spills = folder.join("spills");
        std::fs::create_dir(&spills).map_err(|why| file_error(&spills, why))?;
        let disk = DiskManagerBuilder::default().with_mode(DiskManagerMode::Directories(vec![spills]));
        let environment = RuntimeEnvBuilder::new()
            .with_disk_manager_builder(disk)
            .with_memory_pool(Arc::new(FairSpillPool::new(MEMORY)))
            .build_arc()
            .map_err(wrong)?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let config = SessionConfig::new().with_target_partitions(threads);
        let runtime = Builder::new_multi_thread().worker_threads(threads).build();
        let runtime = runtime.map_err(|why| Error::Engine { why: why.to_string() })?;
        let context = SessionContext::new_with_config_rt(config, environment);
        Ok(Engine { runtime, context, folder: folder.to_path_buf() })
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

    /// Makes a table of the texts of codes and the class of each.
    pub fn register_codes(&self, texts: Vec<String>, classes: Vec<i32>) -> Result<()> {
        let texts: ArrayRef = Arc::new(StringArray::from(texts));
        self.register_batch("classes", vec![("codes", texts), ("class", Arc::new(Int32Array::from(classes)))])
    }

    fn register_batch(&self, name: &str, columns: Vec<(&str, ArrayRef)>) -> Result<()> {
        let failed = |why: String| Error::Engine { why };
        let batch = RecordBatch::try_from_iter(columns).map_err(|why| failed(why.to_string()))?;
        // In pieces, so that threads share it.
        let rows = batch.num_rows();
        let pieces = (0..rows).step_by(8192).map(|from| batch.slice(from, (rows - from).min(8192))).collect();
        let table = MemTable::try_new(batch.schema(), vec![pieces]).map_err(wrong)?;
        self.context.register_table(name, Arc::new(table)).map_err(wrong)?;
        Ok(())
    }

    /// The distinct texts of codes of all persons: the first `races` race codes, then the ethnicity code.
    pub fn distinct_codes(&self, races: u32) -> Result<Vec<String>> {
        let mut texts = Vec::new();
        let sql = format!("SELECT DISTINCT {} AS codes FROM persons", codes(races));
        self.each_batch(self.sql(&sql)?, &mut |batch| {
            let column =
                cast(batch.column(0), &DataType::Utf8).map_err(|why| Error::Engine { why: why.to_string() })?;
            texts.extend(column.as_string::<i32>().iter().map(|text| text.unwrap_or_default().to_string()));
            Ok(())
        })?;
        Ok(texts)
    }

    /// Counts persons by atom, class and cell, from the tables `persons`, `blocks`, `classes` and `ages` (`key` is twice
    /// the age and the sex). Returns how many persons were counted.
    pub fn count_persons(&self, races: u32) -> Result<i64> {
        let sql = format!(
            "SELECT atom, class, cell, count(*) AS n FROM \
             (SELECT CAST(\"TABBLKST\" || \"TABBLKCOU\" || \"TABTRACTCE\" || \"TABBLK\" AS BIGINT) AS block, {} AS codes, \
              CAST(\"QAGE\" AS INT) * 2 + CAST(\"QSEX\" AS INT) AS key FROM persons) AS record \
             JOIN blocks ON blocks.block = record.block \
             JOIN classes ON classes.codes = record.codes \
             JOIN ages ON ages.key = record.key \
             GROUP BY atom, class, cell",
            codes(races)
        );
        let file = self.folder.join("tallies.parquet");
        let tallies = self.sql(&sql)?;
        let address = address(&file)?;
        self.runtime.block_on(async {
            let options = DataFrameWriteOptions::new().with_single_file_output(true);
            tallies.write_parquet(&address, options, None).await.map_err(wrong)?;
            self.context.register_parquet("tallies", &address, ParquetReadOptions::default()).await.map_err(wrong)
        })?;
        let mut counted = 0;
        self.each_batch(self.sql("SELECT CAST(coalesce(sum(n), 0) AS BIGINT) AS n FROM tallies")?, &mut |batch| {
            counted += batch.column(0).as_primitive::<Int64Type>().iter().flatten().sum::<i64>();
            Ok(())
        })?;
        Ok(counted)
    }

    /// The counts of a population group level: `see` gets the region, the iteration, the cell and the count of all that
    /// are not zero, in ascending order. `regions` is the table of an atom's region, `iterations` of a class's iterations.
    pub fn each_count(
        &self,
        regions: &str,
        iterations: &str,
        see: &mut dyn FnMut(u32, u32, usize, i64) -> Result<()>,
    ) -> Result<()> {
        let sql = format!(
            "SELECT region, iteration, cell, CAST(sum(n) AS BIGINT) AS n FROM \
             (SELECT region, class, cell, sum(n) AS n FROM tallies JOIN {regions} ON tallies.atom = {regions}.atom \
              GROUP BY region, class, cell) AS tally \
             JOIN {iterations} ON tally.class = {iterations}.class \
             GROUP BY region, iteration, cell ORDER BY region, iteration, cell"
        );
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
