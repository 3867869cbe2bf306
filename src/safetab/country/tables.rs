//! The tables of a group: partitions of attributes, as sums of the finest cells.

use std::collections::HashMap;

use super::{
    attributes::{self, Attribute},
    file::{ByForm, TableForm},
    names,
};
use crate::{error::Result, io::toml_reader::TomlReader, safetab::cell_noise::MOST_COPIES};

/// The largest number of finest cells.
const MOST_FINEST: usize = 1 << 16;

/// All tables of a specification.
#[derive(Clone, Debug)]
pub(in crate::safetab) struct TableSet {
    /// The attributes of all tables, in the order in which tables name them.
    pub(super) by: Vec<usize>,
    /// For each of these attributes the finest bin of each value, and the number of bins.
    finest: Vec<(Vec<u32>, usize)>,
    /// The tables, in the order of the file.
    pub(in crate::safetab) tables: Vec<Table>,
}

/// A table.
#[derive(Clone, Debug)]
pub(in crate::safetab) struct Table {
    pub(in crate::safetab) name: String,
    /// Whether it is one total.
    pub(super) is_total: bool,
    /// The text of each cell, by attribute of [`TableSet::by`]; `*` for attributes that the table sums over.
    pub(super) labels: Vec<Vec<String>>,
    /// The first and the last number of each cell, by attribute of [`TableSet::by`]; `None` for codes and for attributes that the table sums
    /// over.
    pub(super) ends: Vec<Vec<Option<(u32, u32)>>>,
    /// The attributes that it is by, in its order.
    pub(super) attributes: Vec<usize>,
    /// The cell of each finest cell.
    of_finest: Vec<u32>,
}

/// A partition of the values of an attribute: the part of each value, and the names of the parts.
struct Partition {
    attribute: usize,
    part: Vec<u32>,
    names: Vec<String>,
    /// The first and the last number of each part; empty for codes.
    ends: Vec<(u32, u32)>,
}

impl TableSet {
    pub(super) fn new(reader: &TomlReader, forms: &[TableForm], attributes: &[Attribute]) -> Result<TableSet> {
        if forms.is_empty() {
            return Err(reader.refuse_file("no [[table]]: give at least one, from the coarsest to the finest"));
        }
        reader.no_duplicates(forms.iter().map(|form| &form.name), "table")?;
        let partitions: Vec<Vec<Partition>> =
            forms.iter().map(|form| partitions(reader, form, attributes)).collect::<Result<_>>()?;
        let mut by: Vec<usize> = Vec::new();
        for partition in partitions.iter().flatten() {
            if !by.contains(&partition.attribute) {
                by.push(partition.attribute);
            }
        }
        let finest: Vec<(Vec<u32>, usize)> = by
            .iter()
            .map(|&attribute| {
                let own: Vec<&Partition> =
                    partitions.iter().flatten().filter(|own| own.attribute == attribute).collect();
                refined(&own, attributes[attribute].count())
            })
            .collect();
        let count = finest.iter().try_fold(1_usize, |all, (_, bins)| all.checked_mul(*bins));
        let Some(count) = count.filter(|count| *count <= MOST_FINEST) else {
            return Err(reader.refuse_file(format!("the tables together have more than {MOST_FINEST} finest cells")));
        };
        let tables = forms.iter().zip(&partitions);
        let tables = tables.map(|(form, own)| {
            let name = names::name(reader, &form.name, "table")?;
            let cells: usize = own.iter().map(|partition| partition.names.len()).product();
            if cells > MOST_COPIES as usize {
                let why = format!("the table {name:?} has {cells} cells, and at most {MOST_COPIES} are allowed");
                return Err(reader.refuse(form.name.span().start, why));
            }
            Ok(Table {
                is_total: cells == 1,
                labels: of_cells(own, &by, cells, "*".to_string(), |own, part| own.names[part].clone()),
                ends: of_cells(own, &by, cells, None, |own, part| own.ends.get(part).copied()),
                attributes: own.iter().map(|partition| partition.attribute).collect(),
                of_finest: (0..count).map(|cell| cell_of(cell, own, &by, &finest)).collect(),
                name,
            })
        });
        let tables = tables.collect::<Result<_>>()?;
        Ok(TableSet { tables, by, finest })
    }

    /// The number of finest cells.
    pub(in crate::safetab) fn cells(&self) -> usize {
        self.finest.iter().map(|(_, bins)| bins).product()
    }

    /// The finest cell of a record, by the values of the attributes of [`TableSet::by`].
    pub(super) fn cell(&self, values: impl Iterator<Item = u32>) -> u32 {
        let bins = self.finest.iter().zip(values);
        bins.fold(0, |cell, ((finest, bins), value)| cell * *bins as u32 + finest[value as usize])
    }

    /// Appends the counts of a table.
    pub(in crate::safetab) fn sums(&self, table: usize, cells: &[i64], out: &mut Vec<i64>) {
        let table = &self.tables[table];
        let begin = out.len();
        out.resize(begin + table.labels.len(), 0);
        for (count, cell) in cells.iter().zip(&table.of_finest) {
            out[begin + *cell as usize] += count;
        }
    }
}

/// The partitions of a table.
fn partitions(reader: &TomlReader, form: &TableForm, attributes: &[Attribute]) -> Result<Vec<Partition>> {
    reader.no_duplicates(form.by.iter().map(|by| &by.attribute), "attribute of the table")?;
    form.by.iter().map(|by| partition(reader, by, attributes)).collect()
}

fn partition(reader: &TomlReader, by: &ByForm, attributes: &[Attribute]) -> Result<Partition> {
    let (name, at) = (by.attribute.get_ref(), by.attribute.span().start);
    let attribute = attributes::find(reader, attributes, name, at)?;
    let of = &attributes[attribute];
    if of.columns.len() > 1 {
        let why = format!(
            "a person may have several values of {name:?}, and a table counts each person in one cell: count them by a [[grouping]]"
        );
        return Err(reader.refuse(at, why));
    }
    let mut ends = Vec::new();
    let (part, names) = match (&by.from, &by.cells, of.range()) {
        (Some(from), None, Some((least, most))) => {
            let starts = attributes::ascending(reader, from, "the first number of a cell")?;
            let starts: Vec<u32> = starts.into_iter().map(|start| u32::try_from(start).unwrap_or(u32::MAX)).collect();
            let rising = starts.windows(2).all(|pair| pair[0] < pair[1]);
            if starts.first() != Some(&least) || starts.last().is_some_and(|last| *last > most) || !rising {
                let why = format!(
                    "from must begin with {least}, ascend, and end at {most} or before: every number is in one cell"
                );
                return Err(reader.refuse(from.span().start, why));
            }
            let part = (least..=most).map(|value| starts.partition_point(|start| *start <= value) as u32 - 1).collect();
            let end = |at: usize| starts.get(at + 1).map_or(most, |next| next - 1);
            ends = (0..starts.len()).map(|at| (starts[at], end(at))).collect();
            let name = |(first, last): &(u32, u32)| match first == last {
                true => last.to_string(),
                false => format!("{first}-{last}"),
            };
            (part, ends.iter().map(name).collect())
        }
        (None, Some(cells), None) => parts_of_codes(reader, of, cells.get_ref(), cells.span().start)?,
        (None, None, None) => ((0..of.count() as u32).collect(), of.codes().unwrap_or_default().to_vec()),
        (None, None, Some(_)) => {
            return Err(reader.refuse(
                at,
                format!("{name:?} is a number: give the first number of each cell, as from = [0, 18, 65]"),
            ));
        }
        _ => {
            return Err(reader
                .refuse(at, format!("{name:?}: from is for numbers, cells is for codes, and one of them is enough")));
        }
    };
    Ok(Partition { attribute, part, names, ends })
}

/// Lists of codes, each code in one of them.
fn parts_of_codes(
    reader: &TomlReader,
    of: &Attribute,
    cells: &[Vec<toml::Spanned<String>>],
    at: usize,
) -> Result<(Vec<u32>, Vec<String>)> {
    let mut part: Vec<Option<u32>> = vec![None; of.count()];
    for (number, cell) in (0..).zip(cells) {
        if cell.is_empty() {
            return Err(reader.refuse(at, "a cell without codes: leave it out"));
        }
        for code in cell {
            let value = attributes::value_of(reader, of, code)?;
            if part[value as usize].replace(number).is_some() {
                let why = format!("the code {:?} is in two cells: a person is counted in one", code.get_ref());
                return Err(reader.refuse(code.span().start, why));
            }
        }
    }
    if let Some(missing) = part.iter().position(Option::is_none) {
        let why =
            format!("the code {:?} of {} is in no cell: every person is counted", of.text(missing as u32), of.name);
        return Err(reader.refuse(at, why));
    }
    let names = cells.iter().map(|cell| cell.iter().map(|code| code.get_ref().as_str()).collect::<Vec<_>>().join("+"));
    Ok((part.into_iter().flatten().collect(), names.collect()))
}

/// The common refinement of partitions of an attribute.
fn refined(partitions: &[&Partition], values: usize) -> (Vec<u32>, usize) {
    let mut known: HashMap<Vec<u32>, u32> = HashMap::new();
    let bins = (0..values).map(|value| {
        let parts: Vec<u32> = partitions.iter().map(|own| own.part[value]).collect();
        let next = known.len() as u32;
        *known.entry(parts).or_insert(next)
    });
    let bins: Vec<u32> = bins.collect();
    (bins, known.len())
}

/// A value of each cell of a table by attribute, the last attribute of the table running fastest: `none` for attributes that the table sums
/// over, else that of the part.
fn of_cells<T: Clone>(
    own: &[Partition],
    by: &[usize],
    cells: usize,
    none: T,
    of_part: impl Fn(&Partition, usize) -> T,
) -> Vec<Vec<T>> {
    (0..cells)
        .map(|cell| {
            let mut values = vec![none.clone(); by.len()];
            let mut rest = cell;
            for partition in own.iter().rev() {
                let place = by.iter().position(|attribute| *attribute == partition.attribute);
                if let Some(place) = place {
                    values[place] = of_part(partition, rest % partition.names.len());
                }
                rest /= partition.names.len();
            }
            values
        })
        .collect()
}

/// The cell of a table that contains a finest cell.
fn cell_of(finest_cell: usize, own: &[Partition], by: &[usize], finest: &[(Vec<u32>, usize)]) -> u32 {
    let mut rest = finest_cell;
    let mut bins = vec![0_u32; by.len()];
    for (bin, (_, count)) in bins.iter_mut().zip(finest).rev() {
        *bin = (rest % count) as u32;
        rest /= count;
    }
    own.iter().fold(0, |cell, partition| {
        let place = by.iter().position(|attribute| *attribute == partition.attribute).unwrap_or_default();
        // All values of a finest bin are in the same part.
        let value = finest[place].0.iter().position(|bin| *bin == bins[place]).unwrap_or_default();
        cell * partition.names.len() as u32 + partition.part[value]
    })
}
