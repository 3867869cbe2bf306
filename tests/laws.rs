//! Laws of finitely many losses, some of them with outputs that only one of two neighbors can have, against the enumeration of all outputs.

use dp_assay::{
    Error,
    account::{Account, Composition, Counts, Delta, Epsilon},
    numeric::{Enclosure, rational::parse},
    release::{Neighbors, subject::Subject},
};
use rug::Rational;

/// The probabilities of all outputs of one count under both hypotheses, by the definition of its law, in doubles.
fn outputs(key: &str, parameters: &[f64], shift: i64) -> Vec<(f64, f64)> {
    let over = |weights: &dyn Fn(i64) -> f64, bound: i64| {
        let total: f64 = (-bound..=bound).map(weights).sum();
        let mass = |x: i64| if x.abs() <= bound { weights(x) / total } else { 0.0 };
        (-bound..=bound + shift).map(|y| (mass(y), mass(y - shift))).collect()
    };
    match (key, parameters) {
        ("truncated-laplace", [epsilon, bound]) => over(&|x| (-epsilon * x.abs() as f64).exp(), *bound as i64),
        ("truncated-gaussian", [sigma2, bound]) => over(&|x| (-(x * x) as f64 / (2.0 * sigma2)).exp(), *bound as i64),
        ("randomized-response", [epsilon, answers]) => {
            let total = epsilon.exp() + answers - 1.0;
            let (likely, unlikely) = (epsilon.exp() / total, 1.0 / total);
            let others = (2..*answers as u64).map(|_| (unlikely, unlikely));
            [(likely, unlikely), (unlikely, likely)].into_iter().chain(others).collect()
        }
        ("pure", [epsilon]) => outputs("approximate", &[*epsilon, 0.0], shift),
        ("approximate", [epsilon, delta]) => {
            let (e, rest) = (epsilon * shift as f64, 1.0 - delta);
            let (likely, unlikely) = (rest / (1.0 + (-e).exp()), rest / (1.0 + e.exp()));
            vec![(likely, unlikely), (unlikely, likely), (*delta, 0.0), (0.0, *delta)]
        }
        ("discrete-laplace", [epsilon]) => {
            // As far as doubles tell.
            let bound = (40.0 / epsilon) as i64 + shift;
            let total: f64 = (-bound..=bound).map(|x| (-epsilon * x.abs() as f64).exp()).sum();
            let mass = |x: i64| (-epsilon * x.abs() as f64).exp() / total;
            (-bound..=bound).map(|y| (mass(y), mass(y - shift))).collect()
        }
        _ => panic!("{key}"),
    }
}

/// Outputs of the same likelihood ratio taken together, so that products stay short.
fn gathered(mut outputs: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let ln = |(p, q): (f64, f64)| p.ln() - q.ln();
    outputs.retain(|(p, q)| *p > 0.0 || *q > 0.0);
    outputs.sort_by(|a, b| ln(*b).total_cmp(&ln(*a)));
    outputs.dedup_by(|next, kept| {
        let same = ln(*next) == ln(*kept) || (ln(*next) - ln(*kept)).abs() < 1e-12;
        if same {
            *kept = (kept.0 + next.0, kept.1 + next.1);
        }
        same
    });
    outputs
}

struct Case {
    counts: Vec<Counts>,
    /// All outputs of all counts, from the largest loss down.
    outputs: Vec<(f64, f64)>,
}

/// Counts as in `truncated-laplace 1/2:3 x2 @1`.
fn case(texts: &[&str]) -> Case {
    let mut all = vec![(1.0, 1.0)];
    let mut counts = Vec::new();
    for text in texts {
        let (key, text) = text.split_once(' ').unwrap();
        let one = Counts::parse(key, text).unwrap();
        let parameters: Vec<f64> = [one.law.parameter().to_f64()]
            .into_iter()
            .chain(one.law.other_parameters().into_iter().map(|(_, value)| value.to_f64()))
            .collect();
        let single = gathered(outputs(key, &parameters, one.shift as i64));
        for _ in 0..one.count {
            let pairs = all.iter().flat_map(|(p, q)| single.iter().map(move |(a, b)| (p * a, q * b)));
            all = gathered(pairs.collect());
        }
        counts.push(one);
    }
    Case { counts, outputs: all }
}

fn cases() -> Vec<Case> {
    [
        &["pure 1/2x3", "pure 0.3x1@2"][..],
        &["approximate 1:1/100x3"],
        &["approximate 0.3:1e-6x2", "pure 0.7"],
        &["randomized-response 1.5x4"],
        &["randomized-response 1:5x3", "randomized-response 1/2x2"],
        &["truncated-laplace 3/2:3x3"],
        &["truncated-laplace 1/2:4x2@3"],
        &["truncated-laplace 1/2:4x1@7"],
        &["truncated-gaussian 2:4x2"],
        &["truncated-gaussian 3:4x1@5", "discrete-laplace 1/2x2"],
        &["truncated-laplace 1:3", "approximate 1:1e-3", "randomized-response 2:3"],
    ]
    .map(case)
    .into()
}

fn near(value: &Enclosure, truth: f64, what: &str) {
    let (lower, upper) = value.doubles();
    let slack = 1e-9 * truth + 1e-13;
    assert!(lower <= truth + slack && upper >= truth - slack, "{what}: [{lower}, {upper}] against {truth}");
    assert!(upper - lower <= 1e-9 * upper + 1e-13, "{what} is wide: [{lower}, {upper}]");
}

#[test]
fn profiles_are_those_of_all_outputs() {
    for Case { counts, outputs } in cases() {
        let account = Composition::new(counts.clone()).unwrap();
        let mass: f64 = outputs.iter().filter(|(_, q)| *q == 0.0).map(|(p, _)| p).sum();
        match account.infinite_loss() {
            Some(infinite) => near(&infinite.mass(12), mass, &format!("{counts:?}: infinite loss")),
            None => assert_eq!(mass, 0.0, "{counts:?}"),
        }
        for epsilon in ["0", "0.1", "0.5", "1", "1.9", "3", "40"] {
            let at = parse(epsilon).unwrap();
            let truth: f64 = outputs.iter().map(|(p, q)| (p - at.to_f64().exp() * q).max(0.0)).sum();
            let delta = account.delta(&at, 12).unwrap();
            near(&delta.value, truth, &format!("{counts:?} at {epsilon}"));
            // Many at once, by doubles, and by the bounds that share no code with either.
            let many = account.curve(&[Epsilon::new(at.clone()).unwrap()], 10).unwrap();
            near(&many[0].delta.value, truth, &format!("{counts:?} at {epsilon}, of a curve"));
            assert!(many[0].zcdp_delta.upper().to_f64() >= truth * (1.0 - 1e-12), "{counts:?} at {epsilon}");
            if truth > 1e-12 {
                let approx = account.ln_delta_approx(&at).unwrap();
                assert!((approx - truth.ln()).abs() < 1e-8, "{counts:?} at {epsilon}: {approx} {}", truth.ln());
            }
            let second = account.evaluator().second_hockey_stick(&at, None).unwrap().value;
            assert!(second.overlaps(&delta.value), "{counts:?} at {epsilon}: {second}");
        }
    }
}

#[test]
fn trade_off_functions_are_those_of_the_best_tests() {
    for Case { counts, outputs } in cases() {
        let account = Composition::new(counts.clone()).unwrap();
        for alpha in ["0", "1e-4", "0.03", "0.2", "0.5", "0.8", "0.97", "1"] {
            let at = parse(alpha).unwrap();
            // Neyman and Pearson: reject from the largest loss on, the last output with some probability.
            let (mut left, mut beta) = (at.to_f64(), 1.0);
            for (p, q) in &outputs {
                let share = if *q <= left { 1.0 } else { left / q };
                beta -= share * p;
                left -= share * q;
            }
            let beta = if beta < 1e-13 { 0.0 } else { beta };
            let found = account.tradeoff(&at, 10).unwrap();
            near(&found.value, beta, &format!("{counts:?} at alpha = {alpha}"));
            let second = account.evaluator().second_tradeoff(&at, None).unwrap().value;
            assert!(second.overlaps(&found.value), "{counts:?} at alpha = {alpha}: {second}");
        }
    }
}

#[test]
fn epsilons_invert_the_profile_and_know_where_there_is_none() {
    let (mut finite, mut none) = (0, 0);
    for Case { counts, outputs } in cases() {
        let account = Composition::new(counts.clone()).unwrap();
        let mass: f64 = outputs.iter().filter(|(_, q)| *q == 0.0).map(|(p, _)| p).sum();
        for delta in ["1e-9", "1e-4", "0.02", "0.3"] {
            let at: Delta = delta.parse().unwrap();
            let found = account.epsilon(&at, 12);
            if at.to_f64() < mass {
                assert!(matches!(found, Err(Error::InfiniteLoss { .. })), "{counts:?} at {delta}: {found:?}");
                none += 1;
                continue;
            }
            let found = found.unwrap();
            let (lower, upper) = found.value.doubles();
            let delta_at = |epsilon: f64| outputs.iter().map(|(p, q)| (p - epsilon.exp() * q).max(0.0)).sum::<f64>();
            let slack = 1e-9 * at.to_f64() + 1e-13;
            assert!(delta_at(upper) <= at.to_f64() + slack, "{counts:?} at {delta}: {found:?}");
            assert!(lower == 0.0 || delta_at(lower) >= at.to_f64() - slack, "{counts:?} at {delta}: {found:?}");
            assert!(found.met, "{counts:?} at {delta}: {found:?}");
            let second = account.second_epsilon(&account.evaluator(), &at, &found).unwrap().value;
            assert!(second.overlaps(&found.value), "{counts:?} at {delta}: {second}");
            finite += 1;
        }
    }
    assert!(finite >= 20 && none >= 8, "{finite} {none}");
    // At the probability of an infinite loss itself epsilon is the largest loss that is finite, where there is one.
    let of = |texts: &[&str], delta: &str| Composition::new(case(texts).counts).unwrap().epsilon(delta, 12);
    let exact = of(&["approximate 1:1/4x2"], "7/16").unwrap();
    assert!(exact.value.contains(&Rational::from(2)) && exact.met, "{exact:?}");
    assert!(matches!(of(&["approximate 1:1/4x2"], "0.4374"), Err(Error::InfiniteLoss { .. })));
    let unbounded = Composition::new(
        ["approximate 1:1/4".split_once(' ').unwrap()].map(|(key, text)| Counts::parse(key, text).unwrap()),
    )
    .unwrap();
    let both = unbounded.compose(&Composition::new(["5x10".parse().unwrap()]).unwrap()).unwrap();
    assert!(matches!(both.epsilon("1/4", 12), Err(Error::InfiniteLoss { .. })));
    assert!(both.epsilon("0.2500001", 12).unwrap().met);
}

/// What a law becomes in a limit is what that is by itself.
#[test]
fn limits_are_the_laws_that_they_become() {
    let of = |key: &str, text: &str| Composition::new([Counts::parse(key, text).unwrap()]).unwrap();
    let delta = |account: &Composition, epsilon: &str| account.delta(parse(epsilon).unwrap(), 12).unwrap().value;
    // A bound beyond all mass; the other side differs by that mass.
    for (bounded, free) in [
        (of("truncated-laplace", "1/2:400x3@2"), of("discrete-laplace", "1/2x3@2")),
        (of("truncated-gaussian", "5:200x4"), of("discrete-gaussian", "5x4")),
    ] {
        for epsilon in ["0", "0.4", "1.3"] {
            let (one, other) = (delta(&bounded, epsilon), delta(&free, epsilon));
            assert!(one.is_tight(11) && one.overlaps(&other), "{epsilon}: {one} {other}");
        }
    }
    // Randomized response with two answers attains its guarantee; a large number of answers hides all but the true one.
    for epsilon in ["0", "0.3", "2", "4.4"] {
        let (response, guarantee) =
            (delta(&of("randomized-response", "3/2x3"), epsilon), delta(&of("pure", "3/2x3"), epsilon));
        assert!(response.overlaps(&guarantee), "{epsilon}: {response} {guarantee}");
    }
    let rare = delta(&of("randomized-response", "1:1000000000000"), "0");
    assert!(*rare.upper() < 2e-12 && *rare.lower() > 1e-12, "{rare}");
    // More noise, less delta.
    let falls = |texts: &[&str], key: &str| {
        let deltas: Vec<Enclosure> = texts.iter().map(|text| delta(&of(key, text), "0.2")).collect();
        deltas.windows(2).for_each(|pair| assert!(pair[0].lower() > pair[1].upper(), "{key}: {pair:?}"));
    };
    falls(&["2:9x3", "1:9x3", "1/2:9x3"], "truncated-laplace");
    falls(&["1/2:9x3", "1/2:10x3", "1/2:30x3"], "truncated-laplace");
    falls(&["2:3x3", "2:4x3", "2:9x3"], "truncated-gaussian");
    falls(&["2x3", "1x3", "1/2x3"], "pure");
    falls(&["1:1/10x3", "1:1/100x3", "1:1/1000x3"], "approximate");
    falls(&["1:2x3", "1:3x3", "1:30x3"], "randomized-response");
}

#[test]
fn guarantees_are_never_counted_twice() {
    let resolved = |neighbors| {
        let singles = vec![Counts::parse("pure", "1/2x3").unwrap(), Counts::parse("truncated-laplace", "1:5").unwrap()];
        Subject { singles, neighbors: Some(neighbors), ..Subject::default() }.resolve().unwrap()
    };
    let counts =
        |neighbors| resolved(neighbors).total.loss().groups().iter().map(|group| group.copies).collect::<Vec<_>>();
    assert_eq!((counts(Neighbors::AddRemove), counts(Neighbors::Bounded)), (vec![1, 3], vec![2, 3]));
    assert!(
        resolved(Neighbors::Bounded).title.contains("guarantees as given"),
        "{}",
        resolved(Neighbors::Bounded).title
    );
}

#[test]
fn texts_and_ranges_are_checked() {
    for (key, text, expected) in [
        ("truncated-laplace", "1/2", "EPSILON:BOUND"),
        ("truncated-laplace", "1/2:0", "bound"),
        ("truncated-laplace", "1/2:3/2", "a positive whole number"),
        ("truncated-laplace", "1/2:-3", "a positive whole number"),
        ("truncated-laplace", "1/2:3x1@6", "from 1 to 5"),
        ("truncated-gaussian", "0:3", "sigma2"),
        ("truncated-gaussian", "1:3:4", "no more"),
        ("randomized-response", "1:1", "2 to 10^12"),
        ("randomized-response", "1@2", "from 1 to 1"),
        ("pure", "0", "above 0"),
        ("pure", "1:1e-9", "no more"),
        ("approximate", "1", "EPSILON:DELTA"),
        ("approximate", "1:0", "delta"),
        ("approximate", "1:1", "delta"),
        ("approximate", "1:1e-9@2", "a guarantee of its own"),
        ("aproximate", "1:1e-9", "approximate"),
    ] {
        let error = Counts::parse(key, text).unwrap_err().to_string();
        assert!(error.contains(expected), "{key} {text}: {error}");
    }
}
