//! The variances of the least-squares estimates of units' totals, from all noisy counts together, recodes included.
//!
//! A total lies in the sector in which all attributes are even. The variance is computed there with the given numbers: in
//! [enclosures](crate::numeric::Enclosure) it is certified, in fractions exact.

use rug::Rational;

use super::{
    function,
    walk::{Belief, Walk, walk},
};
use crate::{
    error::{Error, Result},
    numeric::Enclosure,
    release::schema::Schema,
    topdown::{
        gls::basis::{Basis, CountedSums, Part},
        level_variances::LevelVariances,
        measure::MeasurementPlan,
        nmf::names::parts_of,
        variance::Quantity,
    },
};

/// The variances of the totals of all units, for noise with the variance proxies of its laws.
pub struct TotalVariances<Q> {
    final_of: Vec<Vec<u32>>,
    finals: Vec<Q>,
    /// The number of measured units of each level.
    measured: Vec<u64>,
}

impl<Q: Quantity> TotalVariances<Q> {
    /// From the noise of a plan over one histogram. Refused if the counts do not determine some unit's total.
    pub fn new(plan: &MeasurementPlan, schema: &Schema) -> Result<TotalVariances<Q>> {
        let sizes: Vec<usize> = schema.attributes.iter().map(|attribute| attribute.values.len()).collect();
        let of_level = |level: &Vec<crate::topdown::measure::PlannedQuery>| {
            level.iter().map(|query| parts_of(schema, &query.group.name)).collect::<Result<Vec<_>>>()
        };
        let levels = plan.levels().iter().map(of_level).collect::<Result<Vec<_>>>()?;
        let total = [vec![Part::Total; sizes.len()]];
        let queries = levels.iter().flatten().chain(&total).map(Vec::as_slice);
        let basis = Basis::new(&sizes, queries, &total[0], Some(&total))?;
        // Only the sector of even functions has a part in the total.
        let rows = basis.rows().next().unwrap_or(0);
        let sums: Vec<Vec<CountedSums>> =
            levels.iter().map(|level| level.iter().map(|parts| basis.sums(0, parts)).collect()).collect();
        let belief = |level: usize, carried: usize| {
            let mut counts = Vec::new();
            for (query, sums) in plan.levels()[level].iter().zip(&sums[level]) {
                let Some(law) = query.law(carried) else { continue };
                let precision = law.precision_approx();
                // The sum of n counts has n times their variance.
                let one = |(own, shares): &(Vec<usize>, u64)| {
                    (function(rows, own), Q::fraction(&Rational::from(&precision / *shares)))
                };
                counts.extend(sums.iter().map(one));
            }
            Belief::of_counts(rows, &counts)
        };
        let spine = plan.spine();
        let carried = |level: usize, unit: usize| spine.carried(level, unit);
        let Walk { final_of, finals } = walk::<Q>(&spine.tree, rows, &carried, &belief, false);
        let total = vec![Rational::from(1); rows];
        let variance = |belief: &Belief<Q>| belief.space.contains(&total).then(|| belief.variance(&total));
        let finals = finals.iter().map(variance).collect::<Option<Vec<Q>>>();
        let finals =
            finals.ok_or_else(|| Error::unsuitable("the noisy counts do not determine the total of every unit"))?;
        let measured = (0..final_of.len()).map(|level| plan.measured(level).len() as u64).collect();
        Ok(TotalVariances { final_of, finals, measured })
    }

    /// The variance of a unit's total.
    pub fn unit(&self, level: usize, unit: usize) -> &Q {
        &self.finals[self.final_of[level][unit] as usize]
    }
}

impl TotalVariances<Enclosure> {
    /// The least, the mean and the largest variance of a level.
    pub fn of_level(&self, level: usize) -> LevelVariances {
        let mut numbers = self.final_of[level].clone();
        numbers.sort_unstable();
        let counted: Vec<(&Enclosure, u64)> =
            numbers.chunk_by(|a, b| a == b).map(|run| (&self.finals[run[0] as usize], run.len() as u64)).collect();
        LevelVariances::of_variances(&counted, self.measured[level], None)
    }
}
