//! Which query or constraint a row is, against the queries and attributes of the release.

use super::rows::Row;
use crate::{
    error::{Error, Result},
    release::{
        Release,
        schema::{Kept, Schema},
    },
    topdown::gls::basis::Part,
};

/// The queries of a release as the files name them.
#[derive(Clone, Debug)]
pub struct Names {
    /// The names of the levels, from the root.
    pub levels: Vec<String>,
    /// The names of the attributes.
    pub axes: Vec<String>,
    /// How many values each has.
    pub sizes: Vec<usize>,
    schema: Schema,
    queries: Vec<Vec<NamedQuery>>,
}

/// A query of a level.
#[derive(Clone, Debug)]
pub struct NamedQuery {
    /// Its name in the release: the files add `_dpq`.
    pub name: String,
    /// How it treats each attribute.
    pub parts: Vec<Part>,
    /// What the files may write for each attribute.
    texts: Vec<Vec<String>>,
    shape: Vec<i64>,
}

impl NamedQuery {
    /// How many counts it has.
    pub fn counts(&self) -> usize {
        self.shape.iter().product::<i64>() as usize
    }
}

/// A name with one blank around each `*`.
fn normal(name: &str) -> String {
    name.split('*').map(str::trim).collect::<Vec<_>>().join(" * ")
}

/// How the query of a name treats each attribute of a schema.
pub fn parts_of(schema: &Schema, name: &str) -> Result<Vec<Part>> {
    let part = |kept: &Option<Kept>| match kept {
        None => Part::Total,
        Some(Kept::Whole) => Part::Whole,
        Some(Kept::Recode(recode)) => Part::Groups(schema.recodes[*recode].group_of.clone()),
    };
    Ok(schema.keeps(name)?.iter().map(part).collect())
}

impl Names {
    /// The queries of a release, which has to name its attributes.
    pub fn new(release: &Release) -> Result<Names> {
        let what = format!("the release {}", release.name);
        let schema = release.schema.clone().ok_or_else(|| {
            Error::out_of_range(&what, "without attributes", "one with [[attribute]], which the queries are asked of")
        })?;
        if schema.attributes.len() > 16 {
            return Err(Error::out_of_range(&what, format!("{} attributes", schema.attributes.len()), "at most 16"));
        }
        let sizes: Vec<usize> = schema.attributes.iter().map(|attribute| attribute.values.len()).collect();
        let query = |name: &str| {
            let texts = schema.keeps(name)?.into_iter().zip(&schema.attributes).map(|(kept, attribute)| match kept {
                None => vec!["*".to_string()],
                Some(Kept::Whole) => vec!["detailed".to_string(), attribute.name.clone()],
                Some(Kept::Recode(recode)) => vec![schema.recodes[recode].name.clone()],
            });
            let texts = texts.collect();
            let parts = parts_of(&schema, name)?;
            let shape = parts.iter().zip(&sizes).map(|(part, size)| part.groups(*size) as i64).collect();
            Ok(NamedQuery { name: normal(name), parts, texts, shape })
        };
        let level = |level: &crate::release::GeoLevel| level.queries.iter().map(|asked| query(&asked.name)).collect();
        let queries = release.levels.iter().map(level).collect::<Result<Vec<Vec<_>>>>()?;
        let axes = schema.attributes.iter().map(|attribute| attribute.name.clone()).collect();
        let levels = release.levels.iter().map(|level| level.name.clone()).collect();
        Ok(Names { levels, axes, sizes, schema, queries })
    }

    /// Leaves out the levels below the first so many.
    pub fn keep_levels(&mut self, many: usize) {
        self.levels.truncate(many);
        self.queries.truncate(many);
    }

    /// The attributes.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The queries of a level.
    pub fn queries(&self, level: usize) -> &[NamedQuery] {
        &self.queries[level]
    }

    /// The number of the query that a row answers; what is wrong with the row, if it fits none.
    pub fn query(&self, level: usize, row: &Row) -> std::result::Result<usize, String> {
        let text = String::from_utf8_lossy(row.name);
        let name = normal(text.strip_suffix("_dpq").unwrap_or(&text));
        let known = &self.queries[level];
        let at = known.iter().position(|query| query.name == name).ok_or_else(|| {
            let names: Vec<&str> = known.iter().map(|query| query.name.as_str()).collect();
            format!("is no query of the level {}: the release has {}", self.levels[level], names.join(", "))
        })?;
        let query = &known[at];
        for ((axis, treated), texts) in self.axes.iter().zip(row.axes).zip(&query.texts) {
            if !texts.iter().any(|text| text.as_bytes() == treated.data()) {
                let treated = String::from_utf8_lossy(treated.data());
                return Err(format!("{axis} is {treated:?}: expected {}", texts.join(" or ")));
            }
        }
        if row.shape != query.shape {
            return Err(format!("query_shape is {:?}: expected {:?}", row.shape, query.shape));
        }
        Ok(at)
    }

    /// What a row of constraints says; what is wrong with it, if it does not fit the attributes.
    pub fn constraint(&self, row: &Row) -> std::result::Result<Constraint, String> {
        let text = String::from_utf8_lossy(row.name);
        let name = text.strip_suffix("_con").unwrap_or(&text).to_string();
        let sign = match row.sign {
            b"=" => Sign::Equal,
            b"<=" => Sign::AtMost,
            b">=" => Sign::AtLeast,
            other => return Err(format!("sign is {:?}: expected =, <= or >=", String::from_utf8_lossy(other))),
        };
        let mut parts = Vec::with_capacity(self.axes.len());
        for (at, treated) in row.axes.iter().enumerate() {
            let treated = String::from_utf8_lossy(treated.data());
            let part = self.constraint_part(at, &treated).ok_or_else(|| {
                let named = |of: usize, name: &String| (of == at).then(|| name.clone());
                let recodes = self.schema.recodes.iter().filter_map(|recode| named(recode.attribute, &recode.name));
                let selections = self.schema.selections.iter().filter_map(|own| named(own.attribute, &own.name));
                let names: Vec<String> = recodes.chain(selections).collect();
                let known = if names.is_empty() { String::new() } else { format!(", {}", names.join(", ")) };
                format!("{} is {treated:?}: expected *, detailed{known}", self.axes[at])
            })?;
            parts.push(part);
        }
        let groups = |(part, size): (&ConstraintPart, &usize)| match part {
            ConstraintPart::Kept(part) => part.groups(*size) as i64,
            ConstraintPart::Selected(_) => 1,
        };
        let shape: Vec<i64> = parts.iter().zip(&self.sizes).map(groups).collect();
        if row.shape != shape || row.values.len() as i64 != shape.iter().product::<i64>() {
            let given = row.values.len();
            return Err(format!("query_shape is {:?} with {given} values: expected {shape:?}", row.shape));
        }
        Ok(Constraint { name, sign, parts, shape })
    }

    fn constraint_part(&self, axis: usize, treated: &str) -> Option<ConstraintPart> {
        if treated == "*" {
            return Some(ConstraintPart::Kept(Part::Total));
        }
        if treated == "detailed" || treated == self.axes[axis] {
            return Some(ConstraintPart::Kept(Part::Whole));
        }
        let recode = self.schema.recodes.iter().find(|recode| recode.attribute == axis && recode.name == treated);
        if let Some(recode) = recode {
            return Some(ConstraintPart::Kept(Part::Groups(recode.group_of.clone())));
        }
        let own = self.schema.selections.iter().find(|own| own.attribute == axis && own.name == treated)?;
        Some(ConstraintPart::Selected(own.selected.clone()))
    }
}

/// What a constraint says of its counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// They are its values.
    Equal,
    /// They are at most these.
    AtMost,
    /// They are at least these.
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
    /// What it says.
    pub sign: Sign,
    parts: Vec<ConstraintPart>,
    shape: Vec<i64>,
}

impl Constraint {
    /// Whether it gives the total of a unit.
    pub fn is_total(&self) -> bool {
        self.sign == Sign::Equal && self.parts.iter().all(|part| *part == ConstraintPart::Kept(Part::Total))
    }

    /// Whether a value of zero makes cells zero: an upper bound, or an equality about one selection of cells. Equalities for
    /// whole tables are left out: those of the DHC are published tables, which were adjusted after the noise.
    pub fn can_be_zero(&self) -> bool {
        let single = self.shape.iter().product::<i64>() == 1;
        !self.is_total() && (self.sign == Sign::AtMost || (self.sign == Sign::Equal && single))
    }

    /// Whether it gives the counts of a table.
    pub fn is_table(&self) -> bool {
        self.sign == Sign::Equal && self.shape.iter().product::<i64>() > 1
    }

    /// Whether one is a lower and the other an upper bound of the same counts.
    pub fn is_counterpart(&self, other: &Constraint) -> bool {
        let signs = (self.sign, other.sign);
        matches!(signs, (Sign::AtLeast, Sign::AtMost) | (Sign::AtMost, Sign::AtLeast)) && self.parts == other.parts
    }

    /// The values of an attribute that it tells apart.
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
