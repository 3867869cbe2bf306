//! `assay calibrate`: the least noise that meets a target.

mod answer;
mod design_args;
mod designed;
mod found;
mod sought;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use dp_assay::{
    Error,
    account::{
        Account, Delta, Epsilon, Point,
        compared::{Against, Compared, Conversion},
        conversions, crossing,
        promise::{self, Calibrated, Grid, GridOf, Promise},
    },
    chart::curves::{self, CalibratedCurves},
    numeric::{Enclosure, parallel},
    release::{
        Neighbors, Release,
        subject::{Part, QueryPart, SINGLES},
    },
};
use rug::{Integer, Rational, ops::Pow};
use serde_json::{Value, json};

pub use self::found::{DECIMALS, FACTOR_DECIMALS, Found, Goal, Request, Row, Together, grid_with};
use self::{
    answer::{Layout, in_words},
    design_args::DesignArgs,
    found::parts,
};
use super::{
    arguments::{number, optional, quantity},
    drawn::Drawn,
    exit::Exit,
    of_ledger::OfLedger,
    progress::{self, Steps},
    queries::{self, CalibratedQuery},
    risk_goal::RiskGoal,
    subject::{self, Format, Resolved, Subject},
};

/// Find noise that meets a privacy target, and prove that the next smaller step does not
///
/// Of discrete Gaussian noise still smaller steps can meet it, because its losses lie on a lattice; it is rare.
/// With --per-level each part alone, with --scale-all everything by one factor. Write ? in place of one number of a mechanism
/// (0.01:gaussian:?x1000) to search for it: a parameter, a rate, a bound, a threshold, the count or the shift. If the queries of a level have different
/// noise, all of it is scaled and its smallest sigma2 is put on the grid. Without --epsilon, --match and --match-curve the target
/// is the number with which `assay epsilon` compares: the published figure, or the smallest standard account.
/// --p-table "?" designs a perturbation table: of all with at most that variance and bound, without bias, the one with the largest entropy.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("promise").args(["epsilon", "match_", "match_curve", "advantage", "beta", "posterior"]))]
pub struct Args {
    /// The mechanism.
    #[command(flatten)]
    pub subject: Subject,
    #[command(flatten)]
    of_ledger: OfLedger,
    /// The delta that goes with epsilon, 0 < delta < 1; not needed with --match-curve and with a promise about risk
    #[arg(
        long,
        value_name = "DELTA",
        allow_hyphen_values = true,
        required_unless_present_any = ["match_curve", "advantage", "beta", "posterior", "ledger", "variance"]
    )]
    delta: Option<String>,
    /// The epsilon to reach at delta
    #[arg(long, value_name = "EPSILON", allow_hyphen_values = true)]
    epsilon: Option<String>,
    /// The target is an epsilon of the present noise at delta: the published figure (refused if there is none), or that of one account
    #[arg(long = "match", value_enum, conflicts_with_all = ["alpha", "prior", "of"])]
    match_: Option<Match>,
    /// Be as private as the zCDP (Bun-Steinke) curve of the present noise, at every delta of this range
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true, conflicts_with_all = ["alpha", "prior", "of"])]
    match_curve: Option<String>,
    /// Decimals of the grid: of sigma2, of the common factor, or of the number that is sought [default: 2; 4 with --scale-all; 6 for a rate, 4 for an epsilon, 12 for a delta]
    #[arg(long, value_name = "D", value_parser = clap::value_parser!(u32).range(0..=12))]
    decimals: Option<u32>,
    /// Each level, or the given counts, alone; the default
    #[arg(long, conflicts_with = "scale_all")]
    per_level: bool,
    /// One factor on all noise, for everything composed
    #[arg(long)]
    scale_all: bool,
    /// Also a row for each query: its share of rho, its noise before and after, and its own epsilon
    #[arg(long, conflicts_with_all = ["advantage", "beta", "posterior", "alpha", "prior", "of"])]
    queries: bool,
    /// Also list the deltas at which the calibrated noise is within the zCDP (Bun-Steinke) curve, from 1e-40 to 1
    #[arg(long)]
    crossings: bool,
    #[command(flatten)]
    risk: RiskGoal,
    #[command(flatten)]
    design: DesignArgs,
    /// Write the calibrated noise as a release, which --release reads
    #[arg(long, value_name = "FILE.toml")]
    out: Option<PathBuf>,
    #[command(flatten)]
    format: Format,
    #[command(flatten)]
    drawn: Drawn,
}

#[derive(Clone, Copy, ValueEnum)]
enum Match {
    /// The unrounded conversion of the figure that was published for it
    Published,
    /// zCDP (Bun-Steinke): rho + 2 sqrt(rho ln(1/delta))
    Zcdp,
    /// zCDP (best order): from rho, by the best of all Renyi orders, each converted alone
    BestOrder,
    /// RDP: from the exact Renyi divergences, by the best of all orders, each converted alone
    Rdp,
    /// Pure DP: the largest loss of discrete Laplace noise
    Pure,
}

impl From<Match> for Against {
    fn from(matched: Match) -> Against {
        match matched {
            Match::Published => Against::Published,
            Match::Zcdp => Against::By(Conversion::BunSteinke),
            Match::BestOrder => Against::By(Conversion::BestOrder),
            Match::Rdp => Against::By(Conversion::Renyi),
            Match::Pure => Against::By(Conversion::Pure),
        }
    }
}

pub fn run(args: &Args) -> Result<Exit> {
    if args.designs()? {
        return args.run_designed();
    }
    if let Some((question, others)) = args.subject.question()? {
        return args.run_sought(question, others);
    }
    if args.of_ledger.is_given() {
        bail!(
            "--ledger: beside a ledger one number is sought: write ? in its place, as in --discrete-gaussian ?x10. For a release file use `assay ledger FILE --check RELEASE`"
        );
    }
    let subject = args.subject.resolve()?;
    let (request, found) = args.find(&subject)?;
    let mut page = args.drawn.page(&args.format)?;
    let mut object = args.object(&subject, &request, &found)?;
    page.records(records(&object));
    page.points(points(&found.rows));
    with_curves(&mut object, &found.rows);
    page.object(object);
    args.layout().put_tables(&mut page, &subject, &request, &found)?;
    if !found.queries.is_empty() {
        page.text("\n");
        page.push_pairs(found.queries.iter().map(|query| query.fields(args.format.shown())));
    }
    args.drawn.write(|| {
        curves::calibrations(&subject.title, found.rows.iter().filter_map(|row| row.curves.clone()).collect())
    })?;
    if let Some(path) = &args.out {
        page.release(path, &args.release(&request, &found.rows)?)?;
    }
    page.done()
}

/// Adds to each level the drawn points of its profiles, as approximations.
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

/// The points of the drawn curves of every part: a row for each epsilon.
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
        // All three have the same epsilons.
        (0..curves.before.len().min(curves.after.len()).min(curves.zcdp.len())).map(point).collect()
    };
    rows.iter().filter_map(|row| row.curves.as_ref()).flat_map(of_part).collect()
}

/// A record for each level, and then for each query, of an answer.
pub fn records(object: &Value) -> Vec<Value> {
    ["levels", "queries"].iter().filter_map(|key| object[*key].as_array()).flatten().cloned().collect()
}

/// The profiles of one part before and after, as approximations: from 0 to somewhat beyond the largest epsilon that is shown.
/// Beside them the account with whose epsilon the calibrated noise agrees.
fn profiles<A: Account>(
    name: &str,
    (before, by): (&A, Conversion),
    after: &A,
    target: &Enclosure,
) -> Result<CalibratedCurves> {
    const POINTS: u32 = 81;
    const DIGITS: u32 = 4;
    let end = Rational::from_f64(1.25 * target.approximate()).unwrap_or_else(|| Rational::from(1));
    let grid = super::curve::grid(&Rational::new(), &end, POINTS);
    let points = |curve: &[Point], delta: fn(&Point) -> &Enclosure| {
        curve.iter().map(|point| (point.epsilon.to_f64(), delta(point).approximate())).collect()
    };
    let beside = |epsilon: &Rational| Ok((epsilon.to_f64(), by.delta_approx(before, epsilon.to_f64())?));
    let beside = (by.name(), grid.iter().map(beside).collect::<dp_assay::Result<_>>()?);
    let (before, after) = (before.curve(&grid, DIGITS)?, after.curve(&grid, DIGITS)?);
    Ok(CalibratedCurves {
        name: name.to_string(),
        before: points(&before, |point| &point.delta.value),
        after: points(&after, |point| &point.delta.value),
        zcdp: points(&before, |point| &point.zcdp_delta),
        beside,
    })
}

/// The argument that an error of the library is about.
fn flagged(error: Error) -> anyhow::Error {
    let flag = match &error {
        Error::OutOfRange { what, .. } if what == "decimals" => Some("--decimals"),
        Error::OutOfRange { what, .. } | Error::Undecided { what, .. } if what == "the range of delta" => {
            Some("--match-curve")
        }
        _ => None,
    };
    match flag {
        Some(flag) => anyhow::Error::new(error).context(flag),
        None => error.into(),
    }
}

impl Args {
    /// The goal, and the delta at which epsilons are shown.
    fn goal(&self, neighbors: Neighbors, repeat: u64) -> Result<(Goal, Option<Delta>)> {
        let delta: Option<Delta> = optional("--delta", &self.delta)?;
        if let Some(risk) = self.risk.promise(delta.as_ref(), neighbors)? {
            risk.check_repeat(repeat)?;
            return Ok((Goal::Risk(risk), None));
        }
        if let Some(range) = &self.match_curve {
            let (from, to) = range
                .split_once("..")
                .with_context(|| format!("--match-curve {range}: expected FROM..TO, as in 1e-12..1e-5"))?;
            let (from, to) = (number("--match-curve", from)?, number("--match-curve", to)?);
            let promise = Promise::zcdp_curve(from, to).map_err(flagged)?;
            // Epsilons are shown at the given delta, or at the least of the range.
            let shown = delta.or_else(|| promise.delta().cloned());
            return Ok((Goal::Promise(promise), shown));
        }
        let delta = delta.context("--delta is missing")?;
        let goal = match (&self.epsilon, self.match_) {
            (Some(text), _) => {
                let epsilon = quantity::<Epsilon>("--epsilon", text)?;
                Goal::Promise(Promise::Epsilon { delta: delta.clone(), epsilon })
            }
            (None, matched) => Goal::Compared(matched.map_or(Against::Usual, Against::from)),
        };
        Ok((goal, Some(delta)))
    }

    /// The answers, and the request.
    pub fn find(&self, subject: &Resolved) -> Result<(Request, Found)> {
        self.find_with(subject, true)
    }

    /// The answers and the request, with all calibrated levels composed if requested.
    pub fn find_with(&self, subject: &Resolved, together: bool) -> Result<(Request, Found)> {
        let (goal, delta) = self.goal(subject.neighbors, subject.repeat)?;
        let request = Request {
            goal,
            delta,
            unit: subject.unit(),
            digits: self.format.digits,
            crossings: self.crossings,
            curves: self.drawn.wants_points(),
        };
        let rows = if self.scale_all {
            progress::stage("least factor on all noise");
            let whole = subject.as_part(subject::whole_name(subject));
            vec![request.row(&whole, request.of_part(&whole)?, self.grid(GridOf::Factor))?]
        } else {
            let parts = parts(subject);
            let steps = Steps::of_stage("least noise of each level", parts.len() as u64);
            parallel::try_map_any(&parts, |part| {
                let row = || request.row(part, request.of_part(part)?, self.grid(grid_of_part(part)?));
                let row = row().with_context(|| part.name.clone());
                steps.step();
                row
            })?
        };
        let queries = if self.queries { request.queries(subject, &rows)? } else { Vec::new() };
        let together = match together && !self.scale_all && !subject.levels.is_empty() {
            true => Some(request.together(subject, &rows)?),
            false => None,
        };
        Ok((request, Found { rows, together, queries }))
    }

    /// The calibrated noise as a release.
    fn release(&self, request: &Request, rows: &[Row]) -> Result<Release> {
        let one = self.scale_all || rows.len() == 1;
        let factor = |name: &str| {
            let row = if one { rows.first() } else { rows.iter().find(|row| row.name == name) };
            row.map(|row| row.factor.clone())
        };
        let (version, unit) = (env!("CARGO_PKG_VERSION"), request.unit.of_target());
        let how = format!("assay calibrate {version}: {}{unit}", in_words(request, rows));
        self.subject.described()?.calibrated_release(factor, &how).context("--out")
    }

    /// The answer as an object.
    pub fn object(&self, subject: &Resolved, request: &Request, found: &Found) -> Result<Value> {
        self.layout().object(subject, request, found)
    }

    fn layout(&self) -> Layout {
        let Args { scale_all, per_level, decimals, .. } = *self;
        Layout { scale_all, per_level, decimals, shown: self.format.shown() }
    }

    fn grid(&self, grid_of: GridOf) -> Grid {
        grid_with(grid_of, self.decimals)
    }
}

/// The grid of a part alone: of its smallest sigma2, or of the factor if there is no Gaussian noise.
pub fn grid_of_part(part: &Part) -> Result<GridOf> {
    Ok(if promise::variances(&part.noise()?).is_ok() { GridOf::SmallestSigma2 } else { GridOf::Factor })
}

impl Request {
    /// Every query with the factor of its level, or of everything.
    fn queries(&self, subject: &Resolved, rows: &[Row]) -> Result<Vec<CalibratedQuery>> {
        let delta = self.delta.as_ref().context("--delta is missing")?;
        let factor = |query: &QueryPart| {
            let level = query.level.as_deref().unwrap_or(SINGLES);
            let row = rows.iter().find(|row| row.name == level).or(rows.first().filter(|_| rows.len() == 1));
            row.map(|row| &row.factor)
        };
        queries::calibrated(subject, factor, delta, self.digits)
    }

    /// The number with which the whole is compared, unless the goal is the same for all.
    pub fn of_whole(&self, subject: &Resolved) -> Result<Option<Compared>> {
        self.of_part(&subject.as_part(subject::whole_name(subject)))
    }

    /// The number with which a part is compared, unless the goal is the same for all.
    pub fn of_part(&self, part: &Part) -> Result<Option<Compared>> {
        match &self.goal {
            Goal::Promise(_) | Goal::Risk(_) => Ok(None),
            Goal::Compared(against) => {
                let delta = self.delta.as_ref().context("--delta is missing")?;
                part.compared(*against, delta, TARGET_DIGITS).map(Some).context("--match")
            }
        }
    }

    /// The privacy target that a goal means for a part compared with this number.
    fn promise(&self, compared: Option<&Compared>) -> Result<Promise> {
        let delta = || self.delta.clone().context("--delta is missing");
        Ok(match (&self.goal, compared) {
            (Goal::Promise(promise), _) => promise.clone(),
            (Goal::Risk(risk), _) => risk.promise()?,
            (Goal::Compared(_), Some(compared)) => Promise::known(delta()?, &compared.epsilon),
            (Goal::Compared(_), None) => Promise::ZcdpEpsilon { delta: delta()? },
        })
    }

    /// The bound that the promise means for an account with the noise before calibration.
    fn target(&self, promise: &Promise, before: &impl Account) -> Result<Enclosure> {
        match &self.goal {
            Goal::Risk(risk) => Ok(Enclosure::rational(risk.target(), 160)),
            Goal::Promise(_) | Goal::Compared(_) => {
                let delta = self.delta.as_ref().context("--delta is missing")?;
                promise.target(before, delta).context("the target is no epsilon")
            }
        }
    }

    /// All levels with their calibrated noise, composed, and the target of the whole.
    fn together(&self, subject: &Resolved, rows: &[Row]) -> Result<Together> {
        let factors: Vec<Rational> = rows.iter().map(|row| row.factor.clone()).collect();
        let calibrated = subject.with_noise_of_parts_times(&factors)?;
        let compared = match (&self.goal, &self.delta) {
            // Perhaps nothing was published for these parts together.
            (Goal::Compared(Against::Published), Some(delta)) => {
                Some(subject.compared(Against::Usual, delta, TARGET_DIGITS)?)
            }
            _ => self.of_whole(subject)?,
        };
        let target = self.target(&self.promise(compared.as_ref())?, &subject.whole)?;
        // Every pair of block paths then has noise of its own: all digits of the worst would take minutes.
        let reached = match (calibrated.worst(), &self.goal, &self.delta) {
            (Some(worst), Goal::Promise(_) | Goal::Compared(_), Some(delta)) => worst.rough_epsilon(delta)?,
            _ => self.goal.value(&calibrated.whole, self.delta.as_ref(), self.digits)?,
        };
        let keeps = self.goal.kept_by(&reached.value, &target);
        Ok(Together { reached, target, keeps, compared })
    }

    /// An error of the search, in the terms of the goal: a risk has no epsilon that was requested.
    fn explained(&self, error: Error) -> anyhow::Error {
        match (&self.goal, &error) {
            (Goal::Risk(risk), Error::OutOfReach { .. }) => {
                let why = format!(
                    "the largest noise of the grid is not enough, and no smaller one was found that is enough for this target: {}",
                    risk.in_words(&self.unit)
                );
                Error::NotFound { why }.into()
            }
            _ => flagged(error),
        }
    }

    /// The least noise of one part; `of_part` gives its comparison.
    pub fn row(&self, part: &Part, compared: Option<Compared>, grid: Grid) -> Result<Row> {
        let (name, before) = (&part.name, &part.whole);
        let promise = self.promise(compared.as_ref())?;
        let Calibrated { account, factor, before: not_enough, steady, variances } =
            promise::calibrate_worst(before, &part.noise()?, &promise, grid).map_err(|error| self.explained(error))?;
        let stretches = self
            .crossings
            .then(|| {
                let from = Rational::from((1, Integer::from(10).pow(40)));
                crossing::stretches(&account, &before.rho(), &from, &Rational::from(1))
            })
            .transpose()?;
        let target = self.target(&promise, before)?;
        // A promise about risk names no epsilon at which a drawing could end.
        let drawn_to = match &self.goal {
            Goal::Risk(_) => conversions::zcdp_epsilon(&before.rho(), &Delta::new(Rational::from((1, 1_000_000)))?, 20),
            Goal::Promise(_) | Goal::Compared(_) => target.clone(),
        };
        let by = compared.as_ref().map_or(Conversion::BunSteinke, |compared| compared.by);
        let curves = self.curves.then(|| profiles(name, (before, by), &account, &drawn_to)).transpose()?;
        Ok(Row {
            name: name.clone(),
            factor,
            before: not_enough,
            steady,
            variances,
            reached: self.goal.value(&account, self.delta.as_ref(), self.digits)?,
            target,
            key: self.goal.measure()[1],
            compared,
            stretches,
            curves,
        })
    }
}

/// Digits of a target that is given by a formula.
const TARGET_DIGITS: u32 = 40;
