//! The answers of a report in sentences, for readers who read nothing else.

use dp_assay::{
    account::{Account, Delta, compared::Compared},
    numeric::{Enclosure, rational},
    release::subject::Resolved,
    topdown::nmf::audit::NmfAudit,
};
use rug::{Integer, Rational, ops::Pow};

use super::super::{calibrate::Row, compared, epsilon, nmf::audit::notes, output::exact_text, risk::bound};
use super::answers::{Drawn, Spared, reduction};
pub use dp_assay::provenance::command_line;

/// How private?
pub fn how_private(delta: &Delta, subject: &Resolved, found: &epsilon::Found) -> Vec<String> {
    let total = &found.total;
    let what =
        if found.levels.is_empty() { "What is published" } else { "Everything that is published, taken together," };
    let is_bound = subject.may_be_more_private().is_some();
    let mut said = vec![format!(
        "{what} has an epsilon of {}{} at delta = {}. Smaller is more private.",
        if is_bound { "at most " } else { "" },
        total.epsilon.value.upper_text(6),
        exact_text(delta)
    )];
    said.push(beside(&total.epsilon.value, &total.compared, is_bound));
    if let (Some(least), Some(most)) = extremes(&found.levels, |line| line.epsilon.value.approximate()) {
        let of = |line: &epsilon::Line| format!("{} ({})", line.epsilon.value.upper_text(4), line.name);
        let are = if is_bound { "are at most between" } else { "are between" };
        said.push(format!("The {}s alone {are} {} and {}.", subject.part_word, of(least), of(most)));
    }
    said
}

/// An epsilon and its comparison; of an account that is only a bound for the mechanism, the bound.
fn beside(epsilon: &Enclosure, compared: &Compared, is_bound: bool) -> String {
    let own = if is_bound { "This bound" } else { "The exact epsilon" };
    let (name, bound) = (compared.by.name(), compared::bound(compared));
    let less = compared::percent_below(epsilon, compared);
    let lower = match less.as_str() {
        "0.00 %" => format!("{own} is the same to 0.01 %"),
        "-" => format!("{own} is not proven to be lower"),
        _ => format!("{own} is lower by {less}"),
    };
    match &compared.published {
        Some(figure) => {
            let differs = match figure.agrees(&compared.epsilon) {
                true => "",
                false => ", which does not round to the printed number",
            };
            // Of an account that is only a bound, nothing is less private than a figure.
            let more = match less.as_str() {
                _ if figure.is_below(epsilon) && is_bound => ". The printed number is smaller than this bound",
                _ if figure.is_below(epsilon) => {
                    ". The printed number is too small: the data are less private than it says"
                }
                "0.00 %" | "-" => "",
                _ if figure.is_above(epsilon) => ": the data are more private than that figure says",
                _ => "",
            };
            format!(
                "The published figure is {}, by {name}; without rounding it is {bound}{differs}. {lower}{more}. Source: {}.",
                figure.printed, figure.source
            )
        }
        None => format!("By {name}, the smallest standard account, it would be {bound}. {lower}."),
    }
}

/// What does an adversary learn?
pub fn what_is_learned(prior: &Rational, subject: &Resolved, found: &bound::Found) -> Vec<String> {
    let unit = subject.unit();
    let question = unit.question();
    let total = &found.total;
    let guess = guessing(prior);
    let everything = if found.levels.is_empty() { "what is published" } else { "everything that is published" };
    let everything = format!(
        "{everything}{}",
        if unit.repeat == 1 { String::new() } else { format!(" in {} releases", unit.repeat) }
    );
    let mut said = vec![format!(
        "An attacker who tries to infer from {everything} {question} is right at most {} % of the time, even if they know all other records.",
        in_hundred_beside(&upper(&total.bound.correct.value), &guess),
    )];
    // The rho of samples is that of the same noise without sampling, which is no yardstick; rho says nothing of infinite losses.
    let from_rho = match subject.total.is_sampled() || subject.whole.infinite_loss().is_some() {
        true => String::new(),
        false => format!(
            " From {} alone it follows only that they are right at most {} % of the time.",
            found.allowed().known(&total.bound),
            in_hundred_beside(&upper(found.allowed().bounds(&total.bound).correct), &guess),
        ),
    };
    said.push(format!(
        "Guessing blindly, with a prior of {} for {}, they would be right {} % of the time.{from_rho}",
        rational::display(prior),
        unit.first_answer(),
        exactly_in_hundred(&guess),
    ));
    if let (Some(least), Some(most)) = extremes(&found.levels, |line| line.bound.correct.value.approximate()) {
        let of = |line: &bound::Line| {
            let right = in_hundred_beside(&upper(&line.bound.correct.value), &guess);
            format!("{right} % ({})", line.name)
        };
        said.push(format!(
            "From one {} alone they are right at most {} to {} of the time.",
            subject.part_word,
            of(least),
            of(most)
        ));
    }
    said
}

/// Was the noise drawn as it was declared?
pub fn noise(audit: &NmfAudit) -> Vec<String> {
    let said = match audit.verdict.deviates() {
        true => "The noise in the published files does not have the declared laws.",
        false => "The noise in the published files is consistent with the declared laws.",
    };
    let rate = exact_text(&audit.verdict.false_alarm_rate);
    let sentences = [
        said.to_string(),
        format!("{}.", audit.words()),
        format!(
            "{} draws of single counts and {} sums were noise alone. True noise would be reported as deviating with a probability of at most {rate}, \
             over all {} tests.",
            audit.draws.0,
            audit.draws.1,
            audit.tests.len()
        ),
    ];
    sentences.into_iter().chain(notes(audit).lines().map(|note| format!("{note}."))).collect()
}

/// The caption of the chart of decisions.
pub fn about_decisions(subject: &Resolved, found: &bound::Found) -> String {
    let circle = match subject.may_be_more_private() {
        None => "The circle is exact: some adversary attains it, and none exceeds it.".to_string(),
        Some(why) => {
            format!("The circle is certified: no adversary exceeds it. The mechanism may be more private: {why}.")
        }
    };
    format!(
        "How many of 100 decisions are right at most. {circle} The square is the bound from {} alone.",
        found.allowed().name()
    )
}

/// The caption of the chart of a profile.
pub fn about_profile(what: &str, drawn: &Drawn) -> String {
    let ends = drawn
        .ends_at
        .map_or(String::new(), |_| " The exact curve ends at the largest loss, where it falls to 0.".to_string());
    format!(
        "{what} Every delta has its epsilon; lower and further left is more private. Where a curve meets the dotted line it has the epsilon of \
         the table.{ends}"
    )
}

/// How much noise could be spared?
///
/// An account that is only a bound does not prove that more noise is needed: with `is_bound`, it is enough.
pub fn what_could_be_spared(spared: &Spared, is_bound: bool) -> Vec<String> {
    let needed = if is_bound { "is enough by this account, an upper bound," } else { "would be needed" };
    let with_noise: Vec<&Row> = spared.rows().collect();
    let mut said = Vec::new();
    let given = |all: Vec<&Compared>| match compared::common(all.iter().copied()) {
        Some(by) => format!("the epsilon that {} gives", by.name()),
        None if all.is_empty() => "the required epsilon".to_string(),
        None => "the epsilon that the account named in the table gives".to_string(),
    };
    let is_part = spared.parts.len() > 1;
    said.extend(of_levels_alone(&with_noise, is_part, needed, &given));
    if said.is_empty() && spared.common_factor.is_none() {
        return vec!["No query here has noise whose sigma2 this account could make smaller.".to_string()];
    }
    if let Some(factor) = &spared.common_factor {
        let all = if with_noise.is_empty() { "" } else { "If all levels are taken together, " };
        let target = given(spared.compared.iter().collect());
        let reduction = reduction(factor);
        said.push(match reduction > 0 {
            true => format!("{all}{} % of all noise could be spared at {target} for the whole.", shown(&reduction, 6)),
            false if reduction < 0 => {
                format!("{all}{} % more noise {needed} for {target} of the whole.", shown(&-reduction, 6))
            }
            false => format!("In steps of the grid nothing could be spared at {target} for the whole."),
        });
    }
    said
}

/// The sentence about levels, each alone; about the one of several (`is_part`) whose noise this account could make smaller; or about the whole.
fn of_levels_alone(
    with_noise: &[&Row],
    is_part: bool,
    needed: &str,
    given: &dyn Fn(Vec<&Compared>) -> String,
) -> Option<String> {
    let first = with_noise.first()?;
    let of_levels = given(with_noise.iter().filter_map(|row| row.compared.as_ref()).collect());
    let shown = |percent: &Rational| self::shown(percent, 6);
    if with_noise.len() == 1 {
        let reduction = first.reduction();
        let (alone, of) = match is_part {
            true => (format!("At {} alone, ", first.name), "its"),
            false => (String::new(), "the"),
        };
        return Some(match reduction > 0 {
            true => {
                format!(
                    "{alone}{} % of {of} noise (sigma2, its variance proxy) could be spared at {of_levels}.",
                    shown(&reduction)
                )
            }
            false if reduction < 0 => format!(
                "{alone}{} % more noise (sigma2, its variance proxy) {needed} for {of_levels}.",
                shown(&-reduction)
            ),
            false => NOTHING.to_string(),
        });
    }
    let least = with_noise.iter().min_by_key(|row| row.reduction()).unwrap_or(first);
    let most = with_noise.iter().max_by_key(|row| row.reduction()).unwrap_or(first);
    Some(match most.reduction() > 0 {
        true => format!(
            "Taken alone, each level of the table could spare between {} % ({}) and {} % ({}) of its noise (sigma2, its variance proxy), and it would \
             still have {of_levels} for it.",
            shown(&least.reduction()),
            least.name,
            shown(&most.reduction()),
            most.name
        ),
        false => NOTHING.to_string(),
    })
}

const NOTHING: &str = "On the searched grid of sigma2 nothing could be spared.";

/// An exact number to this number of digits, as in tables.
pub fn shown(value: &Rational, digits: usize) -> String {
    Enclosure::rational(value, 64).shown(digits)
}

/// The probability of guessing correctly from the prior alone.
pub fn guessing(prior: &Rational) -> Rational {
    prior.clone().max(Rational::from(1 - prior))
}

/// The upper end of a probability.
pub fn upper(value: &Enclosure) -> Rational {
    value.upper_rational().unwrap_or_else(|| Rational::from(1))
}

/// A probability as times in a hundred, exactly; rounded down if that is long.
fn exactly_in_hundred(probability: &Rational) -> String {
    const LONGEST: usize = 12;
    let times = Rational::from(probability * 100_u32);
    let exact = rational::display(&times);
    match exact.len() <= LONGEST && !exact.contains('/') {
        true => exact,
        false => format!("at least {}", Enclosure::rational(&times, 64).lower_text(LONGEST - 1)),
    }
}

/// A probability as times in a hundred, rounded up to the next tenth.
pub fn in_hundred(probability: &Rational) -> String {
    in_hundred_beside(probability, &Rational::from((1, 2)))
}

/// A probability as times in a hundred, rounded up to the next tenth; beside a guess that is right more than 99 times in a hundred, to the first digit
/// in which it differs from a hundred and one more, at most eight.
pub fn in_hundred_beside(probability: &Rational, guess: &Rational) -> String {
    const MOST: u32 = 8;
    let wrong = Rational::from((1, 1)) - guess;
    // The decimals of 100 x (1 - guess) up to its first digit, and one more.
    let decimals = (0..MOST).find(|decimals| wrong.clone() * 100_u32 * Integer::from(10).pow(*decimals) >= 1);
    let decimals = decimals.map_or(MOST, |first| first + 1).min(MOST);
    let steps = Integer::from(10).pow(decimals);
    let times = Rational::from(probability * 100_u32) * &steps;
    let times = times.ceil().numer().clone().min(Integer::from(&steps * 100_u32));
    rational::display(&Rational::from((times, steps)))
}

/// The lines with the least and the greatest of a number, if there are several.
fn extremes<L>(lines: &[L], number: impl Fn(&L) -> f64) -> (Option<&L>, Option<&L>) {
    if lines.len() < 2 {
        return (None, None);
    }
    let by = |a: &&L, b: &&L| number(a).total_cmp(&number(b));
    (lines.iter().min_by(by), lines.iter().max_by(by))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_words_are_as_people_and_shells_read_them() {
        let of = |text: &str| in_hundred(&rational::parse(text).unwrap());
        assert_eq!(
            ["0.529492", "0.91164", "1/2", "0.9999", "1", "0.5000001"].map(of),
            ["53", "91.2", "50", "100", "100", "50.1"]
        );
        // Beside a guess that is right 99.9 times in a hundred, 99.905 are not rounded to 100.
        let number = |text: &str| rational::parse(text).unwrap();
        let beside = |text: &str, guess: &str| in_hundred_beside(&number(text), &number(guess));
        assert_eq!([beside("0.99905", "0.999"), beside("0.999901", "0.9999")], ["99.91", "99.991"]);
        assert_eq!([beside("1", "0.999"), beside("0.995", "0.99")], ["100", "99.5"]);
        let words = ["assay", "report", "--level", "Tract Subset", "it's"].map(String::from);
        assert_eq!(command_line(&words), "assay report --level 'Tract Subset' 'it'\\''s'");
        assert_eq!(guessing(&rational::parse("1/3").unwrap()), Rational::from((2, 3)));
    }
}
