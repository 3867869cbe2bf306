//! Decisions, tests and posteriors where the pair of neighbors is not symmetric, against all events of small laws in exact fractions.

use std::{fs, path::Path};

use dp_assay::{
    account::{Account, Composition, Counts, Delta},
    law::Law,
    numeric::Enclosure,
    release::Neighbors,
    risk::{bound::most_correct, curve, events::posterior_of_events, outputs},
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
    let of = |(p, q): (Rational, Rational)| p * prior + (1 - q) * &absent;
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
    let slack = (truth * number("1e-9")) + number("1e-15");
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

/// P(S) of the best event with Q(S) at most alpha, the last outcome with some probability: outcomes in order of their likelihood ratios.
fn largest_power(outcomes: &Outcomes, alpha: &Rational) -> Rational {
    let mut sorted: Outcomes = outcomes.iter().filter(|(p, q)| *p > 0 || *q > 0).cloned().collect();
    sorted.sort_by(|a, b| Rational::from(&b.0 * &a.1).cmp(&Rational::from(&a.0 * &b.1)));
    let (mut left, mut power) = (alpha.clone(), Rational::new());
    for (p, q) in sorted {
        if q <= left {
            (left, power) = (left - q, power + p);
        } else {
            power += p * left / q;
            left = Rational::new();
        }
    }
    power
}

#[test]
fn the_best_test_is_that_of_its_direction() {
    let mut asymmetric = 0;
    for ((name, law), count) in LAWS.iter().flat_map(|law| [(law, 1), (law, 2)]) {
        let own = if count == 1 { outcomes(law) } else { squared(&outcomes(law)) };
        let (account, other) = (account(law, count), reversed(&own));
        for alpha in ["0.001", "0.05", "0.3", "1/2", "0.9"] {
            let (what, alpha) = (format!("{name} x{count} at {alpha}"), number(alpha));
            let [power, of_other] = [&own, &other].map(|outcomes| largest_power(outcomes, &alpha));
            let point = |neighbors| curve::point(&account, &number("0.3"), neighbors, &alpha, 12).expect("a point");
            encloses(&point(Neighbors::AddRemove).power, &power, &what);
            encloses(&point(Neighbors::Bounded).power, &power.clone().max(of_other.clone()), &what);
            let share = number("0.3") * &power;
            let posterior = &share / (&share + number("0.7") * &alpha);
            encloses(&point(Neighbors::AddRemove).posterior, &posterior, &what);
            let least = 1 - power.clone().max(of_other.clone());
            encloses(&account.tradeoff(&alpha, 12).expect("a value").value, &least, &what);
            asymmetric += u32::from(power != of_other);
        }
    }
    assert!(asymmetric >= 10, "{asymmetric}");
}

/// By hand: with 0.5 false reports the best test reports outcomes 1 and 3, and outcome 2 every second time. And no test of one step of a sample errs less than
/// 0.352086 at 0.3 (Neyman and Pearson), while the hull of both directions is at 0.2569.
#[test]
fn commands_print_the_tests_of_a_direction() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = file_of(folder.path(), FOUR);
    let answer = json(&["risk", "curve", "--pair", &file, "--prior", "0.3", "--alpha", "0.5"]);
    let first = |key: &str| answer[key][0].to_string().parse::<f64>().expect("a number");
    let truth = 5.0 / 6.0;
    assert!(first("power_lower") <= truth && truth <= first("power_upper") && first("power_upper") < truth + 1e-9);
    let answer = json(&["tradeoff", "--sampled", "0.5:gaussian:0.1x1", "--alpha", "0.3"]);
    let first = |key: &str| answer[key][0].to_string().parse::<f64>().expect("a number");
    assert!((first("beta_lower") - 0.352_086).abs() < 1e-6 && (first("beta_upper") - 0.352_086).abs() < 1e-6);
    assert!((first("hull_lower") - 0.256_923_149).abs() < 1e-9 && (first("hull_upper") - 0.256_923_149).abs() < 1e-9);
    assert!(json(&["tradeoff", "--discrete-gaussian", "5", "--alpha", "0.3"])["hull_lower"].is_null());
}

/// sigma2 = 0.1 keeps the promise, and is far below what the hull asks for; a printed bound of 0.352 is no longer disproved by it.
#[test]
fn promises_of_tests_are_about_the_smaller_direction() {
    let of = |sigma2: &str| {
        let text = format!("0.5:gaussian:{sigma2}x1");
        let account = Composition::new([Counts::parse_sampled(&text).expect("counts")]).expect("a composition");
        account.tradeoff(&number("0.3"), 12).expect("a value").value
    };
    let target = ["--alpha", "0.3", "--beta", "0.3515", "--decimals", "4"];
    let answer = json(&[&["calibrate", "--sampled", "0.5:gaussian:?x1"], &target[..]].concat());
    let (value, before) = (answer["value"].to_string(), answer["not_enough"].to_string());
    assert!(*of(&value).lower() >= number("0.3515") && *of(&before).upper() < number("0.3515"), "{value} {before}");
    assert!(number(&value) <= number("0.1"));
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("claims.toml");
    let claim = |printed: &str, compute: &str| {
        let text = format!(
            "paper = 'claims'\ntitle = 'Claims'\n[[value]]\nid = 'one'\nplace = 'p. 1'\nprinted = '{printed}'\nunit = 'least'\ncompute = {{ {compute} }}\n"
        );
        fs::write(&file, text).expect("a file");
        assay(&["verify", file.to_str().expect("a name")]).output().expect("an answer").status.code()
    };
    let compute = "kind = 'tradeoff', sampled = '0.5:gaussian:0.1x1', alpha = '0.3'";
    assert_eq!(claim("0.3515", compute), Some(0));
    assert_eq!(claim("0.3525", compute), Some(1));
}

/// The promise of a correct decision is about the direction of its prior: against the account at both points of the grid.
#[test]
fn a_promised_decision_is_that_of_the_direction_of_its_prior() {
    let of = |prior: &str, sigma2: &str| {
        let text = format!("0.3:gaussian:{sigma2}x5");
        let account = Composition::new([Counts::parse_sampled(&text).expect("counts")]).expect("a composition");
        most_correct(&account, &number(prior), Neighbors::AddRemove, 12).expect("a value").value
    };
    let mut found = Vec::new();
    for (prior, most) in [("0.3", "0.75"), ("0.7", "0.75")] {
        let target = ["--posterior", most, "--prior", prior];
        let answer = json(&[&["calibrate", "--sampled", "0.3:gaussian:?x5"], &target[..]].concat());
        let (value, before) = (answer["value"].to_string(), answer["not_enough"].to_string());
        assert!(*of(prior, &value).upper() <= number(most) && *of(prior, &before).lower() > number(most));
        found.push(number(&value));
    }
    assert!(found[0] > found[1], "{found:?}");
}

/// p d / (p d + (1 - p) a).
fn posterior(prior: &Rational, with: &Rational, without: &Rational) -> Rational {
    let present = Rational::from(prior * with);
    &present / (&present + Rational::from(1 - prior) * without)
}

/// The least probability under the second law of a randomized test that has probability d under the first.
fn least_without(outcomes: &Outcomes, d: &Rational) -> Rational {
    1 - largest_power(&reversed(outcomes), &Rational::from(1 - d))
}

#[test]
fn posteriors_of_events_are_those_of_the_best_event() {
    for ((name, law), count) in LAWS.iter().flat_map(|law| [(law, 1), (law, 2)]) {
        let own = if count == 1 { outcomes(law) } else { squared(&outcomes(law)) };
        let (account, other) = (account(law, count), reversed(&own));
        for (prior, d) in PRIORS.iter().flat_map(|prior| ["0.01", "0.3", "0.8"].map(|d| (*prior, d))) {
            let (what, prior, least) = (format!("{name} x{count} at {prior}, {d}"), number(prior), number(d));
            let [present, absent] = [&own, &other].map(|law| posterior(&prior, &least, &least_without(law, &least)));
            let truth = present.max(absent);
            let delta = Delta::new(least.clone()).expect("a delta");
            let found = posterior_of_events(&account, &prior, &delta, 12).expect("a posterior");
            encloses(&found.value, &truth, &what);
            // No event has more, of presence or of absence.
            for law in [&own, &other] {
                let likely = events(law).into_iter().filter(|(p, _)| *p >= least);
                assert!(likely.map(|(p, q)| posterior(&prior, &p, &q)).all(|posterior| posterior <= truth), "{what}");
            }
        }
    }
}

/// The least t of all outputs such that those of a larger posterior have at most probability delta; the prior, which is that of no change, or more.
fn of_outputs(outcomes: &Outcomes, prior: &Rational, delta: &Rational) -> Rational {
    let each: Vec<(Rational, Rational)> =
        outcomes.iter().filter(|(p, _)| *p > 0).map(|(p, q)| (posterior(prior, p, q), p.clone())).collect();
    let above = |t: &Rational| each.iter().filter(|(own, _)| own > t).map(|(_, p)| p).sum::<Rational>();
    let all = each.iter().map(|(own, _)| own).chain([prior]);
    all.filter(|t| *t >= prior && above(t) <= *delta).min().expect("the largest posterior").clone()
}

#[test]
fn posteriors_of_outputs_are_the_worst_of_all_changes() {
    for (name, law) in LAWS {
        let one = outcomes(law);
        let two = squared(&one);
        let account = account(law, 2);
        for (prior, d) in PRIORS.iter().flat_map(|prior| ["0.01", "0.1", "0.3", "0.6"].map(|d| (*prior, d))) {
            let (what, prior, least) = (format!("{name} at {prior}, {d}"), number(prior), number(d));
            let of = |law: &Outcomes| of_outputs(law, &prior, &least).max(of_outputs(&reversed(law), &prior, &least));
            let truth = of(&one).max(of(&two));
            let delta = Delta::new(least).expect("a delta");
            let found = outputs::exceeded_epsilon(&account, Some(&account), &prior, &delta, None).expect("a loss");
            assert!(found.by_tail && found.is_least, "{what}");
            let value = outputs::posterior_of_outputs(&prior, &found);
            let near = (value.upper_rational().expect("finite") - &truth).abs();
            assert!(value.upper_rational().expect("finite") >= truth && near < number("1e-12"), "{what}: {value}");
        }
    }
}

/// Masses 1/4, 1/2, 1/4 on -1, 0, 1: by hand 2/3 of outputs and 12/13 of events. And the largest loss bounds what outputs exceed: of continuous Laplace noise, and
/// of a mechanism of bounded range.
#[test]
fn risk_bound_prints_posteriors_of_events_and_of_outputs() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("small.csv");
    fs::write(&file, "value,mass\n-1,1/4\n0,1/2\n1,1/4\n").expect("a file");
    let file = file.to_str().expect("a name");
    let answer = json(&["risk", "bound", "--table", file, "--prior", "1/2", "--delta", "0.3"]);
    let near = |key: &str, truth: f64| {
        let [lower, upper] = ends(&answer[key]);
        assert!(lower <= truth && truth <= upper + 1e-15 && upper - lower < 1e-9, "{key}: {lower} {upper}");
    };
    near("posterior_events", 12.0 / 13.0);
    near("posterior_upper", 2.0 / 3.0);
    near("posterior_exceeded", 2.0 / 3.0);
    for (option, text, delta, most) in
        [("--laplace", "2x3", "1e-5", 0.817_575), ("--exponential", "1", "1e-10", 0.731_059)]
    {
        let answer = json(&["risk", "bound", option, text, "--prior", "1/2", "--delta", delta]);
        assert!(ends(&answer["posterior_upper"])[1] <= most, "{answer}");
    }
}

/// Where a record changes at most ten counts of discrete Laplace noise, nine of them have the larger tail.
#[test]
fn nine_counts_can_exceed_more_than_ten() {
    let of = |count: u32| {
        let text = format!("1x{count}");
        ends(
            &json(&["risk", "bound", "--discrete-laplace", &text, "--prior", "1/2", "--delta", "0.05"])["posterior_upper"],
        )
    };
    assert!((of(8)[1] - 0.999_665).abs() < 1e-6 && (of(9)[1] - 0.999_877).abs() < 1e-6);
    assert!((of(10)[1] - 0.999_877).abs() < 1e-6);
}

/// The tails of groups, and of changes by exactly a number, are not those of fewer counts that all move as far: bounds from the cases that an attack found.
#[test]
fn posteriors_of_outputs_of_groups_are_bounds() {
    let folder = tempfile::tempdir().expect("a folder");
    let [two, skew] = [
        ("two.csv", "value,mass\n0,1/2\n2,1/2\n"),
        ("skew.csv", "value,mass\n-2,2/11\n-1,2/11\n0,2/11\n1,4/11\n2,1/11\n"),
    ]
    .map(|(name, text)| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("a table");
        path.display().to_string()
    });
    let upper = |rest: &[&str]| {
        json(&[&["risk", "bound"], rest].concat())["posterior_upper"]["upper"].as_f64().expect("a number")
    };
    // Three counts of which one moves by 2 and others by 1 or 2: masses by enumeration.
    assert!(upper(&["--discrete-laplace", "0.5x2", "--group", "3", "--prior", "1/2", "--delta", "0.7205"]) >= 0.731058);
    assert!(
        upper(&["--discrete-laplace", "0.3x3", "--group", "3", "--prior", "1/2", "--delta", "0.40501"]) >= 0.817573
    );
    // A change by exactly 2 leaves half of the outputs in common; the others have probability 1/2.
    let by_two = format!("{two}@=2");
    assert!(upper(&["--table", &by_two, "--prior", "1/2", "--delta", "0.6"]) < 0.500001);
    assert!(upper(&["--table", &skew, "--group", "2", "--prior", "4/5", "--delta", "81/100"]) >= 0.8);
    // Of more than 24 ways the probability of an infinite loss is known between two numbers.
    let keys = ["epsilon", "--unknown-key", "discrete-laplace:0.5:12x3", "--group", "2", "--delta", "0.02"];
    assert!(assay(&keys).output().expect("a program").status.code() != Some(2));
}
