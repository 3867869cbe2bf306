//! Published values as printed: the forms that documents use, and the set of numbers that each stands for.
//!
//! | printed | stands for |
//! | --- | --- |
//! | `10.13`, `1.2e-7`, `1.2 x 10^-7` | all numbers within half a unit of the last digit |
//! | `about 4`, `~4` | all numbers within one unit of the last digit |
//! | `3.59...`, `3.59 (truncated)` | all numbers that begin with these digits |
//! | `2.18 (rounded up)` | all numbers at most this large and less than one unit of the last digit below |
//! | `3.8-4.0`, `3.9 +- 0.1` | all numbers of the range, both ends included |
//! | `< 5`, `<= 5`, `> 5`, `>= 5` | a bound; a number beyond it that rounds to its digits *holds to digits* |
//! | `true` | a statement that holds |
//! | `not printed` | nothing: no document prints the value |
//!
//! A percent sign divides by 100 where the value is a probability.

use rug::{Rational, ops::Pow};

pub use super::stated::{Rounding, Stated};
use super::unit::Unit;
use crate::numeric::rational;

/// The decimal separator of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DecimalMark {
    /// 3.90
    #[default]
    Point,
    /// 3,90
    Comma,
}

/// A parsed printed text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    /// The meaning of the text.
    pub stated: Stated,
    /// The number of significant digits; none for a fraction or a statement.
    pub digits: u32,
    /// Whether it has a percent sign.
    pub is_percent: bool,
}

impl Printed {
    /// These numbers with every one divided by 100.
    pub fn divided_by_100(self) -> Self {
        let less = |value: Rational| value / 100_u32;
        let stated = match self.stated {
            Stated::NotPrinted | Stated::Statement => self.stated,
            Stated::Exact(value) => Stated::Exact(less(value)),
            Stated::Rounded { value, step, rounding } => {
                Stated::Rounded { value: less(value), step: less(step), rounding }
            }
            Stated::JustAbove { value, within } => Stated::JustAbove { value: less(value), within },
            Stated::Range(low, high) => Stated::Range(less(low), less(high)),
            Stated::AtMost { bound, strict, step } => {
                Stated::AtMost { bound: less(bound), strict, step: step.map(less) }
            }
            Stated::AtLeast { bound, strict, step } => {
                Stated::AtLeast { bound: less(bound), strict, step: step.map(less) }
            }
        };
        Printed { stated, ..self }
    }
}

/// A qualifier beside the number of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Rounding(Rounding),
    AtMost { strict: bool },
    AtLeast { strict: bool },
}

/// Qualifiers, each with the words and signs for it.
type Words = &'static [(Said, &'static [&'static str])];

/// Words and signs before a number. A longer one precedes any that it begins with.
const BEFORE: Words = &[
    (Said::AtMost { strict: false }, &["<=", "≤", "at most ", "up to "]),
    (Said::AtMost { strict: true }, &["<", "less than ", "below "]),
    (Said::AtLeast { strict: false }, &[">=", "≥", "at least "]),
    (Said::AtLeast { strict: true }, &[">", "more than ", "above "]),
    (Said::Rounding(Rounding::About), &["about ", "around ", "roughly ", "circa ", "ca. ", "~", "≈", "∼"]),
    (Said::Rounding(Rounding::About), &["approximately ", "approx. ", "approx "]),
];

/// Words and signs after a number.
const AFTER: Words = &[
    (Said::Rounding(Rounding::Truncated), &["...", "…", "(truncated)", " truncated"]),
    (Said::Rounding(Rounding::Up), &["(rounded up)", "(rounded up at the printed digit)"]),
    (Said::Rounding(Rounding::Up), &[" rounded up at the printed digit", " rounded up"]),
];

/// The accepted forms, for messages.
const EXPECTED: &str = "expected a number as it is printed, such as 10.13, 1.2e-7, 1.2 x 10^-7, 14.2 %, 104/4099, < 5, <= 5, \
     about 4, ~4, 3.8-4.0, 3.9 +- 0.1, 3.59 (truncated) or 2.18 (rounded up)";

/// A number in a text: its value, the unit of its last digit if it is a decimal, and the number of its significant
/// digits.
struct Number {
    value: Rational,
    step: Option<Rational>,
    digits: u32,
}

/// Reads a printed text in its unit. The error describes the accepted forms.
pub fn read(text: &str, unit: Unit, mark: DecimalMark) -> std::result::Result<Printed, String> {
    let plain = plain_signs(text);
    let plain = plain.trim();
    if plain.eq_ignore_ascii_case("not printed") {
        return Ok(Printed { stated: Stated::NotPrinted, digits: 0, is_percent: false });
    }
    if unit == Unit::Claim {
        let why = || format!("{text:?}: the unit claim is for a statement, which is printed = true");
        let stated = if plain == "true" { Stated::Statement } else { return Err(why()) };
        return Ok(Printed { stated, digits: 0, is_percent: false });
    }
    let (said, rest) = strip(plain, BEFORE, |text, word| text.strip_prefix(word));
    let (after, rest) = strip(rest, AFTER, |text, word| text.strip_suffix(word));
    let said = match (said, after) {
        (Some(_), Some(_)) => return Err(format!("{text:?} says two things of one number: {EXPECTED}")),
        (one, other) => one.or(other),
    };
    let (rest, is_percent) = match rest.strip_suffix('%') {
        Some(rest) => (rest.trim_end(), true),
        None => (rest, false),
    };
    if let Some((low, high)) = range(rest, is_percent, mark)? {
        return of_range(text, low, high, said, unit, is_percent);
    }
    let number = number(rest, mark).map_err(|why| format!("{text:?} is not a number: {why}"))?;
    let digits = number.digits;
    let stated = in_form(text, number, said, unit)?;
    Ok(Printed { stated, digits, is_percent })
}

/// Replaces typographic signs by plain ones.
fn plain_signs(text: &str) -> String {
    let one = |c: char| match c {
        '\u{2212}' => '-',
        '\u{a0}' | '\u{2009}' | '\u{202f}' => ' ',
        other => other,
    };
    text.chars().map(one).collect()
}

/// The qualifier before or after the number of a text, and the number.
fn strip<'t>(text: &'t str, words: Words, cut: impl Fn(&'t str, &str) -> Option<&'t str>) -> (Option<Said>, &'t str) {
    let mut all = words.iter().flat_map(|(said, words)| words.iter().map(move |word| (word, *said)));
    let found = all.find_map(|(word, said)| cut(text, word).map(|rest| (Some(said), rest.trim())));
    found.unwrap_or((None, text))
}

/// Both ends of a range, if the text is one.
fn range(text: &str, is_percent: bool, mark: DecimalMark) -> std::result::Result<Option<(Number, Number)>, String> {
    // The last of two percent signs was removed before.
    let side = |text: &str| {
        let text = text.trim();
        let text = if is_percent { text.strip_suffix('%').unwrap_or(text) } else { text };
        number(text.trim(), mark).ok()
    };
    for sign in ["+-", "+/-", "±"] {
        let Some((middle, reach)) = text.split_once(sign) else { continue };
        let why = || format!("{text:?}: {EXPECTED}");
        let (middle, reach) = (side(middle).ok_or_else(why)?, side(reach).ok_or_else(why)?);
        if reach.value < 0 {
            return Err(format!("{text:?}: what stands after {sign} must not be negative"));
        }
        let digits = middle.digits.max(reach.digits);
        let (low, high) = (Rational::from(&middle.value - &reach.value), Rational::from(&middle.value + &reach.value));
        let end = |value| Number { value, step: None, digits };
        return Ok(Some((end(low), end(high))));
    }
    // A number may contain signs, as 1e-7: a sign separates a range only if both sides are numbers.
    let whole_is_number = number(text, mark).is_ok();
    let mut found = Vec::new();
    for sign in ["-", "\u{2013}", "\u{2014}", " to ", ".."] {
        for (at, _) in text.match_indices(sign) {
            if let (Some(low), Some(high)) = (side(&text[..at]), side(&text[at + sign.len()..])) {
                found.push((low, high));
            }
        }
    }
    match (whole_is_number, found.len()) {
        (true, _) | (_, 0) => Ok(None),
        (_, 1) => Ok(found.pop()),
        _ => Err(format!("{text:?} can be read as more than one range: write it with \" to \" between both ends")),
    }
}

fn of_range(
    text: &str,
    low: Number,
    high: Number,
    said: Option<Said>,
    unit: Unit,
    is_percent: bool,
) -> std::result::Result<Printed, String> {
    if said.is_some() {
        return Err(format!("{text:?} says two things of one value: a range stands alone"));
    }
    if !unit.is_rounded() {
        return Err(format!("{text:?} is a range, and the unit {:?} is for one number", unit.name()));
    }
    if low.value > high.value {
        return Err(format!("{text:?}: a range goes from the smaller to the larger number"));
    }
    let digits = low.digits.max(high.digits);
    Ok(Printed { stated: Stated::Range(low.value, high.value), digits, is_percent })
}

/// A number in the form that the text and its unit give it.
fn in_form(text: &str, number: Number, said: Option<Said>, unit: Unit) -> std::result::Result<Stated, String> {
    let of_unit = match unit {
        Unit::Nats | Unit::Percent | Unit::Sigma2 | Unit::Rho | Unit::Probability | Unit::Ratio => None,
        Unit::Bound => Some(Said::AtMost { strict: false }),
        Unit::Least | Unit::LeastPercent => Some(Said::AtLeast { strict: false }),
        Unit::About => Some(Said::Rounding(Rounding::About)),
        Unit::RoundedUpAtDigit => Some(Said::Rounding(Rounding::Up)),
        Unit::Truncated => Some(Said::Rounding(Rounding::Truncated)),
        Unit::Sum | Unit::RoundedUp | Unit::Claim => {
            if said.is_some() {
                return Err(format!("{text:?}: the unit {:?} is for a number alone", unit.name()));
            }
            let within = Rational::from((1, 100_000));
            return Ok(match unit {
                Unit::RoundedUp => Stated::JustAbove { value: number.value, within },
                _ => Stated::Exact(number.value),
            });
        }
    };
    let said = match (said, of_unit) {
        // The unit of a bound does not say whether the printed bound is strict.
        (Some(Said::AtMost { strict }), Some(Said::AtMost { .. })) => Said::AtMost { strict },
        (Some(Said::AtLeast { strict }), Some(Said::AtLeast { .. })) => Said::AtLeast { strict },
        (Some(said), Some(of_unit)) if said != of_unit => {
            return Err(format!("{text:?} says something else than its unit {:?}: leave one of them out", unit.name()));
        }
        (said, of_unit) => said.or(of_unit).unwrap_or(Said::Rounding(Rounding::Nearest)),
    };
    match said {
        Said::AtMost { strict } => Ok(Stated::AtMost { bound: number.value, strict, step: number.step }),
        Said::AtLeast { strict } => Ok(Stated::AtLeast { bound: number.value, strict, step: number.step }),
        Said::Rounding(rounding) => match number.step {
            Some(step) => Ok(Stated::Rounded { value: number.value, step, rounding }),
            None => {
                Err("a fraction has no last digit to round to: give the decimal as printed, or the unit sum or bound"
                    .to_string())
            }
        },
    }
}

/// One number: a decimal, with a power of ten if there is one, or a fraction.
fn number(text: &str, mark: DecimalMark) -> std::result::Result<Number, String> {
    let text = text.trim();
    let exact = |text: &str| {
        rational::parse(text).map_err(|_| match text.contains(',') {
            true => "a comma is read as the decimal mark only where the file says decimal = \"comma\", and thousands are not \
                     set apart"
                .to_string(),
            false => EXPECTED.to_string(),
        })
    };
    let text = match mark {
        DecimalMark::Point => text.to_string(),
        DecimalMark::Comma if text.contains('.') => {
            return Err("it has a decimal point, and the file says decimal = \"comma\"".to_string());
        }
        DecimalMark::Comma => text.replacen(',', ".", 1),
    };
    if text.contains('/') {
        return Ok(Number { value: exact(&text)?, step: None, digits: 0 });
    }
    let text = with_exponent(&text);
    let value = exact(&text)?;
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((&text, "0"));
    let places = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len() as i64);
    let power = exponent.parse::<i64>().map_err(|_| EXPECTED.to_string())? - places;
    let power = i32::try_from(power).map_err(|_| EXPECTED.to_string())?;
    let digits = mantissa.trim_start_matches(['+', '-', '0', '.']).chars().filter(char::is_ascii_digit).count();
    Ok(Number { value, step: Some(Rational::from(10).pow(power)), digits: digits as u32 })
}

/// A number with a power of ten as printed, such as 1.2 x 10^-7, in the form 1.2e-7; any other text unchanged.
fn with_exponent(text: &str) -> String {
    let power = |text: &str| -> Option<String> {
        let text = text.trim().strip_prefix("10")?;
        if let Some(exponent) = text.strip_prefix('^') {
            let bare = exponent.trim_start_matches(['{', '(']).trim_end_matches(['}', ')']);
            return bare.parse::<i64>().ok().map(|exponent| exponent.to_string());
        }
        let raised: Option<String> = text.chars().map(plain_digit).collect();
        raised.filter(|raised| raised.parse::<i64>().is_ok())
    };
    if let Some(exponent) = power(text) {
        return format!("1e{exponent}");
    }
    for sign in ["x", "X", "*", "\u{d7}", "\u{b7}", "\u{22c5}"] {
        if let Some((mantissa, rest)) = text.split_once(sign)
            && let Some(exponent) = power(rest)
        {
            return format!("{}e{exponent}", mantissa.trim());
        }
    }
    text.to_string()
}

/// The plain digit or sign of a superscript one.
fn plain_digit(raised: char) -> Option<char> {
    Some(match raised {
        '⁰' => '0',
        '¹' => '1',
        '²' => '2',
        '³' => '3',
        '⁴' => '4',
        '⁵' => '5',
        '⁶' => '6',
        '⁷' => '7',
        '⁸' => '8',
        '⁹' => '9',
        '⁻' => '-',
        '⁺' => '+',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{numeric::Enclosure, replication::verdict::Verdict};

    fn stated(text: &str) -> Stated {
        read(text, Unit::Nats, DecimalMark::Point).unwrap_or_else(|why| panic!("{text}: {why}")).stated
    }

    fn enclosure(low: &str, high: &str) -> Enclosure {
        let end = |text: &str| Enclosure::rational(&rational::parse(text).unwrap(), 200);
        end(low).hull(&end(high))
    }

    /// Every form with an enclosure inside its set, one outside, and one across an end.
    #[test]
    fn every_form_agrees_exactly_with_its_set_of_numbers() {
        for (text, inside, outside, across, wrong) in [
            ("10.13", ("10.126", "10.134"), ("10.12", "10.124"), ("10.124", "10.126"), Verdict::Differs),
            ("1.2 x 10^-7", ("1.16e-7", "1.24e-7"), ("1.26e-7", "1.3e-7"), ("1.2e-7", "1.3e-7"), Verdict::Differs),
            ("1.2 × 10⁻⁷", ("1.16e-7", "1.24e-7"), ("1e-8", "2e-8"), ("1.1e-7", "1.2e-7"), Verdict::Differs),
            ("10^-7", ("6e-8", "1.4e-7"), ("1.6e-7", "2e-7"), ("1e-7", "2e-7"), Verdict::Differs),
            ("about 4", ("3.01", "4.99"), ("5.01", "6"), ("4.9", "5.1"), Verdict::Differs),
            ("~4.0", ("3.91", "4.09"), ("4.11", "4.2"), ("4", "4.2"), Verdict::Differs),
            ("≈ 40", ("39.1", "40.9"), ("41.1", "42"), ("40", "42"), Verdict::Differs),
            ("3.59 (truncated)", ("3.5901", "3.5999"), ("3.6001", "3.7"), ("3.58", "3.592"), Verdict::Differs),
            ("3.59...", ("3.5901", "3.5999"), ("3.5", "3.5899"), ("3.59", "3.61"), Verdict::Differs),
            ("2.18 rounded up", ("2.1701", "2.1799"), ("2.1801", "2.19"), ("2.16", "2.175"), Verdict::Differs),
            ("3.8-4.0", ("3.81", "3.99"), ("4.01", "4.2"), ("3.9", "4.1"), Verdict::Differs),
            ("3.8 – 4.0", ("3.81", "3.99"), ("3", "3.7"), ("3.7", "3.9"), Verdict::Differs),
            ("1e-7 to 2e-7", ("1.1e-7", "1.9e-7"), ("3e-7", "4e-7"), ("1e-8", "1.5e-7"), Verdict::Differs),
            ("3.9 +- 0.1", ("3.81", "3.99"), ("4.01", "4.2"), ("3.9", "4.1"), Verdict::Differs),
            ("3.9 ± 0.1", ("3.81", "3.99"), ("3", "3.7"), ("3.7", "3.9"), Verdict::Differs),
            ("< 5", ("4", "4.9"), ("5", "5.1"), ("4.9", "5"), Verdict::HoldsToDigits),
            ("< 5.0", ("4", "4.9"), ("5.06", "5.1"), ("5.01", "5.1"), Verdict::Disproved),
            ("<= 5", ("4", "5"), ("5.01", "5.1"), ("4.9", "5.1"), Verdict::HoldsToDigits),
            ("<= 5", ("4", "5"), ("5.51", "5.6"), ("5.4", "5.6"), Verdict::Disproved),
            ("≤5.00", ("4", "5"), ("5.01", "5.1"), ("4.9", "5.1"), Verdict::Disproved),
            ("> 5", ("5.01", "6"), ("4.9", "5"), ("5", "6"), Verdict::HoldsToDigits),
            ("at least 5", ("5", "6"), ("4.6", "4.9"), ("4.9", "5.1"), Verdict::HoldsToDigits),
            ("at least 5", ("5", "6"), ("4", "4.4"), ("4.4", "4.6"), Verdict::Disproved),
        ] {
            let found = stated(text);
            for ((low, high), expected) in [(inside, Verdict::Agrees), (outside, wrong), (across, Verdict::Undecided)] {
                assert_eq!(found.judge(&enclosure(low, high)), expected, "{text}: [{low}, {high}]");
            }
        }
        assert_eq!(stated("not printed").judge(&enclosure("1", "2")), Verdict::NotPrinted);
    }

    #[test]
    fn commas_are_decimal_where_the_file_says_so() {
        let comma = |text: &str| read(text, Unit::Nats, DecimalMark::Comma);
        assert_eq!(comma("3,90").unwrap().stated, stated("3.90"));
        assert_eq!(comma("3,8-4,0").unwrap().stated, stated("3.8-4.0"));
        assert_eq!(comma("1,2 x 10^-7").unwrap().stated, stated("1.2e-7"));
        assert!(comma("3.90").unwrap_err().contains("decimal point"));
        assert!(comma("1,234,5").is_err());
        let message = read("3,90", Unit::Nats, DecimalMark::Point).unwrap_err();
        assert!(message.contains("decimal = \"comma\""), "{message}");
    }

    #[test]
    fn percent_signs_are_recorded_and_digits_counted() {
        let found = read("14.2 %", Unit::Probability, DecimalMark::Point).unwrap();
        assert!(found.is_percent && found.digits == 3);
        assert_eq!(found.divided_by_100().stated, stated("0.142"));
        for (text, digits) in [("0.050", 2), ("1.20e5", 3), ("about 400", 3), ("3.8-4.00", 3), ("1/3", 0), ("-2.5", 2)]
        {
            let unit = if text == "1/3" { Unit::Sum } else { Unit::Nats };
            assert_eq!(read(text, unit, DecimalMark::Point).unwrap().digits, digits, "{text}");
        }
        let both = read("14 % - 15 %", Unit::Percent, DecimalMark::Point).unwrap();
        assert_eq!((both.stated, both.is_percent), (stated("14-15"), true));
    }

    #[test]
    fn other_printed_forms_are_refused() {
        for text in [
            "",
            "ten",
            "4.0-3.8",
            "about 3.8-4.0",
            "< 5 (truncated)",
            "1e-7-2e-7-3e-7",
            "5 6",
            "3 +- -1",
            "14 % - 15",
            "~",
            "1.2 x 10",
            "10^x",
            "<<5",
            "1/2",
            "--5",
            "1e999999999",
        ] {
            assert!(read(text, Unit::Nats, DecimalMark::Point).is_err(), "{text}");
        }
        for (text, unit) in [
            ("< 5", Unit::Least),
            ("< 5", Unit::Sum),
            ("about 5", Unit::Bound),
            ("~5", Unit::Truncated),
            ("3-4", Unit::Bound),
            ("false", Unit::Claim),
        ] {
            assert!(read(text, unit, DecimalMark::Point).is_err(), "{text} {unit:?}");
        }
        assert!(read("about 5", Unit::About, DecimalMark::Point).is_ok());
        assert!(read("< 5", Unit::Bound, DecimalMark::Point).is_ok());
    }

    #[test]
    fn a_bound_holds_to_the_digits_to_which_the_number_rounds_to_it() {
        let held = |text: &str, value: &str| {
            let printed = read(text, Unit::Least, DecimalMark::Point).unwrap();
            printed.stated.digits_held(&enclosure(value, value), printed.digits)
        };
        assert_eq!(held("95", "94.99947"), Some(4), "95.00, and 94.999 to five digits");
        assert_eq!(held("95", "94.853"), Some(2));
        assert_eq!(held("95", "94.4"), None);
        assert_eq!(held("99.99", "99.98923"), Some(4));
        let half = read("1/2", Unit::Least, DecimalMark::Point).unwrap();
        assert_eq!(half.stated.judge(&enclosure("0.49", "0.49")), Verdict::Disproved, "a fraction is not rounded");
    }

    #[test]
    fn the_rounding_that_would_give_the_printed_digits_is_named() {
        let other = |text: &str, value: &str| stated(text).other_rounding(&enclosure(value, value));
        assert!(other("3.59", "3.5959").is_some_and(|said| said.contains("cut off")));
        assert!(other("2.18", "2.1723").is_some_and(|said| said.contains("rounded up")));
        assert_eq!(other("3.59", "3.7"), None);
        let less = stated("3.59").less(&enclosure("3.5959", "3.5959")).unwrap();
        assert!((less.approximate() + 0.0059).abs() < 1e-15);
    }
}
