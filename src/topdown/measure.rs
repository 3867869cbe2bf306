//! The mechanism on a spine: every query group of every unit with exact noise (Cumings-Menon et al., Theorems 1 and 3).
//!
//! Unit u of level l answers the query groups of its level, and each count of group i gets independent noise
//!
//! - N_Z(0, f / (rho gamma\[l, u\] alpha\[i, l\])), f = 1 if neighbors differ in a changed record and 1/2 if in an
//!   added one;
//! - or the discrete Laplace of scale 2 / (epsilon gamma\[l, u\] alpha\[i, l\]), or half of it.
//!
//! gamma\[l, u\] is the share that the unit carries after bypassing; a unit without a share has no counts. A record
//! lies in one unit of each level and changes one count of each group there (a changed record two). So its budget is
//! that of the units on the path to its block, and the shares of every path sum to 1: this is Theorem 3.
//! [`MeasurementPlan::account`] is the exact account, from the noise laws actually used: counts that cannot differ between neighbors, such as
//! the nation's total under a changed record, are not in it. The budget, as in [`MeasurementPlan::worst_path`], charges them like the others.

use std::{collections::HashMap, sync::Arc};

use rayon::prelude::*;
use rug::Rational;

use super::histograms::Histograms;
use crate::{
    account::{Composition, Counts, paths::WorstPath},
    error::{Error, Result},
    loss::{family::Units, law::Law},
    noise::{Distribution, Source, Streams, VectorMechanism},
    numeric::{Enclosure, enclosure},
    release::{
        Neighbors, Query, Release,
        schema::{QueryGroup, Schema},
    },
    spine::{
        bypass::{Privacy, Spine},
        records::{self, LevelCounts, RecordAccount},
        spine_files::SavedSpine,
    },
};

/// About this number of counts is drawn from one stream. The parts depend only on the spine and the queries.
const PART: usize = 1 << 16;
/// Maximum number of parts held in memory at a time.
const PARTS: usize = 64;

/// Query groups with noise for each level of a spine.
#[derive(Debug)]
pub struct MeasurementPlan<'a> {
    spine: &'a Spine,
    neighbors: Neighbors,
    cells: usize,
    levels: Vec<Vec<PlannedQuery>>,
    /// Why no record may change all counts that are charged for it; `None` if one does.
    reason: Option<&'static str>,
}

/// A query group of a level.
#[derive(Debug)]
pub struct PlannedQuery {
    /// The query group, shared by all levels that use it.
    pub group: Arc<QueryGroup>,
    /// The noise of a unit, indexed by the number of levels whose shares it carries; `None` for numbers that do not
    /// occur.
    noise: Vec<Option<VectorMechanism>>,
}

/// Noisy counts of one query group in consecutive measured units of a level.
#[derive(Debug)]
pub struct NoisyCounts<'m> {
    /// The level.
    pub level: usize,
    /// The number of the query group in its level.
    pub query: usize,
    /// The units: some of those that carry a share, in order.
    pub units: &'m [u32],
    /// The noisy counts of the units, one unit after the other.
    pub values: Vec<i64>,
}

/// The schema of a release for which noise can be drawn on a spine.
fn checked_schema(spine: &Spine, release: &Release) -> Result<Schema> {
    // Refuses levels or shares that differ from those of the spine.
    spine.release(release)?;
    if release.budget_only {
        return Err(Error::BudgetOnly { release: release.name.clone() });
    }
    let queries = release.levels.iter().flat_map(|level| &level.queries);
    if let Some(query) = queries.clone().find(|query| query.times != 1 || query.cells != 1 || query.shift != 1) {
        let given = format!("{} times, {} cells, sensitivity {}", query.times, query.cells, query.shift);
        let needed = "noise is drawn for queries in which a record has one cell and changes it by 1";
        return Err(Error::unsuitable(format!("{} has {given}: {needed}", query_of(release, &query.name))));
    }
    Ok(release.schema.clone().unwrap_or_default())
}

fn query_of(release: &Release, query: &str) -> String {
    format!("the query {query:?} of {}", release.name)
}

fn query_group(release: &Release, schema: &Schema, query: &str) -> Result<QueryGroup> {
    schema.group(query).map_err(|why| match why {
        Error::Conflict { why } => Error::conflict(format!("{}: {why}", release.name)),
        other => other,
    })
}

impl PlannedQuery {
    /// The noise law of units that carry the shares of `carried` levels, if there are such units.
    pub fn law(&self, carried: usize) -> Option<&Law> {
        self.noise.get(carried)?.as_ref().map(VectorMechanism::law)
    }
}

impl<'a> MeasurementPlan<'a> {
    /// The release drawn on a saved spine, with the noise for which the spine was built: under zCDP that of the release
    /// itself, under pure differential privacy discrete Laplace noise that spends `epsilon` by the release's shares.
    pub fn on_saved(saved: &'a SavedSpine, release: &Release, epsilon: Option<&Rational>) -> Result<Self> {
        match (saved.privacy, epsilon) {
            (Privacy::Concentrated, None) => MeasurementPlan::of_release(&saved.spine, release),
            (Privacy::Pure { .. }, Some(epsilon)) => MeasurementPlan::pure_of_release(&saved.spine, release, epsilon),
            (Privacy::Concentrated, Some(_)) => {
                Err(saved.refuse_privacy("the noise is that of the release, which has a rho and no pure epsilon"))
            }
            (Privacy::Pure { .. }, None) => Err(saved.refuse_privacy(&format!(
                "a pure epsilon has to be given, because the budget of the release {} is a rho of zCDP",
                release.name
            ))),
        }
    }

    /// The release drawn on a spine with its levels and shares. Each level has the queries that the release names,
    /// evaluated over the release's own schema.
    pub fn of_release(spine: &'a Spine, release: &Release) -> Result<Self> {
        let schema = checked_schema(spine, release)?;
        let mut groups: HashMap<String, Arc<QueryGroup>> = HashMap::new();
        let mut levels = Vec::with_capacity(release.levels.len());
        for level in &release.levels {
            let asked = level.queries.iter().map(|query| {
                // The level's own rho gave sigma2; the rho of a run of levels gives proportionally less noise.
                let sigma2 = Rational::from(query.sigma2()? * &level.rho) / &release.rho;
                let law = move |share: &Rational| Law::DiscreteGaussian { sigma2: Rational::from(&sigma2 / share) };
                let group = match groups.get(&query.name) {
                    Some(known) => known.clone(),
                    None => Arc::new(query_group(release, &schema, &query.name)?),
                };
                groups.insert(query.name.clone(), group.clone());
                Ok((group, law))
            });
            levels.push(asked.collect::<Result<Vec<_>>>()?);
        }
        MeasurementPlan::new(spine, release.neighbors, &schema, levels)
    }

    /// Pure differential privacy with the queries of a release: `epsilon` is divided among levels and queries in the
    /// same proportions as the release's rho.
    pub fn pure_of_release(spine: &'a Spine, release: &Release, epsilon: &Rational) -> Result<Self> {
        let schema = checked_schema(spine, release)?;
        let mut queries = Vec::with_capacity(release.levels.len());
        for level in &release.levels {
            for query in &level.queries {
                // An error names the release.
                query_group(release, &schema, &query.name)?;
            }
            let share = |query: &Query| (query.name.clone(), Rational::from(&query.rho / &level.rho));
            queries.push(level.queries.iter().map(share).collect());
        }
        MeasurementPlan::pure(spine, &schema, release.neighbors, epsilon, &queries)
    }

    /// Pure differential privacy by discrete Laplace noise (Theorem 3, first part): for each level the names of query
    /// groups with their shares of the level, which sum to 1.
    pub fn pure(
        spine: &'a Spine,
        schema: &Schema,
        neighbors: Neighbors,
        epsilon: &Rational,
        queries: &[Vec<(String, Rational)>],
    ) -> Result<Self> {
        let changed = if neighbors == Neighbors::Bounded { 2_u32 } else { 1 };
        let mut levels = Vec::with_capacity(queries.len());
        for level in queries {
            let sum = level.iter().fold(Rational::new(), |sum, (_, share)| sum + share);
            if sum != 1 || level.iter().any(|(_, share)| *share <= 0) {
                return Err(Error::out_of_range(
                    "the shares of the queries of a level",
                    sum,
                    "each above 0, together 1",
                ));
            }
            let asked = level.iter().map(|(name, share)| {
                let epsilon = Rational::from(epsilon * share) / changed;
                let law = move |share: &Rational| Law::DiscreteLaplace { epsilon: Rational::from(&epsilon * share) };
                Ok((Arc::new(schema.group(name)?), law))
            });
            levels.push(asked.collect::<Result<Vec<_>>>()?);
        }
        MeasurementPlan::new(spine, neighbors, schema, levels)
    }

    fn new(
        spine: &'a Spine,
        neighbors: Neighbors,
        schema: &Schema,
        queries: Vec<Vec<(Arc<QueryGroup>, impl Fn(&Rational) -> Law)>>,
    ) -> Result<Self> {
        let levels = spine.tree.levels();
        if queries.len() != levels {
            let given = queries.len();
            return Err(Error::conflict(format!(
                "queries of {given} levels for a spine of {levels}: each level needs its queries"
            )));
        }
        for queries in &queries {
            let twice = (queries.iter().enumerate())
                .find(|(at, (group, _))| queries[..*at].iter().any(|(other, _)| other.name == group.name));
            if let Some((_, (group, _))) = twice {
                return Err(Error::conflict(format!(
                    "the query {:?} occurs twice in a level: name each once",
                    group.name
                )));
            }
        }
        let mut asked = Vec::with_capacity(levels);
        for (level, queries) in queries.into_iter().enumerate() {
            let mut shares: Vec<Option<Rational>> = vec![None; levels - level + 1];
            for unit in 0..spine.tree.units(level) {
                let carried = spine.carried(level, unit);
                if carried > 0 && shares[carried].is_none() {
                    shares[carried] = Some(spine.share(level, unit));
                }
            }
            let noised = queries.into_iter().map(|(group, law)| {
                let noise =
                    shares.iter().map(|share| share.as_ref().map(|share| VectorMechanism::new(law(share))).transpose());
                Ok(PlannedQuery { group, noise: noise.collect::<Result<_>>()? })
            });
            asked.push(noised.collect::<Result<Vec<_>>>()?);
        }
        let names = asked.iter().flatten().map(|asked| asked.group.name.as_str());
        let reason = records::reason_of(schema, names)?;
        Ok(MeasurementPlan { spine, neighbors, cells: schema.all_cells(), levels: asked, reason })
    }

    /// The query groups of each level.
    pub fn levels(&self) -> &[Vec<PlannedQuery>] {
        &self.levels
    }

    /// The spine.
    pub fn spine(&self) -> &Spine {
        self.spine
    }

    /// The measured units of a level: those that carry a share.
    pub fn measured(&self, level: usize) -> Vec<u32> {
        let units = 0..self.spine.tree.units(level);
        units.filter(|unit| self.spine.carried(level, *unit) > 0).map(|unit| unit as u32).collect()
    }

    /// The number of noisy counts.
    pub fn counts(&self) -> u64 {
        let level = |level: usize| {
            let each: usize = self.levels[level].iter().map(|asked| asked.group.counts()).sum();
            self.measured(level).len() as u64 * each as u64
        };
        (0..self.levels.len()).map(level).sum()
    }

    /// The smallest ratio of the variance of a noise to that of its continuous counterpart (sigma2, or 2 / epsilon^2),
    /// over all noise laws used: at most 1, and close to 1 unless the noise is small.
    pub fn least_ratio(&self, digits: u32) -> Result<Enclosure> {
        let bits = 64 + 4 * digits;
        let mut seen: Vec<&Law> = Vec::new();
        let mut least = Enclosure::double(1.0, bits);
        for noise in self.levels.iter().flatten().flat_map(|asked| asked.noise.iter().flatten()) {
            let law = noise.law();
            if seen.contains(&law) {
                continue;
            }
            seen.push(law);
            let proxy = law.precision_approx().recip();
            let ratio = Distribution::of_law(law)?.variance(digits).div(&Enclosure::rational(&proxy, bits));
            let lower = enclosure::smaller(least.lower(), ratio.lower());
            least = Enclosure::new(lower, enclosure::smaller(least.upper(), ratio.upper()));
        }
        Ok(least)
    }

    /// The budget that one record spends on each path of the spine, in the order of [`Spine::paths`].
    pub fn paths(&self) -> Result<Vec<Composition>> {
        let path = |carried: &[usize]| {
            let asked =
                carried.iter().zip(&self.levels).flat_map(|(carried, asked)| asked.iter().map(move |a| (a, *carried)));
            let noise = asked.filter_map(|(asked, carried)| asked.noise[carried].as_ref());
            Composition::new(noise.map(|noise| noise.counts(1, 1)).collect::<Result<Vec<Counts>>>()?)
        };
        self.spine.paths()?.iter().map(|kind| path(&kind.carried)).collect()
    }

    /// The epsilon of pure differential privacy of all the noisy counts together; `None` if some noise is Gaussian.
    pub fn pure_epsilon(&self) -> Result<Option<Rational>> {
        // A changed record leaves one path and enters another.
        let sides = if self.neighbors == Neighbors::Bounded { 2_u32 } else { 1 };
        let paths = self.paths()?;
        let epsilons: Option<Vec<Rational>> = paths.iter().map(Composition::pure_epsilon).collect();
        Ok(epsilons.and_then(|epsilons| epsilons.into_iter().max()).map(|most| most * sides))
    }

    /// The privacy of all the noisy counts together: the worst record, or the worst pair of records if one changes.
    pub fn account(&self) -> Result<RecordAccount> {
        let of_level = |(carried, asked): (&usize, &Vec<PlannedQuery>)| {
            let mut level = LevelCounts::default();
            for (query, noise) in asked.iter().filter_map(|query| Some((query, query.noise[*carried].as_ref()?))) {
                let own = if query.group.counts() == 1 { &mut level.single } else { &mut level.several };
                own.push(noise.counts(1, 1)?);
            }
            Ok(level)
        };
        let of_path = |carried: &[usize]| carried.iter().zip(&self.levels).map(of_level).collect();
        let kinds = self.spine.paths()?;
        let paths = kinds.iter().map(|kind| of_path(&kind.carried)).collect::<Result<Vec<_>>>()?;
        RecordAccount::new(self.spine, self.neighbors, &paths, self.reason)
    }

    /// The worst path, or pair of paths if a record changes, each in full: the budget, and an upper bound on the privacy.
    pub fn worst_path(&self) -> Result<WorstPath> {
        let units = if self.neighbors == Neighbors::Bounded { Units::Pairs } else { Units::Single };
        WorstPath::new(self.paths()?, units)
    }

    /// Draws all noisy counts, level by level and query by query; the units of a level in order. `each` computes a
    /// result from every part, on all cores, and `take` receives the results in order. Under an insecure seed the
    /// counts are the same for any number of cores.
    pub fn measure<T: Send>(
        &self,
        histograms: &Histograms,
        streams: &mut Streams,
        each: impl Fn(NoisyCounts) -> Result<T> + Sync,
        mut take: impl FnMut(usize, usize, T) -> Result<()>,
    ) -> Result<()> {
        for level in 0..self.levels.len() {
            let units = self.measured(level);
            for (query, asked) in self.levels[level].iter().enumerate() {
                let parts: Vec<&[u32]> = units.chunks((PART / asked.group.counts()).max(1)).collect();
                for parts in parts.chunks(parts_at_a_time(asked.group.counts())) {
                    let sources: Vec<Source> = parts.iter().map(|_| streams.take()).collect();
                    let made: Vec<T> = (parts.par_iter().zip(sources))
                        .map(|(units, mut source)| {
                            let values = self.noisy(level, asked, units, histograms, &mut source)?;
                            each(NoisyCounts { level, query, units, values })
                        })
                        .collect::<Result<_>>()?;
                    for made in made {
                        take(level, query, made)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Draws the noisy counts of some units of a level, all queries of a unit together. `take` receives batches of
    /// units in order, with the counts of each query. Under an insecure seed the counts are the same for any number of
    /// cores.
    pub fn measure_units(
        &self,
        level: usize,
        units: &[u32],
        histograms: &Histograms,
        streams: &mut Streams,
        mut take: impl FnMut(&[u32], Vec<Vec<i64>>) -> Result<()>,
    ) -> Result<()> {
        let asked = &self.levels[level];
        let each: usize = asked.iter().map(|asked| asked.group.counts()).sum();
        let parts: Vec<&[u32]> = units.chunks((PART / each.max(1)).max(1)).collect();
        for parts in parts.chunks(parts_at_a_time(each)) {
            let sources: Vec<Source> = parts.iter().map(|_| streams.take()).collect();
            let drawn: Vec<Vec<Vec<i64>>> = (parts.par_iter().zip(sources))
                .map(|(units, mut source)| {
                    asked.iter().map(|asked| self.noisy(level, asked, units, histograms, &mut source)).collect()
                })
                .collect::<Result<_>>()?;
            for (units, values) in parts.iter().zip(drawn) {
                take(units, values)?;
            }
        }
        Ok(())
    }

    fn noisy(
        &self,
        level: usize,
        asked: &PlannedQuery,
        units: &[u32],
        histograms: &Histograms,
        source: &mut Source,
    ) -> Result<Vec<i64>> {
        let counts = asked.group.counts();
        let mut values = vec![0; units.len() * counts];
        for (unit, values) in units.iter().zip(values.chunks_mut(counts)) {
            histograms.add_answers(&asked.group, self.spine.tree.blocks(level, *unit as usize), values);
        }
        let carried = |unit: &u32| self.spine.carried(level, *unit as usize);
        let mut rest = &mut values[..];
        let mut noise = Vec::new();
        for run in units.chunk_by(|a, b| carried(a) == carried(b)) {
            let (now, later) = rest.split_at_mut(run.len() * counts);
            noise.resize(now.len(), 0);
            if let Some(mechanism) = &asked.noise[carried(&run[0])] {
                mechanism.sampler().fill(&mut noise, source);
            }
            for (position, (value, noise)) in now.iter_mut().zip(&noise).enumerate() {
                *value = value.checked_add(*noise).ok_or(Error::Overflow { position, count: *value })?;
            }
            rest = later;
        }
        Ok(values)
    }

    /// The number of cells of the histogram, or of both histograms together.
    pub fn cells(&self) -> usize {
        self.cells
    }
}

/// The number of parts drawn together, for units with `counts` counts: a unit of the DHC takes 15 MB, so at most one
/// per core. The stream of a part does not depend on it.
fn parts_at_a_time(counts: usize) -> usize {
    (PART * PARTS / counts.max(PART)).max(rayon::current_num_threads().min(8)).min(PARTS)
}
