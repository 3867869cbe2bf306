//! Answers about one sum, by a contour or by lists of atoms.

mod approximations;
mod engines;
mod merging;
mod moments;
mod splits;

use std::{cell::OnceCell, sync::OnceLock};

use rug::Rational;

pub(crate) use self::approximations::Slack;
use self::{
    engines::{AT_ONCE_SECONDS, Asked, MOST_SECONDS, in_turn},
    splits::by_splits,
};
use crate::{
    error::{Error, Result},
    loss::{
        answer::{Answer, Method, both, to_as_many_as_told},
        atoms::{Atoms, Query, tilt::Outline},
        contour::Contours,
        engine::Engine,
        gaussian,
        law::Law,
        limit::Limit,
        merged::Merged,
        neighbors::Neighbors,
        question::{Kernel, Question},
        second::{Second, SecondEnclosure},
        shared::{self, SharedContours},
        smoothed::{Crowd, Interval, Smoothed},
        split::{self, Split},
        stop::Stop,
        sum::LossSum,
    },
    numeric::Enclosure,
};

/// Below ln of the smallest positive float of MPFR, 2^-(2^30), which is -744,261,117.9.
const LN_LEAST: f64 = -744_262_000.0;

/// Answers questions about one sum.
#[derive(Debug)]
pub struct SumEvaluator {
    contours: Contours,
    /// `None` if a term is continuous.
    atoms: Option<Atoms>,
    /// Where the groups are furthest apart first.
    splits: OnceLock<Vec<Split>>,
    /// Whether it answers about the rest of a split, which is asked often.
    is_rest: bool,
    /// `None` inside if a term is continuous or there are many groups.
    smoothed: OnceLock<Option<Box<Smoothed>>>,
    /// `None` inside if no groups can be merged.
    merged: OnceLock<Option<Box<(Merged, SumEvaluator)>>>,
    shared: SharedContours,
    second: OnceLock<Second>,
    stop: Stop,
}

impl LossSum {
    /// An evaluator of this sum, which remembers nothing yet.
    pub fn evaluator(&self) -> SumEvaluator {
        SumEvaluator::new(self.clone())
    }
}

impl SumEvaluator {
    /// An evaluator that remembers nothing yet.
    pub fn new(sum: LossSum) -> Self {
        let (atoms, contours) = (Atoms::new(&sum).ok(), Contours::new(sum));
        let (shared, stop) = (SharedContours::default(), Stop::default());
        let (splits, smoothed, merged, second) = (OnceLock::new(), OnceLock::new(), OnceLock::new(), OnceLock::new());
        SumEvaluator { atoms, contours, splits, is_rest: false, smoothed, merged, shared, second, stop }
    }

    /// The same, which answers nothing more once `stop` is set.
    pub fn until(self, stop: &Stop) -> Self {
        SumEvaluator { stop: stop.clone(), ..self }
    }

    /// The sum.
    pub fn sum(&self) -> &LossSum {
        self.contours.sum()
    }

    /// Mean and standard deviation of L under P, in doubles: for searches. Under Q the mean is its negative.
    pub(crate) fn mean_and_deviation_approx(&self) -> (f64, f64) {
        let outline = Outline::new(self.sum().groups());
        (outline.mean(0.0), outline.deviation(0.0))
    }

    /// E[(1 - exp(epsilon - L))_+], the hockey-stick divergence of order exp(epsilon), for epsilon >= 0.
    ///
    /// The relative width is at most 10^-digits unless the answer says that it was not met. Where the answer is close to
    /// one, one minus it is as accurate too, unless a contour of a lattice step above 50 answered or it is below exp(-10^8).
    pub fn hockey_stick(&self, epsilon: &Rational, digits: u32) -> Result<Answer> {
        super::check_epsilon(epsilon)?;
        self.answer(epsilon, digits, Asked::ONCE.until(Limit::of(digits)), None)
    }

    /// The same where one minus an answer next to one is of no interest: what the first engine does not tell, the bound by moments
    /// often does, and at once.
    pub fn delta(&self, epsilon: &Rational, digits: u32) -> Result<Answer> {
        super::check_epsilon(epsilon)?;
        let asked = Asked::ONCE.until(Limit::of(digits));
        if let Some(fewer) = self.digits_of_rest(epsilon, digits)? {
            let answer = self.answer(epsilon, fewer, asked, None)?;
            if answer.value.is_tight(digits) {
                return Ok(Answer { met: true, ..answer });
            }
        }
        self.answer(epsilon, digits, Asked { with_rest: false, ..asked }, None)
    }

    /// The same as one of a few on the way to an epsilon, which share lists and contours.
    pub(crate) fn hockey_stick_for_root(
        &self,
        epsilon: &Rational,
        digits: u32,
        neighbors: &Neighbors,
    ) -> Result<Answer> {
        self.answer(epsilon, digits, Asked::FOR_ROOT.until(neighbors.limit()), Some(neighbors))
    }

    /// The same as one of several next to each other, which share lists and contours; `listed`: lists answered one for about as many digits.
    pub(crate) fn hockey_stick_for_lines(
        &self,
        epsilon: &Rational,
        digits: u32,
        listed: bool,
        neighbors: &Neighbors,
    ) -> Result<Answer> {
        let asked = Asked { listed, ..Asked::FOR_LINES }.until(neighbors.limit());
        self.answer(epsilon, digits, asked, Some(neighbors))
    }

    /// `neighbors`: what questions next to this one share.
    fn answer(&self, epsilon: &Rational, digits: u32, asked: Asked, neighbors: Option<&Neighbors>) -> Result<Answer> {
        let ask = |digits| self.answer_as_asked(epsilon, digits, asked, neighbors);
        if self.is_rest {
            return ask(digits);
        }
        let is_told =
            |answer: &Answer, fewer| answer.value.is_tight(fewer) && (!asked.with_rest || is_rest_tight(answer, fewer));
        self.confirmed(epsilon, digits, to_as_many_as_told(digits, asked.limit, is_told, ask)?, neighbors)
    }

    /// An answer that its second enclosure does not exclude; of one below the requested precision, the intersection of both. A step on the way to
    /// another answer is not looked at where its precision is reached: that answer is.
    fn confirmed(
        &self,
        epsilon: &Rational,
        digits: u32,
        answer: Answer,
        neighbors: Option<&Neighbors>,
    ) -> Result<Answer> {
        const WHAT: &str = "a hockey-stick divergence, which its second enclosure excludes";
        if self.is_rest || neighbors.is_some() && answer.met {
            return Ok(answer);
        }
        self.second_hockey_stick(epsilon)?.met_with(answer, digits, WHAT)
    }

    /// The hockey-stick divergence by means that share no code with those that certify it, for epsilon >= 0: to a few digits, or hardly any.
    pub fn second_hockey_stick(&self, epsilon: &Rational) -> Result<SecondEnclosure> {
        self.second().hockey_stick(epsilon)
    }

    /// The trade-off function by the same means, for 0 <= alpha <= 1.
    pub fn second_tradeoff(&self, alpha: &Rational) -> Result<SecondEnclosure> {
        match SecondEnclosure::at_ends(alpha)? {
            Some(known) => Ok(known),
            None => self.second().tradeoff(alpha),
        }
    }

    fn second(&self) -> &Second {
        self.second.get_or_init(|| Second::new(self.sum()))
    }

    /// The same, of as many digits as are asked for or of hardly any.
    fn answer_as_asked(
        &self,
        epsilon: &Rational,
        digits: u32,
        asked: Asked,
        neighbors: Option<&Neighbors>,
    ) -> Result<Answer> {
        self.stop.check()?;
        neighbors.map_or(Ok(()), |neighbors| neighbors.limit().check())?;
        if self.is_beyond(&self.sum().above(epsilon)) {
            return Ok(Answer::no_loss_as_large());
        }
        if self.is_gaussian() {
            let value = gaussian::hockey_stick(self.sum().rho(), epsilon, digits);
            let met = value.is_tight(digits);
            return Ok(Answer { value, method: Method::ClosedForm, met });
        }
        if let Some(answer) = self.is_nearly_one(epsilon, digits) {
            return Ok(answer);
        }
        let question = Question::hockey_stick(self.sum(), epsilon);
        let search = self.contours.search(&question);
        if let Some(answer) = self.is_below_floats(epsilon, &search) {
            return Ok(answer);
        }
        if let Some(answer) = neighbors.and_then(|neighbors| self.by_neighbors(epsilon, digits, neighbors)) {
            return Ok(answer);
        }
        let period = Contours::period(&search, digits);
        let query = Query::HockeyStick(epsilon.clone());
        if !asked.with_rest
            && !self.is_quick(&query, digits, period)
            && let Some(answer) = self.is_one_but_for_few(&question, digits)?
        {
            return Ok(answer);
        }
        let merged = if self.is_quick(&query, digits, period) {
            None
        } else {
            self.by_merged(epsilon, digits, asked, neighbors)?
        };
        if let Some(answer) = merged.as_ref().filter(|answer| answer.met) {
            return Ok(answer.clone());
        }
        // Where one minus the answer is of no interest, the answer alone is to be as narrow as asked.
        let enough =
            |answer: Answer| Answer { met: answer.met || !asked.with_rest && answer.value.is_tight(digits), ..answer };
        let split = by_splits(&self.splits_for(epsilon, digits, period), epsilon, digits, asked.limit)?.map(enough);
        if let Some(answer) = split.as_ref().filter(|answer| answer.met) {
            return Ok(answer.clone());
        }
        let settled = OnceCell::new();
        let nodes = |budget| {
            let choice =
                self.contours.choose(question.clone(), &self.contours.search(&question).within(budget), digits);
            let choice = choice.ok()?;
            let nodes = self.contours.nodes_of(&choice, digits, budget)?;
            settled.set(choice).ok()?;
            Some(nodes)
        };
        let smoothed = || self.smoothed().and_then(|smoothed| smoothed.seconds(epsilon, digits));
        let order = || self.engines(&query, digits, period, asked, smoothed, nodes);
        let deviation = || self.mean_and_deviation_approx().1;
        let engines = neighbors.map_or_else(order, |neighbors| neighbors.order(epsilon, digits, deviation, order));
        let by_contour = || {
            let choice = match settled.get() {
                Some(choice) => choice.clone(),
                None => self.contours.choose(question.clone(), &search, digits)?,
            };
            let first = |neighbors: &Neighbors| neighbors.first(&self.contours, None, &choice, digits).transpose();
            neighbors.and_then(first).unwrap_or_else(|| self.contours.hockey_stick(choice, digits))
        };
        let was_split = split.is_some();
        let by_atoms = |atoms: &Atoms| {
            let listed = Answer::from(atoms.hockey_stick(epsilon, digits)?);
            // Where the threshold lies in a gap between clusters of losses, no tilt puts masses there.
            let splits = if listed.met || was_split { Vec::new() } else { self.splits_that_serve(epsilon, digits) };
            let split = by_splits(&splits, epsilon, digits, asked.limit)?.map(enough);
            Ok(split.filter(|answer| answer.met).unwrap_or(listed))
        };
        let by = |engine| match (engine, &self.atoms) {
            (Engine::LongSplit, _) => by_splits(&self.quickest_splits(epsilon, digits), epsilon, digits, asked.limit)?
                .map(enough)
                .ok_or(Error::NoLattice),
            (Engine::Smoothed, _) => self.by_smoothing(epsilon, digits, neighbors)?.ok_or(Error::NoLattice),
            (Engine::Atoms, Some(atoms)) => by_atoms(atoms),
            (Engine::Atoms, None) => Err(Error::NoLattice),
            (Engine::Contour, _) => by_contour(),
        };
        let narrowed = |answer| self.narrowed(answer, &question, digits);
        let known = match (merged, split) {
            (Some(merged), Some(split)) => Some(both(Ok(merged), Ok(split), digits)?),
            (merged, split) => merged.or(split),
        };
        let answer = in_turn(
            engines,
            by,
            known,
            |answer| if asked.with_rest { answer } else { narrowed(answer) },
            (digits, asked.limit),
        );
        match answer {
            Ok(answer) if answer.met => Ok(answer),
            answer => narrowed(answer),
        }
    }

    /// The same from lists of all losses, whatever else would do: for comparing engines. `None` where they would take too long.
    pub fn hockey_stick_by_lists(&self, epsilon: &Rational, digits: u32) -> Result<Option<Answer>> {
        self.stop.check()?;
        let affordable =
            |atoms: &&Atoms| atoms.cost(&Query::HockeyStick(epsilon.clone()), digits).seconds <= MOST_SECONDS;
        let atoms = self.atoms.as_ref().filter(affordable);
        atoms.map(|atoms| Ok(atoms.hockey_stick(epsilon, digits)?.into())).transpose()
    }

    /// The same by a contour of the sum with a little continuous noise, whatever else would do: for comparing engines. `None` where it
    /// would take too long.
    pub fn hockey_stick_by_smoothing(&self, epsilon: &Rational, digits: u32) -> Result<Option<Answer>> {
        self.stop.check()?;
        self.by_smoothing(epsilon, digits, None)
    }

    /// The same by a contour that was made for a question next to it, of this sum or with continuous noise; `None` where there is none.
    fn by_neighbors(&self, epsilon: &Rational, digits: u32, neighbors: &Neighbors) -> Option<Answer> {
        let smoothed = || self.smoothed()?.by_neighbors(epsilon, digits, neighbors, &self.stop);
        neighbors.hockey_stick(&self.contours, None, epsilon, digits).or_else(smoothed)
    }

    fn by_smoothing(&self, epsilon: &Rational, digits: u32, neighbors: Option<&Neighbors>) -> Result<Option<Answer>> {
        let Some(smoothed) = self.smoothed() else { return Ok(None) };
        if neighbors.is_some_and(|neighbors| neighbors.is_without_noise(digits)) {
            return Ok(None);
        }
        let answer = match smoothed.hockey_stick(epsilon, digits, neighbors, &self.stop) {
            Err(error @ (Error::Contradiction { .. } | Error::Stopped)) => return Err(error),
            answer => answer.unwrap_or(None),
        };
        if let (None, Some(neighbors)) = (&answer, neighbors) {
            neighbors.without_noise(digits);
        }
        Ok(answer)
    }

    /// The losses strictly between two with their masses under Q, told to about exp(ln_error) in all, where groups are fine; `None` where
    /// that would take too long, or more than so many are found.
    pub(crate) fn losses_between(&self, from: &Rational, to: &Rational, ln_error: f64, most: f64) -> Option<Interval> {
        self.smoothed()?.between(from, to, ln_error, most, &self.stop)
    }

    /// About how many there are.
    pub(crate) fn predicted_between(&self, from: &Rational, to: &Rational, ln_error: f64) -> Option<Crowd> {
        self.smoothed()?.predicted_between(from, to, ln_error)
    }

    /// The sum as the engine takes it that adds continuous noise.
    fn smoothed(&self) -> Option<&Smoothed> {
        self.smoothed.get_or_init(|| Smoothed::new(self.sum()).map(Box::new)).as_deref()
    }

    /// Whether the trade-off function is told by its knots, each of two tails: not where hockey sticks are told by a split, or by
    /// the line because the period of the lattice is too long to sweep.
    pub fn has_knots(&self, digits: u32) -> bool {
        let question = Question::hockey_stick(self.sum(), self.sum().rho());
        let period = Contours::period(&self.contours.search(&question), digits);
        !period.is_long() && self.splits_for(self.sum().rho(), digits, period).is_empty()
    }

    /// Whether the profile is a staircase, or nearly one.
    pub(crate) fn has_steps(&self) -> bool {
        split::has_steps(self.sum())
    }

    /// The same, quicker where many are asked for: by a contour that neighboring questions share, where one serves. The answer
    /// has other last digits, and is the same whatever else is asked. Not where one minus an answer close to one has to be
    /// accurate, too.
    pub fn hockey_stick_of_many(&self, epsilon: &Rational, digits: u32) -> Result<Answer> {
        super::check_epsilon(epsilon)?;
        self.one_of_many(epsilon, digits, None)
    }

    fn one_of_many(&self, epsilon: &Rational, digits: u32, neighbors: Option<&Neighbors>) -> Result<Answer> {
        self.stop.check()?;
        let groups = self.sum().groups();
        let gaussian = groups.iter().all(|group| !matches!(group.law, Law::DiscreteLaplace { .. }));
        let split = || {
            // Known to have none, as most sums that were asked before.
            if self.splits.get().is_some_and(Vec::is_empty) {
                return false;
            }
            let question = Question::hockey_stick(self.sum(), epsilon);
            let period = Contours::period(&self.contours.search(&question), digits);
            !self.splits_for(epsilon, digits, period).is_empty()
        };
        if digits <= shared::MOST_DIGITS && gaussian && !self.is_gaussian() && !split() {
            let worth = |epsilon: &Rational| {
                let question = Question::hockey_stick(self.sum(), epsilon);
                let period = Contours::period(&self.contours.search(&question), digits);
                let nodes = |budget| {
                    let search = self.contours.search(&question).within(budget);
                    let choice = self.contours.lattice_or_line(question.clone(), &search, digits).ok()?;
                    self.contours.nodes_of(&choice, digits, budget)
                };
                let smoothed = || self.smoothed().and_then(|smoothed| smoothed.seconds(epsilon, digits));
                let query = Query::HockeyStick(epsilon.clone());
                self.engines(&query, digits, period, Asked::ONCE, smoothed, nodes).first() == Some(&Engine::Contour)
            };
            // Whatever hinders a contour that is shared, one's own may do.
            if let Ok(Some(answer)) = self.shared.hockey_stick(&self.contours, epsilon, digits, worth)
                && answer.met
            {
                return self.confirmed(epsilon, digits, answer, neighbors);
            }
        }
        let limit = neighbors.map_or_else(|| Limit::of(digits), Neighbors::limit);
        self.answer(epsilon, digits, Asked::FOR_MANY.until(limit), neighbors)
    }

    /// The same by a contour, whatever the lists would cost.
    #[cfg(test)]
    pub(crate) fn by_contour(&self, epsilon: &Rational, digits: u32) -> Result<Answer> {
        let question = Question::hockey_stick(self.sum(), epsilon);
        let search = self.contours.search(&question);
        self.contours.hockey_stick(self.contours.choose(question, &search, digits)?, digits)
    }

    /// P[L >= l0] for the first lattice value l0 >= z; refused where a term is continuous.
    pub fn upper_tail(&self, z: &Rational, digits: u32) -> Result<Answer> {
        self.tail(Kernel::UpperTail, z, digits)
    }

    /// E[exp(-L); L >= l0] for the first lattice value l0 >= z: the probability of the tail under the other law of
    /// the pair. Refused where a term is continuous.
    pub fn tilted_tail(&self, z: &Rational, digits: u32) -> Result<Answer> {
        self.tail(Kernel::TiltedTail, z, digits)
    }

    fn tail(&self, kernel: Kernel, z: &Rational, digits: u32) -> Result<Answer> {
        self.stop.check()?;
        if self.is_beyond(z) {
            return Ok(Answer::no_loss_as_large());
        }
        let question = Question::tail(kernel, self.sum(), z)?;
        let query =
            if kernel == Kernel::UpperTail { Query::UpperTail(z.clone()) } else { Query::TiltedTail(z.clone()) };
        let period = Contours::period(&self.contours.search(&question), digits);
        let nodes = |budget| self.contours.nodes(&question, digits, budget);
        let engines = self.engines(&query, digits, period, Asked::ONCE, || None, nodes);
        let by = |engine| match (engine, &self.atoms) {
            (Engine::Atoms, Some(atoms)) if kernel == Kernel::UpperTail => Ok(atoms.upper_tail(z, digits)?.into()),
            (Engine::Atoms, Some(atoms)) => Ok(atoms.tilted_tail(z, digits)?.into()),
            // These tell hockey sticks only.
            (Engine::LongSplit | Engine::Smoothed | Engine::Atoms, _) => Err(Error::NoLattice),
            (Engine::Contour, _) => Ok(self.contours.by_question(&question, digits)?.clamp(0.0, 1.0)),
        };
        in_turn(engines, by, None, |answer| answer, (digits, Limit::of(digits)))
    }

    /// The trade-off function at the type I error alpha, between 0 and 1, in closed form where all noise is continuous, else from
    /// lists of atoms; `None` if a term is continuous or the lists would be too long. `at_once`: also if tails by a contour do as
    /// well, because the whole period of fine losses is short or the lists are not.
    pub fn tradeoff(&self, alpha: &Rational, digits: u32, at_once: bool) -> Result<Option<Answer>> {
        self.stop.check()?;
        if self.is_gaussian() {
            let value = gaussian::tradeoff(self.sum().rho(), alpha, digits)?;
            return Ok(Some(Answer { met: value.is_tight(digits), value, method: Method::ClosedForm }));
        }
        let Some(atoms) = &self.atoms else { return Ok(None) };
        let question = Question::tail(Kernel::UpperTail, self.sum(), self.sum().rho())?;
        if at_once && !self.is_coarse() && Contours::period(&self.contours.search(&question), digits).is_short() {
            return Ok(None);
        }
        let most = if at_once { AT_ONCE_SECONDS } else { MOST_SECONDS };
        if atoms.cost(&Query::Tradeoff(alpha.clone()), digits).seconds > most {
            return Ok(None);
        }
        tradeoff_by(atoms, alpha, digits)
    }

    /// The trade-off function from lists of atoms where these would tell supporting lines at this epsilon to as many digits; `None` elsewhere.
    pub(crate) fn tradeoff_in_place_of_lines(
        &self,
        alpha: &Rational,
        epsilon: &Rational,
        digits: u32,
        neighbors: &Neighbors,
    ) -> Result<Option<Answer>> {
        let Some(atoms) = &self.atoms else { return Ok(None) };
        self.stop.check()?;
        let question = Question::hockey_stick(self.sum(), epsilon);
        let search = self.contours.search(&question);
        let period = Contours::period(&search, digits);
        let nodes = |budget| self.contours.nodes(&question, digits, budget);
        let smoothed = || self.smoothed().and_then(|smoothed| smoothed.seconds(epsilon, digits));
        let query = Query::HockeyStick(epsilon.clone());
        let order = || self.engines(&query, digits, period, Asked::FOR_LINES, smoothed, nodes);
        let deviation = || self.mean_and_deviation_approx().1;
        let is_listed = self.splits_for(epsilon, digits, period).is_empty()
            && neighbors.order(epsilon, digits, deviation, order).first() == Some(&Engine::Atoms);
        if is_listed { tradeoff_by(atoms, alpha, digits) } else { Ok(None) }
    }

    /// Whether losses are so far apart that few of them make up an answer: lists then tell it at once, and contours lose it among the others.
    fn is_coarse(&self) -> bool {
        const COARSE: u32 = 2;
        self.sum().step().is_some_and(|step| *step > COARSE)
    }

    /// Whether all noise is continuous: then the closed form of Gaussian differential privacy is exact.
    fn is_gaussian(&self) -> bool {
        self.sum().groups().iter().all(|group| matches!(group.law, Law::Gaussian { .. }))
    }

    /// Whether no loss is as large as z: without Gaussian terms the losses end at the offset.
    fn is_beyond(&self, z: &Rational) -> bool {
        *self.sum().rho() == 0 && z > self.sum().offset()
    }
}

/// Whether one minus an answer next to one is known to so many digits.
fn is_rest_tight(answer: &Answer, digits: u32) -> bool {
    *answer.value.upper() < 0.5
        || Enclosure::double(1.0, answer.value.lower().prec()).sub(&answer.value).is_tight(digits)
}

/// The trade-off function from lists of atoms; `None` where these do not fit after all.
fn tradeoff_by(atoms: &Atoms, alpha: &Rational, digits: u32) -> Result<Option<Answer>> {
    match atoms.tradeoff(alpha, digits) {
        Ok(listed) => Ok(Some(listed.into())),
        Err(error) if error.is_beyond_reach() => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{loss::law::Group, numeric::rational::parse};

    /// What is not told to many digits is told to as many as if fewer were asked for.
    #[test]
    fn more_digits_do_not_tell_less() {
        let group = |law, shift, copies| Group { law, shift, copies };
        let (laplace, gaussian) = (
            |epsilon| Law::DiscreteLaplace { epsilon: parse(epsilon).unwrap() },
            |sigma2| Law::DiscreteGaussian { sigma2: parse(sigma2).unwrap() },
        );
        let groups = [
            group(laplace("405/4099"), 1, 999),
            group(laplace("1/161"), 3, 999),
            group(gaussian("2017623520/4099"), 1, 1),
            group(gaussian("10126545/5"), 1, 7),
        ];
        let (evaluator, epsilon) = (LossSum::new(groups).unwrap().evaluator(), parse("0.00143066017371").unwrap());
        let [of_few, of_many] = [10, 20].map(|digits| evaluator.hockey_stick(&epsilon, digits).unwrap());
        assert!(of_few.met && of_many.value.is_tight(10), "{of_few:?} {of_many:?}");
        assert!(of_few.value.overlaps(&of_many.value) && of_many.met == of_many.value.is_tight(20), "{of_many:?}");
    }

    /// Lists that turn out not to fit leave the answer to others; what is wrong with a question stays wrong.
    #[test]
    fn lists_that_do_not_fit_tell_nothing() {
        let law = Law::DiscreteGaussian { sigma2: parse("40").unwrap() };
        let sum = LossSum::new([Group { law, shift: 1, copies: 30 }]).unwrap();
        let by = |most_bytes, alpha| tradeoff_by(&Atoms::within(&sum, most_bytes).unwrap(), &parse(alpha).unwrap(), 12);
        assert!(by(1e8, "0.01").unwrap().unwrap().met);
        assert!(by(1e3, "0.01").unwrap().is_none());
        assert!(matches!(by(1e3, "1.01"), Err(Error::OutOfRange { .. })));
    }
}
