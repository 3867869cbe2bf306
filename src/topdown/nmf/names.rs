//! The query or constraint of a row, according to the queries and attributes of the release.

use super::rows::Row;
use crate::{
    error::{Error, Result},
    release::{
        Release,
        schema::{Attribute, Kept, Schema},
    },
    topdown::gls::basis::Part,
};

/// The queries of a release under their names in the files.
#[derive(Clone, Debug)]
pub struct Names {
    /// The names of the levels, from the root.
    pub levels: Vec<String>,
    /// The names of the attributes.
    pub axes: Vec<String>,
    /// The number of values of each attribute.
    pub sizes: Vec<usize>,
    schema: Schema,
    queries: Vec<Vec<NamedQuery>>,
    /// The queries of the other histogram, by level: their rows are recognized and skipped.
    others: Vec<Vec<NamedQuery>>,
    /// The other histogram, if there are two.
    other: Option<Other>,
    /// The constraint, besides those that give a total, whose counts add up to an exact total.
    exact_total: Option<String>,
}

/// A histogram whose queries are in the same files.
#[derive(Clone, Debug)]
struct Other {
    /// Its attributes.
    schema: Schema,
    /// Whether it is the first histogram, whose attributes have columns.
    is_first: bool,
}

/// The histogram of a release that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The first or only histogram.
    First,
    /// The second histogram.
    Beside,
}

/// The error that a request is of both histograms: a query or variable of the second one, and one of the first.
pub(super) fn two_histograms(what: &str, beside: &str, first: &str) -> Error {
    let why = "are of two histograms: their joint constraints are unknown, so estimate each separately";
    Error::conflict(format!("the {what} {beside:?} and {first:?} {why}"))
}

/// A query of a level.
#[derive(Clone, Debug)]
pub struct NamedQuery {
    /// Its name in the release: the files add `_dpq`.
    pub name: String,
    /// Its action on each attribute.
    pub parts: Vec<Part>,
    /// Its number among the queries of its level.
    pub number: usize,
    /// The texts that the files may have for each attribute.
    texts: Vec<Vec<String>>,
    shape: Vec<i64>,
}

impl NamedQuery {
    fn new(schema: &Schema, name: &str, number: usize) -> Result<NamedQuery> {
        let texts = schema.keeps(name)?.into_iter().zip(&schema.attributes).map(|(kept, attribute)| match kept {
            None => vec!["*".to_string()],
            Some(Kept::Whole) => vec!["detailed".to_string(), attribute.name.clone()],
            Some(Kept::Recode(recode)) => vec![schema.recodes[recode].name.clone()],
        });
        let texts = texts.collect();
        let parts = parts_of(schema, name)?;
        let sizes = schema.attributes.iter().map(|attribute| attribute.values.len());
        let shape = parts.iter().zip(sizes).map(|(part, size)| part.groups(size) as i64).collect();
        Ok(NamedQuery { name: normal(name), parts, number, texts, shape })
    }

    /// The number of counts.
    pub fn counts(&self) -> usize {
        self.shape.iter().product::<i64>() as usize
    }
}

/// The name with one blank on each side of every `*`.
fn normal(name: &str) -> String {
    name.split('*').map(str::trim).collect::<Vec<_>>().join(" * ")
}

/// The action of the query of a name on each attribute of a schema.
pub fn parts_of(schema: &Schema, name: &str) -> Result<Vec<Part>> {
    let part = |kept: &Option<Kept>| match kept {
        None => Part::Total,
        Some(Kept::Whole) => Part::Whole,
        Some(Kept::Recode(recode)) => Part::Groups(schema.recodes[*recode].group_of.clone()),
    };
    Ok(schema.keeps(name)?.iter().map(part).collect())
}

impl Names {
    /// The queries of a release, which must name its attributes; of two histograms those of the first.
    pub fn new(release: &Release) -> Result<Names> {
        Names::of_release(release, Which::First)
    }

    /// The queries of one of the histograms of a release.
    pub fn of_release(release: &Release, which: Which) -> Result<Names> {
        let what = format!("the release {}", release.name);
        let mut first = release.schema.clone().ok_or_else(|| {
            Error::missing(format!("{what} has no [[attribute]] tables, which say what its queries are of"))
        })?;
        let whole = first.clone();
        let beside = first.beside.take().map(|beside| beside.schema);
        let (schema, other) = match (which, beside) {
            (Which::First, beside) => (first, beside.map(|schema| Other { schema, is_first: false })),
            (Which::Beside, Some(beside)) => (beside, Some(Other { schema: first, is_first: true })),
            (Which::Beside, None) => {
                return Err(Error::unsuitable(format!("{what} has one histogram, and a second one is queried")));
            }
        };
        if schema.attributes.len() > 16 {
            return Err(Error::out_of_range(
                &format!("the number of attributes of {what}"),
                schema.attributes.len(),
                "at most 16",
            ));
        }
        let sizes: Vec<usize> = schema.attributes.iter().map(|attribute| attribute.values.len()).collect();
        let (mut queries, mut others) = (Vec::new(), Vec::new());
        for level in &release.levels {
            let (mut own, mut passed) = (Vec::new(), Vec::new());
            for (number, asked) in level.queries.iter().enumerate() {
                let of = if whole.asks_beside(&asked.name).is_some() { Which::Beside } else { Which::First };
                match (&other, of == which) {
                    (Some(other), false) => passed.push(NamedQuery::new(&other.schema, &asked.name, number)?),
                    _ => own.push(NamedQuery::new(&schema, &asked.name, number)?),
                }
            }
            queries.push(own);
            others.push(passed);
        }
        let axes = schema.attributes.iter().map(|attribute| attribute.name.clone()).collect();
        let levels = release.levels.iter().map(|level| level.name.clone()).collect();
        let exact_total = release.exact_total.clone();
        Ok(Names { levels, axes, sizes, schema, queries, others, other, exact_total })
    }

    /// The columns read from rows of queries. The Bureau's column for the attributes of a second histogram is unknown:
    /// its rows are identified by their names and shapes.
    pub fn columns(&self) -> &[String] {
        if self.is_beside() { &[] } else { &self.axes }
    }

    /// The columns read from rows of constraints: the attributes of the first histogram.
    pub fn constraint_columns(&self) -> Vec<String> {
        match &self.other {
            Some(other) if other.is_first => {
                other.schema.attributes.iter().map(|attribute| attribute.name.clone()).collect()
            }
            _ => self.axes.clone(),
        }
    }

    /// Whether these are the queries of the second histogram.
    pub fn is_beside(&self) -> bool {
        self.other.as_ref().is_some_and(|other| other.is_first)
    }

    /// Whether there are two histograms.
    pub fn are_two(&self) -> bool {
        self.other.is_some()
    }

    /// The number of noisy counts of a unit of a level in the files, of both histograms.
    pub fn all_counts(&self, level: usize) -> usize {
        self.queries[level].iter().chain(&self.others[level]).map(NamedQuery::counts).sum()
    }

    /// Keeps the first `many` levels only.
    pub fn keep_levels(&mut self, many: usize) {
        self.levels.truncate(many);
        self.queries.truncate(many);
        self.others.truncate(many);
    }

    /// The attributes.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The exact total of a unit of the first two levels in a row of constraints, if the row gives it.
    pub fn exact_total(&self, constraint: &Constraint, values: &[i64]) -> Option<i64> {
        let is_exact = constraint.is_total() || self.exact_total.as_ref() == Some(&constraint.name);
        let sum = |sum: i64, value: &i64| sum.checked_add(*value);
        (is_exact && constraint.adds_up_to_total()).then(|| values.iter().try_fold(0, sum)).flatten()
    }

    /// The queries of a level.
    pub fn queries(&self, level: usize) -> &[NamedQuery] {
        &self.queries[level]
    }

    /// The number of the query of a row, `None` for one of the other histogram; an error message if the row fits none.
    pub fn query(&self, level: usize, row: &Row) -> std::result::Result<Option<usize>, String> {
        let text = String::from_utf8_lossy(row.name);
        let name = normal(text.strip_suffix("_dpq").unwrap_or(&text));
        let known = &self.queries[level];
        let Some(at) = known.iter().position(|query| query.name == name) else {
            if self.others[level].iter().any(|query| query.name == name) {
                return Ok(None);
            }
            let known = known.iter().chain(&self.others[level]);
            let names: Vec<&str> = known.map(|query| query.name.as_str()).collect();
            return Err(format!(
                "is no query of the level {}: the release has {}",
                self.levels[level],
                names.join(", ")
            ));
        };
        let query = &known[at];
        if self.is_beside() {
            // Other attributes are not checked: only one attribute is not summed, so the order of counts is its own.
            let groups = |shape: &[i64]| shape.iter().copied().filter(|groups| *groups != 1).collect::<Vec<i64>>();
            if groups(row.shape) != groups(&query.shape) {
                return Err(format!("query_shape is {:?}: expected {:?}, or ones beside", row.shape, query.shape));
            }
            return Ok(Some(at));
        }
        for ((axis, treated), texts) in self.axes.iter().zip(row.axes).zip(&query.texts) {
            if !texts.iter().any(|text| text.as_bytes() == treated.data()) {
                let treated = String::from_utf8_lossy(treated.data());
                return Err(format!("{axis} is {treated:?}: expected {}", texts.join(" or ")));
            }
        }
        if row.shape != query.shape {
            return Err(format!("query_shape is {:?}: expected {:?}", row.shape, query.shape));
        }
        Ok(Some(at))
    }

    /// The constraint in a row, or an error message if it does not fit the attributes. With two histograms, constraints
    /// can combine them, in a form that is unknown: then a row that does not fit counts as unread.
    pub fn constraint(&self, row: &Row) -> std::result::Result<Constraint, String> {
        let Some(other) = &self.other else { return constraint(&self.schema, row) };
        let first = if other.is_first { &other.schema } else { &self.schema };
        match constraint(first, row) {
            Ok(own) if !other.is_first => Ok(own),
            Ok(own) => Ok(Constraint { about: About::Other, ..own }),
            Err(_) => Ok(Constraint {
                name: constraint_name(row),
                sign: Sign::Equal,
                about: About::Unread,
                parts: Vec::new(),
                shape: Vec::new(),
            }),
        }
    }
}

fn constraint_name(row: &Row) -> String {
    let text = String::from_utf8_lossy(row.name);
    text.strip_suffix("_con").unwrap_or(&text).to_string()
}

/// The constraint of a histogram in a row.
fn constraint(schema: &Schema, row: &Row) -> std::result::Result<Constraint, String> {
    let sign = match row.sign {
        b"=" => Sign::Equal,
        b"<=" => Sign::AtMost,
        b">=" => Sign::AtLeast,
        other => return Err(format!("sign is {:?}: expected =, <= or >=", String::from_utf8_lossy(other))),
    };
    let mut parts = Vec::with_capacity(schema.attributes.len());
    for (at, treated) in row.axes.iter().enumerate() {
        let treated = String::from_utf8_lossy(treated.data());
        let part = constraint_part(schema, at, &treated).ok_or_else(|| {
            let named = |of: usize, name: &String| (of == at).then(|| name.clone());
            let recodes = schema.recodes.iter().filter_map(|recode| named(recode.attribute, &recode.name));
            let selections = schema.selections.iter().filter_map(|own| named(own.attribute, &own.name));
            let names: Vec<String> = recodes.chain(selections).collect();
            let known = if names.is_empty() { String::new() } else { format!(", {}", names.join(", ")) };
            format!("{} is {treated:?}: expected *, detailed{known}", schema.attributes[at].name)
        })?;
        parts.push(part);
    }
    let groups = |(part, attribute): (&ConstraintPart, &Attribute)| match part {
        ConstraintPart::Kept(part) => part.groups(attribute.values.len()) as i64,
        ConstraintPart::Selected(_) => 1,
    };
    let shape: Vec<i64> = parts.iter().zip(&schema.attributes).map(groups).collect();
    if row.shape != shape || row.values.len() as i64 != shape.iter().product::<i64>() {
        let given = row.values.len();
        return Err(format!("query_shape is {:?} with {given} values: expected {shape:?}", row.shape));
    }
    Ok(Constraint { name: constraint_name(row), sign, about: About::Own, parts, shape })
}

fn constraint_part(schema: &Schema, axis: usize, treated: &str) -> Option<ConstraintPart> {
    if treated == "*" {
        return Some(ConstraintPart::Kept(Part::Total));
    }
    if treated == "detailed" || treated == schema.attributes[axis].name {
        return Some(ConstraintPart::Kept(Part::Whole));
    }
    let recode = schema.recodes.iter().find(|recode| recode.attribute == axis && recode.name == treated);
    if let Some(recode) = recode {
        return Some(ConstraintPart::Kept(Part::Groups(recode.group_of.clone())));
    }
    let own = schema.selections.iter().find(|own| own.attribute == axis && own.name == treated)?;
    Some(ConstraintPart::Selected(own.selected.clone()))
}

/// The relation of a constraint's counts to its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// They equal the values.
    Equal,
    /// They are at most the values.
    AtMost,
    /// They are at least the values.
    AtLeast,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ConstraintPart {
    Kept(Part),
    Selected(Vec<bool>),
}

/// A constraint, without its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// Its name, without `_con`.
    pub name: String,
    /// Its relation.
    pub sign: Sign,
    about: About,
    parts: Vec<ConstraintPart>,
    shape: Vec<i64>,
}

/// The histogram that a constraint is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum About {
    /// The histogram that is read.
    Own,
    /// The other of two histograms.
    Other,
    /// Unknown: both, or groups without known values.
    Unread,
}

impl Constraint {
    /// Whether it is about the histogram that is read, and is understood.
    pub fn is_own(&self) -> bool {
        self.about == About::Own
    }

    /// Whether it is not understood.
    pub fn is_unread(&self) -> bool {
        self.about == About::Unread
    }

    /// Whether it gives the total of a unit.
    pub fn is_total(&self) -> bool {
        self.is_own()
            && self.sign == Sign::Equal
            && self.parts.iter().all(|part| *part == ConstraintPart::Kept(Part::Total))
    }

    /// Whether a value of zero makes cells zero: true of an upper bound, and of an equality about one selection of
    /// cells. Equalities for whole tables are excluded: those of the DHC are published tables, which were adjusted
    /// after the noise.
    pub fn can_be_zero(&self) -> bool {
        let single = self.shape.iter().product::<i64>() == 1;
        self.is_own() && !self.is_total() && (self.sign == Sign::AtMost || (self.sign == Sign::Equal && single))
    }

    /// Whether it gives counts that add up to the total of a unit.
    pub fn adds_up_to_total(&self) -> bool {
        self.is_own() && self.sign == Sign::Equal && self.has_all_cells()
    }

    /// The least and the most that the total of a unit can be by this constraint, whose counts have no cell in common.
    pub fn bounds_of_total(&self, values: &[i64]) -> (i64, Option<i64>) {
        let sum = values.iter().fold(0_i64, |sum, value| sum.saturating_add((*value).max(0)));
        match (self.is_own(), self.sign) {
            (true, Sign::AtLeast) => (sum, None),
            (true, Sign::AtMost) if self.has_all_cells() => (0, Some(sum)),
            (true, Sign::Equal) if self.is_total() => (sum, Some(sum)),
            _ => (0, None),
        }
    }

    /// Whether its counts have all cells.
    fn has_all_cells(&self) -> bool {
        self.parts.iter().all(|part| matches!(part, ConstraintPart::Kept(_)))
    }

    /// Whether it gives the counts of a table.
    pub fn is_table(&self) -> bool {
        self.is_own() && self.sign == Sign::Equal && self.shape.iter().product::<i64>() > 1
    }

    /// Whether one is a lower and the other an upper bound of the same counts.
    pub fn is_counterpart(&self, other: &Constraint) -> bool {
        let signs = (self.sign, other.sign);
        matches!(signs, (Sign::AtLeast, Sign::AtMost) | (Sign::AtMost, Sign::AtLeast)) && self.parts == other.parts
    }

    /// The partition of an attribute's values that it distinguishes.
    pub fn partition(&self, axis: usize, size: usize) -> Part {
        match &self.parts[axis] {
            ConstraintPart::Kept(part) => Part::of_keys((0..size).map(|value| part.group_of(value))),
            ConstraintPart::Selected(selected) => Part::of_keys(selected.iter()),
        }
    }

    /// Whether a value of an attribute belongs to a count.
    pub fn selects(&self, count: usize, axis: usize, value: usize) -> bool {
        let inner: i64 = self.shape[axis + 1..].iter().product();
        let group = count / inner as usize % self.shape[axis] as usize;
        match &self.parts[axis] {
            ConstraintPart::Kept(part) => part.group_of(value) == group,
            ConstraintPart::Selected(selected) => selected[value],
        }
    }
}
