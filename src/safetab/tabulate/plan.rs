//! The plan of a run: which levels are tabulated, with which noise, and what each leaves out.

use rug::Rational;

use crate::{
    error::{Error, Result},
    noise::{DiscreteGaussian, DiscreteLaplace, Sampler},
    numeric::{rational, sum::Law},
    safetab::{
        groups::{Key, Specification},
        schema::{Geography, Level, Pass, Privacy, RegionType, Settings},
    },
};

/// Noise of one law, with what follows from the law.
#[derive(Clone, Debug)]
pub struct Noise {
    /// The law of the noise on one count.
    pub law: Law,
    /// The smallest m with `P[|X| <= m]` >= 95 %, exactly.
    pub margin: i64,
}

/// A population group level: one type of region with one level of characteristic iterations.
#[derive(Clone, Debug)]
pub struct LevelPlan {
    /// The type of region.
    pub region_type: RegionType,
    /// The level of the iterations.
    pub level: Level,
    /// The budget of the level: rho, or epsilon under pure differential privacy.
    pub budget: Rational,
    /// To at most how many groups of the level one person belongs, whoever it is.
    pub stability: u32,
    /// Whole budget in one total, for groups that are detailed-only.
    pub total_only: Noise,
    /// The share gamma, for the total that chooses the workload of all other groups. It is not published.
    pub stage_1: Noise,
    /// The rest, for the workload.
    pub stage_2: Noise,
    /// The totals of stage 1 from which sex is crossed with 4, 9 and 23 ages.
    pub thresholds: [i64; 3],
    /// A published total of a detailed-only group, and of another one without ages, must exceed this; nothing where
    /// groups of this level are not suppressed.
    pub suppression: Option<[i64; 2]>,
    /// The iterations in ascending order.
    pub iterations: Vec<Key>,
    /// The entities in ascending order.
    pub regions: Vec<String>,
}

impl Noise {
    fn new(law: Law) -> Result<Self> {
        // The law is symmetric: P[|X| <= m] = 2 P[X <= m] - 1 >= 95 % where P[X <= m] >= 97.5 %.
        let margin = quantile(&law, &Rational::from((39, 40)))?;
        Ok(Noise { law, margin })
    }

    /// An exact sampler of the noise.
    pub fn sampler(&self) -> Result<Sampler> {
        Sampler::new(self.law.clone())
    }
}

/// The smallest k with `P[X <= k]` >= p, proven.
fn quantile(law: &Law, p: &Rational) -> Result<i64> {
    match law {
        Law::DiscreteGaussian { sigma2 } => DiscreteGaussian::new(sigma2.clone())?.quantile(p),
        Law::DiscreteLaplace { epsilon } => DiscreteLaplace::new(epsilon.clone())?.quantile(p),
        Law::Gaussian { sigma2 } => Err(Error::out_of_range(
            "sigma2",
            rational::display(sigma2),
            "a law on the integers: this one is continuous",
        )),
    }
}

impl LevelPlan {
    /// The noise of a level that spends `share` of `budget` on one count of each of `stability` groups: sigma2 =
    /// stability / (2 rho), or mass proportional to exp(-epsilon |x| / stability).
    fn noise(privacy: Privacy, stability: u32, budget: &Rational, share: &Rational) -> Result<Noise> {
        let spent = Rational::from(budget * share);
        if spent <= 0 {
            let expected = "a budget and a share of it above 0: noise without a budget has no law";
            return Err(Error::out_of_range("the budget of a stage", rational::display(&spent), expected));
        }
        let stability = Rational::from(stability);
        Noise::new(match privacy {
            Privacy::ZeroConcentrated => Law::DiscreteGaussian { sigma2: stability / (spent * 2_u32) },
            Privacy::Pure => Law::DiscreteLaplace { epsilon: spent / stability },
        })
    }

    fn new(
        region_type: RegionType,
        level: Level,
        settings: &Settings,
        specification: &Specification,
        geography: &Geography,
    ) -> Result<Self> {
        let budget = settings.budget(region_type, level).clone();
        let granularity = region_type.granularity();
        let stability = specification.stability(granularity, level);
        let gamma = settings.gamma();
        let noise = |share: &Rational| LevelPlan::noise(settings.privacy(), stability, &budget, share);
        let (total_only, stage_1, stage_2) =
            (noise(&Rational::from(1))?, noise(gamma)?, noise(&Rational::from(1 - gamma))?);
        // Nation and states are published whatever they count.
        let suppressed = !matches!(region_type, RegionType::Usa | RegionType::State | RegionType::PrState);
        let chance = settings.zero_suppression_chance().filter(|chance| suppressed && **chance > 0);
        let suppression = chance
            .map(|chance| Ok::<_, Error>([quantile(&total_only.law, chance)?, quantile(&stage_2.law, chance)?]))
            .transpose()?;
        Ok(LevelPlan {
            region_type,
            level,
            stability,
            total_only,
            stage_1,
            stage_2,
            thresholds: settings.thresholds(region_type, level),
            suppression,
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
    settings: &Settings,
    specification: &Specification,
    geography: &Geography,
) -> Result<Vec<LevelPlan>> {
    let mut levels = Vec::new();
    for &region_type in pass.region_types() {
        for level in Level::ALL {
            if *settings.budget(region_type, level) > 0 {
                levels.push(LevelPlan::new(region_type, level, settings, specification, geography)?);
            }
        }
    }
    Ok(levels)
}
