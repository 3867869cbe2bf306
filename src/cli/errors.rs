//! `assay errors`: the effect of noise on counts, exactly and without simulation.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use dp_assay::{
    csv_reader::{CsvTable, Reading},
    noise::{DiscreteGaussian, published_error::ErrorsOfCounts},
    numeric::Enclosure,
};
use rug::Rational;
use serde_json::{Value, json};

use super::{
    arguments::number,
    exit::Exit,
    multiline::{self, Multiline},
    output::{self, exact, exact_text},
    page::{FormArgs, Page},
};

/// Expected errors, bias and 95 % margin of published counts, with and without clamping at zero, exactly
///
/// For one true count, or averaged over a column of true counts. With several variances, the reductions against the first.
#[derive(clap::Args)]
pub struct Args {
    /// The variance proxy of the noise, up to 1e8 (repeatable: the others are compared with the first)
    #[arg(long, value_name = "SIGMA2", required = true, allow_hyphen_values = true)]
    discrete_gaussian: Vec<String>,
    /// A true count, 0 or more
    #[arg(
        long,
        value_name = "Y",
        required_unless_present = "counts",
        conflicts_with_all = ["counts", "multiline"],
        allow_hyphen_values = true,
        value_parser = super::arguments::count
    )]
    count: Option<u64>,
    /// A CSV file with a header line
    #[arg(long, value_name = "FILE.csv", requires = "column")]
    counts: Option<PathBuf>,
    /// The column of true counts, by its name in the header
    #[arg(long, value_name = "NAME", requires = "counts", conflicts_with = "count")]
    column: Option<String>,
    /// Enclosures of relative width at most 10^-D
    #[arg(long, value_name = "D", default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..=100))]
    digits: u32,
    #[command(flatten)]
    multiline: Multiline,
    #[command(flatten)]
    form: FormArgs,
}

const BITS: u32 = 200;

struct Row {
    sigma2: Rational,
    errors: ErrorsOfCounts,
}

pub fn run(args: &Args) -> Result<Exit> {
    args.answer()?.done()
}

impl Args {
    /// The errors of every noise.
    pub fn answer(&self) -> Result<Page> {
        let noises: Vec<DiscreteGaussian> = (self.discrete_gaussian.iter())
            .map(|text| {
                let name = format!("--discrete-gaussian {text}");
                let sigma2 = number("--discrete-gaussian", text)?;
                DiscreteGaussian::new(sigma2).with_context(|| name)
            })
            .collect::<Result<_>>()?;
        let counts = self.counts()?;
        let rows: Vec<Row> = noises.iter().map(|noise| self.row(noise, &counts)).collect::<Result<_>>()?;
        let total: u64 = counts.values().sum();
        let mut page = self.form.page();
        let noise: Vec<Value> = rows.iter().map(|row| row.json(&rows[0])).collect();
        page.object(json!({ "counts": total, "noise": noise }));
        page.records(noise);
        let what = match (self.count, &self.column) {
            (Some(count), _) => format!("a true count of {count}"),
            (_, column) => {
                format!(
                    "the mean over {} of column {:?}",
                    output::count_of(total, "true count"),
                    column.as_deref().unwrap_or_default()
                )
            }
        };
        page.text(format!("published y + X, or max(0, y + X), for {what}\n\n"));
        let digits = self.digits.min(12) as usize;
        let cells: Vec<Vec<String>> = rows.iter().map(|row| row.cells(digits)).collect();
        page.table(
            &["sigma2", "MSE", "MAE", "MSE, clamped", "MAE, clamped", "bias, clamped", "95 % margin", "clamped"],
            cells,
        );
        for row in &rows[1..] {
            let first = &rows[0];
            // |noise| grows with sigma2 in distribution, and with it all four means.
            let is_more = row.sigma2 > first.sigma2;
            let by = |own: &Enclosure, first: &Enclosure| {
                let less = reduction(own, first);
                format!("{} %", if is_more { less.negate() } else { less }.shown(6))
            };
            page.text(format!(
                "\nsigma2 {} instead of {}: MSE {} by {}, MAE by {}; clamped at zero, MSE by {}, MAE by {}\n",
                exact_text(&row.sigma2),
                exact_text(&first.sigma2),
                if is_more { "higher" } else { "lower" },
                by(&row.errors.plain.squared, &first.errors.plain.squared),
                by(&row.errors.plain.absolute, &first.errors.plain.absolute),
                by(&row.errors.clamped.squared, &first.errors.clamped.squared),
                by(&row.errors.clamped.absolute, &first.errors.clamped.absolute),
            ));
        }
        Ok(page)
    }
}

/// How often each count of a column occurs.
fn column_of_counts(path: &Path, column: &str, reading: Reading) -> dp_assay::Result<BTreeMap<u64, u64>> {
    let mut table = CsvTable::read(path, reading)?;
    let at = table.column(&[column])?;
    let mut counts = BTreeMap::new();
    while table.next()? {
        *counts.entry(table.whole(at, u64::MAX)?).or_insert(0) += 1;
    }
    Ok(counts)
}

/// 100 (1 - own / first).
fn reduction(own: &Enclosure, first: &Enclosure) -> Enclosure {
    Enclosure::double(1.0, BITS).sub(&own.div(first)).mul(&Enclosure::double(100.0, BITS))
}

impl Args {
    /// How often each true count occurs.
    fn counts(&self) -> Result<BTreeMap<u64, u64>> {
        let (Some(path), Some(column)) = (&self.counts, &self.column) else {
            return Ok(BTreeMap::from([(self.count.unwrap_or(0), 1)]));
        };
        let counts = column_of_counts(path, column, self.multiline.reading()).map_err(multiline::hint)?;
        if counts.is_empty() {
            bail!("{}: no counts below the header", dp_assay::error::shown(path));
        }
        Ok(counts)
    }

    fn row(&self, noise: &DiscreteGaussian, counts: &BTreeMap<u64, u64>) -> Result<Row> {
        let errors = ErrorsOfCounts::new(noise, counts, self.digits).context("--discrete-gaussian")?;
        Ok(Row { sigma2: noise.sigma2().clone(), errors })
    }
}

impl Row {
    fn cells(&self, digits: usize) -> Vec<String> {
        let shown = |value: &Enclosure| value.shown(digits);
        vec![
            exact_text(&self.sigma2),
            shown(&self.errors.plain.squared),
            shown(&self.errors.plain.absolute),
            shown(&self.errors.clamped.squared),
            shown(&self.errors.clamped.absolute),
            if *self.errors.clamped_bias.lower() > 0 {
                shown(&self.errors.clamped_bias)
            } else {
                format!("<= {}", output::bound(self.errors.clamped_bias.upper()))
            },
            self.errors.margin.to_string(),
            self.errors.clamped_margin.map_or_else(String::new, |margin| margin.to_string()),
        ]
    }

    fn json(&self, first: &Row) -> Value {
        let reduced = |own: &Enclosure, first: &Enclosure| reduction(own, first).to_json();
        json!({
            "sigma2": exact(&self.sigma2),
            "mean_squared_error": self.errors.plain.squared.to_json(),
            "mean_absolute_error": self.errors.plain.absolute.to_json(),
            "bias": 0,
            "margin_95": self.errors.margin,
            "cut_mean_squared_error": self.errors.clamped.squared.to_json(),
            "cut_mean_absolute_error": self.errors.clamped.absolute.to_json(),
            "cut_bias": self.errors.clamped_bias.to_json(),
            "cut_margin_95": self.errors.clamped_margin,
            "reduction_percent": {
                "mean_squared_error": reduced(&self.errors.plain.squared, &first.errors.plain.squared),
                "mean_absolute_error": reduced(&self.errors.plain.absolute, &first.errors.plain.absolute),
                "cut_mean_squared_error": reduced(&self.errors.clamped.squared, &first.errors.clamped.squared),
                "cut_mean_absolute_error": reduced(&self.errors.clamped.absolute, &first.errors.clamped.absolute),
            },
        })
    }
}
