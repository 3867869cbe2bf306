//! Section A.6 of Su, Su & Wang carried out: both terms of the privacy profile (A.9) by Boole's rule with the paper's
//! error budget, and by the contour integral.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rug::{Float, Rational};

use super::{
    boole::{Boole, ErrorBudget},
    su_su_wang_2025,
};
use crate::{
    account::{Account, Answer},
    error::{Error, Result},
    io::files::write_text,
    numeric::{Enclosure, parallel},
    release::Release,
};

/// The settings of the rule.
#[derive(Clone, Debug)]
pub struct RuleOptions {
    /// The number of panels of the first term: one less than the number of nodes, a multiple of four.
    pub panels: u64,
    /// The number of panels of the second term, which needs more because it is multiplied by exp(epsilon).
    pub second_panels: u64,
    /// A folder for the sums of finished chunks, so that an interrupted run continues where it stopped.
    pub state: Option<PathBuf>,
}

/// The default number of panels.
pub const PANELS: u64 = 600_000;
/// The default number of panels of the second term: enough to resolve delta to two digits or more.
pub const SECOND_PANELS: u64 = 1_400_000;
/// The number of panels in the paper.
pub const PAPER_PANELS: u64 = 10_000_000;

/// Both terms of delta(epsilon) = `P[L > epsilon]` - exp(epsilon) `P'[L > epsilon]` for all levels of a release.
#[derive(Clone, Debug)]
pub struct Pipeline {
    /// The epsilon, in nats.
    pub epsilon: Rational,
    /// The number of panels of the rule for the first term.
    pub panels: u64,
    /// The number of panels for the second term.
    pub second_panels: u64,
    /// The first term, with the paper's upper end.
    pub first: TailByRule,
    /// The probability in the second term.
    pub second: TailByRule,
    /// The first term minus exp(epsilon) times the second, by the rule.
    pub delta: Enclosure,
    /// delta by the contour.
    pub contour_delta: Answer,
    /// The time of the rule, and the time of the contour for all three values.
    pub times: (Duration, Duration),
}

/// The probability that the sum exceeds a threshold, by the rule.
#[derive(Clone, Debug)]
pub struct TailByRule {
    /// The range of values in the sum.
    pub range: (i64, i64),
    /// The rule's sum, including rounding errors.
    pub sum: Enclosure,
    /// The bounds on its truncation and discretization errors.
    pub budget: ErrorBudget,
    /// The probability.
    pub value: Enclosure,
    /// The same by the contour.
    pub contour: Answer,
}

/// Runs the rule for a release whose shares are multiples of 1/1000, at one epsilon. `progress` receives the number of
/// finished chunks and the number of all chunks.
pub fn run(
    release: &Release,
    epsilon: &Rational,
    options: &RuleOptions,
    progress: &(dyn Fn(u64, u64) + Sync),
) -> Result<Pipeline> {
    let sum = su_su_wang_2025::Sum::of_release(release)?;
    let rules = [sum.first_term(epsilon, options.panels)?, sum.second_term(epsilon, options.second_panels)?];
    let budgets = [rules[0].budget()?, rules[1].budget()?];
    let all: u64 = rules.iter().map(Boole::chunks).sum();
    let started = Instant::now();
    let mut sums = Vec::new();
    let mut files = Vec::new();
    let mut before = 0;
    for (rule, name) in rules.iter().zip(["first-term.part", "second-term.part"]) {
        let file = options.state.as_ref().map(|folder| folder.join(name));
        sums.push(integrate(rule, file.as_deref(), &|done| progress(before + done, all))?);
        files.extend(file);
        before += rule.chunks();
    }
    let by_rule = started.elapsed();
    let started = Instant::now();
    let whole = release.composition(&[] as &[&str], None)?;
    // The sum exceeds its threshold if and only if the loss exceeds epsilon, or epsilon + 2 rho for the second term.
    let tail = |z: Rational| whole.loss().evaluator().upper_tail(&whole.loss().above(&z), 30);
    let contours = [tail(epsilon.clone())?, tail(epsilon + Rational::from(&**whole.rho() * 2_u32))?];
    let contour_delta = whole.delta(epsilon, 30)?;
    let by_contour = started.elapsed();
    let parts = rules.iter().zip(budgets).zip(sums).zip(contours).map(|(((rule, budget), sum), contour)| {
        let value = rule.upper_tail(&sum, &budget).clamp(0.0, 1.0);
        TailByRule { range: rule.range(), sum, budget, value, contour }
    });
    let [first, second]: [TailByRule; 2] =
        parts.collect::<Vec<_>>().try_into().unwrap_or_else(|_| unreachable!("two rules"));
    let exp = Enclosure::rational(epsilon, 200).exp();
    let delta = first.value.sub(&exp.mul(&second.value)).clamp(0.0, 1.0);
    for file in files {
        // The run is finished, so its saved state is obsolete.
        let _ = fs::remove_file(file);
    }
    // The folder is removed only if it is empty.
    let _ = options.state.as_ref().map(fs::remove_dir);
    let times = (by_rule, by_contour);
    Ok(Pipeline {
        epsilon: epsilon.clone(),
        panels: options.panels,
        second_panels: options.second_panels,
        first,
        second,
        delta,
        contour_delta,
        times,
    })
}

/// The sum of the rule over all chunks, on all cores; chunks in the file are not summed again.
fn integrate(rule: &Boole, file: Option<&Path>, progress: &(dyn Fn(u64) + Sync)) -> Result<Enclosure> {
    let mut done = match file {
        Some(file) => remembered(rule, file)?,
        None => BTreeMap::new(),
    };
    let missing: Vec<u64> = (0..rule.chunks()).filter(|chunk| !done.contains_key(chunk)).collect();
    progress(done.len() as u64);
    for batch in missing.chunks(4 * rayon::current_num_threads()) {
        let sums = parallel::map(batch, |chunk| rule.chunk(*chunk));
        done.extend(batch.iter().copied().zip(sums));
        if let Some(file) = file {
            write_text(file, &memory(rule, &done))?;
        }
        progress(done.len() as u64);
    }
    Ok(rule.sum(&done.into_values().collect::<Vec<_>>()))
}

/// The sums of the finished chunks as text: a line that identifies the computation, then chunk, bits, lower and upper
/// end in base 16, which is exact.
fn memory(rule: &Boole, done: &BTreeMap<u64, Enclosure>) -> String {
    let mut text = rule.identity() + "\n";
    for (chunk, sum) in done {
        let (lower, upper) = (sum.lower().to_string_radix(16, None), sum.upper().to_string_radix(16, None));
        text += &format!("{chunk} {} {} {lower} {upper}\n", sum.lower().prec(), sum.upper().prec());
    }
    text
}

fn remembered(rule: &Boole, file: &Path) -> Result<BTreeMap<u64, Enclosure>> {
    let Some(text) = crate::io::reading::read_text_if_there(file)? else { return Ok(BTreeMap::new()) };
    let mut lines = text.lines();
    let refuse = |line: usize, why: &str| Error::DataFile {
        file: crate::error::shown(file),
        line,
        column: 0,
        why: format!("{why}; delete the file to begin anew, or name another folder"),
    };
    if lines.next() != Some(rule.identity().as_str()) {
        return Err(refuse(1, "this is the memory of another computation"));
    }
    let mut done = BTreeMap::new();
    for (number, line) in lines.enumerate() {
        let entry = entry(line).filter(|(chunk, _)| *chunk < rule.chunks());
        let (chunk, sum) =
            entry.ok_or_else(|| refuse(number + 2, "expected chunk, bits twice, lower and upper end"))?;
        done.insert(chunk, sum);
    }
    Ok(done)
}

fn entry(line: &str) -> Option<(u64, Enclosure)> {
    let fields: Vec<&str> = line.split(' ').collect();
    let [chunk, lower_bits, upper_bits, lower, upper] = fields[..] else { return None };
    let end = |bits: &str, text: &str| -> Option<Float> {
        let bits = bits.parse().ok().filter(|bits| (2..=4096).contains(bits))?;
        Some(Float::with_val(bits, Float::parse_radix(text, 16).ok()?))
    };
    let (lower, upper) = (end(lower_bits, lower)?, end(upper_bits, upper)?);
    (lower.is_finite() && lower <= upper).then(|| Some((chunk.parse().ok()?, Enclosure::new(lower, upper))))?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    #[test]
    fn the_rule_encloses_the_contour_and_resumes_where_it_stopped() {
        let release = Release::find("su-su-wang-2025").unwrap();
        let epsilon = parse("12").unwrap();
        let folder = std::env::temp_dir().join(format!("dp-assay-pipeline-{}", std::process::id()));
        let options = RuleOptions { panels: 120_000, second_panels: 120_000, state: Some(folder.clone()) };
        let rule = su_su_wang_2025::Sum::of_release(&release).unwrap().first_term(&epsilon, options.panels).unwrap();
        // Simulates an interruption: one chunk is saved.
        let chunk = rule.chunk(1);
        let text = memory(&rule, &[(1, chunk.clone())].into());
        assert_eq!(entry(text.lines().nth(1).unwrap()).unwrap().1, chunk);
        write_text(&folder.join("first-term.part"), &text).unwrap();
        let resumed = run(&release, &epsilon, &options, &|_, _| {}).unwrap();
        let whole = run(&release, &epsilon, &RuleOptions { state: None, ..options.clone() }, &|_, _| {}).unwrap();
        assert_eq!(resumed.first.sum, whole.first.sum);
        for part in [&whole.first, &whole.second] {
            assert!(part.value.overlaps(&part.contour.value));
            // The rule is far more accurate than its error bound.
            let ratio = part.sum.approximate() / part.contour.value.approximate();
            assert!((ratio - 1.0).abs() < 1e-9, "{ratio}");
        }
        assert!(whole.delta.overlaps(&whole.contour_delta.value));
        // No file remains, and the saved state of another computation is refused.
        assert!(!folder.join("first-term.part").exists());
        write_text(&folder.join("first-term.part"), "boole of something else\n").unwrap();
        let message = run(&release, &epsilon, &options, &|_, _| {}).unwrap_err().to_string();
        assert!(message.contains("line 1") && message.contains("another computation"), "{message}");
        write_text(&folder.join("first-term.part"), &format!("{}\n0 160 160 zz 1\n", rule.identity())).unwrap();
        assert!(run(&release, &epsilon, &options, &|_, _| {}).unwrap_err().to_string().contains("line 2"));
        fs::remove_dir_all(&folder).unwrap();
    }
}
