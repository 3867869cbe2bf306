//! Releases, and ledgers of several releases about the same people.

use std::sync::Arc;

use dp_assay::{
    account::ledger::Balance,
    loss::law::Law,
    release::{
        Neighbors, Release as Published,
        ledger::{LedgerFile, Population as Records},
        subject::Subject,
    },
};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};

use crate::{
    account::{Account, delta_of, neighbors_of},
    enclosure::Enclosure,
    numbers::{self, Exact, to_fraction},
    work::{self, quick},
};

/// The path or name of an argument that may be a text or a path.
fn name_of(name: &Bound<PyAny>) -> PyResult<String> {
    if name.hasattr("__fspath__")? { name.call_method0("__fspath__")?.extract() } else { name.extract() }
}

/// A release: its geolevels, queries and budget, and what one record reveals.
///
/// name: a bundled release (releases() lists them) or the path of a TOML file of the same form. levels: only these geolevels. neighbors:
/// in place of the release's own relation. group: so many people leave or enter together.
#[pyclass(frozen, extends = Account, module = "dp_assay", name = "Release")]
pub struct Release {
    release: Published,
    asked: String,
    levels: Vec<String>,
    neighbors: Option<&'static str>,
    group: u64,
}

#[pymethods]
impl Release {
    #[new]
    #[pyo3(signature = (name, levels = Vec::new(), *, neighbors = None, group = 1))]
    fn new(
        name: &Bound<PyAny>,
        levels: Vec<String>,
        neighbors: Option<&str>,
        #[pyo3(from_py_with = numbers::group)] group: u64,
    ) -> PyResult<PyClassInitializer<Self>> {
        let (asked, neighbors) = (name_of(name)?, neighbors_of(neighbors)?);
        let release = quick(Published::find(&asked))?;
        let subject =
            Subject { release: Some(release.clone()), levels: levels.clone(), neighbors, group, ..Subject::default() };
        let neighbors = neighbors.map(Neighbors::name);
        let own = Release { release, asked, levels, neighbors, group };
        Ok(PyClassInitializer::from(Account::of(subject)?).add_subclass(own))
    }

    /// The name of the release.
    #[getter]
    fn name(&self) -> &str {
        &self.release.name
    }

    /// Where its figures come from.
    #[getter]
    fn source(&self) -> &str {
        &self.release.source
    }

    /// Its queries: a list of dicts with level, query, rho and sigma2 (Fractions), times, cells, sensitivity and law; for discrete Laplace
    /// noise sigma2 is None and epsilon its parameter (else None).
    #[getter]
    fn queries<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let mut rows = Vec::new();
        for level in &self.release.levels {
            for query in &level.queries {
                let row = PyDict::new(py);
                row.set_item("level", &level.name)?;
                row.set_item("query", &query.name)?;
                row.set_item("rho", to_fraction(py, &query.rho)?)?;
                let (law, sigma2, epsilon) = match &query.law {
                    Law::DiscreteGaussian { sigma2 } => ("discrete-gaussian", Some(sigma2), None),
                    Law::Gaussian { sigma2 } => ("gaussian", Some(sigma2), None),
                    Law::DiscreteLaplace { epsilon } => ("discrete-laplace", None, Some(epsilon)),
                };
                row.set_item("sigma2", sigma2.map(|sigma2| to_fraction(py, sigma2)).transpose()?)?;
                row.set_item("epsilon", epsilon.map(|epsilon| to_fraction(py, epsilon)).transpose()?)?;
                row.set_item("law", law)?;
                row.set_item("times", query.times)?;
                row.set_item("cells", query.cells)?;
                row.set_item("sensitivity", query.shift)?;
                rows.push(row);
            }
        }
        Ok(rows)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        let make = py.import("dp_assay._support")?.getattr("release")?;
        let state = (&this.asked, this.levels.clone(), this.neighbors, this.group);
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
/// objects, which form one population under `neighbors` ("bounded" if None). Of Release objects the whole release counts.
#[pyclass(frozen, module = "dp_assay", name = "Ledger")]
pub struct Ledger {
    title: String,
    rule: String,
    populations: Vec<Records>,
}

#[pymethods]
impl Ledger {
    #[new]
    #[pyo3(signature = (releases, *, neighbors = None))]
    fn new(releases: &Bound<PyAny>, neighbors: Option<&str>) -> PyResult<Self> {
        if let Ok(name) = name_of(releases) {
            if neighbors.is_some() {
                return Err(PyValueError::new_err("the ledger says which data sets are neighbors"));
            }
            let file = quick(LedgerFile::find(&name))?;
            return Ok(Ledger { title: file.title, rule: file.rule, populations: file.populations });
        }
        let neighbors = neighbors_of(neighbors)?.unwrap_or(Neighbors::Bounded);
        let mut all: Vec<Published> = Vec::new();
        for release in releases.try_iter()? {
            let release = release?;
            let published = match release.cast::<Release>() {
                Ok(release) => release.get().release.clone(),
                Err(_) => quick(Published::find(&name_of(&release)?))?,
            };
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
            populations: vec![Records { name, neighbors, releases: all }],
        })
    }

    /// What it is, in a line.
    #[getter]
    fn title(&self) -> &str {
        &self.title
    }

    /// What composes with what, in words.
    #[getter]
    fn rule(&self) -> &str {
        &self.rule
    }

    /// The names of the populations: records of one kind, each accounted for apart.
    #[getter]
    fn populations(&self) -> Vec<&str> {
        self.populations.iter().map(|population| population.name.as_str()).collect()
    }

    /// The account of every population at delta: a dict by name, each a dict with neighbors, `releases` (a dict by name), `composed`
    /// (all whose counts are known, exactly, the worst over all combinations of block paths) and `zcdp_total` (all, from their budgets).
    /// Each of these is a dict with rho (a Fraction), epsilon (an Enclosure; None if only the budget is known) and zcdp_epsilon.
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
            for (release, balance) in population.releases.iter().zip(balances.0) {
                releases.set_item(&release.name, balance_of(py, balance)?)?;
            }
            let one = PyDict::new(py);
            one.set_item("neighbors", population.neighbors.name())?;
            one.set_item("releases", releases)?;
            one.set_item("composed", balance_of(py, balances.1)?)?;
            one.set_item("zcdp_total", balance_of(py, balances.2)?)?;
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
    Ok(row)
}
