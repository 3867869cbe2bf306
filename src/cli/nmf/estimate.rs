//! `assay nmf estimate`: least squares over noisy measurement files.

mod chart;
mod fit;
mod parts;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use clap::Arg;
use dp_assay::{
    release::input::ReleaseInput,
    topdown::{
        jobs::InputError,
        nmf::{
            codes::confidence::Confidence,
            compared::{Comparisons, Kind as ComparisonKind},
            estimation::{
                estimated::Estimated,
                request::{Estimation, EstimationInput, RequestedAreas, Variables, Work},
                run::Outcome,
            },
            ranks::DRAWS,
            tables::Form,
            truth::ErrorRow,
            units::Constraints,
        },
    },
};

use chart::ChartRows;
use fit::fit_line;
use parts::{put_progress, share};

use crate::cli::{
    arguments::{first_given, quantity},
    drawn,
    estimates::{RequestArgs, put_errors},
    exit::Exit,
    invocation, multiline, output,
    outputs::{self, Kind},
    page::{FormOrFiles, Page},
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

/// Estimates of any count from noisy measurement files, with margins, or whole counts that add up
///
/// The best linear unbiased estimate of any query of any unit or area, with its variance and margin, by least squares over all noisy counts
/// and the constraints that hold exactly.
#[derive(clap::Args)]
#[command(override_usage = "assay nmf estimate <DIR> --release <NAME|FILE> --out <FILE> [OPTIONS]")]
pub struct Args {
    /// The product, or the folder that holds it
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// A bundled release with attributes, or a file of the same form
    #[arg(long, value_name = "NAME|FILE")]
    release: String,
    /// The file for the estimates
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    request: RequestArgs,
    #[command(flatten)]
    survey: SurveyArgs,
    /// table, csv, json, md or latex, for the answer [default: table]
    ///
    /// Or parquet or bureau, as --files.
    #[arg(long, value_name = "FORM", value_parser = FormOrFiles::<Written>::parse)]
    format: Option<FormOrFiles<Written>>,
    /// One JSON object, as --format json
    #[arg(long)]
    json: bool,
}

/// The options of noisy measurement files alone.
#[derive(clap::Args)]
pub struct SurveyArgs {
    /// The constraints that the estimates satisfy [default: all]
    #[arg(long, value_enum, value_name = "WHICH")]
    constraints: Option<Kept>,
    /// Exact totals, a CSV with the columns state and total
    ///
    /// A state is its two digits.
    #[arg(long, value_name = "FILE")]
    state_totals: Option<PathBuf>,
    /// Only these states, by their two digits
    ///
    /// Each is estimated alone, without the counts of the nation.
    #[arg(long, value_name = "44,25", value_delimiter = ',')]
    states: Vec<String>,
    /// Census variables in place of queries: P1_003N, P1 or all
    ///
    /// P1 is a whole table. A row for each variable of each place, with the columns GEOID, NAME, variable, label, estimate, moe_95, level.
    /// Without --level, --tabulation or --areas for states, counties and tracts. `assay nmf codes` lists the variables.
    #[arg(long, value_name = "CODE|TABLE", num_args = 1.., value_delimiter = ',', conflicts_with_all = ["queries", "whole", "files"])]
    variables: Vec<String>,
    /// With --variables: one row for each place
    ///
    /// Its columns are CODE and CODE_moe_95 for each variable.
    #[arg(long, requires = "variables", conflicts_with_all = ["queries", "whole", "files", "recodes"])]
    wide: bool,
    /// The confidence of margins in percent [default: 95]
    ///
    /// With --variables a column moe_N each; tidycensus has 90. With --difference, --share, --rank and --median the confidence of their margins
    /// and intervals.
    #[arg(long, value_name = "95,90", value_delimiter = ',')]
    confidence: Vec<String>,
    /// With --variables: also intervals without negative counts
    ///
    /// For each margin the columns lower_N and upper_N: an interval of the same confidence that respects that no count is negative (Feldman
    /// & Cousins).
    #[arg(long, requires = "variables", conflicts_with_all = ["queries", "whole", "files", "recodes"])]
    non_negative: bool,
    /// With --variables: names of places, a CSV of GEOID and NAME
    ///
    /// They are written to the column NAME. The names of tracts, block groups and blocks follow from that of their county, and states are known.
    #[arg(long = "names", value_name = "FILE", requires = "variables", conflicts_with_all = ["queries", "whole", "files", "recodes"])]
    place_names: Option<PathBuf>,
    /// Exact totals of --areas, a CSV of area and total
    ///
    /// Areas may be units of a hierarchy of your own. All estimates satisfy these totals, and are narrower.
    #[arg(long, value_name = "FILE", requires = "areas", conflicts_with_all = ["work", "tabulation", "whole"])]
    area_totals: Option<PathBuf>,
    /// Units of tables in place of units of the spine
    ///
    /// State, County, Tract, Block_Group or Block: both parts of a state together.
    #[arg(long, value_name = "LEVEL", num_args = 1..)]
    tabulation: Vec<String>,
    /// Non-negative whole counts that satisfy all constraints
    ///
    /// They sum to those of the unit above. Only counts above zero are written. In passes: the groups of constraints, then each of these
    /// queries, then single cells; for a histogram of more than 65,536 cells, instead of single cells, the cells that the requested queries
    /// and the constraints distinguish. The column margin_95_of_unbiased_estimate is that of the estimate without rounding, not of the whole
    /// count.
    #[arg(long, value_name = "QUERY", num_args = 0.., conflicts_with_all = ["areas", "tabulation", "files"])]
    whole: Option<Vec<String>>,
    /// Also a file with all covariances of counts of areas
    ///
    /// As CSV. With --areas or --tabulation.
    #[arg(long, value_name = "FILE.csv", conflicts_with_all = ["whole", "work"])]
    covariance: Option<PathBuf>,
    /// The difference of two areas or two variables (repeatable)
    ///
    /// A and B are two areas, compared for each variable, or two variables, compared in each area. The margin is from their covariance. With --areas
    /// or --tabulation.
    #[arg(long, value_name = "A,B", conflicts_with_all = ["whole", "work"])]
    difference: Vec<String>,
    /// The share of a part in a whole, or a ratio (repeatable)
    ///
    /// PART and WHOLE are two areas, compared for each variable, or two variables, compared in each area. The margin is from their covariance. With
    /// --areas or --tabulation.
    #[arg(long, value_name = "PART/WHOLE", conflicts_with_all = ["whole", "work"])]
    share: Vec<String>,
    /// The ranks of all areas by a variable (repeatable)
    ///
    /// With an interval and the probability of each rank. With --areas or --tabulation.
    #[arg(long, value_name = "VARIABLE", conflicts_with_all = ["whole", "work"])]
    rank: Vec<String>,
    /// The median of an attribute with numbers in each area
    ///
    /// An attribute such as age, with an interval; the request must have a query of it, or a table by it such as P12. With --areas or
    /// --tabulation.
    #[arg(long, value_name = "ATTRIBUTE", conflicts_with_all = ["whole", "work"])]
    median: Vec<String>,
    /// A folder for the result of each state
    ///
    /// An interrupted run continues where it stopped, and several machines share the work.
    #[arg(long, value_name = "DIR")]
    work: Option<PathBuf>,
    /// With --work: only every Nth state from the Kth
    ///
    /// Run every part of the N, then every part once more, then --combine.
    #[arg(long, value_name = "K/N", requires = "work", conflicts_with_all = ["combine", "area_totals", "covariance", "difference", "share", "rank", "median"])]
    part: Option<String>,
    /// With --work: only put the parts together
    ///
    /// Into the file that one run would write.
    #[arg(long, requires = "work", conflicts_with_all = ["area_totals", "covariance", "difference", "share", "rank", "median"])]
    combine: bool,
    /// Also a chart of the first query's first count
    ///
    /// With its margin, for each unit of the lowest level or each area.
    #[arg(long, value_name = "FILE.svg", conflicts_with = "whole")]
    svg: Option<PathBuf>,
    /// With --svg: published counts beside the estimates
    ///
    /// A CSV with the columns geoid (or geocode, area) and count.
    #[arg(long, value_name = "FILE", requires = "svg", conflicts_with = "whole")]
    published: Option<PathBuf>,
    /// Estimate although files or a part of a state are missing
    ///
    /// The answer names them.
    #[arg(long)]
    incomplete: bool,
    /// Estimate although the noisy counts do not fit each other
    ///
    /// Otherwise a corrected p-value below 1e-9 is refused. The file states the misfit. The files are read once more.
    #[arg(long)]
    despite_misfit: bool,
    /// The form of the file [default: by its name, or csv]
    ///
    /// csv, parquet, or bureau as in the Bureau's own estimates. Without it parquet if the name ends so.
    #[arg(long, value_enum, value_name = "csv|parquet|bureau", hide_possible_values = true)]
    files: Option<Written>,
}

impl SurveyArgs {
    /// An option of these that was given, if any.
    pub fn given(&self) -> Option<&'static str> {
        self.given_but_confidence().or(if self.confidence.is_empty() { None } else { Some("--confidence") })
    }

    /// The one confidence, in percent, of intervals that have one.
    pub fn one_confidence(&self) -> Result<&str> {
        match &self.confidence[..] {
            [] => Ok("95"),
            [one] => Ok(one),
            _ => bail!("--confidence: expected one number, as 90"),
        }
    }

    /// An option of these besides --confidence that was given, if any.
    pub fn given_but_confidence(&self) -> Option<&'static str> {
        first_given([
            ("--constraints", self.constraints.is_some()),
            ("--state-totals", self.state_totals.is_some()),
            ("--states", !self.states.is_empty()),
            ("--area-totals", self.area_totals.is_some()),
            ("--whole", self.whole.is_some()),
            ("--work", self.work.is_some()),
            ("--svg", self.svg.is_some()),
            ("--tabulation", !self.tabulation.is_empty()),
            ("--variables", !self.variables.is_empty()),
            ("--wide", self.wide),
            ("--non-negative", self.non_negative),
            ("--names", self.place_names.is_some()),
            ("--covariance", self.covariance.is_some()),
            ("--difference", !self.difference.is_empty()),
            ("--share", !self.share.is_empty()),
            ("--rank", !self.rank.is_empty()),
            ("--median", !self.median.is_empty()),
            ("--files", self.files.is_some()),
            ("--incomplete", self.incomplete),
            ("--despite-misfit", self.despite_misfit),
        ])
    }

    /// Hides these options in the help of `assay estimate`, which takes them beside --nmf.
    pub fn hidden() -> impl FnMut(Arg) -> Arg {
        let own = <SurveyArgs as clap::Args>::augment_args(clap::Command::new("nmf estimate"));
        move |argument| {
            let is_own = own.get_arguments().any(|known| known.get_id() == argument.get_id());
            if is_own { argument.hide(true) } else { argument }
        }
    }
}

/// The arguments of either form of the command.
pub struct Call<'a> {
    pub folder: &'a Path,
    /// The option that names the folder, if it is one.
    pub folder_option: Option<&'static str>,
    pub release: &'a str,
    pub out: &'a Path,
    pub request: &'a RequestArgs,
    pub survey: &'a SurveyArgs,
    pub format: Option<&'a FormOrFiles<Written>>,
    pub json: bool,
}

pub fn run(args: &Args) -> Result<Exit> {
    let call = Call {
        folder: &args.folder,
        folder_option: None,
        release: &args.release,
        out: &args.out,
        request: &args.request,
        survey: &args.survey,
        format: args.format.as_ref(),
        json: args.json,
    };
    call.run()
}

impl Call<'_> {
    /// Writes the estimates.
    pub fn run(&self) -> Result<Exit> {
        let mut page = Page::new(FormOrFiles::form(self.format, self.json, false)?);
        let svg = self.survey.svg.as_ref();
        check_level(self.request, self.survey)?;
        let estimation = self.estimation()?;
        progress::stage("estimates from noisy measurements");
        let mut chart = svg.map(|_| ChartRows::default());
        let outcome = estimation.run(&progress::at, &mut |subject, answers, published| {
            chart.iter_mut().for_each(|chart| chart.add(subject, answers, published));
            Ok(())
        });
        match outcome.map_err(|error| self.explained(error))? {
            Outcome::Part { now, states } => put_progress(&mut page, &now, &states),
            Outcome::Estimated(estimated) => {
                if let (Some(chart), Some(svg)) = (chart, svg) {
                    let names = estimated.survey.answers.names();
                    let query = names.first().map_or_else(String::new, |name| name.to_string());
                    drawn::write(svg, &chart.figure(&query)?)?;
                }
                put(*estimated, &mut page);
            }
        }
        page.done()
    }

    /// The estimation that the arguments request.
    fn estimation(&self) -> Result<Estimation> {
        let Call { request, survey, .. } = self;
        let constraints = match survey.constraints.unwrap_or(Kept::All) {
            Kept::None => Constraints::None,
            Kept::StateTotals => Constraints::Totals,
            Kept::All => Constraints::All,
        };
        let form = self.form_of_options(constraints)?;
        let confidence =
            survey.confidence.iter().map(|text| quantity("--confidence", text)).collect::<Result<Vec<_>>>()?;
        let areas = match &request.areas {
            Some(file) => RequestedAreas::File(file.clone()),
            None if survey.tabulation.is_empty() => RequestedAreas::None,
            None => RequestedAreas::Tabulation(survey.tabulation.clone()),
        };
        let work = |folder: &PathBuf| {
            let share = share(survey.part.as_deref(), survey.combine)?;
            Ok::<_, anyhow::Error>(Work { folder: folder.clone(), share })
        };
        Ok(Estimation {
            folder: self.folder.to_path_buf(),
            release: ReleaseInput::Named(self.release.to_string()),
            out: self.out.to_path_buf(),
            form,
            constraints,
            state_totals: survey.state_totals.clone(),
            states: states(survey)?,
            queries: request.queries.clone(),
            recodes: request.recodes.clone(),
            variables: variables(survey, &confidence),
            levels: request.level.clone(),
            areas,
            area_totals: survey.area_totals.clone(),
            whole: survey.whole.clone(),
            truth: request.truth.clone(),
            reading: request.reading(),
            published: survey.published.clone(),
            comparisons: Comparisons {
                file: survey.covariance.clone(),
                differences: survey.difference.clone(),
                shares: survey.share.clone(),
                ranks: survey.rank.clone(),
                medians: survey.median.clone(),
                confidence,
            },
            incomplete: survey.incomplete,
            despite_misfit: survey.despite_misfit,
            work: survey.work.as_ref().map(work).transpose()?,
            caller: invocation::words(),
        })
    }

    /// The form of the file; an error for options that do not go with each other.
    fn form_of_options(&self, constraints: Constraints) -> Result<Form> {
        let Call { request, survey, .. } = self;
        let named = FormOrFiles::files(self.format).copied();
        let totals =
            [("--state-totals", survey.state_totals.is_some()), ("--area-totals", survey.area_totals.is_some())];
        if let Some(name) = first_given(totals).filter(|_| constraints == Constraints::None) {
            bail!("{name} goes with --constraints state-totals or all");
        }
        if survey.files.is_some() && named.is_some_and(|named| survey.files != Some(named)) {
            bail!("--format and --files name different files: give one");
        }
        let compares =
            [&survey.difference, &survey.share, &survey.rank, &survey.median].iter().any(|own| !own.is_empty());
        if !survey.confidence.is_empty() && survey.variables.is_empty() && !compares {
            bail!("--confidence goes with --variables, --difference, --share, --rank or --median");
        }
        let form = form(survey, named, self.out)?;
        if form == Form::Bureau && !request.level.is_empty() && request.areas.is_none() && survey.tabulation.is_empty()
        {
            bail!("--level: the form bureau has tabulation units; say which by --tabulation");
        }
        if !survey.variables.is_empty() && form != Form::Csv {
            bail!("--variables: census variables are written as csv");
        }
        if let Some(file) = &survey.covariance {
            outputs::check_file("--covariance", file, &[Kind::Csv])?;
        }
        Ok(form)
    }

    /// The error of an estimation, with the option that it is about.
    fn explained(&self, error: InputError<EstimationInput>) -> anyhow::Error {
        let InputError { input, error } = error;
        // The error of a query may name no option: it is found by its text.
        let text = error.to_string();
        let is_refused = |name: &&String| is_variable(name) && text.contains(&format!("query {name:?}"));
        if let Some(name) = self.request.queries.iter().find(is_refused) {
            return anyhow!(
                "--queries: {name} is a census variable or a table: name it by --variables {name} in place of --queries"
            );
        }
        let Some(input) = input else { return error.into() };
        let option = match input {
            EstimationInput::Truth => return multiline::hint(error).context("--truth"),
            EstimationInput::Folder => match self.folder_option {
                Some(option) => option,
                None => return error.into(),
            },
            EstimationInput::Release => "--release",
            EstimationInput::Form => "--files",
            EstimationInput::StateTotals => "--state-totals",
            EstimationInput::Queries => "--queries",
            EstimationInput::Recodes => "--recodes",
            EstimationInput::Variables => "--variables",
            EstimationInput::Names => "--names",
            EstimationInput::Confidence => "--confidence",
            EstimationInput::Levels => "--level",
            EstimationInput::Areas => "--areas",
            EstimationInput::AreaTotals => "--area-totals",
            EstimationInput::Tabulation => "--tabulation",
            EstimationInput::Covariance => "--covariance",
            EstimationInput::Difference => "--difference",
            EstimationInput::Share => "--share",
            EstimationInput::Rank => "--rank",
            EstimationInput::Median => "--median",
            EstimationInput::Whole => "--whole",
            EstimationInput::Published => "--published",
            EstimationInput::Work => "--work",
        };
        anyhow::Error::from(error).context(option)
    }
}

/// An error for units of the spine beside another choice of units, which names the one that would be right.
fn check_level(request: &RequestArgs, args: &SurveyArgs) -> Result<()> {
    request.check_level()?;
    let Some(level) = request.level.first() else { return Ok(()) };
    if let Some(other) = args.tabulation.first() {
        bail!(
            "--level {level}: --tabulation {other} names units as well, those of tables, where --level names those of the spine: give one of both"
        );
    }
    let of_areas = [
        ("--covariance", args.covariance.is_some()),
        ("--difference", !args.difference.is_empty()),
        ("--share", !args.share.is_empty()),
        ("--rank", !args.rank.is_empty()),
        ("--median", !args.median.is_empty()),
    ];
    if let Some(name) = first_given(of_areas) {
        bail!(
            "--level {level}: {name} is of areas, whose estimates are computed together: name them by --tabulation {level} or --areas FILE in place of --level"
        );
    }
    Ok(())
}

/// Whether a name has the form of a census variable or of a table of them, as P1_003N or PCT12.
fn is_variable(name: &str) -> bool {
    let (table, number) = name.split_once('_').unwrap_or((name, "001N"));
    let digits = table.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let letters = table.len() - digits.len();
    let is_table = digits.trim_end_matches(|c: char| c.is_ascii_uppercase()).bytes().all(|byte| byte.is_ascii_digit());
    let is_number = number.trim_end_matches('N').bytes().all(|byte| byte.is_ascii_digit());
    (1..=3).contains(&letters) && digits.starts_with(|c: char| c.is_ascii_digit()) && is_table && is_number
}

/// The census variables.
fn variables(args: &SurveyArgs, confidence: &[Confidence]) -> Option<Variables> {
    if args.variables.is_empty() {
        return None;
    }
    let confidence = confidence.to_vec();
    let (names, places) = (args.variables.clone(), args.place_names.clone());
    Some(Variables { names, wide: args.wide, confidence, nonnegative: args.non_negative, places })
}

/// The form of the file.
fn form(args: &SurveyArgs, named: Option<Written>, out: &Path) -> Result<Form> {
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
    Ok(form)
}

/// The answer on a page.
fn put(estimated: Estimated, page: &mut Page) {
    let (survey, form) = (&estimated.survey, estimated.origin.form);
    let object = estimated.to_json();
    match &estimated.errors {
        Some(errors) => {
            page.records(errors.iter().map(ErrorRow::to_json));
            put_errors(page, errors);
        }
        None => page.records([object.clone()]),
    }
    page.object(object);
    let nation = if survey.uses_nation() { "with the counts of the nation" } else { "each state for itself" };
    let line = output::line_of;
    let missing = line("Not in the folder, and without a part in this:", &survey.missing);
    let totals = line("Exact totals that the files have: states", &estimated.states_with_totals());
    let unused = line("Not used, because they were published after the noise:", &survey.root.unused);
    let unread = line("Not used, because they are of two histograms or of unknown groups:", &survey.root.unread);
    let (what, how) = match form {
        Form::Whole => (
            "whole count",
            "Children sum to their parents. Counts that cannot be negative are biased, and have no known margin: for inference take the \
             estimates. margin_95_of_unbiased_estimate is 1.96 standard deviations of the estimate without these limits.",
        ),
        Form::Csv | Form::Parquet | Form::Bureau => {
            ("estimate", "Least squares in doubles; a margin is 1.96 standard deviations.")
        }
    };
    let own = |own: &Confidence| format!("{} is {:.3} standard deviations", own.heading(), own.quantile());
    let margins: Vec<String> = estimated.origin.confidence.iter().map(own).collect();
    let (what, how) = match &margins[..] {
        [] => (what, how.to_string()),
        margins => ("row", format!("Least squares in doubles; {}.", margins.join(", "))),
    };
    let above_zero = if form == Form::Whole { " above zero" } else { "" };
    let marginal = survey.marginal_cells().map_or_else(String::new, |cells| {
        format!("Made of the {cells} cells that these queries and the constraints distinguish: queries of another run need not agree.\n")
    });
    let notes: String = estimated.notes.iter().map(|note| format!("{note}\n")).collect();
    page.text(format!(
        "{} in {}: states {}, {nation}\n{missing}{notes}{totals}{unused}{unread}{marginal}{}\n{how}\n{}",
        output::count_of(estimated.rows, what) + above_zero,
        dp_assay::error::shown(&estimated.origin.out),
        estimated.states().join(", "),
        fit_line(&estimated.fit),
        output::insecure(survey.insecure_seed),
    ));
    page.text(comparisons(&estimated));
    page.provenance(estimated.origin.provenance);
}

/// Differences, shares, ranks and medians, and what they assume.
fn comparisons(estimated: &Estimated) -> String {
    let confidence = &estimated.origin.compared_at[..];
    let mut text: String = estimated.compared.iter().map(|compared| compared.line(confidence) + "\n").collect();
    let has = |kind| estimated.compared.iter().any(|compared| compared.kind == kind);
    if has(ComparisonKind::Difference) {
        text += "Probabilities are approximations: errors are taken as normal, and nothing else as known about the counts.\n";
    }
    if has(ComparisonKind::Share) {
        text += "The delta method and Fieller's interval take errors as normal; the delta method also needs a whole far above its margin.\n";
    }
    text.extend(estimated.ranks.iter().map(|rank| rank.line(confidence) + "\n"));
    if !estimated.ranks.is_empty() {
        text += &format!(
            "Ranks: 1 is the largest; errors are taken as normal. Probabilities are approximations by {DRAWS} joint draws, with nothing else as known about the \
             counts: of units with equal true counts the one with the largest estimate has more than its share.\n"
        );
    }
    text.extend(estimated.medians.iter().map(|median| median.line(confidence) + "\n"));
    if !estimated.medians.is_empty() {
        text += "Medians: counts are spread evenly within a class, and errors are taken as normal.\n";
    }
    text
}

fn states(args: &SurveyArgs) -> Result<Option<Vec<u32>>> {
    let state = |text: &String| {
        let number = text.parse::<u32>().ok().filter(|number| *number < 100);
        number.with_context(|| format!("--states {text}: expected the two digits of a state, as 44"))
    };
    let states = args.states.iter().map(state).collect::<Result<Vec<u32>>>()?;
    Ok((!states.is_empty()).then_some(states))
}
