//! `assay estimate --nmf`: least squares over noisy measurement files.

mod chart;
mod errors;
mod notes;
mod parts;

use std::{
    cell::RefCell,
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use dp_assay::{
    error::unknown,
    provenance::{sha256, sha256_of_text},
    release::Release,
    spine::spine_files::SavedSpine,
    topdown::{
        histograms::Histograms,
        nmf::{
            answers::{Answer, Areas, Subject},
            folder::NmfFolder,
            job::Job,
            paths::Short,
            survey::{AreaSource, Settings, Survey, Wanted, tabulation_digits},
            tables::{self, Form, Published},
            totals::GivenTotals,
            truth::{ErrorTable, Truth},
            units::Constraints,
        },
        spine_survey::{Asked, SpineAreas},
    },
};
use serde_json::{Value, json};

pub use errors::{ErrorRow, error_rows, put_errors};

use chart::ChartRows;
pub use notes::fit_json;
use notes::{fit_line, notes};
use parts::{part, put_progress};

use super::{
    drawn,
    exit::Exit,
    invocation,
    multiline::{self, Multiline},
    output,
    outputs::{self, Kind},
    page::Page,
    progress,
};

/// The constraints that hold exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Kept {
    /// None: least squares of the noisy counts alone
    None,
    /// The exact totals of the root, of states if the files have them, and of --state-totals
    StateTotals,
    /// These, and every cell that the constraint files make zero
    All,
}

/// The format of the file of estimates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Written {
    /// Comma-separated values
    Csv,
    /// Parquet with the same columns
    Parquet,
    /// geocode|query|estimate|std_dev|query_description: the tables of P.L. 94-171 for tabulation units
    Bureau,
}

/// The request. All options go with --nmf; queries, levels, areas and truth with --spine too.
#[derive(clap::Args)]
pub struct SurveyArgs {
    /// With --nmf: the constraints that the estimates satisfy
    #[arg(long, value_enum, value_name = "WHICH")]
    constraints: Option<Kept>,
    /// With --nmf: exact totals, a CSV with the columns state (two digits) and total
    #[arg(long, value_name = "FILE")]
    state_totals: Option<PathBuf>,
    /// With --nmf: only these states, by their two digits, each alone and without the counts of the nation
    #[arg(long, value_name = "44,25", value_delimiter = ',')]
    states: Vec<String>,
    /// "all" queries of the release, or marginals of its attributes such as "votingage * hispanic" (default: total)
    #[arg(long, value_name = "all|NAME", num_args = 1..)]
    queries: Vec<String>,
    /// The levels to estimate (default: all but the last)
    #[arg(long, value_name = "LEVEL", num_args = 1..)]
    level: Vec<String>,
    /// Sums over sets of blocks instead, a CSV with the columns area and block (spine codes or GEOIDs; with a hierarchy of your own
    /// the columns of its levels), or a block assignment file of the Census Bureau. Blocks without housing units and group quarters
    /// count as zero
    #[arg(long, value_name = "FILE", conflicts_with_all = ["level", "tabulation"])]
    areas: Option<PathBuf>,
    /// With --nmf: tabulation units instead of units of the spine, State, County, Tract or Block: both parts of a state together
    #[arg(long, value_name = "LEVEL", num_args = 1.., conflicts_with = "level")]
    tabulation: Vec<String>,
    /// With --nmf: non-negative whole counts instead, which satisfy all constraints and sum to those of the unit above. Only counts above
    /// zero are written. In passes: the groups of constraints, then each of these queries, then single cells; for a histogram of more than
    /// 65,536 cells, instead of single cells, the cells that the requested queries and the constraints distinguish
    #[arg(long, value_name = "QUERY", num_args = 0.., conflicts_with_all = ["areas", "tabulation", "files"])]
    whole: Option<Vec<String>>,
    /// With --nmf: a folder for the result of each state, so that an interrupted run continues where it stopped, and several machines share
    /// the work
    #[arg(long, value_name = "DIR")]
    work: Option<PathBuf>,
    /// With --work: only every Nth state from the Kth, of N parts: run every part, then every part once more, then --combine
    #[arg(long, value_name = "K/N", requires = "work", conflicts_with = "combine")]
    part: Option<String>,
    /// With --work: only put the parts together, into the file that one run would write
    #[arg(long, requires = "work")]
    combine: bool,
    /// With --nmf: also a chart of the first query's first count with its margin, for each unit of the lowest level or each area
    #[arg(long, value_name = "FILE.svg", conflicts_with = "whole")]
    svg: Option<PathBuf>,
    /// With --svg: published counts to show beside the estimates, a CSV with the columns geoid (or geocode, area) and count
    #[arg(long, value_name = "FILE", requires = "svg")]
    published: Option<PathBuf>,
    /// With --nmf: estimate although files of noisy counts, or a part of a state, are missing: the answer names them
    #[arg(long)]
    incomplete: bool,
    /// With --nmf: estimate although the noisy counts do not fit each other (a corrected p-value below 1e-9): the file says so. The files are
    /// read once more
    #[arg(long)]
    despite_misfit: bool,
    /// In a rehearsal: the true counts, in the form that `assay measure` reads; prints the errors by level and query
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
    #[command(flatten)]
    multiline: Multiline,
    /// With --nmf: the form of the file, csv, parquet, or bureau as in the Bureau's own estimates (default: parquet if
    /// its name ends so, otherwise csv)
    #[arg(long, value_enum, value_name = "csv|parquet|bureau", hide_possible_values = true)]
    files: Option<Written>,
}

impl SurveyArgs {
    /// Whether a file of estimates is requested, which --spine does not write by default.
    pub fn asks(&self) -> bool {
        let named = !self.queries.is_empty() || !self.level.is_empty();
        named || self.areas.is_some() || self.truth.is_some()
    }

    /// Whether the true counts are given.
    pub fn is_rehearsal(&self) -> bool {
        self.truth.is_some()
    }

    /// The request for a spine on which `assay measure` drew.
    pub fn on_spine(&self, saved: &SavedSpine, release: &Release) -> Result<Asked> {
        let schema = release.schema.clone().unwrap_or_default();
        let reading = self.multiline.reading();
        let read = |file: &PathBuf| Histograms::read(file, saved, &schema, "count", reading).map_err(multiline::hint);
        Ok(Asked {
            queries: queries(self, release),
            levels: if self.areas.is_some() { Vec::new() } else { levels(self, release)? },
            areas: self.areas.as_ref().map(|file| SpineAreas::read(file, saved)).transpose().context("--areas")?,
            truth: self.truth.as_ref().map(read).transpose().context("--truth")?,
        })
    }

    /// An option that was given, if any, and goes only with --nmf.
    pub fn given(&self) -> Option<&'static str> {
        let given = [
            (self.constraints.is_some(), "--constraints"),
            (self.state_totals.is_some(), "--state-totals"),
            (!self.states.is_empty(), "--states"),
            (self.whole.is_some(), "--whole"),
            (self.work.is_some(), "--work"),
            (self.svg.is_some(), "--svg"),
            (!self.tabulation.is_empty(), "--tabulation"),
            (self.files.is_some(), "--files"),
            (self.incomplete, "--incomplete"),
            (self.despite_misfit, "--despite-misfit"),
        ];
        given.into_iter().find_map(|(given, name)| given.then_some(name))
    }
}

/// `named` is the form of the file if --format names it.
pub fn run(
    args: &SurveyArgs,
    named: Option<Written>,
    nmf: &Path,
    release: &str,
    out: &Path,
    mut page: Page,
) -> Result<Exit> {
    let release = Release::find(release).context("--release")?;
    let constraints = match args.constraints.unwrap_or(Kept::All) {
        Kept::None => Constraints::None,
        Kept::StateTotals => Constraints::Totals,
        Kept::All => Constraints::All,
    };
    if constraints == Constraints::None && args.state_totals.is_some() {
        bail!("--state-totals goes with --constraints state-totals or all");
    }
    let totals = args.state_totals.as_deref().map(GivenTotals::read).transpose().context("--state-totals")?;
    if args.files.is_some() && named.is_some_and(|named| args.files != Some(named)) {
        bail!("--format and --files name different files: give one");
    }
    let form = match args.files.or(named) {
        named if args.whole.is_some() => match named {
            None | Some(Written::Csv) => Form::Whole,
            Some(_) => bail!("--whole: whole counts are written as csv"),
        },
        Some(Written::Csv) => Form::Csv,
        Some(Written::Parquet) => Form::Parquet,
        Some(Written::Bureau) => Form::Bureau,
        None if out.extension().is_some_and(|end| end.eq_ignore_ascii_case("parquet")) => Form::Parquet,
        None => Form::Csv,
    };
    match form {
        Form::Csv | Form::Whole | Form::Bureau => outputs::check_file("--out", out, &[Kind::Csv])?,
        Form::Parquet => outputs::check_file("--out", out, &[Kind::Parquet])?,
    }
    let areas = areas(args, form)?;
    let with_areas = !matches!(areas, AreaSource::None);
    let wanted = match form {
        Form::Bureau if !args.queries.is_empty() => bail!("--queries: the form bureau has the tables of P.L. 94-171"),
        Form::Bureau => Wanted::Pl94Tables,
        Form::Csv | Form::Parquet | Form::Whole => Wanted::Queries(queries(args, &release)),
    };
    let settings = Settings {
        constraints,
        totals: totals.as_ref().map_or_else(BTreeMap::new, GivenTotals::totals),
        states: states(args)?,
        wanted,
        levels: if with_areas { Vec::new() } else { levels_there(args, &release, nmf)? },
        areas,
        truth: truth(args, &release)?,
        whole: args.whole.clone(),
        incomplete: args.incomplete,
        despite_misfit: args.despite_misfit,
    };
    let request = question(args, &release, &settings)?;
    let mut provenance = invocation::provenance()?;
    let unassigned = match &settings.areas {
        AreaSource::Given(areas) => areas.unassigned,
        AreaSource::None | AreaSource::Digits(_) => 0,
    };
    let survey = Survey::open(nmf, &release, settings)?;
    let of_totals = totals.map(|totals| totals.held_against(&survey.all_states, &survey.missing_parts));
    let of_totals = of_totals.transpose().context("--state-totals")?.flatten();
    provenance.insecure_seed = survey.insecure_seed;
    progress::stage("estimates from noisy measurements");
    let errors = RefCell::new(ErrorTable::default());
    let rehearsal = args.truth.is_some();
    let published = args.published.as_deref().map(Published::read).transpose().context("--published")?;
    let chart = RefCell::new(args.svg.as_ref().map(|_| ChartRows::new(published)));
    let see = |subject: &Subject, answers: &[Answer]| {
        if rehearsal {
            errors.borrow_mut().add(subject, answers);
        }
        if let Some(chart) = &mut *chart.borrow_mut() {
            chart.see(subject, answers);
        }
    };
    let mut of_published = None;
    let mut matched = || {
        of_published = chart.borrow().as_ref().map(ChartRows::unmatched).transpose()?.flatten();
        Ok(())
    };
    let rows = match &args.work {
        None => {
            if args.despite_misfit {
                survey.fit_all(&progress::at)?;
                survey.note_misfit()?;
            }
            tables::write(&survey, form, with_areas, out, see, &mut |take| {
                survey.run(take, &progress::at)?;
                matched()
            })?
        }
        Some(folder) => {
            let job = Job::open(&survey, folder, &request, args.truth.as_deref()).context("--work")?;
            if !args.combine {
                job.work(&part(args.part.as_deref(), &survey.states())?, &progress::at)?;
            }
            if args.part.is_some() {
                return put_progress(page, &job.state(), &survey.states());
            }
            if args.despite_misfit {
                job.check_done()?;
                job.read_fits()?;
                survey.note_misfit()?;
            }
            tables::write(&survey, form, with_areas, out, see, &mut |take| {
                job.combine(take)?;
                matched()
            })?
        }
    };
    let (errors, chart) = (errors.into_inner(), chart.into_inner());
    provenance.misfit =
        survey.misfit().map(|bound| format!("noisy counts that do not fit each other, p below {bound}"));
    let fit = survey.fit()?;
    let said: Vec<String> = [of_totals, of_published].into_iter().flatten().collect();
    let notes = notes(&survey, unassigned, &said);
    provenance.write_beside(out)?;
    if let (Some(chart), Some(svg)) = (chart, &args.svg) {
        let query = survey.answers.names().first().map_or_else(String::new, |name| name.to_string());
        drawn::write(svg, &chart.figure(&query)?)?;
    }
    let states: Vec<String> = survey.states().iter().map(|state| format!("{state:02}")).collect();
    let mut object = json!({
        "release": release.name,
        "states": states,
        "uses_nation": survey.uses_nation(),
        "unused_constraints": survey.root.unused,
        "unread_constraints": survey.root.unread,
        "state_totals_of_files": states_of(&survey.totals_of_files),
        "missing_levels": survey.missing,
        "missing_states": digits_of(&survey.missing_parts.states),
        "missing_parts": survey.missing_parts.halves,
        "without_noisy_counts": survey.shorts().iter().map(short_json).collect::<Value>(),
        "empty_blocks": survey.absent.empty_blocks,
        "unassigned_blocks": unassigned,
        "notes": notes,
        "fit": fit_json(&fit),
        "rows": rows,
        "out": out.display().to_string(),
    });
    if rehearsal {
        let rows = error_rows(&survey.names.levels, &survey.answers, &errors);
        let records: Vec<Value> = rows.iter().map(ErrorRow::json).collect();
        page.records(records.clone());
        object["errors"] = records.into();
        put_errors(&mut page, &rows);
    } else {
        page.records([object.clone()]);
    }
    if let Some(seed) = survey.insecure_seed {
        object["insecure_seed"] = json!(seed);
    }
    page.object(object);
    page.provenance(provenance);
    let nation = if survey.uses_nation() { "with the counts of the nation" } else { "each state for itself" };
    let unused = match &survey.root.unused[..] {
        [] => String::new(),
        names => format!("Not used, because they were published after the noise: {}\n", names.join(", ")),
    };
    let unread = match &survey.root.unread[..] {
        [] => String::new(),
        names => format!("Not used, because they are of two histograms or of unknown groups: {}\n", names.join(", ")),
    };
    let (what, how) = match form {
        Form::Whole => (
            "whole count",
            "Children sum to their parents. Counts that cannot be negative are biased: for inference take the estimates.",
        ),
        _ => ("estimate", "Least squares in doubles; a margin is 1.96 standard deviations."),
    };
    let above_zero = if form == Form::Whole { " above zero" } else { "" };
    let marginal = survey.marginal_cells().map_or_else(String::new, |cells| {
        format!("Made of the {cells} cells that these queries and the constraints distinguish: queries of another run need not agree.\n")
    });
    let missing = match &survey.missing[..] {
        [] => String::new(),
        names => format!("Not in the folder, and without a part in this: {}\n", names.join(", ")),
    };
    let notes: String = notes.iter().map(|note| format!("{note}\n")).collect();
    let totals = match &states_of(&survey.totals_of_files)[..] {
        [] => String::new(),
        states => format!("Exact totals that the files have: states {}\n", states.join(", ")),
    };
    page.text(format!(
        "{} in {}: states {}, {nation}\n{missing}{notes}{totals}{unused}{unread}{marginal}{}\n{how}\n{}",
        output::count_of(rows as u64, what) + above_zero,
        out.display(),
        states.join(", "),
        fit_line(&fit),
        output::insecure(survey.insecure_seed),
    ));
    page.print()?;
    Ok(Exit::Done)
}

fn digits_of(states: &[u32]) -> Vec<String> {
    states.iter().map(|state| format!("{state:02}")).collect()
}

fn short_json(short: &Short) -> Value {
    json!({ "level": short.level, "part": short.part, "blocks_below": short.units })
}

/// The two digits of each state.
fn states_of(totals: &BTreeMap<u32, i64>) -> Vec<String> {
    totals.keys().map(|state| format!("{state:02}")).collect()
}

/// Everything besides the files of noisy measurements and the true counts on which estimates depend. Of the true counts it only states
/// whether there are any, because a hash of them would confirm a correct guess.
fn question(args: &SurveyArgs, release: &Release, settings: &Settings) -> Result<String> {
    let areas = args.areas.as_deref().map(sha256).transpose().context("--areas")?;
    let truth = args.truth.is_some();
    let release = sha256_of_text(&release.to_toml());
    let (constraints, totals, wanted) = (settings.constraints, &settings.totals, &settings.wanted);
    let (levels, whole, tabulation) = (&settings.levels, &settings.whole, &args.tabulation);
    Ok(format!(
        "{release} {areas:?} {constraints:?} {totals:?} {wanted:?} {levels:?} {whole:?} {tabulation:?} {truth} {} {}",
        settings.incomplete, settings.despite_misfit
    ))
}

fn truth(args: &SurveyArgs, release: &Release) -> Result<Option<Truth>> {
    let schema = release.schema.clone().unwrap_or_default();
    let read = |file| Truth::read(file, &schema, "count", args.multiline.reading()).map_err(multiline::hint);
    args.truth.as_deref().map(read).transpose().context("--truth")
}

fn areas(args: &SurveyArgs, form: Form) -> Result<AreaSource> {
    if let Some(file) = &args.areas {
        return Ok(AreaSource::Given(Areas::read(file).context("--areas")?));
    }
    let mut names: Vec<&str> = args.tabulation.iter().map(String::as_str).collect();
    if form == Form::Bureau && names.is_empty() {
        if !args.level.is_empty() {
            bail!("--level: the form bureau has tabulation units; say which by --tabulation");
        }
        names = vec!["State", "County", "Tract"];
    }
    let digits = names.iter().map(|name| {
        tabulation_digits(name).with_context(|| {
            let known = ["State", "County", "Tract", "Block"];
            format!("--tabulation: {}", unknown("tabulation", name, "there are", known))
        })
    });
    let mut digits = digits.collect::<Result<Vec<u32>>>()?;
    digits.sort_unstable();
    digits.dedup();
    Ok(if digits.is_empty() { AreaSource::None } else { AreaSource::Digits(digits) })
}

fn queries(args: &SurveyArgs, release: &Release) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    // Of two histograms those of the first: each is estimated separately.
    let is_first = |name: &String| release.schema.as_ref().is_none_or(|schema| schema.asks_beside(name).is_none());
    let of_release = || {
        let names = release.levels.iter().flat_map(|level| &level.queries).map(|query| query.name.clone());
        names.filter(is_first)
    };
    let given = args.queries.iter().flat_map(|name| match name.as_str() {
        "all" => of_release().collect(),
        _ => vec![name.clone()],
    });
    for name in given {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() { vec!["total".to_string()] } else { names }
}

fn levels(args: &SurveyArgs, release: &Release) -> Result<Vec<usize>> {
    if args.level.is_empty() {
        return Ok((0..release.levels.len() - 1).collect());
    }
    let find = |name: &String| {
        release.level(name).context("--level")?;
        Ok(release.levels.iter().position(|level| level.name == *name).unwrap_or(0))
    };
    args.level.iter().map(find).collect()
}

/// The same for a folder: if it ends above the release's lowest level, all levels that it has.
fn levels_there(args: &SurveyArgs, release: &Release, nmf: &Path) -> Result<Vec<usize>> {
    if !args.level.is_empty() {
        return levels(args, release);
    }
    let names: Vec<String> = release.levels.iter().map(|level| level.name.clone()).collect();
    let there = NmfFolder::open_from_root(nmf, &names).context("--nmf")?.levels.len();
    Ok((0..there.min(names.len() - 1)).collect())
}

fn states(args: &SurveyArgs) -> Result<Option<Vec<u32>>> {
    let state = |text: &String| {
        let number = text.parse::<u32>().ok().filter(|number| *number < 100);
        number.with_context(|| format!("--states {text}: expected the two digits of a state, as 44"))
    };
    let states = args.states.iter().map(state).collect::<Result<Vec<u32>>>()?;
    Ok((!states.is_empty()).then_some(states))
}
