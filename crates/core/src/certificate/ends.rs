//! Ends of a claim: short decimals outside of a certified enclosure, with a margin for the bounds of a checker.

use rug::{Float, Integer, Rational};

use crate::{
    error::{Error, Result},
    numeric::Enclosure,
};

/// Digits of an answer in addition to those of the claim: the distance of the ends from the truth is available for the bounds of the checker.
pub(super) const MORE: u32 = 4;

/// Decimals outside of an enclosure.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outward {
    pub lower: Rational,
    pub upper: Rational,
    /// The least distance of each end from the enclosure, except for a lower end of zero.
    pub room: Rational,
}

impl Outward {
    /// With digits + 2 significant digits, at least a quarter of the last one away from the enclosure: so the relative width is
    /// at most 10^-digits for an enclosure of relative width 10^-(digits + 2). Both ends of zero are zero.
    pub(super) fn new(value: &Enclosure, digits: u32) -> Result<Outward> {
        let unbounded = || Error::Unbounded { what: "the claim" };
        let (lower, upper) =
            (value.lower_rational().ok_or_else(unbounded)?, value.upper_rational().ok_or_else(unbounded)?);
        if upper <= 0 {
            return Ok(Outward { lower: Rational::new(), upper: Rational::new(), room: Rational::new() });
        }
        let magnitude = Float::with_val(64, &upper).log10().floor().to_f64() as i32;
        let unit = power_of_ten(magnitude - 1 - digits as i32);
        let quarter = Rational::from(&unit / 4_u32);
        let below = (Rational::from(&lower - &quarter) / &unit).floor() * &unit;
        let above = (Rational::from(&upper + &quarter) / &unit).ceil() * &unit;
        Ok(Outward { lower: below.max(Rational::new()), upper: above, room: quarter })
    }
}

/// The least decimal of this number of significant digits that is not below a nonnegative value.
pub(super) fn round_up(value: &Rational, digits: u32) -> Rational {
    if *value == 0 {
        return Rational::new();
    }
    let magnitude = Float::with_val(64, value).log10().floor().to_f64();
    let unit = power_of_ten(magnitude as i32 + 1 - digits as i32);
    (Rational::from(value / &unit)).ceil() * unit
}

/// The largest decimal of this number of significant digits that is not above a nonnegative value.
pub(super) fn round_down(value: &Rational, digits: u32) -> Rational {
    if *value == 0 {
        return Rational::new();
    }
    let magnitude = Float::with_val(64, value).log10().floor().to_f64();
    let unit = power_of_ten(magnitude as i32 + 1 - digits as i32);
    (Rational::from(value / &unit)).floor() * unit
}

fn power_of_ten(exponent: i32) -> Rational {
    let power = Rational::from(Integer::from(Integer::u_pow_u(10, exponent.unsigned_abs())));
    if exponent < 0 { power.recip() } else { power }
}

/// Exponents of a checker are below this one.
const MOST_EXPONENT: u32 = 1 << 14;

/// Refuses an exponent that a checker does not evaluate.
pub(super) fn check_exponent(exponent: &Rational) -> Result<()> {
    match exponent.clone().abs() < MOST_EXPONENT {
        true => Ok(()),
        false => Err(Error::Unprovable {
            why: format!(
                "a checker evaluates exponents below {MOST_EXPONENT}, and one of this claim is about {:.0}",
                exponent.to_f64()
            ),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    #[test]
    fn rounding_up_keeps_the_digits() {
        for (text, digits, up) in
            [("20.324689752", 6, "20.3247"), ("3.3685249e-3", 3, "0.00337"), ("100", 2, "100"), ("0", 3, "0")]
        {
            assert_eq!(round_up(&parse(text).unwrap(), digits), parse(up).unwrap(), "{text}");
        }
    }

    #[test]
    fn ends_are_short_and_outside() {
        for (text, digits) in
            [("20.3246897507899999", 5), ("20.324689750789", 6), ("1.25e-10", 2), ("1000", 1), ("0.1", 9)]
        {
            let exact = parse(text).unwrap();
            let outward = Outward::new(&Enclosure::rational(&exact, 100), digits).unwrap();
            let quarter = outward.room.clone();
            assert!(Rational::from(&exact - &outward.lower) >= quarter, "{text}: {outward:?}");
            assert!(Rational::from(&outward.upper - &exact) >= quarter, "{text}: {outward:?}");
            let width = Rational::from(&outward.upper - &outward.lower) / &exact;
            assert!(width <= power_of_ten(-(digits as i32)), "{text}: {outward:?}");
            // Multiples of the last of digits + 2 digits.
            let unit = power_of_ten(-(digits as i32) - 1) * power_of_ten(exact.to_f64().log10().floor() as i32);
            assert!(*Rational::from(&outward.lower / &unit).denom() == 1, "{text}: {outward:?}");
        }
        assert_eq!(Outward::new(&Enclosure::double(0.0, 64), 5).unwrap().upper, 0);
    }
}
