//! Values that are fractions: of mechanisms whose outcomes are all listed with their probabilities, as those of tables and pairs.
//!
//! An enclosure in binary floating point is never narrow enough to compare with a number that it contains. Where a target is just reached, these values decide.

use rug::Rational;

use super::{
    Composition,
    outputs::{self, Listed},
};

/// The most counts, and the most changes of them, of which outcomes are listed.
const MOST_COUNTS: u64 = 16;
const MOST_CHANGES: usize = 32;

/// Both directions of every change that a record can make; `None` where outcomes are not listed, or where they would be too many.
fn listed(composition: &Composition) -> Option<Vec<[Listed; 2]>> {
    let counts: u64 = composition.counts().iter().map(|counts| counts.count).sum();
    if counts > MOST_COUNTS {
        return None;
    }
    let changes = outputs::changes(composition).ok()??;
    if changes.len() > MOST_CHANGES { None } else { changes.iter().map(Listed::of_change).collect() }
}

/// delta = sup over events S of P(S) - ratio Q(S), where a record is removed and where it is added.
pub(super) fn delta(composition: &Composition, ratio: &Rational) -> Option<[Rational; 2]> {
    let of = |one: &Listed| -> Rational {
        let finite = one.ratios.iter().rev().take_while(|(own, _)| *own > ratio);
        // p - ratio q of outcomes with p / q = own.
        finite.map(|(own, p)| (1 - Rational::from(ratio / own)) * p).sum::<Rational>() + &one.infinite
    };
    let each = listed(composition)?;
    let largest = |direction: usize| each.iter().map(|both| of(&both[direction])).max();
    Some([largest(0)?, largest(1)?])
}

/// The smallest type II error of tests of type I error alpha, of both directions.
pub(super) fn type_two(composition: &Composition, alpha: &Rational) -> Option<Rational> {
    type_two_of_directions(composition, alpha).map(|[remove, add]| remove.min(add))
}

/// The same of tests of absence against presence, as where a record is removed, and of presence against absence.
pub(super) fn type_two_of_directions(composition: &Composition, alpha: &Rational) -> Option<[Rational; 2]> {
    let of = |one: &Listed| -> Rational {
        // The test rejects where the ratio is largest, and at the last of these ratios as often as alpha allows.
        let (mut left, mut missed) = (alpha.clone(), Rational::from(1 - &one.infinite));
        for (ratio, p) in one.ratios.iter().rev() {
            let q = Rational::from(p / ratio);
            if q > left {
                return missed - left * ratio;
            }
            left -= q;
            missed -= p;
        }
        missed
    };
    let each = listed(composition)?;
    let least = |direction: usize| each.iter().map(|both| of(&both[direction])).min();
    Some([least(0)?, least(1)?])
}

/// The convex hull at alpha of the trade-off functions of both directions of every change: a bound from below on all type II errors, which f-DP composes.
pub(super) fn type_two_hull(composition: &Composition, alpha: &Rational) -> Option<Rational> {
    let each = listed(composition)?;
    let mut corners: Vec<Corner> = each.iter().flatten().flat_map(corners).collect();
    corners.sort();
    let mut below: Vec<Corner> = Vec::new();
    for corner in corners {
        // Type I errors rise strictly along `below`. A corner on or above the chord of its neighbors does not belong to the hull.
        while let [.., before, last] = &below[..]
            && slope(before, &corner) <= slope(before, last)
        {
            below.pop();
        }
        // Of corners with the same type I error the first has the smallest type II error.
        if below.last().is_none_or(|last| last.0 < corner.0) {
            below.push(corner);
        }
    }
    let after = below.partition_point(|(first, _)| first <= alpha);
    let last = &below[after.checked_sub(1)?];
    let Some(next) = below.get(after) else { return Some(last.1.clone()) };
    Some(Rational::from(alpha - &last.0) * slope(last, next) + &last.1)
}

/// The type I and type II error of a test.
type Corner = (Rational, Rational);

/// The corners of the trade-off function of one direction: the tests that reject where the ratio exceeds a bound.
fn corners(one: &Listed) -> Vec<Corner> {
    let (mut alpha, mut beta) = (Rational::new(), Rational::from(1 - &one.infinite));
    let mut all = vec![(alpha.clone(), beta.clone())];
    for (ratio, p) in one.ratios.iter().rev() {
        alpha += Rational::from(p / ratio);
        beta -= p;
        all.push((alpha.clone(), beta.clone()));
    }
    all
}

/// The slope of the chord between two corners, whose type I errors differ.
fn slope(from: &Corner, to: &Corner) -> Rational {
    Rational::from(&to.1 - &from.1) / Rational::from(&to.0 - &from.0)
}

#[cfg(all(test, feature = "mechanisms"))]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        account::{
            Account, Counts, Delta, Epsilon,
            promise::Promise,
            sought::{Outcome, Question},
        },
        law::{Law, Pair},
        numeric::{Certainty, rational::parse},
    };

    fn of_pair(outcomes: &[(&str, &str)], count: u64) -> Composition {
        let outcomes = outcomes.iter().map(|(p, q)| (parse(p).unwrap(), parse(q).unwrap()));
        let law = Law::Pair(Arc::new(Pair::new("pair.csv", outcomes).unwrap()));
        Composition::new([Counts::new(law, count, 1).unwrap()]).unwrap()
    }

    const PAIR: [(&str, &str); 4] = [("1/3", "0"), ("1/3", "1/2"), ("1/3", "1/4"), ("0", "1/4")];

    /// Against sums over all events, and the enclosures of the engines.
    #[test]
    fn values_are_those_of_the_best_events() {
        for count in [1, 3] {
            let composition = of_pair(&PAIR, count);
            for (ratio, epsilon) in [("1", "0"), ("3/2", "0.405465108108164")] {
                let own = delta(&composition, &parse(ratio).unwrap()).unwrap().into_iter().max().unwrap();
                let epsilon: Epsilon = epsilon.parse().unwrap();
                let value = composition.delta(&epsilon, 12).unwrap().value;
                let apart = (value.upper_rational().unwrap() - &own).abs();
                assert!(apart < parse("1e-11").unwrap(), "{count} {ratio}: {value}");
            }
            for alpha in ["0", "1/7", "1/2", "9/10"] {
                let alpha = parse(alpha).unwrap();
                let own = type_two(&composition, &alpha).unwrap();
                let value = composition.tradeoff(&alpha, 10).unwrap().value;
                let apart = (value.upper_rational().unwrap() - &own).abs();
                assert!(apart < parse("1e-8").unwrap(), "{count} {alpha}: {value} {own}");
                let hull = type_two_hull(&composition, &alpha).unwrap();
                let value = composition.tradeoff_hull_by(&composition.evaluator(), &alpha, 10).unwrap().unwrap().value;
                assert!(value.contains(&hull) && hull <= own, "{count} {alpha}: {value} {hull}");
            }
        }
        let alone = of_pair(&PAIR, 1);
        // 1/3 and 1/3 - 1/4 with the record; 1/2 - 1/3 and 1/4 without.
        assert_eq!(delta(&alone, &Rational::from(1)).unwrap(), [parse("5/12").unwrap(), parse("5/12").unwrap()]);
        // Without false reports the first outcome is reported, or the last.
        assert_eq!(type_two(&alone, &Rational::new()).unwrap(), parse("2/3").unwrap());
    }

    /// Targets that some number of the grid just reaches: before, that number was not found.
    #[test]
    fn a_target_that_is_just_reached_is_decided() {
        for (key, text, beside, epsilon, delta, expected) in [
            ("approximate", "?:1e-3", None, "0.9", "1e-3", "0.9"),
            ("approximate", "?:1e-3x3", None, "0.9", "0.002997001", "0.3"),
            ("approximate", "?:1e-3", Some(("pure", "0.3")), "0.9", "1e-3", "0.6"),
            ("approximate", "?:1e-3", Some(("randomized-response", "0.2:5x2")), "0.9", "1e-3", "0.5"),
            ("approximate", "0.9:?", None, "0.9", "1e-3", "0.001"),
            ("approximate", "0.9:?x2", Some(("pure", "1/7")), "2", "0.0199", "0.01"),
            ("approximate", "0.5:?", Some(("approximate", "0.4:1e-3")), "0.9", "0.001999", "0.001"),
        ] {
            let question = Question::of_text(key, text, false).unwrap().unwrap();
            let beside: Vec<Counts> = beside.iter().map(|(key, text)| Counts::parse(key, text).unwrap()).collect();
            let family = |value: &Rational| {
                Composition::new([question.counts(value)?].into_iter().chain(beside.iter().cloned()))
            };
            let promise = Promise::Epsilon { delta: delta.parse().unwrap(), epsilon: epsilon.parse().unwrap() };
            let decimals = question.decimals(None).unwrap();
            let Outcome::Found(found) = question.answer(family, &promise, decimals).unwrap() else {
                panic!("{text}: nothing was found")
            };
            assert_eq!(found.value, parse(expected).unwrap(), "{text}");
            assert!(found.is_neighbor_disproved, "{text}");
        }
    }

    /// delta(0) of pairs, and errors of their tests, just reached and just missed.
    #[test]
    fn promises_about_pairs_are_decided_at_equality() {
        let alone = of_pair(&PAIR, 1);
        let kept = |promise: &Promise| promise.kept_by(&alone, &alone).unwrap();
        let of_delta = |delta: &str| Promise::Epsilon { delta: delta.parse().unwrap(), epsilon: "0".parse().unwrap() };
        assert_eq!(kept(&of_delta("5/12")), Certainty::Yes);
        assert_eq!(kept(&of_delta("0.41666666666666666666666666666666666666666666666666")), Certainty::No);
        // f(1/4) = 1/3: the first outcome and the third.
        let of_beta = |beta: &str| Promise::tradeoff(parse("1/4").unwrap(), parse(beta).unwrap()).unwrap();
        assert_eq!(type_two(&alone, &parse("1/4").unwrap()).unwrap(), parse("1/3").unwrap());
        assert_eq!(kept(&of_beta("1/3")), Certainty::Yes);
        assert_eq!(kept(&of_beta("0.33333333333333333333333333333333333333333333333334")), Certainty::No);
        // At exactly delta(0) epsilon is zero, and not an interval from zero on.
        let shown = [("1/3", "0"), ("2/3", "1")];
        for (composition, delta) in
            [(alone, "5/12"), (of_pair(&shown, 1), "1/3"), (of_pair(&shown, 2), "5/9"), (of_pair(&PAIR, 1), "1/2")]
        {
            let epsilon = composition.epsilon(delta.parse::<Delta>().unwrap(), 12).unwrap();
            assert!(epsilon.met && *epsilon.value.upper() == 0, "{delta}: {epsilon:?}");
            for epsilon in composition.epsilon_of_directions(&delta.parse().unwrap(), 12).unwrap().unwrap() {
                assert!(epsilon.met && *epsilon.value.upper() == 0, "{delta}: {epsilon:?}");
            }
        }
    }
}
