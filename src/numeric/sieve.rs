//! The sieve: where on the contour the integrand is provably negligible (Su, Su & Wang, Fact A.14 and D.3).
//!
//! At height t above the real axis a group of `copies` discrete Gaussians with weight w contributes a factor
//! F(t)^copies, where, with d the distance of w t to 2 pi Z,
//!
//! |F(t)| <= psi(d) / psi(0),   psi(d) = sum over k in Z of exp(-sigma2 (d - 2 pi k)^2 / 2).
//!
//! psi is a theta function: even, of period 2 pi and decreasing on [0, pi] (Lemma A.4 by the Jacobi triple product).
//! So a group is below any target except in windows around the multiples of 2 pi / w. The windows of the groups are
//! intersected, the rarest first, and what remains is halved until the product of all factors settles it or it is as
//! short as a few nodes. Survivors are returned, to be integrated; nothing is ignored.
//!
//! All of this runs in doubles. Each decision keeps a margin of 10^-6 relative, while the rounding errors of the few
//! operations behind it are below 10^-12 relative; heights up to 2^40 periods keep their fraction to 10^-4 periods,
//! which the windows are widened by.

use std::f64::consts::PI;

/// A group as the sieve sees it: approximate values suffice because every bound keeps a margin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wave {
    pub sigma2: f64,
    pub weight: f64,
    pub copies: f64,
}

/// Below this variance proxy a factor is bounded by one only: its windows cover most of the period anyway.
const SMALLEST_SIGMA2: f64 = 0.3;

/// How many windows and pieces may be looked at before the sweep is given up.
pub(crate) const BUDGET: u64 = 4_000_000;

/// The sweep would look at more than [`BUDGET`] windows.
#[derive(Debug)]
pub(crate) struct TooLong;

impl Wave {
    /// An upper bound for copies ln(psi(d) / psi(0)) for every distance of at least d in [0, pi].
    ///
    /// With the term k = 0 taken out, psi(d) = exp(-sigma2 d^2 / 2) (1 + sum over k != 0 of
    /// exp(-2 pi sigma2 (pi k^2 - k d))). The terms k = 1 and -1 are kept; for |k| >= 2 and d <= pi the exponent is
    /// at most -2 pi^2 sigma2 (k^2 - |k|), so they add less than 2.1 exp(-4 pi^2 sigma2) when sigma2 >= 0.3. And
    /// psi(0) > 1. Since psi decreases, the bound at d holds for all larger distances.
    fn ln_factor(&self, d: f64) -> f64 {
        if self.sigma2 < SMALLEST_SIGMA2 {
            return 0.0;
        }
        let a = 2.0 * PI * self.sigma2;
        let others = (-a * (PI - d)).exp() + (-a * (PI + d)).exp() + 2.1 * (-2.0 * PI * a).exp();
        (self.copies * (-self.sigma2 * d * d / 2.0 + others.ln_1p())).min(0.0)
    }

    /// The distance to 2 pi Z beyond which this group alone is below exp(-cut); `None` if it never is.
    fn reach(&self, cut: f64) -> Option<f64> {
        if self.ln_factor(PI) > -cut {
            return None;
        }
        let (mut inside, mut outside) = (0.0, PI);
        for _ in 0..40 {
            let middle = (inside + outside) / 2.0;
            if self.ln_factor(middle) <= -cut {
                outside = middle;
            } else {
                inside = middle;
            }
        }
        Some(outside)
    }

    fn period(&self) -> f64 {
        2.0 * PI / self.weight
    }

    /// A lower bound for the distance of w t to 2 pi Z over t in [from, to].
    fn nearest(&self, from: f64, to: f64) -> f64 {
        let period = self.period();
        let distance = |t: f64| (t - (t / period).round() * period).abs();
        let crosses = (from / period).ceil() <= (to / period).floor();
        if crosses {
            return 0.0;
        }
        // t / period and the product are off by a few units in the last place of t.
        let slack = to * 2f64.powi(-48);
        ((distance(from).min(distance(to)) - slack).max(0.0) * self.weight).min(PI)
    }
}

/// The sieve for one set of groups and one target.
struct Sieve<'a> {
    waves: &'a [Wave],
    /// (period, half width) of the windows of the groups that have any, the longest period first.
    windows: Vec<(f64, f64)>,
    cut: f64,
    resolution: f64,
    looked_at: u64,
    survivors: Vec<(f64, f64)>,
}

/// Intervals that cover every t in [from, to] at which prod |F(t)|^copies may exceed exp(-cut), in order and
/// disjoint. Pieces shorter than `resolution` are not divided further.
pub(crate) fn survivors(
    waves: &[Wave],
    from: f64,
    to: f64,
    cut: f64,
    resolution: f64,
) -> Result<Vec<(f64, f64)>, TooLong> {
    let cut = cut + 1e-6 * (1.0 + cut.abs());
    let mut windows: Vec<(f64, f64)> =
        waves.iter().filter_map(|wave| Some((wave.period(), wave.reach(cut)? / wave.weight))).collect();
    windows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut sieve = Sieve { waves, windows, cut, resolution, looked_at: 0, survivors: Vec::new() };
    sieve.intersect(0, from, to)?;
    sieve.survivors.sort_by(|a, b| a.0.total_cmp(&b.0));
    sieve.survivors.dedup_by(|next, kept| {
        let touches = next.0 <= kept.1;
        if touches {
            kept.1 = kept.1.max(next.1);
        }
        touches
    });
    Ok(sieve.survivors)
}

impl Sieve<'_> {
    fn count(&mut self) -> Result<(), TooLong> {
        self.looked_at += 1;
        if self.looked_at > BUDGET { Err(TooLong) } else { Ok(()) }
    }

    /// Intersects [from, to] with the windows of the groups from `group` on.
    fn intersect(&mut self, group: usize, from: f64, to: f64) -> Result<(), TooLong> {
        self.count()?;
        let Some(&(period, half_width)) = self.windows.get(group) else {
            return self.refine(from, to);
        };
        let half_width = half_width * (1.0 + 1e-9) + to * 2f64.powi(-48);
        let mut k = ((from - half_width) / period).ceil().max(0.0);
        if (to - from) / period > BUDGET as f64 {
            return Err(TooLong);
        }
        while k * period - half_width <= to {
            let (start, end) = ((k * period - half_width).max(from), (k * period + half_width).min(to));
            if start <= end {
                self.intersect(group + 1, start, end)?;
            }
            k += 1.0;
        }
        Ok(())
    }

    /// Halves [from, to] until the product of all groups settles it.
    fn refine(&mut self, from: f64, to: f64) -> Result<(), TooLong> {
        self.count()?;
        let bound: f64 = self.waves.iter().map(|wave| wave.ln_factor(wave.nearest(from, to))).sum();
        if bound <= -self.cut {
            return Ok(());
        }
        let middle = from + (to - from) / 2.0;
        if to - from <= self.resolution || middle <= from || middle >= to {
            self.survivors.push((from, to));
            return Ok(());
        }
        self.refine(from, middle)?;
        self.refine(middle, to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// |F(t)|^copies by its definition: sum over x of p(x) exp(i w t x).
    fn factor_by_definition(wave: &Wave, t: f64) -> f64 {
        let reach = (12.0 * wave.sigma2.sqrt()).ceil() as i64 + 2;
        let (mut top, mut bottom) = (0.0, 0.0);
        for x in -reach..=reach {
            let mass = (-(x * x) as f64 / (2.0 * wave.sigma2)).exp();
            top += mass * (wave.weight * t * x as f64).cos();
            bottom += mass;
        }
        (top / bottom).abs().powf(wave.copies)
    }

    #[test]
    fn the_factor_is_bounded_at_its_distance_and_beyond() {
        for sigma2 in [0.31, 1.0, 5.0] {
            let wave = Wave { sigma2, weight: 1.0, copies: 3.0 };
            for k in 0..=60 {
                let d = PI * f64::from(k) / 60.0;
                let truth = factor_by_definition(&wave, d).ln();
                assert!(wave.ln_factor(d) >= truth - 1e-9 * truth.abs() || truth < -60.0, "{sigma2} {d}");
                if (0.5..60.0).contains(&-truth) && sigma2 > 0.9 && d < 2.5 {
                    assert!(wave.ln_factor(d) <= truth * 0.98, "not tight at {sigma2} {d}");
                }
            }
        }
    }

    #[test]
    fn every_height_above_the_target_survives_and_little_else() {
        let waves = [
            Wave { sigma2: 500.0 / 73.0, weight: 73.0 / 500.0, copies: 10.0 },
            Wave { sigma2: 2500.0 / 137.0, weight: 137.0 / 2500.0, copies: 6.0 },
        ];
        let cut = 12.0;
        let kept = survivors(&waves, 10.0, 3000.0, cut, 0.05).unwrap();
        assert!(!kept.is_empty());
        let inside = |t: f64| kept.iter().any(|&(from, to)| from <= t && t <= to);
        let (mut above, mut covered) = (0, 0);
        for k in 0..299_000 {
            let t = 10.0 + f64::from(k) * 0.01;
            let product: f64 = waves.iter().map(|wave| factor_by_definition(wave, t)).product();
            if product > (-cut).exp() {
                above += 1;
                assert!(inside(t), "{t} was dropped with a product of {product}");
            }
            covered += i32::from(inside(t));
        }
        assert!(above > 100 && covered < above * 2 + 200, "{above} above, {covered} covered");
    }

    #[test]
    fn a_hopeless_sweep_is_given_up_quickly() {
        let waves = [Wave { sigma2: 5.0, weight: 0.2, copies: 1.0 }];
        assert!(survivors(&waves, 1.0, 1e18, 5.0, 0.1).is_err());
    }
}
