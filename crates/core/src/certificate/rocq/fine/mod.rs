//! The smallest epsilon of discrete Gaussian counts whose losses are on no lattice, or on one that is too fine, and of the worst of some
//! compositions of them: hints for `Fine.v` and `Worst.v` of `proofs/rocq`.
//!
//! An upper end splits each output between two points of a coarser lattice. A lower end is that of a test: it rejects when the sum of the
//! losses, each rounded to the nearest point, is at least a threshold. All numbers are the integers that Rocq computes, so the ends are
//! those that it proves.

mod cells;
mod ends;
mod fixed;
mod parts;
mod plan;
mod side;

use rug::{Integer, Rational, ops::Pow};

use super::number::Number;
use crate::{error::Result, law::Group};
use cells::Counts;
pub(super) use ends::FineEnds;
use parts::{STEPS, Test, above, counts, counts_text, few, precision};
use plan::{About, MOST_PRODUCTS, Plan, too_long};
use side::Side;

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

impl Fine {
    /// Both ends around a certified one, of the worst of some compositions.
    pub(super) fn new(units: &[Vec<&Group>], delta: &Rational, certified: &Rational) -> Result<Fine> {
        let epsilon = certified.to_f64();
        let all = units.iter().map(|unit| counts(unit)).collect::<Result<Vec<_>>>()?;
        let fixed = precision(delta);
        let coarsest =
            all.iter().map(|counts| Plan::coarsest(counts, epsilon, About::Epsilon)).collect::<Result<Vec<_>>>()?;
        let least: f64 = coarsest.iter().map(|plan| plan.above).sum();
        if all.len() > 1 && least > MOST_PRODUCTS {
            return Err(too_long(least));
        }
        let plans =
            all.iter().map(|counts| Plan::new(counts, epsilon, About::Epsilon, 1)).collect::<Result<Vec<_>>>()?;
        let sides =
            all.iter().zip(&plans).map(|(counts, plan)| above(counts, plan, fixed)).collect::<Result<Vec<_>>>()?;
        let worst = worst(&sides, certified)?;
        let (mut upper, unit) = upper_end(&sides[worst], delta, certified, plans[worst].tilt.to_f64())?;
        let test = Test::best(&all[worst], &plans[worst], fixed, certified, |test| test.shows(delta))?;
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
        let [upper, delta, lower] = [&self.upper, &self.delta, &self.lower].map(Number::new);
        let (above, certified, theorem) = self.upper_text([&upper, &delta, &lower]);
        format!(
            "{above}{test}\
             Lemma above_holds : {certified} = true.\nProof. vm_cast_no_check (eq_refl true). Qed.\n\n\
             {lemma}Open Scope R_scope.\n\n{theorem}",
            test = self.test.definitions(""),
            lemma = self.test.lemma([&self.lower, &self.delta]),
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
        counts_text(&self.counts)
    }
}

/// The composition with the largest bound of delta.
fn worst(sides: &[Side], epsilon: &Rational) -> Result<usize> {
    if sides.len() == 1 {
        return Ok(0);
    }
    let bounds = sides.iter().map(|side| side.upper(epsilon).ok_or_else(few)).collect::<Result<Vec<_>>>()?;
    Ok((0..sides.len()).max_by_key(|&i| &bounds[i]).unwrap_or_default())
}

/// The least decimal that the walk proves, and the unit of its last digit: between a fourth and a fortieth of its distance.
fn upper_end(above: &Side, delta: &Rational, certified: &Rational, tilt: f64) -> Result<(Rational, Rational)> {
    // ln(delta) falls by about the tilt in one unit of epsilon.
    let missing = |bound: &Rational| libm::log(Rational::from(bound / delta).to_f64()) / tilt;
    let distance = missing(&above.upper(certified).ok_or_else(few)?);
    if !(distance.is_finite() && distance > 1e-12) {
        return Err(few());
    }
    let unit = power_of_ten(libm::log10(distance / 4.0).floor() as i32);
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

    #[test]
    fn both_ends_enclose_delta_closely() {
        use crate::account::Epsilon;
        for (counts, epsilon) in [
            (&["3.14159265", "2.71828183"][..], "2"),
            (&["31.4159265x3@2", "271.828183x2@5"], "1"),
            (&["5x10"], "10"),
            (&["50"], "0"),
        ] {
            let whole = whole(counts);
            let epsilon = parse(epsilon).unwrap();
            let exact = whole.delta(Epsilon::new(epsilon.clone()).unwrap(), 12).unwrap().value;
            let exact = [exact.lower_rational().unwrap(), exact.upper_rational().unwrap()];
            let Whole::Composition(one) = &whole else { panic!("one composition") };
            let path: Vec<&Group> = one.loss().groups().iter().collect();
            let ends = FineEnds::new(&path, [&epsilon, &exact[1]], 6, 1).unwrap();
            let message = format!("{counts:?} {epsilon}: {:?} {} {:?}", ends.lower, exact[0].to_f64(), ends.upper);
            assert!(ends.lower < exact[0] && exact[1] < ends.upper, "{message}");
            assert!(Rational::from(&ends.upper - &ends.lower) < Rational::from(&exact[1] / 50_u32), "{message}");
            // The same noise is not both enough and not.
            FineEnds::of_scale([&path, &path], &epsilon, &exact[1]).unwrap_err();
        }
    }
}
