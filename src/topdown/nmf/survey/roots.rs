//! The contribution of a state to the nation, as a file: numbers as their bits, so that nothing is rounded.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{StateRoot, Survey};
use crate::topdown::{
    gls::{belief::Belief, matrix::Matrix},
    nmf::saved::{bits, numbers},
    whole::family::{Bound, BoundGroups},
};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    free: Vec<u64>,
    x: Vec<u64>,
    covariance: Vec<Vec<u64>>,
    bounds: Vec<Bound>,
    bound_groups: Option<(Vec<u32>, usize)>,
}

impl StateRoot {
    /// The contribution as text.
    pub(in crate::topdown::nmf) fn to_text(&self) -> String {
        let groups = self.bound_groups.as_ref();
        let saved = Saved {
            free: self.free.words().to_vec(),
            x: bits(&self.belief.x),
            covariance: self.belief.covariance.iter().map(|matrix| bits(&matrix.entries)).collect(),
            bounds: self.bounds.clone(),
            bound_groups: groups.map(|groups| (groups.of_point.clone(), groups.count)),
        };
        // Plain numbers in lists can always be serialized.
        serde_json::to_string(&saved).unwrap_or_default()
    }
}

impl Survey {
    /// The contribution from text; an error message if it is not of this survey.
    pub(in crate::topdown::nmf) fn read_root(&self, text: &str) -> std::result::Result<StateRoot, String> {
        let saved: Saved = serde_json::from_str(text).map_err(|why| why.to_string())?;
        let wrong = || "is not of the queries and constraints of this job".to_string();
        let free = self.problem.all_free().of_words(saved.free).ok_or_else(wrong)?;
        let shape = self.shape(&free);
        let fits = saved.x.len() == shape.len() && saved.covariance.len() == shape.sizes().count();
        let fits = fits && saved.covariance.iter().zip(shape.sizes()).all(|(own, size)| own.len() == size * size);
        if !fits {
            return Err(wrong());
        }
        let matrix =
            |(entries, size): (Vec<u64>, usize)| Matrix { rows: size, columns: size, entries: numbers(entries) };
        let covariance = saved.covariance.into_iter().zip(shape.sizes()).map(matrix).collect();
        let belief = Belief { x: numbers(saved.x), covariance: Arc::new(covariance), shape: shape.clone() };
        let bound_groups = saved.bound_groups.map(|(of_point, count)| BoundGroups { of_point, count });
        Ok(StateRoot { belief, free, bounds: saved.bounds, bound_groups })
    }
}
