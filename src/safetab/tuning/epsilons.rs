//! The exact epsilon of a person, for one level or for a plan.
//!
//! A person is in at most s groups of a level. A group whose total only is published has one count that changes by one. Another group has
//! two: the total of stage 1 and one cell of stage 2. The noisy total of stage 1 chooses the cells of stage 2. For every choice the person
//! is in exactly one of them, with the same noise, so the adaptive composition has the law of independent counts. Groups and cells without
//! the person have the same law for both neighbors, and fewer groups are post-processing of more.
//!
//! The numbers of groups of both kinds among the s groups depend on the person, and so does the exact epsilon; the guarantee is the largest
//! over all mixes. For geometric noise with a group's whole budget epsilon the worst mix is known: any mechanism with the pure guarantee
//! epsilon, including the two stages, is post-processing of one count with that noise (Kairouz, Oh & Viswanath 2015, Theorem 3.4, for
//! randomized response, which is the loss of one count), and composition preserves this.

use std::collections::BTreeMap;

use rug::Rational;

use super::level::GroupLevel;
use crate::{
    account::{Account, Composition, Counts, Delta, Stop, conversions, paths::WorstPath},
    error::{Error, Result},
    loss::family::Units,
    numeric::{Enclosure, enclosure},
    release::Neighbors,
    safetab::cell_noise::NoiseKind,
};

/// The largest number of mixes that are compared.
const MOST_MIXES: usize = 2000;

/// The epsilons at one delta, in nats; `None` if the losses lie on a lattice that is too fine for an exact account.
#[derive(Clone, Debug)]
pub struct PersonEpsilons {
    /// The budget in the unit of the guarantee: rho, or the epsilon of pure differential privacy.
    pub budget: Rational,
    /// The exact epsilon of a person whose groups all have two stages.
    pub two_stage: Option<Enclosure>,
    /// The exact epsilon of a person whose groups are all published by their totals, at the levels with such groups; `None` if there is no
    /// such level.
    pub total_only: Option<Enclosure>,
    /// The largest over all mixes of both; `None` if there are too many to compare.
    pub largest: Option<Enclosure>,
    /// The number of mixes that are compared.
    pub mixes: usize,
    /// The epsilon that the concentrated guarantee implies by the conversion that the bureau published (Bun & Steinke), and by the best
    /// order (Canonne, Kamath & Steinke); `None` for geometric noise, whose budget is itself an epsilon.
    pub zcdp: Option<[Enclosure; 2]>,
}

/// The epsilons of a person at a delta, 0 < delta < 1, for levels with one kind of noise; `true` marks those with groups published by their
/// totals only. Epsilons have a relative width of 10^-digits. An error with [`Error::Stopped`] once `stop` is set.
pub fn person_epsilons(
    levels: &[(&GroupLevel, bool)],
    neighbors: Neighbors,
    delta: &Rational,
    digits: u32,
    stop: &Stop,
) -> Result<PersonEpsilons> {
    let sides = neighbors.cells();
    let Some(noise_kind) = levels.first().map(|(level, _)| level.noise_kind()) else {
        return Err(Error::EmptyComposition);
    };
    if levels.iter().any(|(level, _)| level.noise_kind() != noise_kind) {
        return Err(Error::conflict("the levels have two kinds of noise: use one kind for all"));
    }
    let delta = &Delta::try_from(delta)?;
    let budget = levels.iter().fold(Rational::new(), |sum, (level, _)| sum + level.budget()) * sides;
    let any = levels.iter().any(|(_, allowed)| *allowed);
    let exact = |total_only: bool| -> Result<Option<Enclosure>> {
        let epsilon = if_possible(unmixed(levels, sides, total_only)?.until(stop).epsilon(delta, digits))?
            .map(|epsilon| epsilon.value);
        // The pure guarantee holds at every delta.
        let below_pure = |own: Enclosure| match noise_kind {
            NoiseKind::DiscreteGaussian => own,
            NoiseKind::Geometric => {
                let pure = Enclosure::rational(&budget, own.upper().prec());
                Enclosure::new(own.lower().clone(), enclosure::smaller(own.upper(), pure.upper()))
            }
        };
        Ok(epsilon.map(below_pure))
    };
    let two_stage = exact(false)?;
    let total_only = if any { exact(true)? } else { None };
    let (largest, mixes) = match noise_kind {
        _ if !any => (two_stage.clone(), 1),
        NoiseKind::Geometric => (total_only.clone(), 1),
        NoiseKind::DiscreteGaussian => match mixes(levels, sides)? {
            (None, count) => (None, count),
            (Some(mixes), count) => {
                let worst = if_possible(WorstPath::new(mixes, Units::Single)?.until(stop).epsilon(delta, digits))?;
                // The largest is at least each of them, and the enclosure for all mixes may be wider.
                let each = [&two_stage, &total_only].into_iter().flatten();
                (worst.map(|worst| each.fold(worst.value, |most, own| most.max(own))), count)
            }
        },
    };
    let zcdp = match noise_kind {
        NoiseKind::DiscreteGaussian => Some([
            conversions::zcdp_epsilon(&budget.clone().try_into()?, delta, digits + 4),
            conversions::zcdp_epsilon_optimal(&budget.clone().try_into()?, delta)?.epsilon,
        ]),
        NoiseKind::Geometric => None,
    };
    Ok(PersonEpsilons { budget, two_stage, total_only, largest, mixes, zcdp })
}

/// The counts that change with a person all of whose groups, or none, are published by their total only where that is allowed.
fn unmixed(levels: &[(&GroupLevel, bool)], sides: u64, total_only: bool) -> Result<Composition> {
    let mut counts: Vec<Counts> = Vec::new();
    for (level, allowed) in levels {
        let groups = u64::from(level.stability()) * sides;
        let own = if total_only && *allowed { groups } else { 0 };
        counts.extend(level.counts(own, groups - own)?);
    }
    Composition::new(counts)
}

/// The result, or `None` if no exact account is possible.
fn if_possible<T>(answer: Result<T>) -> Result<Option<T>> {
    match answer {
        Err(Error::OutOfRange { .. } | Error::Undecided { .. }) => Ok(None),
        Err(error) if error.is_beyond_reach() => Ok(None),
        other => other.map(Some),
    }
}

/// Every mix of a person's groups, and their number; levels with the same noise are interchangeable.
fn mixes(levels: &[(&GroupLevel, bool)], sides: u64) -> Result<(Option<Vec<Composition>>, usize)> {
    type Alike<'a> = BTreeMap<(&'a Rational, &'a Rational, u32), (&'a GroupLevel, u64)>;
    let mut alike: Alike = BTreeMap::new();
    let mut fixed: Vec<Counts> = Vec::new();
    for (level, allowed) in levels {
        let groups = u64::from(level.stability()) * sides;
        if *allowed {
            alike.entry((level.budget(), level.gamma(), level.stability())).or_insert((level, 0)).1 += groups;
        } else {
            fixed.extend(level.counts(0, groups)?);
        }
    }
    let count = alike.values().fold(1_usize, |product, (_, groups)| product.saturating_mul(*groups as usize + 1));
    if count > MOST_MIXES {
        return Ok((None, count));
    }
    let mut mixes: Vec<Vec<Counts>> = vec![fixed];
    for (level, groups) in alike.values() {
        let own: Vec<Vec<Counts>> =
            (0..=*groups).map(|total_only| level.counts(total_only, groups - total_only)).collect::<Result<_>>()?;
        mixes = mixes.iter().flat_map(|mix| own.iter().map(move |own| [mix.clone(), own.clone()].concat())).collect();
    }
    Ok((Some(mixes.into_iter().map(Composition::new).collect::<Result<_>>()?), count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    fn level(noise_kind: NoiseKind, budget: &str, stability: u32) -> GroupLevel {
        GroupLevel::new("", noise_kind, parse(budget).unwrap(), parse("1/10").unwrap(), stability).unwrap()
    }

    #[test]
    fn the_largest_epsilon_is_that_of_the_worst_mix() {
        let delta = parse("1e-6").unwrap();
        for (noise_kind, budget) in [(NoiseKind::DiscreteGaussian, "1.7"), (NoiseKind::Geometric, "2.4")] {
            let level = level(noise_kind, budget, 3);
            let got = person_epsilons(&[(&level, true)], Neighbors::AddRemove, &delta, 10, &Stop::default()).unwrap();
            let largest = got.largest.unwrap();
            let each: Vec<Enclosure> = (0..=3)
                .map(|own| Composition::new(level.counts(own, 3 - own).unwrap()).unwrap())
                .map(|composition| composition.epsilon(&delta, 12).unwrap().value)
                .collect();
            let worst = each.iter().skip(1).fold(each[0].clone(), |worst, one| worst.max(one));
            assert!(largest.overlaps(&worst), "{noise_kind:?} {largest:?} {worst:?}");
            assert!(each.iter().all(|one| one.lower() <= largest.upper()));
            assert!(got.two_stage.unwrap().overlaps(&each[0]) && got.total_only.unwrap().overlaps(&each[3]));
        }
    }

    #[test]
    fn bounded_neighbors_double_the_budget_and_more_levels_add_to_it() {
        let delta = parse("1e-10").unwrap();
        let (one, other) = (level(NoiseKind::DiscreteGaussian, "0.159", 9), level(NoiseKind::DiscreteGaussian, "1", 9));
        let of = |levels: &[(&GroupLevel, bool)], neighbors| {
            person_epsilons(levels, neighbors, &delta, 8, &Stop::default()).unwrap()
        };
        let single = of(&[(&one, false)], Neighbors::AddRemove);
        let bounded = of(&[(&one, false)], Neighbors::Bounded);
        let both = of(&[(&one, false), (&other, false)], Neighbors::AddRemove);
        assert_eq!((bounded.budget, both.budget), (parse("0.318").unwrap(), parse("1.159").unwrap()));
        let own = single.two_stage.unwrap();
        for more in [bounded.two_stage.unwrap(), both.two_stage.unwrap()] {
            assert!(own.upper() < more.lower());
        }
        let [published, best] = single.zcdp.unwrap();
        assert!(own.upper() < best.lower() && best.upper() < published.lower());
    }

    #[test]
    fn a_fine_lattice_of_bounded_losses_has_an_account_below_the_pure_one() {
        let levels = ["4.569018", "2.597671", "0.593128"].map(|budget| level(NoiseKind::Geometric, budget, 9));
        let all: Vec<(&GroupLevel, bool)> = levels.iter().map(|level| (level, true)).collect();
        let got = person_epsilons(&all, Neighbors::AddRemove, &parse("1e-10").unwrap(), 8, &Stop::default()).unwrap();
        assert_eq!(got.budget, parse("7.759817").unwrap());
        let own = got.two_stage.unwrap();
        assert!(*own.lower() > 0 && own.upper().to_rational().unwrap() < got.budget, "{own}");
    }

    #[test]
    fn no_levels_and_two_mechanisms_are_refused() {
        let delta = parse("1e-10").unwrap();
        let levels = [level(NoiseKind::DiscreteGaussian, "1", 9), level(NoiseKind::Geometric, "1", 9)];
        let pair: Vec<(&GroupLevel, bool)> = levels.iter().map(|level| (level, false)).collect();
        assert!(person_epsilons(&pair, Neighbors::AddRemove, &delta, 8, &Stop::default()).is_err());
        assert!(person_epsilons(&[], Neighbors::AddRemove, &delta, 8, &Stop::default()).is_err());
        assert!(person_epsilons(&pair[..1], Neighbors::AddRemove, &Rational::from(2), 8, &Stop::default()).is_err());
    }
}
