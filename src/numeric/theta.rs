//! The factor of one group in the moment generating function, by both sides of Jacobi's identity.
//!
//! Let X have the law N_Z(0, sigma2), u = a + i b and m = sigma2 a. Completing the square in each sum,
//!
//! ```text
//! E[exp(u X)] = exp(sigma2 a^2 / 2) F,
//! F = sum_x exp(-(x - m)^2 / (2 sigma2)) exp(i b x)                     / sum_x exp(-x^2 / (2 sigma2))       direct
//!   = sum_k exp(-sigma2 (b - 2 pi k)^2 / 2) exp(i m (b - 2 pi k))       / sum_k exp(-2 pi^2 sigma2 k^2)      images
//! ```
//!
//! the second by Poisson summation. The direct side converges fast for small sigma2, the images for large; they cost
//! the same at sigma2 = 1 / (2 pi).
//!
//! On the contour s = c + i t the argument is u = s shift / sigma2, so m = c shift is fixed and b = t shift / sigma2
//! enters only modulo 2 pi. At the nodes of a lattice b is a rational multiple of 2 pi, and the reduction is exact
//! integer arithmetic ([`Turn`]).

use rug::{Float, Integer, Rational, float::Round};

use super::{
    enclosure::Enclosure,
    field::{Field, Real},
    sum::Group,
};

/// Below this variance proxy the direct side is summed, above it the images.
const DIRECT_BELOW: f64 = 0.3;

/// An angle that advances by step / modulus of a full turn from node to node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The advance, reduced to [0, modulus).
    pub step: i64,
    /// The number of positions in a full turn, at most 2^62.
    pub modulus: i64,
}

impl Turn {
    /// The residue r in (-modulus/2, modulus/2] with node step = r modulo the modulus: the angle is 2 pi r / modulus.
    pub fn at(&self, node: i64) -> i64 {
        let modulus = i128::from(self.modulus);
        // Both factors are below 2^63 in absolute value, so the product fits.
        let residue = (i128::from(node) * i128::from(self.step)).rem_euclid(modulus);
        (if residue > modulus / 2 { residue - modulus } else { residue }) as i64
    }
}

/// One group's factor F^copies on the line Re s = c, without its normalising constant.
#[derive(Debug)]
pub(crate) struct Factor<F: Field> {
    turn: Turn,
    copies: u64,
    /// copies ln F at the residue r is decay r^2 (real) + 2 pi i drift r, up to the series below.
    decay: F::Real,
    drift: F::Real,
    series: Series<F>,
    /// Terms below exp(-cut) are left out and bounded.
    cut: f64,
}

#[derive(Debug)]
enum Series<F: Field> {
    /// 1 + sum over k >= 1 of exp(-curvature (k^2 -+ 2 k r / modulus)) exp(-+ 2 pi i k m).
    Images { curvature: F::Real, curvature_approx: f64, phases: Vec<F> },
    /// sum over x of weights[x - first] exp(2 pi i (x - first) r / modulus).
    Direct { weights: Vec<F>, turn_angle: F::Real },
}

/// What a group contributes to a node: the exponent, the phase in turns, and the factor that is not a pure exponential.
pub(crate) struct NodeFactor<F: Field> {
    pub ln_modulus: F::Real,
    pub turns: F::Real,
    pub series: Option<F>,
    /// ln of the relative size of what was left out of the factor.
    pub ln_left_out: f64,
}

impl<F: Field> Factor<F> {
    /// The factor of `group` at Re s = c, for nodes at the positions of `turn`.
    pub(crate) fn new(group: &Group, c: &Rational, turn: Turn, precision: <F::Real as Real>::Precision) -> Self {
        let real = |x: &Rational| F::Real::rational(x, precision);
        let pi = F::Real::pi(precision);
        let cut = f64::from(F::working_bits(precision)) * std::f64::consts::LN_2 + (group.copies as f64).ln() + 8.0;
        let m = Rational::from(c * group.shift);
        if is_direct(group) {
            let direct = Direct::new(group, &m, cut);
            let first_turns = Rational::from((direct.first, Integer::from(turn.modulus)));
            let weights = direct.exponents.iter().map(|x| F::new(real(x).exp(), real(&Rational::new()))).collect();
            return Factor {
                turn,
                copies: group.copies,
                decay: real(&Rational::new()),
                drift: real(&(first_turns * group.copies)),
                series: Series::Direct { weights, turn_angle: pi.mul(&real(&Rational::from((2, turn.modulus)))) },
                cut: direct.ln_tail,
            };
        }
        // copies sigma2 b^2 / 2 with b = 2 pi r / modulus; copies m b = 2 pi (copies m r / modulus).
        let curvature = pi.mul(&pi).mul(&real(&Rational::from(&group.sigma2 * 2_u32)));
        let modulus2 = Rational::from(turn.modulus) * turn.modulus;
        let decay = curvature.mul(&real(&(Rational::from(group.copies) / modulus2))).neg();
        let drift = real(&(Rational::from(&m * group.copies) / turn.modulus));
        let curvature_approx = curvature.approximate();
        let fraction = &m - m.clone().round();
        let phases = (1..)
            .take_while(|k| curvature_approx * (k * k - k) as f64 <= cut)
            .map(|k: i64| F::cis(&pi.mul(&real(&Rational::from(&fraction * (2 * k))))))
            .collect();
        Factor {
            turn,
            copies: group.copies,
            decay,
            drift,
            series: Series::Images { curvature, curvature_approx, phases },
            cut,
        }
    }

    /// The factor at a node.
    pub(crate) fn at(&self, node: i64) -> NodeFactor<F> {
        let r = self.turn.at(node);
        let (series, ln_left_out) = match &self.series {
            Series::Images { curvature, curvature_approx, phases } => {
                self.images(r, curvature, *curvature_approx, phases)
            }
            Series::Direct { weights, turn_angle } => {
                let zeta = F::cis(&turn_angle.mul_int(r));
                let mut weights = weights.iter().rev();
                let last = weights.next().cloned();
                let sum = last.map(|last| weights.fold(last, |sum, weight| sum.mul(&zeta).add(weight)));
                (sum.map(|sum| sum.with_error(-self.cut).pow(self.copies)), f64::NEG_INFINITY)
            }
        };
        NodeFactor { ln_modulus: self.decay.mul_int(r).mul_int(r), turns: self.drift.mul_int(r), series, ln_left_out }
    }

    /// (1 + sum over k)^copies, or nothing where the whole sum is below the cut.
    fn images(&self, r: i64, curvature: &F::Real, curvature_approx: f64, phases: &[F]) -> (Option<F>, f64) {
        let position = 2.0 * r as f64 / self.turn.modulus as f64;
        // The term k of the nearer side is exp(-curvature (k^2 - k |position|)); with |position| <= 1 all terms
        // together are below 3 exp(-curvature (1 - |position|)) for curvature >= 2 pi^2 0.3.
        let ln_all = 3f64.ln() - curvature_approx * (1.0 - position.abs()) * (1.0 - 1e-9) + 1e-6;
        if ln_all < -self.cut {
            return (None, ln_all + (self.copies as f64).ln());
        }
        let turn = F::Real::rational_like(curvature, 2 * r, self.turn.modulus);
        let mut sum: Option<F> = None;
        for (phase, k) in phases.iter().zip(1_i64..) {
            for (sign, phase) in [(1, phase.conj()), (-1, phase.clone())] {
                let distance = (k * k) as f64 - f64::from(sign) * k as f64 * position;
                if curvature_approx * distance > self.cut {
                    continue;
                }
                // exp(-curvature (k^2 - sign k 2 r / modulus)) exp(-sign 2 pi i k m)
                let exponent = curvature.mul(&turn.mul_int(i64::from(sign) * k)).add(&curvature.mul_int(-k * k)).exp();
                let term = phase.scale(&exponent);
                sum = Some(sum.map_or(term.clone(), |sum| sum.add(&term)));
            }
        }
        let Some(sum) = sum else { return (None, ln_all + (self.copies as f64).ln()) };
        // Left out: at most two terms below exp(-cut) for each kept k, and beyond the last k a geometric tail of
        // ratio below exp(-2 curvature) < 1/2 that starts below 2 exp(-cut).
        let left_out = (2.0 * phases.len() as f64 + 4.0).ln() - self.cut;
        let one = F::new(F::Real::rational_like(curvature, 1, 1), F::Real::rational_like(curvature, 0, 1));
        (Some(one.add(&sum).with_error(left_out).pow(self.copies)), f64::NEG_INFINITY)
    }
}

fn is_direct(group: &Group) -> bool {
    group.sigma2.to_f64() < DIRECT_BELOW
}

/// The direct side around m: which x are kept, relative to the largest term.
struct Direct {
    first: Integer,
    /// -((x - m)^2 - least^2) / (2 sigma2) for the x kept, where `least` is the distance from m to Z.
    exponents: Vec<Rational>,
    /// -ln of a bound for the terms left out.
    ln_tail: f64,
}

impl Direct {
    fn new(group: &Group, m: &Rational, cut: f64) -> Self {
        let nearest = m.clone().round().into_numer_denom().0;
        let least2 = square(&(Rational::from(m - &nearest)));
        let exponent = |x: i64| -> Rational {
            let distance2 = square(&(Rational::from(m - &nearest) - x));
            (&least2 - distance2) / Rational::from(&group.sigma2 * 2_u32)
        };
        let mut reach = 0;
        while exponent(reach).to_f64() > -cut || exponent(-reach).to_f64() > -cut {
            reach += 1;
        }
        // The exponents beyond +-reach fall by at least (2 reach) / (2 sigma2) >= 3 a step (sigma2 < 0.3, reach >= 1),
        // so each side sums to less than 1.1 exp(-cut).
        let exponents = (-reach..=reach).map(exponent).collect();
        Direct { first: nearest - reach, exponents, ln_tail: cut - 2.2_f64.ln() }
    }
}

fn square(x: &Rational) -> Rational {
    x.clone().square()
}

/// -copies least^2 / (2 sigma2): the exponent that [`Factor`] takes out of the direct side; zero for the images.
pub(crate) fn ln_scale(group: &Group, c: &Rational) -> Rational {
    if !is_direct(group) {
        return Rational::new();
    }
    let m = Rational::from(c * group.shift);
    let nearest = m.clone().round();
    -square(&(m - nearest)) * group.copies / Rational::from(&group.sigma2 * 2_u32)
}

/// The sum by which F is normalised: sum_k exp(-2 pi^2 sigma2 k^2) for the images, sum_x exp(-x^2 / (2 sigma2)) for
/// the direct side. Relative error 2^-bits or a little more.
pub(crate) fn normaliser(sigma2: &Rational, bits: u32) -> Enclosure {
    let exponent = if sigma2.to_f64() < DIRECT_BELOW {
        Enclosure::rational(&(Rational::from(1) / Rational::from(sigma2 * 2_u32)), bits + 8)
    } else {
        let pi = Enclosure::pi(bits + 8);
        pi.mul(&pi).mul(&Enclosure::rational(&Rational::from(sigma2 * 2_u32), bits + 8))
    };
    theta3(&exponent, bits + 8)
}

/// sum over x in Z of exp(-x^2 / (2 sigma2)): the normalising constant of N_Z(0, sigma2), by whichever side of
/// Jacobi's identity is shorter: it equals sqrt(2 pi sigma2) sum over k of exp(-2 pi^2 sigma2 k^2).
pub fn gaussian_sum(sigma2: &Rational, bits: u32) -> Enclosure {
    let sum = normaliser(sigma2, bits);
    if sigma2.to_f64() < DIRECT_BELOW {
        return sum;
    }
    let scale = Enclosure::pi(bits + 8).mul(&Enclosure::rational(&Rational::from(sigma2 * 2_u32), bits + 8)).sqrt();
    sum.mul(&scale)
}

/// theta_3(0, exp(-a)) = 1 + 2 sum over k >= 1 of exp(-a k^2), for a >= 1.
pub fn theta3(a: &Enclosure, bits: u32) -> Enclosure {
    weighted_theta(a, bits, |_| 1).mul(&Enclosure::double(2.0, bits)).add(&Enclosure::double(1.0, bits))
}

/// sum over k >= 1 of weight(k) exp(-a k^2) for a >= 1 and a weight that grows at most as k^2.
pub(crate) fn weighted_theta(a: &Enclosure, bits: u32, weight: impl Fn(u32) -> u32) -> Enclosure {
    let mut sum = Enclosure::double(0.0, bits);
    let least = a.lower().to_f64();
    let mut k = 1_u32;
    loop {
        let square = Enclosure::double(-f64::from(k) * f64::from(k), bits);
        let term = a.mul(&square).exp().mul(&Enclosure::double(f64::from(weight(k)), bits));
        sum = sum.add(&term);
        // What follows is at most tail_ratio times the last term.
        if least * f64::from((k + 1) * (k + 1)) - least > f64::from(bits) || k > 2000 {
            let tail = Float::with_val_round(bits, term.upper() * tail_ratio(least, k), Round::Up).0;
            return Enclosure::new(sum.lower().clone(), Float::with_val_round(bits, sum.upper() + &tail, Round::Up).0);
        }
        k += 1;
    }
}

/// An upper bound for (sum over j > k of weight(j) exp(-a j^2)) / (weight(k) exp(-a k^2)), with weight(j + 1) <=
/// 4 weight(j): the first ratio is at most 4 exp(-a (2 k + 1)) and all later ones are below 4 exp(-3) < 1/5 for
/// a >= 1, so the sum is at most 5/4 of its first term. The factor 1 + 10^-9 pays for the roundings of the doubles.
fn tail_ratio(a: f64, k: u32) -> f64 {
    4.0 * (-a * f64::from(2 * k + 1)).exp() * 1.25 * (1.0 + 1e-9) + f64::MIN_POSITIVE
}

/// ln F^copies at t = 0 to a few digits, normalised: 0 for large sigma2, negative for small. For choosing contours.
pub(crate) fn ln_factor_on_axis(group: &Group, c: f64) -> f64 {
    let (sigma2, m, copies) = (group.sigma2.to_f64(), c * group.shift as f64, group.copies as f64);
    if sigma2 >= DIRECT_BELOW {
        let q = (-2.0 * std::f64::consts::PI.powi(2) * sigma2).exp();
        return copies * ((1.0 + 2.0 * q * (2.0 * std::f64::consts::PI * m).cos()) / (1.0 + 2.0 * q)).ln();
    }
    let least = (m - m.round()).abs();
    let second = (-(1.0 - 2.0 * least) / (2.0 * sigma2)).exp();
    let normaliser = 1.0 + 2.0 * (-1.0 / (2.0 * sigma2)).exp();
    copies * (-least * least / (2.0 * sigma2) + (1.0 + second).ln() - normaliser.ln())
}

/// ln of the normalising constants of all copies of a group, in doubles.
pub(crate) fn ln_normaliser_approx(group: &Group) -> f64 {
    let sigma2 = group.sigma2.to_f64();
    let a = if sigma2 < DIRECT_BELOW { 0.5 / sigma2 } else { 2.0 * std::f64::consts::PI.powi(2) * sigma2 };
    group.copies as f64 * (2.0 * ((-a).exp() + (-4.0 * a).exp() + (-9.0 * a).exp())).ln_1p()
}
