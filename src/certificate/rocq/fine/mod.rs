//! The smallest epsilon of discrete Gaussian counts whose losses are on no lattice, or on one that is too fine, and of the worst of some
//! compositions of them: hints for `Fine.v` and `Worst.v` of `proofs/rocq`.
//!
//! An upper end splits each output between two points of a coarser lattice. A lower end is that of a test: it rejects when the sum of the
//! losses, each rounded to the nearest point, is at least a threshold. All numbers are the integers that Rocq computes, so the ends are
//! those that it proves.

mod cells;
mod fixed;
mod plan;
mod side;

use rug::{Integer, Rational, ops::Pow};

use super::{
    number::{Number, repeated, unprovable},
    walk::GAUSSIAN,
};
use crate::{
    certificate::ends::{round_down, round_up},
    error::{Error, Result},
    law::Group,
};
use cells::{Counts, Kind, Lattice};
use fixed::Fixed;
use plan::{MOST_PRODUCTS, Plan, too_long};
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

/// A smallest epsilon at a delta with both ends, of the worst of all units.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fine {
    /// The first is the worst.
    units: Vec<Unit>,
    pub(super) delta: Rational,
    pub(super) lower: Rational,
    pub(super) upper: Rational,
    test: Test,
}

/// A composition, and the walk that shows its upper end.
#[derive(Clone, Debug, PartialEq)]
struct Unit {
    counts: Vec<Counts>,
    above: Side,
}

/// A test that shows a lower end.
#[derive(Clone, Debug, PartialEq)]
struct Test {
    one: Side,
    other: Side,
    /// Its threshold, in multiples of SPACING.
    at: Rational,
    /// A lower bound on its probability to reject under the first neighbor.
    p: Rational,
    /// An upper bound on that under the second.
    q: Rational,
    below: Below,
    fixed: Fixed,
}

fn few() -> Error {
    unprovable("have three digits at least, and 30 bits do not show as many here")
}

impl Fine {
    /// Both ends around a certified one, of the worst of some compositions.
    pub(super) fn new(units: &[Vec<&Group>], delta: &Rational, certified: &Rational) -> Result<Fine> {
        let epsilon = certified.to_f64();
        let all = units.iter().map(|unit| counts(unit)).collect::<Result<Vec<_>>>()?;
        let fixed = precision(delta);
        let coarsest = all.iter().map(|counts| Plan::coarsest(counts, epsilon)).collect::<Result<Vec<_>>>()?;
        let least: f64 = coarsest.iter().map(|plan| plan.above).sum();
        if all.len() > 1 && least > MOST_PRODUCTS {
            return Err(too_long(least));
        }
        let plans = all.iter().map(|counts| Plan::new(counts, epsilon)).collect::<Result<Vec<_>>>()?;
        let sides =
            all.iter().zip(&plans).map(|(counts, plan)| above(counts, plan, fixed)).collect::<Result<Vec<_>>>()?;
        let worst = worst(&sides, certified)?;
        let (mut upper, unit) = upper_end(&sides[worst], delta, certified, plans[worst].tilt.to_f64())?;
        let test = Test::best(&all[worst], &plans[worst], fixed, delta, certified)?;
        let lower = test.lower_end(delta, &unit)?;
        let mut shown = vec![Unit { counts: all[worst].clone(), above: sides[worst].clone() }];
        let mut products = plans[worst].products();
        for i in (0..all.len()).filter(|&i| i != worst) {
            // The coarsest lattice that shows the same end, or an end of its own.
            let mut rest = coarsest[i].up_to(&plans[i], &all[i], epsilon);
            let coarse = rest.find_map(|plan| {
                let side = above(&all[i], &plan, fixed).ok()?;
                (side.upper(&upper)? <= *delta).then_some((side, plan.above))
            });
            let (above, one) = match coarse {
                Some(found) => found,
                None => {
                    upper = upper.max(upper_end(&sides[i], delta, certified, plans[i].tilt.to_f64())?.0);
                    (sides[i].clone(), plans[i].above)
                }
            };
            products += one;
            shown.push(Unit { counts: all[i].clone(), above });
        }
        if products > MOST_PRODUCTS {
            return Err(too_long(products));
        }
        // An end that was raised later has to be shown by all.
        let holds = |unit: &Unit| unit.above.upper(&upper).is_some_and(|bound| bound <= *delta);
        if !shown.iter().all(holds) {
            return Err(few());
        }
        Ok(Fine { units: shown, delta: delta.clone(), lower, upper, test })
    }

    /// The certificates, their computations and the theorem for Rocq.
    pub(super) fn text(&self) -> String {
        let Test { one, other, at, p, q, below, .. } = &self.test;
        let numbers = [&self.upper, &self.delta, &self.lower, at, p, q].map(Number::new);
        let [upper, delta, lower, threshold, p, q] = &numbers;
        let (above, certified, theorem) = self.upper_text([upper, delta, lower]);
        let moves: Vec<String> = below.moves.iter().map(i64::to_string).collect();
        format!(
            "{above}(* The test of the lower end: at least this probability under P, at most that one under Q. *)\n{one}{other}\
             Lemma above_holds : {certified} = true.\nProof. vm_cast_no_check (eq_refl true). Qed.\n\n\
             Lemma test_holds :\n  test_proves one other {before} [{moves}]%Z {lower_fields} {delta_fields} = true.\n\
             Proof. vm_cast_no_check (eq_refl true). Qed.\n\nOpen Scope R_scope.\n\n{theorem}",
            one = one.definition("one", at, [&threshold.fields(), &p.fields()]),
            other = other.definition("other", at, [&threshold.fields(), &q.fields()]),
            before = below.before,
            moves = moves.join("; "),
            lower_fields = lower.fields(),
            delta_fields = delta.fields(),
        )
    }

    /// The certificates of the upper end, their computation, and the theorem: of one composition, or of the worst of many.
    fn upper_text(&self, [upper, delta, lower]: [&Number; 3]) -> (String, String, String) {
        let definition =
            |unit: &Unit, name: &str| unit.above.definition(name, &self.upper, [&upper.fields(), &delta.fields()]);
        let equal = |many: usize| " eq_refl".repeat(many);
        let holes = |many: usize| " _".repeat(many);
        if let [unit] = &self.units[..] {
            let theorem = format!(
                "Theorem epsilon_is_between :\n  smallest_epsilon\n    ({})\n    {delta} {lower} {upper}.\n\
                 Proof. exact (epsilon_is_between above one other{} above_holds test_holds{}). Qed.\n",
                unit.counts_text(),
                holes(10),
                equal(9),
            );
            return (definition(unit, "above"), "certified above".to_string(), theorem);
        }
        let names: Vec<String> = (0..self.units.len()).map(|i| format!("above_{i}")).collect();
        let all: String = self.units.iter().zip(&names).map(|(unit, name)| definition(unit, name)).collect();
        let list = format!("Definition above : list certificate :=\n  [{}].\n\n", names.join(";\n   "));
        let counts: Vec<String> = self.units.iter().map(Unit::counts_text).collect();
        let theorem = format!(
            "Theorem worst_epsilon_is_between :\n  worst_epsilon\n    [{}]\n    {delta} {lower} {upper}.\n\
             Proof. exact (worst_epsilon_is_between above one other{} above_holds test_holds{} (or_introl eq_refl){}). Qed.\n",
            counts.join(";\n     "),
            holes(11),
            equal(2),
            equal(7),
        );
        (all + &list, "forallb certified above".to_string(), theorem)
    }

    /// The files of `proofs/rocq` that have the theorem.
    pub(super) fn modules(&self) -> &'static str {
        if self.units.len() == 1 { "Private Fine" } else { "Private Fine Worst" }
    }
}

impl Unit {
    fn counts_text(&self) -> String {
        let counts: Vec<String> =
            self.counts.iter().map(|one| repeated("Count", &one.sigma2, one.shift, one.copies)).collect();
        counts.join("\n     ++ ")
    }
}

/// The walk of an upper end.
fn above(counts: &[Counts], plan: &Plan, fixed: Fixed) -> Result<Side> {
    let Plan { step, tilt, circle, .. } = plan;
    let lattice = Lattice { step: step.clone(), spacing: step.clone(), tilt: tilt.clone(), fixed };
    Side::new(Kind::Split, counts, lattice, *circle).ok_or_else(few)
}

/// The composition with the largest bound of delta.
fn worst(sides: &[Side], epsilon: &Rational) -> Result<usize> {
    if sides.len() == 1 {
        return Ok(0);
    }
    let bounds = sides.iter().map(|side| side.upper(epsilon).ok_or_else(few)).collect::<Result<Vec<_>>>()?;
    Ok((0..sides.len()).max_by_key(|&i| &bounds[i]).unwrap_or_default())
}

/// The relative error of an exponential is y^2 / 2^(squarings + 1) at exp(-y), and y is about -ln(delta) at most.
fn precision(delta: &Rational) -> Fixed {
    let largest = -delta.to_f64().ln();
    let squarings = ((largest * largest / 2e-4).log2().ceil().max(0.0) as u32).max(SQUARINGS);
    let bits = (f64::from(squarings) + largest / std::f64::consts::LN_2 + 8.0).ceil() as u32;
    Fixed { bits: bits.max(BITS), squarings }
}

/// The counts that change, if all of them are discrete Gaussian; equal ones together.
fn counts(unit: &[&Group]) -> Result<Vec<Counts>> {
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
            let fine = Fine::new(&[one.loss().groups().iter().collect()], &delta, &exact).unwrap();
            let message = format!("{counts:?} {delta:?}: {:?} {} {:?}", fine.lower, exact.to_f64(), fine.upper);
            assert!(fine.lower < exact && exact < fine.upper, "{message}");
            assert!(
                Rational::from(&fine.upper - &fine.lower) < Rational::from(&exact * 3_u32) / 10_000_u32,
                "{message}"
            );
        }
    }
}
