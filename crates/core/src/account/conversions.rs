//! The conversions that users compare with: zero-concentrated, Renyi, Gaussian and pure differential privacy to (epsilon, delta); and the
//! total variation distance that rho alone implies.
//!
//! The first three start from the moment generating function M of the privacy loss: the Renyi divergence of order
//! alpha is ln M(alpha - 1) / (alpha - 1), and rho-zCDP is the bound ln M(s) <= rho (s + s^2).

use rug::{Float, Rational, float::Round};

use super::composition::Composition;
use crate::{
    error::{Error, Result},
    loss::{
        gaussian,
        parameter::{Delta, Epsilon, Rho},
    },
    numeric::{
        Enclosure, extremum, halving, parallel, precision, rational,
        root::{self, Decreasing},
    },
};

/// epsilon = rho + 2 sqrt(rho ln(1 / delta)): the conversion of rho-zCDP by Bun & Steinke (2016, Proposition 1.3). An
/// enclosure of the formula, to about 10^-digits.
pub fn zcdp_epsilon(rho: &Rho, delta: &Delta, digits: u32) -> Enclosure {
    let bits = precision::bits(digits, 32);
    let rho = Enclosure::rational(rho, bits);
    let ln = Enclosure::rational(delta, bits + 16).ln().negate();
    rho.add(&rho.mul(&ln).sqrt().mul(&Enclosure::double(2.0, bits)))
}

/// delta = exp(-(epsilon - rho)^2 / (4 rho)) for epsilon >= rho, else 1: the inverse of [`zcdp_epsilon`]. An enclosure, to about
/// 10^-digits.
pub fn zcdp_delta(rho: &Rho, epsilon: &Epsilon, digits: u32) -> Enclosure {
    let bits = precision::bits(digits, 32);
    if **epsilon <= **rho {
        return Enclosure::double(1.0, bits);
    }
    exp_of_square(rho, &Rational::from(&**epsilon - &**rho), bits)
}

/// exp(-u^2 / (4 rho)), with the additional bits that the size of the exponent requires.
fn exp_of_square(rho: &Rational, u: &Rational, bits: u32) -> Enclosure {
    let exponent = -u.clone().square() / Rational::from(rho * 4_u32);
    // exp(-2^128) is below the smallest positive float, so a larger exponent needs no more bits.
    let size = libm::log2(exponent.to_f64().abs()).clamp(0.0, 128.0) as u32;
    Enclosure::rational(&exponent, bits + size).exp()
}

/// The epsilon that rho-zCDP implies by the best order, each converted alone, and that order (Canonne, Kamath & Steinke 2020, Corollary 13):
///
/// `epsilon = inf over alpha > 1 of rho alpha + ln(1 / (alpha delta)) / (alpha - 1) + ln(1 - 1 / alpha)`.
pub fn zcdp_epsilon_optimal(rho: &Rho, delta: &Delta) -> Result<OptimalOrder> {
    let linear = |s: &Rational| Enclosure::rational(&((s + s.clone().square()) * &**rho), ORDER_BITS);
    optimal_order(linear, rho, delta)
}

/// The epsilon of [`zcdp_epsilon_optimal`] with a search for the order in doubles: equally certified and about ten times as fast, with
/// different last digits.
pub fn zcdp_epsilon_best_order(rho: &Rho, delta: &Delta) -> Result<Enclosure> {
    let linear = |s: &Rational| Enclosure::rational(&((s + s.clone().square()) * &**rho), ORDER_BITS);
    let best = best_excess(rho.to_f64(), None, delta);
    Ok(around_order(linear, delta, best, |best, g| extremum::convex_minimum_near(0.0, best, g))?.epsilon)
}

/// Approximation in doubles of the epsilon by the best order, to a few digits, for comparing candidates. Without a composition ln M(s) is
/// the bound by rho.
pub(crate) fn best_order_epsilon_approx(rho: f64, composition: Option<&Composition>, delta: &Delta) -> f64 {
    let s = best_excess(rho, composition, delta);
    epsilon_approx(rho, composition, ln_approx(delta), s).max(0.0)
}

fn ln_approx(delta: &Delta) -> f64 {
    Enclosure::rational(delta, 64).ln().approximate()
}

fn epsilon_approx(rho: f64, composition: Option<&Composition>, ln_delta: f64, s: f64) -> f64 {
    (rho_or_exact(rho, composition, s) + s * libm::log(s) - (s + 1.0) * libm::log1p(s) - ln_delta) / s
}

/// alpha - 1 at the best order, searched for in doubles.
fn best_excess(rho: f64, composition: Option<&Composition>, delta: &Delta) -> f64 {
    let ln_delta = ln_approx(delta);
    let start = (-ln_delta / rho).sqrt().clamp(1e-9, 1e12);
    extremum::minimum_beyond(0.0, start, |s| epsilon_approx(rho, composition, ln_delta, s))
}

/// The epsilon that the exact Renyi divergences of the composition imply by the best order, by the same conversion.
pub fn renyi_epsilon(composition: &Composition, delta: &Delta) -> Result<OptimalOrder> {
    if !composition.is_symmetric() {
        // Each moment is an integral, or the larger of two: the order is searched for in doubles.
        let best = best_excess(composition.rho().to_f64(), Some(composition), delta);
        let ln_mgf = |s: &Rational| composition.ln_mgf(s, ORDER_BITS);
        let around = |best| around_order(ln_mgf, delta, best, |best, g| extremum::convex_minimum_near(0.0, best, g));
        let found = around(best)?;
        if *found.epsilon.lower() > 0 || *found.epsilon.upper() == 0 {
            return Ok(found);
        }
        // In doubles, phases of nearly equal noise are all taken for the least, whose best order is another one.
        let ln_delta = Enclosure::rational(delta, ORDER_BITS).ln();
        let epsilon = |ln_s: f64| {
            let s = rational::from_f64(libm::exp(ln_s));
            s.map_or(f64::NAN, |s| by_order(&s, &ln_mgf(&s), &ln_delta).approximate())
        };
        let refined = halving::golden_section([libm::log(best) - 0.5, libm::log(best) + 0.5], 24, epsilon);
        return around(libm::exp(refined));
    }
    optimal_order(|s| composition.ln_mgf(s, ORDER_BITS), composition.rho(), delta)
}

/// The smallest epsilon by Renyi orders for the worst of several compositions: M(s) is the largest of theirs at every order.
///
/// Every order gives a valid bound, so the upper end is the largest value over all compositions at one order. The lower end is that of one
/// composition, and the worst case is at least as large. The search ends as soon as the composition with the largest value is the one whose
/// best order was used; then both ends belong to it. An error without compositions.
pub fn renyi_epsilon_of_worst(compositions: &[Composition], delta: &Delta) -> Result<OptimalOrder> {
    let mut lead = compositions.first().ok_or(Error::EmptyComposition)?;
    let mut found = renyi_epsilon(lead, delta)?;
    if compositions.len() == 1 {
        return Ok(found);
    }
    let ln_delta = Enclosure::rational(delta, ORDER_BITS).ln();
    let mut lower = found.epsilon.lower().clone();
    let mut rounds = 0;
    loop {
        rounds += 1;
        let s = rational::from_f64(found.excess)?;
        let moments = parallel::map(compositions, |one| one.ln_mgf(&s, ORDER_BITS));
        let own = lead.ln_mgf(&s, ORDER_BITS);
        let (mut worst, mut largest) = (lead, &own);
        for (one, moment) in compositions.iter().zip(&moments) {
            if moment.upper() > largest.upper() {
                (worst, largest) = (one, moment);
            }
        }
        if largest.upper() <= own.upper() || rounds > compositions.len() {
            // No moment at this order is above the largest upper end, so this is an upper bound for all compositions.
            let upper = by_order(&s, largest, &ln_delta).upper().clone();
            if !upper.is_finite() {
                return Err(Error::Unbounded { what: "the epsilon by one Renyi order" });
            }
            // No epsilon is below zero. Otherwise `lower` is at most `upper`: at this order every composition's value is at most `upper`.
            let epsilon = if upper <= 0 { Enclosure::double(0.0, ORDER_BITS) } else { Enclosure::new(lower, upper) };
            return Ok(OptimalOrder { epsilon, ..found });
        }
        lead = worst;
        found = renyi_epsilon(lead, delta)?;
        if *found.epsilon.lower() > lower {
            lower = found.epsilon.lower().clone();
        }
    }
}

/// epsilon at delta by one order alpha = s + 1, from ln M(s).
fn by_order(s: &Rational, ln_mgf: &Enclosure, ln_delta: &Enclosure) -> Enclosure {
    let s_ball = Enclosure::rational(s, ORDER_BITS);
    let next = Enclosure::rational(&Rational::from(s + 1), ORDER_BITS);
    let fixed = ln_mgf.add(&s_ball.mul(&s_ball.ln())).sub(&next.mul(&next.ln()));
    fixed.sub(ln_delta).div(&s_ball)
}

/// Approximation in doubles of delta at epsilon by the best order, for charts. Without a composition ln M(s) is the bound by rho.
pub fn best_order_delta_approx(rho: f64, composition: Option<&Composition>, epsilon: f64) -> f64 {
    let ln_delta = |s: f64| {
        let ln_mgf = rho_or_exact(rho, composition, s);
        ln_mgf - s * epsilon + s * libm::log(s) - (s + 1.0) * libm::log1p(s)
    };
    let start = ((epsilon - rho) / (2.0 * rho)).clamp(1e-6, 1e9);
    libm::exp(ln_delta(extremum::minimum_beyond(0.0, start, ln_delta))).min(1.0)
}

fn rho_or_exact(rho: f64, composition: Option<&Composition>, s: f64) -> f64 {
    composition.map_or(rho * (s + s * s), |composition| composition.ln_mgf_approx(s))
}

/// Upper bound on the total variation distance of the outputs by rho-zCDP alone: the t with t ln((1 + t) / (1 - t)) = rho. The result
/// encloses this bound to about 10^-digits.
///
/// The Renyi divergence of order alpha is at most rho alpha for every alpha > 1 and increases with alpha, so the Kullback-Leibler
/// divergence, its limit at 1, is at most rho, in both directions. By data processing the divergences of an event of probabilities p and
/// q = p - t under both laws have a sum of at most 2 rho. This sum is t (ln(p / (1 - p)) - ln(q / (1 - q))), which is least at
/// p = (1 + t) / 2, q = (1 - t) / 2: its derivative in p is t (1 / (p (1 - p)) - 1 / (q (1 - q))). There it is 2 t ln((1 + t) / (1 - t)).
///
/// With t = tanh(u / 2) it is u tanh(u / 2) = rho, and both sides increase in u: an end of u is proven by the side of rho on which it lies.
pub fn zcdp_total_variation(rho: &Rho, digits: u32) -> Enclosure {
    let bits = precision::bits(digits, 64);
    let exact = |u: &Float| Enclosure::new(u.clone(), u.clone());
    let target = Enclosure::rational(rho, bits);
    // tanh(x) <= min(x, 1), so u is at least this.
    let least = target.max(&target.add(&target).sqrt());
    let mut u = Float::with_val(bits, least.lower() + target.upper());
    for _ in 0..100 {
        // A step of Newton; what it finds is no bound until it is compared.
        let slope = Float::with_val(bits, &u / 2_u32).tanh();
        let curvature = Float::with_val(bits, 1 - slope.clone().square()) * &u / 2_u32;
        let error = Float::with_val(bits, &u * &slope) - target.lower();
        let step = error / (slope + curvature);
        let is_last = step.clone().abs() <= Float::with_val(bits, &u >> (bits - 8));
        u -= step;
        if is_last {
            break;
        }
    }
    let (mut low, mut high) = (half_tanh(&exact(least.lower())), kl_total_variation(rho, digits));
    // The narrowest interval around u whose ends are proven.
    for share in (1..bits - 8).rev().step_by(8) {
        let width = Float::with_val(bits, &u >> share);
        let ends = [Float::with_val(bits, &u - &width), Float::with_val(bits, &u + &width)].map(|end| exact(&end));
        let [below, above] = [0, 1].map(|end| ends[end].mul(&half_tanh(&ends[end])));
        // u tanh(u / 2) <= rho at the lower end, and >= rho at the upper one.
        if *below.upper() <= **rho && *above.lower() >= **rho {
            [low, high] = ends.map(|end| half_tanh(&end));
            break;
        }
    }
    low.hull(&high).clamp(0.0, 1.0)
}

/// tanh(u / 2) = (1 - exp(-u)) / (1 + exp(-u)), without cancellation.
fn half_tanh(u: &Enclosure) -> Enclosure {
    let u = u.clone().negate();
    u.exp_m1().negate().div(&Enclosure::double(1.0, u.lower().prec()).add(&u.exp()))
}

/// Upper bound on the total variation distance of two laws whose Kullback-Leibler divergence is at most `rho` in one direction: min(sqrt(rho /
/// 2), sqrt(1 - exp(-rho))). The result encloses this bound to about 10^-digits.
///
/// - TV <= sqrt(KL / 2) (Pinsker);
/// - TV <= sqrt(1 - exp(-KL)) (Bretagnolle & Huber): with B the integral of sqrt(p q), TV^2 + B^2 <= 1, because TV is half the
///   integral of |sqrt(p) - sqrt(q)| (sqrt(p) + sqrt(q)), at most sqrt(2 - 2 B) sqrt(2 + 2 B) / 2 by Cauchy & Schwarz; and
///   B = E_P[exp(-L / 2)] >= exp(-KL / 2) by Jensen.
pub fn kl_total_variation(rho: &Rho, digits: u32) -> Enclosure {
    let bits = precision::bits(digits, 64);
    let half = Enclosure::rational(&Rational::from(&**rho / 2_u32), bits).sqrt();
    // 1 - exp(-rho) without cancellation, and positive even if it is far below 2^-bits.
    let other = Enclosure::rational(&Rational::from(-&**rho), bits).exp_m1().negate().clamp(0.0, 1.0).sqrt();
    smaller(&half, &other).clamp(0.0, 1.0)
}

/// Upper bound on delta(epsilon) by rho alone, for an epsilon that is known within an enclosure: the smaller of `distance`, a bound on the total
/// variation distance, which is delta(0) >= delta(epsilon), and exp(-(epsilon - rho)^2 / (4 rho)) from epsilon = rho on. The result encloses this
/// bound to about 10^-digits. An error if an end of epsilon is infinite.
pub fn zcdp_hockey_stick(rho: &Rho, distance: &Enclosure, epsilon: &Enclosure, digits: u32) -> Result<Enclosure> {
    let end = |end: Option<Rational>| -> Result<Epsilon> {
        Epsilon::new(end.ok_or(Error::Unbounded { what: "epsilon" })?.max(Rational::new()))
    };
    let (low, high) = (end(epsilon.lower_rational())?, end(epsilon.upper_rational())?);
    // The bound of the tail decreases in epsilon, so between both ends of epsilon it lies between its values at them.
    let tail = zcdp_delta(rho, &low, digits).hull(&zcdp_delta(rho, &high, digits));
    Ok(smaller(distance, &tail))
}

fn smaller(a: &Enclosure, b: &Enclosure) -> Enclosure {
    a.clone().negate().max(&b.clone().negate()).negate()
}

/// An epsilon by the best Renyi order.
#[derive(Clone, Debug)]
pub struct OptimalOrder {
    /// Encloses the infimum over all orders, in nats. The upper end is the value at `order`, so it is a valid bound on its own.
    pub epsilon: Enclosure,
    /// The order alpha of the upper end. Every order gives a valid bound.
    pub order: f64,
    /// alpha - 1, which may be too small to be visible in alpha.
    excess: f64,
}

const ORDER_BITS: u32 = 160;

/// The larger of zero and inf over s > 0 of (ln M(s) + s ln s - (s + 1) ln(s + 1) - ln delta) / s, with s = alpha - 1.
///
/// Some order reaches delta at epsilon if and only if the minimum over s of g(s) = ln M(s) - s epsilon + s ln s - (s + 1) ln(s + 1) is at
/// most ln delta. g is convex: ln M is convex, and the second derivative of the remaining terms is 1 / s - 1 / (s + 1) > 0. So a certified
/// minimum of g above ln delta at some epsilon proves that no order gives less than this epsilon.
fn optimal_order(ln_mgf: impl Fn(&Rational) -> Enclosure, rho: &Rho, delta: &Delta) -> Result<OptimalOrder> {
    let ln_delta = Enclosure::rational(delta, ORDER_BITS).ln();
    // Near the optimum of the concentrated bound, s = sqrt(ln(1 / delta) / rho).
    let start = (-ln_delta.approximate() / rho.to_f64()).sqrt().clamp(1e-9, 1e12);
    let at = |s: &Rational| by_order(s, &ln_mgf(s), &ln_delta).approximate();
    let approximately = |s: f64| rational::from_f64(s).map_or(f64::NAN, |s| at(&s));
    let best = extremum::minimum_beyond(0.0, start, approximately);
    around_order(ln_mgf, delta, best, |best, g| extremum::convex_minimum(0.0, best, g))
}

/// The proof for an order s = alpha - 1 found by a search: its value from above, and a certified minimum of g from below.
fn around_order(
    ln_mgf: impl Fn(&Rational) -> Enclosure,
    delta: &Delta,
    best: f64,
    minimum: impl Fn(f64, &dyn Fn(&Rational) -> Enclosure) -> Option<Enclosure>,
) -> Result<OptimalOrder> {
    let ln_delta = Enclosure::rational(delta, ORDER_BITS).ln();
    let fixed = |s: &Rational| {
        let s_ball = Enclosure::rational(s, ORDER_BITS);
        let next = Enclosure::rational(&Rational::from(s + 1), ORDER_BITS);
        ln_mgf(s).add(&s_ball.mul(&s_ball.ln())).sub(&next.mul(&next.ln()))
    };
    let epsilon_at = |s: &Rational| by_order(s, &ln_mgf(s), &ln_delta);
    let upper = epsilon_at(&rational::from_f64(best)?).upper().clone();
    if upper <= 0 {
        // No epsilon is below zero.
        return Ok(OptimalOrder { epsilon: Enclosure::double(0.0, ORDER_BITS), order: 1.0 + best, excess: best });
    }
    // The lower end is easier to prove the farther it is from the upper one.
    for exponent in [-46, -43, -40, -36, -30, -20, -10] {
        let distance = Float::with_val(ORDER_BITS, &upper * 2f64.powi(exponent)).abs();
        let lower = Float::with_val_round(ORDER_BITS, &upper - &distance, Round::Down).0;
        let epsilon = Enclosure::new(lower.clone(), lower.clone());
        let g = |s: &Rational| fixed(s).sub(&epsilon.mul(&Enclosure::rational(s, ORDER_BITS)));
        let proven = minimum(best, &g).is_some_and(|least| least.lower() >= ln_delta.upper());
        if proven {
            return Ok(OptimalOrder { epsilon: Enclosure::new(lower, upper), order: 1.0 + best, excess: best });
        }
    }
    Ok(OptimalOrder { epsilon: Enclosure::new(Float::with_val(ORDER_BITS, 0), upper), order: 1.0 + best, excess: best })
}

/// Gaussian differential privacy with mu = sqrt(2 rho): the profile of continuous noise with the same rho (Dong, Roth & Su 2022, Corollary
/// 2.13). For integer noise it is an approximation, not a bound.
#[derive(Clone, Debug)]
pub struct GaussianProfile {
    rho: Rho,
}

impl GaussianProfile {
    /// The profile with mu = sqrt(2 rho).
    pub fn new(rho: Rho) -> Self {
        GaussianProfile { rho }
    }

    /// Encloses delta(epsilon), to a relative width of 10^-digits unless that takes more than 10^5 bits or underflows.
    pub fn delta(&self, epsilon: &Rational, digits: u32) -> Enclosure {
        gaussian::hockey_stick(&self.rho, epsilon, digits)
    }

    /// Encloses the epsilon at which delta is reached, to a relative width of 10^-digits.
    pub fn epsilon(&self, delta: &Delta, digits: u32) -> Result<Enclosure> {
        let ceiling = zcdp_epsilon(&self.rho, delta, 15).upper().to_f64().next_up();
        let profile = Decreasing {
            ln_approx: |epsilon: &Rational| Ok(gaussian::ln_hockey_stick_approx(&self.rho, epsilon)),
            enclose: |epsilon: &Rational, digits| Ok(self.delta(epsilon, digits)),
        };
        Ok(root::decreasing_root(&profile, delta, ceiling, digits)?.value)
    }
}

/// The trade-off function that rho-zCDP implies through its curve delta(eps) = exp(-(eps - rho)^2 / (4 rho)): the supremum over eps >= 0 of
/// 0, 1 - delta - exp(eps) alpha and exp(-eps) (1 - delta - alpha), for 0 < alpha < 1 (Dong, Roth & Su 2022, Proposition 2.12). The
/// absolute error of each line is about 10^-digits.
///
/// Below rho delta is 1 and no line is positive. Let u = eps - rho. The first line is highest where (u / 2 rho) delta = exp(eps) alpha. The
/// logarithm of the left side minus that of the right side is concave in u, so beyond its maximum there is one root; the line increases
/// before this root and decreases after it. The second line is highest where (1 + u / 2 rho) delta = 1 - alpha. The left side is 1 at u =
/// 0, increases to its maximum and decreases to zero, so again there is one root beyond the maximum.
pub fn zcdp_tradeoff(rho: &Rho, alpha: &Rational, digits: u32) -> Result<Enclosure> {
    if *alpha <= 0 || *alpha >= 1 {
        return Err(Error::out_of_range("alpha", rational::display(alpha), "a type I error between 0 and 1"));
    }
    let bits = precision::bits(digits, 32 + 64);
    let real = |x: &Rational| Enclosure::rational(x, bits);
    let (one, target) = (Enclosure::double(1.0, bits), real(alpha));
    let rho = &**rho;
    let delta = |u: &Rational| exp_of_square(rho, u, precision::bits(digits + 20, 32));
    let double_rho = Rational::from(rho * 2_u32);
    // Positive where the line still increases.
    let first = |u: &Rational| {
        let left = real(&Rational::from(u / &double_rho)).mul(&delta(u)).ln();
        left.sub(&real(&Rational::from(rho + u))).sub(&target.ln())
    };
    let second = |u: &Rational| {
        let left = real(&(Rational::from(u / &double_rho) + 1_u32)).mul(&delta(u));
        left.sub(&one.sub(&target))
    };
    let r = rho.to_f64();
    // The maxima: 1 / u - u / 2 rho - 1 = 0 and 1 - u - u^2 / 2 rho = 0 have the same root -rho + sqrt(rho^2 + 2 rho).
    let top = (r * r + 2.0 * r).sqrt() - r;
    let line_one = |u: &Rational| one.sub(&delta(u)).sub(&real(&Rational::from(rho + u)).exp().mul(&target));
    let line_two = |u: &Rational| one.sub(&delta(u)).sub(&target).div(&real(&Rational::from(rho + u)).exp());
    // The supremum of a line is at least its value at any u, and at most its two parts, each at the better end of a bracket of the root.
    let mut best = Enclosure::double(0.0, bits);
    for (turn, line, mirrored) in [
        (&first as &dyn Fn(&Rational) -> Enclosure, &line_one as &dyn Fn(&Rational) -> Enclosure, false),
        (&second, &line_two, true),
    ] {
        let (mut low, mut high) = (rational::from_f64(top)?, rational::from_f64(2.0 * top + 1.0)?);
        if *turn(&low).upper() <= 0 {
            // Negative even at its maximum: the line decreases beyond it and is positive nowhere there.
            continue;
        }
        while *turn(&high).upper() > 0 {
            high *= 2_u32;
        }
        for _ in 0..bits {
            let middle = Rational::from(&low + &high) / 2_u32;
            let sign = turn(&middle);
            if *sign.lower() > 0 {
                low = middle;
            } else if *sign.upper() <= 0 {
                high = middle;
            } else {
                break;
            }
        }
        // delta decreases and exp increases, so each part is taken at the end where it is larger.
        let gain = one.sub(&delta(&high));
        let at_low = real(&Rational::from(rho + &low)).exp();
        let most = if mirrored { gain.sub(&target).div(&at_low) } else { gain.sub(&at_low.mul(&target)) };
        let least = line(&low);
        best = best.max(&Enclosure::new(least.lower().clone(), most.upper().clone()));
    }
    Ok(best.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::number;

    /// A delta so large that every order gives an epsilon below zero.
    #[test]
    fn no_epsilon_is_below_zero() {
        let delta: Delta = "0.074".parse().unwrap();
        let nearly_none = Composition::new(["1881923/1001x3".parse().unwrap()]).unwrap();
        let zero = Enclosure::double(0.0, ORDER_BITS);
        assert_eq!(renyi_epsilon(&nearly_none, &delta).unwrap().epsilon, zero);
        assert_eq!(zcdp_epsilon_optimal(nearly_none.rho(), &delta).unwrap().epsilon, zero);
    }

    /// Phases whose noise grows by a hundredth each: in doubles they count as if all had the least noise, whose best order proves no lower end.
    #[test]
    fn the_best_order_of_a_schedule_is_proven() {
        use crate::account::Counts;
        let phase = |k: u32| {
            let sigma = Rational::from((100 + k, 100));
            Counts::parse_sampled(&format!("0.01:gaussian:{}x100", rational::display(&sigma.square()))).unwrap()
        };
        let schedule = Composition::new((0..8).map(phase)).unwrap();
        let found = renyi_epsilon(&schedule, &"1e-5".parse().unwrap()).unwrap();
        assert!(found.epsilon.is_tight(6), "{found:?}");
    }

    #[test]
    fn the_conversion_of_bun_and_steinke_agrees_with_the_papers() {
        // State: rho = 0.274 x 3.65; epsilon 11.0661 and 7.7866 at delta = 1e-11 and 1e-5.
        let rho: Rho = (number("0.274") * number("3.65")).try_into().unwrap();
        for (delta, shown) in [("1e-11", "11.0661"), ("1e-5", "7.78658")] {
            let epsilon = zcdp_epsilon(&rho, &delta.parse().unwrap(), 30);
            assert!(epsilon.is_tight(30));
            assert_eq!(epsilon.shown(6), shown);
            let back = zcdp_delta(&rho, &epsilon.upper_rational().unwrap().try_into().unwrap(), 20);
            assert!((back.approximate() / number(delta).to_f64() - 1.0).abs() < 1e-12);
        }
        assert_eq!(zcdp_delta(&rho, &"0.5".parse().unwrap(), 12).approximate(), 1.0);
    }

    #[test]
    fn the_optimal_order_is_better_and_proven() {
        // The production certificate of P.L. 94-171 persons: 17.143550738... at rho = 293764/114921.
        let rho: Rho = "293764/114921".parse().unwrap();
        let optimal = zcdp_epsilon_optimal(&rho, &"1e-10".parse().unwrap()).unwrap();
        assert!(optimal.epsilon.is_tight(12), "{optimal:?}");
        assert!(optimal.epsilon.shown(9).starts_with("17.14355"), "{optimal:?}");
        assert!(optimal.epsilon.upper() < zcdp_epsilon(&rho, &"1e-10".parse().unwrap(), 12).lower());
        for (rho, delta) in
            [("1e-6", "1e-5"), ("1e4", "1e-300"), ("0.5", "0.5"), ("3", "0.999"), ("2.5", "1e-10"), ("1e12", "1e-3")]
        {
            let (rho, delta) = (rho.parse().unwrap(), delta.parse().unwrap());
            let epsilon = zcdp_epsilon_optimal(&rho, &delta).unwrap().epsilon;
            assert!(epsilon.lower() <= epsilon.upper(), "{rho} {delta}");
            // With the search in doubles: equally certified and about as narrow.
            let quick = zcdp_epsilon_best_order(&rho, &delta).unwrap();
            assert!(quick.overlaps(&epsilon) && (quick.is_tight(9) || !epsilon.is_tight(9)), "{rho} {delta}: {quick}");
        }
    }

    /// The worst over block paths is that of a path paired with itself, and no pair exceeds it.
    #[test]
    fn the_renyi_epsilon_of_the_worst_is_that_of_every_pair() {
        let path = |text: &str| Composition::new(text.split(' ').map(|counts| counts.parse().unwrap())).unwrap();
        let paths = [path("0.2x1 1.25x2"), path("0.1x1"), path("0.3x2 0.3x1")];
        let delta: Delta = "1e-7".parse().unwrap();
        let doubled: Vec<Composition> = paths.iter().map(|path| path.compose(path).unwrap()).collect();
        let worst = renyi_epsilon_of_worst(&doubled, &delta).unwrap().epsilon;
        assert!(worst.is_tight(9), "{worst}");
        let mut largest = 0.0_f64;
        for p in &paths {
            for q in &paths {
                let own = renyi_epsilon(&p.compose(q).unwrap(), &delta).unwrap().epsilon;
                assert!(own.lower() <= worst.upper());
                largest = largest.max(own.approximate());
            }
        }
        assert!((largest / worst.approximate() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_trade_off_function_of_zcdp_is_the_best_of_its_lines() {
        for rho in ["0.01", "0.3", "1", "3.65"] {
            let (rho, mut before): (Rho, f64) = (rho.parse().unwrap(), 1.1);
            for alpha in ["1e-12", "1e-5", "0.01", "0.1", "0.3", "0.5", "0.8", "0.99"] {
                let alpha = number(alpha);
                let value = zcdp_tradeoff(&rho, &alpha, 20).unwrap();
                assert!(*value.upper() <= Rational::from(1 - &alpha) && value.approximate() <= before, "{rho} {alpha}");
                before = value.approximate();
                assert!(Float::with_val(64, value.upper() - value.lower()) < 1e-15, "{rho} {alpha}");
                // No line of a fine grid exceeds it, and some come close.
                let (r, a) = (rho.to_f64(), alpha.to_f64());
                let lines = (0..40_000).flat_map(|k| {
                    let epsilon = f64::from(k) * 1e-3;
                    let rest = 1.0 - if epsilon < r { 1.0 } else { (-(epsilon - r).powi(2) / (4.0 * r)).exp() };
                    [rest - epsilon.exp() * a, (rest - a) / epsilon.exp()]
                });
                let most = lines.fold(0.0_f64, f64::max);
                assert!(most <= before + 1e-12 && before - most < 1e-3 * (1.0 - before).max(1e-3), "{rho} {alpha}");
            }
        }
    }

    #[test]
    fn the_gaussian_profile_inverts_itself_and_is_near_many_small_counts() {
        let profile = GaussianProfile::new("1".parse().unwrap());
        let epsilon = profile.epsilon(&"1e-11".parse().unwrap(), 25).unwrap();
        assert!(epsilon.is_tight(25));
        let middle = epsilon.lower().to_rational().unwrap();
        assert!((profile.delta(&middle, 20).approximate() * 1e11 - 1.0).abs() < 1e-12);
        let far = profile.delta(&number("300"), 15);
        assert!(far.is_tight(15) && *far.lower() > 0);
        let fine = Composition::new(["5000x10000".parse().unwrap()]).unwrap();
        let exact = crate::account::Account::epsilon(&fine, "1e-11", 12).unwrap().value;
        assert!((exact.approximate() / epsilon.approximate() - 1.0).abs() < 1e-3);
    }
}
