//! The Census Bureau's noisy measurement files: Parquet files of the noisy counts of a release, and estimates from
//! them.
//!
//! A product is a folder, for example `US_Person_PL_PROD`, with a folder for each geolevel. This contains `DPQuery`
//! (noisy counts) and `Constraint` (values published without noise), each with a Parquet file for each part of a state.
//! A state has a part `0ss` and possibly a part `1ss` of American Indian, Alaska Native and Native Hawaiian areas.
//! Bypassed units have no noisy counts, so the units of a level are those of its constraints.
//!
//! | file | content |
//! | --- | --- |
//! | [`folder`] | the files of a folder |
//! | [`complete`] | the required parts of states, and the missing ones |
//! | [`rows`] | the rows of a file, in batches |
//! | [`names`] | the query or constraint of a row, according to the release |
//! | [`units`] | the units of a part of a state: geocodes, tree, zeros |
//! | [`counts`] | the noisy counts of its units, read in bounded memory |
//! | [`budgets`] | the variances that the noise of a release can have |
//! | `types` | the meaning of the numbers and texts of a column |
//! | [`paths`] | whether every level's share is carried once above each block |
//! | [`fit`] | whether counts of children fit those of their parents |
//! | [`check`] | whether a folder fits the release, and the budget that it spent |
//! | [`observe`] | observers of a check |
//! | [`audit`] | whether the pure noise in a folder has the declared laws |
//! | [`noise`] | the noise on the counts of a folder |
//! | [`survey`] | least squares over a folder, state by state |
//! | [`job`] | the same in parts, by several machines, or after an interruption |
//! | [`identity`] | what decides whether saved work is continued |
//! | [`estimation`] | a whole estimation: from a folder to a file of estimates |
//! | `exact` | whether whole counts exist that have given exact totals |
//! | `saved` | answers as lines of text, for combining parts |
//! | [`meter`] | the progress of a survey |
//! | [`answers`] | the requested counts, and the answers |
//! | [`codes`] | census variable codes: definitions, labels, names of places, files by code |
//! | [`compared`] | differences and shares of estimates, and files of covariances |
//! | [`ranks`], [`medians`] | ranks of areas and medians of attributes with numbers, from the same covariances |
//! | [`labels`] | the labels of the cells of a query |
//! | [`areas`] | areas as sets of blocks or parts of blocks: from a table, or a block assignment file |
//! | [`matched`] | the unmatched keys of a file |
//! | [`truth`] | errors against the truth, in a rehearsal |
//! | [`mod@write`] | writing the same layout |
//! | [`totals`] | exact totals of states |
//! | [`tables`] | files of estimates, written and compared |

pub mod answers;
pub mod areas;
pub mod audit;
pub mod budgets;
pub mod check;
pub mod codes;
pub mod compared;
pub mod complete;
pub mod counts;
pub mod estimation;
mod exact;
pub mod fit;
pub mod folder;
pub mod identity;
pub mod job;
pub mod labels;
pub mod matched;
pub mod medians;
pub mod meter;
pub mod names;
pub mod noise;
pub mod observe;
pub mod paths;
pub mod ranks;
pub mod rows;
mod saved;
pub mod survey;
pub mod tables;
pub mod totals;
pub mod truth;
mod types;
pub mod units;
pub mod write;
