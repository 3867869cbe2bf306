//! An entry of a ledger: where it is described, and what one record spends in it.

use std::path::{Path, PathBuf};

use rug::Rational;
use toml::Spanned;

use super::form::RawEntry;
use crate::{
    account::{Account, Composition, ledger::Part},
    draws::EarlierBudgets,
    error::{Error, Result},
    io::{provenance::sha256_of_text, reading::read_text, toml_reader::TomlReader},
    numeric::{notation::exact_json, rational},
    release::{Changed, Neighbors, Release, bundled_text, place_beside},
    safetab::tabulate::CertifiedWays,
    spine::spine_files::{SavedSpine, read_files},
    topdown::{
        measure::MeasurementPlan,
        measurement_files::{MANIFEST, Manifest},
    },
};

/// The file of a release of `tabulate` that certifies it.
pub(super) const CERTIFICATE: &str = "certificate.json";

/// The kind of file that describes an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A release: bundled, or a TOML file.
    Release,
    /// The certificate of `tabulate`.
    SafeTab,
    /// The folder of `measure`.
    Measurements,
}

impl Kind {
    /// Its name in a ledger.
    pub fn key(self) -> &'static str {
        match self {
            Kind::Release => "release",
            Kind::SafeTab => "safetab",
            Kind::Measurements => "measurements",
        }
    }
}

/// The counts that one record changes in an entry, once.
#[derive(Clone, Debug)]
pub enum Spent {
    /// Those of the release.
    Release(Box<Release>),
    /// The counts that one record enters, in each of several ways.
    Ways {
        /// The relation of the budget.
        neighbors: Neighbors,
        /// The ways.
        ways: Vec<Composition>,
    },
    /// Only a zCDP budget is known.
    Budget {
        /// The relation of the budget.
        neighbors: Neighbors,
        /// The budget.
        rho: Rational,
    },
}

/// An entry of a ledger.
#[derive(Clone, Debug)]
pub struct LedgerEntry {
    /// Its name.
    pub name: String,
    /// The kind of its description.
    pub kind: Kind,
    /// The name of the release if it is bundled, or the path of the file that describes it.
    pub place: String,
    /// The SHA-256 of that description; `None` for a release in memory.
    pub sha256: Option<String>,
    /// The other files that decide what it spends: of measurements with an exact account the release that was drawn, and the files of the spine.
    pub beside: Vec<String>,
    /// The counts that one record changes in it, once.
    pub spent: Spent,
    /// How often it was published, each time with noise of its own.
    pub times: u64,
    /// The part of a partition that it is about; `None` if it is about all records.
    pub part: Option<Part>,
    /// The condition under which what it spends holds, about a record; `None` without one.
    pub condition: Option<String>,
    /// The hash of its line in the log; `None` for an entry that was not added by the odometer.
    pub log: Option<String>,
    /// Why it was never published, if a line of the log says so.
    pub withdrawn: Option<String>,
}

impl LedgerEntry {
    /// A mechanism that a file of this hash describes, once and about all records.
    fn new(kind: Kind, name: String, place: String, sha256: Option<String>, spent: Spent) -> LedgerEntry {
        LedgerEntry {
            name,
            kind,
            place,
            sha256,
            beside: Vec::new(),
            spent,
            times: 1,
            part: None,
            condition: None,
            log: None,
            withdrawn: None,
        }
    }

    /// A release, once, about all records, under its own name.
    pub fn of_release(release: Release, place: String) -> LedgerEntry {
        let (name, sha256) = (release.name.clone(), release.sha256.clone());
        LedgerEntry::new(Kind::Release, name, place, sha256, Spent::Release(Box::new(release)))
    }

    /// Its name, how often it was published if that is more than once, and its part if it has one.
    pub fn shown(&self) -> String {
        let times = if self.times == 1 { String::new() } else { format!(", {} times", self.times) };
        let part = self.part.as_ref().map_or(String::new(), |of| format!(" ({} {})", of.partition, of.part));
        format!("{}{times}{part}", self.name)
    }

    /// Its condition as a sentence; `None` without one.
    pub fn conditional(&self) -> Option<String> {
        self.condition.as_ref().map(|condition| format!("Of {}: {condition}.", self.name))
    }

    /// Its release, if a release describes it.
    pub fn release(&self) -> Option<&Release> {
        match &self.spent {
            Spent::Release(release) => Some(release),
            Spent::Ways { .. } | Spent::Budget { .. } => None,
        }
    }

    /// The neighbor relation of its own guarantee.
    pub fn neighbors(&self) -> Neighbors {
        match &self.spent {
            Spent::Release(release) => release.neighbors,
            Spent::Ways { neighbors, .. } | Spent::Budget { neighbors, .. } => *neighbors,
        }
    }

    /// Whether only its budget is known.
    pub fn is_budget_only(&self) -> bool {
        match &self.spent {
            Spent::Release(release) => release.budget_only,
            Spent::Ways { .. } => false,
            Spent::Budget { .. } => true,
        }
    }

    /// How often its counts are counted; `None` if only its budget is known.
    pub fn times_each_count(&self, neighbors: Neighbors) -> Option<u64> {
        match &self.spent {
            Spent::Release(release) => release.times_each_count(neighbors).ok().filter(|_| !release.budget_only),
            Spent::Ways { .. } => Some(neighbors.cells()),
            Spent::Budget { .. } => None,
        }
    }

    /// Whether a record moves rows of its queries into cells of any choice.
    pub fn has_free_rows(&self) -> bool {
        let queries = self.release().filter(|release| !release.budget_only);
        queries
            .is_some_and(|release| release.levels.iter().flat_map(|level| &level.queries).any(|query| query.free_rows))
    }

    /// Why it has no account under a relation, in a part or at all.
    pub(super) fn unfit(&self, neighbors: Neighbors) -> Option<String> {
        let (name, own) = (&self.name, self.neighbors());
        if neighbors == Neighbors::AddRemove && own == Neighbors::Bounded {
            return Some(format!(
                "{name} is accounted for a changed record, so it says nothing about one record more or less; use neighbors = \"bounded\" for the population"
            ));
        }
        let part = self.part.as_ref().filter(|_| neighbors == Neighbors::Bounded)?;
        let moves = format!(
            "under neighbors = \"bounded\" a changed record may leave one part of {:?} and enter another, so that both have a record more or less",
            part.partition
        );
        if own == Neighbors::Bounded {
            return Some(format!(
                "{name} protects a change of one record only, and {moves}; it has to be a release for add-remove"
            ));
        }
        let queries = self.release().into_iter().flat_map(|release| &release.levels).flat_map(|level| &level.queries);
        let unfit = queries
            .clone()
            .find(|query| matches!(query.changed, Changed::Never | Changed::AsGiven | Changed::Guaranteed))?;
        let why = match unfit.changed {
            Changed::Never => "has moves = 0",
            _ => "is a guarantee, which does not say which counts are left and which are entered",
        };
        Some(format!("the query {:?} of {name} {why}, and {moves}", unfit.name))
    }
}

/// Reads an entry of a ledger file, in a part if it has one; its name is that of its description, unless it has one of its own.
pub(super) fn read(reader: &TomlReader, raw: &Spanned<RawEntry>, part: Option<Part>) -> Result<LedgerEntry> {
    let (at, raw) = (raw.span().start, raw.get_ref());
    let described = described(reader, at, raw)?;
    let times = reader.whole_or(raw.times.as_ref(), 1, 1, "times")?;
    if let (Some(stated), found) = (&raw.sha256, described.sha256.as_deref())
        && found != Some(stated.get_ref().as_str())
    {
        let found = found.unwrap_or("unknown");
        let how = match bundled_text(&described.place) {
            None => "restore it",
            Some(_) => "use the version of the program that entered it, or enter a file with the text of then",
        };
        let why =
            format!("sha256: {} is not the file that was entered: its SHA-256 is {found}; {how}", described.place);
        return Err(reader.refuse(stated.span().start, why));
    }
    let name = raw.name.as_ref().map_or_else(|| described.name.clone(), |name| name.get_ref().clone());
    let log = raw.log.as_ref().map(|log| log.get_ref().clone());
    Ok(LedgerEntry { name, times, part, log, ..described })
}

fn described(reader: &TomlReader, at: usize, raw: &RawEntry) -> Result<LedgerEntry> {
    let refused = |field: &Spanned<String>, why: Error| reader.refuse(field.span().start, why.to_string());
    match (&raw.release, &raw.safetab, &raw.measurements, &raw.spine) {
        (Some(name), None, None, None) => release(reader, name).map_err(|why| refused(name, why)),
        (None, Some(name), None, None) => safetab(&beside(reader, name.get_ref())).map_err(|why| refused(name, why)),
        (release, None, Some(name), spine) => {
            let exact = match (release, spine) {
                (None, None) => None,
                (Some(release), Some(spine)) => {
                    let naming = Path::new(reader.file());
                    let found = Release::find_beside(release.get_ref(), naming);
                    let place = place_beside(release.get_ref(), naming);
                    Some((found.map_err(|why| refused(release, why))?, place, beside(reader, spine.get_ref())))
                }
                (Some(field), None) | (None, Some(field)) => {
                    let why =
                        "release and spine of measurements belong together: give both for an exact account, or neither";
                    return Err(reader.refuse(field.span().start, why));
                }
            };
            measurements(&beside(reader, name.get_ref()), exact).map_err(|why| refused(name, why))
        }
        _ => {
            let why = "an [[entry]] needs one of release = \"NAME|FILE\", safetab = \"certificate.json\" or measurements = \"FOLDER\"";
            Err(reader.refuse(at, why))
        }
    }
}

/// A path in a ledger: relative to the folder of the ledger.
fn beside(reader: &TomlReader, name: &str) -> PathBuf {
    Path::new(reader.file()).parent().unwrap_or(Path::new("")).join(name)
}

fn release(reader: &TomlReader, name: &Spanned<String>) -> Result<LedgerEntry> {
    let naming = Path::new(reader.file());
    let release = Release::find_beside(name.get_ref(), naming)?;
    Ok(LedgerEntry::of_release(release, place_beside(name.get_ref(), naming)))
}

/// The name of a folder, or of the folder of a file.
fn folder_name(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_else(|| path.display().to_string())
}

/// A file in a folder, or that file itself.
pub(super) fn within(path: &Path, file: &str) -> (PathBuf, String) {
    match path.is_dir() {
        true => (path.join(file), folder_name(path)),
        false => (path.to_path_buf(), path.parent().map(folder_name).unwrap_or_default()),
    }
}

/// A certificate of `tabulate`, by its path or its folder.
fn safetab(path: &Path) -> Result<LedgerEntry> {
    let (file, folder) = within(path, CERTIFICATE);
    let text = read_text(&file)?;
    let certified = CertifiedWays::parse(&text, &file)?;
    let neighbors = Neighbors::AddRemove;
    let name = if folder.is_empty() { certified.program.to_string() } else { folder };
    let spent = match (certified.ways.is_empty(), certified.is_pure) {
        (false, _) => Spent::Ways { neighbors, ways: certified.ways },
        (true, false) => Spent::Budget { neighbors, rho: certified.budget },
        (true, true) => pure(&name, neighbors, &certified.budget)?,
    };
    let (place, sha256) = (file.display().to_string(), Some(sha256_of_text(&text)));
    let entry = LedgerEntry::new(Kind::SafeTab, name, place, sha256, spent);
    Ok(LedgerEntry { condition: certified.condition, ..entry })
}

/// Any mechanism of a pure epsilon.
fn pure(name: &str, neighbors: Neighbors, epsilon: &Rational) -> Result<Spent> {
    let text = format!(
        "name = \"pure\"\ntitle = \"a guarantee\"\nsource = \"its certificate\"\nneighbors = \"{}\"\n[[level]]\nname = \"all\"\n[[level.query]]\nname = \"all\"\n\
         law = \"pure\"\nepsilon = \"{epsilon}\"\n",
        neighbors.name()
    );
    Release::parse(&text, name).map(|release| Spent::Release(Box::new(release)))
}

/// The fields of `measurements.json` about a draw.
struct Drawn {
    file: PathBuf,
    release: String,
    neighbors: Neighbors,
    /// Its rho as a number of JSON, which is rounded up if it has no end.
    rho: serde_json::Value,
    budget: Rational,
    pure_epsilon: Option<Rational>,
    /// The condition under which the budget holds, if it is that of this draw and earlier ones.
    of_draws: Option<String>,
}

impl Drawn {
    fn parse(file: &Path, text: &str) -> Result<Drawn> {
        let manifest: Manifest =
            serde_json::from_str(text).map_err(|why| wrong(file, (why.line(), why.column()), why.to_string()))?;
        if manifest.insecure_seed.is_some() {
            return Err(wrong(file, (0, 0), "insecure_seed: noise from a known seed protects nobody"));
        }
        let counted = manifest.earlier_draws.unwrap_or(0).saturating_add(1);
        if let Some(draw) = manifest.draw.filter(|draw| *draw > counted) {
            let why = format!(
                "draw: this is draw {draw}, and the draws before it spent budgets as well: enter the sum of all, by the log beside the folder, as a release with budget_only"
            );
            return Err(wrong(file, (0, 0), why));
        }
        let number = |key: &str| {
            let value = &manifest.privacy[key];
            let number = value.is_number().then(|| rational::parse(&value.to_string()).ok()).flatten();
            number.filter(|number| *number > 0)
        };
        let neighbors = manifest.privacy["neighbors"].as_str().and_then(|name| name.parse::<Neighbors>().ok());
        let (Some(neighbors), Some(budget)) = (neighbors, number("rho")) else {
            return Err(wrong(file, (0, 0), "privacy: expected neighbors and rho, as `measure` writes them"));
        };
        let mut drawn = Drawn {
            file: file.to_path_buf(),
            pure_epsilon: number("pure_epsilon"),
            rho: manifest.privacy["rho"].clone(),
            release: manifest.release.clone(),
            neighbors,
            budget,
            of_draws: None,
        };
        drawn.add_earlier(&manifest)?;
        Ok(drawn)
    }

    /// Adds the budgets of earlier draws of the same records, which somebody may have seen.
    fn add_earlier(&mut self, manifest: &Manifest) -> Result<()> {
        if manifest.earlier_draws.is_none_or(|draws| draws == 0) {
            return Ok(());
        }
        let unit = if self.pure_epsilon.is_some() { "pure_epsilon" } else { "rho" };
        let keys = serde_json::to_value(manifest).ok();
        let Some(mut earlier) = keys.and_then(|keys| EarlierBudgets::from_json(&keys, unit)) else {
            let why = "earlier_draws: expected the budgets of these draws beside it, as `measure` writes them";
            return Err(wrong(&self.file, (0, 0), why));
        };
        if let Some(why) = earlier.no_sum() {
            return Err(wrong(&self.file, (0, 0), format!("earlier_draws_of_another_unit: expected 0. {why}")));
        }
        // The sum of all draws, which is at least that of this draw.
        let own = self.pure_epsilon.as_mut().unwrap_or(&mut self.budget);
        if earlier.together < *own {
            return Err(wrong(&self.file, (0, 0), "all_draws: expected at least the budget of this draw"));
        }
        // A draw of `measure` has no parts.
        earlier.by_part = false;
        self.of_draws = earlier.condition();
        *own = earlier.together;
        Ok(())
    }

    /// The counts that a record enters on each path of the spine; an error if the release on this spine is not what was drawn.
    fn exactly(&self, release: &Release, spine: &Path) -> Result<Spent> {
        let other = || {
            let (name, spine, spent) = (&release.name, crate::error::shown(spine), rational::display(&self.budget));
            let drawn = &self.release;
            let why = format!(
                "release and spine: {name} on {spine} is not what was drawn, which is {drawn} and spends rho = {spent}"
            );
            wrong(&self.file, (0, 0), why)
        };
        if self.of_draws.is_some() {
            let why = "release and spine: of earlier draws of the same records only the budgets are known: leave both out, for the budget of all draws";
            return Err(wrong(&self.file, (0, 0), why));
        }
        if release.name != self.release || release.neighbors != self.neighbors {
            return Err(other());
        }
        let saved = SavedSpine::read(spine)?;
        let plan = MeasurementPlan::on_saved(&saved, release, self.pure_epsilon.as_ref())?;
        if exact_json(&Rational::from(plan.worst_path()?.rho())) != self.rho {
            return Err(other());
        }
        Ok(Spent::Ways { neighbors: self.neighbors, ways: plan.paths()? })
    }
}

fn wrong(file: &Path, (line, column): (usize, usize), why: impl Into<String>) -> Error {
    Error::DataFile { file: file.display().to_string(), line, column, why: why.into() }
}

/// A folder of `measure`, by its path or that of its `measurements.json`: its budget, or with the release and the spine its exact account.
fn measurements(path: &Path, exact: Option<(Release, String, PathBuf)>) -> Result<LedgerEntry> {
    let (file, folder) = within(path, MANIFEST);
    let text = read_text(&file)?;
    let drawn = Drawn::parse(&file, &text)?;
    let name = if folder.is_empty() { drawn.release.clone() } else { folder };
    let beside = exact.iter().flat_map(|(_, place, spine)| [place.clone()].into_iter().chain(read_files(spine)));
    let beside = beside.collect();
    let spent = match (exact, &drawn.pure_epsilon) {
        (Some((release, _, spine)), _) => drawn.exactly(&release, &spine)?,
        (None, Some(epsilon)) => pure(&name, drawn.neighbors, epsilon)?,
        (None, None) => Spent::Budget { neighbors: drawn.neighbors, rho: drawn.budget },
    };
    let (place, sha256) = (file.display().to_string(), Some(sha256_of_text(&text)));
    let entry = LedgerEntry::new(Kind::Measurements, name, place, sha256, spent);
    Ok(LedgerEntry { beside, condition: drawn.of_draws, ..entry })
}
