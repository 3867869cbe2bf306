//! Decisions at a prior, posteriors of events, and tests, in the memo of a release.

use rug::Rational;

use super::{
    folder::Request,
    number::Number,
    sentence::{borne, unborne},
};
use crate::{
    certificate::{Certificate, Question},
    document::{Block, table},
    error::{Error, Result},
    law::Direction,
    numeric::{Enclosure, rational},
    release::{Neighbors, subject::Resolved},
};

/// A number with its name and its sentences.
pub(super) struct Stated {
    pub name: String,
    pub number: Number,
    pub sentences: Vec<String>,
}

/// The question of an adversary, between commas.
pub(super) fn question(subject: &Resolved) -> String {
    subject.unit().question().trim_end_matches(',').to_string()
}

/// The direction of a prior, and its name in a sentence. Of bounded neighbors neither data set is the first.
fn meant(subject: &Resolved) -> (Option<Direction>, &'static str) {
    match subject.neighbors {
        Neighbors::AddRemove => (Some(Direction::Remove), answer(Some(Direction::Remove))),
        Neighbors::Bounded => (None, answer(None)),
    }
}

fn answer(direction: Option<Direction>) -> &'static str {
    match direction {
        Some(Direction::Remove) => "presence",
        Some(Direction::Add) => "absence",
        None => "either answer",
    }
}

/// What the request asks for beside epsilon. Lower ends are stated of the declared mechanism only.
pub(super) fn stated(subject: &Resolved, request: &Request, is_exact: bool) -> Result<Vec<Stated>> {
    let mut all = Vec::new();
    if let Some(prior) = &request.prior {
        all.push(decision(subject, prior, request.digits, is_exact)?);
        match request.of_outputs {
            true => all.push(outputs(subject, prior, request)?),
            false => all.extend(events(subject, prior, request, is_exact)?),
        }
    }
    if let Some(alpha) = &request.alpha {
        all.push(test(subject, alpha, request.digits, is_exact)?);
    }
    Ok(all)
}

/// Their table.
pub(super) fn numbers(all: &[Stated]) -> Block {
    let row = |stated: &Stated| {
        let Stated { name, number, .. } = stated;
        vec![name.clone(), number.lower.clone(), number.upper.clone(), number.file()]
    };
    table(
        "Decisions, posteriors and tests: the truth lies between both ends.",
        &["", "at least", "at most", "certificate"],
        all.iter().map(row).collect(),
        &[0, 3],
    )
}

fn decision(subject: &Resolved, prior: &Rational, digits: u32, is_exact: bool) -> Result<Stated> {
    let (direction, answer) = meant(subject);
    let asked = Question::Decision { prior: prior.clone() };
    let number = Number::prove_of(subject, (&asked, direction), digits, "decision")?;
    let (prior, lower, upper) = (rational::display(prior), &number.lower, &number.upper);
    let mut said = vec![format!(
        "An adversary who knows everything else and decides, from all that is published, {}, with a prior probability of {prior} for {answer}, is right with a probability of at most {upper}.",
        question(subject)
    )];
    if is_exact && direction.is_some() {
        said.push(format!(
            "With a prior probability of {prior} for {answer}, some rule of decision is right with a probability of at least {lower}."
        ));
    }
    let name = format!("probability of a correct decision, prior {prior} of {answer}");
    Ok(Stated { name, sentences: said.into_iter().map(|said| borne(&number, said)).collect(), number })
}

/// One number of both answers, where one certificate is about both; else one of each.
fn events(subject: &Resolved, prior: &Rational, request: &Request, is_exact: bool) -> Result<Vec<Stated>> {
    let asked = Question::Events { prior: prior.clone(), probability: request.delta.clone() };
    let of = |number, direction| of_events(subject, (prior, direction), number, request, is_exact);
    match Certificate::prove_of(subject, &asked, None, request.digits) {
        Ok(certificate) => {
            return Ok(vec![of(Number::of_certificate(certificate, "posterior-of-events"), None)]);
        }
        Err(error) if error.is_fatal() => return Err(error),
        Err(_) if subject.neighbors == Neighbors::AddRemove => (),
        Err(_) => {
            return Ok(vec![of(Number::prove(subject, &asked, request.digits, "posterior-of-events")?, None)]);
        }
    }
    let each = |(direction, file)| -> Result<Stated> {
        Ok(of(Number::prove_of(subject, (&asked, Some(direction)), request.digits, file)?, Some(direction)))
    };
    [(Direction::Remove, "posterior-of-events"), (Direction::Add, "posterior-of-absence")]
        .into_iter()
        .map(each)
        .collect()
}

fn of_events(
    subject: &Resolved,
    (prior, direction): (&Rational, Option<Direction>),
    number: Number,
    request: &Request,
    is_exact: bool,
) -> Stated {
    let (prior, least, answer) = (rational::display(prior), rational::display(&request.delta), answer(direction));
    let name = format!("posterior probability after events of probability {least}, prior {prior} of {answer}");
    let is_below_one = number.ends[1].as_ref().is_some_and(|upper| *upper < 1);
    if !is_below_one {
        let sentence = format!(
            "No posterior probability below 1 is proven for events of probability {least}, from a prior of {prior} for {answer}."
        );
        return Stated { name, number, sentences: vec![unborne(&sentence)] };
    }
    let (lower, upper) = (&number.lower, &number.upper);
    let mut said = vec![format!(
        "An adversary who knows everything else, considers {}, and has a prior probability of {prior} for {answer}, has a posterior probability of at most {upper} for it after every event that then has at least probability {least}.",
        question(subject)
    )];
    if is_exact {
        said.push(format!(
            "After some event that has at least probability {least} with {answer}, its posterior probability from a prior of {prior} is at least {lower}."
        ));
    }
    Stated { name, sentences: said.into_iter().map(|said| borne(&number, said)).collect(), number }
}

/// An upper end alone: of both answers, whatever is computed from the outputs.
fn outputs(subject: &Resolved, prior: &Rational, request: &Request) -> Result<Stated> {
    let asked = Question::Outputs { prior: prior.clone(), probability: request.delta.clone() };
    let number = Number::prove(subject, &asked, request.digits, "posterior-of-outputs")?;
    let (prior, most, answer) = (rational::display(prior), rational::display(&request.delta), answer(None));
    let name =
        format!("posterior probability that outputs exceed with probability {most} at most, prior {prior} of {answer}");
    let is_below_one = number.ends[1].as_ref().is_some_and(|upper| *upper < 1);
    if !is_below_one {
        let sentence = format!(
            "No posterior probability below 1 is proven that outputs exceed with a probability of at most {most}, from a prior of {prior} for {answer}."
        );
        return Ok(Stated { name, number, sentences: vec![unborne(&sentence)] });
    }
    let sentence = format!(
        "An adversary who knows everything else, considers {}, and has a prior probability of {prior} for {answer}, has a posterior probability above {} for it with a probability of at most {most} where that answer is the truth.",
        question(subject),
        number.upper
    );
    Ok(Stated { name, sentences: vec![borne(&number, sentence)], number })
}

fn test(subject: &Resolved, alpha: &Rational, digits: u32, is_exact: bool) -> Result<Stated> {
    let (direction, answer) = meant(subject);
    let asked = Question::Beta { alpha: alpha.clone() };
    let number = Number::prove_of(subject, (&asked, direction), digits, "test")?;
    let [Some(lower), Some(upper)] = &number.ends else { return Err(Error::Unbounded { what: "the power of tests" }) };
    let power = |beta: &Rational| Enclosure::rational(&Rational::from(1 - beta), 256);
    let alpha = rational::display(alpha);
    let mut said = vec![format!(
        "No test that finds {answer} wrongly with a probability of at most {alpha} finds it rightly with a probability above {}.",
        power(lower).upper_text(digits as usize + 3)
    )];
    if is_exact && direction.is_some() {
        said.push(format!(
            "Some test that finds {answer} wrongly with a probability of at most {alpha} finds it rightly with a probability of at least {}.",
            power(upper).lower_text(digits as usize + 3)
        ));
    }
    let name = format!("type II error of the best test of {answer}, type I error {alpha}");
    Ok(Stated { name, sentences: said.into_iter().map(|said| borne(&number, said)).collect(), number })
}
