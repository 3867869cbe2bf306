//! The requested counts, of units or areas, and the answers.

use std::collections::BTreeMap;

pub use super::areas::Areas;
use super::{labels::Labels, names::parts_of};
use crate::{
    error::Result,
    release::schema::Schema,
    spine::csv_table::CsvTable,
    topdown::gls::{basis::Part, belief::Belief, classes::CountClass, problem::Problem, query::SectorQuery},
};

/// The standard normal quantile of 97.5 %: a margin is this number of standard deviations to either side.
pub const QUANTILE: f64 = crate::noise::NORMAL_975;

/// The subject of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Subject {
    /// A unit of a level.
    Unit {
        /// The number of the level in the release.
        level: usize,
        /// Its spine code.
        code: String,
        /// The GEOID of the tabulation unit that contains it; empty if there is none.
        geoid: String,
    },
    /// An area, by name.
    Area(String),
}

/// The answers: queries with all their counts, or lines of tables.
#[derive(Debug)]
pub struct Answers {
    asked: Vec<Asked>,
    /// Marginals whose cells add up to the lines.
    margins: Vec<SectorQuery>,
    /// The attributes and recodes that the queries keep.
    kinds: Vec<String>,
}

#[derive(Debug)]
struct Asked {
    name: String,
    description: String,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Query { query: Box<SectorQuery>, parts: Vec<Part>, class_of: Vec<u32>, classes: Vec<CountClass>, cells: Cells },
    Line { margin: usize, cells: Vec<u32>, selected: Vec<Vec<bool>>, class: CountClass },
}

/// The cells of a query in the order of the attributes in its name, and their labels.
#[derive(Debug)]
struct Cells {
    labels: Labels,
    /// For each cell its number in the order of the schema, if that differs.
    order: Option<Vec<u32>>,
    /// The number of a cell by its number in the order of the schema.
    place: Option<Vec<u32>>,
    /// For each attribute and recode of all queries, its number among those of this query.
    columns: Vec<Option<usize>>,
}

impl Cells {
    fn new(labels: Labels) -> Cells {
        let order = labels.order();
        let place = order.as_ref().map(|order| {
            let mut place = vec![0; order.len()];
            (0..).zip(order).for_each(|(cell, stored)| place[*stored as usize] = cell);
            place
        });
        Cells { labels, order, place, columns: Vec::new() }
    }

    /// Reorders values of cells from the order of the schema to that of the cells.
    fn ordered<T: Copy>(&self, stored: Vec<T>) -> Vec<T> {
        match &self.order {
            None => stored,
            Some(order) => order.iter().map(|cell| stored[*cell as usize]).collect(),
        }
    }
}

/// A line of a table: a sum over cells.
#[derive(Clone, Debug, PartialEq)]
pub struct TableLine {
    /// Its name.
    pub name: String,
    /// The name of the line above it, to which it adds up with the other lines below it, or of which it is a part if it is the only
    /// one; empty for the first line of a table.
    pub parent: String,
    /// Its label, without those of the lines above it.
    pub label: String,
    /// The quantity that it counts.
    pub description: String,
    /// The values of each attribute that belong to it; `None` for all.
    pub selected: Vec<Option<Vec<bool>>>,
}

impl TableLine {
    /// The marginal whose cells it sums.
    pub fn parts(&self) -> Vec<Part> {
        self.selected.iter().map(|own| if own.is_some() { Part::Whole } else { Part::Total }).collect()
    }
}

/// Estimates of one query of one unit or area, with their variances: one per count.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The number of the query.
    pub query: usize,
    /// The estimates.
    pub estimates: Vec<f64>,
    /// Their variances; 0 if constraints fix a count, NaN for integer counts.
    pub variances: Vec<f64>,
    /// The true counts in a rehearsal; otherwise empty.
    pub truth: Vec<f64>,
    /// Beside integer counts, the variances of the unbiased estimates of the same counts; otherwise empty.
    pub unbiased_variances: Vec<f64>,
}

/// The variances of the counts of each query or line, one for each class of counts with the same variance.
pub(super) type ClassVariances = Vec<Vec<f64>>;

/// The parts of queries by name.
pub fn named_parts(schema: &Schema, names: &[String]) -> Result<Vec<Vec<Part>>> {
    names.iter().map(|name| parts_of(schema, name)).collect()
}

impl Answers {
    /// The queries of these names, each with all its counts: in the order of the attributes in the name, the last one
    /// fastest.
    pub fn of_queries(problem: &Problem, schema: &Schema, names: &[String]) -> Result<Answers> {
        let mut kinds: Vec<String> = Vec::new();
        let mut asked = Vec::with_capacity(names.len());
        for name in names {
            let parts = parts_of(schema, name)?;
            let query = SectorQuery::new(&problem.basis, &parts);
            let (class_of, classes) = query.classes(&problem.basis);
            let cells = Cells::new(Labels::written(schema, name)?);
            let class_of = cells.ordered(class_of);
            for kind in &cells.labels.kinds {
                if !kinds.contains(&kind.name) {
                    kinds.push(kind.name.clone());
                }
            }
            let kind = Kind::Query { query: Box::new(query), parts, class_of, classes, cells };
            asked.push(Asked { name: name.clone(), description: String::new(), kind });
        }
        for asked in &mut asked {
            if let Kind::Query { cells, .. } = &mut asked.kind {
                let place = |name: &String| cells.labels.kinds.iter().position(|kind| kind.name == *name);
                cells.columns = kinds.iter().map(place).collect();
            }
        }
        Ok(Answers { asked, margins: Vec::new(), kinds })
    }

    /// The attributes and recodes that any of the queries keeps: one column each identifies the cell of a count.
    pub fn kinds(&self) -> &[String] {
        &self.kinds
    }

    /// The label of a cell of a query for the kind of this number; empty if the query sums over it.
    pub fn label(&self, query: usize, kind: usize, cell: usize) -> &str {
        match &self.asked[query].kind {
            Kind::Query { cells, .. } => cells.columns[kind].map_or("", |own| cells.labels.value(own, cell)),
            Kind::Line { .. } => "",
        }
    }

    /// All counts: the number of the query or line, and of the cell.
    pub fn cells(&self) -> Vec<(usize, usize)> {
        let counts = |(query, asked): (usize, &Asked)| {
            let count = match &asked.kind {
                Kind::Query { class_of, .. } => class_of.len(),
                Kind::Line { .. } => 1,
            };
            (0..count).map(move |cell| (query, cell))
        };
        self.asked.iter().enumerate().flat_map(counts).collect()
    }

    /// The values of each attribute that belong to a count, over attributes of these sizes.
    pub fn selected(&self, sizes: &[usize], query: usize, cell: usize) -> Vec<Vec<bool>> {
        match &self.asked[query].kind {
            Kind::Line { selected, .. } => selected.clone(),
            Kind::Query { query, parts, cells, .. } => {
                let mut rest = cells.order.as_ref().map_or(cell, |order| order[cell] as usize);
                let mut sets = Vec::with_capacity(sizes.len());
                for ((part, groups), size) in parts.iter().zip(&query.sizes).zip(sizes).rev() {
                    let group = rest % groups;
                    rest /= groups;
                    sets.push((0..*size).map(|value| part.group_of(value) == group).collect());
                }
                sets.reverse();
                sets
            }
        }
    }

    /// Zeros of all queries, for an area where nobody can live.
    pub fn zeros(&self) -> Vec<Answer> {
        let zero = |(query, asked): (usize, &Asked)| {
            let counts = match &asked.kind {
                Kind::Query { class_of, .. } => class_of.len(),
                Kind::Line { .. } => 1,
            };
            Answer::new(query, vec![0.0; counts], vec![0.0; counts])
        };
        self.asked.iter().enumerate().map(zero).collect()
    }

    /// The lines of tables over attributes of these sizes, one count each.
    pub fn of_lines(problem: &Problem, sizes: &[usize], lines: &[TableLine]) -> Answers {
        let mut kept: Vec<Vec<Part>> = Vec::new();
        let mut asked = Vec::with_capacity(lines.len());
        for line in lines {
            let own = line.parts();
            let margin = kept.iter().position(|known| *known == own).unwrap_or_else(|| {
                kept.push(own);
                kept.len() - 1
            });
            let mut cells = vec![0_u32];
            for (selected, size) in line.selected.iter().zip(sizes) {
                if let Some(selected) = selected {
                    let next = |cell: u32| {
                        let values = (0..).zip(selected).filter(|(_, own)| **own);
                        values.map(move |(value, _): (u32, &bool)| cell * *size as u32 + value)
                    };
                    cells = cells.into_iter().flat_map(next).collect();
                }
            }
            let all =
                |(selected, size): (&Option<Vec<bool>>, &usize)| selected.clone().unwrap_or_else(|| vec![true; *size]);
            let sets: Vec<Vec<bool>> = line.selected.iter().zip(sizes).map(all).collect();
            let class = CountClass::of_sets(&problem.basis, &sets);
            let kind = Kind::Line { margin, cells, selected: sets, class };
            asked.push(Asked { name: line.name.clone(), description: line.description.clone(), kind });
        }
        let margins = kept.iter().map(|parts| SectorQuery::new(&problem.basis, parts)).collect();
        Answers { asked, margins, kinds: Vec::new() }
    }

    /// The names of the queries or lines.
    pub fn names(&self) -> Vec<&str> {
        self.asked.iter().map(|asked| asked.name.as_str()).collect()
    }

    /// The counts of a query, given in the order of the schema's attributes, in that of the answer.
    pub fn in_order(&self, query: usize, stored: Vec<f64>) -> Vec<f64> {
        match &self.asked[query].kind {
            Kind::Query { cells, .. } => cells.ordered(stored),
            Kind::Line { .. } => stored,
        }
    }

    /// The quantity that a line counts; empty for a query.
    pub fn description(&self, query: usize) -> &str {
        &self.asked[query].description
    }

    /// Integer counts of each query, from the cells of a unit over attributes of these sizes; with the true ones in a
    /// rehearsal. They have no variance.
    pub fn of_counts(&self, sizes: &[usize], cells: &[(u32, i64)], truth: Option<&[f64]>) -> Vec<Answer> {
        let empty = |(query, asked): (usize, &Asked)| {
            let counts = match &asked.kind {
                Kind::Query { class_of, .. } => class_of.len(),
                Kind::Line { .. } => 1,
            };
            Answer::new(query, Vec::new(), vec![f64::NAN; counts])
        };
        let mut answers: Vec<Answer> = self.asked.iter().enumerate().map(empty).collect();
        let cells: Vec<(usize, f64)> = cells.iter().map(|(cell, count)| (*cell as usize, *count as f64)).collect();
        self.add_cells(sizes, &cells, &mut answers);
        answers.iter_mut().for_each(|answer| answer.estimates = std::mem::take(&mut answer.truth));
        if let Some(truth) = truth {
            self.add_truth(sizes, truth, &mut answers);
        }
        answers
    }

    /// Adds the true counts of each query to its answer, from a histogram over attributes of these sizes.
    pub fn add_truth(&self, sizes: &[usize], histogram: &[f64], answers: &mut [Answer]) {
        let filled: Vec<(usize, f64)> =
            histogram.iter().copied().enumerate().filter(|(_, count)| *count > 0.0).collect();
        self.add_cells(sizes, &filled, answers);
    }

    fn add_cells(&self, sizes: &[usize], filled: &[(usize, f64)], answers: &mut [Answer]) {
        let value = |cell: usize, axis: usize| cell / sizes[axis + 1..].iter().product::<usize>() % sizes[axis];
        for answer in answers {
            answer.truth = vec![0.0; answer.variances.len()];
            for (cell, count) in filled {
                let at = match &self.asked[answer.query].kind {
                    Kind::Query { parts, query, cells, .. } => {
                        let axes = parts.iter().zip(&query.sizes).enumerate();
                        let stored =
                            axes.fold(0, |at, (axis, (part, size))| at * size + part.group_of(value(*cell, axis)));
                        Some(cells.place.as_ref().map_or(stored, |place| place[stored] as usize))
                    }
                    Kind::Line { selected, .. } => {
                        let inside = selected.iter().enumerate().all(|(axis, own)| own[value(*cell, axis)]);
                        inside.then_some(0)
                    }
                };
                if let Some(at) = at {
                    answer.truth[at] += count;
                }
            }
        }
    }

    /// The answer of each query from an estimate.
    pub fn answers(&self, problem: &Problem, belief: &Belief) -> Vec<Answer> {
        let x = problem.expand(&belief.shape, &belief.x);
        let margins: Vec<Vec<f64>> = self.margins.iter().map(|margin| margin.answer(&x)).collect();
        let variances = self.class_variances(problem, belief);
        let answer = |(number, asked): (usize, &Asked)| {
            let estimates = match &asked.kind {
                Kind::Query { query, cells, .. } => cells.ordered(query.answer(&x)),
                Kind::Line { margin, cells, .. } => {
                    vec![cells.iter().map(|cell| margins[*margin][*cell as usize]).sum()]
                }
            };
            Answer::new(number, estimates, asked.of_each_count(&variances[number]))
        };
        self.asked.iter().enumerate().map(answer).collect()
    }

    /// The variances of all counts from an estimate, by class.
    pub(super) fn class_variances(&self, problem: &Problem, belief: &Belief) -> ClassVariances {
        let variance = |class: &CountClass| problem.variance(class, &belief.shape, &belief.covariance);
        let of = |asked: &Asked| match &asked.kind {
            Kind::Query { classes, .. } => classes.iter().map(variance).collect(),
            Kind::Line { class, .. } => vec![variance(class)],
        };
        self.asked.iter().map(of).collect()
    }

    /// Adds the variances of the unbiased estimates to integer counts.
    pub(super) fn add_unbiased(&self, variances: &ClassVariances, answers: &mut [Answer]) {
        for answer in answers {
            answer.unbiased_variances = self.asked[answer.query].of_each_count(&variances[answer.query]);
        }
    }
}

impl Answer {
    /// Estimates of a query with their variances.
    pub fn new(query: usize, estimates: Vec<f64>, variances: Vec<f64>) -> Answer {
        Answer { query, estimates, variances, truth: Vec::new(), unbiased_variances: Vec::new() }
    }
}

impl Asked {
    /// The number of each count from that of its class.
    fn of_each_count(&self, by_class: &[f64]) -> Vec<f64> {
        match &self.kind {
            Kind::Query { class_of, .. } => class_of.iter().map(|class| by_class[*class as usize]).collect(),
            Kind::Line { .. } => by_class.to_vec(),
        }
    }
}

/// The number of columns before those of attributes.
const FIRST: usize = 4;

/// Named sets of values of one attribute, such as the types of household that are families.
#[derive(Clone, Debug, Default)]
pub(super) struct NamedSets {
    /// The attribute.
    pub(super) attribute: String,
    /// Whether each value is in a set, by name.
    pub(super) sets: BTreeMap<String, Vec<bool>>,
}

/// Reads the lines of tables: a CSV with the columns `query`, `parent`, `label`, `description` and one for each
/// attribute, which holds the numbers of the values that belong to the line (`0-5`, `1 4-6`), or is empty for all values.
pub fn read_lines(text: &str, file: &str, schema: &Schema) -> Result<Vec<TableLine>> {
    read_lines_with(text, file, schema, &NamedSets::default())
}

/// The same, where the column of one attribute may also hold names of sets: the values in all of these sets (`family size-2`).
pub(super) fn read_lines_with(text: &str, file: &str, schema: &Schema, named: &NamedSets) -> Result<Vec<TableLine>> {
    let mut table = CsvTable::of_text(text, file)?;
    let names: Vec<&str> = schema.attributes.iter().map(|attribute| attribute.name.as_str()).collect();
    let heading = table.headings();
    if heading.len() != names.len() + FIRST || heading.iter().skip(FIRST).ne(names.iter().copied()) {
        let why = format!("expected the columns query, parent, label, description, {}", names.join(", "));
        return Err(table.refuse(0, &why));
    }
    let mut lines = Vec::new();
    while table.next()? {
        let selected = (FIRST..).zip(&schema.attributes).map(|(at, attribute)| {
            let (text, size) = (table.text(at)?, attribute.values.len());
            let common = if named.attribute == attribute.name { named.common(text) } else { None };
            let wrong = || {
                let why = format!("{text:?}: expected numbers of values of {} below {size}", attribute.name);
                table.refuse(at + 1, &why)
            };
            common.map_or_else(|| selected_values(text, size).map_err(|()| wrong()), |common| Ok(Some(common)))
        });
        let selected = selected.collect::<Result<Vec<_>>>()?;
        let text = |at: usize| table.text(at).map(String::from);
        lines.push(TableLine { name: text(0)?, parent: text(1)?, label: text(2)?, description: text(3)?, selected });
    }
    Ok(lines)
}

impl NamedSets {
    /// The values in all sets whose names a text lists; `None` if it lists other words.
    fn common(&self, text: &str) -> Option<Vec<bool>> {
        let mut sets = text.split(' ').map(|name| self.sets.get(name));
        let first = sets.next()??.clone();
        sets.try_fold(first, |common, set| Some(common.iter().zip(set?).map(|(common, own)| *common && *own).collect()))
    }
}

/// The values of an attribute with this number of values that a text selects, as `0 3-5`; `None` for all, which is an empty text.
pub(super) fn selected_values(text: &str, size: usize) -> std::result::Result<Option<Vec<bool>>, ()> {
    if text.is_empty() {
        return Ok(None);
    }
    let mut selected = vec![false; size];
    for range in text.split(' ') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (Ok(first), Ok(last)) = (first.parse::<usize>(), last.parse::<usize>()) else { return Err(()) };
        selected.get_mut(first..=last).ok_or(())?.fill(true);
    }
    Ok(Some(selected))
}
