//! Angles that advance by an exact fraction of a full turn from node to node.

use rug::{Integer, Rational};

use super::field::Real;

/// An angle of node x step / modulus full turns, reduced exactly for any node.
#[derive(Clone, Debug)]
pub(crate) struct ExactPhase {
    step: Integer,
    modulus: Integer,
    /// The same where the modulus is small enough for machine arithmetic.
    small: Option<(i64, i64)>,
}

impl ExactPhase {
    /// The advance of `turns` full turns a node.
    pub(crate) fn new(turns: &Rational) -> Self {
        let (top, modulus) = (turns.numer().clone(), turns.denom().clone());
        let step = top.div_rem_euc(modulus.clone()).1;
        let small = step.to_i64().zip(modulus.to_i64());
        ExactPhase { step, modulus, small }
    }

    /// The angle at a node, as a fraction of a full turn in [-1/2, 1/2].
    pub(crate) fn at<R: Real>(&self, node: i64, precision: R::Precision) -> R {
        if let Some((step, modulus)) = self.small {
            // Both factors are below 2^63 in absolute value, so the product fits.
            let residue = (i128::from(node) * i128::from(step)).rem_euclid(i128::from(modulus));
            let nearest = if residue * 2 > i128::from(modulus) { residue - i128::from(modulus) } else { residue };
            return R::ratio(nearest as i64, modulus, precision);
        }
        let (_, residue) = Integer::from(&self.step * node).div_rem_euc(self.modulus.clone());
        let twice = Integer::from(&residue << 1_u32);
        let nearest = if twice > self.modulus { residue - &self.modulus } else { residue };
        R::rational(&Rational::from((nearest, self.modulus.clone())), precision)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    #[test]
    fn machine_and_exact_reductions_agree() {
        for turns in ["1/7", "-3/11", "22/7", "123456789/987654321"] {
            let turns = parse(turns).unwrap();
            let fast = ExactPhase::new(&turns);
            let slow = ExactPhase { small: None, ..fast.clone() };
            for node in [0, 1, -1, 5, 1_000_000_007, -987_654_321_987, i64::MAX / 3] {
                let (a, b) = (fast.at::<f64>(node, ()), slow.at::<f64>(node, ()));
                assert!((a - b).abs() < 1e-15 && a.abs() <= 0.5, "{turns} {node} {a} {b}");
                let whole = Rational::from(&turns * node) - Rational::from_f64(a).unwrap();
                let rest = &whole - whole.clone().round();
                assert!(rest.to_f64().abs() < 1e-15);
            }
        }
        assert_eq!(ExactPhase::new(&Rational::new()).at::<f64>(5, ()), 0.0);
    }
}
