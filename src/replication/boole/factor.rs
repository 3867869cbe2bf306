//! One factor of the characteristic function: that of the sum of several draws of one discrete Gaussian, by theta
//! functions.

use rug::Rational;

use crate::{
    loss::theta,
    numeric::{
        ball::{Ball, ComplexBall},
        enclosure::Enclosure,
        field::{Field, Real},
    },
};

/// Bits of the balls: with 10^7 nodes the rounding errors stay below 10^-35.
pub(super) const BITS: u32 = 160;

/// `weight` times the sum of `copies` draws of N_Z(0, sigma2).
#[derive(Clone, Debug)]
pub struct Term {
    /// The integer weight, at least 1.
    pub weight: u64,
    /// The variance proxy.
    pub sigma2: Rational,
    /// The number of draws.
    pub copies: u64,
    /// E|S|^j for j = 1 to 6, S the unweighted sum; upper ends are used.
    pub moments: [Enclosure; 6],
}

/// The corrections of one term at the nodes of a run, one node after the other:
/// 1 + 2 sum q^(j^2) cosh(2 pi j sigma2 u), to the power of its copies.
pub(super) struct CorrectionsAtNodes {
    copies: u64,
    /// Upper bound on the logarithm of all corrections together up to the end of the run, relative to the product.
    ln_bound: f64,
    /// The summands of the series, if the corrections are not negligible in the run.
    series: Option<Vec<Summand>>,
    /// Upper bound on the logarithm of the truncation error after the summands.
    ln_rest: f64,
}

/// Both exponentials of 2 q^(j^2) cosh(2 pi j sigma2 u) at a node, and their changes from node to node.
struct Summand {
    rising: Ball,
    falling: Ball,
    rise: Ball,
    fall: Ball,
}

impl CorrectionsAtNodes {
    /// For the nodes `from`..`to`, at multiples of `step`.
    pub(super) fn new(term: &Term, step: &Rational, (from, to): (u64, u64)) -> Self {
        let exact = decay(&term.sigma2, BITS);
        let per_node = Rational::from(&term.sigma2 * 2_u32) * step * term.weight;
        let slope = Enclosure::pi(BITS).mul(&Enclosure::rational(&per_node, BITS));
        let (least_decay, most_slope) = (exact.lower().to_f64(), slope.upper().to_f64() * to as f64);
        // The first correction is at most 2 exp(-decay + slope k), and each later one is less than half of the one
        // before (u <= 3 < pi). With n copies (1 + x)^n - 1 <= n x exp(n x).
        let x = 4.0 * libm::exp(most_slope - least_decay);
        let n = term.copies as f64;
        // Raised to exp(-600), since doubles underflow below.
        let ln_bound = (libm::log(n * x * libm::exp(n * x)) * (1.0 - 1e-9) + 1e-6).max(-600.0);
        let negligible = -f64::from(BITS) * std::f64::consts::LN_2;
        let corrections = CorrectionsAtNodes { copies: term.copies, ln_bound, series: None, ln_rest: 0.0 };
        if ln_bound <= negligible {
            return corrections;
        }
        let pi = Ball::pi(BITS);
        let decay = pi.mul(&pi).mul(&Ball::rational(&Rational::from(&term.sigma2 * -2_i32), BITS));
        let slope = pi.mul(&Ball::rational(&per_node, BITS));
        let mut series = Vec::new();
        for j in 1_i64.. {
            let (power, linear) = (decay.mul_int(j * j), slope.mul_int(j * from as i64));
            let rise = slope.mul_int(j);
            series.push(Summand {
                rising: power.add(&linear).exp(),
                falling: power.add(&linear.neg()).exp(),
                rise: rise.exp(),
                fall: rise.neg().exp(),
            });
            // At every node before `to` the truncation error is at most 4 exp(q (j + 1)^2 + (j + 1) u), since each
            // later term is less than half of the one before.
            let next = (j + 1) as f64;
            let ln_next = (-least_decay * next * next + next * most_slope) * (1.0 - 1e-9) + 2.0;
            if ln_next < negligible {
                return CorrectionsAtNodes { series: Some(series), ln_rest: ln_next, ..corrections };
            }
        }
        corrections
    }

    /// The product times this factor at the next node.
    pub(super) fn times_next(&mut self, product: Ball) -> Ball {
        let zero = || Ball::rational(&Rational::new(), BITS);
        let Some(series) = &mut self.series else {
            // The corrections are positive and below exp(ln_bound) times the product.
            return ComplexBall::new(product, zero()).with_relative_error(self.ln_bound).re();
        };
        let mut sum = Ball::rational(&Rational::from(1), BITS);
        for summand in series {
            sum = sum.add(&summand.rising).add(&summand.falling);
            summand.rising = summand.rising.mul(&summand.rise);
            summand.falling = summand.falling.mul(&summand.fall);
        }
        let sum = ComplexBall::new(sum, zero()).with_error(self.ln_rest).re();
        product.mul(&power(sum, self.copies))
    }
}

/// A positive power by squaring.
fn power(base: Ball, exponent: u64) -> Ball {
    let (mut square, mut left) = (base, exponent);
    let mut product: Option<Ball> = None;
    loop {
        if left & 1 == 1 {
            product = Some(product.map_or_else(|| square.clone(), |product| product.mul(&square)));
        }
        left >>= 1;
        match product {
            Some(product) if left == 0 => return product,
            _ => square = square.mul(&square),
        }
    }
}

/// 2 pi^2 sigma2.
pub(super) fn decay(sigma2: &Rational, bits: u32) -> Enclosure {
    let pi = Enclosure::pi(bits);
    pi.mul(&pi).mul(&Enclosure::rational(&Rational::from(sigma2 * 2_u32), bits))
}

/// Encloses ln of f_i(u)^n for u in [0, pi]: -n sigma2 u^2 / 2 + n ln((1 + corrections) / theta_3(0, q)).
pub(super) fn ln_factor(term: &Term, u: &Enclosure) -> Enclosure {
    const BITS: u32 = 96;
    let sigma2 = Enclosure::rational(&term.sigma2, BITS);
    let copies = Enclosure::rational(&Rational::from(term.copies), BITS);
    let decay = decay(&term.sigma2, BITS);
    let slope = Enclosure::pi(BITS).mul(&Enclosure::double(2.0, BITS)).mul(&sigma2).mul(u);
    // 2 q^(k^2) cosh(k slope) <= 2 exp(-k^2 decay + k slope), and slope <= decay.
    let mut sum = Enclosure::double(1.0, BITS);
    for k in 1..2000_u32 {
        let k = f64::from(k);
        let power = decay.mul(&Enclosure::double(-k * k, BITS));
        let step = slope.mul(&Enclosure::double(k, BITS));
        let term = power.add(&step).exp().add(&power.sub(&step).exp());
        sum = sum.add(&term);
        // From k to k + 1 the larger part falls by a factor exp(-2 k decay) at least.
        let ratio = libm::exp(-2.0 * k * decay.lower().to_f64());
        if ratio < 1e-20 {
            let rest = term.mul(&Enclosure::double(2e-20, BITS));
            sum = sum.add(&Enclosure::double(0.0, BITS).hull(&rest));
            break;
        }
    }
    let square = sigma2.mul(u).mul(u).div(&Enclosure::double(-2.0, BITS));
    let theta = theta::theta3(&decay, BITS);
    square.add(&sum.div(&theta).ln()).mul(&copies)
}
