//! `assay audit`: whether integers of any program are draws of a law.

mod black_box;

use std::{io, path::PathBuf};

use anyhow::{Context, Result, bail};
use dp_assay::{
    audit::{
        Audited, Report, Shown as Numbers, Stream, Test,
        power::{Fault, Level, Power, draws_approx, percent},
        proven::ProvenP,
        read,
        report::{POWER, key, shown_by},
    },
    chart,
    document::fields::{Fields, said},
    law::Law,
    numeric::{Enclosure, notation::Notation},
};
use rug::Rational;
use serde_json::{Value, json};

use self::black_box::BlackBox;
use super::{
    arguments::{count, number},
    drawn,
    exit::Exit,
    output::{exact, exact_text, json_number},
    page::{FormArgs, Page},
    progress,
};

/// Tests whether integers of any program are independent draws of a law, or what outputs of any program prove about its epsilon
///
/// --draws reads one integer per line, in one pass and bounded memory: text or gzip, with or without a byte order mark and a heading. Every p-value is a proven upper bound; Holm's correction over all tests decides.
/// --with and --without read the outputs of a program on data with a record and without it: a lower bound on epsilon at each delta, which holds but with the stated error rate, and a decision on each --claim.
/// The exit status is 1 if the draws deviate or a claim is refuted.
#[derive(clap::Args)]
pub struct Args {
    /// The draws, one integer per line; - is standard input. With --power the number of draws, as 1e8
    #[arg(long, value_name = "FILE|-|N", required_unless_present = "with", conflicts_with = "with")]
    draws: Option<String>,
    /// The declared law, as discrete-gaussian:5, discrete-laplace:0.5 or truncated-laplace:0.5:10; beside --with its exact epsilon is shown
    #[arg(long, value_name = "LAW:PARAMETER", required_unless_present = "with")]
    law: Option<String>,
    #[command(flatten)]
    black_box: BlackBox,
    /// State the deviations that N draws show with probability 0.99, without reading any; with --claim how probably N runs refute it
    #[arg(long, conflicts_with = "with")]
    power: bool,
    #[command(flatten)]
    rate: Rate,
    /// Also draw observed and declared masses as SVG; of outputs the bounds, the claims and the declared law as trade-off functions
    #[arg(long, value_name = "FILE.svg", conflicts_with = "power")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    form: FormArgs,
}

/// The level of the verdict.
#[derive(clap::Args)]
pub struct Rate {
    /// Upper bound on the probability that true draws are reported as deviating, over all tests together [default: 0.001]
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    false_alarm_rate: Option<String>,
}

impl Rate {
    /// The rate.
    pub fn value(&self) -> Result<Rational> {
        let name = "--false-alarm-rate";
        let text = self.false_alarm_rate.as_deref().unwrap_or("0.001");
        let rate = number(name, text)?;
        if rate <= 0 || rate >= 1 {
            bail!("{name} = {text} is out of range: expected a number above 0 and below 1, as 0.001");
        }
        Ok(rate)
    }
}

/// The number of tests of a stream.
const TESTS: u64 = 17;

pub fn run(args: &Args) -> Result<Exit> {
    if args.black_box.files().is_some() {
        if args.rate.false_alarm_rate.is_some() {
            bail!("--false-alarm-rate beside --with: --errors is the rate of bounds from outputs");
        }
        return args.black_box.run(args.law.as_deref(), args.svg.as_deref(), &args.form);
    }
    let (Some(draws), Some(law)) = (&args.draws, &args.law) else {
        bail!("expected --draws and --law, or --with and --without")
    };
    if args.power && args.black_box.has_claims() {
        if args.rate.false_alarm_rate.is_some() {
            bail!("--false-alarm-rate beside --claim: --errors is the rate of refutations");
        }
        return args.black_box.run_power(draws, law, &args.form);
    }
    if args.black_box.has_claims() || args.black_box.has_errors() {
        bail!(
            "--claim and --errors go with --with and --without, or with --power and a claim: draws alone have no data with a record and without it"
        );
    }
    let rate = args.rate.value()?;
    let law = parse_law(law)?;
    let audited = Audited::of_law(&law).context("--law")?;
    if args.power {
        let draws = count(draws).map_err(anyhow::Error::msg).context("--draws beside --power")?;
        return run_power(args, &law, &audited, draws, &rate);
    }
    progress::stage("draws read");
    let mut stream = Stream::new(&audited.law, key()?);
    let mut take = |batch: &[i64]| batch.iter().for_each(|x| stream.add(*x));
    match draws.as_str() {
        "-" => read::integers(io::stdin().lock(), "standard input", &mut take),
        path => read::file(path.as_ref(), &mut take),
    }
    .context("--draws")?;
    let report = Report::of_stream(&audited, &stream, &rate).context("--draws")?;
    let mut page = args.form.page();
    put(&mut page, &law, &audited, &stream, &report);
    if let Some(path) = &args.svg {
        let title = format!("{} draws of {law}", stream.tally.draws());
        drawn::write(path, &chart::audit::masses(&title, &audited.masses_approx(&stream.tally)))?;
    }
    page.answered(!report.verdict.deviates())
}

/// A law as `LAW:PARAMETER`.
pub fn parse_law(text: &str) -> Result<Law> {
    let expected = || {
        format!(
            "--law {text:?}: expected LAW:PARAMETER, as discrete-gaussian:5, discrete-laplace:0.5 or truncated-laplace:0.5:10"
        )
    };
    let (name, parameters) = text.split_once(':').with_context(expected)?;
    Law::parse(name, parameters).with_context(expected)
}

/// A proven bound as text, rounded up.
pub fn shown(p: ProvenP) -> String {
    let value = p.value();
    if value.is_zero() { "0".to_string() } else { Enclosure::new(value.clone(), value).upper_in(Notation::General, 2) }
}

/// A proven bound as a number of JSON, with more digits.
pub fn p_json(p: ProvenP) -> Value {
    let value = p.value();
    if value.is_zero() {
        return json!(0);
    }
    json_number(&Enclosure::new(value.clone(), value).upper_in(Notation::General, 6))
}

/// A test as a row.
pub fn test_fields(test: &Test, corrected: ProvenP) -> Fields {
    Fields::new()
        .shown("test", "test", test.name)
        .with("draws", test.draws)
        .with("statistic", test.statistic)
        .shown("p_value", "p at most", said(p_json(test.p), shown(test.p)))
        .shown("corrected_p_value", "corrected", said(p_json(corrected), shown(corrected)))
        .shown("what", "statistic", &test.what)
}

/// Approximate moments and statistics of draws, beside the declared variance; with the number of draws that moments leave out.
pub fn approximations(numbers: &Numbers, left_out: Option<u64>) -> Fields {
    let [mean, variance, skewness, kurtosis] = numbers.moments;
    let (chi, free, p_chi) = numbers.chi_square;
    let (ratio, p_ratio) = numbers.likelihood_ratio;
    Fields::new()
        .with("mean", mean)
        .with_some("left_out", left_out)
        .with("variance", variance)
        .with("declared_variance", numbers.variance)
        .with("skewness", skewness)
        .with("kurtosis", kurtosis)
        .with("chi_square", json!({ "statistic": chi, "degrees_of_freedom": free, "p_asymptotic": p_chi }))
        .with("likelihood_ratio", json!({ "statistic": ratio, "p_asymptotic": p_ratio }))
}

/// The law and its parameters.
fn of_law(law: &Law) -> Fields {
    let first = Fields::new().with("law", law.key()).with(law.parameter_name(), exact(law.parameter()));
    law.other_parameters().into_iter().fold(first, |fields, (name, value)| fields.with(name, exact(&value)))
}

fn put(page: &mut Page, law: &Law, audited: &Audited, stream: &Stream, report: &Report) {
    let (tests, shown_numbers, verdict) = (&report.tested.tests, &report.tested.shown, &report.verdict);
    let draws = stream.tally.draws();
    page.text(format!("{draws} draws against {law}\n\n"));
    let all = tests.iter().zip(&verdict.corrected);
    let rows: Vec<Fields> = all.map(|(test, corrected)| test_fields(test, *corrected)).collect();
    page.rows_of_words(&rows);
    let words = report.words(audited);
    let [mean, variance, skewness, kurtosis] = shown_numbers.moments;
    let third =
        if skewness.is_finite() { format!(", skewness {skewness:.4}, kurtosis {kurtosis:.4}") } else { String::new() };
    let (chi, free, p_chi) = shown_numbers.chi_square;
    let (ratio, p_ratio) = shown_numbers.likelihood_ratio;
    let left_out = match shown_numbers.beyond {
        (0, _) => String::new(),
        (many, reach) => format!(" (without {many} of the draws, beyond {reach} or its negative)"),
    };
    let rate = exact_text(&verdict.false_alarm_rate);
    page.text(format!(
        "\n{words}\n\
         False alarm rate of the verdict: at most {rate} over {} tests (Holm); every p-value is a proven upper bound.\n\n\
         Approximate, and not part of the verdict: mean {mean:.4e}, variance {variance:.6} (declared {:.6}){third}{left_out}; \
         chi-square {chi:.1} with {free} degrees of freedom (asymptotic p {p_chi:.3}), likelihood ratio \
         {ratio:.1} (asymptotic p {p_ratio:.3}).\n",
        tests.len(),
        shown_numbers.variance,
    ));
    put_shows(page, audited, &report.shows, draws);
    page.object(of_law(law).and(json!({
        "draws": draws,
        "tests": rows,
        "verdict": verdict.key(),
        "verdict_in_words": words,
        "false_alarm_rate": exact(&verdict.false_alarm_rate),
        "parameter_factor": report.interval.map(|found| json!({ "lower": found.lower, "upper": found.upper })),
        "approximations": approximations(shown_numbers, Some(shown_numbers.beyond.0)),
        "shows_approx": report.shows.iter().map(|power| power_json(power, audited)).collect::<Value>(),
    })));
}

/// The smallest faults that a number of draws shows, as a sentence.
fn put_shows(page: &mut Page, audited: &Audited, shows: &[Power], draws: u64) {
    let named: Vec<String> = shows.iter().map(|power| power.fault.words(audited)).collect();
    let text = match &named[..] {
        [] => format!("{draws} draws are too few to show any of the usual faults with probability {POWER}."),
        named => format!("With probability {POWER} such draws show (approximately): {}.", named.join("; ")),
    };
    page.text(format!("\n{text}\n"));
}

fn power_json(power: &Power, audited: &Audited) -> Value {
    let size = size(power.fault);
    json!({ "fault": power.fault.words(audited), "size": size, "test": power.test, "power": power.power })
}

/// The size of a fault, if it is of a kind that has one.
pub fn size(fault: Fault) -> Option<f64> {
    match fault {
        Fault::Parameter(size)
        | Fault::Cut(size)
        | Fault::Even(size)
        | Fault::Shift(size)
        | Fault::Correlated(size) => Some(size),
        Fault::Rounded | Fault::Positive | Fault::Clipped => None,
    }
}

/// Faults whose number of draws is stated.
const USUAL: [Fault; 10] = [
    Fault::Parameter(0.1),
    Fault::Parameter(0.01),
    Fault::Parameter(0.001),
    Fault::Rounded,
    Fault::Cut(6.0),
    Fault::Even(0.001),
    Fault::Shift(0.001),
    Fault::Positive,
    Fault::Clipped,
    Fault::Correlated(0.01),
];

fn run_power(args: &Args, law: &Law, audited: &Audited, draws: u64, rate: &Rational) -> Result<Exit> {
    let level = Level { rate: rate.to_f64(), tests: TESTS };
    let shows = shown_by(audited, draws, level);
    let row = |fault: &Fault| {
        let needed = draws_approx(audited, *fault, POWER, level);
        let now = fault.power_approx(audited, draws, level).power;
        let said_needed = needed.map_or("more than 1e15".to_string(), |needed| needed.to_string());
        Fields::new()
            .shown("fault", "fault", fault.words(audited))
            // The test that finds the fault with enough draws.
            .shown("test", "test", needed.map_or("-", |needed| fault.power_approx(audited, needed, level).test))
            .shown("draws_for_99_percent", "draws for 99 %", said(needed, said_needed))
            .shown("power", "power now", said(now, percent(now.clamp(0.0, 1.0))))
    };
    let usual: Vec<Fields> = USUAL.iter().map(row).collect();
    let mut page = args.form.page();
    page.text(format!("{law}, {draws} draws, false alarm rate {}\n\n", exact_text(rate)));
    page.rows_of_words(&usual);
    put_shows(&mut page, audited, &shows, draws);
    page.text("\nAll numbers are approximations.\n");
    page.object(of_law(law).and(json!({
        "draws": draws,
        "false_alarm_rate": exact(rate),
        "faults_approx": usual,
        "shows_approx": shows.iter().map(|power| power_json(power, audited)).collect::<Value>(),
    })));
    page.done()
}
