//! Bounds beyond the sieve on an unbounded contour: heights of which only averages are known.
//!
//! # Bundles
//!
//! Groups whose weights have a common measure h that is not small repeat together, after a period P = 2 pi / h: they are a bundle. The product of
//! their factors is at most a step function f of period P: a sweep of one period finds the windows in which the product may exceed a floor, with a
//! bound for each, and f is the sum of the floor and these bounds. Two numbers of f enter the proof: its integral over a period, `mass`, and its
//! variation over one, `variation`. A single group falls and rises once in a period, so its variation is at most 2, and its mean is known.
//!
//! For a level y let {f > y} be of length m(y) and have k(y) parts in a period, one that is cut by its ends counting twice. Then
//! the integral of m is the mass, and that of k at most half the variation.
//!
//! # One bundle
//!
//! Let nodes be s apart. A part of length m holds m / s + 1 of them at most, so, summed over all levels, the nodes of a period
//! add at most mass / s + variation / 2: on average
//!
//! (mass + s variation / 2) / P.
//!
//! # Two bundles
//!
//! Without a group in common, the product is at most f_1 f_2. Write a node as k P_1 + u with |u| <= P_1 / 2. For each k at most
//! one node has u in a cell of length s, and there f_1 is at most its largest value in the cell. A part of length m meets m / s + 2
//! cells at most, so these values add up to mass_1 / s + variation_1 at most. There f_2 is at most H(k P_1 + b), where b is the
//! beginning of the cell and H(x) is the largest of f_2 from x to x + s. Each part of {H > y} is one of {f_2 > y} lengthened by
//! s, or several, so that the integral of H is at most mass_2 + s variation_2 / 2, and its variation is no larger than that of f_2.
//!
//! Let p / q be a reduced fraction with |P_1 / P_2 - p / q| < 1 / q^2. In units of P_2 the points k P_1, k = 0 ... q - 1, are on
//! the same side of k p / q and less than 1 / q from it, so each of q arcs of length 1 / q that make up the circle holds one of
//! them, and (Denjoy & Koksma)
//!
//! sum over q consecutive k of H(k P_1 + b) <= q (mean of H) + variation_2.
//!
//! So q periods of bundle 1 add on average at most
//!
//! (mass_1 + s variation_1) / P_1 times ((mass_2 + s variation_2 / 2) / P_2 + variation_2 / q).
//!
//! The fractions are the convergents of the ratio of the periods, an exact rational. Where it is a fraction of small
//! terms, the bundles repeat together, and the bound says so by its last term.
//!
//! # The tail
//!
//! Where blocks of L nodes add at most B each, the sum of 1 / j^2 times that beyond J is, with the first, partial block and those
//! that follow each other,
//!
//! B (1 / J^2 + sum over k >= 0 of 1 / (J + k L)^2) <= (B / L) (1 / J) (1 + 2 L / J).

use std::sync::Arc;

use rug::{Integer, Rational};

use super::{
    bundles::{Bundle, KnownBundles},
    factor_bound::FactorBound,
    survivors::Survivor,
};

/// The longest periods of bundles, in units of Im s: single groups, and longer and longer bundles, which give sharper bounds far up and weaker ones
/// at low heights.
const LONGEST: [f64; 3] = [0.0, 1e5, 1e7];

/// Where the product of a bundle is below exp(-CUT), it is not resolved further.
const CUT: f64 = 28.0;

/// The number of bundles that are combined in pairs: those with the least means.
const PAIRED: usize = 5;

/// No longer blocks are considered: this is far beyond every height that a sweep reaches.
const LARGEST_DENOMINATOR: f64 = 1e15;

/// A step function that bounds the product of the groups of a bundle.
#[derive(Clone, Debug)]
struct Steps {
    /// 2 pi / period.
    step: Rational,
    /// In units of Im s.
    period: f64,
    /// The integral over a period.
    mass: f64,
    /// The variation over a period.
    variation: f64,
}

/// All groups in bundles, those with the least means first, and the convergents that bound how evenly the periods of two of them interleave.
#[derive(Clone, Debug)]
struct Partition {
    bundles: Vec<Steps>,
    /// The indices of two bundles, and the denominators of the convergents of the ratio of their periods.
    pairs: Vec<(usize, usize, Arc<[f64]>)>,
}

/// The groups of a sum in several partitions.
#[derive(Clone, Debug)]
pub(super) struct FarField {
    partitions: Vec<Partition>,
}

impl FarField {
    /// The far field of groups with their exact weights; continuous ones are ignored.
    pub(super) fn new<'a>(
        groups: impl Iterator<Item = (&'a FactorBound, &'a Rational)>,
        known: &Arc<KnownBundles>,
    ) -> Self {
        let groups: Vec<(&FactorBound, &Rational)> = groups.collect();
        let partition = |longest: &f64| Partition::new(&Bundle::all(groups.iter().copied(), *longest, known), known);
        FarField { partitions: LONGEST.iter().map(partition).collect() }
    }

    /// An upper bound for `last` times the sum over j > last of |product of the factors| / j^2 at heights j `spacing`; at
    /// most one.
    pub(super) fn bound(&self, spacing: f64, last: f64) -> f64 {
        self.partitions.iter().map(|partition| partition.bound(spacing, last)).fold(1.0, f64::min)
    }
}

impl Partition {
    fn new(bundles: &[Bundle], known: &KnownBundles) -> Self {
        let mut bundles: Vec<Steps> = bundles.iter().map(Steps::new).collect();
        bundles.sort_by(|a, b| a.mean_with(0.0).total_cmp(&b.mean_with(0.0)));
        let mut pairs = Vec::new();
        for (i, first) in bundles.iter().enumerate().take(PAIRED) {
            for (j, second) in bundles.iter().enumerate().take(PAIRED).filter(|(j, _)| i != *j) {
                // The ratio of the periods is the inverse one of the steps.
                let ratio = Rational::from(&second.step / &first.step);
                pairs.push((i, j, known.of_ratio(ratio, convergent_denominators)));
            }
        }
        Partition { bundles, pairs }
    }

    /// See [`FarField::bound`].
    fn bound(&self, spacing: f64, last: f64) -> f64 {
        // The bundles carry their own margins; this one covers the rounding errors here.
        let tail = |mean: f64, block: f64| mean * (1.0 + 2.0 * block / last) * (1.0 + 1e-6);
        let one = self.bundles.iter().map(|bundle| tail(bundle.mean_with(spacing / 2.0), bundle.period / spacing));
        let two = self.pairs.iter().flat_map(|(first, second, denominators)| {
            let (first, second) = (&self.bundles[*first], &self.bundles[*second]);
            let (outer, inner) = (first.mean_with(spacing), second.mean_with(spacing / 2.0));
            let of = move |q: &f64| tail(outer * (inner + second.variation / q), q * first.period / spacing);
            denominators.iter().map(of)
        });
        one.chain(two).fold(1.0, f64::min)
    }
}

impl Steps {
    /// The steps of a bundle; of its first group alone where a sweep of the period takes too long.
    fn new(bundle: &Bundle) -> Self {
        if let [_, _, ..] = bundle.bounds[..]
            && let Some(survivors) = bundle.half_period(CUT, bundle.width() / 3.0)
        {
            return Steps::of_survivors(bundle, &survivors);
        }
        let (step, period) = (bundle.step.clone(), bundle.period());
        // A group repeats itself in every period of its bundle, several times.
        let repeats = |bound: &FactorBound| (period / bound.period()).round();
        let first = bundle.bounds.first();
        let (mean, variation) = first.map_or((1.0, 0.0), |bound| (bound.mean(), 2.0 * repeats(bound)));
        Steps { step, period, mass: mean * period, variation }
    }

    /// From the survivors in half a period: the product is even.
    fn of_survivors(bundle: &Bundle, survivors: &[Survivor]) -> Self {
        let period = bundle.period();
        let height = |part: &Survivor| libm::exp(part.ln_bound * (1.0 - 1e-6));
        let mass: f64 = survivors.iter().map(|part| height(part) * (part.to - part.from)).sum();
        let first = survivors.first().filter(|part| part.from > 0.0).map_or(0.0, height);
        let between = |pair: &[Survivor]| {
            let (a, b) = (height(&pair[0]), height(&pair[1]));
            // Parts that only touch are one step.
            if pair[0].to == pair[1].from { (a - b).abs() } else { a + b }
        };
        let steps: f64 = survivors.windows(2).map(between).sum();
        let last = survivors.last().map_or(0.0, height);
        let (floor, margin) = (libm::exp(-CUT), 1.0 + 1e-6);
        Steps {
            step: bundle.step.clone(),
            period,
            mass: (2.0 * mass + floor * period) * margin,
            // Twice that of half a period; below the floor there is one part.
            variation: 2.0 * (first + steps + last + floor) * margin,
        }
    }

    /// (mass + length variation) / period.
    fn mean_with(&self, length: f64) -> f64 {
        (self.mass + length * self.variation) / self.period
    }
}

/// The denominators of the convergents of a positive fraction, up to the largest useful one.
fn convergent_denominators(ratio: &Rational) -> Vec<f64> {
    let (mut above, mut below) = (ratio.numer().clone(), ratio.denom().clone());
    // q_(-1) = 0 and q_0 = 1; each next one is a_k q_(k - 1) + q_(k - 2).
    let (mut before, mut last) = (Integer::new(), Integer::from(1));
    let mut all = vec![1.0];
    above %= &below;
    while above != 0 {
        let (quotient, rest) = below.div_rem(above.clone());
        (below, above) = (above, rest);
        let next = Integer::from(&last * &quotient) + &before;
        (before, last) = (last, next);
        let denominator = last.to_f64();
        if denominator > LARGEST_DENOMINATOR {
            break;
        }
        all.push(denominator);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::{
        super::factor_bound::tests::{factor_by_definition, with_weights},
        *,
    };
    use crate::numeric::rational::parse;

    /// The sum over many nodes beyond the sieve, against its bound: of incommensurate weights, of weights of small ratios that repeat together, and
    /// of one weight.
    #[test]
    fn no_tail_is_above_its_bound() {
        for (list, sharper) in [
            (vec!["500/73x10", "2500/137x6"], true),
            (vec!["5000/731x40", "2500/137x60", "77/13x20"], true),
            (vec!["6x10", "3x10"], false),
            (vec!["6x10", "6x9"], false),
            (vec!["4001/1000x30", "4x30"], false),
        ] {
            let groups = with_weights(&list);
            let far = FarField::new(groups.iter().map(|(bound, weight)| (bound, weight)), &Arc::default());
            let single = Partition { pairs: Vec::new(), ..far.partitions[0].clone() };
            let alone = FarField { partitions: vec![single] };
            for spacing in [0.05, 0.3, 1.7] {
                let product = |j: u32| -> f64 {
                    groups.iter().map(|(bound, _)| factor_by_definition(bound, f64::from(j) * spacing)).product()
                };
                for last in [300_u32, 3_000] {
                    // A truncated tail is below the whole one.
                    let truth: f64 = (last + 1..last * 20).map(|j| product(j) / f64::from(j).powi(2)).sum();
                    let last = f64::from(last);
                    let (bound, single) = (far.bound(spacing, last), alone.bound(spacing, last));
                    assert!(truth * last <= bound && bound <= single, "{list:?} {spacing} {last} {truth} {bound}");
                    if sharper && spacing == 0.05 && last == 3_000.0 {
                        let distant = (far.bound(spacing, 1e9), alone.bound(spacing, 1e9));
                        assert!(distant.0 < 0.3 * distant.1, "{list:?} {distant:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn denominators_are_those_of_best_approximations() {
        assert_eq!(convergent_denominators(&parse("415/93").unwrap()), [1.0, 2.0, 13.0, 93.0]);
        assert_eq!(convergent_denominators(&parse("2").unwrap()), [1.0]);
        let ratio = parse("3.14159265358979").unwrap();
        for q in convergent_denominators(&ratio) {
            let q = Rational::from_f64(q).unwrap();
            let p = Rational::from(&ratio * &q).round();
            assert!((ratio.clone() - p / &q).abs() < Rational::from(&q * &q).recip());
        }
    }
}
