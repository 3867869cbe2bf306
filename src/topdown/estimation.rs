//! An estimation on a spine: from the folder of noisy counts that a [measurement](super::measurement) drew to a folder
//! of estimates.

use std::path::PathBuf;

use rug::Rational;
use serde_json::{Value, json};

use super::{
    determined::{self, Design},
    estimates_file::{self, Estimates, Whole},
    histograms::Histograms,
    jobs::{About, InputError, Progress, See},
    level_variances::{LevelVariances, margin_95_approx},
    measure::MeasurementPlan,
    measurement_files,
    nmf::truth::{ErrorRow, ErrorTable},
    requested,
    spine_survey::{Asked, SpineAreas},
};
use crate::{
    error::{Error, Result},
    io::{
        csv_reader::Reading,
        provenance::{Input, Provenance},
    },
    release::{Release, input::ReleaseInput, schema::Schema},
    spine::{bypass::Privacy, spine_files::SavedSpine},
};

/// An input of a [`Job`] that an error can be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobInput {
    /// The folder of the estimates.
    Out,
    /// The release.
    Release,
    /// The folder of the spine.
    Spine,
    /// The release and the pure epsilon, on a spine for pure differential privacy or another one.
    Plan {
        /// Whether the spine was built for pure differential privacy.
        is_pure: bool,
        /// Whether a pure epsilon is given.
        has_epsilon: bool,
    },
    /// The folder of the noisy counts.
    Measurements,
    /// The queries to answer.
    Queries,
    /// The names of levels.
    Levels,
    /// The file of recodes.
    Recodes,
    /// The file of areas.
    Areas,
    /// The true counts.
    Truth,
}

/// Estimates from noisy counts on a spine: inputs and output.
#[derive(Clone, Debug)]
pub struct Job {
    /// The folder of the spine.
    pub spine: PathBuf,
    /// The folder of the noisy counts.
    pub measurements: PathBuf,
    /// The release that was measured.
    pub release: ReleaseInput,
    /// The pure epsilon of the measurements, on a spine for pure differential privacy.
    pub pure_epsilon: Option<Rational>,
    /// The folder of the estimates, which must be empty or not exist.
    pub out: PathBuf,
    /// Also estimates of queries of units or areas, if requested.
    pub request: Option<Request>,
    /// The words of the command line or of the call, for the provenance.
    pub caller: Vec<String>,
}

/// A request for estimates of queries of units or areas.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Queries, marginals of attributes, or "all"; the total if empty.
    pub queries: Vec<String>,
    /// A file of recodes for the queries, besides those of the release.
    pub recodes: Option<PathBuf>,
    /// The levels whose units are answered; all but the last if empty.
    pub levels: Vec<String>,
    /// A file of areas to answer instead of units.
    pub areas: Option<PathBuf>,
    /// The true counts, in a rehearsal: confidential.
    pub truth: Option<PathBuf>,
    /// How the true counts are read.
    pub reading: Reading,
}

/// Estimates that were written.
#[derive(Clone, Debug)]
pub struct Estimated {
    /// The name of the release.
    pub release: String,
    /// The levels, from the root.
    pub levels: Vec<EstimatedLevel>,
    /// The total of the whole counts, or why there are none.
    pub records: std::result::Result<i64, String>,
    /// The name of the file with the requested estimates, if there is one.
    pub requested: Option<&'static str>,
    /// Queries whose noise is so small that their counts are taken as exact.
    pub taken_as_exact: Vec<String>,
    /// The errors by level and query, in a rehearsal.
    pub errors: Option<Vec<ErrorRow>>,
    /// The seed of the noise, if anybody who knows it can subtract the noise.
    pub insecure_seed: Option<u64>,
    /// The folder of the estimates.
    pub out: PathBuf,
    /// The origin of the estimates.
    pub provenance: Provenance,
}

/// The accuracy of the totals of a level's units.
#[derive(Clone, Debug)]
pub struct EstimatedLevel {
    /// Its name.
    pub name: String,
    /// The number of its units.
    pub units: usize,
    /// The variances of their totals.
    pub variances: LevelVariances,
}

impl Job {
    /// Reads the noisy counts, estimates, and writes the folder, whole or not at all. An error of `see` ends it.
    pub fn run(&self, see: &mut See) -> std::result::Result<Estimated, InputError<JobInput>> {
        measurement_files::check_free(&self.out).about(JobInput::Out)?;
        let mut provenance = self.provenance()?;
        let release = self.release.read().about(JobInput::Release)?;
        let saved = SavedSpine::read(&self.spine).about(JobInput::Spine)?;
        let (is_pure, has_epsilon) = (matches!(saved.privacy, Privacy::Pure { .. }), self.pure_epsilon.is_some());
        let plan = MeasurementPlan::on_saved(&saved, &release, self.pure_epsilon.as_ref());
        let plan = plan.about(JobInput::Plan { is_pure, has_epsilon })?;
        let release = match self.request.as_ref().and_then(|request| request.recodes.as_ref()) {
            Some(file) => release.with_recodes(file).about(JobInput::Recodes)?,
            None => release,
        };
        let schema = release.schema.clone().unwrap_or_default();
        let asked = self.request.as_ref().map(|request| request.on(&saved, &release)).transpose()?;
        if let Some(asked) = &asked {
            check_determined(&plan, &saved, &schema, asked).about(JobInput::Queries)?;
        }
        let estimates = Estimates::read(&plan, &saved, &schema, &self.measurements).about(JobInput::Measurements)?;
        provenance.insecure_seed = estimates.insecure_seed;
        let survey = asked.as_ref().map(|asked| estimates.survey(&plan, &saved, &schema, asked)).transpose()?;
        see(Progress { stage: "writing estimates", done: 0, of: 0 })?;
        let is_rehearsal = asked.as_ref().is_some_and(|asked| asked.truth.is_some());
        let mut errors = is_rehearsal.then(ErrorTable::default);
        let answered = |subject: &_, answers: &[_]| {
            errors.iter_mut().for_each(|errors| errors.add(subject, answers));
            see(Progress { stage: "writing estimates", done: 0, of: 0 })
        };
        let survey = survey.as_ref();
        let written = estimates_file::write(&estimates, &saved, &schema, &self.out, &provenance, survey, answered);
        written.map_err(|error| match error {
            // Sums over areas are known to be determined only when they are estimated.
            Error::Unsuitable { .. } => InputError::new(JobInput::Queries, error),
            other => InputError::new(JobInput::Out, other),
        })?;
        let tree = &saved.spine.tree;
        let levels = saved.names.iter().zip(&estimates.level_variances).enumerate();
        let levels = levels.map(|(level, (name, variances))| EstimatedLevel {
            name: name.clone(),
            units: tree.units(level),
            variances: variances.clone(),
        });
        Ok(Estimated {
            release: release.name.clone(),
            levels: levels.collect(),
            records: match &estimates.whole {
                Whole::Counts(counts) => Ok(counts[0].iter().sum()),
                Whole::Undetermined(why) => Err(why.clone()),
            },
            requested: survey.map(estimates_file::requested),
            taken_as_exact: survey.map_or_else(Vec::new, |survey| survey.exact().to_vec()),
            errors: survey.zip(errors).map(|(survey, errors)| errors.named(&saved.names, &survey.answers)),
            insecure_seed: estimates.insecure_seed,
            out: self.out.clone(),
            provenance,
        })
    }

    /// The origin of the estimates, without the seed, which the noisy counts state.
    fn provenance(&self) -> std::result::Result<Provenance, InputError<JobInput>> {
        let request = self.request.as_ref();
        let areas = request.and_then(|request| request.areas.as_deref()).map(Input::public).transpose();
        let recodes = request.and_then(|request| request.recodes.as_deref()).map(Input::public).transpose();
        let inputs = [
            areas.about(JobInput::Areas)?,
            recodes.about(JobInput::Recodes)?,
            Some(Input::public(&self.measurements).about(JobInput::Measurements)?),
            Some(self.release.input().about(JobInput::Release)?),
            Some(Input::public(&self.spine).about(JobInput::Spine)?),
            request.and_then(|request| request.truth.as_deref()).map(Input::confidential),
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

/// Refuses requested queries that the noisy counts do not determine in some requested unit. Those of areas are seen when they
/// are estimated.
fn check_determined(plan: &MeasurementPlan, saved: &SavedSpine, schema: &Schema, asked: &Asked) -> Result<()> {
    let of_query = |query: &String| asked.levels.iter().map(|level| (*level, query.clone())).collect::<Vec<_>>();
    let requests: Vec<(usize, String)> = asked.queries.iter().flat_map(of_query).collect();
    let open = Design::of_plan(plan, schema).undetermined(&requests)?;
    determined::refuse(&open, &saved.names, &|level, unit| saved.ids.unit(level, unit).into_owned())
}

impl Request {
    /// Reads the inputs of the request, for a spine.
    fn on(&self, saved: &SavedSpine, release: &Release) -> std::result::Result<Asked, InputError<JobInput>> {
        let schema = release.schema.clone().unwrap_or_default();
        let truth = |file: &PathBuf| Histograms::read(file, saved, &schema, "count", self.reading);
        let levels = match self.areas {
            Some(_) => Vec::new(),
            None => requested::levels(&self.levels, release).about(JobInput::Levels)?,
        };
        let areas = self.areas.as_ref().map(|file| SpineAreas::read(file, saved)).transpose();
        Ok(Asked {
            queries: requested::queries(&self.queries, release),
            levels,
            areas: areas.about(JobInput::Areas)?,
            truth: self.truth.as_ref().map(truth).transpose().about(JobInput::Truth)?,
        })
    }
}

impl EstimatedLevel {
    /// The margin of a total at 95 %: an approximation, by the upper end of the variance, so that it is not too small where the noise is.
    pub fn margin_95_approx(&self) -> f64 {
        margin_95_approx(self.variances.mean.upper().to_f64())
    }

    /// As JSON.
    pub fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "units": self.units,
            "variance_of_total": self.variances.mean.to_json(),
            "variance_least": self.variances.least.to_json(),
            "variance_most": self.variances.most.to_json(),
            "margin_95_approx": self.margin_95_approx(),
        })
    }
}

impl Estimated {
    /// As JSON.
    pub fn to_json(&self) -> Value {
        let mut object = json!({
            "release": self.release,
            "levels": self.levels.iter().map(EstimatedLevel::to_json).collect::<Value>(),
            // All queries are used.
            "left_out": [],
            "records": self.records.as_ref().ok(),
            "out": self.out.display().to_string(),
        });
        if let Some(seed) = self.insecure_seed {
            object["insecure_seed"] = json!(seed);
        }
        if !self.taken_as_exact.is_empty() {
            object["taken_as_exact"] = json!(self.taken_as_exact);
        }
        if let Some(errors) = &self.errors {
            object["errors"] = errors.iter().map(ErrorRow::to_json).collect();
        }
        object
    }
}
