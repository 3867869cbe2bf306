//! The codes of a product of P.L. 94-171 or of the DHC's persons: definitions, labels, and those that cannot be formed from its noisy counts.

use crate::{
    error::{Error, Result, unknown},
    release::schema::Schema,
    spine::csv_table::CsvTable,
    topdown::nmf::answers::{TableLine, read_lines, selected_values},
};

/// The definitions of the tables of persons of P.L. 94-171, and of the DHC.
const PERSONS: &str = include_str!("../../../../data/tables/pl94-persons.csv");
const DHC_PERSONS: &str = include_str!("../../../../data/tables/dhc-persons.csv");
/// The populations for which tables of the DHC are repeated.
const ITERATIONS: &str = include_str!("../../../../data/tables/dhc-iterations.csv");
/// The tables that are repeated: P12A to P12O, and PCT12A to PCT12O.
const ITERATED: [&str; 2] = ["P12", "PCT12"];
/// The definitions of housing units' tables.
const UNITS: &str = include_str!("../../../../data/tables/pl94-units.csv");
/// The titles of the tables.
const TABLES: &str = include_str!("../../../../data/tables/tables.csv");
/// The tables that cannot be formed, with the reasons.
const NOT_FORMED: &str = include_str!("../../../../data/tables/not-formed.csv");

/// A product, by the histogram of its noisy counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    /// The tables P1 to P5 of P.L. 94-171.
    Persons,
    /// The table H1 of P.L. 94-171.
    Units,
    /// Tables of the DHC by sex, age, Hispanic origin and race: P1, P3 to P5, P8 to P12, P14 and PCT12.
    DhcPersons,
}

impl Product {
    /// All products.
    pub const ALL: [Product; 3] = [Product::Persons, Product::Units, Product::DhcPersons];

    /// Its name in the data files.
    pub fn name(self) -> &'static str {
        match self {
            Product::Persons => "persons",
            Product::Units => "units",
            Product::DhcPersons => "dhc-persons",
        }
    }

    /// The names and sizes of its attributes.
    fn attributes(self) -> &'static [(&'static str, usize)] {
        match self {
            Product::Persons => &[("hhgq", 8), ("votingage", 2), ("hispanic", 2), ("cenrace", 63)],
            Product::Units => &[("h1", 2)],
            Product::DhcPersons => &[("relgq", 42), ("sex", 2), ("age", 116), ("hispanic", 2), ("cenrace", 63)],
        }
    }

    fn definitions(self) -> (&'static str, &'static str) {
        match self {
            Product::Persons => (PERSONS, "data/tables/pl94-persons.csv"),
            Product::Units => (UNITS, "data/tables/pl94-units.csv"),
            Product::DhcPersons => (DHC_PERSONS, "data/tables/dhc-persons.csv"),
        }
    }
}

/// A table of codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeTable {
    /// Its name, such as P1.
    pub name: String,
    /// Its title.
    pub title: String,
}

/// The codes of a product.
#[derive(Clone, Debug)]
pub struct CodeBook {
    /// The product.
    pub product: Product,
    /// Its tables.
    pub tables: Vec<CodeTable>,
    /// Its codes, in order.
    pub codes: Vec<Code>,
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Code {
    /// Its code as in the Bureau's API and in tidycensus: P1_003N.
    pub name: String,
    /// The code of the line to which it adds up with others; empty for the first line of a table.
    pub parent: String,
    /// Its label: `Total:!!Population of one race:!!White alone`.
    pub label: String,
    /// The sum over cells.
    pub line: TableLine,
}

/// Codes that cannot be formed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotFormed {
    /// Codes, tables, or all tables that begin so, as `PCT*`.
    pub codes: Vec<String>,
    /// The product from which they cannot be formed; `None` for every product.
    pub product: Option<String>,
    /// The reason.
    pub why: String,
}

impl CodeBook {
    /// The codes of a product over the histogram of a release.
    pub fn of(schema: &Schema) -> Result<CodeBook> {
        let own: Vec<(&str, usize)> =
            schema.attributes.iter().map(|own| (own.name.as_str(), own.values.len())).collect();
        let product = Product::ALL.into_iter().find(|product| own == product.attributes()).ok_or_else(|| {
            let named = |attributes: &[(&str, usize)]| {
                attributes.iter().map(|(name, size)| format!("{name} ({size})")).collect::<Vec<_>>().join(", ")
            };
            let known: Vec<String> = Product::ALL.iter().map(|product| named(product.attributes())).collect();
            let why = format!(
                "its attributes are {}, and census codes are defined over those of P.L. 94-171 and of the DHC's persons: {}",
                named(&own),
                known.join("; or ")
            );
            Error::unsuitable(why)
        })?;
        let (text, file) = product.definitions();
        let mut lines = read_lines(text, file, schema)?;
        let mut tables = tables_of(product)?;
        if product == Product::DhcPersons {
            for iteration in iterations(schema)? {
                iteration.repeat(&mut tables, &mut lines);
            }
        }
        let codes = lines.iter().map(|line| Code {
            name: code_of(&line.name),
            parent: code_of(&line.parent),
            label: label_of(&lines, line),
            line: line.clone(),
        });
        Ok(CodeBook { product, tables, codes: codes.collect() })
    }

    /// The codes of a bundled product.
    pub fn of_product(product: Product) -> Result<CodeBook> {
        let attribute = |(name, size): &(&str, usize)| crate::release::schema::Attribute {
            name: (*name).to_string(),
            values: (0..*size).map(|value| value.to_string()).collect(),
        };
        let attributes = product.attributes().iter().map(attribute).collect();
        CodeBook::of(&Schema { attributes, ..Schema::default() })
    }

    /// The codes that are requested, in the order of the request, each once: codes, tables, or all.
    pub fn choose(&self, asked: &[String]) -> Result<Vec<Code>> {
        let mut chosen: Vec<&Code> = Vec::new();
        for name in asked {
            let own = self.named(name)?;
            for code in own {
                if !chosen.iter().any(|known| known.name == code.name) {
                    chosen.push(code);
                }
            }
        }
        match chosen.is_empty() {
            true => Err(Error::missing("no variable is named: a code such as P1_003N, a table such as P1, or all")),
            false => Ok(chosen.into_iter().cloned().collect()),
        }
    }

    fn named(&self, name: &str) -> Result<Vec<&Code>> {
        if name == "all" {
            return Ok(self.codes.iter().collect());
        }
        if self.tables.iter().any(|table| table.name == name) {
            return Ok(self.codes.iter().filter(|code| table_of(&code.name) == name).collect());
        }
        // Also as in the Bureau's own files: P0010003.
        let wanted = |code: &&Code| code.name == name || code.line.name == name;
        if let Some(code) = self.codes.iter().find(wanted) {
            return Ok(vec![code]);
        }
        let is_of_table = self.tables.iter().any(|table| table_of(name).eq_ignore_ascii_case(&table.name));
        if !is_of_table && let Some(not) = not_formed()?.into_iter().find(|not| not.holds(name, self.product)) {
            return Err(Error::unsuitable(format!("the variable {name:?} cannot be formed: {}", not.why)));
        }
        let tables = self.tables.iter().map(|table| table.name.as_str());
        let known = tables.chain(self.codes.iter().map(|code| code.name.as_str()));
        Err(Error::conflict(unknown("variable", name, "there are", known)))
    }
}

impl NotFormed {
    /// Whether it is about a code, for a product.
    fn holds(&self, code: &str, product: Product) -> bool {
        let table = table_of(code);
        let is_own = |own: &String| match own.strip_suffix('*') {
            // The letters of a table, followed by its number.
            Some(start) => table.strip_prefix(start).is_some_and(|rest| rest.starts_with(|d: char| d.is_ascii_digit())),
            None => own == table,
        };
        self.product.as_ref().is_none_or(|own| own == product.name()) && self.codes.iter().any(is_own)
    }
}

/// The codes that cannot be formed, the first that holds decides.
pub fn not_formed() -> Result<Vec<NotFormed>> {
    let mut table = CsvTable::of_text(NOT_FORMED, "data/tables/not-formed.csv")?;
    let mut found = Vec::new();
    while table.next()? {
        let product = Some(table.text(1)?.to_string()).filter(|product| !product.is_empty());
        let codes = table.text(0)?.split(' ').map(String::from).collect();
        found.push(NotFormed { codes, product, why: table.text(2)?.to_string() });
    }
    Ok(found)
}

/// A population for which tables are repeated.
struct Iteration {
    letter: String,
    population: String,
    /// As in the lines of a table.
    selected: Vec<Option<Vec<bool>>>,
}

impl Iteration {
    /// Adds the tables of this population and their lines.
    fn repeat(&self, tables: &mut Vec<CodeTable>, lines: &mut Vec<TableLine>) {
        for base in ITERATED {
            let name = |code: &str| code.replacen(base, &format!("{base}{}", self.letter), 1);
            let own = tables.iter().find(|table| table.name == base).map(|table| CodeTable {
                name: name(&table.name),
                title: format!("{} ({})", table.title, self.population),
            });
            tables.extend(own);
            let repeated = |line: &TableLine| TableLine {
                name: name(&line.name),
                parent: name(&line.parent),
                label: line.label.clone(),
                description: format!("{} ({})", line.description, self.population),
                // The tables that are repeated select no races and no origin themselves.
                selected: line
                    .selected
                    .iter()
                    .zip(&self.selected)
                    .map(|(own, more)| own.clone().or(more.clone()))
                    .collect(),
            };
            let own: Vec<TableLine> = lines.iter().filter(|line| table_of(&line.name) == base).map(repeated).collect();
            lines.extend(own);
        }
    }
}

/// The populations, A to O.
fn iterations(schema: &Schema) -> Result<Vec<Iteration>> {
    let file = "data/tables/dhc-iterations.csv";
    let mut table = CsvTable::of_text(ITERATIONS, file)?;
    let headings: Vec<String> = table.headings().iter().map(|heading| (*heading).to_string()).collect();
    let mut found = Vec::new();
    while table.next()? {
        let mut selected = vec![None; schema.attributes.len()];
        for (at, own) in schema.attributes.iter().enumerate() {
            let Some(column) = headings.iter().position(|heading| *heading == own.name) else { continue };
            selected[at] = selected_values(table.text(column)?, own.values.len())
                .map_err(|()| table.refuse(column + 1, "expected numbers of values"))?;
        }
        found.push(Iteration { letter: table.text(0)?.to_string(), population: table.text(1)?.to_string(), selected });
    }
    Ok(found)
}

/// The table of a code: P1 of P1_003N, and of P0010003.
fn table_of(code: &str) -> &str {
    code.split('_').next().unwrap_or_default()
}

fn tables_of(product: Product) -> Result<Vec<CodeTable>> {
    let mut table = CsvTable::of_text(TABLES, "data/tables/tables.csv")?;
    let mut found = Vec::new();
    while table.next()? {
        if table.text(1)? == product.name() {
            found.push(CodeTable { name: table.text(0)?.to_string(), title: table.text(2)?.to_string() });
        }
    }
    Ok(found)
}

/// The code of a line: P1_003N of P0010003. Other text stays as it is.
pub fn code_of(line: &str) -> String {
    let parts = (line.get(..1), line.get(1..4).map(str::parse::<u32>), line.get(5..));
    match parts {
        (Some(letter), Some(Ok(table)), Some(number)) => format!("{letter}{table}_{number}N"),
        _ => line.to_string(),
    }
}

/// The label of a line, from the labels of those above it; a colon ends the label of a line that others add up to.
fn label_of(lines: &[TableLine], line: &TableLine) -> String {
    let mut parts = Vec::new();
    let mut at = Some(line);
    // A line is below another one of its table, so there are fewer steps than lines.
    while let Some(own) = at.filter(|_| parts.len() < lines.len()) {
        let colon = if lines.iter().any(|below| below.parent == own.name) { ":" } else { "" };
        parts.push(format!("{}{colon}", own.label));
        at = lines.iter().find(|above| above.name == own.parent);
    }
    parts.reverse();
    parts.join("!!")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn book(product: Product) -> CodeBook {
        CodeBook::of_product(product).unwrap()
    }

    /// The number of cells of a code, and whether two codes have a cell in common: selections are products of sets of values.
    fn size(book: &CodeBook, code: &Code) -> usize {
        let sizes = book.product.attributes().iter().map(|(_, size)| *size);
        let own = code.line.selected.iter().zip(sizes);
        own.map(|(own, size)| own.as_ref().map_or(size, |own| own.iter().filter(|own| **own).count())).product()
    }

    fn is_within(inner: &Code, outer: &Code) -> bool {
        let mut axes = inner.line.selected.iter().zip(&outer.line.selected);
        axes.all(|(inner, outer)| match (inner, outer) {
            (_, None) => true,
            (None, Some(outer)) => outer.iter().all(|own| *own),
            (Some(inner), Some(outer)) => inner.iter().zip(outer).all(|(inner, outer)| !inner || *outer),
        })
    }

    fn are_disjoint(a: &Code, b: &Code) -> bool {
        let mut axes = a.line.selected.iter().zip(&b.line.selected);
        axes.any(|axis| matches!(axis, (Some(a), Some(b)) if a.iter().zip(b).all(|(a, b)| !(*a && *b))))
    }

    /// Over the whole of all tables: the lines below a line lie within it, have no cell in common, and have as many cells together.
    #[test]
    fn the_lines_below_a_line_add_up_to_it() {
        let mut parents = 0;
        for book in Product::ALL.map(book) {
            let by_name: BTreeMap<&str, &Code> = book.codes.iter().map(|code| (code.name.as_str(), code)).collect();
            assert_eq!(by_name.len(), book.codes.len());
            let mut below: BTreeMap<&str, Vec<&Code>> = BTreeMap::new();
            for code in book.codes.iter().filter(|code| !code.parent.is_empty()) {
                assert_eq!(table_of(&code.name), table_of(&code.parent));
                below.entry(by_name[code.parent.as_str()].name.as_str()).or_default().push(code);
            }
            for (name, lines) in &below {
                parents += 1;
                assert!(lines.iter().all(|line| is_within(line, by_name[name])), "{name}");
                let pairs = lines.iter().enumerate().flat_map(|(at, a)| lines[..at].iter().map(move |b| (a, b)));
                pairs.for_each(|(a, b)| assert!(are_disjoint(a, b), "{} and {}", a.name, b.name));
                let sum: usize = lines.iter().map(|line| size(&book, line)).sum();
                assert_eq!(sum, size(&book, by_name[name]), "{name} is not the sum of its lines");
            }
        }
        // In P1 and P3: the total, one race, two or more races, and two to six races. P2 and P4 have one more, P5 three, H1 one.
        let of_pl94 = 2 * 8 + 2 * 9 + 3 + 1;
        // P3 and P4 one each, P5 three, P8 to P11 as P1 to P4 there, and three in P14 and in 16 tables like P12 and PCT12.
        let of_dhc = 1 + 1 + 3 + 2 * 8 + 2 * 9 + 3 + 3 * 16 * 2;
        assert_eq!(parents, of_pl94 + of_dhc);
    }

    /// The tables have the published numbers of lines, numbered without gaps, and their first lines are their universes.
    #[test]
    fn tables_are_complete() {
        let mut counts: BTreeMap<(&str, String), usize> = BTreeMap::new();
        for book in Product::ALL.map(book) {
            for code in &book.codes {
                let table = table_of(&code.name).to_string();
                let number = counts.entry((book.product.name(), table.clone())).or_default();
                *number += 1;
                assert_eq!(code.name, format!("{table}_{number:03}N"));
                assert_eq!(code.parent.is_empty(), *number == 1, "{}", code.name);
                assert!(book.tables.iter().any(|known| known.name == table), "{table}");
            }
        }
        let of = |product: Product, table: &str| counts.get(&(product.name(), table.to_string())).copied();
        let pl94 = [("P1", 71), ("P2", 73), ("P3", 71), ("P4", 73), ("P5", 10)];
        pl94.iter().for_each(|(table, count)| assert_eq!(of(Product::Persons, table), Some(*count), "{table}"));
        assert_eq!(of(Product::Units, "H1"), Some(3));
        let dhc = [("P1", 1), ("P3", 8), ("P4", 3), ("P5", 17), ("P8", 71), ("P9", 73), ("P10", 71), ("P11", 73)];
        let by_age = [("P12", 49), ("P12A", 49), ("P12O", 49), ("P14", 43), ("PCT12", 209), ("PCT12H", 209)];
        for (table, count) in dhc.iter().chain(&by_age) {
            assert_eq!(of(Product::DhcPersons, table), Some(*count), "{table}");
        }
        assert_eq!(counts.len(), 5 + 1 + 11 + 2 * 15);
        let persons = book(Product::Persons);
        let first: Vec<usize> =
            persons.codes.iter().filter(|c| c.parent.is_empty()).map(|c| size(&persons, c)).collect();
        assert_eq!(first, [2016, 2016, 1008, 1008, 7 * 252]);
    }

    /// The races of each label are those of its cells: sets of the six races, by size and then in order.
    #[test]
    fn labels_name_the_races_of_their_cells() {
        const RACES: [&str; 6] = [
            "White",
            "Black or African American",
            "American Indian and Alaska Native",
            "Asian",
            "Native Hawaiian and Other Pacific Islander",
            "Some Other Race",
        ];
        let mut sets: Vec<Vec<usize>> =
            (1..64_usize).map(|bits| (0..6).filter(|race| bits >> race & 1 == 1).collect()).collect();
        sets.sort_by_key(|set| (set.len(), set.clone()));
        let book = book(Product::Persons);
        let mut compared = 0;
        for code in &book.codes {
            let last = code.label.rsplit("!!").next().unwrap();
            let Some(races) = code.line.selected[3].as_ref().filter(|own| own.iter().filter(|own| **own).count() == 1)
            else {
                continue;
            };
            let set = &sets[races.iter().position(|own| *own).unwrap()];
            let names: Vec<&str> = set.iter().map(|race| RACES[*race]).collect();
            let alone = if set.len() == 1 { " alone" } else { "" };
            // Six races are a line of their own, below the line of its number of races.
            if !last.starts_with("Population of") {
                assert_eq!(last, names.join("; ") + alone, "{}", code.name);
                compared += 1;
            }
        }
        assert_eq!(compared, 4 * 63);
    }

    #[test]
    fn codes_have_the_labels_of_the_bureaus_api() {
        let persons = book(Product::Persons);
        let label = |name: &str| persons.codes.iter().find(|code| code.name == name).unwrap().label.clone();
        assert_eq!(label("P1_001N"), "Total:");
        assert_eq!(label("P1_003N"), "Total:!!Population of one race:!!White alone");
        let black = "Total:!!Not Hispanic or Latino:!!Population of one race:!!Black or African American alone";
        assert_eq!(label("P2_006N"), black);
        assert_eq!(label("P4_002N"), "Total:!!Hispanic or Latino");
        let nursing = "Total:!!Institutionalized population:!!Nursing facilities/Skilled-nursing facilities";
        assert_eq!(label("P5_005N"), nursing);
        let units = book(Product::Units);
        assert_eq!(units.codes[1].label, "Total:!!Occupied");
    }

    #[test]
    fn codes_are_chosen_and_refused_with_the_reason() {
        let persons = book(Product::Persons);
        let words = |names: &[&str]| names.iter().map(|name| (*name).to_string()).collect::<Vec<_>>();
        let chosen = persons.choose(&words(&["P5_003N", "P0010003", "P5"])).unwrap();
        assert_eq!(chosen.len(), 11);
        assert_eq!([&chosen[0].name, &chosen[1].name, &chosen[2].name], ["P5_003N", "P1_003N", "P5_001N"]);
        assert_eq!(persons.choose(&words(&["all"])).unwrap().len(), 298);
        let says = |book: &CodeBook, name: &str, words: &[&str]| {
            let why = book.choose(&[name.to_string()]).unwrap_err().to_string();
            words.iter().for_each(|word| assert!(why.contains(word), "{name}: {why}"));
        };
        says(&persons, "p1_003n", &["did you mean \"P1_003N\""]);
        says(&persons, "P1_003", &["did you mean", "P1_003N"]);
        says(&persons, "H1_002N", &["cannot be formed", "pl94-units-us"]);
        says(&persons, "P12_003N", &["cannot be formed", "dhc-persons-us"]);
        says(&persons, "PCT20", &["cannot be formed", "no such table"]);
        says(&persons, "B01001_001", &["American Community Survey"]);
        says(&persons, "POP100", &["P1_001N is the same count"]);
        says(&persons, "population", &["unknown variable"]);
        says(&book(Product::Units), "P1", &["pl94-persons-us"]);
        assert!(persons.choose(&[]).is_err());
    }

    /// Lines of the DHC, by the values that they select.
    #[test]
    fn codes_of_the_dhc_select_sexes_ages_and_races() {
        let schema = crate::release::Release::find("dhc-persons-us").unwrap().schema.unwrap();
        let book = CodeBook::of(&schema).unwrap();
        assert_eq!(book.product, Product::DhcPersons);
        let of = |name: &str| {
            let code = book.choose(&[name.to_string()]).unwrap().remove(0);
            let values = |own: &Option<Vec<bool>>| {
                own.as_ref().map(|own| (0..own.len()).filter(|value| own[*value]).collect::<Vec<usize>>())
            };
            (code.label, code.line.selected.iter().map(values).collect::<Vec<_>>())
        };
        let girls = |hispanic, race| vec![None, Some(vec![1]), Some((0..5).collect()), hispanic, race];
        assert_eq!(of("P12_027N"), ("Total:!!Female:!!Under 5 years".to_string(), girls(None, None)));
        assert_eq!(of("P12H_027N").1, girls(Some(vec![1]), None));
        assert_eq!(of("P12O_027N").1, girls(Some(vec![0]), Some((6..63).collect())));
        assert_eq!(of("P12_025N").1[2], Some((85..116).collect()));
        assert_eq!(of("P12_017N").0, "Total:!!Male:!!55 to 59 years");
        assert_eq!(of("PCT12_105N").1[1..3], [Some(vec![0]), Some((110..116).collect())]);
        assert_eq!(of("PCT12D_003N").1[2..5], [Some(vec![0]), None, Some(vec![3])]);
        assert_eq!(of("P14_022N").0, "Total:!!Male:!!19 years");
        assert_eq!(of("P10_001N").1[2], Some((18..116).collect()));
        let why = book.choose(&["P13_001N".to_string()]).unwrap_err().to_string();
        assert!(why.contains("median"), "{why}");
    }

    #[test]
    fn other_histograms_have_no_codes() {
        let schema = crate::release::Release::find("dhc-units-us").unwrap().schema.unwrap();
        let why = CodeBook::of(&schema).unwrap_err().to_string();
        assert!(why.contains("hhtype_dhch") && why.contains("hhgq (8), votingage (2)"), "{why}");
    }
}
