//! The census codes that cannot be formed from the noisy counts of a product, with the reasons.

use super::{definitions::table_of, product::Product};
use crate::{error::Result, spine::csv_table::CsvTable};

/// The codes that cannot be formed, with the reasons.
const NOT_FORMED: &str = include_str!("../../../../data/tables/not-formed.csv");

/// Codes that cannot be formed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotFormed {
    /// Codes, tables, or all tables that begin so, as `PCT*`.
    pub codes: Vec<String>,
    /// The product, or the beginning of the names of products, as `dhc`, from which they cannot be formed; `None` for every product.
    pub product: Option<String>,
    /// The reason.
    pub why: String,
}

impl NotFormed {
    /// Whether it is about a code or table, for a product.
    pub(super) fn holds(&self, code: &str, product: Product) -> bool {
        let table = table_of(code);
        let is_own = |own: &String| match own.strip_suffix('*') {
            // The letters of a table, followed by its number.
            Some(start) => table.strip_prefix(start).is_some_and(|rest| rest.starts_with(|d: char| d.is_ascii_digit())),
            None => own == table || own == code,
        };
        self.is_of(product) && self.codes.iter().any(is_own)
    }

    /// Whether it names this code itself, for a product.
    pub(super) fn names(&self, code: &str, product: Product) -> bool {
        self.is_of(product) && code != table_of(code) && self.codes.iter().any(|own| own == code)
    }

    /// Whether it is about a code or table that it names, for a product, not about all that begin alike.
    pub fn is_about(&self, code: &str, product: Product) -> bool {
        !self.codes.iter().any(|own| own.ends_with('*')) && self.holds(code, product)
    }

    fn is_of(&self, product: Product) -> bool {
        self.product.as_ref().is_none_or(|own| product.name().starts_with(own.as_str()))
    }
}

/// The codes that cannot be formed; the first that holds decides.
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
