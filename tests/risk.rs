//! Disclosure risk against independent methods: closed forms, sums over outputs, enumeration, limits.

use assert_cmd::Command;
use dp_assay::{
    account::{Account, Composition, Delta},
    noise::DiscreteGaussian,
    numeric::Enclosure,
    release::Neighbors,
    replication::{
        gibbs::{GibbsConstraint, GibbsSampler},
        published,
        risk::{curves, settings::settings},
        verdict, verify,
    },
    risk::{
        bound::{bound, most_correct, most_correct_by_epsilon},
        decision::{NoisyOutput, TrueCounts},
        hierarchical::{Hierarchy, Upper},
        noise,
        outputs::exceeded_epsilon,
        postprocess::Postprocessed,
        single::Attack,
    },
};
use rug::{Float, Rational};
use serde_json::Value;

use crate::common::{
    numbers::number,
    program::{assay as program, json},
};

fn attack(prior: &str, rhos: &[&str]) -> Attack {
    Attack::new(number(prior), rhos.iter().map(|rho| number(rho)).collect()).expect("an attack")
}

fn two_levels(rhos: [&str; 2], others: u64, prior: &str, upper: Upper) -> Hierarchy {
    Hierarchy::new(number(prior), rhos.map(number).to_vec(), vec![others], upper).expect("an attack")
}

/// Masses in doubles, for enumeration.
fn masses(rho: f64, reach: i64) -> Vec<(i64, f64)> {
    let total: f64 = (-4 * reach..=4 * reach).map(|x| (-rho * (x * x) as f64).exp()).sum();
    (-reach..=reach).map(|x| (x, (-rho * (x * x) as f64).exp() / total)).collect()
}

/// Masses of a sum of `count` noises, from -reach to reach, by repeated convolution in doubles.
fn sum_masses(rho: f64, count: u32, reach: i64) -> Vec<(i64, f64)> {
    let one = masses(rho, reach.min(60));
    let mut sum = vec![0.0; 2 * reach as usize + 1];
    sum[reach as usize] = 1.0;
    for _ in 0..count {
        let mut next = vec![0.0; sum.len()];
        for (k, mass) in sum.iter().enumerate() {
            for (x, other) in &one {
                let index = k as i64 + x;
                if (0..next.len() as i64).contains(&index) {
                    next[index as usize] += mass * other;
                }
            }
        }
        sum = next;
    }
    (-reach..=reach).zip(sum).collect()
}

fn is_near(value: &Enclosure, truth: f64, tolerance: f64) {
    let (lower, upper) = value.doubles();
    assert!(lower - tolerance <= truth && truth <= upper + tolerance, "{value:?} is not {truth}");
    assert!(upper - lower <= tolerance, "{value:?} is wider than {tolerance}");
}

#[test]
fn one_count_agrees_with_sums_over_outputs() {
    for (rho, prior) in [("0.002", "1/2"), ("0.099", "1/5"), ("0.6", "1/864"), ("3", "0.9"), ("40", "1/3")] {
        let (attack, r, p) = (attack(prior, &[rho]), number(rho).to_f64(), number(prior).to_f64());
        let posterior = |n: i64| p / (p + (1.0 - p) * (-r * (2 * n - 1) as f64).exp());
        let (mut marginal, mut absent, mut correct) = (0.0, 0.0, 0.0);
        for (x, mass) in masses(r, 200) {
            marginal += mass * posterior(x + 1);
            absent += mass * posterior(x);
            correct += if posterior(x + 1) > 0.5 { mass } else { 0.0 };
            if x.abs() < 6 {
                is_near(&attack.posterior(&[x], 15).expect("a posterior"), posterior(x), 1e-12);
                is_near(&attack.probability(&[x + 1], true, 15).expect("a mass"), mass, 1e-12);
            }
        }
        is_near(&attack.marginal(13).expect("a marginal"), marginal, 1e-12);
        is_near(&attack.marginal_if_absent(13).expect("a marginal"), absent, 1e-12);
        is_near(&attack.correct_decision(13).expect("a tail"), correct, 1e-12);
        let ratio = attack.risk(&[2], 13).expect("a ratio");
        is_near(&ratio, posterior(2) / p, 1e-9);
    }
}

/// Discrete noise does not scale: a count that moves by d is enumerated as such, alone and beside a second one.
#[test]
fn counts_that_move_by_more_than_one_agree_with_sums_over_outputs() {
    let cases = [
        ("4", 2, "1/2"),
        ("4", 3, "1/2"),
        ("3/10", 2, "1/3"),
        ("9/4", 5, "1/864"),
        ("90", 14, "0.9"),
        ("1/5", 1, "1/7"),
    ];
    for (sigma2, shift, prior) in cases {
        let (rate, p, d) = (0.5 / number(sigma2).to_f64(), number(prior).to_f64(), shift as f64);
        let noise = masses(rate, 120);
        let evidence = |n: i64| rate * d * (2.0 * n as f64 - d);
        let posterior = |evidence: f64| p / (p + (1.0 - p) * (-evidence).exp());
        for counts in [1_usize, 2] {
            let attack =
                Attack::on_counts(number(prior), &vec![number(sigma2); counts], shift as u64).expect("an attack");
            let (mut marginal, mut absent, mut correct, mut against) = (0.0, 0.0, 0.0, 0.0);
            let one = [(0, 1.0)];
            for (x, mass) in &noise {
                for (y, other) in if counts == 2 { &noise[..] } else { &one[..] } {
                    let (weight, second) =
                        (mass * other, |moved: i64| if counts == 2 { evidence(y + moved) } else { 0.0 });
                    let [with, without] = [shift, 0].map(|moved| evidence(x + moved) + second(moved));
                    marginal += weight * posterior(with);
                    absent += weight * posterior(without);
                    // Ties are decisions against the target.
                    let decides = |evidence: f64| evidence + (p / (1.0 - p)).ln() > 1e-12;
                    correct += if decides(with) { weight } else { 0.0 };
                    against += if decides(without) { 0.0 } else { weight };
                }
            }
            is_near(&attack.marginal(13).expect("a marginal"), marginal, 1e-11);
            is_near(&attack.marginal_if_absent(13).expect("a marginal"), absent, 1e-11);
            is_near(&attack.correct_decision(13).expect("a tail"), correct, 1e-11);
            is_near(&attack.correct_if_absent(13).expect("a tail"), against, 1e-11);
        }
        let attack = Attack::on_counts(number(prior), &[number(sigma2)], shift as u64).expect("an attack");
        let threshold = attack.threshold().expect("a threshold");
        let ln_odds = (p / (1.0 - p)).ln();
        assert!(
            evidence(threshold) + ln_odds > 0.0 && evidence(threshold - 1) + ln_odds <= 1e-12,
            "{sigma2} {shift} {prior}"
        );
        is_near(&attack.posterior(&[3], 15).expect("a posterior"), posterior(evidence(3)), 1e-12);
        let mass = noise.iter().find(|(x, _)| *x == 3 - shift).expect("a mass").1;
        is_near(&attack.probability(&[3], true, 15).expect("a mass"), mass, 1e-12);
    }
    // No adversary beats the bound for all of them, over both worlds.
    let bound = most_correct(
        &Composition::new(["4x1@2".parse().expect("counts")]).expect("one"),
        &number("1/2"),
        Neighbors::AddRemove,
        12,
    );
    let attack = Attack::on_counts(number("1/2"), &[number("4")], 2).expect("an attack");
    let both =
        [attack.correct_decision(14), attack.correct_if_absent(14)].map(|side| side.expect("a tail").approximate());
    is_near(&bound.expect("a bound").value, f64::midpoint(both[0], both[1]), 1e-11);
}

/// The count of a release moves by the sensitivity of its query, and the adversary who sees all counts of a query is the one of two counts.
#[test]
fn a_count_of_a_release_moves_by_its_sensitivity() {
    let single = |level: &str, release: &str, query: &str| {
        json(&["risk", "single", "--release", release, "--level", level, "--query", query, "--prior", "1/2"])
    };
    let iterations = single("USA", "sdhc-us", "PH3 iterations *");
    assert_eq!((&iterations["shift"], &iterations["threshold"]), (&14.into(), &8.into()));
    assert!(iterations.get("all_counts").is_none());
    let detailed = single("Block", "pl94-persons-us", "detailed");
    let of = |value: &Value| value["lower"].as_f64().expect("a number");
    let all = &detailed["all_counts"];
    let correct = f64::midpoint(of(&all["correct_decision"]), of(&all["correct_decision_if_absent"]));
    // `risk bound` of two counts with this noise.
    assert!((correct - 0.587709).abs() < 1e-6 && correct > of(&detailed["correct_decision"]), "{correct}");
    for sigma2 in ["0", "-1", "1e-9"] {
        assert!(Attack::on_counts(number("1/2"), &[number(sigma2)], 2).is_err(), "{sigma2}");
    }
    for shift in [0, u64::MAX] {
        assert!(Attack::on_counts(number("1/2"), &[number("4")], shift).is_err(), "{shift}");
    }
}

/// For small rho only every k-th output is summed; the integral for several counts is an independent method, with rho divided between two
/// counts whose evidence has nearly the same law.
#[test]
fn wide_noise_is_summed_by_strides() {
    let strided = attack("1/5", &["0.0001"]);
    let (value, again) = (strided.marginal(12).expect("a marginal"), strided.marginal(30).expect("a marginal"));
    assert!(value.overlaps(&again) && again.is_tight(30));
    let direct: f64 =
        masses(0.0001, 1500).iter().map(|(x, mass)| mass / (1.0 + 4.0 * (-0.0001 * (2 * x + 1) as f64).exp())).sum();
    is_near(&value, direct, 1e-11);
    let tiny = attack("1/2", &["1e-15"]).marginal(12).expect("a marginal");
    is_near(&tiny, 0.5, 1e-12);
}

#[test]
fn several_levels_agree_with_sums_over_all_outputs() {
    for (rhos, prior) in
        [(["0.3", "0.05"], "1/2"), (["2", "0.7"], "1/50"), (["0.9", "1.3"], "0.8"), (["5", "0.4"], "1/3")]
    {
        let attack = attack(prior, &rhos);
        let [a, b] = rhos.map(|rho| number(rho).to_f64());
        let odds = number(prior).to_f64() / (1.0 - number(prior).to_f64());
        let (mut marginal, mut correct) = (0.0, 0.0);
        for (x, one) in masses(a, 60) {
            for (y, other) in masses(b, 60) {
                let evidence = a * (2 * x + 1) as f64 + b * (2 * y + 1) as f64;
                let posterior = 1.0 / (1.0 + (-evidence).exp() / odds);
                marginal += one * other * posterior;
                correct += if posterior > 0.5 { one * other } else { 0.0 };
            }
        }
        is_near(&attack.marginal(12).expect("a marginal"), marginal, 1e-11);
        is_near(&attack.correct_decision(12).expect("a tail"), correct, 1e-11);
        let steps = attack.sequence(&[2, -1], 12).expect("a sequence");
        let product = steps.steps.iter().fold(Enclosure::double(1.0, 100), |product, step| product.mul(step));
        assert!(product.overlaps(&steps.total) && steps.total.overlaps(&attack.risk(&[2, -1], 12).expect("a ratio")));
    }
    // A threshold far out among many small steps.
    let far = attack("1/3", &["1e-9", "1e-9"]);
    let (present, absent) = (far.correct_decision(10).expect("a tail"), far.correct_if_absent(10).expect("a tail"));
    assert!(*present.upper() < 1e-300 && *absent.lower() > 0.999);
    // Six levels: the average posterior is the prior, for any levels.
    let six = attack("1/5", &["0.0992", "0.2466", "0.0504", "0.0514", "0.0505", "0.0509"]);
    let (present, absent) = (six.marginal(12).expect("one"), six.marginal_if_absent(12).expect("another"));
    assert!((0.2 * present.approximate() + 0.8 * absent.approximate() - 0.2).abs() < 1e-12);
    assert!(*present.lower() > six.prior().to_f64());
}

/// The joint posterior by sums in doubles over X_2, with the convolution of the other groups' noise.
#[test]
fn the_posterior_of_two_levels_is_bayes_rule() {
    for (upper, most) in [(Upper::Uniform, 400), (Upper::UpTo(6), 6), (Upper::Point(3), 3)] {
        for noisy in [[2, 1, -1], [0, 5, 9], [1, -3, 4], [-2, 3, -20]] {
            let attack = two_levels(["0.2", "0.4"], 6, "1/3", upper.clone());
            let posterior = attack.posterior(&noisy[..2], &noisy[2..], 12).expect("a posterior");
            assert!(posterior.met);
            let beside = sum_masses(0.2, 6, 450);
            let mut totals = [0.0; 2];
            let mut second = [0.0; 2];
            for k1 in [0_i64, 1] {
                for k2 in k1..=most {
                    let weight = match upper {
                        Upper::Uniform => 1.0,
                        Upper::UpTo(most) => 1.0 / (most - k1 + 1) as f64,
                        _ => f64::from(u8::from(k2 == 3)),
                    };
                    let y = noisy[2] - (k2 - k1);
                    let Some((_, mass)) = usize::try_from(y + 450).ok().and_then(|index| beside.get(index)) else {
                        continue;
                    };
                    let own = (-0.2 * (noisy[0] - k1).pow(2) as f64).exp();
                    let above = (-0.4 * (noisy[1] - k2).pow(2) as f64).exp();
                    let term = [2.0, 1.0][k1 as usize] * own * weight * above * mass;
                    totals[k1 as usize] += term;
                    if k2 == 3 {
                        second[k1 as usize] += term;
                    }
                }
            }
            let total = totals[0] + totals[1];
            is_near(&posterior.present, totals[1] / total, 1e-10);
            if let Some((_, three)) = posterior.upper.iter().find(|(x2, _)| *x2 == 3) {
                is_near(three, (second[0] + second[1]) / total, 1e-10);
            }
            let all: f64 = posterior.upper.iter().map(|(_, share)| share.approximate()).sum();
            assert!((all - 1.0).abs() < 1e-9, "{all}");
        }
    }
    // A list of equal weights is the bounded prior.
    let listed = Upper::Listed { first: 0, weights: vec![Rational::from(7); 7] };
    let [a, b] = [listed, Upper::UpTo(6)].map(|upper| two_levels(["0.2", "0.4"], 6, "1/3", upper));
    let of = |attack: &Hierarchy| attack.posterior(&[2, 1], &[-1], 15).expect("a posterior").present;
    assert!(of(&a).overlaps(&of(&b)));
    let truth = TrueCounts { x1: 1, x2: 2 };
    let of = |attack: &Hierarchy| attack.correct_decision(truth, 8).expect("a decision").correct;
    assert!(of(&a).overlaps(&of(&b)), "every output looked at and runs between equal ones");
}

/// An output of a hierarchy by the definition of the joint posterior: every mass to about 290 bits, every sum over counts up to `most`, far
/// beyond any significant weight at the outputs tried.
struct BruteForce<'a> {
    rhos: &'a [Rational],
    others: &'a [u64],
    prior: &'a Rational,
    upper: &'a Upper,
    known: i64,
    most: i64,
}

impl BruteForce<'_> {
    const BITS: u32 = 300;
    const REACH: i64 = 60;

    fn gaussian(rho: &Rational, x: i64) -> Float {
        Float::with_val(Self::BITS, -Rational::from(rho * (x * x))).exp()
    }

    /// The masses of the noise of a sum over `groups` groups, from -`REACH` to `REACH`.
    fn convolved(rho: &Rational, groups: u64) -> Vec<Float> {
        let total = (-Self::REACH..=Self::REACH).fold(Float::new(Self::BITS), |sum, x| sum + Self::gaussian(rho, x));
        let one: Vec<Float> = (-Self::REACH..=Self::REACH).map(|x| Self::gaussian(rho, x) / &total).collect();
        let size = one.len();
        let mut sum = vec![Float::new(Self::BITS); size];
        sum[Self::REACH as usize] += 1;
        for _ in 0..groups {
            let mut next = vec![Float::new(Self::BITS); size];
            for (a, mass) in sum.iter().enumerate().filter(|(_, mass)| !mass.is_zero()) {
                for (b, other) in one.iter().enumerate() {
                    if let Some(to) = (a + b).checked_sub(Self::REACH as usize).filter(|to| *to < size) {
                        next[to] += Float::with_val(Self::BITS, mass * other);
                    }
                }
            }
            sum = next;
        }
        sum
    }

    /// The prior of X_2 given X_1; zero where it is impossible.
    fn weight(&self, x1: i64, x2: i64) -> Rational {
        match self.upper {
            _ if x2 < x1 => Rational::new(),
            Upper::Uniform => Rational::from(1),
            Upper::UpTo(most) if x2 <= *most => Rational::from((1, most - x1 + 1)),
            Upper::Point(point) if x2 == *point => Rational::from(1),
            _ => Rational::new(),
        }
    }

    /// The posterior of (X_1 - known, X_2), for X_1 = known and known + 1 and X_2 from known to `most`.
    fn posterior(&self, noisy: &[i64], noisy_others: &[i64]) -> [Vec<Float>; 2] {
        let beside: Vec<Vec<Float>> =
            self.rhos.iter().zip(self.others).map(|(rho, groups)| Self::convolved(rho, *groups)).collect();
        let mass = |level: usize, y: i64| {
            let index = usize::try_from(noisy_others[level] - y + Self::REACH).ok();
            index.and_then(|index| beside[level].get(index)).cloned().unwrap_or_else(|| Float::new(Self::BITS))
        };
        // The evidence of the levels above for a count, from the top.
        let mut above = vec![Float::with_val(Self::BITS, 1); (self.most - self.known + 1) as usize];
        for level in (1..self.rhos.len()).rev() {
            let own = |x: i64| Self::gaussian(&self.rhos[level], noisy[level] - x);
            let said: Vec<Float> = (self.known..).zip(&above).map(|(x, above)| own(x) * above).collect();
            above = if level == 1 {
                said
            } else {
                let sum = |x: i64| {
                    (x..=self.most).fold(Float::new(Self::BITS), |sum, next| {
                        sum + mass(level - 1, next - x) * &said[(next - self.known) as usize]
                    })
                };
                (self.known..=self.most).map(sum).collect()
            };
        }
        let joint = [0, 1].map(|k| {
            let x1 = self.known + k;
            let prior = if k == 1 { self.prior.clone() } else { Rational::from(1 - self.prior) };
            let own = Self::gaussian(&self.rhos[0], noisy[0] - x1) * Float::with_val(Self::BITS, prior);
            let term = |(x2, above): (i64, &Float)| {
                let weight = Float::with_val(Self::BITS, self.weight(x1, x2));
                mass(0, x2 - x1) * above * weight * &own
            };
            (self.known..).zip(&above).map(term).collect::<Vec<Float>>()
        });
        let total = joint.iter().flatten().fold(Float::new(Self::BITS), |sum, term| sum + term);
        joint.map(|row| row.into_iter().map(|term| term / &total).collect())
    }
}

/// Whether an enclosure contains a number with a relative error of 1e-60 and an absolute error of 1e-75.
fn holds(value: &Enclosure, truth: &Float) -> bool {
    let slack = Float::with_val(300, truth * 1e-60_f64) + 1e-75_f64;
    let (low, high) = (Float::with_val(300, truth - &slack), Float::with_val(300, truth + &slack));
    *value.lower() <= high && *value.upper() >= low
}

/// Evaluates one output and compares everything; `true` if the sum over the listed joint entries, which version 0.1.0 used as the posterior
/// of X_2, misses the true value somewhere.
fn compare_with_brute_force(brute: &BruteForce, attack: &Hierarchy, noisy: &[i64], beside: &[i64]) -> bool {
    let case = format!("{attack:?} {noisy:?} {beside:?}");
    let posterior = attack.posterior(noisy, beside, 12).expect("a posterior");
    let truth = brute.posterior(noisy, beside);
    let sum = |row: &[Float]| row.iter().fold(Float::new(300), |sum, term| sum + term);
    assert!(posterior.met && holds(&posterior.present, &sum(&truth[1])), "{case}");
    for (x1, x2, share) in &posterior.joint {
        let exact = &truth[(x1 - brute.known) as usize][(x2 - brute.known) as usize];
        assert!(holds(share, exact), "{case}: X1 = {x1}, X2 = {x2}: {share:?} for {exact}");
    }
    let mut misses = false;
    for x2 in brute.known..=brute.most {
        let at = (x2 - brute.known) as usize;
        let exact = Float::with_val(300, &truth[0][at] + &truth[1][at]);
        match posterior.upper.iter().find(|(count, _)| *count == x2) {
            Some((_, share)) => assert!(holds(share, &exact), "{case}: X2 = {x2}: {share:?} for {exact}"),
            None => assert!(exact <= 1e-12, "{case}: X2 = {x2} is not listed, and has {exact}"),
        }
        let entries = posterior.joint.iter().filter(|(_, count, _)| *count == x2);
        let listed = entries.map(|(_, _, share)| share.clone()).reduce(|a, b| a.add(&b));
        misses |= listed.is_some_and(|listed| !holds(&listed, &exact));
    }
    misses
}

#[test]
fn the_posterior_of_the_count_above_is_summed_before_anything_is_left_out() {
    let rhos = ["343/250", "5/8"].map(number);
    let (prior, upper) = (number("1/2"), Upper::Uniform);
    let brute = BruteForce { rhos: &rhos, others: &[2], prior: &prior, upper: &upper, known: 4, most: 80 };
    let attack = two_levels(["343/250", "5/8"], 2, "1/2", Upper::Uniform).with_known(4).expect("a known count");
    let posterior = attack.posterior(&[9, 8], &[5], 12).expect("a posterior");
    let of = |x2: i64| &posterior.upper.iter().find(|(count, _)| *count == x2).expect("a listed count").1;
    assert!(of(12).shown(13) == "7.475815699655e-6", "{:?}", of(12));
    assert!(of(5).shown(11) == "2.9552391898e-10", "{:?}", of(5));
    assert!(compare_with_brute_force(&brute, &attack, &[9, 8], &[5]), "the sum of what is listed was too small here");
}

/// Random outputs of two and three levels; the sum over listed entries is wrong for some.
#[test]
fn posteriors_agree_with_brute_force() {
    let mut state = 20_260_711_u64;
    let mut below = |end: i64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((state >> 33) % end as u64) as i64
    };
    let mut missed = 0;
    for case in 0..300 {
        let levels = 2 + usize::from(case % 3 == 0);
        let rhos: Vec<Rational> = (0..levels).map(|_| Rational::from((below(60) + 10, 40))).collect();
        let others: Vec<u64> = (1..levels).map(|_| below(4) as u64).collect();
        let known = below(5);
        let prior = Rational::from((below(9) + 1, 10));
        let upper = match below(4) {
            0 if levels == 2 => Upper::UpTo(known + 1 + below(8)),
            1 if levels == 2 => Upper::Point(known + 1 + below(4)),
            _ => Upper::Uniform,
        };
        let noisy: Vec<i64> = (0..levels).map(|_| known + below(7) - 1).collect();
        // Without other groups their sum is zero and has no noise.
        let beside: Vec<i64> = others.iter().map(|d| if *d == 0 { 0 } else { below(7) - 1 }).collect();
        // Without other groups X_2 equals X_1, which excludes such points.
        if matches!(upper, Upper::Point(point) if point > known + 1 && others[0] == 0) {
            continue;
        }
        let attack = Hierarchy::new(prior.clone(), rhos.clone(), others.clone(), upper.clone()).expect("an attack");
        let attack = attack.with_known(known).expect("a known count");
        let brute = BruteForce { rhos: &rhos, others: &others, prior: &prior, upper: &upper, known, most: known + 70 };
        missed += usize::from(compare_with_brute_force(&brute, &attack, &noisy, &beside));
    }
    assert!(missed > 0, "the wrong sum would have been found");
}

/// A known count shifts everything (Section S1.1), and without other groups two levels are two counts (S1.1).
#[test]
fn shifts_and_empty_groups_have_the_expected_limits() {
    let attack = two_levels(["0.2", "0.4"], 6, "1/3", Upper::Uniform);
    let shifted = attack.clone().with_known(5).expect("a shift");
    let of = |attack: &Hierarchy, noisy: [i64; 2]| attack.posterior(&noisy, &[3], 12).expect("a posterior").present;
    assert!(of(&attack, [1, 2]).overlaps(&of(&shifted, [6, 7])));
    let correct =
        |attack: &Hierarchy, x: i64| attack.correct_decision(TrueCounts { x1: x, x2: x + 3 }, 10).expect("one").correct;
    assert!(correct(&attack, 1).overlaps(&correct(&shifted, 6)));

    let alone = two_levels(["0.2", "0.4"], 0, "1/3", Upper::Uniform);
    let both = self::attack("1/3", &["0.2", "0.4"]);
    let posterior = alone.posterior(&[2, -1], &[0], 12).expect("a posterior").present;
    assert!(posterior.overlaps(&both.posterior(&[2, -1], 12).expect("a posterior")));
    let decision = alone.correct_decision(TrueCounts { x1: 1, x2: 1 }, 10).expect("a decision");
    assert!(decision.met && decision.correct.overlaps(&both.correct_decision(10).expect("a tail")));
    // Equal rho and prior 1/2: ties at x_1 + x_2 = 1 are exact, and go against the target.
    let tied = two_levels(["0.3", "0.3"], 0, "1/2", Upper::Uniform);
    let outputs = [NoisyOutput { x2: 0, y1: 0 }, NoisyOutput { x2: 3, y1: 0 }];
    assert_eq!(tied.thresholds(&outputs).expect("thresholds"), [(2, 2), (-1, -1)]);
    let decision = tied.correct_decision(TrueCounts { x1: 1, x2: 1 }, 10).expect("a decision");
    assert!(
        decision.met
            && decision.correct.overlaps(&self::attack("1/2", &["0.3", "0.3"]).correct_decision(10).expect("a tail"))
    );
}

/// Enumeration of all outputs, in doubles.
#[test]
fn decisions_agree_with_enumeration() {
    let beside = sum_masses(0.3, 3, 60);
    for (upper, x1, x2) in
        [(Upper::Uniform, 1, 2), (Upper::Uniform, 0, 0), (Upper::UpTo(4), 1, 3), (Upper::UpTo(9), 0, 4)]
    {
        let attack = two_levels(["0.3", "0.5"], 3, "2/5", upper.clone());
        let decision = attack.correct_decision(TrueCounts { x1, x2 }, 10).expect("a decision");
        assert!(decision.met);
        let h =
            |y: i64| usize::try_from(y + 60).ok().and_then(|index| beside.get(index)).map_or(0.0, |(_, mass)| *mass);
        let most = match upper {
            Upper::UpTo(most) => most,
            _ => 60,
        };
        let weight = |k: i64| if upper == Upper::Uniform { 1.0 } else { 1.0 / (most - k + 1) as f64 };
        let likelihood = |k: i64, x: i64, y: i64| -> f64 {
            (k..=most).map(|k2| weight(k) * (-0.5 * (x - k2).pow(2) as f64).exp() * h(y - k2 + k)).sum()
        };
        let (mut correct, mut gained, mut lost) = (0.0, 0.0, 0.0);
        for (noise2, above) in masses(0.5, 8) {
            for (noise_y, mass) in &beside {
                if *mass < 1e-16 {
                    continue;
                }
                let (x, y) = (x2 + noise2, x2 - x1 + noise_y);
                let [none, some] = [0, 1].map(|k| likelihood(k, x, y));
                for (noise1, own) in masses(0.3, 12) {
                    let n = x1 + noise1;
                    let for_target = 2.0 * some * (0.3 * (2 * n - 1) as f64).exp() > 3.0 * none;
                    let alone = 2.0 * (0.3 * (2 * n - 1) as f64).exp() > 3.0;
                    let (right, before) = (for_target == (x1 == 1), alone == (x1 == 1));
                    let probability = above * mass * own;
                    correct += if right { probability } else { 0.0 };
                    gained += if right && !before { probability } else { 0.0 };
                    lost += if before && !right { probability } else { 0.0 };
                }
            }
        }
        is_near(&decision.correct, correct, 1e-9);
        is_near(&decision.gained, gained, 1e-9);
        is_near(&decision.lost, lost, 1e-9);
    }
}

/// With a point prior, h(a + 1) / h(a) decides, and ties are exact for the sum of noises as for one Gaussian.
#[test]
fn ties_of_point_priors_are_recognized() {
    let exact = two_levels(["0.2", "0.4"], 27, "1/2", Upper::Point(3));
    let one = exact.clone().with_one_gaussian().expect("the approximation");
    let truth = TrueCounts { x1: 1, x2: 3 };
    let [a, b] = [&exact, &one].map(|attack| attack.correct_decision(truth, 10).expect("a decision"));
    assert!(a.met && b.met && a.correct.overlaps(&b.correct), "{a:?} {b:?}");
    // 2 (y - 3) + 1 = 27: odds are even at n = 1, which is not enough.
    let thresholds =
        exact.thresholds(&[NoisyOutput { x2: 3, y1: 16 }, NoisyOutput { x2: 3, y1: 15 }]).expect("thresholds");
    assert_eq!(thresholds, [(2, 2), (1, 1)]);
}

#[test]
fn three_levels_are_a_chain() {
    let rhos = ["0.5", "0.7", "0.9"].map(number).to_vec();
    let attack = Hierarchy::new(number("1/2"), rhos, vec![2, 3], Upper::Uniform).expect("an attack");
    let posterior = attack.posterior(&[1, 2, 4], &[1, 2], 10).expect("a posterior").present;
    let (one, two) = (sum_masses(0.5, 2, 50), sum_masses(0.7, 3, 50));
    let mut totals = [0.0; 2];
    for k1 in 0..=1_i64 {
        for k2 in k1..30 {
            for k3 in k2..30 {
                let squares =
                    0.5 * (1 - k1).pow(2) as f64 + 0.7 * (2 - k2).pow(2) as f64 + 0.9 * (4 - k3).pow(2) as f64;
                let (y1, y2) = (1 - (k2 - k1) + 50, 2 - (k3 - k2) + 50);
                totals[k1 as usize] += (-squares).exp() * one[y1 as usize].1 * two[y2 as usize].1;
            }
        }
    }
    is_near(&posterior, totals[1] / (totals[0] + totals[1]), 1e-9);
    assert!(attack.correct_decision(TrueCounts { x1: 1, x2: 1 }, 6).is_err());
}

#[test]
fn the_sampler_converges_to_its_limit() {
    let rhos = [number("0.099"), number("0.246")];
    let make = |constraint| GibbsSampler { prior: number("1/2"), rhos: rhos.clone(), others: 27, constraint };
    let kept = make(GibbsConstraint::Kept);
    let limit = kept.limit([2, 1, -1], 12).expect("a limit");
    let model = two_levels(["0.099", "0.246"], 27, "1/2", Upper::Uniform).with_one_gaussian().expect("(3.7)");
    let posterior = model.posterior(&[2, 1], &[-1], 12).expect("a posterior");
    assert!(limit.present.overlaps(&posterior.present), "with its constraint the sampler is right");
    for (x2, share) in posterior.upper.iter().take(6) {
        assert!((share.approximate() - limit.upper[*x2 as usize].approximate()).abs() < 1e-10);
    }
    for constraint in [GibbsConstraint::Kept, GibbsConstraint::LeftOut] {
        let sampler = make(constraint);
        let limit = sampler.limit([2, 1, -1], 10).expect("a limit");
        let (share, upper) = sampler.run([2, 1, -1], 200_000, 1).expect("a run");
        // The seed is fixed; for a random seed this is 5 standard deviations of independent draws.
        assert!((share - limit.present.approximate()).abs() < 5.0 * (0.25_f64 / 2e5).sqrt(), "{constraint:?}");
        assert!((upper[1] - limit.upper[1].approximate()).abs() < 5.0 * (0.25_f64 / 2e5).sqrt());
        assert_eq!(sampler.run([2, 1, -1], 1000, 7).expect("a run"), sampler.run([2, 1, -1], 1000, 7).expect("a run"));
    }
    // With its constraint the limit decides like the model.
    let small = GibbsSampler {
        prior: number("1/2"),
        rhos: [number("0.3"), number("0.5")],
        others: 3,
        constraint: GibbsConstraint::Kept,
    };
    let decision = small.limit_decision(2, 18).expect("a decision");
    let exact = two_levels(["0.3", "0.5"], 3, "1/2", Upper::Uniform).with_one_gaussian().expect("(3.7)");
    let exact = exact.correct_decision(TrueCounts { x1: 1, x2: 2 }, 10).expect("a decision").correct;
    assert!((decision.correct.approximate() - exact.approximate()).abs() < 2e-5, "{decision:?} {exact:?}");
}

#[test]
fn post_processing_agrees_with_enumeration() {
    let (rho, d, z) = (0.4, 3, 5);
    let attack = Postprocessed::new(number("1/3"), number("0.4"), 3, 2).expect("an attack");
    let beside = sum_masses(rho, 3, 60);
    let mut totals = [[0.0; 6]; 2];
    for k in 0..=1_i64 {
        for (noise, own) in masses(rho, 12) {
            for (noise_y, mass) in &beside {
                let (x, y) = (k + noise, 2 - k + noise_y);
                let exact = (d * x + z - y) as f64 / (d + 1) as f64;
                let value = exact.round_ties_even().clamp(0.0, z as f64) as usize;
                totals[k as usize][value] += own * mass;
            }
        }
    }
    let outcomes = attack.outcomes(z, 10).expect("outcomes");
    let mut marginal = 0.0;
    for (value, outcome) in outcomes.iter().enumerate() {
        let (a, b) = (totals[0][value], totals[1][value]);
        is_near(&outcome.probability[0], a, 1e-9);
        is_near(&outcome.probability[1], b, 1e-9);
        is_near(&outcome.posterior, b / (b + 2.0 * a), 1e-8);
        marginal += b * b / (b + 2.0 * a);
    }
    is_near(&attack.marginal(z, 9).expect("a marginal"), marginal, 1e-8);
}

/// Before post-processing the adversary sees two noisy counts: theirs is the larger average, for every published count.
#[test]
fn no_average_after_post_processing_is_above_the_one_before() {
    for (rho, others, prior, upper) in
        [("0.5", 1, "1/2", 10), ("0.01", 1, "1/2", 60), ("0.4", 3, "1/3", 2), ("0.3", 5, "9/10", 1)]
    {
        let attack = Postprocessed::new(number(prior), number(rho), others, upper).expect("an attack");
        let before = attack.marginal_before(9).expect("an average").expect("few counts");
        let (r, p) = (number(rho).to_f64(), number(prior).to_f64());
        let reach = (40.0 / r).sqrt() as i64 * 2;
        let (own, beside) = (masses(r, reach), sum_masses(r, others as u32, 2 * reach));
        let at = |table: &[(i64, f64)], x: i64| table.iter().find(|(y, _)| *y == x).map_or(0.0, |(_, mass)| *mass);
        let beside: Vec<(f64, f64)> = beside.iter().map(|(y, mass)| (*mass, at(&beside, y - 1))).collect();
        let mut sum = 0.0;
        for (x, mass) in &own {
            let without = at(&own, x + 1);
            let joint = |(b, a): &(f64, f64)| (mass * b, without * a);
            sum += beside
                .iter()
                .map(joint)
                .map(|(b, a)| if b > 0.0 { p * b * b / (p * b + (1.0 - p) * a) } else { 0.0 })
                .sum::<f64>();
        }
        is_near(&before, sum, 1e-7);
        let own = self::attack(prior, &[rho]).marginal(12).expect("a marginal");
        assert!(before.lower() > own.upper(), "{before:?} {own:?}");
        for published in [0, 1, 3, 10, 40] {
            let after = attack.marginal(published, 9).expect("a marginal");
            assert!(after.upper() < before.lower(), "{rho} {others} {published}: {after:?} {before:?}");
        }
    }
    // By hand in the finding: two counts of rho 0.5.
    let two = Postprocessed::new(number("1/2"), number("0.5"), 1, 10)
        .expect("an attack")
        .marginal_before(12)
        .expect("an average");
    is_near(&two.expect("few counts"), 0.675_056_789, 1e-9);
    let many = Postprocessed::new(number("1/2"), number("1e-6"), 1000, 10).expect("an attack");
    assert!(many.marginal_before(9).expect("an average").is_none());
}

#[test]
fn outcomes_left_out_of_the_table_are_counted_and_a_range_is_no_input() {
    let arguments = ["risk", "postprocess", "--rho", "0.5", "--others", "1", "--prior", "1/2", "--upper", "10"];
    let one = [&arguments[..], &["--published", "40"]].concat();
    let output = program(&one).assert().success().get_output().stdout.clone();
    let text = String::from_utf8(output).expect("UTF-8");
    let rows = json(&one)["outcomes"].as_array().expect("outcomes").len();
    assert!(rows == 41 && text.contains("Not in the table:") && text.contains("of 41 outcomes"), "{text}");
    for published in ["59..61", "60"] {
        let answer = json(&[&arguments[..], &["--published", published]].concat());
        assert_eq!(answer["provenance"]["inputs"], serde_json::json!([]));
    }
}

#[test]
fn the_bound_is_attained_by_the_adversary_who_knows_all_but_the_target() {
    // One count with noise N_Z(0, 1 / (2 rho)): the best decision is that of `single`.
    for (rho, prior) in [("0.099", "1/2"), ("0.099", "1/5"), ("0.5", "0.7"), ("2", "1/50")] {
        let composition =
            Composition::new([format!("{}x1", Rational::from(1) / (number(rho) * 2_u32)).parse().expect("counts")]);
        let most = most_correct(&composition.expect("a composition"), &number(prior), Neighbors::AddRemove, 12)
            .expect("a bound")
            .value;
        let attack = attack(prior, &[rho]);
        let bits = 100;
        let p = Enclosure::rational(&number(prior), bits);
        let rest = Enclosure::double(1.0, bits).sub(&p);
        let present = attack.correct_decision(14).expect("a tail");
        let absent = attack.correct_if_absent(14).expect("a tail");
        let own = p.mul(&present).add(&rest.mul(&absent));
        assert!(most.overlaps(&own), "{rho} {prior}: {most:?} {own:?}");
    }
}

#[test]
fn bounds_are_ordered_and_those_of_epsilon_and_delta_are_their_trade_off_function() {
    let composition = Composition::new(["5x10".parse().expect("counts")]).expect("a composition");
    let delta = number("1e-6");
    for prior in ["1/2", "1/100", "0.95"] {
        let bound =
            bound(&composition, &number(prior), Neighbors::AddRemove, &delta.clone().try_into().expect("a delta"), 10)
                .expect("a bound");
        assert!(bound.correct.value.upper() < bound.correct_by_epsilon.lower());
        // The bound by rho is weaker than the bound by the single pair derived from it.
        assert!(bound.correct.value.upper() < bound.correct_by_zcdp.lower());
        assert!(bound.correct_by_zcdp.upper() < bound.correct_by_zcdp_pair.lower());
        assert!(bound.correct_by_epsilon.upper() < bound.correct_by_zcdp_pair.lower());
        assert!(bound.posterior_of_events.value.upper() < bound.posterior_by_zcdp.lower());
        assert!(bound.advantage.upper() < bound.advantage_by_zcdp.lower());
    }
    // 1 - min over alpha of (1 - p) alpha + p f(alpha), on a grid, against the corners.
    let (epsilon, delta, prior) = (0.7_f64, 0.02, 0.3);
    let f = |alpha: f64| (1.0 - delta - epsilon.exp() * alpha).max((-epsilon).exp() * (1.0 - delta - alpha)).max(0.0);
    let least = (0..=100_000).map(|k| f64::from(k) / 1e5).map(|a| (1.0 - prior) * a + prior * f(a)).fold(1.0, f64::min);
    let value =
        most_correct_by_epsilon(&Enclosure::double(epsilon, 80), &"0.02".parse().expect("a delta"), &number("0.3"));
    assert!((value.approximate() - (1.0 - least)).abs() < 1e-5);
    // At prior 1/2 it is (1 + advantage) / 2; f itself gives the same.
    let half = most_correct(&composition, &number("1/2"), Neighbors::AddRemove, 12).expect("a bound").value;
    let advantage = composition.delta(Rational::new(), 12).expect("a distance").value;
    is_near(&half, (1.0 + advantage.approximate()) / 2.0, 1e-11);
    let alphas: Vec<Rational> = (1..200).map(|k| Rational::from((k, 200))).collect();
    let betas = composition.tradeoff_curve(&alphas, 10).expect("a curve");
    let third =
        most_correct(&composition, &number("1/3"), Neighbors::AddRemove, 12).expect("a bound").value.approximate();
    let by_f = alphas
        .iter()
        .zip(&betas)
        .map(|(a, b)| 1.0 - 2.0 / 3.0 * a.to_f64() - b.value.approximate() / 3.0)
        .fold(0.0, f64::max);
    assert!(by_f <= third + 1e-9 && by_f > third - 1e-3, "{by_f} {third}");
}

#[test]
fn the_exceeded_posterior_is_a_quantile_of_the_loss() {
    let of = |count: u32| Composition::new([format!("5x{count}").parse().expect("counts")]).expect("a composition");
    let (composition, half) = (of(10), number("1/2"));
    for delta in ["1e-6", "0.01", "0.6", "0.99"] {
        let delta: Delta = delta.parse().expect("a delta");
        let limits = bound(&composition, &half, Neighbors::AddRemove, &delta, 10).expect("bounds");
        let by_tail =
            exceeded_epsilon(&composition, Some(&composition), &half, &delta, Some(&limits)).expect("a quantile");
        assert!(by_tail.by_tail && by_tail.is_least);
        let at = by_tail.epsilon.to_rational().expect("finite");
        // For every number of counts that a record may change the tail is small enough, and for some the loss before is too probable.
        let mut is_reached = at == 0;
        for count in 1..=10 {
            let change = of(count);
            let loss = change.loss();
            let tail = |z: &Rational| loss.evaluator().upper_tail(&loss.above(z), 12).expect("a tail").value;
            assert!(*tail(&at).upper() <= *delta, "{delta} {count}");
            let before = loss.at_most(&(Rational::from(&at - loss.step().expect("a lattice")) + number("1e-9")));
            is_reached |= *tail(&before).lower() > *delta;
        }
        assert!(is_reached, "{delta}");
    }
    let delta: Delta = "1e-6".parse().expect("a delta");
    let limits = bound(&composition, &half, Neighbors::AddRemove, &delta, 10).expect("bounds");
    let by_profile = exceeded_epsilon(&composition, None, &half, &delta, Some(&limits)).expect("a bound");
    let by_tail = exceeded_epsilon(&composition, Some(&composition), &half, &delta, Some(&limits)).expect("a quantile");
    let zcdp = Enclosure::double(8.4338, 64);
    assert!(!by_profile.by_tail && by_profile.epsilon >= by_tail.epsilon && by_profile.epsilon < *zcdp.lower());
}

#[test]
fn invalid_requests_are_refused_by_name() {
    for (prior, rho, names) in [
        ("0", "0.1", "prior"),
        ("1", "0.1", "prior"),
        ("-1/2", "0.1", "prior"),
        ("1/2", "0", "rho"),
        ("1/2", "-1", "rho"),
        ("1/2", "1e9", "rho"),
    ] {
        let message = Attack::new(number(prior), vec![number(rho)]).expect_err("accepted").to_string();
        assert!(message.contains(names), "{message}");
    }
    assert!(Attack::new(number("1/2"), Vec::new()).expect_err("accepted").to_string().contains("at least one"));
    assert!(attack("1/2", &["0.1"]).posterior(&[1, 2], 10).is_err());
    let make = |upper: Upper| Hierarchy::new(number("1/2"), vec![number("0.1"), number("0.2")], vec![3], upper);
    assert!(make(Upper::Point(0)).is_err() && make(Upper::UpTo(0)).is_err() && make(Upper::UpTo(1)).is_ok());
    assert!(make(Upper::Listed { first: 0, weights: vec![Rational::from(1)] }).is_err());
    assert!(Hierarchy::new(number("1/2"), vec![number("0.1")], Vec::new(), Upper::Uniform).is_err());
    let attack = make(Upper::Uniform).expect("an attack");
    for truth in [TrueCounts { x1: 2, x2: 2 }, TrueCounts { x1: 1, x2: 0 }, TrueCounts { x1: -1, x2: 3 }] {
        assert!(attack.correct_decision(truth, 6).is_err(), "{truth:?}");
    }
    // Far beyond the range of any table: refused at once, without a search.
    for (noisy, beside) in [([1, 1], 99_999), ([1_000_000_000_000_000, -1_000_000_000_000_000], 0)] {
        let message = attack.posterior(&noisy, &[beside], 10).expect_err("answered").to_string();
        assert!(message.contains("agree better"), "{message}");
    }
    // A sum over no other groups has no noise: it cannot be negative, nor more than the prior allows, at any level.
    let none = |others: Vec<u64>, upper| {
        let rhos = ["0.7", "0.6", "0.07"].map(number)[..=others.len()].to_vec();
        Hierarchy::new(number("1/2"), rhos, others, upper).expect("an attack")
    };
    for (attack, noisy, beside) in [
        (none(vec![0], Upper::Uniform), &[3, 4][..], &[-1][..]),
        (none(vec![0, 2], Upper::Uniform), &[0, 4, 1], &[-1, 1]),
        (none(vec![6, 0], Upper::Uniform), &[5, 5, 12], &[8, -1]),
        (none(vec![0], Upper::UpTo(9)), &[3, 4], &[10]),
    ] {
        let message = attack.posterior(noisy, beside, 6).expect_err("answered").to_string();
        assert!(message.contains("has no noise"), "{message}");
    }
    assert!(none(vec![0], Upper::UpTo(9)).posterior(&[3, 4], &[9], 6).is_ok());
    let certain = make(Upper::Point(2)).expect("an attack");
    let message = certain.correct_decision(TrueCounts { x1: 1, x2: 10_000 }, 6).expect_err("answered").to_string();
    assert!(message.contains("true x2"), "{message}");
    assert!(attack.with_known(-1).is_err());
}

#[test]
fn a_million_other_groups_are_answered() {
    let attack = two_levels(["0.099", "0.246"], 1_000_000, "1/2", Upper::Uniform);
    let posterior = attack.posterior(&[1, 1], &[0], 8).expect("a posterior");
    assert!(posterior.met && *posterior.present.lower() > 0.4 && *posterior.present.upper() < 0.5);
    let decision = attack.correct_decision(TrueCounts { x1: 1, x2: 1 }, 6).expect("a decision");
    assert!(decision.met && *decision.correct.upper() < 0.4);
}

#[test]
fn every_series_has_points_and_encloses() {
    let settings = settings().expect("the settings");
    let grid = curves::log_grid(-2.0, 0.5, 4);
    let whole: Vec<Rational> = (1..=5).map(Rational::from).collect();
    let figures = [
        curves::figure_1(&settings, &whole[..3]),
        curves::figure_2(&settings, &grid),
        curves::figure_3(&settings, &grid),
        curves::figure_4(&settings),
        curves::figure_5(&settings, &whole, 6),
        curves::figure_6(&settings, &curves::log_grid(-2.0, 0.5, 5), 6),
        curves::figure_7(&settings),
        curves::figure_8(&grid),
        curves::figure_9(&settings),
        curves::figure_10(&settings),
        curves::figure_11(&settings),
        curves::figure_12(&settings, &whole[..3], &grid),
    ];
    let panels = [2, 2, 1, 2, 1, 2, 2, 1, 4, 4, 2, 2];
    for ((figure, expected), number) in figures.into_iter().zip(panels).zip(1..) {
        let figure = figure.expect("a figure");
        assert_eq!(figure.len(), expected, "Figure {number}");
        for panel in &figure {
            assert!(!panel.x.is_empty() && !panel.y.is_empty() && panel.series.len() >= 2, "Figure {number}");
            for column in &panel.series {
                let least = if column.name.starts_with("mean") { 2 } else { 3 };
                assert!(column.points.len() >= least && column.points.iter().all(|(_, y)| y.lower() <= y.upper()));
            }
        }
    }
    // The rho of the settings are those of the rows of Table 2, lowest level first.
    let papers = published::papers(&["kazan-reiter-2023".to_string()]).expect("the paper");
    let names = ["block", "block-group", "tract", "county", "state", "us"];
    assert_eq!(settings.rhos.len(), names.len());
    for (rho, name) in settings.rhos.iter().zip(names) {
        let id = format!("table-2-{name}");
        let row = papers[0].values.iter().find(|row| row.id == id).expect("a row");
        let asked = row.asked();
        assert_eq!(asked["of"], "query-rho", "{id}");
        let [total, level, query] = ["total", "level", "query"].map(|name| number(asked[name].as_str().expect("text")));
        assert_eq!(*rho, total * level * query, "{id}");
    }
    // Figure 8 is the variance of the noise itself.
    let variance = DiscreteGaussian::new(number("0.5")).expect("noise").variance(12);
    assert!(variance.overlaps(&noise(&Rational::from(1)).expect("noise").variance(12)));
}

#[test]
fn every_published_row_is_explained() {
    let papers = published::papers(&["kazan-reiter-2023".to_string()]).expect("the paper");
    let rows = verify::verify(&papers[0]).expect("rows");
    assert!(rows.len() >= 100);
    for row in &rows {
        assert!(!row.is_unexplained(), "{}: {:?}", row.published.id, row.computed);
        let is_right = matches!(row.verdict, verdict::Verdict::Agrees | verdict::Verdict::NeedsData);
        assert_eq!(row.published.remarks.erratum.is_some(), !is_right, "{}", row.published.id);
    }
    let verdict = |id: &str| rows.iter().find(|row| row.published.id == id).map(|row| row.verdict);
    assert_eq!(verdict("table-5-risk-prior-1-864"), Some(verdict::Verdict::Agrees));
    assert_eq!(verdict("table-4-mass-1"), Some(verdict::Verdict::Differs));
    assert_eq!(verdict("figure-5-first"), Some(verdict::Verdict::NotOfTheStatedModel));
    assert_eq!(verdict("section-4.2-grows"), Some(verdict::Verdict::Disproved));
    // The caption's rho is rounded, and the paper's own product is not.
    assert_eq!(verdict("section-4.3-alone"), Some(verdict::Verdict::AgreesAsRead));
    assert_eq!(verdict("figure-4-region"), Some(verdict::Verdict::HoldsToDigits));
    // The other computation gives the printed value wherever the difference is not sampling noise.
    let noisy = [
        "table-7-0",
        "table-8-0",
        "table-8-1",
        "table-8-4",
        "table-8-6",
        "table-8-7",
        "figure-4-gained",
        "figure-4-lost",
        "figure-4-net",
    ];
    for row in rows.iter().filter(|row| !noisy.contains(&row.published.id.as_str())) {
        if let Some(verdict::Computed::Value(value)) = &row.printed_by {
            let verdict = row.published.stated.judge(value);
            assert_eq!(verdict, verdict::Verdict::Agrees, "{}", row.published.id);
        }
    }
}

fn assay(args: &[&str]) -> (i32, String, String) {
    let output = Command::new(assert_cmd::cargo::cargo_bin!("assay")).arg("risk").args(args).output().expect("run");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

#[test]
fn the_command_line_answers() {
    let (status, table, _) = assay(&["single", "--rho", "0.099", "--prior", "1/2"]);
    assert!(status == 0 && table.contains("0.523614801232") && table.contains("0.588759054091"), "{table}");
    let release =
        ["single", "--release", "pl94-persons-us", "--level", "Block", "--query", "detailed", "--prior", "1/2"];
    let (status, table, _) = assay(&release);
    assert!(status == 0 && table.contains("one count spends rho = 0.04954"), "{table}");
    let (status, csv, _) = assay(&["single", "--rho", "0.099", "--prior", "1/2", "--noisy=-1..2", "--csv"]);
    assert!(status == 0 && csv.lines().count() == 5 && csv.starts_with("noisy,probability_if_counts_lower"), "{csv}");
    let (status, csv, _) = assay(&[
        "hierarchical",
        "--rho",
        "0.099,0.246",
        "--others",
        "27",
        "--prior",
        "1/2",
        "--noisy",
        "2,1,-1",
        "--csv",
    ]);
    assert!(status == 0 && csv.starts_with("x2,probability_lower,probability_upper\n0,0.1293"), "{csv}");
    let (status, table, _) = assay(&["bound", "--release", "su-su-wang-2025", "--prior", "1/2"]);
    assert!(status == 0 && table.contains("0.91164") && table.contains("all composed"), "{table}");
}

/// Noise with a bound has outputs that are impossible without the record: the correct decision exists at every delta, an epsilon does not.
/// By the masses themselves.
#[test]
fn a_decision_is_bounded_where_no_epsilon_is_finite() {
    let total: f64 = (-7..=7).map(|x: i32| (-1.5 * f64::from(x.abs())).exp()).sum();
    let mass = |x: i32| if x.abs() <= 7 { (-1.5 * f64::from(x.abs())).exp() / total } else { 0.0 };
    let distance: f64 = (-8..=8).map(|x| (mass(x) - mass(x - 1)).max(0.0)).sum();
    let law = ["bound", "--truncated-laplace", "1.5:7", "--prior"];
    for (delta, prior) in [("1e-10", "1/2"), ("1e-10", "1/100"), ("1e-3", "1/2")] {
        let (status, text, why) = assay(&[&law[..], &[prior, "--delta", delta, "--json"]].concat());
        assert_eq!(status, 0, "{delta}: {why}");
        let answer: serde_json::Value = serde_json::from_str(&text).expect("one JSON object");
        let upper = |key: &str| answer[key]["upper"].as_f64().unwrap_or_else(|| panic!("{key}: {answer}"));
        assert!((upper("advantage") - distance).abs() < 1e-9, "{answer}");
        let is_below = delta == "1e-10";
        assert_eq!(answer["epsilon"].is_null(), is_below, "{answer}");
        assert_eq!(upper("posterior_events") == 1.0, is_below, "{answer}");
        if prior == "1/2" {
            assert!((upper("correct_decision_upper") - (1.0 + distance) / 2.0).abs() < 1e-9, "{answer}");
        } else {
            assert!(upper("correct_decision_upper") >= 0.99 && answer["guess"] == serde_json::json!(0.99), "{answer}");
        }
        let (status, table, _) = assay(&[&law[..], &[prior, "--delta", delta]].concat());
        let table = table.replace("\n  ", " ");
        assert!(status == 0 && table.contains("guess"), "{table}");
        assert_eq!(table.contains("no epsilon is finite at this delta"), is_below, "{table}");
    }
}

#[test]
fn the_command_line_refuses_by_the_names_of_options() {
    for (args, names) in [
        (vec!["single", "--rho", "0", "--prior", "1/2"], "--rho"),
        (vec!["single", "--rho", "", "--prior", "1/2"], "--rho"),
        (vec!["single", "--rho", "0.1", "--prior", "1"], "--prior"),
        (vec!["single", "--rho", "0.1", "--prior", "1/2", "--noisy", "x"], "--noisy"),
        (vec!["single", "--rho", "0.1", "--prior", "1/2", "--noisy", "1.5"], "whole number"),
        (vec!["single", "--rho", "0.1", "--prior", "1/2", "--noisy", "1,2"], "--noisy"),
        (vec!["single", "--rho", "0.1,0.2", "--prior", "1e-200"], "prior"),
        (
            vec!["single", "--release", "pl94-persons-us", "--level", "Block", "--query", "x", "--prior", "1/2"],
            "detailed",
        ),
        (vec!["hierarchical", "--rho", "0.1", "--others", "3", "--prior", "1/2", "--noisy", "1,1,0"], "--rho"),
        (vec!["hierarchical", "--rho", "0.1,0.2", "--others=-3", "--prior", "1/2", "--noisy", "1,1,0"], "--others"),
        (
            vec!["hierarchical", "--rho", "1,1,1", "--others", "1,1", "--prior", "1/2", "--truth", "1,1,0,3,1"],
            "X2 + Y2 must be X3",
        ),
        (vec!["hierarchical", "--rho", "0.1,0.2", "--others", "3", "--prior", "1/2", "--truth", "1,1,3"], "--truth"),
        (vec!["hierarchical", "--rho", "0.1,0.2", "--others", "3", "--prior", "1/2", "--truth=-1,1,2"], "--truth"),
        (
            vec![
                "hierarchical",
                "--rho",
                "0.1,0.2",
                "--others",
                "3",
                "--prior",
                "1/2",
                "--noisy",
                "1,1,0",
                "--prior-x2",
                "some",
            ],
            "--prior-x2",
        ),
        (vec!["bound", "--prior", "1/2"], "nothing to account for"),
        (vec!["bound", "--discrete-gaussian", "5x10", "--prior", "2"], "--prior"),
        (vec!["bound", "--discrete-gaussian", "5x10", "--prior", "1/2", "--delta", "0"], "--delta"),
    ] {
        let (status, out, message) = assay(&args);
        assert!(
            status == 2 && out.is_empty() && message.contains(names) && !message.contains("panicked"),
            "{args:?}: {message}"
        );
    }
}

/// The sampler in doubles, for charts, decides like its certified limit.
#[test]
fn the_sampler_in_doubles_decides_as_its_certified_limit() {
    for constraint in [GibbsConstraint::LeftOut, GibbsConstraint::Kept] {
        let rhos = [number("0.3"), number("0.5")];
        let sampler = GibbsSampler { prior: number("1/2"), rhos, others: 5, constraint };
        for x2 in [1, 4] {
            let certified = sampler.limit_decision(x2, 14).expect("a decision").correct;
            let approximate = sampler.limit_decision_approx(x2).expect("a decision");
            let (low, high) = certified.doubles();
            assert!(low - 1e-6 < approximate && approximate < high + 1e-6, "{x2}: {approximate} {low} {high}");
        }
        let outputs: Vec<NoisyOutput> =
            (-2..=4).flat_map(|x2| [-9, -3, 0, 2, 8].map(|y1| NoisyOutput { x2, y1 })).collect();
        let thresholds = sampler.thresholds(&outputs).expect("thresholds");
        assert!(thresholds.iter().any(|(low, high)| low == high));
        for (output, (low, high)) in outputs.iter().zip(thresholds).filter(|(_, (low, high))| low == high) {
            let drawn = sampler.threshold_approx(output.x2, output.y1, None).expect("a threshold");
            assert_eq!(drawn, Some(low), "{output:?} {high}");
        }
    }
}

/// With its constraint the sampler decides like the model, also under a prior of X2 with bounded support. A uniform law from X1 to 3 weighs
/// each X2 by 1/4 for X1 = 0 and by 1/3 for X1 = 1, so odds of one are odds of 4/3 to the sampler, which has no weights.
#[test]
fn the_sampler_under_a_prior_that_ends_decides_as_the_model() {
    let rhos = [number("0.3"), number("0.5")];
    let sampler = GibbsSampler { prior: number("4/7"), rhos, others: 5, constraint: GibbsConstraint::Kept };
    let model = two_levels(["0.3", "0.5"], 5, "1/2", Upper::UpTo(3)).with_one_gaussian().expect("(3.7)");
    let outputs: Vec<NoisyOutput> =
        (-2..=7).flat_map(|x2| [-9, -3, 0, 2, 8].map(|y1| NoisyOutput { x2, y1 })).collect();
    let thresholds = model.thresholds(&outputs).expect("thresholds");
    let mut moved = 0;
    for (output, (low, high)) in outputs.iter().zip(thresholds).filter(|(_, (low, high))| low == high) {
        let ends = sampler.threshold_approx(output.x2, output.y1, Some(3)).expect("a threshold");
        assert_eq!(ends, Some(low), "{output:?} {high}");
        moved += u32::from(ends != sampler.threshold_approx(output.x2, output.y1, None).expect("a threshold"));
    }
    assert!(moved > 0, "the end of the prior matters somewhere");
}

/// Little noise in some counts, and noise of all sizes beside it: the averages are sums over outputs. Against each other, and against the outputs one by one.
#[test]
fn counts_with_little_noise_are_answered_with_all_digits() {
    for (prior, rhos) in [
        ("999999/1000000", &["0.926", "1156/5", "464/5"][..]),
        ("99/100", &["2751/10", "1807/1000"]),
        ("1/2", &["2823/10", "42.326"]),
        ("1/3", &["1000", "999.5"]),
        ("1/100", &["1000", "1000", "1000"]),
        ("1/7", &["0.01", "1000", "500"]),
        ("1/7", &["1e-7", "1e-4", "900"]),
        ("1/9", &["0.05", "0.05", "0.05"]),
    ] {
        let attack = attack(prior, rhos);
        let (marginal, absent) = (attack.marginal(12).unwrap(), attack.marginal_if_absent(12).unwrap());
        let (correct, other) = (attack.correct_decision(12).unwrap(), attack.correct_if_absent(12).unwrap());
        assert!([&marginal, &absent, &correct, &other].iter().all(|value| value.is_tight(12)), "{prior} {rhos:?}");
        // p E[posterior | counts] + (1 - p) E[posterior | does not] = p.
        let prior = Enclosure::rational(&number(prior), 400);
        let sum = prior.mul(&marginal).add(&Enclosure::double(1.0, 400).sub(&prior).mul(&absent));
        assert!(sum.overlaps(&prior), "{rhos:?}: {sum:?}");
    }
    // One by one, within a box that has all but 1e-12 of the probability.
    for (prior, rhos) in [("1/3", &["1/2", "2"]), ("1/1000", &["3", "1"]), ("0.99", &["0.7", "5"])] {
        let attack = attack(prior, rhos);
        let (mut mean, mut seen) = (0.0, 0.0);
        for (a, b) in (-8..=9).flat_map(|a| (-8..=9).map(move |b| (a, b))) {
            let probability = attack.probability(&[a, b], true, 15).unwrap().approximate();
            mean += probability * attack.posterior(&[a, b], 15).unwrap().approximate();
            seen += probability;
        }
        assert!(seen > 1.0 - 1e-11);
        assert!((attack.marginal(14).unwrap().approximate() - mean).abs() < 2e-11, "{prior} {rhos:?}");
    }
}

/// One of two neighbors alone can have some outputs, and both have all others equally often: the finite loss is zero, which no sum of groups shows.
#[test]
fn a_mechanism_whose_only_finite_loss_is_zero_has_a_bound() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("h.csv"), "value,mass\n0,1/2\n1,1/2\n").unwrap();
    let table = folder.path().join("h.csv");
    for prior in ["3/10", "1/2"] {
        let arguments =
            ["risk", "bound", "--neighbors", "bounded", "--prior", prior, "--delta", "4/5", "--json", "--table"];
        let run = std::process::Command::new(env!("CARGO_BIN_EXE_assay")).args(arguments).arg(&table).output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        let answer: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
        // Outputs that both can have show nothing: 3/4 of the mass is of one neighbor alone, so the posterior of the others is the prior.
        let most =
            answer["levels"].as_array().and_then(|all| all.first()).unwrap_or(&answer)["posterior_exceeded"].clone();
        assert!(!most.is_null(), "{answer}");
    }
}

/// What a calibration for a posterior promises, summed over outputs in doubles: of events, by Neyman and Pearson, and of outputs, whose tail rises and falls
/// with sigma2.
#[test]
fn a_promised_posterior_is_of_events_or_of_outputs() {
    let said = |more: &[&str]| {
        let given =
            ["calibrate", "--discrete-gaussian", "20", "--posterior", "0.8", "--prior", "1/2", "--delta", "1e-6"];
        let run = Command::cargo_bin("assay").unwrap().args(given).args(more).assert().success();
        let text = String::from_utf8(run.get_output().stdout.clone()).unwrap();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let json = |more: &[&str]| {
        let given =
            ["calibrate", "--discrete-gaussian", "20", "--posterior", "0.8", "--prior", "1/2", "--delta", "1e-6"];
        let run = Command::cargo_bin("assay").unwrap().args(given).args(more).arg("--json").assert().success();
        serde_json::from_slice::<serde_json::Value>(&run.get_output().stdout).unwrap()["levels"][0].clone()
    };
    // Outputs from the most likely with the record on, each with its probabilities: with the record the count is one more.
    let outputs = |sigma2: f64| {
        let weight = |k: i32| (-f64::from(k).powi(2) / (2.0 * sigma2)).exp();
        let all: f64 = (-300..=300).map(weight).sum();
        (-299..=200).rev().map(|k| (weight(k - 1) / all, weight(k) / all)).collect::<Vec<(f64, f64)>>()
    };
    let of_events = |sigma2: f64| {
        let (mut left, mut without) = (1e-6, 0.0);
        for (p, q) in outputs(sigma2) {
            let share = if p <= left { 1.0 } else { left / p };
            without += share * q;
            left -= share * p;
        }
        1e-6 / (1e-6 + without)
    };
    let row = json(&[]);
    let number = |row: &serde_json::Value, key: &str| row[key].to_string().parse::<f64>().expect("a number");
    let (enough, less) = (number(&row, "calibrated_sigma2"), number(&row, "not_enough_sigma2"));
    assert!(of_events(enough) <= 0.8 && of_events(less) > 0.8 && (enough - less - 0.01).abs() < 1e-9, "{row}");
    assert!(said(&[]).contains(
        "no event that has at least probability 1e-6 if the record is there lifts the posterior from 0.5 above 0.8"
    ));
    let tail = |sigma2: f64| outputs(sigma2).iter().filter(|(p, q)| *p > 4.0 * q).map(|(p, _)| p).sum::<f64>();
    assert!((tail(9.69) / 2.756e-5 - 1.0).abs() < 1e-3);
    let row = json(&["--of", "outputs"]);
    assert_eq!((number(&row, "calibrated_sigma2"), number(&row, "not_enough_sigma2")), (11.91, 11.9));
    assert_eq!(number(&row, "all_from_sigma2"), 12.63);
    let grid = |cents: i32| f64::from(cents) / 100.0;
    assert!((900..=1190).all(|cents| tail(grid(cents)) > 1e-6) && tail(11.91) <= 1e-6);
    assert!(tail(12.62) > 1e-6 && (1263..3000).all(|cents| tail(grid(cents)) <= 1e-6));
    let text = said(&["--of", "outputs"]);
    assert!(
        text.contains("with prior 0.5 no posterior exceeds 0.8, except on outputs of total probability 1e-6 or less"),
        "{text}"
    );
    assert!(text.contains("breaks the promise again, and from 12.63 on all keeps it"), "{text}");
}
