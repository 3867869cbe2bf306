//! Figures in the texts of an entry: numbers as printed, labelled quantities such as `epsilon = 4`, equations, and the items of lists.

use rug::{Rational, ops::Pow};

use crate::numeric::rational;

/// A number as printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Figure {
    /// Its digits as printed.
    pub(super) text: String,
    pub(super) value: Rational,
    /// Half a unit of its last digit.
    pub(super) half: Rational,
}

impl Figure {
    /// Whether another number rounds to it, or is it.
    pub(super) fn is_of(&self, value: &Rational) -> bool {
        Rational::from(value - &self.value).abs() <= self.half
    }

    /// The least and the largest number that rounds to it.
    pub(super) fn rounded(&self) -> (Rational, Rational) {
        (Rational::from(&self.value - &self.half), Rational::from(&self.value + &self.half))
    }
}

/// A labelled quantity.
#[derive(Clone, Debug)]
pub(super) struct Quote {
    /// The symbol of the quantity: `ε`, `δ`, `ρ`, `μ`, `τ`, or the letter of a parameter.
    pub(super) label: char,
    pub(super) figure: Figure,
    /// Its byte in the text.
    pub(super) at: usize,
}

/// An equation: a calculation, and its printed result.
#[derive(Clone, Debug)]
pub(super) struct Equation {
    pub(super) left: String,
    pub(super) result: Figure,
    pub(super) at: usize,
}

/// An item of a list or a paragraph, with the lines that continue it.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// Twice the indent; one more for an item of a list, so that a paragraph stands above the list that follows it.
    pub(super) depth: usize,
    pub(super) text: String,
    /// Its first byte in the whole text.
    pub(super) at: usize,
}

/// The text with one sign for each meaning; lines stay lines.
pub(super) fn normalised(text: &str) -> String {
    let mut text = text.to_string();
    for (from, to) in [
        ("\\\\(", " "),
        ("\\\\)", " "),
        ("\\(", " "),
        ("\\)", " "),
        ("$", " "),
        ("\\varepsilon", "ε"),
        ("\\epsilon", "ε"),
        ("ϵ", "ε"),
        ("\\delta", "δ"),
        ("\\rho", "ρ"),
        ("\\mu", "μ"),
        ("µ", "μ"),
        ("\\tau", "τ"),
        ("\\times", "×"),
        ("\\cdot", "×"),
        ("\\prime", "'"),
        ("\\leq", "≤"),
        ("\\approx", "≈"),
        ("\u{2212}", "-"),
        ("\u{2013}", "-"),
        ("\u{a0}", " "),
        ("\u{202f}", " "),
        ("{", ""),
        ("}", ""),
    ] {
        text = text.replace(from, to);
    }
    words_as_signs(&text)
}

/// Whole words such as `epsilon` as their signs.
fn words_as_signs(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut word = String::new();
    let flush = |out: &mut String, word: &mut String| {
        let sign = match word.to_ascii_lowercase().as_str() {
            "epsilon" => "ε",
            "delta" => "δ",
            "rho" => "ρ",
            "tau" => "τ",
            _ => word.as_str(),
        };
        out.push_str(sign);
        word.clear();
    };
    for c in text.chars() {
        if c.is_ascii_alphanumeric() || c == '_' {
            word.push(c);
        } else {
            flush(&mut out, &mut word);
            out.push(c);
        }
    }
    flush(&mut out, &mut word);
    out
}

/// The byte after spaces.
fn after_spaces(text: &str, at: usize) -> usize {
    text[at..].find(|c: char| c != ' ' && c != '\n').map_or(text.len(), |skip| at + skip)
}

fn digits_end(text: &str, from: usize) -> usize {
    text[from..].find(|c: char| !c.is_ascii_digit()).map_or(text.len(), |count| from + count)
}

/// The number that begins at a byte, and the byte after it.
pub(super) fn number_at(text: &str, at: usize) -> Option<(Figure, usize)> {
    let rest = text.get(at..)?;
    let begins_with_digit = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    if !(begins_with_digit(rest) || rest.strip_prefix('.').is_some_and(begins_with_digit)) {
        return None;
    }
    let mut end = digits_end(text, at);
    // Thousands that are set apart by commas.
    while end - at <= 15 && text[end..].starts_with(',') && digits_end(text, end + 1) == end + 4 {
        end += 4;
    }
    if text[end..].starts_with('.') && digits_end(text, end + 1) > end + 1 {
        end = digits_end(text, end + 1);
    }
    let mantissa = text[at..end].replace(',', "");
    let mut exponent: i64 = 0;
    if let Some((power, after)) = exponent_at(text, end) {
        (exponent, end) = (power, after);
    } else if mantissa == "10"
        && let Some((power, after)) = bare_power(text, at, end)
    {
        return figure(&text[at..after], "1", power).map(|figure| (figure, after));
    } else if let Some((power, after)) = times_power(text, end) {
        (exponent, end) = (power, after);
    }
    figure(&text[at..end], &mantissa, exponent).map(|figure| (figure, end))
}

fn figure(text: &str, mantissa: &str, exponent: i64) -> Option<Figure> {
    if exponent.abs() > 1000 || mantissa.len() > 60 {
        return None;
    }
    let ten = Rational::from(10).pow(i32::try_from(exponent).ok()?);
    let value = rational::parse(mantissa).ok()? * &ten;
    let half = rational::unit_of_last_digit(mantissa) * ten / 2_u32;
    Some(Figure { text: text.split_whitespace().collect::<Vec<_>>().join(" "), value, half })
}

/// `e-9` at a byte.
fn exponent_at(text: &str, at: usize) -> Option<(i64, usize)> {
    let rest = text[at..].strip_prefix(['e', 'E'])?;
    let signed = at + 1 + usize::from(rest.starts_with(['-', '+']));
    let end = digits_end(text, signed);
    let is_whole_word = !text[end..].starts_with(|c: char| c.is_alphanumeric());
    (end > signed && is_whole_word).then(|| text[at + 1..end].parse().ok().map(|power| (power, end)))?
}

/// The exponent of a ten that stands alone, as in `10^-7` or, after a sign or a comma, `10-7`.
fn bare_power(text: &str, at: usize, end: usize) -> Option<(i64, usize)> {
    if text[end..].starts_with('^') {
        return signed_at(text, end + 1);
    }
    let before = text[..at].trim_end().chars().next_back()?;
    (",=<≤(≈×".contains(before) && text[end..].starts_with('-')).then(|| signed_at(text, end))?
}

/// ` × 10^-9` or ` × 10-9` at a byte.
fn times_power(text: &str, at: usize) -> Option<(i64, usize)> {
    let sign = after_spaces(text, at);
    let rest = text[sign..].strip_prefix(['×', 'x', '*'])?;
    let ten = after_spaces(text, text.len() - rest.len());
    let after = text[ten..].strip_prefix("10").map(|_| ten + 2)?;
    match text[after..].chars().next()? {
        '^' => signed_at(text, after + 1),
        '-' => signed_at(text, after),
        _ => None,
    }
}

fn signed_at(text: &str, at: usize) -> Option<(i64, usize)> {
    let at = after_spaces(text, at);
    let signed = at + usize::from(text[at..].starts_with('-'));
    let end = digits_end(text, signed);
    (end > signed).then(|| text[at..end].parse().ok().map(|power| (power, end)))?
}

/// All numbers of a text.
pub(super) fn numbers(text: &str) -> Vec<Figure> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let before = text[..at].chars().next_back();
        let is_inside = before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '.');
        match number_at(text, at).filter(|_| !is_inside && text.is_char_boundary(at)) {
            Some((figure, end)) => {
                found.push(figure);
                at = end;
            }
            None => at += text[at..].chars().next().map_or(1, char::len_utf8),
        }
    }
    found
}

/// Words and signs between a label and its number. A longer one precedes any that it begins with.
const RELATIONS: &[&str] = &[
    "=",
    "≤",
    "<",
    "≈",
    ":",
    "is about",
    "is set to",
    "is equal to",
    "is",
    "value of",
    "of about",
    "of",
    "remains at",
    "set to",
];

/// The labelled quantities of a text.
pub(super) fn quotes(text: &str) -> Vec<Quote> {
    let mut found = Vec::new();
    for (at, label) in text.char_indices().filter(|(_, c)| "εδρμτ".contains(*c) || "kmtnN".contains(*c)) {
        let is_letter = label.is_ascii();
        let before = text[..at].chars().next_back();
        if is_letter && before.is_some_and(|c| c.is_alphanumeric() || "_'’".contains(c)) {
            continue;
        }
        let mut end = after_subscript(text, at + label.len_utf8());
        for suffix in ["-zCDP privacy loss budget", "-GDP", "-zCDP", "-DP"] {
            let here = after_spaces(text, end);
            if text[here..].starts_with(suffix) {
                end = here + suffix.len();
            }
        }
        let here = after_spaces(text, end);
        let relation = RELATIONS.iter().find(|relation| text[here..].starts_with(**relation));
        // A letter is a parameter only where an equation defines it.
        let Some(relation) = relation.filter(|relation| !is_letter || **relation == "=") else { continue };
        let mut number = after_spaces(text, here + relation.len());
        for word in ["about ", "approximately "] {
            if text[number..].starts_with(word) {
                number += word.len();
            }
        }
        if let Some((figure, _)) = number_at(text, number) {
            found.push(Quote { label, figure, at });
        }
    }
    found.extend(pairs(text));
    found
}

/// The byte after a subscript and primes.
fn after_subscript(text: &str, at: usize) -> usize {
    let mut end = at;
    if let Some(rest) = text[at..].strip_prefix('_') {
        end += 1 + rest.chars().take_while(|c| c.is_alphanumeric()).map(char::len_utf8).sum::<usize>();
    }
    loop {
        let here = after_spaces(text, end);
        match text[here..].chars().next() {
            Some(prime) if "'’′".contains(prime) => end = here + prime.len_utf8(),
            _ => return end,
        }
    }
}

/// Pairs such as `(1.2, 1e-10)-DP`.
fn pairs(text: &str) -> Vec<Quote> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices('(') {
        let first = number_at(text, after_spaces(text, at + 1));
        let Some((epsilon, end)) = first else { continue };
        let comma = after_spaces(text, end);
        if !text[comma..].starts_with(',') {
            continue;
        }
        let Some((delta, end)) = number_at(text, after_spaces(text, comma + 1)) else { continue };
        let end = after_spaces(text, end);
        let Some(rest) = text[end..].strip_prefix(')') else { continue };
        let rest = rest.trim_start().trim_start_matches('-');
        if rest.starts_with("DP") || rest.starts_with("differential") {
            let quote = |label, figure| Quote { label, figure, at };
            found.extend([quote('ε', epsilon), quote('δ', delta)]);
        }
    }
    found
}

/// The calculations of a text whose result stands beside them: `0.11 * 2 + 0.22 = 0.44`, and `5.0 (2.5 + 2.5)`.
pub(super) fn equations(text: &str) -> Vec<Equation> {
    let is_part = |c: char| c.is_ascii_digit() || " .+*/()×x-".contains(c);
    let is_calculation = |left: &str| {
        let operators = left.char_indices().filter(|(at, c)| "+*/×x".contains(*c) && *at > 0).count();
        operators > 0 && !left.contains(" - ")
    };
    let mut found = Vec::new();
    for (at, _) in text.match_indices('=') {
        let start = text[..at]
            .rfind(|c: char| !is_part(c))
            .map_or(0, |last| last + text[last..].chars().next().map_or(1, char::len_utf8));
        let left = text[start..at].trim().trim_start_matches([')', '*', '/', '+', 'x', '×', ' ', '.']).trim();
        let number = number_at(text, after_spaces(text, at + 1));
        let Some((result, end)) = number else { continue };
        if is_calculation(left) {
            found.push(Equation { left: left.replace(['×', 'x'], "*"), result, at });
        } else if let Some(inner) = text[end..].trim_start().strip_prefix('(').and_then(|rest| rest.split(')').next())
            && is_calculation(inner)
            && inner.chars().all(is_part)
        {
            found.push(Equation { left: inner.replace(['×', 'x'], "*"), result, at });
        }
    }
    found
}

/// The items and paragraphs of a text.
pub(super) fn items(text: &str) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_start_matches(' ');
        let indent = line.len() - bare.len();
        let is_item = ["- ", "* ", "• "].iter().any(|mark| bare.starts_with(mark)) || is_numbered(bare);
        let goes_on = !is_item && items.last().is_some_and(|last| last.depth % 2 == 0 || 2 * indent > last.depth);
        match items.last_mut().filter(|_| goes_on && !bare.trim().is_empty()) {
            Some(last) => last.text.push_str(line),
            None if bare.trim().is_empty() => {}
            None => {
                let depth = 2 * indent + usize::from(is_item);
                items.push(Item { depth, text: line.to_string(), at: at + indent });
            }
        }
        at += line.len();
    }
    items
}

fn is_numbered(line: &str) -> bool {
    let end = digits_end(line, 0);
    end > 0 && (line[end..].starts_with(") ") || line[end..].starts_with(". "))
}

/// The items directly below an item.
pub(super) fn children(items: &[Item], of: usize) -> Vec<&Item> {
    let Some(parent) = items.get(of) else { return Vec::new() };
    let below: Vec<&Item> = items[of + 1..].iter().take_while(|item| item.depth > parent.depth).collect();
    let nearest = below.iter().map(|item| item.depth).min();
    below.into_iter().filter(|item| Some(item.depth) == nearest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Rational {
        rational::parse(text).unwrap()
    }

    #[test]
    fn numbers_are_read_as_they_are_printed() {
        for (text, expected) in [
            ("4.0", "4"),
            ("65,536 rows", "65536"),
            ("1,2", "1"),
            ("7 × 10-9", "7e-9"),
            ("4.08 × 10^-8", "4.08e-8"),
            ("5.06e-9.", "5.06e-9"),
            ("1e5x", "1"),
            (".5", "0.5"),
            ("0.45.", "0.45"),
            ("10^-10", "1e-10"),
        ] {
            assert_eq!(number_at(text, 0).unwrap().0.value, value(expected), "{text}");
        }
        let delta = |text: &str| quotes(&normalised(text)).into_iter().find(|quote| quote.label == 'δ');
        for text in ["\\\\(\\delta\\\\) < 10-7", "δ = 10^{-7}", "\\delta = 10−7", "delta of 1e-7"] {
            assert_eq!(delta(text).unwrap().figure.value, value("1e-7"), "{text}");
        }
        // A range is no power of ten.
        assert_eq!(numbers("pages 10-20")[0].value, value("10"));
        assert_eq!(numbers("ε_0 of v2 is 3").len(), 1);
    }

    #[test]
    fn quantities_have_labels_and_subscripts() {
        let all = quotes(&normalised(
            "\\\\(\\epsilon_1'\\\\) = 0.0047, an epsilon value of 2.0, μ-GDP is about 0.376; (m = 1024) (1.2, 10−10)-DP",
        ));
        let found: Vec<(char, String)> =
            all.iter().map(|quote| (quote.label, quote.figure.value.to_string())).collect();
        let expected =
            [('ε', "47/10000"), ('ε', "2"), ('μ', "47/125"), ('m', "1024"), ('ε', "6/5"), ('δ', "1/10000000000")];
        assert_eq!(found, expected.map(|(label, value)| (label, value.to_string())));
        assert!(quotes("them = 5, item n 5").is_empty());
    }

    #[test]
    fn equations_have_a_calculation_and_a_result() {
        for (text, left, result) in [
            ("each level: 0.11 * 2 + 0.22 = 0.44", "0.11 * 2 + 0.22", "0.44"),
            ("is 4 × 0.44 = 1.76.", "4 * 0.44", "1.76"),
            ("budget is ε = 5.0 (2.5 + 2.5).", "2.5 + 2.5", "5"),
        ] {
            let found = equations(text);
            assert_eq!((found[0].left.as_str(), &found[0].result.value), (left, &value(result)), "{text}");
        }
        for text in ["k = 65,546", "ε = 4 for x", "(ε=1.1) for lower", "= 5", "(sensitivity = 1, scale = 10)"] {
            assert!(equations(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn items_stand_below_their_paragraph() {
        let text = "As follows:\n  - A, ε = 3\n    and more\n    - inner\n  - B\nThe end\n";
        let items = items(text);
        let texts: Vec<&str> = items.iter().map(|item| item.text.trim()).collect();
        assert_eq!(texts, ["As follows:", "- A, ε = 3\n    and more", "- inner", "- B", "The end"]);
        assert_eq!(children(&items, 0).len(), 2);
        assert_eq!(children(&items, 1).len(), 1);
        assert!(children(&items, 4).is_empty());
        assert_eq!(&text[items[1].at..items[1].at + 3], "- A");
    }
}
