//! The profile by the trapezoid rule along Re s = c > 0, for many counts and beside continuous Gaussian noise.
//!
//! The rule with step h is the profile d at eps and, for every other integer m, exp(-c m Y) d(eps - m Y) with Y = 2 pi / h (Poisson's summation formula). For m > 0
//! these are at most exp(-c m Y), as d <= 1; for m < 0 at most exp(-(c' - c) |m| Y) M(c') exp(-c' eps) for any c' > c. The sum ends at the height T, from where on
//!
//! ```text
//! |M| <= exp(c x) |1 + s| / |1 + 2 s| + exp(-(1 + c) x) / 2        with atoms at both ends: |1 + s| / |1 + 2 s| falls as |Im s| grows, and |s| / |1 + 2 s| <= 1/2;
//! |M| <= (exp(c x) + exp(-(1 + c) x)) / ((1 - exp(-x)) |1 + 2 s|)    without.
//! ```
//!
//! The kernel is at most 1 / t^2 in size, and h times the sum of 1 / t^2 beyond T at most 1 / T.

use rug::{Float, Rational, float::Round};

use super::sum::{BITS, List, Part, UniformSum, exact};
use crate::{
    error::{Error, Result},
    loss::{
        answer::{Answer, ContourProof},
        engine::machine,
        stop::Stop,
    },
    numeric::{
        Enclosure,
        ball::{Ball, ComplexBall},
        effort::{self, Effort},
        field::{Field, Real},
        halving::{bisect, golden_section},
        precision,
        upper_bound::UpperBound,
    },
};

/// The largest number of factors of all nodes.
pub(super) const MOST_FACTORS: f64 = 2e5;
/// The highest node.
const HIGHEST: f64 = 1e12;

/// Where the integrand is least on the real line, in doubles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Re s.
    pub(super) c: f64,
    /// ln of the answer, an estimate.
    pub(super) ln_estimate: f64,
}

impl Place {
    pub(super) fn of_sum(sum: &UniformSum, epsilon: f64) -> Place {
        let height = |c: f64| sum.ln_mgf_approx(c) - c * epsilon - libm::log(c) - libm::log1p(c);
        let ln_c = golden_section([-40.0, 60.0], 39, |ln_c| height(libm::exp(ln_c)));
        // Of few bits, so that it is a short number.
        let c = f64::from(libm::exp(ln_c) as f32);
        let step = 1e-2 * c;
        let curvature = (height(c + step) + height(c - step) - 2.0 * height(c)) / (step * step);
        let curvature = if curvature > 0.0 { curvature } else { 1.0 / (c * c) };
        Place { c, ln_estimate: (height(c) - 0.5 * libm::log(std::f64::consts::TAU * curvature)).min(0.0) }
    }

    pub(super) fn exact(&self) -> Result<Rational> {
        exact(self.c)
    }
}

/// The nodes of a request.
struct Plan {
    c: f64,
    /// The distance of nodes.
    h: f64,
    /// The number of nodes above the real line.
    nodes: i64,
    /// Re s of the bound on what the rule adds on the right.
    right: f64,
    /// Whether it is predicted to reach the precision.
    reaches: bool,
}

/// The contour of a request.
pub(super) struct Contour<'a> {
    request: Request<'a>,
    plan: Plan,
}

impl<'a> Contour<'a> {
    /// One with errors of about 10^-digits of the answer, or the best of at most this number of factors.
    pub(super) fn new(
        sum: &'a UniformSum,
        list: &'a List,
        place: &'a Place,
        epsilon: &'a Rational,
        (digits, most): (u32, f64),
    ) -> Result<Self> {
        let request = Request { sum, list, place, epsilon };
        let plan = request.plan(f64::from(digits) + 2.0, most)?;
        Ok(Contour { request, plan })
    }

    /// Whether it is predicted to reach the precision.
    pub(super) fn reaches(&self) -> bool {
        self.plan.reaches
    }

    /// Encloses the hockey stick.
    pub(super) fn enclose(&self, digits: u32, more: u32, stop: &Stop) -> Result<Answer> {
        self.request.by(&self.plan, digits, more, stop)
    }
}

struct Request<'a> {
    sum: &'a UniformSum,
    list: &'a List,
    place: &'a Place,
    epsilon: &'a Rational,
}

impl Request<'_> {
    /// A plan with errors of about 10^-digits of the answer, or the best of at most this number of factors.
    fn plan(&self, digits: f64, most: f64) -> Result<Plan> {
        let (c, epsilon) = (self.place.c, self.epsilon.to_f64());
        let ln_target = self.place.ln_estimate - digits * std::f64::consts::LN_10;
        let ln_psi = |c: f64| self.sum.ln_mgf_approx(c) - c * epsilon;
        // The period that is long enough on the left, and then on the right.
        let mut period = -ln_target / c;
        let candidates = (1..=60).map(|k| c * (1.0 + 1.25_f64.powi(k) / 16.0));
        let of = |right: f64, period: f64| ln_psi(right) - (right - c) * period;
        let needed = |right: &f64| (ln_psi(*right) - ln_target) / (right - c);
        let right = candidates.min_by(|a, b| needed(a).total_cmp(&needed(b))).unwrap_or(2.0 * c);
        if of(right, period) > ln_target {
            period = needed(&right);
        }
        let h = f64::from((std::f64::consts::TAU / period) as f32);
        if !(h.is_finite() && h > 0.0) {
            return Err(Error::NoLattice);
        }
        let per_node = (4 * self.sum.parts.len() + self.list.losses.len()) as f64;
        let most = most / per_node;
        // The least height beyond which nothing matters, by doubling and bisection in doubles.
        let ln_beyond = |height: f64| self.ln_modulus_approx(height) - c * epsilon - libm::log(height);
        let (mut low, mut high) = (h, h);
        while ln_beyond(high) > ln_target && high < HIGHEST.min(most * h) {
            low = high;
            high *= 2.0;
        }
        let reaches = ln_beyond(high) <= ln_target;
        let high = bisect([low, high], 20, |height| ln_beyond(height) > ln_target)[1];
        let nodes = (high / h).ceil().min(most).max(1.0) as i64;
        Ok(Plan { c, h, nodes, right, reaches: reaches && (nodes as f64) < most })
    }

    /// ln of the bound on |M| at a height, in doubles.
    fn ln_modulus_approx(&self, height: f64) -> f64 {
        let c = self.place.c;
        let slope = libm::hypot(1.0 + 2.0 * c, 2.0 * height);
        let of = |part: &Part| {
            let x = part.one.largest.to_f64();
            let falling = libm::exp(-(1.0 + 2.0 * c) * x);
            let share = match part.one.has_ends {
                true => libm::hypot(1.0 + c, height) / slope + falling / 2.0,
                false => (1.0 + falling) / (slope * -libm::expm1(-x)),
            };
            part.copies as f64 * (c * x + libm::log(share))
        };
        let own: f64 = self.sum.parts.iter().map(of).sum();
        let others = self.sum.others.as_ref().map_or(0.0, |others| others.ln_mgf_approx(c));
        own + others + self.sum.rho.to_f64() * (c + c * c - height * height)
    }

    /// Encloses an upper bound on ln |M|^n of a part from a height on.
    fn ln_modulus(&self, part: &Part, c: &Rational, height: f64) -> Enclosure {
        let real = |x: &Rational| Enclosure::rational(x, BITS);
        let (one, height) = (Enclosure::double(1.0, BITS), Enclosure::double(height, BITS));
        let twice = Rational::from(c * 2_u32) + 1_u32;
        let size = |re: &Rational, im: &Enclosure| real(re).mul(&real(re)).add(&im.mul(im)).sqrt();
        let slope = size(&twice, &height.clone().times_power_of_two(1));
        let falling = real(&-Rational::from(&twice * &part.one.largest)).exp();
        let share = match part.one.has_ends {
            true => size(&Rational::from(c + 1_u32), &height).div(&slope).add(&falling.times_power_of_two(-1)),
            false => {
                let scale = real(&Rational::from(-&part.one.largest)).exp_m1().negate();
                one.add(&falling).div(&slope.mul(&scale))
            }
        };
        let one = real(&Rational::from(c * &part.one.largest)).add(&share.ln());
        one.mul(&real(&Rational::from(part.copies)))
    }

    fn by(&self, plan: &Plan, digits: u32, more: u32, stop: &Stop) -> Result<Answer> {
        let bits = precision::bits(digits + more, 96);
        let c = exact(plan.c)?;
        let (ln_scale, total) = self.total(plan, &c, bits, stop)?;
        let scale = ln_scale.exp();
        let rounded = scale.mul(&total.enclosure());
        let alias = self.alias(plan, &c)?.into_float();
        let beyond = self.beyond(plan, &c)?.into_float();
        let truncated = self.list.truncated.clone().into_float();
        // The sum is the answer for the listed losses, and terms of the rule that are not negative, and less than `beyond` in size that is not summed.
        let lower = Float::with_val_round(bits, rounded.lower() - &alias, Round::Down).0;
        let lower = Float::with_val_round(bits, &lower - &beyond, Round::Down).0;
        // The truncated masses can only add to the answer.
        let upper = Float::with_val_round(bits, rounded.upper() + &beyond, Round::Up).0;
        let upper = Float::with_val_round(bits, &upper + &truncated, Round::Up).0;
        if lower.is_nan() || upper.is_nan() {
            return Err(Error::NoLattice);
        }
        let value = Enclosure::new(lower, upper).clamp(0.0, 1.0);
        let proof = ContourProof {
            contour: plan.c,
            complement: false,
            period_nodes: None,
            lattice_refused: None,
            swept_height: plan.h * plan.nodes as f64,
            evaluated_nodes: plan.nodes + 1,
            side_lobes: 0,
            bits,
            alias_error: alias,
            truncation_error: Float::with_val_round(BITS, &beyond + &truncated, Round::Up).0,
            rounding_error: Float::with_val_round(BITS, rounded.upper() - rounded.lower(), Round::Up).0,
        };
        Ok(Answer { met: value.is_tight(digits), value, proof: proof.into() })
    }

    /// ln A and (h / 2 pi) sum over |k| <= K of g(k h) / A, with A = exp(c (sum n x + a - eps) + rho (c + c^2)) prod w^-n for the first listed loss a and the
    /// norms w of the factors.
    fn total(&self, plan: &Plan, c: &Rational, bits: u32, stop: &Stop) -> Result<(Enclosure, Ball)> {
        let factors = self.sum.parts.len() + self.list.losses.len();
        effort::spend(Effort::of_steps(plan.nodes as f64 * factors as f64, machine::PER_UNIFORM_FACTOR));
        let number = |x: &Rational| Ball::rational(x, bits);
        let h = exact(plan.h)?;
        let own = self.sum.parts.iter().map(|part| Rational::from(&part.one.largest * part.copies));
        let first = self.list.losses.first().map(|(loss, _)| loss.clone()).unwrap_or_default();
        let reach = own.fold(Rational::from(&first - self.epsilon), |sum, loss| sum + loss);
        let concentrated = (c + c.clone().square()) * &self.sum.rho;
        let mut ln_scale = Enclosure::rational(&(Rational::from(c * &reach) + concentrated), bits);
        let factors = self.sum.parts.iter().map(|part| Factor::new(part, c, bits)).collect::<Result<Vec<_>>>()?;
        for factor in &factors {
            let copies = Enclosure::rational(&Rational::from(factor.part.copies), bits);
            ln_scale = ln_scale.sub(&Enclosure::rational(&factor.norm, bits).ln().mul(&copies));
        }
        let weighted = |(loss, p): &(Rational, Enclosure)| {
            let away = Rational::from(loss - &first);
            let weight = p.mul(&Enclosure::rational(&Rational::from(c * &away), bits).exp());
            (away, Ball::of_enclosure(&weight, bits))
        };
        let listed: Vec<(Rational, Ball)> = self.list.losses.iter().map(weighted).collect();
        // exp(i t (reach + rho (1 + 2 c)))
        let turn = (Rational::from(c * 2_u32) + 1_u32) * &self.sum.rho + &reach;
        let zero = || number(&Rational::new());
        let mut total = zero();
        for k in 0..=plan.nodes {
            if k % 64 == 0 {
                stop.check()?;
            }
            let t = Rational::from(&h * k);
            let fall = number(&-(Rational::from(t.square_ref()) * &self.sum.rho)).exp();
            let mut product = ComplexBall::cis(&number(&Rational::from(&t * &turn))).scale(&fall);
            for factor in &factors {
                product = product.mul(&factor.at(c, &t, bits));
            }
            if self.sum.others.is_some() {
                let of = |(away, weight): &(Rational, Ball)| {
                    ComplexBall::cis(&number(&Rational::from(&t * away))).scale(weight)
                };
                let none = ComplexBall::new(zero(), zero());
                product = product.mul(&listed.iter().fold(none, |sum, one| sum.add(&of(one))));
            }
            let s = ComplexBall::new(number(c), number(&t));
            let next = ComplexBall::new(number(&Rational::from(c + 1_u32)), number(&t));
            let term = product.mul(&s.mul(&next).recip()).re();
            total = total.add(&if k == 0 { term } else { term.mul_int(2) });
        }
        let two_pi = Ball::pi(bits).mul_int(2);
        Ok((ln_scale, total.mul(&number(&h)).mul(&two_pi.recip())))
    }

    /// Upper bound on the terms that the trapezoid rule adds.
    fn alias(&self, plan: &Plan, c: &Rational) -> Result<UpperBound> {
        let period = Enclosure::pi(BITS).times_power_of_two(1).div(&Enclosure::double(plan.h, BITS));
        let right = exact(plan.right)?;
        let apart = |from: &Rational, to: &Rational| Enclosure::rational(&Rational::from(to - from), BITS).mul(&period);
        // sum over m >= 1 of exp(-c m Y), and of psi(c') exp(-(c' - c) m Y)
        let on_left = UpperBound::of_geometric(&apart(&Rational::new(), c));
        let on_right = self.sum.psi(&right, self.epsilon).mul(&UpperBound::of_geometric(&apart(c, &right)));
        Ok(on_left.add(&on_right))
    }

    /// Upper bound on the nodes beyond the last one: exp(-c eps + rho (c + c^2 - T^2)) |M(T)| / (pi T), with the moment of all other losses at c.
    fn beyond(&self, plan: &Plan, c: &Rational) -> Result<UpperBound> {
        // Not above T, where the modulus is larger.
        let height = (plan.h * plan.nodes as f64).next_down();
        let t = Enclosure::double(height, BITS);
        let fall = t.mul(&t).mul(&Enclosure::rational(&self.sum.rho, BITS)).negate();
        let kernel = Enclosure::pi(BITS).mul(&t).recip();
        let concentrated = (c + c.clone().square()) * &self.sum.rho;
        let exponent = concentrated - Rational::from(c * self.epsilon);
        let mut ln = Enclosure::rational(&exponent, BITS).add(&fall);
        if let Some(others) = &self.sum.others {
            ln = ln.add(&others.ln_mgf(c, BITS));
        }
        for part in &self.sum.parts {
            ln = ln.add(&self.ln_modulus(part, c, height));
        }
        Ok(UpperBound::exp(&ln).mul(&UpperBound::of_enclosure(&kernel)))
    }
}

/// w^n exp(-s x)^n M(s)^n of a part, with a norm w for which it is about 1 on the real line.
struct Factor<'a> {
    part: &'a Part,
    norm: Rational,
    /// exp(-(1 + 2 c) x), and 1 / (1 - exp(-x)).
    falling: Ball,
    scale: Ball,
}

impl<'a> Factor<'a> {
    fn new(part: &'a Part, c: &Rational, bits: u32) -> Result<Self> {
        let at = c.to_f64();
        let ln_norm = at * part.one.largest.to_f64() - part.ln_mgf_approx(at) / part.copies as f64;
        let norm = exact(libm::exp(ln_norm))?;
        let x = &part.one.largest;
        let twice = Rational::from(c * 2_u32) + 1_u32;
        let falling = Ball::rational(&-(twice * x), bits).exp();
        let scale = Ball::rational(&Rational::from(-x), bits).exp_m1().neg().recip();
        Ok(Factor { part, norm, falling, scale })
    }

    /// At s = c + i t: ((1 + s) + s exp(-(1 + 2 s) x)) / (1 + 2 s), or (1 - exp(-(1 + 2 s) x)) / ((1 + 2 s) (1 - exp(-x))).
    fn at(&self, c: &Rational, t: &Rational, bits: u32) -> ComplexBall {
        let number = |x: &Rational| Ball::rational(x, bits);
        let twice_t = Rational::from(t * 2_u32);
        let turned =
            ComplexBall::cis(&number(&-Rational::from(&twice_t * &self.part.one.largest))).scale(&self.falling);
        let next = Rational::from(c + 1_u32);
        let slope = ComplexBall::new(number(&Rational::from(c + &next)), number(&twice_t)).recip();
        let top = match self.part.one.has_ends {
            true => {
                let s = ComplexBall::new(number(c), number(t));
                ComplexBall::new(number(&next), number(t)).add(&s.mul(&turned))
            }
            false => {
                let minus = turned.scale(&number(&Rational::from(-1)));
                let one = ComplexBall::new(number(&Rational::from(1)), number(&Rational::new()));
                one.add(&minus).scale(&self.scale)
            }
        };
        top.mul(&slope).scale(&number(&self.norm)).pow(self.part.copies)
    }
}
