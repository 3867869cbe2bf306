//! The request for estimates from a folder of noisy measurement files.

use std::{collections::BTreeMap, path::PathBuf};

use crate::{
    error::Error,
    io::{
        csv_reader::Reading,
        provenance::{Input, Provenance, sha256, sha256_of_text},
    },
    release::{Release, input::ReleaseInput},
    topdown::{
        jobs::{About, InputError},
        nmf::{
            answers::Areas,
            codes::{
                book::{Code, CodeBooks},
                confidence::Confidence,
                places::Places,
                sheet::{Kind, Layout},
            },
            compared::Comparisons,
            folder::NmfFolder,
            identity::RequestIdentity,
            survey::{AreaSource, Settings, Wanted, tabulated_digits},
            tables::Form,
            totals::GivenTotals,
            truth::Truth,
            units::Constraints,
        },
        requested,
    },
};

/// An input of an [`Estimation`] that an error can be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EstimationInput {
    /// The folder of noisy measurement files.
    Folder,
    /// The release.
    Release,
    /// The form of the file of estimates.
    Form,
    /// Given exact totals of states.
    StateTotals,
    /// The names of queries.
    Queries,
    /// The file of recodes.
    Recodes,
    /// The names of census variables.
    Variables,
    /// The file of names of places.
    Names,
    /// The confidence levels.
    Confidence,
    /// The names of levels.
    Levels,
    /// The file of areas.
    Areas,
    /// Exact totals of areas.
    AreaTotals,
    /// The levels of tabulation units.
    Tabulation,
    /// The file of covariances.
    Covariance,
    /// Differences.
    Difference,
    /// Shares.
    Share,
    /// Ranks.
    Rank,
    /// Medians.
    Median,
    /// Whole counts.
    Whole,
    /// The true counts.
    Truth,
    /// Published counts.
    Published,
    /// The folder of saved work.
    Work,
}

/// The result of a step that reads an input.
pub(super) type Read<T> = std::result::Result<T, InputError<EstimationInput>>;

/// Estimates from a folder of noisy measurement files: inputs and output.
#[derive(Clone, Debug)]
pub struct Estimation {
    /// The folder: the product, or the folder that holds it.
    pub folder: PathBuf,
    /// The release of the noisy counts.
    pub release: ReleaseInput,
    /// The file of the estimates.
    pub out: PathBuf,
    /// Its form. Whole counts are CSV.
    pub form: Form,
    /// The constraints that the estimates satisfy.
    pub constraints: Constraints,
    /// A file of exact totals of states.
    pub state_totals: Option<PathBuf>,
    /// Only these states, by number, each alone and without the counts of the nation.
    pub states: Option<Vec<u32>>,
    /// Queries, marginals of attributes, or "all"; the total if empty.
    pub queries: Vec<String>,
    /// A file of recodes for the queries, besides those of the release.
    pub recodes: Option<PathBuf>,
    /// Census variables instead of queries, in their own columns.
    pub variables: Option<Variables>,
    /// The levels whose units are estimated; all but the last if empty.
    pub levels: Vec<String>,
    /// Areas to estimate instead of units.
    pub areas: RequestedAreas,
    /// A file of exact totals of areas of a file.
    pub area_totals: Option<PathBuf>,
    /// Non-negative whole counts instead of estimates, with these queries settled first.
    pub whole: Option<Vec<String>>,
    /// The true counts, in a rehearsal: confidential.
    pub truth: Option<PathBuf>,
    /// How the true counts are read.
    pub reading: Reading,
    /// A file of published counts beside the estimates.
    pub published: Option<PathBuf>,
    /// Whether files may be missing.
    pub incomplete: bool,
    /// Whether counts that do not fit each other are used nevertheless.
    pub despite_misfit: bool,
    /// Covariances, differences, shares, ranks and medians of the estimates of areas.
    pub comparisons: Comparisons,
    /// Saved work in a folder.
    pub work: Option<Work>,
    /// The words of the command line or of the call, for the provenance.
    pub caller: Vec<String>,
}

/// Census variables to estimate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Variables {
    /// Codes, tables, or all.
    pub names: Vec<String>,
    /// Whether a row has all variables of a place.
    pub wide: bool,
    /// The confidence levels of the margins; 95 % if empty.
    pub confidence: Vec<Confidence>,
    /// Whether intervals that respect that no count is negative are added.
    pub nonnegative: bool,
    /// A file of names of places.
    pub places: Option<PathBuf>,
}

/// Areas to estimate instead of units.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RequestedAreas {
    /// None.
    #[default]
    None,
    /// Those of a file: sets of blocks.
    File(PathBuf),
    /// Tabulation units of these levels: State, County, Tract, Block_Group or Block.
    Tabulation(Vec<String>),
}

/// Saved work: a folder for the result of each state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// The folder.
    pub folder: PathBuf,
    /// The share of the work that this run does.
    pub share: Share,
}

/// The share of the work that a run does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// All states that are not finished, and the file of estimates.
    All,
    /// Every `of`-th state from the `part`-th, which begins at 1; no file.
    Part {
        /// The number of the part.
        part: usize,
        /// The number of parts.
        of: usize,
    },
    /// No state: only the file of estimates, from the work of all parts.
    Combine,
}

/// Refuses a level of confidence that is named twice.
fn check_once(confidence: &[Confidence]) -> Read<()> {
    match confidence.iter().enumerate().find(|(at, own)| confidence[..*at].contains(own)) {
        Some((_, twice)) => {
            let why = format!("{} % is named twice", twice.percent());
            Err(InputError::new(EstimationInput::Confidence, Error::conflict(why)))
        }
        None => Ok(()),
    }
}

impl Estimation {
    /// The form of the file.
    pub fn form(&self) -> Form {
        if self.whole.is_some() { Form::Whole } else { self.form }
    }

    /// Whether areas are estimated instead of units.
    pub(super) fn with_areas(&self) -> bool {
        self.areas != RequestedAreas::None || self.tabulates()
    }

    /// Whether tabulation units are estimated although none are named.
    fn tabulates(&self) -> bool {
        self.areas == RequestedAreas::None
            && (self.form() == Form::Bureau || (self.variables.is_some() && self.levels.is_empty()))
    }

    /// The census variables that are requested, and whether they are over the second histogram of the release.
    fn codes(&self, release: &Release) -> Read<(Vec<Code>, bool)> {
        let Some(variables) = &self.variables else { return Ok((Vec::new(), false)) };
        let schema = release.schema.clone().unwrap_or_default();
        let books = CodeBooks::of_schema(&schema).about(EstimationInput::Release)?;
        books.choose(&variables.names).about(EstimationInput::Variables)
    }

    /// The layout of a file of census variables, if these are requested.
    pub(super) fn layout(&self, release: &Release) -> Read<Option<Layout>> {
        let Some(variables) = &self.variables else { return Ok(None) };
        let mut confidence = variables.confidence.clone();
        if confidence.is_empty() {
            confidence.push(Confidence::usual());
        }
        check_once(&confidence)?;
        let places = variables.places.as_deref().map_or_else(Places::of_states, Places::read);
        let kind = match &self.areas {
            RequestedAreas::File(_) => Kind::Areas,
            RequestedAreas::Tabulation(_) => Kind::Tabulation,
            RequestedAreas::None if self.tabulates() => Kind::Tabulation,
            RequestedAreas::None => Kind::Units,
        };
        let places = places.about(EstimationInput::Names)?;
        let (wide, nonnegative) = (variables.wide, variables.nonnegative);
        Ok(Some(Layout { codes: self.codes(release)?.0, wide, confidence, nonnegative, places, kind }))
    }

    /// Refuses covariances where there are none.
    fn check_comparisons(&self) -> Read<()> {
        let Comparisons { file, differences, shares, ranks, medians, confidence } = &self.comparisons;
        check_once(confidence)?;
        let given = [
            (file.is_some(), EstimationInput::Covariance),
            (!differences.is_empty(), EstimationInput::Difference),
            (!shares.is_empty(), EstimationInput::Share),
            (!ranks.is_empty(), EstimationInput::Rank),
            (!medians.is_empty(), EstimationInput::Median),
        ];
        let Some((_, input)) = given.into_iter().find(|(given, _)| *given) else { return Ok(()) };
        let why = match () {
            () if !self.with_areas() => "covariances are those of areas or tabulation units: name these, not levels",
            () if self.whole.is_some() => "whole counts have no known covariances: take the estimates",
            () if self.work.is_some() => "saved work has no covariances: estimate in one run",
            () if file.as_ref() == Some(&self.out) => "the estimates go into this file: name another",
            () => return Ok(()),
        };
        Err(InputError::new(input, Error::conflict(why)))
    }

    /// Refuses exact totals of areas where they cannot be used.
    fn check_area_totals(&self) -> Read<()> {
        if self.area_totals.is_none() {
            return Ok(());
        }
        let why = match &self.areas {
            RequestedAreas::None | RequestedAreas::Tabulation(_) => "exact totals are those of areas: name their file",
            RequestedAreas::File(_) if self.constraints == Constraints::None => {
                "exact totals are constraints, and none are kept"
            }
            RequestedAreas::File(_) if self.work.is_some() => {
                "exact totals of areas join all states: estimate in one run, without saved work"
            }
            RequestedAreas::File(_) => return Ok(()),
        };
        Err(InputError::new(EstimationInput::AreaTotals, Error::conflict(why)))
    }

    /// Refuses inputs that contradict each other.
    fn check(&self) -> Read<()> {
        let refuse = |input, why: &str| Err(InputError::new(input, Error::conflict(why)));
        match (self.form, &self.whole) {
            (Form::Whole, None) => return refuse(EstimationInput::Form, "no whole counts are requested"),
            (Form::Parquet | Form::Bureau, Some(_)) => {
                return refuse(EstimationInput::Whole, "whole counts are written as csv");
            }
            _ => {}
        }
        if self.constraints == Constraints::None && self.state_totals.is_some() {
            return refuse(EstimationInput::StateTotals, "exact totals are constraints, and none are kept");
        }
        self.check_area_totals()?;
        if self.form == Form::Bureau {
            if !self.queries.is_empty() {
                return refuse(EstimationInput::Queries, "the form bureau has the tables of P.L. 94-171");
            }
            if !self.levels.is_empty() {
                return refuse(EstimationInput::Levels, "the form bureau has tabulation units: name their levels");
            }
        }
        if self.recodes.is_some() && self.queries.is_empty() && self.whole.as_ref().is_none_or(Vec::is_empty) {
            return refuse(EstimationInput::Recodes, "no query is named that could keep a recode");
        }
        if self.variables.is_some() {
            if self.form() != Form::Csv {
                return refuse(EstimationInput::Form, "census variables are written as csv");
            }
            if !self.queries.is_empty() {
                return refuse(EstimationInput::Queries, "census variables take the place of queries");
            }
        }
        self.check_comparisons()?;
        if matches!(&self.areas, RequestedAreas::Tabulation(names) if names.is_empty()) {
            return refuse(EstimationInput::Tabulation, "no level of tabulation units is named");
        }
        match self.work.as_ref().map(|work| work.share) {
            Some(Share::Part { part, of }) if !(1..=of).contains(&part) => {
                refuse(EstimationInput::Work, "a part is from 1 to the number of parts")
            }
            _ => Ok(()),
        }
    }

    /// The release, with the recodes of the request.
    pub(super) fn release(&self) -> Read<Release> {
        let release = self.release.read().about(EstimationInput::Release)?;
        match &self.recodes {
            Some(file) => release.with_recodes(file).about(EstimationInput::Recodes),
            None => Ok(release),
        }
    }

    /// The settings of the survey, and the given totals.
    pub(super) fn settings(&self, release: &Release) -> Read<(Settings, Option<GivenTotals>)> {
        self.check()?;
        let totals = self.state_totals.as_deref().map(GivenTotals::read).transpose();
        let totals = totals.about(EstimationInput::StateTotals)?;
        let wanted = match self.form() {
            Form::Bureau => Wanted::Pl94Tables,
            Form::Csv if self.variables.is_some() => {
                let (codes, is_beside) = self.codes(release)?;
                Wanted::Lines { lines: codes.into_iter().map(|code| code.line).collect(), is_beside }
            }
            Form::Csv | Form::Parquet | Form::Whole => Wanted::Queries(requested::queries(&self.queries, release)),
        };
        let areas = self.area_source()?;
        let levels = if self.with_areas() { Vec::new() } else { self.level_numbers(release)? };
        let schema = release.schema.clone().unwrap_or_default();
        let truth = self.truth.as_deref().map(|file| Truth::read(file, &schema, "count", self.reading)).transpose();
        let settings = Settings {
            constraints: self.constraints,
            totals: totals.as_ref().map_or_else(BTreeMap::new, GivenTotals::totals),
            states: self.states.clone(),
            wanted,
            levels,
            areas,
            truth: truth.about(EstimationInput::Truth)?,
            whole: self.whole.clone(),
            incomplete: self.incomplete,
            despite_misfit: self.despite_misfit,
        };
        Ok((settings, totals))
    }

    /// The numbers of the requested levels; if none is named, and the folder ends above the release's lowest level, all
    /// levels that it has.
    fn level_numbers(&self, release: &Release) -> Read<Vec<usize>> {
        if !self.levels.is_empty() {
            return requested::levels(&self.levels, release).about(EstimationInput::Levels);
        }
        let names: Vec<String> = release.levels.iter().map(|level| level.name.clone()).collect();
        let folder = NmfFolder::open_from_root(&self.folder, &names).about(EstimationInput::Folder)?;
        Ok((0..folder.levels.len().min(names.len() - 1)).collect())
    }

    fn area_source(&self) -> Read<AreaSource> {
        let names = match &self.areas {
            RequestedAreas::File(file) => {
                let areas = Areas::read(file).about(EstimationInput::Areas)?;
                return match &self.area_totals {
                    Some(totals) => areas.with_totals(totals).about(EstimationInput::AreaTotals).map(AreaSource::Given),
                    None => Ok(AreaSource::Given(areas)),
                };
            }
            RequestedAreas::Tabulation(names) => names.iter().map(String::as_str).collect(),
            RequestedAreas::None if self.tabulates() => vec!["State", "County", "Tract"],
            RequestedAreas::None => return Ok(AreaSource::None),
        };
        let digits = |name: &str| {
            tabulated_digits(name).map_err(|why| InputError::new(EstimationInput::Tabulation, Error::conflict(why)))
        };
        let mut digits = names.into_iter().map(digits).collect::<Read<Vec<u32>>>()?;
        digits.sort_unstable();
        digits.dedup();
        Ok(AreaSource::Digits(digits))
    }

    /// The identity of the request, for saved work.
    pub(super) fn identity(&self, release: &Release, settings: &Settings) -> Read<RequestIdentity> {
        let areas = match &self.areas {
            RequestedAreas::File(file) => Some(sha256(file).about(EstimationInput::Areas)?),
            RequestedAreas::None | RequestedAreas::Tabulation(_) => None,
        };
        Ok(RequestIdentity {
            release: sha256_of_text(&release.to_toml()),
            constraints: self.constraints.name(),
            totals: settings.totals.clone(),
            queries: match &settings.wanted {
                Wanted::Queries(queries) => Some(queries.clone()),
                Wanted::Pl94Tables => None,
                Wanted::Lines { lines, .. } => Some(lines.iter().map(|line| line.name.clone()).collect()),
            },
            levels: settings.levels.clone(),
            areas,
            tabulation: match &settings.areas {
                AreaSource::Digits(digits) => digits.clone(),
                AreaSource::None | AreaSource::Given(_) => Vec::new(),
            },
            whole: self.whole.clone(),
            truth: self.truth.is_some(),
            incomplete: self.incomplete,
            despite_misfit: self.despite_misfit,
        })
    }

    /// The origin of the estimates, without the seed, which the noisy counts state. The folder is named and not hashed,
    /// because it is large.
    pub(super) fn provenance(&self) -> Read<Provenance> {
        let areas = match &self.areas {
            RequestedAreas::File(file) => Some(Input::public(file).about(EstimationInput::Areas)?),
            RequestedAreas::None | RequestedAreas::Tabulation(_) => None,
        };
        let public = |path: &Option<PathBuf>| path.as_deref().map(Input::public).transpose();
        let inputs = [
            areas,
            Some(Input::not_hashed(&self.folder)),
            public(&self.published).about(EstimationInput::Published)?,
            public(&self.area_totals).about(EstimationInput::AreaTotals)?,
            public(&self.recodes).about(EstimationInput::Recodes)?,
            Some(self.release.input().about(EstimationInput::Release)?),
            public(&self.state_totals).about(EstimationInput::StateTotals)?,
            public(&self.variables.as_ref().and_then(|variables| variables.places.clone()))
                .about(EstimationInput::Names)?,
            self.truth.as_deref().map(Input::confidential),
        ];
        Ok(Provenance {
            command_line: self.caller.clone(),
            digits: None,
            inputs: inputs.into_iter().flatten().collect(),
            insecure_seed: None,
            date: None,
            misfit: None,
        })
    }
}
