//! Ledgers: releases about the same records, as a TOML file, and an odometer that adds to it.
//!
//! | field | meaning |
//! | --- | --- |
//! | `name`, `title`, `source` | its name and its source |
//! | `rule` | the releases that compose, in words |
//! | `promise` | the epsilon at delta that everything in each population keeps, and whether noise may follow from results (`adaptive`) |
//! | `[[population]]` `name`, `neighbors` | records of one kind, and the relation of their account |
//! | `releases` | the releases (bundled names, or files beside the ledger) that one record enters, each once |
//! | `[[partition]]` `name`, `rule`, `parts` | a rule by which each record lies in exactly one part, and the names of all parts (optional) |
//! | `[[entry]]` `population`, `name` | the population of a further entry (optional if there is one), and its name (optional) |
//! | `release`, `safetab`, `measurements` | one of these: a release; a certificate of `tabulate`, or its folder; a folder of `measure` |
//! | `spine`, with `release` | of measurements: the folder of the spine and the release that was drawn, for an exact account |
//! | `times` | how often it was published, each time with noise of its own |
//! | `partition`, `part` | the part that it is about; without these it is about all records |
//! | `sha256` | that of the file of the entry: another file is refused |
//! | `log` | that of the line of the log in which the entry was added |
//!
//! | file | content |
//! | --- | --- |
//! | `file` | the TOML form and its rules, with what the log has beside it |
//! | `form` | the fields of the file |
//! | `entry` | an entry: where it is described, and what it spends |
//! | `population` | the entries of a population as a [`Ledger`](crate::account::ledger::Ledger) |
//! | `promise` | the promise of the ledger, and why its basis never changes |
//! | `resolved` | everything in a population as a mechanism |
//! | `log` | the log of what was added, each line with the hash of the one before |
//! | `request` | what is to be added, and the promise that it is to keep |
//! | `new_entry` | the text of an entry that is to be added |
//! | `least_noise` | the least noise of a release that fits beside what was spent |
//! | [`withdrawal`] | entries that were added and never published |
//! | `locked` | the lock by which additions wait for each other |
//! | `inputs` | the files that an account reads, for the provenance of answers |
//! | [`odometer`] | adds an entry if everything stays below a promise |

use std::path::Path;

use crate::{error::Result, io::files::write_new};

mod entry;
mod file;
mod form;
mod inputs;
mod least_noise;
mod locked;
mod log;
mod new_entry;
pub mod odometer;
mod population;
mod promise;
mod request;
mod resolved;
pub mod withdrawal;

pub use entry::{Kind, LedgerEntry, Spent};
pub use file::{LedgerFile, Partition};
pub use inputs::description_of;
pub use least_noise::LeastNoise;
pub use log::{LogLine, log_path};
pub use population::Population;
pub use promise::LedgerPromise;

/// Writes the file to start a ledger from; an existing file is an error.
pub fn write_template(path: &Path) -> Result<()> {
    write_new(path, template())
}

/// A file to start a ledger of one's own from: every field with a comment. It is itself a ledger.
pub fn template() -> &'static str {
    include_str!("../../data/templates/ledger.toml")
}
