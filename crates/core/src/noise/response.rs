//! Exact sampling of randomized response: the difference between the given answer and the true one, modulo the number of answers.
//!
//! With probability p = 1 / (1 + (K - 1) exp(-epsilon)) the difference is zero, else each of 1, ..., K - 1 with the same probability. V < p is decided for a
//! uniform V word by word, as in [`listed`](super::listed), with the floor of 2^b p proven by an enclosure, and with enclosures of p for
//! further digits. p is irrational, since epsilon is rational and above zero, so that V differs from it and the procedure ends with probability one.

use rug::{Float, Integer, Rational, float::Round};

use crate::{
    error::{Error, Result},
    numeric::Enclosure,
};

/// A sampler of the difference.
#[derive(Debug)]
pub(super) struct Response {
    epsilon: Rational,
    answers: u64,
    /// floor(2^(2 word) p).
    floor: u64,
    word: u32,
}

impl Response {
    /// For epsilon above zero and two answers or more, with words of `word` digits: 32, or fewer if a test enumerates all words.
    pub(super) fn new(epsilon: Rational, answers: u64, word: u32) -> Result<Self> {
        let mut response = Response { epsilon, answers, floor: 0, word };
        // p may be as close to one as exp(-epsilon): twice as many bits reach it.
        for doubling in 6..20 {
            let (lower, upper) = response.truth(2 * word, 1 << doubling);
            if let (Some(least), Some(most)) = (lower.to_u64(), upper.to_u64())
                && least == most
            {
                response.floor = least;
                return Ok(response);
            }
        }
        Err(Error::undecided(
            "the probability of the true answer",
            format!("{response:?}"),
            "it must not be a multiple of 2^-64",
        ))
    }

    /// The number of answers.
    pub(super) fn answers(&self) -> u64 {
        self.answers
    }

    /// The floors of 2^count times the ends of an enclosure of p.
    fn truth(&self, count: u32, bits: u32) -> (Integer, Integer) {
        let bits = bits + count;
        let others = Enclosure::rational(&Rational::from(-&self.epsilon), bits).exp();
        let others = others.mul(&Enclosure::rational(&Rational::from(self.answers - 1), bits));
        let p = others.add(&Enclosure::double(1.0, bits)).recip();
        let floor = |end: &Float| Float::with_val(end.prec(), end << count).to_integer_round(Round::Down);
        let [lower, upper] = [p.lower(), p.upper()].map(|end| floor(end).map(|(whole, _)| whole).unwrap_or_default());
        (lower, upper)
    }

    /// One exact sample.
    #[inline]
    pub(super) fn draw(&self, mut next: impl FnMut() -> u32) -> i64 {
        let digits = u64::from(next()) << self.word | u64::from(next());
        let is_true = if digits == self.floor { self.resolve(digits, &mut next) } else { digits < self.floor };
        if is_true { 0 } else { 1 + self.other(&mut next) as i64 }
    }

    /// Whether V < p, for first digits that equal the floor.
    #[cold]
    #[inline(never)]
    fn resolve(&self, digits: u64, next: &mut dyn FnMut() -> u32) -> bool {
        let (mut digits, mut count) = (Integer::from(digits), 2 * self.word);
        loop {
            digits = (digits << self.word) | next();
            count += self.word;
            // Relative to p's distance from one, as in `new`.
            let (lower, upper) = self.truth(count, 64);
            if digits < lower {
                return true;
            }
            if digits > upper {
                return false;
            }
        }
    }

    /// Uniform on 0, ..., answers - 2: leading digits of two words, drawn again where they are too large.
    fn other(&self, next: &mut dyn FnMut() -> u32) -> u64 {
        let most = self.answers - 2;
        let unused = 2 * self.word - (u64::BITS - most.leading_zeros());
        loop {
            let digits = u64::from(next()) << self.word | u64::from(next());
            // There is one other answer where nothing is left.
            let digits = digits.checked_shr(unused).unwrap_or(0);
            if digits <= most {
                return digits;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    /// All words of 4 digits to a depth of six: the true answer has the probability p, and the others share the rest.
    #[test]
    fn all_words_together_give_the_answers() {
        for (epsilon, answers) in [("1", 2_u64), ("7/2", 3), ("1/5", 5), ("1/5", 6), ("20", 2)] {
            let response = Response::new(parse(epsilon).unwrap(), answers, 4).unwrap();
            let mut shares = vec![Rational::new(); answers as usize];
            let mut open = Rational::new();
            let mut pending: Vec<Vec<u32>> = vec![Vec::new()];
            while let Some(words) = pending.pop() {
                let mut used = 0;
                let value = response.draw(|| {
                    used += 1;
                    *words.get(used - 1).unwrap_or(&0)
                });
                let weight = Rational::from((1, Integer::from(1) << (4 * words.len() as u32)));
                if used <= words.len() {
                    shares[value as usize] += weight;
                } else if words.len() < 5 {
                    pending.extend((0..16).map(|next| [&words[..], &[next]].concat()));
                } else {
                    open += weight;
                }
            }
            let e = Enclosure::rational(&parse(epsilon).unwrap(), 100).exp();
            let all = e.add(&Enclosure::rational(&Rational::from(answers - 1), 100));
            for (value, share) in shares.iter().enumerate() {
                let own = if value == 0 { e.clone() } else { Enclosure::double(1.0, 100) };
                let truth = own.div(&all);
                assert!(share <= truth.upper() && Rational::from(share + &open) >= *truth.lower(), "{epsilon} {value}");
            }
            // Where a choice is drawn again, five words often are too few.
            let most = if (answers - 1).is_power_of_two() { (1, 50) } else { (1, 3) };
            assert!(open < Rational::from(most), "{epsilon}: {open}");
        }
    }

    #[test]
    fn the_largest_parameters_are_drawn() {
        for (epsilon, answers) in [("1000", 2), ("1/1000000", 1_000_000_000_000)] {
            let response = Response::new(parse(epsilon).unwrap(), answers, 32).unwrap();
            let mut word = 0x9e37_79b9_u32;
            let mut next = || {
                word = word.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
                word
            };
            let drawn: Vec<i64> = (0..100).map(|_| response.draw(&mut next)).collect();
            assert!(drawn.iter().all(|x| (0..answers as i64).contains(x)));
            assert_eq!(drawn.iter().all(|x| *x == 0), answers == 2);
        }
    }
}
