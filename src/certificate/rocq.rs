//! The upper end of a claim as a file for Rocq, the proof assistant: `proofs/rocq` has the definitions and the soundness proof of its
//! computation, the file has one composition with hints.
//!
//! The computation is a walk over a circle of lattice points in fixed point with 30 bits (`proofs/rocq/Certificate.v`). It is repeated here
//! in the same integers, except for the exponentials, which are doubles: so the file states only what its computation can prove.

use std::path::Path;

use rug::{Integer, Rational};

use super::{
    claim::{Claim, Question},
    ends::round_up,
};
use crate::{
    error::{Error, Result},
    io::files,
    loss::law::Group,
    numeric::rational,
};

/// Rows and weights are in units of 2^-30; no entry of a row, and no sum of weights, may be above 2.
const WHOLE: f64 = (1_u64 << 30) as f64;
const TOP: u64 = 1 << 31;
/// The largest number of products of a walk: Rocq takes about a third of a microsecond for each, and a millisecond for an exponential.
const MOST_PRODUCTS: f64 = 1e9;
const EXPONENTIAL: f64 = 3e3;
/// The largest number of entries of a row.
const LONGEST_ROW: f64 = 2e5;
/// Deviations of the loss in a period, and of the noise on each side of a window: the truncated mass is below 10^-6 of delta.
const PERIOD: f64 = 5.5;
const WINDOW: f64 = 6.0;
/// The relative distance between the exponentials here and those of the file.
const MARGIN: f64 = 1e-7;

/// A claim delta(epsilon) <= delta with the hints that prove it, for one composition of discrete Gaussian counts.
#[derive(Clone, Debug, PartialEq)]
pub struct FormalClaim {
    /// The claim's epsilon.
    pub epsilon: Rational,
    /// The claim's delta.
    pub delta: Rational,
    title: String,
    walk: Walk,
}

/// Equal counts: the exact parameters, and the window of outputs whose tilted weights are summed one by one.
#[derive(Clone, Debug, PartialEq)]
struct Counts {
    sigma2: Rational,
    shift: u64,
    copies: u64,
    /// The loss of one count moves by `step * h` when its output moves by one.
    step: Integer,
    left: i64,
    width: usize,
    /// The outputs from -reach to reach bound the normalizing sum from below.
    reach: i64,
}

#[derive(Clone, Debug, PartialEq)]
struct Walk {
    counts: Vec<Counts>,
    h: Rational,
    rho: Rational,
    tilt: Rational,
    period: usize,
}

impl FormalClaim {
    /// The claim about the upper end of `claim`, with fewer digits: as many as 30 bits can prove.
    ///
    /// Refused are claims about several paths, noise that is not discrete Gaussian, and lattices that are too fine.
    pub fn new(claim: &Claim) -> Result<FormalClaim> {
        let [path] = &claim.paths.groups[..] else {
            return Err(unprovable("are about one composition, not the worst of many"));
        };
        let (title, upper) = (claim.subject.clone(), &claim.ends.upper);
        match &claim.question {
            Question::Epsilon { delta } => {
                let walk = Walk::new(path, upper)?;
                let (delta, ln_delta) = (Rational::clone(delta), delta.to_f64().ln());
                // The shortest step from the certified end that the rounding of a row allows.
                let shown = (3..10).rev().map(|digits| round_up(upper, digits));
                for epsilon in shown {
                    if walk.ln_delta(&epsilon) < ln_delta - MARGIN {
                        return Ok(FormalClaim { epsilon, delta, title, walk });
                    }
                }
                Err(unprovable("have three digits at least, and 30 bits do not show as many here"))
            }
            Question::Delta { epsilon } => {
                let epsilon = Rational::clone(epsilon);
                let walk = Walk::new(path, &epsilon)?;
                let delta = (walk.ln_delta(&epsilon) + MARGIN).exp();
                if !delta.is_normal() {
                    return Err(unprovable("are not made for a delta below 1e-307"));
                }
                let delta = round_up(&rational::from_f64(delta)?, 6);
                if delta >= 1 {
                    return Err(unprovable("show no delta below one here"));
                }
                Ok(FormalClaim { epsilon, delta, title, walk })
            }
            Question::Beta { .. }
            | Question::Scale { .. }
            | Question::Zcdp { .. }
            | Question::Orders { .. }
            | Question::Marginal { .. }
            | Question::Posterior { .. } => Err(unprovable(
                "are about epsilon and delta, not yet about trade-off points, calibrations and formulas",
            )),
        }
    }

    /// The text of the file. Its theorem is `delta_is_at_most`.
    pub fn text(&self) -> String {
        let Walk { counts, h, tilt, period, .. } = &self.walk;
        let (squarings, bits) = self.walk.precision(&self.epsilon);
        // A title must not close or open a comment, or a string in one.
        let title: String = self
            .title
            .chars()
            .map(|c| if c.is_alphanumeric() || " .,:;&@/+=%-".contains(c) { c } else { ' ' })
            .collect();
        let mut text = format!(
            "(** {}\n\n    Written by `assay prove --rocq`. Checked by computing with integers, see Certificate.v of proofs/rocq. *)\n\n\
             From Coq Require Import Reals ZArith List.\nFrom DpAssay Require Import HockeyStick Certificate Soundness.\n\
             Import ListNotations.\n\nDefinition claim : certificate := Certificate\n  (* num den move copies, then step left width reach *)\n  [",
            title.trim(),
        );
        let groups: Vec<String> = counts
            .iter()
            .map(|c| {
                let (num, den) = (c.sigma2.numer(), c.sigma2.denom());
                format!("Group {num} {den} {} {} {} ({}) {} {}", c.shift, c.copies, c.step, c.left, c.width, c.reach)
            })
            .collect();
        let laws: Vec<String> = counts
            .iter()
            .map(|c| format!("repeat (Count ({} / {}) {}) {}", c.sigma2.numer(), c.sigma2.denom(), c.shift, c.copies))
            .collect();
        let pair = |value: &Rational| format!("({}) ({})", value.numer(), value.denom());
        let ratio = |value: &Rational| format!("{} / {}", value.numer(), value.denom());
        text += &format!(
            "{}]%Z\n  {} (* epsilon *)\n  {} (* delta *)\n  {} (* step of the lattice of losses *)\n  {} (* tilt *)\n  \
             {period} ({}) {bits} {squarings} (* period, first index, bits, squarings *).\n\n\
             Lemma claim_is_certified : certified claim = true.\nProof. vm_cast_no_check (eq_refl true). Qed.\n\n\
             Open Scope R_scope.\n\nTheorem delta_is_at_most :\n  delta ({})\n    ({})\n  <= {}.\n\
             Proof. exact (certified_is_true claim claim_is_certified). Qed.\n",
            groups.join(";\n   "),
            pair(&self.epsilon),
            pair(&self.delta),
            pair(h),
            pair(tilt),
            self.walk.first_index(&self.epsilon),
            laws.join("\n         ++ "),
            ratio(&self.epsilon),
            ratio(&self.delta),
        );
        text
    }

    /// Writes the text to a file, atomically.
    pub fn write(&self, path: &Path) -> Result<()> {
        files::write_text(path, &self.text())
    }

    /// The claim in words.
    pub fn in_words(&self) -> String {
        format!("delta({}) <= {}", rational::display(&self.epsilon), rational::display(&self.delta))
    }
}

impl Walk {
    fn new(path: &[Group], epsilon: &Rational) -> Result<Walk> {
        let mut groups = Vec::new();
        for group in path {
            let Some(sigma2) = group.law.discrete_sigma2() else {
                return Err(unprovable("are about discrete Gaussian noise, not yet about any other"));
            };
            if group.shift > 0 && group.copies > 0 {
                groups.push((sigma2, group));
            }
        }
        let h = groups.iter().map(|(_, group)| group.weight()).reduce(|h, weight| rational::gcd(&h, &weight));
        let h = h.ok_or_else(|| unprovable("need a count that changes"))?;
        let rho: Rational = groups.iter().map(|(_, group)| group.weight() * group.shift * group.copies / 2_u32).sum();
        let tilt = saddle(rho.to_f64(), epsilon.to_f64());
        let deviation = (2.0 * rho.to_f64()).sqrt();
        let c = tilt.to_f64();
        let period = ((PERIOD * deviation).max(20.0 / c) / h.to_f64()).ceil();
        let too_fine = || unprovable("would take too long here: the lattice of the losses is too fine");
        if period.is_nan() || period >= LONGEST_ROW {
            return Err(too_fine());
        }
        let mut counts = Vec::new();
        let mut products = 0.0;
        for (sigma2, group) in groups {
            let sigma = sigma2.to_f64().sqrt();
            let middle = -c * group.shift as f64;
            let (left, right) = ((middle - WINDOW * sigma - 1.0).floor(), (middle + WINDOW * sigma + 1.0).ceil());
            let (width, reach) = (right - left + 1.0, (8.0 * sigma).ceil() + 1.0);
            products += width * period * group.copies as f64 + EXPONENTIAL * (width + 2.0 * reach);
            if products.is_nan() || products >= MOST_PRODUCTS {
                return Err(too_fine());
            }
            counts.push(Counts {
                sigma2: sigma2.clone(),
                shift: group.shift,
                copies: group.copies,
                step: (group.weight() / &h).numer().clone(),
                left: left as i64,
                width: width as usize,
                reach: reach as i64,
            });
        }
        Ok(Walk { counts, h, rho, tilt, period: period as usize })
    }

    /// The index of the smallest loss that is at least epsilon: ceil((epsilon - rho) / h).
    fn first_index(&self, epsilon: &Rational) -> Integer {
        (Rational::from(epsilon - &self.rho) / &self.h).ceil().numer().clone()
    }

    /// The exponent of the last factor, exp(-y): c h lo - c^2 rho.
    fn last_exponent(&self, epsilon: &Rational) -> f64 {
        let reach = Rational::from(&self.h * self.first_index(epsilon));
        (&self.tilt * (reach - Rational::from(&self.tilt * &self.rho))).to_f64()
    }

    /// Squarings and bits of the exponentials: their relative error is y^2 / 2^(squarings + 1) at exp(-y).
    fn precision(&self, epsilon: &Rational) -> (u32, u32) {
        let largest = self.last_exponent(epsilon).abs().max(WINDOW * WINDOW);
        let squarings = (largest * largest / 2e-7).log2().ceil().max(28.0);
        (squarings as u32, (squarings + largest / std::f64::consts::LN_2 + 40.0).ceil().max(80.0) as u32)
    }

    /// ln of the bound that the walk gives for delta(epsilon); infinite if numbers get too large for it.
    fn ln_delta(&self, epsilon: &Rational) -> f64 {
        let mut row = self.first_row(epsilon);
        for counts in self.counts.iter().rev() {
            let (weights, tail) = self.law(counts);
            if weights.iter().chain([&tail]).sum::<u64>() > TOP {
                return f64::INFINITY;
            }
            for _ in 0..counts.copies {
                if row.iter().any(|&entry| entry > TOP) {
                    return f64::INFINITY;
                }
                row = self.next(counts, &weights, tail, &row);
            }
        }
        let entry = row[self.place(-self.first_index(epsilon))];
        (entry as f64 / WHOLE).ln() - self.last_exponent(epsilon)
    }

    /// The place of an index in a row, which is periodic.
    fn place(&self, index: Integer) -> usize {
        // Below the period, which is a usize itself.
        index.modulo(&Integer::from(self.period)).to_usize().unwrap_or_default()
    }

    /// The gain (1 - exp(epsilon - loss)) exp(-c loss) from the first index on, and the aliases a period later.
    fn first_row(&self, epsilon: &Rational) -> Vec<u64> {
        let (h, a) = (self.h.to_f64(), Rational::from(&self.h * &self.tilt).to_f64());
        let loss = Rational::from(&self.h * self.first_index(epsilon)) + &self.rho;
        let theta = (loss - epsilon).to_f64();
        let alias = ((-a * self.period as f64).exp() * WHOLE).floor() as u64 + 1;
        let gain = |d: usize| -(-a * d as f64).exp() * (-(theta + h * d as f64)).exp_m1();
        (0..self.period).map(|d| (gain(d) * WHOLE).floor() as u64 + 1 + alias).collect()
    }

    /// The tilted weights of a count on its window, and the mass outside, rounded up.
    fn law(&self, counts: &Counts) -> (Vec<u64>, u64) {
        let (sigma2, t) = (counts.sigma2.to_f64(), self.tilt.to_f64() * counts.shift as f64);
        let mass: f64 = (-counts.reach..=counts.reach).map(|x| (-(x as f64).powi(2) / (2.0 * sigma2)).exp()).sum();
        let weight = |x: f64| (-(x + t).powi(2) / (2.0 * sigma2)).exp() / mass;
        let (before, after) = (counts.left as f64 - 1.0, counts.left as f64 + counts.width as f64);
        let end = |x: f64| {
            let ratio = (-(2.0 * (x + t).abs() + 1.0) / (2.0 * sigma2)).exp();
            (weight(x) / (1.0 - ratio) * WHOLE).floor() as u64 + 1
        };
        let window = (0..counts.width).map(|i| (weight((counts.left + i as i64) as f64) * WHOLE).floor() as u64 + 1);
        (window.collect(), end(before) + end(after))
    }

    /// A row with one more count. No sum overflows: weights add up to at most 2^31, and no entry is above that.
    fn next(&self, counts: &Counts, weights: &[u64], tail: u64, row: &[u64]) -> Vec<u64> {
        let largest = row.iter().copied().max().unwrap_or(0);
        let mut sums = vec![tail * largest; row.len()];
        for (i, &weight) in weights.iter().enumerate() {
            let moved = Integer::from(&counts.step * -(counts.left + i as i64));
            let (head, rest) = row.split_at(self.place(moved));
            for (sum, &entry) in sums.iter_mut().zip(rest.iter().chain(head)) {
                *sum += weight * entry;
            }
        }
        sums.into_iter().map(|sum| (sum >> 30) + 1).collect()
    }
}

/// The tilt c > 0 with rho (1 + 2 c) = epsilon + 1 / c + 1 / (c + 1), to three digits after the point.
fn saddle(rho: f64, epsilon: f64) -> Rational {
    let (mut low, mut high) = (1e-3_f64, 1e5_f64);
    for _ in 0..100 {
        let c = (low * high).sqrt();
        if rho * (1.0 + 2.0 * c) > epsilon + 1.0 / c + 1.0 / (c + 1.0) { high = c } else { low = c }
    }
    Rational::from(((low * 1000.0).round().max(1.0) as u64, 1000_u32))
}

fn unprovable(why: &str) -> Error {
    Error::Unprovable { why: format!("formal proofs {why}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::subject::Subject;

    fn path(singles: &[&str]) -> Vec<Group> {
        let singles = singles.iter().map(|text| text.parse().unwrap()).collect();
        let resolved = Subject { singles, ..Subject::default() }.resolve().unwrap();
        let crate::account::Whole::Composition(one) = &resolved.whole else { panic!("one composition") };
        one.loss().groups().to_vec()
    }

    #[test]
    fn the_walk_is_an_upper_bound_close_to_delta() {
        use crate::account::{Account, Epsilon};
        for (singles, epsilon) in
            [(&["5x10"][..], "10"), (&["5x10"], "0"), (&["3@3", "7x2"], "2"), (&["0.3x4"], "12"), (&["5x10"], "40")]
        {
            let epsilon = rational::parse(epsilon).unwrap();
            let walk = Walk::new(&path(singles), &epsilon).unwrap();
            let bound = walk.ln_delta(&epsilon);
            let singles = singles.iter().map(|text| text.parse().unwrap()).collect();
            let whole = Subject { singles, ..Subject::default() }.resolve().unwrap().whole;
            let exact = whole.delta(Epsilon::new(epsilon).unwrap(), 12).unwrap().value;
            let exact = exact.lower_rational().unwrap();
            let ln_exact = exact.to_f64().ln();
            assert!(
                bound >= ln_exact && bound - ln_exact < 5e-5,
                "{singles:?}: {bound} {ln_exact}",
                singles = walk.counts
            );
        }
    }

    #[test]
    fn a_title_cannot_leave_its_comment() {
        let (walk, one) = (Walk::new(&path(&["5"]), &Rational::from(1)).unwrap(), Rational::from(1));
        let title = "*) Axiom a : False. (* \"\n".to_string();
        let text = FormalClaim { epsilon: one.clone(), delta: one, title, walk }.text();
        let first = text.lines().next().unwrap();
        assert_eq!(first, "(** Axiom a : False.");
    }
}
