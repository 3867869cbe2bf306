//! SafeTab-P with a country's own codes, groups and geography, read from one specification file in TOML.
//!
//! The bureau's program counts persons of a detailed race or ethnicity in a region, in two stages. What it takes from the United States is
//! data here:
//!
//! | in the bureau's files and code | in a specification |
//! | --- | --- |
//! | states, counties, tracts, places, areas with codes of a fixed number of digits; two passes | `[[geography.level]]`: any levels, codes of any form; one pass |
//! | eight race codes and an ethnicity code of four digits | `[[attribute]]` with its codes, in one column or in several |
//! | iterations *alone* and *alone or in any combination*, levels 1 and 2, DETAILED_ONLY | `[[grouping]]`: groups by rules over attributes; `total_only` |
//! | sexes 1 and 2, ages to 115, the tables T01001 to T02003 | `[[table]]`: partitions of any attributes with one value |
//! | budgets and thresholds by type of region and level; suppression below the states | `[[tabulate]]`: budget, tables, thresholds and suppression of a level and a grouping |
//! | a total chooses the table of a second count | the same; with a single table there is one stage |
//!
//! Everything else is shared with the bureau's program: the noise of both stages ([`two_stage`](super::tabulate::two_stage)), the account
//! ([`guarantees`](super::tabulate::guarantees)), the certificate, the run with its log of draws, and the statistics of a rehearsal.
//! Households, edited files, coterminous regions, clusters and Parquet are the bureau's only, and refused.
//!
//! # Privacy
//!
//! The noise of an entry of `[[tabulate]]` is scaled to the stability of its grouping: an upper bound on the number of groups of any record
//! that the attributes allow, derived from the rules ([`stability`]). A record is in at most one region of a level, since its area is. Each
//! table is a partition, so it is in one cell of each. The counts of a record are checked against the stability when they are made.
//!
//! | file | subject |
//! | --- | --- |
//! | `algorithm` | the name of the program |
//! | `file` | the form of the TOML file |
//! | `attributes` | attributes and their values |
//! | `tables` | tables as sums of the finest cells |
//! | `rules` | population groups by rules |
//! | [`groupings`] | groups that are tabulated together |
//! | [`stability`] | the largest number of groups of a record, with its proof |
//! | [`specification`] | [`CountrySpecification`]: the whole file, checked |
//! | `geography` | the areas and the regions of each |
//! | `records` | reads and checks records |
//! | `counts` | the exact counts of all groups |
//! | `levels` | the population group levels: noise, thresholds, suppression |
//! | `output` | the tables of a release |
//! | `program` | the program, as a run needs it |
//! | `made_up` | made-up records, for rehearsals |
//! | [`tuning`] | the account of a specification; changes of its budgets |

mod algorithm;
mod attributes;
pub(super) mod counts;
mod file;
pub(super) mod geography;
pub mod groupings;
pub(super) mod levels;
pub(super) mod made_up;
pub(super) mod output;
pub(super) mod program;
pub(super) mod records;
mod rules;
pub mod specification;
pub mod stability;
mod tables;
pub mod tuning;

pub(super) use algorithm::ALGORITHM;
pub use specification::CountrySpecification;
