//! household-records.txt: the rules of a record from any source.

use super::{
    Geography, RunScope,
    records::{CheckedRecord, CommonRules, RecordRules},
    rows::digits,
    validation::{Rule, ValidationReport},
};
use crate::safetab::groups::Specification;

/// The columns of household-records.txt.
pub const HOUSEHOLD_HEADINGS: [&str; 16] = [
    "TABBLKST",
    "TABBLKCOU",
    "TABTRACTCE",
    "TABBLK",
    "HHRACE",
    "QRACE1",
    "QRACE2",
    "QRACE3",
    "QRACE4",
    "QRACE5",
    "QRACE6",
    "QRACE7",
    "QRACE8",
    "QSPAN",
    "HOUSEHOLD_TYPE",
    "TEN",
];
const STATE: usize = 0;
const HHRACE: usize = 4;
const FIRST_RACE: usize = 5;
const TYPE: usize = 14;
const TENURE: usize = 15;
/// The largest code of a combination of six races.
const MOST_RACE: u64 = 63;

/// The rules of a household record, for rows from any source.
#[derive(Clone, Debug)]
pub struct HouseholdCheck<'a> {
    scope: &'a RunScope,
    common: CommonRules<'a, STATE, FIRST_RACE>,
}

impl<'a> HouseholdCheck<'a> {
    /// The rules under a configuration, a specification and a geography; violations name the file.
    pub fn new(file: &str, scope: &'a RunScope, specification: &Specification, geography: &'a Geography) -> Self {
        HouseholdCheck { scope, common: CommonRules::new(file, &HOUSEHOLD_HEADINGS, scope, specification, geography) }
    }

    /// Whether a pass tabulates the state of a block.
    fn is_tabulated(&self, geoid: u64) -> bool {
        self.scope.pass_of(geoid / 10_u64.pow(13)).is_some()
    }
}

impl RecordRules for HouseholdCheck<'_> {
    fn file(&self) -> &str {
        &self.common.file
    }

    fn headings(&self) -> &'static [&'static str] {
        &HOUSEHOLD_HEADINGS
    }

    fn geography(&self) -> &Geography {
        self.common.geography
    }

    #[inline]
    fn record(&self, fields: &[&[u8]]) -> Option<CheckedRecord> {
        if fields.len() != HOUSEHOLD_HEADINGS.len() || !is_race(fields[HHRACE]) {
            return None;
        }
        let counted = [one_of(fields[TYPE], 5)?, one_of(fields[TENURE], 4)?];
        let geoid = self.common.geoid(fields)?;
        let found = self.common.geography.find(geoid);
        if found.is_none() && self.is_tabulated(geoid) {
            return None;
        }
        let block = found.filter(|block| self.common.geography.pass(*block).is_some());
        Some(CheckedRecord { block, combination: self.common.combination(fields)?, counted })
    }

    #[cold]
    #[inline(never)]
    fn find_violations(&self, line: u64, fields: &[&[u8]], report: &mut ValidationReport) {
        if self.common.is_of_other_width(line, fields, report) {
            return;
        }
        let mut wrong = |column: usize, allowed: &str| {
            self.common.wrong((line, fields), column, Rule::Value, allowed, report);
        };
        if !is_race(fields[HHRACE]) {
            wrong(HHRACE, "2 digits from 01 to 63");
        }
        if one_of(fields[TYPE], 5).is_none() {
            wrong(TYPE, "1 to 5");
        }
        if one_of(fields[TENURE], 4).is_none() {
            wrong(TENURE, "1 to 4");
        }
        let is_known = |geoid| self.common.geography.find(geoid).is_some() || !self.is_tabulated(geoid);
        self.common.find_violations((line, fields), is_known, report);
    }
}

fn is_race(field: &[u8]) -> bool {
    digits::<2>(field).is_some_and(|race| (1..=MOST_RACE).contains(&race))
}

/// A digit from 1 to `most`.
fn one_of(field: &[u8], most: u8) -> Option<u8> {
    match field {
        [digit] if (1..=most).contains(&digit.wrapping_sub(b'0')) => Some(digit - b'0'),
        _ => None,
    }
}
