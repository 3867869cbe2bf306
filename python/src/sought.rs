//! One number of a mechanism that meets a target.

use dp_assay::{
    account::{
        Account as _,
        promise::Promise,
        sought::{Found, Question},
    },
    error,
    law::ENTRIES,
    numeric::Enclosure as Interval,
    release::{Neighbors, subject::Subject},
    risk::promise::RiskPromise,
    rug::Rational,
};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};

use crate::{
    account::{Account, delta_of, epsilon_of, keep_guarantees, neighbors_of},
    calibrate::risk_of,
    enclosure::Enclosure,
    numbers::{self, Exact, to_fraction},
    work::{self, quick},
};

/// The number in whose place the text of a mechanism has a question mark, such that a target is met: epsilon=E at delta=D, or a risk, as in calibrate().
///
/// option, text: those of the command line, as in find_number("sampled", "0.01:gaussian:?x1000", 1, "1e-6"). The mark may be in place of a parameter of
/// the noise, a sampling rate, a bound, a threshold, the count or the shift. beside: an account that is spent beside the mechanism. neighbors: the
/// relation, unless it is that of `beside`. decimals: those of the grid, of a number that is not whole.
///
/// Returns a dict: `sought` (the name of the number), `value` (a Fraction, proven to meet the target), `not_enough` (its neighbor on the grid;
/// None where the range ends), `account` (of all, with that number), `epsilon` or, for a target of risk, `risk`, and `target` (Enclosures), and
/// `proven` (whether `not_enough` is proven not to meet the target). ValueError if no number of the range was found to meet the target.
#[pyfunction]
#[pyo3(signature = (option, text, epsilon = None, delta = None, *, beside = None, advantage = None, alpha = None, beta = None, posterior = None, prior = None, of = "events", neighbors = None, decimals = None, digits = 12))]
#[allow(clippy::too_many_arguments)]
pub fn find_number<'py>(
    py: Python<'py>,
    option: &str,
    text: &str,
    epsilon: Option<Exact>,
    delta: Option<Exact>,
    beside: Option<&Account>,
    advantage: Option<Exact>,
    alpha: Option<Exact>,
    beta: Option<Exact>,
    posterior: Option<Exact>,
    prior: Option<Exact>,
    of: &str,
    neighbors: Option<&str>,
    #[pyo3(from_py_with = numbers::decimals_or_none)] decimals: Option<u32>,
    #[pyo3(from_py_with = numbers::digits)] digits: u32,
) -> PyResult<Bound<'py, PyDict>> {
    known_option(option)?;
    let Some(question) = quick(Question::of_text(option, text, false))? else {
        return Err(PyValueError::new_err(format!("text = {text:?}: expected a question mark in place of a number")));
    };
    let mut others = beside.map_or_else(Subject::default, |beside| beside.subject().clone());
    let given = neighbors_of(neighbors)?;
    keep_guarantees(&others, given)?;
    others.neighbors = given.or(others.neighbors);
    let risks = [advantage, alpha, beta, posterior, prior];
    let goal = Goal::of(epsilon, delta, risks, of, (others.relation(), others.repeat))?;
    let decimals = quick(question.decimals(decimals))?;
    let name = question.number.name;
    let (found, subject, reached, target) = work::run(py, move |_| {
        let with = |value: &Rational| -> dp_assay::Result<Subject> {
            let mut subject = others.clone();
            subject.singles.push(question.counts(value)?);
            Ok(subject)
        };
        let promise = goal.promise()?;
        let outcome = question.answer(|value| Ok(with(value)?.resolve()?.whole), &promise, decimals)?;
        let found = outcome.or_refused(name)?;
        let (reached, target) = goal.reached(&found.account, digits)?;
        let subject = with(&found.value)?;
        Ok((found, subject, reached, target))
    })?;
    let Found { value, not_enough, is_neighbor_disproved, .. } = found;
    let answer = PyDict::new(py);
    answer.set_item("sought", name)?;
    answer.set_item("value", to_fraction(py, &value)?)?;
    answer.set_item("not_enough", not_enough.map(|other| to_fraction(py, &other)).transpose()?)?;
    answer.set_item("proven", is_neighbor_disproved)?;
    answer.set_item("account", Bound::new(py, Account::of(subject)?)?)?;
    answer.set_item(reached.0, Bound::new(py, Enclosure::from(reached.1))?)?;
    answer.set_item("target", Bound::new(py, Enclosure::from(target))?)?;
    Ok(answer)
}

/// Refuses an option that is not the name of a law or of another mechanism in texts.
fn known_option(option: &str) -> PyResult<()> {
    let mut known = ENTRIES.iter().map(|entry| entry.option);
    if known.clone().all(|known| known != option) {
        return Err(PyValueError::new_err(error::unknown("option", option, "the options are", &mut known)));
    }
    Ok(())
}

/// A target that does not depend on the present noise.
enum Goal {
    Epsilon(dp_assay::account::Epsilon, dp_assay::account::Delta),
    Risk(RiskPromise),
}

impl Goal {
    fn of(
        epsilon: Option<Exact>,
        delta: Option<Exact>,
        risks: [Option<Exact>; 5],
        of: &str,
        (neighbors, repeat): (Neighbors, u64),
    ) -> PyResult<Goal> {
        match (epsilon, delta, risks.iter().all(Option::is_none)) {
            (Some(epsilon), Some(delta), true) => Ok(Goal::Epsilon(epsilon_of(epsilon)?, delta_of(delta)?)),
            (None, delta, false) => {
                let risk = risk_of(delta, risks, of, neighbors)?;
                quick(risk.check_repeat(repeat))?;
                Ok(Goal::Risk(risk))
            }
            _ => Err(PyValueError::new_err(
                "expected one target: epsilon=E with delta=D; advantage=A; alpha=A with beta=B; or posterior=P with prior=Q, alone or with delta=D",
            )),
        }
    }

    fn promise(&self) -> dp_assay::Result<Promise> {
        match self {
            Goal::Epsilon(epsilon, delta) => Ok(Promise::Epsilon { delta: delta.clone(), epsilon: epsilon.clone() }),
            Goal::Risk(risk) => risk.promise(),
        }
    }

    /// The value that the target bounds, under its name, and the target.
    fn reached(
        &self,
        account: &dp_assay::account::Whole,
        digits: u32,
    ) -> dp_assay::Result<((&'static str, dp_assay::account::Answer), Interval)> {
        Ok(match self {
            Goal::Epsilon(epsilon, delta) => {
                (("epsilon", account.epsilon(delta, digits)?), Interval::rational(epsilon, 160))
            }
            Goal::Risk(risk) => (("risk", risk.value(account, digits)?), Interval::rational(risk.target(), 160)),
        })
    }
}
