//! `assay tradeoff`: the smallest type II error of any test at given type I errors.

use anyhow::Result;
use dp_assay::{
    Error,
    account::{Account, Answer},
    chart::curves,
    loss::second::SecondEnclosure,
    numeric::parallel,
};
use rug::Rational;
use serde_json::Value;

use super::{
    arguments::number,
    curve::{grid, short},
    drawn::{Drawn, Points},
    exit::Exit,
    output::{self, ends, exact_text},
    page::{self, Form},
    progress::{self, Steps},
    subject::{self, Format, Resolved, Subject},
};

/// The trade-off function: how well any test can distinguish neighbors
///
/// beta is the smallest type II error of any test with type I error alpha, of a record that is removed or added. Where the two differ, JSON also has their
/// convex hull, a bound from below that f-DP composes.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    subject: Subject,
    /// Number of equally spaced type I errors from 0 to 1 [default: 201, of which a table shows every tenth]
    #[arg(long, value_parser = clap::value_parser!(u32).range(2..=100_000))]
    points: Option<u32>,
    /// Only this type I error (repeatable)
    #[arg(long, value_name = "ALPHA", conflicts_with = "points", allow_hyphen_values = true)]
    alpha: Vec<String>,
    #[command(flatten)]
    format: Format,
    #[command(flatten)]
    drawn: Drawn,
}

pub fn run(args: &Args) -> Result<Exit> {
    let (alphas, points): (Vec<Rational>, Points) = if args.alpha.is_empty() {
        let points = args.drawn.points(args.points, &args.format);
        (grid(&Rational::new(), &Rational::from(1), points.count), points)
    } else {
        let alphas = args.alpha.iter().map(|text| number("--alpha", text)).collect::<Result<Vec<_>>>()?;
        let points = Points::all(alphas.len());
        (alphas, points)
    };
    let subject = args.subject.resolve()?;
    progress::stage("points of the trade-off function");
    let steps = Steps::new(alphas.len() as u64);
    // Tables and CSV have no column for the second enclosure.
    let with_second = matches!(args.format.form(), Form::Json);
    let found = computed(&subject, &alphas, args.format.digits, with_second, &steps)?;
    let (values, seconds): (Vec<_>, Vec<Option<SecondEnclosure>>) = found.into_iter().unzip();
    let (betas, hulls): (Vec<Answer>, Vec<Option<Answer>>) = values.into_iter().unzip();
    let columns = output::columns_of_ends("alpha", &["beta"]);
    let row = |(alpha, beta): (&Rational, &Answer)| output::cells_of_ends(exact_text(alpha), [&beta.value]);
    let rows: Vec<Vec<String>> = alphas.iter().zip(&betas).map(row).collect();
    let status = || betas.iter().map(|beta| beta.status());
    let mut page = args.drawn.page(&args.format)?;
    // What f-DP composes, where both directions differ.
    let hulls = hulls.iter().map(|hull| hull.as_ref().map(|hull| <[String; 2]>::from(ends(&hull.value))));
    let hulls: Option<Vec<[String; 2]>> = hulls.collect();
    let answer = subject::of_relation(&subject)
        .and(output::arrays(&columns, &rows))
        .and(hulls.map(|hulls| output::arrays(&["hull_lower", "hull_upper"], &hulls)).unwrap_or_default())
        .with("status", status().collect::<Value>())
        .with("second_enclosure", output::second_arrays(&seconds.into_iter().flatten().collect::<Vec<_>>()));
    page.object(answer);
    page.records(rows.iter().zip(status()).map(|(row, status)| page::record(&columns, row, status)));
    page.text(subject::heading(&subject, ""));
    let cells = |(alpha, beta): (&Rational, &Answer)| vec![short(alpha), beta.value.shown(args.format.shown())];
    points.put(&mut page, &["alpha", "beta"], alphas.iter().zip(&betas).map(cells), &args.drawn);
    if !subject.total.is_symmetric() {
        page.text("\nbeta: the smallest type II error of any test of either direction, a record removed or added.\n");
    }
    page.note(subject.note());
    page.note(subject::more_private_note(&subject));
    page.say_wider(rows.iter().map(|row| row[0].as_str()).zip(&betas));
    args.drawn.write(|| {
        let mut points: Vec<(f64, f64)> =
            alphas.iter().zip(&betas).map(|(alpha, beta)| (alpha.to_f64(), beta.value.approximate())).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        curves::tradeoff(&subject.title, points)
    })?;
    page.done()
}

/// A point, the hull of both directions there, and the second enclosure of the point.
type Point = ((Answer, Option<Answer>), Option<SecondEnclosure>);

/// The points at these type I errors, which share sieves and contours.
fn computed(
    subject: &Resolved,
    alphas: &[Rational],
    digits: u32,
    with_second: bool,
    steps: &Steps,
) -> dp_assay::Result<Vec<Point>> {
    let evaluator = subject.whole.evaluator();
    let flagged = |error: Error| match error {
        Error::OutOfRange { what, value, expected } => Error::OutOfRange { what: format!("--{what}"), value, expected },
        other => other,
    };
    parallel::try_map(alphas, |alpha| {
        let beta = subject.whole.tradeoff_by(&evaluator, alpha, digits).map_err(flagged)?;
        let hull = with_second.then(|| subject.whole.tradeoff_hull_by(&evaluator, alpha, digits));
        let hull = hull.transpose()?.flatten();
        let second = with_second.then(|| subject.whole.second_tradeoff(&evaluator, alpha, beta.pair())).transpose()?;
        steps.step();
        Ok(((beta, hull), second))
    })
}
