//! A measurement: from confidential counts to a folder of noisy counts, by the protocol of draws.
//!
//! A [`Job`] takes the folder of the release, computes the exact budget, reads the counts, logs the coming draw, draws,
//! and publishes. Nothing appears under the name of the release until all of it is on the disk. Noise comes from the
//! operating system's generator unless a seed is given, which every output then states. A second draw of the same
//! records is an error unless the caller allows it ([`draws`](crate::draws)).

use std::path::PathBuf;

use rug::Rational;
use serde_json::{Map, Value, json};

use super::{
    determined::{self, Design, Undetermined},
    histograms::Histograms,
    jobs::{About, InputError, Progress, See},
    measure::MeasurementPlan,
    measurement_files::{self, Manifest, MeasurementFile, Said},
    nmf::write::{self, NmfWriter},
    precise::FAR,
    spending::Spending,
};
use crate::{
    account::Delta,
    draws::{Draw, DrawIntent, EarlierBudgets, ReleaseFolder, Taken, UnfinishedDraw, confidential_hash},
    error::{Error, Result},
    io::{
        csv_reader::Reading,
        provenance::{Input, Provenance, VERSION, sha256, sha256_of_text},
    },
    loss::law::Law,
    noise::Distribution,
    release::{Neighbors, Release, input::ReleaseInput, schema::Schema},
    spine::{bypass::Privacy, own::UnitIds, spine_files::SavedSpine},
};

/// The layout of the noisy counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// A CSV for each query of each level.
    Csv,
    /// The Parquet files of the Bureau's noisy measurements, for zCDP only.
    Nmf,
}

/// An input of a [`Job`] that an error can be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobInput {
    /// The folder of the noisy counts, with its log.
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
    /// The layout.
    Layout,
    /// The confidential counts.
    Counts,
}

/// A draw of noise on a spine: its inputs and output.
#[derive(Clone, Debug)]
pub struct Job {
    /// The folder of the spine.
    pub spine: PathBuf,
    /// The confidential counts: CSV with a column block, one for each attribute of the release, and the count.
    pub counts: PathBuf,
    /// The heading of the counts.
    pub column: String,
    /// How the counts are read.
    pub reading: Reading,
    /// The release: levels, queries and budget.
    pub release: ReleaseInput,
    /// The pure epsilon of all noisy counts together, for a spine of pure differential privacy.
    pub pure_epsilon: Option<Rational>,
    /// The folder for the noisy counts, which must be empty or not exist.
    pub out: PathBuf,
    /// The layout of the noisy counts.
    pub layout: Layout,
    /// The delta of the exact epsilon.
    pub delta: Delta,
    /// The digits of the exact epsilon.
    pub digits: u32,
    /// A public seed, for tests: anybody who knows it can subtract the noise. `None` for noise that protects.
    pub insecure_seed: Option<u64>,
    /// How to treat a draw that was not completed.
    pub unfinished: UnfinishedDraw,
    /// The words of the command line or of the call, for the provenance. They do not say whether the draw was resumed:
    /// a resumed release is that of the interrupted draw, to the last byte.
    pub caller: Vec<String>,
}

/// The records of the public inputs in a provenance.
struct PublicInputs {
    release: Input,
    spine: Input,
}

impl PublicInputs {
    fn of_job(job: &Job) -> std::result::Result<PublicInputs, InputError<JobInput>> {
        let release = job.release.input().about(JobInput::Release)?;
        Ok(PublicInputs { release, spine: Input::public(&job.spine).about(JobInput::Spine)? })
    }
}

/// The outcome of a job.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The noisy counts are complete.
    Measured(Box<Measured>),
    /// They were complete before; only the end of their log was missing.
    WasComplete,
}

/// Noisy counts that were drawn.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The name of the release.
    pub release: String,
    /// The budget of this draw.
    pub spending: Spending,
    /// The budget as the files state it.
    privacy: Map<String, Value>,
    /// The number of noisy counts.
    pub counts: u64,
    /// The files, level by level.
    pub files: Vec<MeasuredFile>,
    /// The number of records: confidential.
    pub records: u64,
    /// The number of units of the lowest level.
    pub units: usize,
    /// Those without a line in the counts: confidential.
    pub units_without_counts: usize,
    /// The name of the lowest level of a hierarchy of one's own; `None` for census blocks.
    pub lowest_level: Option<String>,
    /// The number of the draw in its log, from 1.
    pub draw: u64,
    /// The budgets of earlier draws of the same records.
    pub earlier: EarlierBudgets,
    /// The unit of the budgets in the log.
    pub unit: &'static str,
    /// The relation of neighbors that the budgets are about.
    pub relation: Neighbors,
    /// The reason why the log beside the records could not be written, if so.
    pub unlogged: Option<String>,
    /// The queries that the noisy counts do not determine at levels that do not measure them, in words and as JSON.
    pub undetermined: Vec<(String, Value)>,
    /// Why it is not known which queries are determined; `None` where it is.
    pub undecided: Option<String>,
    /// The seed, if anybody who knows it can subtract the noise.
    pub insecure_seed: Option<u64>,
    /// The folder of the noisy counts.
    pub out: PathBuf,
    /// The origin of the noisy counts.
    pub provenance: Provenance,
}

/// A file of noisy counts, with the noise of the units that carry the smallest share.
#[derive(Clone, Debug)]
pub struct MeasuredFile {
    /// Its description.
    pub file: MeasurementFile,
    /// The law of that noise.
    pub least_law: Option<Law>,
    /// The margin of a single noisy count: the least m with P[|X| <= m] of at least 95 %.
    pub margin_95: Option<i64>,
}

impl Job {
    /// Runs it. An error of `see` ends it; the draw then stays unfinished, if it was begun.
    pub fn run(&self, see: &mut See) -> std::result::Result<Outcome, InputError<JobInput>> {
        let records = self.insecure_seed.is_none().then_some(self.counts.as_path());
        let taken = ReleaseFolder::take(&self.out, self.layout.manifest(), records, self.unfinished);
        let Taken::Free(mut folder) = taken.about(JobInput::Out)? else { return Ok(Outcome::WasComplete) };
        let public = PublicInputs::of_job(self)?;
        let release = self.release.read().about(JobInput::Release)?;
        let saved = SavedSpine::read(&self.spine).about(JobInput::Spine)?;
        let plan = self.plan(&saved, &release)?;
        let schema = release.schema.clone().unwrap_or_default();
        // Refused before the draw is logged: queries that no estimate could use the budget of, a layout that cannot hold the
        // counts, and a budget that is not known.
        let (undetermined, undecided) = self.undetermined(&plan, &saved, &schema).about(JobInput::Release)?;
        let nmf = match self.layout {
            Layout::Csv => None,
            Layout::Nmf => Some(NmfWriter::new(&plan, &saved, &release).about(JobInput::Layout)?),
        };
        let spending = Spending::of_plan(&plan, &saved, &self.delta, self.digits)?;
        let histograms = Histograms::read(&self.counts, &saved, &schema, &self.column, self.reading);
        let histograms = histograms.about(JobInput::Counts)?;
        let intent = self.intent(&spending, &public, &release)?;
        let hash = confidential_hash(&self.counts).about(JobInput::Counts)?;
        see(Progress { stage: "logging the draw", done: 0, of: 0 })?;
        let draw = folder.draw(&intent, &hash, self.unfinished).about(JobInput::Out)?;
        let Draw { number, earlier, unlogged, mut streams } = draw;
        let earlier = EarlierBudgets::of_draws(&earlier, &intent)?;
        let (privacy, provenance) = (spending.to_json(&release, &self.delta), self.provenance(public));
        let keys = earlier_draws(&earlier, spending.unit().0, release.neighbors);
        let said = manifest_head(&release.name, &privacy, &provenance, number, keys);
        let (out, at) = (folder.release(), &mut |done, of| see(Progress { stage: "noise on measurements", done, of }));
        let manifest = match nmf {
            None => measurement_files::write(&plan, &saved, said, &histograms, &mut streams, &out, at),
            Some(nmf) => nmf.write(said, &histograms, &mut streams, &out, at),
        };
        let manifest = manifest.about(JobInput::Out)?;
        see(Progress { stage: "finishing", done: 0, of: 0 })?;
        folder.publish().about(JobInput::Out)?;
        Ok(Outcome::Measured(Box::new(Measured {
            release: release.name,
            privacy,
            counts: plan.counts(),
            files: files(&plan, &saved, manifest)?,
            records: histograms.total(),
            units: saved.blocks(),
            units_without_counts: histograms.blocks_without(saved.blocks()),
            lowest_level: own_lowest_level(&saved),
            draw: number,
            earlier,
            unit: spending.unit().0,
            relation: release.neighbors,
            spending,
            unlogged,
            undetermined,
            undecided,
            insecure_seed: streams.insecure_seed(),
            out: self.out.clone(),
            provenance,
        })))
    }

    /// The plan of the noise on a saved spine.
    fn plan<'s>(
        &self,
        saved: &'s SavedSpine,
        release: &Release,
    ) -> std::result::Result<MeasurementPlan<'s>, InputError<JobInput>> {
        let (is_pure, has_epsilon) = (matches!(saved.privacy, Privacy::Pure { .. }), self.pure_epsilon.is_some());
        let plan = MeasurementPlan::on_saved(saved, release, self.pure_epsilon.as_ref());
        plan.about(JobInput::Plan { is_pure, has_epsilon })
    }

    /// The queries that the noisy counts do not determine, or why this is not known.
    fn undetermined(
        &self,
        plan: &MeasurementPlan,
        saved: &SavedSpine,
        schema: &Schema,
    ) -> Result<(Vec<Named>, Option<String>)> {
        let (mut open, undecided) = undetermined(plan, saved, schema)?;
        if self.layout == Layout::Nmf {
            open.extend(undetermined_in_files(plan, saved, schema)?);
        }
        Ok((open, undecided))
    }

    /// The origin of the noisy counts. The confidential counts are named and not hashed.
    fn provenance(&self, public: PublicInputs) -> Provenance {
        Provenance {
            command_line: self.caller.clone(),
            digits: Some(self.digits),
            inputs: vec![Input::confidential(&self.counts), public.release, public.spine],
            insecure_seed: self.insecure_seed,
            date: None,
            misfit: None,
        }
    }

    /// Everything besides the true counts and the noise that determines the noisy counts. A draw that an earlier program
    /// of this version began is resumed: the roles of inputs and their order must not change.
    fn intent(&self, spending: &Spending, public: &PublicInputs, release: &Release) -> Result<DrawIntent> {
        // A release that is read once, from a pipe, is identified by what was read.
        let of_release = public.release.sha256().map_or_else(|| sha256_of_text(&release.to_toml()), String::from);
        let of_spine = public.spine.sha256().map_or_else(|| sha256(&self.spine), |known| Ok(known.to_string()))?;
        let inputs = [
            ("spine", of_spine),
            ("release", of_release),
            ("heading of the counts", self.column.clone()),
            ("layout", self.layout.name().to_string()),
        ];
        let (unit, budget) = spending.unit();
        Ok(DrawIntent {
            version: VERSION.to_string(),
            inputs: inputs.map(|(role, said)| (role.to_string(), said)).into(),
            budget: vec![(unit.replace('_', " "), budget.to_string())],
            unit: unit.to_string(),
            relation: release.neighbors.name().to_string(),
            parts: String::new(),
            insecure_seed: self.insecure_seed,
        })
    }
}

impl Layout {
    /// Its name in logs.
    pub fn name(self) -> &'static str {
        match self {
            Layout::Csv => "csv",
            Layout::Nmf => "nmf",
        }
    }

    /// The file of a release that describes the others.
    fn manifest(self) -> &'static str {
        match self {
            Layout::Csv => measurement_files::MANIFEST,
            Layout::Nmf => write::MANIFEST,
        }
    }
}

impl Measured {
    /// As JSON: the budget, the files with their margins, the draw and the earlier ones. The numbers under
    /// `confidential` are not in the files of the release.
    pub fn to_json(&self) -> Value {
        let mut object = Map::new();
        object.insert("release".into(), json!(self.release));
        object.extend(self.privacy.clone());
        object.insert("noisy_counts".into(), json!(self.counts));
        let file = |measured: &MeasuredFile| {
            let mut file = json!(measured.file);
            file["margin_95"] = json!(measured.margin_95);
            file
        };
        object.insert("files".into(), self.files.iter().map(file).collect());
        let confidential = json!({ "records": self.records, "blocks_without_counts": self.units_without_counts });
        object.insert("confidential".into(), confidential);
        object.insert("out".into(), json!(self.out.display().to_string()));
        object.insert("draw".into(), json!(self.draw));
        object.extend(earlier_draws(&self.earlier, self.unit, self.relation));
        if !self.undetermined.is_empty() {
            object.insert("undetermined".into(), self.undetermined.iter().map(|(_, json)| json.clone()).collect());
        }
        if let Some(why) = &self.undecided {
            object.insert("undetermined_not_known".into(), json!(why));
        }
        if let Some(seed) = self.insecure_seed {
            object.insert("insecure_seed".into(), json!(seed));
        }
        Value::Object(object)
    }
}

/// A query that is not determined, in words and as JSON.
type Named = (String, Value);

/// The queries of a plan that its noisy counts do not determine at some level, in words and as JSON; refused where the
/// level measures the query itself. The second is why it is not known.
fn undetermined(plan: &MeasurementPlan, saved: &SavedSpine, schema: &Schema) -> Result<(Vec<Named>, Option<String>)> {
    let design = Design::of_plan(plan, schema);
    let unit = |level: usize, unit: usize| saved.ids.unit(level, unit).into_owned();
    let own = design.own();
    let open = match design.undetermined(&design.all()) {
        Ok(open) => open,
        // Too large for least squares.
        Err(error @ Error::OutOfRange { .. }) => return Ok((Vec::new(), Some(error.to_string()))),
        Err(other) => return Err(other),
    };
    let (measured, others): (Vec<Undetermined>, Vec<Undetermined>) = open
        .into_iter()
        .partition(|open| own.iter().any(|(level, query)| (*level, query) == (open.level, &open.query)));
    determined::refuse(&measured, &saved.names, &unit)?;
    let of = |open: &Undetermined| (open.described(&saved.names, &unit), open.to_json(&saved.names, &unit));
    Ok((others.iter().map(of).collect(), None))
}

/// The same of files in the Bureau's layout, whose estimates start from the lowest level and have variances of similar size.
fn undetermined_in_files(plan: &MeasurementPlan, saved: &SavedSpine, schema: &Schema) -> Result<Vec<(String, Value)>> {
    let lowest = saved.names.last().map_or("", String::as_str);
    let open = Design::of_plan(plan, schema).undetermined_from_below()?;
    let below = open.into_iter().map(|query| {
        let said = format!(
            "{query:?} by `assay nmf estimate`, at any level: it starts from the lowest level, and the queries of {lowest} alone do not determine {query:?}; measure it there, or write --files csv"
        );
        (said, json!({ "query": query, "files": "nmf" }))
    });
    let mut all: Vec<(String, Value)> = below.collect();
    let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
    for query in plan.levels().iter().flatten() {
        for law in (0..=plan.levels().len()).filter_map(|carried| query.law(carried)) {
            let variance = Distribution::of_law(law)?.variance(8).approximate();
            (least, most) = (least.min(variance), most.max(variance));
        }
    }
    if most > FAR * least {
        let said = format!(
            "anything by `assay nmf estimate`: the largest variance of the noise is {:.1e} times the least, and doubles need at most 1e8; write --files csv",
            most / least
        );
        all.push((said, json!({ "query": null, "files": "nmf" })));
    }
    Ok(all)
}

/// The keys about earlier draws of the same records.
fn earlier_draws(earlier: &EarlierBudgets, unit: &str, relation: Neighbors) -> Map<String, Value> {
    let mut keys = earlier.json(unit, Some(relation.name())).unwrap_or_default();
    keys.insert("earlier_draws".into(), json!(earlier.draws()));
    keys
}

/// The head of the manifest of a draw with this number.
fn manifest_head(
    release: &str,
    privacy: &Map<String, Value>,
    provenance: &Provenance,
    number: u64,
    earlier: Map<String, Value>,
) -> Said {
    Said {
        release: release.to_string(),
        privacy: Value::Object(privacy.clone()),
        provenance: provenance.to_json(),
        draw: Some(number),
        earlier,
    }
}

/// The name of the lowest level, on a hierarchy of a user's own.
fn own_lowest_level(saved: &SavedSpine) -> Option<String> {
    matches!(saved.ids, UnitIds::Own(_)).then(|| saved.names.last().cloned()).flatten()
}

/// The files with the noise of the units that carry the smallest share.
fn files(plan: &MeasurementPlan, saved: &SavedSpine, manifest: Manifest) -> Result<Vec<MeasuredFile>> {
    let probability = Rational::from((39, 40));
    let measured = |file: MeasurementFile| {
        let request = plan.levels()[file.level].iter().find(|request| request.group.name == file.query);
        let least_law = request.and_then(|request| (1..=saved.names.len()).find_map(|carried| request.law(carried)));
        let margin = |law: &Law| Distribution::of_law(law)?.quantile(&probability);
        let margin_95 = least_law.map(margin).transpose()?;
        Ok(MeasuredFile { file, least_law: least_law.cloned(), margin_95 })
    };
    manifest.files.into_iter().map(measured).collect()
}
