//! Requests: the requested functional of a sum, its precision, and the facts about it that engines use, computed once.

use std::cell::OnceCell;

use rug::Rational;

use crate::{
    error::{Error, Result},
    loss::{
        atoms::Query,
        contour::{Contours, Period},
        question::{Kernel, Question},
        search::ContourSearch,
        sum::LossSum,
    },
    numeric::rational,
};

/// The number that is wanted, of a sum L of privacy losses under P and Q.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Functional {
    /// E_P[(1 - exp(at - L))_+], for at >= 0.
    HockeyStick,
    /// P[L >= at].
    UpperTail,
    /// Q[L >= at] = E_P[exp(-L); L >= at].
    TiltedTail,
}

/// How precisely.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Goal {
    /// The relative width of the enclosure is at most 10^-digits.
    pub digits: u32,
    /// Whether the complement of an answer close to 1 has to be as precise, relative to itself.
    pub complement: bool,
}

/// A number to enclose.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub functional: Functional,
    /// The epsilon of a hockey stick, the threshold of a tail.
    pub at: Rational,
    pub goal: Goal,
    /// Among how many requests, about, an engine may divide the work that it does once for all of them.
    pub amortized_over: f64,
}

/// The number of requests that share the work that is done once: the steps to one epsilon, the supporting lines of one trade-off value, the points
/// of a profile.
pub(crate) const OF_A_ROOT: f64 = 6.0;
pub(crate) const OF_LINES: f64 = 8.0;
pub(crate) const OF_A_PROFILE: f64 = 4.0;

impl Request {
    /// A single number.
    pub(crate) fn new(functional: Functional, at: &Rational, digits: u32) -> Self {
        let goal = Goal { digits, complement: true };
        Request { functional, at: at.clone(), goal, amortized_over: 1.0 }
    }

    /// A single hockey-stick divergence.
    pub(crate) fn hockey_stick(epsilon: &Rational, digits: u32) -> Self {
        Request::new(Functional::HockeyStick, epsilon, digits)
    }

    /// The same as one of several.
    pub(crate) fn one_of(self, requests: f64) -> Self {
        Request { amortized_over: requests, ..self }
    }

    /// The same where the complement of an answer close to 1 may be less precise.
    pub(crate) fn without_complement(self) -> Self {
        Request { goal: Goal { complement: false, ..self.goal }, ..self }
    }

    /// The same to another number of digits.
    pub(crate) fn to(&self, digits: u32) -> Self {
        Request { goal: Goal { digits, ..self.goal }, ..self.clone() }
    }

    /// As the enumeration takes it.
    pub(crate) fn query(&self) -> Query {
        let at = self.at.clone();
        match self.functional {
            Functional::HockeyStick => Query::HockeyStick(at),
            Functional::UpperTail => Query::UpperTail(at),
            Functional::TiltedTail => Query::TiltedTail(at),
        }
    }

    /// As a contour takes it; refused for a tail where there is no lattice.
    fn question(&self, sum: &LossSum) -> Result<Question> {
        match self.functional {
            Functional::HockeyStick => Ok(Question::hockey_stick(sum, &self.at)),
            Functional::UpperTail => Question::tail(Kernel::UpperTail, sum, &self.at),
            Functional::TiltedTail => Question::tail(Kernel::TiltedTail, sum, &self.at),
        }
    }
}

/// A request with what all engines look at: its contour integral and the search for a contour, each made once.
pub(crate) struct Prepared<'a> {
    pub sum: &'a LossSum,
    pub request: &'a Request,
    pub question: Question,
    pub search: ContourSearch<'a>,
    period: OnceCell<Period>,
}

impl<'a> Prepared<'a> {
    pub(crate) fn new(contours: &'a Contours, request: &'a Request) -> Result<Self> {
        let question = request.question(contours.sum())?;
        let search = contours.search(&question);
        Ok(Prepared { sum: contours.sum(), request, question, search, period: OnceCell::new() })
    }

    /// How precisely it is to be enclosed.
    pub(crate) fn goal(&self) -> Goal {
        self.request.goal
    }

    /// The relative width is to be at most 10^-digits.
    pub(crate) fn digits(&self) -> u32 {
        self.request.goal.digits
    }

    /// The epsilon of a hockey stick; `None` for a tail.
    pub(crate) fn epsilon(&self) -> Option<&Rational> {
        (self.request.functional == Functional::HockeyStick).then_some(&self.request.at)
    }

    /// The period of its contour.
    pub(crate) fn period(&self) -> Period {
        *self.period.get_or_init(|| Contours::period(&self.search, self.digits()))
    }
}

/// Refuses negative orders: several bounds of the engines hold for epsilon >= 0 alone.
pub(crate) fn check_epsilon(epsilon: &Rational) -> Result<()> {
    if *epsilon < 0 {
        return Err(Error::out_of_range("epsilon", rational::display(epsilon), "at least 0"));
    }
    Ok(())
}
