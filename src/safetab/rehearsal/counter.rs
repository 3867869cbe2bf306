//! The number of trials and of groups of a rehearsal, and its progress.

use crate::{
    error::{Error, Result},
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

/// An error for a run without groups, which lacks a budget or totals.
pub(super) fn check_groups(groups: u64) -> Result<()> {
    match groups {
        0 => Err(Error::missing("nothing to rehearse: no level has groups and a budget above 0")),
        _ => Ok(()),
    }
}

/// A callback for the number of groups that have noise so far.
pub(super) fn counter<'a>(of: u64, progress: &'a mut dyn FnMut(Progress)) -> impl FnMut(u64) + 'a {
    let mut done = 0;
    move |more| {
        done += more;
        progress(Progress { stage: "drawing noise", done, of });
    }
}
