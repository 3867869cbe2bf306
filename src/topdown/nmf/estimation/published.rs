//! Published counts beside estimates: the count of each unit or area, and the counts that belong to none.

use std::{collections::HashSet, path::Path};

use crate::{
    error::Result,
    topdown::nmf::{answers::Subject, tables::Published},
};

/// Published counts, and the names of the units and areas that were estimated.
pub(super) struct PublishedCounts {
    published: Published,
    seen: HashSet<String>,
}

impl PublishedCounts {
    /// Reads a file of published counts.
    pub(super) fn read(path: &Path) -> Result<PublishedCounts> {
        Ok(PublishedCounts { published: Published::read(path)?, seen: HashSet::new() })
    }

    /// The published count of a unit or area that is estimated.
    pub(super) fn count(&mut self, subject: &Subject) -> Option<f64> {
        let names = match subject {
            Subject::Unit { code, geoid, .. } => vec![code, geoid],
            Subject::Area(name) => vec![name],
        };
        self.seen.extend(names.iter().filter(|name| !name.is_empty()).map(|name| (*name).clone()));
        names.into_iter().find_map(|name| self.published.count(name))
    }

    /// A note on published counts that belong to none of the units and areas.
    pub(super) fn unmatched(&self) -> Result<Option<String>> {
        self.published.held_against(self.seen.iter().map(String::as_str))
    }
}
