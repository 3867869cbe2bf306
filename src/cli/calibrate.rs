//! `assay calibrate`: the least noise that keeps a promise.

mod answer;

use anyhow::{Context, Result};
use clap::ValueEnum;
use dp_assay::{
    Error,
    account::{
        Account, Composition, Delta, Epsilon, Point, crossing,
        promise::{self, Calibrated, GridOf, Promise},
    },
    chart::curves::{self, CalibratedCurves},
    numeric::Enclosure,
    release::subject::{QueryPart, SINGLES},
};
use rayon::prelude::*;
use rug::{Integer, Rational, ops::Pow};
use serde_json::{Value, json};

pub use self::answer::Row;
use super::{
    Exit,
    drawn::Drawn,
    number, quantity,
    queries::{self, CalibratedQuery},
    subject::{self, Format, Resolved, Subject},
};

/// Find the smallest noise that meets a privacy target, and prove that the next smaller step does not
///
/// With --per-level each part alone, with --scale-all all of it by one factor. Where the queries of a level have different
/// noise, all of it is scaled and its smallest sigma2 is put on the grid.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("promise").required(true).args(["epsilon", "match_", "match_curve"]))]
pub struct Args {
    /// What is accounted for.
    #[command(flatten)]
    pub subject: Subject,
    /// The delta that goes with epsilon, 0 < delta < 1; not needed with --match-curve
    #[arg(long, value_name = "DELTA", allow_hyphen_values = true, required_unless_present = "match_curve")]
    delta: Option<String>,
    /// The epsilon to reach at delta
    #[arg(long, value_name = "EPSILON", allow_hyphen_values = true)]
    epsilon: Option<String>,
    /// Reach the epsilon at delta that was published for the noise as it is: zcdp, by zCDP (Bun-Steinke)
    #[arg(long = "match", value_enum)]
    match_: Option<Match>,
    /// Be as private as the zCDP curve of the noise as it is, at every delta of this range
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true)]
    match_curve: Option<String>,
    /// Decimals of the grid: of sigma2, or of the common factor [default: 2, or 4 with --scale-all]
    #[arg(long, value_name = "D", value_parser = clap::value_parser!(u32).range(0..=12))]
    decimals: Option<u32>,
    /// Each level, or what is given, by itself; the default
    #[arg(long, conflicts_with = "scale_all")]
    per_level: bool,
    /// One factor on all noise, for everything composed
    #[arg(long)]
    scale_all: bool,
    /// Also a row for each query: its share of rho, its noise before and after, and its own epsilon
    #[arg(long)]
    queries: bool,
    /// Also say at which delta the calibrated noise is within the published zCDP curve, from 1e-40 to 1
    #[arg(long)]
    crossings: bool,
    #[command(flatten)]
    format: Format,
    #[command(flatten)]
    drawn: Drawn,
}

#[derive(Clone, Copy, ValueEnum)]
enum Match {
    Zcdp,
}

/// What is asked of every part.
pub struct Asked {
    /// What the noise has to keep.
    pub promise: Promise,
    /// The delta at which epsilons are shown.
    pub delta: Delta,
    /// Relative widths of 10^-digits.
    pub digits: u32,
    /// Whether it is said where the calibrated noise is within the published curve.
    pub crossings: bool,
    /// Whether the profiles are drawn.
    pub curves: bool,
}

/// Everything that is asked for.
pub struct Found {
    /// Each level; or all composed, with one factor.
    pub rows: Vec<Row>,
    /// Empty unless queries were asked for.
    pub queries: Vec<CalibratedQuery>,
}

pub fn run(args: &Args) -> Result<Exit> {
    let subject = args.subject.resolve()?;
    let (asked, found) = args.find(&subject)?;
    let mut page = args.drawn.page(&args.format)?;
    let mut object = args.object(&subject, &asked, &found)?;
    page.records(records(&object));
    page.points(points(&found.rows));
    with_curves(&mut object, &found.rows);
    page.object(object);
    args.put_tables(&mut page, &subject, &asked.promise, &found.rows, args.decimals())?;
    if !found.queries.is_empty() {
        page.text("\n");
        let rows = found.queries.iter().map(|query| query.cells(args.format.shown())).collect();
        page.table_of_pairs(&CalibratedQuery::HEADING, rows);
    }
    args.drawn.write(|| {
        curves::calibrations(&subject.title, found.rows.iter().filter_map(|row| row.curves.clone()).collect())
    })?;
    page.print()?;
    Ok(Exit::Done)
}

/// Adds what is drawn to each level: the points of its profiles, as approximations.
fn with_curves(object: &mut Value, rows: &[Row]) {
    for (level, row) in object["levels"].as_array_mut().into_iter().flatten().zip(rows) {
        let Some(curves) = &row.curves else { continue };
        let points = |of: &[(f64, f64)]| -> Value {
            of.iter().map(|(epsilon, delta)| json!({ "epsilon": epsilon, "delta": delta })).collect()
        };
        level["profiles_approx"] = json!({
            "before": points(&curves.before),
            "after": points(&curves.after),
            "zcdp": points(&curves.zcdp),
        });
    }
}

/// The points of the curves that are drawn, of every part: a row for each epsilon.
fn points(rows: &[Row]) -> Vec<Value> {
    let of_part = |curves: &CalibratedCurves| -> Vec<Value> {
        let point = |at: usize| {
            let (epsilon, before) = curves.before[at];
            json!({
                "name": curves.name,
                "epsilon": epsilon,
                "delta_before_approx": before,
                "delta_after_approx": curves.after[at].1,
                "zcdp_delta_approx": curves.zcdp[at].1,
            })
        };
        // All three are of the same epsilons.
        (0..curves.before.len().min(curves.after.len()).min(curves.zcdp.len())).map(point).collect()
    };
    rows.iter().filter_map(|row| row.curves.as_ref()).flat_map(of_part).collect()
}

/// A record for each level, and then for each query, of an answer.
pub fn records(object: &Value) -> Vec<Value> {
    ["levels", "queries"].iter().filter_map(|key| object[*key].as_array()).flatten().cloned().collect()
}

/// The profiles of one part before and after, as approximations: from 0 to somewhat beyond the largest epsilon that is shown.
fn profiles<A: Account>(name: &str, before: &A, after: &A, target: &Enclosure) -> Result<CalibratedCurves> {
    const POINTS: u32 = 81;
    const DIGITS: u32 = 4;
    let end = Rational::from_f64(1.25 * target.approximate()).unwrap_or_else(|| Rational::from(1));
    let grid = super::curve::grid(&Rational::new(), &end, POINTS);
    let points = |curve: &[Point], delta: fn(&Point) -> &Enclosure| {
        curve.iter().map(|point| (point.epsilon.to_f64(), delta(point).approximate())).collect()
    };
    let (before, after) = (before.curve(&grid, DIGITS)?, after.curve(&grid, DIGITS)?);
    Ok(CalibratedCurves {
        name: name.to_string(),
        before: points(&before, |point| &point.delta.value),
        after: points(&after, |point| &point.delta.value),
        zcdp: points(&before, |point| &point.zcdp_delta),
    })
}

/// The parts that are calibrated one by one.
fn parts(subject: &Resolved) -> Vec<(String, Composition)> {
    if subject.levels.is_empty() {
        vec![("composition".to_string(), subject.total.clone())]
    } else {
        subject.levels.clone()
    }
}

/// Which argument an error of the library is about.
fn flagged(error: Error) -> anyhow::Error {
    let flag = match &error {
        Error::OutOfRange { what, .. } if what == "decimals" => Some("--decimals"),
        Error::OutOfRange { what, .. } if what == "the range of delta" => Some("--match-curve"),
        _ => None,
    };
    match flag {
        Some(flag) => anyhow::Error::new(error).context(flag),
        None => error.into(),
    }
}

impl Args {
    fn promise(&self) -> Result<Promise> {
        let delta: Option<Delta> = self.delta.as_deref().map(|text| quantity("--delta", text)).transpose()?;
        if let Some(range) = &self.match_curve {
            let (from, to) = range
                .split_once("..")
                .with_context(|| format!("--match-curve {range}: expected FROM..TO, as in 1e-12..1e-5"))?;
            let (from, to) = (number("--match-curve", from)?, number("--match-curve", to)?);
            return Promise::zcdp_curve(from, to).map_err(flagged);
        }
        let delta = delta.context("--delta is missing")?;
        Ok(match &self.epsilon {
            Some(text) => Promise::Epsilon { delta, epsilon: quantity::<Epsilon>("--epsilon", text)? },
            None => Promise::ZcdpEpsilon { delta },
        })
    }

    /// The delta at which epsilons are shown: the one given, or the least of the range.
    fn shown_delta(&self, promise: &Promise) -> Result<Delta> {
        let given: Option<Delta> = self.delta.as_deref().map(|text| quantity("--delta", text)).transpose()?;
        Ok(given.unwrap_or_else(|| promise.delta().clone()))
    }

    /// Decimals of the grid.
    fn decimals(&self) -> u32 {
        self.decimals.unwrap_or(if self.scale_all { FACTOR_DECIMALS } else { DECIMALS })
    }

    /// The answers, and what they are about.
    pub fn find(&self, subject: &Resolved) -> Result<(Asked, Found)> {
        let promise = self.promise()?;
        let asked = Asked {
            delta: self.shown_delta(&promise)?,
            digits: self.format.digits,
            crossings: self.crossings,
            curves: self.drawn.wants_points(),
            promise,
        };
        let decimals = self.decimals();
        let rows = if self.scale_all {
            let name = subject::whole_name(subject);
            vec![asked.row(name, &subject.whole, &subject.total, (GridOf::Factor, decimals))?]
        } else {
            (parts(subject).par_iter())
                .map(|(name, part)| {
                    let row = asked.row(name, part, part, (GridOf::SmallestSigma2, decimals));
                    row.with_context(|| name.clone())
                })
                .collect::<Result<Vec<Row>>>()?
        };
        let queries = if self.queries { asked.queries(subject, &rows)? } else { Vec::new() };
        Ok((asked, Found { rows, queries }))
    }
}

/// Decimals of a calibrated sigma2, and of a common factor, where none are asked for.
pub const DECIMALS: u32 = 2;
pub const FACTOR_DECIMALS: u32 = 4;

impl Asked {
    /// Every query with the factor of its level, or of everything.
    fn queries(&self, subject: &Resolved, rows: &[Row]) -> Result<Vec<CalibratedQuery>> {
        let factor = |query: &QueryPart| {
            let level = query.level.as_deref().unwrap_or(SINGLES);
            let row = rows.iter().find(|row| row.name == level).or(rows.first().filter(|_| rows.len() == 1));
            row.map(|row| &row.factor)
        };
        queries::calibrated(subject, factor, &self.delta, self.digits)
    }

    /// The least noise of one part; `whole` is what its variances are read from.
    pub fn row<A: Account>(&self, name: &str, part: &A, whole: &Composition, grid: (GridOf, u32)) -> Result<Row> {
        let Calibrated { account, factor, before, variances } =
            promise::calibrate(part, whole, &self.promise, grid).map_err(flagged)?;
        let stretches = self
            .crossings
            .then(|| {
                let from = Rational::from((1, Integer::from(10).pow(40)));
                crossing::stretches(&account, &part.rho(), &from, &Rational::from(1))
            })
            .transpose()?;
        let target = self.promise.target(part, &self.delta);
        let curves = self.curves.then(|| profiles(name, part, &account, &target)).transpose()?;
        Ok(Row {
            name: name.to_string(),
            factor,
            before,
            variances,
            epsilon: account.epsilon(&self.delta, self.digits)?,
            target,
            stretches,
            curves,
        })
    }
}
