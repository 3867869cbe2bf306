//! The record of every request and every check.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    time::Instant,
};

use dp_assay::{loss::answer::Answer, numeric::Enclosure};
use rug::{Float, Rational};

use super::fixed::{Fixed, Span};

/// The statistics of one kind of request.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// The number of requests.
    pub questions: u64,
    /// The number of checked statements about the answers.
    pub checks: u64,
    /// The number of false statements.
    pub failures: u64,
    /// The number of requests that ended with an error.
    pub refused: u64,
    /// The number of answers below the requested precision.
    pub wider: u64,
    /// The number of requests without an answer within the time limit.
    pub unanswered: u64,
    /// The number of checks for which the oracle's enclosure was narrower than the answer's.
    pub sharp: u64,
    /// The longest time of an answer in seconds.
    pub slowest: f64,
    /// The largest relative width of an answer.
    pub widest: f64,
}

impl Row {
    /// The sum of both.
    pub fn and(&mut self, other: &Row) {
        self.questions += other.questions;
        self.checks += other.checks;
        self.failures += other.failures;
        self.refused += other.refused;
        self.wider += other.wider;
        self.unanswered += other.unanswered;
        self.sharp += other.sharp;
        self.slowest = self.slowest.max(other.slowest);
        self.widest = self.widest.max(other.widest);
    }

    /// One line, and its inverse.
    pub fn to_line(&self) -> String {
        format!(
            "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
            self.questions,
            self.checks,
            self.failures,
            self.refused,
            self.wider,
            self.unanswered,
            self.sharp,
            self.slowest,
            self.widest
        )
    }

    pub fn from_line(line: &str) -> Option<Row> {
        let mut fields = line.split('\t');
        let mut whole = || fields.next()?.parse().ok();
        let (questions, checks, failures, refused) = (whole()?, whole()?, whole()?, whole()?);
        let (wider, unanswered, sharp) = (whole()?, whole()?, whole()?);
        let mut real = || fields.next()?.parse().ok();
        let (slowest, widest) = (real()?, real()?);
        Some(Row { questions, checks, failures, refused, wider, unanswered, sharp, slowest, widest })
    }
}

/// The record of one case.
pub struct Record {
    pub rows: BTreeMap<&'static str, Row>,
    case: String,
}

impl Record {
    /// An empty record; `case` describes how to repeat the case.
    pub fn new(case: String) -> Self {
        Record { rows: BTreeMap::new(), case }
    }

    /// Makes a request: records its time, and an error.
    pub fn ask<T>(
        &mut self,
        kind: &'static str,
        text: &dyn Fn() -> String,
        ask: impl FnOnce() -> dp_assay::Result<T>,
    ) -> Option<T> {
        // If this process is killed for its time, the parent must know the request.
        say(&format!("ask\t{kind}"));
        let start = Instant::now();
        let answer = ask();
        let seconds = start.elapsed().as_secs_f64();
        let row = self.rows.entry(kind).or_default();
        row.questions += 1;
        if seconds > row.slowest {
            row.slowest = seconds;
            say(&format!("slow\t{kind}\t{seconds}\t{}: {}", self.case, text()));
        }
        match answer {
            Ok(answer) => Some(answer),
            Err(error) => {
                row.refused += 1;
                say(&format!("refused\t{kind}\t{}: {}: {error}", self.case, text()));
                None
            }
        }
    }

    /// Records a statement.
    pub fn check(&mut self, kind: &'static str, holds: bool, text: &dyn Fn() -> String) {
        let row = self.rows.entry(kind).or_default();
        row.checks += 1;
        if !holds {
            row.failures += 1;
            say(&format!("failure\t{kind}\t{}: {}", self.case, text()));
        }
    }

    /// The answer has the width of its status: met means a relative width of at most 10^-digits.
    pub fn width(&mut self, kind: &'static str, answer: &Answer, digits: u32, text: &dyn Fn() -> String) {
        let width = relative_width(&answer.value);
        self.check(kind, !answer.met || width <= 10_f64.powi(-(digits as i32)) * 1.01, &|| {
            format!("{} met {digits} digits with {}", text(), answer.value)
        });
        let row = self.rows.entry(kind).or_default();
        row.wider += u64::from(!answer.met);
        if width > row.widest {
            row.widest = width;
            say(&format!("wide\t{kind}\t{width}\t{}: {}", self.case, text()));
        }
    }

    /// The enclosures of the answer and of the oracle overlap.
    pub fn contains(
        &mut self,
        kind: &'static str,
        value: &Enclosure,
        fixed: Fixed,
        oracle: &Span,
        text: &dyn Fn() -> String,
    ) {
        let (lower, upper) = (fixed.value(&oracle.lower), fixed.value(&oracle.upper));
        self.between(kind, value, &lower, &upper, text);
    }

    /// The enclosure of the answer and [lower, upper] overlap.
    pub fn between(
        &mut self,
        kind: &'static str,
        value: &Enclosure,
        lower: &Rational,
        upper: &Rational,
        text: &dyn Fn() -> String,
    ) {
        let common = value.lower_rational().is_none_or(|low| low <= *upper)
            && value.upper_rational().is_none_or(|high| high >= *lower);
        self.check(kind, common, &|| {
            let shown = |x: &Rational| Float::with_val(200, x).to_string_radix(10, Some(45));
            format!("{}: {value} but the truth is in [{}, {}]", text(), shown(lower), shown(upper))
        });
        if let (Some(low), Some(high)) = (value.lower_rational(), value.upper_rational()) {
            let sharp = Rational::from(upper - lower) <= high - low;
            self.rows.entry(kind).or_default().sharp += u64::from(sharp);
        }
    }
}

/// The width divided by the larger end; zero for a single number, infinite if an end is infinite.
pub fn relative_width(value: &Enclosure) -> f64 {
    let (lower, upper) = (value.lower(), value.upper());
    if lower == upper {
        return 0.0;
    }
    let width = Float::with_val(64, upper - lower);
    let size = Float::with_val(64, upper.abs_ref()).max(&Float::with_val(64, lower.abs_ref()));
    let relative = (width / size).to_f64();
    if relative.is_nan() { f64::INFINITY } else { relative }
}

/// Prints a line for the parent process.
pub fn say(line: &str) {
    let mut out = io::stdout().lock();
    // The parent may have ended.
    let _ = writeln!(out, "attack\t{line}");
    let _ = out.flush();
}
