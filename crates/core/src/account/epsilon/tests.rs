use super::*;
use crate::{
    account::{Account, Composition, Counts, paths::WorstPath},
    loss::{family::Units, limit},
};

fn composition(counts: &[&str]) -> Composition {
    let of = |counts: &&str| match counts.strip_prefix("laplace ") {
        Some(counts) => Counts::parse_discrete_laplace(counts).unwrap(),
        None => counts.parse().unwrap(),
    };
    Composition::new(counts.iter().map(of)).unwrap()
}

/// The epsilon of a family against the largest of its units' roots, each found separately: families that share a contour, with equal
/// and nearly equal units, and families that do not.
#[test]
fn the_epsilon_of_a_family_is_the_largest_of_its_units() {
    for (paths, units, largest) in [
        (vec![vec!["5x10"], vec!["2x4"], vec!["3x3", "5x5"]], Units::Pairs, None),
        (vec![vec!["5x10"], vec!["5x4", "5x6"], vec!["50x100"]], Units::Pairs, None),
        (vec![vec!["5x10"], vec!["4.99x10"]], Units::Pairs, Some((1, 1))),
        (vec![vec!["5x10"], vec!["5x9", "laplace 1x1"]], Units::Single, None),
    ] {
        let worst = WorstPath::new(paths.iter().map(|path| composition(path)).collect(), units).unwrap();
        for (delta, digits) in [("1e-10", 12), ("0.01", 8), ("1e-30", 18), ("0.999", 9)] {
            let delta: Delta = delta.parse().unwrap();
            let answer = worst.epsilon(&delta, digits).unwrap();
            assert!(answer.met && (answer.value.is_tight(digits) || *answer.value.upper() == 0), "{answer:?}");
            let count = paths.len();
            let units = (0..count).flat_map(|p| (p..count).map(move |q| (p, q)));
            let alone = |pair: Pair| worst.composition(pair).unwrap().epsilon(&delta, digits).unwrap().value;
            let all: Vec<Enclosure> = units.filter(|(p, q)| worst.in_pairs() || p == q).map(alone).collect();
            let truth = all.iter().skip(1).fold(all[0].clone(), |largest, next| largest.max(next));
            assert!(answer.value.overlaps(&truth), "{paths:?} {digits}: {answer:?} {truth:?}");
            assert!(largest.is_none_or(|pair| answer.pair() == Some(pair)), "{paths:?}: {answer:?}");
        }
    }
}

/// Second enclosures of epsilon hold the first ones, and a root that they exclude is refused.
#[test]
fn second_epsilons_hold_the_first_ones() {
    for (counts, share) in [
        (&["5x10"][..], 0.3),
        (&["500x1000", "7x3"], 0.1),
        (&["1/5x3", "laplace 1x2"], 0.95),
        (&["laplace 1/3x40"], 0.95),
    ] {
        let composition = composition(counts);
        let evaluator = composition.evaluator();
        for delta in ["1e-10", "0.01", "1e-100"] {
            let delta: Delta = delta.parse().unwrap();
            let first = composition.epsilon_by(&evaluator, &delta, 10).unwrap();
            let second = composition.second_epsilon(&evaluator, &delta, &first).unwrap();
            assert!(second.value.overlaps(&first.value), "{counts:?} {second:?} {first:?}");
            let (lower, upper) = second.value.doubles();
            assert!(upper - lower <= share * upper, "{counts:?}: {second:?}");
            // A value far from it is refused, on both sides.
            let asked = Request { delta: &delta, ceiling: 1e9, digits: 10 };
            let confirm = |root: &Enclosure| match &evaluator {
                Evaluator::Sum(sum) => asked.confirm(&**sum, root),
                Evaluator::Uniform(uniform) => asked.confirm(&**uniform, root),
                other => panic!("{other:?}"),
            };
            assert!(confirm(&first.value).is_ok());
            for factor in [0.3, 3.0] {
                let wrong = first.value.mul(&Enclosure::double(factor, 64));
                let refused = confirm(&wrong);
                assert!(matches!(refused, Err(Error::Contradiction { .. })), "{counts:?} {factor}: {refused:?}");
            }
        }
    }
}

/// After any limit the answer is the enclosure proven by then: at first the bound by zCDP, in the end all digits.
#[test]
fn an_epsilon_out_of_time_is_what_was_proven_by_then() {
    for (counts, digits) in [(["5x10", "7/3x1"], 12), (["1/20x4@2", "26216x1@2"], 20), (["1/300x2", "1/2x3"], 12)] {
        let composition = composition(&counts);
        let delta: Delta = "1e-10".parse().unwrap();
        let truth = composition.epsilon(&delta, digits).unwrap();
        let zcdp = conversions::zcdp_epsilon(composition.rho(), &delta, 15).upper().to_f64().next_up();
        assert!(truth.met);
        let (mut some, mut all) = (0, 0);
        for looks in (0..1_000).step_by(5) {
            let (answer, left) = limit::tests::after(looks, || composition.epsilon(&delta, digits).unwrap());
            let value = &answer.value;
            assert!(value.overlaps(&truth.value), "{counts:?} {looks}: {answer:?} {truth:?}");
            assert_eq!(answer.met, value.is_tight(digits), "{counts:?} {looks}: {answer:?}");
            assert!(looks > 0 || *value.lower() == 0 && *value.upper() <= zcdp, "{counts:?}: {answer:?}");
            some += u32::from(!answer.met && looks > 0);
            if left > 0 {
                assert_eq!(value, &truth.value, "{counts:?}");
                all += 1;
                break;
            }
        }
        assert!(some > 0 && all == 1, "{counts:?}: {some} {all}");
    }
}
