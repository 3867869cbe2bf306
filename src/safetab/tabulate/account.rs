//! What a run reveals of one person, certified.
//!
//! A person enters at most s groups of a level. A group that is detailed-only publishes one count that changes by one, of
//! noise s / (2 rho). Any other group has two: the total of stage 1, and one cell of stage 2. Which cells stage 2 counts is
//! chosen by the noisy total of stage 1, but whichever it chooses the person is in exactly one of them, with the same
//! noise. So given stage 1 the loss of stage 2 has one law, always that of one count, and the adaptive composition is that
//! of independent counts. Groups without the person, and cells without, have the same law for both neighbors. All else is
//! post-processing.
//!
//! How many of the s groups are detailed-only depends on the person. The concentrated rho is the same for every mix, the
//! exact loss is not: here it is the largest over all mixes. The mix is one per granularity and level of iterations, since
//! the iterations of a person are the same in all entities of a granularity. A person in fewer groups reveals less, as do
//! neighbors who share groups.
//!
//! Unbounded neighbors: a record is added or removed; it is in one pass. Bounded: a record is changed, into any other, so
//! that it leaves the groups of one mix and enters those of another, maybe of the other pass.

use std::collections::BTreeMap;

use rug::Rational;

use super::plan::LevelPlan;
use crate::{
    account::{Composition, Counts, conversions, paths::WorstPath},
    error::{Error, Result},
    numeric::{Enclosure, family::Units, sum::Law},
    safetab::schema::{Granularity, Level, Privacy},
};

/// Relative width of certified numbers: 10^-DIGITS.
const DIGITS: u32 = 10;

/// How many counts of each law change by one.
type Mix = BTreeMap<Law, u64>;

/// What a part of a run spends.
#[derive(Clone, Debug)]
pub struct Spent {
    /// The budget in the unit of the guarantee: rho, or the epsilon of pure differential privacy.
    pub budget: Rational,
    /// The smallest epsilon at delta, of the mix for which it is largest; nothing where the losses lie on a lattice that is
    /// too fine for an exact account.
    pub epsilon: Option<Enclosure>,
    /// The epsilon at delta that rho-zCDP implies (Bun & Steinke); nothing under pure differential privacy.
    pub zcdp_epsilon: Option<Enclosure>,
}

/// What a part of a run spends under both relations of neighbors.
#[derive(Clone, Debug)]
pub struct Account {
    /// One record is added or removed.
    pub unbounded: Spent,
    /// One record is changed.
    pub bounded: Spent,
}

/// Accounts at one delta. Parts with the same noise are accounted for once.
pub struct Accountant {
    privacy: Privacy,
    delta: Rational,
    known: BTreeMap<Vec<Mix>, Option<Enclosure>>,
}

impl Accountant {
    /// An accountant at the given delta, 0 < delta < 1.
    pub fn new(privacy: Privacy, delta: &Rational) -> Self {
        Accountant { privacy, delta: delta.clone(), known: BTreeMap::new() }
    }

    /// The account of passes, each a list of levels: a level alone, a pass alone, or the whole run.
    pub fn account(&mut self, passes: &[Vec<&LevelPlan>]) -> Result<Account> {
        let budgets: Vec<Rational> =
            passes.iter().map(|levels| levels.iter().fold(Rational::new(), |sum, level| sum + &level.budget)).collect();
        let budget = budgets.iter().max().cloned().unwrap_or_default();
        let single: Vec<Mix> = passes.iter().flat_map(|levels| mixes(levels)).collect();
        let mut pairs = Vec::new();
        for (number, left) in single.iter().enumerate() {
            for right in &single[number..] {
                let mut both = left.clone();
                right.iter().for_each(|(law, count)| *both.entry(law.clone()).or_default() += count);
                pairs.push(both);
            }
        }
        Ok(Account { unbounded: self.spent(budget.clone(), single)?, bounded: self.spent(budget * 2_u32, pairs)? })
    }

    fn spent(&mut self, budget: Rational, mixes: Vec<Mix>) -> Result<Spent> {
        let zcdp = self.privacy == Privacy::ZeroConcentrated && budget > 0;
        let zcdp_epsilon = zcdp.then(|| conversions::zcdp_epsilon(&budget, &self.delta, DIGITS));
        let mixes = largest(mixes);
        let epsilon = match self.known.get(&mixes) {
            Some(known) => known.clone(),
            None => {
                let found = worst(&mixes, &self.delta)?;
                self.known.insert(mixes, found.clone());
                found
            }
        };
        Ok(Spent { budget, epsilon, zcdp_epsilon })
    }
}

/// Every mix of detailed-only and other groups that a person of a pass can have.
fn mixes(levels: &[&LevelPlan]) -> Vec<Mix> {
    let mut kinds: Vec<((Granularity, Level), u64)> = Vec::new();
    for plan in levels {
        let kind = (plan.region_type.granularity(), plan.level);
        if !kinds.iter().any(|(known, _)| *known == kind) {
            kinds.push((kind, (plan.detailed_only() as u64).min(plan.stability.into())));
        }
    }
    let mut choices: Vec<Vec<u64>> = vec![Vec::new()];
    for (_, most) in &kinds {
        let longer = |choice: Vec<u64>| (0..=*most).map(move |own| [choice.clone(), vec![own]].concat());
        choices = choices.into_iter().flat_map(longer).collect();
    }
    let mix = |choice: Vec<u64>| {
        let mut mix = Mix::new();
        for plan in levels {
            let kind = (plan.region_type.granularity(), plan.level);
            let place = kinds.iter().position(|(known, _)| *known == kind).unwrap_or_default();
            let others = (plan.iterations.len() - plan.detailed_only()) as u64;
            let others = others.min(u64::from(plan.stability) - choice[place]);
            for (noise, count) in [(&plan.total_only, choice[place]), (&plan.stage_1, others), (&plan.stage_2, others)]
            {
                if count > 0 {
                    *mix.entry(noise.law.clone()).or_default() += count;
                }
            }
        }
        mix
    };
    choices.into_iter().map(mix).collect()
}

/// The mixes that no other one contains: to publish fewer counts is post-processing of publishing more.
fn largest(mut mixes: Vec<Mix>) -> Vec<Mix> {
    mixes.sort();
    mixes.dedup();
    let within = |small: &Mix, large: &Mix| {
        small.iter().all(|(law, count)| large.get(law).is_some_and(|larger| larger >= count))
    };
    let kept = |(place, mix): &(usize, &Mix)| {
        !mixes.iter().enumerate().any(|(other, larger)| other != *place && within(mix, larger))
    };
    mixes.iter().enumerate().filter(kept).map(|(_, mix)| mix.clone()).collect()
}

/// The smallest epsilon at which all mixes have delta.
fn worst(mixes: &[Mix], delta: &Rational) -> Result<Option<Enclosure>> {
    let composition = |mix: &Mix| {
        let counts = mix.iter().map(|(law, count)| match law {
            Law::DiscreteGaussian { sigma2 } => Counts::discrete_gaussian(sigma2.clone(), *count, 1),
            Law::DiscreteLaplace { epsilon } => Counts::discrete_laplace(epsilon.clone(), *count, 1),
            Law::Gaussian { sigma2 } => Counts::gaussian(sigma2.clone(), *count, 1),
        });
        Composition::new(counts.collect::<Result<Vec<Counts>>>()?)
    };
    let compositions = mixes.iter().filter(|mix| !mix.is_empty()).map(composition).collect::<Result<Vec<_>>>();
    let epsilon = compositions.and_then(|compositions| match compositions.is_empty() {
        true => Ok(Enclosure::double(0.0, 64)),
        false => Ok(WorstPath::new(compositions, Units::Single)?.epsilon(delta, DIGITS)?.0.value),
    });
    match epsilon {
        Ok(epsilon) => Ok(Some(epsilon)),
        // Too fine a lattice, or noise outside the accountant's range: the plain guarantee remains.
        Err(Error::Unsweepable { .. } | Error::OutOfRange { .. }) => Ok(None),
        Err(other) => Err(other),
    }
}
