//! The trade-off function at one type I error, from the same lists.
//!
//! The test that rejects for L > l has the errors (Q[L > l], P[L <= l]), and the trade-off function f joins these knots by
//! lines. For every loss l, whether it is a sum of the lists or not, the line of slope -exp(l) through the knots of l,
//!
//! line(alpha) = `P[L < l] + exp(l) (Q[L >= l] - alpha)`,
//!
//! supports the convex f: f >= line everywhere, with equality for Q[L > l] <= alpha <= Q[L >= l]. For alpha >= Q[L >= l]
//! f(alpha) is at most `P[L < l]`, because f falls. So for every l with Q[L > l] <= alpha
//!
//! line(alpha) <= f(alpha) <= `P[L < l] + exp(l) max(0, Q[L >= l] - alpha)`,
//!
//! and the two differ only where alpha is beyond the right knot. The search finds the smallest l of which the lists prove that Q[L > l] <= alpha, so
//! the two ends are as close as the lists resolve the place of the knot: an alpha that is a knot to any number of digits is no harder than another.
//!
//! Near alpha = 1 everything is counted from the other end: Q[L >= l] - alpha = (1 - alpha) - Q[L < l].

use rug::{Float, Rational, float::Round};

use super::{
    key::Key,
    lists::LISTED,
    tilted::{Side, Tilted, Under},
    wide::Wide,
};
use crate::numeric::Enclosure;

/// Encloses f(alpha) for 0 < alpha < 1, at any tilt. `None` where the lists cannot prove of any of their losses that it is large enough.
pub(super) fn tradeoff<K: Key, const N: usize>(table: &Tilted<K, N>, alpha: &Rational) -> Option<Enclosure> {
    let bits = 64 * N as u32 + 64;
    let exact = |x: &Rational| Enclosure::rational(x, bits);
    // Left of c = -1 the losses below are few under Q, else those above.
    let side = if table.c < -1 { Side::Lower } else { Side::Upper };
    let rest = Rational::from(1 - alpha);
    // The masses of losses >= t under Q are at most alpha; or those of losses < t are at least 1 - alpha.
    let place = match side {
        Side::Lower => {
            // stored <= truth
            let target = limit(table, &exact(&rest), Round::Up)?;
            Search { table, side, limit: target }.first()?
        }
        Side::Upper => {
            // First without the truncated mass; its contribution above t falls with t.
            let target = limit(table, &exact(alpha), Round::Down)?;
            let near = Search { table, side, limit: target }.first()?;
            let loss = table.loss(near);
            if table.is_empty(&loss, side) {
                near
            } else {
                let target = limit(table, &exact(alpha).sub(&table.missed(&loss, Under::Q)), Round::Down)?;
                Search { table, side, limit: target }.first_from(near)?
            }
        }
    };
    // Q[L >= t] <= alpha for t = place, which is one key above the loss l.
    let key = place.minus(K::one());
    let loss = table.loss(key);
    let slope = exact(&loss).exp();
    let tail = |under, side| table.with_missing(&table.sum(key, side, under).sum, &loss, side, under);
    let right = match side {
        Side::Upper => tail(Under::Q, Side::Upper).sub(&exact(alpha)),
        Side::Lower => exact(&rest).sub(&tail(Under::Q, Side::Lower)),
    };
    let beta = if table.c > 0 {
        Enclosure::double(1.0, bits).sub(&tail(Under::P, Side::Upper))
    } else {
        tail(Under::P, Side::Lower)
    };
    let line = beta.add(&slope.mul(&right));
    let above = beta.add(&slope.mul(&right.max(&Enclosure::double(0.0, bits))));
    Some(Enclosure::new(line.lower().clone(), above.upper().clone()).clamp(0.0, 1.0))
}

/// The value that the sum of stored Q-masses must reach so that the true sum is surely on the requested side of `target`: in terms of the computed
/// sum, with all its rounding errors, times exp(ln M(c) - (c + 1) reference).
fn limit<K: Key, const N: usize>(table: &Tilted<K, N>, target: &Enclosure, round: Round) -> Option<Wide<N>> {
    // computed <= stored exp(units) and stored <= computed exp(units), and a scale of one carries the same.
    let units = table.scaled(&Wide::one(), table.lists.units_of_a_tail(), Under::Q);
    let quotient = target.div(&units);
    let bits = 64 * N as u32 + 32;
    match round {
        // Rounded down once more by its conversion.
        Round::Down => (*quotient.lower() > 0).then(|| Wide::float(quotient.lower())),
        _ => {
            // More than the truncation of the conversion, which is below a relative 2^(1 - 64 N).
            let margin = 1 + (Float::with_val(bits, 1) >> (64 * N as u32 - 2));
            Some(Wide::float(&Float::with_val_round(bits, quotient.upper() * &margin, Round::Up).0))
        }
    }
}

/// The search for a threshold: the first key t from which the condition on the computed sum holds. The condition is "at most the limit" for the
/// masses at or above t and "at least the limit" for those below t; both hold from some key on.
struct Search<'a, K, const N: usize> {
    table: &'a Tilted<K, N>,
    side: Side,
    limit: Wide<N>,
}

/// A key with the sum of its side and the number of pairs there.
#[derive(Clone, Copy, Debug)]
struct Probe<K, const N: usize> {
    key: K,
    sum: Wide<N>,
    pairs: u64,
}

impl<K: Key, const N: usize> Search<'_, K, N> {
    fn holds(&self, sum: &Wide<N>) -> bool {
        match self.side {
            Side::Upper => *sum <= self.limit,
            Side::Lower => *sum >= self.limit,
        }
    }

    fn probe(&self, key: K) -> Probe<K, N> {
        let sum = self.table.sum(key, self.side, Under::Q);
        Probe { key, sum: sum.sum, pairs: sum.pairs }
    }

    /// The first key of all; one past the smallest where it holds everywhere, `None` where it holds nowhere.
    fn first(&self) -> Option<K> {
        let (least, _) = self.table.lists.ends();
        self.first_from(least)
    }

    fn first_from(&self, from: K) -> Option<K> {
        let (_, most) = self.table.lists.ends();
        let low = self.probe(from);
        if self.holds(&low.sum) {
            return Some(from);
        }
        let high = self.probe(most.plus(K::one()));
        if !self.holds(&high.sum) {
            return None;
        }
        Some(self.narrowed(low, high))
    }

    /// Between a key where it does not hold and one where it does: by interpolation of the logarithm of the sum, with halving in between, until the
    /// remaining pairs can be enumerated.
    fn narrowed(&self, mut low: Probe<K, N>, mut high: Probe<K, N>) -> K {
        let target = self.limit.log2();
        for round in 0.. {
            if low.pairs.abs_diff(high.pairs) <= LISTED {
                return self.listed(&low, &high);
            }
            let width = high.key.minus(low.key);
            if width == K::one() {
                break;
            }
            let (below, above) = (low.sum.log2() - target, high.sum.log2() - target);
            let share = below / (below - above);
            // Every third step halves; the others aim a little beyond the estimate, on alternate sides.
            let aim = match round % 3 {
                0 => share * 0.98,
                1 => 1.0 - (1.0 - share) * 0.98,
                _ => 0.5,
            };
            let aim = if aim.is_finite() { aim.clamp(1e-6, 1.0 - 1e-6) } else { 0.5 };
            let middle = self.probe(low.key.plus(part::<K>(width, aim)));
            if self.holds(&middle.sum) {
                high = middle;
            } else {
                low = middle;
            }
        }
        high.key
    }

    /// The first key between the two, by enumeration of all pairs between them.
    fn listed(&self, low: &Probe<K, N>, high: &Probe<K, N>) -> K {
        let pairs = self.table.lists.between(low.key, high.key);
        match self.side {
            Side::Lower => {
                let mut sum = low.sum;
                for (key, mass) in pairs {
                    sum = sum.add(&mass);
                    if self.holds(&sum) {
                        return key.plus(K::one());
                    }
                }
                high.key
            }
            Side::Upper => {
                let mut sum = high.sum;
                for (key, mass) in pairs.into_iter().rev() {
                    sum = sum.add(&mass);
                    if !self.holds(&sum) {
                        return key.plus(K::one());
                    }
                }
                low.key.plus(K::one())
            }
        }
    }
}

/// An approximate share of a width of at least two, at least one and less than the width.
fn part<K: Key>(width: K, share: f64) -> K {
    let width = width.integer();
    let share = (share * 2f64.powi(53)) as u64;
    let place = (rug::Integer::from(&width * share) >> 53_u32)
        .clamp(&rug::Integer::from(1), &rug::Integer::from(&width - 1_u32));
    K::place(&place).key
}
