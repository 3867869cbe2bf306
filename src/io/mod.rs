//! Input and output: reading and writing files and their formats. This module is independent of privacy.
//!
//! | file | subject |
//! | --- | --- |
//! | [`csv_reader`] | the one reader of CSV: strict, streaming, with line and column of every cell |
//! | [`reading`] | files are read whole, with a limit |
//! | `files` | files are written beside and renamed; the list of those that are unfinished, for Ctrl-C |
//! | `same_file` | whether a confidential input is the same as before |
//! | `toml_reader`, `toml_node` | TOML, with the line and column of every value |
//! | `yaml_tree` | YAML as a tree with places; anchors, tags and keys that occur twice are refused |
//! | [`provenance`] | which program, command line and inputs an answer comes from |
//! | `foreign` | panics of the Parquet reader become errors |
//! | `remote` | work of other processes for this one, stopped at Ctrl-C |
//! | [`threads`] | how many threads can be had |

#[cfg(feature = "mechanisms")]
pub mod csv_reader;
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
