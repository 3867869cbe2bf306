//! The neighbor relations, their names, and how often a changed record changes a count.

use std::str::FromStr;

use toml::Spanned;

use crate::{
    error::{Error, Result},
    io::toml_reader::TomlReader,
};

/// The neighbor relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Neighbors {
    /// One record more or less: it leaves or enters one cell of each query.
    AddRemove,
    /// One record changed: it leaves one cell and enters another.
    Bounded,
}

impl Neighbors {
    /// Both relations.
    pub const ALL: [Neighbors; 2] = [Neighbors::AddRemove, Neighbors::Bounded];

    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Neighbors::AddRemove => "add-remove",
            Neighbors::Bounded => "bounded",
        }
    }

    /// Other accepted names of the same relation.
    pub fn synonyms(self) -> &'static [&'static str] {
        match self {
            Neighbors::AddRemove => &["unbounded", "add-delete"],
            Neighbors::Bounded => &["replace-one", "replace", "change-one", "substitution"],
        }
    }

    /// All accepted names, its own first.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        [self.name()].into_iter().chain(self.synonyms().iter().copied())
    }

    /// Its meaning, in a few words.
    pub fn meaning(self) -> &'static str {
        match self {
            Neighbors::AddRemove => "one record more or less",
            Neighbors::Bounded => "one record changed",
        }
    }

    /// The accepted names, both relations with equal standing: neither is suggested instead of the other.
    pub fn expected() -> String {
        let all = Neighbors::ALL.map(|relation| {
            format!("{} ({}; also {})", relation.name(), relation.meaning(), relation.synonyms().join(", "))
        });
        all.join(" or ")
    }

    /// The relation of a name in a file.
    #[doc(hidden)]
    pub fn read(reader: &TomlReader, name: &Spanned<String>) -> Result<Neighbors> {
        name.get_ref().parse().map_err(|_| {
            let why = format!("neighbors = {:?}: expected {}", name.get_ref(), Neighbors::expected());
            reader.refuse(name.span().start, why)
        })
    }

    /// The number of cells of a query that differ for each cell that contains a record.
    #[doc(hidden)]
    pub fn cells(self) -> u64 {
        match self {
            Neighbors::AddRemove => 1,
            Neighbors::Bounded => 2,
        }
    }
}

impl FromStr for Neighbors {
    type Err = Error;

    /// By its name or a synonym, in any case.
    fn from_str(text: &str) -> Result<Neighbors> {
        let is_named = |relation: &Neighbors| relation.names().any(|name| text.eq_ignore_ascii_case(name));
        let found = Neighbors::ALL.into_iter().find(is_named);
        found.ok_or_else(|| Error::malformed("neighbors", text, &Neighbors::expected()))
    }
}

/// How often a count is counted if one record is changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Changed {
    /// Twice: the record leaves one count and enters another. For a query of a single cell, which it cannot leave, that is an
    /// upper bound.
    #[default]
    Twice,
    /// Once: the counts are already those that differ between bounded neighbors.
    AsGiven,
    /// Never: the record stays in its cell.
    Never,
    /// Once under each relation: it is a guarantee about two neighbors.
    Guaranteed,
}

impl Changed {
    /// How often, in a word.
    pub fn name(self) -> &'static str {
        match self {
            Changed::Twice => "twice",
            Changed::AsGiven => "as given",
            Changed::Never => "never",
            Changed::Guaranteed => "guaranteed",
        }
    }

    /// How often each count is counted under a relation. Counts that are given for bounded neighbors do not determine the effect of a record
    /// more or less.
    pub fn times(self, neighbors: Neighbors) -> Result<u64> {
        match (self, neighbors) {
            (Changed::Twice, _) => Ok(neighbors.cells()),
            (Changed::AsGiven, Neighbors::Bounded) => Ok(1),
            (Changed::AsGiven, Neighbors::AddRemove) => {
                let expected = "bounded, for which the counts are given: they do not say how far one record more or less moves them";
                Err(Error::malformed("neighbors", neighbors.name(), expected))
            }
            (Changed::Never, Neighbors::Bounded) => Ok(0),
            (Changed::Never, Neighbors::AddRemove) => Ok(1),
            (Changed::Guaranteed, Neighbors::AddRemove | Neighbors::Bounded) => Ok(1),
        }
    }

    /// How often each count is on one side of a pair of ways; a record enters one of them, or leaves one and enters the other.
    /// Counts that are given for bounded neighbors have no sides.
    pub fn times_a_side(self, neighbors: Neighbors) -> Result<u64> {
        match (self, neighbors) {
            (Changed::Twice, Neighbors::AddRemove | Neighbors::Bounded) => Ok(1),
            (Changed::Never, _) => self.times(neighbors),
            (Changed::AsGiven | Changed::Guaranteed, _) => {
                let expected = "counts of which it is known which are left and which are entered, as block paths and mixes of groups need it";
                Err(Error::malformed("counts_as_given", "true", expected))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_in_use_is_read_and_no_other_is_guessed() {
        for (text, relation) in [
            ("add-remove", Neighbors::AddRemove),
            ("unbounded", Neighbors::AddRemove),
            ("Add-Delete", Neighbors::AddRemove),
            ("bounded", Neighbors::Bounded),
            ("replace-one", Neighbors::Bounded),
            ("replace", Neighbors::Bounded),
            ("change-one", Neighbors::Bounded),
            ("SUBSTITUTION", Neighbors::Bounded),
        ] {
            assert_eq!(text.parse::<Neighbors>().unwrap(), relation, "{text}");
        }
        for text in ["", "bound", "unbound", "add", "replace one", "none", "bounded "] {
            let message = text.parse::<Neighbors>().unwrap_err().to_string();
            for relation in Neighbors::ALL {
                assert!(message.contains(relation.name()), "{message}");
                assert!(relation.synonyms().iter().all(|name| message.contains(name)), "{message}");
            }
        }
    }

    #[test]
    fn a_changed_record_takes_a_count_twice_once_or_never() {
        let times = |changed: Changed| Neighbors::ALL.map(|relation| changed.times(relation).ok());
        assert_eq!(times(Changed::Twice), [Some(1), Some(2)]);
        assert_eq!(times(Changed::AsGiven), [None, Some(1)]);
        assert_eq!(times(Changed::Never), [Some(1), Some(0)]);
        let of_side = |changed: Changed| Neighbors::ALL.map(|relation| changed.times_a_side(relation).ok());
        assert_eq!(of_side(Changed::Twice), [Some(1), Some(1)]);
        assert_eq!(of_side(Changed::AsGiven), [None, None]);
        assert_eq!(of_side(Changed::Never), [Some(1), Some(0)]);
    }
}
