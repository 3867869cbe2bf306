//! Tilted masses and their convolutions, in fixed point, as lower bounds whose shortfall is known exactly.
//!
//! A mass is stored in units of 2^-bits and is at most the truth. The true masses of a tilted law sum to 1, so the truncated mass, by cut ends and
//! rounding alike, is 1 minus the sum of all stored masses: no bound for a tail is needed. Products are formed exactly, by Kronecker substitution
//! into one multiplication of big integers, and rounded down again.

use std::collections::BTreeMap;

use rug::{Float, Integer, Rational, float::Round, integer::Order};

use super::plan::Part;
use crate::{
    error::{Error, Result},
    loss::sum::LossSum,
    numeric::{enclosure::Enclosure, rational},
};

/// A law on losses origin + step k, tilted by exp(c loss): lower bounds for the masses at consecutive k, or at those that are listed.
#[derive(Clone, Debug)]
pub(super) struct TiltedMasses {
    /// The loss at k = 0.
    pub(super) origin: Rational,
    /// The distance between losses.
    pub(super) step: Rational,
    /// The integer k of the first mass.
    pub(super) first: i64,
    /// The integer k of each mass, ascending, where these are few of very many; `first` is then 0.
    pub(super) listed: Option<Vec<Integer>>,
    /// Encloses ln E[exp(c L)].
    pub(super) ln_mgf: Enclosure,
    /// The number of words of a mass; it is in units of 2^(1 - 64 words), so that a mass of one fits.
    pub(super) words: usize,
    pub(super) digits: Vec<u64>,
}

/// The precision at which masses are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Fineness {
    /// Words of a mass.
    pub(super) words: usize,
    /// The ends of a list are cut by at most 2^-cut.
    pub(super) cut: u32,
}

impl Fineness {
    /// Enough words for masses that are cut at 2^-cut after all their convolutions: each product rounds every mass down by one unit, and mass lost by
    /// one copy is lost by all.
    pub(super) fn of_sum(sum: &LossSum, cut: u32) -> Self {
        let copies = sum.groups().iter().map(|group| group.copies.ilog2() + 1).max().unwrap_or(0);
        const LENGTH_BITS: u32 = 24;
        Fineness { words: (cut + copies + LENGTH_BITS).div_ceil(64) as usize, cut }
    }
}

impl TiltedMasses {
    fn bits(&self) -> u32 {
        64 * self.words as u32 - 1
    }

    pub(super) fn len(&self) -> usize {
        self.digits.len() / self.words
    }

    /// The integer k of each mass.
    pub(super) fn places(&self) -> Box<dyn Iterator<Item = Integer> + '_> {
        match &self.listed {
            None => Box::new((self.first..).take(self.len()).map(Integer::from)),
            Some(listed) => Box::new(listed.iter().cloned()),
        }
    }

    /// The integer k of the middle mass.
    pub(super) fn middle(&self) -> Integer {
        match &self.listed {
            None => Integer::from(self.first + self.len() as i64 / 2),
            Some(listed) => listed.get(listed.len() / 2).cloned().unwrap_or_default(),
        }
    }

    /// The distance from the smallest to the largest loss, in doubles.
    pub(super) fn span_approx(&self) -> f64 {
        let steps = match &self.listed {
            None => self.len() as f64,
            Some(listed) => listed.first().zip(listed.last()).map_or(0.0, |(a, b)| Integer::from(b - a).to_f64()),
        };
        self.step.to_f64() * steps
    }

    /// The words of each mass, lowest first, in units of 2^-exponent.
    pub(super) fn units(&self) -> (impl Iterator<Item = &[u64]>, i64) {
        (self.digits.chunks(self.words), i64::from(self.bits()))
    }

    /// Upper bound on the truncated mass, exact but for the rounding of the last line.
    pub(super) fn missing(&self) -> Float {
        let mut sum = vec![0_u64; self.words + 1];
        for mass in self.digits.chunks(self.words) {
            let mut carry = false;
            for (place, word) in sum.iter_mut().zip(mass.iter().chain([&0])) {
                let (added, first) = place.overflowing_add(*word);
                let (added, second) = added.overflowing_add(u64::from(carry));
                (*place, carry) = (added, first || second);
            }
        }
        let missing = (Integer::from(1) << self.bits()) - Integer::from_digits(&sum, Order::Lsf);
        Float::with_val_round(64, missing, Round::Up).0 >> self.bits()
    }

    /// The sum of `copies` independent losses of this law, by repeated squaring.
    pub(super) fn raised(self, copies: u64, fineness: Fineness) -> Self {
        let origin = Rational::from(&self.origin * copies);
        let bits = self.ln_mgf.lower().prec() + 64;
        let ln_mgf = self.ln_mgf.mul(&Enclosure::rational(&Rational::from(copies), bits));
        let mut result = self.clone();
        for bit in (0..u64::BITS - 1 - copies.leading_zeros()).rev() {
            result = result.convolved(&result).trimmed(fineness.cut);
            if copies >> bit & 1 == 1 {
                result = result.convolved(&self).trimmed(fineness.cut);
            }
        }
        TiltedMasses { origin, ln_mgf, ..result }
    }

    /// The sum of two independent losses on lattices of one step, rounded down.
    fn convolved(&self, other: &Self) -> Self {
        if let (Some(own), Some(others)) = (&self.listed, &other.listed) {
            return self.convolved_as_listed(other, own, others);
        }
        let words = self.words;
        let length = self.len() + other.len() - 1;
        // Both totals are at most one, so a coefficient of the product is at most 2^(2 bits): no carry between slots of
        // 2 words each.
        let product = if std::ptr::eq(self, other) { self.packed().square() } else { self.packed() * other.packed() };
        let slots = product.to_digits::<u64>(Order::Lsf);
        let mut digits = vec![0_u64; length * words];
        for (mass, slot) in digits.chunks_mut(words).zip(slots.chunks(2 * words)) {
            // Divided by 2^(64 words - 1) and rounded down: the upper words and the highest bit below them.
            let word = |index: usize| slot.get(index).copied().unwrap_or(0);
            for (index, target) in mass.iter_mut().enumerate() {
                *target = word(words + index) << 1 | word(words + index - 1) >> 63;
            }
        }
        TiltedMasses {
            origin: Rational::from(&self.origin + &other.origin),
            step: self.step.clone(),
            first: self.first + other.first,
            listed: None,
            ln_mgf: self.ln_mgf.add(&other.ln_mgf),
            words,
            digits,
        }
    }

    /// The same for masses at listed places: all sums of two, and those at the same place together.
    fn convolved_as_listed(&self, other: &Self, own: &[Integer], others: &[Integer]) -> Self {
        let (words, bits) = (self.words, self.bits());
        let integers = |masses: &Self| -> Vec<Integer> {
            masses.digits.chunks(words).map(|mass| Integer::from_digits(mass, Order::Lsf)).collect()
        };
        let (masses, of_others) = (integers(self), integers(other));
        let mut sums: BTreeMap<Integer, Integer> = BTreeMap::new();
        for (place, mass) in own.iter().zip(&masses) {
            for (other, of_other) in others.iter().zip(&of_others) {
                *sums.entry(Integer::from(place + other)).or_default() += Integer::from(mass * of_other);
            }
        }
        let mut digits = vec![0_u64; sums.len() * words];
        for (sum, slot) in sums.values().zip(digits.chunks_mut(words)) {
            // A total of products is at most one: rounded down once.
            write(&Integer::from(sum >> bits), slot);
        }
        TiltedMasses {
            origin: Rational::from(&self.origin + &other.origin),
            step: self.step.clone(),
            first: 0,
            listed: Some(sums.into_keys().collect()),
            ln_mgf: self.ln_mgf.add(&other.ln_mgf),
            words,
            digits,
        }
    }

    /// The sum of two independent losses, on the lattice of both.
    pub(super) fn merged(&self, other: &Self, fineness: Fineness) -> Result<Self> {
        let step = rational::gcd(&self.step, &other.step);
        Ok(self.stretched(&step)?.convolved(&other.stretched(&step)?).trimmed(fineness.cut + 2))
    }

    /// The sum of the laws of the named groups, on their common lattice.
    pub(super) fn joined(single: &[Self], groups: &[usize], fineness: Fineness) -> Result<Self> {
        let (first, others) = groups.split_first().ok_or(Error::EmptyComposition)?;
        others.iter().try_fold(single[*first].clone(), |merged, &k| merged.merged(&single[k], fineness))
    }

    /// The part by which a group of this index is planned.
    pub(super) fn part(&self, group: usize) -> Part {
        let is_listed = self.listed.is_some();
        Part { groups: vec![group], step: self.step.clone(), length: self.len() as f64, is_listed }
    }

    /// The same law on a finer lattice; refused where that has more places than any plan allows.
    fn stretched(&self, step: &Rational) -> Result<Self> {
        const MOST_PLACES: usize = 1 << 26;
        let factor = Rational::from(&self.step / step);
        let places = |factor: usize| factor.checked_mul(self.len()).filter(|places| *places <= MOST_PLACES);
        let fitting = factor.numer().to_usize().filter(|factor| places(*factor).is_some());
        let factor = fitting.ok_or_else(|| Error::TooLong {
            what: "the common lattice of two lists",
            needed: format!("{} times {} places", rational::display(&factor), self.len()),
            most: MOST_PLACES.to_string(),
        })?;
        let mut digits = vec![0_u64; ((self.len() - 1) * factor + 1) * self.words];
        for (mass, target) in self.digits.chunks(self.words).zip(digits.chunks_mut(self.words * factor)) {
            target[..self.words].copy_from_slice(mass);
        }
        Ok(TiltedMasses { step: step.clone(), first: self.first * factor as i64, digits, ..self.clone() })
    }

    /// Kronecker substitution: the masses as digits of one integer, each in a slot of twice its length.
    fn packed(&self) -> Integer {
        let mut digits = vec![0_u64; 2 * self.digits.len()];
        for (mass, slot) in self.digits.chunks(self.words).zip(digits.chunks_mut(2 * self.words)) {
            slot[..self.words].copy_from_slice(mass);
        }
        Integer::from_digits(&digits, Order::Lsf)
    }

    /// Without ends that hold at most 2^-cut together; at least one mass stays.
    pub(super) fn trimmed(mut self, cut: u32) -> Self {
        let words = self.words;
        let budget = Float::with_val(64, 1) >> (cut + 1);
        if let Some(listed) = self.listed.take() {
            return self.with_large_masses(listed, &budget);
        }
        let value = |mass: &[u64]| {
            let top = Float::with_val(64, Integer::from_digits(mass, Order::Lsf));
            top >> (64 * words as u32 - 1)
        };
        let spare = |masses: &mut dyn Iterator<Item = &[u64]>| {
            let mut sum = Float::new(64);
            masses
                .take_while(|mass| {
                    sum += value(mass);
                    sum <= budget
                })
                .count()
        };
        let leading = spare(&mut self.digits.chunks(words));
        let trailing = spare(&mut self.digits.chunks(words).rev());
        if leading + trailing < self.len() {
            self.digits.truncate(self.digits.len() - trailing * words);
            self.digits.drain(..leading * words);
            self.first += leading as i64;
        }
        self
    }

    /// Without masses that hold at most this much together, wherever they are; at least one stays.
    fn with_large_masses(self, listed: Vec<Integer>, budget: &Float) -> Self {
        let words = self.words;
        let share = Float::with_val(64, budget / self.len().max(1) as u64);
        let least = (Float::with_val(64, &share) << self.bits()).to_integer().unwrap_or_default();
        let masses = self.digits.chunks(words).map(|mass| Integer::from_digits(mass, Order::Lsf));
        let keeps: Vec<bool> = masses.map(|mass| mass > least).collect();
        if !keeps.contains(&true) {
            return TiltedMasses { listed: Some(listed), ..self };
        }
        let kept = |(place, keep): (Integer, &bool)| keep.then_some(place);
        let places = listed.into_iter().zip(&keeps).filter_map(kept).collect();
        let digits = self.digits.chunks(words).zip(&keeps).filter(|(_, keep)| **keep).flat_map(|(mass, _)| mass);
        let digits: Vec<u64> = digits.copied().collect();
        TiltedMasses { listed: Some(places), digits, ..self }
    }

    /// Masses proportional to numbers of which lower bounds are given, in units of 2^-bits; `total` is an upper bound on the sum of all the numbers.
    pub(super) fn scaled(mut digits: Vec<u64>, total: &Float, words: usize) -> Vec<u64> {
        let bits = 64 * words as u32 - 1;
        // units / total, both factors rounded down, and so is their product.
        let factor = Float::with_val_round(bits + 64, total.recip_ref(), Round::Down).0 << (bits + 64);
        let factor = factor.to_integer_round(Round::Down).map_or_else(Integer::new, |(floor, _)| floor);
        for slot in digits.chunks_mut(words) {
            let units = (Integer::from_digits(slot, Order::Lsf) * &factor) >> (bits + 64);
            slot.fill(0);
            write(&units, slot);
        }
        digits
    }
}

/// The words of a non-negative integer that has no more of them than the slot.
fn write(value: &Integer, slot: &mut [u64]) {
    let own = value.to_digits::<u64>(Order::Lsf);
    slot[..own.len()].copy_from_slice(&own);
}
