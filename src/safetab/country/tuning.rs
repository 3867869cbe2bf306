//! The privacy and accuracy of a specification before there are a geography or records; and changes of its budgets.

use std::str::FromStr;

use rug::Rational;

use super::{
    algorithm::ALGORITHM,
    levels::{self, CountryLevel, LevelsOfPart},
    specification::{CountrySpecification, Entry},
};
use crate::{
    account::{Delta, Stop},
    error::{Error, Result},
    numeric::rational,
    safetab::{
        tabulate::{
            config_account::{ConfigAccount, DECIMALS, NewBudget},
            levels::CountNoise,
        },
        tuning::{least_budget, least_whole_budget},
    },
};

/// A change of the budget of a level of the geography and a grouping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountryChange {
    /// The level of the geography.
    pub level: String,
    /// The grouping.
    pub grouping: String,
    /// The new budget.
    pub budget: NewBudget,
}

impl FromStr for CountryChange {
    type Err = Error;

    /// Reads `LEVEL,GROUPING=BUDGET` or `LEVEL,GROUPING=moe:M`.
    fn from_str(text: &str) -> Result<CountryChange> {
        let refused = || {
            let expected = "LEVEL,GROUPING=BUDGET or LEVEL,GROUPING=moe:M, such as PROVINCE,language=0.2";
            Error::malformed("the change of a budget", text, expected)
        };
        let (place, value) = text.rsplit_once('=').ok_or_else(refused)?;
        let (level, grouping) = place.split_once(',').ok_or_else(refused)?;
        let [level, grouping] = [level, grouping].map(|name| name.trim().to_string());
        Ok(CountryChange { level, grouping, budget: value.trim().parse().map_err(|_| refused())? })
    }
}

impl CountrySpecification {
    /// Its account at delta, with margins of error; an error with [`Error::Stopped`] once `stop` is set.
    pub fn account(&self, delta: &Delta, stop: &Stop) -> Result<ConfigAccount> {
        let name = |(part, levels): LevelsOfPart| (self.geography.parts[part].name.clone(), levels);
        let parts: Vec<(String, Vec<CountryLevel>)> = levels::by_part(self, None)?.into_iter().map(name).collect();
        ConfigAccount::new(ALGORITHM, (self.privacy, delta), &parts, stop)
    }

    /// The text of the specification with other budgets; everything else is unchanged. The specification must be of this text.
    pub fn with_budgets(&self, text: &str, changes: &[CountryChange]) -> Result<String> {
        let mut budgets: Vec<(&Entry, Rational)> = Vec::new();
        for change in changes {
            let (entry, budget) = self.changed(change)?;
            budgets.retain(|(known, _)| known.budget_at != entry.budget_at);
            budgets.push((entry, budget));
        }
        budgets.sort_by_key(|(entry, _)| std::cmp::Reverse(entry.budget_at.start));
        let mut text = text.to_string();
        for (entry, budget) in budgets {
            // A fraction is written in quotes.
            let shown = rational::display(&budget);
            let shown = if shown.contains('/') { format!("{shown:?}") } else { shown };
            text.replace_range(entry.budget_at.clone(), &shown);
        }
        Ok(text)
    }

    fn changed(&self, change: &CountryChange) -> Result<(&Entry, Rational)> {
        let name = format!("{}, {}", change.level, change.grouping);
        let entry = self.entries.iter().find(|entry| self.entry_name(entry) == name);
        let entry = entry.ok_or_else(|| {
            let known = self.entries.iter().map(|entry| self.entry_name(entry));
            Error::unknown("level and grouping that are tabulated", &name, "there are", known.collect::<Vec<_>>())
        })?;
        let stability = self.groupings[entry.grouping].stability.max(1);
        let kind = CountNoise::kind(self.privacy);
        let budget = match (&change.budget, &self.gamma) {
            (NewBudget::Given(budget), _) => budget.clone(),
            (NewBudget::Margin(margin), Some(gamma)) if entry.has_two_stages() => {
                least_budget(kind, *margin, gamma, stability, DECIMALS)?.value
            }
            (NewBudget::Margin(margin), _) => least_whole_budget(kind, *margin, stability, DECIMALS)?.value,
        };
        Ok((entry, budget))
    }
}
