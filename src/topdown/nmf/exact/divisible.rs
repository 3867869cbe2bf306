//! Totals that no whole numbers have, negative ones among them: a combination of totals that counts each count a multiple of some number of
//! times, and is itself no multiple of it. Columns are brought to the Hermite form, and the first total that needs a fraction names it.

use rug::{Complete, Integer, Rational};

use super::system::{Contradiction, System, terms};

/// The contradiction, if there is one. The totals have real counts.
pub(super) fn contradiction(system: &System) -> Option<Contradiction> {
    let mut columns: Vec<Vec<Integer>> =
        system.counts.iter().map(|count| column(&count.of, system.totals.len())).collect();
    // The rows with a pivot; pivot number p is in column p.
    let (mut pivots, mut values): (Vec<usize>, Vec<Integer>) = (Vec::new(), Vec::new());
    for row in 0..system.totals.len() {
        let first = pivots.len();
        if !gather(&mut columns[first..], row) {
            continue;
        }
        let known = columns.iter().zip(&values).map(|(column, value)| (&column[row] * value).complete());
        let right = &system.totals[row] - known.sum::<Integer>();
        pivots.push(row);
        let (value, rest) = right.div_rem_euc(columns[first][row].clone());
        if rest != 0 {
            return verified(system, &factors(&columns, &pivots, system.totals.len()));
        }
        values.push(value);
    }
    None
}

fn column(of: &[usize], rows: usize) -> Vec<Integer> {
    let mut column = vec![Integer::new(); rows];
    of.iter().for_each(|row| column[*row] = Integer::from(1));
    column
}

/// Leaves an entry of this row in the first column alone, by Euclid's algorithm; whether it has any.
fn gather(columns: &mut [Vec<Integer>], row: usize) -> bool {
    loop {
        let filled = (0..columns.len()).filter(|at| columns[*at][row] != 0);
        let Some(least) = filled.min_by(|a, b| columns[*a][row].cmp_abs(&columns[*b][row])) else { return false };
        columns.swap(0, least);
        let Some((pivot, others)) = columns.split_first_mut() else { return false };
        let mut is_alone = true;
        for other in others.iter_mut().filter(|other| other[row] != 0) {
            let (times, rest) = other[row].clone().div_rem_euc(pivot[row].clone());
            other.iter_mut().zip(pivot.iter()).for_each(|(to, from)| *to -= (&times * from).complete());
            is_alone &= rest == 0;
        }
        if is_alone {
            return true;
        }
    }
}

/// Factors of the totals that count the last pivot's column once, and each column before it not at all.
fn factors(columns: &[Vec<Integer>], pivots: &[usize], rows: usize) -> Vec<Rational> {
    let mut factors = vec![Rational::new(); rows];
    for (at, row) in pivots.iter().enumerate().rev() {
        let later = pivots[at + 1..].iter().map(|later| (&factors[*later] * &columns[at][*later]).complete());
        let right = Rational::from(u32::from(at + 1 == pivots.len())) - later.sum::<Rational>();
        factors[*row] = right / &columns[at][*row];
    }
    factors
}

/// The contradiction of these factors with the smallest whole multiples, verified on the system.
fn verified(system: &System, factors: &[Rational]) -> Option<Contradiction> {
    let divisor = factors.iter().fold(Integer::from(1), |all, factor| all.lcm(factor.denom()));
    let small = |factor: &Rational| {
        let whole = (factor * &divisor).complete().into_numer_denom().0.div_rem_euc(divisor.clone()).1;
        if (&whole * 2_u32).complete() > divisor { whole - &divisor } else { whole }
    };
    let factors: Vec<Integer> = factors.iter().map(small).collect();
    let sum = system.sum(&factors);
    let holds =
        !sum.is_divisible(&divisor) && system.counts.iter().all(|count| count.times(&factors).is_divisible(&divisor));
    holds.then(|| Contradiction::Fraction { terms: terms(factors), sum, divisor })
}
