//! Numbers from Python, exactly and by their value: int, str, Fraction and Decimal as they are, a float as the shortest decimal that prints it.
//! The text of an object is never read: it depends on display options.

use std::ops::RangeInclusive;

use dp_assay::{
    numeric::rational,
    rug::{Integer, Rational},
};
use numpy::{PyArray1, PyArrayDescrMethods, PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::{
    exceptions::{PyOverflowError, PyTypeError, PyValueError},
    prelude::*,
    types::{PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyMapping, PyString, PyTuple},
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
        refuse_masked(&value)?;
        refuse_unordered(&value)?;
        let all = value.try_iter()?.map(|item| {
            let item = item?;
            if item.is_instance_of::<PyBool>() || item.is_instance_of::<PyFloat>() {
                return Err(wrong_type(&item, "an integer"));
            }
            refuse_masked(&item)?;
            item.extract::<i64>()
        });
        Ok(Integers(all.collect::<PyResult<_>>()?))
    }
}

/// A whole number as an argument. A value out of range raises ValueError with the argument's name, however large it is.
fn whole(value: &Bound<PyAny>, name: &str, range: RangeInclusive<i128>, expected: &str) -> PyResult<i128> {
    let refuse = |shown: &str| PyValueError::new_err(format!("{name} = {shown} is out of range: expected {expected}"));
    match value.extract::<i128>() {
        Ok(number) if range.contains(&number) => Ok(number),
        Ok(number) => Err(refuse(&number.to_string())),
        Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => {
            Err(refuse("a number of more than 128 bits"))
        }
        Err(error) => Err(error),
    }
}

/// Arguments that are whole numbers, for `from_py_with`.
macro_rules! whole_arguments {
    ($($name:ident: $type:ty = $text:literal, $range:expr, $expected:literal;)*) => {
        $(
            #[doc = concat!("The argument `", $text, "`.")]
            pub fn $name(value: &Bound<PyAny>) -> PyResult<$type> {
                let number = whole(value, $text, $range, $expected)?;
                <$type>::try_from(number).map_err(|_| PyValueError::new_err($expected))
            }
        )*
    };
}

whole_arguments! {
    digits: u32 = "digits", 1..=250, "1 to 250";
    // The laws have narrower ranges, and report them.
    count: u64 = "count", 0..=i128::from(u64::MAX), "1 to 10^12 counts";
    shift: u64 = "shift", 0..=i128::from(u64::MAX), "an integer change from 1 to 1000000, of other laws than the Gaussian to 1000";
    group: u64 = "group", 1..=i128::from(u64::MAX), "1 to 2^64 - 1 people";
    times: u64 = "times", 1..=1_000_000_000_000, "1 to 10^12 times";
    size: usize = "n", 0..=1 << 62, "a number of samples from 0 to 2^62";
    value_of_noise: i64 = "x", i128::from(i64::MIN)..=i128::from(i64::MAX), "an integer from -2^63 to 2^63 - 1";
    shown: usize = "digits", 1..=10_000, "1 to 10000";
    decimals: u32 = "decimals", 0..=12, "0 to 12";
    some_seed: u64 = "insecure_seed", 0..=i128::from(u64::MAX), "0 to 2^64 - 1";
}

/// The argument `insecure_seed`, if there is one.
pub fn seed(value: &Bound<PyAny>) -> PyResult<Option<u64>> {
    if value.is_none() { Ok(None) } else { some_seed(value).map(Some) }
}

/// The argument `decimals`, if it is optional.
pub fn decimals_or_none(value: &Bound<PyAny>) -> PyResult<Option<u32>> {
    if value.is_none() { Ok(None) } else { decimals(value).map(Some) }
}

/// The argument `group`, if it defaults to that of the parts.
pub fn group_or_none(value: &Bound<PyAny>) -> PyResult<Option<u64>> {
    if value.is_none() { Ok(None) } else { group(value).map(Some) }
}

/// Refuses a numpy array with masked values: they were withheld, and the numbers under the mask are no values.
fn refuse_masked(value: &Bound<PyAny>) -> PyResult<()> {
    let Ok(array) = value.cast::<PyUntypedArray>() else { return Ok(()) };
    if array.is_exact_instance_of::<PyUntypedArray>() {
        return Ok(());
    }
    let masked = value.py().import("numpy.ma")?;
    if !value.is_instance(&masked.getattr("MaskedArray")?)? {
        return Ok(());
    }
    let mask = masked.call_method1("getmaskarray", (value,))?.call_method0("ravel")?;
    let hidden: usize = mask.call_method0("sum")?.extract()?;
    if hidden == 0 {
        return Ok(());
    }
    let first: usize = mask.call_method0("argmax")?.extract()?;
    let (all, is) = (array.len(), if hidden == 1 { "is" } else { "are" });
    let why = format!(
        "{hidden} of {all} values {is} masked, the first at position {first} (from 0): fill them or leave them out before"
    );
    Err(PyValueError::new_err(why))
}

/// An array of counts as an argument: one-dimensional, of 64-bit integers.
pub fn int64_array<'a, 'py>(value: &'a Bound<'py, PyAny>) -> PyResult<&'a Bound<'py, PyArray1<i64>>> {
    refuse_masked(value)?;
    value.cast::<PyArray1<i64>>().map_err(|_| match value.cast::<PyUntypedArray>() {
        Ok(array) => PyTypeError::new_err(format!(
            "an array of dtype {} and {} dimensions: expected int64 and one dimension",
            array.dtype(),
            array.ndim()
        )),
        Err(_) => {
            let name = value.get_type().name().map_or_else(|_| "unknown".to_string(), |name| name.to_string());
            PyTypeError::new_err(format!("counts of type {name}: expected a one-dimensional numpy array of int64"))
        }
    })
}

/// One or several exact numbers as an argument: a number, or any one-dimensional sequence or array.
pub struct Numbers(pub Vec<Rational>);

impl<'py> FromPyObject<'_, 'py> for Numbers {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if value.is_instance_of::<PyString>() {
            return Ok(Numbers(vec![number(&value)?]));
        }
        refuse_masked(&value)?;
        // numpy's scalars have the attribute too: zero dimensions.
        let dimensions = value.getattr_opt("ndim")?.map(|ndim| ndim.extract::<usize>()).transpose()?;
        let is_array = dimensions.is_some();
        if dimensions == Some(0) || !is_array && !value.hasattr("__iter__")? {
            return Ok(Numbers(vec![number(&value)?]));
        }
        one_dimensional(&value)?;
        refuse_unordered(&value)?;
        if is_array && let Ok(doubles) = value.extract::<PyReadonlyArray1<f64>>() {
            let all = doubles.as_array().iter().map(|value| of_double(*value)).collect::<PyResult<_>>()?;
            return Ok(Numbers(all));
        }
        refuse_dtype(&value)?;
        let all = value.try_iter()?.map(|item| number(&item?)).collect::<PyResult<_>>()?;
        Ok(Numbers(all))
    }
}

/// Refuses what can be iterated without being a sequence of numbers: the bytes of a text, the keys of a dict, and sets, which have no order.
fn refuse_unordered(value: &Bound<PyAny>) -> PyResult<()> {
    let is_bytes = value.is_instance_of::<PyBytes>() || value.is_instance_of::<PyByteArray>();
    let is_set = || value.is_instance(&value.py().import("collections.abc")?.getattr("Set")?);
    if !is_bytes && value.cast::<PyMapping>().is_err() && !is_set()? {
        return Ok(());
    }
    let name = value.get_type().name()?;
    Err(PyTypeError::new_err(format!(
        "numbers of type {name}: expected a list, an array or another sequence of numbers"
    )))
}

/// Arrays without numbers are refused by their dtype, before their items are.
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

/// Refuses arrays of other than one dimension.
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
    // Subclasses too, such as numpy.float64: by their double.
    if let Ok(double) = value.cast::<PyFloat>() {
        return of_double(double.value());
    }
    other(value)
}

const EXACT: &str = "an int, str, Fraction, Decimal or float";

fn wrong_type(value: &Bound<PyAny>, expected: &str) -> PyErr {
    match value.get_type().name() {
        Ok(name) => {
            PyTypeError::new_err(format!("a number of type {name}: expected {expected}; give a str or Fraction"))
        }
        Err(error) => error,
    }
}

/// Fractions, decimals and the scalars of numpy.
fn other(value: &Bound<PyAny>) -> PyResult<Rational> {
    refuse_masked(value)?;
    if let Some(kind) = dtype_kind(value)? {
        return of_numpy(value, kind);
    }
    if let Some(decimal) = of_decimal(value)? {
        return Ok(decimal);
    }
    // Fraction, and any other type registered as a rational number.
    let (Ok(top), Ok(bottom)) = (value.getattr("numerator"), value.getattr("denominator")) else {
        return Err(wrong_type(value, EXACT));
    };
    let whole = |part: &Bound<PyAny>| integer(part).map_err(|_| wrong_type(value, EXACT));
    let (top, bottom) = (whole(&top)?, whole(&bottom)?);
    if bottom == 0 {
        return Err(PyValueError::new_err("a fraction of denominator zero"));
    }
    Ok(Rational::from((top, bottom)))
}

/// The letter by which numpy names the kind of a scalar or an array; `None` for objects of other libraries.
fn dtype_kind(value: &Bound<PyAny>) -> PyResult<Option<char>> {
    if !value.hasattr("dtype")? || !value.hasattr("__array_interface__")? {
        return Ok(None);
    }
    Ok(value.getattr("dtype")?.getattr("kind")?.extract().ok())
}

/// A scalar of numpy, or an array of no dimension: floats of each width by the shortest decimal that is read as the same float.
fn of_numpy(value: &Bound<PyAny>, kind: char) -> PyResult<Rational> {
    if value.cast::<PyUntypedArray>().is_ok() {
        if value.getattr("ndim")?.extract::<usize>()? > 0 || !"iufO".contains(kind) {
            return Err(wrong_type(value, EXACT));
        }
        return number(&value.call_method1("__getitem__", (PyTuple::empty(value.py()),))?);
    }
    match kind {
        'i' | 'u' => Ok(integer(value)?.into()),
        'f' => {
            let options = PyDict::new(value.py());
            options.set_item("unique", true)?;
            options.set_item("trim", "-")?;
            let numpy = value.py().import("numpy")?;
            let text: String = numpy.getattr("format_float_scientific")?.call((value,), Some(&options))?.extract()?;
            rational::parse(&text).map_err(|_| not_finite(&text))
        }
        _ => Err(wrong_type(value, EXACT)),
    }
}

/// A Decimal by its sign, digits and exponent, also of a subclass with another text; `None` for another object.
fn of_decimal(value: &Bound<PyAny>) -> PyResult<Option<Rational>> {
    let class = value.py().import("decimal")?.getattr("Decimal")?;
    if !value.is_instance(&class)? {
        return Ok(None);
    }
    let parts = class.call_method1("as_tuple", (value,))?;
    let (sign, digits, exponent): (u8, Vec<u8>, Bound<PyAny>) = parts.extract()?;
    // Of infinities and NaN the exponent is a letter.
    let Ok(exponent) = exponent.extract::<i64>() else { return Err(not_finite(&value.str()?.to_cow()?)) };
    let digits: String = digits.into_iter().map(|digit| char::from(b'0' + digit)).collect();
    let text = format!("{}{digits}e{exponent}", if sign == 1 { "-" } else { "" });
    Ok(Some(rational::parse(&text).map_err(Failure::from)?))
}

fn not_finite(shown: &str) -> PyErr {
    PyValueError::new_err(format!("{shown} is not a number: expected a finite one"))
}

/// The shortest decimal that prints a double.
fn of_double(value: f64) -> PyResult<Rational> {
    if !value.is_finite() {
        return Err(not_finite(&value.to_string()));
    }
    // Rust and Python print the same shortest digits.
    Ok(rational::parse(&format!("{value:e}")).map_err(Failure::from)?)
}

fn integer(value: &Bound<PyAny>) -> PyResult<Integer> {
    if let Ok(small) = value.extract::<i64>() {
        return Ok(small.into());
    }
    let py = value.py();
    let whole = py.import("operator")?.call_method1("index", (value,))?;
    // Hexadecimal text has no limit of digits; that of int, because a subclass may have another one.
    let text: String = py.get_type::<PyInt>().call_method1("__format__", (whole, "x"))?.extract()?;
    let digits = Integer::parse_radix(&text, 16).map_err(|_| wrong_type(value, EXACT))?;
    Ok(digits.into())
}

/// The exact value of a number, as every argument is read.
#[pyfunction]
#[pyo3(name = "_exact")]
pub fn exact<'py>(py: Python<'py>, number: Exact) -> PyResult<Bound<'py, PyAny>> {
    to_fraction(py, &number.0)
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

/// A parameter of a law: a Fraction, or an int where it counts something.
pub fn parameter_of<'py>(py: Python<'py>, name: &str, value: &Rational) -> PyResult<Bound<'py, PyAny>> {
    match name {
        "bound" | "answers" => to_int(py, value.numer()),
        _ => to_fraction(py, value),
    }
}

/// The Fractions of a list.
pub fn to_fractions<'py>(py: Python<'py>, values: &[Rational]) -> PyResult<Vec<Bound<'py, PyAny>>> {
    values.iter().map(|value| to_fraction(py, value)).collect()
}
