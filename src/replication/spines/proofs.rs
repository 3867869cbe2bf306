//! Statements of the proofs and remarks beside the theorems: noise of counts, sums of the strategy, sums along paths.

use rug::Rational;

use super::{bypassing::spines, figure_2};
use crate::{
    account::{Composition, Counts},
    error::Result,
    numeric::Enclosure,
    release::Release,
    replication::verdict::Computed,
    spine::bypass::Privacy,
};

/// The largest loss of independent counts with two-sided geometric noise of these parameters, each moved by a shift:
/// the sum over the counts of the maximum of (|x - shift| - |x|) epsilon over x, which is constant beyond 0 and the
/// shift.
fn largest_loss(counts: &[(Rational, i64)]) -> Rational {
    counts.iter().fold(Rational::new(), |sum, (epsilon, shift)| {
        let most = (-2 * shift..=2 * shift).map(|x| (x - shift).abs() - x.abs()).max().unwrap_or(0);
        sum + Rational::from(epsilon * most)
    })
}

/// Whether a count that moves by at most D, with noise of scale D / epsilon, has losses of at most epsilon, attained at
/// D.
pub(super) fn lemma_1(epsilons: &[Rational], shifts: &[i64]) -> bool {
    epsilons.iter().all(|epsilon| {
        shifts.iter().all(|most| {
            let loss = |shift: i64| largest_loss(&[(Rational::from(epsilon / *most), shift)]);
            (0..=*most).all(|shift| loss(shift) <= *epsilon) && loss(*most) == *epsilon
        })
    })
}

/// Whether counts `EPSILON@SHIFT` have losses of at most the sum of |shift| / b with b = 1 / epsilon.
pub(super) fn lemma_3_pure(counts: &[String]) -> Result<bool> {
    let mut all = Vec::new();
    for text in counts {
        let counts = Counts::parse_discrete_laplace(text)?;
        all.push((counts.law.parameter().clone(), counts.shift as i64));
    }
    let bound = all.iter().fold(Rational::new(), |sum, (epsilon, shift)| sum + Rational::from(epsilon * *shift));
    Ok(all.len() == counts.len() && largest_loss(&all) <= bound)
}

/// Whether counts `SIGMA2@SHIFT` with discrete Gaussian noise have Renyi divergences of at most rho times the order,
/// with rho half the sum of shift^2 / sigma^2.
pub(super) fn lemma_3(counts: &[String], orders: &[Rational]) -> Result<Computed> {
    let counts = counts.iter().map(|text| text.parse()).collect::<Result<Vec<Counts>>>()?;
    let rho = counts.iter().fold(Rational::new(), |sum, counts| sum + counts.rho());
    let composed = Composition::new(counts)?;
    Computed::all_hold(orders.iter().map(|order| {
        let above = Rational::from(order - 1_u32);
        let divergence = composed.loss().ln_mgf(&above, 400).div(&Enclosure::rational(&above, 400));
        Ok(divergence.at_most(&Rational::from(&rho * order)))
    }))
}

/// The variance of a rescaled error: of scale 1 with Laplace noise, of variance 1 / (rho alpha) times rho alpha with
/// Gaussian.
pub(super) fn rescaled_variance(pure: bool) -> Rational {
    let (budget, alpha) = (Rational::from((3, 2)), Rational::from((2, 7)));
    let product = budget * alpha;
    if pure {
        // y has scale 2 / (epsilon alpha), and its variance is twice the square of its scale.
        let scale = 2_u32 / product.clone() * (product / 2_u32);
        scale.square() * 2_u32
    } else {
        product.clone().recip() * product
    }
}

/// Whether the sums of diag(alpha) W are all 1, by row or by column, for the query groups of Figure 2 with unequal
/// shares.
pub(super) fn sums_are_one(by_row: bool) -> Result<bool> {
    let groups = figure_2::query_groups()?;
    let shares = [4, 3, 2, 1].map(|part| Rational::from((part, 10)));
    let cells = groups[0].cell_of.len();
    let mut columns = vec![Rational::new(); cells];
    let mut rows = Vec::new();
    for (group, share) in groups.iter().zip(&shares) {
        let mut own = vec![Rational::new(); group.counts()];
        for (cell, count) in group.cell_of.iter().enumerate() {
            columns[cell] += share;
            own[*count as usize] += share;
        }
        rows.append(&mut own);
    }
    Ok((if by_row { rows } else { columns }).iter().all(|sum| *sum == 1))
}

/// Whether after bypassing the shares along every path from the root to a block sum to 1, on all trees here and by both
/// rules.
pub(super) fn path_sums() -> Result<bool> {
    for spine in spines(|_| Privacy::Pure { cutoff: 150 })?.iter().chain(&spines(|_| Privacy::Concentrated)?) {
        let spine = &spine.spine;
        let mut sums = vec![Rational::new(); spine.tree.order().len()];
        for level in 0..spine.tree.levels() {
            for unit in 0..spine.tree.units(level) {
                let share = spine.share(level, unit);
                spine.tree.blocks(level, unit).for_each(|block| sums[block] += &share);
            }
        }
        if sums.iter().any(|sum| *sum != 1) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether the c x c matrix in the proof of Theorem 2 has no negative eigenvalue exactly if a >= (c - 1) b / 2, by
/// elimination in exact fractions. It has 2 a b on its diagonal and -b^2 off it, for shares a of the children and b of
/// their unit.
pub(super) fn matrix_decides(children: u64, shares: u64) -> bool {
    (1..=children).all(|c| {
        (1..=shares).all(|parent| {
            (1..=shares).all(|child| is_semidefinite(c as usize, parent, child) == (2 * child >= (c - 1) * parent))
        })
    })
}

fn is_semidefinite(c: usize, parent: u64, child: u64) -> bool {
    let entry = |row: usize, column: usize| match row == column {
        true => Rational::from(2 * child * parent),
        false => -Rational::from(parent * parent),
    };
    let mut matrix: Vec<Vec<Rational>> = (0..c).map(|row| (0..c).map(|column| entry(row, column)).collect()).collect();
    for pivot in 0..c {
        let own = matrix[pivot][pivot].clone();
        // If a diagonal entry of a semidefinite matrix is zero, its row and column are zero.
        if own < 0 || own == 0 && (pivot + 1..c).any(|column| matrix[pivot][column] != 0) {
            return false;
        }
        if own == 0 {
            continue;
        }
        let (done, rest) = matrix.split_at_mut(pivot + 1);
        for row in rest {
            let factor = Rational::from(&row[pivot] / &own);
            for (entry, above) in row.iter_mut().zip(&done[pivot]).skip(pivot + 1) {
                *entry -= Rational::from(&factor * above);
            }
        }
    }
    true
}

/// Whether bypassing a unit with one child lowers the variance of the answers that are used: those of the unit alone
/// before, those with the sum of both shares after, for both kinds of noise.
pub(super) fn observation_1(shares: u64) -> bool {
    let variance = |share: u64, power: u32| Rational::from(share.pow(power)).recip();
    (1..=shares).all(|unit| {
        (1..=shares).all(|child| [1, 2].iter().all(|power| variance(unit + child, *power) < variance(unit, *power)))
    })
}

/// Whether the levels of one release are those of another without the first.
pub(super) fn levels_below(upper: &str, lower: &str) -> Result<bool> {
    let names = |release: &str| -> Result<Vec<String>> {
        Ok(Release::find(release)?.levels.into_iter().map(|level| level.name).collect())
    };
    Ok(names(upper)?.get(1..) == Some(&names(lower)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elimination_decides_the_sign_of_the_least_eigenvalue() {
        // Eigenvalues 2 a b - (c - 1) b^2 and 2 a b + b^2.
        assert!(is_semidefinite(3, 5, 5) && !is_semidefinite(4, 5, 5) && is_semidefinite(4, 4, 6));
        assert!(matrix_decides(5, 7));
    }

    #[test]
    fn losses_are_enumerated() {
        let two = [(Rational::from((1, 3)), 2), (Rational::from(1), 1)];
        assert_eq!(largest_loss(&two), Rational::from((5, 3)));
        assert!(lemma_1(&[Rational::from((1, 3))], &[1, 5]) && lemma_3_pure(&["1/3@2".into(), "5@4".into()]).unwrap());
        assert!(sums_are_one(false).unwrap() && !sums_are_one(true).unwrap());
        assert_eq!((rescaled_variance(true), rescaled_variance(false)), (Rational::from(2), Rational::from(1)));
    }
}
