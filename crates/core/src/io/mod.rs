//! Input and output: reading and writing files and their formats. This module is independent of privacy.
//!
//! | file | subject |
//! | --- | --- |
//! | [`csv_reader`] | the one reader of CSV: strict, streaming, with line and column of every cell |
//! | [`reading`] | reads whole files, with a size limit |
//! | `files` | writes to a temporary file and renames it; lists unfinished files for Ctrl-C |
//! | `same_file` | whether a confidential input is the same as before |
//! | `toml_reader`, `toml_node` | TOML, with the line and column of every value |
//! | `yaml_tree` | YAML as a tree with places; anchors, tags and keys that occur twice are refused |
//! | [`date`] | days of the calendar |
//! | [`provenance`] | the program, command line and inputs of an answer |
//! | `foreign` | turns panics of the Parquet reader into errors |
//! | `remote` | work of other processes for this one, stopped at Ctrl-C |
//! | [`threads`] | the number of threads that the system allows |

#[cfg(feature = "mechanisms")]
pub mod csv_reader;
#[cfg(feature = "mechanisms")]
pub mod date;
#[cfg(feature = "mechanisms")]
pub mod files;
#[cfg(feature = "mechanisms")]
pub mod foreign;
#[cfg(feature = "mechanisms")]
pub mod provenance;
pub mod reading;
#[cfg(feature = "mechanisms")]
pub mod remote;
#[cfg(feature = "mechanisms")]
pub mod same_file;
pub mod threads;
#[cfg(feature = "mechanisms")]
pub mod toml_node;
pub mod toml_reader;
#[cfg(feature = "mechanisms")]
pub mod yaml_tree;
