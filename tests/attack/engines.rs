//! The golden file of the engines: random requests of every class of compositions, with the engine that answers each, its enclosure and its seconds.
//!
//! `scripts/measure/engines` runs it and compares with `results/engines.csv`: after a change of the engines every enclosure overlaps that of the file, none is
//! wider, and none takes longer by more than a fifth.

use std::{
    env,
    fmt::Write,
    fs,
    time::{Duration, Instant},
};

use dp_assay::{
    account::{Account, Delta},
    loss::answer::Answer,
};
use rug::{Float, Integer, Rational, float::Round, ops::Pow};

use super::{
    account::decimal,
    cases::{CLASSES, Case, Numbers},
};

/// The file that is written, and the number of requests of each class.
const OUT: &str = "ASSAY_ENGINES";
const COUNT: &str = "ASSAY_ENGINES_COUNT";
/// A request is timed again until it has taken this long in all, and at most this often; the least time counts.
const ENOUGH: Duration = Duration::from_millis(40);
const MOST_RUNS: u32 = 5;
/// Digits of an end in the file.
const SHOWN: usize = 36;

/// A request, in the words of the command line.
struct Request {
    case: Case,
    functional: &'static str,
    at: Rational,
    digits: u32,
}

impl Request {
    /// That of a class with this number; `None` where the composition is refused.
    fn new(class: &str, number: u64) -> Self {
        let mut numbers = Numbers::of(class, number);
        let case = Case::new(class, &mut numbers);
        let spread = if numbers.one_in(6) { numbers.scale(6.0, 30.0) } else { numbers.scale(1.0, 6.0) };
        let digits = numbers.pick(&[3, 6, 10, 12, 12, 12, 12, 20, 30]);
        let functional = ["delta", "epsilon", "tradeoff", "tail"][number as usize % 4];
        let place = |spread: f64| decimal((case.mean() + spread * case.deviation()).max(0.0), 6);
        let power = |exponent: f64| Rational::from(Integer::from(10).pow(exponent as u32)).recip();
        let depth = (spread * spread / 2.0).min(600.0) / std::f64::consts::LN_10;
        let at = match functional {
            "delta" | "tail" => place(-1.5 + numbers.unit() * (1.5 + spread)),
            "epsilon" => Rational::from(numbers.between(1, 999)) / 1000_u32 * power(numbers.unit() * depth),
            _ => Rational::from(numbers.between(1, 999)) / 1000_u32 * power((numbers.unit() * depth).min(40.0) / 2.0),
        };
        Request { case, functional, at, digits }
    }

    fn answer(&self) -> dp_assay::Result<Answer> {
        let composition = self.case.composition()?;
        match self.functional {
            "delta" => composition.delta(&self.at, self.digits),
            "epsilon" => composition.epsilon(&Delta::new(self.at.clone())?, self.digits),
            "tradeoff" => composition.tradeoff(&self.at, self.digits),
            _ => composition.loss().evaluator().upper_tail(&self.at, self.digits),
        }
    }

    /// The least seconds of a few runs, and the answer.
    fn timed(&self) -> (f64, dp_assay::Result<Answer>) {
        let (mut least, mut total) = (f64::INFINITY, Duration::ZERO);
        loop {
            let began = Instant::now();
            let answer = self.answer();
            let took = began.elapsed();
            least = least.min(took.as_secs_f64());
            total += took;
            if total >= ENOUGH || total >= took * MOST_RUNS {
                return (least, answer);
            }
        }
    }

    fn words(&self) -> String {
        let argument = match self.functional {
            "delta" => "--epsilon",
            "epsilon" => "--delta",
            "tradeoff" => "--alpha",
            _ => "at",
        };
        format!("{} {} {argument} {} --digits {}", self.functional, self.case.options().join(" "), self.at, self.digits)
    }
}

/// An end, rounded in its direction, as a decimal with an exponent.
fn end(value: &Float, round: Round) -> String {
    value.to_string_radix_round(10, Some(SHOWN), round)
}

/// The decimal digits that an enclosure proves; 0 where it proves none.
fn digits(answer: &Answer) -> u32 {
    (0..100).take_while(|digits| answer.value.is_tight(*digits)).count().saturating_sub(1) as u32
}

fn row(class: &str, number: u64) -> String {
    let request = Request::new(class, number);
    let (seconds, answer) = request.timed();
    let told = match answer {
        Ok(answer) => {
            let [lower, upper] = [end(answer.value.lower(), Round::Down), end(answer.value.upper(), Round::Up)];
            format!("{},{},{},{lower},{upper}", answer.proof.engine(), answer.met, digits(&answer))
        }
        Err(error) => format!("error,false,0,\"{}\",", error.to_string().replace('"', "'")),
    };
    format!("{class},{number},{},{told},{seconds:.6}\n", request.words())
}

#[test]
#[ignore = "minutes in a release build: scripts/measure/engines runs it"]
fn engines() {
    let (Some(path), count) = (env::var_os(OUT), env::var(COUNT)) else { panic!("{OUT} names the file to write") };
    let count: u64 = count.ok().and_then(|count| count.parse().ok()).unwrap_or(143);
    let mut table = String::from("class,number,request,engine,met,digits,lower,upper,seconds\n");
    for class in CLASSES {
        for number in 0..count {
            write!(table, "{}", row(class, number)).expect("a string takes text");
        }
    }
    fs::write(path, table).expect("the table can be written");
}
