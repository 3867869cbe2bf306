//! The second enclosure against the engines and against closed forms in intervals.

use super::{
    between::{Between, WIDENING},
    moments::widening,
    normal::{ln_upper_tail, profile, quantile},
    *,
};
use crate::{
    loss::{gaussian, testing::sum},
    numeric::rational::{self, parse},
};

fn sums() -> Vec<Vec<&'static str>> {
    vec![
        vec!["5x10"],
        vec!["500/73x10", "2500/137x6@2"],
        vec!["500x1000", "gaussian:3x2"],
        vec!["1/5x3"],
        vec!["1/20@2", "7x5"],
        vec!["discrete-laplace:1/2x3@2"],
        vec!["discrete-laplace:1", "discrete-laplace:1/3"],
        vec!["discrete-laplace:1/10x40@3", "9x4"],
        vec!["gaussian:4"],
    ]
}

/// Closed forms of the moment generating function against those in balls, at tilts of both signs.
#[test]
fn moments_are_those_of_the_loss() {
    for groups in sums() {
        let sum = sum(&groups);
        let moments = Moments::new(&sum).unwrap();
        for s in [-7.25, -1.0, -0.5, -0.3, 0.0, 0.001, 0.5, 1.0, 3.7, 40.0] {
            let Between { lower, upper } = moments.ln_mgf(s);
            let truth = sum.ln_mgf(&rational::from_f64(s).unwrap(), 120);
            assert!(Float::with_val(120, lower) <= *truth.upper() && *truth.lower() <= upper, "{groups:?} {s}");
            assert!(upper - lower < 0.03 * (1.0 + upper.abs()), "{groups:?} {s}: {lower} {upper}");
        }
    }
}

/// The law of continuous noise tilted by c is normal of mean rho (1 + 2 c) and variance 2 rho: no window claims more of it than it has.
#[test]
fn windows_hold_their_probability() {
    let rho = 2.5_f64;
    let sum = sum(&["gaussian:1x5"]);
    let moments = Moments::new(&sum).unwrap();
    let deviation = (2.0 * rho).sqrt();
    let mut found = 0;
    for c in [0.0, 1e-9, 0.5, 3.0, 40.0, 1e3, 1e5] {
        for kappa in [1.2, 2.5, 6.0] {
            let Some(window) = moments.window(c, kappa) else { continue };
            let mean = rho * (1.0 + 2.0 * c);
            let outside = |x: f64| ln_upper_tail(x / deviation).exp();
            let truth = 1.0 - outside(window.to - mean) - outside(mean - window.from);
            let claimed = window.ln_probability.exp();
            assert!(claimed <= truth * (1.0 + 1e-9), "{c} {kappa}: {claimed} {truth}");
            found += usize::from(claimed > 0.3);
        }
    }
    assert!(found >= 15, "{found}");
}

/// Sums over many groups have more roundings.
#[test]
fn many_groups_widen_the_bounds() {
    assert!(widening(1e6) > 1e-9 && widening(3.0) < 1.01 * WIDENING);
    let groups: Vec<String> = (100..400).map(|scale| format!("discrete-laplace:1/{scale}")).collect();
    let sum = sum(&groups);
    let moments = Moments::new(&sum).unwrap();
    for s in [-0.7, 0.3, 11.0] {
        let Between { lower, upper } = moments.ln_mgf(s);
        let truth = sum.ln_mgf(&rational::from_f64(s).unwrap(), 120);
        assert!(Float::with_val(120, lower) <= *truth.upper() && *truth.lower() <= upper, "{s}");
    }
}

/// Nothing is said of noise whose sizes leave the range of doubles, and Gaussian noise of any size has losses above every epsilon.
#[test]
fn parameters_out_of_range_say_nothing() {
    for law in ["1e-70", "1e70", "gaussian:1e400", "discrete-laplace:1e-70"] {
        let second = Second::new(&sum(&[law, "2"]));
        let value = second.hockey_stick(&parse("1").unwrap()).unwrap();
        assert!(value.by == Means::Nothing && value.note.is_some() && value.value.doubles() == (0.0, 1.0), "{law}");
        assert_eq!(second.tradeoff(&parse("1/4").unwrap()).unwrap().by, Means::Nothing);
    }
    let second = Second::new(&sum(&["1e59"]));
    assert!(*second.hockey_stick(&parse("1e-40").unwrap()).unwrap().value.upper() > 1e-31);
}

/// The second enclosure holds what the engines certify, and says something.
#[test]
fn both_enclosures_overlap() {
    for groups in sums() {
        let sum = sum(&groups);
        let (second, evaluator) = (Second::new(&sum), sum.evaluator());
        let mut known = 0;
        for epsilon in ["0", "0.4", "1.3", "2.9", "8", "20"] {
            let epsilon = parse(epsilon).unwrap();
            let first = evaluator.hockey_stick(&epsilon, 10).unwrap().value;
            let value = second.hockey_stick(&epsilon).unwrap().value;
            assert!(value.overlaps(&first), "{groups:?} {epsilon}: {value:?} {first:?}");
            known += usize::from(*value.lower() > 0 && (*value.upper() < 1 || *first.lower() > 0.5));
        }
        assert!(known >= 2, "{groups:?}: {known}");
    }
}

/// The closed forms in doubles against those in intervals: a profile on both sides of rho and of zero, and tails.
#[test]
fn closed_forms_in_doubles_hold_those_in_intervals() {
    for rho in [1e-6, 0.01, 1.0, 7.0, 300.0, 1e6] {
        for place in [-3.0, -0.5, 0.0, 0.3, 1.0, 4.0, 20.0] {
            let epsilon: f64 = rho + place * (2.0_f64 * rho).sqrt();
            let exact = |x: f64| rational::from_f64(x).unwrap();
            let truth = gaussian::hockey_stick(&exact(rho), &exact(epsilon), 15);
            let Between { lower, upper } = profile(rho, epsilon);
            assert!(*truth.upper() >= lower && *truth.lower() <= upper, "{rho} {epsilon}: {truth} {lower} {upper}");
            assert!(rho < 0.01 || upper < 1e-60 || upper / lower < 1.0 + 1e-6, "{rho} {epsilon}: {lower} {upper}");
        }
    }
    for x in [-9.0, -2.6, -2.4, -1e-9, 0.0, 0.7, 2.4999, 2.5, 6.0, 35.0, 1e4] {
        let root = Enclosure::double(2.0, 120).sqrt();
        let truth = Enclosure::double(x, 120).div(&root).erfc().div(&Enclosure::double(2.0, 120)).ln().approximate();
        assert!((ln_upper_tail(x) - truth).abs() <= 1e-13 * (1.0 + truth.abs()), "{x}: {truth}");
    }
    let ln = 0.05_f64.ln();
    let (below, above) = (quantile(ln, true), quantile(ln, false));
    assert!(below <= 1.644_853_626_951_472_8 && 1.644_853_626_951_472 <= above && above - below < 1e-9);
}

/// Where all noise is Gaussian and not small, a comparison gives delta to a percent or so.
#[test]
fn a_comparison_is_sharp() {
    for (groups, epsilon, share) in [
        (vec!["500x80"], "1.1", 0.05),
        (vec!["60x40", "3000x40"], "1.1", 0.3),
        (vec!["1000000x5@3", "gaussian:100000@2"], "0.02", 0.05),
    ] {
        let sum = sum(&groups);
        let second = Second::new(&sum).hockey_stick(&parse(epsilon).unwrap()).unwrap();
        let (lower, upper) = second.value.doubles();
        assert!(lower > 0.0 && upper / lower < 1.0 + share, "{groups:?}: {lower} {upper}");
        let first = sum.evaluator().hockey_stick(&parse(epsilon).unwrap(), 10).unwrap();
        assert!(second.value.overlaps(&first.value));
    }
}

/// The trade-off function, by enumeration through the engine of atoms and by what a second enclosure says.
#[test]
fn trade_off_functions_overlap() {
    for groups in sums() {
        let sum = sum(&groups);
        let second = Second::new(&sum);
        let evaluator = sum.evaluator();
        for alpha in ["1e-9", "0.001", "0.05", "0.4", "0.9"] {
            let alpha = parse(alpha).unwrap();
            let Some(first) = evaluator.tradeoff(&alpha, 10, false).unwrap() else { continue };
            let value = second.tradeoff(&alpha).unwrap().value;
            assert!(value.overlaps(&first.value), "{groups:?} {alpha}: {value:?} {first:?}");
        }
    }
}

/// A type II error below every double: that of one count of epsilon 1000 at alpha = 1/2.
#[test]
fn what_is_below_every_double_is_not_zero() {
    let sum = sum(&["discrete-laplace:1000"]);
    let alpha = parse("1/2").unwrap();
    let first = sum.evaluator().tradeoff(&alpha, 12, false).unwrap().unwrap().value;
    let second = Second::new(&sum).tradeoff(&alpha).unwrap().value;
    assert!(*first.lower() > 0 && second.overlaps(&first), "{first} {second}");
}

/// The false values that once were certified are excluded, and their true ones are not.
#[test]
fn false_values_are_excluded() {
    let tiny = ["0.0012345678901234567", "0.0023456789012345671", "0.0034567890123456789"];
    let cases = [
        (tiny.to_vec(), "760.8008", "0.864666356207062", "3.4551e-12"),
        (
            vec!["discrete-laplace:1", "discrete-laplace:0.3333333333333333333333333333"],
            "1.333332",
            "5.67856884213364e-7",
            "2.9461e-10",
        ),
    ];
    for (groups, epsilon, truth, wrong) in cases {
        let sum = sum(&groups);
        let epsilon = parse(epsilon).unwrap();
        let second = Second::new(&sum).hockey_stick(&epsilon).unwrap();
        let at = |text: &str| Enclosure::rational(&parse(text).unwrap(), 40);
        assert!(second.value.overlaps(&at(truth)) && !second.value.overlaps(&at(wrong)), "{:?}", second.value);
        assert!(second.confirms(&at(wrong), "a test").is_err());
        let first = sum.evaluator().hockey_stick(&epsilon, 12).unwrap();
        assert!(first.met && first.value.overlaps(&Enclosure::rational(&parse(truth).unwrap(), 46)), "{first:?}");
    }
}

/// Extreme parameters say little, but nothing false, and never a NaN.
#[test]
fn extremes_say_nothing_false() {
    for groups in [
        vec!["1/10000x1000000000000@1000"],
        vec!["1000000000000000000"],
        vec!["discrete-laplace:1/1000000000x1000000000@1000"],
        vec!["discrete-laplace:1000000x1000@1000", "1/1000000x5"],
        vec!["discrete-laplace:1000"],
        vec!["0.29x1000000000000"],
    ] {
        let sum = sum(&groups);
        let second = Second::new(&sum);
        for epsilon in ["0", "1e-300", "1", "1e9", "1724140000000", "1e300"] {
            let value = second.hockey_stick(&parse(epsilon).unwrap()).unwrap().value;
            assert!(
                *value.lower() >= 0 && value.lower() <= value.upper() && *value.upper() <= 1,
                "{groups:?} {epsilon}: {value:?}"
            );
        }
        for alpha in ["1e-400", "1e-9", "0.5", "0.999999999999999999999"] {
            let value = second.tradeoff(&parse(alpha).unwrap()).unwrap().value;
            assert!(
                *value.lower() >= 0 && value.lower() <= value.upper() && *value.upper() <= 1,
                "{groups:?} {alpha}: {value:?}"
            );
        }
    }
}
