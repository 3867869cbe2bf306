//! The certificate of a run: its proven privacy guarantees, in JSON.
//!
//! It is as public as the release: it contains nothing about the records, not even their number. The hashes are those of the public inputs.
//! The files of records are not hashed: the hash of confidential data is a function of them without noise, and anyone who guesses a file
//! could check the guess down to its last record.

use rug::Rational;
use serde_json::{Map, Value, json};

use super::{
    certified_level::{CertifiedLevel, number},
    guarantees::{Guarantee, Guarantees},
};
use crate::{
    draws::EarlierBudgets,
    numeric::Enclosure,
    safetab::schema::{Pass, Privacy},
};

/// The contents of a certificate.
pub struct TabulationCertificate<'a> {
    /// The name of the program.
    pub algorithm: &'static str,
    /// Whether its records are households, and not persons.
    pub of_households: bool,
    /// The guarantee.
    pub privacy: Privacy,
    /// The delta of every epsilon.
    pub delta: &'a Rational,
    /// The share of stage 1; `None` for households.
    pub gamma: Option<&'a Rational>,
    /// Whether negative counts are published.
    pub allow_negative_counts: bool,
    /// The seed of the noise, if it is not secret.
    pub insecure_seed: Option<u64>,
    /// The number of the draw; `None` if nothing was drawn.
    pub draw: Option<u64>,
    /// Budgets spent before on the same records.
    pub earlier: EarlierBudgets,
    /// SHA-256 of the public inputs, by role.
    pub inputs: &'a [(String, String)],
    /// Additional entries about the inputs, by key.
    pub notes: Vec<(&'static str, Value)>,
    /// Every pass with its guarantees, its levels and theirs, and the rows written.
    pub passes: Vec<CertifiedPass<'a>>,
    /// The guarantees of the whole run.
    pub total: Guarantees,
}

/// A pass of a run.
pub struct CertifiedPass<'a> {
    /// Its name.
    pub name: String,
    /// Its guarantees.
    pub guarantees: Guarantees,
    /// The ways in which a record changes its counts, if they are enumerated: see [`PassGuarantees::ways`](super::guarantees::PassGuarantees::ways).
    pub ways: Option<Vec<Vec<[u64; 2]>>>,
    /// Its levels with their guarantees.
    pub levels: Vec<(&'a dyn CertifiedLevel, Guarantees)>,
    /// The rows written; `None` if nothing was drawn.
    pub written: Option<WrittenRows>,
}

/// The numbers of rows written for a pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenRows {
    /// The number by table.
    pub rows: Vec<(&'static str, u64)>,
    /// The number of groups that publish the counts of a coterminous one; `None` for households.
    pub coterminous: Option<u64>,
}

/// The name of a pass.
pub fn name(pass: Pass) -> &'static str {
    match pass {
        Pass::UnitedStates => "United States",
        Pass::PuertoRico => "Puerto Rico",
    }
}

/// The unit of a budget.
pub(super) fn unit(privacy: Privacy) -> &'static str {
    match privacy {
        Privacy::ZeroConcentrated => "rho",
        Privacy::Pure => "pure_epsilon",
    }
}

impl TabulationCertificate<'_> {
    /// The unit of the budget.
    pub(super) fn unit(&self) -> &'static str {
        unit(self.privacy)
    }

    /// The noise in words.
    pub(super) fn law(&self) -> &'static str {
        match self.privacy {
            Privacy::ZeroConcentrated => "discrete Gaussian",
            Privacy::Pure => "two-sided geometric",
        }
    }

    fn guarantee(&self, guarantee: &Guarantee) -> Map<String, Value> {
        let mut object = Map::new();
        object.insert(self.unit().to_string(), number(&guarantee.budget));
        object.insert(format!("{}_exact", self.unit()), json!(guarantee.budget.to_string()));
        object.insert("epsilon".to_string(), guarantee.epsilon_json());
        object.insert("epsilon_is".to_string(), json!(guarantee.epsilon.as_ref().map(|_| guarantee.epsilon_is())));
        if self.privacy == Privacy::ZeroConcentrated {
            let zcdp = guarantee.zcdp_epsilon.as_ref().map_or(Value::Null, Enclosure::to_json);
            object.insert("zcdp_epsilon".to_string(), zcdp);
        }
        object
    }

    /// The guarantees of a part: those for unbounded neighbors as its own keys, those for bounded ones as an object.
    fn guarantees(&self, guarantees: &Guarantees) -> Map<String, Value> {
        let mut object = self.guarantee(&guarantees.unbounded);
        object.insert("bounded".to_string(), Value::Object(self.guarantee(&guarantees.bounded)));
        object.insert("example".to_string(), json!(guarantees.unbounded.example));
        object.insert("bounded_example".to_string(), json!(guarantees.bounded.example));
        object
    }

    fn level(&self, level: &dyn CertifiedLevel, guarantees: &Guarantees) -> Value {
        let mut object: Map<String, Value> =
            level.place().into_iter().map(|(key, value)| (key.to_string(), value)).collect();
        object.extend(self.guarantees(guarantees));
        level.entries(&mut object);
        Value::Object(object)
    }

    /// The certificate as one object.
    pub fn json(&self) -> Value {
        let inputs: Map<String, Value> = self.inputs.iter().map(|(role, hash)| (role.clone(), json!(hash))).collect();
        let mut object = json!({
            "program": concat!("assay ", env!("CARGO_PKG_VERSION")),
            "commit": crate::io::provenance::COMMIT,
            "algorithm": self.algorithm,
            "guarantee": match self.privacy {
                Privacy::ZeroConcentrated => "zero-concentrated differential privacy",
                Privacy::Pure => "pure differential privacy",
            },
            "noise": self.law(),
            "seed": match self.insecure_seed {
                None => json!("secret, from the operating system"),
                Some(seed) => json!(format!("INSECURE: the noise follows from seed {seed}")),
            },
            "insecure_seed": self.insecure_seed,
            "draw": self.draw,
            "earlier_draws": self.draw.map(|_| self.earlier.draws()),
            "delta": number(self.delta),
            "neighbors": "unbounded: one record is added or removed; \"bounded\": one record is changed",
        });
        let Value::Object(fields) = &mut object else { return object };
        fields.extend(self.guarantees(&self.total));
        if let Some(all) = self.earlier.json(self.unit(), None) {
            fields.extend(all);
        }
        if let Some(gamma) = self.gamma {
            fields.insert("stage_1_fraction".to_string(), number(gamma));
        }
        fields.insert("allow_negative_counts".to_string(), json!(self.allow_negative_counts));
        fields.insert("sha256".to_string(), Value::Object(inputs));
        fields.extend(self.notes.iter().map(|(key, value)| (key.to_string(), value.clone())));
        let passes = self.passes.iter().map(|pass| {
            let mut object = Map::new();
            object.insert("pass".to_string(), json!(pass.name));
            object.extend(self.guarantees(&pass.guarantees));
            let levels: Vec<Value> =
                pass.levels.iter().map(|(level, guarantees)| self.level(*level, guarantees)).collect();
            object.insert("levels".to_string(), json!(levels));
            if let Some(ways) = &pass.ways {
                object.insert("groups_of_a_record".to_string(), json!(ways));
            }
            if let Some(written) = &pass.written {
                let rows = written.rows.iter().map(|(table, rows)| (table.to_string(), json!(rows))).collect();
                object.insert("rows".to_string(), Value::Object(rows));
                let replaced = written.coterminous.map(|count| json!(count));
                object.extend(replaced.map(|count| ("coterminous_groups_replaced".to_string(), count)));
            }
            Value::Object(object)
        });
        fields.insert("passes".to_string(), passes.collect());
        object
    }
}
