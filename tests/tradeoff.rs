//! The trade-off function is enclosed everywhere, and agrees with the privacy profile.

use dp_assay::{
    Error,
    account::{Account, Composition, Counts},
    numeric::{Certainty, Enclosure},
};
use rug::Rational;

use crate::common::{Losses, Masses, composition, end, exact, number, two_fold, within};

const DIGITS: u32 = 20;

fn one() -> Enclosure {
    exact(&Rational::from(1))
}

fn f(composition: &Composition, alpha: &Rational) -> Enclosure {
    composition.tradeoff(alpha, DIGITS).unwrap().value
}

fn equal_counts(sigma2: &str, count: u64, shift: u64) -> Composition {
    Composition::new([Counts::discrete_gaussian(number(sigma2), count, shift).unwrap()]).unwrap()
}

/// Compositions with different kinds of trade-off functions: fine and coarse knots, equal and mixed noise, far and near neighbors.
const TEXTS: [&str; 6] = ["5x10", "1x4", "0.2x3", "0.5x3 2x2", "0.4x2@2 1x1@3", "1000x3"];

/// The knot (alpha, beta) of the test that rejects above a loss, and f at its alpha.
#[track_caller]
fn knot_is(composition: &Composition, loss: &Rational, alpha: &Enclosure, beta: &Enclosure) {
    let knot = composition.knot(loss, DIGITS).unwrap();
    assert_eq!(knot.loss, *loss);
    for (got, closed) in [(&knot.alpha, alpha), (&knot.beta, beta)] {
        assert!(got.is_tight(DIGITS) && got.overlaps(closed), "at {loss}: {got:?} against {closed:?}");
    }
    // f decreases, so its values at the two ends of alpha are on both sides of beta.
    let (left, right) = (f(composition, &end(knot.alpha.lower())), f(composition, &end(knot.alpha.upper())));
    assert!(left.hull(&right).overlaps(beta), "f at {loss}: {left:?} {right:?} against {beta:?}");
}

/// Theorem A.7 of Su, Su & Wang: a single count has the knots (P[X > t], P[X <= t - mu]).
#[test]
fn knots_of_a_single_count_are_its_closed_form() {
    for (sigma2, mu) in [("5", 1_u64), ("1", 3), ("0.31", 1), ("0.2", 1), ("40", 2)] {
        let (composition, masses) = (equal_counts(sigma2, 1, mu), Masses::new(&number(sigma2)));
        let reach = (4.0 * number(sigma2).to_f64().sqrt()) as i64 + 1;
        for t in [-reach, -1, 0, 1, 2, reach] {
            // P[X <= t - mu] = P[X >= mu - t]
            let (alpha, beta) = (masses.upper_tail(t + 1), masses.upper_tail(mu as i64 - t));
            let loss = (Rational::from(mu) * t - Rational::from((mu * mu, 2))) / number(sigma2);
            knot_is(&composition, &loss, &alpha, &beta);
        }
    }
}

/// Theorem A.8: two equal counts have the knots (P[Y > t], P[Y <= t - 2 mu]) with Y = X_1 + X_2.
#[test]
fn knots_of_two_equal_counts_are_their_closed_form() {
    for (sigma2, mu) in [("5", 1_u64), ("2", 2), ("0.31", 1), ("0.2", 1)] {
        let (composition, law) = (equal_counts(sigma2, 2, mu), two_fold(&number(sigma2)));
        let reach = (5.0 * number(sigma2).to_f64().sqrt()) as i64 + 1;
        for t in [-reach, -1, 0, 1, 2, reach] {
            let (alpha, beta) = (law.upper_tail(t + 1), law.upper_tail(2 * mu as i64 - t));
            let loss = (Rational::from(mu) * t - mu * mu) / number(sigma2);
            knot_is(&composition, &loss, &alpha, &beta);
        }
    }
}

#[test]
fn knots_of_mixed_counts_agree_with_enumeration() {
    for text in ["3/2x1@2 0.6x1 5/2x1", "0.2x2 1x1", "1/20x1 1/3x2", "4x1@3 1x2"] {
        let (composition, losses) = (composition(text), Losses::new(text));
        let rho = composition.rho().clone();
        for place in [-2, 0, 1, 3] {
            let loss = composition.loss().at_most(&Rational::from(&*rho * place));
            let (above, below) = (composition.loss().above(&loss), losses.lower_tail(&loss));
            knot_is(&composition, &loss, &losses.upper_tail_under_q(&above), &below);
        }
    }
}

/// A grid of type I errors, denser at both ends than in the middle.
fn grid() -> Vec<Rational> {
    let mut alphas: Vec<Rational> = (1..40).map(|k| Rational::from((k, 40))).collect();
    for small in ["1e-2", "1e-3", "1e-5"] {
        alphas.extend([number(small), 1 - number(small)]);
    }
    alphas.sort();
    alphas
}

#[test]
fn it_falls_is_convex_and_stays_below_guessing() {
    for text in TEXTS {
        let composition = composition(text);
        let alphas = grid();
        let values: Vec<Enclosure> =
            composition.tradeoff_curve(&alphas, DIGITS).unwrap().into_iter().map(|answer| answer.value).collect();
        for (alpha, value) in alphas.iter().zip(&values) {
            assert_eq!(value.at_most(&Rational::from(1 - alpha)), Certainty::Yes, "{text} at {alpha}: {value:?}");
            assert!(*value.lower() > 0, "{text} at {alpha}: no test is perfect");
        }
        let mut bends = 0;
        for k in 1..alphas.len() {
            assert_eq!(values[k].below(&values[k - 1]), Certainty::Yes, "{text} falls at {}", alphas[k]);
            let Some(right) = values.get(k + 1) else { break };
            // (a2 - a1) f0 + (a1 - a0) f2 >= (a2 - a0) f1
            let width = |a: usize, b: usize| exact(&Rational::from(&alphas[b] - &alphas[a]));
            let chord = width(k, k + 1).mul(&values[k - 1]).add(&width(k - 1, k).mul(right));
            let middle = width(k - 1, k + 1).mul(&values[k]);
            assert_ne!(chord.below(&middle), Certainty::Yes, "{text} is convex at {}", alphas[k]);
            bends += usize::from(middle.below(&chord) == Certainty::Yes);
        }
        assert!(bends >= 2, "{text} is no straight line: {bends} bends");
    }
}

#[test]
fn it_is_its_own_inverse() {
    for text in TEXTS {
        let composition = composition(text);
        for alpha in ["1e-6", "0.01", "0.2", "0.5", "0.77", "0.95"] {
            let alpha = number(alpha);
            let beta = f(&composition, &alpha);
            // f decreases, so f(f(alpha)) lies between its values at the ends of the enclosure of f(alpha).
            let (top, bottom) = (f(&composition, &end(beta.lower())), f(&composition, &end(beta.upper())));
            let back = bottom.hull(&top);
            assert!(back.contains(&alpha), "{text} at {alpha}: {back:?}");
            // The inverse is steep where the function was flat, and widths grow by that slope at most.
            let slope = one().sub(&exact(&alpha)).div(&beta).upper().to_f64().max(1.0);
            assert!(back.upper().to_f64() - back.lower().to_f64() < 1e-15 * slope, "{text} at {alpha}: {back:?}");
        }
    }
}

/// f(alpha) = sup over eps of the lines 1 - delta(eps) - e^eps alpha and e^-eps (1 - delta(eps) - alpha): every line supports f, and the
/// one with the slope of f at alpha touches it.
#[test]
fn the_profile_supports_it_and_touches_it() {
    for text in TEXTS {
        let composition = composition(text);
        let rho = composition.rho().clone();
        let loss = composition.loss();
        let (mut touched, mut mirrored) = (0, 0);
        let mut epsilons: Vec<Rational> = (0..8).map(|k| Rational::from(&*rho * k) / 2_u32).collect();
        epsilons.extend(
            (0..6).map(|k| loss.at_most(&(Rational::from(&*rho * k) * 3_u32 / 4_u32))).filter(|atom| *atom >= 0),
        );
        let alphas = ["1e-9", "0.003", "0.1", "0.4", "0.8", "0.99"].map(number);
        let values: Vec<Enclosure> =
            composition.tradeoff_curve(&alphas, DIGITS).unwrap().into_iter().map(|answer| answer.value).collect();
        for epsilon in &epsilons {
            let rest = one().sub(&composition.delta(epsilon, DIGITS).unwrap().value);
            let power = exact(epsilon).exp();
            let steep = |alpha: &Rational| rest.sub(&power.mul(&exact(alpha)));
            let flat = |alpha: &Rational| rest.sub(&exact(alpha)).div(&power);
            for (alpha, value) in alphas.iter().zip(&values) {
                for line in [steep(alpha), flat(alpha)] {
                    assert_ne!(value.below(&line), Certainty::Yes, "{text} at {alpha}, {epsilon}: {value:?} {line:?}");
                }
            }
            // At a lattice loss the steep line contains the whole segment of f from Q[L > eps] to Q[L >= eps].
            if loss.at_most(epsilon) == *epsilon {
                let right = composition.knot(&Rational::from(epsilon - loss.step().unwrap()), DIGITS).unwrap();
                let left = composition.knot(epsilon, DIGITS).unwrap();
                let alpha = (end(left.alpha.upper()) + end(right.alpha.lower())) / 2_u32;
                let value = f(&composition, &alpha);
                assert!(value.overlaps(&steep(&alpha)), "{text} touches at {alpha}, {epsilon}");
                touched += 1;
                // The flat line is its mirror image: it contains the segment from beta to beta of the two knots.
                let mirror = end(value.lower());
                if *right.beta.upper() <= mirror && *left.beta.lower() >= mirror {
                    assert!(
                        f(&composition, &mirror).overlaps(&flat(&mirror)),
                        "{text} touches at {mirror}, -{epsilon}"
                    );
                    mirrored += 1;
                }
            }
        }
        assert!(touched >= 5 && mirrored >= 3, "{text}: {touched} segments, {mirrored} mirrored");
    }
}

/// delta(0), the total variation, is the largest distance of f from guessing: 1 - alpha - f(alpha), attained where the slope passes -1.
#[test]
fn the_largest_distance_to_guessing_is_delta_at_zero() {
    for text in TEXTS {
        let composition = composition(text);
        let total_variation = composition.delta(Rational::new(), DIGITS).unwrap().value;
        let knot = composition.knot(&Rational::new(), DIGITS).unwrap();
        let attained = one().sub(&knot.alpha).sub(&knot.beta);
        assert!(attained.overlaps(&total_variation), "{text}: {attained:?} {total_variation:?}");
        assert!(attained.is_tight(15), "{text}: {attained:?}");
        for alpha in grid() {
            let distance = one().sub(&exact(&alpha)).sub(&f(&composition, &alpha));
            assert_ne!(total_variation.below(&distance), Certainty::Yes, "{text} at {alpha}");
        }
    }
}

#[test]
fn two_precisions_overlap_and_the_finer_is_tighter() {
    for text in TEXTS {
        let composition = composition(text);
        for alpha in ["1e-20", "0.02", "0.5", "0.9"] {
            let answers = [10, 30, 60].map(|digits| composition.tradeoff(&number(alpha), digits).unwrap().value);
            for (k, coarse) in answers.iter().enumerate() {
                assert!(answers[k..].iter().all(|fine| fine.overlaps(coarse)), "{text} at {alpha}: {answers:?}");
                assert!(coarse.is_tight([7, 27, 57][k]), "{text} at {alpha}: {coarse:?}");
            }
        }
    }
}

#[test]
fn the_ends_of_the_range_are_exact_or_close() {
    let level = composition("5x10");
    let is = |alpha: &str, value: &str| {
        let got = f(&level, &number(alpha));
        assert!(got.contains(&number(value)) && got.is_tight(20), "{got:?}");
    };
    is("0", "1");
    is("1", "0");
    // A test that hardly ever rejects hardly ever detects, and by symmetry vice versa.
    let far = f(&level, &number("1e-30"));
    let power = one().sub(&far);
    assert!(far.is_tight(DIGITS) && *power.lower() > 0 && power.upper().to_f64() < 1e-19, "{power:?}");
    let near = f(&level, &(1 - number("1e-12")));
    assert!(near.is_tight(7) && near.upper().to_f64() < 1e-16, "{near:?}");
    let back = f(&level, &end(near.lower())).hull(&f(&level, &end(near.upper())));
    assert!(back.contains(&(1 - number("1e-12"))), "{back:?}");
    for alpha in ["-1e-9", "1.000001"] {
        assert!(matches!(level.tradeoff(&number(alpha), 8), Err(Error::OutOfRange { what, .. }) if what == "alpha"));
    }
}

#[test]
fn a_type_i_error_next_to_one_with_few_digits() {
    let alpha = 1 - number("1e-12");
    let got =
        within(10, move || composition("5x10").tradeoff(&alpha, 8)).expect("an answer within ten seconds").unwrap();
    assert!(got.value.upper().to_f64() < 1e-16, "{got:?}");
}
