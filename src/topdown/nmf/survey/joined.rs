//! The estimates of areas with their joint covariances, and their exact totals.
//!
//! The total a of an area is a linear function of its estimate, so an exact one is a condition on normal variables: with v = Var a, any sum s
//! of the same survey becomes s + Cov(s, a) (total - a) / v, and Cov(s, t) becomes Cov(s, t) - Cov(s, a) Cov(a, t) / v. Totals are fixed one
//! after the other, each with the moments that the earlier ones left. A total affects only the first sector, in which it lies.

use std::collections::BTreeMap;

use super::{
    across::add_answers,
    opened::{StateRoot, Survey, Take},
    settings::AreaSource,
};
use crate::{
    error::{Error, Result},
    topdown::{
        gls::{
            areas::{AreaPart, Gathered, Pairs, Rests, covariance},
            belief::Belief,
            matrix::Matrix,
            problem::Problem,
        },
        nmf::{
            answers::{Answer, Areas, Subject},
            fit::AreaResidual,
            meter::{At, Meter},
        },
    },
};

/// A variance below this fraction of its terms is a rounding error of zero.
const FIXED: f64 = 1e-11;
/// The largest number of areas whose covariances are computed.
pub const MOST_AREAS: usize = 200;

/// Refuses more areas than covariances are computed for.
fn check_number(areas: usize) -> Result<()> {
    if areas > MOST_AREAS {
        let why = format!("covariances of {areas} areas or more: at most {MOST_AREAS} are computed, so name fewer");
        return Err(Error::unsuitable(why));
    }
    Ok(())
}

/// The areas in states whose estimates are not joined, or in the nation.
pub(super) struct Joined {
    pub(super) last: Belief,
    pub(super) parts: BTreeMap<u32, AreaPart>,
    rests: Rests,
    /// The exact totals, in the order in which they were fixed.
    totals: Vec<FixedTotal>,
}

/// The effect of an exact total on the first sector of the other areas.
struct FixedTotal {
    /// Its covariance with each area.
    columns: BTreeMap<u32, Vec<f64>>,
    variance: f64,
    /// By how much it is above the estimate.
    step: f64,
}

impl Joined {
    fn new(last: Belief, parts: BTreeMap<u32, AreaPart>, rests: Rests) -> Joined {
        Joined { last, parts, rests, totals: Vec::new() }
    }

    /// The estimate of an area.
    pub(super) fn belief(&self, area: u32) -> Belief {
        let mut belief = self.parts[&area].estimate(&self.last);
        if self.totals.is_empty() {
            return belief;
        }
        let at = belief.shape.range(0);
        for total in &self.totals {
            let column = &total.columns[&area];
            let steps = column.iter().map(|own| own * total.step / total.variance);
            belief.x[at.clone()].iter_mut().zip(steps).for_each(|(x, step)| *x += step);
        }
        let mut matrices = belief.covariance.to_vec();
        self.condition(&mut matrices, area, area);
        Belief { covariance: matrices.into(), ..belief }
    }

    /// The covariance of two areas, the smaller number first, sector by sector.
    pub(super) fn covariance(&self, first: u32, second: u32) -> Vec<Matrix> {
        let mut matrices = if first == second {
            self.parts[&first].estimate(&self.last).covariance.to_vec()
        } else {
            covariance(&self.last, &self.parts[&first], &self.parts[&second], self.rests.get(&(first, second)))
        };
        self.condition(&mut matrices, first, second);
        matrices
    }

    /// Subtracts what exact totals explain of the covariance of two areas.
    fn condition(&self, matrices: &mut [Matrix], first: u32, second: u32) {
        let Some(matrix) = matrices.first_mut().filter(|_| !self.totals.is_empty()) else { return };
        let size = matrix.columns;
        let before: Vec<f64> = (0..size.min(matrix.rows)).map(|at| matrix.at(at, at)).collect();
        for total in &self.totals {
            let (rows, columns) = (&total.columns[&first], &total.columns[&second]);
            for (place, entry) in matrix.entries.iter_mut().enumerate() {
                *entry -= rows[place / size] * columns[place % size] / total.variance;
            }
        }
        if first == second {
            // What the totals fix has no variance, of which rounding leaves a rest.
            let fixed: Vec<bool> = (0..size).map(|at| matrix.at(at, at) <= FIXED * before[at]).collect();
            for (place, entry) in matrix.entries.iter_mut().enumerate() {
                if fixed[place / size] || fixed[place % size] {
                    *entry = 0.0;
                }
            }
        }
    }

    /// Fixes the total of an area. Returns by how much the total before is larger, and its variance, if it was not fixed
    /// already; `Err` with the total that it has, if that is fixed and different.
    fn fix(&mut self, problem: &Problem, area: u32, total: f64) -> std::result::Result<Option<(f64, f64)>, f64> {
        let own = self.belief(area);
        let functional = problem.total_on(&own.shape);
        let with = |values: &[f64]| functional.iter().zip(values).map(|(a, x)| a * x).sum::<f64>();
        let has = with(&own.x[own.shape.range(0)]);
        let column = |other: u32| {
            let matrices = self.covariance(area.min(other), area.max(other));
            let Some(matrix) = matrices.into_iter().next() else { return Vec::new() };
            // Rows are those of the smaller number.
            let matrix = if area < other { matrix.transposed() } else { matrix };
            matrix.entries.chunks_exact(functional.len().max(1)).map(&with).collect::<Vec<f64>>()
        };
        let columns: BTreeMap<u32, Vec<f64>> = self.parts.keys().map(|other| (*other, column(*other))).collect();
        let variance = with(&columns[&area]);
        // Before any total was fixed, with which rounding errors compare.
        let before = self.parts[&area].estimate(&self.last).covariance;
        let terms: f64 = functional.iter().enumerate().map(|(at, a)| a * a * before[0].at(at, at)).sum();
        if variance <= FIXED * terms {
            // Rounding errors of a sum of millions in doubles are far below a tenth of a person.
            return if (has - total).abs() < 0.1 { Ok(None) } else { Err(has) };
        }
        self.totals.push(FixedTotal { columns, variance, step: total - has });
        Ok(Some((has - total, variance)))
    }
}

impl Survey {
    /// The parts of areas in the nation, or in each state if the nation's counts are not used; and the number of each
    /// area by name.
    pub(super) fn joined(&self, meter: &Meter) -> Result<(BTreeMap<String, u32>, Vec<Joined>)> {
        if let AreaSource::Given(given) = &self.settings.areas {
            check_number(given.names.len())?;
        }
        let mut names: BTreeMap<String, u32> = BTreeMap::new();
        let (mut joined, mut roots) = (BTreeMap::new(), BTreeMap::new());
        for state in self.states.keys() {
            let pass = self.rise_with(*state, 0, true, &Pairs::All, meter)?;
            let first = match self.settings.areas {
                AreaSource::Given(_) => 0,
                // Tabulation units lie in one state.
                AreaSource::None | AreaSource::Digits(_) => names.len() as u32,
            };
            for area in pass.areas.keys() {
                names.insert(pass.area_sets.names[*area as usize].clone(), first + area);
            }
            check_number(names.len())?;
            roots.insert(*state, StateRoot::of_pass(&pass));
            let parts = pass.areas.into_iter().map(|(area, part)| (first + area, part)).collect();
            let rests = pass.rests.into_iter().map(|((a, b), rest)| ((first + a, first + b), rest)).collect();
            joined.insert(*state, Joined::new(pass.belief, parts, rests));
        }
        let top = self.top(if self.uses_nation { roots } else { BTreeMap::new() })?;
        self.judge()?;
        let Some(nation) = top.nation else { return self.fixed(names, joined.into_values().collect()) };
        let mut gathered = Gathered::new(nation.below.shape.clone(), Pairs::All);
        for own in joined.values() {
            gathered.add(&own.last, &own.parts, &own.rests);
        }
        let (parts, rests) = gathered.join(&nation.below, nation.roots.len());
        self.fixed(names, vec![Joined::new(nation.belief, parts, rests)])
    }

    /// Fixes the exact totals of areas.
    fn fixed(
        &self,
        names: BTreeMap<String, u32>,
        mut joined: Vec<Joined>,
    ) -> Result<(BTreeMap<String, u32>, Vec<Joined>)> {
        let AreaSource::Given(areas) = &self.settings.areas else { return Ok((names, joined)) };
        let ratio = self.budgets.proxy_ratio();
        let mut residuals = Vec::new();
        for (area, total) in areas.totals() {
            let mut of_area = joined.iter_mut().filter(|own| own.parts.contains_key(&area));
            let fixed = match (of_area.next(), of_area.next()) {
                (None, _) => {
                    if total == 0 {
                        Ok(None)
                    } else {
                        Err(0.0)
                    }
                }
                (Some(own), None) => own.fix(&self.problem, area, total as f64),
                (Some(_), Some(_)) => {
                    let why =
                        "lies in several states, and only the counts of the nation, which are not used, join them";
                    return Err(areas.refuse_total(area, why));
                }
            };
            let residual = fixed.map_err(|has| {
                let why = format!(
                    "is given as {total}, and is {has:.3} by other exact totals and zeros: they contradict each other"
                );
                areas.refuse_total(area, &why)
            })?;
            residuals.extend(residual.map(|(residual, variance)| AreaResidual {
                area,
                name: areas.names[area as usize].clone(),
                residual,
                variance,
                // The parameter of the residual is at most ratio * variance.
                bounded: residual * residual / (ratio * variance),
            }));
        }
        self.judge_totals(areas, residuals)?;
        Ok((names, joined))
    }

    /// Compares the exact totals of areas with the noisy counts, before anything is written.
    pub fn compare_totals(&self, at: &At) -> Result<()> {
        match self.areas_with_totals() {
            Some(_) => self.joined(&Meter::new(at, self.work())).map(drop),
            None => Ok(()),
        }
    }

    /// The exact totals of areas, by name.
    pub fn totals_of_areas(&self) -> BTreeMap<&str, i64> {
        let Some(areas) = self.areas_with_totals() else { return BTreeMap::new() };
        areas.totals().map(|(area, total)| (areas.names[area as usize].as_str(), total)).collect()
    }

    /// The given areas, if some of them have exact totals.
    pub(super) fn areas_with_totals(&self) -> Option<&Areas> {
        match &self.settings.areas {
            AreaSource::Given(areas) => Some(areas).filter(|areas| areas.totals().next().is_some()),
            AreaSource::None | AreaSource::Digits(_) => None,
        }
    }

    /// Passes on what `run` answers: for a file of at most [`MOST_AREAS`] areas in its order, which is that of the covariances; of
    /// more areas as they come, which needs no memory for them.
    pub(in crate::topdown::nmf) fn in_order(
        &self,
        run: &mut dyn FnMut(&mut Take) -> Result<()>,
        take: &mut Take,
    ) -> Result<()> {
        let areas = match &self.settings.areas {
            AreaSource::Given(areas) if areas.names.len() <= MOST_AREAS => areas,
            AreaSource::Given(_) | AreaSource::None | AreaSource::Digits(_) => return run(take),
        };
        let mut kept: BTreeMap<usize, (Subject, Vec<Answer>)> = BTreeMap::new();
        run(&mut |subject, answers| {
            let place = areas.names.iter().position(|name| matches!(&subject, Subject::Area(own) if own == name));
            match place {
                Some(place) => {
                    kept.insert(place, (subject, answers));
                    Ok(())
                }
                None => take(subject, answers),
            }
        })?;
        kept.into_values().try_for_each(|(subject, answers)| take(subject, answers))
    }

    /// The answers for areas some of which have exact totals.
    pub(super) fn answer_with_totals(&self, areas: &Areas, take: &mut Take, at: &At) -> Result<()> {
        let (_, joined) = self.joined(&Meter::new(at, self.work()))?;
        for (area, name) in (0..).zip(&areas.names) {
            let of_area = joined.iter().filter(|own| own.parts.contains_key(&area));
            let answers = of_area.map(|own| self.answers.answers(&self.problem, &own.belief(area))).reduce(add_answers);
            let mut answers: Vec<Answer> = answers.unwrap_or_else(|| self.answers.zeros());
            if let Some(truth) = &self.settings.truth {
                self.answers.add_truth(&self.names.sizes, &truth.weighted(areas.blocks_of(area)), &mut answers);
            }
            take(Subject::Area(name.clone()), answers)?;
        }
        Ok(())
    }
}
