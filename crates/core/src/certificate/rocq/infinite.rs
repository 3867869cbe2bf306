//! Infinite losses, by `proofs/rocq/Infinite.v`: with K the probability that all losses are finite, delta = 1 - K (1 - delta0), where delta0 is
//! that of the finite losses, which a walk bounds.

use rug::{Float, Rational, ops::Pow};

use super::{laws::Noise, number::unprovable, rows::INFINITE_BITS, walk::Side};
use crate::{
    certificate::ends::{round_down, round_up},
    error::Result,
    law::{Group, Law},
    numeric::rational,
};

/// Digits of a delta of the finite losses.
const DIGITS: u32 = 12;
/// Bits of numbers here, and the most counts: a file rounds K at each.
const BITS: u32 = 256;
const MOST_COPIES: u64 = 1 << 18;

/// Bounds of K, wider than those of a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Kept {
    lower: Rational,
    upper: Rational,
}

/// The product of 1 - delta over all guarantees, if there is one with a delta.
pub(super) fn of_guarantees(path: &[&Group]) -> Option<Rational> {
    let factor = |group: &&Group| match &group.law {
        // At most 1000 copies.
        Law::Approximate { delta, .. } => Some(Rational::from(1 - delta).pow(u32::try_from(group.copies).ok()?)),
        _ => None,
    };
    path.iter().filter_map(factor).reduce(|all, one| all * one)
}

impl Kept {
    /// K, unless all losses are finite.
    pub(super) fn of_path(path: &[&Group]) -> Result<Option<Kept>> {
        let (mut logarithms, mut some) = ([Float::new(BITS), Float::new(BITS)], false);
        for group in path.iter().filter(|group| group.shift > 0 && group.copies > 0) {
            let infinite = match Noise::of_group(group)? {
                Noise::Response { infinite, .. } if infinite > 0 => {
                    [Float::with_val(BITS, &infinite), Float::with_val(BITS, &infinite)]
                }
                // It may be too small for a double.
                Noise::Bounded(bounded) if bounded.has_infinite_loss() => {
                    bounded.infinite(group.shift).map(|loss| Float::with_val(BITS, loss))
                }
                _ => continue,
            };
            some = true;
            for (sum, one) in logarithms.iter_mut().zip(infinite) {
                *sum += (-one).ln_1p() * group.copies;
            }
        }
        if !some {
            return Ok(None);
        }
        if path.iter().map(|group| group.copies).sum::<u64>() > MOST_COPIES {
            return Err(unprovable(&format!("with infinite losses are about {MOST_COPIES} counts or fewer")));
        }
        // More than the rounding here, and more than that of a file with these bits.
        let margin = Float::with_val(BITS, MOST_COPIES) >> (INFINITE_BITS - 2);
        let bound = |ln: &Float, sign: i32| Float::with_val(BITS, ln.exp_ref()) + Float::with_val(BITS, sign * &margin);
        let [upper, lower] = [bound(&logarithms[0], 1), bound(&logarithms[1], -1)];
        if lower <= 0 {
            return Err(unprovable("need a probability of infinite losses that is not nearly 1"));
        }
        let exact = |value: &Float| value.to_rational().ok_or_else(|| unprovable("need a finite number"));
        Ok(Some(Kept { lower: exact(&lower)?, upper: exact(&upper)? }))
    }

    /// delta0 at which the finite losses show that delta of all is at most, or above, this one.
    pub(super) fn of_finite(&self, delta: &Rational, side: Side) -> Result<Rational> {
        // At most delta: K (1 - delta0) >= 1 - delta, so delta0 is rounded down. Above it: K (1 - delta0) < 1 - delta, up.
        let kept = self.on(side);
        let infinite = Rational::from(1 - kept);
        let exact = Rational::from(delta - &infinite) / kept;
        if exact <= 0 {
            return Err(unprovable(&format!(
                "need a delta above the probability of an infinite loss, which their numbers put at {} or less; {} is not above that",
                shown(&infinite),
                rational::display(delta)
            )));
        }
        Ok(if side == Side::Above { round_down(&exact, DIGITS) } else { round_up(&exact, DIGITS) })
    }

    /// The delta of all losses that delta0 shows.
    pub(super) fn of_all(&self, finite: &Rational, side: Side) -> Rational {
        1 - self.on(side) * Rational::from(1 - finite)
    }

    fn on(&self, side: Side) -> &Rational {
        if side == Side::Above { &self.lower } else { &self.upper }
    }
}

/// A probability with a few digits.
fn shown(value: &Rational) -> String {
    rational::display(&round_up(&Rational::from(value).max(Rational::new()), 6))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::testing::groups;

    #[test]
    fn a_delta_of_the_finite_losses_is_rounded_to_the_safe_side() {
        let all = groups(&["5", "approximate:1:1/1000x3", "pure:1/2", "approximate:2:1/3"]);
        let path: Vec<&Group> = all.iter().collect();
        let exact = of_guarantees(&path).unwrap();
        assert_eq!(exact, Rational::from((999, 1000)).pow(3_u32) * Rational::from((2, 3)));
        let kept = Kept::of_path(&path).unwrap().unwrap();
        assert!(kept.lower < exact && exact < kept.upper);
        let delta = Rational::from((1, 2));
        let [above, below] = [Side::Above, Side::Below].map(|side| kept.of_finite(&delta, side).unwrap());
        assert!(
            kept.of_all(&above, Side::Above) <= delta && kept.of_all(&below, Side::Below) >= delta && above < below
        );
        assert!(Rational::from(&below - &above) <= Rational::from((1, 1_000_000_000_000_u64)));
        let small = kept.of_finite(&Rational::from((1, 3)), Side::Above).unwrap_err().to_string();
        assert!(small.contains("probability of an infinite loss"), "{small}");
        assert_eq!(Kept::of_path(&path[..1]).unwrap(), None);
        assert_eq!(Kept::of_path(&path[2..3]).unwrap(), None);
    }

    #[test]
    fn the_ends_of_truncated_noise_are_lost() {
        let all = groups(&["truncated-gaussian:4:9x3@2", "truncated-laplace:1/2:20", "randomized-response:1:3"]);
        let path: Vec<&Group> = all.iter().collect();
        let kept = Kept::of_path(&path).unwrap().unwrap();
        let lost = |group: &Group| group.law.finite(group.shift).unwrap().infinite_mass(200).approximate();
        let exact = (1.0 - lost(&all[0])).powi(3) * (1.0 - lost(&all[1]));
        assert!(kept.lower.to_f64() <= exact + 1e-15 && exact <= kept.upper.to_f64() + 1e-15);
        assert!(Rational::from(&kept.upper - &kept.lower).to_f64() < 1e-6 * (1.0 - exact));
        // Of a probability below all doubles, too.
        let small = groups(&["truncated-gaussian:1/10000:9"]);
        assert!(Kept::of_path(&[&small[0]]).unwrap().is_some_and(|kept| kept.upper >= 1 && kept.lower < 1));
        assert_eq!(Kept::of_path(&path[2..]).unwrap(), None);
    }
}
