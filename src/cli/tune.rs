//! `assay tune`: from a budget to errors and privacy, and the reverse.

pub mod config;
mod data;
mod text;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use dp_assay::{
    account::{Delta, Stop},
    document::fields::Fields,
    numeric::Enclosure,
    release::Neighbors,
    safetab::{
        cell_noise::NoiseKind,
        tuning::{
            self, GroupLevel,
            answers::{TunedLevel, TuningQuestion},
            formulas, least_budget,
            plan::{PlannedLevel, TuningPlan},
        },
    },
};
use rug::Rational;

use self::{
    data::{budget_key, of_epsilons, of_level, of_question, records},
    text::{level_text, plan_text},
};
use super::{
    arguments::{number, quantity},
    exit::Exit,
    output::{exact, exact_text},
    page::Page,
    subject::{Format, Relation},
};

/// The options of a level or of a plan of levels, which a configuration or a specification replaces.
const OF_ONE_LEVEL: [&str; 15] = [
    "rho",
    "epsilon",
    "moe",
    "plan",
    "gamma",
    "stability",
    "race_codes",
    "suppress",
    "target_error",
    "neighbors",
    "decimals",
    "mechanism",
    "csv",
    "sizes",
    "digits",
];

/// Margins of error, sizes, suppression and exact privacy of SafeTab's two-stage counts; from a budget, or for a margin
///
/// For one level of population groups, or for a plan of levels. Margins are at 95 % and exact: the smallest m that covers,
/// compared with the formulas of the papers and their true coverage.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("what").args(["rho", "epsilon", "moe", "plan", "config"]))]
pub struct Args {
    /// The rho of the level, with discrete Gaussian noise
    #[arg(long, value_name = "RHO", allow_hyphen_values = true)]
    rho: Option<String>,
    /// The pure epsilon of the level, with two-sided geometric noise
    #[arg(long, value_name = "EPSILON", allow_hyphen_values = true)]
    epsilon: Option<String>,
    /// The margin of error of a cell: finds the least budget that has it (a fraction is cut, as in the papers)
    #[arg(long, value_name = "M", allow_hyphen_values = true)]
    moe: Option<String>,
    /// A TOML file of levels: see data/examples/safetab-plan.toml
    #[arg(long, value_name = "FILE", conflicts_with_all = ["gamma", "stability", "race_codes", "suppress", "target_error", "neighbors", "decimals", "mechanism"])]
    plan: Option<PathBuf>,
    /// The bureau's config.json, of SafeTab-P or SafeTab-H: its budget and accuracy
    #[arg(long, value_name = "config.json", requires = "spec", conflicts_with_all = ["gamma", "stability", "race_codes", "suppress", "target_error", "neighbors", "decimals", "mechanism", "csv", "sizes", "digits"])]
    config: Option<PathBuf>,
    /// For --config: the folder of the four files of races, ethnicities and iterations. Alone: the specification file of another country,
    /// its budget and accuracy
    #[arg(long, value_name = "DIR|FILE.toml", conflicts_with_all = OF_ONE_LEVEL)]
    spec: Option<PathBuf>,
    /// For --config: another budget, TYPE,LEVEL=BUDGET, or the least for a margin of error, TYPE,LEVEL=moe:M; for households T3: or
    /// T4: may stand before it. For a specification file LEVEL,GROUPING=BUDGET or LEVEL,GROUPING=moe:M (repeatable)
    #[arg(long, value_name = "CHANGE", requires = "spec", conflicts_with_all = OF_ONE_LEVEL)]
    set: Vec<String>,
    /// The file for the changed configuration or specification
    #[arg(long, value_name = "FILE", requires = "spec", conflicts_with_all = OF_ONE_LEVEL)]
    out: Option<PathBuf>,
    /// The noise for --moe
    #[arg(long, value_enum)]
    mechanism: Option<Noise>,
    /// Decimals of the budget for --moe [default: 6]
    #[arg(long, value_name = "D")]
    decimals: Option<u32>,
    /// The share of stage 1 [default: 1/10]
    #[arg(long, value_name = "GAMMA", allow_hyphen_values = true)]
    gamma: Option<String>,
    /// The number of groups of the level that a person can be in [default: 9]
    #[arg(long, value_name = "S")]
    stability: Option<u32>,
    /// Instead of the stability: the largest number of race codes of a person, 1 to 8
    #[arg(long, value_name = "N", conflicts_with = "stability")]
    race_codes: Option<u32>,
    /// The probability that the total of an empty group is suppressed, if it alone is published [default: 0.9999]
    #[arg(long, value_name = "P", allow_hyphen_values = true)]
    suppress: Option<String>,
    /// The target for the margin of a cell over the average cell [default: 1/10]
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    target_error: Option<String>,
    /// Neighbor relation [default: add-remove]
    #[arg(long, value_name = "RELATION", value_parser = Relation)]
    neighbors: Option<Neighbors>,
    /// Sizes of groups whose suppression is reported, separated by commas
    #[arg(long, value_name = "N[,N...]", value_delimiter = ',')]
    sizes: Vec<u64>,
    /// The delta of epsilons, 0 < delta < 1
    #[arg(long, value_name = "DELTA", default_value = "1e-10", allow_hyphen_values = true)]
    delta: String,
    #[command(flatten)]
    format: Format,
    /// Comma-separated values, a line for each level
    #[arg(long, conflicts_with_all = ["json", "format"])]
    csv: bool,
    /// When the caller no longer waits for the answer: never on the command line.
    #[arg(skip)]
    pub stop: Stop,
}

#[derive(Clone, Copy, ValueEnum)]
enum Noise {
    DiscreteGaussian,
    Geometric,
}

/// A requested margin of error, and the budgets for it.
struct Wanted {
    moe: u32,
    least: tuning::LeastBudget,
    formula: Option<Enclosure>,
}

pub fn run(args: &Args) -> Result<Exit> {
    let delta = args.delta()?;
    if args.moe.is_none() && (args.decimals.is_some() || args.mechanism.is_some()) {
        let given = if args.decimals.is_some() { "--decimals" } else { "--mechanism" };
        bail!("{given} goes with --moe, the margin of error for which the least budget is found");
    }
    let page = match (&args.plan, &args.config, &args.spec) {
        (Some(path), _, _) => args.plan(&plan_text_of(path)?, &path.display().to_string())?,
        (None, Some(path), Some(spec)) => {
            config::of_file(path, spec, &args.set, args.out.as_deref(), &delta, args.format.page())?
        }
        (None, None, Some(spec)) => {
            config::of_country(spec, &args.set, args.out.as_deref(), &delta, args.format.page())?
        }
        _ => args.level()?,
    };
    page.done()
}

fn question(args: &Args, delta: Rational, plan: Option<&TuningPlan>) -> Result<TuningQuestion> {
    let given = |name: &str, text: &Option<String>, default: (u32, u32)| match text {
        Some(text) => number(name, text),
        None => Ok(Rational::from(default)),
    };
    let (suppress, target_error, neighbors) = match plan {
        Some(plan) => (plan.suppress.clone(), plan.target_error.clone(), plan.neighbors),
        None => (
            given("--suppress", &args.suppress, (9999, 10_000))?,
            given("--target-error", &args.target_error, (1, 10))?,
            args.neighbors.unwrap_or(Neighbors::AddRemove),
        ),
    };
    Ok(TuningQuestion {
        suppress,
        target_error,
        neighbors,
        delta,
        sizes: args.sizes.clone(),
        digits: args.format.digits,
        stop: args.stop.clone(),
    })
}

impl Args {
    /// The delta of epsilons.
    pub fn delta(&self) -> Result<Delta> {
        quantity("--delta", &self.delta)
    }

    /// The changes of a configuration.
    #[cfg(feature = "explore")]
    pub fn changes(&self) -> &[String] {
        &self.set
    }

    /// An empty page of the requested form.
    #[cfg(feature = "explore")]
    pub fn page(&self) -> Page {
        self.format.page()
    }

    /// The answers about one level.
    pub fn level(&self) -> Result<Page> {
        single(self, self.delta()?.into())
    }

    /// The answers about a plan of levels; `name` names it in messages.
    pub fn plan(&self, text: &str, name: &str) -> Result<Page> {
        plan_of(self, text, name, self.delta()?.into())
    }
}

/// One level.
fn single(args: &Args, delta: Rational) -> Result<Page> {
    let question = question(args, delta, None)?;
    let gamma = number("--gamma", args.gamma.as_deref().unwrap_or("1/10"))?;
    let stability = match (args.stability, args.race_codes) {
        (Some(stability), _) => stability,
        (None, Some(codes)) => tuning::stability(codes).context("--race-codes")?,
        (None, None) => tuning::stability(8)?,
    };
    let (noise_kind, budget, wanted) = budget(args, &gamma, stability)?;
    let level = GroupLevel::new("level", noise_kind, budget, gamma, stability)?;
    let planned = PlannedLevel {
        level,
        moe: wanted.as_ref().map(|wanted| wanted.moe),
        total_only: true,
        suppressed: true,
        thresholds: None,
        groups: Vec::new(),
    };
    let tuned = planned.tuned(&question)?;
    let mut page = args.format.page_or_csv(args.csv);
    page.records(records(&[(&planned, &tuned)]));
    let mut answer = of_level(&planned, &tuned);
    if let Some(wanted) = &wanted {
        let name = budget_key(noise_kind);
        answer = answer
            .with(format!("{name}_before"), wanted.least.before.as_ref().map(exact))
            .with(format!("{name}_formula"), &wanted.formula);
        page.text(wanted.text(noise_kind));
    }
    page.object(answer.and(of_question(&question)));
    level_text(&planned, &tuned, &question, &mut page);
    Ok(page)
}

/// The noise and the budget of one level: given, or the least for a margin of error.
fn budget(args: &Args, gamma: &Rational, stability: u32) -> Result<(NoiseKind, Rational, Option<Wanted>)> {
    Ok(match (&args.rho, &args.epsilon, &args.moe) {
        (Some(rho), _, _) => (NoiseKind::DiscreteGaussian, number("--rho", rho)?, None),
        (_, Some(epsilon), _) => (NoiseKind::Geometric, number("--epsilon", epsilon)?, None),
        (_, _, Some(moe)) => {
            let noise_kind = match args.mechanism {
                Some(Noise::Geometric) => NoiseKind::Geometric,
                _ => NoiseKind::DiscreteGaussian,
            };
            let floor = number("--moe", moe)?.floor().into_numer_denom().0;
            let Some(moe) = floor.to_u32() else {
                bail!("--moe {moe}: give a margin of error from 0 to 1e8 people");
            };
            let least = least_budget(noise_kind, moe, gamma, stability, args.decimals.unwrap_or(6))?;
            let formula = if moe > 0 { Some(formulas::budget(noise_kind, moe, gamma, stability)?) } else { None };
            (noise_kind, least.value.clone(), Some(Wanted { moe, least, formula }))
        }
        _ => bail!("give --rho, --epsilon, --moe, --plan, --config or --spec"),
    })
}

impl Wanted {
    fn text(&self, noise_kind: NoiseKind) -> String {
        let name = noise_kind.budget_name();
        let least = exact_text(&self.least.value);
        let mut text = format!("the least {name} with a margin of {}: {least}", self.moe);
        if let Some(before) = &self.least.before {
            text += &format!("; with {} the margin is larger", exact_text(before));
        }
        if let Some(formula) = &self.formula {
            text += &format!("; by formula {}", formula.shown(8));
        }
        text + "\n"
    }
}

/// The longest plan that is accepted, in bytes.
const LONGEST_PLAN: u64 = 10_000_000;

/// The text of a plan of levels.
pub fn plan_text_of(path: &Path) -> Result<String> {
    let name = dp_assay::error::shown(path);
    let bytes = dp_assay::reading::read_at_most(path, LONGEST_PLAN).context("--plan")?;
    String::from_utf8(bytes).map_err(|_| anyhow::anyhow!("--plan {name}: is not text in UTF-8"))
}

/// A plan of levels.
fn plan_of(args: &Args, text: &str, name: &str, delta: Rational) -> Result<Page> {
    let plan = TuningPlan::parse(text, name)?;
    let question = question(args, delta, Some(&plan))?;
    let tuned: Vec<TunedLevel> = (plan.levels.iter())
        .map(|planned| planned.tuned(&question).with_context(|| format!("{name}: level {:?}", planned.level.name())))
        .collect::<Result<_>>()?;
    let total = plan.epsilons(&question)?;
    let rows: Vec<(&PlannedLevel, &TunedLevel)> = plan.levels.iter().zip(&tuned).collect();
    let mut page = args.format.page_or_csv(args.csv);
    page.records(records(&rows));
    let all = Fields::new().with(budget_key(plan.noise_kind), exact(&total.budget)).and(of_epsilons(&total));
    let answer = Fields::new()
        .with("title", &plan.title)
        .with("mechanism", plan.noise_kind.name())
        .and(of_question(&question))
        .with("levels", rows.iter().map(|(planned, tuned)| of_level(planned, tuned)).collect::<Vec<_>>());
    page.object(answer.with("total", all));
    plan_text(&plan, &rows, &total, &question, &mut page);
    Ok(page)
}
