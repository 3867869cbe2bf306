//! A cluster of Apache Spark, accessed through Spark Connect with Apache's own client.
//!
//! The client's stream of results ends when the server ends a stream, whether the result is complete or not; a server does this after two
//! minutes by default. Here a result is complete only when the server declares it so; until then the remaining part is requested.

use std::{
    future::Future,
    io::Cursor,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

use arrow::{
    array::ArrayRef,
    datatypes::{Field, Schema},
    error::ArrowError,
    ipc::reader::StreamReader,
    record_batch::RecordBatch,
};
use spark_connect_core::{
    ChannelBuilder, ExecutePlanResponseReattachableIterator, RetryPolicy, SparkConnectClient, SparkError,
};
use spark_connect_proto::{
    ExecutePlanRequest, Plan, Relation, RelationCommon, Sql, UserContext,
    execute_plan_response::{ArrowBatch, ResponseType},
    plan::OpType,
    relation::RelType,
};
use tempfile::TempDir;
use tokio::{
    runtime::{Builder, Runtime},
    time::timeout,
};

use super::{
    cluster::Cluster,
    counter::{Counter, write_table},
    record_files::RecordFiles,
};
use crate::{
    error::Result,
    io::files::{Unfinished, file_error},
    io::remote::Remote,
};

/// The time limit of requests that do not count: for a first answer, to stop a query, to drop the tables.
const PATIENCE: Duration = Duration::from_secs(10);
/// The number of times that a broken connection is restored before the count is given up.
const ATTEMPTS: u32 = 5;
/// The status codes for a connection that is unavailable, and for one that is not authorized.
const UNAVAILABLE: i32 = 14;
const REFUSED: [i32; 2] = [7, 16];
/// The largest length of a server's message in an error.
const SHOWN: usize = 500;
/// The settings of the session: errors for text that is no number and for missing or truncated files; tables in Arrow's plain form.
const SETTINGS: [(&str, &str); 4] = [
    ("spark.sql.ansi.enabled", "true"),
    ("spark.sql.files.ignoreMissingFiles", "false"),
    ("spark.sql.files.ignoreCorruptFiles", "false"),
    ("spark.sql.execution.arrow.compression.codec", "none"),
];

/// A session on a cluster, with its own folder in the shared one.
pub(super) struct SparkCounter {
    cluster: Cluster,
    runtime: Runtime,
    client: Arc<SparkConnectClient>,
    /// The next number of a plan.
    plans: AtomicI64,
    folder: PathBuf,
    /// `None` once the session was returned.
    remote: Option<Remote>,
    _folder: TempDir,
    _mark: Unfinished,
}

impl SparkCounter {
    /// Opens a session, so that a server that does not answer is noticed before the records are read.
    pub(super) fn connect(cluster: &Cluster) -> Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|why| cluster.error(why))?;
        let mut builder = ChannelBuilder::parse(&cluster.address.to_string()).map_err(|why| cluster.error(why))?;
        builder.set("user_agent", "dp-assay");
        if let Some(token) = &cluster.token {
            builder.set("token", token.secret());
        }
        let client = runtime.block_on(SparkConnectClient::connect(&builder));
        let mut client = client.map_err(|why| cluster.error(first_line(&why.message())))?;
        // Errors are reported immediately.
        client.set_retry_policy(RetryPolicy::no_retries());
        let client = Arc::new(client);

        let mut folder = tempfile::Builder::new();
        folder.prefix("assay-").suffix(".part");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // The workers belong to the group of the folder, if they do not run as the same user.
            folder.permissions(std::fs::Permissions::from_mode(0o750));
        }
        let make = || folder.tempdir_in(&cluster.shared);
        let (mark, made) =
            Unfinished::make(make, |made| made.path().to_path_buf()).map_err(|why| file_error(&cluster.shared, why))?;
        let remote = Remote::new({
            let (client, handle) = (client.clone(), runtime.handle().clone());
            move || end(&client, &handle)
        });
        let own = SparkCounter {
            cluster: cluster.clone(),
            runtime,
            client,
            plans: AtomicI64::new(1),
            folder: made.path().to_path_buf(),
            remote: Some(remote),
            _folder: made,
            _mark: mark,
        };
        for (key, value) in SETTINGS {
            let set = own.runtime.block_on(async { timeout(PATIENCE, own.client.set_config(key, value)).await });
            match set {
                Err(_) => return Err(cluster.error(format!("does not answer within {} s", PATIENCE.as_secs()))),
                Ok(set) => set.map_err(|why| own.wrong(&why))?,
            }
        }
        Ok(own)
    }

    /// The error of the client or the server.
    fn wrong(&self, error: &SparkError) -> crate::error::Error {
        let said = first_line(&error.message());
        self.cluster.error(match error.grpc_code {
            Some(UNAVAILABLE) => format!("nobody answers ({said}): is its Spark Connect server running?"),
            Some(code) if REFUSED.contains(&code) => {
                format!("does not let this process in ({said}): is it the right token?")
            }
            _ => said,
        })
    }

    /// Waits for the server until the time of a query is over.
    fn wait<T>(&self, until: Instant, what: impl Future<Output = T>) -> Result<T> {
        let left = until.saturating_duration_since(Instant::now());
        self.runtime.block_on(async { timeout(left, what).await }).map_err(|_| {
            self.interrupt();
            let limit = self.cluster.limit.as_secs();
            self.cluster
                .error(format!("a query took longer than {limit} s and was stopped: does the cluster have workers?"))
        })
    }

    fn interrupt(&self) {
        // If it cannot be stopped, the cluster continues it.
        let _ = self.runtime.block_on(async { timeout(PATIENCE, self.client.interrupt_all()).await });
    }

    /// Runs a query, and calls `see` with every batch of the result.
    fn query(&self, sql: &str, see: &mut dyn FnMut(RecordBatch) -> Result<()>) -> Result<()> {
        let until = Instant::now() + self.cluster.limit;
        let iterator = ExecutePlanResponseReattachableIterator::new(self.request(sql));
        let begun = self.wait(until, self.client.execute_plan(iterator.request().clone()))?;
        let mut stream = begun.map_err(|why| self.wrong(&why))?;
        let (mut rows, mut failures) = (0, 0);
        loop {
            let mut broken = match self.wait(until, stream.message())? {
                Ok(Some(response)) => {
                    failures = 0;
                    self.runtime.block_on(iterator.set_last_response_id(&response));
                    match response.response_type {
                        Some(ResponseType::ArrowBatch(batch)) => {
                            if let Err(error) = self.show(&batch, &mut rows, see) {
                                self.interrupt();
                                return Err(error);
                            }
                        }
                        Some(ResponseType::ResultComplete(_)) => break,
                        _ => {}
                    }
                    continue;
                }
                // The server ended the stream before the result was complete.
                Ok(None) => None,
                Err(status) => {
                    let error = SparkError::from_grpc_status(status);
                    // Errors of the server come with details; an error without is one of the connection.
                    if error.grpc_details.is_some() && error.grpc_code != Some(UNAVAILABLE) {
                        return Err(self.wrong(&error));
                    }
                    Some(error)
                }
            };
            stream = loop {
                if let Some(error) = &broken {
                    failures += 1;
                    if failures > ATTEMPTS {
                        return Err(self.wrong(error));
                    }
                    let pause = Duration::from_millis(200 << failures);
                    self.wait(until, async { tokio::time::sleep(pause).await })?;
                }
                let request = self.runtime.block_on(iterator.create_reattach_request());
                match self.wait(until, self.client.reattach_execute(request))? {
                    Ok(stream) => break stream,
                    Err(error) if error.grpc_code == Some(UNAVAILABLE) => broken = Some(error),
                    Err(error) => return Err(self.wrong(&error)),
                }
            };
        }
        let release = self.runtime.block_on(iterator.create_release_request(true));
        let _ = self.runtime.block_on(async { timeout(PATIENCE, self.client.release_execute(release)).await });
        Ok(())
    }

    /// Passes on a batch from the server, which must follow the rows before it.
    fn show(&self, sent: &ArrowBatch, rows: &mut i64, see: &mut dyn FnMut(RecordBatch) -> Result<()>) -> Result<()> {
        let wrong = |why: ArrowError| self.cluster.error(format!("sent an answer that cannot be read: {why}"));
        if sent.start_offset.is_some_and(|start| start != *rows) || sent.num_chunks_in_batch.is_some() {
            return Err(self.cluster.error(format!("sent a part of an answer that does not follow row {rows}")));
        }
        let mut read = 0;
        for batch in StreamReader::try_new(Cursor::new(&sent.data), None).map_err(wrong)? {
            let batch = batch.map_err(wrong)?;
            read += batch.num_rows() as i64;
            see(batch)?;
        }
        if read != sent.row_count {
            return Err(self.cluster.error(format!("sent {read} rows of an answer and announced {}", sent.row_count)));
        }
        *rows += read;
        Ok(())
    }

    fn request(&self, sql: &str) -> ExecutePlanRequest {
        let plan_id = Some(self.plans.fetch_add(1, Ordering::Relaxed));
        let relation = Relation {
            common: Some(RelationCommon { plan_id, ..RelationCommon::default() }),
            rel_type: Some(RelType::Sql(Sql { query: sql.to_string(), ..Sql::default() })),
        };
        let user_id = self.client.user_id().unwrap_or_default().to_string();
        ExecutePlanRequest {
            session_id: self.client.session_id().to_string(),
            user_context: Some(UserContext { user_id, ..UserContext::default() }),
            plan: Some(Plan { op_type: Some(OpType::Root(relation)) }),
            ..ExecutePlanRequest::default()
        }
    }

    /// Creates a view of files or of other views.
    fn make_view(&self, text: &str) -> Result<()> {
        self.query(&format!("CREATE OR REPLACE TEMPORARY VIEW {text}"), &mut |_| Ok(()))
    }

    /// Creates a view of a Parquet file, and lets the workers' group read it.
    fn view_parquet(&self, name: &str, file: &Path) -> Result<()> {
        let path = self.seen(file)?;
        self.make_view(&format!("{name} USING parquet OPTIONS (path 'file://{path}')"))
    }

    /// The path of a file for the workers. A file of this run is made readable for their group.
    fn seen(&self, file: &Path) -> Result<String> {
        #[cfg(unix)]
        if file.starts_with(&self.folder) {
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o640);
            std::fs::set_permissions(file, mode).map_err(|why| file_error(file, why))?;
        }
        self.cluster.seen_by_workers(file)
    }
}

impl Counter for SparkCounter {
    fn folder(&self) -> &Path {
        &self.folder
    }

    fn read_records(&self, files: &RecordFiles, headings: &[&str]) -> Result<()> {
        let quoted = |form: &dyn Fn(&str) -> String| {
            headings.iter().map(|name| form(&format!("`{name}`"))).collect::<Vec<String>>().join(", ")
        };
        let columns = quoted(&|name| format!("{name} STRING"));
        let as_text = quoted(&|name| format!("coalesce(CAST({name} AS STRING), 'Null') AS {name}"));
        let mut parts = Vec::new();
        for (number, file) in files.text.iter().enumerate() {
            let path = self.seen(file)?;
            self.make_view(&format!(
                "text_{number} ({columns}) USING csv OPTIONS (path 'file://{path}', sep '|', header 'true', quote '', \
                 escape '', mode 'FAILFAST')"
            ))?;
            parts.push(format!("SELECT {} FROM text_{number}", quoted(&|name| name.to_string())));
        }
        for (number, file) in files.parquet.iter().enumerate() {
            self.view_parquet(&format!("parquet_{number}"), file)?;
            parts.push(format!("SELECT {as_text} FROM parquet_{number}"));
        }
        self.make_view(&format!("records AS {}", parts.join(" UNION ALL ")))
    }

    fn make_table(&self, name: &str, columns: Vec<(&str, ArrayRef)>) -> Result<()> {
        let fields = columns.iter().map(|(name, values)| Field::new(*name, values.data_type().clone(), false));
        let schema = Schema::new(fields.collect::<Vec<Field>>());
        let file = self.folder.join(format!("{name}.parquet"));
        write_table(&file, schema, |write| write(columns.into_iter().map(|(_, values)| values).collect()))?;
        self.read_table(name, &file)
    }

    fn read_table(&self, name: &str, file: &Path) -> Result<()> {
        self.view_parquet(name, file)
    }

    fn answer(&self, sql: &str, see: &mut dyn FnMut(RecordBatch) -> Result<()>) -> Result<()> {
        self.query(sql, see)
    }
}

impl Drop for SparkCounter {
    fn drop(&mut self) {
        // Waits here while a signal is handled: the program ends then.
        drop(self.remote.take());
        end(&self.client, self.runtime.handle());
    }
}

/// Stops the queries of a session on the cluster, and closes the session.
fn end(client: &SparkConnectClient, runtime: &tokio::runtime::Handle) {
    let ended = async {
        let _ = client.interrupt_all().await;
        let _ = client.release_session().await;
    };
    let _ = runtime.block_on(async { timeout(PATIENCE, ended).await });
}

/// The first line of a message, with bounded length: stack traces of the server follow it.
fn first_line(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    line.chars().take(SHOWN).filter(|letter| !letter.is_control()).collect()
}
