//! Published values, recomputed and judged.

use dp_assay::{
    numeric::Certainty,
    replication::{
        published,
        verdict::Computed,
        verify::{self, Row},
    },
};
use pyo3::{prelude::*, types::PyDict};

use crate::{
    enclosure::Enclosure,
    work::{self, quick},
};

/// Every published value of the papers (all bundled ones if none is named), recomputed: a list of dicts with paper, id, place,
/// printed, computed (an Enclosure, a bool, or None), verdict, note and erratum.
#[pyfunction]
#[pyo3(signature = (papers = Vec::new()))]
pub fn verified_rows(py: Python<'_>, papers: Vec<String>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let papers = quick(published::papers(&papers))?;
    let mut all = Vec::new();
    for paper in papers {
        let key = paper.paper.clone();
        for row in work::run(py, move |_| verify::verify(&paper))? {
            all.push(row_of(py, &key, row)?);
        }
    }
    Ok(all)
}

fn row_of<'py>(py: Python<'py>, paper: &str, row: Row) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("paper", paper)?;
    dict.set_item("id", &row.published.id)?;
    dict.set_item("place", &row.published.place)?;
    dict.set_item("printed", &row.published.printed)?;
    match row.computed {
        Computed::Value(value) => dict.set_item("computed", Bound::new(py, Enclosure::from(value))?)?,
        // Only a bound is known: all values that are possible.
        Computed::Bounded(bounded) => {
            dict.set_item("computed", Bound::new(py, Enclosure::from(bounded.possible()))?)?
        }
        Computed::Statement(Certainty::Yes) => dict.set_item("computed", true)?,
        Computed::Statement(Certainty::No) => dict.set_item("computed", false)?,
        Computed::Statement(Certainty::Undecided) | Computed::NeedsData(_) => {
            dict.set_item("computed", py.None())?;
        }
    }
    dict.set_item("verdict", row.verdict.word())?;
    dict.set_item("note", &row.published.remarks.note)?;
    dict.set_item("erratum", &row.published.remarks.erratum)?;
    Ok(dict)
}
