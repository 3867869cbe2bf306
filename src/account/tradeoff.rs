//! The trade-off function: the smallest type II error of any test of P against Q at a given type I error.
//!
//! With Q the null hypothesis, the best tests reject where the privacy loss L = ln dP/dQ is large. On a lattice of
//! losses f is linear between the knots
//!
//! `(alpha, beta) = (Q[L > l], P[L <= l])`, l on the lattice,
//!
//! with slope -exp(l) from `Q[L > l]` to `Q[L >= l]`. The pair is symmetric, so `P[L <= l] = Q[L >= -l]`, and both
//! coordinates are tails of one kind ([`SumEvaluator::tilted_tail`]), accurate to
//! relative precision however small.
//!
//! Where the lattice cannot be swept, f comes from the privacy profile by duality: f(alpha) is the supremum over eps of
//! 1 - delta(eps) - exp(eps) alpha, and of the mirrored lines. Any line is a bound from below; three of them around the
//! highest give one from above, because their heights are concave in exp(eps).

use rayon::prelude::*;
use rug::{Float, Rational};

use super::Composition;
use crate::{
    error::{Error, Result},
    loss::{
        answer::{Answer, Method},
        evaluator::SumEvaluator,
        sum::LossSum,
    },
    numeric::{Enclosure, enclosure, precision, rational},
};

/// A knot of the trade-off function.
#[derive(Clone, Debug)]
pub struct Knot {
    /// The lattice loss l behind it, in nats: the test that rejects for L > l.
    pub loss: Rational,
    /// Its type I error `Q[L > l]`.
    pub alpha: Enclosure,
    /// Its type II error `P[L <= l]`.
    pub beta: Enclosure,
}

impl Composition {
    /// The knot of the test that rejects for losses above `loss`, which is rounded down to the lattice. Refused
    /// where a term is continuous.
    pub fn knot(&self, loss: &Rational, digits: u32) -> Result<Knot> {
        knot(&self.loss_evaluator(), loss, digits)
    }

    /// The knot at zeta of Section A.7's parametric form: the test that rejects where sum over all counts of X / sigma2
    /// exceeds zeta (in nats; the paper's zeta times 2 rho / n), for counts of shift one. Its errors are
    /// alpha(zeta) = `P[sum > zeta]` and beta(zeta) = `P[sum <= zeta - 2 rho]`; under the null the loss is that sum less rho.
    pub fn knot_at(&self, zeta: &Rational, digits: u32) -> Result<Knot> {
        self.knot(&Rational::from(zeta - &**self.rho()), digits)
    }
}

/// The knot of the test that rejects for losses above `loss`, which is rounded down to the lattice.
fn knot(evaluator: &SumEvaluator, loss: &Rational, digits: u32) -> Result<Knot> {
    let sum = evaluator.sum();
    let loss = sum.at_most(loss);
    let alpha = evaluator.tilted_tail(&sum.above(&loss), digits)?.value;
    let beta = evaluator.tilted_tail(&Rational::from(-&loss), digits)?.value;
    Ok(Knot { loss, alpha, beta })
}

/// f(alpha) of one composition, the smallest type II error at type I error alpha, for 0 <= alpha <= 1 (Su, Su & Wang,
/// Section A.7).
///
/// The relative width is about 10^-digits between knots and may be larger next to one, where f is a small
/// difference.
pub(super) fn of_composition(composition: &Composition, alpha: &Rational, digits: u32) -> Result<Answer> {
    Curve::new(composition).at(alpha, digits)
}

/// The same at many alphas, on all cores: the answers are the same, and what is swept and listed for one serves the next.
pub(super) fn many_of_composition(composition: &Composition, alphas: &[Rational], digits: u32) -> Result<Vec<Answer>> {
    let curve = Curve::new(composition);
    alphas.par_iter().map(|alpha| curve.at(alpha, digits)).collect()
}

/// How often the two knots around a type I error are moved apart before the search gives up.
const MOST_WIDENINGS: u32 = 6;

/// How a contradiction names the function.
pub(super) const TRADEOFF: &str = "the trade-off function";

pub(super) fn check_alpha(alpha: &Rational) -> Result<()> {
    if *alpha < 0 || *alpha > 1 {
        return Err(Error::out_of_range("alpha", rational::display(alpha), "a type I error from 0 to 1"));
    }
    Ok(())
}

/// The eps whose supporting line is highest at alpha, found in doubles; negative for the mirrored lines.
pub(crate) fn supporting_epsilon(composition: &Composition, alpha: &Rational) -> Result<f64> {
    Curve::new(composition).supporting_epsilon(alpha)
}

/// The trade-off function of one composition.
struct Curve {
    evaluator: SumEvaluator,
    /// The zCDP rho, in doubles: how far losses reach, for searching.
    rho: f64,
}

impl Curve {
    fn new(composition: &Composition) -> Self {
        Curve { evaluator: composition.loss_evaluator(), rho: composition.rho().to_f64() }
    }

    fn at(&self, alpha: &Rational, digits: u32) -> Result<Answer> {
        check_alpha(alpha)?;
        let bits = precision::bits(digits, 64);
        let trivial = Enclosure::rational(&Rational::from(1 - alpha), bits);
        // Gaussian laws charge every outcome: a test that never errs in one way errs always in the other. Bounded
        // losses have no more extreme test than at their ends, which is the same.
        if *alpha == 0 || *alpha == 1 {
            let why = "the trade-off function of every pair is 1 - alpha at alpha = 0 and 1";
            return Ok(Answer::immediate(trivial, why));
        }
        if let Some(answer) = self.evaluator.tradeoff(alpha, digits, true)?.filter(|answer| answer.met) {
            return Ok(answer);
        }
        let (value, method) = match self.sum().step().filter(|_| !self.evaluator.is_split(digits)) {
            None => (self.by_lines(alpha, digits, bits)?, Method::Lines),
            Some(step) => match self.by_knots(alpha, step, digits, bits) {
                Err(Error::Unsweepable { .. }) => (self.by_lines(alpha, digits, bits)?, Method::Lines),
                other => (other?, Method::Knots),
            },
        };
        // 0 <= f <= 1 - alpha always.
        let value =
            value.meet(&Enclosure::double(0.0, bits).hull(&trivial)).ok_or(Error::Contradiction { what: TRADEOFF })?;
        let value = value.clamp(0.0, 1.0);
        if value.is_tight(digits) {
            return Ok(Answer { met: true, value, method });
        }
        // Next to a knot, or to alpha = 1, tails are too coarse; the lists know the knots.
        let Some(listed) = self.evaluator.tradeoff(alpha, digits, false)? else {
            return Ok(Answer { met: false, value, method });
        };
        let both = value.meet(&listed.value).ok_or(Error::Contradiction { what: TRADEOFF })?;
        let method = if listed.met { listed.method } else { method };
        Ok(Answer { met: both.is_tight(digits), value: both, method })
    }

    fn sum(&self) -> &LossSum {
        self.evaluator.sum()
    }

    fn by_knots(&self, alpha: &Rational, step: &Rational, digits: u32, bits: u32) -> Result<Enclosure> {
        let near = self.loss_at(alpha, step)?;
        let target = Enclosure::rational(alpha, bits);
        // Widen [low, high] until alpha is proven to lie in [Q[L > high], Q[L >= low]]; one step is the rule.
        let mut reach = Rational::new();
        for _ in 0..MOST_WIDENINGS {
            let low = knot(&self.evaluator, &(Rational::from(&near - &reach) - step), digits)?;
            let high = knot(&self.evaluator, &Rational::from(&near + &reach), digits)?;
            if high.alpha.upper() <= target.lower() && target.upper() <= low.alpha.lower() {
                return between(&low, &high, &self.sum().above(&low.loss), &target);
            }
            reach = if reach == 0 { step.clone() } else { reach * 2_u32 };
        }
        // Not placed within 2^MOST_WIDENINGS steps.
        Ok(Enclosure::double(0.0, bits).hull(&Enclosure::double(1.0, bits)))
    }

    /// A lattice loss l with `Q[L > l] <= alpha < Q[L >= l]`, found in doubles: right but for the closest calls.
    fn loss_at(&self, alpha: &Rational, step: &Rational) -> Result<Rational> {
        let ln_alpha = Enclosure::rational(alpha, 64).ln().approximate();
        let rho = self.rho;
        // Under Q the loss is sub-Gaussian of mean about -rho and variance proxy 2 rho.
        let spread = (4.0 * rho * (-ln_alpha.min(-1.0) + 50.0)).sqrt() + step.to_f64();
        let (mut low, mut high) = (-rho - spread, -rho + spread);
        for _ in 0..70 {
            let middle = low + (high - low) / 2.0;
            let next = self.sum().above(&rational::from_f64(middle)?);
            if self.evaluator.ln_tilted_tail_approx(&next)? <= ln_alpha {
                high = middle;
            } else {
                low = middle;
            }
            if high - low < step.to_f64() / 64.0 {
                break;
            }
        }
        // The smallest lattice point l with Q[L > l] <= alpha is at most `high` and above `low`.
        let candidate = self.sum().at_most(&rational::from_f64(high)?);
        let falls_short = self.evaluator.ln_tilted_tail_approx(&candidate)? > ln_alpha;
        Ok(if falls_short { candidate } else { candidate - step })
    }

    /// f by duality with the profile: the largest height of a line, from three heights around it.
    ///
    /// The height phi(E) of the line of slope -E is concave in E, because delta is convex in it. Let x < y < z with phi(x) <= phi(y)
    /// and phi(z) <= phi(y). Then phi is at most phi(y) outside of [x, z], below the chord through x and y, continued, on [y, z],
    /// and below the one through z and y on [x, y]: f(alpha) - phi(y) is at most the larger of
    /// (phi(y) - phi(x)) (z - y) / (y - x) and (phi(y) - phi(z)) (y - x) / (z - y), which shrinks as the square of the distances
    /// where phi is smooth.
    fn by_lines(&self, alpha: &Rational, digits: u32, bits: u32) -> Result<Enclosure> {
        const ROUNDS: u32 = 16;
        const MOST_FAILURES: u32 = 2;
        let mut failures = 0;
        let target = Enclosure::rational(alpha, bits);
        let (middle, distance) = self.top(alpha, digits)?;
        let (mut middle, mut distance) = (Float::with_val(bits, middle), Float::with_val(bits, distance));
        let mut accuracy = digits + 1;
        let (mut lower, mut upper) =
            (Float::new(bits), Enclosure::rational(&Rational::from(1 - alpha), bits).upper().clone());
        for _ in 0..ROUNDS {
            let mut points = Vec::with_capacity(3);
            for side in [-1, 0, 1] {
                points.push(self.line(&(middle.clone() + distance.clone() * side), alpha, &target, accuracy, bits)?);
            }
            let [x, y, z] = &points[..] else { break };
            for point in [x, y, z] {
                lower = enclosure::larger(&lower, point.height.lower());
            }
            let (left, right) = (y.height.sub(&x.height), y.height.sub(&z.height));
            if *left.lower() >= 0 && *right.lower() >= 0 {
                let (before, after) = (y.slope.sub(&x.slope), z.slope.sub(&y.slope));
                let above = left.mul(&after).div(&before).max(&right.mul(&before).div(&after));
                upper = enclosure::smaller(&upper, y.height.add(&above).upper());
            }
            let value = proven(lower.clone(), upper.clone())?;
            if value.is_tight(digits) {
                return Ok(value);
            }
            // How far the top is from the middle, by the parabola, and how much closer the outer points have to come.
            let number = |value: Enclosure| Float::with_val(bits, value.lower() + value.upper()) / 2_u32;
            let unsure = Float::with_val(bits, left.upper() - left.lower()) + right.upper() - right.lower();
            let (fall, rise): (Float, Float) = (number(left.add(&right)), number(right.sub(&left)));
            if fall <= unsure * 4_u32 {
                // The heights are too wide to tell them apart, or the points are not at the top.
                (accuracy, distance) = (accuracy + 8, distance * 4_u32);
                failures += 1;
                if failures > MOST_FAILURES {
                    break;
                }
                continue;
            }
            let step = (-rise / (2_u32 * fall.clone())).to_f64().clamp(-3.0, 3.0);
            middle += Float::with_val(bits, step) * &distance;
            if step.abs() >= 1.0 {
                distance *= step.abs();
                continue;
            }
            let closer = (Float::with_val(bits, -f64::from(digits)).exp10() * value.lower() / fall).sqrt().to_f64();
            distance *= (0.5 * closer).max(4.0 * step.abs()).clamp(1e-6, 0.5);
        }
        proven(lower, upper)
    }

    /// The eps of the highest line, and how far from it the lines around are to be, both in doubles: by golden section, and then by
    /// parabolas through three points.
    fn top(&self, alpha: &Rational, digits: u32) -> Result<(f64, f64)> {
        const ROUNDS: usize = 40;
        let alpha = alpha.to_f64();
        let mut middle = self.highest(26, |eps| self.ln_height_approx(eps, alpha))?;
        let mut distance = self.reach() * 1e-5;
        for _ in 0..ROUNDS {
            let [x, y, z] = [middle - distance, middle, middle + distance].map(|eps| self.ln_height_approx(eps, alpha));
            let (x, y, z) = (x?, y?, z?);
            let fall = 2.0 * y - x - z;
            // Closer points would only see the noise of doubles.
            if fall.is_nan() || fall <= 1e-8 {
                let closer = (10_f64.powi(-(digits.min(300) as i32)) / fall.max(1e-13)).sqrt() * 0.5;
                return Ok((middle, distance * closer.clamp(1e-4, 1.0)));
            }
            let step = ((z - x) / (2.0 * fall)).clamp(-3.0, 3.0);
            middle += step * distance;
            distance *= if step.abs() >= 1.0 { step.abs() } else { (4.0 * step.abs()).clamp(1e-2, 0.5) };
        }
        Ok((middle, distance))
    }

    /// The height of the line of slope -exp(eps) at alpha, in doubles: a number, and ln of what it is to be multiplied with.
    fn height_approx(&self, eps: f64, alpha: f64) -> Result<(f64, f64)> {
        let delta = self.evaluator.ln_hockey_stick_approx(&rational::from_f64(eps.abs())?)?.exp();
        let rest = 1.0 - delta;
        Ok(if eps >= 0.0 { (rest - eps.exp() * alpha, 0.0) } else { (rest - alpha, eps) })
    }

    /// ln of the height; far below any logarithm, and falling with the height, where that is negative.
    fn ln_height_approx(&self, eps: f64, alpha: f64) -> Result<f64> {
        const NEGATIVE: f64 = -1e12;
        let (height, ln_scale) = self.height_approx(eps, alpha)?;
        Ok(if height > 0.0 { height.ln() + ln_scale } else { NEGATIVE - (-height * ln_scale.exp()).ln_1p() })
    }

    /// The line that supports f at the loss eps: with slope -exp(eps).
    fn line(&self, eps: &Float, alpha: &Rational, target: &Enclosure, digits: u32, bits: u32) -> Result<Line> {
        let eps = eps.to_rational().ok_or(Error::NotFinite { value: eps.to_f64() })?;
        // What two heights have in common cancels: a few more bits than digits.
        let bits = bits.max(precision::bits(digits, 32));
        let slope = Enclosure::rational(&eps, bits).exp();
        let delta = self.evaluator.hockey_stick(&eps.clone().abs(), digits)?.value;
        let rest = Enclosure::double(1.0, bits).sub(&delta);
        // 1 - delta(eps) - exp(eps) alpha; or, as delta(-eps) = 1 - exp(-eps) (1 - delta(eps)), exp(-eps) (1 - delta(eps) - alpha).
        let height = if eps >= 0 {
            rest.sub(&slope.mul(target))
        } else {
            slope.mul(&rest.sub(&Enclosure::rational(alpha, bits)))
        };
        Ok(Line { slope, height })
    }

    /// How far from zero losses are looked for.
    fn reach(&self) -> f64 {
        self.rho + 16.0 * self.rho.sqrt() + 1.0
    }

    /// The eps whose line is highest at alpha, found in doubles; negative for the mirrored lines.
    fn supporting_epsilon(&self, alpha: &Rational) -> Result<f64> {
        let alpha = alpha.to_f64();
        self.highest(60, |eps| {
            let (height, scale) = self.height_approx(eps, alpha)?;
            Ok(height * scale.exp())
        })
    }

    /// The eps of the largest height, by so many rounds of golden section.
    fn highest(&self, rounds: u32, height: impl Fn(f64) -> Result<f64>) -> Result<f64> {
        let (mut low, mut high) = (-self.reach(), self.reach());
        for _ in 0..rounds {
            let (p, q) = (low + (high - low) * 0.382, low + (high - low) * 0.618);
            if height(p)? >= height(q)? {
                high = q;
            } else {
                low = p;
            }
        }
        Ok((low + high) / 2.0)
    }
}

/// A line below the trade-off function: minus its slope, and its height at the type I error that is asked about.
struct Line {
    slope: Enclosure,
    height: Enclosure,
}

/// Encloses f at alpha in [high.alpha, low.alpha]. Every line of slope -exp(l) through the knots of the lattice point
/// l supports the convex f from below; the chord of the two knots bounds it from above. When the knots are
/// neighbors, line and chord are one.
fn between(low: &Knot, high: &Knot, first: &Rational, alpha: &Enclosure) -> Result<Enclosure> {
    let bits = alpha.lower().prec();
    // From the lower right knot: beta_low + exp(l) (alpha_low - alpha), a sum of two non-negative numbers.
    let slope = Enclosure::rational(first, bits).exp();
    let rise = low.alpha.sub(alpha).clamp(0.0, 1.0);
    let line = low.beta.add(&slope.mul(&rise));
    if first >= &high.loss {
        // And from the upper left knot, which is better on its side; both contain f.
        let fall = alpha.sub(&high.alpha).clamp(0.0, 1.0);
        let other = high.beta.sub(&slope.mul(&fall));
        return line.meet(&other).ok_or(Error::Contradiction { what: TRADEOFF });
    }
    let slope_high = Enclosure::rational(&high.loss, bits).exp();
    let other = high.beta.sub(&slope_high.mul(&alpha.sub(&high.alpha)));
    let share = alpha.sub(&high.alpha).div(&low.alpha.sub(&high.alpha));
    let chord = high.beta.sub(&share.mul(&high.beta.sub(&low.beta)));
    proven(enclosure::larger(line.lower(), other.lower()), chord.upper().clone())
}

/// Two ends that were proven apart.
fn proven(lower: Float, upper: Float) -> Result<Enclosure> {
    if lower <= upper { Ok(Enclosure::new(lower, upper)) } else { Err(Error::Contradiction { what: TRADEOFF }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ends that exclude each other are an error: neither is moved to the other.
    #[test]
    fn ends_that_contradict_each_other_are_an_error() {
        let float = |value: f64| Float::with_val(64, value);
        assert!(matches!(proven(float(0.3), float(0.2)), Err(Error::Contradiction { .. })));
        assert_eq!(*proven(float(0.2), float(0.2)).unwrap().upper(), 0.2);
        let exact = |value: f64| Enclosure::double(value, 64);
        // A knot whose type II error is above the chord to the next one.
        let knot = |loss: i32, alpha, beta| Knot { loss: Rational::from(loss), alpha: exact(alpha), beta: exact(beta) };
        let (low, high) = (knot(0, 0.5, 0.3), knot(1, 0.25, 0.9));
        assert!(matches!(between(&low, &high, &Rational::from(1), &exact(0.4)), Err(Error::Contradiction { .. })));
    }

    /// The function from supporting lines, against lists of atoms: of fine noise, and of coarse beside fine.
    #[test]
    fn lines_enclose_what_lists_answer() {
        for (groups, digits) in [(vec!["1000000x3"], 5), (vec!["0.02x2", "4000003/7x1", "5000001x1"], 9)] {
            let counts = groups.iter().map(|counts| counts.parse().unwrap());
            let composition = Composition::new(counts).unwrap();
            let curve = Curve { evaluator: composition.loss_evaluator(), rho: composition.rho().to_f64() };
            for alpha in ["1/2", "0.01", "0.99", "1e-12"] {
                let alpha = rational::parse(alpha).unwrap();
                let lines = curve.by_lines(&alpha, digits, precision::bits(digits, 64)).unwrap();
                let listed = curve.evaluator.tradeoff(&alpha, 12, false).unwrap().unwrap().value;
                assert!(lines.overlaps(&listed) && listed.is_tight(12), "{groups:?} {alpha}: {lines:?} {listed:?}");
                assert!(lines.is_tight(digits), "{groups:?} {alpha}: {lines:?} {listed:?}");
            }
        }
    }
}
