//! Whether whole counts exist that have given exact totals: a system of equations over counts, each between its bounds.
//!
//! Each count is of a set of blocks, and each total is the sum of some of the counts. Three things can exclude the totals, and each is named by
//! numbers that anyone can check by hand:
//!
//! - a combination of the totals is below the least that its counts leave (Farkas' lemma finds one wherever no real counts exist),
//! - a combination counts each set a multiple of d times, and is itself no multiple of d (one exists wherever no whole numbers, negative ones
//!   among them, have the totals),
//! - neither of both, and a search through all whole counts ends without any.
//!
//! All arithmetic is exact, and the first two are verified on the system before they are returned.

mod divisible;
mod simplex;
mod system;

use std::collections::BTreeSet;

use rug::{Complete, Integer, Rational};

use self::system::terms;
pub(super) use self::system::{Contradiction, Count, System};

/// The number of branches after which the search through whole counts is given up.
const MOST_BRANCHES: usize = 500;

impl System {
    /// The first contradiction found, if there is one: of the totals alone, and then of the totals and the bounds of the counts.
    pub(super) fn contradiction(&self) -> Option<Contradiction> {
        let without_bounds = |count: &Count| Count { of: count.of.clone(), lower: Integer::new(), upper: None };
        let totals = System { totals: self.totals.clone(), counts: self.counts.iter().map(without_bounds).collect() };
        let all: BTreeSet<usize> = (0..self.totals.len()).collect();
        if let Err(factors) = simplex::solve(&totals, &all) {
            return totals.fewest_terms(factors);
        }
        match simplex::solve(self, &all) {
            Err(factors) => self.fewest_terms(factors),
            Ok(counts) => divisible::contradiction(self).or_else(|| {
                let mut left = MOST_BRANCHES;
                (self.has_whole(&counts, &mut left) == Some(false)).then_some(Contradiction::NoWholeCounts)
            }),
        }
    }

    /// A contradiction of as few totals as a removal of one after the other leaves.
    fn fewest_terms(&self, factors: Vec<Rational>) -> Option<Contradiction> {
        let of = |factors: &[Rational]| -> BTreeSet<usize> {
            factors.iter().enumerate().filter(|(_, factor)| **factor != 0).map(|(at, _)| at).collect()
        };
        let (mut rows, mut best) = (of(&factors), factors);
        for row in of(&best) {
            let mut fewer = rows.clone();
            if fewer.remove(&row)
                && let Err(factors) = simplex::solve(self, &fewer)
            {
                (rows, best) = (of(&factors), factors);
            }
        }
        self.below(&best)
    }

    /// The contradiction of these factors, verified on the system.
    fn below(&self, factors: &[Rational]) -> Option<Contradiction> {
        let common = factors.iter().fold(Integer::from(1), |all, factor| all.lcm(factor.denom()));
        let whole = |factor: &Rational| (factor * &common).complete().into_numer_denom().0;
        let mut factors: Vec<Integer> = factors.iter().map(whole).collect();
        let divisor = factors.iter().fold(Integer::new(), |all, factor| all.gcd(factor));
        if divisor > 1 {
            factors.iter_mut().for_each(|factor| factor.div_exact_mut(&divisor));
        }
        let sum = self.sum(&factors);
        let mut least = Integer::new();
        for count in &self.counts {
            let times = count.times(&factors);
            let at = if times < 0 { count.upper.as_ref() } else { Some(&count.lower) };
            match at {
                Some(at) => least += times * at,
                None if times == 0 => {}
                None => return None,
            }
        }
        (sum < least).then(|| Contradiction::Below { terms: terms(factors), sum, least })
    }

    fn sum(&self, factors: &[Integer]) -> Integer {
        factors.iter().zip(&self.totals).map(|(factor, total)| (factor * total).complete()).sum()
    }

    /// Whether whole counts within the bounds have the totals, from counts that have them; `None` where the search is given up.
    fn has_whole(&self, counts: &[Rational], left: &mut usize) -> Option<bool> {
        let Some(at) = counts.iter().position(|count| !count.is_integer()) else { return Some(true) };
        *left = left.checked_sub(1)?;
        let all: BTreeSet<usize> = (0..self.totals.len()).collect();
        let floor = counts[at].clone().floor().into_numer_denom().0;
        let mut given_up = false;
        for is_below in [true, false] {
            let mut half = self.clone();
            match is_below {
                true => half.counts[at].upper = Some(floor.clone()),
                false => half.counts[at].lower = (&floor + 1_u32).complete(),
            }
            if let Ok(counts) = simplex::solve(&half, &all) {
                match half.has_whole(&counts, left) {
                    Some(true) => return Some(true),
                    Some(false) => {}
                    None => given_up = true,
                }
            }
        }
        (!given_up).then_some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system(totals: &[i64], counts: &[(&[usize], i64, Option<i64>)]) -> System {
        let count = |(of, lower, upper): &(&[usize], i64, Option<i64>)| Count {
            of: of.to_vec(),
            lower: Integer::from(*lower),
            upper: upper.map(Integer::from),
        };
        System {
            totals: totals.iter().map(|total| Integer::from(*total)).collect(),
            counts: counts.iter().map(count).collect(),
        }
    }

    fn numbered(terms: &[(usize, i64)]) -> Vec<(usize, Integer)> {
        terms.iter().map(|(at, times)| (*at, Integer::from(*times))).collect()
    }

    fn below(terms: &[(usize, i64)], sum: i64, least: i64) -> Option<Contradiction> {
        Some(Contradiction::Below { terms: numbered(terms), sum: sum.into(), least: least.into() })
    }

    #[test]
    fn contradictions_are_named_by_the_fewest_totals() {
        // Two areas that cover a third: A + B - C counts what both share.
        let covering: [(&[usize], i64, Option<i64>); 3] =
            [(&[0, 2], 0, None), (&[1, 2], 0, None), (&[0, 1, 2], 0, None)];
        assert_eq!(system(&[3, 4, 7], &covering).contradiction(), None);
        assert_eq!(system(&[3, 4, 9], &covering).contradiction(), below(&[(0, 1), (1, 1), (2, -1)], -2, 0));
        // A part larger than the whole, beside an area that has nothing to do with it.
        let nested: [(&[usize], i64, Option<i64>); 3] = [(&[0, 1], 0, None), (&[0], 0, None), (&[2], 0, None)];
        assert_eq!(system(&[5, 6, 1], &nested).contradiction(), below(&[(0, 1), (1, -1)], -1, 0));
        // Bounds from below and above, and a total of nothing.
        assert_eq!(system(&[2], &[(&[0], 1, None), (&[0], 2, None)]).contradiction(), below(&[(0, 1)], 2, 3));
        assert_eq!(system(&[4], &[(&[0], 1, Some(1)), (&[0], 2, Some(2))]).contradiction(), below(&[(0, -1)], -4, -3));
        assert_eq!(system(&[1], &[]).contradiction(), below(&[(0, -1)], -1, 0));
        // Three areas of which each pair shares a block: their sum is twice that of the blocks.
        let triangle: [(&[usize], i64, Option<i64>); 3] = [(&[0, 1], 0, None), (&[1, 2], 0, None), (&[0, 2], 0, None)];
        assert_eq!(system(&[2, 3, 3], &triangle).contradiction(), None);
        let odd =
            Contradiction::Fraction { terms: numbered(&[(0, 1), (1, 1), (2, 1)]), sum: 7.into(), divisor: 2.into() };
        assert_eq!(system(&[2, 3, 2], &triangle).contradiction(), Some(odd));
    }

    /// Against all whole counts up to the largest total, of random systems.
    #[test]
    fn whole_counts_exist_exactly_where_nothing_is_contradicted() {
        let mut state = 7_u64;
        let mut next = |most: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % most
        };
        let (mut kinds, mut possible) = ([0_u32; 3], 0_u32);
        for _ in 0..2000 {
            let (rows, columns) = (1 + next(4) as usize, 1 + next(4) as usize);
            let counts: Vec<Count> = (0..columns)
                .map(|_| Count {
                    of: (0..rows).filter(|_| next(2) == 1).collect(),
                    lower: Integer::from(next(2)),
                    upper: (next(4) == 0).then(|| Integer::from(1 + next(3))),
                })
                .collect();
            let totals: Vec<Integer> = (0..rows).map(|_| Integer::from(next(7))).collect();
            let system = System { totals, counts };
            let exists = exists(&system, 0, &mut vec![0; rows]);
            match system.contradiction() {
                None => assert!(exists, "{system:?}"),
                Some(why) => {
                    assert!(!exists, "{system:?}: {why:?}");
                    kinds[match why {
                        Contradiction::Below { .. } => 0,
                        Contradiction::Fraction { .. } => 1,
                        Contradiction::NoWholeCounts => 2,
                    }] += 1;
                }
            }
            possible += u32::from(exists);
        }
        assert!(possible > 200 && kinds[0] > 200 && kinds[1] > 0, "{possible} {kinds:?}");
    }

    fn exists(system: &System, at: usize, sums: &mut Vec<i64>) -> bool {
        let Some(count) = system.counts.get(at) else {
            return sums.iter().zip(&system.totals).all(|(sum, total)| total == sum);
        };
        let lower = count.lower.to_i64().unwrap();
        let upper = count.upper.as_ref().map_or(7, |upper| upper.to_i64().unwrap());
        (lower..=upper).any(|value| {
            count.of.iter().for_each(|row| sums[*row] += value);
            let found = exists(system, at + 1, sums);
            count.of.iter().for_each(|row| sums[*row] -= value);
            found
        })
    }
}
