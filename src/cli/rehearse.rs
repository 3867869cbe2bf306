//! `assay rehearse`: SafeTab simulated many times on non-confidential records, compared with the truth.

mod charts;
mod document;
mod level;
mod words;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use dp_assay::document::fields::Fields;
use dp_assay::safetab::{
    rehearsal::{CountryRehearsal, MOST_TRIALS, Rehearsal, RehearsalRecords, Rehearsed, RehearsedLevel},
    schema::TotalsCheck,
    tabulate::CefUnits,
};
use serde_json::{Value, json};

use super::{
    arguments::first_given, arguments::quantity, exit::Exit, invocation, mechanism::Randomness, page::FormArgs,
    page::Page, progress, tabulate::BUREAU_ORDER,
};

/// Simulate SafeTab many times on non-confidential records, and compare the published counts with the truth
///
/// Writes a folder: the truth in the form of a release, error reports in the bureau's columns and more, and a page with charts. The
/// records are made up (--made-up), or read from text files of public or invented data. All output is as confidential as the
/// records: no noise protects reports and truth. Exit status 1 if a stated margin or
/// probability does not agree with the observations.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("records").required(true).args(["made_up", "persons", "households"]))]
pub struct Args {
    /// The configuration of SafeTab-P or SafeTab-H; it determines which of both is rehearsed
    #[arg(long, value_name = "config.json")]
    config: Option<PathBuf>,
    /// The folder of the four files of races, ethnicities and iterations; without --config the specification file of another country
    #[arg(long, value_name = "DIR|FILE.toml")]
    spec: PathBuf,
    /// The blocks; of another country a CSV of its areas
    #[arg(long, value_name = "GRF-C.txt|FILE.csv")]
    geography: PathBuf,
    /// The number of made-up persons or households
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    made_up: Option<u64>,
    /// The seed of made-up records: the same number gives the same records
    #[arg(long, value_name = "S", default_value_t = 1, conflicts_with_all = ["persons", "households"])]
    population_seed: u64,
    /// A text file of person records, or a folder of such
    #[arg(long, value_name = "FILE|DIR")]
    persons: Option<PathBuf>,
    /// A text file of household records, or a folder of such
    #[arg(long, value_name = "FILE|DIR")]
    households: Option<PathBuf>,
    /// Edited unit files (CEF20_UNIT): --persons or --households then names edited person files (CEF20_PER)
    #[arg(long, value_name = "FILE|DIR", conflicts_with = "made_up")]
    units: Option<PathBuf>,
    /// Keep blocks without a unit, which the bureau's reader removes from the geography
    #[arg(long, requires = "units", conflicts_with = "made_up")]
    all_blocks: bool,
    /// For households: published totals t1, a file or a folder of such [default: made up, 5 persons for 2 households]
    #[arg(long, value_name = "FILE|DIR")]
    totals: Option<PathBuf>,
    /// Accept totals of regions that the geography does not have, as the bureau's program does
    #[arg(long, requires = "totals")]
    totals_as_given: bool,
    /// The order of summary levels for persons, highest first
    #[arg(long, value_name = "TYPE,...", default_value = BUREAU_ORDER)]
    summary_levels: String,
    /// How many times noise is drawn for every group
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_TRIALS)))]
    trials: u32,
    /// The folder to write, which must be empty or not exist
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    randomness: Randomness,
    #[command(flatten)]
    form: FormArgs,
}

/// The subject of a rehearsal.
enum Subject {
    Bureau(Rehearsal),
    Country(CountryRehearsal),
}

pub fn run(args: &Args) -> Result<Exit> {
    let subject = match &args.config {
        Some(config) => Subject::Bureau(bureau(args, config)?),
        None => Subject::Country(country(args)?),
    };
    let mut streams = args.randomness.resolve()?;
    let provenance = invocation::provenance()?;
    let mut stage = "";
    let mut report = |at: dp_assay::safetab::tabulate::Progress| {
        if at.stage != stage {
            stage = at.stage;
            progress::stage(stage);
        }
        progress::at(at.done, at.of);
    };
    let mut more = |found: &Rehearsed, folder: &Path| {
        let html = document::page(found, &provenance)?;
        dp_assay::chart::write_page(&folder.join("rehearsal.html"), &html)
    };
    let found = match &subject {
        Subject::Bureau(rehearsal) => rehearsal.run(&mut streams, &mut report, &mut more),
        Subject::Country(rehearsal) => rehearsal.run(&mut streams, &mut report, &mut more),
    }?;
    progress::end();
    put(args.form.page(), &found, args)
}

/// A rehearsal of a country's own specification.
fn country(args: &Args) -> Result<CountryRehearsal> {
    if args.spec.is_dir() {
        bail!("--config is missing: with a folder of the bureau's files in --spec it names their config.json");
    }
    let others = [
        ("--households", args.households.is_some()),
        ("--totals", args.totals.is_some()),
        ("--units", args.units.is_some()),
        ("--summary-levels", args.summary_levels != BUREAU_ORDER),
    ];
    if let Some(option) = first_given(others) {
        bail!("{option} goes with the bureau's files; with a specification file give --persons or --made-up");
    }
    Ok(CountryRehearsal {
        specification: args.spec.clone(),
        geography: args.geography.clone(),
        records: args.persons.clone(),
        made_up: (args.made_up.unwrap_or_default(), args.population_seed),
        trials: args.trials,
        out: args.out.clone(),
    })
}

/// A rehearsal with the bureau's files.
fn bureau(args: &Args, config: &Path) -> Result<Rehearsal> {
    let records = match (args.made_up, &args.persons, &args.households) {
        (Some(count), _, _) => RehearsalRecords::MadeUp { count, seed: args.population_seed },
        (_, Some(path), _) => RehearsalRecords::Persons(path.clone()),
        (_, _, Some(path)) => RehearsalRecords::Households(path.clone()),
        _ => bail!("give --made-up, --persons or --households"),
    };
    let check = if args.totals_as_given { TotalsCheck::AsGiven } else { TotalsCheck::SameVintage };
    Ok(Rehearsal {
        config: config.to_path_buf(),
        specification: args.spec.clone(),
        geography: args.geography.clone(),
        records,
        units: args.units.clone().map(|path| CefUnits { path, all_blocks: args.all_blocks }),
        totals: args.totals.clone().map(|path| (path, check)),
        order: quantity("--summary-levels", &args.summary_levels)?,
        trials: args.trials,
        out: args.out.clone(),
    })
}

/// All results, as text, as an object, and as a record for each level.
fn put(mut page: Page, found: &Rehearsed, args: &Args) -> Result<Exit> {
    let levels: Vec<Value> = found.levels.iter().map(level_json).collect();
    page.records(levels.clone());
    page.object(json!({
        "algorithm": found.algorithm,
        "trials": found.trials,
        "insecure_seed": found.insecure_seed,
        "made_up": found.made_up,
        "records": found.records,
        "tabulated": found.tabulated,
        "holds": found.holds(),
        "levels": levels,
        "out": args.out.display().to_string(),
    }));
    for sentence in words::said(found) {
        page.text(format!("{sentence}\n"));
    }
    page.text("\n");
    page.push(words::levels(found));
    page.text(format!(
        "\nmargin, covers: stated for a cell, and certified; seen: before suppression and replacement. Published: after both.\n\
         written to {0}; the page is {0}/rehearsal.html\n{1}\n",
        dp_assay::error::shown(&args.out),
        words::confidential(found)
    ));
    page.answered(found.holds())
}

/// A level for JSON; counted numbers are exact, means and quantiles are approximations in doubles.
fn level_json(level: &RehearsedLevel) -> Value {
    let margins = level.margins.iter().map(|stated| {
        json!({
            "of": stated.of,
            "margin": stated.margin,
            "coverage": stated.coverage.to_json(),
            "counts": stated.errors.count(),
            "covered": stated.covered(),
            "bias_approximate": stated.errors.mean(),
            "bias_standard_error_approximate": stated.errors.standard_error(),
            "holds": stated.holds(),
        })
    });
    let strata = level.strata.iter().map(|stratum| {
        let (from, to) = stratum.sizes();
        let published: Vec<u64> = stratum.tables.iter().map(|table| table.groups).collect();
        json!({
            "detailed_only": stratum.detailed_only,
            "size_from": from,
            "size_to": to,
            "groups": stratum.groups,
            "suppressed": stratum.suppressed,
            "published_by_table": published,
        })
    });
    let answer = json!({
        "pass": level.pass,
        "region_type": level.region_type,
        "level": level.level,
        "groups": level.groups,
        "empty": level.empty,
        "suppressed": level.suppressed(),
        "holds": level.holds(),
        "margins": margins.collect::<Vec<Value>>(),
        "sizes": strata.collect::<Vec<Value>>(),
    });
    let effect = level.coterminous.as_ref().map(
        |effect| json!({ "replaced": effect.replaced, "filled": effect.filled, "contradicted": effect.contradicted }),
    );
    Fields::from(answer).with_some("coterminous", effect).into()
}
