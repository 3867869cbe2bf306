//! Statements of the papers' lemmas, definitions and remarks on privacy, beside the divergences: checked in exact
//! fractions where numbers are fractions, by enclosures elsewhere.

use rug::{Rational, ops::Pow};

use super::{
    renyi::{self, Renyi},
    settings::{Budgets, CountKind, PersonGroups, PrintedSettings},
    tails::{BITS, gaussian, real},
};
use crate::{
    account::{Account, Composition, Counts, Delta, Rho, conversions},
    error::{Error, Result},
    numeric::{Certainty, Enclosure, rational::unit_of_decimals},
    replication::verdict::Computed,
    safetab::cell_noise::NoiseKind,
};

const DIGITS: u32 = 20;

/// Whether two numbers agree to forty digits.
fn same(a: &Enclosure, b: &Enclosure) -> Certainty {
    let (off, near) = (a.sub(b), unit_of_decimals(40));
    off.max(&off.clone().negate()).at_most(&near)
}

/// Whether the Renyi divergences of independent counts with two-sided geometric noise add up: the moment generating
/// function of the composition against the closed form of each.
pub(super) fn divergences_add(epsilons: &[Rational], orders: &[Rational]) -> Result<Computed> {
    let counts = epsilons.iter().map(|epsilon| Counts::discrete_laplace(epsilon.clone(), 1, 1));
    let composed = Composition::new(counts.collect::<Result<Vec<_>>>()?)?;
    Computed::all_hold(orders.iter().map(|order| {
        let above = Rational::from(order - 1_u32);
        let together = composed.loss().ln_mgf(&above, 400).div(&real(&above));
        let each = epsilons.iter().map(|epsilon| renyi::divergence(Renyi::Exact, order, epsilon));
        Ok(same(&together, &each.fold(Enclosure::double(0.0, BITS), |sum, own| sum.add(&own))))
    }))
}

/// Whether the divergence of `SafeTab[Geometric]` with the printed totals is at most (30) at an order. The left side
/// uses the exact divergences of a person whose groups are all published by their totals, the right side Lemma 8's.
pub(super) fn theorem_2(settings: &PrintedSettings, order: &Rational) -> Result<Certainty> {
    let at = |which| renyi::of_levels(settings, which, PersonGroups::Any, settings.stability, order);
    Ok(renyi::is_bound(&at(Renyi::Lemma8)?, &at(Renyi::Exact)?))
}

/// Whether (5) gives delta at the epsilon that (6) gives for it, at divergences tau and orders.
pub(super) fn equations_5_and_6(taus: &[Rational], orders: &[Rational], delta: &Rational) -> Result<Computed> {
    let pairs = taus.iter().flat_map(|tau| orders.iter().map(move |order| (tau, order)));
    Computed::all_hold(pairs.map(|(tau, order)| {
        let epsilon = renyi::converted(&real(tau), order, delta);
        let above = real(&Rational::from(order - 1_u32));
        // ln delta by (5).
        let shrink = Rational::from(order - 1_u32) / order;
        let by_5 = above.mul(&real(tau).sub(&epsilon)).sub(&above.ln()).add(&real(order).mul(&real(&shrink).ln()));
        Ok(same(&by_5, &real(delta).ln()))
    }))
}

/// Whether rho + sqrt(4 rho ln(1 / delta)) is above the conversion at the best order, for all of these.
pub(super) fn simple_is_looser(rhos: &[Rational], deltas: &[Rational]) -> Result<Computed> {
    let pairs = rhos.iter().flat_map(|rho| deltas.iter().map(move |delta| (rho, delta)));
    Computed::all_hold(pairs.map(|(rho, delta)| {
        let (rho, delta): (Rho, Delta) = (rho.try_into()?, delta.try_into()?);
        let best = conversions::zcdp_epsilon_optimal(&rho, &delta)?.epsilon;
        Ok(best.below(&conversions::zcdp_epsilon(&rho, &delta, DIGITS)))
    }))
}

/// Whether the loss of the discrete Gaussian with this rho exceeds each of these epsilons: at the output x the loss of
/// a count shifted by 1 is (2 x - 1) / (2 sigma2) = (2 x - 1) rho.
pub(super) fn has_no_pure_epsilon(rhos: &[Rational], epsilons: &[Rational]) -> bool {
    let pairs = rhos.iter().flat_map(|rho| epsilons.iter().map(move |epsilon| (rho, epsilon)));
    pairs.into_iter().all(|(rho, epsilon)| {
        let x = Rational::from(epsilon / rho).ceil() + 1_u32;
        (x * 2_u32 - 1_u32) * rho > *epsilon
    })
}

/// Whether `P[Y >= y]` and `P[Y <= -y]` of the geometric mechanism are at most q^y / (1 + q) for every integer y from
/// -most to most, in exact fractions if q = exp(-1 / b) is a fraction; and (34), `P[Y > y]` at most q^y / (1 + 1 / q),
/// as well.
pub(super) fn lemma_13(ratios: &[Rational], most: i32) -> bool {
    ratios.iter().all(|q| {
        let mass = |x: i32| Rational::from(1 - q) / Rational::from(q + 1_u32) * Rational::from(q.pow(x.unsigned_abs()));
        let power = |y: i32| Rational::from(q.pow(y));
        // P[Y >= most + 1] is the sum of a geometric series; from there down the masses are added one at a time.
        let mut tail = mass(most + 1) / Rational::from(1 - q);
        (-most..=most).rev().all(|y| {
            let beyond = tail.clone();
            tail += mass(y);
            let (bound, beyond_bound) =
                (power(y) / Rational::from(q + 1_u32), power(y + 1) / Rational::from(q + 1_u32));
            tail <= bound && beyond <= beyond_bound
        })
    })
}

/// Whether the masses (1 - q) / (1 + q) q^|x| sum to 1, with a closed form for the masses beyond `most`.
pub(super) fn masses_sum_to_one(ratios: &[Rational], most: i32) -> bool {
    ratios.iter().all(|q| {
        let mass = |x: i32| Rational::from(1 - q) / Rational::from(q + 1_u32) * Rational::from(q.pow(x.unsigned_abs()));
        let inside = (-most..=most).fold(Rational::new(), |sum, x| sum + mass(x));
        inside + mass(most + 1) / Rational::from(1 - q) * 2_u32 == 1
    })
}

/// Whether the condition of Definition 2 on each single output, at this epsilon and delta, makes one count with this
/// noise (epsilon, delta)-private. Disproved if each output satisfies it and the exact delta is larger.
pub(super) fn single_outputs_suffice(sigma2: &Rational, epsilon: &Rational, delta: &Rational) -> Result<Computed> {
    let noise = gaussian(sigma2)?;
    let factor = real(epsilon).exp();
    let is_within =
        |x: i64, moved: i64| noise.mass(x, DIGITS).sub(&factor.mul(&noise.mass(moved, DIGITS))).at_most(delta);
    // If the mass itself is at most delta the condition holds; the mass is symmetric and falls with the distance from
    // 0.
    let mut each = Vec::new();
    for x in 0_i64.. {
        if noise.mass(x, DIGITS).at_most(delta) == Certainty::Yes {
            break;
        }
        each.extend([Ok(is_within(x, x - 1)), Ok(is_within(x, x + 1))]);
        if x > 100_000 {
            return Err(Error::unsuitable(format!(
                "delta = {delta} is too small: the masses of the first 100,000 values do not fall below it"
            )));
        }
    }
    let Computed::Statement(holds) = Computed::all_hold(each)? else {
        return Ok(Computed::Statement(Certainty::Undecided));
    };
    let exact = Composition::new([Counts::discrete_gaussian(sigma2.clone(), 1, 1)?])?.delta(epsilon, DIGITS)?.value;
    Ok(Computed::Statement(match (holds, exact.at_most(delta)) {
        (Certainty::Yes, Certainty::No) => Certainty::No,
        (Certainty::Yes, Certainty::Yes) | (Certainty::No, _) => Certainty::Yes,
        _ => Certainty::Undecided,
    }))
}

/// The factor by which the noise of a count grows if a record changes it by `sensitivity` instead of 1, at the same
/// rho: of its variance proxy, or of its scale sigma.
pub(super) fn noise_growth(sensitivity: u64, of_variance: bool) -> Result<Enclosure> {
    let rho = |shift| Ok::<_, Error>(Counts::discrete_gaussian(Rational::from(1), 1, shift)?.rho());
    let factor = real(&(rho(sensitivity)? / rho(1)?));
    Ok(if of_variance { factor } else { factor.sqrt() })
}

/// Whether one query that a record changes by the sum of these takes more budget, with the same noise, than the
/// composition of the queries that it changes by each of them; for geometric noise, whether it takes the same.
pub(super) fn one_query_costs(parts: &[u64], noise: NoiseKind) -> Result<bool> {
    let sum = parts.iter().sum();
    let cost = |shift| {
        Ok::<_, Error>(match noise {
            NoiseKind::DiscreteGaussian => Counts::discrete_gaussian(Rational::from(1), 1, shift)?.rho(),
            NoiseKind::Geometric => {
                Counts::discrete_laplace(Rational::from(1), 1, shift)?.pure_epsilon().unwrap_or_default()
            }
        })
    };
    let composed = parts.iter().try_fold(Rational::new(), |total, part| Ok::<_, Error>(total + cost(*part)?))?;
    Ok(match noise {
        NoiseKind::DiscreteGaussian => cost(sum)? > composed,
        NoiseKind::Geometric => cost(sum)? == composed,
    })
}

/// The budget that all counts of a person spend with the printed totals: rho, or the epsilon of pure differential
/// privacy. A changed person leaves and enters the same number of groups.
pub(super) fn spent(
    settings: &PrintedSettings,
    noise: NoiseKind,
    groups: PersonGroups,
    is_changed: bool,
) -> Result<Enclosure> {
    let all = settings.composition(noise, Budgets::Printed, groups)?;
    let one = match noise {
        NoiseKind::DiscreteGaussian => Rational::clone(all.rho()),
        NoiseKind::Geometric => all.pure_epsilon().unwrap_or_default(),
    };
    Ok(real(&if is_changed { one * 2_u32 } else { one }))
}

/// The rho of one group divided by its budget, for the cases of the proof of Theorem 2 (2024): a group published by its
/// total or in two stages, which contains both records or one of them. A record changed within a group does not change
/// its total and moves between two cells.
pub(super) fn of_group(settings: &PrintedSettings, total_only: bool, both: bool) -> Result<Enclosure> {
    // The result does not depend on the budget.
    let budget = Rational::from(settings.stability);
    let rho = |count| settings.noise(NoiseKind::DiscreteGaussian, budget.clone(), count)?.counts(1).map(|c| c.rho());
    let step_1 = &settings.gamma * rho(CountKind::TotalOnly)?;
    Ok(real(&match (total_only, both) {
        (true, true) => Rational::new(),
        (true, false) => rho(CountKind::TotalOnly)?,
        (false, true) => rho(CountKind::Step2)? * 2_u32,
        (false, false) => step_1 + rho(CountKind::Step2)?,
    }))
}

/// Whether an empty group reaches the threshold of sex by age with probability below `within`, at these totals and
/// thresholds.
pub(super) fn empty_is_unlikely(
    settings: &PrintedSettings,
    levels: &[(Rational, i64)],
    within: &Rational,
) -> Result<Computed> {
    Computed::all_hold(levels.iter().map(|(rho, threshold)| {
        let total =
            settings.noise(NoiseKind::DiscreteGaussian, Rational::from(rho * &settings.gamma), CountKind::TotalOnly)?;
        Ok(total.survival(*threshold, DIGITS)?.at_most(within))
    }))
}

/// Whether the exact margin of a cell does not grow with the budget of its level.
pub(super) fn margin_falls(settings: &PrintedSettings, budgets: &[Rational]) -> Result<bool> {
    let margin = |budget: &Rational| {
        let noise = settings.noise(NoiseKind::DiscreteGaussian, budget.clone(), CountKind::Step2)?;
        noise.margin(1, &crate::safetab::tuning::margin_level())
    };
    let mut sorted = budgets.to_vec();
    sorted.sort_unstable();
    let margins = sorted.iter().map(margin).collect::<Result<Vec<i64>>>()?;
    Ok(margins.windows(2).all(|pair| pair[1] <= pair[0]))
}

/// sum P^a Q^(1 - a) = exp((a - 1) D_a(P || Q)).
fn power_sum(p: &[Rational], q: &[Rational], order: u32) -> Rational {
    p.iter()
        .zip(q)
        .fold(Rational::new(), |sum, (p, q)| sum + Rational::from(p.pow(order)) / Rational::from(q.pow(order - 1)))
}

/// All pairs of probabilities k / parts and 1 - k / parts.
fn coins(parts: u32) -> Vec<[Rational; 2]> {
    (1..parts).map(|k| [Rational::from((k, parts)), Rational::from((parts - k, parts))]).collect()
}

/// Lemma 3 (2024) for two outputs of two values each and integer orders up to `most`, in exact fractions. The
/// divergence of the pair is at most that of the first output plus the larger one of the second, and equals the sum if
/// the second does not depend on the first.
pub(super) fn lemma_3(parts: u32, most: u32) -> bool {
    let coins = coins(parts);
    let pair = |first: &[Rational; 2], second: [&[Rational; 2]; 2]| -> Vec<Rational> {
        (0..4).map(|k| Rational::from(&first[k / 2] * &second[k / 2][k % 2])).collect()
    };
    coins.iter().all(|p| {
        coins.iter().all(|q| {
            coins.iter().all(|p0| {
                coins.iter().all(|q0| {
                    coins.iter().take(2).all(|p1| {
                        (2..=most).all(|order| {
                            let q1 = &coins[coins.len() / 2];
                            let joint = power_sum(&pair(p, [p0, p1]), &pair(q, [q0, q1]), order);
                            let worst = power_sum(p0, q0, order).max(power_sum(p1, q1, order));
                            let product = power_sum(&pair(p, [p0, p0]), &pair(q, [q0, q0]), order);
                            joint <= power_sum(p, q, order) * worst
                                && product == power_sum(p, q, order) * power_sum(p0, q0, order)
                        })
                    })
                })
            })
        })
    })
}

/// Lemma 4 (2024) for three outputs of which two are merged, and integer orders up to `most`: the divergence does not
/// grow.
pub(super) fn processing_adds_nothing(parts: u32, most: u32) -> bool {
    let triples = || {
        let pairs = (1..parts).flat_map(move |a| (1..parts - a).map(move |b| [a, b, parts - a - b]));
        pairs.map(move |triple| triple.map(|part| Rational::from((part, parts))))
    };
    let merged = |three: &[Rational; 3]| [three[0].clone(), Rational::from(&three[1] + &three[2])];
    triples().all(|p| {
        triples()
            .all(|q| (2..=most).all(|order| power_sum(&merged(&p), &merged(&q), order) <= power_sum(&p, &q, order)))
    })
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;

    #[test]
    fn false_statements_are_disproved() {
        let (half, one, ten) = (Rational::from((1, 2)), Rational::from(1), Rational::from(10));
        let is = |computed: Result<Computed>, certainty| matches!(computed.unwrap(), Computed::Statement(c) if c == certainty);
        assert!(is(divergences_add(&[half.clone(), one.clone()], &[Rational::from(3)]), Certainty::Yes));
        assert!(is(
            equations_5_and_6(from_ref(&one), &[Rational::from(4)], &Rational::from((1, 1000))),
            Certainty::Yes
        ));
        assert_eq!(same(&real(&one), &real(&half)), Certainty::No);
        assert!(has_no_pure_epsilon(from_ref(&half), from_ref(&ten)));
        assert!(lemma_13(from_ref(&half), 20) && masses_sum_to_one(from_ref(&half), 9));
        // At epsilon 0 and a tiny delta some output already violates the condition, so nothing follows from it.
        assert!(is(single_outputs_suffice(&ten, &Rational::new(), &Rational::from((1, 1000))), Certainty::Yes));
        assert!(!one_query_costs(&[3], NoiseKind::DiscreteGaussian).unwrap());
        assert!(one_query_costs(&[1, 2], NoiseKind::Geometric).unwrap());
        assert!(lemma_3(3, 3) && processing_adds_nothing(4, 3));
        assert_eq!(power_sum(&coins(2)[0], &coins(2)[0], 5), 1);
    }
}
