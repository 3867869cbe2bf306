//! Areas with blocks in several states: the contribution of each state, and the answers once all are known.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    opened::{Survey, Take, Top},
    settings::AreaSource,
};
use crate::{
    error::Result,
    topdown::{
        gls::areas::{AreaPart, Touched},
        nmf::{
            answers::{Answer, Subject},
            saved,
        },
    },
};

/// The contributions to areas with blocks in several states, by area and state.
#[derive(Default)]
pub(in crate::topdown::nmf) struct Across {
    pub(super) parts: BTreeMap<u32, BTreeMap<u32, AreaPart>>,
    /// If the nation's counts are not used, states are independent.
    pub(super) answers: BTreeMap<u32, BTreeMap<u32, Vec<Answer>>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    parts: BTreeMap<u32, Option<[Vec<u64>; 3]>>,
    answers: BTreeMap<u32, String>,
}

impl Across {
    /// The contribution of a state, as text: numbers as their bits.
    pub(in crate::topdown::nmf) fn to_text(&self) -> String {
        let bits = |part: &AreaPart| part.numbers().map(|numbers| numbers.map(|own| saved::bits(&own)));
        let parts = self.parts.iter().flat_map(|(area, of)| of.values().map(move |part| (*area, bits(part))));
        let line = |answers: &Vec<Answer>| saved::to_line(&Subject::Area(String::new()), answers);
        let answers = self.answers.iter().flat_map(|(area, of)| of.values().map(move |own| (*area, line(own))));
        let saved = Saved { parts: parts.collect(), answers: answers.collect() };
        // Plain numbers and text can always be serialized.
        serde_json::to_string(&saved).unwrap_or_default()
    }
}

impl Survey {
    /// Adds the contribution of a state, from text; an error message if it is not of this survey.
    pub(in crate::topdown::nmf) fn read_across(
        &self,
        state: u32,
        top: &Top,
        text: &str,
        across: &mut Across,
    ) -> std::result::Result<(), String> {
        let saved: Saved = serde_json::from_str(text).map_err(|why| why.to_string())?;
        let wrong = || "is not of the areas and queries of this job".to_string();
        for (area, bits) in saved.parts {
            let root = top.nation.as_ref().and_then(|nation| nation.roots.get(&state)).ok_or_else(wrong)?;
            let numbers = bits.map(|bits| bits.map(saved::numbers));
            let part = AreaPart::of_numbers(&root.belief.shape, numbers).ok_or_else(wrong)?;
            if !self.is_across(area) {
                return Err(wrong());
            }
            across.parts.entry(area).or_default().insert(state, part);
        }
        for (area, line) in saved.answers {
            let (_, answers) = saved::of_line(&line, self.answers.names().len(), 0)?;
            if !self.is_across(area) {
                return Err(wrong());
            }
            across.answers.entry(area).or_default().insert(state, answers);
        }
        Ok(())
    }

    /// The answers for areas with blocks in several states.
    pub(in crate::topdown::nmf) fn answer_across(&self, top: &Top, across: Across, take: &mut Take) -> Result<()> {
        for (area, of_states) in across.answers {
            let sum = of_states.into_values().reduce(add_answers).unwrap_or_default();
            take(Subject::Area(self.area_name(area)), sum)?;
        }
        let Some(nation) = &top.nation else { return Ok(()) };
        for (area, of_states) in across.parts {
            let mut touched = Touched::new(nation.below.shape.clone());
            for (state, part) in &of_states {
                if let Some(root) = nation.roots.get(state) {
                    touched.add(part, &root.belief);
                }
            }
            let part = touched.join(&nation.below, nation.roots.len(), false);
            let answers = self.given_area_answers(area, &part.estimate(&nation.belief));
            take(Subject::Area(self.area_name(area)), answers)?;
        }
        Ok(())
    }

    /// Whether any area has blocks in several states.
    pub(in crate::topdown::nmf) fn has_across(&self) -> bool {
        matches!(&self.settings.areas, AreaSource::Given(areas) if areas.states.iter().any(|states| states.len() > 1))
    }

    fn area_name(&self, area: u32) -> String {
        match &self.settings.areas {
            AreaSource::Given(areas) => areas.names.get(area as usize).cloned().unwrap_or_default(),
            _ => String::new(),
        }
    }

    /// Whether an area has blocks in several states.
    pub(super) fn is_across(&self, area: u32) -> bool {
        let states = |areas: &crate::topdown::nmf::answers::Areas| areas.states.get(area as usize).map(|own| own.len());
        matches!(&self.settings.areas, AreaSource::Given(areas) if states(areas) > Some(1))
    }
}

/// Adds the estimates and variances of independent answers.
pub(super) fn add_answers(mut to: Vec<Answer>, from: Vec<Answer>) -> Vec<Answer> {
    for (to, from) in to.iter_mut().zip(from) {
        to.estimates.iter_mut().zip(&from.estimates).for_each(|(to, from)| *to += from);
        to.variances.iter_mut().zip(&from.variances).for_each(|(to, from)| *to += from);
        to.truth.iter_mut().zip(&from.truth).for_each(|(to, from)| *to += from);
    }
    to
}
