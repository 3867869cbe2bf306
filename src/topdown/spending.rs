//! The budget that all noisy counts on a spine together spend.

use rug::Rational;
use serde_json::{Map, Value, json};

use super::measure::MeasurementPlan;
use crate::{
    account::{Account, Delta},
    error::Result,
    numeric::{Enclosure, notation::exact_json},
    release::Release,
    spine::{records::RecordEpsilon, spine_files::SavedSpine},
};

/// The budget that all noisy counts together spend.
#[derive(Clone, Debug)]
pub struct Spending {
    /// The rho of zero-concentrated differential privacy.
    pub rho: Rational,
    /// The epsilon of pure differential privacy, for Laplace noise.
    pub pure_epsilon: Option<Rational>,
    /// The epsilon at the requested delta; where there is a reason only its upper end is proven.
    pub epsilon: Enclosure,
    /// Why epsilon is an upper bound; `None` if it is exact.
    pub reason: Option<&'static str>,
    /// The levels that the worst path drops, or each of the worst pair, separated by blanks.
    pub worst_paths: Vec<String>,
}

impl Spending {
    /// The budget of a plan, with its epsilon at this delta.
    pub fn of_plan(plan: &MeasurementPlan, saved: &SavedSpine, delta: &Delta, digits: u32) -> Result<Spending> {
        let epsilon = plan.account()?.epsilon(delta, digits)?;
        let paths = saved.spine.paths()?;
        let names = |path: usize| {
            let dropped = paths[path].dropped.iter().map(|level| saved.names[*level].as_str());
            dropped.collect::<Vec<_>>().join(" ")
        };
        Ok(Spending {
            rho: plan.worst_path()?.rho().into(),
            pure_epsilon: plan.pure_epsilon()?,
            epsilon: epsilon.value,
            reason: epsilon.reason,
            worst_paths: epsilon.kinds.into_iter().map(names).collect(),
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
        object.insert("epsilon".into(), RecordEpsilon::json(&self.epsilon, self.reason));
        object.insert("worst_paths".into(), json!(self.worst_paths));
        object
    }
}
