//! The memo of a release, or of counts given one by one.

use std::path::Path;

use rug::{Integer, Rational};

use super::{
    decisions::{Stated, lies_between, numbers, question, stated},
    draft::{Draft, changed, common_assumptions, common_limits},
    folder::{Memo, Request},
    number::{BITS, Number, below_one, most_digits, slug},
    sentence::{borne, definition, least_epsilon, unborne},
};
use crate::{
    account::{
        Account, Epsilon,
        compared::{Against, Compared},
    },
    certificate::Question,
    document::{Block, table},
    error::{Error, Result},
    io::provenance::sha256_of_text,
    numeric::{Enclosure, parallel, rational},
    release::subject::Resolved,
};

/// A part of the release with its epsilon.
struct Line {
    name: String,
    rho: Rational,
    /// `None` where no epsilon is finite at delta.
    epsilon: Option<Number>,
    compared: Option<Compared>,
}

/// The reason of a line without an epsilon.
const INFINITE: &str = "no epsilon is finite at this delta";

/// The memo of a subject, of the release file from which it was made, by its name and its text, and of the files with the masses of its laws.
pub fn of_release(
    subject: &Resolved,
    release: Option<(&str, &str)>,
    files: &[String],
    request: &Request,
) -> Result<Memo> {
    let mut draft = Draft { title: format!("Privacy memo: {}", subject.title), ..Draft::default() };
    if let Some((name, text)) = release {
        if subject.release_sha256().is_some_and(|sha256| sha256 != sha256_of_text(text)) {
            return Err(changed(name));
        }
        draft.copy(name, text.to_string());
    }
    for file in files {
        draft.copy_file(Path::new(file), request)?;
    }
    let everything = everything(subject);
    let is_exact = subject.may_be_more_private().is_none();
    let more = stated(&everything, request, is_exact)?;
    let lines = lines(subject, request)?;
    let no_epsilon = Question::Delta { epsilon: Epsilon::try_from(Rational::new())? };
    let advantage = Number::that_says(Number::is_below_one, request.digits, |digits| {
        Number::prove(&everything, &no_epsilon, digits, "delta-at-epsilon-0")
    })?;
    let Some(whole) = lines.last() else { return Err(Error::EmptyComposition) };
    draft.about = vec![format!(
        "{} neighbors ({}), delta = {}",
        subject.neighbors.name(),
        subject.unit().meaning(),
        rational::display(&request.delta)
    )];
    draft.statement = statement(subject, whole, &advantage, &more, request);
    draft.numbers = tables(&lines, &advantage, is_exact);
    if !more.is_empty() {
        draft.numbers.push(numbers(&more, is_exact));
    }
    for line in &lines {
        match &line.epsilon {
            Some(number) => draft.take(&format!("epsilon of {}", line.name), number),
            None => draft.without.push((format!("epsilon of {}", line.name), INFINITE.to_string())),
        }
    }
    draft.take("advantage", &advantage);
    more.iter().for_each(|stated| draft.take(&stated.name, &stated.number));
    draft.assumptions = assumptions(subject, request);
    draft.not_said = common_limits();
    Ok(draft.finish(request))
}

/// The tables of epsilon and of the advantage.
fn tables(lines: &[Line], advantage: &Number, is_exact: bool) -> Vec<Block> {
    vec![
        table(
            format!("Epsilon{}.", lies_between(is_exact)),
            &["", "rho", "epsilon, at least", "epsilon, at most", "compared with", "which gives", "certificate"],
            lines.iter().map(row).collect(),
            &[0, 4, 6],
        ),
        table(
            format!(
                "The advantage of an adversary, delta at epsilon = 0 (the largest difference of the probabilities of a set of outputs under two neighbors){}.",
                lies_between(is_exact)
            ),
            &["", "at least", "at most", "certificate"],
            vec![vec!["all".to_string(), advantage.lower.clone(), advantage.upper.clone(), advantage.file()]],
            &[0, 3],
        ),
    ]
}

/// The subject under a title that says that it is everything: no certificate of a level has it.
fn everything(subject: &Resolved) -> Resolved {
    let whole = if subject.levels.is_empty() { "all" } else { "all composed" };
    let mut all = subject.clone();
    all.title = format!("{}, {whole}", subject.title);
    all
}

/// The levels, and the whole last.
fn lines(subject: &Resolved, request: &Request) -> Result<Vec<Line>> {
    let parts = subject.parts();
    let names = subject.levels.iter().map(|part| part.name.clone());
    let of_levels = names.zip(&parts).enumerate().map(|(at, (name, part))| {
        let file = format!("epsilon-{}-{}", at + 1, slug(&name));
        (name, part, file)
    });
    let whole = if parts.is_empty() { "all" } else { "all composed" };
    let everything = everything(subject);
    let all: Vec<_> = of_levels.chain([(whole.to_string(), &everything, "epsilon-all".to_string())]).collect();
    parallel::try_map(&all, |(name, part, file)| {
        let question = Question::Epsilon { delta: request.delta.clone() };
        let (epsilon, compared) = match Number::prove(part, &question, request.digits, file) {
            Ok(number) => {
                let compared = part.compared(Against::Usual, &request.delta, request.digits.min(20))?;
                (Some(number), Some(compared))
            }
            Err(Error::InfiniteLoss { .. }) => (None, None),
            Err(error) => return Err(error),
        };
        Ok(Line { name: name.clone(), rho: part.whole.rho().into(), epsilon, compared })
    })
}

fn row(line: &Line) -> Vec<String> {
    let rho = Enclosure::rational(&line.rho, 64).shown(6);
    let (Some(epsilon), Some(compared)) = (&line.epsilon, &line.compared) else {
        let cells = [rho.as_str(), "infinite", "infinite", "-", "-", "none"].map(String::from);
        return std::iter::once(line.name.clone()).chain(cells).collect();
    };
    let by = match &compared.published {
        Some(figure) => format!("published {}, by {}", figure.printed, compared.by.name()),
        None => compared.by.name().to_string(),
    };
    vec![
        line.name.clone(),
        rho,
        epsilon.lower.clone(),
        epsilon.upper.clone(),
        by,
        // The epsilon of an account is an upper bound, and stays one if it is rounded up.
        compared.epsilon.upper_text(6),
        epsilon.file(),
    ]
}

fn statement(subject: &Resolved, whole: &Line, advantage: &Number, more: &[Stated], request: &Request) -> Vec<String> {
    let delta = rational::display(&request.delta);
    let more_private = subject.may_be_more_private();
    // The inputs say neither who may differ nor how often everything is released.
    let unit = subject.unit();
    let everything = match unit.repeat {
        1 => String::new(),
        repeat => {
            format!("Everything described in the inputs is released {repeat} times, each time with noise of its own. ")
        }
    };
    let difference = unit.difference();
    let mut said = vec![unborne(&format!("{everything}Neighbors are two data sets of which {difference}."))];
    said.extend(match &whole.epsilon {
        Some(epsilon) => of_epsilon(epsilon, more_private, &delta),
        None => vec![unborne(&of_infinite_losses(subject, more_private, &delta))],
    });
    if let Some(why) = more_private {
        said.push(unborne(&format!("The mechanism may be more private: {why}.")));
    }
    said.extend(decision(subject, advantage, more_private, request.digits));
    said.extend(more.iter().flat_map(|stated| stated.sentences.clone()));
    if let (Some(epsilon), Some(compared)) = (&whole.epsilon, &whole.compared)
        && epsilon.ends[1] != Some(Rational::new())
    {
        said.push(unborne(&beside(epsilon, compared)));
    }
    said.extend(subject.conditions().iter().map(|condition| unborne(condition)));
    if let Some(ways) = subject.ways() {
        said.push(unborne(&format!("These numbers are the worst of {ways}.")));
    }
    said
}

/// What an epsilon says; of an epsilon of zero only that it is enough.
fn of_epsilon(epsilon: &Number, more_private: Option<&str>, delta: &str) -> Vec<String> {
    let (lower, upper) = (&epsilon.lower, &epsilon.upper);
    if epsilon.ends[1] == Some(Rational::new()) {
        let enough = format!(
            "At delta = {delta}, epsilon = {upper} is enough: between neighbors the probabilities of no set of outputs differ by more than delta."
        );
        return vec![borne(epsilon, enough)];
    }
    let (ends, none_below) = match more_private {
        None => (
            format!("at least {lower} and at most {upper}"),
            format!(" In this account no epsilon below {lower} is enough."),
        ),
        Some(_) => (format!("at most {upper}"), String::new()),
    };
    vec![
        borne(epsilon, least_epsilon("everything described in the inputs is", "", delta, &ends)),
        borne(epsilon, format!("{}{none_below}", definition(upper, delta))),
    ]
}

/// Why no epsilon is finite at delta.
fn of_infinite_losses(subject: &Resolved, more_private: Option<&str>, delta: &str) -> String {
    let mass = subject.whole.infinite_loss().map_or(String::new(), |infinite| infinite.mass(12).shown(7));
    match more_private {
        None => format!(
            "At delta = {delta}, no epsilon is finite: with probability {mass} an output occurs that only one of two neighbors can have."
        ),
        Some(_) => format!(
            "At delta = {delta}, no finite epsilon follows from the inputs: they allow outputs that only one of two neighbors can have, with probability {mass}."
        ),
    }
}

/// What an adversary can decide, from the advantage.
fn decision(subject: &Resolved, advantage: &Number, more_private: Option<&str>, digits: u32) -> Vec<String> {
    let [Some(least), Some(most)] = &advantage.ends else { return Vec::new() };
    let mut said = vec![match below_one(&right(most), 12) {
        Some(right) => borne(
            advantage,
            format!(
                "An adversary who knows everything else and decides, from all that is published, {}, with even odds beforehand, is right with a probability of at most {right}: \
                 at most {} times in 100.",
                question(subject),
                in_hundred(most),
            ),
        ),
        None => unborne(&format!(
            "No probability of a correct decision below 1 is proven in {} digits, with even odds beforehand.",
            most_digits(digits)
        )),
    }];
    if more_private.is_none() {
        let least = Enclosure::rational(&right(least), BITS).lower_text(12);
        said.push(borne(advantage, format!("Some rule of decision is right with a probability of at least {least}.")));
    }
    said
}

/// The probability of a right decision at even odds, (1 + delta(0)) / 2: half of the complements of both errors, whose largest sum over all
/// rules of decision is 1 + delta(0).
fn right(advantage: &Rational) -> Rational {
    Rational::from(advantage + 1_u32) / 2_u32
}

/// The same as times in a hundred, rounded up to the next tenth; to a smaller unit where that would be all of them.
fn in_hundred(advantage: &Rational) -> String {
    let times = right(advantage) * 100_u32;
    let rounded = |places: u32| {
        let unit = Rational::from(Integer::from(Integer::u_pow_u(10, places))).recip();
        Rational::from(&times / &unit).ceil() * unit
    };
    let fits = (1..=100).map(rounded).find(|rounded| *rounded < 100);
    rational::display(&fits.unwrap_or_else(|| Rational::from(100)))
}

/// The epsilon of the whole and the number with which it is compared.
fn beside(epsilon: &Number, compared: &Compared) -> String {
    let bound = compared.epsilon.upper_text(6);
    let Some(figure) = &compared.published else {
        return format!("By {}, the smallest standard account, epsilon would be at most {bound}.", compared.by.name());
    };
    let relation = match &epsilon.ends {
        [_, Some(upper)] if *upper < figure.value => "below the printed number",
        [Some(lower), _] if *lower > figure.value => "above the printed number, which is no bound",
        _ => "not separated from the printed number",
    };
    format!(
        "The published epsilon is {}, by {}; without rounding that account gives at most {bound}. The epsilon of this memo is {relation}. Source: {}.",
        figure.printed,
        compared.by.name(),
        figure.source,
    )
}

fn assumptions(subject: &Resolved, request: &Request) -> Vec<String> {
    let relation = subject.unit().difference();
    let mut all = vec![
        format!("Neighbors: two data sets are neighbors if {relation}."),
        format!(
            "Delta = {}: every epsilon is the least at this delta, and at no other.",
            rational::display(&request.delta)
        ),
    ];
    all.extend(common_assumptions());
    all.extend(subject.note());
    if subject.whole.infinite_loss().is_some() {
        all.push("Some outputs occur under only one of two neighbors; their probability is part of delta.".to_string());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_are_rounded_up() {
        let of = |text: &str| in_hundred(&rational::parse(text).unwrap());
        assert_eq!(["0", "1", "0.5", "0.8232807334", "0.5000000001"].map(of), ["50", "100", "75", "91.2", "75.1"]);
        // All of them only where nothing smaller is proven.
        assert_eq!(["0.9989", "0.9999", "0.99999998"].map(of), ["99.95", "99.995", "99.999999"]);
        assert_eq!(right(&rational::parse("0.5").unwrap()), Rational::from((3, 4)));
    }
}
