//! The schema of a histogram, and its query groups (Cumings-Menon et al., 2024, section 2.3).
//!
//! A histogram has a cell for each combination of the values of its attributes, the last attribute running fastest, as in
//! the Kronecker products of the paper. A query group keeps some attributes (factor I) and sums over the others (factor
//! 1'): each cell of the histogram counts in exactly one of its counts. A recode keeps an attribute in groups of values,
//! which has the same property, so that a record moves two counts of it at most, each by one.
//!
//! In a release file: `[[attribute]]` with `name` and `values` (names) or `size` (then the values are 0, 1, ...), and
//! `[[recode]]` with `name`, `attribute` and `groups`, lists of values. `[[selection]]` with `name`, `attribute` and `values` is
//! about constraints: the Bureau's noisy measurement files name such selections of values. The name of a query says what it
//! keeps: `hispanic * cenrace`, `detailed` for all attributes, `total` for none.
//!
//! A release may have a second histogram: `[[attribute]]` with `histogram` and its name are its attributes, and a
//! query that names only these is a query of it. Its cells are counted after those of the first.

use crate::error::{Error, Result};

/// The largest number of cells.
pub const MOST_CELLS: usize = 1 << 24;
/// The largest number of pairs of values that are compared.
const MOST_COMPARED: usize = 1_000_000;
/// The count of a cell that does not belong to a query: one of the other histogram.
pub const NOWHERE: u32 = u32::MAX;

/// The attributes of a histogram.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schema {
    /// The attributes, the last one fastest.
    pub attributes: Vec<Attribute>,
    /// Attributes in groups of values.
    pub recodes: Vec<Recode>,
    /// Names of values of attributes, for constraints.
    pub selections: Vec<Selection>,
    /// A second histogram, for other queries.
    pub beside: Option<Box<Beside>>,
}

/// A second histogram of a release.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Beside {
    /// Its name.
    pub name: String,
    /// Its attributes.
    pub schema: Schema,
}

/// Some values of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Its name.
    pub name: String,
    /// The index of the attribute.
    pub attribute: usize,
    /// Whether each value belongs to it.
    pub selected: Vec<bool>,
}

/// An attribute and its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Its name.
    pub name: String,
    /// The names of its values.
    pub values: Vec<String>,
}

/// An attribute in groups of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recode {
    /// Its name.
    pub name: String,
    /// The index of the attribute.
    pub attribute: usize,
    /// The group of each value.
    pub group_of: Vec<u32>,
    /// The name of each group: its values, joined by `+`.
    pub groups: Vec<String>,
}

impl Schema {
    /// Attributes of these names and sizes, whose values are numbered from 0.
    pub fn numbered<N: ToString>(sizes: impl IntoIterator<Item = (N, usize)>) -> Schema {
        let attribute = |(name, size): (N, usize)| Attribute {
            name: name.to_string(),
            values: (0..size).map(|value| value.to_string()).collect(),
        };
        Schema { attributes: sizes.into_iter().map(attribute).collect(), ..Schema::default() }
    }

    /// The number of cells of the histogram; 1 without attributes. Those of a second histogram are not included.
    pub fn cells(&self) -> usize {
        self.attributes.iter().map(|attribute| attribute.values.len()).product()
    }

    /// The number of cells, with those of the second histogram.
    pub fn all_cells(&self) -> usize {
        self.cells() + self.beside.as_ref().map_or(0, |beside| beside.schema.cells())
    }

    /// The second histogram, if a name is that of a query of it, that is, names only its attributes.
    pub fn asks_beside(&self, name: &str) -> Option<&Beside> {
        let beside = self.beside.as_deref()?;
        let mut parts = name.split('*').map(str::trim);
        parts.all(|part| beside.schema.has(part)).then_some(beside)
    }

    /// The names of all attributes, recodes and selections, also those of the second histogram.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let beside = self.beside.iter().map(|beside| &beside.schema);
        std::iter::once(self).chain(beside).flat_map(|own| {
            let attributes = own.attributes.iter().map(|attribute| attribute.name.as_str());
            let recodes = own.recodes.iter().map(|recode| recode.name.as_str());
            attributes.chain(recodes).chain(own.selections.iter().map(|selection| selection.name.as_str()))
        })
    }

    /// Whether an attribute or a recode has this name.
    fn has(&self, name: &str) -> bool {
        let mut names = self.attributes.iter().map(|attribute| &attribute.name);
        names.any(|own| own == name) || self.recodes.iter().any(|recode| recode.name == name)
    }

    /// The query group of a name: attributes or recodes joined by `*`, `total` or `detailed`. Its cells are those of both histograms.
    pub fn group(&self, name: &str) -> Result<QueryGroup> {
        if let Some(beside) = self.asks_beside(name) {
            let own = beside.schema.group(name)?;
            let cell_of = [vec![NOWHERE; self.cells()], own.cell_of].concat();
            return Ok(QueryGroup { cell_of, whole: None, ..own });
        }
        let mut group = self.kept(name, &self.keeps(name)?);
        if self.beside.is_some() {
            group.cell_of.resize(self.all_cells(), NOWHERE);
            group.whole = None;
        }
        Ok(group)
    }

    /// How the query of a name keeps each attribute; `None` if it sums over it.
    pub fn keeps(&self, name: &str) -> Result<Vec<Option<Kept>>> {
        let mut kept: Vec<Option<Kept>> = vec![None; self.attributes.len()];
        match name.trim() {
            "total" => {}
            "detailed" => kept.fill(Some(Kept::Whole)),
            product => {
                for part in product.split('*').map(str::trim) {
                    let whole = self.attributes.iter().position(|attribute| attribute.name == part);
                    let recode = self.recodes.iter().position(|recode| recode.name == part);
                    let (at, what) = match (whole, recode) {
                        (Some(at), _) => (at, Kept::Whole),
                        (_, Some(recode)) => (self.recodes[recode].attribute, Kept::Recode(recode)),
                        _ => return Err(self.unknown(name, part)),
                    };
                    if kept[at].replace(what).is_some() {
                        let why = format!("the query {name:?} names one attribute twice: keep each attribute once");
                        return Err(Error::conflict(why));
                    }
                }
            }
        }
        Ok(kept)
    }

    /// Whether two records are found that differ in every one of these queries that has several counts: for each attribute two values that are
    /// in different groups wherever a query keeps the attribute. False also where the search would take too long. Queries of a second histogram are
    /// refused.
    #[doc(hidden)]
    pub fn changes_all<'q>(&self, queries: impl Iterator<Item = &'q str>) -> Result<bool> {
        // For each attribute the groups of its values, where a query keeps it in several of them.
        let mut groups: Vec<Vec<Kept>> = vec![Vec::new(); self.attributes.len()];
        for name in queries {
            for (own, kept) in groups.iter_mut().zip(self.keeps(name)?) {
                own.extend(kept.filter(|kept| !own.contains(kept)));
            }
        }
        Ok(self.attributes.iter().zip(&groups).all(|(attribute, kept)| self.differ(attribute, kept)))
    }

    /// Whether two values of an attribute are found that differ in all these groups, apart from those that hold all values.
    fn differ(&self, attribute: &Attribute, kept: &[Kept]) -> bool {
        let count = attribute.values.len();
        let recode = |kept: &Kept| match kept {
            Kept::Recode(number) if self.recodes[*number].groups.len() > 1 => Some(&self.recodes[*number].group_of),
            Kept::Recode(_) | Kept::Whole => None,
        };
        let recodes: Vec<&Vec<u32>> = kept.iter().filter_map(recode).collect();
        let differ = |one: usize, other: usize| recodes.iter().all(|group_of| group_of[one] != group_of[other]);
        let mut pairs = (0..count).flat_map(|one| (one + 1..count).map(move |other| (one, other)));
        // One value is alike in all groups, and is a query with a single count where it is kept alone.
        count < 2 || pairs.by_ref().take(MOST_COMPARED).any(|(one, other)| differ(one, other))
    }

    fn unknown(&self, name: &str, part: &str) -> Error {
        let names = self.attributes.iter().map(|attribute| &attribute.name);
        let names: Vec<&str> =
            names.chain(self.recodes.iter().map(|recode| &recode.name)).map(String::as_str).collect();
        if let Some(beside) = self.beside.as_ref().filter(|beside| beside.schema.has(part)) {
            return Error::conflict(format!(
                "the query {name:?} joins two histograms: {part:?} is one of {:?}, beside {}; a query is of one",
                beside.name,
                names.join(", ")
            ));
        }
        let all = ["total", "detailed"].into_iter().chain(names);
        Error::unknown("query", part, "attributes and recodes may be joined by *; there are", all)
    }

    fn kept(&self, name: &str, kept: &[Option<Kept>]) -> QueryGroup {
        // The count to which each cell of the histogram belongs, attribute by attribute.
        let mut cell_of: Vec<u32> = vec![0];
        let mut names = Vec::new();
        for (attribute, kept) in self.attributes.iter().zip(kept) {
            let (values, group_of): (&[String], Vec<u32>) = match kept {
                None => (&[], vec![0; attribute.values.len()]),
                Some(Kept::Whole) => (&attribute.values, (0..attribute.values.len() as u32).collect()),
                Some(Kept::Recode(recode)) => {
                    let recode = &self.recodes[*recode];
                    (&recode.groups, recode.group_of.clone())
                }
            };
            let size = values.len().max(1) as u32;
            cell_of = cell_of.iter().flat_map(|cell| group_of.iter().map(move |group| cell * size + group)).collect();
            if kept.is_some() {
                names.push(values.to_vec());
            }
        }
        let counts = names.iter().map(Vec::len).product();
        let plain = kept.iter().all(|kept| !matches!(kept, Some(Kept::Recode(_))));
        let whole = plain.then(|| kept.iter().map(Option::is_some).collect());
        QueryGroup { name: name.trim().to_string(), whole, cell_of, counts, kept: names }
    }

    /// The cell of a combination of values, by their positions.
    pub fn cell(&self, values: impl Iterator<Item = u32>) -> u32 {
        let sized = self.attributes.iter().zip(values);
        sized.fold(0, |cell, (attribute, value)| cell * attribute.values.len() as u32 + value)
    }
}

/// How a query keeps an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Every value.
    Whole,
    /// The groups of a recode, by its number in the schema.
    Recode(usize),
}

/// The counts of one marginal: the matrix Q of the paper, a Kronecker product of identities and rows of ones (or, for a
/// recode, of the row of ones of each group).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryGroup {
    /// Its name.
    pub name: String,
    /// The attributes that are kept (I) or summed over (1'); `None` if a recode is kept, or there are two
    /// histograms.
    pub whole: Option<Vec<bool>>,
    /// For each cell of the histogram the count to which it belongs: the row of the entry 1 in each column of Q; [`NOWHERE`] for cells of
    /// another histogram.
    pub cell_of: Vec<u32>,
    /// The number of its counts: the rows of Q.
    counts: usize,
    /// The names of the groups of each kept attribute.
    kept: Vec<Vec<String>>,
}

impl QueryGroup {
    /// The number of its counts: the rows of Q.
    pub fn counts(&self) -> usize {
        self.counts
    }

    /// The label of each count: values joined by ` * `.
    pub fn labels(&self) -> Vec<String> {
        let mut labels = vec![String::new()];
        for values in &self.kept {
            let join = |label: &String, value: &String| match label.is_empty() {
                true => value.clone(),
                false => format!("{label} * {value}"),
            };
            labels = labels.iter().flat_map(|label| values.iter().map(move |value| join(label, value))).collect();
        }
        if self.kept.is_empty() {
            labels = vec!["total".to_string()];
        }
        labels
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(name: &str, size: usize) -> Attribute {
        Attribute { name: name.to_string(), values: (0..size).map(|value| value.to_string()).collect() }
    }

    #[test]
    fn two_records_change_all_queries_where_values_differ_in_all_groups() {
        let recode = |name: &str, group_of: [u32; 4]| Recode {
            name: name.into(),
            attribute: 0,
            group_of: group_of.to_vec(),
            groups: (0..=group_of.into_iter().max().unwrap_or(0)).map(|group| group.to_string()).collect(),
        };
        let recodes = vec![
            recode("p", [0, 0, 1, 1]),
            recode("q", [0, 1, 0, 1]),
            recode("r", [0, 1, 1, 0]),
            recode("all", [0, 0, 0, 0]),
        ];
        let attributes = vec![attribute("a", 4), attribute("b", 2), attribute("one", 1)];
        let schema = Schema { attributes, recodes, ..Schema::default() };
        let all = |queries: &[&str]| schema.changes_all(queries.iter().copied()).unwrap();
        assert!(all(&["total", "a", "b * one", "detailed", "all", "one"]) && all(&["p", "q", "a"]) && all(&[]));
        // Any two of the four values are in one group of one of the three recodes.
        assert!(!all(&["p", "q", "r * b"]));
        assert!(schema.changes_all(["nothing"].into_iter()).is_err());
    }

    /// Section 2.3: CENRACE * VOTINGAGE = I_63 (x) 1'_2 (x) I_2, against the product written out.
    #[test]
    fn a_second_histogram_is_read_and_its_mistakes_are_refused() {
        const HEAD: &str = "name = 'two'\ntitle = 't'\nsource = 's'\nneighbors = 'bounded'\n";
        const LEVEL: &str = "[[level]]\nname = 'A'\n[[level.query]]\nname = 'q'\nsigma2 = 1\n";
        let read = |attributes: &str| {
            crate::release::Release::parse(&[HEAD, attributes, LEVEL].concat(), "two.toml")
                .map_err(|why| why.to_string())
        };
        let one = "[[attribute]]\nname = 'a'\nsize = 2\n";
        let other = "[[attribute]]\nname = 'b'\nsize = 3\nhistogram = 'units'\n";
        let recode = "[[recode]]\nname = 'c'\nattribute = 'b'\ngroups = [['0', '1'], ['2']]\n";
        let schema = read(&[one, other, recode].concat()).unwrap().schema.unwrap();
        assert_eq!((schema.cells(), schema.all_cells(), schema.recodes.len()), (2, 5, 0));
        assert!(schema.asks_beside("c").is_some() && schema.asks_beside("a").is_none());
        assert!(read(other).unwrap_err().contains("and no first"));
        let third = other.replace("'units'", "'more'").replace("'b'", "'d'");
        assert!(read(&[one, other, &third].concat()).unwrap_err().contains("one histogram beside the first"));
        assert!(read(&[one, &other.replace("'b'", "'a'")].concat()).unwrap_err().contains("twice"));
    }

    #[test]
    fn a_query_group_is_the_kronecker_product_of_the_paper() {
        let attributes = vec![attribute("cenrace", 63), attribute("hispanic", 2), attribute("votingage", 2)];
        let recode = Recode {
            name: "few".into(),
            attribute: 0,
            group_of: (0..63).map(|value| u32::from(value > 5)).collect(),
            groups: vec!["a".into(), "b".into()],
        };
        let schema = Schema { attributes, recodes: vec![recode], ..Schema::default() };
        assert_eq!(schema.cells(), 252);
        let group = schema.group("cenrace * votingage").unwrap();
        assert_eq!((group.counts(), group.labels()[5].as_str()), (126, "2 * 1"));
        for row in 0..126_u32 {
            for column in 0..252_u32 {
                let (race, age) = (column / 4, column % 2);
                let identity = |a: u32, b: u32| u32::from(a == b);
                // The factor of the row of ones is one for any value of column / 2 % 2.
                let product = identity(row / 2, race) * identity(row % 2, age);
                assert_eq!(u32::from(group.cell_of[column as usize] == row), product);
            }
        }
        assert_eq!(schema.group("total").unwrap().counts(), 1);
        assert_eq!(schema.group("detailed").unwrap().cell_of, (0..252).collect::<Vec<u32>>());
        let few = schema.group("votingage*few").unwrap();
        assert_eq!(
            (few.labels(), few.whole.is_none()),
            (["a * 0", "a * 1", "b * 0", "b * 1"].map(String::from).to_vec(), true)
        );
        assert_eq!(schema.cell([7, 1, 0].into_iter()), 30);
        assert_eq!(few.cell_of[30], 2);
        for wrong in ["race", "cenrace * race", "cenrace * cenrace", "few * cenrace", ""] {
            let message = schema.group(wrong).unwrap_err().to_string();
            assert!(message.contains("votingage") || message.contains("once"), "{wrong}: {message}");
        }
        let beside = Schema { attributes: vec![attribute("tenure", 3)], ..Schema::default() };
        let schema = Schema { beside: Some(Box::new(Beside { name: "units".into(), schema: beside })), ..schema };
        assert_eq!((schema.cells(), schema.all_cells()), (252, 255));
        let (units, ages) = (schema.group("tenure").unwrap(), schema.group("votingage").unwrap());
        assert_eq!((units.counts(), &units.cell_of[251..]), (3, &[NOWHERE, 0, 1, 2][..]));
        assert_eq!((ages.counts(), &ages.cell_of[250..]), (2, &[0, 1, NOWHERE, NOWHERE, NOWHERE][..]));
        let message = schema.group("tenure * votingage").unwrap_err().to_string();
        assert!(message.contains("one of \"units\""), "{message}");
        let empty = Schema::default();
        assert!(empty.cells() == 1 && empty.group("total").unwrap().cell_of == [0]);
        assert_eq!(empty.group("detailed").unwrap().counts(), 1);
    }
}
