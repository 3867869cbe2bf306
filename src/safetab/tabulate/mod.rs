//! From persons to a release: SafeTab-P as a program (2024 paper, Algorithms 1 to 4).
//!
//! A [`Job`] checks all input, accounts for what the run will spend, counts, writes down what it is about to draw, adds
//! noise, and publishes two tables with a certificate. Nothing stands under the name of the release until all of it is on
//! the disk, and no budget is drawn twice unless the curator says so ([`intent`]).
//!
//! - [`plan`]: the population group levels, their noise, thresholds and key sets.
//! - [`account`]: what they reveal together, certified.
//! - `counting` and [`engine`]: the tables, and the questions in SQL.
//! - [`algorithm`] and [`statistics`]: the two stages, and what they count.
//! - [`coterminous`]: entities of the same blocks publish the same counts.
//! - [`output`], [`certificate`]: what is written.

pub mod account;
pub mod algorithm;
pub mod certificate;
pub mod coterminous;
mod counting;
pub mod engine;
pub mod intent;
pub mod output;
pub mod plan;
pub mod statistics;

use std::{
    collections::HashMap,
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

use rug::Rational;
use serde_json::Value;
use sha2::{Digest, Sha256};

use self::{
    account::{Account, Accountant},
    algorithm::Tabulation,
    certificate::{Certificate, CertifiedPass},
    coterminous::{Coterminous, Entity},
    counting::{iterations_table, regions_table},
    engine::{Engine, PersonFiles},
    intent::{Found, Intent, Place, Unfinished},
    output::{Tables, Written},
    plan::LevelPlan,
};
use super::{
    groups::{self, Specification},
    schema::{Findings, Geography, Pass, RowCheck, Settings, check_persons},
};
use crate::{
    account::Delta,
    error::{Error, Result},
    files::{file_error, write_whole},
    noise::Streams,
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
    /// The folder of the release, which is not there yet.
    pub out: PathBuf,
    /// The delta of the certificate.
    pub delta: Rational,
    /// A seed that everybody may know, for tests; nothing for noise that protects.
    pub insecure_seed: Option<u64>,
    /// What to do about a draw that was not completed.
    pub unfinished: Unfinished,
}

/// How far a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What it does now.
    pub stage: &'static str,
    /// How much of that is done,
    pub done: u64,
    /// and of how much; zero where that is not known.
    pub of: u64,
}

/// What became of a job.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The release is there.
    Released {
        /// The certificate, as public as the release.
        certificate: Value,
        /// The same for a person to read.
        page: String,
        /// How many records were read: confidential.
        records: u64,
    },
    /// It had been there already, and only its record was not complete.
    WasComplete,
}

/// The inputs that are public, read.
struct Public {
    settings: Settings,
    specification: Specification,
    geography: Geography,
}

impl Job {
    /// Runs it. `progress` is told now and then how far it is.
    pub fn run(&self, progress: &mut dyn FnMut(Progress)) -> Result<Outcome> {
        Delta::try_from(&self.delta)?;
        let mut place = match Place::take(&self.out, self.unfinished)? {
            Found::Free(place) => place,
            Found::Complete => return Ok(Outcome::WasComplete),
        };
        let files = self.person_files()?;
        let engine = Engine::new(place.part())?;
        let (public, records) = self.check(&files, &engine, progress)?;
        let hash = hash_all(&files, progress)?;

        progress(Progress { stage: "accounting", done: 0, of: 0 });
        let passes = public.passes()?;
        let (accounts, total) = self.accounts(&public.settings, &passes)?;
        let inputs = self.hashes()?;

        progress(Progress { stage: "counting", done: 0, of: 0 });
        public.count(&engine, &files, records)?;

        let spent = accounts.iter().zip(&passes).map(|((account, _), (pass, _))| {
            (certificate::name(*pass).to_string(), account.unbounded.budget.to_string())
        });
        let version = env!("CARGO_PKG_VERSION").to_string();
        let intent =
            Intent { version, inputs: inputs.clone(), budget: spent.collect(), insecure_seed: self.insecure_seed };
        let mut draw = place.draw(&intent, &hash, self.unfinished)?;
        let release = place.release();
        fs::create_dir(&release).map_err(|why| file_error(&release, why))?;

        let groups = passes.iter().flat_map(|(_, levels)| levels).map(LevelPlan::groups).sum();
        let mut tabulated = 0;
        let mut certified = Vec::new();
        for ((pass, levels), (account, of_levels)) in passes.iter().zip(accounts) {
            let written = public.tabulate(*pass, levels, &engine, &release, &mut draw.streams, &mut |more| {
                tabulated += more;
                progress(Progress { stage: "adding noise", done: tabulated, of: groups });
            })?;
            let levels = levels.iter().zip(of_levels).collect();
            certified.push(CertifiedPass { pass: *pass, account, levels, written });
        }
        let certificate = Certificate {
            privacy: public.settings.privacy(),
            delta: &self.delta,
            gamma: public.settings.gamma(),
            allow_negative_counts: public.settings.allow_negative_counts(),
            insecure_seed: self.insecure_seed,
            draw: (draw.number, draw.earlier),
            inputs: &inputs,
            passes: certified,
            total,
        };
        let (json, page) = (certificate.json(), certificate.page());
        write_text(&release.join("certificate.json"), &format!("{json:#}\n"))?;
        write_text(&release.join("certificate.md"), &page)?;
        place.publish()?;
        Ok(Outcome::Released { certificate: json, page, records })
    }

    fn person_files(&self) -> Result<PersonFiles> {
        let is_parquet = |path: &Path| path.extension().is_some_and(|extension| extension == "parquet");
        if !self.persons.is_dir() {
            let files = vec![self.persons.clone()];
            return Ok(match is_parquet(&self.persons) {
                true => PersonFiles { parquet: files, ..PersonFiles::default() },
                false => PersonFiles { text: files, ..PersonFiles::default() },
            });
        }
        let wrong = |why: std::io::Error| file_error(&self.persons, why);
        let mut files = PersonFiles::default();
        for entry in fs::read_dir(&self.persons).map_err(wrong)? {
            let path = entry.map_err(wrong)?.path();
            let is_text = path.extension().is_some_and(|extension| extension == "txt" || extension == "csv");
            match path.is_file() {
                true if is_parquet(&path) => files.parquet.push(path),
                true if is_text => files.text.push(path),
                _ => {}
            }
        }
        files.text.sort();
        files.parquet.sort();
        if files.text.is_empty() && files.parquet.is_empty() {
            return Err(file_error(&self.persons, "has no file of persons: *.txt, *.csv or *.parquet"));
        }
        Ok(files)
    }

    /// Reads and checks all inputs: what is public, and how many records there are.
    fn check(&self, files: &PersonFiles, engine: &Engine, progress: &mut dyn FnMut(Progress)) -> Result<(Public, u64)> {
        let mut findings = Findings::new();
        let Some(settings) = Settings::read(&self.config, &mut findings) else { return refuse(findings) };
        let specification = Specification::read(&self.specification, &settings, &mut findings);
        let geography = Geography::read(&self.geography, &settings, &mut findings);
        let (Some(specification), Some(geography)) = (specification, geography) else { return refuse(findings) };
        let size = |path: &PathBuf| fs::metadata(path).map_or(0, |found| found.len());
        let of = files.text.iter().map(size).sum();
        let mut records = 0;
        if !files.text.is_empty() {
            let tell = |done| progress(Progress { stage: "checking records", done, of });
            let persons = check_persons(&self.persons, &settings, &specification, &geography, &mut findings, tell);
            records += persons.records;
        }
        for file in &files.parquet {
            let name = file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            let check = RowCheck::new(&name, &settings, &specification, &geography);
            engine.each_record(file, &mut |number, fields| {
                records += u64::from(check.check(number, fields, &mut findings).is_some());
                if number % 100_000 == 0 {
                    progress(Progress { stage: "checking records", done: number, of: 0 });
                }
            })?;
        }
        findings.into_result()?;
        Ok((Public { settings, specification, geography }, records))
    }

    /// The account of each pass with those of its levels, and that of all.
    #[allow(clippy::type_complexity)] // One pair per pass.
    fn accounts(
        &self,
        settings: &Settings,
        passes: &[(Pass, Vec<LevelPlan>)],
    ) -> Result<(Vec<(Account, Vec<Account>)>, Account)> {
        let mut accountant = Accountant::new(settings.privacy(), &self.delta);
        let mut accounts = Vec::new();
        for (_, levels) in passes {
            let each = levels.iter().map(|level| accountant.account(&[vec![level]])).collect::<Result<Vec<_>>>()?;
            accounts.push((accountant.account(&[levels.iter().collect()])?, each));
        }
        let all: Vec<Vec<&LevelPlan>> = passes.iter().map(|(_, levels)| levels.iter().collect()).collect();
        Ok((accounts, accountant.account(&all)?))
    }

    /// The hashes of the public inputs, by role.
    fn hashes(&self) -> Result<Vec<(String, String)>> {
        let files = groups::FILES.map(|name| (name.to_string(), self.specification.join(name)));
        let others =
            [("configuration".to_string(), self.config.clone()), ("geography".to_string(), self.geography.clone())];
        let hash = |(role, path): (String, PathBuf)| {
            let mut hasher = Sha256::new();
            hash_file(&path, &mut hasher, &mut |_| {})?;
            let digest = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
            Ok((role, digest))
        };
        others.into_iter().chain(files).map(hash).collect()
    }
}

fn refuse<T>(findings: Findings) -> Result<T> {
    findings.into_result()?;
    Err(Error::Input { report: "an input could not be read".to_string() })
}

impl Public {
    /// The passes that are run, with their levels.
    fn passes(&self) -> Result<Vec<(Pass, Vec<LevelPlan>)>> {
        let mut passes = Vec::new();
        for pass in Pass::ALL {
            if self.settings.runs(pass) {
                let levels = plan::levels(pass, &self.settings, &self.specification, &self.geography)?;
                if !levels.is_empty() {
                    passes.push((pass, levels));
                }
            }
        }
        if passes.is_empty() {
            return Err(Error::out_of_range(
                "the budget",
                0,
                "a pass that is run and a level of it with a budget above 0",
            ));
        }
        Ok(passes)
    }

    /// Adds noise to all levels of a pass and writes its tables.
    fn tabulate(
        &self,
        pass: Pass,
        levels: &[LevelPlan],
        engine: &Engine,
        release: &Path,
        streams: &mut Streams,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Written> {
        let mut tables = Tables::create(release, pass, self.coterminous(pass), streams.insecure_seed())?;
        for plan in levels {
            let mut tabulation = Tabulation::new(plan, self.settings.allow_negative_counts())?;
            let mut publish = |piece: algorithm::Piece| {
                progress(piece.tables.len() as u64);
                tables.write(plan, &piece)
            };
            let iterations = iterations_table(plan.region_type.granularity(), plan.level);
            engine.each_count(
                &regions_table(plan.region_type),
                &iterations,
                &mut |region, iteration, cell, count| {
                    tabulation.count((region, iteration), cell, count, streams, &mut publish)
                },
            )?;
            tabulation.finish(streams, &mut publish)?;
        }
        tables.finish()
    }

    /// The entities of a pass that are made of the same blocks.
    fn coterminous(&self, pass: Pass) -> Coterminous {
        let mut entities: HashMap<[u8; 32], Vec<Entity>> = HashMap::new();
        for (place, &region_type) in pass.region_types().iter().enumerate() {
            let mut blocks: Vec<Sha256> = vec![Sha256::new(); self.geography.entities(region_type).len()];
            for block in 0..self.geography.len() as u32 {
                if let Some(region) = self.geography.region(block, region_type) {
                    blocks[region as usize].update(block.to_le_bytes());
                }
            }
            for (region, hash) in (0..).zip(blocks) {
                entities.entry(hash.finalize().into()).or_default().push((place, region));
            }
        }
        Coterminous::new(entities.into_values().filter(|set| set.len() > 1))
    }
}

/// SHA-256 of all files of persons, one after the other, with their lengths.
fn hash_all(files: &PersonFiles, progress: &mut dyn FnMut(Progress)) -> Result<[u8; 32]> {
    let all = || files.text.iter().chain(&files.parquet);
    let of = all().filter_map(|path| fs::metadata(path).ok()).map(|found| found.len()).sum();
    let mut hasher = Sha256::new();
    let mut done = 0;
    for path in all() {
        let length = hash_file(path, &mut hasher, &mut |more| {
            done += more;
            progress(Progress { stage: "hashing records", done, of });
        })?;
        hasher.update(length.to_le_bytes());
    }
    Ok(hasher.finalize().into())
}

fn hash_file(path: &Path, hasher: &mut Sha256, progress: &mut dyn FnMut(u64)) -> Result<u64> {
    let wrong = |why: std::io::Error| file_error(path, why);
    let mut file = File::open(path).map_err(wrong)?;
    let mut bytes = vec![0; 1 << 20];
    let mut length = 0;
    loop {
        match file.read(&mut bytes).map_err(wrong)? {
            0 => return Ok(length),
            read => {
                hasher.update(&bytes[..read]);
                length += read as u64;
                progress(read as u64);
            }
        }
    }
}

fn write_text(path: &Path, text: &str) -> Result<()> {
    write_whole(path, |out| out.write_all(text.as_bytes()).map_err(|why| file_error(path, why)))
}
