//! One list of losses with their masses under both laws, and products of such lists.

use rug::{Float, Integer, Rational, float::Round};

use super::{key::Key, masses::TiltedMasses, wide::Wide};
use crate::numeric::Enclosure;

/// Losses reference + h key, h the step of the common lattice, in ascending order, with the numbers that are summed over them.
///
/// With c the tilt and M(c) the moment generating function of the part, and relative to the part's reference loss, P[L = l] = M(c) exp(-c reference)
/// p and Q[L = l] = M(c) exp(-(c + 1) reference) q, up to the truncated mass.
#[derive(Clone, Debug)]
pub(super) struct Column<K, const N: usize> {
    pub(super) keys: Vec<K>,
    /// Tilted mass times exp(-c (l - reference)).
    pub(super) p: Vec<Wide<N>>,
    /// p exp(-(l - reference)).
    pub(super) q: Vec<Wide<N>>,
    /// exp(-(l - reference)).
    pub(super) falling: Vec<Wide<N>>,
    /// exp(l - reference).
    pub(super) rising: Vec<Wide<N>>,
    /// The number of parts that were multiplied.
    pub(super) parts: usize,
}

/// The largest span of the exponentials of one part in nats: far inside the range of floats, and so are their products.
pub(super) const MOST_NATS: f64 = 1e8;
/// The largest distance in nats between the smallest and the largest sum of all parts: exp of any distance between two of them is a float of MPFR,
/// whose exponents end at 2^30 - 1, that is at 744,261,117 nats.
pub(super) const MOST_NATS_OF_ALL: f64 = 7e8;

/// An entry of one part carries at most this many units in any of its four numbers: two for each exponential, one for
/// the conversion of the mass and one for each of two products.
pub(super) const UNITS_OF_A_PART: usize = 8;

impl<K: Key, const N: usize> Column<K, N> {
    /// The one loss of an empty sum.
    pub(super) fn unit() -> Self {
        let one = || vec![Wide::one()];
        Column { keys: vec![K::zero()], p: one(), q: one(), falling: one(), rising: one(), parts: 0 }
    }

    /// The masses of one part, tilted by c, with losses counted from that of the middle mass. `h` is the step of the
    /// common lattice. `None` where a key does not fit, or where the exponentials would span too many nats.
    pub(super) fn of_part(masses: &TiltedMasses, c: &Rational, h: &Rational) -> Option<Self> {
        if masses.listed.is_some() {
            return Self::of_listed_part(masses, c, h);
        }
        let middle = masses.first + masses.len() as i64 / 2;
        let factor = Rational::from(&masses.step / h).numer().clone();
        // The largest key is at one of the ends, and the sum of those of all parts is checked by the caller.
        let ends = [0, masses.len() as i64 - 1].map(|k| Integer::from(&factor * (masses.first + k - middle)));
        if ends.iter().any(|key| key.significant_bits() > K::BITS) {
            return None;
        }
        if masses.step.to_f64() * masses.len() as f64 * (c.to_f64().abs() + 1.0) > MOST_NATS {
            return None;
        }
        let places = || (masses.first - middle..).take(masses.len());
        let mut weights = Exponentials::<N>::new(&-Rational::from(c * &masses.step), masses.first - middle);
        let mut falling = Exponentials::<N>::new(&-masses.step.clone(), masses.first - middle);
        let mut rising = Exponentials::<N>::new(&masses.step, masses.first - middle);
        let mut column = Column { keys: vec![], p: vec![], q: vec![], falling: vec![], rising: vec![], parts: 1 };
        let (units, exponent) = masses.units();
        for (words, place) in units.zip(places()) {
            let (weight, fall, rise) = (weights.advance(), falling.advance(), rising.advance());
            if words.iter().all(|&word| word == 0) {
                continue;
            }
            let p = Wide::from_words(words, -exponent).mul(&weight.wide());
            let fall = fall.wide();
            column.keys.push(K::exact(&Integer::from(&factor * place))?);
            column.p.push(p);
            column.q.push(p.mul(&fall));
            column.falling.push(fall);
            column.rising.push(rise.wide());
        }
        Some(column)
    }

    /// The same for masses at listed places: each exponential is evaluated separately.
    fn of_listed_part(masses: &TiltedMasses, c: &Rational, h: &Rational) -> Option<Self> {
        let middle = masses.middle();
        let factor = Rational::from(&masses.step / h).numer().clone();
        if masses.span_approx() * (c.to_f64().abs() + 1.0) > MOST_NATS {
            return None;
        }
        // One unit for the exponential, with 64 bits more than a `Wide` has, and one for its conversion.
        let exp = |exponent: &Rational| {
            let size = libm::log2(exponent.to_f64().abs().max(1.0)).clamp(0.0, 2000.0) as u32 + 8;
            let bits = 64 * N as u32 + 64;
            Wide::float(Enclosure::rational(exponent, bits + size).exp().lower())
        };
        let mut column = Column { keys: vec![], p: vec![], q: vec![], falling: vec![], rising: vec![], parts: 1 };
        let (units, exponent) = masses.units();
        for (words, place) in units.zip(masses.places()) {
            if words.iter().all(|&word| word == 0) {
                continue;
            }
            let away = Integer::from(&place - &middle);
            let key = Integer::from(&factor * &away);
            if key.significant_bits() > K::BITS {
                return None;
            }
            let distance = Rational::from(&masses.step * &away);
            let p = Wide::from_words(words, -exponent).mul(&exp(&-Rational::from(c * &distance)));
            let falling = exp(&-distance.clone());
            column.keys.push(K::exact(&key)?);
            column.p.push(p);
            column.q.push(p.mul(&falling));
            column.falling.push(falling);
            column.rising.push(exp(&distance));
        }
        Some(column)
    }

    /// All sums of a loss of one column and a loss of the other.
    pub(super) fn product(&self, other: &Self) -> Self {
        let mut order: Vec<(K, u32, u32)> = Vec::with_capacity(self.keys.len() * other.keys.len());
        for (key, i) in self.keys.iter().zip(0..) {
            order.extend(other.keys.iter().zip(0..).map(|(other, j)| (key.plus(*other), i, j)));
        }
        order.sort_unstable();
        let pick = |a: &[Wide<N>], b: &[Wide<N>]| -> Vec<Wide<N>> {
            order.iter().map(|&(_, i, j)| a[i as usize].mul(&b[j as usize])).collect()
        };
        Column {
            p: pick(&self.p, &other.p),
            q: pick(&self.q, &other.q),
            falling: pick(&self.falling, &other.falling),
            rising: pick(&self.rising, &other.rising),
            parts: self.parts + other.parts,
            keys: order.into_iter().map(|(key, _, _)| key).collect(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.len() * (size_of::<K>() + 4 * size_of::<Wide<N>>())
    }

    /// The largest absolute value of a key.
    pub(super) fn reach(&self) -> Integer {
        let end = |key: Option<&K>| key.map_or_else(Integer::new, |key| key.integer().abs());
        end(self.keys.first()).max(end(self.keys.last()))
    }
}

/// The reference loss of a part.
pub(super) fn reference(masses: &TiltedMasses) -> Rational {
    Rational::from(&masses.step * masses.middle()) + &masses.origin
}

/// exp(x k) for k = first, first + 1, ..., each the last one times exp(x).
///
/// With 128 bits more than a [`Wide`] has, and exponents rounded at 128 bits more than their own size needs, the relative error of the first value
/// and of the ratio is 2^-(64 N + 126) each, and after k steps that of the value less than (2 k + 1) times that: far below one unit for every k below
/// 2^60. The conversion is the second unit.
struct Exponentials<const N: usize> {
    value: Float,
    ratio: Float,
}

/// One of them, not yet converted.
struct Exponential<const N: usize>(Float);

impl<const N: usize> Exponential<N> {
    fn wide(&self) -> Wide<N> {
        Wide::float(&self.0)
    }
}

impl<const N: usize> Exponentials<N> {
    fn new(x: &Rational, first: i64) -> Self {
        let bits = 64 * N as u32 + 128;
        let exp = |exponent: &Rational| {
            let size = libm::log2(exponent.to_f64().abs().max(1.0)).clamp(0.0, 2000.0) as u32 + 8;
            Float::with_val(bits, Enclosure::rational(exponent, bits + size).exp().lower())
        };
        Exponentials { value: exp(&Rational::from(x * first)), ratio: exp(x) }
    }

    fn advance(&mut self) -> Exponential<N> {
        let next = Float::with_val_round(self.value.prec(), &self.value * &self.ratio, Round::Down).0;
        Exponential(std::mem::replace(&mut self.value, next))
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{masses::Fineness, terms},
        *,
    };
    use crate::{loss::testing::group, numeric::rational::parse};

    #[test]
    fn exponentials_carry_two_units() {
        let x = parse("-7/3").unwrap();
        let mut values = Exponentials::<2>::new(&x, -40);
        for k in -40..60 {
            let got = values.advance().wide().enclosure(2.0);
            let truth = Enclosure::rational(&Rational::from(&x * k), 300).exp();
            assert!(got.overlaps(&truth) && got.is_tight(36), "{k}");
        }
    }

    #[test]
    fn a_column_holds_both_laws_and_its_products_do() {
        let c = parse("1/2").unwrap();
        let fineness = Fineness { words: 2, cut: 80 };
        let parts = ["5x3", "7"].map(|text| terms::of_group(&group(text), &c, fineness).unwrap());
        let h = parse("1/35").unwrap();
        let [a, b] = parts.each_ref().map(|part| Column::<i64, 2>::of_part(part, &c, &h).unwrap());
        let product = a.product(&b);
        assert_eq!((product.len(), product.parts), (a.len() * b.len(), 2));
        assert!(product.keys.is_sorted());
        for k in (0..product.len()).step_by(97) {
            let falling = product.falling[k].enclosure(20.0);
            let truth = Enclosure::rational(&-(Rational::from(&h * product.keys[k])), 200).exp();
            assert!(falling.overlaps(&truth) && falling.is_tight(30));
            let inverse = product.falling[k].mul(&product.rising[k]).enclosure(40.0);
            assert!(inverse.contains(&Rational::from(1)) && inverse.is_tight(30));
            assert!(product.p[k].mul(&product.falling[k]).enclosure(40.0).overlaps(&product.q[k].enclosure(40.0)));
        }
        // A key that does not fit is refused.
        let tiny = Rational::from((1, Integer::from(35) << 70_u32));
        assert!(Column::<i64, 2>::of_part(&parts[0], &c, &tiny).is_none());
    }
}
