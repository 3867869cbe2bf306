//! The ways of a record through a release, as a file gives them: mixes of groups and block paths.

use toml::Spanned;

use super::{MixFile, PathsFile, ReleaseFile, ReleaseReader};
use crate::{
    error::Result,
    release::{Changed, GeoLevel, Mix, Paths, Query, mixes::MOST_CHOICES, published::place_of},
};

impl ReleaseReader<'_> {
    /// The mixes, whose levels have queries of both kinds of groups; a level without a mix has no kinds.
    pub(super) fn mixes(&self, raw: &ReleaseFile, levels: &[GeoLevel]) -> Result<Vec<Mix>> {
        self.0.no_duplicates(raw.mixes.iter().map(|mix| &mix.get_ref().name), "mix")?;
        let mixes: Vec<Mix> = raw.mixes.iter().map(|mix| self.mix(mix, levels)).collect::<Result<_>>()?;
        let choices = mixes.iter().fold(1_u64, |all, mix| all.saturating_mul(mix.most.saturating_add(1)));
        if let Some(last) = raw.mixes.last().filter(|_| choices > MOST_CHOICES) {
            let why = format!(
                "all [[mix]] together allow {choices} mixes of groups; at most {MOST_CHOICES} are accounted for"
            );
            return Err(self.0.refuse(last.span().start, why));
        }
        if let (Some(mix), true) = (raw.mixes.first(), raw.paths.is_some()) {
            return Err(self.0.refuse(mix.span().start, "a release has either [[mix]] or [paths]"));
        }
        for (place, (level, file)) in levels.iter().zip(&raw.levels).enumerate() {
            let mut of_level = mixes.iter().filter(|mix| mix.levels.contains(&place));
            let (mix, at) = (of_level.next(), file.get_ref().name.span().start);
            if of_level.next().is_some() {
                return Err(self.0.refuse(at, format!("the level {:?} is in two [[mix]]", level.name)));
            }
            for (query, file) in level.queries.iter().zip(&file.get_ref().queries) {
                self.fits_mix(query, file.get_ref().name.span().start, mix)?;
            }
            let kinds = [true, false].map(|of_kind| level.queries.iter().any(|query| query.kind.is_some() == of_kind));
            if let (Some(mix), [false, _] | [_, false]) = (mix, kinds) {
                let why = format!(
                    "the level {:?} needs queries of kind = {:?} and queries without a kind",
                    level.name, mix.kind
                );
                return Err(self.0.refuse(at, why));
            }
        }
        Ok(mixes)
    }

    /// Checks a query at a level with a mix, or without.
    pub(super) fn fits_mix(&self, query: &Query, at: usize, mix: Option<&Mix>) -> Result<()> {
        let name = &query.name;
        let why = match (mix, &query.kind) {
            (None, None) => return Ok(()),
            (None, Some(kind)) => format!("the query {name:?} is of kind = {kind:?}, and no [[mix]] names its level"),
            (Some(mix), Some(kind)) if *kind != mix.kind => {
                format!(
                    "the query {name:?} is of kind = {kind:?}, and the [[mix]] of its level has kind = {:?}",
                    mix.kind
                )
            }
            (Some(mix), _) if query.cells != mix.groups => format!(
                "the query {name:?} has cells = {}, and the [[mix]] of its level has {} groups: a record is in one cell of each, and the \
                 budget is that of all",
                query.cells, mix.groups
            ),
            (Some(_), _) if query.changed != Changed::Twice => {
                format!(
                    "the query {name:?}: moves and counts_as_given do not say which groups are left and which are entered, as a [[mix]] needs it"
                )
            }
            (Some(_), _) => return Ok(()),
        };
        Err(self.0.refuse(at, why))
    }

    fn mix(&self, raw: &Spanned<MixFile>, levels: &[GeoLevel]) -> Result<Mix> {
        let mix = raw.get_ref();
        for text in [&mix.name, &mix.kind] {
            if text.get_ref().trim().is_empty() {
                return Err(self.0.refuse(text.span().start, "a [[mix]] needs a name and a kind of groups"));
            }
        }
        self.0.no_duplicates(mix.levels.iter(), "level")?;
        let place = |name: &Spanned<String>| place_of(self.0, levels, name);
        let places: Vec<usize> = mix.levels.iter().map(place).collect::<Result<_>>()?;
        if places.is_empty() {
            return Err(self.0.refuse(raw.span().start, "a [[mix]] needs at least one level"));
        }
        let groups = self.0.whole(&mix.groups, 1, "groups")?;
        let most = self.0.whole(&mix.most, 1, "most")?;
        if most > groups {
            let why = format!("most = {most} is more than the {groups} groups of a record");
            return Err(self.0.refuse(mix.most.span().start, why));
        }
        Ok(Mix { name: mix.name.get_ref().clone(), levels: places, groups, kind: mix.kind.get_ref().clone(), most })
    }

    /// Paths come in pairs, the one that a changed record leaves and the one that it enters: every count must be on both.
    pub(super) fn moves_as_paths_do(&self, at: usize, levels: &[GeoLevel]) -> Result<()> {
        let mut queries = levels.iter().flat_map(|level| &level.queries);
        let why = match queries.find(|query| query.changed != Changed::Twice) {
            None => return Ok(()),
            Some(query) if query.changed == Changed::Never => {
                format!(
                    "the query {:?} says moves = 0, and the counts of [paths] are those that a record leaves and enters",
                    query.name
                )
            }
            Some(query) if query.changed == Changed::Guaranteed => format!(
                "the query {:?} is a guarantee about two neighbors, and the counts of [paths] are those that a record leaves and enters",
                query.name
            ),
            Some(_) => "counts_as_given does not say which counts are left and which are entered, as [paths] need it"
                .to_string(),
        };
        Err(self.0.refuse(at, why))
    }

    pub(super) fn paths(&self, raw: &Spanned<PathsFile>, levels: &[GeoLevel]) -> Result<Paths> {
        /// All subsets of more levels would be too many pairs.
        const MOST_DROPPABLE: usize = 7;
        let (at, paths) = (raw.span().start, raw.get_ref());
        let mut queries = levels.iter().flat_map(|level| &level.queries);
        if let Some(other) = queries.find(|query| query.law.sigma2().is_none() || query.law.has_bounded_loss()) {
            let why = format!(
                "a bypassed level's rho moves to the level above, where it buys less noise in proportion: not so for the \
                 {} of the query {:?}",
                other.law.in_words(),
                other.name
            );
            return Err(self.0.refuse(at, why));
        }
        let index = |name: &str, at: usize| {
            let found = levels.iter().position(|level| level.name == name).filter(|&index| index > 0);
            found.ok_or_else(|| {
                self.0.refuse(at, format!("{name:?} is not a level below the first, which keeps its own"))
            })
        };
        self.0.no_duplicates(paths.droppable.iter(), "droppable level")?;
        let droppable: Vec<usize> =
            (paths.droppable.iter()).map(|name| index(name.get_ref(), name.span().start)).collect::<Result<_>>()?;
        if droppable.len() > MOST_DROPPABLE {
            return Err(self.0.refuse(at, format!("at most {MOST_DROPPABLE} levels can be droppable")));
        }
        let Some(sets) = &paths.dropped else {
            let subset = |bits: usize| (0..droppable.len()).filter(move |k| bits >> k & 1 == 1);
            let subsets = (0..1 << droppable.len()).map(|bits| subset(bits).map(|k| droppable[k]).collect());
            return Ok(Paths { note: paths.note.clone(), dropped: subsets.collect() });
        };
        let mut dropped: Vec<Vec<usize>> = Vec::new();
        for set in sets {
            let at = set.span().start;
            let mut indices: Vec<usize> = set.get_ref().iter().map(|name| index(name, at)).collect::<Result<_>>()?;
            if let Some(fixed) = indices.iter().find(|index| !droppable.contains(index)) {
                return Err(self.0.refuse(at, format!("{:?} is not among the droppable levels", levels[*fixed].name)));
            }
            indices.sort_unstable();
            if indices.windows(2).any(|pair| pair[0] == pair[1]) || dropped.contains(&indices) {
                return Err(self.0.refuse(at, "a level or a set of dropped levels occurs twice"));
            }
            dropped.push(indices);
        }
        if dropped.is_empty() {
            return Err(self.0.refuse(at, "dropped names no path; the empty set [] is the path that drops nothing"));
        }
        Ok(Paths { note: paths.note.clone(), dropped })
    }
}
