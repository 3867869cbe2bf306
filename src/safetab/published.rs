//! Published counts of the Detailed DHC-A and -B: intervals for the true counts, from the noise of the published allocation.
//!
//! A published cell of sex by age, of household type or of tenure is n + X, where n is the true count of the edited file and X the noise of one cell. Other counts of the same table
//! are sums of noisy cells. With m the smallest integer for which P[|S| <= m] >= 1 - alpha, S the sum of the noise of c cells, the interval of a count v is
//!
//! ```text
//! [max(0, v - m), v + m].
//! ```
//!
//! What is known of the way from the noisy count to the published one keeps the probability of an error at most alpha:
//!
//! - A negative count may be published as zero: n >= 0 and n <= n + X + m give n <= 0 + m as well. That holds for a cell alone. A sum may be of the raised cells, so a sum has an interval only where every one of its cells
//!   is published above zero: then none was raised.
//! - Which table a group has depends on the noise of stage 1, or on another product, and on nothing of X.
//! - Below the states a group with its total alone is published if its noisy total exceeds T ([`Suppression`]). Given that, the law of N = n + X is that of X cut off, and the least n that is
//!   not too unlikely, L(v) = the smallest n with P[N >= v | N > T] > alpha / 2, is the lower end: P[n < L(N) | N > T] <= alpha / 2. The upper end stays v + m: P[X < -m | X > T - n] <= P[X < -m] <= alpha / 2.
//! - A region with the borders of a higher one may show that one's counts. Its noise is no larger ([`rows`] checks it), and the law of smaller discrete Gaussian noise is more concentrated, also in
//!   sums. Where the other region is not suppressed, X is not cut off, and [v - m, v + m] is within the interval.
//! - The tabulation system suppresses more by rules that are not public. They may depend on X, so a probability given publication cannot be stated; but a count is published with a false interval no more
//!   often than its interval is false.
//!
//! So: before the noise is drawn, the probability that a count will be published with an interval that does not contain its true count is at most alpha. It is no statement about many counts at once.

use std::{collections::HashMap, path::Path};

use rug::Rational;

use super::{
    cell_noise::CellNoise, household_tables::HouseholdTopic, suppression::Suppression, tables::PublishedTable,
};
use crate::{
    csv_reader::CsvTable,
    error::{Error, Result},
    io::files,
    noise::DiscreteGaussian,
    release::Release,
};

/// The chance with which the production suppresses an empty group whose total alone is published: zero_suppression_chance of its config.json.
fn production_chance() -> Rational {
    Rational::from((9999, 10000))
}

/// A published count, and what can be said of the true one.
#[derive(Clone, Debug)]
pub struct PublishedCount {
    /// The type of region, as `COUNTY`.
    pub region_type: String,
    /// Its code.
    pub geoid: String,
    /// The level of the population group, 1 or 2.
    pub level: u8,
    /// The code of the population group.
    pub group: String,
    /// The variable, as `T02001_003N`.
    pub variable: String,
    /// The published count.
    pub count: u64,
    /// The interval, or the reason why there is none.
    pub said: std::result::Result<Interval, String>,
}

/// An interval for a true count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interval {
    /// Its ends, both included.
    pub ends: [u64; 2],
    /// The number of noisy cells in the count.
    pub cells: u32,
    /// The variance parameter of the noise of each.
    pub sigma2: Rational,
    /// The count from which on such a group is published, if it is suppressed below.
    pub published_from: Option<u64>,
}

/// The population groups of the production that are tabulated: their codes, levels, and whether their total alone is.
const GROUPS: &str = include_str!("../../data/tables/detailed-dhc-groups.csv");

/// The level of each group, and whether its total alone is tabulated, for the nation and the states.
fn population_groups() -> Result<HashMap<String, (u8, bool)>> {
    let mut table = CsvTable::of_text(GROUPS, "data/tables/detailed-dhc-groups.csv")?;
    let [code, level, total_only] =
        [table.column(&["code"])?, table.column(&["level"])?, table.column(&["total_only"])?];
    let mut groups = HashMap::new();
    while table.next()? {
        let own = (table.whole(level, 2)? as u8, table.text(total_only)? == "yes");
        groups.insert(table.name(code)?.to_string(), own);
    }
    Ok(groups)
}

/// The products.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Product {
    A,
    B,
}

/// The counts of a file, in its order, each with its interval of a probability of `level`, as 19/20.
pub fn rows(path: &Path, release: &Release, level: &Rational) -> Result<Vec<PublishedCount>> {
    let product = product(release)?;
    let read = read(CsvTable::open(path)?, release, product)?;
    let groups = grouped(&read);
    let mut known = Known { release, level: level.clone(), margins: HashMap::new() };
    let said = read.iter().map(|row| known.said(row, &groups[&row.key()]));
    let said = said.collect::<Result<Vec<_>>>()?;
    Ok(read.into_iter().zip(said).map(|(row, said)| row.answered(said)).collect())
}

/// Writes the text of a file of intervals.
pub fn write(path: &Path, text: &str) -> Result<()> {
    files::write_text(path, text)
}

/// Which product a release is of, or why its counts have no interval.
fn product(release: &Release) -> Result<Product> {
    let has = |name: &str| release.levels.iter().any(|level| level.queries.iter().any(|query| query.name == name));
    let why = match () {
        () if has("stage 2") => return Ok(Product::A),
        () if has("T3") && has("T4") => return Ok(Product::B),
        () if has("PH3 iterations A-G") => {
            "of a unit with many persons its tables count 10 or 6 at most, drawn at random, and nobody published how many are missing; averages are ratios of two noisy counts"
        }
        () => {
            "its tables were made consistent after the noise, so a published count has no known law: use `assay nmf estimate` for its noisy measurements"
        }
    };
    Err(Error::unsuitable(format!(
        "{}: no interval follows from a published count: {why}; expected the Detailed DHC-A or -B, as ddhca-us or ddhcb-us",
        release.name
    )))
}

/// A table of a product: its cells with their own noise, and for each variable the cells whose sum it is.
struct Table {
    name: &'static str,
    /// The topic: tables of one topic exclude each other in a group.
    query: &'static str,
    /// For each line, from 1 on: the lines of the noisy cells that it sums, itself alone if it is one.
    lines: Vec<Vec<u32>>,
}

impl Table {
    fn all(product: Product) -> Vec<Table> {
        match product {
            Product::A => PublishedTable::ALL.into_iter().map(Table::of_persons).collect(),
            Product::B => HouseholdTopic::ALL
                .into_iter()
                .flat_map(|topic| {
                    topic.tables().iter().map(move |table| {
                        let line = |cell: u8| table.printed.iter().position(|own| *own == cell).unwrap_or(0) as u32 + 1;
                        let parts = |printed: &u8| topic.cells_of(table, *printed).map(line).collect();
                        Table {
                            name: table.name,
                            query: topic.name(),
                            lines: table.printed.iter().map(parts).collect(),
                        }
                    })
                })
                .collect(),
        }
    }

    /// Total, all of a sex, its ages, and the same of the other sex.
    fn of_persons(table: PublishedTable) -> Table {
        let ages = table.ages().len() as u32;
        let lines = match ages {
            0 => vec![vec![1]],
            ages => {
                let [male, female] = [3..3 + ages, 4 + ages..4 + 2 * ages];
                let single = |line: u32| vec![line];
                let all = |range: &std::ops::Range<u32>| range.clone().collect::<Vec<u32>>();
                let mut lines = vec![[all(&male), all(&female)].concat(), all(&male)];
                lines.extend(male.map(single));
                lines.push(all(&female));
                lines.extend(female.map(single));
                lines
            }
        };
        Table { name: table.name(), query: "stage 2", lines }
    }
}

/// A row of the file.
struct Row {
    region_type: String,
    geoid: String,
    level: u8,
    group: String,
    variable: String,
    count: u64,
    /// The place of its table and line among those of the product.
    place: (usize, u32),
    /// The finest table of the group, by the file.
    finest: Option<usize>,
    /// Whether the total of the group alone is tabulated.
    total_only: bool,
    line: u64,
}

type Key = (String, String, u8, String);

impl Row {
    fn key(&self) -> Key {
        (self.region_type.clone(), self.geoid.clone(), self.level, self.group.clone())
    }

    fn level_name(&self) -> String {
        format!("{} level {}", self.region_type, self.level)
    }

    fn answered(self, said: std::result::Result<Interval, String>) -> PublishedCount {
        let Row { region_type, geoid, level, group, variable, count, .. } = self;
        PublishedCount { region_type, geoid, level, group, variable, count, said }
    }
}

const MOST: u64 = 1 << 40;

fn read(mut table: CsvTable, release: &Release, product: Product) -> Result<Vec<Row>> {
    let tables = Table::all(product);
    let at = [
        table.column(&["region_type", "REGION_TYPE"])?,
        table.column(&["geoid", "GEOID", "REGION_ID"])?,
        table.column(&["group", "ITERATION_CODE", "POPGROUP"])?,
        table.column(&["variable"])?,
        table.column(&["count", "COUNT", "value", "estimate"])?,
    ];
    let [finest_at, level_at] = [table.find(&["finest"]), table.find(&["level", "LEVEL"])];
    let known = population_groups()?;
    let mut rows: Vec<Row> = Vec::new();
    let mut seen: HashMap<(Key, (usize, u32)), u64> = HashMap::new();
    while table.next()? {
        let text = |column: usize| table.name(at[column]).map(str::to_string);
        let refuse = |column: usize, why: &str| table.refuse(column + 1, why);
        let (region_type, group) = (text(0)?, text(2)?);
        let Some((level, total_only)) = known.get(&group).copied() else {
            return Err(refuse(
                at[2],
                "no population group of the Detailed DHC: expected its code of four digits, as 1003",
            ));
        };
        if let Some(level_at) = level_at.filter(|at| *table.cell(*at) != *level.to_string().as_bytes()) {
            return Err(refuse(level_at, &format!("group {group} is of level {level}")));
        }
        let variable = text(3)?;
        let place = place(&tables, &variable).ok_or_else(|| {
            let names = tables.iter().map(|table| format!("{}_001N to _{:03}N", table.name, table.lines.len()));
            refuse(at[3], &format!("unknown variable: expected one of {}", names.collect::<Vec<_>>().join(", ")))
        })?;
        let finest = match finest_at.map(|at| table.text(at)).transpose()?.filter(|text| !text.is_empty()) {
            None => None,
            Some(name) => Some(tables.iter().position(|table| table.name == name).ok_or_else(|| {
                refuse(finest_at.unwrap_or(0), "expected the finest table of the group, as T01001 or T02002")
            })?),
        };
        if total_only && (tables[place.0].lines.len() > 1 || !is_unsuppressed(&region_type)) {
            return Err(refuse(
                at[2],
                &format!("of group {group} the totals of the nation and the states alone are tabulated"),
            ));
        }
        let count = table.whole(at[4], MOST)?;
        let (geoid, line) = (text(1)?, table.line());
        let row = Row { region_type, geoid, level, group, variable, count, place, finest, total_only, line };
        if !release.levels.iter().any(|level| level.name == row.level_name()) {
            let known: Vec<&str> = release.levels.iter().map(|level| level.name.as_str()).collect();
            return Err(refuse(
                at[0],
                &format!("{} is no level of {}: its levels are {}", row.level_name(), release.name, known.join(", ")),
            ));
        }
        if let Some(line) = seen.insert((row.key(), place), row.line) {
            return Err(refuse(at[3], &format!("the same count of the same group as in line {line}")));
        }
        rows.push(row);
    }
    Ok(rows)
}

/// The table and line of a variable, as T02001_003N.
fn place(tables: &[Table], variable: &str) -> Option<(usize, u32)> {
    let (name, line) = variable.split_once('_')?;
    let digits = line.strip_suffix('N')?;
    let line: u32 =
        digits.parse().ok().filter(|_| digits.len() == 3 && digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    let at = tables.iter().position(|table| table.name == name)?;
    (1..=tables[at].lines.len() as u32).contains(&line).then_some((at, line))
}

/// The counts of a group in a file: the row of each table and line.
#[derive(Default)]
struct Group {
    counts: HashMap<(usize, u32), u64>,
    finest: Vec<usize>,
}

fn grouped(rows: &[Row]) -> HashMap<Key, Group> {
    let mut groups: HashMap<Key, Group> = HashMap::new();
    for row in rows {
        let group = groups.entry(row.key()).or_default();
        group.counts.insert(row.place, row.count);
        group.finest.extend(row.finest);
    }
    groups
}

/// Margins that are known already.
struct Known<'a> {
    release: &'a Release,
    level: Rational,
    margins: HashMap<(Rational, u32), i64>,
}

type Said = std::result::Result<Interval, String>;

impl Known<'_> {
    fn said(&mut self, row: &Row, group: &Group) -> Result<Said> {
        let (product, tables) = (product(self.release)?, Table::all(product(self.release)?));
        let cells = match noisy_cells(&tables, row, group) {
            Ok(cells) => cells,
            Err(why) => return Ok(Err(why)),
        };
        if let Some(why) = cells.why_unknown(row.count, group, &tables) {
            return Ok(Err(why));
        }
        let noise = CellNoise::Gaussian(DiscreteGaussian::new(self.sigma2(row, &tables[row.place.0])?)?);
        let sigma2 = noise.parameter().clone();
        let copies = cells.lines.len() as u32;
        let margin = self.margin(&noise, copies)?;
        let (mut lower, mut published_from) = (row.count.saturating_sub(margin as u64), None);
        let is_total_alone = cells.table == row.place.0 && tables[cells.table].lines.len() == 1;
        if product == Product::A && is_total_alone && !is_unsuppressed(&row.region_type) {
            let rule = Suppression::new(noise.clone(), production_chance())?;
            let from = u64::try_from(rule.threshold() + 1).unwrap_or(0);
            if row.count < from {
                return Ok(Err(format!(
                    "a total alone is published from {from} on here: this is the count of another region, or not of such a group"
                )));
            }
            let tail = Rational::from(1 - &self.level) / 2_u32;
            lower = lower_of_published(&noise, row.count as i64, margin, rule.threshold(), &tail)?;
            published_from = Some(from);
        }
        Ok(Ok(Interval { ends: [lower, row.count + margin as u64], cells: copies, sigma2, published_from }))
    }

    fn margin(&mut self, noise: &CellNoise, copies: u32) -> Result<i64> {
        let key = (noise.parameter().clone(), copies);
        if let Some(margin) = self.margins.get(&key) {
            return Ok(*margin);
        }
        let margin = noise.margin(copies, &self.level)?;
        self.margins.insert(key, margin);
        Ok(margin)
    }

    /// The sigma2 of a cell of a table: of groups with their total alone all of the budget goes to it.
    fn sigma2(&self, row: &Row, table: &Table) -> Result<Rational> {
        let level = self.release.level(&row.level_name())?;
        let of = |name: &str| level.queries.iter().find(|query| query.name == name);
        let alone = if row.total_only { of("detailed-only") } else { None };
        let query = alone
            .or_else(|| of(table.query))
            .ok_or_else(|| Error::unsuitable(format!("{} has no query {}", level.name, table.query)))?;
        Ok(query.sigma2()?.clone())
    }
}

/// The noisy cells whose sum a count is.
struct NoisyCells {
    /// The place of their table.
    table: usize,
    /// Their lines.
    lines: Vec<u32>,
}

/// The noisy cells of a row, or why they are not known.
fn noisy_cells(tables: &[Table], row: &Row, group: &Group) -> std::result::Result<NoisyCells, String> {
    let (at, line) = row.place;
    let own = &tables[at];
    let of = |table: usize, line: usize| Ok(NoisyCells { table, lines: tables[table].lines[line].clone() });
    // A group has one table of each topic besides its total.
    let is_other = |place: &usize| *place != at && tables[*place].query == own.query;
    let named = group.counts.keys().map(|place| place.0).chain(group.finest.iter().copied());
    let mut others: Vec<usize> = named.filter(|place| is_other(place) && tables[*place].lines.len() > 1).collect();
    others.sort_unstable();
    others.dedup();
    let is_total = own.lines.len() == 1;
    match others[..] {
        [] if is_total && (row.total_only || group.finest.contains(&at)) => of(at, 0),
        [] if is_total => Err(format!(
            "its noise depends on the group's finest table: add the rows of that, or a column finest with {}, if it has no finer one",
            own.name
        )),
        [] if !group.finest.iter().any(is_other) => of(at, line as usize - 1),
        [finest] if is_total && !group.finest.contains(&at) => of(finest, 0),
        _ => Err("the file has several tables of this group, of which one alone has noise of its own".to_string()),
    }
}

impl NoisyCells {
    /// Why it is not known whether a count is the sum of these noisy cells: one may have been raised to zero.
    fn why_unknown(&self, count: u64, group: &Group, tables: &[Table]) -> Option<String> {
        let all = self.lines.len();
        if all == 1 {
            return None;
        }
        let counts = self.lines.iter().map(|line| group.counts.get(&(self.table, *line)).copied());
        let Some(counts) = counts.collect::<Option<Vec<u64>>>() else {
            return Some(format!(
                "it is a sum of noisy cells: add all {all} of {} to the file",
                tables[self.table].name
            ));
        };
        let sum: u64 = counts.iter().sum();
        if counts.contains(&0) {
            let why = "it is a sum of noisy cells of which one is zero, which may have been negative: whether the sum is with or without it is not known";
            return Some(why.to_string());
        }
        (sum != count).then(|| format!("it is not the sum of its noisy cells, {sum}: one of them was changed"))
    }
}

/// Whether groups of a type of region are published whatever their count.
fn is_unsuppressed(region_type: &str) -> bool {
    matches!(region_type, "USA" | "STATE" | "PR-STATE")
}

/// The smallest n with P[n + X >= v | n + X > T] above `tail`, or one below it: the ratio increases with n.
fn lower_of_published(noise: &CellNoise, v: i64, margin: i64, threshold: i64, tail: &Rational) -> Result<u64> {
    const DIGITS: u32 = 15;
    let is_excluded = |n: i64| -> Result<bool> {
        let [reached, published] = [v - n, threshold + 1 - n].map(|x| noise.survival(x, DIGITS));
        let (reached, published) = (reached?, published?);
        Ok(*reached.div(&published).upper() <= *tail)
    };
    // Below v - m at the latest, as n itself exceeds T with a probability below one.
    let (mut step, mut high) = (1, (v - margin).max(0));
    let mut low = high;
    while low > 0 && !is_excluded(low - 1)? {
        high = low;
        low = (low - step).max(0);
        step *= 2;
    }
    if low == 0 && (high == 0 || !is_excluded(0)?) {
        return Ok(0);
    }
    while low < high {
        let middle = low.midpoint(high);
        if is_excluded(middle)? { low = middle + 1 } else { high = middle }
    }
    Ok(high as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADING: &str = "region_type,geoid,level,group,variable,count,finest\n";

    fn of_text(text: &str, release: &str) -> Result<Vec<PublishedCount>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("counts.csv");
        std::fs::write(&path, format!("{HEADING}{text}")).unwrap();
        rows(&path, &Release::find(release).unwrap(), &Rational::from((19, 20)))
    }

    fn ends(row: &PublishedCount) -> [u64; 2] {
        row.said.as_ref().unwrap_or_else(|why| panic!("{}: {why}", row.variable)).ends
    }

    /// The intervals of all counts up to 400 of one variable.
    fn intervals(region_type: &str, level: u8, variable: &str, finest: &str) -> Vec<Option<[u64; 2]>> {
        let text: String = (0..=400)
            .map(|v| format!("{region_type},{v},{level},100{},{variable},{v},{finest}\n", level + 1))
            .collect();
        let all = of_text(&text, "ddhca-us").unwrap();
        all.iter().map(|row| row.said.as_ref().ok().map(|own| own.ends)).collect()
    }

    /// The masses of discrete Gaussian noise by definition, from -reach to reach.
    fn masses(sigma2: f64) -> impl Fn(i64) -> f64 {
        let weight = move |x: i64| libm::exp(-(x as f64).powi(2) / (2.0 * sigma2));
        let total: f64 = (-1000..=1000).map(weight).sum();
        move |x| weight(x) / total
    }

    /// Cells: the law's masses decide, whether negative counts become zero or not.
    #[test]
    fn cells_are_covered_by_the_masses_of_the_law() {
        for (region, level, sigma2) in
            [("COUNTY", 2, 5000.0 / 159.0), ("STATE", 2, 2500.0 / 1067.0), ("TRACT", 1, 625.0)]
        {
            let (known, mass) = (intervals(region, level, "T02001_003N", ""), masses(sigma2));
            for n in 0..150_u64 {
                let holds = |x: &i64| {
                    let v = (n as i64 + x).max(0) as usize;
                    known[v].is_some_and(|[low, high]| low <= n && n <= high)
                };
                let covered: f64 = (-200..=200).filter(holds).map(&mass).sum();
                assert!(covered >= 0.95, "{region} {level} {n}: {covered}");
            }
        }
    }

    /// Totals below the states: given that they are published, which the smallest groups are by large noise alone.
    #[test]
    fn totals_are_covered_given_that_they_are_published() {
        for (level, sigma2, threshold) in [(2, 5000.0 / 159.0, 21_i64), (1, 625.0, 93)] {
            let (known, mass) = (intervals("COUNTY", level, "T01001_001N", "T01001"), masses(sigma2));
            assert!((0..=threshold).all(|v| known[v as usize].is_none()) && known[threshold as usize + 1].is_some());
            for n in 0..150_i64 {
                let (mut published, mut covered) = (0.0, 0.0);
                for v in threshold + 1..=400 {
                    let [low, high] = known[v as usize].unwrap();
                    published += mass(v - n);
                    covered += if (low as i64..=high as i64).contains(&n) { mass(v - n) } else { 0.0 };
                }
                assert!(covered >= 0.95 * published, "{level} {n}: {}", covered / published);
            }
        }
        // A place that shows its state's count, whose noise is smaller or the same and which is never suppressed.
        for (level, sigma2, threshold) in [(2, 2500.0 / 1067.0, 21_i64), (1, 625.0, 93)] {
            let (known, mass) = (intervals("PLACE", level, "T01001_001N", "T01001"), masses(sigma2));
            for n in 0..150_i64 {
                let missed: f64 = (threshold + 1..=400)
                    .filter(|v| known[*v as usize].is_none_or(|[low, high]| !(low as i64..=high as i64).contains(&n)))
                    .map(|v| mass(v - n))
                    .sum();
                assert!(missed <= 0.05, "{level} {n}: {missed}");
            }
        }
    }

    /// Groups of a county from two stages, as SafeTab draws them: their published totals and tables, of every size.
    #[test]
    fn simulated_groups_are_missed_as_seldom_as_stated() {
        let mut state = 3_u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / 9_007_199_254_740_992.0
        };
        let mut draw = |mass: &dyn Fn(i64) -> f64| {
            let mut left = uniform();
            (-200..=200)
                .find(|x| {
                    left -= mass(*x);
                    left <= 0.0
                })
                .unwrap_or(200)
        };
        let (stage_1, stage_2) = (masses(15_000.0 / 53.0), masses(5000.0 / 159.0));
        const FIRST: i64 = 60;
        for cell in [3_i64, 8, 20] {
            let groups = 1500;
            let mut text = String::new();
            for at in 0..groups {
                let line = |variable: &str, count: i64, finest: &str| {
                    format!("COUNTY,{at},2,1003,{variable},{},{finest}\n", count.max(0))
                };
                if 8 * cell + draw(&stage_1) >= FIRST {
                    let cells: Vec<i64> = (0..8).map(|_| cell + draw(&stage_2)).collect();
                    let [male, female] = [&cells[..4], &cells[4..]].map(|own| own.iter().sum::<i64>());
                    let numbers = [&[male + female, male], &cells[..4], &[female], &cells[4..]].concat();
                    numbers
                        .iter()
                        .zip(1..)
                        .for_each(|(count, at)| text += &line(&format!("T02001_{at:03}N"), *count, ""));
                    text += &line("T01001_001N", male + female, "");
                } else {
                    let total = 8 * cell + draw(&stage_2);
                    if total > 21 {
                        text += &line("T01001_001N", total, "T01001");
                    }
                }
            }
            let mut missed: HashMap<String, u32> = HashMap::new();
            for row in of_text(&text, "ddhca-us").unwrap() {
                let n = match row.variable.as_str() {
                    "T01001_001N" | "T02001_001N" => 8 * cell,
                    "T02001_002N" | "T02001_007N" => 4 * cell,
                    _ => cell,
                };
                if row.said.is_ok_and(|own| !(own.ends[0] as i64..=own.ends[1] as i64).contains(&n)) {
                    *missed.entry(row.variable).or_default() += 1;
                }
            }
            // 5 % of the groups are 75; five standard deviations more.
            assert!(missed.values().all(|count| *count <= 117), "{cell}: {missed:?}");
        }
    }

    #[test]
    fn sums_have_the_noise_of_their_cells() {
        let group = |zero: &str| {
            let counts = ["400", "200", "50", "50", "50", "50", "200", "50", "50", "50", zero];
            let line = |(at, count): (usize, &&str)| format!("COUNTY,09001,2,1003,T02001_{:03}N,{count},\n", at + 1);
            counts.iter().enumerate().map(line).collect::<String>() + "COUNTY,09001,2,1003,T01001_001N,400,\n"
        };
        let all = of_text(&group("50"), "ddhca-us").unwrap();
        // The margins of `assay tune --rho 0.159`: 11 of a cell, 22 of a sex, 31 of the total.
        let cells: Vec<u32> = all.iter().map(|row| row.said.as_ref().unwrap().cells).collect();
        assert_eq!(cells, [8, 4, 1, 1, 1, 1, 4, 1, 1, 1, 1, 8]);
        assert_eq!([0, 1, 2, 11].map(|at| ends(&all[at])), [[369, 431], [178, 222], [39, 61], [369, 431]]);
        // Of a raised or changed cell, or with a cell missing, sums say nothing, and cells do.
        for (text, why) in [
            (group("0"), "may have been negative"),
            (group("49"), "not the sum"),
            (
                group("50").replace("T02001_011N", "T02001_010N").replacen(
                    "COUNTY,09001,2,1003,T02001_010N,50,\n",
                    "",
                    1,
                ),
                "add all",
            ),
        ] {
            let all = of_text(&text, "ddhca-us").unwrap();
            let total = all.iter().find(|row| row.variable == "T02001_001N").unwrap();
            assert!(total.said.as_ref().unwrap_err().contains(why), "{:?}", total.said);
            assert_eq!(ends(&all[2]), [39, 61]);
        }
        // A total alone says nothing of the noise, nor do two tables of one group.
        let lone = "COUNTY,1,2,1003,T01001_001N,400,\n";
        assert!(of_text(lone, "ddhca-us").unwrap()[0].said.as_ref().unwrap_err().contains("finest"));
        let two = "COUNTY,1,2,1003,T02001_003N,40,T02002\n";
        assert!(of_text(two, "ddhca-us").unwrap()[0].said.as_ref().unwrap_err().contains("several tables"));
    }

    /// Groups that are known to have their total alone have all of the budget for it, and need no column.
    #[test]
    fn totals_alone_have_their_own_noise() {
        let all =
            of_text("STATE,09,2,1069,T01001_001N,40,\nSTATE,09,2,1003,T01001_001N,40,T01001\n", "ddhca-us").unwrap();
        let sigma2 = |at: usize| all[at].said.as_ref().unwrap().sigma2.clone();
        assert_eq!([sigma2(0), sigma2(1)], [Rational::from((2250, 1067)), Rational::from((2500, 1067))]);
    }

    #[test]
    fn households_and_other_releases() {
        let text =
            "STATE,09,2,1003,T03002_001N,90,\nSTATE,09,2,1003,T03002_002N,60,\nSTATE,09,2,1003,T03002_003N,30,\n";
        let all = of_text(text, "ddhcb-us").unwrap();
        let sigma2 = Rational::from((9, 2)) / Rational::from((19208, 10000));
        assert!(all.iter().all(|row| row.said.as_ref().is_ok_and(|own| own.sigma2 == sigma2)));
        assert_eq!(all.iter().map(|row| row.said.as_ref().unwrap().cells).collect::<Vec<_>>(), [2, 1, 1]);
        for (release, why) in [("sdhc-us", "drawn at random"), ("pl94-persons-us", "nmf estimate")] {
            assert!(of_text(text, release).unwrap_err().to_string().contains(why));
        }
        for (text, why) in [
            ("COUNTY,1,2,1002,T02001_003N,1,\n", "group 1002 is of level 1"),
            ("COUNTY,1,2,1001,T02001_003N,1,\n", "no population group"),
            ("COUNTY,1,2,3,T02001_003N,1,\n", "no population group"),
            ("COUNTY,1,2,1069,T01001_001N,1,\n", "the totals of the nation and the states alone"),
            ("STATE,1,2,1069,T02001_003N,1,\n", "the totals of the nation and the states alone"),
            ("CITY,1,2,1003,T02001_003N,1,\n", "CITY level 2 is no level"),
            ("AIANNH,1,1,1002,T02001_003N,1,\n", "AIANNH level 1 is no level"),
            ("COUNTY,1,2,1003,T02001_012N,1,\n", "unknown variable"),
            ("COUNTY,1,2,1003,T02001_3N,1,\n", "unknown variable"),
            ("COUNTY,1,2,1003,T02001_003N,-1,\n", "line 2, column 6"),
            ("COUNTY,1,2,1003,T02001_003N,1.5,\n", "line 2, column 6"),
            ("COUNTY,1,2,1003,T02001_003N,1,T09\n", "line 2, column 7"),
            ("COUNTY,,2,1003,T02001_003N,1,\n", "line 2, column 2"),
            ("COUNTY,1,2,1003,T02001_003N,1,\nCOUNTY,1,2,1003,T02001_003N,2,\n", "as in line 2"),
        ] {
            let message = of_text(text, "ddhca-us").unwrap_err().to_string();
            assert!(message.contains(why), "{message}");
        }
    }
}
