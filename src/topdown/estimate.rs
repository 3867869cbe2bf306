//! Weighted least squares over the hierarchy (Cumings-Menon et al., (3.3)): the best-fitting totals of all units, in
//! time linear in the number of units, and non-negative integers derived from them from the top down.
//!
//! The passes. Let unit u measure z with precision w (1 / variance; 0 if it measures nothing). Upwards, the subtree of
//! u alone gives an estimate e with variance v: the children give the sum S of their estimates with variance V = sum of
//! v, and with the unit's own measurement 1 / v = w + 1 / V and e = v (w z + S / V). Downwards, the root's e is final,
//! and a final total T of u is distributed: child c gets e_c + (v_c / V) (T - S), the conditional mean of independent
//! estimates given their sum. This is the estimate of (3.3) with its missing transpose, (S'S)^-1 S'z: both minimize the
//! same sum of squares, and tests compare them with dense matrices.
//!
//! One child of a unit may have no information (V infinite): it gets T minus the estimates of the others. Two such
//! children cannot be distinguished, which is an error.

use crate::{
    error::{Error, Result},
    numeric::parallel,
    spine::hierarchy::Tree,
};

/// The least-squares totals of all units, in doubles: approximations. For each level `measured` holds `width` noisy
/// numbers per unit (any value where the precision is 0). All numbers of a unit have the same precision, and each of
/// the `width` problems is solved separately.
pub fn least_squares_approx(
    tree: &Tree,
    width: usize,
    precision: impl Fn(usize, usize) -> f64,
    measured: &[Vec<f64>],
) -> Result<Vec<Vec<f64>>> {
    let levels = tree.levels();
    if measured.len() != levels || (0..levels).any(|level| measured[level].len() != tree.units(level) * width) {
        return Err(Error::conflict(
            "the measurements do not fit the spine: one number is needed for every unit of every level",
        ));
    }
    let mut estimates = Subtrees::new(tree, width, precision, measured);
    estimates.distribute(tree, width)?;
    Ok(estimates.numbers)
}

fn undetermined(level: usize, unit: usize) -> Error {
    let why = "is not measured, directly or through units above and beside it";
    Error::missing(format!("unit {unit} of level {level} {why}"))
}

/// Sets `sums` to the sums of rows of the same width.
fn add_up(sums: &mut [f64], rows: &[f64]) {
    sums.fill(0.0);
    for row in rows.chunks(sums.len()) {
        sums.iter_mut().zip(row).for_each(|(sum, number)| *sum += number);
    }
}

/// For each level the estimates of its units from the measurements below and at them, and their variances. Where a variance is infinite, the estimate
/// is 0 and not used.
struct Subtrees {
    numbers: Vec<Vec<f64>>,
    variances: Vec<Vec<f64>>,
}

impl Subtrees {
    /// From the lowest level upwards.
    fn new(tree: &Tree, width: usize, precision: impl Fn(usize, usize) -> f64, measured: &[Vec<f64>]) -> Self {
        let levels = tree.levels();
        let mut of = Subtrees { numbers: vec![Vec::new(); levels], variances: vec![Vec::new(); levels] };
        let mut sums = vec![0.0; width];
        for level in (0..levels).rev() {
            let units = tree.units(level);
            let (mut own, mut spread) = (vec![0.0; units * width], vec![0.0; units]);
            for (unit, spread) in spread.iter_mut().enumerate() {
                let below = if level + 1 == levels {
                    f64::INFINITY
                } else {
                    let children = tree.children(level, unit);
                    add_up(&mut sums, &of.numbers[level + 1][children.start * width..children.end * width]);
                    of.variances[level + 1][children].iter().sum()
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
            (of.numbers[level], of.variances[level]) = (own, spread);
        }
        of
    }

    /// From the root downwards: distributes what a unit's estimate differs from the sum of its children by their variances, which makes estimates final in
    /// place.
    fn distribute(&mut self, tree: &Tree, width: usize) -> Result<()> {
        if !self.variances[0][0].is_finite() {
            return Err(undetermined(0, 0));
        }
        let mut sums = vec![0.0; width];
        for level in 0..tree.levels() - 1 {
            let (above, below) = self.numbers.split_at_mut(level + 1);
            let (above, below) = (&above[level], &mut below[0]);
            for unit in 0..tree.units(level) {
                let children = tree.children(level, unit);
                let spread = &self.variances[level + 1][children.clone()];
                let open = spread.iter().filter(|v| v.is_infinite()).count();
                if open > 1 {
                    return Err(undetermined(level + 1, children.start));
                }
                let whole: f64 = spread.iter().sum();
                let share = |v: f64| if open == 1 { f64::from(u8::from(v.is_infinite())) } else { v / whole };
                let family = &mut below[children.start * width..children.end * width];
                add_up(&mut sums, family);
                let total = &above[unit * width..(unit + 1) * width];
                for (child, v) in family.chunks_mut(width).zip(spread) {
                    for ((child, total), sum) in child.iter_mut().zip(total).zip(&sums) {
                        *child += share(*v) * (total - sum);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Non-negative integers near the estimates, in which the children of every unit sum exactly to it, cell by cell.
///
/// The root's cells share out its rounded total. Then, from the top down, the children of a unit first share out its
/// total, and then each of its cells, by the nearest point with non-negative parts and these sums, rounded by largest
/// remainders. Sums over cells are exact. A child's total is kept if the search for the point converges, which it
/// almost always does.
///
/// The Bureau's TopDown algorithm does more. At each parent it fits all query groups, not only the estimates of totals
/// and cells, in several passes from coarse to fine; it rounds by a second program that minimizes an L1 distance; and
/// it holds invariants (state totals, numbers of group quarters) and edit constraints. This function guarantees only
/// non-negativity, integrality and consistency with parents. Both are biased: cells that are small everywhere become
/// too large somewhere.
pub fn top_down(tree: &Tree, cells: usize, estimates: &[Vec<f64>]) -> Vec<Vec<i64>> {
    let total = estimates[0].iter().sum::<f64>().max(0.0).round() as i64;
    let mut levels: Vec<Vec<i64>> = vec![share_out(total, &estimates[0])];
    for level in 0..tree.levels() - 1 {
        let above = &levels[level];
        let family = |unit: usize| {
            let children = tree.children(level, unit);
            let estimates = &estimates[level + 1][children.start * cells..children.end * cells];
            share_family(&above[unit * cells..(unit + 1) * cells], estimates)
        };
        let families = parallel::map_indices(tree.units(level), family);
        // Children are stored in order, parent by parent.
        let below = families.concat();
        levels.push(below);
    }
    levels
}

/// Shares out the cells of a parent among its children, whose estimates are stored one child after the other.
fn share_family(parent: &[i64], estimates: &[f64]) -> Vec<i64> {
    let cells = parent.len();
    let mut counts = vec![0; estimates.len()];
    let filled: Vec<usize> = (0..cells).filter(|cell| parent[*cell] > 0).collect();
    let total: i64 = parent.iter().sum();
    let rows: Vec<f64> = estimates.chunks(cells).map(|child| child.iter().sum()).collect();
    let rows = share_out(total, &rows);
    // Only nonzero cells of the parent: the others are zero in every child.
    let width = filled.len();
    if let [cell] = filled[..] {
        rows.iter().enumerate().for_each(|(child, total)| counts[child * cells + cell] = *total);
    } else if width > 1 {
        let of_filled: Vec<f64> =
            estimates.chunks(cells).flat_map(|child| filled.iter().map(|cell| child[*cell])).collect();
        let columns: Vec<i64> = filled.iter().map(|cell| parent[*cell]).collect();
        let parts = nearest(&rows, &columns, &of_filled);
        for (child, parts) in whole(&rows, &columns, &parts).chunks(width).enumerate() {
            parts.iter().zip(&filled).for_each(|(count, cell)| counts[child * cells + cell] = *count);
        }
    }
    counts
}

/// The non-negative table nearest to the estimates with these sums of rows and columns, which have the same total: x =
/// max(0, estimate - a - b), with a for each row and b for each column chosen to give these sums. Rows and columns are
/// solved alternately, each exactly, which is coordinate ascent on the concave dual of the projection. At the end the
/// sums of columns are exact, those of rows approximate.
fn nearest(rows: &[i64], columns: &[i64], estimates: &[f64]) -> Vec<f64> {
    const MOST_TURNS: usize = 200;
    const ENOUGH: f64 = 0.01;
    let width = columns.len();
    let (mut a, mut b) = (vec![0.0; rows.len()], vec![0.0; width]);
    let mut line = Vec::new();
    for _ in 0..MOST_TURNS {
        for (row, total) in rows.iter().enumerate() {
            line.clear();
            line.extend(estimates[row * width..(row + 1) * width].iter().zip(&b).map(|(estimate, b)| estimate - b));
            a[row] = threshold(*total, &line);
        }
        for (column, total) in columns.iter().enumerate() {
            line.clear();
            line.extend(a.iter().enumerate().map(|(row, a)| estimates[row * width + column] - a));
            b[column] = threshold(*total, &line);
        }
        let sum = |row: usize| {
            let estimates = &estimates[row * width..(row + 1) * width];
            estimates.iter().zip(&b).map(|(estimate, b)| (estimate - a[row] - b).max(0.0)).sum::<f64>()
        };
        if rows.iter().enumerate().all(|(row, total)| (sum(row) - *total as f64).abs() < ENOUGH) {
            break;
        }
    }
    let at = |(place, estimate): (usize, &f64)| (estimate - a[place / width] - b[place % width]).max(0.0);
    estimates.iter().enumerate().map(at).collect()
}

/// A table of integers near `parts`. The sums of columns are exact, and so are those of rows, unless a row of the
/// integer parts already exceeds its sum.
fn whole(rows: &[i64], columns: &[i64], parts: &[f64]) -> Vec<i64> {
    let width = columns.len();
    let mut counts: Vec<i64> = parts.iter().map(|part| part.floor() as i64).collect();
    let mut row_left: Vec<i64> = rows.to_vec();
    let mut column_left: Vec<i64> = columns.to_vec();
    for (place, count) in counts.iter().enumerate() {
        row_left[place / width] -= count;
        column_left[place % width] -= count;
    }
    let mut by_rest: Vec<usize> = (0..parts.len()).collect();
    // The sort is stable: among equal remainders the first child comes first.
    by_rest.sort_by(|x, y| (parts[*y] - parts[*y].floor()).total_cmp(&(parts[*x] - parts[*x].floor())));
    for place in by_rest {
        let (row, column) = (place / width, place % width);
        if row_left[row] > 0 && column_left[column] > 0 {
            counts[place] += 1;
            row_left[row] -= 1;
            column_left[column] -= 1;
        }
    }
    for (column, left) in column_left.iter().enumerate() {
        let step = left.signum();
        for _ in 0..left.unsigned_abs() {
            // Add to the row with the largest deficit, or subtract from a positive count in the row with the smallest.
            let open = (0..rows.len()).filter(|row| step > 0 || counts[row * width + column] > 0);
            if let Some(row) = open.max_by_key(|row| (step * row_left[*row], std::cmp::Reverse(*row))) {
                counts[row * width + column] += step;
                row_left[row] -= step;
            }
        }
    }
    counts
}

/// The theta at which the parts max(0, estimate - theta) sum to `total`.
fn threshold(total: i64, estimates: &[f64]) -> f64 {
    let mut sorted = estimates.to_vec();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    let (mut sum, mut theta) = (0.0, f64::INFINITY);
    for (count, estimate) in (1..).zip(&sorted) {
        sum += estimate;
        let candidate = (sum - total as f64) / f64::from(count);
        if count == 1 || *estimate > candidate {
            theta = candidate;
        }
    }
    theta
}

/// Non-negative integers that sum to `total`, near `estimates`: the Euclidean projection onto the simplex, rounded by
/// largest remainders.
fn share_out(total: i64, estimates: &[f64]) -> Vec<i64> {
    let theta = threshold(total, estimates);
    let parts: Vec<f64> = estimates.iter().map(|estimate| (estimate - theta).max(0.0)).collect();
    let mut counts: Vec<i64> = parts.iter().map(|part| part.floor() as i64).collect();
    let mut by_rest: Vec<usize> = (0..counts.len()).collect();
    by_rest.sort_by(|a, b| (parts[*b] - parts[*b].floor()).total_cmp(&(parts[*a] - parts[*a].floor())));
    // The remainder is less than 1 per part, except for rounding errors of doubles, which may also make it negative.
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
    use crate::numbers::Numbers;

    #[test]
    fn integers_sum_to_the_parent_and_are_the_nearest() {
        for (total, estimates) in [
            (5, vec![1.2, 3.9, -2.0]),
            (0, vec![4.0, 1.0]),
            (7, vec![-3.0, -1.0, -2.0]),
            (3, vec![0.5, 0.5, 0.5, 0.5, 0.5]),
            (1, vec![1e15, -1e15]),
            (6, vec![2.4, 2.4, 0.6]),
        ] {
            let counts = share_out(total, &estimates);
            assert_eq!(counts.iter().sum::<i64>(), total, "{estimates:?}");
            assert!(counts.iter().all(|count| *count >= 0));
            if estimates.len() == 3 {
                let loss = |a: i64, b: i64, c: i64| {
                    [a, b, c].iter().zip(&estimates).map(|(x, w)| (*x as f64 - w).powi(2)).sum::<f64>()
                };
                let all = (0..=total).flat_map(|a| (0..=total - a).map(move |b| (a, b, total - a - b)));
                let best = all.map(|(a, b, c)| loss(a, b, c)).fold(f64::INFINITY, f64::min);
                assert!(loss(counts[0], counts[1], counts[2]) <= best + 1e-9, "{counts:?} for {estimates:?}");
            }
        }
    }

    /// Against all integer tables with the sums: none is nearer by more than the rounding can cost.
    #[test]
    fn families_keep_their_sums_and_are_near_the_optimum() {
        let mut numbers = Numbers(7);
        let mut below = |end: u64| numbers.below(end);
        for _ in 0..300 {
            let parent = [below(5) as i64, below(4) as i64, below(3) as i64];
            let estimates: Vec<f64> = (0..6).map(|_| below(700) as f64 / 100.0 - 2.5).collect();
            let counts = share_family(&parent, &estimates);
            for cell in 0..3 {
                assert_eq!(counts[cell] + counts[3 + cell], parent[cell]);
            }
            assert!(counts.iter().all(|count| *count >= 0));
            let rows = [estimates[..3].iter().sum::<f64>(), estimates[3..].iter().sum::<f64>()];
            let first: i64 = counts[..3].iter().sum();
            assert_eq!(first, share_out(parent.iter().sum(), &rows)[0], "{parent:?} {estimates:?}");
            let loss = |x: [i64; 3]| -> f64 {
                let pairs = (0..3).map(|k| {
                    (x[k] as f64 - estimates[k]).powi(2) + ((parent[k] - x[k]) as f64 - estimates[3 + k]).powi(2)
                });
                pairs.sum()
            };
            let all = (0..=parent[0])
                .flat_map(|a| (0..=parent[1]).flat_map(move |b| (0..=parent[2]).map(move |c| [a, b, c])));
            let best = all.filter(|x| x.iter().sum::<i64>() == first).map(loss).fold(f64::INFINITY, f64::min);
            // A cell differs from the optimum by less than 1 on both sides.
            assert!(loss([counts[0], counts[1], counts[2]]) <= best + 6.0, "{counts:?} {parent:?} {estimates:?}");
        }
    }
}
