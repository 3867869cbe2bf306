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
//! integer arithmetic.

use rug::{Float, Integer, Rational, float::Round};

use super::{Group, InDoubles, Law};
use crate::numeric::{
    enclosure::Enclosure,
    field::{Field, Real},
    phase::ExactPhase,
    rational,
};

/// Below this variance proxy the direct side is summed, above it the images.
pub(crate) const DIRECT_BELOW: f64 = 0.3;

/// One group's factor F^copies on the vertical line Re s = c, without its normalising constant: with f the angle at a node as a fraction of a full
/// turn, copies ln F = decay f^2 + 2 pi i drift f up to the series.
#[derive(Debug)]
pub(crate) struct Factor<F: Field> {
    copies: u64,
    decay: F::Real,
    drift: F::Real,
    series: Series<F>,
    precision: <F::Real as Real>::Precision,
    one: F,
    /// Terms below exp(-cut) are omitted and bounded.
    cut: f64,
}

#[derive(Debug)]
enum Series<F: Field> {
    /// 1 + sum over k >= 1 of exp(-curvature (k^2 -+ 2 k f)) exp(-+ 2 pi i k m).
    /// All of it times `scale`.
    Images { turn: ExactPhase, curvature: F::Real, curvature_approx: f64, phases: Vec<F>, scale: F::Real },
    /// sum over x of weights[x] exp(2 pi i x f).
    Polynomial { turn: ExactPhase, weights: Vec<F>, two_pi: F::Real },
    /// sum over k of weights[k] exp(2 pi i turns[k]), of losses on no short lattice.
    Terms { terms: Vec<(ExactPhase, F)>, two_pi: F::Real },
    /// No series: a continuous Gaussian, whose angle is not reduced.
    Unit { turns_per_node: F::Real },
}

/// The contribution of a group to a node: the exponent, the phase in turns, and the factor that is not a pure exponential.
pub(crate) struct NodeFactor<F: Field> {
    pub ln_modulus: F::Real,
    pub turns: F::Real,
    pub series: Option<F>,
    /// ln of the relative truncation error of the factor.
    pub ln_left_out: f64,
}

/// Where the factor of a group is computed.
struct Place<'a, F: Field> {
    group: &'a Group,
    /// Re s.
    c: &'a Rational,
    /// The angle of the group from node to node, as a fraction of a full turn.
    turns: Rational,
    precision: <F::Real as Real>::Precision,
}

impl<F: Field> Place<'_, F> {
    fn real(&self, x: &Rational) -> F::Real {
        F::Real::rational(x, self.precision)
    }

    fn complex(&self, re: F::Real) -> F {
        F::new(re, self.real(&Rational::new()))
    }

    /// Terms below exp(-cut) do not matter at the precision.
    fn cut(&self) -> f64 {
        f64::from(F::working_bits(self.precision)) * std::f64::consts::LN_2 + libm::log(self.group.copies as f64) + 8.0
    }

    /// c shift: the center of tilted Gaussian noise.
    fn center(&self) -> Rational {
        Rational::from(self.c * self.group.shift)
    }

    /// sigma2 b^2 / 2 with b = 2 pi f, over f^2.
    fn curvature(&self, sigma2: &Rational) -> F::Real {
        let pi = F::Real::pi(self.precision);
        pi.mul(&pi).mul(&self.real(&Rational::from(sigma2 * 2_u32)))
    }

    /// Gaussian noise: copies m b = 2 pi copies m f.
    fn gaussian(&self, sigma2: &Rational, series: Series<F>) -> Factor<F> {
        let copies = self.group.copies;
        Factor {
            copies,
            decay: self.curvature(sigma2).mul(&self.real(&Rational::from(copies))).neg(),
            drift: self.real(&(self.center() * copies)),
            series,
            precision: self.precision,
            one: self.complex(self.real(&Rational::from(1))),
            cut: self.cut(),
        }
    }

    /// A finite sum. `cut` is minus ln of the mass that it omits.
    fn polynomial(&self, weights: Vec<F>, turns: &Rational, drift: Integer, cut: f64) -> Factor<F> {
        let two_pi = F::Real::pi(self.precision).mul_int(2);
        Factor {
            copies: self.group.copies,
            decay: self.real(&Rational::new()),
            drift: self.real(&Rational::from(drift)),
            series: Series::Polynomial { turn: ExactPhase::new(turns), weights, two_pi },
            precision: self.precision,
            one: self.complex(self.real(&Rational::from(1))),
            cut,
        }
    }

    /// Discrete Gaussian noise by the direct side.
    fn direct(&self, sigma2: &Rational) -> Factor<F> {
        let direct = Direct::new(sigma2, &self.center(), self.cut());
        let scale = self.real(&axis(self.group, self.c).recip());
        let weights = direct.exponents.iter().map(|x| self.complex(self.real(x).exp().mul(&scale))).collect();
        self.polynomial(weights, &self.turns, direct.first * self.group.copies, direct.ln_tail)
    }

    /// Discrete Gaussian noise by the images.
    fn images(&self, sigma2: &Rational) -> Factor<F> {
        let (cut, center, pi) = (self.cut(), self.center(), F::Real::pi(self.precision));
        let curvature = self.curvature(sigma2);
        let curvature_approx = curvature.approximate();
        let fraction = &center - center.clone().round();
        let phases = (1..)
            .take_while(|k| curvature_approx * (k * k - k) as f64 <= cut)
            .map(|k: i64| F::cis(&pi.mul(&self.real(&Rational::from(&fraction * (2 * k))))))
            .collect();
        let scale = self.real(&axis(self.group, self.c).recip());
        let turn = ExactPhase::new(&self.turns);
        self.gaussian(sigma2, Series::Images { turn, curvature, curvature_approx, phases, scale })
    }

    /// Finitely many losses. exp(i t largest) is part of the sum's offset; the rest is a polynomial in exp(-i t step).
    fn finite(&self, law: &Law) -> Factor<F> {
        let finite = law.finite(self.group.shift);
        // All of it is at most one: what is left out is bounded relative to that.
        let near = finite
            .as_ref()
            .and_then(|finite| finite.weights_near::<F::Real>(self.c, self.precision, self.cut() + 16.0));
        if let Some((first, weights, ln_left_out)) = near {
            let weights = weights.into_iter().map(|weight| self.complex(weight)).collect();
            let drift = Integer::from(first) * self.group.copies;
            return self.polynomial(weights, &Rational::from(-&self.turns), drift, -ln_left_out);
        }
        let weights = finite.as_ref().map(|finite| finite.weights(self.c, self.precision)).unwrap_or_default();
        let weights = weights.into_iter().map(|weight| self.complex(weight));
        let turns = Rational::from(-&self.turns);
        let Some(finite) = finite.filter(|finite| finite.places.is_some()) else {
            return self.polynomial(weights.collect(), &turns, Integer::new(), f64::INFINITY);
        };
        let phase = |k: usize| ExactPhase::new(&Rational::from(&turns * finite.steps(k)));
        let terms = weights.enumerate().map(|(k, weight)| (phase(k), weight)).collect();
        let all = self.polynomial(Vec::new(), &self.turns, Integer::new(), f64::INFINITY);
        Factor { series: Series::Terms { terms, two_pi: F::Real::pi(self.precision).mul_int(2) }, ..all }
    }
}

/// How many steps a node takes, at most: one for a short series, and a product, a sum and a phase of complex numbers for each term of another.
pub(crate) fn steps(terms: usize) -> f64 {
    1.0 + OF_A_PHASE * terms as f64
}

// A product and a sum of complex numbers, and a phase as well, as parts of a short series.
const OF_A_POWER: f64 = 0.02;
const OF_A_PHASE: f64 = 0.25;

impl<F: Field> Factor<F> {
    /// The factor of `group` at Re s = c, where Im s advances by 2 pi `spacing` from node to node.
    pub(crate) fn new(
        group: &Group,
        c: &Rational,
        spacing: &Rational,
        precision: <F::Real as Real>::Precision,
    ) -> Self {
        let place = Place { group, c, turns: group.weight() * spacing, precision };
        match &group.law {
            Law::DiscreteGaussian { sigma2 } if is_direct(sigma2) => place.direct(sigma2),
            Law::DiscreteGaussian { sigma2 } => place.images(sigma2),
            Law::Gaussian { sigma2 } => {
                place.gaussian(sigma2, Series::Unit { turns_per_node: place.real(&place.turns) })
            }
            law => place.finite(law),
        }
    }

    /// How many steps one node takes, each of the price of a short series: more where there are many terms.
    pub(crate) fn steps(&self) -> f64 {
        match &self.series {
            Series::Polynomial { weights, .. } => 1.0 + OF_A_POWER * weights.len() as f64,
            Series::Terms { terms, .. } => steps(terms.len()),
            Series::Images { .. } | Series::Unit { .. } => 1.0,
        }
    }

    /// The factor at a node.
    pub(crate) fn at(&self, node: i64) -> NodeFactor<F> {
        let (f, series, ln_left_out) = match &self.series {
            Series::Images { turn, curvature, curvature_approx, phases, scale } => {
                let f: F::Real = turn.at(node, self.precision);
                let (series, ln_left_out) = self.images(&f, curvature, *curvature_approx, phases, scale);
                (f, series, ln_left_out)
            }
            Series::Polynomial { turn, weights, two_pi } => {
                let f: F::Real = turn.at(node, self.precision);
                let zeta = F::cis(&two_pi.mul(&f));
                let mut weights = weights.iter().rev();
                let last = weights.next().cloned();
                let sum = last.map(|last| weights.fold(last, |sum, weight| sum.mul(&zeta).add(weight)));
                (f, sum.map(|sum| sum.with_error(-self.cut).pow(self.copies)), f64::NEG_INFINITY)
            }
            Series::Terms { terms, two_pi } => {
                let term =
                    |(turn, weight): &(ExactPhase, F)| F::cis(&two_pi.mul(&turn.at(node, self.precision))).mul(weight);
                let sum = terms.iter().map(term).reduce(|sum, term| sum.add(&term));
                let none = F::Real::ratio(0, 1, self.precision);
                (none, sum.map(|sum| sum.pow(self.copies)), f64::NEG_INFINITY)
            }
            Series::Unit { turns_per_node } => (turns_per_node.mul_int(node), None, f64::NEG_INFINITY),
        };
        NodeFactor { ln_modulus: self.decay.mul(&f).mul(&f), turns: self.drift.mul(&f), series, ln_left_out }
    }

    /// (1 + sum over k)^copies, or `None` if the whole sum is below the cut.
    fn images(
        &self,
        f: &F::Real,
        curvature: &F::Real,
        curvature_approx: f64,
        phases: &[F],
        scale: &F::Real,
    ) -> (Option<F>, f64) {
        let position = 2.0 * f.approximate();
        // The term k of the nearer side is exp(-curvature (k^2 - k |position|)); with |position| <= 1 all terms
        // together are below 3 exp(-curvature (1 - |position|)) for curvature >= 2 pi^2 0.3. The last factors cover the rounding errors of this line.
        let ln_all = libm::log(3f64) - curvature_approx * (1.0 - position.abs() * (1.0 + 1e-12)) * (1.0 - 1e-9) + 1e-6;
        let unscaled = scale.approximate() == 1.0;
        if ln_all < -self.cut && unscaled {
            return (None, ln_all + libm::log(self.copies as f64));
        }
        let mut sum: Option<F> = None;
        for (phase, k) in phases.iter().zip(1_i64..) {
            for (sign, phase) in [(1, phase.conj()), (-1, phase.clone())] {
                let distance = (k * k) as f64 - f64::from(sign) * k as f64 * position;
                if curvature_approx * distance > self.cut {
                    continue;
                }
                // exp(-curvature (k^2 - sign k 2 f)) exp(-sign 2 pi i k m)
                let exponent = curvature.mul(&f.mul_int(2 * i64::from(sign) * k)).add(&curvature.mul_int(-k * k));
                let term = phase.scale(&exponent.exp());
                sum = Some(sum.map_or(term.clone(), |sum| sum.add(&term)));
            }
        }
        let zero = || F::new(F::Real::ratio(0, 1, self.precision), F::Real::ratio(0, 1, self.precision));
        let sum = match sum {
            Some(sum) => sum,
            None if unscaled => return (None, ln_all + libm::log(self.copies as f64)),
            None => zero(),
        };
        // Omitted: at most two terms below exp(-cut) for each kept k, and beyond the last k a geometric tail of ratio below exp(-2 curvature) < 1/2
        // that starts below 2 exp(-cut).
        let left_out = libm::log(2.0 * phases.len() as f64 + 4.0) - self.cut;
        (Some(self.one.add(&sum).with_error(left_out).scale(scale).pow(self.copies)), f64::NEG_INFINITY)
    }
}

/// A group with the losses of one copy in doubles where these are finitely many. They are listed once, because a search takes thousands of moments.
#[derive(Clone, Debug)]
pub(crate) struct Outlined<'a> {
    pub group: &'a Group,
    pub one: Option<&'a InDoubles>,
}

impl Outlined<'_> {
    /// ln E[exp(c L)] of all copies of a bounded group and its derivative, in doubles; zero for Gaussian laws.
    pub(crate) fn ln_bounded_mgf_approx(&self, c: f64) -> (f64, f64) {
        let copies = self.group.copies as f64;
        let of_one = self.one.map(|one| one.cumulants(c));
        of_one.map_or((0.0, 0.0), |one| (copies * one.ln_mgf, copies * one.mean))
    }

    /// [`ln_scale`] in doubles.
    pub(crate) fn ln_scale_approx(&self, c: &Rational) -> f64 {
        match &self.group.law {
            Law::DiscreteGaussian { sigma2 } => {
                let exact = sigma2.to_f64();
                let a = if is_direct(sigma2) { 0.5 / exact } else { 2.0 * std::f64::consts::PI.powi(2) * exact };
                let sum = libm::exp(-a) + libm::exp(-4.0 * a) + libm::exp(-9.0 * a);
                let axis = libm::log(axis(self.group, c).to_f64());
                ln_least(sigma2, self.group, c).to_f64() + self.group.copies as f64 * (axis - libm::log1p(2.0 * sum))
            }
            _ => self.ln_bounded_mgf_approx(c.to_f64()).0,
        }
    }

    /// ln E[exp(c L)] less rho (c + c^2) of all copies of a group, to a few digits, for choosing contours: zero for large sigma2, negative for small;
    /// the whole ln E[exp(c L)] for bounded laws.
    pub(crate) fn ln_mgf_approx(&self, c: f64) -> f64 {
        let (m, copies) = (c * self.group.shift as f64, self.group.copies as f64);
        let sigma2 = match &self.group.law {
            Law::DiscreteGaussian { sigma2 } => sigma2.to_f64(),
            _ => return self.ln_bounded_mgf_approx(c).0,
        };
        if sigma2 >= DIRECT_BELOW {
            let q = libm::exp(-2.0 * std::f64::consts::PI.powi(2) * sigma2);
            return copies * libm::log((1.0 + 2.0 * q * libm::cos(2.0 * std::f64::consts::PI * m)) / (1.0 + 2.0 * q));
        }
        ln_coarse_mgf_approx(self.group, c).0
    }
}

fn is_direct(sigma2: &Rational) -> bool {
    sigma2.to_f64() < DIRECT_BELOW
}

/// Whether exp(rho (x + x^2)) may be far above the moment generating function of a discrete Gaussian group.
pub(crate) fn is_coarse(group: &Group) -> bool {
    group.law.discrete_sigma2().is_some_and(is_direct)
}

/// ln E[exp(c L)] less rho (c + c^2) of all copies of a coarse group, and its derivative, in doubles; zero for all others.
pub(crate) fn ln_coarse_mgf_approx(group: &Group, c: f64) -> (f64, f64) {
    let Some(sigma2) = group.law.discrete_sigma2() else { return (0.0, 0.0) };
    if !is_direct(sigma2) {
        return (0.0, 0.0);
    }
    let (sigma2, copies, shift) = (sigma2.to_f64(), group.copies as f64, group.shift as f64);
    let m = c * shift;
    let away = m - m.round();
    // Relative to the nearest integer; terms further away than this are below exp(-36).
    let reach = (72.0 * sigma2).sqrt().ceil() + 1.0;
    let (mut sum, mut moment, mut normaliser) = (0.0, 0.0, 0.0);
    for x in -(reach as i32)..=reach as i32 {
        let x = f64::from(x);
        let weight = libm::exp((away * away - (x - away) * (x - away)) / (2.0 * sigma2));
        sum += weight;
        moment += weight * (x - away);
        normaliser += libm::exp(-x * x / (2.0 * sigma2));
    }
    let ln = libm::log(sum) - away * away / (2.0 * sigma2) - libm::log(normaliser);
    (copies * ln, copies * shift * moment / sum / sigma2)
}

/// The direct side around m: the values x that are kept, relative to the largest term.
struct Direct {
    first: Integer,
    /// -((x - m)^2 - least^2) / (2 sigma2) for the x kept, where `least` is the distance from m to Z.
    exponents: Vec<Rational>,
    /// -ln of an upper bound on the omitted terms.
    ln_tail: f64,
}

impl Direct {
    fn new(sigma2: &Rational, m: &Rational, cut: f64) -> Self {
        let nearest = m.clone().round().into_numer_denom().0;
        let least2 = square(&(Rational::from(m - &nearest)));
        let exponent = |x: i64| -> Rational {
            let distance2 = square(&(Rational::from(m - &nearest) - x));
            (&least2 - distance2) / Rational::from(sigma2 * 2_u32)
        };
        let mut reach = 0;
        while exponent(reach).to_f64() > -cut || exponent(-reach).to_f64() > -cut {
            reach += 1;
        }
        // The exponents beyond +-reach fall by at least (2 reach) / (2 sigma2) >= 3 a step (sigma2 < 0.3, reach >= 1),
        // so each side sums to less than 1.1 exp(-cut).
        let exponents = (-reach..=reach).map(exponent).collect();
        Direct { first: nearest - reach, exponents, ln_tail: cut - libm::log(2.2_f64) }
    }
}

fn square(x: &Rational) -> Rational {
    x.clone().square()
}

/// Encloses ln of the constant that [`Factor`] omits from E[exp(c L)] exp(-rho (c + c^2)) for all copies of a group: the normalising constant and the
/// largest term of the direct side, or the moment generating function of a bounded law.
pub(crate) fn ln_scale(group: &Group, c: &Rational, bits: u32) -> Enclosure {
    let copies = Enclosure::rational(&Rational::from(group.copies), bits);
    match &group.law {
        Law::DiscreteGaussian { sigma2 } => {
            let least = Enclosure::rational(&ln_least(sigma2, group, c), bits);
            let normaliser = ln_normaliser(sigma2, bits);
            let axis = axis(group, c);
            // A factor of 1 is omitted.
            let one_copy =
                if axis == 1 { normaliser.negate() } else { Enclosure::rational(&axis, bits).ln().sub(&normaliser) };
            least.add(&one_copy.mul(&copies))
        }
        law => {
            let zero = Enclosure::double(0.0, bits);
            law.finite(group.shift).map_or(zero, |finite| finite.ln_mgf(c, bits).mul(&copies))
        }
    }
}

/// An exact number close to the value of one copy's series on the axis: the series is divided by it before it is raised to the number of copies, so
/// that many copies of small noise stay within the range of a radius. One for large sigma2.
fn axis(group: &Group, c: &Rational) -> Rational {
    let Some(sigma2) = group.law.discrete_sigma2() else { return Rational::from(1) };
    let m = Rational::from(c * group.shift);
    let distance = (&m - m.clone().round()).to_f64().abs();
    let exact = sigma2.to_f64();
    let value = if is_direct(sigma2) {
        // Relative to the nearest integer; beyond seven steps the terms are below exp(-(49 - 7) / 0.6).
        let term = |away: f64| libm::exp((distance * distance - away * away) / (2.0 * exact));
        (-7..=7).map(|x| term(f64::from(x) - distance)).sum()
    } else {
        // q^(k^2) is below 10^-40 for k = 4.
        let q = libm::exp(-2.0 * std::f64::consts::PI.powi(2) * exact);
        let term = |k: i32| 2.0 * q.powi(k * k) * libm::cos(2.0 * std::f64::consts::PI * f64::from(k) * distance);
        1.0 + term(1) + term(2) + term(3)
    };
    // A change too small to matter for any number of copies is not worth the multiplication. Any divisor other than zero
    // is sound, because the same one is multiplied back; one serves where the double is not finite.
    let one = Rational::from(1);
    if (value - 1.0).abs() * (group.copies as f64) < 1e-6 { one } else { rational::from_f64(value).unwrap_or(one) }
}

/// -copies least^2 / (2 sigma2) for the distance `least` from m = c shift to Z on the direct side; zero for the images.
fn ln_least(sigma2: &Rational, group: &Group, c: &Rational) -> Rational {
    if !is_direct(sigma2) {
        return Rational::new();
    }
    let m = Rational::from(c * group.shift);
    let nearest = m.clone().round();
    -square(&(m - nearest)) * group.copies / Rational::from(sigma2 * 2_u32)
}

/// The sum by which F is normalised: sum_k exp(-2 pi^2 sigma2 k^2) for the images, sum_x exp(-x^2 / (2 sigma2)) for
/// the direct side. Relative error 2^-bits or a little more.
fn normaliser(sigma2: &Rational, bits: u32) -> Enclosure {
    theta3(&normaliser_exponent(sigma2, bits + 8), bits + 8)
}

/// The a of its terms exp(-a k^2), at least 1.6.
fn normaliser_exponent(sigma2: &Rational, bits: u32) -> Enclosure {
    if sigma2.to_f64() < DIRECT_BELOW {
        return Enclosure::rational(&(Rational::from(1) / Rational::from(sigma2 * 2_u32)), bits);
    }
    let pi = Enclosure::pi(bits);
    pi.mul(&pi).mul(&Enclosure::rational(&Rational::from(sigma2 * 2_u32), bits))
}

/// Encloses ln of the same, with an error of 2^-bits or a little more. The excess x of the sum over 1 is small for all but the smallest noise, and a
/// few bits of it suffice then: x - x^2 / 2 <= ln(1 + x) <= x.
fn ln_normaliser(sigma2: &Rational, bits: u32) -> Enclosure {
    const GUARD: u32 = 16;
    // x <= 2^-below_one, for x < 4 exp(-a); the first factor covers the rounding errors of this line.
    let exact = sigma2.to_f64();
    let a = if is_direct(sigma2) { 0.5 / exact } else { 2.0 * std::f64::consts::PI.powi(2) * exact };
    let below_one = (a * (1.0 - 1e-12) * std::f64::consts::LOG2_E - 2.0).clamp(0.0, 1e9) as u32;
    if 2 * below_one < bits {
        return normaliser(sigma2, bits).ln();
    }
    if below_one >= bits {
        let most = Enclosure::double(1.0, GUARD).times_power_of_two(-i64::from(below_one));
        return Enclosure::double(0.0, GUARD).hull(&most);
    }
    let bits = bits.saturating_sub(below_one) + GUARD;
    let x = weighted_theta(&normaliser_exponent(sigma2, bits + GUARD), bits, |_| 2);
    let half_square = x.mul(&x).mul(&Enclosure::double(0.5, bits));
    x.sub(&half_square).hull(&x)
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
        // The remaining terms are at most tail_ratio times the last one.
        if least * f64::from((k + 1) * (k + 1)) - least > f64::from(bits) || k > 2000 {
            let tail = Float::with_val_round(bits, term.upper() * tail_ratio(least, k), Round::Up).0;
            return Enclosure::new(sum.lower().clone(), Float::with_val_round(bits, sum.upper() + &tail, Round::Up).0);
        }
        k += 1;
    }
}

/// An upper bound for (sum over j > k of weight(j) exp(-a j^2)) / (weight(k) exp(-a k^2)), with weight(j + 1) <=
/// 4 weight(j): the first ratio is at most 4 exp(-a (2 k + 1)) and all later ones are below 4 exp(-3) < 1/5 for
/// a >= 1, so the sum is at most 5/4 of its first term. The factor 1 + 10^-9 covers the rounding errors of the doubles.
fn tail_ratio(a: f64, k: u32) -> f64 {
    4.0 * libm::exp(-a * f64::from(2 * k + 1)) * 1.25 * (1.0 + 1e-9) + f64::MIN_POSITIVE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    /// A small logarithm, computed with few bits, against the logarithm of the whole sum.
    #[test]
    fn the_logarithm_of_the_normaliser_is_that_of_the_normaliser() {
        for sigma2 in ["1e-4", "0.29", "0.3", "1/2", "1", "2", "3.7", "5", "8.1", "40", "1e9", "1e300"] {
            let sigma2 = parse(sigma2).unwrap();
            for bits in [60, 130, 300, 1000] {
                let ln = ln_normaliser(&sigma2, bits);
                assert!(ln.overlaps(&normaliser(&sigma2, bits + 2000).ln()), "{sigma2} {bits}");
                let width = Float::with_val(53, ln.upper() - ln.lower());
                assert!(width <= Float::with_val(53, Float::i_exp(1, 6 - bits as i32)), "{sigma2} {bits}: {width}");
            }
        }
    }
}
