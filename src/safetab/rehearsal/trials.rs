//! The trials of a rehearsal: their number, and progress.

use super::reports::OneRun;
use crate::{
    error::{Error, Result},
    noise::Streams,
    safetab::tabulate::Progress,
};

/// The largest number of trials of one rehearsal.
pub const MOST_TRIALS: u32 = 100_000;

/// An error for a number of trials that is not allowed.
pub(super) fn check_trials(trials: u32) -> Result<()> {
    match (1..=MOST_TRIALS).contains(&trials) {
        true => Ok(()),
        false => Err(Error::out_of_range("the number of trials", trials, &format!("1 to {MOST_TRIALS}"))),
    }
}

/// One run over the records, with its truth and the errors so far.
pub(super) trait Trials {
    /// The number of groups with noise in a trial.
    fn groups(&self) -> u64;

    /// Draws noise for all levels once. Writes the published groups to `one_run`, if given. Calls `progress` with the number of groups.
    fn draw(
        &mut self,
        streams: &mut Streams,
        one_run: Option<&mut OneRun>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<()>;
}

/// Runs the trials of all passes; the first one is written to `one_run`, if given. An error for a run without groups, which lacks a budget or
/// totals.
pub(super) fn run(
    passes: &mut [impl Trials],
    trials: u32,
    mut one_run: Option<OneRun>,
    streams: &mut Streams,
    progress: &mut dyn FnMut(Progress),
) -> Result<()> {
    let of = u64::from(trials) * passes.iter().map(Trials::groups).sum::<u64>();
    if of == 0 {
        return Err(Error::missing("nothing to rehearse: no level has groups and a budget above 0"));
    }
    let mut done = 0;
    let mut count = |more: u64| {
        done += more;
        progress(Progress { stage: "drawing noise", done, of });
    };
    for trial in 0..trials {
        for pass in &mut *passes {
            pass.draw(streams, one_run.as_mut().filter(|_| trial == 0), &mut count)?;
        }
    }
    one_run.map_or(Ok(()), OneRun::finish)
}
