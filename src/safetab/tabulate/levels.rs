//! The plan of a run: which levels are tabulated, with which noise, and what each leaves out.

use rug::Rational;

use crate::{
    error::{Error, Result},
    loss::law::Law,
    noise::Sampler,
    safetab::{
        cell_noise::{CellNoise, NoiseKind},
        groups::{Specification, TabulatedIteration},
        schema::{Geography, IterationLevel, Pass, Privacy, RegionType, SafeTabConfig},
        suppression::Suppression,
    },
};

/// Noise of one law, with what follows from the law.
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
    /// To at most how many groups of the level one person belongs, whoever it is.
    pub stability: u32,
    /// Whole budget in one total, for groups that are detailed-only.
    pub total_only: CountNoise,
    /// The share gamma, for the total that chooses the workload of all other groups. It is not published.
    pub stage_1: CountNoise,
    /// The rest, for the workload.
    pub stage_2: CountNoise,
    /// The totals of stage 1 from which sex is crossed with 4, 9 and 23 ages.
    pub thresholds: [i64; 3],
    /// A published total of a detailed-only group, and of another one without ages, must exceed this; nothing where
    /// groups of this level are not suppressed.
    pub suppression: Option<[i64; 2]>,
    /// The iterations in ascending order.
    pub iterations: Vec<TabulatedIteration>,
    /// The entities in ascending order.
    pub regions: Vec<String>,
}

impl CountNoise {
    fn new(noise: &CellNoise) -> Result<Self> {
        let margin = noise.margin(1, &Rational::from((19, 20)))?;
        let parameter = noise.parameter().clone();
        let law = match noise.noise_kind() {
            NoiseKind::DiscreteGaussian => Law::DiscreteGaussian { sigma2: parameter },
            NoiseKind::Geometric => Law::DiscreteLaplace { epsilon: parameter },
        };
        Ok(CountNoise { law, margin })
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
        let noise_kind = match config.privacy() {
            Privacy::ZeroConcentrated => NoiseKind::DiscreteGaussian,
            Privacy::Pure => NoiseKind::Geometric,
        };
        // Each of the groups that one person can be in has an equal share: sigma2 = s / (2 rho), or epsilon / s.
        let noise = |share: &Rational| CellNoise::new(noise_kind, &(Rational::from(&budget * share) / stability));
        let total_only = noise(&Rational::from(1))?;
        let (stage_1, stage_2) = (noise(gamma)?, noise(&Rational::from(1 - gamma))?);
        // Nation and states are published whatever they count.
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
            budget,
        })
    }

    /// How many groups the level has: every entity with every iteration, whether anybody is in them or not.
    pub fn groups(&self) -> u64 {
        self.regions.len() as u64 * self.iterations.len() as u64
    }

    /// How many of the iterations are detailed-only.
    pub fn detailed_only(&self) -> usize {
        self.iterations.iter().filter(|key| key.detailed_only).count()
    }
}

/// The levels of a run in the order in which they are tabulated: from large regions to small, first level first. A level
/// without a budget is not run, as in a configuration of the bureau.
pub fn levels(
    pass: Pass,
    config: &SafeTabConfig,
    specification: &Specification,
    geography: &Geography,
) -> Result<Vec<TabulatedLevel>> {
    let mut levels = Vec::new();
    for &region_type in pass.region_types() {
        for level in IterationLevel::ALL {
            if *config.budget(region_type, level) > 0 {
                levels.push(TabulatedLevel::new(region_type, level, config, specification, geography)?);
            }
        }
    }
    Ok(levels)
}
