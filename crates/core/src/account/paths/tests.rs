use std::cell::Cell;

use super::*;
use crate::{
    account::{Stop, calibrate, crossing, supporting::line},
    numeric::{Enclosure, rational::parse},
};

fn stopped<T>(answer: Result<T>) -> bool {
    matches!(answer, Err(Error::Stopped))
}

/// Every kind of request to every kind of account, and to accounts derived from them.
#[test]
fn nothing_is_evaluated_after_a_stop() {
    let stop = Stop::new();
    let one = Composition::new(["5x10".parse().unwrap()]).unwrap();
    let other = Composition::new(["2x4".parse().unwrap()]).unwrap();
    let (half, two) = (parse("1/2").unwrap(), Rational::from(2));
    let composition = one.until(&stop);
    assert_eq!(composition, one);
    let worst = WorstPath::new(vec![one.clone(), other], Units::Pairs).unwrap().until(&stop);
    // A request before the stop gives the same answer.
    assert_eq!(composition.delta("3", 9).unwrap().value, one.delta("3", 9).unwrap().value);
    let begun = worst.evaluator();
    assert!(begun.hockey_stick(&two, 6).is_ok());
    stop.set();
    fn all(account: &(impl Account + Clone), half: &Rational) {
        assert!(stopped(account.delta("3", 6)) && stopped(account.ln_delta_approx("3")));
        assert!(stopped(account.epsilon("1e-9", 6)) && stopped(account.tradeoff(half, 6)));
        assert!(
            stopped(account.curve(&["1", "2"], 6)) && stopped(account.tradeoff_curve(std::slice::from_ref(half), 6))
        );
        let target = Enclosure::double(3.0, 64);
        let family = |factor: &Rational| account.with_noise_times(factor);
        assert!(stopped(calibrate::least_on_grid(family, &target, &"1e-9".parse().unwrap(), 2, 1.0)));
        assert!(stopped(crossing::stretches(account, &account.rho(), &parse("1e-9").unwrap(), half)));
    }
    all(&composition, &half);
    all(&worst, &half);
    for derived in [composition.compose(&one), one.compose(&composition), composition.repeated(2)] {
        all(&derived.unwrap(), &half);
    }
    all(&composition.for_groups_of(2).unwrap(), &half);
    all(&worst.composition((0, 1)).unwrap(), &half);
    assert!(stopped(composition.knot(&two, 6)) && stopped(begun.hockey_stick(&two, 6)));
    let Evaluator::Family(family) = begun else { panic!("a family") };
    assert!(
        stopped(family.all(&two, 6))
            && stopped(family.leader(&two))
            && stopped(worst.delta_one_by_one(&"3".parse().unwrap(), 6))
    );
    assert!(one.delta("3", 6).is_ok(), "others go on");
}

/// Contours that type I errors share, against every pair by itself and lines by contours of their own, next to 0 and 1 and between: of one lattice, of several, and of
/// pairs that share no contour because their rho differ.
#[test]
fn a_family_is_between_lines_and_functions_evaluated_one_by_one() {
    for paths in [["5x10", "2x4", "3x3 5x5"], ["5x100", "2x40", "50x700 2x26"], ["5x10", "5x9", "2x3"]] {
        let worst = family(&paths);
        let (evaluator, alone) = (worst.evaluator(), worst.evaluator());
        let at = |eps: i32| Rational::from((eps, 8));
        let delta = |eps: i32| (at(eps), alone.hockey_stick(&at(eps.abs()), 14).unwrap().value);
        let deltas: Vec<(Rational, Enclosure)> = (-60..=60).map(delta).collect();
        for alpha in ["0", "1e-12", "0.003", "0.3", "1/2", "0.9", "0.999999", "1"] {
            let alpha = parse(alpha).unwrap();
            let shared = worst.tradeoff_by(&evaluator, &alpha, 12).unwrap().value;
            for pair in (0..3).flat_map(|p| (p..3).map(move |q| (p, q))) {
                let own = worst.composition(pair).unwrap().tradeoff(&alpha, 14).unwrap().value;
                assert!(shared.lower() <= own.upper(), "{paths:?} {alpha} {pair:?}: {shared:?} {own:?}");
            }
            for (eps, delta) in &deltas {
                let line = line(delta, eps, &alpha, 128);
                assert!(shared.upper() >= line.lower(), "{paths:?} {alpha} {eps}: {shared:?} {line:?}");
            }
            let is_end = alpha == 0 || alpha == 1;
            assert!(!is_end || shared.contains(&Rational::from(1 - &alpha)), "{paths:?} {alpha}: {shared:?}");
        }
    }
}

/// The same bytes after any earlier requests, beside any concurrent ones, and on any number of threads.
#[test]
fn type_ii_errors_of_a_family_do_not_depend_on_others_or_threads() {
    let worst = family(&["5x10", "2x4", "3x3 5x5"]);
    let alphas: Vec<Rational> = (0..=24).map(|k| Rational::from((k, 24))).collect();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| worst.tradeoff_curve(&alphas, 12)).unwrap()
    };
    let bytes = |answer: &Answer| format!("{:?}", (&answer.value, answer.pair(), answer.met));
    let alone: Vec<String> = alphas.iter().map(|alpha| bytes(&worst.tradeoff(alpha, 12).unwrap())).collect();
    for threads in [1, 2, 5] {
        assert_eq!(on(threads).iter().map(bytes).collect::<Vec<_>>(), alone, "{threads} threads");
    }
    let backwards = worst.evaluator();
    for (alpha, alone) in alphas.iter().zip(&alone).rev() {
        assert_eq!(bytes(&worst.tradeoff_by(&backwards, alpha, 12).unwrap()), *alone, "{alpha}");
    }
}

fn family(paths: &[&str]) -> WorstPath {
    let path = |text: &&str| Composition::new(text.split(' ').map(|counts| counts.parse().unwrap())).unwrap();
    WorstPath::new(paths.iter().map(path).collect(), Units::Pairs).unwrap()
}

/// An evaluator of an account of another kind is refused.
#[test]
fn the_evaluator_of_another_account_is_refused() {
    let (one, half) = (Composition::new(["5x10".parse().unwrap()]).unwrap(), parse("1/2").unwrap());
    let worst = family(&["5x10", "2x4"]);
    assert!(worst.tradeoff_by(&one.evaluator(), &half, 6).is_err());
    assert!(one.tradeoff_by(&worst.evaluator(), &half, 6).is_err());
}

/// A curve of many points ends at the first point requested after the stop.
#[test]
fn a_curve_ends_where_it_is() {
    let stop = Stop::new();
    let account = Composition::new(["5x10".parse().unwrap()]).unwrap().until(&stop);
    let (evaluator, answered) = (account.evaluator(), Cell::new(0));
    let points = (0..1000).map(|k| {
        if k == 7 {
            stop.set();
        }
        let point = account.point_by(&evaluator, Rational::from((k, 100)).try_into()?, 6);
        answered.set(answered.get() + usize::from(point.is_ok()));
        point
    });
    assert!(stopped(points.collect::<Result<Vec<_>>>()));
    assert_eq!(answered.get(), 7);
}
