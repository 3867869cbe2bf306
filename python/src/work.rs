//! The library's work runs outside of the interpreter, so that other Python threads continue and Ctrl-C interrupts.
//!
//! The work runs on a pool of threads. The calling thread waits for it without the interpreter's lock and checks for signals from
//! time to time. If a signal handler raises, as for Ctrl-C, the call ends at once: work in steps stops at its next step, other work
//! finishes on the old threads, its result is discarded, and the next call gets new threads.
//!
//! A forked process has none of its parent's threads. The pool is therefore stored with the id of the process that made it, and a child makes
//! its own.

use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver, RecvTimeoutError, TryRecvError},
    },
    time::{Duration, Instant},
};

use pyo3::{exceptions::PyRuntimeError, prelude::*};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::failure::{Failure, Outcome};

/// The time between two checks for signals in a waiting call.
const BETWEEN_SIGNALS: Duration = Duration::from_millis(20);

/// The time for which a waiting call spins.
const AWAKE: Duration = Duration::from_millis(2);

/// The threads of this process, with its id. The only state of the module: it holds no data of any call.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Whether the caller no longer waits for the work.
#[derive(Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Whether the caller has left.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The pool of this process. The lock is only taken while holding the interpreter's and never held while waiting, so that no fork
/// finds it taken.
fn pool() -> PyResult<Arc<ThreadPool>> {
    let process = std::process::id();
    let mut slot = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((owner, pool)) = &*slot
        && *owner == process
    {
        return Ok(Arc::clone(pool));
    }
    let requested = dp_assay::threads::asked().map_err(|why| PyRuntimeError::new_err(why.to_string()))?;
    let threads = dp_assay::threads::available(dp_assay::threads::wanted(requested)).max(1);
    let new = ThreadPoolBuilder::new().num_threads(threads).thread_name(|number| format!("assay-{number}")).build();
    let new = Arc::new(new.map_err(|error| PyRuntimeError::new_err(format!("no threads could be started: {error}")))?);
    if let Some((_, parents)) = slot.replace((process, Arc::clone(&new))) {
        // Its threads are the parent's. Dropping it would wait for locks that no thread of this process releases.
        std::mem::forget(parents);
    }
    Ok(new)
}

/// Leaves the pool to work whose result is discarded.
fn abandon() {
    let mut slot = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if slot.as_ref().is_some_and(|(owner, _)| *owner == std::process::id()) {
        *slot = None;
    }
}

/// The result of the work, if it arrives before signals have to be checked. Most calls take about a millisecond, and waking up takes
/// a twentieth of that: for that time the thread spins, and yields to other threads.
fn awaited<T>(answer: &Receiver<T>) -> Result<T, RecvTimeoutError> {
    let began = Instant::now();
    while began.elapsed() < AWAKE {
        match answer.try_recv() {
            Ok(answer) => return Ok(answer),
            Err(TryRecvError::Disconnected) => return Err(RecvTimeoutError::Disconnected),
            Err(TryRecvError::Empty) => std::thread::yield_now(),
        }
    }
    answer.recv_timeout(BETWEEN_SIGNALS)
}

/// Runs work that owns all it needs.
pub fn run<T: Send + 'static>(
    py: Python,
    work: impl FnOnce(&Stop) -> dp_assay::Result<T> + Send + 'static,
) -> PyResult<T> {
    let pool = pool()?;
    let stop = Stop::default();
    let (answers, mut answer) = mpsc::sync_channel(1);
    let inner = stop.clone();
    pool.spawn(move || {
        let outcome = catch_unwind(AssertUnwindSafe(|| work(&inner)));
        // If the caller no longer waits, the result is discarded.
        let _ = answers.send(outcome);
    });
    loop {
        let waited;
        (answer, waited) = py.detach(move || {
            let waited = awaited(&answer);
            (answer, waited)
        });
        match waited {
            Ok(Ok(outcome)) => return Ok(outcome.map_err(Failure::from)?),
            // A fault of the program; Python shows it as PanicException.
            Ok(Err(fault)) => resume_unwind(fault),
            Err(RecvTimeoutError::Timeout) => py.check_signals().inspect_err(|_| {
                stop.0.store(true, Ordering::Relaxed);
                abandon();
            })?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the thread that did the work has ended"));
            }
        }
    }
}

/// Runs one step of work on borrowed data to its end, and looks for signals afterwards.
pub fn step<T: Send>(py: Python, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let pool = pool()?;
    let done = py.detach(|| pool.install(work));
    py.check_signals()?;
    Ok(done)
}

/// Computes many results on all threads, until the caller no longer waits.
pub fn all<T: Send, Q: Sync>(
    questions: &[Q],
    stop: &Stop,
    answer: impl Fn(&Q) -> dp_assay::Result<T> + Sync,
) -> dp_assay::Result<Vec<T>> {
    use rayon::prelude::*;
    let unless_stopped = |question: &Q| if stop.is_set() { Ok(None) } else { answer(question).map(Some) };
    let answers = questions.par_iter().map(unless_stopped).collect::<dp_assay::Result<Option<Vec<T>>>>();
    // After a stop the result is discarded.
    Ok(answers?.unwrap_or_default())
}

/// A computation that is immediate and needs no thread.
pub fn quick<T>(outcome: dp_assay::Result<T>) -> Outcome<T> {
    outcome.map_err(Failure::from)
}
