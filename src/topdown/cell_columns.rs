//! The attribute columns of a file of true counts, which give the cell of each line.

use std::collections::HashMap;

use crate::{
    error::Result,
    release::schema::{Attribute, Schema},
    spine::csv_table::CsvTable,
};

/// A column for each attribute. With two histograms a line gives the attributes of one of them and leaves those of the
/// other empty.
pub(super) struct CellColumns<'s> {
    first: Vec<Column<'s>>,
    beside: Vec<Column<'s>>,
    schema: &'s Schema,
}

struct Column<'s> {
    at: usize,
    attribute: &'s Attribute,
    values: HashMap<&'s [u8], u32>,
}

impl<'s> CellColumns<'s> {
    /// Finds the columns; a file about one of two histograms may lack the columns of the other.
    pub(super) fn new(table: &CsvTable, schema: &'s Schema) -> Result<CellColumns<'s>> {
        let column = |attribute: &'s Attribute| {
            let at = table.column(&[&attribute.name])?;
            let values = attribute.values.iter().zip(0..).map(|(name, value)| (name.as_bytes(), value)).collect();
            Ok(Column { at, attribute, values })
        };
        let columns = |schema: &'s Schema| schema.attributes.iter().map(column).collect::<Result<Vec<_>>>();
        let is_there = |schema: &Schema| schema.attributes.iter().any(|own| table.find(&[&own.name]).is_some());
        let beside = schema.beside.as_deref().map(|beside| &beside.schema).filter(|beside| is_there(beside));
        let with_first = beside.is_none() || is_there(schema);
        Ok(CellColumns {
            first: if with_first { columns(schema)? } else { Vec::new() },
            beside: beside.map(columns).transpose()?.unwrap_or_default(),
            schema,
        })
    }

    /// The cell of a line; cells of the second histogram are numbered after those of the first.
    pub(super) fn cell(&self, table: &CsvTable) -> Result<u32> {
        let names = |columns: &[Column]| columns.iter().any(|column| !table.cell(column.at).is_empty());
        let Some(beside) = self.schema.beside.as_deref().filter(|_| names(&self.beside)) else {
            return cell(table, &self.first, self.schema);
        };
        if names(&self.first) {
            let why = format!(
                "a line is about one histogram: of {:?}, or of the others, and leaves the other's attributes empty",
                beside.name
            );
            return Err(table.refuse(self.beside[0].at + 1, &why));
        }
        Ok(self.schema.cells() as u32 + cell(table, &self.beside, &beside.schema)?)
    }
}

fn cell(table: &CsvTable, columns: &[Column], schema: &Schema) -> Result<u32> {
    let value = |column: &Column| {
        column.values.get(table.cell(column.at)).copied().ok_or_else(|| {
            let attribute = column.attribute;
            let (first, last) = (&attribute.values[0], &attribute.values[attribute.values.len() - 1]);
            let why = format!(
                "{} is no value of {:?}, which has {first:?} to {last:?}",
                table.quoted(column.at),
                attribute.name
            );
            table.refuse(column.at + 1, &why)
        })
    };
    if columns.is_empty() && !schema.attributes.is_empty() {
        return Err(table.refuse(0, "a line without any attribute: expected a value of each of one histogram"));
    }
    Ok(schema.cell(columns.iter().map(value).collect::<Result<Vec<u32>>>()?.into_iter()))
}
