//! Weighted least squares over the hierarchy (Cumings-Menon et al., (3.3)): the totals of all units that fit the noisy ones
//! best, in time linear in the units, and the non-negative integers that are made of them from the top down.
//!
//! The passes. Let unit u measure z with precision w (1 / variance; 0 where it measures nothing). Upwards, the subtree of u
//! alone gives an estimate e with variance v: from its children the sum S of theirs with variance V = sum of v, and with
//! its own measurement 1 / v = w + 1 / V and e = v (w z + S / V). Downwards, the root's e is final, and a final total T of
//! u is shared out: child c gets e_c + (v_c / V) (T - S), the conditional mean of independent estimates given their sum.
//! This is the estimate of (3.3) with the transpose that it has lost, (S'S)^-1 S'z: both minimize the same sum of squares,
//! and tests compare them with dense matrices.
//!
//! One child of a unit may be without any information (V infinite): it gets what is left of T. Two such children cannot be
//! told apart, which is refused.

use super::hierarchy::Tree;
use crate::error::{Error, Result};

/// The least-squares totals of all units, in doubles: approximations. `measured` holds for each level `width` noisy numbers
/// for every unit (anything where the precision is 0); all of one unit have the same precision, and each of the `width`
/// problems is solved by itself.
pub fn least_squares_approx(
    tree: &Tree,
    width: usize,
    precision: impl Fn(usize, usize) -> f64,
    measured: &[Vec<f64>],
) -> Result<Vec<Vec<f64>>> {
    let levels = tree.levels();
    let last = levels - 1;
    if measured.len() != levels || (0..levels).any(|level| measured[level].len() != tree.units(level) * width) {
        return Err(Error::out_of_range("the measurements", measured.len(), "numbers for every unit of every level"));
    }
    // Upwards: estimates and variances of subtrees. Where the variance is infinite the estimate is 0 and not used.
    let mut estimates: Vec<Vec<f64>> = vec![Vec::new(); levels];
    let mut variances: Vec<Vec<f64>> = vec![Vec::new(); levels];
    let mut sums = vec![0.0; width];
    for level in (0..levels).rev() {
        let units = tree.units(level);
        let (mut own, mut spread) = (vec![0.0; units * width], vec![0.0; units]);
        for (unit, spread) in spread.iter_mut().enumerate() {
            let below = if level == last {
                f64::INFINITY
            } else {
                let children = tree.children(level, unit);
                sums.fill(0.0);
                for child in children.clone() {
                    let child = &estimates[level + 1][child * width..(child + 1) * width];
                    sums.iter_mut().zip(child).for_each(|(sum, child)| *sum += child);
                }
                variances[level + 1][children].iter().sum()
            };
            let w = precision(level, unit);
            let total = w + 1.0 / below;
            *spread = 1.0 / total;
            if total > 0.0 {
                let at = unit * width..(unit + 1) * width;
                let numbers = measured[level][at.clone()].iter().zip(&sums);
                for (to, (z, sum)) in own[at].iter_mut().zip(numbers) {
                    let from_own = if w > 0.0 { w * z } else { 0.0 };
                    let from_below = if below.is_finite() { sum / below } else { 0.0 };
                    *to = (from_own + from_below) / total;
                }
            }
        }
        (estimates[level], variances[level]) = (own, spread);
    }
    let untold = |level: usize, unit: usize| {
        let expected = "measured, by itself or by units above and beside it";
        Error::out_of_range(&format!("a unit of level {level}"), unit, expected)
    };
    if !variances[0][0].is_finite() {
        return Err(untold(0, 0));
    }
    // Downwards: estimates become final in place.
    for level in 0..last {
        let (above, below) = estimates.split_at_mut(level + 1);
        let (above, below) = (&above[level], &mut below[0]);
        for unit in 0..tree.units(level) {
            let children = tree.children(level, unit);
            let spread = &variances[level + 1][children.clone()];
            let open = spread.iter().filter(|v| v.is_infinite()).count();
            if open > 1 {
                return Err(untold(level + 1, children.start));
            }
            let whole: f64 = spread.iter().sum();
            let share = |v: f64| if open == 1 { f64::from(u8::from(v.is_infinite())) } else { v / whole };
            let family = &mut below[children.start * width..children.end * width];
            sums.fill(0.0);
            for child in family.chunks(width) {
                sums.iter_mut().zip(child).for_each(|(sum, child)| *sum += child);
            }
            let total = &above[unit * width..(unit + 1) * width];
            for (child, v) in family.chunks_mut(width).zip(spread) {
                for ((child, total), sum) in child.iter_mut().zip(total).zip(&sums) {
                    *child += share(*v) * (total - sum);
                }
            }
        }
    }
    Ok(estimates)
}

/// Non-negative integers near the estimates, in which the children of every unit sum exactly to it, cell by cell.
///
/// The root's cells are cut at zero and rounded. Then, from the top down, the children's estimates of a cell are moved to the
/// nearest point with non-negative parts that sum to the parent's integer, and rounded by largest remainders.
///
/// The Bureau's TopDown algorithm does more: at each parent it solves for all cells at once, fits all query groups
/// rather than the estimate of the cells, in several passes from coarse to fine; it rounds by a second program that
/// minimizes an L1 distance; and it holds invariants (state totals, numbers of group quarters) and edit constraints. Here
/// cells do not see each other, so sums over many sparse cells are biased upwards where the parent's are; nothing but
/// non-negativity, integrality and consistency with parents is promised.
pub fn top_down(tree: &Tree, cells: usize, estimates: &[Vec<f64>]) -> Vec<Vec<i64>> {
    let round = |value: &f64| value.max(0.0).round() as i64;
    let mut levels: Vec<Vec<i64>> = vec![estimates[0].iter().map(round).collect()];
    let mut family = Vec::new();
    for level in 0..tree.levels() - 1 {
        let mut below = vec![0; tree.units(level + 1) * cells];
        for unit in 0..tree.units(level) {
            let children = tree.children(level, unit);
            for cell in 0..cells {
                let total = levels[level][unit * cells + cell];
                if total == 0 {
                    continue;
                }
                family.clear();
                family.extend(children.clone().map(|child| estimates[level + 1][child * cells + cell]));
                for (child, count) in children.clone().zip(share_out(total, &family)) {
                    below[child * cells + cell] = count;
                }
            }
        }
        levels.push(below);
    }
    levels
}

/// Non-negative integers that sum to `total`, near `wishes`: the Euclidean projection on the simplex, which is
/// max(0, wish - theta) for the theta that makes the sum right, rounded by largest remainders.
fn share_out(total: i64, wishes: &[f64]) -> Vec<i64> {
    let mut sorted = wishes.to_vec();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    let (mut sum, mut theta) = (0.0, f64::INFINITY);
    for (count, wish) in (1..).zip(&sorted) {
        sum += wish;
        let cut = (sum - total as f64) / f64::from(count);
        if *wish > cut {
            theta = cut;
        }
    }
    let parts: Vec<f64> = wishes.iter().map(|wish| (wish - theta).max(0.0)).collect();
    let mut counts: Vec<i64> = parts.iter().map(|part| part.floor() as i64).collect();
    let mut by_rest: Vec<usize> = (0..counts.len()).collect();
    // The sort is stable: of equal remainders the first child is served first.
    by_rest.sort_by(|a, b| (parts[*b] - parts[*b].floor()).total_cmp(&(parts[*a] - parts[*a].floor())));
    // What is left is less than one for each child but for roundings of doubles, which may make it negative as well.
    let mut left = total - counts.iter().sum::<i64>();
    while left != 0 {
        for at in by_rest.iter().copied() {
            let step = left.signum();
            if step > 0 || counts[at] > 0 {
                counts[at] += step;
                left -= step;
            }
            if left == 0 {
                break;
            }
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_sum_to_the_parent_and_are_the_nearest_by_brute_force() {
        for (total, wishes) in [
            (5, vec![1.2, 3.9, -2.0]),
            (0, vec![4.0, 1.0]),
            (7, vec![-3.0, -1.0, -2.0]),
            (3, vec![0.5, 0.5, 0.5, 0.5, 0.5]),
            (1, vec![1e15, -1e15]),
            (6, vec![2.4, 2.4, 0.6]),
        ] {
            let counts = share_out(total, &wishes);
            assert_eq!(counts.iter().sum::<i64>(), total, "{wishes:?}");
            assert!(counts.iter().all(|count| *count >= 0));
            if wishes.len() == 3 {
                let loss = |a: i64, b: i64, c: i64| {
                    [a, b, c].iter().zip(&wishes).map(|(x, w)| (*x as f64 - w).powi(2)).sum::<f64>()
                };
                let all = (0..=total).flat_map(|a| (0..=total - a).map(move |b| (a, b, total - a - b)));
                let best = all.map(|(a, b, c)| loss(a, b, c)).fold(f64::INFINITY, f64::min);
                assert!(loss(counts[0], counts[1], counts[2]) <= best + 1e-9, "{counts:?} for {wishes:?}");
            }
        }
    }
}
