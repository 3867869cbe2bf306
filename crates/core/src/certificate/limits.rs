//! The limits of the checkers on a certificate as a whole: what is beyond them is refused here, before it is written.

use rug::Rational;
use serde_json::Value;

use super::{
    Certificate, cover,
    ends::check_exponent,
    hints::{Hints, Proof},
    question::{Given, Question},
};
use crate::{
    error::{Error, Result},
    numeric::rational,
};

/// The largest certificate, in bytes.
pub(super) const MOST_BYTES: usize = 1 << 20;
/// The largest number of a claim.
const MOST: u32 = 1_000_000;
/// The longest fraction, in characters.
const LONGEST: usize = 800;

fn unprovable(why: String) -> Error {
    Error::Unprovable { why }
}

impl Certificate {
    /// Refuses a certificate that a checker refuses by its size, by its numbers, or because hints are each within a limit of work and together are not.
    pub(super) fn within_the_checkers_limit(self) -> Result<Certificate> {
        let all = || self.lower.iter().chain(&self.upper);
        cover::check_looked_at(all().map(Hints::looked_at).sum())?;
        self.check_numbers()?;
        // Hints without nodes multiply by exp(epsilon) itself.
        if all().any(|hints| !matches!(hints.proof, Proof::Contour(_))) {
            self.epsilons().try_for_each(|epsilon| check_exponent(&epsilon))?;
        }
        self.points.iter().flatten().try_for_each(check_exponent)?;
        let text = self.text();
        if text.len() > MOST_BYTES {
            return Err(unprovable(format!(
                "the certificate has {} bytes, and a checker reads at most {MOST_BYTES}",
                text.len()
            )));
        }
        match serde_json::from_str::<Value>(&text).ok().as_ref().and_then(longest) {
            Some(long) if long > LONGEST => Err(unprovable(format!(
                "a number of the certificate has {long} characters, and a checker reads at most {LONGEST}"
            ))),
            _ => Ok(self),
        }
    }

    fn check_numbers(&self) -> Result<()> {
        let given = self.claim.question.given().into_iter().filter_map(|(_, given)| match given {
            Given::Number(value) => Some(value),
            Given::Word(_) | Given::Counts(_) => None,
        });
        let ends = [self.claim.ends.lower.clone(), self.claim.ends.upper.clone()];
        match given.chain(ends).find(|value| *value > MOST) {
            Some(value) => Err(unprovable(format!(
                "certificates have no number above {MOST}, and one of this claim is {}",
                rational::display(&value)
            ))),
            None => Ok(()),
        }
    }

    /// The values of epsilon whose delta is proven.
    fn epsilons(&self) -> impl Iterator<Item = Rational> {
        let ends = &self.claim.ends;
        let all = match &self.claim.question {
            Question::Epsilon { .. } => vec![ends.lower.clone(), ends.upper.clone()],
            Question::Delta { epsilon } => vec![Rational::clone(epsilon)],
            Question::Scale { target: super::Target::Epsilon(epsilon), .. } => vec![Rational::clone(epsilon)],
            _ => Vec::new(),
        };
        all.into_iter()
    }
}

/// The length of the longest text of digits, and nothing else but a sign and a fraction bar.
fn longest(value: &Value) -> Option<usize> {
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'/'));
    match value {
        Value::String(text) => is_number(text).then_some(text.len()),
        Value::Array(all) => all.iter().filter_map(longest).max(),
        Value::Object(all) => all.values().filter_map(longest).max(),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{numeric::rational::parse, release::subject::Subject};

    /// The reason why a claim of these counts is refused.
    fn why(counts: &str, question: &Question) -> String {
        let subject = Subject { singles: vec![counts.parse().unwrap()], ..Subject::default() }.resolve().unwrap();
        Certificate::prove(&subject, question, 6).unwrap_err().to_string()
    }

    #[test]
    fn numbers_and_exponents_beyond_those_of_a_checker_are_refused() {
        let text = why("1e-4@20", &Question::Zcdp { delta: "1e-9".parse().unwrap() });
        assert!(text.contains("no number above 1000000"), "{text}");
        let text = why("5", &Question::Posterior { prior: parse("1/2").unwrap(), noisy: vec![1_000_000] });
        assert!(text.contains("exponents below 16384"), "{text}");
        assert!(check_exponent(&parse("-16383.5").unwrap()).is_ok());
        assert!(check_exponent(&parse("-16384").unwrap()).is_err());
        let long = Value::from(vec!["1/3".to_string(), "7".repeat(900), "x".repeat(2000)]);
        assert_eq!(longest(&long), Some(900));
    }
}
