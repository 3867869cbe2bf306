//! Errors of the library as Python's: ValueError with the library's text.

use dp_assay::Error;
use pyo3::{PyErr, exceptions::PyValueError};

/// An error of the library on its way to Python.
pub struct Failure(Error);

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure(error)
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> PyErr {
        PyValueError::new_err(failure.0.to_string())
    }
}

/// The result of a call of the library.
pub type Outcome<T> = std::result::Result<T, Failure>;
