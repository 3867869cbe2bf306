//! The lists of a sum at one tilt, and the answers that follow from them with their proofs.
//!
//! Let M(c) = E[exp(c L)], and let the stored tilted masses of part i fall short of the truth by m_i in total. The tilted law of L is the product of
//! those of the parts, so all pairs of the lists fall short of it by at most 1 - prod (1 - m_i) <= sum m_i =: m. A request with threshold z is
//!
//! ```text
//! E[g(L)] = M(c) E_c[exp(-c L) g(L)],    0 <= exp(-c l) g(l) <= s exp(-c z)  for every l,
//! ```
//!
//! with E_c the expectation under the tilted law. The sum over the stored masses is a lower bound, and m s M(c) exp(-c z) more is an upper bound. For
//! a tail in its range of c, s is 1 and z is the first loss of the lattice that counts: on a coarse lattice that is far better than the threshold
//! itself.

use rug::{Float, Integer, Rational};

use super::{
    key::Key,
    lists::{Lists, PairSum, Threshold, Weight},
    wide::Wide,
};
use crate::numeric::Enclosure;

/// The side of a threshold that is summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The losses at or above it.
    Upper,
    /// The losses below it.
    Lower,
}

/// A law of the pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Under {
    P,
    Q,
}

/// The lists with all that does not depend on the request.
#[derive(Debug)]
pub(super) struct Tilted<K, const N: usize> {
    pub(super) lists: Lists<K, N>,
    /// The tilt c.
    pub(super) c: Rational,
    /// Losses are reference + h key.
    pub(super) reference: Rational,
    pub(super) h: Rational,
    /// Encloses ln M(c).
    pub(super) ln_mgf: Enclosure,
    /// m: an upper bound on the truncated mass, that is 1 minus all stored tilted masses.
    pub(super) missing: Float,
    /// The largest loss of a bounded symmetric sum, whose smallest is its negative.
    pub(super) largest: Option<Rational>,
}

impl<K: Key, const N: usize> Tilted<K, N> {
    fn precision(&self) -> u32 {
        64 * N as u32 + 64
    }

    /// Encloses M(c) exp(-x y) for an exact x y.
    fn scale(&self, exponent: &Rational) -> Enclosure {
        let bits = self.precision() + 64;
        self.ln_mgf.sub(&Enclosure::rational(exponent, bits)).exp()
    }

    /// Encloses a sum of P-masses, or of Q-masses, from its computed value, which carries `units`.
    pub(super) fn scaled(&self, sum: &Wide<N>, units: f64, under: Under) -> Enclosure {
        sum.enclosure(units).mul(&self.scale(&(self.exponent(under) * &self.reference)))
    }

    /// c under P, c + 1 under Q.
    fn exponent(&self, under: Under) -> Rational {
        match under {
            Under::P => self.c.clone(),
            Under::Q => Rational::from(&self.c + 1_u32),
        }
    }

    /// Encloses the contribution of the truncated mass where exp(-c (l - z)) <= 1 for all losses l that count, or under Q exp(-(c + 1) (l - z)) <= 1.
    pub(super) fn missed(&self, z: &Rational, under: Under) -> Enclosure {
        self.up_to_missing(&self.scale(&(self.exponent(under) * z)))
    }

    /// From zero to a factor times the truncated mass.
    fn up_to_missing(&self, factor: &Enclosure) -> Enclosure {
        Enclosure::new(Float::new(64), self.missing.clone()).mul(factor)
    }

    /// The number of steps from the reference to the first loss that is at least z.
    fn steps_to(&self, z: &Rational) -> Integer {
        (Rational::from(z - &self.reference) / &self.h).ceil().into_numer_denom().0
    }

    /// The loss nearest to z on one side of it.
    fn nearest(&self, z: &Rational, side: Side) -> Rational {
        let steps = match side {
            Side::Upper => self.steps_to(z),
            Side::Lower => self.steps_to(z) - 1,
        };
        Rational::from(&self.h * steps) + &self.reference
    }

    /// The first loss above z.
    fn above(&self, z: &Rational) -> Rational {
        let first = self.nearest(z, Side::Upper);
        if first == *z { first + &self.h } else { first }
    }

    /// A key that orders all pairs as z does: the smallest whose loss is at least z, or one beyond all pairs on the same side.
    pub(super) fn key_at(&self, z: &Rational) -> K {
        K::place(&self.steps_to(z)).key
    }

    /// The loss of a key.
    pub(super) fn loss(&self, key: K) -> Rational {
        Rational::from(&self.h * key.integer()) + &self.reference
    }

    /// Whether a bounded sum has no loss at all on one side of z.
    pub(super) fn is_empty(&self, z: &Rational, side: Side) -> bool {
        self.largest.as_ref().is_some_and(|largest| match side {
            Side::Upper => z > largest,
            Side::Lower => *z <= Rational::from(-largest),
        })
    }

    pub(super) fn sum(&self, key: K, side: Side, under: Under) -> PairSum<N> {
        let weight = match under {
            Under::P => Weight::P,
            Under::Q => Weight::Q,
        };
        match side {
            Side::Upper => self.lists.upper(key, weight),
            Side::Lower => self.lists.lower(key, weight),
        }
    }

    /// Encloses the probability of one side of z from the sum of the stored masses there.
    pub(super) fn with_missing(&self, sum: &Wide<N>, z: &Rational, side: Side, under: Under) -> Enclosure {
        if self.is_empty(z, side) {
            return Enclosure::double(0.0, self.precision());
        }
        // stored <= truth <= stored + m M(c) exp(-c first)
        let stored = self.scaled(sum, self.lists.units_of_a_tail(), under);
        stored.add(&self.missed(&self.nearest(z, side), under)).clamp(0.0, 1.0)
    }

    /// E[(1 - exp(epsilon - L))_+], for c >= 0.
    pub(super) fn hockey_stick(&self, epsilon: &Rational) -> Enclosure {
        let threshold = Threshold::new(epsilon, &self.reference, &self.h);
        let stored = self.scaled(&self.lists.excess(&threshold), self.lists.units_of_an_excess(), Under::P);
        // exp(-c (l - eps)) (1 - exp(eps - l)) is at most its largest value c^c / (c + 1)^(c + 1), one for c = 0. It is also
        // at most exp(-c (first - eps)) at the first loss above eps and beyond.
        let bits = 64;
        let (c, next) =
            (Enclosure::rational(&self.c, bits), Enclosure::rational(&Rational::from(&self.c + 1_u32), bits));
        let ln_largest =
            if self.c > 0 { c.mul(&c.ln()).sub(&next.mul(&next.ln())) } else { Enclosure::double(0.0, bits) };
        let anywhere = self.missed(epsilon, Under::P).mul(&ln_largest.exp());
        let from_first = self.missed(&self.above(epsilon), Under::P);
        // stored <= truth <= stored + both bounds
        let missed = if anywhere.upper() < from_first.upper() { anywhere } else { from_first };
        stored.add(&missed).clamp(0.0, 1.0)
    }

    /// The complement of that, for -1 <= c <= 0: P[L <= epsilon] + exp(epsilon) Q[L > epsilon].
    pub(super) fn complement(&self, epsilon: &Rational) -> Enclosure {
        let units = self.lists.units_of_a_tail();
        let first = self.above(epsilon);
        let key = self.key_at(&first);
        let below = self.scaled(&self.sum(key, Side::Lower, Under::P).sum, units, Under::P);
        let above = self.sum(key, Side::Upper, Under::Q).sum.enclosure(units);
        let scale = self.scale(&(self.exponent(Under::Q) * &self.reference - epsilon));
        // exp(-c l) is at most its value at the last loss that is not above eps, and exp(-(c + 1) l) at the first above it.
        let missed_below = self.missed(&self.nearest(&first, Side::Lower), Under::P);
        let scale_above = self.scale(&(self.exponent(Under::Q) * &first - epsilon));
        let missed_above = self.up_to_missing(&scale_above);
        below.add(&above.mul(&scale)).add(&missed_below.max(&missed_above)).clamp(0.0, 1.0)
    }

    /// The probability of one side of z under one law. The tilt must be in the range where exp(-c d), or under Q
    /// exp(-(c + 1) d), is at most one on that side.
    pub(super) fn tail(&self, z: &Rational, side: Side, under: Under) -> Enclosure {
        let sum = self.sum(self.key_at(z), side, under).sum;
        self.with_missing(&sum, z, side, under)
    }
}
