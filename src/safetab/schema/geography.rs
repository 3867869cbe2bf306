//! GRF-C: the blocks, and the regions that contain each.

use std::{collections::HashMap, path::Path};

use foldhash::fast::FixedState;

use super::{
    Pass, RegionType, RunScope,
    rows::{self, OtherColumns, digits, name_of, read_rows},
    validation::{Location, Rule, ValidationReport},
};

/// The required headings; a GRF-C has more.
const HEADINGS: [&str; 6] = ["TABBLKST", "TABBLKCOU", "TABTRACTCE", "TABBLK", "PLACEFP", "AIANNHCE"];
/// Columns of the full GRF-C that distinguish land from water, in order of preference: the land area in square metres, and the type of
/// block.
const LAND: [(&str, LandColumn); 2] = [("AREALAND", LandColumn::Area), ("LWBLKTYP", LandColumn::BlockType)];
/// The codes of blocks in no place and in no AIANNH area; neither is tabulated.
const NO_PLACE: u32 = 99_999;
const NO_AREA: u32 = 9999;
/// The value for a block in no region of a type.
const NOWHERE: u32 = u32::MAX;

/// The column of a GRF-C that distinguishes land from water.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LandColumn {
    /// AREALAND: a block has land if it is above 0.
    Area,
    /// LWBLKTYP: a block has land if it is not `W`.
    BlockType,
}

impl LandColumn {
    /// The heading.
    pub fn name(self) -> &'static str {
        match self {
            LandColumn::Area => LAND[0].0,
            LandColumn::BlockType => LAND[1].0,
        }
    }

    /// Whether a block has land, by its field; and the allowed values of the field.
    fn has_land(self, field: &[u8]) -> Option<bool> {
        match self {
            LandColumn::Area => {
                let is_number = !field.is_empty() && field.iter().all(u8::is_ascii_digit);
                is_number.then(|| field.iter().any(|digit| *digit != b'0'))
            }
            LandColumn::BlockType => match field {
                b"W" => Some(false),
                b"L" | b"B" => Some(true),
                _ => None,
            },
        }
    }

    fn allowed(self) -> &'static str {
        match self {
            LandColumn::Area => "an area in whole square metres",
            LandColumn::BlockType => "L, W or B",
        }
    }
}

/// The blocks by ascending GEOID and the regions of each, in both passes.
#[derive(Clone, Debug, Default)]
pub struct Geography {
    geoids: Vec<u64>,
    /// The first block of each tract, and the end of its blocks.
    tracts: HashMap<u64, (u32, u32), FixedState>,
    /// Indexed by [`column`]: for each block its region among those of its pass.
    regions: [Vec<u32>; 5],
    /// The regions by type, in ascending order.
    entities: [Vec<String>; 10],
    passes: Vec<Option<Pass>>,
    land_column: Option<LandColumn>,
    /// Whether each block has land; empty if there is no such column.
    land: Vec<bool>,
}

/// A row of a GRF-C.
struct Block {
    geoid: u64,
    line: u64,
    place: u32,
    area: u32,
    has_land: bool,
}

impl Geography {
    /// Reads and checks a GRF-C. Violating rows are omitted; `None` if the file cannot be read.
    pub fn read(path: &Path, scope: impl AsRef<RunScope>, report: &mut ValidationReport) -> Option<Geography> {
        Geography::read_where(path, scope.as_ref(), |_| true, report)
    }

    /// The same for the blocks whose GEOID passes a filter only. All blocks are checked.
    pub(in crate::safetab) fn read_where(
        path: &Path,
        scope: &RunScope,
        is_kept: impl Fn(u64) -> bool,
        report: &mut ValidationReport,
    ) -> Option<Geography> {
        let file = name_of(path);
        let given = rows::headings_of(path);
        let land = LAND.into_iter().find(|(name, _)| given.iter().any(|heading| heading == name));
        let mut blocks = match land {
            None => read_blocks(path, &HEADINGS, None, report)?,
            Some((name, column)) => {
                let [a, b, c, d, e, f] = HEADINGS;
                read_blocks(path, &[a, b, c, d, e, f, name], Some(column), report)?
            }
        };
        blocks.sort_by_key(|block| (block.geoid, block.line));
        for pair in blocks.windows(2).filter(|pair| pair[0].geoid == pair[1].geoid) {
            let at = Location { file: &file, line: pair[1].line, column: 0, field: "block" };
            let allowed = format!("every block once; this one is in line {}, too", pair[0].line);
            report.add(at, Rule::Duplicate, format!("{:015}", pair[1].geoid), &allowed);
        }
        blocks.dedup_by_key(|block| block.geoid);
        blocks.retain(|block| is_kept(block.geoid));
        let whole = Location { file: &file, ..Location::default() };
        if u32::try_from(blocks.len()).is_err() {
            report.add(whole, Rule::Value, blocks.len().to_string(), "at most 4 billion blocks");
            return None;
        }
        let mut geography = Geography::of_blocks(&blocks, scope);
        if let Some((_, column)) = land {
            geography.land_column = Some(column);
            geography.land = blocks.iter().map(|block| block.has_land).collect();
        }
        if geography.passes.iter().all(Option::is_none) {
            report.add(whole, Rule::Empty, "", "at least one block in a state of a pass that is run");
        }
        Some(geography)
    }
    /// The regions of sorted blocks, each once.
    fn of_blocks(blocks: &[Block], scope: &RunScope) -> Geography {
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
                // Blocks of one region are mostly adjacent.
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

    /// Whether a pass tabulates any block.
    pub(in crate::safetab) fn is_tabulated(&self) -> bool {
        self.passes.iter().any(Option::is_some)
    }

    /// The column that distinguishes land from water; `None` if there is none.
    pub fn land_column(&self) -> Option<LandColumn> {
        self.land_column
    }

    /// Whether a block has land; true for all if there is no such column.
    pub fn has_land(&self, block: u32) -> bool {
        self.land.get(block as usize).copied().unwrap_or(true)
    }

    /// The number of blocks, including those of states that are not tabulated.
    pub fn len(&self) -> usize {
        self.geoids.len()
    }

    /// Whether there are no blocks.
    pub fn is_empty(&self) -> bool {
        self.geoids.is_empty()
    }

    /// The GEOIDs of 15 digits (state, county, tract, block) by ascending number.
    pub fn geoids(&self) -> &[u64] {
        &self.geoids
    }

    /// The index of the block with this GEOID among [`Geography::geoids`].
    #[inline]
    pub fn find(&self, geoid: u64) -> Option<u32> {
        let (begin, end) = *self.tracts.get(&(geoid / 10_000))?;
        let place = self.geoids[begin as usize..end as usize].binary_search(&geoid).ok()?;
        Some(begin + place as u32)
    }

    /// The pass that tabulates a block, if any.
    #[inline]
    pub fn pass(&self, block: u32) -> Option<Pass> {
        self.passes[block as usize]
    }

    /// The region of a type that contains a block, by its index among [`Geography::entities`]. `None` if there is none, or the block is of
    /// the other pass.
    pub fn region(&self, block: u32, region_type: RegionType) -> Option<u32> {
        let region = column(region_type).map_or(0, |column| self.regions[column][block as usize]);
        (self.pass(block) == Some(region_type.pass()) && region != NOWHERE).then_some(region)
    }

    /// The atoms, which are sets of blocks in the same regions: the atom of each block, and the region of every type of each atom.
    pub(in crate::safetab) fn atoms(&self) -> (Vec<u32>, Vec<[Option<u32>; 10]>) {
        let (mut known, mut atoms): (HashMap<_, u32, FixedState>, Vec<_>) = Default::default();
        let of_block = (0..self.len() as u32).map(|block| {
            let regions = RegionType::ALL.map(|region_type| self.region(block, region_type));
            *known.entry(regions).or_insert_with(|| {
                atoms.push(regions);
                atoms.len() as u32 - 1
            })
        });
        (of_block.collect(), atoms)
    }

    /// The ids of all regions of a type, in ascending order: `1`; `01`; `01001`; `01001000100`; places `0122800`; areas
    /// `0001`.
    pub fn entities(&self, region_type: RegionType) -> &[String] {
        &self.entities[region_type.index()]
    }
}

/// Reads the rows of a GRF-C: the six columns that the bureau's program reads, and possibly one that distinguishes land from water.
fn read_blocks<const N: usize>(
    path: &Path,
    headings: &[&str; N],
    land: Option<LandColumn>,
    report: &mut ValidationReport,
) -> Option<Vec<Block>> {
    let file = name_of(path);
    let mut blocks = Vec::new();
    read_rows(path, headings, OtherColumns::Ignored, report, |row, report| {
        let at = |column: usize| Location {
            file: &file,
            line: row.line,
            column: row.columns[column],
            field: headings[column],
        };
        let numbers = [
            digits::<2>(row.fields[0]),
            digits::<3>(row.fields[1]),
            digits::<6>(row.fields[2]),
            digits::<4>(row.fields[3]),
            digits::<5>(row.fields[4]),
            digits::<4>(row.fields[5]),
        ];
        for (column, _) in numbers.iter().enumerate().filter(|(_, number)| number.is_none()) {
            report.add(at(column), Rule::Value, row.fields[column], &format!("{} digits", [2, 3, 6, 4, 5, 4][column]));
        }
        let has_land = land.map_or(Some(true), |column| column.has_land(row.fields[N - 1]));
        if let (None, Some(column)) = (has_land, land) {
            report.add(at(N - 1), Rule::Value, row.fields[N - 1], column.allowed());
        }
        if let ([Some(state), Some(county), Some(tract), Some(block), Some(place), Some(area)], Some(has_land)) =
            (numbers, has_land)
        {
            let geoid = rows::geoid(state, county, tract, block);
            blocks.push(Block { geoid, line: row.line, place: place as u32, area: area as u32, has_land });
        }
    })?;
    Some(blocks)
}

/// The column of a region type, shared by both passes; the nation needs none.
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

/// The region of a type that contains a block, as the number of its id.
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

/// The number of digits in ids of a region type.
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
