//! `assay man`: the manual pages, made from the same definitions as the help.

use std::{
    fs,
    io::{self, Write},
    path::PathBuf,
};

use anyhow::{Context, Result};
use clap_mangen::Man;

use super::{
    definition,
    exit::Exit,
    help::{self, Entry, Group},
    output,
};

/// The manual page of assay, or the pages of all commands
#[derive(clap::Args)]
pub struct Args {
    /// Write the pages of all commands into this folder instead
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<Exit> {
    // Built, so that every command knows its full name.
    let mut program = definition::command().disable_help_subcommand(true);
    program.build();
    let Some(folder) = &args.out else {
        output::text(&String::from_utf8(page(&program)?)?)?;
        return Ok(Exit::Done);
    };
    let place = || folder.display().to_string();
    fs::create_dir_all(folder).with_context(place)?;
    let mut pages = 0;
    let mut left = vec![program];
    while let Some(command) = left.pop() {
        let file = folder.join(format!("{}.1", name(&command)));
        fs::write(&file, page(&command)?).with_context(|| dp_assay::error::shown(&file))?;
        pages += 1;
        left.extend(command.get_subcommands().cloned());
    }
    output::text(&format!("{pages} pages in {}\n", place()))?;
    Ok(Exit::Done)
}

/// `assay`, `assay-epsilon`, `assay-risk-single`.
fn name(command: &clap::Command) -> String {
    command.get_display_name().unwrap_or(command.get_name()).to_string()
}

/// A command's page, with its examples under the usual heading of manual pages.
fn page(command: &clap::Command) -> io::Result<Vec<u8>> {
    let examples: Vec<String> = if name(command) == "assay" {
        help::GROUPS.iter().map(Group::example).collect()
    } else {
        help::entries().filter(|entry| page_name(entry) == name(command)).flat_map(Entry::examples).collect()
    };
    let man = Man::new(command.clone().after_help("")).manual("dp-assay");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    writeln!(page, ".SH EXAMPLES\n.nf")?;
    for example in examples {
        writeln!(page, "{}", example.replace('\\', "\\e").replace('-', "\\-"))?;
    }
    writeln!(page, ".fi")?;
    Ok(page)
}

fn page_name(entry: &Entry) -> String {
    format!("assay-{}", entry.path.replace(' ', "-"))
}
