//! Exact sampling of a finite list of probabilities, all rational.
//!
//! Let T(i) be the sum of the probabilities of the first i + 1 values, exactly, and V uniform on [0, 1) with binary digits drawn word by word. The value
//! returned is that of min { i : V < T(i) }, so value i has probability T(i) - T(i - 1): exactly the list. After b digits v is the integer with
//! v <= 2^b V < v + 1, and for t(i) = floor(2^b T(i)):
//!
//! - v < t(i) gives 2^b V < v + 1 <= t(i) <= 2^b T(i), so V < T(i);
//! - v > t(i) gives 2^b V >= v >= t(i) + 1 > 2^b T(i), so V >= T(i);
//! - v = t(i) is decided by comparing 2^b T(i) itself with v and v + 1, and where it is between both, more digits are drawn.
//!
//! The floors for two words are kept; sums are formed again for further digits, about once in 2^64 / (number of values) draws.

use rug::{Integer, Rational};

/// A sampler of a list.
#[derive(Debug)]
pub(super) struct ListedTable {
    rows: Vec<(i64, Rational)>,
    /// floor(2^(2 word) T(i)) of all values but the last, for which T is one.
    floors: Vec<u64>,
    /// Digits in a word: 32, or fewer if a test enumerates all words.
    word: u32,
}

impl ListedTable {
    /// The listed table of values with probabilities above zero that add up to one.
    pub(super) fn new(rows: Vec<(i64, Rational)>, word: u32) -> Self {
        let (mut sum, mut floors) = (Rational::new(), Vec::with_capacity(rows.len()));
        for (_, mass) in rows.iter().take(rows.len().saturating_sub(1)) {
            sum += mass;
            // T(i) is below one, so the floor has at most 2 word digits.
            let scaled = Rational::from(&sum << (2 * word)).floor();
            floors.push(scaled.numer().to_u64().unwrap_or(u64::MAX));
        }
        ListedTable { rows, floors, word }
    }

    /// One exact sample.
    #[inline]
    pub(super) fn draw(&self, mut next: impl FnMut() -> u32) -> i64 {
        let digits = u64::from(next()) << self.word | u64::from(next());
        let at = self.floors.partition_point(|floor| *floor < digits);
        let at = if self.floors.get(at) == Some(&digits) { self.resolve(digits, &mut next) } else { at };
        self.rows[at].0
    }

    /// The index for digits that equal a floor.
    #[cold]
    #[inline(never)]
    fn resolve(&self, digits: u64, next: &mut dyn FnMut() -> u32) -> usize {
        let first = self.floors.partition_point(|floor| *floor < digits);
        let mut sum: Rational = self.rows[..first].iter().map(|(_, mass)| mass).sum();
        let (mut digits, mut count) = (Integer::from(digits), 2 * self.word);
        for (at, (_, mass)) in self.rows.iter().enumerate().skip(first) {
            sum += mass;
            loop {
                let scaled = Rational::from(&sum << count);
                if scaled >= Integer::from(&digits + 1_u32) {
                    return at;
                }
                if scaled <= digits {
                    break;
                }
                digits = (digits << self.word) | next();
                count += self.word;
            }
        }
        // The last sum is one, which is above every V.
        self.rows.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    fn rows(masses: &[(i64, &str)]) -> Vec<(i64, Rational)> {
        masses.iter().map(|(value, mass)| (*value, parse(mass).unwrap())).collect()
    }

    /// All words of 4 digits to a depth of five: each value has its probability, up to what is still open.
    #[test]
    fn all_words_together_give_the_list() {
        for list in [
            rows(&[(-2, "1/10"), (0, "3/5"), (7, "3/10")]),
            rows(&[(-1, "1/4"), (0, "1/2"), (1, "1/4")]),
            rows(&[(5, "1")]),
            // Several sums with one floor, and one below the first floor.
            rows(&[(0, "1/100000"), (1, "1/100000"), (2, "1/3"), (3, "1/100000"), (9, "199991/300000")]),
        ] {
            let table = ListedTable::new(list.clone(), 4);
            let mut shares = vec![Rational::new(); list.len()];
            let mut open = Rational::new();
            let mut pending: Vec<Vec<u32>> = vec![Vec::new()];
            while let Some(words) = pending.pop() {
                let mut used = 0;
                let value = table.draw(|| {
                    used += 1;
                    // No sum but one that is decided at once has zeros alone from some digit on.
                    *words.get(used - 1).unwrap_or(&0)
                });
                let weight = Rational::from((1, Integer::from(1) << (4 * words.len() as u32)));
                if used <= words.len() {
                    shares[list.iter().position(|(own, _)| *own == value).unwrap()] += weight;
                } else if words.len() < 5 {
                    pending.extend((0..16).map(|next| [&words[..], &[next]].concat()));
                } else {
                    open += weight;
                }
            }
            for (share, (value, mass)) in shares.iter().zip(&list) {
                assert!(share <= mass && Rational::from(share + &open) >= *mass, "{value}: {share} of {mass}");
            }
            assert!(open <= Rational::from((8, 1 << 20)), "{open}");
        }
    }

    #[test]
    fn thresholds_that_words_hit_exactly_are_decided() {
        // T(0) = 1/2 is a multiple of 2^-8: the word 8 is not below it.
        let table = ListedTable::new(rows(&[(3, "1/2"), (4, "1/2")]), 4);
        for (first, second, value) in [(7, 15, 3), (8, 0, 4), (8, 1, 4)] {
            let mut words = [first, second].into_iter();
            assert_eq!(table.draw(|| words.next().unwrap()), value, "{first} {second}");
        }
    }
}
