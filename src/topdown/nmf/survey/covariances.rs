//! The covariances of the requested counts of areas: a pass upwards through each state.
//!
//! If the nation's counts are used, the parts of areas in the states are joined under the nation, and so the counts of
//! areas in different states are correlated. Otherwise states are independent.

use super::{joined::Joined, opened::Survey, settings::AreaSource};
use crate::{
    error::{Error, Result},
    topdown::{
        gls::classes::CountPair,
        nmf::meter::{At, Meter},
    },
};

/// The largest number of counts whose covariances are computed.
pub const MOST_COUNTS: usize = 2_000;

/// A count of an area.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CountName {
    /// The area.
    pub area: String,
    /// The query or line.
    pub query: usize,
    /// The number of its cell.
    pub cell: usize,
}

/// Counts with their covariances.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Covariances {
    /// The counts, area by area.
    pub counts: Vec<CountName>,
    /// Their estimates.
    pub estimates: Vec<f64>,
    /// Their covariances, row by row.
    pub matrix: Vec<Vec<f64>>,
}

impl Survey {
    /// The covariances of all requested counts of all requested areas.
    pub fn covariances(&self, at: &At) -> Result<Covariances> {
        if matches!(self.settings.areas, AreaSource::None) || self.whole.is_some() {
            return Err(Error::unsuitable("covariances are those of estimates of areas or tabulation units"));
        }
        let (names, joined) = self.joined(&Meter::new(at, self.work()))?;
        let areas: Vec<(&String, u32)> = match &self.settings.areas {
            // An area without blocks in the data is zero, as in the estimates.
            AreaSource::Given(given) => given.names.iter().zip(0..).collect(),
            AreaSource::None | AreaSource::Digits(_) => names.iter().map(|(name, area)| (name, *area)).collect(),
        };
        let cells = self.answers.cells();
        if areas.len() * cells.len() > MOST_COUNTS {
            let why = format!("{} counts of {} areas", cells.len(), areas.len());
            return Err(Error::unsuitable(format!("{why} are more than {MOST_COUNTS}: name fewer variables or areas")));
        }
        let sets: Vec<Vec<Vec<bool>>> =
            cells.iter().map(|(query, cell)| self.answers.selected(&self.names.sizes, *query, *cell)).collect();
        let counts = |(name, _): &(&String, u32)| {
            let area = (*name).clone();
            cells
                .iter()
                .map(move |(query, cell)| CountName { area: area.clone(), query: *query, cell: *cell })
                .collect::<Vec<_>>()
        };
        let size = areas.len() * cells.len();
        let mut result = Covariances {
            counts: areas.iter().flat_map(counts).collect(),
            estimates: vec![0.0; size],
            matrix: vec![vec![0.0; size]; size],
        };
        let pairs: Vec<Vec<CountPair>> = sets
            .iter()
            .map(|first| sets.iter().map(|second| CountPair::of_sets(&self.problem.basis, first, second)).collect())
            .collect();
        for own in &joined {
            let here: Vec<(usize, u32)> = (areas.iter().map(|(_, area)| *area).enumerate())
                .filter(|(_, area)| own.parts.contains_key(area))
                .collect();
            for (at, area) in &here {
                let answers = self.answers.answers(&self.problem, &own.belief(*area));
                for (cell, (query, number)) in cells.iter().enumerate() {
                    result.estimates[at * cells.len() + cell] += answers[*query].estimates[*number];
                }
            }
            self.add_covariances(own, &here, &pairs, &mut result.matrix);
        }
        Ok(result)
    }

    fn add_covariances(&self, own: &Joined, here: &[(usize, u32)], pairs: &[Vec<CountPair>], matrix: &mut [Vec<f64>]) {
        let cells = pairs.len();
        for (place, (at, first)) in here.iter().enumerate() {
            for (other, second) in &here[place..] {
                // The smaller number comes first.
                let matrices = own.covariance(*first.min(second), *first.max(second));
                let in_order = first <= second;
                for a in 0..cells {
                    for b in 0..cells {
                        let pair = if in_order { &pairs[a][b] } else { &pairs[b][a] };
                        let value = self.problem.covariance(pair, &own.last.shape, &matrices);
                        matrix[at * cells + a][other * cells + b] += value;
                        if first != second {
                            matrix[other * cells + b][at * cells + a] += value;
                        }
                    }
                }
            }
        }
    }
}
