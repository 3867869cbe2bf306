//! Exact rationals as people type them: `5`, `5.00`, `1e-11`, `104/4099`.

use rug::{Integer, Rational, ops::Pow};

use crate::error::{Error, Result};

/// The largest decimal exponent read, in absolute value. It keeps `1e-999999999` from filling the memory.
const MAX_EXPONENT: i64 = 100_000;

/// Reads an exact rational: a decimal with optional exponent (`5.00`, `1e-11`, `-2.5E3`) or a fraction of two decimals (`104/4099`).
///
/// Nothing is rounded. `NaN`, `inf`, hexadecimal numbers and empty text are errors.
///
/// ```
/// # use dp_assay_core as dp_assay;
/// use dp_assay::numeric::rational::parse;
/// assert_eq!(parse("2.50")?.to_string(), "5/2");
/// assert_eq!(parse("1e-3")?.to_string(), "1/1000");
/// assert_eq!(parse("104/4099")?.to_string(), "104/4099");
/// assert!(parse("NaN").is_err());
/// # Ok::<(), dp_assay::Error>(())
/// ```
pub fn parse(text: &str) -> Result<Rational> {
    let refuse = |why: &str| Error::Number { text: clip(text), why: why.to_string() };
    match text.trim().split_once('/') {
        None => decimal(text.trim()).map_err(|why| refuse(&why)),
        Some((top, bottom)) => {
            let top = decimal(top.trim()).map_err(|why| refuse(&why))?;
            let bottom = decimal(bottom.trim()).map_err(|why| refuse(&why))?;
            if bottom.is_zero() {
                return Err(refuse("the denominator is zero"));
            }
            Ok(top / bottom)
        }
    }
}

/// Clips long input for error messages.
fn clip(text: &str) -> String {
    if text.chars().count() <= 40 {
        text.to_string()
    } else {
        format!("{}...", text.chars().take(40).collect::<String>())
    }
}

fn decimal(text: &str) -> std::result::Result<Rational, String> {
    let wrong = || "expected a decimal such as 5.00 or 1e-11, or a fraction such as 104/4099".to_string();
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        None => (text, 0),
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().map_err(|_| wrong())?),
    };
    let (negative, digits) = match mantissa.as_bytes().first() {
        Some(b'-') => (true, &mantissa[1..]),
        Some(b'+') => (false, &mantissa[1..]),
        _ => (false, mantissa),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = format!("{whole}{fraction}");
    if all.is_empty() || !all.bytes().all(|b| b.is_ascii_digit()) {
        return Err(wrong());
    }
    if exponent.abs() > MAX_EXPONENT || all.len() as i64 > MAX_EXPONENT {
        return Err(format!("more than {MAX_EXPONENT} digits or an exponent beyond +-{MAX_EXPONENT}"));
    }
    let scale = exponent - fraction.len() as i64;
    let mut value = Rational::from(Integer::parse(&all).map(Integer::from).map_err(|_| wrong())?);
    let power = Integer::from(10).pow(scale.unsigned_abs() as u32);
    if scale >= 0 {
        value *= power;
    } else {
        value /= power;
    }
    Ok(if negative { -value } else { value })
}

/// One unit of the last digit of a decimal as written: 0.01 for `17.14`, 0.1 for `2.5`, 1e-9 for `1.2e-8`; 0 for text that is no decimal.
#[doc(hidden)]
pub fn unit_of_last_digit(text: &str) -> Rational {
    let (mantissa, exponent) = text.trim().split_once(['e', 'E']).unwrap_or((text.trim(), "0"));
    let places = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len() as i64);
    let Some(power) = exponent.parse::<i64>().ok().map(|exponent| exponent - places) else { return Rational::new() };
    if mantissa.contains('/') || power.abs() > MAX_EXPONENT {
        return Rational::new();
    }
    let unit = Rational::from(Integer::from(10).pow(power.unsigned_abs() as u32));
    if power < 0 { unit.recip() } else { unit }
}

/// 10^-decimals: one unit of the last of these decimals.
#[doc(hidden)]
pub fn unit_of_decimals(decimals: u32) -> Rational {
    Rational::from((1, Integer::from(10).pow(decimals)))
}

/// The greatest rational of which both are integer multiples, for positive arguments: gcd(a/b, c/d) = gcd(ad, cb) / (bd).
pub fn gcd(a: &Rational, b: &Rational) -> Rational {
    let top = (Integer::from(a.numer() * b.denom())).gcd(&Integer::from(b.numer() * a.denom()));
    Rational::from((top, Integer::from(a.denom() * b.denom())))
}

/// The exact value of a finite double; an error for infinities and NaN.
pub(crate) fn from_f64(value: f64) -> Result<Rational> {
    Rational::from_f64(value).ok_or(Error::NotFinite { value })
}

/// The square root of a rational above 0 as text, exactly: a number, or sqrt(...) of one.
pub(crate) fn display_root(square: &Rational) -> String {
    let (numer, denom) = (square.numer(), square.denom());
    match numer.is_perfect_square() && denom.is_perfect_square() {
        true => display(&Rational::from((numer.clone().sqrt(), denom.clone().sqrt()))),
        false => format!("sqrt({})", display(square)),
    }
}

/// A rational as text: a decimal if it terminates within 40 digits, else the fraction.
pub fn display(value: &Rational) -> String {
    const MOST_DIGITS: usize = 40;
    if value.is_zero() {
        return "0".to_string();
    }
    // value = digits / 10^places terminates if and only if the denominator is 2^a 5^b, with places = max(a, b).
    let (rest, twos) = value.denom().clone().remove_factor(&Integer::from(2));
    let (rest, fives) = rest.remove_factor(&Integer::from(5));
    let places = twos.max(fives);
    if rest != 1 {
        return value.to_string();
    }
    let scaled = Rational::from(value * Integer::from(10).pow(places));
    let (digits, zeros) = Integer::from(scaled.numer().abs_ref()).remove_factor(&Integer::from(10));
    let (digits, exponent) = (digits.to_string(), i64::from(zeros) - i64::from(places));
    if digits.len() > MOST_DIGITS {
        return value.to_string();
    }
    let sign = if *value < 0 { "-" } else { "" };
    // The value is digits x 10^exponent; `point` digits stand before the decimal point.
    let point = digits.len() as i64 + exponent;
    match point {
        1..=20 if exponent >= 0 => format!("{sign}{digits}{}", "0".repeat(exponent as usize)),
        1..=20 => format!("{sign}{}.{}", &digits[..point as usize], &digits[point as usize..]),
        -3..=0 => format!("{sign}0.{}{digits}", "0".repeat(point.unsigned_abs() as usize)),
        _ => {
            let (first, rest) = digits.split_at(1);
            let separator = if rest.is_empty() { "" } else { "." };
            format!("{sign}{first}{separator}{rest}e{}", point - 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_decimals_exponents_and_fractions_exactly() {
        for (text, top, bottom) in [
            ("5", 5, 1),
            ("5.00", 5, 1),
            ("+.5", 1, 2),
            ("-2.5e1", -25, 1),
            ("1e-3", 1, 1000),
            ("104/4099", 104, 4099),
            ("0.1/0.3", 1, 3),
            (" 7 ", 7, 1),
            ("1E2", 100, 1),
        ] {
            assert_eq!(parse(text).unwrap(), Rational::from((top, bottom)), "{text}");
        }
        assert_eq!(parse("1e-300").unwrap().denom().to_string().len(), 301);
    }

    #[test]
    fn refuses_what_is_no_number() {
        for text in [
            "",
            " ",
            ".",
            "-",
            "NaN",
            "inf",
            "-inf",
            "1/0",
            "1e",
            "e5",
            "0x10",
            "1_000",
            "1,5",
            "--1",
            "1e999999999",
            "5/",
            "1/2/3",
            "٣",
        ] {
            assert!(parse(text).is_err(), "{text:?} was read");
        }
        let message = parse(&"9".repeat(200_000)).unwrap_err().to_string();
        assert!(message.len() < 300, "{message}");
    }

    #[test]
    fn gcd_divides_both_and_is_the_greatest() {
        let (a, b) = (Rational::from((73, 500)), Rational::from((137, 2500)));
        let g = gcd(&a, &b);
        assert_eq!(g, Rational::from((1, 2500)));
        let (m, n) = (Rational::from(&a / &g), Rational::from(&b / &g));
        assert_eq!((m.denom(), n.denom()), (&Integer::from(1), &Integer::from(1)));
        assert_eq!(m.numer().clone().gcd(n.numer()), 1);
    }

    #[test]
    fn the_last_digit_of_a_decimal_has_a_unit() {
        for (text, unit) in [("17.14", "0.01"), ("3", "1"), (" 2.50 ", "0.01"), ("1.2e-8", "1e-9"), ("2E3", "1e3")] {
            assert_eq!(unit_of_last_digit(text), parse(unit).unwrap(), "{text}");
        }
        assert_eq!(unit_of_last_digit("1/3"), 0);
    }

    #[test]
    fn displays_short_decimals_and_long_fractions() {
        for (text, shown) in [
            ("5.00", "5"),
            ("0.25", "0.25"),
            ("-1/8", "-0.125"),
            ("1/3", "1/3"),
            ("1e-11", "1e-11"),
            ("0", "0"),
            ("1e-300", "1e-300"),
            ("-12.5e30", "-1.25e31"),
            ("1e6", "1000000"),
            ("0.00015", "0.00015"),
            ("10/8.0008", "12500/10001"),
        ] {
            assert_eq!(display(&parse(text).unwrap()), shown);
        }
    }
}
