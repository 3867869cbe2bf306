//! Noisy counts as files: a folder with a CSV for each query group of each level, and `measurements.json`, which
//! describes them. The folder is either complete or absent, and is never written twice: a second draw would spend a
//! second budget.

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::Path,
};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    histograms::Histograms,
    measure::{MeasurementPlan, NoisyCounts},
};
use crate::{
    error::{Error, Result},
    io::files::{self, file_error},
    loss::law::Law,
    noise::Streams,
    numeric::rational,
    release::schema::MOST_CELLS,
    spine::{
        csv_table::{CsvTable, quoted},
        own::UnitIds,
        spine_files::SavedSpine,
    },
};

/// The file that describes the others.
pub const MANIFEST: &str = "measurements.json";

/// The content of `measurements.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The program and its version.
    pub written_by: String,
    /// The release that was drawn.
    pub release: String,
    /// The privacy of all noisy counts together, as the program states it.
    #[serde(default)]
    pub privacy: Value,
    /// The number of the draw in its log, from 1; `None` if it was drawn without a log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draw: Option<u64>,
    /// The draws of the same records before this one, and their budgets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier_draws: Option<u64>,
    /// For each of them with the unit and the neighbors of this draw, its budget as an exact fraction.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub earlier_budgets_exact: Value,
    /// The number of the others.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub earlier_draws_of_another_unit: Value,
    /// Their budgets.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub earlier_budgets_of_other_units: Value,
    /// The number of earlier draws into other folders.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub earlier_draws_into_other_folders: Value,
    /// The budget of all draws together; null where units or neighbors differ.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub all_draws: Value,
    /// The budget of this draw and all earlier ones of its unit and neighbors, where that is not the budget of all.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub draws_of_this_unit: Value,
    /// The seed, if anybody who knows it can subtract the noise.
    pub insecure_seed: Option<u64>,
    /// The parts by state, in the layout of noisy measurement files: all of them together form the nation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<String>,
    /// The files, level by level.
    pub files: Vec<MeasurementFile>,
    /// The program, command line and inputs that produced them.
    #[serde(default)]
    pub provenance: Value,
}

/// The description of a draw besides its counts.
#[derive(Clone, Debug)]
pub struct Said {
    /// The release.
    pub release: String,
    /// The privacy of all noisy counts together.
    pub privacy: Value,
    /// The program, command line and inputs that produced it.
    pub provenance: Value,
    /// The number of the draw, if a log counts draws.
    pub draw: Option<u64>,
    /// The keys about earlier draws of the same records.
    pub earlier: Map<String, Value>,
}

impl Said {
    /// The manifest, without files so far.
    pub(super) fn manifest(mut self, streams: &Streams) -> Manifest {
        let mut earlier = |key: &str| self.earlier.remove(key).unwrap_or_default();
        Manifest {
            written_by: format!("assay {}", env!("CARGO_PKG_VERSION")),
            release: self.release,
            privacy: self.privacy,
            draw: self.draw,
            earlier_draws: earlier("earlier_draws").as_u64(),
            earlier_budgets_exact: earlier("earlier_budgets_exact"),
            earlier_draws_of_another_unit: earlier("earlier_draws_of_another_unit"),
            earlier_budgets_of_other_units: earlier("earlier_budgets_of_other_units"),
            earlier_draws_into_other_folders: earlier("earlier_draws_into_other_folders"),
            all_draws: earlier("all_draws"),
            draws_of_this_unit: earlier("draws_of_this_unit"),
            insecure_seed: streams.insecure_seed(),
            parts: Vec::new(),
            files: Vec::new(),
            provenance: self.provenance,
        }
    }
}

/// One file: a row for each unit of the level that carries a share, with the number of the unit, its GEOID or id, the
/// parameter of the noise on each of its counts (sigma2 or epsilon) and the counts. Files of earlier versions have no
/// GEOID.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasurementFile {
    /// Its path in the folder.
    pub file: String,
    /// The number of the level, from the root.
    pub level: usize,
    /// The name of the level.
    pub level_name: String,
    /// The query group.
    pub query: String,
    /// The number of counts of a unit.
    pub counts: usize,
    /// The number of units with a row.
    pub units: usize,
    /// The law of the noise.
    pub law: String,
}

/// Refuses a folder that is not free.
pub fn check_free(folder: &Path) -> Result<()> {
    files::check_free(folder)
}

/// Draws all noisy counts and writes them into an empty or new folder, with the caller's description. `progress`
/// receives the number of counts drawn, and the number of all counts; its error ends the work.
pub fn write(
    plan: &MeasurementPlan,
    saved: &SavedSpine,
    said: Said,
    histograms: &Histograms,
    streams: &mut Streams,
    folder: &Path,
    progress: &mut dyn FnMut(u64, u64) -> Result<()>,
) -> Result<Manifest> {
    let mut manifest = said.manifest(streams);
    let insecure_seed = manifest.insecure_seed;
    let ids = &saved.ids;
    files::fill_folder(folder, |folder| {
        let mut open: Option<(usize, usize, OpenFile)> = None;
        let format = |measured: NoisyCounts| Ok((rows(plan, ids, &measured), measured.values.len()));
        let mut done = 0;
        plan.measure(histograms, streams, format, |level, query, (text, counts)| {
            if open.as_ref().is_none_or(|(l, q, _)| (*l, *q) != (level, query)) {
                if let Some((_, _, done)) = open.take() {
                    done.close()?;
                }
                let described = describe(plan, &saved.names, level, query);
                open =
                    Some((level, query, OpenFile::create(folder, &described, (plan, ids.heading()), insecure_seed)?));
                manifest.files.push(described);
            }
            done += counts as u64;
            progress(done, plan.counts())?;
            open.as_mut().map_or(Ok(()), |(_, _, file)| file.put(&text))
        })?;
        if let Some((_, _, done)) = open.take() {
            done.close()?;
        }
        let path = folder.join(MANIFEST);
        let text = serde_json::to_string_pretty(&manifest).map_err(|why| file_error(&path, why))?;
        files::write_whole(&path, |out| writeln!(out, "{text}").map_err(|why| file_error(&path, why)))
    })?;
    Ok(manifest)
}

/// The descriptions of all files, level by level and query by query.
pub(super) fn described(plan: &MeasurementPlan, names: &[String]) -> Vec<MeasurementFile> {
    let of_level = |level: usize| (0..plan.levels()[level].len()).map(move |query| (level, query));
    let all = (0..names.len()).flat_map(of_level);
    all.map(|(level, query)| describe(plan, names, level, query)).filter(|described| described.units > 0).collect()
}

fn describe(plan: &MeasurementPlan, names: &[String], level: usize, query: usize) -> MeasurementFile {
    let asked = &plan.levels()[level][query];
    let slug = |name: &str| -> String {
        let plain = name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' });
        let words: String = plain.collect();
        words.split('-').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-").chars().take(60).collect()
    };
    // One law for all units, with other parameters.
    let law = (0..=names.len()).find_map(|carried| asked.law(carried)).map_or("discrete Gaussian", Law::name);
    MeasurementFile {
        // The numbers distinguish files if the names do not.
        file: format!("{level}-{}/{query}-{}.csv", slug(&names[level]), slug(&asked.group.name)),
        level,
        level_name: names[level].clone(),
        query: asked.group.name.clone(),
        counts: asked.group.counts(),
        units: plan.measured(level).len(),
        law: law.to_string(),
    }
}

fn rows(plan: &MeasurementPlan, ids: &UnitIds, measured: &NoisyCounts) -> Vec<u8> {
    let asked = &plan.levels()[measured.level][measured.query];
    let parameter = |carried: usize| asked.law(carried).map(|law| law.parameter().to_string()).unwrap_or_default();
    let most = plan.spine().tree.levels() - measured.level;
    let parameters: Vec<String> = (0..=most).map(parameter).collect();
    let mut text = Vec::with_capacity(measured.values.len() * 4 + measured.units.len() * 24);
    for (unit, values) in measured.units.iter().zip(measured.values.chunks(asked.group.counts())) {
        let carried = plan.spine().carried(measured.level, *unit as usize);
        // Writing to a vector cannot fail.
        let id = quoted(&ids.unit(measured.level, *unit as usize));
        let _ = write!(text, "{unit},{id},{}", parameters[carried]);
        for value in values {
            let _ = write!(text, ",{value}");
        }
        text.push(b'\n');
    }
    text
}

struct OpenFile {
    path: std::path::PathBuf,
    out: BufWriter<File>,
}

impl OpenFile {
    fn create(
        folder: &Path,
        described: &MeasurementFile,
        (plan, id): (&MeasurementPlan, &str),
        insecure_seed: Option<u64>,
    ) -> Result<OpenFile> {
        let path = folder.join(&described.file);
        // Does not create the folder above: if that was removed, the program is being stopped.
        match path.parent().map(std::fs::create_dir) {
            Some(Err(why)) if why.kind() != std::io::ErrorKind::AlreadyExists => return Err(file_error(&path, why)),
            _ => {}
        }
        let file = File::create_new(&path).map_err(|why| file_error(&path, why))?;
        let mut output = OpenFile { path, out: BufWriter::with_capacity(1 << 20, file) };
        let asked = &plan.levels()[described.level].iter().find(|asked| asked.group.name == described.query);
        let labels = asked.map_or_else(Vec::new, |asked| asked.group.labels());
        let parameter = if described.law == "discrete Laplace" { "epsilon" } else { "sigma2" };
        let unit = insecure_seed.map_or_else(|| "unit".to_string(), |seed| format!("unit (insecure seed {seed})"));
        let cells = [unit.as_str(), id, parameter].into_iter().chain(labels.iter().map(String::as_str)).map(quoted);
        let header = cells.collect::<Vec<_>>().join(",") + "\n";
        output.put(header.as_bytes())?;
        Ok(output)
    }

    fn put(&mut self, text: &[u8]) -> Result<()> {
        self.out.write_all(text).map_err(|why| file_error(&self.path, why))
    }

    fn close(self) -> Result<()> {
        let path = self.path;
        let file = self.out.into_inner().map_err(|why| file_error(&path, why.into_error()))?;
        file.sync_all().map_err(|why| file_error(&path, why))
    }
}

/// Larger integers are not all doubles. The true counts are at most 10^15 in total.
const MOST_COUNT: u64 = 1 << 53;

/// Reads the noisy counts of a folder back: `row` receives for each row the file's description, the unit, the parameter
/// of its noise and its counts.
pub fn read(
    folder: &Path,
    mut row: impl FnMut(&MeasurementFile, usize, &rug::Rational, &[i64]) -> Result<()>,
) -> Result<Manifest> {
    let path = folder.join(MANIFEST);
    let text = crate::io::reading::read_text(&path)?;
    let manifest: Manifest = serde_json::from_str(&text).map_err(|why| Error::DataFile {
        file: crate::error::shown(&path),
        line: why.line(),
        column: why.column(),
        why: why.to_string(),
    })?;
    for described in &manifest.files {
        if described.counts > MOST_CELLS {
            let why = format!("{} counts of a unit: at most {MOST_CELLS} are read", described.counts);
            return Err(Error::DataFile { file: crate::error::shown(&path), line: 0, column: 0, why });
        }
        let mut table = CsvTable::open(&folder.join(&described.file))?;
        let at_parameter = if table.find(&["geoid", "id"]) == Some(1) { 2 } else { 1 };
        let (mut values, mut rows) = (vec![0; described.counts], 0);
        let mut last: (Vec<u8>, rug::Rational) = Default::default();
        while table.next()? {
            if table.width() != at_parameter + 1 + described.counts {
                return Err(table.refuse(0, &format!("a unit, its noise and {} counts are expected", described.counts)));
            }
            let unit = table.whole(0, u64::from(u32::MAX))? as usize;
            let parameter = table.cell(at_parameter);
            if last.0 != parameter {
                let parameter = parameter.to_vec();
                let refuse = |why: &str| table.refuse(at_parameter + 1, why);
                let number = rational::parse(table.text(at_parameter)?).map_err(|why| refuse(&why.to_string()))?;
                if number <= 0 {
                    return Err(refuse("the parameter of the noise must be above 0"));
                }
                last = (parameter, number);
            }
            for (at, value) in (at_parameter + 1..).zip(values.iter_mut()) {
                let text = std::str::from_utf8(table.cell(at)).ok();
                *value = text
                    .and_then(|text| text.parse().ok())
                    .filter(|count: &i64| count.unsigned_abs() <= MOST_COUNT)
                    .ok_or_else(|| {
                        let why = "is no noisy count: expected a whole number from -2^53 to 2^53, which doubles hold";
                        table.refuse(at + 1, &format!("{:?} {why}", table.shown(at)))
                    })?;
            }
            row(described, unit, &last.1, &values)?;
            rows += 1;
        }
        if rows != described.units {
            return Err(table.refuse(0, &format!("{rows} rows, where {MANIFEST} says {}", described.units)));
        }
    }
    Ok(manifest)
}
