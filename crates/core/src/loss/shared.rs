//! Contours that requests close to one another share: a privacy profile of many points.
//!
//! On a contour, only the phase and two factors of the kernel depend on epsilon (`Bracket::parts`). With P the turn of the phase from node to node,
//! the rule's sum is
//!
//! n1 sum over j of Re(P^j X_j) + n2 exp(-c h) sum over j of Re(P^j Y_j)
//!
//! on a lattice, and the first sum alone, without n1, on an unbounded contour. X_j and Y_j hold the theta functions, which take nearly all of the
//! time, and are computed once for each cell of a fixed grid ([`cells`](super::cells)). So an answer does not depend on what else is requested, but
//! has other last digits than that of a contour through its own saddle point.
//!
//! The sums are in two doubles, with bounds on their errors (`near`).

use rayon::prelude::*;
use rug::{Float, Rational, float::Round};

use super::{
    answer::{Answer, ContourProof},
    bounds,
    cells::{self, ByCell, Cell},
    contour::{Contours, hockey_stick, ln_share, more_nats},
    integrand::Product,
    near::{self, Near, NearSum, Powers},
    plan::Plan,
    question::{self, Bracket, Question},
    sum::LossSum,
};
use crate::{
    error::Result,
    loss::engine::machine,
    numeric::{
        effort::{self, Effort},
        enclosure::Enclosure,
        field::{Field, Real},
        phase::ExactPhase,
        rational,
        twofold::{ComplexTwofold, TwofoldBall},
        upper_bound::UpperBound,
    },
};

/// Requests for more digits take a contour of their own.
pub(crate) const MOST_DIGITS: u32 = 20;

/// Contours of more nodes are not shared.
const MOST_NODES: i64 = 2_000;

/// One processor evaluates at least this many nodes.
const PART: usize = 64;

/// The precision of the factors that multiply the sums.
const BITS: u32 = 120;

/// The contours of a sum that requests have shared so far.
#[derive(Debug, Default)]
pub(crate) struct SharedContours {
    known: ByCell<SharedContour>,
}

/// A contour with the values of the factors at its nodes.
#[derive(Debug)]
pub(crate) struct SharedContour {
    plan: Plan,
    /// exp(-c h) on a lattice; `None` on an unbounded contour.
    modulus: Option<TwofoldBall>,
    /// The truncation error of the plan.
    left_out: Option<UpperBound>,
    lobes: Vec<Lobe>,
    /// ln of the constant that the factors omit.
    scale: Enclosure,
    /// Whether its bounds are those of this sum alone, not of all sums of its rho.
    of_itself: bool,
}

/// Consecutive nodes.
#[derive(Debug)]
struct Lobe {
    first: i64,
    /// X_j, twice for j > 0.
    x: Vec<ComplexTwofold>,
    /// Y_j likewise; empty on an unbounded contour.
    y: Vec<ComplexTwofold>,
}

impl SharedContours {
    /// The hockey stick at epsilon by the contour of its cell, for at most [`MOST_DIGITS`]; `None` where none is shared. A contour is made only if
    /// `worth` accepts the epsilon in the middle of the cell.
    pub(crate) fn hockey_stick(
        &self,
        contours: &Contours,
        epsilon: &Rational,
        digits: u32,
        worth: impl Fn(&Rational) -> bool,
    ) -> Result<Option<Answer>> {
        let rho = contours.sum().rho().to_f64();
        let question = Question::hockey_stick(contours.sum(), epsilon);
        let saddle = contours.search_by_rho(&question.clone().on_line()).saddle_point();
        let shared = self.known.value(saddle, rho, digits, |cell| SharedContour::new(contours, cell, digits, worth))?;
        Ok(shared.map(|shared| shared.hockey_stick(contours, question, digits)))
    }
}

impl SharedContour {
    /// The contour of a cell; `None` if it has too many nodes or cannot be swept.
    fn new(contours: &Contours, cell: Cell, digits: u32, worth: impl Fn(&Rational) -> bool) -> Result<Option<Self>> {
        let sum = contours.sum();
        let rho = sum.rho().to_f64();
        let c = cell.real_part(rho);
        let threshold = |c: f64| rational::from_f64(cells::threshold(c, rho));
        let middle = threshold(c)?.max(Rational::new());
        if !worth(&middle) {
            return Ok(None);
        }
        let ln_share = ln_share(digits);
        let own = Question::hockey_stick(sum, &middle);
        let Ok(choice) = contours.lattice_or_line(own.clone(), &contours.search(&own), digits) else { return Ok(None) };
        let on_line = choice.question.step.is_none();
        let asked = |threshold: &Rational| {
            let question = Question::hockey_stick(sum, threshold);
            if on_line { question.on_line() } else { question }
        };
        // The ends of the cell are the hardest to reach from its middle.
        let (mut period, mut cut) = (0_f64, 0_f64);
        let (low, high) = cell.ends(rho);
        for end in [threshold(low)?, middle.clone(), threshold(high)?] {
            let question = asked(&end);
            let search = contours.search_by_rho(&question);
            let (own_period, own_cut) = search.measures_through(c, ln_share);
            (period, cut) = (period.max(own_period), cut.max(own_cut));
        }
        let question = asked(&middle);
        let search = contours.search_by_rho(&question);
        let Ok(plan) = search.plan_through(c, period, cut) else { return Ok(None) };
        if plan.exhausted || plan.evaluated() > MOST_NODES {
            return Ok(None);
        }
        Ok(Some(Self::of_sum(sum, &question, plan, false)))
    }

    /// The contour of a request to this number of digits, also for requests close to it, with its own answer; `None` where the requested precision is
    /// not reached.
    pub(crate) fn around(contours: &Contours, question: &Question, digits: u32) -> Result<Option<(Self, Answer)>> {
        const ATTEMPTS: usize = 3;
        // For requests close to it the errors may be a little larger.
        const SPARE_NATS: f64 = 2.0;
        let search = contours.search(question);
        let (mut ln_share, mut known) = (ln_share(digits) - SPARE_NATS, None);
        for _ in 0..ATTEMPTS {
            let plan = search.plan(ln_share, known)?;
            let exhausted = plan.exhausted;
            let shared = Self::of_sum(contours.sum(), question, plan, true);
            let (value, proof) = shared.enclose(contours, question);
            let answer = hockey_stick(question.kernel, &value, proof, digits);
            if answer.met {
                return Ok(Some((shared, answer)));
            }
            if exhausted {
                break;
            }
            ln_share -= more_nats(&value, digits);
            known = Some(Float::with_val(53, value.upper().ln_ref()).to_f64()).filter(|upper| upper.is_finite());
        }
        Ok(None)
    }

    /// The factors at the nodes of a plan.
    fn of_sum(sum: &LossSum, question: &Question, plan: Plan, of_itself: bool) -> Self {
        let spacing = plan.period.clone().recip();
        let product = Product::<ComplexTwofold>::new(sum, &plan.exact_c, &spacing, ());
        let bracket = Bracket::<ComplexTwofold>::new(question, &plan.exact_c, (&plan.period, plan.nodes), ());
        let parts = |node: i64| {
            let factors = product.at(node);
            // Nodes j and -j are conjugates. A period of a single sum has an odd number of nodes.
            let factors = if node == 0 { factors } else { Near::add(factors, factors) };
            let (a, b) = bracket.parts(node);
            (Near::mul(factors, a), b.map(|b| Near::mul(factors, b)))
        };
        let nodes: Vec<i64> = plan.summed().collect();
        effort::spend(Effort::of_steps((nodes.len() * sum.groups().len()) as f64, machine::PER_FACTOR));
        let values: Vec<_> = nodes.par_iter().with_min_len(PART).map(|&node| parts(node)).collect();
        let mut values = values.into_iter();
        let lobe = |&(first, last): &(i64, i64)| {
            let (x, y): (Vec<_>, Vec<_>) = values.by_ref().take((last - first + 1) as usize).unzip();
            Lobe { first, x, y: y.into_iter().flatten().collect() }
        };
        let lobes = plan.lobes.iter().map(lobe).collect();
        let scale = sum.ln_prefactor_scale(&plan.exact_c, BITS);
        let modulus = question.step.as_ref().map(|step| question::modulus(step, &plan.exact_c, ()));
        let left_out = bounds::left_out(question, &plan);
        SharedContour { plan, modulus, left_out, lobes, scale, of_itself }
    }

    /// The answer to a hockey stick of the cell, below the requested precision if the contour was too short for it.
    fn hockey_stick(&self, contours: &Contours, lattice: Question, digits: u32) -> Answer {
        let question = if self.modulus.is_none() { lattice.on_line() } else { lattice };
        let (value, proof) = self.enclose(contours, &question);
        let value = value.clamp(0.0, 1.0);
        Answer { met: value.is_tight(digits), value, proof: proof.into() }
    }

    /// Encloses the answer to a request close to the one that it was made for, on the same lattice or on an unbounded contour as that one.
    pub(crate) fn enclose(&self, contours: &Contours, question: &Question) -> (Enclosure, ContourProof) {
        let sum = contours.sum();
        let search = if self.of_itself { contours.search(question) } else { contours.search_by_rho(question) };
        let plan = search.plan_with_aliases(&self.plan);
        let turns = Rational::from(sum.offset() - question.start()) / &plan.period;
        effort::spend(Effort::of_steps(self.plan.evaluated() as f64, machine::PER_KEPT_NODE));
        let (x, y) = self.sums(&ExactPhase::new(&turns));
        let total = match (&question.step, &self.modulus) {
            (Some(step), Some(modulus)) => {
                let (n1, n2) = question::numerator(question, step, modulus, ());
                n1.enclosure().mul(&x).add(&n2.enclosure().mul(&y))
            }
            _ => x,
        };
        let errors = if self.of_itself {
            sum.errors_of_itself(question, &plan)
        } else {
            sum.errors_of_many(question, &plan, self.left_out.as_ref())
        };
        sum.certify(question, &plan, total, &self.scale, BITS, &errors)
    }

    /// The real part of the contour.
    pub(crate) fn real_part(&self) -> f64 {
        self.plan.c
    }

    /// The sums over j of Re(P^j X_j) and of Re(P^j Y_j).
    fn sums(&self, phase: &ExactPhase) -> (Enclosure, Enclosure) {
        type Sum = <ComplexTwofold as Near>::Sum;
        let turn = TwofoldBall::pi(()).mul_int(2).mul(&phase.at(1, ()));
        let last = self.lobes.iter().map(|lobe| lobe.first + lobe.x.len() as i64).max().unwrap_or_default();
        let powers = Powers::new(ComplexTwofold::cis(&turn), last);
        let one = ComplexTwofold::real(&Enclosure::double(1.0, BITS));
        let (mut x, mut y) = (Sum::default(), Sum::default());
        for lobe in &self.lobes {
            let mut at = powers.at(lobe.first).unwrap_or(one);
            for (index, value) in lobe.x.iter().enumerate() {
                x.add(at, *value);
                if let Some(value) = lobe.y.get(index) {
                    y.add(at, *value);
                }
                at = Near::mul(at, powers.first());
            }
        }
        let enclosure = |sum: Sum| {
            let (value, error) = sum.total();
            let (low, high) = near::ends(value, error);
            let end = |value: &Float, round| Float::with_val_round(BITS, value, round).0;
            Enclosure::new(end(&low.float(), Round::Down), end(&high.float(), Round::Up))
        };
        (enclosure(x), enclosure(y))
    }
}

#[cfg(test)]
mod tests {
    use crate::{loss::testing::sum, numeric::rational::parse};

    /// Against contours through their own saddle points and enumeration: lattices that are coarse and fine, the unbounded contour, many cells, and
    /// the ends of the profile.
    #[test]
    fn shared_contours_agree_with_those_of_one_request() {
        let mut served = 0;
        for groups in [
            vec!["5x10"],
            vec!["7/2x50"],
            vec!["9/2x30"],
            vec!["1/2x40"],
            vec!["500/73x10", "2500/137x60", "3001/97x400", "500/43x70", "700/29x90"],
            vec!["40990001/4097x3000", "40990001/4099x3000"],
            vec!["1e9x1000000"],
        ] {
            let sum = sum(&groups);
            let evaluator = sum.evaluator();
            for epsilon in ["0", "1e-9", "0.3", "1", "1.7", "2", "3.14", "9", "40", "75.5"] {
                let epsilon = parse(epsilon).unwrap();
                for digits in [1, 6, 12, 20] {
                    let shared = evaluator.hockey_stick_of_many(&epsilon, digits).unwrap();
                    let own = evaluator.hockey_stick(&epsilon, digits).unwrap();
                    assert!(shared.value.overlaps(&own.value), "{groups:?} {epsilon}: {shared:?} {own:?}");
                    assert_eq!(shared.met, own.met);
                    assert!(!shared.met || shared.value.is_tight(digits));
                    served += u32::from(shared.value != own.value);
                    let again = sum.evaluator().hockey_stick_of_many(&epsilon, digits).unwrap();
                    assert_eq!(again.value, shared.value, "the answer does not depend on earlier requests");
                }
            }
        }
        assert!(served >= 210, "only {served} of 280 answers came from shared contours");
    }
}
