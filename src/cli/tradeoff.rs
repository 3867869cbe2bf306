//! `assay tradeoff`: the smallest type II error of any test at given type I errors.

use anyhow::Result;
use dp_assay::{Error, account::Account};
use rug::Rational;
use serde_json::{Value, json};

use super::{
    Exit,
    curve::grid,
    number,
    output::{self, ends, exact_text, json_number},
    subject::{Format, Subject},
};

/// The trade-off function: how well any test can tell neighbors apart
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    subject: Subject,
    /// So many type I errors from 0 to 1, equidistant
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(2..=100_000))]
    points: u32,
    /// Only this type I error (repeatable)
    #[arg(long, value_name = "ALPHA", conflicts_with = "points", allow_hyphen_values = true)]
    alpha: Vec<String>,
    #[command(flatten)]
    format: Format,
    /// Comma-separated values
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

pub fn run(args: &Args) -> Result<Exit> {
    let alphas: Vec<Rational> = if args.alpha.is_empty() {
        grid(&Rational::new(), &Rational::from(1), args.points)
    } else {
        args.alpha.iter().map(|text| number("--alpha", text)).collect::<Result<_>>()?
    };
    let subject = args.subject.resolve()?;
    let betas = subject.whole.tradeoff_curve(&alphas, args.format.digits).map_err(|error| match error {
        Error::OutOfRange { what, value, expected } => Error::OutOfRange { what: format!("--{what}"), value, expected },
        other => other,
    })?;
    let rows: Vec<[String; 3]> = (alphas.iter().zip(&betas))
        .map(|(alpha, beta)| {
            let (lower, upper) = ends(&beta.value);
            [exact_text(alpha), lower, upper]
        })
        .collect();
    let status = || betas.iter().map(|beta| beta.status());
    const COLUMNS: [&str; 3] = ["alpha", "beta_lower", "beta_upper"];
    if args.csv {
        let with_status = |(row, status): ([String; 3], &str)| [&row[..], &[status.to_string()]].concat();
        output::csv(&[&COLUMNS[..], &["status"]].concat(), rows.into_iter().zip(status()).map(with_status))?;
    } else if args.format.json {
        let mut object = json!({ "neighbors": subject.neighbors.name() });
        for (k, column) in COLUMNS.iter().enumerate() {
            object[*column] = rows.iter().map(|row| json_number(&row[k])).collect::<Value>();
        }
        object["status"] = status().collect::<Value>();
        output::json(&object)?;
    } else {
        output::text(&format!("{}\n{} neighbors\n\n", subject.title, subject.neighbors.name()))?;
        output::table(&COLUMNS, &rows.iter().map(|row| row.to_vec()).collect::<Vec<_>>())?;
        output::say_wider(rows.iter().map(|row| row[0].as_str()).zip(&betas))?;
    }
    Ok(Exit::Done)
}
