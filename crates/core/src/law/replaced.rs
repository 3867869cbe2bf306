//! Laws in place of a law: without sampling, rounded to a lattice, symmetric where it is not, one for all data, in the other direction.

use std::sync::Arc;

use super::{
    Changes, Law, Pair,
    likelihoods::{Direction, Likelihoods},
    responses::{Responses, Rounding},
};
use crate::error::Result;

/// One of the laws of which the data decide.
#[derive(Clone, Debug)]
pub(crate) struct Alternative {
    pub law: Law,
    pub shift: u64,
    /// How many records it takes to change one count so.
    pub records: u64,
    /// Of a perturbation table the counts of its two rows: without the records, and with them.
    pub rows: Option<[u64; 2]>,
}

impl Law {
    /// The law without the sampling of records: at most as private.
    pub(crate) fn without_sampling(&self) -> Law {
        match self {
            Law::SampledGaussian { sigma2, .. } => Law::Gaussian { sigma2: sigma2.clone() },
            Law::Sampled(sampled) => sampled.law().clone(),
            other => other.clone(),
        }
    }

    /// The exact likelihood ratios of a law whose losses have no common lattice; `None` for all others.
    pub(super) fn likelihoods(&self, shift: u64) -> Option<Likelihoods> {
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
        if let Law::Sampled(sampled) = self {
            return Some(Law::Outcomes(Arc::new(sampled.outcomes(shift, rounding, direction))));
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
            // That without sampling.
            Law::Sampled(sampled) => {
                let own = || vec![(sampled.law().clone(), shift)];
                Some(sampled.law().dominating(shift)?.unwrap_or_else(own))
            }
            _ => self.likelihoods(shift).map(|likelihoods| vec![of(&likelihoods)]),
        })
    }

    /// The laws of which the data decide: each count has one of them. Some are known between two laws, of which one is at most as private and
    /// one at least. `None` for a law that has one pair for all data.
    pub(crate) fn alternatives(&self, shift: u64, rounding: Rounding) -> Result<Option<Vec<Alternative>>> {
        let pairs = |pairs: Vec<(u64, Pair)>| {
            let of = |(records, pair)| Alternative { law: Law::Pair(Arc::new(pair)), shift: 1, records, rows: None };
            Some(pairs.into_iter().map(of).collect())
        };
        match self {
            Law::Table(table) => Ok(table.alternatives(shift)?.and_then(pairs)),
            Law::Perturbation(table) => {
                let of = |(records, rows, pair)| Alternative {
                    law: Law::Pair(Arc::new(pair)),
                    shift: 1,
                    records,
                    rows: Some(rows),
                };
                Ok(Some(table.alternatives(shift)?.into_iter().map(of).collect()))
            }
            Law::Sampled(sampled) => {
                let on_samples =
                    |one: Alternative| Alternative { law: Law::Sampled(Arc::new(sampled.with_law(one.law))), ..one };
                let all = sampled.law().alternatives(shift, rounding)?;
                Ok(all.map(|all| all.into_iter().map(on_samples).collect()))
            }
            // Of the changes by as many records the largest is the worst.
            Law::Staircase { epsilon, period, first, changes: Changes::UpTo { one } } => {
                let (epsilon, period, first) = (epsilon.clone(), *period, *first);
                let law = Law::Staircase { epsilon, period, first, changes: Changes::Exactly };
                let of = |records: u64| {
                    let shift = shift.min(records * one);
                    Alternative { law: law.clone(), shift, records, rows: None }
                };
                Ok(Some((1..=shift.div_ceil((*one).max(1))).map(of).collect()))
            }
            Law::UnknownKey(keys) => {
                let of = |(change, records)| {
                    let new = Law::Pair(Arc::new(keys.new_key(change, rounding)?));
                    let new = Alternative { law: new, shift: 1, records, rows: None };
                    Ok([new, Alternative { law: keys.noise().into(), shift: change, records, rows: None }])
                };
                let all = keys.largest_changes(shift).into_iter().map(of).collect::<Result<Vec<_>>>()?;
                Ok(Some(all.into_iter().flatten().collect()))
            }
            _ => Ok(None),
        }
    }

    /// Laws that are together at most as private as every choice of [`alternatives`](Law::alternatives), with their shifts and copies, where `changes` changes by one
    /// record are shared among counts.
    pub(crate) fn of_every_choice(&self, shift: u64, changes: u64) -> Result<Vec<(Law, u64, u64)>> {
        match self {
            Law::UnknownKey(keys) => {
                let (new, known) = keys.of_every_sharing(shift, changes)?;
                let new = new.into_iter().map(|(pair, copies)| (Law::Pair(Arc::new(pair)), 1, copies));
                Ok(new.chain([(keys.noise().into(), shift, known)]).collect())
            }
            // Of a table its dominating pair.
            _ => Ok(vec![(self.clone(), shift, changes)]),
        }
    }

    /// The same law where records change a count by these amounts up to `shift`. An error where there are too many changes to compare.
    pub(crate) fn with_changes(&self, changes: Changes, shift: u64) -> Result<Law> {
        Ok(match self {
            Law::Table(table) => Law::Table(Arc::new(table.with_changes(changes, shift)?)),
            Law::Perturbation(table) => Law::Perturbation(Arc::new(table.with_changes(changes))),
            Law::UnknownKey(keys) => Law::UnknownKey(Arc::new(keys.with_changes(changes, shift))),
            Law::Staircase { epsilon, period, first, .. } => {
                // The largest change by one record is the worst.
                let is_shared = matches!(changes, Changes::UpTo { one } if one < shift);
                let changes = if is_shared { changes } else { Changes::Exactly };
                Law::Staircase { epsilon: epsilon.clone(), period: *period, first: *first, changes }
            }
            Law::Sampled(sampled) => {
                Law::Sampled(Arc::new(sampled.with_law(sampled.law().with_changes(changes, shift)?)))
            }
            other => other.clone(),
        })
    }

    /// Whether the data decide which of several pairs a count has.
    pub(crate) fn has_alternatives(&self) -> bool {
        match self {
            Law::Table(table) => table.changes() != Changes::Exactly,
            Law::Staircase { changes, .. } => *changes != Changes::Exactly,
            Law::Perturbation(_) | Law::UnknownKey(_) => true,
            Law::Sampled(sampled) => sampled.law().has_alternatives(),
            _ => false,
        }
    }

    /// The law of two records of which one is added where the other is removed, beside its own: the same where it is symmetric.
    pub(crate) fn of_opposite_record(&self) -> Law {
        match self {
            Law::Table(table) if !table.is_mirrored() => Law::Table(Arc::new(table.reflected())),
            Law::Perturbation(table) => Law::Perturbation(Arc::new(table.reversed())),
            Law::UnknownKey(keys) => Law::UnknownKey(Arc::new(keys.reversed())),
            other => other.clone(),
        }
    }
}
