//! `assay measure`: the mechanism on a spine, with exact noise, and its privacy account.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use dp_assay::{
    account::{Account, Delta},
    draws::{self, Draw, DrawIntent, EarlierBudgets, ReleaseFolder, Taken},
    loss::law::Law,
    noise::Distribution,
    numeric::{Enclosure, rational},
    provenance::{Content, Provenance, VERSION},
    release::Release,
    spine::{bypass::Privacy, own::UnitIds, spine_files::SavedSpine},
    topdown::{
        histograms::Histograms,
        measure::MeasurementPlan,
        measurement_files::{self, Manifest, MeasurementFile, Said},
        nmf::write::{self, NmfWriter},
    },
};
use rug::Rational;
use serde_json::{Map, Value, json};

use super::{
    arguments::{number, quantity},
    exit::Exit,
    invocation,
    mechanism::{self, Randomness, Unfinished},
    multiline::{self, Multiline},
    output::{self, exact, exact_text},
    page::{self, Form, FormOrFiles, Page},
    progress,
};

/// Exact noise on every query of every unit of a spine, and the exact epsilon of all noisy counts
#[derive(clap::Args)]
pub struct Args {
    /// The folder that `assay spine --out` wrote
    #[arg(long, value_name = "DIR")]
    spine: PathBuf,
    /// The counts: CSV with a column block, one for each attribute of the release, and the count; a line for each cell of a
    /// block that is not zero. With two histograms a line is about one, and leaves the attributes of the other empty
    #[arg(long, value_name = "FILE")]
    counts: PathBuf,
    /// The heading of the counts
    #[arg(long, value_name = "NAME", default_value = "count")]
    column: String,
    #[command(flatten)]
    multiline: Multiline,
    /// A bundled release that has attributes, or a TOML file of the same form: levels, queries, budget
    #[arg(long, value_name = "NAME|FILE")]
    release: String,
    /// For a spine of privacy "pure": the pure epsilon of all noisy counts together, divided as the release divides its rho
    #[arg(long, value_name = "EPSILON", allow_hyphen_values = true)]
    epsilon: Option<String>,
    /// The folder for the noisy counts; it must be empty or not exist. Beside it remains DIR.log, the log of every draw of noise, and
    /// beside the counts FILE.draws, for draws into other folders
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The form of the answer [default: table]; or nmf, as --files nmf
    #[arg(long, value_name = "table|csv|json|md|latex|nmf", value_parser = FormOrFiles::<Files>::parse)]
    format: Option<FormOrFiles<Files>>,
    /// The format of the noisy counts: csv, a file for each query, or nmf, the Parquet files of the Bureau's noisy
    /// measurements, zCDP only [default: csv]
    #[arg(long, value_enum, value_name = "csv|nmf", hide_possible_values = true)]
    files: Option<Files>,
    /// The delta of the exact epsilon
    #[arg(long, value_name = "DELTA", default_value = "1e-10", allow_hyphen_values = true)]
    delta: String,
    #[command(flatten)]
    randomness: Randomness,
    #[command(flatten)]
    unfinished: Unfinished,
    /// One JSON object
    #[arg(long)]
    json: bool,
    /// Comma-separated values: a line for each query of each level
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Enclosures of relative width at most 10^-D
    #[arg(long, value_name = "D", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=250))]
    digits: u32,
}

/// The form of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Files {
    /// A CSV for each query of each level
    Csv,
    /// The layout of the Bureau's noisy measurement files: `assay estimate --nmf` reads it
    Nmf,
}

pub fn run(args: &Args) -> Result<Exit> {
    let delta: Delta = quantity("--delta", &args.delta)?;
    let named = FormOrFiles::files(args.format.as_ref());
    let files = match (args.files, named) {
        (Some(files), Some(named)) if files != *named => bail!("--format and --files name different files: give one"),
        (files, named) => files.or(named.copied()).unwrap_or(Files::Csv),
    };
    let form = FormOrFiles::form(args.format.as_ref(), args.json, args.csv)?;
    let unfinished = args.unfinished.choice();
    let manifest = if files == Files::Nmf { write::MANIFEST } else { measurement_files::MANIFEST };
    let records = args.randomness.is_secret().then_some(args.counts.as_path());
    let taken = ReleaseFolder::take(&args.out, manifest, records, unfinished);
    let taken = taken.map_err(mechanism::explained).context("--out")?;
    let Taken::Free(mut folder) = taken else { return was_complete(args, form) };
    let provenance = invocation::provenance()?;
    let release = Release::find(&args.release).context("--release")?;
    let saved = SavedSpine::read(&args.spine).context("--spine")?;
    let pure_epsilon = args.epsilon.as_deref().map(|text| number("--epsilon", text)).transpose()?;
    let context = epsilon_context(matches!(saved.privacy, Privacy::Pure { .. }), pure_epsilon.is_some());
    let plan = MeasurementPlan::on_saved(&saved, &release, pure_epsilon.as_ref()).context(context)?;
    // The budget is known before anything is drawn.
    let nmf =
        (files == Files::Nmf).then(|| NmfWriter::new(&plan, &saved, &release)).transpose().context("--files nmf")?;
    let account = Spending::of(&plan, &saved, &delta, args.digits)?;
    let schema = release.schema.clone().unwrap_or_default();
    let read = Histograms::read(&args.counts, &saved, &schema, &args.column, args.multiline.reading());
    let histograms = read.map_err(multiline::hint).context("--counts")?;
    let intent = intent(args, files, &account, &provenance);
    let hash = draws::confidential_hash(&args.counts).context("--counts")?;
    let draw = folder.draw(&intent, &hash, unfinished).map_err(mechanism::explained).context("--out")?;
    let Draw { number, earlier, unlogged, mut streams } = draw;
    unlogged.iter().for_each(|why| mechanism::warn_unlogged(why));
    let earlier = EarlierBudgets::of(&earlier, &intent)?;
    let privacy = account.json(&release, &delta);
    // A resumed release is that of the interrupted draw, to the last byte.
    let mut begun = provenance.clone();
    begun.command_line.retain(|word| word != "--resume");
    let said = Said {
        release: release.name.clone(),
        privacy: Value::Object(privacy.clone()),
        provenance: begun.to_json(),
        draw: Some(number),
    };
    progress::stage("noise on measurements");
    let (out, at) = (&folder.release(), &mut progress::at);
    let manifest = match nmf {
        None => measurement_files::write(&plan, &saved, said, &histograms, &mut streams, out, at),
        Some(nmf) => nmf.write(said, &histograms, &mut streams, out, at),
    };
    progress::stage("finishing");
    let manifest = manifest.context("--out")?;
    folder.publish().context("--out")?;
    let margins = margins(&plan, &saved, &manifest)?;
    let rows = rows(&plan, &saved, &manifest, &margins);
    let (parameter, least) = match account.pure_epsilon {
        Some(_) => ("epsilon", "least_epsilon_approx"),
        None => ("sigma2", "largest_sigma2_approx"),
    };
    let without = histograms.blocks_without(saved.blocks());
    let mut object = Map::new();
    object.insert("release".into(), json!(release.name));
    object.extend(privacy);
    object.insert("noisy_counts".into(), json!(plan.counts()));
    let file = |(file, margin): (&MeasurementFile, &Option<i64>)| {
        let mut file = json!(file);
        file["margin_95"] = json!(margin);
        file
    };
    object.insert("files".into(), manifest.files.iter().zip(&margins).map(file).collect());
    let confidential = json!({ "records": histograms.total(), "blocks_without_counts": without });
    object.insert("confidential".into(), confidential);
    object.insert("out".into(), json!(args.out.display().to_string()));
    object.insert("draw".into(), json!(number));
    object.insert("earlier_draws".into(), json!(earlier.draws()));
    object.extend(earlier.json(&intent.unit, false).unwrap_or_default());
    if let Some(seed) = streams.insecure_seed() {
        object.insert("insecure_seed".into(), json!(seed));
    }
    let (leaf, leaves) = match (&saved.ids, saved.names.last()) {
        (UnitIds::Own(_), Some(level)) => (level.as_str(), format!("units of the level {level}")),
        _ => ("block", "blocks".to_string()),
    };
    let empty = match (without, saved.blocks()) {
        (0, _) => format!("every {leaf} has counts"),
        (1, all) => format!("1 {leaf} of {all} has no line and counts as empty"),
        (without, all) => format!("{without} of {all} {leaves} have no line and count as empty"),
    };
    let mut page = Page::new(form);
    page.object(Value::Object(object));
    page.provenance(provenance);
    page.records(rows.iter().map(|row| page::words(&["level", "query", "counts", "units", least, "margin_95"], row)));
    page.table(&["level", "query", "counts", "units", parameter, "95 % margin"], rows);
    page.text(format!(
        "\n{} noisy counts in {}; {parameter} and the margin of a count are those of the units that carry least\n\
         {}\n\
         Confidential: {} records; {empty}.\n",
        plan.counts(),
        args.out.display(),
        account.text(&delta, args.digits),
        histograms.total(),
    ));
    if let Some(said) = earlier.in_words(&intent.unit.replace('_', " "), false) {
        page.text(format!("This is draw {number} in this place, and the line above is of this draw alone. {said}\n"));
    }
    page.text(output::insecure(streams.insecure_seed()));
    page.print()?;
    Ok(Exit::Done)
}

/// A release whose draw was complete: only the end of its log was missing.
fn was_complete(args: &Args, form: Form) -> Result<Exit> {
    let out = args.out.display().to_string();
    let mut page = Page::new(form);
    page.text(format!("The noisy counts in {out} were complete; now their log is as well.\n"));
    page.object(json!({ "out": out, "status": "was complete" }));
    page.print()?;
    Ok(Exit::Done)
}

/// Everything besides the true counts and the noise that determines the noisy counts.
fn intent(args: &Args, files: Files, account: &Spending, provenance: &Provenance) -> DrawIntent {
    let hash = |name: &str| {
        let input = provenance.inputs.iter().find(|input| input.name == name);
        match input.map(|input| &input.content) {
            Some(Content::Sha256(sha256)) => sha256.clone(),
            _ => String::new(),
        }
    };
    let files = if files == Files::Nmf { "nmf" } else { "csv" };
    let inputs = [
        ("spine", hash(&args.spine.to_string_lossy())),
        ("release", hash(&args.release)),
        ("heading of the counts", args.column.clone()),
        ("layout", files.to_string()),
    ];
    let (unit, budget) = match &account.pure_epsilon {
        Some(epsilon) => ("pure_epsilon", epsilon.to_string()),
        None => ("rho", account.rho.to_string()),
    };
    DrawIntent {
        version: VERSION.to_string(),
        inputs: inputs.map(|(role, said)| (role.to_string(), said)).into(),
        budget: vec![(unit.replace('_', " "), budget)],
        unit: unit.to_string(),
        insecure_seed: args.randomness.seed(),
    }
}

/// The options that an error of a plan is about: the given ones, and one that is missing.
pub fn epsilon_context(is_pure: bool, is_given: bool) -> &'static str {
    match (is_pure, is_given) {
        (_, true) => "--release, --epsilon",
        (true, false) => "--epsilon is missing",
        (false, false) => "--release",
    }
}

/// The budget that all noisy counts together spend.
struct Spending {
    rho: Rational,
    /// The epsilon of pure differential privacy, for Laplace noise.
    pure_epsilon: Option<Rational>,
    epsilon: Enclosure,
    /// The levels that the worst path drops, or each of the worst pair.
    worst_paths: Vec<String>,
}

impl Spending {
    fn of(plan: &MeasurementPlan, saved: &SavedSpine, delta: &Delta, digits: u32) -> Result<Spending> {
        let worst = plan.worst_path()?;
        let epsilon = worst.epsilon(delta, digits)?;
        let (p, q) = epsilon.pair().unwrap_or_default();
        let paths = saved.spine.paths()?;
        let names = |path: usize| {
            let dropped = paths[path].dropped.iter().map(|level| saved.names[*level].as_str());
            dropped.collect::<Vec<_>>().join(" ")
        };
        let worst_paths = if worst.in_pairs() { vec![names(p), names(q)] } else { vec![names(p)] };
        Ok(Spending {
            rho: worst.rho().into(),
            pure_epsilon: plan.pure_epsilon()?,
            epsilon: epsilon.value,
            worst_paths,
        })
    }

    fn json(&self, release: &Release, delta: &Delta) -> Map<String, Value> {
        let mut object = Map::new();
        object.insert("neighbors".into(), json!(release.neighbors.name()));
        object.insert("rho".into(), exact(&self.rho));
        if let Some(epsilon) = &self.pure_epsilon {
            object.insert("pure_epsilon".into(), exact(epsilon));
        }
        object.insert("delta".into(), exact(delta));
        object.insert("epsilon".into(), self.epsilon.to_json());
        object.insert("worst_paths".into(), json!(self.worst_paths));
        object
    }

    fn text(&self, delta: &Delta, digits: u32) -> String {
        let whole = match &self.pure_epsilon {
            Some(epsilon) => format!("pure epsilon {}", rational::display(epsilon)),
            None => format!("rho {}", exact_text(&self.rho)),
        };
        let shown = self.epsilon.shown(digits.min(40) as usize);
        format!("{whole}, epsilon {shown} at delta {}, {}", exact_text(delta), worst_case(&self.worst_paths))
    }
}

/// The record with the largest epsilon, from the levels that the worst path drops, or each of the worst pair.
pub fn worst_case(dropped: &[String]) -> String {
    let measured =
        |names: &String| match names.split(' ').filter(|name| !name.is_empty()).collect::<Vec<_>>().as_slice() {
            [] => "measured at every level".to_string(),
            [one] => format!("measured at every level but {one}"),
            [first @ .., last] => format!("measured at every level but {} and {last}", first.join(", ")),
        };
    let mut paths: Vec<String> = dropped.iter().map(measured).collect();
    paths.dedup();
    format!("the worst case: a record {}", paths.join(", changed into one "))
}

/// The law of the noise of a file's units with the smallest share.
fn least_law<'p>(plan: &'p MeasurementPlan, saved: &SavedSpine, file: &MeasurementFile) -> Option<&'p Law> {
    let request = plan.levels()[file.level].iter().find(|request| request.group.name == file.query)?;
    (1..=saved.names.len()).find_map(|carried| request.law(carried))
}

/// The margins of single noisy counts, file by file: the least m with P[|X| <= m] of at least 95 %.
fn margins(plan: &MeasurementPlan, saved: &SavedSpine, manifest: &Manifest) -> Result<Vec<Option<i64>>> {
    let probability = Rational::from((39, 40));
    let margin = |file: &MeasurementFile| {
        let margin = |law: &Law| Distribution::of(law)?.quantile(&probability);
        Ok(least_law(plan, saved, file).map(margin).transpose()?)
    };
    manifest.files.iter().map(margin).collect()
}

/// A row for each file: the level, the query, the numbers of its counts and units, and the parameter and the margin of the noise of the
/// units with the smallest share.
fn rows(plan: &MeasurementPlan, saved: &SavedSpine, manifest: &Manifest, margins: &[Option<i64>]) -> Vec<Vec<String>> {
    let row = |(file, margin): (&MeasurementFile, &Option<i64>)| {
        let law = least_law(plan, saved, file);
        let parameter = law.map(|law| Enclosure::rational(law.parameter(), 64).shown(6)).unwrap_or_default();
        let numbers = [file.counts, file.units].map(|number| number.to_string());
        let margin = margin.map_or_else(String::new, |margin| margin.to_string());
        [vec![file.level_name.clone(), file.query.clone()], numbers.to_vec(), vec![parameter, margin]].concat()
    };
    manifest.files.iter().zip(margins).map(row).collect()
}
