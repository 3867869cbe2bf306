//! A plan of levels, read from a TOML file.
//!
//! | field | meaning |
//! | --- | --- |
//! | `title` | the title |
//! | `mechanism` | `discrete-gaussian` (default; budgets are rho) or `geometric` (budgets are epsilon) |
//! | `gamma` | the share of stage 1 (default 1/10) |
//! | `race_codes` | race multiplicity, 1 to 8 (default 8); the stability is max(2, this) + 1 |
//! | `neighbors` | `add-remove` (default) or `bounded` |
//! | `suppress` | the probability with which an empty group is suppressed if its total alone is published (default 0.9999) |
//! | `target_error` | the target ratio of the margin of a cell to the cell (default 1/10) |
//! | `decimals` | the decimals of budgets that are computed for a margin (default 6) |
//! | `[[level]]` `name` | a level, and one of: |
//! | `rho`, `epsilon` | its budget, by the mechanism |
//! | `moe` | the margin of error of a cell at 95 %: the least budget for it is used |
//! | `stability` | instead of the stability by `race_codes` |
//! | `total_only` | whether some of its groups are published by their total only (default false) |
//! | `suppressed` | whether small totals are suppressed (default true) |
//! | `thresholds` | the three noisy totals from which a group gets a finer table |
//! | `groups` | pairs of a size and a number: the expected number of groups of that size, in two stages; how many of them are suppressed needs `thresholds` |

use rug::Rational;
use serde::Deserialize;
use toml::Spanned;

use super::{GroupLevel, MOST_DECIMALS, least_budget, stability};
use crate::{
    error::{Error, Result},
    io::toml_reader::{Exact, TomlReader},
    release::Neighbors,
    safetab::cell_noise::NoiseKind,
};

/// The largest number of levels.
const MOST_LEVELS: usize = 1000;

/// A plan.
#[derive(Clone, Debug)]
pub struct TuningPlan {
    /// Its title.
    pub title: String,
    /// The noise of all levels.
    pub noise_kind: NoiseKind,
    /// The neighbor relation.
    pub neighbors: Neighbors,
    /// The probability with which an empty group is suppressed if its total alone is published.
    pub suppress: Rational,
    /// The target ratio of the margin of a cell to the cell.
    pub target_error: Rational,
    /// Its levels.
    pub levels: Vec<PlannedLevel>,
}

/// A level of a plan.
#[derive(Clone, Debug)]
pub struct PlannedLevel {
    /// Its noise.
    pub level: GroupLevel,
    /// The margin for which the budget was computed; `None` if the budget was given.
    pub moe: Option<u32>,
    /// Whether some of its groups are published by their total only.
    pub total_only: bool,
    /// Whether small totals are suppressed.
    pub suppressed: bool,
    /// The noisy totals from which a group gets a finer table.
    pub thresholds: Option<[i64; 3]>,
    /// The expected numbers of groups by size.
    pub groups: Vec<(u64, u64)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanFile {
    title: String,
    mechanism: Option<Spanned<String>>,
    gamma: Option<Spanned<Exact>>,
    race_codes: Option<Spanned<u32>>,
    neighbors: Option<Spanned<String>>,
    suppress: Option<Spanned<Exact>>,
    target_error: Option<Spanned<Exact>>,
    decimals: Option<Spanned<u32>>,
    #[serde(rename = "level")]
    levels: Vec<Spanned<LevelFile>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LevelFile {
    name: Spanned<String>,
    rho: Option<Spanned<Exact>>,
    epsilon: Option<Spanned<Exact>>,
    moe: Option<Spanned<u32>>,
    stability: Option<Spanned<u32>>,
    #[serde(default)]
    total_only: bool,
    #[serde(default = "yes")]
    suppressed: bool,
    thresholds: Option<Spanned<[i64; 3]>>,
    #[serde(default)]
    groups: Vec<Spanned<[u64; 2]>>,
}

fn yes() -> bool {
    true
}

impl TuningPlan {
    /// Reads a plan from the text of a TOML file; `file` names it in messages. An error names the line and column of the first fault.
    pub fn parse(text: &str, file: &str) -> Result<TuningPlan> {
        let reader = TomlReader::new(file, text);
        let raw: PlanFile = reader.toml()?;
        let share = |field: &Option<Spanned<Exact>>, what: &str, default: (u32, u32)| -> Result<Rational> {
            let Some(text) = field else { return Ok(Rational::from(default)) };
            let value = reader.positive(text, what)?;
            if value >= 1 {
                return Err(reader.refuse(text.span().start, format!("{what} must be between 0 and 1")));
            }
            Ok(value)
        };
        let noise_kind = match &raw.mechanism {
            None => NoiseKind::DiscreteGaussian,
            Some(name) => match name.get_ref().as_str() {
                "discrete-gaussian" => NoiseKind::DiscreteGaussian,
                "geometric" => NoiseKind::Geometric,
                other => {
                    let why = format!("mechanism = {other:?}: expected \"discrete-gaussian\" or \"geometric\"");
                    return Err(reader.refuse(name.span().start, why));
                }
            },
        };
        let defaults = PlanDefaults {
            noise_kind,
            gamma: share(&raw.gamma, "gamma", (1, 10))?,
            stability: match &raw.race_codes {
                None => stability(8)?,
                Some(codes) => stability(*codes.get_ref()).map_err(at(&reader, codes.span().start))?,
            },
            decimals: raw.decimals.as_ref().map_or(6, |decimals| *decimals.get_ref()),
        };
        if let Some(decimals) = raw.decimals.as_ref().filter(|decimals| *decimals.get_ref() > MOST_DECIMALS) {
            return Err(reader.refuse(decimals.span().start, format!("decimals must be at most {MOST_DECIMALS}")));
        }
        let neighbors = raw.neighbors.as_ref().map(|name| Neighbors::read(&reader, name)).transpose()?;
        let suppress = share(&raw.suppress, "suppress", (9999, 10_000))?;
        let target_error = match &raw.target_error {
            None => Rational::from((1, 10)),
            Some(text) => reader.positive(text, "target_error")?,
        };
        if raw.levels.is_empty() || raw.levels.len() > MOST_LEVELS {
            return Err(reader.refuse(0, format!("1 to {MOST_LEVELS} [[level]] are needed")));
        }
        let mut levels: Vec<PlannedLevel> = Vec::new();
        for level in &raw.levels {
            let planned = defaults.level(&reader, level)?;
            if levels.iter().any(|known| known.level.name() == planned.level.name()) {
                let name = &level.get_ref().name;
                return Err(reader.refuse(name.span().start, format!("the level {:?} occurs twice", name.get_ref())));
            }
            levels.push(planned);
        }
        let neighbors = neighbors.unwrap_or(Neighbors::AddRemove);
        Ok(TuningPlan { title: raw.title, noise_kind, neighbors, suppress, target_error, levels })
    }
}

/// Adds the place in the file to an error of a value.
fn at<'a>(reader: &'a TomlReader, place: usize) -> impl Fn(Error) -> Error + 'a {
    move |error| reader.refuse(place, error.to_string())
}

/// Settings common to all levels.
struct PlanDefaults {
    noise_kind: NoiseKind,
    gamma: Rational,
    stability: u32,
    decimals: u32,
}

impl PlanDefaults {
    fn level(&self, reader: &TomlReader, raw: &Spanned<LevelFile>) -> Result<PlannedLevel> {
        let place = raw.span().start;
        let raw = raw.get_ref();
        let name = raw.name.get_ref();
        let stability = raw.stability.as_ref().map_or(self.stability, |stability| *stability.get_ref());
        let (own, other) = match self.noise_kind {
            NoiseKind::DiscreteGaussian => (&raw.rho, &raw.epsilon),
            NoiseKind::Geometric => (&raw.epsilon, &raw.rho),
        };
        let budget_name = self.noise_kind.budget_name();
        if let Some(other) = other {
            let why =
                format!("the level {name:?}: the budget of {} noise is its {budget_name}", self.noise_kind.name());
            return Err(reader.refuse(other.span().start, why));
        }
        let (budget, place) = match (own, &raw.moe) {
            (Some(budget), None) => (reader.positive(budget, budget_name)?, budget.span().start),
            (None, Some(moe)) => {
                let place = moe.span().start;
                let least = least_budget(self.noise_kind, *moe.get_ref(), &self.gamma, stability, self.decimals);
                (least.map_err(at(reader, place))?.value, place)
            }
            _ => {
                let why = format!("the level {name:?} needs either {budget_name} or moe");
                return Err(reader.refuse(place, why));
            }
        };
        let level = GroupLevel::new(name, self.noise_kind, budget, self.gamma.clone(), stability);
        let level = level.and_then(|level| level.stage_noises().map(|_| level)).map_err(at(reader, place))?;
        if let Some(thresholds) = &raw.thresholds {
            let [first, second, third] = thresholds.get_ref();
            if first > second || second > third {
                let why = format!("the level {name:?}: thresholds must not fall");
                return Err(reader.refuse(thresholds.span().start, why));
            }
        }
        if let Some(wrong) = raw.groups.iter().find(|pair| pair.get_ref().iter().any(|number| *number > MOST_SIZE)) {
            let why = format!("the level {name:?}: sizes and numbers of groups are at most {MOST_SIZE}");
            return Err(reader.refuse(wrong.span().start, why));
        }
        Ok(PlannedLevel {
            level,
            moe: raw.moe.as_ref().map(|moe| *moe.get_ref()),
            total_only: raw.total_only,
            suppressed: raw.suppressed,
            thresholds: raw.thresholds.as_ref().map(|thresholds| *thresholds.get_ref()),
            groups: raw.groups.iter().map(|pair| (pair.get_ref()[0], pair.get_ref()[1])).collect(),
        })
    }
}

/// The largest size, and number, of groups.
const MOST_SIZE: u64 = 1_000_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    const GOOD: &str = r#"title = "two levels"
race_codes = 3
target_error = "0.2"
[[level]]
name = "Nation"
moe = 3
total_only = true
suppressed = false
[[level]]
name = "County"
rho = "0.159"
stability = 9
thresholds = [971, 4971, 19971]
groups = [[0, 1000], [25, 40]]
"#;

    #[test]
    fn a_good_plan_is_read() {
        let plan = TuningPlan::parse(GOOD, "plan.toml").unwrap();
        let [nation, county] = &plan.levels[..] else { panic!("two levels") };
        assert_eq!((nation.level.stability(), county.level.stability()), (4, 9));
        assert_eq!((nation.level.stage_2().unwrap().margin, nation.moe), (3, Some(3)));
        assert_eq!(*county.level.budget(), parse("0.159").unwrap());
        assert_eq!((county.thresholds, county.groups.len()), (Some([971, 4971, 19971]), 2));
        assert_eq!((plan.suppress, plan.neighbors), (parse("0.9999").unwrap(), Neighbors::AddRemove));
    }

    #[test]
    fn every_broken_rule_is_refused_with_its_line() {
        for (from, to, says) in [
            ("race_codes = 3", "race_codes = 9", "line 2, column 14: the number of race codes = 9"),
            ("race_codes = 3", "race_codes = -1", "line 2"),
            ("\"0.2\"", "\"0\"", "line 3, column 16: target_error must be above 0"),
            ("moe = 3", "moe = 3\nrho = \"1\"", "needs either rho or moe"),
            ("moe = 3", "", "line 4"),
            ("moe = 3", "moe = 3.5", "line 6"),
            ("moe = 3", "moe = 4000000000", "line 6"),
            ("\"0.159\"", "\"x\"", "line 11, column 7"),
            ("\"0.159\"", "\"-1\"", "above 0"),
            ("\"0.159\"", "\"1e-30\"", "line 11, column 7: sigma2"),
            ("rho = ", "epsilon = ", "is its rho"),
            ("stability = 9", "stability = 0", "stability = 0"),
            ("4971", "49710", "must not fall"),
            ("[25, 40]", "[25, 4000000000000]", "line 14, column 22"),
            ("[25, 40]", "[25]", "line 14"),
            ("\"County\"", "\"Nation\"", "occurs twice"),
            ("title = \"two levels\"", "titel = \"x\"", "line 1"),
            ("title = \"two levels\"", "title = \"\"\nmechanism = \"laplace\"", "line 2, column 13"),
            ("title = \"two levels\"", "title = \"\"\nmechanism = \"geometric\"", "is its epsilon"),
            ("title = \"two levels\"", "title = \"\"\ngamma = \"1\"", "gamma must be between 0 and 1"),
            ("title = \"two levels\"", "title = \"\"\nneighbors = \"none\"", "neighbors"),
            ("title = \"two levels\"", "title = \"\"\ndecimals = 41", "at most 40"),
            ("title = \"two levels\"", "title = \"\"\nsuppress = \"1\"", "suppress"),
        ] {
            assert!(GOOD.contains(from), "{from}");
            let message = TuningPlan::parse(&GOOD.replacen(from, to, 1), "plan.toml").unwrap_err().to_string();
            assert!(message.contains(says) && message.contains("plan.toml"), "{from} -> {to}: {message}");
        }
        assert!(
            TuningPlan::parse("", "plan.toml").is_err()
                && TuningPlan::parse("title = \"x\"\nlevel = []", "plan.toml").is_err()
        );
    }
}
