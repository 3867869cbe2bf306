//! Sessions: requests close to one another share work. The steps to one epsilon and the supporting lines of one trade-off value are a session each.
//!
//! Where a contour takes many nodes, its plan and the factors at its nodes are made for the first request and serve the others
//! ([`shared`](crate::loss::shared)), and so do contours in doubles ([`rough`](crate::loss::rough)). The engine that answered one request is tried
//! first for the next.
//!
//! A session belongs to one answer: which request comes first in it depends on that answer alone, and what it remembers ends
//! with it. So earlier requests do not change an answer.

use std::{
    cell::{OnceCell, RefCell},
    collections::VecDeque,
};

use rug::Rational;

use crate::{
    error::Result,
    loss::{
        answer::Answer,
        contour::{Choice, Contours, hockey_stick},
        limit::Limit,
        question::{Kernel, Question},
        rough::{RoughContour, SMALL_REST},
        shared::{MOST_DIGITS, SharedContour},
        stop::Stop,
    },
};

/// Contours of fewer nodes are made again for each request.
const FEW_NODES: i64 = 1_000;
/// The distance at which a contour still serves, in units of what changes the size of the integrand by a factor of e.
const NEAR: f64 = 1.0;
/// The number of contours that are remembered: each may hold the factors at hundreds of thousands of nodes.
const REMEMBERED: usize = 2;
/// An engine that answered to some digits is preferred for up to this many fewer.
const FEW_DIGITS: u32 = 4;
/// Contours are made for multiples of this number of digits, if they prove them.
const DIGITS_STEP: u32 = 4;

/// The state that the requests of one answer share.
#[derive(Debug)]
pub(crate) struct Session {
    deadline: Limit,
    stop: Stop,
    /// Whether there is more than one request, so that contours are worth keeping.
    is_shared: bool,
    known: RefCell<Vec<Known>>,
    /// In doubles, the last one first.
    rough: RefCell<VecDeque<RoughContour>>,
    answered: RefCell<Option<Answered>>,
    /// The engines that did not serve, and the fewest digits to which they did not.
    failed: RefCell<Vec<(&'static str, u32)>>,
    /// The lists of losses whose making was counted, by the bits of their tilt and of their masses.
    listed: RefCell<Vec<(u64, u32)>>,
    /// The same of the sum in which groups are merged.
    reduced: OnceCell<Box<Session>>,
}

/// A contour that was made for a request.
#[derive(Debug)]
struct Known {
    /// The k of continuous noise of scale 2^-k; none for the sum as it is.
    scale: Option<i32>,
    digits: u32,
    question: Question,
    /// `None` where no contour proved that many digits.
    contour: Option<SharedContour>,
}

/// The last request that was answered as precisely as requested.
#[derive(Debug)]
struct Answered {
    engine: &'static str,
    at: Rational,
    digits: u32,
}

impl Session {
    fn new(deadline: Limit, stop: &Stop, is_shared: bool) -> Session {
        let (known, rough, answered, failed) =
            (RefCell::default(), RefCell::default(), RefCell::default(), RefCell::default());
        let (listed, reduced) = (RefCell::default(), OnceCell::new());
        Session { deadline, stop: stop.clone(), is_shared, known, rough, answered, failed, listed, reduced }
    }

    /// The session of a single request.
    pub(crate) fn single(deadline: Limit, stop: &Stop) -> Session {
        Session::new(deadline, stop, false)
    }

    /// The session of several requests, to be answered by then.
    pub(crate) fn until(deadline: Limit, stop: &Stop) -> Session {
        Session::new(deadline, stop, true)
    }

    /// The session of several requests of one answer to this number of digits, whose time begins now.
    #[cfg(test)]
    pub(crate) fn of_digits(digits: u32) -> Session {
        Session::until(Limit::of_digits(digits), &Stop::default())
    }

    /// The session of the requests to one part of the sum, with the same deadline.
    pub(crate) fn of_part(&self) -> Session {
        Session::until(self.deadline, &self.stop)
    }

    /// The session of the requests to the sum in which groups are merged.
    pub(crate) fn of_reduced(&self) -> &Session {
        self.reduced.get_or_init(|| Box::new(Session::new(self.deadline, &self.stop, self.is_shared)))
    }

    /// Whether there is more than one request.
    pub(crate) fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// The limit of its effort.
    pub(crate) fn deadline(&self) -> Limit {
        self.deadline
    }

    /// The stop that may end it earlier.
    pub(crate) fn stop(&self) -> &Stop {
        &self.stop
    }

    /// Refused where it was stopped, or where the time of several requests is over.
    pub(crate) fn check(&self) -> Result<()> {
        self.stop.check()?;
        if self.is_shared { self.deadline.check() } else { Ok(()) }
    }

    /// Remembers that an engine answered as precisely as requested.
    pub(crate) fn answered(&self, engine: &'static str, at: &Rational, digits: u32) {
        self.answered.replace(Some(Answered { engine, at: at.clone(), digits }));
    }

    /// The engine that answered last, if that request was within a standard deviation of the losses of this one, and to as many digits or a few
    /// more.
    pub(crate) fn preferred(&self, at: &Rational, digits: u32, deviation: impl Fn() -> f64) -> Option<&'static str> {
        let answered = self.answered.borrow();
        let last = answered.as_ref()?;
        let is_near = || Rational::from(at - &last.at).to_f64().abs() <= deviation();
        ((digits..=digits + FEW_DIGITS).contains(&last.digits) && is_near()).then_some(last.engine)
    }

    /// The engine that answered last.
    pub(crate) fn last_engine(&self) -> Option<&'static str> {
        self.answered.borrow().as_ref().map(|last| last.engine)
    }

    /// Whether this engine answered last, to enough digits for its lists to serve a request to `digits` as well.
    pub(crate) fn has_prepared(&self, engine: &str, digits: u32) -> bool {
        let answered = self.answered.borrow();
        answered.as_ref().is_some_and(|last| last.engine == engine && digits <= last.digits + FEW_DIGITS)
    }

    /// Whether these lists of losses are the first of their kind in this session: others of it find them made.
    pub(crate) fn makes_lists(&self, lists: (u64, u32)) -> bool {
        let mut listed = self.listed.borrow_mut();
        let is_first = !listed.contains(&lists);
        if is_first {
            listed.push(lists);
        }
        is_first
    }

    /// The digits to which that engine answered; 0 where another one did.
    pub(crate) fn digits_of(&self, engine: &str) -> u32 {
        let answered = self.answered.borrow();
        answered.as_ref().filter(|last| last.engine == engine).map_or(0, |last| last.digits)
    }

    /// Remembers that an engine did not serve to this number of digits: to find that out again takes long.
    pub(crate) fn failed(&self, engine: &'static str, digits: u32) {
        self.failed.borrow_mut().push((engine, digits));
    }

    /// Whether an engine is known not to serve to as many digits.
    pub(crate) fn has_failed(&self, engine: &str, digits: u32) -> bool {
        self.is_shared && self.failed.borrow().iter().any(|(other, from)| *other == engine && *from <= digits)
    }

    /// The k of the continuous noise of scale 2^-k of which there is a contour.
    pub(crate) fn of_noise(&self) -> Option<i32> {
        self.known.borrow().iter().filter(|known| known.contour.is_some()).find_map(|known| known.scale)
    }

    /// Whether a contour is held that may serve a hockey stick at epsilon.
    pub(crate) fn holds(&self, scale: Option<i32>, epsilon: &Rational, digits: u32) -> bool {
        self.known.borrow().iter().any(|known| known.serves(scale, epsilon, digits).is_some())
    }

    /// The hockey stick at epsilon by a contour that was made for a request close to it; `None` where there is none, or where it does not prove
    /// that many digits.
    pub(crate) fn hockey_stick(
        &self,
        contours: &Contours,
        scale: Option<i32>,
        epsilon: &Rational,
        digits: u32,
    ) -> Option<Answer> {
        let known = self.known.borrow();
        let (known, contour) = known.iter().find_map(|known| Some((known, known.serves(scale, epsilon, digits)?)))?;
        let question = Question::hockey_stick(contours.sum(), epsilon);
        let question = if known.question.step.is_none() { question.on_line() } else { question };
        let question = Question { kernel: known.question.kernel, ..question };
        let (value, proof) = contour.enclose(contours, &question);
        Some(hockey_stick(question.kernel, &value, proof, digits)).filter(|answer| answer.met)
    }

    /// An approximation of ln of the hockey stick at epsilon, by a contour in doubles that was made for a request close to it; where the complement
    /// matters, by one that computes it as well.
    pub(crate) fn ln_approx(&self, contours: &Contours, epsilon: &Rational, complement_matters: bool) -> Option<f64> {
        self.rough.borrow().iter().find_map(|contour| {
            let question = contour.neighbor(contours, epsilon)?;
            let rough = contour.ln_approx(contours, &question);
            let ln = rough.ln_hockey_stick(question.kernel);
            let is_lost = complement_matters && question.kernel == Kernel::HockeyStick && ln > -SMALL_REST;
            (rough.is_resolved && !is_lost).then_some(ln)
        })
    }

    /// Keeps a contour in doubles for requests close to its own.
    pub(crate) fn keep(&self, contour: RoughContour) {
        let mut rough = self.rough.borrow_mut();
        if self.is_shared && contour.is_small() {
            rough.push_front(contour);
            rough.truncate(REMEMBERED);
        }
    }

    /// The answer to a request, by a contour that is kept for others; `None` where it is not worth it, or where it does not prove that many
    /// digits.
    pub(crate) fn first(
        &self,
        contours: &Contours,
        scale: Option<i32>,
        choice: &Choice,
        digits: u32,
    ) -> Result<Option<Answer>> {
        if !self.is_shared || choice.nodes() <= FEW_NODES || digits > MOST_DIGITS {
            return Ok(None);
        }
        for digits in [digits.next_multiple_of(DIGITS_STEP).min(MOST_DIGITS), digits] {
            let failed = |known: &Known| known.scale == scale && known.digits == digits && known.contour.is_none();
            if self.known.borrow().iter().any(failed) {
                continue;
            }
            let (contour, answer) = SharedContour::around(contours, &choice.question, digits)?.unzip();
            let question = choice.question.clone();
            let mut known = self.known.borrow_mut();
            if contour.is_some() && known.iter().filter(|known| known.contour.is_some()).count() >= REMEMBERED {
                let oldest = known.iter().position(|known| known.contour.is_some());
                oldest.map(|oldest| known.remove(oldest));
            }
            known.push(Known { scale, digits, question, contour });
            if answer.is_some() {
                return Ok(answer);
            }
        }
        Ok(None)
    }
}

impl Known {
    /// Its contour, where that is near enough.
    fn serves(&self, scale: Option<i32>, epsilon: &Rational, digits: u32) -> Option<&SharedContour> {
        let contour = self.contour.as_ref().filter(|_| self.scale == scale && self.digits >= digits)?;
        let distance = Rational::from(epsilon - &self.question.threshold).to_f64();
        (distance.abs() * (1.0 + contour.real_part().abs()) <= NEAR).then_some(contour)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        loss::{question::Kernel, testing::sum},
        numeric::rational::parse,
    };

    /// Contours on a lattice and unbounded ones, right of both poles and between them, against whichever engine answers alone; none serves requests
    /// further away, or to more digits.
    #[test]
    fn contours_of_a_session_enclose_what_engines_do() {
        let (mut kernels, mut on_line, mut on_lattice) = (Vec::new(), 0, 0);
        for (groups, middles) in [
            (vec!["2003/7x40", "1009/5x3", "1/3x2"], ["3.7", "14"]),
            (vec!["154013156402/4099x28", "59671/1237x5", "3/5x30@3"], ["201", "260.5"]),
        ] {
            let (contours, evaluator) = (Contours::new(sum(&groups)), sum(&groups).evaluator());
            for middle in middles {
                let session = Session::of_digits(12);
                let middle = parse(middle).unwrap();
                let question = Question::hockey_stick(contours.sum(), &middle);
                let choice = contours.choose(question.clone(), &contours.search(&question), 12).unwrap();
                assert!(choice.nodes() > FEW_NODES, "{groups:?} {middle}: {}", choice.nodes());
                kernels.push(choice.question.kernel);
                (on_line, on_lattice) = match choice.question.step {
                    None => (on_line + 1, on_lattice),
                    Some(_) => (on_line, on_lattice + 1),
                };
                let first = session.first(&contours, None, &choice, 12).unwrap().unwrap();
                let own = contours.hockey_stick(choice, 12).unwrap();
                assert!(first.met && first.value.overlaps(&own.value), "{groups:?} {middle}: {first:?} {own:?}");
                for distance in ["0", "1e-9", "-0.003", "0.2"] {
                    let epsilon = &middle + parse(distance).unwrap();
                    let shared = session.hockey_stick(&contours, None, &epsilon, 12).unwrap();
                    let own = evaluator.hockey_stick(&epsilon, 13).unwrap();
                    assert!(own.met && shared.value.is_tight(12), "{groups:?} {epsilon}: {shared:?}");
                    assert!(shared.value.overlaps(&own.value), "{groups:?} {epsilon}: {shared:?} {own:?}");
                }
                assert!(session.hockey_stick(&contours, Some(9), &middle, 12).is_none());
                assert!(session.hockey_stick(&contours, None, &middle, 17).is_none());
                assert!(session.hockey_stick(&contours, None, &Rational::from(&middle + 3_u32), 12).is_none());
            }
        }
        assert!(on_line > 0 && on_lattice > 0, "{on_line} {on_lattice}");
        assert!(kernels.contains(&Kernel::Complement) && kernels.contains(&Kernel::HockeyStick), "{kernels:?}");
    }
}
