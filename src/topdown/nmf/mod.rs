//! The Census Bureau's noisy measurement files: Parquet files of what a release drew, and what follows from them.
//!
//! A product is a folder, `US_Person_PL_PROD` for example, with a folder for each geolevel, in it `DPQuery` (noisy counts) and
//! `Constraint` (what is published without noise), and in these a Parquet file for each part of a state. A state has a
//! part `0ss` and, where there is one, a part `1ss` of American Indian, Alaska Native and Native Hawaiian areas. Units that
//! were bypassed have no noisy counts, so the units of a level are those of its constraints.
//!
//! | file | what it is about |
//! | --- | --- |
//! | [`folder`] | which files there are |
//! | [`complete`] | which parts of states it has to have, and lacks |
//! | [`rows`] | the rows of a file, some at a time |
//! | [`names`] | which query or constraint a row is, against the release |
//! | [`units`] | the units of a part of a state: geocodes, tree, zeros |
//! | [`counts`] | the noisy counts of its units, read in bounded memory |
//! | [`budgets`] | the variances that the noise of a release can have |
//! | `types` | what the numbers and texts of a column mean |
//! | [`paths`] | whether every level's share is carried once above each block |
//! | [`fit`] | whether counts of children fit those of their parents |
//! | [`check`] | whether all of it fits the release, and what was spent |
//! | [`survey`] | least squares over a folder, state by state |
//! | [`job`] | the same in parts, by several machines, or after an interruption |
//! | `saved` | answers as lines, for those who put parts together |
//! | [`meter`] | how far it is |
//! | [`answers`] | which counts are asked for, and the answers |
//! | [`labels`] | what the cells of a query are called |
//! | [`codes`] | GEOIDs of all kinds as people write them |
//! | [`areas`] | areas as sets of blocks: from a table, or a block assignment file |
//! | [`matched`] | what the keys of a file match, and what they do not |
//! | [`truth`] | errors beside the truth, in a rehearsal |
//! | [`mod@write`] | the same layout, written |
//! | [`totals`] | exact totals of states |
//! | [`tables`] | files of estimates, written and compared |

pub mod answers;
pub mod areas;
pub mod budgets;
pub mod check;
pub mod codes;
pub mod complete;
pub mod counts;
pub mod fit;
pub mod folder;
pub mod job;
pub mod labels;
pub mod matched;
pub mod meter;
pub mod names;
pub mod paths;
pub mod rows;
mod saved;
pub mod survey;
pub mod tables;
pub mod totals;
pub mod truth;
mod types;
pub mod units;
pub mod write;
