//! Working precision from decimal digits.

/// The bits of precision for so many decimal digits, with `guard` bits more for what rounding loses.
pub fn bits(digits: u32, guard: u32) -> u32 {
    (f64::from(digits) * 3.33) as u32 + guard
}
