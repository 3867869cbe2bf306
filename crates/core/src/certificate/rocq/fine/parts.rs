//! The parts of files on a coarser lattice: the counts, the walk of an upper end, and the test of a lower end.

use rug::{Integer, Rational};

use super::{
    super::{
        laws::GAUSSIAN,
        number::{Number, repeated, unprovable},
    },
    cells::{Counts, Kind, Lattice},
    fixed::Fixed,
    plan::Plan,
    side::{Below, Side},
};
use crate::{
    certificate::ends::{round_down, round_up},
    error::{Error, Result},
    law::Group,
};

/// The fewest bits and squarings of exponentials.
const BITS: u32 = 64;
const SQUARINGS: u32 = 22;
/// The gain of the test over one index: it rejects an index k at the threshold or above with a probability of at least 1 - exp(-SPACING / 2).
const SPACING: u32 = 64;
/// Significant digits of the probabilities of the test.
const DIGITS: u32 = 9;
/// The most steps of a search for an end, or for a threshold.
pub(super) const STEPS: usize = 100;

/// A test that shows a lower end.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Test {
    one: Side,
    other: Side,
    /// Its threshold, in multiples of SPACING.
    at: Rational,
    /// A lower bound on its probability to reject under the first neighbor.
    pub(super) p: Rational,
    /// An upper bound on that under the second.
    pub(super) q: Rational,
    below: Below,
    fixed: Fixed,
}

pub(super) fn few() -> Error {
    unprovable("have three digits at least, and 30 bits do not show as many here")
}

pub(super) fn counts_text(counts: &[Counts]) -> String {
    let counts: Vec<String> = counts.iter().map(|one| repeated("Count", &one.sigma2, one.shift, one.copies)).collect();
    counts.join("\n     ++ ")
}

/// The walk of an upper end.
pub(super) fn above(counts: &[Counts], plan: &Plan, fixed: Fixed) -> Result<Side> {
    let Plan { step, tilt, circle, .. } = plan;
    let lattice = Lattice { step: step.clone(), spacing: step.clone(), tilt: tilt.clone(), fixed };
    Side::new(Kind::Split, counts, lattice, *circle).ok_or_else(few)
}

/// The relative error of an exponential is y^2 / 2^(squarings + 1) at exp(-y), and y is about -ln(delta) at most.
pub(super) fn precision(delta: &Rational) -> Fixed {
    let largest = -libm::log(delta.to_f64());
    let squarings = (libm::log2(largest * largest / 2e-4).ceil().max(0.0) as u32).max(SQUARINGS);
    let bits = (f64::from(squarings) + largest / std::f64::consts::LN_2 + 8.0).ceil() as u32;
    Fixed { bits: bits.max(BITS), squarings }
}

/// The counts that change, if all of them are discrete Gaussian; equal ones together.
pub(super) fn counts(unit: &[&Group]) -> Result<Vec<Counts>> {
    let mut all: Vec<Counts> = Vec::new();
    for group in unit.iter().filter(|group| group.shift > 0 && group.copies > 0) {
        let sigma2 = group.law.discrete_sigma2().filter(|_| group.law.key() == GAUSSIAN).ok_or_else(|| {
            let name = group.law.in_words();
            unprovable(&format!("on a coarser lattice of losses are only for discrete Gaussian noise, not for {name}"))
        })?;
        match all.iter_mut().find(|one| one.sigma2 == *sigma2 && one.shift == group.shift) {
            Some(one) => one.copies += group.copies,
            None => all.push(Counts { sigma2: sigma2.clone(), shift: group.shift, copies: group.copies }),
        }
    }
    Ok(all)
}

impl Test {
    /// The test with the threshold that shows most; at an epsilon or near it.
    pub(super) fn best(
        counts: &[Counts],
        plan: &Plan,
        fixed: Fixed,
        epsilon: &Rational,
        shows: impl Fn(&Test) -> f64,
    ) -> Result<Test> {
        let spacing = Rational::from(SPACING);
        let lattice = |tilt: Rational| Lattice {
            step: plan.step.clone(),
            spacing: spacing.clone(),
            tilt: tilt * &plan.step / &spacing,
            fixed,
        };
        // Under the other neighbor the best tilt is larger by one.
        let one = Side::new(Kind::Near, counts, lattice(plan.tilt.clone()), plan.window).ok_or_else(few)?;
        let other =
            Side::new(Kind::Far, counts, lattice(Rational::from(&plan.tilt + 1_u32)), plan.circle).ok_or_else(few)?;
        let threshold = Integer::from(Rational::from(epsilon / &plan.step).round().numer());
        let at = |threshold: &Integer| Test::at(&one, &other, fixed, threshold);
        let mut best = (threshold.clone(), at(&threshold).ok_or_else(few)?);
        for direction in [1, -1] {
            for _ in 0..STEPS {
                let next = Integer::from(&best.0 + direction);
                match at(&next).filter(|test| shows(test) > shows(&best.1)) {
                    Some(test) => best = (next, test),
                    None => break,
                }
            }
            // Uphill in one direction is downhill in the other.
            if best.0 != threshold {
                break;
            }
        }
        Ok(best.1)
    }

    fn at(one: &Side, other: &Side, fixed: Fixed, threshold: &Integer) -> Option<Test> {
        let at = Rational::from(SPACING) * (Rational::from(threshold) - Rational::from((1, 2)));
        let below = one.lower(&at)?;
        // The walk's bound has to be above p.
        let p = round_down(&(below.value.clone() * Rational::from((999_999_999, 1_000_000_000))), DIGITS);
        let q = round_up(&other.upper(&at)?, DIGITS);
        (p > 0 && q > 0).then(|| Test { one: one.clone(), other: other.clone(), at, p, q, below, fixed })
    }

    /// The largest epsilon with p - exp(epsilon) q > delta, approximately; -infinity if there is none.
    pub(super) fn shows(&self, delta: &Rational) -> f64 {
        let over = Rational::from(&self.p - delta);
        if over > 0 { libm::log((over / &self.q).to_f64()) } else { f64::NEG_INFINITY }
    }

    /// delta at an epsilon, as a file computes it from the test: p - exp(epsilon) q.
    pub(super) fn shows_delta(&self, epsilon: &Rational) -> Option<Rational> {
        let exp = self.fixed.exp_up_signed(&Rational::from(-epsilon))?;
        Some(&self.p - (Rational::from(exp) >> self.fixed.bits) * &self.q)
    }

    /// The certificates of the test; their names have this prefix.
    pub(super) fn definitions(&self, prefix: &str) -> String {
        let Test { one, other, at, p, q, .. } = self;
        let [threshold, p, q] = [at, p, q].map(Number::new);
        format!(
            "(* The test of the lower end: at least this probability under P, at most that one under Q. *)\n{}{}",
            one.definition(&format!("{prefix}one"), at, [&threshold.fields(), &p.fields()]),
            other.definition(&format!("{prefix}other"), at, [&threshold.fields(), &q.fields()]),
        )
    }

    /// The hints of its window.
    pub(super) fn hints(&self) -> String {
        let moves: Vec<String> = self.below.moves.iter().map(i64::to_string).collect();
        format!("{} [{}]%Z", self.below.before, moves.join("; "))
    }

    /// The computation that it shows a delta at an epsilon.
    pub(super) fn lemma(&self, [epsilon, delta]: [&Rational; 2]) -> String {
        let [epsilon, delta] = [epsilon, delta].map(|number| Number::new(number).fields());
        format!(
            "Lemma test_holds :\n  test_proves one other {} {epsilon} {delta} = true.\n\
             Proof. vm_cast_no_check (eq_refl true). Qed.\n\n",
            self.hints()
        )
    }

    /// The largest decimal that the test shows.
    pub(super) fn lower_end(&self, delta: &Rational, unit: &Rational) -> Result<Rational> {
        let about = self.shows(delta);
        if !(about.is_finite() && about > 0.0) {
            return Err(few());
        }
        let mut end = Rational::from((about / unit.to_f64()).floor() as i64) * unit;
        for _ in 0..STEPS {
            if self.shows_delta(&end).ok_or_else(few)? >= *delta && end >= 0 {
                return Ok(end);
            }
            end -= unit;
        }
        Err(few())
    }
}
