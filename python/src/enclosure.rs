//! Certified numbers: an interval that is proven to contain the truth.

use dp_assay::{
    account::Answer,
    loss::second::SecondEnclosure,
    numeric::{Certainty, Enclosure as Interval, notation::Notation},
    rug::{Float, Integer, Rational, float::Round, ops::Pow},
};
use pyo3::{
    basic::CompareOp,
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::PyString,
};

use crate::numbers::{self, Exact, number, to_fraction};

/// Ends that are not dyadic are rounded outward to this number of bits.
const BITS: u32 = 256;
/// Ends of at most this number of bits are kept exactly.
const MOST_BITS: u32 = 1 << 20;

/// An interval [lower, upper] that is proven to contain a real number.
///
/// Both ends are exact. There is no float(enclosure): choose an end, or an approximation, by
/// upper_float, lower_float or midpoint_float.
///
/// The operators <, <=, >, >= return only results that are proven for the truth in the enclosure, and raise ValueError if it is too
/// wide to decide; at_most() and below() return True, False or None. == compares both ends.
///
/// Formats show both ends, rounded outward: f"{e:.3f}" is "[10.124, 10.125]". A type of f, e, g or % is Python's, optionally preceded by a precision, a
/// width and an alignment; f"{e:upper.3f}" is the upper end alone, rounded up, and "lower" the lower one, rounded down.
#[pyclass(frozen, module = "dp_assay", name = "Enclosure")]
pub struct Enclosure {
    value: Interval,
    met: bool,
    method: Option<String>,
}

impl From<Interval> for Enclosure {
    fn from(value: Interval) -> Self {
        Enclosure { value, met: true, method: None }
    }
}

impl From<Answer> for Enclosure {
    fn from(answer: Answer) -> Self {
        Enclosure { met: answer.met, method: Some(answer.proof.to_string()), value: answer.value }
    }
}

impl From<SecondEnclosure> for Enclosure {
    fn from(second: SecondEnclosure) -> Self {
        let note = second.note.map_or_else(String::new, |note| format!(" ({note})"));
        let has_ends = second.note.is_none_or(|note| note == SecondEnclosure::NOT_COMPARED);
        Enclosure { met: has_ends, method: Some(format!("{}{note}", second.by)), value: second.value }
    }
}

impl From<(Interval, bool)> for Enclosure {
    fn from((value, met): (Interval, bool)) -> Self {
        Enclosure { value, met, method: None }
    }
}

/// An end as the float that is at most or at least the number; exact if its denominator is a power of two.
fn end(value: &Rational, round: Round) -> Float {
    let (odd, _) = value.denom().clone().remove_factor(&Integer::from(2));
    let exact = value.numer().significant_bits().max(1);
    let bits = if odd == 1 && exact <= MOST_BITS { exact.max(64) } else { BITS };
    Float::with_val_round(bits, value, round).0
}

/// Whether a comparison holds: True, False, or None if the enclosure is too wide to decide.
fn decided(certainty: Certainty) -> Option<bool> {
    match certainty {
        Certainty::Yes => Some(true),
        Certainty::No => Some(false),
        Certainty::Undecided => None,
    }
}

/// All decimal digits of an end.
fn decimal<'py>(py: Python<'py>, value: &Float) -> PyResult<Bound<'py, PyAny>> {
    let make = py.import("decimal")?.getattr("Decimal")?;
    let Some(value) = value.to_rational() else {
        return make.call1((if value.is_sign_negative() { "-Infinity" } else { "Infinity" },));
    };
    // n / 2^k = n 5^k / 10^k
    let places = value.denom().significant_bits() - 1;
    let digits = Integer::from(5).pow(places) * value.numer();
    make.call1((format!("{digits}e-{places}"),))
}

fn ends_of(other: &Bound<PyAny>) -> PyResult<Interval> {
    if let Ok(other) = other.cast::<Enclosure>() {
        return Ok(other.get().value.clone());
    }
    let value = number(other)?;
    Ok(Interval::new(end(&value, Round::Down), end(&value, Round::Up)))
}

#[pymethods]
impl Enclosure {
    /// An enclosure of your own, from two exact numbers in order; None is an end without a bound. Ends that are not binary fractions
    /// are rounded outward.
    #[new]
    #[pyo3(signature = (lower, upper, *, met = true, method = None))]
    fn new(lower: Option<Exact>, upper: Option<Exact>, met: bool, method: Option<String>) -> PyResult<Self> {
        if let (Some(lower), Some(upper)) = (&lower, &upper)
            && lower.0 > upper.0
        {
            return Err(PyValueError::new_err("the lower end is above the upper end: expected lower <= upper"));
        }
        let all = Interval::whole_line(64);
        let lower = lower.map_or_else(|| all.lower().clone(), |lower| end(&lower.0, Round::Down));
        let upper = upper.map_or_else(|| all.upper().clone(), |upper| end(&upper.0, Round::Up));
        Ok(Enclosure { value: Interval::new(lower, upper), met, method })
    }

    /// The lower end, at most the truth: a Fraction, or None if the enclosure is unbounded below.
    #[getter]
    fn lower<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.value.lower_rational().map(|end| to_fraction(py, &end)).transpose()
    }

    /// The upper end, at least the truth: a Fraction, or None if the enclosure is unbounded above.
    #[getter]
    fn upper<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.value.upper_rational().map(|end| to_fraction(py, &end)).transpose()
    }

    /// The lower end as a Decimal with all its digits; -Infinity if the enclosure is unbounded below.
    #[getter]
    fn lower_decimal<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        decimal(py, self.value.lower())
    }

    /// The upper end as a Decimal with all its digits; Infinity if the enclosure is unbounded above.
    #[getter]
    fn upper_decimal<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        decimal(py, self.value.upper())
    }

    /// The largest float that is at most the lower end.
    #[getter]
    fn lower_float(&self) -> f64 {
        self.value.doubles().0
    }

    /// The smallest float that is at least the upper end.
    #[getter]
    fn upper_float(&self) -> f64 {
        self.value.doubles().1
    }

    /// A float near the middle: an approximation without proof.
    #[getter]
    fn midpoint_float(&self) -> f64 {
        self.value.approximate()
    }

    /// Whether the requested precision was reached. The enclosure is valid either way.
    #[getter]
    fn met(&self) -> bool {
        self.met
    }

    /// How the number was certified, in a line; None if it is not itself an answer.
    #[getter]
    fn method(&self) -> Option<&str> {
        self.method.as_deref()
    }

    /// Whether upper - lower <= 10^-digits times the smaller end.
    fn is_tight(&self, #[pyo3(from_py_with = numbers::digits)] digits: u32) -> bool {
        self.value.is_tight(digits)
    }

    /// The truth to as many digits as are proven, at most `digits`, rounded to nearest: for tables.
    #[pyo3(signature = (digits = 12))]
    fn shown(&self, #[pyo3(from_py_with = numbers::shown)] digits: usize) -> String {
        self.value.shown(digits)
    }

    /// Is the truth at most x? True, False, or None if the enclosure is too wide to decide. x is exact or an Enclosure.
    fn at_most(&self, x: &Bound<PyAny>) -> PyResult<Option<bool>> {
        Ok(decided(at_most(&self.value, &ends_of(x)?)))
    }

    /// Is the truth below x? True, False, or None if the enclosure is too wide to decide. x is exact or an Enclosure.
    fn below(&self, x: &Bound<PyAny>) -> PyResult<Option<bool>> {
        Ok(decided(self.value.below(&ends_of(x)?)))
    }

    /// Whether the two enclosures have a point in common, as two enclosures of one number must.
    fn overlaps(&self, other: &Bound<Enclosure>) -> bool {
        self.value.overlaps(&other.get().value)
    }

    fn __contains__(&self, x: Exact) -> bool {
        self.value.contains(&x.0)
    }

    fn __richcmp__<'py>(&self, other: &Bound<'py, PyAny>, op: CompareOp) -> PyResult<Bound<'py, PyAny>> {
        let py = other.py();
        let same = || other.cast::<Enclosure>().is_ok_and(|other| other.get().value == self.value);
        let answer = match op {
            CompareOp::Eq => Some(same()),
            CompareOp::Ne => Some(!same()),
            CompareOp::Le => decided(at_most(&self.value, &ends_of(other)?)),
            CompareOp::Lt => decided(self.value.below(&ends_of(other)?)),
            CompareOp::Ge => decided(at_most(&ends_of(other)?, &self.value)),
            CompareOp::Gt => decided(ends_of(other)?.below(&self.value)),
        };
        let Some(answer) = answer else {
            let other = other.str()?;
            return Err(PyValueError::new_err(format!(
                "{} is too wide to be compared with {other}: request more digits, or use at_most() and below(), which may return None",
                self.value
            )));
        };
        Ok(answer.into_pyobject(py)?.to_owned().into_any())
    }

    fn __hash__(&self, py: Python) -> PyResult<isize> {
        (self.lower(py)?, self.upper(py)?).into_pyobject(py)?.hash()
    }

    fn __add__(&self, other: &Bound<PyAny>) -> PyResult<Self> {
        Ok(self.value.add(&ends_of(other)?).into())
    }

    fn __radd__(&self, other: &Bound<PyAny>) -> PyResult<Self> {
        self.__add__(other)
    }

    fn __sub__(&self, other: &Bound<PyAny>) -> PyResult<Self> {
        Ok(self.value.sub(&ends_of(other)?).into())
    }

    fn __rsub__(&self, other: &Bound<PyAny>) -> PyResult<Self> {
        Ok(ends_of(other)?.sub(&self.value).into())
    }

    fn __mul__(&self, other: &Bound<PyAny>) -> PyResult<Self> {
        Ok(self.value.mul(&ends_of(other)?).into())
    }

    fn __rmul__(&self, other: &Bound<PyAny>) -> PyResult<Self> {
        self.__mul__(other)
    }

    fn __truediv__(&self, other: &Bound<PyAny>) -> PyResult<Self> {
        Ok(self.value.div(&ends_of(other)?).into())
    }

    fn __rtruediv__(&self, other: &Bound<PyAny>) -> PyResult<Self> {
        Ok(ends_of(other)?.div(&self.value).into())
    }

    fn __neg__(&self) -> Self {
        self.value.clone().negate().into()
    }

    fn __float__(&self) -> PyResult<f64> {
        Err(PyTypeError::new_err("an Enclosure is no float: use .upper_float, .lower_float or .midpoint_float"))
    }

    /// Both ends, rounded outward, or one of them.
    fn __format__(&self, spec: &str) -> PyResult<String> {
        let Some(format) = Format::parse(spec) else {
            let expected =
                "[upper|lower][[fill]align][width][.digits][f|e|g|%], as in '.6', '.3f', 'upper.3f' or '>30.2%'";
            return Err(PyValueError::new_err(format!("format {spec:?}: expected {expected}")));
        };
        Ok(format.padded(&format.text(&self.value)))
    }

    fn __str__(&self) -> String {
        self.value.to_string()
    }

    fn __repr__(&self) -> String {
        match self.value.decimals() {
            (Some(lower), Some(upper)) => format!("Enclosure('{lower}', '{upper}')"),
            _ => format!("<Enclosure {}>", self.value),
        }
    }

    fn _repr_html_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let title = match (&self.method, self.met) {
            (Some(method), true) => format!("certified by {method}"),
            (Some(method), false) => format!("below the requested precision; certified by {method}"),
            (None, _) => "certified".to_string(),
        };
        let title = py.import("html")?.call_method1("escape", (PyString::new(py, &title),))?;
        let middle = self.value.shown(12);
        let text = format!("<span title=\"{title}\"><b>{middle}</b> &isin; {}</span>", self.value);
        Ok(PyString::new(py, &text).into_any())
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<PyAny>) -> Py<Self> {
        slf
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let this = slf.get();
        let make = py.import("dp_assay._support")?.getattr("enclosure")?;
        let state = (this.lower(py)?, this.upper(py)?, this.met, this.method.clone());
        Ok((make, state).into_pyobject(py)?.into_any())
    }
}

/// Is the truth in one enclosure at most that in the other?
fn at_most(one: &Interval, other: &Interval) -> Certainty {
    if one.upper() <= other.lower() {
        Certainty::Yes
    } else if one.lower() > other.upper() {
        Certainty::No
    } else {
        Certainty::Undecided
    }
}

/// The ends that a format shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    Both,
    Lower,
    Upper,
}

/// A format of an enclosure: as Python's formats of numbers, and the ends to show.
struct Format {
    ends: Ends,
    fill: char,
    align: char,
    width: usize,
    /// The notation and its digits; `None` for the number of digits that shows the width.
    notation: Option<(Notation, usize)>,
}

/// The largest number of digits, and the largest width.
const MOST_SHOWN: usize = 10_000;

impl Format {
    fn parse(spec: &str) -> Option<Format> {
        let (ends, rest) = match (spec.strip_prefix("upper"), spec.strip_prefix("lower")) {
            (Some(rest), _) => (Ends::Upper, rest),
            (None, Some(rest)) => (Ends::Lower, rest),
            (None, None) => (Ends::Both, spec),
        };
        let is_align = |letter: &char| "<>^".contains(*letter);
        let mut letters = rest.chars();
        let (first, second) = (letters.next(), letters.next());
        let (fill, align, rest) = match (first, second.filter(is_align), first.filter(is_align)) {
            (Some(fill), Some(align), _) => (fill, align, &rest[fill.len_utf8() + align.len_utf8()..]),
            (_, None, Some(align)) => (' ', align, &rest[align.len_utf8()..]),
            // Numbers are right-aligned, as Python's.
            _ => (' ', '>', rest),
        };
        let (width, rest) = whole_part(rest)?;
        let (digits, rest) = match rest.strip_prefix('.') {
            Some(rest) => whole_part(rest).filter(|(digits, _)| digits.is_some())?,
            None => (None, rest),
        };
        let least = |notation, least| Some((notation, digits.unwrap_or(6).max(least)));
        let notation = match rest {
            "" => digits.map(|digits| (Notation::General, digits.max(1))),
            "g" => least(Notation::General, 1),
            "f" => least(Notation::Fixed, 0),
            "e" => least(Notation::Exponent, 0),
            "%" => least(Notation::Percent, 0),
            _ => return None,
        };
        Some(Format { ends, fill, align, width: width.unwrap_or(0), notation })
    }

    fn text(&self, value: &Interval) -> String {
        let (lower, upper) = match self.notation {
            Some((notation, digits)) => (value.lower_in(notation, digits), value.upper_in(notation, digits)),
            None => {
                let (lower, upper) = value.decimals();
                (lower.unwrap_or_else(|| "-inf".to_string()), upper.unwrap_or_else(|| "inf".to_string()))
            }
        };
        match self.ends {
            Ends::Both => format!("[{lower}, {upper}]"),
            Ends::Lower => lower,
            Ends::Upper => upper,
        }
    }

    fn padded(&self, text: &str) -> String {
        let missing = self.width.saturating_sub(text.chars().count());
        let left = match self.align {
            '<' => 0,
            '^' => missing / 2,
            _ => missing,
        };
        let fill = |many: usize| self.fill.to_string().repeat(many);
        format!("{}{text}{}", fill(left), fill(missing - left))
    }
}

/// The whole number at the beginning of a text, if there is one, and the remaining text; `None` if it is too large, or written with a leading
/// zero, which pads Python's numbers and not intervals.
fn whole_part(text: &str) -> Option<(Option<usize>, &str)> {
    let digits = text.len() - text.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let (digits, rest) = text.split_at(digits);
    if digits.is_empty() {
        return Some((None, rest));
    }
    let value =
        digits.parse().ok().filter(|value| *value <= MOST_SHOWN && (digits.len() == 1 || !digits.starts_with('0')))?;
    Some((Some(value), rest))
}
