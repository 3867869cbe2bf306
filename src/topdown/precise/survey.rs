//! Estimates and variances of the counts of queries, of units and areas, in long numbers.

use std::{collections::BTreeMap, sync::Arc};

use rug::Float;

use super::{BITS, DETERMINED, PRIOR, is_exact, kept, long, shown};
use crate::{
    error::{Error, Result},
    spine::hierarchy::Tree,
    topdown::gls::{
        areas::{AreaSums, LeafShare},
        basis::Part,
        belief::Belief,
        classes::CountClass,
        pass::{Measurements, Pass, UnitCounts},
        problem::{Problem, Shapes},
        query::SectorQuery,
    },
};

/// Limit on the number of stored numbers: half a gigabyte.
const MOST_NUMBERS: usize = 1 << 22;
/// The number of units in a batch.
const BATCH: usize = 64;

/// Noisy counts on a tree.
pub trait Source: Sync {
    /// The kind of noise of a unit of a level; `None` if it has no counts.
    fn kind(&self, level: usize, unit: usize) -> Option<usize>;

    /// The variances of the queries of a level under a kind of noise.
    fn variances(&self, level: usize, kind: usize) -> &[Float];

    /// The counts of all queries of a unit.
    fn counts(&self, level: usize, unit: usize) -> Vec<f64>;

    /// The name of a unit.
    fn name(&self, level: usize, unit: usize) -> String;
}

/// The data and the answers of an estimation.
pub struct Survey<'a> {
    tree: &'a Tree,
    source: &'a dyn Source,
    problem: Problem<Float>,
    answers: Vec<Asked>,
    /// The largest variance of noise, where leaves have a prior.
    prior: Option<Float>,
}

/// A query to answer, with the class of each count.
struct Asked {
    query: SectorQuery<Float>,
    class_of: Vec<u32>,
    classes: Vec<CountClass<Float>>,
}

/// The subject of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A unit of a level.
    Unit(usize, usize),
    /// An area.
    Area(u32),
}

/// The estimates and variances of the counts of each answer.
pub type Answered = Vec<(Vec<f64>, Vec<f64>)>;

/// The number of numbers of all units of a tree, with this many of each.
fn numbers(coordinates: usize, tree: &Tree) -> usize {
    let units: usize = (0..tree.levels()).map(|level| tree.units(level)).sum();
    units.saturating_mul(coordinates)
}

/// Whether a survey with this number of coordinates of each unit is small enough.
pub fn fits(coordinates: usize, tree: &Tree) -> bool {
    numbers(coordinates, tree) <= MOST_NUMBERS
}

impl Measurements<Float> for Survey<'_> {
    fn read(&self, level: usize, take: &mut dyn FnMut(Vec<UnitCounts<Float>>) -> Result<()>) -> Result<()> {
        let has_prior = self.prior.is_some() && level + 1 == self.tree.levels();
        let is_read = |unit: &usize| has_prior || self.source.kind(level, *unit).is_some();
        let units: Vec<usize> = (0..self.tree.units(level)).filter(is_read).collect();
        let one = |unit: &usize| {
            let Some(kind) = self.source.kind(level, *unit) else {
                return UnitCounts { unit: *unit, variances: Arc::new([]), counts: Vec::new() };
            };
            let variances = self.source.variances(level, kind).iter().map(kept).collect();
            let counts = self.source.counts(level, *unit).into_iter().map(long).collect();
            UnitCounts { unit: *unit, variances, counts }
        };
        units.chunks(BATCH).try_for_each(|units| take(units.iter().map(one).collect()))
    }

    fn name(&self, level: usize, unit: usize) -> String {
        self.source.name(level, unit)
    }
}

impl<'a> Survey<'a> {
    /// Refuses a survey that is too large.
    pub fn new(
        sizes: &[usize],
        tree: &'a Tree,
        levels: &[Vec<Vec<Part>>],
        answers: &[Vec<Part>],
        source: &'a dyn Source,
    ) -> Result<Survey<'a>> {
        let problem = Problem::over(sizes, levels, answers, &vec![Part::Total; sizes.len()], true)?;
        let numbers = numbers(problem.basis.coordinates(), tree);
        if numbers > MOST_NUMBERS {
            let expected = format!(
                "at most {MOST_NUMBERS}, because their variances are too far apart for doubles, or the lowest level does not determine \
                 the requested queries: noise of more alike sizes, these queries at the lowest level as well, fewer units, or queries \
                 with fewer counts"
            );
            return Err(Error::out_of_range("the number of cells of all units together", numbers, &expected));
        }
        let asked = |parts: &Vec<Part>| {
            let query = SectorQuery::new(&problem.basis, parts);
            let (class_of, classes) = query.classes(&problem.basis);
            Asked { query, class_of, classes }
        };
        Ok(Survey { tree, source, answers: answers.iter().map(asked).collect(), problem, prior: None })
    }

    /// Gives each leaf a weak prior: the largest variance of the noise is the scale of its variance. Answers that the counts
    /// do not determine then have infinite variances.
    pub fn with_prior(mut self, largest: Float) -> Survey<'a> {
        self.problem = self.problem.with_prior(Some(Float::with_val(BITS, largest.recip_ref()) >> PRIOR));
        self.prior = Some(largest);
        self
    }

    /// Passes on the estimates of areas of leaves, and then those of the units of the requested levels, from above.
    pub fn run(
        &self,
        is_asked: &(dyn Fn(usize) -> bool + Sync),
        areas: &BTreeMap<usize, Vec<LeafShare>>,
        take: &mut dyn FnMut(Subject, Answered) -> Result<()>,
    ) -> Result<()> {
        let levels = self.tree.levels();
        let shape = Shapes::default().shape(&self.problem, &self.problem.all_free());
        let shapes: Vec<_> = (0..levels).map(|level| vec![shape.clone(); self.tree.units(level)]).collect();
        let pass = Pass { problem: &self.problem, tree: self.tree, first: 0, shapes: &shapes, measurements: self };
        let mut sums = AreaSums::new(areas.clone().into_iter().collect());
        let risen = pass.up(levels - 1, &mut sums)?;
        let no_counts = || Error::missing("the spine has no noisy counts: counts of its units are needed");
        let root = risen.root().cloned().ok_or_else(no_counts)?;
        for (area, part) in sums.of_root() {
            take(Subject::Area(area), self.answered(&part.estimate(&root)))?;
        }
        let mut found = Vec::new();
        pass.down(
            &risen,
            root,
            true,
            |level, unit, belief| {
                self.check_exact(level, unit, belief)?;
                Ok(is_asked(level).then(|| ((level, unit), self.answered(belief))))
            },
            |answered| {
                found.extend(answered);
                Ok(())
            },
        )?;
        found.sort_unstable_by_key(|(unit, _)| *unit);
        found.into_iter().try_for_each(|((level, unit), answered)| take(Subject::Unit(level, unit), answered))
    }

    fn answered(&self, belief: &Belief<Float>) -> Answered {
        let x = self.problem.expand(&belief.shape, &belief.x);
        let most = self.prior.as_ref().map(|largest| Float::with_val(BITS, largest << DETERMINED));
        let variance = |class: &CountClass<Float>| {
            let variance = self.problem.variance(class, &belief.shape, &belief.covariance);
            match &most {
                Some(most) if variance > *most => f64::INFINITY,
                _ => shown(&variance),
            }
        };
        let answer = |asked: &Asked| {
            let variances: Vec<f64> = asked.classes.iter().map(variance).collect();
            let estimates = asked.query.answer(&x).iter().map(Float::to_f64).collect();
            (estimates, asked.class_of.iter().map(|class| variances[*class as usize]).collect())
        };
        self.answers.iter().map(answer).collect()
    }

    /// Refuses counts that are treated as exact and contradict each other: estimates would not reproduce them. Sectors
    /// without a part in the answers are not checked.
    fn check_exact(&self, level: usize, unit: usize, belief: &Belief<Float>) -> Result<()> {
        let Some(kind) = self.source.kind(level, unit) else { return Ok(()) };
        let variances = self.source.variances(level, kind);
        if !variances.iter().any(is_exact) {
            return Ok(());
        }
        let x = self.problem.expand(&belief.shape, &belief.x);
        let counts = self.source.counts(level, unit);
        let mut start = 0;
        for (query, variance) in self.problem.queries(level).zip(variances) {
            let own = &counts[start..start + query.counts()];
            start += own.len();
            if !is_exact(variance) || !query.is_complete {
                continue;
            }
            let kept = query.answer(&x);
            if let Some((count, kept)) =
                own.iter().zip(&kept).find(|(own, kept)| Float::with_val(BITS, *kept - **own).abs() > 1e-6)
            {
                return Err(Error::conflict(format!(
                    "a count of {} is {count}, and {:.3} by other counts: the noise of both is far too small for that, so they are not of one \
                     measurement",
                    self.source.name(level, unit),
                    kept.to_f64()
                )));
            }
        }
        Ok(())
    }
}
