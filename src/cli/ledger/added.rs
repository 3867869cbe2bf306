//! `assay ledger --add`: a release is added if everything stays below a promise.

use anyhow::Result;
use dp_assay::{
    account::{Delta, ledger::Spent},
    document::fields::Fields,
    ledger::{
        odometer::{self, Addition, Basis, Decision, Limit, Request},
        withdrawal::Withdrawal,
    },
};
use serde_json::{Value, json};

use crate::cli::{
    arguments::optional,
    exit::Exit,
    output::{exact, exact_text},
    progress,
    subject::Format,
};

/// A release to add or to check, and the promise.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("entry").args(["add", "check", "withdraw"]))]
#[command(group = clap::ArgGroup::new("candidate").args(["add", "check"]))]
#[command(group = clap::ArgGroup::new("reasoned").args(["add", "withdraw"]))]
pub struct AdditionArgs {
    /// Add this to the ledger if everything then keeps the promise, otherwise write nothing and exit with status 1: a bundled release, a release file, or what tabulate or measure
    /// wrote (certificate.json, measurements.json, or their folder)
    #[arg(long, value_name = "RELEASE")]
    add: Option<String>,
    /// Answer what --add would do, and write nothing; repeatable: each alone beside what the ledger has. Exit status 1 if one of them breaks the promise
    #[arg(long, value_name = "RELEASE")]
    check: Vec<String>,
    /// The largest epsilon that everything in the population may have at --delta [default: the promise of the ledger]
    #[arg(
        long,
        value_name = "EPSILON",
        requires = "candidate",
        conflicts_with = "withdraw",
        allow_hyphen_values = true
    )]
    promise: Option<String>,
    /// The population of the addition [default: the only one]
    #[arg(long, value_name = "NAME", requires = "entry")]
    population: Option<String>,
    /// The name of the new entry [default: that of the release]
    #[arg(long, value_name = "NAME", requires = "add", conflicts_with_all = ["check", "withdraw"])]
    name: Option<String>,
    /// How often the addition is published, each time with noise of its own [default: 1]
    #[arg(long, value_name = "K", requires = "candidate", conflicts_with = "withdraw", value_parser = clap::value_parser!(u64).range(1..))]
    times: Option<u64>,
    /// The partition of the ledger of which the addition is about one part
    #[arg(long, value_name = "NAME", requires = "part", conflicts_with = "withdraw")]
    partition: Option<String>,
    /// That part
    #[arg(long, value_name = "NAME", requires = "partition", requires = "candidate", conflicts_with = "withdraw")]
    part: Option<String>,
    /// Decide by the sum of rho: the promise holds also where the noise of a release, or whether there is one, follows from earlier results; where the ledger has a promise, that says it
    #[arg(long, requires = "candidate", conflicts_with = "withdraw")]
    adaptive: bool,
    /// Mark an entry that was added and never published, with --because: what it spent stays, unless --never-drawn
    #[arg(long, value_name = "NAME", requires = "because", conflicts_with = "digits")]
    withdraw: Option<String>,
    /// No noise was drawn for the entry that is withdrawn: it spent nothing
    #[arg(long, requires = "withdraw", conflicts_with_all = ["add", "check", "promise", "name", "times", "partition", "part", "adaptive", "digits"])]
    never_drawn: bool,
    /// Why an entry was never published; with --add why the account may have become less since earlier lines of the log, whose relation, entries by hand, epsilons and promise then no longer bind. The log
    /// keeps it, and --show prints it
    #[arg(long, value_name = "REASON", requires = "reasoned", conflicts_with = "check")]
    because: Option<String>,
}

impl AdditionArgs {
    /// The release to add.
    pub fn release(&self) -> Option<&str> {
        self.add.as_deref()
    }

    /// The releases to check.
    pub fn candidates(&self) -> &[String] {
        &self.check
    }

    /// The entry to withdraw.
    pub fn withdrawal(&self) -> Option<Withdrawal> {
        let (name, because) = self.withdraw.clone().zip(self.because.clone())?;
        Some(Withdrawal { population: self.population.clone(), name, because, never_drawn: self.never_drawn })
    }

    /// The addition of a release.
    pub fn addition(&self, release: &str) -> Addition {
        Addition {
            release: release.to_string(),
            population: self.population.clone(),
            name: self.name.clone(),
            times: self.times.unwrap_or(1),
            part: self.partition.clone().zip(self.part.clone()),
            because: self.because.clone(),
        }
    }

    /// The promise as far as it is given.
    pub fn request(&self, delta: Option<Delta>, digits: u32) -> Result<Request> {
        let epsilon = optional("--promise", &self.promise)?;
        Ok(Request { epsilon, delta, is_adaptive: self.adaptive, digits })
    }
}

pub fn run(ledger: &str, release: &str, delta: Option<Delta>, args: &AdditionArgs, format: &Format) -> Result<Exit> {
    let (addition, request) = (args.addition(release), args.request(delta, format.digits)?);
    progress::stage(&format!("epsilon with {release}"));
    let decision = odometer::add(ledger, &addition, &request)?;
    let mut page = format.page();
    let answer = object(&decision);
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
    page.text(words(&decision));
    page.answered(decision.added.is_some())
}

/// The digits of an upper end in words.
pub const DIGITS: usize = 7;

fn words(decision: &Decision) -> String {
    let limit = &decision.limit;
    let (promise, delta) = (exact_text(&limit.epsilon), exact_text(&limit.delta));
    let Decision { name, ledger, population, .. } = decision;
    let by = match limit.by(&decision.after) {
        "rho" => ", by the sum of rho,",
        "pure" => ", by the sum of pure epsilons,",
        _ => "",
    };
    let after = limit.upper_text(&decision.after, decision.is_kept, DIGITS);
    let mut text = match &decision.added {
        Some((number, hash, log)) => format!(
            "{name} was added to {population} in the ledger {ledger}: with it everything has{by} epsilon at most {after} at delta = {delta}, within the promise of {promise}.\n\
             Line {number} of {} has the SHA-256 {hash}\n",
            dp_assay::error::shown(log)
        ),
        None => format!(
            "{name} was not added to {population} in the ledger {ledger}: with it everything would have{by} epsilon up to {after} at delta = {delta}, and the promise is {promise}. Nothing was written.\n"
        ),
    };
    text += &match &decision.before {
        Some(before) => format!("Without it epsilon is at most {}.\n", limit.upper_text(before, false, DIGITS)),
        None => "Nothing was entered before.\n".to_string(),
    };
    if let Some((epsilon, delta)) = &decision.other_promise {
        text += &format!("The promise of the addition before was another one: epsilon {epsilon} at delta = {delta}.\n");
    }
    for condition in &decision.conditions {
        text += &format!("{condition}\n");
    }
    text += limit.basis.covers();
    if !limit.is_by_rho(&decision.after) && !limit.is_of_ledger {
        text += &format!(
            " Where these follow from earlier results, let the sum of rho decide (--adaptive): by it epsilon is {} here.",
            decision.after.zcdp_epsilon.upper_text(DIGITS)
        );
    }
    text + "\n"
}

/// The account of everything, by the one that decides.
pub fn spent(limit: &Limit, spent: &Spent) -> Fields {
    Fields::new()
        .with("epsilon", limit.deciding(spent))
        .with("by", limit.by(spent))
        .with("rho", exact(&spent.rho))
        .with("zcdp_epsilon", &spent.zcdp_epsilon)
}

fn object(decision: &Decision) -> Value {
    let limit = &decision.limit;
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
        "adaptive": limit.basis == Basis::SumOfRho,
        "before": decision.before.as_ref().map(|before| spent(limit, before)),
        "after": spent(limit, &decision.after),
        "conditions": decision.conditions,
        "other_promise": other.map(|(epsilon, delta)| json!({ "epsilon": epsilon, "delta": delta })),
        "log": log,
    })
}
