//! The budgets spent on the same records before a draw, and the total budget of all draws.
//!
//! Every draw that somebody saw has spent its own budget. Budgets of one unit and one relation of neighbors add up; those
//! of different units or relations are never added. In draws whose parts are defined alike (the passes of SafeTab) a
//! record is in the same part of each, so budgets are summed for each part, and the largest sum counts. A record may be
//! in the largest part of each of the other draws, whatever the names of their parts: their largest budgets are added.

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
    /// For each earlier draw with the unit and the relation of this one: the largest budget that a record spends.
    pub same: Vec<Rational>,
    /// The earlier draws with another unit or relation.
    pub others: Vec<OtherBudgets>,
    /// The number of draws of the same records into other folders.
    pub elsewhere: u64,
    /// Upper bound on the budget that a record spends in this draw and all earlier ones of its unit and relation.
    pub together: Rational,
    /// Whether that is less than the sum of the largest budgets: it holds for a record that is in the same part in draws whose parts are defined alike.
    pub by_part: bool,
}

/// The earlier draws with a unit and a relation that are not those of the current draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherBudgets {
    /// The unit and the relation; `None` if the log does not name both.
    pub kind: Option<(String, String)>,
    /// The number of these draws.
    pub draws: u64,
    /// Upper bound on the budget that a record spends in all of them.
    pub together: Rational,
    /// Whether that is less than the sum of the largest budgets.
    pub by_part: bool,
}

impl EarlierBudgets {
    /// The earlier budgets for a draw with this intent.
    pub fn of_draws(earlier: &[EarlierDraw], intent: &DrawIntent) -> Result<EarlierBudgets> {
        let own = intent.kind();
        let mut same = Vec::new();
        type Unit<'a> = Option<(&'a str, &'a str)>;
        let mut others: Vec<(Unit, Vec<&DrawIntent>)> = Vec::new();
        for EarlierDraw { intent, .. } in earlier {
            let kind = intent.kind();
            if kind.is_some() && kind == own {
                same.push(intent);
                continue;
            }
            match others.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, draws)) => draws.push(intent),
                None => others.push((kind, vec![intent])),
            }
        }
        let other = |(kind, draws): (Option<(&str, &str)>, Vec<&DrawIntent>)| {
            let kind = kind.map(|(unit, relation)| (unit.to_string(), relation.to_string()));
            let (together, by_part) = largest_sum(&draws)?;
            Ok(OtherBudgets { kind, draws: draws.len() as u64, together, by_part })
        };
        let (together, by_part) = largest_sum(&[&[intent], &same[..]].concat())?;
        Ok(EarlierBudgets {
            others: others.into_iter().map(other).collect::<Result<_>>()?,
            elsewhere: earlier.iter().map(|draw| u64::from(draw.elsewhere)).sum(),
            together,
            by_part,
            same: same.into_iter().map(|draw| Ok(largest(&parts(draw)?))).collect::<Result<_>>()?,
        })
    }

    /// The condition under which the sum holds, about a record; `None` where no budgets were added.
    #[doc(hidden)]
    pub fn condition(&self) -> Option<String> {
        let draws = self.same.len() as u64 + 1;
        let of_part = in_one_part(self.by_part);
        (draws > 1).then(|| format!("its budget is that of {draws} draws together{of_part}"))
    }

    /// The number of earlier draws.
    pub fn draws(&self) -> u64 {
        self.same.len() as u64 + self.draws_of_others()
    }

    /// Why the budgets of all draws have no sum; `None` if they have.
    #[doc(hidden)]
    pub fn no_sum(&self) -> Option<String> {
        let others: Vec<String> = self.others.iter().map(OtherBudgets::in_words).collect();
        let said = others.join(" ");
        (!others.is_empty()).then(|| format!("{} Such budgets are in no sum", said))
    }

    /// The number of earlier draws with another unit or relation.
    fn draws_of_others(&self) -> u64 {
        self.others.iter().map(|other| other.draws).sum()
    }

    /// The earlier budgets in a sentence; `None` without earlier draws. Without a relation, budgets are for adding or
    /// removing a record, and the sentence also gives the budget of a changed record.
    pub fn in_words(&self, unit: &str, relation: Option<&str>) -> Option<String> {
        if self.draws() == 0 {
            return None;
        }
        let mut said = Vec::new();
        if !self.same.is_empty() {
            let each: Vec<String> = self.same.iter().map(rational::display).collect();
            let (subject, pronoun) = match each.len() {
                1 => ("One earlier draw spent its own budget".to_string(), "it"),
                many => (format!("{many} earlier draws spent their own budgets"), "them"),
            };
            let together = rational::display(&self.together);
            let (about, changed) = match relation {
                Some(relation) => (format!("; {relation} neighbors"), String::new()),
                None => {
                    let twice = rational::display(&Rational::from(&self.together * 2_u32));
                    (String::new(), format!(", and {twice} where a record is changed"))
                }
            };
            let (unit, each, of_part) = (in_prose(unit), each.join(", "), in_one_part(self.by_part));
            said.push(format!(
                "{subject} ({unit} = {each}{about}), if anybody saw {pronoun}: together up to {together}{changed}{of_part}."
            ));
        }
        said.extend(self.others.iter().map(OtherBudgets::in_words));
        if !self.others.is_empty() {
            said.push(
                "Budgets of different units or neighbors are not added: what all draws together spend is not known."
                    .to_string(),
            );
        }
        if self.elsewhere > 0 {
            said.push(format!("Of all earlier draws {} went into other folders.", self.elsewhere));
        }
        Some(said.join(" "))
    }

    /// The earlier budgets as keys of a certificate. `all_draws` is null where budgets of different units or relations were spent;
    /// those of this draw's are then under `draws_of_this_unit`.
    pub fn json(&self, unit: &str, relation: Option<&str>) -> Option<Map<String, Value>> {
        if self.draws() == 0 {
            return None;
        }
        let spent = |budget: &Rational| {
            let mut object = Map::new();
            object.insert(unit.to_string(), number(budget));
            object.insert(format!("{unit}_exact"), json!(budget.to_string()));
            object
        };
        let mut sum = spent(&self.together);
        if relation.is_none() {
            sum.insert("bounded".to_string(), Value::Object(spent(&Rational::from(&self.together * 2_u32))));
        }
        let mut keys = Map::new();
        let each: Vec<String> = self.same.iter().map(ToString::to_string).collect();
        keys.insert("earlier_budgets_exact".to_string(), json!(each));
        keys.insert(BY_PART.to_string(), json!(self.by_part));
        keys.insert("earlier_draws_of_another_unit".to_string(), json!(self.draws_of_others()));
        keys.insert(OTHERS.to_string(), self.others.iter().map(OtherBudgets::json).collect());
        keys.insert("earlier_draws_into_other_folders".to_string(), json!(self.elsewhere));
        if self.others.is_empty() {
            keys.insert("all_draws".to_string(), Value::Object(sum));
        } else {
            keys.insert("all_draws".to_string(), Value::Null);
            keys.insert("draws_of_this_unit".to_string(), Value::Object(sum));
        }
        Some(keys)
    }

    /// The budgets in a certificate; `None` if its keys do not have this form.
    #[doc(hidden)]
    pub fn from_json(certificate: &Value, unit: &str) -> Option<EarlierBudgets> {
        if certificate["earlier_draws"].as_u64().unwrap_or(0) == 0 {
            return Some(EarlierBudgets::default());
        }
        let same = certificate["earlier_budgets_exact"].as_array()?;
        let same = same.iter().map(exact).collect::<Option<Vec<Rational>>>()?;
        let sum =
            [&certificate["all_draws"], &certificate["draws_of_this_unit"]].into_iter().find(|sum| sum.is_object());
        let together = exact(&sum?[format!("{unit}_exact")])?;
        let count = |key: &str| certificate[key].as_u64();
        let (draws, elsewhere) = (count("earlier_draws_of_another_unit")?, count("earlier_draws_into_other_folders")?);
        let others = match certificate[OTHERS].as_array() {
            Some(others) => others.iter().map(OtherBudgets::from_json).collect::<Option<Vec<_>>>()?,
            None if draws == 0 => Vec::new(),
            None => vec![OtherBudgets { kind: None, draws, together: Rational::new(), by_part: false }],
        };
        let by_part = summed_by_part(certificate);
        Some(EarlierBudgets { same, others, elsewhere, together, by_part })
            .filter(|found| found.draws_of_others() == draws)
    }

    /// Upper bound on the budget of a draw and all earlier ones of its unit and relation, from its certificate and its
    /// own budget. Versions that did not state [`OTHERS`] added budgets of parts of the same name, whatever their
    /// definition: there the largest budgets of all draws are added.
    #[doc(hidden)]
    pub fn bound(&self, certificate: &Value, own: &Rational) -> Rational {
        if certificate[OTHERS].is_array() {
            return self.together.clone();
        }
        let sum = self.same.iter().fold(own.clone(), |sum, budget| sum + budget);
        sum.max(self.together.clone())
    }
}

/// Of whom budgets that are added part by part are.
fn in_one_part(by_part: bool) -> &'static str {
    if by_part { ", for a record that is in the same part in every draw" } else { "" }
}

/// Whether a sum is stated to be one by parts; versions that did not say so may have added by parts.
fn summed_by_part(stated: &Value) -> bool {
    stated[BY_PART].as_bool().unwrap_or(true)
}

/// The key of whether budgets were added part by part.
const BY_PART: &str = "earlier_budgets_by_part";

/// The key of the earlier draws with another unit or relation.
const OTHERS: &str = "earlier_budgets_of_other_units";

impl OtherBudgets {
    fn in_words(&self) -> String {
        let draws =
            if self.draws == 1 { "1 earlier draw".to_string() } else { format!("{} earlier draws", self.draws) };
        match &self.kind {
            Some((unit, relation)) => {
                let (unit, together) = (in_prose(unit), rational::display(&self.together));
                format!(
                    "{draws} spent up to {unit} = {together} for {relation} neighbors{}.",
                    in_one_part(self.by_part)
                )
            }
            None => format!("{draws} spent a budget whose unit or neighbors the log does not name."),
        }
    }

    fn json(&self) -> Value {
        let mut object = json!({ "draws": self.draws });
        if let Some((unit, relation)) = &self.kind {
            object["unit"] = json!(unit);
            object["neighbors"] = json!(relation);
            object["together_exact"] = json!(self.together.to_string());
            object[BY_PART] = json!(self.by_part);
        }
        object
    }

    fn from_json(value: &Value) -> Option<OtherBudgets> {
        let draws = value["draws"].as_u64()?;
        if value.get("unit").is_none() {
            return Some(OtherBudgets { kind: None, draws, together: Rational::new(), by_part: false });
        }
        let kind = (value["unit"].as_str()?.to_string(), value["neighbors"].as_str()?.to_string());
        let (together, by_part) = (exact(&value["together_exact"])?, summed_by_part(value));
        Some(OtherBudgets { kind: Some(kind), draws, together, by_part })
    }
}

/// The budgets of a draw by the names of its parts.
fn parts(draw: &DrawIntent) -> Result<Vec<(&str, Rational)>> {
    draw.budget.iter().map(|(name, text)| Ok((name.as_str(), rational::parse(text)?))).collect()
}

fn largest(parts: &[(&str, Rational)]) -> Rational {
    parts.iter().map(|(_, budget)| budget.clone()).max().unwrap_or_default()
}

/// Upper bound on the budget that a record spends in all these draws, of one unit and one relation; and whether it is less than the sum of the largest budgets,
/// as it can be for a record that is in the same part in draws of one definition.
fn largest_sum(draws: &[&DrawIntent]) -> Result<(Rational, bool)> {
    let mut alike: Vec<(&str, Vec<(&str, Rational)>)> = Vec::new();
    let mut of_largest = Rational::new();
    for draw in draws {
        let own = parts(draw)?;
        of_largest += largest(&own);
        let known = alike.iter_mut().find(|(definition, _)| !definition.is_empty() && *definition == draw.parts);
        let Some((_, sums)) = known else {
            alike.push((&draw.parts, own));
            continue;
        };
        for (name, budget) in own {
            match sums.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum += budget,
                None => sums.push((name, budget)),
            }
        }
    }
    // A record spends at most the largest sum over parts in draws of one definition, and at most the sum of these in all.
    let together = alike.iter().fold(Rational::new(), |sum, (_, sums)| sum + largest(sums));
    let by_part = together < of_largest;
    Ok((together, by_part))
}

/// A unit as a sentence has it.
fn in_prose(unit: &str) -> String {
    unit.replace('_', " ")
}

/// An exact number in a certificate.
fn exact(value: &Value) -> Option<Rational> {
    rational::parse(value.as_str()?).ok()
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

    fn draw(kind: (&str, &str), definition: &str, budget: &[(&str, &str)]) -> DrawIntent {
        let budget = budget.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect();
        DrawIntent { parts: definition.into(), ..DrawIntent::of_budget(kind, budget) }
    }

    fn earlier(intent: &DrawIntent) -> EarlierDraw {
        EarlierDraw { intent: intent.clone(), elsewhere: false }
    }

    const RHO: (&str, &str) = ("rho", "add-remove");

    #[test]
    fn budgets_of_all_draws_add_up_by_pass() {
        let of_states = |budget: &[(&str, &str)]| draw(RHO, "states", budget);
        let now = of_states(&[("United States", "11/100"), ("Puerto Rico", "1/2")]);
        assert_eq!(EarlierBudgets::of_draws(&[], &now).unwrap().in_words("rho", None), None);
        let one = earlier(&of_states(&[("United States", "29/4"), ("Puerto Rico", "1")]));
        let found = EarlierBudgets::of_draws(std::slice::from_ref(&one), &now).unwrap();
        assert_eq!(
            found.in_words("rho", None).unwrap(),
            "One earlier draw spent its own budget (rho = 7.25), if anybody saw it: together up to 7.36, and 14.72 where a record is changed, for a record that is in the same part in every draw."
        );
        let elsewhere = EarlierDraw { elsewhere: true, ..earlier(&of_states(&[("Puerto Rico", "8")])) };
        let found = EarlierBudgets::of_draws(&[one, elsewhere], &now).unwrap();
        // 11/100 + 29/4 in one pass, 1/2 + 1 + 8 in the other.
        assert_eq!((found.together.clone(), found.draws(), found.elsewhere), (Rational::from((19, 2)), 2, 1));
        let words = found.in_words("rho", None).unwrap();
        for said in [
            "2 earlier draws",
            "(rho = 7.25, 8)",
            "together up to 9.5, and 19 where a record is changed, for a record that is in the same part in every draw.",
            "1 went into other",
        ] {
            assert!(words.contains(said), "{words}");
        }
        let mut certificate = json!({ "earlier_draws": 2 });
        certificate.as_object_mut().unwrap().extend(found.json("rho", None).unwrap());
        assert_eq!(EarlierBudgets::from_json(&certificate, "rho"), Some(found.clone()));
        assert_eq!(
            (&certificate["all_draws"]["rho"], found.bound(&certificate, &"1/2".parse().unwrap())),
            (&json!(9.5), Rational::from((19, 2)))
        );
        // A certificate of a version that went by names alone bounds nothing but the sum: 1/2 + 29/4 + 8.
        certificate.as_object_mut().unwrap().remove(OTHERS);
        assert_eq!(found.bound(&certificate, &Rational::from((1, 2))), Rational::from((63, 4)));
        assert!(EarlierBudgets::of_draws(&[earlier(&of_states(&[("United States", "x")]))], &now).is_err());
    }

    /// The largest total over all people, each in one part of every draw: independent of names, and of how parts overlap.
    #[test]
    fn parts_that_are_defined_otherwise_add_up() {
        let total = |draws: &[DrawIntent]| {
            let (now, before) = draws.split_last().unwrap();
            let before: Vec<EarlierDraw> = before.iter().map(earlier).collect();
            EarlierBudgets::of_draws(&before, now).unwrap().together
        };
        // Six draws of the whole country under six names.
        let renamed: Vec<DrawIntent> =
            (1..=6).map(|at| draw(RHO, &at.to_string(), &[(&format!("K{at}"), "2")])).collect();
        assert_eq!(total(&renamed), 12);
        // One part, then two.
        let (one, two) = (draw(RHO, "a", &[("Aldria", "21/10")]), draw(RHO, "b", &[("Inner", "2"), ("Outer", "2")]));
        assert_eq!(total(&[one, two]), Rational::from((41, 10)));
        // Equal names and exchanged codes: whoever is in North first, and in South then, spends 2 + 2.
        let first = draw(RHO, "a", &[("North", "2"), ("South", "1/10")]);
        let swapped = draw(RHO, "b", &[("North", "1/10"), ("South", "2")]);
        assert_eq!(total(&[first.clone(), swapped.clone()]), 4);
        // The same two, each repeated: 2 + 2 by the first definition, 2 + 2 by the second.
        assert_eq!(total(&[first.clone(), swapped.clone(), first.clone(), swapped]), 8);
        // With the same definition the second draw gives the other part more.
        let other_way = draw(RHO, "a", &[("North", "1/10"), ("South", "2")]);
        assert_eq!(total(&[first.clone(), other_way]), Rational::from((21, 10)));
        // A log without definitions.
        let unknown = draw(RHO, "", &[("North", "1/10"), ("South", "2")]);
        assert_eq!(total(&[unknown.clone(), unknown, first]), 6);
    }

    #[test]
    fn budgets_of_different_relations_are_not_added() {
        let now = draw(RHO, "", &[("rho", "1")]);
        let changed = draw(("rho", "bounded"), "", &[("rho", "1")]);
        let pure = draw(("pure_epsilon", "add-remove"), "", &[("pure epsilon", "1/2")]);
        let unknown = draw(("", ""), "", &[("x", "5")]);
        let before = [&changed, &changed, &now, &pure, &unknown].map(earlier);
        let found = EarlierBudgets::of_draws(&before, &now).unwrap();
        assert_eq!((found.together.clone(), found.draws(), found.same.len()), (Rational::from(2), 5, 1));
        assert_eq!(
            found.in_words("rho", Some("add-remove")).unwrap(),
            "One earlier draw spent its own budget (rho = 1; add-remove neighbors), if anybody saw it: together up to 2. \
             2 earlier draws spent up to rho = 2 for bounded neighbors. 1 earlier draw spent up to pure epsilon = 0.5 for \
             add-remove neighbors. 1 earlier draw spent a budget whose unit or neighbors the log does not name. Budgets of \
             different units or neighbors are not added: what all draws together spend is not known."
        );
        let mut certificate = json!({ "earlier_draws": 5 });
        certificate.as_object_mut().unwrap().extend(found.json("rho", Some("add-remove")).unwrap());
        assert!(certificate["all_draws"].is_null() && certificate["draws_of_this_unit"]["rho"] == json!(2));
        let mut read = found;
        read.others[2].together = Rational::new();
        assert_eq!(EarlierBudgets::from_json(&certificate, "rho"), Some(read));
        // Two draws of a unit that no log names are not of one unit.
        let found = EarlierBudgets::of_draws(&[earlier(&unknown)], &unknown).unwrap();
        assert!(found.same.is_empty() && found.others.len() == 1);
    }
}
