//! Enclosures as decimal text: ends rounded outward, proven digits, JSON numbers with all digits.

use std::fmt;

use rug::{Float, float::Round};
use serde::{Serialize, Serializer};

use super::enclosure::Enclosure;

impl Enclosure {
    /// The number of significant decimal digits on which both ends agree, from the relative width, but at most `cap`.
    pub fn agreed_digits(&self, cap: usize) -> usize {
        let width = Float::with_val(64, self.upper() - self.lower());
        if width.is_zero() || !width.is_finite() {
            return if width.is_zero() { cap } else { 0 };
        }
        let magnitude = Float::with_val(64, self.upper().abs_ref()).max(&Float::with_val(64, self.lower().abs_ref()));
        let digits = (magnitude / width).log10().to_f64();
        if digits.is_finite() && digits > 0.0 { (digits as usize).min(cap) } else { 0 }
    }

    /// Both ends as decimal numbers, the lower one rounded down and the upper one rounded up, with two digits more than needed to show the
    /// width, and at least 12: of a bound from one side alone, whose other end is far off, the end has the digits of a number. `None` for
    /// infinite ends.
    pub fn decimals(&self) -> (Option<String>, Option<String>) {
        const LEAST_SHOWN: usize = 12;
        self.ends(LEAST_SHOWN)
    }

    /// The same with at least this number of digits.
    fn ends(&self, least: usize) -> (Option<String>, Option<String>) {
        const MAX_SHOWN: usize = 1000;
        let digits = match self.agreed_digits(MAX_SHOWN) {
            MAX_SHOWN => 25,
            digits => (digits + 3).clamp(least, MAX_SHOWN),
        };
        (decimal(self.lower(), digits, Round::Down), decimal(self.upper(), digits, Round::Up))
    }

    /// The enclosure for tables, to at most `most` significant digits. One number, the middle rounded to nearest, only if at least
    /// `most` or four digits are proven and both ends are within one unit of its last printed digit; else both ends, the lower rounded
    /// down and the upper rounded up, as in "17.25 to 17.36".
    pub fn shown(&self, most: usize) -> String {
        /// One number of fewer digits, where more were requested, reads as a bound that it is not.
        const FEW: usize = 4;
        let digits = self.agreed_digits(most);
        // The zeros that fill up a whole number read as digits, so that these have to be proven too.
        let whole =
            self.upper().get_exp().map_or(0.0, |exponent| (f64::from(exponent) * std::f64::consts::LOG10_2).ceil());
        let needed = if whole > 15.0 { FEW } else { FEW.max(whole.max(0.0) as usize) };
        if digits < needed.min(most) {
            return format!("{} to {}", self.lower_text(digits + 2), self.upper_text(digits + 2));
        }
        let middle = Float::with_val(self.bits() + 1, self.lower() + self.upper()) / 2;
        decimal(&middle, digits, Round::Nearest).unwrap_or_else(|| "infinite".to_string())
    }

    /// The lower end as a decimal with this number of significant digits, rounded down: a proven lower bound.
    pub fn lower_text(&self, digits: usize) -> String {
        decimal(self.lower(), digits.max(1), Round::Down).unwrap_or_else(|| "-inf".to_string())
    }

    /// The upper end as a decimal with this number of significant digits, rounded up: a proven upper bound.
    pub fn upper_text(&self, digits: usize) -> String {
        decimal(self.upper(), digits.max(1), Round::Up).unwrap_or_else(|| "inf".to_string())
    }

    /// `{"lower": ..., "upper": ...}` with all digits; an infinite end is `null`.
    pub fn to_json(&self) -> serde_json::Value {
        let (lower, upper) = self.decimals();
        serde_json::json!({ "lower": json_number(lower), "upper": json_number(upper) })
    }
}

/// As [`Enclosure::to_json`].
impl Serialize for Enclosure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

/// `[lower, upper]`, the lower end rounded down and the upper end rounded up, so the printed interval contains the true value.
///
/// A precision, as in `{:.6}`, is the number of significant digits of both ends; the default shows the width. Infinite ends are `-inf` and
/// `inf`.
impl fmt::Display for Enclosure {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        const LEAST_SHOWN: usize = 3;
        if let Some(digits) = out.precision() {
            return write!(out, "[{}, {}]", self.lower_text(digits), self.upper_text(digits));
        }
        let (lower, upper) = self.ends(LEAST_SHOWN);
        write!(out, "[{}, {}]", lower.as_deref().unwrap_or("-inf"), upper.as_deref().unwrap_or("inf"))
    }
}

/// A JSON number of any length from its decimal text.
pub(crate) fn json_number(text: Option<String>) -> serde_json::Value {
    text.map_or(serde_json::Value::Null, |text| {
        serde_json::from_str::<serde_json::Number>(&text).map_or(serde_json::Value::Null, serde_json::Value::Number)
    })
}

/// A float as a decimal number with `digits` significant digits, rounded in the given direction, without trailing zeros. `None` for
/// infinities and NaN.
#[doc(hidden)]
pub fn decimal(value: &Float, digits: usize, round: Round) -> Option<String> {
    if !value.is_finite() {
        return None;
    }
    if value.is_zero() {
        return Some("0".to_string());
    }
    // value = +-0.d1 d2 d3 ... x 10^exponent
    let (negative, text, exponent) = value.to_sign_string_exp_round(10, Some(digits), round);
    let exponent = i64::from(exponent.unwrap_or(0));
    let text = text.trim_end_matches('0');
    let sign = if negative { "-" } else { "" };
    Some(match exponent {
        -4..=0 => format!("{sign}0.{}{text}", "0".repeat(exponent.unsigned_abs() as usize)),
        1..=15 => {
            let whole = exponent as usize;
            if text.len() <= whole {
                format!("{sign}{text:0<whole$}")
            } else {
                format!("{sign}{}.{}", &text[..whole], &text[whole..])
            }
        }
        _ => {
            let (first, rest) = text.split_at(1);
            let point = if rest.is_empty() { "" } else { "." };
            format!("{sign}{first}{point}{rest}e{}", exponent - 1)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    fn enclosure(lower: &str, upper: &str) -> Enclosure {
        let end = |text: &str, round| Float::with_val_round(80, &parse(text).unwrap(), round).0;
        Enclosure::new(end(lower, Round::Down), end(upper, Round::Up))
    }

    #[test]
    fn no_digit_is_shown_that_is_not_proven() {
        assert_eq!(enclosure("0", "0.000315").shown(6), "0 to 0.00032");
        assert_eq!(enclosure("0.25", "0.75").shown(6), "0.25 to 0.75");
        assert_eq!(enclosure("1.2341", "1.2342").shown(6), "1.234");
    }

    #[test]
    fn few_digits_are_shown_as_both_ends() {
        assert_eq!(enclosure("17.252", "17.352").shown(12), "17.25 to 17.36");
        assert_eq!(enclosure("109.2", "116.6").shown(12), "109 to 117");
        assert_eq!(enclosure("353.86", "354.54").shown(12), "353.8 to 354.6");
        assert_eq!(enclosure("-17.352", "-17.252").shown(12), "-17.36 to -17.25");
        assert_eq!(enclosure("12343.25", "12344").shown(12), "12343.2 to 12344");
        // As many as were requested are one number, rounded to nearest.
        assert_eq!(enclosure("17.252", "17.352").shown(2), "17");
        assert_eq!(enclosure("123456", "123456").shown(4), "123500");
    }

    #[test]
    fn one_number_is_within_one_unit_of_its_last_digit_from_both_ends() {
        for (lower, upper) in
            [("99.95", "99.957"), ("0.99991", "1.00001"), ("1234.4", "1234.49"), ("5.00001", "5.0005")]
        {
            let shown = enclosure(lower, upper).shown(12);
            assert!(!shown.contains("to"), "{shown}");
            let places = shown.split_once('.').map_or(0, |(_, places)| places.len());
            let unit = parse(&format!("1e-{places}")).unwrap();
            let number = parse(&shown).unwrap();
            assert!((number.clone() - parse(lower).unwrap()).abs() <= unit, "{shown} for {lower}");
            assert!((number - parse(upper).unwrap()).abs() <= unit, "{shown} for {upper}");
        }
    }

    #[test]
    fn displayed_ends_are_rounded_outward() {
        let third = Enclosure::rational(&parse("1/3").unwrap(), 80);
        assert_eq!(format!("{third:.5}"), "[0.33333, 0.33334]");
        assert_eq!(format!("{:.3}", third.clone().negate()), "[-0.334, -0.333]");
        assert_eq!(Enclosure::whole_line(64).to_string(), "[-inf, inf]");
        let shown = third.to_string();
        let (lower, upper) = shown.trim_matches(['[', ']']).split_once(", ").unwrap();
        let third = parse("1/3").unwrap();
        assert!(parse(lower).unwrap() < third && third < parse(upper).unwrap(), "{shown}");
    }

    #[test]
    fn decimals_are_rounded_outward_and_read_back() {
        for (lower, upper) in [
            ("1.23456789012", "1.23456789013"),
            ("1e-30", "1.0000001e-30"),
            ("-3.5", "-3.25"),
            ("12345678901234567", "12345678901234568"),
            ("0", "0.001"),
            ("0.00012", "0.00013"),
        ] {
            let value = enclosure(lower, upper);
            let (low, high) = value.decimals();
            assert!(parse(&low.unwrap()).unwrap() <= parse(lower).unwrap(), "{lower}");
            assert!(parse(&high.unwrap()).unwrap() >= parse(upper).unwrap(), "{upper}");
        }
        // A bound from one side keeps the digits of its end.
        assert_eq!(enclosure("0", "3.2274314").decimals().1.unwrap(), "3.22743140001");
        assert_eq!(enclosure("0.5", "0.99966465").to_json().to_string(), r#"{"lower":0.5,"upper":0.999664650001}"#);
        assert_eq!(enclosure("0", "3.2274314").to_string(), "[0, 3.23]");
        assert_eq!(Enclosure::double(5.0, 53).to_json().to_string(), r#"{"lower":5,"upper":5}"#);
        assert_eq!(decimal(&Float::with_val(53, 1024), 3, Round::Up).unwrap(), "1030");
        assert_eq!(decimal(&Float::with_val(53, 0.0078125), 2, Round::Down).unwrap(), "0.0078");
    }
}
