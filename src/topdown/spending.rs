//! The budget that all noisy counts on a spine together spend.

use rug::Rational;
use serde_json::{Map, Value, json};

use super::measure::MeasurementPlan;
use crate::{
    account::{Account, Delta},
    error::Result,
    numeric::{Enclosure, notation::exact_json},
    release::Release,
    spine::spine_files::SavedSpine,
};

/// The budget that all noisy counts together spend.
#[derive(Clone, Debug)]
pub struct Spending {
    /// The rho of zero-concentrated differential privacy.
    pub rho: Rational,
    /// The epsilon of pure differential privacy, for Laplace noise.
    pub pure_epsilon: Option<Rational>,
    /// The exact epsilon at the requested delta.
    pub epsilon: Enclosure,
    /// The levels that the worst path drops, or each of the worst pair, separated by blanks.
    pub worst_paths: Vec<String>,
}

impl Spending {
    /// The budget of a plan, with its epsilon at this delta.
    pub fn of(plan: &MeasurementPlan, saved: &SavedSpine, delta: &Delta, digits: u32) -> Result<Spending> {
        let worst = plan.worst_path()?;
        let epsilon = worst.epsilon(delta, digits)?;
        let (p, q) = epsilon.pair().unwrap_or_default();
        let paths = saved.spine.paths()?;
        let names = |path: usize| {
            let dropped = paths[path].dropped.iter().map(|level| saved.names[*level].as_str());
            dropped.collect::<Vec<_>>().join(" ")
        };
        let worst_paths = if worst.in_pairs() { vec![names(p), names(q)] } else { vec![names(p)] };
        Ok(Spending {
            rho: worst.rho().into(),
            pure_epsilon: plan.pure_epsilon()?,
            epsilon: epsilon.value,
            worst_paths,
        })
    }

    /// The unit of the budget in logs, and the budget.
    pub fn unit(&self) -> (&'static str, &Rational) {
        match &self.pure_epsilon {
            Some(epsilon) => ("pure_epsilon", epsilon),
            None => ("rho", &self.rho),
        }
    }

    /// As JSON, for a release at this delta.
    pub fn to_json(&self, release: &Release, delta: &Delta) -> Map<String, Value> {
        let mut object = Map::new();
        object.insert("neighbors".into(), json!(release.neighbors.name()));
        object.insert("rho".into(), exact_json(&self.rho));
        if let Some(epsilon) = &self.pure_epsilon {
            object.insert("pure_epsilon".into(), exact_json(epsilon));
        }
        object.insert("delta".into(), exact_json(delta));
        object.insert("epsilon".into(), self.epsilon.to_json());
        object.insert("worst_paths".into(), json!(self.worst_paths));
        object
    }
}
