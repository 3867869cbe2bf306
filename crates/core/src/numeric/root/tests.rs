use std::cell::Cell;

use rug::Float;

use super::*;
use super::{
    newton::OF_DOUBLES,
    search::{FEW_DIGITS, search},
};
use crate::{error::Error, numeric::precision};

/// exp(-x), with only the integer part of its logarithm known, or nothing at all: the root is still enclosed.
#[test]
fn a_function_known_to_no_digit_has_a_wide_root() {
    let unknown = || Error::Unsweepable { step: "0".into(), needed: "1".into(), budget: "0".into() };
    for (target, known) in [("1e-3", true), ("1e-12", true), ("1/2", true), ("1e-3", false)] {
        let enclose = |x: &Rational, _| match known {
            true => {
                let whole = x.to_f64().floor();
                Ok(Enclosure::double(-whole - 1.0, 80).exp().hull(&Enclosure::double(-whole, 80).exp()))
            }
            false => Err(unknown()),
        };
        let f = Decreasing { ln_approx: |_: &Rational| Err(unknown()), enclose };
        let target = rational::parse(target).unwrap();
        let root = decreasing_root(&f, &target, 40.0, 12).unwrap();
        let truth = Enclosure::rational(&target, 80).ln().negate();
        assert!(root.value.overlaps(&truth) && !root.met, "{root:?}");
        let width = root.value.upper().to_f64() - root.value.lower().to_f64();
        assert!(width < if known { 6.0 } else { 41.0 }, "{target}: {root:?}");
    }
}

/// exp(-x), with its logarithm in doubles known to a few digits too few: when the proof fails, the values at its two ends locate the root,
/// so these are the only wasted evaluations.
#[test]
fn a_failed_proof_locates_the_root() {
    for (off, most) in [(2e-12, 4), (1e-7, 5)] {
        let evaluations = Cell::new(0);
        let enclose = |x: &Rational, digits: u32| {
            evaluations.set(evaluations.get() + 1);
            Ok(Enclosure::rational(&Rational::from(-x), precision::bits(digits, 60)).exp())
        };
        let f = Decreasing { ln_approx: |x: &Rational| Ok(-x.to_f64() * (1.0 + off)), enclose };
        let target = Rational::from((1, 1000));
        let root = decreasing_root(&f, &target, 40.0, 12).unwrap();
        let truth = Enclosure::rational(&target, 200).ln().negate();
        assert!(root.met && root.value.is_tight(12) && root.value.overlaps(&truth), "{off}: {root:?}");
        assert!(evaluations.get() <= most, "{off}: {} evaluations", evaluations.get());
    }
}

/// 1 - exp(x - 4) up to 4, then zero: for a small target the root is close to the end, and there is no slope to its right.
#[test]
fn a_root_next_to_the_end_of_the_support() {
    let falls = |x: &Rational, bits: u32| Enclosure::rational(&Rational::from(x - 4), bits).exp_m1().negate();
    let f = Decreasing {
        ln_approx: |x: &Rational| Ok(if *x < 4 { falls(x, 64).ln().approximate() } else { f64::NEG_INFINITY }),
        enclose: |x: &Rational, digits: u32| {
            Ok(if *x < 4 { falls(x, precision::bits(digits, 60)) } else { Enclosure::double(0.0, 64) })
        },
    };
    for digits in [6, 12, 20, 40] {
        let target = Rational::from((1, 10_000_000_000_u64));
        let root = decreasing_root(&f, &target, 9.0, digits).unwrap();
        let truth = Enclosure::rational(&(1 - target), 300).ln().add(&Enclosure::double(4.0, 300));
        assert!(root.met && root.value.is_tight(digits) && root.value.overlaps(&truth), "{digits}: {root:?}");
    }
}

/// A staircase with steps 110 apart, each with an edge of width 0.07, and the root on an edge: no slope between steps is that of the edge.
#[test]
fn a_root_on_the_short_edge_of_a_staircase() {
    // ln f = -100 k - 50 (1 + tanh((x - 110 k - 55) / 0.07)), with k the number of the step at x.
    let ln_f = |x: &Rational, bits: u32| {
        let k = Rational::from(x / 110_u32).floor().to_f64();
        let at = (x - rational::from_f64(110.0 * k + 55.0).unwrap()) * 200_u32 / 7_u32;
        // (1 + tanh(u)) / 2 = 1 / (1 + exp(-2 u))
        let one = Enclosure::double(1.0, bits);
        let share = one.div(&one.add(&Enclosure::rational(&at, bits).negate().exp()));
        Enclosure::double(-100.0 * k, bits).sub(&share.mul(&Enclosure::double(100.0, bits)))
    };
    let f = Decreasing {
        ln_approx: |x: &Rational| Ok(ln_f(x, 64).approximate()),
        enclose: |x: &Rational, digits: u32| Ok(ln_f(x, precision::bits(digits, 60)).exp()),
    };
    for (k, depth) in [(0, 30), (3, 77), (1500, 5)] {
        // A rational next to exp(-100 k - depth).
        let target = Float::with_val(200, -100 * k - depth).exp().to_rational().unwrap();
        for digits in [6, 12, 30] {
            let root = decreasing_root(&f, &target, 170_000.0, digits).unwrap();
            assert!(root.met && root.value.is_tight(digits), "{k} {digits}: {root:?}");
            let (lower, upper) = (root.value.lower_rational().unwrap(), root.value.upper_rational().unwrap());
            assert!(*ln_f(&lower, 300).exp().upper() >= target && *ln_f(&upper, 300).exp().lower() <= target);
        }
    }
}

/// A slope measured during the search replaces the one from a distance: Newton steps by the latter would diverge, and bisection needs an
/// evaluation for each bit. No evaluation is far from the root.
#[test]
fn next_to_a_kink_a_root_to_many_digits_takes_few_evaluations() {
    // ln f falls by 5 per unit of x up to 1000 and by 12 beyond; the root is 10^-4 beyond this kink.
    let ln_f = |x: &Rational, bits: u32| {
        let beyond = Rational::from(x - 1000_u32);
        let steep = if beyond > 0 { Rational::from(&beyond * 7_u32) } else { Rational::new() };
        Enclosure::rational(&(-(beyond * 5_u32) - steep - 20_u32), bits)
    };
    let target = Float::with_val(300, -20.0012).exp().to_rational().unwrap();
    for digits in [12, 30, 60] {
        let (evaluations, farthest) = (std::cell::Cell::new(0), std::cell::Cell::new(0.0_f64));
        let enclose = |x: &Rational, digits: u32| {
            evaluations.set(evaluations.get() + 1);
            farthest.set(farthest.get().max((x.to_f64() - 1000.0).abs()));
            Ok(ln_f(x, precision::bits(digits, 60)).exp())
        };
        let f = Decreasing { ln_approx: |x: &Rational| Ok(ln_f(x, 64).approximate()), enclose };
        let root = decreasing_root(&f, &target, 5000.0, digits).unwrap();
        assert!(root.met && root.value.is_tight(digits), "{digits}: {root:?}");
        assert!(evaluations.get() < 20 && farthest.get() < 1.0, "{digits}: {evaluations:?} {farthest:?}");
    }
}

/// Values in doubles have errors of a few units in the last place. The search ends when only these remain.
#[test]
fn the_search_evaluates_a_noisy_function_a_few_times_only() {
    for (target, ceiling) in [(-23.0, 60.0), (-3.0, 9.0), (-700.0, 50.0), (-1e-3, 4.0)] {
        let evaluations = std::cell::Cell::new(0);
        let noisy = |x: &Rational| {
            evaluations.set(evaluations.get() + 1);
            let x = x.to_f64();
            let noise = 1.0 + 1e-14 * (x * 1e9).sin();
            Ok(-(x + x * x / 2.0) * noise)
        };
        let (root, slope) = search(&noisy, target, ceiling, None, OF_DOUBLES).unwrap();
        assert!(slope.is_none_or(|slope| (slope / -(1.0 + root) - 1.0).abs() < 1e-3), "{target}: {slope:?}");
        let truth = (1.0 - 2.0 * target).sqrt() - 1.0;
        assert!((root / truth - 1.0).abs() < 1e-13, "{target}: {root} {truth}");
        assert!(evaluations.get() < 16, "{target}: {}", evaluations.get());
    }
}

/// Approximations with oscillating errors of a few nats: certified values to a few digits replace them, and all digits are only requested
/// close to the root.
#[test]
fn certified_values_to_a_few_digits_replace_wrong_doubles() {
    let ln_f = |x: &Rational, bits: u32| Enclosure::rational(&(-x.clone().square() / 200_u32), bits);
    let target = Float::with_val(300, -115.1).exp().to_rational().unwrap();
    let truth = (2.0 * 100.0 * 115.1_f64).sqrt();
    for digits in [12, 40] {
        let (few, many, farthest) = (Cell::new(0), Cell::new(0), Cell::new(0.0_f64));
        let enclose = |x: &Rational, digits: u32| {
            if digits <= FEW_DIGITS {
                few.set(few.get() + 1);
            } else {
                many.set(many.get() + 1);
                farthest.set(farthest.get().max((x.to_f64() - truth).abs()));
            }
            Ok(ln_f(x, precision::bits(digits, 60)).exp())
        };
        let wrong = |x: &Rational| Ok(ln_f(x, 64).approximate() + 3.0 + (x.to_f64() * 40.0).sin());
        let f = Decreasing { ln_approx: wrong, enclose };
        let hints = Hints { around: Some((140.0, 3.0)), within: None };
        let root = decreasing_root_with(&f, &target, 900.0, hints, digits).unwrap();
        let (lower, upper) = (root.value.lower_rational().unwrap(), root.value.upper_rational().unwrap());
        assert!(root.met && root.value.is_tight(digits), "{digits}: {root:?}");
        assert!(*ln_f(&lower, 300).exp().upper() >= target && *ln_f(&upper, 300).exp().lower() <= target);
        assert!(few.get() < 20 && many.get() < 12 && farthest.get() < 1e-2, "{few:?} {many:?} {farthest:?}");
    }
}
