//! Upper bounds on non-negative numbers, for error terms. Every operation rounds up.

use rug::{Float, float::Round};

use super::enclosure::Enclosure;

/// An upper bound on a non-negative number; infinite if no bound is known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UpperBound(Float);

impl UpperBound {
    /// Upper bound on an enclosed non-negative number.
    pub(crate) fn of_enclosure(value: &Enclosure) -> Self {
        UpperBound::known(value.upper().clone())
    }

    /// Upper bound on exp(x) for an enclosed x; exp is increasing.
    pub(crate) fn exp(x: &Enclosure) -> Self {
        UpperBound::known(Float::with_val_round(x.upper().prec(), x.upper().exp_ref(), Round::Up).0)
    }

    /// Upper bound on 1 - exp(x) for an enclosed x <= 0; the function is decreasing.
    pub(crate) fn one_minus_exp(x: &Enclosure) -> Self {
        let below = Float::with_val_round(x.lower().prec(), x.lower().exp_m1_ref(), Round::Down).0;
        UpperBound::known(-below)
    }

    /// Upper bound on 1 / (exp(x) - 1) for an enclosed x > 0; the function is decreasing. Infinite if x may be zero.
    pub(crate) fn of_geometric(x: &Enclosure) -> Self {
        let bits = x.lower().prec();
        let below = Float::with_val_round(bits, x.lower().exp_m1_ref(), Round::Down).0;
        if below <= 0 {
            return UpperBound::known(Float::with_val(bits, f64::INFINITY));
        }
        UpperBound::known(Float::with_val_round(bits, below.recip_ref(), Round::Up).0)
    }

    /// NaN becomes the infinite bound; a negative bound on a non-negative number becomes zero.
    fn known(value: Float) -> Self {
        if value.is_nan() {
            return UpperBound(Float::with_val(value.prec(), f64::INFINITY));
        }
        UpperBound(if value < 0 { Float::new(value.prec()) } else { value })
    }

    /// Upper bound on x + y.
    pub(crate) fn add(&self, other: &Self) -> Self {
        UpperBound::known(Float::with_val_round(self.bits(other), &self.0 + &other.0, Round::Up).0)
    }

    /// Upper bound on x y.
    pub(crate) fn mul(&self, other: &Self) -> Self {
        UpperBound::known(Float::with_val_round(self.bits(other), &self.0 * &other.0, Round::Up).0)
    }

    fn bits(&self, other: &Self) -> u32 {
        self.0.prec().max(other.0.prec())
    }

    /// The bound.
    pub(crate) fn into_float(self) -> Float {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use rug::Rational;

    use super::*;

    /// Compared with the upper ends of the same operations on enclosures.
    #[test]
    fn bounds_are_the_upper_ends_of_enclosures() {
        let number = |k: i64| Enclosure::rational(&Rational::from((k * 7919 % 1000, 997)), 96);
        for k in 1..300 {
            let (x, y) = (number(k), number(3 * k + 1));
            let (a, b) = (UpperBound::of_enclosure(&x), UpperBound::of_enclosure(&y));
            assert_eq!(a.add(&b).into_float(), *x.add(&y).upper());
            assert_eq!(a.mul(&b).into_float(), *x.mul(&y).upper());
            assert_eq!(UpperBound::exp(&x).into_float(), *x.exp().upper());
            let minus = x.clone().negate();
            assert_eq!(UpperBound::one_minus_exp(&minus).into_float(), *minus.exp_m1().negate().upper());
            assert_eq!(UpperBound::of_geometric(&x).into_float(), *x.exp_m1().recip().upper());
        }
    }

    /// An infinite bound stays infinite, also times zero.
    #[test]
    fn an_infinite_bound_stays_infinite() {
        let (zero, whole) = (Enclosure::double(0.0, 96), Enclosure::whole_line(96));
        let unknown = UpperBound::of_enclosure(&whole);
        for bound in [
            unknown.mul(&UpperBound::of_enclosure(&zero)),
            unknown.add(&unknown),
            UpperBound::exp(&whole),
            UpperBound::of_geometric(&zero),
        ] {
            assert!(bound.into_float().is_infinite());
        }
        assert_eq!(UpperBound::one_minus_exp(&whole).into_float(), 1);
    }
}
