//! Two sorted lists of losses, one for each half of the groups, and sums over all pairs in one pass.
//!
//! Every pass runs over the first list in order, while the place in the second list that meets the threshold moves the other way; the partial sum
//! over the second list grows with it. So a pass takes as many steps as both lists have entries, and all its terms are non-negative.

use std::sync::OnceLock;

use rug::{Float, Rational, float::Round, integer::Order};

use super::{
    column::{Column, UNITS_OF_A_PART},
    key::Key,
    wide::Wide,
};
use crate::numeric::parallel;

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
    /// 1/2, 1/3, ...: enough of them for the series of 1 - exp(-x).
    reciprocals: Vec<Wide<N>>,
    /// The partial sums over the second list from a few places on.
    marks: OnceLock<Vec<Above<K, N>>>,
}

/// A threshold x for exp(x - L): the losses reference + h (key + 1), ... are above it.
#[derive(Clone, Debug)]
pub(super) struct Threshold<K, const N: usize> {
    /// The largest key at or below the threshold, among sums of two keys: it orders them, and is the threshold itself unless [`moved`](Self::moved).
    pub(super) key: K,
    /// The number of steps by which the threshold is below that key; `None` where it is not. A sum s of two keys is s - key + moved steps above it.
    moved: Option<Wide<N>>,
    /// The fraction of a step by which the next key is above the threshold, in (0, 1].
    pub(super) rest: Wide<N>,
    /// exp(x - reference of all).
    pub(super) exp: Wide<N>,
}

/// A distance of h (steps + moved), or of h (steps - 1 + moved + rest).
#[derive(Clone, Copy)]
struct Steps<'a, K, const N: usize> {
    steps: K,
    moved: Option<&'a Wide<N>>,
    rest: Option<&'a Wide<N>>,
}

/// The partial sums over the second list from a place j on, in the notation of [`Lists::excess`].
#[derive(Clone, Copy, Debug)]
struct Above<K, const N: usize> {
    place: usize,
    /// D(b_j).
    excess: Wide<N>,
    /// The sum of the masses under Q.
    suffix: Wide<N>,
    /// B_j.
    discounted: Wide<N>,
    /// b_j and exp(-b_j); `None` at the end of the list.
    last: Option<(K, Wide<N>)>,
}

impl<K, const N: usize> Above<K, N> {
    fn none(place: usize) -> Self {
        Above { place, excess: Wide::ZERO, suffix: Wide::ZERO, discounted: Wide::ZERO, last: None }
    }
}

/// A sum over pairs, and the number of pairs.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairSum<const N: usize> {
    pub(super) sum: Wide<N>,
    pub(super) pairs: u64,
}

/// Two lists with this number of entries together are processed in parts, the same on every machine: between `MARKS` places of the second list, and
/// of at most `MOST_OF_A_PART` entries of the first.
const LONG: usize = 1 << 15;
const MARKS: usize = 16;
const MOST_OF_A_PART: usize = 1 << 17;

/// At most this many pairs are enumerated in the last step of a search.
pub(super) const LISTED: u64 = 2048;

/// Below 2^-CLOSE, 1 - exp(-x) is summed as a series; above it is 1 minus a product, which gains CLOSE bits of error.
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
            marks: OnceLock::new(),
        }
    }

    /// The number of entries of the two lists.
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

    /// The units of [`upper`](Self::upper) and [`lower`](Self::lower): those of a pair, and one for each addition in either list. This also covers as
    /// many additions of single pairs to such a sum as are ever [enumerated](LISTED).
    pub(super) fn units_of_a_tail(&self) -> f64 {
        self.units_of_a_pair() + (self.first.len() + self.second.len()) as f64 + (2 * LISTED) as f64
    }

    /// The units of [`excess`](Self::excess). The complement of a product of units k carries 2^(CLOSE + 3) k + 1, by the rule of [`Wide`] for 1 - y >=
    /// 2^-(CLOSE + 1); the product is of two exponentials of halves and one for the threshold. The suffix sums of the second list are added up twice.
    /// Twice that covers the other factors of a term.
    pub(super) fn units_of_an_excess(&self) -> f64 {
        let pair = self.units_of_a_pair();
        (pair + 8.0) * libm::exp2(f64::from(CLOSE + 4)) + (self.first.len() + 2 * self.second.len()) as f64
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
    ///
    /// Neither sum depends on the threshold: those of a few places are kept, and the parts of long lists between them are processed in parallel.
    pub(super) fn excess(&self, threshold: &Threshold<K, N>) -> Wide<N> {
        let (first, second) = (&self.first.entries, &self.second.entries);
        if first.len() + second.len() < LONG {
            return self.excess_of(threshold, first, &Above::none(second.len()));
        }
        let marks = self.marks.get_or_init(|| self.marks());
        // The first that counts b_(j - 1), the last one below a place j.
        let begin = |mark: &Above<K, N>| match mark.place.checked_sub(1) {
            Some(below) => first.partition_point(|a| a.key <= threshold.key.minus(second[below].key)),
            None => first.len(),
        };
        let mut parts: Vec<(&[Entry<K>], &Above<K, N>)> = Vec::new();
        for (at, mark) in marks.iter().enumerate() {
            let end = marks.get(at + 1).map_or(first.len(), begin);
            let part = first.get(begin(mark)..end).unwrap_or_default();
            parts.extend(part.chunks(MOST_OF_A_PART).map(|some| (some, mark)));
        }
        let sums = parallel::map(&parts, |(some, mark)| self.excess_of(threshold, some, mark));
        sums.iter().fold(Wide::ZERO, |sum, part| sum.add(part))
    }

    /// The partial sums over the second list from some places on, from its end down.
    fn marks(&self) -> Vec<Above<K, N>> {
        let mut above = Above::none(self.second.len());
        let mut marks = vec![above];
        for mark in (1..MARKS).rev() {
            while above.place > self.second.len() * mark / MARKS {
                self.advance(&mut above);
            }
            marks.push(above);
        }
        marks
    }

    /// Counts one more of the second list.
    #[inline(always)]
    fn advance(&self, above: &mut Above<K, N>) {
        let second = &self.second;
        above.place -= 1;
        let b = &second.entries[above.place];
        let rising = second.weight(b, Weight::Rising);
        if let Some((key, falling)) = &above.last {
            let gap =
                self.one_minus_exp(Steps { steps: key.minus(b.key), moved: None, rest: None }, || falling.mul(&rising));
            above.excess = above.excess.add(&above.discounted.mul(&gap));
        }
        above.suffix = above.suffix.add(&second.weight(b, Weight::Q));
        above.discounted = above.suffix.mul(&rising);
        above.last = Some((b.key, second.weight(b, Weight::Falling)));
    }

    /// The same sum over some of the first list, given the sums of a place above that of the first of them.
    fn excess_of(&self, threshold: &Threshold<K, N>, some: &[Entry<K>], above: &Above<K, N>) -> Wide<N> {
        let rest = if threshold.rest == Wide::one() { None } else { Some(&threshold.rest) };
        let mut above = *above;
        let mut sum = Wide::ZERO;
        for a in some {
            // b is counted where a + b > key.
            let least = threshold.key.minus(a.key);
            while above.place > 0 && self.second.entries[above.place - 1].key > least {
                self.advance(&mut above);
            }
            let Some((key, falling)) = &above.last else { continue };
            let steps = Steps { steps: key.minus(least), moved: threshold.moved.as_ref(), rest };
            let gap =
                self.one_minus_exp(steps, || falling.mul(&self.first.weight(a, Weight::Falling)).mul(&threshold.exp));
            let each = above.excess.add(&above.discounted.mul(&gap));
            sum = sum.add(&self.first.weight(a, Weight::P).mul(&each));
        }
        sum
    }

    /// 1 - exp(-x) for a distance x, given a way to find exp(-x).
    #[inline]
    fn one_minus_exp(&self, distance: Steps<K, N>, exp: impl FnOnce() -> Wide<N>) -> Wide<N> {
        let Steps { steps, moved, rest } = distance;
        if steps == K::zero() && moved.is_none() {
            return Wide::ZERO;
        }
        // Here x >= 2^-CLOSE, as the factor 1.001 covers the rounding errors of doubles. And 1 - exp(-x) >= x / 2 for x <= 1.
        let whole = if rest.is_some() { steps.approximate() - 1.0 } else { steps.approximate() };
        let far = moved.map_or(0.0, |moved| libm::exp2(moved.log2()));
        if self.h_approx * (whole + far) > libm::exp2(f64::from(-CLOSE)) * 1.001 {
            return exp().one_minus();
        }
        let steps = match rest {
            None => steps.wide(),
            Some(rest) => steps.minus(K::one()).wide().add(rest),
        };
        let steps = moved.map_or(steps, |moved| steps.add(moved));
        let x = steps.mul(&self.h);
        // A threshold just below a step of more than 2^-CLOSE: the same, found from `rest`.
        if x.log2() > f64::from(-CLOSE) + 0.001 {
            return exp().one_minus();
        }
        // The truncation error of the series is below its first omitted term, a relative 2^-(CLOSE terms). Each y that is subtracted from one is
        // below 2^-CLOSE, so its own units shrink by that: every inner factor carries two at most.
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
        // All sums of two keys lie within MOST_NATS_OF_ALL nats of the reference (`Parts::table`). So no pair is above a threshold whose exponential is
        // beyond MPFR's range, and above one whose exponential underflows to zero every 1 - exp(x - l) is one to all bits of the mantissa.
        let bits = 64 * N as u32 + 64;
        let size = libm::log2(distance.to_f64().abs().max(1.0)).clamp(0.0, 2000.0) as u32 + 8;
        let exp = Float::with_val_round(bits, Float::with_val(bits + size, &distance).exp_ref(), Round::Down).0;
        let placed = K::place(&floor);
        // Moved down, where no pair is above the threshold, the key leaves none above it either: no distance is measured from there.
        let moved = (placed.moved > 0).then(|| Wide::from_words(&placed.moved.to_digits::<u64>(Order::Lsf), 0));
        Threshold {
            key: placed.key,
            moved,
            rest: Wide::rational(&(Rational::from(&floor + 1_u32) - steps)),
            exp: Wide::float(&exp),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    fn column(keys: impl Iterator<Item = i64>, h: f64) -> Column<i64, 2> {
        let keys: Vec<i64> = keys.collect();
        let exp = |sign: f64| {
            let of = |key: &i64| Wide::float(&Float::with_val(200, Float::with_val(200, sign * h) * *key).exp());
            keys.iter().map(of).collect::<Vec<_>>()
        };
        let p: Vec<Wide<2>> = keys.iter().map(|key| Wide::word(key.unsigned_abs() * 7919 % 97 + 1)).collect();
        let (falling, rising) = (exp(-1.0), exp(1.0));
        let q = p.iter().zip(&falling).map(|(p, falling)| p.mul(falling)).collect();
        Column { keys, p, q, falling, rising, parts: 1 }
    }

    /// Long lists of either length, against a single pass over both: the threshold below all losses, among them and above all.
    #[test]
    fn parts_add_up_to_the_whole() {
        let h = 0.25_f64.powi(6);
        let long = || [column((0..300).map(|at| 501 * at), h), column((0..200).map(|at| at * at % 1009), h)];
        let short = || [column((0..30).map(|at| 333 * at), h), column((0..3).map(|at| 5 * at), h)];
        for (first, second) in [(long(), long()), (long(), short()), (short(), long())] {
            let exact = Rational::from_f64(h).unwrap();
            let lists = Lists::new(Half::new(first), Half::new(second), &exact);
            assert!(lists.first.len() + lists.second.len() >= LONG);
            let (mut zero, mut above) = (0, 0);
            for x in ["-100000", "-3.7", "0.1", "20", "36.62109375", "61.7", "73", "100", "100000"] {
                let threshold = Threshold::new(&parse(x).unwrap(), &Rational::new(), &exact);
                let parts = lists.excess(&threshold);
                let none = Above::none(lists.second.len());
                let whole = lists.excess_of(&threshold, &lists.first.entries, &none);
                assert_eq!(parts.is_zero(), whole.is_zero(), "{x}");
                assert!(parts.enclosure(1e6).overlaps(&whole.enclosure(1e6)), "{x}: {parts:?} {whole:?}");
                (zero, above) = (zero + u32::from(whole.is_zero()), above + u32::from(!whole.is_zero()));
            }
            assert!(zero > 0 && above > 3, "{zero} {above}");
        }
    }
}
