//! What the engine counts by: atoms of blocks, classes of codes, and cells of ages and sexes or of types and tenures.

use std::collections::HashMap;

use rayon::prelude::*;

use super::{
    counter::Counter,
    engine::Engine,
    household_counts::HOUSEHOLD_CELLS,
    inputs::PublicInputs,
    queries::{RecordKind, classify_codes, count_records, make_blocks},
    record_files::{RecordFiles, changed},
    workload::{OLDEST, cell_of},
};
use crate::{
    error::Result,
    safetab::schema::{Combination, Granularity, IterationLevel, RaceEthCode, RegionType},
};

/// The iterations of a combination at each granularity and level, by their positions in the key sets, one list after the other.
#[derive(Default, PartialEq, Eq, Hash)]
struct Lists {
    all: Vec<i32>,
    ends: Vec<usize>,
}

impl Lists {
    fn push(&mut self, list: impl Iterator<Item = usize>) {
        self.all.extend(list.map(|place| place as i32));
        self.ends.push(self.all.len());
    }

    fn get(&self, place: usize) -> &[i32] {
        let from = if place == 0 { 0 } else { self.ends[place - 1] };
        &self.all[from..self.ends[place]]
    }
}

/// What is counted of some records.
pub(super) struct CountedRecords<'a> {
    /// Their files.
    pub files: &'a RecordFiles,
    /// What they are.
    pub kind: RecordKind,
    /// How many race codes are taken.
    pub races: u32,
    /// The states that are counted; all if `None`.
    pub states: Option<&'a [u8]>,
    /// How many records were checked that are counted.
    pub expected: u64,
}

/// Has all records counted, and makes the tables of the engine from which the counts of each level follow.
pub(super) fn count(
    public: &PublicInputs,
    counter: &dyn Counter,
    engine: &Engine,
    records: &CountedRecords,
) -> Result<()> {
    counter.read_records(records.files, records.kind.headings())?;
    register_geography(public, counter, engine)?;
    register_classes(public, counter, engine, records.races)?;
    let (keys, cells) = match records.kind {
        RecordKind::Persons => {
            let people = (0..=OLDEST).flat_map(|age| [1, 2].map(|sex| (age, sex)));
            people.map(|(age, sex)| (i32::from(age) * 2 + i32::from(sex), cell_of(sex, age) as i32)).unzip()
        }
        // The key is four times the type plus the tenure, and 5 the first.
        RecordKind::Households => (0..HOUSEHOLD_CELLS as i32).map(|cell| (cell + 5, cell)).unzip(),
    };
    counter.make_integers("cells", &[("key", keys), ("cell", cells)])?;
    let counted = count_records((counter, engine), records.kind, records.races, records.states)?;
    match u64::try_from(counted) == Ok(records.expected) {
        true => Ok(()),
        false => Err(changed(&format!("{} records were checked and {counted} counted", records.expected))),
    }
}

/// Blocks that lie in the same regions are one atom; the table `blocks` has the atom of each block, `regions_N` the
/// region of type N of each atom.
fn register_geography(public: &PublicInputs, counter: &dyn Counter, engine: &Engine) -> Result<()> {
    let (of_block, atoms) = public.geography.atoms();
    make_blocks(counter, public.geography.geoids(), of_block.into_iter().map(|atom| atom as i32).collect())?;
    for region_type in RegionType::ALL {
        let inside = |(atom, regions): (i32, &[Option<u32>; 10])| Some((atom, regions[region_type.index()]? as i32));
        let (atoms, regions) = (0..).zip(&atoms).filter_map(inside).unzip();
        engine.make_integers(&regions_table(region_type), &[("atom", atoms), ("region", regions)])?;
    }
    Ok(())
}

/// Combinations with the same iterations are one class; the table `classes` has the class of each text of codes, and a
/// table for each granularity and level the iterations of each class, by their positions in the key set.
fn register_classes(public: &PublicInputs, counter: &dyn Counter, engine: &Engine, races: u32) -> Result<()> {
    let kinds =
        Granularity::ALL.into_iter().flat_map(|granularity| IterationLevel::ALL.map(|level| (granularity, level)));
    let kinds: Vec<_> = kinds.map(|(g, level)| (g, level, public.specification.key_set(g, level))).collect();
    let lists = |text: &&str| {
        let combination = combination(text).ok_or_else(|| changed("a record has other codes"))?;
        let mut lists = Lists::default();
        for (granularity, level, keys) in &kinds {
            let codes = public.specification.iterations(&combination, *granularity, *level)?;
            let place = |code| keys.binary_search_by_key(code, |key| key.iteration).ok();
            lists.push(codes.iter().filter_map(place));
        }
        Ok(lists)
    };
    let mut classes: HashMap<Lists, i32> = HashMap::new();
    classify_codes(counter, races, &mut |texts| {
        let lists = texts.par_iter().map(lists).collect::<Result<Vec<_>>>()?;
        let class = |lists| {
            let next = classes.len() as i32;
            *classes.entry(lists).or_insert(next)
        };
        Ok(lists.into_iter().map(class).collect())
    })?;
    for (place, &(granularity, level, _)) in kinds.iter().enumerate() {
        let lists = classes.iter().map(|(lists, class)| (*class, lists.get(place)));
        let lists = lists.filter(|(_, list)| !list.is_empty()).collect();
        engine.register_lists(&iterations_table(granularity, level), lists)?;
    }
    Ok(())
}

/// The name of the table of an atom's region.
pub(super) fn regions_table(region_type: RegionType) -> String {
    format!("regions_{}", region_type.index())
}

/// The name of the table of a class's iterations.
pub(super) fn iterations_table(granularity: Granularity, level: IterationLevel) -> String {
    format!("iterations_{}_{level}", granularity as usize)
}

/// The combination in a text of codes of four characters: race codes, nulls, and the ethnicity code last.
fn combination(text: &str) -> Option<Combination> {
    let bytes = text.as_bytes();
    let (races, ethnicity) = bytes.split_at_checked(bytes.len().checked_sub(4)?)?;
    let races: Vec<RaceEthCode> = races.chunks(4).map_while(RaceEthCode::read).collect();
    Some(Combination::new(races, RaceEthCode::read(ethnicity)?))
}
