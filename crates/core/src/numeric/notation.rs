//! Ends of an enclosure in the notations of tables, rounded outward: fixed decimals, exponents, percent; and exact numbers as text.

use rug::{Float, Integer, Rational, float::Round, ops::Pow};

use super::{decimal::decimal, enclosure::Enclosure, rational};

/// The notation of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// This number of significant digits without trailing zeros; with an exponent if that is shorter.
    General,
    /// This number of decimals.
    Fixed,
    /// One digit before the point and this number after it, with an exponent.
    Exponent,
    /// The number times 100 with this number of decimals, and a percent sign.
    Percent,
}

/// Numbers with more bits than this before the point are written with an exponent.
const MOST_BITS: i32 = 100_000;

/// An exact rational as text: its decimal if that ends, otherwise 25 digits, rounded up.
pub fn exact_text(value: &Rational) -> String {
    let text = rational::display(value);
    if !text.contains('/') {
        return text;
    }
    // Far more bits than the digits need, so that only the last digit is rounded.
    Enclosure::rational(value, 400).upper_text(25)
}

/// An exact rational as a JSON number.
pub fn exact_json(value: &Rational) -> serde_json::Value {
    serde_json::from_str(&exact_text(value)).unwrap_or(serde_json::Value::Null)
}

impl Enclosure {
    /// The lower end, rounded down: a proven lower bound. `-inf` if there is none.
    pub fn lower_in(&self, notation: Notation, digits: usize) -> String {
        written(self.lower(), notation, digits, Round::Down).unwrap_or_else(|| "-inf".to_string())
    }

    /// The upper end, rounded up: a proven upper bound. `inf` if there is none.
    pub fn upper_in(&self, notation: Notation, digits: usize) -> String {
        written(self.upper(), notation, digits, Round::Up).unwrap_or_else(|| "inf".to_string())
    }
}

fn written(value: &Float, notation: Notation, digits: usize, round: Round) -> Option<String> {
    if !value.is_finite() {
        return None;
    }
    match notation {
        Notation::General => decimal(value, digits.max(1), round),
        Notation::Exponent => Some(exponent(value, digits, round)),
        Notation::Fixed => Some(fixed(value, digits, round)),
        // Exact: 100 = 25 * 2^2, and 25 has five bits.
        Notation::Percent => Some(fixed(&Float::with_val(value.prec() + 5, value * 100_u32), digits, round) + "%"),
    }
}

fn fixed(value: &Float, decimals: usize, round: Round) -> String {
    // |value| < 2^bits
    let bits = value.get_exp().unwrap_or(i32::MIN);
    if bits > MOST_BITS {
        return exponent(value, decimals, round);
    }
    let up = round == Round::Up;
    // 2^-(4 n + 8) < 10^-n: then the number lies between -1 and 1 of the last decimal.
    let units = if i64::from(bits) < -(4 * decimals as i64 + 8) {
        match (up, value.is_zero(), value.is_sign_negative()) {
            (true, false, false) => Integer::from(1),
            (false, false, true) => Integer::from(-1),
            _ => Integer::new(),
        }
    } else {
        let exact = value.to_rational().unwrap_or_default() * Integer::from(10).pow(decimals as u32);
        let rounded: Rational = if up { exact.ceil() } else { exact.floor() };
        rounded.into_numer_denom().0
    };
    let digits = format!("{:0>1$}", units.clone().abs().to_string(), decimals + 1);
    let (whole, rest) = digits.split_at(digits.len() - decimals);
    let sign = if units < 0 { "-" } else { "" };
    if rest.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{rest}") }
}

fn exponent(value: &Float, digits: usize, round: Round) -> String {
    let (negative, text, exponent) = value.to_sign_string_exp_round(10, Some(digits + 1), round);
    // value = +-0.d1 d2 d3 ... x 10^exponent; zero has none.
    let (text, exponent) = match exponent {
        Some(exponent) => (text, i64::from(exponent) - 1),
        None => ("0".repeat(digits + 1), 0),
    };
    let (first, rest) = text.split_at(1);
    let (sign, point) = (if negative { "-" } else { "" }, if rest.is_empty() { "" } else { "." });
    format!("{sign}{first}{point}{rest}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    #[test]
    fn both_ends_are_rounded_outward_in_every_notation() {
        for (value, notation, digits, lower, upper) in [
            ("1/3", Notation::Fixed, 3, "0.333", "0.334"),
            ("-1/3", Notation::Fixed, 3, "-0.334", "-0.333"),
            ("2/3", Notation::Fixed, 0, "0", "1"),
            ("2999/1000", Notation::Fixed, 3, "2.998", "3.000"),
            ("5", Notation::Fixed, 2, "5.00", "5.00"),
            ("1e-400", Notation::Fixed, 3, "0.000", "0.001"),
            ("-1e-400", Notation::Fixed, 3, "-0.001", "0.000"),
            ("0", Notation::Fixed, 2, "0.00", "0.00"),
            ("1/3", Notation::Percent, 2, "33.33%", "33.34%"),
            ("1/8", Notation::Percent, 1, "12.5%", "12.5%"),
            ("1/3", Notation::Exponent, 3, "3.333e-01", "3.334e-01"),
            ("-1/3", Notation::Exponent, 0, "-4e-01", "-3e-01"),
            ("999.99", Notation::Exponent, 2, "9.99e+02", "1.00e+03"),
            ("1e-400", Notation::Exponent, 1, "9.9e-401", "1.1e-400"),
            ("0", Notation::Exponent, 2, "0.00e+00", "0.00e+00"),
            ("1/3", Notation::General, 2, "0.33", "0.34"),
        ] {
            let exact = parse(value).unwrap();
            let one = Enclosure::rational(&exact, 200);
            let shown = (one.lower_in(notation, digits), one.upper_in(notation, digits));
            assert_eq!(shown, (lower.to_string(), upper.to_string()), "{value} {notation:?} {digits}");
            let read = |text: &str| match text.strip_suffix('%') {
                Some(percent) => parse(percent).unwrap() / 100_u32,
                None => parse(text).unwrap(),
            };
            assert!(read(&shown.0) <= exact && exact <= read(&shown.1));
        }
        let all = Enclosure::whole_line(64);
        assert_eq!(
            (all.lower_in(Notation::Fixed, 3), all.upper_in(Notation::Percent, 3)),
            ("-inf".into(), "inf".into())
        );
        let large = Enclosure::new(
            Float::with_val(64, Float::u_exp(1, 200_000)),
            Float::with_val(64, Float::u_exp(1, 200_000)),
        );
        assert!(large.upper_in(Notation::Fixed, 2).contains("e+60205"));
    }
}
