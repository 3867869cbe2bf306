//! Every sentence with a word of certainty: read by its template in `sentences.txt`, and compared with the definitions.

use dp_assay::numeric::rational::parse;
use rug::{Rational, ops::Pow};

use crate::{
    asked::{Interval, own_error},
    calibrated,
    program::Question,
    truth::{self, Truth},
    world::{World, exp},
};

/// Whoever uses one of these has proven something.
const CERTAIN: [&str; 14] = [
    "proven",
    "certified",
    "exact",
    "exactly",
    "most",
    "least",
    "no",
    "none",
    "largest",
    "smallest",
    "always",
    "never",
    "every",
    "proves",
];

/// The claim of a sentence that has no template.
pub const UNKNOWN: &str = "unknown sentence";

/// Templates, each with the claim that it states or the reason why it states none: `CLAIM | TEMPLATE`, with `{x}` for a number and `{*}` for any text.
const TEMPLATES: &str = include_str!("sentences.txt");

/// Reads an answer in text: the number of sentences with a word of certainty, and for each that is not as defined its claim and what is wrong.
pub fn compare(text: &str, question: &Question, world: &World, truth: &Truth) -> (usize, Vec<(String, String)>) {
    let (mut read, mut wrong) = (0, Vec::new());
    for sentence in unwrapped(text).iter().filter(|sentence| is_certain(sentence)) {
        read += 1;
        let Some((claim, numbers)) = template_of(sentence) else {
            wrong.push((UNKNOWN.to_string(), sentence.clone()));
            continue;
        };
        if claim.starts_with("note: ") {
            continue;
        }
        let said = Said { question, world, truth, text, numbers: &numbers };
        match said.holds(claim) {
            Some(true) => (),
            Some(false) => wrong.push((claim.to_string(), format!("{sentence:?}\n    {question:?}"))),
            None => wrong.push(("unread sentence".to_string(), format!("{claim}: {sentence:?} in\n{text}"))),
        }
    }
    (read, wrong)
}

/// Whether a sentence has a word of certainty.
pub fn is_certain(sentence: &str) -> bool {
    let words = sentence.split(|c: char| !c.is_alphanumeric());
    words.map(str::to_lowercase).any(|word| CERTAIN.contains(&word.as_str()))
}

/// The lines before they were wrapped, with single blanks.
fn unwrapped(text: &str) -> Vec<String> {
    const WIDTH: usize = 100;
    /// Cells of a table that are wrapped begin further to the right than text.
    const CELL: usize = 30;
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut lines: Vec<String> = Vec::new();
    let (mut before, mut own) = ("", 0);
    for line in text.lines() {
        let word = line.split_whitespace().next().unwrap_or_default();
        let is_full = before.chars().count() + 1 + word.chars().count() > WIDTH - 2;
        let is_after = !before.is_empty() && ((is_full && indent(line) == own + 2) || indent(line) >= CELL);
        let words = line.split_whitespace().collect::<Vec<_>>().join(" ");
        match lines.last_mut() {
            Some(last) if is_after => {
                last.push(' ');
                last.push_str(&words);
            }
            _ => {
                own = indent(line);
                lines.push(words);
            }
        }
        before = line;
    }
    lines
}

/// The claim of the first template that a sentence has, and its numbers.
pub fn template_of(sentence: &str) -> Option<(&'static str, Vec<String>)> {
    let templates = TEMPLATES.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    templates
        .map(|line| line.split_once(" | ").expect("CLAIM | TEMPLATE"))
        .find_map(|(claim, template)| Some((claim, matched(template, sentence)?)))
}

/// The numbers in place of `{x}`.
fn matched(template: &str, text: &str) -> Option<Vec<String>> {
    let Some(start) = template.find('{') else { return (template == text).then(Vec::new) };
    let (literal, rest) = template.split_at(start);
    let text = text.strip_prefix(literal)?;
    let (is_number, rest) = (rest.starts_with("{x}"), &rest[3..]);
    let numeric = |c: char| c.is_ascii_digit() || ".e+-/".contains(c);
    let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
    let ends =
        std::iter::once(0).chain(ends).filter(|end| !is_number || (*end > 0 && text[..*end].chars().all(numeric)));
    // The longest number first.
    let mut ends: Vec<usize> = ends.collect();
    ends.reverse();
    ends.into_iter().find_map(|end| {
        let mut numbers = matched(rest, &text[end..])?;
        if is_number {
            numbers.insert(0, text[..end].to_string());
        }
        Some(numbers)
    })
}

/// A sentence, with what it is about.
struct Said<'a> {
    question: &'a Question,
    world: &'a World,
    truth: &'a Truth,
    text: &'a str,
    numbers: &'a [String],
}

/// The first cell of the row of a type I error.
fn row(alpha: &Rational) -> String {
    (alpha.numer().to_f64() / alpha.denom().to_f64()).to_string()
}

/// Whether something holds for all type I errors; `None` if it cannot be read for one.
fn all(alphas: &[String], holds: impl Fn(&Rational) -> Option<bool>) -> Option<bool> {
    let each = alphas.iter().map(|alpha| holds(&parse(alpha).ok()?)).collect::<Option<Vec<bool>>>()?;
    Some(each.into_iter().all(|one| one))
}

/// A number with this many digits is at most a unit of the last one from the truth.
fn around(text: &str, digits: u32) -> Option<Interval> {
    // Close to one the complement is printed.
    let (base, number) = match text.strip_prefix("1 - ") {
        Some(missing) => (Rational::from(1), -parse(missing).ok()?),
        None => (Rational::new(), parse(text).ok()?),
    };
    let digits = if base == 0 { digits } else { 2 };
    let radius = number.clone().abs() / Rational::from(10).pow(digits as i32 - 1);
    let middle = base + number;
    Some(Interval { lower: Rational::from(&middle - &radius), upper: middle + radius })
}

impl Said<'_> {
    /// A cell of the first table with this column.
    fn cell(&self, row: &str, column: &str) -> Option<String> {
        let cells = |line: &str| -> Vec<String> {
            line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(String::from).collect()
        };
        let lines: Vec<&str> = self.text.lines().collect();
        let (at, column, first) = lines.iter().enumerate().find_map(|(at, line)| {
            let column = cells(line).iter().position(|cell| cell == column)?;
            Some((at, column, usize::from(line.starts_with(' '))))
        })?;
        let line =
            lines[at..].iter().map(|line| cells(line)).find(|cells| cells.first().is_some_and(|cell| cell == row))?;
        line.get(column + first).cloned()
    }

    fn number(&self, at: usize) -> Option<Rational> {
        parse(self.numbers.get(at)?).ok()
    }

    fn delta(&self, epsilon: &Rational) -> (Rational, Rational) {
        let (low, high) = exp(epsilon);
        let at = |x: &Rational| self.truth.worst(|pairs| truth::delta(pairs, x));
        (at(&high), at(&low))
    }

    /// Whether the claim is as defined; `None` if its numbers cannot be read.
    fn holds(&self, claim: &str) -> Option<bool> {
        let exactly = |printed: Interval, truth: &Rational| printed.holds(truth, truth);
        match self.question {
            Question::Delta { epsilon } => {
                let (least, most) = self.delta(&parse(epsilon).ok()?);
                match claim {
                    "delta at least" => Some(self.number(0)? <= most + own_error()),
                    "delta at most" => Some(self.number(0)? >= least - own_error()),
                    _ => self.of_mass(claim),
                }
            }
            Question::Epsilon { .. } if claim == "infinite mass below" => {
                let mass = self.truth.worst(truth::infinite);
                Some(self.number(0)? < mass && around(self.numbers.get(1)?, 7)?.holds(&mass, &mass))
            }
            Question::Epsilon { delta } | Question::Compare { delta } => {
                let Some(ratio) = self.truth.ratio(&parse(delta).ok()?) else { return Some(false) };
                match claim {
                    "epsilon" => Some(around(&self.cell("composition", "epsilon")?, 12)?.holds_ln(&ratio)),
                    "pure" => Some(around(self.numbers.first()?, 10)?.holds_ln(&self.truth.worst_ratio()?)),
                    "compare" => Some(around(self.numbers.first()?, 10)?.holds_ln(&ratio)),
                    _ => self.of_mass(claim),
                }
            }
            Question::Explain { delta } => {
                let delta = parse(delta).ok()?;
                // The sentence is about the ends that the two lines before it print.
                let end = |sign: &str| {
                    let mut lines = self.text.lines().map(str::trim);
                    parse(lines.find_map(|line| line.strip_prefix(&format!("epsilon {sign} ")))?).ok()
                };
                let is_kept = self.delta(&end("<=")?).0 <= delta.clone() + own_error();
                match claim {
                    "delta at the ends of epsilon" => Some(is_kept && self.delta(&end(">=")?).1 >= delta - own_error()),
                    "delta at the upper end of epsilon" => Some(is_kept),
                    "delta at zero" => Some(self.delta(&Rational::new()).0 <= self.number(0)? + own_error()),
                    _ => self.of_mass(claim),
                }
            }
            Question::RiskBound { prior, delta } => {
                let (prior, delta) = (parse(prior).ok()?, parse(delta).ok()?);
                let cell = |column: &str| around(&self.cell("composition", column)?, 6);
                match claim {
                    "correct decision at most" => {
                        Some(cell("correct")?.upper >= truth::correct(&self.truth.up, &prior) - own_error())
                    }
                    "correct decision" => Some(exactly(cell("correct")?, &truth::correct(&self.truth.up, &prior))),
                    "advantage" => {
                        let half = Rational::from((1, 2));
                        let apart = (truth::correct(&self.truth.up, &half) - half) * 2;
                        Some(exactly(cell("advantage")?, &apart))
                    }
                    "posterior once delta is subtracted" => {
                        let ratio = self.truth.ratio(&delta)?;
                        Some(exactly(cell("posterior")?, &truth::posterior(&prior, &ratio, &Rational::from(1))))
                    }
                    "posterior of events at most" => {
                        let events = self.truth.worst(|pairs| truth::events(pairs, &prior, &delta));
                        Some(cell("posterior")?.upper >= events - own_error())
                    }
                    "posterior exceeded" if !self.world.is_known() => Some(true),
                    "posterior exceeded" => {
                        let outputs = self.truth.worst(|pairs| truth::outputs(pairs, &prior, &delta));
                        Some(cell("exceeded")?.upper >= outputs - own_error())
                    }
                    _ => self.of_mass(claim),
                }
            }
            Question::RiskCurve { prior, alphas } => {
                let holds = |printed: Interval, truth: &Rational| match claim {
                    "power at most" => printed.upper >= truth.clone() - own_error(),
                    _ => exactly(printed, truth),
                };
                let prior = parse(prior).ok()?;
                let of = |alpha: &Rational| {
                    let power = 1 - truth::beta(&self.truth.up, alpha);
                    let posterior = truth::posterior(&prior, &power, alpha);
                    let cell = |column: &str| around(&self.cell(&row(alpha), column)?, 6);
                    Some(holds(cell("power")?, &power) && holds(cell("posterior")?, &posterior))
                };
                match claim {
                    "power" | "power at most" => all(alphas, of),
                    _ => self.of_mass(claim),
                }
            }
            Question::Tradeoff { alphas } => match claim {
                "type II error" => all(alphas, |alpha| {
                    Some(exactly(around(&self.cell(&row(alpha), "beta")?, 12)?, &self.truth.beta(alpha)))
                }),
                _ => self.of_mass(claim),
            },
            Question::Calibrate { target, .. } => match claim {
                "calibrated" => {
                    let keeps = |at: usize| calibrated::keeps(self.world, *target, &self.number(at)?);
                    Some(keeps(0)? && !keeps(1)?)
                }
                // It is that of the noise that was found, which the first line names.
                "infinite mass" => {
                    let epsilon = self
                        .text
                        .lines()
                        .next()?
                        .split(' ')
                        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
                    let epsilon = epsilon.split([':', 'x']).next()?;
                    let mass = calibrated::with(self.world, &parse(epsilon).ok()?)?.truth().worst(truth::infinite);
                    Some(around(self.numbers.first()?, 7)?.holds(&mass, &mass))
                }
                _ => None,
            },
            Question::Curve => self.of_mass(claim),
        }
    }

    fn of_mass(&self, claim: &str) -> Option<bool> {
        let mass = self.truth.worst(truth::infinite);
        (claim == "infinite mass").then_some(())?;
        Some(around(self.numbers.first()?, 7)?.holds(&mass, &mass))
    }
}

/// Templates are told apart, numbers are found, and what is wrong is noticed.
#[test]
fn a_sentence_has_its_template_and_its_numbers() {
    assert_eq!(matched("at most {x}.", "at most 1.5."), Some(vec!["1.5".to_string()]));
    assert_eq!(
        matched("{*} = {x}, and {x} not", "epsilon = 1, and 2 not"),
        Some(vec!["1".to_string(), "2".to_string()])
    );
    assert_eq!(matched("at most {x}.", "at most a few."), None);
    assert!(is_certain("No adversary") && is_certain("at least 1") && !is_certain("nothing"));
    assert!(template_of("This noise is always enough.").is_none());
    let wrapped = format!("{}\n  end of it\nnext\n  item\n", "word ".repeat(19) + "1234");
    assert_eq!(unwrapped(&wrapped).len(), 3);
}

/// A false number in a sentence is found.
#[test]
fn a_false_number_is_found() {
    let quarter = |n| Rational::from((n, 4));
    let world = World::simple(crate::world::Noise::Table(vec![quarter(1), quarter(2), quarter(1)]));
    let (truth, question) = (world.truth(), Question::Delta { epsilon: "0".to_string() });
    let wrong = |text: &str| compare(text, &question, &world, &truth).1.len();
    assert_eq!(wrong("exact, at least 0.5\nexact, at most 0.5\n"), 0);
    assert_eq!(wrong("exact, at least 0.51\nexact, at most 0.49\n"), 2);
    assert_eq!(wrong("The noise is exactly right.\n"), 1);
}
