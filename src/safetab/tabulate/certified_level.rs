//! A population group level as certificates describe it: of persons, or of households.

use rug::Rational;
use serde_json::{Map, Value, json};

use super::{
    household_levels::HouseholdLevel,
    levels::{CountNoise, TabulatedLevel},
};
use crate::{
    numeric::{Enclosure, rational},
    safetab::{
        household_tables::HouseholdTopic,
        schema::{IterationLevel, RegionType},
    },
};

/// A population group level in a certificate.
pub trait CertifiedLevel {
    /// Its name on a page, such as `COUNTY level 2`.
    fn name(&self) -> String;
    /// The entries that name it, such as its type of region and its level of iterations.
    fn place(&self) -> Vec<(&'static str, Value)>;
    /// Upper bound on the number of groups of the level that one record belongs to.
    fn stability(&self) -> u32;
    /// The number of groups.
    fn groups(&self) -> u64;
    /// The kinds of noisy counts by name; no noise for a kind that is not run.
    fn counts(&self) -> Vec<(&'static str, Option<&CountNoise>)>;
    /// Adds the entries beside the place and the guarantees.
    fn entries(&self, object: &mut Map<String, Value>);
    /// The last columns of its row of the page.
    fn last_columns(&self) -> Vec<String>;
}

impl CertifiedLevel for TabulatedLevel {
    fn name(&self) -> String {
        name(self.region_type, self.level)
    }

    fn place(&self) -> Vec<(&'static str, Value)> {
        place(self.region_type, self.level)
    }

    fn stability(&self) -> u32 {
        self.stability
    }

    fn groups(&self) -> u64 {
        TabulatedLevel::groups(self)
    }

    fn counts(&self) -> Vec<(&'static str, Option<&CountNoise>)> {
        stages(self).map(|(name, noise)| (name, Some(noise))).to_vec()
    }

    fn entries(&self, object: &mut Map<String, Value>) {
        object.insert("stability".to_string(), json!(self.stability));
        object.insert("regions".to_string(), json!(self.regions.len()));
        object.insert("iterations".to_string(), json!(self.iterations.len()));
        object.insert("detailed_only_iterations".to_string(), json!(self.detailed_only()));
        for (stage, noise) in stages(self) {
            noise_of(stage, noise, object);
        }
        object.insert("thresholds".to_string(), json!(self.thresholds));
        let suppression = self.suppression;
        object.insert("suppression_threshold_total_only".to_string(), json!(suppression.map(|both| both[0])));
        object.insert("suppression_threshold".to_string(), json!(suppression.map(|both| both[1])));
    }

    fn last_columns(&self) -> Vec<String> {
        vec![self.suppression.map_or("none".to_string(), |both| both[1].to_string())]
    }
}

impl CertifiedLevel for HouseholdLevel {
    fn name(&self) -> String {
        name(self.region_type, self.level)
    }

    fn place(&self) -> Vec<(&'static str, Value)> {
        place(self.region_type, self.level)
    }

    fn stability(&self) -> u32 {
        self.stability
    }

    fn groups(&self) -> u64 {
        self.groups.len() as u64
    }

    fn counts(&self) -> Vec<(&'static str, Option<&CountNoise>)> {
        let tables = HouseholdTopic::ALL.into_iter().zip(&self.tables);
        tables.map(|(topic, table)| (topic.name(), table.as_ref().map(|table| &table.noise))).collect()
    }

    fn entries(&self, object: &mut Map<String, Value>) {
        object.insert("stability".to_string(), json!(self.stability));
        object.insert("regions".to_string(), json!(self.regions.len()));
        object.insert("iterations".to_string(), json!(self.iterations.len()));
        object.insert("groups".to_string(), json!(self.groups.len()));
        for (topic, table) in HouseholdTopic::ALL.into_iter().zip(&self.tables) {
            let name = topic.name().to_lowercase();
            let budget = table.as_ref().map_or_else(Rational::new, |table| table.budget.clone());
            object.insert(format!("budget_{name}"), number(&budget));
            if let Some(table) = table {
                noise_of(&name, &table.noise, object);
                let selected = topic.tables().iter().zip(self.selected(topic));
                let selected = selected.map(|(table, count)| (table.name.to_string(), json!(count))).collect();
                object.insert(format!("groups_{name}"), Value::Object(selected));
            }
        }
        object.insert("thresholds_t3".to_string(), json!(self.thresholds_t3));
        object.insert("threshold_t4".to_string(), json!(self.threshold_t4));
    }

    fn last_columns(&self) -> Vec<String> {
        let counts = HouseholdTopic::ALL.map(|topic| {
            let counts: Vec<String> = self.selected(topic).iter().map(u64::to_string).collect();
            counts.join(" + ")
        });
        counts.to_vec()
    }
}

/// The name of a level of the bureau.
fn name(region_type: RegionType, level: IterationLevel) -> String {
    format!("{region_type} level {level}")
}

/// The entries that name a level of the bureau.
fn place(region_type: RegionType, level: IterationLevel) -> Vec<(&'static str, Value)> {
    vec![("region_type", json!(region_type.name())), ("level", json!(level.number()))]
}

/// Adds the parameter and the margin of error of a kind of count.
pub(in crate::safetab) fn noise_of(name: &str, noise: &CountNoise, object: &mut Map<String, Value>) {
    let (parameter, value) = parameter(noise);
    object.insert(format!("{parameter}_{name}"), number(value));
    object.insert(format!("{parameter}_{name}_exact"), json!(value.to_string()));
    object.insert(format!("moe_{name}"), json!(noise.margin));
}

/// An exact rational as a JSON number: exact if its decimal expansion ends, else rounded up.
pub(super) fn number(value: &Rational) -> Value {
    let text = rational::display(value);
    let text = match text.contains('/') {
        true => Enclosure::rational(value, 84).decimals().1,
        false => Some(text),
    };
    // Null if there is no finite decimal.
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or(Value::Null)
}

/// The three kinds of noisy counts of a level, by the ends of their JSON keys.
fn stages(level: &TabulatedLevel) -> [(&'static str, &CountNoise); 3] {
    [("total_only", &level.total_only), ("stage1", &level.stage_1), ("stage2", &level.stage_2)]
}

/// The name and the value of the parameter of a law.
pub(super) fn parameter(noise: &CountNoise) -> (&'static str, &Rational) {
    // An epsilon is also a budget here.
    let name = if noise.law.sigma2().is_some() { "sigma2" } else { "laplace_epsilon" };
    (name, noise.law.parameter())
}
