//! The least noise that keeps a promise, and where the budget should go.

use dp_assay::{
    account::{
        Account as _, Delta, Epsilon,
        allocate::{Allocation, QueryTarget, allocate as best, allocate_by_zcdp, least_possible},
        promise::{self, Calibrated, GridOf, Promise},
    },
    numeric::Enclosure as Interval,
    release::{Release as Published, query_targets},
    rug::Rational,
};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};

use crate::{
    account::{Account, delta_of, epsilon_of},
    enclosure::Enclosure,
    numbers::{self, Exact, number, to_fraction, to_fractions},
    work::{self, quick},
};

#[pymethods]
impl Account {
    /// The least noise of a grid that keeps a promise, all noise scaled by one factor. The promise is one of
    ///
    /// - epsilon=E at delta=D;
    /// - match="zcdp" at delta=D: the epsilon that zCDP (Bun-Steinke) says of the noise as it is;
    /// - match_curve=(FROM, TO): the zCDP curve of the noise as it is, at every delta of the range.
    ///
    /// grid: "sigma2" (the smallest sigma2 is a multiple of 10^-decimals) or "factor" (the factor is). What is found is proven to be
    /// enough, and the next smaller point of the grid is proven not to be. Returns a dict: `factor` and `before` (Fractions; before is None
    /// if the grid starts here), `sigma2` and `calibrated_sigma2` (lists of Fractions), `epsilon` and `target` (Enclosures),
    /// `account` (an Account with that noise).
    #[pyo3(signature = (delta = None, *, epsilon = None, r#match = None, match_curve = None, grid = "sigma2", decimals = None, digits = 12))]
    #[allow(clippy::too_many_arguments)]
    fn calibrate<'py>(
        &self,
        py: Python<'py>,
        delta: Option<Exact>,
        epsilon: Option<Exact>,
        r#match: Option<&str>,
        match_curve: Option<(Exact, Exact)>,
        grid: &str,
        #[pyo3(from_py_with = numbers::decimals_or_none)] decimals: Option<u32>,
        #[pyo3(from_py_with = numbers::digits)] digits: u32,
    ) -> PyResult<Bound<'py, PyDict>> {
        let promise = promise_of(delta, epsilon, r#match, match_curve)?;
        let grid = match grid {
            "sigma2" => (GridOf::SmallestSigma2, decimals.unwrap_or(2)),
            "factor" => (GridOf::Factor, decimals.unwrap_or(4)),
            other => {
                return Err(PyValueError::new_err(format!("grid = {other:?}: expected \"sigma2\" or \"factor\"")));
            }
        };
        let resolved = self.resolved();
        let (found, least, epsilon, target) = work::run(py, move |_| {
            let least = promise::calibrate(&resolved.whole, &resolved.total, &promise, grid)?;
            let epsilon = least.account.epsilon(promise.delta(), digits)?;
            let target = promise.target(&resolved.whole, promise.delta());
            Ok((resolved.with_noise_times(&least.factor)?, least, epsilon, target))
        })?;
        let subject = quick(self.subject().with_noise_times(&least.factor))?;
        let answer = calibrated(py, Account::known(subject, found), &least)?;
        answer.set_item("epsilon", Bound::new(py, Enclosure::from(epsilon))?)?;
        answer.set_item("target", Bound::new(py, Enclosure::from(target))?)?;
        Ok(answer)
    }
}

/// Exactly one promise.
fn promise_of(
    delta: Option<Exact>,
    epsilon: Option<Exact>,
    matched: Option<&str>,
    curve: Option<(Exact, Exact)>,
) -> PyResult<Promise> {
    match (delta, epsilon, matched, curve) {
        (Some(delta), Some(epsilon), None, None) => {
            Ok(Promise::Epsilon { delta: delta_of(delta)?, epsilon: epsilon_of(epsilon)? })
        }
        (Some(delta), None, Some("zcdp"), None) => Ok(Promise::ZcdpEpsilon { delta: delta_of(delta)? }),
        (None, None, None, Some((from, to))) => Ok(quick(Promise::zcdp_curve(from.0, to.0))?),
        _ => Err(PyValueError::new_err(
            "expected one promise: epsilon=E and delta=D, or match=\"zcdp\" and delta=D, or match_curve=(FROM, TO)",
        )),
    }
}

fn calibrated<'py, A>(py: Python<'py>, account: Account, least: &Calibrated<A>) -> PyResult<Bound<'py, PyDict>> {
    let scaled: Vec<Rational> = least.variances.iter().map(|sigma2| Rational::from(sigma2 * &least.factor)).collect();
    let answer = PyDict::new(py);
    answer.set_item("factor", to_fraction(py, &least.factor)?)?;
    answer.set_item("before", least.before.as_ref().map(|before| to_fraction(py, before)).transpose()?)?;
    answer.set_item("sigma2", to_fractions(py, &least.variances)?)?;
    answer.set_item("calibrated_sigma2", to_fractions(py, &scaled)?)?;
    answer.set_item("account", Bound::new(py, account)?)?;
    Ok(answer)
}

/// The noise per query that keeps epsilon at delta with the least weighted expected squared error.
///
/// queries: the path of a TOML file, the text name of a bundled release, or a list of dicts with `name`, `count` (default 1),
/// `sensitivity` (1), `weight` (1), `least_sigma2` (1) and `most_sigma2` (none). decimals: of every sigma2, 0 to 12. Returns a dict: `queries` (a list of dicts with
/// name and sigma2, a Fraction), `delta` and `weighted_squared_error` (Enclosures), `least_possible` (a Fraction: no allocation
/// has less) and `zcdp` (the same for the allocation by zCDP, or None).
#[pyfunction]
#[pyo3(signature = (queries, epsilon, delta, *, decimals = 4))]
pub fn allocate<'py>(
    py: Python<'py>,
    queries: &Bound<'py, PyAny>,
    epsilon: Exact,
    delta: Exact,
    #[pyo3(from_py_with = numbers::decimals)] decimals: u32,
) -> PyResult<Bound<'py, PyDict>> {
    let (epsilon, delta) = (epsilon_of(epsilon)?, delta_of(delta)?);
    let targets = targets_of(queries)?;
    let names: Vec<String> = targets.iter().map(|target| target.name.clone()).collect();
    let (found, least, by_zcdp) = work::run(py, move |_| every_allocation(&targets, &epsilon, &delta, decimals))?;
    let answer = allocated(py, &names, &found)?;
    answer.set_item("least_possible", to_fraction(py, &least)?)?;
    let by_zcdp = by_zcdp.map(|by_zcdp| allocated(py, &names, &by_zcdp)).transpose()?;
    answer.set_item("zcdp", by_zcdp)?;
    Ok(answer)
}

type Allocations = (Allocation, Rational, Option<Allocation>);

fn every_allocation(
    targets: &[QueryTarget],
    epsilon: &Epsilon,
    delta: &Delta,
    decimals: u32,
) -> dp_assay::Result<Allocations> {
    let found = best(targets, epsilon, delta, decimals)?;
    let least = least_possible(targets, epsilon, delta)?;
    Ok((found, least, allocate_by_zcdp(targets, epsilon, delta, decimals)?))
}

fn allocated<'py>(py: Python<'py>, names: &[String], found: &Allocation) -> PyResult<Bound<'py, PyDict>> {
    let query = |(name, sigma2): (&String, &Rational)| {
        let row = PyDict::new(py);
        row.set_item("name", name)?;
        row.set_item("sigma2", to_fraction(py, sigma2)?)?;
        Ok(row)
    };
    let answer = PyDict::new(py);
    let queries: Vec<Bound<PyDict>> = names.iter().zip(&found.sigma2).map(query).collect::<PyResult<_>>()?;
    let number = |value: &Interval, met: bool| Bound::new(py, Enclosure::from((value.clone(), met)));
    answer.set_item("queries", queries)?;
    answer.set_item("delta", number(&found.delta, found.met)?)?;
    answer.set_item("weighted_squared_error", number(&found.error, true)?)?;
    Ok(answer)
}

/// Queries from a file, a bundled release, or dicts.
fn targets_of(queries: &Bound<PyAny>) -> PyResult<Vec<QueryTarget>> {
    let path = queries.hasattr("__fspath__")?.then(|| queries.call_method0("__fspath__")).transpose()?;
    if let Ok(name) = path.as_ref().unwrap_or(queries).extract::<String>() {
        if let Ok(release) = Published::find(&name) {
            return Ok(quick(release.query_targets(None))?);
        }
        let text = std::fs::read_to_string(&name).map_err(|why| {
            PyValueError::new_err(format!("{name}: {why}; expected a TOML file or a bundled release"))
        })?;
        return Ok(quick(query_targets::parse(&text, &name))?);
    }
    queries.try_iter()?.map(|query| target_of(&query?)).collect()
}

fn target_of(query: &Bound<PyAny>) -> PyResult<QueryTarget> {
    const KEYS: [&str; 6] = ["name", "count", "sensitivity", "weight", "least_sigma2", "most_sigma2"];
    let query = query.cast::<PyDict>()?;
    for key in query.keys() {
        let key: String = key.extract()?;
        if !KEYS.contains(&key.as_str()) {
            return Err(PyValueError::new_err(format!("a query has no {key:?}: expected {}", KEYS.join(", "))));
        }
    }
    let exact =
        |key: &str| query.get_item(key)?.filter(|value| !value.is_none()).map(|value| number(&value)).transpose();
    let Some(name) = query.get_item("name")? else {
        return Err(PyValueError::new_err("a query without a name"));
    };
    let one = || Rational::from(1);
    Ok(QueryTarget {
        name: name.extract()?,
        count: query.get_item("count")?.map_or(Ok(1), |count| count.extract())?,
        shift: query.get_item("sensitivity")?.map_or(Ok(1), |shift| shift.extract())?,
        weight: exact("weight")?.unwrap_or_else(one),
        least: exact("least_sigma2")?.unwrap_or_else(one),
        most: exact("most_sigma2")?,
    })
}
