//! Tallies of draws, of fixed size: a histogram, products of pairs, and both for a stream in its order.

use super::{declared::Declared, repeats::Repeats};

/// The numbers of draws with each value.
#[derive(Clone, Debug)]
pub struct Tally {
    reach: i64,
    counts: Vec<u64>,
    /// Values below -reach and above reach.
    beyond: [u64; 2],
    draws: u64,
    /// The largest magnitude, if there is a draw.
    largest: Option<u64>,
}

impl Tally {
    /// No draws, of magnitudes up to `reach` one by one.
    pub fn new(reach: i64) -> Tally {
        let values = 2 * reach.max(0) as usize + 1;
        Tally { reach, counts: vec![0; values], beyond: [0; 2], draws: 0, largest: None }
    }

    /// Adds a draw.
    #[inline]
    pub fn add(&mut self, x: i64) {
        self.add_many(x, 1);
    }

    /// Adds a number of draws of one value.
    #[inline]
    pub fn add_many(&mut self, x: i64, many: u64) {
        if many == 0 {
            return;
        }
        match self.counts.get_mut(x.wrapping_add(self.reach) as usize) {
            Some(count) => *count += many,
            None => self.beyond[usize::from(x > 0)] += many,
        }
        self.draws += many;
        self.largest = self.largest.max(Some(x.unsigned_abs()));
    }

    /// Adds the draws of another tally of the same reach.
    pub fn join(&mut self, other: &Tally) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(own, other)| *own += other);
        self.beyond[0] += other.beyond[0];
        self.beyond[1] += other.beyond[1];
        self.draws += other.draws;
        self.largest = self.largest.max(other.largest);
    }

    /// The number of draws.
    pub fn draws(&self) -> u64 {
        self.draws
    }

    /// The number of draws beyond the reach, and the reach.
    pub fn beyond(&self) -> (u64, i64) {
        (self.beyond[0] + self.beyond[1], self.reach)
    }

    /// The largest magnitude; 0 without draws.
    pub fn largest(&self) -> u64 {
        self.largest.unwrap_or(0)
    }

    /// The largest magnitude that is counted by value.
    pub fn reach(&self) -> i64 {
        self.reach
    }

    /// The number of draws of a value up to the reach.
    pub fn count(&self, x: i64) -> u64 {
        self.counts.get(x.wrapping_add(self.reach) as usize).copied().unwrap_or(0)
    }

    /// The number of draws from `from` to `to`, of those up to the reach.
    pub fn between(&self, from: i64, to: i64) -> u64 {
        let place = |x: i64| (x.clamp(-self.reach - 1, self.reach) + self.reach + 1) as usize;
        let (start, end) = (place(from - 1), place(to));
        self.counts.get(start..end).map_or(0, |counts| counts.iter().sum())
    }

    /// The number of draws with x >= m, or x <= -m, for m > 0.
    pub fn side(&self, m: i64, is_positive: bool) -> u64 {
        let within = if is_positive { self.between(m, self.reach) } else { self.between(-self.reach, -m) };
        within + self.beyond[usize::from(is_positive)]
    }

    /// The number of draws of magnitude at least m, for m > 0.
    pub fn at_least(&self, m: i64) -> u64 {
        self.side(m, true) + self.side(m, false)
    }

    /// The number of even draws up to the reach.
    pub fn even(&self) -> u64 {
        let first = (self.reach & 1) as usize;
        self.counts.iter().skip(first).step_by(2).sum()
    }

    /// Mean, variance, skewness and kurtosis (3 for a normal law) of the draws up to the reach: approximations.
    pub fn moments_approx(&self) -> [f64; 4] {
        let n = self.counts.iter().sum::<u64>().max(1) as f64;
        let values = (-self.reach..=self.reach).zip(&self.counts);
        let power = |about: f64, k: i32| {
            values.clone().map(|(x, many)| (x as f64 - about).powi(k) * *many as f64).sum::<f64>() / n
        };
        let mean = power(0.0, 1);
        let variance = power(mean, 2);
        [mean, variance, power(mean, 3) / libm::pow(variance, 1.5), power(mean, 4) / variance.powi(2)]
    }
}

/// Sums over pairs of draws (x, y): whether their signs agree, and their products.
///
/// Under a symmetric law the sign of a draw is a fair coin that is independent of its magnitude and of all other draws. If no
/// chain of pairs closes, the signs of the products are independent fair coins as well, given all magnitudes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pairs {
    pairs: u64,
    /// Pairs without a zero, and those of them with equal signs.
    signed: u64,
    agree: u64,
    products: i128,
    squares: u128,
}

impl Pairs {
    /// Larger magnitudes count as this one, so that the sums cannot overflow; the sign of a product is the same.
    const MOST: i64 = 1 << 20;

    /// Adds a pair.
    #[inline]
    pub fn add(&mut self, x: i64, y: i64) {
        self.pairs += 1;
        let (x, y) = (x.clamp(-Self::MOST, Self::MOST), y.clamp(-Self::MOST, Self::MOST));
        let product = x * y;
        self.signed += u64::from(product != 0);
        self.agree += u64::from(product > 0);
        self.products += i128::from(product);
        // At most 2^80, and 2^47 of them fit.
        self.squares += u128::from(product.unsigned_abs()).pow(2);
    }

    /// Adds the pairs of another sum.
    pub fn join(&mut self, other: &Pairs) {
        self.pairs += other.pairs;
        self.signed += other.signed;
        self.agree += other.agree;
        self.products += other.products;
        self.squares += other.squares;
    }

    /// The number of pairs.
    pub fn pairs(&self) -> u64 {
        self.pairs
    }

    /// The pairs without a zero, and those of them with equal signs.
    pub fn signs(&self) -> (u64, u64) {
        (self.signed, self.agree)
    }

    /// The sum of the products, and that of their squares.
    pub fn sums(&self) -> (i128, u128) {
        (self.products, self.squares)
    }

    /// The sum of products in standard deviations of fair signs: an approximation.
    pub fn z_approx(&self) -> f64 {
        if self.squares == 0 { 0.0 } else { self.products as f64 / (self.squares as f64).sqrt() }
    }
}

/// Pairs of magnitudes: how often both or neither reach a threshold. Pairs are disjoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Magnitudes {
    /// The threshold.
    pub threshold: u64,
    /// The number of pairs, and of those that agree.
    pub pairs: u64,
    /// Pairs of which both or neither reach the threshold.
    pub agree: u64,
}

/// Draws in the order of a file or a program: a histogram, pairs of neighbors, and repeated stretches.
#[derive(Debug)]
pub struct Stream {
    /// The histogram.
    pub tally: Tally,
    /// Each draw with the one before it, the second before it, and so on.
    pub lags: [Pairs; LAGS],
    /// The magnitudes of disjoint pairs of neighbors.
    pub magnitudes: Magnitudes,
    /// Repeated stretches.
    pub repeats: Repeats,
    last: [i64; LAGS],
}

/// The number of lags at which draws are compared: copies of shorter stretches than [`Repeats`] finds are this close.
pub const LAGS: usize = 48;

impl Stream {
    /// No draws of this law. `key` selects the hash of stretches.
    pub fn new(law: &Declared, key: [u64; 2]) -> Stream {
        let threshold = middle(law);
        Stream {
            tally: Tally::new(law.reach()),
            lags: [Pairs::default(); LAGS],
            magnitudes: Magnitudes { threshold, ..Magnitudes::default() },
            repeats: Repeats::new(law, key),
            last: [0; LAGS],
        }
    }

    /// Adds the next draw.
    pub fn add(&mut self, x: i64) {
        let before = self.tally.draws();
        for (lag, pairs) in self.lags.iter_mut().enumerate() {
            if before > lag as u64 {
                pairs.add(x, self.last[(before as usize - 1 - lag) % LAGS]);
            }
        }
        if before % 2 == 1 {
            let reaches = |x: i64| x.unsigned_abs() >= self.magnitudes.threshold;
            self.magnitudes.agree += u64::from(reaches(x) == reaches(self.last[(before as usize - 1) % LAGS]));
            self.magnitudes.pairs += 1;
        }
        self.last[before as usize % LAGS] = x;
        self.repeats.add(x);
        self.tally.add(x);
    }
}

/// The magnitude that is reached with a probability close to one half.
fn middle(law: &Declared) -> u64 {
    let off = |m: &i64| (law.tail_approx(*m) - 0.5).abs();
    (1..=law.reach().max(1)).min_by(|a, b| off(a).total_cmp(&off(b))).map_or(1, i64::unsigned_abs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tallies_count_by_value_and_beyond() {
        let mut tally = Tally::new(3);
        for x in [0, 1, -1, 3, -3, 4, -9, i64::MIN, i64::MAX, 2] {
            tally.add(x);
        }
        assert_eq!((tally.draws(), tally.largest()), (10, 1 << 63));
        assert_eq!((tally.count(3), tally.count(-2), tally.count(4)), (1, 0, 0));
        assert_eq!((tally.between(-1, 1), tally.between(-50, 50), tally.between(2, 1)), (3, 6, 0));
        assert_eq!((tally.side(3, true), tally.side(3, false), tally.at_least(1)), (3, 3, 9));
        assert_eq!(tally.even(), 2);
        let mut twice = tally.clone();
        twice.join(&tally);
        assert_eq!((twice.at_least(1), twice.draws()), (18, 20));
        let mut two = Tally::new(2);
        [-2, 0, 2, 1].into_iter().for_each(|x| two.add(x));
        assert_eq!((two.even(), two.moments_approx()[0]), (3, 0.25));
    }

    #[test]
    fn pairs_are_exact_sums() {
        let mut pairs = Pairs::default();
        for (x, y) in [(3, -2), (0, 5), (4, 4), (i64::MIN, 1)] {
            pairs.add(x, y);
        }
        let most = i128::from(Pairs::MOST);
        assert_eq!((pairs.pairs(), pairs.signs()), (4, (3, 1)));
        assert_eq!(pairs.sums(), (-6 + 16 - most, 36 + 256 + (most * most).unsigned_abs()));
    }
}
