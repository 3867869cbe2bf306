//! `assay noise`: noise on columns of a table.

use std::{
    io,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, anyhow, bail};
use dp_assay::{
    Error,
    account::Counts,
    document::fields::Fields,
    law::{CellKeys, FileOptions, Law},
    noise::{KeyedColumns, TableDone, TableOptions, TableSink, TableSource, perturb_by_keys},
};
use rug::Rational;

use super::{
    exit::Exit,
    invocation,
    mechanism::{self, Noise, Randomness},
    multiline::{self, Multiline},
    output::{self, exact, exact_text},
    progress,
};

/// Adds exact noise to columns of a CSV or Parquet file
///
/// Everything else in the table stays as it is. A second draw spends the budget again: an existing file is not replaced without --force.
#[derive(clap::Args)]
#[command(mut_arg("p-table", |arg| arg.hide(false)))]
pub struct Args {
    /// A table: Parquet if its name ends so, otherwise CSV with a header line; - for CSV from standard input
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// A column of counts, by its name in the header (repeatable: each count has noise of its own)
    #[arg(long, value_name = "NAME", required = true)]
    column: Vec<String>,
    #[command(flatten)]
    noise: Noise,
    /// With --p-table: the column of the keys of the cells, which is left out of OUT
    #[arg(long, value_name = "NAME")]
    keys: Option<String>,
    /// With --p-table: its last N rows are repeated for larger counts [default: 1, and 250 where keys have 750 rows]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    period: Option<u64>,
    /// The output, written atomically in the form of the input; - for standard output
    #[arg(long, value_name = "OUT")]
    out: PathBuf,
    /// Replace OUT if it exists: its noisy counts were drawn, and their budget is spent
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    multiline: Multiline,
    /// Copy the key-value metadata of a Parquet file too: attributes of a data frame, and anything else that programs store there
    #[arg(long)]
    keep_metadata: bool,
    #[command(flatten)]
    randomness: Randomness,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

const STREAM: &str = "-";

pub fn run(args: &Args) -> Result<Exit> {
    let to_stdout = args.out == Path::new(STREAM);
    if to_stdout && args.json {
        bail!("--json: the table is written to standard output; give it a file by --out");
    }
    check_forms(args)?;
    match (args.noise.p_table(), &args.keys) {
        (Some(path), Some(keys)) => return by_keys(args, path, keys),
        (None, Some(_)) => bail!("--keys: is the column of the keys of cells, and needs --p-table FILE"),
        (None, None) if args.period.is_some() => bail!("--period: is about the rows of --p-table, which is not given"),
        (_, None) => {}
    }
    let sampler = args.noise.resolve()?;
    let mut streams = args.randomness.resolve()?;
    let provenance = invocation::provenance()?;
    let (mut stdin, mut stdout) = (io::stdin().lock(), io::stdout().lock());
    let (source, sink) = (args.source(&mut stdin), args.sink(&mut stdout));
    progress::stage("noise on counts, bytes read");
    let options = TableOptions { line_breaks: args.multiline.multiline, keep_metadata: args.keep_metadata };
    let drawn = streams.add_noise_to_columns(&sampler, source, &args.column, sink, options, &mut progress::at);
    drop(stdout);
    progress::end();
    let done = drawn.map_err(|error| args.explained(error))?;
    if !to_stdout {
        provenance.write_beside(&args.out)?;
    }
    // The budget of one count that differs by one between neighbors, if the accountant's range includes the parameter.
    let spent = Spent::of_law(sampler.law());
    if args.json {
        let answer = mechanism::fields(sampler.law(), &streams)
            .with("column", &args.column[0])
            .with("columns", &args.column)
            .with("rows", done.rows)
            .with_some("metadata_kept", args.input_is_parquet().then_some(&done.kept_metadata))
            .with_some("metadata_dropped", args.input_is_parquet().then_some(&done.dropped_metadata))
            .with("rho", spent.rho.as_ref().map(exact))
            .with("pure_epsilon", spent.pure_epsilon.as_ref().map(exact))
            .with("out", args.out.display().to_string());
        output::json_of(&answer.object(), &provenance)?;
    } else if !to_stdout {
        said(args, &done, sampler.law(), &spent, streams.insecure_seed())?;
    }
    Ok(Exit::Done)
}

/// The counts of a column, perturbed by the keys of their cells.
fn by_keys(args: &Args, path: &Path, keys: &str) -> Result<Exit> {
    let [column] = &args.column[..] else {
        bail!("--keys: is the column of the keys of one column of counts: give --column once");
    };
    if args.input_is_parquet() {
        bail!("--keys: cell keys are read from CSV");
    }
    if args.randomness.is_given() {
        bail!("--insecure-seed: nothing is drawn, as the keys decide: leave it out");
    }
    let options = FileOptions { normalize: args.noise.normalizes(), period: args.period };
    let table = CellKeys::read(path, options).context("--p-table")?;
    let provenance = invocation::provenance()?;
    let to_stdout = args.out == Path::new(STREAM);
    let (mut stdin, mut stdout) = (io::stdin().lock(), io::stdout().lock());
    let columns = KeyedColumns { counts: column, keys, line_breaks: args.multiline.multiline };
    progress::stage("counts perturbed by their keys, bytes read");
    let done = perturb_by_keys(&table, args.source(&mut stdin), &columns, args.sink(&mut stdout), &mut progress::at);
    drop(stdout);
    progress::end();
    let done = done.map_err(|error| args.explained(error))?;
    if to_stdout {
        return Ok(Exit::Done);
    }
    provenance.write_beside(&args.out)?;
    if args.json {
        let answer = Fields::new()
            .with("law", "cell-key")
            .with("table", table.table().title())
            .with("period", table.table().period())
            .with("column", column)
            .with("keys", keys)
            .with("rows", done.rows)
            .with("draws", done.draws)
            .with("out", args.out.display().to_string());
        output::json_of(&answer.object(), &provenance)?;
        return Ok(Exit::Done);
    }
    output::text(&format!(
        "{} of column {column:?} perturbed by the keys in {keys:?} in {}, without that column\n{} of a count and a key: where both are the same, so is the noise\n\
         Two cells that differ in one record have different keys, and so noise of their own. `assay delta --p-table {}xM` accounts for a record that is in M cells of different records.\n",
        output::count_of(done.rows, "count"),
        dp_assay::error::shown(&args.out),
        output::count_of(done.draws, "different pair"),
        dp_assay::error::shown(path),
    ))?;
    Ok(Exit::Done)
}

impl Args {
    fn source<'a>(&'a self, stdin: &'a mut dyn io::Read) -> TableSource<'a> {
        match self.input == Path::new(STREAM) {
            true => TableSource::Stream(stdin, Path::new("standard input")),
            false => TableSource::File(&self.input),
        }
    }

    fn sink<'a>(&'a self, stdout: &'a mut dyn io::Write) -> TableSink<'a> {
        match (self.out == Path::new(STREAM), self.force) {
            (true, _) => TableSink::Stream(stdout, Path::new("standard output")),
            (_, true) => TableSink::Replace(&self.out),
            _ => TableSink::New(&self.out),
        }
    }

    /// The error of a draw, with the options that resolve it.
    fn explained(&self, error: Error) -> anyhow::Error {
        match error {
            Error::Exists { path } => {
                anyhow!(
                    "--out {}: is there already; to draw again is to spend again: --force replaces it",
                    dp_assay::error::shown(&path)
                )
            }
            other => multiline::hint(other),
        }
    }

    fn input_is_parquet(&self) -> bool {
        is_parquet(&self.input)
    }
}

fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("parquet"))
}

/// The form of the output is that of the input.
fn check_forms(args: &Args) -> Result<()> {
    if args.keep_metadata && !args.input_is_parquet() {
        bail!("--keep-metadata: is for Parquet; CSV has no metadata");
    }
    if args.multiline.multiline && args.input_is_parquet() {
        bail!("--multiline: is for CSV");
    }
    match (is_parquet(&args.input), is_parquet(&args.out)) {
        (true, false) => {
            bail!(
                "--out {}: the input is Parquet, and so is the output: give a name in .parquet",
                dp_assay::error::shown(&args.out)
            )
        }
        (false, true) => {
            bail!(
                "--out {}: the input is CSV, and so is the output: give a name in .csv",
                dp_assay::error::shown(&args.out)
            )
        }
        _ => Ok(()),
    }
}

/// The budget of a count.
struct Spent {
    rho: Option<Rational>,
    pure_epsilon: Option<Rational>,
    /// Some outputs are possible for one of two neighbors only: no rho and no pure epsilon.
    infinite: bool,
}

impl Spent {
    fn of_law(law: &Law) -> Spent {
        let counts = Counts::new(law.clone(), 1, 1).ok();
        let infinite = law.has_infinite_loss();
        let finite = counts.as_ref().filter(|_| !infinite);
        Spent { rho: finite.map(Counts::rho), pure_epsilon: finite.and_then(Counts::pure_epsilon), infinite }
    }
}

/// The keys of the metadata that were kept and dropped.
fn metadata(done: &TableDone) -> String {
    let quoted = |keys: &[String]| keys.iter().map(|key| format!("{key:?}")).collect::<Vec<_>>();
    output::line_of("metadata of the file that were copied, and are not noisy:", &quoted(&done.kept_metadata))
        + &output::line_of("metadata of the file that were left out:", &quoted(&done.dropped_metadata))
}

/// A few lines for people.
fn said(args: &Args, done: &TableDone, law: &Law, spent: &Spent, insecure_seed: Option<u64>) -> Result<()> {
    let out = dp_assay::error::shown(&args.out);
    let names: Vec<String> = args.column.iter().map(|name| format!("{name:?}")).collect();
    let columns = if names.len() == 1 { "column" } else { "each of the columns" };
    let counts = output::count_of(done.rows, "count");
    let title = mechanism::title(law);
    let mut text = format!("{counts} of {columns} {} with noise ({title}) in {out}\n", names.join(", "));
    text += &metadata(done);
    if let Some(rho) = &spent.rho {
        let changed = if law.is_guarantee() { "an answer that changes" } else { "a count that differs by one" };
        let pure = spent.pure_epsilon.as_ref();
        // Of a pure guarantee epsilon^2 / 2 is a bound on rho.
        let at_most = if pure.is_some() { "at most " } else { "" };
        text += &format!("{changed} spends {at_most}rho = {}", exact_text(rho));
        text += &pure.map_or_else(String::new, |epsilon| format!(" and epsilon = {}", exact_text(epsilon)));
        text += if names.len() == 1 { "\n" } else { "; one record may be in a count of every column\n" };
    }
    if spent.infinite {
        text += "some outputs are possible for one of two neighbors only, so that no pure epsilon and no rho holds: `assay delta` states the delta of this noise\n";
    }
    text += &output::insecure(insecure_seed);
    output::text(&text)
}
