//! Population groups by rules: conditions on the values of attributes.

pub(super) use crate::safetab::memberships::Condition;

/// The values of all attributes of a record, each ascending and once, by attribute. At least one value of every attribute.
pub type RecordValues = [Vec<u32>];

/// A population group: the persons for whom all conditions hold.
#[derive(Clone, Debug)]
pub struct Group {
    /// Its code in the tables.
    pub code: String,
    /// Whether only its total is published, with the whole budget.
    pub total_only: bool,
    /// One or more.
    pub(super) conditions: Vec<Condition>,
}

impl Condition {
    pub(super) fn holds(&self, values: &RecordValues) -> bool {
        let mut listed = values[self.attribute].iter().map(|value| self.listed[*value as usize]);
        if self.only { listed.all(|listed| listed) } else { listed.any(|listed| listed) }
    }
}
