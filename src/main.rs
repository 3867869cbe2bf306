//! The program `assay`: parses the command line and calls the library.

use std::process::ExitCode;

mod cli;

fn main() -> ExitCode {
    cli::main()
}
