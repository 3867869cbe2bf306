//! The noise to draw, and the source of randomness: the arguments that all drawing commands share.

use anyhow::{Context, Result, anyhow};
use clap::Args;
use dp_assay::{
    draws::UnfinishedDraw,
    loss::law::Law,
    noise::{Streams, VectorMechanism},
};
use serde_json::{Map, Value, json};

use super::{
    arguments::number,
    output::{exact, exact_text},
};

/// Exactly one law.
#[derive(Args)]
#[group(required = true, multiple = false)]
pub struct Noise {
    /// Discrete Gaussian noise of variance proxy SIGMA2, from 1e-6 to 1e18
    #[arg(long, value_name = "SIGMA2", allow_hyphen_values = true)]
    discrete_gaussian: Option<String>,
    /// Two-sided geometric noise of mass proportional to exp(-EPSILON |x|), from 1e-9 to 1e6
    #[arg(long, value_name = "EPSILON", allow_hyphen_values = true)]
    discrete_laplace: Option<String>,
}

/// The source of random words.
#[derive(Args)]
pub struct Randomness {
    /// For tests only: noise that anyone who knows S can subtract. Every output says so
    #[arg(long, value_name = "S")]
    insecure_seed: Option<u64>,
}

impl Noise {
    /// The mechanism, ready to draw.
    pub fn resolve(&self) -> Result<VectorMechanism> {
        let (name, law) = match (&self.discrete_gaussian, &self.discrete_laplace) {
            (Some(text), _) => {
                let name = "--discrete-gaussian";
                (name, Law::DiscreteGaussian { sigma2: number(name, text)? })
            }
            (_, text) => {
                let name = "--discrete-laplace";
                (name, Law::DiscreteLaplace { epsilon: number(name, text.as_deref().unwrap_or_default())? })
            }
        };
        VectorMechanism::new(law).context(name)
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
    format!("{}, {} = {}", law.name(), law.parameter_name(), exact_text(law.parameter()))
}

/// The law and the randomness as keys of a JSON object.
pub fn keys(law: &Law, streams: &Streams) -> Map<String, Value> {
    let (name, key, parameter) = (law.name(), law.parameter_name(), law.parameter());
    let mut keys = Map::new();
    keys.insert("law".to_string(), json!(name));
    keys.insert(key.to_string(), exact(parameter));
    keys.insert(format!("{key}_exact"), json!(parameter.to_string()));
    match streams.insecure_seed() {
        None => keys.insert("randomness".to_string(), json!("ChaCha20, keyed by the operating system")),
        Some(seed) => {
            keys.insert("randomness".to_string(), json!("INSECURE: ChaCha20, keyed by a given seed"));
            keys.insert("insecure_seed".to_string(), json!(seed))
        }
    };
    keys
}
