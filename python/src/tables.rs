//! Mechanisms by their masses, from rows or from files: NoiseTable, PerturbationTable and Pair; and UnknownKey.

use std::{path::PathBuf, sync::Arc};

use dp_assay::law::{
    FileOptions, Law, NoiseTable as Noise, Pair as Hypotheses, PerturbationTable as Cells, UnknownKey as Keys,
};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::{PyDict, PyList, PyString, PyTuple},
};

use crate::{
    account::Account,
    laws::{Given, Options, Recipe},
    noise::IntegerNoise,
    numbers::{self, Exact, to_fraction},
    work::quick,
};

/// The rows of a table, or the CSV file that has them.
enum Source<T> {
    File(PathBuf),
    Rows(Vec<T>),
}

/// A row of a table, and its columns in words.
trait Row: for<'a, 'py> FromPyObject<'a, 'py> {
    const COLUMNS: &'static str;
}

impl Row for (i64, Exact) {
    const COLUMNS: &'static str = "(value, probability)";
}

impl Row for (u64, u64, Exact) {
    const COLUMNS: &'static str = "(true count, published value, probability)";
}

impl Row for (Exact, Exact) {
    const COLUMNS: &'static str = "(p, q)";
}

/// A path, or any iterable of rows, of which each is a sequence. A dict, whose keys alone would be read, is refused.
fn source<T: Row>(rows: &Bound<PyAny>) -> PyResult<Source<T>> {
    if let Ok(path) = rows.extract::<PathBuf>() {
        return Ok(Source::File(path));
    }
    let refused = |what: &str, why: &str| {
        let expected = T::COLUMNS;
        PyTypeError::new_err(format!("{what}: expected a path or a list of {expected}{why}"))
    };
    let name = rows.get_type().name()?;
    if rows.is_instance_of::<PyDict>() {
        return Err(refused("rows of type dict", ", as list(rows.items())"));
    }
    let each = rows.try_iter().map_err(|_| refused(&format!("rows of type {name}"), ""))?;
    let row = |(position, row): (usize, PyResult<Bound<PyAny>>)| {
        let row = row?;
        let wrong = |error: &str| refused(&format!("row {position} (from 0), {}{error}", shown(&row)), "");
        if row.is_instance_of::<PyString>() {
            return Err(wrong(""));
        }
        let values: Vec<Bound<PyAny>> = row.try_iter().and_then(Iterator::collect).map_err(|_| wrong(""))?;
        let tuple = PyTuple::new(row.py(), values)?;
        tuple.extract::<T>().map_err(Into::into).map_err(|error: PyErr| {
            // A number of a wrong value is reported as one; Rust's words for the types of a row are not.
            if error.is_instance_of::<PyValueError>(row.py()) && tuple.len() == T::COLUMNS.split(',').count() {
                PyValueError::new_err(format!("row {position} (from 0), {}: {}", shown(&row), error.value(row.py())))
            } else {
                wrong("")
            }
        })
    };
    Ok(Source::Rows(each.enumerate().map(row).collect::<PyResult<_>>()?))
}

/// A row in an error, clipped.
fn shown(row: &Bound<PyAny>) -> String {
    const MOST: usize = 60;
    let text = row.repr().map_or_else(|_| "a row".to_string(), |text| text.to_string());
    if text.chars().count() <= MOST { text } else { text.chars().take(MOST).chain("...".chars()).collect() }
}

/// The methods of a class of rows beside its constructor.
macro_rules! of_rows {
    ($name:ident, $law:ident, $rows:expr) => {
        #[pymethods]
        impl $name {
            /// Its rows with exact probabilities, those of probability zero left out.
            #[getter]
            fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
                let Law::$law(table) = &self.0.counts.law else { return Ok(PyList::empty(py)) };
                let rows: fn(Python<'py>, &_) -> PyResult<Bound<'py, PyList>> = $rows;
                rows(py, &**table)
            }

            /// Its name, for texts.
            #[getter]
            fn name(&self) -> &str {
                let Law::$law(table) = &self.0.counts.law else { return "" };
                table.title()
            }

            /// How many there are.
            #[getter]
            fn count(&self) -> u64 {
                self.0.counts.count
            }

            fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Recipe<'py>> {
                let own = slf.get();
                let values = PyList::new(slf.py(), [own.rows(slf.py())?])?;
                own.0.recipe(slf.get_type().into_any(), values, Some(own.name()))
            }
        }
    };
}

/// A table from rows, or from a file.
fn read<T, L>(
    source: Source<T>,
    normalize: bool,
    name: Option<&str>,
    of_file: impl FnOnce(&std::path::Path, bool) -> dp_assay::Result<L>,
    of_rows: impl FnOnce(&str, Vec<T>) -> dp_assay::Result<L>,
) -> PyResult<L> {
    Ok(match source {
        Source::File(path) => quick(of_file(&path, normalize))?,
        Source::Rows(_) if normalize => {
            return Err(PyValueError::new_err("normalize is for files: give rows that add up to one"));
        }
        Source::Rows(rows) => quick(of_rows(name.unwrap_or("rows"), rows))?,
    })
}

/// count counts with noise by its masses; each changed by shift between neighbors.
///
/// rows: a list, or another iterable, of (value, probability) with integer values, or a CSV file with the columns value and mass. The probabilities add up to exactly 1; with normalize those of a
/// file are divided by their sum. Outputs that only one neighbor can have are `infinite_loss_mass`. A table need not be symmetric: answers are about the larger of both directions.
/// name: for texts, where rows are given. The other arguments are as in DiscreteGaussian.
#[pyclass(frozen, extends = IntegerNoise, module = "dp_assay", name = "NoiseTable")]
pub struct NoiseTable(Given);

of_rows!(NoiseTable, Table, |py, table: &Noise| {
    let rows = PyList::empty(py);
    for (value, mass) in table.masses() {
        rows.append((value, to_fraction(py, mass)?))?;
    }
    Ok(rows)
});

#[pymethods]
impl NoiseTable {
    #[new]
    #[pyo3(signature = (rows, count = 1, shift = 1, *, normalize = false, name = None, neighbors = None, group = 1, counts_as_given = false))]
    #[allow(clippy::too_many_arguments, reason = "the arguments of a class of Python")]
    fn new(
        rows: &Bound<PyAny>,
        #[pyo3(from_py_with = numbers::count)] count: u64,
        #[pyo3(from_py_with = numbers::shift)] shift: u64,
        normalize: bool,
        name: Option<&str>,
        neighbors: Option<&str>,
        #[pyo3(from_py_with = numbers::group)] group: u64,
        counts_as_given: bool,
    ) -> PyResult<PyClassInitializer<Self>> {
        let of_rows = |name: &str, rows: Vec<(i64, Exact)>| {
            Noise::new(name, rows.into_iter().map(|(value, mass)| (value, mass.0)))
        };
        let table = read(source(rows)?, normalize, name, Noise::read, of_rows)?;
        let options = Options { neighbors, group: Some(group), counts_as_given };
        let (account, given) = Given::new(Law::Table(Arc::new(table)), [count, shift], &options)?;
        let noise = IntegerNoise::new(given.counts.law.clone());
        Ok(PyClassInitializer::from(account).add_subclass(noise).add_subclass(NoiseTable(given)))
    }

    /// By how much one person changes each count.
    #[getter]
    fn shift(&self) -> u64 {
        self.0.counts.shift
    }
}

/// count cells of the cell-key method; each changed by shift between neighbors.
///
/// rows: a list of (true count, published value, probability), or a CSV file with the columns i, j and p, also as the R package ptable exports it, or with the columns pcv, ckey
/// and pvalue. The probabilities of each true count add up to exactly 1; with normalize those of a file are divided by their sum. period: the number of the last rows that are
/// repeated for all larger counts, by default 1, and 250 of a file of keys with 750 rows. The other arguments are as in NoiseTable.
#[pyclass(frozen, extends = Account, module = "dp_assay", name = "PerturbationTable")]
pub struct PerturbationTable(Given);

of_rows!(PerturbationTable, Perturbation, |py, table: &Cells| {
    let rows = PyList::empty(py);
    for (i, j, p) in table.entries() {
        rows.append((i, j, to_fraction(py, p)?))?;
    }
    Ok(rows)
});

#[pymethods]
impl PerturbationTable {
    #[new]
    #[pyo3(signature = (rows, count = 1, shift = 1, *, normalize = false, period = None, name = None, neighbors = None, group = 1, counts_as_given = false))]
    #[allow(clippy::too_many_arguments, reason = "the arguments of a class of Python")]
    fn new(
        rows: &Bound<PyAny>,
        #[pyo3(from_py_with = numbers::count)] count: u64,
        #[pyo3(from_py_with = numbers::shift)] shift: u64,
        normalize: bool,
        period: Option<u64>,
        name: Option<&str>,
        neighbors: Option<&str>,
        #[pyo3(from_py_with = numbers::group)] group: u64,
        counts_as_given: bool,
    ) -> PyResult<PyClassInitializer<Self>> {
        let of_rows = |name: &str, rows: Vec<(u64, u64, Exact)>| {
            let table = Cells::new(name, rows.into_iter().map(|(i, j, p)| (i, j, p.0)))?;
            period.map_or(Ok(table.clone()), |period| table.with_period(period))
        };
        let of_file = |path: &std::path::Path, normalize: bool| Cells::read(path, FileOptions { normalize, period });
        let table = read(source(rows)?, normalize, name, of_file, of_rows)?;
        let options = Options { neighbors, group: Some(group), counts_as_given };
        let (account, given) = Given::new(Law::Perturbation(Arc::new(table)), [count, shift], &options)?;
        Ok(PyClassInitializer::from(account).add_subclass(PerturbationTable(given)))
    }

    /// By how much one person changes each cell.
    #[getter]
    fn shift(&self) -> u64 {
        self.0.counts.shift
    }

    /// The number of the last rows that are repeated for all larger counts, moved along with them.
    #[getter]
    fn period(&self) -> u64 {
        if let Law::Perturbation(table) = &self.0.counts.law { table.period() } else { 1 }
    }
}

/// count mechanisms by their outcomes under two hypotheses, taken as given under each neighbor relation.
///
/// rows: a list of (p, q), the probabilities of each outcome with a record and without it, or a CSV file with the columns p and q. Both add up to exactly 1; with normalize those
/// of a file are divided by their sum. Outcomes of the same ratio are one row of `rows`.
#[pyclass(frozen, extends = Account, module = "dp_assay", name = "Pair")]
pub struct Pair(Given);

of_rows!(Pair, Pair, |py, pair: &Hypotheses| {
    let rows = PyList::empty(py);
    for (p, q) in pair.outcomes() {
        rows.append((to_fraction(py, &p)?, to_fraction(py, &q)?))?;
    }
    Ok(rows)
});

#[pymethods]
impl Pair {
    #[new]
    #[pyo3(signature = (rows, count = 1, *, normalize = false, name = None, neighbors = None))]
    fn new(
        rows: &Bound<PyAny>,
        #[pyo3(from_py_with = numbers::count)] count: u64,
        normalize: bool,
        name: Option<&str>,
        neighbors: Option<&str>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let of_rows =
            |name: &str, rows: Vec<(Exact, Exact)>| Hypotheses::new(name, rows.into_iter().map(|(p, q)| (p.0, q.0)));
        let pair = read(source(rows)?, normalize, name, Hypotheses::read, of_rows)?;
        let options = Options { neighbors, ..Options::default() };
        let (account, given) = Given::new(Law::Pair(Arc::new(pair)), [count, 1], &options)?;
        Ok(PyClassInitializer::from(account).add_subclass(Pair(given)))
    }
}

/// count keys that are shown if their noisy count is at least the threshold, where the data decide which keys there are; one person changes each of them by up to shift.
///
/// law: "discrete-laplace", "discrete-gaussian", "laplace" or "gaussian"; parameter: its epsilon, sigma2 or scale. The answer is the worst over all numbers of keys that
/// nobody else has; such a key is shown with the probability `infinite_loss_mass`. The other arguments are as in DiscreteGaussian.
#[pyclass(frozen, extends = Account, module = "dp_assay", name = "UnknownKey")]
pub struct UnknownKey(Given);

#[pymethods]
impl UnknownKey {
    #[new]
    #[pyo3(signature = (law, parameter, threshold, count = 1, shift = 1, *, neighbors = None, group = 1, counts_as_given = false))]
    #[allow(clippy::too_many_arguments, reason = "the arguments of a class of Python")]
    fn new(
        law: &str,
        parameter: Exact,
        threshold: Exact,
        #[pyo3(from_py_with = numbers::count)] count: u64,
        #[pyo3(from_py_with = numbers::shift)] shift: u64,
        neighbors: Option<&str>,
        #[pyo3(from_py_with = numbers::group)] group: u64,
        counts_as_given: bool,
    ) -> PyResult<PyClassInitializer<Self>> {
        let keys = quick(Keys::new(law, parameter.0, threshold.0))?;
        let options = Options { neighbors, group: Some(group), counts_as_given };
        let (account, given) = Given::new(Law::UnknownKey(Arc::new(keys)), [count, shift], &options)?;
        Ok(PyClassInitializer::from(account).add_subclass(UnknownKey(given)))
    }

    /// The law of the noise: "discrete-laplace", "discrete-gaussian", "laplace" or "gaussian".
    #[getter]
    fn law(&self) -> &'static str {
        match &self.0.counts.law {
            Law::UnknownKey(keys) => Law::from(keys.noise()).key(),
            other => other.key(),
        }
    }

    /// The parameter of the noise, and the threshold, by their names.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.0.parameters(py)
    }

    /// How many there are.
    #[getter]
    fn count(&self) -> u64 {
        self.0.counts.count
    }

    /// By how much one person changes each key.
    #[getter]
    fn shift(&self) -> u64 {
        self.0.counts.shift
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Recipe<'py>> {
        let (py, own) = (slf.py(), slf.get());
        let law = own.law().into_pyobject(py)?.into_any();
        let values = own.parameters(py)?.values();
        values.insert(0, law)?;
        own.0.recipe(slf.get_type().into_any(), values, None)
    }
}
