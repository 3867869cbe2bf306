//! `assay nmf audit`: whether the pure noise in noisy measurement files has the laws of its release.

mod power;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use dp_assay::{
    chart::{self, Figure},
    document::fields::Fields,
    release::Release,
    topdown::nmf::{
        audit::{self, Asked, Kind, MOST, NmfAudit, Source},
        complete::is_state,
        totals::GivenTotals,
    },
};
use serde_json::{Value, json};

use super::missing::{assumed_in_words, missing_in_words, missing_json};
use crate::cli::{
    arguments::count,
    audit::{Rate, approximations, shown, test_fields},
    drawn,
    exit::Exit,
    output::{exact, exact_text},
    page::FormArgs,
    progress,
};

/// Tests whether the pure noise in a folder has the laws of its release
///
/// Counts that constraints make zero, sums with an exact total, residuals of children and parents, and those of the queries of one unit are noise alone. They are read in one pass,
/// with all checks of `assay nmf check`. Every p-value is a proven upper bound; Holm's correction over all tests decides. The exit status is 1 if the
/// noise deviates. Published tables were changed after the noise, and cannot be tested.
#[derive(clap::Args)]
pub struct Args {
    /// The product, or the folder that holds it; with --power not needed beside --draws
    #[arg(value_name = "DIR", required_unless_present = "power")]
    folder: Option<PathBuf>,
    /// A bundled release that has attributes, or a TOML file of the same form
    #[arg(long, value_name = "NAME|FILE", required_unless_present = "law")]
    release: Option<String>,
    /// Only these states, by their two digits, as 09,44
    #[arg(long, value_name = "STATES", value_delimiter = ',', conflicts_with = "power")]
    states: Vec<String>,
    /// Exact totals of states, a CSV with the columns state (two digits) and total: published ones, never those of post-processed tables
    #[arg(long, value_name = "FILE", conflicts_with = "power")]
    state_totals: Option<PathBuf>,
    /// State the deviations that N draws of each query show with probability 0.99, or those in a folder, without reading its counts
    #[arg(long)]
    power: bool,
    /// The number of draws, as 1e8
    #[arg(long, value_name = "N", requires = "power", conflicts_with_all = ["folder", "states", "state_totals", "out", "svg"], value_parser = count)]
    draws: Option<u64>,
    /// A single law in place of a release, as discrete-gaussian:5
    #[arg(long, value_name = "LAW:PARAMETER", requires = "draws", conflicts_with_all = ["release", "folder", "states", "state_totals", "out", "svg"])]
    law: Option<String>,
    #[command(flatten)]
    rate: Rate,
    /// Also write all tests to a file
    #[arg(long, value_name = "FILE.csv", conflicts_with = "power")]
    out: Option<PathBuf>,
    /// Also draw masses and variances as SVG
    #[arg(long, value_name = "FILE.svg", conflicts_with = "power")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    form: FormArgs,
}

pub fn run(args: &Args) -> Result<Exit> {
    let rate = args.rate.value()?;
    if args.power {
        let asked = power::Asked {
            folder: args.folder.as_deref(),
            release: args.release.as_deref(),
            law: args.law.as_deref(),
            draws: args.draws,
        };
        return power::run(&asked, &rate, args.form.page());
    }
    let (Some(folder), Some(release)) = (&args.folder, &args.release) else {
        bail!("DIR and --release are needed: the files, and the release whose laws their noise should have")
    };
    let release = Release::find(release).context("--release")?;
    let states = args.states.iter().map(|text| state(text)).collect::<Result<Vec<u32>>>()?;
    let totals = args.state_totals.as_deref().map(GivenTotals::read).transpose().context("--state-totals")?;
    progress::stage("noisy counts read");
    let asked = Asked { states, totals: totals.unwrap_or_default() };
    let audit = audit::audit(folder, &release, &asked, &rate)?;
    if args.svg.is_some() && !has_masses(&audit) {
        bail!("--svg: no count in the files is noise alone, so that there are no masses or variances to draw");
    }
    let mut page = args.form.page();
    if let Some(path) = &args.out {
        page = page.with_file_of("--out", path);
    }
    let rows = audit.sources.iter().enumerate().map(|(at, source)| cells(&audit, at, source));
    page.columns(&HEADINGS, rows);
    let words = audit.words();
    page.text(format!(
        "\n{words}\n\
         False alarm rate of the verdict: at most {} over {} tests (Holm); every p-value is a proven upper bound.\n{}\
         Of a query at most {MOST} zeros of one unit are used. Published tables were changed after the noise: they hold no pure noise, and are not \
         tested.\n",
        exact_text(&rate),
        audit.tests.len(),
        notes(&audit),
    ));
    page.records(records(&audit));
    page.object(object(&audit, &words));
    if let Some(path) = &args.svg {
        drawn::write(path, &figure(&audit))?;
    }
    page.answered(!audit.verdict.deviates())
}

/// Whether there are draws of an enumerated law, to be drawn.
pub fn has_masses(audit: &NmfAudit) -> bool {
    audit.sources.iter().any(|source| source.shown.as_ref().is_some_and(|shown| shown.draws > 1))
}

/// Sentences about exact totals that are not used, and parts that are missing.
pub fn notes(audit: &NmfAudit) -> String {
    let mut notes = String::new();
    if !audit.unused_totals.is_empty() {
        let states: Vec<String> = audit.unused_totals.iter().map(|state| format!("{state:02}")).collect();
        notes += &format!("Exact totals not used, as a part of the state has no counts here: {}\n", states.join(", "));
    }
    audit.note.iter().for_each(|note| notes += &format!("{note}\n"));
    notes + &missing_in_words(&audit.report) + &assumed_in_words(&audit.report)
}

fn state(text: &str) -> Result<u32> {
    let digits = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse::<u32>() {
        Ok(number) if digits && is_state(number) => Ok(number),
        _ => bail!("--states {text:?}: expected two digits of a state, as 44"),
    }
}

/// The headings of the table.
pub const HEADINGS: [&str; 8] =
    ["level", "query", "kind", "draws", "variance / declared", "least p", "corrected", "test"];

/// A row of the table: a source, and the test with the least p-value.
pub fn cells(audit: &NmfAudit, at: usize, source: &Source) -> Vec<String> {
    let worst = audit.worst(at);
    let draws = match (&source.shown, &worst) {
        (Some(shown), _) => shown.draws,
        (None, Some((test, _))) => test.draws,
        (None, None) => 0,
    };
    let ratio = match (&source.shown, &worst) {
        (Some(shown), _) => shown.moments[1] / shown.variance,
        (None, Some((test, _))) => test.statistic,
        (None, None) => f64::NAN,
    };
    let [least, corrected, test] = worst.map_or(Default::default(), |(test, corrected)| {
        [shown(test.p), shown(corrected), format!("{}: {}", test.name, test.what)]
    });
    let level = match source.carried {
        0 | 1 => source.level.clone(),
        many => format!("{} x{many}", source.level),
    };
    vec![
        level,
        source.query.clone(),
        source.kind.name().to_string(),
        draws.to_string(),
        // One draw has no variance.
        if draws < 2 { "-".to_string() } else { format!("{ratio:.5}") },
        least,
        corrected,
        test,
    ]
}

/// A source, without its tests.
fn of_source(source: &Source) -> Fields {
    Fields::new()
        .with("level", &source.level)
        .with("query", &source.query)
        .with("kind", source.kind.name())
        .with("carried", (source.carried > 0).then_some(source.carried))
}

/// A record for each test.
fn records(audit: &NmfAudit) -> impl Iterator<Item = Value> {
    let tests = audit.tests.iter().zip(&audit.verdict.corrected);
    tests.map(|(test, corrected)| {
        of_source(&audit.sources[test.source]).and(test_fields(&test.test, *corrected)).object()
    })
}

/// The audit as JSON.
pub fn object(audit: &NmfAudit, words: &str) -> Value {
    let sources = audit.sources.iter().filter(|source| source.kind != Kind::Consistency).map(|source| {
        let factor = source.interval.map(|found| json!({ "lower": found.lower, "upper": found.upper }));
        of_source(source)
            .with("sigma2", source.sigma2.as_ref().map(exact))
            .with("sigma2_factor", factor)
            .with_some("draws", source.shown.as_ref().map(|shown| shown.draws))
            .with_some("approximations", source.shown.as_ref().map(|shown| approximations(shown, None)))
            .object()
    });
    json!({
        "product": audit.report.product,
        "release": audit.report.release.name,
        "parts": audit.report.parts,
        "missing": missing_json(&audit.report),
        "draws": { "zeros": audit.draws.0, "totals": audit.draws.1 },
        "sources": sources.collect::<Value>(),
        "tests": records(audit).collect::<Value>(),
        "exactly_consistent": audit.is_exactly_consistent(),
        "unused_state_totals": audit.unused_totals.iter().map(|state| format!("{state:02}")).collect::<Value>(),
        "verdict": audit.verdict.key(),
        "verdict_in_words": words,
        "false_alarm_rate": exact(&audit.verdict.false_alarm_rate),
    })
}

/// The masses of the source with the most draws, and the variances of those with the most.
pub fn figure(audit: &NmfAudit) -> Figure {
    /// Names that a panel has room for.
    const NAMED: usize = 14;
    let drawn = |source: &&Source| source.shown.as_ref().map_or(0, |shown| shown.draws);
    let with_draws = || audit.sources.iter().filter(|source| drawn(source) > 1);
    let mut draws: Vec<u64> = with_draws().map(|source| drawn(&source)).collect();
    draws.sort_unstable_by(|a, b| b.cmp(a));
    let least = draws.get(NAMED - 1).copied().unwrap_or_default();
    let rows: Vec<(String, f64, f64)> = with_draws()
        .filter(|source| drawn(source) >= least)
        .take(NAMED)
        .filter_map(|source| {
            let shown = source.shown.as_ref()?;
            let [_, variance, _, kurtosis] = shown.moments;
            let carried = if source.carried > 1 { format!(" x{}", source.carried) } else { String::new() };
            let name = format!("{}{carried} {} ({})", source.level, source.query, source.kind.name());
            let spread = ((kurtosis - 1.0).max(0.0) / shown.draws as f64).sqrt();
            (variance.is_finite() && spread.is_finite()).then_some((name, variance / shown.variance, spread))
        })
        .collect();
    let mut figure = chart::audit::variances(&format!("Pure noise in {}", audit.report.product), &rows);
    if let Some(most) = with_draws().max_by_key(drawn) {
        let mut masses = chart::audit::masses("", &most.masses);
        for panel in &mut masses.panels {
            panel.title = format!("{} {}", most.level, most.query);
        }
        masses.panels.append(&mut figure.panels);
        figure.panels = masses.panels;
    }
    figure
}
