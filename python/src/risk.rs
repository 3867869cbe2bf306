//! The information that an adversary gains, and bounds for all adversaries.

use dp_assay::{
    account::Account as _,
    numeric::Enclosure as Interval,
    risk::{
        bound::{self, Bound as Limits},
        curve::{self, RiskPoint},
        decision::NoisyOutput,
        hierarchical::{Hierarchy, Upper},
        outputs,
        single::Attack as Single,
    },
    rug::Rational,
};
use pyo3::{
    exceptions::PyValueError,
    prelude::*,
    types::{PyBool, PyDict, PyNotImplemented, PyString},
};

use crate::{
    account::{Account, delta_of},
    enclosure::Enclosure,
    numbers::{self, Exact, Integers, Numbers, number, to_fraction, to_fractions},
    work::{self, quick},
};

#[pymethods]
impl Account {
    /// Bounds for all adversaries who believe with probability `prior` that a given record is in the data (or is the first of two).
    /// Returns a dict of Enclosures: correct_decision, advantage, epsilon (infinite where none is finite); posterior_events: no event that has at least probability delta if the record is there
    /// lifts the posterior above it, and the same of its absence at that prior of absence; posterior_upper, also as posterior_exceeded: outputs whose posterior is above it have at most
    /// probability delta; the bounds from rho alone, zcdp_correct_decision and zcdp_advantage (at most the t with t ln((1 + t) / (1 - t)) = rho);
    /// zcdp_posterior_events and zcdp_posterior_upper; zcdp_epsilon by Bun & Steinke, and the bound from the single pair of it and delta, zcdp_pair_correct_decision;
    /// pure_epsilon, pure_correct_decision, pure_advantage and pure_posterior, the bounds from pure DP alone (only if losses
    /// are bounded). 0 < prior < 1 and 0 < delta < 1 (1e-10 if None), or
    /// ValueError. The adversary is that of Kazan & Reiter 2023.
    #[pyo3(signature = (prior, *, delta = None, digits = 12))]
    fn risk<'py>(
        &self,
        py: Python<'py>,
        prior: Exact,
        delta: Option<Exact>,
        #[pyo3(from_py_with = numbers::digits)] digits: u32,
    ) -> PyResult<Bound<'py, PyDict>> {
        let delta = delta_of(delta.unwrap_or_else(|| Exact(Rational::from((1, 10_000_000_000_u64)))))?;
        let resolved = self.resolved();
        let (limits, exceeded, by_rho) = work::run(py, move |_| {
            let limits = bound::bound(&resolved.whole, &prior.0, resolved.neighbors, &delta, digits)?;
            let exceeded =
                outputs::exceeded_epsilon(&resolved.whole, resolved.whole.single(), &prior.0, &delta, Some(&limits))?;
            let exceeded = outputs::posterior_of_outputs(&prior.0, &exceeded);
            let by_rho = limits.posterior_of_outputs_by_zcdp.clone();
            Ok((limits, exceeded, by_rho))
        })?;
        let Limits { correct, advantage, posterior_of_events, epsilon, .. } = limits;
        let answer = PyDict::new(py);
        answer.set_item("correct_decision", Bound::new(py, Enclosure::from(correct))?)?;
        let set = |key: &str, value: Interval| answer.set_item(key, Bound::new(py, Enclosure::from(value))?);
        set("advantage", advantage)?;
        set("posterior_events", posterior_of_events.value)?;
        set("posterior_upper", exceeded.clone())?;
        set("posterior_exceeded", exceeded)?;
        set("epsilon", epsilon)?;
        set("zcdp_correct_decision", limits.correct_by_zcdp)?;
        set("zcdp_advantage", limits.advantage_by_zcdp)?;
        set("zcdp_posterior_events", limits.posterior_by_zcdp)?;
        set("zcdp_posterior_upper", by_rho)?;
        set("zcdp_epsilon", limits.zcdp_epsilon)?;
        set("zcdp_pair_correct_decision", limits.correct_by_zcdp_pair)?;
        if let Some(pure) = limits.pure {
            set("pure_epsilon", pure.epsilon)?;
            set("pure_correct_decision", pure.correct)?;
            set("pure_advantage", pure.advantage)?;
            set("pure_posterior", pure.posterior)?;
        }
        Ok(answer)
    }

    /// The risk from the best test of each type I error alpha, the share of absent records that it reports as present, for an adversary with this prior. Returns a
    /// dict of lists of n Enclosures, for a one-dimensional array or sequence of n alphas, each above 0 and at most 1: `power`, the largest share of present
    /// records that a test reports, `posterior`, the largest probability that a reported record is present, and `relative_risk`, that divided by the prior.
    /// 0 < prior < 1, or ValueError.
    #[pyo3(signature = (prior, alphas, *, digits = 12))]
    fn risk_curve<'py>(
        &self,
        py: Python<'py>,
        prior: Exact,
        alphas: Numbers,
        #[pyo3(from_py_with = numbers::digits)] digits: u32,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (resolved, evaluator) = (self.resolved(), self.evaluator());
        let points = work::run(py, move |stop| {
            work::all(&alphas.0, stop, |alpha| {
                curve::point_by(&resolved.whole, &evaluator, &prior.0, resolved.neighbors, alpha, digits)
            })
        })?;
        let answer = PyDict::new(py);
        let column = |key: &str, value: &dyn Fn(RiskPoint) -> Interval| {
            let values = points.iter().map(|point| Bound::new(py, Enclosure::from(value(point.clone()))));
            answer.set_item(key, values.collect::<PyResult<Vec<_>>>()?)
        };
        column("power", &|point| point.power)?;
        column("posterior", &|point| point.posterior)?;
        column("relative_risk", &|point| point.relative_risk)?;
        Ok(answer)
    }
}

/// An adversary who knows everybody but the target, and sees one noisy count, or one at each of several levels or releases.
///
/// prior: the probability 0 < p < 1 with which they believe that the target counts. rho: that of each count, whose noise has
/// sigma2 = 1 / (2 rho); a number or a list. Source: Kazan & Reiter 2023.
#[pyclass(frozen, module = "dp_assay.risk", name = "Attack")]
pub struct Attack(Single);

fn enclosed(value: Interval, digits: u32) -> Enclosure {
    let met = value.is_tight(digits);
    (value, met).into()
}

impl Attack {
    fn ask(
        &self,
        py: Python,
        digits: u32,
        question: impl FnOnce(&Single, u32) -> dp_assay::Result<Interval> + Send + 'static,
    ) -> PyResult<Enclosure> {
        let attack = self.0.clone();
        Ok(enclosed(work::run(py, move |_| question(&attack, digits))?, digits))
    }
}

#[pymethods]
impl Attack {
    #[new]
    fn new(prior: Exact, rho: Numbers) -> PyResult<Self> {
        Ok(Attack(quick(Single::new(prior.0, rho.0))?))
    }

    /// The prior: a Fraction.
    #[getter]
    fn prior<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_fraction(py, self.0.prior())
    }

    /// The rho of each count: a list of Fractions.
    #[getter]
    fn rho<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        to_fractions(py, &self.0.rhos())
    }

    /// The posterior probability that the target counts, after the released counts minus the known ones (one integer for each rho).
    #[pyo3(signature = (noisy, *, digits = 12))]
    fn posterior(
        &self,
        py: Python,
        noisy: Integers,
        #[pyo3(from_py_with = numbers::digits)] digits: u32,
    ) -> PyResult<Enclosure> {
        self.ask(py, digits, move |attack, digits| attack.posterior(&noisy.0, digits))
    }

    /// The posterior divided by the prior.
    #[pyo3(signature = (noisy, *, digits = 12))]
    fn relative_risk(
        &self,
        py: Python,
        noisy: Integers,
        #[pyo3(from_py_with = numbers::digits)] digits: u32,
    ) -> PyResult<Enclosure> {
        self.ask(py, digits, move |attack, digits| attack.risk(&noisy.0, digits))
    }

    /// The posterior averaged over all outputs when the target counts.
    #[pyo3(signature = (*, digits = 12))]
    fn marginal(&self, py: Python, #[pyo3(from_py_with = numbers::digits)] digits: u32) -> PyResult<Enclosure> {
        self.ask(py, digits, Single::marginal)
    }

    /// The same when the target does not count.
    #[pyo3(signature = (*, digits = 12))]
    fn marginal_if_absent(
        &self,
        py: Python,
        #[pyo3(from_py_with = numbers::digits)] digits: u32,
    ) -> PyResult<Enclosure> {
        self.ask(py, digits, Single::marginal_if_absent)
    }

    /// The probability that the adversary who decides by the larger posterior is right when the target counts.
    #[pyo3(signature = (*, digits = 12))]
    fn correct_decision(&self, py: Python, #[pyo3(from_py_with = numbers::digits)] digits: u32) -> PyResult<Enclosure> {
        self.ask(py, digits, Single::correct_decision)
    }

    /// The same when the target does not count.
    #[pyo3(signature = (*, digits = 12))]
    fn correct_if_absent(
        &self,
        py: Python,
        #[pyo3(from_py_with = numbers::digits)] digits: u32,
    ) -> PyResult<Enclosure> {
        self.ask(py, digits, Single::correct_if_absent)
    }

    fn __eq__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = other.py();
        let Ok(other) = other.cast::<Attack>() else { return Ok(PyNotImplemented::get(py).to_owned().into_any()) };
        let of = |attack: &Single| (attack.prior().clone(), attack.rhos());
        Ok(PyBool::new(py, of(&self.0) == of(&other.get().0)).to_owned().into_any())
    }

    fn __hash__(&self, py: Python) -> PyResult<isize> {
        PyString::new(py, &format!("{} {:?}", self.0.prior(), self.0.rhos())).hash()
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<PyAny>) -> Py<Self> {
        slf
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        Ok((slf.get_type(), (this.prior(py)?, this.rho(py)?)).into_pyobject(py)?.into_any())
    }

    /// The least released count minus known count at which the adversary decides for the target; for a single count.
    fn threshold(&self) -> PyResult<i64> {
        Ok(quick(self.0.threshold())?)
    }
}

/// An adversary who uses noisy counts of the target's group, of the higher groups, and of the other groups.
///
/// rho: of each level, lowest first. others: the number of other groups at each level except the last. upper: the prior of the
/// count one level up: "uniform", ("up-to", K) or ("point", K). known: the count of the target's group without the target.
#[pyclass(frozen, module = "dp_assay.risk", name = "HierarchicalAttack")]
pub struct HierarchicalAttack {
    attack: Hierarchy,
    /// Its arguments, for similar attacks.
    made_of: MadeOf,
}

#[derive(Clone, PartialEq, Debug)]
struct MadeOf {
    prior: Rational,
    rhos: Vec<Rational>,
    others: Vec<u64>,
    upper: Upper,
    known: i64,
}

fn upper_of(upper: Option<&Bound<PyAny>>) -> PyResult<Upper> {
    let refuse = || PyValueError::new_err("upper: expected \"uniform\", (\"up-to\", K) or (\"point\", K)");
    let Some(upper) = upper else { return Ok(Upper::Uniform) };
    if let Ok(name) = upper.extract::<String>() {
        return if name == "uniform" { Ok(Upper::Uniform) } else { Err(refuse()) };
    }
    match upper.extract::<(String, i64)>() {
        Ok((kind, most)) if kind == "up-to" => Ok(Upper::UpTo(most)),
        Ok((kind, most)) if kind == "point" => Ok(Upper::Point(most)),
        _ => Err(refuse()),
    }
}

#[pymethods]
impl HierarchicalAttack {
    #[new]
    #[pyo3(signature = (prior, rho, others, *, upper = None, known = 0))]
    fn new(prior: Exact, rho: Numbers, others: Integers, upper: Option<&Bound<PyAny>>, known: i64) -> PyResult<Self> {
        let number = |other: i64| {
            let why = || PyValueError::new_err(format!("others = {other} is out of range: expected 0 or more groups"));
            u64::try_from(other).map_err(|_| why())
        };
        let others: Vec<u64> = others.0.into_iter().map(number).collect::<PyResult<_>>()?;
        let made_of = MadeOf { prior: prior.0, rhos: rho.0, others, upper: upper_of(upper)?, known };
        let MadeOf { prior, rhos, others, upper, .. } = made_of.clone();
        let attack = quick(quick(Hierarchy::new(prior, rhos, others, upper))?.with_known(known))?;
        Ok(HierarchicalAttack { attack, made_of })
    }

    /// The posterior given the noisy counts of each level and the noisy sums over the other groups: a dict with `present` (the posterior that the target
    /// counts, an Enclosure) and `upper` (a list of (count one level up, Enclosure)).
    #[pyo3(signature = (noisy, noisy_others, *, digits = 12))]
    fn posterior<'py>(
        &self,
        py: Python<'py>,
        noisy: Integers,
        noisy_others: Integers,
        #[pyo3(from_py_with = numbers::digits)] digits: u32,
    ) -> PyResult<Bound<'py, PyDict>> {
        let attack = self.attack.clone();
        let found = work::run(py, move |_| attack.posterior(&noisy.0, &noisy_others.0, digits))?;
        let upper: Vec<(i64, Bound<Enclosure>)> = (found.upper.into_iter())
            .map(|(count, probability)| Ok((count, Bound::new(py, Enclosure::from(probability))?)))
            .collect::<PyResult<_>>()?;
        let answer = PyDict::new(py);
        answer.set_item("present", Bound::new(py, Enclosure::from((found.present, found.met)))?)?;
        answer.set_item("upper", upper)?;
        Ok(answer)
    }

    fn __eq__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = other.py();
        let Ok(other) = other.cast::<HierarchicalAttack>() else {
            return Ok(PyNotImplemented::get(py).to_owned().into_any());
        };
        Ok(PyBool::new(py, self.made_of == other.get().made_of).to_owned().into_any())
    }

    fn __hash__(&self, py: Python) -> PyResult<isize> {
        PyString::new(py, &format!("{:?}", self.made_of)).hash()
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<PyAny>) -> Py<Self> {
        slf
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let MadeOf { prior, rhos, others, upper, known } = &self.made_of;
        let make = py.import("dp_assay._support")?.getattr("hierarchy")?;
        let upper = match upper {
            Upper::UpTo(most) => Some(("up-to", *most)),
            Upper::Point(most) => Some(("point", *most)),
            // Weights cannot be given from Python.
            Upper::Uniform | Upper::Listed { .. } => None,
        };
        let state = (to_fraction(py, prior)?, to_fractions(py, rhos)?, others.clone(), upper, *known);
        Ok((make, state).into_pyobject(py)?.into_any())
    }

    /// The thresholds of decision for noisy outputs (count of the higher group, sum over the others): a list of (least, most) released counts of the
    /// target's group at which the adversary decides for the target.
    fn thresholds(&self, py: Python, outputs: Vec<(i64, i64)>) -> PyResult<Vec<(i64, i64)>> {
        let attack = self.attack.clone();
        let outputs: Vec<NoisyOutput> = outputs.into_iter().map(|(x2, y1)| NoisyOutput { x2, y1 }).collect();
        work::run(py, move |_| attack.thresholds(&outputs))
    }
}

/// p e^epsilon / (1 - p + p e^epsilon): the largest posterior that a loss of at most epsilon allows. epsilon: exact or an Enclosure's end.
#[pyfunction]
pub fn posterior_at(prior: &Bound<PyAny>, epsilon: Exact) -> PyResult<Enclosure> {
    let prior = number(prior)?;
    quick(dp_assay::risk::check_prior(&prior))?;
    Ok(bound::posterior_at(&prior, &Interval::rational(&epsilon.0, 128)).into())
}
