//! `assay simulate`: the effect of noise on a regression on shares of published counts.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use dp_assay::{
    chart::{
        Figure,
        ranks::{self, Ranks},
    },
    csv_reader::{CsvTable, Reading},
    document::fields::{Fields, exactly, said},
    error::unknown,
    noise::{
        Sampler,
        regression::{ShareRegression, SlopeTrials},
    },
};
use rug::Rational;
use serde_json::{Value, json};

use super::{
    arguments::number,
    drawn,
    exit::Exit,
    mechanism::Randomness,
    multiline::{self, Multiline},
    output::{self, exact_text},
    page::{FormArgs, Page},
    progress,
};

/// How far noise moves the slope of y on the share of a category, by trials with the exact sampler
///
/// The regressor is the count of one category over the sum of all; every count is published as max(0, count + noise). The slopes
/// are fitted in doubles: approximations, unlike the output of other commands.
#[derive(clap::Args)]
pub struct Args {
    /// A CSV file with a header line
    #[arg(value_name = "IN.csv")]
    input: PathBuf,
    /// The column of the dependent variable
    #[arg(long, value_name = "NAME")]
    y: String,
    /// The columns of counts by category, two or more
    #[arg(long, value_name = "NAME,NAME,...", value_delimiter = ',', required = true)]
    categories: Vec<String>,
    /// The category whose share is the regressor [default: the last]
    #[arg(long, value_name = "NAME")]
    x: Option<String>,
    /// The variance proxy of the noise (repeatable: the others are compared with the first)
    #[arg(long, value_name = "SIGMA2", required = true, allow_hyphen_values = true)]
    discrete_gaussian: Vec<String>,
    /// Independent trials
    #[arg(long, value_name = "K", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    trials: u64,
    /// Numbers of y have a decimal comma, as in 1234,5
    #[arg(long)]
    decimal_comma: bool,
    #[command(flatten)]
    multiline: Multiline,
    #[command(flatten)]
    randomness: Randomness,
    #[command(flatten)]
    form: FormArgs,
    /// Also draw the errors of the slope as SVG
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<Exit> {
    let simulated = Simulated::of_args(args)?;
    let mut page = args.form.page();
    let noise = simulated.rows();
    page.object(simulated.to_json(&noise));
    simulated.put_text(&mut page, &noise);
    if let Some(path) = &args.svg {
        drawn::write(path, &simulated.figure())?;
    }
    page.done()
}

/// Trials with each noise.
struct Simulated<'a> {
    args: &'a Args,
    shares: ShareRegression,
    insecure_seed: Option<u64>,
    sigma2: Vec<Rational>,
    found: Vec<SlopeTrials>,
    means: Vec<Mean>,
}

impl<'a> Simulated<'a> {
    fn of_args(args: &'a Args) -> Result<Self> {
        let sigma2 = (args.discrete_gaussian.iter())
            .map(|text| number("--discrete-gaussian", text))
            .collect::<Result<Vec<Rational>>>()?;
        let sampler = |(sigma2, text): (&Rational, &String)| {
            Sampler::discrete_gaussian(sigma2.clone()).with_context(|| format!("--discrete-gaussian {text}"))
        };
        let samplers: Vec<Sampler> = sigma2.iter().zip(&args.discrete_gaussian).map(sampler).collect::<Result<_>>()?;
        let shares = args.read()?;
        let mut streams = args.randomness.resolve()?;
        progress::stage("trials");
        let steps = progress::Steps::new(args.trials * samplers.len() as u64);
        let mut simulate = |sampler| shares.simulate_with(sampler, args.trials, &mut streams, &mut || steps.step());
        let found = (samplers.iter())
            .map(|sampler| Ok(simulate(sampler)?))
            .collect::<Result<Vec<_>>>()
            .with_context(|| dp_assay::error::shown(&args.input))?;
        let means = found.iter().map(Mean::of_trials).collect();
        Ok(Simulated { args, shares, insecure_seed: streams.insecure_seed(), sigma2, found, means })
    }

    /// By how many percent the error with one noise is below that with the first.
    fn reduction(&self, k: usize) -> Mean {
        self.means[k].below(&self.means[0], k == 0)
    }

    /// A row for each noise.
    fn rows(&self) -> Vec<Fields> {
        let percent = |text: String| if text == "-" { text } else { format!("{text} %") };
        let of = |(k, found): (usize, &SlopeTrials)| {
            let (mean, reduction) = (self.means[k], self.reduction(k));
            let ((shown, shown_error), (less, less_error)) = (mean.shown(), reduction.shown());
            let about_mean = "mean |slope - without noise|";
            Fields::new()
                .shown("sigma2", "sigma2", exactly(&self.sigma2[k]))
                .with("trials", self.args.trials)
                .shown("mean_absolute_error_approximate", about_mean, said(mean.value, shown))
                .shown("standard_error_approximate", "standard error", said(mean.error, shown_error))
                .with("slopes_approximate", &found.slopes)
                .shown("reduction_percent_approximate", "change", said(reduction.value, percent(change_of(&less))))
                .shown(
                    "reduction_standard_error_approximate",
                    "its standard error",
                    said(reduction.error, percent(less_error)),
                )
                .shown("rows_left_out", "rows left out", found.left_out)
        };
        self.found.iter().enumerate().map(of).collect()
    }

    fn to_json(&self, noise: &[Fields]) -> Value {
        json!({
            "rows": self.shares.y.len(),
            "trials": self.args.trials,
            "slope_approximate": self.found[0].slope,
            "insecure_seed": self.insecure_seed,
            "noise": noise,
        })
    }

    /// The number of trials in words.
    fn trials(&self) -> String {
        output::count_of(self.args.trials, "trial")
    }

    fn put_text(&self, page: &mut Page, noise: &[Fields]) {
        let seed = self.insecure_seed.map_or_else(String::new, |seed| format!(", insecure seed {seed}"));
        page.text(format!(
            "{}, {} for each noise{seed}; slope of {:?} on the share of {:?} without noise: {}\n\n",
            output::count_of(self.shares.y.len() as u64, "row"),
            self.trials(),
            self.args.y,
            self.args.categories[self.shares.category],
            significant(self.found[0].slope, 7)
        ));
        page.rows(noise);
        page.text(format!(
            "\nSimulated, in doubles: means over {}, with the digits that their standard errors support. A row is left out \
             of a trial where all its published counts are 0.\n",
            self.trials()
        ));
    }

    fn figure(&self) -> Figure {
        let ranks = Ranks {
            title: String::new(),
            label: "mean |slope - slope without noise|, simulated".to_string(),
            names: self.sigma2.iter().map(|sigma2| format!("sigma2 = {}", exact_text(sigma2))).collect(),
            series: vec![(self.trials(), self.means.iter().map(|mean| Some(mean.value)).collect())],
        };
        let share = &self.args.categories[self.shares.category];
        let title =
            format!("Slope of {} on the share of {share}, {}", self.args.y, dp_assay::error::shown(&self.args.input));
        ranks::figure(&title, &[ranks])
    }
}

/// A mean over trials and its standard error, in doubles; no error if it cannot be estimated.
#[derive(Clone, Copy, Debug)]
struct Mean {
    value: f64,
    error: Option<f64>,
}

impl Mean {
    fn of_trials(found: &SlopeTrials) -> Mean {
        Mean { value: found.mean_absolute_error(), error: found.standard_error() }
    }

    /// By how many percent it is below another one; the error to first order, because the trials of both are independent.
    fn below(&self, first: &Mean, is_first: bool) -> Mean {
        if is_first && first.value > 0.0 {
            return Mean { value: 0.0, error: None };
        }
        let ratio = self.value / first.value;
        let relative = |mean: &Mean| mean.error.map(|error| error / mean.value);
        let error = relative(self).zip(relative(first)).map(|(a, b)| 100.0 * ratio * libm::hypot(a, b));
        Mean { value: 100.0 * (1.0 - ratio), error: error.filter(|error| error.is_finite()) }
    }

    /// Both to the second digit of the error; a dash for a value that is no number or cannot be estimated.
    fn shown(&self) -> (String, String) {
        let dash = || "-".to_string();
        if !self.value.is_finite() {
            return (dash(), dash());
        }
        let Some(error) = self.error.filter(|error| *error > 0.0 && error.is_finite()) else {
            return (significant(self.value, 3), self.error.map_or_else(dash, |_| "0".to_string()));
        };
        let last = libm::log10(error).floor() as i32 - 1;
        // The digits of the mean down to the second digit of its error.
        let digits = if self.value == 0.0 { 1 } else { libm::log10(self.value.abs()).floor() as i32 - last + 1 };
        (significant(self.value, digits.clamp(1, 15) as usize), significant(error, 2))
    }
}

/// The change of a value that is lower by this number: the number with the other sign.
fn change_of(less: &str) -> String {
    match less {
        "-" | "0" => less.to_string(),
        less => less.strip_prefix('-').map_or_else(|| format!("-{less}"), |more| format!("+{more}")),
    }
}

/// A double to this number of significant digits.
fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let size = libm::log10(value.abs()).floor() as i32;
    if !(-4..9).contains(&size) {
        return format!("{value:.*e}", digits - 1);
    }
    let decimals = (digits as i32 - 1 - size).max(0) as usize;
    format!("{value:.decimals$}")
}

impl Args {
    fn read(&self) -> Result<ShareRegression> {
        if self.categories.len() < 2 {
            bail!("--categories: a share needs two columns or more");
        }
        if let Some(twice) = self.categories.iter().enumerate().find(|(k, name)| self.categories[..*k].contains(name)) {
            bail!("--categories: {:?} is named twice", twice.1);
        }
        let category = match &self.x {
            None => self.categories.len() - 1,
            Some(name) => (self.categories.iter().position(|category| category == name)).with_context(|| {
                let known = self.categories.iter().map(String::as_str);
                format!("--x: {}", unknown("category", name, "--categories has", known))
            })?,
        };
        self.shares(category).map_err(multiline::hint)
    }

    fn shares(&self, category: usize) -> dp_assay::Result<ShareRegression> {
        let reading = Reading { decimal_comma: self.decimal_comma, ..self.multiline.reading() };
        let mut table = CsvTable::read(&self.input, reading)?;
        let column = |name: &String| table.column(&[name.as_str()]);
        let y_column = column(&self.y)?;
        let columns: Vec<usize> = self.categories.iter().map(column).collect::<dp_assay::Result<_>>()?;
        let mut shares = ShareRegression { category, ..ShareRegression::default() };
        while table.next()? {
            shares.y.push(table.double(y_column)?);
            let counts = columns.iter().map(|at| table.whole(*at, u64::MAX));
            shares.counts.push(counts.collect::<dp_assay::Result<Vec<u64>>>()?);
        }
        Ok(shares)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_follow_the_standard_error() {
        let shown = |value, error| Mean { value, error }.shown();
        for (value, error, mean, of_error) in [
            (39.258_73, Some(1.234), "39.3", "1.2"),
            (0.012_345_6, Some(0.000_123), "0.01235", "0.00012"),
            (1.5e-12, Some(2.0e-14), "1.500e-12", "2.0e-14"),
            (f64::NAN, None, "-", "-"),
            (5.25, None, "5.25", "-"),
            (0.0, Some(0.0), "0", "0"),
        ] {
            assert_eq!(shown(value, error), (mean.to_string(), of_error.to_string()), "{value} {error:?}");
        }
        for (less, change) in [("45.5", "-45.5"), ("-45.5", "+45.5"), ("0", "0"), ("-", "-")] {
            assert_eq!(change_of(less), change);
        }
        let first = Mean { value: 2.0, error: Some(0.1) };
        let less = Mean { value: 1.0, error: Some(0.05) }.below(&first, false);
        assert!((less.value - 50.0).abs() < 1e-12 && (less.error.unwrap() - 50.0 * 0.05_f64.hypot(0.05)).abs() < 1e-12);
        // A constant y has no error, and zero is not below zero.
        let none = Mean { value: 0.0, error: Some(0.0) };
        assert_eq!(none.below(&none, true).shown(), ("-".to_string(), "-".to_string()));
    }
}
