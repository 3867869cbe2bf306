//! Exact sampling by inversion: a table determines most samples from one random word, and further words refine the others.
//!
//! # Why the law is exact
//!
//! Let G(m) = `P[M > m]` and let V be uniform on [0, 1), its binary digits drawn one word after the other. The magnitude
//! returned is M = min { m : V >= G(m) }, so `P[M > m] = P[V < G(m)] = G(m)`: exactly the law. It remains to show that
//! the procedure, which gets V word by word, returns this M.
//!
//! After b digits v is the integer with v <= 2^b V < v + 1. For t(m) = floor(2^b G(m)):
//!
//! - v > t(m) gives 2^b V >= v >= t(m) + 1 > 2^b G(m), so V >= G(m) and M <= m;
//! - v < t(m) gives 2^b V < v + 1 <= t(m) <= 2^b G(m), so V < G(m) and M > m;
//! - v = t(m) decides nothing, and more digits are drawn.
//!
//! So a value is returned only if it is correct for every continuation of the digits. The floors are proven: both ends of an
//! enclosure of 2^b G(m) have the same floor. The table has the floors for one and two words; for more, the tails are
//! enclosed again to as many bits as were drawn, and v is compared with the ends of the enclosures, which is the same
//! argument without floors. An enclosure that shrinks to the point G(m) excludes V unless V = G(m) for one
//! of countably many m, which has probability zero: the procedure ends with probability one, and it needs a third word
//! about once in 2^(2 w) / (number of entries) draws.
//!
//! The sign is the first digit of the first word, independent of V.
//!
//! # Why it is fast
//!
//! A guide, indexed by the leading digits of the first word, holds the answer: for most cells the magnitude itself, for a cell that
//! is cut once the cut and the magnitude above it. A comparison without a branch decides; cells that are cut more than
//! once, far in the tail, are searched.

use rug::Integer;

use super::folded::{FoldedLaw, TailBounds};
use crate::error::{Error, Result};

/// Marks an entry of the guide whose cell is cut more than once.
const CUT_TWICE: u32 = 1 << 31;
/// The largest number of times that the precision is doubled while a floor is not proven.
const MOST_DOUBLINGS: u32 = 8;

/// The inversion table of a law of magnitudes.
#[derive(Debug)]
pub(super) struct InversionTable {
    law: FoldedLaw,
    /// Digits in a word: 32, or fewer if a test enumerates all words.
    word: u32,
    guide: Vec<Cell>,
    /// The shift from the digits of the first word, without the sign, to the index in the guide.
    shift: u32,
    /// floor(2^(2 word - 1) G(m)) for m = 0, 1, ... until it is zero.
    floors: Vec<u64>,
}

/// The magnitude is `above` for first words above `cut`, one more for words below it, and undecided at the cut.
#[derive(Clone, Copy, Debug)]
struct Cell {
    cut: u32,
    above: u32,
}

impl InversionTable {
    /// The table of `law` for words of `word` digits (2 to 32), with a guide of 2^`guide` cells (less than 2^`word`).
    pub(super) fn new(law: FoldedLaw, word: u32, guide: u32) -> Result<Self> {
        let floors = floors(&law, 2 * word - 1)?;
        let shift = word - 1 - guide.min(word - 1);
        let mut table = InversionTable { law, word, guide: Vec::new(), shift, floors };
        table.guide = table.cells();
        Ok(table)
    }

    /// Digits in a word.
    pub(super) fn word_bits(&self) -> u32 {
        self.word
    }

    /// The sign of a sample, true for negative, and the remaining digits of its first word.
    #[inline]
    pub(super) fn sign_and_digits(&self, word: u32) -> (bool, u32) {
        let sign = 1 << (self.word - 1);
        (word & sign != 0, word & (sign - 1))
    }

    /// For every cell of first words [first, last] the cuts floor(2^(word - 1) G(m)) in it. They do not increase with m.
    fn cells(&self) -> Vec<Cell> {
        let cut = |m: usize| self.floors.get(m).map_or(0, |floor| (floor >> self.word) as u32);
        // From the last cell, the largest V, down; `m` is the first magnitude whose cut is not above the cell.
        let mut m = 0;
        let mut cells: Vec<Cell> = (0..1_u32 << (self.word - 1 - self.shift))
            .rev()
            .map(|index| {
                let first = index << self.shift;
                let above = m as u32;
                while m < self.floors.len() && cut(m) >= first {
                    m += 1;
                }
                match m as u32 - above {
                    // No word is below a cut at zero, and this cell does not contain zero: the last entry cuts it.
                    0 => Cell { cut: 0, above },
                    1 => Cell { cut: cut(above as usize), above },
                    _ => Cell { cut: 0, above: above | CUT_TWICE },
                }
            })
            .collect();
        cells.reverse();
        cells
    }

    /// The magnitude of a first word without its sign, and whether it is decided; branch-free.
    #[inline]
    pub(super) fn look_up(&self, digits: u32) -> (u32, bool) {
        let cell = self.guide[(digits >> self.shift) as usize];
        let magnitude = cell.above.wrapping_add(u32::from(digits < cell.cut));
        (magnitude, (digits != cell.cut) & (cell.above < CUT_TWICE))
    }

    /// The magnitude of an undecided first word without its sign, with further words from `more`.
    #[cold]
    #[inline(never)]
    pub(super) fn resolve(&self, digits: u32, more: &mut dyn FnMut() -> u32) -> u64 {
        let cell = (digits >> self.shift) as usize;
        let digits = u64::from(digits) << self.word | u64::from(more());
        // Floors before that of the magnitude above the cell are above it, and those from the cell below it on are not:
        // a search between them gives the same result as one among all floors.
        let before = |index: usize| (self.guide[index].above & !CUT_TWICE) as usize;
        let (first, last) = (before(cell), cell.checked_sub(1).map_or(self.floors.len(), before));
        let magnitude = first + self.floors[first..last].partition_point(|&floor| floor > digits);
        if self.floors.get(magnitude).is_some_and(|&floor| floor < digits) {
            return magnitude as u64;
        }
        self.refine(digits, more)
    }

    /// The magnitude of two undecided words, with further words from `more`.
    fn refine(&self, digits: u64, more: &mut dyn FnMut() -> u32) -> u64 {
        let (mut digits, mut count) = (Integer::from(digits), 2 * self.word - 1);
        loop {
            digits = (digits << self.word) | more();
            count += self.word;
            if let Some(magnitude) = settled(&digits, count, &self.law.tails(count)) {
                return magnitude;
            }
        }
    }

    /// The number of the 2^(2 word - 1) values of two words that are decided for a magnitude above m, for tests of tails.
    #[cfg(test)]
    pub(super) fn settled_above(&self, m: usize) -> u64 {
        self.floors.get(m).copied().unwrap_or(0)
    }
}

/// The magnitude that the tails prove for every V with the given leading binary digits; `None` if they do not.
fn settled(digits: &Integer, count: u32, tails: &TailBounds) -> Option<u64> {
    let shift = tails.bits - count;
    let (least, most) = (Integer::from(digits << shift), Integer::from(digits + 1_u32) << shift);
    let magnitude = tails.upper.partition_point(|upper| *upper > least);
    // V >= G(magnitude), and V < G(magnitude - 1).
    let below = magnitude == 0 || tails.lower[magnitude - 1] >= most;
    (magnitude < tails.upper.len() && below).then_some(magnitude as u64)
}

/// floor(2^digits G(m)) for m = 0, 1, ... until it is zero, each proven.
fn floors(law: &FoldedLaw, digits: u32) -> Result<Vec<u64>> {
    for doubling in 0..MOST_DOUBLINGS {
        let tails = law.tails(digits << doubling);
        let shift = tails.bits - digits;
        let floor = |end: &Integer| Integer::from(end >> shift).to_u64();
        let mut floors = Vec::new();
        for (lower, upper) in tails.lower.iter().zip(&tails.upper) {
            match (floor(lower), floor(upper)) {
                (Some(least), Some(most)) if least == most => floors.push(least),
                _ => break,
            }
            if floors.last() == Some(&0) {
                return Ok(floors);
            }
        }
    }
    // Only if some P[M > m] is within 2^-8000 of a multiple of 2^-63.
    Err(Error::undecided("a tail of the noise", format!("{law:?}"), "it must not be a multiple of 2^-63"))
}

#[cfg(test)]
mod tests {
    use rug::Rational;

    use super::super::DiscreteGaussian;
    use super::*;
    use crate::{loss::law::Law, numeric::rational::parse};

    fn gaussian(sigma2: &str, word: u32, guide: u32) -> (DiscreteGaussian, InversionTable) {
        let sigma2 = parse(sigma2).unwrap();
        let law = FoldedLaw::of_law(&Law::DiscreteGaussian { sigma2: sigma2.clone() }).unwrap();
        (DiscreteGaussian::new(sigma2).unwrap(), InversionTable::new(law, word, guide).unwrap())
    }

    /// A sample from a first word and the following ones, as in a sampler.
    fn draw(table: &InversionTable, digits: u32, more: &mut dyn FnMut() -> u32) -> u64 {
        match table.look_up(digits) {
            (magnitude, true) => u64::from(magnitude),
            _ => table.resolve(digits, more),
        }
    }

    /// P[|X| = m]: twice the mass, but once for zero.
    fn share(noise: &DiscreteGaussian, m: u64) -> crate::numeric::Enclosure {
        let both = noise.mass(m as i64, 25);
        if m == 0 { both } else { both.add(&both) }
    }

    /// All 2^16 words (2^15 without the sign), and for each undecided one all 2^16 second words: every magnitude
    /// has exactly its share of the 2^31 pairs, except for the pairs at its two cuts, which two words do not decide.
    #[test]
    fn every_pair_of_16_bit_words_goes_to_its_dyadic_share() {
        for (sigma2, guide) in [("5", 8), ("456.62", 11), ("0.3", 6)] {
            let (noise, table) = gaussian(sigma2, 16, guide);
            let mut shares = vec![0_u64; 1000];
            let mut open = vec![0_u64; 1000];
            let mut first_settled = 0;
            for first in 0..1_u32 << 15 {
                if let (magnitude, true) = table.look_up(first) {
                    shares[magnitude as usize] += 1 << 16;
                    first_settled += 1;
                    continue;
                }
                for second in 0..1_u32 << 16 {
                    let mut drawn = 0;
                    let mut words = || {
                        drawn += 1;
                        if drawn == 1 { second } else { 0x9abc }
                    };
                    let magnitude = table.resolve(first, &mut words) as usize;
                    if drawn == 1 { shares[magnitude] += 1 } else { open[magnitude] += 1 }
                }
            }
            let unit = Rational::from((1, 1_u64 << 31));
            for (m, (&settled, &open)) in shares.iter().zip(&open).enumerate() {
                let share = share(&noise, m as u64);
                assert!(Rational::from(settled) * &unit <= *share.upper(), "{sigma2} {m}: {settled}");
                // At most the two pairs at its cuts are undecided.
                assert!(Rational::from(settled + 2) * &unit >= *share.lower(), "{sigma2} {m}: {settled} + {open}");
            }
            assert_eq!(shares.iter().sum::<u64>() + open.iter().sum::<u64>(), 1 << 31);
            assert!(open.iter().sum::<u64>() < 1000);
            assert!(first_settled > (1 << 15) * 9 / 10, "the guide settles most words: {first_settled}");
        }
    }

    /// The whole tree of words of 4 bits to a depth of five words, so that every draw at a cut reaches the enclosures
    /// of `refine`: shares at every depth add up to the law.
    #[test]
    fn refinement_at_every_depth_gives_the_law() {
        const WORD: u32 = 4;
        const DEPTH: usize = 5;
        let (noise, table) = gaussian("5", WORD, 3);
        let mut shares = vec![Rational::new(); 64];
        let mut open = Rational::new();
        let mut deepest = 0;
        let mut pending: Vec<Vec<u32>> = (0..1 << (WORD - 1)).map(|first| vec![first]).collect();
        while let Some(words) = pending.pop() {
            let mut used = 1;
            let mut more = || {
                used += 1;
                *words.get(used - 1).unwrap_or(&9)
            };
            let magnitude = draw(&table, words[0], &mut more) as usize;
            let weight = Rational::from((2, Integer::from(1) << (WORD * words.len() as u32)));
            if used <= words.len() {
                shares[magnitude] += weight;
                deepest = deepest.max(used);
            } else if words.len() < DEPTH {
                pending.extend((0..1 << WORD).map(|next| [&words[..], &[next]].concat()));
            } else {
                open += weight;
            }
        }
        assert!(deepest == DEPTH && open < Rational::from((64, Integer::from(1) << (WORD * DEPTH as u32 - 1))));
        let total = shares.iter().fold(open.clone(), |sum, share| sum + share);
        assert_eq!(total, 1);
        for (m, settled) in shares.iter().enumerate() {
            let share = share(&noise, m as u64);
            assert!(*settled <= *share.upper() && Rational::from(settled + &open) >= *share.lower(), "{m}");
        }
    }

    /// The number of pairs of words beyond each magnitude in the production table is the certified tail, rounded
    /// down: out to eight standard deviations and to the end.
    #[test]
    fn the_table_is_right_to_its_last_digit_out_to_the_end() {
        for sigma2 in ["5", "456.62", "1e4"] {
            let (noise, table) = gaussian(sigma2, 32, 10);
            let sigma = parse(sigma2).unwrap().to_f64().sqrt();
            let far = (8.0 * sigma) as usize;
            assert!(table.floors.len() > far, "the table reaches 8 sigma");
            for m in [0, 1, far / 8, far / 2, far - 1, far, table.floors.len() - 2, table.floors.len() - 1] {
                // V < P[|X| > m] = 2 P[X >= m + 1].
                let tail = noise.survival(m as i64 + 1, 40).unwrap();
                let pairs = [tail.lower(), tail.upper()]
                    .map(|end| (end.to_rational().unwrap() << 64_u32).floor().numer().to_u64().unwrap());
                assert_eq!(pairs[0], pairs[1]);
                assert_eq!(table.settled_above(m), pairs[0], "{sigma2} {m}");
            }
        }
    }

    /// The stratum V < 2^-47, which contains eight standard deviations: its words one by one; the number of each magnitude is that of the
    /// certified tail, up to the words at the cuts.
    #[test]
    fn the_stratum_of_eight_sigma_has_the_certified_tail() {
        for sigma2 in ["5", "456.62"] {
            let (noise, table) = gaussian(sigma2, 32, 10);
            let far = (8.0 * parse(sigma2).unwrap().to_f64().sqrt()) as u64;
            let mut magnitudes: Vec<u64> = (0..1 << 16)
                .map(|second| {
                    let mut words = [second].into_iter().chain(std::iter::repeat(0x1234_5678));
                    draw(&table, 0, &mut || words.next().unwrap())
                })
                .collect();
            assert!(magnitudes.is_sorted_by(|a, b| a >= b), "the magnitude falls as V grows");
            magnitudes.reverse();
            assert!(magnitudes[0] <= far, "the stratum holds 8 sigma");
            for m in far..far + 5 {
                let beyond = magnitudes.len() - magnitudes.partition_point(|&magnitude| magnitude <= m);
                // In units of 2^-63, and P[|X| > m] is twice one tail.
                let expected = noise.survival(m as i64 + 1, 20).unwrap().approximate() * 2_f64.powi(64);
                assert!((beyond as f64 - expected).abs() <= 1.0, "{sigma2} {m}: {beyond}, {expected}");
                assert!(m > far || beyond > 1000, "the stratum holds enough words of 8 sigma");
            }
        }
    }

    /// Every cut of the first word is forced, with continuations at, below and above the cut of the second.
    #[test]
    fn forced_boundaries_are_decided_by_the_following_digits() {
        let (_, table) = gaussian("456.62", 32, 10);
        for (m, &floor) in table.floors.iter().enumerate().take(120) {
            let (first, second) = ((floor >> 32) as u32, floor as u32);
            for (next, third, magnitude) in [
                (second.wrapping_add(1), 0, m),
                (second.wrapping_sub(1), 0, m + 1),
                (second, u32::MAX, m),
                (second, 0, m + 1),
            ] {
                let mut words = [next, third].into_iter().chain(std::iter::repeat(third));
                assert_eq!(draw(&table, first, &mut || words.next().unwrap()), magnitude as u64);
            }
        }
    }

    /// If the first two words are zero the law is that of the tail beyond the table, and the following digits decide.
    #[test]
    fn the_tail_beyond_the_table_is_reached() {
        let (noise, table) = gaussian("5", 32, 10);
        for zeros in 1..6 {
            let mut words = std::iter::repeat_n(0, zeros).chain([0x1234_5678]).chain(std::iter::repeat(0x9abc_def0));
            let magnitude = draw(&table, 0, &mut || words.next().unwrap()) as i64;
            // V is 0x1234_5678 / 2^32 and a little, times 2^-(31 + 32 zeros).
            let scale = Rational::from((1, Integer::from(1) << (31 + 32 * zeros as u32)));
            let (least, most) = (parse("0.07111").unwrap() * &scale, parse("0.07112").unwrap() * scale);
            let two = crate::numeric::Enclosure::double(2.0, 120);
            let beyond = |m: i64| noise.survival(m + 1, 30).unwrap().mul(&two);
            assert!(beyond(magnitude).lower() < &most, "{zeros}");
            assert!(beyond(magnitude - 1).upper() > &least, "{zeros}");
        }
    }

    #[test]
    fn extreme_laws_have_small_tables() {
        for sigma2 in ["1e-6", "0.001"] {
            let (_, table) = gaussian(sigma2, 32, 6);
            assert_eq!(table.floors, [0]);
            assert_eq!(draw(&table, 1, &mut || 0), 0);
        }
    }
}
