//! What a recomputation gives, and what that says of the printed value.

use std::cmp::Ordering;

use rug::{Float, Rational, ops::Pow};

use crate::{
    error::{Error, Result},
    numeric::{Certainty, Enclosure, rational::parse},
};

/// What a recomputation says of a printed value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The whole enclosure rounds to the printed digits, or the printed bound or statement holds.
    Agrees,
    /// So does it by another reading of what is printed, and not by the plain one.
    AgreesAsRead,
    /// No point of the enclosure rounds to the printed digits.
    Differs,
    /// The printed bound or statement is proven wrong.
    Disproved,
    /// The enclosure is too wide to tell.
    Undecided,
    /// It rests on data that are not bundled.
    NeedsData,
}

impl Verdict {
    /// All verdicts, in the order in which they are counted.
    pub const ALL: [Verdict; 6] = [
        Verdict::Agrees,
        Verdict::AgreesAsRead,
        Verdict::Differs,
        Verdict::Disproved,
        Verdict::Undecided,
        Verdict::NeedsData,
    ];

    /// The word in tables and in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Agrees => "agrees",
            Verdict::AgreesAsRead => "agrees-as-read",
            Verdict::Differs => "differs",
            Verdict::Disproved => "disproved",
            Verdict::Undecided => "undecided",
            Verdict::NeedsData => "needs-data",
        }
    }
}

/// What a recomputation gives.
#[derive(Clone, Debug)]
pub enum Computed {
    /// A number.
    Value(Enclosure),
    /// Whether a statement holds.
    Statement(Certainty),
    /// Nothing, because these data are missing.
    NeedsData(String),
}

impl Computed {
    /// A statement that has been decided.
    pub(super) fn holds(holds: bool) -> Self {
        Computed::Statement(if holds { Certainty::Yes } else { Certainty::No })
    }

    /// The statement that all parts hold: proven wrong by the first part that is, and undecided if no part is proven
    /// wrong but one is undecided.
    pub(super) fn all_hold(parts: impl IntoIterator<Item = Result<Certainty>>) -> Result<Self> {
        let mut answer = Certainty::Yes;
        for part in parts {
            match part? {
                Certainty::Yes => {}
                Certainty::No => return Ok(Computed::Statement(Certainty::No)),
                Certainty::Undecided => answer = Certainty::Undecided,
            }
        }
        Ok(Computed::Statement(answer))
    }

    /// The number; an error for a statement or missing data.
    pub(super) fn into_value(self) -> Result<Enclosure> {
        match self {
            Computed::Value(value) => Ok(value),
            Computed::Statement(_) | Computed::NeedsData(_) => {
                Err(Error::out_of_range("what recomputes a value", "a statement", "a value, not a statement"))
            }
        }
    }

    /// For tables: the value to its proven digits, at most `digits`.
    pub fn shown(&self, digits: usize) -> String {
        match self {
            Computed::Value(value) => value.shown(digits),
            Computed::Statement(Certainty::Yes) => "true".to_string(),
            Computed::Statement(Certainty::No) => "false".to_string(),
            Computed::Statement(Certainty::Undecided) => "undecided".to_string(),
            Computed::NeedsData(_) => "-".to_string(),
        }
    }
}

/// One end of an enclosure as an exact number. An infinite end is refused: `what` has no finite bound.
pub(super) fn finite(end: &Float, what: &str) -> Result<Rational> {
    end.to_rational().ok_or_else(|| Error::out_of_range(what, end, "a quantity with finite bounds"))
}

/// 100 (1 - value / whole).
pub(super) fn percent_below(value: &Enclosure, whole: &Enclosure) -> Enclosure {
    const BITS: u32 = 120;
    Enclosure::double(1.0, BITS).sub(&value.div(whole)).mul(&Enclosure::double(100.0, BITS))
}

/// Whether an enclosure rounds to the printed digits. The printed text stands for all numbers within half a unit of its
/// last digit.
pub fn rounds_to(value: &Enclosure, printed: &str) -> Result<Verdict> {
    let middle = parse(printed)?;
    let (mantissa, exponent) = printed.split_once(['e', 'E']).unwrap_or((printed, "0"));
    let places = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len() as i64);
    let power = exponent.parse::<i64>().unwrap_or(0) - places;
    let unit = Rational::from(10).pow(power as i32);
    let half = unit / 2_u32;
    let (low, high) = (Rational::from(&middle - &half), Rational::from(&middle + &half));
    let below = value.upper().partial_cmp(&low) == Some(Ordering::Less);
    let above = value.lower().partial_cmp(&high) == Some(Ordering::Greater);
    let inside = *value.lower() >= low && *value.upper() <= high;
    Ok(match (inside, below || above) {
        (true, _) => Verdict::Agrees,
        (_, true) => Verdict::Differs,
        _ => Verdict::Undecided,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_ask_the_whole_enclosure() {
        let enclosure = |low: &str, high: &str| {
            Enclosure::rational(&parse(low).unwrap(), 80).hull(&Enclosure::rational(&parse(high).unwrap(), 80))
        };
        for (low, high, printed, verdict) in [
            ("10.126", "10.134", "10.13", Verdict::Agrees),
            ("10.124", "10.126", "10.13", Verdict::Undecided),
            ("10.12", "10.124", "10.13", Verdict::Differs),
            ("10.2", "10.3", "10.13", Verdict::Differs),
            ("4.96e-7", "5.04e-7", "5.0e-7", Verdict::Agrees),
            ("4.6e-7", "5.4e-7", "5e-7", Verdict::Agrees),
            ("7", "7", "7", Verdict::Agrees),
        ] {
            assert_eq!(rounds_to(&enclosure(low, high), printed).unwrap(), verdict, "{low} {high} {printed}");
        }
    }

    #[test]
    fn a_conjunction_is_as_certain_as_its_parts() {
        use Certainty::{No, Undecided, Yes};
        for (parts, whole) in [
            (&[Yes, Yes][..], Yes),
            (&[Yes, Undecided], Undecided),
            (&[Undecided, No], No),
            (&[No, Undecided], No),
            (&[], Yes),
        ] {
            let answer = Computed::all_hold(parts.iter().map(|part| Ok(*part))).unwrap();
            assert!(matches!(answer, Computed::Statement(found) if found == whole), "{parts:?}");
        }
    }

    #[test]
    fn an_infinite_end_is_not_a_number() {
        let message = finite(&Float::with_val(60, f64::INFINITY), "epsilon").unwrap_err().to_string();
        assert!(message.contains("epsilon") && message.contains("finite"), "{message}");
        assert_eq!(finite(&Float::with_val(60, 1.5), "epsilon").unwrap(), Rational::from((3, 2)));
    }
}
