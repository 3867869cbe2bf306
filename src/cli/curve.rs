//! `assay curve`: the privacy profile over a range of epsilon, or epsilon over the size of a record.

mod by_shift;

use anyhow::{Result, bail};
use dp_assay::{
    account::{Account, Epsilon, Point, compared::Conversion},
    chart::{Figure, curves},
    document::fields::Fields,
    loss::second::SecondEnclosure,
    numeric::{Enclosure, parallel},
};
use rug::Rational;
use serde_json::{Value, json};

use super::{
    arguments::quantity,
    drawn::Drawn,
    exit::Exit,
    output::{self, ends, exact, exact_text},
    page::{self, Form},
    progress::{self, Steps},
    subject::{self, Format, Resolved, Subject},
};

/// The privacy profile, delta over a range of epsilon; or epsilon over the size of a record
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    subject: Subject,
    /// The axis: epsilon, or shift: how far a record moves each count that it changes, as a multiple of the given shifts
    #[arg(long, value_enum, default_value_t = Over::Epsilon)]
    over: Over,
    /// The first epsilon, or shift [default: 0, or 1]
    #[arg(long, value_name = "EPSILON", allow_hyphen_values = true)]
    from: Option<String>,
    /// The last epsilon, or shift [default: 30, or 50]
    #[arg(long, value_name = "EPSILON", allow_hyphen_values = true)]
    to: Option<String>,
    /// With --over shift: the delta at which epsilon is computed, 0 < delta < 1
    #[arg(long, value_name = "DELTA", allow_hyphen_values = true)]
    delta: Option<String>,
    /// Number of points, both ends included [default: 201, of which a table shows every tenth]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    points: Option<u32>,
    #[command(flatten)]
    format: Format,
    #[command(flatten)]
    drawn: Drawn,
}

/// The axis of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Over {
    /// delta over epsilon.
    Epsilon,
    /// epsilon over the shift of a record, at one delta.
    Shift,
}

/// `points` equidistant exact numbers from `from` to `to`.
pub fn grid(from: &Rational, to: &Rational, points: u32) -> Vec<Rational> {
    let last = points.saturating_sub(1).max(1);
    let step = Rational::from(to - from) / last;
    (0..points).map(|k| Rational::from(&step * k) + from).collect()
}

pub fn run(args: &Args) -> Result<Exit> {
    if args.over == Over::Shift {
        return by_shift::run(&by_shift::Request {
            subject: &args.subject,
            from: args.from.as_deref(),
            to: args.to.as_deref(),
            delta: args.delta.as_deref(),
            points: args.points,
            format: &args.format,
            drawn: &args.drawn,
        });
    }
    let (from, to) = args.range()?;
    let points = args.drawn.points(args.points, &args.format);
    let subject = args.subject.resolve()?;
    progress::stage("points of the privacy profile");
    let (curve, seconds) = profile(&subject, grid(&from, &to, points.count), &args.format)?;
    let rows: Vec<[String; 4]> = (curve.iter())
        .map(|point| {
            let (lower, upper) = ends(&point.delta.value);
            [exact_text(&point.epsilon), lower, upper, ends(&point.zcdp_delta).1]
        })
        .collect();
    let status = || curve.iter().map(|point| point.delta.status());
    let mut page = args.drawn.page(&args.format)?;
    let worst_pair = |point: &Point| json!(point.delta.pair().map(|(p, q)| (p + 1, q + 1)));
    let worst_pairs = subject.worst().map(|_| curve.iter().map(worst_pair).collect::<Value>());
    let answer = Fields::new()
        .with("rho", exact(subject.total.rho()))
        .and(subject::of_relation(&subject))
        .and(output::arrays(&COLUMNS, &rows))
        .with("status", status().collect::<Value>())
        .with("second_enclosure", output::second_arrays(&seconds));
    page.object(answer.with_some("worst_pair", worst_pairs));
    page.records(rows.iter().zip(status()).map(|(row, status)| page::record(&COLUMNS, row, status)));
    page.text(subject::heading(&subject, ""));
    let digits = args.format.shown();
    let cells = |point: &Point| {
        vec![short(&point.epsilon), point.delta.value.shown(digits), point.zcdp_delta.shown(digits.min(6))]
    };
    points.put(&mut page, &["epsilon", "delta", "delta by zCDP"], curve.iter().map(cells), &args.drawn);
    page.note(subject.note());
    page.note(subject::more_private_note(&subject));
    page.say_wider(rows.iter().map(|row| row[0].as_str()).zip(curve.iter().map(|point| &point.delta)));
    args.drawn.try_write(|| draw(&subject, &curve))?;
    page.done()
}

impl Args {
    /// The first and the last epsilon.
    fn range(&self) -> Result<(Epsilon, Epsilon)> {
        if self.delta.is_some() {
            bail!("--delta: a profile has delta on its axis; with --over shift it is the delta of each epsilon");
        }
        let end = |given: &Option<String>, usual: &str| given.clone().unwrap_or_else(|| usual.to_string());
        let (first, last) = (end(&self.from, "0"), end(&self.to, "30"));
        let (from, to): (Epsilon, Epsilon) = (quantity("--from", &first)?, quantity("--to", &last)?);
        if from > to {
            bail!(
                "the range from {first} to {last} is empty: give --from and --to from the smaller to the larger epsilon"
            );
        }
        Ok((from, to))
    }
}

/// Points of the profile, and for JSON the second enclosure of each: tables and CSV have no column for it.
fn profile(subject: &Resolved, epsilons: Vec<Rational>, format: &Format) -> Result<(Vec<Point>, Vec<SecondEnclosure>)> {
    let (evaluator, steps) = (subject.whole.evaluator(), Steps::new(epsilons.len() as u64));
    let with_second = matches!(format.form(), Form::Json);
    let point = |epsilon: &Rational| -> Result<(Point, Option<SecondEnclosure>)> {
        let point = subject.whole.point_by(&evaluator, epsilon.clone().try_into()?, format.digits)?;
        let second = || subject.whole.second_delta(&evaluator, &point.epsilon, point.delta.pair());
        let second = with_second.then(second).transpose()?;
        steps.step();
        Ok((point, second))
    };
    let found = parallel::try_map_any(&epsilons, point)?;
    let (curve, seconds): (_, Vec<_>) = found.into_iter().unzip();
    Ok((curve, seconds.into_iter().flatten().collect()))
}

/// A point of the axis in a table: exact if that is short.
pub fn short(value: &Rational) -> String {
    const MOST: usize = 12;
    let exact = exact_text(value);
    if exact.chars().count() <= MOST { exact } else { Enclosure::rational(value, 64).shown(MOST) }
}

const COLUMNS: [&str; 4] = ["epsilon", "delta_lower", "delta_upper", "zcdp_delta"];

/// The curve as a figure, drawn from approximations, beside the account of the figure that was published for the whole, or else the best order; the table has
/// the certified values.
fn draw(subject: &Resolved, curve: &[Point]) -> dp_assay::Result<Figure> {
    let by = subject.figures().first().map_or(Conversion::BestOrder, |figure| figure.by);
    let exact = curve.iter().map(|point| (point.epsilon.to_f64(), point.delta.value.approximate())).collect();
    let beside = |point: &Point| -> dp_assay::Result<(f64, f64)> {
        let epsilon = point.epsilon.to_f64();
        Ok((epsilon, by.delta_approx(&subject.whole, epsilon)?))
    };
    Ok(curves::profile_beside(&subject.title, exact, by.name(), parallel::try_map_any(curve, beside)?))
}
