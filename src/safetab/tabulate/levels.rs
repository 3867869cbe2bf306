//! The population group levels of a run: their noise, thresholds, key sets and suppression.

use std::sync::Arc;

use rug::Rational;

use crate::{
    error::{Error, Result},
    loss::law::Law,
    noise::Sampler,
    safetab::{
        cell_noise::{CellNoise, NoiseKind},
        groups::{Specification, TabulatedIteration},
        memberships::Memberships,
        places::PlaceSample,
        schema::{Geography, IterationLevel, Privacy, RegionType, SafeTabConfig},
        suppression::Suppression,
    },
};

/// The noise of one count: its law and its margin of error.
#[derive(Clone, Debug)]
pub struct CountNoise {
    /// The law of the noise on one count.
    pub law: Law,
    /// The smallest m with `P[|X| <= m]` >= 95 %, exactly.
    pub margin: i64,
}

/// A population group level: one type of region with one level of characteristic iterations.
#[derive(Clone, Debug)]
pub struct TabulatedLevel {
    /// The type of region.
    pub region_type: RegionType,
    /// The level of the iterations.
    pub level: IterationLevel,
    /// The budget of the level: rho, or epsilon under pure differential privacy.
    pub budget: Rational,
    /// Upper bound on the number of groups of the level that a person belongs to.
    pub stability: u32,
    /// The noise of the total of a detailed-only group, which spends the whole budget.
    pub total_only: CountNoise,
    /// The noise of the total that chooses the workload of any other group, which spends the share gamma. The total is not published.
    pub stage_1: CountNoise,
    /// The noise of the workload, which spends the remaining budget.
    pub stage_2: CountNoise,
    /// The totals of stage 1 from which sex is crossed with 4, 9 and 23 ages.
    pub thresholds: [i64; 3],
    /// The suppression thresholds of a published total: of a detailed-only group, and of another group without ages. Totals must exceed
    /// them; `None` if groups of this level are not suppressed.
    pub suppression: Option<[i64; 2]>,
    /// The iterations in ascending order.
    pub iterations: Vec<TabulatedIteration>,
    /// The entities in ascending order.
    pub regions: Vec<String>,
    /// Which persons there can be, for the guarantee.
    pub known: KnownPersons,
}

/// What is known of the persons that a level can have; by default nothing, so that its guarantee is an upper bound.
#[derive(Clone, Debug, Default)]
pub struct KnownPersons {
    /// The groups of all persons, and the number of the kind of this level among theirs, if they are enumerated.
    pub(in crate::safetab) people: Option<(Arc<Memberships>, usize)>,
    /// The largest numbers of groups of both kinds of persons at this level alone, if those are enumerated.
    pub(in crate::safetab) alone: Option<Arc<Vec<[u64; 2]>>>,
    /// Some places, and the number of this level's type of region in them, if the geography is known.
    pub(in crate::safetab) places: Option<(Arc<PlaceSample>, usize)>,
}

impl CountNoise {
    /// The kind of noise for a guarantee.
    pub(in crate::safetab) fn kind(privacy: Privacy) -> NoiseKind {
        match privacy {
            Privacy::ZeroConcentrated => NoiseKind::DiscreteGaussian,
            Privacy::Pure => NoiseKind::Geometric,
        }
    }

    pub(in crate::safetab) fn new(noise: &CellNoise) -> Result<Self> {
        let margin = noise.margin(1, &Rational::from((19, 20)))?;
        Ok(CountNoise { law: noise.law(), margin })
    }

    /// The noise of a cell, with tails and margins.
    pub fn cell_noise(&self) -> Result<CellNoise> {
        CellNoise::of_law(&self.law)
    }

    /// An exact sampler of the noise.
    pub fn sampler(&self) -> Result<Sampler> {
        Sampler::new(self.law.clone())
    }
}

impl TabulatedLevel {
    fn new(
        region_type: RegionType,
        level: IterationLevel,
        config: &SafeTabConfig,
        specification: &Specification,
        geography: &Geography,
    ) -> Result<Self> {
        let budget = config.budget(region_type, level).clone();
        let granularity = region_type.granularity();
        let stability = specification.stability(granularity, level);
        let gamma = config.gamma();
        let noise_kind = CountNoise::kind(config.scope().privacy());
        // Each of the groups that one person can be in gets an equal share: sigma2 = s / (2 rho), or epsilon / s.
        let noise = |share: &Rational| CellNoise::new(noise_kind, &(Rational::from(&budget * share) / stability));
        let total_only = noise(&Rational::from(1))?;
        let (stage_1, stage_2) = (noise(gamma)?, noise(&Rational::from(1 - gamma))?);
        // Groups of the nation and the states are never suppressed.
        let suppressed = !matches!(region_type, RegionType::Usa | RegionType::State | RegionType::PrState);
        let chance = config.zero_suppression_chance().filter(|chance| suppressed && **chance > 0);
        let suppression = chance.map(|chance| {
            let of_total_only = Suppression::new(total_only.clone(), chance.clone())?;
            let of_others = Suppression::new(stage_2.clone(), chance.clone())?;
            Ok::<_, Error>([of_total_only.threshold(), of_others.threshold()])
        });
        Ok(TabulatedLevel {
            region_type,
            level,
            stability,
            total_only: CountNoise::new(&total_only)?,
            stage_1: CountNoise::new(&stage_1)?,
            stage_2: CountNoise::new(&stage_2)?,
            thresholds: config.thresholds(region_type, level),
            suppression: suppression.transpose()?,
            iterations: specification.key_set(granularity, level),
            regions: geography.entities(region_type).to_vec(),
            known: KnownPersons {
                people: specification.people().map(|people| (people, specification.kind(granularity, level))),
                alone: specification.alone(granularity, level),
                places: None,
            },
            budget,
        })
    }

    /// The number of groups of the level: every entity with every iteration, including empty ones.
    pub fn groups(&self) -> u64 {
        self.regions.len() as u64 * self.iterations.len() as u64
    }

    /// The number of detailed-only iterations.
    pub fn detailed_only(&self) -> usize {
        self.iterations.iter().filter(|key| key.detailed_only).count()
    }
}

/// The levels of a pass with these types of region, in the order of tabulation: by type, first level first. A level without a budget is not
/// run, as in a configuration of the bureau.
pub fn levels(
    types: &[RegionType],
    config: &SafeTabConfig,
    specification: &Specification,
    geography: &Geography,
) -> Result<Vec<TabulatedLevel>> {
    let mut levels = Vec::new();
    let regions_of = |block: u32| types.iter().map(|region_type| geography.region(block, *region_type)).collect();
    let blocks = u32::try_from(geography.len()).unwrap_or(u32::MAX);
    let places = (blocks > 0).then(|| Arc::new(PlaceSample::of_places((0..blocks).map(regions_of))));
    for (column, &region_type) in types.iter().enumerate() {
        for level in IterationLevel::ALL {
            if *config.budget(region_type, level) > 0 {
                let mut level = TabulatedLevel::new(region_type, level, config, specification, geography)?;
                level.known.places = places.clone().map(|places| (places, column));
                levels.push(level);
            }
        }
    }
    Ok(levels)
}
