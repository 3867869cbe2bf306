//! Counts and guarantees beside pairs of block paths: the largest of all pairs, each composed with what is beside it.
//!
//! The independent path is the composition of every pair alone, which shares neither the contour of the family nor its sums.

use dp_assay::{
    account::{Account, Composition, paths::WorstPath},
    loss::family::Units,
    numeric::Enclosure,
};
use rug::Rational;

use crate::common::{composition, number, program::json};

/// Paths of one rho on lattices that differ: one contour serves all pairs of them.
const ALIKE: [&str; 3] = ["100x701", "200/501x2 100x200", "50x100 100x501"];

fn paths(texts: &[&str]) -> Vec<Composition> {
    texts.iter().map(|text| composition(text)).collect()
}

fn largest(all: impl IntoIterator<Item = Enclosure>) -> Enclosure {
    all.into_iter().reduce(|largest, next| largest.max(&next)).unwrap()
}

/// Every pair of paths, composed alone with what is beside it.
fn each_pair(paths: &[Composition], beside: &Composition) -> Vec<Composition> {
    let pairs = (0..paths.len()).flat_map(|p| (p..paths.len()).map(move |q| (p, q)));
    pairs.map(|(p, q)| paths[p].compose(&paths[q]).unwrap().compose(beside).unwrap()).collect()
}

const BESIDE: [&str; 6] = [
    "pure:0.3",
    "approximate:0.2:1e-7x5",
    "40x3",
    "truncated-laplace:1/2:12 discrete-laplace:1/5x2",
    "gaussian:30 pure:1/3x3",
    "randomized-response:0.7:4x2 approximate:0.1:1e-6 100x5",
];

#[test]
fn the_largest_of_all_pairs_is_that_of_their_compositions() {
    let alike = paths(&ALIKE);
    for parts in BESIDE {
        let beside = composition(parts);
        let (pairs, worst) = (each_pair(&alike, &beside), WorstPath::pairs_beside(alike.clone(), beside).unwrap());
        let evaluator = worst.evaluator();
        for epsilon in ["0.4", "2.1", "7.3", "15"] {
            let epsilon = number(epsilon);
            let alone = largest(pairs.iter().map(|pair| pair.delta(&epsilon, 15).unwrap().value));
            for digits in [8, 14] {
                let delta = worst.delta(&epsilon, digits).unwrap();
                assert!(
                    delta.met && delta.value.overlaps(&alone),
                    "{parts:?} at {epsilon}: {delta:?} against {alone:?}"
                );
                let second = evaluator.second_hockey_stick(&epsilon, delta.pair()).unwrap();
                assert!(second.value.overlaps(&alone), "{parts:?} at {epsilon}: {second:?} against {alone:?}");
            }
            // By contours that requests share.
            let many = evaluator.hockey_stick_of_many(&epsilon, 10).unwrap();
            assert!(many.met && many.value.overlaps(&alone), "{parts:?} at {epsilon}: {many:?} against {alone:?}");
        }
    }
}

#[test]
fn epsilon_and_the_tradeoff_function_are_the_worst_of_all_pairs() {
    let alike = paths(&ALIKE[..2]);
    for parts in [BESIDE[1], BESIDE[5]] {
        let beside = composition(parts);
        let (pairs, worst) = (each_pair(&alike, &beside), WorstPath::pairs_beside(alike.clone(), beside).unwrap());
        let alone = largest(pairs.iter().map(|pair| pair.epsilon("1e-5", 12).unwrap().value));
        let epsilon = worst.epsilon("1e-5", 12).unwrap();
        assert!(epsilon.met && epsilon.value.overlaps(&alone), "{parts:?}: {epsilon:?} against {alone:?}");
        // No pair's function is below that of all, and the profile of the lowest is that of all here.
        let alpha = number("0.1");
        let beta = worst.tradeoff(&alpha, 6).unwrap();
        for pair in &pairs {
            let own = pair.tradeoff(&alpha, 8).unwrap();
            assert!(beta.value.lower() <= own.value.upper(), "{parts:?}: {beta:?} against {own:?}");
        }
    }
}

/// Bounded noise on the paths themselves: no contour serves all pairs, and each is answered alone.
#[test]
fn paths_that_share_no_contour_are_answered_one_by_one() {
    let ways = [composition("discrete-laplace:1/3x2"), composition("20x4")];
    let beside = composition(BESIDE[1]);
    let pairs = each_pair(&ways, &beside);
    let worst = WorstPath::pairs_beside(ways.to_vec(), beside).unwrap();
    let epsilon = number("1.2");
    let alone = largest(pairs.iter().map(|pair| pair.delta(&epsilon, 12).unwrap().value));
    assert!(worst.delta(&epsilon, 10).unwrap().value.overlaps(&alone));
}

/// A guarantee is about both paths of a pair: its delta and its epsilon count once.
#[test]
fn what_is_beside_a_pair_counts_once() {
    let (alike, boxes) = (paths(&ALIKE), composition("approximate:0.2:1e-3x3"));
    let worst = WorstPath::pairs_beside(alike.clone(), boxes.clone()).unwrap();
    let mass = |account: &dyn Fn() -> Option<Enclosure>| account().unwrap();
    let once = mass(&|| boxes.infinite_loss().map(|infinite| infinite.mass(12)));
    assert!(mass(&|| worst.infinite_loss().map(|infinite| infinite.mass(12))).overlaps(&once));
    let of_pair = Rational::from(&**alike[0].rho() * 2_u32);
    assert_eq!(*worst.rho(), of_pair + &**boxes.rho());
    assert!(WorstPath::new(vec![alike[0].compose(&boxes).unwrap()], Units::Pairs).is_err(), "not once for each path");
    // No epsilon is finite below the probability of an infinite loss.
    assert!(worst.epsilon("1e-3", 8).is_err());
    let sampled = composition("sampled:0.1:gaussian:1");
    assert!(WorstPath::pairs_beside(alike, sampled).is_err(), "a pair that is not symmetric");
}

/// More noise on everything: the counts beside the pairs take part.
#[test]
fn all_noise_grows_together() {
    let worst = WorstPath::pairs_beside(paths(&ALIKE), composition("40x3")).unwrap();
    let more = worst.with_noise_times(&Rational::from(2)).unwrap();
    let by_hand =
        WorstPath::pairs_beside(paths(&["200x701", "400/501x2 200x200", "100x100 200x501"]), composition("80x3"))
            .unwrap();
    let epsilon = number("3");
    assert!(more.delta(&epsilon, 10).unwrap().value.overlaps(&by_hand.delta(&epsilon, 10).unwrap().value));
    assert_eq!(*more.rho(), Rational::from(&*worst.rho() / 2_u32));
}

#[test]
fn guarantees_and_given_counts_are_accepted_beside_a_census_release() {
    let of =
        |options: &[&str]| json(&[&["epsilon", "--release", "dhc-persons-us", "--delta", "1e-6"], options].concat());
    let upper = |answer: &serde_json::Value| answer["epsilon"]["upper"].as_f64().unwrap();
    let (alone, boxes) = (of(&[]), of(&["--approximate", "0.01:1e-9x100"]));
    // Each box adds at most its epsilon, and at least nothing.
    assert!(upper(&alone) < upper(&boxes) && upper(&boxes) < upper(&alone) + 1.1, "{boxes}");
    assert_eq!(boxes["status"], "met");
    let given = of(&["--discrete-gaussian", "5x3", "--counts-as-given"]);
    let twice = of(&["--discrete-gaussian", "5x3"]);
    assert!(upper(&alone) < upper(&given) && upper(&given) < upper(&twice), "{given} {twice}");
}
