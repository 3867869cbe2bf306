//! What lies beyond the sieve on the line: heights of which nothing is known one by one.
//!
//! Let g_i(j) <= 1 bound the factor of group i at node j. It has a period of n_i = 2 pi / (weight_i spacing) nodes, and
//! decreases with the distance of j to n_i Z. Its mean over a period is mean_i.
//!
//! # One group
//!
//! Between two troughs lie n nodes, more or less. Those left of the peak are at most the means of g over the cells to their
//! right, those right of it over the cells to their left, but for the two next to the peak: the smaller of them is at most
//! the mean over the cell between them, and the other at most one. So the sum over a period is at most n mean + 1, and over
//! a part of one no more.
//!
//! # Two groups
//!
//! Write a node as j = k n_1 + u with |u| <= n_1 / 2. For each k, each sign of u and each whole m at most one node has |u|
//! between m and m + 1, and g_1(j) <= G_1(m), where G_1 is g_1 as a function of the distance. There g_2(j) is at most
//! H(k a + b), where a = n_1 / n_2, b depends on m and the sign only, and H(x) is the largest of g_2 over the nodes (in units of
//! n_2) from x to x + 1 / n_2: again a function that rises and falls once on the circle, so its variation is at most 2, and
//! its mean is at most mean_2 + 1 / n_2.
//!
//! Let p / q be a reduced fraction with |a - p / q| < 1 / q^2. The points k a, k = 0 ... q - 1, are on the same side of
//! k p / q and less than 1 / q from it, so each of q arcs of length 1 / q that make up the circle holds one of them, and
//!
//! sum over q consecutive k of H(k a + b) <= q (mean_2 + 1 / n_2) + 2
//!
//! (Denjoy & Koksma). The sum over m and both signs of G_1(m) is at most n_1 mean_1 + 2. So q periods of group 1, L = q n_1
//! nodes, add at most L times
//!
//! (mean_1 + 2 / n_1) (mean_2 + 1 / n_2 + 2 / q).
//!
//! The fractions are the convergents of a, which is the ratio of the two weights: an exact rational. Where it is a fraction of
//! small terms, the groups repeat together, and the bound says so by its last term.
//!
//! # The tail
//!
//! Where blocks of L nodes add at most B each, the sum of 1 / j^2 times that beyond J is, with the first, partial block and those
//! that follow each other,
//!
//! B (1 / J^2 + sum over k >= 0 of 1 / (J + k L)^2) <= (B / L) (1 / J) (1 + 2 L / J).

use rug::{Integer, Rational};

use super::factor_bound::FactorBound;

/// How many groups are taken in pairs: those with the least means.
const PAIRED: usize = 5;
/// No longer blocks are considered: far beyond every height that a sweep reaches.
const LARGEST_DENOMINATOR: f64 = 1e15;

/// A group's factor on average.
#[derive(Clone, Copy, Debug)]
struct Average {
    /// In units of Im s.
    period: f64,
    mean: f64,
}

/// The averages of the groups of a sum, and how evenly the periods of two groups fall into each other.
#[derive(Clone, Debug)]
pub(super) struct FarField {
    groups: Vec<Average>,
    pairs: Vec<(Average, Average, Vec<f64>)>,
}

impl FarField {
    /// Of groups with their exact weights; continuous ones are ignored.
    pub(super) fn new<'a>(groups: impl Iterator<Item = (&'a FactorBound, &'a Rational)>) -> Self {
        let periodic = groups.filter(|(bound, _)| bound.periodic);
        let average = |bound: &FactorBound| Average { period: bound.period(), mean: bound.mean() };
        let mut groups: Vec<(Average, &Rational)> = periodic.map(|(bound, weight)| (average(bound), weight)).collect();
        groups.sort_by(|a, b| a.0.mean.total_cmp(&b.0.mean));
        let least = &groups[..groups.len().min(PAIRED)];
        let mut pairs = Vec::new();
        for (i, (first, weight)) in least.iter().enumerate() {
            for (second, other) in least.iter().enumerate().filter(|(j, _)| i != *j).map(|(_, group)| group) {
                // n_1 / n_2 is the inverse ratio of the weights.
                pairs.push((*first, *second, convergent_denominators(&Rational::from(*other / *weight))));
            }
        }
        FarField { pairs, groups: groups.into_iter().map(|(average, _)| average).collect() }
    }

    /// An upper bound for `last` times the sum over j > last of |product of the factors| / j^2 at heights j `spacing`; at
    /// most one.
    pub(super) fn bound(&self, spacing: f64, last: f64) -> f64 {
        // The averages carry their own margins; this one is for the roundings here.
        let tail = |mean: f64, block: f64| mean * (1.0 + 2.0 * block / last) * (1.0 + 1e-6);
        let one = self.groups.iter().map(|group| {
            let nodes = group.period / spacing;
            tail(group.mean + 1.0 / nodes, nodes)
        });
        let two = self.pairs.iter().flat_map(|(first, second, denominators)| {
            let (n1, n2) = (first.period / spacing, second.period / spacing);
            let of = move |q: &f64| tail((first.mean + 2.0 / n1) * (second.mean + 1.0 / n2 + 2.0 / q), q * n1);
            denominators.iter().map(of)
        });
        one.chain(two).fold(1.0, f64::min)
    }
}

/// The denominators of the convergents of a positive fraction, up to the largest that is of use.
fn convergent_denominators(ratio: &Rational) -> Vec<f64> {
    let (mut above, mut below) = (ratio.numer().clone(), ratio.denom().clone());
    // q_(-1) = 0 and q_0 = 1; each next one is a_k q_(k - 1) + q_(k - 2).
    let (mut before, mut last) = (Integer::new(), Integer::from(1));
    let mut all = vec![1.0];
    above %= &below;
    while above != 0 {
        let (quotient, rest) = below.div_rem(above.clone());
        (below, above) = (above, rest);
        let next = Integer::from(&last * &quotient) + &before;
        (before, last) = (last, next);
        let denominator = last.to_f64();
        if denominator > LARGEST_DENOMINATOR {
            break;
        }
        all.push(denominator);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::{super::factor_bound::tests::factor_by_definition, *};
    use crate::numeric::rational::parse;

    fn groups(list: &[(&str, f64)]) -> Vec<(FactorBound, Rational)> {
        let group = |(sigma2, copies): &(&str, f64)| {
            let sigma2 = parse(sigma2).unwrap();
            let (weight, sigma2) = (sigma2.clone().recip(), sigma2.to_f64());
            (FactorBound { sigma2, weight: weight.to_f64(), copies: *copies, periodic: true }, weight)
        };
        list.iter().map(group).collect()
    }

    /// The tail, summed over many nodes, against its bound: of incommensurate weights, of weights of small ratios that
    /// repeat together, and of one weight.
    #[test]
    fn no_tail_is_above_its_bound() {
        for (list, sharper) in [
            (vec![("500/73", 10.0), ("2500/137", 6.0)], true),
            (vec![("5000/731", 40.0), ("2500/137", 60.0), ("77/13", 20.0)], true),
            (vec![("6", 10.0), ("3", 10.0)], false),
            (vec![("6", 10.0), ("6", 9.0)], false),
            (vec![("4001/1000", 30.0), ("4", 30.0)], false),
        ] {
            let groups = groups(&list);
            let far = FarField::new(groups.iter().map(|(bound, weight)| (bound, weight)));
            let alone = FarField { pairs: Vec::new(), ..far.clone() };
            for spacing in [0.05, 0.3, 1.7] {
                let product = |j: u32| -> f64 {
                    groups.iter().map(|(bound, _)| factor_by_definition(bound, f64::from(j) * spacing)).product()
                };
                for last in [300_u32, 3_000] {
                    // A truncated tail is below the whole one.
                    let truth: f64 = (last + 1..last * 20).map(|j| product(j) / f64::from(j).powi(2)).sum();
                    let last = f64::from(last);
                    let (bound, single) = (far.bound(spacing, last), alone.bound(spacing, last));
                    assert!(truth * last <= bound && bound <= single, "{list:?} {spacing} {last} {truth} {bound}");
                    if sharper && spacing == 0.05 && last == 3_000.0 {
                        let distant = (far.bound(spacing, 1e9), alone.bound(spacing, 1e9));
                        assert!(distant.0 < 0.3 * distant.1, "{list:?} {distant:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn denominators_are_those_of_best_approximations() {
        assert_eq!(convergent_denominators(&parse("415/93").unwrap()), [1.0, 2.0, 13.0, 93.0]);
        assert_eq!(convergent_denominators(&parse("2").unwrap()), [1.0]);
        let ratio = parse("3.14159265358979").unwrap();
        for q in convergent_denominators(&ratio) {
            let q = Rational::from_f64(q).unwrap();
            let p = Rational::from(&ratio * &q).round();
            assert!((ratio.clone() - p / &q).abs() < Rational::from(&q * &q).recip());
        }
    }
}
