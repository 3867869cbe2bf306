//! The budgets spent on the same records before a draw, and the total budget of all draws.
//!
//! Every draw that somebody saw has spent its own budget, and budgets of zero-concentrated and of pure differential
//! privacy add up. They are summed separately for each part that a budget is spent on, because a record is in one part
//! alone (a pass of SafeTab). The total is the largest of these sums.

use rug::Rational;
use serde_json::{Map, Value, json};

use super::{DrawIntent, EarlierDraw};
use crate::{
    error::Result,
    numeric::{Enclosure, rational},
};

/// The budgets of the draws before the current one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EarlierBudgets {
    /// For each earlier draw with the same budget unit as this one: the largest budget that a record spends.
    pub same: Vec<Rational>,
    /// The number of earlier draws whose log has another unit, or none.
    pub others: u64,
    /// The number of draws of the same records into other folders.
    pub elsewhere: u64,
    /// The largest budget that a record spends in this draw and all earlier ones in its unit.
    pub together: Rational,
}

impl EarlierBudgets {
    /// The earlier budgets for a draw with this intent.
    pub fn of(earlier: &[EarlierDraw], intent: &DrawIntent) -> Result<EarlierBudgets> {
        let parsed = |budget: &[(String, String)]| {
            let each = budget.iter().map(|(pass, text)| Ok((pass.clone(), rational::parse(text)?)));
            each.collect::<Result<Vec<(String, Rational)>>>()
        };
        let mut sums = parsed(&intent.budget)?;
        let most =
            |budgets: &[(String, Rational)]| budgets.iter().map(|(_, budget)| budget.clone()).max().unwrap_or_default();
        let mut found = EarlierBudgets::default();
        for draw in earlier {
            found.elsewhere += u64::from(draw.elsewhere);
            if draw.unit != intent.unit {
                found.others += 1;
                continue;
            }
            let own = parsed(&draw.budget)?;
            found.same.push(most(&own));
            for (pass, budget) in own {
                match sums.iter_mut().find(|(known, _)| *known == pass) {
                    Some((_, sum)) => *sum += budget,
                    None => sums.push((pass, budget)),
                }
            }
        }
        found.together = most(&sums);
        Ok(found)
    }

    /// The number of earlier draws.
    pub fn draws(&self) -> u64 {
        self.same.len() as u64 + self.others
    }

    /// The earlier budgets in a sentence; `None` without earlier draws. `unit` is the unit in words. With `twice`,
    /// budgets are for adding or removing a record, and the sentence also gives the budget of a changed record.
    pub fn in_words(&self, unit: &str, twice: bool) -> Option<String> {
        if self.draws() == 0 {
            return None;
        }
        let mut said = String::new();
        if !self.same.is_empty() {
            let each: Vec<String> = self.same.iter().map(rational::display).collect();
            let (subject, pronoun) = match each.len() {
                1 => ("One earlier draw spent its own budget".to_string(), "it"),
                many => (format!("{many} earlier draws spent their own budgets"), "them"),
            };
            let together = rational::display(&self.together);
            let twice = twice.then(|| rational::display(&Rational::from(&self.together * 2_u32)));
            let changed = twice.map_or(String::new(), |twice| format!(", and {twice} where a record is changed"));
            let each = each.join(", ");
            said =
                format!("{subject} ({unit} = {each}), if anybody saw {pronoun}: together up to {together}{changed}.");
        }
        if self.others > 0 {
            let (draws, has) = if self.others == 1 { ("draw", "has") } else { ("draws", "have") };
            said += &format!(
                "{}{} earlier {draws} {has} spent a budget in another unit, or in one that the log does not name: it is not in any sum here.",
                if said.is_empty() { "" } else { " " },
                self.others
            );
        }
        if self.elsewhere > 0 {
            said += &format!(" Of all earlier draws {} went into other folders.", self.elsewhere);
        }
        Some(said)
    }

    /// The same as keys of a certificate.
    pub fn json(&self, unit: &str, twice: bool) -> Option<Map<String, Value>> {
        if self.draws() == 0 {
            return None;
        }
        let spent = |budget: &Rational| {
            let mut object = Map::new();
            object.insert(unit.to_string(), number(budget));
            object.insert(format!("{unit}_exact"), json!(budget.to_string()));
            object
        };
        let mut all = spent(&self.together);
        if twice {
            all.insert("bounded".to_string(), Value::Object(spent(&Rational::from(&self.together * 2_u32))));
        }
        let mut keys = Map::new();
        let each: Vec<String> = self.same.iter().map(ToString::to_string).collect();
        keys.insert("earlier_budgets_exact".to_string(), json!(each));
        keys.insert("earlier_draws_of_another_unit".to_string(), json!(self.others));
        keys.insert("earlier_draws_into_other_folders".to_string(), json!(self.elsewhere));
        keys.insert("all_draws".to_string(), Value::Object(all));
        Some(keys)
    }

    /// The budgets in a certificate; `None` if its keys do not have this form.
    pub(crate) fn from_json(certificate: &Value, unit: &str) -> Option<EarlierBudgets> {
        if certificate["earlier_draws"].as_u64().unwrap_or(0) == 0 {
            return Some(EarlierBudgets::default());
        }
        let same = certificate["earlier_budgets_exact"].as_array()?;
        let same = same.iter().map(|text| rational::parse(text.as_str()?).ok()).collect::<Option<Vec<Rational>>>()?;
        let together = rational::parse(certificate["all_draws"][format!("{unit}_exact")].as_str()?).ok()?;
        let count = |key: &str| certificate[key].as_u64();
        let (others, elsewhere) = (count("earlier_draws_of_another_unit")?, count("earlier_draws_into_other_folders")?);
        Some(EarlierBudgets { same, others, elsewhere, together })
    }
}

/// An exact rational as a JSON number: its decimal if that is finite, else a decimal upper bound; null if there is
/// none.
fn number(value: &Rational) -> Value {
    let text = rational::display(value);
    let text = if text.contains('/') { Enclosure::rational(value, 84).decimals().1 } else { Some(text) };
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or(Value::Null)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intent(unit: &str, budget: &[(&str, &str)]) -> DrawIntent {
        let budget = budget.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect();
        DrawIntent { version: String::new(), inputs: Vec::new(), budget, unit: unit.to_string(), insecure_seed: None }
    }

    #[test]
    fn budgets_of_all_draws_add_up_by_pass() {
        let draw = |unit: &str, budget: &[(&str, &str)], elsewhere| {
            let DrawIntent { budget, unit, .. } = intent(unit, budget);
            EarlierDraw { budget, unit, elsewhere }
        };
        let now = intent("rho", &[("United States", "11/100"), ("Puerto Rico", "1/2")]);
        assert_eq!(EarlierBudgets::of(&[], &now).unwrap().in_words("rho", true), None);
        let one = [draw("rho", &[("United States", "29/4"), ("Puerto Rico", "1")], false)];
        let found = EarlierBudgets::of(&one, &now).unwrap();
        assert_eq!(
            found.in_words("rho", true).unwrap(),
            "One earlier draw spent its own budget (rho = 7.25), if anybody saw it: together up to 7.36, and 14.72 where a record is changed."
        );
        let several = [
            one[0].clone(),
            draw("rho", &[("Puerto Rico", "8")], true),
            draw("pure_epsilon", &[("United States", "1")], false),
        ];
        let found = EarlierBudgets::of(&several, &now).unwrap();
        // 11/100 + 29/4 in one pass, 1/2 + 1 + 8 in the other.
        assert_eq!(
            (found.together.clone(), found.draws(), found.others, found.elsewhere),
            (Rational::from((19, 2)), 3, 1, 1)
        );
        let words = found.in_words("rho", true).unwrap();
        for said in [
            "2 earlier draws",
            "(rho = 7.25, 8)",
            "together up to 9.5, and 19",
            "1 earlier draw has",
            "1 went into other",
        ] {
            assert!(words.contains(said), "{words}");
        }
        let mut certificate = json!({ "earlier_draws": 3 });
        let keys = found.json("rho", true).unwrap();
        certificate.as_object_mut().unwrap().extend(keys);
        assert_eq!(EarlierBudgets::from_json(&certificate, "rho"), Some(found));
        assert_eq!(certificate["all_draws"]["rho"], json!(9.5));
        assert!(EarlierBudgets::of(&[draw("rho", &[("United States", "x")], false)], &now).is_err());
    }
}
