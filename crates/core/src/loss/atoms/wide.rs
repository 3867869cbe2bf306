//! Non-negative numbers with N words of mantissa and an exponent that never overflows: the arithmetic in which long lists of masses are summed.
//!
//! Nothing is ever subtracted from a number of its own size, so it suffices to track relative errors, and they only add up. Every operation here
//! truncates: its result r' satisfies r (1 - 2^(1 - 64 N)) <= r' <= r, hence
//!
//! `|ln(r' / r)| <= UNIT = 2^(2 - 64 N)`,    because -ln(1 - x) <= 2 x for 0 <= x <= 1/2.
//!
//! Say that a stored number carries k units when |ln(stored / true)| <= k UNIT. Then
//!
//! - a product carries at most the units of both factors and one more,
//! - a sum carries at most the larger of both counts and one more: both terms are off by at most that factor,
//! - 1 - y with 1 - y >= 2^-g carries at most 2^(g + 2) k + 1 units, as long as that is below 2^(62 N): y itself is off
//!   by at most y (exp(k UNIT) - 1) <= 2 k UNIT, which relative to 1 - y is r = 2^(g + 1) k UNIT < 1/2, and
//!   |ln(1 +- r)| <= 2 r.

use std::cmp::Ordering;

use rug::{Float, Integer, Rational, float::Round, integer::Order};

use crate::numeric::Enclosure;

/// mantissa 2^exponent, where the mantissa is an integer of N words, lowest word first. Its highest bit is set unless
/// the number is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wide<const N: usize> {
    mantissa: [u64; N],
    exponent: i64,
}

const WORD: i64 = 64;

impl<const N: usize> Wide<N> {
    const BITS: i64 = WORD * N as i64;

    pub(super) const ZERO: Self = Wide { mantissa: [0; N], exponent: 0 };

    pub(super) fn one() -> Self {
        Self::word(1)
    }

    /// Exactly `value`.
    pub(super) fn word(value: u64) -> Self {
        if value == 0 {
            return Self::ZERO;
        }
        let mut mantissa = [0; N];
        let shift = value.leading_zeros();
        mantissa[N - 1] = value << shift;
        Wide { mantissa, exponent: WORD - Self::BITS - i64::from(shift) }
    }

    /// The number whose words, lowest first, are `words`, times 2^exponent: exact for up to N significant words, one unit
    /// beyond.
    pub(super) fn from_words(words: &[u64], exponent: i64) -> Self {
        let Some(top) = words.iter().rposition(|&word| word != 0) else { return Self::ZERO };
        let shift = words[top].leading_zeros();
        let mut mantissa = [0; N];
        for (place, target) in mantissa.iter_mut().rev().enumerate() {
            let word = |back: usize| top.checked_sub(back).map_or(0, |index| words[index]);
            // The bits of the word below that move up.
            let carried = if shift == 0 { 0 } else { word(place + 1) >> (64 - shift) };
            *target = word(place) << shift | carried;
        }
        Wide { mantissa, exponent: exponent + WORD * (top as i64 + 1) - Self::BITS - i64::from(shift) }
    }

    /// A float that is positive or zero: one unit.
    pub(super) fn float(value: &Float) -> Self {
        value.to_integer_exp().map_or(Self::ZERO, |(mantissa, exponent)| {
            Self::from_words(&mantissa.to_digits::<u64>(Order::Lsf), i64::from(exponent))
        })
    }

    /// A rational that is positive or zero: two units, one for a float that is rounded down and one for its conversion.
    pub(super) fn rational(value: &Rational) -> Self {
        Self::float(&Float::with_val_round(Self::BITS as u32 + 2, value, Round::Down).0)
    }

    pub(super) fn is_zero(&self) -> bool {
        self.mantissa[N - 1] == 0
    }

    /// x y
    #[inline(always)]
    pub(super) fn mul(&self, other: &Self) -> Self {
        if self.is_zero() || other.is_zero() {
            return Self::ZERO;
        }
        // The product has 2 N words; its upper N are kept, and one bit more where the highest is clear. So the truncation is below one in the last
        // place of a mantissa of at least 2^(64 N - 1).
        let mut high = [0_u64; N];
        let mut low = [0_u64; N];
        for (i, &a) in self.mantissa.iter().enumerate() {
            let mut carry = 0_u128;
            for (j, &b) in other.mantissa.iter().enumerate() {
                let place = if i + j < N { &mut low[i + j] } else { &mut high[i + j - N] };
                let sum = u128::from(a) * u128::from(b) + u128::from(*place) + carry;
                *place = sum as u64;
                carry = sum >> 64;
            }
            high[i] = carry as u64;
        }
        let exponent = self.exponent + other.exponent + Self::BITS;
        if high[N - 1] >> 63 == 1 {
            return Wide { mantissa: high, exponent };
        }
        let mut carried = low[N - 1] >> 63;
        for word in &mut high {
            let next = *word >> 63;
            *word = *word << 1 | carried;
            carried = next;
        }
        Wide { mantissa: high, exponent: exponent - 1 }
    }

    /// x + y
    #[inline]
    pub(super) fn add(&self, other: &Self) -> Self {
        if self.is_zero() {
            return *other;
        }
        if other.is_zero() {
            return *self;
        }
        let (large, small) = if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        let shifted = small.shifted_right(large.exponent - small.exponent);
        let mut mantissa = large.mantissa;
        let mut carry = false;
        for (word, add) in mantissa.iter_mut().zip(shifted) {
            let (sum, first) = word.overflowing_add(add);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            *word = sum;
            carry = first || second;
        }
        if !carry {
            // Truncated: the bits that were shifted out, below one in the last place.
            return Wide { mantissa, exponent: large.exponent };
        }
        // Truncated: those and the lowest bit, together below one in the last place of the new mantissa.
        for index in 0..N {
            let above = if index + 1 < N { mantissa[index + 1] & 1 } else { 1 };
            mantissa[index] = mantissa[index] >> 1 | above << 63;
        }
        Wide { mantissa, exponent: large.exponent + 1 }
    }

    /// The mantissa divided by 2^shift and truncated.
    #[inline]
    fn shifted_right(&self, shift: i64) -> [u64; N] {
        if shift == 0 {
            return self.mantissa;
        }
        let mut result = [0; N];
        if shift >= Self::BITS {
            return result;
        }
        let (words, bits) = ((shift / WORD) as usize, (shift % WORD) as u32);
        for (index, target) in result[..N - words].iter_mut().enumerate() {
            let low = self.mantissa[index + words] >> bits;
            let high = match self.mantissa.get(index + words + 1) {
                Some(word) if bits > 0 => word << (64 - bits),
                _ => 0,
            };
            *target = low | high;
        }
        result
    }

    /// 1 - x for x < 1; zero for others.
    #[inline]
    pub(super) fn one_minus(&self) -> Self {
        if self.is_zero() {
            return Self::one();
        }
        // x = mantissa 2^exponent with mantissa in [2^(BITS - 1), 2^BITS).
        let shift = -Self::BITS - self.exponent;
        if shift < 0 {
            return Self::ZERO;
        }
        // 2^BITS - floor(x 2^BITS): exact for x >= 1/2, else at least 2^(BITS - 1) and with an error of less than one.
        let mut words = self.shifted_right(shift);
        if words.iter().all(|&word| word == 0) {
            return Self::one();
        }
        let mut carry = true;
        for word in &mut words {
            (*word, carry) = (!*word).overflowing_add(u64::from(carry));
        }
        Self::from_words(&words, -Self::BITS)
    }

    /// log2 x to about 50 bits, for searches.
    pub(super) fn log2(&self) -> f64 {
        if self.is_zero() {
            return f64::NEG_INFINITY;
        }
        libm::log2(self.mantissa[N - 1] as f64) + (self.exponent + Self::BITS - WORD) as f64
    }

    /// An enclosure of the true number behind one that carries `units`.
    pub(super) fn enclosure(&self, units: f64) -> Enclosure {
        let bits = Self::BITS as u32 + 64;
        let mid = Float::with_val(bits, Integer::from_digits(&self.mantissa, Order::Lsf));
        let shift = self.exponent.clamp(-(1 << 29), 1 << 29) as i32;
        let mid = mid << shift;
        // exp(k UNIT) <= 1 + 2 k UNIT for k UNIT <= 1; the last factor covers the rounding errors of the doubles in which units are counted.
        let ln = units * (1.0 + 1e-9);
        let relative = Float::with_val(bits, ln) >> (Self::BITS as u32 - 3);
        if relative > 1 || self.exponent != i64::from(shift) {
            return Enclosure::double(0.0, bits).hull(&Enclosure::double(f64::INFINITY, bits));
        }
        let slack = Float::with_val_round(bits, &mid * &relative, Round::Up).0;
        Enclosure::new(
            Float::with_val_round(bits, &mid - &slack, Round::Down).0,
            Float::with_val_round(bits, &mid + &slack, Round::Up).0,
        )
    }
}

impl<const N: usize> PartialOrd for Wide<N> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<const N: usize> Ord for Wide<N> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.is_zero(), other.is_zero()) {
            (false, false) => (self.exponent.cmp(&other.exponent))
                .then_with(|| self.mantissa.iter().rev().cmp(other.mantissa.iter().rev())),
            (first, second) => second.cmp(&first),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact<const N: usize>(value: &Wide<N>) -> Rational {
        let shift = value.exponent;
        let mantissa = Rational::from(Integer::from_digits(&value.mantissa, Order::Lsf));
        if shift >= 0 { mantissa << shift as u32 } else { mantissa >> shift.unsigned_abs() as u32 }
    }

    fn sample(seed: &mut u64) -> u64 {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        *seed
    }

    fn numbers<const N: usize>() -> Vec<Wide<N>> {
        let mut seed = 0x9E37_79B9_7F4A_7C15;
        let mut list = vec![Wide::ZERO, Wide::one(), Wide::word(u64::MAX), Wide::from_words(&[u64::MAX; 3], -192)];
        for k in 0..60 {
            let words: Vec<u64> = (0..N + 1).map(|_| sample(&mut seed)).collect();
            let places = sample(&mut seed) as i64 % (3 * 64 * N as i64);
            list.push(Wide::from_words(&words[k % (N + 1)..], places - 64 * N as i64));
        }
        list
    }

    /// r (1 - 2^(1 - 64 N)) <= r' <= r
    fn truncates<const N: usize>(got: &Wide<N>, truth: &Rational) {
        let lost = truth - exact(got);
        assert!(lost >= 0 && lost <= Rational::from(truth >> (64 * N as u32 - 1)), "{got:?} {truth}");
        assert!(got.is_zero() || got.mantissa[N - 1] >> 63 == 1, "{got:?}");
    }

    fn operations<const N: usize>() {
        let list = numbers::<N>();
        for a in &list {
            for b in &list {
                truncates(&a.mul(b), &(exact(a) * exact(b)));
                truncates(&a.add(b), &(exact(a) + exact(b)));
                assert_eq!(a.cmp(b), exact(a).cmp(&exact(b)), "{a:?} {b:?}");
            }
            if exact(a) < 1 {
                let (got, truth) = (exact(&a.one_minus()), 1 - exact(a));
                assert!(Rational::from(&got - &truth).abs() <= truth >> (64 * N as u32 - 1), "{a:?}");
            }
        }
    }

    #[test]
    fn every_operation_truncates_by_less_than_its_bound() {
        operations::<2>();
        operations::<3>();
        operations::<5>();
    }

    #[test]
    fn conversions_are_exact_or_truncate() {
        let third = Rational::from((1, 3));
        let got = exact(&Wide::<2>::rational(&third));
        assert!(got <= third && Rational::from(&third - &got) < third.clone() >> 126_u32);
        assert_eq!(exact(&Wide::<2>::from_words(&[12345, 0], 0)), 12345);
        assert_eq!(exact(&Wide::<2>::word(1)), 1);
        assert_eq!(exact(&Wide::<3>::float(&Float::with_val(53, 0.375))), Rational::from((3, 8)));
        let enclosed = Wide::<2>::rational(&third).enclosure(2.0);
        assert!(enclosed.contains(&third) && enclosed.is_tight(36), "{enclosed:?}");
        assert!((Wide::<2>::rational(&third).log2() + 3f64.log2()).abs() < 1e-12);
    }
}
