//! Bounds between supporting lines: how high phi may rise there, and where the next lines help most.

use rug::{
    Float, Rational,
    float::{Round, Special},
};

use super::line::{Line, width};
use crate::numeric::Enclosure;

/// Upper bound on phi between two lines, or beyond the outermost one; and the places of the next lines.
#[derive(Debug)]
pub(super) struct Peak {
    pub(super) height: Float,
    /// The part of the height that is due to imprecise heights of lines; and the two lines of the bound, from the inner to the outer.
    pub(super) noise: Float,
    pub(super) of: (usize, usize),
    /// The range of lines that it was computed from, the end excluded.
    pub(super) from: (usize, usize),
    pub(super) next: Vec<Float>,
}

/// Encloses (phi(b) - phi(a))_+ / |E_b - E_a|: the upper bound on the slope of phi beyond b, as seen from a. `None` where the slopes of
/// both lines cannot be distinguished.
fn growth(a: &Line, b: &Line) -> Option<Enclosure> {
    let (first, last) = if a.eps < b.eps { (a, b) } else { (b, a) };
    let apart = last.slope.sub(&first.slope);
    let zero = Enclosure::double(0.0, apart.lower().prec());
    (*apart.lower() > 0).then(|| b.height.sub(&a.height).max(&zero).div(&apart))
}

/// The peak between the lines `right - 1` and `right`.
///
/// One bound increases to the right and the other to the left. So for every slope E between both lines, phi is at most the larger value of
/// the two bounds there.
pub(super) fn between(lines: &[Line], right: usize) -> Peak {
    let (b, c) = (&lines[right - 1], &lines[right]);
    let from_left = right.checked_sub(2).and_then(|a| growth(&lines[a], b));
    let from_right = lines.get(right + 1).and_then(|d| growth(d, c));
    let bits = b.slope.lower().prec().max(c.slope.lower().prec());
    let apart = c.slope.sub(&b.slope);
    let middle = |value: &Enclosure| Float::with_val(bits, value.lower() + value.upper()) / 2_u32;
    // The intersection of both bounds, as a share of the interval.
    let share = match (&from_left, &from_right) {
        (Some(left), Some(right)) => {
            let (left, right, apart) = (middle(left), middle(right), middle(&apart));
            let share = (middle(&c.height.sub(&b.height)) / &apart + &right) / Float::with_val(bits, &left + &right);
            if share.is_finite() { share.clamp(&0, &1) } else { Float::with_val(bits, 0.5) }
        }
        (None, Some(_)) => Float::new(bits),
        (Some(_), None) => Float::with_val(bits, 1),
        (None, None) => Float::with_val(bits, 0.5),
    };
    let way = |share: &Float| apart.mul(&Enclosure::new(share.clone(), share.clone()));
    let bound = |line: &Line, growth: Option<Enclosure>, way: Enclosure| match growth {
        Some(growth) => line.height.add(&growth.mul(&way)),
        None => unbounded(bits),
    };
    // Rounded up, so that both parts cover the interval.
    let rest = Float::with_val_round(bits, 1_u32 - &share, Round::Up).0;
    // At a share of zero the bound from the left is the height of the line itself, and mirrored at one.
    let of_left = if share == 0 { b.height.clone() } else { bound(b, from_left, way(&share)) };
    let of_right = if rest == 0 { c.height.clone() } else { bound(c, from_right, way(&rest)) };
    let (highest, of) = if of_left.upper() >= of_right.upper() {
        (of_left, (right - 1, right.saturating_sub(2)))
    } else {
        (of_right, (right, (right + 1).min(lines.len() - 1)))
    };
    Peak {
        height: highest.upper().clone(),
        noise: width(&highest),
        of,
        from: (right.saturating_sub(2), (right + 2).min(lines.len())),
        next: next_between(lines, right, &share),
    }
}

/// The places of the next lines between the lines `right - 1` and `right`, whose bounds intersect at the share `peak` of the interval in E.
/// One is the intersection, which is the maximum if phi has a corner. One is where the slope is zero if it decreases linearly from one
/// chord to the other, which is the maximum of a parabola. If the first place is close to a line, another one is four times as far from it,
/// so that lines do not approach the maximum from one side only.
fn next_between(lines: &[Line], right: usize, peak: &Float) -> Vec<Float> {
    /// The least distance of a line from the next as a share of the interval; and the share used where the slope on one side is unknown.
    const NEAREST: f64 = 1e-15;
    const OUTERMOST: f64 = 0.05;
    const NEXT_TO: f64 = 0.05;
    let (b, c) = (&lines[right - 1], &lines[right]);
    let bits = peak.prec();
    let way = Float::with_val(bits, &c.eps - &b.eps);
    let at = |share: Float| Float::with_val(bits, &way * share) + &b.eps;
    if right < 2 || right + 1 >= lines.len() {
        let share = if right < 2 { OUTERMOST } else { 1.0 - OUTERMOST };
        return vec![at(Float::with_val(bits, share))];
    }
    // The share of a place in E as a share of the interval in eps, at most one half, and from which side.
    let along = |share: &Float| {
        let rest = Float::with_val(bits, 1_u32 - share);
        let is_first = *share < rest;
        let (near, way) = if is_first { (share.clone(), way.clone()) } else { (rest, -way.clone()) };
        (is_first, ((way.clone().exp_m1() * near).ln_1p() / way).max(&Float::with_val(bits, NEAREST)))
    };
    let (a, d) = (&lines[right - 2], &lines[right + 1]);
    let middle = |value: &Enclosure| Float::with_val(bits, value.lower() + value.upper()) / 2_u32;
    let steepness =
        |first: &Line, last: &Line| middle(&last.height.sub(&first.height).div(&last.slope.sub(&first.slope)));
    let (left, falls) = (steepness(a, b), -steepness(c, d));
    let zero = {
        // From the middle of the left chord, as shares of the interval in E.
        let unit = middle(&c.slope.sub(&b.slope)) * 2_u32;
        let from = middle(&a.slope.sub(&b.slope)) / &unit;
        let to = middle(&d.slope.sub(&b.slope).add(&c.slope.sub(&b.slope))) / &unit;
        (Float::with_val(bits, &to - &from) * &left / (left + falls)) + from
    };
    let inside = |share: &Float| share.is_finite() && *share > 0 && *share < 1;
    let mut shares: Vec<(bool, Float)> = Vec::with_capacity(3);
    for place in [&zero, peak].into_iter().filter(|share| inside(share)) {
        let (is_first, near) = along(place);
        // If lines are farther apart than floats can represent, no share is known.
        if !near.is_finite() {
            continue;
        }
        let same = |(side, other): &(bool, Float)| {
            *side == is_first && Float::with_val(64, other / &near).log2().to_f64().abs() < 0.1
        };
        if !shares.iter().any(same) {
            shares.push((is_first, near));
        }
    }
    if let Some((is_first, near)) = shares.first().cloned().filter(|(_, near)| *near < NEXT_TO) {
        shares.push((is_first, near * 4_u32));
    }
    if shares.is_empty() {
        // The precision of phi gives no better place: halfway.
        return vec![at(Float::with_val(bits, 0.5))];
    }
    shares.into_iter().map(|(is_first, near)| at(if is_first { near } else { 1_u32 - near })).collect()
}

/// The peak beyond the last line, or before the first: E is at least 0, and at most 1 / alpha where a line is positive.
pub(super) fn beyond(lines: &[Line], last: bool, alpha: &Rational) -> Peak {
    let n = lines.len();
    let (inner, outer) = if last { (&lines[n - 2], &lines[n - 1]) } else { (&lines[1], &lines[0]) };
    let bits = outer.slope.lower().prec();
    let zero = Enclosure::double(0.0, bits);
    let way = if last {
        Enclosure::rational(&Rational::from(alpha.recip_ref()), bits).sub(&outer.slope).max(&zero)
    } else {
        outer.slope.clone()
    };
    let highest = match growth(inner, outer) {
        Some(growth) => outer.height.add(&growth.mul(&way)),
        None => unbounded(bits),
    };
    // Four times the range of all lines.
    let reach = Float::with_val(bits, &lines[n - 1].eps - &lines[0].eps) * 4_u32;
    let next = if last { reach + &outer.eps } else { Float::with_val(bits, &outer.eps - reach) };
    let (of, from) = if last { ((n - 1, n - 2), (n - 2, n)) } else { ((0, 1), (0, 2)) };
    Peak { height: highest.upper().clone(), noise: width(&highest), of, from, next: vec![next] }
}

/// No bound is known.
fn unbounded(bits: u32) -> Enclosure {
    Enclosure::new(Float::new(bits), Float::with_val(bits, Special::Infinity))
}
