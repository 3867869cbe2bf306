//! The Renyi divergences of the two-sided geometric mechanism: by Lemma 8 of the 2021 paper, by the continuous Laplace,
//! and exact; and the conversions of Section F.2 over the paper's grid of orders.

use rug::{Float, Rational};
use serde::Deserialize;

use super::settings::{PersonGroups, PrintedSettings};
use crate::{
    error::Result,
    numeric::{Certainty, Enclosure, parallel},
};

const BITS: u32 = 160;

/// The kind of divergence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Renyi {
    /// Lemma 8: the normalizing constant of the masses times an integral instead of a sum. It is not a divergence: it
    /// is negative for small orders.
    Lemma8,
    /// The divergence of the continuous Laplace (Mironov 2017, Proposition 6).
    Laplace,
    /// The divergence of the two-sided geometric itself.
    Exact,
}

fn real(value: &Rational) -> Enclosure {
    Enclosure::rational(value, BITS)
}

/// The divergence of order alpha > 1 between the noise and the noise shifted by 1, for a count with parameter epsilon.
///
/// With q = exp(-epsilon) the loss is epsilon with probability 1 / (1 + q), and -epsilon otherwise, so exactly
/// exp((alpha - 1) D) = (exp(alpha epsilon) + exp((1 - alpha) epsilon)) / (1 + exp(epsilon)).
pub fn divergence(renyi: Renyi, alpha: &Rational, epsilon: &Rational) -> Enclosure {
    let rise = real(&(Rational::from(alpha - 1) * epsilon)).exp();
    let fall = real(&-Rational::from(alpha * epsilon)).exp();
    let (one, e) = (Enclosure::double(1.0, BITS), real(epsilon).exp());
    let twice = Rational::from(alpha * 2_u32) - 1_u32;
    // alpha / (2 alpha - 1) exp((alpha - 1) epsilon) + (alpha - 1) / (2 alpha - 1) exp(-alpha epsilon)
    let laplace = || {
        let (first, second) = (Rational::from(alpha / &twice), Rational::from(alpha - 1) / &twice);
        real(&first).mul(&rise).add(&real(&second).mul(&fall))
    };
    let inside = match renyi {
        Renyi::Laplace => laplace(),
        Renyi::Lemma8 => {
            let normaliser = e.sub(&one).div(&e.add(&one));
            let scale = real(&(Rational::from(2) / epsilon));
            laplace().mul(&normaliser).mul(&scale)
        }
        Renyi::Exact => e.mul(&rise).add(&rise.recip()).div(&e.add(&one)),
    };
    inside.ln().div(&real(&Rational::from(alpha - 1)))
}

/// Whether the divergence of Lemma 8 is an upper bound on the true one.
pub(super) fn lemma_holds(alpha: &Rational, epsilon: &Rational) -> Certainty {
    let [lemma, truth] = [Renyi::Lemma8, Renyi::Exact].map(|which| divergence(which, alpha, epsilon));
    is_bound(&lemma, &truth)
}

/// Whether a number is an upper bound on the true one.
pub(super) fn is_bound(bound: &Enclosure, truth: &Enclosure) -> Certainty {
    match bound.below(truth) {
        Certainty::Yes => Certainty::No,
        Certainty::No => Certainty::Yes,
        Certainty::Undecided => Certainty::Undecided,
    }
}

/// Equation (6): tau + (ln(1 / delta) + (alpha - 1) ln(1 - 1 / alpha) - ln alpha) / (alpha - 1).
pub(super) fn converted(tau: &Enclosure, alpha: &Rational, delta: &Rational) -> Enclosure {
    let s = Rational::from(alpha - 1);
    let shrink = real(&Rational::from(&s / alpha)).ln().mul(&real(&s));
    let top = shrink.sub(&real(delta).ln()).sub(&real(alpha).ln());
    tau.add(&top.div(&real(&s)))
}

/// The minimum over the orders 1.01, 1.02, ..., 10.00.
fn least_on_grid(epsilon: impl Fn(&Rational) -> Enclosure + Sync) -> Enclosure {
    let values = parallel::map_indices(900, |k| epsilon(&Rational::from((k + 101, 100))));
    let least = |end: fn(&Enclosure) -> &Float| {
        values.iter().map(end).fold(None, |least: Option<Float>, value| {
            Some(least.map_or_else(|| value.clone(), |least| least.min(value)))
        })
    };
    match (least(Enclosure::lower), least(Enclosure::upper)) {
        (Some(lower), Some(upper)) => Enclosure::new(lower, upper),
        _ => Enclosure::double(f64::INFINITY, BITS),
    }
}

/// The epsilon of rho-zCDP by the grid.
pub(in crate::replication) fn of_rho(rho: &Rational, delta: &Rational) -> Enclosure {
    least_on_grid(|alpha| converted(&real(&Rational::from(rho * alpha)), alpha, delta))
}

/// The epsilon of `SafeTab[Geometric]` by (39) and (40), with one of the divergences.
pub(in crate::replication) fn of_geometric(
    settings: &PrintedSettings,
    renyi: Renyi,
    groups: PersonGroups,
    stability: Option<u32>,
) -> Result<Enclosure> {
    let s = stability.unwrap_or(settings.stability);
    let levels = different(settings)?;
    let rest = Rational::from(1 - &settings.gamma);
    let at = |alpha: &Rational| of_each(&levels, renyi, groups, (&settings.gamma, &rest), s, alpha);
    Ok(least_on_grid(|alpha| converted(&at(alpha), alpha, &settings.delta)))
}

/// (39) at one order.
pub(super) fn of_levels(
    settings: &PrintedSettings,
    renyi: Renyi,
    groups: PersonGroups,
    stability: u32,
    alpha: &Rational,
) -> Result<Enclosure> {
    let rest = Rational::from(1 - &settings.gamma);
    Ok(of_each(&different(settings)?, renyi, groups, (&settings.gamma, &rest), stability, alpha))
}

/// The budget of a level and whether some of its groups are published by their total only.
type Level = (Rational, bool);

/// The distinct levels, and the number of each.
fn different(settings: &PrintedSettings) -> Result<Vec<(Level, u32)>> {
    let mut levels: Vec<(Level, u32)> = Vec::new();
    for level in settings.geometric()? {
        match levels.iter_mut().find(|(known, _)| *known == level) {
            Some((_, times)) => *times += 1,
            None => levels.push((level, 1)),
        }
    }
    Ok(levels)
}

fn of_each(
    levels: &[(Level, u32)],
    renyi: Renyi,
    groups: PersonGroups,
    (gamma, rest): (&Rational, &Rational),
    s: u32,
    alpha: &Rational,
) -> Enclosure {
    let mut sum = Enclosure::double(0.0, BITS);
    for ((budget, total_only), times) in levels {
        let of = |share: &Rational| divergence(renyi, alpha, &(Rational::from(budget * share) / s));
        let mut own = of(gamma).add(&of(rest));
        if groups.total_only(*total_only) {
            own = own.max(&of(&Rational::from(1)));
        }
        sum = sum.add(&own.mul(&real(&Rational::from(s * times))));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        account::conversions,
        numbers::number,
        safetab::cell_noise::{CellNoise, NoiseKind},
    };

    /// The definition, as a sum over the masses.
    #[test]
    fn the_exact_divergence_agrees_with_the_sum_over_masses() {
        for (alpha, epsilon) in [("1.5", "0.4"), ("3", "0.05"), ("8.76", "0.474"), ("2", "2")] {
            let (alpha, epsilon) = (number(alpha), number(epsilon));
            let noise = CellNoise::new(NoiseKind::Geometric, &epsilon).unwrap();
            let mass = |x: i64| noise.mass(x, 17).approximate();
            let a = alpha.to_f64();
            let reach = (40.0 / epsilon.to_f64()) as i64;
            let sum: f64 = (-reach..=reach).map(|x| mass(x).powf(a) * mass(x - 1).powf(1.0 - a)).sum();
            let truth = divergence(Renyi::Exact, &alpha, &epsilon);
            assert!((truth.approximate() - sum.ln() / (a - 1.0)).abs() < 1e-9 && truth.is_tight(30));
        }
    }

    #[test]
    fn lemma_8_is_below_the_true_divergence_and_below_zero() {
        for (alpha, epsilon) in [("1.01", "0.4"), ("5", "0.4"), ("10", "0.01"), ("2", "3")] {
            assert_eq!(lemma_holds(&number(alpha), &number(epsilon)), Certainty::No, "{alpha} {epsilon}");
        }
        assert!(*divergence(Renyi::Lemma8, &number("1.01"), &number("0.4")).upper() < 0);
        // The continuous Laplace also has a smaller divergence.
        let [laplace, exact] =
            [Renyi::Laplace, Renyi::Exact].map(|which| divergence(which, &number("3"), &number("0.4")));
        assert!(laplace.upper() < exact.lower());
    }

    #[test]
    fn the_grid_is_slightly_above_the_best_order() {
        let (rho, delta) = (number("1.41"), number("1e-10"));
        let best =
            conversions::zcdp_epsilon_optimal(&rho.clone().try_into().unwrap(), &delta.clone().try_into().unwrap())
                .unwrap()
                .epsilon;
        let grid = of_rho(&rho, &delta);
        assert!(grid.lower() >= best.lower() && grid.approximate() - best.approximate() < 1e-4);
    }
}
