//! Common-step reduction: two fine groups whose losses are nearly multiples of one step are taken as one group. The number of lobes and losses is
//! then that of one group, while the two groups have the more of them the less their steps differ.
//!
//! # The sums
//!
//! Let the sums X and X' of the noise of two fine groups have variances v and v', their losses steps d and d', and let eta = a d - b d' be small for
//! coprime a and b. The integers n = b X + a X' and k, counted along (a, -b), determine X and X', and conversely. With
//!
//! ```text
//! v'' = b^2 v + a^2 v',    d'' = (b v d + a v' d') / v'',    V = v v' / v'',    tau^2 = eta^2 V,
//! X^2 / (2 v) + X'^2 / (2 v') = n^2 / (2 v'') + z^2 / (2 V),    d X + d' X' = d'' n + eta z,
//! ```
//!
//! z being k less its mean, which depends on n. The means of the losses are v d^2 / 2, v' d'^2 / 2 and v'' d''^2 / 2; the sum of the first two is the
//! third plus tau^2 / 2. The merged group is that of sigma2 = 1 / d'' in v'' d'' copies, each moved by one: v'' d'' is an integer, because v d is
//! copies times shift. So up to a factor 1 + e of every mass ([`fine`](super::fine)), both groups together have the loss l of the merged one, plus
//! tau^2 / 2 + eta z. As k is an integer and V is not small, that second part is nearly continuous Gaussian noise that spends tau^2 / 2. The same
//! step again merges a third group with the merged one.
//!
//! # The proof
//!
//! With N = 1 / sqrt(2 pi V), g(z) = N exp(-z^2 / (2 V)) and theta = 2.02 exp(-2 pi^2 V), sums of g(z) exp(x z) over any translate of the integers
//! are their integral up to a factor 1 + theta, by Poisson's formula. At an epsilon with y = eps - l let H be the sum of
//! g(z) (1 - exp(y - tau^2 / 2 - eta z))_+: the loss l of the merged sum adds P[l] H to delta, and to 1 - delta it adds P[l] times the sum H' of
//! g(z) min(1, exp(y - tau^2 / 2 - eta z)), which is 1 - H up to theta. For a width W with tau^2 <= W <= 1, and
//! t = exp(-(W - 2 tau^2)^2 / (2 tau^2)):
//!
//! - y >= W: 0 <= H <= 1.01 t, by Chernoff's bound.
//! - y <= -W: H is 1 - exp(y) up to 2 theta + 1.01 t, and 1 - exp(y) >= W / 2; H' is exp(y) up to a factor
//!   1 + theta + 1.01 t exp(W), because what is beyond eps adds at most 1.01 exp(-(y - tau^2 / 2)^2 / (2 tau^2)).
//! - -W < y < W: H is its integral up to B, and that is (1 - exp(y))_+ + w D(|y|) with D the profile of noise of variance tau^2 and
//!   w = min(1, exp(y)). The sum of F over a translate of the integers is off from the integral by a twelfth of the total variation
//!   of F' at most (Euler and Maclaurin; the second Bernoulli polynomial is at most 1/6). F = g h, where h grows by at most eta a
//!   unit and h' varies by at most 2 eta: with h(z) <= eta |z| + |y| + tau^2,
//!
//!   ```text
//!   B = (2 eta N + 4 eta N + 2.4 eta / sqrt(V) + (|y| + tau^2) / V) / 12 <= (0.41 tau + 0.09 (W + tau)) / V.
//!   ```
//!
//! Several merges add up: theta and B of each, with tau^2 that of all. So with S the sum of P[l] (w D(|eps - l|) +- B) over the merged losses within W
//! of eps, and delta' the hockey stick of the merged sum,
//!
//! ```text
//! delta = delta' (1 +- (e + (4 theta + 2.1 t) / W)) + S + [0, 1.01 t],    1 - delta = (1 - delta') (1 +- (e + 3 theta + 1.1 t exp(W))) - S.
//! ```

use rug::{Float, Integer, Rational, float::Round};

use super::{
    answer::{Answer, Proof, Quantity},
    fine, gaussian,
    law::{Group, Law},
    smoothed::Interval,
    sum::LossSum,
};
use crate::{
    error::{Error, Result},
    numeric::{Enclosure, enclosure, precision, rational},
};

/// Sums of more groups are not reduced.
const MOST_GROUPS: usize = 12;
/// Upper bound on a and b.
const MOST_TIMES: u64 = 64;
/// tau is at most this times the merged step, and V at least this.
const CLOSE: f64 = 1e-3;
const LEAST_VARIANCE: u32 = 50;
/// The masses, and the answer of the merged sum, have this number of digits beyond the requested ones.
const MORE_DIGITS_OF_MASSES: f64 = 10.0;
const MORE_DIGITS: u32 = 2;
/// At most this many losses within W of an epsilon are considered.
const MOST_NEAR: f64 = 2000.0;
/// Precision in bits of the corrections that are small beside the answer.
const BITS: u32 = 128;

/// A sum in which groups are merged.
#[derive(Debug)]
pub(super) struct Merged {
    sum: LossSum,
    /// Upper bound on ln |e|.
    ln_off: f64,
    jitters: Vec<Jitter>,
    /// The sum of all tau^2.
    variance: Rational,
}

/// The loss of two groups beyond that of the merged one.
#[derive(Debug)]
struct Jitter {
    /// V and tau^2.
    of_multiples: Rational,
    of_loss: Rational,
}

impl Merged {
    /// For a sum in which some groups can be merged; `None` for others.
    pub(super) fn new(sum: &LossSum) -> Option<Merged> {
        if sum.groups().len() > MOST_GROUPS {
            return None;
        }
        let mut groups = sum.groups().to_vec();
        let (mut ln_off, mut parts, mut jitters) = (f64::NEG_INFINITY, 0.0, Vec::new());
        while let Some((i, j, group, jitter)) = first_pair(&groups) {
            let own = [&groups[i], &groups[j], &group].map(fine::ln_off);
            ln_off = own.into_iter().flatten().fold(ln_off, f64::max);
            parts += 3.0;
            jitters.push(jitter);
            groups.remove(j);
            groups[i] = group;
        }
        if jitters.is_empty() {
            return None;
        }
        let variance = jitters.iter().map(|jitter| &jitter.of_loss).sum();
        // Products and quotients of this number of factors 1 + e, each e below a hundredth.
        Some(Merged { sum: LossSum::new(groups).ok()?, ln_off: ln_off + libm::log(2.0 * parts), jitters, variance })
    }

    /// The sum with the merged groups.
    pub(super) fn sum(&self) -> &LossSum {
        &self.sum
    }

    /// Whether its masses are those of the groups to this number of digits.
    pub(super) fn suffices_for(&self, digits: u32) -> bool {
        self.ln_off < -(f64::from(digits) + MORE_DIGITS_OF_MASSES) * std::f64::consts::LN_10
    }

    /// tau, in doubles: an approximation.
    pub(super) fn deviation(&self) -> f64 {
        Float::with_val(64, &self.variance).sqrt().to_f64()
    }

    /// The number of digits of the merged sum that are required for `digits` of the groups.
    pub(super) fn needed(digits: u32) -> u32 {
        digits + MORE_DIGITS
    }

    /// The hockey stick of the groups from that of the merged sum. `between` returns the losses of the merged sum between two ends, given the
    /// truncation error that is allowed and the largest acceptable number of losses. `None` where no enclosure results.
    pub(super) fn hockey_stick(
        &self,
        merged: &Answer,
        epsilon: &Rational,
        digits: u32,
        between: impl Fn(&Rational, &Rational, f64, f64) -> Option<Interval>,
    ) -> Result<Option<Answer>> {
        let bits = merged.value.lower().prec().max(merged.value.upper().prec()).max(precision::bits(digits, 64));
        let one = Enclosure::double(1.0, bits);
        let rest = one.sub(&merged.value);
        let smaller = enclosure::smaller(merged.value.lower(), rest.lower());
        if smaller <= 0 {
            return Ok(None);
        }
        let ln_smaller = Float::with_val(64, smaller.ln_ref()).to_f64();
        let Some((near, [of_answer, of_rest, beyond])) = self.near(epsilon, ln_smaller, digits, between) else {
            return Ok(None);
        };
        let about_one = |off: &Enclosure| one.sub(off).hull(&one.add(off));
        let beyond = Enclosure::double(0.0, BITS).hull(&beyond);
        // S is made of masses of the merged sum, which have the same relative error.
        let near = near.mul(&about_one(&of_rest));
        let value = merged.value.mul(&about_one(&of_answer)).add(&near).add(&beyond);
        let by_rest = one.sub(&rest.mul(&about_one(&of_rest)).sub(&near));
        let value = value.meet(&by_rest).ok_or(Error::Contradiction { what: "a certified value" })?.clamp(0.0, 1.0);
        let groups = if self.jitters.len() == 1 { "two groups" } else { "groups" };
        let summary = format!("{}, {groups} of nearly the same step taken as one", merged.proof);
        let merges = Quantity::Count(self.jitters.len() as u64);
        let proof = Proof::derived("common-step reduction", summary, merged.proof.clone()).with(
            "merges",
            "pairs of groups taken as one",
            merges,
        );
        Ok(Some(Answer { met: value.is_tight(digits), value, proof }))
    }

    /// S, upper bounds on the relative errors of delta' and of its complement, and 1.01 t.
    fn near(
        &self,
        epsilon: &Rational,
        ln_smaller: f64,
        digits: u32,
        between: impl Fn(&Rational, &Rational, f64, f64) -> Option<Interval>,
    ) -> Option<(Enclosure, [Enclosure; 3])> {
        let real = |x: f64| Enclosure::double(x, BITS);
        let (off, theta) = (real(self.ln_off).exp(), self.theta());
        if self.variance == 0 {
            let off = off.add(&theta.mul(&real(2.0)));
            return Some((real(0.0), [off.clone(), off, real(0.0)]));
        }
        let ln_error = ln_smaller - f64::from(digits + 2 * MORE_DIGITS) * std::f64::consts::LN_10;
        let width = self.width(ln_error)?;
        let (wide, tail) = (Enclosure::rational(&width, BITS), self.tail(&width));
        let of_answer = theta.mul(&real(4.0)).add(&tail.mul(&real(2.1))).div(&wide);
        let of_rest = theta.mul(&real(3.0)).add(&tail.mul(&real(1.1)).mul(&wide.exp()));
        let bounds = [off.add(&of_answer), off.add(&of_rest), tail.mul(&real(1.01))];
        Some((self.straddling(epsilon, &width, ln_error, digits, between)?, bounds))
    }

    /// A width at which t is below exp(ln_error), also relative to the width; `None` where it is not between tau^2 and 1.
    fn width(&self, ln_error: f64) -> Option<Rational> {
        let tau = self.deviation();
        let width = tau * (2.0 * (5.0 - ln_error - libm::log(tau)).max(1.0)).sqrt() * 1.001 + 4.0 * tau * tau;
        rational::from_f64(width).ok().filter(|width| *width > self.variance && *width <= 1)
    }

    /// Upper bound on t.
    fn tail(&self, width: &Rational) -> Enclosure {
        let twice = Rational::from(&self.variance * 2_u32);
        let least = Rational::from(width - &twice);
        let exponent = if least > 0 { least.square() / twice } else { Rational::new() };
        Enclosure::rational(&exponent, BITS).negate().exp()
    }

    /// Upper bound on theta.
    fn theta(&self) -> Enclosure {
        self.jitters.iter().fold(Enclosure::double(0.0, BITS), |sum, jitter| sum.add(&jitter.theta()))
    }

    /// Upper bound on 0.63 tau + B.
    fn most(&self, width: &Rational) -> Enclosure {
        let tau = Enclosure::rational(&self.variance, BITS).sqrt();
        tau.mul(&Enclosure::double(0.63, BITS)).add(&self.off(width))
    }

    /// S.
    fn straddling(
        &self,
        epsilon: &Rational,
        width: &Rational,
        ln_error: f64,
        digits: u32,
        between: impl Fn(&Rational, &Rational, f64, f64) -> Option<Interval>,
    ) -> Option<Enclosure> {
        let (from, to) = (Rational::from(epsilon - width), Rational::from(epsilon + width));
        let (off, most) = (self.off(width), self.most(width));
        let spends = Rational::from(&self.variance / 2_u32);
        // The truncation error of the masses under Q has to be below exp(ln_error) in all, times exp(eps) and the largest
        // contribution of one loss per unit of its mass.
        let ln_error = ln_error - epsilon.to_f64() - most.ln().approximate() - 2.0;
        let bits = precision::bits(digits, 64);
        let mut sum = Enclosure::double(0.0, bits);
        let interval = between(&from, &to, ln_error, MOST_NEAR)?;
        for (loss, mass) in &interval.losses {
            let distance = Rational::from(epsilon - loss).abs();
            let profile = gaussian::hockey_stick(&spends, &distance, digits);
            // P[l] w = Q[l] exp(min(l, eps)).
            let weight = Enclosure::rational(if loss < epsilon { loss } else { epsilon }, bits).exp();
            let own = profile.mul(&weight).add(&plus_minus(&off).mul(&Enclosure::rational(loss, BITS).exp()));
            sum = sum.add(&mass.mul(&own));
        }
        let missing = Enclosure::new(Float::new(BITS), interval.missing);
        Some(sum.add(&plus_minus(&missing.mul(&Enclosure::rational(&to, BITS).exp()).mul(&most))))
    }

    /// Upper bound on B.
    fn off(&self, width: &Rational) -> Enclosure {
        let real = |x: f64| Enclosure::double(x, BITS);
        let exact = |x: &Rational| Enclosure::rational(x, BITS);
        let tau = exact(&self.variance).sqrt();
        let far = exact(width).add(&tau).mul(&real(0.09));
        let of = |jitter: &Jitter| {
            exact(&jitter.of_loss).sqrt().mul(&real(0.41)).add(&far).div(&exact(&jitter.of_multiples))
        };
        self.jitters.iter().fold(real(0.0), |sum, jitter| sum.add(&of(jitter)))
    }
}

impl Jitter {
    /// Upper bound on theta.
    fn theta(&self) -> Enclosure {
        let real = |x: f64| Enclosure::double(x, BITS);
        let pi = Enclosure::pi(BITS);
        let exponent = pi.mul(&pi).mul(&real(-2.0)).mul(&Enclosure::rational(&self.of_multiples, BITS));
        exponent.exp().mul(&real(2.02))
    }
}

/// The enclosure from minus the upper end of a bound to its upper end.
fn plus_minus(bound: &Enclosure) -> Enclosure {
    let upper = bound.upper().clone();
    let lower = Float::with_val_round(upper.prec(), -&upper, Round::Down).0;
    Enclosure::new(lower, upper)
}

/// The first two groups that can be merged, the merged group, and the remaining part of the loss.
fn first_pair(groups: &[Group]) -> Option<(usize, usize, Group, Jitter)> {
    let pairs = (0..groups.len()).flat_map(|i| (i + 1..groups.len()).map(move |j| (i, j)));
    let merge = |(i, j): (usize, usize)| merge(&groups[i], &groups[j]).map(|(group, jitter)| (i, j, group, jitter));
    pairs.filter_map(merge).next()
}

/// Two groups taken as one.
fn merge(one: &Group, other: &Group) -> Option<(Group, Jitter)> {
    fine::ln_off(one)?;
    fine::ln_off(other)?;
    let variance = |group: &Group| Some(Rational::from(group.law.discrete_sigma2()? * group.copies));
    let (v, other_v) = (variance(one)?, variance(other)?);
    let (d, other_d) = (one.weight(), other.weight());
    convergents(&Rational::from(&d / &other_d)).into_iter().find_map(|(b, a)| {
        let merged_v = Rational::from(&v * Integer::from(b * b)) + Rational::from(&other_v * Integer::from(a * a));
        let shifts = |group: &Group, times: u64| group.copies.checked_mul(group.shift)?.checked_mul(times);
        let copies = shifts(one, b)?.checked_add(shifts(other, a)?)?;
        let eta = Rational::from(&d * a) - Rational::from(&other_d * b);
        let of_multiples = Rational::from(&v * &other_v) / &merged_v;
        let of_loss = eta.square() * &of_multiples;
        let step = Rational::from(copies) / &merged_v;
        let is_close = Float::with_val(64, &of_loss).sqrt() <= Float::with_val(64, step) * CLOSE;
        let group = Group { law: Law::DiscreteGaussian { sigma2: merged_v / copies }, shift: 1, copies };
        (is_close && of_multiples >= LEAST_VARIANCE && fine::ln_off(&group).is_some())
            .then_some((group, Jitter { of_multiples, of_loss }))
    })
}

/// Fractions b / a close to a positive number, each closer than all of smaller denominators: the convergents of its continued fraction.
fn convergents(number: &Rational) -> Vec<(u64, u64)> {
    let mut rest = number.clone();
    let (mut before, mut last) = ((0_u64, 1_u64), (1_u64, 0_u64));
    let mut all = Vec::new();
    loop {
        let whole = rest.clone().floor().into_numer_denom().0;
        let Some(whole) = whole.to_u64().filter(|whole| *whole <= MOST_TIMES) else { return all };
        let next = (whole * last.0 + before.0, whole * last.1 + before.1);
        if next.0.max(next.1) > MOST_TIMES {
            return all;
        }
        if next.0 > 0 {
            all.push(next);
        }
        (before, last) = (last, next);
        rest -= whole;
        if rest == 0 {
            return all;
        }
        rest.recip_mut();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        loss::{evaluator::SumEvaluator, limit::Limit, testing::sum},
        numeric::rational::parse,
    };

    /// Groups small enough to enumerate all losses: two and three of nearly the same step, or of nearly twice and two thirds of it, some with coarse
    /// noise beside them. Between their losses the enclosure has the requested precision; at a loss of the merged sum and a few tau beside it, it
    /// encloses the truth all the same.
    #[test]
    fn reduction_agrees_with_enumeration() {
        let mut straddled = 0;
        for (groups, merges) in [
            (vec!["200", "200.001"], 1),
            (vec!["150x2", "300.0003@2"], 1),
            (vec!["400@2", "400.00007x2", "3/7x2"], 1),
            (vec!["240@2", "360.000001", "360.00002"], 2),
            (vec!["200", "400", "3"], 1),
        ] {
            let sum = sum(&groups);
            let merged = Merged::new(&sum).unwrap();
            assert_eq!(merged.jitters.len(), merges, "{groups:?}: {merged:?}");
            // The mean of the remaining losses, exactly.
            let beside = Rational::from(&merged.variance / 2_u32);
            assert_eq!(*sum.rho(), Rational::from(merged.sum().rho() + &beside), "{groups:?}");
            let (all, of_merged) = (sum.evaluator(), SumEvaluator::new(merged.sum().clone()));
            let tau = Rational::from_f64(merged.deviation()).unwrap();
            let is_finest = |a: &&Group, b: &&Group| a.weight().cmp(&b.weight());
            let step = merged.sum().groups().iter().min_by(is_finest).unwrap().weight();
            for (place, digits) in [("0", 30), ("1e-9", 8), ("0.013", 8), ("0.2", 30), ("1", 12)] {
                let multiple = ((parse(place).unwrap() - merged.sum().rho()) / &step).ceil();
                let loss = multiple * &step + merged.sum().rho();
                for (off, is_at_loss) in [
                    (Rational::new(), true),
                    (tau.clone(), true),
                    (-Rational::from(&tau * 2_u32), true),
                    (Rational::from(&tau * 40_u32), false),
                    (Rational::from(&step / 7_u32), false),
                ] {
                    let epsilon = &loss + off;
                    if epsilon < 0 {
                        continue;
                    }
                    let known = of_merged.hockey_stick(&epsilon, Merged::needed(digits)).unwrap();
                    let between = |from: &Rational, to: &Rational, ln_error, most| {
                        of_merged.losses_between(from, to, ln_error, most, &of_merged.session(Limit::NONE))
                    };
                    let by_reduction = merged.hockey_stick(&known, &epsilon, digits, between).unwrap().unwrap();
                    let listed = all.hockey_stick_by("enumeration", &epsilon, digits + 4).unwrap().unwrap();
                    assert!(
                        by_reduction.value.overlaps(&listed.value),
                        "{groups:?} {epsilon}: {by_reduction:?} {listed:?}"
                    );
                    assert!(by_reduction.value.is_tight(5), "{groups:?} {epsilon} {digits}: {by_reduction:?}");
                    if !is_at_loss {
                        assert!(by_reduction.met, "{groups:?} {epsilon} {digits}: {by_reduction:?}");
                    }
                    let differs = !known.value.overlaps(&listed.value);
                    straddled += i32::from(differs && is_at_loss);
                }
            }
        }
        // The correction of losses within W is not negligible.
        assert!(straddled > 20, "{straddled}");
    }

    #[test]
    fn only_fine_groups_of_close_steps_are_merged() {
        for groups in [
            // Too coarse, too far apart, no simple ratio, nothing to merge.
            vec!["1/2x9", "500000001/1000000000x9"],
            vec!["200", "201"],
            vec!["20000", "9973"],
            vec!["200"],
        ] {
            assert!(Merged::new(&sum(&groups)).is_none(), "{groups:?}");
        }
        let merged = Merged::new(&sum(&["20x9", "20.0000001x9"])).unwrap();
        assert!(merged.suffices_for(12) && !merged.suffices_for(400), "{merged:?}");
    }

    #[test]
    fn convergents_are_the_nearest_fractions() {
        let of = |number: &str| convergents(&parse(number).unwrap());
        assert_eq!(of("3.14159265"), [(3, 1), (22, 7)]);
        assert_eq!(of("0.4999999"), [(1, 2)]);
        assert_eq!(of("2/3"), [(1, 1), (2, 3)]);
        assert!(of("1000").is_empty() && of("0.001").is_empty());
    }
}
