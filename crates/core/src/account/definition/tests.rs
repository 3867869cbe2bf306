//! The definition against the engines, for every law, and with faults built in.

use std::sync::Arc;

use rug::Rational;

use super::*;
use crate::{
    account::{Account, Composition},
    law::{NoiseTable, Pair, PerturbationTable},
    numeric::rational::parse,
};

fn one(key: &str, text: &str) -> Counts {
    Counts::parse(key, text).unwrap()
}

fn of_law(law: Law, count: u64, shift: u64) -> Counts {
    Counts::new(law, count, shift).unwrap()
}

fn table(masses: &[(i64, &str)]) -> Law {
    Law::Table(Arc::new(NoiseTable::new("t", masses.iter().map(|(value, p)| (*value, parse(p).unwrap()))).unwrap()))
}

/// A law without symmetry: its two directions differ.
fn skewed() -> Law {
    table(&[(0, "60/143"), (1, "2/143"), (2, "27/143"), (3, "54/143")])
}

fn pair() -> Law {
    let outcomes = [("1/3", "0"), ("1/3", "1/2"), ("1/3", "1/4"), ("0", "1/4")];
    let outcomes = outcomes.iter().map(|(p, q)| (parse(p).unwrap(), parse(q).unwrap()));
    Law::Pair(Arc::new(Pair::new("pair", outcomes).unwrap()))
}

fn rows() -> Law {
    let rows: [&[&str]; 4] =
        [&["3/4", "1/4"], &["1/4", "1/2", "1/4"], &["1/10", "3/10", "2/5", "1/5"], &["0", "1/5", "1/5", "1/5", "2/5"]];
    let entries = (0..).zip(rows).flat_map(|(i, row)| (0..).zip(row).map(move |(j, p)| (i, j, parse(p).unwrap())));
    Law::Perturbation(Arc::new(PerturbationTable::new("rows", entries).unwrap()))
}

fn question(counts: &[Counts], is_changed: bool, group: u64, repeat: u64) -> Definition {
    Definition { counts: counts.to_vec(), is_changed, group, repeat, ..Definition::default() }
}

/// The account of the same question, by the functions for compositions.
fn account(of: &Definition) -> Composition {
    let mut all = Composition::new(of.counts.iter().cloned()).unwrap();
    if of.is_changed {
        all = all.for_changed_records().unwrap();
    }
    if of.group > 1 {
        all = all.for_groups_of(of.group).unwrap();
    }
    all.repeated(of.repeat).unwrap()
}

fn epsilon(text: &str) -> Rational {
    parse(text).unwrap()
}

/// Each law alone and beside others, under both relations, for groups and repetitions: the enclosure holds the certified answer, in each direction, and is not wide.
#[test]
fn it_contains_the_certified_answers_and_is_narrow() {
    let singles = [
        one("discrete-gaussian", "3x4"),
        one("discrete-gaussian", "40x400"),
        one("discrete-laplace", "1/2x3@2"),
        one("truncated-laplace", "1/2:6x2"),
        one("truncated-gaussian", "4:5@2"),
        one("staircase", "1:4:2x3@4"),
        one("staircase", "1/2:3:1x2@7"),
        one("gaussian", "2x3"),
        one("laplace", "2x3"),
        one("randomized-response", "1:3x2"),
        one("pure", "1/2x6"),
        one("pure", "1/4x2@3"),
        one("approximate", "1:1/1000x3"),
        of_law(skewed(), 2, 1),
        of_law(skewed(), 1, 3),
        of_law(rows(), 2, 1),
        of_law(pair(), 3, 1),
        Counts::parse_sampled("0.1:gaussian:1x5").unwrap(),
        Counts::parse_sampled("0.1:discrete-gaussian:1x4").unwrap(),
        Counts::parse_sampled("0.3:discrete-laplace:1x5@2").unwrap(),
        Counts::parse_unknown_key("discrete-laplace:1/2:6x2").unwrap(),
        Counts::parse_unknown_key("discrete-gaussian:4:5@2").unwrap(),
        Counts::parse_unknown_key("laplace:2:7").unwrap(),
        Counts::parse_unknown_key("gaussian:3:-1").unwrap(),
    ];
    let mut questions: Vec<Definition> =
        singles.iter().map(|one| question(std::slice::from_ref(one), false, 1, 1)).collect();
    for counts in &singles {
        if !counts.law.is_sampled() {
            questions.push(question(std::slice::from_ref(counts), true, 1, 1));
            questions.push(question(&[counts.clone(), one("discrete-gaussian", "5x2")], true, 1, 1));
        }
        questions.push(question(std::slice::from_ref(counts), false, 1, 2));
    }
    questions.push(question(&[one("discrete-gaussian", "9x2"), one("laplace", "3")], true, 3, 2));
    questions.push(question(&[of_law(skewed(), 1, 1)], false, 2, 1));
    questions.push(question(&[of_law(skewed(), 1, 1)], true, 2, 1));
    let (mut answered, mut compared) = (0, 0);
    for of in questions {
        let engines = account(&of);
        let defined = Defined::new(of.clone());
        for at in ["0", "3/4", "3"].map(epsilon) {
            let Some([remove, add]) = defined.delta_of_directions(&at) else { continue };
            answered += 1;
            let certified = engines.delta(at.clone(), 6).unwrap().value;
            let both = engines.delta_of_directions(&at.clone().try_into().unwrap(), 6).unwrap();
            let [own_remove, own_add] =
                both.map_or([certified.clone(), certified.clone()], |both| both.map(|one| one.value));
            for (own, first) in [(&remove, &own_remove), (&add, &own_add), (&remove.max(&add), &certified)] {
                assert!(own.overlaps(first), "{of:?} at {at}: {own} excludes {first}");
                // Continuous noise is rounded to intervals, on samples to a few per cent.
                let width = own.upper().to_f64() - own.lower().to_f64();
                assert!(width <= 0.03 + 0.2 * own.upper().to_f64(), "{of:?} at {at}: {own} for {first}");
                compared += 1;
            }
        }
    }
    assert!(answered > 150 && compared > 450, "{answered} {compared}");
}

/// Whether an account is refused as that of a question.
fn is_refused(account: Composition, of: Definition, at: &str) -> bool {
    let answer = account.delta(epsilon(at), 6).unwrap();
    let by_delta = Defined::new(of.clone()).confirmed_delta(&epsilon(at), answer.clone(), 12);
    // The same in the functions that answer, and for epsilon at that delta.
    let asked = account.clone().defined_by(of.clone()).delta(epsilon(at), 6);
    assert_eq!(by_delta.is_err(), matches!(asked, Err(Error::Contradiction { .. })));
    by_delta.is_err()
}

/// Faults of the past, and others like them: each is an account of another question.
#[test]
fn an_account_of_another_question_is_refused() {
    let skewed = of_law(skewed(), 1, 1);
    let twice = |counts: &Counts| Composition::new([counts.clone(), counts.clone()]).unwrap();
    // A changed record leaves a count and enters another, in the opposite direction.
    assert!(is_refused(twice(&skewed), question(std::slice::from_ref(&skewed), true, 1, 1), "1/2"));
    // Two people need not change the same count.
    let two = of_law(table(&[(0, "1/2"), (2, "1/2")]), 1, 1);
    let moved = Composition::new([of_law(table(&[(0, "1/2"), (2, "1/2")]), 1, 2).exactly().unwrap()]).unwrap();
    assert!(is_refused(moved.clone(), question(std::slice::from_ref(&two), false, 2, 1), "1"));
    // A change of at most two can be one by one.
    assert!(is_refused(moved, question(&[of_law(table(&[(0, "1/2"), (2, "1/2")]), 1, 2)], false, 1, 1), "1"));
    // A release counted once, a record counted once, another parameter, another number of counts.
    let noise = one("discrete-gaussian", "5x2");
    let account = || Composition::new([noise.clone()]).unwrap();
    for of in [(true, 1, 1), (false, 2, 1), (false, 1, 2)] {
        assert!(is_refused(account(), question(std::slice::from_ref(&noise), of.0, of.1, of.2), "1"), "{of:?}");
    }
    assert!(!is_refused(account(), question(std::slice::from_ref(&noise), false, 1, 1), "1"));
    for other in ["5x3", "5001/1000x2", "5x2@2"] {
        assert!(is_refused(account(), question(&[one("discrete-gaussian", other)], false, 1, 1), "1"), "{other}");
    }
    // The probability of an infinite loss of another threshold, and of the other direction.
    let key = |text: &str| Counts::parse_unknown_key(text).unwrap();
    let shown = Composition::new([key("discrete-laplace:1/2:8")]).unwrap();
    assert!(is_refused(shown, question(&[key("discrete-laplace:1/2:9")], false, 1, 1), "1"));
    // An epsilon as well.
    let answer = account().epsilon("1e-6", 8).unwrap();
    let confirms = |of: Definition| Defined::new(of).confirms_epsilon(&parse("1e-6").unwrap(), &answer);
    assert!(confirms(question(std::slice::from_ref(&noise), false, 1, 1)).is_ok());
    assert!(confirms(question(std::slice::from_ref(&noise), true, 1, 1)).is_err());
    assert!(confirms(question(&[one("discrete-gaussian", "6x2")], false, 1, 1)).is_err());
}

/// What the definition does not cover has no enclosure, without long work: very many choices, noise of very many values, and groups with a guarantee.
#[test]
fn what_is_not_covered_says_nothing() {
    let many = [
        question(&[of_law(rows(), 40, 3)], true, 5, 1),
        question(&[one("discrete-gaussian", "1000000000000")], false, 1, 1),
        question(&[one("pure", "1/2x3")], false, 2, 1),
    ];
    for of in many {
        assert!(Defined::new(of.clone()).delta(&epsilon("1")).is_none(), "{of:?}");
    }
}

/// Every kind of law that a request may name has a definition, also for a million counts, and at the ends of the trade-off function.
#[test]
fn every_kind_of_law_is_confirmed() {
    let all = [
        (one("discrete-gaussian", "3x4"), 1e-6),
        (one("discrete-gaussian", "5x1000"), 0.05),
        (one("discrete-gaussian", "1000000x1000000"), 0.05),
        (one("gaussian", "2x3"), 0.05),
        (Counts::parse_sampled("0.1:gaussian:1x5").unwrap(), 0.1),
        (Counts::parse_sampled("0.1:discrete-gaussian:1x3").unwrap(), 0.05),
        (Counts::parse_sampled("0.1:discrete-laplace:1/2x3@2").unwrap(), 0.01),
        (Counts::parse_sampled("0.2:truncated-gaussian:4:5x2").unwrap(), 0.01),
        (Counts::parse_sampled("0.2:truncated-laplace:1/2:6x2").unwrap(), 0.01),
        (Counts::parse_sampled("1/3:randomized-response:1:3x4").unwrap(), 0.01),
        (one("discrete-laplace", "1/2x3@2"), 1e-6),
        (one("laplace", "2x3"), 0.01),
        (one("truncated-laplace", "1/2:6x2"), 1e-6),
        (one("truncated-gaussian", "4:5@2"), 1e-6),
        (one("staircase", "1:4:2x3@4"), 1e-6),
        (one("staircase", "1/2:3:1x2@7"), 1e-6),
        (one("truncated-gaussian", "500:1000"), 1e-6),
        (one("randomized-response", "1:3x2"), 1e-6),
        (one("pure", "1/2x6"), 1e-6),
        (one("approximate", "1:1/1000x3"), 1e-6),
        (one("exponential", "1x3"), 0.01),
        (one("exponential", "1/10x1000"), 0.05),
        (of_law(skewed(), 2, 1), 0.01),
        (of_law(pair(), 3, 1), 1e-6),
        (of_law(rows(), 2, 1), 0.01),
        (one("random-rounding", "3x2"), 1e-6),
        (Counts::parse_unknown_key("discrete-laplace:1/2:6x2").unwrap(), 1e-6),
        (Counts::parse_unknown_key("laplace:2:7").unwrap(), 0.01),
    ];
    for law in Law::keys() {
        let is_named = |counts: &Counts| counts.law.key() == law;
        assert!(all.iter().any(|(counts, _)| is_named(counts)), "no counts of {law}");
    }
    for (counts, wide) in &all {
        let of = question(std::slice::from_ref(counts), false, 1, 1);
        let (engines, defined) = (account(&of), Defined::new(of.clone()));
        // delta(0), the scale of the profile.
        let most = engines.delta("0", 6).unwrap().value.upper().to_f64();
        for at in ["0", "1/4", "1"].map(epsilon) {
            let own = defined.delta(&at).unwrap_or_else(|| panic!("{counts:?}"));
            let certified = engines.delta(at.clone(), 6).unwrap().value;
            assert!(own.overlaps(&certified), "{counts:?} at {at}: {own} excludes {certified}");
            let width = own.upper().to_f64() - own.lower().to_f64();
            assert!(width <= wide * most, "{counts:?} at {at}: {own} for {certified}");
        }
        for alpha in ["0", "1/10", "1"].map(epsilon) {
            let own = defined.tradeoff(&alpha).unwrap();
            let certified = engines.tradeoff(&alpha, 6).unwrap().value;
            assert!(own.overlaps(&certified), "{counts:?} at alpha = {alpha}: {own} excludes {certified}");
            let width = own.upper().to_f64() - own.lower().to_f64();
            assert!(width <= 0.1, "{counts:?} at alpha = {alpha}: {own} for {certified}");
        }
    }
}

/// The trade-off function at alpha = 0 is that of outcomes which both hypotheses can have: another one is refused.
#[test]
fn a_trade_off_point_of_no_infinite_loss_is_refused() {
    let of = question(&[of_law(pair(), 1, 1)], false, 1, 1);
    let (engines, defined) = (account(&of), Defined::new(of));
    let alpha = Rational::new();
    let right = engines.tradeoff(&alpha, 8).unwrap();
    assert!(
        right.value.contains(&parse("2/3").unwrap()) && defined.confirmed_tradeoff(&alpha, right.clone(), 12).is_ok()
    );
    let wrong = Answer { value: Enclosure::double(1.0, 64), ..right };
    assert!(matches!(defined.confirmed_tradeoff(&alpha, wrong, 12), Err(Error::Contradiction { .. })));
}

/// Keys that are nearly always shown: an infinite loss of probability one for both directions, and a lower end above the truth.
#[test]
fn wrong_probabilities_of_keys_are_refused() {
    let key = Counts::parse_unknown_key("laplace:1:-200").unwrap();
    let of = question(&[key], false, 1, 1);
    let (engines, defined) = (account(&of), Defined::new(of));
    let at: crate::account::Epsilon = Rational::from(250).try_into().unwrap();
    let [_, add] = engines.delta_of_directions(&at, 8).unwrap().unwrap();
    assert!(defined.confirmed_delta_of(Direction::Add, &at, add.clone(), 12).is_ok());
    let one = Answer { value: Enclosure::double(1.0, 64), ..add };
    assert!(matches!(defined.confirmed_delta_of(Direction::Add, &at, one, 12), Err(Error::Contradiction { .. })));
    // A key of threshold 40 is shown with q^39 / (1 + q), q = e^(-1/2): a lower end above that by more than what doubles resolve, where the other hypothesis hides all but 10^-9.
    let key = |threshold: &str| Counts::parse_unknown_key(&format!("discrete-laplace:1/2:{threshold}")).unwrap();
    let of = question(&[key("40")], false, 1, 1);
    let right = account(&of).delta("1", 20).unwrap();
    let defined = Defined::new(of);
    assert!(defined.confirmed_delta(&epsilon("1"), right.clone(), 12).is_ok());
    let moved = right.value.mul(&Enclosure::double(1.0 + 1e-5, 64));
    let wrong = Answer { value: moved, ..right };
    assert!(matches!(defined.confirmed_delta(&epsilon("1"), wrong, 12), Err(Error::Contradiction { .. })));
}

/// A lower measure stays below, and an upper one above, where losses lie on the points of a grid, between them, and where the grid is coarser than their lattice.
#[test]
fn the_measures_are_on_their_sides_of_the_truth() {
    // Two answers of randomized response: losses of 2, 0 and -2 with probabilities a^2, 2 a b and b^2.
    let counts = one("pure", "1x2");
    let of = question(&[counts], false, 1, 1);
    for at in ["0", "1/2", "1999999/1000000", "2", "2000001/1000000"] {
        let own = Defined::new(of.clone()).delta(&epsilon(at)).unwrap();
        let certified = account(&of).delta(epsilon(at), 15).unwrap().value;
        assert!(own.lower() <= certified.lower() && certified.upper() <= own.upper(), "{at}: {own} {certified}");
        assert!(own.upper().to_f64() - own.lower().to_f64() < 1e-7, "{at}: {own}");
    }
}
