//! The scheduler: the engines of a request in order of their predicted cost, for proofs and for approximations.
//!
//! 1. Requests that need no engine: no loss is as large, all noise is continuous, delta is within 10^-8 orders of 0 or 1.
//! 2. The engine that answered the last request of the session, if that was close to this one.
//! 3. The engines in their own order, each of which is tried at once if it is quick.
//! 4. The others by predicted cost. An engine of unknown cost comes after all that are affordable.
//!
//! Every enclosure holds the truth. So each answer is intersected with those before it, and two that exclude each other are an error. The first
//! intersection that is as narrow as requested is the answer; when the limit of effort is reached, the best enclosure so far is the answer.

use std::{cmp::Ordering, collections::VecDeque, sync::Arc};

use rug::Rational;

use super::{
    Cost, Engine, Tolerance, machine,
    moments::{self, LN_LEAST, Moments, mean_and_deviation_approx},
    request::{Functional, OF_LINES, Prepared, Request},
    session::Session,
};
use crate::{
    error::{Error, Result},
    loss::{
        answer::{Answer, Proof, both},
        contour::Contours,
        gaussian,
        sum::LossSum,
    },
    numeric::effort::{self, Effort},
};

/// The engines of one sum.
#[derive(Debug)]
pub(crate) struct Engines {
    pub contours: Arc<Contours>,
    /// The bound that narrows what an engine leaves too wide.
    pub moments: Moments,
    /// In the order in which their costs are predicted.
    pub all: Vec<Box<dyn Engine>>,
}

impl Engines {
    /// The sum.
    pub(crate) fn sum(&self) -> &LossSum {
        self.contours.sum()
    }
}

/// Encloses the number that is requested of a sum.
pub(crate) fn enclose(engines: &Engines, request: &Request, session: &Session) -> Result<Answer> {
    session.check()?;
    effort::spend(Effort::of_seconds(machine::OF_A_REQUEST));
    if let Some(answer) = at_once(engines.sum(), request) {
        return Ok(answer);
    }
    let prepared = Prepared::new(&engines.contours, request)?;
    if let Some(epsilon) = prepared.epsilon()
        && let Some(answer) = moments::below_floats(engines.sum(), epsilon, &prepared.search)
    {
        return Ok(answer);
    }
    let is_met = |known: &Option<Result<Answer>>| matches!(known, Some(Ok(answer)) if answer.met);
    let mut known: Option<Result<Answer>> = None;
    let mut candidates = Candidates::new(&engines.all, &prepared, session);
    while !is_met(&known) {
        if matches!(known, Some(Ok(_))) && session.deadline().is_over() {
            break;
        }
        let Some(engine) = candidates.next() else { break };
        let answer = engine.enclose(&prepared, session);
        if let Ok(Answer { met: true, .. }) = answer {
            session.answered(engine.name(), &request.at, request.goal.digits);
        }
        known = Some(match known {
            None => answer,
            Some(before) => both(before, answer, request.goal.digits),
        });
        if matches!(&known, Some(Err(error)) if error.is_fatal()) {
            break;
        }
        // Where the complement does not matter, a bound of it may be all that is missing.
        if !request.goal.complement && !is_met(&known) {
            known = known.map(|known| engines.moments.narrowed(known, &prepared));
        }
    }
    match known.unwrap_or(Err(Error::NoLattice)) {
        Ok(answer) if answer.met => Ok(answer),
        answer => engines.moments.narrowed(answer, &prepared),
    }
}

/// The answer where no engine is needed.
fn at_once(sum: &LossSum, request: &Request) -> Option<Answer> {
    let is_stick = request.functional == Functional::HockeyStick;
    let first = if is_stick { sum.above(&request.at) } else { request.at.clone() };
    if sum.is_beyond(&first) {
        return Some(Answer::no_loss_as_large());
    }
    if !is_stick {
        return None;
    }
    if sum.is_continuous() {
        let value = gaussian::hockey_stick(sum.rho(), &request.at, request.goal.digits);
        return Some(Answer { met: value.is_tight(request.goal.digits), value, proof: Proof::closed_form() });
    }
    moments::nearly_one(sum, request)
}

/// The engine that would be tried first, reductions apart.
pub(crate) fn first<'a>(engines: &'a Engines, request: &Request, session: &Session) -> Result<Option<&'a dyn Engine>> {
    let prepared = Prepared::new(&engines.contours, request)?;
    let mut candidates = Candidates::new(&engines.all, &prepared, session);
    Ok(std::iter::from_fn(|| candidates.next()).find(|engine| !engine.is_reduction()))
}

/// The engines in the order in which they are tried. No cost is predicted before it is needed.
struct Candidates<'e, 'r> {
    request: &'r Prepared<'r>,
    session: &'r Session,
    /// The engine that the session prefers.
    preferred: Option<&'e dyn Engine>,
    /// The engines whose cost was not looked at yet.
    unseen: VecDeque<&'e dyn Engine>,
    /// Those that are not quick.
    slow: Vec<(Cost, &'e dyn Engine)>,
    /// The same by cost, when all have been looked at.
    sorted: Option<VecDeque<&'e dyn Engine>>,
}

impl<'e, 'r> Candidates<'e, 'r> {
    fn new(engines: &'e [Box<dyn Engine>], request: &'r Prepared<'r>, session: &'r Session) -> Self {
        let mut unseen: VecDeque<&dyn Engine> = engines.iter().map(|engine| &**engine).collect();
        let deviation = || mean_and_deviation_approx(request.sum).1;
        let preferred = session.preferred(&request.request.at, request.digits(), deviation);
        let at = preferred.and_then(|name| unseen.iter().position(|engine| engine.name() == name));
        let preferred = at.and_then(|at| unseen.remove(at));
        Candidates { request, session, preferred, unseen, slow: Vec::new(), sorted: None }
    }

    fn next(&mut self) -> Option<&'e dyn Engine> {
        if let Some(preferred) = self.preferred.take() {
            return Some(preferred);
        }
        while let Some(engine) = self.unseen.pop_front() {
            match engine.cost(self.request, self.session, 0.0) {
                Cost::Seconds { alone, .. } if alone <= machine::QUICK => return Some(engine),
                Cost::NotServed => {}
                cost => self.slow.push((cost, engine)),
            }
        }
        if self.sorted.is_none() {
            self.sorted = Some(self.by_cost());
        }
        self.sorted.as_mut()?.pop_front()
    }

    /// Costs that are hard to predict are, as far as the cheapest of the others makes that worth while.
    fn by_cost(&mut self) -> VecDeque<&'e dyn Engine> {
        let mut slow = std::mem::take(&mut self.slow);
        let worth = slow.iter().map(|(cost, _)| shared(*cost)).fold(f64::INFINITY, f64::min);
        for (cost, engine) in &mut slow {
            if *cost == Cost::Unknown && worth.is_finite() {
                *cost = engine.cost(self.request, self.session, worth);
            }
        }
        slow.retain(|(cost, _)| *cost != Cost::NotServed);
        slow.sort_by(|(a, _), (b, _)| position(*a).partial_cmp(&position(*b)).unwrap_or(Ordering::Equal));
        slow.into_iter().map(|(_, engine)| engine).collect()
    }
}

/// Seconds of each request; infinite where they are unknown.
fn shared(cost: Cost) -> f64 {
    match cost {
        Cost::Seconds { shared, .. } => shared,
        Cost::Unknown | Cost::NotServed => f64::INFINITY,
    }
}

/// The place of a cost among others: an unknown one comes after all that are affordable.
fn position(cost: Cost) -> f64 {
    match cost {
        Cost::Unknown => machine::MOST_OF_ENUMERATION,
        cost => shared(cost),
    }
}

/// ln of a hockey stick in doubles: about 13 digits, an approximation without proof. Below the tolerance's `far` an estimate. `proven`: the same from a
/// proof of a few digits, if there is one.
pub(crate) fn approximate(
    engines: &Engines,
    epsilon: &Rational,
    session: &Session,
    tolerance: Tolerance,
    proven: impl FnOnce() -> Result<Option<f64>>,
) -> Result<f64> {
    /// The digits that doubles give.
    const DIGITS: u32 = 13;
    session.check()?;
    effort::spend(Effort::of_seconds(machine::OF_A_REQUEST));
    let sum = engines.sum();
    let request = Request::hockey_stick(epsilon, DIGITS).one_of(if session.is_shared() { OF_LINES } else { 1.0 });
    if sum.is_beyond(&sum.above(epsilon)) {
        return Ok(f64::NEG_INFINITY);
    }
    if sum.is_continuous() {
        return Ok(gaussian::ln_hockey_stick_approx(sum.rho(), epsilon));
    }
    if moments::nearly_one(sum, &request).is_some() {
        return Ok(0.0);
    }
    if let Some(ln) = session.ln_approx(&engines.contours, epsilon, tolerance.negligible < 1.0) {
        return Ok(ln);
    }
    let prepared = Prepared::new(&engines.contours, &request)?;
    if let Some(ln) = engines.moments.approximate(&prepared, session, tolerance)? {
        return Ok(ln);
    }
    // Below every float no engine is more precise, and far below the tolerance an estimate is enough.
    let estimate = prepared.search.ln_estimate();
    if estimate < LN_LEAST.max(tolerance.far) {
        return Ok(estimate);
    }
    match by_engines(&engines.all, &prepared, session, tolerance)? {
        Some(ln) => Ok(ln),
        // Doubles do not resolve it.
        None => match proven() {
            Err(error) if error.is_fatal() => Err(error),
            found => Ok(found.ok().flatten().unwrap_or(estimate)),
        },
    }
}

/// The approximation of the first engine that settles it: quick ones, the contour if it takes no longer than the others, these, and the contour
/// however long it takes.
fn by_engines(
    engines: &[Box<dyn Engine>],
    request: &Prepared,
    session: &Session,
    tolerance: Tolerance,
) -> Result<Option<f64>> {
    /// Where the first list does not settle it, no finer one is made that takes this many times as long.
    const OF_FIRST_LIST: f64 = 8.0;
    let within = |seconds: f64| Tolerance { most_seconds: seconds, ..tolerance };
    /// An engine that is not quick, with its seconds alone and as one of many requests.
    struct Slow<'e> {
        engine: &'e dyn Engine,
        alone: f64,
        shared: f64,
    }
    let mut contour: Option<&dyn Engine> = None;
    let mut slow: Vec<Slow> = Vec::new();
    for engine in engines {
        match engine.cost(request, session, 0.0) {
            Cost::NotServed => {}
            Cost::Unknown => contour = Some(&**engine),
            Cost::Seconds { alone, shared } if alone > machine::QUICK => {
                slow.push(Slow { engine: &**engine, alone, shared })
            }
            Cost::Seconds { alone, .. } => {
                let most = if alone > 0.0 { (OF_FIRST_LIST * alone).max(machine::AT_ONCE) } else { f64::INFINITY };
                if let Some(ln) = engine.approximate(request, session, within(most))? {
                    return Ok(Some(ln));
                }
            }
        }
    }
    slow.retain(|slow| slow.alone <= machine::MOST_OF_ENUMERATION);
    slow.sort_by(|a, b| a.shared.total_cmp(&b.shared));
    let by_slow = || -> Result<Option<f64>> {
        for Slow { engine, alone, .. } in &slow {
            let most = (OF_FIRST_LIST * alone).max(machine::AT_ONCE);
            if let Some(ln) = engine.approximate(request, session, within(most))? {
                return Ok(Some(ln));
            }
        }
        Ok(None)
    };
    let Some(contour) = contour else { return by_slow() };
    if let Some(cheapest) = slow.first() {
        match contour.approximate(request, session, within(cheapest.shared)) {
            Ok(Some(ln)) => return Ok(Some(ln)),
            Err(error) if error.is_fatal() => return Err(error),
            Ok(None) | Err(_) => {}
        }
        if let Some(ln) = by_slow()? {
            return Ok(Some(ln));
        }
    }
    contour.approximate(request, session, within(f64::INFINITY))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        loss::{
            evaluator::{SumEvaluator, Together},
            testing::sum,
        },
        numeric::{Enclosure, rational::parse},
    };

    /// The complement of a hockey stick close to 1, of a single request and of one close to another: against proofs, relative to itself.
    #[test]
    fn the_complement_of_a_hockey_stick_close_to_one_is_approximated() {
        let tolerance = Tolerance { negligible: 0.0, ..Tolerance::OF_VALUE };
        let mut small = 0;
        for (groups, most, epsilons) in [
            (vec!["1664982992/4099x3", "922/25x100", "5x9999"], 1e-12, ["250", "400", "899.5"]),
            (vec!["5x1000", "1001/7x30"], 1e-12, ["20", "60", "80"]),
            // A staircase, which an unbounded contour approximates less well.
            (vec!["1/125x10", "85332323x2", "507/5x100"], 1e-6, ["540", "580", "600"]),
        ] {
            let evaluator = SumEvaluator::new(sum(&groups));
            for epsilon in epsilons.map(|epsilon| parse(epsilon).unwrap()) {
                let session = Session::of_digits(12);
                for epsilon in [epsilon.clone(), epsilon + Rational::from((1, 1_000_000))] {
                    let ln = evaluator.ln_hockey_stick_approx_together(&epsilon, &session, tolerance).unwrap();
                    let proven = evaluator
                        .hockey_stick_together(&epsilon, 16, Together::Root, &Session::of_digits(16))
                        .unwrap()
                        .value;
                    let rest = Enclosure::double(1.0, proven.lower().prec()).sub(&proven).approximate();
                    let off = (-ln.exp_m1() / rest - 1.0).abs();
                    assert!(off < most && rest > 0.0, "{groups:?} {epsilon}: {ln} {rest} {off}");
                    small += u32::from(rest < 1e-17);
                }
            }
        }
        assert!(small >= 5, "{small}");
    }

    /// Below the values of interest an estimate is enough, which is below them too; above them the answer is the same.
    #[test]
    fn values_far_below_the_tolerance_are_estimated() {
        const FAR: f64 = -100.0;
        let evaluator = SumEvaluator::new(sum(&["5x100", "1001/7x30"]));
        let (mut estimated, mut same) = (0, 0);
        for epsilon in (1..=20).map(|k| Rational::from(10 * k)) {
            let approximation = |far| {
                let tolerance = Tolerance { far, ..Tolerance::OF_VALUE };
                evaluator.ln_hockey_stick_approx_together(&epsilon, &Session::of_digits(12), tolerance).unwrap()
            };
            let (ln, with_far) = (approximation(f64::NEG_INFINITY), approximation(FAR));
            if with_far == ln {
                same += 1;
                continue;
            }
            assert!(ln < FAR + 1.0 && with_far < FAR && (with_far - ln).abs() < 1.0, "{epsilon}: {ln} {with_far}");
            estimated += 1;
        }
        assert!(estimated > 3 && same > 3, "{estimated} {same}");
    }
}
