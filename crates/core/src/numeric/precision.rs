//! The number of bits that a number of decimal digits needs.

/// Bits for `digits` significant decimal digits plus `guard` bits for intermediate roundings.
///
/// A digit needs log2(10) = 3.3219... bits; 3.33 per digit suffice for every number of digits up to 10^9.
pub fn bits(digits: u32, guard: u32) -> u32 {
    (f64::from(digits) * 3.33) as u32 + guard
}

#[cfg(test)]
mod tests {
    use super::bits;

    #[test]
    fn the_bits_hold_the_digits() {
        for digits in [0, 1, 12, 250, 1_000_000] {
            assert!(f64::from(bits(digits, 1)) >= f64::from(digits) * 10_f64.log2());
        }
        assert_eq!(bits(12, 40), 79);
    }
}
