//! The certified privacy guarantees of a run for one person.
//!
//! A person enters at most s groups of a level. A detailed-only group publishes one count that changes by one, with noise s / (2 rho). Any
//! other group has two: the total of stage 1, and one cell of stage 2. The noisy total of stage 1 chooses the cells of stage 2. For every
//! choice the person is in exactly one of them, with the same noise. So given stage 1, the loss of stage 2 always has the law of one count,
//! and the adaptive composition has the law of independent counts. Groups and cells without the person have the same law for both
//! neighbors. Everything else is post-processing.
//!
//! The numbers of groups depend on the person. The loss is the largest over all persons, who are enumerated over all levels of a pass at once
//! (`safetab::memberships`): then some person attains it, and is an example. Where that would take too long, it is the largest
//! over all mixes of detailed-only and other groups, up to s at each level; it may be that nobody is in s groups of every level, so it is an upper bound, and is called one.
//! (With geometric noise the worst mix is known: the one with the most detailed-only
//! groups. Any mechanism with the pure guarantee epsilon, including the two stages, is post-processing of one count with the loss epsilon
//! or -epsilon, which is the loss of one count with this noise, and composition preserves this: Kairouz, Oh & Viswanath 2015, Theorem 3.4.)
//! There is one mix per granularity and level of iterations, because the iterations of a person are the same in all entities of a
//! granularity. A person in fewer groups has a smaller loss, and so have neighbors who share groups.
//!
//! A household also enters at most s groups of a level. In each group with a total it is in one measured cell of T3 and in one of T4. The
//! published totals determine which cells are measured. So it changes s counts of each table, and the losses of T3 and T4 add up: there is
//! one mix.
//!
//! Unbounded neighbors: a record is added or removed; it is in one pass. Bounded neighbors: a record is changed into any other, so it
//! leaves the groups of one mix and enters those of another, possibly in the other pass. All of these counts change if the two records have no
//! group in common, or are in different regions of every level; if no such pair is known the loss is an upper bound, because a group that has
//! both records keeps its total.

use std::collections::BTreeMap;

use rug::Rational;
use serde_json::Value;

use super::{
    changes::{Change, LevelFacts, Mix, Part, Way, largest},
    household_levels::HouseholdLevel,
    levels::TabulatedLevel,
};
use crate::{
    account::{Account, Composition, Counts, Delta, Rho, Stop, conversions, paths::WorstPath},
    error::{Error, Result},
    loss::family::Units,
    numeric::{Enclosure, enclosure},
    safetab::{places::PlaceSample, schema::Privacy},
};

/// The relative width of certified numbers is 10^-DIGITS.
const DIGITS: u32 = 10;

/// The guarantee of a part of a run under one neighbor relation.
#[derive(Clone, Debug)]
pub struct Guarantee {
    /// The budget in the unit of the guarantee: rho, or the epsilon of pure differential privacy.
    pub budget: Rational,
    /// The smallest epsilon at delta for the mix where it is largest; an upper bound if there is no example; `None` if the losses lie on a
    /// lattice that is too fine for an exact account.
    pub epsilon: Option<Enclosure>,
    /// The groups of the record, or of both, with that epsilon, by name; `None` if no such record is known.
    pub example: Option<Vec<Vec<String>>>,
    /// The epsilon at delta that rho-zCDP implies (Bun & Steinke); `None` under pure differential privacy.
    pub zcdp_epsilon: Option<Enclosure>,
}

impl Guarantee {
    /// Whether somebody has the epsilon, so that it is no upper bound.
    pub fn is_exact(&self) -> bool {
        self.example.is_some()
    }

    /// The epsilon in JSON: of an upper bound only the upper end.
    pub fn epsilon_json(&self) -> Value {
        let mut json = self.epsilon.as_ref().map_or(Value::Null, Enclosure::to_json);
        if let (Value::Object(ends), false) = (&mut json, self.is_exact()) {
            ends.insert("lower".to_string(), Value::Null);
        }
        json
    }

    /// `exact` or `at most`.
    pub fn epsilon_is(&self) -> &'static str {
        if self.is_exact() { "exact" } else { "at most" }
    }

    /// The epsilon in tables: an upper bound is rounded up, and says what it is.
    pub fn epsilon_shown(&self, digits: usize) -> String {
        match &self.epsilon {
            None => "-".to_string(),
            Some(epsilon) if self.is_exact() => epsilon.shown(digits),
            Some(epsilon) => format!("at most {}", epsilon.upper_text(digits)),
        }
    }
}

/// The guarantees of a part of a run under both neighbor relations.
#[derive(Clone, Debug)]
pub struct Guarantees {
    /// One record is added or removed.
    pub unbounded: Guarantee,
    /// One record is changed.
    pub bounded: Guarantee,
}

/// The guarantees of a pass and of its levels.
#[derive(Clone, Debug)]
pub struct PassGuarantees {
    /// The pass as a whole.
    pub pass: Guarantees,
    /// Each level alone.
    pub levels: Vec<Guarantees>,
    /// The ways in which a record changes counts of the pass: at each level the number of its groups that publish one count of it, and of all
    /// others. `None` if they are not enumerated.
    pub ways: Option<Vec<Vec<[u64; 2]>>>,
}

/// The guarantees of a run and of its parts.
#[derive(Clone, Debug)]
pub struct RunGuarantees {
    /// Each pass.
    pub passes: Vec<PassGuarantees>,
    /// The run as a whole.
    pub run: Guarantees,
}

impl RunGuarantees {
    /// The guarantees for a record of a run of passes, each with its levels, at delta, 0 < delta < 1; an error with [`Error::Stopped`] once
    /// `stop` is set.
    pub(in crate::safetab) fn new<P, L: AccountedLevel>(
        privacy: Privacy,
        delta: &Delta,
        passes: &[(P, Vec<L>)],
        stop: &Stop,
    ) -> Result<Self> {
        RunGuarantees::of_passes(Accountant::new(privacy, delta, stop), passes, |levels: &[&L]| {
            L::part(levels, privacy)
        })
    }

    /// The guarantees of passes; `part` gives the budget and the mixes of some levels together.
    fn of_passes<P, L>(
        mut accountant: Accountant,
        passes: &[(P, Vec<L>)],
        part: impl Fn(&[&L]) -> Part,
    ) -> Result<Self> {
        let (mut each, mut whole) = (Vec::new(), Vec::new());
        for (_, levels) in passes {
            let alone =
                levels.iter().map(|level| accountant.guarantees(&[part(&[level])])).collect::<Result<Vec<_>>>()?;
            let pass = part(&levels.iter().collect::<Vec<&L>>());
            let ways = pass.people.is_some().then(|| pass.ways.iter().map(|way| way.numbers.clone()).collect());
            each.push(PassGuarantees {
                levels: alone,
                pass: accountant.guarantees(std::slice::from_ref(&pass))?,
                ways,
            });
            whole.push(pass);
        }
        Ok(RunGuarantees { passes: each, run: accountant.guarantees(&whole)? })
    }
}

/// A level of either program, for the account.
pub(in crate::safetab) trait AccountedLevel: Sized {
    /// Some levels of one pass together.
    fn part(levels: &[&Self], privacy: Privacy) -> Part;
}

impl AccountedLevel for TabulatedLevel {
    fn part(levels: &[&Self], privacy: Privacy) -> Part {
        let budget = levels.iter().fold(Rational::new(), |sum, level| sum + &level.budget);
        let facts: Vec<LevelFacts> = levels.iter().map(|level| LevelFacts::of_level(level)).collect();
        let places =
            levels.iter().map(|level| level.known.places.as_ref().map(|(sample, column)| (&**sample, *column)));
        Part::of_levels(budget, &facts, privacy, PlaceSample::places(places))
    }
}

impl AccountedLevel for HouseholdLevel {
    fn part(levels: &[&Self], _: Privacy) -> Part {
        let budget = levels.iter().fold(Rational::new(), |sum, level| sum + level.budget());
        Part::of_mixes(budget, vec![household_mix(levels)])
    }
}

/// An accountant at one delta. Parts with the same noise are evaluated only once.
struct Accountant {
    privacy: Privacy,
    delta: Delta,
    stop: Stop,
    known: BTreeMap<Vec<Change>, Option<Found>>,
}

impl Accountant {
    fn new(privacy: Privacy, delta: &Delta, stop: &Stop) -> Self {
        Accountant { privacy, delta: delta.clone(), stop: stop.clone(), known: BTreeMap::new() }
    }

    /// The guarantees of parts of different passes: a single level, a single pass, or the whole run.
    fn guarantees(&mut self, parts: &[Part]) -> Result<Guarantees> {
        let budget = parts.iter().map(|part| &part.budget).max().cloned().unwrap_or_default();
        let all: Vec<(&Part, &Way)> =
            parts.iter().flat_map(|part| part.ways.iter().map(move |way| (part, way))).collect();
        let single = all.iter().map(|(part, way)| part.change(way)).collect();
        let pairs = all.iter().enumerate().flat_map(|(number, (part, way))| {
            all[number..].iter().map(move |(other_part, other)| part.change_into(way, (other_part, other)))
        });
        let pairs = pairs.collect();
        Ok(Guarantees {
            unbounded: self.guarantee(budget.clone(), single)?,
            bounded: self.guarantee(budget * 2_u32, pairs)?,
        })
    }

    fn guarantee(&mut self, budget: Rational, changes: Vec<Change>) -> Result<Guarantee> {
        let zcdp = self.privacy == Privacy::ZeroConcentrated && budget > 0;
        let rho = Rho::try_from(&budget).ok().filter(|_| zcdp);
        let zcdp_epsilon = rho.map(|rho| conversions::zcdp_epsilon(&rho, &self.delta, DIGITS));
        let changes = largest(changes);
        let found = match self.known.get(&changes) {
            Some(known) => known.clone(),
            None => {
                let found = worst(&changes, &self.delta, &self.stop)?;
                self.known.insert(changes, found.clone());
                found
            }
        };
        let (epsilon, example) = found.map_or((None, None), |found| (Some(found.epsilon), found.example));
        let epsilon = match self.privacy {
            Privacy::ZeroConcentrated => epsilon,
            // The pure guarantee holds at every delta, and is attained at no delta above 0.
            Privacy::Pure => epsilon.map(|own| {
                let pure = Enclosure::rational(&budget, own.upper().prec());
                let upper = enclosure::smaller(own.upper(), pure.upper());
                Enclosure::new(enclosure::smaller(own.lower(), &upper), upper)
            }),
        };
        Ok(Guarantee { budget, epsilon, example, zcdp_epsilon })
    }
}

/// The counts that a household changes: one of T3 and one of T4 in each of its groups.
fn household_mix(levels: &[&HouseholdLevel]) -> Mix {
    let mut mix = Mix::new();
    for level in levels {
        let groups = u64::from(level.stability).min(level.iterations.len() as u64);
        for table in level.tables.iter().flatten().filter(|_| groups > 0) {
            *mix.entry(table.noise.law.clone()).or_default() += groups;
        }
    }
    mix
}

/// The epsilon of the worst change, and the groups of the records with it, by name; `None` if no such record is known.
#[derive(Clone)]
struct Found {
    epsilon: Enclosure,
    example: Option<Vec<Vec<String>>>,
}

/// The smallest epsilon for which all changes have at most delta.
fn worst(changes: &[Change], delta: &Delta, stop: &Stop) -> Result<Option<Found>> {
    match worst_of(changes, delta, stop) {
        Ok(found) => Ok(Some(found)),
        // The lattice is too fine, or the noise outside the accountant's range: only the budget is guaranteed.
        Err(Error::OutOfRange { .. } | Error::Undecided { .. }) => Ok(None),
        Err(error) if error.is_beyond_reach() => Ok(None),
        Err(other) => Err(other),
    }
}

fn worst_of(changes: &[Change], delta: &Delta, stop: &Stop) -> Result<Found> {
    let composition = |mix: &Mix| {
        let counts = mix.iter().map(|(law, count)| Counts::new(law.clone(), *count, 1));
        Composition::new(counts.collect::<Result<Vec<Counts>>>()?)
    };
    let changes: Vec<&Change> = changes.iter().filter(|(mix, _)| !mix.is_empty()).collect();
    let compositions = changes.iter().map(|(mix, _)| composition(mix)).collect::<Result<Vec<_>>>()?;
    if compositions.is_empty() {
        return Ok(Found { epsilon: Enclosure::double(0.0, 64), example: Some(Vec::new()) });
    }
    let answer = WorstPath::new(compositions.clone(), Units::Single)?.until(stop).epsilon(delta, DIGITS)?;
    let (worst, _) = answer.pair().unwrap_or_default();
    let example = changes.get(worst).and_then(|(_, example)| example.clone());
    let epsilon = match compositions.get(worst).filter(|_| example.is_some() && compositions.len() > 1) {
        // lower end <= the epsilon of that record <= the largest one <= upper end
        Some(own) => {
            let own = own.until(stop).epsilon(delta, DIGITS)?.value;
            let lower = enclosure::smaller(own.lower(), answer.value.upper());
            Enclosure::new(lower, answer.value.upper().clone())
        }
        None => answer.value,
    };
    Ok(Found { epsilon, example })
}

#[cfg(test)]
mod tests {
    use super::super::levels::{CountNoise, KnownPersons};
    use super::*;
    use crate::law::Law;
    use crate::{
        numbers::number,
        safetab::{
            groups::TabulatedIteration,
            schema::{IterationCode, IterationLevel, Pass, RegionType},
        },
    };

    /// A level of stability 3 with these numbers of detailed-only and other iterations; the noise is discrete Gaussian or Laplace.
    fn plan(
        privacy: Privacy,
        region_type: RegionType,
        level: IterationLevel,
        budget: &str,
        only: usize,
        others: usize,
    ) -> TabulatedLevel {
        let budget = number(budget);
        let noise = |share: &str| {
            let share = Rational::from(&budget * &number(share)) / 3_u32;
            let law = match privacy {
                Privacy::ZeroConcentrated => Law::DiscreteGaussian { sigma2: (share * 2_u32).recip() },
                Privacy::Pure => Law::DiscreteLaplace { epsilon: share },
            };
            CountNoise { law, margin: 0 }
        };
        let code = IterationCode::read(b"1000").unwrap();
        let key = |detailed_only| TabulatedIteration { iteration: code, detailed_only };
        TabulatedLevel {
            region_type,
            level,
            stability: 3,
            total_only: noise("1"),
            stage_1: noise("1/10"),
            stage_2: noise("9/10"),
            thresholds: [1, 2, 3],
            suppression: None,
            iterations: [vec![key(true); only], vec![key(false); others]].concat(),
            regions: vec![String::new()],
            known: KnownPersons::default(),
            budget,
        }
    }

    fn epsilon(counts: &[(&CountNoise, u64)], delta: &Delta) -> Enclosure {
        let counts = counts.iter().filter(|(_, count)| *count > 0);
        let counts = counts.map(|(noise, count)| Counts::new(noise.law.clone(), *count, 1).unwrap());
        Composition::new(counts).unwrap().epsilon(delta, 10).unwrap().value
    }

    /// The account of passes together.
    fn account_of(privacy: Privacy, delta: &Delta, passes: &[&[&TabulatedLevel]]) -> Guarantees {
        let levels = |levels: &&[&TabulatedLevel]| levels.iter().map(|level| (*level).clone()).collect();
        let passes: Vec<(Pass, Vec<TabulatedLevel>)> = Pass::ALL.into_iter().zip(passes.iter().map(levels)).collect();
        RunGuarantees::new(privacy, delta, &passes, &Stop::default()).unwrap().run
    }

    #[test]
    fn a_household_changes_a_count_of_each_table_in_each_of_its_groups() {
        let delta: Delta = "1e-6".parse().unwrap();
        let level = |region_type, level, budgets: [&str; 2], iterations: usize| {
            HouseholdLevel::for_tests(Privacy::ZeroConcentrated, region_type, level, budgets, 3, iterations)
        };
        // T4 of the nation is not run, and the county has only two iterations.
        let nation = level(RegionType::Usa, IterationLevel::One, ["2", "0"], 5);
        let county = level(RegionType::County, IterationLevel::Two, ["1/2", "1"], 2);
        let noise = |level: &HouseholdLevel, table: usize| level.tables[table].as_ref().unwrap().noise.clone();
        let own = epsilon(&[(&noise(&nation, 0), 3), (&noise(&county, 0), 2), (&noise(&county, 1), 2)], &delta);
        let passes = [(Pass::UnitedStates, vec![nation, county])];
        let account = RunGuarantees::new(Privacy::ZeroConcentrated, &delta, &passes, &Stop::default()).unwrap().run;
        assert_eq!((account.unbounded.budget, account.bounded.budget), (number("7/2"), number("7")));
        let found = account.unbounded.epsilon.unwrap();
        assert!(found.overlaps(&own) && found.is_tight(9), "{found:?} {own:?}");
        assert!(account.bounded.epsilon.unwrap().lower() > found.upper());
    }

    #[test]
    fn the_account_is_that_of_the_worst_mix() {
        let delta: Delta = "1e-6".parse().unwrap();
        for privacy in [Privacy::ZeroConcentrated, Privacy::Pure] {
            let nation = plan(privacy, RegionType::Usa, IterationLevel::Two, "2", 2, 5);
            let state = plan(privacy, RegionType::State, IterationLevel::Two, "1", 2, 5);
            let county = plan(privacy, RegionType::County, IterationLevel::Two, "1/2", 0, 5);
            let account = account_of(privacy, &delta, &[&[&nation, &state, &county]]);
            // This number of detailed-only groups: the same in the nation and the state, none in the county.
            let of = |people: u64, only: u64| {
                let others = 3 * people - only;
                let county_groups = 3 * people;
                epsilon(
                    &[
                        (&nation.total_only, only),
                        (&nation.stage_1, others),
                        (&nation.stage_2, others),
                        (&state.total_only, only),
                        (&state.stage_1, others),
                        (&state.stage_2, others),
                        (&county.stage_1, county_groups),
                        (&county.stage_2, county_groups),
                    ],
                    &delta,
                )
            };
            for (spent, people, most) in [(&account.unbounded, 1, 2), (&account.bounded, 2, 4)] {
                let each: Vec<Enclosure> = (0..=most).map(|only| of(people, only)).collect();
                let worst = each.iter().skip(1).fold(each[0].clone(), |worst, each| worst.max(each));
                let found = spent.epsilon.as_ref().unwrap();
                assert!(found.overlaps(&worst) && found.is_tight(9), "{found:?} {worst:?}");
                assert_eq!(spent.budget, Rational::from(7 * people) / 2_u32);
                assert_eq!(spent.zcdp_epsilon.is_some(), privacy == Privacy::ZeroConcentrated);
            }
            assert!(privacy == Privacy::ZeroConcentrated || account.unbounded.epsilon.unwrap().upper() <= &3.5_f64);
        }
    }

    #[test]
    fn passes_do_not_add_up_but_a_changed_record_can_leave_one_for_the_other() {
        let delta: Delta = "1e-6".parse().unwrap();
        let nation = plan(Privacy::ZeroConcentrated, RegionType::Usa, IterationLevel::One, "2", 0, 5);
        let island = plan(Privacy::ZeroConcentrated, RegionType::PrState, IterationLevel::One, "1/2", 0, 5);
        let account = account_of(Privacy::ZeroConcentrated, &delta, &[&[&nation], &[&island]]);
        let alone = epsilon(&[(&nation.stage_1, 3), (&nation.stage_2, 3)], &delta);
        assert!(account.unbounded.epsilon.unwrap().overlaps(&alone));
        let twice = epsilon(&[(&nation.stage_1, 6), (&nation.stage_2, 6)], &delta);
        assert!(account.bounded.epsilon.unwrap().overlaps(&twice));
        assert_eq!((account.unbounded.budget, account.bounded.budget), (number("2"), number("4")));
        // Fewer iterations than the stability: at most as many counts as there are iterations.
        let few = plan(Privacy::ZeroConcentrated, RegionType::Usa, IterationLevel::One, "2", 0, 1);
        let account = account_of(Privacy::ZeroConcentrated, &delta, &[&[&few]]);
        let one = epsilon(&[(&few.stage_1, 1), (&few.stage_2, 1)], &delta);
        assert!(account.unbounded.epsilon.unwrap().overlaps(&one));
    }
}
