//! The definitions of census codes, from `data/tables`: lines, titles, and the populations for which tables are repeated.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::product::Product;
use crate::{
    error::Result,
    release::schema::Schema,
    spine::csv_table::CsvTable,
    topdown::nmf::answers::{NamedSets, TableLine, read_lines_with, selected_values},
};

/// The populations for which tables of the DHC are repeated.
const ITERATIONS: &str = include_str!("../../../../data/tables/dhc-iterations.csv");
/// The titles of the tables.
const TABLES: &str = include_str!("../../../../data/tables/tables.csv");
/// The sets of types of household.
const HOUSEHOLD_TYPES: &str = include_str!("../../../../data/tables/household-types.csv");
/// The attribute of these types.
const HOUSEHOLD_TYPE: &str = "hhtype_dhch";

/// A table of codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeTable {
    /// Its name, such as P1.
    pub name: String,
    /// Its title.
    pub title: String,
    /// The name that the repetitions of a table have without their letters, if it is one of them.
    pub repeats: Option<String>,
}

/// The tables of a product, and their lines.
pub(super) fn read(product: Product, schema: &Schema) -> Result<(Vec<CodeTable>, Vec<TableLine>)> {
    let (text, file) = product.definitions();
    let mut lines = read_lines_with(text, file, schema, &household_types()?)?;
    let listed = listed()?;
    let own: Vec<&Listed> = listed.iter().filter(|table| table.product == product.name()).collect();
    let plain = |table: &&Listed| CodeTable { name: table.name.clone(), title: table.title.clone(), repeats: None };
    let mut tables: Vec<CodeTable> = own.iter().map(plain).collect();
    let populations = populations(schema)?;
    for (table, (repeated, last)) in own.iter().filter_map(|table| Some((*table, table.repeated.as_ref()?))) {
        let base: Vec<TableLine> = lines.iter().filter(|line| table_of(&line.name) == table.name).cloned().collect();
        for population in up_to(&populations, last) {
            let title = format!("{} ({})", table.title, population.described(product));
            let name = format!("{repeated}{}", population.letter);
            lines.extend(base.iter().map(|line| population.line(line, &table.name, &name, product)));
            tables.push(CodeTable { name, title, repeats: Some(repeated.clone()) });
        }
    }
    Ok((tables, lines))
}

/// The products that have a table.
pub(super) fn products_of(table: &str) -> Result<Vec<Product>> {
    let listed = listed()?;
    let letters = letters()?;
    let has = |own: &Listed| {
        let repeats = |(repeated, last): &(String, String)| {
            let Some(letter) = table.strip_prefix(repeated.as_str()) else { return false };
            let place = |letter: &str| letters.iter().position(|own| own == letter);
            place(letter).is_some_and(|at| place(last).is_some_and(|last| at <= last))
        };
        own.name == table || own.repeated.as_ref().is_some_and(repeats)
    };
    let found = |product: &Product| listed.iter().any(|own| own.product == product.name() && has(own));
    Ok(Product::ALL.into_iter().filter(found).collect())
}

/// A line of the file of titles.
struct Listed {
    name: String,
    product: String,
    title: String,
    /// The name of its repetitions without their letters, and the last letter.
    repeated: Option<(String, String)>,
}

fn listed() -> Result<Vec<Listed>> {
    let mut table = CsvTable::of_text(TABLES, "data/tables/tables.csv")?;
    let mut found = Vec::new();
    while table.next()? {
        let text = |at: usize| table.text(at).map(String::from);
        let (repeated, last) = (text(3)?, text(4)?);
        let repeated = (!last.is_empty()).then_some((repeated, last));
        found.push(Listed { name: text(0)?, product: text(1)?, title: text(2)?, repeated });
    }
    Ok(found)
}

/// The letters of all populations, in order.
fn letters() -> Result<Vec<String>> {
    Ok(populations(&Schema::default())?.into_iter().map(|population| population.letter).collect())
}

/// The sets of types of household by name.
pub(super) fn household_types() -> Result<NamedSets> {
    let mut table = CsvTable::of_text(HOUSEHOLD_TYPES, "data/tables/household-types.csv")?;
    let size = Product::DhcHouseholds.attributes().last().map_or(0, |(_, size)| *size);
    let mut sets = BTreeMap::new();
    while table.next()? {
        let values = selected_values(table.text(1)?, size).ok().flatten();
        let values = values.ok_or_else(|| table.refuse(2, &format!("expected numbers of types below {size}")))?;
        sets.insert(table.text(0)?.to_string(), values);
    }
    Ok(NamedSets { attribute: HOUSEHOLD_TYPE.to_string(), sets })
}

/// A population for which tables are repeated.
struct Population {
    letter: String,
    name: String,
    /// As in the lines of a table.
    selected: Vec<Option<Vec<bool>>>,
}

impl Population {
    /// Its name for the tables of a product.
    fn described(&self, product: Product) -> String {
        match product {
            Product::DhcHouseholds => format!("{} householder", self.name),
            _ => self.name.clone(),
        }
    }

    /// A line of a table for this population.
    fn line(&self, line: &TableLine, table: &str, repetition: &str, product: Product) -> TableLine {
        let name = |code: &str| code.replacen(table, repetition, 1);
        TableLine {
            name: name(&line.name),
            parent: name(&line.parent),
            label: line.label.clone(),
            description: format!("{} ({})", line.description, self.described(product)),
            // The tables that are repeated select no races and no origin themselves.
            selected: line
                .selected
                .iter()
                .zip(&self.selected)
                .map(|(own, more)| own.clone().or(more.clone()))
                .collect(),
        }
    }
}

/// The populations, A to AH. The columns after the name hold values of attributes; those of other histograms are ignored.
fn populations(schema: &Schema) -> Result<Vec<Population>> {
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
        found.push(Population { letter: table.text(0)?.to_string(), name: table.text(1)?.to_string(), selected });
    }
    Ok(found)
}

/// The populations up to one of this letter.
fn up_to<'p>(populations: &'p [Population], last: &str) -> &'p [Population] {
    let end = populations.iter().position(|own| own.letter == last).map_or(0, |at| at + 1);
    &populations[..end]
}

/// The table of a code: P1 of P1_003N, and of P0010003.
pub(super) fn table_of(code: &str) -> &str {
    code.split('_').next().unwrap_or_default()
}

/// The code of a line: P1_003N of P0010003. Other text stays as it is.
pub fn code_of(line: &str) -> String {
    let parts = (line.get(..1), line.get(1..4).map(str::parse::<u32>), line.get(5..));
    match parts {
        (Some(letter), Some(Ok(table)), Some(number)) => format!("{letter}{table}_{number}N"),
        _ => line.to_string(),
    }
}

/// The labels of lines, each from the labels of those above it; a colon ends the label of a line that has others below it.
pub(super) fn labels_of(lines: &[TableLine]) -> Vec<String> {
    let above: HashSet<&str> = lines.iter().map(|line| line.parent.as_str()).collect();
    let by_name: HashMap<&str, &TableLine> = lines.iter().map(|line| (line.name.as_str(), line)).collect();
    let label = |line: &TableLine| {
        let mut parts = Vec::new();
        let mut at = Some(line);
        // A line is below another one of its table, so there are fewer steps than lines.
        while let Some(own) = at.filter(|_| parts.len() < lines.len()) {
            let colon = if above.contains(own.name.as_str()) { ":" } else { "" };
            parts.push(format!("{}{colon}", own.label));
            at = by_name.get(own.parent.as_str()).copied();
        }
        parts.reverse();
        parts.join("!!")
    };
    lines.iter().map(label).collect()
}
