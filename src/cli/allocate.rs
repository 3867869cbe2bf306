//! `assay allocate`: where the budget should go.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use dp_assay::{
    account::{
        Account, Answer, Delta, Epsilon, Stop,
        allocate::{self, Allocation, QueryTarget},
    },
    noise::DiscreteGaussian,
    numeric::Enclosure,
    release::{Changed, Neighbors, Release, query_targets, subject},
};
use rayon::prelude::*;
use rug::{Rational, float::Round};
use serde_json::{Value, json};

use super::{
    arguments::quantity,
    exit::Exit,
    invocation,
    output::{self, exact, exact_text},
    page::{FormArgs, Page},
    progress,
    subject::Relation,
};

/// Split a privacy budget among queries so that the weighted error is smallest
///
/// Minimizes the sum of weight times expected squared error, and bounds how far from optimal the answer can be. Targets that
/// no noise meets are refused, with the epsilon that they need.
#[derive(clap::Args)]
pub struct Args {
    /// A TOML file of queries, each with name, count, sensitivity, weight, least_sigma2, most_sigma2, most_squared_error,
    /// most_margin
    #[arg(value_name = "FILE", conflicts_with = "release")]
    file: Option<PathBuf>,
    /// All queries of a release, each of weight 1, instead of a file
    #[arg(long, value_name = "NAME|FILE")]
    release: Option<String>,
    /// Only this geolevel of the release (repeatable)
    #[arg(long, value_name = "NAME", requires = "release", conflicts_with = "file")]
    level: Vec<String>,
    /// Neighbor relation; overrides the file's own [default: the file's, or add-remove]
    #[arg(long, value_name = "RELATION", value_parser = Relation)]
    neighbors: Option<Neighbors>,
    /// With bounded neighbors: the counts of the file are already those that differ, and are not counted twice
    #[arg(long, conflicts_with = "release")]
    counts_as_given: bool,
    /// The target epsilon at delta
    #[arg(long, value_name = "EPSILON", allow_hyphen_values = true)]
    epsilon: String,
    /// The delta that goes with epsilon, 0 < delta < 1
    #[arg(long, value_name = "DELTA", allow_hyphen_values = true)]
    delta: String,
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

/// The request: the queries that share the budget, and the target.
pub struct Question {
    /// The target epsilon.
    pub epsilon: Epsilon,
    /// The delta of the target.
    pub delta: Delta,
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
}

pub fn run(args: &Args) -> Result<Exit> {
    let question = args.question(&Release::find)?;
    let found = args.find(&question)?;
    if let Some(path) = &args.out {
        let release = question.allocated(&found.best)?;
        release.write(path).context("--out")?;
        invocation::provenance()?.write_beside(path).context("--out")?;
    }
    let mut page = args.form.page();
    page.object(found.object(&question));
    page.records(found.records(&question));
    put_tables(&mut page, &question, &found);
    if let Some(path) = &args.out {
        page.text(format!("written as a release to {}\n", path.display()));
    }
    page.print()?;
    Ok(Exit::Done)
}

impl Found {
    /// A record for each query.
    pub fn records(&self, question: &Question) -> Vec<Value> {
        (0..question.targets.len()).map(|k| query_json(question, self, k)).collect()
    }

    /// The answer as an object.
    pub fn object(&self, question: &Question) -> Value {
        let mut object = json!({
            "epsilon": exact(&question.epsilon),
            "delta": exact(&question.delta),
            "neighbors": question.neighbors.name(),
            "times_each_count": question.taken,
            "delta_reached": self.best.delta.to_json(),
            "status": output::status(self.best.met),
            "weighted_squared_error": self.best.error.to_json(),
            "least_possible_weighted_squared_error": lower_json(&self.bound),
            "at_most_percent_above_optimum": self.above.as_ref().map_or(Value::Null, upper_json),
            "zcdp_weighted_squared_error": self.zcdp.as_ref().map_or(Value::Null, |zcdp| zcdp.error.to_json()),
        });
        if let Some((epsilon, pair)) = &self.worst {
            object["worst_pair_epsilon"] = epsilon.value.to_json();
            object["worst_pair"] = json!(pair);
        }
        object["queries"] = Value::Array(self.records(question));
        object
    }
}

/// The margin of error at 95 % of one count.
pub fn margin(sigma2: &Rational) -> Result<i64> {
    // All except 2.5 % on each side.
    Ok(DiscreteGaussian::new(sigma2.clone())?.quantile(&Rational::from((39, 40)))?)
}

impl Args {
    /// The request; `find` finds the release by its name.
    pub fn question(&self, find: &dyn Fn(&str) -> dp_assay::Result<Release>) -> Result<Question> {
        let epsilon = quantity("--epsilon", &self.epsilon)?;
        let delta = quantity("--delta", &self.delta)?;
        let changed = if self.counts_as_given { Changed::AsGiven } else { Changed::Twice };
        if let Some(name) = &self.release {
            let release = find(name).context("--release")?.only(&self.level).context("--level")?;
            let neighbors = self.neighbors.unwrap_or(release.neighbors);
            release.shares_budget(neighbors).context("--release")?;
            let (targets, given) = (release.query_targets(Some(neighbors)).context("--release")?, Vec::new());
            let taken = release.times_each_count(neighbors).context("--neighbors")?;
            return Ok(Question { epsilon, delta, neighbors, changed, taken, given, release: Some(release), targets });
        }
        let Some(path) = &self.file else { bail!("give a FILE of queries or --release NAME") };
        let name = path.display().to_string();
        let text = dp_assay::reading::read_text(path)?;
        let given = query_targets::parse(&text, &name)?;
        let neighbors = self.neighbors.unwrap_or(Neighbors::AddRemove);
        let flag = if self.counts_as_given { "--counts-as-given" } else { "--neighbors" };
        let targets = query_targets::under(given.clone(), neighbors, changed).context(flag)?;
        let taken = changed.times(neighbors).context(flag)?;
        Ok(Question { epsilon, delta, neighbors, changed, taken, given, release: None, targets })
    }

    /// The best allocation that is found, and an upper bound on its distance from the optimum.
    pub fn find(&self, question: &Question) -> Result<Found> {
        let Question { targets, epsilon, delta, .. } = question;
        progress::stage("least weighted error: search");
        let best = allocate::allocate_until(targets, epsilon, delta, self.decimals, &self.stop)?;
        self.stop.check()?;
        progress::stage("least weighted error: lower bound");
        let bound = allocate::least_possible(targets, epsilon, delta)?;
        self.stop.check()?;
        let zcdp = allocate::allocate_by_zcdp(targets, epsilon, delta, self.decimals)?;
        let above = best.error.upper_rational().filter(|_| bound > 0).map(|most| {
            let ratio = most / &bound;
            Enclosure::rational(&((ratio - 1_u32) * 100_u32), 64)
        });
        let margins = best.sigma2.par_iter().map(margin).collect::<Result<_>>()?;
        let worst = question.worst_path(&best, &self.stop)?;
        Ok(Found { best, zcdp, bound, above, margins, worst })
    }
}

impl Question {
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
        let (epsilon, delta) = (exact_text(&self.epsilon), exact_text(&self.delta));
        let of = |name: &str| format!("{name}, allocated for epsilon <= {epsilon} at delta = {delta}");
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

fn query_json(question: &Question, found: &Found, k: usize) -> Value {
    let target = &question.targets[k];
    json!({
        "name": target.name,
        "count": target.count,
        "sensitivity": target.shift,
        "weight": exact(&target.weight),
        "least_sigma2": exact(&target.least),
        "most_sigma2": target.most.as_ref().map_or(Value::Null, exact),
        "sigma2": exact(&found.best.sigma2[k]),
        "margin_95": found.margins[k],
        "zcdp_sigma2": found.zcdp.as_ref().map_or(Value::Null, |zcdp| exact(&zcdp.sigma2[k])),
    })
}

fn put_tables(page: &mut Page, question: &Question, found: &Found) {
    let (epsilon, delta) = (exact_text(&question.epsilon), exact_text(&question.delta));
    let twice = if question.taken == 2 { ", every count twice: a record leaves one and enters another" } else { "" };
    page.text(format!("epsilon <= {epsilon} at delta = {delta}, {} neighbors{twice}\n\n", question.neighbors.name()));
    let shifted = question.targets.iter().any(|target| target.shift != 1);
    let row = |(k, target): (usize, &QueryTarget)| {
        let mut cells = vec![target.name.clone(), target.count.to_string()];
        cells.extend(shifted.then(|| target.shift.to_string()));
        cells.extend([
            exact_text(&target.weight),
            exact_text(&found.best.sigma2[k]),
            found.margins[k].to_string(),
            found.zcdp.as_ref().map_or_else(|| "none".to_string(), |zcdp| exact_text(&zcdp.sigma2[k])),
        ]);
        cells
    };
    let mut heading = vec!["", "counts"];
    heading.extend(shifted.then_some("shift"));
    heading.extend(["weight", "sigma2", "95 % margin", "sigma2 by zCDP (Bun-Steinke)"]);
    page.table(&heading, question.targets.iter().enumerate().map(row).collect());
    let error = &found.best.error;
    page.text(format!("\nweighted squared error {}", error.shown(8)));
    page.text(match &found.zcdp {
        Some(zcdp) => {
            let less = output::less_or_more(error, &zcdp.error);
            format!("; allocated by zCDP (Bun-Steinke) {}: {less}\n", zcdp.error.shown(8))
        }
        None => "; by zCDP (Bun-Steinke) no allowed noise meets the target\n".to_string(),
    });
    page.text(format!("delta({epsilon}) = {} is proven\n", found.best.delta.shown(6)));
    page.text(match &found.above {
        Some(above) => format!(
            "no allocation within these bounds has less than {}: at most {} % above the optimum\n",
            Enclosure::rational(&found.bound, 64).lower_text(8),
            above.upper_text(3)
        ),
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
