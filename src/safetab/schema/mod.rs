//! The bureau's files: what they may say, read and checked to the last row before anything private is run.
//!
//! | file | what it is about |
//! | --- | --- |
//! | `validation` | [`ValidationReport`]: every broken rule, with its place |
//! | `codes` | [`RaceEthCode`] and [`IterationCode`] |
//! | `regions` | [`Pass`], [`RegionType`], [`IterationLevel`], [`Granularity`], [`Privacy`] |
//! | `rows` | rows of fields separated by `|`, read in bounded memory |
//! | `config` | [`SafeTabConfig`]: what config.json asks for |
//! | `config_file` | config.json read and checked key by key |
//! | `geography` | GRF-C.txt: [`Geography`], the blocks and their regions |
//! | `persons` | the rules of a row of person-records.txt: [`RowCheck`] |
//! | `person_files` | whole files of persons, checked on all threads: [`check_persons`] |
//!
//! race-characteristic-iterations.txt, ethnicity-characteristic-iterations.txt, race-and-ethnicity-codes.txt and
//! race-and-ethnicity-code-to-iteration.txt are read by [`Specification::read`](super::groups::Specification::read).
//!
//! All files but config.json are rows of fields separated by `|`, in UTF-8, under a line of headings. A byte order mark, line
//! ends of two bytes and blank lines are accepted, because the bureau's own files have them. Every other deviation is a
//! broken rule and goes into the [`ValidationReport`]; look there before using what was read.
//!
//! Sources: the public code of the production (uscensusbureau/DAS_2020_DDHCA_Production_Code, the schemas in
//! `safetab_p/tmlt/safetab_p/resources/config/input` and the rules of its input validation).

mod codes;
mod config;
mod config_file;
mod geography;
mod person_files;
mod persons;
mod regions;
pub(super) mod rows;
pub(super) mod validation;

pub use codes::{IterationCode, RaceEthCode};
pub use config::SafeTabConfig;
pub use geography::Geography;
pub use person_files::{CheckedPersons, check_persons, person_files};
pub use persons::{Combination, HEADINGS, Person, RowCheck};
pub use regions::{Granularity, IterationLevel, Pass, Privacy, RegionType};
pub use validation::{Rule, ValidationReport, Violation};
