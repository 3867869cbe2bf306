//! The places where a record can be: whether one is in a region of every level, and whether two share none.

use std::collections::BTreeSet;

/// The largest number of different places that are kept, and of those that are compared with all others.
const MOST: usize = 2000;
const MOST_COMPARED: usize = 50;

/// Some places, each with its region of every type, or of every level.
#[derive(Clone, Debug)]
pub(in crate::safetab) struct PlaceSample {
    places: Vec<Vec<Option<u32>>>,
}

/// What is known about the places of a record, for some levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::safetab) struct Places {
    /// Whether a place is in a region of every level; also if there is no geography, whose places are those of the account.
    pub(in crate::safetab) everywhere: bool,
    /// Whether two such places share no region.
    pub(in crate::safetab) apart: bool,
}

impl PlaceSample {
    /// Different places among all, those in most regions first; not all of them if there are very many.
    pub(in crate::safetab) fn of_places(all: impl Iterator<Item = Vec<Option<u32>>>) -> PlaceSample {
        let mut seen: BTreeSet<Vec<Option<u32>>> = BTreeSet::new();
        for place in all {
            // A place in more regions of any kind is better than one in fewer, and the first of equals is enough.
            if seen.len() < MOST || place.iter().all(Option::is_some) && seen.len() < 2 * MOST {
                seen.insert(place);
            }
        }
        let mut places: Vec<Vec<Option<u32>>> = seen.into_iter().collect();
        places.sort_by_key(|place| place.iter().filter(|region| region.is_none()).count());
        PlaceSample { places }
    }

    /// For levels, each with its column of the sample; without a geography a place is taken to be in a region of every level.
    pub(in crate::safetab) fn places<'a>(levels: impl Iterator<Item = Option<(&'a PlaceSample, usize)>>) -> Places {
        let Some(levels) = levels.collect::<Option<Vec<_>>>().filter(|levels| !levels.is_empty()) else {
            return Places { everywhere: true, apart: false };
        };
        let (sample, _) = levels[0];
        let columns: Vec<usize> = levels.iter().map(|(_, column)| *column).collect();
        let regions = |place: &Vec<Option<u32>>| -> Option<Vec<u32>> {
            columns.iter().map(|column| place.get(*column).copied().flatten()).collect()
        };
        let within: Vec<Vec<u32>> = sample.places.iter().filter_map(regions).collect();
        let share_none = |one: &Vec<u32>, other: &Vec<u32>| one.iter().zip(other).all(|(one, other)| one != other);
        let apart = within.iter().take(MOST_COMPARED).any(|one| within.iter().any(|other| share_none(one, other)));
        Places { everywhere: !within.is_empty(), apart }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_everywhere_or_apart_by_the_levels_that_are_asked() {
        let sample = PlaceSample::of_places(
            [[Some(0), Some(0), None], [Some(0), Some(1), Some(0)], [Some(0), Some(2), Some(0)]]
                .map(Vec::from)
                .into_iter(),
        );
        let of = |columns: &[usize]| PlaceSample::places(columns.iter().map(|column| Some((&sample, *column))));
        assert_eq!(of(&[1]), Places { everywhere: true, apart: true });
        assert_eq!(of(&[0, 1, 2]), Places { everywhere: true, apart: false });
        assert_eq!(of(&[2]), Places { everywhere: true, apart: false });
        let none = PlaceSample::of_places([vec![None, Some(1)], vec![Some(1), None]].into_iter());
        let both = [0, 1].map(|column| Some((&none, column)));
        assert_eq!(PlaceSample::places(both.into_iter()), Places { everywhere: false, apart: false });
        assert_eq!(PlaceSample::places([None].into_iter()), Places { everywhere: true, apart: false });
    }
}
