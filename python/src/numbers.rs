//! Numbers from Python, exactly: int, str, Fraction and Decimal as they are, a float as the shortest decimal that prints it.

use dp_assay::{
    numeric::rational,
    rug::{Integer, Rational},
};
use numpy::{PyArrayDescrMethods, PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::{PyBool, PyFloat, PyInt, PyString},
};

use crate::failure::Failure;

/// An exact number as an argument.
pub struct Exact(pub Rational);

impl<'py> FromPyObject<'_, 'py> for Exact {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        number(&value).map(Exact)
    }
}

/// An integer, or a list of them, as an argument.
pub struct Integers(pub Vec<i64>);

impl<'py> FromPyObject<'_, 'py> for Integers {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(one) = value.cast::<PyInt>() {
            return Ok(Integers(vec![one.extract()?]));
        }
        one_dimensional(&value)?;
        let all = value.try_iter()?.map(|item| {
            let item = item?;
            if item.is_instance_of::<PyBool>() || item.is_instance_of::<PyFloat>() {
                return Err(wrong_type(&item, "an integer"));
            }
            item.extract::<i64>()
        });
        Ok(Integers(all.collect::<PyResult<_>>()?))
    }
}

/// One or several exact numbers as an argument: a number, or any one-dimensional sequence or array.
pub struct Numbers(pub Vec<Rational>);

impl<'py> FromPyObject<'_, 'py> for Numbers {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if value.is_instance_of::<PyString>() {
            return Ok(Numbers(vec![number(&value)?]));
        }
        // numpy's scalars have dimensions too: none.
        let dimensions = value.getattr_opt("ndim")?.map(|ndim| ndim.extract::<usize>()).transpose()?;
        let is_array = dimensions.is_some();
        if dimensions == Some(0) || !is_array && !value.hasattr("__iter__")? {
            return Ok(Numbers(vec![number(&value)?]));
        }
        one_dimensional(&value)?;
        if is_array && let Ok(doubles) = value.extract::<PyReadonlyArray1<f64>>() {
            let all = doubles.as_array().iter().map(|value| of_double(*value)).collect::<PyResult<_>>()?;
            return Ok(Numbers(all));
        }
        refuse_dtype(&value)?;
        let all = value.try_iter()?.map(|item| number(&item?)).collect::<PyResult<_>>()?;
        Ok(Numbers(all))
    }
}

/// Arrays that have no numbers are refused with their dtype, before their items are.
fn refuse_dtype(value: &Bound<PyAny>) -> PyResult<()> {
    let Ok(array) = value.cast::<PyUntypedArray>() else { return Ok(()) };
    let kind = array.dtype().kind();
    if b"iufO".contains(&kind) {
        return Ok(());
    }
    let dtype = array.dtype().str()?;
    Err(PyTypeError::new_err(format!(
        "an array of dtype {dtype}: expected integers, floats, or exact numbers as objects"
    )))
}

/// What has dimensions must have one.
fn one_dimensional(value: &Bound<PyAny>) -> PyResult<()> {
    if let Ok(dimensions) = value.getattr("ndim").and_then(|ndim| ndim.extract::<usize>())
        && dimensions != 1
    {
        return Err(PyValueError::new_err(format!(
            "an array of {dimensions} dimensions: expected one; use .ravel() and reshape the answer"
        )));
    }
    Ok(())
}

/// The exact value of a Python number.
pub fn number(value: &Bound<PyAny>) -> PyResult<Rational> {
    if value.is_instance_of::<PyBool>() {
        return Err(wrong_type(value, EXACT));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(rational::parse(&text.to_cow()?).map_err(Failure::from)?);
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(integer(value)?.into());
    }
    if let Ok(double) = value.cast_exact::<PyFloat>() {
        return of_double(double.value());
    }
    other(value)
}

const EXACT: &str = "an int, str, Fraction, Decimal or float";

fn wrong_type(value: &Bound<PyAny>, expected: &str) -> PyErr {
    match value.get_type().name() {
        Ok(name) => PyTypeError::new_err(format!("a number of type {name}: expected {expected}")),
        Err(error) => error,
    }
}

/// Fractions, decimals and the scalars of numpy.
fn other(value: &Bound<PyAny>) -> PyResult<Rational> {
    // Fraction, and whatever else is registered as a rational number; integers of numpy as well.
    if let (Ok(top), Ok(bottom)) = (value.getattr("numerator"), value.getattr("denominator")) {
        let (top, bottom) = (integer(&top)?, integer(&bottom)?);
        if bottom == 0 {
            return Err(PyValueError::new_err("a fraction of denominator zero"));
        }
        return Ok(Rational::from((top, bottom)));
    }
    let is_number = value.hasattr("__float__")? && value.getattr("__float__")?.is_callable();
    // numpy's truth values have the method too.
    let is_number = is_number && (!value.hasattr("dtype")? || "iuf".contains(dtype_kind(value)?));
    if !is_number || value.hasattr("ndim")? && value.getattr("ndim")?.extract::<usize>()? > 0 {
        return Err(wrong_type(value, EXACT));
    }
    // The text of a Decimal is its exact value, that of numpy's floats the shortest decimal that prints them.
    let text = value.str()?;
    rational::parse(&text.to_cow()?).map_err(|_| {
        let name = value.get_type().name().map_or_else(|_| "number".to_string(), |name| name.to_string());
        PyValueError::new_err(format!("{text} ({name}) is not a number: expected a finite one, or {EXACT}"))
    })
}

/// The letter by which numpy names a kind of numbers.
fn dtype_kind(value: &Bound<PyAny>) -> PyResult<char> {
    value.getattr("dtype")?.getattr("kind")?.extract()
}

/// The shortest decimal that prints a double.
fn of_double(value: f64) -> PyResult<Rational> {
    if !value.is_finite() {
        return Err(PyValueError::new_err(format!("{value} is not a number: expected a finite one")));
    }
    // Rust and Python print the same shortest digits.
    Ok(rational::parse(&format!("{value:e}")).map_err(Failure::from)?)
}

fn integer(value: &Bound<PyAny>) -> PyResult<Integer> {
    if let Ok(small) = value.extract::<i64>() {
        return Ok(small.into());
    }
    // Hexadecimal text has no limit of digits.
    let text: String = value.call_method1("__format__", ("x",))?.extract()?;
    let digits = Integer::parse_radix(&text, 16).map_err(|_| wrong_type(value, EXACT))?;
    Ok(digits.into())
}

/// A Python int.
pub fn to_int<'py>(py: Python<'py>, value: &Integer) -> PyResult<Bound<'py, PyAny>> {
    match value.to_i64() {
        Some(small) => Ok(small.into_pyobject(py)?.into_any()),
        None => py.get_type::<PyInt>().call1((value.to_string_radix(16), 16)),
    }
}

/// A Python Fraction.
pub fn to_fraction<'py>(py: Python<'py>, value: &Rational) -> PyResult<Bound<'py, PyAny>> {
    let fraction = py.import("fractions")?.getattr("Fraction")?;
    fraction.call1((to_int(py, value.numer())?, to_int(py, value.denom())?))
}

/// The Fractions of a list.
pub fn to_fractions<'py>(py: Python<'py>, values: &[Rational]) -> PyResult<Vec<Bound<'py, PyAny>>> {
    values.iter().map(|value| to_fraction(py, value)).collect()
}
