//! The codes of a product of P.L. 94-171: definitions, labels, and what cannot be formed from its noisy counts.

use crate::{
    error::{Error, Result, unknown},
    release::schema::Schema,
    spine::csv_table::CsvTable,
    topdown::nmf::answers::{TableLine, read_lines},
};

/// The definitions of persons' tables.
const PERSONS: &str = include_str!("../../../../data/tables/pl94-persons.csv");
/// The definitions of housing units' tables.
const UNITS: &str = include_str!("../../../../data/tables/pl94-units.csv");
/// The titles of the tables.
const TABLES: &str = include_str!("../../../../data/tables/tables.csv");
/// The tables that cannot be formed, with the reasons.
const NOT_FORMED: &str = include_str!("../../../../data/tables/not-formed.csv");

/// A product, by the histogram of its noisy counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    /// The tables P1 to P5.
    Persons,
    /// The table H1.
    Units,
}

impl Product {
    /// All products.
    pub const ALL: [Product; 2] = [Product::Persons, Product::Units];

    /// Its name in the data files.
    pub fn name(self) -> &'static str {
        match self {
            Product::Persons => "persons",
            Product::Units => "units",
        }
    }

    /// The names and sizes of its attributes.
    fn attributes(self) -> &'static [(&'static str, usize)] {
        match self {
            Product::Persons => &[("hhgq", 8), ("votingage", 2), ("hispanic", 2), ("cenrace", 63)],
            Product::Units => &[("h1", 2)],
        }
    }

    fn definitions(self) -> (&'static str, &'static str) {
        match self {
            Product::Persons => (PERSONS, "data/tables/pl94-persons.csv"),
            Product::Units => (UNITS, "data/tables/pl94-units.csv"),
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
                "its attributes are {}, and census codes are defined over those of P.L. 94-171: {}",
                named(&own),
                known.join("; or ")
            );
            Error::unsuitable(why)
        })?;
        let (text, file) = product.definitions();
        let lines = read_lines(text, file, schema)?;
        let tables = tables_of(product)?;
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
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    fn book(product: Product) -> CodeBook {
        CodeBook::of_product(product).unwrap()
    }

    /// The cells of a code, by number.
    fn cells(book: &CodeBook, code: &Code) -> BTreeSet<usize> {
        let sizes: Vec<usize> = book.product.attributes().iter().map(|(_, size)| *size).collect();
        let value = |cell: usize, axis: usize| cell / sizes[axis + 1..].iter().product::<usize>() % sizes[axis];
        let inside = |cell: &usize| {
            let mut axes = code.line.selected.iter().enumerate();
            axes.all(|(axis, own)| own.as_ref().is_none_or(|own| own[value(*cell, axis)]))
        };
        (0..sizes.iter().product()).filter(inside).collect()
    }

    /// Over the whole of all tables: the lines below a line have no cell in common, and add up to it.
    #[test]
    fn the_lines_below_a_line_add_up_to_it() {
        let mut parents = 0;
        for book in Product::ALL.map(book) {
            let sets: BTreeMap<&str, BTreeSet<usize>> =
                book.codes.iter().map(|code| (code.name.as_str(), cells(&book, code))).collect();
            for code in &book.codes {
                let below: Vec<&Code> = book.codes.iter().filter(|below| below.parent == code.name).collect();
                if below.is_empty() {
                    continue;
                }
                parents += 1;
                let mut sum: Vec<usize> = below.iter().flat_map(|below| sets[below.name.as_str()].clone()).collect();
                sum.sort_unstable();
                assert!(sum.iter().eq(&sets[code.name.as_str()]), "{} is not the sum of its lines", code.name);
            }
            for code in book.codes.iter().filter(|code| !code.parent.is_empty()) {
                assert_eq!(table_of(&code.name), table_of(&code.parent));
                assert!(sets.contains_key(code.parent.as_str()), "{} has no {}", code.name, code.parent);
            }
        }
        // In P1 and P3: the total, one race, two or more races, and two to six races. P2 and P4 have one more, P5 three, H1 one.
        assert_eq!(parents, 2 * 8 + 2 * 9 + 3 + 1);
    }

    /// The tables have the published numbers of lines, numbered without gaps, and their first lines are their universes.
    #[test]
    fn tables_are_complete() {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for book in Product::ALL.map(book) {
            for code in &book.codes {
                let table = table_of(&code.name).to_string();
                let number = counts.entry(table.clone()).or_default();
                *number += 1;
                assert_eq!(code.name, format!("{table}_{number:03}N"));
                assert_eq!(code.parent.is_empty(), *number == 1, "{}", code.name);
                assert!(book.tables.iter().any(|known| known.name == table), "{table}");
            }
        }
        let all = [("H1", 3), ("P1", 71), ("P2", 73), ("P3", 71), ("P4", 73), ("P5", 10)];
        assert!(counts.iter().map(|(name, count)| (name.as_str(), *count)).eq(all), "{counts:?}");
        let persons = book(Product::Persons);
        let first: Vec<usize> =
            persons.codes.iter().filter(|c| c.parent.is_empty()).map(|c| cells(&persons, c).len()).collect();
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
        says(&persons, "P12_003N", &["cannot be formed", "no such table"]);
        says(&persons, "PCT12", &["cannot be formed"]);
        says(&persons, "B01001_001", &["American Community Survey"]);
        says(&persons, "POP100", &["P1_001N is the same count"]);
        says(&persons, "population", &["unknown variable"]);
        says(&book(Product::Units), "P1", &["pl94-persons-us"]);
        assert!(persons.choose(&[]).is_err());
    }

    #[test]
    fn other_histograms_have_no_codes() {
        let schema = crate::release::Release::find("dhc-persons-us").unwrap().schema.unwrap();
        let why = CodeBook::of(&schema).unwrap_err().to_string();
        assert!(why.contains("relgq") && why.contains("hhgq (8), votingage (2)"), "{why}");
    }
}
