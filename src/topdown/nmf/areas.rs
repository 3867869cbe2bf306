//! Areas as sets of blocks, from a table with the columns `area` and `block`, or from an unmodified block assignment
//! file of the Census Bureau (`BLOCKID|PLACEFP` and similar). There a blank code means that a block belongs to no area;
//! in a column `area` it is an error.
//!
//! With a column `weight` an area has that part of the block, an exact fraction from 0 to 1: the count of the area is the weighted sum
//! of the counts of its blocks, and its variance that of this sum. The weights are the user's model of the parts of a block; no variance has
//! their error.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::Path,
};

use rug::Rational;

use super::totals::refuse_others;
use crate::{
    error::{Error, Result, unknown},
    numeric::rational,
    spine::{
        codes,
        csv_table::{BLOCK_NAMES, CsvTable},
    },
    topdown::gls::areas::LeafShare,
};

/// The columns of a block assignment file that name its areas, and whether their GEOIDs begin with the state's digits;
/// codes of American Indian areas are national.
const ASSIGNED: [(&[&str], bool); 5] = [
    (&["COUNTYFP", "COUSUBFP"], true),
    (&["COUNTYFP", "DISTRICT"], true),
    (&["PLACEFP"], true),
    (&["DISTRICT"], true),
    (&["AIANNHCE"], false),
];
/// A column beside those that does not identify the area.
const BESIDE: [&str; 1] = ["COMPTYP"];
/// The column of the part of a block that belongs to its area.
const WEIGHT: &str = "weight";

/// The columns of a file that name its areas, and the part of a block that belongs to them.
pub(in crate::topdown) struct AreaColumns {
    form: Form,
    weight: Option<usize>,
    /// The number of lines without an area, in a block assignment file.
    pub(in crate::topdown) unassigned: u64,
}

enum Form {
    Named(usize),
    Assigned { columns: Vec<usize>, with_state: bool },
}

impl AreaColumns {
    /// Finds the columns; refuses columns that are not understood. `used` are the other columns in use.
    pub(in crate::topdown) fn find(table: &CsvTable, used: &[&str]) -> Result<AreaColumns> {
        let known = |form: Form, names: &[&str]| {
            let allowed = |heading: &str| {
                heading.is_empty()
                    || names.iter().chain(used).chain(&BESIDE).chain(&[WEIGHT]).any(|name| heading == *name)
            };
            let Some((at, unknown)) = table.headings().iter().enumerate().find(|(_, own)| !allowed(own)) else {
                return Ok(AreaColumns { form, weight: table.find(&[WEIGHT]), unassigned: 0 });
            };
            let why = format!(
                "the column {unknown:?} is not understood: a file of areas has {} and {}, and {WEIGHT} for the part of a block in the area",
                names.join(" and "),
                used.first().unwrap_or(&"block")
            );
            Err(Error::DataFile { file: table.file.clone(), line: 1, column: at + 1, why })
        };
        if let Some(at) = table.find(&["area"]) {
            return known(Form::Named(at), &["area"]);
        }
        for (names, with_state) in ASSIGNED {
            if let Some(columns) = names.iter().map(|name| table.find(&[name])).collect::<Option<Vec<usize>>>() {
                return known(Form::Assigned { columns, with_state }, names);
            }
        }
        let why = format!(
            "no column area, nor one of a block assignment file (PLACEFP, COUSUBFP, DISTRICT, AIANNHCE): the header has {}",
            table.headings().join(", ")
        );
        Err(Error::DataFile { file: table.file.clone(), line: 1, column: 0, why })
    }

    /// The area of a line; `None` if a block is assigned to none. `block` is its GEOID, if known.
    pub(in crate::topdown) fn name(&mut self, table: &CsvTable, block: Option<u64>) -> Result<Option<String>> {
        match &self.form {
            Form::Named(at) => Ok(Some(table.name(*at)?.to_string())),
            Form::Assigned { columns, with_state } => {
                let codes = columns.iter().map(|at| table.text(*at)).collect::<Result<Vec<_>>>()?;
                if codes.last().is_none_or(|code| is_none(code)) {
                    self.unassigned += 1;
                    return Ok(None);
                }
                let state = block.filter(|_| *with_state).map(|block| format!("{:02}", block / 10_u64.pow(13)));
                Ok(Some([state.unwrap_or_default(), codes.concat()].concat()))
            }
        }
    }
}

impl AreaColumns {
    /// The part of the block of a line that belongs to its area; 1 without a column of weights.
    pub(in crate::topdown) fn weight(&self, table: &CsvTable) -> Result<Rational> {
        let Some(at) = self.weight else { return Ok(Rational::from(1)) };
        let text = table.text(at)?;
        match rational::parse(text) {
            Ok(weight) if (0..=1).contains(&weight) => Ok(weight),
            _ => Err(table.refuse(at + 1, &format!("{text:?}: expected a weight from 0 to 1, such as 0.25 or 1/4"))),
        }
    }
}

/// Whether a code means no area: empty, or the Bureau's codes for undefined areas.
fn is_none(code: &str) -> bool {
    code.is_empty() || code.bytes().all(|byte| byte == b'Z') || ["99999", "99997"].contains(&code)
}

/// The numbers of blocks whose weights, added up over all areas, are not exactly 1: those of blocks that are only partly in areas, and those
/// of blocks in overlapping areas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WeightSums {
    /// The number of blocks with a sum below 1.
    pub below_one: u64,
    /// The number of blocks with a sum above 1.
    pub above_one: u64,
}

/// The statements of a result about a file of areas.
#[derive(Clone, Copy, Debug, Default)]
pub struct OfAreas {
    /// The number of blocks that it assigns to no area.
    pub unassigned: u64,
    /// The sums of the weights of blocks, if it has weights.
    pub weights: Option<WeightSums>,
}

impl WeightSums {
    fn of_sums<'s>(sums: impl Iterator<Item = &'s Rational>) -> WeightSums {
        let mut of = WeightSums::default();
        for sum in sums {
            of.below_one += u64::from(*sum < 1);
            of.above_one += u64::from(*sum > 1);
        }
        of
    }
}

/// Areas, each a set of blocks or of parts of blocks.
#[derive(Clone, Debug, Default)]
pub struct Areas {
    /// The names of the areas.
    pub names: Vec<String>,
    /// The areas of each block with its weights in them, by its GEOID.
    pub of_block: HashMap<u64, Vec<LeafShare>>,
    /// The states in which each area has blocks.
    pub states: Vec<BTreeSet<u32>>,
    /// The number of blocks that the file assigns to no area.
    pub unassigned: u64,
    /// The sums of the weights of blocks, if the file has weights.
    pub weights: Option<WeightSums>,
    /// The exact totals of areas.
    totals: Option<Box<Totals>>,
    file: String,
    /// The first line of each block.
    lines: HashMap<u64, u64>,
}

/// Exact totals of areas, each with its line in the file.
#[derive(Clone, Debug, Default)]
struct Totals {
    of_area: BTreeMap<u32, (i64, u64)>,
    file: String,
}

/// The number of blocks named in a message.
const NAMED: usize = 20;

impl Areas {
    /// Reads a CSV with the columns `area` and `block`, where a block is a spine code or a GEOID, or a block assignment file.
    pub fn read(path: &Path) -> Result<Areas> {
        let mut table = CsvTable::open(path)?;
        let block = table.column(&BLOCK_NAMES)?;
        let mut columns = AreaColumns::find(&table, &BLOCK_NAMES)?;
        let mut areas = Areas { file: table.file.clone(), ..Areas::default() };
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut sums: HashMap<u64, Rational> = HashMap::new();
        while table.next()? {
            let geoid = codes::block(table.text(block)?).map_err(|why| table.refuse(block + 1, &why))?;
            let Some(name) = columns.name(&table, Some(geoid))? else { continue };
            let number = areas.number(&mut numbers, name);
            let weight = columns.weight(&table)?;
            if !areas.add(LeafShare::of_weight(number, &weight), geoid) {
                return Err(table.refuse(block + 1, "the block is in its area twice"));
            }
            if columns.weight.is_some() {
                *sums.entry(geoid).or_default() += weight;
            }
            areas.lines.entry(geoid).or_insert_with(|| table.line());
        }
        if areas.names.is_empty() {
            return Err(table.refuse(0, "no area: a header and a line for each block of each area are needed"));
        }
        areas.unassigned = columns.unassigned;
        areas.weights = columns.weight.map(|_| WeightSums::of_sums(sums.values()));
        Ok(areas)
    }

    /// Areas that consist of the blocks with the same first digits of their GEOIDs, for each of several numbers of
    /// digits: tabulation units.
    pub fn by_digits(digits: &[u32], blocks: impl Iterator<Item = u64>) -> Areas {
        let mut names: BTreeMap<(u32, u64), Vec<u64>> = BTreeMap::new();
        for geoid in blocks {
            for digits in digits {
                names.entry((*digits, geoid / 10_u64.pow(15 - digits))).or_default().push(geoid);
            }
        }
        let mut areas = Areas::default();
        for ((digits, prefix), blocks) in names {
            let number = areas.names.len() as u32;
            areas.names.push(format!("{prefix:0width$}", width = digits as usize));
            areas.states.push(BTreeSet::new());
            blocks.into_iter().for_each(|geoid| {
                areas.add(LeafShare::whole(number), geoid);
            });
        }
        areas
    }

    fn number(&mut self, numbers: &mut HashMap<String, u32>, name: String) -> u32 {
        if let Some(number) = numbers.get(&name) {
            return *number;
        }
        let number = self.names.len() as u32;
        self.names.push(name.clone());
        self.states.push(BTreeSet::new());
        numbers.insert(name, number);
        number
    }

    fn add(&mut self, share: LeafShare, geoid: u64) -> bool {
        self.states[share.area as usize].insert((geoid / 10_u64.pow(13)) as u32);
        let shares = self.of_block.entry(geoid).or_default();
        let new = shares.iter().all(|known| known.area != share.area);
        if new {
            shares.push(share);
        }
        new
    }

    /// The blocks of an area, with their weights in it.
    pub fn blocks_of(&self, area: u32) -> impl Iterator<Item = (u64, f64)> {
        let share = move |own: &Vec<LeafShare>| own.iter().find(|share| share.area == area).map(|share| share.weight);
        self.of_block.iter().filter_map(move |(geoid, own)| Some((*geoid, share(own)?)))
    }

    /// With the exact totals of a CSV with the columns `area` and `total`; areas without a line have none.
    pub fn with_totals(mut self, path: &Path) -> Result<Areas> {
        let mut table = CsvTable::open(path)?;
        let (area, total) = (table.column(&["area"])?, table.column(&["total"])?);
        refuse_others(&table, &["area", "total"])?;
        let mut totals = Totals { of_area: BTreeMap::new(), file: table.file.clone() };
        let in_part: BTreeSet<u32> =
            self.of_block.values().flatten().filter(|own| own.weight < 1.0).map(|own| own.area).collect();
        while table.next()? {
            let name = table.name(area)?;
            let known = self.names.iter().position(|own| own == name);
            let number = known.ok_or_else(|| {
                let names = self.names.iter().map(String::as_str);
                table.refuse(area + 1, &unknown("area", name, &format!("{} has", self.file), names))
            })? as u32;
            if in_part.contains(&number) {
                let why = format!("the area {name:?} has parts of blocks by weights, so that no total of it is exact");
                return Err(table.refuse(area + 1, &why));
            }
            let people = table.whole(total, 1 << 50)? as i64;
            if totals.of_area.insert(number, (people, table.line())).is_some() {
                return Err(table.refuse(area + 1, &format!("the area {name:?} occurs twice")));
            }
        }
        if totals.of_area.is_empty() {
            return Err(table.refuse(0, "no total: a header and a line for each area with an exact total are needed"));
        }
        self.totals = Some(Box::new(totals));
        Ok(self)
    }

    /// The areas that have an exact total, with it.
    pub fn totals(&self) -> impl Iterator<Item = (u32, i64)> {
        let of_area = self.totals.iter().flat_map(|totals| &totals.of_area);
        of_area.map(|(area, (total, _))| (*area, *total))
    }

    /// An error about the exact total of an area, with its line.
    pub(super) fn refuse_total(&self, area: u32, why: &str) -> Error {
        let known = self.totals.as_ref();
        let line = known.and_then(|totals| totals.of_area.get(&area)).map_or(0, |(_, line)| *line as usize);
        let file = known.map_or_else(String::new, |totals| totals.file.clone());
        let why = format!("the exact total of the area {:?} {why}", self.names[area as usize]);
        Error::DataFile { file, line, column: 0, why }
    }

    /// An error about some of its blocks: the first are named with their lines and areas.
    pub fn refuse(&self, mut blocks: Vec<u64>, why: &str) -> Error {
        blocks.sort_unstable_by_key(|geoid| (self.lines.get(geoid).copied(), *geoid));
        let named = blocks.iter().take(NAMED).map(|geoid| {
            let area =
                self.of_block.get(geoid).and_then(|of| of.first()).map_or("", |share| &self.names[share.area as usize]);
            let line = self.lines.get(geoid).map_or(String::new(), |line| format!("line {line}, "));
            format!("{geoid:015} ({line}area {area:?})")
        });
        let named: Vec<String> = named.collect();
        let more = match blocks.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let many = match blocks.len() {
            1 => "1 block".to_string(),
            many => format!("{many} blocks"),
        };
        let why = format!("{many} {why}: {}{more}", named.join(", "));
        Error::DataFile { file: self.file.clone(), line: 0, column: 0, why }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> std::result::Result<Areas, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Areas::read(file.path()).map_err(|why| why.to_string())
    }

    #[test]
    fn block_assignment_files_name_areas_by_their_geoids() {
        let places = b"\xef\xbb\xbfBLOCKID|PLACEFP\n440010301001000|\n440010301001001|59000\n440070001001000|59000\n";
        let areas = read(places).unwrap();
        assert_eq!((areas.names, areas.unassigned, areas.of_block.len()), (vec!["4459000".to_string()], 1, 2));
        let towns = b"BLOCKID|COUNTYFP|COUSUBFP\n440010301001000|001|05140\n440010301001001|001|05140\n";
        assert_eq!(read(towns).unwrap().names, ["4400105140"]);
        let districts = b"BLOCKID|DISTRICT\n440010301001000|00030\n440010301001001|99997\n440010301001002|ZZ\n";
        let districts = read(districts).unwrap();
        assert_eq!((districts.names, districts.unassigned), (vec!["4400030".to_string()], 2));
        let aian = b"BLOCKID|AIANNHCE|COMPTYP\n440010301001000|2430|R\n440010301001001|2430|T\n440010301001002||\n";
        let aian = read(aian).unwrap();
        assert_eq!((aian.names, aian.unassigned, aian.of_block.len()), (vec!["2430".to_string()], 1, 2));
        let geoid10 = read(b"GEOID10,area\n440010301001000,a\n").unwrap();
        assert_eq!(geoid10.names, ["a"]);
    }

    #[test]
    fn weights_are_exact_and_their_sums_are_counted() {
        let text = "weight,area,block\n1/3,A,440010301001000\n1/3,B,440010301001000\n0.333333333333333333,C,440010301001000\n\
                    0.1,A,440010301001001\n9e-1,B,440010301001001\n1,A,440010301001002\n0.25,B,440010301001002\n0,C,440010301001003\n";
        let areas = read(text.as_bytes()).unwrap();
        assert_eq!(areas.weights, Some(WeightSums { below_one: 2, above_one: 1 }));
        let mut own: Vec<(u64, f64)> = areas.blocks_of(1).collect();
        own.sort_unstable_by_key(|(geoid, _)| *geoid);
        assert_eq!(own.iter().map(|(_, weight)| *weight).collect::<Vec<_>>(), [1.0 / 3.0, 0.9, 0.25]);
        assert_eq!(read(b"area,block\nA,440010301001000\n").unwrap().weights, None);
    }

    #[test]
    fn invalid_areas_are_refused_with_their_position() {
        let says = |text: &[u8], words: &[&str]| {
            let why = read(text).unwrap_err();
            words.iter().for_each(|word| assert!(why.contains(word), "{word}: {why}"));
        };
        says(
            b"area,block,share\nA,440010301001000,1\n",
            &["line 1, column 3", "share", "weight for the part of a block"],
        );
        for wrong in ["-0.25", "1.0001", "half", "", "nan", "1/0", "0x1", "5/4", "-0.0001"] {
            let text = format!("area,block,weight\nA,440010301001000,1/2\nA,440010301001001,{wrong}\n");
            says(text.as_bytes(), &["line 3, column 3", &format!("{wrong:?}"), "from 0 to 1"]);
        }
        let twice = b"area,block,weight\nA,440010301001000,1/2\nA,440010301001000,1/2\n";
        says(twice, &["line 3, column 2", "the block is in its area twice"]);
        says(b"area,block\nA,440010301001000\n ,440010301001001\n", &["line 3, column 1", "empty"]);
        says(b"area,block\n\xc5s,440010301001000\n", &["line 2, column 1", "UTF-8"]);
        says(b"area,block\nA,90010301001000\n", &["line 2, column 2", "090010301001000 is likely"]);
        says(b"name,block\nA,440010301001000\n", &["no column area", "name, block"]);
        says(b"BLOCKID|PLACEFP\n440010301001000|\n", &["no area"]);
        let areas = read(b"area,block\nA,440010301001001\nB,440010301001000\n").unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        for (text, words) in [
            ("area,total\nA,5\nC,5\n", &["line 3, column 1", "\"C\"", "A, B"][..]),
            ("area,total\nA,5\nA,5\n", &["line 3, column 1", "twice"]),
            ("area,total\nA,5.5\n", &["line 2, column 2"]),
            ("area,total\nA,-1\n", &["line 2, column 2"]),
            ("area,count\nA,5\n", &["total"]),
            ("area,total,why\nA,5,x\n", &["line 1, column 3", "why"]),
            ("area,total\n", &["no total"]),
        ] {
            std::fs::write(file.path(), text).unwrap();
            let why = areas.clone().with_totals(file.path()).unwrap_err().to_string();
            words.iter().for_each(|word| assert!(why.contains(word), "{word}: {why}"));
        }
        std::fs::write(file.path(), "area,total\nA,5\n").unwrap();
        let parts = read(b"area,block,weight\nA,440010301001001,1/2\n").unwrap();
        assert!(parts.with_totals(file.path()).unwrap_err().to_string().contains("parts of blocks"));
        assert_eq!(areas.clone().with_totals(file.path()).unwrap().totals().collect::<Vec<_>>(), [(0, 5)]);
        let why = areas.refuse(vec![440_010_301_001_000, 440_010_301_001_001], "are lost").to_string();
        assert!(why.contains("2 blocks are lost: 440010301001001 (line 2, area \"A\"), 440010301001000"), "{why}");
    }
}
