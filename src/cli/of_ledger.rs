//! A mechanism, or in its place everything that a ledger composes.

use anyhow::{Context, Result, bail};
use dp_assay::{
    Error,
    account::{
        Delta, Epsilon, Whole,
        ledger::{Entry, Ledger},
        promise::Promise,
    },
    ledger::{LedgerFile, LedgerPromise, odometer::Basis},
    loss::family::Units,
    numeric::{Certainty, Enclosure},
    release::Neighbors,
};

use super::subject::{Resolved, Subject};

/// Everything in a ledger.
#[derive(clap::Args)]
pub struct OfLedger {
    /// Everything in a ledger, a bundled one or a TOML file: in place of a mechanism, or in calibrate beside it
    #[arg(long, value_name = "NAME|FILE")]
    ledger: Option<String>,
    /// The population of the ledger [default: the only one]
    #[arg(long, value_name = "NAME", requires = "ledger")]
    population: Option<String>,
}

impl OfLedger {
    /// Whether a ledger is given.
    pub fn is_given(&self) -> bool {
        self.ledger.is_some()
    }

    /// The mechanism, or all releases of the ledger.
    pub fn resolve(&self, subject: &Subject) -> Result<Resolved> {
        let Some(ledger) = &self.ledger else { return subject.resolve() };
        if !subject.is_bare() {
            bail!(
                "--ledger: the ledger says what is accounted for, and for whom: leave out --release, counts, --neighbors, --group and --repeat"
            );
        }
        let file = LedgerFile::find(ledger).context("--ledger")?;
        let population = file.population(self.population.as_deref()).context("--population")?;
        file.resolved(population).context("--ledger")
    }
}

/// What a ledger has spent, beside which a number is sought.
pub struct Beside {
    /// The ledger and its population, for texts.
    pub name: String,
    /// The relation of the population.
    pub neighbors: Neighbors,
    /// The promise of the ledger.
    pub promise: Option<LedgerPromise>,
    /// The conditions under which the account of the ledger holds, in sentences.
    pub conditions: Vec<String>,
    /// The same with a mechanism that breaks the promise.
    pub conditions_if_broken: Vec<String>,
    /// Why what was entered may be more private than its account.
    pub may_be_more_private: Option<&'static str>,
    /// What was entered; `None` if nothing was.
    ledger: Option<Ledger>,
}

impl Beside {
    /// Everything entered, composed with a mechanism that is given under the relation of the population.
    pub fn with(&self, mechanism: &Resolved) -> dp_assay::Result<Whole> {
        let Some(ledger) = &self.ledger else { return Ok(mechanism.whole.clone()) };
        ledger
            .with(Entry::of_change(&mechanism.title, &mechanism.whole, mechanism.neighbors == Neighbors::Bounded)?)?
            .whole()
    }

    /// Everything entered and a mechanism, for the sums that decide in an adaptive ledger. An error where these are proven of no noise that follows from results.
    fn for_sums(&self, mechanism: &Resolved) -> dp_assay::Result<Ledger> {
        let is_bounded = self.neighbors == Neighbors::Bounded;
        let entry = Entry::of_change(&mechanism.title, &mechanism.whole, is_bounded)?;
        let ledger = match &self.ledger {
            Some(ledger) => ledger.with(entry)?,
            None => Ledger::new(vec![entry], if is_bounded { Units::Pairs } else { Units::Single })?,
        };
        ledger.check_filter()?;
        Ok(ledger)
    }

    /// The epsilon of everything entered and a mechanism by the sum of rho, or of pure epsilons.
    pub fn by_sums(&self, mechanism: &Resolved, delta: &Delta, digits: u32) -> dp_assay::Result<Enclosure> {
        self.for_sums(mechanism)?.adaptive_epsilon(delta, digits)
    }

    /// Whether these keep a promise.
    pub fn sums_keep(&self, mechanism: &Resolved, promise: &LedgerPromise, digits: u32) -> dp_assay::Result<Certainty> {
        self.for_sums(mechanism)?.adaptive_keeps(&promise.epsilon, &promise.delta, digits)
    }

    /// Whether those of what was entered alone are proven to break it.
    pub fn sums_break(&self, promise: &LedgerPromise, digits: u32) -> dp_assay::Result<bool> {
        let Some(ledger) = &self.ledger else { return Ok(false) };
        Ok(ledger.adaptive_keeps(&promise.epsilon, &promise.delta, digits)? == Certainty::No)
    }

    /// Whether everything entered and a mechanism keeps the promise of the ledger: by the sums in an adaptive ledger, else by the account of all of it.
    pub fn keeps_promise(&self, mechanism: &Resolved, account: &Whole, digits: u32) -> Result<Option<Certainty>> {
        let Some(promise) = &self.promise else { return Ok(None) };
        if promise.is_adaptive {
            return match self.sums_keep(mechanism, promise, digits) {
                // Where the sums bound no noise that follows from results, nothing is added.
                Err(Error::Unsuitable { .. }) => Ok(Some(Certainty::No)),
                kept => Ok(Some(kept?)),
            };
        }
        let own = Promise::Epsilon { delta: promise.delta.clone(), epsilon: promise.epsilon.clone() };
        Ok(Some(own.kept_by(account, account)?))
    }

    /// Whether the account of what was entered exceeds an epsilon at delta: so does that of everything with it.
    pub fn breaks(&self, epsilon: &Epsilon, delta: &Delta) -> Result<bool> {
        let Some(ledger) = &self.ledger else { return Ok(false) };
        Ok(ledger.keeps(epsilon, delta)? == Certainty::No)
    }
}

impl OfLedger {
    /// What was spent; `None` without a ledger.
    pub fn beside(&self) -> Result<Option<Beside>> {
        let Some(ledger) = &self.ledger else { return Ok(None) };
        let file = LedgerFile::find(ledger).context("--ledger")?;
        let population = file.population(self.population.as_deref()).context("--population")?;
        let ledger = match population.entries.is_empty() {
            true => None,
            false => Some(population.ledger().context("--ledger")?),
        };
        let name = format!("{} ({})", file.name, population.name);
        // Of a promise for noise that may follow from results the conditions say so themselves.
        let fixed = file.promise.as_ref().map(LedgerPromise::basis).filter(|basis| *basis == Basis::Composition);
        let of_basis =
            |own: Vec<String>| own.into_iter().chain(fixed.map(|basis| basis.covers().to_string())).collect();
        Ok(Some(Beside {
            name,
            neighbors: population.neighbors,
            promise: file.promise.clone(),
            conditions: of_basis(population.conditions()),
            conditions_if_broken: of_basis(population.conditions_without_promise()),
            may_be_more_private: ledger.as_ref().and_then(|ledger| population.may_be_more_private(ledger)),
            ledger,
        }))
    }
}

/// A note on the worst of many ways, of which none is named.
pub fn ways_note(subject: &Resolved) -> Option<String> {
    match &subject.whole {
        Whole::ManyWays(many) => Some(of_mixes(many.mixes())),
        Whole::WorstPath(worst) if subject.part_word == "release" => {
            Some(format!("The whole is the worst of {} ways of a record through these releases.", worst.count()))
        }
        _ => None,
    }
}

/// Of which mixes of groups the lower ends are, where they are too many to be composed.
pub fn of_mixes(mixes: &[(String, String)]) -> String {
    let each = mixes.iter().map(|(release, mix)| {
        format!(
            "The lower end of all releases composed is that of the mix of groups that is worst for {release} alone: {mix}. Another mix may be \
             worse beside the other releases; the upper end bounds every mix."
        )
    });
    each.collect::<Vec<_>>().join("\n")
}
