//! Which noise to draw, and from which randomness: the arguments that all commands that draw share.

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

/// Where random words come from.
#[derive(Args)]
pub struct Randomness {
    /// For tests only: noise that whoever knows S can subtract. Every output says so
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

/// What to do about a draw that was begun in this place and not completed.
#[derive(clap::Args)]
pub struct Unfinished {
    /// Complete a draw that was begun, with the same noise, for the same inputs
    #[arg(long, conflicts_with = "discard")]
    resume: bool,
    /// Give up the draws that were begun here, count the budgets of all draws of these records as spent, and draw afresh
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

/// Says on standard error that a draw is not in the log beside the records.
pub fn warn_unlogged(why: &str) {
    eprint(&format!(
        "assay: the log beside the records {why}: a draw from the same records into another folder will not be noticed\n"
    ));
}

/// The error of a draw with the options that it can be answered by.
pub fn explained(error: dp_assay::Error) -> anyhow::Error {
    match error {
        error @ dp_assay::Error::Draw { .. } => anyhow!(
            "{error}\n--resume repeats a draw that was begun, with the same noise, for the same inputs; --discard counts the \
             budgets of all earlier draws as spent, here and of the same records elsewhere, and draws afresh"
        ),
        other => other.into(),
    }
}

impl Randomness {
    /// The streams; where they are insecure, standard error says so.
    pub fn resolve(&self) -> Result<Streams> {
        match self.seed() {
            None => Ok(Streams::from_system()?),
            Some(seed) => Ok(Streams::with_insecure_seed(seed)),
        }
    }

    /// Whether the noise is secret: no seed is given that anybody may know.
    pub fn is_secret(&self) -> bool {
        self.insecure_seed.is_none()
    }

    /// The insecure seed, if there is one: standard error says so.
    pub fn seed(&self) -> Option<u64> {
        if let Some(seed) = self.insecure_seed {
            eprint(&format!("assay: insecure seed {seed}: whoever knows it can subtract the noise; for tests only\n"));
        }
        self.insecure_seed
    }
}

/// Standard error may be closed; there is nobody left to tell then.
fn eprint(text: &str) {
    let _ = std::io::Write::write_all(&mut std::io::stderr(), text.as_bytes());
}

/// The law in words.
pub fn title(law: &Law) -> String {
    match law {
        Law::DiscreteGaussian { sigma2 } => format!("discrete Gaussian, sigma2 = {}", exact_text(sigma2)),
        Law::Gaussian { sigma2 } => format!("Gaussian, sigma2 = {}", exact_text(sigma2)),
        Law::DiscreteLaplace { epsilon } => format!("discrete Laplace, epsilon = {}", exact_text(epsilon)),
    }
}

/// The law and the randomness as keys of a JSON object.
pub fn keys(law: &Law, streams: &Streams) -> Map<String, Value> {
    let (name, key, parameter) = match law {
        Law::DiscreteGaussian { sigma2 } => ("discrete Gaussian", "sigma2", sigma2),
        Law::Gaussian { sigma2 } => ("Gaussian", "sigma2", sigma2),
        Law::DiscreteLaplace { epsilon } => ("discrete Laplace", "epsilon", epsilon),
    };
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
