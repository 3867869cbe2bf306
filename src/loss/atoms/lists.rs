//! Two sorted lists of losses, one for each half of the groups, and sums over all pairs in one pass.
//!
//! Every pass runs over the first list in order, while the place in the second list that meets the threshold moves the
//! other way; what is summed of the second list grows with it. So a pass takes as many steps as both lists have
//! entries, and all its terms are non-negative.

use rug::{Float, Rational, float::Round};

use super::{
    column::{Column, UNITS_OF_A_PART},
    key::Key,
    wide::Wide,
};

/// All sums of a loss of one column and a loss of another, in ascending order.
#[derive(Debug)]
pub(super) struct Half<K, const N: usize> {
    columns: [Column<K, N>; 2],
    entries: Vec<Entry<K>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry<K> {
    key: K,
    first: u32,
    second: u32,
}

/// One of the four numbers of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    /// The mass under P.
    P,
    /// The mass under Q.
    Q,
    /// exp(-l).
    Falling,
    /// exp(l).
    Rising,
}

impl<K: Key, const N: usize> Half<K, N> {
    pub(super) fn new(columns: [Column<K, N>; 2]) -> Self {
        let [a, b] = &columns;
        let mut entries = Vec::with_capacity(a.len() * b.len());
        for (key, first) in a.keys.iter().zip(0..) {
            entries.extend(b.keys.iter().zip(0..).map(|(other, second)| Entry {
                key: key.plus(*other),
                first,
                second,
            }));
        }
        if a.len() > 1 && b.len() > 1 {
            entries.sort_unstable();
        }
        Half { columns, entries }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    fn parts(&self) -> usize {
        self.columns.iter().map(|column| column.parts).sum()
    }

    fn bytes(&self) -> usize {
        self.columns.iter().map(Column::bytes).sum::<usize>() + self.len() * size_of::<Entry<K>>()
    }

    /// The product of the numbers of both columns: the units of both parts and one more.
    #[inline]
    fn weight(&self, entry: &Entry<K>, weight: Weight) -> Wide<N> {
        let pick = |column: &Column<K, N>, index: u32| {
            let list = match weight {
                Weight::P => &column.p,
                Weight::Q => &column.q,
                Weight::Falling => &column.falling,
                Weight::Rising => &column.rising,
            };
            list[index as usize]
        };
        pick(&self.columns[0], entry.first).mul(&pick(&self.columns[1], entry.second))
    }
}

/// Both halves.
#[derive(Debug)]
pub(super) struct Lists<K, const N: usize> {
    first: Half<K, N>,
    second: Half<K, N>,
    /// The step of the lattice on which all losses lie.
    h: Wide<N>,
    h_approx: f64,
    /// 1/2, 1/3, ...: as many as the series of 1 - exp(-x) needs.
    reciprocals: Vec<Wide<N>>,
}

/// A threshold x for exp(x - L): the losses reference + h (key + 1), ... are above it.
#[derive(Clone, Debug)]
pub(super) struct Threshold<K, const N: usize> {
    /// The largest key at or below the threshold.
    pub(super) key: K,
    /// By how much of a step the next key is above the threshold, in (0, 1].
    pub(super) rest: Wide<N>,
    /// exp(x - reference of all).
    pub(super) exp: Wide<N>,
}

/// A sum over pairs, and how many pairs it has.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairSum<const N: usize> {
    pub(super) sum: Wide<N>,
    pub(super) pairs: u64,
}

/// At most as many pairs are listed one by one.
pub(super) const LISTED: u64 = 2048;

/// Below 2^-CLOSE, 1 - exp(-x) is summed as a series; above it is one minus a product, which gains CLOSE bits of error.
const CLOSE: i32 = 30;

impl<K: Key, const N: usize> Lists<K, N> {
    pub(super) fn new(first: Half<K, N>, second: Half<K, N>, h: &Rational) -> Self {
        // The terms of 1 - exp(-x) = x (1 - x/2 (1 - x/3 (1 - ...))) fall by 2^-CLOSE each.
        let terms = 64 * N as u32 / CLOSE as u32 + 3;
        let reciprocal = |k: u32| Wide::rational(&Rational::from((1, k)));
        Lists {
            first,
            second,
            h: Wide::rational(h),
            h_approx: h.to_f64(),
            reciprocals: (2..=terms).map(reciprocal).collect(),
        }
    }

    /// How many entries the two lists have.
    pub(super) fn lengths(&self) -> (usize, usize) {
        (self.first.len(), self.second.len())
    }

    pub(super) fn bytes(&self) -> usize {
        self.first.bytes() + self.second.bytes()
    }

    /// The units that a weight of a pair carries: those of all parts, one for each of the products.
    fn units_of_a_pair(&self) -> f64 {
        ((self.first.parts() + self.second.parts()) * (UNITS_OF_A_PART + 1) + 8) as f64
    }

    /// The units of [`upper`](Self::upper) and [`lower`](Self::lower): those of a pair, and one for each addition in
    /// either list. As many additions of single pairs to such a sum as are ever [listed](LISTED) are paid for.
    pub(super) fn units_of_a_tail(&self) -> f64 {
        self.units_of_a_pair() + (self.first.len() + self.second.len()) as f64 + (2 * LISTED) as f64
    }

    /// The units of [`excess`](Self::excess). One minus a product of units k carries 2^(CLOSE + 3) k + 1, by the rule of
    /// [`Wide`] for 1 - y >= 2^-(CLOSE + 1); the product is of two exponentials of halves and one for the threshold. The
    /// suffix sums of the second list are added up twice. Twice that pays for the other factors of a term.
    pub(super) fn units_of_an_excess(&self) -> f64 {
        let pair = self.units_of_a_pair();
        (pair + 8.0) * f64::from(CLOSE + 4).exp2() + (self.first.len() + 2 * self.second.len()) as f64
    }

    /// The sum over all pairs at or above a key.
    pub(super) fn upper(&self, threshold: K, weight: Weight) -> PairSum<N> {
        let (mut suffix, mut sum, mut pairs) = (Wide::ZERO, Wide::ZERO, 0);
        let mut place = self.second.len();
        for a in &self.first.entries {
            let least = threshold.minus(a.key);
            while place > 0 && self.second.entries[place - 1].key >= least {
                place -= 1;
                suffix = suffix.add(&self.second.weight(&self.second.entries[place], weight));
            }
            if place < self.second.len() {
                sum = sum.add(&self.first.weight(a, weight).mul(&suffix));
                pairs += (self.second.len() - place) as u64;
            }
        }
        PairSum { sum, pairs }
    }

    /// The sum over all pairs below a key.
    pub(super) fn lower(&self, threshold: K, weight: Weight) -> PairSum<N> {
        let (mut prefix, mut sum, mut pairs) = (Wide::ZERO, Wide::ZERO, 0);
        let mut place = 0;
        for a in self.first.entries.iter().rev() {
            let least = threshold.minus(a.key);
            while place < self.second.len() && self.second.entries[place].key < least {
                prefix = prefix.add(&self.second.weight(&self.second.entries[place], weight));
                place += 1;
            }
            if place > 0 {
                sum = sum.add(&self.first.weight(a, weight).mul(&prefix));
                pairs += place as u64;
            }
        }
        PairSum { sum, pairs }
    }

    /// The sum of P-masses times 1 - exp(x - l) over all pairs l above a threshold x.
    ///
    /// With b_j the losses of the second list, `D(y) = sum over b > y of p(b) (1 - exp(y - b))` and
    /// `B_j = sum over k >= j of p(b_k) exp(b_j - b_k)`: for b_(j - 1) <= y < b_j
    ///
    /// D(y) = D(b_j) + B_j (1 - exp(-(b_j - y))),
    ///
    /// which is also the step from b_j to b_(j - 1): nothing is subtracted but exponentials from one.
    pub(super) fn excess(&self, threshold: &Threshold<K, N>) -> Wide<N> {
        let second = &self.second;
        let whole = Wide::one();
        // D(b_j), the sum of q from b_j on, B_j, b_j itself and exp(-b_j): of the last b_j that is above a threshold.
        let (mut excess, mut suffix, mut discounted) = (Wide::ZERO, Wide::ZERO, Wide::ZERO);
        let mut last: Option<(K, Wide<N>)> = None;
        let mut place = second.len();
        let mut sum = Wide::ZERO;
        for a in &self.first.entries {
            // b is counted where a + b > key.
            let least = threshold.key.minus(a.key);
            while place > 0 && second.entries[place - 1].key > least {
                place -= 1;
                let b = &second.entries[place];
                let rising = second.weight(b, Weight::Rising);
                if let Some((key, falling)) = last {
                    let gap = self.one_minus_exp(key.minus(b.key), None, || falling.mul(&rising));
                    excess = excess.add(&discounted.mul(&gap));
                }
                suffix = suffix.add(&second.weight(b, Weight::Q));
                discounted = suffix.mul(&rising);
                last = Some((b.key, second.weight(b, Weight::Falling)));
            }
            let Some((key, falling)) = last else { continue };
            let steps = key.minus(least);
            let rest = if threshold.rest == whole { None } else { Some(&threshold.rest) };
            let gap = self
                .one_minus_exp(steps, rest, || falling.mul(&self.first.weight(a, Weight::Falling)).mul(&threshold.exp));
            let above = excess.add(&discounted.mul(&gap));
            sum = sum.add(&self.first.weight(a, Weight::P).mul(&above));
        }
        sum
    }

    /// 1 - exp(-x) for x = h steps, or x = h (steps - 1 + rest), given a way to find exp(-x).
    #[inline]
    fn one_minus_exp(&self, steps: K, rest: Option<&Wide<N>>, exp: impl FnOnce() -> Wide<N>) -> Wide<N> {
        if steps == K::zero() {
            return Wide::ZERO;
        }
        // At least 2^-CLOSE: the last factor pays for the roundings of doubles. Then 1 - exp(-x) >= x / 2 for x <= 1.
        let at_least = self.h_approx * if rest.is_some() { steps.approximate() - 1.0 } else { steps.approximate() };
        if at_least > f64::from(-CLOSE).exp2() * 1.001 {
            return exp().one_minus();
        }
        let steps = match rest {
            None => steps.wide(),
            Some(rest) => steps.minus(K::one()).wide().add(rest),
        };
        let x = steps.mul(&self.h);
        // A threshold just below a step of more than 2^-CLOSE: the same, found from the rest.
        if x.log2() > f64::from(-CLOSE) + 0.001 {
            return exp().one_minus();
        }
        // What the series leaves out is below its first term that is missing, a relative 2^-(CLOSE terms). Each y that is
        // subtracted from one is below 2^-CLOSE, so its own units shrink by that: every inner factor carries two at most.
        let one = Wide::one();
        let inner =
            self.reciprocals.iter().rev().fold(one, |inner, reciprocal| x.mul(reciprocal).mul(&inner).one_minus());
        x.mul(&inner)
    }

    /// The smallest and the largest key of a pair.
    pub(super) fn ends(&self) -> (K, K) {
        let end = |pick: fn(&[Entry<K>]) -> Option<&Entry<K>>| {
            let key = |half: &Half<K, N>| pick(&half.entries).map_or(K::zero(), |entry| entry.key);
            key(&self.first).plus(key(&self.second))
        };
        (end(<[_]>::first), end(<[_]>::last))
    }

    /// The keys from `low` to below `high`, ascending, each with the Q-mass of its pairs.
    pub(super) fn between(&self, low: K, high: K) -> Vec<(K, Wide<N>)> {
        let second = &self.second.entries;
        let mut found = Vec::new();
        let mut place = second.len();
        for a in &self.first.entries {
            let (least, beyond) = (low.minus(a.key), high.minus(a.key));
            while place > 0 && second[place - 1].key >= least {
                place -= 1;
            }
            for b in second[place..].iter().take_while(|b| b.key < beyond) {
                let mass = self.first.weight(a, Weight::Q).mul(&self.second.weight(b, Weight::Q));
                found.push((a.key.plus(b.key), mass));
            }
        }
        found.sort_unstable_by_key(|&(key, _)| key);
        found.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 = kept.1.add(&next.1);
            }
            same
        });
        found
    }
}

impl<K: Key, const N: usize> Threshold<K, N> {
    /// The threshold x of a sum whose losses are reference + h key.
    pub(super) fn new(x: &Rational, reference: &Rational, h: &Rational) -> Self {
        let distance = Rational::from(x - reference);
        let steps = Rational::from(&distance / h);
        let floor = steps.clone().floor().into_numer_denom().0;
        // Exponents beyond this range leave no pair above, or none that is near the threshold.
        let bits = 64 * N as u32 + 64;
        let size = distance.to_f64().abs().max(1.0).log2().clamp(0.0, 2000.0) as u32 + 8;
        let exp = Float::with_val_round(bits, Float::with_val(bits + size, &distance).exp_ref(), Round::Down).0;
        Threshold {
            key: K::threshold(&floor),
            rest: Wide::rational(&(Rational::from(&floor + 1_u32) - steps)),
            exp: Wide::float(&exp),
        }
    }
}
