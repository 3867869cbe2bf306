//! The population group levels of a country: their noise, thresholds, groups and suppression.

use std::sync::Arc;

use rug::Rational;
use serde_json::{Map, Value, json};

use super::{
    geography::Areas,
    specification::{CountrySpecification, Entry},
    tables::TableSet,
};
use crate::{
    error::{Error, Result},
    safetab::{
        cell_noise::CellNoise,
        memberships::{MemberGroup, Memberships},
        places::PlaceSample,
        schema::Privacy,
        suppression::Suppression,
        tabulate::{
            certified_level::{CertifiedLevel, noise_of},
            changes::{LevelFacts, Part},
            guarantees::AccountedLevel,
            levels::CountNoise,
            two_stage::StagedLevel,
        },
    },
};

/// A population group level: one level of the geography with one grouping.
#[derive(Clone, Debug)]
pub(in crate::safetab) struct CountryLevel {
    /// The part of the country, by its index and its name.
    pub(in crate::safetab) part: usize,
    pub(in crate::safetab) part_name: String,
    /// The level of the geography, by its index and its name.
    pub(super) level: usize,
    pub(in crate::safetab) level_name: String,
    /// The grouping, by its index and its name.
    pub(in crate::safetab) grouping: usize,
    pub(in crate::safetab) grouping_name: String,
    budget: Rational,
    stability: u32,
    /// The noise of a table that spends the whole budget, of the total of stage 1 and of a cell of stage 2.
    noise: [CountNoise; 3],
    /// The tables, from the coarsest, by their indices.
    pub(in crate::safetab) tables: Vec<usize>,
    pub(in crate::safetab) thresholds: Vec<i64>,
    /// The largest totals that are suppressed: of a group with one table, and of another group with its first table.
    suppression: Option<[i64; 2]>,
    /// The groups: their codes, and whether only their total is published.
    pub(super) groups: Vec<(String, bool)>,
    /// The regions, ascending.
    pub(super) regions: Vec<String>,
    pub(in crate::safetab) table_set: Arc<TableSet>,
    /// The groups of all persons by grouping, if they are enumerated.
    people: Option<Arc<Memberships>>,
    /// Some places with their regions by level, if a geography is given.
    places: Option<Arc<PlaceSample>>,
}

/// The levels of one part of a country, in the order of the file.
pub(in crate::safetab) type LevelsOfPart = (usize, Vec<CountryLevel>);

/// The levels by part of the country, without parts that have none; without regions if no geography is given.
pub(in crate::safetab) fn by_part(of: &CountrySpecification, areas: Option<&Areas>) -> Result<Vec<LevelsOfPart>> {
    let mut parts: Vec<LevelsOfPart> = (0..of.geography.parts.len()).map(|part| (part, Vec::new())).collect();
    for level in levels(of, areas)? {
        parts[level.part].1.push(level);
    }
    parts.retain(|(_, levels)| !levels.is_empty());
    Ok(parts)
}

/// All levels in the order of the file; without regions if no geography is given.
pub(in crate::safetab) fn levels(of: &CountrySpecification, areas: Option<&Areas>) -> Result<Vec<CountryLevel>> {
    let tables = Arc::new(of.tables.clone());
    let (people, places) =
        (people(of), areas.map(|areas| Arc::new(PlaceSample::of_places(areas.atoms.iter().cloned()))));
    let level = |entry| {
        let level = CountryLevel::new(of, entry, areas, &tables)?;
        Ok(CountryLevel { people: people.clone(), places: places.clone(), ..level })
    };
    of.entries.iter().map(level).collect()
}

/// The groups of all persons in the groupings that are tabulated, by the number of the grouping; `None` if the enumeration would take too long.
fn people(of: &CountrySpecification) -> Option<Arc<Memberships>> {
    let is_tabulated = |grouping: usize| of.entries.iter().any(|entry| entry.grouping == grouping);
    let used = of.groupings.iter().enumerate().filter(|(number, _)| is_tabulated(*number));
    let groups = used.flat_map(|(kind, grouping)| {
        grouping.groups.iter().map(move |group| MemberGroup {
            kind,
            total_only: group.total_only,
            name: format!("{} {}", grouping.name, group.code),
            conditions: group.conditions.clone(),
        })
    });
    let columns: Vec<usize> = of.attributes.iter().map(|attribute| attribute.columns.len()).collect();
    Memberships::enumerated(&groups.collect::<Vec<_>>(), &columns).map(Arc::new)
}

impl CountryLevel {
    fn new(
        of: &CountrySpecification,
        entry: &Entry,
        areas: Option<&Areas>,
        tables: &Arc<TableSet>,
    ) -> Result<CountryLevel> {
        let grouping = &of.groupings[entry.grouping];
        let kind = CountNoise::kind(of.privacy);
        // Each of the groups that one person can be in gets an equal share: sigma2 = s / (2 rho), or epsilon / s. Noise is never scaled to
        // less than one group.
        let noise = |share: &Rational| {
            CellNoise::new(kind, &(Rational::from(&entry.budget * share) / grouping.stability.max(1)))
        };
        let (one, half) = (Rational::from(1), Rational::from((1, 2)));
        let gamma = of.gamma.as_ref().unwrap_or(&half);
        let (whole, stage_1, stage_2) = (noise(&one)?, noise(gamma)?, noise(&Rational::from(&one - gamma))?);
        let threshold = |noise: &CellNoise, chance: &Rational| {
            Suppression::new(noise.clone(), chance.clone()).map(|rule| rule.threshold())
        };
        let suppression = entry.suppress_empty.as_ref();
        let both = |chance: &Rational| Ok::<_, Error>([threshold(&whole, chance)?, threshold(&stage_2, chance)?]);
        let suppression = suppression.map(both);
        let level = &of.geography.levels[entry.level];
        Ok(CountryLevel {
            part: level.part,
            part_name: of.geography.parts[level.part].name.clone(),
            level: entry.level,
            level_name: level.name.clone(),
            grouping: entry.grouping,
            grouping_name: grouping.name.clone(),
            budget: entry.budget.clone(),
            stability: grouping.stability.max(1),
            noise: [CountNoise::new(&whole)?, CountNoise::new(&stage_1)?, CountNoise::new(&stage_2)?],
            tables: entry.tables.clone(),
            thresholds: entry.thresholds.clone(),
            suppression: suppression.transpose()?,
            groups: grouping.groups.iter().map(|group| (group.code.clone(), group.total_only)).collect(),
            regions: areas.map_or_else(Vec::new, |areas| areas.regions[entry.level].clone()),
            table_set: tables.clone(),
            people: None,
            places: None,
        })
    }

    /// The region and the group of a number: the region times the number of groups of a region, plus the group.
    pub(super) fn place_of(&self, group: u64) -> (u32, u32) {
        let width = self.groups.len() as u64;
        ((group / width) as u32, (group % width) as u32)
    }

    /// Whether a noisy total chooses the table of a group.
    fn has_two_stages(&self) -> bool {
        self.tables.len() > 1
    }

    /// The number of groups of a region with one table.
    fn with_sole_table(&self) -> u64 {
        (0..self.groups.len()).filter(|place| self.sole_table(*place).is_some()).count() as u64
    }

    /// The kinds of noisy counts that are drawn, by the ends of their JSON keys.
    fn kinds(&self) -> [(&'static str, Option<&CountNoise>); 3] {
        let [whole, stage_1, stage_2] = &self.noise;
        let staged = self.has_two_stages();
        let sole = (self.with_sole_table() > 0).then_some(whole);
        [("total_only", sole), ("stage1", staged.then_some(stage_1)), ("stage2", staged.then_some(stage_2))]
    }

    /// The number of cells of a table.
    pub(in crate::safetab) fn cells_of(&self, table: usize) -> usize {
        self.table_set.tables[table].labels.len()
    }
}

impl StagedLevel for CountryLevel {
    type Table = usize;

    fn groups(&self) -> u64 {
        self.regions.len() as u64 * self.groups.len() as u64
    }

    fn width(&self) -> usize {
        self.groups.len()
    }

    fn sole_table(&self, place: usize) -> Option<usize> {
        (!self.has_two_stages() || self.groups[place].1).then_some(self.tables[0])
    }

    fn noise(&self) -> [&CountNoise; 3] {
        self.noise.each_ref()
    }

    fn cells(&self) -> usize {
        self.table_set.cells()
    }

    fn called_for(&self, noisy_total: i64) -> usize {
        self.tables[self.thresholds.iter().filter(|threshold| noisy_total >= **threshold).count()]
    }

    fn sums(&self, table: usize, cells: &[i64], out: &mut Vec<i64>) {
        self.table_set.sums(table, cells, out);
    }

    fn suppressed_to(&self, has_sole_table: bool) -> Option<i64> {
        self.suppression.map(|thresholds| thresholds[usize::from(!has_sole_table)])
    }
}

impl CertifiedLevel for CountryLevel {
    fn name(&self) -> String {
        format!("{}, {}", self.level_name, self.grouping_name)
    }

    fn place(&self) -> Vec<(&'static str, Value)> {
        vec![("region_type", json!(self.level_name)), ("grouping", json!(self.grouping_name))]
    }

    fn stability(&self) -> u32 {
        self.stability
    }

    fn groups(&self) -> u64 {
        StagedLevel::groups(self)
    }

    fn counts(&self) -> Vec<(&'static str, Option<&CountNoise>)> {
        self.kinds().to_vec()
    }

    fn entries(&self, object: &mut Map<String, Value>) {
        object.insert("stability".to_string(), json!(self.stability));
        object.insert("regions".to_string(), json!(self.regions.len()));
        object.insert("groups_of_a_region".to_string(), json!(self.groups.len()));
        object.insert("groups_with_one_table".to_string(), json!(self.with_sole_table()));
        for (stage, noise) in self.kinds() {
            if let Some(noise) = noise {
                noise_of(stage, noise, object);
            }
        }
        let tables: Vec<&str> = self.tables.iter().map(|table| self.table_set.tables[*table].name.as_str()).collect();
        object.insert("tables".to_string(), json!(tables));
        object.insert("thresholds".to_string(), json!(self.thresholds));
        let suppression = self.suppression;
        let sole = suppression.filter(|_| self.with_sole_table() > 0).map(|both| both[0]);
        object.insert("suppression_threshold_total_only".to_string(), json!(sole));
        let staged = suppression.filter(|_| self.has_two_stages()).map(|both| both[1]);
        object.insert("suppression_threshold".to_string(), json!(staged));
    }

    fn last_columns(&self) -> Vec<String> {
        let total = |both: [i64; 2]| both[usize::from(self.has_two_stages())].to_string();
        vec![self.suppression.map_or("none".to_string(), total)]
    }
}

impl AccountedLevel for CountryLevel {
    fn part(levels: &[&Self], privacy: Privacy) -> Part {
        let budget = levels.iter().fold(Rational::new(), |sum, level| sum + &level.budget);
        let facts: Vec<LevelFacts> = levels.iter().map(|level| level.facts()).collect();
        let places = levels.iter().map(|level| level.places.as_ref().map(|sample| (&**sample, level.level)));
        Part::of_levels(budget, &facts, privacy, PlaceSample::places(places))
    }
}

impl CountryLevel {
    /// A person is in the same groups of a grouping at every level of the geography. Levels where all groups have one table are a kind of
    /// their own: its mixes are more than a person can have, which bounds the loss from above.
    fn facts(&self) -> LevelFacts {
        LevelFacts {
            kind: (self.grouping as u64, u64::from(!self.has_two_stages())),
            stability: self.stability.into(),
            iterations: self.groups.len() as u64,
            detailed_only: self.with_sole_table(),
            laws: self.noise.each_ref().map(|noise| noise.law.clone()),
            people: self.people.clone().map(|people| (people, self.grouping)),
            alone: None,
        }
    }
}
