//! What is noted of every question and every check.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    time::Instant,
};

use dp_assay::{loss::answer::Answer, numeric::Enclosure};
use rug::{Float, Rational};

use super::fixed::{Fixed, Span};

/// What is known of one kind of question.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// How many questions were asked.
    pub questions: u64,
    /// How many statements about the answers were checked.
    pub checks: u64,
    /// How many of them were false.
    pub failures: u64,
    /// How many answers were refused by an error.
    pub refused: u64,
    /// How many answers said that they are wider than asked.
    pub wider: u64,
    /// How many questions had no answer in the time that one may take.
    pub unanswered: u64,
    /// In how many checks against an oracle its own enclosure was narrower than the answer's.
    pub sharp: u64,
    /// The longest time of an answer in seconds.
    pub slowest: f64,
    /// The largest relative width of an answer.
    pub widest: f64,
}

impl Row {
    /// Both together.
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

    /// One line, and back.
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

/// The notes of one case.
pub struct Record {
    pub rows: BTreeMap<&'static str, Row>,
    case: String,
}

impl Record {
    /// No notes yet; `case` says how the case is made again.
    pub fn new(case: String) -> Self {
        Record { rows: BTreeMap::new(), case }
    }

    /// Asks a question: notes its time, and a refusal.
    pub fn ask<T>(
        &mut self,
        kind: &'static str,
        text: &dyn Fn() -> String,
        ask: impl FnOnce() -> dp_assay::Result<T>,
    ) -> Option<T> {
        // Whoever kills this process for its time must know what it was asked.
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

    /// Notes a statement.
    pub fn check(&mut self, kind: &'static str, holds: bool, text: &dyn Fn() -> String) {
        let row = self.rows.entry(kind).or_default();
        row.checks += 1;
        if !holds {
            row.failures += 1;
            say(&format!("failure\t{kind}\t{}: {}", self.case, text()));
        }
    }

    /// The answer is as wide as it says: met means a relative width of at most 10^-digits.
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

    /// The answer and the oracle have a number in common.
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

    /// The answer and [lower, upper] have a number in common.
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

/// The width divided by the larger end; zero for a single number, infinite where an end is.
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

/// A line for whoever reads this process.
pub fn say(line: &str) {
    let mut out = io::stdout().lock();
    // Nobody may listen any more.
    let _ = writeln!(out, "attack\t{line}");
    let _ = out.flush();
}
