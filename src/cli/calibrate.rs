//! `assay calibrate`: the least noise that keeps a promise.

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use dp_assay::{
    account::{
        Composition,
        calibrate::{self, Grid, Least},
        conversions,
        crossing::{self, Profile, Stretch},
        paths::WorstPath,
        profile::{check_delta, check_epsilon},
    },
    numeric::{Certainty, Enclosure, sum::Law},
};
use rayon::prelude::*;
use rug::{Integer, Rational, ops::Pow};
use serde_json::{Value, json};

use super::{
    Answer, number,
    output::{self, exact, exact_text},
    subject::{Format, Resolved, Subject},
};

/// The least noise that is as private as asked: proven, and the next smaller on the grid disproved
///
/// With --per-level each part alone, with --scale-all all of it by one factor. Where the queries of a level have different
/// noise, all of it is scaled and its smallest sigma2 is put on the grid.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("promise").required(true).args(["epsilon", "match_", "match_curve"]))]
pub struct Args {
    #[command(flatten)]
    subject: Subject,
    /// The delta at which epsilon is meant, 0 < delta < 1; not needed with --match-curve
    #[arg(long, value_name = "DELTA", allow_hyphen_values = true, required_unless_present = "match_curve")]
    delta: Option<String>,
    /// The epsilon to reach at delta
    #[arg(long, value_name = "EPSILON", allow_hyphen_values = true)]
    epsilon: Option<String>,
    /// Reach the epsilon at delta that was published for the noise as it is: zcdp, rho + 2 sqrt(rho ln(1/delta))
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
    /// Also say at which delta the calibrated noise is within the published zCDP curve, from 1e-40 to 1
    #[arg(long)]
    crossings: bool,
    #[command(flatten)]
    format: Format,
}

#[derive(Clone, Copy, ValueEnum)]
enum Match {
    Zcdp,
}

/// The smallest and the largest noise that is considered.
const LEAST_SIGMA2: (u32, u32) = (1, 1_000_000);
const MOST_SIGMA2: u64 = 1_000_000_000_000;

/// What the calibrated noise has to keep.
enum Promise {
    /// This epsilon at delta; the one that zCDP publishes where none is given.
    At { delta: Rational, epsilon: Option<Rational> },
    /// The zCDP curve over a range of delta.
    Curve { from: Rational, to: Rational, delta: Rational },
}

/// Anything whose noise can be scaled and whose privacy can be told.
trait Account: Profile + Sized {
    fn scaled(&self, factor: &Rational) -> Result<Self, dp_assay::Error>;
    fn rho(&self) -> Rational;
    fn epsilon(&self, delta: &Rational, digits: u32) -> Result<Enclosure, dp_assay::Error>;
    /// One composition that is about as private, for a first guess.
    fn representative(&self, epsilon: &Rational) -> Result<Composition, dp_assay::Error>;
}

impl Account for Composition {
    fn scaled(&self, factor: &Rational) -> Result<Self, dp_assay::Error> {
        self.with_noise_times(factor)
    }

    fn rho(&self) -> Rational {
        Composition::rho(self).clone()
    }

    fn epsilon(&self, delta: &Rational, digits: u32) -> Result<Enclosure, dp_assay::Error> {
        Ok(Composition::epsilon(self, delta, digits)?.value)
    }

    fn representative(&self, _: &Rational) -> Result<Composition, dp_assay::Error> {
        Ok(self.clone())
    }
}

impl Account for WorstPath {
    fn scaled(&self, factor: &Rational) -> Result<Self, dp_assay::Error> {
        self.with_noise_times(factor)
    }

    fn rho(&self) -> Rational {
        WorstPath::rho(self)
    }

    fn epsilon(&self, delta: &Rational, digits: u32) -> Result<Enclosure, dp_assay::Error> {
        Ok(WorstPath::epsilon(self, delta, digits)?.0.value)
    }

    fn representative(&self, epsilon: &Rational) -> Result<Composition, dp_assay::Error> {
        self.composition(self.delta(epsilon, 3)?.pair)
    }
}

/// The variances before and after, and what they promise.
struct Row {
    name: String,
    /// The factor on the grid, or the factor that puts the smallest sigma2 on it.
    factor: Rational,
    /// The factor of the next smaller grid point, disproved.
    before: Option<Rational>,
    /// Every sigma2 that occurs, smallest first.
    variances: Vec<Rational>,
    epsilon: Enclosure,
    target: Enclosure,
    stretches: Option<Vec<Stretch>>,
}

pub fn run(args: &Args) -> Result<Answer> {
    let promise = args.promise()?;
    let subject = args.subject.resolve()?;
    let decimals = args.decimals.unwrap_or(if args.scale_all { 4 } else { 2 });
    let rows = if args.scale_all {
        let variances = variances(&subject.total, "--scale-all");
        let name = if subject.levels.is_empty() { "composition" } else { "all composed" };
        let row = match &subject.worst {
            Some((worst, _)) => args.calibrate(name, worst, variances?, &promise, decimals, true),
            None => args.calibrate(name, &subject.total, variances?, &promise, decimals, true),
        };
        vec![row?]
    } else {
        let parts = parts(&subject);
        (parts.par_iter())
            .map(|(name, part)| {
                let variances = variances(part, "--per-level")?;
                args.calibrate(name, part, variances, &promise, decimals, false).with_context(|| name.clone())
            })
            .collect::<Result<Vec<Row>>>()?
    };
    if args.format.json {
        args.print_json(&subject, &promise, &rows)?;
    } else {
        args.print_table(&subject, &promise, &rows, decimals)?;
    }
    Ok(Answer::Done)
}

/// The parts that are calibrated one by one.
fn parts(subject: &Resolved) -> Vec<(String, Composition)> {
    if subject.levels.is_empty() {
        vec![("composition".to_string(), subject.total.clone())]
    } else {
        subject.levels.clone()
    }
}

/// The variances of the Gaussian counts, of which there must be some.
fn variances(part: &Composition, argument: &str) -> Result<Vec<Rational>> {
    let mut all: Vec<Rational> = (part.counts().iter())
        .filter_map(|counts| match &counts.law {
            Law::DiscreteGaussian { sigma2 } | Law::Gaussian { sigma2 } => Some(sigma2.clone()),
            Law::DiscreteLaplace { .. } => None,
        })
        .collect();
    all.sort();
    all.dedup();
    if all.is_empty() {
        bail!("{argument}: discrete Laplace noise has no sigma2 to calibrate; give Gaussian counts or a release");
    }
    Ok(all)
}

impl Args {
    fn promise(&self) -> Result<Promise> {
        let delta = self.delta.as_deref().map(|text| number("--delta", text)).transpose()?;
        if let Some(delta) = &delta {
            check_delta(delta).context("--delta")?;
        }
        if let Some(range) = &self.match_curve {
            let (from, to) = range
                .split_once("..")
                .with_context(|| format!("--match-curve {range}: expected FROM..TO, as in 1e-12..1e-5"))?;
            let (from, to) = (number("--match-curve", from)?, number("--match-curve", to)?);
            if from <= 0 || from >= to || to > 1 {
                bail!("--match-curve {range}: expected FROM..TO with 0 < FROM < TO <= 1");
            }
            let delta = delta.unwrap_or_else(|| from.clone());
            return Ok(Promise::Curve { from, to, delta });
        }
        let epsilon = self.epsilon.as_deref().map(|text| number("--epsilon", text)).transpose()?;
        if let Some(epsilon) = &epsilon {
            check_epsilon(epsilon).context("--epsilon")?;
        }
        Ok(Promise::At { delta: delta.context("--delta is missing")?, epsilon })
    }

    /// The least noise of one part. `common`: the grid is that of the factor, else that of the smallest sigma2.
    fn calibrate<A: Account>(
        &self,
        name: &str,
        part: &A,
        variances: Vec<Rational>,
        promise: &Promise,
        decimals: u32,
        common: bool,
    ) -> Result<Row> {
        let unit = if common { Rational::from(1) } else { variances[0].clone() };
        let factor = |point: &Rational| Rational::from(point / &unit);
        // The grid where all sigma2 stay in the range that is accounted for.
        let (smallest, largest) = (&variances[0], &variances[variances.len() - 1]);
        let grid = Grid {
            decimals,
            least: &unit * Rational::from(LEAST_SIGMA2) / smallest,
            most: &unit * Rational::from(MOST_SIGMA2) / largest,
        };
        if grid.most < Rational::from((1, Integer::from(10).pow(decimals))) {
            bail!("--decimals {decimals}: no point of this grid keeps every sigma2 up to 1e12; more decimals would");
        }
        let family = |point: &Rational| part.scaled(&factor(point));
        let (delta, target) = match promise {
            Promise::At { delta, epsilon: Some(epsilon) } => (delta, Enclosure::rational(epsilon, 160)),
            Promise::At { delta, epsilon: None } => (delta, conversions::zcdp_epsilon(&part.rho(), delta, 40)),
            Promise::Curve { from, .. } => (from, conversions::zcdp_epsilon(&part.rho(), from, 40)),
        };
        let near = target.lower().to_rational().unwrap_or_default();
        let representative = part.representative(&near)?;
        // Where no doubles are to be had the search starts from the noise as it is.
        let guess = calibrate::guess(
            |point| representative.with_noise_times(&factor(point)),
            &target,
            delta,
            (grid.least.to_f64() * 1.01, unit.to_f64() * 0.87, grid.most.to_f64() * 0.99),
        )
        .unwrap_or(unit.to_f64());
        let least = match promise {
            Promise::At { .. } => calibrate::least_in(&grid, family, &target, delta, guess)?,
            Promise::Curve { from, to, .. } => grid.least_where(guess, |point| {
                match crossing::within_everywhere(&family(point)?, &part.rho(), from, to)? {
                    Certainty::Yes => Ok(true),
                    Certainty::No => Ok(false),
                    Certainty::Undecided => Err(dp_assay::Error::OutOfRange {
                        what: "--match-curve".to_string(),
                        value: format!("{}..{}", exact_text(from), exact_text(to)),
                        expected: "a range in which the curves of no grid point touch".to_string(),
                    }),
                }
            })?,
        };
        let Some(Least { value, before }) = least else {
            bail!(
                "epsilon {} at delta {} is out of reach: no noise up to sigma2 = 1e12 has it; ask for a larger epsilon or delta",
                target.shown(12),
                exact_text(delta)
            );
        };
        let calibrated = family(&value)?;
        let shown_delta = promise.delta();
        let target = match promise {
            Promise::Curve { .. } => conversions::zcdp_epsilon(&part.rho(), shown_delta, 40),
            Promise::At { .. } => target,
        };
        let stretches = self
            .crossings
            .then(|| {
                let from = Rational::from((1, Integer::from(10).pow(40)));
                crossing::stretches(&calibrated, &part.rho(), &from, &Rational::from(1))
            })
            .transpose()?;
        Ok(Row {
            name: name.to_string(),
            factor: factor(&value),
            before: before.as_ref().map(factor),
            variances,
            epsilon: calibrated.epsilon(shown_delta, self.format.digits)?,
            target,
            stretches,
        })
    }

    fn print_json(&self, subject: &Resolved, promise: &Promise, rows: &[Row]) -> Result<()> {
        let mut object = json!({
            "mode": if self.scale_all { "scale-all" } else { "per-level" },
            "delta": exact(promise.delta()),
            "neighbors": subject.neighbors.name(),
        });
        if let Promise::Curve { from, to, .. } = promise {
            object["match_curve"] = json!({ "from": exact(from), "to": exact(to) });
        }
        object["levels"] = if self.scale_all {
            let whole = &rows[0];
            object["factor"] = exact(&whole.factor);
            object["factor_before"] = whole.before.as_ref().map_or(Value::Null, exact);
            let fields = whole.json();
            for key in ["reduction_percent", "reduction_percent_exact", "epsilon", "target_epsilon", "curve"] {
                if let Some(value) = fields.get(key) {
                    object[key] = value.clone();
                }
            }
            (parts(subject).into_iter())
                .map(|(name, part)| {
                    Ok(whole.of_level(name, variances(&part, "--scale-all").unwrap_or_default()).json())
                })
                .collect::<Result<Vec<Value>>>()?
                .into()
        } else {
            rows.iter().map(Row::json).collect::<Vec<Value>>().into()
        };
        output::json(&object)
    }

    fn print_table(&self, subject: &Resolved, promise: &Promise, rows: &[Row], decimals: u32) -> Result<()> {
        let what = match promise {
            Promise::At { delta, epsilon: Some(epsilon) } => {
                format!("epsilon <= {} at delta = {}", exact_text(epsilon), exact_text(delta))
            }
            Promise::At { delta, epsilon: None } => {
                format!("as private as zCDP says of the noise as it is, at delta = {}", exact_text(delta))
            }
            Promise::Curve { from, to, .. } => format!(
                "as private as zCDP says of the noise as it is, at every delta from {} to {}",
                exact_text(from),
                exact_text(to)
            ),
        };
        let mode = match (self.scale_all, self.per_level) {
            (true, _) => format!("one factor on all noise (--scale-all), to {decimals} decimals"),
            (_, true) => format!("each level alone, sigma2 to {decimals} decimals"),
            _ => format!("each level alone (--per-level; --scale-all for one factor), sigma2 to {decimals} decimals"),
        };
        let (title, relation) = (&subject.title, subject.neighbors.name());
        output::text(&format!("{title}\n{relation} neighbors; {what}\n{mode}\n\n"))?;
        let digits = self.format.digits.min(40) as usize;
        let heading = ["", "sigma2", "calibrated", "lower by", "epsilon", "target"];
        let cells = |row: &Row, name: String| {
            vec![
                name,
                Enclosure::rational(&row.variances[0], 64).shown(7),
                calibrated_text(&row.calibrated(&row.factor)),
                format!("{} %", Enclosure::rational(&row.reduction(), 64).shown(6)),
                row.epsilon.shown(digits),
                row.target.shown(digits),
            ]
        };
        if self.scale_all {
            let whole = &rows[0];
            let lines: Vec<Vec<String>> = (parts(subject).into_iter())
                .filter_map(|(name, part)| Some(whole.of_level(name, variances(&part, "--scale-all").ok()?)))
                .map(|row| {
                    let mut line = cells(&row, row.name.clone());
                    line.truncate(4);
                    line
                })
                .collect();
            output::table(&heading[..4], &lines)?;
            let before = whole.before.as_ref().map_or_else(
                || "and there is no smaller point on the grid".to_string(),
                |before| format!("and {} is proven not to be enough", exact_text(before)),
            );
            output::text(&format!(
                "\nfactor {} ({} % less noise) is proven to be enough, {before}.\nepsilon {}, target {}\n",
                exact_text(&whole.factor),
                Enclosure::rational(&whole.reduction(), 64).shown(8),
                whole.epsilon.shown(digits),
                whole.target.shown(digits),
            ))?;
            if let Some((worst, _)) = &subject.worst {
                let unit = if worst.in_pairs() { "pairs of block paths" } else { "block paths" };
                output::text(&format!("The worst of {} {unit} decides.\n", worst.count()))?;
            }
        } else {
            output::table(&heading, &rows.iter().map(|row| cells(row, row.name.clone())).collect::<Vec<_>>())?;
            output::text(
                "\nEach calibrated sigma2 is proven to be enough, and the next smaller of the grid is proven not to be.\n",
            )?;
            if rows.iter().any(|row| row.before.is_none()) {
                output::text("Where the smallest sigma2 that is accounted for is enough, there is no next smaller.\n")?;
            }
            if rows.iter().any(|row| row.variances.len() > 1) {
                output::text(
                    "A level with several sigma2 shows the smallest; the others are scaled by the same factor.\n",
                )?;
            }
        }
        for row in rows {
            row.print_stretches()?;
        }
        Ok(())
    }
}

impl Promise {
    fn delta(&self) -> &Rational {
        match self {
            Promise::At { delta, .. } | Promise::Curve { delta, .. } => delta,
        }
    }
}

impl Row {
    /// The same factor on the noise of one level.
    fn of_level(&self, name: String, variances: Vec<Rational>) -> Row {
        Row {
            name,
            factor: self.factor.clone(),
            before: self.before.clone(),
            variances,
            epsilon: self.epsilon.clone(),
            target: self.target.clone(),
            stretches: None,
        }
    }

    /// The smallest sigma2 after scaling.
    fn calibrated(&self, factor: &Rational) -> Rational {
        self.variances.first().map(|sigma2| Rational::from(sigma2 * factor)).unwrap_or_default()
    }

    /// 100 (1 - factor), exactly.
    fn reduction(&self) -> Rational {
        Rational::from(1 - &self.factor) * 100_u32
    }

    fn json(&self) -> Value {
        let mut row = json!({
            "name": self.name,
            "sigma2": exact(&self.variances.first().cloned().unwrap_or_default()),
            "calibrated_sigma2": exact(&self.calibrated(&self.factor)),
            "not_enough_sigma2": self.before.as_ref().map_or(Value::Null, |before| exact(&self.calibrated(before))),
            "reduction_percent": exact(&self.reduction()),
            "reduction_percent_exact": self.reduction().to_string(),
            "epsilon": self.epsilon.to_json(),
            "target_epsilon": self.target.to_json(),
        });
        if self.variances.len() > 1 {
            let pair = |sigma2: &Rational| {
                json!({
                    "sigma2": exact(sigma2),
                    "calibrated_sigma2": exact(&Rational::from(sigma2 * &self.factor)),
                    "calibrated_sigma2_exact": Rational::from(sigma2 * &self.factor).to_string(),
                })
            };
            row["variances"] = self.variances.iter().map(pair).collect();
        }
        if let Some(stretches) = &self.stretches {
            row["curve"] = stretches.iter().map(stretch_json).collect();
        }
        row
    }

    fn print_stretches(&self) -> Result<()> {
        let Some(stretches) = &self.stretches else { return Ok(()) };
        output::text(&format!("\n{}: the calibrated noise beside the zCDP curve of the noise as it was\n", self.name))?;
        for stretch in stretches {
            let answer = match stretch.within {
                Certainty::Yes => "at least as private at every delta",
                Certainty::No => "less private at every delta",
                Certainty::Undecided => "they cross at a delta",
            };
            let (low, high) = &stretch.deltas;
            output::text(&format!(
                "  {answer} from {} to {} (epsilon {} to {})\n",
                low.shown(8),
                high.shown(8),
                Enclosure::rational(&stretch.epsilons.1, 64).shown(10),
                Enclosure::rational(&stretch.epsilons.0, 64).shown(10),
            ))?;
        }
        Ok(())
    }
}

fn stretch_json(stretch: &Stretch) -> Value {
    let answer = match stretch.within {
        Certainty::Yes => "at least as private",
        Certainty::No => "less private",
        Certainty::Undecided => "crossing",
    };
    json!({
        "calibrated_is": answer,
        "delta_from": stretch.deltas.0.to_json(),
        "delta_to": stretch.deltas.1.to_json(),
        "epsilon_from": exact(&stretch.epsilons.0),
        "epsilon_to": exact(&stretch.epsilons.1),
    })
}

/// A grid value as it is; any other to ten digits.
fn calibrated_text(value: &Rational) -> String {
    let text = exact_text(value);
    if text.len() <= 16 { text } else { Enclosure::rational(value, 64).shown(10) }
}
