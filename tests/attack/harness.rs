//! Runs cases in separate processes, so that one that hangs or dies fails alone.
//!
//! A worker is this test program, started with its ignored test `worker` and a range of cases of one class. It prints its requests and
//! results on standard output, one line each. A worker whose request exceeds the time limit is killed, and the next one continues after
//! that case.

use std::{
    collections::BTreeMap,
    env, fs,
    io::{BufRead, BufReader},
    panic,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use super::{
    account,
    cases::{self, Numbers},
    continuous, decisions, kills, noise, program,
    record::{Record, Row, say},
    risk,
};

const CASES: &str = "ASSAY_ATTACK_CASES";
const MULTIPLIER: &str = "ASSAY_ATTACK";
const TABLE: &str = "ASSAY_ATTACK_TABLE";
const PROGRAM: &str = "ASSAY_ATTACK_PROGRAM";
const JOBS: &str = "ASSAY_ATTACK_JOBS";
/// The number of cases that one worker runs.
const SHARD: u64 = 60;
/// The time limit of a request, in processor seconds.
const MOST_SECONDS: f64 = 20.0;

/// The results of a class, or of all.
#[derive(Debug, Default)]
pub struct Table {
    /// Indexed by kind of request.
    pub rows: BTreeMap<String, Row>,
    /// Every failure.
    pub failures: Vec<String>,
    /// The slowest and the widest answers and the unanswered requests, each with its text.
    pub notes: BTreeMap<String, String>,
}

/// The factor on the number of cases.
fn multiplier() -> u64 {
    env::var(MULTIPLIER).ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

/// The program under attack: that of this build, or one named by an environment variable.
pub fn program() -> PathBuf {
    env::var_os(PROGRAM).map_or_else(|| assert_cmd::cargo::cargo_bin!("assay").to_path_buf(), PathBuf::from)
}

/// The number of parallel workers.
fn jobs() -> u64 {
    env::var(JOBS).ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

/// Attacks with this number of cases of each class, times the multiplier. Fails if one statement is false, and in the test suite also if
/// one request stays unanswered.
pub fn attack(classes: &[(&str, u64)]) {
    let times = multiplier();
    let shard = |class, from: u64, to: u64| (class, from, to.min(from + SHARD));
    let mut shards: Vec<(&str, u64, u64)> = classes
        .iter()
        .flat_map(|(class, cases)| {
            (0..cases * times).step_by(SHARD as usize).map(move |from| shard(*class, from, cases * times))
        })
        .collect();
    // All classes advance together.
    shards.sort_by_key(|(_, from, _)| *from);
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..jobs() {
            scope.spawn(|| {
                while let Some((class, from, to)) = shards.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let table = run(class, *from, *to);
                    let mut failures = failures.lock().unwrap_or_else(PoisonError::into_inner);
                    if let Ok(path) = env::var(TABLE) {
                        table.append(class, &path);
                    }
                    if times == 1 {
                        let none = table.notes.iter().filter(|(what, _)| what.starts_with("unanswered"));
                        failures.extend(none.map(|(_, note)| note.clone()));
                        if table.rows.values().map(|row| row.checks).sum::<u64>() == 0 {
                            failures.push(format!("{class}: nothing was checked"));
                        }
                    }
                    failures.extend(table.failures);
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

impl Table {
    /// Appends a line of tab-separated fields for each kind, and the notes, to a file.
    fn append(&self, class: &str, path: &str) {
        use std::io::Write;
        let mut file = fs::OpenOptions::new().create(true).append(true).open(path).expect("the table can be written");
        let mut text = String::new();
        for (kind, row) in &self.rows {
            text += &format!("row\t{class}\t{kind}\t{}\n", row.to_line());
        }
        for (what, note) in &self.notes {
            text += &format!("note\t{class}\t{what}\t{note}\n");
        }
        for failure in &self.failures {
            text += &format!("failure\t{class}\t{failure}\n");
        }
        file.write_all(text.as_bytes()).expect("the table can be written");
    }
}

/// Runs the cases from `from` to below `to`.
fn run(class: &str, from: u64, to: u64) -> Table {
    let mut table = Table::default();
    let mut next = from;
    while next < to {
        next = Worker::start(class, next, to).listen(&mut table, next);
    }
    table
}

struct Worker {
    child: Child,
    lines: mpsc::Receiver<String>,
    class: String,
    to: u64,
}

impl Worker {
    fn start(class: &str, from: u64, to: u64) -> Self {
        let mut child = Command::new(env::current_exe().expect("this test has a path"))
            .args(["worker", "--exact", "--ignored", "--nocapture", "--test-threads=1"])
            .env(CASES, format!("{class}:{from}:{to}"))
            .env("RAYON_NUM_THREADS", "1")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a worker starts");
        let out = BufReader::new(child.stdout.take().expect("piped"));
        let (send, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                // The test runner may write before the first line.
                if let Some((_, line)) = line.split_once("attack\t")
                    && send.send(line.to_string()).is_err()
                {
                    return;
                }
            }
        });
        Worker { child, lines, class: class.to_string(), to }
    }

    /// The processor seconds of the worker; `None` if the system does not report them.
    fn seconds(&self) -> Option<f64> {
        let text = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).ok()?;
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
        // User and system time of the process in hundredths, fields 14 and 15 of proc(5).
        Some((fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?) / 100.0)
    }

    /// Records the worker's lines until it ends or is killed; returns the next case to run.
    fn listen(mut self, table: &mut Table, from: u64) -> u64 {
        let (mut case, mut request, mut finished) = (from, String::from("start"), false);
        let (mut since, mut since_cpu) = (Instant::now(), self.seconds().unwrap_or(0.0));
        loop {
            match self.lines.recv_timeout(Duration::from_millis(500)) {
                Ok(line) => {
                    (since, since_cpu) = (Instant::now(), self.seconds().unwrap_or(0.0));
                    match line.split_once('\t') {
                        Some(("case", number)) => case = number.parse().expect("a number"),
                        Some(("ask", kind)) => request = kind.to_string(),
                        Some(("done", _)) => finished = true,
                        Some((what, rest)) => table.note(&self.class, what, rest),
                        None => {}
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    let spent = self.seconds().map_or(since.elapsed().as_secs_f64(), |now| now - since_cpu);
                    if spent > MOST_SECONDS {
                        let _ = self.child.kill();
                        let _ = self.child.wait();
                        table.rows.entry(request.clone()).or_default().unanswered += 1;
                        let note = format!("{} case {case}: no answer in {MOST_SECONDS} s", self.class);
                        table.notes.insert(format!("unanswered {request} {case}"), note);
                        return case + 1;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let status = self.child.wait().expect("the worker ends");
        if finished && status.success() {
            return self.to;
        }
        // It died: a panic is a failure of the last request.
        let row = table.rows.entry(request.clone()).or_default();
        (row.checks, row.failures) = (row.checks + 1, row.failures + 1);
        table.failures.push(format!("{} case {case}, {request}: the process died with {status}", self.class));
        case + 1
    }
}

impl Table {
    fn note(&mut self, class: &str, what: &str, rest: &str) {
        let Some((kind, rest)) = rest.split_once('\t') else { return };
        match what {
            "row" => {
                if let Some(row) = Row::from_line(rest) {
                    self.rows.entry(kind.to_string()).or_default().and(&row);
                }
            }
            "failure" => self.failures.push(rest.to_string()),
            "refused" => {
                self.notes.insert(format!("refused {kind}"), rest.to_string());
            }
            // A worse one of the same kind replaces it.
            "slow" | "wide" => {
                let name = format!("{what} {kind}");
                let worse = |note: &String| note.split('\t').next().and_then(|value| value.parse().ok()).unwrap_or(0.0);
                let new: f64 = worse(&rest.to_string());
                if self.notes.get(&name).is_none_or(|old| worse(old) < new) {
                    self.notes.insert(name, rest.to_string());
                }
            }
            _ => unreachable!("{class}: {what}"),
        }
    }
}

/// Runs the cases named by the environment variable in this process.
pub fn work() {
    let Ok(text) = env::var(CASES) else { return };
    let fields: Vec<&str> = text.split(':').collect();
    let [class, from, to] = fields[..] else { panic!("CLASS:FROM:TO, not {text}") };
    let whole = |text: &str| -> u64 { text.parse().expect("a number") };
    for number in whole(from)..whole(to) {
        say(&format!("case\t{number}"));
        let mut record = Record::new(format!("{class}:{number}"));
        let mut numbers = Numbers::of(class, number);
        let outcome = panic::catch_unwind(panic::AssertUnwindSafe(|| one(class, &mut numbers, &mut record)));
        for (kind, row) in &record.rows {
            say(&format!("row\t{kind}\t{}", row.to_line()));
        }
        if let Err(why) = outcome {
            panic::resume_unwind(why);
        }
    }
    say("done\t");
}

/// A class of compositions, or of other requests. A law that is too long to enumerate is no case.
fn one(class: &str, numbers: &mut Numbers, record: &mut Record) {
    let _ = match class {
        "noise" => noise::gaussian(numbers, record),
        "Laplace noise" => noise::laplace(numbers, record),
        "SafeTab" => noise::safetab(numbers, record),
        "risk single" => risk::single(numbers, record),
        "risk bound" => risk::most(numbers, record),
        "risk hierarchical" => risk::hierarchical(numbers, record),
        "calibrate" => decisions::calibrated(numbers, record),
        "allocate" => decisions::allocated(numbers, record),
        "paths" => decisions::paths(numbers, record),
        "conversions" => decisions::converted(numbers, record),
        "crossings" => decisions::crossings(numbers, record),
        "program" => program::attack(numbers, record),
        "kill noise" => kills::kill("noise", "kill noise", numbers, record),
        "kill spine" => kills::kill("spine", "kill spine", numbers, record),
        "kill measure" => kills::kill("measure", "kill measure", numbers, record),
        "kill estimate" => kills::kill("estimate", "kill estimate", numbers, record),
        "full disk" => kills::full_disk(numbers, record),
        "continuous" => continuous::attack(numbers, record),
        class if cases::CLASSES.contains(&class) || class == cases::BOUNDED_LAWS => {
            account::attack(class, numbers, record)
        }
        other => panic!("no class {other}"),
    };
}
