//! Reads and checks config.json of SafeTab-P.

use std::path::Path;

use super::{
    config::SafeTabConfig,
    config_keys::{Keys, read_text},
    rows::name_of,
    validation::ValidationReport,
};

const BUDGET: &str = "privacy_budget_p_level_";
const GAMMA: &str = "privacy_budget_p_stage_1_fraction";
const THRESHOLDS: &str = "thresholds_p";
const SUPPRESSION: &str = "zero_suppression_chance";

impl SafeTabConfig {
    /// Reads and checks a config.json. `None` if it lacks what the other files are checked against: the states to run, and the number of
    /// race codes used. Other values that break a rule become 0, so look at the report first.
    pub fn read(path: &Path, report: &mut ValidationReport) -> Option<SafeTabConfig> {
        let text = read_text(path, report)?;
        SafeTabConfig::from_text(&text, &name_of(path), report)
    }

    /// Checks the text of a config.json, as [`SafeTabConfig::read`] does; `file` names it in messages.
    pub fn from_text(text: &str, file: &str, report: &mut ValidationReport) -> Option<SafeTabConfig> {
        let mut keys = Keys::new(file, text, "SafeTab-P", report)?;
        let config = SafeTabConfig::from_keys(&mut keys);
        keys.is_complete().then_some(config)
    }

    fn from_keys(keys: &mut Keys) -> SafeTabConfig {
        let scope = keys.scope(&Keys::budget_keys(BUDGET), &[GAMMA, THRESHOLDS, SUPPRESSION]);
        let before = keys.violations();
        let budgets = keys.budgets(BUDGET);
        if keys.violations() == before {
            keys.check_passes(&scope, BUDGET, &[&budgets]);
        }
        SafeTabConfig {
            budgets,
            thresholds: keys.thresholds(THRESHOLDS, &scope, "[5, 20, 150]"),
            gamma: keys.rational(GAMMA, "a number above 0 and below 1", |gamma| *gamma > 0 && *gamma < 1),
            zero_suppression_chance: keys.has(SUPPRESSION).then(|| {
                keys.rational(SUPPRESSION, "a number from 0 and below 1", |chance| *chance >= 0 && *chance < 1)
            }),
            scope,
        }
    }
}
