//! The blocks of areas and of true counts, compared with those of the files before estimation. The files list only
//! blocks with housing units or group quarters; nobody can live in the others. Such a block is recognized by its tract,
//! which the files have.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::{
    opened::{Absent, Survey, Take},
    settings::AreaSource,
};
use crate::{
    error::Result,
    spine::codes::geoid_of,
    topdown::nmf::{answers::Subject, areas::Areas, folder::of_part, matched::Keys, rows, truth::Truth},
};

/// The searched blocks found in the files of some states, and the tracts and counties of all blocks.
#[derive(Default)]
struct Found {
    blocks: HashSet<u64>,
    tracts: HashSet<u64>,
    counties: HashSet<u64>,
}

const STATE: u64 = 10_u64.pow(13);
const COUNTY: u64 = 10_u64.pow(10);
const TRACT: u64 = 10_u64.pow(4);

impl Found {
    /// Whether nobody can live in a block that is not in the files: other blocks of its tract are, or its tract is a
    /// water tract (9900.00 to 9900.99) in a county of the files.
    fn is_empty_block(&self, geoid: u64) -> bool {
        let is_water = geoid / TRACT % 1_000_000 / 100 == 9900;
        self.tracts.contains(&(geoid / TRACT)) || (is_water && self.counties.contains(&(geoid / COUNTY)))
    }
}

fn state_of(geoid: u64) -> u32 {
    (geoid / STATE) as u32
}

impl Survey {
    /// Compares the blocks of areas and true counts with the files.
    pub(super) fn find_blocks(&self) -> Result<Absent> {
        let given = match &self.settings.areas {
            AreaSource::Given(areas) => Some(areas),
            AreaSource::None | AreaSource::Digits(_) => None,
        };
        let truth = self.settings.truth.as_ref();
        if given.is_none() && truth.is_none() {
            return Ok(Absent::default());
        }
        let of_areas = given.iter().flat_map(|areas| areas.of_block.keys().copied());
        let of_truth = truth.iter().flat_map(|truth| truth.blocks());
        let wanted: HashSet<u64> = of_areas.chain(of_truth).collect();
        let states: BTreeSet<u32> = wanted.iter().map(|geoid| state_of(*geoid)).collect();
        let mut found = Found::default();
        for state in states.into_iter().filter(|state| self.states.contains_key(state)) {
            self.each_block(state, &mut |geoid| {
                if wanted.contains(&geoid) {
                    found.blocks.insert(geoid);
                }
                found.tracts.insert(geoid / TRACT);
                found.counties.insert(geoid / COUNTY);
            })?;
        }
        let mut absent = given.map_or_else(|| Ok(Absent::default()), |areas| self.absent_of(areas, &found))?;
        absent.truth = truth.map(|truth| self.judge_truth(truth, &found)).transpose()?.flatten();
        Ok(absent)
    }

    /// The GEOIDs of the blocks of a state, possibly with repetitions.
    fn each_block(&self, state: u32, each: &mut dyn FnMut(u64)) -> Result<()> {
        let last = self.folder.levels.len() - 1;
        for part in &self.states[&state] {
            for file in of_part(&self.folder.levels[last].constraints, part) {
                rows::read(&file.path, &[], |row| {
                    if row.geocode.starts_with(part.as_bytes()) {
                        geoid_of(row.geocode).iter().for_each(|geoid| each(*geoid));
                    }
                    Ok(())
                })?;
            }
        }
        Ok(())
    }

    fn read_states(&self) -> String {
        let states: Vec<String> = self.states.keys().map(|state| format!("{state:02}")).collect();
        crate::topdown::nmf::complete::shortened(&states)
    }

    fn absent_of(&self, areas: &Areas, found: &Found) -> Result<Absent> {
        let elsewhere = |geoid: &&u64| !self.states.contains_key(&state_of(**geoid));
        let blocks = areas.of_block.keys();
        let outside: Vec<u64> = blocks.clone().filter(elsewhere).copied().collect();
        if !outside.is_empty() {
            let why = format!("of areas outside the states that are read ({})", self.read_states());
            return Err(areas.refuse(outside, &why));
        }
        let (empty, lost): (Vec<u64>, Vec<u64>) = blocks
            .filter(|geoid| !found.blocks.contains(geoid))
            .copied()
            .partition(|geoid| found.is_empty_block(*geoid));
        if !lost.is_empty() {
            let why = "of areas missing from the files, like every block of their tracts. Blocks without housing units and group quarters \
                       are not in the files, and count as zero where their tract is; another census has other blocks";
            return Err(areas.refuse(lost, why));
        }
        let mut people = vec![false; areas.names.len()];
        for (geoid, of) in &areas.of_block {
            if found.blocks.contains(geoid) {
                of.iter().filter(|share| share.weight > 0.0).for_each(|share| people[share.area as usize] = true);
            }
        }
        let empty_areas = (0..).zip(people).filter(|(_, has)| !has).map(|(area, _)| area).collect();
        Ok(Absent { empty_blocks: empty.len() as u64, empty_areas, truth: None })
    }

    /// The message about true counts of blocks that are not in the files, and of states that are not read.
    fn judge_truth(&self, truth: &Truth, found: &Found) -> Result<Option<String>> {
        let mut outside: BTreeMap<u32, u64> = BTreeMap::new();
        let mut keys = Keys { file: truth.file.clone(), ..Keys::default() };
        for (geoid, records) in truth.of_blocks() {
            match self.states.contains_key(&state_of(geoid)) {
                false => *outside.entry(state_of(geoid)).or_default() += 1,
                true => {
                    keys.all += 1;
                    // A block without records loses nobody.
                    if records > 0 && !found.blocks.contains(&geoid) {
                        keys.lost.push((0, format!("{geoid:015}")));
                    }
                }
            }
        }
        if keys.all == 0 {
            let lost = truth.blocks().map(|geoid| (0, format!("{geoid:015}"))).collect();
            let all = Keys { file: truth.file.clone(), all: truth.blocks().count(), lost };
            return all.judged("blocks of the true counts", "lie in states that are not read");
        }
        let said = keys.judged("blocks with true counts", "are not in the files, and their people in no unit")?;
        let elsewhere = (!outside.is_empty()).then(|| {
            let states: Vec<String> = outside.keys().map(|state| format!("{state:02}")).collect();
            format!("true counts of states that are not read: {}", crate::topdown::nmf::complete::shortened(&states))
        });
        let both: Vec<String> = said.into_iter().chain(elsewhere).collect();
        Ok((!both.is_empty()).then(|| both.join("; ")))
    }

    /// The answers for areas where nobody can live: zero.
    pub(in crate::topdown::nmf) fn answer_empty(&self, take: &mut Take) -> Result<()> {
        let AreaSource::Given(areas) = &self.settings.areas else { return Ok(()) };
        for area in &self.absent.empty_areas {
            let mut answers = self.answers.zeros();
            if let Some(truth) = &self.settings.truth {
                let histogram = truth.weighted(areas.blocks_of(*area));
                self.answers.add_truth(&self.names.sizes, &histogram, &mut answers);
            }
            take(Subject::Area(areas.names[*area as usize].clone()), answers)?;
        }
        Ok(())
    }
}
