//! Gaussian smoothing: a little continuous noise is added to a sum, and its effect is subtracted from the answer. It serves where fine groups share
//! no lattice that can be swept: there the contour has no end, and the losses are too many to enumerate.
//!
//! # The sum
//!
//! Let Y be the privacy loss of continuous Gaussian noise of scale s: normal, of mean s^2 / 2 and variance s^2, which spends rho = s^2 / 2. Its
//! profile D has a closed form ([`gaussian`](super::gaussian)), which [`profile`] evaluates by polynomials. For any loss L independent of Y,
//!
//! ```text
//! E[(1 - exp(eps - l - Y))_+] = (1 - exp(eps - l))_+ + w(l) D(|eps - l|),    w(l) = min(1, exp(eps - l)),
//! ```
//!
//! by the symmetry D(-y) = 1 - exp(-y) + exp(-y) D(y). Hence
//!
//! ```text
//! delta_L(eps) = delta_(L + Y)(eps) - C,    C = sum over l of P[L = l] w(l) D(|eps - l|).
//! ```
//!
//! The first term has a contour that ends, because the characteristic function of Y decays as exp(-s^2 t^2 / 2): it is swept up to a height of a few
//! / s. In C only losses count that lie within a few s of eps, which [`close`] enumerates. The larger s, the lower the heights and the more the
//! losses: their product is a constant of the groups, far below the number of all losses. (This is Ewald's summation of the potentials of a crystal:
//! one half of each term in the lattice, the other in its dual.) C is far below delta, so the subtraction cancels no digits; for the complement of
//! delta, C is added.
//!
//! # The masses
//!
//! Groups whose sigma2 is not small are fine: their sums are Gaussian up to a factor 1 + e of every mass ([`fine`](super::fine)). For many digits,
//! the factor is a ripple of a few cosines and a smaller e.
//!
//! The losses of all other groups are enumerated with lower bounds on their masses, tilted by c, which fall short of 1 by m in total ([`coarse`]). A
//! sum of such a loss and of fine ones is called a point.
//!
//! # The proof
//!
//! For y >= 0, D(y) = integral of exp(y - t) P[Y > t] over t > y, and P[Y > t] <= exp(-(t - s^2/2)^2 / (2 s^2)) / 2 from s^2 / 2 on, so
//!
//! ```text
//! D(y) <= 0.63 s exp(-(y - s^2 / 2)_+^2 / (2 s^2)).
//! ```
//!
//! Under the law tilted by c, P[L = l] = M(c) exp(-c l) P_c[l]. So all points of a set A add at most
//!
//! ```text
//! M(c) exp(-c eps) P_c[A] times the largest exp(-c d) w D(|d|) in A,    d = l - eps.
//! ```
//!
//! - Points further than W from eps, W >= s^2 / 2 + |c| s^2: the last factor is at most 0.63 s exp(|c| W - (W - s^2 / 2)^2 / (2 s^2)), which
//!   falls with W. Everywhere it is at most 0.63 s exp(|c| W).
//! - Points of an energy z_1^2 / (2 v_1) + ... + z_k^2 / (2 v_k) above E, with z_j the distance of the j-th sum from its center
//!   c n_j shift_j. For 0 <= x < 1, E_c[exp(x z_j^2 / (2 v_j))] <= 1.25 / sqrt(1 - x): the tilted masses are those of
//!   exp(-z^2 / (2 v)) up to 1 + e, and a sum of such terms over the integers is off from its integral by one at most. With
//!   x = 1 - k / (2 E), P_c[A] <= exp(-E + k / 2) (2 E / k)^(k / 2) 1.25^k.
//! - The truncated mass of the enumerated losses: P_c[A] <= m.

mod close;
mod correction;
mod cost;
mod interval;
mod parts;
mod profile;
mod request;
mod state;
mod tails;

pub(crate) use self::interval::{Crowd, Interval};
pub(super) use self::state::Smoothed;

#[cfg(test)]
mod tests {
    use super::Smoothed;
    use crate::{
        loss::{engine::session::Session, evaluator::SumEvaluator, limit::Limit, stop::Stop, testing::sum},
        numeric::{Enclosure, rational::parse},
    };

    /// Sums for which enumeration and contours agree: fine groups alone, beside coarse ones, close to 1 and far out.
    #[test]
    fn smoothing_agrees_with_enumeration_and_contours() {
        let mut scales = std::collections::BTreeSet::new();
        for groups in [
            vec!["100x3"],
            vec!["500/73x10", "2500/137x6"],
            vec!["1000/7x2@2", "20x4", "3001/11@3"],
            vec!["4099/8x2@2", "1/2x3", "discrete-laplace:0.7x2@2"],
            vec!["3001/11x2", "5/2x5", "3x2@2"],
        ] {
            let sum = sum(&groups);
            let (smoothed, other) = (Smoothed::new(&sum).unwrap(), SumEvaluator::new(sum.clone()));
            for digits in [6, 12, 20] {
                for epsilon in ["0", "0.013", "0.4", "1", "3.7", "9", "40"] {
                    let epsilon = parse(epsilon).unwrap();
                    let Some(answer) = smoothed
                        .hockey_stick(&epsilon, digits, &Session::single(Limit::NONE, &Stop::default()))
                        .unwrap()
                    else {
                        continue;
                    };
                    let known = other.hockey_stick(&epsilon, digits + 4).unwrap();
                    assert!(answer.value.overlaps(&known.value), "{groups:?} {epsilon} {digits}: {answer:?} {known:?}");
                    assert!(answer.met, "{groups:?} {epsilon} {digits}: {answer:?}");
                    let rest = Enclosure::double(1.0, 400).sub(&answer.value);
                    assert!(*rest.upper() > 0.5 || rest.is_tight(digits - 1), "{groups:?} {epsilon}: {answer:?}");
                    scales.insert((groups.len(), answer.proof.count("points").unwrap() > 0));
                }
            }
        }
        assert!(scales.len() > 3, "{scales:?}");
    }
}
