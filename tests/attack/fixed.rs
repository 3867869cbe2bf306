//! Exact fixed point: intervals of integers, in units of 2^-bits. Every operation rounds the lower end down and the upper end
//! up. Only integers are used, so no rounding mode and no transcendental function is shared with the library.

use rug::{Complete, Integer, Rational};

/// An interval [lower, upper] in units of 2^-bits; the bits are those of the [`Fixed`] that made it.
#[derive(Clone, Debug)]
pub struct Span {
    pub lower: Integer,
    pub upper: Integer,
}

/// The arithmetic with this number of fractional bits.
#[derive(Clone, Copy, Debug)]
pub struct Fixed {
    pub bits: u32,
}

/// a / 2^bits rounded up.
fn shift_up(a: Integer, bits: u32) -> Integer {
    -((-a) >> bits)
}

impl Fixed {
    /// One.
    pub fn one(self) -> Integer {
        Integer::from(1) << self.bits
    }

    /// A rational, rounded outward.
    pub fn rational(self, value: &Rational) -> Span {
        let scaled = Rational::from(value << self.bits);
        Span { lower: scaled.clone().floor().into_numer_denom().0, upper: scaled.ceil().into_numer_denom().0 }
    }

    /// The exact value of an end.
    pub fn value(self, end: &Integer) -> Rational {
        Rational::from(end) >> self.bits
    }

    /// The sum.
    pub fn add(self, a: &Span, b: &Span) -> Span {
        Span { lower: (&a.lower + &b.lower).complete(), upper: (&a.upper + &b.upper).complete() }
    }

    /// The difference.
    pub fn sub(self, a: &Span, b: &Span) -> Span {
        Span { lower: (&a.lower - &b.upper).complete(), upper: (&a.upper - &b.lower).complete() }
    }

    /// The product: the extrema of a bilinear form are at the corners.
    pub fn mul(self, a: &Span, b: &Span) -> Span {
        let corners = [(&a.lower, &b.lower), (&a.lower, &b.upper), (&a.upper, &b.lower), (&a.upper, &b.upper)];
        let products = corners.map(|(x, y)| (x * y).complete());
        let lower = products.iter().min().expect("four corners").clone() >> self.bits;
        Span { lower, upper: shift_up(products.into_iter().max().expect("four corners"), self.bits) }
    }

    /// The quotient by a positive number.
    pub fn div(self, a: &Span, b: &Span) -> Span {
        assert!(b.lower > 0, "a divisor above zero");
        let down = |x: &Integer, y: &Integer| (x.clone() << self.bits).div_rem_floor(y.clone()).0;
        let up = |x: &Integer, y: &Integer| (x.clone() << self.bits).div_rem_ceil(y.clone()).0;
        let lower = down(&a.lower, if a.lower < 0 { &b.lower } else { &b.upper });
        Span { lower, upper: up(&a.upper, if a.upper < 0 { &b.upper } else { &b.lower }) }
    }

    /// exp(x) with an error of about 2^-bits for x <= 0, and with that relative error for x > 0.
    ///
    /// exp(t) = sum t^n / n! for t = |x| / 2^k below 1/64, then the reciprocal if x < 0, then k squarings. All terms are positive; the
    /// truncation error is below the last term, because each term is less than 1/64 of the previous one.
    pub fn exp(self, x: &Rational) -> Span {
        if *x == 0 {
            return Span { lower: self.one(), upper: self.one() };
        }
        let size = Rational::from(x.abs_ref());
        let whole = size.clone().ceil().into_numer_denom().0;
        let halvings = whole.significant_bits() + 6;
        let wide = Fixed { bits: self.bits + halvings + 24 };
        let t = wide.rational(&(size >> halvings));
        let (mut lower, mut upper) = (wide.one(), wide.one());
        let (mut least, mut most) = (wide.one(), wide.one());
        for n in 1_u32.. {
            least = ((least * &t.lower) >> wide.bits) / n;
            most = shift_up(most * &t.upper, wide.bits).div_rem_ceil(Integer::from(n)).0;
            lower += &least;
            upper += &most;
            if most <= 1 {
                // The truncation error is below 1/63 of this term.
                upper += 1;
                break;
            }
        }
        if *x < 0 {
            let square = Integer::from(1) << (2 * wide.bits);
            (lower, upper) = (square.clone().div_rem_floor(upper).0, square.div_rem_ceil(lower).0);
        }
        for _ in 0..halvings {
            lower = lower.square() >> wide.bits;
            upper = shift_up(upper.square(), wide.bits);
        }
        let extra = wide.bits - self.bits;
        Span { lower: lower >> extra, upper: shift_up(upper, extra) }
    }
}

/// The coefficients of the product of two polynomials with coefficients from 0 to 2^bits, times 2^-bits and rounded down.
///
/// Both are packed into one integer each, with room for every coefficient of the product (Kronecker): one multiplication of integers is the
/// whole convolution.
pub fn convolve(a: &[Integer], b: &[Integer], bits: u32) -> Vec<Integer> {
    if a.is_empty() || b.is_empty() {
        return Vec::new();
    }
    let most = |list: &[Integer]| list.iter().map(Integer::significant_bits).max().unwrap_or(0);
    let terms = a.len().min(b.len()).ilog2() + 1;
    let limbs = ((most(a) + most(b) + terms).div_ceil(64) as usize).max(1);
    let pack = |list: &[Integer]| {
        let mut digits = vec![0_u64; limbs * list.len()];
        for (at, value) in list.iter().enumerate() {
            let own = value.to_digits::<u64>(rug::integer::Order::Lsf);
            digits[at * limbs..at * limbs + own.len()].copy_from_slice(&own);
        }
        Integer::from_digits(&digits, rug::integer::Order::Lsf)
    };
    let product = (pack(a) * pack(b)).to_digits::<u64>(rug::integer::Order::Lsf);
    (0..a.len() + b.len() - 1)
        .map(|at| {
            let range = (at * limbs).min(product.len())..((at + 1) * limbs).min(product.len());
            Integer::from_digits(&product[range], rug::integer::Order::Lsf) >> bits
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// exp by its functional equation and by digits from tables.
    #[test]
    fn exponentials_are_enclosed() {
        let fixed = Fixed { bits: 200 };
        for x in ["1", "-1", "1/3", "-700", "30", "-1/1000000007"] {
            let x: Rational = x.parse().unwrap();
            let product = fixed.mul(&fixed.exp(&x), &fixed.exp(&-x.clone()));
            assert!(product.lower <= fixed.one() && fixed.one() <= product.upper, "{x}");
            let width = Integer::from(&product.upper - &product.lower);
            assert!(x < -600 || width.significant_bits() < 80, "{x}: {width}");
        }
        let e = fixed.exp(&Rational::from(1));
        let digits: Integer = "27182818284590452353602874713526624977572470936999595749669676".parse().unwrap();
        let scale = (0..61).fold(Integer::from(1), |all, _| all * 10_u32);
        assert!(
            (&e.lower * &scale).complete() >> 200_u32 <= digits && (&e.upper * &scale).complete() >> 200_u32 >= digits
        );
    }

    #[test]
    fn one_multiplication_is_the_convolution() {
        let list = |seed: u64, n: u64| -> Vec<Integer> {
            (0..n).map(|k| Integer::from(k * k * 7919 + seed) * 1_000_000_007_u64 % (1_u64 << 40)).collect()
        };
        let (a, b) = (list(3, 17), list(11, 5));
        let by_hand: Vec<Integer> = (0..21_usize)
            .map(|k| {
                let terms = (0..b.len()).filter(|j| k >= *j && k - j < a.len());
                let sum = terms.fold(Integer::new(), |sum, j| sum + (&a[k - j] * &b[j]).complete());
                sum >> 40_u32
            })
            .collect();
        assert_eq!(convolve(&a, &b, 40), by_hand);
    }
}
