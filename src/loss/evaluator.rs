//! The evaluator: which engine answers a question, and all that is remembered from question to question.
//!
//! A [`LossSum`] and a [`Family`] are plain values. An evaluator is made from one of them, answers any number of
//! questions, and is dropped. What it remembers saves time only: the answer to a question is the same to the last digit
//! whatever was asked before or is asked beside it on other threads (see the documentation of `sieve`).
//!
//! One sum is answered by a contour or by lists of its atoms. The contour serves where all nodes of a period are quickly
//! summed, or where the lists would be longer than the contour takes nodes: many groups. The lists serve where groups are
//! few or losses bounded, because there the characteristic function does not decay and the contour has no end. Both costs
//! are predicted, and an engine that does not meet the asked width is followed by the other: both enclose the truth, and so
//! does what they have in common.
//!
//! The largest over a family is answered by the contour that all its pairs share; where that one does not tell the largest
//! sharply enough, the pairs that may attain it are answered one by one.

use std::{
    cell::OnceCell,
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use rayon::prelude::*;
use rug::{Float, Rational};

use super::{
    answer::{Answer, Method, Pair},
    atoms::{Atoms, Query},
    contour::{Contours, Period},
    family::{CommonContour, Family},
    gaussian,
    integrand::Product,
    law::Law,
    question::{Kernel, Question},
    sum::LossSum,
    theta,
};
use crate::{
    error::{Error, Result},
    numeric::{Enclosure, ball::ComplexBall, field::Field},
};

/// How many pairs are answered one by one where the common contour does not tell the largest sharply enough.
const MOST_CONTENDERS: usize = 64;

/// Answers questions about the hockey sticks of one sum, or about the largest over a family.
#[derive(Debug)]
pub enum Evaluator {
    /// Of one sum.
    Sum(Box<SumEvaluator>),
    /// Of a family: the largest over its units.
    Family(FamilyEvaluator),
}

impl Evaluator {
    /// E[(1 - exp(epsilon - L))_+], the hockey-stick divergence of order exp(epsilon), for epsilon >= 0: that of the sum,
    /// or the largest of the family. The relative width is at most 10^-digits unless the answer says that it was not met.
    pub fn hockey_stick(&self, epsilon: &Rational, digits: u32) -> Result<Answer> {
        match self {
            Evaluator::Sum(sum) => sum.hockey_stick(epsilon, digits),
            Evaluator::Family(family) => family.hockey_stick(epsilon, digits),
        }
    }

    /// Its logarithm in doubles: about 13 digits, an approximation without proof.
    pub fn ln_hockey_stick_approx(&self, epsilon: &Rational) -> Result<f64> {
        match self {
            Evaluator::Sum(sum) => sum.ln_hockey_stick_approx(epsilon),
            Evaluator::Family(family) => family.ln_hockey_stick_approx(epsilon),
        }
    }
}

/// Lists that take no longer than this are preferred to a contour whose period is not short.
const QUICK_SECONDS: f64 = 0.05;
/// Lists that are predicted to take longer than this are not made.
const MOST_SECONDS: f64 = 3.0;
/// What a node of a contour takes for each group, about.
const SECONDS_PER_FACTOR: f64 = 2e-5;

/// Answers questions about one sum.
#[derive(Debug)]
pub struct SumEvaluator {
    contours: Contours,
    /// `None` if a term is continuous.
    atoms: Option<Atoms>,
}

/// What answers a question about one sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Engine {
    Contour,
    Atoms,
}

impl LossSum {
    /// An evaluator of this sum, which remembers nothing yet.
    pub fn evaluator(&self) -> SumEvaluator {
        SumEvaluator::new(self.clone())
    }

    /// Encloses ln E[exp(x L)] = rho (x + x^2) + ln of the thetas, for a real x.
    pub fn ln_mgf(&self, x: &Rational, bits: u32) -> Enclosure {
        let product = Product::<ComplexBall>::new(self, x, &Rational::new(), bits + 16).at(0).re().enclosure();
        let total = Enclosure::rational(&self.concentrated(x), bits + 64).add(&product.ln());
        self.groups().iter().fold(total, |sum, group| sum.add(&theta::ln_scale(group, x, bits + 64)))
    }
}

impl SumEvaluator {
    /// An evaluator that remembers nothing yet.
    pub fn new(sum: LossSum) -> Self {
        SumEvaluator { atoms: Atoms::new(&sum).ok(), contours: Contours::new(sum) }
    }

    /// The sum.
    pub fn sum(&self) -> &LossSum {
        self.contours.sum()
    }

    /// E[(1 - exp(epsilon - L))_+], the hockey-stick divergence of order exp(epsilon), for epsilon >= 0.
    ///
    /// The relative width is at most 10^-digits unless the answer says that it was not met. Where the answer is close to
    /// one, one minus it is as accurate too, unless a contour of a lattice step above 50 answered.
    pub fn hockey_stick(&self, epsilon: &Rational, digits: u32) -> Result<Answer> {
        if self.is_beyond(&self.sum().above(epsilon)) {
            return Ok(Answer::no_loss_as_large());
        }
        if self.is_gaussian() {
            let value = gaussian::hockey_stick(self.sum().rho(), epsilon, digits);
            let met = value.is_tight(digits);
            return Ok(Answer { value, method: Method::ClosedForm, met });
        }
        let question = Question::hockey_stick(self.sum(), epsilon);
        let search = self.contours.search(&question);
        let period = Contours::period(&search, digits);
        let choice = OnceCell::new();
        let choose = || choice.get_or_init(|| self.contours.choose(question.clone(), &search, digits));
        let nodes = || self.contours.nodes_of(choose().as_ref().ok()?, digits);
        let engine = self.engine(&Query::HockeyStick(epsilon.clone()), digits, period, nodes);
        let by_contour = || self.contours.hockey_stick(choose().clone()?, digits);
        let by_atoms = |atoms: &Atoms| Ok(atoms.hockey_stick(epsilon, digits)?.into());
        self.by_either(engine, by_contour, by_atoms, digits)
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
        if self.is_beyond(z) {
            return Ok(Answer::no_loss_as_large());
        }
        let question = Question::tail(kernel, self.sum(), z)?;
        let query =
            if kernel == Kernel::UpperTail { Query::UpperTail(z.clone()) } else { Query::TiltedTail(z.clone()) };
        let period = Contours::period(&self.contours.search(&question), digits);
        let engine = self.engine(&query, digits, period, || self.contours.nodes(&question, digits));
        let by_contour = || Ok(self.contours.by_question(&question, digits)?.clamp(0.0, 1.0));
        let by_atoms = |atoms: &Atoms| {
            let listed = match kernel {
                Kernel::UpperTail => atoms.upper_tail(z, digits)?,
                Kernel::TiltedTail | Kernel::HockeyStick | Kernel::Complement => atoms.tilted_tail(z, digits)?,
            };
            Ok(listed.into())
        };
        self.by_either(engine, by_contour, by_atoms, digits)
    }

    /// The trade-off function at the type I error alpha, between 0 and 1, in closed form where all noise is continuous, else from
    /// lists of atoms; `None` if a term is continuous or the lists would be too long. `at_once`: also if tails by a contour do as well, because the whole period is short or
    /// the lists are not.
    pub fn tradeoff(&self, alpha: &Rational, digits: u32, at_once: bool) -> Result<Option<Answer>> {
        if self.is_gaussian() {
            let value = gaussian::tradeoff(self.sum().rho(), alpha, digits)?;
            return Ok(Some(Answer { met: value.is_tight(digits), value, method: Method::ClosedForm }));
        }
        let Some(atoms) = &self.atoms else { return Ok(None) };
        let question = Question::tail(Kernel::UpperTail, self.sum(), self.sum().rho())?;
        if at_once && Contours::period(&self.contours.search(&question), digits) == Period::Short {
            return Ok(None);
        }
        let most = if at_once { QUICK_SECONDS } else { MOST_SECONDS };
        if atoms.cost(&Query::Tradeoff(alpha.clone()), digits).seconds > most {
            return Ok(None);
        }
        Ok(Some(atoms.tradeoff(alpha, digits)?.into()))
    }

    /// ln of the hockey-stick divergence, in doubles: about 13 digits, an approximation without proof.
    pub fn ln_hockey_stick_approx(&self, epsilon: &Rational) -> Result<f64> {
        /// What doubles hold.
        const DIGITS: u32 = 13;
        if self.is_beyond(&self.sum().above(epsilon)) {
            return Ok(f64::NEG_INFINITY);
        }
        if self.is_gaussian() {
            return Ok(gaussian::ln_hockey_stick_approx(self.sum().rho(), epsilon));
        }
        let mut question = Question::hockey_stick(self.sum(), epsilon);
        let cost = |atoms: &Atoms| atoms.cost(&Query::HockeyStick(epsilon.clone()), DIGITS).seconds;
        let mut search = self.contours.search(&question);
        let period = Contours::period(&search, DIGITS);
        let atoms = self.atoms.as_ref().filter(|_| period != Period::Short);
        let atoms = atoms.map(|atoms| (atoms, cost(atoms)));
        let listed = |most: f64| {
            let affordable = atoms.filter(|(_, seconds)| *seconds <= most);
            affordable.and_then(|(atoms, _)| atoms.ln_hockey_stick_approx(epsilon).ok())
        };
        if let Some(ln) = listed(QUICK_SECONDS) {
            return Ok(ln);
        }
        if period == Period::Long {
            question = question.on_line();
            search = self.contours.search(&question);
        }
        let by_contour = match self.contours.ln_approx(&question, search) {
            Err(Error::Unsweepable { .. }) if question.step.is_some() => {
                let line = question.on_line();
                self.contours.ln_approx(&line, self.contours.search(&line))
            }
            answer => answer,
        };
        by_contour.or_else(|error| listed(MOST_SECONDS).ok_or(error))
    }

    /// ln of E[exp(-L); L >= z], in doubles: an approximation without proof.
    pub fn ln_tilted_tail_approx(&self, z: &Rational) -> Result<f64> {
        if self.is_beyond(z) {
            return Ok(f64::NEG_INFINITY);
        }
        let question = Question::tail(Kernel::TiltedTail, self.sum(), z)?;
        self.contours.ln_approx(&question, self.contours.search(&question))
    }

    /// The engine of a question whose contour has this period; `nodes` tells how many nodes it takes, where that is known.
    fn engine(&self, query: &Query, digits: u32, period: Period, nodes: impl Fn() -> Option<i64>) -> Engine {
        let Some(atoms) = self.atoms.as_ref().filter(|_| period != Period::Short) else { return Engine::Contour };
        let seconds = atoms.cost(query, digits).seconds;
        if seconds > MOST_SECONDS {
            return Engine::Contour;
        }
        let of_contour = |nodes: i64| nodes as f64 * self.sum().groups().len() as f64 * SECONDS_PER_FACTOR;
        if seconds <= QUICK_SECONDS || nodes().is_none_or(|nodes| of_contour(nodes) > seconds) {
            Engine::Atoms
        } else {
            Engine::Contour
        }
    }

    /// The answer of the engine, and of the other one if it does not meet the asked width. Both enclose the truth.
    fn by_either(
        &self,
        engine: Engine,
        by_contour: impl Fn() -> Result<Answer>,
        by_atoms: impl Fn(&Atoms) -> Result<Answer>,
        digits: u32,
    ) -> Result<Answer> {
        let (first, second) = match (&self.atoms, engine) {
            (None, _) => return by_contour(),
            (Some(atoms), Engine::Atoms) => match by_atoms(atoms) {
                Ok(answer) if answer.met => return Ok(answer),
                first => (first, by_contour()),
            },
            (Some(atoms), Engine::Contour) => match by_contour() {
                Ok(answer) if answer.met => return Ok(answer),
                first => (first, by_atoms(atoms)),
            },
        };
        let (first, second) = match (first, second) {
            (Ok(first), Ok(second)) => (first, second),
            (Ok(answer), Err(_)) | (Err(_), Ok(answer)) => return Ok(answer),
            (Err(error), Err(_)) => return Err(error),
        };
        let value = first.value.meet(&second.value).ok_or(Error::Contradiction { what: "a certified value" })?;
        let width = |answer: &Answer| Float::with_val(64, answer.value.upper() - answer.value.lower());
        let method = if width(&second) < width(&first) { second.method } else { first.method };
        Ok(Answer { met: value.is_tight(digits), value, method })
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

/// Answers questions about the largest hockey stick of a family.
#[derive(Debug)]
pub struct FamilyEvaluator {
    family: Arc<Family>,
    common: CommonContour,
    /// The evaluators of the units that were needed by themselves.
    alone: Mutex<HashMap<Pair, Arc<SumEvaluator>>>,
}

impl FamilyEvaluator {
    /// An evaluator that remembers nothing yet.
    pub fn new(family: Arc<Family>) -> Self {
        FamilyEvaluator { common: CommonContour::new(Arc::clone(&family)), family, alone: Mutex::default() }
    }

    /// The evaluator of one unit.
    pub fn unit(&self, pair: Pair) -> Result<Arc<SumEvaluator>> {
        let mut alone = self.alone.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(evaluator) = alone.get(&pair) {
            return Ok(Arc::clone(evaluator));
        }
        let evaluator = Arc::new(SumEvaluator::new(self.family.sum(pair)?));
        alone.insert(pair, Arc::clone(&evaluator));
        Ok(evaluator)
    }

    /// The largest hockey-stick divergence of all units, with a relative width of 10^-digits unless the answer says that
    /// it was not met.
    pub fn hockey_stick(&self, epsilon: &Rational, digits: u32) -> Result<Answer> {
        let Some((largest, contenders)) = self.common.by_one_contour(epsilon, digits)? else {
            return largest_of(&self.family.units(), |pair| self.unit(pair), epsilon, digits);
        };
        let met = largest.value.is_tight(digits);
        let (count, method) = (contenders.len(), Box::new(Method::Contour(largest.proof)));
        let by_common = Answer {
            value: largest.value,
            method: Method::Worst { pair: largest.pair, contenders: count, method },
            met,
        };
        if met || count > MOST_CONTENDERS {
            return Ok(by_common);
        }
        let refined = largest_of(&contenders, |pair| self.unit(pair), epsilon, digits)?;
        let width = |x: &Enclosure| Float::with_val(64, x.upper() - x.lower());
        let narrower = width(&refined.value) < width(&by_common.value);
        Ok(if refined.met || narrower { refined } else { by_common })
    }

    /// The same for many more digits: the common contour tells which units may be the largest, and each of
    /// them is answered by itself, however many they are.
    pub fn hockey_stick_one_by_one(&self, epsilon: &Rational, digits: u32) -> Result<Answer> {
        // Many units may need a sweep each, which would fill the memory.
        let forgotten = |pair: Pair| Ok(Arc::new(SumEvaluator::new(self.family.sum(pair)?)));
        match self.common.by_one_contour(epsilon, digits)? {
            Some((largest, contenders)) if largest.value.is_tight(digits) => {
                let method = Box::new(Method::Contour(largest.proof));
                let method = Method::Worst { pair: largest.pair, contenders: contenders.len(), method };
                Ok(Answer { value: largest.value, method, met: true })
            }
            Some((_, contenders)) => largest_of(&contenders, forgotten, epsilon, digits),
            None => largest_of(&self.family.units(), forgotten, epsilon, digits),
        }
    }

    /// Every unit's hockey stick, to about the asked digits.
    pub fn all(&self, epsilon: &Rational, digits: u32) -> Result<Vec<(Pair, Enclosure)>> {
        if let Some(all) = self.common.all_by_one_contour(epsilon, digits)? {
            return Ok(all);
        }
        let each = |pair: &Pair| Ok((*pair, self.unit(*pair)?.hockey_stick(epsilon, digits)?.value));
        self.family.units().par_iter().map(each).collect()
    }

    /// ln of the largest of all units in doubles, an approximation without proof.
    pub fn ln_hockey_stick_approx(&self, epsilon: &Rational) -> Result<f64> {
        if let Some(largest) = self.common.ln_largest_approx(epsilon)? {
            return Ok(largest);
        }
        let each = |pair: &Pair| self.unit(*pair)?.ln_hockey_stick_approx(epsilon);
        let all: Vec<f64> = self.family.units().par_iter().map(each).collect::<Result<_>>()?;
        Ok(all.into_iter().fold(f64::NEG_INFINITY, f64::max))
    }
}

/// The largest of the units asked for, each by itself. The first of those with the greatest lower end is named.
fn largest_of(
    units: &[Pair],
    unit: impl Fn(Pair) -> Result<Arc<SumEvaluator>> + Sync,
    epsilon: &Rational,
    digits: u32,
) -> Result<Answer> {
    let each = |pair: &Pair| Ok((*pair, unit(*pair)?.hockey_stick(epsilon, digits)?));
    let answers = units.par_iter().map(each).collect::<Result<Vec<_>>>()?;
    let ahead = |best: &Answer, next: &Answer| next.value.lower() > best.value.lower();
    let best = answers.iter().reduce(|best, next| if ahead(&best.1, &next.1) { next } else { best });
    let (pair, best) = best.ok_or(Error::EmptyComposition)?;
    let value = answers.iter().fold(best.value.clone(), |value, (_, answer)| value.max(&answer.value));
    let contenders = answers.iter().filter(|(_, answer)| answer.value.upper() >= value.lower()).count();
    let met = value.is_tight(digits) || answers.iter().all(|(_, answer)| answer.met);
    let method = Method::Worst { pair: *pair, contenders, method: Box::new(best.method.clone()) };
    Ok(Answer { value, method, met })
}

#[cfg(test)]
mod tests {
    use super::{
        super::law::{Group, Law},
        *,
    };
    use crate::loss::family::Units;
    use crate::numeric::rational::parse;

    fn gaussians(list: &[(&str, u64)]) -> Vec<Group> {
        let law = |sigma2: &str| Law::DiscreteGaussian { sigma2: parse(sigma2).unwrap() };
        list.iter().map(|(sigma2, copies)| Group { law: law(sigma2), shift: 1, copies: *copies }).collect()
    }

    /// Every pair against its own sum, on lattices of different steps and on the line.
    #[test]
    fn pairs_agree_with_their_sums_one_by_one() {
        for members in [
            // 1 / sigma2: ten of 1/5; four of 1/2; three of 1/3 and five of 1/5: rho 1 each, steps 1/5, 1/2, 1/15.
            vec![gaussians(&[("5", 10)]), gaussians(&[("2", 4)]), gaussians(&[("3", 3), ("5", 5)])],
            // Denominators that no sweep of a period can settle.
            vec![gaussians(&[("40990001/4097", 5)]), gaussians(&[("40990001/4099", 3), ("40990001/4094", 2)])],
        ] {
            let family = Arc::new(Family::new(members.clone(), Units::Pairs).unwrap());
            let evaluator = FamilyEvaluator::new(Arc::clone(&family));
            for epsilon in ["0.3", "2", "9"] {
                let epsilon = parse(epsilon).unwrap();
                let answers = evaluator.all(&epsilon, 10).unwrap();
                assert_eq!(answers.len(), members.len() * (members.len() + 1) / 2);
                let mut largest = f64::NEG_INFINITY;
                for ((p, q), value) in answers {
                    let alone = LossSum::new(members[p].iter().chain(&members[q]).cloned()).unwrap();
                    let alone = SumEvaluator::new(alone).hockey_stick(&epsilon, 12).unwrap().value;
                    assert!(value.overlaps(&alone), "{p} {q} {epsilon} {value:?} {alone:?}");
                    largest = largest.max(value.ln().approximate());
                }
                let ln = evaluator.ln_hockey_stick_approx(&epsilon).unwrap();
                let certified = evaluator.hockey_stick(&epsilon, 10).unwrap();
                assert!(certified.met && (certified.value.ln().approximate() - largest).abs() < 1e-9, "{certified:?}");
                assert!((ln - largest).abs() < 1e-9 * largest.abs().max(1.0), "{epsilon} {ln} {largest}");
            }
        }
    }

    /// Two members of equal rho whose lattices are far too fine to sweep: all pairs on the line.
    #[test]
    fn fine_lattices_take_the_line() {
        let members = vec![
            gaussians(&[("40990001/4097", 4097), ("40990001/4099", 4099)]),
            gaussians(&[("40990001/8196", 4098), ("40990001/2", 1)]),
        ];
        let rho = |member: &Vec<Group>| LossSum::new(member.clone()).unwrap().rho().clone();
        // 4097^2 + 4099^2 = 8196 x 4098 + 2
        assert_eq!(rho(&members[0]), rho(&members[1]));
        let family = Arc::new(Family::new(members.clone(), Units::Pairs).unwrap());
        let evaluator = FamilyEvaluator::new(Arc::clone(&family));
        let epsilon = parse("3").unwrap();
        assert!(family.shares_no_step());
        for ((p, q), value) in evaluator.all(&epsilon, 6).unwrap() {
            let alone = LossSum::new(members[p].iter().chain(&members[q]).cloned()).unwrap();
            let alone = SumEvaluator::new(alone).hockey_stick(&epsilon, 8).unwrap().value;
            assert!(value.overlaps(&alone) && value.is_tight(5), "{p} {q} {value:?} {alone:?}");
        }
    }

    /// The same question has the same last digit, whatever was asked before, beside it, or on how many threads: on a
    /// lattice, on the line, and for the worst of a family.
    #[test]
    fn memory_and_threads_change_no_digit() {
        let bits = |answer: Result<Answer>| answer.map(|answer| (answer.value, answer.met)).unwrap();
        let epsilons = ["0.1", "2", "2.5", "9", "14"].map(|text| parse(text).unwrap());
        let lattice = gaussians(&[("500/73", 10), ("2500/137", 6)]);
        let line = gaussians(&[("40990001/4097", 3000), ("40990001/4099", 3000)]);
        for groups in [&lattice, &line] {
            let sum = LossSum::new(groups.clone()).unwrap();
            let fresh = |epsilon: &Rational| bits(sum.evaluator().hockey_stick(epsilon, 9));
            let evaluator = sum.evaluator();
            for (before, digits) in epsilons.iter().rev().zip([6, 12, 9, 3, 11]) {
                evaluator.hockey_stick(before, digits).unwrap();
                evaluator.ln_hockey_stick_approx(before).unwrap();
            }
            let shared: Vec<_> = epsilons.par_iter().map(|epsilon| bits(evaluator.hockey_stick(epsilon, 9))).collect();
            assert_eq!(shared, epsilons.iter().map(fresh).collect::<Vec<_>>());
        }
        let family = Arc::new(Family::new(vec![lattice, gaussians(&[("5", 10)])], Units::Pairs).unwrap());
        let asked = FamilyEvaluator::new(Arc::clone(&family));
        asked.hockey_stick(&epsilons[3], 12).unwrap();
        asked.all(&epsilons[0], 5).unwrap();
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        for epsilon in &epsilons {
            let alone = one.install(|| bits(FamilyEvaluator::new(Arc::clone(&family)).hockey_stick(epsilon, 10)));
            assert_eq!(bits(asked.hockey_stick(epsilon, 10)), alone, "{epsilon}");
        }
    }

    /// Members of unequal rho, bounded losses and members alone are answered one by one.
    #[test]
    fn members_that_share_no_contour_are_compared_all_the_same() {
        let laplace = Group { law: Law::DiscreteLaplace { epsilon: parse("1").unwrap() }, shift: 1, copies: 1 };
        let unequal = vec![gaussians(&[("5", 10)]), gaussians(&[("5", 9)])];
        let bounded = vec![gaussians(&[("5", 10)]), [gaussians(&[("5", 9)]), vec![laplace]].concat()];
        let epsilon = parse("2").unwrap();
        for (members, units) in [(&unequal, Units::Pairs), (&bounded, Units::Pairs), (&bounded, Units::Single)] {
            let family = Arc::new(Family::new(members.clone(), units).unwrap());
            let evaluator = FamilyEvaluator::new(Arc::clone(&family));
            let largest = evaluator.hockey_stick(&epsilon, 10).unwrap();
            let all = evaluator.all(&epsilon, 10).unwrap();
            assert_eq!(all.len(), if units == Units::Pairs { 3 } else { 2 });
            let (pair, value) = all.iter().max_by(|a, b| a.1.lower().total_cmp(b.1.lower())).unwrap();
            assert!(
                largest.met && largest.pair() == Some(*pair) && largest.value.overlaps(value),
                "{largest:?} {value:?}"
            );
            let sum = SumEvaluator::new(family.sum(*pair).unwrap()).hockey_stick(&epsilon, 12).unwrap();
            assert!(largest.value.overlaps(&sum.value));
        }
        assert!(Family::new(Vec::new(), Units::Pairs).is_err());
    }
}
