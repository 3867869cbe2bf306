//! The application that the program starts beside its commands, on top of their answers.

use std::convert::Infallible;

use anyhow::Result;
use clap::Subcommand;

use super::exit::Exit;

/// Commands of an application.
pub trait Application: Subcommand {
    /// Runs the one that was given.
    fn run(&self) -> Result<Exit>;
}

/// None.
impl Application for Infallible {
    fn run(&self) -> Result<Exit> {
        match *self {}
    }
}
