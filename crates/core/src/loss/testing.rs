//! Laws, groups of counts and sums of their losses, which tests build from the texts of the command line.
//!
//! A text is `[LAW:]PARAMETER[:OTHER][xCOUNT][@SHIFT]`, as in `5x10`, `discrete-laplace:1/2x3@2` or `truncated-gaussian:2:5x3`; without a law the noise is
//! discrete Gaussian. Ranges are not checked: tests go beyond them.

use rug::Rational;

use super::{
    law::{Group, Law},
    sum::LossSum,
};
use crate::numeric::rational::parse;

/// The law of a text without count and shift.
pub(crate) fn law(text: &str) -> Law {
    let (key, parameters) = match text.split_once(':') {
        Some((key, parameters)) if Law::keys().any(|known| known == key) => (key, parameters),
        _ => (Law::DEFAULT_KEY, text),
    };
    let mut parameters = parameters.split(':');
    let law = Law::named(key, |name| match parameters.next() {
        Some(parameter) => parse(parameter),
        // As on the command line, two unless others are given.
        None if name == "answers" => Ok(Rational::from(2)),
        None => panic!("{text:?} has no {name}"),
    });
    assert!(parameters.next().is_none(), "{text:?} has too many parameters");
    law.unwrap().unwrap()
}

/// The counts of a text.
pub(crate) fn group(text: &str) -> Group {
    let number = |digits: &str| digits.parse::<u64>().unwrap_or_else(|_| panic!("{digits:?} in {text:?}"));
    let (rest, shift) = text.split_once('@').map_or((text, 1), |(rest, shift)| (rest, number(shift)));
    let is_count = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    let (law_text, copies) = match rest.rsplit_once('x') {
        Some((law_text, copies)) if is_count(copies) => (law_text, number(copies)),
        _ => (rest, 1),
    };
    Group { law: law(law_text), shift, copies }
}

/// The counts of several texts.
pub(crate) fn groups(texts: &[impl AsRef<str>]) -> Vec<Group> {
    texts.iter().map(|text| group(text.as_ref())).collect()
}

/// The sum of the losses of the counts of several texts.
pub(crate) fn sum(texts: &[impl AsRef<str>]) -> LossSum {
    LossSum::new(groups(texts)).unwrap()
}

#[test]
fn texts_are_those_of_the_command_line() {
    use crate::account::Counts;
    for (key, text) in [
        ("discrete-gaussian", "500/73x10@2"),
        ("discrete-laplace", "1/2x3"),
        ("gaussian", "1e4@7"),
        ("truncated-laplace", "1/2:7x3@2"),
        ("truncated-gaussian", "2:5"),
        ("staircase", "1:4:2x3@4"),
        ("randomized-response", "3/2x5"),
        ("randomized-response", "3/2:7x5"),
        ("exponential", "0.3x2"),
        ("approximate", "1:1e-9x4"),
    ] {
        let Counts { law, count, shift, .. } = Counts::parse(key, text).unwrap();
        assert_eq!(group(&format!("{key}:{text}")), Group { law, shift, copies: count }, "{key} {text}");
    }
    assert_eq!(group("5x10@2"), group("discrete-gaussian:5x10@2"));
    assert!(std::panic::catch_unwind(|| group("approximate:1x4")).is_err());
    assert!(std::panic::catch_unwind(|| group("5:3")).is_err());
}
