//! Open contours: the trapezoid rule for many copies of losses that have no common lattice, as those of tables, pairs and samples of counts.
//!
//! The characteristic function of such a loss does not decay: far up the vertical line its phases come close to one another again and again. So no contour
//! has an end, and the losses are too many to be listed. But the powers of many copies are small nearly everywhere, and what is not seen is bounded on average.
//!
//! # What is swept
//!
//! Let phi be the characteristic function of one loss of a group under the law tilted by c, n its copies, and t the height. With m the mean of the tilted law,
//!
//! ```text
//! |phi(t + r)| <= |phi(t)| + |r| E_c[|L - m|],
//! ```
//!
//! so one value shows that a cell of heights has a product of all powers below exp(-cut) ([`sweep`]). Nodes that lie in no such cell are looked at one by one.
//!
//! # What is beyond
//!
//! Let G_k be the product of all |phi(k h)|^n, and a_k that with the even number 2 floor(n / 2) in place of n: G_k <= a_k. The function a is the characteristic
//! function of a difference of two sums of floor(n / 2) losses each, so it is positive definite, as is the triangle g(k) = max(0, 1 - |k| / W). By Herglotz'
//! theorem, for every u,
//!
//! ```text
//! sum over k of a_k g(k - u) <= sum over k of a_k g(k) <= S,    S = sum of a_k over |k| <= W.
//! ```
//!
//! The triangles around all multiples of W add up to one. So with K = 2 W, where that around j W has its nodes from (j - 1) W on,
//!
//! ```text
//! sum over k > K of G_k / k^2 <= (S / W^2) (1/4 + 1/4 + 1/9 + 1/16 + ..) <= 0.895 S / W^2 = 3.58 S / K^2.
//! ```
//!
//! Each further digit takes about three times the height, whatever the losses are: this is what no lattice costs. (Where all losses lie on a lattice after all, G
//! is 1 at every period, and the bound is the truth up to a constant.)

mod sweep;

use std::sync::{Arc, Mutex, PoisonError};

use self::sweep::{Course, MOST_OF_LOBE, Spread, Sweep};
use super::{
    answer::{Answer, ContourProof},
    contour::{self, Contours, ln_share, more_nats},
    engine::machine,
    integrand::{self, Integrand, Product},
    plan::Plan,
    question::{Kernel, Question},
    search::few_bits,
    sum::LossSum,
};
use crate::{
    error::{Error, Result},
    numeric::{
        effort::{self, Effort},
        field::Field,
        precision, rational,
        twofold::{self, ComplexTwofold, Twofold},
    },
};

/// The seconds that nodes beyond the first lobe may take.
const OF_NODES: f64 = 0.4;
/// 3.58 with its rounding: see the head of this file.
const BEYOND: f64 = 3.59;

/// A sum with many copies of losses that have no common lattice.
#[derive(Debug)]
pub(crate) struct Open {
    contours: Arc<Contours>,
    /// The last sweep: requests close to one another share it.
    kept: Mutex<Option<Arc<Sweep>>>,
}

/// The seconds of a sweep: twice as many digits take far longer.
fn most_seconds(digits: u32) -> f64 {
    const DIGITS: f64 = 12.0;
    machine::MOST_OF_ANY / 4.0 * (f64::from(digits) / DIGITS).min(1.0).powi(2)
}

/// The least power of 2^(1/4) that is at least x > 0, in few bits.
fn stepped_up(x: f64) -> f64 {
    let step = few_bits(libm::exp2((libm::log2(x) * 4.0).ceil() / 4.0));
    if step < x { few_bits(step * 1.001) } else { step }
}

impl Open {
    /// For sums of groups of which some have listed losses, more than one copy of each; `None` for others.
    pub(crate) fn new(contours: &Arc<Contours>) -> Option<Self> {
        let is_served = |sum: &LossSum| sum.groups().iter().any(|group| group.law.is_listed() && group.copies > 1);
        is_served(contours.sum()).then(|| Open { contours: Arc::clone(contours), kept: Mutex::new(None) })
    }

    fn sum(&self) -> &LossSum {
        self.contours.sum()
    }

    /// The hockey stick, or its complement, on the whole vertical line.
    fn question(&self, question: &Question, digits: u32) -> Question {
        self.contours.of_shorter_period(question.clone().on_line(), digits).0
    }

    /// The contour for errors of about exp(ln_share) of the answer.
    fn course(&self, question: &Question, ln_share: f64) -> Course {
        let search = self.contours.search(question);
        let c = match question.kernel {
            Kernel::HockeyStick => {
                const STEPS_OF_TWO: f64 = 8.0;
                let saddle = search.saddle_point();
                few_bits(libm::exp2((libm::log2(saddle) * STEPS_OF_TWO).round() / STEPS_OF_TWO))
            }
            _ => few_bits(search.saddle_point()),
        };
        let ln_answer = search.ln_estimate();
        let period = stepped_up(search.period_by_moments(c, ln_answer + ln_share));
        let [below, above] = search.alias_points_by_moments(c, period);
        // In units of M(c) exp(-c eps): the answer, and what may be left out.
        let ln_size = search.ln_size_at(c);
        let ln_target = ln_answer + ln_share - ln_size;
        // The terms of all nodes together are about one: (period / 2 pi^2) exp(-cut) / J, with the last node J of the first lobe.
        let cut = ((libm::log(period) - ln_target).max(8.0) / 4.0).ceil() * 4.0;
        // (period / 2 pi^2) BEYOND S / K^2 with K = T period / 2 pi, and S of about period / 6 where the first lobe is that of a Gaussian.
        let height = (2.0 * BEYOND * self.width_approx(c, period) / period / libm::exp(ln_target)).sqrt();
        Course { c, period, below, above, cut, height: stepped_up(2.0 * height) }
    }

    /// The approximate number of nodes of the first lobe, on both sides.
    fn width_approx(&self, c: f64, period: f64) -> f64 {
        let variance: f64 = self.spreads(c).iter().map(|spread| spread.copies * spread.variance_approx).sum();
        1.0 + period / (variance.max(f64::MIN_POSITIVE) * std::f64::consts::TAU).sqrt()
    }

    fn spreads(&self, c: f64) -> Vec<Spread> {
        let Ok(c) = rational::from_f64(c) else { return Vec::new() };
        self.sum().groups().iter().filter_map(|group| Spread::new(group, &c)).collect()
    }

    /// The seconds of a request of as many digits; of fewer where that would take too long.
    pub(crate) fn seconds(&self, question: &Question, digits: u32) -> f64 {
        let question = self.question(question, digits);
        let course = self.course(&question, ln_share(digits));
        if let Some(kept) = &*self.kept.lock().unwrap_or_else(PoisonError::into_inner)
            && kept.serves(&course)
        {
            return machine::QUICK;
        }
        Sweep::seconds(&self.spreads(course.c), course.height).min(most_seconds(digits))
    }

    fn sweep(&self, course: &Course, digits: u32) -> Arc<Sweep> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = &*kept
            && kept.serves(course)
        {
            return Arc::clone(kept);
        }
        let sweep = Arc::new(Sweep::new(&self.spreads(course.c), course, most_seconds(digits)));
        *kept = Some(Arc::clone(&sweep));
        sweep
    }

    /// The nodes to be summed, and bounds on all others.
    fn plan(&self, course: &Course, digits: u32) -> Result<Plan> {
        let sweep = self.sweep(course, digits);
        let mut plan = Plan {
            c: course.c,
            exact_c: rational::from_f64(course.c)?,
            period: rational::from_f64(course.period)?,
            nodes: None,
            lobes: vec![(0, sweep.reach)],
            below: course.below,
            above: course.above,
            cut: course.cut,
            decay: 2,
            // In units of exp(-cut).
            dropped: sweep.dropped,
            last: sweep.last,
            beyond: BEYOND * sweep.weight / sweep.last as f64,
            far: f64::INFINITY,
            exhausted: !sweep.is_complete,
        };
        plan.keep(
            sweep.nodes.clone(),
            (OF_NODES / (Product::<ComplexTwofold>::steps_of(self.sum()) * machine::PER_FACTOR)) as usize,
        );
        Ok(plan)
    }

    /// Encloses the hockey stick of a question.
    pub(crate) fn hockey_stick(&self, question: &Question, digits: u32) -> Result<Answer> {
        const ATTEMPTS: u32 = 2;
        let question = self.question(question, digits);
        let mut ln_share = ln_share(digits);
        let mut attempt = 0;
        loop {
            let plan = self.plan(&self.course(&question, ln_share), digits)?;
            let (value, proof) = self.certify(&question, &plan, digits);
            if !value.upper().is_finite() {
                return Err(Error::NoLattice);
            }
            attempt += 1;
            let answer = contour::hockey_stick(question.kernel, &value, proof, digits);
            if answer.met || plan.exhausted || attempt == ATTEMPTS {
                return Ok(answer);
            }
            ln_share -= more_nats(&value, digits);
        }
    }

    fn certify(&self, question: &Question, plan: &Plan, digits: u32) -> (crate::numeric::Enclosure, ContourProof) {
        let sum = self.sum();
        let bits = precision::bits(digits, 24 + plan.evaluated().ilog2());
        let is_quick = digits <= twofold::ball::MOST_DIGITS;
        let total = match is_quick {
            true => Integrand::<ComplexTwofold>::new(sum, question, plan, ()).total(plan).re().enclosure(),
            // No node is small beside the others, as far as is known.
            false => integrand::total(sum, question, plan, |_| 0.0, digits, bits),
        };
        let scale = sum.ln_prefactor_scale(&plan.exact_c, bits);
        let errors = sum.errors_of_itself(question, plan);
        let (value, proof) = sum.certify(question, plan, total, &scale, bits, &errors);
        (value, if is_quick { ContourProof { bits: Twofold::BITS, ..proof } } else { proof })
    }

    /// ln of the hockey stick in doubles, without proof: by the first lobe.
    pub(crate) fn ln_approx(&self, question: &Question, digits: u32) -> Option<f64> {
        let question = self.question(question, digits);
        let course = self.course(&question, ln_share(digits));
        let spreads = self.spreads(course.c);
        let ln_size = self.contours.search(&question).ln_size_at(course.c);
        let h = std::f64::consts::TAU / course.period;
        effort::spend(Effort::of_seconds(Sweep::seconds(&spreads, 0.0)));
        let epsilon = question.threshold.to_f64();
        let mut total = 0.0;
        for k in 0..MOST_OF_LOBE {
            let t = h * k as f64;
            let (mut ln, mut angle) = (0.0, -t * epsilon);
            for spread in &spreads {
                let (one, turned) = spread.polar(t);
                ln += spread.copies * one;
                angle += spread.copies * turned;
            }
            if ln < -course.cut {
                // (s (s + 1))^-1 with s = c + i t.
                break;
            }
            let (re, im) = (course.c * (course.c + 1.0) - t * t, t * (2.0 * course.c + 1.0));
            let (sin, cos) = libm::sincos(angle);
            let term = libm::exp(ln) * (re * cos + im * sin) / (re * re + im * im);
            total += if k == 0 { term } else { 2.0 * term };
        }
        let complement = question.kernel == Kernel::Complement;
        let total = if complement { -total } else { total } / course.period;
        // Where the sum of the first lobe is lost among its terms, an estimate.
        let search = self.contours.search(&question);
        let ln = if total > 0.0 { ln_size + libm::log(total) } else { search.ln_estimate() };
        Some(if complement { libm::log1p(-libm::exp(ln.min(0.0))) } else { ln })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rug::Rational;

    use super::*;
    use crate::{
        law::{Direction, Group, Law, Pair, Rounding},
        loss::atoms::Atoms,
        numeric::{Enclosure, rational::parse},
    };

    fn sum(masses: &[(u32, u32)], of: u32, copies: u64, direction: Direction) -> LossSum {
        let outcomes = masses.iter().map(|(p, q)| (Rational::from((*p, of)), Rational::from((*q, of))));
        let law = Law::Pair(Arc::new(Pair::new("pair", outcomes).unwrap()));
        let law = law.rounded(1, Rounding::Up, direction).unwrap();
        LossSum::new([Group { law, shift: 1, copies }]).unwrap()
    }

    fn open(sum: &LossSum) -> Open {
        Open::new(&Arc::new(Contours::new(sum.clone()))).unwrap()
    }

    /// Pairs of three outcomes, many copies, beside the list of all sums: above and below the mean.
    #[test]
    fn open_contours_agree_with_enumeration() {
        let mut met = 0;
        for (masses, copies) in [(&[(30, 20), (25, 31), (45, 49)][..], 60), (&[(10, 14), (70, 61), (20, 25)], 150)] {
            for direction in Direction::ALL {
                let sum = sum(masses, 100, copies, direction);
                let (open, atoms) = (open(&sum), Atoms::new(&sum).unwrap());
                let mean = sum.mean_approx();
                for (share, digits) in [(0.2, 4), (1.3, 5), (4.0, 6)] {
                    let epsilon = rational::from_f64(few_bits((share * mean).abs())).unwrap();
                    let question = Question::hockey_stick(&sum, &epsilon);
                    let answer = open.hockey_stick(&question, digits).unwrap();
                    let listed = atoms.hockey_stick(&epsilon, digits + 4).unwrap();
                    assert!(answer.value.overlaps(&listed.value), "{masses:?} {share}: {answer:?} {listed:?}");
                    met += usize::from(answer.met);
                    // By the first lobe alone: where the function comes back to nearly one, an approximation of few digits.
                    let ln = open.ln_approx(&question, 12).unwrap();
                    assert!((ln - listed.value.ln().approximate()).abs() < 1e-2, "{masses:?} {share}: {ln} {listed:?}");
                }
            }
        }
        assert!(met > 3, "{met}");
    }

    /// Losses that lie on a lattice after all: the function comes back to one at every period, which no cell may hide. Bounds are wide, and true.
    #[test]
    fn what_comes_back_at_every_period_stays_within_the_bounds() {
        for masses in [&[(60, 40), (40, 60)][..], &[(60, 30), (20, 40), (20, 30)]] {
            let sum = sum(masses, 100, 100, Direction::Remove);
            let (open, atoms) = (open(&sum), Atoms::new(&sum).unwrap());
            for epsilon in ["5", "33"] {
                let epsilon = parse(epsilon).unwrap();
                let answer = open.hockey_stick(&Question::hockey_stick(&sum, &epsilon), 3).unwrap();
                let listed = atoms.hockey_stick(&epsilon, 12).unwrap();
                assert!(answer.value.overlaps(&listed.value), "{masses:?} {epsilon}: {answer:?} {listed:?}");
            }
        }
    }

    /// Every node up to the last is summed, or has a product within its bound: random heights beside the product in two doubles.
    #[test]
    fn nodes_that_are_left_out_are_as_small_as_the_sweep_says() {
        let sum = sum(&[(30, 20), (25, 31), (20, 19), (15, 13), (10, 17)], 100, 300, Direction::Add);
        let open = open(&sum);
        let question = open.question(&Question::hockey_stick(&sum, &Rational::from(30)), 8);
        let course = open.course(&question, ln_share(8));
        let sweep = open.sweep(&course, 8);
        let c = rational::from_f64(course.c).unwrap();
        let spacing = rational::from_f64(course.period).unwrap().recip();
        let product = Product::<ComplexTwofold>::new(&sum, &c, &spacing, ());
        let (mut seed, mut small, mut all) = (1_u64, 0, Enclosure::double(0.0, 64));
        for k in 0..4_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let node = if k < 2_000 { sweep.reach + 1 + k } else { (seed >> 33) as i64 % sweep.last + 1 };
            let value = product.at(node);
            let square = value.mul(&value.conj()).re().enclosure();
            if node > sweep.reach && sweep.nodes.binary_search_by_key(&node, |(node, _)| *node).is_err() {
                let ln = libm::log(square.upper().to_f64().max(1e-300)) / 2.0;
                // Dropped ones weigh little beside 1 / k^2.
                let dropped = libm::log(node as f64) * 2.0 - libm::log(sweep.reach as f64) - 13.8;
                assert!(ln <= -course.cut + dropped.max(0.0) + 1e-6, "{node}: {ln} {}", course.cut);
                small += 1;
            }
            if k < 2_000 {
                all = all.add(&square.sqrt());
            }
        }
        assert!(small > 2_000 && *all.lower() < sweep.weight, "{small} {all}");
    }
}
