//! One number of a mechanism that is sought, written as a question mark, as in `0.01:gaussian:?x1000`.
//!
//! Every number of the text can be: a parameter of the noise, the rate of a sample, a bound, a threshold, the count, or the shift. It decides whether the
//! mechanism becomes more private as the number grows, or less. The result is the number that spends most of a promise: it is proven to keep the promise,
//! and its neighbor on the grid, on the less private side, is not proven to keep it, and mostly proven to break it. The proofs do not rely on a mechanism that is
//! more private the further the number is on one side. Where it is not, as where a bound or a threshold makes more noise less private in the end, numbers over
//! the whole range are tried, and those between the most private of them.

use rug::{Integer, Rational, ops::Pow};

pub use crate::law::Number;

use super::{
    Counts,
    calibrate::{Least, Multiples},
    inside,
    profile::Account,
    promise::Promise,
    stretches,
};
use crate::{
    error::{Error, Result},
    law::{Entry, FileOptions, Law},
    numeric::{Certainty, Enclosure, rational},
};

/// A mechanism with a question mark in place of one of its numbers.
#[derive(Clone, Debug)]
pub struct Question {
    key: String,
    text: String,
    /// How a file is understood.
    options: FileOptions,
    /// The number that is sought.
    pub number: Number,
}

/// A number that was found.
#[derive(Clone, Debug)]
pub struct Found<A> {
    /// The account with that number.
    pub account: A,
    /// The number, proven to keep the promise.
    pub value: Rational,
    /// Its neighbor on the grid on the less private side, not proven to keep the promise; `None` where the range ends.
    pub not_enough: Option<Rational>,
    /// Whether that neighbor is proven to break it.
    pub is_neighbor_disproved: bool,
}

/// What a search knows in the end.
#[derive(Clone, Debug)]
pub enum Outcome<A> {
    /// A number that keeps the promise.
    Found(Found<A>),
    /// No number of the grid is known to keep it.
    None {
        /// Whether it is proven that none does: the mechanism is the more private the further the number is on one side, and that end breaks the promise.
        is_proven: bool,
        /// The ends of the grid.
        range: (Rational, Rational),
    },
}

impl<A> Outcome<A> {
    /// The number that was found, of this name; an error that says what is known where there is none.
    pub fn or_refused(self, name: &str) -> Result<Found<A>> {
        let (is_proven, range) = match self {
            Outcome::Found(found) => return Ok(found),
            Outcome::None { is_proven, range } => (is_proven, range),
        };
        let (least, most) = (rational::display(&range.0), rational::display(&range.1));
        Err(Error::unsuitable(match is_proven {
            true => format!("no {name} from {least} to {most} keeps the target"),
            false => format!("of {name} from {least} to {most}, none that was tried is proven to keep the target"),
        }))
    }
}

/// The mark.
const MARK: char = '?';
impl Question {
    /// The question of an option's text, by the option's name without dashes; `None` if there is no question mark. An error if there are several, or if
    /// none of the numbers is it.
    pub fn of_text(key: &str, text: &str, options: impl Into<FileOptions>) -> Result<Option<Self>> {
        if !text.contains(MARK) {
            return Ok(None);
        }
        let malformed = || {
            let expected = "one question mark in place of a number, as in 0.01:gaussian:?x1000";
            Error::malformed("what is sought", text, expected)
        };
        let name = name_at_mark(key, text).filter(|_| text.matches(MARK).count() == 1).ok_or_else(malformed)?;
        let number = Number::named(name).ok_or_else(malformed)?;
        let question = Question { key: key.to_string(), text: text.to_string(), options: options.into(), number };
        Ok(Some(question))
    }

    /// The name of the option, without dashes.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The text with the question mark.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text with a number in place of the mark.
    pub fn text_with(&self, value: &Rational) -> String {
        self.text.replace(MARK, &rational::display(value))
    }

    /// The mechanism with this number. An error if it is out of the range of the law.
    pub fn counts(&self, value: &Rational) -> Result<Counts> {
        Counts::read(&self.key, &self.text_with(value), self.options)
    }

    /// The decimals of the grid. An error if decimals are given for a whole number.
    pub fn decimals(&self, given: Option<u32>) -> Result<u32> {
        match given {
            Some(given) if self.number.is_whole && given > 0 => {
                let expected = format!("0, because {} is a whole number", self.number.name);
                Err(Error::out_of_range("decimals", given, &expected))
            }
            given => Ok(given.unwrap_or(self.number.decimals)),
        }
    }

    /// The number that spends most of a promise, of a grid of 10^-decimals, for a family of accounts that have it.
    ///
    /// An error if the promise is about the noise before calibration.
    pub fn answer<A: Account>(
        &self,
        family: impl Fn(&Rational) -> Result<A>,
        promise: &Promise,
        decimals: u32,
    ) -> Result<Outcome<A>> {
        if promise.is_relative() {
            let why = "a promise about the noise before calibration has no meaning where a number of it is sought: give an epsilon, or a promise about risk";
            return Err(Error::unsuitable(why));
        }
        let (start, grid) = self.grid(&family, decimals)?;
        let is_kept = |point: &Rational| -> Result<Certainty> {
            let account = family(point)?;
            promise.kept_by(&account, &account)
        };
        // A number of which it is not known is not taken for one that keeps the promise.
        let keeps = |point: &Rational| Ok(is_kept(point)? == Certainty::Yes);
        let mut found = self.spending_most(&grid, &start, keeps)?;
        let most_private = if self.number.is_more_private_above { &grid.most } else { &grid.least };
        if found.is_none() {
            // Tails of single outputs are not ordered by post-processing.
            let is_ordered = !matches!(promise, Promise::Outputs { .. });
            let is_monotone = is_ordered && self.is_monotone(&self.counts(most_private)?.law);
            let is_proven = is_monotone && is_kept(most_private)? == Certainty::No;
            // Bounds, thresholds, counts and rates are not kept within an interval.
            let may_be_inside = matches!(self.number.name, "sigma2" | "scale" | "epsilon") && !is_monotone;
            let inside = match may_be_inside {
                true => inside::kept_within(&grid, &family, |own| promise.missed_or_kept(own, own))?,
                false => None,
            };
            let Some(inside) = inside else {
                return Ok(Outcome::None { is_proven, range: (grid.least, grid.most) });
            };
            found = self.spending_most(&grid, &inside, keeps)?;
            if found.is_none() {
                return Ok(Outcome::None { is_proven: false, range: (grid.least, grid.most) });
            }
        }
        if let (Some((value, _)), Promise::Epsilon { epsilon, delta }, "sigma2") = (&found, promise, self.number.name) {
            let at = Enclosure::rational(epsilon, 160);
            if let Some(Least { value, before }) = stretches::below(value, &grid, &family, (&at, delta), keeps)? {
                found = Some((value, before));
            }
        }
        let (value, not_enough) = found.ok_or_else(|| Error::fault("a number that kept a promise breaks it"))?;
        let is_neighbor_disproved = match &not_enough {
            Some(other) => is_kept(other)? == Certainty::No,
            None => false,
        };
        Ok(Outcome::Found(Found { account: family(&value)?, value, not_enough, is_neighbor_disproved }))
    }

    /// The number that spends most of a promise, where a rule decides that more privacy keeps, such as the sum of rho, in place of the account.
    pub fn answer_where<A: Account>(
        &self,
        family: impl Fn(&Rational) -> Result<A>,
        decimals: u32,
        decided: impl Fn(&Rational) -> Result<Certainty>,
    ) -> Result<Outcome<A>> {
        let (start, grid) = self.grid(&family, decimals)?;
        let keeps = |point: &Rational| Ok(decided(point)? == Certainty::Yes);
        let Some((value, not_enough)) = self.spending_most(&grid, &start, keeps)? else {
            let most_private = if self.number.is_more_private_above { &grid.most } else { &grid.least };
            let is_proven = decided(most_private)? == Certainty::No;
            return Ok(Outcome::None { is_proven, range: (grid.least, grid.most) });
        };
        let is_neighbor_disproved = match &not_enough {
            Some(other) => decided(other)? == Certainty::No,
            None => false,
        };
        Ok(Outcome::Found(Found { account: family(&value)?, value, not_enough, is_neighbor_disproved }))
    }

    /// The number that spends most, and its neighbor that does not keep the promise, from a start.
    fn spending_most(
        &self,
        grid: &Multiples,
        start: &Rational,
        keeps: impl Fn(&Rational) -> Result<bool>,
    ) -> Result<Option<(Rational, Option<Rational>)>> {
        if self.number.is_more_private_above {
            let least = grid.least_where(grid.guess_at(start), keeps)?;
            return Ok(least.map(|Least { value, before }| (value, before)));
        }
        // The least that breaks the promise, and the one before it.
        Ok(match grid.least_where(start.to_f64(), |point| Ok(!keeps(point)?))? {
            Some(Least { value, before }) => before.map(|before| (before, Some(value))),
            None => Some((grid.most.clone(), None)),
        })
    }

    /// Whether a mechanism is proven to be no less private the further the number is on its more private side. With more Gaussian or Laplace noise, continuous or
    /// two-sided geometric, an output is that of less noise with independent noise added; guarantees imply weaker ones; fewer or smaller changes of
    /// log-concave noise are functions of more; with a smaller rate the law with a record is a mixture of that of the larger rate with the law without it, and
    /// hockey sticks are convex in both laws; what a larger threshold shows of a key is a function of what a smaller one shows; and so is a composition with anything
    /// else. Lattices of discrete Gaussians, bounds, and the noise beside a threshold are not monotone.
    #[doc(hidden)]
    pub fn is_monotone(&self, law: &Law) -> bool {
        match law {
            Law::Gaussian { .. }
            | Law::Laplace { .. }
            | Law::DiscreteLaplace { .. }
            | Law::Pure { .. }
            | Law::Approximate { .. } => true,
            Law::SampledGaussian { .. } => {
                matches!(self.number.name, "sigma2" | "noise_multiplier" | "rate" | "count")
            }
            Law::DiscreteGaussian { .. } => matches!(self.number.name, "count" | "shift"),
            Law::UnknownKey(_) => matches!(self.number.name, "count" | "threshold"),
            _ => self.number.name == "count",
        }
    }

    /// The part of the grid on which there is an account, around a number at which there is one: the end of an interval is found by halves.
    fn grid<A>(&self, family: &impl Fn(&Rational) -> Result<A>, decimals: u32) -> Result<(Rational, Multiples)> {
        let scale = Integer::from(10).pow(decimals);
        let point = |index: &Integer| Rational::from((index.clone(), scale.clone()));
        let index = |number: Rational| (number * &scale).floor().into_numer_denom().0;
        let (first, last) = (Integer::from(1), index(self.number.most()));
        // The first of them with an account is the start.
        let starts = [1, 2, 3, 10, 100, 1000].map(Rational::from);
        let parts = [2, 100, 10_000, 1_000_000].map(|part| Rational::from((1, part)));
        let mut refusal = None;
        let mut start = None;
        for candidate in starts.into_iter().chain(parts) {
            let index = index(candidate).clamp(&first, &last);
            match family(&point(&index)) {
                Ok(_) => {
                    start = Some(index);
                    break;
                }
                Err(error) if is_without_account(&error) => {
                    refusal.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        let Some(start) = start else {
            return Err(refusal.unwrap_or_else(|| Error::unsuitable("the grid is empty")));
        };
        let has_account = |index: &Integer| match family(&point(index)) {
            Ok(_) => Ok(true),
            Err(error) if is_without_account(&error) => Ok(false),
            Err(error) => Err(error),
        };
        let least = end_of(&start, &first, has_account)?;
        let most = end_of(&start, &last, has_account)?;
        let grid = Multiples { decimals, least: point(&least), most: point(&most) };
        Ok((point(&start), grid))
    }
}

/// Whether there is no account of a number: it is out of the range of its law, or nothing follows for a group of records.
fn is_without_account(error: &Error) -> bool {
    matches!(error, Error::OutOfRange { .. } | Error::Unsuitable { .. })
}

/// The index nearest to `end` up to which, from `inside`, an interval reaches.
fn end_of(inside: &Integer, end: &Integer, holds: impl Fn(&Integer) -> Result<bool>) -> Result<Integer> {
    if holds(end)? {
        return Ok(end.clone());
    }
    let (mut inside, mut outside) = (inside.clone(), end.clone());
    while Integer::from(&outside - &inside).abs() > 1 {
        let middle = Integer::from(&inside + &outside) >> 1;
        if holds(&middle)? { inside = middle } else { outside = middle }
    }
    Ok(inside)
}

/// The name of the number in whose place the mark is.
fn name_at_mark(key: &str, text: &str) -> Option<&'static str> {
    let is_mark = |part: &str| part.trim() == "?";
    let (rest, shift) = text.split_once('@').map_or((text, None), |(rest, shift)| (rest, Some(shift)));
    if shift.is_some_and(is_mark) {
        return Some("shift");
    }
    let (rest, count) = rest.rsplit_once('x').map_or((rest, None), |(rest, count)| (rest, Some(count)));
    if count.is_some_and(is_mark) {
        return Some("count");
    }
    let at = rest.split(':').position(is_mark)?;
    Entry::named(key)?.numbers(rest).get(at).copied()
}

#[cfg(test)]
mod tests {
    use super::{super::Composition, *};
    use crate::{
        loss::parameter::{Delta, Epsilon},
        numeric::rational::parse,
    };

    fn promise(epsilon: &str, delta: &str) -> Promise {
        let epsilon = Epsilon::new(parse(epsilon).unwrap()).unwrap();
        Promise::Epsilon { delta: delta.parse::<Delta>().unwrap(), epsilon }
    }

    fn name(key: &str, text: &str) -> Option<&'static str> {
        Question::of_text(key, text, false).unwrap().map(|question| question.number.name)
    }

    #[test]
    fn the_place_of_the_mark_is_the_number() {
        assert_eq!(name("sampled", "0.01:gaussian:1x1000"), None);
        assert_eq!(name("sampled", "?:gaussian:1x1000"), Some("rate"));
        assert_eq!(name("sampled", "0.01:gaussian:?x1000@2"), Some("sigma2"));
        assert_eq!(name("sampled", "0.01:gaussian:1x?"), Some("count"));
        assert_eq!(name("dp-sgd", "0.01:?x1000"), Some("noise_multiplier"));
        assert_eq!(name("dp-sgd", "?:1x1000"), Some("rate"));
        assert_eq!(name("discrete-laplace", "?"), Some("epsilon"));
        assert_eq!(name("truncated-laplace", "1/2:?x3"), Some("bound"));
        assert_eq!(name("laplace", "?@4"), Some("scale"));
        assert_eq!(name("gaussian", "4@?"), Some("shift"));
        assert_eq!(name("unknown-key", "gaussian:?:30"), Some("sigma2"));
        assert_eq!(name("unknown-key", "discrete-laplace:1:?"), Some("threshold"));
        assert_eq!(name("approximate", "1:?"), Some("delta"));
        assert_eq!(name("randomized-response", "1:?"), Some("answers"));
        assert_eq!(name("pair", "box.csvx?"), Some("count"));
        for (key, text) in [
            ("sampled", "?:gaussian:?"),
            ("sampled", "0.1:?:3"),
            ("table", "?"),
            ("gaussian", "4?"),
            ("gaussian", "1:?"),
        ] {
            assert!(Question::of_text(key, text, false).is_err(), "{key} {text}");
        }
    }

    /// Both neighbors on the grid by the account itself.
    #[test]
    fn the_answer_keeps_the_promise_and_its_neighbor_breaks_it() {
        for (key, text, decimals) in [
            ("discrete-gaussian", "?x10", None),
            ("discrete-gaussian", "40x?", None),
            ("discrete-gaussian", "4000@?", None),
            ("discrete-laplace", "?x3", Some(3)),
            ("truncated-laplace", "1/10:?", None),
            ("laplace", "?", Some(1)),
            ("approximate", "1/2:?x2", Some(9)),
        ] {
            let question = Question::of_text(key, text, false).unwrap().unwrap();
            let family = |value: &Rational| Composition::new([question.counts(value)?]);
            let decimals = question.decimals(decimals).unwrap();
            let outcome = question.answer(family, &promise("1", "1e-6"), decimals).unwrap();
            let Outcome::Found(found) = outcome else { panic!("{key} {text}") };
            assert!(found.is_neighbor_disproved, "{key} {text}");
            let at = |value: &Rational| family(value).unwrap().delta(parse("1").unwrap(), 12).unwrap().value;
            let most = parse("1e-6").unwrap();
            let apart = found.not_enough.clone().unwrap();
            assert!(*at(&found.value).upper() <= most && *at(&apart).lower() > most, "{key} {text}: {found:?}");
            let unit = Rational::from((1, Integer::from(10).pow(decimals)));
            assert_eq!(Rational::from(&found.value - &apart).abs(), unit, "{key} {text}");
            assert_eq!(found.value > apart, question.number.is_more_private_above, "{key} {text}");
        }
    }

    /// Noise with a bound: with more of it outputs beyond the bound prove the record, so that only an interval of numbers keeps the promise.
    #[test]
    fn a_promise_that_an_interval_of_numbers_keeps_is_found() {
        for (key, text, epsilon, delta, decimals, expected) in [
            ("truncated-gaussian", "?:10", "3", "1e-6", 2, "2.44"),
            ("truncated-laplace", "?:2", "3/2", "1/20", 2, "1.52"),
        ] {
            let question = Question::of_text(key, text, false).unwrap().unwrap();
            let family = |value: &Rational| Composition::new([question.counts(value)?]);
            let Outcome::Found(found) = question.answer(family, &promise(epsilon, delta), decimals).unwrap() else {
                panic!("{key} {text}")
            };
            assert_eq!(found.value, parse(expected).unwrap(), "{key} {text}");
            assert!(found.is_neighbor_disproved);
        }
    }

    #[test]
    fn what_has_no_answer_is_refused() {
        type Known = std::result::Result<(Rational, Option<Rational>), bool>;
        let ask = |key: &str, text: &str, decimals: Option<u32>, promise: &Promise| -> Result<Known> {
            let question = Question::of_text(key, text, false)?.unwrap();
            let family = |value: &Rational| Composition::new([question.counts(value)?]);
            Ok(match question.answer(family, promise, question.decimals(decimals)?)? {
                Outcome::Found(found) => Ok((found.value, found.not_enough)),
                Outcome::None { is_proven, .. } => Err(is_proven),
            })
        };
        let refused = |key: &str, text: &str, decimals: Option<u32>, promise: &Promise| {
            ask(key, text, decimals, promise).unwrap_err().to_string()
        };
        // One count is too many, which is proven: more are less private.
        assert!(ask("discrete-gaussian", "1x?", None, &promise("1/100", "1e-6")).unwrap().unwrap_err());
        // With a bound of 1 more noise reaches it too often, and less shows the record.
        assert!(!ask("truncated-laplace", "?:1", Some(2), &promise("3/2", "1/20")).unwrap().unwrap_err());
        assert!(refused("discrete-gaussian", "5x?", Some(2), &promise("1", "1e-6")).contains("whole number"));
        let relative = Promise::ZcdpEpsilon { delta: "1e-6".parse().unwrap() };
        assert!(refused("discrete-gaussian", "?", None, &relative).contains("give an epsilon"));
        // Every number keeps it: the end of the range, with nothing beyond.
        let (value, beyond) = ask("pure", "?", Some(0), &promise("2000000", "1e-6")).unwrap().unwrap();
        assert!(beyond.is_none() && value >= 1000, "{value}");
    }
}
