//! The sieve: where on the contour the integrand is provably negligible (Su, Su & Wang, Fact A.14 and D.3).
//!
//! At height t above the real axis a group of `copies` discrete Gaussians with weight w contributes a factor
//! F(t)^copies, where, with d the distance of w t to 2 pi Z,
//!
//! |F(t)| <= psi(d) / psi(0),   psi(d) = sum over k in Z of exp(-sigma2 (d - 2 pi k)^2 / 2).
//!
//! psi is a theta function, and decreases on [0, pi]: see `wave`. So a group is below any target except in windows around the multiples of 2 pi / w. The windows of the groups are
//! intersected, the rarest first, and what remains is halved until the product of all factors settles it or it is as
//! short as a few nodes. Survivors are returned, to be integrated; nothing is ignored.
//!
//! The kernel falls as 1/t^2, so the target may rise with the height: at t it is exp(-cut) t / from, which leaves a
//! sum that grows with the logarithm of the height only. The sweep goes octave by octave, each with the target of its
//! lower end, and is over for good where the target reaches one; or it stops at its budget, and says where. A later
//! question takes it up again there.
//!
//! Far up, a group need not be small everywhere to be small on average: see `LossSum::beyond`.
//!
//! All of this runs in doubles. Each decision keeps a margin of 10^-6 relative, while the rounding errors of the few
//! operations behind it are below 10^-12 relative; heights are uncertain by 2^-48 of themselves, which the windows are
//! widened by.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::{factor_bound::FactorBound, law::Law, sum::LossSum};

/// What a sweep has found so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Swept {
    /// Intervals that cover every height at which the product may exceed its target, those that weigh most first.
    pub survivors: Vec<Survivor>,
    /// What the survivors from an index on weigh together.
    tails: Vec<Weight>,
    /// Up to where they cover it.
    pub reached: f64,
}

/// An interval of heights, with a bound for ln of the product on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Survivor {
    pub from: f64,
    pub to: f64,
    ln_bound: f64,
}

/// Sums over intervals of b (to - from) / from^k and b / from^k for k = 1 and 2, where b bounds the product.
#[derive(Clone, Copy, Debug, Default)]
struct Weight {
    long: [f64; 2],
    short: [f64; 2],
}

impl Survivor {
    /// Whether it survives the target exp(-cut) t / from of another question, too.
    pub(crate) fn matters(&self, from: f64, cut: f64) -> bool {
        let floor = -(cut + 1e-6 * (1.0 + cut));
        self.ln_bound > floor && self.to >= from && self.ln_bound > floor + (self.from.max(from) / from).ln()
    }

    fn weight(&self) -> Weight {
        let each = |k: i32| (self.ln_bound * (1.0 - 1e-6)).exp() / self.from.powi(k);
        let length = self.to - self.from;
        Weight { long: [each(1) * length, each(2) * length], short: [each(1), each(2)] }
    }
}

impl Swept {
    fn new(mut survivors: Vec<Survivor>, reached: f64, resolution: f64) -> Self {
        let importance = |part: &Survivor| {
            let weight = part.weight();
            weight.long[1] + resolution * weight.short[1]
        };
        survivors.sort_by(|a, b| importance(b).total_cmp(&importance(a)));
        let mut tails = vec![Weight::default(); survivors.len() + 1];
        for (index, part) in survivors.iter().enumerate().rev() {
            let (rest, own) = (tails[index + 1], part.weight());
            let add = |a: [f64; 2], b: [f64; 2]| [a[0] + b[0], a[1] + b[1]];
            tails[index] = Weight { long: add(rest.long, own.long), short: add(rest.short, own.short) };
        }
        Swept { survivors, tails, reached }
    }

    /// An upper bound for the sum of |product| / j^decay over the nodes, `spacing` apart, in the survivors from `index`
    /// on: an interval holds at most (to - from) / spacing + 1 of them, and two more for the roundings of its ends.
    pub(crate) fn weight_from(&self, index: usize, spacing: f64, decay: i32) -> f64 {
        let (tail, k) = (&self.tails[index], if decay == 2 { 1 } else { 0 });
        (tail.long[k] / spacing + 3.0 * tail.short[k]) * spacing.powi(decay) * (1.0 + 1e-6)
    }
}

/// How many windows and pieces may be looked at before a sweep stops.
pub(crate) const BUDGET: u64 = 4_000_000;

/// The sweep has looked at as many windows as it may.
struct Spent;

/// The sweep that a sum has seen last: later questions of the same sum reuse it and take it further.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    sweep: Mutex<Option<(Sweep, Arc<Swept>)>>,
    /// The period and the mean of the factor of each group on the integers.
    means: OnceLock<Vec<(f64, f64)>>,
}

impl LossSum {
    /// A sweep of [from, to] for the target exp(-cut) t / from, forgotten afterwards.
    pub(crate) fn sweep(&self, (from, to): (f64, f64), cut: f64, resolution: f64, budget: u64) -> Arc<Swept> {
        let mut sweep = Sweep::new(self.waves(), from, cut, resolution);
        sweep.advance(to * (1.0 + 1e-9), budget);
        Arc::new(Swept::new(sweep.survivors, sweep.reached, resolution))
    }

    /// A sweep for the target exp(-cut) t / from at least, that covers the heights from `from` to `to` unless it has
    /// looked at more than `budget` windows. The bounds do not depend on Re s, so the answer to one question serves
    /// others: a survivor of a stricter target is only looked at in vain.
    pub(crate) fn swept(&self, (from, to): (f64, f64), cut: f64, resolution: f64, budget: u64) -> Arc<Swept> {
        /// Sweep for a somewhat stricter target than was asked, for the questions to come.
        const SPARE: f64 = 8.0;
        let mut memory = self.memory().sweep.lock().unwrap_or_else(PoisonError::into_inner);
        // exp(-cut) t / from is nowhere above the known target if and only if cut + ln(from) is not above it.
        let serves = |sweep: &Sweep| sweep.from <= from && cut + from.ln() <= sweep.cut + sweep.from.ln();
        let known = memory.take().filter(|(sweep, _)| serves(sweep));
        let (mut sweep, mut swept) = known.unwrap_or_else(|| {
            let sweep = Sweep::new(self.waves(), from * 0.7, cut + SPARE, resolution);
            (sweep, Arc::default())
        });
        if sweep.reached < to && sweep.looked_at <= budget {
            // A hair further up: the same half period comes with other roundings from other spacings.
            sweep.advance(to * (1.0 + 1e-9), budget);
            swept = Arc::new(Swept::new(sweep.survivors.clone(), sweep.reached, resolution));
        }
        *memory = Some((sweep, Arc::clone(&swept)));
        swept
    }

    /// An upper bound for `last` times the sum over j > last of |product of the factors| / j^2 at heights j `spacing`,
    /// where nothing is known of them one by one; at most one.
    ///
    /// One group suffices. |F| is at most g(d) with g decreasing on [0, pi]. Between two troughs lie n = 2 pi / (weight
    /// spacing) nodes, more or less. Those left of the peak are at most the means of g over the cells to their right, those
    /// right of it over the cells to their left, but for the two next to the peak: the smaller of them is at most the mean
    /// over the cell between them, and the other at most one. So the sum over a period is at most n mean(g) + 1, and over
    /// a part of one no more. After the first, partial period they follow each other,
    ///
    /// (n mean + 1) (1 / last^2 + sum over k >= 0 of 1 / (last + k n)^2) <= (mean + 1 / n) (1 / last) (1 + 2 n / last).
    pub(crate) fn beyond(&self, spacing: f64, last: f64) -> f64 {
        let means = self.memory().means.get_or_init(|| {
            let waves = self.waves();
            waves.iter().filter(|wave| wave.periodic).map(|wave| (wave.period(), wave.mean())).collect()
        });
        let of_group = |&(period, mean): &(f64, f64)| {
            let nodes = period / spacing;
            (mean + 1.0 / nodes) * (1.0 + 2.0 * nodes / last) * (1.0 + 1e-6)
        };
        means.iter().map(of_group).fold(1.0, f64::min)
    }

    /// An upper bound for ln of the product of all factors at height t, whatever Re s is.
    pub(crate) fn ln_bounds(&self) -> impl Fn(f64) -> f64 + use<> {
        let waves = self.waves();
        move |t| waves.iter().map(|wave| wave.ln_factor(wave.nearest(t, t))).sum::<f64>() * (1.0 - 1e-6)
    }

    /// The groups as the sieve sees them.
    fn waves(&self) -> Vec<FactorBound> {
        (self.groups().iter())
            .filter_map(|group| {
                let (weight, copies) = (group.weight().to_f64(), group.copies as f64);
                match &group.law {
                    Law::DiscreteGaussian { sigma2 } => {
                        Some(FactorBound { sigma2: sigma2.to_f64(), weight, copies, periodic: true })
                    }
                    Law::Gaussian { sigma2 } => {
                        Some(FactorBound { sigma2: sigma2.to_f64(), weight, copies, periodic: false })
                    }
                    // Bounded by one, as the prefactor carries its size on the axis.
                    Law::DiscreteLaplace { .. } => None,
                }
            })
            .collect()
    }
}

/// The sieve for one set of groups and one target.
struct Sieve<'a> {
    waves: &'a [FactorBound],
    /// (period, half width) of the windows of the groups that have any, the longest period first.
    windows: Vec<(f64, f64)>,
    cut: f64,
    resolution: f64,
    looked_at: u64,
    budget: u64,
    survivors: Vec<Survivor>,
}

/// A sweep in progress: from `from` up to `reached`, for the heights t at which prod |F(t)|^copies may exceed
/// exp(-cut) t / from. Pieces shorter than `resolution` are not divided further.
#[derive(Debug)]
pub(crate) struct Sweep {
    waves: Vec<FactorBound>,
    from: f64,
    cut: f64,
    resolution: f64,
    /// In order of their heights.
    survivors: Vec<Survivor>,
    reached: f64,
    looked_at: u64,
}

impl Sweep {
    pub(crate) fn new(waves: Vec<FactorBound>, from: f64, cut: f64, resolution: f64) -> Self {
        Sweep { waves, from, cut, resolution, survivors: Vec::new(), reached: from, looked_at: 0 }
    }

    /// Goes on up to `to`, or until `budget` windows have been looked at in all.
    pub(crate) fn advance(&mut self, to: f64, budget: u64) {
        while self.reached < to {
            let (start, end) = (self.reached, (self.reached * 2.0).min(to));
            let target = self.cut - (start / self.from).ln() * (1.0 - 1e-9);
            if target <= 0.0 {
                self.reached = f64::INFINITY;
                break;
            }
            let padded = target + 1e-6 * (1.0 + target);
            // Continuous noise only decays: where it suffices alone, it does for good.
            let steady = self.waves.iter().filter(|wave| !wave.periodic);
            if steady.map(|wave| wave.ln_factor(wave.nearest(start, end))).sum::<f64>() <= -padded {
                self.reached = f64::INFINITY;
                break;
            }
            let reach = |wave: &FactorBound| Some((wave.period(), wave.reach(padded)? / wave.weight));
            let mut windows: Vec<(f64, f64)> = self.waves.iter().filter_map(reach).collect();
            windows.sort_by(|a, b| b.0.total_cmp(&a.0));
            let (looked_at, resolution) = (self.looked_at, self.resolution);
            let mut sieve = Sieve {
                waves: &self.waves,
                windows,
                cut: padded,
                resolution,
                looked_at,
                budget,
                survivors: Vec::new(),
            };
            let done = sieve.intersect(0, start, end).is_ok();
            self.looked_at = sieve.looked_at;
            if !done {
                break;
            }
            let mut found = sieve.survivors;
            found.sort_by(|a, b| a.from.total_cmp(&b.from));
            // Neighbors of nearly the same bound become one.
            found.dedup_by(|next, kept| {
                let touches = next.from <= kept.to && (next.ln_bound - kept.ln_bound).abs() < 1.0;
                if touches {
                    kept.to = kept.to.max(next.to);
                    kept.ln_bound = kept.ln_bound.max(next.ln_bound);
                }
                touches
            });
            self.survivors.append(&mut found);
            self.reached = end;
        }
    }
}

impl Sieve<'_> {
    fn count(&mut self) -> Result<(), Spent> {
        self.looked_at += 1;
        if self.looked_at > self.budget { Err(Spent) } else { Ok(()) }
    }

    /// Intersects [from, to] with the windows of the groups from `group` on.
    fn intersect(&mut self, group: usize, from: f64, to: f64) -> Result<(), Spent> {
        self.count()?;
        let Some(&(period, half_width)) = self.windows.get(group) else {
            return self.refine(from, to);
        };
        let half_width = half_width * (1.0 + 1e-9) + to * 2f64.powi(-48);
        let mut k = ((from - half_width) / period).ceil().max(0.0);
        if (to - from) / period > self.budget as f64 {
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
    use super::super::factor_bound::tests::factor_by_definition;
    use super::*;

    fn sweep(waves: &[FactorBound], from: f64, to: f64, cut: f64, resolution: f64) -> Sweep {
        let mut sweep = Sweep::new(waves.to_vec(), from, cut, resolution);
        sweep.advance(to, BUDGET);
        sweep
    }

    #[test]
    fn every_height_above_the_target_survives_and_little_else() {
        let waves = [
            FactorBound { sigma2: 500.0 / 73.0, weight: 73.0 / 500.0, copies: 10.0, periodic: true },
            FactorBound { sigma2: 2500.0 / 137.0, weight: 137.0 / 2500.0, copies: 6.0, periodic: true },
        ];
        let cut = 12.0;
        let swept = sweep(&waves, 10.0, 3000.0, cut, 0.05);
        assert!(!swept.survivors.is_empty() && swept.reached == 3000.0);
        let in_two = {
            let mut sweep = Sweep::new(waves.to_vec(), 10.0, cut, 0.05);
            sweep.advance(300.0, BUDGET);
            sweep.advance(3000.0, BUDGET);
            sweep
        };
        assert!(in_two.reached == 3000.0 && in_two.survivors.len().abs_diff(swept.survivors.len()) < 20);
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

    /// The sums of what survives, and of what lies beyond a node, against the factors themselves.
    #[test]
    fn weights_bound_the_sums_they_stand_for() {
        let waves = [
            FactorBound { sigma2: 500.0 / 73.0, weight: 73.0 / 500.0, copies: 10.0, periodic: true },
            FactorBound { sigma2: 2500.0 / 137.0, weight: 137.0 / 2500.0, copies: 6.0, periodic: true },
        ];
        let group = |sigma2: (u32, u32), copies| {
            let law = super::super::law::Law::DiscreteGaussian { sigma2: rug::Rational::from(sigma2) };
            super::super::law::Group { law, shift: 1, copies }
        };
        let sum = LossSum::new([group((500, 73), 10), group((2500, 137), 6)]).unwrap();
        let product = |t: f64| waves.iter().map(|wave| factor_by_definition(wave, t)).product::<f64>();
        let spacing = 0.25;
        let (first, last) = (40, 12_000);
        let far = 400;
        let truth: f64 = (far + 1..last).map(|j| product(f64::from(j) * spacing) / f64::from(j).powi(2)).sum();
        let bound = sum.beyond(spacing, f64::from(far)) / f64::from(far);
        assert!(truth <= bound && bound < 0.12 / f64::from(far), "{truth} {bound}");

        let swept = sum.swept((10.0, 3000.0), 12.0, 2.0 * spacing, BUDGET);
        let inside = |t: f64, parts: &[Survivor]| parts.iter().any(|part| part.from <= t && t <= part.to);
        for index in [0, 3, swept.survivors.len() / 2, swept.survivors.len()] {
            for decay in [1, 2] {
                let nodes = (first..last).map(f64::from).filter(|j| inside(j * spacing, &swept.survivors[index..]));
                let truth: f64 = nodes.map(|j| product(j * spacing) / j.powi(decay)).sum();
                let bound = swept.weight_from(index, spacing, decay);
                assert!(truth <= bound && (index > 0 || bound < 100.0 * truth), "{index} {decay} {truth} {bound}");
            }
        }
    }

    #[test]
    fn a_hopeless_sweep_stops_and_says_where() {
        let waves = [FactorBound { sigma2: 5.0, weight: 0.2, copies: 1.0, periodic: true }];
        let swept = sweep(&waves, 1.0, 1e18, 60.0, 0.1);
        assert!(swept.reached > 1e4 && swept.reached < 1e12, "{}", swept.reached);
        // With a low target it is over when the target reaches one.
        assert_eq!(sweep(&waves, 1.0, 1e18, 5.0, 0.1).reached, f64::INFINITY);
    }

    #[test]
    fn continuous_noise_ends_the_sweep() {
        let waves = [
            FactorBound { sigma2: 5.0, weight: 0.2, copies: 10.0, periodic: true },
            FactorBound { sigma2: 100.0, weight: 0.01, copies: 1.0, periodic: false },
        ];
        let swept = sweep(&waves, 10.0, 1e9, 40.0, 0.1);
        assert!(swept.reached == f64::INFINITY && swept.survivors.iter().all(|part| part.from < 150.0));
    }
}
