//! A run from beginning to end: input checked, guarantees computed, persons counted, noise drawn, the release published.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{
    certificate::{self, CertifiedPass, TabulationCertificate},
    coterminous::{Coterminous, Entity},
    counting::{count, iterations_table, regions_table},
    draw_log::DrawIntent,
    engine::Engine,
    guarantees::RunGuarantees,
    inputs::{InputPaths, PublicInputs},
    levels::TabulatedLevel,
    output::{ReleaseTables, Written},
    person_files::PersonFiles,
    queries::each_count,
    release_folder::{ReleaseFolder, Taken, UnfinishedDraw},
    two_stage::{GroupBatch, Tabulation},
};
use crate::{
    account::Delta,
    error::Result,
    files::{file_error, write_whole},
    noise::Streams,
    safetab::schema::Pass,
};

/// What is to be released, from what, and where.
#[derive(Clone, Debug)]
pub struct Job {
    /// config.json.
    pub config: PathBuf,
    /// The folder of the specification files.
    pub specification: PathBuf,
    /// A file of persons, or a folder of such: `*.txt` and `*.csv` as text, `*.parquet`.
    pub persons: PathBuf,
    /// GRF-C.txt.
    pub geography: PathBuf,
    /// The folder of the release, which must not exist yet.
    pub out: PathBuf,
    /// The delta of the certificate.
    pub delta: Delta,
    /// A seed that everybody may know, for tests; `None` for noise that protects.
    pub insecure_seed: Option<u64>,
    /// What to do about a draw that was not completed.
    pub unfinished: UnfinishedDraw,
}

/// How far a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What it does now.
    pub stage: &'static str,
    /// How much of that is done.
    pub done: u64,
    /// How much there is to do; zero if that is not known.
    pub of: u64,
}

/// The outcome of a job.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The release is complete.
    Released {
        /// The certificate, as public as the release.
        certificate: Value,
        /// The same for a person to read.
        page: String,
        /// How many records were read: confidential.
        records: u64,
    },
    /// The release was complete before; only the end of its log was missing.
    WasComplete,
}

impl Job {
    /// Runs it. `progress` is told now and then how far it is.
    pub fn run(&self, progress: &mut dyn FnMut(Progress)) -> Result<Outcome> {
        let folder = match ReleaseFolder::take(&self.out, self.unfinished)? {
            Taken::Free(folder) => folder,
            Taken::Complete => return Ok(Outcome::WasComplete),
        };
        let paths = InputPaths {
            config: &self.config,
            specification: &self.specification,
            persons: &self.persons,
            geography: &self.geography,
        };
        let files = PersonFiles::find(&self.persons)?;
        let engine = Engine::new(folder.part())?;
        let (public, records) =
            paths.read(&files, &engine, &mut |done, of| progress(Progress { stage: "checking records", done, of }))?;
        let hash = files.hash(&mut |done, of| progress(Progress { stage: "hashing records", done, of }))?;

        progress(Progress { stage: "accounting", done: 0, of: 0 });
        let passes = public.passes()?;
        let guarantees = RunGuarantees::new(public.config.privacy(), &self.delta, &passes)?;
        let inputs = paths.hashes()?;

        progress(Progress { stage: "counting", done: 0, of: 0 });
        count(&public, &engine, &files, records)?;

        let (certificate, page) =
            self.draw_and_publish(folder, &public, &engine, (&passes, guarantees), &inputs, &hash, progress)?;
        Ok(Outcome::Released { certificate, page, records })
    }

    /// Writes down what is about to be drawn, adds noise to all levels, and publishes the tables with the certificate,
    /// which is returned in JSON and as a page.
    #[allow(clippy::too_many_arguments)] // Each is one result of the steps before.
    fn draw_and_publish(
        &self,
        mut folder: ReleaseFolder,
        public: &PublicInputs,
        engine: &Engine,
        (passes, guarantees): (&[(Pass, Vec<TabulatedLevel>)], RunGuarantees),
        inputs: &[(String, String)],
        persons: &[u8; 32],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(Value, String)> {
        let budget = guarantees.passes.iter().zip(passes).map(|(guarantees, (pass, _))| {
            (certificate::name(*pass).to_string(), guarantees.pass.unbounded.budget.to_string())
        });
        let intent = DrawIntent {
            version: env!("CARGO_PKG_VERSION").to_string(),
            inputs: inputs.to_vec(),
            budget: budget.collect(),
            insecure_seed: self.insecure_seed,
        };
        let mut draw = folder.draw(&intent, persons, self.unfinished)?;
        let release = folder.release();
        fs::create_dir(&release).map_err(|why| file_error(&release, why))?;

        let groups = passes.iter().flat_map(|(_, levels)| levels).map(TabulatedLevel::groups).sum();
        let mut tabulated = 0;
        let mut certified = Vec::new();
        for ((pass, levels), guarantees) in passes.iter().zip(guarantees.passes) {
            let written = tabulate(public, (*pass, levels), engine, &release, &mut draw.streams, &mut |more| {
                tabulated += more;
                progress(Progress { stage: "adding noise", done: tabulated, of: groups });
            })?;
            let levels = levels.iter().zip(guarantees.levels).collect();
            certified.push(CertifiedPass { pass: *pass, guarantees: guarantees.pass, levels, written });
        }
        let certificate = TabulationCertificate {
            privacy: public.config.privacy(),
            delta: &self.delta,
            gamma: public.config.gamma(),
            allow_negative_counts: public.config.allow_negative_counts(),
            insecure_seed: self.insecure_seed,
            draw: (draw.number, draw.earlier),
            inputs,
            passes: certified,
            total: guarantees.run,
        };
        let (json, page) = (certificate.json(), certificate.page());
        write_text(&release.join("certificate.json"), &format!("{json:#}\n"))?;
        write_text(&release.join("certificate.md"), &page)?;
        folder.publish()?;
        Ok((json, page))
    }
}

/// Adds noise to all levels of a pass and writes its tables.
fn tabulate(
    public: &PublicInputs,
    (pass, levels): (Pass, &[TabulatedLevel]),
    engine: &Engine,
    release: &Path,
    streams: &mut Streams,
    progress: &mut dyn FnMut(u64),
) -> Result<Written> {
    let mut tables = ReleaseTables::create(release, pass, coterminous(public, pass), streams.insecure_seed())?;
    for level in levels {
        let mut tabulation = Tabulation::new(level, public.config.allow_negative_counts())?;
        let mut publish = |batch: GroupBatch| {
            progress(batch.tables.len() as u64);
            tables.write(level, &batch)
        };
        let iterations = iterations_table(level.region_type.granularity(), level.level);
        each_count(engine, &regions_table(level.region_type), &iterations, &mut |region, iteration, cell, count| {
            tabulation.count((region, iteration), cell, count, streams, &mut publish)
        })?;
        tabulation.finish(streams, &mut publish)?;
    }
    tables.finish()
}

/// The entities of a pass that are made of the same blocks.
fn coterminous(public: &PublicInputs, pass: Pass) -> Coterminous {
    let mut entities: HashMap<[u8; 32], Vec<Entity>> = HashMap::new();
    for (place, &region_type) in pass.region_types().iter().enumerate() {
        let mut blocks: Vec<Sha256> = vec![Sha256::new(); public.geography.entities(region_type).len()];
        for block in 0..public.geography.len() as u32 {
            if let Some(region) = public.geography.region(block, region_type) {
                blocks[region as usize].update(block.to_le_bytes());
            }
        }
        for (region, hash) in (0..).zip(blocks) {
            entities.entry(hash.finalize().into()).or_default().push((place, region));
        }
    }
    Coterminous::new(entities.into_values().filter(|set| set.len() > 1))
}

fn write_text(path: &Path, text: &str) -> Result<()> {
    write_whole(path, |out| out.write_all(text.as_bytes()).map_err(|why| file_error(path, why)))
}
