//! GRF-C: the blocks, and the regions that each lies in.

use std::{collections::HashMap, path::Path};

use foldhash::fast::FixedState;

use super::{
    Pass, RegionType, RunScope,
    rows::{self, OtherColumns, digits, name_of, read_rows},
    validation::{Location, Rule, ValidationReport},
};

/// The headings that are read; a GRF-C has more.
const HEADINGS: [&str; 6] = ["TABBLKST", "TABBLKCOU", "TABTRACTCE", "TABBLK", "PLACEFP", "AIANNHCE"];
/// Codes of blocks in no place and in no AIANNH area: neither is tabulated.
const NO_PLACE: u32 = 99_999;
const NO_AREA: u32 = 9999;
/// A block in no region of a type.
const NOWHERE: u32 = u32::MAX;

/// The blocks by ascending GEOID and the regions of each, in both passes.
#[derive(Clone, Debug, Default)]
pub struct Geography {
    geoids: Vec<u64>,
    /// The first block of each tract, and the first after it.
    tracts: HashMap<u64, (u32, u32), FixedState>,
    /// By [`column`], for each block its region among those of its pass.
    regions: [Vec<u32>; 5],
    /// By region type, the regions in ascending order.
    entities: [Vec<String>; 10],
    passes: Vec<Option<Pass>>,
}

/// A row of a GRF-C.
struct Block {
    geoid: u64,
    line: u64,
    place: u32,
    area: u32,
}

impl Geography {
    /// Reads and checks a GRF-C. Broken rows are left out; `None` if the file cannot be read.
    pub fn read(path: &Path, scope: impl AsRef<RunScope>, report: &mut ValidationReport) -> Option<Geography> {
        let file = name_of(path);
        let mut blocks: Vec<Block> = Vec::new();
        read_rows(path, &HEADINGS, OtherColumns::Ignored, report, |row, report| {
            let numbers = [
                digits::<2>(row.fields[0]),
                digits::<3>(row.fields[1]),
                digits::<6>(row.fields[2]),
                digits::<4>(row.fields[3]),
                digits::<5>(row.fields[4]),
                digits::<4>(row.fields[5]),
            ];
            for (column, _) in numbers.iter().enumerate().filter(|(_, number)| number.is_none()) {
                let at = Location { file: &file, line: row.line, column: row.columns[column], field: HEADINGS[column] };
                report.add(at, Rule::Value, row.fields[column], &format!("{} digits", [2, 3, 6, 4, 5, 4][column]));
            }
            if let [Some(state), Some(county), Some(tract), Some(block), Some(place), Some(area)] = numbers {
                let geoid = rows::geoid(state, county, tract, block);
                blocks.push(Block { geoid, line: row.line, place: place as u32, area: area as u32 });
            }
        })?;
        blocks.sort_by_key(|block| (block.geoid, block.line));
        for pair in blocks.windows(2).filter(|pair| pair[0].geoid == pair[1].geoid) {
            let at = Location { file: &file, line: pair[1].line, column: 0, field: "block" };
            let allowed = format!("every block once; this one is in line {}, too", pair[0].line);
            report.add(at, Rule::Duplicate, format!("{:015}", pair[1].geoid), &allowed);
        }
        blocks.dedup_by_key(|block| block.geoid);
        let whole = Location { file: &file, ..Location::default() };
        if u32::try_from(blocks.len()).is_err() {
            report.add(whole, Rule::Value, blocks.len().to_string(), "at most 4 billion blocks");
            return None;
        }
        let geography = Geography::of(&blocks, scope.as_ref());
        if geography.passes.iter().all(Option::is_none) {
            report.add(whole, Rule::Empty, "", "at least one block in a state of a pass that is run");
        }
        Some(geography)
    }

    /// The regions of blocks that are sorted, each once.
    fn of(blocks: &[Block], scope: &RunScope) -> Geography {
        let mut geography = Geography {
            geoids: blocks.iter().map(|block| block.geoid).collect(),
            passes: blocks.iter().map(|block| scope.pass_of(block.geoid / 10_u64.pow(13))).collect(),
            ..Geography::default()
        };
        for (row, block) in blocks.iter().enumerate() {
            let tract = geography.tracts.entry(block.geoid / 10_000).or_insert((row as u32, row as u32));
            tract.1 = row as u32 + 1;
        }
        for region_type in RegionType::ALL {
            let mut numbers: Vec<u64> = Vec::new();
            let tabulated =
                || blocks.iter().zip(&geography.passes).filter(|(_, pass)| **pass == Some(region_type.pass()));
            for (block, _) in tabulated() {
                let number = region_number(region_type, block);
                // Blocks of one region mostly follow one another.
                if number != numbers.last().copied() {
                    numbers.extend(number);
                }
            }
            numbers.sort_unstable();
            numbers.dedup();
            if let Some(column) = column(region_type) {
                let regions = &mut geography.regions[column];
                regions.resize(blocks.len(), NOWHERE);
                for (row, (block, pass)) in blocks.iter().zip(&geography.passes).enumerate() {
                    let number = region_number(region_type, block).filter(|_| *pass == Some(region_type.pass()));
                    let place = number.and_then(|number| numbers.binary_search(&number).ok());
                    regions[row] = place.map_or(regions[row], |place| place as u32);
                }
            }
            let width = width(region_type);
            geography.entities[region_type.index()] = numbers.iter().map(|key| format!("{key:0width$}")).collect();
        }
        geography
    }

    /// The number of blocks, those of states that are not tabulated included.
    pub fn len(&self) -> usize {
        self.geoids.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.geoids.is_empty()
    }

    /// The GEOIDs of 15 digits (state, county, tract, block) by ascending number.
    pub fn geoids(&self) -> &[u64] {
        &self.geoids
    }

    /// The block of a GEOID, by its place among [`Geography::geoids`].
    #[inline]
    pub fn find(&self, geoid: u64) -> Option<u32> {
        let (begin, end) = *self.tracts.get(&(geoid / 10_000))?;
        let place = self.geoids[begin as usize..end as usize].binary_search(&geoid).ok()?;
        Some(begin + place as u32)
    }

    /// The pass that tabulates a block; `None` if none does.
    #[inline]
    pub fn pass(&self, block: u32) -> Option<Pass> {
        self.passes[block as usize]
    }

    /// The region of a type in which a block lies, by its place among [`Geography::entities`]. `None` if it lies in
    /// none, or is of the other pass.
    pub fn region(&self, block: u32, region_type: RegionType) -> Option<u32> {
        let region = column(region_type).map_or(0, |column| self.regions[column][block as usize]);
        (self.pass(block) == Some(region_type.pass()) && region != NOWHERE).then_some(region)
    }

    /// The ids of all regions of a type, in ascending order: `1`; `01`; `01001`; `01001000100`; places `0122800`; areas
    /// `0001`.
    pub fn entities(&self, region_type: RegionType) -> &[String] {
        &self.entities[region_type.index()]
    }
}

/// The column of a region type, which the passes share; the nation needs none.
fn column(region_type: RegionType) -> Option<usize> {
    match region_type {
        RegionType::Usa => None,
        RegionType::State | RegionType::PrState => Some(0),
        RegionType::County | RegionType::PrCounty => Some(1),
        RegionType::Tract | RegionType::PrTract => Some(2),
        RegionType::Place | RegionType::PrPlace => Some(3),
        RegionType::Aiannh => Some(4),
    }
}

/// The region of a type in which a block lies, as the number of its id.
fn region_number(region_type: RegionType, block: &Block) -> Option<u64> {
    let state = block.geoid / 10_u64.pow(13);
    match region_type {
        RegionType::Usa => Some(1),
        RegionType::State | RegionType::PrState => Some(state),
        RegionType::County | RegionType::PrCounty => Some(block.geoid / 10_u64.pow(10)),
        RegionType::Tract | RegionType::PrTract => Some(block.geoid / 10_000),
        RegionType::Place | RegionType::PrPlace => {
            (block.place != NO_PLACE).then_some(state * 100_000 + u64::from(block.place))
        }
        RegionType::Aiannh => (block.area != NO_AREA).then_some(u64::from(block.area)),
    }
}

/// The digits of the ids of a region type.
fn width(region_type: RegionType) -> usize {
    match region_type {
        RegionType::Usa => 1,
        RegionType::State | RegionType::PrState => 2,
        RegionType::County | RegionType::PrCounty => 5,
        RegionType::Tract | RegionType::PrTract => 11,
        RegionType::Place | RegionType::PrPlace => 7,
        RegionType::Aiannh => 4,
    }
}
