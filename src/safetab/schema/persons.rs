//! person-records.txt: the rules of a record from any source.

use super::{
    Geography, RunScope,
    records::{CheckedRecord, CommonRules, RecordRules},
    rows::digits,
    validation::{Rule, ValidationReport},
};
use crate::safetab::groups::Specification;

/// The columns of person-records.txt.
pub const HEADINGS: [&str; 17] = [
    "QAGE",
    "QSEX",
    "HOUSEHOLDER",
    "TABBLKST",
    "TABBLKCOU",
    "TABTRACTCE",
    "TABBLK",
    "CENRACE",
    "QRACE1",
    "QRACE2",
    "QRACE3",
    "QRACE4",
    "QRACE5",
    "QRACE6",
    "QRACE7",
    "QRACE8",
    "QSPAN",
];
const AGE: usize = 0;
const SEX: usize = 1;
const HOUSEHOLDER: usize = 2;
const STATE: usize = 3;
const CENRACE: usize = 7;
const FIRST_RACE: usize = 8;
/// The greatest age allowed in a record.
const OLDEST: u64 = 115;

/// The rules of a person record, for rows from any source.
#[derive(Clone, Debug)]
pub struct RowCheck<'a> {
    common: CommonRules<'a, STATE, FIRST_RACE>,
}

impl<'a> RowCheck<'a> {
    /// The rules under a configuration, a specification and a geography; violations name the file.
    pub fn new(
        file: &str,
        scope: impl AsRef<RunScope>,
        specification: &Specification,
        geography: &'a Geography,
    ) -> Self {
        RowCheck { common: CommonRules::new(file, &HEADINGS, scope.as_ref(), specification, geography) }
    }
}

impl RecordRules for RowCheck<'_> {
    fn file(&self) -> &str {
        &self.common.file
    }

    fn headings(&self) -> &'static [&'static str] {
        &HEADINGS
    }

    fn geography(&self) -> &Geography {
        self.common.geography
    }

    #[inline]
    fn record(&self, fields: &[&[u8]]) -> Option<CheckedRecord> {
        if fields.len() != HEADINGS.len() {
            return None;
        }
        let age = age(fields[AGE])?;
        let sex = sex(fields[SEX])?;
        if !is_householder(fields[HOUSEHOLDER]) || digits::<2>(fields[CENRACE]).is_none() {
            return None;
        }
        let block = self.common.geography.find(self.common.geoid(fields)?)?;
        let combination = self.common.combination(fields)?;
        Some(CheckedRecord { block: Some(block), combination, counted: [sex, age] })
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
        if age(fields[AGE]).is_none() {
            wrong(AGE, &format!("a whole number from 0 to {OLDEST} of up to three digits"));
        }
        if sex(fields[SEX]).is_none() {
            wrong(SEX, "1 or 2");
        }
        if !is_householder(fields[HOUSEHOLDER]) {
            wrong(HOUSEHOLDER, "True or False");
        }
        if digits::<2>(fields[CENRACE]).is_none() {
            wrong(CENRACE, "2 digits");
        }
        let is_known = |geoid| self.common.geography.find(geoid).is_some();
        self.common.find_violations((line, fields), is_known, report);
    }
}

fn age(field: &[u8]) -> Option<u8> {
    let value = match field.len() {
        3 => digits::<3>(field)?,
        2 => digits::<2>(field)?,
        1 => digits::<1>(field)?,
        _ => return None,
    };
    (value <= OLDEST).then_some(value as u8)
}

fn sex(field: &[u8]) -> Option<u8> {
    match field {
        b"1" => Some(1),
        b"2" => Some(2),
        _ => None,
    }
}

fn is_householder(field: &[u8]) -> bool {
    matches!(field, b"True" | b"False")
}
