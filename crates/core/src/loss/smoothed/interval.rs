//! Enumeration of the losses of an interval, with their masses under Q: the steps by which Q[L > eps] falls there.
//!
//! The mass of a point is that of the fine groups, exp(-x_1^2 / (2 v_1) - ...) / (sqrt(2 pi v_1) ...) up to a factor 1 + e, times that of an
//! enumerated loss. Points that are not found lie beyond the energy or belong to the truncated mass of the enumerated losses ([`smoothed`](super));
//! under the law tilted by c their mass is P_c[A] in all, under Q at most
//!
//! ```text
//! M(c) exp(-(c + 1) l) P_c[A] <= M(c) exp(-(c + 1) eps + |c + 1| W) P_c[A]
//! ```
//!
//! in an interval of W around eps; under P the same with c in place of c + 1. Where all losses are below zero, the interval of -L is enumerated,
//! which is the loss of the same pair with P and Q exchanged: Q[L = l] = P[L = -l].

use std::{
    f64::consts::{LN_2, LN_10, PI},
    sync::Arc,
};

use rayon::prelude::*;
use rug::{Float, Rational};

use super::{
    close::Close,
    parts::{Distances, Fine, Parts},
    state::{MOST_LISTED, SPARE_NATS, Smoothed},
    tails::{beyond_energy, energy_beyond, exp_of_minus},
};
use crate::{
    loss::{
        atoms::{
            coarse::{self, Atom, exact_exponent},
            tilt,
        },
        stop::Stop,
    },
    numeric::{Enclosure, lattice, precision},
};

/// The losses strictly between two.
#[derive(Debug)]
pub(crate) struct Interval {
    /// In increasing order, with their masses under Q; a loss may occur several times.
    pub(crate) losses: Vec<(Rational, Enclosure)>,
    /// Upper bound on the mass of all others under Q.
    pub(crate) missing: Float,
    /// The number of losses found, including those whose mass is too small to count.
    pub(crate) found: usize,
}

/// The approximate number of losses of an interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crowd {
    /// The number of losses found.
    pub(crate) points: f64,
    /// The number of losses that matter.
    pub(crate) heavy: f64,
}

/// The parameters of a search of an interval of losses above zero, chosen in doubles.
struct Look {
    middle: Rational,
    half: Rational,
    c: Rational,
    under_q: bool,
    parts: Arc<Parts>,
    /// The approximate ln of the mass of all losses of the interval, and ln of the allowed truncation error.
    ln_mass: f64,
    ln_error: f64,
    energy: f64,
    cut: u32,
}

impl Look {
    /// ln M(c) exp(-c eps), under Q exp(-(c + 1) eps); and c or c + 1.
    fn ln_scale(&self, smoothed: &Smoothed) -> (Enclosure, Rational) {
        const BITS: u32 = 96;
        let exponent = Rational::from(&self.c + i32::from(self.under_q));
        let at_middle = exact_exponent(&Rational::from(&exponent * &self.middle), BITS);
        (smoothed.sum.ln_mgf(&self.c, BITS).sub(&at_middle), exponent)
    }

    /// Upper bound on the mass of the points that are not found, `missing` being the truncated mass of the enumerated losses.
    fn left_out(&self, smoothed: &Smoothed, missing: &Float) -> Enclosure {
        const BITS: u32 = 96;
        let (ln_scale, exponent) = self.ln_scale(smoothed);
        let edge = exact_exponent(&(exponent.abs() * &self.half), BITS);
        let missing = Enclosure::new(Float::new(BITS), missing.clone());
        let share = beyond_energy(self.parts.fine.len(), self.energy, BITS).add(&missing);
        ln_scale.add(&edge).exp().mul(&share)
    }
}

/// A point near the interval, before its loss is known exactly.
struct Point {
    /// The number of its enumerated loss.
    listed: usize,
    multiples: Vec<i64>,
    /// Upper bound on ln of its mass, without the normaliser.
    ln_most: f64,
}

impl Look {
    /// The mass of an enumerated loss under the law whose masses are looked for.
    fn mass<'a>(&self, atom: &'a Atom) -> &'a Enclosure {
        if self.under_q { &atom.q } else { &atom.p }
    }

    /// The mass of a sum of fine groups under Q is that of the sum moved by these shifts; `None` where they are too large.
    fn shifts(&self) -> Option<Vec<i128>> {
        let shift = |fine: &Fine| if self.under_q { fine.shifts.numer().to_i128() } else { Some(0) };
        let fits = |shift: &i128| *shift < 1 << 100;
        self.parts.fine.iter().map(|fine| shift(fine).filter(fits)).collect()
    }

    /// The points near the interval, and the distances of each enumerated loss; `None` where there are more than `most`, or after a stop.
    fn points(&self, listed: &[Atom], shifts: &[i128], most: f64, stop: &Stop) -> Option<(Vec<Point>, Vec<Distances>)> {
        let close = Close::new(&self.parts.rungs(&self.c), &self.half, self.energy)?;
        let rho = self.parts.rho();
        let (mut looked_at, mut points, mut distances) = (0, Vec::new(), Vec::with_capacity(listed.len()));
        for (index, atom) in listed.iter().enumerate() {
            let target = Rational::from(&self.middle - &atom.loss) - &rho;
            let ln_listed = self.mass(atom).ln_above();
            let found = close.each(&target, &mut looked_at, stop, &mut |multiples| {
                let moved = multiples.iter().zip(shifts).map(|(&x, shift)| (i128::from(x) + shift) as f64);
                let energy: f64 = close.variances().zip(moved).map(|(v, x)| x * x / (2.0 * v)).sum();
                // For the rounding errors.
                let ln_most = ln_listed - energy + 1e-12 * (energy + ln_listed.abs()) + 1e-12;
                points.push(Point { listed: index, multiples, ln_most });
            });
            // Steps that are nearly commensurate crowd losses where none, or few, are predicted.
            if found.is_err() || points.len() as f64 > most {
                return None;
            }
            distances.push(Distances::new(&self.parts.fine, &target));
        }
        Some((points, distances))
    }
}

/// The number of points that are kept, the largest first, and the mass of the others in units of exp(ln_share): the smallest are dropped, up to one
/// such unit in all.
fn kept(points: &[Point], ln_share: f64) -> (usize, f64) {
    let (mut dropped, mut kept) = (0.0_f64, points.len());
    while let Some(point) = points[..kept].last() {
        let next = (dropped + libm::exp(point.ln_most - ln_share)) * (1.0 + 1e-12);
        if next > 1.0 {
            break;
        }
        (dropped, kept) = (next, kept - 1);
    }
    (kept, dropped)
}

impl Smoothed {
    /// The predicted number of losses between two, with their masses known to exp(ln_error) in all; `None` where they are not enumerated.
    pub(in crate::loss) fn predicted_between(&self, from: &Rational, to: &Rational, ln_error: f64) -> Option<Crowd> {
        /// The cut, as a power of 1/2, within which enumerated losses count as heavy.
        const LARGE: u32 = 4;
        let look = self.look_between(from, to, ln_error)?;
        let parts = &look.parts;
        let c = look.c.to_f64();
        let listed =
            |cut: u32| parts.listed.as_ref().map_or(1.0, |(sum, outline)| coarse::predicted(sum, outline, c, cut));
        let all = listed(look.cut);
        if all > MOST_LISTED {
            return None;
        }
        let deviations = parts.fine.iter().map(|one| one.variance.to_f64().sqrt());
        let across = parts.fine.iter().map(|one| one.deviation().powi(2)).sum::<f64>().sqrt();
        let cells = deviations.product::<f64>() * 2.0 * look.half.to_f64() / across;
        // Within the energy; and the number of losses with the same sum of squared masses if all were equal.
        let dimension = parts.fine.len() - 1;
        let disc = lattice::ball(dimension) * (2.0 * look.energy).sqrt().powi(dimension as i32);
        let heavy = (4.0 * PI).sqrt().powi(dimension as i32);
        Some(Crowd { points: all * cells * disc, heavy: listed(LARGE).min(all) * cells * heavy })
    }

    /// The losses strictly between two, their masses known to about exp(ln_error) in all; `None` where that would take too long, or where more than
    /// `most` are found.
    pub(in crate::loss) fn between(
        &self,
        from: &Rational,
        to: &Rational,
        ln_error: f64,
        most: f64,
        stop: &Stop,
    ) -> Option<Interval> {
        let look = self.look_between(from, to, ln_error)?;
        let found = self.found(&look, most, stop)?;
        if look.under_q {
            return Some(found);
        }
        let losses = found.losses.into_iter().rev().map(|(loss, mass)| (-loss, mass)).collect();
        Some(Interval { losses, ..found })
    }

    fn look_between(&self, from: &Rational, to: &Rational, ln_error: f64) -> Option<Look> {
        // Below zero the interval of -L is enumerated, which has the same law under Q in a symmetric pair alone.
        if !self.sum.is_symmetric() {
            return None;
        }
        if from >= to {
            return None;
        }
        let under_q = *to > 0;
        let middle: Rational = Rational::from(from + to) / if under_q { 2 } else { -2 };
        let half = Rational::from(to - from) / 2_u32;
        let tilt = self.outline.hockey_plan(&self.sum, &middle.clone().max(Rational::new())).tilt();
        let exponent = if under_q { tilt + 1.0 } else { tilt };
        let ln_scale = self.sum.ln_mgf(&tilt::exact(tilt), 96).approximate() - exponent * middle.to_f64();
        let share = 2.0 * half.to_f64() / self.outline.deviation(tilt);
        let ln_mass = ln_scale + libm::log(share.min(1.0));
        let digits = ((ln_mass - ln_error) / LN_10).max(1.0).ceil() as u32 + 1;
        let parts = self.parts(digits).filter(|parts| !parts.fine.is_empty())?;
        let needed = (ln_scale + exponent.abs() * half.to_f64() - ln_error + SPARE_NATS).max(1.0);
        let energy = energy_beyond(parts.fine.len(), needed);
        let cut = (needed / LN_2).clamp(8.0, 1e6) as u32 + 2;
        Some(Look { middle, half, c: tilt::exact(tilt), under_q, parts, ln_mass, ln_error, energy, cut })
    }

    fn found(&self, look: &Look, most: f64, stop: &Stop) -> Option<Interval> {
        let parts = &look.parts;
        let digits = ((look.ln_mass - look.ln_error) / LN_10).max(1.0).ceil() as u32;
        let bits = precision::bits(digits, 64);
        let (listed, missing) = parts.list(&look.c, look.cut, bits).ok()?;
        let shifts = look.shifts()?;
        let (mut points, distances) = look.points(&listed, &shifts, most, stop)?;
        points.par_sort_by(|a, b| b.ln_most.total_cmp(&a.ln_most));
        let factor = parts.normaliser(bits);
        let ln_share = look.ln_error - SPARE_NATS - factor.ln_above();
        let scale = factor.mul(&parts.one(bits));
        // The millionth that `most` adds below covers the rounding errors of logarithms and sums.
        let (kept, dropped) = kept(&points, ln_share);
        let count = libm::log((kept as f64).max(1.0));
        let exact = |point: &Point| {
            let (atom, distances) = (&listed[point.listed], &distances[point.listed]);
            let distance = distances.exact(&distances.distance(&point.multiples));
            if distance.clone().abs() >= look.half {
                return None;
            }
            let loss = Rational::from(&look.middle - &distance);
            let mut energy = parts.energy(&point.multiples);
            if look.under_q {
                energy += Rational::from(&loss - &atom.loss);
            }
            let wanted = ((point.ln_most + count - ln_share) / LN_10).clamp(2.0, 1e4).ceil() as u32 + 1;
            let own = exp_of_minus(&energy, wanted).mul(look.mass(atom)).mul(&scale);
            let moved = point.multiples.iter().zip(&shifts).map(|(&x, shift)| i128::from(x) + shift);
            Some((loss, parts.rippled(own, moved)))
        };
        let mut losses: Vec<(Rational, Enclosure)> = points[..kept].par_iter().filter_map(exact).collect();
        losses.par_sort_by(|a, b| a.0.cmp(&b.0));
        let most = dropped * parts.most_rippled() * (1.0 + 1e-6);
        let dropped = Enclosure::double(ln_share, 64).exp().mul(&Enclosure::double(most, 64));
        let missing = look.left_out(self, &missing).add(&dropped.mul(&scale)).upper().clone();
        Some(Interval { losses, missing, found: points.len() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        loss::{
            law::{Group, Law},
            testing::{groups, sum},
        },
        numeric::rational::parse,
    };

    /// The masses of the sum of n discrete Gaussians, or of the losses of one count with discrete Laplace noise, by convolution in floats.
    fn masses(group: &Group, bits: u32) -> Vec<(Rational, Float)> {
        let zero = || Float::new(bits);
        let (one, first, step): (Vec<Float>, i64, Rational) = match &group.law {
            Law::DiscreteGaussian { sigma2 } => {
                let reach = 14 * (sigma2.to_f64().sqrt() as i64 + 1);
                let mass = |x: i64| Float::with_val(bits, -Rational::from((x * x, 2)) / sigma2).exp();
                ((-reach..=reach).map(mass).collect(), -reach, group.weight())
            }
            Law::DiscreteLaplace { epsilon } => {
                let (reach, mu) = (300, group.shift as i64);
                let mut losses = vec![zero(); 2 * mu as usize + 1];
                for x in -reach..=reach {
                    // Noise x; the loss is epsilon (|x + mu| - |x|).
                    let loss: i64 = (x + mu).abs() - x.abs();
                    losses[(loss + mu) as usize] += Float::with_val(bits, -Rational::from(x.abs()) * epsilon).exp();
                }
                (losses, -mu, epsilon.clone())
            }
            law => panic!("{law}"),
        };
        let total = one.iter().fold(zero(), |sum, mass| sum + mass);
        let mut all = vec![Float::with_val(bits, 1)];
        for _ in 0..group.copies {
            let mut next = vec![zero(); all.len() + one.len() - 1];
            for (i, mass) in all.iter().enumerate() {
                for (j, other) in one.iter().enumerate() {
                    next[i + j] += Float::with_val(bits, mass * other) / &total;
                }
            }
            all = next;
        }
        let first = first * group.copies as i64;
        let rho = if matches!(group.law, Law::DiscreteGaussian { .. }) { group.rho() } else { Rational::new() };
        let loss = |k: usize| Rational::from(&step * (first + k as i64)) + &rho;
        all.into_iter().enumerate().map(|(k, mass)| (loss(k), mass)).collect()
    }

    /// Every loss of an interval is found with its mass under Q, or its mass is part of `missing`: above zero and below, of fine groups and with
    /// coarse ones beside them, far out and near the mean.
    #[test]
    fn losses_and_masses_are_those_of_convolutions() {
        const BITS: u32 = 300;
        let mut found = 0;
        for texts in [
            vec!["20x2", "37/2"],
            vec!["41/2x2@2", "1/2x2"],
            vec!["71/3x2", "discrete-laplace:3/4x2@2"],
            vec!["20x2", "5/2x3"],
        ] {
            let sum = sum(&texts);
            let smoothed = Smoothed::new(&sum).unwrap();
            let mut all = vec![(Rational::new(), Float::with_val(BITS, 1))];
            for group in &groups(&texts) {
                let next = masses(group, BITS);
                let and = |(loss, mass): &(Rational, Float)| {
                    let and = |(l, m): &(Rational, Float)| (Rational::from(loss + l), Float::with_val(BITS, mass * m));
                    next.iter().map(and).collect::<Vec<_>>()
                };
                all = all.iter().flat_map(and).collect();
            }
            for (from, to) in [
                ("1/10", "13/100"),
                ("-13/50", "-1/5"),
                ("2", "2.07"),
                ("-3.1", "-3.02"),
                ("0", "1/50"),
                ("-1/90", "1/70"),
            ] {
                let (from, to) = (parse(from).unwrap(), parse(to).unwrap());
                for digits in [8, 20] {
                    let ln_error = -f64::from(digits) * LN_10;
                    let interval = smoothed.between(&from, &to, ln_error, 1e6, &Stop::default()).unwrap();
                    assert!(interval.missing < Float::with_val(64, ln_error).exp(), "{from} {to}: {interval:?}");
                    assert!(interval.losses.is_sorted_by(|a, b| a.0 <= b.0));
                    let mut missing = Enclosure::double(0.0, BITS);
                    let mut left = interval.losses.clone();
                    // Q[L = l] = exp(-l) P[L = l]. Several points may have one loss: their masses are added.
                    let mut by_loss: std::collections::BTreeMap<Rational, Float> = Default::default();
                    for (loss, mass) in all.iter().filter(|(loss, _)| *loss > from && *loss < to) {
                        let q = Float::with_val(BITS, mass * Float::with_val(BITS, -loss.clone()).exp());
                        *by_loss.entry(loss.clone()).or_insert_with(|| Float::new(BITS)) += q;
                    }
                    for (loss, q) in by_loss {
                        let own: Vec<_> = left.extract_if(.., |(other, _)| *other == loss).collect();
                        let stored_mass = own.iter().fold(Enclosure::double(0.0, BITS), |sum, (_, mass)| sum.add(mass));
                        let truth = Enclosure::new(q.clone(), q);
                        // The stored mass of an enumerated loss is a little less.
                        let lacks = truth.sub(&stored_mass).max(&Enclosure::double(0.0, BITS));
                        assert!(*stored_mass.lower() <= *truth.upper(), "{loss}: {stored_mass} {truth}");
                        missing = missing.add(&Enclosure::new(lacks.lower().clone(), lacks.lower().clone()));
                        found += own.len();
                    }
                    assert!(left.is_empty(), "{from} {to}: no such losses as {left:?}");
                    assert!(*missing.lower() <= interval.missing, "{from} {to}: {missing} {}", interval.missing);
                }
            }
        }
        assert!(found > 400, "{found}");
    }
}
