//! The labels of the cells of a query: the value of a cell for each attribute or recode that the query keeps.

use crate::{
    error::Result,
    release::schema::{Kept, Schema},
};

/// An attribute or a recode that a query keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Its name.
    pub name: String,
    /// The number of the attribute in the schema.
    pub attribute: usize,
    /// The labels of its values or groups.
    pub values: Vec<String>,
}

/// The attributes and recodes that a query keeps, the last one fastest among its cells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// In the order of the cells.
    pub kinds: Vec<Kind>,
}

impl Labels {
    /// In the order of the schema, which the files use.
    pub fn stored(schema: &Schema, name: &str) -> Result<Labels> {
        let kind = |(attribute, kept): (usize, Option<Kept>)| {
            let own = &schema.attributes[attribute];
            match kept? {
                Kept::Whole => Some(Kind { name: own.name.clone(), attribute, values: own.values.clone() }),
                Kept::Recode(recode) => {
                    let recode = &schema.recodes[recode];
                    let group = |group: usize| {
                        let is_in = |value: &usize| recode.group_of[*value] as usize == group;
                        in_ranges(&own.values, &(0..own.values.len()).filter(is_in).collect::<Vec<_>>())
                    };
                    let values = (0..recode.groups.len()).map(group).collect();
                    Some(Kind { name: recode.name.clone(), attribute, values })
                }
            }
        };
        Ok(Labels { kinds: schema.keeps(name)?.into_iter().enumerate().filter_map(kind).collect() })
    }

    /// In the order of the query's name.
    pub fn written(schema: &Schema, name: &str) -> Result<Labels> {
        let mut labels = Labels::stored(schema, name)?;
        let parts: Vec<&str> = name.split('*').map(str::trim).collect();
        let place = |kind: &Kind| parts.iter().position(|part| *part == kind.name).unwrap_or(0);
        labels.kinds.sort_by_key(place);
        Ok(labels)
    }

    /// For each cell in this order its number in the order of the schema; `None` if both are the same.
    pub fn order(&self) -> Option<Vec<u32>> {
        if self.kinds.is_sorted_by_key(|kind| kind.attribute) {
            return None;
        }
        let inner = |own: &Kind| {
            let later = self.kinds.iter().filter(|kind| kind.attribute > own.attribute);
            later.map(|kind| kind.values.len()).product::<usize>() as u32
        };
        let mut cells = vec![0_u32];
        for kind in &self.kinds {
            let (step, size) = (inner(kind), kind.values.len() as u32);
            cells = cells.iter().flat_map(|cell| (0..size).map(move |value| cell + value * step)).collect();
        }
        Some(cells)
    }

    /// The value of a cell for the kind of this number.
    pub fn value(&self, kind: usize, cell: usize) -> &str {
        let inner: usize = self.kinds[kind + 1..].iter().map(|kind| kind.values.len()).product();
        let values = &self.kinds[kind].values;
        &values[cell / inner % values.len()]
    }

    /// A description of a cell: `votingage=below-18, hispanic=hispanic`; empty for a total.
    pub fn words(&self, cell: usize) -> String {
        let word = |(at, kind): (usize, &Kind)| format!("{}={}", kind.name, self.value(at, cell));
        self.kinds.iter().enumerate().map(word).collect::<Vec<_>>().join(", ")
    }
}

/// Values joined by `+`; if all values of the attribute are their own numbers, consecutive ones as a range, as `0-17`.
fn in_ranges(names: &[String], members: &[usize]) -> String {
    let is_numbered = names.iter().enumerate().all(|(at, name)| name.parse() == Ok(at));
    let mut parts: Vec<String> = Vec::new();
    let mut rest = members;
    while let Some(first) = rest.first() {
        let run = (0..rest.len()).take_while(|at| rest[*at] == first + at).count();
        if is_numbered && run > 2 {
            parts.push(format!("{}-{}", names[*first], names[first + run - 1]));
            rest = &rest[run..];
        } else {
            parts.push(names[*first].clone());
            rest = &rest[1..];
        }
    }
    parts.join("+")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::Release;

    #[test]
    fn cells_follow_the_order_of_the_name() {
        let schema = Release::find("pl94-persons-us").unwrap().schema.unwrap();
        let stored = Labels::written(&schema, "votingage*hispanic").unwrap();
        assert_eq!(stored.order(), None);
        let written = Labels::written(&schema, "hispanic * votingage").unwrap();
        // Not Hispanic below 18, not Hispanic above, Hispanic below 18, Hispanic above.
        assert_eq!(written.order(), Some(vec![0, 2, 1, 3]));
        assert_eq!(written.words(1), "hispanic=not-hispanic, votingage=18-and-over");
        assert_eq!(written.value(0, 2), "hispanic");
        let three = Labels::written(&schema, "cenrace * hhinstlevels * votingage").unwrap();
        let order = three.order().unwrap();
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..3 * 2 * 63));
        // Race 5, institutions (group 1 of 3), above 18: in the order of the files 1 x 126 + 1 x 63 + 5.
        let words = "cenrace=5, hhinstlevels=correctional+juvenile+nursing+other-institutional, votingage=18-and-over";
        assert_eq!((order[5 * 6 + 3], three.words(5 * 6 + 3).as_str()), (194, words));
        assert_eq!(Labels::written(&schema, "detailed").unwrap().order(), None);
        assert_eq!(Labels::written(&schema, "total").unwrap().words(0), "");
    }

    #[test]
    fn groups_of_numbers_are_ranges() {
        let names: Vec<String> = (0..12).map(|value| value.to_string()).collect();
        assert_eq!(in_ranges(&names, &[0, 1, 2, 4, 5, 7, 8, 9, 10]), "0-2+4+5+7-10");
        let named: Vec<String> = ["a", "b", "c"].map(String::from).to_vec();
        assert_eq!(in_ranges(&named, &[0, 1, 2]), "a+b+c");
    }
}
