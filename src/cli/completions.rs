//! `assay completions`: the script with which a shell completes the commands and options of this program.

use anyhow::Result;
use clap_complete::Shell;

use super::{definition, exit::Exit, output};

/// A script that makes a shell complete commands and options
#[derive(clap::Args)]
pub struct Args {
    /// The shell for which the script is
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

pub fn run(args: &Args) -> Result<Exit> {
    // Into memory first: the generator panics if its output cannot be written.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut definition::command(), "assay", &mut script);
    output::text(&String::from_utf8(script)?)?;
    Ok(Exit::Done)
}
