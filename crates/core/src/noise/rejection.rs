//! Exact sampling by rejection from blocks, for laws that are too wide for a table.
//!
//! Canonne, Kamath & Steinke (2020, Algorithms 1 to 3) draw from a wider law with exact arithmetic and accept with an
//! exactly drawn probability exp(-gamma), gamma rational. The same is done here with a proposal that is so close that
//! nearly all are accepted: the magnitudes are divided into blocks of k = 2^j, and
//!
//! 1. Y is drawn with mass proportional to w(k Y), by inversion of a table (exact, see [`inversion`](super::inversion));
//! 2. R is j random digits, and the magnitude proposed is m = k Y + R, with a fair sign;
//! 3. it is accepted with probability w(m) / w(k Y) = exp(-gamma), gamma = R (slope + curvature (2 k Y + R - 1) / 2).
//!
//! Every (sign, m) is proposed with mass proportional to w(k Y) and kept with mass proportional to w(m); of the two
//! zeros the negative one is rejected. So X has mass proportional to w(|X|), exactly.
//!
//! # The exact coin
//!
//! U < exp(-gamma) is decided for a uniform U whose binary digits are drawn word by word. With the first word u,
//! u <= 2^w U < u + 1:
//!
//! - u + 1 + 2^w gamma <= 2^w gives U < 1 - gamma <= exp(-gamma): accepted;
//! - u + 2^w gamma >= 2^w (1 + gamma^2 / 2) gives U >= 1 - gamma + gamma^2 / 2 >= exp(-gamma): rejected.
//!
//! Both are tested with bounds of gamma in fixed-point integers. Otherwise, for about gamma^2 / 2 of all draws, exp(-gamma)
//! is enclosed to as many bits as were drawn, and more digits are drawn until U and the enclosure are apart.

use rug::{Integer, Rational};

use super::{
    folded::{FoldedLaw, fixed_exp},
    inversion::InversionTable,
};
use crate::error::{Error, Result};

/// Significant bits of slope and curvature / 2.
const KEPT: u32 = 40;

/// A sampler of a wide law by blocks.
#[derive(Debug)]
pub(super) struct BlockRejection {
    law: FoldedLaw,
    table: InversionTable,
    /// j, with k = 2^j.
    block: u32,
    /// Bounds of slope and curvature / 2 in units of 2^-scale.
    scale: u32,
    slope: [u64; 2],
    half_curvature: [u64; 2],
}

impl BlockRejection {
    /// Blocks of 2^`block` magnitudes, for words of `word` digits, at least `block`, and a guide of 2^`guide` cells. Most
    /// proposals are accepted if the weight of the law falls only slightly within a block.
    pub(super) fn new(law: FoldedLaw, block: u32, word: u32, guide: u32) -> Result<Self> {
        let table = InversionTable::new(law.coarsened(1 << block), word, guide)?;
        let larger = law.slope().to_f64().max(law.curvature().to_f64());
        let scale = KEPT + (-libm::log2(larger)).max(0.0) as u32;
        let slope = fixed_bounds(law.slope().clone(), scale)?;
        let half_curvature = fixed_bounds(Rational::from(law.curvature() / 2_u32), scale)?;
        Ok(BlockRejection { law, table, block, scale, slope, half_curvature })
    }

    /// One exact sample from words with the same number of digits as the table's.
    #[inline]
    pub(super) fn draw(&self, mut next: impl FnMut() -> u32) -> i64 {
        loop {
            if let Some(value) = self.propose(&mut next) {
                return value;
            }
        }
    }

    /// A proposal, if it is accepted.
    #[inline]
    fn propose(&self, next: &mut impl FnMut() -> u32) -> Option<i64> {
        let (negative, digits) = self.table.sign_and_digits(next());
        let block = match self.table.look_up(digits) {
            (block, true) => u64::from(block),
            _ => self.table.resolve(digits, next),
        };
        let within = u64::from(next()) >> (self.table.word_bits() - self.block);
        let magnitude = ((block << self.block) + within) as i64;
        let accepted = !(magnitude == 0 && negative) && self.accepts(block, within, next);
        accepted.then_some(if negative { -magnitude } else { magnitude })
    }

    /// A coin that shows heads with probability exp(-gamma), gamma = within (slope + half_curvature (2 k block + within - 1)).
    #[inline]
    fn accepts(&self, block: u64, within: u64, next: &mut impl FnMut() -> u32) -> bool {
        if within == 0 {
            return true;
        }
        let moved = u128::from((block << (self.block + 1)) + within - 1);
        // In units of 2^-scale. Blocks have at most 2^25 places and both factors 41 digits, so that this stays below
        // 2^67 shifted, and only magnitudes above 2^60 would overflow.
        let gamma = |end: usize| {
            u128::from(within) * (u128::from(self.slope[end]) + u128::from(self.half_curvature[end]) * moved)
        };
        let word = self.table.word_bits();
        let one = 1_u128 << word;
        let first = next();
        // ceil(2^word gamma) is at most this.
        let most = (gamma(1) >> (self.scale - word)) + 1;
        if u128::from(first) + 1 + most <= one {
            return true;
        }
        if most < one {
            let least = gamma(0) >> (self.scale - word);
            let half_square = ((most * most) >> (word + 1)) + 1;
            if u128::from(first) + least >= one + half_square {
                return false;
            }
        }
        let moved = Rational::from(moved) / 2_u32;
        below_exp(&((self.law.slope() + self.law.curvature() * moved) * within), first, word, next)
    }
}

/// Floor and ceiling of a value in units of 2^-scale; values that do not fit into 64 bits are refused.
fn fixed_bounds(value: Rational, scale: u32) -> Result<[u64; 2]> {
    let scaled = value << scale;
    match (scaled.clone().floor().numer().to_u64(), scaled.clone().ceil().numer().to_u64()) {
        (Some(floor), Some(ceiling)) => Ok([floor, ceiling]),
        _ => Err(Error::unsuitable(format!(
            "the slope of the noise, {scaled} in fixed point, does not fit into 64 bits"
        ))),
    }
}

/// Whether U < exp(-gamma), where U begins with the `word` binary digits of `first` and continues with words of `next`.
#[cold]
#[inline(never)]
fn below_exp(gamma: &Rational, first: u32, word: u32, next: &mut dyn FnMut() -> u32) -> bool {
    /// Bits of the enclosure in addition to those of U.
    const GUARD: u32 = 32;
    let (mut digits, mut count) = (Integer::from(first), word);
    loop {
        let (lower, upper) = fixed_exp(gamma, count + GUARD);
        if Integer::from(&digits + 1_u32) << GUARD <= lower {
            return true;
        }
        if Integer::from(&digits << GUARD) >= upper {
            return false;
        }
        digits = (digits << word) | next();
        count += word;
    }
}

#[cfg(test)]
mod tests {
    use super::super::DiscreteGaussian;
    use super::*;
    use crate::{
        loss::{law::Law, testing::law},
        numeric::{Enclosure, rational::parse},
    };

    fn blocks(law: &Law, block: u32, word: u32, guide: u32) -> BlockRejection {
        BlockRejection::new(FoldedLaw::of_law(law).unwrap(), block, word, guide).unwrap()
    }

    /// The accepted share of the whole tree of words of 8 digits, to a depth of three, is exp(-gamma).
    #[test]
    fn the_coin_is_exact_at_every_depth() {
        let sampler = blocks(&law("456.62"), 3, 8, 5);
        for (block, within) in [(0, 0), (0, 1), (0, 7), (1, 3), (5, 1), (8, 7), (20, 7)] {
            let (mut heads, mut open) = (Rational::new(), Rational::new());
            let mut pending: Vec<Vec<u32>> = (0..256).map(|first| vec![first]).collect();
            while let Some(words) = pending.pop() {
                let mut used = 0;
                let heads_here = sampler.accepts(block, within, &mut || {
                    used += 1;
                    *words.get(used - 1).unwrap_or(&0x55)
                });
                let weight = Rational::from((1, Integer::from(1) << (8 * words.len() as u32)));
                if used <= words.len() {
                    heads += if heads_here { weight } else { Rational::new() };
                } else if words.len() < 3 {
                    pending.extend((0..256).map(|next| [&words[..], &[next]].concat()));
                } else {
                    open += weight;
                }
            }
            let m = Rational::from(8 * block + within).square() - Rational::from(8 * block).square();
            let truth = Enclosure::rational(&(-m / (parse("456.62").unwrap() * 2_u32)), 100).exp();
            assert!(heads <= *truth.upper() && Rational::from(&heads + &open) >= *truth.lower(), "{block} {within}");
            assert!(open <= Rational::from((1, 1 << 24)));
        }
    }

    /// All words of a small sampler: 2^12 first words, 4 places in the block, and every eighth of 2^12 coins. A value x
    /// is proposed and accepted with probability w(x) / (2 k sum over y of w(k y)), to the resolution of the words.
    #[test]
    fn all_words_together_give_the_law() {
        let sigma2 = parse("9").unwrap();
        let noise = DiscreteGaussian::new(sigma2.clone()).unwrap();
        let sampler = blocks(&Law::DiscreteGaussian { sigma2 }, 2, 12, 9);
        let mut accepted = [0_u32; 128];
        for first in 0..1_u32 << 12 {
            for within in 0..4_u32 {
                for coin in (4..1 << 12).step_by(8) {
                    // An undecided word takes one more; only those at a cut may land on either side.
                    let more = if sampler.table.look_up(first & 0x7ff).1 { None } else { Some(0x9ab) };
                    let mut words = [first].into_iter().chain(more).chain([within << 10, coin, 0x9ab]);
                    if let Some(x) = sampler.propose(&mut || words.next().unwrap()) {
                        accepted[(x + 64) as usize] += 1;
                    }
                }
            }
        }
        // w(x) = mass(x) / mass(0), and the blocks' weights end below 10^-15 before y = 8.
        let weight = |x: i64| (noise.mass(x, 15).approximate()) / noise.mass(0, 15).approximate();
        let blocks: f64 = (0..8).map(|y| weight(4 * y)).sum();
        for (x, accepted) in (-64_i64..).zip(accepted) {
            let share = f64::from(accepted) / f64::from(1 << (12 + 2 + 9));
            let truth = weight(x) / (8.0 * blocks);
            // At most the two words at the cuts of a block belong elsewhere; a coin's probability has the resolution 1/512.
            let resolution = (2.0 / 4096.0 + truth * 4.0 / 512.0) / 4.0 + 1e-12;
            assert!((share - truth).abs() <= resolution, "{x}: {share} {truth}");
        }
    }

    #[test]
    fn bounds_that_do_not_fit_are_refused() {
        assert_eq!(fixed_bounds(parse("1/3").unwrap(), 4).unwrap(), [5, 6]);
        assert!(fixed_bounds(parse("1e10").unwrap(), 40).is_err());
        assert!(fixed_bounds(parse("-1").unwrap(), 4).is_err());
    }

    #[test]
    fn both_signs_and_a_single_zero() {
        for law in [law("1e12"), law("discrete-laplace:1e-6")] {
            let sampler = blocks(&law, 11, 32, 10);
            // The word of the largest V is block 0; a sign of one is rejected for zero, and the next proposal stands.
            let mut words = [u32::MAX, 0, 0x7fff_ffff, 5 << 21, 0].into_iter();
            assert_eq!(sampler.draw(|| words.next().unwrap()), 5);
            let mut words = [u32::MAX, 5 << 21, 0].into_iter();
            assert_eq!(sampler.draw(|| words.next().unwrap()), -5);
            let mut words = [0x7fff_ffff, 0].into_iter();
            assert_eq!(sampler.draw(|| words.next().unwrap()), 0);
        }
    }
}
