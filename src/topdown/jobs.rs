//! Shared by jobs of measuring and estimating: the input that an error is about, and the progress.

use std::fmt;

use crate::error::{Error, Result};

/// An error of a job, with the input that it is about. Callers name inputs in their own words, such as options or
/// arguments.
#[derive(Debug)]
pub struct InputError<I> {
    /// The input, if the error is about one of them.
    pub input: Option<I>,
    /// The error.
    pub error: Error,
}

impl<I> InputError<I> {
    /// An error about this input.
    pub(super) fn new(input: I, error: Error) -> Self {
        InputError { input: Some(input), error }
    }
}

impl<I> From<Error> for InputError<I> {
    fn from(error: Error) -> Self {
        InputError { input: None, error }
    }
}

impl<I> From<InputError<I>> for Error {
    fn from(error: InputError<I>) -> Error {
        error.error
    }
}

impl<I> fmt::Display for InputError<I> {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        self.error.fmt(out)
    }
}

impl<I: fmt::Debug> std::error::Error for InputError<I> {}

/// Results whose errors are about an input.
pub(super) trait About<T> {
    /// Names the input that an error is about.
    fn about<I>(self, input: I) -> std::result::Result<T, InputError<I>>;
}

impl<T> About<T> for Result<T> {
    fn about<I>(self, input: I) -> std::result::Result<T, InputError<I>> {
        self.map_err(|error| InputError::new(input, error))
    }
}

/// The progress of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The current stage.
    pub stage: &'static str,
    /// The amount done.
    pub done: u64,
    /// The total amount; zero if it is not known.
    pub of: u64,
}

/// Receives the progress. An error ends the job before anything else is written.
pub type See<'s> = dyn FnMut(Progress) -> Result<()> + 's;
