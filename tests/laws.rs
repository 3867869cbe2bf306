//! Laws of finitely many losses, some of them with outputs that only one of two neighbors can have, against the enumeration of all outputs.

use std::sync::Arc;

use dp_assay::{
    Error,
    account::{
        Account, Composition, Counts, Delta, Epsilon,
        promise::{Grid, Promise, calibrate},
    },
    law::{Law, NoiseTable},
    numeric::{Enclosure, rational::parse},
    release::{Neighbors, subject::Subject},
};
use rug::Rational;

use crate::common::program::json;

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
        ("staircase", [epsilon, period, first]) => {
            // To the precision of doubles: stairs of `period` values, the first of `first`.
            let bound = ((40.0 / epsilon + 1.0) * period) as i64 + shift;
            let weight = |x: i64| (-epsilon * ((x.abs() as f64 + period - first) / period).floor()).exp();
            let total: f64 = (-bound..=bound).map(weight).sum();
            (-bound..=bound).map(|y| (weight(y) / total, weight(y - shift) / total)).collect()
        }
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
            // To the precision of doubles.
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

/// Noise with these masses at consecutive integers from this one on.
fn table(first: i64, masses: &[&str]) -> Law {
    let rows = (first..).zip(masses.iter().map(|mass| parse(mass).unwrap()));
    Law::Table(Arc::new(NoiseTable::new("noise.csv", rows).unwrap()))
}

/// Tables with their counts and shifts, beside other counts.
fn tabulated() -> Vec<Case> {
    let bell = &["1/20", "1/5", "1/2", "1/5", "1/20"][..];
    let odd = &["3/50", "7/50", "3/10", "3/10", "7/50", "3/50"][..];
    let gap = &["1/10", "1/10", "0", "3/5", "0", "1/10", "1/10"][..];
    [
        (bell, -2, 1, 1, &[][..]),
        (bell, -2, 4, 1, &["pure 1/2"]),
        (bell, -2, 2, 3, &[]),
        (odd, 5, 5, 2, &["approximate 1:1e-3"]),
        (gap, -3, 3, 3, &[]),
        (gap, -3, 2, 2, &["discrete-laplace 1/2x2"]),
        (&["1/4", "1/4", "1/4", "1/4"], 0, 2, 1, &["pure 1/3x2"]),
        (&["1/8", "3/4", "1/8"], -1, 9, 1, &[]),
    ]
    .into_iter()
    .map(|(masses, first, count, shift, beside): (&[&str], i64, u64, i64, &[&str])| {
        let Case { mut counts, outputs: mut all } = case(beside);
        let mass = |x: i64| {
            let at = usize::try_from(x - first).ok().and_then(|at| masses.get(at));
            at.map_or(0.0, |mass| parse(mass).unwrap().to_f64())
        };
        let values = first..first + masses.len() as i64 + shift;
        let single = gathered(values.map(|y| (mass(y), mass(y - shift))).collect());
        for _ in 0..count {
            let pairs = all.iter().flat_map(|(p, q)| single.iter().map(move |(a, b)| (p * a, q * b)));
            all = gathered(pairs.collect());
        }
        counts.push(Counts::new(table(first, masses), count, shift as u64).unwrap().exactly().unwrap());
        Case { counts, outputs: all }
    })
    .collect()
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
        &["staircase 1:4:2x3@4"],
        &["staircase 1/2:3:3x2@7"],
        &["staircase 3/4:2:1x2@3", "discrete-laplace 1/2x2", "pure 1/3"],
        &["staircase 2:2:2x3@3"],
        &["truncated-laplace 1:3", "approximate 1:1e-3", "randomized-response 2:3"],
    ]
    .map(case)
    .into_iter()
    .chain(tabulated())
    .collect()
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
    // No float holds the probability of a finite loss of this number of copies.
    let many = Composition::new([Counts::parse("approximate", "1:0.01x1000000000000").unwrap()]).unwrap();
    assert!(matches!(many.epsilon("0.5", 12), Err(Error::InfiniteLoss { .. })));
    assert!(many.delta("100", 12).unwrap().value.contains(&Rational::from(1)));
}

/// A law whose parameter is at a limit has the account of the limiting law.
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

/// The table of a known law has its answers: a response by its two outputs, truncated noise by its rounded masses.
#[test]
fn tables_of_known_laws_have_their_answers() {
    // q = 1/2 in place of exp(-epsilon): a truncated Laplace of epsilon ln 2, which is no exact parameter.
    let powers = ["1/22", "2/22", "4/22", "8/22", "4/22", "2/22", "1/22"];
    let tabulated = Composition::new([Counts::new(table(-3, &powers), 3, 1).unwrap()]).unwrap();
    let ln2 = "0.693147180559945309417232121458176568";
    let near = Composition::new([Counts::parse("truncated-laplace", &format!("{ln2}:3x3")).unwrap()]).unwrap();
    for epsilon in ["0", "0.3", "0.7", "1.4", "2", "3"] {
        let epsilon = parse(epsilon).unwrap();
        let [one, other] = [&tabulated, &near].map(|account| account.delta(&epsilon, 25).unwrap());
        assert!(one.met && one.value.is_tight(25), "{epsilon}: {one:?}");
        assert!((one.value.approximate() - other.value.approximate()).abs() < 1e-16, "{epsilon}: {one:?} {other:?}");
    }
    // Many copies of few losses.
    let many = Composition::new([Counts::new(table(-1, &["1/8", "3/4", "1/8"]), 200, 1).unwrap()]).unwrap();
    let mass = 1.0 - (7.0_f64 / 8.0).powi(200);
    assert!((many.infinite_loss().unwrap().mass(12).approximate() - mass).abs() < 1e-14);
}

/// Beside hundreds of discrete Gaussian counts, on both sides of what the same table without rounding allows.
#[test]
fn tables_stand_beside_fine_noise() {
    let bell = || Counts::new(table(-2, &["1/20", "1/5", "1/2", "1/5", "1/20"]), 3, 1).unwrap();
    let account = Composition::new([bell(), "40x300".parse().unwrap()]).unwrap();
    let alone = Composition::new(["40x300".parse().unwrap()]).unwrap();
    let infinite = account.infinite_loss().unwrap().mass(15);
    for epsilon in ["0", "2", "9"] {
        let epsilon = parse(epsilon).unwrap();
        let delta = account.delta(&epsilon, 12).unwrap();
        assert!(delta.met, "{epsilon}: {delta:?}");
        // By conditioning on the 5^3 outcomes of the table, in doubles.
        let e = epsilon.to_f64();
        let profile = |y: f64| {
            let at = |y: f64| alone.delta(parse(&format!("{y:.17}")).unwrap(), 14).unwrap().value.approximate();
            if y >= 0.0 { at(y) } else { 1.0 - y.exp() + y.exp() * at(-y) }
        };
        let masses = [0.05, 0.2, 0.5, 0.2, 0.05];
        let single: Vec<(f64, f64)> = (1..5).map(|k| (masses[k], f64::ln(masses[k] / masses[k - 1]))).collect();
        let mut sums = vec![(1.0, 0.0)];
        for _ in 0..3 {
            let next = sums.iter().flat_map(|(p, l)| single.iter().map(move |(mass, loss)| (p * mass, l + loss)));
            let mut next: Vec<(f64, f64)> = next.collect();
            next.sort_by(|a, b| a.1.total_cmp(&b.1));
            next.dedup_by(|b, a| {
                (a.1 - b.1).abs() < 1e-12 && {
                    a.0 += b.0;
                    true
                }
            });
            sums = next;
        }
        let truth = infinite.approximate() + sums.iter().map(|(p, l)| p * profile(e - l)).sum::<f64>();
        assert!((delta.value.approximate() - truth).abs() < 1e-9 * truth, "{epsilon}: {delta:?} {truth}");
    }
}

#[test]
fn tables_are_read_with_line_and_column() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("noise.csv");
    let read = |text: &str, suffix: &str, normalize: bool| {
        std::fs::write(&file, text).unwrap();
        Counts::parse_table(&format!("{}{suffix}", file.display()), normalize)
    };
    let good = "value,mass\n-1,1/4\n0,0.5\n1,25e-2\n";
    assert!(!read("value,mass\n-1,1/4\n0,3/4\n", "", false).unwrap().law.is_symmetric());
    // Without a common output, which is answered: see `a_shift_beyond_the_support_is_answered`.
    assert!(read("value,mass\n0,1\n", "", false).is_ok() && read(good, "@3", false).is_ok());
    let counts = read(good, "x10@1", false).unwrap();
    assert_eq!((counts.count, counts.shift), (10, 1));
    assert!(read("value,mass\n-1,1\n0,2\n1,1\n", "", true).unwrap().law.has_infinite_loss());
    for (text, suffix, expected) in [
        ("value,mass\n-1,1/4\n0,1/2\n1,1/5\n", "", "add up to 0.95, which is 0.05 less than 1"),
        ("value,mass\n-1,1/4\n0,-1/2\n1,1/4\n", "", "line 3"),
        ("value,mass\n-1,1/4\n0,3/2\n", "", "from 0 to 1"),
        ("value,mass\n-1,1/4\n-1,1/2\n", "", "in an earlier line"),
        ("value,mass\n-1,1/4\n0.5,1/2\n", "", "expected an integer"),
        ("value,mass\n-1,1/4\n0,x\n", "", "line 3"),
        ("wert,masse\n0,1\n", "", "value"),
        ("value,mass\n", "", "add up to 0"),
        (good, "x0", "1 to 10^12"),
    ] {
        let error = read(text, suffix, false).unwrap_err().to_string();
        assert!(error.contains(expected), "{text:?}: {error}");
    }
    // A name that ends like a count.
    let odd = folder.path().join("noisex10");
    std::fs::write(&odd, good).unwrap();
    let of = |suffix: &str| Counts::parse_table(&format!("{}{suffix}", odd.display()), false);
    assert_eq!((of("").unwrap().count, of("x3").unwrap().count), (1, 3));
    std::fs::write(folder.path().join("noise"), good).unwrap();
    assert!(of("").unwrap_err().to_string().contains("are files"));
    // A table has no scale.
    let account = Composition::new([of("x3").unwrap()]).unwrap();
    let promise =
        Promise::Epsilon { epsilon: Epsilon::new(parse("1").unwrap()).unwrap(), delta: "0.5".parse().unwrap() };
    let refused = calibrate(&account, &promise, Grid::factor(4)).map(|_| ()).unwrap_err();
    assert!(refused.to_string().contains("has no scale"), "{refused}");
}

/// Of uniform noise all outputs that are possible for both neighbors are as likely for both: delta is 1 - s at every epsilon, for the probability s of
/// such outputs, and the trade-off function is s - alpha.
#[test]
fn the_finite_losses_of_uniform_noise_are_zero() {
    let uniform = |copies, shift| Counts::new(table(-1, &["1/3", "1/3", "1/3"]), copies, shift).unwrap();
    for (copies, shift, share) in [(1, 1, "2/3"), (2, 1, "4/9"), (1, 2, "1/3"), (3, 2, "1/27")] {
        let (account, share) = (Composition::new([uniform(copies, shift)]).unwrap(), parse(share).unwrap());
        let infinite = Rational::from(1 - &share);
        for epsilon in ["0", "1/7", "30"] {
            let delta = account.delta(epsilon, 12).unwrap();
            assert!(delta.met && delta.value.contains(&infinite), "{epsilon}: {delta:?}");
        }
        let more = &infinite + Rational::from((1, 1000));
        for delta in [infinite.clone(), more] {
            assert_eq!(account.epsilon(Delta::new(delta).unwrap(), 12).unwrap().value, Enclosure::double(0.0, 64));
        }
        let less = &infinite - Rational::from((1, 1000));
        assert!(
            account.epsilon(Delta::new(less).unwrap(), 12).unwrap_err().to_string().contains("no epsilon is finite")
        );
        let alpha = Rational::from(&share / 5_u32);
        let beta = account.tradeoff(&alpha, 12).unwrap().value;
        assert!(beta.contains(&Rational::from(&share - &alpha)), "{beta:?}");
    }
    // Beside other noise it only adds its infinite loss.
    let gaussian: Counts = "5".parse().unwrap();
    let (alone, both) = (Composition::new([gaussian.clone()]), Composition::new([gaussian, uniform(1, 1)]));
    let of = |account: Composition| account.delta("0.1", 12).unwrap().value;
    let (alone, both) = (of(alone.unwrap()), of(both.unwrap()));
    let third = Enclosure::rational(&parse("1/3").unwrap(), 128);
    let expected = third.add(&alone.mul(&Enclosure::rational(&parse("2/3").unwrap(), 128)));
    assert!(both.overlaps(&expected) && both.is_tight(12), "{both:?} {expected:?}");
}

/// Neighbors without a common output, alone and beside noise that has all outputs in common: delta is exactly 1 at every epsilon, no epsilon is finite, and
/// a test that never errs exists. With one common output, as likely for both, delta is the probability of the others.
#[test]
fn a_shift_beyond_the_support_is_answered() {
    let skew = || table(-1, &["1/2", "1/4", "1/4"]);
    let apart = [
        (table(-1, &["1/3", "1/3", "1/3"]), 3),
        (skew(), 3),
        (skew(), 900),
        (Law::TruncatedLaplace { epsilon: parse("1").unwrap(), bound: 3 }, 7),
        (Law::TruncatedGaussian { sigma2: parse("2").unwrap(), bound: 3 }, 1000),
    ];
    for (law, shift) in apart {
        let alone = Counts::new(law, 2, shift).unwrap();
        let beside = vec![alone.clone(), "5x3".parse().unwrap(), Counts::parse("randomized-response", "1/2").unwrap()];
        for counts in [vec![alone], beside] {
            let account = Composition::new(counts.clone()).unwrap();
            for epsilon in ["0", "1/7", "300"] {
                let delta = account.delta(epsilon, 12).unwrap();
                assert!(delta.met && *delta.value.lower() == 1 && *delta.value.upper() == 1, "{counts:?}: {delta:?}");
            }
            let refused = account.epsilon("999999/1000000", 12).unwrap_err().to_string();
            assert!(refused.contains("no epsilon is finite"), "{counts:?}: {refused}");
            let beta = account.tradeoff(&parse("1/1000").unwrap(), 12).unwrap().value;
            assert!(*beta.upper() == 0, "{counts:?}: {beta:?}");
        }
    }
    for (key, text, parameters, shift) in
        [("truncated-laplace", "1/2:3@6", [0.5, 3.0], 6), ("truncated-gaussian", "3/2:4@8", [1.5, 4.0], 8)]
    {
        let account = Composition::new([Counts::parse(key, text).unwrap()]).unwrap();
        let truth: f64 = outputs(key, &parameters, shift).iter().map(|(p, q)| (p - q).max(0.0)).sum();
        for epsilon in ["0", "2"] {
            let delta = account.delta(epsilon, 12).unwrap().value.approximate();
            assert!((delta - truth).abs() < 1e-12, "{key} {epsilon}: {delta} {truth}");
        }
    }
}

#[test]
fn texts_and_ranges_are_checked() {
    for (key, text, expected) in [
        ("truncated-laplace", "1/2", "EPSILON:BOUND"),
        ("truncated-laplace", "1/2:0", "bound"),
        ("truncated-laplace", "1/2:3/2", "a positive whole number"),
        ("truncated-laplace", "1/2:-3", "a positive whole number"),
        ("truncated-laplace", "1/2:3x1@1001", "from 1 to 1000"),
        ("staircase", "1:4", "EPSILON:PERIOD:FIRST"),
        ("staircase", "1:4:5", "1 to 4, the period"),
        ("staircase", "1:4:0", "1 to 4, the period"),
        ("staircase", "1:1001:1", "1 to 1000"),
        ("staircase", "1:5/2:1", "a positive whole number"),
        ("staircase", "1:4:2x1@1001", "from 1 to 1000"),
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

#[test]
fn a_rho_that_is_an_upper_bound_has_no_exact_form() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_string()
    };
    let table = put("table.csv", "value,mass\n-1,1/4\n0,1/2\n1,1/4\n");
    let cells = put("cells.csv", "i,j,p\n0,0,1\n1,0,1/2\n1,1,1/2\n2,1,1/2\n2,2,1/2\n");
    let pair = put("pair.csv", "p,q\n1/3,1/4\n2/3,3/4\n");
    for (option, value) in
        [("--table", &*table), ("--p-table", &cells), ("--pair", &pair), ("--unknown-key", "discrete-laplace:1/2:9")]
    {
        let answer = json(&["delta", option, value, "--discrete-gaussian", "5", "--epsilon", "1"]);
        assert!(answer["rho_exact"].is_null() && answer["rho"].is_number(), "{option}: {answer}");
    }
    let answer = json(&["delta", "--discrete-gaussian", "7", "--randomized-response", "1/2", "--epsilon", "1"]);
    // 1 / 14 + (1 / 2)^2 / 2.
    assert_eq!(answer["rho_exact"], "11/56");
}
