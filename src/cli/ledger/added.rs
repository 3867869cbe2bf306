//! `assay ledger --add`: a release is added if everything stays below a promise.

use anyhow::{Result, bail};
use dp_assay::{
    account::{Delta, ledger::Spent},
    ledger::odometer::{self, Addition, Basis, Decision, Limit},
};
use serde_json::{Value, json};

use crate::cli::{
    arguments::quantity,
    exit::Exit,
    output::{exact, exact_text},
    progress,
    subject::Format,
};

/// A release to add, and the promise.
#[derive(clap::Args)]
pub struct AdditionArgs {
    /// Add this to the ledger if everything then stays below --promise, otherwise write nothing and exit with status 1: a bundled release, a release file, or what tabulate or measure
    /// wrote (certificate.json, measurements.json, or their folder)
    #[arg(long, value_name = "RELEASE", requires = "promise")]
    add: Option<String>,
    /// The largest epsilon that everything in the population may have at --delta
    #[arg(long, value_name = "EPSILON", requires = "add", allow_hyphen_values = true)]
    promise: Option<String>,
    /// The population of the addition [default: the only one]
    #[arg(long, value_name = "NAME", requires = "add")]
    population: Option<String>,
    /// The name of the new entry [default: that of the release]
    #[arg(long, value_name = "NAME", requires = "add")]
    name: Option<String>,
    /// How often the addition is published, each time with noise of its own [default: 1]
    #[arg(long, value_name = "K", requires = "add", value_parser = clap::value_parser!(u64).range(1..))]
    times: Option<u64>,
    /// The partition of the ledger of which the addition is about one part
    #[arg(long, value_name = "NAME", requires = "part")]
    partition: Option<String>,
    /// That part
    #[arg(long, value_name = "NAME", requires = "partition", requires = "add")]
    part: Option<String>,
    /// Decide by the sum of rho: it holds also where the noise of a release, or whether there is one, follows from earlier results
    #[arg(long, requires = "add")]
    adaptive: bool,
    /// Why the account may have become less since earlier lines of the log, whose relation, entries by hand and epsilons then no longer bind; the log keeps it
    #[arg(long, value_name = "REASON", requires = "add")]
    because: Option<String>,
}

impl AdditionArgs {
    /// The release to add.
    pub fn release(&self) -> Option<&str> {
        self.add.as_deref()
    }
}

pub fn run(ledger: &str, release: &str, delta: Delta, args: &AdditionArgs, format: &Format) -> Result<Exit> {
    let Some(promise) = &args.promise else { bail!("--promise is missing: the largest epsilon of everything") };
    let limit = Limit {
        epsilon: quantity("--promise", promise)?,
        delta,
        basis: if args.adaptive { Basis::SumOfRho } else { Basis::Composition },
        digits: format.digits,
    };
    let addition = Addition {
        release: release.to_string(),
        population: args.population.clone(),
        name: args.name.clone(),
        times: args.times.unwrap_or(1),
        part: args.partition.clone().zip(args.part.clone()),
        because: args.because.clone(),
    };
    progress::stage(&format!("epsilon with {release}"));
    let decision = odometer::add(ledger, &addition, &limit)?;
    let mut page = format.page();
    let answer = object(&decision, &limit);
    page.records([json!({
        "population": answer["population"],
        "name": answer["name"],
        "added": answer["added"],
        "epsilon": answer["after"]["epsilon"],
        "by": answer["after"]["by"],
        "promise": answer["promise"],
        "delta": answer["delta"],
    })]);
    page.object(answer);
    page.text(words(&decision, &limit));
    page.print()?;
    Ok(if decision.added.is_some() { Exit::Done } else { Exit::No })
}

fn words(decision: &Decision, limit: &Limit) -> String {
    const DIGITS: usize = 7;
    let upper = |spent: &Spent| limit.deciding(spent).upper_text(DIGITS);
    let (promise, delta) = (exact_text(&limit.epsilon), exact_text(&limit.delta));
    let Decision { name, ledger, population, .. } = decision;
    let by = if limit.is_by_rho(&decision.after) { ", by the sum of rho," } else { "" };
    let after = upper(&decision.after);
    let mut text = match &decision.added {
        Some((number, hash, log)) => format!(
            "{name} was added to {population} in the ledger {ledger}: with it everything has{by} epsilon at most {after} at delta = {delta}, within the promise of {promise}.\n\
             Line {number} of {} has the SHA-256 {hash}\n",
            log.display()
        ),
        None => format!(
            "{name} was not added to {population} in the ledger {ledger}: with it everything would have{by} epsilon up to {after} at delta = {delta}, and the promise is {promise}. Nothing was written.\n"
        ),
    };
    text += &match &decision.before {
        Some(before) => format!("Without it epsilon is at most {}.\n", upper(before)),
        None => "Nothing was entered before.\n".to_string(),
    };
    if let Some((epsilon, delta)) = &decision.other_promise {
        text += &format!("The promise of the addition before was another one: epsilon {epsilon} at delta = {delta}.\n");
    }
    if !limit.is_by_rho(&decision.after) {
        text += &format!(
            "This holds for noise that is fixed before any result is seen. Where the noise of a release follows from earlier results, decide by the sum of rho (--adaptive): epsilon at most {}.\n",
            decision.after.zcdp_epsilon.upper_text(DIGITS)
        );
    }
    text
}

fn object(decision: &Decision, limit: &Limit) -> Value {
    let spent = |spent: &Spent| {
        json!({
            "epsilon": limit.deciding(spent).to_json(),
            "by": if limit.is_by_rho(spent) { "rho" } else { "composition" },
            "rho": exact(&spent.rho),
            "zcdp_epsilon": spent.zcdp_epsilon.to_json(),
        })
    };
    let log = decision.added.as_ref();
    let log =
        log.map(|(line, sha256, file)| json!({ "file": file.display().to_string(), "line": line, "sha256": sha256 }));
    let other = decision.other_promise.as_ref();
    json!({
        "ledger": decision.ledger,
        "population": decision.population,
        "name": decision.name,
        "added": decision.added.is_some(),
        "promise": exact(&limit.epsilon),
        "delta": exact(&limit.delta),
        "before": decision.before.as_ref().map(spent),
        "after": spent(&decision.after),
        "other_promise": other.map(|(epsilon, delta)| json!({ "epsilon": epsilon, "delta": delta })),
        "log": log,
    })
}
