//! Enclosures: intervals that are proven to contain the true value.
//!
//! Every operation here rounds the lower end down and the upper end up, so for all x in A and y in B the exact result of the operation lies
//! in the returned interval. The macro `directed!` pairs the two directions; ends are rounded in no other way.

use std::{cmp::Ordering, ops};

use rug::{
    Float, Rational,
    float::{Constant, Round},
    ops::{AssignRound, NegAssign},
};

/// `directed!(bits, lower expression, upper expression)`: the pair of an expression rounded down and one rounded up.
macro_rules! directed {
    ($bits:expr, $lower:expr, $upper:expr) => {
        Enclosure { lower: rounded($bits, $lower, Round::Down), upper: rounded($bits, $upper, Round::Up) }
    };
}

fn rounded<T>(bits: u32, value: T, round: Round) -> Float
where
    Float: AssignRound<T, Round = Round, Ordering = Ordering>,
{
    Float::with_val_round(bits, value, round).0
}

/// The smaller of two ends, unrounded. `Float::min` would round it to nearest, to the precision of its first argument.
#[doc(hidden)]
pub fn smaller(a: &Float, b: &Float) -> Float {
    if b < a { b.clone() } else { a.clone() }
}

/// The larger of two ends, unrounded.
pub(crate) fn larger(a: &Float, b: &Float) -> Float {
    if b > a { b.clone() } else { a.clone() }
}

/// An interval `[lower, upper]` that is proven to contain a real number.
///
/// The invariant `lower <= true value <= upper` holds by construction. The width measures what is proven; it is not an estimate of the
/// error. Ends may be infinite, but never NaN.
#[derive(Clone, Debug, PartialEq)]
pub struct Enclosure {
    lower: Float,
    upper: Float,
}

/// The result of a comparison of two numbers, at least one of which is known only within an enclosure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// It holds for every point of the enclosure.
    Yes,
    /// It holds for no point of the enclosure.
    No,
    /// The enclosure is too wide to decide.
    Undecided,
}

/// The sign of an interval.
enum Sign {
    Plus,
    Minus,
    /// On both sides of zero.
    Either,
}

impl Enclosure {
    /// The interval between two ends; the whole line unless they are in order.
    pub fn new(lower: Float, upper: Float) -> Self {
        if lower <= upper { Enclosure { lower, upper } } else { Enclosure::whole_line(lower.prec()) }
    }

    /// All real numbers: the enclosure of an unknown number.
    pub fn whole_line(bits: u32) -> Self {
        directed!(bits, f64::NEG_INFINITY, f64::INFINITY)
    }

    /// The tightest enclosure of a rational in `bits` bits.
    pub fn rational(value: &Rational, bits: u32) -> Self {
        directed!(bits, value, value)
    }

    /// The tightest enclosure of a double; the whole line for infinities and NaN.
    pub fn double(value: f64, bits: u32) -> Self {
        if value.is_finite() { directed!(bits, value, value) } else { Enclosure::whole_line(bits) }
    }

    /// The tightest enclosure of pi.
    pub fn pi(bits: u32) -> Self {
        directed!(bits, Constant::Pi, Constant::Pi)
    }

    /// The lower end, a lower bound on the true value.
    pub fn lower(&self) -> &Float {
        &self.lower
    }

    /// The upper end, an upper bound on the true value.
    pub fn upper(&self) -> &Float {
        &self.upper
    }

    /// The exact lower end, or `None` if it is infinite.
    pub fn lower_rational(&self) -> Option<Rational> {
        self.lower.to_rational()
    }

    /// The exact upper end, or `None` if it is infinite.
    pub fn upper_rational(&self) -> Option<Rational> {
        self.upper.to_rational()
    }

    /// A double near the middle: an approximation without proof.
    pub fn approximate(&self) -> f64 {
        Float::with_val(64, &self.lower + &self.upper).to_f64() / 2.0
    }

    pub(super) fn bits(&self) -> u32 {
        self.lower.prec().max(self.upper.prec())
    }

    /// Encloses x + y.
    pub fn add(&self, other: &Self) -> Self {
        directed!(self.bits().max(other.bits()), &self.lower + &other.lower, &self.upper + &other.upper)
    }

    /// Encloses x - y.
    pub fn sub(&self, other: &Self) -> Self {
        directed!(self.bits().max(other.bits()), &self.lower - &other.upper, &self.upper - &other.lower)
    }

    /// Encloses -x.
    pub fn negate(mut self) -> Self {
        self.lower.neg_assign();
        self.upper.neg_assign();
        Enclosure { lower: self.upper, upper: self.lower }
    }

    /// Encloses x y: the extrema of a bilinear form over a box are at its corners, and the signs determine which.
    pub fn mul(&self, other: &Self) -> Self {
        use Sign::{Either, Minus, Plus};
        let bits = self.bits().max(other.bits());
        let (a, b, c, d) = (&self.lower, &self.upper, &other.lower, &other.upper);
        let (lower, upper) = match (self.sign(), other.sign()) {
            (Some(Plus), Some(Plus)) => (a * c, b * d),
            (Some(Plus), Some(Minus)) => (b * c, a * d),
            (Some(Plus), Some(Either)) => (b * c, b * d),
            (Some(Minus), Some(Plus)) => (a * d, b * c),
            (Some(Minus), Some(Minus)) => (b * d, a * c),
            (Some(Minus), Some(Either)) => (a * d, a * c),
            (Some(Either), Some(Plus)) => (a * d, b * d),
            (Some(Either), Some(Minus)) => (b * c, a * c),
            // Both contain zero, or an end is not finite.
            _ => return self.mul_of_corners(other),
        };
        directed!(bits, lower, upper)
    }

    fn mul_of_corners(&self, other: &Self) -> Self {
        let bits = self.bits().max(other.bits());
        let (a, b, c, d) = (&self.lower, &self.upper, &other.lower, &other.upper);
        let corners = |round| [a * c, a * d, b * c, b * d].map(|product| rounded(bits, product, round));
        let [lower, rest @ ..] = corners(Round::Down);
        let lower = rest.iter().fold(lower, Float::min);
        let [upper, rest @ ..] = corners(Round::Up);
        Enclosure::new(lower, rest.iter().fold(upper, Float::max))
    }

    /// `None` if an end is not finite.
    fn sign(&self) -> Option<Sign> {
        if !self.lower.is_finite() || !self.upper.is_finite() {
            return None;
        }
        Some(match (self.lower >= 0, self.upper <= 0) {
            (true, _) => Sign::Plus,
            (false, true) => Sign::Minus,
            (false, false) => Sign::Either,
        })
    }

    /// Encloses 1 / x for intervals that do not contain zero; the whole line otherwise.
    pub fn recip(&self) -> Self {
        if self.lower <= 0 && self.upper >= 0 {
            return Enclosure::whole_line(self.bits());
        }
        directed!(self.bits(), self.upper.recip_ref(), self.lower.recip_ref())
    }

    /// Encloses x / y.
    pub fn div(&self, other: &Self) -> Self {
        self.mul(&other.recip())
    }

    /// Encloses exp(x), which is increasing.
    pub fn exp(&self) -> Self {
        directed!(self.bits(), self.lower.exp_ref(), self.upper.exp_ref())
    }

    /// Encloses exp(x) - 1, which is increasing.
    pub fn exp_m1(&self) -> Self {
        directed!(self.bits(), self.lower.exp_m1_ref(), self.upper.exp_m1_ref())
    }

    /// Encloses ln(x), which is increasing; the lower end is -infinity if the interval contains zero or negative numbers.
    pub fn ln(&self) -> Self {
        if self.lower <= 0 {
            return Enclosure::new(
                Float::with_val(self.bits(), f64::NEG_INFINITY),
                match self.upper.cmp0() {
                    Some(Ordering::Greater) => rounded(self.bits(), self.upper.ln_ref(), Round::Up),
                    _ => Float::with_val(self.bits(), f64::INFINITY),
                },
            );
        }
        directed!(self.bits(), self.lower.ln_ref(), self.upper.ln_ref())
    }

    /// Encloses ln(1 + x), which is increasing, to as many digits as x where x is small; the lower end is -infinity if the interval contains -1 or numbers below.
    pub fn ln_1p(&self) -> Self {
        if self.lower <= -1 {
            return Enclosure::double(1.0, self.bits()).add(self).ln();
        }
        directed!(self.bits(), self.lower.ln_1p_ref(), self.upper.ln_1p_ref())
    }

    /// Upper bound on ln of a non-negative number, as a double.
    pub(crate) fn ln_above(&self) -> f64 {
        rounded(64, self.upper.ln_ref(), Round::Up).to_f64_round(Round::Up)
    }

    /// Encloses sqrt(max(0, x)), which is non-decreasing.
    pub fn sqrt(&self) -> Self {
        let floor = |x: &Float| if *x < 0 { Float::new(x.prec()) } else { x.clone() };
        let (lower, upper) = (floor(&self.lower), floor(&self.upper));
        directed!(self.bits(), lower.sqrt_ref(), upper.sqrt_ref())
    }

    /// Encloses the complementary error function of x, which is decreasing.
    pub fn erfc(&self) -> Self {
        directed!(self.bits(), self.upper.erfc_ref(), self.lower.erfc_ref())
    }

    /// Encloses cos(x): |cos x - cos y| <= |x - y|, so the cosine of one end differs by at most the width.
    pub fn cos(&self) -> Self {
        let bits = self.bits();
        let width = rounded(bits, &self.upper - &self.lower, Round::Up);
        let at = directed!(bits, self.lower.cos_ref(), self.lower.cos_ref());
        directed!(bits, &at.lower - &width, &at.upper + &width).clamp(-1.0, 1.0)
    }

    /// Encloses 2^k x, without rounding; the whole line if 2^k is out of the range of floats.
    pub fn times_power_of_two(mut self, k: i64) -> Self {
        let Some(k) = i32::try_from(k).ok().filter(|k| k.unsigned_abs() < 1 << 30) else {
            return Enclosure::whole_line(self.bits());
        };
        self.lower <<= k;
        self.upper <<= k;
        self
    }

    /// Both ends as doubles, rounded outward.
    pub fn doubles(&self) -> (f64, f64) {
        (self.lower.to_f64_round(Round::Down), self.upper.to_f64_round(Round::Up))
    }

    /// The intersection with `[floor, ceiling]`, for a true value that is known to lie there. If the intersection is empty, the result is
    /// the whole range: the enclosure is wrong, and an end of the range must not be mistaken for a value.
    pub fn clamp(self, floor: f64, ceiling: f64) -> Self {
        let bits = self.bits();
        // An end that this precision does not hold moves outward.
        let floor = Float::with_val_round(bits, floor, Round::Down).0;
        let ceiling = Float::with_val_round(bits, ceiling, Round::Up).0;
        if self.upper < floor || self.lower > ceiling {
            return Enclosure { lower: floor, upper: ceiling };
        }
        Enclosure { lower: self.lower.clamp(&floor, &ceiling), upper: self.upper.clamp(&floor, &ceiling) }
    }

    /// The smallest interval that contains both.
    pub fn hull(&self, other: &Self) -> Self {
        Enclosure { lower: smaller(&self.lower, &other.lower), upper: larger(&self.upper, &other.upper) }
    }

    /// The intersection of two enclosures of one number; `None` if it is empty, so that one of them is wrong.
    pub fn meet(&self, other: &Self) -> Option<Self> {
        let (lower, upper) = (larger(&self.lower, &other.lower), smaller(&self.upper, &other.upper));
        (lower <= upper).then_some(Enclosure { lower, upper })
    }

    /// Encloses the larger of two numbers.
    pub fn max(&self, other: &Self) -> Self {
        Enclosure { lower: larger(&self.lower, &other.lower), upper: larger(&self.upper, &other.upper) }
    }

    /// Encloses the smaller of the two.
    pub fn min(&self, other: &Self) -> Self {
        Enclosure { lower: smaller(&self.lower, &other.lower), upper: smaller(&self.upper, &other.upper) }
    }

    /// Whether `value` lies in the interval.
    pub fn contains(&self, value: &Rational) -> bool {
        self.lower <= *value && self.upper >= *value
    }

    /// Whether the two intervals have a point in common, as two enclosures of one number must.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.lower <= other.upper && other.lower <= self.upper
    }

    /// Whether the true value is at most `value`.
    pub fn at_most(&self, value: &Rational) -> Certainty {
        if self.upper <= *value {
            Certainty::Yes
        } else if self.lower > *value {
            Certainty::No
        } else {
            Certainty::Undecided
        }
    }

    /// Whether the true value is below the other true value.
    pub fn below(&self, other: &Self) -> Certainty {
        if self.upper < other.lower {
            Certainty::Yes
        } else if self.lower >= other.upper {
            Certainty::No
        } else {
            Certainty::Undecided
        }
    }

    /// Whether upper - lower <= 10^-digits min(|lower|, |upper|).
    pub fn is_tight(&self, digits: u32) -> bool {
        let width = rounded(64, &self.upper - &self.lower, Round::Up);
        if width.is_zero() {
            return true;
        }
        if self.lower.is_sign_negative() != self.upper.is_sign_negative() {
            return false;
        }
        let smaller = Float::with_val(64, self.lower.abs_ref()).min(&Float::with_val(64, self.upper.abs_ref()));
        // The last factor covers the roundings on this line.
        let allowed = smaller * Float::with_val(64, -f64::from(digits)).exp10() * (1.0 - 1e-15);
        width <= allowed
    }
}

/// Arithmetic on enclosures, owned or borrowed, by the functions of the same name.
macro_rules! operators {
    ($($operator:ident $method:ident),*) => {$(
        impl ops::$operator<&Enclosure> for &Enclosure {
            type Output = Enclosure;

            fn $method(self, other: &Enclosure) -> Enclosure {
                Enclosure::$method(self, other)
            }
        }

        impl ops::$operator<Enclosure> for &Enclosure {
            type Output = Enclosure;

            fn $method(self, other: Enclosure) -> Enclosure {
                Enclosure::$method(self, &other)
            }
        }

        impl ops::$operator<&Enclosure> for Enclosure {
            type Output = Enclosure;

            fn $method(self, other: &Enclosure) -> Enclosure {
                Enclosure::$method(&self, other)
            }
        }

        impl ops::$operator<Enclosure> for Enclosure {
            type Output = Enclosure;

            fn $method(self, other: Enclosure) -> Enclosure {
                Enclosure::$method(&self, &other)
            }
        }
    )*};
}

operators!(Add add, Sub sub, Mul mul, Div div);

impl ops::Neg for Enclosure {
    type Output = Enclosure;

    fn neg(self) -> Enclosure {
        self.negate()
    }
}

impl ops::Neg for &Enclosure {
    type Output = Enclosure;

    fn neg(self) -> Enclosure {
        self.clone().negate()
    }
}

#[cfg(test)]
mod tests {
    use super::super::rational::parse;
    use super::*;

    fn enclosure(lower: &str, upper: &str) -> Enclosure {
        let end = |text: &str, round| rounded(80, &parse(text).unwrap(), round);
        Enclosure::new(end(lower, Round::Down), end(upper, Round::Up))
    }

    /// An enclosure outside of a range has no point in it: the ends of the range are not values.
    #[test]
    fn what_is_outside_of_a_range_is_not_its_end() {
        let beyond = Enclosure::double(2.0, 64).hull(&Enclosure::double(3.0, 64)).clamp(0.0, 1.0);
        assert!(*beyond.lower() == 0 && *beyond.upper() == 1);
        let below = Enclosure::double(-2.0, 64).clamp(0.0, f64::INFINITY);
        assert!(*below.lower() == 0 && below.upper().is_infinite());
        let within = Enclosure::double(0.5, 64).hull(&Enclosure::double(3.0, 64)).clamp(0.0, 1.0);
        assert!(*within.lower() == 0.5 && *within.upper() == 1);
        assert!(Enclosure::double(1.0, 64).times_power_of_two(1 << 40).upper().is_infinite());
    }

    #[test]
    fn arithmetic_contains_exact_rationals_and_is_tight() {
        let (x, y) = (parse("1/3").unwrap(), parse("-2/7").unwrap());
        let (a, b) = (Enclosure::rational(&x, 100), Enclosure::rational(&y, 100));
        for (got, truth) in [
            (a.add(&b), Rational::from(&x + &y)),
            (a.sub(&b), Rational::from(&x - &y)),
            (a.mul(&b), Rational::from(&x * &y)),
            (a.div(&b), Rational::from(&x / &y)),
            (a.clone().negate(), -x.clone()),
        ] {
            assert!(got.contains(&truth) && got.is_tight(28), "{got:?} {truth}");
        }
    }

    /// All combinations of signs, with zero and infinite ends: equal to the evaluation at all corners.
    #[test]
    fn products_are_those_of_the_corners() {
        let ends = [f64::NEG_INFINITY, -3.7, -0.1, 0.0, 1.0 / 3.0, 5.1, f64::INFINITY];
        let interval = |i: usize, j: usize, bits| {
            let of = |end: f64| Float::with_val(bits, end);
            Enclosure::new(of(ends[i]), of(ends[j]))
        };
        for (i, j) in (0..7).flat_map(|i| (i..7).map(move |j| (i, j))) {
            for (k, l) in (0..7).flat_map(|k| (k..7).map(move |l| (k, l))) {
                let (x, y) = (interval(i, j, 53), interval(k, l, 40));
                assert_eq!(x.mul(&y), x.mul_of_corners(&y), "{x:?} {y:?}");
            }
        }
    }

    /// Intersection, hull and maximum of enclosures with different precisions keep the ends unrounded.
    #[test]
    fn ends_of_another_precision_are_kept() {
        let third = parse("1/3").unwrap();
        for bits in [40, 41, 97] {
            let (coarse, fine) = (Enclosure::rational(&third, bits), Enclosure::rational(&third, 300));
            for (a, b) in [(&coarse, &fine), (&fine, &coarse)] {
                let both = a.meet(b).unwrap();
                assert!(both.contains(&third) && both == fine, "{bits}");
                assert!(a.hull(b).contains(&third) && a.max(b).contains(&third), "{bits}");
            }
        }
    }

    #[test]
    fn operators_are_the_functions_of_the_same_name() {
        let (a, b) = (enclosure("1", "2"), enclosure("-3", "5"));
        assert_eq!(&a + &b, a.add(&b));
        assert_eq!(a.clone() - &b, a.sub(&b));
        assert_eq!(&a * b.clone(), a.mul(&b));
        assert_eq!(b.clone() / a.clone(), b.div(&a));
        assert_eq!((-&a, -a.clone()), (a.clone().negate(), a.negate()));
    }

    /// Infinities and NaN never become a finite number in a formula.
    #[test]
    fn what_is_not_finite_is_the_whole_line() {
        for value in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            let nothing = Enclosure::double(value, 64);
            assert_eq!((nothing.lower_rational(), nothing.upper_rational()), (None, None));
            let (one, zero) = (Enclosure::double(1.0, 64), Enclosure::double(0.0, 64));
            for result in
                [&nothing + &one, &one - &nothing, &nothing * &zero, &nothing / &one, nothing.exp(), nothing.ln()]
            {
                assert_eq!(result.upper_rational(), None, "{result}");
            }
        }
        let nan = rug::Float::with_val(64, f64::NAN);
        assert_eq!(Enclosure::new(nan.clone(), nan), Enclosure::whole_line(64));
    }

    #[test]
    fn functions_are_ordered_and_invert_each_other() {
        let x = enclosure("0.3", "0.4");
        assert!(x.exp().ln().contains(&parse("0.35").unwrap()));
        assert!(x.sqrt().mul(&x.sqrt()).contains(&parse("0.35").unwrap()));
        let erfc = x.erfc();
        // cos(pi / 3) = 1 / 2, and the cosine decreases from 0.3 to 0.4.
        let third = Enclosure::pi(80).div(&Enclosure::double(3.0, 80)).cos();
        assert!(third.contains(&parse("1/2").unwrap()) && third.is_tight(22));
        let (low, high) = x.cos().doubles();
        assert!(low <= 0.4_f64.cos() && 0.3_f64.cos() <= high && high - low < 0.3);
        assert!(erfc.lower() < erfc.upper());
        assert_eq!(enclosure("-1", "1").recip().upper().to_f64(), f64::INFINITY);
        assert_eq!(enclosure("0", "1").ln().lower().to_f64(), f64::NEG_INFINITY);
    }

    #[test]
    fn comparisons_have_three_answers() {
        let x = enclosure("1", "2");
        assert_eq!(x.at_most(&parse("2").unwrap()), Certainty::Yes);
        assert_eq!(x.at_most(&parse("0.5").unwrap()), Certainty::No);
        assert_eq!(x.at_most(&parse("1.5").unwrap()), Certainty::Undecided);
        assert_eq!(x.below(&enclosure("2.5", "3")), Certainty::Yes);
        assert!(!enclosure("1", "1.1").is_tight(2) && enclosure("1", "1.001").is_tight(2));
        assert!(!enclosure("-1", "1").is_tight(0));
    }
}
