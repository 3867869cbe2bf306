//! One draw for one budget: a log, written before noise is drawn, detects a second draw into the same place, or of the
//! same records into another place.
//!
//! Two draws of the same records spend two budgets: a reader of an unfinished release and of a second one knows two
//! noisy values of each count. So a draw is logged before the first noise, and its key is kept until the release is
//! complete. A draw that was not completed is repeated bit by bit, or counted as spent. A log beside the records lists
//! draws into other folders. Three cases are not detected: copies of the records under other names, hard links in other
//! folders, and records that can be read only once.
//!
//! `assay tabulate` and `assay measure` publish through a [`ReleaseFolder`].
//!
//! | file | content |
//! | --- | --- |
//! | `log` | the log entry of a draw: [`DrawIntent`] |
//! | `key` | the key that determines the noise, until the release is complete |
//! | `records` | the log beside the confidential records, for draws into other folders |
//! | `earlier` | draws before the current one |
//! | `budgets` | the total budget of all draws of the same records: [`EarlierBudgets`] |
//! | `folder` | [`ReleaseFolder`]: the folder of a release, complete or absent |

mod budgets;
mod earlier;
mod folder;
mod key;
mod log;
mod records;

pub use budgets::{EarlierBudgets, OtherBudgets};
pub use earlier::{EarlierDraw, UnfinishedDraw};
pub use folder::{Draw, ReleaseFolder, Taken, confidential_hash};
pub use log::{ADD_REMOVE, DrawIntent, OF_HOUSEHOLDS};
