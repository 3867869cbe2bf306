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
//! The kernel falls as 1/t^2, so the target may rise with the height: at t it is exp(-cut) t / from, which leaves a
//! sum that grows with the logarithm of the height only. The sweep goes octave by octave, each with the target of its
//! lower end, and is over for good where the target reaches one; or it stops early at its budget, and says where.
//!
//! All of this runs in doubles. Each decision keeps a margin of 10^-6 relative, while the rounding errors of the few
//! operations behind it are below 10^-12 relative; heights are uncertain by 2^-48 of themselves, which the windows are
//! widened by.

use std::{
    f64::consts::PI,
    sync::{Arc, Mutex, PoisonError},
};

use super::sum::{Law, LossSum};

/// A group as the sieve sees it: approximate values suffice because every bound keeps a margin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wave {
    pub sigma2: f64,
    pub weight: f64,
    pub copies: f64,
    /// Whether the noise is on the integers; continuous noise only decays.
    pub periodic: bool,
}

/// What a sweep found.
#[derive(Clone, Debug)]
pub(crate) struct Swept {
    /// Intervals that cover every height at which the product may exceed its target, in order.
    pub survivors: Vec<Survivor>,
    /// Up to where they do.
    pub reached: f64,
}

/// An interval of heights, with a bound for ln of the product on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Survivor {
    pub from: f64,
    pub to: f64,
    ln_bound: f64,
}

impl Survivor {
    /// Whether it survives the target exp(-cut) t / from of another question, too.
    pub(crate) fn matters(&self, from: f64, cut: f64) -> bool {
        let floor = -(cut + 1e-6 * (1.0 + cut));
        self.ln_bound > floor && self.to >= from && self.ln_bound > floor + (self.from.max(from) / from).ln()
    }
}

/// Below this variance proxy a factor is bounded by one only: its windows cover most of the period anyway.
const SMALLEST_SIGMA2: f64 = 0.3;

/// How many windows and pieces may be looked at before the sweep stops.
pub(crate) const BUDGET: u64 = 4_000_000;

/// The sweep has looked at [`BUDGET`] windows.
struct Spent;

impl Wave {
    /// An upper bound for copies ln(psi(d) / psi(0)) for every distance of at least d in [0, pi].
    ///
    /// With the term k = 0 taken out, psi(d) = exp(-sigma2 d^2 / 2) (1 + sum over k != 0 of
    /// exp(-2 pi sigma2 (pi k^2 - k d))). The terms k = 1 and -1 are kept; for |k| >= 2 and d <= pi the exponent is
    /// at most -2 pi^2 sigma2 (k^2 - |k|), so they add less than 2.1 exp(-4 pi^2 sigma2) when sigma2 >= 0.3. And
    /// psi(0) > 1 + 2 exp(-2 pi^2 sigma2). Since psi decreases, the bound at d holds for all larger distances.
    fn ln_factor(&self, d: f64) -> f64 {
        if !self.periodic {
            return -self.copies * self.sigma2 * d * d / 2.0;
        }
        if self.sigma2 < SMALLEST_SIGMA2 {
            return 0.0;
        }
        let a = 2.0 * PI * self.sigma2;
        let others = (-a * (PI - d)).exp() + (-a * (PI + d)).exp() + 2.1 * (-2.0 * PI * a).exp();
        let at_zero = (2.0 * (-a * PI).exp()).ln_1p();
        // The last term pays for the roundings of the difference, which the copies multiply.
        (self.copies * (-self.sigma2 * d * d / 2.0 + others.ln_1p() - at_zero + 1e-15)).min(0.0)
    }

    /// The distance to 2 pi Z beyond which this group alone is below exp(-cut); `None` if it never is.
    fn reach(&self, cut: f64) -> Option<f64> {
        if !self.periodic {
            return None;
        }
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

    /// A lower bound for the distance of w t to 2 pi Z, or to 0 for continuous noise, over t in [from, to].
    fn nearest(&self, from: f64, to: f64) -> f64 {
        if !self.periodic {
            return from * self.weight;
        }
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

/// The sweep that a sum has seen last: later questions of the same sum reuse it.
#[derive(Debug, Default)]
pub(crate) struct Memory(Mutex<Option<Remembered>>);

#[derive(Debug)]
struct Remembered {
    from: f64,
    to: f64,
    cut: f64,
    swept: Arc<Swept>,
}

impl LossSum {
    /// A sweep that covers [from, to] for the target exp(-cut) t / from at least. The bounds do not depend on Re s,
    /// so the answer to one question serves others: a survivor of a stricter target is only summed in vain.
    pub(crate) fn swept(&self, from: f64, to: f64, cut: f64, resolution: f64) -> Arc<Swept> {
        /// Sweep somewhat more than was asked, for the questions to come.
        const SPARE: f64 = 8.0;
        let mut memory = self.memory().0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = memory.as_ref() {
            // exp(-cut) t / from is nowhere above the known target if and only if cut + ln(from) is not above it.
            let serves = known.from <= from && to <= known.to && cut + from.ln() <= known.cut + known.from.ln();
            if serves {
                return Arc::clone(&known.swept);
            }
        }
        // A hair further up, too: the same half period comes with other roundings from other spacings.
        let (start, to) = (from * 0.7, to * (1.0 + 1e-9));
        // At once as far as doubles will ask, so that one sweep serves a whole curve.
        let wider = cut.max(40.0) + SPARE;
        let swept = Arc::new(sweep(&self.waves(), start, to, wider, resolution));
        *memory = Some(Remembered { from: start, to, cut: wider, swept: Arc::clone(&swept) });
        swept
    }

    /// The groups as the sieve sees them.
    fn waves(&self) -> Vec<Wave> {
        (self.groups().iter())
            .filter_map(|group| {
                let (weight, copies) = (group.weight().to_f64(), group.copies as f64);
                match &group.law {
                    Law::DiscreteGaussian { sigma2 } => {
                        Some(Wave { sigma2: sigma2.to_f64(), weight, copies, periodic: true })
                    }
                    Law::Gaussian { sigma2 } => Some(Wave { sigma2: sigma2.to_f64(), weight, copies, periodic: false }),
                    // Bounded by one, as the prefactor carries its size on the axis.
                    Law::DiscreteLaplace { .. } => None,
                }
            })
            .collect()
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
    survivors: Vec<Survivor>,
}

/// Sweeps [from, to] for the heights t at which prod |F(t)|^copies may exceed exp(-cut) t / from. Pieces shorter than
/// `resolution` are not divided further.
pub(crate) fn sweep(waves: &[Wave], from: f64, to: f64, cut: f64, resolution: f64) -> Swept {
    let mut survivors: Vec<Survivor> = Vec::new();
    let (mut start, mut target, mut looked_at) = (from, cut, 0);
    while start < to {
        if target <= 0.0 {
            start = to;
            break;
        }
        let end = (start * 2.0).min(to);
        let padded = target + 1e-6 * (1.0 + target);
        // Continuous noise only decays: where it suffices alone, it does for good.
        let steady = waves.iter().filter(|wave| !wave.periodic);
        if steady.map(|wave| wave.ln_factor(wave.nearest(start, end))).sum::<f64>() <= -padded {
            start = to;
            break;
        }
        let mut windows: Vec<(f64, f64)> =
            waves.iter().filter_map(|wave| Some((wave.period(), wave.reach(padded)? / wave.weight))).collect();
        windows.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut sieve = Sieve { waves, windows, cut: padded, resolution, looked_at, survivors: Vec::new() };
        if sieve.intersect(0, start, end).is_err() {
            break;
        }
        looked_at = sieve.looked_at;
        survivors.append(&mut sieve.survivors);
        start = end;
        target -= std::f64::consts::LN_2 * (1.0 - 1e-9);
    }
    survivors.sort_by(|a, b| a.from.total_cmp(&b.from));
    // Neighbors of nearly the same bound become one.
    survivors.dedup_by(|next, kept| {
        let touches = next.from <= kept.to && (next.ln_bound - kept.ln_bound).abs() < 1.0;
        if touches {
            kept.to = kept.to.max(next.to);
            kept.ln_bound = kept.ln_bound.max(next.ln_bound);
        }
        touches
    });
    Swept { survivors, reached: start }
}

impl Sieve<'_> {
    fn count(&mut self) -> Result<(), Spent> {
        self.looked_at += 1;
        if self.looked_at > BUDGET { Err(Spent) } else { Ok(()) }
    }

    /// Intersects [from, to] with the windows of the groups from `group` on.
    fn intersect(&mut self, group: usize, from: f64, to: f64) -> Result<(), Spent> {
        self.count()?;
        let Some(&(period, half_width)) = self.windows.get(group) else {
            return self.refine(from, to);
        };
        let half_width = half_width * (1.0 + 1e-9) + to * 2f64.powi(-48);
        let mut k = ((from - half_width) / period).ceil().max(0.0);
        if (to - from) / period > BUDGET as f64 {
            return Err(Spent);
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
    fn refine(&mut self, from: f64, to: f64) -> Result<(), Spent> {
        self.count()?;
        let bound: f64 = self.waves.iter().map(|wave| wave.ln_factor(wave.nearest(from, to))).sum();
        if bound <= -self.cut {
            return Ok(());
        }
        let middle = from + (to - from) / 2.0;
        if to - from <= self.resolution || middle <= from || middle >= to {
            self.survivors.push(Survivor { from, to, ln_bound: bound });
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
            let wave = Wave { sigma2, weight: 1.0, copies: 3.0, periodic: true };
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
            Wave { sigma2: 500.0 / 73.0, weight: 73.0 / 500.0, copies: 10.0, periodic: true },
            Wave { sigma2: 2500.0 / 137.0, weight: 137.0 / 2500.0, copies: 6.0, periodic: true },
        ];
        let cut = 12.0;
        let swept = sweep(&waves, 10.0, 3000.0, cut, 0.05);
        assert!(!swept.survivors.is_empty() && swept.reached == 3000.0);
        let inside = |t: f64| swept.survivors.iter().any(|part| part.from <= t && t <= part.to);
        let (mut above, mut covered) = (0, 0);
        for k in 0..299_000 {
            let t = 10.0 + f64::from(k) * 0.01;
            let product: f64 = waves.iter().map(|wave| factor_by_definition(wave, t)).product();
            if product > (-cut).exp() * t / 10.0 {
                above += 1;
                assert!(inside(t), "{t} was dropped with a product of {product}");
            }
            covered += i32::from(inside(t));
        }
        assert!(above > 100 && covered < above * 2 + 200, "{above} above, {covered} covered");
    }

    #[test]
    fn a_hopeless_sweep_stops_and_says_where() {
        let waves = [Wave { sigma2: 5.0, weight: 0.2, copies: 1.0, periodic: true }];
        let swept = sweep(&waves, 1.0, 1e18, 60.0, 0.1);
        assert!(swept.reached > 1e4 && swept.reached < 1e12, "{}", swept.reached);
        // With a low target it is over when the target reaches one.
        assert_eq!(sweep(&waves, 1.0, 1e18, 5.0, 0.1).reached, 1e18);
    }

    #[test]
    fn continuous_noise_ends_the_sweep() {
        let waves = [
            Wave { sigma2: 5.0, weight: 0.2, copies: 10.0, periodic: true },
            Wave { sigma2: 100.0, weight: 0.01, copies: 1.0, periodic: false },
        ];
        let swept = sweep(&waves, 10.0, 1e9, 40.0, 0.1);
        assert!(swept.reached == 1e9 && swept.survivors.iter().all(|part| part.from < 150.0));
    }
}
