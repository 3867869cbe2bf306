//! Releases, and ledgers of several releases about the same people.

use std::sync::Arc;

use dp_assay::{
    account::ledger::{Balance, Part},
    ledger::{LedgerEntry, LedgerFile, Population as Records},
    release::{Neighbors, Published as Figure, Release as Published, subject::Subject},
};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::{PyBool, PyDict, PyNotImplemented, PyString},
};

use crate::{
    account::{Account, compared_of, delta_of, neighbors_of},
    enclosure::Enclosure,
    numbers::{self, Exact, parameter_of, to_fraction},
    work::{self, quick},
};

/// The path or name of an argument that may be a text or a path; `None` for anything else.
pub fn name_of(name: &Bound<PyAny>) -> PyResult<Option<String>> {
    let path = name.hasattr("__fspath__")?.then(|| name.call_method0("__fspath__")).transpose()?;
    Ok(path.as_ref().unwrap_or(name).extract().ok())
}

/// The name of a value's type.
pub fn type_of(value: &Bound<PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "unknown".to_string(), |name| name.to_string())
}

/// The argument `levels`: a name or several.
pub fn level_names(levels: &Bound<PyAny>) -> PyResult<Vec<String>> {
    let wrong = |value: &Bound<PyAny>| {
        PyTypeError::new_err(format!(
            "levels of type {}: expected the name of a level, or a list of names",
            type_of(value)
        ))
    };
    if let Ok(one) = levels.extract::<String>() {
        return Ok(vec![one]);
    }
    let all = levels.try_iter().map_err(|_| wrong(levels))?;
    all.map(|level| level.and_then(|level| level.extract().map_err(|_| wrong(&level)))).collect()
}

/// A release: its geolevels, queries and budget, and its account.
///
/// name: a bundled release (releases() lists them) or the path of a TOML file of the same form. levels: only this geolevel, or these.
/// neighbors: in place of the release's own relation. group: the number of people who leave or enter together.
#[pyclass(frozen, extends = Account, module = "dp_assay", name = "Release")]
pub struct Release {
    release: Published,
    levels: Vec<String>,
    neighbors: Option<&'static str>,
    group: u64,
}

impl Release {
    /// A release or some of its levels.
    pub fn of(
        release: Published,
        levels: Vec<String>,
        neighbors: Option<&str>,
        group: u64,
    ) -> PyResult<PyClassInitializer<Self>> {
        let neighbors = neighbors_of(neighbors)?;
        let subject =
            Subject { release: Some(release.clone()), levels: levels.clone(), neighbors, group, ..Subject::default() };
        let own = Release { release, levels, neighbors: neighbors.map(Neighbors::name), group };
        Ok(PyClassInitializer::from(Account::of_release(subject)?).add_subclass(own))
    }

    /// The release with the named levels, as queries that share a budget, for single people.
    pub fn alone(&self) -> PyResult<Published> {
        if self.group != 1 {
            let why =
                format!("{}: groups of {}, and a budget is shared for single people", self.release.name, self.group);
            return Err(PyValueError::new_err(why));
        }
        let release = quick(self.release.only(&self.levels))?;
        match neighbors_of(self.neighbors)? {
            Some(neighbors) => Ok(quick(release.under(neighbors))?),
            None => Ok(release),
        }
    }

    /// The release as part of a ledger, which has whole releases, single people, and one relation.
    fn for_ledger(&self, neighbors: Neighbors) -> PyResult<Published> {
        let refuse = |what: String, instead: &str| {
            Err(PyValueError::new_err(format!("{}: {what}, and a ledger {instead}", self.release.name)))
        };
        if !self.levels.is_empty() {
            return refuse(format!("only {}", self.levels.join(", ")), "has whole releases: give it by its name");
        }
        if self.group != 1 {
            return refuse(format!("groups of {}", self.group), "is about single people");
        }
        match self.neighbors {
            Some(own) if own != neighbors.name() => {
                refuse(format!("{own} neighbors"), &format!("has one relation for all, here {}", neighbors.name()))
            }
            _ => Ok(self.release.clone()),
        }
    }
}

#[pymethods]
impl Release {
    #[new]
    #[pyo3(signature = (name, levels = Vec::new(), *, neighbors = None, group = 1))]
    fn new(
        name: &Bound<PyAny>,
        #[pyo3(from_py_with = level_names)] levels: Vec<String>,
        neighbors: Option<&str>,
        #[pyo3(from_py_with = numbers::group)] group: u64,
    ) -> PyResult<PyClassInitializer<Self>> {
        let Some(name) = name_of(name)? else {
            return Err(PyTypeError::new_err(format!(
                "a release of type {}: expected its name or a path",
                type_of(name)
            )));
        };
        Release::of(quick(Published::find(&name))?, levels, neighbors, group)
    }

    /// A release from the text of a TOML file, as to_toml() writes it.
    #[staticmethod]
    #[pyo3(signature = (text, levels = Vec::new(), *, neighbors = None, group = 1))]
    fn from_toml(
        py: Python,
        text: &str,
        #[pyo3(from_py_with = level_names)] levels: Vec<String>,
        neighbors: Option<&str>,
        #[pyo3(from_py_with = numbers::group)] group: u64,
    ) -> PyResult<Py<Self>> {
        Py::new(py, Release::of(quick(Published::parse(text, "the text"))?, levels, neighbors, group)?)
    }

    /// The whole release as the text of a TOML file: every query with its noise. The program and Release() read such a file.
    fn to_toml(&self) -> String {
        self.release.to_toml()
    }

    /// The name of the release.
    #[getter]
    fn name(&self) -> &str {
        &self.release.name
    }

    /// The source of its figures.
    #[getter]
    fn source(&self) -> &str {
        &self.release.source
    }

    /// Its published figures: a list of dicts with epsilon (the text as printed), delta (a Fraction; None for pure DP), by (the
    /// conversion: "zcdp", "best-order", "rdp" or "pure"), levels (empty for all of them) and source.
    #[getter]
    fn published<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let row = |published: &Figure| {
            let (figure, row) = (&published.figure, PyDict::new(py));
            row.set_item("epsilon", &figure.printed)?;
            row.set_item("delta", figure.delta.as_ref().map(|delta| to_fraction(py, delta)).transpose()?)?;
            row.set_item("by", figure.by.key())?;
            row.set_item("levels", &published.levels)?;
            row.set_item("source", &figure.source)?;
            Ok(row)
        };
        self.release.published.iter().map(row).collect()
    }

    /// Its queries: a list of dicts with level, query, rho (a Fraction), times, cells, sensitivity and law; sigma2, epsilon, delta, bound, answers and
    /// scale are the parameters of that law, and None where it has no such parameter. kind is the kind of groups to which it is limited, and None for all
    /// others; changed says how often a changed record changes its cells: "twice", "as given", "never", or "guaranteed" for what is a guarantee itself.
    #[getter]
    fn queries<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let mut rows = Vec::new();
        for level in &self.release.levels {
            for query in &level.queries {
                let row = PyDict::new(py);
                row.set_item("level", &level.name)?;
                row.set_item("query", &query.name)?;
                row.set_item("rho", to_fraction(py, &query.rho)?)?;
                for name in ["sigma2", "epsilon", "delta", "bound", "answers", "scale"] {
                    row.set_item(name, py.None())?;
                }
                let law = &query.law;
                row.set_item(law.parameter_name(), to_fraction(py, law.parameter())?)?;
                for (name, value) in law.other_parameters() {
                    row.set_item(name, parameter_of(py, name, &value)?)?;
                }
                row.set_item("law", law.key())?;
                row.set_item("times", query.times)?;
                row.set_item("cells", query.cells)?;
                row.set_item("sensitivity", query.shift)?;
                row.set_item("kind", &query.kind)?;
                row.set_item("changed", query.changed.name())?;
                rows.push(row);
            }
        }
        Ok(rows)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        let make = py.import("dp_assay._support")?.getattr("release")?;
        // Its content, and not its path: the file may be missing or changed where the pickle is read.
        let state = (this.release.to_toml(), this.levels.clone(), this.neighbors, this.group);
        Ok((make, state).into_pyobject(py)?.into_any())
    }
}

/// The bundled releases: a list of dicts with name, title, source, neighbors, rho (a Fraction), levels (a dict from name to rho) and
/// budget_only (whether only the budget is known, so that it has no exact account).
#[pyfunction]
pub fn releases(py: Python) -> PyResult<Vec<Bound<PyDict>>> {
    let row = |release: Published| {
        let levels = PyDict::new(py);
        for level in &release.levels {
            levels.set_item(&level.name, to_fraction(py, &level.rho)?)?;
        }
        let row = PyDict::new(py);
        row.set_item("name", release.name)?;
        row.set_item("title", release.title)?;
        row.set_item("source", release.source)?;
        row.set_item("neighbors", release.neighbors.name())?;
        row.set_item("rho", to_fraction(py, &release.rho)?)?;
        row.set_item("levels", levels)?;
        row.set_item("budget_only", release.budget_only)?;
        Ok(row)
    };
    quick(Published::bundled())?.into_iter().map(row).collect()
}

/// Several releases about the same people, each alone and all composed.
///
/// releases: a bundled ledger ("us-2020-persons"), the path of a TOML file of the same form, or a list of names of releases or Release
/// objects, which form one population under `neighbors` ("bounded" if None). Ledgers of the same releases are equal.
#[pyclass(frozen, module = "dp_assay", name = "Ledger")]
pub struct Ledger {
    title: String,
    rule: String,
    populations: Vec<Records>,
}

/// An entry as it is pickled: the text of its release, its name, how often it was published, and its partition and part.
type PickledEntry = (String, String, u64, Option<(String, String)>);
/// A population as it is pickled: its name, its relation, and its entries.
type Pickled = (String, String, Vec<PickledEntry>);

/// The text of an entry that no release describes: it distinguishes ledgers, and is not read again.
const NO_RELEASE: &str = "no release: ";

impl Ledger {
    fn state(&self) -> (String, String, Vec<Pickled>) {
        let entry = |entry: &LedgerEntry| {
            let other = || format!("{NO_RELEASE}{:?}", entry.spent);
            let text = entry.release().map_or_else(other, Published::to_toml);
            let part = entry.part.as_ref().map(|of| (of.partition.clone(), of.part.clone()));
            (text, entry.name.clone(), entry.times, part)
        };
        let population = |population: &Records| {
            let entries = population.entries.iter().map(entry).collect();
            (population.name.clone(), population.neighbors.name().to_string(), entries)
        };
        (self.title.clone(), self.rule.clone(), self.populations.iter().map(population).collect())
    }
}

/// A ledger, unpickled.
#[pyfunction]
#[pyo3(name = "_ledger")]
pub fn restored(title: String, rule: String, populations: Vec<Pickled>) -> PyResult<Ledger> {
    let entry = |(text, name, times, part): PickledEntry| {
        let release = quick(Published::parse(&text, "a pickled release"))?;
        let (place, part) = (release.name.clone(), part.map(|(partition, part)| Part { partition, part }));
        Ok(LedgerEntry { name, times, part, ..LedgerEntry::of_release(release, place) })
    };
    let population = |(name, neighbors, entries): Pickled| {
        let neighbors = neighbors_of(Some(&neighbors))?.unwrap_or(Neighbors::Bounded);
        let entries = entries.into_iter().map(entry).collect::<PyResult<_>>()?;
        Ok(Records::new(name, neighbors, entries))
    };
    Ok(Ledger { title, rule, populations: populations.into_iter().map(population).collect::<PyResult<_>>()? })
}

/// A release as an entry that no ledger file names.
fn entry_of(release: Published) -> LedgerEntry {
    let name = release.name.clone();
    LedgerEntry::of_release(release, name)
}

/// A release of a list for a ledger.
fn entered(release: &Bound<PyAny>, neighbors: Neighbors) -> PyResult<Published> {
    if let Ok(release) = release.cast::<Release>() {
        return release.get().for_ledger(neighbors);
    }
    if let Some(name) = name_of(release)? {
        return Ok(quick(Published::find(&name))?);
    }
    let hint = if release.is_instance_of::<Account>() { "; counts are composed by Composition or +" } else { "" };
    Err(PyTypeError::new_err(format!(
        "a release of type {}: expected its name, a path, or a Release{hint}",
        type_of(release)
    )))
}

#[pymethods]
impl Ledger {
    #[new]
    #[pyo3(signature = (releases, *, neighbors = None))]
    fn new(releases: &Bound<PyAny>, neighbors: Option<&str>) -> PyResult<Self> {
        if let Some(name) = name_of(releases)? {
            if neighbors.is_some() {
                return Err(PyValueError::new_err("the ledger says which data sets are neighbors"));
            }
            let file = quick(LedgerFile::find(&name))?;
            return Ok(Ledger { title: file.title, rule: file.rule, populations: file.populations });
        }
        let neighbors = neighbors_of(neighbors)?.unwrap_or(Neighbors::Bounded);
        let given = releases.try_iter().map_err(|_| {
            let expected = "expected a list of releases, or the name or path of a ledger";
            PyTypeError::new_err(format!("releases of type {}: {expected}", type_of(releases)))
        })?;
        let mut all: Vec<Published> = Vec::new();
        for release in given {
            let published = entered(&release?, neighbors)?;
            if all.iter().any(|other| other.name == published.name) {
                return Err(PyValueError::new_err(format!("the release {} occurs twice", published.name)));
            }
            if neighbors == Neighbors::AddRemove && published.neighbors == Neighbors::Bounded {
                return Err(PyValueError::new_err(format!(
                    "{} protects a change of one record, so it says nothing about one record more or less; use \"bounded\"",
                    published.name
                )));
            }
            all.push(published);
        }
        let name = "the same people".to_string();
        Ok(Ledger {
            title: all.iter().map(|release| release.name.as_str()).collect::<Vec<_>>().join(" + "),
            rule: "All releases are about the same people, so they compose.".to_string(),
            populations: vec![Records::new(name, neighbors, all.into_iter().map(entry_of).collect())],
        })
    }

    fn __eq__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = other.py();
        let Ok(other) = other.cast::<Ledger>() else { return Ok(PyNotImplemented::get(py).to_owned().into_any()) };
        Ok(PyBool::new(py, self.state().2 == other.get().state().2).to_owned().into_any())
    }

    fn __hash__(&self, py: Python) -> PyResult<isize> {
        PyString::new(py, &format!("{:?}", self.state().2)).hash()
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<PyAny>) -> Py<Self> {
        slf
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let state = self.state();
        if state.2.iter().flat_map(|(_, _, entries)| entries).any(|(text, ..)| text.starts_with(NO_RELEASE)) {
            let why =
                "a ledger with certificates or folders of measurements is not pickled: read it from its file again";
            return Err(PyValueError::new_err(why));
        }
        let make = py.import("dp_assay._native")?.getattr("_ledger")?;
        Ok((make, state).into_pyobject(py)?.into_any())
    }

    /// Its description, in a line.
    #[getter]
    fn title(&self) -> &str {
        &self.title
    }

    /// The releases that compose, in words.
    #[getter]
    fn rule(&self) -> &str {
        &self.rule
    }

    /// The names of the populations: records of one kind, each with its own account.
    #[getter]
    fn populations(&self) -> Vec<&str> {
        self.populations.iter().map(|population| population.name.as_str()).collect()
    }

    /// The account of every population at delta: a dict by name, each a dict with neighbors, `releases` (a dict by name), `composed`
    /// (all whose counts are known, exactly, the worst over all combinations of block paths) and `zcdp_total` (all, from their budgets).
    /// Each of these is a dict with rho (a Fraction), epsilon (an Enclosure; None if only the budget is known), zcdp_epsilon, and compared_with
    /// (the smaller one of that and pure DP, as Account.compared_with). `of_mixes` of
    /// `composed` has, by release, the mix of groups that the lower end of epsilon is of if all mixes together would be too many: the one that is worst for
    /// the release alone; the upper end bounds every mix. `conditions` of `composed` and `zcdp_total`, and `condition` of a release, are
    /// there where its certificate holds under one: sentences.
    #[pyo3(signature = (delta, *, digits = 12))]
    fn balance<'py>(
        &self,
        py: Python<'py>,
        delta: Exact,
        #[pyo3(from_py_with = numbers::digits)] digits: u32,
    ) -> PyResult<Bound<'py, PyDict>> {
        let delta = delta_of(delta)?;
        let all = PyDict::new(py);
        for population in &self.populations {
            let (ledger, delta) = (Arc::new(quick(population.ledger())?), delta.clone());
            let balances = work::run(py, move |_| {
                let each = ledger.each(&delta, digits)?;
                Ok((each, ledger.composed(&delta, digits)?, ledger.total(&delta, digits)?))
            })?;
            let releases = PyDict::new(py);
            for (entry, balance) in population.entries.iter().zip(balances.0) {
                let one = balance_of(py, balance)?;
                if let Some(condition) = &entry.condition {
                    one.set_item("condition", condition)?;
                }
                releases.set_item(&entry.name, one)?;
            }
            let one = PyDict::new(py);
            one.set_item("neighbors", population.neighbors.name())?;
            one.set_item("releases", releases)?;
            let of_mixes = PyDict::new(py);
            for (release, mix) in &balances.1.of_mixes {
                of_mixes.set_item(release, mix)?;
            }
            let composed = balance_of(py, balances.1)?;
            composed.set_item("of_mixes", of_mixes)?;
            let total = balance_of(py, balances.2)?;
            let conditions = population.conditions();
            if !conditions.is_empty() {
                composed.set_item("conditions", &conditions)?;
                total.set_item("conditions", &conditions)?;
            }
            one.set_item("composed", composed)?;
            one.set_item("zcdp_total", total)?;
            all.set_item(&population.name, one)?;
        }
        Ok(all)
    }

    /// The epsilon at delta of all releases composed, for every population: a dict from its name to an Enclosure.
    #[pyo3(signature = (delta, *, digits = 12))]
    fn epsilon<'py>(
        &self,
        py: Python<'py>,
        delta: Exact,
        #[pyo3(from_py_with = numbers::digits)] digits: u32,
    ) -> PyResult<Bound<'py, PyDict>> {
        let delta = delta_of(delta)?;
        let all = PyDict::new(py);
        for population in &self.populations {
            let (ledger, delta) = (quick(population.ledger())?, delta.clone());
            let balance = work::run(py, move |_| ledger.composed(&delta, digits))?;
            let epsilon = balance.epsilon.map(|epsilon| Bound::new(py, Enclosure::from(epsilon))).transpose()?;
            all.set_item(&population.name, epsilon)?;
        }
        Ok(all)
    }

    fn __repr__(&self) -> String {
        format!("<Ledger {}>", self.title)
    }
}

fn balance_of(py: Python, balance: Balance) -> PyResult<Bound<PyDict>> {
    let row = PyDict::new(py);
    row.set_item("rho", to_fraction(py, &balance.rho)?)?;
    row.set_item("epsilon", balance.epsilon.map(|epsilon| Bound::new(py, Enclosure::from(epsilon))).transpose()?)?;
    row.set_item("zcdp_epsilon", Bound::new(py, Enclosure::from(balance.zcdp_epsilon))?)?;
    row.set_item("compared_with", compared_of(py, &balance.compared)?)?;
    Ok(row)
}
