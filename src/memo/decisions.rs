//! Decisions at a prior, posteriors of events, and tests, in the memo of a release.

use rug::Rational;

use super::{
    folder::Request,
    number::{BITS, Number, below_one, most_digits},
    sentence::{borne, unborne},
};
use crate::{
    certificate::Question,
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
        all.extend(match request.of_outputs {
            true => outputs(subject, prior, request)?,
            false => events(subject, prior, request, is_exact)?,
        });
    }
    if let Some(alpha) = &request.alpha {
        all.extend(tests(subject, alpha, request.digits, is_exact)?);
    }
    Ok(all)
}

/// What a table of numbers with two ends says of them: the truth lies there, or that of an account than which the mechanism may be more private.
pub(super) fn lies_between(is_exact: bool) -> &'static str {
    match is_exact {
        true => ": the truth lies between both ends",
        false => ": the number of the account lies between both ends; the mechanism may be more private",
    }
}

/// Their table.
pub(super) fn numbers(all: &[Stated], is_exact: bool) -> Block {
    let row = |stated: &Stated| {
        let Stated { name, number, .. } = stated;
        vec![name.clone(), number.lower.clone(), number.upper.clone(), number.file()]
    };
    table(
        format!("Decisions, posteriors and tests{}.", lies_between(is_exact)),
        &["", "at least", "at most", "certificate"],
        all.iter().map(row).collect(),
        &[0, 3],
    )
}

fn decision(subject: &Resolved, prior: &Rational, digits: u32, is_exact: bool) -> Result<Stated> {
    let (direction, answer) = meant(subject);
    let asked = Question::Decision { prior: prior.clone() };
    let number = Number::that_says(Number::is_below_one, digits, |digits| {
        Number::prove_of(subject, (&asked, direction), digits, "decision")
    })?;
    let (prior, lower, upper) = (rational::display(prior), &number.lower, &number.upper);
    let mut said = vec![match number.is_below_one() {
        true => borne(
            &number,
            format!(
                "An adversary who knows everything else and decides, from all that is published, {}, with a prior probability of {prior} for {answer}, is right with a probability of at most {upper}.",
                question(subject)
            ),
        ),
        false => unborne(&format!(
            "No probability of a correct decision below 1 is proven in {} digits, with a prior probability of {prior} for {answer}.",
            most_digits(digits)
        )),
    }];
    if is_exact && direction.is_some() {
        let attained = format!(
            "With a prior probability of {prior} for {answer}, some rule of decision is right with a probability of at least {lower}."
        );
        said.push(borne(&number, attained));
    }
    let name = format!("probability of a correct decision, prior {prior} of {answer}");
    Ok(Stated { name, sentences: said, number })
}

/// A number of one answer, or of either.
type OfAnswer = (Option<Direction>, Number);

/// The posterior of both answers where that has a certificate and is below 1; else one of each, where neighbors have directions. The first file is that of both and of
/// presence.
fn of_answers(subject: &Resolved, asked: &Question, digits: u32, file: &str) -> Result<Vec<OfAnswer>> {
    let find = |direction, file: &str| {
        Number::that_says(Number::is_below_one, digits, |digits| {
            Number::prove_of(subject, (asked, direction), digits, file)
        })
    };
    let both = find(None, file)?;
    if subject.neighbors == Neighbors::Bounded || both.certificate.is_ok() && both.is_below_one() {
        return Ok(vec![(None, both)]);
    }
    let each = [(Direction::Remove, file), (Direction::Add, "posterior-of-absence")]
        .map(|(direction, file)| Ok((Some(direction), find(Some(direction), file)?)));
    let each = each.into_iter().collect::<Result<Vec<OfAnswer>>>()?;
    // Two upper bounds that say no more than one of both.
    let is_better = |(_, one): &OfAnswer| one.is_below_one() && (one.certificate.is_ok() || !both.is_below_one());
    match matches!(asked, Question::Outputs { .. }) && !each.iter().any(is_better) {
        true => Ok(vec![(None, both)]),
        false => Ok(each),
    }
}

fn events(subject: &Resolved, prior: &Rational, request: &Request, is_exact: bool) -> Result<Vec<Stated>> {
    let asked = Question::Events { prior: prior.clone(), probability: request.delta.clone() };
    let all = of_answers(subject, &asked, request.digits, "posterior-of-events")?;
    Ok(all.into_iter().map(|of| of_events(subject, prior, of, request, is_exact)).collect())
}

fn of_events(
    subject: &Resolved,
    prior: &Rational,
    (direction, number): OfAnswer,
    request: &Request,
    is_exact: bool,
) -> Stated {
    let (prior, least, answer) = (rational::display(prior), rational::display(&request.delta), answer(direction));
    let name = format!("posterior probability after events of probability {least}, prior {prior} of {answer}");
    if !number.is_below_one() {
        let sentence = format!(
            "No posterior probability below 1 is proven in {} digits for events of probability {least}, from a prior of {prior} for {answer}.",
            most_digits(request.digits)
        );
        return Stated { name, number, sentences: vec![unborne(&sentence)] };
    }
    let (lower, upper) = (&number.lower, &number.upper);
    let mut said = vec![format!(
        "An adversary who knows everything else, considers {}, and has a prior probability of {prior} for {answer}, has a posterior probability of at most {upper} for it after every event that then has at least probability {least}.",
        question(subject)
    )];
    // Of block paths that differ an upper end alone may be certified.
    if is_exact && number.ends[0].as_ref().is_none_or(|lower| *lower > 0) {
        said.push(format!(
            "After some event that has at least probability {least} with {answer}, its posterior probability from a prior of {prior} is at least {lower}."
        ));
    }
    Stated { name, sentences: said.into_iter().map(|said| borne(&number, said)).collect(), number }
}

/// Upper ends alone, whatever is computed from the outputs.
fn outputs(subject: &Resolved, prior: &Rational, request: &Request) -> Result<Vec<Stated>> {
    let asked = Question::Outputs { prior: prior.clone(), probability: request.delta.clone() };
    let all = of_answers(subject, &asked, request.digits, "posterior-of-outputs")?;
    Ok(all.into_iter().map(|of| of_outputs(subject, prior, of, request)).collect())
}

fn of_outputs(subject: &Resolved, prior: &Rational, (direction, number): OfAnswer, request: &Request) -> Stated {
    let (prior, most, answer) = (rational::display(prior), rational::display(&request.delta), answer(direction));
    let name =
        format!("posterior probability that outputs exceed with probability {most} at most, prior {prior} of {answer}");
    let sentence = match number.is_below_one() {
        true => borne(
            &number,
            format!(
                "An adversary who knows everything else, considers {}, and has a prior probability of {prior} for {answer}, has a posterior probability above {} for it with a probability of at most {most} where that answer is the truth.",
                question(subject),
                number.upper
            ),
        ),
        false => unborne(&format!(
            "No posterior probability below 1 is proven in {} digits that outputs exceed with a probability of at most {most}, from a prior of {prior} for {answer}.",
            most_digits(request.digits)
        )),
    };
    Stated { name, sentences: vec![sentence], number }
}

/// Tests of presence and of absence; under bounded neighbors, where no data set is the one with the record, of either answer.
fn tests(subject: &Resolved, alpha: &Rational, digits: u32, is_exact: bool) -> Result<Vec<Stated>> {
    let all = match subject.neighbors {
        Neighbors::AddRemove => vec![(Some(Direction::Remove), "test"), (Some(Direction::Add), "test-of-absence")],
        Neighbors::Bounded => vec![(None, "test")],
    };
    all.into_iter().map(|of| test(subject, alpha, of, (digits, is_exact))).collect()
}

fn test(
    subject: &Resolved,
    alpha: &Rational,
    (direction, file): (Option<Direction>, &str),
    (digits, is_exact): (u32, bool),
) -> Result<Stated> {
    let (asked, answer) = (Question::Beta { alpha: alpha.clone() }, answer(direction));
    let is_above_zero = |number: &Number| number.ends[0].as_ref().is_some_and(|lower| *lower > 0);
    let number = Number::that_says(is_above_zero, digits, |digits| {
        Number::prove_of(subject, (&asked, direction), digits, file)
    })?;
    let [Some(lower), Some(upper)] = &number.ends else { return Err(Error::Unbounded { what: "the power of tests" }) };
    let shown = digits + 3;
    let alpha = rational::display(alpha);
    let mut said = vec![match below_one(&Rational::from(1 - lower), shown) {
        Some(power) => borne(
            &number,
            format!(
                "No test that finds {answer} wrongly with a probability of at most {alpha} finds it rightly with a probability above {power}."
            ),
        ),
        None => unborne(&format!(
            "No power below 1 is proven in {} digits of tests that find {answer} wrongly with a probability of at most {alpha}.",
            most_digits(shown)
        )),
    }];
    let attained = Enclosure::rational(&Rational::from(1 - upper), BITS);
    if is_exact && direction.is_some() && *upper < 1 {
        let sentence = format!(
            "Some test that finds {answer} wrongly with a probability of at most {alpha} finds it rightly with a probability of at least {}.",
            attained.lower_text(shown as usize)
        );
        said.push(borne(&number, sentence));
    }
    let name = format!("type II error of the best test of {answer}, type I error {alpha}");
    Ok(Stated { name, sentences: said, number })
}
