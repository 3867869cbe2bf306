//! Mechanisms beside discrete Gaussian and discrete Laplace noise: guarantees, bounded range, randomized response, continuous Laplace, truncated and staircase noise, and
//! noise on Poisson samples. Truncated and staircase noise and randomized response are drawn, too.

use dp_assay::{
    account::{Counts, training::Run},
    loss::law::Law,
};
use pyo3::{
    prelude::*,
    types::{PyDict, PyList, PyTuple},
};

use crate::{
    account::Account,
    noise::IntegerNoise,
    numbers::{self, Exact, parameter_of},
    work::quick,
};

/// The arguments of an object of a class of a law.
pub(crate) struct Given {
    pub(crate) counts: Counts,
    neighbors: Option<&'static str>,
    group: u64,
    counts_as_given: bool,
}

/// The keyword arguments that counts of noise share.
#[derive(Default)]
pub(crate) struct Options<'a> {
    pub(crate) neighbors: Option<&'a str>,
    pub(crate) group: Option<u64>,
    pub(crate) counts_as_given: bool,
}

/// The law of this name in files with parameters in the order of the constructor, as an account.
fn account_of(
    key: &'static str,
    parameters: impl IntoIterator<Item = Exact>,
    [count, shift]: [u64; 2],
    options: &Options,
) -> PyResult<(Account, Given)> {
    let mut parameters = parameters.into_iter();
    let missing = |name| dp_assay::Error::Fault { what: format!("{key} without its {name}") };
    let law = Law::named(key, |name| parameters.next().map(|given| given.0).ok_or_else(|| missing(name)));
    Given::new(quick(law.unwrap_or_else(|| Err(missing("law"))))?, [count, shift], options)
}

/// The pickled form of an object: a function, and its class with positional and keyword arguments.
pub(crate) type Recipe<'py> = (Bound<'py, PyAny>, (Bound<'py, PyAny>, Bound<'py, PyTuple>, Bound<'py, PyDict>));

impl Given {
    /// Counts with noise of a law, and their account.
    pub(crate) fn new(law: Law, [count, shift]: [u64; 2], options: &Options) -> PyResult<(Account, Self)> {
        let counts = quick(Counts::new(law, count, shift))?;
        let &Options { neighbors, group, counts_as_given } = options;
        let group = group.unwrap_or(1);
        let account = Account::of_counts(counts.clone(), neighbors, group, counts_as_given)?;
        let neighbors = neighbors.map(|_| account.resolved().neighbors.name());
        Ok((account, Given { counts, neighbors, group, counts_as_given }))
    }

    /// The parameters of the law by their names.
    pub(crate) fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (law, all) = (&self.counts.law, PyDict::new(py));
        all.set_item(law.parameter_name(), parameter_of(py, law.parameter_name(), law.parameter())?)?;
        for (name, value) in law.other_parameters() {
            all.set_item(name, parameter_of(py, name, &value)?)?;
        }
        Ok(all)
    }

    /// The pickled form of an object of this class, with its arguments before the count and its name, where it has one.
    pub(crate) fn recipe<'py>(
        &self,
        kind: Bound<'py, PyAny>,
        values: Bound<'py, PyList>,
        name: Option<&str>,
    ) -> PyResult<Recipe<'py>> {
        let py = kind.py();
        values.append(self.counts.count)?;
        let options = PyDict::new(py);
        if let Some(name) = name {
            options.set_item("name", name)?;
        }
        // Only what differs from a default, because not every class has each of them.
        if self.counts.shift != 1 {
            options.set_item("shift", self.counts.shift)?;
        }
        if let Some(neighbors) = self.neighbors {
            options.set_item("neighbors", neighbors)?;
        }
        if self.group != 1 {
            options.set_item("group", self.group)?;
        }
        if self.counts_as_given {
            options.set_item("counts_as_given", true)?;
        }
        if let Law::Perturbation(table) = &self.counts.law
            && table.base().is_none()
            && table.period() != 1
        {
            options.set_item("period", table.period())?;
        }
        let make = py.import("dp_assay._support")?.getattr("made")?;
        Ok((make, (kind, values.to_tuple(), options)))
    }
}

/// The methods that all classes of this file have beside their constructors.
macro_rules! law_classes {
    ($($name:ident),*) => {
        $(
            #[pymethods]
            impl $name {
                /// The parameters of the law by their names, in the order of the constructor: Fractions, and int where they count something.
                #[getter]
                fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
                    self.0.parameters(py)
                }

                /// How many there are.
                #[getter]
                fn count(&self) -> u64 {
                    self.0.counts.count
                }

                fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Recipe<'py>> {
                    let own = &slf.get().0;
                    own.recipe(slf.get_type().into_any(), own.parameters(slf.py())?.values(), None)
                }
            }
        )*
    };
}

/// The objects of a class of integer noise with their account and their sampler.
macro_rules! drawn {
    ($name:ident, $made:expr) => {{
        let (account, given) = $made?;
        let noise = IntegerNoise::new(given.counts.law.clone());
        Ok(PyClassInitializer::from(account).add_subclass(noise).add_subclass($name(given)))
    }};
}

/// The objects of a class with their account.
macro_rules! made {
    ($name:ident, $made:expr) => {{
        let (account, given) = $made?;
        Ok(PyClassInitializer::from(account).add_subclass($name(given)))
    }};
}

law_classes!(
    Pure,
    BoundedRange,
    Approximate,
    RandomizedResponse,
    Laplace,
    TruncatedLaplace,
    TruncatedGaussian,
    Staircase,
    RandomRounding,
    SampledGaussian
);

/// A class of mechanisms of which one parameter is known, for each number of people, with its constructor.
macro_rules! guarantee {
    ($(#[$doc:meta])* $name:ident, $text:literal, $key:literal) => {
        $(#[$doc])*
        #[pyclass(frozen, extends = Account, module = "dp_assay", name = $text)]
        pub struct $name(Given);

        #[pymethods]
        impl $name {
            #[new]
            #[pyo3(signature = (epsilon, count = 1, shift = 1, *, neighbors = None, group = 1))]
            fn new(
                epsilon: Exact,
                #[pyo3(from_py_with = numbers::count)] count: u64,
                #[pyo3(from_py_with = numbers::shift)] shift: u64,
                neighbors: Option<&str>,
                #[pyo3(from_py_with = numbers::group)] group: u64,
            ) -> PyResult<PyClassInitializer<Self>> {
                let options = Options { neighbors, group: Some(group), counts_as_given: false };
                made!($name, account_of($key, [epsilon], [count, shift], &options))
            }

            /// How many people change together.
            #[getter]
            fn shift(&self) -> u64 {
                self.0.counts.shift
            }
        }
    };
}

guarantee!(
    /// count mechanisms of which only epsilon-DP is known: an account that holds for each of them, also if they are chosen adaptively, and is attained by randomized
    /// response (Kairouz, Oh & Viswanath 2015, Theorem 3.3).
    ///
    /// epsilon: from 1e-6 to 1e3. shift: how many people change together, from 1 to 1000; the epsilon of k people is k times as large. neighbors: the relation for which
    /// the guarantee holds; it is taken as given, and never counted twice. group: as in DiscreteGaussian.
    Pure, "Pure", "pure"
);

guarantee!(
    /// count mechanisms of range epsilon, as the exponential mechanism with weights exp(epsilon u / (2 sensitivity)) or the noisy maximum with Gumbel noise: the losses of any
    /// two outputs differ by at most epsilon. The account is that of the pair that dominates all of them (Dong, Durfee & Rogers 2020): an upper bound for every composition,
    /// adaptive or not, which one mechanism attains.
    ///
    /// epsilon: from 1e-6 to 1e3. shift: how many people change together, from 1 to 1000; k people have k times the range. neighbors and group: as in Pure.
    BoundedRange, "BoundedRange", "exponential"
);

/// count mechanisms of which only (epsilon, delta)-DP is known: an account that holds for each of them, also if they are chosen adaptively, and is attained by
/// one of them (Kairouz, Oh & Viswanath 2015, Theorem 3.3; Murtagh & Vadhan 2016, Lemma 3.2).
///
/// epsilon: from 1e-6 to 1e3. delta: 0 < delta < 1. neighbors: the relation for which the guarantee holds; it is taken as given, and never counted twice. The guarantee of a
/// group depends on the mechanism: give that of the group.
#[pyclass(frozen, extends = Account, module = "dp_assay", name = "Approximate")]
pub struct Approximate(Given);

#[pymethods]
impl Approximate {
    #[new]
    #[pyo3(signature = (epsilon, delta, count = 1, *, neighbors = None))]
    fn new(
        epsilon: Exact,
        delta: Exact,
        #[pyo3(from_py_with = numbers::count)] count: u64,
        neighbors: Option<&str>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let options = Options { neighbors, ..Options::default() };
        made!(Approximate, account_of("approximate", [epsilon, delta], [count, 1], &options))
    }
}

/// count randomized responses: the true one of `answers` possible answers with probability e^epsilon / (e^epsilon + answers - 1), else one of the others, each with the
/// same probability. One person changes each response from one true answer to another, under each relation.
///
/// epsilon: from 1e-6 to 1e3. answers: from 2 to 1e12.
#[pyclass(frozen, extends = IntegerNoise, module = "dp_assay", name = "RandomizedResponse")]
pub struct RandomizedResponse(Given);

#[pymethods]
impl RandomizedResponse {
    #[new]
    #[pyo3(signature = (epsilon, answers = Exact(2.into()), count = 1, *, neighbors = None), text_signature = "(epsilon, answers=2, count=1, *, neighbors=None)")]
    fn new(
        epsilon: Exact,
        answers: Exact,
        #[pyo3(from_py_with = numbers::count)] count: u64,
        neighbors: Option<&str>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let options = Options { neighbors, ..Options::default() };
        drawn!(RandomizedResponse, account_of("randomized-response", [epsilon, answers], [count, 1], &options))
    }
}

/// count numbers with continuous Laplace noise of density exp(-|x| / scale) / (2 scale); each changed by shift between neighbors.
///
/// scale: from 1e-3 to 1e6. shift: from 1 to 1000. The other arguments are as in DiscreteGaussian.
#[pyclass(frozen, extends = Account, module = "dp_assay", name = "Laplace")]
pub struct Laplace(Given);

#[pymethods]
impl Laplace {
    #[new]
    #[pyo3(signature = (scale, count = 1, shift = 1, *, neighbors = None, group = 1, counts_as_given = false))]
    fn new(
        scale: Exact,
        #[pyo3(from_py_with = numbers::count)] count: u64,
        #[pyo3(from_py_with = numbers::shift)] shift: u64,
        neighbors: Option<&str>,
        #[pyo3(from_py_with = numbers::group)] group: u64,
        counts_as_given: bool,
    ) -> PyResult<PyClassInitializer<Self>> {
        let options = Options { neighbors, group: Some(group), counts_as_given };
        made!(Laplace, account_of("laplace", [scale], [count, shift], &options))
    }

    /// By how much one person changes each number.
    #[getter]
    fn shift(&self) -> u64 {
        self.0.counts.shift
    }
}

/// A class of truncated noise, with its constructor.
macro_rules! truncated {
    ($(#[$doc:meta])* $name:ident, $text:literal, $parameter:ident, $key:literal) => {
        $(#[$doc])*
        #[pyclass(frozen, extends = IntegerNoise, module = "dp_assay", name = $text)]
        pub struct $name(Given);

        #[pymethods]
        impl $name {
            #[new]
            #[pyo3(signature = ($parameter, bound, count = 1, shift = 1, *, neighbors = None, group = 1, counts_as_given = false))]
            #[allow(clippy::too_many_arguments, reason = "the arguments of a class of Python")]
            fn new(
                $parameter: Exact,
                bound: Exact,
                #[pyo3(from_py_with = numbers::count)] count: u64,
                #[pyo3(from_py_with = numbers::shift)] shift: u64,
                neighbors: Option<&str>,
                #[pyo3(from_py_with = numbers::group)] group: u64,
                counts_as_given: bool,
            ) -> PyResult<PyClassInitializer<Self>> {
                let options = Options { neighbors, group: Some(group), counts_as_given };
                drawn!($name, account_of($key, [$parameter, bound], [count, shift], &options))
            }

            /// By how much one person changes each count.
            #[getter]
            fn shift(&self) -> u64 {
                self.0.counts.shift
            }
        }
    };
}

truncated!(
    /// count counts with discrete Laplace noise, renormalized on -bound, ..., bound; each changed by shift between neighbors.
    ///
    /// Outputs at an end of that range are possible for one neighbor only: delta is never below their probability, which is `infinite_loss_mass`. epsilon: mass
    /// is proportional to exp(-epsilon |x|), from 1e-6 to 1e3. bound: from 1 to 100000. shift: from 1 to 1000 and below 2 bound. The other
    /// arguments are as in DiscreteGaussian.
    TruncatedLaplace, "TruncatedLaplace", epsilon, "truncated-laplace"
);

truncated!(
    /// count counts with discrete Gaussian noise N_Z(0, sigma2), renormalized on -bound, ..., bound; each changed by shift between neighbors.
    ///
    /// Outputs at an end of that range are possible for one neighbor only: delta is never below their probability, which is `infinite_loss_mass`. sigma2: from
    /// 1e-6 to 1e18. bound: from 1 to 100000. shift: from 1 to 1000 and below 2 bound. The other arguments are as in DiscreteGaussian.
    TruncatedGaussian, "TruncatedGaussian", sigma2, "truncated-gaussian"
);

/// count counts with staircase noise (Geng & Viswanath 2014): mass is proportional to exp(-epsilon floor((|x| + period - first) / period)); each changed by up to shift between
/// neighbors.
///
/// epsilon: the loss of a change by one period, from 1e-6 to 1e3. period: the values of a stair, from 1 to 1000; with 1 it is DiscreteLaplace. first: those of the first stair, from 1 to
/// period. shift: from 1 to 1000. The other arguments are as in DiscreteGaussian.
#[pyclass(frozen, extends = IntegerNoise, module = "dp_assay", name = "Staircase")]
pub struct Staircase(Given);

#[pymethods]
impl Staircase {
    #[new]
    #[pyo3(signature = (epsilon, period, first, count = 1, shift = 1, *, neighbors = None, group = 1, counts_as_given = false))]
    #[allow(clippy::too_many_arguments, reason = "the arguments of a class of Python")]
    fn new(
        epsilon: Exact,
        period: Exact,
        first: Exact,
        #[pyo3(from_py_with = numbers::count)] count: u64,
        #[pyo3(from_py_with = numbers::shift)] shift: u64,
        neighbors: Option<&str>,
        #[pyo3(from_py_with = numbers::group)] group: u64,
        counts_as_given: bool,
    ) -> PyResult<PyClassInitializer<Self>> {
        let options = Options { neighbors, group: Some(group), counts_as_given };
        drawn!(Staircase, account_of("staircase", [epsilon, period, first], [count, shift], &options))
    }

    /// By how much one person changes each count.
    #[getter]
    fn shift(&self) -> u64 {
        self.0.counts.shift
    }
}

/// count cells that are rounded to one of the two multiples of base around them, without bias: a count of residue r up with probability r / base.
///
/// base: from 2 to 100. shift: by how much one person changes each cell, from 1 to 1000. The other arguments are as in DiscreteGaussian.
#[pyclass(frozen, extends = Account, module = "dp_assay", name = "RandomRounding")]
pub struct RandomRounding(Given);

#[pymethods]
impl RandomRounding {
    #[new]
    #[pyo3(signature = (base, count = 1, shift = 1, *, neighbors = None, group = 1, counts_as_given = false))]
    fn new(
        base: Exact,
        #[pyo3(from_py_with = numbers::count)] count: u64,
        #[pyo3(from_py_with = numbers::shift)] shift: u64,
        neighbors: Option<&str>,
        #[pyo3(from_py_with = numbers::group)] group: u64,
        counts_as_given: bool,
    ) -> PyResult<PyClassInitializer<Self>> {
        let options = Options { neighbors, group: Some(group), counts_as_given };
        made!(RandomRounding, account_of("random-rounding", [base], [count, shift], &options))
    }

    /// By how much one person changes each cell.
    #[getter]
    fn shift(&self) -> u64 {
        self.0.counts.shift
    }
}

/// count steps of continuous Gaussian noise N(0, sigma2) on a Poisson sample of the records, as in DP-SGD: each record is in the sample of a step with probability rate,
/// and changes its sum by shift.
///
/// The pair of neighbors is not symmetric: epsilon and delta are those of the direction in which they are larger, a record removed or added. rho is that of the
/// same noise without sampling, an upper bound. It is for neighbors that add or remove one record.
/// sigma2: from 1e-6 to 1e18; for a noise multiplier, its square. rate: from 1e-9 to 1.
#[pyclass(frozen, extends = Account, module = "dp_assay", name = "SampledGaussian")]
pub struct SampledGaussian(Given);

#[pymethods]
impl SampledGaussian {
    #[new]
    #[pyo3(signature = (sigma2, rate, count = 1, shift = 1))]
    fn new(
        sigma2: Exact,
        rate: Exact,
        #[pyo3(from_py_with = numbers::count)] count: u64,
        #[pyo3(from_py_with = numbers::shift)] shift: u64,
    ) -> PyResult<PyClassInitializer<Self>> {
        made!(SampledGaussian, account_of("sampled-gaussian", [sigma2, rate], [count, shift], &Options::default()))
    }

    /// The steps of a training run with DP-SGD: noise_multiplier, the standard deviation of the noise over the clipping norm; sample_rate, or batch_size of all
    /// records on average; steps, or epochs, each a loop over all batches. ValueError for a rate outside of (0, 1], and batches larger than the data.
    #[staticmethod]
    #[pyo3(signature = (noise_multiplier, *, sample_rate = None, batch_size = None, records = None, steps = None, epochs = None))]
    fn from_noise_multiplier(
        py: Python<'_>,
        noise_multiplier: Exact,
        sample_rate: Option<Exact>,
        batch_size: Option<Exact>,
        records: Option<Exact>,
        steps: Option<Exact>,
        epochs: Option<Exact>,
    ) -> PyResult<Py<Self>> {
        let text = |number: Option<Exact>| number.map(|number| number.0.to_string());
        let (sample, length) = ([sample_rate, batch_size, records].map(text), [steps, epochs].map(text));
        let counts = quick(Run::of_parts(noise_multiplier.0.to_string(), sample, length).and_then(|run| run.counts()))?;
        let made: PyResult<PyClassInitializer<Self>> =
            made!(SampledGaussian, Given::new(counts.law, [counts.count, counts.shift], &Options::default()));
        Py::new(py, made?)
    }

    /// By how much one person changes each sum.
    #[getter]
    fn shift(&self) -> u64 {
        self.0.counts.shift
    }
}
