//! Checks files of records at the speed of the disk, in memory bounded by the geography and the number of distinct combinations of codes.

use std::{
    collections::HashSet,
    fs,
    io::Read,
    path::{Path, PathBuf},
};

use foldhash::fast::FixedState;
use rayon::prelude::*;

use super::{
    Combination, Geography, HouseholdCheck, Pass, RowCheck, RunScope,
    lines::{LONGEST, is_text, open_text, without_end},
    parquet_records::{ParquetRecords, Refused, Rows, is_parquet},
    records::{CheckedRecord, RecordRules},
    rows::{self, name_of},
    validation::{Location, Rule, ValidationReport},
};
use crate::{error::Result, safetab::groups::Specification};

/// The number of bytes that a worker checks at a time. Longer lines are not read to their end.
const PART: usize = 1 << 22;

/// The number of Parquet rows that a worker checks at a time.
const ROWS: usize = 1 << 15;

/// The largest number of columns of any kind of record.
const MOST_COLUMNS: usize = 17;

/// The result of checking records. It is confidential, except for the combinations that the specification allows.
#[derive(Clone, Debug, Default)]
pub struct CheckedRecords {
    /// The number of rows that break no rule.
    pub records: u64,
    /// The number of records that the pass over the United States tabulates.
    pub united_states: u64,
    /// The number that the pass over Puerto Rico tabulates. The remaining records are in states that no pass tabulates.
    pub puerto_rico: u64,
    /// The distinct combinations of all rows, in ascending order.
    pub combinations: Vec<Combination>,
}

/// The text files at a path: the file itself, or the files `*.txt` and `*.csv` of a folder in the order of their names.
pub fn text_files(path: &Path, report: &mut ValidationReport) -> Vec<PathBuf> {
    files_of(path, is_text, "a folder with files *.txt or *.csv", report)
}

/// The files of records at a path: the file itself, or the files `*.txt`, `*.csv` and `*.parquet` of a folder, text first, in the order of
/// their names.
fn record_files(path: &Path, report: &mut ValidationReport) -> Vec<PathBuf> {
    let is_records = |path: &Path| is_text(path) || is_parquet(path);
    let mut files = files_of(path, is_records, "a folder with files *.txt, *.csv or *.parquet of records", report);
    files.sort_by_key(|path| is_parquet(path));
    files
}

fn files_of(
    path: &Path,
    is_meant: impl Fn(&Path) -> bool,
    expected: &str,
    report: &mut ValidationReport,
) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path.to_path_buf()];
    }
    let file = name_of(path);
    let at = Location { file: &file, ..Location::default() };
    let is_rows = |path: &PathBuf| path.is_file() && is_meant(path);
    let read = fs::read_dir(path)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<PathBuf>>>());
    match read {
        Ok(paths) => {
            let mut paths: Vec<PathBuf> = paths.into_iter().filter(is_rows).collect();
            paths.sort();
            if paths.is_empty() {
                report.add(at, Rule::Empty, "", expected);
            }
            paths
        }
        Err(why) => {
            report.add(at, Rule::Unreadable, why.to_string(), "a folder of files");
            Vec::new()
        }
    }
}

/// Checks a file of persons, or all of a folder, and collects the combinations of codes. Calls `progress` with the number of bytes checked
/// so far.
pub fn check_persons(
    path: &Path,
    scope: impl AsRef<RunScope>,
    specification: &Specification,
    geography: &Geography,
    report: &mut ValidationReport,
    progress: impl FnMut(u64),
) -> CheckedRecords {
    let scope = scope.as_ref();
    check_records(path, |file| RowCheck::new(file, scope, specification, geography), report, progress)
}

/// Checks a file of households, or all of a folder, as [`check_persons`] does.
pub fn check_households(
    path: &Path,
    scope: impl AsRef<RunScope>,
    specification: &Specification,
    geography: &Geography,
    report: &mut ValidationReport,
    progress: impl FnMut(u64),
) -> CheckedRecords {
    let scope = scope.as_ref();
    check_records(path, |file| HouseholdCheck::new(file, scope, specification, geography), report, progress)
}

/// Checks a file of records, or all of a folder, by the rules that `rules` makes for the name of a file.
fn check_records<R: RecordRules>(
    path: &Path,
    rules: impl Fn(&str) -> R,
    report: &mut ValidationReport,
    mut progress: impl FnMut(u64),
) -> CheckedRecords {
    let mut workers: Vec<Worker> = (0..rayon::current_num_threads()).map(|_| Worker::default()).collect();
    let mut done = 0;
    for path in record_files(path, report) {
        check_file(&path, &rules(&name_of(&path)), &mut workers, report, &mut |bytes, _| {
            done += bytes;
            progress(done);
        });
    }
    let records = gathered(workers);
    report_if_none(path, &records, report);
    records
}

/// Combines the results of the workers.
fn gathered(workers: Vec<Worker>) -> CheckedRecords {
    let mut records = CheckedRecords::default();
    let mut packed: Vec<u128> = Vec::new();
    for worker in workers {
        records.records += worker.records;
        records.united_states += worker.tabulated[0];
        records.puerto_rico += worker.tabulated[1];
        packed.extend(worker.combinations);
    }
    packed.sort_unstable();
    packed.dedup();
    records.combinations = packed.into_iter().map(Combination::unpack).collect();
    records.combinations.sort_unstable();
    records
}

/// Reports if no record is tabulated.
pub(in crate::safetab) fn report_if_none(path: &Path, records: &CheckedRecords, report: &mut ValidationReport) {
    if records.united_states + records.puerto_rico == 0 {
        let file = name_of(path);
        let at = Location { file: &file, ..Location::default() };
        report.add(at, Rule::Empty, "", "at least one correct record in a state of a pass that is run");
    }
}

/// Checks records like [`check_persons`], but passes them to `see` in batches, in no certain order, instead of collecting their
/// combinations. Calls `progress` with the number of bytes checked so far. After an error of `see` it passes on nothing more.
pub(in crate::safetab) fn see_records<R: RecordRules>(
    path: &Path,
    rules: impl Fn(&str) -> R,
    report: &mut ValidationReport,
    mut progress: impl FnMut(u64),
    mut see: impl FnMut(&[CheckedRecord]) -> Result<()>,
) -> Result<CheckedRecords> {
    let worker = || Worker { kept: Some(Vec::new()), ..Worker::default() };
    let mut workers: Vec<Worker> = (0..rayon::current_num_threads()).map(|_| worker()).collect();
    let (mut done, mut outcome) = (0, Ok(()));
    for path in record_files(path, report) {
        check_file(&path, &rules(&name_of(&path)), &mut workers, report, &mut |bytes, workers| {
            for kept in workers.iter_mut().filter_map(|worker| worker.kept.as_mut()) {
                if outcome.is_ok() {
                    outcome = see(kept);
                }
                kept.clear();
            }
            done += bytes;
            progress(done);
        });
    }
    outcome.map(|()| gathered(workers))
}

/// The state of one thread.
#[derive(Default)]
struct Worker {
    /// A number of whole lines.
    text: Vec<u8>,
    report: ValidationReport,
    /// The lines of the text.
    lines: u64,
    records: u64,
    tabulated: [u64; 2],
    combinations: HashSet<u128, FixedState>,
    /// The last combination.
    last: u128,
    /// The records of the text, if they are kept instead of their combinations.
    kept: Option<Vec<CheckedRecord>>,
}

impl Worker {
    fn check<R: RecordRules>(&mut self, rules: &R) {
        let text = std::mem::take(&mut self.text);
        self.lines = 0;
        let mut begin = 0;
        let width = rules.headings().len();
        while begin < text.len() {
            let end = memchr::memchr(b'\n', &text[begin..]).map_or(text.len(), |length| begin + length + 1);
            self.lines += 1;
            let line = without_end(&text[begin..end]);
            begin = end;
            if line.is_empty() {
                continue;
            }
            if line.len() > LONGEST {
                let at = Location { file: rules.file(), line: self.lines, ..Location::default() };
                self.report.add(at, Rule::LongLine, line, &format!("at most {LONGEST} bytes"));
                continue;
            }
            let mut fields = [&line[..0]; MOST_COLUMNS];
            let fields = &mut fields[..width];
            let record = match split(line, fields) {
                true => rules.check_row(self.lines, fields, &mut self.report),
                false => {
                    let fields: Vec<&[u8]> = line.split(|byte| *byte == b'|').collect();
                    rules.check_row(self.lines, &fields, &mut self.report)
                }
            };
            if let Some(record) = record {
                self.count(record, rules.geography());
            }
        }
        self.text = text;
    }

    /// Checks the next rows of a row group.
    fn check_rows<R: RecordRules>(&mut self, rows: &mut Rows, rules: &R) -> std::result::Result<(), Refused> {
        let mut number = self.lines;
        let mut report = std::mem::take(&mut self.report);
        let read = rows.next(ROWS, |fields| {
            number += 1;
            if let Some(record) = rules.check_row(number, fields, &mut report) {
                self.count(record, rules.geography());
            }
        });
        (self.lines, self.report) = (number, report);
        read.map(drop)
    }

    /// Counts a record that breaks no rule.
    fn count(&mut self, record: CheckedRecord, geography: &Geography) {
        self.records += 1;
        match record.block.and_then(|block| geography.pass(block)) {
            Some(Pass::UnitedStates) => self.tabulated[0] += 1,
            Some(Pass::PuertoRico) => self.tabulated[1] += 1,
            None => {}
        }
        if let Some(kept) = &mut self.kept {
            kept.push(record);
        } else if record.combination != self.last {
            self.combinations.insert(record.combination);
            self.last = record.combination;
        }
    }
}

/// Splits a line at its bars; returns whether it has the required number of fields.
fn split<'a>(line: &'a [u8], fields: &mut [&'a [u8]]) -> bool {
    let (mut begin, mut column) = (0, 0);
    for end in memchr::memchr_iter(b'|', line) {
        if column + 1 == fields.len() {
            return false;
        }
        fields[column] = &line[begin..end];
        (begin, column) = (end + 1, column + 1);
    }
    fields[column] = &line[begin..];
    column + 1 == fields.len()
}

/// Checks a file on all threads; violations are reported in the order of its lines or rows. Calls `progress` with the number of bytes
/// checked; it may take the records that the workers keep.
fn check_file<R: RecordRules>(
    path: &Path,
    rules: &R,
    workers: &mut [Worker],
    report: &mut ValidationReport,
    progress: &mut dyn FnMut(u64, &mut [Worker]),
) {
    match is_parquet(path) {
        true => check_parquet(path, rules, workers, report, progress),
        false => check_text(path, rules, workers, report, progress),
    }
}

/// Checks Parquet: each worker takes a row group and checks a part at a time.
fn check_parquet<R: RecordRules>(
    path: &Path,
    rules: &R,
    workers: &mut [Worker],
    report: &mut ValidationReport,
    progress: &mut dyn FnMut(u64, &mut [Worker]),
) {
    let at = |line| Location { file: rules.file(), line, ..Location::default() };
    let refuse =
        |report: &mut ValidationReport, line, why: Refused| report.add(at(line), why.rule, why.found, &why.expected);
    // One file handle for each worker, because a handle has a single read position.
    let opened = workers
        .iter()
        .map(|_| ParquetRecords::open(path, rules.headings()))
        .collect::<std::result::Result<Vec<_>, _>>();
    let files = match opened {
        Ok(files) => files,
        Err(why) => return refuse(report, 0, why),
    };
    let sizes = files.first().map(ParquetRecords::groups).unwrap_or_default();
    let bytes = fs::metadata(path).map_or(0, |found| found.len());
    let all = sizes.iter().sum::<u64>().max(1);
    let (mut before, mut reported) = (0, 0);
    for first in (0..sizes.len()).step_by(workers.len()) {
        let opened = files.iter().zip(first..sizes.len()).map(|(file, group)| file.group(group));
        let mut groups: Vec<std::result::Result<Rows, Refused>> = opened.collect();
        let workers = &mut workers[..groups.len()];
        for worker in workers.iter_mut() {
            worker.report = report.empty_copy();
            worker.lines = 0;
        }
        while groups.iter().flatten().any(|rows| !rows.is_empty()) {
            workers.par_iter_mut().zip(&mut groups).for_each(|(worker, group)| {
                if let Ok(rows) = group
                    && !rows.is_empty()
                    && let Err(why) = worker.check_rows(rows, rules)
                {
                    *group = Err(why);
                }
            });
            let seen = before + workers.iter().map(|worker| worker.lines).sum::<u64>();
            let done = (u128::from(bytes) * u128::from(seen) / u128::from(all)) as u64;
            progress(done - reported, workers);
            reported = done;
        }
        for ((worker, group), size) in workers.iter_mut().zip(groups).zip(&sizes[first..]) {
            let found = std::mem::replace(&mut worker.report, report.empty_copy());
            report.append(found, before);
            if let Err(why) = group {
                return refuse(report, before + worker.lines + 1, why);
            }
            before += size;
        }
    }
}

/// Gives each worker a part of a file, as far as there are parts; the number of workers that have one, and why the file could not be read further.
fn hand_out<R: Read>(
    input: &mut Parts<R>,
    workers: &mut [Worker],
    report: &ValidationReport,
) -> (usize, Option<Broken>) {
    let mut used = 0;
    for worker in workers.iter_mut() {
        worker.report = report.empty_copy();
        worker.text.clear();
        match input.next(&mut worker.text) {
            Ok(true) => used += 1,
            Ok(false) => break,
            Err(why) => return (used, Some(why)),
        }
    }
    (used, None)
}

fn check_text<R: RecordRules>(
    path: &Path,
    rules: &R,
    workers: &mut [Worker],
    report: &mut ValidationReport,
    progress: &mut dyn FnMut(u64, &mut [Worker]),
) {
    let at = Location { file: rules.file(), ..Location::default() };
    let headings = rules.headings().join("|");
    let opened = open_text(path);
    let mut input = match opened {
        Ok(file) => Parts { input: file, rest: Vec::new(), ended: false },
        Err(why) => return report.add(at, Rule::Unreadable, why.to_string(), "a file of rows"),
    };
    let mut lines = 0;
    loop {
        let (used, broken) = hand_out(&mut input, workers, report);
        let workers = &mut workers[..used];
        match workers.first_mut() {
            Some(worker) if lines == 0 => {
                if let Some(line) = take_headings(&mut worker.text, &headings) {
                    return report.add(Location { line: 1, ..at }, Rule::Headings, line, &headings);
                }
                lines = 1;
            }
            None if lines == 0 && broken.is_none() => {
                return report.add(at, Rule::Empty, "", &format!("the headings {headings}"));
            }
            _ => {}
        }
        let bytes = workers.iter().map(|worker| worker.text.len() as u64).sum();
        workers.par_iter_mut().for_each(|worker| worker.check(rules));
        for worker in workers.iter_mut() {
            let found = std::mem::replace(&mut worker.report, report.empty_copy());
            report.append(found, lines);
            lines += worker.lines;
        }
        progress(bytes, workers);
        match broken {
            Some(Broken::LongLine(begin)) => {
                let allowed = format!("at most {LONGEST} bytes; nothing after it is read");
                return report.add(Location { line: lines + 1, ..at }, Rule::LongLine, begin, &allowed);
            }
            Some(Broken::Unreadable(why)) => {
                return report.add(Location { line: lines, ..at }, Rule::Unreadable, why, "a file of rows");
            }
            None if used == 0 => return,
            None => {}
        }
    }
}

/// Removes the first line from the text and returns it if it is not the headings.
fn take_headings(text: &mut Vec<u8>, headings: &str) -> Option<Vec<u8>> {
    let end = memchr::memchr(b'\n', text).map_or(text.len(), |end| end + 1);
    let line: Vec<u8> = text.drain(..end).collect();
    let line = rows::without_mark(without_end(&line));
    (line != headings.as_bytes()).then(|| line.to_vec())
}

/// The reason why no further part can be read.
enum Broken {
    /// A line is too long; this is its beginning.
    LongLine(Vec<u8>),
    Unreadable(String),
}

/// A file in parts of whole lines.
struct Parts<R> {
    input: R,
    /// The beginning of a line whose end was not read yet.
    rest: Vec<u8>,
    ended: bool,
}

impl<R: Read> Parts<R> {
    /// Reads the next part into an empty buffer, and returns whether there is one.
    fn next(&mut self, text: &mut Vec<u8>) -> std::result::Result<bool, Broken> {
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
