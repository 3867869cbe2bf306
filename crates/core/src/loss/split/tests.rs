use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::*;
use crate::{
    loss::{atoms::Atoms, evaluator::SumEvaluator, testing::sum},
    numeric::rational::parse,
};

/// The remaining groups as a sum of their own.
fn alone(rest: LossSum) -> Box<dyn Rest> {
    Box::new(SumEvaluator::new(rest))
}

pub(super) fn split(sum: &LossSum) -> Split {
    Split::all(sum, alone).into_iter().find(|split| split.apart >= APART).unwrap()
}

/// Coarse beside fine groups, against an enumeration of all losses: below, between and above the coarse losses, and close to 1.
#[test]
fn conditioning_agrees_with_enumeration() {
    for groups in [
        vec!["discrete-laplace:3.21x4", "2000"],
        vec!["discrete-laplace:3.21x2@2", "2000.3x3", "30001/7@2"],
        vec!["1/20x3", "700x2"],
        vec!["0.02@2", "5/4x2", "4099@3"],
        vec!["discrete-laplace:4x2", "discrete-laplace:1/100x2@3"],
        vec!["discrete-laplace:4x2", "40000", "discrete-laplace:1/100x2@3"],
    ] {
        let sum = sum(&groups);
        let (split, atoms) = (split(&sum), Atoms::within(&sum, 1e9).unwrap());
        let (mut asked, mut approximated) = (0, 0);
        for epsilon in
            ["0", "0.001", "0.79", "3.2", "3.21", "6.4", "6.42", "6.45", "8.05", "8.09", "12.8", "12.9", "30", "55.1"]
        {
            let epsilon = parse(epsilon).unwrap();
            for digits in [3, 12, 25] {
                let listed = atoms.hockey_stick(&epsilon, digits).unwrap();
                if *listed.value.upper() == 0 {
                    continue;
                }
                let answer =
                    split.hockey_stick(&epsilon, digits, machine::FINER_LIST, &Session::of_digits(12)).unwrap();
                assert!(answer.value.overlaps(&listed.value), "{groups:?} {epsilon}: {answer:?} {listed:?}");
                assert!(answer.met && answer.value.is_tight(digits), "{groups:?} {epsilon} {digits}: {answer:?}");
                asked += answer.proof.count("evaluated").unwrap();
                // The complement is as precise, too.
                let one = Enclosure::double(1.0, answer.value.lower().prec());
                let rest = one.sub(&answer.value);
                assert!(*rest.upper() > 0.5 || rest.is_tight(digits), "{groups:?} {epsilon}: {answer:?}");
                let exact = listed.value.ln().approximate();
                if let Some(ln) = split
                    .ln_hockey_stick_approx(&epsilon, machine::FINER_LIST, &Session::of_digits(12))
                    .filter(|_| digits >= 12)
                {
                    assert!((ln - exact).abs() < 1e-9 * (1.0 + exact.abs()), "{epsilon}: {ln} {exact}");
                    approximated += 1;
                }
            }
        }
        assert!(asked > 0 && approximated >= 8, "{groups:?}: {asked} {approximated}");
    }
}

/// Any choice of the enumerated groups, on one lattice or not, with profiles of the remaining groups that come arbitrarily close to the losses.
#[test]
fn every_conditioning_agrees_with_the_others() {
    let mut ways = Vec::new();
    for groups in [
        vec!["discrete-laplace:11x9", "1/3x7@2", "15.283x3", "190000x2"],
        vec!["discrete-laplace:3x20", "discrete-laplace:2x30", "4099x3"],
        vec!["1/7x4", "discrete-laplace:1/9x5", "90001/4@2"],
    ] {
        let sum = sum(&groups);
        let (splits, atoms) = (Split::all(&sum, alone), Atoms::within(&sum, 1e9).unwrap());
        for (split, epsilon) in splits.iter().flat_map(|split| ["0.3", "7.9", "22.01", "60"].map(|at| (split, at))) {
            let epsilon = parse(epsilon).unwrap();
            assert!(split.seconds(&epsilon, 12).is_some());
            let (answer, listed) = (
                split.hockey_stick(&epsilon, 12, machine::FINER_LIST, &Session::of_digits(12)).unwrap(),
                atoms.hockey_stick(&epsilon, 14).unwrap(),
            );
            assert!(answer.met && answer.value.overlaps(&listed.value), "{groups:?} {epsilon}: {answer:?} {listed:?}");
        }
        ways.push(splits.iter().map(|split| split.apart >= APART).collect::<Vec<_>>());
    }
    // Of the first, coarse and less coarse.
    assert!(ways[0].contains(&true) && ways[0].contains(&false), "{ways:?}");
}

/// Remaining groups, and the most digits that were requested of them.
#[derive(Debug)]
struct Recorded(SumEvaluator, &'static AtomicU32);

impl Rest for Recorded {
    fn enclose(&self, epsilon: &Rational, digits: u32, session: &Session) -> Result<(Enclosure, bool)> {
        self.1.fetch_max(digits, Relaxed);
        Rest::enclose(&self.0, epsilon, digits, session)
    }
    fn ln_approx(&self, epsilon: &Rational, session: &Session) -> Result<f64> {
        Rest::ln_approx(&self.0, epsilon, session)
    }
    fn seconds(&self, epsilon: &Rational, digits: u32) -> f64 {
        Rest::seconds(&self.0, epsilon, digits)
    }
}

/// Where the whole answer comes from a loss that the remaining groups hardly reach, fewer losses are dropped: no more digits of the remaining
/// groups are requested.
#[test]
fn no_more_digits_are_requested_of_groups_that_contribute_little() {
    static MOST: AtomicU32 = AtomicU32::new(0);
    let sum = sum(&["1/10000x4@2", "1/79x1998", "238554338/4099x6"]);
    let splits = Split::all(&sum, |rest| Box::new(Recorded(SumEvaluator::new(rest), &MOST)));
    let split = splits.iter().find(|split| split.coarse.groups().len() == 1).unwrap();
    // Twenty steps of the second group above the likeliest loss of the first.
    for epsilon in ["160501.01", "160501.1", "160579.9"] {
        let epsilon = parse(epsilon).unwrap();
        let answer = split.hockey_stick(&epsilon, 8, machine::FINER_LIST, &Session::of_digits(12)).unwrap();
        let magnitude = answer.value.ln().approximate() / std::f64::consts::LN_10;
        assert!(answer.met && (-400.0..-290.0).contains(&magnitude), "{epsilon}: {answer:?}");
        assert!(MOST.load(Relaxed) <= 12, "{MOST:?}");
    }
}

/// Continuous noise beside coarse counts: the remaining groups have a closed form, to any requested number of digits.
#[test]
fn continuous_noise_serves_as_the_remaining_group() {
    let mixed = sum(&["discrete-laplace:3x2", "gaussian:10000x4"]);
    let (split, contour) = (split(&mixed), SumEvaluator::new(mixed.clone()));
    for epsilon in ["0", "2.9", "3", "5.97", "6", "6.1"] {
        let epsilon = parse(epsilon).unwrap();
        let answer = split.hockey_stick(&epsilon, 30, machine::FINER_LIST, &Session::of_digits(12)).unwrap();
        assert!(answer.met, "{epsilon}: {answer:?}");
        let other = contour.by_contour(&epsilon, 6).unwrap();
        assert!(answer.value.overlaps(&other.value), "{epsilon}: {answer:?} {other:?}");
    }
}

#[test]
fn only_groups_that_are_far_apart_are_conditioned_on() {
    let none = |groups: &[&str]| !Split::all(&sum(groups), alone).iter().any(|split| split.apart >= APART);
    assert!(none(&["5x10"]));
    assert!(none(&["5x10", "50x10", "500x10"]));
    // Continuous noise cannot be listed.
    assert!(none(&["gaussian:1/10", "100000"]));
    let three = split(&sum(&["1e9", "discrete-laplace:2x3", "1e6"]));
    assert_eq!(three.coarse.groups().len(), 1);
}
