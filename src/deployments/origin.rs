//! Who printed the figures of a deployment: its curator, a paper, or those who wrote its entry in the registry; and for whom the parameters hold.

use serde::{Deserialize, Serialize};

use crate::{error::Result, replication::bundled_toml};

/// Who printed the figures that are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PrintedBy {
    /// A document of the curator.
    Curator,
    /// A paper.
    Paper,
    /// Another text that quotes the curator, whose own document was not read.
    SecondHand,
    /// An entry of the registry, which its authors write.
    Registry,
}

impl PrintedBy {
    /// The word in files and in JSON.
    pub fn word(self) -> &'static str {
        match self {
            PrintedBy::Curator => "curator",
            PrintedBy::Paper => "paper",
            PrintedBy::SecondHand => "second-hand",
            PrintedBy::Registry => "registry",
        }
    }

    /// In words.
    pub fn said(self) -> &'static str {
        match self {
            PrintedBy::Curator => "the curator's document",
            PrintedBy::Paper => "a paper",
            PrintedBy::SecondHand => "another text, second hand",
            PrintedBy::Registry => "the registry's entry",
        }
    }
}

/// For whom the parameters hold: deployments of one group alone are beside each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// A person, a household or a device, with everything that is released.
    Person,
    /// The same for a time.
    Time,
    /// An event or a report.
    Event,
    /// An establishment, a value or another unit.
    Other,
    /// The unit or the time is not stated.
    NotStated,
}

impl Group {
    /// All of them.
    pub const ALL: [Group; 5] = [Group::Person, Group::Time, Group::Event, Group::Other, Group::NotStated];

    /// The heading of its panel in a chart, which has less room.
    pub fn in_chart(self) -> &'static str {
        match self {
            Group::Person => "A person, household or device, all releases",
            Group::Time => "A person on a day, in a month or another time",
            Group::Event | Group::Other | Group::NotStated => self.heading(),
        }
    }

    /// The heading of the group.
    pub fn heading(self) -> &'static str {
        match self {
            Group::Person => "A person, a household or a device, and all that is released",
            Group::Time => "A person on a day, in a month or in another time",
            Group::Event => "An event or a report",
            Group::Other => "An establishment, a value or another unit",
            Group::NotStated => "The unit or the time is not stated",
        }
    }
}

/// What the registry says of an entry itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryFacts {
    /// Its status: Pending or Draft.
    pub status: Option<String>,
    /// The date of publication that it states.
    pub date: Option<String>,
    /// Those who wrote it.
    pub authors: Vec<String>,
}

/// The snapshot of the registry from which the entries were read.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    /// The address of its repository.
    pub address: String,
    /// The commit.
    pub commit: String,
    /// The day of the commit.
    pub committed: String,
    /// The day on which it was read.
    pub read: String,
    /// The number of its entries.
    pub entries: usize,
    /// Where to object to an entry.
    pub objections: String,
}

/// The name and the text of the file of the snapshot.
pub const SNAPSHOT_FILE: (&str, &str) =
    ("data/deployments/registry.toml", include_str!("../../data/deployments/registry.toml"));

impl Snapshot {
    /// The bundled one.
    pub fn bundled() -> Result<Snapshot> {
        bundled_toml(SNAPSHOT_FILE.0, SNAPSHOT_FILE.1)
    }

    /// The address of an entry at its commit.
    pub fn entry(&self, file: &str) -> String {
        format!("{}/blob/{}/deployments/{file}", self.address, self.commit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_snapshot_names_a_commit_and_its_entries() {
        let snapshot = Snapshot::bundled().unwrap();
        assert!(snapshot.commit.len() == 40 && snapshot.committed < snapshot.read);
        assert!(snapshot.entry("uber.yaml").ends_with("/deployments/uber.yaml"));
    }
}
