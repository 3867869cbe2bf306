//! Laws in place of a law: without sampling, rounded to a lattice, symmetric where it is not, one for all data, in the other direction.

use std::sync::Arc;

use super::{
    Law,
    likelihoods::{Direction, Likelihoods},
    responses::{Responses, Rounding},
};
use crate::error::Result;

impl Law {
    /// The law without the sampling of records: at most as private.
    pub(crate) fn without_sampling(&self) -> Law {
        match self {
            Law::SampledGaussian { sigma2, .. } => Law::Gaussian { sigma2: sigma2.clone() },
            other => other.clone(),
        }
    }

    /// The exact likelihood ratios of a law whose losses have no common lattice; `None` for all others.
    fn likelihoods(&self, shift: u64) -> Option<Likelihoods> {
        match self {
            Law::Table(table) => Some(table.likelihoods(shift)),
            Law::Pair(pair) => Some(pair.likelihoods().clone()),
            // The dominating pair of all rows.
            Law::Perturbation(table) => Some(table.envelope(shift)),
            _ => None,
        }
    }

    /// The law of the losses of one direction, rounded to a lattice, for a law whose own losses have none; `None` for all others.
    pub(crate) fn rounded(&self, shift: u64, rounding: Rounding, direction: Direction) -> Option<Law> {
        if let Some(uniform) = self.uniform(shift) {
            return Some(Law::Responses(Arc::new(Responses::of_uniform(&uniform, rounding))));
        }
        let likelihoods = self.likelihoods(shift)?;
        Some(match self.is_symmetric() {
            true => Law::Responses(Arc::new(likelihoods.responses(rounding))),
            false => Law::Outcomes(Arc::new(likelihoods.towards(direction).outcomes(rounding))),
        })
    }

    /// Symmetric laws that are together at most as private, for a law that is not symmetric, with their shifts; `None` for all others.
    pub(crate) fn dominating(&self, shift: u64) -> Result<Option<Vec<(Law, u64)>>> {
        if self.is_symmetric() {
            return Ok(None);
        }
        let of = |likelihoods: &Likelihoods| (Law::Responses(Arc::new(likelihoods.dominating())), 1);
        Ok(match self {
            // Both a new key and a known one.
            Law::UnknownKey(keys) => {
                let new = keys.new_key(shift, Rounding::Up)?;
                Some(vec![of(new.likelihoods()), (keys.noise().into(), shift)])
            }
            _ => self.likelihoods(shift).map(|likelihoods| vec![of(&likelihoods)]),
        })
    }

    /// The laws of which the data decide, with their shifts: each count has one of them. Some are known between two laws, of which one is at most as private and
    /// one at least. `None` for a law that has one pair for all data.
    pub(crate) fn alternatives(&self, shift: u64, rounding: Rounding) -> Result<Option<Vec<(Law, u64)>>> {
        match self {
            Law::Perturbation(table) => {
                let pairs = table.alternatives(shift)?;
                Ok(Some(pairs.into_iter().map(|pair| (Law::Pair(Arc::new(pair)), 1)).collect()))
            }
            Law::UnknownKey(keys) => {
                let new = Law::Pair(Arc::new(keys.new_key(shift, rounding)?));
                Ok(Some(vec![(new, 1), (keys.noise().into(), shift)]))
            }
            _ => Ok(None),
        }
    }

    /// The law of two records of which one is added where the other is removed, beside its own: the same where it is symmetric.
    pub(crate) fn of_opposite_record(&self) -> Law {
        match self {
            Law::Table(table) if !table.is_symmetric() => Law::Table(Arc::new(table.reflected())),
            Law::Perturbation(table) => Law::Perturbation(Arc::new(table.reversed())),
            Law::UnknownKey(keys) => Law::UnknownKey(Arc::new(keys.reversed())),
            other => other.clone(),
        }
    }
}
