//! The deviations that a number of draws, or those of a folder, would show.

use std::path::Path;

use anyhow::{Context, Result, bail};
use dp_assay::{
    audit::{
        Audited,
        power::{Level, SIZED, Sized, percent, smallest_approx},
        report::POWER,
    },
    document::fields::Fields,
    law::Law,
    release::Release,
    topdown::nmf::audit::{self, Volume},
};
use rug::Rational;
use serde_json::{Value, json};

use crate::cli::{
    audit::{parse_law, size},
    exit::Exit,
    output::{exact, exact_text},
    page::Page,
};

/// Tests of a level and query.
const TESTS: u64 = 15;

/// The keys of the kinds of faults that are stated, in the order of [`SIZED`]; a smaller sigma2 is as visible as a larger one.
const KEYS: [Option<&str>; SIZED.len()] =
    [Some("sigma2_larger"), None, Some("even"), Some("mean"), Some("correlation"), Some("cut")];

/// The kinds that are stated, with their keys.
fn kinds() -> impl Iterator<Item = (&'static str, &'static Sized)> {
    KEYS.iter().zip(&SIZED).filter_map(|(key, kind)| Some(((*key)?, kind)))
}

/// The draws whose power is stated.
pub(super) struct Asked<'a> {
    pub(super) folder: Option<&'a Path>,
    pub(super) release: Option<&'a str>,
    pub(super) law: Option<&'a str>,
    pub(super) draws: Option<u64>,
}

pub(super) fn run(asked: &Asked, rate: &Rational, mut page: Page) -> Result<Exit> {
    let volumes = volumes(asked)?;
    if volumes.is_empty() {
        bail!("no count in the files is noise alone");
    }
    let level = Level { rate: rate.to_f64(), tests: TESTS * volumes.len() as u64 };
    let records = volumes.iter().map(|volume| record(volume, level)).collect::<Result<Vec<Value>>>()?;
    let rows = records.iter().zip(&volumes).map(|(record, volume)| {
        let names = [volume.level.clone(), volume.query.clone(), volume.draws.to_string()];
        names.into_iter().chain(kinds().map(|(key, _)| cell(record, key))).collect()
    });
    page.table_of_pairs(
        &["level", "query", "draws", "sigma2 larger by", "even numbers", "mean", "correlation", "cut at"],
        rows,
    );
    page.text(format!(
        "\nThe smallest deviations that these draws show with probability {POWER}, at a false alarm rate of {} over all queries. Mean and cut in \
         standard deviations. All numbers are approximations.\n",
        exact_text(rate)
    ));
    page.object(json!({ "false_alarm_rate": exact(rate), "power": POWER, "shows_approx": records.clone() }));
    page.records(records);
    page.done()
}

/// The draws of each level and query: those of a folder, or as many of each as the user states.
fn volumes(asked: &Asked) -> Result<Vec<Volume>> {
    match (asked.folder, asked.law, asked.release, asked.draws) {
        (Some(folder), _, Some(release), _) => {
            let release = Release::find(release).context("--release")?;
            Ok(audit::volumes(folder, &release)?)
        }
        (None, Some(law), _, Some(draws)) => {
            let law = parse_law(law)?;
            let Some(sigma2) = law.discrete_sigma2().cloned() else {
                bail!(
                    "--law {law}: expected discrete-gaussian:SIGMA2, as the noise in such files; `assay audit --power` takes other laws"
                );
            };
            Ok(vec![Volume { level: String::new(), query: law.to_string(), sigma2, draws }])
        }
        (None, _, Some(release), Some(draws)) => {
            let release = Release::find(release).context("--release")?;
            let mut found = Vec::new();
            for level in &release.levels {
                for query in &level.queries {
                    let (level, sigma2) = (level.name.clone(), query.sigma2()?.clone());
                    found.push(Volume { level, query: query.name.clone(), sigma2, draws });
                }
            }
            Ok(found)
        }
        _ => bail!("--power needs --draws N with --release or --law, or a folder with --release"),
    }
}

/// The smallest deviations of each kind that the draws show.
fn record(volume: &Volume, level: Level) -> Result<Value> {
    let audited = Audited::of_law(&Law::DiscreteGaussian { sigma2: volume.sigma2.clone() }).context("--release")?;
    let record = json!({
        "level": volume.level,
        "query": volume.query,
        "sigma2": exact(&volume.sigma2),
        "draws": volume.draws,
    });
    let found = |kind: &Sized| smallest_approx(&audited, kind, POWER, volume.draws, level);
    let size = |kind: &Sized| found(kind).and_then(|power| size(power.fault));
    Ok(kinds().fold(Fields::from(record), |record, (key, kind)| record.with(key, size(kind))).into())
}

fn cell(record: &Value, key: &str) -> String {
    match record[key].as_f64() {
        None => "-".to_string(),
        Some(size) if key == "cut" => format!("{size:.2}"),
        Some(size) if key == "mean" || key == "correlation" => format!("{size:.2e}"),
        Some(size) => percent(size),
    }
}
