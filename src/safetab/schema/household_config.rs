//! Reads and checks config.json of SafeTab-H.

use std::path::Path;

use super::{
    config::HouseholdConfig,
    config_keys::{Keys, read_text},
    rows::name_of,
    validation::ValidationReport,
};

const BUDGETS: [&str; 2] = ["privacy_budget_h_t3_level_", "privacy_budget_h_t4_level_"];
const THRESHOLDS: [&str; 2] = ["thresholds_h_t3", "thresholds_h_t4"];

impl HouseholdConfig {
    /// Reads and checks a config.json of SafeTab-H. `None` if it lacks what the other files are checked against: the states to run, and the
    /// number of race codes used. Other values that break a rule become 0, so look at the report first.
    pub fn read(path: &Path, report: &mut ValidationReport) -> Option<HouseholdConfig> {
        let text = read_text(path, report)?;
        HouseholdConfig::from_text(&text, &name_of(path), report)
    }

    /// Checks the text of a config.json, as [`HouseholdConfig::read`] does; `file` names it in messages.
    pub fn from_text(text: &str, file: &str, report: &mut ValidationReport) -> Option<HouseholdConfig> {
        let mut keys = Keys::new(file, text, "SafeTab-H", report)?;
        let config = HouseholdConfig::from_keys(&mut keys);
        keys.is_complete().then_some(config)
    }

    fn from_keys(keys: &mut Keys) -> HouseholdConfig {
        let scope = keys.scope(&BUDGETS.map(Keys::budget_keys).concat(), &THRESHOLDS);
        let before = keys.violations();
        let budgets = BUDGETS.map(|prefix| keys.budgets(prefix));
        if keys.violations() == before {
            keys.check_passes(&scope, BUDGETS[0], &[&budgets[0], &budgets[1]]);
        }
        HouseholdConfig {
            budgets,
            thresholds_t3: keys.thresholds(THRESHOLDS[0], &scope, "[5000, 20000, 150000]"),
            thresholds_t4: keys.thresholds(THRESHOLDS[1], &scope, "[5000]"),
            scope,
        }
    }
}
