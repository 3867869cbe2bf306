//! The laws of noise: counts with each of them as accounts, and exact samples of those on the integers.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use dp_assay::{
    account::Counts,
    loss::law::Law,
    noise::{
        DiscreteGaussian as GaussianLaw, Distribution, Sampler, Streams,
        published_error::{ErrorsOfCounts, ExpectedErrors},
    },
    numeric::Enclosure as Interval,
    rug::Rational,
};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};

use crate::{
    account::Account,
    enclosure::Enclosure,
    failure::Outcome,
    numbers::{self, Exact, Integers, int64_array, to_fraction},
    work::{self, quick},
};

/// Samples between two checks for signals: a multiple of the 65536 that share a stream, so that a seed gives the same samples for
/// arrays of any length.
const STEP: usize = 1 << 22;

/// The source of random words. Every call has a key of its own from the operating system, so that no two calls, threads or
/// forked processes share any.
fn streams(insecure_seed: Option<u64>) -> Outcome<Streams> {
    Ok(match insecure_seed {
        None => quick(Streams::from_system())?,
        Some(seed) => Streams::with_insecure_seed(seed),
    })
}

/// Noise on the integers: the common methods of DiscreteGaussian, DiscreteLaplace, TruncatedGaussian, TruncatedLaplace, Staircase, NoiseTable and RandomizedResponse.
#[pyclass(frozen, subclass, extends = Account, module = "dp_assay", name = "IntegerNoise")]
pub struct IntegerNoise {
    law: Law,
    sampler: OnceLock<Arc<Sampler>>,
}

impl IntegerNoise {
    pub(crate) fn new(law: Law) -> Self {
        IntegerNoise { law, sampler: OnceLock::new() }
    }

    /// The sampler, whose set-up takes up to some milliseconds, made when it is first needed.
    fn sampler(&self, py: Python) -> PyResult<Arc<Sampler>> {
        if let Some(sampler) = self.sampler.get() {
            return Ok(Arc::clone(sampler));
        }
        let law = self.law.clone();
        let sampler = Arc::new(work::run(py, move |_| Sampler::new(law))?);
        Ok(Arc::clone(self.sampler.get_or_init(|| sampler)))
    }

    /// Overwrites an array with samples.
    fn overwrite(&self, py: Python, out: &Bound<PyArray1<i64>>, insecure_seed: Option<u64>) -> PyResult<()> {
        let (sampler, mut streams) = (self.sampler(py)?, streams(insecure_seed)?);
        let mut out = out.try_readwrite().map_err(|error| PyValueError::new_err(format!("the array: {error}")))?;
        let slice = (out.as_slice_mut()).map_err(|_| {
            PyValueError::new_err("the array is not contiguous: use numpy.ascontiguousarray, or sample() and assign")
        })?;
        if slice.len() <= STEP / 64 {
            // Too little work for a thread.
            streams.fill(&sampler, slice);
            return Ok(());
        }
        slice.chunks_mut(STEP).try_for_each(|part| work::step(py, || streams.fill(&sampler, part)))
    }
}

#[pymethods]
impl IntegerNoise {
    /// n exact samples: an int64 array of length n. Of RandomizedResponse the difference to the true answer, modulo the number of answers. Every probability is exactly that of the law, not a nearby float. MemoryError if there is not
    /// enough memory.
    ///
    /// Random words come from ChaCha20 under a fresh key from the operating system for every call. insecure_seed is for tests: anyone who
    /// knows it can subtract the noise.
    #[pyo3(signature = (n, *, insecure_seed = None))]
    fn sample<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = numbers::size)] n: usize,
        #[pyo3(from_py_with = numbers::seed)] insecure_seed: Option<u64>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        // numpy raises MemoryError if there is not enough; the memory is touched when it is filled.
        let array = py.import("numpy")?.getattr("empty")?.call1((n, "int64"))?;
        let array = array.cast_into::<PyArray1<i64>>()?;
        self.overwrite(py, &array, insecure_seed)?;
        Ok(array)
    }

    /// Overwrites a one-dimensional contiguous int64 array with exact samples. After Ctrl-C some elements are overwritten and some are
    /// not. No other thread may use the array meanwhile.
    #[pyo3(signature = (out, *, insecure_seed = None))]
    fn fill(
        &self,
        py: Python,
        out: &Bound<PyAny>,
        #[pyo3(from_py_with = numbers::seed)] insecure_seed: Option<u64>,
    ) -> PyResult<()> {
        self.overwrite(py, int64_array(out)?, insecure_seed)
    }

    /// Counts with fresh noise: a new int64 array. counts: a one-dimensional int64 array, of any strides. ValueError if a sum exceeds 64
    /// bits. With RandomizedResponse: answers for true answers, which are numbers from 0 to answers - 1. For lists, Series and data frames see dp_assay.add_noise.
    #[pyo3(signature = (counts, *, insecure_seed = None))]
    fn noisy<'py>(
        &self,
        py: Python<'py>,
        counts: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = numbers::seed)] insecure_seed: Option<u64>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let (sampler, mut streams) = (self.sampler(py)?, streams(insecure_seed)?);
        let counts = int64_array(counts)?.try_readonly();
        let counts = counts.map_err(|error| PyValueError::new_err(format!("the array: {error}")))?;
        let mut counts: Vec<i64> = counts.as_array().iter().copied().collect();
        let noisy = work::run(py, move |_| {
            streams.add_noise(&sampler, &mut counts)?;
            Ok(counts)
        })?;
        Ok(PyArray1::from_vec(py, noisy))
    }

    /// The method of drawing, in words.
    #[getter]
    fn method(&self, py: Python) -> PyResult<&'static str> {
        Ok(self.sampler(py)?.method())
    }

    /// P[X = x]: an Enclosure of relative width 10^-digits. Canonne, Kamath & Steinke 2020, Definitions 1 and 4.
    #[pyo3(signature = (x, *, digits = 12))]
    fn mass(
        &self,
        py: Python,
        #[pyo3(from_py_with = numbers::value_of_noise)] x: i64,
        #[pyo3(from_py_with = numbers::digits)] digits: u32,
    ) -> PyResult<Enclosure> {
        self.law(py, digits, move |law, digits| Ok(law.mass(x, digits)))
    }

    /// P[X <= x]: an Enclosure of relative width 10^-digits.
    #[pyo3(signature = (x, *, digits = 12))]
    fn cdf(
        &self,
        py: Python,
        #[pyo3(from_py_with = numbers::value_of_noise)] x: i64,
        #[pyo3(from_py_with = numbers::digits)] digits: u32,
    ) -> PyResult<Enclosure> {
        self.law(py, digits, move |law, digits| law.cdf(x, digits))
    }

    /// P[X >= x]: an Enclosure of relative width 10^-digits.
    #[pyo3(signature = (x, *, digits = 12))]
    fn survival(
        &self,
        py: Python,
        #[pyo3(from_py_with = numbers::value_of_noise)] x: i64,
        #[pyo3(from_py_with = numbers::digits)] digits: u32,
    ) -> PyResult<Enclosure> {
        self.law(py, digits, move |law, digits| law.survival(x, digits))
    }

    /// The variance: an Enclosure of relative width 10^-digits. For the discrete Gaussian it is below sigma2.
    #[pyo3(signature = (*, digits = 12))]
    fn variance(&self, py: Python, #[pyo3(from_py_with = numbers::digits)] digits: u32) -> PyResult<Enclosure> {
        self.law(py, digits, |law, digits| Ok(law.variance(digits)))
    }

    /// The least integer q with P[X <= q] >= p, decided by certified comparisons. 0 < p < 1, or ValueError.
    fn quantile(&self, py: Python, p: Exact) -> PyResult<i64> {
        let law = self.law.clone();
        work::run(py, move |_| Distribution::of_law(&law)?.quantile(&p.0))
    }

    /// Expected errors of counts published with this discrete Gaussian noise, unclamped and clamped at zero, on average over `counts` (one
    /// true count or several, each 0 or more). Returns a dict: mean_squared_error, mean_absolute_error, cut_mean_squared_error,
    /// cut_mean_absolute_error, cut_bias (Enclosures), margin_95, and cut_margin_95 (None for several counts). sigma2 up to 1e8.
    #[pyo3(signature = (counts = None, *, digits = 12))]
    fn errors<'py>(
        &self,
        py: Python<'py>,
        counts: Option<Integers>,
        #[pyo3(from_py_with = numbers::digits)] digits: u32,
    ) -> PyResult<Bound<'py, PyDict>> {
        let Law::DiscreteGaussian { sigma2 } = self.law.clone() else {
            return Err(PyValueError::new_err("expected errors are those of discrete Gaussian noise"));
        };
        let digits = digits.min(100);
        let mut times: BTreeMap<u64, u64> = BTreeMap::new();
        for count in counts.map_or_else(|| vec![0], |counts| counts.0) {
            let count = u64::try_from(count)
                .map_err(|_| PyValueError::new_err(format!("a true count of {count}: expected 0 or more")))?;
            *times.entry(count).or_insert(0) += 1;
        }
        let found = work::run(py, move |_| ErrorsOfCounts::new(&GaussianLaw::new(sigma2)?, &times, digits))?;
        let answer = PyDict::new(py);
        let set = |prefix: &str, errors: ExpectedErrors| -> PyResult<()> {
            answer.set_item(format!("{prefix}mean_squared_error"), Bound::new(py, Enclosure::from(errors.squared))?)?;
            answer.set_item(format!("{prefix}mean_absolute_error"), Bound::new(py, Enclosure::from(errors.absolute))?)
        };
        set("", found.plain)?;
        set("cut_", found.clamped)?;
        answer.set_item("cut_bias", Bound::new(py, Enclosure::from(found.clamped_bias))?)?;
        answer.set_item("margin_95", found.margin)?;
        answer.set_item("cut_margin_95", found.clamped_margin)?;
        Ok(answer)
    }
}

impl IntegerNoise {
    fn law(
        &self,
        py: Python,
        digits: u32,
        question: impl FnOnce(&Distribution, u32) -> dp_assay::Result<Interval> + Send + 'static,
    ) -> PyResult<Enclosure> {
        let law = self.law.clone();
        let value = work::run(py, move |_| question(&Distribution::of_law(&law)?, digits))?;
        Ok(Enclosure::from((value.clone(), value.is_tight(digits))))
    }
}

/// The pickled form of the object: its class and arguments.
type Recipe<'py> = (Bound<'py, PyAny>, (Bound<'py, PyAny>, u64, u64, Option<&'static str>, u64, bool));

/// Counts of one law: a class with its constructor, the getters of its parameters, and pickling.
macro_rules! counts_class {
    ($(#[$doc:meta])* $name:ident extends $base:ty, $text:literal, $parameter:ident as $getter:ident, $make:path, |$account:ident, $own:ident| $build:expr) => {
        $(#[$doc])*
        #[pyclass(frozen, extends = $base, module = "dp_assay", name = $text)]
        pub struct $name {
            parameter: Rational,
            count: u64,
            shift: u64,
            neighbors: Option<&'static str>,
            group: u64,
            counts_as_given: bool,
        }

        #[pymethods]
        impl $name {
            #[new]
            #[pyo3(signature = ($parameter, count = 1, shift = 1, *, neighbors = None, group = 1, counts_as_given = false))]
            fn new(
                $parameter: Exact,
                #[pyo3(from_py_with = numbers::count)] count: u64,
                #[pyo3(from_py_with = numbers::shift)] shift: u64,
                neighbors: Option<&str>,
                #[pyo3(from_py_with = numbers::group)] group: u64,
                counts_as_given: bool,
            ) -> PyResult<PyClassInitializer<Self>> {
                let parameter = $parameter.0;
                let counts = quick($make(parameter.clone(), count, shift))?;
                let $account = Account::of_counts(counts, neighbors, group, counts_as_given)?;
                let neighbors = neighbors.map(|_| $account.resolved().neighbors.name());
                let $own = $name { parameter, count, shift, neighbors, group, counts_as_given };
                Ok($build)
            }

            /// The parameter of the law, exactly: a Fraction.
            #[getter]
            fn $getter<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                to_fraction(py, &self.parameter)
            }

            /// The number of counts with this noise.
            #[getter]
            fn count(&self) -> u64 {
                self.count
            }

            /// By how much one person changes each count.
            #[getter]
            fn shift(&self) -> u64 {
                self.shift
            }

            fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Recipe<'py>> {
                let py = slf.py();
                let make = py.import("dp_assay._support")?.getattr("counts")?;
                let make = make.call1((slf.get_type(),))?;
                let this = slf.get();
                let parameter = to_fraction(py, &this.parameter)?;
                Ok((make, (parameter, this.count, this.shift, this.neighbors, this.group, this.counts_as_given)))
            }
        }
    };
}

counts_class!(
    /// count counts with discrete Gaussian noise N_Z(0, sigma2), each changed by shift between neighbors.
    ///
    /// sigma2: the variance proxy in squared counts, from 1e-6 to 1e18: mass is proportional to exp(-x^2 / (2 sigma2)). count: 1 to 1e12.
    /// shift: 1 to 1e6. neighbors: "add-remove" (the default; also "unbounded", "add-delete") or "bounded" (also "replace-one", "replace", "change-one",
    /// "substitution"), under which every count is counted twice, because a record leaves one count and enters another. counts_as_given: the
    /// counts are already those that differ between bounded neighbors, and are counted once. group: the number of people who leave or enter together.
    /// Numbers are exact: int, str, Fraction, Decimal; a float is the shortest decimal that prints it.
    DiscreteGaussian extends IntegerNoise, "DiscreteGaussian", sigma2 as sigma2, Counts::discrete_gaussian,
    |account, own| {
        let law = Law::DiscreteGaussian { sigma2: own.parameter.clone() };
        PyClassInitializer::from(account).add_subclass(IntegerNoise::new(law)).add_subclass(own)
    }
);

counts_class!(
    /// count counts with discrete Laplace (two-sided geometric) noise, each changed by shift between neighbors.
    ///
    /// epsilon: that of one count changed by 1, kept as the attribute `parameter`: mass is proportional to exp(-epsilon |x|), from 1e-6 to 1e3. count: 1 to
    /// 1e12. shift: 1 to 1000. The other arguments are as in DiscreteGaussian.
    DiscreteLaplace extends IntegerNoise, "DiscreteLaplace", epsilon as parameter, Counts::discrete_laplace,
    |account, own| {
        let law = Law::DiscreteLaplace { epsilon: own.parameter.clone() };
        PyClassInitializer::from(account).add_subclass(IntegerNoise::new(law)).add_subclass(own)
    }
);

counts_class!(
    /// count counts with continuous Gaussian noise N(0, sigma2), for comparison; it is accounted for and not sampled. Arguments as in
    /// DiscreteGaussian.
    Gaussian extends Account, "Gaussian", sigma2 as sigma2, Counts::gaussian,
    |account, own| PyClassInitializer::from(account).add_subclass(own)
);
