//! The promise of a ledger: the epsilon at delta that everything in each of its populations keeps, and the account that decides.
//!
//! # What `adaptive` promises
//!
//! Where the noise of a release, or whether there is one, follows from earlier results, the sum of rho is a filter: that no addition takes it above the rho of the promise bounds everything
//! together by the promise (Whitehouse, Ramdas, Rogers & Wu 2023). The sum so far bounds nothing: results that lead to a release with little noise show in that release, and those that lead
//! to none in its absence. Where everything is pure, the sum of the epsilons is a filter as well, and both together are one at the same delta: the proof stands at
//! [`Ledger::adaptive_epsilon`](crate::account::ledger::Ledger::adaptive_epsilon).
//!
//! # Why `adaptive` never changes
//!
//! From false to true: noise chosen by earlier results is covered only if every release from the first on stayed within a bound that was fixed in advance, also in the decision to go on
//! (Rogers, Roth, Ullman & Vadhan 2016). From true to false: the noise of earlier releases may follow from results, and the composed profile of noise that was chosen in
//! that way is not proven to bound the whole. So neither change is accepted, with or without a reason.

use std::fmt;

use serde::Deserialize;
use toml::Spanned;

use super::log::LogLine;
use crate::{
    account::{Delta, Epsilon},
    error::{Error, Result},
    io::toml_reader::{Exact, TomlReader},
    numeric::rational,
};

/// The account that decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The exact composition: the noise of all releases is fixed before any output is seen.
    Composition,
    /// The sum of rho: the noise of a release may follow from earlier outputs.
    SumOfRho,
}

impl Basis {
    /// To which choices of noise the promise extends.
    pub fn covers(self) -> &'static str {
        match self {
            Basis::Composition => {
                "This holds for noise that is fixed before any result is seen: earlier results may decide which questions are asked, but neither the noise of a release nor \
                 whether there is one."
            }
            Basis::SumOfRho => {
                "The promise holds also where the noise of a release, or whether there is one, follows from earlier results, if it was fixed before the first of them and every addition \
                 keeps it: the sum of rho decides, or that of pure epsilons where everything is pure. The epsilon so far is of noise that was fixed before any result was seen."
            }
        }
    }
}

/// The fields of the promise.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPromise {
    epsilon: Spanned<Exact>,
    delta: Spanned<Exact>,
    #[serde(default)]
    adaptive: bool,
}

/// The promise of a ledger, which every addition to one of its populations keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerPromise {
    /// The largest epsilon of everything in a population.
    pub epsilon: Epsilon,
    /// Its delta.
    pub delta: Delta,
    /// Whether the noise of a release, or whether there is one, may follow from earlier results: the sum of rho decides.
    pub is_adaptive: bool,
}

impl LedgerPromise {
    pub(super) fn read(reader: &TomlReader, raw: &RawPromise) -> Result<Self> {
        let refused = |field: &Spanned<Exact>, why: Error| reader.refuse(field.span().start, why.to_string());
        let epsilon = reader.number(&raw.epsilon)?.try_into().map_err(|why| refused(&raw.epsilon, why))?;
        let delta = reader.number(&raw.delta)?.try_into().map_err(|why| refused(&raw.delta, why))?;
        Ok(LedgerPromise { epsilon, delta, is_adaptive: raw.adaptive })
    }

    /// The account that decides.
    pub fn basis(&self) -> Basis {
        if self.is_adaptive { Basis::SumOfRho } else { Basis::Composition }
    }

    /// Whether a line of the log holds the same epsilon and delta.
    pub(super) fn has_numbers_of(&self, line: &LogLine) -> bool {
        (&line.promise, &line.delta) == (&rational::display(&self.epsilon), &rational::display(&self.delta))
    }
}

/// As in the ledger.
impl fmt::Display for LedgerPromise {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let LedgerPromise { epsilon, delta, is_adaptive } = self;
        write!(out, "promise = {{ epsilon = \"{epsilon}\", delta = \"{delta}\", adaptive = {is_adaptive} }}")
    }
}

/// Why `adaptive` cannot be what the promise has, after these lines of the log; `None` if it can.
pub(super) fn changed_basis(promise: Option<&LedgerPromise>, lines: &[(LogLine, String)]) -> Option<String> {
    lines.iter().map(|(line, _)| line).find_map(|line| {
        let number = line.number;
        match promise {
            None if line.of_ledger => Some(format!(
                "the promise is gone that line {number} of the log was added under: promise = {{ epsilon = \"{}\", delta = \"{}\", adaptive = {} }}; restore it",
                line.promise,
                line.delta,
                line.adaptive.unwrap_or(false)
            )),
            Some(promise) if promise.is_adaptive && line.adaptive.map_or(line.is_composed, |adaptive| !adaptive) => Some(format!(
                "the promise has adaptive = true, and line {number} of the log was added by the exact composition, which does not cover noise chosen by earlier results: \
                 adaptive cannot become true later; start another ledger"
            )),
            Some(promise) if !promise.is_adaptive && line.adaptive == Some(true) => Some(format!(
                "the promise has adaptive = false, and the noise of line {number} of the log may follow from earlier results, which the exact composition does not cover: \
                 adaptive cannot become false later; restore it"
            )),
            _ => None,
        }
    })
}

/// The line of the log whose promise was the ledger's and another one than now, from the last line on that gives a reason.
pub(super) fn changed_numbers(promise: Option<&LedgerPromise>, lines: &[(LogLine, String)]) -> Option<String> {
    let promise = promise?;
    let first = lines.iter().rposition(|(line, _)| line.because.is_some()).unwrap_or(0);
    let other =
        lines[first..].iter().map(|(line, _)| line).find(|line| line.of_ledger && !promise.has_numbers_of(line))?;
    Some(format!(
        "the promise is epsilon {} at delta = {}, and was epsilon {} at delta = {} in line {} of the log: restore it, or give the reason with the next addition",
        promise.epsilon, promise.delta, other.promise, other.delta, other.number
    ))
}
