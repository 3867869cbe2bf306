//! What is to be added, and the promise that it is to keep.

use super::promise::{Basis, LedgerPromise};
use crate::{
    account::{Delta, Epsilon, ledger::Spent},
    error::{Error, Result},
    numeric::{Enclosure, rational},
};

/// A release that is to be added.
#[derive(Clone, Debug)]
pub struct Addition {
    /// A bundled release, a release file, a certificate of `tabulate`, or the folder of either `tabulate` or `measure`.
    pub release: String,
    /// The population; `None` for the only one.
    pub population: Option<String>,
    /// Its name; `None` for that of the release, with a number if there is one of that name.
    pub name: Option<String>,
    /// How often it is published.
    pub times: u64,
    /// The partition and the part that it is about.
    pub part: Option<(String, String)>,
    /// Why the account may have become less since earlier lines of the log, which the new line then keeps.
    pub because: Option<String>,
}

/// The promise that an addition is to keep, as far as it is given beside the ledger: what is not given is that of the ledger, and what is given is the same.
#[derive(Clone, Debug)]
pub struct Request {
    /// The largest epsilon.
    pub epsilon: Option<Epsilon>,
    /// The delta.
    pub delta: Option<Delta>,
    /// Whether the sum of rho decides; false is no request where the ledger has a promise.
    pub is_adaptive: bool,
    /// The digits of epsilon.
    pub digits: u32,
}

/// The promise that everything has to keep.
#[derive(Clone, Debug)]
pub struct Limit {
    /// The largest epsilon.
    pub epsilon: Epsilon,
    /// The delta.
    pub delta: Delta,
    /// The account that decides.
    pub basis: Basis,
    /// The digits of epsilon.
    pub digits: u32,
    /// Whether it is the promise of the ledger.
    pub is_of_ledger: bool,
}

impl Request {
    /// The promise in full.
    pub(super) fn limit(&self, own: Option<&LedgerPromise>) -> Result<Limit> {
        let Request { epsilon, delta, is_adaptive, digits } = self.clone();
        let Some(own) = own else {
            let basis = if is_adaptive { Basis::SumOfRho } else { Basis::Composition };
            let missing = |what: &str| {
                Error::missing(format!(
                    "{what} is missing, and the ledger has no promise: give it, or write promise = {{ epsilon = \"3\", delta = \"1e-9\", adaptive = false }} into the ledger"
                ))
            };
            let epsilon = epsilon.ok_or_else(|| missing("--promise, the largest epsilon of everything,"))?;
            let delta = delta.ok_or_else(|| missing("--delta, at which epsilon is computed,"))?;
            return Ok(Limit { epsilon, delta, basis, digits, is_of_ledger: false });
        };
        let other = |what: &str, given: String, own: String| {
            Error::conflict(format!(
                "{what} is {own} in the promise of the ledger, which every addition keeps, and not {given}: leave it out"
            ))
        };
        if let Some(given) = epsilon.filter(|given| *given != own.epsilon) {
            return Err(other("epsilon", given.to_string(), own.epsilon.to_string()));
        }
        if let Some(given) = delta.filter(|given| *given != own.delta) {
            return Err(other("delta", given.to_string(), own.delta.to_string()));
        }
        if is_adaptive && !own.is_adaptive {
            return Err(other("adaptive", "true".to_string(), "false".to_string()));
        }
        let (epsilon, delta) = (own.epsilon.clone(), own.delta.clone());
        Ok(Limit { epsilon, delta, basis: own.basis(), digits, is_of_ledger: true })
    }
}

impl Limit {
    /// The enclosure that decides.
    pub fn deciding<'a>(&self, spent: &'a Spent) -> &'a Enclosure {
        match self.basis {
            Basis::Composition => &spent.epsilon,
            Basis::SumOfRho => &spent.adaptive_epsilon,
        }
    }

    /// An upper bound on the epsilon that decides, rounded up to this number of digits; of exact bounds, as a sum of pure epsilons, the number itself where it has no more
    /// digits. A promise that is kept is one.
    pub fn upper_text(&self, spent: &Spent, is_kept: bool, digits: usize) -> String {
        let decides = self.deciding(spent);
        let exact = spent.pure_epsilon.as_ref().into_iter().chain(is_kept.then_some(&*self.epsilon)).min();
        let rounded = decides.upper_text(digits);
        // The number of digits, a point and a zero before it.
        let text = exact.filter(|bound| **bound <= *decides.upper()).map(rational::display);
        text.filter(|text| text.len() <= digits + 2 && !text.contains('/')).unwrap_or(rounded)
    }

    /// Whether that follows from the sum of rho, or of pure epsilons.
    pub fn is_by_rho(&self, spent: &Spent) -> bool {
        self.basis == Basis::SumOfRho || !spent.is_composed
    }

    /// The account that decides, as in JSON: "composition", "rho", or "pure" where the sum of pure epsilons is the smaller one.
    pub fn by(&self, spent: &Spent) -> &'static str {
        match self.is_by_rho(spent) {
            false => "composition",
            true if self.basis == Basis::SumOfRho && spent.adaptive_epsilon.upper() < spent.zcdp_epsilon.upper() => {
                "pure"
            }
            true => "rho",
        }
    }

    /// The promise and its delta as the log has them.
    pub(super) fn texts(&self) -> (String, String) {
        (rational::display(&self.epsilon), rational::display(&self.delta))
    }
}
