//! Progress on standard error: from the third second on, and only if it is a terminal.
//!
//! There is one terminal for the whole process, like standard error, so its line is a static. All printing ends the line
//! first.

use std::{
    io::IsTerminal,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use dp_assay::topdown::jobs::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shorter work shows nothing.
const PATIENCE: Duration = Duration::from_secs(2);
const TICK: Duration = Duration::from_millis(200);

/// The line, and the work that it describes.
static LINE: Mutex<Option<Line>> = Mutex::new(None);
/// The number of lines that were begun: a thread that waited for an earlier one shows nothing.
static BEGUN: AtomicU64 = AtomicU64::new(0);

struct Line {
    bar: ProgressBar,
    is_shown: bool,
    /// Whether the total is known, so that a bar can be drawn.
    is_bar: bool,
}

/// Begins a line, which is shown after two seconds.
pub fn begin(message: &str) {
    if !std::io::stderr().is_terminal() {
        return;
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    bar.set_style(style(false));
    bar.set_message(message.to_string());
    set(Some(Line { bar, is_shown: false, is_bar: false }));
    let own = BEGUN.fetch_add(1, Ordering::SeqCst) + 1;
    // If no thread can be started, nothing is shown.
    let _ = thread::Builder::new().spawn(move || {
        thread::sleep(PATIENCE);
        let mut is_there = true;
        while is_there {
            is_there = false;
            with(|line| {
                if BEGUN.load(Ordering::SeqCst) == own {
                    if !std::mem::replace(&mut line.is_shown, true) {
                        line.bar.set_draw_target(ProgressDrawTarget::stderr());
                    }
                    line.bar.tick();
                    is_there = true;
                }
            });
            thread::sleep(TICK);
        }
    });
}

/// Reports that `done` of `of` steps are done; without a total the line only counts the seconds.
pub fn at(done: u64, of: u64) {
    with(|line| {
        if (of > 0) != line.is_bar {
            line.is_bar = of > 0;
            line.bar.set_style(style(line.is_bar));
        }
        line.bar.set_length(of);
        line.bar.set_position(done.min(of));
    });
}

/// Names the part of the work that begins.
pub fn stage(message: &str) {
    with(|line| line.bar.set_message(message.to_string()));
    at(0, 0);
}

/// Shows the progress of a job, which names its stages again and again.
pub fn show(now: Progress) {
    with(|line| {
        if line.bar.message() != now.stage {
            line.bar.set_message(now.stage);
        }
    });
    at(now.done, now.of);
}

/// Removes the line before other output. Returns whether one was shown.
pub fn end() {
    let line = LINE.lock().ok().and_then(|mut line| line.take());
    if let Some(line) = line.filter(|line| line.is_shown) {
        line.bar.finish_and_clear();
    }
}

/// Counts steps that are done in any order, by several threads.
pub struct Steps {
    of: u64,
    done: AtomicU64,
}

impl Steps {
    /// This number of steps, none of them done.
    pub fn new(of: u64) -> Steps {
        Steps { of, done: AtomicU64::new(0) }
    }

    /// This number of steps of a part of the work that begins.
    pub fn of_stage(message: &str, of: u64) -> Steps {
        stage(message);
        // A bar of one step would stand still.
        if of > 1 {
            at(0, of);
        }
        Steps::new(of)
    }

    /// One more is done.
    pub fn step(&self) {
        at(self.done.fetch_add(1, Ordering::Relaxed) + 1, self.of);
    }
}

fn style(is_bar: bool) -> ProgressStyle {
    let form =
        if is_bar { "{msg} {wide_bar} {human_pos} of {human_len}, {eta} left" } else { "{spinner} {msg}, {elapsed}" };
    ProgressStyle::with_template(form).unwrap_or_else(|_| ProgressStyle::default_bar())
}

fn set(new: Option<Line>) {
    if let Ok(mut line) = LINE.lock() {
        *line = new;
    }
}

/// Applies `act` to the line, if there is one.
fn with(act: impl FnOnce(&mut Line)) {
    if let Ok(mut line) = LINE.lock()
        && let Some(line) = line.as_mut()
    {
        act(line);
    }
}
