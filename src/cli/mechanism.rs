//! The noise to draw, and the source of randomness: the arguments that all drawing commands share.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use dp_assay::{
    document::fields::Fields,
    draws::UnfinishedDraw,
    law::{Law, NoiseTable},
    noise::{Sampler, Streams},
};

use super::output::{exact, exact_text};

/// The noise.
#[derive(Args)]
pub struct Noise {
    #[command(flatten)]
    law: OneLaw,
    /// Divide the masses of --table by their sum, which need not be one
    #[arg(long)]
    normalize: bool,
}

/// Noise by cell keys is the same wherever the same records are counted, so that it cannot be drawn from the counts alone.
const NO_KEYS: &str = "cell keys belong to records, so this noise needs the keys of the cells: `assay noise --p-table FILE --keys COLUMN` reads them; \
                       `assay epsilon --p-table` accounts for it";

/// Exactly one law.
#[derive(Args)]
#[group(required = true, multiple = false)]
struct OneLaw {
    /// Discrete Gaussian noise of variance proxy SIGMA2, from 1e-6 to 1e18
    #[arg(long, value_name = "SIGMA2", allow_hyphen_values = true)]
    discrete_gaussian: Option<String>,
    /// Two-sided geometric noise of mass proportional to exp(-EPSILON |x|), from 1e-9 to 1e6
    #[arg(long, value_name = "EPSILON", allow_hyphen_values = true)]
    discrete_laplace: Option<String>,
    /// Discrete Gaussian noise, renormalized on -BOUND, ..., BOUND
    #[arg(long, value_name = "SIGMA2:BOUND", allow_hyphen_values = true)]
    truncated_gaussian: Option<String>,
    /// Discrete Laplace noise, renormalized on -BOUND, ..., BOUND
    #[arg(long, value_name = "EPSILON:BOUND", allow_hyphen_values = true)]
    truncated_laplace: Option<String>,
    /// Staircase noise of mass proportional to exp(-EPSILON floor((|x| + PERIOD - FIRST) / PERIOD))
    #[arg(long, value_name = "EPSILON:PERIOD:FIRST", allow_hyphen_values = true)]
    staircase: Option<String>,
    /// Noise by its masses: a CSV file with the columns value and mass
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
    /// Randomized response with K answers, 0 to K - 1 [K: 2]: the true one with probability e^EPSILON / (e^EPSILON + K - 1)
    #[arg(long, value_name = "EPSILON[:K]", allow_hyphen_values = true)]
    randomized_response: Option<String>,
    /// Cell keys: a perturbation table, as of the accounting commands
    #[arg(id = "p-table", long = "p-table", value_name = "FILE", hide = true)]
    p_table: Option<PathBuf>,
}

/// The source of random words.
#[derive(Args)]
pub struct Randomness {
    /// For tests only: noise that anyone who knows S can subtract. Every output says so
    #[arg(long, value_name = "S")]
    insecure_seed: Option<u64>,
}

impl Noise {
    /// The perturbation table, if the noise is by cell keys.
    pub fn p_table(&self) -> Option<&Path> {
        self.law.p_table.as_deref()
    }

    /// Whether masses are divided by their sum.
    pub fn normalizes(&self) -> bool {
        self.normalize
    }

    /// The sampler of the law.
    pub fn resolve(&self) -> Result<Sampler> {
        if self.law.p_table.is_some() {
            bail!("--p-table: {NO_KEYS}");
        }
        if let Some(path) = &self.law.table {
            let table = NoiseTable::read(path, self.normalize).context("--table")?;
            return Sampler::new(Law::Table(Arc::new(table))).context("--table");
        }
        if self.normalize {
            bail!("--normalize: divides the masses of --table, and no table is given");
        }
        let named = [
            ("discrete-gaussian", &self.law.discrete_gaussian),
            ("discrete-laplace", &self.law.discrete_laplace),
            ("truncated-gaussian", &self.law.truncated_gaussian),
            ("truncated-laplace", &self.law.truncated_laplace),
            ("staircase", &self.law.staircase),
            ("randomized-response", &self.law.randomized_response),
        ];
        let given = named.into_iter().find_map(|(key, text)| text.as_deref().map(|text| (key, text)));
        let (key, text) = given.context("no noise: give one law, as in --discrete-gaussian 5")?;
        Law::parse(key, text).and_then(Sampler::new).with_context(|| format!("--{key}"))
    }
}

/// How to treat an incomplete earlier draw in this place.
#[derive(clap::Args)]
pub struct Unfinished {
    /// Complete an interrupted draw, with the same noise, for the same inputs
    #[arg(long, conflicts_with = "discard")]
    resume: bool,
    /// Discard the incomplete draws in this place, count the budgets of all draws of these records as spent, and draw afresh
    #[arg(long)]
    discard: bool,
}

impl Unfinished {
    pub fn choice(&self) -> UnfinishedDraw {
        match (self.resume, self.discard) {
            (true, _) => UnfinishedDraw::Resume,
            (_, true) => UnfinishedDraw::Discard,
            _ => UnfinishedDraw::Refuse,
        }
    }
}

/// Warns on standard error that a draw is not in the log beside the records.
pub fn warn_unlogged(why: &str) {
    eprint(&format!(
        "assay: the log beside the records {why}: a draw from the same records into another folder will not be noticed\n"
    ));
}

/// The error of a draw, with the options that resolve it.
pub fn explained(error: dp_assay::Error) -> anyhow::Error {
    match error {
        error @ dp_assay::Error::Draw { .. } => anyhow!(
            "{error}\n--resume repeats an interrupted draw, with the same noise, for the same inputs; --discard counts the \
             budgets of all earlier draws as spent, here and of the same records elsewhere, and draws afresh"
        ),
        other => other.into(),
    }
}

impl Randomness {
    /// Whether a seed is given.
    pub fn is_given(&self) -> bool {
        self.insecure_seed.is_some()
    }

    /// The streams; if they are insecure, standard error says so.
    pub fn resolve(&self) -> Result<Streams> {
        match self.seed() {
            None => Ok(Streams::from_system()?),
            Some(seed) => Ok(Streams::with_insecure_seed(seed)),
        }
    }

    /// The insecure seed, if there is one: standard error says so.
    pub fn seed(&self) -> Option<u64> {
        if let Some(seed) = self.insecure_seed {
            eprint(&format!(
                "assay: insecure seed {seed}: anyone who knows it can subtract the noise; for tests only\n"
            ));
        }
        self.insecure_seed
    }
}

/// Ignores errors, because standard error may be closed.
fn eprint(text: &str) {
    let _ = std::io::Write::write_all(&mut std::io::stderr(), text.as_bytes());
}

/// The law in words.
pub fn title(law: &Law) -> String {
    if let Some(file) = law.label() {
        return format!("{}, {file}", law.name());
    }
    let others = law.other_parameters();
    let all = std::iter::once((law.parameter_name(), law.parameter()))
        .chain(others.iter().map(|(name, value)| (*name, value)));
    all.fold(law.name().to_string(), |title, (name, value)| format!("{title}, {name} = {}", exact_text(value)))
}

/// The law and the randomness, as data.
pub fn fields(law: &Law, streams: &Streams) -> Fields {
    let (key, parameter, seed) = (law.parameter_name(), law.parameter(), streams.insecure_seed());
    let named = Fields::new().with("law", law.name());
    let own = match law.label() {
        Some(file) => named.with("table", file),
        None => named.with(key, exact(parameter)).with(format!("{key}_exact"), parameter.to_string()),
    };
    let randomness = match seed {
        None => "ChaCha20, keyed by the operating system",
        Some(_) => "INSECURE: ChaCha20, keyed by a given seed",
    };
    let all = law.other_parameters().into_iter().fold(own, |fields, (name, value)| fields.with(name, exact(&value)));
    all.with("randomness", randomness).with_some("insecure_seed", seed)
}
