//! Whom an account is about, in words: one record or a group of them, under a relation, in one release or in several.

use super::neighbors::Neighbors;

/// The unit of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The neighbor relation.
    pub neighbors: Neighbors,
    /// The number of records that differ, at most.
    pub group: u64,
    /// The number of releases of everything, each with noise of its own.
    pub repeat: u64,
}

impl Unit {
    /// The records, as in "one record" and "a group of up to 2 records".
    pub fn records(&self) -> String {
        match self.group {
            1 => "one record".to_string(),
            group => format!("a group of up to {group} records"),
        }
    }

    /// The relation, in a few words.
    pub fn meaning(&self) -> String {
        match (self.neighbors, self.group) {
            (neighbors, 1) => neighbors.meaning().to_string(),
            (Neighbors::AddRemove, group) => format!("up to {group} records more or less"),
            (Neighbors::Bounded, group) => format!("up to {group} records changed"),
        }
    }

    /// The difference of two neighbors, after "two data sets of which".
    pub fn difference(&self) -> String {
        match (self.neighbors, self.group) {
            (Neighbors::AddRemove, 1) => "one has a record that the other has not".to_string(),
            (Neighbors::AddRemove, group) => format!("one has up to {group} records that the other has not"),
            (Neighbors::Bounded, 1) => "one record differs, and the number of records is the same".to_string(),
            (Neighbors::Bounded, group) => {
                format!("up to {group} records differ, and the number of records is the same")
            }
        }
    }

    /// The answer to [`question`](Unit::question) that a prior is about, after "the probability of".
    pub fn first_answer(&self) -> String {
        match self.neighbors {
            Neighbors::AddRemove => format!("the presence of {} in the data", self.records()),
            Neighbors::Bounded => format!("the first of two possibilities about {}", self.records()),
        }
    }

    /// What an adversary decides about one person, or about a group.
    pub fn question(&self) -> String {
        match (self.neighbors, self.group) {
            (Neighbors::AddRemove, 1) => "whether a given record is in the data".to_string(),
            (Neighbors::AddRemove, group) => {
                format!("whether a given set of up to {group} records is in the data, all or none,")
            }
            (Neighbors::Bounded, 1) => "which of two records is in the data".to_string(),
            (Neighbors::Bounded, group) => {
                format!("which of two sets of up to {group} records is in the data")
            }
        }
    }

    /// What the posterior of events means, after "Posterior, rounded up: ".
    pub fn posterior_of_events(&self, delta: &str) -> String {
        let (records, its) = match self.group {
            1 => ("the record is", "its"),
            _ => ("the records are", "their"),
        };
        match self.neighbors {
            Neighbors::AddRemove => format!(
                "no event that has at least probability {delta} if {records} in the data lifts the posterior of that above this, and the same holds of {its} \
                 absence at that prior of absence; rarer outputs may"
            ),
            Neighbors::Bounded => format!(
                "no event that has at least probability {delta} under one of both possibilities lifts the posterior of that one from this prior above this; rarer outputs may"
            ),
        }
    }

    /// The record that may be there, or the group of records.
    pub fn the_records(&self) -> &'static str {
        if self.group == 1 { "the record" } else { "the records" }
    }

    /// The two cases that an adversary has to tell apart, after "the outputs": "with and without the record".
    pub fn cases(&self) -> &'static str {
        match (self.neighbors, self.group) {
            (Neighbors::AddRemove, 1) => "with and without the record",
            (Neighbors::AddRemove, _) => "with and without the records",
            (Neighbors::Bounded, 1) => "with either record",
            (Neighbors::Bounded, _) => "with either set of records",
        }
    }

    /// Whom a target is about where that is not one record once: empty, or ` for a group of up to 2 records, released 3 times with noise of its own each time`.
    pub fn of_target(&self) -> String {
        let records = if self.group == 1 { String::new() } else { format!(" for {}", self.records()) };
        format!("{records}{}", self.repetitions())
    }

    /// How often everything is released: empty if once, else `, released 3 times with noise of its own each time`.
    pub fn repetitions(&self) -> String {
        match self.repeat {
            1 => String::new(),
            repeat => format!(", released {repeat} times with noise of its own each time"),
        }
    }
}
