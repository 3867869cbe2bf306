//! The odometer: an entry is added if everything stays below a promise.
//!
//! The ledger is locked, read, composed with the new entry, and only if the certified upper end of epsilon is at most the promise, the line of the log is written and
//! then the ledger. Two processes wait for each other, and the second one decides about what the first one left. A process that is killed leaves the old
//! state, or the new one: a line of the log without its entry in the ledger counts, and the next addition completes the ledger.
//!
//! # What is proven
//!
//! Let mechanisms M_1, .. M_k have noise that is fixed before any output is seen, and let M_i be dominated by one pair whatever the outputs before it. Then the composition of these
//! pairs dominates the whole, however the mechanisms' questions follow from earlier outputs (Zhu, Dong & Wang 2022, on adaptive composition of dominating pairs), and the epsilon of the ledger holds at
//! its delta. Where the noise of a later release, or whether there is one, follows from earlier outputs, that theorem does not apply: the composed profile
//! of the noise that was chosen is not proven to bound the whole. The sum of rho is: stopping before it exceeds a bound that was fixed in advance is a valid filter
//! (Feldman & Zrnic 2021; Whitehouse, Ramdas, Rogers & Wu 2023), so with [`Basis::SumOfRho`] the promise holds for noise chosen in that way as well. A pure guarantee enters with
//! rho = epsilon^2 / 2 (Bun & Steinke 2016, Proposition 1.4), and where every entry is pure the sum of the epsilons decides where it is smaller.
//!
//! A promise that stands in the ledger is kept by every addition, and the log binds it. [`check`] answers the same question and writes nothing.

use std::path::{Path, PathBuf};

use super::{
    file::LedgerFile,
    form::{RawEntries, RawLedger},
    least_noise::{self, LeastNoise},
    locked::locked,
    log::{Log, LogLine, log_path},
    new_entry::{entry_text, without_place},
};
pub use super::{
    promise::Basis,
    request::{Addition, Limit, Request},
};
use crate::{
    account::ledger::Spent,
    error::{Error, Result},
    io::{
        files::{file_error, write_whole},
        reading::read_text,
        toml_reader::TomlReader,
    },
    numeric::{Certainty, Enclosure, rational},
    release::bundled_text,
};

/// The precision in bits of a promised epsilon as an upper end.
const PROMISED_BITS: u32 = 160;

/// The decision.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The name of the ledger.
    pub ledger: String,
    /// The population to which the release was to be added.
    pub population: String,
    /// The name of the entry.
    pub name: String,
    /// The promise.
    pub limit: Limit,
    /// Whether everything with the entry keeps it.
    pub is_kept: bool,
    /// The account of everything without the entry; `None` if there is no other entry.
    pub before: Option<Spent>,
    /// The account of everything with it.
    pub after: Spent,
    /// The conditions under which the account of everything with it holds, in sentences.
    pub conditions: Vec<String>,
    /// The promise of the entry before it, if that was another one: epsilon and delta as they were logged.
    pub other_promise: Option<(String, String)>,
    /// The least noise of the release that keeps the promise, where it was searched for and has a single number.
    pub least_noise: Option<LeastNoise>,
    /// The number and the hash of its line in the log, and the path of that; `None` if the promise would be broken, and nothing was written.
    pub added: Option<(u64, String, PathBuf)>,
}

/// A ledger and the same with a new entry.
struct Prepared<'a> {
    ledger: &'a str,
    text: String,
    log: Log,
    before: LedgerFile,
    after: LedgerFile,
    /// The index of the population.
    place: usize,
    /// The new entry as it will stand in the ledger, and its name.
    entry: String,
    name: String,
    because: Option<String>,
}

/// Adds a release to the ledger in this file if everything then stays below the promise.
pub fn add(ledger: &str, addition: &Addition, request: &Request) -> Result<Decision> {
    if bundled_text(ledger).is_some() {
        let why = format!("{ledger} is bundled, and nothing is added to it: start a ledger of your own");
        return Err(Error::conflict(why));
    }
    let _lock = locked(Path::new(ledger))?;
    let path = Path::new(ledger);
    let prepared = Prepared::new(ledger, read_text(path)?, Log::read(&log_path(path))?, addition)?;
    let decision = prepared.decision(request)?;
    match decision.is_kept {
        true => Ok(Decision { added: Some(prepared.write(&decision)?), ..decision }),
        false => Ok(decision),
    }
}

/// What would follow if each of some releases were added alone; nothing is written.
pub fn check(ledger: &str, additions: &[Addition], request: &Request) -> Result<Vec<Decision>> {
    let text = LedgerFile::text(ledger)?;
    // The log is written before the ledger: read in this order, it has every entry that the ledger has.
    let log = LedgerFile::log(ledger)?;
    let decided = |addition: &Addition| {
        let prepared = Prepared::new(ledger, text.clone(), log.clone(), addition)?;
        let decision = prepared.decision(request)?;
        let is_by_rho = decision.limit.is_by_rho(&decision.after);
        let least_noise =
            least_noise::of_last(&prepared.after.populations[prepared.place], &decision.limit, is_by_rho)?;
        Ok(Decision { least_noise, ..decision })
    };
    additions.iter().map(decided).collect()
}

impl<'a> Prepared<'a> {
    /// Reads a ledger from its text and its log, and enters the addition.
    fn new(ledger: &'a str, text: String, log: Log, addition: &Addition) -> Result<Self> {
        let before = match &addition.because {
            Some(why) if why.trim().is_empty() => return Err(Error::malformed("the reason", why, "words")),
            Some(_) => LedgerFile::unbound(&text, ledger, log.clone())?,
            None => LedgerFile::with_log(&text, ledger, log.clone())?,
        };
        let place = before.place_of(addition.population.as_deref()).map_err(Error::conflict)?;
        // A reason is about the population to which it is added.
        if addition.because.is_some() {
            before.check_bound(ledger, Some(place))?;
        }
        let (entry, name) = entry_text(ledger, &before, place, addition)?;
        let mut after = before.clone();
        // The text is read as the ledger will be: the file of the entry is found beside the ledger.
        let reader = TomlReader::new(ledger, &entry);
        let raw: RawEntries = reader.toml()?;
        let entered = raw.entries.iter().try_for_each(|raw| after.enter(&reader, raw).map(drop));
        entered.map_err(|error| without_place(error, &addition.release))?;
        let because = addition.because.clone();
        Ok(Prepared { ledger, text, log, before, after, place, entry, name, because })
    }

    /// The accounts of everything before and after; nothing is added so far.
    fn decision(&self, request: &Request) -> Result<Decision> {
        let limit = request.limit(self.after.promise.as_ref())?;
        let population = &self.after.populations[self.place];
        let account = population.ledger()?;
        if limit.basis == Basis::SumOfRho {
            account.check_filter()?;
        }
        let before = &self.before.populations[self.place];
        let last = self
            .log
            .lines
            .iter()
            .rev()
            .map(|(line, _)| line)
            .find(|line| line.withdraws.is_none() && line.population == population.name);
        let (promise, delta) = limit.texts();
        let other_promise = last.filter(|line| (&line.promise, &line.delta) != (&promise, &delta));
        let mut after = account.spent(&limit.delta, limit.digits)?;
        if self.because.is_none() {
            self.check_not_less(&after, &limit)?;
        }
        // The upper end is at least epsilon: a promise that it keeps is kept.
        let upper = limit.deciding(&after).upper_rational();
        let mut is_kept = match limit.basis {
            Basis::Composition => upper.is_some_and(|upper| upper <= *limit.epsilon),
            Basis::SumOfRho => account.adaptive_keeps(&limit.epsilon, &limit.delta, limit.digits)? == Certainty::Yes,
        };
        if !is_kept
            && !limit.is_by_rho(&after)
            && after.epsilon.lower_rational().is_some_and(|low| low <= *limit.epsilon)
        {
            // An end that is wider than the truth decides nothing: one point of the profile does.
            is_kept = account.keeps(&limit.epsilon, &limit.delta)? == Certainty::Yes;
            if is_kept {
                let promised = Enclosure::rational(&limit.epsilon, PROMISED_BITS);
                after.epsilon = after.epsilon.min(&promised);
            }
        }
        let before =
            if before.entries.is_empty() { None } else { Some(before.ledger()?.spent(&limit.delta, limit.digits)?) };
        Ok(Decision {
            ledger: self.after.name.clone(),
            population: population.name.clone(),
            name: self.name.clone(),
            limit,
            is_kept,
            before,
            after,
            conditions: population.conditions_of_entries(),
            other_promise: other_promise.map(|line| (line.promise.clone(), line.delta.clone())),
            least_noise: None,
            added: None,
        })
    }

    /// Refuses an account that is certainly below one of the log, whatever was promised then: epsilon at this delta or a larger one.
    fn check_not_less(&self, after: &Spent, limit: &Limit) -> Result<()> {
        let number = |text: &str| rational::parse(text).ok();
        for line in Log::binding_epsilon(&self.log.lines, &self.after.populations[self.place].name) {
            // The sum of rho implies an epsilon that the exact one is not above, so that each is compared with its own.
            let now = if line.is_composed { &after.epsilon } else { &after.zcdp_epsilon };
            let is_at_most = |delta: rug::Rational| *limit.delta <= delta;
            let then = number(&line.at_least).filter(|_| number(&line.delta).is_some_and(is_at_most));
            // The truth of the line is at least its lower end. The truth now at its delta is at most that at a smaller one, which is at most the upper end.
            if then.zip(now.upper_rational()).is_some_and(|(then, now)| now < then) {
                let why = format!(
                    "with {} everything has epsilon at most {} at delta = {}, and line {} of the log has at least {} without it at delta = {}: something that was \
                     entered accounts for less now. Restore it, or give the reason",
                    self.name,
                    now.upper_text(12),
                    limit.delta,
                    line.number,
                    line.at_least,
                    line.delta
                );
                return Err(Error::conflict(why));
            }
        }
        Ok(())
    }

    /// Writes the line of the log, and then the ledger; returns the number and the hash of the line, and its file.
    fn write(&self, decision: &Decision) -> Result<(u64, String, PathBuf)> {
        let limit = &decision.limit;
        let (promise, delta) = limit.texts();
        let line = LogLine {
            name: self.name.clone(),
            entry: self.entry.clone(),
            epsilon: limit.deciding(&decision.after).upper_text(12),
            is_composed: !limit.is_by_rho(&decision.after),
            promise,
            delta,
            adaptive: Some(limit.basis == Basis::SumOfRho),
            of_ledger: limit.is_of_ledger,
            at_least: limit.deciding(&decision.after).lower_text(12),
            partitions: self.after.partitions_of(self.place),
            because: self.because.clone(),
            ..self.before.next_line(self.place, &self.log)?
        };
        check_form(self.ledger, &self.text, &line)?;
        let (path, number) = (Path::new(self.ledger), line.number);
        let at = log_path(path);
        let hash = Log::append(&at, &line)?;
        let completed = Log::read(&at).and_then(|log| complete(path, &self.text, self.before.pending, &log));
        completed.map_err(|error| {
            Error::conflict(format!(
                "{error}; the addition counts all the same, by line {number} of {}",
                crate::error::shown(&at)
            ))
        })?;
        Ok((number, hash, at))
    }
}

/// Refuses a ledger at whose end no entry can stand.
fn check_form(ledger: &str, text: &str, line: &LogLine) -> Result<()> {
    let whole = format!("{text}\n{}", line.entry);
    let reader = TomlReader::new(ledger, &whole);
    reader.toml::<RawLedger>().map(drop).map_err(|_| {
        reader
            .refuse_file("no [[entry]] can stand at its end: write its entries as [[entry]] tables, and not as a list")
    })
}

/// Writes the ledger with the entries of the log that it lacks: the last one, and the number `pending` before it. A ledger that somebody else changed meanwhile is left
/// to them: the entries count by the log.
fn complete(path: &Path, text: &str, pending: usize, log: &Log) -> Result<()> {
    if read_text(path)? != text {
        return Ok(());
    }
    let mut text = text.to_string();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let additions: Vec<_> = log.additions().collect();
    let first = additions.len().saturating_sub(pending + 1);
    for (line, hash) in &additions[first..] {
        text += &format!("\n{}log = \"{hash}\"\n", line.entry);
    }
    write_whole(path, |out| out.write_all(text.as_bytes()).map_err(|why| file_error(path, why)))
}
