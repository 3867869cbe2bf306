//! SafeTab-P with a country's own codes, groups and geography, read from one specification file in TOML.
//!
//! The bureau's program counts persons of a detailed race or ethnicity in a region, in two stages. What it takes from the United States is
//! data here. The bundled specification ([`CountrySpecification::template`]) says what the bureau's program does, and gives the same tables:
//!
//! | in the bureau's files and code | in a specification |
//! | --- | --- |
//! | states, counties, tracts, places, areas with codes of a fixed number of digits | `[[geography.level]]`: any levels, codes of any form, of one column or several |
//! | two passes, over the states of a filter and over Puerto Rico | `[[geography.part]]`: any parts |
//! | coterminous regions, by blocks with land | `same_places`, `[[geography.land]]` |
//! | eight race codes and an ethnicity code of four digits | `[[attribute]]` with its codes, in one column or in several |
//! | iterations *alone* and *alone or in any combination*, levels 1 and 2, DETAILED_ONLY, in three files | `[[grouping]]`: groups by rules over attributes, written there or in files; `total_only` |
//! | the stability of a formula | derived from the rules, or a larger one |
//! | sexes 1 and 2, ages to 115, the tables T01001 to T02003 | `[[table]]`: partitions of any attributes with one value |
//! | budgets and thresholds by type of region and level; suppression below the states | `[[tabulate]]`: budget, tables, thresholds and suppression of a level and a grouping |
//! | a total chooses the table of a second count | the same; with a single table there is one stage |
//! | T1 and T2 with their columns | `[output]`: files, separators and columns |
//!
//! Everything else is shared with the bureau's program: the noise of both stages ([`two_stage`](super::tabulate::two_stage)), the account
//! ([`guarantees`](super::tabulate::guarantees)), the certificate, the run with its log of draws, and the statistics of a rehearsal.
//! Households, edited files, clusters and Parquet are the bureau's only, and refused.
//!
//! # Privacy
//!
//! The noise of an entry of `[[tabulate]]` is scaled to the stability of its grouping: an upper bound on the number of groups of any record
//! that the attributes allow, derived from the rules ([`stability`]), or to a larger number that is stated. A record is in at most one region of
//! a level and in at most one part of the country, since its area is. Each table is a partition, so it is in one cell of each. The counts of a
//! record are checked against the stability when they are made.
//!
//! | file | subject |
//! | --- | --- |
//! | `algorithm` | the name of the program |
//! | `file` | the form of the TOML file |
//! | `companions` | the files that it names |
//! | `names` | names and codes |
//! | `attributes` | attributes and their values |
//! | `tables` | tables as sums of the finest cells |
//! | `rules` | population groups by rules |
//! | `group_tables` | groups from files |
//! | [`groupings`] | groups that are tabulated together |
//! | [`stability`] | the largest number of groups of a record, with its proof |
//! | `geography_rules` | the columns, parts and levels of a geography |
//! | `layout` | the files and columns of a release |
//! | [`specification`] | [`CountrySpecification`]: the whole file, checked |
//! | `geography` | the areas and the regions of each |
//! | `records` | reads and checks records |
//! | `counts` | the exact counts of all groups |
//! | `levels` | the population group levels: noise, thresholds, suppression |
//! | `output` | the tables of a release |
//! | `same_places` | regions made of the same areas |
//! | `program` | the program, as a run needs it |
//! | `made_up` | made-up records, for rehearsals |
//! | [`tuning`] | the account of a specification; changes of its budgets |

mod algorithm;
mod attributes;
mod companions;
pub(super) mod counts;
mod file;
pub(super) mod geography;
mod geography_rules;
mod group_tables;
pub mod groupings;
mod layout;
pub(super) mod levels;
pub(super) mod made_up;
mod names;
pub(super) mod output;
pub(super) mod program;
pub(super) mod records;
mod rules;
mod same_places;
pub mod specification;
pub mod stability;
mod tables;
pub mod tuning;

pub(super) use algorithm::ALGORITHM;
pub use specification::CountrySpecification;
