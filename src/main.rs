//! The program `assay`: parses the command line and calls the library.

// Tests compare with the functions of the C library as well.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

use std::process::ExitCode;

mod cli;
#[cfg(feature = "explore")]
mod explore;

/// The application that the program starts beside its commands.
#[cfg(feature = "explore")]
type Applications = explore::Command;
#[cfg(not(feature = "explore"))]
type Applications = std::convert::Infallible;

fn main() -> ExitCode {
    cli::main::<Applications>()
}
