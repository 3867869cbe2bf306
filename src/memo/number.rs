//! A certified number of a memo, with its certificate or the reason why there is none.

use rug::Rational;

use super::folder::File;
use crate::{
    account::Account,
    certificate::{self, Certificate, Given, Question},
    error::{Error, Result},
    law::Direction,
    numeric::{Enclosure, rational},
    release::subject::Resolved,
};

/// A number, both of whose ends are proven.
pub(super) struct Number {
    /// The largest proven lower bound, as text.
    pub lower: String,
    /// The least proven upper bound, as text.
    pub upper: String,
    /// The same, exactly; `None` where a bound is infinite.
    pub ends: [Option<Rational>; 2],
    /// The certificate, or the reason why there is none.
    pub certificate: std::result::Result<File, String>,
    /// The number of block paths, or pairs of them, of which a certificate claims the worst; 0 without one.
    pub units: usize,
}

impl Number {
    /// An epsilon or a delta of a subject. With a certificate, the ends are those that the certificate claims.
    pub fn prove(subject: &Resolved, question: &Question, digits: u32, file: &str) -> Result<Number> {
        Self::prove_of(subject, (question, None), digits, file)
    }

    /// A number of one direction, also of decisions, posteriors of events and tests.
    pub fn prove_of(
        subject: &Resolved,
        (question, direction): (&Question, Option<Direction>),
        digits: u32,
        file: &str,
    ) -> Result<Number> {
        let why = match Certificate::prove_of(subject, question, direction, digits) {
            Ok(certificate) => {
                return Ok(Number::of_certificate(certificate, file, subject.may_be_more_private().is_some()));
            }
            Err(error) if error.is_fatal() => return Err(error),
            Err(error) => reason(error),
        };
        let value = match (question, direction) {
            (Question::Epsilon { delta }, None) => subject.whole.epsilon(delta, digits)?.value,
            (question, direction) => certificate::value_of(&subject.whole, question, direction, digits)?,
        };
        let number = Number::of_enclosure(&value, why);
        Ok(match question {
            // An upper end alone, which the width of the enclosure does not round.
            Question::Outputs { .. } => Number { upper: value.upper_text(digits as usize + 3), ..number },
            _ => number,
        })
    }

    /// The number with as many digits as it needs to say something; with those of the request, if it says nothing with many more.
    pub fn that_says(
        says: impl Fn(&Number) -> bool,
        digits: u32,
        find: impl Fn(u32) -> Result<Number>,
    ) -> Result<Number> {
        let first = find(digits)?;
        let mut more = digits;
        while !says(&first) && more < MOST_DIGITS {
            more = (2 * more).min(MOST_DIGITS);
            match find(more) {
                Ok(number) if says(&number) => return Ok(number),
                Ok(_) => (),
                Err(error) if error.is_fatal() => return Err(error),
                Err(_) => break,
            }
        }
        Ok(first)
    }

    /// Whether the probability that is printed as its upper end is below 1.
    pub fn is_below_one(&self) -> bool {
        is_below_one(&self.upper)
    }

    /// The number that a certificate claims. Its subject names the file, and says whether the mechanism may be more private.
    pub fn of_certificate(mut certificate: Certificate, file: &str, is_upper_bound: bool) -> Number {
        let about = claim_in_words(&certificate);
        certificate.claim.name(&format!("{file}.json"), is_upper_bound);
        let ends = &certificate.claim.ends;
        let file = File { name: format!("certificates/{file}.json"), text: certificate.text(), about };
        Number {
            lower: rational::display(&ends.lower),
            upper: rational::display(&ends.upper),
            ends: [Some(ends.lower.clone()), Some(ends.upper.clone())],
            certificate: Ok(file),
            units: certificate.claim.paths.units().len(),
        }
    }

    /// A number without a certificate.
    pub fn of_enclosure(value: &Enclosure, why: String) -> Number {
        let (lower, upper) = value.decimals();
        Number {
            lower: lower.unwrap_or_else(|| "-inf".to_string()),
            upper: upper.unwrap_or_else(|| "inf".to_string()),
            ends: [value.lower_rational(), value.upper_rational()],
            certificate: Err(why),
            units: 0,
        }
    }

    /// The name of the certificate, for a cell of a table.
    pub fn file(&self) -> String {
        self.certificate.as_ref().map_or_else(|_| "none".to_string(), |file| file.name.clone())
    }
}

/// The most digits of a number that says nothing with fewer, unless more were requested.
const MOST_DIGITS: u32 = 36;

/// The digits in which a number says nothing, for a sentence that says so.
pub(super) fn most_digits(digits: u32) -> u32 {
    digits.max(MOST_DIGITS)
}

/// Whether a printed probability is below 1.
pub(super) fn is_below_one(text: &str) -> bool {
    rational::parse(text).is_ok_and(|value| value < 1)
}

/// A probability as text, rounded up, with as many digits as it needs to be below 1; `None` if it needs more than the most.
pub(super) fn below_one(value: &Rational, digits: u32) -> Option<String> {
    let value = Enclosure::rational(value, BITS.max(8 * digits));
    (digits as usize..=most_digits(digits) as usize)
        .map(|digits| value.upper_text(digits))
        .find(|text| is_below_one(text))
}

/// Bits of a probability that is close to 1.
pub(super) const BITS: u32 = 512;

/// The reason why there is no certificate.
pub(super) fn reason(error: Error) -> String {
    match error {
        Error::Unprovable { why } => why,
        other => other.to_string(),
    }
}

/// The claim of a certificate, in words.
fn claim_in_words(certificate: &Certificate) -> String {
    let claim = &certificate.claim;
    let (lower, upper) = (rational::display(&claim.ends.lower), rational::display(&claim.ends.upper));
    let given = |(name, given): &(&str, Given)| match given {
        Given::Number(value) => format!("{name} = {}", rational::display(value)),
        Given::Word(word) => format!("{name} = {word}"),
        Given::Counts(counts) => {
            format!("{name} = {}", counts.iter().map(i64::to_string).collect::<Vec<_>>().join(" and "))
        }
    };
    let given: Vec<String> = claim.question.given().iter().map(given).collect();
    let about = match &claim.question {
        Question::Scale { .. } => "least factor on all noise (not enough, enough)",
        Question::Decision { .. } => "probability of a correct decision",
        Question::Events { .. } => "posterior probability after events",
        Question::Outputs { .. } => "posterior probability that outputs exceed",
        question => question.about(),
    };
    let direction = match claim.direction {
        Some(Direction::Remove) => ", of presence against absence",
        Some(Direction::Add) => ", of absence against presence",
        None => "",
    };
    format!("{about} between {lower} and {upper} at {}{direction}; {}", given.join(", "), claim.subject)
}

/// A name for a file, of small letters, digits and hyphens.
pub(super) fn slug(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        if letter.is_ascii_alphanumeric() {
            out.push(letter.to_ascii_lowercase());
        } else if !out.ends_with('-') && !out.is_empty() {
            out.push('-');
        }
    }
    let short: String = out.trim_end_matches('-').chars().take(60).collect();
    if short.is_empty() { "input".to_string() } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_have_no_other_letters() {
        let of = ["Block_Group", "../../etc/passwd", "USA level 1", "\u{fc}", "a/../b.toml"].map(slug);
        assert_eq!(of, ["block-group", "etc-passwd", "usa-level-1", "input", "a-b-toml"]);
    }

    #[test]
    fn a_probability_below_one_is_not_printed_as_one() {
        let of = |text: &str| below_one(&rational::parse(text).unwrap(), 12);
        assert_eq!(of("0.75").as_deref(), Some("0.75"));
        assert_eq!(of("0.99999999999999999").as_deref(), Some("0.999999999999999991"));
        assert_eq!(of("0.9999999999999999912").as_deref(), Some("0.999999999999999992"));
        assert_eq!((of("1"), is_below_one("1"), is_below_one("1.00000000006")), (None, false, false));
    }
}
