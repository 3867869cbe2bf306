//! The outcome of a command, for the shell.

/// What a command that ran has to say to the shell.
pub enum Exit {
    Done,
    No,
}
