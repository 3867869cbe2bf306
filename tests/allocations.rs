//! Any allocation: discrete Laplace noise, mixtures and lattices that are too fine to sum over, compared with independent methods.

use dp_assay::{
    account::{Account, Composition, Counts},
    loss::{convolve::Masses, theta},
    numeric::Enclosure,
};
use rug::Rational;

use crate::common::{composition, number};

/// The contour against convolution, at epsilons below, on and above the atoms.
fn agrees_with_convolution(text: &str, epsilons: &[&str]) {
    let composition = composition(text);
    let masses = Masses::new(composition.loss(), 260).expect("a short convolution");
    for epsilon in epsilons {
        let epsilon = number(epsilon);
        let contour = composition.delta(&epsilon, 20).expect("an answer");
        let convolved = masses.hockey_stick(&epsilon);
        assert!(contour.met && contour.value.overlaps(&convolved), "{epsilon}: {contour:?} {convolved:?}");
        assert!(convolved.is_tight(15) || *contour.value.upper() == 0, "{epsilon}: {convolved:?}");
    }
}

#[test]
fn discrete_laplace_agrees_with_convolution() {
    agrees_with_convolution("discrete-laplace:0.1x100", &["0", "0.05", "1", "3", "9.9", "10", "11"]);
    agrees_with_convolution("discrete-laplace:0.3x4@3", &["0", "0.3", "1.25", "3.5", "3.6"]);
    agrees_with_convolution("discrete-laplace:1/3x5 discrete-laplace:1/4x7@2", &["0.1", "1", "4.9", "5.1"]);
    agrees_with_convolution("discrete-laplace:5x2", &["0", "4", "9.99", "10"]);
}

/// If only the largest loss counts, there is no saddle point: n counts, all at their largest loss e, have the mass (exp(e) / (1 +
/// exp(e)))^n. The result must not depend on whether e rounds up or down as a double.
#[test]
fn the_result_does_not_depend_on_the_rounding_of_the_largest_loss() {
    for (e, count) in [("0.507", 9), ("0.51", 9), ("4.569017302/9", 9), ("1/3", 7), ("0.1234567", 63), ("3.01", 2)] {
        let composition = composition(&format!("discrete-laplace:{e}x{count}"));
        let e = number(e);
        for below in ["1/4", "1", "1/1000000"] {
            let epsilon = &e * (count - number(below));
            let exp = |x: &Rational| Enclosure::rational(x, 200).exp();
            let mass = exp(&e).div(&exp(&e).add(&Enclosure::double(1.0, 200)));
            let all = (1..count).fold(mass.clone(), |product, _| product.mul(&mass));
            let closed = all.mul(&Enclosure::double(1.0, 200).sub(&exp(&(-(&e * number(below))))));
            let delta = composition.delta(&epsilon, 15).expect("an answer");
            assert!(delta.met && delta.value.overlaps(&closed), "{e} {below}: {:?} {closed:?}", delta.value);
        }
        let whole = composition.epsilon(number("1e-30"), 12).expect("an answer");
        assert!(whole.met && *whole.value.lower() > e.to_f64() * f64::from(count) * 0.999, "{:?}", whole.value);
    }
}

#[test]
fn mixtures_agree_with_convolution() {
    agrees_with_convolution("discrete-laplace:0.1x10 5x10", &["0", "1.05", "5", "12"]);
    agrees_with_convolution("discrete-laplace:2x1@2 0.5x3 1x2@2", &["0.5", "6", "20"]);
}

/// One count with noise of parameter e and shift 1: delta = (exp(e) - exp(eps)) / (1 + exp(e)) for eps <= e, else 0.
#[test]
fn one_laplace_count_has_its_closed_form() {
    let one = composition("discrete-laplace:1/2");
    for epsilon in ["0", "0.25", "0.499"] {
        let epsilon = number(epsilon);
        let exp = |x: &Rational| Enclosure::rational(x, 150).exp();
        let e = exp(&number("1/2"));
        let closed = e.sub(&exp(&epsilon)).div(&e.add(&Enclosure::double(1.0, 150)));
        let delta = one.delta(&epsilon, 30).expect("an answer").value;
        assert!(delta.overlaps(&closed) && delta.is_tight(30), "{delta:?} {closed:?}");
    }
    let beyond = one.delta(number("0.5"), 12).expect("an answer").value;
    assert!(*beyond.upper() == 0);
    assert_eq!(one.pure_epsilon(), Some(number("0.5")));
    // Its zCDP budget by its pure epsilon e is e^2 / 2.
    assert_eq!(*one.rho(), number("1/8"));
}

/// The Renyi divergence of order alpha at shift 1 is ln((exp(alpha e) + exp((1 - alpha) e)) / (1 + exp(e))) / (alpha - 1). The published
/// Lemma 8 of the SafeTab proposal has an integral instead of the sum, and is smaller than the true value.
#[test]
fn the_renyi_divergence_is_the_sum_and_not_the_integral() {
    let e = number("0.7");
    let one = composition("discrete-laplace:0.7");
    let real = |x: &Rational| Enclosure::rational(x, 200);
    for alpha in ["1.5", "2", "10"] {
        let alpha = number(alpha);
        let s = Rational::from(&alpha - 1_u32);
        let up = real(&Rational::from(&alpha * &e)).exp();
        let down = real(&-Rational::from(&s * &e)).exp();
        let closed = up.add(&down).div(&Enclosure::double(1.0, 200).add(&real(&e).exp())).ln();
        let ours = one.loss().ln_mgf(&s, 120);
        assert!(ours.overlaps(&closed) && ours.is_tight(25), "{alpha} {ours:?} {closed:?}");
        // The continuous Laplace of scale 1 / e: (alpha / (2 alpha - 1)) exp(s e) + (s / (2 alpha - 1)) exp(-alpha e).
        let double = Rational::from(&alpha * 2_u32) - 1_u32;
        let integral = real(&Rational::from(&alpha / &double))
            .mul(&real(&Rational::from(&s * &e)).exp())
            .add(&real(&Rational::from(&s / &double)).mul(&real(&-Rational::from(&alpha * &e)).exp()))
            .ln();
        assert!(integral.upper() < ours.lower(), "{alpha}");
    }
}

/// Three counts whose lattice is too fine to sum over, against the sum over all outcomes.
#[test]
fn incommensurate_counts_agree_with_enumeration() {
    const BITS: u32 = 120;
    let sigma2 = ["1.0000019", "1.3000007", "0.9100003"].map(number);
    let counts = sigma2.iter().map(|s| Counts::discrete_gaussian(s.clone(), 1, 1).expect("counts"));
    let composition = Composition::new(counts).expect("a composition");
    let reach = 13_i64;
    let real = |x: &Rational| Enclosure::rational(x, BITS);
    let masses = |s: &Rational| -> Vec<(Rational, Enclosure)> {
        let total = theta::gaussian_sum(s, BITS);
        let one = |x: i64| {
            let mass = real(&(-Rational::from(x * x) / Rational::from(s * 2_u32))).exp().div(&total);
            ((Rational::from(2 * x + 1)) / Rational::from(s * 2_u32), mass)
        };
        (-reach..=reach).map(one).collect()
    };
    let [a, b, c] = sigma2.each_ref().map(masses);
    for epsilon in ["0.7", "4"] {
        let epsilon = number(epsilon);
        let mut sum = Enclosure::double(0.0, BITS);
        for (l, p) in &a {
            for (m, q) in &b {
                let (lm, pq) = (Rational::from(l + m), p.mul(q));
                for (n, r) in &c {
                    let loss = Rational::from(&lm + n);
                    if loss > epsilon {
                        let gain = real(&Rational::from(&epsilon - &loss)).exp_m1().negate();
                        sum = sum.add(&pq.mul(r).mul(&gain));
                    }
                }
            }
        }
        // The mass beyond the reach is below 6 exp(-13^2 / 2.6) < 10^-27.
        let sum = sum.hull(&sum.add(&Enclosure::double(1e-27, BITS)));
        let answer = composition.delta(&epsilon, 8).expect("an answer");
        assert!(answer.value.overlaps(&sum), "{epsilon}: {answer:?} {sum:?}");
        assert!(answer.value.is_tight(2), "{epsilon}: {answer:?}");
        assert_eq!(answer.met, answer.value.is_tight(8));
    }
}

/// An additional query never lowers delta.
#[test]
fn a_further_query_never_lowers_delta() {
    let base = composition("5x10 discrete-laplace:0.1x3");
    let more = base.compose(&composition("40/3")).expect("a composition");
    for epsilon in ["0", "1", "6", "15"] {
        let epsilon = number(epsilon);
        let (less, more) = (base.delta(&epsilon, 12).expect("an answer"), more.delta(&epsilon, 12).expect("an answer"));
        assert!(less.value.lower() <= more.value.upper(), "{epsilon}");
    }
}
