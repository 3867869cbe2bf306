//! What one record changes in a release, listed from the release itself: the question with which the account of the release is compared
//! ([`definition`](crate::account::definition)).
//!
//! It reads queries, budgets, paths and mixes by code of its own, and shares none with the compositions. Of what it does not cover it says nothing.

use rug::Rational;

use super::{Changed, GeoLevel, Mix, Neighbors, Query, Release, subject::Subject};
use crate::{
    account::{Counts, definition::Definition},
    law::{Changes, Law},
};

/// The counts of queries, by how a record changes them.
#[derive(Default)]
struct Sides {
    /// Those that a record enters; one that changes leaves as many.
    entered: Vec<Counts>,
    /// Those that differ between neighbors as they are given.
    given: Vec<Counts>,
}

impl Sides {
    /// Adds this number of counts of a query. `None` of what is not covered.
    fn add(&mut self, query: &Query, cells: u64, own: Neighbors, asked: Neighbors) -> Option<()> {
        let is_bounded = asked == Neighbors::Bounded;
        let count = query.times.checked_mul(cells)?;
        if count == 0 || is_bounded && query.law.is_sampled() {
            return (count == 0).then_some(());
        }
        // What is guaranteed about one record more or less covers a changed one as two records: twice the losses of a guarantee, or twice the answers.
        let of_two = is_bounded && own == Neighbors::AddRemove && query.changed == Changed::Guaranteed;
        let (count, shift) = match &query.law {
            _ if !of_two => (count, query.shift),
            Law::Pure { .. } | Law::BoundedRange { .. } => (count, query.shift.checked_mul(2)?),
            Law::RandomizedResponse { .. } => (count.checked_mul(2)?, query.shift),
            _ => return None,
        };
        let changes = Changes::UpTo { one: shift };
        let counts = Counts { law: query.law.clone(), count, shift, free_rows: query.free_rows, changes };
        match query.changed {
            Changed::Twice => self.entered.push(counts),
            Changed::Never if is_bounded => {}
            Changed::Never => self.entered.push(counts),
            Changed::AsGiven if is_bounded => self.given.push(counts),
            Changed::AsGiven => return None,
            Changed::Guaranteed => self.given.push(counts),
        }
        Some(())
    }
}

impl Subject {
    /// The question of the account of these levels of the release, of all paths where they are all levels, and of counts given one by one.
    pub(super) fn question(&self, places: &[usize], with_singles: bool, neighbors: Neighbors) -> Option<Definition> {
        let release = self.release.as_ref()?;
        let is_changed = neighbors == Neighbors::Bounded;
        let mut all = match &release.paths {
            Some(paths) if self.levels.is_empty() && places.len() == release.levels.len() => {
                release.of_paths(&paths.dropped, neighbors)?
            }
            _ => release.of_mixes(places, neighbors)?,
        };
        for single in self.singles.iter().filter(|_| with_singles) {
            let is_once = is_changed && (self.counts_as_given || single.law.is_guarantee());
            if is_once { all.given.push(single.clone()) } else { all.counts.push(single.clone()) }
        }
        Some(Definition { is_changed, group: self.group, repeat: self.repeat, ..all })
    }

    /// That of one query alone, with the largest number of its counts that a record can be in.
    pub(super) fn question_of_query(&self, place: usize, query: &Query, neighbors: Neighbors) -> Option<Definition> {
        let release = self.release.as_ref()?;
        let own_mix = release.mixes.iter().find(|mix| mix.levels.contains(&place));
        let of_kind = own_mix.filter(|mix| query.kind.as_deref() == Some(mix.kind.as_str()));
        let mut sides = Sides::default();
        sides.add(query, of_kind.map_or(query.cells, |mix| mix.most), release.neighbors, neighbors)?;
        let (is_changed, group, repeat) = (neighbors == Neighbors::Bounded, self.group, self.repeat);
        let (counts, given) = (sides.entered, sides.given);
        Some(Definition { counts, given, is_changed, group, repeat, ..Definition::default() })
    }
}

impl Release {
    /// Every path through the levels: the budget of levels that it bypasses goes to the last level before them.
    fn of_paths(&self, dropped: &[Vec<usize>], neighbors: Neighbors) -> Option<Definition> {
        let mut all = Definition::default();
        // The blocks of a level, by the budget that it spends.
        let mut known: Vec<(usize, Rational)> = Vec::new();
        for bypassed in dropped {
            let mut spent: Vec<(usize, Rational)> = Vec::new();
            for (number, level) in self.levels.iter().enumerate() {
                match spent.last_mut() {
                    _ if !bypassed.contains(&number) => spent.push((number, level.rho.clone())),
                    Some((_, rho)) => *rho += &level.rho,
                    // No level before it takes its budget.
                    None => return None,
                }
            }
            let mut route = Vec::new();
            for one in spent {
                let block = match known.iter().position(|other| *other == one) {
                    Some(block) => block,
                    None => {
                        all.blocks.push(self.of_level_with(&self.levels[one.0], &one.1, neighbors)?);
                        known.push(one);
                        known.len() - 1
                    }
                };
                route.push(block);
            }
            all.routes.push(route);
        }
        Some(all)
    }

    /// The counts of a level that spends this budget, each query the same share of it: rho = shift^2 / (2 sigma2) for each count.
    fn of_level_with(&self, level: &GeoLevel, rho: &Rational, neighbors: Neighbors) -> Option<Vec<Counts>> {
        let mut sides = Sides::default();
        for query in &level.queries {
            let law = match &query.law {
                law if *rho == level.rho => law.clone(),
                Law::DiscreteGaussian { sigma2 } => {
                    Law::DiscreteGaussian { sigma2: Rational::from(sigma2 * &level.rho) / rho }
                }
                _ => return None,
            };
            // On a path every query counts, whether or not a changed record would leave its cell.
            if query.changed != Changed::Twice {
                return None;
            }
            sides.add(&Query { law, ..query.clone() }, query.cells, self.neighbors, neighbors)?;
        }
        Some(sides.entered)
    }

    /// Levels, with every mix of groups where a record's groups are of two kinds: the same at all levels of a mix.
    fn of_mixes(&self, places: &[usize], neighbors: Neighbors) -> Option<Definition> {
        let mixes: Vec<&Mix> =
            self.mixes.iter().filter(|mix| mix.levels.iter().any(|level| places.contains(level))).collect();
        let (mut all, mut mixed) = (Sides::default(), Definition::default());
        for place in places.iter().filter(|place| !mixes.iter().any(|mix| mix.levels.contains(place))) {
            for query in &self.levels[*place].queries {
                all.add(query, query.cells, self.neighbors, neighbors)?;
            }
        }
        let mut routes: Vec<Vec<usize>> = vec![Vec::new()];
        for mix in &mixes {
            let mut own = Vec::new();
            for of_kind in 0..=mix.most {
                let mut sides = Sides::default();
                for place in places.iter().filter(|place| mix.levels.contains(place)) {
                    for query in &self.levels[*place].queries {
                        let is_of_kind = query.kind.as_deref() == Some(mix.kind.as_str());
                        let groups = if is_of_kind { of_kind } else { mix.groups.checked_sub(of_kind)? };
                        sides.add(query, groups, self.neighbors, neighbors)?;
                    }
                }
                // What is given for two neighbors has no sides.
                if !sides.given.is_empty() {
                    return None;
                }
                own.push(mixed.blocks.len());
                mixed.blocks.push(sides.entered);
            }
            let with = |route: &Vec<usize>| {
                let route = route.clone();
                own.iter()
                    .map(move |block| route.iter().copied().chain([*block]).collect())
                    .collect::<Vec<Vec<usize>>>()
            };
            routes = routes.iter().flat_map(with).collect();
        }
        if !mixes.is_empty() {
            mixed.routes = routes;
        }
        Some(Definition { counts: all.entered, given: all.given, ..mixed })
    }
}
