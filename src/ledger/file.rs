//! A ledger file, with the entries that its log has beside it.

use std::path::Path;

use toml::Spanned;

use super::{
    entry::{self, LedgerEntry},
    form::{RawEntries, RawEntry, RawLedger, RawPartition, RawPopulation},
    log::{Log, LogLine, log_path},
    population::Population,
    promise::{LedgerPromise, changed_basis, changed_numbers},
};
use crate::{
    account::ledger::Part,
    error::{Error, Result, unknown},
    io::{
        provenance::{VERSION, now},
        toml_reader::TomlReader,
    },
    release::{LEDGERS, Neighbors, Release, bundled_text, find_text, place_beside},
};

/// A ledger file, read.
#[derive(Clone, Debug)]
pub struct LedgerFile {
    /// Its name.
    pub name: String,
    /// Its description, in a line.
    pub title: String,
    /// The releases that compose.
    pub rule: String,
    /// What everything in each population keeps; `None` if each addition says it.
    pub promise: Option<LedgerPromise>,
    /// The populations, each with its own account.
    pub populations: Vec<Population>,
    /// The partitions.
    pub partitions: Vec<Partition>,
    /// The lines of its log, each with its hash.
    pub log: Vec<(LogLine, String)>,
    /// The number of the last lines of the log that the ledger lacks: their entries count all the same.
    pub pending: usize,
}

/// A rule by which each record lies in exactly one part.
#[derive(Clone, Debug)]
pub struct Partition {
    /// Its name.
    pub name: String,
    /// The rule, in words.
    pub rule: String,
    /// The names of all parts; `None` if entries may name any.
    pub parts: Option<Vec<String>>,
}

impl LedgerFile {
    /// The bundled ledger of this name, or the one in the file of this path, with what its log adds.
    pub fn find(name_or_path: &str) -> Result<LedgerFile> {
        // The log is written before the ledger: read in this order, it has every entry that the ledger has.
        let text = LedgerFile::text(name_or_path)?;
        LedgerFile::with_log(&text, name_or_path, LedgerFile::log(name_or_path)?)
    }

    /// The log of a ledger; a bundled one has none.
    pub(super) fn log(name_or_path: &str) -> Result<Log> {
        match bundled_text(name_or_path) {
            Some(_) => Ok(Log::default()),
            None => Log::read(&log_path(Path::new(name_or_path))),
        }
    }

    /// The text of the bundled ledger of this name, with its comments, or of the file of this path.
    pub fn text(name_or_path: &str) -> Result<String> {
        find_text(name_or_path, LEDGERS, "ledger")
    }

    /// Reads a ledger without a log from the text of a TOML file; `file` names it in messages.
    pub fn parse(text: &str, file: &str) -> Result<LedgerFile> {
        LedgerFile::with_log(text, file, Log::default())
    }

    /// Reads a ledger and its log.
    pub(super) fn with_log(text: &str, file: &str, log: Log) -> Result<LedgerFile> {
        let ledger = LedgerFile::unbound(text, file, log)?;
        ledger.check_bound(file, None)?;
        Ok(ledger)
    }

    /// The same, where what the lines of the log bind may have changed.
    pub(super) fn unbound(text: &str, file: &str, log: Log) -> Result<LedgerFile> {
        let reader = TomlReader::new(file, text);
        let raw: RawLedger = reader.toml()?;
        for text in [&raw.source, &raw.rule] {
            if text.get_ref().trim().is_empty() {
                return Err(reader.refuse(text.span().start, "must not be empty"));
            }
        }
        if raw.populations.is_empty() {
            return Err(reader.refuse_file("a ledger needs at least one [[population]]"));
        }
        reader.no_duplicates(raw.populations.iter().map(|population| &population.get_ref().name), "population")?;
        reader.no_duplicates(raw.partitions.iter().map(|partition| &partition.name), "partition")?;
        let promise = raw.promise.as_ref().map(|raw| LedgerPromise::read(&reader, raw)).transpose()?;
        let adaptive = promise.clone().filter(|promise| promise.is_adaptive);
        let of = |raw| Ok(Population { adaptive: adaptive.clone(), ..population(&reader, raw)? });
        let populations = raw.populations.iter().map(of).collect::<Result<_>>()?;
        let partitions = raw.partitions.iter().map(|raw| partition(&reader, raw)).collect::<Result<_>>()?;
        let (name, title, rule) = (raw.name, raw.title, raw.rule.into_inner());
        let mut ledger =
            LedgerFile { name, title, rule, promise, populations, partitions, log: Vec::new(), pending: 0 };
        for entry in &raw.entries {
            ledger.enter(&reader, entry)?;
        }
        ledger.check_log(&reader, &raw.entries, text, log)?;
        match changed_basis(ledger.promise.as_ref(), &ledger.log) {
            Some(why) => Err(reader.refuse_file(why)),
            None => Ok(ledger),
        }
    }

    /// The index of a population; of the only one without a name.
    pub(super) fn place_of(&self, name: Option<&str>) -> std::result::Result<usize, String> {
        let names = || self.populations.iter().map(|population| population.name.as_str());
        match name {
            None if self.populations.len() == 1 => Ok(0),
            None => Err(format!(
                "the ledger has several populations: name one of {}",
                names().collect::<Vec<_>>().join(", ")
            )),
            Some(name) => (names().position(|known| known == name))
                .ok_or_else(|| unknown("population", name, "the ledger has", names())),
        }
    }

    /// Enters an [[entry]] into its population; returns the index of that.
    pub(super) fn enter(&mut self, reader: &TomlReader, raw: &Spanned<RawEntry>) -> Result<usize> {
        let (at, fields) = (raw.span().start, raw.get_ref());
        let place_of_name = fields.population.as_ref().map_or(at, |name| name.span().start);
        let place = self.place_of(fields.population.as_ref().map(|name| name.get_ref().as_str()));
        let place = place.map_err(|why| reader.refuse(place_of_name, why))?;
        let part = self.part(reader, fields)?;
        let entry = entry::read(reader, raw, part)?;
        let population = &self.populations[place];
        if population.names().any(|other| other == entry.name) {
            let why = format!(
                "the entry {:?} occurs twice: say times = 2 if it was published twice, or give it another name",
                entry.name
            );
            return Err(reader.refuse(fields.name.as_ref().map_or(at, |name| name.span().start), why));
        }
        if let Some(why) = entry.unfit(population.neighbors) {
            return Err(reader.refuse(at, why));
        }
        let refused = |why: Error| reader.refuse(at, why.to_string());
        population.entry(&entry).map_err(refused)?;
        if let Some(stated) = &fields.account
            && !population.account_of_one(&entry).map_err(refused)?.is(stated.get_ref())
        {
            let why = format!(
                "account: {} is not accounted for as when it was entered: its noise has changed since, or that of its relation. Use the version of the program \
                 that entered it, or enter a file with the release of then",
                entry.place
            );
            return Err(reader.refuse(stated.span().start, why));
        }
        self.populations[place].entries.push(entry);
        Ok(place)
    }

    /// The part of an entry.
    fn part(&self, reader: &TomlReader, raw: &RawEntry) -> Result<Option<Part>> {
        let (partition, part) = match (&raw.partition, &raw.part) {
            (None, None) => return Ok(None),
            (Some(partition), Some(part)) => (partition, part),
            (Some(field), None) => {
                return Err(reader.refuse(
                    field.span().start,
                    "partition needs the part that the entry is about, as part = \"2026-05-01\"",
                ));
            }
            (None, Some(field)) => return Err(reader.refuse(field.span().start, "part needs its partition")),
        };
        let refuse = |field: &Spanned<String>, why: String| Err(reader.refuse(field.span().start, why));
        let names = || self.partitions.iter().map(|partition| partition.name.as_str());
        let Some(known) = self.partitions.iter().find(|known| known.name == *partition.get_ref()) else {
            return refuse(
                partition,
                unknown(
                    "partition",
                    partition.get_ref(),
                    "a [[partition]] states its rule, and the ledger has",
                    names(),
                ),
            );
        };
        let unlisted = known.parts.as_ref().filter(|parts| !parts.contains(part.get_ref()));
        if let Some(parts) = unlisted {
            let has = format!("the partition {} has", known.name);
            return refuse(part, unknown("part", part.get_ref(), &has, parts.iter().map(String::as_str)));
        }
        if part.get_ref().trim().is_empty() {
            return refuse(part, "must not be empty".to_string());
        }
        Ok(Some(Part { partition: known.name.clone(), part: part.get_ref().clone() }))
    }

    /// Compares the entries with the log, and enters those that only the log has.
    fn check_log(&mut self, reader: &TomlReader, raw: &[Spanned<RawEntry>], text: &str, log: Log) -> Result<()> {
        // Digits of plain numbers are only in the text: entries are compared as values.
        let values = entries_of(text, reader)?;
        let additions: Vec<&(LogLine, String)> = log.additions().collect();
        let mut next = 0;
        for (raw, value) in raw.iter().zip(values) {
            let Some(hash) = &raw.get_ref().log else { continue };
            let refuse = |why: String| reader.refuse(hash.span().start, why);
            let Some(place) = log.place(hash.get_ref()) else {
                let at = if log.file.is_empty() { format!("{}.log", reader.file()) } else { log.file.clone() };
                return Err(refuse(format!(
                    "log: {at} has no such line, and a log is never removed nor shortened: restore it"
                )));
            };
            if place != next {
                let why = format!(
                    "log: this entry is in line {} of the log, and line {} is expected here: an entry that was added was removed or moved",
                    additions[place].0.number, additions[next].0.number
                );
                return Err(refuse(why));
            }
            next += 1;
            let (line, _) = additions[place];
            let own = TomlReader::new(&log.file, &line.entry);
            if entries_of(&line.entry, &own)?.as_slice() != [value] {
                return Err(refuse(format!(
                    "log: the entry is not the one that was added, by line {} of {}: restore it",
                    line.number, log.file
                )));
            }
        }
        self.pending = additions.len() - next;
        for (line, hash) in &additions[next..] {
            // Its paths are relative to the folder of the ledger, by the name under which that is read.
            let file = format!("{}.log, line {}: entry", reader.file(), line.number);
            let own = TomlReader::new(&file, &line.entry);
            let added: RawEntries = own.toml()?;
            for raw in &added.entries {
                let place = self.enter(&own, raw)?;
                if let Some(entry) = self.populations[place].entries.last_mut() {
                    entry.log = Some(hash.clone());
                }
            }
        }
        for (line, _) in &log.lines {
            self.withdraw(line, &log.lines).map_err(|why| reader.refuse_file(why))?;
        }
        self.log = log.lines;
        Ok(())
    }

    /// Refuses a relation, or entries by hand, that are not those of the lines of the log.
    pub(super) fn check_bound(&self, file: &str, except: Option<usize>) -> Result<()> {
        let refused = |why: String| Error::DataFile { file: file.to_string(), line: 0, column: 0, why };
        // The promise is that of all populations: a reason, whichever is added to, may change it.
        if let Some(why) = changed_numbers(self.promise.as_ref(), &self.log).filter(|_| except.is_none()) {
            return Err(refused(why));
        }
        let all = self.populations.iter().enumerate().filter(|(place, _)| Some(*place) != except);
        for (_, population) in all {
            let lines = Log::binding(&self.log, &population.name);
            let by_hand = if lines.is_empty() { Vec::new() } else { population.by_hand()? };
            for line in lines {
                let (name, number) = (&population.name, line.number);
                let is_there = |(entry, hash): &&(String, String)| {
                    by_hand.iter().any(|(other, accounted)| other == entry && accounted.is(hash))
                };
                let own = population.neighbors.name();
                let why = if !line.neighbors.is_empty() && line.neighbors != own {
                    format!(
                        "the population {name:?} has {own} neighbors, and had {} in line {number} of the log",
                        line.neighbors
                    )
                } else if let Some((partition, rule)) = line.partitions.iter().find(|own| !self.has_partition(own)) {
                    format!(
                        "the partition {partition:?} had the rule {rule:?} in line {number} of the log, and has another one or is gone"
                    )
                } else if let Some((entry, _)) = line.by_hand.iter().find(|entry| !is_there(entry)) {
                    format!(
                        "the entry {entry:?} of the population {name:?}, which no line of the log added, was there in line {number}, and is gone or accounts for something else"
                    )
                } else {
                    continue;
                };
                let why = format!(
                    "{why}: what was spent is never less; restore it, or give the reason with the next addition"
                );
                return Err(refused(why));
            }
        }
        Ok(())
    }
}

impl LedgerFile {
    fn has_partition(&self, (name, rule): &(String, String)) -> bool {
        self.partitions.iter().any(|own| own.name == *name && own.rule == *rule)
    }

    /// The next line of a log, about a population: its place in the log, and what the population has now.
    pub(super) fn next_line(&self, place: usize, log: &Log) -> Result<LogLine> {
        let population = &self.populations[place];
        Ok(LogLine {
            number: log.lines.len() as u64 + 1,
            date: now(),
            version: VERSION.to_string(),
            population: population.name.clone(),
            neighbors: population.neighbors.name().to_string(),
            by_hand: population.by_hand()?.into_iter().map(|(name, of)| (name, of.hash)).collect(),
            partitions: self.partitions_of(place),
            previous: log.head().to_string(),
            ..LogLine::default()
        })
    }

    /// The partitions of which entries of a population are about one part, each with its rule.
    pub(super) fn partitions_of(&self, place: usize) -> Vec<(String, String)> {
        let parts = || self.populations[place].entries.iter().filter_map(|entry| entry.part.as_ref());
        let used = self.partitions.iter().filter(|own| parts().any(|part| part.partition == own.name));
        used.map(|own| (own.name.clone(), own.rule.clone())).collect()
    }
}

/// The entries of a text as values, without their `log`.
fn entries_of(text: &str, reader: &TomlReader) -> Result<Vec<toml::Table>> {
    #[derive(serde::Deserialize)]
    struct All {
        #[serde(default)]
        entry: Vec<toml::Table>,
    }
    let mut all: All = reader_of(text, reader)?;
    all.entry.iter_mut().for_each(|entry| drop(entry.remove("log")));
    Ok(all.entry)
}

fn reader_of<T: serde::de::DeserializeOwned>(text: &str, reader: &TomlReader) -> Result<T> {
    TomlReader::new(reader.file(), text).toml()
}

fn partition(reader: &TomlReader, raw: &RawPartition) -> Result<Partition> {
    if raw.rule.get_ref().trim().is_empty() {
        return Err(
            reader.refuse(raw.rule.span().start, "must not be empty: it says how a record alone decides its part")
        );
    }
    if let Some(parts) = &raw.parts {
        reader.no_duplicates(parts.iter(), "part")?;
    }
    let parts = raw.parts.as_ref().map(|parts| parts.iter().map(|part| part.get_ref().clone()).collect());
    Ok(Partition { name: raw.name.get_ref().clone(), rule: raw.rule.get_ref().clone(), parts })
}

fn population(reader: &TomlReader, raw: &Spanned<RawPopulation>) -> Result<Population> {
    let at = raw.span().start;
    let raw = raw.get_ref();
    let neighbors = Neighbors::read(reader, &raw.neighbors)?;
    let releases = raw.releases.as_deref().unwrap_or_default();
    if raw.releases.is_some() && releases.is_empty() {
        let why = format!(
            "the population {:?} needs at least one release: leave releases out if nothing was published, or give each as an [[entry]]",
            raw.name.get_ref()
        );
        return Err(reader.refuse(at, why));
    }
    reader.no_duplicates(releases.iter(), "release")?;
    let mut entries = Vec::new();
    for name in releases {
        let refuse = |why: String| reader.refuse(name.span().start, why);
        let naming = Path::new(reader.file());
        let release = Release::find_beside(name.get_ref(), naming).map_err(|error| refuse(error.to_string()))?;
        let entry = LedgerEntry::of_release(release, place_beside(name.get_ref(), naming));
        if let Some(why) = entry.unfit(neighbors) {
            return Err(refuse(why));
        }
        entries.push(entry);
    }
    Ok(Population::new(raw.name.get_ref().clone(), neighbors, entries))
}

#[cfg(test)]
mod tests {
    use rug::Rational;

    use super::*;

    #[test]
    fn the_bundled_ledger_spends_what_its_releases_spend() {
        let file = LedgerFile::find("us-2020-persons").unwrap();
        assert_eq!(file.populations.len(), 2);
        for population in &file.populations {
            for (entry, of) in population.ledger().unwrap().entries().iter().zip(&population.entries) {
                let release = of.release().unwrap();
                assert_eq!(entry.paths.is_empty(), release.budget_only);
                // Two sides of a changed record.
                assert!(
                    entry.paths.iter().all(|path| entry.rho == Rational::from(&**path.rho() * 2_u32)),
                    "{}",
                    entry.name
                );
                let doubled = release.neighbors == Neighbors::AddRemove;
                assert_eq!(entry.rho, release.rho.clone() * if doubled { 2_u32 } else { 1 });
            }
        }
    }

    #[test]
    fn the_template_is_a_ledger_without_entries() {
        let file = LedgerFile::parse(super::super::template(), "template").unwrap();
        assert!(
            file.populations.iter().all(|population| population.entries.is_empty() && population.ledger().is_err())
        );
        // What it explains in comments is read as well.
        let shown: String = super::super::template()
            .lines()
            .map(|line| line.strip_prefix("#! ").unwrap_or(line).to_string() + "\n")
            .collect();
        let file = LedgerFile::parse(&shown, "template").unwrap();
        assert_eq!(file.populations[0].entries.len(), 3);
        assert!(file.populations[0].ledger().is_ok() && file.partitions.len() == 1);
    }

    const GOOD: &str = "name='a'\ntitle='a'\nsource='a'\nrule='r'\n[[population]]\nname='p'\nneighbors='bounded'\nreleases=['dhc-persons-us']\n";
    const MORE: &str = "[[partition]]\nname='day'\nrule='the day'\nparts=['one', 'two']\n[[entry]]\npopulation='p'\nname='e'\nrelease='su-su-wang-2025'\n\
                        times=2\npartition='day'\npart='one'\n";

    #[test]
    fn a_file_that_breaks_a_rule_is_refused_with_its_line() {
        let good = [GOOD, MORE].concat();
        assert!(LedgerFile::parse(GOOD, "f").is_ok() && LedgerFile::parse(&good, "f").is_ok());
        for (from, to, line) in [
            ("rule='r'", "rule=''", 4),
            ("rule='r'", "rules='r'", 4),
            ("'bounded'", "'none'", 7),
            ("'bounded'", "'add-remove'", 8),
            ("['dhc-persons-us']", "[]", 5),
            ("['dhc-persons-us']", "['dhc-persons-us', 'dhc-persons-us']", 8),
            ("'dhc-persons-us'", "'nosuch'", 8),
            ("rule='the day'", "rule=' '", 11),
            ("parts=['one', 'two']", "parts=['one', 'one']", 12),
            ("parts=['one', 'two']", "parts=['three']", 19),
            ("population='p'", "population='q'", 14),
            ("name='e'", "name='dhc-persons-us'", 15),
            ("'su-su-wang-2025'", "'su-su-wang-2024'", 16),
            ("release='su-su-wang-2025'", "release='dhc-units-us'", 13),
            ("release='su-su-wang-2025'", "relese='su-su-wang-2025'", 16),
            ("release='su-su-wang-2025'", "", 13),
            ("release='su-su-wang-2025'", "release='su-su-wang-2025'\nsafetab='x'", 13),
            ("release='su-su-wang-2025'", "release='su-su-wang-2025'\nspine='x'", 13),
            ("release='su-su-wang-2025'", "release='su-su-wang-2025'\nmeasurements='x'", 16),
            ("release='su-su-wang-2025'", "safetab='nosuch'", 16),
            ("release='su-su-wang-2025'", "measurements='nosuch'", 16),
            ("times=2", "times=0", 17),
            ("times=2", "times=1.5", 17),
            ("times=2", "times=9999999999999999999", 13),
            ("times=2", "sha256='00'", 17),
            ("times=2", "log='00'", 17),
            ("partition='day'", "partition='dya'", 18),
            ("partition='day'", "", 19),
            ("part='one'", "", 18),
        ] {
            match LedgerFile::parse(&good.replacen(from, to, 1), "f") {
                Err(Error::DataFile { line: at, why, .. }) => assert_eq!(at, line, "{to}: {why}"),
                other => panic!("{to}: {other:?}"),
            }
        }
    }
}
