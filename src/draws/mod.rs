//! One draw for one budget: what is written down before noise is drawn, so that a second draw into the same place, or of the same
//! records into another one, is noticed.
//!
//! To draw again is to spend again: whoever saw a part of an unfinished release, and then a second one of the same records, knows two
//! noisy values of one count. So a draw is written into a log before the first noise, its key is kept until the release is
//! complete, and a draw that was not completed is repeated bit by bit, or counted as spent. A log beside the records says of draws into
//! other folders. What lies outside of this: copies of the records under other names, and records that can be read but once.
//!
//! `assay tabulate` and `assay measure` publish through a [`ReleaseFolder`].
//!
//! | file | what it is about |
//! | --- | --- |
//! | `log` | what is written down of every draw: [`DrawIntent`] |
//! | `key` | the key that the noise follows from, until the release is complete |
//! | `records` | the log beside the confidential records, for draws into other folders |
//! | `budgets` | what all draws of the same records spend together: [`EarlierBudgets`] |
//! | `folder` | [`ReleaseFolder`]: the folder of a release, whole or not there |

mod budgets;
mod folder;
mod key;
mod log;
mod records;

pub use budgets::EarlierBudgets;
pub use folder::{Draw, ReleaseFolder, Taken, confidential_hash};
pub use log::DrawIntent;

/// A draw before the one at hand, which has spent its budget if anybody saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlierDraw {
    /// The budgets, by the names of what they were spent on: exact fractions.
    pub budget: Vec<(String, String)>,
    /// The unit of the budgets; empty if its log does not say.
    pub unit: String,
    /// Whether it was made of the same records into another folder.
    pub elsewhere: bool,
}

/// What to do about a draw that was begun and not completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnfinishedDraw {
    /// Nothing: the run is refused.
    Refuse,
    /// The same noise again, for the same inputs.
    Resume,
    /// Count its budget as spent and draw afresh.
    Discard,
}
