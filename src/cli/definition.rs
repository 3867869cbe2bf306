//! The command line of the program as a whole, for the files that read it: set once, when the program starts.

use std::sync::OnceLock;

use clap::Command;

use super::help;

static DEFINITION: OnceLock<fn() -> Command> = OnceLock::new();

/// Sets the function that makes the commands and their options.
pub fn set(definition: fn() -> Command) {
    // A second one is the same.
    let _ = DEFINITION.set(definition);
}

/// The command line, its help in groups and an example under the help of every command.
pub fn command() -> Command {
    help::with_groups(DEFINITION.get().map_or_else(|| Command::new("assay"), |definition| definition()))
}
