//! Infinite losses, by `proofs/rocq/Infinite.v`: with K the probability that all losses are finite, delta = 1 - K (1 - delta0), where delta0 is
//! that of the finite losses, which a walk bounds.

use rug::{Rational, ops::Pow};

use super::{number::unprovable, walk::Side};
use crate::{
    certificate::ends::{round_down, round_up},
    error::Result,
    law::{Group, Law},
    numeric::rational,
};

/// Digits of a delta of the finite losses.
const DIGITS: u32 = 12;

/// K, if it is not 1: the product of 1 - delta over all guarantees.
pub(super) fn kept(path: &[&Group]) -> Option<Rational> {
    let factor = |group: &&Group| match &group.law {
        // At most 1000 copies.
        Law::Approximate { delta, .. } => Some(Rational::from(1 - delta).pow(u32::try_from(group.copies).ok()?)),
        _ => None,
    };
    path.iter().filter_map(factor).reduce(|all, one| all * one)
}

/// delta0 at which the finite losses show that delta of all is at most, or above, this one.
pub(super) fn of_finite(delta: &Rational, kept: &Rational, side: Side) -> Result<Rational> {
    let infinite = Rational::from(1 - kept);
    // At most delta: K (1 - delta0) >= 1 - delta, so delta0 is rounded down. Above it: K (1 - delta0) <= 1 - delta, up.
    let exact = Rational::from(delta - &infinite) / kept;
    if exact <= 0 {
        return Err(unprovable(&format!(
            "need a delta above the probability of an infinite loss, which is {}: at {} no epsilon is enough",
            rational::display(&infinite),
            rational::display(delta)
        )));
    }
    Ok(if side == Side::Above { round_down(&exact, DIGITS) } else { round_up(&exact, DIGITS) })
}

/// The delta of all losses that delta0 shows.
pub(super) fn of_all(finite: &Rational, kept: &Rational) -> Rational {
    1 - kept * Rational::from(1 - finite)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::testing::groups;

    #[test]
    fn a_delta_of_the_finite_losses_is_rounded_to_the_safe_side() {
        let all = groups(&["5", "approximate:1:1/1000x3", "pure:1/2", "approximate:2:1/3"]);
        let path: Vec<&Group> = all.iter().collect();
        let kept = kept(&path).unwrap();
        assert_eq!(kept, Rational::from((999, 1000)).pow(3_u32) * Rational::from((2, 3)));
        let delta = Rational::from((1, 2));
        let [above, below] = [Side::Above, Side::Below].map(|side| of_finite(&delta, &kept, side).unwrap());
        assert!(of_all(&above, &kept) <= delta && of_all(&below, &kept) >= delta && above < below);
        assert!(Rational::from(&below - &above) <= Rational::from((1, 1_000_000_000_000_u64)));
        let small = of_finite(&Rational::from((1, 3)), &kept, Side::Above).unwrap_err().to_string();
        assert!(small.contains("probability of an infinite loss"), "{small}");
        assert_eq!(super::kept(&path[..1]), None);
    }
}
