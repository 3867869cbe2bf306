//! The program as run by its users: its JSON output, against the enumerated law.

use std::process::Command;

use rug::{Integer, Rational, ops::Pow};
use serde_json::Value;

use super::{
    account::decimal,
    cases::{Case, Numbers},
    enumerated::Enumerated,
    fixed::{Fixed, Span},
    harness,
    record::Record,
};

/// The exact value of a JSON number.
fn number(value: &Value) -> Option<Rational> {
    let text = value.as_number()?.to_string().to_lowercase();
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: Integer = format!("{whole}{fraction}").parse().ok()?;
    let exponent = exponent.parse::<i64>().ok()? - fraction.len() as i64;
    let power = Rational::from(Integer::from(10).pow(exponent.unsigned_abs() as u32));
    Some(if exponent < 0 { Rational::from(digits) / power } else { Rational::from(digits) * power })
}

/// Runs the program; returns its answer as JSON, or `None` and a failure if it did not answer.
fn json(record: &mut Record, kind: &'static str, words: &[String]) -> Option<Value> {
    let text = || format!("assay {}", words.join(" "));
    let output = record.ask(kind, &text, || {
        let mut command = Command::new(harness::program());
        Ok(command.env_remove("ASSAY_FACTS").args(words).arg("--json").output().expect("the program starts"))
    })?;
    let answer = serde_json::from_slice(&output.stdout).ok();
    record.check(kind, output.status.success() && answer.is_some(), &|| {
        format!("{}: {}, {}", text(), output.status, String::from_utf8_lossy(&output.stderr))
    });
    answer
}

struct Printed<'a> {
    kind: &'static str,
    text: String,
    record: &'a mut Record,
    fixed: Fixed,
}

impl Printed<'_> {
    /// The printed ends enclose the true value, with the precision of the status.
    fn check(&mut self, lower: &Value, upper: &Value, status: &Value, truth: &Span, digits: u32) {
        let (kind, text) = (self.kind, self.text.clone());
        let (Some(low), Some(high)) = (number(lower), number(upper)) else {
            self.record.check(kind, false, &|| format!("{text}: {lower} and {upper} are no numbers"));
            return;
        };
        let (least, most) = (self.fixed.value(&truth.lower), self.fixed.value(&truth.upper));
        self.record.check(kind, low <= most && least <= high && low <= high, &|| {
            format!("{text}: [{low}, {high}] without [{}, {}]", least.to_f64(), most.to_f64())
        });
        let sharp = Rational::from(&most - &least) <= Rational::from(&high - &low);
        let row = self.record.rows.entry(kind).or_default();
        row.sharp += u64::from(sharp);
        let width = if low == high { 0.0 } else { (Rational::from(&high - &low) / &high).to_f64() };
        row.widest = row.widest.max(width);
        let met = status == "met";
        row.wider += u64::from(!met);
        // The printed ends are rounded outward, with enough digits to show the width.
        self.record.check(kind, !met || width <= 10_f64.powi(-(digits as i32)) * 1.2, &|| {
            format!("{text}: met with {width:e}")
        });
    }
}

/// One composition through `delta`, `curve`, `tradeoff` and `epsilon`.
pub fn attack(numbers: &mut Numbers, record: &mut Record) -> Option<()> {
    let class = numbers.pick(&["tiny", "one group", "bounded", "mixed", "lattice", "shifts", "near-commensurate"]);
    let case = Case::new(class, numbers);
    if case.mean() > 60.0 {
        return None;
    }
    let law = Enumerated::new(&case.parts(), 448)?;
    let digits = numbers.pick(&[6_u32, 12, 20]);
    let place =
        |numbers: &mut Numbers| decimal((case.mean() + (numbers.unit() * 6.0 - 1.5) * case.deviation()).max(0.0), 3);
    let words = |command: &str, more: &[&str]| -> Vec<String> {
        let digits = digits.to_string();
        let tail = more.iter().copied().chain(["--digits", &digits]).map(str::to_string);
        std::iter::once(command.to_string()).chain(case.options()).chain(tail).collect()
    };
    let fixed = law.fixed;
    let epsilon = place(numbers);
    let line = words("delta", &["--epsilon", &epsilon.to_string()]);
    let printed =
        |kind: &'static str, line: &[String], record: &mut Record, check: &mut dyn FnMut(&mut Printed, &Value)| {
            if let Some(answer) = json(record, kind, line) {
                check(&mut Printed { kind, text: format!("assay {}", line.join(" ")), record, fixed }, &answer);
            }
        };
    printed("assay delta", &line, record, &mut |printed, answer| {
        let delta = &answer["delta"];
        printed.check(&delta["lower"], &delta["upper"], &answer["status"], &law.delta(&epsilon), digits);
    });
    let alpha = decimal(numbers.unit(), 4).clamp(&Rational::from((1, 10_000)), &Rational::from((9999, 10_000)));
    let line = words("tradeoff", &["--alpha", &alpha.to_string()]);
    printed("assay tradeoff", &line, record, &mut |printed, answer| {
        if let Some(beta) = law.tradeoff(&alpha) {
            let (lower, upper) = (&answer["beta_lower"][0], &answer["beta_upper"][0]);
            printed.check(lower, upper, &answer["status"][0], &beta, digits);
        }
    });
    let most = place(numbers) + 1_u32;
    let line = words("curve", &["--from", "0", "--to", &most.to_string(), "--points", "4"]);
    printed("assay curve", &line, record, &mut |printed, answer| {
        for at in 0..4 {
            // The points are printed exactly or with all their digits; the intended values are used.
            let epsilon = &most * Rational::from((at as u64, 3));
            let (lower, upper) = (&answer["delta_lower"][at], &answer["delta_upper"][at]);
            printed.check(lower, upper, &answer["status"][at], &law.delta(&epsilon), digits);
        }
    });
    let delta = Rational::from(numbers.between(1, 99)) / Integer::from(10).pow(numbers.between(3, 12) as u32);
    let line = words("epsilon", &["--delta", &delta.to_string()]);
    printed("assay epsilon", &line, record, &mut |printed, answer| {
        let (lower, upper) = (number(&answer["epsilon"]["lower"]), number(&answer["epsilon"]["upper"]));
        let (Some(lower), Some(upper)) = (lower, upper) else { return };
        let text = printed.text.clone();
        let level = fixed.rational(&delta);
        let small = law.delta(&upper).lower <= level.upper;
        printed.record.check("assay epsilon", small, &|| format!("{text}: {upper} is too small"));
        let large = lower == 0 || law.delta(&lower).upper >= level.lower;
        printed.record.check("assay epsilon", large, &|| format!("{text}: {lower} is too large"));
    });
    Some(())
}
