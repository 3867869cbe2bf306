//! The lobes of the product of a few groups whose noise is fine: heights close to multiples of the periods of all of them.
//!
//! With a_j = copies sigma2 w^2 / 2 and p_j = 2 pi / w for a group of weight w, its factor at a height t within reach of k_j p_j is at most exp(-a_j
//! (t - k_j p_j)^2), up to the rounding errors of [`factor_bound`](super::factor_bound). So where the product exceeds exp(-cut), for t from m - r to
//! m + r and any s > 0,
//!
//! ```text
//! sum of a_j (t - k_j p_j)^2 + b (t - m)^2 <= (1 + s) cut,    b = s cut / r^2.
//! ```
//!
//! The left-hand side is least at t = (sum of a_j p_j k_j + b m) / A, A = b + sum of a_j, and there it is a quadratic form of k - m / p: that of the
//! matrix diag(a_j p_j^2) - u u' / A with u_j = a_j p_j. A reduced basis enumerates all k ([`lattice`](crate::numeric::lattice)) in about as many
//! steps as there are lobes, while windows of one group after the other take as many steps as the rarest group has windows.

use std::f64::consts::PI;

use rug::{Float, Rational};

use super::factor_bound::FactorBound;
use crate::numeric::lattice::{self, Form};

/// Relative error of heights, as everywhere in the sieve.
const OF_HEIGHT: f64 = 1.0 / (1_u64 << 48) as f64;
/// Fewer windows than this are examined one by one.
const FEWEST_WINDOWS: f64 = 1000.0;

/// A group whose factor is a Gaussian wherever it is not below the cut alone.
#[derive(Debug)]
struct Fine {
    /// Lower bound on a_j.
    curvature: f64,
    period: f64,
    exact_weight: Rational,
}

/// The lobes of fine groups from one height to another.
#[derive(Debug)]
pub(super) struct Lobes {
    groups: Vec<Fine>,
    from: f64,
    to: f64,
    /// (1 + s) cut, b and A.
    most: f64,
    own: f64,
    all: f64,
}

impl Lobes {
    /// The lobes of the groups that are fine for the target exp(-cut), where windows of one group after the other would be many more.
    pub(super) fn new(bounds: &[FactorBound], weights: &[Rational], cut: f64, (from, to): (f64, f64)) -> Option<Self> {
        // The part of the target that continuous noise leaves.
        let steady = bounds.iter().filter(|bound| !bound.periodic);
        let cut = cut + steady.map(|bound| bound.ln_factor(bound.nearest(from, to))).sum::<f64>() * (1.0 - 1e-9);
        let fine = |(bound, weight): (&FactorBound, &Rational)| {
            let far = bound.reach(cut)?;
            // Then the other terms of psi are below the rounding errors that are allowed for below.
            let alone = 2.0 * PI * bound.sigma2 * (PI - far) > 41.0;
            let curvature = bound.copies * bound.sigma2 * bound.weight * bound.weight / 2.0 * (1.0 - 1e-12);
            alone.then(|| Fine { curvature, period: bound.period(), exact_weight: weight.clone() })
        };
        if cut <= 0.0 {
            return None;
        }
        let copies: f64 = bounds.iter().map(|bound| bound.copies).sum();
        let groups: Vec<Fine> = bounds.iter().zip(weights).filter_map(fine).collect();
        let dimensions = groups.len();
        let rarest = groups.iter().map(|group| (to - from) / group.period).fold(f64::INFINITY, f64::min);
        if !(2..=lattice::MOST_DIMENSIONS).contains(&dimensions) || rarest < FEWEST_WINDOWS {
            return None;
        }
        // (1 + s)^(d / 2) / sqrt(s), to which the number of lobes is proportional, is least there.
        let share = 1.0 / (dimensions as f64 - 1.0);
        let radius = (to - from) / 2.0 * (1.0 + 1e-9);
        let own = share * cut / (radius * radius);
        let all = own + groups.iter().map(|group| group.curvature).sum::<f64>();
        let lobes = Lobes { groups, from, to, most: (1.0 + share) * cut * (1.0 + 1e-9) + copies * 1e-14, own, all };
        (lobes.expected() * 4.0 < rarest).then_some(lobes)
    }

    /// The approximate number of lobes: the volume of the ellipsoid.
    fn expected(&self) -> f64 {
        let dimensions = self.groups.len();
        let axes = self.groups.iter().map(|group| group.curvature * group.period * group.period);
        let determinant = axes.product::<f64>() * self.own / self.all;
        lattice::ball(dimensions) * self.most.powi(dimensions as i32).sqrt() / determinant.sqrt()
    }

    /// The matrix of the form, and its center m / p.
    fn form(&self) -> Option<(Form, Vec<Float>)> {
        let axis = |group: &Fine| group.curvature * group.period * group.period;
        let largest = self.groups.iter().map(axis).fold(1.0, f64::max);
        let shortest = self.groups.iter().map(|group| group.period).fold(f64::INFINITY, f64::min);
        // The binary digits between the largest and the smallest value on vectors of length one; twice that for the basis.
        let apart = libm::log2(largest / self.own) - 2.0 * libm::log2(shortest) + 8.0;
        // Vectors are enumerated modulo 2^128: every coordinate is near a height over a period, and has to be far below 2^127.
        let periods = self.to / shortest;
        if !apart.is_finite() || apart > 4000.0 || periods.is_nan() || periods >= 2f64.powi(125) {
            return None;
        }
        let bits = 160 + 2 * apart.max(0.0) as u32;
        let two_pi = Float::with_val(bits, rug::float::Constant::Pi) * 2_u32;
        let real = |x: f64| Float::with_val(bits, x);
        let periods: Vec<Float> =
            self.groups.iter().map(|group| Float::with_val(bits, &two_pi / &group.exact_weight)).collect();
        let pulls: Vec<Float> =
            periods.iter().zip(&self.groups).map(|(period, group)| real(group.curvature) * period).collect();
        let all = self.groups.iter().fold(real(self.own), |sum, group| sum + group.curvature);
        let entry = |i: usize, j: usize| {
            let common = Float::with_val(bits, &pulls[i] * &pulls[j]) / &all;
            if i == j { Float::with_val(bits, &pulls[i] * &periods[i]) - common } else { -common }
        };
        let gram: Vec<Vec<Float>> =
            (0..periods.len()).map(|i| (0..periods.len()).map(|j| entry(i, j)).collect()).collect();
        let middle = real(self.from) + (real(self.to) - self.from) / 2_u32;
        let center = periods.iter().map(|period| Float::with_val(bits, &middle / period)).collect();
        Some((Form::new(&gram, None)?, center))
    }

    /// Calls `found` with intervals of heights that cover every one where the product may exceed the target, and `count` for every step; `None` where
    /// numbers would not fit.
    pub(super) fn each<E>(
        &self,
        count: &mut impl FnMut() -> Result<(), E>,
        found: &mut impl FnMut(f64, f64) -> Result<(), E>,
    ) -> Option<Result<(), E>> {
        let (form, center) = self.form()?;
        let middle = self.from + (self.to - self.from) / 2.0;
        let slack = self.to * OF_HEIGHT;
        Some(form.each(&center, self.most, count, &mut |k| {
            let places = || self.groups.iter().zip(k).map(|(group, k)| (group.curvature, *k as f64 * group.period));
            let pull: f64 = places().map(|(curvature, place)| curvature * place).sum();
            let height = (pull + self.own * middle) / self.all;
            // Lower bound on the form there.
            let off = |place: f64| ((height - place).abs() - slack).max(0.0);
            let least: f64 = places().map(|(curvature, place)| curvature * off(place).powi(2)).sum();
            let around = ((self.most - least).max(0.0) / self.all).sqrt() * (1.0 + 1e-9) + slack;
            let (from, to) = ((height - around).max(self.from), (height + around).min(self.to));
            if from <= to { found(from, to) } else { Ok(()) }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::{super::factor_bound::tests::with_weights, *};

    /// Checks single heights: wherever the product of the bounds is above the target there is a lobe, and lobes cover little else.
    #[test]
    fn every_height_above_the_target_is_in_a_lobe() {
        let all = with_weights(&["225x2", "775@2", "1225/4x2", "2875/2x3@2"]);
        // Five nats at the lower end.
        let continuous = FactorBound { sigma2: 1e8, weight: 6.3e-11, copies: 1.0, periodic: false };
        let mut intervals = 0;
        for (count, cut, with_noise) in [(2, 10.0, false), (3, 35.0, false), (4, 90.0, false), (3, 40.0, true)] {
            let (mut bounds, mut weights): (Vec<FactorBound>, Vec<Rational>) = all[..count].iter().cloned().unzip();
            if with_noise {
                bounds.push(continuous);
                weights.push(Rational::from((63, 1_000_000_000_000_u64)));
            }
            let (from, to) = (5e6, 9.65e6);
            let lobes = Lobes::new(&bounds, &weights, cut, (from, to)).unwrap();
            let mut found = Vec::new();
            let mut count = || Ok::<(), ()>(());
            let mut keep = |from, to| {
                found.push((from, to));
                Ok(())
            };
            lobes.each(&mut count, &mut keep).unwrap().unwrap();
            found.sort_by(|a, b| a.0.total_cmp(&b.0));
            let (mut above, mut covered) = (0, 0);
            for k in 0..1_500_000 {
                let t = from + f64::from(k) * 3.1;
                let product: f64 = bounds.iter().map(|bound| bound.ln_factor(bound.nearest(t, t))).sum();
                let next = found.partition_point(|interval| interval.1 < t);
                let inside = found.get(next).is_some_and(|interval| interval.0 <= t);
                assert!(inside || product <= -cut, "{cut} {t}: {product}");
                above += i32::from(product > -cut);
                covered += i32::from(inside);
            }
            assert!(above > 50 && covered < 8 * above + 100, "{cut}: {above} above, {covered} covered");
            intervals += found.len();
        }
        assert!(intervals > 400, "{intervals}");
    }

    /// Where windows are few, or no group is fine, there are no lobes to enumerate.
    #[test]
    fn few_windows_are_not_enumerated_as_lobes() {
        let fine = FactorBound { sigma2: 20.0, weight: 0.05, copies: 1.0, periodic: true };
        let coarse = FactorBound { sigma2: 0.2, weight: 5.0, ..fine };
        let weights = [Rational::from((1, 20)), Rational::from((1, 20))];
        assert!(Lobes::new(&[fine, fine], &weights, 20.0, (100.0, 200.0)).is_none());
        assert!(Lobes::new(&[fine, coarse], &weights, 20.0, (1e6, 2e6)).is_none());
    }
}
