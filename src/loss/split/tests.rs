use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::*;
use crate::{
    loss::{atoms::Atoms, evaluator::SumEvaluator, law::Law},
    numeric::rational::parse,
};

pub(super) fn sum(list: &[(char, &str, u64, u64)]) -> LossSum {
    let group = |&(law, parameter, shift, copies): &(char, &str, u64, u64)| {
        let parameter = parse(parameter).unwrap();
        let law = match law {
            'd' => Law::DiscreteGaussian { sigma2: parameter },
            'c' => Law::Gaussian { sigma2: parameter },
            _ => Law::DiscreteLaplace { epsilon: parameter },
        };
        Group { law, shift, copies }
    };
    LossSum::new(list.iter().map(group)).unwrap()
}

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
        vec![('l', "3.21", 1, 4), ('d', "2000", 1, 1)],
        vec![('l', "3.21", 2, 2), ('d', "2000.3", 1, 3), ('d', "30001/7", 2, 1)],
        vec![('d', "1/20", 1, 3), ('d', "700", 1, 2)],
        vec![('d', "0.02", 2, 1), ('d', "5/4", 1, 2), ('d', "4099", 3, 1)],
        vec![('l', "4", 1, 2), ('l', "1/100", 3, 2)],
        vec![('l', "4", 1, 2), ('d', "40000", 1, 1), ('l', "1/100", 3, 2)],
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
                let answer = split.hockey_stick(&epsilon, digits, machine::FINER_LIST, &Session::of(12)).unwrap();
                assert!(answer.value.overlaps(&listed.value), "{groups:?} {epsilon}: {answer:?} {listed:?}");
                assert!(answer.met && answer.value.is_tight(digits), "{groups:?} {epsilon} {digits}: {answer:?}");
                asked += answer.proof.count("evaluated").unwrap();
                // The complement is as precise, too.
                let one = Enclosure::double(1.0, answer.value.lower().prec());
                let rest = one.sub(&answer.value);
                assert!(*rest.upper() > 0.5 || rest.is_tight(digits), "{groups:?} {epsilon}: {answer:?}");
                let exact = listed.value.ln().approximate();
                if let Some(ln) = split
                    .ln_hockey_stick_approx(&epsilon, machine::FINER_LIST, &Session::of(12))
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
        vec![('l', "11", 1, 9), ('d', "1/3", 2, 7), ('d', "15.283", 1, 3), ('d', "190000", 1, 2)],
        vec![('l', "3", 1, 20), ('l', "2", 1, 30), ('d', "4099", 1, 3)],
        vec![('d', "1/7", 1, 4), ('l', "1/9", 1, 5), ('d', "90001/4", 2, 1)],
    ] {
        let sum = sum(&groups);
        let (splits, atoms) = (Split::all(&sum, alone), Atoms::within(&sum, 1e9).unwrap());
        for (split, epsilon) in splits.iter().flat_map(|split| ["0.3", "7.9", "22.01", "60"].map(|at| (split, at))) {
            let epsilon = parse(epsilon).unwrap();
            assert!(split.seconds(&epsilon, 12).is_some());
            let (answer, listed) = (
                split.hockey_stick(&epsilon, 12, machine::FINER_LIST, &Session::of(12)).unwrap(),
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
    let sum = sum(&[('d', "1/10000", 2, 4), ('d', "1/79", 1, 1998), ('d', "238554338/4099", 1, 6)]);
    let splits = Split::all(&sum, |rest| Box::new(Recorded(SumEvaluator::new(rest), &MOST)));
    let split = splits.iter().find(|split| split.coarse.groups().len() == 1).unwrap();
    // Twenty steps of the second group above the likeliest loss of the first.
    for epsilon in ["160501.01", "160501.1", "160579.9"] {
        let epsilon = parse(epsilon).unwrap();
        let answer = split.hockey_stick(&epsilon, 8, machine::FINER_LIST, &Session::of(12)).unwrap();
        let magnitude = answer.value.ln().approximate() / std::f64::consts::LN_10;
        assert!(answer.met && (-400.0..-290.0).contains(&magnitude), "{epsilon}: {answer:?}");
        assert!(MOST.load(Relaxed) <= 12, "{MOST:?}");
    }
}

/// Continuous noise beside coarse counts: the remaining groups have a closed form, to any requested number of digits.
#[test]
fn continuous_noise_serves_as_the_remaining_group() {
    let mixed = sum(&[('l', "3", 1, 2), ('c', "10000", 1, 4)]);
    let (split, contour) = (split(&mixed), SumEvaluator::new(mixed.clone()));
    for epsilon in ["0", "2.9", "3", "5.97", "6", "6.1"] {
        let epsilon = parse(epsilon).unwrap();
        let answer = split.hockey_stick(&epsilon, 30, machine::FINER_LIST, &Session::of(12)).unwrap();
        assert!(answer.met, "{epsilon}: {answer:?}");
        let other = contour.by_contour(&epsilon, 6).unwrap();
        assert!(answer.value.overlaps(&other.value), "{epsilon}: {answer:?} {other:?}");
    }
}

#[test]
fn only_groups_that_are_far_apart_are_conditioned_on() {
    let none =
        |groups: &[(char, &str, u64, u64)]| !Split::all(&sum(groups), alone).iter().any(|split| split.apart >= APART);
    assert!(none(&[('d', "5", 1, 10)]));
    assert!(none(&[('d', "5", 1, 10), ('d', "50", 1, 10), ('d', "500", 1, 10)]));
    // Continuous noise cannot be listed.
    assert!(none(&[('c', "1/10", 1, 1), ('d', "100000", 1, 1)]));
    let three = split(&sum(&[('d', "1e9", 1, 1), ('l', "2", 1, 3), ('d', "1e6", 1, 1)]));
    assert_eq!(three.coarse.groups().len(), 1);
}
