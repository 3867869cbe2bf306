//! Published values about disclosure risk, recomputed; and the settings of their figures.

use rug::Rational;
use serde::Deserialize;

use super::{
    gibbs::{Constraint, Sampler},
    series::Settings,
    verify::Computed,
};
use crate::{
    account::conversions,
    error::{Error, Result},
    noise::DiscreteGaussian,
    numeric::{Certainty, Enclosure, rational::parse},
    risk::{
        decision::{Decision, TrueCounts},
        hierarchical::{Hierarchy, Upper},
        others::{MassTable, OtherGroups, SumLaw},
        postprocess::Postprocessed,
        single::Attack,
    },
    toml_reader::TomlReader,
};

/// What recomputes a value about disclosure risk. A rho, a prior or a share is text: an exact number.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "of", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Risk {
    /// The product of a total, the share of a level and the share of a query.
    QueryRho {
        /// The total rho.
        total: String,
        /// The level's share.
        level: String,
        /// The query's share of the level.
        query: String,
    },
    /// rho + 2 sqrt(rho ln(1 / delta)).
    ZcdpEpsilon {
        /// The rho.
        rho: String,
        /// The delta.
        delta: String,
    },
    /// The product of the numbers of values of some variables.
    Cells {
        /// The numbers of values.
        values: Vec<u64>,
    },
    /// The sum of the counts of the histogram among the settings.
    HistogramTotal {},
    /// The probability of a noisy count less the known one, if the target counts or not.
    Output {
        /// The rho of the count.
        rho: String,
        /// The noisy count less the known one.
        noisy: i64,
        /// Whether the target counts.
        present: bool,
    },
    /// The posterior probability (3.1).
    Posterior {
        /// The rho of the count.
        rho: String,
        /// The prior probability.
        prior: String,
        /// The noisy count less the known one.
        noisy: i64,
    },
    /// That over the prior (3.2).
    Ratio {
        /// The rho of the count.
        rho: String,
        /// The prior probability.
        prior: String,
        /// The noisy count less the known one.
        noisy: i64,
    },
    /// The marginal posterior (3.3).
    Marginal {
        /// The rho of the count.
        rho: String,
        /// The prior probability.
        prior: String,
    },
    /// That over the prior (3.4).
    MarginalRatio {
        /// The rho of the count.
        rho: String,
        /// The prior probability.
        prior: String,
    },
    /// The probability of a correct decision (3.6).
    Correct {
        /// The rho of the count.
        rho: String,
        /// The prior probability.
        prior: String,
    },
    /// The posterior probability after counts of two levels, prior 1/2 and uniform: of `X_1 = 1`, or of one value of X_2.
    TwoLevels {
        /// Their rho.
        rhos: [String; 2],
        /// How many other groups there are.
        others: u64,
        /// x_1, x_2 and y_1 as released.
        noisy: [i64; 3],
        /// The value of X_2.
        x2: Option<i64>,
    },
    /// What the sampler that draws `X_1` without the constraint converges to, of the same.
    SamplerLimit {
        /// Their rho.
        rhos: [String; 2],
        /// How many other groups there are.
        others: u64,
        /// x_1, x_2 and y_1 as released.
        noisy: [i64; 3],
        /// The value of X_2.
        x2: Option<usize>,
    },
    /// The decision over all outputs with prior 1/2.
    Decision {
        /// The rho of the two levels.
        rhos: [String; 2],
        /// How many other groups there are.
        others: u64,
        /// The true x_1 and x_2.
        truth: [i64; 2],
        /// The prior of X_2.
        upper: UpperPrior,
        /// Which probability.
        part: Part,
    },
    /// The decision by the limit of the sampler that draws `X_1` without the constraint, over all outputs with `X_1 = 1`.
    SamplerDecision {
        /// The rho of the two levels.
        rhos: [String; 2],
        /// How many other groups there are.
        others: u64,
        /// The true x_2.
        x2: i64,
        /// Which probability.
        part: Part,
    },
    /// Whether the decision with two levels is right more often than with the lowest alone.
    DecisionGains {
        /// The rho of the two levels.
        rhos: [String; 2],
        /// How many other groups there are.
        others: u64,
        /// The true x_1 and x_2.
        truth: [i64; 2],
    },
    /// The probability that the noisy x_2 and y_1 lie in a rectangle.
    Region {
        /// The rho of the two levels.
        rhos: [String; 2],
        /// How many other groups there are.
        others: u64,
        /// The true x_1 and x_2.
        truth: [i64; 2],
        /// The first and the last x_2.
        x2: [i64; 2],
        /// The first and the last y_1.
        y1: [i64; 2],
    },
    /// s less the variance of the discrete Gaussian of variance proxy s.
    VarianceDeficit {
        /// The variance proxy.
        s: String,
    },
    /// Whether the marginal posterior after post-processing is below the one before, for every published count.
    PostprocessingLowers {
        /// The rho of the lowest level.
        rho: String,
        /// How many other groups there are.
        others: u64,
        /// The greatest published count.
        most: i64,
    },
}

/// The prior of X_2, as data.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UpperPrior {
    /// All alike, without end.
    Uniform,
    /// All alike up to the count.
    UpTo(i64),
    /// Surely the count.
    Point(i64),
}

/// Which probability of a decision.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// That it is right.
    Correct,
    /// That it is right where the lowest level alone is wrong.
    Gained,
    /// That it is wrong where the lowest level alone is right.
    Lost,
    /// The former less the latter.
    Net,
}

const DIGITS: u32 = 10;
/// The sampler's limit over all outputs is enclosed to about 2^-15.
const SAMPLER_SHARE: u32 = 15;

fn half() -> Rational {
    Rational::from((1, 2))
}

fn pair(rhos: &[String; 2]) -> Result<Vec<Rational>> {
    rhos.iter().map(|rho| parse(rho)).collect()
}

fn single(rho: &str, prior: &str) -> Result<Attack> {
    Attack::new(parse(prior)?, vec![parse(rho)?])
}

fn two_levels(rhos: &[String; 2], others: u64, upper: UpperPrior) -> Result<Hierarchy> {
    let upper = match upper {
        UpperPrior::Uniform => Upper::Uniform,
        UpperPrior::UpTo(most) => Upper::UpTo(most),
        UpperPrior::Point(point) => Upper::Point(point),
    };
    Hierarchy::new(half(), pair(rhos)?, vec![others], upper)
}

fn sampler(rhos: &[String; 2], others: u64) -> Result<Sampler> {
    let rhos = [parse(&rhos[0])?, parse(&rhos[1])?];
    Ok(Sampler { prior: half(), rhos, others, constraint: Constraint::LeftOut })
}

fn part_of(part: Part, correct: Enclosure, gained: Enclosure, lost: Enclosure) -> Enclosure {
    match part {
        Part::Correct => correct,
        Part::Gained => gained,
        Part::Lost => lost,
        Part::Net => gained.sub(&lost),
    }
}

/// Recomputes a value.
pub(super) fn compute(what: &Risk) -> Result<Computed> {
    let value = match what {
        Risk::QueryRho { total, level, query } => {
            Enclosure::rational(&(parse(total)? * parse(level)? * parse(query)?), 100)
        }
        Risk::ZcdpEpsilon { rho, delta } => conversions::zcdp_epsilon(&parse(rho)?, &parse(delta)?, DIGITS),
        Risk::Cells { values } => {
            let product = values.iter().fold(Rational::from(1), |product, count| product * count);
            Enclosure::rational(&product, 100)
        }
        Risk::HistogramTotal {} => {
            let total: u64 = settings()?.histogram.iter().map(|cell| cell.count).sum();
            Enclosure::rational(&Rational::from(total), 100)
        }
        Risk::Output { rho, noisy, present } => single(rho, "1/2")?.probability(&[*noisy], *present, DIGITS)?,
        Risk::Posterior { rho, prior, noisy } => single(rho, prior)?.posterior(&[*noisy], DIGITS)?,
        Risk::Ratio { rho, prior, noisy } => single(rho, prior)?.risk(&[*noisy], DIGITS)?,
        Risk::Marginal { rho, prior } => single(rho, prior)?.marginal(DIGITS)?,
        Risk::MarginalRatio { rho, prior } => {
            let attack = single(rho, prior)?;
            attack.per_prior(&attack.marginal(DIGITS)?)
        }
        Risk::Correct { rho, prior } => single(rho, prior)?.correct_decision(DIGITS)?,
        Risk::TwoLevels { rhos, others, noisy: [x1, above, beside], x2 } => {
            let attack = two_levels(rhos, *others, UpperPrior::Uniform)?;
            let posterior = attack.posterior(&[*x1, *above], &[*beside], DIGITS)?;
            match x2 {
                None => posterior.present,
                Some(x2) => {
                    let found = posterior.upper.into_iter().find(|(count, _)| count == x2);
                    let expected = "a value of X2 with a probability above 10^-12";
                    found.ok_or_else(|| Error::out_of_range("x2", x2, expected))?.1
                }
            }
        }
        Risk::SamplerLimit { rhos, others, noisy, x2 } => {
            let limit = sampler(rhos, *others)?.limit(*noisy, DIGITS)?;
            match x2 {
                None => limit.present,
                Some(x2) => {
                    let share = limit.upper.get(*x2).cloned();
                    share.ok_or_else(|| Error::out_of_range("x2", x2, "a value that the sampler draws"))?
                }
            }
        }
        Risk::Decision { rhos, others, truth: [x1, x2], upper, part } => {
            let attack = two_levels(rhos, *others, *upper)?;
            let Decision { correct, gained, lost, .. } =
                attack.correct_decision(TrueCounts { x1: *x1, x2: *x2 }, DIGITS)?;
            part_of(*part, correct, gained, lost)
        }
        Risk::SamplerDecision { rhos, others, x2, part } => {
            let decision = sampler(rhos, *others)?.limit_decision(*x2, SAMPLER_SHARE)?;
            part_of(*part, decision.correct, decision.gained, decision.lost)
        }
        Risk::DecisionGains { rhos, others, truth: [x1, x2] } => {
            let attack = two_levels(rhos, *others, UpperPrior::Uniform)?;
            let with = attack.correct_decision(TrueCounts { x1: *x1, x2: *x2 }, DIGITS)?.correct;
            let without = single(&rhos[0], "1/2")?.correct_decision(DIGITS)?;
            return Ok(Computed::Statement(without.below(&with)));
        }
        Risk::Region { rhos, others, truth: [x1, x2], x2: above, y1 } => {
            let [rho1, rho2] = [parse(&rhos[0])?, parse(&rhos[1])?];
            let upper = MassTable::of_one(&rho2, 80)?.between(above[0] - x2, above[1] - x2);
            let y_true = x2 - x1;
            let beside =
                OtherGroups::new(rho1, *others, SumLaw::Exact)?.table(80)?.between(y1[0] - y_true, y1[1] - y_true);
            upper.mul(&beside)
        }
        Risk::VarianceDeficit { s } => DiscreteGaussian::new(parse(s)?)?.variance_deficit(DIGITS),
        Risk::PostprocessingLowers { rho, others, most } => {
            let before = single(rho, "1/2")?.marginal(DIGITS)?;
            let attack = Postprocessed::new(half(), parse(rho)?, *others, 1)?;
            for published in 1..=*most {
                match attack.marginal(published, 8)?.below(&before) {
                    Certainty::Yes => {}
                    other => return Ok(Computed::Statement(other)),
                }
            }
            return Ok(Computed::Statement(Certainty::Yes));
        }
    };
    Ok(Computed::Value(value))
}

/// What the figures of Kazan & Reiter were drawn for, as data.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SettingsFile {
    /// Where it stands in the paper.
    pub source: String,
    priors: Vec<String>,
    rhos: Vec<String>,
    others: u64,
    uppers: Vec<i64>,
    most: i64,
    points: Vec<i64>,
    sums: Vec<SumSetting>,
    /// The histogram of Table 3: its cells that are not zero.
    pub histogram: Vec<Cell>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SumSetting {
    rho: String,
    count: u64,
}

/// A cell of a histogram.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Household or group quarters.
    pub hhgq: String,
    /// Whether of voting age.
    pub votingage: String,
    /// Whether Hispanic.
    pub hispanic: String,
    /// The race.
    pub cenrace: String,
    /// How many people.
    pub count: u64,
}

impl SettingsFile {
    /// The settings as exact numbers, for [`crate::replication::series`].
    pub fn settings(&self) -> Result<Settings> {
        let numbers = |texts: &[String]| texts.iter().map(|text| parse(text)).collect::<Result<Vec<Rational>>>();
        Ok(Settings {
            priors: numbers(&self.priors)?,
            rhos: numbers(&self.rhos)?,
            others: self.others,
            uppers: self.uppers.clone(),
            most: self.most,
            points: self.points.clone(),
            sums: self.sums.iter().map(|sum| Ok((parse(&sum.rho)?, sum.count))).collect::<Result<_>>()?,
        })
    }
}

/// The bundled settings.
pub fn settings() -> Result<SettingsFile> {
    let text = include_str!("../../data/published/kazan-reiter-2023-settings.toml");
    TomlReader::new("kazan-reiter-2023-settings", text).toml()
}
