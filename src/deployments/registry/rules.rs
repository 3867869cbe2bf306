//! The rules by which the figures of an entry are checked against each other.
//!
//! | rule | what is compared |
//! | --- | --- |
//! | variant | pure differential privacy has no delta |
//! | field | a parameter with the figures that the texts give for it |
//! | total | the total of a list with the sum of its items |
//! | calculation | a printed calculation with its printed result |
//! | conversion | an epsilon at a delta with every standard account of the rho beside it |
//! | noise | an epsilon with sensitivity over scale |
//! | mu | a mu of Gaussian differential privacy with sqrt(2 rho) |
//! | symbol | a symbol in one field with the same symbol in another |
//! | date | the year of the address with that of publication |
//!
//! A difference accuses the entry only where it states every input of the equation: `equations.rs`.

use rug::Rational;

use super::{
    super::verdict::Verdict,
    entry::{Entry, Parameter, Read},
    equations::{self, CALCULATION, Equation, FIELD, Input, MU, NOISE, TOTAL, VARIANT},
    text::{self, Figure, Item, Quote},
};
use crate::{
    account::{
        Delta, Rho,
        conversions::{self, GaussianProfile},
    },
    error::Result,
    numeric::{Enclosure, rational},
    replication::formula::Formula,
};

/// A result of a rule.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The rule.
    pub rule: &'static str,
    /// The field.
    pub field: &'static str,
    /// The line of the file.
    pub line: usize,
    /// Agrees, contradicts itself, or not enough said to decide.
    pub verdict: Verdict,
    /// The argument.
    pub words: String,
}

impl Finding {
    /// Whether it is a slip outside of the privacy parameters: of a symbol that is none of them, or of the date.
    pub(super) fn is_slip(&self) -> bool {
        matches!(self.rule, SYMBOL | DATE)
    }
}

/// The rule of symbols other than those of privacy parameters.
const SYMBOL: &str = "symbol";
/// The rule of dates.
const DATE: &str = "date";

/// The labels of the privacy parameters.
const LABELS: [(&str, char); 3] = [("epsilon", 'ε'), ("delta", 'δ'), ("rho", 'ρ')];
const BITS: u32 = 200;
const DIGITS: u32 = 20;

/// A text field, normalised.
struct Text<'a> {
    read: &'a Read,
    text: String,
}

impl Text<'_> {
    /// The line of a byte of the text.
    fn line(&self, at: usize) -> usize {
        match self.read.scalar.first_line {
            Some(first) => first + self.text.get(..at).map_or(0, |before| before.matches('\n').count()),
            None => self.read.at.line,
        }
    }

    fn finding(&self, rule: &'static str, at: usize, verdict: Verdict, words: String) -> Finding {
        Finding { rule, field: self.read.name(), line: self.line(at), verdict, words }
    }

    /// The finding of an equation with the inputs that the entry states.
    fn judged(&self, equation: &Equation, at: usize, holds: bool, given: &[Input], words: String) -> Finding {
        let (verdict, words) = equation.judged(holds, given, words);
        self.finding(equation.rule, at, verdict, words)
    }
}

/// All findings of an entry.
pub(super) fn check(entry: &Entry) -> Result<Vec<Finding>> {
    let texts: Vec<Text> = entry
        .all()
        .iter()
        .filter(|read| is_text(read))
        .map(|read| Text { read, text: text::normalised(&read.scalar.text) })
        .collect();
    let mut found = Vec::new();
    found.extend(variant(entry)?);
    for (name, label) in LABELS {
        let Some(parameter) = entry.parameter(name)? else { continue };
        found.extend(field(name, label, &parameter, &texts));
        found.extend(parts_of_field(label, &parameter, &texts));
    }
    found.extend(fields_together(entry)?);
    for text in &texts {
        found.extend(calculations(text));
        let items = text::items(&text.text);
        for (place, item) in items.iter().enumerate() {
            found.extend(totals(text, &items, place));
            found.extend(conversion(text, item)?);
            found.extend(noise(text, item));
        }
        found.extend(mu(entry, text)?);
    }
    found.extend(symbols(&texts));
    found.extend(date(entry));
    found.sort_by_key(|finding| finding.line);
    Ok(found)
}

/// Whether a field is prose about the deployment.
fn is_text(read: &Read) -> bool {
    let is_number = ["epsilon", "delta", "rho", "tier"].contains(&read.name());
    let is_other = ["url_slug", "status", "publication_date", "registry_authors", "data_curators", "sources"]
        .contains(&read.name());
    !is_number && !is_other
}

fn variant(entry: &Entry) -> Result<Option<Finding>> {
    let is_pure = entry.text("variant_name") == Some("Pure DP");
    let delta = entry.parameter("delta")?.filter(|delta| is_pure && delta.figure.value > 0);
    Ok(delta.map(|delta| {
        let words = format!("variant_name is Pure DP, which has no delta, and delta is {}", delta.figure.text);
        let (verdict, words) = VARIANT.judged(false, &[Input::Variant, Input::Figure], words);
        Finding { rule: VARIANT.rule, field: "delta", line: delta.line, verdict, words }
    }))
}

/// Small numbers as words.
const NUMBER_WORDS: [(&str, u32); 11] = [
    ("twice", 2),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("twelve", 12),
];

/// A parameter must be among the figures of the texts, if they give figures for it: itself, a multiple by a printed number, or their sum.
fn field(name: &'static str, label: char, parameter: &Parameter, texts: &[Text]) -> Option<Finding> {
    let quoted: Vec<(&Text, Quote)> = (texts.iter())
        .flat_map(|text| text::quotes(&text.text).into_iter().map(move |quote| (text, quote)))
        .filter(|(_, quote)| quote.label == label)
        .collect();
    let is_printed = texts.iter().any(|text| {
        text::numbers(&text.text).iter().any(|figure| {
            figure.value == parameter.figure.value
                || (label != 'δ' && figure.is_of(&parameter.figure.value) && figure.half <= parameter.figure.half)
        })
    });
    if quoted.is_empty() || is_printed || quoted.iter().any(|(_, quote)| quote.figure.is_of(&parameter.figure.value)) {
        return None;
    }
    let multiple = quoted.iter().find_map(|(text, quote)| {
        let is_word = |word: &str| text.text.split(|c: char| !c.is_alphabetic()).any(|one| one == word);
        let words = NUMBER_WORDS.iter().filter(|(word, _)| is_word(word)).map(|(_, number)| Rational::from(*number));
        let printed = text::numbers(&text.text).into_iter().map(|figure| figure.value);
        let factor = words
            .chain(printed)
            .find(|factor| Rational::from(factor * &quote.figure.value) == parameter.figure.value)?;
        Some(format!("{} * {} = {}", rational::display(&factor), quote.figure.text, parameter.figure.text))
    });
    let sum = texts.iter().find_map(|text| {
        let own: Vec<&Figure> =
            (quoted.iter()).filter(|(of, _)| std::ptr::eq(*of, text)).map(|(_, quote)| &quote.figure).collect();
        let sum = own.iter().fold(Rational::new(), |sum, one| sum + &one.value);
        let said = own.iter().map(|one| one.text.as_str()).collect::<Vec<_>>().join(" + ");
        (own.len() > 1 && sum == parameter.figure.value).then(|| format!("{said} = {}", parameter.figure.text))
    });
    if let Some(words) = multiple.or(sum) {
        let words = format!("{words}, the printed {name}");
        return Some(Finding { rule: FIELD.rule, field: name, line: parameter.line, verdict: Verdict::Agrees, words });
    }
    let mut printed: Vec<String> = quoted.iter().map(|(_, quote)| quote.figure.text.clone()).collect();
    printed.dedup();
    let words = format!(
        "{name} is {}, and the texts print {} for it: {}",
        parameter.figure.text,
        plural(printed.len()),
        printed.join(", ")
    );
    // Other figures can be those of parts, or of another unit: only one that is said to be the whole is the same quantity.
    let is_whole = |text: &&Text| {
        let items = text::items(&text.text);
        items.iter().any(|item| equations::is_of_whole(&item.text) && one_quote(&item.text, label).is_some())
    };
    let given: &[Input] =
        if texts.iter().any(|text| is_whole(&text)) { &[Input::Figure, Input::SameQuantity] } else { &[Input::Figure] };
    let (verdict, words) = FIELD.judged(false, given, words);
    Some(Finding { rule: FIELD.rule, field: name, line: parameter.line, verdict, words })
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "another figure" } else { "other figures" }
}

/// Where the details of the parameters are a list of parts, their sum is the parameter.
fn parts_of_field(label: char, parameter: &Parameter, texts: &[Text]) -> Option<Finding> {
    let text = texts.iter().find(|text| text.read.name() == "privacy_parameters_details")?;
    let items = text::items(&text.text);
    let top: Vec<Figure> = items.iter().map(|item| one_quote(&item.text, label)).collect::<Option<_>>()?;
    if top.len() < 2
        || items.iter().any(|item| item.depth != items[0].depth)
        || top.iter().any(|one| one.value == parameter.figure.value)
    {
        return None;
    }
    Some(sum(text, 0, &text.text, &parameter.figure, &top))
}

/// The only figure that a text gives for a label.
fn one_quote(text: &str, label: char) -> Option<Figure> {
    let mut quotes = text::quotes(text).into_iter().filter(|quote| quote.label == label);
    let first = quotes.next()?;
    quotes.next().is_none().then_some(first.figure)
}

/// The list below a total.
fn totals(text: &Text, items: &[Item], place: usize) -> Vec<Finding> {
    let children = text::children(items, place);
    let of = |label: char| {
        let whole = one_quote(&items[place].text, label)?;
        let parts: Vec<Figure> = children.iter().map(|item| one_quote(&item.text, label)).collect::<Option<_>>()?;
        (parts.len() > 1).then(|| sum(text, items[place].at, &items[place].text, &whole, &parts))
    };
    ['ε', 'ρ'].into_iter().filter_map(of).collect()
}

/// A whole and the figures below it. They are all of its parts only where its own words divide it.
fn sum(text: &Text, at: usize, said: &str, whole: &Figure, parts: &[Figure]) -> Finding {
    let sum = parts.iter().fold(Rational::new(), |sum, part| sum + &part.value);
    // Numbers that round to the parts add up to one that rounds to the whole.
    let reach = parts.iter().fold(whole.half.clone(), |sum, part| sum + &part.half);
    let holds = Rational::from(&sum - &whole.value).abs() <= reach;
    let list = parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join(" + ");
    let words = format!("{list} = {}, printed as {}", rational::display(&sum), whole.text);
    let given: &[Input] = match equations::divides(said) {
        true => &[Input::Figure, Input::BeyondRounding, Input::EveryPart],
        false => &[Input::Figure, Input::BeyondRounding],
    };
    text.judged(&TOTAL, at, holds, given, words)
}

/// Printed calculations.
fn calculations(text: &Text) -> Vec<Finding> {
    let check = |equation: text::Equation| {
        let formula = Formula::parse(&equation.left).ok()?;
        let value = formula.exact()?;
        let words = format!("{} = {}, printed as {}", equation.left, rational::display(&value), equation.result.text);
        let result = &equation.result;
        let ends = result.rounded();
        let is_reached = range(&formula, &mut text::numbers(&equation.left).into_iter())
            .is_none_or(|(low, high)| low <= ends.1 && ends.0 <= high);
        let given: &[Input] = if is_reached { &[Input::Figure] } else { &[Input::Figure, Input::BeyondRounding] };
        Some(text.judged(&CALCULATION, equation.at, result.is_of(&value), given, words))
    };
    text::equations(&text.text).into_iter().filter_map(check).collect()
}

/// The numbers that round to a figure. A whole number is a count, and exact.
fn ends(figure: &Figure) -> (Rational, Rational) {
    let half = if figure.text.contains(['.', 'e', 'E']) { figure.half.clone() } else { Rational::new() };
    (Rational::from(&figure.value - &half), Rational::from(&figure.value + &half))
}

/// The values of a calculation whose numbers are those that round to its figures, in the order of the text. `None` where they are not known.
fn range(formula: &Formula, figures: &mut impl Iterator<Item = Figure>) -> Option<(Rational, Rational)> {
    match formula {
        Formula::Number(value) => {
            let figure = figures.next().filter(|figure| figure.value == *value)?;
            Some(ends(&figure))
        }
        Formula::Minus(inner) => range(inner, figures).map(|(low, high)| (-high, -low)),
        Formula::Two(sign, left, right) => {
            let (left, right) = (range(left, figures)?, range(right, figures)?);
            if *sign == '/' && right.0 <= 0 && right.1 >= 0 {
                return None;
            }
            let of = |a: &Rational, b: &Rational| match sign {
                '+' => Some(Rational::from(a + b)),
                '-' => Some(Rational::from(a - b)),
                '*' => Some(Rational::from(a * b)),
                '/' => Some(Rational::from(a / b)),
                _ => None,
            };
            // Each operation is monotone in each of its sides, so its ends lie at corners.
            let pairs = [(&left.0, &right.0), (&left.0, &right.1), (&left.1, &right.0), (&left.1, &right.1)];
            let corners = pairs.into_iter().map(|(a, b)| of(a, b)).collect::<Option<Vec<_>>>()?;
            Some((corners.iter().min()?.clone(), corners.iter().max()?.clone()))
        }
        Formula::Pi | Formula::Function(..) => None,
    }
}

/// The most bytes between a rho and the epsilon that is said to follow from it.
const NEAR: usize = 90;

/// A rho, an epsilon and a delta in one item, the first two near each other.
fn conversion(text: &Text, item: &Item) -> Result<Option<Finding>> {
    let quotes = text::quotes(&item.text);
    let one = |label: char| {
        let mut own = quotes.iter().filter(|quote| quote.label == label);
        own.next().filter(|_| own.next().is_none())
    };
    let (Some(rho), Some(delta), Some(epsilon)) = (one('ρ'), one('δ'), one('ε')) else { return Ok(None) };
    if rho.at.abs_diff(epsilon.at) > NEAR {
        return Ok(None);
    }
    let (rho, epsilon, delta) = (rho.figure.clone(), epsilon.figure.clone(), delta.figure.clone());
    let Some((verdict, words)) = converted(&rho, &epsilon, &delta)? else { return Ok(None) };
    Ok(Some(text.finding("conversion", item.at, verdict, words)))
}

/// The same of the fields.
fn fields_together(entry: &Entry) -> Result<Option<Finding>> {
    let of = |name: &str| entry.parameter(name);
    let (Some(rho), Some(epsilon), Some(delta)) = (of("rho")?, of("epsilon")?, of("delta")?) else { return Ok(None) };
    let found = converted(&rho.figure, &epsilon.figure, &delta.figure)?;
    Ok(found.map(|(verdict, words)| Finding {
        rule: "conversion",
        field: "epsilon",
        line: epsilon.line,
        verdict,
        words,
    }))
}

/// A conversion with its name.
type Named = (&'static str, fn(&Rho, &Delta) -> Result<Enclosure>);

/// The accounts from rho to epsilon, the smallest first.
const ACCOUNTS: [Named; 4] = [
    ("continuous Gaussian noise", |rho, delta| GaussianProfile::new(rho.clone()).epsilon(delta, DIGITS)),
    ("zCDP (best order)", |rho, delta| Ok(conversions::zcdp_epsilon_optimal(rho, delta)?.epsilon)),
    ("rho + 2 sqrt(rho ln(sqrt(pi rho)/delta))", by_root_of_pi),
    ("zCDP (Bun-Steinke)", |rho, delta| Ok(conversions::zcdp_epsilon(rho, delta, DIGITS))),
];

/// The numbers between two ends.
fn enclosed((low, high): (Rational, Rational)) -> Enclosure {
    Enclosure::rational(&low, BITS).hull(&Enclosure::rational(&high, BITS))
}

/// A figure rounds from a rho that lies in an interval, so the epsilon does as well: each account increases with rho.
fn converted(rho: &Figure, epsilon: &Figure, delta: &Figure) -> Result<Option<(Verdict, String)>> {
    let (low, high) = rho.rounded();
    let (Ok(low), Ok(high)) = (Rho::new(low), Rho::new(high)) else { return Ok(None) };
    let Ok(delta_exact) = Delta::new(delta.value.clone()) else { return Ok(None) };
    let printed = enclosed(epsilon.rounded());
    let middle = Rho::new(rho.value.clone())?;
    let mut others = Vec::new();
    for (name, account) in ACCOUNTS {
        let range = account(&low, &delta_exact)?.hull(&account(&high, &delta_exact)?);
        if range.overlaps(&printed) {
            let value = account(&middle, &delta_exact)?;
            let words = format!(
                "rho {} gives epsilon {} at delta {} by {name}: {} within the rounding of both figures",
                rho.text,
                value.shown(5),
                delta.text,
                epsilon.text
            );
            return Ok(Some((Verdict::Agrees, words)));
        }
        others.push((name, account(&middle, &delta_exact)?, range));
    }
    let list = others.iter().map(|(name, value, _)| format!("{} by {name}", value.shown(4))).collect::<Vec<_>>();
    // What holds for every mechanism of this rho holds with every larger epsilon. The first account is that of one law alone.
    let proven = others.iter().skip(1).find(|(_, _, range)| printed.upper() >= range.lower());
    Ok(Some(match proven {
        Some((name, value, _)) => {
            let words = format!(
                "rho {} gives epsilon {} at delta {} by {name}, so that epsilon {} holds",
                rho.text,
                value.upper_text(5),
                delta.text,
                epsilon.text
            );
            (Verdict::Agrees, words)
        }
        None => {
            let words = format!(
                "epsilon {} at delta {} does not follow from rho {} alone: that gives {}; the law of the noise may give less",
                epsilon.text,
                delta.text,
                rho.text,
                list.join(", ")
            );
            (Verdict::NotEnoughSaid, words)
        }
    }))
}

/// rho + 2 sqrt(rho ln(sqrt(pi rho) / delta)), from Lemma 3.6 of Bun & Steinke (2016); infinite where the root is not real.
fn by_root_of_pi(rho: &Rho, delta: &Delta) -> Result<Enclosure> {
    let exact = Enclosure::rational(rho, BITS);
    let inner = Enclosure::pi(BITS).mul(&exact).sqrt().div(&Enclosure::rational(delta, BITS)).ln();
    if *inner.lower() < 0 {
        return Ok(Enclosure::whole_line(BITS));
    }
    Ok(exact.add(&exact.mul(&inner).sqrt().mul(&Enclosure::double(2.0, BITS))))
}

/// An epsilon beside a sensitivity and a scale of Laplace noise, in one item.
fn noise(text: &Text, item: &Item) -> Option<Finding> {
    let epsilon = one_quote(&item.text, 'ε')?;
    let (sensitivity, scale) = (after_word(&item.text, "sensitivity")?, after_word(&item.text, "scale")?);
    let ((least, most), (least_scale, most_scale)) = (ends(&sensitivity), ends(&scale));
    if least_scale <= 0 {
        return None;
    }
    let value = Rational::from(&sensitivity.value / &scale.value);
    let words = format!(
        "sensitivity {} over scale {} is epsilon {}, printed as {}",
        sensitivity.text,
        scale.text,
        rational::display(&value),
        epsilon.text
    );
    // The numbers that round to the printed sensitivity and scale.
    let (low, high) = (least / most_scale, most / least_scale);
    let (least, most) = epsilon.rounded();
    let is_reached = low <= most && least <= high;
    let mut given = vec![Input::Figure];
    given.extend((!is_reached).then_some(Input::BeyondRounding));
    given.extend(equations::is_only("laplace", std::iter::once(item.text.as_str())).then_some(Input::Laplace));
    Some(text.judged(&NOISE, item.at, epsilon.is_of(&value), &given, words))
}

/// The number after a word and an equals sign.
fn after_word(text: &str, word: &str) -> Option<Figure> {
    let (_, rest) = text.split_once(word)?;
    let rest = rest.trim_start().strip_prefix(['=', ':'])?;
    text::number_at(rest.trim_start(), 0).map(|(figure, _)| figure)
}

/// A mu beside the rho of the entry.
fn mu(entry: &Entry, text: &Text) -> Result<Vec<Finding>> {
    let Some(rho) = entry.parameter("rho")? else { return Ok(Vec::new()) };
    let two = Enclosure::double(2.0, BITS);
    let (rho, root) = (rho.figure, |rho: &Enclosure| rho.mul(&two).sqrt());
    let range = root(&enclosed(rho.rounded()));
    // Only of Gaussian noise is mu determined by rho: a zCDP guarantee has none.
    let said = [entry.text("mechanisms").unwrap_or_default(), text.text.as_str()];
    let given: &[Input] = match equations::is_only("gaussian", said.into_iter()) {
        true => &[Input::Figure, Input::BeyondRounding, Input::Gaussian],
        false => &[Input::Figure, Input::BeyondRounding],
    };
    let check = |quote: Quote| {
        let Quote { figure, .. } = quote;
        let words = format!(
            "rho {} is mu = sqrt(2 rho) = {} of Gaussian noise, printed as {}",
            rho.text,
            root(&Enclosure::rational(&rho.value, BITS)).shown(4),
            figure.text
        );
        text.judged(&MU, quote.at, enclosed(figure.rounded()).overlaps(&range), given, words)
    };
    Ok(text::quotes(&text.text).into_iter().filter(|quote| quote.label == 'μ').map(check).collect())
}

/// A symbol that has as many values in one field as in another must have the same ones.
fn symbols(texts: &[Text]) -> Vec<Finding> {
    let mut found = Vec::new();
    for label in ['τ', 'k', 'm', 't', 'n', 'N'] {
        let mut first: Option<(&Text, Vec<Rational>)> = None;
        for text in texts {
            let mut own: Vec<Quote> =
                text::quotes(&text.text).into_iter().filter(|quote| quote.label == label).collect();
            own.sort_by(|a, b| a.figure.value.cmp(&b.figure.value));
            own.dedup_by(|a, b| a.figure.value == b.figure.value);
            let values: Vec<Rational> = own.iter().map(|quote| quote.figure.value.clone()).collect();
            match &first {
                None if !values.is_empty() => first = Some((text, values)),
                Some((other, known)) if known.len() == values.len() => {
                    let new = own.iter().filter(|quote| !known.contains(&quote.figure.value));
                    found.extend(new.map(|quote| {
                        let words = format!(
                            "{label} = {} here, and {label} = {} in {}",
                            quote.figure.text,
                            shown(known),
                            other.read.name()
                        );
                        text.finding(SYMBOL, quote.at, Verdict::ContradictsItself, words)
                    }));
                }
                _ => {}
            }
        }
    }
    found
}

fn shown(values: &[Rational]) -> String {
    values.iter().map(rational::display).collect::<Vec<_>>().join(" and ")
}

/// The year at the end of the address.
fn date(entry: &Entry) -> Option<Finding> {
    let (slug, date) = (entry.field("url_slug")?, entry.field("publication_date")?);
    let year = slug
        .scalar
        .text
        .rsplit('-')
        .next()
        .filter(|year| year.len() == 4 && year.bytes().all(|byte| byte.is_ascii_digit()))?;
    let published = date.scalar.text.get(..4)?;
    (year != published).then(|| Finding {
        rule: DATE,
        field: "publication_date",
        line: date.at.line,
        verdict: Verdict::ContradictsItself,
        words: format!("url_slug ends with the year {year}, and publication_date is {}", date.scalar.text),
    })
}
