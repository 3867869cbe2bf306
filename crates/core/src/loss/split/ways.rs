//! The possible conditionings of a sum: its groups from coarse to fine, those that are far apart from the others first.

use rug::Rational;

use crate::loss::{law::Group, sum::LossSum};

/// Sums of more groups are not conditioned.
const MOST_GROUPS: usize = 8;

/// For a sum of a few groups: the groups from coarse to fine, the number of groups to condition on, and the distance of their losses in standard
/// deviations of the remaining groups. All ways, from the largest distance.
///
/// The profile of the remaining groups is that of a symmetric pair: groups that are not symmetric are always enumerated.
pub(super) fn ways(sum: &LossSum) -> Vec<(Vec<Group>, usize, f64)> {
    if !(2..=MOST_GROUPS).contains(&sum.groups().len()) {
        return Vec::new();
    }
    let mut groups = sum.groups().to_vec();
    groups.sort_by_cached_key(|group| std::cmp::Reverse((!group.law.is_symmetric(), group.spacing())));
    let asymmetric = groups.iter().filter(|group| !group.law.is_symmetric()).count();
    let apart = |first: usize| {
        let rho: Rational = groups[first..].iter().map(Group::zcdp).sum();
        groups[first - 1].spacing().to_f64() / (2.0 * rho.to_f64()).sqrt()
    };
    let lists = |first: usize| groups[..first].iter().all(|group| !group.law.is_continuous());
    let ways = (asymmetric.max(1)..groups.len()).filter(|&first| lists(first));
    let mut ways: Vec<_> = ways.map(|first| (groups.clone(), first, apart(first))).collect();
    ways.sort_by(|a, b| b.2.total_cmp(&a.2));
    ways
}

/// Whether the profile of a sum of a few groups is a staircase, or nearly one.
pub(in crate::loss) fn has_steps(sum: &LossSum) -> bool {
    ways(sum).first().is_some_and(|(.., apart)| *apart > 2.0)
}
