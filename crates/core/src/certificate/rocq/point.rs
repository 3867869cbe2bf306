//! A point of the trade-off function: delta from both sides at three values of epsilon, and the conditions of `proofs/rocq/Point.v`.

use rug::{Float, Rational};

use super::{
    end::End,
    fine::FineEnds,
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
/// A delta on a coarser lattice is not computed for less than one over this.
const LEAST_DELTA: u64 = 1_000_000_000_000;
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
    ends: Ends,
    /// Bounds of exp(epsilon).
    exp: [Rational; 2],
}

/// On the lattice of the losses, or on a coarser one.
#[derive(Clone, Debug, PartialEq)]
enum Ends {
    Exact { above: Box<End>, below: Box<End> },
    Fine(Box<FineEnds>),
}

impl Both {
    /// On a coarser lattice, if delta is given approximately.
    fn new(path: &[&Group], epsilon: &Rational, about: Option<&Rational>) -> Result<Both> {
        let ends = match about {
            Some(delta) => Ends::Fine(Box::new(FineEnds::new(path, [epsilon, delta], DELTA_DIGITS, 3)?)),
            None => Ends::Exact {
                above: Box::new(End::of_delta(path, epsilon, Side::Above, DELTA_DIGITS)?),
                below: Box::new(End::of_delta(path, epsilon, Side::Below, DELTA_DIGITS)?),
            },
        };
        let exp = Float::with_val(BITS, epsilon).exp();
        // The file's bounds are within MARGIN of exp(epsilon).
        let end = |side: f64| rational::from_f64(Float::with_val(BITS, &exp * (1.0 + side * 2.0 * MARGIN)).to_f64());
        Ok(Both { ends, exp: [end(-1.0)?, end(1.0)?] })
    }

    fn delta(&self) -> [&Rational; 2] {
        match &self.ends {
            Ends::Exact { above, below } => [&below.delta, &above.delta],
            Ends::Fine(ends) => [&ends.lower, &ends.upper],
        }
    }

    /// The certificates and their list, with this name.
    fn text(&self, name: &str) -> [String; 2] {
        let fields = |delta: &Rational| Number::new(delta).fields();
        match &self.ends {
            Ends::Fine(ends) => {
                let certificates = ends.definitions(&format!("{name}_"));
                let list =
                    format!("FineEnds {name}_above {name}_one {name}_other {} {}", ends.hints(), fields(&ends.lower));
                [certificates, list]
            }
            Ends::Exact { above, below } => {
                let certificates =
                    above.definition(&format!("{name}_above")) + &below.definition(&format!("{name}_below"));
                let [before, moves] = below.walk.hints_below();
                let (constructor, deltas) = match above.is_infinite() {
                    true => ("InfiniteEnds", format!(" {} {}", fields(&below.delta), fields(&above.delta))),
                    false => ("Ends", String::new()),
                };
                [certificates, format!("{constructor} {name}_above {name}_below {before} {moves}{deltas}")]
            }
        }
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
        // delta on a coarser lattice is about that of the line's height; it is needed to a factor only.
        let about = match Walk::is_too_long(path, &middle)? {
            true => Some(Rational::from((1, LEAST_DELTA))),
            false => None,
        };
        let both = |epsilon: &Rational| Both::new(path, epsilon, about.as_ref());
        let center = both(&middle)?;
        let mut best: Option<Point> = None;
        for units in DISTANCES {
            let distance = Rational::from((units, 10_000_u32));
            let first = Rational::from(&middle - &distance);
            if first < 0 {
                continue;
            }
            let at = [both(&first)?, center.clone(), both(&Rational::from(&middle + &distance))?];
            let width = |point: &Point| Rational::from(&point.upper - &point.lower);
            let closer = |point: &Point| best.as_ref().is_none_or(|best| width(point) < width(best));
            if let Some(point) = enclosed(alpha, at).filter(closer) {
                best = Some(point);
            }
        }
        best.ok_or_else(few)
    }

    /// One of the walks on the lattice of the losses.
    pub(super) fn walk(&self) -> Option<&Walk> {
        match &self.at[1].ends {
            Ends::Exact { above, .. } => Some(&above.walk),
            Ends::Fine(_) => None,
        }
    }

    fn counts_text(&self) -> String {
        match &self.at[1].ends {
            Ends::Exact { above, .. } => above.walk.counts_text(5),
            Ends::Fine(ends) => {
                let [counts, _] = ends.counts_text();
                counts
            }
        }
    }

    /// The certificates, their computation and the theorem for Rocq.
    pub(super) fn text(&self) -> String {
        let (mut certificates, mut ends) = (String::new(), String::new());
        for (name, both) in ["x", "y", "z"].iter().zip(&self.at) {
            let [theirs, list] = both.text(name);
            certificates += &theirs;
            ends += &format!("Definition {name} : ends_at := {list}.\n");
        }
        let numbers = [&self.alpha, &self.lower, &self.upper].map(Number::new);
        let quotients = numbers.each_ref().map(|number| format!("(quotient {})", number.fields())).join(" ");
        format!(
            "{certificates}{ends}\nLemma point_holds : point_certified {quotients} x y z = true.\nProof. vm_cast_no_check (eq_refl true). Qed.\n\n\
             Open Scope R_scope.\n\nTheorem tradeoff_point_is_between :\n  tradeoff_is_between\n    ({counts})\n    {theirs}.\n\
             Proof. exact (tradeoff_point _ _ _ x y z _ _ _ _ point_holds {equal}). Qed.\n",
            counts = self.counts_text(),
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
