//! One draw for one budget: what is written down before noise is drawn, so that no budget is spent twice unawares.
//!
//! To draw again is to spend again: whoever saw a part of an unfinished release, and then a second one of the same records, knows two
//! noisy values of one count. So a draw is written into a log before the first noise, its key is kept until the release is
//! complete, and a draw that was not completed is repeated bit by bit, or counted as spent.
//!
//! `assay tabulate` and `assay measure` publish through a [`ReleaseFolder`].
//!
//! | file | what it is about |
//! | --- | --- |
//! | `log` | what is written down of every draw: [`DrawIntent`] |
//! | `key` | the key that the noise follows from, until the release is complete |
//! | `folder` | [`ReleaseFolder`]: the folder of a release, whole or not there |

mod folder;
mod key;
mod log;

pub use folder::{Draw, ReleaseFolder, Taken, confidential_hash};
pub use log::DrawIntent;

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
