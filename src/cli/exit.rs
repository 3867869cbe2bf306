//! The outcome of a command, for the shell.

/// The outcome of a command for the shell.
pub enum Exit {
    Done,
    No,
}
