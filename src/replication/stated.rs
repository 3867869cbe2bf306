//! The set of numbers that a printed text stands for, and the verdict on a computed one.

use std::cmp::Ordering;

use rug::{Float, Rational};

use super::verdict::{Bounded, Verdict};
use crate::numeric::Enclosure;

/// The rounding from the true number to the printed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Rounded to the nearest.
    Nearest,
    /// Said to be approximate: within one unit of the last digit.
    About,
    /// Rounded up at the last printed digit.
    Up,
    /// Truncated after the last printed digit.
    Truncated,
}

/// The meaning of a printed text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stated {
    /// Nothing: no document prints it.
    NotPrinted,
    /// A statement that holds.
    Statement,
    /// The exact value.
    Exact(Rational),
    /// A rounded number; `step` is one unit of its last digit.
    Rounded {
        /// The number.
        value: Rational,
        /// One unit of its last printed digit.
        step: Rational,
        /// How it was rounded.
        rounding: Rounding,
    },
    /// An exact number at or above the true one, by less than `within`.
    JustAbove {
        /// The number.
        value: Rational,
        /// Strict upper bound on the excess.
        within: Rational,
    },
    /// Both ends of a range.
    Range(Rational, Rational),
    /// An upper bound; strict if it is printed with `<`.
    AtMost {
        /// The bound.
        bound: Rational,
        /// Whether the true value must be below it.
        strict: bool,
        /// One unit of its last printed digit; `None` for a fraction.
        step: Option<Rational>,
    },
    /// A lower bound; strict if it is printed with `>`.
    AtLeast {
        /// The bound.
        bound: Rational,
        /// Whether the true value must be above it.
        strict: bool,
        /// One unit of its last printed digit; `None` for a fraction.
        step: Option<Rational>,
    },
}

/// An end of the set of numbers that a text stands for.
#[derive(Clone, Debug)]
struct End {
    at: Rational,
    belongs: bool,
}

/// The numbers that a text stands for; a missing end is infinite.
#[derive(Clone, Debug)]
struct Set {
    low: Option<End>,
    high: Option<End>,
}

impl Set {
    fn between(low: Rational, low_belongs: bool, high: Rational, high_belongs: bool) -> Self {
        Set { low: Some(End { at: low, belongs: low_belongs }), high: Some(End { at: high, belongs: high_belongs }) }
    }

    /// Whether a number is above the lower end, or equals it and the end belongs to the set.
    fn is_after_low(&self, value: &Float) -> bool {
        self.low.as_ref().is_none_or(|end| match value.partial_cmp(&end.at) {
            Some(Ordering::Greater) => true,
            Some(Ordering::Equal) => end.belongs,
            Some(Ordering::Less) | None => false,
        })
    }

    fn is_before_high(&self, value: &Float) -> bool {
        self.high.as_ref().is_none_or(|end| match value.partial_cmp(&end.at) {
            Some(Ordering::Less) => true,
            Some(Ordering::Equal) => end.belongs,
            Some(Ordering::Greater) | None => false,
        })
    }

    /// Whether the set contains all of an enclosure, none of it, or neither (`None`).
    fn holds(&self, value: &Enclosure) -> Option<bool> {
        match (self.is_after_low(value.lower()), self.is_before_high(value.upper())) {
            (true, true) => Some(true),
            _ if !self.is_after_low(value.upper()) || !self.is_before_high(value.lower()) => Some(false),
            _ => None,
        }
    }
}

impl Stated {
    /// The verdict of a computed number on the printed text.
    pub fn judge(&self, value: &Enclosure) -> Verdict {
        let wrong = match self {
            Stated::NotPrinted => return Verdict::NotPrinted,
            Stated::Exact(exact) => {
                return if value.contains(exact) { Verdict::Agrees } else { Verdict::Differs };
            }
            Stated::AtMost { .. } | Stated::AtLeast { .. } | Stated::Statement => Verdict::Disproved,
            Stated::Rounded { .. } | Stated::JustAbove { .. } | Stated::Range(..) => Verdict::Differs,
        };
        match self.set().map(|set| set.holds(value)) {
            Some(Some(true)) => Verdict::Agrees,
            Some(Some(false)) => match self.rounds_to(value) {
                Some(true) => Verdict::HoldsToDigits,
                Some(false) => wrong,
                None => Verdict::Undecided,
            },
            Some(None) | None => Verdict::Undecided,
        }
    }

    /// A bound and one unit of its last printed digit.
    fn rounded_bound(&self) -> Option<(&Rational, &Rational)> {
        match self {
            Stated::AtMost { bound, step, .. } | Stated::AtLeast { bound, step, .. } => Some((bound, step.as_ref()?)),
            _ => None,
        }
    }

    /// Whether a computed number rounds to the printed digits of a bound: all of the enclosure, none of it, or neither (`None`). Of what is
    /// no bound it is false.
    fn rounds_to(&self, value: &Enclosure) -> Option<bool> {
        let Some((bound, step)) = self.rounded_bound() else { return Some(false) };
        rounded(bound, step, Rounding::Nearest).holds(value)
    }

    /// The number of significant digits, `printed` or more, to which a computed number rounds to a printed bound.
    pub fn digits_held(&self, value: &Enclosure, printed: u32) -> Option<u32> {
        const MOST: u32 = 30;
        let (bound, step) = self.rounded_bound()?;
        let mut step = step.clone();
        let mut held = None;
        for digits in printed..printed + MOST {
            if rounded(bound, &step, Rounding::Nearest).holds(value) != Some(true) {
                break;
            }
            held = Some(digits);
            step /= 10_u32;
        }
        held
    }

    /// The verdict where a bound alone is known of the number. A printed bound agrees if all possible numbers keep it; another figure
    /// agrees if it is the bound, which is what follows. What only some possible numbers satisfy is undecided.
    pub fn judge_by_bound(&self, bounded: &Bounded) -> Verdict {
        let is_bound = matches!(self, Stated::AtMost { .. } | Stated::AtLeast { .. });
        if !is_bound && self.judge(bounded.bound()) == Verdict::Agrees {
            return Verdict::Agrees;
        }
        match self.judge(&bounded.possible()) {
            Verdict::Agrees if !is_bound => Verdict::Undecided,
            verdict => verdict,
        }
    }

    /// The numbers that it stands for, if any.
    fn set(&self) -> Option<Set> {
        Some(match self {
            Stated::NotPrinted | Stated::Statement => return None,
            Stated::Exact(exact) => Set::between(exact.clone(), true, exact.clone(), true),
            Stated::Rounded { value, step, rounding } => rounded(value, step, *rounding),
            Stated::JustAbove { value, within } => {
                Set::between(Rational::from(value - within), false, value.clone(), true)
            }
            Stated::Range(low, high) => Set::between(low.clone(), true, high.clone(), true),
            Stated::AtMost { bound, strict, .. } => {
                Set { low: None, high: Some(End { at: bound.clone(), belongs: !strict }) }
            }
            Stated::AtLeast { bound, strict, .. } => {
                Set { low: Some(End { at: bound.clone(), belongs: !strict }), high: None }
            }
        })
    }

    /// The printed number; the middle of a range. `None` if there is no number.
    pub fn number(&self) -> Option<Rational> {
        match self {
            Stated::NotPrinted | Stated::Statement => None,
            Stated::Exact(value) | Stated::Rounded { value, .. } | Stated::JustAbove { value, .. } => {
                Some(value.clone())
            }
            Stated::Range(low, high) => Some(Rational::from(low + high) / 2_u32),
            Stated::AtMost { bound, .. } | Stated::AtLeast { bound, .. } => Some(bound.clone()),
        }
    }

    /// The printed number minus the computed one; for a range, from its nearer end.
    pub fn less(&self, value: &Enclosure) -> Option<Enclosure> {
        let number = match self {
            Stated::Range(low, high) => {
                if *value.lower() > *high {
                    high.clone()
                } else {
                    low.clone()
                }
            }
            other => other.number()?,
        };
        // More bits than any enclosure of a published value has.
        Some(Enclosure::rational(&number, 2000).sub(value))
    }

    /// One unit of the last printed digit, if there is one.
    pub fn step(&self) -> Option<&Rational> {
        match self {
            Stated::Rounded { step, .. } => Some(step),
            _ => None,
        }
    }

    /// Another rounding by which the computed number gives the printed digits, in words.
    pub fn other_rounding(&self, value: &Enclosure) -> Option<&'static str> {
        let Stated::Rounded { value: printed, step, rounding } = self else { return None };
        let agrees = |other: Rounding| other != *rounding && rounded(printed, step, other).holds(value) == Some(true);
        if agrees(Rounding::Truncated) {
            Some("the computed number cut off after the printed digits is what is printed")
        } else if agrees(Rounding::Up) {
            Some("the computed number rounded up at the last printed digit is what is printed")
        } else {
            None
        }
    }
}

/// The numbers that a rounded number stands for.
fn rounded(value: &Rational, step: &Rational, rounding: Rounding) -> Set {
    let (below, above) = (Rational::from(value - step), Rational::from(value + step));
    match rounding {
        Rounding::Nearest => {
            let half = Rational::from(step / 2_u32);
            Set::between(Rational::from(value - &half), true, Rational::from(value + &half), true)
        }
        Rounding::About => Set::between(below, true, above, true),
        Rounding::Up => Set::between(below, false, value.clone(), true),
        // Truncation is toward zero.
        Rounding::Truncated if *value < 0 => Set::between(below, false, value.clone(), true),
        Rounding::Truncated => Set::between(value.clone(), true, above, false),
    }
}
