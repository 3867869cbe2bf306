//! The sieve: where on the contour the integrand is provably negligible (Su, Su & Wang, Fact A.14 and D.3).
//!
//! At height t above the real axis a group of `copies` discrete Gaussians with weight w contributes a factor
//! F(t)^copies, where, with d the distance of w t to 2 pi Z,
//!
//! |F(t)| <= psi(d) / psi(0),   psi(d) = sum over k in Z of exp(-sigma2 (d - 2 pi k)^2 / 2).
//!
//! psi is a theta function that decreases on [0, pi] (see `factor_bound`), so a group is below any target except in windows
//! psi is a theta function that decreases on [0, pi] (see `factor_bound`), so a group is below any target except in windows around the multiples of 2
//! pi / w. The windows of the groups are intersected, the rarest first. The remaining pieces are halved until the product of all factors is below the
//! target, or until the piece is as short as a few nodes. The pieces that survive are returned and integrated; no piece is ignored.
//!
//! The kernel falls as 1/t^2, so the target may rise with the height: at t it is exp(-cut) t / from, which leaves a sum that grows only with the
//! logarithm of the height. The sweep goes octave by octave, each with the target of its lower end. It is complete where the target reaches one; else
//! it stops at its budget and reports the height.
//!
//! Sweeps are kept, because the next request to the same sum often needs the same one. This changes no answer: the start, the target and the
//! resolution of a kept sweep are rounded to a fixed grid, and a request uses exactly the octaves that it would have swept itself, however far
//! another request went.
//!
//! Far up, groups need not be small everywhere to be small on average: see [`far_field`](super::far_field).
//!
//! All of this runs in doubles. Each decision keeps a margin of 10^-6 relative, while the rounding errors of the few operations behind it are below
//! 10^-12 relative; heights have an uncertainty of 2^-48 of themselves, by which the windows are widened.

use std::{
    cell::OnceCell,
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock},
};

use rug::Rational;

use super::{
    bundles::{self, KnownBundles},
    factor_bound::FactorBound,
    far_field::FarField,
    law::Group,
    lobes::Lobes,
    memo::lock,
    sum::LossSum,
    survivors::{Survivor, Swept},
    windows::{BudgetReached, Comb, Windows},
};

/// The largest number of windows and pieces that a sweep may examine.
pub(crate) const BUDGET: u64 = 4_000_000;

/// From this length of an octave on, the windows of bundles are examined before those of their groups.
const BUNDLED_FROM: f64 = 5e5;

/// Bounds of groups with their exact weights, and the bundles of them that were swept.
type Groups<'a> = (&'a [FactorBound], &'a [Rational], &'a Arc<KnownBundles>);

/// The task of a sweep: the heights from `from` to `to` for the target exp(-cut) t / from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub from: f64,
    pub to: f64,
    pub cut: f64,
    /// Pieces shorter than this are not divided further.
    pub resolution: f64,
    /// The largest number of windows and pieces to examine.
    pub budget: u64,
}

/// The start, cut, resolution and end of a kept sweep, on a fixed grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct GridPoint {
    /// Binary logarithms.
    from: i32,
    resolution: i32,
    /// In multiples of 8.
    cut: u64,
    /// The bits of the largest height at which the sweep may end.
    end: u64,
}

impl GridPoint {
    /// The grid point that serves a target: it starts no later, and its own target is nowhere above.
    fn of_target(target: &Target, end: f64) -> Self {
        let from = exponent(target.from);
        // exp(-cut) t / from is nowhere above the requested target if and only if cut + ln(from) is not below it.
        let cut = target.cut + libm::log(target.from / 2f64.powi(from));
        let resolution = exponent(target.resolution * std::f64::consts::SQRT_2);
        GridPoint { from, resolution, cut: (cut / 8.0).ceil() as u64, end: end.to_bits() }
    }

    fn sweep(self, groups: Groups) -> Sweep {
        let (from, resolution) = (2f64.powi(self.from), 2f64.powi(self.resolution));
        Sweep::new(groups, from, self.cut as f64 * 8.0, resolution, f64::from_bits(self.end))
    }
}

/// The k with 2^k <= x < 2^(k + 1), for a positive normal double.
fn exponent(x: f64) -> i32 {
    ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023
}

/// A kept sweep, with the survivors of its first octaves, for each number of octaves that a request needed.
#[derive(Debug)]
struct Remembered {
    sweep: Sweep,
    of_octaves: HashMap<usize, Arc<Swept>>,
}

/// The bounds for the heights beyond a sweep.
#[derive(Debug)]
enum Beyond {
    /// From the groups of the sum.
    Own(OnceLock<FarField>),
    /// For L_p + L_q, from the sieves of 2 L_p and 2 L_q.
    Halves([Arc<SumSieve>; 2]),
}

/// The sieve of a sum: the bounds of its factors, and the sweeps made before.
#[derive(Debug)]
pub(crate) struct SumSieve {
    bounds: Vec<FactorBound>,
    /// The exact weights of the same groups.
    weights: Vec<Rational>,
    bundles: Arc<KnownBundles>,
    far: Beyond,
    /// Not a memo: a sweep is no finished value, but goes on for later requests.
    remembered: Mutex<HashMap<GridPoint, Remembered>>,
}

impl SumSieve {
    /// The sieve of a sum, with no sweep made.
    pub(crate) fn new(sum: &LossSum) -> Self {
        SumSieve::sharing(sum, &Arc::default())
    }

    /// The same for a sum that has bundles in common with others.
    pub(crate) fn sharing(sum: &LossSum, bundles: &Arc<KnownBundles>) -> Self {
        let (bounds, weights) = factor_bounds(sum);
        let (far, remembered) = (Beyond::Own(OnceLock::new()), Mutex::default());
        SumSieve { bounds, weights, bundles: Arc::clone(bundles), far, remembered }
    }

    /// The sieve of L_p + L_q, for the sieves of 2 L_p and 2 L_q.
    pub(crate) fn of_halves(sum: &LossSum, doubles: [Arc<SumSieve>; 2]) -> Self {
        let own = SumSieve::sharing(sum, &doubles[0].bundles);
        SumSieve { far: Beyond::Halves(doubles), ..own }
    }

    fn groups(&self) -> Groups<'_> {
        (&self.bounds, &self.weights, &self.bundles)
    }

    /// A sweep for exactly this target, which is not kept.
    pub(crate) fn sweep(&self, target: &Target) -> Arc<Swept> {
        let end = target.to * (1.0 + 1e-9);
        let mut sweep = Sweep::new(self.groups(), target.from, target.cut, target.resolution, end);
        sweep.advance(end, target.budget);
        Arc::new(sweep.swept(sweep.octaves.len()))
    }

    /// A sweep for the target or a stricter one, which covers the heights from `from` to `to` unless that takes more windows than the budget, and
    /// ends at `end` at the latest. The bounds do not depend on Re s, so that one sweep serves many requests: a survivor of a stricter target costs
    /// time only.
    pub(crate) fn remembered_sweep(&self, target: &Target, end: f64) -> Arc<Swept> {
        let point = GridPoint::of_target(target, end);
        let mut remembered = lock(&self.remembered);
        let inherit = |of: &HashMap<GridPoint, Remembered>| {
            let mut sweep = point.sweep(self.groups());
            let alike = of.iter().filter(|(other, _)| GridPoint { end: point.end, ..**other } == point);
            if let Some((_, longest)) = alike.max_by_key(|(_, known)| known.sweep.octaves.len()) {
                sweep.take_over(&longest.sweep.octaves, target.to);
            }
            Remembered { sweep, of_octaves: HashMap::new() }
        };
        let fresh = (!remembered.contains_key(&point)).then(|| inherit(&remembered));
        remembered.extend(fresh.map(|fresh| (point, fresh)));
        let known = remembered.entry(point).or_insert_with(|| inherit(&HashMap::new()));
        known.sweep.advance(target.to, target.budget);
        let octaves = known.sweep.octaves_for(target.to, target.budget);
        let Remembered { sweep, of_octaves } = known;
        Arc::clone(of_octaves.entry(octaves).or_insert_with(|| Arc::new(sweep.swept(octaves))))
    }

    /// Upper bound, of at most 1, on `last` times the sum over j > last of |product of the factors| / j^2 at heights j `spacing`, from averages of
    /// the periodic factors alone; continuous noise is nowhere above its factor at `last`.
    pub(crate) fn beyond(&self, spacing: f64, last: f64) -> f64 {
        match &self.far {
            Beyond::Own(far) => {
                let groups = self.bounds.iter().zip(&self.weights);
                let periodic = far.get_or_init(|| FarField::new(groups, &self.bundles)).bound(spacing, last);
                let at_last = |bound: &FactorBound| bound.ln_factor(bound.nearest(last * spacing, last * spacing));
                let steady = self.bounds.iter().filter(|bound| !bound.periodic).map(at_last).sum::<f64>();
                periodic * libm::exp(steady * (1.0 - 1e-6))
            }
            // Cauchy & Schwarz: the sum of |F_p F_q| / j^2 is at most the geometric mean of those of |F_p|^2 and |F_q|^2.
            Beyond::Halves([p, q]) => {
                (p.beyond(spacing, last) * q.beyond(spacing, last)).sqrt().min(1.0) * (1.0 + 1e-9)
            }
        }
    }

    /// Upper bound on ln of the product of all factors at height t, for every Re s.
    pub(crate) fn ln_bound(&self, t: f64) -> f64 {
        self.bounds.iter().map(|bound| bound.ln_factor(bound.nearest(t, t))).sum::<f64>() * (1.0 - 1e-6)
    }
}

/// The groups for which the sieve has bounds, and their exact weights.
fn factor_bounds(sum: &LossSum) -> (Vec<FactorBound>, Vec<Rational>) {
    let of_group = |group: &Group| {
        let (weight, copies) = (group.weight(), group.copies as f64);
        // A factor without a bound is at most one, |M(c + i t)| <= M(c): the prefactor carries its size on the axis.
        let (sigma2, periodic) = (group.law.sigma2()?, !group.law.is_continuous());
        let bound = FactorBound { sigma2: sigma2.to_f64(), weight: weight.to_f64(), copies, periodic };
        Some((bound, weight))
    };
    let (mut bounds, mut weights): (Vec<_>, Vec<_>) = sum.groups().iter().filter_map(of_group).unzip();
    bounds.shrink_to_fit();
    weights.shrink_to_fit();
    (bounds, weights)
}

/// A cut with its margin.
fn padded(cut: f64) -> f64 {
    cut + 1e-6 * (1.0 + cut)
}

/// A part of a sweep, from the end of the one before it up to its own end.
#[derive(Debug)]
struct Octave {
    end: f64,
    /// In order of their heights.
    survivors: Vec<Survivor>,
    /// The number of windows and pieces examined, in this octave and in those before it.
    looked_at: u64,
}

/// A sweep in progress, from `from` upwards, for the heights t at which prod |F(t)|^copies may exceed exp(-cut) t / from.
/// Pieces shorter than `resolution` are not divided further.
#[derive(Debug)]
struct Sweep {
    bounds: Vec<FactorBound>,
    weights: Vec<Rational>,
    bundles: Arc<KnownBundles>,
    from: f64,
    cut: f64,
    resolution: f64,
    /// The largest height at which it may end.
    end: f64,
    octaves: Vec<Arc<Octave>>,
    /// The largest budget that did not suffice for the next octave.
    refused: Option<u64>,
}

impl Sweep {
    /// The sweep of groups with their exact weights.
    fn new((bounds, weights, bundles): Groups, from: f64, cut: f64, resolution: f64, end: f64) -> Self {
        let (bounds, weights, bundles) = (bounds.to_vec(), weights.to_vec(), Arc::clone(bundles));
        Sweep { bounds, weights, bundles, from, cut, resolution, end, octaves: Vec::new(), refused: None }
    }

    /// The windows of bundles for the target of the whole sweep; those of an octave are among them.
    fn combs(&self) -> Vec<Comb> {
        bundles::combs(self.bounds.iter().zip(&self.weights), padded(self.cut), &self.bundles)
    }

    /// The height that it has reached.
    fn reached(&self) -> f64 {
        self.octaves.last().map_or(self.from, |octave| octave.end)
    }

    /// Takes the octaves of a sweep that differs in its end only, as far as they are complete before this one's end and needed up to `to`: they are
    /// the same, because the end affects only the octave that it cuts short.
    fn take_over(&mut self, octaves: &[Arc<Octave>], to: f64) {
        for octave in octaves {
            let whole = self.reached() * 2.0;
            if self.reached() >= to.min(self.end) || whole >= self.end || octave.end < whole {
                break;
            }
            self.octaves.push(Arc::clone(octave));
        }
    }

    /// The number of octaves that a request needs that goes up to `to` with a budget, as far as they exist.
    fn octaves_for(&self, to: f64, budget: u64) -> usize {
        let affordable = self.octaves.partition_point(|octave| octave.looked_at <= budget);
        let enough = self.octaves.partition_point(|octave| octave.end < to) + 1;
        if self.from >= to { 0 } else { enough.min(affordable) }
    }

    /// The survivors of the first octaves.
    fn swept(&self, octaves: usize) -> Swept {
        let last = octaves.checked_sub(1).map(|last| &self.octaves[last]);
        let reached = last.map_or((self.from, 0), |last| (last.end, last.looked_at));
        let survivors = self.octaves[..octaves].iter().flat_map(|octave| octave.survivors.iter().copied()).collect();
        Swept::new(survivors, reached, self.resolution, self.cut)
    }

    /// Goes on up to `to`, or until `budget` windows have been examined in all.
    fn advance(&mut self, to: f64, budget: u64) {
        let combs = OnceCell::new();
        while self.reached() < to.min(self.end) && self.refused.is_none_or(|refused| budget > refused) {
            match self.octave(budget, &combs) {
                Ok(octave) => {
                    self.octaves.push(Arc::new(octave));
                    self.refused = None;
                }
                Err(BudgetReached) => self.refused = Some(budget),
            }
        }
    }

    /// The next octave; one without end where no height beyond can exceed its target.
    fn octave(&self, budget: u64, combs: &OnceCell<Vec<Comb>>) -> Result<Octave, BudgetReached> {
        let start = self.reached();
        let end = (start * 2.0).min(self.end);
        let looked_at = self.octaves.last().map_or(0, |octave| octave.looked_at);
        let target = self.cut - libm::log(start / self.from) * (1.0 - 1e-9);
        let padded = padded(target);
        // Continuous noise only decays: where it suffices alone, it suffices for all heights beyond.
        let steady = self.bounds.iter().filter(|bound| !bound.periodic);
        if target <= 0.0 || steady.map(|bound| bound.ln_factor(bound.nearest(start, end))).sum::<f64>() <= -padded {
            return Ok(Octave { end: f64::INFINITY, survivors: Vec::new(), looked_at });
        }
        let windows =
            |combs: &[Comb]| Windows::new(&self.bounds, combs, padded, self.resolution).within(looked_at, budget);
        let of_lobes = Lobes::new(&self.bounds, &self.weights, padded, (start, end)).and_then(|lobes| {
            let mut windows = windows(&[]);
            Some(windows.intersect_lobes(&lobes)?.map(|()| windows))
        });
        let windows = match of_lobes {
            Some(windows) => windows?,
            None => {
                let combs = if end - start > BUNDLED_FROM { &combs.get_or_init(|| self.combs())[..] } else { &[] };
                let mut windows = windows(combs);
                windows.intersect(start, end)?;
                windows
            }
        };
        let Windows { mut survivors, looked_at, .. } = windows;
        survivors.sort_by(|a, b| a.from.total_cmp(&b.from));
        // Adjacent pieces of nearly the same bound become one.
        survivors.dedup_by(|next, kept| {
            let touches = next.from <= kept.to && (next.ln_bound - kept.ln_bound).abs() < 1.0;
            if touches {
                kept.to = kept.to.max(next.to);
                kept.ln_bound = kept.ln_bound.max(next.ln_bound);
            }
            touches
        });
        Ok(Octave { end, survivors, looked_at })
    }
}

#[cfg(test)]
pub(super) mod measured;

#[cfg(test)]
mod tests {
    use super::super::factor_bound::tests::factor_by_definition;
    use super::*;
    use crate::loss::testing::sum;

    fn sweep(bounds: &[FactorBound], from: f64, to: f64, cut: f64, resolution: f64) -> Swept {
        let weights: Vec<Rational> = bounds.iter().map(|bound| Rational::from_f64(bound.weight).unwrap()).collect();
        let mut sweep = Sweep::new((bounds, &weights, &Arc::default()), from, cut, resolution, to);
        sweep.advance(to, BUDGET);
        sweep.swept(sweep.octaves.len())
    }

    #[test]
    fn every_height_above_the_target_survives_and_little_else() {
        let bounds = [
            FactorBound { sigma2: 500.0 / 73.0, weight: 73.0 / 500.0, copies: 10.0, periodic: true },
            FactorBound { sigma2: 2500.0 / 137.0, weight: 137.0 / 2500.0, copies: 6.0, periodic: true },
        ];
        let cut = 12.0;
        let swept = sweep(&bounds, 10.0, 3000.0, cut, 0.05);
        assert!(!swept.survivors.is_empty() && swept.reached == 3000.0);
        let inside = |t: f64| swept.survivors.iter().any(|part| part.from <= t && t <= part.to);
        let (mut above, mut covered) = (0, 0);
        for k in 0..299_000 {
            let t = 10.0 + f64::from(k) * 0.01;
            let product: f64 = bounds.iter().map(|bound| factor_by_definition(bound, t)).product();
            if product > (-cut).exp() * t / 10.0 {
                above += 1;
                assert!(inside(t), "{t} was dropped with a product of {product}");
            }
            covered += i32::from(inside(t));
        }
        assert!(above > 100 && covered < above * 2 + 200, "{above} above, {covered} covered");
    }

    /// The sums over the survivors, and over the nodes beyond one, against the factors themselves.
    #[test]
    fn weights_bound_the_sums_they_stand_for() {
        let bounds = [
            FactorBound { sigma2: 500.0 / 73.0, weight: 73.0 / 500.0, copies: 10.0, periodic: true },
            FactorBound { sigma2: 2500.0 / 137.0, weight: 137.0 / 2500.0, copies: 6.0, periodic: true },
        ];
        let sum = sum(&["500/73x10", "2500/137x6"]);
        let product = |t: f64| bounds.iter().map(|bound| factor_by_definition(bound, t)).product::<f64>();
        let spacing = 0.25;
        let (first, last) = (40, 12_000);
        let far = 400;
        let truth: f64 = (far + 1..last).map(|j| product(f64::from(j) * spacing) / f64::from(j).powi(2)).sum();
        let sieve = SumSieve::new(&sum);
        let bound = sieve.beyond(spacing, f64::from(far)) / f64::from(far);
        assert!(truth <= bound && bound < 0.12 / f64::from(far), "{truth} {bound}");

        let cut = 12.0;
        let target = Target { from: 10.0, to: 3000.0, cut, resolution: 2.0 * spacing, budget: BUDGET };
        let swept = sieve.remembered_sweep(&target, f64::INFINITY);
        let inside = |t: f64, parts: &[Survivor]| parts.iter().any(|part| part.from <= t && t <= part.to);
        for index in [0, 3, swept.survivors.len() / 2, swept.survivors.len()] {
            for decay in [1, 2] {
                let nodes = (first..last).map(f64::from).filter(|j| inside(j * spacing, &swept.survivors[index..]));
                let truth: f64 = nodes.map(|j| product(j * spacing) / j.powi(decay)).sum();
                let bound = swept.weight_from(index, spacing, decay, cut) * (-cut).exp();
                assert!(truth <= bound && (index > 0 || bound < 100.0 * truth), "{index} {decay} {truth} {bound}");
            }
        }
    }

    /// A request finds the same survivors after any earlier sweep: further up, with other targets or with a smaller budget.
    #[test]
    fn memory_changes_no_answer() {
        let sum = sum(&["500/73x10", "2500/137x6"]);
        let target = |from, to, cut, budget| Target { from, to, cut, resolution: 0.5, budget };
        let asked = target(11.0, 900.0, 13.0, BUDGET);
        let fresh = SumSieve::new(&sum).remembered_sweep(&asked, f64::INFINITY);
        let sieve = SumSieve::new(&sum);
        for before in
            [target(9.0, 5000.0, 12.9, BUDGET), target(11.0, 1e5, 13.0, BUDGET), target(10.0, 2000.0, 14.0, 40)]
        {
            sieve.remembered_sweep(&before, f64::INFINITY);
            let again = sieve.remembered_sweep(&asked, f64::INFINITY);
            let shown = |swept: &Swept| format!("{:?} {}", swept.survivors, swept.reached);
            assert_eq!(shown(&again), shown(&fresh));
        }
        assert!(fresh.reached >= 900.0 && !fresh.survivors.is_empty());
        // With a small budget it stops early, before and after the sweep has gone further for others.
        let poor = target(11.0, 900.0, 13.0, 40);
        let (early, late) =
            (SumSieve::new(&sum).remembered_sweep(&poor, f64::INFINITY), sieve.remembered_sweep(&poor, f64::INFINITY));
        assert!(early.reached == late.reached && early.reached < 900.0);
    }

    #[test]
    fn a_sweep_without_end_stops_and_reports_the_height() {
        let bounds = [FactorBound { sigma2: 5.0, weight: 0.2, copies: 1.0, periodic: true }];
        let swept = sweep(&bounds, 1.0, 1e18, 60.0, 0.1);
        assert!(swept.reached > 1e4 && swept.reached < 1e12, "{}", swept.reached);
        // With a low target it is complete when the target reaches one.
        assert_eq!(sweep(&bounds, 1.0, 1e18, 5.0, 0.1).reached, f64::INFINITY);
    }

    /// Sweeps that differ in their end share octaves, and each finds the same as alone.
    #[test]
    fn an_end_changes_no_octave_below_it() {
        let sum = sum(&["500/73x10", "2500/137x6"]);
        let target = |to| Target { from: 11.0, to, cut: 13.0, resolution: 0.5, budget: BUDGET };
        let sieve = SumSieve::new(&sum);
        let mut shared = 0;
        for (to, end) in [(900.0, 1000.0), (5000.0, f64::INFINITY), (3000.0, 3000.0), (100.0, 200.0), (4000.0, 4096.0)]
        {
            let swept = sieve.remembered_sweep(&target(to), end);
            let alone = SumSieve::new(&sum).remembered_sweep(&target(to), end);
            let shown = |swept: &Swept| format!("{:?} {}", swept.survivors, swept.reached);
            assert_eq!(shown(&swept), shown(&alone), "{to} {end}");
            let remembered = sieve.remembered.lock().unwrap();
            shared =
                remembered.values().flat_map(|known| &known.sweep.octaves).filter(|o| Arc::strong_count(o) > 1).count();
        }
        assert!(shared >= 8, "{shared}");
    }

    #[test]
    fn continuous_noise_ends_the_sweep() {
        let bounds = [
            FactorBound { sigma2: 5.0, weight: 0.2, copies: 10.0, periodic: true },
            FactorBound { sigma2: 100.0, weight: 0.01, copies: 1.0, periodic: false },
        ];
        let swept = sweep(&bounds, 10.0, 1e9, 40.0, 0.1);
        assert!(swept.reached == f64::INFINITY && swept.survivors.iter().all(|part| part.from < 150.0));
    }
}
