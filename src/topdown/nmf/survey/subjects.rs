//! The answers for units and areas of a state, with their names and, in a rehearsal, their true counts.

use std::collections::HashMap;

use super::{
    opened::{StatePass, Survey},
    settings::AreaSource,
};
use crate::{
    error::unknown,
    spine::codes::geoid_of,
    topdown::{
        gls::{areas::LeafShare, belief::Belief},
        nmf::{
            answers::{Answer, Areas, Subject},
            units::PartUnits,
        },
    },
};

impl Survey {
    pub(super) fn unit_answers(&self, units: &PartUnits, level: usize, unit: usize, belief: &Belief) -> Vec<Answer> {
        let mut answers = self.answers.answers(&self.problem, belief);
        if let Some(histogram) = self.truth_of(units, level, unit) {
            self.answers.add_truth(&self.names.sizes, &histogram, &mut answers);
        }
        answers
    }

    /// The true histogram of a unit, in a rehearsal.
    pub(super) fn truth_of(&self, units: &PartUnits, level: usize, unit: usize) -> Option<Vec<f64>> {
        let truth = self.settings.truth.as_ref()?;
        let codes = &units.codes[units.codes.len() - 1];
        let blocks = if level + 1 == units.codes.len() { unit..unit + 1 } else { units.tree.blocks(level, unit) };
        Some(truth.histogram(blocks.filter_map(|block| geoid_of(codes.get(block)))))
    }

    /// The answers for an area of a state.
    pub(super) fn area_answers(&self, pass: &StatePass, area: u32, belief: &Belief) -> Vec<Answer> {
        let mut answers = self.answers.answers(&self.problem, belief);
        let Some(truth) = &self.settings.truth else { return answers };
        // For an area in several states, only the blocks of this one.
        let own = |geoid: &u64| pass.parts.iter().any(|units| units.has_state(*geoid));
        let histogram = truth.weighted(pass.area_sets.blocks_of(area).filter(|(geoid, _)| own(geoid)));
        self.answers.add_truth(&self.names.sizes, &histogram, &mut answers);
        answers
    }

    /// The answers for an area with blocks in several states.
    pub(super) fn given_area_answers(&self, area: u32, belief: &Belief) -> Vec<Answer> {
        let mut answers = self.answers.answers(&self.problem, belief);
        if let (Some(truth), AreaSource::Given(areas)) = (&self.settings.truth, &self.settings.areas) {
            let histogram = truth.weighted(areas.blocks_of(area));
            self.answers.add_truth(&self.names.sizes, &histogram, &mut answers);
        }
        answers
    }

    pub(super) fn subject(&self, units: &PartUnits, level: usize, unit: usize) -> Subject {
        let number = level + self.first();
        Subject::Unit { level: number, code: units.code(level, unit), geoid: self.geoid(units, level, unit) }
    }

    /// The tabulation unit, of the kind of the level, that contains all blocks of a unit.
    pub(super) fn geoid(&self, units: &PartUnits, level: usize, unit: usize) -> String {
        let Some(digits) = tabulation_digits(&self.names.levels[level + self.first()]) else { return String::new() };
        if !self.missing.is_empty() {
            return geoid_of_code(units.codes[level].get(unit), digits);
        }
        let codes = &units.codes[units.codes.len() - 1];
        let blocks = if level + 1 == units.codes.len() { unit..unit + 1 } else { units.tree.blocks(level, unit) };
        let mut prefixes = blocks.map(|block| geoid_of(codes.get(block)).map(|id| id / 10_u64.pow(15 - digits)));
        match prefixes.next().flatten() {
            Some(first) if prefixes.all(|other| other == Some(first)) => {
                format!("{first:0width$}", width = digits as usize)
            }
            _ => String::new(),
        }
    }
}

/// The GEOID of a state or county from its code: 44 from 044, 44007 from 044100071. Lower units have running numbers.
fn geoid_of_code(code: &[u8], digits: u32) -> String {
    let text = String::from_utf8_lossy(code);
    match digits {
        2 if code.len() == 3 => text[1..].to_string(),
        5 if code.len() >= 8 && code[3..5] == *b"10" => format!("{}{}", &text[1..3], &text[5..8]),
        _ => String::new(),
    }
}

/// The number of digits of a block's GEOID that identify its tabulation unit of a level; `None` for levels of the
/// optimized spine without tabulation units.
pub(super) fn tabulation_digits(level: &str) -> Option<u32> {
    match level {
        "State" => Some(2),
        "County" => Some(5),
        "Tract" => Some(11),
        "Block" => Some(15),
        _ => None,
    }
}

/// The levels of tabulation units, with the number of digits of their GEOIDs. The block groups are not those of the
/// optimized spine.
const TABULATED: [(&str, u32); 5] = [("State", 2), ("County", 5), ("Tract", 11), ("Block_Group", 12), ("Block", 15)];

/// The number of digits of the GEOIDs of the tabulation units of a level; an error message for other levels.
pub fn tabulated_digits(level: &str) -> std::result::Result<u32, String> {
    let known = TABULATED.iter().find(|(name, _)| *name == level);
    let names = TABULATED.iter().map(|(name, _)| *name);
    known.map(|(_, digits)| *digits).ok_or_else(|| unknown("tabulation", level, "there are", names))
}

/// The level of the tabulation units whose GEOIDs have this number of digits; empty if there is none.
pub fn tabulation_level(digits: usize) -> &'static str {
    TABULATED.iter().find(|(_, own)| *own as usize == digits).map_or("", |(name, _)| *name)
}

/// The shares that areas have of each leaf of a part; none of weight 0.
pub(super) fn leaves(areas: &Areas, units: &PartUnits) -> HashMap<usize, Vec<LeafShare>> {
    let codes = &units.codes[units.codes.len() - 1];
    let mut of_leaf = HashMap::new();
    for leaf in 0..codes.len() {
        if let Some(own) = geoid_of(codes.get(leaf)).and_then(|id| areas.of_block.get(&id)) {
            let shares: Vec<LeafShare> = own.iter().filter(|share| share.weight > 0.0).copied().collect();
            if !shares.is_empty() {
                of_leaf.insert(leaf, shares);
            }
        }
    }
    of_leaf
}
