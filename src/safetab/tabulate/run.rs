//! A run from beginning to end: checks input, computes guarantees, counts records, draws noise and publishes the release.

use std::{fs, path::Path};

use serde_json::Value;

#[cfg(feature = "cluster")]
use super::cluster_counts::count_on_cluster;
use super::{
    certificate::{self, WrittenRows},
    coterminous::{self, Coterminous},
    guarantees::RunGuarantees,
    household_counts::{HouseholdBatch, HouseholdTabulation},
    household_levels::HouseholdLevel,
    household_output::HouseholdTables,
    inputs::{PersonInputs, PublicInputs},
    job::{Inputs, Job, Passes, refuse},
    levels::TabulatedLevel,
    output::ReleaseTables,
    record_files::RecordFiles,
    two_stage::{GroupBatch, Tabulation},
};
use crate::{
    draws::{DrawIntent, EarlierBudgets, ReleaseFolder, Taken},
    error::Result,
    io::files::{file_error, write_whole},
    noise::Streams,
    safetab::{
        counting::{Counted, Counting},
        schema::{Pass, ValidationReport},
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
        /// As a page in Markdown.
        page: String,
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
        let records = self.insecure_seed.is_none().then(|| self.records.path());
        let folder = match ReleaseFolder::take(&self.out, CERTIFICATE, records, self.unfinished)? {
            Taken::Free(folder) => *folder,
            Taken::Complete => return Ok(Outcome::WasComplete),
        };
        let files = self.record_files()?;
        let mut report = ValidationReport::new();
        let Some(inputs) = self.inputs(&mut report) else { return refuse(report) };
        let (counted, records) = match &self.cluster {
            None => self.count(&inputs, &files, report, folder.part(), progress)?,
            Some(cluster) => {
                cluster.check(&files)?;
                count_on_cluster(self, cluster, &inputs, &files, report, folder.part(), progress)?
            }
        };
        // Edited files are hashed in their original form.
        let hashed = match &inputs.public().cef {
            None => files,
            Some(cef) => RecordFiles { text: cef.all(), parquet: Vec::new() },
        };
        let hash = hashed.hash(&mut |done, of| progress(Progress { stage: "hashing records", done, of }))?;

        progress(Progress { stage: "accounting", done: 0, of: 0 });
        let passes = inputs.passes()?;
        let guarantees = passes.guarantees(&inputs, &self.delta)?;
        let hashes = self.paths().hashes()?;

        let release = Release { inputs: &inputs, passes: &passes, hashes: &hashes, counted: &counted };
        let (certificate, page, unlogged) = self.draw_and_publish(folder, release, guarantees, &hash, progress)?;
        Ok(Outcome::Released { certificate, page, records, unlogged })
    }

    /// Checks and counts all records; also returns their number.
    fn count<'a>(
        &self,
        inputs: &'a Inputs,
        files: &RecordFiles,
        report: ValidationReport,
        folder: &Path,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(Counted<'a>, u64)> {
        let PublicInputs { specification, geography, .. } = inputs.public();
        let mut counting = Counting::new(inputs.kind(), specification, geography, folder)?;
        let checked = self.each_record(inputs, (files, None), report, progress, &mut |record| counting.add(record))?;
        progress(Progress { stage: "counting", done: 0, of: 0 });
        Ok((counting.finish()?, checked.records))
    }

    /// Writes the tables without noise into a new folder: for records that are not confidential, such as synthetic ones. Only for
    /// households. For persons the folder stays empty.
    pub fn write_exact_households(&self, out: &Path) -> Result<()> {
        let folder = tempfile::tempdir().map_err(|why| file_error(out, why))?;
        let mut report = ValidationReport::new();
        let Some(inputs) = self.inputs(&mut report) else { return refuse(report) };
        let (counted, _) = self.count(&inputs, &self.record_files()?, report, folder.path(), &mut |_| {})?;
        crate::io::files::fill_folder(out, |out| {
            if let Passes::Households(passes) = inputs.passes()? {
                for (pass, levels) in &passes {
                    let mut tables = HouseholdTables::create(out, *pass, None)?;
                    for level in levels {
                        count_households(HouseholdTabulation::exact(level), level, &counted, &mut |batch| {
                            tables.write(level, &batch)
                        })?;
                    }
                    tables.finish()?;
                }
            }
            Ok(())
        })
    }

    /// Logs the coming draw, adds noise to all levels, and publishes the tables with the certificate, which is returned as JSON and as a
    /// page.
    fn draw_and_publish(
        &self,
        mut folder: ReleaseFolder,
        run: Release,
        guarantees: RunGuarantees,
        records: &[u8; 32],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(Value, String, Option<String>)> {
        let names = run.passes.names();
        let budget = guarantees.passes.iter().zip(&names).map(|(guarantees, pass)| {
            (certificate::name(*pass).to_string(), guarantees.pass.unbounded.budget.to_string())
        });
        let mut settings = vec![("order of summary levels".to_string(), self.order.to_string())];
        settings.extend(self.note_of_blocks().into_iter().map(|(name, said)| (name.to_string(), said.to_string())));
        let intent = DrawIntent {
            version: env!("CARGO_PKG_VERSION").to_string(),
            inputs: [run.hashes, &settings].concat(),
            budget: budget.collect(),
            unit: run.inputs.unit().to_string(),
            insecure_seed: self.insecure_seed,
        };
        let mut draw = folder.draw(&intent, records, self.unfinished)?;
        let release = folder.release();
        fs::create_dir(&release).map_err(|why| file_error(&release, why))?;

        let written = run.write(&release, &mut draw.streams, progress)?;
        let mut certificate = self.certificate(run.inputs, run.passes, guarantees, run.hashes);
        certificate.draw = Some(draw.number);
        certificate.earlier = EarlierBudgets::of(&draw.earlier, &intent)?;
        for (pass, written) in certificate.passes.iter_mut().zip(written) {
            pass.written = Some(written);
        }
        let (json, page) = (certificate.json(), certificate.page());
        write_text(&release.join(CERTIFICATE), &format!("{json:#}\n"))?;
        write_text(&release.join("certificate.md"), &page)?;
        folder.publish()?;
        Ok((json, page, draw.unlogged))
    }
}

#[cfg(not(feature = "cluster"))]
fn count_on_cluster<'a>(
    _: &Job,
    cluster: &super::cluster::Cluster,
    _: &'a Inputs,
    _: &RecordFiles,
    _: ValidationReport,
    _: &Path,
    _: &mut dyn FnMut(Progress),
) -> Result<(Counted<'a>, u64)> {
    Err(cluster.error("this build has no client of Spark Connect: build it with the feature cluster"))
}

impl Passes {
    fn names(&self) -> Vec<Pass> {
        match self {
            Passes::Persons(passes) => passes.iter().map(|(pass, _)| *pass).collect(),
            Passes::Households(passes) => passes.iter().map(|(pass, _)| *pass).collect(),
        }
    }
}

/// The parts of a release.
struct Release<'a> {
    inputs: &'a Inputs,
    passes: &'a Passes,
    hashes: &'a [(String, String)],
    counted: &'a Counted<'a>,
}

impl Release<'_> {
    /// Adds noise to all levels and writes the tables; returns the numbers written for each pass.
    fn write(
        &self,
        folder: &Path,
        streams: &mut Streams,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Vec<WrittenRows>> {
        let mut done = 0;
        let mut report_done = |more: u64, of: u64| {
            done += more;
            progress(Progress { stage: "adding noise", done, of });
        };
        match (self.inputs, self.passes) {
            (Inputs::Persons(inputs), Passes::Persons(passes)) => {
                let of = passes.iter().flat_map(|(_, levels)| levels).map(TabulatedLevel::groups).sum();
                let write = |(pass, levels): &(Pass, Vec<TabulatedLevel>)| {
                    write_persons(inputs, (*pass, levels), self.counted, folder, streams, &mut |more| {
                        report_done(more, of)
                    })
                };
                passes.iter().map(write).collect()
            }
            (Inputs::Households(inputs), Passes::Households(passes)) => {
                let groups = |level: &HouseholdLevel| level.groups.len() as u64;
                let of = passes.iter().flat_map(|(_, levels)| levels).map(groups).sum();
                let allow = inputs.config.scope().allow_negative_counts();
                let mut write = |(pass, levels): &(Pass, Vec<HouseholdLevel>)| {
                    let mut tables = HouseholdTables::create(folder, *pass, streams.insecure_seed())?;
                    for level in levels {
                        let tabulation = HouseholdTabulation::new(level, allow, streams)?;
                        count_households(tabulation, level, self.counted, &mut |batch| {
                            report_done(batch.groups.len() as u64, of);
                            tables.write(level, &batch)
                        })?;
                    }
                    Ok(WrittenRows { rows: tables.finish()?, coterminous: None })
                };
                passes.iter().map(&mut write).collect()
            }
            // Passes are made from the inputs, so they are of the same kind.
            _ => Ok(Vec::new()),
        }
    }
}

/// Passes the counts of a level of households to a tabulation.
fn count_households(
    mut tabulation: HouseholdTabulation,
    level: &HouseholdLevel,
    counted: &Counted,
    publish: &mut dyn FnMut(HouseholdBatch) -> Result<()>,
) -> Result<()> {
    counted.each_count(level.region_type, level.level, &mut |region, iteration, cell, count| {
        tabulation.count((region, iteration), cell, count, publish)
    })?;
    tabulation.finish(publish)
}

/// Adds noise to all levels of a pass over persons and writes its tables.
fn write_persons(
    inputs: &PersonInputs,
    (pass, levels): (Pass, &[TabulatedLevel]),
    counted: &Counted,
    folder: &Path,
    streams: &mut Streams,
    progress: &mut dyn FnMut(u64),
) -> Result<WrittenRows> {
    let types = inputs.order.region_types(pass);
    let coterminous = Coterminous::new(coterminous::sets(&inputs.public.geography, types));
    let mut tables = ReleaseTables::create(folder, pass, types, coterminous, streams.insecure_seed())?;
    for level in levels {
        let mut tabulation = Tabulation::new(level, inputs.config.scope().allow_negative_counts())?;
        let mut publish = |batch: GroupBatch| {
            progress(batch.tables.len() as u64);
            tables.write(level, &batch)
        };
        counted.each_count(level.region_type, level.level, &mut |region, iteration, cell, count| {
            tabulation.count((region, iteration), cell, count, streams, &mut publish)
        })?;
        tabulation.finish(streams, &mut publish)?;
    }
    let written = tables.finish()?;
    let rows = vec![("t1", written.totals), ("t2", written.cells)];
    Ok(WrittenRows { rows, coterminous: Some(written.coterminous) })
}

fn write_text(path: &Path, text: &str) -> Result<()> {
    write_whole(path, |out| out.write_all(text.as_bytes()).map_err(|why| file_error(path, why)))
}
