//! Groups that repeat together: bundles.
//!
//! Groups whose weights have a common measure h that is not small have a common period 2 pi / h that is not long, and over one period the windows in
//! which the product of their factors is large are soon found. They are few, while each single group has many.

use std::{f64::consts::PI, iter, sync::Arc};

use rug::{Integer, Rational};

use super::{
    factor_bound::FactorBound,
    memo::Memo,
    survivors::Survivor,
    windows::{Comb, Windows},
};

/// The number of groups that are bundled: the sharpest.
const BUNDLED: usize = 64;

/// The largest number of windows and pieces of a period to examine.
const BUDGET: u64 = 16_000;

/// The longest period of the bundles from which a longer one is made.
const SHORT: f64 = 1e5;

/// A group with its weight in units in which all weights are whole.
type Whole = (FactorBound, Integer);

/// The groups of a bundle, its target and the shortest piece: the facts that determine a sweep of its period.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Sought {
    groups: Vec<(u64, u64, Rational)>,
    cut: u64,
    resolution: u64,
}

/// The survivors in half a period; `None` if there are too many windows.
type Half = Option<Arc<[Survivor]>>;

/// The bundles that were swept so far, and the convergents of the ratios of their periods, for sums that have many in common. This memory changes no
/// answer.
#[derive(Debug, Default)]
pub(crate) struct KnownBundles {
    halves: Memo<Sought, Half>,
    of_ratios: Memo<Rational, Arc<[f64]>>,
}

impl KnownBundles {
    /// The denominators for a ratio of two periods, found only once.
    pub(super) fn of_ratio(&self, ratio: Rational, find: impl Fn(&Rational) -> Vec<f64>) -> Arc<[f64]> {
        self.of_ratios.get_or_make(ratio, |ratio| find(ratio).into())
    }
}

/// Groups that repeat together.
#[derive(Clone, Debug)]
pub(super) struct Bundle {
    pub(super) bounds: Vec<FactorBound>,
    /// The weights of the same groups, and their greatest common divisor.
    weights: Vec<Rational>,
    pub(super) step: Rational,
    known: Arc<KnownBundles>,
}

impl Bundle {
    /// All periodic groups in bundles of periods up to `longest` in units of Im s, each group with its exact weight; a group whose own period is
    /// longer is a single bundle.
    pub(super) fn all<'a>(
        groups: impl Iterator<Item = (&'a FactorBound, &'a Rational)>,
        longest: f64,
        known: &Arc<KnownBundles>,
    ) -> Vec<Bundle> {
        let mut groups: Vec<(&FactorBound, &Rational)> = groups.filter(|(bound, _)| bound.periodic).collect();
        // The mean of a factor falls with copies sigma2.
        groups.sort_by(|a, b| (b.0.copies * b.0.sigma2).total_cmp(&(a.0.copies * a.0.sigma2)));
        groups.truncate(BUNDLED);
        let common = groups.iter().fold(Integer::from(1), |common, (_, weight)| common.lcm(weight.denom()));
        let whole = |(bound, weight): &(&FactorBound, &Rational)| {
            (**bound, Integer::from(&common / weight.denom()) * weight.numer())
        };
        let mut rest: Vec<Whole> = groups.iter().map(whole).collect();
        let least = 2.0 * PI * common.to_f64() / longest;
        let mut bundles = Vec::new();
        while !rest.is_empty() {
            let (taken, step, others) = take_bundle(rest, least);
            let exact = |whole: Integer| Rational::from((whole, common.clone()));
            let (bounds, weights) = taken.into_iter().map(|(bound, weight)| (bound, exact(weight))).unzip();
            bundles.push(Bundle { bounds, weights, step: exact(step), known: Arc::clone(known) });
            rest = others;
        }
        bundles
    }

    /// The windows of the shorter bundles that it is made of.
    fn combs(&self, cut: f64) -> Vec<Comb> {
        combs(self.bounds.iter().zip(&self.weights), cut, &self.known)
    }

    /// In units of Im s.
    pub(super) fn period(&self) -> f64 {
        2.0 * PI / self.step.to_f64()
    }

    /// Where the product may exceed exp(-cut) from 0 to half a period, in order; the product is even. `None` if there are too
    /// many windows.
    pub(super) fn half_period(&self, cut: f64, resolution: f64) -> Half {
        let of_group = |(bound, weight): (&FactorBound, &Rational)| {
            (bound.sigma2.to_bits(), bound.copies.to_bits(), weight.clone())
        };
        let groups = self.bounds.iter().zip(&self.weights).map(of_group).collect();
        let sought = Sought { groups, cut: cut.to_bits(), resolution: resolution.to_bits() };
        self.known.halves.get_or_make(sought, |_| self.swept(cut, resolution).map(Arc::from))
    }

    fn swept(&self, cut: f64, resolution: f64) -> Option<Vec<Survivor>> {
        let parts = if self.period() > SHORT { self.combs(cut) } else { Vec::new() };
        let mut windows = Windows::new(&self.bounds, &parts, cut, resolution).within(0, BUDGET);
        windows.intersect(0.0, self.period() / 2.0 * (1.0 + 1e-12)).ok()?;
        let mut survivors = windows.survivors;
        survivors.sort_by(|a, b| a.from.total_cmp(&b.from));
        Some(survivors)
    }

    /// The height over which the product falls from one to exp(-1) near zero.
    pub(super) fn width(&self) -> f64 {
        let steepness = |bound: &FactorBound| bound.copies * bound.sigma2 * bound.weight.powi(2) / 2.0;
        self.bounds.iter().map(steepness).sum::<f64>().sqrt().recip()
    }

    /// The windows for a target exp(-cut), where they are fewer than those of any group of the bundle.
    pub(super) fn comb(&self, cut: f64) -> Option<Comb> {
        let survivors = self.half_period(cut, self.width())?;
        let rarest = self.bounds.iter().filter(|bound| bound.reach(cut).is_some()).map(FactorBound::period);
        let rarest = rarest.fold(0.0, f64::max);
        let mut windows: Vec<(f64, f64)> = survivors.iter().map(|part| (part.from, part.to)).collect();
        windows.extend(survivors.iter().map(|part| (-part.to, -part.from)));
        windows.sort_by(|a, b| a.0.total_cmp(&b.0));
        windows.dedup_by(|next, kept| {
            let touches = next.0 <= kept.1;
            if touches {
                kept.1 = kept.1.max(next.1);
            }
            touches
        });
        let comb = Comb { period: self.period(), windows };
        (comb.density() * rarest < 1.0).then_some(comb)
    }
}

/// The windows of short bundles of some groups for a target exp(-cut), where they are useful.
pub(super) fn combs<'a>(
    groups: impl Iterator<Item = (&'a FactorBound, &'a Rational)>,
    cut: f64,
    known: &Arc<KnownBundles>,
) -> Vec<Comb> {
    let bundles = Bundle::all(groups, SHORT, known);
    bundles.iter().filter(|bundle| bundle.bounds.len() > 1).filter_map(|bundle| bundle.comb(cut)).collect()
}

/// Takes the first of some groups with the others that repeat together with it: whose greatest common divisor is at least `least`, in units in which
/// all weights are whole. Returns them with that divisor, and the remaining groups in order.
fn take_bundle(mut groups: Vec<Whole>, least: f64) -> (Vec<Whole>, Integer, Vec<Whole>) {
    let first = groups.remove(0);
    let mut step = first.1.clone();
    // Those that share most with the first come first.
    let mut shared: Vec<(Integer, usize)> =
        groups.iter().enumerate().map(|(place, (_, weight))| (weight.clone().gcd(&step), place)).collect();
    shared.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut together = vec![false; groups.len()];
    for (_, place) in shared {
        let next = Integer::from(step.gcd_ref(&groups[place].1));
        if next.to_f64() >= least {
            (step, together[place]) = (next, true);
        }
    }
    let (taken, rest): (Vec<_>, Vec<_>) = groups.into_iter().zip(together).partition(|(_, together)| *together);
    let taken = taken.into_iter().map(|(group, _)| group);
    (iter::once(first).chain(taken).collect(), step, rest.into_iter().map(|(group, _)| group).collect())
}

#[cfg(test)]
mod tests {
    use super::{
        super::factor_bound::tests::{factor_by_definition, with_weights},
        *,
    };

    fn bundles(texts: &[&str], longest: f64) -> Vec<Bundle> {
        let groups = with_weights(texts);
        Bundle::all(groups.iter().map(|(bound, weight)| (bound, weight)), longest, &Arc::default())
    }

    #[test]
    fn groups_of_a_common_step_are_bundled_and_no_group_is_lost() {
        let list = ["50x9", "4099/100x8", "25x7", "4099/40x6", "1000/7x5"];
        for longest in [0.0, 2e3, 1e4, 1e8] {
            let bundles = bundles(&list, longest);
            let mut copies: Vec<f64> =
                bundles.iter().flat_map(|bundle| &bundle.bounds).map(|bound| bound.copies).collect();
            copies.sort_by(f64::total_cmp);
            assert_eq!(copies, [5.0, 6.0, 7.0, 8.0, 9.0]);
            for bundle in &bundles {
                assert!(bundle.bounds.len() == 1 || bundle.period() <= longest);
                for bound in &bundle.bounds {
                    let multiple = bound.weight / bundle.step.to_f64();
                    assert!((multiple - multiple.round()).abs() < 1e-9 * multiple, "{multiple}");
                }
            }
            assert_eq!(
                bundles.len(),
                match longest {
                    0.0 => 5,
                    2e3 => 3,
                    1e4 => 2,
                    _ => 1,
                },
                "{longest}"
            );
        }
    }

    /// Every height of a period at which the product exceeds the target lies in a window of the comb, and little else does.
    #[test]
    fn a_comb_holds_all_that_is_above_the_target() {
        for bundle in bundles(&["50/7x3", "25/3x2", "4099/500x3", "4099/400x2"], 3e3) {
            let cut = 4.0;
            let comb = bundle.comb(cut).unwrap();
            let (mut above, mut covered) = (0, 0);
            for k in -20_000..20_000 {
                let t = f64::from(k) / 20_000.0 * bundle.period() / 2.0;
                let inside = comb.windows.iter().any(|(from, to)| *from <= t && t <= *to);
                let product: f64 = bundle.bounds.iter().map(|bound| factor_by_definition(bound, t)).product();
                if product > (-cut).exp() {
                    above += 1;
                    assert!(inside, "{t} was dropped with a product of {product}");
                }
                covered += i32::from(inside);
            }
            assert!(above > 0 && covered < 3 * above + 100, "{above} {covered}");
        }
    }
}
