//! Answers about one sum.

mod part;

use std::sync::{Arc, OnceLock};

use rug::Rational;

use crate::{
    error::{Error, Result},
    loss::{
        answer::{Answer, Proof, as_precise_as_possible},
        atoms::{Atoms, Query},
        contour::Contours,
        engine::{
            Cost, Engine, Tolerance,
            conditioning::{Conditioning, FarApart, Splits},
            contour::Contour,
            enumeration::{self, Enumeration},
            machine, moments,
            moments::Moments,
            open::OpenContour,
            reduction::CommonStep,
            request::{Functional, OF_A_PROFILE, OF_A_ROOT, OF_LINES, Prepared, Request, check_epsilon},
            scheduler::{self, Engines},
            session::Session,
            smoothing::{Smoothing, WithNoise},
        },
        gaussian,
        limit::Limit,
        second::{Second, SecondEnclosure},
        shared::{self, SharedContours},
        smoothed::{Crowd, Interval},
        split,
        stop::Stop,
        sum::LossSum,
    },
    numeric::Enclosure,
};

/// Answers requests about one sum.
#[derive(Debug)]
pub struct SumEvaluator {
    engines: Engines,
    /// `None` if a term is continuous.
    atoms: Option<Arc<Atoms>>,
    splits: Arc<Splits>,
    with_noise: Arc<WithNoise>,
    /// Whether it answers for the remaining groups of a conditioning: only the whole sum is confirmed by a second enclosure.
    is_remaining: bool,
    shared: SharedContours,
    second: OnceLock<Second>,
    stop: Stop,
}

impl LossSum {
    /// An evaluator of this sum, with nothing kept yet.
    pub fn evaluator(&self) -> SumEvaluator {
        SumEvaluator::new(self.clone())
    }
}

/// The hockey sticks that are requested together.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Together {
    /// The steps to one epsilon.
    Root,
    /// The supporting lines of one value of a trade-off function.
    Lines,
}

impl SumEvaluator {
    /// An evaluator with nothing kept yet.
    pub fn new(sum: LossSum) -> Self {
        Self::made(sum, false)
    }

    /// For the remaining groups of a conditioning.
    pub(crate) fn of_remaining(sum: LossSum) -> Self {
        Self::made(sum, true)
    }

    fn made(sum: LossSum, is_remaining: bool) -> Self {
        let atoms = Atoms::new(&sum).ok().map(Arc::new);
        let splits = Splits::new(&sum, |rest| Box::new(Self::of_remaining(rest)));
        let with_noise = WithNoise::new(&sum);
        let is_coarse = enumeration::is_coarse(&sum);
        let reduction = CommonStep::new(&sum, |merged| Box::new(Self::new(merged)));
        let contours = Arc::new(Contours::new(sum));
        let mut engines: Vec<Box<dyn Engine>> = vec![Box::new(Contour::new(&contours))];
        if let Some(atoms) = &atoms {
            // Where losses are far apart, enumeration is as quick as a short period, and a contour loses digits.
            engines.insert(usize::from(!is_coarse), Box::new(Enumeration::new(atoms)));
        }
        if let Some(open) = OpenContour::new(&contours) {
            engines.push(Box::new(open));
        }
        engines.push(Box::new(Moments::new(&contours)));
        engines.push(Box::new(reduction));
        engines.push(Box::new(FarApart(Arc::clone(&splits))));
        if atoms.is_some() && !is_remaining {
            engines.push(Box::new(Conditioning(Arc::clone(&splits))));
        }
        engines.push(Box::new(Smoothing(Arc::clone(&with_noise))));
        SumEvaluator {
            engines: Engines { moments: Moments::new(&contours), contours, all: engines },
            atoms,
            splits,
            with_noise,
            is_remaining,
            shared: SharedContours::default(),
            second: OnceLock::new(),
            stop: Stop::default(),
        }
    }

    /// This evaluator, which refuses every further request once `stop` is set.
    pub fn until(self, stop: &Stop) -> Self {
        SumEvaluator { stop: stop.clone(), ..self }
    }

    /// The sum.
    pub fn sum(&self) -> &LossSum {
        self.engines.sum()
    }

    fn contours(&self) -> &Contours {
        &self.engines.contours
    }

    #[cfg(test)]
    pub(crate) fn moments(&self) -> &Moments {
        &self.engines.moments
    }

    /// The names of the engines: those of [`SumEvaluator::hockey_stick_by`].
    pub fn engine_names(&self) -> Vec<&'static str> {
        self.engines.all.iter().map(|engine| engine.name()).collect()
    }

    /// Several requests of one answer to this number of digits, whose time begins now.
    pub(crate) fn session(&self, deadline: Limit) -> Session {
        Session::until(deadline, &self.stop)
    }

    /// Mean and standard deviation of L under P, in doubles: for searches. Under Q the mean of a symmetric pair is its negative.
    pub(crate) fn mean_and_deviation_approx(&self) -> (f64, f64) {
        moments::mean_and_deviation_approx(self.sum())
    }

    /// E[(1 - exp(epsilon - L))_+], the hockey-stick divergence of order exp(epsilon), for epsilon >= 0.
    ///
    /// The relative width is at most 10^-digits unless `met` is false. Where the answer is close to 1, its complement is as precise too, unless a
    /// contour of a lattice step above 50 answered or the complement is below exp(-10^8).
    pub fn hockey_stick(&self, epsilon: &Rational, digits: u32) -> Result<Answer> {
        check_epsilon(epsilon)?;
        self.answer(&Request::hockey_stick(epsilon, digits), &Session::single(Limit::of_digits(digits), &self.stop))
    }

    /// The hockey-stick divergence where the complement of an answer close to 1 may be less precise: the bound by moments then often has all digits.
    pub fn delta(&self, epsilon: &Rational, digits: u32) -> Result<Answer> {
        check_epsilon(epsilon)?;
        let session = Session::single(Limit::of_digits(digits), &self.stop);
        if let Some(fewer) = self.engines.moments.digits_of_complement(epsilon, digits)? {
            let answer = self.answer(&Request::hockey_stick(epsilon, fewer), &session)?;
            if answer.value.is_tight(digits) {
                return Ok(Answer { met: true, ..answer });
            }
        }
        self.answer(&Request::hockey_stick(epsilon, digits).without_complement(), &session)
    }

    /// The same as one of several of a session.
    pub(crate) fn hockey_stick_together(
        &self,
        epsilon: &Rational,
        digits: u32,
        together: Together,
        session: &Session,
    ) -> Result<Answer> {
        let requests = match together {
            Together::Root => OF_A_ROOT,
            Together::Lines => OF_LINES,
        };
        self.answer(&Request::hockey_stick(epsilon, digits).one_of(requests), session)
    }

    /// Where the requested precision cannot be reached, the result is at least as precise as with fewer digits.
    fn answer(&self, request: &Request, session: &Session) -> Result<Answer> {
        let enclose = |digits| scheduler::enclose(&self.engines, &request.to(digits), session);
        let goal = request.goal;
        if self.is_remaining {
            return enclose(goal.digits);
        }
        let is_known = |answer: &Answer, fewer| {
            answer.value.is_tight(fewer) && (!goal.complement || is_complement_tight(answer, fewer))
        };
        let answer = as_precise_as_possible(goal.digits, session.deadline(), is_known, enclose)?;
        self.confirmed(&request.at, goal.digits, answer, session)
    }

    /// An answer that its second enclosure does not exclude; of one below the requested precision, the intersection of both. A step on the way to
    /// another answer is not looked at where its precision is reached: that answer is.
    fn confirmed(&self, epsilon: &Rational, digits: u32, answer: Answer, session: &Session) -> Result<Answer> {
        const WHAT: &str = "a hockey-stick divergence (by an engine and by the second enclosure)";
        if self.is_remaining || session.is_shared() && answer.met {
            return Ok(answer);
        }
        self.second_hockey_stick(epsilon)?.met_with(answer, digits, WHAT)
    }

    /// The hockey-stick divergence by a method that shares no code with the engines that certify it, for epsilon >= 0: to a few digits, or fewer than
    /// one.
    pub fn second_hockey_stick(&self, epsilon: &Rational) -> Result<SecondEnclosure> {
        self.second().hockey_stick(epsilon)
    }

    /// The trade-off function by the same means, for 0 <= alpha <= 1.
    pub fn second_tradeoff(&self, alpha: &Rational) -> Result<SecondEnclosure> {
        match SecondEnclosure::at_ends(alpha)? {
            Some(known) => Ok(known),
            // The lines of both signs of epsilon are those of a symmetric pair.
            None if !self.sum().is_symmetric() => Ok(SecondEnclosure::trivial_tradeoff(alpha)),
            None => self.second().tradeoff(alpha),
        }
    }

    fn second(&self) -> &Second {
        self.second.get_or_init(|| Second::new(self.sum()))
    }

    /// The hockey stick by one engine, at any cost and whichever engine would be chosen: for comparing engines. `None` where it does not serve, and
    /// where it would take longer than an enumeration that is affordable.
    pub fn hockey_stick_by(&self, engine: &str, epsilon: &Rational, digits: u32) -> Result<Option<Answer>> {
        check_epsilon(epsilon)?;
        self.stop.check()?;
        let session = Session::single(Limit::of_digits(digits), &self.stop);
        let request = Request::hockey_stick(epsilon, digits);
        let prepared = Prepared::new(self.contours(), &request)?;
        let named = self.engines.all.iter().find(|named| named.name() == engine);
        let Some(engine) = named.filter(|engine| match engine.cost(&prepared, &session, 0.0) {
            Cost::NotServed => false,
            Cost::Unknown => true,
            Cost::Seconds { alone, .. } => alone <= machine::MOST_OF_ANY,
        }) else {
            return Ok(None);
        };
        match engine.enclose(&prepared, &session) {
            Err(Error::NoLattice) => Ok(None),
            Err(error) if error.is_beyond_reach() => Ok(None),
            answer => answer.map(Some),
        }
    }

    /// The losses strictly between two with their masses under Q, known to about exp(ln_error) in all, where groups are fine; `None` where
    /// that would take too long, or more than `most` are found.
    pub(crate) fn losses_between(
        &self,
        from: &Rational,
        to: &Rational,
        ln_error: f64,
        most: f64,
        session: &Session,
    ) -> Option<Interval> {
        self.with_noise.between(from, to, ln_error, most, session)
    }

    /// The number of such losses, predicted.
    pub(crate) fn predicted_between(&self, from: &Rational, to: &Rational, ln_error: f64) -> Option<Crowd> {
        self.with_noise.predicted_between(from, to, ln_error)
    }

    /// Whether two values of the profile and the losses between them take less than more values: where its values come from losses that
    /// were enumerated one by one.
    pub(crate) fn is_quicker_between(&self, session: &Session) -> bool {
        session.last_engine() == Some(crate::loss::engine::smoothing::NAME)
    }

    /// The most digits to which the session's lists were made; 0 where it has none.
    pub(crate) fn digits_prepared(&self, session: &Session) -> u32 {
        session.digits_of(enumeration::NAME)
    }

    /// Whether the trade-off function follows from its knots, each of two tails: not where hockey sticks are found by conditioning, or by an
    /// unbounded contour because the period of the lattice is too long to sweep.
    pub fn has_knots(&self, digits: u32) -> bool {
        let request = Request::hockey_stick(self.sum().rho(), digits);
        let Ok(prepared) = Prepared::new(self.contours(), &request) else { return false };
        !prepared.period().is_long() && !self.is_conditioned(&prepared)
    }

    /// Whether the profile is a staircase, or nearly one.
    pub(crate) fn has_steps(&self) -> bool {
        split::has_steps(self.sum())
    }

    /// Whether a request is answered by conditioning on groups that are far apart: where neither a short period nor a quick enumeration does.
    fn is_conditioned(&self, request: &Prepared) -> bool {
        let is_listed = || {
            let cost = |atoms: &Arc<Atoms>| atoms.cost(&request.request.query(), request.digits()).seconds;
            self.atoms.as_ref().is_some_and(|atoms| cost(atoms) <= machine::QUICK)
        };
        !request.period().is_short() && self.splits.has_far_apart(request) && !is_listed()
    }

    /// The hockey-stick divergence, quicker where many are requested: by a contour that requests close to one another share, where one serves. The answer
    /// has other last digits, and does not depend on other requests. The complement of an answer close to 1 may be less precise.
    pub fn hockey_stick_of_many(&self, epsilon: &Rational, digits: u32) -> Result<Answer> {
        check_epsilon(epsilon)?;
        self.one_of_many(epsilon, digits, &Session::single(Limit::of_digits(digits), &self.stop))
    }

    fn one_of_many(&self, epsilon: &Rational, digits: u32, session: &Session) -> Result<Answer> {
        session.stop().check()?;
        if let Some(answer) = self.by_shared_contour(epsilon, digits)? {
            return self.confirmed(epsilon, digits, answer, session);
        }
        self.answer(&Request::hockey_stick(epsilon, digits).one_of(OF_A_PROFILE).without_complement(), session)
    }

    /// By the contour of a cell, where a contour would be tried first and losses are unbounded.
    fn by_shared_contour(&self, epsilon: &Rational, digits: u32) -> Result<Option<Answer>> {
        let groups = self.sum().groups();
        let is_unbounded = groups.iter().all(|group| !group.law.has_bounded_loss());
        if digits > shared::MOST_DIGITS || !is_unbounded || self.sum().is_continuous() {
            return Ok(None);
        }
        let request = Request::hockey_stick(epsilon, digits);
        if !self.splits.is_known_to_have_none() && self.is_conditioned(&Prepared::new(self.contours(), &request)?) {
            return Ok(None);
        }
        let is_worth = |middle: &Rational| {
            let first = scheduler::first(
                &self.engines,
                &Request::hockey_stick(middle, digits),
                &Session::single(Limit::NONE, &self.stop),
            );
            matches!(first, Ok(Some(engine)) if engine.name() == crate::loss::engine::contour::NAME)
        };
        // A shared contour may fail where the contour of the request alone succeeds.
        let shared = self.shared.hockey_stick(self.contours(), epsilon, digits, is_worth);
        Ok(Error::unless_fatal(shared)?.flatten().filter(|answer| answer.met))
    }

    /// The same by a contour, even where enumeration is cheaper.
    #[cfg(test)]
    pub(crate) fn by_contour(&self, epsilon: &Rational, digits: u32) -> Result<Answer> {
        let question = crate::loss::question::Question::hockey_stick(self.sum(), epsilon);
        let search = self.contours().search(&question);
        self.contours().hockey_stick(self.contours().choose(question, &search, digits)?, digits)
    }

    /// P[L >= l0] for the first lattice value l0 >= z; refused where a term is continuous.
    pub fn upper_tail(&self, z: &Rational, digits: u32) -> Result<Answer> {
        self.tail(Functional::UpperTail, z, digits)
    }

    /// E[exp(-L); L >= l0] for the first lattice value l0 >= z: the probability of the tail under the other law of
    /// the pair. Refused where a term is continuous.
    pub fn tilted_tail(&self, z: &Rational, digits: u32) -> Result<Answer> {
        self.tail(Functional::TiltedTail, z, digits)
    }

    fn tail(&self, functional: Functional, z: &Rational, digits: u32) -> Result<Answer> {
        if functional == Functional::TiltedTail && !self.sum().is_symmetric() {
            return Err(Error::unsuitable("a tail under the other hypothesis, of one direction of a pair"));
        }
        let request = Request::new(functional, z, digits);
        scheduler::enclose(&self.engines, &request, &Session::single(Limit::of_digits(digits), &self.stop))
    }

    /// The trade-off function at the type I error alpha, between 0 and 1, in closed form where all noise is continuous, else by
    /// enumeration; `None` if a term is continuous or the lists would be too long. `at_once`: also if tails by a contour do as
    /// well, because the whole period of fine losses is short or the lists are not.
    pub fn tradeoff(&self, alpha: &Rational, digits: u32, at_once: bool) -> Result<Option<Answer>> {
        self.stop.check()?;
        if !self.sum().is_symmetric() {
            return Err(Error::unsuitable("the trade-off function of one direction of a pair"));
        }
        if self.sum().is_continuous() {
            let value = gaussian::tradeoff(self.sum().rho(), alpha, digits)?;
            return Ok(Some(Answer { met: value.is_tight(digits), value, proof: Proof::closed_form() }));
        }
        let Some(atoms) = &self.atoms else { return Ok(None) };
        if at_once && !enumeration::is_coarse(self.sum()) {
            let tail = Request::new(Functional::UpperTail, self.sum().rho(), digits);
            if Prepared::new(self.contours(), &tail)?.period().is_short() {
                return Ok(None);
            }
        }
        let most = if at_once { machine::AT_ONCE } else { machine::MOST_OF_ENUMERATION };
        if atoms.cost(&Query::Tradeoff(alpha.clone()), digits).seconds > most {
            return Ok(None);
        }
        Enumeration::new(atoms).tradeoff(alpha, digits)
    }

    /// The trade-off function from the engine that would find the height of a supporting line at this epsilon, if that engine finds the function
    /// itself in one search; `None` elsewhere.
    pub(crate) fn tradeoff_in_place_of_lines(
        &self,
        alpha: &Rational,
        epsilon: &Rational,
        digits: u32,
        session: &Session,
    ) -> Result<Option<Answer>> {
        self.stop.check()?;
        let request = Request::hockey_stick(epsilon, digits).one_of(OF_LINES);
        match scheduler::first(&self.engines, &request, session)? {
            Some(engine) => engine.tradeoff(alpha, digits),
            None => Ok(None),
        }
    }

    /// ln of the hockey-stick divergence, in doubles: about 13 digits, an approximation without proof.
    pub fn ln_hockey_stick_approx(&self, epsilon: &Rational) -> Result<f64> {
        let session = Session::single(Limit::NONE, &self.stop);
        self.ln_hockey_stick_approx_together(epsilon, &session, Tolerance::OF_VALUE)
    }

    /// The same as one of several of a session, as precise as the tolerance says.
    pub(crate) fn ln_hockey_stick_approx_together(
        &self,
        epsilon: &Rational,
        session: &Session,
        tolerance: Tolerance,
    ) -> Result<f64> {
        scheduler::approximate(&self.engines, epsilon, session, tolerance, || self.ln_of_few_digits(epsilon, session))
    }

    /// ln of the hockey stick from a proof of a few digits, where doubles do not resolve it.
    fn ln_of_few_digits(&self, epsilon: &Rational, session: &Session) -> Result<Option<f64>> {
        const DIGITS: u32 = 6;
        let single = Session::single(session.deadline(), session.stop());
        let value = self.answer(&Request::hockey_stick(epsilon, DIGITS).one_of(OF_A_ROOT), &single)?.value;
        Ok(value.is_tight(1).then(|| value.ln().approximate()))
    }

    /// ln of E[exp(-L); L >= z], in doubles: an approximation without proof.
    pub fn ln_tilted_tail_approx(&self, z: &Rational) -> Result<f64> {
        self.ln_tail_approx(Functional::TiltedTail, z)
    }

    /// ln of P[L >= z], in doubles: an approximation without proof.
    pub fn ln_upper_tail_approx(&self, z: &Rational) -> Result<f64> {
        self.ln_tail_approx(Functional::UpperTail, z)
    }

    fn ln_tail_approx(&self, functional: Functional, z: &Rational) -> Result<f64> {
        self.stop.check()?;
        if self.sum().is_beyond(z) {
            return Ok(f64::NEG_INFINITY);
        }
        let request = Request::new(functional, z, 12);
        let Prepared { question, search, .. } = Prepared::new(self.contours(), &request)?;
        let rough = self.contours().rough(&question, search, false, f64::INFINITY)?;
        rough.map(|(rough, _)| rough.ln).ok_or(Error::NoLattice)
    }
}

/// Whether the complement of an answer close to 1 is known to this number of digits.
fn is_complement_tight(answer: &Answer, digits: u32) -> bool {
    *answer.value.upper() < 0.5
        || Enclosure::double(1.0, answer.value.lower().prec()).sub(&answer.value).is_tight(digits)
}

#[cfg(test)]
mod tests {
    use crate::{loss::testing::sum, numeric::rational::parse};

    /// If the requested precision cannot be reached, the result is at least as precise as with fewer digits.
    #[test]
    fn a_request_for_more_digits_is_no_less_precise() {
        let groups =
            ["discrete-laplace:405/4099x999", "discrete-laplace:1/161x999@3", "2017623520/4099", "10126545/5x7"];
        let (evaluator, epsilon) = (sum(&groups).evaluator(), parse("0.00143066017371").unwrap());
        let [of_few, of_many] = [10, 20].map(|digits| evaluator.hockey_stick(&epsilon, digits).unwrap());
        assert!(of_few.met && of_many.value.is_tight(10), "{of_few:?} {of_many:?}");
        assert!(of_few.value.overlaps(&of_many.value) && of_many.met == of_many.value.is_tight(20), "{of_many:?}");
    }
}
