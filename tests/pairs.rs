//! Pairs of hypotheses that are not symmetric, against the enumeration of all outcomes by definition, in both directions.

use std::{fs, sync::Arc};

use dp_assay::{
    Error,
    account::{Account, Composition, Counts, Delta, Epsilon},
    law::{Law, NoiseTable, Pair, PerturbationTable},
    numeric::{Enclosure, rational::parse},
};
use rug::Rational;

/// Outcomes with their probabilities under both hypotheses, in doubles.
type Outcomes = Vec<(f64, f64)>;

const SKEW: &[(&str, &str)] = &[("1/2", "1/4"), ("1/3", "1/3"), ("1/6", "5/12")];
const REVERSED: &[(&str, &str)] = &[("1/4", "1/2"), ("1/3", "1/3"), ("5/12", "1/6")];
const ONE_END: &[(&str, &str)] = &[("1/2", "3/4"), ("1/4", "1/4"), ("1/4", "0")];
const BOTH_ENDS: &[(&str, &str)] = &[("1/2", "1/3"), ("1/3", "1/3"), ("1/6", "0"), ("0", "1/3")];
/// A key that is shown with probability 1/2 if its record is there: the only finite loss is below zero.
const SHOWN: &[(&str, &str)] = &[("1/2", "0"), ("1/2", "1")];
const STEEP: &[(&str, &str)] = &[("9/10", "1/1000"), ("1/10", "999/1000")];

fn pair(outcomes: &[(&str, &str)]) -> Law {
    let outcomes = outcomes.iter().map(|(p, q)| (parse(p).unwrap(), parse(q).unwrap()));
    Law::Pair(Arc::new(Pair::new("pair.csv", outcomes).unwrap()))
}

fn in_doubles(outcomes: &[(&str, &str)]) -> Outcomes {
    outcomes.iter().map(|(p, q)| (parse(p).unwrap().to_f64(), parse(q).unwrap().to_f64())).collect()
}

/// A count that is higher by the shift with the record, with noise of these masses at 0, 1, ...
fn of_table(masses: &[f64], shift: usize) -> Outcomes {
    let mass = |at: Option<usize>| at.and_then(|at| masses.get(at)).copied().unwrap_or(0.0);
    (0..masses.len() + shift).map(|y| (mass(y.checked_sub(shift)), mass(Some(y)))).collect()
}

fn laplace(epsilon: f64) -> Outcomes {
    let bound = (40.0 / epsilon) as i64 + 1;
    let total: f64 = (-bound..=bound).map(|x| (-epsilon * x.abs() as f64).exp()).sum();
    let mass = |x: i64| (-epsilon * x.abs() as f64).exp() / total;
    (-bound..=bound + 1).map(|y| (mass(y - 1), mass(y))).collect()
}

fn guarantee(epsilon: f64, delta: f64) -> Outcomes {
    let likely = (1.0 - delta) / (1.0 + (-epsilon).exp());
    let unlikely = 1.0 - delta - likely;
    vec![(likely, unlikely), (unlikely, likely), (delta, 0.0), (0.0, delta)]
}

/// All outcomes of independent mechanisms; those of one likelihood ratio together.
fn product(all: &[Outcomes]) -> Outcomes {
    let gathered = |mut outcomes: Outcomes| {
        let ln = |(p, q): (f64, f64)| p.ln() - q.ln();
        outcomes.retain(|(p, q)| *p > 0.0 || *q > 0.0);
        outcomes.sort_by(|a, b| ln(*b).total_cmp(&ln(*a)));
        outcomes.dedup_by(|next, kept| {
            let same = ln(*next) == ln(*kept) || (ln(*next) - ln(*kept)).abs() < 1e-12;
            if same {
                *kept = (kept.0 + next.0, kept.1 + next.1);
            }
            same
        });
        outcomes
    };
    all.iter().fold(vec![(1.0, 1.0)], |sum, next| {
        gathered(sum.iter().flat_map(|(p, q)| next.iter().map(move |(a, b)| (p * a, q * b))).collect())
    })
}

fn reversed(outcomes: &[(f64, f64)]) -> Outcomes {
    outcomes.iter().map(|(p, q)| (*q, *p)).collect()
}

fn hockey_stick(outcomes: &[(f64, f64)], epsilon: f64) -> f64 {
    outcomes.iter().map(|(p, q)| (p - epsilon.exp() * q).max(0.0)).sum()
}

/// The vertices (type I, type II) of the best tests of the second hypothesis against the first.
fn vertices(outcomes: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut sorted = outcomes.to_vec();
    sorted.sort_by(|a, b| (b.0 * a.1).total_cmp(&(a.0 * b.1)));
    let mut at = (0.0, 1.0);
    let mut all = vec![at];
    for (p, q) in sorted {
        at = (at.0 + q, at.1 - p);
        all.push((at.0, at.1.max(0.0)));
    }
    all
}

/// The lower convex hull of these points, at alpha.
fn hull(mut points: Vec<(f64, f64)>, alpha: f64) -> f64 {
    points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut hull: Vec<(f64, f64)> = Vec::new();
    for point in points {
        while let [.., a, b] = &hull[..] {
            if (b.0 - a.0) * (point.1 - a.1) - (b.1 - a.1) * (point.0 - a.0) > 0.0 {
                break;
            }
            hull.pop();
        }
        hull.push(point);
    }
    let between = |ends: &[(f64, f64)]| ends[0].0 <= alpha && alpha <= ends[1].0;
    let ends = hull.windows(2).rfind(|ends| between(ends) && ends[1].0 > ends[0].0);
    ends.map_or(0.0, |ends| ends[0].1 + (ends[1].1 - ends[0].1) * (alpha - ends[0].0) / (ends[1].0 - ends[0].0))
}

fn near(value: &Enclosure, truth: f64, what: &str) {
    let (lower, upper) = value.doubles();
    let slack = 1e-9 * truth + 1e-13;
    assert!(lower <= truth + slack && upper >= truth - slack, "{what}: [{lower}, {upper}] against {truth}");
    assert!(upper - lower <= 1e-9 * upper + 1e-13, "{what} is wide: [{lower}, {upper}]");
}

struct Case {
    name: &'static str,
    counts: Vec<Counts>,
    outcomes: Outcomes,
}

fn cases() -> Vec<Case> {
    let counts = |law: Law, count, shift| Counts::new(law, count, shift).unwrap();
    let table = |masses: &[&str]| {
        let rows = (0..).zip(masses.iter().map(|mass| parse(mass).unwrap()));
        Law::Table(Arc::new(NoiseTable::new("noise.csv", rows).unwrap()))
    };
    let parsed = |key: &str, text: &str| Counts::parse(key, text).unwrap();
    let many = |outcomes: &[(&str, &str)], count: usize| vec![in_doubles(outcomes); count];
    let slope = [0.5, 1.0 / 3.0, 1.0 / 6.0];
    let case = |name, counts, all: Vec<Vec<Outcomes>>| Case { name, counts, outcomes: product(&all.concat()) };
    vec![
        case("one", vec![counts(pair(SKEW), 1, 1)], vec![many(SKEW, 1)]),
        case("three", vec![counts(pair(SKEW), 3, 1)], vec![many(SKEW, 3)]),
        case("an end", vec![counts(pair(ONE_END), 2, 1)], vec![many(ONE_END, 2)]),
        case(
            "two ends beside noise",
            vec![counts(pair(BOTH_ENDS), 2, 1), parsed("discrete-laplace", "1/2x2")],
            vec![many(BOTH_ENDS, 2), vec![laplace(0.5); 2]],
        ),
        case(
            "opposite pairs",
            vec![counts(pair(SKEW), 2, 1), counts(pair(REVERSED), 1, 1), parsed("pure", "1/2")],
            vec![many(SKEW, 2), many(REVERSED, 1), vec![guarantee(0.5, 0.0)]],
        ),
        case("shown keys", vec![counts(pair(SHOWN), 2, 1)], vec![many(SHOWN, 2)]),
        case(
            "a shown key beside others",
            vec![counts(pair(SHOWN), 1, 1), parsed("approximate", "1:1e-3"), parsed("discrete-laplace", "1")],
            vec![many(SHOWN, 1), vec![guarantee(1.0, 1e-3), laplace(1.0)]],
        ),
        case("a table", vec![counts(table(&["1/2", "1/3", "1/6"]), 3, 1)], vec![vec![of_table(&slope, 1); 3]]),
        case(
            "a table moved by two",
            vec![counts(table(&["1/2", "1/3", "1/6"]), 2, 2)],
            vec![vec![of_table(&slope, 2); 2]],
        ),
        case("steep", vec![counts(pair(STEEP), 4, 1)], vec![many(STEEP, 4)]),
    ]
}

#[test]
fn profiles_are_the_larger_of_both_directions() {
    for Case { name, counts, outcomes } in cases() {
        let account = Composition::new(counts).unwrap();
        assert!(!account.is_symmetric(), "{name}");
        let others = reversed(&outcomes);
        let mass = |outcomes: &Outcomes| outcomes.iter().filter(|(_, q)| *q == 0.0).map(|(p, _)| p).sum::<f64>();
        match account.infinite_loss() {
            Some(infinite) => near(&infinite.mass(12), mass(&outcomes).max(mass(&others)), name),
            None => assert_eq!(mass(&outcomes).max(mass(&others)), 0.0, "{name}"),
        }
        for epsilon in ["0", "0.1", "0.4", "1", "1.9", "3", "40"] {
            let at = parse(epsilon).unwrap();
            let what = format!("{name} at {epsilon}");
            let truths = [&outcomes, &others].map(|outcomes| hockey_stick(outcomes, at.to_f64()));
            let truth = truths[0].max(truths[1]);
            let delta = account.delta(&at, 12).unwrap();
            near(&delta.value, truth, &what);
            let both = account.delta_of_directions(&Epsilon::new(at.clone()).unwrap(), 12).unwrap().unwrap();
            both.iter().zip(truths).for_each(|(one, truth)| near(&one.value, truth, &format!("{what}, one way")));
            let many = account.curve(&[Epsilon::new(at.clone()).unwrap()], 10).unwrap();
            near(&many[0].delta.value, truth, &format!("{what}, of a curve"));
            assert!(many[0].zcdp_delta.upper().to_f64() >= truth * (1.0 - 1e-12), "{what}: zCDP");
            if truth > 1e-12 {
                let approx = account.ln_delta_approx(&at).unwrap();
                assert!((approx - truth.ln()).abs() < 1e-8, "{what}: {approx} {}", truth.ln());
            }
            let second = account.evaluator().second_hockey_stick(&at, None).unwrap().value;
            assert!(second.overlaps(&delta.value), "{what}: {second}");
        }
    }
}

#[test]
fn epsilons_invert_the_larger_profile() {
    let (mut finite, mut none) = (0, 0);
    for Case { name, counts, outcomes } in cases() {
        let account = Composition::new(counts).unwrap();
        let others = reversed(&outcomes);
        let delta_at = |epsilon: f64| hockey_stick(&outcomes, epsilon).max(hockey_stick(&others, epsilon));
        let least = delta_at(600.0);
        for delta in ["1e-9", "1e-4", "0.02", "0.2", "0.6"] {
            let at: Delta = delta.parse().unwrap();
            let found = account.epsilon(&at, 12);
            if at.to_f64() < least {
                assert!(matches!(found, Err(Error::InfiniteLoss { .. })), "{name} at {delta}: {found:?}");
                none += 1;
                continue;
            }
            let found = found.unwrap();
            let (lower, upper) = found.value.doubles();
            let slack = 1e-9 * at.to_f64() + 1e-13;
            assert!(delta_at(upper) <= at.to_f64() + slack, "{name} at {delta}: {found:?}");
            assert!(lower == 0.0 || delta_at(lower) >= at.to_f64() - slack, "{name} at {delta}: {found:?}");
            assert!(found.met, "{name} at {delta}: {found:?}");
            let second = account.second_epsilon(&account.evaluator(), &at, &found).unwrap().value;
            assert!(second.overlaps(&found.value), "{name} at {delta}: {second} {found:?}");
            finite += 1;
        }
    }
    assert!(finite >= 20 && none >= 10, "{finite} {none}");
}

#[test]
fn trade_off_functions_are_those_of_each_direction_and_their_hull_is_below() {
    let mut apart = 0;
    for Case { name, counts, outcomes } in cases() {
        let account = Composition::new(counts).unwrap();
        let evaluator = account.evaluator();
        let ways = [vertices(&outcomes), vertices(&reversed(&outcomes))];
        for alpha in ["0", "1e-4", "0.03", "0.2", "0.5", "0.8", "0.97", "1"] {
            let (at, what) = (parse(alpha).unwrap(), format!("{name} at alpha = {alpha}"));
            let tidy = |beta: f64| if beta < 1e-13 { 0.0 } else { beta };
            let [remove, add] = ways.clone().map(|points| tidy(hull(points, at.to_f64())));
            let both = account.tradeoff_of_directions_by(&evaluator, &at, 10).unwrap().unwrap();
            near(&both[0].value, remove, &format!("{what}, removed"));
            near(&both[1].value, add, &format!("{what}, added"));
            let found = account.tradeoff(&at, 10).unwrap();
            near(&found.value, remove.min(add), &what);
            let beneath = tidy(hull(ways.concat(), at.to_f64()));
            let of_hull = account.tradeoff_hull_by(&evaluator, &at, 10).unwrap().unwrap();
            near(&of_hull.value, beneath, &format!("{what}, the hull"));
            apart += u32::from(beneath < remove.min(add) - 1e-6);
            let second = evaluator.second_tradeoff(&at, None).unwrap().value;
            assert!(second.overlaps(&found.value) || at == 0, "{what}: {second}");
        }
    }
    assert!(apart >= 10, "{apart}");
}

/// By exact fractions: two copies of a pair convolved by hand.
#[test]
fn two_copies_are_a_convolution() {
    let exact = |outcomes: &[(&str, &str)]| -> Vec<(Rational, Rational)> {
        outcomes.iter().map(|(p, q)| (parse(p).unwrap(), parse(q).unwrap())).collect()
    };
    let single = exact(SKEW);
    let both = single
        .iter()
        .flat_map(|(p, q)| single.iter().map(move |(a, b)| (Rational::from(p * a), Rational::from(q * b))));
    let (mut remove, mut add) = (Rational::new(), Rational::new());
    for (p, q) in both {
        let more = Rational::from(&p - &q);
        if more > 0 { remove += more } else { add -= more }
    }
    let account = Composition::new([Counts::new(pair(SKEW), 2, 1).unwrap()]).unwrap();
    let found = account.delta(Rational::new(), 20).unwrap();
    assert!(found.met && found.value.contains(&remove.max(add)), "{found:?}");
}

#[test]
fn symmetric_pairs_have_the_answers_of_symmetric_laws() {
    let masses = ["1/20", "1/5", "1/2", "1/5", "1/20"];
    let rows = || (0..).zip(masses.iter().map(|mass| parse(mass).unwrap()));
    let table = Law::Table(Arc::new(NoiseTable::new("noise.csv", rows()).unwrap()));
    let mass = |at: i64| usize::try_from(at).ok().and_then(|at| masses.get(at)).map_or("0", |mass| *mass);
    let outcomes: Vec<(&str, &str)> = (0..6).map(|y| (mass(y - 1), mass(y))).collect();
    let [own, other] = [table, pair(&outcomes)].map(|law| Composition::new([Counts::new(law, 3, 1).unwrap()]).unwrap());
    assert!(own.is_symmetric() && other.is_symmetric());
    for epsilon in ["0", "0.7", "2"] {
        let epsilon = parse(epsilon).unwrap();
        let [own, other] = [&own, &other].map(|account| account.delta(&epsilon, 20).unwrap().value);
        assert_eq!(own, other, "{epsilon}");
    }
    assert!(other.delta_of_directions(&"1".parse().unwrap(), 9).unwrap().is_none());
}

/// Beside discrete Gaussian counts: by conditioning on the outcomes of the pairs, in doubles.
#[test]
fn pairs_stand_beside_fine_noise() {
    for (outcomes, count, noise) in
        [(SKEW, 2, "40x300"), (BOTH_ENDS, 2, "40x300"), (SHOWN, 1, "5x10"), (ONE_END, 1, "2x3")]
    {
        let fine = || noise.parse::<Counts>().unwrap();
        let account = Composition::new([Counts::new(pair(outcomes), count, 1).unwrap(), fine()]).unwrap();
        let alone = Composition::new([fine()]).unwrap();
        let profile = |y: f64| {
            let at = |y: f64| alone.delta(parse(&format!("{y:.17}")).unwrap(), 14).unwrap().value.approximate();
            if y >= 0.0 { at(y) } else { 1.0 - y.exp() + y.exp() * at(-y) }
        };
        let all = product(&vec![in_doubles(outcomes); count as usize]);
        for epsilon in ["0", "1", "4"] {
            let at = parse(epsilon).unwrap();
            let e = at.to_f64();
            let truth = |outcomes: &Outcomes| -> f64 {
                let term = |(p, q): &(f64, f64)| match (*p, *q) {
                    (0.0, _) => 0.0,
                    (p, 0.0) => p,
                    (p, q) => p * profile(e - (p / q).ln()),
                };
                outcomes.iter().map(term).sum()
            };
            let truths = [truth(&all), truth(&reversed(&all))];
            let both = account.delta_of_directions(&Epsilon::new(at.clone()).unwrap(), 12).unwrap().unwrap();
            for (found, truth) in both.iter().zip(truths) {
                assert!(found.met, "{outcomes:?} {epsilon}: {found:?}");
                let apart = (found.value.approximate() - truth).abs();
                assert!(apart < 1e-9 * truth, "{outcomes:?} {epsilon}: {found:?} {truth}");
            }
        }
    }
}

/// A record that changes is removed from one cell and added to another: the pair of both is symmetric, and that of a table and its mirror image.
#[test]
fn changed_records_take_both_directions() {
    let rows = (0..).zip(["1/2", "1/3", "1/6"].map(|mass| parse(mass).unwrap()));
    let law = Law::Table(Arc::new(NoiseTable::new("noise.csv", rows).unwrap()));
    let account = Composition::new([Counts::new(law, 1, 1).unwrap()]).unwrap().for_changed_records().unwrap();
    let one = of_table(&[0.5, 1.0 / 3.0, 1.0 / 6.0], 1);
    let both = product(&[one.clone(), reversed(&one)]);
    for epsilon in ["0", "0.3", "1"] {
        let at = parse(epsilon).unwrap();
        let [remove, add] = account.delta_of_directions(&Epsilon::new(at.clone()).unwrap(), 12).unwrap().unwrap();
        let truth = hockey_stick(&both, at.to_f64());
        near(&remove.value, truth, epsilon);
        near(&add.value, truth, epsilon);
    }
}

/// The tail P[noise >= from] of noise with these weights.
fn tail(weight: impl Fn(i64) -> f64, from: i64) -> f64 {
    let all: f64 = (-2000..=2000).map(&weight).sum();
    (from..=2000).map(weight).sum::<f64>() / all
}

/// Each of a few keys is new or known: by enumeration of the new ones, and the profile of the noise of the others.
#[test]
fn unknown_keys_take_the_worst_number_of_new_ones() {
    let laplace_tail = |from: i64| tail(|x| (-0.5 * x.abs() as f64).exp(), from);
    for (text, shift, count, d) in [
        ("discrete-laplace:1/2:9x3", 1, 3, laplace_tail(8)),
        ("discrete-laplace:1/2:9x2@2", 2, 2, laplace_tail(7)),
        ("discrete-gaussian:9:8", 1, 1, tail(|x| (-(x * x) as f64 / 18.0).exp(), 7)),
    ] {
        let account = Composition::new([Counts::parse_unknown_key(text).unwrap()]).unwrap();
        let (key, parameter) =
            if text.starts_with("discrete-laplace") { ("discrete-laplace", "1/2") } else { ("discrete-gaussian", "9") };
        let new = vec![(d, 0.0), (1.0 - d, 1.0)];
        for epsilon in ["0", "0.2", "1", "2.5"] {
            let at = parse(epsilon).unwrap();
            let e = at.to_f64();
            let mut most = [0.0_f64; 2];
            for known in 0..=count {
                let profile = |y: f64| -> f64 {
                    if known == 0 {
                        return (1.0 - y.exp()).max(0.0);
                    }
                    let alone = Counts::parse(key, &format!("{parameter}x{known}@{shift}")).unwrap();
                    let alone = Composition::new([alone]).unwrap();
                    let at = |y: f64| alone.delta(parse(&format!("{y:.17}")).unwrap(), 14).unwrap().value.approximate();
                    if y >= 0.0 { at(y) } else { 1.0 - y.exp() + y.exp() * at(-y) }
                };
                let outcomes = product(&vec![new.clone(); count - known]);
                for (most, outcomes) in most.iter_mut().zip([outcomes.clone(), reversed(&outcomes)]) {
                    let term = |(p, q): &(f64, f64)| match (*p, *q) {
                        (0.0, _) => 0.0,
                        (p, 0.0) => p,
                        (p, q) => p * profile(e - (p / q).ln()),
                    };
                    *most = most.max(outcomes.iter().map(term).sum());
                }
            }
            let both = account.delta_of_directions(&Epsilon::new(at.clone()).unwrap(), 12).unwrap().unwrap();
            for (found, truth) in both.iter().zip(most) {
                near(&found.value, truth, &format!("{text} at {epsilon}"));
            }
        }
    }
    for (text, expected) in [
        ("discrete-laplace:1/2", "LAW:PARAMETER:THRESHOLD"),
        ("cauchy:1:9", "law"),
        ("discrete-laplace:0:9", "above 0"),
        ("discrete-laplace:1:1000000", "10^-1200"),
        ("discrete-gaussian:1e9:9", "at most 10^"),
        ("gaussian:1:9x0", "1 to 10^12"),
    ] {
        let error =
            Counts::parse_unknown_key(text).and_then(|counts| Composition::new([counts])).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
    // Of many keys an interval, and continuous noise.
    let many = Composition::new([Counts::parse_unknown_key("gaussian:16:30x50").unwrap()]).unwrap();
    let delta = many.delta(parse("2").unwrap(), 9).unwrap();
    assert!(*delta.value.lower() > 0 && delta.value.lower() <= delta.value.upper(), "{delta:?}");
}

const CELLS: &[(u64, u64, &str)] = &[
    (0, 0, "1"),
    (1, 0, "1/2"),
    (1, 2, "1/2"),
    (2, 0, "1/8"),
    (2, 2, "1/2"),
    (2, 3, "3/8"),
    (3, 2, "1/4"),
    (3, 3, "1/2"),
    (3, 4, "1/4"),
];

fn cell_key(entries: &[(u64, u64, &str)]) -> Law {
    let entries = entries.iter().map(|(i, j, p)| (*i, *j, parse(p).unwrap()));
    Law::Perturbation(Arc::new(PerturbationTable::new("cells.csv", entries).unwrap()))
}

/// The pair of two counts, by the table; rows beyond the last are the last, moved.
fn row_pair(entries: &[(u64, u64, &str)], i: u64, shift: u64) -> Outcomes {
    let last = entries.iter().map(|(i, ..)| *i).max().unwrap();
    let p = |i: u64, j: u64| {
        let moved = i.saturating_sub(last);
        let own = entries.iter().find(|(a, b, _)| *a == i.min(last) && b + moved == j);
        own.map_or(0.0, |(_, _, p)| parse(p).unwrap().to_f64())
    };
    (0..20).map(|j| (p(i + shift, j), p(i, j))).collect()
}

/// The largest over all choices of a row for each cell, enumerated.
#[test]
fn cells_take_the_worst_rows() {
    // Without the row that is never changed, two rows matter.
    let free: Vec<(u64, u64, &str)> =
        [(0, 0, "1/2"), (0, 1, "1/2")].into_iter().chain(CELLS.iter().filter(|(i, ..)| *i > 0).copied()).collect();
    for (entries, shift, cells) in [(CELLS, 1, 1), (CELLS, 1, 2), (CELLS, 2, 1), (&free[..], 1, 1), (&free[..], 1, 3)] {
        let account = Composition::new([Counts::new(cell_key(entries), cells, shift).unwrap()]).unwrap();
        let rows: Vec<Outcomes> = (0..5).map(|i| row_pair(entries, i, shift)).collect();
        let mut choices: Vec<Vec<Outcomes>> = vec![Vec::new()];
        for _ in 0..cells {
            choices = choices
                .iter()
                .flat_map(|choice| rows.iter().map(move |row| [&choice[..], std::slice::from_ref(row)].concat()))
                .collect();
        }
        let all: Vec<Outcomes> = choices.iter().map(|choice| product(choice)).collect();
        for epsilon in ["0", "0.3", "1", "3"] {
            let at = parse(epsilon).unwrap();
            let largest = |reverse: bool| {
                let of = |outcomes: &Outcomes| match reverse {
                    true => hockey_stick(&reversed(outcomes), at.to_f64()),
                    false => hockey_stick(outcomes, at.to_f64()),
                };
                all.iter().map(of).fold(0.0, f64::max)
            };
            let what = format!("{cells} cells moved by {shift} at {epsilon}");
            let [remove, add] = account.delta_of_directions(&Epsilon::new(at.clone()).unwrap(), 12).unwrap().unwrap();
            near(&remove.value, largest(false), &what);
            near(&add.value, largest(true), &what);
            let own = account.delta(&at, 12).unwrap();
            near(&own.value, largest(false).max(largest(true)), &what);
        }
        for alpha in ["0.05", "0.4", "0.9"] {
            let at = parse(alpha).unwrap();
            let ways = all.iter().flat_map(|outcomes| [vertices(outcomes), vertices(&reversed(outcomes))]);
            let beta = ways.map(|points| hull(points, at.to_f64())).fold(1.0, f64::min);
            let beta = if beta < 1e-13 { 0.0 } else { beta };
            near(&account.tradeoff(&at, 9).unwrap().value, beta, &format!("{cells} cells at alpha = {alpha}"));
        }
    }
}

/// Of too many choices the answer lies between that for equal rows and that for a pair that is at most as private as each row.
#[test]
fn many_cells_have_an_interval() {
    let free: Vec<(u64, u64, &str)> = vec![
        (0, 0, "1/2"),
        (0, 1, "1/2"),
        (1, 0, "2/5"),
        (1, 1, "3/5"),
        (2, 0, "1/10"),
        (2, 1, "9/10"),
        (3, 2, "1/10"),
        (3, 1, "1/10"),
        (3, 0, "4/5"),
    ];
    let account = Composition::new([Counts::new(cell_key(&free), 12, 1).unwrap()]).unwrap();
    let rows: Vec<Outcomes> = (0..5).map(|i| row_pair(&free, i, 1)).collect();
    let delta = account.delta(parse("0.5").unwrap(), 12).unwrap();
    let (lower, upper) = delta.value.doubles();
    let mut most = 0.0_f64;
    for (i, one) in rows.iter().enumerate() {
        for other in &rows[i..] {
            for first in [6, 12] {
                let all = [vec![one.clone(); first], vec![other.clone(); 12 - first]].concat();
                let outcomes = product(&all);
                most = most.max(hockey_stick(&outcomes, 0.5)).max(hockey_stick(&reversed(&outcomes), 0.5));
            }
        }
    }
    assert!(lower <= most * (1.0 + 1e-9) && most <= upper * (1.0 + 1e-9), "{lower} {most} {upper}");
}

#[test]
fn files_are_read_with_line_and_column() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("in.csv");
    let read = |parse: fn(&str, bool) -> dp_assay::Result<Counts>, text: &str, suffix: &str, normalize: bool| {
        fs::write(&file, text).unwrap();
        parse(&format!("{}{suffix}", file.display()), normalize)
    };
    let good = "p,q\n1/2,0.25\n1/2,75e-2\n";
    assert_eq!(read(Counts::parse_pair, good, "x10", false).unwrap().count, 10);
    assert!(read(Counts::parse_pair, "p,q\n1,1\n1,3\n", "", true).is_ok());
    for (text, suffix, expected) in [
        ("p,q\n1/2,1/4\n1/3,3/4\n", "", "its column p adds up to 5/6"),
        ("p,q\n1/2,1/4\n1/2,1/2\n", "", "its column q adds up to 0.75, which is 0.25 less than 1"),
        ("p,q\n1/2,1/4\n-1/2,3/4\n", "", "line 3"),
        ("p,q\n1/2,1/4\n3/2,3/4\n", "", "from 0 to 1"),
        ("p,q\n1/2,1/4\n1/2,x\n", "", "line 3"),
        ("p,r\n1,1\n", "", "q"),
        ("p,q\n", "", "adds up to 0"),
        (good, "@2", "from 1 to 1"),
        (good, "x0", "1 to 10^12"),
    ] {
        let error = read(Counts::parse_pair, text, suffix, false).unwrap_err().to_string();
        assert!(error.contains(expected), "{text:?}: {error}");
    }
    // As ptable exports it for tau-Argus: padded cells, probabilities of eight digits.
    let exported =
        "i;j;p;v;p_int_ub\n0;0;1.00000000; 0;1.0000000\n1;0;0.33333333;-1;0.3333333\n1;1;0.66666667; 0;1.0000000\n";
    assert_eq!(read(Counts::parse_p_table, exported, "x3@1", false).unwrap().count, 3);
    for (text, expected) in [
        ("i,j,p\n0,0,1\n1,0,1/2\n1,1,1/3\n", "the count 1 add up to 5/6"),
        ("i,j,p\n0,0,1\n2,2,1\n", "the count 1 has no row"),
        ("i,j,p\n0,0,1\n0,0,0\n", "line 3"),
        ("i,j,p\n0,-1,1\n", "a whole number from 0"),
        ("i,j,p,v\n0,0,1,1\n", "j - i"),
        ("i,j,p,type\n0,0,1,even\n", "magnitudes"),
        ("i,p\n0,1\n", "j"),
    ] {
        let error = read(Counts::parse_p_table, text, "", false).unwrap_err().to_string();
        assert!(error.contains(expected), "{text:?}: {error}");
    }
    assert!(read(Counts::parse_p_table, "i,j,p\n0,0,1\n1,0,1/3\n1,1,1/3\n", "", true).is_ok());
    // A million lines.
    let long = format!("p,q\n{}", "1/1000000,1/1000000\n".repeat(1_000_000));
    let error = read(Counts::parse_pair, &long, "", false).unwrap_err().to_string();
    assert!(error.contains("at most 100000 outcomes"), "{error}");
}

/// Hypotheses without a common outcome, and a cell-key table some of whose counts have no published value in common: delta is exactly 1.
#[test]
fn hypotheses_without_a_common_outcome_have_delta_one() {
    let perturbed = |entries: &[(u64, u64, &str)]| {
        let entries = entries.iter().map(|(i, j, p)| (*i, *j, parse(p).unwrap()));
        Law::Perturbation(Arc::new(PerturbationTable::new("p.csv", entries).unwrap()))
    };
    let exported = [(0, 0, "1"), (1, 0, "1/3"), (1, 1, "2/3")];
    for (law, shift) in [
        (pair(&[("1", "0"), ("0", "1")]), 1),
        (pair(&[("1/2", "0"), ("1/2", "0"), ("0", "1")]), 1),
        (perturbed(&[(0, 0, "1"), (1, 5, "1")]), 1),
        (perturbed(&exported), 2),
    ] {
        for beside in [vec![], vec!["7".parse().unwrap()], vec![Counts::new(pair(SKEW), 2, 1).unwrap()]] {
            let own = Counts::new(law.clone(), 3, shift).unwrap();
            let counts = [vec![own], beside].concat();
            let account = Composition::new(counts.clone()).unwrap();
            let delta = account.delta("1/2", 12).unwrap();
            assert!(delta.met && *delta.value.lower() == 1 && *delta.value.upper() == 1, "{counts:?}: {delta:?}");
            assert!(account.epsilon("1/2", 12).unwrap_err().to_string().contains("no epsilon is finite"), "{counts:?}");
            assert!(*account.tradeoff(&parse("1/9").unwrap(), 9).unwrap().value.upper() == 0, "{counts:?}");
        }
    }
}

/// Requests that need a symmetric pair are refused.
#[test]
fn what_needs_symmetry_is_refused() {
    let account = Composition::new([Counts::new(pair(SKEW), 2, 1).unwrap()]).unwrap();
    let refused = account.knot(&Rational::new(), 9).unwrap_err().to_string();
    assert!(refused.contains("not symmetric"), "{refused}");
}
