//! The accuracy that a spine gives its units: the variance of least-squares estimates level by level, for one query
//! group that has the whole share of every level.
//!
//! Under zCDP the own answer of a unit with the share gamma has sigma2 = 1 / (rho gamma), so variances are in units of
//! 1 / rho. With Laplace noise they are 8 / (epsilon gamma)^2, in units of 8 / epsilon^2. These are variances of the
//! continuous noise, which the variances of the discrete noise approach as the noise grows. By (3.4) the same factors
//! hold for every query group of a strategy that is the same at all levels.

use rug::Rational;

use super::variance::Variances;
use crate::{
    error::Result,
    noise::NORMAL_975,
    numeric::{Enclosure, parallel},
    spine::{
        blocks::EntityColumn,
        bypass::{Privacy, Spine},
        hierarchy::Tree,
        osed,
        plan::BuiltSpine,
    },
};

const BITS: u32 = 128;

/// The approximate margin at 95 % of an estimate with this variance, as for a normal error.
pub fn margin_95_approx(variance: f64) -> f64 {
    NORMAL_975 * variance.sqrt()
}

/// The variances of a level.
#[derive(Clone, Debug)]
pub struct LevelVariances {
    /// The number of units with own answers.
    pub measured: u64,
    /// The mean over these units of the variance of a unit's own answer; `None` if there is none.
    pub alone: Option<Enclosure>,
    /// The smallest variance of the estimate of a unit.
    pub least: Enclosure,
    /// The mean over all units.
    pub mean: Enclosure,
    /// The largest variance of the estimate of a unit.
    pub most: Enclosure,
}

/// The precision of a unit with a share, in the units above.
fn precision(privacy: Privacy, share: &Rational) -> Rational {
    match privacy {
        Privacy::Concentrated => share.clone(),
        Privacy::Pure { .. } => share.clone().square(),
    }
}

fn enclosed(value: &Rational) -> Enclosure {
    Enclosure::rational(value, BITS)
}

/// The variances of every level on the standard census spine of the same blocks, before bypassing; `None` if that spine
/// has another number of levels, or the hierarchy is custom.
pub fn on_census_spine(built: &BuiltSpine) -> Result<Option<Vec<LevelVariances>>> {
    let Some(blocks) = built.blocks() else { return Ok(None) };
    let whole = Tree::census(blocks);
    let census = if built.has_nation { whole } else { whole.without_root() };
    if census.levels() != built.spine.tree.levels() {
        return Ok(None);
    }
    let shares = &built.spine.proportions;
    let own = |level: usize| precision(built.privacy, &shares[level]);
    let variances = Variances::new(&census, |_, _| 0, |level, _| Some(enclosed(&own(level))))?;
    let of = |level: usize| {
        let alone = enclosed(&own(level).recip());
        LevelVariances::of_variances(&variances.of_level(level), census.units(level) as u64, Some(alone))
    };
    Ok(Some((0..census.levels()).map(of).collect()))
}

/// The variance of the estimate of each entity's total, kind by kind, in doubles: approximations. It is 0 for entities
/// without blocks.
pub fn of_entities_approx(built: &BuiltSpine) -> Result<Vec<Vec<f64>>> {
    let spine = &built.spine;
    let kind = |level: usize, unit: usize| spine.carried(level, unit) as u32;
    let variances = Variances::new(&spine.tree, kind, |level, carried| {
        let share = spine.share_of_run(level, carried as usize);
        (carried > 0).then(|| precision(built.privacy, &share).to_f64())
    })?;
    let of_kind = |column: &EntityColumn| {
        let (places, ends) = osed::places(&spine.tree, column);
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let ranges: Vec<(usize, usize)> = starts.zip(ends.iter().copied()).collect();
        parallel::map(&ranges, |&(start, end)| variances.blocks(&spine.tree, &places[start..end]))
    };
    Ok(built.entities.columns.iter().map(|(_, column)| of_kind(column)).collect())
}

/// The variances of every level of a spine with budget shares.
pub fn on_spine(spine: &Spine, privacy: Privacy) -> Result<Vec<LevelVariances>> {
    let kind = |level: usize, unit: usize| spine.carried(level, unit) as u32;
    let variances = Variances::new(&spine.tree, kind, |level, carried| {
        (carried > 0).then(|| enclosed(&precision(privacy, &spine.share_of_run(level, carried as usize))))
    })?;
    let levels = spine.tree.levels();
    let of = |level: usize| {
        let mut carry = vec![0_u64; levels - level + 1];
        (0..spine.tree.units(level)).for_each(|unit| carry[spine.carried(level, unit)] += 1);
        let measured: u64 = carry[1..].iter().sum();
        let total = (1..carry.len()).filter(|carried| carry[*carried] > 0).fold(Rational::new(), |sum, carried| {
            sum + precision(privacy, &spine.share_of_run(level, carried)).recip() * carry[carried]
        });
        let alone = (measured > 0).then(|| enclosed(&(total / measured)));
        LevelVariances::of_variances(&variances.of_level(level), measured, alone)
    };
    Ok((0..levels).map(of).collect())
}

impl LevelVariances {
    /// From the distinct variances of all units of a level, each with its number of units, and the known values of own
    /// answers.
    pub(super) fn of_variances(all: &[(&Enclosure, u64)], measured: u64, alone: Option<Enclosure>) -> LevelVariances {
        let units: u64 = all.iter().map(|(_, units)| units).sum();
        let weighted =
            |(value, units): &(&Enclosure, u64)| value.mul(&Enclosure::rational(&Rational::from(*units), BITS));
        let sum = all.iter().fold(Enclosure::double(0.0, BITS), |sum, part| sum.add(&weighted(part)));
        // The minimum of enclosed numbers lies between the least lower and the least upper end; likewise the maximum.
        let end = |pick: fn(rug::Float, &rug::Float) -> rug::Float| {
            let first = all[0].0;
            let ends = all.iter().fold((first.lower().clone(), first.upper().clone()), |(lower, upper), (value, _)| {
                (pick(lower, value.lower()), pick(upper, value.upper()))
            });
            Enclosure::new(ends.0, ends.1)
        };
        let (least, most) = (end(|a, b| a.min(b)), end(|a, b| a.max(b)));
        LevelVariances {
            measured,
            alone,
            least,
            mean: sum.div(&Enclosure::rational(&Rational::from(units), BITS)),
            most,
        }
    }
}
