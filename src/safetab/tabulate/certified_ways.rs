//! The counts that one record can change, from the certificate of a release: for a ledger that composes it with other releases.
//!
//! A certificate says for each level the stability, the number of iterations and the noise, and [`guarantees`](super::guarantees) proves which mixes of
//! counts these allow. What it does not say is refused, and so is a certificate whose noise spends more than the budget that it states.

use std::{collections::BTreeMap, path::Path};

use rug::Rational;
use serde_json::Value;

use super::changes::{LevelFacts, Mix, counted, mix_of, mixes_of};
use crate::{
    account::{Composition, Counts},
    draws::EarlierBudgets,
    error::{Error, Result},
    law::Law,
    numeric::rational,
    safetab::{
        country::ALGORITHM,
        schema::{Privacy, RecordKind, RegionType},
    },
};

/// The largest number of mixes of groups of a pass.
const MOST_MIXES: usize = 1000;
/// The largest number of groups, or of iterations of a level.
const MOST_GROUPS: u64 = 1_000_000;

/// Of a geography that was cut to the blocks of the records.
const BLOCKS: &str = "which blocks hold a unit is no secret, and not part of the guarantee";

/// The statements of a certificate about one record more or less.
#[derive(Clone, Debug)]
pub struct CertifiedWays {
    /// The program.
    pub program: &'static str,
    /// Whether budgets are epsilons of pure differential privacy, and not rho.
    pub is_pure: bool,
    /// The budget of the release, with those of all earlier draws of the same records, which somebody may have seen.
    pub budget: Rational,
    /// The mixes of counts that a record can change; empty after earlier draws, of which only the budgets are known.
    pub ways: Vec<Composition>,
    /// The condition under which the budget holds, about a record; `None` without one.
    pub condition: Option<String>,
}

/// The program of a certificate.
#[derive(Clone, Copy)]
enum CertifiedKind {
    Persons,
    Households,
    Country,
}

impl CertifiedKind {
    const ALL: [CertifiedKind; 3] = [CertifiedKind::Persons, CertifiedKind::Households, CertifiedKind::Country];

    fn program(self) -> &'static str {
        match self {
            CertifiedKind::Persons => RecordKind::Persons.program(),
            CertifiedKind::Households => RecordKind::Households.program(),
            CertifiedKind::Country => ALGORITHM,
        }
    }
}

/// A certificate that is being read, and its name.
struct Reader<'a> {
    file: &'a Path,
}

impl CertifiedWays {
    /// Reads the text of `certificate.json`; `file` names it in messages.
    pub fn parse(text: &str, file: &Path) -> Result<CertifiedWays> {
        let reader = Reader { file };
        let all: Value = serde_json::from_str(text).map_err(|why| Error::DataFile {
            file: crate::error::shown(file),
            line: why.line(),
            column: why.column(),
            why: why.to_string(),
        })?;
        let program = all["algorithm"].as_str().unwrap_or_default();
        let Some(kind) = CertifiedKind::ALL.into_iter().find(|kind| kind.program() == program) else {
            let known = CertifiedKind::ALL.map(|kind| format!("{:?}", kind.program()));
            return Err(reader.refuse("algorithm", &known.join(" or ")));
        };
        if !all["insecure_seed"].is_null() {
            return Err(reader.refuse("insecure_seed", "null: noise from a known seed protects nobody"));
        }
        if !all["neighbors"].as_str().is_some_and(|text| text.starts_with("unbounded: ")) {
            return Err(reader.refuse("neighbors", "budgets for one record more or less"));
        }
        let (privacy, unit) = match (all.get("rho_exact"), all.get("pure_epsilon_exact")) {
            (Some(_), None) => (Privacy::ZeroConcentrated, "rho"),
            (None, Some(_)) => (Privacy::Pure, "pure_epsilon"),
            _ => return Err(reader.refuse("rho_exact", "either rho_exact or pure_epsilon_exact")),
        };
        let budget = reader.number(&all, &format!("{unit}_exact"))?;
        let is_pure = privacy == Privacy::Pure;
        let earlier = EarlierBudgets::from_json(&all, unit)
            .ok_or_else(|| reader.refuse("earlier_draws", "the budgets of these draws beside it"))?;
        if let Some(why) = earlier.no_sum() {
            return Err(reader.refuse("earlier_draws_of_another_unit", &format!("0. {why}")));
        }
        let of_blocks = all["blocks"].as_str().filter(|said| said.starts_with("cut to ")).map(|_| BLOCKS.to_string());
        let conditions: Vec<String> = earlier.condition().into_iter().chain(of_blocks).collect();
        let condition = (!conditions.is_empty()).then(|| conditions.join("; "));
        if earlier.draws() > 0 {
            let budget = earlier.bound(&all, &budget);
            return Ok(CertifiedWays { program: kind.program(), is_pure, budget, ways: Vec::new(), condition });
        }
        let ways = reader.ways(&all, kind, privacy)?;
        let spent = |way: &Composition| if is_pure { way.pure_epsilon() } else { Some((**way.rho()).clone()) };
        if ways.iter().any(|way| spent(way).is_none_or(|spent| spent > budget)) {
            return Err(reader.refuse(&format!("{unit}_exact"), "a budget that covers the noise of its levels"));
        }
        Ok(CertifiedWays { program: kind.program(), is_pure, budget, ways, condition })
    }
}

impl Reader<'_> {
    fn refuse(&self, key: &str, expected: &str) -> Error {
        Error::DataFile {
            file: crate::error::shown(self.file),
            line: 0,
            column: 0,
            why: format!("{key}: expected {expected}, as in the certificate.json of `tabulate`"),
        }
    }

    fn list<'v>(&self, value: &'v Value, key: &str) -> Result<&'v Vec<Value>> {
        value[key].as_array().filter(|list| !list.is_empty()).ok_or_else(|| self.refuse(key, "a list"))
    }

    fn whole(&self, value: &Value, key: &str) -> Result<u64> {
        let number = value[key].as_u64().filter(|number| *number <= MOST_GROUPS);
        number.ok_or_else(|| self.refuse(key, &format!("a whole number, at most {MOST_GROUPS}")))
    }

    fn number(&self, value: &Value, key: &str) -> Result<Rational> {
        let number = value[key].as_str().and_then(|text| rational::parse(text).ok());
        number.filter(|number| *number >= 0).ok_or_else(|| self.refuse(key, "an exact number in quotes"))
    }

    /// The mixes of all passes: a record is in one of them.
    fn ways(&self, all: &Value, kind: CertifiedKind, privacy: Privacy) -> Result<Vec<Composition>> {
        let mut mixes: Vec<Mix> = Vec::new();
        for pass in self.list(all, "passes")? {
            let levels = self.list(pass, "levels")?;
            match kind {
                CertifiedKind::Persons | CertifiedKind::Country => {
                    let facts = match kind {
                        CertifiedKind::Country => self.country(levels, privacy)?,
                        _ => levels.iter().map(|level| self.level(level, privacy)).collect::<Result<Vec<_>>>()?,
                    };
                    if let Some(ways) = pass.get("groups_of_a_record") {
                        mixes.extend(self.enumerated(ways, &facts)?);
                        continue;
                    }
                    let number = |level: &LevelFacts| level.detailed_only_choices(privacy).count();
                    let each: BTreeMap<_, usize> = facts.iter().map(|level| (level.kind, number(level))).collect();
                    if each.values().fold(1_usize, |all, one| all.saturating_mul(*one)) > MOST_MIXES {
                        return Err(self.refuse("passes", &format!("at most {MOST_MIXES} mixes of groups")));
                    }
                    mixes.extend(mixes_of(&facts, privacy));
                }
                CertifiedKind::Households => mixes.push(self.household(levels, privacy)?),
            }
        }
        let composition = |mix: &Mix| {
            let counts = mix.iter().map(|(law, count)| Counts::new(law.clone(), *count, 1));
            Composition::new(counts.collect::<Result<Vec<Counts>>>()?)
        };
        let ways = mixes.iter().filter(|mix| !mix.is_empty()).map(composition).collect::<Result<Vec<_>>>()?;
        if ways.is_empty() { Err(self.refuse("passes", "a level with noise")) } else { Ok(ways) }
    }

    fn level(&self, level: &Value, privacy: Privacy) -> Result<LevelFacts> {
        let name = level["region_type"].as_str().unwrap_or_default();
        let region = RegionType::ALL.into_iter().find(|region| region.name() == name);
        let region = region.ok_or_else(|| self.refuse("region_type", "a summary level, as \"USA\""))?;
        Ok(LevelFacts {
            kind: (region.granularity() as u64, self.whole(level, "level")?),
            stability: self.whole(level, "stability")?,
            iterations: self.whole(level, "iterations")?,
            detailed_only: self.whole(level, "detailed_only_iterations")?,
            laws: [
                self.law(level, "total_only", privacy)?,
                self.law(level, "stage1", privacy)?,
                self.law(level, "stage2", privacy)?,
            ],
            people: None,
            alone: None,
        })
    }

    /// The mixes of records that were enumerated: for each of them the numbers of its groups at each level.
    fn enumerated(&self, ways: &Value, levels: &[LevelFacts]) -> Result<Vec<Mix>> {
        let refuse = || {
            self.refuse(
                "groups_of_a_record",
                "for each level two numbers of groups, within its stability and its groups",
            )
        };
        let ways: Vec<Vec<[u64; 2]>> = serde_json::from_value(ways.clone()).map_err(|_| refuse())?;
        let fits = |(level, [only, others]): (&LevelFacts, &[u64; 2])| {
            *only <= level.detailed_only
                && *others <= level.iterations - level.detailed_only.min(level.iterations)
                && only.checked_add(*others).is_some_and(|all| all <= level.stability)
        };
        let is_whole = |way: &Vec<[u64; 2]>| way.len() == levels.len() && levels.iter().zip(way).all(fits);
        match (1..=MOST_MIXES).contains(&ways.len()) && ways.iter().all(is_whole) {
            true => Ok(ways.iter().map(|way| mix_of(levels, way)).collect()),
            false => Err(refuse()),
        }
    }

    /// The levels of a country: those of one grouping are of one kind, and of another kind if all groups have one table. The noise of stages
    /// that are not drawn is not stated, and no count has it.
    fn country(&self, levels: &[Value], privacy: Privacy) -> Result<Vec<LevelFacts>> {
        let mut groupings: Vec<&str> = Vec::new();
        let mut all = Vec::new();
        for level in levels {
            let name = level["grouping"].as_str().ok_or_else(|| self.refuse("grouping", "the name of a grouping"))?;
            let grouping = groupings.iter().position(|known| *known == name).unwrap_or_else(|| {
                groupings.push(name);
                groupings.len() - 1
            });
            let (iterations, sole) =
                (self.whole(level, "groups_of_a_region")?, self.whole(level, "groups_with_one_table")?);
            if sole > iterations {
                return Err(self.refuse("groups_with_one_table", "at most groups_of_a_region"));
            }
            let is_single = sole == iterations;
            let law = |stage, is_drawn: bool, other| self.law(level, if is_drawn { stage } else { other }, privacy);
            all.push(LevelFacts {
                kind: (grouping as u64, u64::from(is_single)),
                stability: self.whole(level, "stability")?,
                iterations,
                detailed_only: sole,
                laws: [
                    law("total_only", sole > 0, "stage2")?,
                    law("stage1", !is_single, "total_only")?,
                    law("stage2", !is_single, "total_only")?,
                ],
                people: None,
                alone: None,
            });
        }
        Ok(all)
    }

    /// One cell of each table that is run, in each group of a household.
    fn household(&self, levels: &[Value], privacy: Privacy) -> Result<Mix> {
        let mut mix = Mix::new();
        for level in levels {
            let groups = self.whole(level, "stability")?.min(self.whole(level, "iterations")?);
            for table in ["t3", "t4"] {
                let budget = &level[format!("budget_{table}")];
                if !budget.is_number() {
                    return Err(self.refuse(&format!("budget_{table}"), "a number, 0 where the table is not run"));
                }
                if budget.as_f64() != Some(0.0) {
                    counted(&mut mix, &self.law(level, table, privacy)?, groups);
                }
            }
        }
        Ok(mix)
    }

    fn law(&self, level: &Value, stage: &str, privacy: Privacy) -> Result<Law> {
        let key = |parameter: &str| format!("{parameter}_{stage}_exact");
        match privacy {
            Privacy::ZeroConcentrated => Ok(Law::DiscreteGaussian { sigma2: self.number(level, &key("sigma2"))? }),
            Privacy::Pure => Ok(Law::DiscreteLaplace { epsilon: self.number(level, &key("laplace_epsilon"))? }),
        }
    }
}
