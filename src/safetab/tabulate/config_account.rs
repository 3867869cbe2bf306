//! The privacy and accuracy of a config.json before there are a geography or records; and changes of its budgets.

use std::{path::Path, str::FromStr};

use rug::Rational;
use serde_json::Value;

use super::{
    certificate,
    certified_level::{CertifiedLevel, parameter},
    guarantees::{AccountedLevel, Guarantees, PassGuarantees, RunGuarantees},
    household_levels::HouseholdLevel,
    levels::{self, CountNoise, TabulatedLevel},
};
use crate::{
    account::{Delta, Stop},
    error::{Error, Result},
    io::files::{file_error, write_text},
    numeric::rational,
    safetab::{
        cell_noise::NoiseKind,
        groups::Specification,
        household_tables::HouseholdTopic,
        schema::{
            Geography, HouseholdConfig, IterationLevel, Pass, Privacy, RecordKind, RegionType, RunScope, SafeTabConfig,
            ValidationReport, config_keys::read_text,
        },
        tuning::{least_budget, least_whole_budget},
    },
};

/// A config.json of SafeTab-P or SafeTab-H.
#[derive(Clone, Debug)]
pub enum Configuration {
    /// SafeTab-P.
    Persons(SafeTabConfig),
    /// SafeTab-H.
    Households(HouseholdConfig),
}

/// A level of a configuration: its budget and its margins of error.
#[derive(Clone, Debug)]
pub struct ConfiguredLevel {
    /// Its name, such as `COUNTY level 2`.
    pub name: String,
    /// The entries that name it, such as its type of region and its level of iterations.
    pub place: Vec<(&'static str, Value)>,
    /// Upper bound on the number of groups of the level that one record belongs to.
    pub stability: u32,
    /// The kinds of noisy counts, with the parameter of the noise (sigma2, or epsilon) and the margin of error.
    pub counts: Vec<(&'static str, Rational, i64)>,
    /// Its guarantees.
    pub guarantees: Guarantees,
}

/// The account of a configuration.
#[derive(Clone, Debug)]
pub struct ConfigAccount {
    /// `SafeTab-P` or `SafeTab-H`.
    pub algorithm: &'static str,
    /// The guarantee.
    pub privacy: Privacy,
    /// The passes that are run, by name, with their levels.
    pub passes: Vec<(String, Vec<ConfiguredLevel>, Guarantees)>,
    /// The whole run.
    pub total: Guarantees,
}

impl ConfigAccount {
    /// The account of named passes with their levels; an error with [`Error::Stopped`] once `stop` is set.
    pub(in crate::safetab) fn new<L: CertifiedLevel + AccountedLevel>(
        algorithm: &'static str,
        (privacy, delta): (Privacy, &Delta),
        passes: &[(String, Vec<L>)],
        stop: &Stop,
    ) -> Result<ConfigAccount> {
        let guarantees = RunGuarantees::new(privacy, delta, passes, stop)?;
        let of_pass = |((name, levels), guarantees): (&(String, Vec<L>), PassGuarantees)| {
            let levels = levels.iter().zip(guarantees.levels).map(|(level, own)| described(level, own));
            (name.clone(), levels.collect(), guarantees.pass)
        };
        let passes = passes.iter().zip(guarantees.passes).map(of_pass).collect();
        Ok(ConfigAccount { algorithm, privacy, passes, total: guarantees.run })
    }
}

/// A change of a budget: of a region type and a level, for households of T3 or T4.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetChange {
    /// T3 or T4; `None` for persons, and for both tables of households.
    pub topic: Option<HouseholdTopic>,
    /// The type of region.
    pub region_type: RegionType,
    /// The level of the iterations.
    pub level: IterationLevel,
    /// The new budget.
    pub budget: NewBudget,
}

/// A new value of a budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewBudget {
    /// This value.
    Given(Rational),
    /// The least multiple of 10^-6 for which a published cell has at most this margin of error at 95 %.
    Margin(u32),
}

/// The decimals of a budget that is computed for a margin, as in the bureau's files.
pub(in crate::safetab) const DECIMALS: u32 = 6;

impl FromStr for NewBudget {
    type Err = Error;

    /// Reads `BUDGET` or `moe:M`.
    fn from_str(text: &str) -> Result<NewBudget> {
        match text.strip_prefix("moe:") {
            Some(margin) => {
                let margin = margin.parse();
                margin
                    .map(NewBudget::Margin)
                    .map_err(|_| Error::malformed("a margin of error", text, "moe:M, M a whole number"))
            }
            None => rational::parse(text).map(NewBudget::Given),
        }
    }
}

impl FromStr for BudgetChange {
    type Err = Error;

    /// Reads `TYPE,LEVEL=BUDGET` or `TYPE,LEVEL=moe:M`, optionally preceded by `T3:` or `T4:`.
    fn from_str(text: &str) -> Result<BudgetChange> {
        let refused = || {
            let expected = "TYPE,LEVEL=BUDGET or TYPE,LEVEL=moe:M, such as COUNTY,2=0.159 or T3:COUNTY,2=moe:11";
            Error::malformed("the change of a budget", text, expected)
        };
        let (place, value) = text.split_once('=').ok_or_else(refused)?;
        let (topic, place) = match place.split_once(':') {
            Some(("T3", place)) => (Some(HouseholdTopic::Type), place),
            Some(("T4", place)) => (Some(HouseholdTopic::Tenure), place),
            Some(_) => return Err(refused()),
            None => (None, place),
        };
        let (region_type, level) = place.split_once(',').ok_or_else(refused)?;
        let level = match level.trim() {
            "1" => IterationLevel::One,
            "2" => IterationLevel::Two,
            _ => return Err(refused()),
        };
        let value = value.trim();
        let budget = value.parse().map_err(|why| if value.starts_with("moe:") { refused() } else { why })?;
        Ok(BudgetChange { topic, region_type: region_type.trim().parse()?, level, budget })
    }
}

impl Configuration {
    /// Reads and checks a config.json of either program: for households if it has one of their budgets. An error contains the whole report
    /// if it breaks a rule.
    pub fn read(path: &Path) -> Result<Configuration> {
        Ok(Configuration::read_with_text(path)?.0)
    }

    /// Like [`Configuration::read`], and also returns the text.
    pub fn read_with_text(path: &Path) -> Result<(Configuration, String)> {
        let mut report = ValidationReport::new();
        let text = read_text(path, &mut report);
        report.into_result()?;
        let text = text.ok_or_else(|| file_error(path, "is no configuration"))?;
        Ok((Configuration::from_text(&text, &crate::error::shown(path))?, text))
    }

    /// Checks the text of a config.json; `file` names it in messages. An error contains the whole report if it breaks a rule.
    pub fn from_text(text: &str, file: &str) -> Result<Configuration> {
        let mut report = ValidationReport::new();
        let config = match text.contains("\"privacy_budget_h_") {
            true => HouseholdConfig::from_text(text, file, &mut report).map(Configuration::Households),
            false => SafeTabConfig::from_text(text, file, &mut report).map(Configuration::Persons),
        };
        report.into_result()?;
        config.ok_or_else(|| Error::Input { report: format!("{file} is no configuration") })
    }

    /// Writes the text of a configuration completely or not at all.
    pub fn write(text: &str, path: &Path) -> Result<()> {
        write_text(path, text)
    }

    /// The kind of records that it is for.
    pub fn kind(&self) -> RecordKind {
        match self {
            Configuration::Persons(_) => RecordKind::Persons,
            Configuration::Households(_) => RecordKind::Households,
        }
    }

    /// The settings common to both programs.
    pub fn scope(&self) -> &RunScope {
        match self {
            Configuration::Persons(config) => config.scope(),
            Configuration::Households(config) => config.scope(),
        }
    }

    /// Its account at delta, with margins of error; an error with [`Error::Stopped`] once `stop` is set.
    pub fn account(&self, specification: &Specification, delta: &Delta, stop: &Stop) -> Result<ConfigAccount> {
        let privacy = self.scope().privacy();
        let passes = Pass::ALL.into_iter().filter(|pass| self.scope().runs(*pass));
        let algorithm = self.kind().program();
        match self {
            Configuration::Persons(config) => {
                let levels =
                    |pass: Pass| levels::levels(pass.region_types(), config, specification, &Geography::default());
                let passes: Vec<(String, Vec<TabulatedLevel>)> = passes
                    .map(|pass| Ok((certificate::name(pass).to_string(), levels(pass)?)))
                    .collect::<Result<_>>()?;
                ConfigAccount::new(algorithm, (privacy, delta), &passes, stop)
            }
            Configuration::Households(config) => {
                let levels = |pass: Pass| -> Result<Vec<HouseholdLevel>> {
                    let kinds =
                        pass.region_types().iter().flat_map(|kind| IterationLevel::ALL.map(|level| (*kind, level)));
                    let level = |(kind, level)| HouseholdLevel::of_config(kind, level, config, specification);
                    kinds.filter_map(|kind| level(kind).transpose()).collect()
                };
                let passes: Vec<(String, Vec<HouseholdLevel>)> = passes
                    .map(|pass| Ok((certificate::name(pass).to_string(), levels(pass)?)))
                    .collect::<Result<_>>()?;
                ConfigAccount::new(algorithm, (privacy, delta), &passes, stop)
            }
        }
    }

    /// The keys that a change sets, with their new budgets.
    fn keys_of(&self, change: &BudgetChange, specification: &Specification) -> Result<Vec<(String, Rational)>> {
        let (region_type, level) = (change.region_type, change.level);
        let kind = CountNoise::kind(self.scope().privacy());
        let stability = specification.stability(region_type.granularity(), level);
        let budget = match (&change.budget, self) {
            (NewBudget::Given(budget), _) => budget.clone(),
            (NewBudget::Margin(margin), Configuration::Persons(config)) => {
                least_budget(kind, *margin, config.gamma(), stability, DECIMALS)?.value
            }
            (NewBudget::Margin(margin), Configuration::Households(_)) => {
                least_whole_budget(kind, *margin, stability, DECIMALS)?.value
            }
        };
        let end = format!("level_{level}_{}", region_type.name().to_lowercase().replace('-', "_"));
        let keys = match (self, change.topic) {
            (Configuration::Persons(_), None) => vec![format!("privacy_budget_p_{end}")],
            (Configuration::Persons(_), Some(topic)) => {
                let why = "a configuration of persons has one budget for each level, and none for the table";
                return Err(Error::unsuitable(format!("{why} {}", topic.name())));
            }
            (Configuration::Households(_), topic) => {
                let topics = HouseholdTopic::ALL.into_iter().filter(|known| topic.is_none_or(|topic| topic == *known));
                topics.map(|topic| format!("privacy_budget_h_{}_{end}", topic.name().to_lowercase())).collect()
            }
        };
        Ok(keys.into_iter().map(|key| (key, budget.clone())).collect())
    }

    /// The text of a config.json with other budgets; everything else is unchanged, in its order.
    pub fn with_budgets(&self, text: &str, changes: &[BudgetChange], specification: &Specification) -> Result<String> {
        let wrong = |why: serde_json::Error| Error::Input { report: format!("the configuration is no JSON: {why}") };
        let mut json: Value = serde_json::from_str(text).map_err(wrong)?;
        for change in changes {
            for (key, budget) in self.keys_of(change, specification)? {
                let shown = rational::display(&budget);
                let number = serde_json::from_str::<Value>(&shown).ok().filter(Value::is_number);
                let Some(number) = number else {
                    return Err(Error::malformed(&key, shown, "a number with finitely many decimals"));
                };
                json[key] = number;
            }
        }
        Ok(format!("{json:#}\n"))
    }
}

fn described(level: &impl CertifiedLevel, guarantees: Guarantees) -> ConfiguredLevel {
    let counts = level.counts().into_iter();
    let counts = counts.filter_map(|(name, noise)| Some((name, parameter(noise?).1.clone(), noise?.margin)));
    ConfiguredLevel {
        name: level.name(),
        place: level.place(),
        stability: level.stability(),
        counts: counts.collect(),
        guarantees,
    }
}

/// The name of the noise of a guarantee.
pub fn noise_name(privacy: Privacy) -> &'static str {
    NoiseKind::name(CountNoise::kind(privacy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::number;

    const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/examples");

    fn example(kind: &str) -> (Configuration, Specification, String) {
        let path = Path::new(FOLDER).join(kind).join("config.json");
        let config = Configuration::read(&path).unwrap();
        let mut report = ValidationReport::new();
        let specification =
            Specification::read(&Path::new(FOLDER).join("safetab"), config.scope(), &mut report).unwrap();
        (config, specification, std::fs::read_to_string(path).unwrap())
    }

    fn read(text: &str) -> Configuration {
        Configuration::from_text(text, "config.json").unwrap()
    }

    #[test]
    fn a_budget_for_a_margin_has_it_and_all_else_stays() {
        let changes: Vec<BudgetChange> =
            ["COUNTY,2=moe:11", "USA,1=0.5"].iter().map(|change| change.parse().unwrap()).collect();
        // Only the levels of persons: the account of budgets with many decimals takes minutes.
        let (config, specification, text) = example("safetab");
        let changed = read(&config.with_budgets(&text, &changes, &specification).unwrap());
        let Configuration::Persons(own) = &changed else { panic!("a configuration of persons") };
        let types = Pass::UnitedStates.region_types();
        let levels = levels::levels(types, own, &specification, &Geography::default()).unwrap();
        let county =
            |level: &&TabulatedLevel| (level.region_type, level.level) == (RegionType::County, IterationLevel::Two);
        assert_eq!(levels.iter().find(county).unwrap().stage_2.margin, 11);
        assert_eq!(levels[0].budget, number("0.5"));

        let delta: Delta = "1e-10".parse().unwrap();
        let (config, specification, text) = example("safetab-h");
        let changed = read(&config.with_budgets(&text, &changes, &specification).unwrap());
        let [account, before] =
            [&changed, &config].map(|config| config.account(&specification, &delta, &Stop::default()).unwrap());
        let mut differ = Vec::new();
        for (new, old) in account.passes[0].1.iter().zip(&before.passes[0].1) {
            if new.name == "COUNTY level 2" {
                assert!(new.counts.iter().all(|(_, _, margin)| *margin == 11));
            }
            if new.counts != old.counts {
                differ.push(new.name.clone());
            }
        }
        assert_eq!(differ, ["USA level 1", "COUNTY level 2"]);
        assert_eq!(account.passes[0].1[0].guarantees.unbounded.budget, 1);
        // Without changes the text stays the same.
        let same = config.with_budgets(&text, &[], &specification).unwrap();
        let [same, text] = [same, text].map(|text| serde_json::from_str::<Value>(&text).unwrap());
        assert_eq!(same, text);
    }

    #[test]
    fn changes_are_read_and_refused() {
        let change: BudgetChange = "T4:PR-STATE,1=moe:3".parse().unwrap();
        assert_eq!(change.topic, Some(HouseholdTopic::Tenure));
        assert_eq!((change.region_type, change.budget), (RegionType::PrState, NewBudget::Margin(3)));
        for wrong in ["", "USA", "USA,1", "USA,3=1", "T5:USA,1=1", "NATION,1=1", "USA,1=moe:x", "USA,1=x", "USA=1"] {
            assert!(wrong.parse::<BudgetChange>().is_err(), "{wrong}");
        }
        let (config, specification, text) = example("safetab");
        let third = ["USA,1=1/3".parse().unwrap()];
        assert!(config.with_budgets(&text, &third, &specification).is_err());
        let table = ["T3:USA,1=1".parse().unwrap()];
        assert!(config.with_budgets(&text, &table, &specification).is_err());
    }
}
