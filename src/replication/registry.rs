//! The kinds of claims beside those about an account, each with its claims.

use rug::Rational;
use serde_json::{Map, Value, json};

use super::{
    accounts, block_paths,
    claims::{Claim, Input, Read, Table, claims},
    formula::Formula,
    risk, safetab, spines, su_su_wang_2025,
};
use crate::{error::Result, noise::DiscreteGaussian};

/// A kind of claims.
#[derive(Debug)]
pub struct Kind {
    /// Its name in files.
    pub name: &'static str,
    /// The field whose table has the claim, if it is not the table that has the kind.
    within: Option<&'static str>,
    /// The field that names the claim; that of the kind where it has one claim.
    pub tag: &'static str,
    claims: Table,
    /// Whether its claims are methods of the papers, which are made for the papers' numbers.
    pub is_of_papers: bool,
    /// Computes what the claims have in common, before the first one.
    pub prepare: fn() -> Result<()>,
}

impl Kind {
    const fn new(name: &'static str, tag: &'static str, claims: Table) -> Self {
        Kind { name, within: None, tag, claims, is_of_papers: false, prepare: || Ok(()) }
    }

    /// Reads a claim of this kind from the fields of its table.
    pub(super) fn read(&self, mut fields: Map<String, Value>) -> Read<Claim> {
        if self.tag != "kind" {
            fields.remove("kind");
        }
        let Some(within) = self.within else { return Claim::read(self.claims, self.tag, fields, Map::new()) };
        match fields.remove(within) {
            Some(Value::Object(inner)) => Claim::read(self.claims, self.tag, inner, fields),
            Some(other) => Err(format!("{within}: must be a table, and not {other}")),
            None => Err(format!("{within} is missing, as in {within} = {{ {} = ... }}", self.tag)),
        }
    }

    /// The kind, and everything that a claim depends on, by name.
    pub(super) fn asked(&self, claim: &Claim) -> Map<String, Value> {
        let mut asked = Map::from_iter([("kind".to_string(), json!(self.name))]);
        asked.extend(claim.beside().clone());
        match self.within {
            Some(within) => asked.extend([(within.to_string(), json!(claim.fields()))]),
            None => asked.extend(claim.fields().clone()),
        }
        asked
    }
}

/// All of them.
pub const KINDS: &[Kind] = &[
    Kind::new("formula", "kind", CLAIMS),
    Kind::new("risk", "of", risk::claims::CLAIMS),
    Kind { within: Some("value"), ..Kind::new("paths", "name", block_paths::CLAIMS) },
    Kind::new("variance-deficit", "kind", CLAIMS),
    Kind { is_of_papers: true, ..Kind::new("safetab", "of", safetab::claims::CLAIMS) },
    Kind { is_of_papers: true, ..Kind::new("spine", "of", spines::claims::CLAIMS) },
    Kind {
        within: Some("method"),
        is_of_papers: true,
        prepare: su_su_wang_2025::prepare,
        ..Kind::new("own", "name", su_su_wang_2025::claims::CLAIMS)
    },
];

claims! {
    /// The claims of the kinds that have one.
    // A closed form of exact numbers.
    "formula" (formula: Formula) with given => formula.enclose(given.digits)?;
    // sigma2 - Var of the discrete Gaussian.
    "variance-deficit" (sigma2: Rational) =>
        DiscreteGaussian::new(sigma2.clone())?.variance_deficit(accounts::DIGITS);
}

impl Input for Formula {
    fn read(value: &mut Value) -> Read<Self> {
        Formula::parse(&String::read(value)?).map_err(|error| error.to_string())
    }
}
