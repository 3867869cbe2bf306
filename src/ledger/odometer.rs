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
//! (Feldman & Zrnic 2021; Whitehouse, Ramdas, Rogers & Wu 2023), so with [`Basis::SumOfRho`] the promise holds for noise chosen in that way as well.

use std::{
    fs::{self, File},
    path::{Component, Path, PathBuf},
};

use super::{
    entry::{Kind, LedgerEntry},
    file::LedgerFile,
    form::{RawEntries, RawLedger},
    log::{Log, LogLine, log_path},
    population::Population,
};
use crate::{
    account::{Delta, Epsilon, ledger::Spent},
    error::{Error, Result},
    io::{
        files::{file_error, write_whole},
        provenance::{VERSION, now},
        reading::read_text,
        toml_reader::TomlReader,
    },
    numeric::{Enclosure, rational},
    release::bundled_text,
};

/// The account that decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The exact composition: the noise of all releases is fixed before any output is seen.
    Composition,
    /// The sum of rho: the noise of a release may follow from earlier outputs.
    SumOfRho,
}

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
}

/// The decision.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The name of the ledger.
    pub ledger: String,
    /// The population to which the release was to be added.
    pub population: String,
    /// The name of the entry.
    pub name: String,
    /// The account of everything without the entry; `None` if there is no other entry.
    pub before: Option<Spent>,
    /// The account of everything with it.
    pub after: Spent,
    /// The promise of the entry before it, if that was another one: epsilon and delta as they were logged.
    pub other_promise: Option<(String, String)>,
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
pub fn add(ledger: &str, addition: &Addition, limit: &Limit) -> Result<Decision> {
    if bundled_text(ledger).is_some() {
        let why = format!("{ledger} is bundled, and nothing is added to it: start a ledger of your own");
        return Err(Error::conflict(why));
    }
    let _lock = locked(Path::new(ledger))?;
    let prepared = Prepared::new(ledger, addition)?;
    let decision = prepared.decision(limit)?;
    // The upper end is at least epsilon: a promise that it keeps is kept.
    let upper = limit.deciding(&decision.after).upper_rational();
    match upper.is_some_and(|upper| upper <= *limit.epsilon) {
        true => Ok(Decision { added: Some(prepared.write(&decision, limit)?), ..decision }),
        false => Ok(decision),
    }
}

impl Limit {
    /// The enclosure that decides.
    pub fn deciding<'a>(&self, spent: &'a Spent) -> &'a Enclosure {
        match self.basis {
            Basis::Composition => &spent.epsilon,
            Basis::SumOfRho => &spent.zcdp_epsilon,
        }
    }

    /// Whether that follows from the sum of rho.
    pub fn is_by_rho(&self, spent: &Spent) -> bool {
        self.basis == Basis::SumOfRho || !spent.is_composed
    }

    /// The promise and its delta as the log has them.
    fn texts(&self) -> (String, String) {
        (rational::display(&self.epsilon), rational::display(&self.delta))
    }
}

impl<'a> Prepared<'a> {
    /// Reads the ledger, which is locked, and enters the addition.
    fn new(ledger: &'a str, addition: &Addition) -> Result<Self> {
        let path = Path::new(ledger);
        let (text, log) = (read_text(path)?, Log::read(&log_path(path))?);
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
    fn decision(&self, limit: &Limit) -> Result<Decision> {
        let population = &self.after.populations[self.place];
        if limit.basis == Basis::SumOfRho && population.ledger()?.has_infinite_loss() {
            let why = "a release has outputs that only one of two neighbors can have: the sum of rho is proven for noise chosen by earlier results only without such";
            return Err(Error::unsuitable(why));
        }
        let before = &self.before.populations[self.place];
        let last = self.log.lines.iter().rev().map(|(line, _)| line).find(|line| line.population == population.name);
        let (promise, delta) = limit.texts();
        let other_promise = last.filter(|line| (&line.promise, &line.delta) != (&promise, &delta));
        let spent = |population: &Population| population.ledger()?.spent(&limit.delta, limit.digits);
        let after = spent(population)?;
        if self.because.is_none() {
            self.check_not_less(&after, limit)?;
        }
        Ok(Decision {
            ledger: self.after.name.clone(),
            population: population.name.clone(),
            name: self.name.clone(),
            before: if before.entries.is_empty() { None } else { Some(spent(before)?) },
            after,
            other_promise: other_promise.map(|line| (line.promise.clone(), line.delta.clone())),
            added: None,
        })
    }

    /// Refuses an account that is certainly below one of the log, at the same promise and delta.
    fn check_not_less(&self, after: &Spent, limit: &Limit) -> Result<()> {
        let upper = limit.deciding(after).upper_rational();
        let (promise, delta) = limit.texts();
        for line in Log::binding(&self.log.lines, &self.after.populations[self.place].name) {
            let is_comparable =
                (&line.promise, &line.delta) == (&promise, &delta) && line.is_composed != limit.is_by_rho(after);
            let at_least = rational::parse(&line.at_least).ok().filter(|_| is_comparable);
            // The truth of the line is at least its lower end, and the truth now at most the upper end.
            if at_least.zip(upper.as_ref()).is_some_and(|(then, now)| *now < then) {
                let why = format!(
                    "with {} everything has epsilon at most {}, and line {} of the log has at least {} without it, for the same promise: something that was \
                     entered accounts for less now. Restore it, or give the reason",
                    self.name,
                    limit.deciding(after).upper_text(12),
                    line.number,
                    line.at_least
                );
                return Err(Error::conflict(why));
            }
        }
        Ok(())
    }

    /// Writes the line of the log, and then the ledger; returns the number and the hash of the line, and its file.
    fn write(&self, decision: &Decision, limit: &Limit) -> Result<(u64, String, PathBuf)> {
        let (promise, delta) = limit.texts();
        let line = LogLine {
            number: self.log.lines.len() as u64 + 1,
            date: now(),
            version: VERSION.to_string(),
            population: decision.population.clone(),
            name: self.name.clone(),
            entry: self.entry.clone(),
            epsilon: limit.deciding(&decision.after).upper_text(12),
            is_composed: !limit.is_by_rho(&decision.after),
            promise,
            delta,
            at_least: limit.deciding(&decision.after).lower_text(12),
            neighbors: self.before.populations[self.place].neighbors.name().to_string(),
            by_hand: self.before.populations[self.place]
                .by_hand()?
                .into_iter()
                .map(|(name, of)| (name, of.hash))
                .collect(),
            because: self.because.clone(),
            previous: self.log.head().to_string(),
        };
        check_form(self.ledger, &self.text, &line)?;
        let (path, number) = (Path::new(self.ledger), line.number);
        let at = log_path(path);
        let hash = Log::append(&at, &line)?;
        let completed = Log::read(&at).and_then(|log| complete(path, &self.text, self.before.pending, &log));
        completed.map_err(|error| {
            Error::conflict(format!("{error}; the addition counts all the same, by line {number} of {}", at.display()))
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
    let first = log.lines.len().saturating_sub(pending + 1);
    for (line, hash) in &log.lines[first..] {
        text += &format!("\n{}log = \"{hash}\"\n", line.entry);
    }
    write_whole(path, |out| out.write_all(text.as_bytes()).map_err(|why| file_error(path, why)))
}

/// The ledger, locked until the answer is dropped. It is replaced as a whole, so the lock has to be that of the file that has its name.
fn locked(path: &Path) -> Result<File> {
    let wrong = |why: std::io::Error| file_error(path, why);
    loop {
        let file = crate::io::reading::open(path)?;
        let metadata = file.metadata().map_err(wrong)?;
        if !metadata.is_file() {
            return Err(file_error(path, "is a device or a pipe: a ledger to which releases are added is a file"));
        }
        if names(&metadata) > 1 {
            let why = "has several names (hard links), each of which would have a log of its own: keep one, or use symbolic links";
            return Err(file_error(path, why));
        }
        file.lock().map_err(wrong)?;
        if is_same(&file, path).map_err(wrong)? {
            return Ok(file);
        }
    }
}

/// The number of hard links of a file.
#[cfg(unix)]
fn names(metadata: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(metadata)
}

#[cfg(not(unix))]
fn names(_: &fs::Metadata) -> u64 {
    1
}

#[cfg(unix)]
fn is_same(file: &File, path: &Path) -> std::io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let id = |of: fs::Metadata| (of.dev(), of.ino());
    Ok(id(file.metadata()?) == id(fs::metadata(path)?))
}

/// Elsewhere a file that is open is not replaced.
#[cfg(not(unix))]
fn is_same(_: &File, _: &Path) -> std::io::Result<bool> {
    Ok(true)
}

/// An error about the new entry, which stands in no file yet.
fn without_place(error: Error, release: &str) -> Error {
    match error {
        Error::DataFile { why, .. } => Error::conflict(format!("{release}: {why}")),
        other => other,
    }
}

/// The entry as it will stand in the ledger, and its name.
fn entry_text(ledger: &str, file: &LedgerFile, place: usize, addition: &Addition) -> Result<(String, String)> {
    let (kind, source) = kind_of(&addition.release);
    let source = match bundled_text(&source) {
        Some(_) => source,
        None => relative(kind, Path::new(&source), Path::new(ledger))?,
    };
    let quoted = |text: &str| toml::Value::String(text.to_string()).to_string();
    let population = &file.populations[place];
    let mut text = format!("[[entry]]\npopulation = {}\n", quoted(&population.name));
    // The description is read once more when the entry is entered; here for its name and its hash.
    let described = format!("{text}{} = {}\n", kind.key(), quoted(&source));
    let reader = TomlReader::new(ledger, &described);
    let raw: RawEntries = reader.toml()?;
    let Some(raw) = raw.entries.first() else { return Err(Error::EmptyComposition) };
    let entry: LedgerEntry =
        super::entry::read(&reader, raw, None).map_err(|error| without_place(error, &addition.release))?;
    let own = addition
        .name
        .clone()
        .unwrap_or_else(|| free_name(&entry.name, population.entries.iter().map(|other| other.name.as_str())));
    text += &format!("name = {}\n{} = {}\n", quoted(&own), kind.key(), quoted(&source));
    // The text of a bundled release may change with the program: what counts is its account.
    match (bundled_text(&source), &entry.sha256) {
        (Some(_), _) => {
            let account = population.account_of_one(&entry).map_err(|error| without_place(error, &addition.release))?;
            text += &format!("account = {}\n", quoted(&account.hash));
        }
        (None, Some(sha256)) => text += &format!("sha256 = {}\n", quoted(sha256)),
        (None, None) => {}
    }
    if addition.times != 1 {
        text += &format!("times = {}\n", addition.times);
    }
    if let Some((partition, part)) = &addition.part {
        text += &format!("partition = {}\npart = {}\n", quoted(partition), quoted(part));
    }
    Ok((text, own))
}

/// A name that no other entry has: the name itself, or with a number.
fn free_name<'a>(name: &str, others: impl Iterator<Item = &'a str> + Clone) -> String {
    let is_free = |name: &str| !others.clone().any(|other| other == name);
    if is_free(name) {
        return name.to_string();
    }
    (2_u64..).map(|number| format!("{name} ({number})")).find(|name| is_free(name)).unwrap_or_default()
}

/// The kind of description at a path, and its path.
fn kind_of(release: &str) -> (Kind, String) {
    let path = Path::new(release);
    let holds = |file: &str| path.is_dir() && path.join(file).is_file();
    let is_json = path.extension().is_some_and(|end| end == "json");
    let is_named = |name: &str| path.file_name().is_some_and(|own| own == name);
    let kind = match () {
        _ if bundled_text(release).is_some() => Kind::Release,
        _ if is_named("measurements.json") || holds("measurements.json") => Kind::Measurements,
        _ if is_json || holds("certificate.json") => Kind::SafeTab,
        _ => Kind::Release,
    };
    (kind, release.to_string())
}

/// A path as seen from the folder of the ledger.
fn relative(kind: Kind, path: &Path, ledger: &Path) -> Result<String> {
    // A name that is no file is reported as it was given.
    let Ok(real) = fs::canonicalize(path) else { return Ok(path.display().to_string()) };
    let folder = ledger.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = fs::canonicalize(folder).map_err(|why| file_error(folder, why))?;
    let folder: Vec<Component> = folder.components().collect();
    let own: Vec<Component> = real.components().collect();
    let shared = folder.iter().zip(&own).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n(Component::ParentDir, folder.len() - shared);
    let relative: PathBuf = up.chain(own[shared..].iter().copied()).collect();
    let shown = relative.to_str().ok_or_else(|| file_error(path, "is not a name in UTF-8, as a ledger holds them"))?;
    // A plain word could be a bundled release.
    let is_path = kind != Kind::Release || shown.contains(['/', '\\']) || shown.ends_with(".toml");
    Ok(if is_path { shown.to_string() } else { format!("./{shown}") })
}
