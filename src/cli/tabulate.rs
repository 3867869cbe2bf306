//! `assay tabulate`: SafeTab from records to a release with its certificate.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result, bail};
use dp_assay::{
    account::Delta,
    document::{Block, fields::Fields},
    safetab::{
        country::CountrySpecification,
        schema::TotalsCheck,
        tabulate::{CefUnits, Cluster, ClusterToken, DryRun, EditedFiles, Job, ProgramInputs, PublicJob},
        verification::{VerifiedRelease, verify_release},
    },
};
use serde_json::{Map, Value, json};

use super::{
    arguments::{first_given, quantity},
    exit::Exit,
    mechanism::{self, Unfinished, explained},
    output,
    page::{FormArgs, Page},
    progress,
};

/// The bureau's order of summary levels.
pub const BUREAU_ORDER: &str = "USA,STATE,COUNTY,TRACT,PLACE,AIANNH";

/// Tabulates persons or households by detailed race and ethnicity with SafeTab, and certifies the privacy of the release
///
/// Writes a folder with tables in the bureau's format (t1 and t2 of persons, t3 and t4 of households) and a certificate,
/// atomically; of another country, by its own specification, totals.csv and cells.csv. Beside it remains a log of every draw of noise, and beside the records another one, NAME.draws, for draws into other
/// folders; an incomplete draw is repeated or discarded, and a second draw of the same records needs --discard.
/// --check and --dry-run draw nothing.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("records").args(["persons", "households"]))]
pub struct Args {
    /// The configuration of SafeTab-P or SafeTab-H: budgets, thresholds, passes
    #[arg(long, value_name = "config.json", requires = "spec", conflicts_with = "new")]
    config: Option<PathBuf>,
    /// The folder of the four files of races, ethnicities and iterations; without --config the specification file of another country: its
    /// geography, groups, tables and budgets
    #[arg(long, value_name = "DIR|FILE.toml", required_unless_present_any = ["verify_output", "new"], requires = "geography")]
    spec: Option<PathBuf>,
    /// A file of person records, or a folder of such: text (*.txt, *.csv) or Parquet (*.parquet); of another country CSV
    #[arg(long, value_name = "FILE|DIR")]
    persons: Option<PathBuf>,
    /// A file of household records, or a folder of such
    #[arg(long, value_name = "FILE|DIR", requires = "totals", conflicts_with = "summary_levels")]
    households: Option<PathBuf>,
    /// Edited unit files (CEF20_UNIT, a file or a folder with one for each state): --persons, or --households for its householders,
    /// then names edited person files (CEF20_PER), and the GRF-C has OIDTABBLK
    #[arg(long, value_name = "FILE|DIR")]
    units: Option<PathBuf>,
    /// Keep blocks without a unit, which the bureau's reader removes from the geography
    #[arg(long, requires = "units")]
    all_blocks: bool,
    /// For households: the published totals t1 of SafeTab-P, a file or a folder of such
    #[arg(long, value_name = "FILE|DIR", conflicts_with = "persons")]
    totals: Option<PathBuf>,
    /// Accept the totals as they are: groups of regions that the geography does not have are noise alone, and states may lack
    /// totals
    #[arg(long, requires = "totals", conflicts_with_all = ["persons", "summary_levels"])]
    totals_as_given: bool,
    /// The blocks and their regions; of another country a CSV of its areas
    #[arg(long, value_name = "GRF-C.txt|FILE.csv", requires = "spec")]
    geography: Option<PathBuf>,
    /// The order of summary levels: of regions made of the same blocks the highest that is not suppressed gives its counts
    #[arg(
        long,
        value_name = "TYPE,...",
        default_value = BUREAU_ORDER,
        conflicts_with = "totals"
    )]
    summary_levels: String,
    /// The folder of the release: a new one
    #[arg(long, value_name = "DIR", required_unless_present_any = ["check", "dry_run", "verify_output", "new"])]
    out: Option<PathBuf>,
    /// Only check all inputs, to the last record
    #[arg(long, conflicts_with_all = ["dry_run", "out", "resume", "discard", "insecure_seed", "delta"])]
    check: bool,
    /// Only compute the budget that a run would spend and on which groups, from the public inputs: no records are needed
    #[arg(long, conflicts_with_all = ["out", "resume", "discard", "insecure_seed"])]
    dry_run: bool,
    /// Only check a release: the rows, cells and sums of its tables, and its certificate in both forms; with --config, --spec and
    /// --geography (and --totals for households) also compare it with these, and compute the certificate again
    #[arg(long, value_name = "DIR", conflicts_with_all = ["check", "dry_run", "persons", "households", "out", "resume", "discard", "insecure_seed"])]
    verify_output: Option<PathBuf>,
    /// Only write the Bureau's SafeTab-P as a specification file, every part with a comment, to start your own from
    #[arg(long, value_name = "FILE.toml", conflicts_with_all = ["config", "spec", "geography", "persons", "households", "units", "all_blocks", "totals", "totals_as_given", "summary_levels", "out", "check", "dry_run", "verify_output", "resume", "discard", "insecure_seed", "delta"])]
    new: Option<PathBuf>,
    /// The delta of the certificate, 0 < delta < 1
    #[arg(long, value_name = "DELTA", default_value = "1e-10", allow_hyphen_values = true)]
    delta: String,
    /// For tests only: noise that follows from a number; anyone who knows the number can subtract it
    #[arg(long, value_name = "S")]
    insecure_seed: Option<u64>,
    #[command(flatten)]
    unfinished: Unfinished,
    /// Count on a cluster of Apache Spark, by its Spark Connect endpoint: sc://HOST:PORT, for TLS sc://HOST:PORT/;use_ssl=true.
    /// If it requires a token, set SPARK_CONNECT_AUTHENTICATE_TOKEN or --cluster-token
    #[arg(long, value_name = "sc://HOST:PORT", requires = "shared", conflicts_with_all = ["check", "dry_run", "verify_output"])]
    cluster: Option<String>,
    /// A folder that this machine and all workers of the cluster see under the same name; the records are in it
    #[arg(long, value_name = "DIR", requires = "cluster", conflicts_with_all = ["check", "dry_run", "verify_output"])]
    shared: Option<PathBuf>,
    /// A file with the token of the cluster's endpoint, readable by its owner only
    #[arg(long, value_name = "FILE", requires = "cluster", conflicts_with_all = ["check", "dry_run", "verify_output"])]
    cluster_token: Option<PathBuf>,
    /// Allow a plain connection to another machine: confidential counts are then sent unencrypted
    #[arg(long, requires = "cluster", conflicts_with_all = ["check", "dry_run", "verify_output"])]
    cluster_plain: bool,
    /// The longest time that the cluster may take for one query, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "7200", requires = "cluster", conflicts_with_all = ["check", "dry_run", "verify_output"], value_parser = clap::value_parser!(u64).range(1..=604_800))]
    cluster_limit: u64,
    #[command(flatten)]
    form: FormArgs,
}

/// The cluster that counts, if one is named.
fn cluster(args: &Args) -> Result<Option<Cluster>> {
    const TOKEN: &str = "SPARK_CONNECT_AUTHENTICATE_TOKEN";
    let (Some(address), Some(shared)) = (&args.cluster, &args.shared) else { return Ok(None) };
    let token = match (&args.cluster_token, std::env::var(TOKEN)) {
        (Some(file), _) => Some(ClusterToken::read(file)?),
        (None, Ok(text)) => Some(ClusterToken::new(&text, Path::new(TOKEN))?),
        (None, Err(_)) => None,
    };
    Ok(Some(Cluster {
        address: quantity("--cluster", address)?,
        token,
        plain: args.cluster_plain,
        shared: shared.clone(),
        limit: Duration::from_secs(args.cluster_limit),
    }))
}

pub fn run(args: &Args) -> Result<Exit> {
    if let Some(file) = &args.new {
        CountrySpecification::write_template(file).context("--new")?;
        let mut page = args.form.page();
        page.object(json!({ "specification": file.display().to_string(), "status": "written" }));
        page.text(format!("The Bureau's SafeTab-P as a specification is in {}.\n", dp_assay::error::shown(file)));
        return page.done();
    }
    if let Some(folder) = &args.verify_output {
        let job = args.spec.is_some().then(|| public(args)).transpose()?;
        if args.totals.is_some() && job.is_none() {
            bail!("--totals is checked with the other inputs: give --config, --spec and --geography, too");
        }
        return verify(folder, job.as_ref(), args.form.page());
    }
    let (public, page) = (public(args)?, args.form.page());
    if args.dry_run {
        dry_run(&public, page)?;
        return Ok(Exit::Done);
    }
    let Some(records) = args.persons.as_ref().or(args.households.as_ref()) else {
        bail!("give --persons, or --households with --totals");
    };
    let job = Job {
        public,
        records: records.clone(),
        out: args.out.clone().unwrap_or_default(),
        insecure_seed: args.insecure_seed,
        unfinished: args.unfinished.choice(),
        cluster: cluster(args)?,
    };
    if args.check {
        check(&job, page)?
    } else {
        release(&job, page)?
    }
    Ok(Exit::Done)
}

/// The public inputs that the arguments name.
fn public(args: &Args) -> Result<PublicJob> {
    let delta: Delta = quantity("--delta", &args.delta)?;
    if let (None, Some(spec)) = (&args.config, &args.spec) {
        return country(args, spec, delta);
    }
    let order = quantity("--summary-levels", &args.summary_levels)?;
    let check = if args.totals_as_given { TotalsCheck::AsGiven } else { TotalsCheck::SameVintage };
    // The tables of a release are checked, and the budget is computed, without the records.
    let is_without_records = args.verify_output.is_some() || args.dry_run;
    let program = match (&args.persons, &args.households, &args.totals) {
        (Some(_), None, None) => ProgramInputs::Persons { order },
        (None, Some(_), Some(totals)) => ProgramInputs::Households { totals: totals.clone(), check },
        (None, None, None) if is_without_records => ProgramInputs::Persons { order },
        (None, None, Some(totals)) if is_without_records => ProgramInputs::Households { totals: totals.clone(), check },
        _ => bail!("give --persons, or --households with --totals"),
    };
    let edited = args.units.as_ref().map(|units| {
        let persons = args.persons.as_ref().or(args.households.as_ref());
        let persons =
            persons.context("--units goes with --persons or --households, which name the edited person files")?;
        let units = CefUnits { path: units.clone(), all_blocks: args.all_blocks };
        Ok::<_, anyhow::Error>(EditedFiles { persons: persons.clone(), units })
    });
    let given = |path: &Option<PathBuf>, option: &str| path.clone().with_context(|| format!("{option} is missing"));
    Ok(PublicJob {
        config: given(&args.config, "--config")?,
        specification: given(&args.spec, "--spec")?,
        geography: given(&args.geography, "--geography")?,
        program,
        edited: edited.transpose()?,
        delta,
    })
}

/// The public inputs of a country's own specification.
fn country(args: &Args, spec: &Path, delta: Delta) -> Result<PublicJob> {
    if spec.is_dir() {
        bail!("--config is missing: with a folder of the bureau's files in --spec it names their config.json");
    }
    let others = [
        ("--households", args.households.is_some()),
        ("--totals", args.totals.is_some()),
        ("--units", args.units.is_some()),
        ("--cluster", args.cluster.is_some()),
        ("--summary-levels", args.summary_levels != BUREAU_ORDER),
    ];
    if let Some(option) = first_given(others) {
        bail!("{option} goes with the bureau's files; with a specification file give --persons and --geography only");
    }
    let geography = args.geography.clone().context("--geography is missing: a CSV of the areas and their regions")?;
    if args.persons.is_none() && args.verify_output.is_none() && !args.dry_run {
        bail!("give --persons, a CSV of records");
    }
    let spec = spec.to_path_buf();
    Ok(PublicJob {
        config: spec.clone(),
        specification: spec,
        geography,
        program: ProgramInputs::Country,
        edited: None,
        delta,
    })
}

/// Checks all inputs.
fn check(job: &Job, mut page: Page) -> Result<()> {
    let records = job.check(&mut |_| {})?;
    let object = json!({ "status": "no rule is broken", "records": records });
    page.answer(object);
    page.text(format!("No rule is broken in {records} records (their number is confidential).\n"));
    page.print()
}

/// Checks the tables of a release.
fn verify(folder: &Path, job: Option<&PublicJob>, mut page: Page) -> Result<Exit> {
    let found = verify_release(folder, job)?;
    let rows: Map<String, Value> = found.rows.iter().map(|(table, rows)| (table.to_string(), json!(rows))).collect();
    let VerifiedRelease { report, algorithm, groups, .. } = &found;
    let holds = report.is_empty();
    let broken: Vec<Value> = (report.iter())
        .map(|found| {
            json!({ "file": found.file, "line": found.line, "field": found.field, "value": found.value,
                    "allowed": found.allowed })
        })
        .collect();
    page.records(match holds {
        true => found.rows.iter().map(|(table, rows)| json!({ "table": table.to_string(), "rows": rows })).collect(),
        false => broken.clone(),
    });
    page.object(json!({ "algorithm": algorithm, "groups": groups, "rows": rows, "violations": report.count(),
                        "shown": broken }));
    let against = if job.is_some() { "and its inputs" } else { "alone" };
    let counts: Vec<String> = found.rows.iter().map(|(table, rows)| format!("{table} {rows}")).collect();
    page.text(format!("{algorithm}, {groups} groups; rows: {}\n", counts.join(", ")));
    page.text(match holds {
        true => format!("No rule is broken, by the release {against}.\n"),
        false => format!("{} rules are broken.\n{report}", report.count()),
    });
    page.answered(holds)
}

/// A certificate in all its forms: as an object, as a record for each level, each pass and the whole, and as a text.
fn put_certificate(page: &mut Page, certificate: Value, text: Vec<Block>) {
    const KEYS: [&str; 5] = ["rho", "pure_epsilon", "epsilon", "zcdp_epsilon", "bounded"];
    let named = |name: &str, whole: &Value| {
        let name = Fields::new().with("name", name);
        KEYS.iter().fold(name, |fields, key| fields.with_some(*key, whole.get(key))).object()
    };
    for pass in certificate["passes"].as_array().into_iter().flatten() {
        let name = pass["pass"].as_str().unwrap_or_default();
        let levels = pass["levels"].as_array().into_iter().flatten();
        page.records(levels.map(|level| output::named(name, level.clone()).object()));
        page.records([named(name, pass)]);
    }
    page.records([named("whole run", &certificate)]);
    page.object(certificate);
    page.blocks(text);
}

/// Reports the budget that a run would spend.
fn dry_run(public: &PublicJob, mut page: Page) -> Result<()> {
    let DryRun { account, page: text } = public.dry_run()?;
    put_certificate(&mut page, account, text);
    page.print()
}

fn release(job: &Job, mut page: Page) -> Result<()> {
    use dp_assay::safetab::tabulate::Outcome;

    let outcome = job.run(&mut progress::show);
    progress::end();
    let out = dp_assay::error::shown(&job.out);
    let outcome = outcome.map_err(explained)?;
    match outcome {
        Outcome::Released { certificate, page: text, records, unlogged } => {
            unlogged.iter().for_each(|why| mechanism::warn_unlogged(why));
            put_certificate(&mut page, certificate, text);
            page.text(format!("\nThe release is in {out}.\n"));
            // For the user at the terminal, and not in stored output.
            if std::io::IsTerminal::is_terminal(&std::io::stderr()) {
                eprintln!("{records} records were tabulated (confidential: not in the release)");
            }
        }
        Outcome::WasComplete => {
            page.object(json!({ "out": out.to_string(), "status": "was complete" }));
            page.text(format!("The release in {out} was complete; now its log is as well.\n"));
        }
    }
    page.print()
}
