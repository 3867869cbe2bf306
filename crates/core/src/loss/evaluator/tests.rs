//! Families against their units one by one, and facts that all evaluators share.

use std::sync::Arc;

use rayon::prelude::*;

use super::*;
use crate::{
    error::Error,
    loss::{
        family::{Family, Units},
        sum::LossSum,
        testing::sum,
    },
    numeric::rational::parse,
};

fn sums(members: &[Vec<&str>]) -> Vec<Arc<LossSum>> {
    members.iter().map(|groups| Arc::new(sum(groups))).collect()
}

/// Every pair against its own sum, on lattices of different steps and on the unbounded contour.
#[test]
fn pairs_agree_with_their_sums_one_by_one() {
    for members in [
        // 1 / sigma2: ten of 1/5; four of 1/2; three of 1/3 and five of 1/5: rho 1 each, steps 1/5, 1/2, 1/15.
        vec![vec!["5x10"], vec!["2x4"], vec!["3x3", "5x5"]],
        // Denominators that no sweep of a period can settle.
        vec![vec!["40990001/4097x5"], vec!["40990001/4099x3", "40990001/4094x2"]],
    ] {
        let family = Arc::new(Family::new(sums(&members), Units::Pairs).unwrap());
        let evaluator = FamilyEvaluator::new(Arc::clone(&family));
        for epsilon in ["0.3", "2", "9"] {
            let epsilon = parse(epsilon).unwrap();
            let answers = evaluator.all(&epsilon, 10).unwrap();
            assert_eq!(answers.len(), members.len() * (members.len() + 1) / 2);
            let mut largest = f64::NEG_INFINITY;
            for ((p, q), value) in answers {
                let alone = sum(&[members[p].as_slice(), &members[q]].concat());
                let alone = SumEvaluator::new(alone).hockey_stick(&epsilon, 12).unwrap().value;
                assert!(value.overlaps(&alone), "{p} {q} {epsilon} {value:?} {alone:?}");
                largest = largest.max(value.ln().approximate());
            }
            let ln = evaluator.ln_hockey_stick_approx(&epsilon).unwrap();
            let certified = evaluator.hockey_stick(&epsilon, 10).unwrap();
            assert!(certified.met && (certified.value.ln().approximate() - largest).abs() < 1e-9, "{certified:?}");
            assert!((ln - largest).abs() < 1e-9 * largest.abs().max(1.0), "{epsilon} {ln} {largest}");
        }
    }
}

/// Contours that requests close to one another share, against those of a single request: lattices of different steps, twins, the unbounded
/// contour, and members that share none.
#[test]
fn shared_contours_of_a_family_agree_with_those_of_one_request() {
    for members in [
        vec![vec!["5x10"], vec!["2x4"], vec!["3x3", "5x5"]],
        vec![vec!["5x100"], vec!["2x40"], vec!["2x40"]],
        vec![vec!["40990001/4097x5"], vec!["40990001/4099x3", "40990001/4094x2"]],
        vec![vec!["5x10"], vec!["5x9"]],
    ] {
        let family = Arc::new(Family::new(sums(&members), Units::Pairs).unwrap());
        let evaluator = FamilyEvaluator::new(Arc::clone(&family));
        for (epsilon, digits) in [("0", 12), ("0.3", 8), ("2", 12), ("9", 10), ("9.01", 12), ("25", 14)] {
            let epsilon = parse(epsilon).unwrap();
            let shared = evaluator.hockey_stick_of_many(&epsilon, digits).unwrap();
            let own = evaluator.hockey_stick(&epsilon, digits).unwrap();
            assert!(shared.met && shared.value.is_tight(digits), "{epsilon}: {shared:?}");
            assert!(shared.value.overlaps(&own.value), "{epsilon}: {shared:?} {own:?}");
            let again = FamilyEvaluator::new(Arc::clone(&family)).hockey_stick_of_many(&epsilon, digits).unwrap();
            assert_eq!(again.value, shared.value, "the answer does not depend on earlier requests");
        }
    }
}

/// Two members of equal rho whose lattices are far too fine to sweep: all pairs take the unbounded contour.
#[test]
fn fine_lattices_take_the_unbounded_contour() {
    let members = vec![vec!["40990001/4097x4097", "40990001/4099x4099"], vec!["40990001/8196x4098", "40990001/2"]];
    let rho = |member: &[&str]| sum(member).rho().clone();
    // 4097^2 + 4099^2 = 8196 x 4098 + 2
    assert_eq!(rho(&members[0]), rho(&members[1]));
    let family = Arc::new(Family::new(sums(&members), Units::Pairs).unwrap());
    let evaluator = FamilyEvaluator::new(Arc::clone(&family));
    let epsilon = parse("3").unwrap();
    assert!(family.shares_no_step());
    for ((p, q), value) in evaluator.all(&epsilon, 6).unwrap() {
        let alone = sum(&[members[p].as_slice(), &members[q]].concat());
        let alone = SumEvaluator::new(alone).hockey_stick(&epsilon, 8).unwrap().value;
        assert!(value.overlaps(&alone) && value.is_tight(5), "{p} {q} {value:?} {alone:?}");
    }
}

/// A request has the same last digit after any earlier requests, beside any concurrent ones, and on any number of threads: on a lattice, on
/// the unbounded contour, and for the largest of a family.
#[test]
fn memory_and_threads_change_no_digit() {
    let bits = |answer: Result<Answer>| answer.map(|answer| (answer.value, answer.met)).unwrap();
    let epsilons = ["0.1", "2", "2.5", "9", "14"].map(|text| parse(text).unwrap());
    let lattice = vec!["500/73x10", "2500/137x6"];
    let line = vec!["40990001/4097x3000", "40990001/4099x3000"];
    for groups in [&lattice, &line] {
        let sum = sum(groups);
        let fresh = |epsilon: &Rational| bits(sum.evaluator().hockey_stick(epsilon, 9));
        let evaluator = sum.evaluator();
        for (before, digits) in epsilons.iter().rev().zip([6, 12, 9, 3, 11]) {
            evaluator.hockey_stick(before, digits).unwrap();
            evaluator.ln_hockey_stick_approx(before).unwrap();
        }
        let shared: Vec<_> = epsilons.par_iter().map(|epsilon| bits(evaluator.hockey_stick(epsilon, 9))).collect();
        assert_eq!(shared, epsilons.iter().map(fresh).collect::<Vec<_>>());
    }
    let family = Arc::new(Family::new(sums(&[lattice, vec!["5x10"]]), Units::Pairs).unwrap());
    let asked = FamilyEvaluator::new(Arc::clone(&family));
    asked.hockey_stick(&epsilons[3], 12).unwrap();
    asked.all(&epsilons[0], 5).unwrap();
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for epsilon in &epsilons {
        let alone = one.install(|| bits(FamilyEvaluator::new(Arc::clone(&family)).hockey_stick(epsilon, 10)));
        assert_eq!(bits(asked.hockey_stick(epsilon, 10)), alone, "{epsilon}");
    }
}

/// Parallel sums (over nodes, points and parts of long enumerations) have the same last digit on any number of threads.
#[test]
fn one_question_is_the_same_on_any_number_of_threads() {
    let (fine, nodes) = (sum(&["3001/7x3", "4099/5x2"]), sum(&["2003/7x40", "1009/5x3", "1/3x2"]));
    let long = sum(&["3000001/7x3", "4000037/5x2"]);
    let (epsilon, small) = (parse("0.31").unwrap(), parse("0.001").unwrap());
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let on = |threads: usize| {
        pool(threads).install(|| {
            let listed = long.evaluator().hockey_stick_by("enumeration", &small, 40).unwrap().unwrap();
            let smoothed = fine.evaluator().hockey_stick_by("smoothing", &epsilon, 40).unwrap().unwrap();
            let by_nodes = nodes.evaluator().by_contour(&parse("3.7").unwrap(), 12).unwrap();
            [listed, smoothed, by_nodes]
        })
    };
    let [listed, smoothed, by_nodes] = on(1);
    let count = |answer: &Answer, name| answer.proof.count(name).unwrap();
    assert!(count(&listed, "first_losses") + count(&listed, "second_losses") > 1 << 15, "{listed:?}");
    assert!(count(&smoothed, "points") > 200, "{smoothed:?}");
    assert!(count(&by_nodes, "evaluated_nodes") > 1000, "{by_nodes:?}");
    for threads in [2, 5] {
        for (one, other) in on(threads).iter().zip([&listed, &smoothed, &by_nodes]) {
            assert!(one.met && one.value == other.value, "{threads}: {one:?} {other:?}");
        }
    }
}

/// 10^12 copies of small noise, where powers leave the range of floats, at the mean and many deviations above it.
#[test]
fn powers_beyond_the_range_of_floats_are_answered() {
    for (counts, epsilon) in [
        ("0.29x1000000000000", "1724140000000"),
        ("0.27x1000000000000", "1851900000000"),
        ("0.29x100000000", "172415554764"),
    ] {
        let sum = sum(&[counts]);
        let epsilon = parse(epsilon).unwrap();
        let answer = sum.evaluator().hockey_stick(&epsilon, 12).unwrap();
        // Above rho, by zCDP.
        let rho = sum.rho();
        if epsilon > *rho {
            let ln = -(Rational::from(&epsilon - rho).square() / Rational::from(rho * 4_u32));
            let most = Enclosure::rational(&ln, 64).exp();
            assert!(*answer.value.lower() <= *most.upper() && *answer.value.upper() < 1, "{counts}: {answer:?}");
        }
    }
    let far = sum(&["0.29x100000000"]).evaluator();
    let answer = far.hockey_stick(&parse("172415554764").unwrap(), 12).unwrap();
    assert!(*answer.value.upper() < 1e-300, "{answer:?}");
}

/// Two groups of 2^63 counts, and a family of them.
#[test]
fn negative_orders_and_too_many_counts_are_refused() {
    let sum = sum(&["5x10"]);
    assert!(matches!(sum.evaluator().hockey_stick(&parse("-1").unwrap(), 12), Err(Error::OutOfRange { .. })));
    assert!(matches!(sum.evaluator().hockey_stick_of_many(&parse("-1").unwrap(), 12), Err(Error::OutOfRange { .. })));
    let half = format!("5x{}", 1_u64 << 63);
    let members = || sums(&[vec![half.as_str()]]);
    assert!(Family::new(members(), Units::Pairs).is_err() && Family::new(members(), Units::Single).is_ok());
}

/// Where no contour has to be summed: the complement of delta is below any precision of interest, unless losses are bounded.
#[test]
fn far_below_rho_delta_is_one() {
    let huge = sum(&["5x1000000000000"]).evaluator();
    let epsilon = parse("5e10").unwrap();
    let answer = huge.hockey_stick(&epsilon, 40).unwrap();
    assert!(answer.met && answer.value.contains(&Rational::from(1)) && *answer.value.lower() < 1, "{answer:?}");
    assert_eq!(huge.ln_hockey_stick_approx(&epsilon).unwrap(), 0.0);
    // (rho - eps)^2 / (4 rho) is 225, far from enough: delta as it is.
    let near = sum(&["5x10000"]).evaluator();
    let answer = near.hockey_stick(&parse("50").unwrap(), 12).unwrap();
    let rest = Enclosure::double(1.0, answer.value.lower().prec()).sub(&answer.value);
    assert!(rest.is_tight(12) && *rest.upper() < (-225_f64).exp(), "{rest:?}");
}

/// Many digits of a delta close to 1 need few digits of its complement: the result is the same as with all digits of both.
#[test]
fn a_delta_close_to_one_takes_few_digits_of_the_complement() {
    for groups in [vec!["5x2000"], vec!["1/3x30", "discrete-laplace:2/25x200"]] {
        let evaluator = sum(&groups).evaluator();
        for epsilon in ["0", "1.3"] {
            let epsilon = parse(epsilon).unwrap();
            let few = evaluator.moments().digits_of_complement(&epsilon, 40).unwrap().unwrap();
            assert!((8..=37).contains(&few), "{few}");
            let (delta, both) = (evaluator.delta(&epsilon, 40).unwrap(), evaluator.hockey_stick(&epsilon, 40).unwrap());
            assert!(delta.met && delta.value.is_tight(40) && delta.value.overlaps(&both.value), "{delta:?} {both:?}");
        }
        assert!(evaluator.moments().digits_of_complement(&parse("0").unwrap(), 12).unwrap().is_none());
        assert!(evaluator.moments().digits_of_complement(&parse("900").unwrap(), 40).unwrap().is_none());
    }
}

/// In a gap between clusters of losses, conditioning alone finds delta to all digits and its complement to none: an answer that is `met` has
/// both.
#[test]
fn what_is_met_next_to_one_is_known_on_both_sides() {
    let groups = ["1/10000x999", "374720826/4099x2", "81/25x10", "1/5x1000@2"];
    let evaluator = sum(&groups).evaluator();
    let epsilon = parse("5000092.165233336389").unwrap();
    let split = evaluator.hockey_stick_by("conditioning on groups far apart", &epsilon, 42).unwrap().unwrap();
    let rest = |answer: &Answer| Enclosure::double(1.0, answer.value.lower().prec()).sub(&answer.value);
    assert!(split.value.is_tight(42) && !split.met && !rest(&split).is_tight(1), "{split:?}");
    let answer = evaluator.hockey_stick(&epsilon, 42).unwrap();
    assert!(answer.met && rest(&answer).is_tight(40), "{answer:?}");
    assert!(evaluator.delta(&epsilon, 42).unwrap().met);
}

/// Members of unequal rho, with bounded losses, and single members are answered one by one.
#[test]
fn members_that_share_no_contour_are_compared_all_the_same() {
    let unequal = vec![vec!["5x10"], vec!["5x9"]];
    let bounded = vec![vec!["5x10"], vec!["5x9", "discrete-laplace:1"]];
    let epsilon = parse("2").unwrap();
    for (members, units) in [(&unequal, Units::Pairs), (&bounded, Units::Pairs), (&bounded, Units::Single)] {
        let family = Arc::new(Family::new(sums(members), units).unwrap());
        let evaluator = FamilyEvaluator::new(Arc::clone(&family));
        let largest = evaluator.hockey_stick(&epsilon, 10).unwrap();
        let all = evaluator.all(&epsilon, 10).unwrap();
        assert_eq!(all.len(), if units == Units::Pairs { 3 } else { 2 });
        let (pair, value) = all.iter().max_by(|a, b| a.1.lower().total_cmp(b.1.lower())).unwrap();
        assert!(largest.met && largest.pair() == Some(*pair) && largest.value.overlaps(value), "{largest:?} {value:?}");
        let sum = SumEvaluator::new(family.sum(*pair).unwrap()).hockey_stick(&epsilon, 12).unwrap();
        assert!(largest.value.overlaps(&sum.value));
    }
    assert!(Family::new(Vec::new(), Units::Pairs).is_err());
}
