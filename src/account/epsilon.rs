//! Epsilon from delta: the root of the privacy profile, proven from both sides.
//!
//! The profile of a family is the largest of its units' profiles, so its epsilon is the largest of theirs. One unit leads: its
//! root is enclosed by itself, to all digits. At the upper end of that root every other unit is shown to be at most delta,
//! nearly all of them at once and in doubles. A unit that is not takes the lead.

use std::{cell::RefCell, collections::BTreeMap};

use rug::Rational;

use super::conversions;
use crate::{
    error::{Error, Result},
    loss::{
        answer::{Answer, Method, Pair},
        evaluator::{Evaluator, FamilyEvaluator, SumEvaluator},
        parameter::{Delta, Rho},
    },
    numeric::{
        Enclosure,
        root::{self, Decreasing},
    },
};

/// Digits of a first root, which only tells where to look for the unit that leads.
const FIRST_DIGITS: u32 = 6;

/// How many units may take the lead, one after the other.
const MOST_LEADERS: usize = 24;

/// The smallest epsilon >= 0 with delta(epsilon) <= delta, to a relative width of 10^-digits.
pub(super) fn by(evaluator: &Evaluator, rho: &Rho, delta: &Delta, digits: u32) -> Result<Answer> {
    // The concentrated bound holds for every discrete Gaussian, so it is a ceiling.
    let ceiling = conversions::zcdp_epsilon(rho, delta, 15).upper().to_f64().next_up();
    let asked = Asked { delta, ceiling, digits };
    let Evaluator::Family(family) = evaluator else { return asked.of_one(evaluator) };
    match asked.of_largest(family) {
        // All together may be swept where one by itself is not: a wider answer, in place of none.
        Ok(None) | Err(Error::Unsweepable { .. }) => asked.by_root_of(evaluator),
        Ok(Some(answer)) => Ok(answer),
        Err(error) => Err(error),
    }
}

/// How many more digits of delta tell whether a unit is at most delta where the leader is: delta changes by more than epsilon.
const GUARD_DIGITS: u32 = 2;

/// A privacy profile, in two qualities.
trait Profile {
    /// The hockey stick at epsilon to so many digits.
    fn enclose(&self, epsilon: &Rational, digits: u32) -> Result<Answer>;
    /// Its logarithm, an approximation.
    fn ln_approx(&self, epsilon: &Rational) -> Result<f64>;
    /// Where to look for the epsilon of this delta first, and by steps of which size; `None` where that does not matter.
    fn around(&self, delta: &Delta) -> Option<(f64, f64)>;
}

impl Profile for Evaluator {
    fn enclose(&self, epsilon: &Rational, digits: u32) -> Result<Answer> {
        match self {
            Evaluator::Sum(sum) => sum.enclose(epsilon, digits),
            Evaluator::Family(family) => family.hockey_stick(epsilon, digits),
        }
    }

    fn ln_approx(&self, epsilon: &Rational) -> Result<f64> {
        self.ln_hockey_stick_approx(epsilon)
    }

    fn around(&self, delta: &Delta) -> Option<(f64, f64)> {
        match self {
            Evaluator::Sum(sum) => sum.around(delta),
            Evaluator::Family(_) => None,
        }
    }
}

impl Profile for SumEvaluator {
    fn enclose(&self, epsilon: &Rational, digits: u32) -> Result<Answer> {
        self.hockey_stick_for_root(epsilon, digits)
    }

    fn ln_approx(&self, epsilon: &Rational) -> Result<f64> {
        self.ln_hockey_stick_approx(epsilon)
    }

    /// Where the profile is a staircase it takes long far from the epsilon that is looked for. A loss of nearly a Gaussian law exceeds its mean
    /// by so many deviations with a probability of delta.
    fn around(&self, delta: &Delta) -> Option<(f64, f64)> {
        let (mean, deviation) = self.has_steps().then(|| self.mean_and_deviation_approx())?;
        let ln = -Enclosure::rational(delta, 64).ln().approximate();
        let far = (2.0 * ln).sqrt();
        let far = if far > 1.5 { far - (far.ln() + 0.92) / far } else { 0.0 };
        let (start, step) = (mean + far * deviation, deviation / (1.0 + far));
        (start.is_finite() && step > 1e-9 * start).then_some((start, step))
    }
}

/// A question for epsilon.
struct Asked<'a> {
    delta: &'a Delta,
    /// No epsilon is above.
    ceiling: f64,
    digits: u32,
}

impl Asked<'_> {
    fn of_one(&self, evaluator: &Evaluator) -> Result<Answer> {
        let answer = self.by_root_of(evaluator)?;
        if *answer.value.upper() != 0 {
            return Ok(answer);
        }
        Ok(Answer { method: Method::Immediate("delta(0) is below delta already"), ..answer })
    }

    /// The root of a profile as it is.
    fn by_root_of(&self, evaluator: &impl Profile) -> Result<Answer> {
        // The last answer is nearly always the proof at the upper end.
        let last: RefCell<Option<(Rational, Answer)>> = RefCell::default();
        let enclose = |epsilon: &Rational, digits| {
            let answer = evaluator.enclose(epsilon, digits)?;
            let value = answer.value.clone();
            last.replace(Some((epsilon.clone(), answer)));
            Ok(value)
        };
        let profile = Decreasing { ln_approx: |epsilon: &Rational| evaluator.ln_approx(epsilon), enclose };
        let around = evaluator.around(self.delta);
        let root = root::decreasing_root_around(&profile, self.delta, self.ceiling, around, self.digits)?;
        let upper = upper_end(&root.value)?;
        let method = match last.take() {
            Some((epsilon, proof)) if epsilon == upper => proof.method,
            _ => match evaluator.enclose(&upper, self.digits) {
                Ok(proof) => proof.method,
                Err(error) if error.is_beyond_reach() => {
                    Method::Immediate("the bound by zCDP alone: the losses cannot be swept")
                }
                Err(error) => return Err(error),
            },
        };
        Ok(Answer { value: root.value, method, met: root.met })
    }

    /// The root of one unit's own profile.
    fn of_unit(&self, family: &FamilyEvaluator, pair: Pair, digits: u32) -> Result<Answer> {
        Asked { digits, ..*self }.by_root_of(&*family.unit(pair)?)
    }

    /// The largest root of all units; `None` if too many of them would have to lead.
    fn of_largest(&self, family: &FamilyEvaluator) -> Result<Option<Answer>> {
        // Any unit's root is near the largest one: its leader there is nearly always the leader for good.
        let first = self.of_unit(family, (0, 0), FIRST_DIGITS)?;
        let mut leader = family.leader(&upper_end(&first.value)?)?;
        let mut roots: BTreeMap<Pair, Answer> = BTreeMap::new();
        let mut value: Option<Enclosure> = None;
        while roots.len() < MOST_LEADERS {
            let root = self.of_unit(family, leader, self.digits)?;
            // The largest of all roots is at least each of them.
            let highest = value.map_or(root.value.clone(), |value| value.max(&root.value));
            roots.insert(leader, root);
            // Delta decreases, so a unit that led before is at most delta at this end, too.
            let known: Vec<Pair> = roots.keys().copied().collect();
            let above = family.above(&upper_end(&highest)?, self.delta, self.digits + GUARD_DIGITS, &known)?;
            let Some(next) = above.pair else { return Ok(self.largest(highest, roots, above.contenders)) };
            (leader, value) = (next, Some(highest));
        }
        Ok(None)
    }

    /// The answer for the highest of some roots.
    fn largest(&self, value: Enclosure, roots: BTreeMap<Pair, Answer>, contenders: usize) -> Option<Answer> {
        let (pair, root) = roots.into_iter().max_by(|a, b| a.1.value.upper().total_cmp(b.1.value.upper()))?;
        let method = Method::Worst { pair, contenders: contenders.max(1), method: Box::new(root.method) };
        let met = root.met && value.is_tight(self.digits) || *value.upper() == 0;
        Some(Answer { value, method, met })
    }
}

/// The upper end of a root.
fn upper_end(root: &Enclosure) -> Result<Rational> {
    root.upper_rational().ok_or(Error::Unbounded { what: "epsilon" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        account::{Account, Composition, Counts, paths::WorstPath},
        loss::family::Units,
    };

    fn composition(counts: &[&str]) -> Composition {
        let of = |counts: &&str| match counts.strip_prefix("laplace ") {
            Some(counts) => Counts::parse_discrete_laplace(counts).unwrap(),
            None => counts.parse().unwrap(),
        };
        Composition::new(counts.iter().map(of)).unwrap()
    }

    /// The largest of the roots of all units, each found by itself: families that share a contour, with twins and near ties, and
    /// families that do not.
    #[test]
    fn the_epsilon_of_a_family_is_the_largest_of_its_units() {
        for (paths, units, largest) in [
            (vec![vec!["5x10"], vec!["2x4"], vec!["3x3", "5x5"]], Units::Pairs, None),
            (vec![vec!["5x10"], vec!["5x4", "5x6"], vec!["50x100"]], Units::Pairs, None),
            (vec![vec!["5x10"], vec!["4.99x10"]], Units::Pairs, Some((1, 1))),
            (vec![vec!["5x10"], vec!["5x9", "laplace 1x1"]], Units::Single, None),
        ] {
            let worst = WorstPath::new(paths.iter().map(|path| composition(path)).collect(), units).unwrap();
            for (delta, digits) in [("1e-10", 12), ("0.01", 8), ("1e-30", 18), ("0.999", 9)] {
                let delta: Delta = delta.parse().unwrap();
                let answer = worst.epsilon(&delta, digits).unwrap();
                assert!(answer.met && (answer.value.is_tight(digits) || *answer.value.upper() == 0), "{answer:?}");
                let count = paths.len();
                let units = (0..count).flat_map(|p| (p..count).map(move |q| (p, q)));
                let alone = |pair: Pair| worst.composition(pair).unwrap().epsilon(&delta, digits).unwrap().value;
                let all: Vec<Enclosure> = units.filter(|(p, q)| worst.in_pairs() || p == q).map(alone).collect();
                let truth = all.iter().skip(1).fold(all[0].clone(), |largest, next| largest.max(next));
                assert!(answer.value.overlaps(&truth), "{paths:?} {digits}: {answer:?} {truth:?}");
                assert!(largest.is_none_or(|pair| answer.pair() == Some(pair)), "{paths:?}: {answer:?}");
            }
        }
    }
}
