//! Measuring and estimating on a spine, and estimating from noisy measurement files: the jobs of the library.

use std::path::{Path, PathBuf};

use dp_assay::{
    Error,
    csv_reader::Reading,
    draws::UnfinishedDraw,
    release::input::ReleaseInput,
    topdown::{
        estimation::{self, Request},
        jobs::InputError,
        measurement::{self, Layout},
        nmf::{
            estimation::{
                request::{Estimation, EstimationInput, RequestedAreas, Share, Work},
                run::Outcome,
            },
            tables::Form,
            units::Constraints,
        },
    },
};
use pyo3::{
    exceptions::{PyTypeError, PyUserWarning, PyValueError},
    prelude::*,
    types::PyDict,
};

use crate::{
    account::delta_of,
    enclosure::Enclosure,
    numbers::{self, Exact},
    release::{Release, name_of, type_of},
    work::{self, Stop},
};

/// The release of a job: a name, a path, or a Release.
fn release_of(release: &Bound<PyAny>) -> PyResult<ReleaseInput> {
    if let Ok(release) = release.cast::<Release>() {
        return Ok(ReleaseInput::Given(Box::new(release.get().alone()?)));
    }
    let refuse = || format!("release of type {}: expected a name, a path, or a Release", type_of(release));
    name_of(release)?.map(ReleaseInput::Named).ok_or_else(|| PyTypeError::new_err(refuse()))
}

/// One of the values of an argument.
fn one_of<T: Copy>(what: &str, given: &str, values: &[(&str, T)]) -> PyResult<T> {
    let found = values.iter().find(|(name, _)| *name == given).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let names: Vec<String> = values.iter().map(|(name, _)| format!("{name:?}")).collect();
        PyValueError::new_err(format!("{what} = {given:?}: possible values are {}", names.join(", ")))
    })
}

fn reading(multiline: bool) -> Reading {
    Reading { line_breaks: multiline, ..Reading::default() }
}

/// The words of a call for the provenance: the function, and its arguments that name inputs and outputs.
fn caller(function: &str, arguments: &[(&str, &Path)]) -> Vec<String> {
    let arguments = arguments.iter().map(|(name, path)| format!("{name}={}", path.display()));
    std::iter::once(format!("dp_assay.{function}")).chain(arguments).collect()
}

/// An error unless the caller still waits.
fn unless_left(stop: &Stop) -> dp_assay::Result<()> {
    if stop.is_set() { Err(Error::Stopped) } else { Ok(()) }
}

/// A ValueError with the name of the argument that the error is about, and what would help.
fn refused(argument: Option<&str>, error: &Error) -> PyErr {
    let help = match error {
        Error::Draw { .. } => {
            "\nunfinished=\"resume\" repeats an interrupted draw, with the same noise, for the same inputs; \
             unfinished=\"discard\" counts the budgets of all earlier draws as spent, here and of the same records \
             elsewhere, and draws afresh"
        }
        Error::OpenQuote { .. } => " by multiline=True",
        _ => "",
    };
    let argument = argument.map_or_else(String::new, |argument| format!("{argument}: "));
    PyValueError::new_err(format!("{argument}{error}{help}"))
}

/// A JSON object as a dict; numbers are ints and Decimals with all their digits.
fn dict_of<'py>(py: Python<'py>, json: &str) -> PyResult<Bound<'py, PyDict>> {
    let options = PyDict::new(py);
    options.set_item("parse_float", py.import("decimal")?.getattr("Decimal")?)?;
    Ok(py.import("json")?.call_method("loads", (json,), Some(&options))?.cast_into::<PyDict>()?)
}

/// Adds exact noise to every query of every unit of a spine, writes the folder `out`, and returns its exact budget.
///
/// spine: a folder that the program's `assay spine` wrote. counts: a CSV of true counts, with a column block, a column for each attribute
/// of the release, and the count, headed `column`; multiline allows line breaks in quotes. release: a bundled release with attributes, a
/// file, or a Release. epsilon: the pure epsilon of all noisy counts together, for a spine of pure differential privacy. files: "csv", or
/// "nmf" for the layout of the Bureau's noisy measurement files. delta, digits: of the exact epsilon, an Enclosure.
///
/// Random words come from ChaCha20 under a key of the operating system. insecure_seed is for tests: anyone who knows it can subtract the
/// noise, and every output says so. Every draw is logged before its first noise, in OUT.log beside the folder and in FILE.draws beside
/// the counts. A second draw of the same records spends its budget once more: ValueError unless unfinished is "discard". A draw that
/// did not complete, after Ctrl-C for example, is repeated bit by bit for the same inputs by unfinished="resume".
///
/// Returns a dict: release, rho, epsilon, delta, noisy_counts, files (a dict for each, with margin_95), draw, earlier_draws, provenance.
/// The entries under "confidential" are in no file. If only the end of the log of a complete draw was missing, "status" says so.
#[pyfunction]
#[pyo3(signature = (spine, counts, release, out, *, column = "count", epsilon = None, files = "csv", delta = None, digits = 8,
                    insecure_seed = None, unfinished = "refuse", multiline = false))]
#[allow(clippy::too_many_arguments)]
pub fn measure<'py>(
    py: Python<'py>,
    spine: PathBuf,
    counts: PathBuf,
    release: &Bound<'py, PyAny>,
    out: PathBuf,
    column: &str,
    epsilon: Option<Exact>,
    files: &str,
    delta: Option<Exact>,
    #[pyo3(from_py_with = numbers::digits)] digits: u32,
    #[pyo3(from_py_with = numbers::seed)] insecure_seed: Option<u64>,
    unfinished: &str,
    multiline: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let choices =
        [("refuse", UnfinishedDraw::Refuse), ("resume", UnfinishedDraw::Resume), ("discard", UnfinishedDraw::Discard)];
    let job = measurement::Job {
        caller: caller("topdown.measure", &[("spine", &spine), ("counts", &counts), ("out", &out)]),
        spine,
        counts,
        column: column.to_string(),
        reading: reading(multiline),
        release: release_of(release)?,
        pure_epsilon: epsilon.map(|epsilon| epsilon.0),
        out,
        layout: one_of("files", files, &[("csv", Layout::Csv), ("nmf", Layout::Nmf)])?,
        delta: delta_of(delta.unwrap_or_else(|| Exact(dp_assay::rug::Rational::from((1, 10_000_000_000_u64)))))?,
        digits,
        insecure_seed,
        unfinished: one_of("unfinished", unfinished, &choices)?,
    };
    let place = job.out.display().to_string();
    let outcome = work::run(py, move |stop| Ok(job.run(&mut |_| unless_left(stop))))?;
    let measured = match outcome.map_err(|error| refused(error.input.map(name_of_measured), &error.error))? {
        measurement::Outcome::Measured(measured) => measured,
        measurement::Outcome::WasComplete => {
            let answer = PyDict::new(py);
            answer.set_item("out", place)?;
            answer.set_item("status", "was complete")?;
            return Ok(answer);
        }
    };
    if let Some(why) = &measured.unlogged {
        let why = format!(
            "the log beside the records {why}: a draw from the same records into another folder will not be noticed"
        );
        let warning = py.get_type::<PyUserWarning>();
        py.import("warnings")?.call_method1("warn", (why, warning, 2))?;
    }
    let mut object = measured.to_json();
    object["provenance"] = measured.provenance.to_json();
    let answer = dict_of(py, &object.to_string())?;
    let value = match measured.spending.reason {
        None => measured.spending.epsilon.clone(),
        // 0 <= the true epsilon <= the upper end
        Some(_) => measured.spending.epsilon.hull(&dp_assay::numeric::Enclosure::double(0.0, 64)),
    };
    // Of an upper bound the interval from 0 is not to be narrow.
    let met = value.is_tight(digits) || measured.spending.reason.is_some();
    answer.set_item("epsilon", Bound::new(py, Enclosure::from((value, met)))?)?;
    Ok(answer)
}

fn name_of_measured(input: measurement::JobInput) -> &'static str {
    use measurement::JobInput;
    match input {
        JobInput::Out => "out",
        JobInput::Release => "release",
        JobInput::Spine => "spine",
        JobInput::Plan { has_epsilon: true, .. } => "release, epsilon",
        JobInput::Plan { is_pure: true, .. } => "epsilon is missing",
        JobInput::Plan { .. } => "release",
        JobInput::Layout => "files",
        JobInput::Counts => "counts",
    }
}

/// Estimates from the noisy counts that measure() drew: writes the folder `out`, and returns the accuracy of its totals by level.
///
/// spine, release, epsilon: those of the measurement. measurements: its folder. The folder has totals.csv, the least-squares total of each
/// unit with its variance, and, if the noisy counts determine every cell, counts.csv: non-negative whole counts in which children sum to
/// their parents. With queries (marginals such
/// as "votingage * hispanic", or "all"), level (names of levels) or areas (a CSV with the columns area and block, and weight if an area has
/// only a part of a block) also the best linear unbiased estimates of these, in estimates.csv or areas.csv. recodes: a TOML file of recodes
/// for the queries. truth: in a rehearsal, the file of true counts; the dict has the errors.
///
/// Returns a dict: release, levels (a dict for each: variances of totals as dicts of lower and upper, and margin_95_approx), left_out,
/// records, provenance; insecure_seed if the noise can be subtracted. ValueError for noisy counts of another spine or release.
#[pyfunction]
#[pyo3(signature = (spine, measurements, release, out, *, epsilon = None, queries = Vec::new(), recodes = None, level = Vec::new(),
                    areas = None, truth = None, multiline = false))]
#[allow(clippy::too_many_arguments)]
pub fn estimate<'py>(
    py: Python<'py>,
    spine: PathBuf,
    measurements: PathBuf,
    release: &Bound<'py, PyAny>,
    out: PathBuf,
    epsilon: Option<Exact>,
    #[pyo3(from_py_with = query_names)] queries: Vec<String>,
    recodes: Option<PathBuf>,
    #[pyo3(from_py_with = crate::release::level_names)] level: Vec<String>,
    areas: Option<PathBuf>,
    truth: Option<PathBuf>,
    multiline: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let asks = !queries.is_empty() || !level.is_empty() || areas.is_some() || truth.is_some() || recodes.is_some();
    if areas.is_some() && !level.is_empty() {
        return Err(PyValueError::new_err("level, areas: give one of them"));
    }
    let arguments = [("spine", spine.as_path()), ("measurements", &measurements), ("out", &out)];
    let job = estimation::Job {
        caller: caller("topdown.estimate", &arguments),
        spine,
        measurements,
        release: release_of(release)?,
        pure_epsilon: epsilon.map(|epsilon| epsilon.0),
        out,
        request: asks.then_some(Request { queries, recodes, levels: level, areas, truth, reading: reading(multiline) }),
    };
    let estimated = work::run(py, move |stop| Ok(job.run(&mut |_| unless_left(stop))))?;
    let estimated = estimated.map_err(|error| refused(error.input.map(name_of_estimated), &error.error))?;
    let mut object = estimated.to_json();
    object["provenance"] = estimated.provenance.to_json();
    dict_of(py, &object.to_string())
}

fn name_of_estimated(input: estimation::JobInput) -> &'static str {
    use estimation::JobInput;
    match input {
        JobInput::Out => "out",
        JobInput::Release => "release",
        JobInput::Spine => "spine",
        JobInput::Plan { has_epsilon: true, .. } => "release, epsilon",
        JobInput::Plan { is_pure: true, .. } => "epsilon is missing",
        JobInput::Plan { .. } => "release",
        JobInput::Measurements => "measurements",
        JobInput::Queries => "queries",
        JobInput::Levels => "level",
        JobInput::Recodes => "recodes",
        JobInput::Areas => "areas",
        JobInput::Truth => "truth",
    }
}

/// The argument `queries`: a name or several.
fn query_names(queries: &Bound<PyAny>) -> PyResult<Vec<String>> {
    let wrong =
        || PyTypeError::new_err(format!("queries of type {}: expected a name, or a list of names", type_of(queries)));
    queries.extract::<String>().map(|one| vec![one]).or_else(|_| queries.extract().map_err(|_| wrong()))
}

/// Estimates from a folder of noisy measurement files, written to the file `out`: dp_assay.nmf.estimate reads it back.
#[pyfunction]
#[pyo3(signature = (folder, release, out, *, queries, recodes, level, tabulation, areas, area_totals, states, constraints, state_totals, truth, whole,
                    incomplete, despite_misfit, work_folder))]
#[allow(clippy::too_many_arguments)]
pub fn estimate_nmf<'py>(
    py: Python<'py>,
    folder: PathBuf,
    release: &Bound<'py, PyAny>,
    out: PathBuf,
    queries: Vec<String>,
    recodes: Option<PathBuf>,
    level: Vec<String>,
    tabulation: Vec<String>,
    areas: Option<PathBuf>,
    area_totals: Option<PathBuf>,
    states: Vec<u32>,
    constraints: &str,
    state_totals: Option<PathBuf>,
    truth: Option<PathBuf>,
    whole: Option<Vec<String>>,
    incomplete: bool,
    despite_misfit: bool,
    work_folder: Option<PathBuf>,
) -> PyResult<Bound<'py, PyDict>> {
    let exclusive = [!level.is_empty(), !tabulation.is_empty(), areas.is_some()];
    if exclusive.iter().filter(|given| **given).count() > 1 {
        return Err(PyValueError::new_err("level, tabulation, areas: give one of them"));
    }
    if whole.is_some() && (exclusive[1] || exclusive[2]) {
        return Err(PyValueError::new_err("whole: whole counts are those of units of the spine, by level"));
    }
    let kept = [("all", Constraints::All), ("state-totals", Constraints::Totals), ("none", Constraints::None)];
    let estimation = Estimation {
        caller: caller("nmf.estimate", &[("folder", &folder)]),
        folder,
        release: release_of(release)?,
        out,
        form: Form::Csv,
        constraints: one_of("constraints", constraints, &kept)?,
        state_totals,
        states: (!states.is_empty()).then_some(states),
        queries,
        recodes,
        variables: None,
        levels: level,
        areas: match areas {
            Some(file) => RequestedAreas::File(file),
            None if tabulation.is_empty() => RequestedAreas::None,
            None => RequestedAreas::Tabulation(tabulation),
        },
        area_totals,
        whole,
        truth,
        reading: reading(false),
        comparisons: Default::default(),
        published: None,
        incomplete,
        despite_misfit,
        work: work_folder.map(|folder| Work { folder, share: Share::All }),
    };
    let outcome = work::run(py, move |stop| Ok(estimation.run(&|_, _| (), &mut |_, _, _| unless_left(stop))))?;
    let outcome = outcome.map_err(|InputError { input, error }| refused(input.map(name_of_nmf), &error))?;
    match outcome {
        Outcome::Estimated(estimated) => {
            let mut object = estimated.to_json();
            object["provenance"] = estimated.origin.provenance.to_json();
            dict_of(py, &object.to_string())
        }
        Outcome::Part { .. } => Err(PyValueError::new_err("only a part of the work was requested")),
    }
}

fn name_of_nmf(input: EstimationInput) -> &'static str {
    match input {
        EstimationInput::Folder => "folder",
        EstimationInput::Release => "release",
        EstimationInput::Form => "form",
        EstimationInput::StateTotals => "state_totals",
        EstimationInput::Queries => "queries",
        EstimationInput::Recodes => "recodes",
        EstimationInput::Variables => "variables",
        EstimationInput::Names => "names",
        EstimationInput::Confidence => "confidence",
        EstimationInput::Levels => "level",
        EstimationInput::Areas => "areas",
        EstimationInput::AreaTotals => "area_totals",
        EstimationInput::Tabulation => "tabulation",
        EstimationInput::Covariance => "covariance",
        EstimationInput::Difference => "difference",
        EstimationInput::Share => "share",
        EstimationInput::Rank => "rank",
        EstimationInput::Median => "median",
        EstimationInput::Whole => "whole",
        EstimationInput::Truth => "truth",
        EstimationInput::Published => "published",
        EstimationInput::Work => "work",
    }
}
