//! Decisions, tests and posteriors where the pair of neighbors is not symmetric, against all events of small laws in exact fractions.

use std::{fs, path::Path};

use dp_assay::{
    account::{Composition, Counts},
    law::Law,
    numeric::Enclosure,
    release::Neighbors,
    risk::bound::most_correct,
};
use rug::Rational;
use serde_json::Value;

use crate::common::{
    numbers::number,
    program::{assay, json},
};

/// Outcomes with their probabilities with the record and without.
type Outcomes = Vec<(Rational, Rational)>;

/// One outcome is impossible without the record, and one with it.
const FOUR: &[(&str, &str)] = &[("1/3", "0"), ("1/3", "1/2"), ("1/3", "1/4"), ("0", "1/4")];
const SKEW: &[(&str, &str)] = &[("1/2", "1/4"), ("1/3", "1/3"), ("1/6", "5/12")];
const STEEP: &[(&str, &str)] = &[("9/10", "1/1000"), ("1/10", "999/1000")];
const BOTH_ENDS: &[(&str, &str)] = &[("1/2", "1/3"), ("1/3", "1/3"), ("1/6", "0"), ("0", "1/3")];
/// Masses 1/4, 1/2, 1/4 on -1, 0, 1, of a count that is one more with the record.
const SMALL_NOISE: &[(&str, &str)] = &[("0", "1/4"), ("1/4", "1/2"), ("1/2", "1/4"), ("1/4", "0")];
const LAWS: [(&str, &[(&str, &str)]); 5] = [
    ("four", FOUR),
    ("skew", SKEW),
    ("steep", STEEP),
    ("an outcome is impossible on either side", BOTH_ENDS),
    ("small noise", SMALL_NOISE),
];
const PRIORS: [&str; 5] = ["0.1", "0.3", "1/2", "0.7", "0.9"];

fn outcomes(law: &[(&str, &str)]) -> Outcomes {
    law.iter().map(|(p, q)| (number(p), number(q))).collect()
}

fn reversed(outcomes: &Outcomes) -> Outcomes {
    outcomes.iter().map(|(p, q)| (q.clone(), p.clone())).collect()
}

/// The outcomes of two independent draws.
fn squared(outcomes: &Outcomes) -> Outcomes {
    let with_all = |(p, q): &(Rational, Rational)| -> Outcomes {
        outcomes.iter().map(|(a, b)| (Rational::from(p * a), Rational::from(q * b))).collect()
    };
    outcomes.iter().flat_map(with_all).collect()
}

/// P(S) and Q(S) of every event.
fn events(outcomes: &Outcomes) -> Vec<(Rational, Rational)> {
    let with = |all: Vec<(Rational, Rational)>, (p, q): &(Rational, Rational)| {
        let more = all.iter().map(|(a, b)| (Rational::from(a + p), Rational::from(b + q))).collect::<Vec<_>>();
        [all, more].concat()
    };
    outcomes.iter().fold(vec![(Rational::new(), Rational::new())], with)
}

/// The largest probability of a correct decision over all rules "yes on S".
fn largest_correct(outcomes: &Outcomes, prior: &Rational) -> Rational {
    let absent = Rational::from(1 - prior);
    let of = |(p, q): (Rational, Rational)| p * prior + Rational::from(1 - q) * &absent;
    events(outcomes).into_iter().map(of).max().expect("an event")
}

fn account(law: &[(&str, &str)], count: u64) -> Composition {
    let outcomes = law.iter().map(|(p, q)| (number(p), number(q)));
    let pair = dp_assay::law::Pair::new("pair.csv", outcomes).expect("a pair");
    Composition::new([Counts::new(Law::Pair(pair.into()), count, 1).expect("counts")]).expect("a composition")
}

/// Both ends are within a relative 1e-9 of the truth, and on their sides of it.
fn encloses(value: &Enclosure, truth: &Rational, what: &str) {
    let (lower, upper) = value.doubles();
    let slack = Rational::from(truth * number("1e-9")) + number("1e-15");
    assert!(value.contains(truth), "{what}: [{lower}, {upper}] against {}", truth.to_f64());
    assert!(Rational::from_f64(upper - lower).expect("finite") <= slack, "{what} is wide: [{lower}, {upper}]");
}

/// A file of a pair of hypotheses, in this folder.
fn file_of(folder: &Path, law: &[(&str, &str)]) -> String {
    let rows: String = law.iter().map(|(p, q)| format!("{p},{q}\n")).collect();
    let file = folder.join("pair.csv");
    fs::write(&file, format!("p,q\n{rows}")).expect("a file");
    file.to_str().expect("a name").to_string()
}

/// The JSON numbers of an interval around the truth.
fn ends(value: &Value) -> [f64; 2] {
    ["lower", "upper"].map(|end| value[end].to_string().parse().expect("a number"))
}

#[test]
fn the_best_decision_is_that_of_the_direction_of_the_prior() {
    let mut asymmetric = 0;
    for ((name, law), count) in LAWS.iter().flat_map(|law| [(law, 1), (law, 2)]) {
        let own = if count == 1 { outcomes(law) } else { squared(&outcomes(law)) };
        for prior in PRIORS {
            let (account, what) = (account(law, count), format!("{name} x{count} at {prior}"));
            let prior = number(prior);
            let [truth, other] = [&own, &reversed(&own)].map(|outcomes| largest_correct(outcomes, &prior));
            let found = most_correct(&account, &prior, Neighbors::AddRemove, 12).expect("an answer");
            encloses(&found.value, &truth, &what);
            // Either of two records may be the first.
            let either = most_correct(&account, &prior, Neighbors::Bounded, 12).expect("an answer");
            encloses(&either.value, &truth.clone().max(other.clone()), &what);
            asymmetric += u32::from(truth < other);
        }
    }
    assert!(asymmetric >= 10, "{asymmetric}");
}

/// By hand: 3 times 0.7 / 3 and 0.3 / 4, where the other direction has 0.8; and always "yes" is right with probability 0.9, where an added record lifts no odds ninefold.
#[test]
fn risk_bound_prints_the_decision_of_the_direction_of_the_prior() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = file_of(folder.path(), FOUR);
    let of = |arguments: &[&str]| ends(&json(arguments)["correct_decision_upper"]);
    let pair = ["risk", "bound", "--pair", &file, "--prior", "0.7", "--delta", "0.34"];
    let [lower, upper] = of(&pair);
    assert!(lower <= 0.775 && 0.775 <= upper && upper - lower < 1e-9, "{lower} {upper}");
    let [lower, upper] = of(&["risk", "bound", "--sampled", "0.3:gaussian:1x5", "--prior", "0.9"]);
    assert!(lower <= 0.9 && 0.9 <= upper && upper - lower < 1e-9, "{lower} {upper}");
    assert_eq!(json(&pair)["guess"].to_string().trim_matches('"'), "0.7");
    // Of a guarantee it is a bound, of a mechanism the largest, and of two records that of the worse order.
    let said = |arguments: &[&str]| {
        let output = assay(arguments).assert().success().get_output().stdout.clone();
        String::from_utf8(output).expect("text")
    };
    let largest = "correct: the largest probability with which any adversary decides correctly";
    assert!(said(&pair).contains(&format!("{largest}.\n")));
    assert!(said(&[&pair[..], &["--neighbors", "bounded"]].concat()).contains(&format!("{largest}, for the worse")));
    let guarantee = said(&["risk", "bound", "--pure", "1", "--prior", "0.7"]);
    assert!(guarantee.contains("correct: no adversary decides correctly with a larger probability.\n"), "{guarantee}");
}
