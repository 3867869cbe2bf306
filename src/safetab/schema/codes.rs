//! The codes that the files use: those that persons report, and those of characteristic iterations.

use std::fmt;

use super::rows;

/// The code of a race or an ethnicity that a person reports: four digits, the first not 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RaceEthCode(pub(super) u16);

impl RaceEthCode {
    /// The code in a field.
    pub fn read(field: &[u8]) -> Option<RaceEthCode> {
        rows::digits::<4>(field).filter(|value| *value >= 1000).map(|value| RaceEthCode(value as u16))
    }

    /// Its number, 1000 to 9999.
    pub fn number(self) -> u16 {
        self.0
    }

    /// The code of a number of four digits.
    pub fn new(number: u16) -> Option<RaceEthCode> {
        (1000..=9999).contains(&number).then_some(RaceEthCode(number))
    }
}

impl fmt::Display for RaceEthCode {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{}", self.0)
    }
}

/// The code of a characteristic iteration: four digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IterationCode(u16);

impl IterationCode {
    /// The code in a field.
    pub fn read(field: &[u8]) -> Option<IterationCode> {
        rows::digits::<4>(field).map(|value| IterationCode(value as u16))
    }

    /// The code in a field of 1 to 4 digits: published tables may omit leading zeros.
    pub fn read_padded(field: &[u8]) -> Option<IterationCode> {
        let value = match field.len() {
            1 => rows::digits::<1>(field),
            2 => rows::digits::<2>(field),
            3 => rows::digits::<3>(field),
            _ => rows::digits::<4>(field),
        };
        value.map(|value| IterationCode(value as u16))
    }

    /// Its number, 0 to 9999.
    pub fn number(self) -> u16 {
        self.0
    }
}

impl fmt::Display for IterationCode {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{:04}", self.0)
    }
}
