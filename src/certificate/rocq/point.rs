//! A point of the trade-off function: delta from both sides at three values of epsilon, and the conditions of `proofs/rocq/Point.v`.

use rug::{Float, Rational};

use super::{
    end::End,
    number::{Number, unprovable},
    walk::{Side, Walk},
};
use crate::{
    certificate::ends::{round_down, round_up},
    error::Result,
    law::Group,
    numeric::rational,
};

/// The distances of the outer values of epsilon from the middle one that are tried, in units of 10^-4: the best depends on the lattice.
const DISTANCES: [u32; 8] = [3000, 1000, 300, 100, 30, 10, 3, 1];
/// Significant digits of the deltas, and of the two ends.
const DELTA_DIGITS: u32 = 10;
const DIGITS: u32 = 6;
/// The middle value of epsilon is exact if its denominator is below the second number, else a multiple of 1 / the first.
const SCALE: u32 = 100_000;
const LARGEST_DENOMINATOR: u64 = 1 << 40;
/// Bits of the exponentials here, and the relative distance between these and those of the file.
const BITS: u32 = 128;
const MARGIN: f64 = 1e-7;

/// A point with everything that encloses it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) alpha: Rational,
    pub(super) lower: Rational,
    pub(super) upper: Rational,
    /// At three values of epsilon.
    at: [Both; 3],
}

/// Both ends of delta at one epsilon.
#[derive(Clone, Debug, PartialEq)]
struct Both {
    above: End,
    below: End,
    /// Bounds of exp(epsilon).
    exp: [Rational; 2],
}

impl Both {
    fn new(path: &[&Group], epsilon: &Rational) -> Result<Both> {
        let above = End::of_delta(path, epsilon, Side::Above, DELTA_DIGITS)?;
        let below = End::of_delta(path, epsilon, Side::Below, DELTA_DIGITS)?;
        let exp = Float::with_val(BITS, epsilon).exp();
        // The file's bounds are within MARGIN of exp(epsilon).
        let end = |side: f64| rational::from_f64(Float::with_val(BITS, &exp * (1.0 + side * 2.0 * MARGIN)).to_f64());
        Ok(Both { above, below, exp: [end(-1.0)?, end(1.0)?] })
    }

    fn delta(&self) -> [&Rational; 2] {
        [&self.below.delta, &self.above.delta]
    }
}

impl Point {
    /// The closest enclosure around the middle one of the certificate's values of epsilon.
    pub(super) fn new(path: &[&Group], alpha: &Rational, middle: &Rational) -> Result<Point> {
        let few = || {
            unprovable(
                "of trade-off points need three values of epsilon, of which 30 bits show that the middle line is the highest",
            )
        };
        if *middle <= 0 {
            return Err(unprovable(
                "of trade-off points are about lines at an epsilon above zero: a smaller alpha has one",
            ));
        }
        // Losses, where two lines meet, are exact; other values of epsilon need few digits.
        let rounded = || Rational::from((Rational::from(middle * SCALE).round().numer().clone(), SCALE));
        let middle = if *middle.denom() < LARGEST_DENOMINATOR { middle.clone() } else { rounded() };
        let center = Both::new(path, &middle)?;
        let mut best: Option<Point> = None;
        for units in DISTANCES {
            let distance = Rational::from((units, 10_000_u32));
            let first = Rational::from(&middle - &distance);
            if first < 0 {
                continue;
            }
            let at = [Both::new(path, &first)?, center.clone(), Both::new(path, &Rational::from(&middle + &distance))?];
            let width = |point: &Point| Rational::from(&point.upper - &point.lower);
            let closer = |point: &Point| best.as_ref().is_none_or(|best| width(point) < width(best));
            if let Some(point) = enclosed(alpha, at).filter(closer) {
                best = Some(point);
            }
        }
        best.ok_or_else(few)
    }

    /// The counts, as one of the walks has them.
    pub(super) fn walk(&self) -> &Walk {
        &self.at[1].above.walk
    }

    /// The certificates, their computation and the theorem for Rocq.
    pub(super) fn text(&self) -> String {
        let (mut certificates, mut ends) = (String::new(), String::new());
        for (name, both) in ["x", "y", "z"].iter().zip(&self.at) {
            for (side, end) in [("above", &both.above), ("below", &both.below)] {
                certificates += &end.definition(&format!("{name}_{side}"));
            }
            let [before, moves] = both.below.walk.hints_below();
            ends += &format!("Definition {name} : ends_at := Ends {name}_above {name}_below {before} {moves}.\n");
        }
        let numbers = [&self.alpha, &self.lower, &self.upper].map(Number::new);
        let quotients = numbers.each_ref().map(|number| format!("(quotient {})", number.fields())).join(" ");
        format!(
            "{certificates}{ends}\nLemma point_holds : point_certified {quotients} x y z = true.\nProof. vm_cast_no_check (eq_refl true). Qed.\n\n\
             Open Scope R_scope.\n\nTheorem tradeoff_point_is_between :\n  tradeoff_is_between\n    ({counts})\n    {theirs}.\n\
             Proof. exact (tradeoff_point _ _ _ x y z _ _ _ _ point_holds {equal}). Qed.\n",
            counts = self.walk().counts_text(5),
            theirs = numbers.each_ref().map(Number::to_string).join(" "),
            equal = ["eq_refl"; 5].join(" "),
        )
    }
}

/// The point, if the conditions of `point_ok` in `proofs/rocq/Point.v` hold.
fn enclosed(alpha: &Rational, at: [Both; 3]) -> Option<Point> {
    let [x, y, z] = &at;
    let ([dx_low, dx_high], [dy_low, dy_high], [dz_low, dz_high]) = (x.delta(), y.delta(), z.delta());
    let ([ex_low, ex_high], [ey_low, ey_high], [ez_low, ez_high]) = (&x.exp, &y.exp, &z.exp);
    let minus = |a: &Rational, b: &Rational| Rational::from(a - b);
    let (near, far) = (minus(ey_low, ex_high), minus(ey_high, ex_low));
    let (near_right, far_right) = (minus(ez_low, ey_high), minus(ez_high, ey_low));
    let (left, right) = (minus(dx_high, dy_low), minus(dy_low, dz_high));
    let highest = near > 0
        && near_right > 0
        && Rational::from(alpha * &far) <= minus(dx_low, dy_high)
        && minus(dy_high, dz_low) <= Rational::from(alpha * &near_right)
        && right >= 0;
    if !highest {
        return None;
    }
    let height = |delta: &Rational, exp: &Rational| Rational::from(1_u32) - delta - Rational::from(exp * alpha);
    let above = (far_right.clone() * (left / near - alpha)).max(far * (alpha - right / far_right));
    let (lower, upper) = (height(dy_high, ey_high), height(dy_low, ey_low) + above);
    if lower <= 0 {
        return None;
    }
    let (lower, upper) = (round_down(&lower, DIGITS), round_up(&upper, DIGITS));
    Some(Point { alpha: alpha.clone(), lower, upper, at })
}
