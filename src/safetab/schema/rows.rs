//! Rows of fields separated by `|`, read in bounded memory.

use std::{
    io::{BufRead, BufReader, Read},
    path::Path,
};

use super::{
    lines::{LONGEST, open_text, without_end},
    validation::{Location, Rule, ValidationReport},
};

/// A byte order mark.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Whether a file may have additional columns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::safetab) enum OtherColumns {
    /// No, and the columns are in the required order.
    Refused,
    /// Yes; the columns are found by their headings.
    Ignored,
}

/// A row: the required fields.
pub(in crate::safetab) struct Row<'a, const N: usize> {
    /// The line, counted from one.
    pub line: u64,
    /// The fields.
    pub fields: [&'a [u8]; N],
    /// Their columns, counted from one.
    pub columns: [u32; N],
}

/// The number in a field of exactly `N` digits.
pub(in crate::safetab) fn digits<const N: usize>(field: &[u8]) -> Option<u64> {
    let field: &[u8; N] = field.try_into().ok()?;
    let mut value = 0;
    for byte in field {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = 10 * value + u64::from(digit);
    }
    Some(value)
}

/// The GEOID of a block of 15 digits from its parts.
pub(in crate::safetab) fn geoid(state: u64, county: u64, tract: u64, block: u64) -> u64 {
    ((state * 1000 + county) * 1_000_000 + tract) * 10_000 + block
}

/// The name of a file in a report.
pub(in crate::safetab) fn name_of(path: &Path) -> String {
    path.display().to_string()
}

/// The line without the byte order mark that the first line of a file may have.
pub(super) fn without_mark(line: &[u8]) -> &[u8] {
    line.strip_prefix(MARK).unwrap_or(line)
}

/// The columns of the headings, counted from zero.
fn find_columns<const N: usize>(
    line: &[u8],
    at: Location,
    headings: &[&str; N],
    others: OtherColumns,
    report: &mut ValidationReport,
) -> Option<([usize; N], usize)> {
    let given: Vec<&[u8]> = line.split(|byte| *byte == b'|').collect();
    if others == OtherColumns::Refused {
        if given.iter().eq(headings.iter().map(|heading| heading.as_bytes()).collect::<Vec<_>>().iter()) {
            return Some((std::array::from_fn(|column| column), N));
        }
        report.add(at, Rule::Headings, line, &headings.join("|"));
        return None;
    }
    let mut columns = [0; N];
    for (column, heading) in columns.iter_mut().zip(headings) {
        let mut places = given.iter().enumerate().filter(|(_, name)| **name == heading.as_bytes());
        match (places.next(), places.next()) {
            (Some((place, _)), None) => *column = place,
            (found, _) => {
                let what = if found.is_some() { "once only" } else { "to be there" };
                report.add(at, Rule::Headings, line, &format!("the heading {heading} has {what}"));
                return None;
            }
        }
    }
    Some((columns, given.len()))
}

fn open(path: &Path) -> std::io::Result<BufReader<Box<dyn Read + Send>>> {
    Ok(BufReader::with_capacity(1 << 18, open_text(path)?))
}

/// The headings of a file, as far as they can be read; [`read_rows`] reports if they cannot.
pub(super) fn headings_of(path: &Path) -> Vec<String> {
    let mut line = Vec::new();
    let read = open(path).and_then(|input| input.take(LONGEST as u64).read_until(b'\n', &mut line));
    match read {
        Ok(_) => {
            let line = String::from_utf8_lossy(without_mark(without_end(&line))).into_owned();
            line.split('|').map(str::to_string).collect()
        }
        Err(_) => Vec::new(),
    }
}

/// Finds the ends of the fields of a line.
fn find_ends(line: &[u8], ends: &mut Vec<usize>) {
    ends.clear();
    ends.extend(line.iter().enumerate().filter(|(_, byte)| **byte == b'|').map(|(place, _)| place));
    ends.push(line.len());
}

/// Reads a file of rows to its end, or to a line that is too long. Violating rows are reported and omitted. `None` if the file cannot be
/// read or its headings are wrong.
pub(in crate::safetab) fn read_rows<const N: usize>(
    path: &Path,
    headings: &[&str; N],
    others: OtherColumns,
    report: &mut ValidationReport,
    mut each: impl FnMut(&Row<N>, &mut ValidationReport),
) -> Option<()> {
    let file = name_of(path);
    let at = |line: u64, column: u32| Location { file: &file, line, column, field: "" };
    let mut input = match open(path) {
        Ok(input) => input,
        Err(why) => {
            report.add(at(0, 0), Rule::Unreadable, why.to_string(), "a file of rows");
            return None;
        }
    };
    let (mut buffer, mut number) = (Vec::new(), 0);
    let mut form: Option<([usize; N], usize)> = None;
    let mut ends: Vec<usize> = Vec::new();
    loop {
        buffer.clear();
        if let Err(why) = input.by_ref().take(LONGEST as u64 + 1).read_until(b'\n', &mut buffer) {
            report.add(at(number, 0), Rule::Unreadable, why.to_string(), "a file of rows");
            return None;
        }
        if buffer.is_empty() {
            break;
        }
        number += 1;
        if buffer.len() > LONGEST {
            let allowed = format!("at most {LONGEST} bytes; nothing after it is read");
            report.add(at(number, 0), Rule::LongLine, &buffer, &allowed);
            return form.map(|_| ());
        }
        let line = without_end(&buffer);
        let line = if number == 1 { without_mark(line) } else { line };
        if let Err(wrong) = std::str::from_utf8(line) {
            let place = wrong.valid_up_to();
            let fields = line[..place].iter().filter(|byte| **byte == b'|').count();
            report.add(at(number, fields as u32 + 1), Rule::Encoding, &line[place..], "text in UTF-8");
            form?;
            continue;
        }
        let Some((columns, width)) = form else {
            form = Some(find_columns(line, at(number, 0), headings, others, report)?);
            continue;
        };
        if line.is_empty() {
            continue;
        }
        find_ends(line, &mut ends);
        if ends.len() != width {
            report.add(at(number, 0), Rule::Fields, line, &format!("{width} fields; this row has {}", ends.len()));
            continue;
        }
        let field = |column: usize| &line[if column == 0 { 0 } else { ends[column - 1] + 1 }..ends[column]];
        let row = Row { line: number, fields: columns.map(field), columns: columns.map(|column| column as u32 + 1) };
        each(&row, report);
    }
    if form.is_none() {
        report.add(at(0, 0), Rule::Empty, "", &format!("the headings {}", headings.join("|")));
    }
    form.map(|_| ())
}
