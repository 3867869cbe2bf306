//! The result of a recomputation, and its verdict on the printed value.

use rug::{Float, Rational};

use crate::{
    error::{Error, Result},
    numeric::{Certainty, Enclosure},
};

/// The verdict of a recomputation on a printed value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The whole enclosure rounds to the printed digits, or the printed bound or statement holds.
    Agrees,
    /// It agrees under another reading of the printed text, and not under the plain one.
    AgreesAsRead,
    /// A printed bound is missed by less than its last digit: the number rounds to it.
    HoldsToDigits,
    /// The text is wrong by a slip, as a transpose, a sign or an index, and what was meant is plain.
    Misprint,
    /// The statement holds under a hypothesis that the text leaves out.
    HypothesisMissing,
    /// A text about a figure: right of the figure as it was computed, and false of the model that the text states.
    NotOfTheStatedModel,
    /// No point of the enclosure rounds to the printed digits.
    Differs,
    /// The printed bound or statement was meant, and is proven wrong: with the text's own unrounded inputs, and to its own digits.
    Disproved,
    /// The enclosure is too wide to decide.
    Undecided,
    /// It depends on data that are not bundled.
    NeedsData,
    /// It agrees necessarily: the file from which the release was built has the printed value.
    Circular,
    /// No document prints it.
    NotPrinted,
}

impl Verdict {
    /// All verdicts, in the order in which they are counted.
    pub const ALL: [Verdict; 12] = [
        Verdict::Agrees,
        Verdict::AgreesAsRead,
        Verdict::HoldsToDigits,
        Verdict::Misprint,
        Verdict::HypothesisMissing,
        Verdict::NotOfTheStatedModel,
        Verdict::Differs,
        Verdict::Disproved,
        Verdict::Undecided,
        Verdict::NeedsData,
        Verdict::Circular,
        Verdict::NotPrinted,
    ];

    /// The kinds of remark on a text that is not simply wrong, by their names in files.
    pub const OF_EXPLAINED_FAULTS: [(&'static str, Verdict); 3] = [
        ("misprint", Verdict::Misprint),
        ("hypothesis-missing", Verdict::HypothesisMissing),
        ("not-of-the-stated-model", Verdict::NotOfTheStatedModel),
    ];

    /// The word in tables and in JSON, the words of one value and of several, and the order of faults.
    fn row(self) -> (&'static str, &'static str, &'static str, u8) {
        match self {
            Verdict::Agrees => ("agrees", "agrees", "agree", 0),
            Verdict::AgreesAsRead => ("agrees-as-read", "agrees as read", "agree as read", 0),
            Verdict::HoldsToDigits => ("holds-to-digits", "holds to its digits", "hold to their digits", 1),
            Verdict::Misprint => ("misprint", "misprint", "misprints", 2),
            Verdict::HypothesisMissing => ("hypothesis-missing", "lacks a hypothesis", "lack a hypothesis", 3),
            Verdict::NotOfTheStatedModel => {
                ("not-of-the-stated-model", "not of the stated model", "not of the stated model", 4)
            }
            Verdict::Differs => ("differs", "differs", "differ", 5),
            Verdict::Disproved => ("disproved", "disproved", "disproved", 6),
            Verdict::Undecided => ("undecided", "undecided", "undecided", 0),
            Verdict::NeedsData => ("needs-data", "needs data", "need data", 0),
            Verdict::Circular => ("circular", "circular", "circular", 0),
            Verdict::NotPrinted => ("not-printed", "not printed", "not printed", 0),
        }
    }

    /// The word in tables and in JSON.
    pub fn word(self) -> &'static str {
        self.row().0
    }

    /// The word in a sentence about `count` values.
    pub fn in_words(self, count: usize) -> &'static str {
        if count == 1 { self.row().1 } else { self.row().2 }
    }

    /// Whether the printed text has a fault.
    pub fn is_fault(self) -> bool {
        self.gravity() > 0
    }

    /// The order of faults, the gravest last; 0 for none. A fault that several values show is counted with its gravest.
    pub fn gravity(self) -> u8 {
        self.row().3
    }
}

/// A number of which a bound alone is known: that of a guarantee, which a mechanism may satisfy with less, or of a hull that no test attains.
#[derive(Clone, Debug)]
pub enum Bounded {
    /// It is from `least` up to the bound.
    AtMost {
        /// No mechanism is below it.
        least: Rational,
        /// The bound.
        bound: Enclosure,
    },
    /// It is from the bound up to `most`.
    AtLeast {
        /// The bound.
        bound: Enclosure,
        /// No mechanism is above it.
        most: Rational,
    },
    /// That of the account, where the mechanism's own may be smaller or larger: a comparison of two bounds.
    OfAccount {
        /// No mechanism is below it.
        least: Rational,
        /// The account's.
        value: Enclosure,
        /// No mechanism is above it.
        most: Rational,
    },
}

impl Bounded {
    /// The bound, or the account's own number.
    pub fn bound(&self) -> &Enclosure {
        match self {
            Bounded::AtMost { bound, .. }
            | Bounded::AtLeast { bound, .. }
            | Bounded::OfAccount { value: bound, .. } => bound,
        }
    }

    /// All numbers that are possible.
    pub fn possible(&self) -> Enclosure {
        match self {
            Bounded::AtMost { least, bound } => Enclosure::rational(least, bound.upper().prec()).hull(bound),
            Bounded::AtLeast { bound, most } => bound.hull(&Enclosure::rational(most, bound.lower().prec())),
            Bounded::OfAccount { least, value, most } => {
                let exact = |end: &Rational| Enclosure::rational(end, value.lower().prec());
                value.hull(&exact(least)).hull(&exact(most))
            }
        }
    }

    /// The same in another unit.
    pub(super) fn times(&self, factor: u32) -> Self {
        let scaled = |bound: &Enclosure| bound.mul(&Enclosure::double(f64::from(factor), bound.upper().prec()));
        let exact = |value: &Rational| Rational::from(value * factor);
        match self {
            Bounded::AtMost { least, bound } => Bounded::AtMost { least: exact(least), bound: scaled(bound) },
            Bounded::AtLeast { bound, most } => Bounded::AtLeast { bound: scaled(bound), most: exact(most) },
            Bounded::OfAccount { least, value, most } => {
                Bounded::OfAccount { least: exact(least), value: scaled(value), most: exact(most) }
            }
        }
    }

    /// In words, rounded to the safe side.
    fn shown(&self, digits: usize) -> String {
        match self {
            Bounded::AtMost { bound, .. } => format!("at most {}", bound.upper_text(digits)),
            Bounded::AtLeast { bound, .. } => format!("at least {}", bound.lower_text(digits)),
            Bounded::OfAccount { value, .. } => format!("{} by the account", value.shown(digits)),
        }
    }
}

/// The result of a recomputation.
#[derive(Clone, Debug)]
pub enum Computed {
    /// A number.
    Value(Enclosure),
    /// A number of which a bound alone is known.
    Bounded(Bounded),
    /// Whether a statement holds.
    Statement(Certainty),
    /// Nothing, because these data are missing.
    NeedsData(String),
}

impl Computed {
    /// A decided statement.
    pub(super) fn holds(holds: bool) -> Self {
        Computed::Statement(if holds { Certainty::Yes } else { Certainty::No })
    }

    /// The statement that all parts hold: disproved by the first disproved part, and undecided if no part is disproved
    /// but one is undecided.
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
            Computed::Bounded(bounded) => Ok(bounded.possible()),
            Computed::Statement(_) | Computed::NeedsData(_) => {
                Err(Error::fault("a statement was computed where a value was needed"))
            }
        }
    }

    /// The subject of the number, in JSON: the mechanism's own, a bound, or the account's alone; `None` for what is no number.
    pub fn is(&self) -> Option<&'static str> {
        match self {
            Computed::Value(_) => Some("exact"),
            Computed::Bounded(Bounded::AtMost { .. }) => Some("at-most"),
            Computed::Bounded(Bounded::AtLeast { .. }) => Some("at-least"),
            Computed::Bounded(Bounded::OfAccount { .. }) => Some("account"),
            Computed::Statement(_) | Computed::NeedsData(_) => None,
        }
    }

    /// For tables: the value to its proven digits, at most `digits`.
    pub fn shown(&self, digits: usize) -> String {
        match self {
            Computed::Value(value) => value.shown(digits),
            Computed::Bounded(bounded) => bounded.shown(digits),
            Computed::Statement(Certainty::Yes) => "true".to_string(),
            Computed::Statement(Certainty::No) => "false".to_string(),
            Computed::Statement(Certainty::Undecided) => "undecided".to_string(),
            Computed::NeedsData(_) => "-".to_string(),
        }
    }
}

/// Bits of exact numbers among results.
const BITS: u32 = 200;

impl From<Enclosure> for Computed {
    fn from(value: Enclosure) -> Self {
        Computed::Value(value)
    }
}

impl From<Rational> for Computed {
    fn from(value: Rational) -> Self {
        Computed::Value(Enclosure::rational(&value, BITS))
    }
}

impl From<u64> for Computed {
    fn from(value: u64) -> Self {
        Rational::from(value).into()
    }
}

impl From<Certainty> for Computed {
    fn from(certainty: Certainty) -> Self {
        Computed::Statement(certainty)
    }
}

impl From<bool> for Computed {
    fn from(holds: bool) -> Self {
        Computed::holds(holds)
    }
}

/// One end of an enclosure as an exact number. An infinite end is refused: `what` has no finite bound.
pub(super) fn finite(end: &Float, what: &str) -> Result<Rational> {
    end.to_rational().ok_or_else(|| Error::unsuitable(format!("{what} has no finite bound ({end})")))
}

/// 100 (1 - value / whole).
pub(super) fn percent_below(value: &Enclosure, whole: &Enclosure) -> Enclosure {
    const BITS: u32 = 120;
    Enclosure::double(1.0, BITS).sub(&value.div(whole)).mul(&Enclosure::double(100.0, BITS))
}

#[cfg(test)]
mod tests {
    use super::*;

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
