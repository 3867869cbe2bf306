//! The least noise that meets a target, and where the budget should go.

use dp_assay::{
    Error,
    account::{
        Account as _, Answer, Counts, Delta, Epsilon,
        allocate::{Allocation, QueryTarget, allocate as best, allocate_by_zcdp, least_possible, most_private},
        compared::Against,
        promise::{self, Calibrated, Grid, GridOf, Promise},
    },
    noise::DiscreteGaussian,
    numeric::{Certainty, Enclosure as Interval, rational},
    release::{
        Changed, Neighbors, Release as Published, Unit,
        query_targets::{self, Accuracy},
        subject::Subject,
    },
    risk::promise::RiskPromise,
    rug::Rational,
};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::PyDict,
};

use crate::{
    account::{Account, Composition, against_of, compared_of, delta_of, epsilon_of, neighbors_of},
    enclosure::Enclosure,
    failure::Failure,
    numbers::{self, Exact, number, to_fraction, to_fractions},
    release::{Release, level_names, name_of, type_of},
    work::{self, quick},
};

#[pymethods]
impl Account {
    /// The least noise of a grid that meets a target, all noise scaled by one factor. The target is one of
    ///
    /// - epsilon=E at delta=D;
    /// - delta=D alone: the epsilon that compared_with(D) has, the published figure or the smallest standard account;
    /// - match="zcdp" (Bun-Steinke), "best-order", "rdp", "pure" or "basic" at delta=D: the epsilon that this account gives for the present noise;
    /// - match="published" at delta=D: the published figure, not rounded (ValueError if nothing was published);
    /// - match_curve=(FROM, TO): the zCDP (Bun-Steinke) curve of the present noise, at every delta of the range;
    /// - advantage=A: the advantage of every adversary is at most A;
    /// - alpha=A with beta=B: every test of type I error A has a type II error of B or more;
    /// - posterior=P with prior=Q: every adversary with that prior decides correctly with probability P or less; with delta=D as well, no event
    ///   that has at least probability D if the record is there lifts the posterior above P (the same of its absence at that prior of absence); with of="outputs" in place of "events",
    ///   the posterior after the noisy counts is above P with probability D or less. Larger noise may break that again, and smaller noise may keep it.
    ///
    /// grid: "sigma2" (the smallest sigma2 is a multiple of 10^-decimals) or "factor" (the factor is). The noise found is proven to be
    /// enough, and the next smaller point of the grid is proven not to be. Returns a dict: `factor` and `before` (Fractions; before is None
    /// if the grid starts here), `sigma2` and `calibrated_sigma2` (lists of Fractions), `epsilon` and `target` (Enclosures; for a target of risk `risk`
    /// in place of epsilon), `compared_with` (as compared_with, or None), `account` (an Account with that noise).
    #[pyo3(signature = (delta = None, *, epsilon = None, r#match = None, match_curve = None, advantage = None, alpha = None, beta = None, posterior = None, prior = None, of = "events", grid = "sigma2", decimals = None, digits = 12))]
    #[allow(clippy::too_many_arguments)]
    fn calibrate<'py>(
        &self,
        py: Python<'py>,
        delta: Option<Exact>,
        epsilon: Option<Exact>,
        r#match: Option<&str>,
        match_curve: Option<(Exact, Exact)>,
        advantage: Option<Exact>,
        alpha: Option<Exact>,
        beta: Option<Exact>,
        posterior: Option<Exact>,
        prior: Option<Exact>,
        of: &str,
        grid: &str,
        #[pyo3(from_py_with = numbers::decimals_or_none)] decimals: Option<u32>,
        #[pyo3(from_py_with = numbers::digits)] digits: u32,
    ) -> PyResult<Bound<'py, PyDict>> {
        let risks = [advantage, alpha, beta, posterior, prior];
        let resolved = self.resolved();
        let goal = match risks.iter().all(Option::is_none) {
            true if of != EVENTS => return Err(of_what()),
            true => goal_of(delta, epsilon, r#match, match_curve)?,
            false if epsilon.is_none() && r#match.is_none() && match_curve.is_none() => {
                let risk = risk_of(delta, risks, of, resolved.neighbors)?;
                quick(risk.check_repeat(resolved.repeat))?;
                Goal::Risk(risk)
            }
            false => return Err(one_target()),
        };
        let grid = grid_of(grid, decimals)?;
        if grid.of == GridOf::SmallestSigma2
            && quick(resolved.noise())?.counts().iter().all(|part| part.law.sigma2().is_none())
        {
            return Err(PyValueError::new_err(NO_SIGMA2));
        }
        let (found, least, (name, value), target, compared) = work::run(py, move |_| {
            const TARGET_DIGITS: u32 = 40;
            let (promise, compared) = match &goal {
                Goal::Promise(promise) => (promise.clone(), None),
                Goal::Risk(risk) => (risk.promise()?, None),
                Goal::Compared(delta, against) => {
                    let compared = resolved.compared(*against, delta, TARGET_DIGITS)?;
                    (Promise::known(delta.clone(), &compared.epsilon), Some(compared))
                }
            };
            let least = promise::calibrate_worst(&resolved.whole, &resolved.noise()?, &promise, grid)?;
            let (reached, target) = match (&goal, promise.delta()) {
                (Goal::Risk(risk), _) => {
                    (("risk", risk.value(&least.account, digits)?), Some(Interval::rational(risk.target(), 160)))
                }
                (_, Some(delta)) => {
                    (("epsilon", least.account.epsilon(delta, digits)?), promise.target(&resolved.whole, delta))
                }
                (_, None) => return Err(Error::Unbounded { what: "the target epsilon" }),
            };
            Ok((resolved.with_noise_times(&least.factor)?, least, reached, target, compared))
        })?;
        let subject = quick(self.subject().with_noise_times(&least.factor))?;
        let answer = calibrated(py, Account::known(subject, found), &least)?;
        answer.set_item(name, Bound::new(py, Enclosure::from(value))?)?;
        answer.set_item("target", target.map(|target| Bound::new(py, Enclosure::from(target))).transpose()?)?;
        answer.set_item("compared_with", compared.map(|compared| compared_of(py, &compared)).transpose()?)?;
        Ok(answer)
    }
}

/// The target of the noise.
enum Goal {
    Promise(Promise),
    Risk(RiskPromise),
    Compared(Delta, Against),
}

/// Exactly one target.
fn goal_of(
    delta: Option<Exact>,
    epsilon: Option<Exact>,
    matched: Option<&str>,
    curve: Option<(Exact, Exact)>,
) -> PyResult<Goal> {
    match (delta, epsilon, matched, curve) {
        (Some(delta), Some(epsilon), None, None) => {
            Ok(Goal::Promise(Promise::Epsilon { delta: delta_of(delta)?, epsilon: epsilon_of(epsilon)? }))
        }
        (Some(delta), None, matched, None) => Ok(Goal::Compared(delta_of(delta)?, against_of(matched)?)),
        (None, None, None, Some((from, to))) => Ok(Goal::Promise(quick(Promise::zcdp_curve(from.0, to.0))?)),
        _ => Err(one_target()),
    }
}

fn one_target() -> PyErr {
    PyValueError::new_err(
        "expected one target: delta=D alone or with epsilon=E or match=\"published\", \"zcdp\", \"best-order\", \"rdp\", \"pure\" or \"basic\"; \
         match_curve=(FROM, TO); advantage=A; alpha=A with beta=B; or posterior=P with prior=Q, alone or with delta=D",
    )
}

/// The promise of risk that is given.
pub fn risk_of(
    delta: Option<Exact>,
    risks: [Option<Exact>; 5],
    of: &str,
    neighbors: Neighbors,
) -> PyResult<RiskPromise> {
    let is_of_outputs = match of {
        EVENTS => false,
        "outputs" => true,
        _ => return Err(of_what()),
    };
    Ok(match (risks, delta, is_of_outputs) {
        ([Some(most), None, None, None, None], None, false) => quick(RiskPromise::advantage(most.0))?,
        ([None, Some(alpha), Some(beta), None, None], None, false) => {
            quick(RiskPromise::type_two_error(alpha.0, beta.0))?
        }
        ([None, None, None, Some(most), Some(prior)], None, false) => {
            quick(RiskPromise::correct_decision(prior.0, most.0, neighbors))?
        }
        ([None, None, None, Some(most), Some(prior)], Some(delta), false) => {
            quick(RiskPromise::posterior(prior.0, most.0, delta_of(delta)?))?
        }
        ([None, None, None, Some(most), Some(prior)], Some(delta), true) => {
            quick(RiskPromise::posterior_of_outputs(prior.0, most.0, delta_of(delta)?))?
        }
        (_, _, true) => return Err(of_what()),
        _ => return Err(one_target()),
    })
}

/// What a posterior is of, unless something else is given.
const EVENTS: &str = "events";

fn of_what() -> PyErr {
    PyValueError::new_err("of: expected \"events\", or \"outputs\" with posterior=P, prior=Q and delta=D")
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

/// The noise per query with the least weighted expected squared error that meets a target: epsilon=E at delta=D, or a risk, as in calibrate():
/// advantage=A; alpha=A with beta=B; posterior=P with prior=Q, alone or with delta=D.
///
/// queries: the path of a TOML file, the name of a bundled release, a Release, or a list of dicts with `name`, `count` (default 1),
/// `sensitivity` (1), `weight` (1), `least_sigma2` (1), and optional accuracy targets: `most_sigma2`, `most_squared_error`,
/// `most_margin` (|noise| at most this with probability 95 %). levels: only these of a release. neighbors: "add-remove" (the default
/// for a list or file) or "bounded", or a synonym of either, in place of the release's own. counts_as_given: with "bounded", the counts of the
/// list or file are already those that differ, and are not counted twice. decimals: of every sigma2, 0 to 12.
///
/// Returns a dict: `queries` (a list of dicts with these fields, the sigma2 that was found, a Fraction, and its `margin_95`),
/// `neighbors`, `delta` and `weighted_squared_error` (Enclosures), `least_possible` (a Fraction: no allocation has less),
/// `at_most_percent_above_optimum` (an Enclosure, or None), `zcdp` (queries, delta and error of the allocation by zCDP, or None), and
/// `account` with the noise that was found: for a release a Release, which to_toml() writes. For a target of risk also `risk`, the value that it bounds
/// (an Enclosure), and no zcdp. ValueError if no noise meets the target.
#[pyfunction]
#[pyo3(signature = (queries, epsilon = None, delta = None, *, advantage = None, alpha = None, beta = None, posterior = None, prior = None, levels = Vec::new(), neighbors = None, counts_as_given = false, decimals = 4))]
#[allow(clippy::too_many_arguments)]
pub fn allocate<'py>(
    py: Python<'py>,
    queries: &Bound<'py, PyAny>,
    epsilon: Option<Exact>,
    delta: Option<Exact>,
    advantage: Option<Exact>,
    alpha: Option<Exact>,
    beta: Option<Exact>,
    posterior: Option<Exact>,
    prior: Option<Exact>,
    #[pyo3(from_py_with = level_names)] levels: Vec<String>,
    neighbors: Option<&str>,
    counts_as_given: bool,
    #[pyo3(from_py_with = numbers::decimals)] decimals: u32,
) -> PyResult<Bound<'py, PyDict>> {
    let goal = Target::of(epsilon, delta, [advantage, alpha, beta, posterior, prior])?;
    let plan = Plan::of(queries, &levels, neighbors_of(neighbors)?, counts_as_given)?;
    if plan.release.as_ref().is_some_and(|release| release.paths.is_some()) && goal.risk.is_some() {
        return Err(PyValueError::new_err(
            "on the block paths of a release the worst decides, and a target of risk is about all levels composed: give epsilon with delta",
        ));
    }
    let targets = plan.targets.clone();
    let found = work::run(py, move |_| every_allocation(&targets, &goal, decimals))?;
    let answer = allocated(py, &plan.targets, &found.best)?;
    for (row, margin) in
        answer.get_item("queries")?.into_iter().flat_map(|rows| rows.try_iter()).flatten().zip(found.margins)
    {
        row?.set_item("margin_95", margin)?;
    }
    answer.set_item("neighbors", plan.neighbors.name())?;
    answer.set_item("least_possible", to_fraction(py, &found.least)?)?;
    let above = found.above.map(|above| Bound::new(py, Enclosure::from(above))).transpose()?;
    answer.set_item("at_most_percent_above_optimum", above)?;
    let zcdp = found.zcdp.map(|zcdp| allocated(py, &plan.targets, &zcdp)).transpose()?;
    answer.set_item("zcdp", zcdp)?;
    if let Some(risk) = found.risk {
        answer.set_item("risk", Bound::new(py, Enclosure::from(risk))?)?;
    }
    answer.set_item("account", plan.account(py, &found.best)?)?;
    Ok(answer)
}

/// The queries that share the budget.
struct Plan {
    neighbors: Neighbors,
    /// Whether the counts of a list or file are counted once.
    counts_as_given: bool,
    /// Each with the counts that change between neighbors.
    targets: Vec<QueryTarget>,
    /// The queries of a list or file, for a record that is added or removed.
    given: Vec<QueryTarget>,
    release: Option<Published>,
}

impl Plan {
    fn of(
        queries: &Bound<PyAny>,
        levels: &[String],
        neighbors: Option<Neighbors>,
        counts_as_given: bool,
    ) -> PyResult<Plan> {
        let release = match queries.cast::<Release>() {
            Ok(release) => Some(release.get().alone()?),
            Err(_) => match name_of(queries)? {
                None => None,
                Some(name) => match Published::find(&name) {
                    Ok(release) => Some(release),
                    // A file of queries; anything else is refused as one.
                    Err(_) if std::path::Path::new(&name).exists() => None,
                    Err(why) => return Err(Failure::from(why).into()),
                },
            },
        };
        if let Some(release) = release {
            if counts_as_given {
                return Err(PyValueError::new_err(
                    "counts_as_given is about a list or file of queries: a release states it itself",
                ));
            }
            let release = quick(release.only(levels))?;
            let neighbors = neighbors.unwrap_or(release.neighbors);
            quick(release.shares_budget(neighbors))?;
            let targets = quick(release.query_targets(Some(neighbors)))?;
            return Ok(Plan { neighbors, counts_as_given, targets, given: Vec::new(), release: Some(release) });
        }
        if !levels.is_empty() {
            return Err(PyValueError::new_err("levels are those of a release, and these are queries"));
        }
        let given = targets_of(queries)?;
        let neighbors = neighbors.unwrap_or(Neighbors::AddRemove);
        let changed = if counts_as_given { Changed::AsGiven } else { Changed::Twice };
        let targets = quick(query_targets::under(given.clone(), neighbors, changed))?;
        Ok(Plan { neighbors, counts_as_given, targets, given, release: None })
    }

    /// An account with the noise that was found.
    fn account<'py>(&self, py: Python<'py>, found: &Allocation) -> PyResult<Bound<'py, PyAny>> {
        if let Some(release) = &self.release {
            let (name, title) = (format!("{}-allocated", release.name), format!("{}, allocated", release.title));
            let source = format!("dp_assay.allocate {}", env!("CARGO_PKG_VERSION"));
            let release = quick(release.with_sigma2(&found.sigma2, self.neighbors, [&name, &title, &source]))?;
            return Ok(Bound::new(py, Release::of(release, Vec::new(), None, 1)?)?.into_any());
        }
        let single = |(target, sigma2): (&QueryTarget, &Rational)| {
            Counts::discrete_gaussian(sigma2.clone(), target.count, target.shift)
        };
        let singles = quick(self.given.iter().zip(&found.sigma2).map(single).collect())?;
        let (neighbors, counts_as_given) = (Some(self.neighbors), self.counts_as_given);
        let subject = Subject { singles, neighbors, counts_as_given, ..Subject::default() };
        Composition::of(py, subject)
    }
}

/// The result.
struct Found {
    best: Allocation,
    /// A proven lower bound on the weighted error of every allocation.
    least: Rational,
    /// 100 (found / least - 1), rounded up: an upper bound on the distance from the optimum.
    above: Option<Interval>,
    /// The margin at 95 % of each query.
    margins: Vec<i64>,
    zcdp: Option<Allocation>,
    /// The value that a target of risk bounds.
    risk: Option<Answer>,
}

/// The target of an allocation: a point of the profile with which it is met, and one without which it is not.
struct Target {
    enough: (Epsilon, Delta),
    necessary: Option<(Epsilon, Delta)>,
    risk: Option<RiskPromise>,
}

impl Target {
    fn of(epsilon: Option<Exact>, delta: Option<Exact>, risks: [Option<Exact>; 5]) -> PyResult<Target> {
        let expected = "expected one target: epsilon=E with delta=D; advantage=A; alpha=A with beta=B; or posterior=P with prior=Q, alone or with delta=D";
        let no_risk = risks.iter().all(Option::is_none);
        match (epsilon, delta) {
            (Some(epsilon), Some(delta)) if no_risk => {
                let point = (epsilon_of(epsilon)?, delta_of(delta)?);
                Ok(Target { enough: point.clone(), necessary: Some(point), risk: None })
            }
            (None, delta) if !no_risk => {
                let risk = risk_of(delta, risks, EVENTS, Neighbors::AddRemove).map_err(|error| {
                    match error.to_string().contains("expected one target") {
                        true => PyValueError::new_err(expected),
                        false => error,
                    }
                })?;
                let points = quick(risk.points())?;
                Ok(Target { enough: points.enough, necessary: points.necessary, risk: Some(risk) })
            }
            _ => Err(PyValueError::new_err(expected)),
        }
    }
}

/// Digits of a risk that is reached.
const RISK_DIGITS: u32 = 8;

fn every_allocation(targets: &[QueryTarget], goal: &Target, decimals: u32) -> dp_assay::Result<Found> {
    let (epsilon, delta) = &goal.enough;
    let best = best(targets, epsilon, delta, decimals).map_err(|error| out_of_reach(error, targets, goal))?;
    let least = match &goal.necessary {
        Some((epsilon, delta)) => least_possible(targets, epsilon, delta)?,
        None => Rational::new(),
    };
    let above = best.error.upper_rational().filter(|_| least > 0).map(|most| {
        // most >= the error, and least <= the optimum: their ratio is at least that of the error to the optimum.
        Interval::rational(&((most / &least - 1_u32) * 100_u32), 64)
    });
    // All except 2.5 % on each side.
    let margin = |sigma2: &Rational| DiscreteGaussian::new(sigma2.clone())?.quantile(&Rational::from((39, 40)));
    let margins = best.sigma2.iter().map(margin).collect::<dp_assay::Result<_>>()?;
    let zcdp = match goal.risk {
        None => allocate_by_zcdp(targets, epsilon, delta, decimals)?,
        Some(_) => None,
    };
    let single = |(target, sigma2): (&QueryTarget, &Rational)| {
        Counts::discrete_gaussian(sigma2.clone(), target.count, target.shift)
    };
    let composed = || -> dp_assay::Result<_> {
        let counts = targets.iter().zip(&best.sigma2).map(single).collect::<dp_assay::Result<Vec<Counts>>>()?;
        dp_assay::account::Composition::new(counts)
    };
    let risk = goal.risk.as_ref().map(|risk| risk.value(&composed()?, RISK_DIGITS)).transpose()?;
    Ok(Found { least, above, margins, zcdp, risk, best })
}

/// The error of a risk that even the largest allowed noise does not keep; every other error is returned.
fn out_of_reach(error: Error, targets: &[QueryTarget], goal: &Target) -> Error {
    let Some(risk) = goal.risk.as_ref().filter(|_| !error.is_fatal()) else { return error };
    match most_private(targets).and_then(|largest| risk.value(&largest, RISK_DIGITS)) {
        Ok(value) if risk.kept_by(&value.value) == Certainty::No => Error::Unsuitable {
            why: format!(
                "no noise was found that keeps this promise: {}. The largest noise that the accuracy targets allow has {} {}",
                risk.in_words(&Unit { neighbors: Neighbors::AddRemove, group: 1, repeat: 1 }),
                risk.name(),
                value.value.shown(6)
            ),
        },
        _ => error,
    }
}

fn allocated<'py>(py: Python<'py>, targets: &[QueryTarget], found: &Allocation) -> PyResult<Bound<'py, PyDict>> {
    let query = |(target, sigma2): (&QueryTarget, &Rational)| {
        let row = PyDict::new(py);
        row.set_item("name", &target.name)?;
        row.set_item("count", target.count)?;
        row.set_item("sensitivity", target.shift)?;
        row.set_item("weight", to_fraction(py, &target.weight)?)?;
        row.set_item("least_sigma2", to_fraction(py, &target.least)?)?;
        row.set_item("most_sigma2", target.most.as_ref().map(|most| to_fraction(py, most)).transpose()?)?;
        row.set_item("sigma2", to_fraction(py, sigma2)?)?;
        Ok(row)
    };
    let answer = PyDict::new(py);
    let queries: Vec<Bound<PyDict>> = targets.iter().zip(&found.sigma2).map(query).collect::<PyResult<_>>()?;
    let number = |value: &Interval, met: bool| Bound::new(py, Enclosure::from((value.clone(), met)));
    answer.set_item("queries", queries)?;
    answer.set_item("delta", number(&found.delta, found.met)?)?;
    answer.set_item("weighted_squared_error", number(&found.error, true)?)?;
    Ok(answer)
}

/// Queries from a file or dicts.
fn targets_of(queries: &Bound<PyAny>) -> PyResult<Vec<QueryTarget>> {
    if let Some(name) = name_of(queries)? {
        let text = dp_assay::reading::read_text(std::path::Path::new(&name))
            .map_err(|why| PyValueError::new_err(format!("{why}; expected a TOML file or a bundled release")))?;
        return Ok(quick(query_targets::parse(&text, &name))?);
    }
    let wrong = |value: &Bound<PyAny>, expected: &str| {
        PyTypeError::new_err(format!("queries of type {}: expected {expected}", type_of(value)))
    };
    let expected = "a list of dicts, a Release, or the name or path of a release or file";
    let all = queries.try_iter().map_err(|_| wrong(queries, expected))?;
    let mut targets: Vec<QueryTarget> = Vec::new();
    for query in all {
        let query = query?;
        let target = target_of(query.cast::<PyDict>().map_err(|_| wrong(&query, expected))?)?;
        if targets.iter().any(|other| other.name == target.name) {
            return Err(PyValueError::new_err(format!("the query {:?} occurs twice", target.name)));
        }
        targets.push(target);
    }
    Ok(targets)
}

fn target_of(query: &Bound<PyDict>) -> PyResult<QueryTarget> {
    const KEYS: [&str; 8] =
        ["name", "count", "sensitivity", "weight", "least_sigma2", "most_sigma2", "most_squared_error", "most_margin"];
    for key in query.keys() {
        if !key.extract::<String>().is_ok_and(|key| KEYS.contains(&key.as_str())) {
            return Err(PyValueError::new_err(format!("a query has no {}: expected {}", key.repr()?, KEYS.join(", "))));
        }
    }
    let name = query.get_item("name")?.and_then(|name| name.extract::<String>().ok());
    let Some(name) = name else { return Err(PyValueError::new_err("a query without a name, which is a text")) };
    let refuse = |why: String| PyValueError::new_err(format!("the query {name:?}: {why}"));
    let given = |key: &str| Ok::<_, PyErr>(query.get_item(key)?.filter(|value| !value.is_none()));
    let positive = |key: &str| match given(key)?.map(|value| number(&value)).transpose()? {
        Some(value) if value <= 0 => {
            Err(refuse(format!("{key} = {} is out of range: expected more than 0", rational::display(&value))))
        }
        value => Ok(value),
    };
    let whole = |key: &str, least: u64| {
        let value = given(key)?.map(|value| number(&value)).transpose()?;
        let number = |value: Rational| {
            let number = (*value.denom() == 1).then(|| value.numer().to_u64()).flatten();
            let shown = rational::display(&value);
            number
                .filter(|number| *number >= least)
                .ok_or_else(|| refuse(format!("{key} = {shown} is out of range: expected a whole number from {least}")))
        };
        value.map(number).transpose()
    };
    let one = || Rational::from(1);
    let least = positive("least_sigma2")?.unwrap_or_else(one);
    let accuracy = Accuracy {
        sigma2: positive("most_sigma2")?,
        squared_error: positive("most_squared_error")?,
        margin: whole("most_margin", 0)?,
    };
    let most = quick(accuracy.most_sigma2(&least))?.map_err(|unmet| refuse(unmet.why(&least)))?;
    Ok(QueryTarget {
        count: whole("count", 1)?.unwrap_or(1),
        shift: whole("sensitivity", 1)?.unwrap_or(1),
        weight: positive("weight")?.unwrap_or_else(one),
        name: name.clone(),
        least,
        most,
    })
}

/// The grid of a name, with its number of decimals.
/// Where the grid is that of the smallest sigma2, and there is none.
const NO_SIGMA2: &str = "no Gaussian noise has a sigma2 of its own to calibrate (that of a sample belongs to its rate): grid=\"factor\" finds a common factor on all noise, and find_number() one number of a mechanism";

fn grid_of(name: &str, decimals: Option<u32>) -> PyResult<Grid> {
    match name {
        "sigma2" => Ok(Grid::sigma2(decimals.unwrap_or(2))),
        "factor" => Ok(Grid::factor(decimals.unwrap_or(4))),
        other => Err(PyValueError::new_err(format!("grid = {other:?}: expected \"sigma2\" or \"factor\""))),
    }
}
