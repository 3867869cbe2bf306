//! Common properties of records of persons and of households: a block, and codes of races and ethnicity.

use super::{
    Geography, RaceEthCode, RunScope,
    combination::{CODES, RACES, pack},
    rows::{self, digits},
    validation::{Location, Rule, ValidationReport},
};
use crate::safetab::groups::Specification;

/// The rules of one kind of record, for rows from any source.
pub trait RecordRules: Sync {
    /// The file named in violations.
    fn file(&self) -> &str;

    /// The columns of the file, in their order.
    fn headings(&self) -> &'static [&'static str];

    /// The blocks that records may refer to.
    fn geography(&self) -> &Geography;

    /// The record in a row; `None` if it breaks a rule.
    fn record(&self, fields: &[&[u8]]) -> Option<CheckedRecord>;

    /// Reports every rule that a row breaks.
    fn find_violations(&self, line: u64, fields: &[&[u8]], report: &mut ValidationReport);

    /// The record in a row; `None` if it breaks a rule, and then every rule that it breaks is reported.
    #[inline]
    fn check_row(&self, line: u64, fields: &[&[u8]], report: &mut ValidationReport) -> Option<CheckedRecord> {
        let record = self.record(fields);
        if record.is_none() {
            self.find_violations(line, fields, report);
        }
        record
    }
}

/// The tabulated values of a correct record of any kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckedRecord {
    /// The block, by its index in the geography; `None` in a state that no pass tabulates.
    pub block: Option<u32>,
    /// The codes, packed for [`Combination::unpack`](super::Combination::unpack).
    pub combination: u128,
    /// The sex and the age of a person; the type and the tenure of a household.
    pub counted: [u8; 2],
}

/// The rules of the columns common to all records. The block has four columns from `STATE`, the codes nine from `FIRST_RACE`.
#[derive(Clone, Debug)]
pub(super) struct CommonRules<'a, const STATE: usize, const FIRST_RACE: usize> {
    pub(super) file: String,
    pub(super) geography: &'a Geography,
    headings: &'static [&'static str],
    /// Whether each code exists.
    known: Vec<bool>,
    races_taken: usize,
}

impl<'a, const STATE: usize, const FIRST_RACE: usize> CommonRules<'a, STATE, FIRST_RACE> {
    const ETHNICITY: usize = FIRST_RACE + RACES;

    pub(super) fn new(
        file: &str,
        headings: &'static [&'static str],
        scope: &RunScope,
        specification: &Specification,
        geography: &'a Geography,
    ) -> Self {
        let mut known = vec![false; CODES];
        specification.codes().for_each(|code| known[usize::from(code.0)] = true);
        CommonRules { file: file.to_string(), geography, headings, known, races_taken: scope.max_race_codes() as usize }
    }

    /// The GEOID in a row, if its parts are digits.
    #[inline]
    pub(super) fn geoid(&self, fields: &[&[u8]]) -> Option<u64> {
        let state = digits::<2>(fields[STATE])?;
        Some(rows::geoid(
            state,
            digits::<3>(fields[STATE + 1])?,
            digits::<6>(fields[STATE + 2])?,
            digits::<4>(fields[STATE + 3])?,
        ))
    }

    /// The codes of a row, packed.
    #[inline]
    pub(super) fn combination(&self, fields: &[&[u8]]) -> Option<u128> {
        let mut races = [0_u16; RACES];
        let mut count = 0;
        for field in &fields[FIRST_RACE..Self::ETHNICITY] {
            if is_null(field) {
                break;
            }
            races[count] = self.code(field)?;
            count += 1;
        }
        let nulls = &fields[FIRST_RACE + count..Self::ETHNICITY];
        if count == 0 || !nulls.iter().all(|field| is_null(field)) {
            return None;
        }
        let ethnicity = self.code(fields[Self::ETHNICITY])?;
        Some(pack(&mut races[..count.min(self.races_taken)], ethnicity))
    }

    fn code(&self, field: &[u8]) -> Option<u16> {
        RaceEthCode::read(field).map(|code| code.0).filter(|code| self.known[usize::from(*code)])
    }

    /// Reports a row with another number of fields; returns whether it is one.
    pub(super) fn is_of_other_width(&self, line: u64, fields: &[&[u8]], report: &mut ValidationReport) -> bool {
        if fields.len() == self.headings.len() {
            return false;
        }
        let row = fields.join(&b'|');
        let allowed = format!("{} fields; this row has {}", self.headings.len(), fields.len());
        report.add(Location { file: &self.file, line, column: 0, field: "" }, Rule::Fields, row, &allowed);
        true
    }

    /// Reports a violation in a column.
    pub(super) fn wrong(
        &self,
        (line, fields): (u64, &[&[u8]]),
        column: usize,
        rule: Rule,
        allowed: &str,
        report: &mut ValidationReport,
    ) {
        let at = Location { file: &self.file, line, column: column as u32 + 1, field: self.headings[column] };
        let rule = if std::str::from_utf8(fields[column]).is_ok() { rule } else { Rule::Encoding };
        report.add(at, rule, fields[column], allowed);
    }

    /// Reports every rule that the block and the codes of a row break. The caller decides whether a block that is not in the geography is a
    /// violation.
    pub(super) fn find_violations(
        &self,
        row: (u64, &[&[u8]]),
        is_known: impl Fn(u64) -> bool,
        report: &mut ValidationReport,
    ) {
        let (line, fields) = row;
        for (column, (width, is_number)) in (STATE..).zip([
            (2, digits::<2>(fields[STATE]).is_some()),
            (3, digits::<3>(fields[STATE + 1]).is_some()),
            (6, digits::<6>(fields[STATE + 2]).is_some()),
            (4, digits::<4>(fields[STATE + 3]).is_some()),
        ]) {
            if !is_number {
                self.wrong(row, column, Rule::Value, &format!("{width} digits"), report);
            }
        }
        let mut after_null = false;
        for (column, field) in fields.iter().enumerate().take(Self::ETHNICITY + 1).skip(FIRST_RACE) {
            let or_null = if column > FIRST_RACE && column < Self::ETHNICITY { ", or Null" } else { "" };
            if is_null(field) && column < Self::ETHNICITY {
                after_null = true;
                if column == FIRST_RACE {
                    self.wrong(row, column, Rule::Value, "a code of four digits, the first not 0", report);
                }
                continue;
            }
            match RaceEthCode::read(field) {
                None => {
                    let allowed = format!("a code of four digits, the first not 0{or_null}");
                    self.wrong(row, column, Rule::Value, &allowed, report);
                }
                Some(code) if !self.known[usize::from(code.0)] => {
                    self.wrong(row, column, Rule::UnknownCode, "the codes of race-and-ethnicity-codes.txt", report);
                }
                Some(_) if after_null && column < Self::ETHNICITY => {
                    let allowed = "Null, since a field of race before it is Null";
                    self.wrong(row, column, Rule::AfterNull, allowed, report);
                }
                Some(_) => {}
            }
        }
        if self.geoid(fields).is_some_and(|geoid| !is_known(geoid)) {
            let at = Location { file: &self.file, line, column: STATE as u32 + 1, field: "block" };
            report.add(at, Rule::UnknownBlock, fields[STATE..STATE + 4].concat(), "the blocks of the GRF-C");
        }
    }
}

pub(super) fn is_null(field: &[u8]) -> bool {
    field == b"Null"
}
