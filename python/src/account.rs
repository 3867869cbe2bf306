//! Mechanisms to account for, and their methods.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
};

use dp_assay::{
    account::{
        Account as _, Answer, Counts, Delta, Epsilon, Rho,
        compared::{self, Accountant, Against, Compared, Conversion},
        conversions,
        paths::Whole,
    },
    loss::{
        answer::{Proof, Quantity},
        evaluator::Evaluator,
        law::Law,
    },
    numeric::Enclosure as Interval,
    release::{
        Neighbors, Release as Published,
        subject::{Resolved, Subject},
    },
};
use numpy::PyArray1;
use pyo3::{
    IntoPyObjectExt,
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::{PyBool, PyDict, PyList, PyNotImplemented, PyString, PyTuple},
};

use crate::{
    enclosure::Enclosure,
    failure::Outcome,
    numbers::{self, Exact, Numbers, parameter_of, to_fraction},
    pickled,
    work::{self, quick},
};

/// The relation of a name or a synonym.
pub fn neighbors_of(name: Option<&str>) -> PyResult<Option<Neighbors>> {
    let refused =
        |name: &str| PyValueError::new_err(format!("neighbors = {name:?}: expected {}", Neighbors::expected()));
    name.map(|name| name.parse().map_err(|_| refused(name))).transpose()
}

pub fn delta_of(delta: Exact) -> Outcome<Delta> {
    quick(Delta::new(delta.0))
}

pub fn epsilon_of(epsilon: Exact) -> Outcome<Epsilon> {
    quick(Epsilon::new(epsilon.0))
}

/// Two arrays of floats: the lower ends, rounded down, and the upper ends, rounded up.
type Ends<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

fn ends<'py>(py: Python<'py>, answers: &[Answer]) -> Ends<'py> {
    let (lower, upper) = answers.iter().map(|answer| answer.value.doubles()).unzip();
    (PyArray1::from_vec(py, lower), PyArray1::from_vec(py, upper))
}

/// The evaluator of an account, with the number of the process that made it.
///
/// A forked process makes one of its own: a thread of its parent may have been changing the copied evaluator, and does not exist there
/// to release its locks. Such a copy is neither used nor dropped.
#[derive(Default)]
struct Remembered(Mutex<Option<(u32, Arc<Evaluator>)>>);

impl Remembered {
    /// The lock is only taken while holding the interpreter's and never held while waiting, so that no fork finds it taken.
    fn evaluator(&self, make: impl FnOnce() -> Evaluator) -> Arc<Evaluator> {
        let process = std::process::id();
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((owner, evaluator)) = &*slot
            && *owner == process
        {
            return Arc::clone(evaluator);
        }
        let evaluator = Arc::new(make());
        std::mem::forget(slot.replace((process, Arc::clone(&evaluator))));
        evaluator
    }
}

impl Drop for Remembered {
    fn drop(&mut self) {
        let slot = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some((owner, _)) = slot
            && *owner != std::process::id()
        {
            std::mem::forget(slot.take());
        }
    }
}

/// A mechanism to account for: the common methods of a mechanism, a composition and a release.
///
/// a + b, sum([...]) and 3 * a compose accounts. Two are equal if they account for the same noise under the same relation, no matter how they
/// were made; a Release is equal only to the same release. Every account can be pickled and copied.
///
/// Every method takes `digits`, from 1 to 250: the requested relative width of the answer is 10^-digits, and Enclosure.met says whether
/// it was reached. A value out of range raises ValueError, a value that is no number TypeError; Ctrl-C interrupts.
#[pyclass(frozen, subclass, module = "dp_assay", name = "Account")]
pub struct Account {
    /// Its definition, independent of how the noise was found.
    subject: Subject,
    resolved: Arc<Resolved>,
    remembered: Remembered,
    /// Whether it is that of an object of the class Release.
    is_release: bool,
}

impl Account {
    pub fn of(subject: Subject) -> Outcome<Self> {
        let resolved = quick(subject.clone().resolve())?;
        Ok(Account::known(subject, resolved))
    }

    /// An account of a subject that is already composed, perhaps under another title.
    pub fn known(subject: Subject, resolved: Resolved) -> Self {
        Account { subject, resolved: Arc::new(resolved), remembered: Remembered::default(), is_release: false }
    }

    /// The account of a release as a whole.
    pub fn of_release(subject: Subject) -> Outcome<Self> {
        Ok(Account { is_release: true, ..Account::of(subject)? })
    }

    /// The evaluator of the methods: for one composition it is kept, so that later calls need not sweep its lattice again. That
    /// of many block paths would hold too much memory.
    pub(crate) fn evaluator(&self) -> Arc<Evaluator> {
        match &self.resolved.whole {
            Whole::Composition(composition) => self.remembered.evaluator(|| composition.evaluator()),
            Whole::WorstPath(worst) => Arc::new(worst.evaluator()),
            Whole::ManyWays(many) => Arc::new(many.evaluator()),
        }
    }

    pub fn resolved(&self) -> Arc<Resolved> {
        Arc::clone(&self.resolved)
    }

    pub fn subject(&self) -> &Subject {
        &self.subject
    }

    /// Its value as a text, which is the same for the same noise under the same relation; for a release it includes its description.
    fn value(&self) -> String {
        let noise = |counts: &[Counts]| {
            let mut all: BTreeMap<(&Law, u64), u128> = BTreeMap::new();
            for counts in counts {
                *all.entry((&counts.law, counts.shift)).or_default() += u128::from(counts.count);
            }
            format!("{all:?}")
        };
        let (kind, paths, beside) = match &self.resolved.whole {
            Whole::Composition(one) => ("one", BTreeSet::from([noise(one.counts())]), None),
            Whole::WorstPath(worst) => {
                let kind = if worst.in_pairs() { "pairs" } else { "paths" };
                let beside = worst.beside().map(|beside| noise(beside.counts()));
                (kind, worst.paths().iter().map(|path| noise(path.counts())).collect(), beside)
            }
            // Of ledgers alone, which are no accounts here.
            Whole::ManyWays(many) => ("many", BTreeSet::from([format!("{:?}", many.mixes())]), None),
        };
        let own = self.subject.release.as_ref().filter(|_| self.is_release).map(|release| release.to_toml());
        format!("{} {kind} {paths:?} {beside:?} {own:?}", self.resolved.neighbors.name())
    }

    /// Counts of one law as an account.
    pub fn of_counts(counts: Counts, neighbors: Option<&str>, group: u64, counts_as_given: bool) -> PyResult<Self> {
        let neighbors = neighbors_of(neighbors)?;
        let subject = Subject { singles: vec![counts], neighbors, counts_as_given, group, ..Subject::default() };
        Ok(Account::of(subject)?)
    }
}

#[pymethods]
impl Account {
    /// Its description, in a line.
    #[getter]
    fn title(&self) -> &str {
        &self.resolved.title
    }

    /// The neighbor relation: "add-remove" (one record more or less) or "bounded" (one record changed).
    #[getter]
    fn neighbors(&self) -> &'static str {
        self.resolved.neighbors.name()
    }

    /// How often each count is counted: 2 for "bounded", where a record leaves one count and enters another; 1 otherwise, and for counts
    /// that are given for bounded neighbors.
    #[getter]
    fn times_each_count(&self) -> u64 {
        self.resolved.taken
    }

    /// The queries of the release that do not change under the relation, and are left out: a list of "LEVEL / QUERY".
    #[getter]
    fn unmoved_queries(&self) -> Vec<String> {
        self.resolved.unmoved.clone()
    }

    /// The conditions under which the account holds, in sentences: of Poisson samples, of counts that change by exactly a number, and of releases that state one.
    #[getter]
    fn conditions(&self) -> Vec<String> {
        self.resolved.conditions()
    }

    /// The zCDP rho in nats, exactly: a Fraction. Of the worst block path or pair of paths, if there are several.
    #[getter]
    fn rho<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_fraction(py, &self.resolved.whole.rho())
    }

    /// The parts of the composition, each alone, by name: the geolevels of a release, and counts given besides. Empty if there is
    /// only one part.
    #[getter]
    fn levels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let levels = PyDict::new(py);
        let parts = self.subject.parts().into_iter().zip(self.resolved.parts());
        for (level, (subject, part)) in self.resolved.levels.iter().zip(parts) {
            levels.set_item(&level.name, Bound::new(py, Account::known(subject, part))?)?;
        }
        Ok(levels)
    }

    /// The noise of the composition: a list of (law, parameter, count, shift), law its name as in "discrete Gaussian" or "pure DP", parameter a Fraction
    /// (sigma2 of Gaussian noise, otherwise epsilon). For a law of two parameters that is a tuple: the second is the bound of truncated noise or the
    /// number of answers, an int, or the delta of "approximate DP", a Fraction.
    #[getter]
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let row = |counts: &Counts| {
            let law = &counts.law;
            let mut parameter = to_fraction(py, law.parameter())?;
            let others = law.other_parameters();
            if !others.is_empty() {
                let others = others.iter().map(|(name, value)| parameter_of(py, name, value));
                parameter =
                    PyTuple::new(py, std::iter::once(Ok(parameter)).chain(others).collect::<PyResult<Vec<_>>>()?)?
                        .into_any();
            }
            (law.name(), parameter, counts.count, counts.shift).into_pyobject(py)
        };
        self.resolved.total.counts().iter().map(row).collect()
    }

    /// The probability that an output occurs that only one of two neighbors can have: an Enclosure, or None where there is no such output. Truncated noise and
    /// approximate DP have them. No epsilon is finite at a delta below it; rho is about all other outputs.
    #[getter]
    fn infinite_loss_mass(&self, py: Python) -> PyResult<Option<Enclosure>> {
        const DIGITS: u32 = 12;
        let Some(infinite) = self.resolved.whole.infinite_loss() else { return Ok(None) };
        let mass = work::run(py, move |_| Ok(infinite.mass(DIGITS)))?;
        let met = mass.is_tight(DIGITS);
        Ok(Some(Enclosure::from((mass, met))))
    }

    /// The smallest epsilon with delta(epsilon) <= delta, in nats: an Enclosure of relative width 10^-digits, proven from both
    /// sides. 0 < delta < 1, or ValueError; delta = 0 for noise of bounded loss, whose largest loss it is. ValueError for a delta below
    /// `infinite_loss_mass`, at which no epsilon is finite. The inverse of the privacy profile (see delta).
    #[pyo3(signature = (delta, *, digits = 12))]
    fn epsilon(
        &self,
        py: Python,
        delta: Exact,
        #[pyo3(from_py_with = numbers::digits)] digits: u32,
    ) -> PyResult<Enclosure> {
        if delta.0 == 0 {
            if let Some(largest) = quick(compared::pure_epsilon(&self.resolved.whole))? {
                return Ok(Interval::rational(&largest, 64 + 4 * digits).into());
            }
            if let Some(infinite) = self.resolved.whole.infinite_loss() {
                let mass = infinite.mass(digits).shown(7);
                return quick(Err(dp_assay::Error::InfiniteLoss { mass, delta: "0".to_string() })).map_err(PyErr::from);
            }
        }
        let (delta, resolved, evaluator) = (delta_of(delta)?, self.resolved(), self.evaluator());
        Ok(work::run(py, move |_| resolved.whole.epsilon_by(&evaluator, &delta, digits))?.into())
    }

    /// delta(epsilon), the hockey-stick divergence of neighbors: an Enclosure of relative width 10^-digits, however small.
    /// epsilon in nats, from 0 to 1e15, or ValueError. Both terms of the privacy profile: Su, Su & Wang 2025, Lemma A.9.
    #[pyo3(signature = (epsilon, *, digits = 12))]
    fn delta(
        &self,
        py: Python,
        epsilon: Exact,
        #[pyo3(from_py_with = numbers::digits)] digits: u32,
    ) -> PyResult<Enclosure> {
        let (epsilon, resolved, evaluator) = (epsilon_of(epsilon)?, self.resolved(), self.evaluator());
        Ok(work::run(py, move |_| resolved.whole.delta_by(&evaluator, &epsilon, digits))?.into())
    }

    /// The privacy profile: delta at each epsilon of a one-dimensional array or sequence of n. Two float64 arrays of length n, the
    /// lower ends rounded down and the upper ends rounded up. Last digits differ from those of delta, because adjacent points share
    /// contours. ValueError for an array of more dimensions, and for an epsilon that is no number from 0 to 1e15.
    #[pyo3(signature = (epsilons, *, digits = 12))]
    fn profile<'py>(
        &self,
        py: Python<'py>,
        epsilons: Numbers,
        #[pyo3(from_py_with = numbers::digits)] digits: u32,
    ) -> PyResult<Ends<'py>> {
        let (resolved, evaluator) = (self.resolved(), self.evaluator());
        let epsilons: Vec<Epsilon> = quick(epsilons.0.into_iter().map(Epsilon::new).collect())?;
        let answers = work::run(py, move |stop| {
            work::all(&epsilons, stop, |epsilon| resolved.whole.delta_of_many(&evaluator, epsilon, digits))
        })?;
        Ok(ends(py, &answers))
    }

    /// The trade-off function: the smallest type II error of any test of one neighbor against the other, at each type I error
    /// alpha from 0 to 1 of a one-dimensional array or sequence of n. Two float64 arrays of length n, lower and upper ends. ValueError
    /// as in profile. Dong, Roth & Su 2022, Definition 2.1.
    #[pyo3(signature = (alphas, *, digits = 12))]
    fn tradeoff<'py>(
        &self,
        py: Python<'py>,
        alphas: Numbers,
        #[pyo3(from_py_with = numbers::digits)] digits: u32,
    ) -> PyResult<Ends<'py>> {
        let (resolved, evaluator) = (self.resolved(), self.evaluator());
        let answers = work::run(py, move |stop| {
            work::all(&alphas.0, stop, |alpha| resolved.whole.tradeoff_by(&evaluator, alpha, digits))
        })?;
        Ok(ends(py, &answers))
    }

    /// delta(epsilon) by methods that share no code with those of `delta`: moments of the loss, or comparison with continuous Gaussian noise. An
    /// Enclosure of few digits whose `method` names the method, and the reason if an end is missing (`met` is False then). Every certified value is compared
    /// with it: if they excluded each other, that would be an error. epsilon in nats, from 0 to 1e15, or ValueError.
    #[pyo3(signature = (epsilon))]
    fn second_delta(&self, py: Python, epsilon: Exact) -> PyResult<Enclosure> {
        let (epsilon, evaluator, resolved) = (epsilon_of(epsilon)?, self.evaluator(), self.resolved());
        Ok(work::run(py, move |_| resolved.whole.second_delta(&evaluator, &epsilon, None))?.into())
    }

    /// The epsilon at delta by `second_delta` alone, near that of `epsilon`; 0 < delta < 1, or ValueError.
    #[pyo3(signature = (delta))]
    fn second_epsilon(&self, py: Python, delta: Exact) -> PyResult<Enclosure> {
        let (delta, resolved, evaluator) = (delta_of(delta)?, self.resolved(), self.evaluator());
        let found = work::run(py, move |_| {
            let first = resolved.whole.epsilon_by(&evaluator, &delta, 6)?;
            resolved.whole.second_epsilon(&evaluator, &delta, &first)
        })?;
        Ok(found.into())
    }

    /// The trade-off function at one type I error by methods that share no code with those of `tradeoff`: as in `second_delta`. alpha from 0 to 1,
    /// or ValueError.
    #[pyo3(signature = (alpha))]
    fn second_tradeoff(&self, py: Python, alpha: Exact) -> PyResult<Enclosure> {
        let (evaluator, resolved) = (self.evaluator(), self.resolved());
        Ok(work::run(py, move |_| resolved.whole.second_tradeoff(&evaluator, &alpha.0, None))?.into())
    }

    /// Epsilon at delta by every accountant: a dict by the accountant's name, each a dict with `epsilon` (an Enclosure, or None if
    /// it is infinite), `is_bound` (whether it is a bound for this mechanism) and `note`. In nats; 0 < delta < 1, or ValueError. Conversions:
    /// Canonne, Kamath & Steinke 2020, Corollary 13; Bun & Steinke 2016, Proposition 1.3; Dong, Roth & Su 2022, Corollary 2.13.
    #[pyo3(signature = (delta, *, digits = 12))]
    fn compare<'py>(
        &self,
        py: Python<'py>,
        delta: Exact,
        #[pyo3(from_py_with = numbers::digits)] digits: u32,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (delta, resolved) = (delta_of(delta)?, self.resolved());
        let rows = work::run(py, move |_| by_every_accountant(&resolved, &delta, digits))?;
        let all = PyDict::new(py);
        for (name, epsilon, is_bound, note) in rows {
            let row = PyDict::new(py);
            row.set_item("epsilon", epsilon.map(|epsilon| Bound::new(py, epsilon)).transpose()?)?;
            row.set_item("is_bound", is_bound)?;
            row.set_item("note", note)?;
            all.set_item(name, row)?;
        }
        Ok(all)
    }

    /// The number with which epsilon at delta is compared: a dict with `name`, `epsilon` (an Enclosure, not rounded), `printed` and `source`. If a
    /// figure was published for the same mechanism at this delta, it is the conversion of that figure, and `printed` has its digits; otherwise the smallest
    /// standard account (pure DP, basic composition, zCDP at the best order, RDP), and both are None. match: "published" (ValueError if nothing was
    /// published), "zcdp" (Bun-Steinke), "best-order", "rdp", "pure" or "basic" (the largest finite loss). 0 < delta < 1, or ValueError.
    #[pyo3(signature = (delta, *, r#match = None, digits = 12))]
    fn compared_with<'py>(
        &self,
        py: Python<'py>,
        delta: Exact,
        r#match: Option<&str>,
        #[pyo3(from_py_with = numbers::digits)] digits: u32,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (delta, against, resolved) = (delta_of(delta)?, against_of(r#match)?, self.resolved());
        let found = work::run(py, move |_| resolved.compared(against, &delta, digits))?;
        compared_of(py, &found)
    }

    /// How epsilon at delta is certified: a dict (with a readable str()) of the answer, the lattice of losses, and the proof at the
    /// upper end with each error bound.
    #[pyo3(signature = (delta, *, digits = 12))]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        delta: Exact,
        #[pyo3(from_py_with = numbers::digits)] digits: u32,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (delta, resolved) = (delta_of(delta)?, self.resolved());
        let level = delta.clone();
        let (epsilon, proof, second) = work::run(py, move |_| {
            let epsilon = resolved.whole.epsilon(&level, digits)?;
            let unbounded = || dp_assay::Error::Unbounded { what: "epsilon" };
            // The proof of the upper end: delta there is at most the target.
            let at = epsilon.value.upper_rational().ok_or_else(unbounded)?;
            let evaluator = resolved.whole.evaluator();
            let proof = resolved.whole.delta_by(&evaluator, &at, digits)?;
            let second = resolved.whole.second_delta(&evaluator, &at, proof.pair())?;
            Ok((epsilon, proof, second))
        })?;
        let facts = self.explanation(py, &delta, epsilon, proof)?;
        facts.set_item("second_delta_at_upper", Bound::new(py, Enclosure::from(second))?)?;
        py.import("dp_assay._support")?.getattr("Explanation")?.call1((facts,))
    }

    /// A chart with matplotlib. kind: "profile" (delta over epsilon), "tradeoff", "compare" (the profile beside zCDP's) or "noise"
    /// (sigma2 for each level). Options are those of dp_assay.plotting. Returns the axes.
    #[pyo3(signature = (kind = "profile", **options))]
    fn plot<'py>(
        slf: &Bound<'py, Self>,
        kind: &str,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("dp_assay.plotting")?.getattr("plot")?.call((slf, kind), options)
    }

    /// The conversion of zCDP by Bun & Steinke beside the profile: exp(-(epsilon - rho)^2 / (4 rho)) at each epsilon, rounded up. With probability
    /// `infinite_loss_mass` no epsilon holds, which is added.
    #[pyo3(signature = (epsilons))]
    fn zcdp_profile<'py>(&self, py: Python<'py>, epsilons: Numbers) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let delta = |epsilon| Ok(self.resolved.whole.zcdp_delta(&Epsilon::new(epsilon)?, 17).doubles().1);
        let all: Vec<f64> = quick(epsilons.0.into_iter().map(delta).collect())?;
        Ok(PyArray1::from_vec(py, all))
    }

    /// Composed with another account about the same person.
    fn __add__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, Self>) -> PyResult<Bound<'py, Composition>> {
        let parts = PyList::new(slf.py(), [slf.clone().into_any(), other.clone().into_any()])?;
        Bound::new(slf.py(), Composition::new(parts.as_any(), None, None, None)?)
    }

    /// 0 + account is the account: sum() begins with 0.
    fn __radd__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        if is_whole(other)? && other.eq(0)? {
            return Ok(slf.clone().into_any());
        }
        Ok(PyNotImplemented::get(py).to_owned().into_any())
    }

    /// Released `times` times, each time with noise of its own.
    fn __mul__<'py>(slf: &Bound<'py, Self>, times: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        if !is_whole(times)? {
            return Ok(PyNotImplemented::get(py).to_owned().into_any());
        }
        Composition::of(py, quick(slf.get().subject.repeated(numbers::times(times)?))?)
    }

    fn __rmul__<'py>(slf: &Bound<'py, Self>, times: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Account::__mul__(slf, times)
    }

    fn __eq__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let Ok(other) = other.cast::<Account>() else { return Ok(PyNotImplemented::get(py).to_owned().into_any()) };
        let (own, others) = (slf.get(), other.get());
        let same = own.is_release == others.is_release && (slf.is(other) || own.value() == others.value());
        Ok(PyBool::new(py, same).to_owned().into_any())
    }

    fn __hash__(slf: &Bound<Self>) -> PyResult<isize> {
        PyString::new(slf.py(), &slf.get().value()).hash()
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<PyAny>) -> Py<Self> {
        slf
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        let Subject { release, levels, singles, neighbors, group, counts_as_given, .. } = &this.subject;
        let release = release.as_ref().map(|release| release.to_toml());
        let singles: Vec<(String, String)> = singles.iter().map(in_words).collect();
        let neighbors = neighbors.map(Neighbors::name);
        let make = py.import("dp_assay._native")?.getattr("_account")?;
        let is_composition = slf.is_instance_of::<Composition>();
        let state =
            (is_composition, release, levels.clone(), singles, neighbors, *group, this.title(), *counts_as_given);
        Ok((make, state).into_pyobject(py)?.into_any())
    }

    fn __repr__(slf: &Bound<Self>) -> PyResult<String> {
        Ok(format!("<{} {}; {} neighbors>", slf.get_type().name()?, slf.get().title(), slf.get().neighbors()))
    }
}

/// Whether it is a whole number, as Python's and numpy's are, and not a boolean.
fn is_whole(value: &Bound<PyAny>) -> PyResult<bool> {
    Ok(!value.is_instance_of::<PyBool>() && value.get_type().hasattr("__index__")?)
}

type AccountantRow = (&'static str, Option<Enclosure>, bool, String);

fn by_every_accountant(resolved: &Resolved, delta: &Delta, digits: u32) -> dp_assay::Result<Vec<AccountantRow>> {
    let exact = resolved.whole.epsilon(delta, digits)?;
    let first: AccountantRow = ("exact", Some(exact.into()), true, "the privacy profile itself".to_string());
    let row = |one: Accountant| (one.name, one.epsilon.map(Enclosure::from), one.is_bound, one.note);
    let others = compared::accountants(&resolved.whole, delta, digits)?;
    Ok([first].into_iter().chain(others.into_iter().map(row)).collect())
}

/// A comparison as a dict.
pub fn compared_of<'py>(py: Python<'py>, found: &Compared) -> PyResult<Bound<'py, PyDict>> {
    let figure = found.published.as_ref();
    let row = PyDict::new(py);
    row.set_item("name", found.by.name())?;
    row.set_item("epsilon", Bound::new(py, Enclosure::from(found.epsilon.clone()))?)?;
    row.set_item("printed", figure.map(|figure| figure.printed.as_str()))?;
    row.set_item("source", figure.map(|figure| figure.source.as_str()))?;
    Ok(row)
}

/// The account of a name.
pub fn against_of(name: Option<&str>) -> PyResult<Against> {
    match name {
        None => Ok(Against::Usual),
        Some("published") => Ok(Against::Published),
        Some(key) => Conversion::of_key(key).map(Against::By).ok_or_else(|| {
            PyValueError::new_err(format!(
                "{key:?} is no account: expected \"published\", \"zcdp\", \"best-order\", \"rdp\", \"pure\" or \"basic\""
            ))
        }),
    }
}

impl Account {
    /// The facts of an explanation, under the names of the program's JSON.
    fn explanation<'py>(
        &self,
        py: Python<'py>,
        delta: &Delta,
        epsilon: Answer,
        proof: Answer,
    ) -> PyResult<Bound<'py, PyDict>> {
        let total = &quick(self.resolved.deciding_composition(&epsilon))?;
        let loss = total.loss();
        let how = proof.proof.clone();
        let facts = PyDict::new(py);
        facts.set_item("title", &self.resolved.title)?;
        facts.set_item("neighbors", self.resolved.neighbors.name())?;
        facts.set_item("delta", to_fraction(py, delta)?)?;
        facts.set_item("rho", to_fraction(py, total.rho())?)?;
        facts.set_item("groups", loss.groups().len())?;
        facts.set_item("counts", loss.groups().iter().map(|group| group.copies).sum::<u64>())?;
        facts.set_item("lattice_step", loss.step().map(|step| to_fraction(py, step)).transpose()?)?;
        facts.set_item("worst_pair", self.resolved.deciding_pair(&epsilon))?;
        facts.set_item(
            "infinite_loss_mass",
            self.infinite_loss_mass(py)?.map(|mass| Bound::new(py, mass)).transpose()?,
        )?;
        facts.set_item("method", how.to_string())?;
        facts.set_item("engine", how.engine())?;
        let period = how.field("period_nodes").map(|_| "lattice");
        facts.set_item("kernel", how.field("contour").map(|_| period.unwrap_or("line")))?;
        // None where the engine has no such number.
        for (name, shown) in [
            ("lattice_refused", "lattice_refused"),
            ("contour", "contour"),
            ("period_nodes", "period_nodes"),
            ("evaluated_nodes", "evaluated_nodes"),
            ("side_lobes", "side_lobes"),
            ("bits", "bits"),
            ("alias_error", "alias_error_upper"),
            ("truncation_error", "truncation_error_upper"),
            ("rounding_error", "rounding_error_upper"),
        ] {
            facts.set_item(shown, how.field(name).map(|value| quantity(py, value)).transpose()?)?;
        }
        facts.set_item("proof", fields(py, &how)?)?;
        facts.set_item("epsilon", Bound::new(py, Enclosure::from(epsilon))?)?;
        facts.set_item("delta_at_upper", Bound::new(py, Enclosure::from(proof))?)?;
        Ok(facts)
    }
}

/// Several mechanisms about the same person, composed.
///
/// parts: accounts (counts, compositions, levels, calibrated accounts, at most one release) or texts such as "5x10@1", which is a discrete Gaussian of sigma2 = 5 on
/// 10 counts, each changed by 1. neighbors: "add-remove" or "bounded", or a synonym of either; that of the parts if None. Counts of noise are counted under it, whatever
/// relation they had; a guarantee, pair or randomized response that was given for another relation is refused. group: the number of people who
/// leave or enter together. counts_as_given: as in DiscreteGaussian; that of the parts if None.
#[pyclass(frozen, extends = Account, module = "dp_assay", name = "Composition")]
pub struct Composition;

impl Composition {
    /// The composition of a subject.
    pub fn of(py: Python, subject: Subject) -> PyResult<Bound<PyAny>> {
        let account = Account::of(subject)?;
        Ok(Bound::new(py, PyClassInitializer::from(account).add_subclass(Composition))?.into_any())
    }
}

/// The error for a part that is neither an account nor a text.
fn not_a_part(part: &Bound<PyAny>) -> PyErr {
    let name = part.get_type().name().map_or_else(|_| "unknown".to_string(), |name| name.to_string());
    PyTypeError::new_err(format!("a part of type {name}: expected an account, or a text such as \"5x10@1\""))
}

/// A part that is given as a text: discrete Gaussian noise, and no other.
fn in_text(text: &str) -> PyResult<Counts> {
    text.parse().map_err(|error: dp_assay::Error| {
        PyValueError::new_err(format!(
            "part {text:?}: {error}; a text is discrete Gaussian noise, as \"5x10@1\" for sigma2 = 5 on 10 counts, and each other law has a class, such as Laplace(1)"
        ))
    })
}

/// Refuses another relation for guarantees, pairs and responses that were given for one: they do not determine what holds under the other.
pub fn keep_guarantees(subject: &Subject, given: Option<Neighbors>) -> PyResult<()> {
    let (Some(given), Some(own)) = (given, subject.neighbors) else { return Ok(()) };
    let Some(single) = subject.singles.iter().find(|single| single.law.is_guarantee() && own != given) else {
        return Ok(());
    };
    let (own, given) = (own.name(), given.name());
    Err(PyValueError::new_err(format!(
        "{single} is given for {own} neighbors, here neighbors = {given:?}: give the guarantee for that relation"
    )))
}

/// Whether the counts of all parts are as given for bounded neighbors: what is said of all, or else of each.
fn all_as_given(of_all: Option<bool>, mut of_each: Vec<bool>) -> PyResult<bool> {
    of_each.dedup();
    match (of_all, of_each.as_slice()) {
        (Some(given), _) => Ok(given),
        (None, [] | [false]) => Ok(false),
        (None, [true]) => Ok(true),
        (None, _) => Err(PyValueError::new_err(
            "the counts of some parts are as given for bounded neighbors, and those of others are counted twice: account for them separately",
        )),
    }
}

#[pymethods]
impl Composition {
    #[new]
    #[pyo3(signature = (parts, *, neighbors = None, group = None, counts_as_given = None))]
    fn new(
        parts: &Bound<PyAny>,
        neighbors: Option<&str>,
        #[pyo3(from_py_with = numbers::group_or_none)] group: Option<u64>,
        counts_as_given: Option<bool>,
    ) -> PyResult<PyClassInitializer<Self>> {
        if parts.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err("the parts are a text: expected a list of them, as in [\"5x10\"]"));
        }
        let given = neighbors_of(neighbors)?;
        let mut all = Subject { neighbors: given, group: group.unwrap_or(1), ..Subject::default() };
        let mut relations: Vec<Neighbors> = Vec::new();
        let mut sizes: Vec<u64> = Vec::new();
        let mut as_given: Vec<bool> = Vec::new();
        for part in parts.try_iter()? {
            let part = part?;
            if let Ok(text) = part.extract::<String>() {
                all.singles.push(in_text(&text)?);
                as_given.push(counts_as_given.unwrap_or(false));
                continue;
            }
            let account = part.cast::<Account>().map_err(|_| not_a_part(&part))?;
            let own = account.get().subject();
            keep_guarantees(own, given)?;
            if let Some(release) = &own.release {
                join(&mut all, release, &own.levels)?;
            }
            all.singles.extend(own.singles.iter().cloned());
            relations.extend(own.neighbors.or(own.release.as_ref().map(|release| release.neighbors)));
            sizes.push(own.group);
            // A guarantee is as given in any case.
            let counts = own.singles.iter().any(|single| !single.law.is_guarantee());
            as_given.extend(counts.then_some(own.counts_as_given));
        }
        if given.is_none() {
            relations.dedup();
            if relations.len() > 1 {
                return Err(PyValueError::new_err(
                    "the parts have different neighbor relations: give neighbors, and guarantees for that relation",
                ));
            }
            all.neighbors = relations.pop();
        }
        if group.is_none() {
            sizes.dedup();
            if sizes.len() > 1 {
                return Err(PyValueError::new_err("the parts are about groups of different sizes: give group"));
            }
            all.group = sizes.pop().unwrap_or(1);
        }
        all.counts_as_given = all_as_given(counts_as_given, as_given)?;
        Ok(PyClassInitializer::from(Account::of(all)?).add_subclass(Composition))
    }
}

/// Adds a release, or some of its levels, to a subject: beside other levels of the same one, but not beside another.
fn join(all: &mut Subject, release: &Published, levels: &[String]) -> PyResult<()> {
    let Some(known) = &all.release else {
        all.release = Some(release.clone());
        all.levels = levels.to_vec();
        return Ok(());
    };
    let is_same = known.to_toml() == release.to_toml();
    let apart = |level: &String| !all.levels.contains(level);
    if is_same && !all.levels.is_empty() && !levels.is_empty() && levels.iter().all(apart) {
        all.levels.extend(levels.iter().cloned());
        return Ok(());
    }
    Err(PyValueError::new_err(if is_same {
        format!(
            "{} is there twice: 2 * account accounts for it drawn twice, each time with noise of its own",
            known.name
        )
    } else {
        let why = "a composition has at most one release; several releases about the same people are a Ledger";
        format!("{} and {}: {why}", known.name, release.name)
    }))
}

/// An account, unpickled: its definition, and its title.
#[pyfunction]
#[pyo3(name = "_account", signature = (is_composition, release, levels, singles, neighbors, group, title, counts_as_given = false))]
#[allow(clippy::too_many_arguments)]
pub fn restored<'py>(
    py: Python<'py>,
    is_composition: bool,
    release: Option<String>,
    levels: Vec<String>,
    singles: Vec<(String, String)>,
    neighbors: Option<String>,
    group: u64,
    title: String,
    counts_as_given: bool,
) -> PyResult<Bound<'py, PyAny>> {
    // Version 0.1 wrote the name of a class in place of that of a law.
    let single = |(key, text): (String, String)| match key.as_str() {
        "DiscreteGaussian" => Counts::parse("discrete-gaussian", &text),
        "Gaussian" => Counts::parse("gaussian", &text),
        "DiscreteLaplace" => Counts::parse("discrete-laplace", &text),
        key => pickled::parsed(key, &text).unwrap_or_else(|| Counts::parse(key, &text)),
    };
    let subject = Subject {
        release: quick(release.map(|text| Published::parse(&text, "a pickled release")).transpose())?,
        levels,
        singles: quick(singles.into_iter().map(single).collect())?,
        neighbors: neighbors_of(neighbors.as_deref())?,
        counts_as_given,
        group,
        ..Subject::default()
    };
    let mut resolved = quick(subject.clone().resolve())?;
    resolved.title = title;
    let account = PyClassInitializer::from(Account::known(subject, resolved));
    if is_composition {
        return Ok(Bound::new(py, account.add_subclass(Composition))?.into_any());
    }
    Ok(Bound::new(py, account)?.into_any())
}

/// Counts as the name of their law in files and their text, as [`Counts::parse`] reads both, or [`pickled::parsed`].
fn in_words(counts: &Counts) -> (String, String) {
    let law = &counts.law;
    if let Some(text) = pickled::in_words(counts) {
        return (law.key().to_string(), text);
    }
    let others: String = law.other_parameters().iter().map(|(_, value)| format!(":{value}")).collect();
    (law.key().to_string(), format!("{}{others}x{}@{}", law.parameter(), counts.count, counts.shift))
}

/// An epsilon that rho-zCDP implies at delta: an Enclosure. conversion: "best-order" (by the best of all Renyi orders, each converted alone; Canonne,
/// Kamath & Steinke 2020, Corollary 13; also "optimal") or "bun-steinke" (rho + 2 sqrt(rho ln(1/delta))).
#[pyfunction]
#[pyo3(signature = (rho, delta, *, conversion = "best-order"))]
pub fn zcdp_epsilon(rho: Exact, delta: Exact, conversion: &str) -> PyResult<Enclosure> {
    let (rho, delta) = (quick(Rho::new(rho.0))?, delta_of(delta)?);
    match conversion {
        "best-order" | "optimal" => Ok(quick(conversions::zcdp_epsilon_optimal(&rho, &delta))?.epsilon.into()),
        "bun-steinke" => Ok(conversions::zcdp_epsilon(&rho, &delta, 30).into()),
        other => {
            let why = format!("conversion = {other:?}: expected \"best-order\" or \"bun-steinke\"");
            Err(PyValueError::new_err(why))
        }
    }
}

/// The delta that rho-zCDP implies at epsilon, exp(-(epsilon - rho)^2 / (4 rho)), or 1 up to rho: an Enclosure (Bun & Steinke 2016).
#[pyfunction]
pub fn zcdp_delta(rho: Exact, epsilon: Exact) -> PyResult<Enclosure> {
    let (rho, epsilon) = (quick(Rho::new(rho.0))?, epsilon_of(epsilon)?);
    Ok(conversions::zcdp_delta(&rho, &epsilon, 30).into())
}

/// A number of a proof: exact fractions, counts, and doubles that bound an error from above.
fn quantity<'py>(py: Python<'py>, value: &Quantity) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Quantity::Count(count) => count.into_bound_py_any(py),
        Quantity::Exact(exact) => to_fraction(py, exact)?.into_bound_py_any(py),
        Quantity::Double(double) => double.into_bound_py_any(py),
        Quantity::UpperBound(error) => Interval::new(error.clone(), error.clone()).doubles().1.into_bound_py_any(py),
        Quantity::Words(words) => words.into_bound_py_any(py),
        Quantity::Of(proof) => {
            let of = PyDict::new(py);
            of.set_item("engine", proof.engine())?;
            of.set_item("method", proof.to_string())?;
            of.set_item("proof", fields(py, proof)?)?;
            of.into_bound_py_any(py)
        }
    }
}

/// The numbers of a proof by name.
fn fields<'py>(py: Python<'py>, proof: &Proof) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    for field in proof.fields() {
        fields.set_item(field.name, quantity(py, &field.value)?)?;
    }
    Ok(fields)
}
