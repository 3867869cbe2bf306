//! The program with the query engine, installed beside this one that has none: the wheel dp-assay-tabulate brings it.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};

/// Its name. It is the whole program, built with the feature `tabulate`.
const NAME: &str = "assay-tabulate";

/// Where it is, if it is installed and this program has no engine of its own.
pub fn program() -> Option<PathBuf> {
    if cfg!(feature = "tabulate") {
        return None;
    }
    let name = format!("{NAME}{}", std::env::consts::EXE_SUFFIX);
    let program = std::env::current_exe().ok()?.parent()?.join(name);
    program.is_file().then_some(program)
}

/// Has it do what this program was told: it takes the place of this one.
#[cfg(unix)]
pub fn hand_over<T>(program: &Path) -> Result<T> {
    use std::os::unix::process::CommandExt;

    let why = Command::new(program).args(std::env::args_os().skip(1)).exec();
    Err(why).with_context(|| format!("{} cannot be started", program.display()))
}

/// Has it do what this program was told, and ends as it does.
#[cfg(not(unix))]
pub fn hand_over<T>(program: &Path) -> Result<T> {
    let status = Command::new(program).args(std::env::args_os().skip(1)).status();
    let status = status.with_context(|| format!("{} cannot be started", program.display()))?;
    std::process::exit(status.code().unwrap_or(2))
}
