//! A run from beginning to end: checks input, computes guarantees, counts records, draws noise and publishes the release.

use std::{fs, path::Path};

use serde_json::Value;

#[cfg(feature = "cluster")]
use super::cluster_counts::count_on_cluster;
use super::{
    HouseholdInputs, PersonInputs,
    certificate::WrittenRows,
    certified_level::CertifiedLevel,
    guarantees::RunGuarantees,
    households,
    job::{Job, ProgramInputs, refuse, unit_of},
    program::{BureauProgram, Passes, Program},
    record_files::RecordFiles,
};
use crate::{
    document::{Block, markdown},
    draws::{ADD_REMOVE, DrawIntent, EarlierBudgets, OF_HOUSEHOLDS, ReleaseFolder, Taken},
    error::{Error, Result},
    io::{
        files::{file_error, write_whole},
        provenance::sha256_of_text,
    },
    noise::Streams,
    safetab::{
        counting::Counted,
        country::{counts::CountryCounts, program::CountryInputs},
        schema::ValidationReport,
    },
    topdown::jobs::Progress,
};

/// The file of a release that describes what was drawn.
const CERTIFICATE: &str = "certificate.json";

/// The outcome of a job.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The release is complete.
    Released {
        /// The certificate, as public as the release.
        certificate: Value,
        /// As a text.
        page: Vec<Block>,
        /// The number of records read: confidential.
        records: u64,
        /// The reason why the log beside the records could not be written, if so.
        unlogged: Option<String>,
    },
    /// The release was complete before; only the end of its log was missing.
    WasComplete,
}

impl Job {
    /// Runs it. Calls `progress` with the state of the work. An error contains the whole report if an input breaks a rule; nothing is drawn
    /// then.
    pub fn run(&self, progress: &mut dyn FnMut(Progress)) -> Result<Outcome> {
        match &self.public.program {
            ProgramInputs::Persons { .. } => run::<PersonInputs>(self, count_anywhere, progress),
            ProgramInputs::Households { .. } => run::<HouseholdInputs>(self, count_anywhere, progress),
            ProgramInputs::Country => match &self.cluster {
                None => run::<CountryInputs>(self, count_country, progress),
                Some(cluster) => Err(cluster.error("a country's own specification is counted on this machine only")),
            },
        }
    }

    /// Writes the tables without noise into a new folder: for records that are not confidential, such as synthetic ones. An error for
    /// persons.
    pub fn write_exact_households(&self, out: &Path) -> Result<()> {
        if !matches!(self.public.program, ProgramInputs::Households { .. }) {
            return Err(Error::unsuitable("tables without noise are those of households, and the records are persons"));
        }
        let folder = tempfile::tempdir().map_err(|why| file_error(out, why))?;
        let mut report = ValidationReport::new();
        let Some(inputs) = self.public.inputs::<HouseholdInputs>(&mut report)? else { return refuse(report) };
        let (counted, _) = count(self, &inputs, &self.record_files()?, report, folder.path(), &mut |_| {})?;
        crate::io::files::fill_folder(out, |out| households::write_exact(&inputs.passes()?, &counted, out))
    }
}

/// Checks and counts all records of a job; also returns their number.
type Count<P> = for<'a> fn(
    &Job,
    &'a P,
    &RecordFiles,
    ValidationReport,
    &Path,
    &mut dyn FnMut(Progress),
) -> Result<(<P as Program>::Counts<'a>, u64)>;

fn run<P: Program>(job: &Job, count: Count<P>, progress: &mut dyn FnMut(Progress)) -> Result<Outcome> {
    let records = job.insecure_seed.is_none().then_some(job.records.as_path());
    let folder = match ReleaseFolder::take(&job.out, CERTIFICATE, records, job.unfinished)? {
        Taken::Free(folder) => *folder,
        Taken::Complete => return Ok(Outcome::WasComplete),
    };
    let files = job.record_files()?;
    let mut report = ValidationReport::new();
    let Some(inputs) = job.public.inputs::<P>(&mut report)? else { return refuse(report) };
    let (counted, records) = count(job, &inputs, &files, report, folder.part(), progress)?;
    // Edited files are hashed in their original form.
    let hashed = match inputs.edited() {
        None => files,
        Some(cef) => RecordFiles { text: cef.all(), parquet: Vec::new() },
    };
    let hash = hashed.hash(&mut |done, of| progress(Progress { stage: "hashing records", done, of }))?;

    progress(Progress { stage: "accounting", done: 0, of: 0 });
    let passes = inputs.passes()?;
    let guarantees = job.public.guarantees(&inputs, &passes)?;
    let hashes = job.public.hashes::<P>()?;

    let release = Release { job, inputs: &inputs, passes: &passes, hashes: &hashes, counted: &counted };
    let (certificate, page, unlogged) = release.draw_and_publish(folder, guarantees, &hash, progress)?;
    Ok(Outcome::Released { certificate, page, records, unlogged })
}

/// Checks and counts all records on this machine.
fn count<'a, P: Program>(
    job: &Job,
    inputs: &'a P,
    files: &RecordFiles,
    report: ValidationReport,
    folder: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<(P::Counts<'a>, u64)> {
    let (counted, checked) = inputs.count(job.source(files, None), folder, report, progress)?;
    Ok((counted, checked.records))
}

/// Checks all records here, and counts them here or on a cluster.
fn count_anywhere<'a, P: BureauProgram>(
    job: &Job,
    inputs: &'a P,
    files: &RecordFiles,
    report: ValidationReport,
    folder: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<(Counted<'a>, u64)> {
    match &job.cluster {
        None => count(job, inputs, files, report, folder, progress),
        Some(cluster) => {
            cluster.check(files)?;
            count_on_cluster(job, cluster, inputs, files, report, folder, progress)
        }
    }
}

/// Checks and counts all records of a country.
fn count_country<'a>(
    job: &Job,
    inputs: &'a CountryInputs,
    files: &RecordFiles,
    report: ValidationReport,
    folder: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<(CountryCounts<'a>, u64)> {
    count(job, inputs, files, report, folder, progress)
}

#[cfg(not(feature = "cluster"))]
fn count_on_cluster<'a, P: BureauProgram>(
    _: &Job,
    cluster: &super::cluster::Cluster,
    _: &'a P,
    _: &RecordFiles,
    _: ValidationReport,
    _: &Path,
    _: &mut dyn FnMut(Progress),
) -> Result<(Counted<'a>, u64)> {
    Err(cluster.error("this build has no client of Spark Connect: build it with the feature cluster"))
}

/// The parts of a release.
struct Release<'a, 'i, P: Program + 'i> {
    job: &'a Job,
    inputs: &'a P,
    passes: &'a Passes<P>,
    hashes: &'a [(String, String)],
    counted: &'a P::Counts<'i>,
}

impl<P: Program> Release<'_, '_, P> {
    /// Logs the coming draw, adds noise to all levels, and publishes the tables with the certificate, which is returned as JSON and as a
    /// text.
    fn draw_and_publish(
        &self,
        mut folder: ReleaseFolder,
        guarantees: RunGuarantees,
        records: &[u8; 32],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(Value, Vec<Block>, Option<String>)> {
        let job = self.job;
        let budget = guarantees.passes.iter().zip(self.passes).map(|(guarantees, (pass, _))| {
            (self.inputs.pass_name(*pass), guarantees.pass.unbounded.budget.to_string())
        });
        let relation = if self.inputs.is_of_households() { OF_HOUSEHOLDS } else { ADD_REMOVE };
        let settings = job.public.settings::<P>();
        let intent = DrawIntent {
            version: env!("CARGO_PKG_VERSION").to_string(),
            inputs: [self.hashes, &settings].concat(),
            budget: budget.collect(),
            unit: unit_of(self.inputs).to_string(),
            relation: relation.to_string(),
            parts: sha256_of_text(&self.inputs.parts(self.hashes)),
            insecure_seed: job.insecure_seed,
        };
        let mut draw = folder.draw(&intent, records, job.unfinished)?;
        let release = folder.release();
        fs::create_dir(&release).map_err(|why| file_error(&release, why))?;

        let written = self.write(&release, &mut draw.streams, progress)?;
        let mut certificate =
            job.public.certificate(self.inputs, self.passes, guarantees, self.hashes, job.insecure_seed);
        certificate.draw = Some(draw.number);
        certificate.earlier = EarlierBudgets::of_draws(&draw.earlier, &intent)?;
        for (pass, written) in certificate.passes.iter_mut().zip(written) {
            pass.written = Some(written);
        }
        let (json, page) = (certificate.json(), certificate.page());
        write_text(&release.join(CERTIFICATE), &format!("{json:#}\n"))?;
        write_text(&release.join("certificate.md"), &markdown::of_markdown(&page))?;
        folder.publish()?;
        Ok((json, page, draw.unlogged))
    }

    /// Adds noise to all levels and writes the tables; returns the numbers written for each pass.
    fn write(
        &self,
        folder: &Path,
        streams: &mut Streams,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Vec<WrittenRows>> {
        let of = self.passes.iter().flat_map(|(_, levels)| levels).map(CertifiedLevel::groups).sum();
        let mut done = 0;
        let mut report_done = |more: u64| {
            done += more;
            progress(Progress { stage: "adding noise", done, of });
        };
        let write = |(pass, levels): &(_, Vec<P::Level>)| {
            self.inputs.write((*pass, levels), self.counted, folder, streams, &mut report_done)
        };
        self.passes.iter().map(write).collect()
    }
}

fn write_text(path: &Path, text: &str) -> Result<()> {
    write_whole(path, |out| out.write_all(text.as_bytes()).map_err(|why| file_error(path, why)))
}
