//! The mechanism to account for, as it was given.

use super::{levels::Release, neighbors::Neighbors};
use crate::account::Counts;

/// The name of the part of counts given one by one.
pub const SINGLES: &str = "counts given";

/// The mechanism to account for; all parts are composed.
///
/// ```
/// # use dp_assay_core as dp_assay;
/// use dp_assay::{account::Account, release::{Release, subject::Subject}};
/// let subject = Subject {
///     release: Some(Release::find("su-su-wang-2025")?),
///     levels: vec!["State".to_string()],
///     singles: vec!["5x10".parse()?],
///     ..Subject::default()
/// };
/// let resolved = subject.resolve()?;
/// assert_eq!(resolved.levels.len(), 2);
/// assert!(resolved.whole.epsilon("1e-11", 8)?.met);
/// # Ok::<(), dp_assay::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Subject {
    /// A release.
    pub release: Option<Release>,
    /// Its geolevels that count; all of them if none is named.
    pub levels: Vec<String>,
    /// Counts given one by one.
    pub singles: Vec<Counts>,
    /// Neighbor relation; overrides the release's own [default: the release's, or add-remove].
    pub neighbors: Option<Neighbors>,
    /// Whether single counts are already those that differ between bounded neighbors: they are not counted twice.
    pub counts_as_given: bool,
    /// The number of people who leave or enter together, at most: they share out what each of them changes in the worst way.
    pub group: u64,
    /// The number of releases of everything, each time with noise of its own.
    pub repeat: u64,
}

impl Default for Subject {
    /// Empty, for one person, once.
    fn default() -> Self {
        let (levels, singles) = (Vec::new(), Vec::new());
        Subject { release: None, levels, singles, neighbors: None, counts_as_given: false, group: 1, repeat: 1 }
    }
}
