//! `assay simulate`: what noise does to a regression on shares of published counts.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use dp_assay::{
    chart::ranks::{self, Ranks},
    csv_reader::{CsvTable, Reading},
    noise::{Sampler, regression::ShareRegression},
};
use serde_json::{Value, json};

use super::{
    Exit, drawn,
    mechanism::Randomness,
    multiline::{self, Multiline},
    number,
    output::{exact, exact_text},
    page::FormArgs,
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
    let samplers: Vec<Sampler> = (args.discrete_gaussian.iter())
        .map(|text| {
            let sigma2 = number("--discrete-gaussian", text)?;
            Sampler::discrete_gaussian(sigma2).with_context(|| format!("--discrete-gaussian {text}"))
        })
        .collect::<Result<_>>()?;
    let shares = args.read()?;
    let mut streams = args.randomness.resolve()?;
    progress::stage("simulating");
    let steps = progress::Steps::new(args.trials * samplers.len() as u64);
    let mut simulate = |sampler| shares.simulate_with(sampler, args.trials, &mut streams, &mut || steps.step());
    let found = (samplers.iter())
        .map(|sampler| Ok(simulate(sampler)?))
        .collect::<Result<Vec<_>>>()
        .with_context(|| args.input.display().to_string())?;
    let errors: Vec<f64> = found.iter().map(|found| found.mean_absolute_error()).collect();
    let sigma2 = |k: usize| number("--discrete-gaussian", &args.discrete_gaussian[k]);
    let noise = (0..found.len())
        .map(|k| {
            Ok(json!({
                "sigma2": exact(&sigma2(k)?),
                "mean_absolute_error_approximate": errors[k],
                "slopes_approximate": found[k].slopes,
                "reduction_percent_approximate": reduction(&errors, k),
                "rows_left_out": found[k].left_out,
            }))
        })
        .collect::<Result<Vec<Value>>>()?;
    let mut page = args.form.page();
    page.object(json!({
        "rows": shares.y.len(),
        "trials": args.trials,
        "slope_approximate": found[0].slope,
        "insecure_seed": streams.insecure_seed(),
        "noise": noise,
    }));
    page.records(noise);
    let seed = streams.insecure_seed().map_or_else(String::new, |seed| format!(", insecure seed {seed}"));
    page.text(format!(
        "{} rows, {} trials{seed}; slope of {:?} on the share of {:?} without noise: {:.6e}\n\n",
        shares.y.len(),
        args.trials,
        args.y,
        args.categories[shares.category],
        found[0].slope
    ));
    let rows = (0..found.len())
        .map(|k| {
            Ok(vec![
                exact_text(&sigma2(k)?),
                format!("{:.6e}", errors[k]),
                reduction(&errors, k).map_or_else(|| "-".to_string(), |percent| format!("{percent:.2} %")),
                found[k].left_out.to_string(),
            ])
        })
        .collect::<Result<Vec<_>>>()?;
    page.table(&["sigma2", "mean |slope - without noise|", "lower by", "rows left out"], rows);
    page.text("\nSimulated, in doubles. A row is left out of a trial where all its published counts are 0.\n");
    if let Some(path) = &args.svg {
        let ranks = Ranks {
            title: String::new(),
            label: "mean |slope - slope without noise|, simulated".to_string(),
            names: (0..found.len())
                .map(|k| Ok(format!("sigma2 = {}", exact_text(&sigma2(k)?))))
                .collect::<Result<_>>()?,
            series: vec![(format!("{} trials", args.trials), errors.iter().map(|error| Some(*error)).collect())],
        };
        let share = &args.categories[shares.category];
        let title = format!("Slope of {} on the share of {share}, {}", args.y, args.input.display());
        drawn::write(path, &ranks::figure(&title, &[ranks]))?;
    }
    page.print()?;
    Ok(Exit::Done)
}

/// By how many percent an error is below the first; none where that is zero, as for a y that is constant.
fn reduction(errors: &[f64], k: usize) -> Option<f64> {
    (errors[0] > 0.0).then(|| 100.0 * (1.0 - errors[k] / errors[0]))
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
            Some(name) => (self.categories.iter().position(|category| category == name))
                .with_context(|| format!("--x {name}: is not one of --categories {}", self.categories.join(",")))?,
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
