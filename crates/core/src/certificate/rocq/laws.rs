//! The laws of noise that `proofs/rocq` knows: the tilted masses of a count by place, and their texts.

use rug::{Integer, Rational};

use super::{
    bounded::Bounded,
    number::{equal_counts, quotient, repeated, unprovable},
};
use crate::{
    error::Result,
    law::{Group, Law},
};

/// The names of laws.
pub(super) const GAUSSIAN: &str = "discrete-gaussian";
const LAPLACE: &str = "discrete-laplace";

/// The noise of a count.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Noise {
    Gaussian {
        sigma2: Rational,
    },
    Laplace {
        parameter: Rational,
    },
    /// Two answers of randomized response, which dominate every epsilon-DP mechanism; beside an output that only one neighbor can have, of this
    /// probability. The walk is about the answers, whose losses are those of discrete Laplace noise on a count that moves by one.
    Response {
        epsilon: Rational,
        infinite: Rational,
    },
    /// Noise on finitely many integers.
    Bounded(Bounded),
}

impl Noise {
    pub(super) fn of_group(group: &Group) -> Result<Noise> {
        let law = &group.law;
        match law {
            Law::Pure { epsilon } | Law::RandomizedResponse { epsilon, answers: 2 } => {
                return Ok(Noise::Response { epsilon: epsilon.clone(), infinite: Rational::new() });
            }
            Law::Approximate { epsilon, delta } => {
                return Ok(Noise::Response { epsilon: epsilon.clone(), infinite: delta.clone() });
            }
            _ => {}
        }
        if let Some(bounded) = Bounded::of_law(law, group.shift)? {
            return Ok(Noise::Bounded(bounded));
        }
        match (law.key(), law.discrete_sigma2()) {
            (GAUSSIAN, Some(sigma2)) => Ok(Noise::Gaussian { sigma2: sigma2.clone() }),
            (LAPLACE, _) => Ok(Noise::Laplace { parameter: law.parameter().clone() }),
            _ => {
                let name = law.described();
                Err(unprovable(&format!(
                    "are about discrete Gaussian and discrete Laplace noise, also truncated, randomized response and guarantees, not about {name} noise"
                )))
            }
        }
    }

    /// The change of the loss with the place, and the loss at place 0.
    pub(super) fn losses(&self, shift: u64) -> (Rational, Rational) {
        match self {
            Noise::Gaussian { sigma2 } => {
                let weight = Rational::from(shift) / sigma2;
                (weight.clone(), weight * shift / 2_u32)
            }
            Noise::Laplace { parameter } => (Rational::from(parameter * 2_u32), Rational::from(parameter * shift)),
            Noise::Response { epsilon, .. } => (Rational::from(epsilon * 2_u32), epsilon.clone()),
            Noise::Bounded(bounded) => bounded.losses(shift),
        }
    }

    /// Mean and variance of the place of an output, and with it of its loss, under the law tilted by `c`.
    pub(super) fn tilted_place(&self, shift: u64, c: f64) -> (f64, f64) {
        match self {
            Noise::Gaussian { sigma2 } => (-c * shift as f64, sigma2.to_f64()),
            Noise::Laplace { parameter } | Noise::Response { epsilon: parameter, .. } => {
                let masses = laplace_masses(parameter.to_f64(), shift, c);
                moments(&masses.into_iter().enumerate().map(|(y, mass)| (y as i64, mass)).collect::<Vec<_>>())
            }
            Noise::Bounded(bounded) => {
                let tilted = bounded.tilted(shift, c);
                let most = largest(&tilted);
                moments(&tilted.into_iter().map(|(place, ln)| (place, libm::exp(ln - most))).collect::<Vec<_>>())
            }
        }
    }

    /// The logarithm of the sum of the tilted masses, which becomes their unit. Gaussian masses are in the unit of their square.
    pub(super) fn ln_total(&self, shift: u64, c: f64) -> Option<f64> {
        match self {
            Noise::Gaussian { .. } => None,
            Noise::Laplace { parameter } => {
                Some(libm::log(laplace_masses(parameter.to_f64(), shift, c).iter().sum::<f64>()))
            }
            Noise::Response { epsilon, .. } => {
                Some(libm::log(laplace_masses(epsilon.to_f64(), 1, c).iter().sum::<f64>()))
            }
            Noise::Bounded(bounded) => {
                let tilted = bounded.tilted(shift, c);
                let most = largest(&tilted);
                Some(most + libm::log(tilted.iter().map(|(_, ln)| libm::exp(ln - most)).sum::<f64>()))
            }
        }
    }

    /// The group for Rocq: counts, and the hints of the table.
    pub(super) fn group_text(&self, [shift, copies]: [u64; 2], hints: &Hints) -> String {
        let Hints { step, norm, left, width, reach } = hints;
        match self {
            Noise::Gaussian { sigma2 } => {
                let (num, den) = (sigma2.numer(), sigma2.denom());
                format!("Group {num} {den} {shift} {copies} {step} ({left}) {width} {reach}")
            }
            Noise::Laplace { parameter } => {
                let (num, den) = (parameter.numer(), parameter.denom());
                format!("LaplaceGroup {num} {den} {shift} {copies} {step} ({norm}) {reach}")
            }
            Noise::Response { epsilon, infinite } => {
                let (num, den) = (epsilon.numer(), epsilon.denom());
                if *infinite == 0 {
                    return format!("ResponseGroup {num} {den} {copies} {step} ({norm})");
                }
                let (inum, iden) = (infinite.numer(), infinite.denom());
                format!("BoxGroup {num} {den} {inum} {iden} {copies} {step} ({norm})")
            }
            Noise::Bounded(bounded) => bounded.group_text(shift, copies, &format!("{step} ({norm})")),
        }
    }

    /// The counts for Rocq.
    pub(super) fn law_text(&self, [shift, copies]: [u64; 2]) -> String {
        match self {
            Noise::Gaussian { sigma2 } => repeated("Count", sigma2, shift, copies),
            Noise::Laplace { parameter } => repeated("Laplace", parameter, shift, copies),
            Noise::Response { epsilon, infinite } if *infinite == 0 => {
                equal_counts(&format!("Response {}", quotient(epsilon)), copies)
            }
            Noise::Response { epsilon, infinite } => {
                equal_counts(&format!("Box {} {}", quotient(epsilon), quotient(infinite)), copies)
            }
            Noise::Bounded(bounded) => bounded.law_text(shift, copies),
        }
    }
}

/// The hints of a table: the step of the loss with the place, the logarithm of the unit of masses, the window of places, and the reach.
pub(super) struct Hints<'a> {
    pub(super) step: &'a Integer,
    pub(super) norm: &'a Integer,
    pub(super) left: i64,
    pub(super) width: usize,
    pub(super) reach: i64,
}

fn largest(tilted: &[(i64, f64)]) -> f64 {
    tilted.iter().fold(f64::NEG_INFINITY, |most, &(_, ln)| most.max(ln))
}

/// Mean and variance of places with these masses, which need not add up to one.
fn moments(masses: &[(i64, f64)]) -> (f64, f64) {
    let total: f64 = masses.iter().map(|(_, mass)| mass).sum();
    let moment = |power: i32| masses.iter().map(|&(y, mass)| mass * (y as f64).powi(power)).sum::<f64>() / total;
    let mean = moment(1);
    (mean, moment(2) - mean * mean)
}

/// The tilted masses of discrete Laplace noise by place: 1, then (1 - q) r^y with r = q^(1 + 2 c), and r^shift, all over 1 + q.
pub(super) fn laplace_masses(parameter: f64, shift: u64, c: f64) -> Vec<f64> {
    let q = libm::exp(-parameter);
    let mass = |y: u64| {
        let inside = if y == 0 || y == shift { 1.0 } else { -libm::expm1(-parameter) };
        inside * libm::exp(-parameter * (1.0 + 2.0 * c) * y as f64) / (1.0 + q)
    };
    (0..=shift).map(mass).collect()
}
