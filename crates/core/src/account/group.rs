//! Groups: up to K records that are all added, all removed, or all replaced, and how they share out what they change.
//!
//! # Noise that is log-concave
//!
//! A mass f is log-concave if f(x)^2 >= f(x - 1) f(x + 1) and there are no gaps, a density if ln f is concave. Each record moves at most n counts, each by at most
//! s, upward. *All K in the same n counts, each moved by K s, is the worst of all ways, at every epsilon and in every composition.*
//!
//! Let M_v(c) = sum over x of min(f(x - v), c f(x)), for counts that move by v = (v_1, v_2, ..): at factor c the hockey stick is 1 - M_v(c), and by Blackwell's
//! theorem one pair is a function of the outcome of another if M is nowhere smaller, for all c > 0.
//!
//! - *A larger change is worse.* f(x - a) / f(x) rises with x, so the best tests of one count against any change are its thresholds, and their power rises
//!   with the change.
//! - *A less equal change of two counts is worse.* Let their changes be a >= b, with sum t and difference d = a - b. Write x_1 + x_2 = z, x_1 - x_2 = u and
//!   g(z, u) = f(x_1) f(x_2), which is symmetric in u and falls with |u|, because f is log-concave. Then M is the sum over z and u of min(g(z - t, u - d), c g(z, u)),
//!   the integral over y > 0 of the number of u with g(z - t, u - d) > y and c g(z, u) > y: the length of the intersection of two intervals, with the middles d and 0. It falls
//!   as d rises. So with the same sum, a larger difference is worse.
//! - K records move a count by at most K s, and all counts together by at most n K s. Changes that become less and less equal within these limits end with n counts
//!   that move by K s each.
//!
//! # Guarantees
//!
//! From record to record an epsilon adds up, and so does the range of losses. An (epsilon, delta)-DP mechanism is (K epsilon, delta (1 + e^epsilon + .. + e^((K - 1) epsilon)))-DP
//! for groups of K. A response is about one record: a group has K times as many.
//!
//! # All ways
//!
//! Tables that are not log-concave, staircase noise, cell keys and unknown keys have no worst way: two records may change one count by two or two counts by one, and two keys or one. K
//! records share K n changes of counts: one that changes by c takes c / s of them, rounded up, at most K, and every such choice is one of K records with at most n counts
//! each (fill the records in turn, count by count). All are compared ([`directions`](super::directions)).
//!
//! # Poisson samples
//!
//! Each record is in a sample by itself, so that a sum moves by as many as are in it: with the masses of Binomial(K, rate), and one record each in the same direction is the worst
//! (Ganesh 2024, arXiv 2401.10294). Fewer records are more private: both hypotheses have a likelihood ratio that rises with the output, so that the best tests
//! are its thresholds, and a sum that moves by more is beyond each of them more often.
//!
//! All else is refused.

use rug::Rational;

use super::counts::Counts;
use crate::{
    error::{Error, Result},
    law::Law,
    numeric::{Enclosure, rational},
};

/// The largest group of records on Poisson samples: a moment has as many terms.
const MOST_SAMPLED: u64 = 100;

/// The counts of the worst way in which a group of `size` records shares out what each of them changes.
pub(super) fn grouped(counts: &Counts, size: u64) -> Result<Counts> {
    if size == 1 {
        return Ok(counts.clone());
    }
    match &counts.law {
        Law::DiscreteGaussian { .. }
        | Law::Gaussian { .. }
        | Law::DiscreteLaplace { .. }
        | Law::Laplace { .. }
        | Law::TruncatedLaplace { .. }
        | Law::TruncatedGaussian { .. }
        | Law::BoundedRange { .. }
        | Law::Pure { .. } => counts.all_moved_by(size),
        Law::Table(table) if table.is_log_concave() => counts.all_moved_by(size),
        Law::RandomizedResponse { .. } => counts.with(counts.count.saturating_mul(size), counts.shift),
        Law::Approximate { epsilon, delta } => {
            Counts::new(of_approximate(epsilon, delta, size)?, counts.count, counts.shift)
        }
        Law::Table(_) | Law::Perturbation(_) | Law::UnknownKey(_) | Law::Staircase { .. } => counts.shared_among(size),
        Law::Pair(_) => Err(refused(
            "a pair of hypotheses",
            "it is about one record; give the pair of outputs with the group and without it",
        )),
        Law::SampledGaussian { .. } if counts.records().saturating_mul(size) > MOST_SAMPLED => Err(refused(
            "Poisson-sampled noise",
            &format!("a group of up to {MOST_SAMPLED} records has an account; give a smaller one"),
        )),
        Law::SampledGaussian { .. } => counts.sampled_by(size),
        Law::Sampled(_) => Err(refused(
            "Poisson-sampled noise on counts",
            "each record is in a sample by itself, of which there is an account for Gaussian noise alone; give --sampled RATE:gaussian:..., or no group",
        )),
        Law::Responses(_) | Law::Outcomes(_) => Err(refused("losses without a mechanism", "give the mechanism")),
    }
}

fn refused(what: &str, why: &str) -> Error {
    Error::unsuitable(format!("a group of records under {what}: {why}"))
}

/// The guarantee of a group, its delta rounded up.
fn of_approximate(epsilon: &Rational, delta: &Rational, size: u64) -> Result<Law> {
    const BITS: u32 = 192;
    let of_group = Rational::from(epsilon * size);
    // Far beyond the range of epsilon no exponential is needed.
    let law = Law::Approximate { epsilon: of_group.clone(), delta: delta.clone() };
    law.check()?;
    let exp_m1 = |exponent: &Rational| Enclosure::rational(exponent, BITS).exp_m1();
    let sum = exp_m1(&of_group).div(&exp_m1(epsilon)).mul(&Enclosure::rational(delta, BITS));
    let delta = sum.upper_rational().filter(|delta| *delta < 1).ok_or_else(|| {
        let (epsilon, delta) = (rational::display(epsilon), rational::display(delta));
        let why = format!(
            "nothing follows for {size} records from ({epsilon}, {delta})-DP of one: their delta would be at least 1"
        );
        refused("approximate DP", &why)
    })?;
    Ok(Law::Approximate { epsilon: of_group, delta })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        account::{Account, Composition},
        law::{NoiseTable, PerturbationTable},
        numeric::rational::parse,
    };

    fn table(masses: &[(i64, &str)]) -> Counts {
        let rows = masses.iter().map(|(value, mass)| (*value, parse(mass).unwrap()));
        Counts::new(Law::Table(Arc::new(NoiseTable::new("noise.csv", rows).unwrap())), 1, 1).unwrap()
    }

    /// Every way in which some records move up to `most` counts of theirs by up to one, as the counts that move.
    fn ways(records: u64, most: usize) -> Vec<Vec<u64>> {
        let counts = records as usize * most;
        let choices: Vec<Vec<u64>> = (0..1_u32 << counts)
            .filter(|set| set.count_ones() as usize <= most)
            .map(|set| (0..counts).map(|at| u64::from(set >> at & 1)).collect())
            .collect();
        let mut all = vec![vec![0; counts]];
        for _ in 0..records {
            let add = |sum: &Vec<u64>, one: &Vec<u64>| sum.iter().zip(one).map(|(a, b)| a + b).collect::<Vec<u64>>();
            all = all.iter().flat_map(|sum| choices.iter().map(move |one| add(sum, one))).collect();
            all.iter_mut().for_each(|sum| sum.sort_by(|a, b| b.cmp(a)));
            all.sort();
            all.dedup();
        }
        all.retain(|sum| sum[0] > 0);
        all
    }

    #[test]
    fn no_way_of_a_group_is_worse_by_enumeration() {
        let skew = table(&[(0, "1/10"), (1, "3/10"), (2, "2/5"), (3, "1/5")]);
        let laws = ["discrete-gaussian", "discrete-laplace", "truncated-laplace", "laplace"];
        let of = ["3/2", "1/2", "1/2:6", "2"];
        let mut all: Vec<Counts> = laws.iter().zip(of).map(|(key, text)| Counts::parse(key, text).unwrap()).collect();
        all.push(skew);
        for one in all {
            for (records, most) in [(2_u64, 1_usize), (2, 2), (3, 1)] {
                let counts = Counts::new(one.law.clone(), most as u64, 1).unwrap();
                let group = Composition::new([counts]).unwrap().for_groups_of(records).unwrap();
                let ways = ways(records, most);
                assert!(ways.len() > 2);
                for epsilon in ["0", "0.7", "2"] {
                    let bound = group.delta(epsilon, 8).unwrap().value;
                    for way in &ways {
                        let moved = way.iter().filter(|shift| **shift > 0);
                        let moved = moved.map(|shift| Counts::new(one.law.clone(), 1, *shift).unwrap());
                        let own = Composition::new(moved).unwrap().delta(epsilon, 8).unwrap().value;
                        assert!(own.lower() <= bound.upper(), "{one} {way:?} at {epsilon}: {own} > {bound}");
                    }
                }
            }
        }
    }

    #[test]
    fn guarantees_of_groups_are_those_of_the_theorems() {
        let of = |key: &str, text: &str, size| {
            Composition::new([Counts::parse(key, text).unwrap()])
                .unwrap()
                .for_groups_of(size)
                .map(|all| all.counts()[0].clone())
        };
        let three = of("pure", "1/2x3", 3).unwrap();
        assert_eq!((three.law, three.count, three.shift), (Law::Pure { epsilon: parse("1/2").unwrap() }, 3, 3));
        assert_eq!(of("randomized-response", "1x3", 2).unwrap().count, 6);
        let Law::Approximate { epsilon, delta } = of("approximate", "1/2:1e-6", 3).unwrap().law else { panic!() };
        // 1e-6 (1 + e^(1/2) + e)
        let truth = 1e-6 * (1.0 + 0.5_f64.exp() + 1.0_f64.exp());
        assert_eq!(epsilon, parse("3/2").unwrap());
        assert!((delta.to_f64() / truth - 1.0).abs() < 1e-14, "{delta}");
        let none = of("approximate", "5:1/10", 2).unwrap_err().to_string();
        assert!(none.contains("at least 1"), "{none}");
    }

    fn cells(rows: &[&[(u64, &str)]]) -> Counts {
        let entries = (0..).zip(rows).flat_map(|(i, row)| row.iter().map(move |(j, p)| (i, *j, parse(p).unwrap())));
        Counts::new(Law::Perturbation(Arc::new(PerturbationTable::new("p.csv", entries).unwrap())), 1, 1).unwrap()
    }

    /// Delta of a group is the largest of all ways in which its records change counts, each by exactly so much.
    #[test]
    fn where_no_way_is_the_worst_all_ways_are_compared() {
        let two_ends = [(-2, "2/5"), (-1, "1/20"), (0, "1/10"), (1, "1/20"), (2, "2/5")];
        let rows: [&[(u64, &str)]; 4] = [
            &[(0, "3/4"), (1, "1/4")],
            &[(0, "1/4"), (1, "1/2"), (2, "1/4")],
            &[(0, "1/10"), (1, "3/10"), (2, "2/5"), (3, "1/5")],
            &[(1, "1/5"), (2, "1/5"), (3, "1/5"), (4, "2/5")],
        ];
        let laws = [
            table(&[(0, "1/2"), (2, "1/2")]),
            table(&two_ends),
            table(&[(0, "1/2"), (1, "1/10"), (2, "2/5")]),
            cells(&rows),
            Counts::parse_unknown_key("discrete-laplace:1/10:100").unwrap(),
            Counts::parse_unknown_key("discrete-laplace:1:3").unwrap(),
        ];
        for one in laws {
            for (records, most) in [(1_u64, 2_usize), (2, 1), (2, 2), (3, 1)] {
                let group = Counts::new(one.law.clone(), most as u64, 1).unwrap();
                let group = Composition::new([group]).unwrap().for_groups_of(records).unwrap();
                for epsilon in ["0", "0.7", "2"] {
                    let of_way = |way: Vec<u64>| {
                        let moved = way.into_iter().filter(|shift| *shift > 0);
                        let counts =
                            moved.map(|shift| Counts::new(one.law.clone(), 1, shift).unwrap().exactly().unwrap());
                        Composition::new(counts).unwrap().delta(epsilon, 12).unwrap().value
                    };
                    let truth = ways(records, most).into_iter().map(of_way).reduce(|a, b| a.max(&b)).unwrap();
                    let bound = group.delta(epsilon, 12).unwrap().value;
                    let apart = (bound.approximate() - truth.approximate()).abs();
                    assert!(
                        bound.overlaps(&truth) && apart < 1e-9,
                        "{one} {records} {most} at {epsilon}: {bound} for {truth}"
                    );
                }
            }
        }
    }

    /// A change by 1 of values 0 and 2 shows the record for certain; a change by 2 leaves half of the outputs in common.
    #[test]
    fn a_shift_is_a_change_of_at_most_so_much_unless_it_is_exactly() {
        let two = table(&[(0, "1/2"), (2, "1/2")]);
        let delta = |counts: Counts| Composition::new([counts]).unwrap().delta("1", 12).unwrap().value;
        let by_two = Counts::new(two.law.clone(), 1, 2).unwrap();
        assert!(delta(by_two.clone()).contains(&Rational::from(1)) && delta(by_two.clone()).is_tight(12));
        assert!(delta(by_two.exactly().unwrap()).contains(&parse("1/2").unwrap()));
        assert!(delta(Counts::new(two.law.clone(), 1, 3).unwrap()).contains(&Rational::from(1)));
        // Of a perturbation table too: rows 0 and 2 have an output in common, rows 0 and 1 none.
        let rows = cells(&[&[(0, "1")], &[(1, "1")], &[(0, "1/2"), (2, "1/2")]]);
        let by_two = Counts::new(rows.law.clone(), 1, 2).unwrap();
        assert!(delta(by_two).contains(&Rational::from(1)));
        let large = table(&[(0, "1/4"), (1, "1/4"), (400_000, "1/2")]);
        let error = Counts::new(large.law, 1, 390_000).unwrap_err().to_string();
        assert!(error.contains("@=390000"), "{error}");
    }

    #[test]
    fn a_group_that_changes_counts_by_exactly_a_number_is_refused() {
        let one = table(&[(0, "1/2"), (2, "1/2")]);
        let exactly = Counts::new(one.law, 1, 2).unwrap().exactly().unwrap();
        let error = Composition::new([exactly]).unwrap().for_groups_of(2).unwrap_err().to_string();
        assert!(error.contains("exactly"), "{error}");
    }

    /// Of more than 24 ways the answer is between the worst of some and a bound for all: the truth is inside, and an epsilon is found.
    #[test]
    fn of_many_ways_the_worst_is_within_the_interval() {
        let skew = table(&[(0, "1/2"), (1, "1/10"), (2, "2/5")]);
        let keys = |text: &str| Counts::parse_unknown_key(text).unwrap();
        for one in [skew, keys("gaussian:4:9"), keys("discrete-laplace:1:3")] {
            let (records, most) = (3_u64, 3_usize);
            let group = Counts::new(one.law.clone(), most as u64, 1).unwrap();
            let group = Composition::new([group]).unwrap().for_groups_of(records).unwrap();
            for epsilon in ["0", "2"] {
                let bound = group.delta(epsilon, 6).unwrap().value;
                // Some of the ways: each a lower bound, and none above the answer.
                for way in [&[3, 3, 3][..], &[1; 9], &[3, 2, 1, 1, 1, 1], &[2, 2, 2, 2, 1]] {
                    let exactly = |shift: &u64| Counts::new(one.law.clone(), 1, *shift).unwrap().exactly().unwrap();
                    let own = Composition::new(way.iter().map(exactly)).unwrap().delta(epsilon, 6).unwrap().value;
                    assert!(own.lower() <= bound.upper(), "{one} {way:?} at {epsilon}: {own} > {bound}");
                }
            }
            // Keys of so low a threshold are nearly always shown.
            if matches!(one.law, Law::UnknownKey(_)) && one.to_string() != keys("discrete-laplace:1:3").to_string() {
                let delta = "1/4";
                let found = group.epsilon(crate::account::Delta::try_from(&parse(delta).unwrap()).unwrap(), 6);
                let found = found.unwrap_or_else(|error| panic!("{one} at {delta}: {error}")).value;
                let at = group.delta(found.upper_rational().unwrap(), 6).unwrap().value;
                assert!(*at.lower() <= parse(delta).unwrap(), "{one} at {delta}: {found} {at}");
            }
        }
    }
}
