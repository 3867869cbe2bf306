//! Mixes of groups: a record is in several population groups of a level, of kinds that are counted in different ways, and the
//! number of each kind depends on the record.
//!
//! Every mix spends the same rho, but not the same epsilon: an account takes the worst of all mixes. The groups of a record are
//! the same at all levels of a mix.

use super::{Changed, GeoLevel, Mix, Neighbors, Query, Release};
use crate::{
    account::{Composition, Counts},
    error::{Error, Result},
};

/// The number of a record's groups of the kind of each mix; `None` for a mix that is not requested.
pub(super) type Choice = Vec<Option<u64>>;

/// The largest number of mixes: with bounded neighbors they come in pairs.
pub(super) const MOST_CHOICES: u64 = 128;

impl Release {
    /// The mix of a level, and its number.
    pub(super) fn mix_of(&self, level: usize) -> Option<(usize, &Mix)> {
        self.mixes.iter().enumerate().find(|(_, mix)| mix.levels.contains(&level))
    }

    /// Every choice for the mixes of these levels, fewest groups of the kind first; a single empty one if no level has a mix.
    pub(super) fn choices(&self, levels: &[usize]) -> Vec<Choice> {
        let mut choices: Vec<Choice> = vec![Vec::new()];
        for mix in &self.mixes {
            let counts: Vec<Option<u64>> = match mix.levels.iter().any(|level| levels.contains(level)) {
                true => (0..=mix.most).map(Some).collect(),
                false => vec![None],
            };
            let longer = |choice: Choice| {
                counts
                    .iter()
                    .map(move |count| choice.iter().copied().chain([*count]).collect())
                    .collect::<Vec<Choice>>()
            };
            choices = choices.into_iter().flat_map(longer).collect();
        }
        choices
    }

    /// A choice with groups of both kinds, if a record can have such: it contains all noise of the levels.
    pub(super) fn typical(&self, levels: &[usize]) -> Choice {
        let of = |mix: &Mix| {
            let concerned = mix.levels.iter().any(|level| levels.contains(level));
            concerned.then(|| mix.most.min(mix.groups.saturating_sub(1)).min(1))
        };
        self.mixes.iter().map(of).collect()
    }

    /// A choice in words.
    pub(super) fn in_words(&self, choice: &Choice) -> String {
        let part = |(mix, count): (&Mix, &Option<u64>)| {
            Some(format!("{} of {} groups {} at {}", (*count)?, mix.groups, mix.kind, mix.name))
        };
        let parts: Vec<String> = self.mixes.iter().zip(choice).filter_map(part).collect();
        parts.join(", ")
    }

    /// The counts that a record of this choice changes at these levels under a relation, each counted `times` times.
    pub(super) fn counts_of(
        &self,
        levels: &[usize],
        choice: &Choice,
        neighbors: Neighbors,
        times: &dyn Fn(Changed) -> Result<u64>,
    ) -> Result<Vec<Counts>> {
        let mut counts = Vec::new();
        for &level in levels {
            let mix = self.mix_of(level).and_then(|(number, mix)| Some((mix, (*choice.get(number)?)?)));
            for query in &self.levels[level].queries {
                let cells = match mix {
                    None => query.cells,
                    Some((mix, of_kind)) if query.kind.as_ref() == Some(&mix.kind) => of_kind,
                    Some((mix, of_kind)) => mix.groups - of_kind,
                };
                // No group of this record is of the kind of this query.
                if cells > 0 {
                    let query = self.as_changed(Query { cells, ..query.clone() }, neighbors)?;
                    counts.extend(query.counts_times(times(query.changed)?)?);
                }
            }
        }
        Ok(counts)
    }

    /// The release with its guarantees as they are under a relation, as its own.
    ///
    /// An error for a guarantee about a changed record under add-remove, and for one that does not say what holds for two records.
    pub fn under(&self, neighbors: Neighbors) -> Result<Release> {
        let mut release = self.clone();
        for query in release.levels.iter_mut().flat_map(|level| &mut level.queries) {
            *query = self.as_changed(query.clone(), neighbors)?;
        }
        release.neighbors = neighbors;
        Ok(release)
    }

    /// A query under a relation. A guarantee about a changed record says nothing about one record more or less: their number may be published. One about a record more or
    /// less covers a changed record as a group of two, one that leaves and one that enters: a pure guarantee, and a bounded range, has twice its epsilon, and responses are
    /// given twice. Two copies of the pair of a guarantee would be too few, because the mechanism may answer both records with one draw of noise.
    fn as_changed(&self, query: Query, neighbors: Neighbors) -> Result<Query> {
        if query.changed != Changed::Guaranteed || self.neighbors == neighbors {
            return Ok(query);
        }
        let refused = |why: String| Error::unsuitable(format!("{}, query {:?}: {why}", self.name, query.name));
        if neighbors == Neighbors::AddRemove {
            let why = "it is a guarantee for bounded neighbors, which says nothing about one record more or less: use bounded neighbors";
            return Err(refused(why.to_string()));
        }
        let once = Composition::new([Counts::new(query.law.clone(), 1, query.shift)?])?;
        let twice =
            once.for_groups_of(2).map_err(|error| refused(format!("a changed record leaves and enters: {error}")))?;
        let of_two = &twice.counts()[0];
        let (law, cells, shift) = (of_two.law.clone(), query.cells.saturating_mul(of_two.count), of_two.shift);
        Ok(Query { law, cells, shift, ..query })
    }

    /// The counts that a record of each choice enters or leaves at these levels, one side of a pair under bounded neighbors; with the choice in
    /// words.
    #[doc(hidden)]
    pub fn mixes_at(&self, levels: &[usize], neighbors: Neighbors) -> Result<Vec<(String, Composition)>> {
        let of = |choice: Choice| {
            let counts = self.counts_of(levels, &choice, neighbors, &|changed| changed.times_a_side(neighbors))?;
            Ok((self.in_words(&choice), Composition::new(counts)?))
        };
        self.choices(levels).into_iter().map(of).collect()
    }

    /// The largest number of counts of a query, with all like it, that one record changes; none if none of them changes.
    pub(super) fn query_counts(&self, level: usize, query: &Query, neighbors: Neighbors) -> Result<Vec<Counts>> {
        let cells = match self.mix_of(level) {
            Some((_, mix)) if query.kind.as_ref() == Some(&mix.kind) => mix.most,
            _ => query.cells,
        };
        self.as_changed(Query { cells, ..query.clone() }, neighbors)?.counts(neighbors)
    }

    /// The queries of these levels of which no count changes under a relation.
    pub(super) fn unmoved(&self, levels: &[usize], neighbors: Neighbors) -> Vec<String> {
        let of_level = |level: &GeoLevel| {
            let queries = level.queries.iter().filter(|query| query.changed == Changed::Never);
            queries.map(|query| format!("{} / {}", level.name, query.name)).collect::<Vec<String>>()
        };
        match neighbors {
            Neighbors::AddRemove => Vec::new(),
            Neighbors::Bounded => levels.iter().flat_map(|level| of_level(&self.levels[*level])).collect(),
        }
    }

    /// How often its counts are counted under a relation: the largest number of all.
    pub fn times_each_count(&self, neighbors: Neighbors) -> Result<u64> {
        let queries = self.levels.iter().flat_map(|level| &level.queries);
        let times: Result<Vec<u64>> = queries.map(|query| query.changed.times(neighbors)).collect();
        Ok(times?.into_iter().max().unwrap_or(1))
    }

    /// The indices of the named levels, each named once; of all levels if none is named.
    #[doc(hidden)]
    pub fn places(&self, names: &[impl AsRef<str>]) -> Result<Vec<usize>> {
        if names.is_empty() {
            return Ok((0..self.levels.len()).collect());
        }
        let mut places = Vec::new();
        for name in names {
            self.level(name.as_ref())?;
            let place = self.levels.iter().position(|level| level.name == name.as_ref()).unwrap_or_default();
            if places.contains(&place) {
                return Err(Error::conflict(format!(
                    "the level {:?} is named twice: name each once, it is counted once",
                    name.as_ref()
                )));
            }
            places.push(place);
        }
        Ok(places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::Law;

    #[test]
    fn a_guarantee_for_add_remove_covers_a_changed_record_as_two() {
        let of = |own: &str, law: &str, neighbors: Neighbors| {
            let text = format!(
                "name='g'\ntitle='t'\nsource='s'\nneighbors='{own}'\n[[level]]\nname='A'\n[[level.query]]\nname='q'\ntimes=3\n{law}\n"
            );
            Release::parse(&text, "f").unwrap().composition(&[] as &[&str], Some(neighbors))
        };
        let pure = "law='pure'\nepsilon='1/2'";
        let counts = |own: &str, law: &str, neighbors| of(own, law, neighbors).unwrap().counts().to_vec();
        let expected = |text: &str| vec![Counts::parse("pure", text).unwrap()];
        assert_eq!(counts("add-remove", pure, Neighbors::AddRemove), expected("1/2x3"));
        assert_eq!(counts("add-remove", pure, Neighbors::Bounded), expected("1/2x3@2"));
        assert_eq!(counts("bounded", pure, Neighbors::Bounded), expected("1/2x3"));
        // (epsilon, delta) of one record is (2 epsilon, delta (1 + e^epsilon)) of two.
        let approximate = "law='approximate'\nepsilon='1/2'\ndelta=1e-9";
        let Law::Approximate { epsilon, delta } = &counts("add-remove", approximate, Neighbors::Bounded)[0].law else {
            panic!()
        };
        assert!(*epsilon == 1 && (delta.to_f64() / (1e-9 * (1.0 + 0.5_f64.exp())) - 1.0).abs() < 1e-12);
        // A record that leaves changes one answer, and one that enters another.
        let response = "law='randomized-response'\nepsilon=1\nanswers=2";
        assert_eq!(counts("add-remove", response, Neighbors::AddRemove)[0].count, 3);
        assert_eq!(counts("add-remove", response, Neighbors::Bounded)[0].count, 6);
        assert_eq!(counts("bounded", response, Neighbors::Bounded)[0].count, 3);
        // Nothing follows from a change for one record more or less.
        for law in [pure, approximate, response, "law='exponential'\nepsilon=1"] {
            let error = of("bounded", law, Neighbors::AddRemove).unwrap_err().to_string();
            assert!(error.contains("nothing about one record more or less"), "{error}");
        }
    }
}
