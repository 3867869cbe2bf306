//! `assay errors`: the effect of noise on counts, exactly and without simulation.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use dp_assay::{
    csv_reader::{CsvTable, Reading},
    document::fields::{Fields, certified, exactly, said},
    noise::{DiscreteGaussian, published_error::ErrorsOfCounts},
    numeric::Enclosure,
};
use rug::Rational;
use serde_json::json;

use super::{
    arguments::number,
    exit::Exit,
    multiline::{self, Multiline},
    output::{self, exact_text},
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
        let noise: Vec<Fields> = rows.iter().map(|row| row.fields(&rows[0], self.digits.min(12) as usize)).collect();
        page.object(json!({ "counts": total, "noise": noise }));
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
        page.rows(&noise);
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
    fn fields(&self, first: &Row, digits: usize) -> Fields {
        let ErrorsOfCounts { plain, clamped, clamped_bias, margin, clamped_margin, .. } = &self.errors;
        let shown = |value: &Enclosure| certified(value, digits);
        let bias = match *clamped_bias.lower() > 0 {
            true => clamped_bias.shown(digits),
            false => format!("<= {}", output::bound(clamped_bias.upper())),
        };
        let (first, first_clamped) = (&first.errors.plain, &first.errors.clamped);
        Fields::new()
            .shown("sigma2", "sigma2", exactly(&self.sigma2))
            .shown("mean_squared_error", "MSE", shown(&plain.squared))
            .shown("mean_absolute_error", "MAE", shown(&plain.absolute))
            .with("bias", 0)
            .with("margin_95", margin)
            .shown("cut_mean_squared_error", "MSE, clamped", shown(&clamped.squared))
            .shown("cut_mean_absolute_error", "MAE, clamped", shown(&clamped.absolute))
            .shown("cut_bias", "bias, clamped", said(clamped_bias, bias))
            .cell("95 % margin", margin.to_string())
            .shown(
                "cut_margin_95",
                "clamped",
                said(clamped_margin, clamped_margin.map_or_else(String::new, |margin| margin.to_string())),
            )
            .with(
                "reduction_percent",
                json!({
                    "mean_squared_error": reduction(&plain.squared, &first.squared),
                    "mean_absolute_error": reduction(&plain.absolute, &first.absolute),
                    "cut_mean_squared_error": reduction(&clamped.squared, &first_clamped.squared),
                    "cut_mean_absolute_error": reduction(&clamped.absolute, &first_clamped.absolute),
                }),
            )
    }
}
