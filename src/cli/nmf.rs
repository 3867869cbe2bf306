//! `assay nmf`: noisy measurement files checked, audited and estimated from, census variables, and estimates compared.

pub mod audit;
mod codes;
pub mod estimate;
mod missing;

use self::missing::{assumed_in_words, missing_in_words, missing_json};
use std::path::PathBuf;

use anyhow::{Context, Result};
use dp_assay::{
    account::{Account, Delta},
    document::fields::{Fields, said},
    release::Release,
    spine::{bypass, records},
    topdown::nmf::{
        check::{self, LevelReport, NmfReport},
        estimation::estimated::fit_json,
        fit::FitRow,
        tables::{self, quantile},
    },
};
use serde_json::{Value, json};

use super::{
    arguments::quantity,
    exit::Exit,
    output,
    page::{FormArgs, Page},
};

/// The Bureau's noisy measurement files: checked against their release, estimates of any count, and their noise audited
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Check(CheckArgs),
    Estimate(Box<estimate::Args>),
    Audit(audit::Args),
    Codes(codes::Args),
    Compare(CompareArgs),
}

/// Checks a folder against its release, and certifies the epsilon of the published counts
///
/// Every row is read. Geocodes must form a tree, every unit must have all queries of its level or none, every variance must
/// be that of the release for the levels that the unit carries, and the shares on every path must sum to exactly one. The counts of
/// children must fit those of their parents: the exit status is 1 if noise of the release leaves such residuals with a probability below
/// 1e-9, or a state lacks its other part.
#[derive(clap::Args)]
struct CheckArgs {
    /// The product, or the folder that holds it
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// A bundled release that has attributes, or a TOML file of the same form
    #[arg(long, value_name = "NAME|FILE")]
    release: String,
    /// The delta of the exact epsilon
    #[arg(long, value_name = "DELTA", default_value = "1e-10", allow_hyphen_values = true)]
    delta: String,
    #[command(flatten)]
    form: FormArgs,
    /// Print the fit by level and query, not by level alone
    #[arg(long)]
    fit: bool,
    /// An enclosure of relative width at most 10^-D
    #[arg(long, value_name = "D", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=250))]
    digits: u32,
}

/// Compares two files of estimates: differences in standard deviations, and their quantiles
///
/// Both may be of any text form that `assay nmf estimate` writes, or the Bureau's own, a file or the folder tree of its part files. Rows
/// are matched by area, query and cell.
#[derive(clap::Args)]
struct CompareArgs {
    /// The first file
    #[arg(value_name = "FILE")]
    first: PathBuf,
    /// The second file, whose standard deviations are the unit of the differences
    #[arg(value_name = "FILE")]
    second: PathBuf,
    #[command(flatten)]
    form: FormArgs,
}

pub fn run(args: &Args) -> Result<Exit> {
    match &args.command {
        Command::Check(args) => run_check(args),
        Command::Estimate(args) => estimate::run(args),
        Command::Audit(args) => audit::run(args),
        Command::Codes(args) => codes::run(args),
        Command::Compare(args) => run_compare(args),
    }
}

fn run_check(args: &CheckArgs) -> Result<Exit> {
    let delta: Delta = quantity("--delta", &args.delta)?;
    let release = Release::find(&args.release).context("--release")?;
    let report = check::check(&args.folder, &release)?;
    let worst = bypass::worst_path(&report.release)?;
    let epsilon = worst.epsilon(&delta, args.digits)?;
    let (p, q) = epsilon.pair().unwrap_or_default();
    let pair = if worst.in_pairs() { vec![p, q] } else { vec![p] };
    let worst_paths: Vec<String> = pair.iter().map(|path| report.release.dropped_names(*path).join(" ")).collect();
    let mut page = args.form.page();
    let reason = records::reason_without_places(&report.release)?;
    let levels = levels(&report);
    let answer = Fields::from(object(&report, &levels))
        .with("delta", output::exact(&delta))
        .with("epsilon", &epsilon.value)
        .with("epsilon_is", if reason.is_some() { "at most" } else { "exact" })
        .with("worst_paths", &worst_paths);
    page.object(answer);
    page.rows(&levels);
    put_fit(&mut page, args, &report);
    put_constraints(&mut page, &report);
    let digits = args.digits.min(40) as usize;
    let (shown, bound) = match reason {
        None => (epsilon.value.shown(digits), String::new()),
        Some(why) => (format!("at most {}", epsilon.value.upper_text(digits)), format!("; an upper bound: {why}")),
    };
    page.text(format!(
        "epsilon {shown} at delta {}, the worst case: {}{bound}\n",
        output::exact_text(&delta),
        worst_records(&worst_paths)
    ));
    page.answered(report.is_sound())
}

/// The records with the largest epsilon, given the levels that are not on their paths.
fn worst_records(worst_paths: &[String]) -> String {
    let path = |names: &String| match names.as_str() {
        "" => "a record whose block was measured at every level".to_string(),
        names => format!("a record whose block was measured at every level but {}", names.replace(' ', ", ")),
    };
    let mut named: Vec<String> = worst_paths.iter().map(path).collect();
    named.dedup();
    named.join(", and ")
}

/// The files, the parts that are missing, the variances and the constraints, in words.
fn put_constraints(page: &mut Page, report: &NmfReport) {
    let unused = output::line_of("published after the noise, and not used in estimates:", &report.unused);
    let unread = output::line_of("of two histograms or of unknown groups, and not understood:", &report.unread);
    let (missing, assumed) = (missing_in_words(report), assumed_in_words(report));
    let zeros = match report.zeros.len() {
        0 => String::new(),
        1 => format!("one constraint, the same for every unit, fixes {} cells at zero\n", report.zero_cells),
        many => format!("{many} constraints, the same for every unit, fix {} cells at zero\n", report.zero_cells),
    };
    let (files, bytes) = report.files;
    page.text(format!(
        "\n{}: {files} files, {:.1} MB, parts {}\n{missing}{assumed}\
         every variance is one of {}; {}, each summing to exactly one\n{zeros}{unused}{unread}",
        report.product,
        bytes as f64 / 1e6,
        report.parts.join(" "),
        report.release.name,
        output::count_of(report.paths.len() as u64, "different block path"),
    ));
}

/// How the counts of children fit those of their parents.
fn put_fit(page: &mut Page, args: &CheckArgs, report: &NmfReport) {
    for fit in report.fit.iter().filter(|fit| !fit.rows.is_empty()) {
        page.text("\n");
        let cells = |row: &FitRow| {
            let ratio = row.chi_square / row.residuals as f64;
            let numbers = [row.residuals.to_string(), format!("{:.1}", row.chi_square), format!("{ratio:.3}")];
            let first = match (args.fit, row.query.is_empty()) {
                (true, _) => vec![row.level.clone(), row.query.clone()],
                (false, true) => vec![row.level.clone()],
                (false, false) => vec![format!("{}, {}", row.level, row.query)],
            };
            [first, numbers.to_vec(), vec![format!("{:.3}", row.p_asymptotic)]].concat()
        };
        let rows = if args.fit { &fit.rows } else { &fit.levels };
        let first: &[&str] = if args.fit { &["sum of children", "query"] } else { &["sum of children"] };
        let headings = [first, &["df", "chi-square", "ratio", "p (asymptotic)"]].concat();
        let rows = rows.iter().map(cells);
        match args.fit {
            true => page.table_of_pairs(&headings, rows),
            false => page.table(&headings, rows),
        }
        if !args.fit && !fit.within.is_empty() {
            page.text("\n");
            page.table(&[&["queries of a unit"], &headings[1..]].concat(), fit.within.iter().map(cells));
        }
        let largest =
            fit.largest.as_ref().map_or_else(String::new, |largest| format!("largest residual: {}\n", largest.words()));
        let verdict = match fit.is_misfit() {
            true => format!(
                "MISFIT: such residuals have a probability below {} (bound, {} tests): {}",
                fit.p_shown(),
                fit.tests,
                fit.worst
            ),
            false => format!(
                "the counts fit each other (p bound {} of {} tests, refused below 1e-9)",
                fit.p_shown(),
                fit.tests
            ),
        };
        page.text(format!("\n{largest}{verdict}\n"));
    }
}

/// A row for each level.
fn levels(report: &NmfReport) -> Vec<Fields> {
    let shown = |(run, units): (&usize, &u64)| if *run == 1 { units.to_string() } else { format!("{units} x{run}") };
    let row = |level: &LevelReport| {
        let carried = level.carried.iter();
        let object = carried.clone().map(|(run, units)| json!({ "levels": run, "units": units })).collect::<Value>();
        let carried = said(object, carried.map(shown).collect::<Vec<_>>().join(", "));
        Fields::new()
            .shown("name", "level", &level.name)
            .shown("units", "units", level.units)
            .shown("measured", "with counts", level.measured)
            .shown("noisy_counts", "noisy counts", level.counts)
            .shown("geocode_digits", "digits", level.width)
            .shown("carried", "levels carried", carried)
    };
    report.levels.iter().map(row).collect()
}

fn object(report: &NmfReport, levels: &[Fields]) -> Value {
    let names =
        |dropped: &Vec<usize>| dropped.iter().map(|level| report.levels[*level].name.clone()).collect::<Vec<_>>();
    let paths = report.paths.iter().map(|(dropped, blocks)| json!({ "dropped": names(dropped), "blocks": blocks }));
    let paths: Vec<Value> = paths.collect();
    json!({
        "product": report.product,
        "release": report.release.name,
        "files": report.files.0,
        "bytes": report.files.1,
        "parts": report.parts,
        "levels": levels,
        "paths": paths,
        "unused_constraints": report.unused,
        "unread_constraints": report.unread,
        "zeros": { "constraints": report.zeros, "cells": report.zero_cells },
        "missing": missing_json(report),
        "fit": report.fit.iter().map(fit_json).collect::<Value>(),
        "sound": report.is_sound(),
    })
}

/// The quantiles to show.
const LEVELS: [f64; 7] = [0.0, 0.025, 0.25, 0.5, 0.75, 0.975, 1.0];

fn run_compare(args: &CompareArgs) -> Result<Exit> {
    let found = tables::compare(&args.first, &args.second)?;
    let (n, scores) = (found.scores.len(), &found.scores);
    let mean_square = (n > 0).then(|| scores.iter().map(|z| z * z).sum::<f64>() / n as f64);
    let beyond = scores.iter().filter(|z| z.abs() > 1.959_963_984_540_054).count();
    let mut page = args.form.page();
    let quantiles = |numbers: &[f64]| {
        LEVELS.iter().map(|level| json!({ "level": level, "value": quantile(numbers, *level) })).collect::<Value>()
    };
    page.object(json!({
        "rows": found.rows,
        "only_first": found.alone.0,
        "only_second": found.alone.1,
        "different_exact": found.different_exact,
        "z": quantiles(scores),
        "z_mean_square": mean_square,
        "z_beyond_margin": beyond,
        "std_dev_ratio": quantiles(&found.ratios),
        "largest": found.largest.as_ref().map(|(key, a, b)| json!({ "row": key, "first": a, "second": b })),
    }));
    let shown = |number: Option<f64>| number.map_or("-".to_string(), |number| format!("{number:.6}"));
    let row = |level: f64| {
        let [z, ratio] = [scores, &found.ratios].map(|numbers| quantile(numbers, level));
        Fields::new()
            .shown("level", "quantile", said(level, format!("{} %", 100.0 * level)))
            .shown("z", "z", said(z, shown(z)))
            .shown("std_dev_ratio", "ratio of std_dev", said(ratio, shown(ratio)))
    };
    page.rows(&LEVELS.map(row));
    let largest = found.largest.as_ref().map_or_else(String::new, |(key, first, second)| {
        format!("largest difference: {key}, {first:.3} and {second:.3}\n")
    });
    page.text(format!(
        "\n{} rows in both, {} only in the first, {} only in the second; {} exact in the second but different\n\
         z = (first - second) / std_dev of the second: mean square {}, {beyond} beyond the 95 % margin of the \
         second alone, which is not that of the difference\n{largest}",
        found.rows,
        found.alone.0,
        found.alone.1,
        found.different_exact,
        shown(mean_square),
    ));
    page.done()
}
