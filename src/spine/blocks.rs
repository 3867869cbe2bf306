//! Blocks and the geographic entities that contain them, read from block assignment files or one CSV.

use std::{collections::HashMap, path::Path};

use super::{
    codes::is_state,
    csv_table::{BlockColumns, BlockTable, CsvTable},
};
use crate::error::{Error, Result};

/// A kind of entity, by its heading in the block file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntityKind {
    /// `aian`: American Indian, Alaska Native and Native Hawaiian areas, a code of four digits for the nation.
    Aian,
    /// `mcd`: minor civil divisions, numbered within a county.
    Mcd,
    /// `place`: incorporated and census-designated places, numbered within a state.
    Place,
    /// `gq`: which types of group quarters a block has, a digit 0 or 1 for each.
    Gq,
    /// `sd_unified`: unified school districts, numbered within a state.
    Unified,
    /// `sd_secondary`: secondary school districts.
    Secondary,
    /// `sd_elementary`: elementary school districts.
    Elementary,
    /// `prim`: the primitive geography of population estimates, numbered within a county.
    Prim,
}

impl EntityKind {
    /// All kinds.
    pub const ALL: [EntityKind; 8] = [
        EntityKind::Aian,
        EntityKind::Mcd,
        EntityKind::Place,
        EntityKind::Gq,
        EntityKind::Unified,
        EntityKind::Secondary,
        EntityKind::Elementary,
        EntityKind::Prim,
    ];

    /// The heading of its column.
    pub fn name(self) -> &'static str {
        match self {
            EntityKind::Aian => "aian",
            EntityKind::Mcd => "mcd",
            EntityKind::Place => "place",
            EntityKind::Gq => "gq",
            EntityKind::Unified => "sd_unified",
            EntityKind::Secondary => "sd_secondary",
            EntityKind::Elementary => "sd_elementary",
            EntityKind::Prim => "prim",
        }
    }

    /// Its heading in a GRF-C; `None` if a GRF-C does not have it.
    fn grf_c(self) -> Option<&'static str> {
        match self {
            EntityKind::Aian => Some("AIANNHCE"),
            EntityKind::Mcd => Some("COUSUBFP"),
            EntityKind::Place => Some("PLACEFP"),
            EntityKind::Unified => Some("SDUNILEA"),
            EntityKind::Secondary => Some("SDSECLEA"),
            EntityKind::Elementary => Some("SDELMLEA"),
            EntityKind::Gq | EntityKind::Prim => None,
        }
    }

    /// Whether the Census Bureau uses a heading for these codes.
    fn is_heading_of_census(self, heading: &str) -> bool {
        let plain = heading.strip_suffix("20").or_else(|| heading.strip_suffix("10")).unwrap_or(heading);
        let is_district = matches!(self, EntityKind::Unified | EntityKind::Secondary | EntityKind::Elementary);
        self.grf_c() == Some(plain) || (is_district && plain == "DISTRICT")
    }

    /// The number of digits of a Census Bureau code; `None` if users choose the codes.
    fn digits(self) -> Option<usize> {
        match self {
            EntityKind::Aian => Some(4),
            EntityKind::Mcd
            | EntityKind::Place
            | EntityKind::Unified
            | EntityKind::Secondary
            | EntityKind::Elementary => Some(5),
            EntityKind::Gq | EntityKind::Prim => None,
        }
    }

    /// The part of a GEOID within which its codes are unique: nothing, the state or the county.
    fn scope(self, geoid: u64) -> u32 {
        match self {
            EntityKind::Aian | EntityKind::Gq => 0,
            EntityKind::Place | EntityKind::Unified | EntityKind::Secondary | EntityKind::Elementary => {
                (geoid / 10_u64.pow(13)) as u32
            }
            EntityKind::Mcd | EntityKind::Prim => (geoid / 10_u64.pow(10)) as u32,
        }
    }
}

/// The entity of each block, 0 for none.
#[derive(Clone, Debug, Default)]
pub struct EntityColumn {
    /// The entity of each block, in the order of the blocks.
    pub codes: Vec<u32>,
    /// The name of each entity; the first stands for none.
    pub names: Vec<String>,
}

/// Blocks by ascending GEOID without duplicates, and the entities that contain them.
#[derive(Clone, Debug)]
pub struct Blocks {
    geoids: Vec<u64>,
    columns: Vec<(EntityKind, EntityColumn)>,
}

/// The blocks that are in only one of two files.
#[derive(Clone, Debug)]
pub struct Mismatch {
    /// The kind of entity.
    pub kind: EntityKind,
    /// Blocks of the spine that the entity file does not have: they lie in no entity of the kind.
    pub without_entity: Vec<u64>,
    /// Blocks of the entity file that the spine does not have.
    pub unknown: Vec<u64>,
}

impl Blocks {
    /// Reads a CSV with a header: a column `block`, and a column for each kind of entity present. Other columns are
    /// ignored. Empty codes, codes of nines and group quarters of zeros mean no entity. A GRF-C is accepted too, with
    /// its own headings for the block and its entities.
    pub fn read(path: &Path) -> Result<Blocks> {
        let mut table = CsvTable::open(path)?;
        let block = table.block_columns()?;
        let heading = |kind: &EntityKind| {
            let own = table.find(&[kind.name()]);
            own.or_else(|| table.find(&[kind.grf_c().filter(|_| table.is_grf_c())?]))
        };
        let kinds: Vec<(EntityKind, usize)> =
            EntityKind::ALL.iter().filter_map(|kind| Some((*kind, heading(kind)?))).collect();
        let (mut geoids, mut lines) = (Vec::new(), Vec::new());
        let mut columns: Vec<Interner> =
            kinds.iter().map(|(kind, at)| Interner::new(*kind, &table.headings()[*at])).collect();
        while table.next()? {
            let geoid = table.block(block)?;
            check_state(&table, geoid, block)?;
            for ((_, at), column) in kinds.iter().zip(&mut columns) {
                column.push(geoid, &table, *at)?;
            }
            geoids.push(geoid);
            lines.push(table.line() as u32);
        }
        if geoids.is_empty() {
            return Err(table.refuse(0, "the file has no block: a header and a line for each block are needed"));
        }
        if u32::try_from(geoids.len()).is_err() {
            return Err(table.refuse(0, "more than 4 billion blocks"));
        }
        let mut columns: Vec<(EntityKind, EntityColumn)> =
            columns.into_iter().map(|column| (column.kind, column.column)).collect();
        if !geoids.is_sorted() {
            let mut rows: Vec<u32> = (0..geoids.len() as u32).collect();
            rows.sort_by_key(|row| geoids[*row as usize]);
            geoids = rows.iter().map(|row| geoids[*row as usize]).collect();
            lines = rows.iter().map(|row| lines[*row as usize]).collect();
            for (_, column) in &mut columns {
                column.codes = rows.iter().map(|row| column.codes[*row as usize]).collect();
            }
        }
        if let Some(row) = geoids.windows(2).position(|pair| pair[0] == pair[1]) {
            let why = format!("the block {:015} occurs twice: first in line {}", geoids[row], lines[row]);
            return Err(Error::DataFile {
                file: table.file,
                line: lines[row + 1] as usize,
                column: block.first() + 1,
                why,
            });
        }
        Ok(Blocks { geoids, columns })
    }

    /// Blocks without entities.
    pub fn from_geoids(mut geoids: Vec<u64>) -> Result<Blocks> {
        geoids.sort_unstable();
        let twice = geoids.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0]);
        let long = geoids.iter().copied().find(|geoid| *geoid >= 10_u64.pow(15));
        match (twice, long) {
            _ if geoids.is_empty() => Err(Error::missing("no block is given: give at least one")),
            (Some(twice), _) => Err(Error::conflict(format!("the block {twice:015} is given twice: give each once"))),
            (None, Some(long)) => Err(Error::malformed("the block", long, "a GEOID of 15 digits")),
            (None, None) => Ok(Blocks { geoids, columns: Vec::new() }),
        }
    }

    /// Adds the entities of a kind from a block assignment file, whose headings are `block` and `code`. Returns the
    /// blocks that only one of the two files has. Refuses a file that has no block in common with these, or that lacks
    /// most of these and has mostly others.
    pub fn attach(&mut self, kind: EntityKind, path: &Path, block: Option<&str>, code: &str) -> Result<Mismatch> {
        let mut table = CsvTable::open(path)?;
        if self.column(kind).is_some() {
            return Err(table.refuse(0, &format!("entities of the kind {:?} are given twice", kind.name())));
        }
        let one = |name: &str| table.column(&[name]).map(BlockColumns::One);
        let block = block.map_or_else(|| table.block_columns(), one)?;
        let code = table.column(&[code])?;
        let mut interner = Interner::new(kind, &table.headings()[code]);
        interner.column.codes = vec![0; self.geoids.len()];
        let mut seen = vec![false; self.geoids.len()];
        let (mut unknown, mut unknown_seen) = (Vec::new(), std::collections::HashSet::new());
        let mut next = 0;
        while table.next()? {
            let geoid = table.block(block)?;
            // Files are usually sorted, and then the next block matches.
            let row = if self.geoids.get(next) == Some(&geoid) { Ok(next) } else { self.geoids.binary_search(&geoid) };
            let again = match row {
                Ok(row) => std::mem::replace(&mut seen[row], true),
                Err(_) => !unknown_seen.insert(geoid),
            };
            if again {
                return Err(table.refuse(block.first() + 1, &format!("the block {geoid:015} occurs twice")));
            }
            match row {
                Ok(row) => {
                    interner.column.codes[row] = interner.code(geoid, &table, code)?;
                    next = row + 1;
                }
                Err(_) => unknown.push(geoid),
            }
        }
        let without = seen.iter().zip(&self.geoids).filter(|(seen, _)| !**seen).map(|(_, geoid)| *geoid);
        let mismatch = Mismatch { kind, without_entity: without.collect(), unknown };
        self.check_common(&table, &mismatch)?;
        self.columns.push((kind, interner.column));
        Ok(mismatch)
    }

    /// Refuses an entity file about other blocks. A file with more blocks (of the whole nation, for example) is common,
    /// and so is one that lists only blocks in entities.
    fn check_common(&self, table: &CsvTable, mismatch: &Mismatch) -> Result<()> {
        let (all, unknown) = (self.geoids.len(), mismatch.unknown.len());
        let common = all - mismatch.without_entity.len();
        let is_other = common == 0 || (2 * common < all && 2 * common < common + unknown);
        if !is_other {
            return Ok(());
        }
        let first: Vec<String> = mismatch.unknown.iter().take(3).map(|geoid| format!("{geoid:015}")).collect();
        let named = match &first[..] {
            [] => "it has no block".to_string(),
            first => format!("of its other {unknown} blocks the first are {}", first.join(", ")),
        };
        let why = format!(
            "{common} of the {all} blocks of the spine are in this file of {:?}, and {named}: is it about another state, or of \
             another year?",
            mismatch.kind.name()
        );
        Err(Error::DataFile { file: table.file.clone(), line: 0, column: 0, why })
    }

    /// The GEOIDs, ascending.
    pub fn geoids(&self) -> &[u64] {
        &self.geoids
    }

    /// The entities of a kind, if they are known.
    pub fn column(&self, kind: EntityKind) -> Option<&EntityColumn> {
        self.columns.iter().find(|(known, _)| *known == kind).map(|(_, column)| column)
    }
}

/// Refuses a block of a state that does not exist: FIPS codes are those of the states, the District of Columbia, Puerto
/// Rico and the island areas.
fn check_state(table: &CsvTable, geoid: u64, block: BlockColumns) -> Result<()> {
    let state = geoid / 10_u64.pow(13);
    if is_state(state) {
        return Ok(());
    }
    let why = format!(
        "the block {geoid:015} is of the state {state:02}, which does not exist: states are 01 to 56 without 03, 07, 14, 43 and 52, \
         72 is Puerto Rico, and 60, 66, 69 and 78 are the island areas"
    );
    Err(table.refuse(block.first() + 1, &why))
}

/// A column while it is read: entities are numbered in the order of appearance.
struct Interner {
    kind: EntityKind,
    /// Whether all codes must have the number of digits of the Census Bureau's codes.
    needs_digits: bool,
    /// The line of the first code with all digits, and the line and code of the first with fewer.
    whole: Option<u64>,
    short: Option<(u64, String)>,
    column: EntityColumn,
    numbers: HashMap<(u32, u64), u32>,
    last: ((u32, u64), u32),
}

impl Interner {
    fn new(kind: EntityKind, heading: &str) -> Self {
        let column = EntityColumn { codes: Vec::new(), names: vec![String::new()] };
        let needs_digits = kind.is_heading_of_census(heading);
        Interner { kind, needs_digits, whole: None, short: None, column, numbers: HashMap::new(), last: ((0, 0), 0) }
    }

    /// Refuses codes that lost their leading zeros: under a Census Bureau heading every code of another length,
    /// elsewhere codes with fewer digits if others have all digits.
    fn check_digits(&mut self, text: &[u8], table: &CsvTable, at: usize) -> Result<()> {
        let Some(digits) = self.kind.digits() else { return Ok(()) };
        let is_number = text.iter().all(u8::is_ascii_digit);
        if text.len() == digits {
            self.whole.get_or_insert(table.line());
        } else if is_number && text.len() < digits && self.short.is_none() {
            self.short = Some((table.line(), table.shown(at)));
        }
        let other = (self.needs_digits && text.len() != digits).then(|| (table.line(), table.shown(at)));
        let mixed = self.whole.and(self.short.clone());
        let Some((line, short)) = other.or(mixed) else { return Ok(()) };
        let likely = match short.bytes().all(|byte| byte.is_ascii_digit()) && short.len() < digits {
            true => format!("; with its leading zeros it is {short:0>digits$}"),
            false => String::new(),
        };
        let why = format!(
            "the code {short:?} of {:?} has {} digits where codes have {digits}{likely}",
            self.kind.name(),
            short.len()
        );
        Err(Error::DataFile { file: table.file.clone(), line: line as usize, column: at + 1, why })
    }

    fn push(&mut self, geoid: u64, table: &CsvTable, at: usize) -> Result<()> {
        let code = self.code(geoid, table, at)?;
        self.column.codes.push(code);
        Ok(())
    }

    fn code(&mut self, geoid: u64, table: &CsvTable, at: usize) -> Result<u32> {
        let text = table.cell(at);
        let none = if self.kind == EntityKind::Gq { b'0' } else { b'9' };
        if text.iter().all(|byte| *byte == none) {
            return Ok(0);
        }
        if text.len() > 8 || !text.iter().all(u8::is_ascii_alphanumeric) {
            let why = format!("the code {:?} is not of at most 8 letters and digits", String::from_utf8_lossy(text));
            return Err(table.refuse(at + 1, &why));
        }
        self.check_digits(text, table, at)?;
        let packed = text.iter().fold(0, |packed, byte| packed << 8 | u64::from(*byte));
        let key = (self.kind.scope(geoid), packed);
        if self.last.0 == key {
            return Ok(self.last.1);
        }
        let (kind, names) = (self.kind, &mut self.column.names);
        let number = *self.numbers.entry(key).or_insert_with(|| {
            let text = String::from_utf8_lossy(text);
            let digits = if matches!(kind, EntityKind::Mcd | EntityKind::Prim) { 5 } else { 2 };
            names.push(if key.0 == 0 { text.to_string() } else { format!("{:0digits$}:{text}", key.0) });
            names.len() as u32 - 1
        });
        self.last = (key, number);
        Ok(number)
    }
}
