//! Exact places on the common lattice of all losses: integers that are added and compared millions of times.

use std::fmt::Debug;

use rug::{Integer, integer::Order};

use super::wide::Wide;

/// An integer of fixed size. Every list is checked when it is made to hold keys of at most 2^BITS, and a threshold is at
/// most 3 2^BITS, so that no sum or difference of two keys and a threshold overflows: 5 2^BITS is in the range.
pub(super) trait Key: Copy + Ord + Debug + Send + Sync + 'static {
    /// The largest absolute value of a key in a list, as a power of two.
    const BITS: u32;

    /// The integer itself.
    fn exact(value: &Integer) -> Option<Self>;
    /// The integer as a place among sums of two keys: one that is beyond all of them is moved to another that is beyond them too. That keeps
    /// the order, but not the distances: see [`Placed::moved`].
    fn place(value: &Integer) -> Placed<Self> {
        let largest = Integer::from(3) << Self::BITS;
        let clamped = value.clone().clamp(&Integer::from(-&largest), &largest);
        let moved = Integer::from(&clamped - value);
        Placed { key: Self::exact(&clamped).unwrap_or_else(Self::zero), moved }
    }
    fn zero() -> Self;
    fn one() -> Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn integer(self) -> Integer;
    /// A double close to it.
    fn approximate(self) -> f64;
    /// A non-negative key: one unit.
    fn wide<const N: usize>(self) -> Wide<N>;
}

/// A place among sums of two keys.
#[derive(Clone, Debug)]
pub(super) struct Placed<K> {
    /// A key that compares with all sums of two keys as the integer does. Not to be used as a quantity where `moved` is not zero: the distance
    /// of a sum s of two keys to the integer is s - key + moved.
    pub(super) key: K,
    /// The key less the integer.
    pub(super) moved: Integer,
}

impl Key for i64 {
    const BITS: u32 = 60;

    fn exact(value: &Integer) -> Option<Self> {
        value.to_i64()
    }
    fn zero() -> Self {
        0
    }
    fn one() -> Self {
        1
    }
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
    fn minus(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }
    fn integer(self) -> Integer {
        Integer::from(self)
    }
    fn approximate(self) -> f64 {
        self as f64
    }
    fn wide<const N: usize>(self) -> Wide<N> {
        Wide::word(self.max(0).unsigned_abs())
    }
}

/// A signed integer of 128 bits. Packed, because millions are held beside places of half a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(C, packed(8))]
pub(super) struct Middle(i128);

impl Key for Middle {
    const BITS: u32 = 124;

    fn exact(value: &Integer) -> Option<Self> {
        value.to_i128().map(Middle)
    }
    fn zero() -> Self {
        Middle(0)
    }
    fn one() -> Self {
        Middle(1)
    }
    fn plus(self, other: Self) -> Self {
        Middle({ self.0 }.wrapping_add(other.0))
    }
    fn minus(self, other: Self) -> Self {
        Middle({ self.0 }.wrapping_sub(other.0))
    }
    fn integer(self) -> Integer {
        Integer::from(self.0)
    }
    fn approximate(self) -> f64 {
        self.0 as f64
    }
    fn wide<const N: usize>(self) -> Wide<N> {
        Wide::from_words(&self.integer().to_digits::<u64>(Order::Lsf), 0)
    }
}

/// A signed integer of 256 bits in two's complement. The derived order compares the signed half first, which is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(C, packed(8))]
pub(super) struct Long {
    high: i128,
    low: u128,
}

impl Key for Long {
    const BITS: u32 = 252;

    fn exact(value: &Integer) -> Option<Self> {
        // value = high 2^128 + low with 0 <= low < 2^128.
        let high = Integer::from(value >> 128_u32).to_i128()?;
        let low = (value - (Integer::from(high) << 128_u32)).to_u128()?;
        Some(Long { high, low })
    }
    fn zero() -> Self {
        Long { high: 0, low: 0 }
    }
    fn one() -> Self {
        Long { high: 0, low: 1 }
    }
    fn plus(self, other: Self) -> Self {
        let (low, carry) = { self.low }.overflowing_add(other.low);
        Long { high: { self.high }.wrapping_add(other.high).wrapping_add(i128::from(carry)), low }
    }
    fn minus(self, other: Self) -> Self {
        let (low, borrow) = { self.low }.overflowing_sub(other.low);
        Long { high: { self.high }.wrapping_sub(other.high).wrapping_sub(i128::from(borrow)), low }
    }
    fn integer(self) -> Integer {
        (Integer::from(self.high) << 128_u32) + self.low
    }
    fn approximate(self) -> f64 {
        let positive = |key: Long| key.high as f64 * 2f64.powi(128) + key.low as f64;
        // A small negative number would be the difference of two large ones.
        if self < Self::zero() { -positive(Self::zero().minus(self)) } else { positive(self) }
    }
    fn wide<const N: usize>(self) -> Wide<N> {
        Wide::from_words(&self.integer().to_digits::<u64>(Order::Lsf), 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arithmetic<K: Key>(values: &[Integer]) {
        for a in values {
            for b in values {
                let (x, y) = (K::exact(a).unwrap(), K::exact(b).unwrap());
                assert_eq!(x.plus(y).integer(), Integer::from(a + b));
                assert_eq!(x.minus(y).integer(), Integer::from(a - b));
                assert_eq!(x.cmp(&y), a.cmp(b));
                assert!((x.approximate() - a.to_f64()).abs() <= a.to_f64().abs() * 1e-15);
            }
        }
    }

    #[test]
    fn keys_are_integers() {
        let small: Vec<Integer> = [0_i64, 1, -1, 5, -1_000_000_007, (1 << 60), -(1 << 60)].map(Integer::from).into();
        arithmetic::<i64>(&small);
        arithmetic::<Middle>(&small);
        arithmetic::<Long>(&small);
        let middle: Vec<Integer> = small.iter().map(|x| Integer::from(x << 63_u32) - 1).collect();
        arithmetic::<Middle>(&middle);
        arithmetic::<Long>(&middle);
        let large: Vec<Integer> =
            small.iter().flat_map(|x| [Integer::from(x << 150_u32) - 3, Integer::from(x << 70_u32) + 1]).collect();
        arithmetic::<Long>(&large);
        assert!(i64::exact(&(Integer::from(1) << 70_u32)).is_none());
        assert!(Middle::exact(&(Integer::from(1) << 130_u32)).is_none());
        fn placed<K: Key>(value: Integer, expected: Integer) {
            let placed = K::place(&value);
            assert_eq!(placed.key.integer(), expected);
            assert_eq!(expected - placed.moved, value);
        }
        let far = || Integer::from(1) << 300_u32;
        placed::<Middle>(far(), Integer::from(3) << 124_u32);
        placed::<i64>(-far(), -(Integer::from(3) << 60_u32));
        placed::<Long>(far(), Integer::from(3) << 252_u32);
        placed::<i64>(Integer::from(-7), Integer::from(-7));
    }
}
