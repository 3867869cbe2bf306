//! Tables in an embedded query engine (DataFusion): records read from files, small tables made, questions asked in SQL.
//!
//! In a join the small table is held in memory and the records stream past it. What grouping and sorting hold beyond the
//! memory limit is spilled to disk.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use datafusion::{
    arrow::{
        array::{ArrayRef, Int32Array, ListArray, UInt32Array},
        buffer::OffsetBuffer,
        compute::take_record_batch,
        datatypes::{DataType, Field, Schema},
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
    prelude::{CsvReadOptions, DataFrame, ParquetReadOptions, SessionConfig, SessionContext},
};
use futures::StreamExt;
use tokio::runtime::{Builder, Runtime};

use super::{counter::Counter, record_files::RecordFiles};
use crate::{
    error::{Error, Result},
    files::file_error,
};

/// Bytes that grouping and sorting may hold before they spill.
pub(super) const MEMORY: usize = 1 << 30;
/// The greatest number of threads: sorting codes takes about 10 MiB of the memory for each, for any number of records.
const THREADS: usize = 32;
/// Rows of a piece of a table in memory.
const PIECE: u32 = 8192;
/// A byte that no checked file contains: fields are never quoted.
const NO_QUOTE: u8 = 1;

/// An embedded query engine with tables of its own.
pub struct Engine {
    runtime: Runtime,
    context: SessionContext,
    folder: PathBuf,
    memory: usize,
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

    pub(super) fn with_limits(folder: &Path, memory: usize, threads: usize) -> Result<Self> {
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
            // Each thread sets memory aside for merging sorted runs.
            .with_sort_spill_reservation_bytes(memory / threads / 32)
            // The left side of a join is held in memory, once for all threads, and the other side streams past it. The engine
            // does not know how many records there are, so the queries decide which side is which.
            .with_repartition_joins(false)
            .set_bool("datafusion.optimizer.join_reordering", false)
            // Views keep the whole text that they are part of, and memory is counted with it.
            .set_bool("datafusion.execution.parquet.schema_force_view_types", false);
        let runtime = Builder::new_multi_thread().worker_threads(threads).build();
        let runtime = runtime.map_err(|why| Error::Engine { why: why.to_string() })?;
        let context = SessionContext::new_with_config_rt(config, environment);
        Ok(Engine { runtime, context, folder: folder.to_path_buf(), memory })
    }

    /// A file of records as text, with the columns in the order of the headings.
    async fn read_parquet(&self, file: &Path, headings: &[&str]) -> Result<DataFrame> {
        let refused = |why: String| file_error(file, why);
        let options = ParquetReadOptions::default().file_extension("");
        let table = self.context.read_parquet(addresses(&[file.to_path_buf()])?, options).await;
        let table = table.map_err(|why| refused(why.strip_backtrace()))?;
        for &name in headings {
            let found = table.schema().fields().iter().find(|field| field.name() == name);
            let Some(field) = found else {
                return Err(refused(format!("has no column {name}: needed are {}", headings.join(", "))));
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
        let expressions = headings.iter().map(|name| text(name)).collect::<Result<Vec<_>>>()?;
        table.select(expressions).map_err(wrong)
    }

    /// Makes a table of the iterations of each class.
    pub fn register_lists(&self, name: &str, lists: Vec<(i32, &[i32])>) -> Result<()> {
        let classes: ArrayRef = Arc::new(Int32Array::from_iter_values(lists.iter().map(|(class, _)| *class)));
        let lengths = OffsetBuffer::from_lengths(lists.iter().map(|(_, list)| list.len()));
        let values = Int32Array::from_iter_values(lists.iter().flat_map(|(_, list)| *list).copied());
        let field = Arc::new(Field::new_list_field(DataType::Int32, false));
        let lists = ListArray::try_new(field, lengths, Arc::new(values), None);
        let lists = lists.map_err(|why| Error::Engine { why: why.to_string() })?;
        self.make_table(name, vec![("class", classes), ("iterations", Arc::new(lists))])
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

impl Counter for Engine {
    fn folder(&self) -> &Path {
        &self.folder
    }

    fn read_records(&self, files: &RecordFiles, headings: &[&str]) -> Result<()> {
        let fields = headings.iter().map(|name| Field::new(*name, DataType::Utf8, true));
        let schema = Schema::new(fields.collect::<Vec<Field>>());
        let text = CsvReadOptions::new().schema(&schema).delimiter(b'|').quote(NO_QUOTE).file_extension("");
        let read = async {
            let mut records: Option<DataFrame> = None;
            if !files.text.is_empty() {
                records = Some(self.context.read_csv(addresses(&files.text)?, text).await.map_err(wrong)?);
            }
            for file in &files.parquet {
                let table = self.read_parquet(file, headings).await?;
                records = Some(match records {
                    None => table,
                    Some(others) => others.union(table).map_err(wrong)?,
                });
            }
            let records = records.ok_or_else(|| Error::Engine { why: "there is no file of records".to_string() })?;
            self.context.register_table("records", records.into_view()).map_err(wrong)?;
            Ok(())
        };
        self.runtime.block_on(read)
    }

    fn make_table(&self, name: &str, columns: Vec<(&str, ArrayRef)>) -> Result<()> {
        let failed = |why: ArrowError| Error::Engine { why: why.to_string() };
        let batch = RecordBatch::try_from_iter(columns).map_err(failed)?;
        // In pieces, so that threads share it; copied, because the memory of a slice is counted as that of the whole.
        let piece = |from: u32| {
            let end = (batch.num_rows() as u32).min(from + PIECE);
            take_record_batch(&batch, &UInt32Array::from_iter_values(from..end)).map_err(failed)
        };
        let pieces = (0..batch.num_rows() as u32).step_by(PIECE as usize).map(piece).collect::<Result<_>>()?;
        let table = MemTable::try_new(batch.schema(), vec![pieces]).map_err(wrong)?;
        self.context.register_table(name, Arc::new(table)).map_err(wrong)?;
        Ok(())
    }

    fn read_table(&self, name: &str, file: &Path) -> Result<()> {
        let address = address(file)?;
        let read = self.context.register_parquet(name, &address, ParquetReadOptions::default());
        self.runtime.block_on(read).map_err(wrong)
    }

    fn expect_codes(&self, bytes: usize) -> Result<()> {
        if bytes > self.memory / 4 {
            // A hash table of them all would not fit. Sorting spills.
            self.sql("SET datafusion.optimizer.repartition_joins = true")?;
            self.sql("SET datafusion.optimizer.prefer_hash_join = false")?;
        }
        Ok(())
    }

    fn answer(&self, sql: &str, see: &mut dyn FnMut(RecordBatch) -> Result<()>) -> Result<()> {
        self.each_batch(self.sql(sql)?, see)
    }
}

fn addresses(files: &[PathBuf]) -> Result<Vec<String>> {
    files.iter().map(|file| address(file)).collect()
}

/// A file's URL: every byte except those of plain names is escaped, or a name could be taken for a pattern.
fn address(file: &Path) -> Result<String> {
    let full = std::path::absolute(file).map_err(|why| file_error(file, why))?;
    let text = full.to_str().ok_or_else(|| file_error(file, "the name is not in UTF-8: rename it"))?;
    let escape = |byte: u8| match byte {
        b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    Ok(format!("file://{}", text.bytes().map(escape).collect::<String>()))
}
