//! person-records.txt: the rules of a record, whatever its source.

use super::{
    Geography, RaceEthCode, SafeTabConfig,
    rows::{self, digits},
    validation::{Location, Rule, ValidationReport},
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
const ETHNICITY: usize = 16;
/// The oldest age that a record may have.
const OLDEST: u64 = 115;
/// Codes are numbers below this.
const CODES: usize = 10_000;
/// Bits of a code in a packed combination: 9 of them fill 126.
const BITS: u32 = 14;

/// The race codes of a person, each once and ascending, and the ethnicity code: all that the iterations depend on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Combination {
    races: Vec<RaceEthCode>,
    ethnicity: RaceEthCode,
}

impl Combination {
    /// From codes in any order; duplicates count once.
    pub fn new(races: impl IntoIterator<Item = RaceEthCode>, ethnicity: RaceEthCode) -> Combination {
        let mut races: Vec<RaceEthCode> = races.into_iter().collect();
        races.sort_unstable();
        races.dedup();
        Combination { races, ethnicity }
    }

    /// The race codes, ascending.
    pub fn races(&self) -> &[RaceEthCode] {
        &self.races
    }

    /// The ethnicity code.
    pub fn ethnicity(&self) -> RaceEthCode {
        self.ethnicity
    }

    /// The combination that [`Person::combination`] packs.
    pub fn unpack(packed: u128) -> Combination {
        let code = |place: u32| RaceEthCode((packed >> (BITS * place)) as u16 & ((1 << BITS) - 1));
        let races = (1..=8).map(code).filter(|code| code.0 > 0);
        Combination::new(races, code(0))
    }
}

/// The person of a correct row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Person {
    /// The age, 0 to 115.
    pub age: u8,
    /// The sex, 1 or 2.
    pub sex: u8,
    /// The block, by its place in the geography.
    pub block: u32,
    /// The ethnicity code, and above it the race codes that are taken, each once and ascending, 14 bits each: equal
    /// numbers are equal combinations.
    pub combination: u128,
}

/// The rules of a person record, for rows from any source.
#[derive(Clone, Debug)]
pub struct RowCheck<'a> {
    pub(super) file: String,
    pub(super) geography: &'a Geography,
    /// Which codes exist.
    known: Vec<bool>,
    races_taken: usize,
}

impl<'a> RowCheck<'a> {
    /// The rules under a configuration, a specification and a geography; violations will name the file.
    pub fn new(file: &str, config: &SafeTabConfig, specification: &Specification, geography: &'a Geography) -> Self {
        let mut known = vec![false; CODES];
        specification.codes().for_each(|code| known[usize::from(code.0)] = true);
        RowCheck { file: file.to_string(), geography, known, races_taken: config.max_race_codes() as usize }
    }

    /// The person of a row; `None` if it breaks a rule, and then every rule that it breaks is reported.
    #[inline]
    pub fn check(&self, line: u64, fields: &[&[u8]], report: &mut ValidationReport) -> Option<Person> {
        let person = self.person(fields);
        if person.is_none() {
            self.find_violations(line, fields, report);
        }
        person
    }

    fn person(&self, fields: &[&[u8]]) -> Option<Person> {
        let fields: &[&[u8]; 17] = fields.try_into().ok()?;
        let age = age(fields[AGE])?;
        let sex = sex(fields[SEX])?;
        if !is_householder(fields[HOUSEHOLDER]) || digits::<2>(fields[CENRACE]).is_none() {
            return None;
        }
        let block = self.geography.find(geoid(fields)?)?;
        let mut races = [0_u16; 8];
        let mut count = 0;
        for field in &fields[FIRST_RACE..ETHNICITY] {
            if is_null(field) {
                break;
            }
            races[count] = self.code(field)?;
            count += 1;
        }
        let nulls = &fields[FIRST_RACE + count..ETHNICITY];
        if count == 0 || !nulls.iter().all(|field| is_null(field)) {
            return None;
        }
        let ethnicity = self.code(fields[ETHNICITY])?;
        let combination = pack(&mut races[..count.min(self.races_taken)], ethnicity);
        Some(Person { age, sex, block, combination })
    }

    fn code(&self, field: &[u8]) -> Option<u16> {
        RaceEthCode::read(field).map(|code| code.0).filter(|code| self.known[usize::from(*code)])
    }

    /// Every rule that a row breaks.
    #[cold]
    #[inline(never)]
    fn find_violations(&self, line: u64, fields: &[&[u8]], report: &mut ValidationReport) {
        let file = &self.file;
        if fields.len() != HEADINGS.len() {
            let row = fields.join(&b'|');
            let allowed = format!("{} fields; this row has {}", HEADINGS.len(), fields.len());
            return report.add(Location { file, line, column: 0, field: "" }, Rule::Fields, row, &allowed);
        }
        let mut wrong = |column: usize, rule: Rule, allowed: &str| {
            let at = Location { file, line, column: column as u32 + 1, field: HEADINGS[column] };
            let rule = if std::str::from_utf8(fields[column]).is_ok() { rule } else { Rule::Encoding };
            report.add(at, rule, fields[column], allowed);
        };
        if age(fields[AGE]).is_none() {
            wrong(AGE, Rule::Value, &format!("a whole number from 0 to {OLDEST} of up to three digits"));
        }
        if sex(fields[SEX]).is_none() {
            wrong(SEX, Rule::Value, "1 or 2");
        }
        if !is_householder(fields[HOUSEHOLDER]) {
            wrong(HOUSEHOLDER, Rule::Value, "True or False");
        }
        if digits::<2>(fields[CENRACE]).is_none() {
            wrong(CENRACE, Rule::Value, "2 digits");
        }
        let mut is_block = true;
        for (column, (width, is_number)) in (STATE..).zip([
            (2, digits::<2>(fields[STATE]).is_some()),
            (3, digits::<3>(fields[STATE + 1]).is_some()),
            (6, digits::<6>(fields[STATE + 2]).is_some()),
            (4, digits::<4>(fields[STATE + 3]).is_some()),
        ]) {
            if !is_number {
                is_block = false;
                wrong(column, Rule::Value, &format!("{width} digits"));
            }
        }
        let mut after_null = false;
        for (column, field) in fields.iter().enumerate().skip(FIRST_RACE) {
            let or_null = if column > FIRST_RACE && column < ETHNICITY { ", or Null" } else { "" };
            if is_null(field) && column < ETHNICITY {
                after_null = true;
                if column == FIRST_RACE {
                    wrong(column, Rule::Value, "a code of four digits, the first not 0");
                }
                continue;
            }
            match RaceEthCode::read(field) {
                None => wrong(column, Rule::Value, &format!("a code of four digits, the first not 0{or_null}")),
                Some(code) if !self.known[usize::from(code.0)] => {
                    wrong(column, Rule::UnknownCode, "the codes of race-and-ethnicity-codes.txt");
                }
                Some(_) if after_null && column < ETHNICITY => {
                    wrong(column, Rule::AfterNull, "Null, since a field of race before it is Null");
                }
                Some(_) => {}
            }
        }
        if is_block && geoid(fields).and_then(|geoid| self.geography.find(geoid)).is_none() {
            let at = Location { file, line, column: STATE as u32 + 1, field: "block" };
            report.add(at, Rule::UnknownBlock, fields[STATE..STATE + 4].concat(), "the blocks of the GRF-C");
        }
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

fn is_null(field: &[u8]) -> bool {
    field == b"Null"
}

fn geoid(fields: &[&[u8]]) -> Option<u64> {
    let state = digits::<2>(fields[STATE])?;
    Some(rows::geoid(
        state,
        digits::<3>(fields[STATE + 1])?,
        digits::<6>(fields[STATE + 2])?,
        digits::<4>(fields[STATE + 3])?,
    ))
}

/// The number of a combination. The codes are put in order.
fn pack(races: &mut [u16], ethnicity: u16) -> u128 {
    races.sort_unstable();
    let (mut packed, mut last) = (u128::from(ethnicity), 0);
    let mut place = BITS;
    for race in races {
        if *race != last {
            packed |= u128::from(*race) << place;
            (last, place) = (*race, place + BITS);
        }
    }
    packed
}
