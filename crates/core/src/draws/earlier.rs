//! Draws before the current one.

use super::DrawIntent;

/// A draw before the current one, which has spent its budget if anybody saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlierDraw {
    /// Its intent.
    pub intent: DrawIntent,
    /// Whether it drew from the same records into another folder.
    pub elsewhere: bool,
}

/// Handling of a draw that was started and not completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnfinishedDraw {
    /// Refuse the run.
    Refuse,
    /// Draw the same noise again, for the same inputs.
    Resume,
    /// Count its budget as spent and draw afresh.
    Discard,
}
