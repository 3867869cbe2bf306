//! The losses near epsilon, in the order in which the remaining groups are evaluated at them.

use rug::{Float, float::Round};

use super::{
    list::Outlined,
    matter::{ln_of_guess, ln_tenth},
};
use crate::numeric::Enclosure;

/// The losses near epsilon, the one with the largest bound first.
pub(super) struct Ranked {
    /// Each with an upper bound on its term.
    pub(super) near: Vec<(Outlined, Float)>,
    /// Upper bounds on the sum of the last k terms and of all that are left out.
    last: Vec<Float>,
    /// Upper bound on the terms of losses below the floor.
    pub(super) left_out: Float,
}

impl Ranked {
    /// From upper bounds on ln of each term, and ln of the part of the answer that is known, if any.
    pub(super) fn new(mut near: Vec<(f64, Outlined)>, ln_known: f64, (digits, reach): (u32, u32)) -> Self {
        let largest = near.iter().map(|(ln, _)| *ln).fold(f64::NEG_INFINITY, f64::max);
        let floor =
            if ln_known.is_finite() { ln_known - ln_tenth(digits + 4) } else { largest - ln_of_guess(digits, reach) };
        let count = near.len();
        // All dropped losses are proven to be below the floor: a bound that cannot be compared with it, a NaN, is kept.
        let dropped_from = floor - libm::log(count as f64);
        near.retain(|(ln, _)| ln.is_nan() || dropped_from.is_nan() || *ln > dropped_from);
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        // A NaN has no bound but 1.
        let bound = |ln: f64| {
            if ln.is_nan() { Float::with_val(64, 1) } else { Enclosure::double(ln, 64).exp().upper().clone() }
        };
        let left_out = if count > near.len() { bound(floor + 1e-9 * (1.0 + floor.abs())) } else { Float::new(64) };
        let near: Vec<(Outlined, Float)> = near.into_iter().map(|(ln, loss)| (loss, bound(ln))).collect();
        let mut last = vec![left_out.clone()];
        for (_, most) in near.iter().rev() {
            let sum = Float::with_val_round(64, &last[last.len() - 1] + most, Round::Up).0;
            last.push(sum);
        }
        Ranked { near, last, left_out }
    }

    /// Upper bound on all terms but the first ones.
    pub(super) fn remaining(&self, evaluated: usize) -> &Float {
        &self.last[self.near.len() - evaluated]
    }
}
