//! Published values about the block paths of a release: pairs of them, and the largest delta of all pairs.

use rug::Rational;

use super::claims::claims;
use crate::{
    account::{Account, Composition, paths::WorstPath},
    error::{Error, Result},
    loss::family::Units,
    release::{Neighbors, Release},
};

claims! {
    /// The claims. Paths are numbered from 1, in the order of the release's file.
    // The number of paths, and of unordered pairs of paths, including a path with itself.
    "paths" (release: String) => path_count(&with_paths(release)?.0) as u64;
    "pairs" (release: String) => with_paths(release)?.1.count() as u64;
    // delta(epsilon) of one pair, and the largest of all pairs.
    "delta" (release: String, pair, epsilon: Rational) with given =>
        of_pair(&Release::find(release)?, *pair)?.delta(epsilon, given.digits)?.value;
    "largest-delta" (release: String, epsilon) with given =>
        with_paths(release)?.1.delta_one_by_one(epsilon, given.digits)?.value;
}

fn with_paths(name: &str) -> Result<(Release, WorstPath)> {
    let release = Release::find(name)?;
    let worst = worst_path(&release)?;
    Ok((release, worst))
}

/// The composition of a pair of paths, numbered from 1.
pub(super) fn of_pair(release: &Release, [p, q]: [usize; 2]) -> Result<Composition> {
    let index = |path: usize| {
        let expected = format!("a path from 1 to {}", path_count(release));
        let inside = (1..=path_count(release)).contains(&path);
        inside.then(|| path - 1).ok_or_else(|| Error::out_of_range("path", path, &expected))
    };
    worst_path(release)?.composition((index(p)?, index(q)?))
}

/// The worst block path of a release: over pairs if neighbors differ in a changed record, over single paths if in an
/// added one.
pub(super) fn worst_path(release: &Release) -> Result<WorstPath> {
    let units = if release.neighbors == Neighbors::Bounded { Units::Pairs } else { Units::Single };
    WorstPath::new(release.path_compositions()?, units)
}

fn path_count(release: &Release) -> usize {
    release.paths.as_ref().map_or(0, |paths| paths.dropped.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    /// The common contour agrees with a contour for each pair, and many close candidates are refined to 14 digits.
    #[test]
    fn the_largest_delta_of_all_pairs_is_that_of_one_pair() {
        let release = Release::find("dhc-persons-us").unwrap();
        let worst = worst_path(&release).unwrap();
        let epsilon = parse("20").unwrap();
        let largest = worst.delta(&epsilon, 9).unwrap().value;
        let pairs = (0..path_count(&release)).flat_map(|p| (0..=p).map(move |q| (q, p)));
        let each = pairs.map(|pair| worst.composition(pair).unwrap().delta(&epsilon, 9).unwrap().value);
        let alone = each.reduce(|a, b| a.max(&b)).unwrap();
        assert!(largest.overlaps(&alone) && alone.is_tight(9), "{largest:?} {alone:?}");
        let sharp = worst.delta_one_by_one(&epsilon.clone().try_into().unwrap(), 14).unwrap();
        assert!(sharp.met && sharp.value.is_tight(14) && sharp.value.overlaps(&largest), "{sharp:?}");
    }

    #[test]
    fn paths_that_a_release_does_not_have_are_refused() {
        let release = Release::find("dhc-persons-us").unwrap();
        for pair in [[0, 1], [13, 44]] {
            let message = of_pair(&release, pair).unwrap_err().to_string();
            assert!(message.contains("a path from 1 to 43"), "{message}");
        }
        let without = Release::find("su-su-wang-2025").unwrap();
        assert!(worst_path(&without).is_err());
    }
}
