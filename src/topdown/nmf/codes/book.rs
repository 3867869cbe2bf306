//! The codes of a product: chosen by code or table, with labels, or refused with the reason.

use std::collections::HashSet;

use super::definitions::{labels_of, products_of, read, table_of};
pub use super::{
    definitions::{CodeTable, code_of},
    not_formed::{NotFormed, not_formed},
    product::Product,
};
use crate::{
    error::{Error, Result, unknown},
    release::schema::{Attribute, Schema},
    topdown::nmf::{answers::TableLine, names::two_histograms},
};

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
    /// The code of the line above it, to which it adds up with the other lines below it, or of which it is a part if it is the only
    /// one; empty for the first line of a table.
    pub parent: String,
    /// Its label: `Total:!!Population of one race:!!White alone`.
    pub label: String,
    /// The sum over cells.
    pub line: TableLine,
}

/// The codes over the histograms of a release.
#[derive(Clone, Debug)]
pub struct CodeBooks {
    /// Those of the first or only histogram.
    pub first: CodeBook,
    /// Those of the second histogram.
    pub beside: Option<CodeBook>,
}

impl CodeBooks {
    /// The codes over the histograms of a release.
    pub fn of_schema(schema: &Schema) -> Result<CodeBooks> {
        let beside = schema.beside.as_ref().map(|beside| CodeBook::of_schema(&beside.schema)).transpose()?;
        Ok(CodeBooks { first: CodeBook::of_schema(schema)?, beside })
    }

    /// The codes that are requested, and whether they are of the second histogram. A request for codes of both is refused; "all" are
    /// those of the first, as with queries.
    pub fn choose(&self, asked: &[String]) -> Result<(Vec<Code>, bool)> {
        let is_second = |name: &&String| self.beside.as_ref().is_some_and(|beside| beside.has_table_of(name));
        let (second, others): (Vec<&String>, Vec<&String>) = asked.iter().partition(is_second);
        match (&second[..], &others[..], &self.beside) {
            ([_, ..], [], Some(beside)) => Ok((beside.choose(asked)?, true)),
            ([second, ..], [other, ..], _) => Err(two_histograms("variables", second, other)),
            _ => Ok((self.first.choose(asked)?, false)),
        }
    }
}

impl CodeBook {
    /// The codes over the histogram of a release, the first one if it has two.
    pub fn of_schema(schema: &Schema) -> Result<CodeBook> {
        let own: Vec<(&str, usize)> =
            schema.attributes.iter().map(|own| (own.name.as_str(), own.values.len())).collect();
        let product = Product::ALL.into_iter().find(|product| own == product.attributes()).ok_or_else(|| {
            let named = |attributes: &[(&str, usize)]| {
                attributes.iter().map(|(name, size)| format!("{name} ({size})")).collect::<Vec<_>>().join(", ")
            };
            let known: Vec<String> = Product::ALL.iter().map(|product| named(product.attributes())).collect();
            let why = format!(
                "its attributes are {}, and census codes are defined over those of P.L. 94-171 and of the DHC: {}",
                named(&own),
                known.join("; or ")
            );
            Error::unsuitable(why)
        })?;
        let (tables, lines) = read(product, schema)?;
        let code = |(line, label): (TableLine, String)| {
            let (name, parent) = (code_of(&line.name), code_of(&line.parent));
            Code { name, parent, label, line }
        };
        let labels = labels_of(&lines);
        Ok(CodeBook { product, tables, codes: lines.into_iter().zip(labels).map(code).collect() })
    }

    /// The codes of a bundled product.
    pub fn of_product(product: Product) -> Result<CodeBook> {
        let attribute = |(name, size): &(&str, usize)| Attribute {
            name: (*name).to_string(),
            values: (0..*size).map(|value| value.to_string()).collect(),
        };
        let attributes = product.attributes().iter().map(attribute).collect();
        CodeBook::of_schema(&Schema { attributes, ..Schema::default() })
    }

    /// The codes that are requested, in the order of the request, each once: codes, tables, or all.
    pub fn choose(&self, asked: &[String]) -> Result<Vec<Code>> {
        let mut chosen: Vec<Code> = Vec::new();
        let mut known: HashSet<&str> = HashSet::new();
        for name in asked {
            let own = self.named(name)?.into_iter().filter(|code| known.insert(&code.name));
            chosen.extend(own.cloned());
        }
        match chosen.is_empty() {
            true => Err(Error::missing("no variable is named: a code such as P1_003N, a table such as P1, or all")),
            false => Ok(chosen),
        }
    }

    fn has_table_of(&self, name: &str) -> bool {
        self.tables.iter().any(|table| table_of(name).eq_ignore_ascii_case(&table.name))
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
        if let Some(why) = self.why_not(name)? {
            return Err(Error::unsuitable(format!("the variable {name:?} cannot be formed: {why}")));
        }
        let tables = self.tables.iter().map(|table| table.name.as_str());
        let known = tables.chain(self.codes.iter().map(|code| code.name.as_str()));
        Err(Error::conflict(unknown("variable", name, "there are", known)))
    }

    /// The reason why a code or table cannot be formed from this product, if there is one.
    fn why_not(&self, name: &str) -> Result<Option<String>> {
        let not = not_formed()?;
        if self.has_table_of(name) {
            return Ok(not.into_iter().find(|not| not.names(name, self.product)).map(|not| not.why));
        }
        if let Some(own) = not.iter().find(|not| not.is_about(name, self.product)) {
            return Ok(Some(own.why.clone()));
        }
        let table = table_of(name);
        let homes: Vec<String> = products_of(table)?
            .into_iter()
            .map(|product| format!("{}: take {}", product.subject(), product.home()))
            .collect();
        match homes.is_empty() {
            true => Ok(not.into_iter().find(|not| not.holds(name, self.product)).map(|not| not.why)),
            false => Ok(Some(format!("{table} is a table of {}", homes.join("; or of ")))),
        }
    }
}
