//! `assay estimate --published-counts FILE`: intervals for the true counts of the Detailed DHC.

use std::{collections::BTreeMap, path::Path};

use anyhow::{Context, Result, bail};
use dp_assay::{
    document::fields::Fields,
    release::Release,
    safetab::published::{self, PublishedCount},
};
use rug::Rational;
use serde_json::{Value, json};

use super::{
    arguments::number,
    exit::Exit,
    output::{exact, exact_text},
    page::{Page, csv_text},
};

/// Writes the intervals to `out`, and their summary on the page; the confidence is in percent.
pub fn run(file: &Path, release: &str, confidence: &str, out: &Path, mut page: Page) -> Result<Exit> {
    let percent = number("--confidence", confidence)?;
    if percent <= 0 || percent >= 100 {
        bail!("--confidence {confidence} is out of range: expected percent above 0 and below 100, as 90");
    }
    let release = Release::find(release).context("--release")?;
    let level = Rational::from(&percent / 100_u32);
    let rows = published::rows(file, &release, &level).context("--published-counts")?;
    if rows.is_empty() {
        bail!("--published-counts: {}: no counts below the header", dp_assay::error::shown(file));
    }
    let records: Vec<Value> = rows.iter().map(|row| record(row).into()).collect();
    published::write(out, &csv_text(&records)).context("--out")?;
    put(&mut page, &rows, &release, &percent, out);
    page.records(records.clone());
    page.object(json!({
        "release": release.name,
        "confidence": exact(&percent),
        "counts": records,
        "errors_of_one_count_at_most": exact(&Rational::from(1 - &level)),
    }));
    page.done()
}

fn record(row: &PublishedCount) -> Fields {
    let interval = row.said.as_ref().ok();
    Fields::new()
        .with("region_type", &row.region_type)
        .with("geoid", &row.geoid)
        .with("level", row.level)
        .with("group", &row.group)
        .with("variable", &row.variable)
        .with("count", row.count)
        .with("lower", interval.map(|own| own.ends[0]))
        .with("upper", interval.map(|own| own.ends[1]))
        .with("noisy_cells", interval.map(|own| own.cells))
        .with("sigma2", interval.map(|own| exact(&own.sigma2)))
        .with("published_from", interval.and_then(|own| own.published_from))
        .with("reason", row.said.as_ref().err())
}

/// The most counts that are shown.
const SHOWN: usize = 20;

fn put(page: &mut Page, rows: &[PublishedCount], release: &Release, percent: &Rational, out: &Path) {
    let name = |row: &PublishedCount| {
        vec![
            format!("{} {}", row.region_type, row.geoid),
            row.group.clone(),
            row.variable.clone(),
            row.count.to_string(),
        ]
    };
    let cells = |row: &PublishedCount| {
        let mut cells = name(row);
        cells.extend(match &row.said {
            Ok(own) => [own.ends[0].to_string(), own.ends[1].to_string()],
            Err(_) => ["-".to_string(), "-".to_string()],
        });
        cells
    };
    page.table(&["region", "group", "variable", "count", "at least", "at most"], rows.iter().take(SHOWN).map(cells));
    let more = if rows.len() > SHOWN { format!("\n{SHOWN} of {} counts.\n", rows.len()) } else { String::new() };
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    rows.iter().filter_map(|row| row.said.as_ref().err()).for_each(|why| *reasons.entry(why).or_default() += 1);
    let refused: String =
        reasons.iter().map(|(why, count)| format!("\nNo interval for {count} of them: {why}.\n")).collect();
    let errors = exact_text(&Rational::from(100 - percent));
    page.text(format!(
        "{more}{refused}\nAll counts with their intervals: {}\n\n\
         An interval is for the count of the census's edited file, by the noise of {}. Before the noise was drawn, the probability that a count would be published with an interval that \
         misses its true count was at most {errors} %. This is about one count: of many intervals some miss, and of small groups those with large noise are published.\n",
        dp_assay::error::shown(out),
        release.name,
    ));
}
