//! Rows that move freely among the cells of a query: all in one cell is the worst.
//!
//! Where tables are joined and truncated, one record more or less adds or removes at most n rows of a query, and nothing is known of their cells.
//! The counts of the query change by integers v_1, .., v_k with |v_1| + .. + |v_k| <= n, and have independent noise N_Z(0, sigma2) each.
//!
//! **Theorem.** Let 2 <= n <= 1000, sigma2 >= 4 n and sigma2 >= n^2 / 16. For every v the pair (outputs without the change, outputs with it) is
//! an image of the pair (N_Z(0, sigma2), N_Z(n, sigma2)): all rows in one cell. So at every epsilon, in every composition and for every choice in
//! the other queries, the largest delta is that of all rows in one cell of every query. For n = 1 there is nothing to choose.
//!
//! The laws are symmetric, so v >= 0 without loss of generality. By Blackwell's theorem one pair is an image of another iff its hockey stick
//! H(e) = sup_A (P_1(A) - exp(e) P_0(A)) is at most the other's for all e; both pairs are symmetric, so e >= 0 is enough. Images compose, so it
//! is enough to merge two cells at a time (a, b >= 1 into s = a + b <= n), and to drop a cell from (s, n - s) where the sum s is below n.
//!
//! **Two cells.** Let r^2 = a^2 + b^2, D = 2ab / s^2 = 1 - r^2 / s^2, so 1/s <= D <= 1/2, and t^2 = D sigma2 / 4. Write phi_x for the density of
//! N(0, x^2), and eps(x) = 2 sum_{k>=1} exp(-2 pi^2 x^2 k^2): by Poisson summation sum_j phi_x(j - z) is in 1 +- eps(x), and 1 + eps(x) for z = 0.
//!
//! - *Below the one cell.* Add N(0, t^2) to X ~ N_Z(0 or s, sigma2). The density is phi_y(z - 0 or s) times a factor in (1 +- eps) / (1 + eps(sigma)),
//!   with y^2 = sigma2 + t^2, x^2 = sigma2 t^2 / y^2 and eps = eps(x). So H_one(e) >= d G_{m1}(e + l), where G_m is the hockey stick of N(0, 1)
//!   and N(m, 1), m1 = s / y, d = (1 - eps) / (1 + eps(sigma)) and l = ln((1 + eps) / (1 - eps)).
//! - *Above the two cells.* From W ~ N(0 or (a, b), (sigma2 - t^2) I) draw each integer j_i with probability phi_t(j_i - w_i) / sum. The masses are
//!   those of the two cells up to a factor: P / R is in (1 +- eps(t))^2 / (1 + eps(sigma))^2, and eps(t) <= eps because x < t. So
//!   H_two(e) <= c G_{m2}(e - 2 l), with c = (1 + eps)^2 / (1 + eps(sigma))^2 and m2 = r / sqrt(sigma2 - t^2).
//!
//! It remains that C G_{m2}(e) <= G_{m1}(e + 3 l) for all e >= -2 l, where C = (1 + eps)^2 / (1 - eps) >= c / d.
//!
//! - x^2 = sigma2 (D/4) / (1 + D/4) >= (2/9) D sigma2 >= (2/9) q with q = sigma2 / s >= 4, so eps <= 2.1 exp(-4.38 q) <= 6e-8; l <= 2.001 eps, and
//!   ln C <= 3.01 eps.
//! - ln(m1^2 / m2^2) = -ln(1 - D) + ln(1 - D/4) - ln(1 + D/4) >= D + D^2/2 - D/2 - D^3/90 >= D/2, so m1 - m2 >= m2 D / 4. Also
//!   m1^2 / m2^2 <= s^2 / r^2 <= 2, m1 <= s / sigma <= 4, and m2 >= r / sigma >= s / (sqrt(2) sigma).
//! - With V = phi_1(m/2 - e/m): dG/dm = V, and -dG/de = exp(e) Phi(-(m/2 + e/m)) <= 1.2534 V, the largest Mills ratio of an argument >= 0 (for
//!   e >= -m^2/2, and 2 l <= 8.5 exp(-4.38 q) <= 1/(2q) <= m2^2/2). And G / V is the difference of the Mills ratios M of e/m - m/2 and e/m + m/2;
//!   with -M'(u) = 1 - u M(u) <= 1 + U sqrt(2 pi) exp(U^2/2) for u >= -U, U = 2.001 >= m1/2 + 2l/m2, this is at most 39 m.
//! - Along m = m2 + (m1 - m2) w, e + 3 l w, 0 <= w <= 1, ln G grows by at least ln C, if m1 - m2 >= 3 l 1.2534 + ln C 39 m1. The right side is at most
//!   7.53 eps + 166.1 eps m2, the left one at least m2 D / 4. Half of it covers the second term, as eps <= 6e-8 <= 1e-3 / 1329 <= D / 1329; and the
//!   first, as m2 D / 8 >= 1 / (11.32 sigma) and sigma = sqrt(q s) <= sqrt(1000 q): 7.53 * 11.32 * 2.1 exp(-4.38 q) sqrt(1000 q) <= 3e-4 at q = 4, and
//!   less beyond. QED.

use rug::Rational;

use crate::{
    error::{Error, Result},
    loss::law::Law,
};

/// The largest number of rows for which the theorem is proven.
const MOST_ROWS: u64 = 1000;

/// An error unless the theorem holds for that many rows and this noise.
pub(super) fn check(law: &Law, rows: u64) -> Result<()> {
    let why = "rows that move freely among the cells of a query need";
    let Some(sigma2) = law.discrete_sigma2() else {
        return Err(Error::unsuitable(format!(
            "{why} discrete Gaussian noise, for which all in one cell is proven to be the worst"
        )));
    };
    if rows > MOST_ROWS {
        return Err(Error::out_of_range("rows", rows, &format!("at most {MOST_ROWS} rows that move freely")));
    }
    let least = Rational::from(rows * 4).max(Rational::from((rows * rows, 16)));
    if rows > 1 && *sigma2 < least {
        let expected = format!(
            "at least {least} for {rows} rows that move freely: less is not proven to be worst for all in one cell"
        );
        return Err(Error::out_of_range("sigma2", crate::numeric::rational::display(sigma2), &expected));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::account::{Account, Composition, Counts};

    /// All partitions of `rows` into parts of at most `most`.
    fn partitions(rows: u64, most: u64) -> Vec<Vec<u64>> {
        if rows == 0 {
            return vec![Vec::new()];
        }
        (1..=rows.min(most))
            .flat_map(|first| {
                let rest = partitions(rows - first, first);
                rest.into_iter().map(move |rest| [vec![first], rest].concat())
            })
            .collect()
    }

    /// The privacy loss of a change of counts, in doubles: twice the numerator over sigma2 and its mass, by the definition of the noise.
    fn losses(change: &[u64], sigma2: f64) -> Vec<(f64, f64)> {
        let reach = (8.0 * sigma2.sqrt()) as i64 + 8;
        let mass = |j: i64| (-(j * j) as f64 / (2.0 * sigma2)).exp();
        let all: f64 = (-reach..=reach).map(mass).sum();
        let mut sums = BTreeMap::from([(0_i64, 1.0)]);
        for part in change {
            let mut next = BTreeMap::new();
            for (sum, before) in sums {
                for j in -reach..=reach {
                    *next.entry(sum + *part as i64 * j).or_insert(0.0) += before * mass(j) / all;
                }
            }
            sums = next;
        }
        let squares: u64 = change.iter().map(|part| part * part).sum();
        sums.into_iter().map(|(sum, mass)| ((sum as f64 - squares as f64 / 2.0) / sigma2, mass)).collect()
    }

    #[test]
    fn no_choice_of_cells_is_worse_by_enumeration() {
        // Two queries of up to 4 and 3 rows; every change of both, also of fewer rows.
        let changes = |rows: u64| (1..=rows).flat_map(|rows| partitions(rows, rows)).collect::<Vec<_>>();
        let worst = Composition::new([
            Counts::discrete_gaussian("16", 1, 4).unwrap().with_free_rows().unwrap(),
            Counts::discrete_gaussian("12", 1, 3).unwrap().with_free_rows().unwrap(),
        ])
        .unwrap();
        let epsilons = ["0", "0.4", "1.3", "3"];
        let certified: Vec<f64> =
            epsilons.iter().map(|at| worst.delta(*at, 9).unwrap().value.upper().to_f64()).collect();
        let (ours, others): (Vec<_>, Vec<_>) = (
            changes(4).iter().map(|change| losses(change, 16.0)).collect(),
            changes(3).iter().map(|change| losses(change, 12.0)).collect(),
        );
        assert_eq!((ours.len(), others.len()), (11, 6));
        let (mut compared, mut attained) = (0, 0);
        for one in &ours {
            for other in &others {
                for (at, bound) in epsilons.iter().zip(&certified) {
                    let at: f64 = at.parse().unwrap();
                    // Under the first hypothesis, E[(exp(L) - exp(epsilon))_+].
                    let delta: f64 = (one.iter())
                        .flat_map(|(a, p)| other.iter().map(move |(b, q)| (a + b, p * q)))
                        .filter(|(loss, _)| *loss > at)
                        .map(|(loss, mass)| mass * (loss.exp() - at.exp()))
                        .sum();
                    assert!(delta <= bound * (1.0 + 1e-9), "{delta} > {bound} at {at}");
                    compared += 1;
                    attained += i32::from(delta >= bound * (1.0 - 1e-8));
                }
            }
        }
        // All in one cell of both queries reaches the bound, and nothing else.
        assert_eq!((compared, attained), (11 * 6 * 4, 4));
    }

    #[test]
    fn one_cell_is_certified_to_be_the_worst_of_all_partitions() {
        // PH3 of the S-DHC: 14 rows, the noise that is nearest to the limit of the theorem.
        let sigma2 = "196000000/1325952";
        let of = |parts: &[u64]| {
            let counts = parts.iter().map(|part| Counts::discrete_gaussian(sigma2, 1, *part).unwrap());
            Composition::new(counts).unwrap().delta("1", 5).unwrap().value
        };
        let all = of(&[14]);
        let partitions = partitions(14, 14);
        assert_eq!(partitions.len(), 135);
        for parts in partitions.iter().filter(|parts| parts.len() > 1) {
            assert!(of(parts).upper() < all.lower(), "{parts:?}");
        }
    }

    #[test]
    fn noise_for_which_nothing_is_proven_is_refused() {
        let free = |sigma2: &str, rows: u64| Counts::discrete_gaussian(sigma2, 1, rows).unwrap().with_free_rows();
        assert!(
            free("1/2", 1).is_ok() && free("8", 2).is_ok() && free("256", 64).is_ok() && free("62500", 1000).is_ok()
        );
        for (sigma2, rows, says) in [
            ("7.9", 2, "at least 8"),
            ("300", 70, "at least 1225/4"),
            ("62499", 1000, "at least 62500"),
            ("1e9", 1001, "at most 1000"),
        ] {
            let message = free(sigma2, rows).unwrap_err().to_string();
            assert!(message.contains(says), "{message}");
        }
        // Less noise, or a larger group, is checked again.
        let counts = free("8", 2).unwrap();
        assert!(counts.with_noise_times(&"1/2".parse().unwrap()).is_err());
        assert!(Composition::new([counts.clone()]).unwrap().for_groups_of(2).is_err());
        assert!(
            counts.with_noise_times(&Rational::from(2)).unwrap().free_rows && counts.repeated(3).unwrap().free_rows
        );
        let laplace = Counts::discrete_laplace(Rational::from((1, 2)), 1, 2).unwrap();
        assert!(laplace.with_free_rows().unwrap_err().to_string().contains("discrete Gaussian"));
    }
}
