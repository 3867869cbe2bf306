//! The table of laws: their names in options and files, the text of their numbers, and what each number is.
//!
//! Options of the program, `--law`, release files, searches for a number, the page and the packages read this table: a law that has a row here is known to all.

use std::sync::Arc;

use rug::Rational;

use super::{
    Changes, Law, PerturbationTable, Sampled, bounded_range, discrete_laplace, gaussian, guarantee, laplace, pair,
    perturbation, randomized_response, staircase, table, truncated, unknown_key,
};
use crate::{
    error::{Error, Result},
    numeric::rational,
};

/// What finds a number of a law by its name.
type Given<'a> = dyn FnMut(&'static str) -> Result<Rational> + 'a;

/// The function that makes a law of its numbers.
type Maker = fn(&mut Given) -> Result<Law>;

/// How a mechanism is written as an option.
#[derive(Clone, Copy)]
enum Form {
    /// The numbers of a law, separated by colons, from which it is made.
    Numbers(Maker),
    /// Texts that contain the name of another law: the kind in words, and its parts.
    Nested { name: &'static str, parts: &'static [&'static str] },
    /// The name of a file.
    File,
}

/// A kind of mechanism as options and files give it.
pub struct Entry {
    /// The name of its option without dashes, and after `--law`.
    pub option: &'static str,
    /// What is counted, for help: one line.
    pub about: &'static str,
    /// Its text as help writes it: its numbers, a count, and a shift where a record may change it by more than one.
    pub text: &'static str,
    form: Form,
}

/// All kinds of mechanisms, in the order of an answer.
pub const ENTRIES: [Entry; 18] = [
    Entry {
        option: gaussian::DISCRETE,
        about: "counts with discrete Gaussian noise of variance proxy SIGMA2",
        text: "SIGMA2[xCOUNT][@SHIFT]",
        form: Form::Numbers(|given| Ok(Law::DiscreteGaussian { sigma2: given("sigma2")? })),
    },
    Entry {
        option: discrete_laplace::KEY,
        about: "counts with two-sided geometric noise of mass proportional to exp(-EPSILON |x|)",
        text: "EPSILON[xCOUNT][@SHIFT]",
        form: Form::Numbers(|given| Ok(Law::DiscreteLaplace { epsilon: given("epsilon")? })),
    },
    Entry {
        option: gaussian::CONTINUOUS,
        about: "numbers with continuous Gaussian noise of variance SIGMA2",
        text: "SIGMA2[xCOUNT][@SHIFT]",
        form: Form::Numbers(|given| Ok(Law::Gaussian { sigma2: given("sigma2")? })),
    },
    Entry {
        option: laplace::KEY,
        about: "numbers with continuous Laplace noise of scale SCALE",
        text: "SCALE[xCOUNT][@SHIFT]",
        form: Form::Numbers(|given| Ok(Law::Laplace { scale: given("scale")? })),
    },
    Entry {
        option: truncated::LAPLACE,
        about: "counts with discrete Laplace noise, renormalized on -BOUND, ..., BOUND",
        text: "EPSILON:BOUND[xCOUNT][@SHIFT]",
        form: Form::Numbers(|given| {
            Ok(Law::TruncatedLaplace { epsilon: given("epsilon")?, bound: whole("bound", given)? })
        }),
    },
    Entry {
        option: truncated::GAUSSIAN,
        about: "counts with discrete Gaussian noise, renormalized on -BOUND, ..., BOUND",
        text: "SIGMA2:BOUND[xCOUNT][@SHIFT]",
        form: Form::Numbers(|given| {
            Ok(Law::TruncatedGaussian { sigma2: given("sigma2")?, bound: whole("bound", given)? })
        }),
    },
    Entry {
        option: staircase::KEY,
        about: "counts with staircase noise of mass proportional to exp(-EPSILON floor((|x| + PERIOD - FIRST) / PERIOD)): stairs of PERIOD values, the first of FIRST",
        text: "EPSILON:PERIOD:FIRST[xCOUNT][@SHIFT]",
        form: Form::Numbers(|given| {
            let (epsilon, period, first) = (given("epsilon")?, whole("period", given)?, whole("first", given)?);
            Ok(Law::Staircase { epsilon, period, first, changes: Changes::Exactly })
        }),
    },
    Entry {
        option: randomized_response::KEY,
        about: "randomized responses with K possible answers, of which the true one has probability e^EPSILON / (e^EPSILON + K - 1) [default K: 2]",
        text: "EPSILON[:K][xCOUNT]",
        form: Form::Numbers(|given| {
            Ok(Law::RandomizedResponse { epsilon: given("epsilon")?, answers: whole("answers", given)? })
        }),
    },
    Entry {
        option: bounded_range::KEY,
        about: "mechanisms of range EPSILON, as the exponential mechanism with weights exp(EPSILON u / (2 sensitivity))",
        text: "EPSILON[xCOUNT]",
        form: Form::Numbers(|given| Ok(Law::BoundedRange { epsilon: given("epsilon")? })),
    },
    Entry {
        option: guarantee::PURE,
        about: "mechanisms of which only EPSILON-DP is known",
        text: "EPSILON[xCOUNT]",
        form: Form::Numbers(|given| Ok(Law::Pure { epsilon: given("epsilon")? })),
    },
    Entry {
        option: guarantee::APPROXIMATE,
        about: "mechanisms of which only (EPSILON, DELTA)-DP is known",
        text: "EPSILON:DELTA[xCOUNT]",
        form: Form::Numbers(|given| Ok(Law::Approximate { epsilon: given("epsilon")?, delta: given("delta")? })),
    },
    Entry {
        option: table::KEY,
        about: "counts with the noise of a table: a CSV file with the columns value and mass, whose masses add up to exactly 1",
        text: "FILE[xCOUNT][@SHIFT]",
        form: Form::File,
    },
    Entry {
        option: perturbation::KEY,
        about: "cells of the cell-key method: a CSV file with the columns i, j and p (true count, published value, probability), also as the R package ptable exports it; or with the columns pcv, ckey and pvalue (true count, key, published value less the count). The last row stands for all larger counts; --period N: the last N rows are repeated",
        text: "FILE[xCOUNT][@SHIFT]",
        form: Form::File,
    },
    Entry {
        option: perturbation::ROUNDING,
        about: "cells rounded to a multiple of BASE at random, without bias: a count of residue r up with probability r / BASE",
        text: "BASE[xCOUNT][@SHIFT]",
        form: Form::Numbers(|given| {
            Ok(Law::Perturbation(Arc::new(PerturbationTable::random_rounding(whole("base", given)?)?)))
        }),
    },
    Entry {
        option: pair::KEY,
        about: "mechanisms by their outcomes: a CSV file with the columns p and q, the probabilities of each outcome with a record and without it",
        text: "FILE[xCOUNT]",
        form: Form::File,
    },
    Entry {
        option: "sampled",
        about: "steps of LAW on a Poisson sample: each record is in it with probability RATE; LAW is gaussian, as in 0.01:gaussian:1x1000, discrete-gaussian, discrete-laplace, truncated-gaussian, truncated-laplace, randomized-response or table",
        text: "RATE:LAW:PARAMETER[xCOUNT][@SHIFT]",
        form: Form::Nested { name: "noise on a Poisson sample", parts: &["rate", "law", "parameter"] },
    },
    Entry {
        option: Entry::TRAINING,
        about: "steps of DP-SGD: Gaussian noise of NOISE_MULTIPLIER clipping norms on a Poisson sample of rate RATE, as in 256/60000:1.1x1000",
        text: "RATE:NOISE_MULTIPLIER[xCOUNT]",
        form: Form::Nested { name: "steps of DP-SGD", parts: &["rate", "noise_multiplier"] },
    },
    Entry {
        option: unknown_key::KEY,
        about: "keys that are shown if their count with the noise LAW:PARAMETER is at least TAU, as in discrete-laplace:0.5:30x10; LAW is discrete-laplace, discrete-gaussian, laplace or gaussian",
        text: "LAW:PARAMETER:TAU[xCOUNT][@SHIFT]",
        form: Form::Nested { name: "keys shown above a threshold", parts: &["law", "parameter", "threshold"] },
    },
];

/// Noise on a sample of the records, in files: there the rate is a number like others.
const SAMPLED: [(&str, Maker); 6] = [
    (Law::SAMPLED_KEY, |given| Ok(Law::SampledGaussian { sigma2: given("sigma2")?, rate: given("rate")? })),
    ("sampled-discrete-gaussian", |given| on_samples(gaussian::DISCRETE, given)),
    ("sampled-discrete-laplace", |given| on_samples(discrete_laplace::KEY, given)),
    ("sampled-truncated-gaussian", |given| on_samples(truncated::GAUSSIAN, given)),
    ("sampled-truncated-laplace", |given| on_samples(truncated::LAPLACE, given)),
    ("sampled-randomized-response", |given| on_samples(randomized_response::KEY, given)),
];

/// The law with this name in files on a sample.
fn on_samples(key: &str, given: &mut Given) -> Result<Law> {
    let make = maker(key).ok_or_else(|| Error::unknown("law of samples", key, "there are", Law::keys()))?;
    let law = make(given)?;
    Ok(Law::Sampled(Arc::new(Sampled::new(given("rate")?, law)?)))
}

impl Entry {
    /// The option of steps of DP-SGD by their noise multiplier.
    pub const TRAINING: &str = "dp-sgd";

    /// The row of an option.
    pub fn named(option: &str) -> Option<&'static Entry> {
        ENTRIES.iter().find(|entry| entry.option == option)
    }

    /// The row of the option of a text, `OPTION:TEXT`, and its own text. An error for an option that there is not.
    pub fn of_text(text: &str) -> Result<(&'static Entry, &str)> {
        let (option, own) = text.split_once(':').unwrap_or((text, ""));
        let known = ENTRIES.iter().map(|entry| entry.option);
        let entry = Entry::named(option).ok_or_else(|| Error::unknown("law", option, "there are", known))?;
        Ok((entry, own))
    }

    /// The names of its numbers, in the order of its text: of a nested text those of the law that `text` names, as far as it names one; of a file "file".
    pub fn numbers(&self, text: &str) -> Vec<&'static str> {
        match self.form {
            Form::Numbers(make) => numbers(make),
            Form::File => vec!["file"],
            Form::Nested { parts, .. } => {
                let law = parts.iter().position(|part| *part == "law").and_then(|at| text.split(':').nth(at));
                let inner = law.and_then(|law| maker(law.trim())).and_then(|make| numbers(make).first().copied());
                parts.iter().map(|part| if *part == "parameter" { inner.unwrap_or(part) } else { part }).collect()
            }
        }
    }

    /// Its name in words: "discrete Laplace noise", "pure DP".
    pub fn name(&self) -> String {
        match self.form {
            Form::Numbers(make) => {
                make(&mut |_| Ok(Rational::from(2))).map_or_else(|_| self.option.to_string(), |law| law.in_words())
            }
            Form::Nested { name, .. } => name.to_string(),
            Form::File => self.option.to_string(),
        }
    }

    /// Whether its text names a file.
    pub fn is_file(&self) -> bool {
        matches!(self.form, Form::File)
    }
}

impl Law {
    /// The name in files of Poisson-sampled Gaussian noise.
    pub const SAMPLED_KEY: &str = gaussian::SAMPLED;

    /// The law of a file that names none.
    pub const DEFAULT_KEY: &str = gaussian::DISCRETE;

    /// The names of all laws in files, the default first.
    pub fn keys() -> impl Iterator<Item = &'static str> + Clone {
        let of_numbers = |entry: &'static Entry| matches!(entry.form, Form::Numbers(_)).then_some(entry.option);
        ENTRIES.iter().filter_map(of_numbers).chain(SAMPLED.iter().map(|(key, _)| *key))
    }

    /// The law with this name in files and the numbers that `given` finds by their names; `None` for other names. An error for a number that is
    /// not found is that of `given`.
    pub fn named(key: &str, mut given: impl FnMut(&'static str) -> Result<Rational>) -> Option<Result<Law>> {
        Some(maker(key)?(&mut given))
    }

    /// The names of the numbers of the law with this name in files, in the order of its text; none for an unknown law.
    pub fn numbers_of(key: &str) -> Vec<&'static str> {
        maker(key).map(numbers).unwrap_or_default()
    }

    /// The names of the numbers of all laws in files, each once.
    pub fn parameter_names() -> Vec<&'static str> {
        let mut names = Vec::new();
        for name in Law::keys().flat_map(Law::numbers_of) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The law with this name in files ([`Law::keys`]) and the text of its numbers, as in `1/2:40` for `truncated-laplace`. An error for other forms.
    pub fn parse(key: &str, parameters: &str) -> Result<Law> {
        let (mut parts, mut names) = (parameters.split(':'), Vec::new());
        let law = Law::named(key, |name| {
            names.push(name.to_uppercase());
            match parts.next() {
                Some(part) => rational::parse(part),
                // Two, unless others are given.
                None if name == "answers" => Ok(Rational::from(2)),
                None => {
                    Err(Error::malformed(key, parameters, &format!("{}, as in {}", names.join(":"), example(&names))))
                }
            }
        });
        let law = law.ok_or_else(|| Error::unknown("law", key, "there are", Law::keys()))??;
        if let Some(more) = parts.next() {
            let expected = format!("{} and no more, as in {}", names.join(":"), example(&names));
            return Err(Error::malformed("a further parameter", more, &expected));
        }
        Ok(law)
    }
}

/// Numbers that a law with parameters of these names in capitals can have, as its text.
fn example(names: &[String]) -> String {
    let number = |(at, name): (usize, &String)| match name.as_str() {
        "DELTA" => "1e-9",
        "RATE" => "0.01",
        _ if at == 0 && names.len() > 1 => "1",
        _ => "5",
    };
    names.iter().enumerate().map(number).collect::<Vec<_>>().join(":")
}

/// What makes the law with this name in files.
fn maker(key: &str) -> Option<Maker> {
    if let Some((_, make)) = SAMPLED.iter().find(|(name, _)| *name == key) {
        return Some(*make);
    }
    match Entry::named(key)?.form {
        Form::Numbers(make) => Some(make),
        _ => None,
    }
}

/// The names of the numbers of a law.
fn numbers(make: Maker) -> Vec<&'static str> {
    let mut names = Vec::new();
    // Which law it is does not matter.
    let _ = make(&mut |name| {
        names.push(name);
        Ok(Rational::from(1))
    });
    names
}

/// A number that counts something.
fn whole(name: &'static str, given: &mut Given) -> Result<u64> {
    let value = given(name)?;
    let whole = value.is_integer().then(|| value.numer().to_u64()).flatten();
    whole.ok_or_else(|| Error::malformed(name, rational::display(&value), "a positive whole number"))
}

/// A number of a mechanism, as searches for it and examples need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// Its name, as in JSON: "sigma2", "rate", "count".
    pub name: &'static str,
    /// Whether the mechanism becomes more private as the number grows.
    pub is_more_private_above: bool,
    /// Whether it is a whole number.
    pub is_whole: bool,
    /// The decimals of its grid, unless others are given.
    pub decimals: u32,
    /// An example.
    pub example: &'static str,
}

impl Number {
    /// All numbers.
    const ALL: [Number; 14] = [
        Number::real("sigma2", true, 2, "5"),
        Number::real("noise_multiplier", true, 4, "1"),
        Number::real("scale", true, 2, "1"),
        Number::real("epsilon", false, 4, "1"),
        Number::real("delta", false, 12, "1e-9"),
        Number::real("rate", false, 6, "1/10"),
        Number::real("threshold", true, 0, "30"),
        Number::whole("bound", true, "40"),
        Number::whole("period", true, "4"),
        Number::whole("first", true, "2"),
        Number::whole("base", true, "3"),
        Number::whole("answers", true, "2"),
        Number::whole("count", false, "1"),
        Number::whole("shift", false, "1"),
    ];

    const fn real(name: &'static str, is_more_private_above: bool, decimals: u32, example: &'static str) -> Number {
        Number { name, is_more_private_above, is_whole: false, decimals, example }
    }

    const fn whole(name: &'static str, is_more_private_above: bool, example: &'static str) -> Number {
        Number { name, is_more_private_above, is_whole: true, decimals: 0, example }
    }

    /// The number of this name.
    pub fn named(name: &str) -> Option<Number> {
        Number::ALL.into_iter().find(|number| number.name == name)
    }

    /// The largest that a search tries.
    pub fn most(&self) -> Rational {
        match self.name {
            "rate" | "delta" => Rational::from(1),
            "epsilon" => Rational::from(1_000_000),
            _ => Rational::from(1_000_000_000_000_u64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_every_law_is_known_by_its_name() {
        for key in Law::keys() {
            let names = Law::numbers_of(key);
            assert!(!names.is_empty(), "{key}");
            assert!(names.iter().all(|name| Number::named(name).is_some()), "{key}: {names:?}");
            let example = |name: &'static str| rational::parse(Number::named(name).unwrap().example);
            let law = Law::named(key, example).unwrap().unwrap();
            law.check().unwrap();
            assert_eq!(law.key(), key);
            let own =
                [law.parameter_name()].into_iter().chain(law.other_parameters().into_iter().map(|(name, _)| name));
            let (mut own, mut sorted) = (own.collect::<Vec<_>>(), names);
            own.sort_unstable();
            sorted.sort_unstable();
            assert_eq!(own, sorted, "{key}: the law says its own parameters");
        }
    }

    #[test]
    fn the_text_of_help_has_as_many_parts_as_there_are_numbers() {
        for entry in &ENTRIES {
            let text = entry.text.split("[x").next().unwrap();
            let parts = text.replace("[:", ":").replace(']', "").split(':').count();
            assert_eq!(parts, entry.numbers("").len(), "{}", entry.option);
        }
    }
}
