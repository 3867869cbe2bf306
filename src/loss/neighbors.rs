//! Questions next to one another: the supporting lines of a trade-off function at one type I error, or the steps to one epsilon. Where a
//! contour takes many nodes, its plan and the factors at its nodes are made for the first of them and serve the others
//! ([`shared`](super::shared)), and so do contours in doubles where they are searched for ([`rough`](super::rough)).
//!
//! Which question comes first is a matter of the answer that is looked for alone, and what is remembered goes with it: so that answer is the
//! same whatever was asked before.

use std::{
    cell::{Cell, OnceCell, RefCell},
    collections::VecDeque,
};

use rug::Rational;

use super::{
    answer::Answer,
    contour::{Choice, Contours, hockey_stick},
    engine::Engine,
    limit::Limit,
    question::{Kernel, Question},
    rough::{RoughContour, SMALL_REST},
    shared::{MOST_DIGITS, SharedContour},
};
use crate::error::Result;

/// Contours of fewer nodes are made anew for each question.
const FEW_NODES: i64 = 1_000;
/// How far neighbors are from the question that came first, in units of what changes the size of the integrand by a factor of e.
const NEAR: f64 = 1.0;
/// So many contours are remembered: each may hold the factors at hundreds of thousands of nodes.
const REMEMBERED: usize = 2;
/// What serves so many digits serves a few more.
const FEW_DIGITS: u32 = 4;
/// Contours are made for multiples of so many digits, if they tell them.
const DIGITS_STEP: u32 = 4;

/// What questions next to one another share.
#[derive(Debug)]
pub(crate) struct Neighbors {
    /// Of the answer that is looked for.
    limit: Limit,
    known: RefCell<Vec<Known>>,
    /// In doubles, the last one first.
    rough: RefCell<VecDeque<RoughContour>>,
    orders: RefCell<Vec<Order>>,
    /// To how few digits continuous noise told nothing.
    no_noise: Cell<u32>,
    /// The same of the sum in which groups are merged.
    merged: OnceCell<Box<Neighbors>>,
}

/// What was made for a question.
#[derive(Debug)]
struct Known {
    /// Of the sum as it is, or with continuous noise of scale 2^-k.
    scale: Option<i32>,
    digits: u32,
    question: Question,
    /// `None` where no contour told so many digits.
    contour: Option<SharedContour>,
}

/// In which order engines are tried at an epsilon, for so many digits.
#[derive(Debug)]
struct Order {
    epsilon: Rational,
    digits: u32,
    engines: &'static [Engine],
}

impl Neighbors {
    /// Of an answer to so many digits that is looked for from now on.
    pub(crate) fn new(digits: u32) -> Neighbors {
        Neighbors::until(Limit::of(digits))
    }

    /// Of an answer that is to be told by then.
    pub(crate) fn until(limit: Limit) -> Neighbors {
        let (known, rough, orders) = (RefCell::default(), RefCell::default(), RefCell::default());
        Neighbors { limit, known, rough, orders, no_noise: Cell::new(u32::MAX), merged: OnceCell::new() }
    }

    /// What questions about the sum share in which groups are merged.
    pub(crate) fn merged(&self) -> &Neighbors {
        self.merged.get_or_init(|| Box::new(Neighbors::until(self.limit)))
    }

    /// Whether continuous noise told nothing of a question to no more digits: to find that out again takes long.
    pub(crate) fn is_without_noise(&self, digits: u32) -> bool {
        self.no_noise.get() <= digits
    }

    /// Remembers that it told nothing to so many.
    pub(crate) fn without_noise(&self, digits: u32) {
        self.no_noise.set(self.no_noise.get().min(digits));
    }

    /// When the time of the answer is over.
    pub(crate) fn limit(&self) -> Limit {
        self.limit
    }

    /// The order that was found for a question within one standard deviation of the losses, and as many digits or a few more; else that which is
    /// found now, and remembered: to find it is to plan a contour.
    pub(crate) fn order(
        &self,
        epsilon: &Rational,
        digits: u32,
        deviation: impl Fn() -> f64,
        find: impl FnOnce() -> &'static [Engine],
    ) -> &'static [Engine] {
        let is_near = |order: &Order| {
            let apart = Rational::from(epsilon - &order.epsilon).to_f64().abs();
            (digits..=digits + FEW_DIGITS).contains(&order.digits) && apart <= deviation()
        };
        if let Some(order) = self.orders.borrow().iter().find(|order| is_near(order)) {
            return order.engines;
        }
        let engines = find();
        self.orders.borrow_mut().push(Order { epsilon: epsilon.clone(), digits, engines });
        engines
    }

    /// The k of the continuous noise of scale 2^-k of which there is a contour.
    pub(crate) fn of_noise(&self) -> Option<i32> {
        self.known.borrow().iter().filter(|known| known.contour.is_some()).find_map(|known| known.scale)
    }

    /// The hockey stick at epsilon by a contour that was made for a question next to it; `None` where there is none, or where it does not tell
    /// so many digits.
    pub(crate) fn hockey_stick(
        &self,
        contours: &Contours,
        scale: Option<i32>,
        epsilon: &Rational,
        digits: u32,
    ) -> Option<Answer> {
        let known = self.known.borrow();
        let serving = known.iter().filter(|known| known.scale == scale && known.digits >= digits);
        let (known, contour) =
            serving.filter_map(|known| Some((known, known.contour.as_ref()?))).find(|(known, contour)| {
                let distance = Rational::from(epsilon - &known.question.threshold).to_f64();
                distance.abs() * (1.0 + contour.real_part().abs()) <= NEAR
            })?;
        let question = Question::hockey_stick(contours.sum(), epsilon);
        let question = if known.question.step.is_none() { question.on_line() } else { question };
        let question = Question { kernel: known.question.kernel, ..question };
        let (value, proof) = contour.enclose(contours, &question);
        Some(hockey_stick(question.kernel, &value, proof, digits)).filter(|answer| answer.met)
    }

    /// An approximation of ln of the hockey stick at epsilon, by a contour in doubles that was made for a question next to it; where one minus it
    /// matters, by one that tells this as well.
    pub(crate) fn ln_approx(&self, contours: &Contours, epsilon: &Rational, rest_matters: bool) -> Option<f64> {
        self.rough.borrow().iter().find_map(|contour| {
            let question = contour.neighbor(contours, epsilon)?;
            let told = contour.ln_approx(contours, &question);
            let ln = told.ln_hockey_stick(question.kernel);
            let is_lost = rest_matters && question.kernel == Kernel::HockeyStick && ln > -SMALL_REST;
            (told.is_told && !is_lost).then_some(ln)
        })
    }

    /// Keeps a contour in doubles for questions next to its own.
    pub(crate) fn keep(&self, contour: RoughContour) {
        let mut rough = self.rough.borrow_mut();
        if contour.is_small() {
            rough.push_front(contour);
            rough.truncate(REMEMBERED);
        }
    }

    /// The answer to a question, by a contour that is kept for its neighbors; `None` where it is not worth it, or where it does not tell so many
    /// digits.
    pub(crate) fn first(
        &self,
        contours: &Contours,
        scale: Option<i32>,
        choice: &Choice,
        digits: u32,
    ) -> Result<Option<Answer>> {
        if choice.nodes() <= FEW_NODES || digits > MOST_DIGITS {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        loss::{
            law::{Group, Law},
            question::Kernel,
            sum::LossSum,
        },
        numeric::rational::parse,
    };

    fn sum(list: &[(&str, u64, u64)]) -> LossSum {
        let group = |&(sigma2, shift, copies): &(&str, u64, u64)| Group {
            law: Law::DiscreteGaussian { sigma2: parse(sigma2).unwrap() },
            shift,
            copies,
        };
        LossSum::new(list.iter().map(group)).unwrap()
    }

    /// Neighbors on a lattice and on the line, right of both poles and between them, against whichever engine answers them alone; nothing is
    /// told of what is further away, or to more digits.
    #[test]
    fn neighbors_answer_what_engines_do() {
        let (mut kernels, mut on_line, mut on_lattice) = (Vec::new(), 0, 0);
        for (groups, middles) in [
            (vec![("2003/7", 1, 40), ("1009/5", 1, 3), ("1/3", 1, 2)], ["3.7", "14"]),
            (vec![("154013156402/4099", 1, 28), ("59671/1237", 1, 5), ("3/5", 3, 30)], ["201", "260.5"]),
        ] {
            let (contours, evaluator) = (Contours::new(sum(&groups)), sum(&groups).evaluator());
            for middle in middles {
                let neighbors = Neighbors::new(12);
                let middle = parse(middle).unwrap();
                let question = Question::hockey_stick(contours.sum(), &middle);
                let choice = contours.choose(question.clone(), &contours.search(&question), 12).unwrap();
                assert!(choice.nodes() > FEW_NODES, "{groups:?} {middle}: {}", choice.nodes());
                kernels.push(choice.question.kernel);
                (on_line, on_lattice) = match choice.question.step {
                    None => (on_line + 1, on_lattice),
                    Some(_) => (on_line, on_lattice + 1),
                };
                let first = neighbors.first(&contours, None, &choice, 12).unwrap().unwrap();
                let own = contours.hockey_stick(choice, 12).unwrap();
                assert!(first.met && first.value.overlaps(&own.value), "{groups:?} {middle}: {first:?} {own:?}");
                for distance in ["0", "1e-9", "-0.003", "0.2"] {
                    let epsilon = &middle + parse(distance).unwrap();
                    let told = neighbors.hockey_stick(&contours, None, &epsilon, 12).unwrap();
                    let own = evaluator.hockey_stick(&epsilon, 13).unwrap();
                    assert!(own.met && told.value.is_tight(12), "{groups:?} {epsilon}: {told:?}");
                    assert!(told.value.overlaps(&own.value), "{groups:?} {epsilon}: {told:?} {own:?}");
                }
                assert!(neighbors.hockey_stick(&contours, Some(9), &middle, 12).is_none());
                assert!(neighbors.hockey_stick(&contours, None, &middle, 17).is_none());
                assert!(neighbors.hockey_stick(&contours, None, &Rational::from(&middle + 3_u32), 12).is_none());
            }
        }
        assert!(on_line > 0 && on_lattice > 0, "{on_line} {on_lattice}");
        assert!(kernels.contains(&Kernel::Complement) && kernels.contains(&Kernel::HockeyStick), "{kernels:?}");
    }
}
