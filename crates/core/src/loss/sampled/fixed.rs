//! Sums over the nodes of a line in integers: the moments of one step at all nodes of a contour.
//!
//! The moment at the node k of the contour is the sum over j of w_j z_j^k, with |z_j| <= 1. With k = b B + l it is the sum of v_j z_j^l for v_j = w_j z_j^(b B). The v_j and the
//! powers z_j^l, l < B, are computed as sums of two doubles with their radii, and rounded to integers: x = t 2^-62 + s 2^-108 up to 2^-107, with |t| <= 2^62 and |s| <= 2^46.
//! Products of integers and their sums are exact, so that nothing depends on an order. They are scaled so that all |v_j| add up to at most 1, and with the radii and the roundings
//! to at most 1.3. For a product, x' the rounded x,
//!
//! ```text
//! |v z - v' z'| <= |v'| |z - z'| + |z| |v - v'|,     |z| <= 1,
//! short:  x' = t_x 2^-62,                            |x - x'| <= 2^-62 (each part within 2^-63 + 2^-107, and sqrt(2) < 2), beside the radius of x,
//! long:   x' = t_x 2^-62 + s_x 2^-108,               |x - x'| <= 2^-106, and s_v s_z is left out: at most 2^-125.
//! ```
//!
//! No sum overflows: the parts of t_v t_z add up to at most 1.3 sqrt(2) 2^124, and those of t_v s_z + s_v t_z to less than 2^(62 + 46) (1.3 + J) 2.

use crate::{
    error::Result,
    loss::stop::Stop,
    numeric::{
        field::Field,
        twofold::{ComplexTwofold, Twofold},
    },
};

/// Bits of the first part and of both parts of a number.
const SHORT: i32 = 62;
const LONG: i32 = 108;
/// The most nodes for which no sum overflows.
const MOST_NODES: usize = 100_000;

/// How exact sums are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Length {
    Short,
    Long,
}

impl Length {
    /// Products of integers for one of complex numbers, relative to the short ones.
    pub(super) fn price(self) -> f64 {
        match self {
            Length::Short => 1.0,
            Length::Long => 3.0,
        }
    }

    /// Upper bound on the error of a sum over this number of nodes, of numbers whose sizes add up to one, without those of its terms.
    pub(super) fn error(self, nodes: usize) -> f64 {
        // |v'| adds up to 1.3, and |z| to at most the number of nodes.
        match self {
            Length::Short => (1.3 + nodes as f64) * 2_f64.powi(-62),
            Length::Long => (1.3 + nodes as f64) * 2_f64.powi(-105),
        }
    }
}

/// Complex numbers in integers.
#[derive(Clone, Debug, Default)]
struct Row {
    re: Vec<i64>,
    im: Vec<i64>,
    /// The second parts; none in short rows.
    re_rest: Vec<i64>,
    im_rest: Vec<i64>,
    /// The sum of all radii, and the largest.
    radii: f64,
    largest: f64,
}

/// The first part and the rest of a number of size at most about one; `None` of a larger one.
fn parts(x: Twofold) -> Option<(i64, i64)> {
    /// Half of a unit of the first part, in units of both.
    const HALF: i128 = 1 << (LONG - SHORT - 1);
    let all = x.to_fixed(LONG)?;
    let first = (all + HALF) >> (LONG - SHORT);
    let rest = all - (first << (LONG - SHORT));
    (first.unsigned_abs() <= 1 << SHORT).then_some((first as i64, rest as i64))
}

impl Row {
    /// Numbers times a power of two; of infinite radius where one is too large.
    fn fill(&mut self, numbers: &[ComplexTwofold], scale: f64, length: Length) {
        self.clear();
        for number in numbers {
            let (re, im) = number.middle();
            let (Some(re), Some(im)) = (parts(re.times(scale)), parts(im.times(scale))) else {
                self.radii = f64::INFINITY;
                self.push((0, 0), (0, 0), length);
                continue;
            };
            self.push(re, im, length);
            // Powers of two are exact, and an underflow is far below the units.
            let radius = number.radius() * scale;
            self.radii += radius;
            self.largest = self.largest.max(radius);
        }
        // Where radii are large, nothing is known of the sizes; NaN is not within any range.
        if !(0.0..=0.1).contains(&self.radii) {
            (self.radii, self.largest) = (f64::INFINITY, f64::INFINITY);
        }
    }

    fn clear(&mut self) {
        for part in [&mut self.re, &mut self.im, &mut self.re_rest, &mut self.im_rest] {
            part.clear();
        }
        (self.radii, self.largest) = (0.0, 0.0);
    }

    fn push(&mut self, re: (i64, i64), im: (i64, i64), length: Length) {
        self.re.push(re.0);
        self.im.push(im.0);
        if length == Length::Long {
            self.re_rest.push(re.1);
            self.im_rest.push(im.1);
        }
    }
}

/// The sum of the products of the complex numbers a + i b and c + i d, exactly.
fn product([a, b]: [&[i64]; 2], [c, d]: [&[i64]; 2]) -> (i128, i128) {
    let (mut re, mut im) = (0_i128, 0_i128);
    for ((a, b), (c, d)) in a.iter().zip(b).zip(c.iter().zip(d)) {
        let (a, b, c, d) = (i128::from(*a), i128::from(*b), i128::from(*c), i128::from(*d));
        re = re.wrapping_add(a.wrapping_mul(c)).wrapping_sub(b.wrapping_mul(d));
        im = im.wrapping_add(a.wrapping_mul(d)).wrapping_add(b.wrapping_mul(c));
    }
    (re, im)
}

/// The powers of the factors of all nodes.
pub(super) struct Powers {
    /// z^0, ..., z^(B - 1) of all nodes.
    rows: Vec<Row>,
    /// z^B.
    block: Vec<ComplexTwofold>,
    length: Length,
}

impl Powers {
    /// The powers of factors z with |z| <= 1, for this number of powers.
    pub(super) fn of_factors(factors: &[ComplexTwofold], count: usize, length: Length) -> Powers {
        /// Powers of a block: more take more memory, fewer more products of the terms.
        const BLOCK: usize = 64;
        let one = ComplexTwofold::of_parts(Twofold::double(1.0), Twofold::double(0.0), 0.0);
        let mut powers = vec![one; factors.len()];
        let mut rows = Vec::new();
        for _ in 0..count.clamp(1, BLOCK) {
            let mut row = Row::default();
            row.fill(&powers, 1.0, length);
            rows.push(row);
            powers.iter_mut().zip(factors).for_each(|(power, factor)| *power = power.mul(factor));
        }
        Powers { rows, block: powers, length }
    }

    /// The sums over j of w_j z_j^k for k = 0, ..., count - 1.
    pub(super) fn sums(
        &self,
        mut weights: Vec<ComplexTwofold>,
        count: usize,
        stop: &Stop,
    ) -> Result<Vec<ComplexTwofold>> {
        let total: f64 = weights.iter().map(ComplexTwofold::size).sum();
        // A power of two above the sum of all sizes, so that the scaled ones add up to less than one.
        let exponent = libm::frexp(total * (1.0 + 1e-9)).1;
        let is_within = weights.len() <= MOST_NODES && total > 0.0 && exponent.abs() < 900;
        let (down, up) = match is_within {
            true => (libm::ldexp(1.0, -exponent), libm::ldexp(1.0, exponent)),
            false => (1.0, f64::INFINITY),
        };
        let mut row = Row::default();
        let mut sums = Vec::with_capacity(count);
        while sums.len() < count {
            stop.check()?;
            row.fill(&weights, down, self.length);
            let left = count - sums.len();
            sums.extend(self.rows.iter().take(left).map(|powers| self.sum(&row, powers, up)));
            weights.iter_mut().zip(&self.block).for_each(|(weight, block)| *weight = weight.mul(block));
        }
        Ok(sums)
    }

    fn sum(&self, row: &Row, powers: &Row, scale: f64) -> ComplexTwofold {
        let (re, im) = product([&row.re, &row.im], [&powers.re, &powers.im]);
        let of = |first: i128| Twofold::of_integer(first).times(libm::ldexp(1.0, -2 * SHORT));
        let (mut re, mut im) = (of(re), of(im));
        if self.length == Length::Long {
            let one = product([&row.re, &row.im], [&powers.re_rest, &powers.im_rest]);
            let other = product([&row.re_rest, &row.im_rest], [&powers.re, &powers.im]);
            let rest = |x: i128| Twofold::of_integer(x).times(libm::ldexp(1.0, -SHORT - LONG));
            re = re.add(rest(one.0.wrapping_add(other.0)));
            im = im.add(rest(one.1.wrapping_add(other.1)));
        }
        // |v z - v' z'| <= |v'| |z - z'| + |z| |v - v'|: the roundings, the radii, and those of the last sums, 2^-102 of at most two.
        let error = self.length.error(row.re.len()) + 1.3 * powers.largest + row.radii + 2_f64.powi(-100);
        // 1e-9 of it for the roundings of these sums of errors.
        ComplexTwofold::of_parts(re.times(scale), im.times(scale), error * (1.0 + 1e-9) * scale)
    }
}

#[cfg(test)]
mod tests {
    use rug::Rational;

    use super::*;
    use crate::numeric::{field::Real, twofold::TwofoldBall};

    fn numbers(count: i64, seed: i64) -> Vec<ComplexTwofold> {
        let of = |k: i64| {
            let real = |k: i64, prime: i64| TwofoldBall::rational(&Rational::from((k * 7919 % prime, 2 * prime)), ());
            ComplexTwofold::new(real(k + seed, 10_007), real(3 * k + seed, 9973))
        };
        (1..=count).map(of).collect()
    }

    /// Compared with sums of two doubles: the sums hold them, and are as narrow as is claimed.
    #[test]
    fn sums_of_both_lengths_hold_those_of_two_doubles() {
        const COUNT: usize = 150;
        let (weights, factors) = (numbers(90, 11), numbers(90, 5000));
        let mut states = weights.clone();
        let mut truth = Vec::new();
        for _ in 0..COUNT {
            truth.push(states[1..].iter().fold(states[0], |sum, state| sum.add(state)));
            states.iter_mut().zip(&factors).for_each(|(state, factor)| *state = state.mul(factor));
        }
        for (length, most) in [(Length::Short, 1e-14), (Length::Long, 1e-26)] {
            let sums = Powers::of_factors(&factors, COUNT, length);
            let sums = sums.sums(weights.clone(), COUNT, &Stop::default()).unwrap();
            assert_eq!(sums.len(), COUNT);
            for (sum, truth) in sums.iter().zip(&truth) {
                assert!(sum.re().enclosure().overlaps(&truth.re().enclosure()), "{length:?} {sum:?} {truth:?}");
                assert!(sum.radius() < most, "{sum:?}");
                let far = sum.add(&truth.scale(&TwofoldBall::ratio(-1, 1, ()))).size();
                assert!(far <= sum.radius() + truth.radius(), "{length:?} {far:e} {sum:?}");
            }
        }
    }

    /// What is no number, and what is larger than its bound, is of infinite radius.
    #[test]
    fn numbers_out_of_range_prove_nothing() {
        let one = ComplexTwofold::new(TwofoldBall::ratio(1, 1, ()), TwofoldBall::ratio(0, 1, ()));
        let huge = one.scale(&TwofoldBall::ratio(5, 1, ()));
        let powers = Powers::of_factors(&[huge], 3, Length::Short);
        assert!(powers.sums(vec![one], 3, &Stop::default()).unwrap()[1].radius().is_infinite());
        let unknown = ComplexTwofold::of_parts(Twofold::double(f64::NAN), Twofold::double(0.0), 0.0);
        let powers = Powers::of_factors(&[one], 3, Length::Long);
        assert!(powers.sums(vec![unknown], 3, &Stop::default()).unwrap().iter().all(|sum| !sum.radius().is_finite()));
    }
}
