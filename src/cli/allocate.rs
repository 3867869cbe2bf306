//! `assay allocate`: where the budget should go.

pub mod accuracy;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use dp_assay::{
    account::{
        Account, Answer, Composition, Counts, Delta, Epsilon, Stop,
        allocate::{self, Allocation, QueryTarget},
    },
    document::fields::{self, Fields, exactly},
    numeric::{Certainty, Enclosure, parallel},
    release::{Changed, Neighbors, Release, Unit, query_targets, subject},
    risk::promise::{Points, RiskPromise},
};
use rug::{Rational, float::Round};
use serde_json::Value;

use self::accuracy::Accuracy;
pub use self::accuracy::margin;
use super::{
    arguments::{optional, quantity},
    exit::Exit,
    output::{self, exact, exact_text},
    page::{FormArgs, Page},
    progress,
    risk_goal::{self, RiskGoal},
    subject::Relation,
};

/// Split a privacy budget among queries so that the weighted error is smallest
///
/// Minimizes the sum of weight times expected squared error, and bounds how far from optimal the answer can be. Where the
/// largest noise allowed misses the target, the refusal has its epsilon; less noise is not tried. With --accuracy the other way round: the largest noise within all accuracy targets,
/// and its certified epsilon.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("goal").args(["epsilon", "advantage", "beta", "posterior", "accuracy"]).required(true))]
pub struct Args {
    /// A TOML file of queries, each with name, count, sensitivity, weight, least_sigma2, most_sigma2, most_squared_error,
    /// most_margin
    #[arg(value_name = "FILE", conflicts_with = "release")]
    file: Option<PathBuf>,
    /// All queries of a release, each of weight 1, instead of a file
    #[arg(long, value_name = "NAME|FILE")]
    release: Option<String>,
    /// Only this geolevel of the release (repeatable)
    #[arg(long, value_name = "NAME", requires = "release", conflicts_with_all = ["file", "counts_as_given", "accuracy"])]
    level: Vec<String>,
    /// Neighbor relation; overrides the file's own [default: the file's, or add-remove]
    #[arg(long, value_name = "RELATION", value_parser = Relation)]
    neighbors: Option<Neighbors>,
    /// With bounded neighbors: the counts of the file are already those that differ, and are not counted twice
    #[arg(long, conflicts_with = "release")]
    counts_as_given: bool,
    /// The target epsilon at delta
    #[arg(long, value_name = "EPSILON", allow_hyphen_values = true, requires = "delta")]
    epsilon: Option<String>,
    /// The delta that goes with epsilon, 0 < delta < 1
    #[arg(long, value_name = "DELTA", allow_hyphen_values = true)]
    delta: Option<String>,
    #[command(flatten)]
    risk: RiskGoal,
    /// The largest noise that the accuracy targets of all queries allow, and its epsilon at --delta
    #[arg(long, requires = "delta", conflicts_with_all = ["release", "alpha", "prior", "of"])]
    accuracy: bool,
    /// Decimals of every sigma2
    #[arg(long, value_name = "D", default_value_t = 4, value_parser = clap::value_parser!(u32).range(0..=12))]
    decimals: u32,
    /// Write the answer as a release, which --release reads
    #[arg(long, value_name = "FILE.toml")]
    out: Option<PathBuf>,
    #[command(flatten)]
    form: FormArgs,
    /// When the caller no longer waits for the answer: never on the command line.
    #[arg(skip)]
    pub stop: Stop,
}

/// The target.
enum Goal {
    /// The epsilon at the delta.
    Epsilon,
    /// A risk, of which epsilon at delta is sufficient.
    Risk(RiskPromise),
    /// The accuracy of the queries.
    Accuracy,
}

/// The request: the queries that share the budget, and the target.
pub struct Question {
    goal: Goal,
    /// The target epsilon, or one with which the target is met.
    pub epsilon: Epsilon,
    /// The delta of the target.
    pub delta: Delta,
    /// The point of the profile that every allocation that meets the target has; `None` if none is known.
    necessary: Option<(Epsilon, Delta)>,
    neighbors: Neighbors,
    /// How a changed record changes the counts of a file.
    changed: Changed,
    /// How often each count is counted.
    taken: u64,
    /// The queries of a file, for a record that is added or removed.
    given: Vec<QueryTarget>,
    /// The release, if its queries are allocated.
    release: Option<Release>,
    /// The queries, each with the counts that change between neighbors.
    pub targets: Vec<QueryTarget>,
}

/// The result.
pub struct Found {
    /// The allocation with the least weighted error that was found.
    pub best: Allocation,
    /// The one by zCDP.
    pub zcdp: Option<Allocation>,
    /// A proven lower bound on the weighted error of every allocation.
    bound: Rational,
    /// 100 (found / bound - 1), rounded up: an upper bound on the distance from the optimum.
    pub above: Option<Enclosure>,
    /// The margin at 95 % of each query.
    pub margins: Vec<i64>,
    /// The epsilon of the worst of all block paths with that noise, and the path in words, if the release has block paths.
    pub worst: Option<(Answer, String)>,
    /// The value that a target of risk bounds, for all levels composed.
    risk: Option<Answer>,
}

pub fn run(args: &Args) -> Result<Exit> {
    let question = args.question(&Release::find)?;
    if matches!(question.goal, Goal::Accuracy) {
        return args.run_accuracy(&question);
    }
    let found = args.find(&question)?;
    let mut page = args.form.page();
    page.object(found.object(&question));
    put_tables(&mut page, &question, &found);
    if let Some(path) = &args.out {
        page.release(path, &question.allocated(&found.best)?)?;
    }
    page.done()
}

impl Found {
    /// A record for each query.
    pub fn records(&self, question: &Question) -> Vec<Value> {
        fields::objects(&self.rows(question))
    }

    /// A row for each query.
    fn rows(&self, question: &Question) -> Vec<Fields> {
        (0..question.targets.len()).map(|k| of_query(question, self, k)).collect()
    }

    /// The answer as an object.
    pub fn object(&self, question: &Question) -> Value {
        let goal = match (&question.goal, &self.risk) {
            (Goal::Risk(risk), Some(value)) => {
                Fields::new().with("goal", risk_goal::json(risk, question.unit())).with(risk.key(), &value.value)
            }
            _ => Fields::new(),
        };
        Fields::new()
            .with("epsilon", exact(&question.epsilon))
            .with("delta", exact(&question.delta))
            .with("neighbors", question.neighbors.name())
            .with("times_each_count", question.taken)
            .with("delta_reached", &self.best.delta)
            .with("status", output::status(self.best.met))
            .with("weighted_squared_error", &self.best.error)
            .with("least_possible_weighted_squared_error", lower_json(&self.bound))
            .with("at_most_percent_above_optimum", self.above.as_ref().map(upper_json))
            .with("zcdp_weighted_squared_error", self.zcdp.as_ref().map(|zcdp| &zcdp.error))
            .and(goal)
            .with_some("worst_pair_epsilon", self.worst.as_ref().map(|(epsilon, _)| &epsilon.value))
            .with_some("worst_pair", self.worst.as_ref().map(|(_, pair)| pair))
            .with("queries", self.records(question))
            .into()
    }
}

impl Args {
    /// The request; `find` finds the release by its name.
    pub fn question(&self, find: &dyn Fn(&str) -> dp_assay::Result<Release>) -> Result<Question> {
        let (goal, Points { enough: (epsilon, delta), necessary }) = self.goal()?;
        let changed = if self.counts_as_given { Changed::AsGiven } else { Changed::Twice };
        if let Some(name) = &self.release {
            let release = find(name).context("--release")?.only(&self.level).context("--level")?;
            let neighbors = self.neighbors.unwrap_or(release.neighbors);
            release.shares_budget(neighbors).context("--release")?;
            if matches!(goal, Goal::Risk(_)) && release.paths.is_some() {
                bail!(
                    "--release: on the block paths of {} the worst decides, and a target of risk is about all levels composed: allocate for \
                     --epsilon, or name levels with --level",
                    release.name
                );
            }
            let (targets, given) = (release.query_targets(Some(neighbors)).context("--release")?, Vec::new());
            let taken = release.times_each_count(neighbors).context("--neighbors")?;
            let release = Some(release);
            return Ok(Question {
                goal,
                epsilon,
                delta,
                necessary,
                neighbors,
                changed,
                taken,
                given,
                release,
                targets,
            });
        }
        let Some(path) = &self.file else { bail!("give a FILE of queries or --release NAME") };
        let name = dp_assay::error::shown(path);
        let text = dp_assay::reading::read_text(path)?;
        let given = query_targets::parse(&text, &name)?;
        let neighbors = self.neighbors.unwrap_or(Neighbors::AddRemove);
        let flag = if self.counts_as_given { "--counts-as-given" } else { "--neighbors" };
        let targets = query_targets::under(given.clone(), neighbors, changed).context(flag)?;
        let taken = changed.times(neighbors).context(flag)?;
        Ok(Question { goal, epsilon, delta, necessary, neighbors, changed, taken, given, release: None, targets })
    }

    /// The target, the point of the profile with which it is met, and the one without which it is not.
    fn goal(&self) -> Result<(Goal, Points)> {
        let delta: Option<Delta> = optional("--delta", &self.delta)?;
        // The noise here is symmetric: no promise depends on the direction.
        if let Some(risk) = self.risk.promise(delta.as_ref(), Neighbors::AddRemove)? {
            let points = risk.points()?;
            return Ok((Goal::Risk(risk), points));
        }
        if self.accuracy {
            // Epsilon is the answer; its place in the request is not used.
            let enough = ("0".parse()?, accuracy::delta(delta)?);
            return Ok((Goal::Accuracy, Points { enough, necessary: None }));
        }
        let (epsilon, delta) = self.epsilon.as_deref().zip(delta).context("--epsilon or --delta is missing")?;
        let point = (quantity("--epsilon", epsilon)?, delta);
        Ok((Goal::Epsilon, Points { enough: point.clone(), necessary: Some(point) }))
    }

    fn run_accuracy(&self, question: &Question) -> Result<Exit> {
        let Question { targets, neighbors, taken, delta, .. } = question;
        let asked = Accuracy { targets, neighbors: *neighbors, taken: *taken, delta };
        let found = accuracy::find(&asked, self.decimals)?;
        let mut page = self.form.page();
        page.object(found.object(&asked));
        found.put_tables(&mut page, &asked);
        if let Some(path) = &self.out {
            page.release(path, &question.allocated(&found.noise)?)?;
        }
        page.done()
    }

    /// The best allocation that is found, and an upper bound on its distance from the optimum.
    pub fn find(&self, question: &Question) -> Result<Found> {
        let Question { targets, epsilon, delta, .. } = question;
        progress::stage("least weighted error: search");
        let best = allocate::allocate_until(targets, epsilon, delta, self.decimals, &self.stop)
            .map_err(|error| question.explained(error))?;
        self.stop.check()?;
        progress::stage("least weighted error: lower bound");
        let bound = match &question.necessary {
            Some((epsilon, delta)) => allocate::least_possible(targets, epsilon, delta)?,
            None => Rational::new(),
        };
        self.stop.check()?;
        // The conversion gives an epsilon, with which an allocation for a risk cannot be compared.
        let zcdp = match &question.goal {
            Goal::Epsilon => allocate::allocate_by_zcdp(targets, epsilon, delta, self.decimals)?,
            Goal::Risk(_) | Goal::Accuracy => None,
        };
        let risk = question.risk_of(&best, &self.stop)?;
        let above = best.error.upper_rational().filter(|_| bound > 0).map(|most| {
            let ratio = most / &bound;
            Enclosure::rational(&((ratio - 1_u32) * 100_u32), 64)
        });
        let margins = parallel::try_map_any(&best.sigma2, margin)?;
        let worst = question.worst_path(&best, &self.stop)?;
        Ok(Found { best, zcdp, bound, above, margins, worst, risk })
    }
}

impl Question {
    /// An error of the search, in the terms of the target: a target of risk has no epsilon that was requested.
    fn explained(&self, error: dp_assay::Error) -> anyhow::Error {
        const DIGITS: u32 = 8;
        let Goal::Risk(risk) = &self.goal else { return error.into() };
        if error.is_fatal() {
            return error.into();
        }
        let largest = allocate::most_private(&self.targets).and_then(|largest| risk.value(&largest, DIGITS));
        match largest {
            Ok(value) if risk.kept_by(&value.value) == Certainty::No => {
                let why = format!(
                    "no noise was found that keeps this promise: {}. The largest noise that the accuracy targets allow has {} {}; less noise was not tried",
                    risk.in_words(&self.unit()),
                    risk.name(),
                    value.value.shown(6)
                );
                dp_assay::Error::NotFound { why }.into()
            }
            Ok(_) if matches!(error, dp_assay::Error::NotFound { .. }) => {
                let why = format!("no allowed noise was found with which {}", risk.in_words(&self.unit()));
                dp_assay::Error::NotFound { why }.into()
            }
            _ => error.into(),
        }
    }

    /// Whom the target is about.
    fn unit(&self) -> Unit {
        Unit { neighbors: self.neighbors, group: 1, repeat: 1 }
    }

    /// The target in words.
    fn in_words(&self) -> String {
        match &self.goal {
            Goal::Risk(risk) => risk.in_words(&self.unit()),
            Goal::Accuracy => "all accuracy targets are met".to_string(),
            Goal::Epsilon => {
                format!("epsilon <= {} at delta = {}", exact_text(&self.epsilon), exact_text(&self.delta))
            }
        }
    }

    /// The value that a target of risk bounds, for the noise that was found.
    fn risk_of(&self, found: &Allocation, stop: &Stop) -> Result<Option<Answer>> {
        const DIGITS: u32 = 8;
        let Goal::Risk(risk) = &self.goal else { return Ok(None) };
        let counts = (self.targets.iter().zip(&found.sigma2))
            .map(|(target, sigma2)| Counts::discrete_gaussian(sigma2.clone(), target.count, target.shift))
            .collect::<dp_assay::Result<Vec<Counts>>>()?;
        Ok(Some(risk.value(&Composition::new(counts)?.until(stop), DIGITS)?))
    }

    /// The epsilon of the worst of all block paths, if the release has block paths, and that path in words.
    fn worst_path(&self, found: &Allocation, stop: &Stop) -> Result<Option<(Answer, String)>> {
        const DIGITS: u32 = 8;
        let release = self.allocated(found)?;
        if release.paths.is_none() {
            return Ok(None);
        }
        let subject = subject::Subject { release: Some(release), ..subject::Subject::default() }.resolve()?.until(stop);
        let epsilon = subject.whole.epsilon(&self.delta, DIGITS)?;
        let pair = subject.deciding_pair(&epsilon).unwrap_or_default();
        Ok(Some((epsilon, pair)))
    }

    /// The release with the noise that was found.
    pub fn allocated(&self, found: &Allocation) -> Result<Release> {
        let of = |name: &str| format!("{name}, allocated: {}", self.in_words());
        let source = format!(
            "assay allocate {}: the least weighted squared error that was found under the exact account",
            env!("CARGO_PKG_VERSION")
        );
        Ok(match &self.release {
            Some(release) => {
                let name = format!("{}-allocated", release.name);
                release.with_sigma2(&found.sigma2, self.neighbors, [&name, &of(&release.title), &source])?
            }
            None => {
                let about = ["allocated", &of("Queries of a file"), &source];
                query_targets::release_of(&self.given, &found.sigma2, (self.neighbors, self.changed), about)?
            }
        })
    }
}

/// The row of a query. Its shift is in tables where some query has another than 1, and its noise by zCDP where that is for the same target.
fn of_query(question: &Question, found: &Found, k: usize) -> Fields {
    let (target, sigma2) = (&question.targets[k], &found.best.sigma2[k]);
    let by_zcdp = found.zcdp.as_ref().map(|zcdp| &zcdp.sigma2[k]);
    let zcdp = Fields::new().with("zcdp_sigma2", by_zcdp.map(exact));
    let query = Fields::new().shown("name", "", &target.name).shown("count", "counts", target.count);
    let query = match question.targets.iter().any(|target| target.shift != 1) {
        true => query.shown("sensitivity", "shift", target.shift),
        false => query.with("sensitivity", target.shift),
    };
    let query = query
        .shown("weight", "weight", exactly(&target.weight))
        .with("least_sigma2", exact(&target.least))
        .with("most_sigma2", target.most.as_ref().map(exact))
        .shown("sigma2", "sigma2", exactly(sigma2))
        .shown("margin_95", "95 % margin", found.margins[k]);
    match question.goal {
        Goal::Epsilon => {
            query.and(zcdp).cell("sigma2 by zCDP (Bun-Steinke)", by_zcdp.map_or_else(|| "none".to_string(), exact_text))
        }
        Goal::Risk(_) | Goal::Accuracy => query.and(zcdp),
    }
}

fn put_tables(page: &mut Page, question: &Question, found: &Found) {
    let goal = question.in_words();
    let twice = if question.taken == 2 { ", every count twice: a record leaves one and enters another" } else { "" };
    page.text(format!("{goal}, {} neighbors{twice}\n\n", question.neighbors.name()));
    let compares = matches!(question.goal, Goal::Epsilon);
    page.rows(&found.rows(question));
    let error = &found.best.error;
    page.text(format!("\nweighted squared error {}", error.shown(8)));
    page.text(match &found.zcdp {
        Some(zcdp) => {
            let less = output::less_or_more(error, &zcdp.error);
            format!("; allocated by zCDP (Bun-Steinke) {}: {less}\n", zcdp.error.shown(8))
        }
        None if compares => "; by zCDP (Bun-Steinke) no allowed noise meets the target\n".to_string(),
        None => "\n".to_string(),
    });
    page.text(match (&question.goal, &found.risk) {
        (Goal::Risk(risk), Some(value)) => format!("{} {} is proven\n", risk.name(), value.value.shown(8)),
        _ => format!("delta({}) = {} is proven\n", exact_text(&question.epsilon), found.best.delta.shown(6)),
    });
    page.text(match &found.above {
        Some(above) => format!(
            "no allocation within these bounds keeps the target by this account and has less than {}: at most {} % above the optimum\n",
            Enclosure::rational(&found.bound, 64).lower_text(8),
            above.upper_text(3)
        ),
        None if question.necessary.is_none() => {
            "no bound on the optimum: a type II error is no single point of the privacy profile\n".to_string()
        }
        None => "no useful bound on the optimum: it needs every least_sigma2 to be 1/2 or more\n".to_string(),
    });
    if let Some((epsilon, pair)) = &found.worst {
        page.text(format!(
            "The target is for all levels composed, as on a block path that drops none. On the worst path, where the rho of a \
             dropped level goes to the next kept one above, epsilon is {} at this delta: {pair}.\n",
            epsilon.value.shown(8)
        ));
    }
}

/// An exact number rounded down to a JSON number.
fn lower_json(value: &Rational) -> Value {
    Enclosure::rational(value, 84).to_json()["lower"].clone()
}

fn upper_json(value: &Enclosure) -> Value {
    let top = rug::Float::with_val_round(64, value.upper(), Round::Up).0;
    Enclosure::new(top.clone(), top).to_json()["upper"].clone()
}
