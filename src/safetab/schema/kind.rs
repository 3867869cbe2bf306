//! The kind of records: persons, whose program is SafeTab-P, or households, whose program is SafeTab-H.

/// A kind of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordKind {
    /// Persons, as in person-records.txt; their cells are sexes and ages.
    Persons,
    /// Households, as in household-records.txt, in edited files every occupied housing unit; their cells are types and tenures.
    Households,
}

impl RecordKind {
    /// The name of the program for these records.
    pub const fn program(self) -> &'static str {
        match self {
            RecordKind::Persons => "SafeTab-P",
            RecordKind::Households => "SafeTab-H",
        }
    }
}
