//! person-records.txt, row by row: checked at the speed of the disk, in memory that the geography and the number of
//! distinct combinations of codes bound.

use std::{
    collections::HashSet,
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

use foldhash::fast::FixedState;
use rayon::prelude::*;

use super::{
    Code, Geography, Pass, Settings,
    findings::{At, Findings, Rule},
    lines::{self, LONGEST, digits, name_of},
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
/// Bytes that a worker checks at a time. A line that is longer is not read to its end.
const PART: usize = 1 << 22;
/// Codes are numbers below this.
const CODES: usize = 10_000;
/// Bits of a code in a packed combination: 9 of them fill 126.
const BITS: u32 = 14;

/// The race codes of a person, each once and ascending, and the ethnicity code: all that the iterations depend on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Combination {
    races: Vec<Code>,
    ethnicity: Code,
}

impl Combination {
    /// From codes in any order; those that are there twice count once.
    pub fn new(races: impl IntoIterator<Item = Code>, ethnicity: Code) -> Combination {
        let mut races: Vec<Code> = races.into_iter().collect();
        races.sort_unstable();
        races.dedup();
        Combination { races, ethnicity }
    }

    /// The race codes, ascending.
    pub fn races(&self) -> &[Code] {
        &self.races
    }

    /// The ethnicity code.
    pub fn ethnicity(&self) -> Code {
        self.ethnicity
    }

    /// The combination that [`Person::combination`] packs.
    pub fn unpack(packed: u128) -> Combination {
        let code = |place: u32| Code((packed >> (BITS * place)) as u16 & ((1 << BITS) - 1));
        let races = (1..=8).map(code).filter(|code| code.0 > 0);
        Combination::new(races, code(0))
    }
}

/// What a correct row says.
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

/// What is known of persons that were checked. It is confidential but for the combinations that the specification allows.
#[derive(Clone, Debug, Default)]
pub struct Persons {
    /// The rows that break no rule.
    pub records: u64,
    /// Those of them that the pass over the United States tabulates.
    pub united_states: u64,
    /// Those that the pass over Puerto Rico tabulates. The others are in states that no pass tabulates.
    pub puerto_rico: u64,
    /// The distinct combinations of all rows, in ascending order.
    pub combinations: Vec<Combination>,
}

/// The rules of a person record, for rows from any source.
#[derive(Clone, Debug)]
pub struct RowCheck<'a> {
    file: String,
    geography: &'a Geography,
    /// Which codes there are.
    known: Vec<bool>,
    races_taken: usize,
}

impl<'a> RowCheck<'a> {
    /// The rules under the settings, the specification and the geography; findings will name the file.
    pub fn new(file: &str, settings: &Settings, specification: &Specification, geography: &'a Geography) -> Self {
        let mut known = vec![false; CODES];
        specification.codes().for_each(|code| known[usize::from(code.0)] = true);
        RowCheck { file: file.to_string(), geography, known, races_taken: settings.max_race_codes() as usize }
    }

    /// The person that a row says; nothing where it breaks a rule, and then every rule that it breaks is found.
    #[inline]
    pub fn check(&self, line: u64, fields: &[&[u8]], findings: &mut Findings) -> Option<Person> {
        let person = self.person(fields);
        if person.is_none() {
            self.find(line, fields, findings);
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
        Code::read(field).map(|code| code.0).filter(|code| self.known[usize::from(*code)])
    }

    /// Every rule that a row breaks.
    #[cold]
    #[inline(never)]
    fn find(&self, line: u64, fields: &[&[u8]], findings: &mut Findings) {
        let file = &self.file;
        if fields.len() != HEADINGS.len() {
            let row = fields.join(&b'|');
            let allowed = format!("{} fields; this row has {}", HEADINGS.len(), fields.len());
            return findings.add(At { file, line, column: 0, field: "" }, Rule::Fields, row, &allowed);
        }
        let mut wrong = |column: usize, rule: Rule, allowed: &str| {
            let at = At { file, line, column: column as u32 + 1, field: HEADINGS[column] };
            let rule = if std::str::from_utf8(fields[column]).is_ok() { rule } else { Rule::Encoding };
            findings.add(at, rule, fields[column], allowed);
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
        for column in FIRST_RACE..=ETHNICITY {
            let field = fields[column];
            let or_null = if column > FIRST_RACE && column < ETHNICITY { ", or Null" } else { "" };
            if is_null(field) && column < ETHNICITY {
                after_null = true;
                if column == FIRST_RACE {
                    wrong(column, Rule::Value, "a code of four digits, the first not 0");
                }
                continue;
            }
            match Code::read(field) {
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
            let at = At { file, line, column: STATE as u32 + 1, field: "block" };
            findings.add(at, Rule::UnknownBlock, fields[STATE..STATE + 4].concat(), "the blocks of the GRF-C");
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
    Some(lines::geoid(
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

/// The files of persons that a path names: itself, or the files `*.txt` and `*.csv` of a folder in the order of their names.
pub fn person_files(path: &Path, findings: &mut Findings) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path.to_path_buf()];
    }
    let file = name_of(path);
    let at = At { file: &file, ..At::default() };
    let is_rows = |path: &PathBuf| {
        path.is_file() && path.extension().is_some_and(|extension| extension == "txt" || extension == "csv")
    };
    let read = fs::read_dir(path)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<PathBuf>>>());
    match read {
        Ok(paths) => {
            let mut paths: Vec<PathBuf> = paths.into_iter().filter(is_rows).collect();
            paths.sort();
            if paths.is_empty() {
                findings.add(at, Rule::Empty, "", "a folder with files *.txt or *.csv of persons");
            }
            paths
        }
        Err(why) => {
            findings.add(at, Rule::Unreadable, why.to_string(), "a folder of files");
            Vec::new()
        }
    }
}

/// Checks a file of persons, or all of a folder, and gathers the combinations of codes. `progress` is told how many bytes
/// were checked so far.
pub fn check_persons(
    path: &Path,
    settings: &Settings,
    specification: &Specification,
    geography: &Geography,
    findings: &mut Findings,
    mut progress: impl FnMut(u64),
) -> Persons {
    let mut workers: Vec<Worker> = (0..rayon::current_num_threads()).map(|_| Worker::default()).collect();
    let mut done = 0;
    for path in person_files(path, findings) {
        let check = RowCheck::new(&name_of(&path), settings, specification, geography);
        check_file(&path, &check, &mut workers, findings, &mut |bytes| {
            done += bytes;
            progress(done);
        });
    }
    let mut persons = Persons::default();
    let mut packed: Vec<u128> = Vec::new();
    for worker in workers {
        persons.records += worker.records;
        persons.united_states += worker.tabulated[0];
        persons.puerto_rico += worker.tabulated[1];
        packed.extend(worker.combinations);
    }
    packed.sort_unstable();
    packed.dedup();
    persons.combinations = packed.into_iter().map(Combination::unpack).collect();
    persons.combinations.sort_unstable();
    if persons.united_states + persons.puerto_rico == 0 {
        let file = name_of(path);
        let at = At { file: &file, ..At::default() };
        findings.add(at, Rule::Empty, "", "at least one correct record in a state of a pass that is run");
    }
    persons
}

/// What one thread has seen.
#[derive(Default)]
struct Worker {
    /// Whole lines.
    text: Vec<u8>,
    findings: Findings,
    /// The lines of the text.
    lines: u64,
    records: u64,
    tabulated: [u64; 2],
    combinations: HashSet<u128, FixedState>,
}

impl Worker {
    fn check(&mut self, check: &RowCheck) {
        let text = std::mem::take(&mut self.text);
        self.lines = 0;
        let mut begin = 0;
        let mut last = 0;
        while begin < text.len() {
            let end = memchr::memchr(b'\n', &text[begin..]).map_or(text.len(), |length| begin + length + 1);
            self.lines += 1;
            let line = lines::without_end(&text[begin..end]);
            begin = end;
            if line.is_empty() {
                continue;
            }
            if line.len() > LONGEST {
                let at = At { file: &check.file, line: self.lines, ..At::default() };
                self.findings.add(at, Rule::LongLine, line, &format!("at most {LONGEST} bytes"));
                continue;
            }
            let mut fields = [&line[..0]; HEADINGS.len()];
            let person = match split(line, &mut fields) {
                true => check.check(self.lines, &fields, &mut self.findings),
                false => {
                    let fields: Vec<&[u8]> = line.split(|byte| *byte == b'|').collect();
                    check.check(self.lines, &fields, &mut self.findings)
                }
            };
            let Some(person) = person else { continue };
            self.records += 1;
            match check.geography.pass(person.block) {
                Some(Pass::UnitedStates) => self.tabulated[0] += 1,
                Some(Pass::PuertoRico) => self.tabulated[1] += 1,
                None => {}
            }
            if person.combination != last {
                self.combinations.insert(person.combination);
                last = person.combination;
            }
        }
        self.text = text;
    }
}

/// Splits a line at its bars. Whether it has as many fields as there are headings.
fn split<'a>(line: &'a [u8], fields: &mut [&'a [u8]; HEADINGS.len()]) -> bool {
    let (mut begin, mut column) = (0, 0);
    for end in memchr::memchr_iter(b'|', line) {
        if column + 1 == HEADINGS.len() {
            return false;
        }
        fields[column] = &line[begin..end];
        (begin, column) = (end + 1, column + 1);
    }
    fields[column] = &line[begin..];
    column + 1 == HEADINGS.len()
}

/// Checks a file, part by part on all threads; findings are in the order of the lines.
fn check_file(
    path: &Path,
    check: &RowCheck,
    workers: &mut [Worker],
    findings: &mut Findings,
    progress: &mut dyn FnMut(u64),
) {
    let at = At { file: &check.file, ..At::default() };
    let opened = File::open(path);
    let mut input = match opened {
        Ok(file) => Parts { input: file, rest: Vec::new(), ended: false },
        Err(why) => return findings.add(at, Rule::Unreadable, why.to_string(), "a file of rows"),
    };
    let mut lines = 0;
    loop {
        let (mut used, mut broken) = (0, None);
        for worker in workers.iter_mut() {
            worker.findings = findings.none_yet();
            worker.text.clear();
            match input.next(&mut worker.text) {
                Ok(true) => used += 1,
                Ok(false) => break,
                Err(why) => {
                    broken = Some(why);
                    break;
                }
            }
        }
        let workers = &mut workers[..used];
        match workers.first_mut() {
            Some(worker) if lines == 0 => {
                if let Some(line) = take_headings(&mut worker.text) {
                    return findings.add(At { line: 1, ..at }, Rule::Headings, line, &HEADINGS.join("|"));
                }
                lines = 1;
            }
            None if lines == 0 && broken.is_none() => {
                return findings.add(at, Rule::Empty, "", &format!("the headings {}", HEADINGS.join("|")));
            }
            _ => {}
        }
        let bytes = workers.iter().map(|worker| worker.text.len() as u64).sum();
        workers.par_iter_mut().for_each(|worker| worker.check(check));
        for worker in workers.iter_mut() {
            let found = std::mem::replace(&mut worker.findings, findings.none_yet());
            findings.append(found, lines);
            lines += worker.lines;
        }
        progress(bytes);
        match broken {
            Some(Broken::LongLine(begin)) => {
                let allowed = format!("at most {LONGEST} bytes; nothing after it is read");
                return findings.add(At { line: lines + 1, ..at }, Rule::LongLine, begin, &allowed);
            }
            Some(Broken::Unreadable(why)) => {
                return findings.add(At { line: lines, ..at }, Rule::Unreadable, why, "a file of rows");
            }
            None if used == 0 => return,
            None => {}
        }
    }
}

/// Takes the first line off the text; the line where it is not the headings.
fn take_headings(text: &mut Vec<u8>) -> Option<Vec<u8>> {
    let end = memchr::memchr(b'\n', text).map_or(text.len(), |end| end + 1);
    let line: Vec<u8> = text.drain(..end).collect();
    let line = lines::without_mark(lines::without_end(&line));
    (line != HEADINGS.join("|").as_bytes()).then(|| line.to_vec())
}

/// Why no further part can be had.
enum Broken {
    /// A line is too long; it begins so.
    LongLine(Vec<u8>),
    Unreadable(String),
}

/// A file in parts of whole lines.
struct Parts<R> {
    input: R,
    /// The beginning of a line of which the end is not read yet.
    rest: Vec<u8>,
    ended: bool,
}

impl<R: Read> Parts<R> {
    /// Reads the next part into an empty buffer; whether there is one.
    fn next(&mut self, text: &mut Vec<u8>) -> Result<bool, Broken> {
        text.append(&mut self.rest);
        while !self.ended && text.len() < PART {
            let wanted = (PART - text.len()) as u64;
            let read = self.input.by_ref().take(wanted).read_to_end(text);
            self.ended = read.map_err(|why| Broken::Unreadable(why.to_string()))? == 0;
        }
        if !self.ended {
            let end = memchr::memrchr(b'\n', text).map_or(0, |end| end + 1);
            self.rest.extend_from_slice(&text[end..]);
            text.truncate(end);
            if end == 0 {
                return Err(Broken::LongLine(self.rest[..LONGEST].to_vec()));
            }
        }
        Ok(!text.is_empty())
    }
}
