//! Statements in the text between the theorems: discrete noise compared with continuous noise, neighbors, queries as
//! matrices, two ways to bypass a unit.

use rug::Rational;

use super::{
    figure_2,
    neighbors::each_change,
    trees::{binary_tree, uneven_tree},
};
use crate::{
    account::{Account, Composition, Counts},
    error::Result,
    noise::DiscreteGaussian,
    numeric::{Certainty, Enclosure},
    release::schema::Schema,
    replication::verdict::Computed,
};

const BITS: u32 = 200;
const DIGITS: u32 = 20;

fn real(value: &Rational) -> Enclosure {
    Enclosure::rational(value, BITS)
}

/// The variance of two-sided geometric noise of scale b: 2 q / (1 - q)^2 with q = exp(-1 / b).
fn geometric_variance(b: &Rational) -> Enclosure {
    let (one, q) = (Enclosure::double(1.0, BITS), real(&-b.clone().recip()).exp());
    let rest = one.sub(&q);
    q.add(&q).div(&rest.mul(&rest))
}

/// Whether discrete noise has less variance than continuous noise with the same parameter: sigma2 for a Gaussian with a
/// variance proxy, 2 b^2 for a Laplace with a scale, for all of these.
pub(super) fn discrete_varies_less(parameters: &[Rational], pure: bool) -> Result<Computed> {
    Computed::all_hold(parameters.iter().map(|parameter| {
        if pure {
            return Ok(geometric_variance(parameter).below(&real(&(parameter.clone().square() * 2_u32))));
        }
        let deficit = DiscreteGaussian::new(parameter.clone())?.variance_deficit(DIGITS);
        Ok(Enclosure::double(0.0, BITS).below(&deficit))
    }))
}

/// Whether with two-sided geometric noise a bypass lowers the variance of the unit's total although Theorem 2's rule
/// refuses it: for c children with the unit's share, where the share is the inverse of the scale.
pub(super) fn discrete_noise_alters_the_rule(children: u32, share: &Rational) -> Certainty {
    let refused = 2_u32 < children - 1;
    let own = geometric_variance(&share.clone().recip());
    let all = real(&Rational::from(children)).mul(&own);
    // Inverse variances add up.
    let before = own.recip().add(&all.recip()).recip();
    let after = real(&Rational::from(children)).mul(&geometric_variance(&Rational::from(share * 2_u32).recip()));
    if refused { after.below(&before) } else { Certainty::No }
}

/// Whether a changed record is less distinguishable with noise that is rho-zCDP for bounded neighbors than with noise
/// that is rho-zCDP for unbounded ones: by the total variation distance, for two cells of a histogram.
pub(super) fn bounded_is_stronger(rhos: &[Rational]) -> Result<Computed> {
    Computed::all_hold(rhos.iter().map(|rho| {
        // A changed record moves two cells by 1, an added record moves one.
        let distance = |sigma2: Rational| -> Result<Enclosure> {
            let both = Composition::new([Counts::discrete_gaussian(sigma2, 2, 1)?])?;
            Ok(both.delta(Rational::new(), DIGITS)?.value)
        };
        let (bounded, unbounded) = (rho.clone().recip(), Rational::from(rho * 2_u32).recip());
        Ok(distance(bounded)?.below(&distance(unbounded)?))
    }))
}

/// Whether a changed record changes at most two answers of every query group of a geolevel, each by 1.
pub(super) fn changes_are_ones() -> Result<bool> {
    let mut holds = true;
    for tree in [binary_tree()?, uneven_tree()?] {
        each_change(&tree, |difference| {
            let moved: i64 = difference.iter().map(|d| d.abs()).sum();
            holds &= difference.iter().all(|d| d.abs() <= 1) && moved <= 2;
        })?;
    }
    Ok(holds)
}

/// Whether the query group of the first and last of three attributes is I (x) 1' (x) I: an answer for each pair of
/// their values, where the cell (i, j, k) contributes to the answer (i, k).
pub(super) fn marginal_is_a_kronecker_product(sizes: [usize; 3]) -> Result<bool> {
    let group = Schema::numbered(["first", "middle", "last"].into_iter().zip(sizes)).group("first * last")?;
    let [first, middle, last] = sizes;
    let cells = (0..first).flat_map(|i| (0..middle).flat_map(move |_| (0..last).map(move |k| (i * last + k) as u32)));
    Ok(group.counts() == first * last && cells.eq(group.cell_of.iter().copied()))
}

/// The product of a matrix with the transpose of another.
fn times_transposed(a: &[Vec<Rational>], b: &[Vec<Rational>]) -> Vec<Vec<Rational>> {
    let dot = |x: &[Rational], y: &[Rational]| {
        x.iter().zip(y).fold(Rational::new(), |sum, (x, y)| sum + Rational::from(x * y))
    };
    a.iter().map(|x| b.iter().map(|y| dot(x, y)).collect()).collect()
}

/// Whether the sum of squared errors, the trace of W V W', is the trace of W' W V: for the queries of Figure 2 and a
/// matrix V with distinct entries.
pub(super) fn traces_agree() -> Result<bool> {
    let groups = figure_2::query_groups()?;
    let cells = groups[0].cell_of.len();
    let mut queries = Vec::new();
    for group in &groups {
        for answer in 0..group.counts() as u32 {
            queries.push(group.cell_of.iter().map(|of| Rational::from(u32::from(*of == answer))).collect::<Vec<_>>());
        }
    }
    let variance: Vec<Vec<Rational>> =
        (0..cells).map(|a| (0..cells).map(|b| Rational::from((1, 1 + a + b + 7 * a.max(b)))).collect()).collect();
    let transposed: Vec<Vec<Rational>> =
        (0..cells).map(|cell| queries.iter().map(|query| query[cell].clone()).collect()).collect();
    let trace =
        |matrix: &[Vec<Rational>]| matrix.iter().enumerate().fold(Rational::new(), |sum, (k, row)| sum + &row[k]);
    // V is symmetric, so a product with it is one with its transpose.
    let errors = times_transposed(&times_transposed(&queries, &variance), &queries);
    let gram = times_transposed(&transposed, &transposed);
    Ok(trace(&errors) == trace(&times_transposed(&gram, &variance)))
}

/// Whether A' diag(gamma^2) A is the same for both ways to bypass a unit: as the operation is defined, with a unit for
/// each child on the level of the unit; and with the unit's share given to its children in place.
pub(super) fn bypasses_have_one_gram(children: usize, shares: u64) -> bool {
    // Rows of A below the unit: the blocks in a row, two for each child.
    let blocks = 2 * children;
    let row = |child: usize| (0..blocks).map(move |block| block / 2 == child).collect::<Vec<bool>>();
    let gram = |rows: &[(Vec<bool>, u64)], a: usize, b: usize| -> u64 {
        rows.iter().filter(|(row, _)| row[a] && row[b]).map(|(_, share)| share * share).sum()
    };
    (1..=shares).all(|unit| {
        (1..=shares).all(|child| {
            // The level of the unit, followed by that of its children.
            let raised = (0..children).map(|k| (row(k), unit + child));
            let emptied = (0..children).map(|k| (row(k), 0));
            let defined: Vec<(Vec<bool>, u64)> = raised.chain(emptied).collect();
            let whole = [(vec![true; blocks], 0)];
            let simple: Vec<(Vec<bool>, u64)> =
                whole.into_iter().chain((0..children).map(|k| (row(k), child + unit))).collect();
            (0..blocks).all(|a| (0..blocks).all(|b| gram(&defined, a, b) == gram(&simple, a, b)))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variances_of_discrete_noise_agree_with_its_masses() {
        let b = Rational::from((3, 2));
        let q = (-2.0_f64 / 3.0).exp();
        let sum: f64 = (1..200).map(|x| f64::from(x * x) * q.powi(x) * 2.0 * (1.0 - q) / (1.0 + q)).sum();
        assert!((geometric_variance(&b).approximate() - sum).abs() < 1e-12);
        let alters = |children, share: (u32, u32)| discrete_noise_alters_the_rule(children, &Rational::from(share));
        assert_eq!(alters(4, (1, 1)), Certainty::Yes);
        // With wide noise the discrete law is close to the continuous one, and five children are too many.
        assert_eq!(alters(5, (1, 100)), Certainty::No);
        assert_eq!(alters(2, (1, 1)), Certainty::No);
    }

    #[test]
    fn statements_about_matrices_hold() {
        assert!(marginal_is_a_kronecker_product([3, 2, 2]).unwrap() && traces_agree().unwrap());
        assert!(bypasses_have_one_gram(3, 3) && changes_are_ones().unwrap());
        let two = vec![vec![Rational::from(1), Rational::from(2)], vec![Rational::from(3), Rational::from(4)]];
        assert_eq!(times_transposed(&two, &two)[0][1], 11);
    }
}
