//! The smallest epsilon of discrete Gaussian counts whose losses are on no lattice, or on one that is too fine: hints for `Fine.v` of
//! `proofs/rocq`.
//!
//! An upper end splits each output between two points of a coarser lattice. A lower end is that of a test: it rejects when the sum of the
//! losses, each rounded to the nearest point, is at least a threshold. All numbers are the integers that Rocq computes, so the ends are
//! those that it proves.

mod cells;
mod fixed;
mod plan;
mod side;

use rug::{Integer, Rational, ops::Pow};

use super::number::{Number, repeated, unprovable};
use crate::{
    certificate::ends::{round_down, round_up},
    error::Result,
    law::Group,
};
use cells::{Counts, Kind, Lattice};
use fixed::Fixed;
use plan::Plan;
use side::{Below, Side};

/// The fewest bits and squarings of exponentials.
const BITS: u32 = 64;
const SQUARINGS: u32 = 22;
/// The gain of the test over one index: it rejects an index k at the threshold or above with a probability of at least 1 - exp(-SPACING / 2).
const SPACING: u32 = 64;
/// Significant digits of the probabilities of the test.
const DIGITS: u32 = 9;
/// The most steps of a search for an end, or for a threshold.
const STEPS: usize = 100;

/// A smallest epsilon at a delta with both ends.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fine {
    counts: Vec<Counts>,
    pub(super) delta: Rational,
    pub(super) lower: Rational,
    pub(super) upper: Rational,
    above: Side,
    test: Test,
}

/// A test that shows a lower end.
#[derive(Clone, Debug, PartialEq)]
struct Test {
    one: Side,
    other: Side,
    /// Its threshold, in multiples of SPACING.
    at: Rational,
    /// At least this probability to reject under the first neighbor, at most that under the second.
    p: Rational,
    q: Rational,
    below: Below,
    fixed: Fixed,
}

fn few() -> crate::error::Error {
    unprovable("have three digits at least, and 30 bits do not show as many here")
}

impl Fine {
    /// Both ends around a certified one.
    pub(super) fn new(path: &[Group], delta: &Rational, certified: &Rational) -> Result<Fine> {
        let counts = counts(path)?;
        let plan = Plan::new(&counts, certified.to_f64())?;
        let largest = -delta.to_f64().ln();
        let squarings = ((largest * largest / 2e-4).log2().ceil().max(0.0) as u32).max(SQUARINGS);
        let bits = ((f64::from(squarings) + largest / std::f64::consts::LN_2 + 8.0).ceil() as u32).max(BITS);
        let fixed = Fixed { bits, squarings };
        let Plan { step, tilt, circle, .. } = &plan;
        let lattice = Lattice { step: step.clone(), spacing: step.clone(), tilt: tilt.clone(), fixed };
        let above = Side::new(Kind::Split, &counts, lattice, *circle).ok_or_else(few)?;
        let (upper, unit) = upper_end(&above, delta, certified, tilt.to_f64())?;
        let test = Test::best(&counts, &plan, fixed, delta, certified)?;
        let lower = test.lower_end(delta, &unit)?;
        Ok(Fine { counts, delta: delta.clone(), lower, upper, above, test })
    }

    /// The certificates, their computations and the theorem for Rocq.
    pub(super) fn text(&self) -> String {
        let Test { one, other, at, p, q, below, .. } = &self.test;
        let [upper, delta, lower, at_fields, p, q] =
            [&self.upper, &self.delta, &self.lower, at, p, q].map(|value| Number::new(value));
        let moves: Vec<String> = below.moves.iter().map(i64::to_string).collect();
        let counts: Vec<String> =
            self.counts.iter().map(|one| repeated("Count", &one.sigma2, one.shift, one.copies)).collect();
        format!(
            "{above}(* The test of the lower end: at least this probability under P, at most that one under Q. *)\n{one}{other}\
             Lemma above_holds : certified above = true.\nProof. vm_cast_no_check (eq_refl true). Qed.\n\n\
             Lemma test_holds :\n  test_proves one other {before} [{moves}]%Z {lower_fields} {delta_fields} = true.\n\
             Proof. vm_cast_no_check (eq_refl true). Qed.\n\nOpen Scope R_scope.\n\n\
             Theorem epsilon_is_between :\n  smallest_epsilon\n    ({counts})\n    {delta} {lower} {upper}.\n\
             Proof. exact (epsilon_is_between above one other{holes} above_holds test_holds{equal}). Qed.\n",
            above = self.above.definition("above", &self.upper, [&upper.fields(), &delta.fields()]),
            one = one.definition("one", at, [&at_fields.fields(), &p.fields()]),
            other = other.definition("other", at, [&at_fields.fields(), &q.fields()]),
            before = below.before,
            moves = moves.join("; "),
            lower_fields = lower.fields(),
            delta_fields = delta.fields(),
            counts = counts.join("\n     ++ "),
            holes = " _".repeat(10),
            equal = " eq_refl".repeat(9),
        )
    }
}

/// The counts that change, if all of them are discrete Gaussian.
fn counts(path: &[Group]) -> Result<Vec<Counts>> {
    let changed = path.iter().filter(|group| group.shift > 0 && group.copies > 0);
    let one = |group: &Group| match group.law.discrete_sigma2() {
        Some(sigma2) => Ok(Counts { sigma2: sigma2.clone(), shift: group.shift, copies: group.copies }),
        None => Err(unprovable(
            "would take too long here: the lattice of the losses is too fine, and a coarser one is only for discrete Gaussian noise",
        )),
    };
    changed.map(one).collect()
}

/// The least decimal that the walk proves, and the unit of its last digit: between a fourth and a fortieth of its distance.
fn upper_end(above: &Side, delta: &Rational, certified: &Rational, tilt: f64) -> Result<(Rational, Rational)> {
    // ln(delta) falls by about the tilt in one unit of epsilon.
    let missing = |bound: &Rational| Rational::from(bound / delta).to_f64().ln() / tilt;
    let distance = missing(&above.upper(certified).ok_or_else(few)?);
    if !(distance.is_finite() && distance > 1e-12) {
        return Err(few());
    }
    let unit = power_of_ten((distance / 4.0).log10().floor() as i32);
    let steps = |distance: f64| Integer::from((distance / unit.to_f64()).ceil() as i64);
    let mut multiple = Integer::from(Rational::from(certified / &unit).ceil().numer()) + steps(distance);
    let (mut shown, mut refuted) = (None, None);
    for _ in 0..STEPS {
        let end = Rational::from(&unit * &multiple);
        let bound = above.upper(&end).ok_or_else(few)?;
        if bound <= *delta {
            shown = Some(end);
            if refuted.is_some_and(|refuted: Integer| refuted == Integer::from(&multiple - 1_u32)) {
                break;
            }
            refuted = None;
            multiple -= 1_u32;
        } else if shown.is_some() {
            break;
        } else {
            refuted = Some(multiple.clone());
            multiple += steps(missing(&bound)).max(Integer::from(1));
        }
    }
    Ok((shown.ok_or_else(few)?, unit))
}

fn power_of_ten(exponent: i32) -> Rational {
    let power = Rational::from(Integer::from(10).pow(exponent.unsigned_abs()));
    if exponent < 0 { power.recip() } else { power }
}

impl Test {
    /// The test with the threshold that shows the largest lower end.
    fn best(counts: &[Counts], plan: &Plan, fixed: Fixed, delta: &Rational, certified: &Rational) -> Result<Test> {
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
        let threshold = Integer::from(Rational::from(certified / &plan.step).round().numer());
        let at = |threshold: &Integer| Test::at(&one, &other, fixed, threshold);
        let mut best = (threshold.clone(), at(&threshold).ok_or_else(few)?);
        for direction in [1, -1] {
            for _ in 0..STEPS {
                let next = Integer::from(&best.0 + direction);
                match at(&next).filter(|test| test.shows(delta) > best.1.shows(delta)) {
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
    fn shows(&self, delta: &Rational) -> f64 {
        let over = Rational::from(&self.p - delta);
        if over > 0 { (over / &self.q).to_f64().ln() } else { f64::NEG_INFINITY }
    }

    /// The largest decimal that the test shows.
    fn lower_end(&self, delta: &Rational, unit: &Rational) -> Result<Rational> {
        let about = self.shows(delta);
        if !(about.is_finite() && about > 0.0) {
            return Err(few());
        }
        let mut end = Rational::from((about / unit.to_f64()).floor() as i64) * unit;
        for _ in 0..STEPS {
            let exp = self.fixed.exp_up_signed(&Rational::from(-&end)).ok_or_else(few)?;
            let rest = &self.p - (Rational::from(exp) >> self.fixed.bits) * &self.q;
            if rest >= *delta && end >= 0 {
                return Ok(end);
            }
            end -= unit;
        }
        Err(few())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        account::{Account, Delta, Whole},
        numeric::rational::parse,
        release::subject::Subject,
    };

    fn whole(counts: &[&str]) -> Whole {
        let singles = counts.iter().map(|text| text.parse().unwrap()).collect();
        Subject { singles, ..Subject::default() }.resolve().unwrap().whole
    }

    #[test]
    fn both_ends_enclose_the_smallest_epsilon_closely() {
        let cases: [(&[&str], &str); 5] = [
            (&["3.14159265", "2.71828183"], "1e-6"),
            (&["31.4159265x3@2", "271.828183x2@5"], "1e-3"),
            (&["31.4159265x3@2"], "0.1"),
            // On a lattice that is coarse enough, too.
            (&["5x10"], "1e-11"),
            (&["50"], "1e-20"),
        ];
        for (counts, delta) in cases {
            let whole = whole(counts);
            let delta = Delta::new(parse(delta).unwrap()).unwrap();
            let exact = whole.epsilon(delta.clone(), 12).unwrap().value.upper_rational().unwrap();
            let Whole::Composition(one) = &whole else { panic!("one composition") };
            let fine = Fine::new(one.loss().groups(), &delta, &exact).unwrap();
            let message = format!("{counts:?} {delta:?}: {:?} {} {:?}", fine.lower, exact.to_f64(), fine.upper);
            assert!(fine.lower < exact && exact < fine.upper, "{message}");
            assert!(
                Rational::from(&fine.upper - &fine.lower) < Rational::from(&exact * 3_u32) / 10_000_u32,
                "{message}"
            );
        }
    }
}
